/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * Steal policies under load: whatever the policy is, each item runs once; what is refused is run
 * all the same; and a worker that refuses does not spin.
 *
 * The run time that a place is known for is set by the test, so that everything is refused that the
 * policy lets be refused. The last test looks at the processor's clock, as stress-idle.c does.
 */
#include "core-test-util.h"

#include <iris/sched/steal/iris-place-queues-private.h>
#include <iris/sched/iris-scheduler-private.h>

#include <poll.h>
#include <sched.h>
#include <time.h>
#include <unistd.h>

#define N_OUTER   (CORE_TEST_FACTOR > 1 ? 1000 : 4000)
#define N_INNER   10
#define WINDOW_MS 3000

static const char *const policies[] = {
  "distance",
  "random",
  "one",
  "half",
  "capped+cap=3",
  "nothing",
  "random+half+nothing",
  "move-cost=1000000000+max-delay=100",
  "move-cost=1000+max-delay=1000000+random+one",
  "bandwidth=1+max-delay=2000",
  "max-delay=0",
};

static const IrisDequeKind kinds[] = { IRIS_DEQUE_CHASE_LEV, IRIS_DEQUE_SPLIT, IRIS_DEQUE_LOCKED };

static IrisScheduler *
make_scheduler (const char *words, const char *description, IrisLayout layout, IrisDequeKind kind)
{
  g_autoptr (GError) error = NULL;
  g_autoptr (IrisTopology) topology = iris_topology_new_synthetic (description, &error);
  g_autoptr (IrisStealPolicy) policy = NULL;
  g_autoptr (IrisPlaces) places = NULL;

  ck_assert_msg (topology != NULL, "%s", error != NULL ? error->message : "");
  places = iris_places_new (topology, "l2", &error);
  ck_assert_msg (places != NULL, "%s", error != NULL ? error->message : "");
  policy = iris_steal_policy_parse (words, &error);
  ck_assert_msg (policy != NULL, "%s", error != NULL ? error->message : "");

  return g_object_new (IRIS_TYPE_PLACE_SCHEDULER, "places", places, "layout", layout, "deque", kind,
                       "steal-policy", policy, NULL);
}

/* Conservation */

static IrisScheduler *scheduler;
static _Atomic guint8 *ran; /* a byte for each item */

static void
run_inner (gpointer data)
{
  atomic_fetch_add ((_Atomic guint8 *) data, 1);
}

static void
run_outer (gpointer data)
{
  _Atomic guint8 *mine = data;
  gsize id = (gsize) (mine - ran);

  atomic_fetch_add (mine, 1);
  for (gsize i = 1; i <= N_INNER; i++)
    {
      gint place = (id + i) % 5 == 0 ? (gint) (i % 4) : IRIS_PLACE_ANY;
      IrisItemFlags flags = (id + i) % 7 == 0 ? IRIS_ITEM_KEEP_APART : IRIS_ITEM_NONE;
      guint64 bytes = i % 3 == 0 ? (guint64) 1 << ((id + i) % 40) : 0;

      if (place != IRIS_PLACE_ANY && id % 2 == 0)
        flags |= IRIS_ITEM_STRICT;
      iris_scheduler_queue_sized (scheduler, place, flags, bytes, run_inner, mine + i, NULL);
    }
}

LOOP_TEST (every_item_runs_once_under_any_policy, 0, 2 * 3 * G_N_ELEMENTS (policies) / 2)
{
  const char *words = policies[_i % G_N_ELEMENTS (policies)];
  gsize n = (gsize) N_OUTER * (N_INNER + 1);
  IrisPlaceQueues *queues;

  ran = g_malloc0 (n);
  scheduler = make_scheduler (
      words, "package:2 l2:2(size=1048576) core:1 pu:1",
      (IrisLayout) (_i % 2 == 0 ? IRIS_LAYOUT_WORKERS : IRIS_LAYOUT_AFFINITY),
      kinds[_i % G_N_ELEMENTS (kinds)]);
  for (gsize i = 0; i < N_OUTER; i++)
    iris_scheduler_queue_at (scheduler, i % 3 == 0 ? 0 : IRIS_PLACE_ANY, IRIS_ITEM_NONE, run_outer,
                             (gpointer) &ran[i * (N_INNER + 1)], NULL);
  iris_scheduler_shutdown (scheduler, IRIS_SHUTDOWN_DRAIN);
  for (gsize i = 0; i < n; i++)
    if (ran[i] != 1)
      ck_abort_msg ("%s: item %zu ran %u times", words, i, ran[i]);
  core_test_check_stats (scheduler);

  /* What was counted in was counted out. */
  queues = iris_scheduler_get_pool (scheduler)->owner;
  for (guint i = 0; i < queues->n_places; i++)
    {
      IrisFootprint *footprint = &queues->queues[i].footprint;

      ck_assert_uint_eq (footprint->waiting, 0);
      ck_assert_uint_eq (footprint->running, 0);
      ck_assert_uint_eq (footprint->apart_waiting, 0);
      ck_assert_uint_eq (footprint->apart_running, 0);
    }
  g_clear_object (&scheduler);
  g_free ((gpointer) ran);
}

/* A place that is stuck */

static CoreTestGate gate = CORE_TEST_GATE_INIT;

static void
open_gate (gpointer data)
{
  core_test_gate_add (&gate, 1);
}

/* Only a thief can run the item that this waits for. */
static void
wait_for_own_child (gpointer data)
{
  IrisWorkerPool *pool = iris_scheduler_get_pool (scheduler);
  guint place = (guint) iris_worker_get_place (iris_worker_current ());

  for (guint i = 0; i < pool->n_workers; i++)
    atomic_store (&pool->workers[i].counters.mean_run_ns, 1);
  iris_scheduler_queue_sized (scheduler, (gint) place, IRIS_ITEM_NONE, GPOINTER_TO_SIZE (data),
                              open_gate, NULL, NULL);
  core_test_gate_wait (&gate, 1);
}

static guint64
count_refusals (const IrisStats *stats)
{
  return stats->total.refused_backlog + stats->total.refused_distance + stats->total.refused_size
         + stats->total.refused_apart;
}

static const struct
{
  const char *words;
  gsize bytes;
} stuck_cases[] = {
  { "", 0 },
  { "move-cost=1000", 0 },
  { "move-cost=1000000000+max-delay=20000", 0 },
  { "move-cost=0+bandwidth=1+max-delay=20000", 1 << 30 },
  { "move-cost=2000000+random+one", 4096 },
};

LOOP_TEST (what_a_stuck_place_has_is_taken_after_all, 0, G_N_ELEMENTS (stuck_cases))
{
  g_autoptr (IrisStats) stats = NULL;

  core_test_gate_close (&gate);
  scheduler = make_scheduler (stuck_cases[_i].words, "package:2 l2:1 core:1 pu:1",
                              IRIS_LAYOUT_WORKERS, IRIS_DEQUE_CHASE_LEV);
  iris_scheduler_queue_at (scheduler, 0, IRIS_ITEM_STRICT, wait_for_own_child,
                           GSIZE_TO_POINTER (stuck_cases[_i].bytes), NULL);
  core_test_gate_wait (&gate, 1);
  iris_scheduler_shutdown (scheduler, IRIS_SHUTDOWN_DRAIN);
  stats = iris_scheduler_get_stats (scheduler);
  ck_assert_uint_eq (stats->places[1].stolen_in, 1);
  /* A worker that refuses on its way to sleep backs off, and may find that it lapsed after that. */
  ck_assert_uint_ge (count_refusals (stats) + stats->total.backoffs, 1);
  ck_assert_uint_ge (stats->total.refusals_lapsed, 1);
  g_clear_object (&scheduler);
}

/* Refusing for seconds */

static int quiet_pipe[2];

static gint64
processor_ns (void)
{
  struct timespec now;

  clock_gettime (CLOCK_PROCESS_CPUTIME_ID, &now);

  return now.tv_sec * G_GINT64_CONSTANT (1000000000) + now.tv_nsec;
}

typedef struct
{
  gint64 processor_ns;
  gint64 ms;
  gint64 backoffs;
} Used;

/* Holds its worker for the window, and measures from the first back-off of the other one on. */
static void
hold_worker (gpointer data)
{
  IrisWorkerPool *pool = iris_scheduler_get_pool (scheduler);
  struct pollfd quiet = { .fd = quiet_pipe[0], .events = POLLIN };
  Used *used = data;
  const _Atomic uint64_t *backoffs = &pool->workers[1].counters.backoffs;

  for (guint i = 0; i < pool->n_workers; i++)
    atomic_store (&pool->workers[i].counters.mean_run_ns, 1);
  /* At a byte a microsecond it is a quarter of an hour until it would be taken after all. */
  iris_scheduler_queue_sized (scheduler, IRIS_PLACE_ANY, IRIS_ITEM_NONE, 1 << 30, open_gate, NULL,
                              NULL);
  while (iris_counter_get (backoffs) == 0)
    sched_yield ();
  used->processor_ns = processor_ns ();
  used->ms = g_get_monotonic_time () / 1000;
  used->backoffs = (gint64) iris_counter_get (backoffs);
  poll (&quiet, 1, WINDOW_MS);
  used->backoffs = (gint64) iris_counter_get (backoffs) - used->backoffs;
  used->ms = g_get_monotonic_time () / 1000 - used->ms;
  used->processor_ns = processor_ns () - used->processor_ns;
}

TEST (a_worker_that_refuses_does_not_spin)
{
  g_autoptr (IrisStats) stats = NULL;
  Used used = { 0 };

  ck_assert_int_eq (pipe (quiet_pipe), 0);
  core_test_gate_close (&gate);
  scheduler = make_scheduler ("move-cost=0+bandwidth=1+max-delay=1000000000",
                              "package:2 l2:1 core:1 pu:1", IRIS_LAYOUT_WORKERS,
                              IRIS_DEQUE_CHASE_LEV);
  iris_scheduler_queue_at (scheduler, 0, IRIS_ITEM_STRICT, hold_worker, &used, NULL);
  core_test_gate_wait (&gate, 1);
  iris_scheduler_shutdown (scheduler, IRIS_SHUTDOWN_DRAIN);
  stats = iris_scheduler_get_stats (scheduler);
  ck_assert_uint_eq (stats->places[1].stolen_in, 0); /* it was refused to the end */
  ck_assert_uint_ge (stats->places[1].backoffs, 10);
  ck_assert_uint_ge (stats->places[1].refused_size, 10);
  /* It looks around a thousand times a second, which costs more on a busy machine; one that spins
   * would use all of the window, or what the machine leaves of it. */
  ck_assert_int_le (used.backoffs, 2 * used.ms);
  ck_assert_int_lt (used.processor_ns, used.ms * 1000000 / 2);
  g_clear_object (&scheduler);
  close (quiet_pipe[0]);
  close (quiet_pipe[1]);
}

TEST_MAIN ("refusal", NULL, NULL)
