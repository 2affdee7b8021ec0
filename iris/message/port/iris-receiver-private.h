/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * What a port and an arbiter need to know of a receiver.
 *
 * Ownership has no cycle: a port holds its receiver through a rundown guard (its subject), and
 * gives the reference up when the last message on its way has been handled; a receiver only
 * remembers its port weakly, and holds its arbiter, which remembers its receivers weakly.
 *
 * What a post holds: a delivery that is queued may be handled, and the receiver be gone, before the
 * call that queues it has returned, so the delivery's own entry in the rundown guard does not keep
 * what that call still touches: the pool of the scheduler, if the receiver's reference to that was
 * the last, or the arbiter's lock. So the poster stays in the rundown guard until the call has
 * returned (iris_receiver_needs_poster()). Only a worker of the receiver's own pool need not, if
 * there is no arbiter: a pool ends when its workers have, this one included, and nothing of the
 * receiver is touched once the delivery is queued. When the poster is the last to leave, it lets
 * the receiver go, and does not wait for its scheduler: a post never waits, and its caller may hold
 * what the scheduler's items want.
 *
 * The way worth its own code is that of a message which floats, has no hints, and is posted by a
 * plain worker of the receiver's pool to a plain receiver without a place
 * (iris_receiver_queue_plain()): the short path of items (iris_worker_pool_queue_own()), with the
 * same rundown guard. That worker need not stay in there, as said above; the item's contents reach
 * a thief by the deque's own release.
 *
 * A receiver is of one of three kinds. A plain one makes a work item of each message. An exclusive
 * one is an actor: see iris-actor-mailbox-private.h and iris-actor.c, which differ in what keeps
 * the owner alive (here the rundown guard of each message). A coordinated one asks its arbiter.
 */
#pragma once

#include "iris/base/sync/iris-rundown-guard-private.h"
#include "iris/message/port/iris-arbiter-private.h"
#include "iris/message/port/iris-delivery-private.h"
#include "iris/message/port/iris-actor-mailbox-private.h"
#include "iris/sched/pool/iris-worker-pool-private.h"
#include "iris/message/port/iris-port.h"
#include "iris/message/port/iris-receiver.h"

struct _IrisReceiver
{
  GObject parent_instance;

  IrisScheduler *scheduler;
  IrisWorkerPool *pool; /* of the scheduler; NULL: it has none */
  IrisMessageHandler handler;
  gpointer data;
  GDestroyNotify notify; /* under the lock: NULL once it was called */
  _Atomic gint place;
  _Atomic guint32 flags;
  _Atomic bool destroyed;
  bool exclusive;       /* set before it is joined to a port */
  IrisCoordinate kind;  /* with an arbiter */
  IrisArbiter *arbiter; /* or NULL; set once, before it is joined again */

  IrisActorMailbox mailbox; /* exclusive */
  _Atomic gint last_place;  /* exclusive: where the last turn ran */
  _Atomic guint batch;      /* 0: not set */

  pthread_mutex_t lock;
  pthread_cond_t detached;
  guint n_attached; /* rundown guards that are not settled yet; under the lock */
  GWeakRef port;
};

IrisReceiver *iris_receiver_new_exclusive (IrisScheduler *scheduler,
                                           IrisMessageHandler handler,
                                           gpointer data,
                                           GDestroyNotify notify);
IrisRundownGuard *iris_receiver_attach (IrisReceiver *self, IrisPort *port);
/* Queues a delivery whose context is the rundown guard that its post has entered. False: the
 * receiver takes no more, and the delivery is still the caller's. */
gboolean iris_receiver_deliver (IrisReceiver *self, IrisItem *item);
void iris_receiver_detach (IrisReceiver *self);
/* Until nothing is under way from any port; for a thread that is no worker. */
void iris_receiver_wait_idle (IrisReceiver *self);
void iris_port_remove_receiver (IrisPort *self, IrisReceiver *receiver);

/* Whether a poster must stay in the rundown guard until the delivery is queued; see above. */
static inline bool
iris_receiver_needs_poster (IrisReceiver *self)
{
  IrisWorker *worker = iris_worker_mine;

  return worker == NULL || worker->pool != self->pool || self->arbiter != NULL;
}

/* Gives a delivery to the receiver's scheduler; @behind is IRIS_ITEM_BEHIND or 0. */
static inline void
iris_receiver_queue (IrisReceiver *self,
                     IrisItem *item,
                     IrisCallback func,
                     GDestroyNotify drop,
                     guint behind)
{
  gint place = atomic_load_explicit (&self->place, memory_order_relaxed);
  guint flags = atomic_load_explicit (&self->flags, memory_order_relaxed) | behind;

  if (place == IRIS_PLACE_ANY)
    place = atomic_load_explicit (&self->last_place, memory_order_relaxed);
  iris_scheduler_queue_item (self->scheduler, iris_delivery_aim (item, func, drop, place, flags));
}

/* Settles a delivery of a plain receiver, without its handler and with it. */
void iris_receiver_drop_one (gpointer data);
void iris_receiver_handle_one (gpointer data);

/* Whether the calling worker lays a delivery of @message onto its own deque. */
static inline bool
iris_receiver_takes_plain (IrisReceiver *self, const IrisMessageReal *message)
{
  IrisWorker *worker = iris_worker_mine;
  gint place = atomic_load_explicit (&self->place, memory_order_relaxed);
  guint flags = atomic_load_explicit (&self->flags, memory_order_relaxed);

  return worker != NULL && worker->plain_to != NULL && worker->plain_to == self->pool
         && !self->exclusive && self->arbiter == NULL && message->floating
         && (flags | message->hints) == 0 && place == IRIS_PLACE_ANY;
}

/* iris_delivery_new() and iris_receiver_queue() in one, for a message that it takes so. The
 * rundown guard that the post has entered goes with the message. */
static inline void
iris_receiver_queue_plain (IrisReceiver *self, IrisMessageReal *message, IrisRundownGuard *guard)
{
  IrisItem *item = &message->item;

  iris_message_take (message);
  item->func = iris_receiver_handle_one;
  item->data = item;
  item->notify = iris_receiver_drop_one;
  item->home = NULL;
  item->place = IRIS_PLACE_ANY;
  item->flags = IRIS_ITEM_NONE;
  item->context = guard;
  iris_worker_pool_queue_own (self->pool, iris_worker_mine, item);
}

/* Calls the handler, unless the receiver was destroyed or the message withdrawn. */
static inline void
iris_receiver_handle (IrisReceiver *self, IrisItem *item)
{
  IrisMessage *message = iris_delivery_open (item);

  if (iris_likely (message != NULL
                   && !atomic_load_explicit (&self->destroyed, memory_order_relaxed)))
    self->handler (message, self->data);
}
