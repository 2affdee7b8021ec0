/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * The lock-less list: order, and the schedule that breaks a list popped one by one.
 */
#include "core-test-util.h"

#include <iris/base/memory/iris-llist-private.h>

TEST (an_empty_list_gives_nothing)
{
  IrisLlist list = { NULL };

  ck_assert (iris_llist_is_empty (&list));
  ck_assert_ptr_null (iris_llist_take_all (&list));
  ck_assert_ptr_null (iris_llist_reverse (NULL));
}

TEST (a_push_tells_whether_the_list_was_empty)
{
  IrisLlist list = { NULL };
  IrisLlistNode a, b;

  ck_assert (iris_llist_push (&list, &a));
  ck_assert (!iris_llist_is_empty (&list));
  ck_assert (!iris_llist_push (&list, &b));
  ck_assert_ptr_nonnull (iris_llist_take_all (&list));
  ck_assert (iris_llist_push (&list, &a));
}

TEST (all_come_at_once_newest_first_and_turn_around)
{
  IrisLlist list = { NULL };
  IrisLlistNode nodes[5];
  IrisLlistNode *chain;
  int n = 0;

  for (int i = 0; i < 5; i++)
    iris_llist_push (&list, &nodes[i]);
  chain = iris_llist_take_all (&list);
  ck_assert (iris_llist_is_empty (&list));
  for (IrisLlistNode *node = chain; node != NULL; node = node->next)
    ck_assert_ptr_eq (node, &nodes[4 - n++]);
  ck_assert_int_eq (n, 5);

  chain = iris_llist_reverse (chain);
  n = 0;
  for (IrisLlistNode *node = chain; node != NULL; node = node->next)
    ck_assert_ptr_eq (node, &nodes[n++]);
  ck_assert_int_eq (n, 5);
}

/* The list that this one is not: Treiber's stack, popped one by one with a bare pointer. A pop is
 * two steps, so that another thread's doings fit in between. */
typedef struct
{
  IrisLlistNode *head, *next;
} BarePop;

static BarePop
bare_pop_look (IrisLlist *list)
{
  BarePop pop;

  pop.head = atomic_load (&list->head);
  pop.next = pop.head->next;

  return pop;
}

static IrisLlistNode *
bare_pop_swap (IrisLlist *list, BarePop *pop)
{
  IrisLlistNode *expected = pop->head;

  return atomic_compare_exchange_strong (&list->head, &expected, pop->next) ? pop->head : NULL;
}

static IrisLlistNode *
bare_pop (IrisLlist *list)
{
  BarePop pop = bare_pop_look (list);

  return bare_pop_swap (list, &pop);
}

/* A pop is interrupted; meanwhile its head and the next are taken, and the head comes back. */
TEST (a_bare_pop_hands_a_node_out_twice)
{
  IrisLlist list = { NULL };
  IrisLlistNode a, b;
  BarePop interrupted;

  iris_llist_push (&list, &b);
  iris_llist_push (&list, &a);
  interrupted = bare_pop_look (&list);

  ck_assert_ptr_eq (bare_pop (&list), &a);
  ck_assert_ptr_eq (bare_pop (&list), &b); /* b belongs to another thread from here on */
  iris_llist_push (&list, &a);

  /* The swap succeeds all the same, and b is in the list again while it is in use. */
  ck_assert_ptr_eq (bare_pop_swap (&list, &interrupted), &a);
  ck_assert_ptr_eq (bare_pop (&list), &b);
}

TEST (taking_all_is_right_under_the_schedule_that_breaks_a_bare_pop)
{
  IrisLlist list = { NULL };
  IrisLlistNode a, b;
  IrisLlistNode *chain;

  iris_llist_push (&list, &b);
  iris_llist_push (&list, &a);
  /* Interrupted after the first step of a taking: the list was seen not to be empty. */
  ck_assert (!iris_llist_is_empty (&list));

  /* Both belong to another thread from here on; a comes back. */
  ck_assert_ptr_eq (iris_llist_take_all (&list), &a);
  iris_llist_push (&list, &a);

  chain = iris_llist_take_all (&list);
  ck_assert_ptr_eq (chain, &a);
  ck_assert_ptr_null (chain->next);
  ck_assert (iris_llist_is_empty (&list));
}

/* A push is interrupted between reading the head and swapping it; the same head comes back with
 * another list behind it. */
TEST (a_push_onto_a_head_that_left_and_came_back_loses_nothing)
{
  IrisLlist list = { NULL };
  IrisLlistNode a, b, c, d;
  IrisLlistNode *head, *chain;

  iris_llist_push (&list, &b);
  iris_llist_push (&list, &a);

  head = atomic_load (&list.head);
  d.next = head;

  ck_assert_ptr_eq (iris_llist_take_all (&list), &a); /* a and b are another thread's */
  iris_llist_push (&list, &c);
  iris_llist_push (&list, &a);

  ck_assert (atomic_compare_exchange_strong (&list.head, &head, &d));
  chain = iris_llist_take_all (&list);
  ck_assert_ptr_eq (chain, &d);
  ck_assert_ptr_eq (chain->next, &a);
  ck_assert_ptr_eq (chain->next->next, &c);
  ck_assert_ptr_null (chain->next->next->next);
}

TEST_MAIN ("llist", NULL, NULL)
