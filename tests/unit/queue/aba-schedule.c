/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * ABA schedules, step by step: one thread is stopped between the halves of its operation while
 * another one makes the structure look as it was. Compiled twice, the second time with
 * IRIS_STAMPED_STEP 0: a stamp that does not move is a bare pointer.
 */
#include "aba-schedule.h"

#include <iris/queue/stamped/iris-lfqueue-private.h>
#include <iris/queue/stamped/iris-stack-private.h>

static int a, b, c, d;

/* The victim looks at A over B. The others take both; one of them gets B's node for C and is
 * stopped before it pushes it; another pushes D, which gets A's node. The victim goes on: a bare
 * pointer takes D, and makes the node that was never pushed the top. */
static bool
schedule_stack (void)
{
  IrisStackCore stack;
  IrisStackNode *node;
  IrisStamped top;
  uint32_t below, held;
  bool fresh, whole;

  iris_stack_core_init (&stack, 0);
  iris_stack_core_push (&stack, &b);
  iris_stack_core_push (&stack, &a);

  whole = iris_lifo_look (&stack.lifo, &stack.nodes.arena, &top, &below);
  whole &= iris_stack_core_pop (&stack) == &a;
  whole &= iris_stack_core_pop (&stack) == &b;
  held = iris_free_list_core_get (&stack.nodes, &fresh);
  whole &= held == below;
  node = iris_free_list_core_at (&stack.nodes, held);
  node->item = &c;
  iris_stack_core_push (&stack, &d);
  whole &= iris_stamped_index (iris_stamped_load (&stack.lifo.top)) == iris_stamped_index (top);

  if (iris_lifo_take (&stack.lifo, top, below))
    whole &= iris_stack_core_unwrap (&stack, iris_stamped_index (top)) == &d;
  else
    whole &= iris_stack_core_pop (&stack) == &d;
  iris_lifo_push (&stack.lifo, &stack.nodes.arena, held);
  whole &= iris_stack_core_pop (&stack) == &c;
  whole &= iris_stack_core_pop (&stack) == NULL;
  iris_stack_core_clear (&stack);

  return whole;
}

/* The same in the free list: a bare pointer hands a node to two owners. */
static bool
schedule_free_list (void)
{
  IrisFreeListCore list;
  uint32_t one, two, below, again;
  IrisStamped top;
  bool fresh, whole;

  iris_free_list_core_init (&list, sizeof (IrisStackNode), 0);
  one = iris_free_list_core_get (&list, &fresh);
  two = iris_free_list_core_get (&list, &fresh);
  iris_free_list_core_put (&list, two);
  iris_free_list_core_put (&list, one);

  whole = iris_lifo_look (&list.free, &list.arena, &top, &below);
  whole &= iris_free_list_core_get (&list, &fresh) == one;
  whole &= iris_free_list_core_get (&list, &fresh) == two;
  iris_free_list_core_put (&list, one);

  /* The victim owns one, the other thread still owns two. */
  if (!iris_lifo_take (&list.free, top, below))
    whole &= iris_free_list_core_get (&list, &fresh) == one;
  again = iris_free_list_core_get (&list, &fresh);
  whole &= again != two && again != one;
  iris_free_list_core_clear (&list);

  return whole;
}

/* The victim looks at the dummy and the item behind it, A. The others take A and pass D through,
 * so that the same node is the dummy again; A's node is held by a thread that has not linked it;
 * B is pushed. The victim goes on: a bare pointer takes what was never pushed, and B is lost. */
static bool
schedule_queue_pop (void)
{
  IrisLFQueueCore queue;
  IrisLFQueueView view;
  void *item = NULL;
  bool whole;

  if (!iris_lfqueue_core_init (&queue, 0))
    return false;
  iris_lfqueue_core_push (&queue, &a);
  whole = iris_lfqueue_core_look_at_head (&queue, &view);
  whole &= iris_lfqueue_core_pop (&queue) == &a;
  iris_lfqueue_core_push (&queue, &d);
  whole &= iris_lfqueue_core_pop (&queue) == &d;
  whole &= iris_stamped_index (iris_stamped_load (&queue.head)) == iris_stamped_index (view.head);
  whole &= iris_lfqueue_core_wrap (&queue, &c) == iris_stamped_index (view.next);
  iris_lfqueue_core_push (&queue, &b);

  if (!iris_lfqueue_core_take (&queue, &view, &item))
    item = iris_lfqueue_core_pop (&queue);
  whole &= item == &b;
  whole &= iris_lfqueue_core_pop (&queue) == NULL;
  iris_lfqueue_core_clear (&queue);

  return whole;
}

/* The victim looks at the last node, with nothing behind it. The others pass items through until
 * that node, wrapped anew, belongs to a thread that has not linked it yet. A bare pointer links the
 * victim's item behind a node that is in no queue: it is lost. */
static bool
schedule_queue_push (void)
{
  IrisLFQueueCore queue;
  IrisLFQueueView view;
  uint32_t mine;
  bool whole;

  if (!iris_lfqueue_core_init (&queue, 0))
    return false;
  iris_lfqueue_core_push (&queue, &a);
  mine = iris_lfqueue_core_wrap (&queue, &b);
  whole = iris_lfqueue_core_look_at_tail (&queue, &view);
  whole &= iris_lfqueue_core_pop (&queue) == &a;
  iris_lfqueue_core_push (&queue, &c);
  whole &= iris_lfqueue_core_pop (&queue) == &c;
  whole &= iris_lfqueue_core_wrap (&queue, &d) == iris_stamped_index (view.tail);

  if (iris_lfqueue_core_link (&queue, view.tail, view.next, mine))
    whole &= iris_lfqueue_core_pop (&queue) == &b;
  else
    whole &= iris_lfqueue_core_push (&queue, &b) == IRIS_LFQUEUE_PUSHED
             && iris_lfqueue_core_pop (&queue) == &b;
  iris_lfqueue_core_clear (&queue);

  return whole;
}

const AbaSchedules ABA_SCHEDULES = { schedule_stack, schedule_free_list, schedule_queue_pop,
                                     schedule_queue_push };
