/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * irisctl watch --items: persistent items, each time that one has come into another state.
 *
 * irisd does not report changes: irisctl shows the difference of two lists of the items that have
 * not ended, so items that are not watched cost nothing, and a state that did not last from one
 * look to the next is not seen. irisctl asks for an item that the second list lacks by its number.
 * What came and ended between two looks is found among what has ended by its number, which is
 * greater than all those that there were two looks ago: numbers are given before items are listed,
 * so one look may miss a number below the greatest that it sees, but two do not.
 */
#include "clients/irisctl/command/irisctl-command.h"
#include "clients/irisctl/output/irisctl-output.h"

typedef struct
{
  guint64 number;
  char *service;
  IrisClientItemState state;
  guint look; /* the last one that it was seen in */
} Known;

typedef struct
{
  Ctl *ctl;
  guint states;      /* of --state; bit N: the state N */
  GHashTable *known; /* by number */
  guint look;
  guint64 highest, floor;
} Watch;

static void
free_known (gpointer data)
{
  Known *known = data;

  g_free (known->service);
  g_free (known);
}

static gboolean
has_ended (IrisClientItemState state)
{
  return state == IRIS_CLIENT_ITEM_DONE || state == IRIS_CLIENT_ITEM_FAILED
         || state == IRIS_CLIENT_ITEM_CANCELLED;
}

static void
tell_json (const IrisClientItem *item, const char *before)
{
  g_autoptr (JsonBuilder) builder = json_builder_new ();
  gint64 now_ms = g_get_real_time () / 1000;

  json_builder_begin_object (builder);
  ctl_json_double (builder, "time", (double) now_ms / 1e3);
  ctl_json_int (builder, "item", (gint64) item->number);
  ctl_json_string (builder, "before", before);
  ctl_json_string (builder, "state", item->state_name);
  ctl_json_string (builder, "service", item->service);
  ctl_json_string (builder, "key", item->key);
  ctl_json_int (builder, "attempts", item->attempts);
  ctl_json_string (builder, "error", item->error_name);
  ctl_json_string (builder, "message", item->message);
  json_builder_end_object (builder);
  ctl_json_print_line (builder);
}

static void
tell (const Watch *self, const IrisClientItem *item, IrisClientItemState before)
{
  const char *name = before == IRIS_CLIENT_ITEM_ANY ? "" : ctl_filter_state_name (before);
  g_autoptr (GDateTime) now = g_date_time_new_now_local ();
  g_autofree char *time = g_date_time_format (now, "%T");
  g_autofree char *state = ctl_format_state (item);

  if ((self->states >> item->state & 1) == 0)
    return;
  if (self->ctl->json)
    tell_json (item, name);
  else
    g_print ("%s %6" G_GUINT64_FORMAT " %9s > %-9s %s%s%s%s%s\n", time, item->number,
             *name != '\0' ? name : "-", state, item->service, *item->key != '\0' ? " " : "",
             item->key, *item->message != '\0' ? ": " : "", item->message);
}

static void
note (Watch *self, const IrisClientItem *item)
{
  Known *known = g_hash_table_lookup (self->known, &item->number);

  self->highest = MAX (self->highest, item->number);
  if (known == NULL)
    {
      known = g_new0 (Known, 1);
      known->number = item->number;
      known->service = g_strdup (item->service);
      known->state = IRIS_CLIENT_ITEM_ANY;
      g_hash_table_insert (self->known, &known->number, known);
    }
  if (known->state != item->state)
    tell (self, item, known->state);
  known->state = item->state;
  known->look = self->look;
}

/* All pages of a list. */
static gboolean
list (Watch *self, guint states, guint64 behind, GError **error)
{
  CtlFilter filter = self->ctl->filter;
  g_autoptr (IrisClientQuery) query = NULL;

  filter.states = NULL;
  query = ctl_filter_make_query (&filter, "watch");
  ctl_filter_add_states (query, states);
  iris_client_query_set_position (query, behind);
  for (;;)
    {
      g_autoptr (GPtrArray) page = ctl_filter_next_page (self->ctl, query, error);

      if (page == NULL || page->len == 0)
        return page != NULL;
      for (guint i = 0; i < page->len; i++)
        note (self, g_ptr_array_index (page, i));
    }
}

/* What has ended before we came is not told. */
static gboolean
find_highest (Watch *self, GError **error)
{
  g_autoptr (IrisClientQuery) query = iris_client_query_new ();
  g_autoptr (GPtrArray) page = NULL;

  iris_client_query_set_descending (query, TRUE);
  iris_client_query_set_page_size (query, 1);
  page = ctl_filter_next_page (self->ctl, query, error);
  if (page != NULL && page->len > 0)
    self->floor = self->highest = ((IrisClientItem *) g_ptr_array_index (page, 0))->number;

  return page != NULL;
}

static void
tell_gone (Watch *self, const Known *known)
{
  const IrisClientItem gone = {
    .number = known->number,
    .state = IRIS_CLIENT_ITEM_ANY,
    .state_name = (char *) "gone",
    .service = known->service,
    .key = (char *) "",
    .error_name = (char *) "",
    .message = (char *) "",
  };

  if (!has_ended (known->state))
    tell (self, &gone, known->state);
}

/* Asks after one that is not in the list any more. */
static gboolean
look_after (Watch *self, Known *known, GError **error)
{
  g_autoptr (GAsyncResult) result = NULL;
  g_autoptr (IrisClientItem) item = NULL;
  g_autoptr (GError) local = NULL;

  iris_client_show_async (self->ctl->client, known->number, 0, self->ctl->cancellable,
                          ctl_take_result, &result);
  item = iris_client_show_finish (self->ctl->client, ctl_wait (&result), &local);
  if (item != NULL)
    note (self, item);
  else if (!g_error_matches (local, IRIS_CLIENT_ERROR, IRIS_CLIENT_ERROR_NO_SUCH_ITEM))
    {
      g_propagate_error (error, g_steal_pointer (&local));
      return FALSE;
    }
  else
    tell_gone (self, known);
  if (item == NULL || (has_ended (known->state) && known->number <= self->floor))
    g_hash_table_remove (self->known, &known->number);

  return TRUE;
}

static gboolean
look_after_missing (Watch *self, GError **error)
{
  g_autoptr (GPtrArray) missing = g_ptr_array_new ();
  GHashTableIter iter;
  gpointer value;

  g_hash_table_iter_init (&iter, self->known);
  while (g_hash_table_iter_next (&iter, NULL, &value))
    {
      Known *known = value;

      if (known->look == self->look)
        continue;
      if (has_ended (known->state) && known->number <= self->floor)
        g_hash_table_iter_remove (&iter);
      else
        g_ptr_array_add (missing, known);
    }
  for (guint i = 0; i < missing->len; i++)
    if (!look_after (self, g_ptr_array_index (missing, i), error))
      return FALSE;

  return TRUE;
}

static gboolean
look (Watch *self, GError **error)
{
  guint64 before = self->highest;

  self->look++;
  if ((self->look == 1 && !find_highest (self, error))
      || !list (self, ctl_filter_parse_state ("open") | ctl_filter_parse_state ("buried"), 0, error)
      || !list (self, ctl_filter_parse_state ("ended"), self->floor, error)
      || !look_after_missing (self, error))
    return FALSE;
  if (self->look > 1)
    self->floor = before;

  return TRUE;
}

int
ctl_watch_items (Ctl *ctl, double interval_s, int count)
{
  g_autoptr (GHashTable)
      known = g_hash_table_new_full (g_int64_hash, g_int64_equal, NULL, free_known);
  g_autoptr (GError) error = NULL;
  Watch self = { .ctl = ctl, .known = known };
  int status = ctl_filter_get_states (&ctl->filter, "watch", &self.states);

  if (status != CTL_OK)
    return status;
  if (self.states == 0)
    self.states = G_MAXUINT;
  for (int n = 0; count == 0 || n < count; n++)
    {
      if (n > 0)
        ctl_pause (ctl, (guint) (interval_s * 1000));
      if (g_cancellable_is_cancelled (ctl->cancellable))
        return CTL_OK;
      if (!look (&self, &error))
        return g_cancellable_is_cancelled (ctl->cancellable) ? CTL_OK : ctl_fail_with (error);
      if (!ctl_output_is_good ())
        return ctl_fail (CTL_FAILED,
                         "cannot write to standard output: it was closed, or its disk is full");
    }

  return CTL_OK;
}
