/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * The containers by themselves: nanoseconds for an operation against the number of threads.
 *
 * Shared ones: every thread pushes one item and pops one, again and again. A MPSC queue: all
 * threads but one push, that one pops; with one thread it does both. Deques: see bench-deques.c.
 * Every item that went in must come out, once: the sum of what came out says so.
 */
#include "tests/bench/workloads/structures/bench-containers.h"
#include "tests/bench/workloads/bench-workload.h"

#include <sched.h>
#include <stdatomic.h>

#define ITEMS 200000

typedef struct
{
  const BenchContainer *container;
  guint items;
} Load;

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
run_container (const BenchRun *what, gdouble *samples, GError **error)
{
  static const BenchThreadFunc funcs[] = { run_shared, run_mpsc };
  const Load *self = what->load;
  guint64 n = self->items, expected = n * (n + 1) / 2;
  Run run = { .container = self->container,
              .self = self->container->make (),
              .threads = what->workers,
              .items = self->items };
  gint64 begin = bench_threads_run (what->workers, funcs[self->container->sharing], &run);
  gboolean empty;

  samples[0] = bench_seconds_since (begin);
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

static void
add_container (BenchResult *result, const BenchContainer *container, guint threads, guint items)
{
  static const char *const sharings[] = { "shared", "single-consumer" };
  g_autofree char *name = g_strdup_printf ("%s, %u thread%s", sharings[container->sharing], threads,
                                           threads == 1 ? "" : "s");
  const Load load = { container, items };
  /* An item is pushed and popped: two operations. */
  BenchCase what = { .load = name,
                     .workers = threads,
                     .n_items = 2 * (guint64) items,
                     .x = threads,
                     .run = run_container,
                     .data = &load,
                     .size = sizeof load };

  bench_result_add (result, &what, container->name, container->kind, NULL);
}

/* 1, 2, 4 and so on, up to twice the workers. */
static gboolean
plan (BenchResult *result, const BenchOptions *options, GError **error)
{
  guint items = bench_choose (options, options->items, ITEMS, 16);

  bench_result_set_title (result, "%u items through each container", items);
  for (guint threads = 1; threads <= 2 * options->workers; threads *= 2)
    {
      const BenchContainer *container;

      for (guint i = 0; (container = bench_container_nth (i)) != NULL; i++)
        if (bench_is_wanted (options, container->name, container->kind))
          add_container (result, container, threads, items);
      bench_deques_add (result, options, threads, items);
    }

  return TRUE;
}

static gboolean
check (const BenchOptions *options, GError **error)
{
  g_autoptr (GEnumClass) deques = g_type_class_ref (IRIS_TYPE_DEQUE_KIND);
  g_autoptr (GPtrArray) names = g_ptr_array_new ();
  const BenchContainer *container;

  for (guint i = 0; (container = bench_container_nth (i)) != NULL; i++)
    g_ptr_array_add (names, (gpointer) container->name);
  for (guint i = 0; i < deques->n_values; i++)
    g_ptr_array_add (names, (gpointer) deques->values[i].value_nick);
  g_ptr_array_add (names, NULL);

  return bench_check_chosen (options, "queues", (const char *const *) names->pdata, error);
}

const BenchWorkload bench_workload_queues = {
  .name = "queues",
  .summary = "the containers by themselves, against threads",
  .item = "operation",
  .x_label = "threads",
  .plan = plan,
  .check = check,
};
