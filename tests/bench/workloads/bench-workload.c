/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * The table of workloads, and how each of them is run.
 */
#include "tests/bench/workloads/bench-workload.h"
#include "tests/bench/peers/bench-contender.h"

#define ROW(name) &bench_workload_##name,

static const BenchWorkload *const workloads[] = { BENCH_WORKLOADS (ROW) };

const char *
bench_suite_name (BenchSuite suite)
{
  static const char *const names[] = { "compare", "daemon", "paper" };

  return names[suite];
}

const BenchWorkload *
bench_workload_nth (guint n)
{
  return n < G_N_ELEMENTS (workloads) ? workloads[n] : NULL;
}

const BenchWorkload *
bench_workload_find (const char *name)
{
  for (guint i = 0; i < G_N_ELEMENTS (workloads); i++)
    if (g_str_equal (workloads[i]->name, name))
      return workloads[i];

  return NULL;
}

gboolean
bench_workload_check (const BenchWorkload *self, const BenchOptions *options, GError **error)
{
  return (self->check != NULL ? self->check : bench_contenders_check) (options, error);
}

BenchResult *
bench_workload_run (const BenchWorkload *self, const BenchOptions *options, GError **error)
{
  g_autoptr (BenchResult) result = bench_result_new (self->name, options);
  gint64 begin = bench_now ();

  result->x_label = self->x_label;
  if (self->item != NULL)
    result->item = self->item;
  if (self->max_rounds > 0)
    result->rounds = MIN (result->rounds, self->max_rounds);

  if (!self->plan (result, options, error) || !bench_result_measure (result, error))
    return NULL;
  result->seconds = bench_seconds_since (begin);

  return g_steal_pointer (&result);
}
