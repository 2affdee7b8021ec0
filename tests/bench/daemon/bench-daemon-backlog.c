/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * A million items that wait for their time, or in a queue behind busy workers: what one of them
 * costs in irisd's memory, and how long irisd needs to find all of them again when it was killed.
 */
#include "tests/bench/daemon/bench-daemon.h"
#include "tests/bench/workloads/bench-workload.h"

#define ITEMS   1000000
#define SIZE    100
#define HOUR_MS 3600000

typedef struct
{
  BenchOptions options;
  BenchLoad load;
} Trial;

static gboolean
check_persistent (BenchServer *server, guint items, GError **error)
{
  g_autoptr (BenchClient) client = bench_client_new (server->endpoint, error);
  guint64 n = 0;

  if (client == NULL || !bench_client_count_persistent (client, &n, error))
    return FALSE;
  if (n == items)
    return TRUE;
  g_set_error (error, BENCH_ERROR, BENCH_ERROR_RESULT,
               "irisd has %" G_GUINT64_FORMAT " of %u items", n, items);

  return FALSE;
}

static gboolean
fill (const Trial *self, BenchServer *server, gdouble *bytes, GError **error)
{
  g_autoptr (BenchClient) client = bench_client_new (server->endpoint, error);
  gdouble before = 0, after = 0;

  if (client == NULL || !bench_server_get_resident (server, &before, error)
      || !bench_client_run (client, &self->load, error)
      || !check_persistent (server, self->load.items, error)
      || !bench_server_get_resident (server, &after, error))
    return FALSE;
  *bytes = (after - before) / self->load.items - (gdouble) self->load.size;

  return TRUE;
}

static gboolean
run_backlog (const BenchRun *run, gdouble *samples, GError **error)
{
  const Trial *self = run->load;
  BenchServer *server = bench_server_start (BENCH_SERVER_IRISD_DEEP, &self->options, error);
  gboolean good = server != NULL && fill (self, server, &samples[0], error)
                  && bench_server_kill_and_restart (server, &self->options, &samples[1], error)
                  && check_persistent (server, self->load.items, error);

  g_clear_pointer (&server, bench_server_free);

  return good;
}

/* Commands that last: the first ones occupy all that there is, and the others wait for them. */
static const char *const lasting[] = { "sleep", "3600", NULL };

static void
add_load (BenchResult *result,
          const BenchOptions *options,
          guint items,
          gboolean queued,
          const char *memory_name,
          const char *recovery_name)
{
  const Trial trial = { .options = *options,
                        .load = { .service = queued ? "command" : "echo",
                                  .args = queued ? lasting : NULL,
                                  .klass = IRIS_WIRE_CLASS_DURABLE,
                                  .delay_ms = queued ? 0 : HOUR_MS,
                                  .detach = TRUE,
                                  .size = SIZE,
                                  .items = items,
                                  .window = 1024,
                                  .batch = 256 } };
  BenchCase what = { .load = memory_name,
                     .second = recovery_name,
                     .n_items = items,
                     .unit = BENCH_BYTES,
                     .relation = BENCH_NOT_COMPARED,
                     .run = run_backlog,
                     .data = &trial,
                     .size = sizeof trial };
  BenchSeries *memory = bench_result_add (result, &what, "irisd", BENCH_IRIS, NULL);

  memory->n_items = 0;
  memory->show = BENCH_SHOW_SAMPLE;
}

static gboolean
plan (BenchResult *result, const BenchOptions *options, GError **error)
{
  guint items = bench_choose (options, options->items, ITEMS, 16);

  bench_result_set_title (result, "%u items of %u bytes wait in irisd", items, SIZE);
  if (!bench_is_wanted (options, "backlog", BENCH_IRIS))
    return TRUE;
  bench_tidy_begin ();
  add_load (result, options, items, FALSE, "memory above the payload", "start after a kill");
  add_load (result, options, items, TRUE, "the same, behind busy workers", "start with those");

  return TRUE;
}

const BenchWorkload bench_workload_backlog = {
  .name = "backlog",
  .summary = "a million items that wait in irisd, and are found again",
  .suite = BENCH_SUITE_DAEMON,
  .max_rounds = 3, /* a round takes long, and memory varies little */
  .plan = plan,
  .check = bench_daemon_check,
};
