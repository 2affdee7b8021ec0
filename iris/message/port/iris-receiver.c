/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * The receiver: one message, one work item, embedded in the message; or, exclusive, one turn for as
 * many messages as there are.
 *
 * A message on its way keeps the port's rundown guard entered, from the post until its handler has
 * returned. So the receiver needs no reference for it, and its destroy notify runs when the last
 * handler has returned, on whichever thread that is.
 */
#include "iris/message/port/iris-receiver-private.h"
#include "iris/message/iris-timer-private.h"
#include "iris/message/iris-turn-private.h"

#include "iris/sched/iris-scheduler-private.h"
#include "iris/message/port/iris-actor.h"
#include "iris/sched/pool/iris-worker.h"

G_DEFINE_FINAL_TYPE (IrisReceiver, iris_receiver, G_TYPE_OBJECT)

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
  g_clear_object (&self->arbiter);
  pthread_cond_destroy (&self->detached);
  pthread_mutex_destroy (&self->lock);
  g_clear_object (&self->scheduler);

  G_OBJECT_CLASS (iris_receiver_parent_class)->finalize (object);
}

static void
iris_receiver_get_property (GObject *object, guint id, GValue *value, GParamSpec *spec)
{
  g_value_set_object (value, IRIS_RECEIVER (object)->scheduler);
}

static void
iris_receiver_class_init (IrisReceiverClass *klass)
{
  GObjectClass *object_class = G_OBJECT_CLASS (klass);

  object_class->finalize = iris_receiver_finalize;
  object_class->get_property = iris_receiver_get_property;

  /**
   * IrisReceiver:scheduler:
   *
   * What runs the handler.
   */
  g_object_class_install_property (object_class, 1,
                                   g_param_spec_object ("scheduler", NULL, NULL,
                                                        IRIS_TYPE_SCHEDULER,
                                                        G_PARAM_READABLE | G_PARAM_STATIC_STRINGS));
}

static void
iris_receiver_init (IrisReceiver *self)
{
  pthread_mutex_init (&self->lock, NULL);
  pthread_cond_init (&self->detached, NULL);
  g_weak_ref_init (&self->port, NULL);
  atomic_init (&self->place, IRIS_PLACE_ANY);
  atomic_init (&self->last_place, IRIS_PLACE_ANY);
  atomic_init (&self->batch, 0);
  iris_actor_mailbox_init (&self->mailbox);
}

/**
 * iris_receiver_new:
 * @scheduler: (nullable): where the handler runs, or %NULL for the default scheduler
 * @handler: (scope notified) (closure data) (destroy notify): called for each message
 * @data: (nullable): for @handler and @notify
 * @notify: (nullable): called with @data when the handler will not be called again, on the thread
 *   that was the last to use the receiver: a worker, one that posts, or one that lets it go
 *
 * Makes a receiver that is not joined to a port yet; see iris_port_set_receiver() and
 * iris_arbiter_receive().
 *
 * Returns: (transfer full): a receiver
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
  self->scheduler = iris_scheduler_dup_or_default (scheduler, IRIS_DEFAULT_CONTROL);
  self->pool = iris_scheduler_get_pool (self->scheduler);
  self->handler = handler;
  self->data = data;
  self->notify = notify;

  return self;
}

/* One message at a time. */
IrisReceiver *
iris_receiver_new_exclusive (IrisScheduler *scheduler,
                             IrisMessageHandler handler,
                             gpointer data,
                             GDestroyNotify notify)
{
  IrisReceiver *self = iris_receiver_new (scheduler, handler, data, notify);

  if (self != NULL)
    self->exclusive = true;

  return self;
}

/**
 * iris_receiver_get_scheduler:
 *
 * Returns: (transfer none): the scheduler that runs its handler
 */
IrisScheduler *
iris_receiver_get_scheduler (IrisReceiver *self)
{
  g_return_val_if_fail (IRIS_IS_RECEIVER (self), NULL);

  return self->scheduler;
}

/**
 * iris_receiver_set_place:
 * @place: the id of a place of its scheduler, or %IRIS_PLACE_ANY
 * @flags: %IRIS_ITEM_STRICT if no other place may handle the messages
 *
 * Sets where messages that are posted from now on should be handled. May be called from any thread.
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

/* A rundown guard for a port to publish; it holds a reference until it is settled. */
IrisRundownGuard *
iris_receiver_attach (IrisReceiver *self, IrisPort *port)
{
  IrisRundownGuard *guard = iris_rundown_guard_new (g_object_ref (self), receiver_settled);

  if (guard == NULL)
    g_error ("iris: out of memory for a port's receiver");
  pthread_mutex_lock (&self->lock);
  self->n_attached++;
  pthread_mutex_unlock (&self->lock);
  g_weak_ref_set (&self->port, port);

  return guard;
}

void
iris_receiver_drop_one (gpointer data)
{
  IrisItem *item = data;
  IrisRundownGuard *guard = item->context;

  iris_delivery_free (item);
  iris_rundown_guard_leave (guard);
}

void
iris_receiver_handle_one (gpointer data)
{
  IrisItem *item = data;

  iris_receiver_handle (((IrisRundownGuard *) item->context)->subject, item);
  iris_receiver_drop_one (item);
}

static void exclusive_turn (gpointer data);
static void exclusive_drop_turn (gpointer data);

/* Exclusive: after each message. The next one, or NULL when the turn is over; the rundown guard of
 * the message that was handled is left last, because it is what keeps the receiver. */
static IrisItem *
exclusive_next (IrisReceiver *self, IrisItem *item)
{
  IrisRundownGuard *guard = item->context;
  IrisLlistNode *node;
  IrisItem *next = NULL;

  iris_delivery_free (item);
  if (iris_actor_mailbox_take (&self->mailbox, &node) == IRIS_TAKE_NODE)
    next = iris_delivery_from_node (node);
  iris_rundown_guard_leave (guard);

  return next;
}

static void
exclusive_turn (gpointer data)
{
  IrisItem *item = data;
  IrisReceiver *self = ((IrisRundownGuard *) item->context)->subject;
  IrisWorker *worker = iris_worker_mine;
  IrisTurn turn = iris_turn_begin (atomic_load_explicit (&self->batch, memory_order_relaxed),
                                   IRIS_ACTOR_BATCH);
  bool had_come;

  if (worker != NULL)
    atomic_store_explicit (&self->last_place, (gint) worker->place, memory_order_relaxed);
  do
    {
      iris_receiver_handle (self, item);
      had_come = iris_actor_mailbox_has_pending (&self->mailbox);
      item = exclusive_next (self, item);
    }
  while (item != NULL && iris_turn_goes_on (&turn, had_come));

  /* The next message keeps the receiver until it is queued, and the scheduler runs it on. */
  if (item != NULL)
    iris_receiver_queue (self, item, exclusive_turn, exclusive_drop_turn, IRIS_ITEM_BEHIND);
}

static void
exclusive_drop_turn (gpointer data)
{
  IrisItem *item = data;
  IrisReceiver *self = ((IrisRundownGuard *) item->context)->subject;

  do
    item = exclusive_next (self, item);
  while (item != NULL);
}

gboolean
iris_receiver_deliver (IrisReceiver *self, IrisItem *item)
{
  if (iris_unlikely (self->arbiter != NULL))
    return iris_arbiter_submit (self->arbiter, self, self->kind, item);

  if (!self->exclusive)
    iris_receiver_queue (self, item, iris_receiver_handle_one, iris_receiver_drop_one, 0);
  else if (iris_actor_mailbox_post (&self->mailbox, iris_delivery_to_node (item))
           == IRIS_POST_CARRY)
    iris_receiver_queue (self, item, exclusive_turn, exclusive_drop_turn, 0);

  return TRUE;
}

void
iris_receiver_wait_idle (IrisReceiver *self)
{
  pthread_mutex_lock (&self->lock);
  while (self->n_attached > 0)
    pthread_cond_wait (&self->detached, &self->lock);
  pthread_mutex_unlock (&self->lock);
}

/* Parts the receiver from its port; messages on their way are still handled. */
void
iris_receiver_detach (IrisReceiver *self)
{
  g_autoptr (IrisPort) port = g_weak_ref_get (&self->port);

  if (port != NULL)
    iris_port_remove_receiver (port, self);
}

/**
 * iris_receiver_set_batch:
 * @n_messages: how many messages it handles in a turn, at least 1
 *
 * Sets how many messages an exclusive receiver may handle before it goes back into its scheduler,
 * so that others have their turn. Unless it was set, that is %IRIS_ACTOR_BATCH, or what had come in
 * the meantime, up to 1024 or for a millisecond, whichever is longer. With an arbiter it is also
 * how many exclusive messages are handled before concurrent ones that wait, and %IRIS_ACTOR_BATCH
 * unless it was set.
 */
void
iris_receiver_set_batch (IrisReceiver *self, guint n_messages)
{
  g_return_if_fail (IRIS_IS_RECEIVER (self));
  g_return_if_fail (n_messages >= 1);

  atomic_store_explicit (&self->batch, n_messages, memory_order_relaxed);
}

/**
 * iris_receiver_get_batch:
 *
 * Returns: how many messages an exclusive receiver handles in a turn
 */
guint
iris_receiver_get_batch (IrisReceiver *self)
{
  guint batch;

  g_return_val_if_fail (IRIS_IS_RECEIVER (self), 0);

  batch = atomic_load_explicit (&self->batch, memory_order_relaxed);

  return batch != 0 ? batch : IRIS_ACTOR_BATCH;
}

/**
 * iris_receiver_destroy:
 * @in_message: whether it is called by a handler of this receiver
 *
 * Parts the receiver from its port. Messages that are on their way and whose handler has not begun
 * are dropped; messages that are posted later wait in the port.
 *
 * Unless @in_message is %TRUE or the caller is a worker, which must not wait for others, this
 * returns when no handler runs any more and the destroy notify that was given with the handler has
 * run. Otherwise the notify runs when the last handler has returned and the last reference is gone.
 */
void
iris_receiver_destroy (IrisReceiver *self, gboolean in_message)
{
  g_autoptr (IrisReceiver) keep = NULL;

  g_return_if_fail (IRIS_IS_RECEIVER (self));

  keep = g_object_ref (self);
  atomic_store_explicit (&self->destroyed, true, memory_order_relaxed);
  iris_receiver_detach (self);
  if (in_message || iris_worker_current () != NULL || iris_timers_here)
    return;

  iris_receiver_wait_idle (self);
  receiver_release_data (self);
}
