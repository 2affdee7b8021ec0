/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * The delivery: one message on its way to one handler.
 *
 * It is a work item whose data is the item itself: the one that is embedded in the message, or, for
 * a message that was posted again while that one was in use, one that is made for it. `context` is
 * the deliverer's.
 */
#pragma once

#include "iris/message/iris-message-private.h"
#include "iris/message/port/iris-bounded-buffer-private.h"
#include "iris/sched/pool/iris-footprint-private.h"
#include "iris/sched/pool/iris-item-private.h"

/* In IrisItem.flags, beside IrisItemFlags: an IrisExtraDelivery. */
#define IRIS_ITEM_EXTRA ((guint32) 1 << 6)

/* What stays of a delivery's flags when a scheduler is given it. */
#define IRIS_DELIVERY_FLAGS (IRIS_ITEM_EXTRA | IRIS_ITEM_KEEP_APART | IRIS_FOOTPRINT_SIZE)

typedef struct
{
  IrisItem item;
  IrisMessageReal *message;
  IrisBoundedBuffer
      *buffer; /* a token: the message is the oldest in there when it is opened; or NULL */
  IrisSlab *home;
} IrisExtraDelivery;

/* What the message says of its item. */
static inline guint32
iris_delivery_flags (const IrisMessageReal *message)
{
  guint32 hints = message->hints;

  return (hints >> 8) << IRIS_FOOTPRINT_SIZE_SHIFT | (hints & 0xff);
}

/* @message is NULL for a token, whose message is not known yet: it has no hints. */
static inline IrisItem *
iris_delivery_new_extra (IrisMessageReal *message, IrisBoundedBuffer *buffer, gpointer context)
{
  IrisSlab *home;
  IrisExtraDelivery *self = iris_slab_alloc (IRIS_SLAB_MESSAGE, &home);

  self->message = message;
  self->buffer = buffer;
  self->home = home;
  self->item.context = context;
  self->item.flags = (message != NULL ? iris_delivery_flags (message) : 0) | IRIS_ITEM_EXTRA;

  return &self->item;
}

/* Takes a reference to the message. */
static inline IrisItem *
iris_delivery_new (IrisMessage *face, gpointer context)
{
  IrisMessageReal *message = (IrisMessageReal *) face;

  if (iris_unlikely (!iris_message_take (message)))
    return iris_delivery_new_extra (message, NULL, context);

  message->item.context = context;
  message->item.flags = iris_delivery_flags (message);

  return &message->item;
}

static inline IrisMessageReal *
iris_delivery_get_message (IrisItem *item)
{
  if (iris_unlikely (item->flags & IRIS_ITEM_EXTRA))
    return ((IrisExtraDelivery *) item)->message;

  return (IrisMessageReal *) ((guint8 *) item - G_STRUCT_OFFSET (IrisMessageReal, item));
}

/* The message to handle; NULL if it was withdrawn. Once, before the delivery is freed. */
static inline IrisMessage *
iris_delivery_open (IrisItem *item)
{
  IrisExtraDelivery *extra = (IrisExtraDelivery *) item;

  if (iris_unlikely ((item->flags & IRIS_ITEM_EXTRA) && extra->buffer != NULL))
    {
      bool admitted;

      extra->message = (IrisMessageReal *) iris_bounded_buffer_redeem (extra->buffer, &admitted);
      if (iris_unlikely (admitted))
        iris_port_send_late (extra->buffer);
      iris_bounded_buffer_unref (g_steal_pointer (&extra->buffer));
    }

  return (IrisMessage *) iris_delivery_get_message (item);
}

static inline void
iris_delivery_free_extra (IrisItem *item)
{
  IrisMessage *message = iris_delivery_open (item);

  iris_slab_free (IRIS_SLAB_MESSAGE, ((IrisExtraDelivery *) item)->home, item);
  if (message != NULL)
    iris_message_drop ((IrisMessageReal *) message);
}

/* Gives up the delivery and its reference. */
static inline __attribute__ ((always_inline)) void
iris_delivery_free (IrisItem *item)
{
  IrisMessageReal *message;

  if (iris_unlikely (item->flags & IRIS_ITEM_EXTRA))
    {
      iris_delivery_free_extra (item);
      return;
    }
  message = iris_delivery_get_message (item);
  /* A sole owner leaves the item to no other; acquire as in iris_message_drop(). */
  if (iris_likely (atomic_load_explicit (&message->ref_count, memory_order_acquire) == 1))
    {
      iris_message_free (message);
      return;
    }
  iris_message_leave_item (message);
  iris_message_drop (message);
}

/* Undoes iris_delivery_new() for a delivery that no thread has seen. */
static inline void
iris_delivery_undo (IrisItem *item, bool floated)
{
  IrisMessageReal *message = iris_delivery_get_message (item);

  if (item->flags & IRIS_ITEM_EXTRA)
    iris_slab_free (IRIS_SLAB_MESSAGE, ((IrisExtraDelivery *) item)->home, item);
  else
    iris_message_leave_item (message);
  if (floated)
    message->floating = true;
  else
    atomic_fetch_sub_explicit (&message->ref_count, 1, memory_order_release);
}

/* Makes an item of it that @scheduler can be given. */
static inline IrisItem *
iris_delivery_aim (IrisItem *item, IrisCallback func, GDestroyNotify drop, gint place, guint flags)
{
  item->func = func;
  item->data = item;
  item->notify = drop;
  item->next = NULL;
  item->home = NULL;
  item->place = place;
  item->flags = (item->flags & IRIS_DELIVERY_FLAGS) | flags;
  item->queued_ns = 0;

  return item;
}

/* The link of a delivery that waits in a mailbox: the one that schedulers use. */
static inline IrisLlistNode *
iris_delivery_to_node (IrisItem *item)
{
  return (IrisLlistNode *) &item->next;
}

static inline IrisItem *
iris_delivery_from_node (IrisLlistNode *node)
{
  return (IrisItem *) ((guint8 *) node - G_STRUCT_OFFSET (IrisItem, next));
}
