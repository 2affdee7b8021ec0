/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * irisctl places, status: what irisd is and has done, by its statistics.
 */
#include "clients/irisctl/output/irisctl-output.h"

#include <string.h>

static void
print_table (CtlTable *table)
{
  ctl_table_fit_terminal (table);
  ctl_table_flush (table);
}

static char *
format_quantile (const guint64 *buckets, guint n, double q)
{
  return ctl_format_short_time (ctl_statistics_quantile (buckets, n, NULL, 0, q));
}

/* How much of the time since irisd was started its workers have worked, 0 to 1. */
static double
load_of (const IrisWireStatistics *all, const IrisWirePlaceStatistics *place)
{
  double most = (double) all->daemon[0].uptime_ms * 1e6 * MAX (place->workers, 1);

  return most > 0 ? MIN ((double) place->busy_ns / most, 1) : 0;
}

/* Items a second since irisd was started. */
static double
rate_of (const IrisWireStatistics *all, const IrisWirePlaceStatistics *place)
{
  return (double) place->executed * 1e3 / (double) MAX (all->daemon[0].uptime_ms, 1);
}

/* irisd may have been started anew between the two answers, with other places. */
static const IrisWirePlaceStatistics *
find_place (const IrisWireStatistics *all, const IrisClientPlace *place)
{
  static const IrisWirePlaceStatistics none = { .name = (char *) "" };

  return (guint) place->id < all->n_places ? &all->places[place->id] : &none;
}

static void
refusals_json (JsonBuilder *builder, const guint64 *refused, guint n_refused)
{
  /* In the order of the protocol. */
  static const char *const reasons[] = { "backlog", "size", "distance", "apart" };

  json_builder_set_member_name (builder, "steals_refused");
  json_builder_begin_object (builder);
  for (guint i = 0; i < MIN (n_refused, G_N_ELEMENTS (reasons)); i++)
    ctl_json_int (builder, reasons[i], (gint64) refused[i]);
  json_builder_end_object (builder);
}

/* What both commands tell of a place. */
static void
place_json (JsonBuilder *builder,
            const IrisWireStatistics *all,
            const IrisWirePlaceStatistics *place)
{
  g_autoptr (GArray) distances = ctl_statistics_sum_distances (all, place->id);

  ctl_json_int (builder, "active", place->active);
  ctl_json_bool (builder, "drained", place->drained);
  ctl_json_int (builder, "backlog", (gint64) place->backlog);
  ctl_json_int (builder, "hinted", (gint64) place->hinted);
  ctl_json_int (builder, "executed", (gint64) place->executed);
  ctl_json_int (builder, "failed", (gint64) place->failed);
  ctl_json_int (builder, "stolen_in", (gint64) place->stolen_in);
  ctl_json_int (builder, "stolen_out", (gint64) place->stolen_out);
  ctl_json_distances (builder, distances);
  ctl_json_int (builder, "steals_tried", (gint64) place->steals_tried);
  ctl_json_int (builder, "steals_made", (gint64) place->steals_made);
  refusals_json (builder, place->steals_refused, place->n_steals_refused);
  ctl_json_int (builder, "steals_lapsed", (gint64) place->steals_lapsed);
  ctl_json_int (builder, "parks", (gint64) place->parks);
  ctl_json_int (builder, "wakes", (gint64) place->wakes);
  ctl_json_int (builder, "bytes", (gint64) place->bytes);
  ctl_json_double (builder, "busy_s", (double) place->busy_ns / 1e9);
  ctl_json_double (builder, "load", load_of (all, place));
  ctl_json_times (builder, "queue_delay", place->queue_delay, place->n_queue_delay,
                  place->queue_delay_ns);
  ctl_json_times (builder, "run_time", place->run_time, place->n_run_time, place->run_time_ns);
}

static void
places_json (GPtrArray *places, const IrisWireStatistics *all)
{
  g_autoptr (JsonBuilder) builder = json_builder_new ();

  json_builder_begin_array (builder);
  for (guint i = 0; i < places->len; i++)
    {
      const IrisClientPlace *place = g_ptr_array_index (places, i);

      json_builder_begin_object (builder);
      ctl_json_int (builder, "id", place->id);
      ctl_json_string (builder, "name", place->name);
      ctl_json_string (builder, "cpus", place->cpus);
      ctl_json_string (builder, "memory_nodes", place->memory_nodes);
      ctl_json_int (builder, "workers", place->workers);
      ctl_json_bool (builder, "bound", place->bound);
      place_json (builder, all, find_place (all, place));
      ctl_json_string (builder, "endpoint", place->endpoint);
      json_builder_set_member_name (builder, "distances");
      json_builder_begin_array (builder);
      for (guint j = 0; j < place->n_distances; j++)
        json_builder_add_int_value (builder, place->distances[j]);
      json_builder_end_array (builder);
      json_builder_end_object (builder);
    }
  json_builder_end_array (builder);
  ctl_json_print (builder);
}

static void
add_place (CtlTable *table, const IrisWireStatistics *all, const IrisClientPlace *place)
{
  const IrisWirePlaceStatistics *it = find_place (all, place);

  ctl_table_add (table, ctl_number ((guint64) place->id), g_strdup (place->name),
                 g_strdup (place->cpus), ctl_number (place->workers), ctl_number (it->active),
                 g_strdup_printf ("%.0f %%", load_of (all, it) * 100), ctl_number (it->backlog),
                 ctl_number (it->stolen_in), ctl_number (it->stolen_out),
                 it->drained ? ctl_table_colour (CTL_COLOUR_YELLOW, g_strdup ("drained"))
                             : g_strdup ("open"),
                 g_strdup_printf ("%.1f", rate_of (all, it)),
                 format_quantile (it->queue_delay, it->n_queue_delay, 0.5),
                 format_quantile (it->queue_delay, it->n_queue_delay, 0.99),
                 format_quantile (it->run_time, it->n_run_time, 0.5),
                 format_quantile (it->run_time, it->n_run_time, 0.99), ctl_number (it->parks),
                 g_strdup (place->memory_nodes), g_strdup (place->bound ? "yes" : "no"),
                 g_strdup (place->endpoint));
}

static int
run_places (Ctl *ctl, int argc, char **argv)
{
  static const char *const headings[] = { ">id",       "name",     "cpus",   ">workers",  ">active",
                                          ">load",     ">backlog", ">in",    ">out",      "state",
                                          "+>items/s", "+>wait",   "+>99 %", "+>run",     "+>99 %",
                                          "+>parks",   "+memory",  "+bound", "+endpoint", NULL };
  g_autoptr (CtlTable) table = NULL;
  g_autoptr (IrisWireStatistics) all = NULL;
  g_autoptr (GPtrArray) places = NULL;
  g_autoptr (GError) error = NULL;
  int status = ctl_connect (ctl);

  if (status != CTL_OK)
    return status;

  all = ctl_statistics_get (ctl, IRIS_WIRE_SECTION_PLACES | IRIS_WIRE_SECTION_STEALS, &error);
  if (all == NULL)
    return ctl_fail_asking (error, 0);
  places = iris_client_get_places (ctl->client);
  if (ctl->json)
    {
      places_json (places, all);
      return CTL_OK;
    }
  table = ctl_table_new (headings, ctl->verbose);
  for (guint i = 0; i < places->len; i++)
    add_place (table, all, g_ptr_array_index (places, i));
  print_table (table);

  return CTL_OK;
}

const CtlCommand ctl_places = {
  .name = "places",
  .arguments = "",
  .summary = "list the places, their cpus, workers and load",
  .description = "The load is the part of the time since irisd was started that the workers\n"
                 "worked; commands and worker processes have no worker. In and out are the items\n"
                 "that a place has stolen and that were stolen from it. With --verbose there are\n"
                 "more columns: items a second since the start, how long items waited and ran\n"
                 "(median and 99 % of them, at most), how often a worker slept, memory, whether\n"
                 "workers are bound to the cpus, and the endpoint.\n\n"
                 "Example:\n"
                 "  irisctl places --json | jq '.[].name'\n",
  .asks_only = TRUE,
  .run = run_places,
};

static void
states_json (JsonBuilder *builder, const IrisWireDaemonStatistics *daemon)
{
  json_builder_set_member_name (builder, "states");
  json_builder_begin_object (builder);
  for (guint i = 0; i < daemon->n_states; i++)
    {
      const char *name = iris_wire_state_name (i);

      if (name != NULL)
        ctl_json_int (builder, name, (gint64) daemon->states[i]);
    }
  json_builder_end_object (builder);
}

static void
limits_json (JsonBuilder *builder, const IrisWireStatistics *all)
{
  json_builder_set_member_name (builder, "busy_by_limit");
  json_builder_begin_object (builder);
  for (guint i = 0; i < all->n_limits; i++)
    if (all->limits[i].busy > 0)
      ctl_json_int (builder, all->limits[i].name, (gint64) all->limits[i].busy);
  json_builder_end_object (builder);
}

static void
journal_json (JsonBuilder *builder, const IrisWireStatistics *all)
{
  static const IrisWireJournalStatistics none = { .state = (char *) "none", .reason = (char *) "" };
  const IrisWireJournalStatistics *journal = all->n_journal > 0 ? &all->journal[0] : &none;

  ctl_json_string (builder, "journal", journal->state);
  ctl_json_string (builder, "journal_says", journal->reason);
  ctl_json_int (builder, "persistent", (gint64) journal->items);
  ctl_json_int (builder, "persistent_ended", (gint64) journal->ended);
  ctl_json_int (builder, "damaged", (gint64) journal->damaged);
  ctl_json_int (builder, "journal_syncs", (gint64) journal->syncs);
  ctl_json_times (builder, "journal_sync_time", journal->sync_time, journal->n_sync_time,
                  journal->sync_time_ns);
  ctl_json_int (builder, "journal_bytes", (gint64) journal->bytes);
  ctl_json_int (builder, "journal_file_bytes", (gint64) journal->file_bytes);
  ctl_json_int (builder, "journal_free_bytes", (gint64) journal->free_bytes);
}

static const char *const cluster_states[] = {
  [IRIS_WIRE_CLUSTER_NONE] = "none",       [IRIS_WIRE_CLUSTER_JOINING] = "joining",
  [IRIS_WIRE_CLUSTER_JOINED] = "joined",   [IRIS_WIRE_CLUSTER_ALONE] = "alone",
  [IRIS_WIRE_CLUSTER_REFUSED] = "refused",
};

static const char *
name_cluster_state (guint32 state)
{
  return state < G_N_ELEMENTS (cluster_states) ? cluster_states[state] : "unknown";
}

/* What went to other nodes, and came from them. */
static void
cluster_counts_json (JsonBuilder *builder, const IrisWireClusterStatistics *cluster)
{
  const struct
  {
    const char *name;
    guint64 value;
  } counts[] = {
    { "away", cluster->away },
    { "held", cluster->held },
    { "guests", cluster->guests },
    { "published", cluster->published },
    { "away_ended", cluster->away_ended },
    { "ends_found", cluster->ends_found },
    { "delivered", cluster->delivered },
    { "redelivered", cluster->redelivered },
    { "guests_ended", cluster->guests_ended },
    { "late_ends", cluster->late_ends },
    { "given_back", cluster->given_back },
    { "dead_letters", cluster->dead_letters },
    { "failed", cluster->failed },
    { "bytes_sent", cluster->bytes_sent },
    { "bytes_received", cluster->bytes_received },
    { "rescued", cluster->rescued },
    { "steals_lapsed", cluster->steals_lapsed },
  };

  for (guint i = 0; i < G_N_ELEMENTS (counts); i++)
    ctl_json_int (builder, counts[i].name, (gint64) counts[i].value);
  json_builder_set_member_name (builder, "stolen_by_distance");
  json_builder_begin_array (builder);
  for (guint i = 0; i < cluster->n_stolen; i++)
    json_builder_add_int_value (builder, (gint64) cluster->stolen[i]);
  json_builder_end_array (builder);
  refusals_json (builder, cluster->steals_refused, cluster->n_steals_refused);
}

static void
cluster_json (JsonBuilder *builder, const IrisWireClusterStatistics *cluster)
{
  json_builder_set_member_name (builder, "cluster");
  json_builder_begin_object (builder);
  ctl_json_string (builder, "node", cluster->node);
  ctl_json_string (builder, "state", name_cluster_state (cluster->state));
  ctl_json_int (builder, "since_ms", (gint64) cluster->since_ms);
  ctl_json_string (builder, "reason", cluster->reason);
  ctl_json_string (builder, "promise", cluster->promise);
  ctl_json_bool (builder, "takes_durable", cluster->takes_durable);
  ctl_json_bool (builder, "draining", cluster->draining);
  ctl_json_int (builder, "nodes_here", cluster->nodes_here);
  ctl_json_int (builder, "nodes_draining", cluster->nodes_draining);
  ctl_json_int (builder, "nodes_gone", cluster->nodes_gone);
  ctl_json_int (builder, "reports", (gint64) cluster->reports);
  ctl_json_int (builder, "reports_failed", (gint64) cluster->reports_failed);
  ctl_json_int (builder, "connects", (gint64) cluster->connects);
  cluster_counts_json (builder, cluster);
  json_builder_end_object (builder);
}

static void
daemon_json (JsonBuilder *builder, const IrisWireStatistics *all)
{
  const IrisWireDaemonStatistics *daemon = &all->daemon[0];
  CtlCounts counts;

  ctl_statistics_count (all, &counts);
  ctl_json_string (builder, "version", daemon->version);
  ctl_json_int (builder, "pid", daemon->pid);
  ctl_json_double (builder, "uptime_s", (double) daemon->uptime_ms / 1e3);
  ctl_json_string (builder, "scheduler", daemon->scheduler);
  ctl_json_bool (builder, "draining", daemon->draining);
  ctl_json_int (builder, "clients", (gint64) daemon->connections);
  ctl_json_int (builder, "in_flight", (gint64) daemon->in_flight);
  ctl_json_int (builder, "accepted", (gint64) daemon->accepted);
  ctl_json_int (builder, "ended", (gint64) counts.ended);
  ctl_json_int (builder, "failed", (gint64) counts.failed);
  ctl_json_int (builder, "malformed", (gint64) daemon->malformed);
  ctl_json_int (builder, "refused", (gint64) daemon->busy);
  ctl_json_bool (builder, "ready", daemon->ready);
  ctl_json_int (builder, "held_back", (gint64) daemon->held_back);
  ctl_json_int (builder, "commands_running", (gint64) daemon->commands_running);
  ctl_json_int (builder, "memory_bytes", (gint64) daemon->memory_bytes);
  ctl_json_int (builder, "payload_bytes", (gint64) daemon->payload_bytes);
  ctl_json_double (builder, "cpu_s", (double) daemon->cpu_ns / 1e9);
  states_json (builder, daemon);
}

static void
status_json (const IrisWireStatistics *all)
{
  g_autoptr (JsonBuilder) builder = json_builder_new ();
  g_autoptr (GArray) distances = ctl_statistics_sum_distances (all, CTL_ALL_PLACES);

  json_builder_begin_object (builder);
  daemon_json (builder, all);
  limits_json (builder, all);
  journal_json (builder, all);
  if (all->n_cluster > 0)
    cluster_json (builder, &all->cluster[0]);
  ctl_json_distances (builder, distances);
  json_builder_set_member_name (builder, "places");
  json_builder_begin_array (builder);
  for (guint i = 0; i < all->n_places; i++)
    {
      const IrisWirePlaceStatistics *place = &all->places[i];

      json_builder_begin_object (builder);
      ctl_json_int (builder, "id", place->id);
      ctl_json_string (builder, "name", place->name);
      ctl_json_int (builder, "workers", place->workers);
      place_json (builder, all, place);
      json_builder_end_object (builder);
    }
  json_builder_end_array (builder);
  json_builder_end_object (builder);
  ctl_json_print (builder);
}

static void
print_refusals (const IrisWireStatistics *all)
{
  const IrisWireDaemonStatistics *daemon = &all->daemon[0];
  const char *before = " (";

  g_print ("refused for a limit: %" G_GUINT64_FORMAT, daemon->busy);
  for (guint i = 0; i < all->n_limits; i++)
    {
      if (all->limits[i].busy == 0)
        continue;
      g_print ("%s%s %" G_GUINT64_FORMAT, before, all->limits[i].name, all->limits[i].busy);
      before = ", ";
    }
  g_print ("%s; messages that did not parse: %" G_GUINT64_FORMAT "\n",
           strcmp (before, ", ") == 0 ? ")" : "", daemon->malformed);
}

static void
print_journal (const IrisWireJournalStatistics *journal)
{
  g_autofree char *median = format_quantile (journal->sync_time, journal->n_sync_time, 0.5);
  g_autofree char *most = format_quantile (journal->sync_time, journal->n_sync_time, 0.99);

  if (g_str_equal (journal->state, "none"))
    return;
  g_print ("journal %s%s%s; persistent items: %" G_GUINT64_FORMAT "; damaged: %" G_GUINT64_FORMAT
           "\n",
           journal->state, *journal->reason != '\0' ? ": " : "", journal->reason, journal->items,
           journal->damaged);
  if (journal->syncs > 0)
    g_print ("journal synced %" G_GUINT64_FORMAT " times, in %s (median), %s (99 %%)\n",
             journal->syncs, median, most);
}

static void
print_cluster (const IrisWireClusterStatistics *cluster)
{
  g_autoptr (GDateTime) since = g_date_time_new_from_unix_local ((gint64) cluster->since_ms / 1000);
  g_autofree char *time = since != NULL ? g_date_time_format (since, "%F %T") : NULL;

  g_print ("cluster: node %s, %s since %s%s; %u here, %u draining, %u gone\n", cluster->node,
           name_cluster_state (cluster->state), time != NULL ? time : "-",
           cluster->draining ? ", draining" : "", cluster->nodes_here, cluster->nodes_draining,
           cluster->nodes_gone);
  if (*cluster->reason != '\0')
    g_print ("  %s\n", cluster->reason);
  if (*cluster->promise != '\0')
    g_print ("  promise: %s\n", cluster->promise);
  if (*cluster->promise != '\0' && !cluster->takes_durable)
    g_print ("  durable items stay at their node\n");
}

/* @cluster: (nullable): irisd is a node. To it the cluster is one more worker process. */
static void
print_states (const IrisWireDaemonStatistics *daemon, const IrisWireClusterStatistics *cluster)
{
  const guint64 leased = daemon->states[IRIS_WIRE_STATE_LEASED];
  const guint64 away = cluster != NULL ? MIN (cluster->away, leased) : 0;

  g_print ("queued: %" G_GUINT64_FORMAT "; running: %" G_GUINT64_FORMAT
           "; at worker processes: %" G_GUINT64_FORMAT,
           daemon->states[IRIS_WIRE_STATE_QUEUED], daemon->states[IRIS_WIRE_STATE_RUNNING],
           leased - away);
  if (cluster != NULL)
    g_print ("; in the cluster: %" G_GUINT64_FORMAT, away);
  g_print ("; delayed: %" G_GUINT64_FORMAT "\n", daemon->states[IRIS_WIRE_STATE_DELAYED]);
}

static void
print_daemon (const IrisWireStatistics *all)
{
  const IrisWireDaemonStatistics *daemon = &all->daemon[0];
  g_autofree char *clients = ctl_count (daemon->connections, "client");
  g_autofree char *memory = g_format_size (daemon->memory_bytes);
  g_autoptr (GArray) sums = ctl_statistics_sum_distances (all, CTL_ALL_PLACES);
  g_autofree char *distances = ctl_format_distances (sums);
  CtlCounts counts;

  ctl_statistics_count (all, &counts);
  g_print ("irisd %s, process %u, up %.0f s, scheduler %s, memory %s%s\n", daemon->version,
           daemon->pid, (double) daemon->uptime_ms / 1e3, daemon->scheduler, memory,
           daemon->draining ? ", draining" : "");
  g_print ("%s; items: %" G_GUINT64_FORMAT " accepted, %" G_GUINT64_FORMAT
           " ended (%" G_GUINT64_FORMAT " failed), %" G_GUINT64_FORMAT " not ended\n",
           clients, daemon->accepted, counts.ended, counts.failed, daemon->in_flight);
  if (daemon->in_flight > 0 && daemon->n_states > IRIS_WIRE_STATE_DELAYED)
    print_states (daemon, all->n_cluster > 0 ? &all->cluster[0] : NULL);
  print_refusals (all);
  if (all->n_journal > 0)
    print_journal (&all->journal[0]);
  if (all->n_cluster > 0)
    print_cluster (&all->cluster[0]);
  if (*distances != '\0')
    g_print ("stolen: %s\n", distances);
  if (daemon->held_back > 0)
    g_print ("%" G_GUINT64_FORMAT " %s for others of their client or service to end\n",
             daemon->held_back, daemon->held_back == 1 ? "item waits" : "items wait");
}

static void
status_text (const Ctl *ctl, const IrisWireStatistics *all)
{
  static const char *const headings[] = { "place",    ">executed", ">items/s", ">in",     ">out",
                                          ">wait",    ">99 %",     ">run",     ">99 %",   ">busy s",
                                          "+>hinted", "+>bytes",   "+>parks",  "+>wakes", NULL };
  g_autoptr (CtlTable) table = ctl_table_new (headings, ctl->verbose);

  print_daemon (all);
  g_print ("\n");
  for (guint i = 0; i < all->n_places; i++)
    {
      const IrisWirePlaceStatistics *it = &all->places[i];

      ctl_table_add (table, g_strdup (it->name), ctl_number (it->executed),
                     g_strdup_printf ("%.1f", rate_of (all, it)), ctl_number (it->stolen_in),
                     ctl_number (it->stolen_out),
                     format_quantile (it->queue_delay, it->n_queue_delay, 0.5),
                     format_quantile (it->queue_delay, it->n_queue_delay, 0.99),
                     format_quantile (it->run_time, it->n_run_time, 0.5),
                     format_quantile (it->run_time, it->n_run_time, 0.99),
                     ctl_seconds (it->busy_ns), ctl_number (it->hinted), ctl_number (it->bytes),
                     ctl_number (it->parks), ctl_number (it->wakes));
    }
  print_table (table);
}

static int
run_status (Ctl *ctl, int argc, char **argv)
{
  const guint sections = IRIS_WIRE_SECTION_PLACES | IRIS_WIRE_SECTION_STEALS
                         | IRIS_WIRE_SECTION_LIMITS | IRIS_WIRE_SECTION_JOURNAL
                         | IRIS_WIRE_SECTION_CLUSTER;
  g_autoptr (IrisWireStatistics) all = NULL;
  g_autoptr (GError) error = NULL;
  int code = ctl_connect (ctl);

  if (code != CTL_OK)
    return code;
  all = ctl_statistics_get (ctl, sections, &error);
  if (all == NULL)
    return ctl_fail_asking (error, 0);

  if (ctl->json)
    status_json (all);
  else
    status_text (ctl, all);

  return CTL_OK;
}

const CtlCommand ctl_status = {
  .name = "status",
  .arguments = "",
  .summary = "show what irisd has done and is doing, place by place",
  .description = "Wait is the time from an item's acceptance to its run, run that of running:\n"
                 "the median, and what 99 % of the items stay below, as powers of two. In and out\n"
                 "are the items that a place has stolen and that were stolen from it. With\n"
                 "--verbose there are more columns: items hinted, bytes worked on, and how often\n"
                 "workers slept and were woken.\n",
  .asks_only = TRUE,
  .run = run_status,
};
