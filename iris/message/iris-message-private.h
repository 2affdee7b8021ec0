/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * The whole of a message: what its public face hides, and the item that delivers it.
 *
 * Who may do what: the maker, while the message floats, anything; after that the reference count
 * and `posted` are shared and atomic, and the rest does not change.
 */
#pragma once

#include "iris/base/memory/iris-slab-private.h"
#include "iris/message/iris-pending-private.h"
#include "iris/message/iris-message.h"
#include "iris/sched/pool/iris-item.h"

/* What few messages have; made when it is needed. */
typedef struct
{
  GHashTable *values;   /* name -> GValue; or NULL */
  IrisPending *request; /* the request that waits for an answer; or NULL */
} IrisMessageMore;

typedef struct
{
  IrisMessage face;
  _Atomic gint ref_count;
  bool floating;
  _Atomic uint8_t posted; /* IRIS_MESSAGE_SEALED, IRIS_MESSAGE_ITEM_USED */
  uint16_t hints;         /* for its item: the size of its footprint, and IrisItemFlags */
  GValue data;
  IrisMessageMore *more;
  IrisSlab *home;

  /* A line of its own: the scheduler writes to it while readers may look at the rest. */
  alignas (IRIS_CACHE_LINE) IrisItem item;
} IrisMessageReal;

#define IRIS_MESSAGE_SEALED    1 /* it was posted, and must not change any more */
#define IRIS_MESSAGE_ITEM_USED 2

G_STATIC_ASSERT (sizeof (IrisMessageReal) == 128);

/* Unsets what the message carries. */
void iris_message_clear (IrisMessageReal *self);

static inline bool
iris_message_is_sealed (IrisMessageReal *self)
{
  return atomic_load_explicit (&self->posted, memory_order_relaxed) != 0;
}

static inline IrisMessageMore *
iris_message_need_more (IrisMessageReal *self)
{
  if (self->more == NULL)
    self->more = g_new0 (IrisMessageMore, 1);

  return self->more;
}

/* A reference for a port, the floating one if the message floats. Returns whether the caller may
 * use the embedded item, to be given up with iris_message_leave_item(). A floating message is
 * known to its maker alone, so nothing here needs a read-modify-write then. */
static inline bool
iris_message_take (IrisMessageReal *self)
{
  uint8_t used = IRIS_MESSAGE_SEALED | IRIS_MESSAGE_ITEM_USED;

  if (iris_likely (self->floating))
    {
      self->floating = false;
      atomic_store_explicit (&self->posted, used, memory_order_relaxed);
      return true;
    }
  atomic_fetch_add_explicit (&self->ref_count, 1, memory_order_relaxed);

  /* Acquire: the item's last use, before the release in leave_item, comes before this one. */
  return !(atomic_exchange_explicit (&self->posted, used, memory_order_acquire)
           & IRIS_MESSAGE_ITEM_USED);
}

/* A reference for the thread that keeps the message without its item. */
static inline IrisMessage *
iris_message_keep (IrisMessage *face)
{
  IrisMessageReal *self = (IrisMessageReal *) face;

  if (self->floating)
    {
      self->floating = false;
      atomic_store_explicit (&self->posted, IRIS_MESSAGE_SEALED, memory_order_relaxed);
    }
  else
    {
      atomic_fetch_add_explicit (&self->ref_count, 1, memory_order_relaxed);
      atomic_fetch_or_explicit (&self->posted, IRIS_MESSAGE_SEALED, memory_order_relaxed);
    }

  return face;
}

/* The last reference is gone. */
static inline void
iris_message_free (IrisMessageReal *self)
{
  if (iris_unlikely (G_VALUE_TYPE (&self->data) != G_TYPE_INVALID || self->more != NULL))
    iris_message_clear (self);
  iris_slab_free (IRIS_SLAB_MESSAGE, self->home, self);
}

static inline void
iris_message_leave_item (IrisMessageReal *self)
{
  atomic_store_explicit (&self->posted, IRIS_MESSAGE_SEALED, memory_order_release);
}

static inline void
iris_message_drop (IrisMessageReal *self)
{
  /* Acquire: what other owners did with the message comes before it is freed. A count of 1 that its
   * owner reads cannot be changed by any other thread. */
  if (atomic_load_explicit (&self->ref_count, memory_order_acquire) == 1
      || atomic_fetch_sub_explicit (&self->ref_count, 1, memory_order_acq_rel) == 1)
    iris_message_free (self);
}
