/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * The eventcount, explored: no thread sleeps through a notification, one that gives up takes no
 * other thread's call, and all wake when the notification is for all.
 *
 * PLANT_NO_RECHECK waits without looking again, PLANT_NO_HEAVY_FENCE looks again without the
 * waiter's half of the fences.
 */
#include "iris/base/iris-atomic-private.h"

#ifdef PLANT_NO_HEAVY_FENCE
#undef iris_fence_heavy
#define iris_fence_heavy() ((void) 0)
#endif

#include "iris/base/sync/iris-eventcount.c"

#include "explore.h"

static IrisEventcount eventcount;
static _Atomic unsigned things[2]; /* 1: to be had */
static _Atomic bool closed;

static void
setup (void)
{
  iris_eventcount_init (&eventcount);
  atomic_init (&things[0], 0);
  atomic_init (&things[1], 0);
  atomic_init (&closed, false);
}

/* A plain store, so that it may be delayed. */
static void
bring (unsigned which)
{
  explore_note ("thing %u is there", which);
  atomic_store_explicit (&things[which], 1, memory_order_release);
  iris_eventcount_notify_one (&eventcount);
}

static bool
find (void)
{
  for (unsigned i = 0; i < 2; i++)
    {
      unsigned expected = 1;

      if (atomic_load_explicit (&things[i], memory_order_relaxed) == 1
          && atomic_compare_exchange_strong_explicit (&things[i], &expected, 2,
                                                      memory_order_acquire, memory_order_relaxed))
        return true;
    }

  return false;
}

static bool
is_closed (void)
{
  return atomic_load_explicit (&closed, memory_order_acquire);
}

/* One thing, or the end. */
static bool
fetch (void)
{
  for (;;)
    {
      if (find ())
        return true;
      if (is_closed ())
        return false;
      iris_eventcount_prepare (&eventcount);
#ifndef PLANT_NO_RECHECK
      if (find ())
        {
          iris_eventcount_cancel (&eventcount);
          return true;
        }
      if (is_closed ())
        {
          iris_eventcount_cancel (&eventcount);
          return false;
        }
#endif
      iris_eventcount_wait (&eventcount, IRIS_EVENTCOUNT_FOREVER);
    }
}

/* Waits for nothing, but comes and goes as one that does. */
static void
pass_by (void)
{
  iris_eventcount_prepare (&eventcount);
  iris_eventcount_cancel (&eventcount);
}

static void
one_waiter (unsigned self)
{
  if (self == 0)
    {
      fetch ();
      fetch ();
    }
  else
    {
      bring (0);
      bring (1);
    }
}

static void
two_waiters (unsigned self)
{
  if (self < 2)
    {
      fetch ();
    }
  else
    {
      bring (0);
      bring (1);
    }
}

static void
one_gives_up (unsigned self)
{
  if (self == 0)
    fetch ();
  else if (self == 1)
    pass_by ();
  else
    bring (0);
}

static void
all_wake (unsigned self)
{
  if (self < 2)
    {
      fetch ();
      fetch ();
    }
  else
    {
      bring (0);
      atomic_store_explicit (&closed, true, memory_order_release);
      iris_eventcount_notify_all (&eventcount);
    }
}

/* No waiter is left over; a stuck thread is a deadlock. */
static void
check (void)
{
  explore_assert (atomic_load_explicit (&eventcount.word, memory_order_relaxed) == 0,
                  "all are gone, and the eventcount counts a waiter");
}

#if defined(PLANT_NO_RECHECK) || defined(PLANT_NO_HEAVY_FENCE)
#define FAILS       "deadlock"
#define N_SCENARIOS 1
#else
#define FAILS       NULL
#define N_SCENARIOS (sizeof scenarios / sizeof scenarios[0])
#endif

static const ExploreScenario scenarios[] = {
  { "eventcount/one-waiter", 2, setup, one_waiter, check, .fails = FAILS },
  { "eventcount/two-waiters", 3, setup, two_waiters, check, .delays = 1 },
  { "eventcount/one-gives-up", 3, setup, one_gives_up, check, .delays = 1 },
  { "eventcount/all-wake", 3, setup, all_wake, check, .preemptions = 2, .delays = 1 },
};

int
main (int argc, char **argv)
{
  return explore_main (argc, argv, scenarios, N_SCENARIOS);
}
