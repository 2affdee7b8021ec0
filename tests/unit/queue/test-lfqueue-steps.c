/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * The lock-free queue, interrupted in front of one of its reads: what is read of a node that has
 * left and come back is not believed. The code is the one that ships; only its reads of stamped
 * cells are counted.
 */
#include "core-test-run.h"

#include <iris/queue/stamped/iris-free-list-private.h>

/* In front of the how-manieth read from now the others get their turn; 0: never. */
static int reads_left;
static void (*others) (void);

static IrisStamped
counted_load (IrisStampedCell *cell)
{
  if (reads_left > 0 && --reads_left == 0)
    others ();

  return iris_stamped_load (cell);
}

#define iris_stamped_load(cell) counted_load (cell)
#include <iris/queue/stamped/iris-lfqueue-private.h>

static IrisLFQueueCore queue;
static int a, b, c, mine;

static void
push (void *item)
{
  ck_assert_int_eq (iris_lfqueue_core_push (&queue, item), IRIS_LFQUEUE_PUSHED);
}

static void
setup (void)
{
  reads_left = 0;
  ck_assert (iris_lfqueue_core_init (&queue, 0));
  push (&a);
}

static void
teardown (void)
{
  iris_lfqueue_core_clear (&queue);
}

/* The node that was the dummy comes back as the last one, with nothing behind it. */
static void
take_one_and_push_another (void)
{
  ck_assert_ptr_eq (iris_lfqueue_core_pop (&queue), &a);
  push (&b);
}

/* Whichever of its reads a pop is stopped at: head, tail, next, head. */
LOOP_TEST (a_queue_that_was_never_empty_is_not_found_empty, 1, 5)
{
  others = take_one_and_push_another;
  reads_left = _i;
  ck_assert_ptr_eq (iris_lfqueue_core_pop (&queue), &b);
  ck_assert_ptr_null (iris_lfqueue_core_pop (&queue));
}

/* The node that was the last one comes back, held by another push that has not linked it. */
static void
pass_and_hold_the_last (void)
{
  uint32_t last = iris_stamped_index (iris_stamped_load (&queue.tail));

  ck_assert_ptr_eq (iris_lfqueue_core_pop (&queue), &a);
  push (&c);
  ck_assert_ptr_eq (iris_lfqueue_core_pop (&queue), &c);
  ck_assert_uint_eq (iris_lfqueue_core_wrap (&queue, &b), last);
}

/* Whichever of its reads a push is stopped at: tail, next, tail. */
LOOP_TEST (an_item_is_not_linked_behind_a_node_that_is_in_no_queue, 1, 4)
{
  others = pass_and_hold_the_last;
  reads_left = _i;
  push (&mine);
  ck_assert_ptr_eq (iris_lfqueue_core_pop (&queue), &mine);
  ck_assert_ptr_null (iris_lfqueue_core_pop (&queue));
}

static void
close_queue (void)
{
  iris_lfqueue_core_close (&queue);
}

LOOP_TEST (a_push_that_the_end_overtakes_is_refused, 1, 4)
{
  others = close_queue;
  reads_left = _i;
  ck_assert_int_eq (iris_lfqueue_core_push (&queue, &mine), IRIS_LFQUEUE_REFUSED);
  ck_assert_ptr_eq (iris_lfqueue_core_pop (&queue), &a);
  ck_assert_ptr_null (iris_lfqueue_core_pop (&queue));
}

static void
push_b (void)
{
  push (&b);
}

/* The first item is taken by the test, so that the queue is empty until the others push. */
LOOP_TEST (an_item_that_comes_before_the_end_is_taken_instead, 1, 5)
{
  bool closed;

  ck_assert_ptr_eq (iris_lfqueue_core_pop (&queue), &a);
  others = push_b;
  reads_left = _i;
  if (iris_lfqueue_core_pop_full (&queue, true, &closed) == &b)
    ck_assert (!closed);
  else
    ck_abort_msg ("the item was passed over");
}

TEST_MAIN ("lock-free queue, step by step", setup, teardown)
