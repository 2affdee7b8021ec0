/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * irisd beside other servers: life cycles of items, round trips, commands, and a flood.
 *
 * Every server runs for itself and is started when it is needed first. A sample is the time for a
 * thousand items, or that of one round trip in seconds, for every server and any number of
 * items: slow servers are sent fewer, so that all rows take about as long.
 */
#include "tests/bench/daemon/bench-daemon.h"
#include "tests/bench/workloads/bench-workload.h"

#include <spawn.h>
#include <stdatomic.h>
#include <sys/wait.h>
#include <unistd.h>

#define UNIT 1000 /* items */
#define MOST 8    /* clients of one trial */

static const char *const true_args[] = { "true", NULL };

/* What all trials of a result share. */
typedef struct
{
  BenchOptions options;
  BenchServer *servers[BENCH_N_SERVERS];
} Farm;

typedef struct _Trial Trial;

/* One line of the table of rows. */
typedef struct
{
  const char *row;
  const char *load;
  BenchServerKind server;
  gboolean (*run) (const Trial *self, gdouble *samples, GError **error);
  guint clients;
  BenchLoad each; /* of each client; what the row leaves out is zero */
} Row;

struct _Trial
{
  const Row *row;
  Farm *farm;
  BenchLoad load; /* scaled */
};

/* Clients that run at once, each in a thread. */
typedef struct
{
  const Trial *trial;
  BenchClient *clients[MOST];
  BenchStream *streams[MOST];
  BenchStream *workers[MOST];
  BenchGearmanWork work;
  GMutex lock;
  GError *error; /* the first one */
} Crowd;

/* --- servers ---------------------------------------------------------------------------------- */

static Farm *
farm_new (const BenchOptions *options)
{
  Farm *self = g_new0 (Farm, 1);

  self->options = *options;

  return self;
}

static void
farm_free (gpointer data)
{
  Farm *self = data;

  for (guint i = 0; i < BENCH_N_SERVERS; i++)
    g_clear_pointer (&self->servers[i], bench_server_free);
  g_free (self);
}

static const char *
find_server (Farm *self, BenchServerKind kind, GError **error)
{
  BenchServer **server = &self->servers[kind];

  if (*server == NULL)
    *server = bench_server_start (kind, &self->options, error);

  return *server != NULL ? (*server)->endpoint : NULL;
}

static const char *
find_endpoint (const Trial *self, GError **error)
{
  return find_server (self->farm, self->row->server, error);
}

/* --- clients at once -------------------------------------------------------------------------- */

static void
crowd_fail (Crowd *self, GError *error)
{
  g_mutex_lock (&self->lock);
  if (self->error == NULL)
    self->error = error;
  else
    g_error_free (error);
  g_mutex_unlock (&self->lock);
  atomic_store_explicit (&self->work.failed, TRUE, memory_order_relaxed);
}

static void
crowd_clear (Crowd *self)
{
  for (guint i = 0; i < MOST; i++)
    {
      g_clear_pointer (&self->clients[i], bench_client_free);
      g_clear_pointer (&self->streams[i], bench_stream_free);
      g_clear_pointer (&self->workers[i], bench_stream_free);
    }
  g_mutex_clear (&self->lock);
}

static gboolean
crowd_connect (Crowd *self, const Trial *trial, GError **error)
{
  const char *endpoint = find_endpoint (trial, error);
  BenchServerKind server = trial->row->server;

  self->trial = trial;
  g_mutex_init (&self->lock);
  if (endpoint == NULL)
    return FALSE;
  for (guint i = 0; i < trial->row->clients; i++)
    {
      if (server <= BENCH_SERVER_IRISD_DEEP)
        self->clients[i] = bench_client_new (endpoint, error);
      else
        self->streams[i] = bench_stream_new (endpoint, error);
      if (server == BENCH_SERVER_GEARMAND)
        self->workers[i] = bench_stream_new (endpoint, error);
      if (self->clients[i] == NULL && self->streams[i] == NULL)
        return FALSE;
      if (server == BENCH_SERVER_GEARMAND && self->workers[i] == NULL)
        return FALSE;
    }

  return TRUE;
}

static gboolean
crowd_end (Crowd *self, GError **error)
{
  gboolean good = self->error == NULL;

  if (!good)
    g_propagate_error (error, g_steal_pointer (&self->error));
  crowd_clear (self);

  return good;
}

static void
run_client (gpointer data, guint index)
{
  Crowd *self = data;
  GError *error = NULL;
  const BenchLoad *load = &self->trial->load;
  gboolean good;

  if (self->clients[index] != NULL)
    good = bench_client_run (self->clients[index], load, &error);
  else
    good = bench_beanstalk_run (self->streams[index], load, &error);
  if (!good)
    crowd_fail (self, error);
}

static gdouble
per_unit (gdouble ns, guint64 items)
{
  return ns / 1e9 * UNIT / (gdouble) items;
}

/* All clients run the load at once. */
static gboolean
run_crowd (const Trial *self, gdouble *samples, GError **error)
{
  Crowd crowd = { 0 };
  guint n = self->row->clients;

  if (crowd_connect (&crowd, self, &crowd.error))
    {
      gint64 begin = bench_threads_run (n, run_client, &crowd);

      samples[0] = per_unit ((gdouble) (bench_now () - begin), (guint64) n * self->load.items);
    }

  return crowd_end (&crowd, error);
}

/* The same, while irisd is watched. */
static gboolean
run_watched (const Trial *self, gdouble *samples, GError **error)
{
  const char *endpoint = find_endpoint (self, error);
  BenchWatch *watch = endpoint != NULL ? bench_watch_start (endpoint, error) : NULL;
  gboolean good = watch != NULL && run_crowd (self, samples, error);

  return watch != NULL && bench_watch_stop (watch, good ? error : NULL) && good;
}

/* --- gearmand --------------------------------------------------------------------------------- */

static void
run_gearman_thread (gpointer data, guint index)
{
  Crowd *self = data;
  guint n = self->trial->row->clients;
  GError *error = NULL;

  if (index < n
          ? !bench_gearman_submit (self->streams[index], &self->trial->load, &error)
          : !bench_gearman_work (self->workers[index - n], &self->work, &self->trial->load, &error))
    crowd_fail (self, error);
}

/* As many workers as clients; until the last job is done. */
static gboolean
run_gearman (const Trial *self, gdouble *samples, GError **error)
{
  Crowd crowd = { .work.jobs = (guint64) self->row->clients * self->load.items };

  if (crowd_connect (&crowd, self, &crowd.error))
    {
      gint64 begin = bench_threads_run (2 * self->row->clients, run_gearman_thread, &crowd);

      samples[0] = per_unit ((gdouble) (crowd.work.end_ns - begin), crowd.work.jobs);
    }

  return crowd_end (&crowd, error);
}

/* --- round trips ------------------------------------------------------------------------------ */

static gboolean
time_round_trips (BenchClient *client, const BenchLoad *load, GArray *times, GError **error)
{
  for (guint i = 0; i < load->items; i++)
    {
      gint64 begin = bench_now ();
      gdouble seconds;

      if (!bench_client_round_trip (client, load, error))
        return FALSE;
      seconds = bench_seconds_since (begin);
      g_array_append_val (times, seconds);
    }

  return TRUE;
}

static gboolean
time_bare (BenchBare *bare, const BenchLoad *load, GArray *times, GError **error)
{
  for (guint i = 0; i < load->items; i++)
    {
      gint64 begin = bench_now ();
      gdouble seconds;

      if (!bench_bare_round_trip (bare, load->size, error))
        return FALSE;
      seconds = bench_seconds_since (begin);
      g_array_append_val (times, seconds);
    }

  return TRUE;
}

/* Median and 99th percentile. */
static void
tell_times (GArray *times, gdouble *samples)
{
  samples[0] = bench_quantile (times, 0.5);
  samples[1] = bench_quantile (times, 0.99);
}

static gboolean
run_round_trips (const Trial *self, gdouble *samples, GError **error)
{
  g_autoptr (GArray) times = g_array_new (FALSE, FALSE, sizeof (gdouble));
  const char *endpoint = find_endpoint (self, error);
  gboolean good = FALSE;

  if (endpoint == NULL)
    return FALSE;
  if (self->row->server == BENCH_SERVER_ZEROMQ)
    {
      g_autoptr (BenchBare) bare = bench_bare_new (endpoint, error);

      good = bare != NULL && time_bare (bare, &self->load, times, error);
    }
  else
    {
      g_autoptr (BenchClient) client = bench_client_new (endpoint, error);

      good = client != NULL && time_round_trips (client, &self->load, times, error);
    }
  if (good)
    tell_times (times, samples);

  return good;
}

/* --- a flood ---------------------------------------------------------------------------------- */

/* The 99th percentile of one client's round trips: alone, and while another one floods irisd, or
 * has commands that sleep. The same of the bare echo, without a flood, tells what is the
 * machine's part in that. */
static gboolean
run_beside (const Trial *self, const char *what, gdouble *samples, GError **error)
{
  const char *endpoint = find_server (self->farm, BENCH_SERVER_IRISD, error);
  gdouble both[2] = { 0 };
  GSubprocess *child;
  gboolean good;

  if (endpoint == NULL || !run_round_trips (self, both, error))
    return FALSE;
  samples[1] = both[1];
  child = bench_flood_start (what, endpoint, self->load.batch, error);
  if (child == NULL)
    return FALSE;
  good = run_round_trips (self, both, error);
  samples[0] = both[1];

  return bench_flood_stop (child, good ? error : NULL) && good;
}

static gboolean
run_flood (const Trial *self, gdouble *samples, GError **error)
{
  return run_beside (self, "flood", samples, error);
}

static gboolean
run_sleepers (const Trial *self, gdouble *samples, GError **error)
{
  return run_beside (self, "sleepers", samples, error);
}

/* --- programs --------------------------------------------------------------------------------- */

static gboolean
run_spawn_loop (const Trial *self, gdouble *samples, GError **error)
{
  gint64 begin = bench_now ();

  for (guint i = 0; i < self->load.items; i++)
    {
      pid_t pid;
      int status;

      if (posix_spawnp (&pid, "true", NULL, NULL, (char *const *) true_args, environ) == 0
          && waitpid (pid, &status, 0) == pid && status == 0)
        continue;
      g_set_error_literal (error, BENCH_ERROR, BENCH_ERROR_MACHINE, "“true” cannot be run");
      return FALSE;
    }
  samples[0] = per_unit ((gdouble) (bench_now () - begin), self->load.items);

  return TRUE;
}

/* --- the table -------------------------------------------------------------------------------- */

#define ECHO(class, bytes, n, ahead, together)                                      \
  {                                                                                 \
    .service = "echo", .klass = IRIS_WIRE_CLASS_##class, .size = bytes, .items = n, \
    .window = ahead, .batch = together                                              \
  }
#define PLAIN BENCH_N_SERVERS

static const Row rows[] = {
  { "durable", "durable, 1 client", BENCH_SERVER_IRISD, run_crowd, 1,
    ECHO (DURABLE, 100, 400, 1, 1) },
  { "durable", "durable, 1 client", BENCH_SERVER_BEANSTALKD_SYNC, run_crowd, 1,
    ECHO (VOLATILE, 100, 800, 1, 1) },
  { "durable", "durable, 8 clients", BENCH_SERVER_IRISD, run_crowd, 8,
    ECHO (DURABLE, 100, 200, 1, 1) },
  { "durable", "durable, 8 clients", BENCH_SERVER_BEANSTALKD_SYNC, run_crowd, 8,
    ECHO (VOLATILE, 100, 150, 1, 1) },
  { "durable", "durable, pipelined", BENCH_SERVER_IRISD, run_crowd, 4,
    ECHO (DURABLE, 100, 8000, 1024, 256) },
  { "durable", "durable, pipelined", BENCH_SERVER_BEANSTALKD_SYNC, run_crowd, 4,
    ECHO (VOLATILE, 100, 400, 100, 1) },
  { "slow-disk", "durable, slow disk", BENCH_SERVER_IRISD_SLOW, run_crowd, 4,
    ECHO (DURABLE, 100, 4096, 1024, 256) },
  { "slow-disk", "durable, slow disk", BENCH_SERVER_BEANSTALKD_SLOW, run_crowd, 4,
    ECHO (VOLATILE, 100, 10, 100, 1) },
  { "relaxed", "relaxed, pipelined", BENCH_SERVER_IRISD, run_crowd, 4,
    ECHO (RELAXED, 100, 8000, 1024, 256) },
  { "relaxed", "relaxed, pipelined", BENCH_SERVER_BEANSTALKD, run_crowd, 4,
    ECHO (VOLATILE, 100, 3000, 100, 1) },
  { "echo", "echo", BENCH_SERVER_IRISD, run_round_trips, 1, ECHO (VOLATILE, 64, 3000, 1, 1) },
  { "echo", "echo", BENCH_SERVER_ZEROMQ, run_round_trips, 1, ECHO (VOLATILE, 64, 3000, 1, 1) },
  { "volatile", "volatile, 4 clients", BENCH_SERVER_IRISD, run_crowd, 4,
    ECHO (VOLATILE, 100, 25000, 1024, 256) },
  { "volatile", "volatile, 4 clients", BENCH_SERVER_GEARMAND, run_gearman, 4,
    ECHO (VOLATILE, 100, 1000, 100, 1) },
  { "volatile", "volatile, 4 clients", BENCH_SERVER_BEANSTALKD_MEMORY, run_crowd, 4,
    ECHO (VOLATILE, 100, 3000, 100, 1) },
  { "watched", "volatile, watched", BENCH_SERVER_IRISD, run_crowd, 4,
    ECHO (VOLATILE, 100, 250000, 1024, 256) },
  { "watched", "volatile, watched", BENCH_SERVER_IRISD_WATCHED, run_watched, 4,
    ECHO (VOLATILE, 100, 250000, 1024, 256) },
  { "tcp", "volatile over TCP, pipelined", BENCH_SERVER_IRISD_TCP, run_crowd, 4,
    ECHO (VOLATILE, 100, 25000, 1024, 256) },
  { "tcp", "volatile over TCP, pipelined", BENCH_SERVER_IRISD_CURVE, run_crowd, 4,
    ECHO (VOLATILE, 100, 25000, 1024, 256) },
  { "tcp", "volatile over TCP, no batches", BENCH_SERVER_IRISD_TCP, run_crowd, 4,
    ECHO (VOLATILE, 100, 10000, 1024, 1) },
  { "tcp", "volatile over TCP, no batches", BENCH_SERVER_IRISD_CURVE, run_crowd, 4,
    ECHO (VOLATILE, 100, 10000, 1024, 1) },
  { "command",
    "command",
    BENCH_SERVER_IRISD,
    run_crowd,
    1,
    { .service = "command", .args = true_args, .items = 400, .window = 16, .batch = 1 } },
  { "command", "command", PLAIN, run_spawn_loop, 1, { .items = 400 } },
  { "command",
    "command, one at a time",
    BENCH_SERVER_IRISD,
    run_crowd,
    1,
    { .service = "command", .args = true_args, .items = 400, .window = 1, .batch = 1 } },
  { "command", "command, one at a time", PLAIN, run_spawn_loop, 1, { .items = 400 } },
  { "flood", "flood", BENCH_SERVER_IRISD, run_flood, 1, ECHO (VOLATILE, 64, 2000, 1, 1) },
  { "flood", "flood", BENCH_SERVER_ZEROMQ, run_flood, 1, ECHO (VOLATILE, 64, 2000, 1, 1) },
  { "flood", "flood of batches", BENCH_SERVER_IRISD, run_flood, 1,
    ECHO (VOLATILE, 64, 2000, 1, 256) },
  { "flood", "flood of batches", BENCH_SERVER_ZEROMQ, run_flood, 1,
    ECHO (VOLATILE, 64, 2000, 1, 256) },
  { "sleepers", "30 sleeping commands", BENCH_SERVER_IRISD, run_sleepers, 1,
    ECHO (VOLATILE, 64, 2000, 1, 30) },
  { "sleepers", "1000 sleeping commands", BENCH_SERVER_IRISD, run_sleepers, 1,
    ECHO (VOLATILE, 64, 2000, 1, 1000) },
};

static gboolean
is_wanted (const Row *row, const BenchOptions *options)
{
  if (options->only != NULL && !g_strv_contains ((const char *const *) options->only, row->row))
    return FALSE;

  return options->peers || row->server <= BENCH_SERVER_IRISD_DEEP;
}

/* Reports an absent server once; the run goes on without it. */
static gboolean
is_there (const Row *row, const BenchOptions *options, gboolean *said)
{
  g_autofree char *why = NULL;

  if (row->server == PLAIN || bench_server_is_there (row->server, options, &why))
    return TRUE;
  if (!said[row->server])
    g_printerr ("iris-bench: %s: %s takes no part\n", why, bench_server_name (row->server));
  said[row->server] = TRUE;

  return FALSE;
}

static gboolean
run_row (const BenchRun *run, gdouble *samples, GError **error)
{
  const Trial *self = run->load;

  return self->row->run (self, samples, error);
}

/* The quiet series is compared with none, and the other one with it. */
static void
add_beside (BenchResult *result, BenchCase *what, const char *name, BenchKind kind)
{
  g_autofree char *load = g_strconcat (what->load, ", 99th percentile", NULL);
  g_autofree char *quiet = g_strconcat (name, ", quiet", NULL);
  BenchSeries *first = bench_result_add_series (
      result, bench_series_new (load, name, kind, result->workers, what->n_items));
  BenchSeries *second = bench_result_add_series (
      result, bench_series_new (load, quiet, kind, result->workers, what->n_items));
  BenchRun run = { .load = bench_result_own (result, g_memdup2 (what->data, what->size), g_free) };

  bench_series_compare (first, second, BENCH_FACTOR);
  bench_result_add_trial (result, what->run, &run, first, second);
}

static void
add_row (BenchResult *result, const Row *row, Farm *farm)
{
  const char *name = row->server == PLAIN ? "posix_spawn" : bench_server_name (row->server);
  BenchKind kind = row->server == PLAIN                     ? BENCH_PLAIN
                   : row->server <= BENCH_SERVER_IRISD_DEEP ? BENCH_IRIS
                                                            : BENCH_PEER;
  Trial trial = { row, farm, row->each };
  BenchCase what = {
    .load = row->load, .n_items = UNIT, .run = run_row, .data = &trial, .size = sizeof trial
  };

  trial.load.items = bench_choose (&farm->options, farm->options.items, row->each.items, 2);
  if (row->run == run_crowd || row->run == run_watched || row->run == run_gearman
      || row->run == run_spawn_loop)
    {
      bench_result_add (result, &what, name, kind, NULL);
      return;
    }
  what.n_items = 1;
  if (row->run == run_round_trips)
    {
      what.load = "echo, median";
      what.second = "echo, 99th percentile";
      bench_result_add (result, &what, name, kind, NULL);
    }
  else
    add_beside (result, &what, name, kind);
}

static gboolean
plan (BenchResult *result, const BenchOptions *options, GError **error)
{
  Farm *farm = bench_result_own (result, farm_new (options), farm_free);
  gboolean said[BENCH_N_SERVERS] = { FALSE };

  bench_result_set_title (result, "irisd and other servers; a thousand items, or a round trip");
  bench_tidy_begin ();
  for (guint i = 0; i < G_N_ELEMENTS (rows); i++)
    if (is_wanted (&rows[i], options) && is_there (&rows[i], options, said))
      add_row (result, &rows[i], farm);

  return TRUE;
}

gboolean
bench_daemon_check (const BenchOptions *options, GError **error)
{
  static const char *const names[] = { "durable",  "slow-disk", "relaxed", "echo",
                                       "volatile", "command",   "flood",   "sleepers",
                                       "backlog",  "tcp",       "watched", NULL };

  return bench_check_chosen (options, "daemon", names, error);
}

const BenchWorkload bench_workload_daemon = {
  .name = "daemon",
  .summary = "irisd beside beanstalkd, gearmand and bare ZeroMQ; and backlog",
  .suite = BENCH_SUITE_DAEMON,
  .plan = plan,
  .check = bench_daemon_check,
};
