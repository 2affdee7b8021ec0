/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * The deques by themselves, every kind that the library names.
 *
 * deque, N threads   the owner pushes eight and takes what it still finds of them, again and again,
 *                    while the others steal; with one thread this is what the owner pays
 * steal              the owner fills the deque and exposes it, then a thief, which alone is timed,
 *                    takes all of it: what an item costs that is stolen
 *
 * Every item must come out once; of an idempotent deque, once or more.
 */
#include "tests/bench/workloads/structures/bench-containers.h"

#include <sched.h>
#include <stdatomic.h>
#include <stdbool.h>

#define AT_ONCE 8

/* Few enough for the bounded kinds. */
#define FILL 512

/* So many steals in vain before a thief gives way. */
#define FAILURES 32

/* Most that a thief asks for at once, as the schedulers do. */
#define STEAL_MAX 32

typedef struct
{
  IrisDequeKind kind;
  guint threads; /* 0: that of the steals, which takes two */
  guint items;
} Load;

typedef struct
{
  IrisDeque *deque;
  guint items;
  _Atomic guint8 *seen; /* idempotent: of the items, from 1 on; otherwise NULL */
  _Atomic guint64 n_out;
  _Atomic guint64 sum;
  atomic_bool is_full; /* steal: the thief's turn */
  gint64 stealing_ns;  /* steal: the thief's */
} Run;

static inline void
account (Run *run, gpointer item, guint64 *sum)
{
  *sum += GPOINTER_TO_UINT (item);
  if (run->seen != NULL)
    atomic_store_explicit (&run->seen[GPOINTER_TO_UINT (item)], 1, memory_order_relaxed);
}

static void
settle (Run *run, guint64 n, guint64 sum)
{
  atomic_fetch_add_explicit (&run->sum, sum, memory_order_relaxed);
  atomic_fetch_add_explicit (&run->n_out, n, memory_order_relaxed);
}

/* A bounded deque that is full has room again when its owner takes what is left. */
static void
push (Run *run, guint item, guint64 *n, guint64 *sum)
{
  while (!iris_deque_push (run->deque, GUINT_TO_POINTER (item)))
    {
      gpointer taken = iris_deque_take (run->deque);

      if (taken != NULL)
        {
          account (run, taken, sum);
          ++*n;
        }
    }
}

static void
own (Run *run)
{
  guint64 n = 0, sum = 0;
  gpointer item;

  for (guint i = 1; i <= run->items;)
    {
      for (guint j = 0; j < AT_ONCE && i <= run->items; j++)
        push (run, i++, &n, &sum);
      for (guint j = 0; j < AT_ONCE && (item = iris_deque_take (run->deque)) != NULL; j++, n++)
        account (run, item, &sum);
    }
  for (; (item = iris_deque_take (run->deque)) != NULL; n++)
    account (run, item, &sum);
  settle (run, n, sum);
}

static guint
steal_some (Run *run)
{
  gpointer items[STEAL_MAX];
  guint n = iris_deque_steal (run->deque, items, STEAL_MAX);
  guint64 sum = 0;

  for (guint i = 0; i < n; i++)
    account (run, items[i], &sum);
  if (n > 0)
    settle (run, n, sum);

  return n;
}

static void
run_mixed (gpointer data, guint index)
{
  Run *run = data;

  guint failures = 0;

  if (index == 0)
    {
      own (run);
      return;
    }
  /* A thief that finds nothing gives way now and then, as the workers of a scheduler do. */
  while (atomic_load_explicit (&run->n_out, memory_order_relaxed) < run->items)
    if (steal_some (run) == 0 && ++failures % FAILURES == 0)
      sched_yield ();
}

static void
wait_for (Run *run, bool is_full)
{
  while (atomic_load_explicit (&run->is_full, memory_order_acquire) != is_full)
    sched_yield ();
}

static void
fill_again_and_again (Run *run)
{
  for (guint i = 1; i <= run->items;)
    {
      guint n = MIN (FILL, run->items - i + 1);

      /* It is empty; a bounded one starts again at its beginning when its owner sees that. */
      iris_deque_take (run->deque);
      for (guint j = 0; j < n; j++)
        iris_deque_push (run->deque, GUINT_TO_POINTER (i++));
      iris_deque_expose (run->deque, n);
      atomic_store_explicit (&run->is_full, true, memory_order_release);
      wait_for (run, false);
    }
}

static void
run_steal (gpointer data, guint index)
{
  Run *run = data;

  if (index == 0)
    {
      fill_again_and_again (run);
      return;
    }
  for (guint left = run->items; left > 0;)
    {
      guint n, batch = MIN (FILL, left);
      gint64 begin;

      wait_for (run, true);
      begin = bench_now ();
      for (n = 0; n < batch;)
        n += steal_some (run);
      run->stealing_ns += bench_now () - begin;
      left -= n;
      atomic_store_explicit (&run->is_full, false, memory_order_release);
    }
}

static gboolean
check_out (Run *run, GError **error)
{
  guint64 n = run->items, missing = 0;
  gboolean once = atomic_load (&run->n_out) == n && atomic_load (&run->sum) == n * (n + 1) / 2;

  for (guint64 i = 1; run->seen != NULL && i <= n; i++)
    missing += atomic_load (&run->seen[i]) == 0;
  if (run->seen != NULL ? missing == 0 : once)
    return TRUE;
  g_set_error (error, BENCH_ERROR, BENCH_ERROR_RESULT,
               "%" G_GUINT64_FORMAT " items came out for %" G_GUINT64_FORMAT
               " that went in, with a sum of %" G_GUINT64_FORMAT "; %" G_GUINT64_FORMAT
               " are known to be missing",
               atomic_load (&run->n_out), n, atomic_load (&run->sum), missing);

  return FALSE;
}

static gboolean
run_deque (const BenchRun *what, gdouble *samples, GError **error)
{
  const Load *self = what->load;
  g_autoptr (IrisDeque) deque = iris_deque_new (self->kind);
  g_autofree _Atomic guint8 *seen = NULL;
  Run run = { .deque = deque, .items = self->items };

  if (self->kind == IRIS_DEQUE_IDEMPOTENT)
    run.seen = seen = g_new0 (_Atomic guint8, self->items + 1);
  if (self->threads == 0)
    {
      bench_threads_run (2, run_steal, &run);
      samples[0] = (gdouble) run.stealing_ns / 1e9;
    }
  else
    {
      gint64 begin = bench_threads_run (self->threads, run_mixed, &run);

      samples[0] = bench_seconds_since (begin);
    }

  return check_out (&run, error);
}

static void
add_deque (BenchResult *result, const GEnumValue *kind, guint threads, guint items)
{
  g_autofree char *mixed = g_strdup_printf ("deque, %u thread%s", threads, threads == 1 ? "" : "s");
  const Load load = { (IrisDequeKind) kind->value, threads, items };
  /* Pushed and taken: two operations; or stolen: one. */
  BenchCase what = { .load = threads > 0 ? mixed : "steal",
                     .workers = MAX (threads, 2),
                     .n_items = (guint64) items * (threads > 0 ? 2 : 1),
                     .x = threads,
                     .run = run_deque,
                     .data = &load,
                     .size = sizeof load };

  bench_result_add (result, &what, kind->value_nick, BENCH_IRIS, NULL);
}

void
bench_deques_add (BenchResult *result, const BenchOptions *options, guint threads, guint items)
{
  g_autoptr (GEnumClass) kinds = g_type_class_ref (IRIS_TYPE_DEQUE_KIND);

  for (guint i = 0; i < kinds->n_values; i++)
    if (bench_is_wanted (options, kinds->values[i].value_nick, BENCH_IRIS))
      {
        add_deque (result, &kinds->values[i], threads, items);
        if (threads == 1)
          add_deque (result, &kinds->values[i], 0, items);
      }
}
