/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * The lock, as seen by what waits for it.
 *
 * Whose is what: the core knows the holder of the lock; the fields behind it are the holder's, and
 * reach the next one with the lock. Counters have one writer at a time for the same reason.
 */
#pragma once

#include "iris/base/iris-clock-private.h"
#include "iris/sched/iris-scheduler-private.h"
#include "iris/task/lock/iris-lock-core-private.h"
#include "iris/task/lock/iris-lock-tuner-private.h"
#include "iris/task/lock/iris-lock.h"

/* So many waiters in a row are run by the worker that releases the lock, before it looks at its
 * other work. */
#define IRIS_LOCK_RUN_MAX 64

/* A worker with more than this times the scheduler's workers in its own deque, while a thread
 * sleeps for want of work, gives the next waiter away. */
#define IRIS_LOCK_BACKLOG 2

struct _IrisLock
{
  alignas (IRIS_CACHE_PAIR) IrisLockCore core;
  IrisLockWay way;    /* the holder's: of the present hand-over */
  IrisLock *deferred; /* the holder's: see iris-lock.c */
  _Atomic uint32_t policy;
  _Atomic uint32_t thread_policy;

  alignas (IRIS_CACHE_PAIR) _Atomic uint64_t taken;
  _Atomic uint64_t handed[2]; /* by way */
  _Atomic uint64_t ran_next;
  _Atomic uint64_t balanced;
  _Atomic uint64_t handed_to_threads;
  _Atomic uint64_t moved;
  _Atomic uint64_t not_moved;
  IrisLockTuner tuner;
  IrisLockTuner thread_tuner;

  guint64 serial; /* the order in which several are taken */
  gatomicrefcount refs;
};

/* Holder. Releases the lock, or makes it held for the node that is returned, with its way. */
IrisLockNode *iris_lock_next (IrisLock *self);

/* The lock is held for @node: lets it go on, and what is set aside meanwhile. */
void iris_lock_grant (IrisLockNode *node);

/* Holder. Releases the lock; where a hand-over may be the caller, that goes on with it. */
void iris_lock_pass_on_later (IrisLock *self);

/* Holder. Whether the item that is handed the lock belongs where @worker is. */
gboolean iris_lock_is_hot_at (IrisLock *self, IrisWorker *worker, gint place, guint flags);

/* Holder, for what `granted` was called for: queues @item, which was at @home when it asked. */
void iris_lock_schedule (IrisLock *self, IrisScheduler *scheduler, IrisItem *item, gint home);

/* Takes the lock for @node, or puts it in line. */
static inline gboolean
iris_lock_enter (IrisLock *self, IrisLockNode *node)
{
  if (!iris_lock_core_enter (&self->core, node))
    return FALSE;
  iris_counter_add (&self->taken, 1);

  return TRUE;
}

/* The place of the caller if it is a worker of @scheduler. */
static inline gint
iris_lock_home (IrisScheduler *scheduler)
{
  IrisWorkerPool *pool = iris_scheduler_get_pool (scheduler);
  IrisWorker *worker = pool != NULL ? iris_worker_pool_current (pool) : NULL;

  return worker != NULL ? (gint) worker->place : IRIS_PLACE_ANY;
}
