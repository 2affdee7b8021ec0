/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * The lock's core, explored: one holder at a time, no waiter forgotten, be it a thread that sleeps
 * or an item that is handed the lock.
 *
 * Threads are movable: what a mover shares is plain memory, so that two at a time are a race, and a
 * thread that goes on while it is moved is seen.
 *
 * PLANT_BLIND_RELEASE lets the lock go without looking for waiters that came in between.
 * PLANT_SECRET_SLEEP lets the heir sleep without a mark in the word.
 * PLANT_ONE_WAKE lets a release wake a new heir only where it slept before it was the heir.
 * PLANT_MOVES_AWAKE lets a release move an heir that has not said that it sleeps.
 * PLANT_MOVED_ASLEEP lets an heir that is awake take its affinity back although it said that it
 * sleeps.
 * PLANT_SETTLES_LATE lets an heir settle only behind its sleep, not before the next one.
 */
#define IRIS_LOCK_OVERTAKES n_overtakes
#define IRIS_LOCK_SPINS     0

static unsigned n_overtakes;

#include "iris/task/lock/iris-lock-core.c"

#include "explore.h"

#define N_TURNS 2

static IrisLockCore lock;
static unsigned protected_count; /* plain: a missing order is a data race */
static unsigned n_inside;
static unsigned n_done;

typedef struct
{
  IrisLockNode node;
  bool is_moved; /* plain: with one owner at a time */
} Item;

static Item items[EXPLORE_MAX_THREADS][N_TURNS];

static void
moves (IrisLockNode *node)
{
#ifndef PLANT_MOVES_AWAKE
  explore_assert (!((Item *) node)->is_moved, "a thread is moved again before it is settled");
#endif
  ((Item *) node)->is_moved = true;
}

static void
moved (IrisLockNode *node)
{
  ((Item *) node)->is_moved = false;
}

static const IrisLockMover mover = { moves, moved };

static void
setup (void)
{
  iris_lock_core_init (&lock, &mover);
  protected_count = 0;
  n_inside = 0;
  n_done = 0;
  n_overtakes = 1;
}

/* Thread 1 holds the lock, and thread 0 is its heir, which others may overtake twice. */
static void
setup_heir (void)
{
  IrisLockNode *node = &items[0][0].node;

  setup ();
  n_overtakes = 2;
  items[0][0].is_moved = false;
  iris_lock_core_try (&lock);
  iris_lock_node_init (node, NULL);
  node->is_movable = true;
  iris_lock_core_enter (&lock, node);
  iris_lock_core_peek (&lock);
  atomic_store_explicit (&node->heir, 1, memory_order_relaxed);
}

EXPLORE_UNWATCHED static void
note_inside (int change)
{
  n_inside += (unsigned) change;
  explore_assert (n_inside <= 1, "two hold the lock");
}

EXPLORE_UNWATCHED static void
note_done (void)
{
  n_done++;
}

/* What the lock is for; others may run in the middle. */
static void
hold (void)
{
  note_inside (1);
  protected_count++;
  iris_lock_core_is_held (&lock);
  note_inside (-1);
  note_done ();
}

static IrisLockNode *
release (void)
{
#ifdef PLANT_BLIND_RELEASE
  if (lock.first == NULL
      && atomic_load_explicit (&lock.word, memory_order_relaxed) == IRIS_LOCK_HELD)
    {
      atomic_store_explicit (&lock.word, 0, memory_order_release);
      return NULL;
    }
#endif
#ifdef PLANT_ONE_WAKE
  IrisLockNode *first = iris_lock_core_peek (&lock);

  if (first != NULL && first->granted == NULL
      && atomic_load_explicit (&first->heir, memory_order_relaxed) == 0)
    {
      uintptr_t word;

      atomic_store_explicit (&first->heir, 1, memory_order_release);
      word = atomic_load_explicit (&lock.word, memory_order_relaxed);
      while (!atomic_compare_exchange_weak_explicit (&lock.word, &word,
                                                     word & ~(IRIS_LOCK_HELD | IRIS_LOCK_ASLEEP),
                                                     memory_order_release, memory_order_relaxed))
        ;
      futex_wake (&first->heir);
      return NULL;
    }
#endif
#ifdef PLANT_MOVES_AWAKE
  if (iris_lock_core_peek (&lock) != NULL && lock.first->granted == NULL
      && atomic_load_explicit (&lock.first->heir, memory_order_relaxed) != 0)
    moves (lock.first);
#endif
  return iris_lock_core_release (&lock);
}

/* Holder. The next holder runs here and now, as a hot item does. */
static void
pass_on (void)
{
  while (release () != NULL)
    hold ();
}

/* As iris_lock_core_acquire(), with a node that is not on a stack: stacks move from one run to the
 * next, and a schedule could not be replayed. */
static void
be_thread (unsigned self, unsigned turn)
{
  IrisLockNode *node = &items[self][turn].node;

  iris_lock_node_init (node, NULL);
  items[self][turn].is_moved = false;
#ifndef PLANT_SECRET_SLEEP
  node->is_movable = true;
#endif
  if (!iris_lock_core_enter (&lock, node))
    {
#ifdef PLANT_SECRET_SLEEP
      uintptr_t word;

      while (atomic_load_explicit (&node->heir, memory_order_acquire) == 0)
        futex_wait (&node->heir, 0);
      while (!take_as_heir (&lock, &word))
        futex_wait (lock_core_futex (&lock), (uint32_t) word);
      lock.first = node->next;
      lock.overtaken = 0;
#elif defined(PLANT_MOVED_ASLEEP)
      uintptr_t word;

      while (atomic_load_explicit (&node->heir, memory_order_acquire) == 0)
        futex_wait (&node->heir, 0);
      for (moved (node); !take_as_heir (&lock, &word); moved (node))
        sleep_as_heir (&lock, word);
      lock.first = node->next;
      lock.overtaken = 0;
      moved (node);
#else
      iris_lock_core_wait (&lock, node);
#endif
    }
  explore_assert (!items[self][turn].is_moved, "a thread goes on while it is moved");
  hold ();
  pass_on ();
}

static void
granted (IrisLockNode *node)
{
}

static void
be_item (unsigned self, unsigned turn)
{
  Item *item = &items[self][turn];

  iris_lock_node_init (&item->node, granted);
  if (!iris_lock_core_enter (&lock, &item->node))
    return;
  hold ();
  pass_on ();
}

static void
threads (unsigned self)
{
  for (unsigned i = 0; i < N_TURNS; i++)
    be_thread (self, i);
}

static void
one_each (unsigned self)
{
  be_thread (self, 0);
}

/* Thread 1 overtakes the heir, which is woken early because thread 2 comes to stand in line. */
static void
overtaken (unsigned self)
{
  if (self == 0)
    {
#ifdef PLANT_SETTLES_LATE
      uintptr_t word;

      for (moved (&items[0][0].node); !take_as_heir (&lock, &word);
           settle (&lock, &items[0][0].node))
        sleep_as_heir (&lock, word);
      lock.first = items[0][0].node.next;
      lock.overtaken = 0;
      moved (&items[0][0].node);
#else
      iris_lock_core_wait (&lock, &items[0][0].node);
#endif
      explore_assert (!items[0][0].is_moved, "a thread goes on while it is moved");
      hold ();
      pass_on ();
      return;
    }
  if (self == 1)
    pass_on ();
  be_thread (self, 0);
}

static void
only_items (unsigned self)
{
  for (unsigned i = 0; i < N_TURNS; i++)
    be_item (self, i);
}

static void
mixed (unsigned self)
{
  if (self == 0)
    be_thread (self, 0);
  else
    for (unsigned i = 0; i < N_TURNS; i++)
      be_item (self, i);
}

/* Threads that are stuck are a deadlock; items that are stuck are missing here. */
static void
check_turns (unsigned expected)
{
  explore_assert (n_done == expected && protected_count == expected,
                  "%u held the lock, of %u; %u counted", n_done, expected, protected_count);
  explore_assert (atomic_load_explicit (&lock.word, memory_order_relaxed) == 0,
                  "all are done, and the lock is not free");
  explore_assert (lock.first == NULL, "all are done, and a waiter is in line");
}

static void
check_two (void)
{
  check_turns (2 * N_TURNS);
}

static void
check_three (void)
{
  check_turns (3);
}

static void
check_three_items (void)
{
  check_turns (3 * N_TURNS);
}

static void
check_mixed (void)
{
  check_turns (1 + 2 * N_TURNS);
}

#if defined(PLANT_BLIND_RELEASE) || defined(PLANT_SECRET_SLEEP) || defined(PLANT_ONE_WAKE)
#define FAILS       "deadlock"
#define FIRST       0
#define N_SCENARIOS 1
#elif defined(PLANT_MOVES_AWAKE) || defined(PLANT_MOVED_ASLEEP)
/* It takes a third thread to wake an heir that has just said that it sleeps. */
#define FAILS       "data race"
#define FIRST       1
#define N_SCENARIOS 1
#elif defined(PLANT_SETTLES_LATE)
#define FAILS       "moved again"
#define FIRST       2
#define N_SCENARIOS 1
#else
#define FAILS       NULL
#define FIRST       0
#define N_SCENARIOS (sizeof scenarios / sizeof scenarios[0])
#endif

static const ExploreScenario scenarios[] = {
  { "lock/two-threads", 2, setup, threads, check_two, .fails = FAILS },
  { "lock/three-threads", 3, setup, one_each, check_three, .delays = 1, .fails = FAILS },
  { "lock/overtaken", 3, setup_heir, overtaken, check_three, .delays = 1, .fails = FAILS },
  { "lock/items", 3, setup, only_items, check_three_items, .preemptions = 2, .delays = 1 },
  { "lock/mixed", 3, setup, mixed, check_mixed, .preemptions = 2, .delays = 1 },
};

int
main (int argc, char **argv)
{
  return explore_main (argc, argv, scenarios + FIRST, N_SCENARIOS);
}
