/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * Affinity queues: an item that waits in two queues and runs once (layout `affinity`).
 *
 * An item with a hint at another place is put both onto the deque of the worker that queues it and
 * into the affinity queue of the place that it has affinity for. Workers look into their affinity
 * queue before they steal. The worker that meets the item first runs it; the worker that meets it
 * second finds it gone.
 *
 * What the two queues hold is a proxy, not the item, because the item is gone once it has run.
 * Its state is one atomic that both meetings exchange: the first finds it sealed and takes the item
 * out; the second finds it opened and frees the proxy. Each queue holds the proxy once and
 * hands it out once, so there are exactly two meetings. Orders: the second meeting frees memory
 * that the first has read, hence acquire and release.
 *
 * A proxy looks like an item as far as queues look: it has their link at the same offset, and
 * the flag IRIS_ITEM_PROXY. The affinity queue has a link of its own in it: a proxy that waits in
 * the overflow of the affinity queue may wait in the overflow of an inbox as well, where it goes
 * when the deque is full.
 *
 * A mailbox (layout `mailboxes`) is an affinity queue of one worker.
 *
 * Source: U. Acar, G. Blelloch, R. Blumofe, "The Data Locality of Work Stealing" (SPAA 2000); named
 * by Th. Weibel (LASSI, 2010) as the alternative to a deque shared by a place.
 */
#pragma once

#include "iris/sched/pool/iris-item-private.h"

/* In IrisItem.flags, beside IrisItemFlags. */
#define IRIS_ITEM_PROXY ((guint32) 1 << 31)

typedef struct
{
  IrisItem *item;
  IrisSlab *home;
  IrisItem *affinity_next; /* link in the affinity queue's overflow */
  IrisItem *next;          /* link in that of an inbox, if the deque was full */
  _Atomic guint64 opened;
  gint32 place;
  guint32 flags;
} IrisItemProxy;

G_STATIC_ASSERT (G_STRUCT_OFFSET (IrisItemProxy, next) == G_STRUCT_OFFSET (IrisItem, next));
G_STATIC_ASSERT (G_STRUCT_OFFSET (IrisItemProxy, flags) == G_STRUCT_OFFSET (IrisItem, flags));
G_STATIC_ASSERT (sizeof (IrisItemProxy) <= sizeof (IrisItem));

static inline IrisItem *
iris_item_proxy_new (IrisItem *item)
{
  IrisSlab *home;
  IrisItemProxy *self = iris_slab_alloc (IRIS_SLAB_ITEM, &home);

  self->item = item;
  self->home = home;
  self->affinity_next = NULL;
  self->next = NULL;
  atomic_init (&self->opened, 0);
  self->flags = IRIS_ITEM_PROXY;

  return (IrisItem *) self;
}

/* The item of a proxy that was met first; NULL, and the proxy is freed, at the second
 * meeting. An item that is no proxy is returned as it is. */
static inline IrisItem *
iris_item_proxy_open (IrisItem *met)
{
  IrisItemProxy *proxy = (IrisItemProxy *) met;
  IrisItem *item;

  if (iris_likely (!(met->flags & IRIS_ITEM_PROXY)))
    return met;

  item = proxy->item;
  if (atomic_exchange_explicit (&proxy->opened, 1, memory_order_acq_rel) == 0)
    return item;
  iris_slab_free (IRIS_SLAB_ITEM, proxy->home, proxy);

  return NULL;
}
