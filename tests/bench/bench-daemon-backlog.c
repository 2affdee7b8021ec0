/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * A million items that wait for their time, or in a queue behind busy workers: what one of them
 * costs in irisd's memory, and how long irisd needs to find all of them again when it was killed.
 */
#include "bench-contender.h"
#include "bench-daemon.h"
#include "bench-workloads.h"

#define ITEMS      1000000
#define SIZE       100
#define MAX_ROUNDS 3 /* a round takes long, and memory varies little */
#define HOUR_MS    3600000

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
fill (Trial *self, BenchServer *server, gdouble *bytes, GError **error)
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
trial_run (gpointer data, gdouble *samples, GError **error)
{
  Trial *self = data;
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
add_trial (BenchResult *result,
           const BenchOptions *options,
           guint items,
           gboolean queued,
           const char *memory_name,
           const char *recovery_name)
{
  Trial *trial = g_new0 (Trial, 1);
  BenchSeries *memory, *recovery;

  memory = bench_series_new (memory_name, "irisd", BENCH_IRIS, options->workers, 0);
  recovery = bench_series_new (recovery_name, "irisd", BENCH_IRIS, options->workers, items);
  memory->unit = BENCH_BYTES;
  memory->show = BENCH_SHOW_SAMPLE;
  trial->options = *options;
  trial->load = (BenchLoad){ .service = queued ? "command" : "echo",
                             .args = queued ? lasting : NULL,
                             .klass = IRIS_WIRE_CLASS_DURABLE,
                             .delay_ms = queued ? 0 : HOUR_MS,
                             .detach = TRUE,
                             .size = SIZE,
                             .items = items,
                             .window = 1024,
                             .batch = 256 };
  bench_result_add_series (result, memory);
  bench_result_add_series (result, recovery);
  bench_result_add_trial (result, trial_run, trial, g_free, memory, recovery);
}

BenchResult *
bench_backlog (const BenchOptions *options, GError **error)
{
  guint items = bench_choose (options, options->items, ITEMS, 16);
  g_autoptr (BenchResult) result = bench_result_new (
      "backlog", options, g_strdup_printf ("%u items of %u bytes wait in irisd", items, SIZE));

  result->rounds = MIN (result->rounds, MAX_ROUNDS);
  add_trial (result, options, items, FALSE, "memory above the payload", "start after a kill");
  add_trial (result, options, items, TRUE, "the same, behind busy workers", "start with those");

  return bench_result_measure (result, error) ? g_steal_pointer (&result) : NULL;
}
