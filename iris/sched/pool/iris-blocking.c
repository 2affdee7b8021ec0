/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * Blocking sections: an item says that it will wait, and another worker stands in for its own.
 */
#include "iris/sched/pool/iris-active-workers-private.h"

/**
 * iris_worker_begin_blocking:
 *
 * Says that the running item is about to wait for something: a file, a lock, another item. Until
 * iris_worker_end_blocking() the worker's place has a spare worker in its stead, and what was
 * queued by this worker is open to all others. So items may wait for items, as long as no more than
 * IrisScheduler:max-spares workers of a place wait at once; beyond that, and with a limit of 0, the
 * section is counted as refused and nobody stands in.
 *
 * The spare is a worker that is out, if there is one; otherwise a thread is made. Afterwards one
 * worker of the place sleeps, for the next time. A section costs two locks and, if the spare
 * sleeps, a system call: it is meant for waits of tens of microseconds and more.
 *
 * Sections nest; only the outermost counts. Each must be ended before the item returns. An item
 * that waits without saying so keeps its worker's processor idle, and if all workers do, nothing
 * goes on; an item that another one waits for must then not be strict to a place of which all
 * workers wait.
 *
 * On a thread that is no worker this does nothing, so a function may say so whoever calls it.
 *
 * Since: 0.1
 */
void
iris_worker_begin_blocking (void)
{
  IrisWorker *self = iris_worker_mine;
  IrisWorkerPool *pool;

  if (self == NULL || self->n_blocking++ > 0)
    return;

  pool = self->pool;
  self->pushes_to = self->plain_to = NULL;
  self->blocking_since = g_get_monotonic_time ();
  if (pool->ops->expose != NULL)
    pool->ops->expose (pool, self);
  iris_active_workers_note_blocking (pool, self->place, true, 0);
}

/**
 * iris_worker_end_blocking:
 *
 * Ends what iris_worker_begin_blocking() began: the running item goes on to compute. The spare
 * worker, or another one of the place, goes out after its present item.
 *
 * Since: 0.1
 */
void
iris_worker_end_blocking (void)
{
  IrisWorker *self = iris_worker_mine;
  IrisWorkerPool *pool;

  if (self == NULL)
    return;
  g_return_if_fail (self->n_blocking > 0);
  if (--self->n_blocking > 0)
    return;

  pool = self->pool;
  iris_active_workers_note_blocking (pool, self->place, false,
                                     g_get_monotonic_time () - self->blocking_since);
  self->pushes_to = pool;
  self->plain_to = pool->is_plain ? pool : NULL;
}
