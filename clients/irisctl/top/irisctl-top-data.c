/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * What irisctl top asks of irisd: its counters each time, and what the view on the screen shows.
 *
 * One question follows the other, and none is asked while one is unanswered: an irisd that is slow
 * is not asked faster than it answers. The client connects again by itself when it is asked
 * without a connection, so an irisd that is away is asked as before.
 */
#include "clients/irisctl/top/irisctl-top.h"

static void ask_services (TopData *self);
static void ask_items (TopData *self);

void
top_data_init (TopData *self, Ctl *ctl, void (*changed) (gpointer), gpointer user_data)
{
  *self = (TopData){ .ctl = ctl, .changed = changed, .user_data = user_data };
}

void
top_data_clear (TopData *self)
{
  while (self->asked_us != 0)
    g_main_context_iteration (NULL, TRUE);
  g_clear_pointer (&self->now, iris_wire_statistics_free);
  g_clear_pointer (&self->before, iris_wire_statistics_free);
  g_clear_pointer (&self->places, g_ptr_array_unref);
  g_clear_pointer (&self->services, g_ptr_array_unref);
  g_clear_pointer (&self->items, g_ptr_array_unref);
  g_clear_pointer (&self->listed, g_ptr_array_unref);
  g_clear_pointer (&self->query, iris_client_query_unref);
  g_clear_pointer (&self->items_refused, g_free);
  g_clear_pointer (&self->away, g_free);
}

static void
finish (TopData *self)
{
  self->asked_us = 0;
  self->changed (self->user_data);
}

/* An error that says that irisd is not there ends the round; any other is about its question. */
static void
take_error (TopData *self, const GError *error)
{
  g_free (self->away);
  self->away = g_strdup (error->message);
  finish (self);
}

static void
note_answer (TopData *self)
{
  self->answered_us = g_get_monotonic_time ();
  g_clear_pointer (&self->away, g_free);
}

/* A daemon that was started anew counts from nothing. */
static gboolean
is_another (const IrisWireStatistics *now, const IrisWireStatistics *before)
{
  return now->daemon[0].pid != before->daemon[0].pid
         || now->daemon[0].started_ms != before->daemon[0].started_ms
         || now->n_places != before->n_places;
}

static void
take_statistics (TopData *self, IrisWireStatistics *statistics)
{
  note_answer (self);
  g_clear_pointer (&self->before, iris_wire_statistics_free);
  self->before = g_steal_pointer (&self->now);
  self->now = statistics;
  if (self->before != NULL && is_another (self->now, self->before))
    g_clear_pointer (&self->before, iris_wire_statistics_free);
  g_clear_pointer (&self->places, g_ptr_array_unref);
  self->places = iris_client_get_places (self->ctl->client);
}

static void
on_statistics (GObject *source, GAsyncResult *result, gpointer data)
{
  TopData *self = data;
  g_autoptr (GError) error = NULL;
  g_autoptr (GBytes)
      body = iris_client_get_encoded_statistics_finish (IRIS_CLIENT (source), result, &error);
  IrisWireStatistics *statistics = body != NULL ? ctl_statistics_decode (body, &error) : NULL;

  if (statistics == NULL)
    {
      take_error (self, error);
      return;
    }
  take_statistics (self, statistics);
  if (self->view == TOP_SERVICES)
    ask_services (self);
  else if (self->view == TOP_ITEMS)
    ask_items (self);
  else
    finish (self);
}

static void
on_services (GObject *source, GAsyncResult *result, gpointer data)
{
  TopData *self = data;
  g_autoptr (GError) error = NULL;
  GPtrArray *services = iris_client_get_services_finish (IRIS_CLIENT (source), result, &error);

  if (services == NULL)
    {
      take_error (self, error);
      return;
    }
  g_clear_pointer (&self->services, g_ptr_array_unref);
  self->services = services;
  finish (self);
}

static void
ask_services (TopData *self)
{
  iris_client_get_services_async (self->ctl->client, self->ctl->cancellable, on_services, self);
}

static void on_page (GObject *source, GAsyncResult *result, gpointer data);

static void
ask_page (TopData *self)
{
  iris_client_query_set_page_size (self->query, TOP_MOST_ITEMS + 1 - self->listed->len);
  iris_client_list_next_async (self->ctl->client, self->query, self->ctl->cancellable, on_page,
                               self);
}

/* What was listed takes the place of what was. */
static void
finish_items (TopData *self)
{
  self->more_items = self->listed->len > TOP_MOST_ITEMS;
  g_ptr_array_set_size (self->listed, (int) MIN (self->listed->len, TOP_MOST_ITEMS));
  g_clear_pointer (&self->items, g_ptr_array_unref);
  self->items = g_steal_pointer (&self->listed);
  g_clear_pointer (&self->items_refused, g_free);
  finish (self);
}

static void
on_page (GObject *source, GAsyncResult *result, gpointer data)
{
  TopData *self = data;
  g_autoptr (GError) error = NULL;
  g_autoptr (GPtrArray) page = NULL;

  page = iris_client_list_next_finish (IRIS_CLIENT (source), result, &error);
  if (page == NULL && ctl_exit_status (error) == CTL_NO_DAEMON)
    take_error (self, error);
  else if (page == NULL)
    {
      g_free (self->items_refused);
      self->items_refused = g_strdup (error->message);
      g_clear_pointer (&self->items, g_ptr_array_unref);
      finish (self);
    }
  else if (page->len == 0)
    finish_items (self);
  else
    {
      for (guint i = 0; i < page->len; i++)
        g_ptr_array_add (self->listed, iris_client_item_ref (g_ptr_array_index (page, i)));
      if (self->listed->len > TOP_MOST_ITEMS)
        finish_items (self);
      else
        ask_page (self);
    }
}

/* The newest first: of more than are listed they are the ones that are waited for. */
static void
ask_items (TopData *self)
{
  g_clear_pointer (&self->query, iris_client_query_unref);
  g_clear_pointer (&self->listed, g_ptr_array_unref);
  /* What was typed has been judged before. */
  self->query = ctl_filter_make_query (&self->ctl->filter, "top");
  if (self->ctl->filter.states == NULL && !self->all_items)
    ctl_filter_add_states (self->query,
                           ctl_filter_parse_state ("open") | ctl_filter_parse_state ("buried"));
  iris_client_query_set_descending (self->query, TRUE);
  iris_client_query_set_with_args (self->query, TRUE);
  self->listed = g_ptr_array_new_with_free_func ((GDestroyNotify) iris_client_item_unref);
  ask_page (self);
}

/* The services and limits are long: they are asked for while they are on the screen. */
static guint
find_sections (guint view)
{
  static const guint sections[TOP_N_VIEWS] = {
    [TOP_PLACES] = IRIS_WIRE_SECTION_STEALS,
    [TOP_SERVICES] = IRIS_WIRE_SECTION_SERVICES | IRIS_WIRE_SECTION_PROCESSES,
    [TOP_LIMITS] = IRIS_WIRE_SECTION_LIMITS,
  };

  return IRIS_WIRE_SECTION_DAEMON | IRIS_WIRE_SECTION_PLACES | IRIS_WIRE_SECTION_JOURNAL
         | sections[view];
}

void
top_data_ask (TopData *self, guint view)
{
  if (self->asked_us != 0)
    return;
  self->asked_us = g_get_monotonic_time ();
  self->view = view;
  iris_client_get_encoded_statistics_async (self->ctl->client, find_sections (view),
                                            self->ctl->cancellable, on_statistics, self);
}

double
top_data_rate (const TopData *self, guint64 now, guint64 before)
{
  double seconds = self->before != NULL ? (double) (self->now->daemon[0].uptime_ms
                                                    - self->before->daemon[0].uptime_ms)
                                              / 1e3
                                        : 0;

  return seconds > 0 && now > before ? (double) (now - before) / seconds : 0;
}

const IrisWirePlaceStatistics *
top_data_place_before (const TopData *self, guint i)
{
  return &(self->before != NULL ? self->before : self->now)->places[i];
}
