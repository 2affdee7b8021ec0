/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * The grain: how much work an item must hold before the scheduler's own cost stops to matter.
 *
 * Items of 0, 1, 10 and 100 µs, all from outside, and all made by one item. The same work in one
 * plain loop says what the ideal would be: its time divided by the number of workers.
 */
#include "tests/bench/workloads/items/bench-spray.h"
#include "tests/bench/workloads/bench-workloads.h"

/* So many microseconds of work in a run, and no more items than this. */
#define RUN_US    40000
#define MAX_ITEMS 100000

static void
add_load (BenchResult *result,
          const BenchOptions *options,
          const char *load,
          const BenchSpray *spray,
          gdouble microseconds)
{
  const BenchSeries *plain = NULL;
  guint first = result->series->len;

  if (microseconds > 0)
    plain = bench_spray_add_plain (result, load, spray);
  bench_spray_add_trials (result, options, load, spray, plain,
                          microseconds > 0 ? BENCH_IDEAL : BENCH_FACTOR);
  /* Without work there is no ideal to have a share of, but a cost. */
  for (guint i = first; microseconds > 0 && i < result->series->len; i++)
    {
      BenchSeries *series = g_ptr_array_index (result->series, i);

      series->x = microseconds;
      series->show = BENCH_SHOW_COMPARED;
    }
}

BenchResult *
bench_grain (const BenchOptions *options, GError **error)
{
  static const gdouble grains[] = { 0, 1, 10, 100 };
  g_autoptr (BenchResult) result = bench_result_new (
      "grain", options, g_strdup ("items of 0, 1, 10 and 100 µs of work, from outside and inside"));

  result->x_label = g_strdup ("work in an item, µs");
  for (guint inside = 0; inside < 2; inside++)
    for (guint i = 0; i < G_N_ELEMENTS (grains); i++)
      {
        guint usual = grains[i] > 0 ? MIN ((guint) (RUN_US / grains[i]), MAX_ITEMS) : MAX_ITEMS;
        guint items = bench_choose (options, options->items, usual, 2);
        BenchSpray spray = { .producers = 1,
                             .outer = inside ? 1 : items,
                             .inner = inside ? items : 0,
                             .work = bench_work_new (grains[i]) };
        g_autofree char *load = g_strdup_printf ("%s, %g µs", inside ? "inside" : "outside",
                                                 grains[i]);

        add_load (result, options, load, &spray, grains[i]);
      }

  return bench_result_measure (result, error) ? g_steal_pointer (&result) : NULL;
}
