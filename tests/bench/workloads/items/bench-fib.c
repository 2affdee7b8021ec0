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
#include "tests/bench/workloads/items/bench-fib.h"

#include "tests/bench/peers/bench-iris.h"
#include "tests/bench/workloads/bench-workload.h"

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
  bench_iris_steals_begin (self, scheduler);
  begin = bench_now ();
  iris_scheduler_queue (scheduler, run_root, &root, NULL);
  iris_scheduler_shutdown (scheduler, IRIS_SHUTDOWN_DRAIN);
  *seconds = bench_seconds_since (begin);
  bench_iris_steals_end (self, scheduler);
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

static gboolean
check_value (guint n, guint64 value, GError **error)
{
  if (value == fib_by_sum (n))
    return TRUE;
  g_set_error (error, BENCH_ERROR, BENCH_ERROR_RESULT,
               "fib (%u) is %" G_GUINT64_FORMAT ", not %" G_GUINT64_FORMAT, n, fib_by_sum (n),
               value);

  return FALSE;
}

static gboolean
run_plain (const BenchRun *run, gdouble *samples, GError **error)
{
  guint n = *(const guint *) run->load;
  gint64 begin = bench_now ();
  guint64 value = plain_fib (n);

  samples[0] = bench_seconds_since (begin);

  return check_value (n, value, error);
}

gboolean
bench_fib_run (const BenchRun *run, gdouble *samples, GError **error)
{
  guint n = *(const guint *) run->load;
  guint64 value = 0;

  return run->contender->engine->fib (run->contender, n, run->workers, &value, samples, error)
         && check_value (n, value, error);
}

/* A number of tasks times the scale is this much further along. */
guint
bench_fib_choose (const BenchOptions *options)
{
  gdouble golden = (1 + sqrt (5)) / 2;

  if (options->size != 0)
    return MIN (options->size, MAX_N);

  return (guint) CLAMP (N + log (options->scale) / log (golden), 5, MAX_N);
}

guint64
bench_fib_count_tasks (guint n)
{
  return fib_by_sum (n + 1) - 1;
}

static gboolean
plan (BenchResult *result, const BenchOptions *options, GError **error)
{
  guint n = bench_fib_choose (options);
  guint64 n_tasks = bench_fib_count_tasks (n);
  BenchCase what = { .load = "call",
                     .workers = 1,
                     .n_items = n_tasks,
                     .show = BENCH_SHOW_COMPARED,
                     .run = run_plain,
                     .data = &n,
                     .size = sizeof n };

  bench_result_set_title (result, "fib (%u), %" G_GUINT64_FORMAT " tasks", n, n_tasks);
  what.base = bench_result_add (result, &what, "plain", BENCH_PLAIN, NULL);
  what.run = bench_fib_run;
  bench_contenders_add_scaled (result, options, BENCH_CAN_FIB, &what, BENCH_EXTRA, BENCH_EXTRA);

  return TRUE;
}

const BenchWorkload bench_workload_fib = {
  .name = "fib",
  .summary = "a task for each call of a recursive function",
  .item = "task",
  .plan = plan,
};
