/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * Imbalance: all items are made by one worker; the others have what they can get of them.
 *
 * The ideal is the time of the same work in a plain loop, divided by the number of workers.
 */
#include "tests/bench/workloads/items/bench-spray.h"
#include "tests/bench/workloads/bench-workloads.h"

#define ITEMS   2000
#define WORK_US 200.0

BenchResult *
bench_imbalance (const BenchOptions *options, GError **error)
{
  gdouble microseconds = options->work > 0 ? options->work : WORK_US;
  BenchSpray spray = { .producers = 1,
                       .outer = 1,
                       .inner = bench_choose (options, options->items, ITEMS, 2),
                       .work = bench_work_new (microseconds) };
  g_autoptr (BenchResult) result = bench_result_new (
      "imbalance", options,
      g_strdup_printf ("%u items of %g µs, all made by one worker", spray.inner, microseconds));
  const BenchSeries *plain = bench_spray_add_plain (result, "imbalance", &spray);

  bench_spray_add_trials (result, options, "imbalance", &spray, plain, BENCH_IDEAL);
  for (guint i = 0; i < result->series->len; i++)
    ((BenchSeries *) g_ptr_array_index (result->series, i))->show = BENCH_SHOW_COMPARED;

  return bench_result_measure (result, error) ? g_steal_pointer (&result) : NULL;
}
