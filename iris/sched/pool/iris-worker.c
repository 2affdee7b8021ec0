/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * The worker, as seen by the items that it runs.
 */
#include "iris/sched/pool/iris-worker-pool-private.h"

/**
 * iris_worker_current:
 *
 * The worker that runs the calling code, for any scheduler.
 *
 * Returns: (transfer none) (nullable): the worker, valid until the item returns; %NULL when the
 *   calling thread is not a worker
 *
 * Since: 0.1
 */
IrisWorker *
iris_worker_current (void)
{
  return iris_worker_mine;
}

/**
 * iris_worker_get_index:
 * @self: a worker
 *
 * Gets the number of the worker within its scheduler.
 *
 * Returns: its number, counted from 0
 *
 * Since: 0.1
 */
guint
iris_worker_get_index (const IrisWorker *self)
{
  g_return_val_if_fail (self != NULL, 0);

  return self->index;
}

/**
 * iris_worker_get_place:
 * @self: a worker
 *
 * Gets the place that the worker belongs to.
 *
 * Returns: the id of its place; 0 for schedulers that have one place only
 *
 * Since: 0.1
 */
gint
iris_worker_get_place (const IrisWorker *self)
{
  g_return_val_if_fail (self != NULL, IRIS_PLACE_ANY);

  return (gint) self->place;
}
