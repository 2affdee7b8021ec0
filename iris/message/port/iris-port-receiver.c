/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * Who receives a port's messages: setting, replacing and pausing the receiver.
 *
 * A port has its receiver through a rundown guard. Posts enter the one that is published in
 * `guard`; a paused port keeps it in `paused` instead, so that posts find nobody and wait, and
 * those that are inside are left alone. Both change under the port's lock; the rundown guard is
 * closed, without the lock, once it is in neither.
 */
#include "iris/message/port/iris-port-private.h"

/* Under the lock. What is published or paused is not settled: its subject is what it was made
 * with. */
static IrisRundownGuard *
port_get_guard (IrisPort *self)
{
  IrisRundownGuard *guard = atomic_load_explicit (&self->guard, memory_order_relaxed);

  return guard != NULL ? guard : self->paused;
}

/* Under the lock: posts find the receiver again. What waited goes into @flushed. */
static void
port_publish (IrisPort *self, IrisRundownGuard *guard, GQueue *flushed)
{
  self->paused = NULL;
  atomic_store_explicit (&self->guard, guard, memory_order_release);
  *flushed = self->waiting;
  g_queue_init (&self->waiting);
}

/* Hands over what waited until now. */
static void
port_flush (IrisPort *self, GQueue *flushed)
{
  IrisMessage *message;
  IrisBoundedBuffer *buffer;

  while ((message = g_queue_pop_head (flushed)) != NULL)
    {
      /* Not through the buffer: these were accepted before there was one. */
      iris_port_repost (self, message);
      iris_message_unref (message);
    }
  buffer = atomic_load_explicit (&self->buffer, memory_order_acquire);
  if (buffer != NULL)
    iris_port_send_tokens (self, buffer);
}

/**
 * iris_port_has_receiver:
 * @self: a port
 *
 * Tells whether the port has a receiver, paused or not.
 *
 * Returns: whether the port has a receiver at this moment
 *
 * Since: 0.1
 */
gboolean
iris_port_has_receiver (IrisPort *self)
{
  gboolean has;

  g_return_val_if_fail (IRIS_IS_PORT (self), FALSE);

  pthread_mutex_lock (&self->lock);
  has = port_get_guard (self) != NULL;
  pthread_mutex_unlock (&self->lock);

  return has;
}

/**
 * iris_port_dup_receiver:
 * @self: a port
 *
 * Gets the receiver of the port, or %NULL if it has none.
 *
 * Returns: (transfer full) (nullable): the receiver of the port, or %NULL if it has none
 *
 * Since: 0.1
 */
IrisReceiver *
iris_port_dup_receiver (IrisPort *self)
{
  IrisReceiver *receiver;
  IrisRundownGuard *guard;

  g_return_val_if_fail (IRIS_IS_PORT (self), NULL);

  pthread_mutex_lock (&self->lock);
  guard = port_get_guard (self);
  /* Nobody closes what the port has: that takes the lock first. */
  if (guard != NULL)
    iris_rundown_guard_reenter (guard);
  pthread_mutex_unlock (&self->lock);
  if (guard == NULL)
    return NULL;
  receiver = g_object_ref (guard->subject);
  iris_rundown_guard_leave (guard);

  return receiver;
}

/**
 * iris_port_get_receiver:
 * @self: a port
 *
 * Gets the receiver of the port, or %NULL if it has none, without a reference: it is valid as long
 * as the port keeps it. Where another thread may replace or destroy it, use
 * iris_port_dup_receiver().
 *
 * Returns: (transfer none) (nullable): the receiver of the port, or %NULL if it has none
 *
 * Since: 0.1
 */
IrisReceiver *
iris_port_get_receiver (IrisPort *self)
{
  g_autoptr (IrisReceiver) receiver = iris_port_dup_receiver (self);

  return receiver;
}

/**
 * iris_port_set_receiver:
 * @self: a port
 * @receiver: (nullable): a receiver, or %NULL to keep messages in the port
 *
 * Sets the receiver, in place of the one that the port had, paused or not. Messages that wait in
 * the port are handed to it in order; those that are on their way to the former one are still
 * handled by that. What other threads post meanwhile may come between those that waited.
 *
 * May be called from any thread.
 *
 * Since: 0.1
 */
void
iris_port_set_receiver (IrisPort *self, IrisReceiver *receiver)
{
  IrisRundownGuard *guard, *old;
  GQueue flushed = G_QUEUE_INIT;

  g_return_if_fail (IRIS_IS_PORT (self));
  g_return_if_fail (receiver == NULL || IRIS_IS_RECEIVER (receiver));

  if (receiver == NULL)
    {
      iris_port_remove_receiver (self, NULL);
      return;
    }
  guard = iris_receiver_attach (receiver, self);
  pthread_mutex_lock (&self->lock);
  old = port_get_guard (self);
  port_publish (self, guard, &flushed);
  pthread_mutex_unlock (&self->lock);
  if (old != NULL)
    iris_rundown_guard_close (old);
  port_flush (self, &flushed);
}

/* Leaves the port without a receiver; with @only, if that is the one that it has. */
void
iris_port_remove_receiver (IrisPort *self, IrisReceiver *only)
{
  IrisRundownGuard *old;

  pthread_mutex_lock (&self->lock);
  old = port_get_guard (self);
  if (old != NULL && only != NULL && old->subject != only)
    old = NULL;
  if (old != NULL)
    {
      self->paused = NULL;
      atomic_store_explicit (&self->guard, NULL, memory_order_release);
    }
  pthread_mutex_unlock (&self->lock);
  if (old != NULL)
    iris_rundown_guard_close (old);
}

/**
 * iris_port_pause:
 * @self: a port
 *
 * Keeps messages that are posted from now on in the port, until iris_port_resume(). Those that are
 * on their way to the receiver are still handled. The port keeps its receiver; one that has none,
 * or is paused already, is left as it is. Setting a receiver resumes the port as well.
 *
 * May be called from any thread.
 *
 * Since: 0.1
 */
void
iris_port_pause (IrisPort *self)
{
  IrisRundownGuard *guard;

  g_return_if_fail (IRIS_IS_PORT (self));

  pthread_mutex_lock (&self->lock);
  guard = atomic_load_explicit (&self->guard, memory_order_relaxed);
  if (guard != NULL)
    {
      self->paused = guard;
      atomic_store_explicit (&self->guard, NULL, memory_order_release);
    }
  pthread_mutex_unlock (&self->lock);
}

/**
 * iris_port_resume:
 * @self: a port
 *
 * Ends what iris_port_pause() began: messages that wait in the port are handed to its receiver in
 * order. What other threads post meanwhile may come between. A port that is not paused is left as
 * it is.
 *
 * May be called from any thread.
 *
 * Since: 0.1
 */
void
iris_port_resume (IrisPort *self)
{
  GQueue flushed = G_QUEUE_INIT;
  gboolean resumed;

  g_return_if_fail (IRIS_IS_PORT (self));

  pthread_mutex_lock (&self->lock);
  resumed = self->paused != NULL;
  if (resumed)
    port_publish (self, self->paused, &flushed);
  pthread_mutex_unlock (&self->lock);
  if (resumed)
    port_flush (self, &flushed);
}

/**
 * iris_port_is_paused:
 * @self: a port
 *
 * Tells whether the port has a receiver and was paused.
 *
 * Returns: whether messages wait in the port although it has a receiver
 *
 * Since: 0.1
 */
gboolean
iris_port_is_paused (IrisPort *self)
{
  gboolean paused;

  g_return_val_if_fail (IRIS_IS_PORT (self), FALSE);

  pthread_mutex_lock (&self->lock);
  paused = self->paused != NULL;
  pthread_mutex_unlock (&self->lock);

  return paused;
}
