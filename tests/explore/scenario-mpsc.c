/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * The MPSC queue, explored: every item reaches the owner, one sender's in their order, one owner at
 * a time, and none is left with an owner that rests.
 *
 * PLANT_REST_BY_NEXT lets the owner rest when it sees no next node, which a sender between its two
 * steps is not yet.
 */
#include "iris/queue/iris-mpsc-private.h"

#include "explore.h"
#include "items.h"

static IrisMpscCore queue;
static IrisMpscNode nodes[MAX_ITEMS + 1];
static unsigned n_nodes;
static unsigned sender_of[MAX_ITEMS];
static unsigned latest[EXPLORE_MAX_THREADS]; /* of each sender */
static bool owner_runs;

static void
setup (void)
{
  items_reset ();
  memset (latest, 0, sizeof latest);
  owner_runs = false;
  n_nodes = 1;
  iris_mpsc_core_init (&queue, &nodes[0]);
}

EXPLORE_UNWATCHED static IrisMpscNode *
node_new (unsigned item, unsigned self)
{
  sender_of[item] = self;

  return &nodes[n_nodes++];
}

EXPLORE_UNWATCHED static void
note_order (unsigned item)
{
  unsigned *last = &latest[sender_of[item]];

  explore_assert (*last <= item, "item %u comes behind a later one of its sender", item);
  *last = item;
}

EXPLORE_UNWATCHED static void
note_owner (bool runs)
{
  explore_note ("the owner %s", runs ? "runs" : "rests");
  explore_assert (owner_runs != runs, "two owners run at once");
  owner_runs = runs;
}

static bool
rest (void)
{
#ifdef PLANT_REST_BY_NEXT
  IrisMpscNode *tail = atomic_load_explicit (&queue.tail, memory_order_relaxed);

  if (atomic_load_explicit (&tail->next, memory_order_acquire) != NULL)
    return false;
  atomic_fetch_or_explicit (&queue.head, IRIS_MPSC_RESTING, memory_order_acq_rel);
  return true;
#else
  return iris_mpsc_core_rest (&queue);
#endif
}

/* A sender that was told to run the owner runs it here. */
static void
be_owner (void)
{
  IrisMpscNode *spent;
  Item *item;

  note_owner (true);
  for (;;)
    {
      while ((item = iris_mpsc_core_pop (&queue, &spent)) != NULL)
        note_order (item_taken (item, "pop"));
      note_owner (false);
      if (rest ())
        return;
      note_owner (true);
      sched_yield ();
    }
}

static void
send (unsigned self)
{
  Item *item = item_new ();
  IrisMpscNode *node = node_new (item->number, self);

  node->item = item;
  if (iris_mpsc_core_push (&queue, node))
    be_owner ();
}

static void
one_each (unsigned self)
{
  send (self);
}

static void
two_each (unsigned self)
{
  send (self);
  send (self);
}

static void
check (void)
{
  items_check_all_taken ();
  explore_assert (iris_mpsc_core_is_empty (&queue), "all was had, and the MPSC queue is not empty");
}

#ifdef PLANT_REST_BY_NEXT
#define FAILS       "" /* whichever comes first: a second owner, or an item that is left */
#define N_SCENARIOS 1
#else
#define FAILS       NULL
#define N_SCENARIOS (sizeof scenarios / sizeof scenarios[0])
#endif

static const ExploreScenario scenarios[] = {
  { "mpsc/two-senders", 2, setup, two_each, check, .fails = FAILS },
  { "mpsc/three-senders", 3, setup, one_each, check, .delays = 1, .together = 3 },
};

int
main (int argc, char **argv)
{
  return explore_main (argc, argv, scenarios, N_SCENARIOS);
}
