/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * The deques, explored: an owner and thieves lose no item, take none twice, and keep the order, on
 * arrays so small that they grow, wrap and are renumbered all the time.
 *
 * PLANT_NO_FENCE takes the fence of take and steal away, which a store buffer must show.
 * PLANT_NO_HEAVY_FENCE takes it from the thief that forces a split deque open.
 * PLANT_NO_RENUMBERING lets positions that were stolen from come back under the same number.
 * PLANT_NO_POWER has a capacity that is no power of two, so that two positions share a slot.
 */
#include "iris/base/iris-atomic-private.h"

#ifdef PLANT_NO_FENCE
#undef iris_fence_full
#define iris_fence_full() ((void) 0)
#endif
#ifdef PLANT_NO_HEAVY_FENCE
#undef iris_fence_heavy
#define iris_fence_heavy() ((void) 0)
#endif
#ifdef PLANT_NO_RENUMBERING
#define IRIS_ARRAY_LAP(capacity) (0 * (capacity))
#endif

#include "iris/queue/iris-deque-private.h"

#include "explore.h"
#include "items.h"

#define MAX_STOLEN 4

static IrisDequeCore deques[2];
static IrisArrayPool pool;
static unsigned elsewhere; /* the number of the item that is in the second deque */

/* A thread got @item. The idempotent deque may give one twice. */
static void
had (Item *item, const char *how)
{
  if (iris_deque_kind_may_repeat (deques[0].kind) && item_was_taken (item->number))
    return;
  item_taken (item, how);
}

static void
push (void)
{
  explore_assert (iris_deque_core_push (&deques[0], item_new ()), "push refuses");
  /* As a scheduler with idle thieves does; else there would be little to steal. */
  iris_deque_core_offer (&deques[0]);
}

/* The newest of what the owner has not had: what thieves took meanwhile is older. */
static void
take (void)
{
  Item *item = iris_deque_core_take (&deques[0]);

  if (item == NULL)
    return;
  had (item, "take");
  for (unsigned i = item->number + 1; i < items_count (); i++)
    explore_assert (item_was_taken (i) || i == elsewhere,
                    "take gives item %u in front of the newer item %u", item->number, i);
}

static void
check_oldest (unsigned number, const char *how)
{
  for (unsigned i = 0; i < number; i++)
    explore_assert (item_was_taken (i) || i == elsewhere,
                    "%s gives item %u in front of the older item %u", how, number, i);
}

static void
take_oldest (void)
{
  Item *item = iris_deque_core_take_oldest (&deques[0]);

  if (item == NULL)
    return;
  had (item, "take_oldest");
  check_oldest (item->number, "take_oldest");
}

static IrisStealResult
steal (void)
{
  void *found[MAX_STOLEN];
  uint64_t n;
  IrisStealResult result = iris_deque_core_steal (&deques[0], found, MAX_STOLEN, &n);

  for (uint64_t i = 0; i < n; i++)
    {
      Item *item = found[i];

      had (item, "steal");
      check_oldest (item->number, "steal");
    }

  return result;
}

/* Starts near the end of the numbers where the kind lets it, so that they wrap around. */
static void
init (IrisDequeCore *self, IrisDequeKind kind, IrisArrayPool *from, uint64_t capacity)
{
  bool wraps = kind == IRIS_DEQUE_SPLIT || kind == IRIS_DEQUE_STEAL_HALF;

  explore_assert (
      iris_deque_core_init_full (self, kind, from, capacity, wraps ? UINT64_MAX - 1 : 0),
      "no deque");
#ifdef PLANT_NO_POWER
  /* As if a capacity of three had been taken for what it says. */
  atomic_load_explicit (&self->chase_lev.array, memory_order_relaxed)->mask = 2;
#endif
}

static void
setup (IrisDequeKind kind, uint64_t capacity)
{
  items_reset ();
  elsewhere = MAX_ITEMS;
  iris_array_pool_init (&pool);
  init (&deques[0], kind, NULL, capacity);
}

static void
setup_ws (void)
{
  /* Larger where it must not grow first. */
#ifdef PLANT_NO_POWER
  setup (IRIS_DEQUE_CHASE_LEV, 4);
#else
  setup (IRIS_DEQUE_CHASE_LEV, 2);
#endif
}

static void
setup_split (void)
{
  setup (IRIS_DEQUE_SPLIT, 2);
}

static void
setup_half (void)
{
  setup (IRIS_DEQUE_STEAL_HALF, 2);
}

static void
setup_abp (void)
{
  setup (IRIS_DEQUE_ABP, 4);
}

static void
setup_locked (void)
{
  setup (IRIS_DEQUE_LOCKED, 2);
}

static void
setup_idem (void)
{
  setup (IRIS_DEQUE_IDEMPOTENT, 4);
}

static void
check (void)
{
  Item *item;

  while ((item = iris_deque_core_take (&deques[0])) != NULL)
    had (item, "the end");
  items_check_all_taken ();
}

/* One item at a time: owner and thief go for the same one. */
static void
last_item (unsigned self)
{
  for (unsigned i = 0; i < 2; i++)
    if (self == 0)
      {
        push ();
        take ();
      }
    else
      {
        steal ();
      }
}

static void
two_items (unsigned self)
{
  for (unsigned i = 0; i < 2; i++)
    if (self == 0)
      push ();
    else
      steal ();
  if (self == 0)
    {
      take ();
      take ();
    }
}

/* With two slots at the start the array grows while thieves look at it. */
static void
growth (unsigned self)
{
  if (self == 0)
    {
      for (unsigned i = 0; i < 3; i++)
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

/* A thief sees three, and goes for two. Meanwhile the owner takes back two, and puts others in the
 * place of one. */

static void
setup_three (IrisDequeKind kind)
{
  setup (kind, 4);
  for (unsigned i = 0; i < 3; i++)
    iris_deque_core_push (&deques[0], item_new ());
  if (kind == IRIS_DEQUE_SPLIT)
    iris_splitqueue_expose (&deques[0].split, 3);
}

static void
setup_split_three (void)
{
  setup_three (IRIS_DEQUE_SPLIT);
}

static void
setup_half_three (void)
{
  setup_three (IRIS_DEQUE_STEAL_HALF);
}

static void
again_and_again (unsigned self)
{
  if (self == 1)
    {
      steal ();
      return;
    }
  take ();
  take ();
  push ();
  if (deques[0].kind == IRIS_DEQUE_SPLIT)
    iris_splitqueue_expose (&deques[0].split, 1);
  take ();
}

static void
from_both_ends (unsigned self)
{
  if (self == 0)
    {
      push ();
      push ();
      push ();
      take_oldest ();
      take ();
    }
  else
    {
      steal ();
      steal ();
    }
}

/* Two deques of one pool: the array that the first gave up serves the second. */

static void
setup_pool (IrisDequeKind kind)
{
  setup (kind, 2);
  init (&deques[0], kind, &pool, 2);
}

static void
setup_ws_pool (void)
{
  setup_pool (IRIS_DEQUE_CHASE_LEV);
}

static void
setup_split_pool (void)
{
  setup_pool (IRIS_DEQUE_SPLIT);
}

static void
setup_half_pool (void)
{
  setup_pool (IRIS_DEQUE_STEAL_HALF);
}

static void
push_elsewhere (void)
{
  Item *item = item_new ();

  elsewhere = item->number;
  iris_deque_core_push (&deques[1], item);
}

static void
shared_pool (unsigned self)
{
  if (self == 1)
    {
      steal ();
      steal ();
      return;
    }
  for (unsigned i = 0; i < 3; i++)
    push ();
  init (&deques[1], deques[0].kind, &pool, 2);
  push_elsewhere ();
  take ();
}

static void
check_pool (void)
{
  Item *item = iris_deque_core_take (&deques[1]);

  if (item != NULL)
    had (item, "the second deque");
  check ();
}

/* No thread offers anything: the thief asks, and the owner, which looks now and then, answers. */

static _Atomic bool answered;

static void
setup_wish (void)
{
  setup_split ();
  atomic_init (&answered, false);
}

static void
wish (unsigned self)
{
  if (self == 1)
    {
      while (steal () != IRIS_STEAL_TAKEN)
        iris_cpu_relax ();
      atomic_store_explicit (&answered, true, memory_order_release);
      return;
    }
  iris_splitqueue_push (&deques[0].split, item_new ());
  iris_splitqueue_push (&deques[0].split, item_new ());
  while (!atomic_load_explicit (&answered, memory_order_acquire))
    {
      iris_splitqueue_poll (&deques[0].split);
      iris_cpu_relax ();
    }
}

/* Nothing is offered, and thieves do not wait for an answer. */

static void
force_and_steal (void)
{
  if (steal () == IRIS_STEAL_PRIVATE && iris_deque_core_force (&deques[0]))
    steal ();
}

static void
force (unsigned self)
{
  if (self != 0)
    {
      force_and_steal ();
      return;
    }
  iris_deque_core_push (&deques[0], item_new ());
  iris_deque_core_push (&deques[0], item_new ());
  take ();
  iris_deque_core_push (&deques[0], item_new ());
  take ();
}

static void
setup_split_private (void)
{
  setup (IRIS_DEQUE_SPLIT, 4);
  for (unsigned i = 0; i < 2; i++)
    iris_deque_core_push (&deques[0], item_new ());
}

static void
force_the_last (unsigned self)
{
  if (self != 0)
    {
      force_and_steal ();
      return;
    }
  take ();
  take ();
  iris_deque_core_push (&deques[0], item_new ());
}

static void
force_the_oldest (unsigned self)
{
  if (self != 0)
    {
      force_and_steal ();
      return;
    }
  take_oldest ();
  take ();
}

/* The owner is busy for ever: it is served all the same. */
static void
force_alone (unsigned self)
{
  if (self != 0)
    while (!item_was_taken (0) || !item_was_taken (1))
      {
        force_and_steal ();
        iris_cpu_relax ();
      }
}

#ifdef PLANT_NO_FENCE
#define FAILS "taken twice"
static const ExploreScenario scenarios[] = {
  { "ws/two-items", 2, setup_ws, two_items, check, .fails = FAILS },
  { "ws/two-thieves", 3, setup_ws, two_thieves, check, .fails = FAILS },
  { "half/two-items", 2, setup_half, two_items, check, .fails = FAILS },
  { "abp/two-items", 2, setup_abp, two_items, check, .fails = FAILS },
};
#elif defined(PLANT_NO_HEAVY_FENCE)
#define FAILS "" /* an item comes twice, or unseen */
static const ExploreScenario scenarios[] = {
  { "split/force-the-last", 2, setup_split_private, force_the_last, check, .fails = FAILS },
};
#elif defined(PLANT_NO_RENUMBERING)
#define FAILS "" /* an item comes twice, or unseen */
static const ExploreScenario scenarios[] = {
  { "split/again-and-again", 2, setup_split_three, again_and_again, check, .fails = FAILS },
  { "half/again-and-again", 2, setup_half_three, again_and_again, check, .fails = FAILS },
};
#elif defined(PLANT_NO_POWER)
#define FAILS "taken twice"
static const ExploreScenario scenarios[] = {
  { "ws/two-items", 2, setup_ws, two_items, check, .fails = FAILS },
};
#else
static const ExploreScenario scenarios[] = {
  { "ws/last-item", 2, setup_ws, last_item, check },
  { "ws/two-items", 2, setup_ws, two_items, check },
  { "ws/growth", 2, setup_ws, growth, check },
  { "ws/two-thieves", 3, setup_ws, two_thieves, check, .together = 3 },
  { "ws/from-both-ends", 2, setup_ws, from_both_ends, check },
  { "ws/shared-pool", 2, setup_ws_pool, shared_pool, check_pool, .together = 3 },
  { "split/last-item", 2, setup_split, last_item, check, .together = 4 },
  { "split/two-items", 2, setup_split, two_items, check, .together = 4 },
  { "split/growth", 2, setup_split, growth, check, .together = 4 },
  { "split/two-thieves", 3, setup_split, two_thieves, check, .together = 3 },
  { "split/again-and-again", 2, setup_split_three, again_and_again, check, .together = 4 },
  { "split/from-both-ends", 2, setup_split, from_both_ends, check, .together = 4 },
  { "split/shared-pool", 2, setup_split_pool, shared_pool, check_pool, .together = 3 },
  { "split/wish", 2, setup_wish, wish, check, .together = 3 },
  { "split/force", 2, setup_split, force, check, .together = 4 },
  { "split/force-the-last", 2, setup_split_private, force_the_last, check },
  { "split/force-the-last-two", 3, setup_split_private, force_the_last, check, .together = 3 },
  { "split/force-the-oldest", 2, setup_split_private, force_the_oldest, check },
  { "split/force-alone", 3, setup_split_private, force_alone, check, .together = 3 },
  { "half/last-item", 2, setup_half, last_item, check },
  { "half/two-items", 2, setup_half, two_items, check },
  { "half/growth", 2, setup_half, growth, check },
  { "half/two-thieves", 3, setup_half, two_thieves, check, .together = 3 },
  { "half/again-and-again", 2, setup_half_three, again_and_again, check },
  { "half/from-both-ends", 2, setup_half, from_both_ends, check },
  { "half/shared-pool", 2, setup_half_pool, shared_pool, check_pool, .together = 3 },
  { "abp/last-item", 2, setup_abp, last_item, check },
  { "abp/two-items", 2, setup_abp, two_items, check },
  { "abp/two-thieves", 3, setup_abp, two_thieves, check, .together = 3 },
  { "abp/from-both-ends", 2, setup_abp, from_both_ends, check },
  { "locked/two-items", 2, setup_locked, two_items, check },
  { "idem/last-item", 2, setup_idem, last_item, check },
  { "idem/two-items", 2, setup_idem, two_items, check },
  { "idem/two-thieves", 3, setup_idem, two_thieves, check, .together = 3 },
};
#endif

int
main (int argc, char **argv)
{
  return explore_main (argc, argv, scenarios, sizeof scenarios / sizeof scenarios[0]);
}
