/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * Mail: an item that waits in two queues and runs once (layout `mailboxes`).
 *
 * An item with a hint at another place is put both onto the deque of the worker that queues it and
 * into the mailbox of the place that it has affinity for. Workers look into their mailbox before
 * they steal. Whoever meets the item first runs it; whoever meets it second finds it gone.
 *
 * What the two queues hold is an envelope, not the item, because the item is gone once it has run.
 * Its state is one atomic that both meetings exchange: the first finds it sealed and takes the item
 * out; the second finds it opened and frees the envelope. Each queue holds the envelope once and
 * hands it out once, so there are exactly two meetings. Orders: the second meeting frees memory
 * that the first has read, hence acquire and release.
 *
 * An envelope looks like an item as far as queues look: it has their link at the same offset, and
 * the flag IRIS_ITEM_ENVELOPE. The mailbox has a link of its own in it: an envelope that waits in
 * the overflow of the mailbox may wait in the overflow of an inbox as well, where it goes when the
 * deque is full.
 *
 * Source: U. Acar, G. Blelloch, R. Blumofe, "The Data Locality of Work Stealing" (SPAA 2000); named
 * by Th. Weibel (LASSI, 2010) as the alternative to a deque shared by a place.
 */
#pragma once

#include "iris/sched/iris-item-private.h"

/* In IrisItem.flags, beside IrisItemFlags. */
#define IRIS_ITEM_ENVELOPE ((guint32) 1 << 31)

typedef struct
{
  IrisItem *item;
  IrisSlab *home;
  IrisItem *mail_next; /* link in the mailbox's overflow */
  IrisItem *next;      /* link in that of an inbox, if the deque was full */
  _Atomic guint64 opened;
  gint32 place;
  guint32 flags;
} IrisEnvelope;

G_STATIC_ASSERT (G_STRUCT_OFFSET (IrisEnvelope, next) == G_STRUCT_OFFSET (IrisItem, next));
G_STATIC_ASSERT (G_STRUCT_OFFSET (IrisEnvelope, flags) == G_STRUCT_OFFSET (IrisItem, flags));
G_STATIC_ASSERT (sizeof (IrisEnvelope) <= sizeof (IrisItem));

static inline IrisItem *
iris_envelope_new (IrisItem *item)
{
  IrisSlab *home;
  IrisEnvelope *self = iris_slab_alloc (IRIS_SLAB_ITEM, &home);

  self->item = item;
  self->home = home;
  self->mail_next = NULL;
  self->next = NULL;
  atomic_init (&self->opened, 0);
  self->flags = IRIS_ITEM_ENVELOPE;

  return (IrisItem *) self;
}

/* The item of an envelope that was met first; NULL, and the envelope is freed, at the second
 * meeting. An item that is no envelope is returned as it is. */
static inline IrisItem *
iris_mail_open (IrisItem *met)
{
  IrisEnvelope *envelope = (IrisEnvelope *) met;
  IrisItem *item;

  if (iris_likely (!(met->flags & IRIS_ITEM_ENVELOPE)))
    return met;

  item = envelope->item;
  if (atomic_exchange_explicit (&envelope->opened, 1, memory_order_acq_rel) == 0)
    return item;
  iris_slab_free (IRIS_SLAB_ITEM, envelope->home, envelope);

  return NULL;
}
