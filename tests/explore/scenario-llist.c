/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * The lock-less list, explored: pushed nodes are taken once and whole, also when the same node
 * comes back while another thread is about to push or to take.
 *
 * PLANT_BARE_POP takes one node by the swap of a bare pointer instead of the whole list, which is
 * what the list is there to avoid: the ABA problem.
 */
#include "iris/base/memory/iris-llist-private.h"

#include "explore.h"
#include "items.h"

static IrisLlist list;
static unsigned n_first, n_taken_from; /* times that a push, a take said `it was empty', `not' */

static void
setup (void)
{
  items_reset ();
  n_first = n_taken_from = 0;
  atomic_init (&list.head, NULL);
}

EXPLORE_UNWATCHED static void
count (unsigned *counter)
{
  ++*counter;
}

static void
push (Item *item)
{
  if (iris_llist_push (&list, (IrisLlistNode *) item))
    count (&n_first);
}

/* Everything; newest first is what it must be, for each pusher. */
static Item *
take_all (const char *how)
{
  IrisLlistNode *chain = iris_llist_take_all (&list);
  Item *kept = NULL;

  if (chain != NULL)
    count (&n_taken_from);
  while (chain != NULL)
    {
      Item *item = (Item *) chain;

      chain = chain->next;
      item_taken (item, how);
      kept = item;
    }

  return kept;
}

static void
check (void)
{
  take_all ("the end");
  items_check_all_taken ();
  explore_assert (n_first == n_taken_from, "%u pushes found the list empty, %u takes found it full",
                  n_first, n_taken_from);
}

static void
push_and_take (unsigned self)
{
  if (self < 2)
    {
      push (item_new ());
      push (item_new ());
    }
  else
    {
      take_all ("take");
      take_all ("take");
    }
}

/* The taker gives a node back, to be pushed again under a pusher that read the head before. */
static void
same_node_again (unsigned self)
{
  if (self == 0)
    {
      push (item_new ());
    }
  else
    {
      Item *item = take_all ("take");

      push (item_new ());
      if (item != NULL)
        {
          item_again (item);
          push (item);
        }
      take_all ("take");
    }
}

#ifdef PLANT_BARE_POP

/* Unwatched: a late reader looks at a link that another thread writes. That is known, and harmless
 * with a stamp; the explorer must find what comes of it without one. */
EXPLORE_UNWATCHED static Item *
bare_pop (void)
{
  IrisLlistNode *head = atomic_load_explicit (&list.head, memory_order_acquire);

  while (head != NULL
         && !atomic_compare_exchange_weak_explicit (&list.head, &head, head->next,
                                                    memory_order_acq_rel, memory_order_acquire))
    ;
  if (head != NULL)
    item_taken ((Item *) head, "the bare pop");

  return (Item *) head;
}

static void
setup_two (void)
{
  setup ();
  iris_llist_push (&list, (IrisLlistNode *) item_new ());
  iris_llist_push (&list, (IrisLlistNode *) item_new ());
}

static void
goes_round (unsigned self)
{
  Item *first = bare_pop ();

  if (self == 1)
    {
      bare_pop ();
      if (first != NULL)
        {
          item_again (first);
          iris_llist_push (&list, (IrisLlistNode *) first);
        }
    }
}

static void
check_round (void)
{
  while (bare_pop () != NULL)
    ;
  items_check_all_taken ();
}

static const ExploreScenario scenarios[] = {
  { "llist/bare-pop", 2, setup_two, goes_round, check_round, .fails = "taken twice" },
};

#else

static const ExploreScenario scenarios[] = {
  { "llist/push-and-take", 3, setup, push_and_take, check },
  { "llist/same-node-again", 3, setup, same_node_again, check },
};

#endif

int
main (int argc, char **argv)
{
  return explore_main (argc, argv, scenarios, sizeof scenarios / sizeof scenarios[0]);
}
