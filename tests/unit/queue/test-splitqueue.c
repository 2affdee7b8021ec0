/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * The split deque by one thread: what is private, what is public, and how the split moves.
 */
#include "core-test-util.h"
#include "inject-malloc.h"

#include <iris/queue/deque/iris-splitqueue-private.h>

#define N_ITEMS 100000

static char things[N_ITEMS];
static IrisSplitQueue queue;

static void
setup (void)
{
  inject_n_good = -1;
  ck_assert (iris_splitqueue_init_full (&queue, NULL, 4, 0));
}

static void
teardown (void)
{
  iris_splitqueue_clear (&queue);
}

static void
push (int from, int to)
{
  for (int i = from; i < to; i++)
    ck_assert (iris_splitqueue_push (&queue, &things[i]));
}

/* The next to be taken are @from, @from - 1, … @to. */
static void
expect_taken (int from, int to)
{
  for (int i = from; i >= to; i--)
    ck_assert_ptr_eq (iris_splitqueue_take (&queue), &things[i]);
}

static uint64_t
steal (uint64_t max, IrisStealResult expected, void **items)
{
  uint64_t n;

  ck_assert_int_eq (iris_splitqueue_steal (&queue, items, max, &n), expected);

  return n;
}

TEST (the_owner_takes_the_newest_first)
{
  push (0, 100);
  expect_taken (99, 50);
  push (50, 60);
  expect_taken (59, 0);
  ck_assert_ptr_null (iris_splitqueue_take (&queue));
}

TEST (the_owner_takes_the_oldest_when_it_asks_for_it)
{
  push (0, 10);
  for (int i = 0; i < 5; i++)
    ck_assert_ptr_eq (iris_splitqueue_take_oldest (&queue), &things[i]);
  ck_assert_uint_eq (iris_splitqueue_expose (&queue, 3), 3);
  for (int i = 5; i < 9; i++)
    ck_assert_ptr_eq (iris_splitqueue_take_oldest (&queue), &things[i]);
  expect_taken (9, 9);
  ck_assert_ptr_null (iris_splitqueue_take_oldest (&queue));
}

TEST (what_is_private_cannot_be_stolen)
{
  void *items[4];

  push (0, 10);
  steal (4, IRIS_STEAL_PRIVATE, items);
  ck_assert_uint_eq (iris_splitqueue_get_public_length (&queue), 0);
  ck_assert_uint_eq (iris_splitqueue_get_length (&queue), 10);
}

TEST (an_empty_deque_is_asked_for_nothing)
{
  void *items[4];

  steal (4, IRIS_STEAL_EMPTY, items);
  push (0, 1);
  ck_assert (iris_splitqueue_has_private (&queue));
}

TEST (one_swap_steals_half_of_what_is_public_up_to_the_maximum)
{
  void *items[64];

  push (0, 100);
  ck_assert_uint_eq (iris_splitqueue_expose (&queue, 41), 41);
  ck_assert_uint_eq (steal (64, IRIS_STEAL_TAKEN, items), 21);
  for (int i = 0; i < 21; i++)
    ck_assert_ptr_eq (items[i], &things[i]);
  ck_assert_uint_eq (steal (3, IRIS_STEAL_TAKEN, items), 3);
  ck_assert_ptr_eq (items[2], &things[23]);
  ck_assert_uint_eq (iris_splitqueue_get_public_length (&queue), 17);
  expect_taken (99, 24);
  ck_assert_ptr_null (iris_splitqueue_take (&queue));
}

TEST (a_push_serves_a_wish)
{
  void *items[64];

  push (0, 9);
  steal (64, IRIS_STEAL_PRIVATE, items);
  push (9, 10);
  ck_assert_uint_eq (iris_splitqueue_get_public_length (&queue), 5);
  /* Once. */
  push (10, 11);
  ck_assert_uint_eq (iris_splitqueue_get_public_length (&queue), 5);
}

TEST (a_take_serves_a_wish_with_what_is_left)
{
  void *items[64];

  push (0, 9);
  steal (64, IRIS_STEAL_PRIVATE, items);
  expect_taken (8, 8);
  ck_assert_uint_eq (iris_splitqueue_get_public_length (&queue), 4);
}

TEST (a_wish_is_kept_until_there_is_something_to_give)
{
  void *items[64];

  push (0, 1);
  steal (64, IRIS_STEAL_PRIVATE, items);
  expect_taken (0, 0);
  ck_assert_ptr_null (iris_splitqueue_take (&queue));
  ck_assert_uint_eq (iris_splitqueue_poll (&queue), 0);
  push (1, 2);
  ck_assert_uint_eq (iris_splitqueue_get_public_length (&queue), 1);
  ck_assert_uint_eq (steal (64, IRIS_STEAL_TAKEN, items), 1);
  ck_assert_ptr_eq (items[0], &things[1]);
}

TEST (a_thief_forces_half_open)
{
  void *items[64];

  push (0, 9);
  steal (64, IRIS_STEAL_PRIVATE, items);
  ck_assert (iris_splitqueue_force (&queue));
  ck_assert_uint_eq (iris_splitqueue_get_public_length (&queue), 5);
  ck_assert_uint_eq (steal (64, IRIS_STEAL_TAKEN, items), 3);
  ck_assert_ptr_eq (items[0], &things[0]);
  /* The wish is served by that: the owner exposes no more. */
  push (9, 10);
  ck_assert_uint_eq (iris_splitqueue_get_public_length (&queue), 2);
  expect_taken (9, 3);
  ck_assert_ptr_null (iris_splitqueue_take (&queue));
}

TEST (a_single_item_is_forced_open)
{
  void *items[64];

  push (0, 1);
  ck_assert (iris_splitqueue_force (&queue));
  ck_assert (!iris_splitqueue_force (&queue));
  ck_assert_uint_eq (steal (64, IRIS_STEAL_TAKEN, items), 1);
  ck_assert_ptr_null (iris_splitqueue_take (&queue));
}

TEST (the_owner_takes_the_oldest_of_what_was_forced)
{
  push (0, 4);
  ck_assert (iris_splitqueue_force (&queue));
  for (int i = 0; i < 4; i++)
    ck_assert_ptr_eq (iris_splitqueue_take_oldest (&queue), &things[i]);
  ck_assert_ptr_null (iris_splitqueue_take_oldest (&queue));
}

TEST (force_that_finds_nothing_is_served_by_the_next_push)
{
  ck_assert (!iris_splitqueue_force (&queue));
  ck_assert_ptr_null (iris_splitqueue_take (&queue));
  push (0, 1);
  ck_assert_uint_eq (iris_splitqueue_get_public_length (&queue), 1);
  expect_taken (0, 0);
}

TEST (a_reclaim_takes_back_half)
{
  push (0, 64);
  ck_assert_uint_eq (iris_splitqueue_expose (&queue, 64), 64);
  expect_taken (63, 63);
  ck_assert_uint_eq (iris_splitqueue_get_public_length (&queue), 32);
  expect_taken (62, 32);
  ck_assert_uint_eq (iris_splitqueue_get_public_length (&queue), 32);
  expect_taken (31, 31);
  ck_assert_uint_eq (iris_splitqueue_get_public_length (&queue), 16);
  expect_taken (30, 0);
  ck_assert_ptr_null (iris_splitqueue_take (&queue));
}

TEST (taking_all_back_costs_a_logarithm_of_swaps)
{
  uint64_t before;

  push (0, 1000);
  iris_splitqueue_expose (&queue, 1000);
  before = atomic_load (&queue.top);
  expect_taken (999, 0);
  /* Each reclaim moves top on by one capacity, and by nothing else. */
  ck_assert_uint_eq (atomic_load (&queue.top) - before, 10 * (queue.own_array->mask + 1));
}

TEST (an_offer_keeps_something_public_and_no_more)
{
  push (0, 8);
  ck_assert_uint_eq (iris_splitqueue_offer (&queue), 4);
  ck_assert_uint_eq (iris_splitqueue_offer (&queue), 0);
  expect_taken (7, 3);
  ck_assert_uint_eq (iris_splitqueue_get_public_length (&queue), 2);
  ck_assert_uint_eq (iris_splitqueue_offer (&queue), 0);
}

TEST (it_grows_while_items_are_public)
{
  void *items[64];

  push (0, 3);
  iris_splitqueue_expose (&queue, 2);
  push (3, 1000);
  ck_assert_uint_eq (iris_splitqueue_get_length (&queue), 1000);
  ck_assert_uint_eq (steal (64, IRIS_STEAL_TAKEN, items), 1);
  ck_assert_ptr_eq (items[0], &things[0]);
  expect_taken (999, 1);
  ck_assert_uint_eq (iris_splitqueue_get_length (&queue), 0);
}

TEST (room_that_thieves_made_is_used_before_it_grows)
{
  void *items[4];

  for (int i = 0; i < 1000; i++)
    {
      push (i, i + 1);
      iris_splitqueue_expose (&queue, 1);
      ck_assert_uint_eq (steal (1, IRIS_STEAL_TAKEN, items), 1);
      ck_assert_ptr_eq (items[0], &things[i]);
    }
  ck_assert_uint_eq (queue.own_array->mask, 3);
}

TEST (positions_may_wrap_around)
{
  void *items[64];

  /* All 64 bits, and the 62 of the split's word. */
  for (uint64_t before = 0; before < 80; before++)
    {
      uint64_t limit = before % 2 == 0 ? UINT64_MAX : UINT64_MAX >> 2;
      IrisSplitQueue near;
      uint64_t n;

      ck_assert (iris_splitqueue_init_full (&near, NULL, 8, limit - before / 2));
      for (int i = 0; i < 30; i++)
        ck_assert (iris_splitqueue_push (&near, &things[i]));
      ck_assert_uint_eq (iris_splitqueue_expose (&near, 20), 20);
      ck_assert_uint_eq (iris_splitqueue_get_length (&near), 30);
      ck_assert_uint_eq (iris_splitqueue_get_public_length (&near), 20);
      ck_assert_int_eq (iris_splitqueue_steal (&near, items, 4, &n), IRIS_STEAL_TAKEN);
      ck_assert_uint_eq (n, 4);
      ck_assert_ptr_eq (iris_splitqueue_take_oldest (&near), &things[4]);
      for (int i = 29; i >= 5; i--)
        ck_assert_ptr_eq (iris_splitqueue_take (&near), &things[i]);
      ck_assert_ptr_null (iris_splitqueue_take (&near));
      ck_assert_uint_eq (iris_splitqueue_get_length (&near), 0);
      iris_splitqueue_clear (&near);
    }
}

TEST (without_memory_a_push_fails_and_nothing_is_lost)
{
  inject_n_good = 0;
  push (0, 3);
  ck_assert (!iris_splitqueue_push (&queue, &things[3]));
  ck_assert (!iris_splitqueue_push (&queue, &things[3]));
  ck_assert_uint_eq (iris_splitqueue_get_length (&queue), 3);
  expect_taken (2, 2);
  push (2, 3);
  inject_n_good = 1;
  push (3, 7);
  ck_assert (!iris_splitqueue_push (&queue, &things[7]));
  expect_taken (6, 0);
}

TEST (without_memory_it_does_not_start)
{
  IrisSplitQueue other;

  inject_n_good = 0;
  ck_assert (!iris_splitqueue_init_full (&other, NULL, IRIS_SPLITQUEUE_MIN_CAPACITY, 0));
}

TEST (a_capacity_that_is_no_power_of_two_is_refused)
{
  IrisSplitQueue other;

  ck_assert (!iris_splitqueue_init_full (&other, NULL, 0, 0));
  ck_assert (!iris_splitqueue_init_full (&other, NULL, 1, 0));
  ck_assert (!iris_splitqueue_init_full (&other, NULL, 255, 0));
  ck_assert (!iris_splitqueue_init_full (&other, NULL, 2 * IRIS_ARRAY_MAX_CAPACITY, 0));
}

TEST_MAIN ("splitqueue", setup, teardown)
