/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * The last places of items and paths, for items that want to be near them.
 */
#pragma once

#include <iris/iris.h>
#include <pthread.h>

G_BEGIN_DECLS

/* Bounded. Any thread. */
typedef struct
{
  _Atomic guint64 *items; /* number and place, at the number modulo @n_items */
  guint n_items;
  guint most_paths;
  pthread_mutex_t lock; /* guards the paths; POSIX: ThreadSanitizer knows it */
  GHashTable *paths;    /* by path */
  GQueue by_use;        /* the paths, last used first */
} IrisdPlacementHistory;

void irisd_placement_history_init (IrisdPlacementHistory *self, guint n_items, guint n_paths);
void irisd_placement_history_clear (IrisdPlacementHistory *self);
void irisd_placement_history_note_item (IrisdPlacementHistory *self, guint64 item, gint place);
gint irisd_placement_history_find_item (IrisdPlacementHistory *self, guint64 item);
void irisd_placement_history_note_path (IrisdPlacementHistory *self, const char *path, gint place);
gint irisd_placement_history_find_path (IrisdPlacementHistory *self, const char *path);
guint irisd_placement_history_count_paths (IrisdPlacementHistory *self);

G_END_DECLS
