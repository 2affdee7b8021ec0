/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * The grain: how much work an item must hold before the scheduler's own cost stops to matter.
 *
 * Items of 0, 1, 10 and 100 µs, all from outside, and all made by one item. The same work in one
 * plain loop says what the ideal would be: its time divided by the number of workers.
 */
#include "tests/bench/workloads/items/bench-spray.h"
#include "tests/bench/workloads/bench-workload.h"

/* So many microseconds of work in a run, and no more items than this. */
#define RUN_US    40000
#define MAX_ITEMS 100000

static void
add_load (BenchResult *result, const BenchOptions *options, gdouble microseconds, gboolean inside)
{
  guint usual = microseconds > 0 ? MIN ((guint) (RUN_US / microseconds), MAX_ITEMS) : MAX_ITEMS;
  guint items = bench_choose (options, options->items, usual, 2);
  BenchSpray spray = { .producers = 1,
                       .outer = inside ? 1 : items,
                       .inner = inside ? items : 0,
                       .work = bench_work_new (microseconds) };
  g_autofree char *load = g_strdup_printf ("%s, %g µs", inside ? "inside" : "outside",
                                           microseconds);
  BenchCase what = { .load = load };

  /* Without work there is no ideal to have a share of, but a cost. */
  if (microseconds > 0)
    {
      what.x = microseconds;
      what.show = BENCH_SHOW_COMPARED;
      what.relation = BENCH_IDEAL;
    }
  bench_spray_add (result, options, &what, &spray);
}

static gboolean
plan (BenchResult *result, const BenchOptions *options, GError **error)
{
  static const gdouble grains[] = { 0, 1, 10, 100 };

  bench_result_set_title (result, "items of 0, 1, 10 and 100 µs of work, from outside and inside");
  for (guint inside = 0; inside < 2; inside++)
    for (guint i = 0; i < G_N_ELEMENTS (grains); i++)
      add_load (result, options, grains[i], inside);

  return TRUE;
}

const BenchWorkload bench_workload_grain = {
  .name = "grain",
  .summary = "items of 0, 1, 10 and 100 µs, from outside and inside",
  .x_label = "work in an item, µs",
  .plan = plan,
};
