/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * The abstract queue: checks what comes from outside, and asks the class.
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
 * iris_queue_new:
 *
 * Makes the default queue. It is a list under a lock; waiting threads sleep.
 *
 * Returns: (transfer full): an empty queue
 */
IrisQueue *
iris_queue_new (void)
{
  return iris_locked_queue_new ();
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
 * Takes the oldest item; waits while there is none.
 *
 * Returns: (transfer none) (nullable): the item, or %NULL when the queue is closed and empty
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
 * Takes the oldest item, without waiting.
 *
 * Returns: (transfer none) (nullable): the item, or %NULL when there is none
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
