/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * What is built on stamped pointers, explored: the free list, the stack and the lock-free queue
 * give each item once and in order, while their nodes go round.
 *
 * PLANT_NO_STAMP makes the stamps stand still, which leaves a bare index: the ABA problem.
 */
#ifdef PLANT_NO_STAMP
#define IRIS_STAMPED_STEP 0u
#endif
#define IRIS_ARENA_FIRST_BITS 1

#include "iris/queue/stamped/iris-lfqueue-private.h"
#include "iris/queue/stamped/iris-stack-private.h"

#include "explore.h"
#include "items.h"

/* The free list: a node has one owner at a time. */

typedef struct
{
  IrisLifoNode link;
  unsigned contents; /* watched: the owner's alone */
} Node;

static IrisFreeListCore list;
static bool is_owned[8];

EXPLORE_UNWATCHED static void
note_owned (uint32_t index, bool owned)
{
  explore_note ("node %u is %s", index, owned ? "had" : "given back");
  explore_assert (is_owned[index] != owned, "node %u is taken twice", index);
  is_owned[index] = owned;
}

static void
setup_list (void)
{
  bool fresh;
  uint32_t nodes[2];

  memset (is_owned, 0, sizeof is_owned);
  iris_free_list_core_init (&list, sizeof (Node), 0);
  for (unsigned i = 0; i < 2; i++)
    nodes[i] = iris_free_list_core_get (&list, &fresh);
  for (unsigned i = 0; i < 2; i++)
    iris_free_list_core_put (&list, nodes[i]);
}

static uint32_t
get (void)
{
  bool fresh;
  uint32_t index = iris_free_list_core_get (&list, &fresh);
  Node *node = iris_free_list_core_at (&list, index);

  note_owned (index, true);
  node->contents = index;

  return index;
}

static void
put (uint32_t index)
{
  Node *node = iris_free_list_core_at (&list, index);

  node->contents = 0;
  note_owned (index, false);
  iris_free_list_core_put (&list, index);
}

/* Takes two, and gives one back: the schedule that a bare pointer does not stand. */
static void
list_goes_round (unsigned self)
{
  if (self == 0)
    {
      get ();
    }
  else
    {
      uint32_t first = get ();

      get ();
      put (first);
      get ();
    }
}

static void
check_list (void)
{
  get ();
}

/* The stack. */

static IrisStackCore stack;

static void
setup_stack (void)
{
  items_reset ();
  iris_stack_core_init (&stack, 0);
  iris_stack_core_push (&stack, item_new ());
  iris_stack_core_push (&stack, item_new ());
}

static void
pop (const char *how)
{
  Item *item = iris_stack_core_pop (&stack);

  if (item != NULL)
    item_taken (item, how);
}

static void
push (void)
{
  explore_assert (iris_stack_core_push (&stack, item_new ()), "push refuses");
}

static void
stack_goes_round (unsigned self)
{
  if (self == 0)
    {
      pop ("pop");
    }
  else
    {
      pop ("pop");
      pop ("pop");
      push ();
      push ();
    }
}

static void
stack_of_three (unsigned self)
{
  if (self == 0)
    push ();
  pop ("pop");
  if (self == 1)
    push ();
}

static void
check_stack (void)
{
  while (!iris_stack_core_is_empty (&stack))
    pop ("the end");
  items_check_all_taken ();
}

/* The queue. Pushers' items come in their order at each thread that pops. */

static IrisLFQueueCore queue;
static unsigned latest[EXPLORE_MAX_THREADS][EXPLORE_MAX_THREADS]; /* of a pusher, at a popper */
static unsigned pusher_of[MAX_ITEMS];

static void
setup_queue (void)
{
  items_reset ();
  memset (latest, 0, sizeof latest);
  iris_lfqueue_core_init (&queue, 0);
}

EXPLORE_UNWATCHED static void
note_pushed (unsigned number, unsigned self)
{
  pusher_of[number] = self;
}

EXPLORE_UNWATCHED static void
note_order (unsigned number, unsigned self)
{
  unsigned *last = &latest[self][pusher_of[number]];

  explore_assert (*last <= number, "item %u comes behind a later one", number);
  *last = number;
}

static void
enqueue (unsigned self)
{
  Item *item = item_new ();

  note_pushed (item->number, self);
  if (iris_lfqueue_core_push (&queue, item) != IRIS_LFQUEUE_PUSHED)
    item_taken (item, "a push that was refused");
}

static void
dequeue (unsigned self)
{
  Item *item = iris_lfqueue_core_pop (&queue);

  if (item != NULL)
    note_order (item_taken (item, "pop"), self);
}

static void
queue_one_and_one (unsigned self)
{
  if (self == 0)
    for (unsigned i = 0; i < 3; i++)
      enqueue (self);
  else
    for (unsigned i = 0; i < 3; i++)
      dequeue (self);
}

static void
queue_both_do_both (unsigned self)
{
  enqueue (self);
  dequeue (self);
  enqueue (self);
  dequeue (self);
}

static void
queue_of_three (unsigned self)
{
  enqueue (self);
  dequeue (self);
}

static void
queue_closing (unsigned self)
{
  bool closed = false;

  if (self == 0)
    {
      enqueue (self);
      enqueue (self);
      return;
    }
  while (!closed)
    {
      Item *item = iris_lfqueue_core_pop_full (&queue, true, &closed);

      if (item != NULL)
        note_order (item_taken (item, "pop_or_close"), self);
    }
}

static void
check_queue (void)
{
  unsigned n = 0;
  Item *item;
  uint32_t length = iris_lfqueue_core_get_length (&queue);

  while ((item = iris_lfqueue_core_pop (&queue)) != NULL)
    {
      item_taken (item, "the end");
      n++;
    }
  explore_assert (n == length, "a length of %u is told of %u items", length, n);
  items_check_all_taken ();
}

static void
check_closing (void)
{
  explore_assert (iris_lfqueue_core_is_closed (&queue), "the queue was closed, and is not");
  check_queue ();
}

#ifdef PLANT_NO_STAMP
#define LIST_FAILS  "taken twice"
#define STACK_FAILS "" /* an item that comes twice, is lost or is none at all */
#define N_SCENARIOS 2
#else
#define LIST_FAILS  NULL
#define STACK_FAILS NULL
#define N_SCENARIOS (sizeof scenarios / sizeof scenarios[0])
#endif

static const ExploreScenario scenarios[] = {
  { "stamped/free-list-goes-round", 2, setup_list, list_goes_round, check_list,
    .fails = LIST_FAILS },
  { "stamped/stack-goes-round", 2, setup_stack, stack_goes_round, check_stack,
    .fails = STACK_FAILS },
  { "stamped/stack-of-three", 3, setup_stack, stack_of_three, check_stack, .delays = 1,
    .together = 3 },
  { "stamped/queue-one-and-one", 2, setup_queue, queue_one_and_one, check_queue },
  { "stamped/queue-both-do-both", 2, setup_queue, queue_both_do_both, check_queue, .delays = 1,
    .together = 3 },
  { "stamped/queue-of-three", 3, setup_queue, queue_of_three, check_queue, .together = 3,
    .delays = 1 },
  { "stamped/queue-closing", 2, setup_queue, queue_closing, check_closing },
};

int
main (int argc, char **argv)
{
  return explore_main (argc, argv, scenarios, N_SCENARIOS);
}
