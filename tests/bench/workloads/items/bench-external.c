/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * Items from outside: one thread, and several, queue empty items as fast as they can.
 *
 * This is what a scheduler's workers cannot help with: every item crosses from one thread to
 * another, and the producers contend with each other as well.
 */
#include "tests/bench/workloads/items/bench-spray.h"
#include "tests/bench/workloads/bench-workload.h"

#define ITEMS 1000000

static gboolean
plan (BenchResult *result, const BenchOptions *options, GError **error)
{
  static const guint usual[] = { 1, 4 };
  guint items = bench_choose (options, options->items, ITEMS, 4);

  bench_result_set_title (result, "%u empty items from outside", items);
  for (guint i = 0; i < (options->producers != 0 ? 1 : G_N_ELEMENTS (usual)); i++)
    {
      guint producers = options->producers != 0 ? options->producers : usual[i];
      BenchSpray spray = { .producers = producers, .outer = MAX (items, producers) };
      g_autofree char *load = g_strdup_printf ("%u producer%s", producers,
                                               producers == 1 ? "" : "s");

      bench_spray_add (result, options, &(BenchCase){ .load = load }, &spray);
    }

  return TRUE;
}

const BenchWorkload bench_workload_external = {
  .name = "external",
  .summary = "a million items from outside, by 1 and by 4 producers",
  .plan = plan,
};
