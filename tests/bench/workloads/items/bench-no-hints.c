/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * Items without hints: what places cost a program that does not use them.
 *
 * Work stealing with a deque for each worker is the base; places take part with a deque for each
 * worker, which is usual here, and with one that the workers of a place share, as in the thesis:
 * all workers are of one place then, since a cache of one core each would make places of one
 * worker.
 */
#include "tests/bench/peers/bench-iris.h"
#include "tests/bench/workloads/items/bench-spray.h"
#include "tests/bench/workloads/bench-workload.h"

#define OUTER       1000
#define INNER       1000
#define QUICK       20 /* of either */
#define WORKING     20000
#define WORK_US     10.0
#define FROM_INSIDE "items that items make"
#define FROM_OUTER  "items from outside"
#define WITH_WORK   "items of 10 µs that items make"

#define SHARED "places:layout=shared"

static const char *const contenders[] = { "work-stealing", "places", SHARED, NULL };

static gboolean
run_spray (const BenchRun *run, gdouble *samples, GError **error)
{
  return bench_contender_spray (run->contender, run->load, run->workers, samples, error);
}

static void
add_load (BenchResult *result, const BenchOptions *options, const char *load, BenchSpray spray)
{
  BenchCase what = { .load = load,
                     .n_items = (guint64) spray.outer * (spray.inner + 1),
                     .relation = BENCH_OVERHEAD,
                     .run = run_spray,
                     .data = &spray,
                     .size = sizeof spray };

  for (guint i = 0; contenders[i] != NULL; i++)
    if (bench_is_wanted (options, contenders[i], BENCH_IRIS))
      {
        BenchContender *contender = bench_result_own (
            result, bench_iris_parse (contenders[i], NULL), (GDestroyNotify) bench_contender_free);

        contender->places = g_strdup (
            options->places == NULL && g_str_equal (contenders[i], SHARED) ? "1" : options->places);
        bench_result_add (result, &what, contenders[i], BENCH_IRIS, contender);
      }
}

static gboolean
plan (BenchResult *result, const BenchOptions *options, GError **error)
{
  guint outer = bench_choose (options, options->outer, options->quick ? QUICK : OUTER, 1);
  guint inner = bench_choose (options, options->inner, options->quick ? QUICK : INNER, 1);
  guint working = bench_choose (options, options->items, options->quick ? QUICK : WORKING, 1);
  BenchWork work = bench_work_new (WORK_US);

  bench_result_set_title (result, "%u items, all from outside or most from items; %u with work",
                          outer * inner, working);
  add_load (result, options, FROM_INSIDE, (BenchSpray){ 1, outer, inner, { 0 } });
  add_load (result, options, FROM_OUTER, (BenchSpray){ 1, outer * inner, 0, { 0 } });
  add_load (result, options, WITH_WORK, (BenchSpray){ 1, 1, working, work });

  return TRUE;
}

static gboolean
check (const BenchOptions *options, GError **error)
{
  return bench_check_chosen (options, "no-hints", contenders, error);
}

#define SAME(what, load, contender)                      \
  {                                                      \
    what, load, contender, 0, 0, .base = "work-stealing" \
  }

static const BenchPublished published[] = {
  SAME ("places against work stealing, items that items make", FROM_INSIDE, "places"),
  SAME ("the same, items from outside", FROM_OUTER, "places"),
  SAME ("the same, items of 10 µs", WITH_WORK, "places"),
  SAME ("one deque a place (B2) against work stealing", FROM_INSIDE, SHARED),
  SAME ("the same, items from outside", FROM_OUTER, SHARED),
  SAME ("the same, items of 10 µs", WITH_WORK, SHARED),
  { NULL }
};

static const BenchFigure figure = {
  .row = "B2 B3",
  .title = "Programs without hints run as fast on places",
  .source = BENCH_LASSI
  ", Alternative Designs, and Performance Evaluation, Non-Locality Benchmarks",
  .machine = BENCH_LASSI_MACHINE,
  .differs =
      "the thesis shows charts without a visible difference (0 %) of Java programs; these are "
      "empty items, where a difference shows most, and items of 10 µs; all workers share the one "
      "deque of B2, up to 8 of them in the thesis",
  .published = published,
};

const BenchWorkload bench_workload_no_hints = {
  .name = "no-hints",
  .summary = "items without hints on places, against work stealing",
  .suite = BENCH_SUITE_PAPER,
  .plan = plan,
  .figure = &figure,
  .check = check,
};
