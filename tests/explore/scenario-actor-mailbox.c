/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * The actor's mailbox, explored: every item is handled once, one sender's in their order, by one
 * owner at a time; none is left with a mailbox at rest; and it is freed once, after all of that.
 *
 * PLANT_NO_RECHECK lets the owner see the chain empty and then store that it rests: what comes in
 * between is lost.
 */
#include "iris/message/port/iris-actor-mailbox-private.h"

#ifdef PLANT_NO_RECHECK
/* The swap to rest becomes a store behind the look. */
#define iris_actor_mailbox_take planted_take
#endif

#include "explore.h"
#include "items.h"

static IrisActorMailbox mailbox;
static unsigned sender_of[MAX_ITEMS];
static unsigned latest[EXPLORE_MAX_THREADS];
static bool owner_runs;
static unsigned n_freed;
static _Atomic unsigned n_holders;

static void
setup (void)
{
  items_reset ();
  memset (latest, 0, sizeof latest);
  owner_runs = false;
  n_freed = 0;
  iris_actor_mailbox_init (&mailbox);
}

static void
setup_two_holders (void)
{
  setup ();
  atomic_init (&n_holders, 2);
}

#ifdef PLANT_NO_RECHECK
static IrisTake
planted_take (IrisActorMailbox *self, IrisLlistNode **node)
{
  uintptr_t head;

  if (self->pending == NULL)
    {
      head = atomic_load_explicit (&self->head, memory_order_acquire);
      if (head == 0)
        {
          atomic_store_explicit (&self->head, IRIS_ACTOR_MAILBOX_RESTING, memory_order_release);
          return IRIS_TAKE_RESTED;
        }
      head = atomic_exchange_explicit (&self->head, 0, memory_order_acquire);
      self->pending = iris_llist_reverse ((IrisLlistNode *) head);
    }
  *node = self->pending;
  self->pending = (*node)->next;

  return IRIS_TAKE_NODE;
}
#endif

EXPLORE_UNWATCHED static void
note_sender (unsigned item, unsigned self)
{
  sender_of[item] = self;
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

EXPLORE_UNWATCHED static void
note_freed (void)
{
  n_freed++;
}

static void
free_mailbox (void)
{
  note_freed ();
  /* Watched: whatever a thread did with it must come before. */
  mailbox.pending = NULL;
}

/* A turn that starts with @item. */
static void
be_owner (Item *item)
{
  IrisLlistNode *node = (IrisLlistNode *) item;
  IrisTake take;

  note_owner (true);
  do
    {
      note_order (item_taken ((Item *) node, "take"));
      note_owner (false);
      take = iris_actor_mailbox_take (&mailbox, &node);
      if (take == IRIS_TAKE_NODE)
        note_owner (true);
    }
  while (take == IRIS_TAKE_NODE);
  if (take == IRIS_TAKE_ENDED)
    free_mailbox ();
}

static void
send (unsigned self)
{
  Item *item = item_new ();

  note_sender (item->number, self);
  if (iris_actor_mailbox_post (&mailbox, (IrisLlistNode *) item) == IRIS_POST_CARRY)
    be_owner (item);
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
send_and_let_go (unsigned self)
{
  send (self);
  if (atomic_fetch_sub_explicit (&n_holders, 1, memory_order_acq_rel) == 1
      && iris_actor_mailbox_close (&mailbox))
    free_mailbox ();
}

static void
check (void)
{
  items_check_all_taken ();
}

static void
check_freed (void)
{
  items_check_all_taken ();
  explore_assert (n_freed == 1, "the mailbox was freed %u times", n_freed);
}

#ifdef PLANT_NO_RECHECK
#define FAILS       "" /* an item that is left, or a second owner */
#define N_SCENARIOS 1
#else
#define FAILS       NULL
#define N_SCENARIOS (sizeof scenarios / sizeof scenarios[0])
#endif

static const ExploreScenario scenarios[] = {
  { "actor-mailbox/two-senders", 2, setup, two_each, check, .fails = FAILS },
  { "actor-mailbox/three-senders", 3, setup, one_each, check, .delays = 1, .together = 3 },
  { "actor-mailbox/let-go", 2, setup_two_holders, send_and_let_go, check_freed },
};

int
main (int argc, char **argv)
{
  return explore_main (argc, argv, scenarios, N_SCENARIOS);
}
