/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * The strict deque: strict items that a worker queues for its own place, newest first.
 *
 * Each worker of place queues has one beside its deque, and puts a strict item for its own place
 * there, as it puts others onto the deque. So an item that makes strict items meets them again
 * while what they need is in the cache; in the strict inbox they would wait, oldest first, behind
 * all others. Strict items from elsewhere are in the strict inbox still.
 *
 * Why a strict item never runs at another place: of the threads that look into a strict deque, each
 * is a worker of the owner's place. iris_strict_deque_steal() looks at workers of its caller's
 * place alone, spare workers included, and lays what it takes onto the caller's own strict deque,
 * which is again one of that place. No other function takes from it while workers run, and an item
 * leaves it only to be run or, if there is no memory, for the strict inbox of the place. A worker
 * never changes its place. Thieves of other places, their counts, forecasts and footprints know
 * only the deque.
 *
 * Why no item is lost and no wake-up: the queue is the split deque, with its owner and its thieves
 * as usual. Pushing, laying down and exposing end with a publish at the place's word (light fence,
 * then the word; behind a full fence, if a worker of the place sleeps and none searches, one is
 * woken), and each worker of the place looks at these lengths in has_work(), private items
 * included, as work that is strict. So the argument of iris-parking-lot-private.h for the place's
 * word holds as it does for the strict inbox. A worker that blocks or goes out exposes everything
 * before, so that those that stay have it; each place keeps one that is in.
 *
 * Who may call what: push, take, take_oldest and expose the worker that owns it; steal a worker of
 * the same place; the lengths any thread; take_oldest also a thread that sweeps, when no worker is
 * left.
 */
#pragma once

#include "iris/sched/pool/iris-worker-pool-private.h"

void iris_strict_deque_init (IrisWorkerPool *pool, IrisWorker *worker);
void iris_strict_deque_clear (IrisWorker *worker);
void iris_strict_deque_push (IrisWorkerPool *pool, IrisWorker *self, IrisItem *item);
IrisItem *iris_strict_deque_take (IrisWorker *self);
IrisItem *iris_strict_deque_take_oldest (IrisWorker *self);
IrisItem *iris_strict_deque_steal (IrisWorkerPool *pool, IrisWorker *self);
void iris_strict_deque_expose (IrisWorkerPool *pool, IrisWorker *self);
guint64 iris_strict_deque_get_length (IrisWorker *worker);
bool iris_strict_deque_any_at (IrisWorkerPool *pool, guint place);
