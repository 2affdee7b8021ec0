/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * Fibonacci numbers by recursion: what a task costs that does next to nothing.
 *
 * A call makes one task of its first half and goes on with the second, as fork-join programs do;
 * so there are as many tasks as calls that have halves. The base is the plain recursive function.
 *
 * iris's schedulers do it with items: a frame waits for its two halves, and the worker that
 * brings the second goes on with the frame's caller. The item is part of the frame. An engine whose
 * tasks can be waited for brings a fib of its own (BenchEngine.fib): iris's is `fork-join`.
 */
#include "bench-iris.h"
#include "bench-result.h"
#include "bench-workloads.h"

#include <math.h>
#include <stdatomic.h>

#define N     27
#define MAX_N 60

/* The upper bits of a frame's sum count its halves. */
#define ONE_HALF (G_GUINT64_CONSTANT (1) << 62)

typedef struct _Fib Fib;
typedef struct _Frame Frame;

struct _Frame
{
  IrisItem item;
  Fib *fib;
  Frame *caller;
  guint n; /* of the half that the item computes */
  _Atomic guint64 sum;
};

struct _Fib
{
  IrisScheduler *scheduler;
  _Atomic guint64 value;
};

/* Release: the frame is freed behind this half; acquire: and behind the other. */
static void
deliver (Fib *fib, Frame *frame, guint64 value)
{
  while (frame != NULL)
    {
      Frame *caller = frame->caller;
      guint64 before = atomic_fetch_add_explicit (&frame->sum, value + ONE_HALF,
                                                  memory_order_acq_rel);

      /* The other half is to come, and may have freed the frame by now. */
      if (before < ONE_HALF)
        return;
      value += before - ONE_HALF;
      g_free (frame);
      frame = caller;
    }
  atomic_store_explicit (&fib->value, value, memory_order_release);
}

static void compute (Fib *fib, Frame *caller, guint n);

static void
run_frame (gpointer data)
{
  Frame *self = data;

  compute (self->fib, self, self->n);
}

static void
compute (Fib *fib, Frame *caller, guint n)
{
  while (n >= 2)
    {
      Frame *frame = g_new (Frame, 1);

      frame->fib = fib;
      frame->caller = caller;
      frame->n = n - 1;
      atomic_init (&frame->sum, 0);
      iris_item_init (&frame->item, run_frame, frame, NULL);
      iris_scheduler_queue_item (fib->scheduler, &frame->item);
      caller = frame;
      n -= 2;
    }
  deliver (fib, caller, n);
}

typedef struct
{
  Fib fib;
  guint n;
} Root;

static void
run_root (gpointer data)
{
  Root *self = data;

  compute (&self->fib, NULL, self->n);
}

gboolean
bench_iris_fib (const BenchContender *self,
                guint n,
                guint workers,
                guint64 *value,
                gdouble *seconds,
                GError **error)
{
  g_autoptr (IrisScheduler) scheduler = bench_iris_open (self, workers, error);
  Root root = { { scheduler, 0 }, n };
  gint64 begin;

  if (scheduler == NULL)
    return FALSE;
  bench_iris_start (scheduler);
  if (!bench_wait_asleep (NULL, NULL, error))
    return FALSE;
  begin = bench_now ();
  iris_scheduler_queue (scheduler, run_root, &root, NULL);
  iris_scheduler_shutdown (scheduler, IRIS_SHUTDOWN_DRAIN);
  *seconds = (bench_now () - begin) / 1e9;
  *value = atomic_load_explicit (&root.fib.value, memory_order_acquire);

  return TRUE;
}

/* --- the trials ------------------------------------------------------------------------------- */

static guint64
plain_fib (guint n)
{
  return n < 2 ? n : plain_fib (n - 1) + plain_fib (n - 2);
}

static guint64
fib_by_sum (guint n)
{
  guint64 a = 0, b = 1;

  for (guint i = 0; i < n; i++)
    {
      guint64 next = a + b;

      a = b;
      b = next;
    }

  return a;
}

typedef struct
{
  BenchContender *contender; /* NULL: the plain function */
  guint n;
  guint workers;
} Trial;

static void
trial_free (gpointer data)
{
  Trial *self = data;

  g_clear_pointer (&self->contender, bench_contender_free);
  g_free (self);
}

static gboolean
trial_run (gpointer data, gdouble *samples, GError **error)
{
  Trial *self = data;
  guint64 value = 0;
  gint64 begin = bench_now ();

  if (self->contender == NULL)
    {
      value = plain_fib (self->n);
      samples[0] = (bench_now () - begin) / 1e9;
    }
  else if (!self->contender->engine->fib (self->contender, self->n, self->workers, &value, samples,
                                          error))
    return FALSE;
  if (value == fib_by_sum (self->n))
    return TRUE;
  g_set_error (error, BENCH_ERROR, BENCH_ERROR_RESULT,
               "fib (%u) is %" G_GUINT64_FORMAT ", not %" G_GUINT64_FORMAT, self->n,
               fib_by_sum (self->n), value);

  return FALSE;
}

static BenchSeries *
add_trial (BenchResult *result,
           BenchContender *contender,
           const BenchSeries *base,
           guint n,
           guint workers)
{
  g_autofree char *load = g_strdup_printf ("%u worker%s", workers, workers == 1 ? "" : "s");
  Trial *trial = g_new (Trial, 1);
  BenchSeries *series = bench_series_new (
      contender != NULL ? load : "call", contender != NULL ? contender->name : "plain",
      contender != NULL ? contender->engine->kind : BENCH_PLAIN, workers, fib_by_sum (n + 1) - 1);

  *trial = (Trial){ contender, n, workers };
  bench_series_compare (series, base, BENCH_EXTRA);
  series->show = BENCH_SHOW_COMPARED;
  bench_result_add_series (result, series);
  bench_result_add_trial (result, trial_run, trial, trial_free, series, NULL);

  return series;
}

/* A number of tasks times the scale is this much further along. */
static guint
choose_n (const BenchOptions *options)
{
  gdouble golden = (1 + sqrt (5)) / 2;

  if (options->size != 0)
    return MIN (options->size, MAX_N);

  return (guint) CLAMP (N + log (options->scale) / log (golden), 5, MAX_N);
}

BenchResult *
bench_fib (const BenchOptions *options, GError **error)
{
  guint n = choose_n (options);
  g_autoptr (BenchResult) result = bench_result_new (
      "fib", options,
      g_strdup_printf ("fib (%u), %" G_GUINT64_FORMAT " tasks", n, fib_by_sum (n + 1) - 1));
  const BenchSeries *plain;

  result->item = "task";
  plain = add_trial (result, NULL, NULL, n, 1);

  for (guint i = 0; i < 2 && (i == 0 || options->workers > 1); i++)
    {
      g_autoptr (GPtrArray) contenders = bench_contenders (options, BENCH_CAN_FIB);

      while (contenders->len > 0)
        add_trial (result, g_ptr_array_steal_index (contenders, 0), plain, n,
                   i == 0 ? 1 : options->workers);
    }

  return bench_result_measure (result, error) ? g_steal_pointer (&result) : NULL;
}
