/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * What a port and an arbiter need to know of a receiver.
 *
 * Ownership has no cycle: a port holds its receiver through a census (its subject), and gives the
 * reference up when the last message on its way has been handled; a receiver only remembers its
 * port weakly, and holds its arbiter, which remembers its receivers weakly.
 *
 * A receiver is of one of three kinds. A plain one makes a work item of each message. An exclusive
 * one is an actor: see iris-mailbox-private.h and iris-actor.c, which differ in what keeps the
 * owner alive (here the census of each message). A coordinated one asks its arbiter.
 */
#pragma once

#include "iris/base/iris-census-private.h"
#include "iris/message/iris-arbiter-private.h"
#include "iris/message/iris-delivery-private.h"
#include "iris/message/iris-mailbox-private.h"
#define IRIS_INSIDE
#include "iris/message/iris-port.h"
#include "iris/message/iris-receiver.h"
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
  bool exclusive;       /* set before it is joined to a port */
  IrisCoordinate kind;  /* with an arbiter */
  IrisArbiter *arbiter; /* or NULL; set once, before it is joined again */

  IrisMailbox mailbox;     /* exclusive */
  _Atomic gint last_place; /* exclusive: where the last turn ran */
  _Atomic guint batch; /* 0: not set */

  pthread_mutex_t lock;
  pthread_cond_t detached;
  guint n_attached; /* censuses that are not settled yet; under the lock */
  GWeakRef port;
};

IrisReceiver *iris_receiver_new_exclusive (IrisScheduler *scheduler,
                                           IrisMessageHandler handler,
                                           gpointer data,
                                           GDestroyNotify notify);
IrisCensus *iris_receiver_attach (IrisReceiver *self, IrisPort *port);
/* Queues a delivery whose context is the census that its post has entered. False: the receiver
 * takes no more, and the delivery is still the caller's. */
gboolean iris_receiver_deliver (IrisReceiver *self, IrisItem *item);
void iris_receiver_detach (IrisReceiver *self);
/* Until nothing is under way from any port; for a thread that is no worker. */
void iris_receiver_wait_idle (IrisReceiver *self);
void iris_port_remove_receiver (IrisPort *self, IrisReceiver *receiver);

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

/* Calls the handler, unless the receiver was destroyed or the message withdrawn. */
static inline void
iris_receiver_handle (IrisReceiver *self, IrisItem *item)
{
  IrisMessage *message = iris_delivery_open (item);

  if (iris_likely (message != NULL
                   && !atomic_load_explicit (&self->destroyed, memory_order_relaxed)))
    self->handler (message, self->data);
}
