/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * Stamped pointers and what is made of them: arena, LIFO, free list and stack.
 */
#include "core-test-run.h"
#include "inject-malloc.h"

#include <iris/queue/stamped/iris-stack-private.h>

/* Two pops before the stamp wraps. */
#define LATE_STAMP (UINT32_MAX - 1)

static IrisStackCore stack;
static IrisFreeListCore list;
static int items[8];

typedef struct
{
  IrisLifoNode link;
  uint32_t mark;
} Node;

static void
setup (void)
{
  inject_n_good = -1;
  iris_stack_core_init (&stack, 0);
  iris_free_list_core_init (&list, sizeof (Node), 0);
}

static void
teardown (void)
{
  inject_n_good = -1;
  iris_stack_core_clear (&stack);
  iris_free_list_core_clear (&list);
}

TEST (index_and_stamp_do_not_touch_each_other)
{
  IrisStamped value = iris_stamped (UINT32_MAX, 7);

  ck_assert_uint_eq (iris_stamped_index (value), UINT32_MAX);
  ck_assert_uint_eq (iris_stamped_stamp (value), 7);
  value = iris_stamped_next (iris_stamped (5, UINT32_MAX), 9);
  ck_assert_uint_eq (iris_stamped_index (value), 9);
  ck_assert_uint_eq (iris_stamped_stamp (value), 0);
}

TEST (a_swap_sees_a_change_that_was_undone)
{
  IrisStampedCell cell;
  IrisStamped first = iris_stamped (1, 0), seen = first;

  iris_stamped_init (&cell, first);
  ck_assert (iris_stamped_swap (&cell, &seen, iris_stamped_next (seen, 2)));
  seen = iris_stamped_load (&cell);
  ck_assert (iris_stamped_swap (&cell, &seen, iris_stamped_next (seen, 1)));

  seen = first;
  ck_assert (!iris_stamped_swap (&cell, &seen, iris_stamped_next (seen, 3)));
  ck_assert_uint_eq (iris_stamped_index (seen), 1);
  ck_assert_uint_eq (iris_stamped_stamp (seen), 2);
}

/* Across the seams of many chunks. */
TEST (every_number_has_a_node_of_its_own_that_stays)
{
  enum
  {
    N = 5000
  };
  static Node *nodes[N];
  bool fresh;

  for (uint32_t i = 0; i < N; i++)
    {
      uint32_t index = iris_free_list_core_get (&list, &fresh);

      ck_assert_uint_eq (index, i + 1);
      ck_assert (fresh);
      nodes[i] = iris_free_list_core_at (&list, index);
      nodes[i]->mark = i;
    }
  for (uint32_t i = 0; i < N; i++)
    {
      ck_assert_ptr_eq (iris_free_list_core_at (&list, i + 1), nodes[i]);
      ck_assert_uint_eq (nodes[i]->mark, i);
    }
}

TEST (the_last_number_of_an_arena_is_in_its_last_chunk)
{
  uint32_t first;

  ck_assert_uint_eq (iris_arena_locate (IRIS_ARENA_MAX - 1, &first), IRIS_ARENA_CHUNKS - 1);
  ck_assert_uint_eq (first, ((uint32_t) 1 << 31) - IRIS_ARENA_FIRST);
  ck_assert_uint_eq (iris_arena_locate (IRIS_ARENA_FIRST - 1, &first), 0);
  ck_assert_uint_eq (first, 0);
  ck_assert_uint_eq (iris_arena_locate (IRIS_ARENA_FIRST, &first), 1);
  ck_assert_uint_eq (first, IRIS_ARENA_FIRST);
}

TEST (what_was_given_back_is_handed_out_first_and_newest_first)
{
  bool fresh;
  uint32_t one = iris_free_list_core_get (&list, &fresh);
  uint32_t two = iris_free_list_core_get (&list, &fresh);

  iris_free_list_core_put (&list, one);
  iris_free_list_core_put (&list, two);
  ck_assert_uint_eq (iris_free_list_core_get (&list, &fresh), two);
  ck_assert (!fresh);
  ck_assert_uint_eq (iris_free_list_core_get (&list, &fresh), one);
  ck_assert_uint_eq (iris_free_list_core_get (&list, &fresh), 3);
  ck_assert (fresh);
}

TEST (a_full_arena_says_so_and_takes_back)
{
  bool fresh;

  list.arena.max = 2;
  iris_free_list_core_get (&list, &fresh);
  ck_assert_uint_eq (iris_free_list_core_get (&list, &fresh), 2);
  ck_assert_uint_eq (iris_free_list_core_get (&list, &fresh), IRIS_INDEX_NONE);
  iris_free_list_core_put (&list, 1);
  ck_assert_uint_eq (iris_free_list_core_get (&list, &fresh), 1);
}

TEST (without_memory_a_stack_refuses_and_keeps_what_it_has)
{
  uint32_t n = 0;

  inject_n_good = 2;
  while (iris_stack_core_push (&stack, &items[n % 8]))
    n++;
  ck_assert_uint_eq (n, 3 * IRIS_ARENA_FIRST);
  ck_assert (!iris_stack_core_push (&stack, items));

  inject_n_good = -1;
  ck_assert (iris_stack_core_push (&stack, items));
  ck_assert_ptr_eq (iris_stack_core_pop (&stack), items);
  while (n-- > 0)
    ck_assert_ptr_eq (iris_stack_core_pop (&stack), &items[n % 8]);
  ck_assert (iris_stack_core_is_empty (&stack));
}

TEST (the_newest_comes_first)
{
  ck_assert (iris_stack_core_is_empty (&stack));
  ck_assert_ptr_null (iris_stack_core_pop (&stack));
  for (int i = 0; i < 8; i++)
    ck_assert (iris_stack_core_push (&stack, &items[i]));
  ck_assert (!iris_stack_core_is_empty (&stack));
  for (int i = 8; i-- > 0;)
    ck_assert_ptr_eq (iris_stack_core_pop (&stack), &items[i]);
  ck_assert_ptr_null (iris_stack_core_pop (&stack));
}

TEST (a_stack_works_across_the_wrap_of_its_stamps)
{
  iris_stack_core_clear (&stack);
  iris_stack_core_init (&stack, LATE_STAMP);
  for (int round = 0; round < 4; round++)
    {
      for (int i = 0; i < 8; i++)
        ck_assert (iris_stack_core_push (&stack, &items[i]));
      for (int i = 8; i-- > 0;)
        ck_assert_ptr_eq (iris_stack_core_pop (&stack), &items[i]);
    }
  ck_assert_uint_eq (iris_stamped_stamp (iris_stamped_load (&stack.lifo.top)), 4 * 8 - 2);
}

TEST (only_pops_use_stamps_up)
{
  for (int i = 0; i < 8; i++)
    iris_stack_core_push (&stack, &items[i]);
  ck_assert_uint_eq (iris_stamped_stamp (iris_stamped_load (&stack.lifo.top)), 0);
  iris_stack_core_pop (&stack);
  ck_assert_uint_eq (iris_stamped_stamp (iris_stamped_load (&stack.lifo.top)), 1);
}

TEST_MAIN ("stamped", setup, teardown)
