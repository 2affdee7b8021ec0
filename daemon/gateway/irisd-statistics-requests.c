/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * Requests about what irisd counts: STATISTICS.
 *
 * The gateway that is asked sums the counters of all threads and stops none. A counter is right by
 * itself; two of them may be of moments that lie a little apart. Where a difference is told, the
 * subtrahend is read first, so no item seems to have ended before it was accepted.
 *
 * All clients may ask: the reply has sums, and neither items nor owners. Of services and worker
 * processes a client learns the names that SERVICES and WORKERS tell it; the counters of other
 * services are part of `other`. The users of a limit are for operators.
 */
#include "daemon/gateway/irisd-statistics-requests.h"

#include "daemon/exec/command/irisd-command-runner.h"
#include "daemon/exec/irisd-place-control.h"
#include "daemon/exec/worker/irisd-worker-processes.h"
#include "daemon/gateway/irisd-cluster-requests.h"
#include "daemon/gateway/irisd-place-requests.h"
#include "daemon/gateway/irisd-send.h"

#include <iris/place/iris-place-private.h>

#include <stdio.h>
#include <time.h>
#include <unistd.h>

G_STATIC_ASSERT (IRISD_HISTOGRAM_BUCKETS == IRIS_WIRE_N_BUCKETS);

/* The users of a limit that are told. */
#define MOST_USERS 10

#define N_STATES (IRIS_WIRE_STATE_SUSPENDED + 1)

/* What one answer is made of. */
typedef struct
{
  IrisdCore *core;
  const IrisdCaller *caller;
  gint64 space; /* the first name space of the caller's services */
  IrisStats *scheduler;
  IrisWireStatistics *out;
} Answer;

static guint64
load (const _Atomic guint64 *counter)
{
  return irisd_count_get (counter);
}

static guint64
less (guint64 from, guint64 what)
{
  return from - MIN (from, what);
}

static guint64 *
copy_histogram (const IrisdHistogramSum *sum)
{
  return g_memdup2 (sum->buckets, sizeof sum->buckets);
}

/* --- irisd as a whole ------------------------------------------------------------------------- */

/* Resident memory, in bytes; 0 if the kernel does not tell. */
static guint64
get_memory (void)
{
  char line[128] = "", *resident;
  FILE *file = fopen ("/proc/self/statm", "re");
  if (file == NULL)
    return 0;
  if (fgets (line, sizeof line, file) == NULL)
    line[0] = '\0';
  fclose (file);
  /* The first number is the size of the address space. */
  g_ascii_strtoull (line, &resident, 10);
  return g_ascii_strtoull (resident, NULL, 10) * (guint64) sysconf (_SC_PAGESIZE);
}

static guint64
get_processor_ns (void)
{
  struct timespec used = { 0 };
  clock_gettime (CLOCK_PROCESS_CPUTIME_ID, &used);
  return (guint64) used.tv_sec * 1000000000 + (guint64) used.tv_nsec;
}

/* Why irisd does not take all kinds of items; NULL if it does. */
static char *
explain_not_ready (IrisdCore *core)
{
  if (irisd_core_get_phase (core) != IRISD_PHASE_SERVING)
    return g_strdup ("irisd is ending and takes no more items");
  if (core->journal != NULL && irisd_journal_get_health (core->journal) != IRISD_JOURNAL_READY)
    return g_strdup (irisd_journal_get_reason (core->journal));
  return NULL;
}

/* Sums over the gateways. */
typedef struct
{
  guint64 accepted;
  guint64 ended;
  guint64 delayed;
  guint64 suspended;
  guint64 orphans;
  guint64 unacked;
} Items;

static Items
sum_items (IrisdCore *core)
{
  Items sum = { 0 };
  for (guint i = 0; i < core->n_gateways; i++)
    {
      const IrisdItemCounters *counters = &core->gateways[i]->items.counters;
      sum.ended += load (&counters->ended);
      sum.accepted += load (&counters->accepted);
      sum.delayed += load (&counters->delayed) + load (&counters->spilled_delayed);
      sum.suspended += load (&counters->suspended);
      sum.orphans += load (&counters->orphans);
      sum.unacked += load (&counters->unacked);
    }
  return sum;
}

/* Of items that have ended irisd has those whose end the journal keeps. */
static void
fill_states (IrisdCore *core, const Items *items, guint64 leased, IrisWireDaemonStatistics *out)
{
  guint64 *states = g_new0 (guint64, N_STATES);
  const guint64 running = irisd_core_count_running (core) + out->commands_running;
  const guint64 held = leased + running + items->delayed + items->suspended;
  states[IRIS_WIRE_STATE_QUEUED] = less (out->in_flight, held);
  states[IRIS_WIRE_STATE_RUNNING] = running;
  states[IRIS_WIRE_STATE_LEASED] = leased;
  states[IRIS_WIRE_STATE_DELAYED] = items->delayed;
  states[IRIS_WIRE_STATE_SUSPENDED] = items->suspended;
  if (core->journal != NULL)
    {
      const IrisdJournalCounters *journal = irisd_journal_get_counters (core->journal);
      const guint64 failed = load (&journal->failed), cancelled = load (&journal->cancelled);
      states[IRIS_WIRE_STATE_BURIED] = load (&journal->buried);
      states[IRIS_WIRE_STATE_FAILED] = failed;
      states[IRIS_WIRE_STATE_CANCELLED] = cancelled;
      states[IRIS_WIRE_STATE_DONE] = less (irisd_journal_get_n_persistent_ended (core->journal),
                                           failed + cancelled);
    }
  out->n_states = N_STATES;
  out->states = states;
}

static void
fill_outcomes (IrisdCore *core, IrisWireDaemonStatistics *out)
{
  out->n_outcomes = IRISD_N_CLASSES;
  out->outcomes = g_new0 (IrisWireOutcomeStatistics, IRISD_N_CLASSES);
  for (guint klass = 0; klass < IRISD_N_CLASSES; klass++)
    {
      IrisWireOutcomeStatistics *sum = &out->outcomes[klass];
      sum->klass = klass;
      for (guint i = 0; i < core->n_gateways; i++)
        {
          _Atomic guint64 *outcomes = core->gateways[i]->items.counters.outcomes[klass];
          sum->done += load (&outcomes[IRISD_OUTCOME_DONE]);
          sum->failed += load (&outcomes[IRISD_OUTCOME_FAILED]);
          sum->cancelled += load (&outcomes[IRISD_OUTCOME_CANCELLED]);
          sum->expired += load (&outcomes[IRISD_OUTCOME_EXPIRED]);
          sum->buried += load (&outcomes[IRISD_OUTCOME_BURIED]);
        }
    }
}

static void
fill_connections (IrisdCore *core, IrisWireDaemonStatistics *out)
{
  for (guint i = 0; i < core->n_gateways; i++)
    {
      const IrisdGatewayCounters *counters = &core->gateways[i]->counters;
      out->connections += load (&counters->peers);
      out->malformed += load (&counters->malformed);
      for (guint limit = 0; limit < IRISD_N_BUSY_LIMITS; limit++)
        out->busy += load (&counters->busy[limit]);
    }
  out->strangers = irisd_pending_connections_get_count (core->pending_connections);
  out->credits = out->connections * irisd_core_get_settings (core)->limits.in_flight_items;
  out->byte_credits = out->connections * irisd_core_get_settings (core)->limits.in_flight_bytes;
}

static void
fill_daemon (Answer *self)
{
  IrisdCore *core = self->core;
  IrisWireDaemonStatistics *out = g_new0 (IrisWireDaemonStatistics, 1);
  const Items items = sum_items (core);
  self->out->n_daemon = 1;
  self->out->daemon = out;
  out->version = g_strdup (IRISD_VERSION);
  out->scheduler = g_strdup (irisd_config_scheduler_name (core->config->scheduler));
  out->pid = (guint32) getpid ();
  out->uptime_ms = (guint64) (g_get_monotonic_time () - core->started_us) / 1000;
  out->started_ms = core->started_ms;
  out->draining = irisd_core_get_phase (core) != IRISD_PHASE_SERVING;
  out->not_ready = explain_not_ready (core);
  out->ready = out->not_ready == NULL;
  fill_connections (core, out);
  out->accepted = items.accepted;
  out->in_flight = less (items.accepted, items.ended);
  out->held_back = irisd_concurrency_limit_get_n_waiting (&core->concurrency_limit);
  out->spilled = load (&core->persistent_spilled);
  out->credits_used = less (out->in_flight, items.orphans + out->spilled) + items.unacked;
  out->byte_credits_used = out->payload_bytes = irisd_core_get_bytes (core);
  irisd_command_runner_count (core->commands, &out->commands_running, &out->commands_started);
  out->memory_bytes = get_memory ();
  out->cpu_ns = get_processor_ns ();
  fill_states (core, &items, irisd_worker_processes_count_leased (core->worker_processes, NULL),
               out);
  fill_outcomes (core, out);
}

/* --- places and steals ------------------------------------------------------------------------ */

static void
fill_runs (IrisdCore *core, guint id, IrisWirePlaceStatistics *out)
{
  IrisdHistogramSum delays = { 0 }, runs = { 0 };
  for (guint i = 0; i < core->n_gateways; i++)
    {
      const IrisdRunCounters *counters = &core->gateways[i]->items.counters.runs[id];
      irisd_histogram_read (&counters->delays, &delays);
      irisd_histogram_read (&counters->runs, &runs);
      out->failed += load (&counters->failed);
    }
  out->n_queue_delay = out->n_run_time = IRIS_WIRE_N_BUCKETS;
  out->queue_delay = copy_histogram (&delays);
  out->queue_delay_ns = delays.sum_ns;
  out->run_time = copy_histogram (&runs);
  out->run_time_ns = runs.sum_ns;
}

/* The scheduler's part; nothing without places of its own. */
static void
fill_scheduling (Answer *self, guint id, IrisWirePlaceStatistics *out)
{
  const IrisStats *stats = self->scheduler;
  const IrisdPlaceCounters *moved = &self->core->counters[id];
  out->n_steals_refused = 4;
  out->steals_refused = g_new0 (guint64, out->n_steals_refused);
  if (!self->core->placed || id >= stats->n_places)
    return;
  const IrisCounters *place = &stats->places[id];
  out->stolen_in = place->stolen_in + load (&moved->moved_in);
  out->stolen_out = place->stolen_out + load (&moved->moved_out);
  out->steals_tried = place->steal_tries;
  out->steals_made = place->steals;
  out->steals_refused[0] = place->refused_backlog;
  out->steals_refused[1] = place->refused_size;
  out->steals_refused[2] = place->refused_distance;
  out->steals_refused[3] = place->refused_apart;
  out->steals_lapsed = place->refusals_lapsed;
  out->parks = place->parks;
  out->wakes = place->wakes;
}

static void
fill_place (Answer *self, guint id, IrisWirePlaceStatistics *out)
{
  IrisdCore *core = self->core;
  const IrisdPlaceCounters *counters = &core->counters[id];
  const IrisPlace *place = core->infos[id].place;
  out->id = id;
  out->name = g_strdup (core->infos[id].name);
  out->cpus = g_strdup (iris_place_get_cpus (place));
  out->package = iris_place_get_unit (place, IRIS_LEVEL_PACKAGE);
  out->numa_node = iris_place_get_unit (place, IRIS_LEVEL_NUMA);
  out->l3 = iris_place_get_unit (place, IRIS_LEVEL_L3);
  out->l2 = iris_place_get_unit (place, IRIS_LEVEL_L2);
  out->core = iris_place_get_unit (place, IRIS_LEVEL_CORE);
  out->workers = iris_place_get_n_workers (place);
  out->active = irisd_place_control_get_workers (core->place_control, (gint) id);
  out->drained = irisd_place_control_is_drained (core->place_control, (gint) id);
  out->hinted = load (&counters->hinted);
  out->executed = load (&counters->executed);
  out->bytes = load (&counters->bytes);
  out->busy_ns = irisd_place_requests_get_busy_ns (core, id, self->scheduler);
  out->backlog = irisd_place_requests_get_backlog (core, id);
  fill_scheduling (self, id, out);
  fill_runs (core, id, out);
}

static void
fill_places (Answer *self)
{
  self->out->n_places = self->core->n_places;
  self->out->places = g_new0 (IrisWirePlaceStatistics, self->core->n_places);
  for (guint id = 0; id < self->core->n_places; id++)
    fill_place (self, id, &self->out->places[id]);
}

static void
fill_steals_of (Answer *self, guint id, IrisWireStealStatistics *out)
{
  IrisdCore *core = self->core;
  const guint n = core->n_places;
  out->place = id;
  out->n_distances = out->n_steals = out->n_items = n;
  out->distances = g_new (guint32, n);
  out->steals = g_new0 (guint64, n);
  out->items = g_new0 (guint64, n);
  for (guint from = 0; from < n; from++)
    {
      out->distances[from] = iris_places_get_distance (core->places, id, from);
      if (!core->placed || self->scheduler->n_places != n)
        continue;
      const IrisSteals *steals = iris_stats_get_steals (self->scheduler, id, from);
      out->steals[from] = steals->steals;
      out->items[from] = steals->items;
    }
}

static void
fill_steals (Answer *self)
{
  self->out->n_steals = self->core->n_places;
  self->out->steals = g_new0 (IrisWireStealStatistics, self->core->n_places);
  for (guint id = 0; id < self->core->n_places; id++)
    fill_steals_of (self, id, &self->out->steals[id]);
}

/* --- services --------------------------------------------------------------------------------- */

/* Adds what all gateways counted at @slot. */
static void
add_service (IrisdCore *core, guint slot, IrisWireServiceStatistics *out)
{
  guint64 accepted = 0, ended = 0;
  for (guint i = 0; i < core->n_gateways; i++)
    {
      const IrisdServiceCounters *counters = irisd_item_counters_get_service (
          &core->gateways[i]->items.counters, slot);
      if (counters == NULL)
        continue;
      for (guint j = 0; j < IRISD_N_OUTCOMES; j++)
        ended += load (&counters->outcomes[j]);
      accepted += load (&counters->accepted);
      out->done += load (&counters->outcomes[IRISD_OUTCOME_DONE]);
      out->failed += load (&counters->outcomes[IRISD_OUTCOME_FAILED]);
      out->cancelled += load (&counters->outcomes[IRISD_OUTCOME_CANCELLED]);
      out->expired += load (&counters->outcomes[IRISD_OUTCOME_EXPIRED]);
      out->buried += load (&counters->outcomes[IRISD_OUTCOME_BURIED]);
      out->retried += load (&counters->retried);
      out->run_ns += load (&counters->run_ns);
      out->queue_ns += load (&counters->queue_ns);
    }
  out->waiting += less (accepted, ended);
}

/* Returns a set of the names that the caller may know; NULL for all. */
static GHashTable *
collect_known_names (Answer *self)
{
  if (irisd_peer_get_view (self->caller->peer, IRIS_WIRE_LIST) == IRISD_VIEW_ALL)
    return NULL;
  GHashTable *names = g_hash_table_new_full (g_str_hash, g_str_equal, g_free, NULL);
  g_autoptr (IrisWireServices) list = irisd_services_describe (self->core->services);
  irisd_worker_processes_add_services (self->core->worker_processes, self->space, list);
  for (guint i = 0; i < list->n_services; i++)
    g_hash_table_add (names, g_strdup (list->services[i].name));
  return names;
}

/* The first is `other`. */
static void
fill_services (Answer *self)
{
  IrisdNameSlots *slots = &self->core->service_names;
  const guint n_slots = irisd_name_slots_get_count (slots);
  GHashTable *known = collect_known_names (self);
  g_autoptr (GHashTable) leased = g_hash_table_new_full (g_str_hash, g_str_equal, g_free, NULL);
  IrisWireServiceStatistics *services = g_new0 (IrisWireServiceStatistics, n_slots);
  guint n = 1;
  irisd_worker_processes_count_leased (self->core->worker_processes, leased);
  services[0].name = g_strdup ("other");
  add_service (self->core, IRISD_OTHER_SLOT, &services[0]);
  for (guint slot = 1; slot < n_slots; slot++)
    {
      const char *name = irisd_name_slots_get_name (slots, slot);
      const gboolean named = n < self->core->wire_limits.max_entries
                             && (known == NULL || g_hash_table_contains (known, name));
      IrisWireServiceStatistics *service = &services[named ? n++ : 0];
      if (named)
        service->name = g_strdup (name);
      add_service (self->core, slot, service);
      const guint n_leased = GPOINTER_TO_UINT (g_hash_table_lookup (leased, name));
      service->leased += n_leased;
      service->waiting = less (service->waiting, n_leased);
    }
  self->out->n_services = n;
  self->out->services = services;
  g_clear_pointer (&known, g_hash_table_unref);
}

/* --- limits ----------------------------------------------------------------------------------- */

/* How much of a limit of irisd as a whole is used. Returns FALSE for limits of one connection or
 * item, and for those that nothing uses up. */
static gboolean
get_used (IrisdCore *core, const char *name, guint64 *used)
{
  *used = 0;
  if (g_str_equal (name, "total-items"))
    *used = irisd_core_get_volatile (core);
  else if (g_str_equal (name, "total-bytes"))
    *used = irisd_core_get_bytes (core);
  else if (g_str_equal (name, "persistent-items") && core->journal != NULL)
    *used = irisd_journal_get_n_taken (core->journal);
  else if (g_str_equal (name, "max-pending-connections"))
    *used = irisd_pending_connections_get_count (core->pending_connections);
  else if (g_str_equal (name, "max-peers"))
    for (guint i = 0; i < core->n_gateways; i++)
      *used = MAX (*used, load (&core->gateways[i]->counters.peers));
  else
    return FALSE;
  return TRUE;
}

static guint64
sum_busy (IrisdCore *core, const char *name)
{
  const guint limit = irisd_busy_limit_find (name);
  guint64 sum = 0;
  if (!g_str_equal (irisd_busy_limit_get_name (limit), name))
    return 0;
  for (guint i = 0; i < core->n_gateways; i++)
    sum += load (&core->gateways[i]->counters.busy[limit]);
  return sum;
}

/* @of: which of the rule's limits; @services: those of services, not of clients. */
static void
fill_users (Answer *self, gboolean services, IrisdFairMeasure of, IrisWireLimitStatistics *out)
{
  IrisdFairUser users[MOST_USERS];
  guint n = irisd_fair_rules_get_users (&self->core->rules, services, of, users, MOST_USERS);
  const gboolean named = irisd_peer_get_view (self->caller->peer, IRIS_WIRE_LIST) == IRISD_VIEW_ALL;
  out->counted = TRUE;
  out->used = n > 0 ? users[0].used : 0;
  out->n_users = named ? n : 0;
  out->users = g_new0 (IrisWireLimitUser, out->n_users);
  for (guint i = 0; i < n; i++)
    if (named)
      out->users[i] = (IrisWireLimitUser){ users[i].name, users[i].used, users[i].value };
    else
      g_free (users[i].name);
}

/* The limits of the groups [client] and [service NAME]; `used` is that of the user nearest to
 * it. */
static guint
fill_fair_limits (Answer *self, IrisWireLimitStatistics *out)
{
  static const char *const measures[IRISD_N_FAIR_MEASURES] = { "items", "bytes" };
  const IrisdFairRule *client = &irisd_core_get_settings (self->core)->client_rule;
  const guint64 values[IRISD_N_FAIR_MEASURES] = { client->items, client->bytes };
  guint n = 0;
  for (guint services = 0; services < 2; services++)
    {
      const char *whose = services ? "service" : "client";
      for (guint of = 0; of < IRISD_N_FAIR_MEASURES; of++)
        {
          IrisWireLimitStatistics *limit = &out[n++];
          limit->name = g_strdup_printf ("%s-%s", whose, measures[of]);
          limit->value = services ? 0 : values[of];
          fill_users (self, services, of, limit);
        }
      IrisWireLimitStatistics *rate = &out[n++];
      rate->name = g_strdup_printf ("%s-rate", whose);
      rate->value = services ? 0 : client->rate;
    }
  return n;
}

static void
fill_limits (Answer *self)
{
  IrisdCore *core = self->core;
  guint n_rows, n = 0;
  const IrisdLimitInfo *rows = irisd_limits_get_table (&n_rows);
  IrisWireLimitStatistics *limits = g_new0 (IrisWireLimitStatistics, n_rows + 6);
  for (; n < n_rows; n++)
    {
      limits[n].name = g_strdup (rows[n].name);
      limits[n].value = irisd_limits_get (&irisd_core_get_settings (core)->limits, &rows[n]);
      limits[n].counted = get_used (core, rows[n].name, &limits[n].used);
    }
  n += fill_fair_limits (self, &limits[n]);
  for (guint i = 0; i < n; i++)
    limits[i].busy = sum_busy (core, limits[i].name);
  self->out->n_limits = n;
  self->out->limits = limits;
}

/* --- the journal and worker processes -----------------------------------------------------------
 */

static void
fill_journal (Answer *self)
{
  static const char *const names[] = {
    [IRISD_JOURNAL_READY] = "ready",
    [IRISD_JOURNAL_FULL] = "full",
    [IRISD_JOURNAL_FAILED] = "failed",
  };
  IrisdJournal *journal = self->core->journal;
  IrisWireJournalStatistics *out = g_new0 (IrisWireJournalStatistics, 1);
  IrisdHistogramSum times = { 0 };
  self->out->n_journal = 1;
  self->out->journal = out;
  out->n_sync_time = IRIS_WIRE_N_BUCKETS;
  if (journal == NULL)
    {
      out->state = g_strdup ("none");
      out->sync_time = copy_histogram (&times);
      return;
    }
  const IrisdJournalCounters *counters = irisd_journal_get_counters (journal);
  const IrisdJournalHealth health = irisd_journal_get_health (journal);
  out->state = g_strdup (names[health]);
  if (health != IRISD_JOURNAL_READY)
    out->reason = g_strdup (irisd_journal_get_reason (journal));
  out->items = irisd_journal_get_n_persistent (journal);
  out->ended = irisd_journal_get_n_persistent_ended (journal);
  out->damaged = irisd_journal_get_n_damaged (journal);
  irisd_histogram_read (&counters->sync_times, &times);
  out->syncs = load (&counters->syncs);
  out->sync_time = copy_histogram (&times);
  out->sync_time_ns = times.sum_ns;
  out->rows = load (&counters->rows);
  out->bytes = load (&counters->bytes);
  out->file_bytes = load (&counters->file_bytes);
  out->log_bytes = load (&counters->log_bytes);
  out->free_bytes = load (&counters->free_bytes);
}

static void
fill_process (const IrisWireWorker *worker, IrisWireProcessStatistics *out)
{
  out->name = g_strdup (worker->name);
  out->services = g_new0 (char *, worker->n_services + 1);
  for (guint i = 0; i < worker->n_services; i++)
    out->services[i] = g_strdup (worker->services[i].name);
  out->n_places = worker->n_places;
  out->places = g_memdup2 (worker->places, worker->n_places * sizeof *worker->places);
  out->capacity = worker->capacity;
  out->leases = worker->leased;
  out->done = worker->done;
  out->failed = worker->failed;
  out->lapsed = worker->lost;
  out->silent_ms = worker->silent_ms;
}

/* Those that WORKERS would tell. */
static void
fill_processes (Answer *self)
{
  const gint64 view = irisd_peer_get_view (self->caller->peer, IRIS_WIRE_WORKERS);
  g_autoptr (IrisWireWorkers)
      list = irisd_worker_processes_describe_workers (self->core->worker_processes, view);
  /* A list that is longer than a reply may be is cut, and the sums stay. */
  const guint n = MIN (list->n_workers, self->core->wire_limits.max_entries);
  self->out->n_processes = n;
  self->out->processes = g_new0 (IrisWireProcessStatistics, n);
  for (guint i = 0; i < n; i++)
    fill_process (&list->workers[i], &self->out->processes[i]);
}

static void
fill_cluster (Answer *self)
{
  irisd_cluster_requests_fill_statistics (self->core, self->out);
}

static void
fill_sections (Answer *self, guint32 sections)
{
  static const struct
  {
    IrisWireSection section;
    void (*fill) (Answer *self);
  } all[] = {
    { IRIS_WIRE_SECTION_DAEMON, fill_daemon },       { IRIS_WIRE_SECTION_PLACES, fill_places },
    { IRIS_WIRE_SECTION_STEALS, fill_steals },       { IRIS_WIRE_SECTION_SERVICES, fill_services },
    { IRIS_WIRE_SECTION_LIMITS, fill_limits },       { IRIS_WIRE_SECTION_JOURNAL, fill_journal },
    { IRIS_WIRE_SECTION_PROCESSES, fill_processes }, { IRIS_WIRE_SECTION_CLUSTER, fill_cluster },
  };
  for (guint i = 0; i < G_N_ELEMENTS (all); i++)
    if ((sections & all[i].section) != 0)
      {
        self->out->sections |= all[i].section;
        all[i].fill (self);
      }
}

/* Without `sections` the caller wants all of them. */
void
irisd_statistics_requests_answer (IrisdGateway *self,
                                  const IrisdCaller *caller,
                                  const IrisWireMessage *request)
{
  g_autoptr (GError) error = NULL;
  g_autoptr (IrisStats) scheduler = iris_scheduler_get_stats (self->core->scheduler);
  g_autoptr (IrisWireStatistics) statistics = iris_wire_statistics_new (0);
  Answer answer = {
    .core = self->core,
    .caller = caller,
    .space = irisd_items_get_space (&self->items, caller->peer->owner),
    .scheduler = scheduler,
    .out = statistics,
  };
  fill_sections (&answer, iris_wire_message_has (request, IRIS_WIRE_KEY_SECTIONS)
                              ? request->sections
                              : IRIS_WIRE_ALL_SECTIONS);
  g_autoptr (GBytes)
      body = iris_wire_statistics_encode (statistics, &self->core->wire_limits, &error);
  IrisWireMessage reply;
  iris_wire_message_init (&reply, IRIS_WIRE_STATISTICS_REPLY, request->request_id);
  irisd_send_answer_bytes (self, caller, &reply, body, error);
}
