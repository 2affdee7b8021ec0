/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * The containers by themselves: nanoseconds for an operation against the number of threads.
 *
 * Shared ones: every thread pushes one item and pops one, again and again. A MPSC queue: all
 * threads but one push, that one pops; with one thread it does both. Deques: see bench-deques.c.
 * Every item that went in must come out, once: the sum of what came out says so.
 */
#include "tests/bench/workloads/structures/bench-containers.h"
#include "tests/bench/peers/bench-contender.h"
#include "tests/bench/measure/bench-result.h"
#include "tests/bench/workloads/bench-workloads.h"

#include <sched.h>
#include <stdatomic.h>

#define ITEMS 200000

typedef struct
{
  const BenchContainer *container;
  guint threads;
  guint items;
} Trial;

/* One run. An item is a number from 1 on, as a pointer. */
typedef struct
{
  const BenchContainer *container;
  gpointer self;
  guint threads;
  guint items;
  _Atomic guint64 n_out;
  _Atomic guint64 sum;
} Run;

static void
share (const Run *run, guint index, guint of, guint *first, guint *end)
{
  *first = (guint) ((guint64) run->items * index / of) + 1;
  *end = (guint) ((guint64) run->items * (index + 1) / of) + 1;
}

static void
account (Run *run, guint64 n, guint64 sum)
{
  atomic_fetch_add_explicit (&run->n_out, n, memory_order_relaxed);
  atomic_fetch_add_explicit (&run->sum, sum, memory_order_relaxed);
}

/* What a thread has pushed is there, or another thread took it and left one of its own. */
static gpointer
pop_one (const Run *run)
{
  gpointer item;

  while ((item = run->container->pop (run->self)) == NULL)
    sched_yield ();

  return item;
}

static void
run_shared (gpointer data, guint index)
{
  Run *run = data;
  guint first, end;
  guint64 sum = 0;

  share (run, index, run->threads, &first, &end);
  for (guint i = first; i < end; i++)
    {
      run->container->push (run->self, GUINT_TO_POINTER (i));
      sum += GPOINTER_TO_UINT (pop_one (run));
    }
  account (run, end - first, sum);
}

static void
run_mpsc (gpointer data, guint index)
{
  Run *run = data;
  guint first, end;
  guint64 sum = 0;

  if (run->threads == 1)
    {
      run_shared (data, index);
      return;
    }
  if (index > 0)
    {
      share (run, index - 1, run->threads - 1, &first, &end);
      for (guint i = first; i < end; i++)
        run->container->push (run->self, GUINT_TO_POINTER (i));
      return;
    }
  for (guint i = 0; i < run->items; i++)
    sum += GPOINTER_TO_UINT (pop_one (run));
  account (run, run->items, sum);
}

static gboolean
trial_run (gpointer data, gdouble *samples, GError **error)
{
  static const BenchThreadFunc funcs[] = { run_shared, run_mpsc };
  Trial *self = data;
  guint64 n = self->items, expected = n * (n + 1) / 2;
  Run run = { .container = self->container,
              .self = self->container->make (),
              .threads = self->threads,
              .items = self->items };
  gint64 begin = bench_threads_run (self->threads, funcs[self->container->sharing], &run);
  gboolean empty;

  samples[0] = (bench_now () - begin) / 1e9;
  empty = self->container->pop (run.self) == NULL;
  self->container->unmake (run.self);
  if (atomic_load (&run.n_out) == n && atomic_load (&run.sum) == expected && empty)
    return TRUE;
  g_set_error (error, BENCH_ERROR, BENCH_ERROR_RESULT,
               "%" G_GUINT64_FORMAT " of %" G_GUINT64_FORMAT
               " items came out, their sum is %" G_GUINT64_FORMAT " of %" G_GUINT64_FORMAT "%s",
               atomic_load (&run.n_out), n, atomic_load (&run.sum), expected,
               empty ? "" : ", and one is left");

  return FALSE;
}

gboolean
bench_container_is_wanted (const BenchOptions *options, const char *name, BenchKind kind)
{
  if (options->only != NULL)
    return g_strv_contains ((const char *const *) options->only, name);

  return options->peers || kind == BENCH_IRIS;
}

static const BenchSeries *
find_base (const BenchResult *result, const char *load)
{
  for (guint i = 0; i < result->series->len; i++)
    {
      const BenchSeries *series = g_ptr_array_index (result->series, i);

      if (g_str_equal (series->load, load))
        return series;
    }

  return NULL;
}

/* Compared with the first container of its load. */
BenchSeries *
bench_container_add_series (BenchResult *result,
                            const char *load,
                            const char *name,
                            BenchKind kind,
                            guint threads,
                            guint64 n)
{
  BenchSeries *series = bench_series_new (load, name, kind, threads, n);
  const BenchSeries *base = find_base (result, load);

  bench_series_compare (series, base != NULL ? base : series, BENCH_FACTOR);

  return bench_result_add_series (result, series);
}

static void
add_trial (BenchResult *result, const BenchContainer *container, guint threads, guint items)
{
  static const char *const sharings[] = { "shared", "single-consumer" };
  g_autofree char *load = g_strdup_printf ("%s, %u thread%s", sharings[container->sharing], threads,
                                           threads == 1 ? "" : "s");
  /* An item is pushed and popped: two operations. */
  BenchSeries *series = bench_container_add_series (result, load, container->name, container->kind,
                                                    threads, 2 * (guint64) items);
  Trial *trial = g_new (Trial, 1);

  *trial = (Trial){ container, threads, items };
  series->x = threads;
  bench_result_add_trial (result, trial_run, trial, g_free, series, NULL);
}

/* 1, 2, 4 and so on, up to twice the workers. */
BenchResult *
bench_queues (const BenchOptions *options, GError **error)
{
  guint items = bench_choose (options, options->items, ITEMS, 16);
  g_autoptr (BenchResult) result = bench_result_new (
      "queues", options, g_strdup_printf ("%u items through each container", items));

  result->item = "operation";
  result->x_label = g_strdup ("threads");
  for (guint threads = 1; threads <= 2 * options->workers; threads *= 2)
    {
      const BenchContainer *container;

      for (guint i = 0; (container = bench_container_nth (i)) != NULL; i++)
        if (bench_container_is_wanted (options, container->name, container->kind))
          add_trial (result, container, threads, items);
      bench_deques_add_trials (result, options, threads, items);
    }

  return bench_result_measure (result, error) ? g_steal_pointer (&result) : NULL;
}
