/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * Active workers: which workers of a pool take part, and the spares that stand in for blocked ones.
 *
 * Of the workers of a place so many are to be in:
 *
 *     quota = max (1, wanted - held) + min (blocking, max_spares)
 *
 * wanted is the user's (iris_scheduler_set_n_active()), held is how many the contention controller
 * took out, blocking is how many are in a blocking section. The thread that changes one of them,
 * under the pool's lock, tells the parking lot the new quota (iris_active_workers_apply()); the
 * parking lot moves sleepers out and brings others back, and its header argues why nothing is lost
 * on the way. If the quota asks for more than were made, a spare is made, at most max_spares for a
 * place, and never given up before the pool ends: it goes out like any other, and a worker that is
 * out is taken before one is made.
 *
 * A surplus worker leaves after its item. Nothing is left in private: ops->expose() opens what it
 * has to thieves, which look at its deque as before. So does a worker that begins to block; and
 * what it queues while it blocks goes where items from outside go.
 *
 * Spares have the numbers behind the workers that were made for good. The list is filled under the
 * lock and read by any thread that has read n_spares (release, acquire). A thief that does not see
 * a new spare yet misses nothing: when that spare publishes an item from its deque, the fence that
 * pairs with the sleeper's last look is behind its making, too.
 *
 * Ends: a spare is made by a worker of the pool, which is in and not confirmed, so the parking lot
 * cannot finish meanwhile; or by a thread from outside that found the pool open, under the lock
 * that closes it. No worker ends before all do, so the parking lot's count of those that are in
 * stays the count of those that can take work, in a closed pool too: a worker that had ended and
 * counted as in would leave a section without a stand-in, and one that is awake and counted as out
 * would be one too many.
 */
#pragma once

#include "iris/sched/pool/iris-worker-pool-private.h"

void iris_active_workers_init (IrisWorkerPool *pool, const guint *workers_per_place);
void iris_active_workers_clear (IrisWorkerPool *pool);
void iris_active_workers_set_max_spares (IrisWorkerPool *pool, guint max_spares);
void iris_active_workers_set_wanted (IrisWorkerPool *pool, guint n_wanted);
void iris_active_workers_set_wanted_at (IrisWorkerPool *pool, guint place, guint n_wanted);
guint iris_active_workers_get_wanted (IrisWorkerPool *pool);
bool iris_active_workers_may_hold (IrisWorkerPool *pool);
bool iris_active_workers_holds (IrisWorkerPool *pool);
bool iris_active_workers_hold_one (IrisWorkerPool *pool);
bool iris_active_workers_unhold_one (IrisWorkerPool *pool);
void iris_active_workers_note_blocking (IrisWorkerPool *pool,
                                        guint place,
                                        bool begins,
                                        gint64 blocked_us);
void iris_active_workers_add_stats (IrisWorkerPool *pool, IrisActiveWorkers *active_workers);
bool iris_worker_leave (IrisWorker *self);

/* All that were ever made, spares last. */
static inline guint
iris_worker_pool_count_workers (IrisWorkerPool *self)
{
  return self->n_workers + atomic_load_explicit (&self->n_spares, memory_order_acquire);
}

/* @index must have been counted. */
static inline IrisWorker *
iris_worker_pool_get_worker (IrisWorkerPool *self, guint index)
{
  return index < self->n_workers ? &self->workers[index] : self->spares[index - self->n_workers];
}
