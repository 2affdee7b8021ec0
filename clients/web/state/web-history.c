/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * One hour of irisd in steps of five seconds, in memory.
 *
 * A ring of floats a series: 64 places take 0.8 MB. What is not known is not a number, which JSON
 * has as null. The steps of the state come each second or each five; the history takes the sample
 * at the end of each of its own steps.
 */
#include "clients/web/state/web-history.h"

#include "clients/web/base/web-json.h"
#include "clients/web/state/web-rates.h"

#include <math.h>

#define STEP_S   5
#define N_POINTS 720

/* A step that is late by less than this is in time: timers are. */
#define SLACK_US 100000

enum
{
  ACCEPTED,
  ENDED,
  FAILED,
  REFUSED,
  STOLEN,
  IN_FLIGHT,
  MEMORY,
  QUEUE_P99,
  LOAD,
  N_SERIES
};

static const char *const series_names[N_SERIES] = { "accepted",     "ended",       "failed",
                                                    "refused",      "stolen",      "in_flight",
                                                    "memory_bytes", "queue_p99_s", "load" };

enum
{
  PLACE_RATE,
  PLACE_LOAD,
  PLACE_BACKLOG,
  PLACE_STOLEN_IN,
  N_PLACE_SERIES
};

static const char *const place_series_names[N_PLACE_SERIES] = { "rate", "load", "backlog",
                                                                "stolen_in" };

typedef float Ring[N_POINTS];

typedef struct
{
  Ring rings[N_PLACE_SERIES];
} PlaceHistory;

struct _WebHistory
{
  WebState *state;
  WebSample *last; /* at the end of the step before */
  gint64 next_us;
  gint64 end_ms;
  guint at; /* where the next point goes */
  Ring series[N_SERIES];
  guint n_places;
  char **place_names;
  PlaceHistory *places;
};

static void
forget_places (WebHistory *self)
{
  g_clear_pointer (&self->place_names, g_strfreev);
  g_clear_pointer (&self->places, g_free);
  self->n_places = 0;
}

static void
fill_unknown (Ring *rings, guint n)
{
  for (guint i = 0; i < n; i++)
    for (guint j = 0; j < N_POINTS; j++)
      rings[i][j] = NAN;
}

/* Another irisd may have other places. */
static void
take_places (WebHistory *self, const IrisWireStatistics *statistics)
{
  gboolean same = self->n_places == statistics->n_places;

  for (guint i = 0; i < self->n_places && same; i++)
    same = g_str_equal (self->place_names[i], statistics->places[i].name);
  if (same)
    return;
  forget_places (self);
  self->n_places = statistics->n_places;
  self->place_names = g_new0 (char *, statistics->n_places + 1);
  self->places = g_new (PlaceHistory, statistics->n_places);
  for (guint i = 0; i < statistics->n_places; i++)
    {
      self->place_names[i] = g_strdup (statistics->places[i].name);
      fill_unknown (self->places[i].rings, N_PLACE_SERIES);
    }
}

static void
add_unknown (WebHistory *self)
{
  for (guint i = 0; i < N_SERIES; i++)
    self->series[i][self->at] = NAN;
  for (guint p = 0; p < self->n_places; p++)
    for (guint i = 0; i < N_PLACE_SERIES; i++)
      self->places[p].rings[i][self->at] = NAN;
}

static void
add_place (WebHistory *self,
           guint p,
           const IrisWirePlaceStatistics *was,
           const IrisWirePlaceStatistics *is,
           double s)
{
  Ring *rings = self->places[p].rings;

  rings[PLACE_RATE][self->at] = (float) web_rates_of (was->executed, is->executed, s);
  rings[PLACE_LOAD][self->at] = (float) web_rates_load (was, is, s);
  rings[PLACE_BACKLOG][self->at] = (float) is->backlog;
  rings[PLACE_STOLEN_IN][self->at] = (float) web_rates_of (was->stolen_in, is->stolen_in, s);
}

static void
add_known (WebHistory *self, const WebSample *before, const WebSample *now)
{
  const IrisWireDaemonStatistics *was = web_sample_get_daemon (before);
  const IrisWireDaemonStatistics *is = web_sample_get_daemon (now);
  double s = web_rates_interval (before, now);
  guint64 ended[2], failed[2];
  double load = 0, workers = 0;
  const double values[N_SERIES] = {
    [ACCEPTED] = web_rates_of (was->accepted, is->accepted, s),
    [REFUSED] = web_rates_of (was->busy, is->busy, s),
    [STOLEN] = web_rates_of (web_rates_count_stolen (before), web_rates_count_stolen (now), s),
    [IN_FLIGHT] = (double) is->in_flight,
    [MEMORY] = (double) is->memory_bytes,
    [QUEUE_P99] = web_rates_queue_quantile (before, now, 0.99),
  };

  web_rates_count_ended (was, &ended[0], &failed[0]);
  web_rates_count_ended (is, &ended[1], &failed[1]);
  for (guint i = 0; i < N_SERIES; i++)
    self->series[i][self->at] = (float) values[i];
  self->series[ENDED][self->at] = (float) web_rates_of (ended[0], ended[1], s);
  self->series[FAILED][self->at] = (float) web_rates_of (failed[0], failed[1], s);
  for (guint p = 0; p < self->n_places; p++)
    {
      const IrisWirePlaceStatistics *place = &now->statistics->places[p];

      add_place (self, p, &before->statistics->places[p], place, s);
      load += (double) self->places[p].rings[PLACE_LOAD][self->at] * place->workers;
      workers += place->workers;
    }
  self->series[LOAD][self->at] = (float) (workers > 0 ? load / workers : 0);
}

static void
add_point (WebHistory *self, WebSample *now)
{
  const IrisWireDaemonStatistics *is = web_sample_get_daemon (now);
  const IrisWireDaemonStatistics *was = web_sample_get_daemon (self->last);

  if (is != NULL && was != NULL && is->pid == was->pid && is->started_ms == was->started_ms)
    add_known (self, self->last, now);
  else
    add_unknown (self);
  self->at = (self->at + 1) % N_POINTS;
}

/* Nothing is known of steps that were left out, as while the machine slept. */
static void
stepped (WebState *state, gpointer user_data)
{
  WebHistory *self = user_data;
  WebSample *now = web_state_get_now (state);
  gint64 us = g_get_monotonic_time ();
  gint64 missed = self->next_us != 0 ? (us - self->next_us) / (STEP_S * G_USEC_PER_SEC) : 0;

  if (us < self->next_us - SLACK_US)
    return;
  if (web_sample_get_daemon (now) != NULL)
    take_places (self, now->statistics);
  for (gint64 i = 0; i < MIN (missed, N_POINTS); i++)
    {
      add_unknown (self);
      self->at = (self->at + 1) % N_POINTS;
    }
  add_point (self, now);
  self->next_us = us + STEP_S * G_USEC_PER_SEC;
  self->end_ms = g_get_real_time () / 1000;
  g_clear_pointer (&self->last, web_sample_unref);
  self->last = now != NULL ? web_sample_ref (now) : NULL;
}

WebHistory *
web_history_new (WebState *state)
{
  WebHistory *self = g_new0 (WebHistory, 1);

  self->state = state;
  self->end_ms = g_get_real_time () / 1000;
  fill_unknown (self->series, N_SERIES);
  web_state_add_listener (state, stepped, self);

  return self;
}

void
web_history_free (WebHistory *self)
{
  web_state_remove_listener (self->state, self);
  g_clear_pointer (&self->last, web_sample_unref);
  forget_places (self);
  g_free (self);
}

static void
write_ring (WebHistory *self, WebJson *json, const char *name, const Ring *ring)
{
  web_json_begin (json, name, '[');
  for (guint i = 0; i < N_POINTS; i++)
    web_json_real (json, NULL, (double) (*ring)[(self->at + i) % N_POINTS]);
  web_json_end (json, ']');
}

void
web_history_write (WebHistory *self, GString *text, gboolean with_places)
{
  WebJson json = { .text = text };

  web_json_begin (&json, NULL, '{');
  web_json_number (&json, "step_s", STEP_S);
  web_json_signed (&json, "end_ms", self->end_ms);
  web_json_number (&json, "points", N_POINTS);
  web_json_begin (&json, "series", '{');
  for (guint i = 0; i < N_SERIES; i++)
    write_ring (self, &json, series_names[i], &self->series[i]);
  web_json_end (&json, '}');
  if (with_places)
    {
      web_json_begin (&json, "places", '[');
      for (guint p = 0; p < self->n_places; p++)
        {
          web_json_begin (&json, NULL, '{');
          web_json_number (&json, "id", p);
          web_json_text (&json, "name", self->place_names[p]);
          for (guint i = 0; i < N_PLACE_SERIES; i++)
            write_ring (self, &json, place_series_names[i],
                        (const Ring *) &self->places[p].rings[i]);
          web_json_end (&json, '}');
        }
      web_json_end (&json, ']');
    }
  web_json_end (&json, '}');
}
