/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * What every kind of deque promises to one thread, the pool of arrays, and the public face.
 */
#include "core-test-util.h"
#include "inject-malloc.h"

#include <iris/queue/iris-deque-private.h>

#define N_KINDS (IRIS_DEQUE_IDEMPOTENT + 1)
#define N_ITEMS 5000

static char things[N_ITEMS];
static IrisDequeCore queue;
static IrisArrayPool pool;

static void
setup (void)
{
  inject_n_good = -1;
  iris_array_pool_init (&pool);
}

static void
teardown (void)
{
  iris_array_pool_clear (&pool);
}

/* Small ones, but bounded kinds hold 128. */
static void
make (int kind, uint64_t start)
{
  uint64_t capacity = iris_deque_kind_is_bounded ((IrisDequeKind) kind) ? 128 : 2;

  ck_assert (iris_deque_core_init_full (&queue, (IrisDequeKind) kind, &pool, capacity, start));
}

static void
push (int from, int to)
{
  int n_refused = 0;
  for (int i = from; i < to; i++)
    n_refused += !iris_deque_core_push (&queue, &things[i]);
  ck_assert_int_eq (n_refused, 0);
}

/* The next to be taken are @from, @from - 1, … @to. */
static void
expect_taken (int from, int to)
{
  int n_wrong = 0;
  for (int i = from; i >= to; i--)
    n_wrong += iris_deque_core_take (&queue) != &things[i];
  ck_assert_int_eq (n_wrong, 0);
}

LOOP_TEST (the_owner_takes_the_newest_first, 0, N_KINDS)
{
  make (_i, 0);
  ck_assert_ptr_null (iris_deque_core_take (&queue));
  push (0, 100);
  ck_assert_uint_eq (iris_deque_core_get_length (&queue), 100);
  expect_taken (99, 50);
  push (50, 60);
  expect_taken (59, 0);
  ck_assert_ptr_null (iris_deque_core_take (&queue));
  ck_assert_uint_eq (iris_deque_core_get_length (&queue), 0);
  iris_deque_core_clear (&queue);
}

LOOP_TEST (the_owner_takes_the_oldest_when_it_asks_for_it, 0, N_KINDS)
{
  make (_i, 0);
  ck_assert_ptr_null (iris_deque_core_take_oldest (&queue));
  push (0, 10);
  for (int i = 0; i < 9; i++)
    ck_assert_ptr_eq (iris_deque_core_take_oldest (&queue), &things[i]);
  expect_taken (9, 9);
  ck_assert_ptr_null (iris_deque_core_take_oldest (&queue));
  iris_deque_core_clear (&queue);
}

LOOP_TEST (thieves_take_the_oldest_and_no_more_than_half, 0, N_KINDS)
{
  void *items[N_ITEMS];
  uint64_t n, next = 0;

  make (_i, 0);
  push (0, 100);
  iris_deque_core_expose (&queue, 100);
  while (next < 100)
    {
      uint64_t half = (iris_deque_core_get_public_length (&queue) + 1) / 2;

      ck_assert_int_eq (iris_deque_core_steal (&queue, items, 7, &n), IRIS_STEAL_TAKEN);
      ck_assert_uint_ge (n, 1);
      ck_assert_uint_le (n, half < 7 ? half : 7);
      for (uint64_t i = 0; i < n; i++)
        ck_assert_ptr_eq (items[i], &things[next++]);
    }
  ck_assert_int_eq (iris_deque_core_steal (&queue, items, 7, &n), IRIS_STEAL_EMPTY);
  ck_assert_uint_eq (n, 0);
  iris_deque_core_clear (&queue);
}

LOOP_TEST (numbers_may_wrap_around, 0, N_KINDS)
{
  void *items[8];
  uint64_t n;

  for (uint64_t before = 0; before < 70; before++)
    {
      make (_i, UINT64_MAX - before);
      for (int round = 0; round < 4; round++)
        {
          push (0, 30);
          iris_deque_core_expose (&queue, 20);
          ck_assert_uint_eq (iris_deque_core_get_length (&queue), 30);
          ck_assert_int_eq (iris_deque_core_steal (&queue, items, 1, &n), IRIS_STEAL_TAKEN);
          ck_assert_ptr_eq (items[0], &things[0]);
          ck_assert_ptr_eq (iris_deque_core_take_oldest (&queue), &things[1]);
          expect_taken (29, 2);
          ck_assert_ptr_null (iris_deque_core_take (&queue));
        }
      iris_deque_core_clear (&queue);
    }
}

LOOP_TEST (a_bounded_kind_says_when_it_is_full, 0, N_KINDS)
{
  if (!iris_deque_kind_is_bounded ((IrisDequeKind) _i))
    return;
  make (_i, 0);
  push (0, 128);
  ck_assert (!iris_deque_core_push (&queue, &things[128]));
  expect_taken (127, 127);
  push (127, 128);
  ck_assert (!iris_deque_core_push (&queue, &things[128]));
  expect_taken (127, 0);
  push (0, 128);
  iris_deque_core_clear (&queue);
}

LOOP_TEST (without_memory_a_push_fails_and_nothing_is_lost, 0, N_KINDS)
{
  int n = 0;

  make (_i, 0);
  inject_n_good = 2;
  while (n < N_ITEMS && iris_deque_core_push (&queue, &things[n]))
    n++;
  ck_assert_int_lt (n, N_ITEMS);
  ck_assert (!iris_deque_core_push (&queue, &things[n]));
  ck_assert_uint_eq (iris_deque_core_get_length (&queue), (uint64_t) n);
  expect_taken (n - 1, n - 1);
  push (n - 1, n);
  expect_taken (n - 1, 0);
  ck_assert_ptr_null (iris_deque_core_take (&queue));
  iris_deque_core_clear (&queue);
}

LOOP_TEST (without_memory_it_does_not_start, 0, N_KINDS)
{
  inject_n_good = 0;
  ck_assert (!iris_deque_core_init (&queue, (IrisDequeKind) _i, &pool));
  iris_deque_core_clear (&queue);
}

LOOP_TEST (a_capacity_that_is_no_power_of_two_is_refused, 0, N_KINDS)
{
  static const uint64_t wrong[] = { 0, 1, 3, 255, 2 * IRIS_ARRAY_MAX_CAPACITY };

  for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; i++)
    {
      ck_assert (!iris_deque_core_init_full (&queue, (IrisDequeKind) _i, &pool, wrong[i], 0));
      iris_deque_core_clear (&queue);
    }
}

static uint64_t
current_capacity (void)
{
  switch (queue.kind)
    {
    case IRIS_DEQUE_CHASE_LEV:
      return iris_array_get_capacity (queue.chase_lev.array);
    case IRIS_DEQUE_SPLIT:
      return iris_array_get_capacity (queue.split.own_array);
    case IRIS_DEQUE_STEAL_HALF:
      return iris_array_get_capacity (queue.half.array);
    default:
      return 0;
    }
}

LOOP_TEST (what_grew_shrinks_again_and_gives_its_arrays_to_others, 0, N_KINDS)
{
  uint64_t n_made;

  make (_i, 0);
  if (current_capacity () == 0)
    {
      iris_deque_core_clear (&queue);
      return;
    }
  push (0, N_ITEMS);
  ck_assert_uint_eq (current_capacity (), 8192);
  n_made = pool.n_made;
  ck_assert_uint_eq (n_made, 13);
  ck_assert_uint_eq (pool.n_idle, 12);
  expect_taken (N_ITEMS - 1, 0);
  for (int i = 0; i < 20; i++)
    ck_assert_ptr_null (iris_deque_core_take (&queue));
  ck_assert_uint_lt (current_capacity (), 64);

  /* Another one grows without new memory. */
  inject_n_good = 0;
  for (int round = 0; round < 3; round++)
    {
      push (0, N_ITEMS);
      expect_taken (N_ITEMS - 1, 0);
    }
  iris_deque_core_clear (&queue);
  make (_i, 0);
  push (0, N_ITEMS);
  expect_taken (N_ITEMS - 1, 0);
  iris_deque_core_clear (&queue);
  ck_assert_uint_eq (pool.n_made, n_made);
  ck_assert_uint_eq (pool.n_idle, n_made);
}

LOOP_TEST (a_deque_without_a_pool_grows_and_keeps_what_it_replaced, 0, N_KINDS)
{
  if (iris_deque_kind_is_bounded ((IrisDequeKind) _i))
    return;
  ck_assert (iris_deque_core_init_full (&queue, (IrisDequeKind) _i, NULL, 2, 0));
  push (0, N_ITEMS);
  expect_taken (N_ITEMS - 1, 0);
  ck_assert_ptr_null (iris_deque_core_take (&queue));
  iris_deque_core_clear (&queue);
}

LOOP_TEST (the_public_face_does_the_same, 0, N_KINDS)
{
  g_autoptr (IrisDeque) deque = iris_deque_new ((IrisDequeKind) _i);
  g_autoptr (GEnumClass) kinds = g_type_class_ref (IRIS_TYPE_DEQUE_KIND);
  gpointer items[4];

  ck_assert_ptr_nonnull (g_enum_get_value (kinds, _i));
  ck_assert_int_eq ((int) iris_deque_get_kind (deque), _i);
  ck_assert_uint_eq (iris_deque_steal (deque, items, 4), 0);
  for (int i = 0; i < 8; i++)
    ck_assert (iris_deque_push (deque, &things[i]));
  iris_deque_expose (deque, 3);
  ck_assert_uint_eq (iris_deque_get_length (deque), 8);
  ck_assert_uint_eq (iris_deque_steal (deque, items, 1), 1);
  ck_assert_ptr_eq (items[0], &things[0]);
  ck_assert_ptr_eq (iris_deque_take_oldest (deque), &things[1]);
  for (int i = 7; i >= 2; i--)
    ck_assert_ptr_eq (iris_deque_take (deque), &things[i]);
  ck_assert_ptr_null (iris_deque_take (deque));
}

TEST_MAIN ("deque", setup, teardown)
