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
} Root;

static void
run_root (IrisForkJoin *fj, gpointer data)
{
  Root *self = data;

  self->value = fib (fj, self->n);
}

typedef struct
{
  const BenchContender *contender;
  IrisScheduler *scheduler;
  IrisForkFunc func;
  gpointer data;
  gdouble seconds;
} Inside;

static void
time_inside (IrisForkJoin *fj, gpointer data)
{
  Inside *self = data;
  gint64 begin = bench_now ();

  self->func (fj, self->data);
  self->seconds = bench_seconds_since (begin);
  bench_iris_steals_end (self->contender, self->scheduler);
}

/* Times @func on a worker of a scheduler whose threads sleep. */
static gboolean
run_inside (const BenchContender *self,
            guint workers,
            IrisForkFunc func,
            gpointer data,
            gdouble *seconds,
            GError **error)
{
  g_autoptr (IrisScheduler) scheduler = iris_wsscheduler_new_full (0, workers);
  Inside inside = { self, scheduler, func, data, 0 };

  if (!bench_iris_start (scheduler, error))
    return FALSE;
  bench_iris_steals_begin (self, scheduler);
  iris_fork_join_run (scheduler, time_inside, &inside);
  *seconds = inside.seconds;

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

  if (!run_inside (self, workers, run_root, &root, seconds, error))
    return FALSE;
  *value = root.value;

  return TRUE;
}

/* --- tiles in phases -------------------------------------------------------------------------- */

typedef struct
{
  const BenchPhases *load;
  void (*run) (IrisForkJoin *fj, guint n_tiles, gpointer walk); /* one phase */
  guint phase;
} Walk;

/* A fork for each tile but the first of a phase. */
IRIS_FORKABLE_VOID_3 (tiles, guint, guint, Walk *);

static void
tiles (IrisForkJoin *fj, guint first, guint end, Walk *self)
{
  IrisForkTask rest;
  guint middle = first + (end - first) / 2;

  if (end - first == 1)
    {
      self->load->tile (self->load->problem, self->phase, first);
      return;
    }
  tiles_fork (&fj, &rest, middle, end, self);
  tiles (fj, first, middle, self);
  tiles_join (&fj, &rest);
}

static void
run_forked (IrisForkJoin *fj, guint n_tiles, gpointer walk)
{
  tiles (fj, 0, n_tiles, walk);
}

static void
run_part (IrisForkJoin *fj, gsize first, gsize end, gpointer data)
{
  const Walk *self = data;

  for (gsize i = first; i < end; i++)
    self->load->tile (self->load->problem, self->phase, (guint) i);
}

static void
run_for (IrisForkJoin *fj, guint n_tiles, gpointer walk)
{
  iris_fork_join_for (fj, 0, n_tiles, 1, run_part, walk);
}

static void
run_phases (IrisForkJoin *fj, gpointer data)
{
  Walk *self = data;
  const BenchPhases *load = self->load;

  for (self->phase = 0; self->phase < load->n_phases; self->phase++)
    self->run (fj, load->n_tiles (load->problem, self->phase), self);
}

static gboolean
fork_join_phases (const BenchContender *self,
                  const BenchPhases *phases,
                  guint workers,
                  gdouble *seconds,
                  GError **error)
{
  Walk walk = { .load = phases, .run = run_forked };

  return run_inside (self, workers, run_phases, &walk, seconds, error);
}

static gboolean
fork_join_for_phases (const BenchContender *self,
                      const BenchPhases *phases,
                      guint workers,
                      gdouble *seconds,
                      GError **error)
{
  Walk walk = { .load = phases, .run = run_for };

  return run_inside (self, workers, run_phases, &walk, seconds, error);
}

const BenchEngine bench_engine_fork_join = {
  .name = "fork-join",
  .summary = "iris: calls that are forked and joined, on a work-stealing scheduler",
  .kind = BENCH_IRIS,
  .can = BENCH_CAN_FIB | BENCH_CAN_PHASES,
  .phases = fork_join_phases,
  .fib = fork_join_fib,
};

const BenchEngine bench_engine_fork_join_for = {
  .name = "fork-join-for",
  .summary = "iris: a loop that is divided when a worker asks, on a work-stealing scheduler",
  .kind = BENCH_IRIS,
  .can = BENCH_CAN_PHASES,
  .phases = fork_join_for_phases,
};
