/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * The port: hands messages to its receiver, or keeps them until it has one.
 *
 * Posting to a port with a receiver takes no lock and no reference: the rundown guard of the
 * receiver is entered (iris-rundown-guard-private.h), which keeps the receiver there until the
 * message was handled. Without a receiver, or paused, messages wait in a list under the port's
 * lock. The lock is never held while anything is called that is not of this file. The messages of a
 * bounded port wait in its buffer (iris-bounded-buffer-private.h), with or without a receiver.
 *
 * Posts enter the rundown guard that is published in `guard`; a paused port keeps it in `paused`
 * instead, so that messages wait, and deliveries that have entered are left alone. Both change
 * under the port's lock; the guard is closed, without the lock, once it is in neither.
 */
#include "iris/message/port/iris-port-private.h"
#include "iris/message/iris-timer-private.h"

#include "iris/sched/pool/iris-worker.h"

G_DEFINE_FINAL_TYPE (IrisPort, iris_port, G_TYPE_OBJECT)

static void
iris_port_finalize (GObject *object)
{
  IrisPort *self = IRIS_PORT (object);
  IrisRundownGuard *guard = atomic_exchange_explicit (&self->guard, NULL, memory_order_acq_rel);

  IrisBoundedBuffer *buffer = atomic_load_explicit (&self->buffer, memory_order_relaxed);
  IrisMessage *message;

  if (guard == NULL)
    guard = self->paused;
  if (guard != NULL)
    iris_rundown_guard_close (guard);
  if (buffer != NULL)
    iris_bounded_buffer_close (buffer);
  while ((message = g_queue_pop_head (&self->waiting)) != NULL)
    {
      iris_message_fail (message, IRIS_MESSAGE_ERROR_PORT_GONE);
      iris_message_unref (message);
    }
  if (self->full_notify != NULL)
    self->full_notify (self->full_data);
  pthread_mutex_destroy (&self->lock);

  G_OBJECT_CLASS (iris_port_parent_class)->finalize (object);
}

static void
iris_port_class_init (IrisPortClass *klass)
{
  G_OBJECT_CLASS (klass)->finalize = iris_port_finalize;
}

static void
iris_port_init (IrisPort *self)
{
  atomic_init (&self->guard, NULL);
  pthread_mutex_init (&self->lock, NULL);
  g_queue_init (&self->waiting);
}

/**
 * iris_port_new:
 *
 * Returns: (transfer full): a port without a receiver
 */
IrisPort *
iris_port_new (void)
{
  return g_object_new (IRIS_TYPE_PORT, NULL);
}

/* False when the port has got a receiver meanwhile. */
static __attribute__ ((noinline)) gboolean
port_keep (IrisPort *self, IrisMessage *message)
{
  gboolean keep;

  pthread_mutex_lock (&self->lock);
  keep = atomic_load_explicit (&self->guard, memory_order_relaxed) == NULL;
  if (keep)
    g_queue_push_tail (&self->waiting, iris_message_keep (message));
  pthread_mutex_unlock (&self->lock);

  return keep;
}

/* A receiver that takes no more is parted from the port; what it refused waits for another. */
static void
port_refused (IrisPort *self, IrisRundownGuard *guard)
{
  iris_port_remove_receiver (self, guard->subject);
  iris_rundown_guard_leave (guard);
}

/* A poster leaves. As the last one out it lets the receiver go, and must not wait for what goes
 * with that. */
static void
port_leave (IrisRundownGuard *guard)
{
  iris_scheduler_no_waiting++;
  iris_rundown_guard_leave (guard);
  iris_scheduler_no_waiting--;
}

/* Queues a delivery. False: the receiver takes no more. */
static inline gboolean
port_deliver (IrisRundownGuard *guard, IrisItem *item)
{
  IrisReceiver *receiver = guard->subject;
  gboolean delivered;

  if (!iris_receiver_needs_poster (receiver))
    return iris_receiver_deliver (receiver, item);
  iris_rundown_guard_reenter (guard);
  delivered = iris_receiver_deliver (receiver, item);
  port_leave (guard);

  return delivered;
}

/* The general way to a receiver; @guard has been entered. False: it takes no more, and was parted
 * from the port. Out of line, so that the short way has few registers to save. */
static __attribute__ ((noinline)) gboolean
port_hand_to (IrisPort *self, IrisRundownGuard *guard, IrisMessage *message)
{
  bool floated = ((IrisMessageReal *) message)->floating;
  IrisItem *item = iris_delivery_new (message, guard);

  if (iris_likely (port_deliver (guard, item)))
    return TRUE;
  iris_delivery_undo (item, floated);
  port_refused (self, guard);

  return FALSE;
}

/* False: there is no receiver. */
static inline gboolean
port_hand_over (IrisPort *self, IrisMessage *message)
{
  IrisMessageReal *real = (IrisMessageReal *) message;
  IrisRundownGuard *guard;

  while ((guard = iris_rundown_guard_enter (&self->guard)) != NULL)
    {
      if (iris_likely (iris_receiver_takes_plain (guard->subject, real)))
        {
          iris_receiver_queue_plain (guard->subject, real, guard);
          return TRUE;
        }
      if (port_hand_to (self, guard, message))
        return TRUE;
    }

  return FALSE;
}

static inline __attribute__ ((always_inline)) void
port_repost (IrisPort *self, IrisMessage *message)
{
  while (!port_hand_over (self, message))
    if (port_keep (self, message))
      return;
}

/* Sends tokens on their way for all messages that have none. */
static void
port_send_tokens (IrisPort *self, IrisBoundedBuffer *buffer)
{
  IrisRundownGuard *guard;

  while ((guard = iris_rundown_guard_enter (&self->guard)) != NULL)
    {
      IrisBoundedBuffer *token = iris_bounded_buffer_claim_token (buffer);
      IrisItem *item;

      if (token == NULL)
        {
          iris_rundown_guard_leave (guard);
          return;
        }
      item = iris_delivery_new_extra (NULL, token, guard);
      if (!port_deliver (guard, item))
        {
          iris_slab_free (IRIS_SLAB_MESSAGE, ((IrisExtraDelivery *) item)->home, item);
          iris_bounded_buffer_return_token (token);
          port_refused (self, guard);
        }
    }
}

void
iris_port_send_late (IrisBoundedBuffer *buffer)
{
  g_autoptr (IrisPort) port = g_weak_ref_get (&buffer->port);

  if (port != NULL)
    port_send_tokens (port, buffer);
}

static void
port_tell_full (IrisPort *self, IrisMessage *message)
{
  IrisPortFullFunc func;
  gpointer data;

  pthread_mutex_lock (&self->lock);
  func = self->full_func;
  data = self->full_data;
  pthread_mutex_unlock (&self->lock);
  if (func != NULL)
    func (self, message, data);
}

/* Workers and the timers' thread must not wait for room: others depend on them. */
static IrisPortPatience
port_get_patience (void)
{
  if (iris_timers_here)
    return IRIS_PORT_PATIENCE_LEAVE;

  return iris_worker_current () != NULL ? IRIS_PORT_PATIENCE_REFUSE : IRIS_PORT_PATIENCE_WAIT;
}

/* Keeps @message until the end, so that it can be told about. */
static IrisPortPut
port_post_bounded (IrisPort *self,
                   IrisBoundedBuffer *buffer,
                   IrisMessage *message,
                   IrisPortPatience patience)
{
  G_GNUC_UNUSED g_autoptr (IrisMessage) keep = iris_message_ref_sink (message);
  IrisPortPut put = iris_bounded_buffer_put (buffer, message, patience);

  if (put.dropped != NULL)
    {
      iris_message_fail (put.dropped, IRIS_MESSAGE_ERROR_FULL);
      iris_message_unref (put.dropped);
    }
  if (put.accepted)
    {
      port_send_tokens (self, buffer);
      return put;
    }
  iris_message_fail (message, IRIS_MESSAGE_ERROR_FULL);
  if (put.when_full == IRIS_PORT_FULL_TELL)
    port_tell_full (self, message);

  return put;
}

/* Out of line for the sake of posts without a buffer. */
static __attribute__ ((noinline)) void
port_post_to_buffer (IrisPort *self, IrisBoundedBuffer *buffer, IrisMessage *message)
{
  port_post_bounded (self, buffer, message, port_get_patience ());
}

/**
 * iris_port_post:
 * @message: a message; its reference is taken if it floats, otherwise the caller keeps its own
 *
 * Posts a message. It is handled by the port's receiver, on a worker of the receiver's scheduler;
 * without a receiver it waits in the port. The message must not be changed any more.
 *
 * May be called from any thread. From a worker it takes no lock and makes no system call, but to
 * wake another worker. A bounded port takes a lock; what it does when it is full says
 * iris_port_set_limit(), and iris_port_try_post() says whether the message was accepted.
 */
void
iris_port_post (IrisPort *self, IrisMessage *message)
{
  IrisBoundedBuffer *buffer;

  g_return_if_fail (self != NULL);
  g_return_if_fail (message != NULL);

  buffer = atomic_load_explicit (&self->buffer, memory_order_acquire);
  if (iris_unlikely (buffer != NULL))
    port_post_to_buffer (self, buffer, message);
  else
    port_repost (self, message);
}

/* Like iris_port_post(), but a full port refuses the message even if it lets posters wait. */
void
iris_port_post_or_refuse (IrisPort *self, IrisMessage *message)
{
  IrisBoundedBuffer *buffer = atomic_load_explicit (&self->buffer, memory_order_acquire);

  if (buffer != NULL)
    port_post_bounded (self, buffer, message, IRIS_PORT_PATIENCE_REFUSE);
  else
    port_repost (self, message);
}

/**
 * iris_port_try_post:
 * @message: a message; its reference is taken if it floats, accepted or not
 * @error: (nullable): for %IRIS_MESSAGE_ERROR_FULL
 *
 * Posts a message like iris_port_post(), and says whether it was accepted.
 *
 * Returns: whether it was; a port without a limit accepts everything
 */
gboolean
iris_port_try_post (IrisPort *self, IrisMessage *message, GError **error)
{
  IrisBoundedBuffer *buffer;
  IrisPortPut put;

  g_return_val_if_fail (self != NULL, FALSE);
  g_return_val_if_fail (message != NULL, FALSE);
  g_return_val_if_fail (error == NULL || *error == NULL, FALSE);

  buffer = atomic_load_explicit (&self->buffer, memory_order_acquire);
  if (buffer == NULL)
    {
      iris_port_post (self, message);
      return TRUE;
    }
  put = port_post_bounded (self, buffer, message, port_get_patience ());
  if (put.accepted)
    return TRUE;
  g_set_error (error, IRIS_MESSAGE_ERROR, IRIS_MESSAGE_ERROR_FULL,
               "the port holds %u messages, its limit; iris_port_set_limit() sets another",
               put.limit);

  return FALSE;
}

/**
 * iris_port_set_limit:
 * @limit: how many messages it may hold, at least 1
 * @when_full: what happens to more
 *
 * Bounds how many messages the port holds: those that were posted and whose handler has not begun,
 * or that wait for a receiver. Without this a port has no limit.
 *
 * May be called again, from any thread; more messages than a lower limit allows are kept. Messages
 * that were on their way to a receiver before the first call are not counted.
 */
void
iris_port_set_limit (IrisPort *self, guint limit, IrisPortFull when_full)
{
  IrisBoundedBuffer *buffer;
  bool admitted = false;

  g_return_if_fail (IRIS_IS_PORT (self));
  g_return_if_fail (limit >= 1);

  pthread_mutex_lock (&self->lock);
  buffer = atomic_load_explicit (&self->buffer, memory_order_relaxed);
  if (buffer == NULL)
    {
      buffer = iris_bounded_buffer_new (self, limit, when_full);
      /* What waits is kept, above the limit too. */
      buffer->messages = self->waiting;
      g_queue_init (&self->waiting);
      atomic_store_explicit (&self->buffer, buffer, memory_order_release);
    }
  else
    admitted = iris_bounded_buffer_set_limit (buffer, limit, when_full);
  pthread_mutex_unlock (&self->lock);
  if (admitted)
    port_send_tokens (self, buffer);
}

/**
 * iris_port_set_full_func:
 * @func: (nullable) (scope notified) (closure data) (destroy notify): called with each message that
 *   is refused
 * @data: (nullable): for @func and @notify
 * @notify: (nullable): called with @data when the port is gone
 *
 * Sets, once, what %IRIS_PORT_FULL_TELL calls. It is called on the thread that posts, under no
 * lock. For a message of iris_port_post_after() and its like that is the thread of all timers:
 * there it must not wait.
 */
void
iris_port_set_full_func (IrisPort *self,
                         IrisPortFullFunc func,
                         gpointer data,
                         GDestroyNotify notify)
{
  g_return_if_fail (IRIS_IS_PORT (self));
  g_return_if_fail (self->full_func == NULL);

  pthread_mutex_lock (&self->lock);
  self->full_func = func;
  self->full_data = data;
  self->full_notify = notify;
  pthread_mutex_unlock (&self->lock);
}

/**
 * iris_port_get_counts:
 * @counts: (out caller-allocates): filled in
 *
 * Tells what a bounded port has seen so far; a port without a limit counts nothing.
 *
 * Returns: whether the port has a limit
 */
gboolean
iris_port_get_counts (IrisPort *self, IrisPortCounts *counts)
{
  IrisBoundedBuffer *buffer;

  g_return_val_if_fail (IRIS_IS_PORT (self), FALSE);
  g_return_val_if_fail (counts != NULL, FALSE);

  *counts = (IrisPortCounts){ 0 };
  buffer = atomic_load_explicit (&self->buffer, memory_order_acquire);
  if (buffer == NULL)
    return FALSE;
  pthread_mutex_lock (&buffer->lock);
  *counts = buffer->counts;
  counts->held = buffer->messages.length;
  pthread_mutex_unlock (&buffer->lock);

  return TRUE;
}

/**
 * iris_port_get_queue_length:
 *
 * Tells how many messages wait in the port for a receiver; of a bounded port, how many it holds.
 */
guint
iris_port_get_queue_length (IrisPort *self)
{
  IrisPortCounts counts;
  guint length;

  g_return_val_if_fail (IRIS_IS_PORT (self), 0);

  if (iris_port_get_counts (self, &counts))
    return (guint) counts.held;
  pthread_mutex_lock (&self->lock);
  length = self->waiting.length;
  pthread_mutex_unlock (&self->lock);

  return length;
}

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
      port_repost (self, message);
      iris_message_unref (message);
    }
  buffer = atomic_load_explicit (&self->buffer, memory_order_acquire);
  if (buffer != NULL)
    port_send_tokens (self, buffer);
}

/**
 * iris_port_has_receiver:
 *
 * Returns: whether the port has a receiver at this moment, paused or not
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
 *
 * Returns: (transfer full) (nullable): the receiver of the port, or %NULL if it has none
 */
IrisReceiver *
iris_port_dup_receiver (IrisPort *self)
{
  IrisReceiver *receiver;
  IrisRundownGuard *guard;

  g_return_val_if_fail (IRIS_IS_PORT (self), NULL);

  pthread_mutex_lock (&self->lock);
  guard = port_get_guard (self);
  /* No thread closes what the port has: that takes the lock first. */
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
 *
 * Gets the receiver of the port, or %NULL if it has none, without a reference: it is valid as long
 * as the port keeps it. Where another thread may replace or destroy it, use
 * iris_port_dup_receiver().
 *
 * Returns: (transfer none) (nullable): the receiver of the port, or %NULL if it has none
 */
IrisReceiver *
iris_port_get_receiver (IrisPort *self)
{
  g_autoptr (IrisReceiver) receiver = iris_port_dup_receiver (self);

  return receiver;
}

/**
 * iris_port_set_receiver:
 * @receiver: (nullable): a receiver, or %NULL to keep messages in the port
 *
 * Sets the receiver, in place of the one that the port had, paused or not. Messages that wait in
 * the port are handed to it in order; those that are on their way to the former one are still
 * handled by that. What other threads post meanwhile may come between those that waited.
 *
 * May be called from any thread.
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
 *
 * Keeps messages that are posted from now on in the port, until iris_port_resume(). Those that are
 * on their way to the receiver are still handled. The port keeps its receiver; one that has none,
 * or is paused already, is left as it is. Setting a receiver resumes the port as well.
 *
 * May be called from any thread.
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
 *
 * Ends what iris_port_pause() began: messages that wait in the port are handed to its receiver in
 * order. What other threads post meanwhile may come between. A port that is not paused is left as
 * it is.
 *
 * May be called from any thread.
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
 *
 * Tells whether the port has a receiver and was paused.
 *
 * Returns: whether messages wait in the port although it has a receiver
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
