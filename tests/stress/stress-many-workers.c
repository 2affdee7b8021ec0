/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * 4,096 workers on a machine that has a few processors: a synthetic topology of 64 places, unbound.
 * They start, run a million items, of which some are strict, and end.
 */
#include "core-test-util.h"

#include <stdio.h>
#include <string.h>

/* The sanitizers' bookkeeping is a multiple of what a thread itself needs. */
#if CORE_TEST_FACTOR > 1
#define TOPOLOGY  "pack:4 l3:4 core:4 pu:4"
#define N_WORKERS 256
#else
#define TOPOLOGY  "pack:16 l3:4 core:8 pu:8"
#define N_WORKERS 4096
#endif

#define N_ITEMS (1000000 / CORE_TEST_FACTOR)
#define FAN_OUT 100
#define N_OUTER (N_ITEMS / FAN_OUT)

static IrisScheduler *scheduler;
static _Atomic guint8 *flags;
static CoreTestGate started = CORE_TEST_GATE_INIT;
static CoreTestGate may_end = CORE_TEST_GATE_INIT;
static guint n_places;

/* --- whether this many threads may be had at all ---------------------------------------------- */

static void *
wait_for_end (void *data)
{
  core_test_gate_wait (&may_end, 1);

  return NULL;
}

/* As many threads as there will be workers, and some more; how many could be started. */
static guint
count_possible_threads (guint n)
{
  g_autofree pthread_t *threads = g_new (pthread_t, n);
  guint n_started = 0;

  while (n_started < n && pthread_create (&threads[n_started], NULL, wait_for_end, NULL) == 0)
    n_started++;
  core_test_gate_add (&may_end, 1);
  for (guint i = 0; i < n_started; i++)
    pthread_join (threads[i], NULL);
  core_test_gate_close (&may_end);

  return n_started;
}

/* --- the test --------------------------------------------------------------------------------- */

/* Each holds its worker until there is one at every worker: so all run at once. */
static void
meet (gpointer data)
{
  core_test_gate_add (&started, 1);
  core_test_gate_wait (&may_end, 1);
}

static void
count (guint id)
{
  if (atomic_fetch_add_explicit (&flags[id], 1, memory_order_relaxed) != 0)
    ck_abort_msg ("item %u ran twice", id);
}

static void
run_inner (gpointer data)
{
  count (GPOINTER_TO_UINT (data));
}

static void
run_outer (gpointer data)
{
  guint id = GPOINTER_TO_UINT (data);

  count (id);
  for (guint i = 0; i < FAN_OUT - 1; i++)
    {
      guint inner = N_OUTER + id * (FAN_OUT - 1) + i;
      gint place = i % 4 == 0 ? (gint) (inner % n_places) : IRIS_PLACE_ANY;

      iris_scheduler_queue_at (scheduler, place, i % 8 == 0 ? IRIS_ITEM_STRICT : IRIS_ITEM_NONE,
                               run_inner, GUINT_TO_POINTER (inner), NULL);
    }
}

static void
make (void)
{
  g_autoptr (GError) error = NULL;
  g_autoptr (IrisTopology) topology = iris_topology_new_synthetic (TOPOLOGY, &error);
  g_autoptr (IrisPlaces) places = NULL;

  if (topology == NULL)
    ck_abort_msg ("%s", error->message);
  places = iris_places_new_full (topology, "l3", N_WORKERS, IRIS_BIND_NONE, &error);
  if (places == NULL)
    ck_abort_msg ("%s", error->message);
  n_places = iris_places_get_n_places (places);
  scheduler = iris_place_scheduler_new (places);
  ck_assert_uint_eq (iris_scheduler_get_n_workers (scheduler), N_WORKERS);
}

START_TEST (four_thousand_workers_run_a_million_items)
{
  guint64 before, made, running;
  gint64 since = g_get_monotonic_time (), met, ran;

  flags = g_malloc0 (N_ITEMS);
  before = core_test_proc_status ("VmRSS:");
  make ();
  made = core_test_proc_status ("VmRSS:");
  for (guint i = 0; i < N_WORKERS; i++)
    iris_scheduler_queue (scheduler, meet, NULL, NULL);
  core_test_gate_wait (&started, N_WORKERS);
  met = g_get_monotonic_time ();
  running = core_test_proc_status ("VmRSS:");
  core_test_gate_add (&may_end, 1);

  for (guint i = 0; i < N_OUTER; i++)
    iris_scheduler_queue (scheduler, run_outer, GUINT_TO_POINTER (i), NULL);
  iris_scheduler_shutdown (scheduler, IRIS_SHUTDOWN_DRAIN);
  ran = g_get_monotonic_time ();
  core_test_check_stats (scheduler);
  g_clear_object (&scheduler);
  for (guint i = 0; i < N_ITEMS; i++)
    if (flags[i] != 1)
      ck_abort_msg ("item %u was lost", i);
  g_free ((gpointer) flags);

  g_printerr ("%d workers at %u places: %.1f KiB each made, %.1f KiB each running; all met after "
              "%.2f s, %d items and the end took %.2f s\n",
              N_WORKERS, n_places, (double) (made - before) / N_WORKERS,
              (double) (running - before) / N_WORKERS, (double) (met - since) / G_USEC_PER_SEC,
              N_ITEMS, (double) (ran - met) / G_USEC_PER_SEC);
}
END_TEST

int
main (void)
{
  guint n_wanted = N_WORKERS + 16;
  guint n_possible = count_possible_threads (n_wanted);
  Suite *suite = suite_create ("many-workers");
  TCase *all = tcase_create ("all");

  if (n_possible < n_wanted)
    {
      printf ("1..0 # SKIP only %u of %u threads could be started: raise RLIMIT_NPROC (ulimit -u), "
              "kernel.threads-max or the pids limit of the control group\n",
              n_possible, n_wanted);
      return 0;
    }
  tcase_set_timeout (all, 0);
  tcase_add_test (all, four_thousand_workers_run_a_million_items);
  suite_add_tcase (suite, all);

  return core_test_run (suite);
}
