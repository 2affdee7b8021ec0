/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * Waking: the time from pushing an item until it runs, when all threads sleep.
 *
 * Before each push all of the contender's threads must be asleep, by its own word and the kernel's.
 * The clock is read just before the push and first thing in the item; the pusher looks for the end
 * meanwhile without sleeping, so that its own waking is no part of anything.
 */
#include "tests/bench/peers/bench-contender.h"
#include "tests/bench/workloads/bench-workload.h"

#include <sched.h>
#include <stdatomic.h>

#define WAKES 200

/* Looks before the processor is offered to a thread that may need it. */
#define LOOKS 1000

typedef struct
{
  _Atomic gint64 ran;
} Item;

static void
run_item (gpointer data)
{
  Item *self = data;

  atomic_store_explicit (&self->ran, bench_now (), memory_order_release);
  bench_count_one ();
}

static gint64
wake_once (const BenchEngine *engine, gpointer handle)
{
  Item item = { 0 };
  gint64 pushed = bench_now (), ran;
  guint looks = 0;

  engine->push (handle, &item);
  while ((ran = atomic_load_explicit (&item.ran, memory_order_acquire)) == 0)
    if (++looks % LOOKS == 0)
      sched_yield ();

  return ran - pushed;
}

static gboolean
run_wakes (const BenchRun *run, gdouble *samples, GError **error)
{
  const BenchEngine *engine = run->contender->engine;
  guint n_wakes = *(const guint *) run->load;
  g_autoptr (GArray) delays = g_array_new (FALSE, FALSE, sizeof (gdouble));
  gpointer handle = bench_contender_open (run->contender, run->workers, run_item, error);
  gboolean good = TRUE;

  if (handle == NULL)
    return FALSE;
  bench_counts_reset ();
  for (guint i = 0; good && i < n_wakes; i++)
    {
      good = bench_wait_asleep (engine->is_idle, handle, error);
      if (good)
        {
          gdouble seconds = (gdouble) wake_once (engine, handle) / 1e9;

          g_array_append_val (delays, seconds);
        }
    }
  engine->close (handle);
  if (!good)
    return FALSE;
  samples[0] = bench_quantile (delays, 0.5);
  samples[1] = bench_quantile (delays, 0.99);

  return bench_counts_check (n_wakes, 0, error);
}

static gboolean
plan (BenchResult *result, const BenchOptions *options, GError **error)
{
  guint n_wakes = bench_choose (options, options->items, WAKES, 2);
  BenchCase what = { .load = "median",
                     .second = "99th percentile",
                     .show = BENCH_SHOW_SAMPLE,
                     .run = run_wakes,
                     .data = &n_wakes,
                     .size = sizeof n_wakes };

  bench_result_set_title (result, "from push to run when all threads sleep, %u times a round",
                          n_wakes);
  bench_contenders_add (result, options, BENCH_CAN_WAKE, NULL, &what);

  return TRUE;
}

const BenchWorkload bench_workload_wake = {
  .name = "wake",
  .summary = "from push to run when all threads sleep",
  .plan = plan,
};
