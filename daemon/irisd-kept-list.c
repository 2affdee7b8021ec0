/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * Which of the kept items a LIST asks for.
 *
 * Items are looked at in the order of their numbers, and there may be millions of which few match.
 * So one LIST looks at a bounded number of them, and says from where to go on: what a question
 * costs the others is bounded, whatever it asks for.
 */
#include "irisd-kept-list.h"

#include <string.h>

/**
 * irisd_kept_filter_new:
 * @request: a LIST message
 * @view: an owner, or %IRISD_VIEW_ALL
 * @most: the most items that one answer holds
 *
 * Returns: (transfer full): what it asks for
 */
IrisdKeptFilter *
irisd_kept_filter_new (const IrisWireMessage *request, gint64 view, guint most)
{
  IrisdKeptFilter *self = g_new0 (IrisdKeptFilter, 1);
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

/**
 * irisd_kept_filter_free:
 * @self: (transfer full): a filter
 */
void
irisd_kept_filter_free (IrisdKeptFilter *self)
{
  g_free (self->service);
  g_free (self->prefix.data);
  g_free (self);
}

static gboolean
has_prefix (IrisdKept *kept, const IrisdBlob *prefix)
{
  return kept->key_size >= prefix->size
         && (prefix->size == 0 || memcmp (kept->key, prefix->data, prefix->size) == 0);
}

static gboolean
matches (const IrisdKeptFilter *self, IrisdKept *kept)
{
  return (self->states == 0 || (self->states >> irisd_kept_get_state (kept) & 1) != 0)
         && (self->klass == 0 || kept->klass == self->klass) && kept->accepted_ms >= self->since_ms
         && (self->until_ms == 0 || kept->accepted_ms < self->until_ms)
         && (self->service == NULL || strcmp (kept->service, self->service) == 0)
         && has_prefix (kept, &self->prefix);
}

static IrisdKept *
follow (const IrisdKeptFilter *self, IrisdKept *kept)
{
  return irisd_kept_get_next (kept, self->view, self->descending);
}

/* The first item behind a number; the item itself may be gone. */
static IrisdKept *
find_first (IrisdKeptTable *self, const IrisdKeptFilter *filter)
{
  if (filter->after == 0)
    return irisd_kept_table_get_first (self, filter->view, filter->descending);
  IrisdKept *kept = irisd_kept_table_lookup (self, filter->after);
  if (kept != NULL && irisd_view_reaches (filter->view, kept->owner))
    return follow (filter, kept);
  for (kept = irisd_kept_table_get_first (self, filter->view, filter->descending);
       kept != NULL
       && (filter->descending ? kept->item >= filter->after : kept->item <= filter->after);
       kept = follow (filter, kept))
    ;
  return kept;
}

/**
 * irisd_kept_table_list:
 * @self: a table
 * @filter: which items
 * @next: (out): the number behind which there may be more; 0 if that was all
 *
 * Returns: (transfer full): items in the order of their numbers
 */
IrisWireKept *
irisd_kept_table_list (IrisdKeptTable *self, const IrisdKeptFilter *filter, guint64 *next)
{
  /* A worker may change a state at any time, so each is looked at once. */
  g_autoptr (GPtrArray) found = g_ptr_array_new ();
  guint64 last = 0;
  guint n_seen = 0;
  IrisdKept *kept = find_first (self, filter);
  for (; kept != NULL && found->len < filter->limit && n_seen < IRISD_LIST_MOST_LOOKED_AT;
       kept = follow (filter, kept), n_seen++)
    {
      last = kept->item;
      if (matches (filter, kept))
        g_ptr_array_add (found, kept);
    }
  *next = kept != NULL ? last : 0;
  IrisWireKept *list = iris_wire_kept_new (found->len);
  for (guint i = 0; i < found->len; i++)
    irisd_kept_describe (g_ptr_array_index (found, i), &list->items[i]);
  return list;
}
