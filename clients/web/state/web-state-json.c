/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * The state as JSON, as doc/web-interface.md has it.
 */
#include "clients/web/state/web-state-json.h"

#include "clients/web/base/web-json.h"
#include "clients/web/state/web-cluster-json.h"
#include "clients/web/state/web-rates.h"

/* What the wire says for no place, and for a part of the machine that does not hold the whole
 * place. */
#define NONE G_MAXUINT32

#define MOST_NEAR 10

static const char *const class_names[] = { "volatile", "relaxed", "durable" };

static void
write_outcomes (WebJson *json, const IrisWireDaemonStatistics *daemon)
{
  web_json_begin (json, "outcomes", '[');
  for (guint i = 0; i < daemon->n_outcomes; i++)
    {
      const IrisWireOutcomeStatistics *it = &daemon->outcomes[i];

      web_json_begin (json, NULL, '{');
      web_json_text (json, "class",
                     it->klass < G_N_ELEMENTS (class_names) ? class_names[it->klass] : "unknown");
      web_json_number (json, "done", it->done);
      web_json_number (json, "failed", it->failed);
      web_json_number (json, "cancelled", it->cancelled);
      web_json_number (json, "expired", it->expired);
      web_json_number (json, "buried", it->buried);
      web_json_end (json, '}');
    }
  web_json_end (json, ']');
}

static void
write_daemon_rates (WebJson *json, const WebSample *before, const WebSample *now)
{
  const IrisWireDaemonStatistics *is = web_sample_get_daemon (now);
  const IrisWireDaemonStatistics *was = before != NULL ? web_sample_get_daemon (before) : is;
  double s = web_rates_interval (before, now);
  guint64 ended[2], failed[2];

  web_rates_count_ended (was, &ended[0], &failed[0]);
  web_rates_count_ended (is, &ended[1], &failed[1]);
  web_json_number (json, "ended", ended[1]);
  web_json_number (json, "failed", failed[1]);
  web_json_begin (json, "rates", '{');
  web_json_real (json, "accepted", web_rates_of (was->accepted, is->accepted, s));
  web_json_real (json, "ended", web_rates_of (ended[0], ended[1], s));
  web_json_real (json, "failed", web_rates_of (failed[0], failed[1], s));
  web_json_real (json, "refused", web_rates_of (was->busy, is->busy, s));
  web_json_real (json, "stolen",
                 before != NULL ? web_rates_of (web_rates_count_stolen (before),
                                                web_rates_count_stolen (now), s)
                                : 0);
  web_json_real (json, "cpus", web_rates_of (was->cpu_ns, is->cpu_ns, s) / 1e9);
  web_json_end (json, '}');
}

static void
write_daemon (WebJson *json, const WebSample *before, const WebSample *now)
{
  const IrisWireDaemonStatistics *it = web_sample_get_daemon (now);

  web_json_begin (json, "daemon", '{');
  web_json_text (json, "version", it->version);
  web_json_number (json, "pid", it->pid);
  web_json_real (json, "uptime_s", (double) it->uptime_ms / 1e3);
  web_json_text (json, "scheduler", it->scheduler);
  web_json_bool (json, "draining", it->draining);
  web_json_number (json, "connections", it->connections);
  web_json_number (json, "pending_connections", it->strangers);
  web_json_number (json, "accepted", it->accepted);
  web_json_number (json, "in_flight", it->in_flight);
  web_json_number (json, "held_back", it->held_back);
  web_json_number (json, "spilled", it->spilled);
  web_json_number (json, "malformed", it->malformed);
  web_json_number (json, "refused", it->busy);
  web_json_number (json, "credits", it->credits);
  web_json_number (json, "credits_used", it->credits_used);
  web_json_number (json, "byte_credits", it->byte_credits);
  web_json_number (json, "byte_credits_used", it->byte_credits_used);
  web_json_number (json, "commands_running", it->commands_running);
  web_json_number (json, "commands_started", it->commands_started);
  web_json_number (json, "memory_bytes", it->memory_bytes);
  web_json_number (json, "payload_bytes", it->payload_bytes);
  web_json_real (json, "cpu_s", (double) it->cpu_ns / 1e9);
  web_json_begin (json, "states", '{');
  for (guint i = 1; i < it->n_states; i++)
    web_json_number (json, iris_wire_state_name (i), it->states[i]);
  web_json_end (json, '}');
  write_outcomes (json, it);
  write_daemon_rates (json, before, now);
  web_json_end (json, '}');
}

static void
write_journal (WebJson *json, const WebSample *before, const IrisWireJournalStatistics *it)
{
  const IrisWireJournalStatistics none = { 0 };
  const IrisWireJournalStatistics *was = before != NULL && before->statistics->n_journal > 0
                                             ? &before->statistics->journal[0]
                                             : &none;

  web_json_begin (json, "journal", '{');
  web_json_text (json, "state", it->state);
  web_json_text (json, "why", it->reason);
  web_json_number (json, "items", it->items);
  web_json_number (json, "ended", it->ended);
  web_json_number (json, "damaged", it->damaged);
  web_json_number (json, "syncs", it->syncs);
  web_json_real (json, "sync_s", (double) it->sync_time_ns / 1e9);
  web_json_real (
      json, "sync_p50_s",
      web_rates_quantile (was->sync_time, was->n_sync_time, it->sync_time, it->n_sync_time, 0.5));
  web_json_real (
      json, "sync_p99_s",
      web_rates_quantile (was->sync_time, was->n_sync_time, it->sync_time, it->n_sync_time, 0.99));
  web_json_number (json, "rows", it->rows);
  web_json_number (json, "written_bytes", it->bytes);
  web_json_number (json, "file_bytes", it->file_bytes);
  web_json_number (json, "log_bytes", it->log_bytes);
  web_json_number (json, "free_bytes", it->free_bytes);
  web_json_end (json, '}');
}

static void
write_id (WebJson *json, const char *name, guint32 id)
{
  web_json_signed (json, name, id == NONE ? -1 : (gint64) id);
}

static void
write_steals_of (WebJson *json, const IrisWirePlaceStatistics *it)
{
  web_json_begin (json, "steals", '{');
  web_json_number (json, "tried", it->steals_tried);
  web_json_number (json, "made", it->steals_made);
  web_json_number (json, "lapsed", it->steals_lapsed);
  web_json_begin (json, "refused", '{');
  for (guint i = 0; i < MIN (it->n_steals_refused, WEB_N_REFUSALS); i++)
    web_json_number (json, web_refusal_names[i], it->steals_refused[i]);
  web_json_end (json, '}');
  web_json_end (json, '}');
}

static void
write_quantiles (WebJson *json,
                 const IrisWirePlaceStatistics *was,
                 const IrisWirePlaceStatistics *is)
{
  const IrisWirePlaceStatistics *b = was != NULL ? was : is;

  web_json_real (json, "queue_p50_s",
                 web_rates_quantile (b->queue_delay, b->n_queue_delay, is->queue_delay,
                                     is->n_queue_delay, 0.5));
  web_json_real (json, "queue_p99_s",
                 web_rates_quantile (b->queue_delay, b->n_queue_delay, is->queue_delay,
                                     is->n_queue_delay, 0.99));
  web_json_real (
      json, "run_p50_s",
      web_rates_quantile (b->run_time, b->n_run_time, is->run_time, is->n_run_time, 0.5));
  web_json_real (
      json, "run_p99_s",
      web_rates_quantile (b->run_time, b->n_run_time, is->run_time, is->n_run_time, 0.99));
}

static void
write_place (WebJson *json,
             const IrisWirePlaceStatistics *was,
             const IrisWirePlaceStatistics *it,
             double interval_s)
{
  web_json_begin (json, NULL, '{');
  web_json_number (json, "id", it->id);
  web_json_text (json, "name", it->name);
  web_json_text (json, "cpus", it->cpus);
  write_id (json, "package", it->package);
  write_id (json, "numa", it->numa_node);
  write_id (json, "l3", it->l3);
  write_id (json, "l2", it->l2);
  write_id (json, "core", it->core);
  web_json_number (json, "workers", it->workers);
  web_json_number (json, "active", it->active);
  web_json_bool (json, "drained", it->drained);
  web_json_real (json, "rate",
                 was != NULL ? web_rates_of (was->executed, it->executed, interval_s) : 0);
  web_json_real (json, "load", web_rates_load (was, it, interval_s));
  web_json_number (json, "backlog", it->backlog);
  web_json_number (json, "hinted", it->hinted);
  web_json_number (json, "executed", it->executed);
  web_json_number (json, "failed", it->failed);
  web_json_number (json, "stolen_in", it->stolen_in);
  web_json_number (json, "stolen_out", it->stolen_out);
  web_json_number (json, "bytes", it->bytes);
  web_json_real (json, "busy_s", (double) it->busy_ns / 1e9);
  web_json_number (json, "parks", it->parks);
  web_json_number (json, "wakes", it->wakes);
  write_steals_of (json, it);
  write_quantiles (json, was, it);
  web_json_end (json, '}');
}

/* Pairs of places between which items were stolen. */
static void
write_steals (WebJson *json, const WebSample *before, const WebSample *now, double interval_s)
{
  const IrisWireStatistics *all = now->statistics;

  web_json_begin (json, "steals", '[');
  for (guint i = 0; i < all->n_steals; i++)
    {
      const IrisWireStealStatistics *it = &all->steals[i];
      const IrisWireStealStatistics *was = before != NULL && i < before->statistics->n_steals
                                               ? &before->statistics->steals[i]
                                               : it;

      for (guint from = 0; from < it->n_items; from++)
        {
          /* A worker that stole from another of its own place moved nothing between places. */
          if (it->items[from] == 0 || from == it->place)
            continue;
          web_json_begin (json, NULL, '{');
          web_json_number (json, "from", from);
          web_json_number (json, "to", it->place);
          web_json_number (json, "items", it->items[from]);
          web_json_real (json, "rate",
                         from < was->n_items
                             ? web_rates_of (was->items[from], it->items[from], interval_s)
                             : 0);
          if (from < it->n_distances)
            web_json_number (json, "distance", it->distances[from]);
          web_json_end (json, '}');
        }
    }
  web_json_end (json, ']');
}

/* The same service in the sample before: nearly always at the same index. */
static const IrisWireServiceStatistics *
find_service (const WebSample *before, const char *name, guint near)
{
  const IrisWireStatistics *all = before != NULL ? before->statistics : NULL;

  if (all == NULL)
    return NULL;
  if (near < all->n_services && g_str_equal (all->services[near].name, name))
    return &all->services[near];
  for (guint i = 0; i < all->n_services; i++)
    if (g_str_equal (all->services[i].name, name))
      return &all->services[i];

  return NULL;
}

static guint64
count_runs (const IrisWireServiceStatistics *it)
{
  return it->done + it->failed + it->cancelled + it->expired;
}

static void
write_services (WebJson *json, const WebSample *before, const WebSample *now, double interval_s)
{
  web_json_begin (json, "services", '[');
  for (guint i = 0; i < now->statistics->n_services; i++)
    {
      const IrisWireServiceStatistics *it = &now->statistics->services[i];
      const IrisWireServiceStatistics *was = find_service (before, it->name, i);

      web_json_begin (json, NULL, '{');
      web_json_text (json, "name", it->name);
      web_json_number (json, "waiting", it->waiting);
      web_json_number (json, "leased", it->leased);
      web_json_number (json, "done", it->done);
      web_json_number (json, "failed", it->failed);
      web_json_number (json, "cancelled", it->cancelled);
      web_json_number (json, "expired", it->expired);
      web_json_number (json, "buried", it->buried);
      web_json_number (json, "retried", it->retried);
      web_json_real (json, "run_s", (double) it->run_ns / 1e9);
      web_json_real (json, "queue_s", (double) it->queue_ns / 1e9);
      web_json_real (json, "rate",
                     was != NULL ? web_rates_of (count_runs (was), count_runs (it), interval_s)
                                 : 0);
      web_json_end (json, '}');
    }
  web_json_end (json, ']');
}

static void
write_limits (WebJson *json, const IrisWireStatistics *statistics)
{
  web_json_begin (json, "limits", '[');
  for (guint i = 0; i < statistics->n_limits; i++)
    {
      const IrisWireLimitStatistics *it = &statistics->limits[i];

      web_json_begin (json, NULL, '{');
      web_json_text (json, "name", it->name);
      web_json_number (json, "value", it->value);
      if (it->counted)
        web_json_number (json, "used", it->used);
      web_json_number (json, "refused", it->busy);
      web_json_end (json, '}');
    }
  web_json_end (json, ']');
}

typedef struct
{
  const char *limit;
  const IrisWireLimitUser *user;
} Near;

static double
part_of (const Near *near)
{
  return near->user->value > 0 ? (double) near->user->used / (double) near->user->value : 0;
}

static gint
compare_near (gconstpointer a, gconstpointer b)
{
  double x = part_of (a), y = part_of (b);

  return x > y ? -1 : x < y ? 1 : 0;
}

/* The clients nearest to any limit, the nearest first. */
static void
write_near (WebJson *json, const IrisWireStatistics *statistics)
{
  g_autoptr (GArray) all = g_array_new (FALSE, FALSE, sizeof (Near));

  for (guint i = 0; i < statistics->n_limits; i++)
    for (guint j = 0; j < statistics->limits[i].n_users; j++)
      {
        Near near = { statistics->limits[i].name, &statistics->limits[i].users[j] };

        g_array_append_val (all, near);
      }
  g_array_sort (all, compare_near);
  web_json_begin (json, "near", '[');
  for (guint i = 0; i < MIN (all->len, MOST_NEAR); i++)
    {
      const Near *near = &g_array_index (all, Near, i);

      web_json_begin (json, NULL, '{');
      web_json_text (json, "client", near->user->name);
      web_json_text (json, "limit", near->limit);
      web_json_number (json, "value", near->user->value);
      web_json_number (json, "used", near->user->used);
      web_json_end (json, '}');
    }
  web_json_end (json, ']');
}

static void
write_processes (WebJson *json, const IrisWireStatistics *statistics)
{
  web_json_begin (json, "processes", '[');
  for (guint i = 0; i < statistics->n_processes; i++)
    {
      const IrisWireProcessStatistics *it = &statistics->processes[i];

      web_json_begin (json, NULL, '{');
      web_json_text (json, "name", it->name);
      web_json_begin (json, "services", '[');
      for (guint j = 0; it->services != NULL && it->services[j] != NULL; j++)
        web_json_text (json, NULL, it->services[j]);
      web_json_end (json, ']');
      write_id (json, "place", it->n_places > 0 ? it->places[0] : NONE);
      web_json_number (json, "capacity", it->capacity);
      web_json_number (json, "leased", it->leases);
      web_json_number (json, "done", it->done);
      web_json_number (json, "failed", it->failed);
      web_json_number (json, "lost", it->lapsed);
      web_json_real (json, "silent_s", (double) it->silent_ms / 1e3);
      web_json_end (json, '}');
    }
  web_json_end (json, ']');
}

static void
write_sections (WebJson *json, const WebSample *before, const WebSample *now, gboolean all)
{
  const IrisWireStatistics *statistics = now->statistics;
  double interval_s = web_rates_interval (before, now);

  write_daemon (json, before, now);
  for (guint i = 0; i < MIN (statistics->n_journal, 1); i++)
    if (!g_str_equal (statistics->journal[i].state, "none"))
      write_journal (json, before, &statistics->journal[i]);
  web_json_begin (json, "places", '[');
  for (guint i = 0; i < statistics->n_places; i++)
    write_place (json, before != NULL ? &before->statistics->places[i] : NULL,
                 &statistics->places[i], interval_s);
  web_json_end (json, ']');
  write_steals (json, before, now, interval_s);
  write_services (json, before, now, interval_s);
  write_limits (json, statistics);
  web_cluster_json_write (json, now, all);
  if (all)
    {
      write_near (json, statistics);
      write_processes (json, statistics);
    }
}

void
web_state_json_write (GString *text, WebState *state, gboolean all, const char *more)
{
  const WebSample *now = web_state_get_now (state);
  const WebSample *before = web_state_get_before (state);
  const char *why = web_state_get_why (state);
  g_autoptr (GPtrArray) reasons = web_state_list_reasons (now, why);
  WebJson json = { .text = text };

  web_json_begin (&json, NULL, '{');
  web_json_number (&json, "seq", web_state_get_seq (state));
  web_json_signed (&json, "time_ms", now != NULL ? now->at_ms : g_get_real_time () / 1000);
  web_json_real (&json, "interval_s", web_rates_interval (before, now));
  web_json_bool (&json, "connected", web_sample_get_daemon (now) != NULL);
  web_json_text (&json, "why", web_sample_get_daemon (now) != NULL ? NULL : reasons->pdata[0]);
  web_json_bool (&json, "ready", reasons->len == 0);
  web_json_begin (&json, "not_ready", '[');
  for (guint i = 0; i < reasons->len; i++)
    web_json_text (&json, NULL, reasons->pdata[i]);
  web_json_end (&json, ']');
  web_json_text (&json, "role", all ? "observe" : "sums");
  if (web_sample_get_daemon (now) != NULL)
    write_sections (&json, before, now, all);
  if (more != NULL)
    g_string_append_printf (text, ",%s", more);
  web_json_end (&json, '}');
}
