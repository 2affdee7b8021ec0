/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * The items of a source of a main context: any thread queues, and the source takes them in that
 * order.
 *
 * Who may call what: push from any thread, which holds a reference to the context meanwhile; the
 * others the thread that owns the context, as everything that a source touches. All zeros is a list
 * without items.
 *
 * Who queues pushes onto a lock-less list, and wakes the context only if the list was empty; so a
 * burst of items costs one wake-up, and none of them allocates. The source takes the list whole and
 * turns it into the order of queueing.
 *
 * No wake-up is lost: a push onto an empty list is followed by a wake-up of the context, which
 * makes its next iteration ask the source again; a push onto a list that is not empty is behind a
 * push whose wake-up is still to be answered, since only answering it empties the list.
 */
#pragma once

#include "iris/base/memory/iris-llist-private.h"
#include "iris/sched/pool/iris-item-private.h"

#include <glib.h>

/* How many items a dispatch should run before other sources have their turn. */
#define IRIS_SOURCE_ITEMS_BATCH 64

typedef struct
{
  IrisLlist queued;       /* from any thread */
  IrisLlistNode *pending; /* the context's owner's: oldest first */
} IrisSourceItems;

static inline void
iris_source_items_push (IrisSourceItems *self, GMainContext *context, IrisItem *item)
{
  if (iris_llist_push (&self->queued, (IrisLlistNode *) &item->next))
    g_main_context_wakeup (context);
}

static inline gboolean
iris_source_items_ready (IrisSourceItems *self)
{
  return self->pending != NULL || !iris_llist_is_empty (&self->queued);
}

/* The oldest, or NULL. One at a time, so an item may iterate the context itself. */
static inline IrisItem *
iris_source_items_take (IrisSourceItems *self)
{
  IrisLlistNode *node;

  if (self->pending == NULL)
    self->pending = iris_llist_reverse (iris_llist_take_all (&self->queued));
  node = self->pending;
  if (node == NULL)
    return NULL;
  self->pending = node->next;

  return (IrisItem *) ((guint8 *) node - G_STRUCT_OFFSET (IrisItem, next));
}
