/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * Imbalance: all items are made by one worker; the others have what they can get of them.
 *
 * The ideal is the time of the same work in a plain loop, divided by the number of workers.
 */
#include "tests/bench/workloads/items/bench-spray.h"
#include "tests/bench/workloads/bench-workload.h"

#define ITEMS   2000
#define WORK_US 200.0

static gboolean
plan (BenchResult *result, const BenchOptions *options, GError **error)
{
  static const BenchCase what = { .load = "imbalance",
                                  .show = BENCH_SHOW_COMPARED,
                                  .relation = BENCH_IDEAL };
  gdouble microseconds = options->work > 0 ? options->work : WORK_US;
  BenchSpray spray = { .producers = 1,
                       .outer = 1,
                       .inner = bench_choose (options, options->items, ITEMS, 2),
                       .work = bench_work_new (microseconds) };

  bench_result_set_title (result, "%u items of %g µs, all made by one worker", spray.inner,
                          microseconds);
  bench_spray_add (result, options, &what, &spray);

  return TRUE;
}

const BenchWorkload bench_workload_imbalance = {
  .name = "imbalance",
  .summary = "2000 items of 200 µs, all made by one worker",
  .plan = plan,
};
