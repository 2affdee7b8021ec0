/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * The abstract queue, which checks what comes from outside and asks the class, and the default one.
 */
#include "iris/queue/iris-queue-private.h"

/**
 * IrisQueue:
 *
 * A queue of pointers, first in, first out, at which threads may wait.
 *
 * Every function may be called by any thread at any time. The queue does not own its items: what
 * is in it when it goes is the program's to free. `NULL` cannot be stored.
 *
 * A queue can be closed. From then on it accepts nothing; what is in it can still be taken; when it
 * is empty, the thread that waits or comes to wait gets `NULL`.
 *
 * [ctor@Queue.new] makes the default queue, on a lock; [ctor@LFQueue.new] one without. Programs
 * may bring their own by deriving from this class.
 */
G_DEFINE_ABSTRACT_TYPE (IrisQueue, iris_queue, G_TYPE_OBJECT)

static gpointer
iris_queue_real_pop (IrisQueue *self)
{
  return IRIS_QUEUE_GET_CLASS (self)->timed_pop (self, -1);
}

static gpointer
iris_queue_real_try_pop (IrisQueue *self)
{
  return IRIS_QUEUE_GET_CLASS (self)->timed_pop (self, 0);
}

static gpointer
iris_queue_real_try_pop_or_close (IrisQueue *self)
{
  return IRIS_QUEUE_GET_CLASS (self)->timed_pop_or_close (self, 0);
}

static void
iris_queue_class_init (IrisQueueClass *klass)
{
  klass->pop = iris_queue_real_pop;
  klass->try_pop = iris_queue_real_try_pop;
  klass->try_pop_or_close = iris_queue_real_try_pop_or_close;
}

static void
iris_queue_init (IrisQueue *self)
{
}

/**
 * iris_queue_push:
 * @item: (not nullable): what to append; the queue does not take ownership
 *
 * Appends an item and wakes a thread that waits, if one does. Aborts when there is no memory.
 *
 * Returns: %FALSE, and nothing changed, when the queue is closed
 */
gboolean
iris_queue_push (IrisQueue *self, gpointer item)
{
  g_return_val_if_fail (IRIS_IS_QUEUE (self), FALSE);
  g_return_val_if_fail (item != NULL, FALSE);

  return IRIS_QUEUE_GET_CLASS (self)->push (self, item);
}

/**
 * iris_queue_pop:
 *
 * Returns: (transfer none) (nullable): the oldest item, for which it waits, or %NULL when the queue
 *   is closed and empty
 */
gpointer
iris_queue_pop (IrisQueue *self)
{
  g_return_val_if_fail (IRIS_IS_QUEUE (self), NULL);

  return IRIS_QUEUE_GET_CLASS (self)->pop (self);
}

/**
 * iris_queue_try_pop:
 *
 * Returns: (transfer none) (nullable): the oldest item, or %NULL when there is none; does not wait
 */
gpointer
iris_queue_try_pop (IrisQueue *self)
{
  g_return_val_if_fail (IRIS_IS_QUEUE (self), NULL);

  return IRIS_QUEUE_GET_CLASS (self)->try_pop (self);
}

/**
 * iris_queue_timed_pop:
 * @timeout: how long to wait at most, in microseconds; 0 does not wait, less than 0 sets no limit
 *
 * Takes the oldest item; waits for one, but not for ever.
 *
 * Returns: (transfer none) (nullable): the item, or %NULL when none came in time, or the queue is
 *   closed and empty
 */
gpointer
iris_queue_timed_pop (IrisQueue *self, gint64 timeout)
{
  g_return_val_if_fail (IRIS_IS_QUEUE (self), NULL);

  return IRIS_QUEUE_GET_CLASS (self)->timed_pop (self, timeout);
}

/**
 * iris_queue_try_pop_or_close:
 *
 * Takes the oldest item, or closes the queue when there is none, in one step: no push can succeed
 * between the look and the closing. Any number of threads may take from the queue meanwhile.
 *
 * Returns: (transfer none) (nullable): the item, or %NULL, and the queue is closed
 */
gpointer
iris_queue_try_pop_or_close (IrisQueue *self)
{
  g_return_val_if_fail (IRIS_IS_QUEUE (self), NULL);

  return IRIS_QUEUE_GET_CLASS (self)->try_pop_or_close (self);
}

/**
 * iris_queue_timed_pop_or_close:
 * @timeout: how long to wait at most, in microseconds; 0 does not wait, less than 0 sets no limit
 *
 * Takes the oldest item; waits for one, but not for ever: when none came in time, the queue is
 * closed, in the same step as the last look.
 *
 * Returns: (transfer none) (nullable): the item, or %NULL, and the queue is closed
 */
gpointer
iris_queue_timed_pop_or_close (IrisQueue *self, gint64 timeout)
{
  g_return_val_if_fail (IRIS_IS_QUEUE (self), NULL);

  return IRIS_QUEUE_GET_CLASS (self)->timed_pop_or_close (self, timeout);
}

/**
 * iris_queue_close:
 *
 * Closes the queue and wakes all waiting threads. Closing a closed queue does nothing.
 */
void
iris_queue_close (IrisQueue *self)
{
  g_return_if_fail (IRIS_IS_QUEUE (self));

  IRIS_QUEUE_GET_CLASS (self)->close (self);
}

/**
 * iris_queue_get_length:
 *
 * Gets the number of items, at some moment during the call.
 */
guint
iris_queue_get_length (IrisQueue *self)
{
  g_return_val_if_fail (IRIS_IS_QUEUE (self), 0);

  return IRIS_QUEUE_GET_CLASS (self)->get_length (self);
}

/**
 * iris_queue_is_closed:
 *
 * Tells whether the queue was closed; items may still be in it.
 */
gboolean
iris_queue_is_closed (IrisQueue *self)
{
  g_return_val_if_fail (IRIS_IS_QUEUE (self), FALSE);

  return IRIS_QUEUE_GET_CLASS (self)->is_closed (self);
}

/* --- the default queue: a list and a condition under one lock ---
 *
 * Any thread may call anything. Everything is under the lock, also the count of those who wait, so
 * a push that no thread waits for makes no system call. A woken thread looks again: the item may be
 * another thread's by then, and then it goes on waiting until its own deadline. */

#define IRIS_TYPE_LOCKED_QUEUE (iris_locked_queue_get_type ())
G_DECLARE_FINAL_TYPE (IrisLockedQueue, iris_locked_queue, IRIS, LOCKED_QUEUE, IrisQueue)

struct _IrisLockedQueue
{
  IrisQueue parent_instance;

  GMutex lock;
  GCond pushed_or_closed;
  /* Under the lock. */
  GQueue items;
  guint n_waiting;
  gboolean closed;
};

G_DEFINE_FINAL_TYPE (IrisLockedQueue, iris_locked_queue, IRIS_TYPE_QUEUE)

static gboolean
iris_locked_queue_push (IrisQueue *queue, gpointer item)
{
  IrisLockedQueue *self = IRIS_LOCKED_QUEUE (queue);
  gboolean accepted;

  g_mutex_lock (&self->lock);
  accepted = !self->closed;
  if (accepted)
    g_queue_push_tail (&self->items, item);
  if (accepted && self->n_waiting != 0)
    g_cond_signal (&self->pushed_or_closed);
  g_mutex_unlock (&self->lock);

  return accepted;
}

/* Under the lock. FALSE when the deadline has passed. */
static gboolean
locked_queue_wait (IrisLockedQueue *self, gint64 deadline)
{
  gboolean in_time = TRUE;

  self->n_waiting++;
  if (deadline == G_MAXINT64)
    g_cond_wait (&self->pushed_or_closed, &self->lock);
  else
    in_time = g_cond_wait_until (&self->pushed_or_closed, &self->lock, deadline);
  self->n_waiting--;

  return in_time;
}

/* Under the lock. */
static void
locked_queue_close (IrisLockedQueue *self)
{
  self->closed = TRUE;
  g_cond_broadcast (&self->pushed_or_closed);
}

static gpointer
locked_queue_pop (IrisLockedQueue *self, gint64 timeout, gboolean or_close)
{
  gint64 deadline = timeout != 0 ? iris_queue_deadline (timeout) : 0;
  gboolean in_time = timeout != 0;
  gpointer item;

  g_mutex_lock (&self->lock);
  while (in_time && g_queue_is_empty (&self->items) && !self->closed)
    in_time = locked_queue_wait (self, deadline);
  item = g_queue_pop_head (&self->items);
  if (item == NULL && or_close && !self->closed)
    locked_queue_close (self);
  g_mutex_unlock (&self->lock);

  return item;
}

static gpointer
iris_locked_queue_timed_pop (IrisQueue *queue, gint64 timeout)
{
  return locked_queue_pop (IRIS_LOCKED_QUEUE (queue), timeout, FALSE);
}

static gpointer
iris_locked_queue_timed_pop_or_close (IrisQueue *queue, gint64 timeout)
{
  return locked_queue_pop (IRIS_LOCKED_QUEUE (queue), timeout, TRUE);
}

static void
iris_locked_queue_close (IrisQueue *queue)
{
  IrisLockedQueue *self = IRIS_LOCKED_QUEUE (queue);

  g_mutex_lock (&self->lock);
  locked_queue_close (self);
  g_mutex_unlock (&self->lock);
}

static guint
iris_locked_queue_get_length (IrisQueue *queue)
{
  IrisLockedQueue *self = IRIS_LOCKED_QUEUE (queue);
  guint length;

  g_mutex_lock (&self->lock);
  length = self->items.length;
  g_mutex_unlock (&self->lock);

  return length;
}

static gboolean
iris_locked_queue_is_closed (IrisQueue *queue)
{
  IrisLockedQueue *self = IRIS_LOCKED_QUEUE (queue);
  gboolean closed;

  g_mutex_lock (&self->lock);
  closed = self->closed;
  g_mutex_unlock (&self->lock);

  return closed;
}

static void
iris_locked_queue_finalize (GObject *object)
{
  IrisLockedQueue *self = IRIS_LOCKED_QUEUE (object);

  g_queue_clear (&self->items);
  g_cond_clear (&self->pushed_or_closed);
  g_mutex_clear (&self->lock);

  G_OBJECT_CLASS (iris_locked_queue_parent_class)->finalize (object);
}

static void
iris_locked_queue_class_init (IrisLockedQueueClass *klass)
{
  IrisQueueClass *queue_class = IRIS_QUEUE_CLASS (klass);

  G_OBJECT_CLASS (klass)->finalize = iris_locked_queue_finalize;
  queue_class->push = iris_locked_queue_push;
  queue_class->timed_pop = iris_locked_queue_timed_pop;
  queue_class->timed_pop_or_close = iris_locked_queue_timed_pop_or_close;
  queue_class->close = iris_locked_queue_close;
  queue_class->get_length = iris_locked_queue_get_length;
  queue_class->is_closed = iris_locked_queue_is_closed;
}

static void
iris_locked_queue_init (IrisLockedQueue *self)
{
  g_mutex_init (&self->lock);
  g_cond_init (&self->pushed_or_closed);
  g_queue_init (&self->items);
}

/**
 * iris_queue_new:
 *
 * Makes the default queue. It is a list under a lock; waiting threads sleep.
 *
 * Returns: (transfer full): an empty queue
 */
IrisQueue *
iris_queue_new (void)
{
  return g_object_new (IRIS_TYPE_LOCKED_QUEUE, NULL);
}
