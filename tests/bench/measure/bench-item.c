/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * Items that count themselves, and busy work of a calibrated length.
 *
 * A thread takes a line of the table when it runs its first item after a reset. The lines are
 * atomic because a peer's threads may outlive the run; an update is a plain load and a plain store.
 * The sums are read when the run is over, behind whatever the contender offers for waiting.
 */
#include "tests/bench/measure/bench-measure.h"

#include <stdatomic.h>
#include <time.h>

#define MAX_THREADS       16384
#define CALIBRATION_TRIES 25
#define CALIBRATION_STEPS 200000
#define SEED              0x9e3779b97f4a7c15U

typedef struct
{
  _Alignas(64) _Atomic guint64 n_items;
  _Atomic guint64 sum;
} Count;

static Count counts[MAX_THREADS];
static atomic_uint n_counts;
static atomic_uint generation = 1;
static _Thread_local Count *mine;
static _Thread_local guint mine_since;

gint64
bench_now (void)
{
  struct timespec now;

  clock_gettime (CLOCK_MONOTONIC, &now);

  return now.tv_sec * G_GINT64_CONSTANT (1000000000) + now.tv_nsec;
}

gdouble
bench_seconds_since (gint64 begin)
{
  return (gdouble) (bench_now () - begin) / 1e9;
}

/* A chain of steps, each of which needs the one before: no compiler and no processor shortens it.
 * The barriers make each call a call of its own, which ends before the clock is read: clang else
 * computes the same work once, or nothing, since the calibration needs no result.
 */
static guint64
work (guint64 steps)
{
  guint64 x = SEED;

  __asm__ volatile("" : "+r"(x));
  for (guint64 i = 0; i < steps; i++)
    {
      x ^= x << 13;
      x ^= x >> 7;
      x ^= x << 17;
    }
  __asm__ volatile("" : "+r"(x));

  return x;
}

/* The fastest of many tries: everything that disturbs makes a try slower. */
static gdouble
measure_steps_per_microsecond (void)
{
  gdouble best = 0;

  for (guint i = 0; i < CALIBRATION_TRIES; i++)
    {
      gint64 begin = bench_now ();

      work (CALIBRATION_STEPS);
      best = MAX (best, CALIBRATION_STEPS * 1e3 / (gdouble) MAX (bench_now () - begin, 1));
    }

  return best;
}

BenchWork
bench_work_of_steps (guint64 steps)
{
  return (BenchWork){ steps, work (steps) };
}

BenchWork
bench_work_new (gdouble microseconds)
{
  static gdouble per_microsecond;
  guint64 steps;

  if (microseconds <= 0)
    return (BenchWork){ 0, 0 };
  if (per_microsecond <= 0)
    per_microsecond = measure_steps_per_microsecond ();
  steps = MAX ((guint64) (microseconds * per_microsecond), 1);

  return bench_work_of_steps (steps);
}

void
bench_work_do (const BenchWork *self)
{
  work (self->steps);
}

static Count *
count_join (guint since)
{
  guint index = atomic_fetch_add_explicit (&n_counts, 1, memory_order_relaxed);

  g_assert (index < MAX_THREADS);
  mine = &counts[index];
  mine_since = since;

  return mine;
}

static inline void
count (guint64 sum)
{
  guint since = atomic_load_explicit (&generation, memory_order_relaxed);
  Count *c = G_LIKELY (mine_since == since) ? mine : count_join (since);

  atomic_store_explicit (&c->n_items, atomic_load_explicit (&c->n_items, memory_order_relaxed) + 1,
                         memory_order_relaxed);
  if (sum != 0)
    atomic_store_explicit (&c->sum, atomic_load_explicit (&c->sum, memory_order_relaxed) + sum,
                           memory_order_relaxed);
}

void
bench_item_run (gpointer data)
{
  const BenchWork *self = data;

  count (self->steps > 0 ? work (self->steps) : 0);
}

void
bench_count_one (void)
{
  count (0);
}

void
bench_counts_reset (void)
{
  guint n = MIN (atomic_load (&n_counts), MAX_THREADS);

  for (guint i = 0; i < n; i++)
    {
      atomic_store (&counts[i].n_items, 0);
      atomic_store (&counts[i].sum, 0);
    }
  atomic_store (&n_counts, 0);
  atomic_fetch_add (&generation, 1);
}

gboolean
bench_counts_check (guint64 n_items, guint64 sum, GError **error)
{
  guint n = MIN (atomic_load (&n_counts), MAX_THREADS);
  guint64 ran = 0, total = 0;

  for (guint i = 0; i < n; i++)
    {
      ran += atomic_load (&counts[i].n_items);
      total += atomic_load (&counts[i].sum);
    }
  if (ran != n_items)
    g_set_error (error, BENCH_ERROR, BENCH_ERROR_RESULT,
                 "%" G_GUINT64_FORMAT " of %" G_GUINT64_FORMAT " items were executed", ran,
                 n_items);
  else if (total != sum)
    g_set_error (error, BENCH_ERROR, BENCH_ERROR_RESULT,
                 "all %" G_GUINT64_FORMAT " items ran, but their work comes to %" G_GUINT64_FORMAT
                 ", not to %" G_GUINT64_FORMAT,
                 ran, total, sum);
  else
    return TRUE;

  return FALSE;
}
