/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * The lock whose waiters are work items, run where what it protects is in the cache.
 */
#pragma once

#include <iris/sched/iris-scheduler.h>

G_BEGIN_DECLS

#define IRIS_TYPE_LOCK (iris_lock_get_type ())

/**
 * IrisLock:
 *
 * A lock for which items wait without keeping a worker, and threads asleep.
 */
typedef struct _IrisLock IrisLock;
typedef struct _IrisLockWaiter IrisLockWaiter;

/**
 * IrisLockPolicy:
 * @IRIS_LOCK_POLICY_OFF: the next waiter runs where it waited; a thread where the kernel likes
 * @IRIS_LOCK_POLICY_ALWAYS: the next waiter runs where the lock was released
 * @IRIS_LOCK_POLICY_ADAPTIVE: tries both for a while, keeps the better, and looks again later
 *
 * Where a lock lets its next waiter run.
 */
typedef enum
{
  IRIS_LOCK_POLICY_OFF,
  IRIS_LOCK_POLICY_ALWAYS,
  IRIS_LOCK_POLICY_ADAPTIVE,
} IrisLockPolicy;

/**
 * IrisLockFlags:
 * @IRIS_LOCK_NONE: the lock is released when the waiter's function returns
 * @IRIS_LOCK_KEEP: the lock stays held until a thread calls iris_lock_release()
 *
 * How long a waiter has the lock.
 */
typedef enum
{
  IRIS_LOCK_NONE = 0,
  IRIS_LOCK_KEEP = 1 << 0,
} IrisLockFlags;

/**
 * IrisLockWaiter: (skip)
 *
 * A work item that needs a lock, embedded in a structure of the caller's. See
 * iris_lock_waiter_init().
 */
struct _IrisLockWaiter
{
  /*< private >*/
  IrisItem item;
  gpointer padding[10];
};

/**
 * IrisLockStats:
 * @policy: what was asked for
 * @is_hot: whether the next waiter runs where the lock is released
 * @taken: how often a thread took the lock without waiting in line
 * @handed_hot: hand-overs to an item at the place of the release
 * @handed_plain: hand-overs to an item at its own place
 * @ran_next: of @handed_hot, those that the releasing worker ran at once
 * @balanced: of @handed_plain, those that were to be hot, but the worker had too much to do
 * @handed_to_threads: how often a thread that slept got the lock
 * @hot_ns: nanoseconds that the lock is occupied by a hot hand-over and what it is held for, by the
 *   last round of trials; 0: not tried
 * @plain_ns: the same for the plain way
 * @rounds: rounds of trials
 * @switches: how many of them changed the choice
 * @thread_policy: what was asked for threads that sleep
 * @threads_are_hot: whether a thread is moved to the processor of the release
 * @moved: wake-ups of a thread at the processor of the release
 * @not_moved: wake-ups that were to be at that processor, but another thread was on its way there,
 * or the affinity of the thread was in the way
 * @thread_hot_ns: nanoseconds for each time that the lock was held while threads were moved, by the
 *   last round of trials; 0: not tried
 * @thread_plain_ns: the same while they were not moved
 * @thread_rounds: rounds of these trials
 * @thread_switches: how many of them changed the choice
 *
 * What a lock did, and what its adaptive policy found.
 */
typedef struct
{
  IrisLockPolicy policy;
  gboolean is_hot;
  guint64 taken;
  guint64 handed_hot;
  guint64 handed_plain;
  guint64 ran_next;
  guint64 balanced;
  guint64 handed_to_threads;
  guint64 hot_ns;
  guint64 plain_ns;
  guint64 rounds;
  guint64 switches;
  IrisLockPolicy thread_policy;
  gboolean threads_are_hot;
  guint64 moved;
  guint64 not_moved;
  guint64 thread_hot_ns;
  guint64 thread_plain_ns;
  guint64 thread_rounds;
  guint64 thread_switches;
} IrisLockStats;

IRIS_AVAILABLE_IN_ALL GType iris_lock_get_type (void);
IRIS_AVAILABLE_IN_ALL IrisLock *iris_lock_new (IrisLockPolicy policy);
IRIS_AVAILABLE_IN_ALL IrisLock *iris_lock_ref (IrisLock *self);
IRIS_AVAILABLE_IN_ALL void iris_lock_unref (IrisLock *self);
IRIS_AVAILABLE_IN_ALL void iris_lock_set_policy (IrisLock *self, IrisLockPolicy policy);
IRIS_AVAILABLE_IN_ALL void iris_lock_set_thread_policy (IrisLock *self, IrisLockPolicy policy);
IRIS_AVAILABLE_IN_ALL void iris_lock_get_stats (IrisLock *self, IrisLockStats *stats);

IRIS_AVAILABLE_IN_ALL void iris_lock_waiter_init (IrisLockWaiter *waiter,
                                                  IrisScheduler *scheduler,
                                                  IrisCallback func,
                                                  gpointer data,
                                                  GDestroyNotify notify);
IRIS_AVAILABLE_IN_ALL void
iris_lock_waiter_set_place (IrisLockWaiter *waiter, gint place, IrisItemFlags flags);
IRIS_AVAILABLE_IN_ALL void
iris_lock_acquire_item (IrisLock *self, IrisLockWaiter *waiter, IrisLockFlags flags);
IRIS_AVAILABLE_IN_ALL void iris_lock_queue (IrisLock *self,
                                            IrisScheduler *scheduler,
                                            IrisCallback func,
                                            gpointer data,
                                            GDestroyNotify notify);

IRIS_AVAILABLE_IN_ALL gboolean iris_lock_try_acquire (IrisLock *self);
IRIS_AVAILABLE_IN_ALL void iris_lock_acquire (IrisLock *self);
IRIS_AVAILABLE_IN_ALL void iris_lock_release (IrisLock *self);

G_DEFINE_AUTOPTR_CLEANUP_FUNC (IrisLock, iris_lock_unref)

G_END_DECLS
