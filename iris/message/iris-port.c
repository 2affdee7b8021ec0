/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * The port: hands messages to its receiver, or keeps them until it has one.
 *
 * Posting to a port with a receiver takes no lock and no reference: the census of the receiver is
 * entered (iris-census-private.h), which keeps the receiver there until the message was handled.
 * Without a receiver, messages wait in a list under the port's lock. The lock is never held while
 * anything is called that is not of this file.
 */
#include "iris/message/iris-message-private.h"
#include "iris/message/iris-receiver-private.h"

struct _IrisPort
{
  GObject parent_instance;

  _Atomic (IrisCensus *) census; /* NULL: no receiver; changed under the lock */
  pthread_mutex_t lock;
  GQueue waiting; /* messages, a reference each; under the lock */
};

G_DEFINE_FINAL_TYPE (IrisPort, iris_port, G_TYPE_OBJECT)

static void
iris_port_finalize (GObject *object)
{
  IrisPort *self = IRIS_PORT (object);
  IrisCensus *census = atomic_exchange_explicit (&self->census, NULL, memory_order_acq_rel);

  if (census != NULL)
    iris_census_close (census);
  g_queue_clear_full (&self->waiting, (GDestroyNotify) iris_message_unref);
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
  atomic_init (&self->census, NULL);
  pthread_mutex_init (&self->lock, NULL);
  g_queue_init (&self->waiting);
}

/**
 * iris_port_new:
 *
 * Returns: (transfer full): a port without a receiver
 *
 * Since: 0.1
 */
IrisPort *
iris_port_new (void)
{
  return g_object_new (IRIS_TYPE_PORT, NULL);
}

/* False when the port has got a receiver meanwhile. */
static gboolean
port_keep (IrisPort *self, IrisMessage *message)
{
  gboolean keep;

  pthread_mutex_lock (&self->lock);
  keep = atomic_load_explicit (&self->census, memory_order_relaxed) == NULL;
  if (keep)
    g_queue_push_tail (&self->waiting, iris_message_ref_sink (message));
  pthread_mutex_unlock (&self->lock);

  return keep;
}

/**
 * iris_port_post:
 * @self: a port
 * @message: a message; its reference is taken if it floats, otherwise the caller keeps its own
 *
 * Posts a message. It is handled by the port's receiver, on a worker of the receiver's scheduler;
 * without a receiver it waits in the port. The message must not be changed any more.
 *
 * May be called from any thread. From a worker it takes no lock and makes no system call, but to
 * wake another worker.
 *
 * Since: 0.1
 */
void
iris_port_post (IrisPort *self, IrisMessage *message)
{
  IrisCensus *census;

  g_return_if_fail (self != NULL);
  g_return_if_fail (message != NULL);

  while ((census = iris_census_enter (&self->census)) == NULL)
    if (port_keep (self, message))
      return;

  iris_receiver_deliver (census->subject, census, message);
}

/**
 * iris_port_has_receiver:
 * @self: a port
 *
 * Returns: whether messages are handed to a receiver at this moment
 *
 * Since: 0.1
 */
gboolean
iris_port_has_receiver (IrisPort *self)
{
  g_return_val_if_fail (IRIS_IS_PORT (self), FALSE);

  return atomic_load_explicit (&self->census, memory_order_relaxed) != NULL;
}

/**
 * iris_port_dup_receiver:
 * @self: a port
 *
 * Returns: (transfer full) (nullable): the receiver of the port, or %NULL if it has none
 *
 * Since: 0.1
 */
IrisReceiver *
iris_port_dup_receiver (IrisPort *self)
{
  IrisReceiver *receiver;
  IrisCensus *census;

  g_return_val_if_fail (IRIS_IS_PORT (self), NULL);

  census = iris_census_enter (&self->census);
  if (census == NULL)
    return NULL;
  receiver = g_object_ref (census->subject);
  iris_census_leave (census);

  return receiver;
}

/* Puts @census in the place of the one that is published, which is returned, and moves what waits
 * into @flushed. With @only, nothing is done unless that is the present receiver. */
static IrisCensus *
port_exchange (IrisPort *self, IrisCensus *census, IrisReceiver *only, GQueue *flushed)
{
  IrisCensus *old;

  pthread_mutex_lock (&self->lock);
  old = atomic_load_explicit (&self->census, memory_order_relaxed);
  /* Published, so not settled: its subject is what it was made with. */
  if (only != NULL && (old == NULL || old->subject != only))
    {
      pthread_mutex_unlock (&self->lock);
      return NULL;
    }
  atomic_store_explicit (&self->census, census, memory_order_release);
  if (census != NULL)
    {
      *flushed = self->waiting;
      g_queue_init (&self->waiting);
    }
  pthread_mutex_unlock (&self->lock);

  return old;
}

/**
 * iris_port_set_receiver:
 * @self: a port
 * @receiver: (nullable): a receiver, or %NULL to keep messages in the port
 *
 * Sets the receiver, in place of the one that the port had. Messages that wait in the port are
 * handed to it in order; those that are on their way to the former one are still handled by that.
 *
 * May be called from any thread.
 *
 * Since: 0.1
 */
void
iris_port_set_receiver (IrisPort *self, IrisReceiver *receiver)
{
  IrisCensus *census, *old;
  GQueue flushed = G_QUEUE_INIT;
  IrisMessage *message;

  g_return_if_fail (IRIS_IS_PORT (self));
  g_return_if_fail (receiver == NULL || IRIS_IS_RECEIVER (receiver));

  census = receiver != NULL ? iris_receiver_attach (receiver, self) : NULL;
  old = port_exchange (self, census, NULL, &flushed);
  if (old != NULL)
    iris_census_close (old);

  while ((message = g_queue_pop_head (&flushed)) != NULL)
    {
      iris_port_post (self, message);
      iris_message_unref (message);
    }
}

/* Leaves the port without a receiver if @receiver is the one that it has. */
void
iris_port_remove_receiver (IrisPort *self, IrisReceiver *receiver)
{
  IrisCensus *old = port_exchange (self, NULL, receiver, NULL);

  if (old != NULL)
    iris_census_close (old);
}

/**
 * iris_port_get_queue_length:
 * @self: a port
 *
 * Returns: how many messages wait in the port for a receiver
 *
 * Since: 0.1
 */
guint
iris_port_get_queue_length (IrisPort *self)
{
  guint length;

  g_return_val_if_fail (IRIS_IS_PORT (self), 0);

  pthread_mutex_lock (&self->lock);
  length = self->waiting.length;
  pthread_mutex_unlock (&self->lock);

  return length;
}
