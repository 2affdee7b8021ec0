/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * iris's fork and join as a contender: the recursion is written as calls that wait, and the tiles
 * of a phase are a range that is halved. The clock runs from the first call to its return, on the
 * worker; waking that worker is another load (wake).
 */
#include "tests/bench/peers/bench-iris.h"

IRIS_FORKABLE_1 (guint64, fib, guint);

static guint64
fib (IrisForkJoin *fj, guint n)
{
  IrisForkTask first;
  guint64 second;

  if (n < 2)
    return n;
  fib_fork (&fj, &first, n - 1);
  second = fib (fj, n - 2);

  return fib_join (&fj, &first) + second;
}

typedef struct
{
  guint n;
  guint64 value;
  gint64 begin;
  gint64 end;
} Root;

static void
run_root (IrisForkJoin *fj, gpointer data)
{
  Root *self = data;

  self->begin = bench_now ();
  self->value = fib (fj, self->n);
  self->end = bench_now ();
}

/* Runs @func on a worker of a scheduler whose threads sleep. */
static gboolean
run_inside (const BenchContender *self,
            guint workers,
            IrisForkFunc func,
            gpointer data,
            GError **error)
{
  g_autoptr (IrisScheduler) scheduler = iris_wsscheduler_new_full (0, workers);

  if (!bench_iris_start (scheduler, error))
    return FALSE;
  bench_iris_steals_begin (self, scheduler);
  iris_fork_join_run (scheduler, func, data);
  iris_scheduler_shutdown (scheduler, IRIS_SHUTDOWN_DRAIN);
  bench_iris_steals_end (self, scheduler);

  return TRUE;
}

static gboolean
fork_join_fib (const BenchContender *self,
               guint n,
               guint workers,
               guint64 *value,
               gdouble *seconds,
               GError **error)
{
  Root root = { .n = n };

  if (!run_inside (self, workers, run_root, &root, error))
    return FALSE;
  *seconds = (root.end - root.begin) / 1e9;
  *value = root.value;

  return TRUE;
}

/* --- tiles in phases -------------------------------------------------------------------------- */

typedef struct
{
  const BenchPhases *load;
  guint phase;
  gint64 begin;
  gint64 end;
} Walk;

static void
run_tiles (IrisForkJoin *fj, gsize first, gsize end, gpointer data)
{
  const Walk *self = data;

  for (gsize i = first; i < end; i++)
    self->load->tile (self->load->problem, self->phase, (guint) i);
}

/* A fork for each tile but the first of a phase. */
static void
run_phases (IrisForkJoin *fj, gpointer data)
{
  Walk *self = data;
  const BenchPhases *load = self->load;

  self->begin = bench_now ();
  for (self->phase = 0; self->phase < load->n_phases; self->phase++)
    iris_fork_join_for (fj, 0, load->n_tiles (load->problem, self->phase), 1, run_tiles, self);
  self->end = bench_now ();
}

static gboolean
fork_join_phases (const BenchContender *self,
                  const BenchPhases *phases,
                  guint workers,
                  gdouble *seconds,
                  GError **error)
{
  Walk walk = { .load = phases };

  if (!run_inside (self, workers, run_phases, &walk, error))
    return FALSE;
  *seconds = (walk.end - walk.begin) / 1e9;

  return TRUE;
}

const BenchEngine bench_engine_fork_join = {
  .name = "fork-join",
  .summary = "iris: calls that are forked and joined, on a work-stealing scheduler",
  .kind = BENCH_IRIS,
  .can = BENCH_CAN_FIB | BENCH_CAN_PHASES,
  .phases = fork_join_phases,
  .fib = fork_join_fib,
};
