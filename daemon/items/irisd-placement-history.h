/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * Where items and paths were last, for items that want to be near them.
 */
#pragma once

#include <iris/iris.h>
#include <pthread.h>

G_BEGIN_DECLS

/**
 * IrisdPlacementHistory:
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
} IrisdPlacementHistory;

void irisd_placement_history_init (IrisdPlacementHistory *self, guint n_items, guint n_paths);
void irisd_placement_history_clear (IrisdPlacementHistory *self);
void irisd_placement_history_note_item (IrisdPlacementHistory *self, guint64 item, gint place);
gint irisd_placement_history_find_item (IrisdPlacementHistory *self, guint64 item);
void irisd_placement_history_note_path (IrisdPlacementHistory *self, const char *path, gint place);
gint irisd_placement_history_find_path (IrisdPlacementHistory *self, const char *path);
guint irisd_placement_history_count_paths (IrisdPlacementHistory *self);

G_END_DECLS
