/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * The work-stealing queue, explored: an owner and thieves lose no item, take none twice, and keep
 * the order.
 *
 * PLANT_NO_FENCE compiles the same code without the fence of take and steal; the store buffer must
 * show it.
 */
#include "iris/base/iris-atomic-private.h"

#ifdef PLANT_NO_FENCE
#undef iris_fence_full
#define iris_fence_full() ((void) 0)
#define FAILS             "taken twice"
#else
#define FAILS NULL
#endif

#include "iris/queue/iris-wsqueue-private.h"

#include "explore.h"
#include "items.h"

static IrisWSQueue queue;
static int64_t start;

static void
setup_of (int64_t capacity, int64_t index)
{
  items_reset ();
  start = index;
  iris_wsqueue_init_at (&queue, capacity, index);
}

static void
push (void)
{
  explore_assert (iris_wsqueue_push (&queue, item_new ()), "push refuses");
}

/* The newest of what the owner has not had: what thieves took in between is older. */
static void
take (void)
{
  Item *item = iris_wsqueue_take (&queue);

  if (item != NULL)
    {
      unsigned number = item_taken (item, "take");

      for (unsigned i = number + 1; i < items_count (); i++)
        explore_assert (item_was_taken (i), "take gives item %u in front of the newer item %u",
                        number, i);
    }
}

static void
steal (void)
{
  void *found;

  if (iris_wsqueue_steal (&queue, &found) == IRIS_STEAL_TAKEN)
    {
      unsigned number = item_taken (found, "steal");

      for (unsigned i = 0; i < number; i++)
        explore_assert (item_was_taken (i), "steal gives item %u in front of the older item %u",
                        number, i);
    }
}

static void
check (void)
{
  void *found;

  while (iris_wsqueue_steal (&queue, &found) == IRIS_STEAL_TAKEN)
    item_taken (found, "the end");
  items_check_all_taken ();
}

static void
setup_small (void)
{
  setup_of (2, 0);
}

/* One owner, one thief, one item. */
static void
last_item (unsigned self)
{
  if (self == 0)
    {
      push ();
      take ();
      push ();
      take ();
    }
  else
    {
      steal ();
      steal ();
    }
}

static void
two_items (unsigned self)
{
  if (self == 0)
    {
      push ();
      push ();
      take ();
      take ();
    }
  else
    {
      steal ();
      steal ();
    }
}

static void
growth (unsigned self)
{
  if (self == 0)
    {
      push ();
      push ();
      push ();
      take ();
    }
  else
    {
      steal ();
      steal ();
    }
}

static void
two_thieves (unsigned self)
{
  if (self == 0)
    {
      push ();
      push ();
      take ();
      take ();
    }
  else
    {
      steal ();
    }
}

#ifdef PLANT_NO_FENCE
#define FAILS       "taken twice"
#define N_SCENARIOS 2
#else
#define FAILS       NULL
#define N_SCENARIOS (sizeof scenarios / sizeof scenarios[0])
#endif

static const ExploreScenario scenarios[] = {
  { "wsqueue/two-items", 2, setup_small, two_items, check, .fails = FAILS },
  { "wsqueue/two-thieves", 3, setup_small, two_thieves, check, .fails = FAILS },
  { "wsqueue/last-item", 2, setup_small, last_item, check },
  { "wsqueue/growth", 2, setup_small, growth, check },
};

int
main (int argc, char **argv)
{
  return explore_main (argc, argv, scenarios, N_SCENARIOS);
}
