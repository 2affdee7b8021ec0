/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * iris's fork and join as a contender: the recursion is written as calls that wait. The clock runs
 * from the first call to its return, on the worker; waking that worker is another load (wake).
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

static gboolean
fork_join_fib (const BenchContender *self,
               guint n,
               guint workers,
               guint64 *value,
               gdouble *seconds,
               GError **error)
{
  g_autoptr (IrisScheduler) scheduler = iris_wsscheduler_new_full (0, workers);
  Root root = { .n = n };

  if (!bench_iris_start (scheduler, error))
    return FALSE;
  iris_fork_join_run (scheduler, run_root, &root);
  *seconds = (root.end - root.begin) / 1e9;
  *value = root.value;

  return TRUE;
}

const BenchEngine bench_engine_fork_join = {
  .name = "fork-join",
  .summary = "iris: calls that are forked and joined, on a work-stealing scheduler",
  .kind = BENCH_IRIS,
  .can = BENCH_CAN_FIB,
  .fib = fork_join_fib,
};
