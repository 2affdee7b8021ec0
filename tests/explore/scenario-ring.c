/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * The ring, explored: with two cells it is full and empty all the time, overflows, and still gives
 * each item once, and one producer's items in their order.
 *
 * PLANT_NO_POWER sets it up with three cells, as a ring without the check of its capacity would be;
 * PLANT_RELAXED_COUNT counts what comes into the overflow without a release.
 */
#include "iris/queue/iris-ring-private.h"

#include "explore.h"
#include "items.h"

static IrisRingCore ring;
static unsigned next_of[EXPLORE_MAX_THREADS]; /* each consumer's: items come in order */

static void
setup_at (uint64_t index)
{
  items_reset ();
  memset (next_of, 0, sizeof next_of);
#ifdef PLANT_NO_POWER
  iris_ring_core_init_at (&ring, 4, offsetof (Item, next), index);
  ring.mask = 2;
  for (uint64_t i = 0; i < 3; i++)
    atomic_init (&ring.cells[(index + i) & ring.mask].sequence, index + i);
#else
  iris_ring_core_init_at (&ring, 2, offsetof (Item, next), index);
#endif
}

static void
setup (void)
{
  setup_at (0);
}

/* The positions wrap around within the scenario. */
static void
setup_wrap (void)
{
  setup_at (UINT64_MAX - 1);
}

static void
push (void)
{
  explore_assert (iris_ring_core_push (&ring, item_new ()), "push refuses");
}

static void
pop (unsigned self)
{
  Item *item = iris_ring_core_pop (&ring);

  if (item != NULL)
    {
      unsigned number = item_taken (item, "pop");

      explore_assert (number >= next_of[self], "item %u comes behind a later one", number);
      next_of[self] = number + 1;
    }
}

/* Without other threads, not empty means that something can be had. */
static void
check (void)
{
  while (!iris_ring_core_is_empty (&ring))
    {
      Item *item = iris_ring_core_pop (&ring);

      explore_assert (item != NULL, "the ring is neither empty nor gives anything");
      item_taken (item, "the end");
    }
  items_check_all_taken ();
}

/* A pop must see an item that was pushed before: only this thread pops. */
static void
pop_all_that_is_seen (unsigned self)
{
  for (unsigned i = 0; i < 3; i++)
    if (!iris_ring_core_is_empty (&ring))
      pop (self);
}

static void
one_and_one (unsigned self)
{
  if (self == 0)
    for (unsigned i = 0; i < 3; i++)
      push ();
  else
    pop_all_that_is_seen (self);
}

static void
two_producers (unsigned self)
{
  if (self < 2)
    {
      push ();
      push ();
    }
  else
    {
      /* Two producers: no order is promised between their items. */
      for (unsigned i = 0; i < 2; i++)
        {
          next_of[self] = 0;
          pop (self);
        }
    }
}

static void
two_consumers (unsigned self)
{
  if (self == 0)
    for (unsigned i = 0; i < 3; i++)
      push ();
  else
    for (unsigned i = 0; i < 2; i++)
      {
        next_of[self] = 0;
        pop (self);
      }
}

/* One consumer takes several at once, another one of the same. */
static void
several_at_once (unsigned self)
{
  void *found[3];
  uint64_t n;

  if (self == 0)
    {
      for (unsigned i = 0; i < 3; i++)
        push ();
      return;
    }
  n = self == 1 ? iris_ring_core_pop_many (&ring, found, 3) : 0;
  for (uint64_t i = 0; i < n; i++)
    {
      unsigned number = item_taken (found[i], "pop_many");

      explore_assert (number >= next_of[self], "item %u comes behind a later one", number);
      next_of[self] = number + 1;
    }
  pop (self);
}

static void
two_thieves_take_several (unsigned self)
{
  void *found[2];
  uint64_t n;

  if (self == 0)
    {
      push ();
      push ();
      return;
    }
  n = iris_ring_core_pop_many (&ring, found, 2);
  for (uint64_t i = 0; i < n; i++)
    item_taken (found[i], "pop_many");
}

/* A length that counts what a thread did under the overflow's lock orders what was done there
 * before: here that items were moved into the ring, which the reader must not miss. It is told by
 * plain memory. */

static unsigned moved;

/* Under the lock, as by another thread: of three in the overflow one is taken, two are moved. */
static void
setup_moved (void)
{
  setup ();
  moved = 0;
  for (unsigned i = 0; i < 5; i++)
    push ();
}

static void
push_into_overflow (void)
{
#ifdef PLANT_RELAXED_COUNT
  Item *item = item_new ();

  item->next = NULL;
  pthread_mutex_lock (&ring.lock);
  ring.oldest = ring.newest = (IrisRingLink *) (void *) &item->next;
  iris_counter_add (&ring.n_overflow, 1);
  pthread_mutex_unlock (&ring.lock);
#else
  push ();
#endif
}

static void
move_and_push (unsigned self)
{
  next_of[self] = 0;
  if (self == 0)
    {
      pop (self);
      pop (self);
      moved = 1;
      pop (self);
    }
  else if (self == 1)
    {
      /* Without an edge of its own; the lock of the push is one. */
      if (iris_counter_get (&ring.n_overflow) == 0)
        push_into_overflow ();
    }
  else if (iris_counter_get (&ring.n_overflow) == 0 && iris_ring_core_get_length (&ring) == 3)
    {
      explore_assert (moved == 1, "what was moved is not seen");
    }
}

#if defined(PLANT_NO_POWER)
#define FAILS       "" /* whatever comes first */
#define N_SCENARIOS 1
#elif defined(PLANT_RELAXED_COUNT)
#define FAILS       "race"
#define N_SCENARIOS 1
#else
#define FAILS       NULL
#define N_SCENARIOS (sizeof scenarios / sizeof scenarios[0])
#endif

static const ExploreScenario scenarios[] = {
#ifdef PLANT_RELAXED_COUNT
  { "ring/moved", 3, setup_moved, move_and_push, check, .fails = FAILS, .delays = 1,
    .together = 3 },
#endif
  { "ring/one-and-one", 2, setup, one_and_one, check, .fails = FAILS },
  { "ring/wrap-around", 2, setup_wrap, one_and_one, check },
  { "ring/two-producers", 3, setup, two_producers, check, .delays = 1, .together = 3 },
  { "ring/two-consumers", 3, setup, two_consumers, check, .delays = 1, .together = 3 },
  { "ring/several-at-once", 3, setup, several_at_once, check, .delays = 1, .together = 3 },
  { "ring/two-thieves-take-several", 3, setup_wrap, two_thieves_take_several, check, .delays = 1,
    .together = 3 },
  { "ring/moved", 3, setup_moved, move_and_push, check, .delays = 1, .together = 3 },
};

int
main (int argc, char **argv)
{
  return explore_main (argc, argv, scenarios, N_SCENARIOS);
}
