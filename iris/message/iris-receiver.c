/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * The receiver: one message, one work item; the item is embedded in the message.
 *
 * A message on its way keeps the port's census entered, from the post until its handler has
 * returned. So the receiver needs no reference for it, and its destroy notify runs when the last
 * handler has returned, on whichever thread that is.
 */
#include "iris/message/iris-receiver-private.h"

#include "iris/message/iris-message-private.h"
#define IRIS_INSIDE
#include "iris/sched/iris-scheduler-default.h"
#include "iris/sched/iris-worker.h"
#undef IRIS_INSIDE

struct _IrisReceiver
{
  GObject parent_instance;

  IrisScheduler *scheduler;
  IrisMessageHandler handler;
  gpointer data;
  GDestroyNotify notify; /* under the lock: NULL once it was called */
  _Atomic gint place;
  _Atomic guint32 flags;
  _Atomic bool destroyed;

  pthread_mutex_t lock;
  pthread_cond_t detached;
  guint n_attached; /* censuses that are not settled yet; under the lock */
  GWeakRef port;
};

G_DEFINE_FINAL_TYPE (IrisReceiver, iris_receiver, G_TYPE_OBJECT)

/* A message that was posted again while its own item was in use travels in one of these. */
typedef struct
{
  IrisItem item;
  IrisMessageReal *message;
  IrisSlab *home;
} ExtraDelivery;

/* No handler runs and none will. */
static void
receiver_release_data (IrisReceiver *self)
{
  GDestroyNotify notify;

  pthread_mutex_lock (&self->lock);
  notify = g_steal_pointer (&self->notify);
  pthread_mutex_unlock (&self->lock);
  if (notify != NULL)
    notify (self->data);
}

static void
iris_receiver_finalize (GObject *object)
{
  IrisReceiver *self = IRIS_RECEIVER (object);

  receiver_release_data (self);
  g_weak_ref_clear (&self->port);
  pthread_cond_destroy (&self->detached);
  pthread_mutex_destroy (&self->lock);
  g_clear_object (&self->scheduler);

  G_OBJECT_CLASS (iris_receiver_parent_class)->finalize (object);
}

static void
iris_receiver_class_init (IrisReceiverClass *klass)
{
  G_OBJECT_CLASS (klass)->finalize = iris_receiver_finalize;
}

static void
iris_receiver_init (IrisReceiver *self)
{
  pthread_mutex_init (&self->lock, NULL);
  pthread_cond_init (&self->detached, NULL);
  g_weak_ref_init (&self->port, NULL);
  atomic_init (&self->place, IRIS_PLACE_ANY);
}

/**
 * iris_receiver_new:
 * @scheduler: (nullable): where the handler runs, or %NULL for the default scheduler
 * @handler: (scope notified) (closure data) (destroy notify): called for each message
 * @data: (nullable): for @handler and @notify
 * @notify: (nullable): called with @data when the handler will not be called again
 *
 * Makes a receiver that is not joined to a port yet; see iris_port_set_receiver() and
 * iris_arbiter_receive().
 *
 * Returns: (transfer full): a receiver
 *
 * Since: 0.1
 */
IrisReceiver *
iris_receiver_new (IrisScheduler *scheduler,
                   IrisMessageHandler handler,
                   gpointer data,
                   GDestroyNotify notify)
{
  IrisReceiver *self;

  g_return_val_if_fail (scheduler == NULL || IRIS_IS_SCHEDULER (scheduler), NULL);
  g_return_val_if_fail (handler != NULL, NULL);

  self = g_object_new (IRIS_TYPE_RECEIVER, NULL);
  self->scheduler = g_object_ref (scheduler != NULL ? scheduler : iris_scheduler_get_default ());
  self->handler = handler;
  self->data = data;
  self->notify = notify;

  return self;
}

/**
 * iris_receiver_get_scheduler:
 * @self: a receiver
 *
 * Returns: (transfer none): the scheduler that runs its handler
 *
 * Since: 0.1
 */
IrisScheduler *
iris_receiver_get_scheduler (IrisReceiver *self)
{
  g_return_val_if_fail (IRIS_IS_RECEIVER (self), NULL);

  return self->scheduler;
}

/**
 * iris_receiver_set_place:
 * @self: a receiver
 * @place: the id of a place of its scheduler, or %IRIS_PLACE_ANY
 * @flags: %IRIS_ITEM_STRICT if no other place may handle the messages
 *
 * Sets where messages that are posted from now on should be handled. May be called from any thread.
 *
 * Since: 0.1
 */
void
iris_receiver_set_place (IrisReceiver *self, gint place, IrisItemFlags flags)
{
  g_return_if_fail (IRIS_IS_RECEIVER (self));
  g_return_if_fail (place >= IRIS_PLACE_ANY);

  atomic_store_explicit (&self->place, place, memory_order_relaxed);
  atomic_store_explicit (&self->flags, flags, memory_order_relaxed);
}

/* The last message on its way through a port is done. */
static void
receiver_settled (gpointer subject)
{
  IrisReceiver *self = subject;

  pthread_mutex_lock (&self->lock);
  self->n_attached--;
  pthread_cond_broadcast (&self->detached);
  pthread_mutex_unlock (&self->lock);
  g_object_unref (self);
}

/* A census for a port to publish; it holds a reference until it is settled. */
IrisCensus *
iris_receiver_attach (IrisReceiver *self, IrisPort *port)
{
  IrisCensus *census = iris_census_new (g_object_ref (self), receiver_settled);

  if (census == NULL)
    g_error ("iris: out of memory for a port's receiver");
  pthread_mutex_lock (&self->lock);
  self->n_attached++;
  pthread_mutex_unlock (&self->lock);
  g_weak_ref_set (&self->port, port);

  return census;
}

static void
receiver_handle (IrisCensus *census, IrisMessageReal *message)
{
  IrisReceiver *self = census->subject;

  if (iris_likely (!atomic_load_explicit (&self->destroyed, memory_order_relaxed)))
    self->handler (&message->face, self->data);
}

static void
deliver_own (gpointer data)
{
  IrisMessageReal *message = data;
  IrisCensus *census = message->item.context;

  receiver_handle (census, message);
  iris_message_leave_item (message);
  iris_message_unref (&message->face);
  iris_census_leave (census);
}

static void
drop_own (gpointer data)
{
  IrisMessageReal *message = data;
  IrisCensus *census = message->item.context;

  iris_message_leave_item (message);
  iris_message_unref (&message->face);
  iris_census_leave (census);
}

static void
drop_extra (gpointer data)
{
  ExtraDelivery *extra = data;
  IrisMessageReal *message = extra->message;
  IrisCensus *census = extra->item.context;

  iris_slab_free (IRIS_SLAB_MESSAGE, extra->home, extra);
  iris_message_unref (&message->face);
  iris_census_leave (census);
}

static void
deliver_extra (gpointer data)
{
  ExtraDelivery *extra = data;

  receiver_handle (extra->item.context, extra->message);
  drop_extra (extra);
}

/* Queues a message whose post has entered @census; takes a reference to the message. */
void
iris_receiver_deliver (IrisReceiver *self, IrisCensus *census, IrisMessage *face)
{
  IrisMessageReal *message = (IrisMessageReal *) face;
  IrisItem *item;

  if (iris_likely (iris_message_take (message)))
    {
      item = &message->item;
      iris_item_init (item, deliver_own, message, drop_own);
    }
  else
    {
      IrisSlab *home;
      ExtraDelivery *extra = iris_slab_alloc (IRIS_SLAB_MESSAGE, &home);

      extra->message = message;
      extra->home = home;
      item = &extra->item;
      iris_item_init (item, deliver_extra, extra, drop_extra);
    }
  item->context = census;
  item->place = atomic_load_explicit (&self->place, memory_order_relaxed);
  item->flags = atomic_load_explicit (&self->flags, memory_order_relaxed);
  iris_scheduler_queue_item (self->scheduler, item);
}

/**
 * iris_receiver_destroy:
 * @self: a receiver
 * @in_message: whether it is called by a handler of this receiver
 *
 * Parts the receiver from its port. Messages that are on their way and whose handler has not begun
 * are dropped; messages that are posted later wait in the port.
 *
 * Unless @in_message is %TRUE or the caller is a worker, which must not wait for others, this
 * returns when no handler runs any more and the destroy notify that was given with the handler has
 * run. Otherwise the notify runs when the last handler has returned and the last reference is gone.
 *
 * Since: 0.1
 */
void
iris_receiver_destroy (IrisReceiver *self, gboolean in_message)
{
  g_autoptr (IrisReceiver) keep = NULL;
  g_autoptr (IrisPort) port = NULL;

  g_return_if_fail (IRIS_IS_RECEIVER (self));

  keep = g_object_ref (self);
  atomic_store_explicit (&self->destroyed, true, memory_order_relaxed);
  port = g_weak_ref_get (&self->port);
  if (port != NULL)
    iris_port_remove_receiver (port, self);
  if (in_message || iris_worker_current () != NULL)
    return;

  pthread_mutex_lock (&self->lock);
  while (self->n_attached > 0)
    pthread_cond_wait (&self->detached, &self->lock);
  pthread_mutex_unlock (&self->lock);
  receiver_release_data (self);
}
