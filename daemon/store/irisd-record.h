/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * A record: what the journal stores of one item, and its form.
 */
#pragma once

#include "daemon/store/irisd-store.h"

#include <iris/iris.h>
#include <iris/wire/iris-wire.h>

G_BEGIN_DECLS

/* The owner in a row of a version without owners: the daemon's own user. */
#define IRISD_OWNER_UNKNOWN G_GINT64_CONSTANT (-1)

/* An item that has not ended, buried or not, is stored as the message that submitted it, an ended
 * one as the message with its end. */
typedef struct
{
  guint64 item; /* its number */
  /* an IrisWireState; queued also while it runs or is leased: see irisd-attempts.c */
  guint32 state;
  guint32 klass; /* an IrisWireClass */
  gint64 owner;  /* the user who submitted it, or IRISD_OWNER_UNKNOWN */
  /* Unix time in milliseconds until which a delay, or the pause before the next attempt, lasts; 0:
   * no such time. Only read when irisd starts: a running irisd measures delays by the monotonic
   * clock */
  guint64 due_ms;
  guint32 attempts; /* how often it ran to an end */
  guint32 crashes;  /* how often irisd crashed while it ran, since an attempt last ran to its end */
  gint32 home;      /* the place at which it was queued */
  guint64 accepted_ms;    /* Unix time in milliseconds */
  guint64 ended_ms;       /* the same, 0 before its end */
  guint64 keep_ms;        /* how long its end is kept */
  IrisWireString key;     /* its idempotency key; borrowed */
  IrisWireString service; /* its service's name; borrowed */
  guint32 code; /* an IrisWireError, why it is buried; its exit code once it is done; or 0 */
  IrisWireString reason; /* the same for a person; borrowed */
  /* of the message that @header belongs to: SUBMIT, or RESULT or ERROR once it has ended */
  guint8 type;
  IrisWireFrame header; /* that message's header; borrowed */
  IrisWireFrame body;   /* and its body; borrowed */
} IrisdRecord;

typedef struct
{
  guint8 *data; /* NULL, or memory of g_malloc() */
  gsize size;   /* its length */
} IrisdBlob;

gsize irisd_record_get_head_size (const IrisdRecord *self);
void irisd_record_pack_head (const IrisdRecord *self, guint8 *at);
gboolean irisd_record_unpack (IrisdRecord *self, const IrisdRow *row);

G_END_DECLS
