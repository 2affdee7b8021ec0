/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * Trials of items from outside and of items that items make.
 */
#include "tests/bench/workloads/items/bench-spray.h"

static gboolean
run_contender (const BenchRun *run, gdouble *samples, GError **error)
{
  return bench_contender_spray (run->contender, run->load, run->workers, samples, error);
}

static guint64
count_leaves (const BenchSpray *spray)
{
  return (guint64) spray->outer * MAX (spray->inner, 1);
}

static gboolean
run_plain (const BenchRun *run, gdouble *samples, GError **error)
{
  const BenchSpray *spray = run->load;
  guint64 n = count_leaves (spray);
  gint64 begin;

  bench_counts_reset ();
  begin = bench_now ();
  for (guint64 i = 0; i < n; i++)
    bench_item_run ((gpointer) &spray->work);
  samples[0] = bench_seconds_since (begin);

  return bench_counts_check (n, n * spray->work.result, error);
}

void
bench_spray_add (BenchResult *result,
                 const BenchOptions *options,
                 const BenchCase *what,
                 const BenchSpray *spray)
{
  guint can = spray->inner > 0 ? BENCH_CAN_INSIDE : BENCH_CAN_OUTSIDE;
  BenchCase items = *what;

  items.n_items = (guint64) spray->outer * (spray->inner + 1);
  items.data = spray;
  items.size = sizeof *spray;
  if (what->relation == BENCH_IDEAL)
    {
      BenchCase plain = { .load = what->load,
                          .workers = 1,
                          .n_items = count_leaves (spray),
                          .x = what->x,
                          .show = what->show,
                          .run = run_plain,
                          .data = spray,
                          .size = sizeof *spray };

      items.base = bench_result_add (result, &plain, "plain", BENCH_PLAIN, NULL);
    }
  items.run = run_contender;
  bench_contenders_add (result, options, can, NULL, &items);
}
