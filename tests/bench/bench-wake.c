/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * Waking: the time from pushing an item until it runs, when all threads sleep.
 *
 * Before each push all of the contender's threads must be asleep, by its own word and the kernel's.
 * The clock is read just before the push and first thing in the item; the pusher looks for the end
 * meanwhile without sleeping, so that its own waking is no part of anything.
 */
#include "bench-contender.h"
#include "bench-result.h"
#include "bench-workloads.h"

#include <sched.h>
#include <stdatomic.h>

#define WAKES 200

/* Looks before the processor is offered to a thread that may need it. */
#define LOOKS 1000

typedef struct
{
  BenchContender *contender;
  guint workers;
  guint n_wakes;
} Trial;

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
trial_run (gpointer data, gdouble *samples, GError **error)
{
  Trial *self = data;
  const BenchEngine *engine = self->contender->engine;
  g_autoptr (GArray) delays = g_array_new (FALSE, FALSE, sizeof (gdouble));
  gpointer handle = engine->open (self->contender, self->workers, run_item, error);
  gboolean good = handle != NULL;

  bench_counts_reset ();
  for (guint i = 0; good && i < self->n_wakes; i++)
    {
      good = bench_wait_asleep (self->contender, handle, error);
      if (good)
        {
          gdouble seconds = (gdouble) wake_once (engine, handle) / 1e9;

          g_array_append_val (delays, seconds);
        }
    }
  if (handle != NULL)
    engine->close (handle);
  if (!good)
    return FALSE;
  samples[0] = bench_quantile (delays, 0.5);
  samples[1] = bench_quantile (delays, 0.99);

  return bench_counts_check (self->n_wakes, 0, error);
}

static void
trial_free (gpointer data)
{
  Trial *self = data;

  bench_contender_free (self->contender);
  g_free (self);
}

BenchResult *
bench_wake (const BenchOptions *options, GError **error)
{
  static const char *const loads[] = { "median", "99th percentile" };
  guint n_wakes = bench_choose (options, options->items, WAKES, 2);
  g_autoptr (GPtrArray) contenders = bench_contenders (options, BENCH_CAN_WAKE);
  g_autoptr (BenchResult)
      result = bench_result_new ("wake", options,
                                 g_strdup_printf ("from push to run when all threads sleep, "
                                                  "%u times a round",
                                                  n_wakes));
  const BenchSeries *base[2] = { NULL, NULL };

  while (contenders->len > 0)
    {
      BenchContender *contender = g_ptr_array_steal_index (contenders, 0);
      BenchSeries *series[2];
      Trial *trial = g_new (Trial, 1);

      *trial = (Trial){ contender, options->workers, n_wakes };
      for (guint i = 0; i < 2; i++)
        {
          series[i] = bench_series_new (loads[i], contender->name, contender->engine->kind,
                                        options->workers, 0);
          base[i] = base[i] != NULL ? base[i] : series[i];
          bench_series_compare (series[i], base[i], BENCH_FACTOR);
          series[i]->show = BENCH_SHOW_SAMPLE;
          bench_result_add_series (result, series[i]);
        }
      bench_result_add_trial (result, trial_run, trial, trial_free, series[0], series[1]);
    }

  return bench_result_measure (result, error) ? g_steal_pointer (&result) : NULL;
}
