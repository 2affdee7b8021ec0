/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * The deques, explored: an owner and thieves lose no item, take none twice, and keep the order, on
 * arrays so small that they grow, wrap and are renumbered all the time.
 *
 * PLANT_NO_FENCE takes the fence of take and steal away, which a store buffer must show.
 * PLANT_NO_RENUMBERING lets positions that were stolen from come back under the same number.
 * PLANT_NO_POWER has a capacity that is no power of two, so that two positions share a slot.
 */
#include "iris/base/iris-atomic-private.h"

#ifdef PLANT_NO_FENCE
#undef iris_fence_full
#define iris_fence_full() ((void) 0)
#endif
#ifdef PLANT_NO_RENUMBERING
#define IRIS_SPLITQUEUE_LAP(capacity) (0 * (capacity))
#define IRIS_HALFQUEUE_LAP(capacity)  (0 * (capacity))
#endif

#include "iris/queue/iris-abpqueue-private.h"
#include "iris/queue/iris-halfqueue-private.h"
#include "iris/queue/iris-idemqueue-private.h"
#include "iris/queue/iris-splitqueue-private.h"
#include "iris/queue/iris-wsqueue-private.h"

#include "explore.h"
#include "items.h"

#define MAX_STOLEN 4

typedef union
{
  IrisWSQueue ws;
  IrisSplitQueue split;
  IrisHalfQueue half;
  IrisABPQueue abp;
  IrisIdemQueue idem;
} Deque;

/* A deque of any kind, with what its own functions are called here. */
typedef struct
{
  bool (*init) (Deque *self, IrisArrayPool *pool);
  bool (*push) (Deque *self, void *item);
  void *(*take) (Deque *self);
  void *(*take_oldest) (Deque *self);
  IrisStealResult (*steal) (Deque *self, void **items, uint64_t *n);
} Kind;

static const Kind *kind;
static uint64_t capacity;
static Deque deques[2];
static IrisArrayPool pool;
static unsigned elsewhere; /* the number of the item that is in the second deque */

/* What is written near the limits of the numbers must come out as anything else. */
#define NEAR_THE_END (UINT64_MAX - 1)

static bool
ws_init (Deque *self, IrisArrayPool *from)
{
  bool good = iris_wsqueue_init_full (&self->ws, from, capacity, 0);

#ifdef PLANT_NO_POWER
  iris_wsqueue_init_full (&self->ws, from, 4, 0); /* room for what follows */
  atomic_load_explicit (&self->ws.array, memory_order_relaxed)->mask = 2;
#endif
  return good;
}

static bool
ws_push (Deque *self, void *item)
{
  return iris_wsqueue_push (&self->ws, item);
}

static void *
ws_take (Deque *self)
{
  return iris_wsqueue_take (&self->ws);
}

static void *
ws_take_oldest (Deque *self)
{
  return iris_wsqueue_take_oldest (&self->ws);
}

static IrisStealResult
ws_steal (Deque *self, void **items, uint64_t *n)
{
  IrisStealResult result = iris_wsqueue_steal (&self->ws, items);

  *n = result == IRIS_STEAL_TAKEN;
  return result;
}

static bool
split_init (Deque *self, IrisArrayPool *from)
{
  return iris_splitqueue_init_full (&self->split, from, capacity, NEAR_THE_END);
}

static bool
split_push (Deque *self, void *item)
{
  bool good = iris_splitqueue_push (&self->split, item);

  /* As a scheduler with idle thieves does; else there would be little to steal. */
  iris_splitqueue_offer (&self->split);
  return good;
}

static void *
split_take (Deque *self)
{
  return iris_splitqueue_take (&self->split);
}

static void *
split_take_oldest (Deque *self)
{
  return iris_splitqueue_take_oldest (&self->split);
}

static IrisStealResult
split_steal (Deque *self, void **items, uint64_t *n)
{
  return iris_splitqueue_steal (&self->split, items, MAX_STOLEN, n);
}

static bool
half_init (Deque *self, IrisArrayPool *from)
{
  return iris_halfqueue_init_full (&self->half, from, capacity, NEAR_THE_END);
}

static bool
half_push (Deque *self, void *item)
{
  return iris_halfqueue_push (&self->half, item);
}

static void *
half_take (Deque *self)
{
  return iris_halfqueue_take (&self->half);
}

static void *
half_take_oldest (Deque *self)
{
  return iris_halfqueue_take_oldest (&self->half);
}

static IrisStealResult
half_steal (Deque *self, void **items, uint64_t *n)
{
  return iris_halfqueue_steal (&self->half, items, MAX_STOLEN, n);
}

static bool
abp_init (Deque *self, IrisArrayPool *from)
{
  return iris_abpqueue_init_full (&self->abp, 4, 0);
}

static bool
abp_push (Deque *self, void *item)
{
  return iris_abpqueue_push (&self->abp, item);
}

static void *
abp_take (Deque *self)
{
  return iris_abpqueue_take (&self->abp);
}

static void *
abp_take_oldest (Deque *self)
{
  return iris_abpqueue_take_oldest (&self->abp);
}

static IrisStealResult
abp_steal (Deque *self, void **items, uint64_t *n)
{
  IrisStealResult result = iris_abpqueue_steal (&self->abp, items);

  *n = result == IRIS_STEAL_TAKEN;
  return result;
}

static bool
idem_init (Deque *self, IrisArrayPool *from)
{
  return iris_idemqueue_init_full (&self->idem, 4, 0);
}

static bool
idem_push (Deque *self, void *item)
{
  return iris_idemqueue_push (&self->idem, item);
}

static void *
idem_take (Deque *self)
{
  return iris_idemqueue_take (&self->idem);
}

static void *
idem_take_oldest (Deque *self)
{
  return iris_idemqueue_take_oldest (&self->idem);
}

static IrisStealResult
idem_steal (Deque *self, void **items, uint64_t *n)
{
  return iris_idemqueue_steal (&self->idem, items, MAX_STOLEN, n);
}

static const Kind ws = { ws_init, ws_push, ws_take, ws_take_oldest, ws_steal };
static const Kind split = { split_init, split_push, split_take, split_take_oldest, split_steal };
static const Kind half = { half_init, half_push, half_take, half_take_oldest, half_steal };
static const Kind abp = { abp_init, abp_push, abp_take, abp_take_oldest, abp_steal };
static const Kind idem = { idem_init, idem_push, idem_take, idem_take_oldest, idem_steal };

/* Whoever gets an item. The idempotent deque may give one twice. */
static void
had (Item *item, const char *how)
{
  if (kind == &idem && item_was_taken (item->number))
    return;
  item_taken (item, how);
}

static void
push (void)
{
  explore_assert (kind->push (&deques[0], item_new ()), "push refuses");
}

/* The newest of what the owner has not had: what thieves took meanwhile is older. */
static void
take (void)
{
  Item *item = kind->take (&deques[0]);

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
  Item *item = kind->take_oldest (&deques[0]);

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
  IrisStealResult result = kind->steal (&deques[0], found, &n);

  for (uint64_t i = 0; i < n; i++)
    {
      Item *item = found[i];

      had (item, "steal");
      check_oldest (item->number, "steal");
    }

  return result;
}

static void
setup (const Kind *which)
{
  items_reset ();
  kind = which;
  capacity = 2;
  elsewhere = MAX_ITEMS;
  iris_array_pool_init (&pool);
  explore_assert (kind->init (&deques[0], NULL), "no deque");
}

static void
setup_ws (void)
{
  setup (&ws);
}

static void
setup_split (void)
{
  setup (&split);
}

static void
setup_half (void)
{
  setup (&half);
}

static void
setup_abp (void)
{
  setup (&abp);
}

static void
setup_idem (void)
{
  setup (&idem);
}

static void
check (void)
{
  Item *item;

  while ((item = kind->take (&deques[0])) != NULL)
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
setup_three (const Kind *which)
{
  setup (which);
  capacity = 4;
  explore_assert (kind->init (&deques[0], NULL), "no deque");
  for (unsigned i = 0; i < 3; i++)
    push ();
}

static void
setup_split_three (void)
{
  setup_three (&split);
  iris_splitqueue_expose (&deques[0].split, 3);
}

static void
setup_half_three (void)
{
  setup_three (&half);
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
  if (kind == &split)
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
setup_pool (const Kind *which)
{
  setup (which);
  explore_assert (kind->init (&deques[0], &pool), "no deque");
}

static void
setup_ws_pool (void)
{
  setup_pool (&ws);
}

static void
setup_split_pool (void)
{
  setup_pool (&split);
}

static void
setup_half_pool (void)
{
  setup_pool (&half);
}

static void
push_elsewhere (void)
{
  Item *item = item_new ();

  elsewhere = item->number;
  kind->push (&deques[1], item);
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
  explore_assert (kind->init (&deques[1], &pool), "no second deque");
  push_elsewhere ();
  take ();
}

static void
check_pool (void)
{
  Item *item = kind->take (&deques[1]);

  if (item != NULL)
    had (item, "the second deque");
  check ();
}

/* Nobody offers anything: the thief asks, and the owner, who only looks now and then, answers. */

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

#ifdef PLANT_NO_FENCE
#define FAILS "taken twice"
static const ExploreScenario scenarios[] = {
  { "ws/two-items", 2, setup_ws, two_items, check, .fails = FAILS },
  { "ws/two-thieves", 3, setup_ws, two_thieves, check, .fails = FAILS },
  { "half/two-items", 2, setup_half, two_items, check, .fails = FAILS },
  { "abp/two-items", 2, setup_abp, two_items, check, .fails = FAILS },
};
#elif defined(PLANT_NO_RENUMBERING)
#define FAILS "taken twice"
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
  { "split/wish", 2, setup_wish, wish, check, .together = 4 },
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
  { "idem/two-items", 2, setup_idem, two_items, check },
  { "idem/two-thieves", 3, setup_idem, two_thieves, check, .together = 3 },
};
#endif

int
main (int argc, char **argv)
{
  return explore_main (argc, argv, scenarios, sizeof scenarios / sizeof scenarios[0]);
}
