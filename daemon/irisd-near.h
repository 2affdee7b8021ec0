/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * Where items and paths were last, for items that want to be near them.
 */
#pragma once

#include <iris/iris.h>
#include <pthread.h>

G_BEGIN_DECLS

/**
 * IrisdNear:
 *
 * What is remembered of the recent past; bounded. Any thread.
 */
typedef struct
{
  _Atomic guint64 *items; /* number and place, at the number modulo @n_items */
  guint n_items;
  guint most_paths;
  pthread_mutex_t lock; /* of what follows; a POSIX one because ThreadSanitizer knows those */
  GHashTable *paths;    /* by path */
  GQueue by_use;        /* the same, last used first */
} IrisdNear;

void irisd_near_init (IrisdNear *self, guint n_items, guint n_paths);
void irisd_near_clear (IrisdNear *self);
void irisd_near_note_item (IrisdNear *self, guint64 item, gint place);
gint irisd_near_find_item (IrisdNear *self, guint64 item);
void irisd_near_note_path (IrisdNear *self, const char *path, gint place);
gint irisd_near_find_path (IrisdNear *self, const char *path);
guint irisd_near_count_paths (IrisdNear *self);

G_END_DECLS
