/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * The whole of a message: what its public face hides, and the item that delivers it.
 *
 * Who may do what: the maker, while the message floats, anything; after that the reference count
 * and `posted` are shared and atomic, and the rest does not change.
 */
#pragma once

#include "iris/base/iris-slab-private.h"
#define IRIS_INSIDE
#include "iris/message/iris-message.h"
#include "iris/sched/iris-item.h"
#undef IRIS_INSIDE

typedef struct
{
  IrisMessage face;
  _Atomic gint ref_count;
  bool floating;
  _Atomic bool posted; /* `item` is in use */
  GValue data;
  IrisSlab *home;

  /* A line of its own: the scheduler writes to it while readers may look at the rest. */
  alignas (IRIS_CACHE_LINE) IrisItem item;
} IrisMessageReal;

G_STATIC_ASSERT (sizeof (IrisMessageReal) == 128);

/* A reference for a port, the floating one if the message floats. Returns whether the caller may
 * use the embedded item, to be given up with iris_message_leave_item(). A floating message is
 * known to its maker alone, so nothing here needs a read-modify-write then. */
static inline bool
iris_message_take (IrisMessageReal *self)
{
  if (iris_likely (self->floating))
    {
      self->floating = false;
      atomic_store_explicit (&self->posted, true, memory_order_relaxed);
      return true;
    }
  atomic_fetch_add_explicit (&self->ref_count, 1, memory_order_relaxed);

  /* Acquire: the item's last use, before the release in leave_item, comes before this one. */
  return !atomic_exchange_explicit (&self->posted, true, memory_order_acquire);
}

static inline void
iris_message_leave_item (IrisMessageReal *self)
{
  atomic_store_explicit (&self->posted, false, memory_order_release);
}
