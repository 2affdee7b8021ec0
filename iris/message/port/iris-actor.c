/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * The actor: one cache line, and no work item of its own.
 *
 * A message carries its actor to a worker: the message that finds the actor at rest is itself
 * queued as the work item, and handling it is the start of a turn. A message posted meanwhile goes
 * into the mailbox (iris-actor-mailbox-private.h). A turn ends when the mailbox is empty, or, when
 * it was long (iris-turn-private.h), with the next message as the work item of another turn. So an
 * actor is queued at most once, nothing is allocated for it, and idle actors are in no list.
 *
 * Life: references are for posters. The thread that drops the last one closes the mailbox; then
 * the actor goes when its turn ends, after everything that was posted. A turn needs no reference.
 *
 * Who owns what: `mailbox.pending` and `place` are the turn's, and pass from turn to turn as the
 * mailbox says; the reference count is atomic; `batch` may be set at any time; the rest never
 * changes.
 */
#include "iris/message/port/iris-delivery-private.h"
#include "iris/message/port/iris-actor-mailbox-private.h"
#include "iris/message/iris-turn-private.h"
#include "iris/sched/iris-scheduler-private.h"
#include "iris/message/port/iris-actor.h"

struct _IrisActor
{
  IrisActorMailbox mailbox;
  IrisScheduler *scheduler;
  IrisMessageHandler handler;
  gpointer data;
  GDestroyNotify notify;
  IrisSlab *home;
  _Atomic gint ref_count;
  _Atomic gint16 place;  /* where the last turn ran; a hint */
  _Atomic guint16 batch; /* 0: not set */
};

/* What an idle actor costs. */
G_STATIC_ASSERT (sizeof (IrisActor) <= 64 || sizeof (gpointer) != 8);

G_DEFINE_BOXED_TYPE (IrisActor, iris_actor, iris_actor_ref, iris_actor_unref)

static __thread IrisActor *actor_mine; /* whose turn this thread is running */

static void actor_turn (gpointer data);
static void actor_drop_turn (gpointer data);

/**
 * iris_actor_new:
 * @scheduler: (nullable): where the handler runs, or %NULL for the default scheduler
 * @handler: (scope notified) (closure data) (destroy notify): called for each message, one at a
 * time
 * @data: (nullable): for @handler and @notify
 * @notify: (nullable): called with @data when the actor is gone
 *
 * Returns: (transfer full): an actor, to be given up with iris_actor_unref()
 */
IrisActor *
iris_actor_new (IrisScheduler *scheduler,
                IrisMessageHandler handler,
                gpointer data,
                GDestroyNotify notify)
{
  IrisSlab *home;
  IrisActor *self;

  g_return_val_if_fail (scheduler == NULL || IRIS_IS_SCHEDULER (scheduler), NULL);
  g_return_val_if_fail (handler != NULL, NULL);

  self = iris_slab_alloc (IRIS_SLAB_ITEM, &home);
  iris_actor_mailbox_init (&self->mailbox);
  self->scheduler = iris_scheduler_dup_or_default (scheduler, IRIS_DEFAULT_CONTROL);
  self->handler = handler;
  self->data = data;
  self->notify = notify;
  self->home = home;
  atomic_init (&self->ref_count, 1);
  atomic_init (&self->place, IRIS_PLACE_ANY);
  atomic_init (&self->batch, 0);

  return self;
}

static void
actor_free (IrisActor *self)
{
  IrisScheduler *scheduler = self->scheduler;
  GDestroyNotify notify = self->notify;
  gpointer data = self->data;

  iris_slab_free (IRIS_SLAB_ITEM, self->home, self);
  if (notify != NULL)
    notify (data);
  g_object_unref (scheduler);
}

/**
 * iris_actor_ref:
 * @self: an actor to which the caller or another thread holds a reference
 *
 * Adds a reference. May be called from any thread.
 *
 * An actor may add one to itself while it handles a message, but not when it was given up by
 * every thread: then it only handles what it still has. An actor that wants to give itself away
 * later keeps a reference of its own.
 *
 * Returns: (transfer full): the actor
 */
IrisActor *
iris_actor_ref (IrisActor *self)
{
  gint n;

  g_return_val_if_fail (self != NULL, NULL);

  n = atomic_load_explicit (&self->ref_count, memory_order_relaxed);
  do
    g_return_val_if_fail (n > 0, NULL);
  while (!atomic_compare_exchange_weak_explicit (&self->ref_count, &n, n + 1, memory_order_relaxed,
                                                 memory_order_relaxed));

  return self;
}

/**
 * iris_actor_unref:
 * @self: (transfer full): an actor
 *
 * Drops a reference. When the last one is dropped the actor still handles what was posted, and then
 * goes. May be called from any thread, its own handler included.
 */
void
iris_actor_unref (IrisActor *self)
{
  g_return_if_fail (self != NULL);

  /* Release and acquire: what other holders did comes before the closing. */
  if (atomic_fetch_sub_explicit (&self->ref_count, 1, memory_order_acq_rel) == 1
      && iris_actor_mailbox_close (&self->mailbox))
    actor_free (self);
}

/**
 * iris_actor_current:
 *
 * Returns: (transfer none) (nullable): the actor whose handler is running on this thread, or %NULL
 */
IrisActor *
iris_actor_current (void)
{
  return actor_mine;
}

/* The delivery starts a turn. */
static inline void
actor_queue_turn (IrisActor *self, IrisItem *item, guint flags)
{
  gint place = atomic_load_explicit (&self->place, memory_order_relaxed);

  item->context = self;
  iris_scheduler_queue_item (self->scheduler,
                             iris_delivery_aim (item, actor_turn, actor_drop_turn, place, flags));
}

static void
actor_turn (gpointer data)
{
  IrisItem *item = data;
  IrisActor *self = item->context;
  IrisActor *outer = actor_mine;
  IrisWorker *worker = iris_worker_mine;
  IrisTurn turn = iris_turn_begin (atomic_load_explicit (&self->batch, memory_order_relaxed),
                                   IRIS_ACTOR_BATCH);

  actor_mine = self;
  if (worker != NULL
      && atomic_load_explicit (&self->place, memory_order_relaxed) != (gint16) worker->place)
    atomic_store_explicit (&self->place, (gint16) worker->place, memory_order_relaxed);
  for (;;)
    {
      IrisLlistNode *node;
      IrisTake take;
      bool had_come;

      self->handler (&iris_delivery_get_message (item)->face, self->data);
      iris_delivery_free (item);

      had_come = iris_actor_mailbox_has_pending (&self->mailbox);
      take = iris_actor_mailbox_take (&self->mailbox, &node);
      if (take != IRIS_TAKE_NODE)
        {
          actor_mine = outer;
          if (take == IRIS_TAKE_ENDED)
            actor_free (self);
          return;
        }
      item = iris_delivery_from_node (node);
      if (!iris_turn_goes_on (&turn, had_come))
        {
          actor_mine = outer;
          actor_queue_turn (self, item, IRIS_ITEM_BEHIND);
          return;
        }
    }
}

/* The scheduler gives the turn up: all that there is goes unhandled. */
static void
actor_drop_turn (gpointer data)
{
  IrisItem *item = data;
  IrisActor *self = item->context;
  IrisLlistNode *node;
  IrisTake take;

  do
    {
      iris_delivery_free (item);
      take = iris_actor_mailbox_take (&self->mailbox, &node);
      if (take == IRIS_TAKE_NODE)
        item = iris_delivery_from_node (node);
    }
  while (take == IRIS_TAKE_NODE);
  if (take == IRIS_TAKE_ENDED)
    actor_free (self);
}

/**
 * iris_actor_post:
 * @message: a message; its reference is taken if it floats, otherwise the caller keeps its own
 *
 * Posts a message. It is handled on a worker of the actor's scheduler; it must not be changed any
 * more. If the scheduler was shut down, the message is dropped.
 *
 * May be called from any thread, by threads that hold a reference until it returns, and by the
 * actor itself. From a worker it takes no lock and makes no system call, but to wake another
 * worker.
 */
void
iris_actor_post (IrisActor *self, IrisMessage *message)
{
  IrisItem *item;

  g_return_if_fail (self != NULL);
  g_return_if_fail (message != NULL);

  item = iris_delivery_new (message, NULL);
  if (iris_actor_mailbox_post (&self->mailbox, iris_delivery_to_node (item)) == IRIS_POST_CARRY)
    actor_queue_turn (self, item, IRIS_ITEM_NONE);
}

/**
 * iris_actor_set_batch:
 * @n_messages: how many messages it handles in a turn, 1 to %G_MAXUINT16
 *
 * Sets how long the actor may keep a worker, from its next turn on. Unless it was set, a turn is
 * %IRIS_ACTOR_BATCH messages, or what had come in the meantime, up to 1024 or for a millisecond,
 * whichever is longer.
 */
void
iris_actor_set_batch (IrisActor *self, guint n_messages)
{
  g_return_if_fail (self != NULL);
  g_return_if_fail (n_messages >= 1 && n_messages <= G_MAXUINT16);

  atomic_store_explicit (&self->batch, (guint16) n_messages, memory_order_relaxed);
}

/**
 * iris_actor_get_batch:
 *
 * Returns: how many messages it handles in a turn
 */
guint
iris_actor_get_batch (IrisActor *self)
{
  guint batch;

  g_return_val_if_fail (self != NULL, 0);

  batch = atomic_load_explicit (&self->batch, memory_order_relaxed);

  return batch != 0 ? batch : IRIS_ACTOR_BATCH;
}
