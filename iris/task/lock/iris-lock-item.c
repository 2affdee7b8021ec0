/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * Work items that wait for a lock. How they are handed it is said in iris-lock.c.
 */
#include "iris/task/lock/iris-lock-private.h"

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
