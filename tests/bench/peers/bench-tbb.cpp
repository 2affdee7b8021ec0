/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * oneTBB as a contender, where it is found. Two of them, as it has two idioms, and the goals are
 * held against whichever is faster:
 *
 * onetbb       task_group::run() for items that items make, task_arena::enqueue() from outside
 * onetbb-for   parallel_for() with one item a task for items that items make; from outside,
 *              task_group::run() by producers that enter the arena
 *
 * Threads. Where the calling thread works too (it waits for the load inside the arena), the arena
 * has as many slots as there are workers to be, one of them for the caller. Where items come from
 * outside, the arena has a slot for each worker, and the callers only push; the limit of the
 * process counts the calling thread, hence the one more.
 */
#define HAVE_TBB
#include "tests/bench/peers/bench-contender.h"

#include <tbb/global_control.h>
#include <tbb/parallel_for.h>
#include <tbb/task_arena.h>
#include <tbb/task_group.h>

using Limit = tbb::global_control;

static void
work (const BenchSpray *spray)
{
  bench_item_run (const_cast<BenchWork *> (&spray->work));
}

template <typename Outer>
static gdouble
spray_from_caller (const BenchSpray *spray, guint workers, const Outer &outer)
{
  Limit limit (Limit::max_allowed_parallelism, workers);
  tbb::task_arena arena (static_cast<int> (workers), 1);
  tbb::task_group group;

  arena.initialize ();
  const gint64 begin = bench_now ();
  arena.execute ([&] {
    for (guint i = 0; i < spray->outer; i++)
      group.run ([&] { outer (group); });
    group.wait ();
  });

  return bench_seconds_since (begin);
}

namespace
{
struct Producers
{
  const BenchSpray *spray;
  tbb::task_arena *arena;
  tbb::task_group *group;
};
} // namespace

static void
produce_inside (gpointer data, guint producer)
{
  auto *self = static_cast<Producers *> (data);
  guint first = 0, end = 0;

  bench_spray_share (self->spray, producer, &first, &end);
  self->arena->execute ([&] {
    for (guint i = first; i < end; i++)
      self->group->run ([spray = self->spray] { work (spray); });
  });
}

/* Producers enter the arena, for which it has slots beside those of the workers, and spawn. */
static gdouble
spray_from_producers (const BenchSpray *spray, guint workers)
{
  Limit limit (Limit::max_allowed_parallelism, workers + 1);
  tbb::task_arena arena (static_cast<int> (workers + spray->producers), spray->producers);
  tbb::task_group group;
  Producers run = { spray, &arena, &group };

  arena.initialize ();
  const gint64 begin = bench_threads_run (spray->producers, produce_inside, &run);
  arena.execute ([&] { group.wait (); });

  return bench_seconds_since (begin);
}

static gdouble
spray_run (const BenchSpray *spray, guint workers)
{
  if (spray->inner == 0)
    return spray_from_producers (spray, workers);

  return spray_from_caller (spray, workers, [spray] (tbb::task_group &group) {
    bench_count_one ();
    for (guint i = 0; i < spray->inner; i++)
      group.run ([spray] { work (spray); });
  });
}

/* One item a task: a range is halved until one is left, which is what the items are compared by. */
static gdouble
spray_for (const BenchSpray *spray, guint workers)
{
  return spray_from_caller (spray, workers, [spray] (tbb::task_group &) {
    bench_count_one ();
    tbb::parallel_for (
        tbb::blocked_range<guint> (0, spray->inner, 1),
        [spray] (const tbb::blocked_range<guint> &range) {
          for (guint i = range.begin (); i < range.end (); i++)
            work (spray);
        },
        tbb::simple_partitioner ());
  });
}

static void
produce_outside (gpointer data, guint producer)
{
  auto *self = static_cast<Producers *> (data);
  guint first = 0, end = 0;

  bench_spray_share (self->spray, producer, &first, &end);
  for (guint i = first; i < end; i++)
    self->arena->enqueue (self->group->defer ([spray = self->spray] { work (spray); }));
}

static gdouble
spray_enqueue (const BenchSpray *spray, guint workers)
{
  Limit limit (Limit::max_allowed_parallelism, workers + 1);
  tbb::task_arena arena (static_cast<int> (workers), 0);
  tbb::task_group group;
  Producers run = { spray, &arena, &group };

  arena.initialize ();
  const gint64 begin = bench_threads_run (spray->producers, produce_outside, &run);
  arena.execute ([&] { group.wait (); });

  return bench_seconds_since (begin);
}

/* The partitioner for loops that meet the same data again and again. */
static gboolean
run_phases (const BenchContender *,
            const BenchPhases *phases,
            guint workers,
            gdouble *seconds,
            GError **)
{
  Limit limit (Limit::max_allowed_parallelism, workers);
  tbb::task_arena arena (static_cast<int> (workers), 1);
  tbb::affinity_partitioner partitioner;

  arena.initialize ();
  const gint64 begin = bench_now ();
  arena.execute ([&] {
    for (guint phase = 0; phase < phases->n_phases; phase++)
      tbb::parallel_for (
          0U, phases->n_tiles (phases->problem, phase),
          [=] (guint tile) { phases->tile (phases->problem, phase, tile); }, partitioner);
  });
  *seconds = bench_seconds_since (begin);

  return TRUE;
}

static guint64
fib (guint n)
{
  guint64 x = 0, y = 0;
  tbb::task_group group;

  if (n < 2)
    return n;
  group.run ([&x, n] { x = fib (n - 1); });
  y = fib (n - 2);
  group.wait ();

  return x + y;
}

static gboolean
run_fib (const BenchContender *,
         guint n,
         guint workers,
         guint64 *value,
         gdouble *seconds,
         GError **)
{
  Limit limit (Limit::max_allowed_parallelism, workers);
  tbb::task_arena arena (static_cast<int> (workers), 1);

  arena.initialize ();
  const gint64 begin = bench_now ();
  arena.execute ([&] { *value = fib (n); });
  *seconds = bench_seconds_since (begin);

  return TRUE;
}

static gboolean
run_spray (const BenchContender *,
           const BenchSpray *spray,
           guint workers,
           gdouble *seconds,
           GError **)
{
  *seconds = spray->inner > 0 ? spray_run (spray, workers) : spray_enqueue (spray, workers);

  return TRUE;
}

static gboolean
run_spray_for (const BenchContender *,
               const BenchSpray *spray,
               guint workers,
               gdouble *seconds,
               GError **)
{
  *seconds = spray->inner > 0 ? spray_for (spray, workers) : spray_run (spray, workers);

  return TRUE;
}

/* --- push and close --------------------------------------------------------------------------- */

namespace
{
struct Arena
{
  Arena (guint workers, BenchFunc f)
      : limit (Limit::max_allowed_parallelism, workers + 1), arena (static_cast<int> (workers), 0),
        func (f)
  {
    arena.initialize ();
  }

  Limit limit;
  tbb::task_arena arena;
  tbb::task_group group;
  BenchFunc func;
};
} // namespace

static gpointer
arena_open (const BenchContender *, guint workers, BenchFunc func, GError **)
{
  return new Arena (workers, func);
}

static void
arena_push (gpointer handle, gpointer data)
{
  auto *self = static_cast<Arena *> (handle);

  self->arena.enqueue (self->group.defer ([f = self->func, data] { f (data); }));
}

static void
arena_close (gpointer handle)
{
  auto *self = static_cast<Arena *> (handle);

  self->arena.execute ([self] { self->group.wait (); });
  delete self;
}

const BenchEngine bench_engine_tbb = {
  "onetbb",    "oneTBB: task_group::run(), task_arena::enqueue()",
  BENCH_PEER,  BENCH_CAN_OUTSIDE | BENCH_CAN_INSIDE | BENCH_CAN_WAKE | BENCH_CAN_FIB,
  arena_open,  arena_push,
  arena_close, nullptr,
  run_spray,   nullptr,
  run_fib,     nullptr,
};

const BenchEngine bench_engine_tbb_for = {
  "onetbb-for",  "oneTBB: parallel_for(); producers that enter the arena",
  BENCH_PEER,    BENCH_CAN_OUTSIDE | BENCH_CAN_INSIDE | BENCH_CAN_PHASES,
  nullptr,       nullptr,
  nullptr,       nullptr,
  run_spray_for, run_phases,
  nullptr,       nullptr,
};
