/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * The parking lot, explored: no work is left while a worker that may do it sleeps, and closing ends
 * all workers.
 *
 * The workers go through the parking lot as those of iris-worker-pool.c do, over the smallest
 * source there is: a word for each piece of work, 1 while it waits. A piece of work may publish
 * another one, and may block until another one was done: then another worker, which was asleep,
 * must do that.
 *
 * Some work is refused at first by workers of other places, which back off then.
 *
 * PLANT_NO_BACKOFF sleeps for good where it should back off. PLANT_NO_RECHECK goes to sleep without
 * a last look, PLANT_NO_SECOND_LOOK leaves searching without one, PLANT_NO_HEAVY_FENCE takes away
 * the sleeper's half of the fences, PLANT_NO_FULL_FENCE that of a publisher that relies on a
 * searcher.
 */
#include "iris/base/iris-atomic-private.h"

#ifdef PLANT_NO_HEAVY_FENCE
#undef iris_fence_heavy
#define iris_fence_heavy() ((void) 0)
#endif
#ifdef PLANT_NO_FULL_FENCE
#undef iris_fence_full
#define iris_fence_full() ((void) 0)
#endif

#include "iris/base/sync/iris-parking-lot.c"

#include "explore.h"

#define MAX_WORK  4
#define N_WORKERS 2
#define NOTHING   MAX_WORK

typedef struct
{
  unsigned place;
  bool strict;
  unsigned publishes; /* another one, or NOTHING */
  unsigned needs;     /* blocks until that one was done, or NOTHING */
} Work;

static IrisParkingLot parking_lot;
static IrisParker parkers[N_WORKERS];
static Work works[MAX_WORK];
static _Atomic uint32_t waiting[MAX_WORK];
static _Atomic uint32_t done[MAX_WORK]; /* futexes */
static unsigned n_works;
static unsigned n_workers;
static bool refusing;
static unsigned n_refusals[N_WORKERS][MAX_WORK]; /* to come, of a worker's own */

static void
setup_parking_lot (unsigned n_places, unsigned workers)
{
  unsigned per_place[N_WORKERS] = { 0 };

  for (unsigned i = 0; i < workers; i++)
    per_place[i % n_places]++;
  iris_parking_lot_init (&parking_lot, n_places, per_place);
  n_workers = workers;
  n_works = 0;
  refusing = false;
  memset (n_refusals, 0, sizeof n_refusals);
  for (unsigned i = 0; i < workers; i++)
    iris_parker_init (&parkers[i], i % n_places);
}

static void
add (unsigned place, bool strict, unsigned publishes, unsigned needs)
{
  works[n_works] = (Work){ place, strict, publishes, needs };
  atomic_init (&waiting[n_works], 0);
  atomic_init (&done[n_works], 0);
  n_works++;
}

static void
publish (unsigned work)
{
  explore_note ("work %u is published", work);
  /* Not a read-modify-write, which would be a fence on many machines. */
  atomic_store_explicit (&waiting[work], 1, memory_order_release);
  iris_parking_lot_publish (&parking_lot, works[work].place, works[work].strict);
}

static bool
may_take (unsigned self, unsigned work)
{
  return !works[work].strict || works[work].place == parkers[self].place;
}

static bool
is_waiting (unsigned work)
{
  return atomic_load_explicit (&waiting[work], memory_order_relaxed) == 1;
}

static unsigned
take (unsigned self)
{
  for (unsigned i = 0; i < n_works; i++)
    {
      uint32_t expected = 1;

      if (n_refusals[self][i] > 0 && is_waiting (i))
        continue;
      if (may_take (self, i) && atomic_load_explicit (&waiting[i], memory_order_relaxed) == 1
          && atomic_compare_exchange_strong_explicit (&waiting[i], &expected, 0,
                                                      memory_order_acquire, memory_order_relaxed))
        return i;
    }

  return NOTHING;
}

/* What is there to do, by kind; for the last looks. */
static void
look (unsigned self, bool *shared, bool *strict)
{
  *shared = *strict = false;
  for (unsigned i = 0; i < n_works; i++)
    if (may_take (self, i) && atomic_load_explicit (&waiting[i], memory_order_relaxed) == 1)
      *(works[i].strict ? strict : shared) = true;
}

static void
end_search (unsigned self)
{
  bool shared, strict;

  if (!iris_parking_lot_end_search (&parking_lot, &parkers[self]))
    return;
#ifdef PLANT_NO_SECOND_LOOK
  shared = strict = false;
#else
  look (self, &shared, &strict);
#endif
  if (strict)
    iris_parking_lot_wake (&parking_lot, parkers[self].place, true);
  if (shared)
    iris_parking_lot_wake (&parking_lot, parkers[self].place, false);
}

/* Whether there is something to do before going to sleep. */
static bool
recheck (unsigned self)
{
#ifdef PLANT_NO_RECHECK
  return false;
#else
  bool shared, strict;

  look (self, &shared, &strict);

  return shared || strict;
#endif
}

/* Leaves what it refuses for a while, if there is nothing else; less willingly each time. */
static bool
back_off (unsigned self)
{
  bool refuses = false;

  if (!refusing)
    return false;
  for (unsigned i = 0; i < n_works; i++)
    {
      if (may_take (self, i) && is_waiting (i) && n_refusals[self][i] == 0)
        return false;
      if (is_waiting (i) && n_refusals[self][i] > 0)
        {
          n_refusals[self][i]--;
          refuses = true;
        }
    }
#ifdef PLANT_NO_BACKOFF
  if (refuses)
    iris_parking_lot_sleep (&parking_lot, &parkers[self]);
#else
  if (refuses)
    iris_parking_lot_back_off (&parking_lot, &parkers[self], 1);
#endif

  return refuses;
}

/* The next work, or NOTHING at the end: worker_next() of iris-worker-pool.c with one round of
 * search. */
static unsigned
next_work (unsigned self)
{
  unsigned work = take (self);

  while (work == NOTHING)
    {
      if (iris_parking_lot_begin_search (&parking_lot, &parkers[self]))
        work = take (self);
      if (work != NOTHING)
        break;
      iris_parking_lot_prepare (&parking_lot, &parkers[self]);
      if (back_off (self))
        {
          work = take (self);
          continue;
        }
      if (recheck (self))
        {
          iris_parking_lot_cancel (&parking_lot, &parkers[self]);
          sched_yield ();
          work = take (self);
          continue;
        }
      if (!iris_parking_lot_sleep (&parking_lot, &parkers[self]))
        return NOTHING;
      work = take (self);
    }
  end_search (self);

  return work;
}

static void
run (unsigned work)
{
  explore_note ("work %u runs", work);
  explore_assert (atomic_load_explicit (&done[work], memory_order_relaxed) == 0,
                  "work %u is done twice", work);
  if (works[work].publishes != NOTHING)
    publish (works[work].publishes);
  if (works[work].needs != NOTHING)
    while (atomic_load_explicit (&done[works[work].needs], memory_order_acquire) == 0)
      futex_wait (&done[works[work].needs], 0);
  atomic_exchange_explicit (&done[work], 1, memory_order_acq_rel);
  futex_wake (&done[work]);
}

static void
work_on (unsigned self)
{
  unsigned work;

  while ((work = next_work (self)) != NOTHING)
    run (work);
}

static void
check (void)
{
  for (unsigned i = 0; i < n_works; i++)
    explore_assert (atomic_load_explicit (&done[i], memory_order_relaxed) == 1,
                    "work %u is left, and those who could do it sleep", i);
}

/* One worker falls asleep while something comes from outside, twice. */

static void
setup_one_worker (void)
{
  setup_parking_lot (1, 1);
  add (0, false, NOTHING, NOTHING);
  add (0, false, NOTHING, NOTHING);
}

static void
one_worker (unsigned self)
{
  if (self == 0)
    {
      work_on (self);
    }
  else
    {
      publish (0);
      publish (1);
    }
}

/* Two workers; the first work needs the second, so one worker alone cannot do it. */

static void
setup_chain (void)
{
  setup_parking_lot (1, 2);
  add (0, false, NOTHING, 1);
  add (0, false, NOTHING, NOTHING);
}

static void
chain (unsigned self)
{
  if (self < 2)
    {
      work_on (self);
    }
  else
    {
      publish (0);
      publish (1);
    }
}

/* Two places. The first work is strict, so that only the second worker may do it, even if the
 * first one searches; and it needs the second, which must be done elsewhere. */

static void
setup_strict (void)
{
  setup_parking_lot (2, 2);
  add (1, true, NOTHING, 1);
  add (1, false, NOTHING, NOTHING);
}

/* Only one worker has work, and that publishes from inside. */

static void
setup_from_inside (void)
{
  setup_parking_lot (1, 2);
  add (0, false, 1, 1);
  add (0, false, NOTHING, NOTHING);
}

static void
from_inside (unsigned self)
{
  if (self == 0)
    run (0);
  work_on (self);
}

/* All end, and nothing is left, when the parking lot is closed behind what was published; also by
 * those that come from inside. */

static void
setup_close (void)
{
  setup_parking_lot (1, 2);
  add (0, false, 1, NOTHING);
  add (0, false, NOTHING, NOTHING);
}

static void
close_behind (unsigned self)
{
  if (self < 2)
    {
      work_on (self);
    }
  else
    {
      publish (0);
      iris_parking_lot_close (&parking_lot);
    }
}

static void
close_one (unsigned self)
{
  if (self == 0)
    {
      work_on (self);
    }
  else
    {
      publish (0);
      publish (1);
      iris_parking_lot_close (&parking_lot);
    }
}

/* Two places. Work published from inside is needed there, and refused at first elsewhere. */

static void
setup_refused (void)
{
  setup_parking_lot (2, 2);
  add (0, false, 1, 1);
  add (0, false, NOTHING, NOTHING);
  refusing = true;
  n_refusals[1][1] = 1;
}

/* All end although one refuses what is left. */

static void
setup_refused_close (void)
{
  setup_parking_lot (2, 2);
  add (0, false, 1, NOTHING);
  add (0, false, NOTHING, NOTHING);
  refusing = true;
  n_refusals[1][0] = n_refusals[1][1] = 1;
}

#define SMALL .preemptions = 2, .delays = 1, .together = 2

#if defined(PLANT_NO_RECHECK) || defined(PLANT_NO_HEAVY_FENCE)
static const ExploreScenario scenarios[] = {
  { "parking-lot/one-worker", 2, setup_one_worker, one_worker, check, .may_sleep = true,
    .fails = "is left, and those who could do it sleep" },
};
#elif defined(PLANT_NO_SECOND_LOOK) || defined(PLANT_NO_FULL_FENCE)
static const ExploreScenario scenarios[] = {
  { "parking-lot/chain", 3, setup_chain, chain, check, .may_sleep = true,
    .fails = "is left, and those who could do it sleep" },
};
#elif defined(PLANT_NO_BACKOFF)
static const ExploreScenario scenarios[] = {
  { "parking-lot/refused", 2, setup_refused, from_inside, check, .may_sleep = true,
    .fails = "is left, and those who could do it sleep" },
};
#else
static const ExploreScenario scenarios[] = {
  { "parking-lot/one-worker", 2, setup_one_worker, one_worker, check, .may_sleep = true,
    .together = 4 },
  { "parking-lot/chain", 3, setup_chain, chain, check, .may_sleep = true, .delays = 1,
    .together = 3 },
  { "parking-lot/strict", 3, setup_strict, chain, check, .may_sleep = true, SMALL },
  { "parking-lot/from-inside", 2, setup_from_inside, from_inside, check, .may_sleep = true,
    .together = 4 },
  { "parking-lot/close-one", 2, setup_one_worker, close_one, check, .together = 4 },
  { "parking-lot/close", 3, setup_close, close_behind, check, SMALL },
  { "parking-lot/refused", 2, setup_refused, from_inside, check, .may_sleep = true, .together = 4 },
  { "parking-lot/refused-close", 3, setup_refused_close, close_behind, check, SMALL },
};
#endif

int
main (int argc, char **argv)
{
  return explore_main (argc, argv, scenarios, sizeof scenarios / sizeof scenarios[0]);
}
