/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * Intervals under load: many of them, in a net of edges that threads go on adding while it runs,
 * some of which would close cycles.
 *
 * The oracle: each interval notes when it starts and when it ends, by one atomic clock; for every
 * edge that was accepted, the one end must have come before the other start. Every interval ends
 * once, and every lock is free behind them.
 */
#include "core-test-util.h"

#include <iris/task/interval/iris-interval-private.h>

#include <sched.h>

#define N_INTERVALS (100000 / CORE_TEST_FACTOR)
#define N_ADDERS    3
#define N_EDGES     (100000 / CORE_TEST_FACTOR) /* that each of them tries */
#define WINDOW      64
#define N_LOCKS     4

typedef struct
{
  IrisInterval *interval;
  _Atomic guint64 began;
  _Atomic guint64 ended;
  _Atomic guint dropped;
  gint lock; /* -1: none */
} Node;

typedef struct
{
  guint index;
  guint n_edges;
  guint n_cycles;
  guint n_late;
  struct
  {
    guint from;
    guint to;
  } edges[N_EDGES];
} Adder;

static Node nodes[N_INTERVALS];
static Adder adders[N_ADDERS];
static _Atomic guint64 ticks;
static _Atomic guint frontier; /* intervals in front of it are scheduled */
static _Atomic guint n_tried;  /* edges, of all adders */
static guint64 protected_count[N_LOCKS];

static gboolean
run (IrisInterval *interval, gpointer data, GError **error)
{
  Node *node = data;

  atomic_store (&node->began, atomic_fetch_add (&ticks, 1) + 1);
  if (node->lock >= 0)
    protected_count[node->lock]++;
  atomic_store (&node->ended, atomic_fetch_add (&ticks, 1) + 1);

  return TRUE;
}

static void
drop (gpointer data)
{
  atomic_fetch_add (&((Node *) data)->dropped, 1);
}

/* Edges near the frontier, where intervals run, most of them forwards. */
static gpointer
add_edges (gpointer data)
{
  Adder *self = data;
  GRand *random = g_rand_new_with_seed (self->index + 1);

  for (guint i = 0; i < N_EDGES; i++)
    {
      guint at = atomic_load (&frontier);
      guint a = (at + (guint) g_rand_int_range (random, 0, WINDOW)) % N_INTERVALS;
      guint b = (a + (guint) g_rand_int_range (random, 1, WINDOW)) % N_INTERVALS;
      gboolean back = g_rand_int_range (random, 0, 32) == 0;
      guint from = (a < b) != back ? MIN (a, b) : MAX (a, b), to = from == a ? b : a;
      g_autoptr (GError) error = NULL;

      atomic_fetch_add (&n_tried, 1);
      if (iris_interval_add_after (nodes[to].interval, nodes[from].interval, &error))
        {
          self->edges[self->n_edges].from = from;
          self->edges[self->n_edges++].to = to;
        }
      else if (g_error_matches (error, IRIS_INTERVAL_ERROR, IRIS_INTERVAL_ERROR_CYCLE))
        self->n_cycles++;
      else if (g_error_matches (error, IRIS_INTERVAL_ERROR, IRIS_INTERVAL_ERROR_HAPPENED))
        self->n_late++;
      else
        g_error ("an edge was refused: %s", error->message);
    }
  g_rand_free (random);

  return NULL;
}

static void
check_edges (void)
{
  guint n = 0, n_cycles = 0, n_late = 0;

  for (guint i = 0; i < N_ADDERS; i++)
    {
      for (guint j = 0; j < adders[i].n_edges; j++)
        {
          guint from = adders[i].edges[j].from, to = adders[i].edges[j].to;

          ck_assert_uint_lt (atomic_load (&nodes[from].ended), atomic_load (&nodes[to].began));
        }
      n += adders[i].n_edges;
      n_cycles += adders[i].n_cycles;
      n_late += adders[i].n_late;
    }
  g_print ("# %u edges, %u cycles, %u too late\n", n, n_cycles, n_late);
  /* Or else this tests nothing. */
  ck_assert_uint_gt (n, 100);
}

LOOP_TEST (every_edge_holds_while_threads_add_them_to_a_graph_that_runs, 0, core_test_n_kinds)
{
  g_autoptr (IrisScheduler) scheduler = core_test_make (&core_test_kinds[_i]);
  g_autoptr (IrisIntervalGraph) graph = iris_interval_graph_new (scheduler);
  IrisLock *locks[N_LOCKS];
  GThread *threads[N_ADDERS];
  guint64 with_lock[N_LOCKS] = { 0 };

  atomic_store (&ticks, 0);
  atomic_store (&frontier, 0);
  atomic_store (&n_tried, 0);
  for (guint i = 0; i < N_LOCKS; i++)
    {
      locks[i] = iris_lock_new ((IrisLockPolicy) (i % 3));
      protected_count[i] = 0;
    }
  for (guint i = 0; i < N_INTERVALS; i++)
    {
      nodes[i] = (Node){ .lock = i % 8 == 0 ? (gint) (i / 8 % N_LOCKS) : -1 };
      nodes[i].interval = iris_interval_new (graph, NULL, run, &nodes[i], drop);
      if (nodes[i].lock < 0)
        continue;
      with_lock[nodes[i].lock]++;
      iris_interval_add_lock (nodes[i].interval, locks[nodes[i].lock]);
      iris_interval_add_lock (nodes[i].interval, locks[N_LOCKS - 1 - nodes[i].lock]);
    }
  for (guint i = 0; i < N_ADDERS; i++)
    {
      adders[i] = (Adder){ .index = i };
      threads[i] = g_thread_new ("adder", add_edges, &adders[i]);
    }
  for (guint i = 0; i < N_INTERVALS; i++)
    {
      /* Neither runs ahead of the other. */
      while (atomic_load (&n_tried) < (guint64) i * N_ADDERS * N_EDGES / N_INTERVALS)
        sched_yield ();
      atomic_store (&frontier, i);
      iris_interval_schedule (nodes[i].interval);
    }
  for (guint i = 0; i < N_ADDERS; i++)
    g_thread_join (threads[i]);
  iris_interval_graph_wait (graph);

  check_edges ();
  for (guint i = 0; i < N_INTERVALS; i++)
    {
      ck_assert_int_eq (iris_interval_get_state (nodes[i].interval), IRIS_INTERVAL_DONE);
      ck_assert_uint_eq (atomic_load (&nodes[i].dropped), 1);
      iris_interval_unref (nodes[i].interval);
    }
  iris_scheduler_shutdown (scheduler, IRIS_SHUTDOWN_DRAIN);
  for (guint i = 0; i < N_LOCKS; i++)
    {
      ck_assert_uint_eq (protected_count[i], with_lock[i]);
      ck_assert (iris_lock_try_acquire (locks[i]));
      iris_lock_release (locks[i]);
      iris_lock_unref (locks[i]);
    }
}

TEST_MAIN ("intervals", NULL, NULL)
