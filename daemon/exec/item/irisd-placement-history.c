/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * The last places of items and paths, for items that want to be near them.
 *
 * Items. Numbers grow, so the latest are the ones worth remembering: an array in which an item's
 * slot is its number modulo the array's length, each slot one word with number and place. A younger
 * item overwrites an older one; an older one that is noted late leaves the slot alone. A word is
 * read and written whole and names its item, so relaxed order suffices: a thread that reads an old
 * word gets an older answer, and a hint is only a guess about the past. If two threads note
 * different items of one slot at the same time, either may stay; the other is forgotten early, as
 * if it were older. So noting an item costs one load and one store.
 *
 * Paths. A table of those used last, least recently used first out, under one lock. Only items that
 * name a path use it.
 */
#include "daemon/exec/item/irisd-placement-history.h"

#include <stdatomic.h>

/* A slot's word: the place in the lower bits, the number above; numbers begin at 1, so 0 is
 * free. */
#define PLACE_BITS 16
#define MOST_PLACE ((1 << PLACE_BITS) - 1)

typedef struct
{
  char *path;
  gint place;
  GList link;
} Path;

static void
free_path (gpointer data)
{
  Path *path = data;
  g_free (path->path);
  g_free (path);
}

/* @n_items, @n_paths: how many are remembered */
void
irisd_placement_history_init (IrisdPlacementHistory *self, guint n_items, guint n_paths)
{
  *self = (IrisdPlacementHistory){ .n_items = n_items, .most_paths = n_paths };
  self->items = g_new0 (_Atomic guint64, n_items);
  pthread_mutex_init (&self->lock, NULL);
  self->paths = g_hash_table_new_full (g_str_hash, g_str_equal, NULL, free_path);
  g_queue_init (&self->by_use);
}

void
irisd_placement_history_clear (IrisdPlacementHistory *self)
{
  g_clear_pointer (&self->paths, g_hash_table_unref);
  g_clear_pointer (&self->items, g_free);
  pthread_mutex_destroy (&self->lock);
}

/* @item: its number; 0 for one that has none. @place: where it is queued, or has run. */
void
irisd_placement_history_note_item (IrisdPlacementHistory *self, guint64 item, gint place)
{
  if (item == 0 || self->n_items == 0 || place < 0 || place > MOST_PLACE)
    return;
  _Atomic guint64 *slot = &self->items[item % self->n_items];
  if (atomic_load_explicit (slot, memory_order_relaxed) >> PLACE_BITS <= item)
    atomic_store_explicit (slot, item << PLACE_BITS | (guint64) place, memory_order_relaxed);
}

/* Returns where @item ran, or is queued; IRIS_PLACE_ANY if that is not known. */
gint
irisd_placement_history_find_item (IrisdPlacementHistory *self, guint64 item)
{
  if (item == 0 || self->n_items == 0)
    return IRIS_PLACE_ANY;
  guint64 word = atomic_load_explicit (&self->items[item % self->n_items], memory_order_relaxed);
  return word >> PLACE_BITS == item ? (gint) (word & MOST_PLACE) : IRIS_PLACE_ANY;
}

static Path *
use_path (IrisdPlacementHistory *self, const char *name)
{
  Path *path = g_hash_table_lookup (self->paths, name);
  if (path == NULL)
    return NULL;
  g_queue_unlink (&self->by_use, &path->link);
  g_queue_push_head_link (&self->by_use, &path->link);
  return path;
}

static Path *
add_path (IrisdPlacementHistory *self, const char *name)
{
  if (self->by_use.length >= self->most_paths)
    {
      Path *oldest = g_queue_pop_tail_link (&self->by_use)->data;
      g_hash_table_remove (self->paths, oldest->path);
    }
  Path *path = g_new0 (Path, 1);
  path->path = g_strdup (name);
  path->link.data = path;
  g_hash_table_insert (self->paths, path->path, path);
  g_queue_push_head_link (&self->by_use, &path->link);
  return path;
}

/* @path is only a name; the file is not touched. */
void
irisd_placement_history_note_path (IrisdPlacementHistory *self, const char *path, gint place)
{
  if (self->most_paths == 0 || place < 0)
    return;
  pthread_mutex_lock (&self->lock);
  Path *known = use_path (self, path);
  if (known == NULL)
    known = add_path (self, path);
  known->place = place;
  pthread_mutex_unlock (&self->lock);
}

/* Returns the last place of @path; IRIS_PLACE_ANY if that is not known. */
gint
irisd_placement_history_find_path (IrisdPlacementHistory *self, const char *path)
{
  pthread_mutex_lock (&self->lock);
  const Path *known = use_path (self, path);
  gint place = known != NULL ? known->place : IRIS_PLACE_ANY;
  pthread_mutex_unlock (&self->lock);
  return place;
}

guint
irisd_placement_history_count_paths (IrisdPlacementHistory *self)
{
  pthread_mutex_lock (&self->lock);
  guint count = self->by_use.length;
  pthread_mutex_unlock (&self->lock);
  return count;
}
