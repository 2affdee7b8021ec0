/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * Which of the persistent items a LIST asks for.
 *
 * Items are visited in the order of their numbers; there may be millions of which few match. So one
 * LIST visits a bounded number of them, and says where the next begins: the cost of a request to
 * others is bounded.
 */
#include "daemon/store/irisd-persistent-list.h"

#include <string.h>

/* @view is an owner or IRISD_VIEW_ALL; @most the most items in one answer. */
IrisdPersistentFilter *
irisd_persistent_filter_new (const IrisWireMessage *request, gint64 view, guint most)
{
  IrisdPersistentFilter *self = g_new0 (IrisdPersistentFilter, 1);
  self->view = view;
  self->after = request->item;
  self->states = request->states;
  if (iris_wire_message_has (request, IRIS_WIRE_KEY_STATE))
    self->states |= UINT32_C (1) << request->state;
  self->klass = request->klass;
  if (iris_wire_message_has (request, IRIS_WIRE_KEY_SERVICE))
    self->service = iris_wire_string_dup (&request->service);
  if (request->key_prefix.len > 0)
    self->prefix = (IrisdBlob){ g_memdup2 (request->key_prefix.data, request->key_prefix.len),
                                request->key_prefix.len };
  self->since_ms = request->since_ms;
  self->until_ms = request->until_ms;
  self->descending = request->descending;
  self->with_args = request->payload;
  if (self->with_args)
    most = MIN (most, IRISD_LIST_MOST_WITH_ARGS);
  self->limit = request->count > 0 ? MIN (request->count, most) : most;
  return self;
}

void
irisd_persistent_filter_free (IrisdPersistentFilter *self)
{
  g_free (self->service);
  g_free (self->prefix.data);
  g_free (self);
}

static gboolean
has_prefix (IrisdPersistentItem *persistent, const IrisdBlob *prefix)
{
  return persistent->key_size >= prefix->size
         && (prefix->size == 0 || memcmp (persistent->key, prefix->data, prefix->size) == 0);
}

static gboolean
matches (const IrisdPersistentFilter *self, IrisdPersistentItem *persistent)
{
  return (self->states == 0
          || (self->states >> irisd_persistent_item_get_state (persistent) & 1) != 0)
         && (self->klass == 0 || persistent->klass == self->klass)
         && (self->queue == 0
             || atomic_load_explicit (&persistent->queue, memory_order_relaxed) == self->queue)
         && persistent->accepted_ms >= self->since_ms
         && (self->until_ms == 0 || persistent->accepted_ms < self->until_ms)
         && (self->service == NULL || strcmp (persistent->service, self->service) == 0)
         && has_prefix (persistent, &self->prefix);
}

static IrisdPersistentItem *
follow (const IrisdPersistentFilter *self, IrisdPersistentItem *persistent)
{
  return irisd_persistent_item_get_next (persistent, self->view, self->descending);
}

/* The first item after a number; the item of that number may be gone. */
static IrisdPersistentItem *
find_first (IrisdPersistentTable *self, const IrisdPersistentFilter *filter)
{
  if (filter->after == 0)
    return irisd_persistent_table_get_first (self, filter->view, filter->descending);
  IrisdPersistentItem *persistent = irisd_persistent_table_lookup (self, filter->after);
  if (persistent != NULL && irisd_view_reaches (filter->view, persistent->owner))
    return follow (filter, persistent);
  for (persistent = irisd_persistent_table_get_first (self, filter->view, filter->descending);
       persistent != NULL
       && (filter->descending ? persistent->item >= filter->after
                              : persistent->item <= filter->after);
       persistent = follow (filter, persistent))
    ;
  return persistent;
}

/* Returns items in the order of their numbers. @next is the number after which there may be more; 0
 * if there are none. */
IrisWirePersistentList *
irisd_persistent_table_list (IrisdPersistentTable *self,
                             const IrisdPersistentFilter *filter,
                             guint64 *next)
{
  /* A worker may change a state at any time, so each state is read once. */
  g_autoptr (GPtrArray) found = g_ptr_array_new ();
  guint64 last = 0;
  guint n_seen = 0;
  IrisdPersistentItem *persistent = find_first (self, filter);
  for (; persistent != NULL && found->len < filter->limit && n_seen < IRISD_LIST_MOST_LOOKED_AT;
       persistent = follow (filter, persistent), n_seen++)
    {
      last = persistent->item;
      if (matches (filter, persistent))
        g_ptr_array_add (found, persistent);
    }
  *next = persistent != NULL ? last : 0;
  IrisWirePersistentList *list = iris_wire_persistent_list_new (found->len);
  for (guint i = 0; i < found->len; i++)
    irisd_persistent_item_describe (g_ptr_array_index (found, i), &list->items[i]);
  return list;
}
