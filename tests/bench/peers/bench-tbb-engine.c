/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * oneTBB as a contender, where it is found. Two of them, as it has two idioms, and the goals are
 * held against whichever is faster:
 *
 * onetbb       task_group::run() for items that items make, task_arena::enqueue() from outside
 * onetbb-for   parallel_for() with one item a task for items that items make; from outside,
 *              task_group::run() by producers that enter the arena
 */
#include "tests/bench/peers/bench-contender.h"

#ifdef HAVE_TBB

#include "tests/bench/peers/bench-tbb.h"

static gboolean
tbb_spray (const BenchContender *self,
           const BenchSpray *spray,
           guint workers,
           gdouble *seconds,
           GError **error)
{
  *seconds = spray->inner > 0 ? bench_tbb_spray_run (spray, workers)
                              : bench_tbb_spray_enqueue (spray, workers);

  return TRUE;
}

static gboolean
tbb_for_spray (const BenchContender *self,
               const BenchSpray *spray,
               guint workers,
               gdouble *seconds,
               GError **error)
{
  *seconds = spray->inner > 0 ? bench_tbb_spray_for (spray, workers)
                              : bench_tbb_spray_run (spray, workers);

  return TRUE;
}

static void
tbb_phases (const BenchContender *self, const BenchPhases *phases, guint workers, gdouble *seconds)
{
  *seconds = bench_tbb_phases (phases, workers);
}

static gboolean
tbb_fib (const BenchContender *self,
         guint n,
         guint workers,
         guint64 *value,
         gdouble *seconds,
         GError **error)
{
  *seconds = bench_tbb_fib (n, workers, value);

  return TRUE;
}

static gpointer
tbb_open (const BenchContender *self, guint workers, BenchFunc func, GError **error)
{
  return bench_tbb_arena_new (workers, func);
}

static void
tbb_push (gpointer handle, gpointer data)
{
  bench_tbb_arena_push (handle, data);
}

static void
tbb_close (gpointer handle)
{
  bench_tbb_arena_free (handle);
}

const BenchEngine bench_engine_tbb = {
  .name = "onetbb",
  .summary = "oneTBB: task_group::run(), task_arena::enqueue()",
  .kind = BENCH_PEER,
  .can = BENCH_CAN_OUTSIDE | BENCH_CAN_INSIDE | BENCH_CAN_WAKE | BENCH_CAN_FIB,
  .open = tbb_open,
  .push = tbb_push,
  .close = tbb_close,
  .spray = tbb_spray,
  .fib = tbb_fib,
};

const BenchEngine bench_engine_tbb_for = {
  .name = "onetbb-for",
  .summary = "oneTBB: parallel_for(); producers that enter the arena",
  .kind = BENCH_PEER,
  .can = BENCH_CAN_OUTSIDE | BENCH_CAN_INSIDE | BENCH_CAN_PHASES,
  .spray = tbb_for_spray,
  .phases = tbb_phases,
};

#endif
