/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * The work item: preparing one that is embedded in a larger structure.
 */
#include "iris/sched/pool/iris-footprint-private.h"
#include "iris/sched/pool/iris-item-private.h"

/**
 * iris_item_init: (skip)
 * @item: memory for an item, inside a structure of the caller's
 * @func: (scope notified): the work
 * @data: (nullable): for @func and @notify
 * @notify: (nullable): called instead of @func when the item is cancelled
 *
 * Prepares an item that the caller provides, so that queueing it allocates nothing.
 *
 * The item must stay until @func or @notify is called; exactly one of them is, and it may free the
 * item. The item has no place hint; see iris_item_set_place(). May be called from any thread.
 */
void
iris_item_init (IrisItem *item, IrisCallback func, gpointer data, GDestroyNotify notify)
{
  g_return_if_fail (item != NULL);
  g_return_if_fail (func != NULL);

  *item = (IrisItem){
    .func = func,
    .data = data,
    .notify = notify,
    .place = IRIS_PLACE_ANY,
  };
}

/**
 * iris_item_set_place: (skip)
 * @item: an item that is not queued
 * @place: id of a place, or %IRIS_PLACE_ANY
 * @flags: %IRIS_ITEM_STRICT if it may run nowhere else
 *
 * Sets the place at which an embedded item should run. A scheduler without places ignores it.
 */
void
iris_item_set_place (IrisItem *item, gint place, IrisItemFlags flags)
{
  g_return_if_fail (item != NULL);
  g_return_if_fail (place >= IRIS_PLACE_ANY);

  item->place = place;
  item->flags = (item->flags & IRIS_FOOTPRINT_SIZE) | flags;
}

/**
 * iris_item_set_footprint:
 * @item: an item that is not queued
 * @bytes: how much memory the item will touch, in bytes; 0 for no hint
 *
 * Declares how much memory an embedded item will touch. Work-stealing places weigh it against what
 * is won by moving the item to another place (see #IrisStealPolicy), and keep items apart by it
 * (%IRIS_ITEM_KEEP_APART). Other schedulers ignore it.
 *
 * The next power of two is stored, so a rough number does. An item without a footprint costs
 * the scheduler nothing; one that has it some ten nanoseconds. Declare what is large.
 */
void
iris_item_set_footprint (IrisItem *item, guint64 bytes)
{
  g_return_if_fail (item != NULL);

  item->flags = (item->flags & ~IRIS_FOOTPRINT_SIZE) | iris_footprint_pack (bytes);
}

/**
 * iris_item_get_footprint: (skip)
 *
 * Returns: how much memory the item is declared to touch, rounded up to a power of two; 0 if
 *   nothing was declared
 */
guint64
iris_item_get_footprint (const IrisItem *item)
{
  g_return_val_if_fail (item != NULL, 0);

  return iris_footprint_bytes (item->flags);
}

/**
 * iris_item_settle:
 * @item: an item that a scheduler was given
 * @run: whether to run it, or to cancel it
 *
 * Runs or cancels an item, as the scheduler that holds it must do once. For authors of a
 * scheduler; see #IrisSchedulerClass. The item may be gone when this returns.
 */
void
iris_item_settle (IrisItem *item, gboolean run)
{
  g_return_if_fail (item != NULL);

  if (run)
    iris_item_run (item);
  else
    iris_item_cancel (item);
}
