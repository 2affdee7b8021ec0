/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * The arbiter: starts what the coordination allows (iris-coordination-private.h).
 *
 * A message that waits is a delivery whose rundown guard keeps its receiver, which holds the
 * arbiter. While nothing waits or runs only the receivers hold it, so there is no cycle. The
 * arbiter holds the schedulers, since it may queue for one receiver on behalf of another.
 */
#include "iris/message/port/iris-receiver-private.h"

struct _IrisArbiter
{
  GObject parent_instance;

  IrisCoordination coordination;
  GWeakRef receivers[3];        /* by IrisCoordinate */
  IrisScheduler *schedulers[3]; /* or NULL */
};

G_DEFINE_FINAL_TYPE (IrisArbiter, iris_arbiter, G_TYPE_OBJECT)

static void
iris_arbiter_finalize (GObject *object)
{
  IrisArbiter *self = IRIS_ARBITER (object);

  for (guint i = 0; i < 3; i++)
    {
      g_weak_ref_clear (&self->receivers[i]);
      g_clear_object (&self->schedulers[i]);
    }
  iris_coordination_clear (&self->coordination);

  G_OBJECT_CLASS (iris_arbiter_parent_class)->finalize (object);
}

static void
iris_arbiter_class_init (IrisArbiterClass *klass)
{
  G_OBJECT_CLASS (klass)->finalize = iris_arbiter_finalize;
}

static void
iris_arbiter_init (IrisArbiter *self)
{
  iris_coordination_init (&self->coordination);
  for (guint i = 0; i < 3; i++)
    g_weak_ref_init (&self->receivers[i], NULL);
}

static void exclusive_turn (gpointer data);
static void exclusive_drop_turn (gpointer data);
static void run_one (gpointer data);
static void drop_one (gpointer data);

static void
arbiter_start (IrisCoordinate kind, IrisItem *item)
{
  IrisReceiver *receiver = ((IrisRundownGuard *) item->context)->subject;

  if (kind == IRIS_COORDINATE_EXCLUSIVE)
    iris_receiver_queue (receiver, item, exclusive_turn, exclusive_drop_turn, 0);
  else
    iris_receiver_queue (receiver, item, run_one, drop_one, 0);
}

/* Starts what finish() has said. */
static void
arbiter_start_chain (IrisCoordinate kind, IrisLlistNode *node)
{
  while (node != NULL && kind != IRIS_COORDINATE_NOTHING)
    {
      /* The link is the scheduler's from the start on. Only concurrent ones come in chains. */
      IrisLlistNode *next = kind == IRIS_COORDINATE_CONCURRENT ? node->next : NULL;

      arbiter_start (kind, iris_delivery_from_node (node));
      node = next;
    }
}

/* The end of what is no exclusive turn. Its rundown guard comes last: it keeps receiver and
 * arbiter. */
static void
drop_one (gpointer data)
{
  IrisItem *item = data;
  IrisRundownGuard *guard = item->context;
  IrisArbiter *self = ((IrisReceiver *) guard->subject)->arbiter;
  IrisLlistNode *start = NULL;
  IrisCoordinate kind;

  iris_delivery_free (item);
  kind = iris_coordination_finish (&self->coordination, false, &start);
  arbiter_start_chain (kind, start);
  iris_rundown_guard_leave (guard);
}

static void
run_one (gpointer data)
{
  IrisItem *item = data;

  iris_receiver_handle (((IrisRundownGuard *) item->context)->subject, item);
  drop_one (item);
}

/* Frees what an exclusive turn has handled. The next one; or NULL, when the turn is at its end, and
 * whatever comes instead has been started. @left is how many more it may handle; when it is 0 the
 * next one is started as another turn. */
static IrisItem *
exclusive_next (IrisItem *item, guint left)
{
  IrisRundownGuard *guard = item->context;
  IrisArbiter *self = ((IrisReceiver *) guard->subject)->arbiter;
  IrisCoordinate kind = IRIS_COORDINATE_EXCLUSIVE;
  IrisLlistNode *start = NULL;
  IrisItem *next = NULL;

  iris_delivery_free (item);
  if (left > 0)
    start = iris_coordination_next (&self->coordination);
  if (start == NULL)
    kind = iris_coordination_finish (&self->coordination, left == 0, &start);

  if (kind == IRIS_COORDINATE_EXCLUSIVE && left > 0)
    next = iris_delivery_from_node (start);
  else
    arbiter_start_chain (kind, start);
  iris_rundown_guard_leave (guard);

  return next;
}

static void
exclusive_turn (gpointer data)
{
  IrisItem *item = data;
  IrisReceiver *receiver = ((IrisRundownGuard *) item->context)->subject;
  guint left = iris_receiver_get_batch (receiver);

  do
    {
      iris_receiver_handle (receiver, item);
      item = exclusive_next (item, --left);
    }
  while (item != NULL);
}

static void
exclusive_drop_turn (gpointer data)
{
  IrisItem *item = data;

  while (item != NULL)
    item = exclusive_next (item, G_MAXUINT);
}

/* The teardown was accepted: nothing else will be, and later messages wait in their ports. */
static void
arbiter_part_receivers (IrisArbiter *self)
{
  for (guint i = 0; i < 3; i++)
    {
      g_autoptr (IrisReceiver) receiver = g_weak_ref_get (&self->receivers[i]);

      if (receiver != NULL)
        iris_receiver_detach (receiver);
    }
}

gboolean
iris_arbiter_submit (IrisArbiter *self, IrisReceiver *receiver, IrisCoordinate kind, IrisItem *item)
{
  G_GNUC_UNUSED g_autoptr (IrisArbiter)
      keep = kind == IRIS_COORDINATE_TEARDOWN ? g_object_ref (self) : NULL;

  switch (iris_coordination_submit (&self->coordination, kind, iris_delivery_to_node (item)))
    {
    case IRIS_SUBMIT_REFUSED:
      return FALSE;
    case IRIS_SUBMIT_START:
      arbiter_start (kind, item);
      break;
    default:
      break;
    }
  if (kind == IRIS_COORDINATE_TEARDOWN)
    arbiter_part_receivers (self);

  return TRUE;
}

/* Hands a new receiver to the port. */
static IrisReceiver *
receiver_join (IrisReceiver *receiver, IrisPort *port)
{
  iris_port_set_receiver (port, receiver);
  g_object_unref (receiver);

  return receiver;
}

/**
 * iris_arbiter_receive:
 * @scheduler: (nullable): where the handler runs, or %NULL for the default scheduler
 * @port: the port to receive from
 * @handler: (scope notified) (closure data) (destroy notify): called for each message
 * @data: (nullable): for @handler and @notify
 * @notify: (nullable): called with @data when the handler will not be called again
 *
 * Receives the messages of a port, those that already wait in it first.
 *
 * The handler may run on several workers at once. A receiver that the port had before is replaced.
 *
 * Returns: (transfer none): the receiver; the port owns it. It is gone once the port is dropped or
 *   gets another receiver: a caller that needs it longer takes a reference
 */
IrisReceiver *
iris_arbiter_receive (IrisScheduler *scheduler,
                      IrisPort *port,
                      IrisMessageHandler handler,
                      gpointer data,
                      GDestroyNotify notify)
{
  g_return_val_if_fail (scheduler == NULL || IRIS_IS_SCHEDULER (scheduler), NULL);
  g_return_val_if_fail (IRIS_IS_PORT (port), NULL);
  g_return_val_if_fail (handler != NULL, NULL);

  return receiver_join (iris_receiver_new (scheduler, handler, data, notify), port);
}

/**
 * iris_arbiter_receive_exclusive:
 * @scheduler: (nullable): where the handler runs, or %NULL for the default scheduler
 * @port: the port to receive from
 * @handler: (scope notified) (closure data) (destroy notify): called for each message
 * @data: (nullable): for @handler and @notify
 * @notify: (nullable): called with @data when the handler will not be called again
 *
 * Receives the messages of a port one at a time: the receiver is an actor. The handler never runs
 * on two workers at once, and each sender's messages come in the order in which it posted them.
 *
 * Where there need be no port, #IrisActor costs less.
 *
 * Returns: (transfer none): the receiver; the port owns it. It is gone once the port is dropped or
 *   gets another receiver: a caller that needs it longer takes a reference
 */
IrisReceiver *
iris_arbiter_receive_exclusive (IrisScheduler *scheduler,
                                IrisPort *port,
                                IrisMessageHandler handler,
                                gpointer data,
                                GDestroyNotify notify)
{
  g_return_val_if_fail (scheduler == NULL || IRIS_IS_SCHEDULER (scheduler), NULL);
  g_return_val_if_fail (IRIS_IS_PORT (port), NULL);
  g_return_val_if_fail (handler != NULL, NULL);

  return receiver_join (iris_receiver_new_exclusive (scheduler, handler, data, notify), port);
}

/* From now on posted messages go to the arbiter. A plain receiver that is joined already is taken
 * from its port meanwhile, so that no post sees it half changed; a post under way is not
 * coordinated. */
static void
arbiter_adopt (IrisArbiter *self, IrisReceiver *receiver, IrisCoordinate kind)
{
  g_autoptr (IrisPort) port = NULL;

  if (receiver == NULL)
    return;
  port = g_weak_ref_get (&receiver->port);
  if (port != NULL)
    iris_port_remove_receiver (port, receiver);
  iris_receiver_wait_idle (receiver);
  receiver->kind = kind;
  receiver->arbiter = g_object_ref (self);
  g_weak_ref_set (&self->receivers[kind], receiver);
  self->schedulers[kind] = g_object_ref (receiver->scheduler);
}

static void
arbiter_rejoin (IrisReceiver *receiver)
{
  g_autoptr (IrisPort) port = receiver != NULL ? g_weak_ref_get (&receiver->port) : NULL;

  if (port != NULL)
    iris_port_set_receiver (port, receiver);
}

/**
 * iris_arbiter_coordinate:
 * @exclusive: (nullable): the receiver of messages that run alone
 * @concurrent: (nullable): the receiver of messages that run beside each other
 * @teardown: (nullable): the receiver of the last message
 *
 * Coordinates receivers, each joined to a port, so that an exclusive message runs when nothing else
 * of them runs, concurrent messages run when no exclusive one does, and the teardown runs once,
 * last.
 *
 * An exclusive message that waits holds back concurrent ones that come behind it. A concurrent one
 * waits for at most as many exclusive ones as a turn has, see iris_receiver_set_batch(), and then
 * all that wait go together. So neither kind can starve the other.
 *
 * When a message is posted to @teardown, everything that was posted before still runs, and then the
 * teardown. The receivers leave their ports, so messages that are posted later wait in those.
 *
 * `coordinate (receiver, NULL, NULL)` makes a receiver handle one message at a time, like
 * iris_arbiter_receive_exclusive(), which costs less.
 *
 * To be called before messages flow, from a thread that is not a worker: it waits for handlers that
 * run. No two of the receivers may be the same, and none may have an arbiter already.
 *
 * Returns: (transfer none): the arbiter; the receivers own it
 */
IrisArbiter *
iris_arbiter_coordinate (IrisReceiver *exclusive, IrisReceiver *concurrent, IrisReceiver *teardown)
{
  IrisReceiver *receivers[] = { exclusive, concurrent, teardown };
  g_autoptr (IrisArbiter) self = NULL;

  g_return_val_if_fail (exclusive != NULL || concurrent != NULL || teardown != NULL, NULL);
  for (guint i = 0; i < 3; i++)
    {
      g_return_val_if_fail (receivers[i] == NULL || IRIS_IS_RECEIVER (receivers[i]), NULL);
      g_return_val_if_fail (receivers[i] == NULL || receivers[i]->arbiter == NULL, NULL);
      g_return_val_if_fail (receivers[i] == NULL || receivers[i] != receivers[(i + 1) % 3], NULL);
    }

  for (guint i = 0; i < 3; i++)
    if (receivers[i] != NULL)
      g_object_ref (receivers[i]);
  self = g_object_new (IRIS_TYPE_ARBITER, NULL);
  for (guint i = 0; i < 3; i++)
    arbiter_adopt (self, receivers[i], (IrisCoordinate) i);
  for (guint i = 0; i < 3; i++)
    arbiter_rejoin (receivers[i]);
  for (guint i = 0; i < 3; i++)
    if (receivers[i] != NULL)
      g_object_unref (receivers[i]);

  return self;
}
