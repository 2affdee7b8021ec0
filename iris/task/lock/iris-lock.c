/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * The lock whose waiters are work items. How it is held and passed: iris-lock-core-private.h.
 *
 * Two ways to hand it to an item. Plain: the item is queued at the inbox of the place where it
 * asked (or that of its hint), as a thread that is woken goes back to where it slept. Hot: the
 * releasing worker runs it next, up to IRIS_LOCK_RUN_MAX in a row, or has it in its own deque,
 * where it is the newest; data that the lock protects is in that worker's cache. Not hot, although
 * it was to be: an item that must run elsewhere, one of another scheduler, and any while the worker
 * has much to do and others have nothing (IRIS_LOCK_BACKLOG).
 *
 * Nothing is called out under the lock but what was asked to run with it. A cancelled waiter's
 * notify is called while the lock is held for it, and the lock goes on then. Where that happens
 * inside of a hand-over (the scheduler was shut down, so that queueing cancels at once), the lock
 * is set aside for that hand-over to go on with; a line of cancelled waiters is a loop, not a
 * recursion.
 *
 * Source: "lock-hot" scheduling, the rows D1 and D4 of what iris sets out to do; running the next
 * critical section on the releasing thread is the idea of flat combining (D. Hendler, I. Incze,
 * N. Shavit, M. Tzafrir, SPAA 2010).
 */
#include "iris/task/lock/iris-lock-private.h"

#include "iris/base/iris-ref-private.h"
#include "iris/task/lock/iris-lock-migration-private.h"

/* The innermost hand-over of this thread: locks that are set aside for it. */
typedef struct
{
  IrisLock *deferred;
} HandOver;

static __thread HandOver *hand_over;

G_DEFINE_BOXED_TYPE (IrisLock, iris_lock, iris_lock_ref, iris_lock_unref)

/* Holder. The next way. */
static IrisLockWay
lock_choose (_Atomic uint32_t *policy, IrisLockTuner *tuner, guint64 held)
{
  switch (atomic_load_explicit (policy, memory_order_relaxed))
    {
    case IRIS_LOCK_POLICY_OFF:
      return IRIS_LOCK_WAY_PLAIN;
    case IRIS_LOCK_POLICY_ALWAYS:
      return IRIS_LOCK_WAY_HOT;
    default:
      return iris_lock_tuner_next (tuner, iris_clock_ns, held);
    }
}

/* A thread that sleeps, and may be moved. */
typedef struct
{
  IrisLockNode node;
  IrisLock *lock;
  IrisLockMigration migration;
} Sleeper;

/* Holder. The thread is about to be woken. */
static void
sleeper_moves (IrisLockNode *node)
{
  Sleeper *self = (Sleeper *) node;
  IrisLock *lock = self->lock;
  guint64 held = iris_counter_get (&lock->taken) + iris_counter_get (&lock->handed_to_threads)
                 + iris_counter_get (&lock->handed[IRIS_LOCK_WAY_HOT])
                 + iris_counter_get (&lock->handed[IRIS_LOCK_WAY_PLAIN]);

  if (lock_choose (&lock->thread_policy, &lock->thread_tuner, held) == IRIS_LOCK_WAY_PLAIN)
    return;
  iris_counter_add (iris_lock_migration_begin (&self->migration) ? &lock->moved : &lock->not_moved,
                    1);
}

static void
sleeper_moved (IrisLockNode *node)
{
  iris_lock_migration_end (&((Sleeper *) node)->migration);
}

static const IrisLockMover lock_mover = { sleeper_moves, sleeper_moved };

/**
 * iris_lock_new:
 * @policy: where its waiters run; %IRIS_LOCK_POLICY_ADAPTIVE where there is no reason for another
 *
 * Returns: (transfer full): a lock that is free
 */
IrisLock *
iris_lock_new (IrisLockPolicy policy)
{
  static _Atomic uint64_t last_serial;
  IrisLock *self;

  g_return_val_if_fail (policy <= IRIS_LOCK_POLICY_ADAPTIVE, NULL);

  self = aligned_alloc (IRIS_CACHE_PAIR, sizeof *self);
  if (self == NULL)
    g_error ("iris: out of memory for a lock");
  *self = (IrisLock){ .way = IRIS_LOCK_WAY_PLAIN };
  iris_lock_core_init (&self->core, &lock_mover);
  iris_lock_tuner_init (&self->tuner, false);
  iris_lock_tuner_init (&self->thread_tuner, true);
  atomic_init (&self->policy, policy);
  atomic_init (&self->thread_policy, IRIS_LOCK_POLICY_OFF);
  self->serial = atomic_fetch_add_explicit (&last_serial, 1, memory_order_relaxed) + 1;
  g_atomic_ref_count_init (&self->refs);

  return self;
}

/**
 * iris_lock_ref:
 *
 * Returns: (transfer full): @self, with one more reference; any thread may call it
 */
IRIS_DEFINE_REF (IrisLock, iris_lock, g_atomic_ref_count_inc (&self->refs))

/**
 * iris_lock_unref:
 * @self: (transfer full): a lock
 *
 * Drops a reference. A waiter has none: a thread must keep the lock until it was released for the
 * last time.
 */
void
iris_lock_unref (IrisLock *self)
{
  g_return_if_fail (self != NULL);

  if (!g_atomic_ref_count_dec (&self->refs))
    return;
  if (iris_lock_core_is_held (&self->core))
    {
      g_critical ("iris: the last reference to a lock is dropped while it is held; it stays");
      return;
    }
  free (self);
}

/**
 * iris_lock_set_policy:
 * @policy: where its waiters run from now on
 *
 * Says where the waiters of the lock run from now on.
 */
void
iris_lock_set_policy (IrisLock *self, IrisLockPolicy policy)
{
  g_return_if_fail (self != NULL);
  g_return_if_fail (policy <= IRIS_LOCK_POLICY_ADAPTIVE);

  atomic_store_explicit (&self->policy, policy, memory_order_relaxed);
}

/**
 * iris_lock_set_thread_policy:
 * @policy: where threads that sleep in iris_lock_acquire() are woken; a new lock has
 *   %IRIS_LOCK_POLICY_OFF, which leaves that to the kernel
 *
 * Says whether a thread that waits for the lock is moved to the processor of the thread that
 * releases it, where what the lock protects is in the cache.
 *
 * The releasing thread narrows the affinity of the thread that it wakes to that processor; the
 * thread gives it back to itself before iris_lock_acquire() returns, so the program never sees
 * another affinity than its own, and an affinity that leaves the processor out is respected. Load
 * balancing comes first: a processor to which one thread is on its way gets no other one. A thread
 * that cannot be moved is woken as ever. An affinity that one thread sets for another that waits
 * for the lock stays, unless it is set within the same microsecond in which that thread is moved.
 *
 * A wake-up costs about 2 µs more, so it pays where the lock protects much data, and where threads
 * that wait for it do little else. %IRIS_LOCK_POLICY_ADAPTIVE measures that.
 *
 * Source: S. Sridharan, B. Keck, R. Murphy, S. Chandra, P. Kogge, "Thread Migration to Improve
 * Synchronization Performance", section 2.3, where the kernel does it.
 */
void
iris_lock_set_thread_policy (IrisLock *self, IrisLockPolicy policy)
{
  g_return_if_fail (self != NULL);
  g_return_if_fail (policy <= IRIS_LOCK_POLICY_ADAPTIVE);

  atomic_store_explicit (&self->thread_policy, policy, memory_order_relaxed);
}

/* What a policy says at the moment, by what its tuner found. */
static gboolean
policy_is_hot (IrisLockPolicy policy, IrisLockTuner *tuner)
{
  return policy == IRIS_LOCK_POLICY_ALWAYS
         || (policy == IRIS_LOCK_POLICY_ADAPTIVE
             && atomic_load_explicit (&tuner->choice, memory_order_relaxed) == IRIS_LOCK_WAY_HOT);
}

/**
 * iris_lock_get_stats:
 * @stats: (out caller-allocates): what it did so far
 *
 * Reads the counts and the decisions of the lock. It stops no thread, so each number is right, but
 * of a slightly different moment.
 */
void
iris_lock_get_stats (IrisLock *self, IrisLockStats *stats)
{
  IrisLockTuner *tuner, *threads;

  g_return_if_fail (self != NULL);
  g_return_if_fail (stats != NULL);

  tuner = &self->tuner;
  threads = &self->thread_tuner;
  *stats = (IrisLockStats){
    .policy = atomic_load_explicit (&self->policy, memory_order_relaxed),
    .taken = iris_counter_get (&self->taken),
    .handed_hot = iris_counter_get (&self->handed[IRIS_LOCK_WAY_HOT]),
    .handed_plain = iris_counter_get (&self->handed[IRIS_LOCK_WAY_PLAIN]),
    .ran_next = iris_counter_get (&self->ran_next),
    .balanced = iris_counter_get (&self->balanced),
    .handed_to_threads = iris_counter_get (&self->handed_to_threads),
    .hot_ns = iris_counter_get (&tuner->ns[IRIS_LOCK_WAY_HOT]),
    .plain_ns = iris_counter_get (&tuner->ns[IRIS_LOCK_WAY_PLAIN]),
    .rounds = iris_counter_get (&tuner->rounds),
    .switches = iris_counter_get (&tuner->switches),
    .thread_policy = atomic_load_explicit (&self->thread_policy, memory_order_relaxed),
    .moved = iris_counter_get (&self->moved),
    .not_moved = iris_counter_get (&self->not_moved),
    .thread_hot_ns = iris_counter_get (&threads->ns[IRIS_LOCK_WAY_HOT]),
    .thread_plain_ns = iris_counter_get (&threads->ns[IRIS_LOCK_WAY_PLAIN]),
    .thread_rounds = iris_counter_get (&threads->rounds),
    .thread_switches = iris_counter_get (&threads->switches),
  };
  stats->is_hot = policy_is_hot (stats->policy, tuner);
  stats->threads_are_hot = policy_is_hot (stats->thread_policy, threads);
}

/* --- handing on --- */

/* Holder. Releases the lock, or makes it held for the node that is returned, with its way. */
IrisLockNode *
iris_lock_next (IrisLock *self)
{
  IrisLockNode *node = iris_lock_core_peek (&self->core);

  if (node == NULL || node->granted == NULL)
    {
      /* While the lock is still ours. */
      iris_lock_tuner_pause (&self->tuner, iris_clock_ns);
      node = iris_lock_core_release (&self->core);
      if (node == NULL)
        return NULL;
    }
  else
    node = iris_lock_core_release (&self->core);
  self->way = lock_choose (&self->policy, &self->tuner, 0);

  return node;
}

/* Whether @worker has so much to do, and others so little, that it gives the next waiter away. */
static inline gboolean
is_overloaded (IrisWorker *worker)
{
  IrisWorkerPool *pool = worker->pool;

  return iris_unlikely (iris_parking_lot_wants_work (&pool->parking_lot))
         && pool->ops->count_own != NULL
         && pool->ops->count_own (worker) > (guint64) IRIS_LOCK_BACKLOG * pool->n_workers;
}

/* Holder. Whether the item that is handed the lock belongs where @worker is. */
gboolean
iris_lock_is_hot_at (IrisLock *self, IrisWorker *worker, gint place, guint flags)
{
  if (self->way != IRIS_LOCK_WAY_HOT)
    return FALSE;
  if ((flags & IRIS_ITEM_STRICT) && place != (gint) worker->place && worker->pool->n_places > 1)
    return FALSE;
  if (!is_overloaded (worker))
    return TRUE;
  /* For this hand-over it is settled, whichever thread asks again. */
  self->way = IRIS_LOCK_WAY_PLAIN;
  iris_counter_add (&self->balanced, 1);

  return FALSE;
}

void
iris_lock_schedule (IrisLock *self, IrisScheduler *scheduler, IrisItem *item, gint home)
{
  IrisWorkerPool *pool = iris_scheduler_get_pool (scheduler);
  IrisWorker *worker = pool != NULL ? iris_worker_pool_current (pool) : NULL;
  gint hint = item->place != IRIS_PLACE_ANY ? item->place : home;
  gboolean is_hot = worker != NULL && iris_lock_is_hot_at (self, worker, item->place, item->flags);

  /* From the push on the lock may be another's. */
  iris_counter_add (&self->handed[is_hot ? IRIS_LOCK_WAY_HOT : IRIS_LOCK_WAY_PLAIN], 1);
  if (worker == NULL)
    {
      iris_scheduler_queue_item (scheduler, item);
      return;
    }
  item->place = is_hot ? (gint) worker->place : hint;
  iris_worker_note_queued (worker, item);
  /* As from outside, it goes to the place's inbox, not to the deque of this worker. */
  pool->ops->push (pool, is_hot ? worker : NULL, item);
}

/* The lock is held for @node: lets it go on, and what is set aside meanwhile. */
void
iris_lock_grant (IrisLockNode *node)
{
  HandOver mine = { NULL }, *outer = hand_over;

  hand_over = &mine;
  while (node != NULL)
    {
      node->granted (node);
      for (node = NULL; node == NULL && mine.deferred != NULL;)
        {
          IrisLock *lock = mine.deferred;

          mine.deferred = lock->deferred;
          node = iris_lock_next (lock);
        }
    }
  hand_over = outer;
}

/* Holder. Hands the lock to the thread that waits; it is not the caller's any more. */
static void
lock_pass_on (IrisLock *self)
{
  IrisLockNode *node = iris_lock_next (self);

  if (node != NULL)
    iris_lock_grant (node);
}

/* The same where it may be called by a hand-over: then that goes on with it. */
void
iris_lock_pass_on_later (IrisLock *self)
{
  if (hand_over == NULL)
    {
      lock_pass_on (self);
      return;
    }
  self->deferred = hand_over->deferred;
  hand_over->deferred = self;
}

/* --- threads that wait --- */

/**
 * iris_lock_try_acquire:
 *
 * Takes the lock if it is free, and not reserved for a thread that has waited long. May be called
 * from any thread, workers included; the thread that has it calls iris_lock_release().
 *
 * Returns: whether the caller has the lock now
 */
gboolean
iris_lock_try_acquire (IrisLock *self)
{
  g_return_val_if_fail (self != NULL, FALSE);

  if (!iris_lock_core_try (&self->core))
    return FALSE;
  iris_counter_add (&self->taken, 1);

  return TRUE;
}

/* Whether the lock is held without having waited for it in line. Not inline: the way of a lock that
 * is free has no such structure on its stack. */
static gboolean G_GNUC_NO_INLINE
lock_stand_in_line (IrisLock *self)
{
  Sleeper sleeper;

  iris_lock_node_init (&sleeper.node, NULL);
  sleeper.lock = self;
  if (atomic_load_explicit (&self->thread_policy, memory_order_relaxed) != IRIS_LOCK_POLICY_OFF)
    {
      iris_lock_migration_init (&sleeper.migration);
      sleeper.node.is_movable = true;
    }
  if (iris_lock_core_enter (&self->core, &sleeper.node))
    return TRUE;
  iris_lock_core_wait (&self->core, &sleeper.node);

  return FALSE;
}

/**
 * iris_lock_acquire:
 *
 * Takes the lock; sleeps until it is there. For threads that are not workers: a worker that sleeps
 * keeps others from running, perhaps the very item that has the lock. Items use
 * iris_lock_acquire_item().
 *
 * Who finds k waiters in line gets the lock after at most k + 32 * (t + 1) others, t of the k being
 * threads. The lock is not recursive.
 */
void
iris_lock_acquire (IrisLock *self)
{
  g_return_if_fail (self != NULL);

  if (iris_unlikely (iris_worker_mine != NULL))
    g_critical ("iris: a worker waits in iris_lock_acquire(); use iris_lock_acquire_item()");
  if (iris_lock_core_spin (&self->core) || lock_stand_in_line (self))
    iris_counter_add (&self->taken, 1);
  else
    iris_counter_add (&self->handed_to_threads, 1);
}

/**
 * iris_lock_release:
 * @self: a lock that the caller holds
 *
 * Releases a lock that was taken by iris_lock_acquire(), iris_lock_try_acquire(), or with
 * %IRIS_LOCK_KEEP. The next waiter is queued; nothing of it is run before this returns. Any thread
 * may release a lock on behalf of its holder.
 */
void
iris_lock_release (IrisLock *self)
{
  g_return_if_fail (self != NULL);
  g_return_if_fail (iris_lock_core_is_held (&self->core));

  lock_pass_on (self);
}

/* --- work items that wait --- */

typedef struct
{
  IrisItem item;
  IrisLockNode node;
  IrisLock *lock;
  IrisScheduler *scheduler;
  IrisCallback func;
  gpointer data;
  GDestroyNotify notify;
  gint32 place; /* hint */
  gint32 home;  /* where it asked */
  guint16 item_flags;
  guint16 lock_flags;
} Waiter;

G_STATIC_ASSERT (sizeof (Waiter) <= sizeof (IrisLockWaiter));

static void waiter_granted (IrisLockNode *node);

/* Holder, a worker that has run @n waiters in a row. The next one if it is to be run here and now;
 * NULL: the lock is not the caller's any more. */
static Waiter *
lock_pass_to_self (IrisLock *self, IrisWorker *worker, guint n)
{
  IrisLockNode *node = iris_lock_next (self);
  Waiter *waiter;

  if (node == NULL)
    return NULL;
  waiter = (Waiter *) ((char *) node - G_STRUCT_OFFSET (Waiter, node));
  if (worker != NULL && n < IRIS_LOCK_RUN_MAX && node->granted == waiter_granted
      && iris_scheduler_get_pool (waiter->scheduler) == worker->pool
      && iris_lock_is_hot_at (self, worker, waiter->place, waiter->item_flags))
    {
      iris_counter_add (&self->handed[IRIS_LOCK_WAY_HOT], 1);
      iris_counter_add (&self->ran_next, 1);
      return waiter;
    }
  iris_lock_grant (node);

  return NULL;
}

/* The lock is held for it. */
static void
waiter_run (gpointer data)
{
  Waiter *waiter = data;
  IrisWorker *worker = iris_worker_mine;
  guint n = 0;

  while (waiter != NULL)
    {
      IrisLock *lock = waiter->lock;
      guint flags = waiter->lock_flags;
      gpointer user_data = waiter->data;

      /* The first one was looked at by the worker. */
      if (n > 0
          && iris_unlikely (atomic_load_explicit (&worker->pool->cancelling, memory_order_relaxed)))
        {
          if (waiter->notify != NULL)
            waiter->notify (user_data);
          flags = IRIS_LOCK_NONE;
        }
      else
        waiter->func (user_data);
      if (flags & IRIS_LOCK_KEEP)
        return;
      waiter = lock_pass_to_self (lock, worker, ++n);
    }
}

static void
waiter_dropped (gpointer data)
{
  Waiter *waiter = data;
  IrisLock *lock = waiter->lock;

  if (waiter->notify != NULL)
    waiter->notify (waiter->data);
  iris_lock_pass_on_later (lock);
}

static void
waiter_cancelled (gpointer data)
{
  Waiter *waiter = data;

  if (waiter->notify != NULL)
    waiter->notify (waiter->data);
}

static void
waiter_granted (IrisLockNode *node)
{
  Waiter *waiter = (Waiter *) ((char *) node - G_STRUCT_OFFSET (Waiter, node));

  iris_item_init (&waiter->item, waiter_run, waiter, waiter_dropped);
  iris_item_set_place (&waiter->item, waiter->place, waiter->item_flags);
  iris_lock_schedule (waiter->lock, waiter->scheduler, &waiter->item, waiter->home);
}

/* The lock was free when the waiter asked. */
static void
waiter_start (gpointer data)
{
  Waiter *waiter = data;

  if (iris_lock_enter (waiter->lock, &waiter->node))
    waiter_run (waiter);
}

/**
 * iris_lock_waiter_init: (skip)
 * @waiter: memory for a waiter, inside a structure of the caller's
 * @scheduler: on which it runs; the caller keeps a reference until it has run
 * @func: (scope notified): what needs the lock
 * @data: (nullable): for @func and @notify
 * @notify: (nullable): called instead of @func when the waiter is cancelled
 *
 * Prepares a work item that needs a lock, so that waiting for it allocates nothing.
 *
 * As with iris_item_init(), exactly one of @func and @notify is called, and it may free the waiter
 * or use it again.
 */
void
iris_lock_waiter_init (IrisLockWaiter *waiter,
                       IrisScheduler *scheduler,
                       IrisCallback func,
                       gpointer data,
                       GDestroyNotify notify)
{
  Waiter *self = (Waiter *) waiter;

  g_return_if_fail (waiter != NULL);
  g_return_if_fail (scheduler != NULL);
  g_return_if_fail (func != NULL);

  *self = (Waiter){
    .scheduler = scheduler,
    .func = func,
    .data = data,
    .notify = notify,
    .place = IRIS_PLACE_ANY,
    .home = IRIS_PLACE_ANY,
  };
}

/**
 * iris_lock_waiter_set_place: (skip)
 * @waiter: a waiter that does not wait
 * @place: id of a place, or %IRIS_PLACE_ANY
 * @flags: %IRIS_ITEM_STRICT if it may run nowhere else
 *
 * Sets the place at which the waiter should run. A lock that is hot elsewhere overrules a place
 * that is not strict.
 */
void
iris_lock_waiter_set_place (IrisLockWaiter *waiter, gint place, IrisItemFlags flags)
{
  Waiter *self = (Waiter *) waiter;

  g_return_if_fail (waiter != NULL);
  g_return_if_fail (place >= IRIS_PLACE_ANY);

  self->place = place;
  self->item_flags = (guint16) flags;
}

/**
 * iris_lock_acquire_item: (skip)
 * @waiter: a waiter, prepared by iris_lock_waiter_init()
 * @flags: how long it has the lock
 *
 * Lets @waiter run on its scheduler once it has the lock.
 *
 * If the lock is held, the waiter stands in line for it, first come, first served, and costs no
 * worker meanwhile. If it is free, the waiter is queued and takes the lock when it runs, unless
 * another was faster: a lock is not held for what waits in a deque. Threads that sleep stand in the
 * same line, and when one of them is first, up to 32 that do not stand in it may pass.
 *
 * A waiter runs with the lock held and must not wait for anything that needs the lock. When its
 * scheduler was shut down, its notify is called, while the lock is held for it or before.
 * May be called from any thread, also with the lock held.
 */
void
iris_lock_acquire_item (IrisLock *self, IrisLockWaiter *waiter, IrisLockFlags flags)
{
  Waiter *mine = (Waiter *) waiter;

  g_return_if_fail (self != NULL);
  g_return_if_fail (waiter != NULL);

  mine->lock = self;
  mine->lock_flags = (guint16) flags;
  mine->home = iris_lock_home (mine->scheduler);
  iris_lock_node_init (&mine->node, waiter_granted);
  if (iris_lock_core_queue (&self->core, &mine->node))
    return;
  iris_item_init (&mine->item, waiter_start, mine, waiter_cancelled);
  iris_item_set_place (&mine->item, mine->place, mine->item_flags);
  iris_scheduler_queue_item (mine->scheduler, &mine->item);
}

typedef struct
{
  IrisLockWaiter waiter;
  IrisScheduler *scheduler;
  IrisCallback func;
  gpointer data;
  GDestroyNotify notify;
} Queued;

static void
queued_drop (gpointer data)
{
  Queued self = *(Queued *) data;

  g_free (data);
  if (self.notify != NULL)
    self.notify (self.data);
}

static void
queued_run (gpointer data)
{
  Queued *self = data;

  self->func (self->data);
  queued_drop (self);
}

/**
 * iris_lock_queue:
 * @scheduler: on which to run; the caller keeps a reference until @func has run
 * @func: (scope notified) (closure data) (destroy notify): what needs the lock
 * @data: (nullable): for @func and @notify
 * @notify: (nullable): called with @data once the work was run or cancelled, with the lock held
 *
 * Queues work that runs with the lock held; see iris_lock_acquire_item(). The lock is released
 * when it is done. May be called from any thread.
 */
void
iris_lock_queue (IrisLock *self,
                 IrisScheduler *scheduler,
                 IrisCallback func,
                 gpointer data,
                 GDestroyNotify notify)
{
  Queued *queued;

  g_return_if_fail (self != NULL);
  g_return_if_fail (scheduler != NULL);
  g_return_if_fail (func != NULL);

  queued = g_new (Queued, 1);
  queued->func = func;
  queued->data = data;
  queued->notify = notify;
  iris_lock_waiter_init (&queued->waiter, scheduler, queued_run, queued, queued_drop);
  iris_lock_acquire_item (self, &queued->waiter, IRIS_LOCK_NONE);
}
