/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * Which of the persistent items a LIST asks for.
 */
#pragma once

#include "daemon/store/irisd-persistent-item.h"

G_BEGIN_DECLS

/* Items that one LIST visits, matching or not. The journal writes nothing meanwhile; this takes
 * some milliseconds. */
#define IRISD_LIST_MOST_LOOKED_AT 32768

/* Items in one answer with arguments, each of which is read from the disk. */
#define IRISD_LIST_MOST_WITH_ARGS 1024

/* What a LIST asks for. */
typedef struct
{
  gint64 view;         /* only items of that owner, or IRISD_VIEW_ALL */
  guint64 after;       /* only items after that number; 0: all */
  guint32 states;      /* bit N: those in state N; 0: in any state */
  guint32 klass;       /* only those of that class; 0: of all */
  guint queue;         /* only those that name the queue of that index; 0: any */
  char *service;       /* NULL, or only those of that service */
  IrisdBlob prefix;    /* how their keys begin */
  guint64 since_ms;    /* accepted at that Unix time or later */
  guint64 until_ms;    /* accepted before that Unix time; 0: at any time */
  gboolean descending; /* the greatest number first, and "after" is below */
  gboolean with_args;  /* with their arguments, for which each has to be read from the disk */
  guint limit;         /* at most so many */
} IrisdPersistentFilter;

IrisdPersistentFilter *
irisd_persistent_filter_new (const IrisWireMessage *request, gint64 view, guint most);
void irisd_persistent_filter_free (IrisdPersistentFilter *self);

IrisWirePersistentList *irisd_persistent_table_list (IrisdPersistentTable *self,
                                                     const IrisdPersistentFilter *filter,
                                                     guint64 *next);

G_END_DECLS
