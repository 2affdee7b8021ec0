/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * The work-stealing queue: both ends, growth, limits of the indices, and the race for the last
 * item in every order.
 *
 * Owner and thief are played by one thread that does the steps of each by hand, on the words of
 * the queue; the steps are those of iris-wsqueue-private.h.
 */
#include "core-test-util.h"

#include <iris/queue/deque/iris-wsqueue-private.h>

#define N_THINGS 5000

static char things[N_THINGS];

/* Where positions start: at the beginning, and so that 32, 63 and 64 bits overflow within the
 * test. */
static const uint64_t starts[] = {
  0, INT32_MAX - 5, UINT32_MAX - UINT64_C (5), INT64_MAX - UINT64_C (5), UINT64_MAX - 5,
};

static void
init (IrisWSQueue *queue, uint64_t capacity, uint64_t position)
{
  ck_assert (iris_wsqueue_init_full (queue, NULL, capacity, position));
}

static void
push (IrisWSQueue *queue, int id)
{
  ck_assert (iris_wsqueue_push (queue, &things[id]));
}

static int
id_of (void *item)
{
  return item != NULL ? (int) ((char *) item - things) : -1;
}

static int
take (IrisWSQueue *queue)
{
  return id_of (iris_wsqueue_take (queue));
}

static int
steal (IrisWSQueue *queue)
{
  void *item;

  return iris_wsqueue_steal (queue, &item) == IRIS_STEAL_TAKEN ? id_of (item) : -1;
}

static int
count_arrays (IrisWSQueue *queue)
{
  int n = 1;

  for (IrisArray *array = queue->retired; array != NULL; array = array->next)
    n++;

  return n;
}

START_TEST (a_capacity_that_is_no_power_of_two_is_refused)
{
  IrisWSQueue queue;

  for (uint64_t capacity = 0; capacity <= 1030; capacity++)
    {
      bool ok = capacity >= 2 && (capacity & (capacity - 1)) == 0;

      ck_assert_int_eq (iris_wsqueue_init_full (&queue, NULL, capacity, 0), ok);
      iris_wsqueue_clear (&queue);
    }
}
END_TEST

START_TEST (an_empty_queue_gives_nothing)
{
  IrisWSQueue queue;
  void *item;

  init (&queue, 4, starts[_i]);
  ck_assert_int_eq (take (&queue), -1);
  ck_assert_int_eq (iris_wsqueue_steal (&queue, &item), IRIS_STEAL_EMPTY);
  ck_assert_int_eq (iris_wsqueue_get_length (&queue), 0);
  push (&queue, 0);
  ck_assert_int_eq (take (&queue), 0);
  ck_assert_int_eq (take (&queue), -1);
  ck_assert_int_eq (iris_wsqueue_steal (&queue, &item), IRIS_STEAL_EMPTY);
  iris_wsqueue_clear (&queue);
}
END_TEST

START_TEST (the_owner_takes_the_newest_and_a_thief_the_oldest)
{
  IrisWSQueue queue;

  init (&queue, 4, starts[_i]);
  for (int i = 0; i < 4; i++)
    push (&queue, i);
  ck_assert_int_eq (iris_wsqueue_get_length (&queue), 4);
  ck_assert_int_eq (take (&queue), 3);
  ck_assert_int_eq (steal (&queue), 0);
  push (&queue, 4);
  ck_assert_int_eq (steal (&queue), 1);
  ck_assert_int_eq (take (&queue), 4);
  ck_assert_int_eq (take (&queue), 2);
  ck_assert_int_eq (iris_wsqueue_get_length (&queue), 0);
  iris_wsqueue_clear (&queue);
}
END_TEST

START_TEST (growing_keeps_every_item_and_the_order)
{
  IrisWSQueue queue;
  int oldest = 0, newest = 0;

  /* Two in, one stolen: the array is replaced while its contents lie across its end. */
  init (&queue, 2, starts[_i]);
  while (newest < N_THINGS)
    {
      push (&queue, newest++);
      if (newest < N_THINGS)
        push (&queue, newest++);
      ck_assert_int_eq (steal (&queue), oldest++);
      ck_assert_int_eq (iris_wsqueue_get_length (&queue), newest - oldest);
    }
  /* 2, 4, ... 4096 slots. */
  ck_assert_int_eq (count_arrays (&queue), 12);
  while (oldest < newest)
    {
      ck_assert_int_eq (take (&queue), --newest);
      if (oldest < newest)
        ck_assert_int_eq (steal (&queue), oldest++);
    }
  ck_assert_int_eq (take (&queue), -1);
  iris_wsqueue_clear (&queue);
}
END_TEST

START_TEST (a_full_array_is_used_to_its_last_slot_but_one)
{
  IrisWSQueue queue;

  init (&queue, 8, starts[_i]);
  for (int i = 0; i < 7; i++)
    push (&queue, i);
  ck_assert_int_eq (count_arrays (&queue), 1);
  push (&queue, 7);
  ck_assert_int_eq (count_arrays (&queue), 2);
  for (int i = 0; i < 8; i++)
    ck_assert_int_eq (steal (&queue), i);
  iris_wsqueue_clear (&queue);
}
END_TEST

/* A thief in two steps: what it looks at, and the swap that makes the item its own. */
typedef struct
{
  uint64_t top;
  IrisArray *array;
  void *candidate;
} Thief;

static bool
thief_look (Thief *thief, IrisWSQueue *queue)
{
  thief->top = atomic_load (&queue->top);
  if ((int64_t) (atomic_load (&queue->bottom) - thief->top) <= 0)
    return false;
  thief->array = atomic_load (&queue->array);
  thief->candidate = atomic_load (&thief->array->slots[thief->top & thief->array->mask]);

  return true;
}

static bool
thief_swap (Thief *thief, IrisWSQueue *queue)
{
  return atomic_compare_exchange_strong (&queue->top, &thief->top, thief->top + 1);
}

/* The owner's first step: it announces that it is about to take the newest item. */
static uint64_t
owner_announce (IrisWSQueue *queue)
{
  uint64_t bottom = atomic_load (&queue->bottom) - 1;

  atomic_store (&queue->bottom, bottom);

  return bottom;
}

/* The owner's second step, for the last item. */
static bool
owner_finish_last (IrisWSQueue *queue, uint64_t bottom)
{
  uint64_t top = atomic_load (&queue->top);
  bool won = top == bottom && atomic_compare_exchange_strong (&queue->top, &top, top + 1);

  atomic_store (&queue->bottom, bottom + 1);

  return won;
}

START_TEST (last_item_a_thief_that_comes_after_the_announcement_finds_nothing)
{
  IrisWSQueue queue;
  Thief thief;
  void *item;
  uint64_t bottom;

  init (&queue, 4, starts[_i]);
  push (&queue, 0);
  bottom = owner_announce (&queue);
  ck_assert (!thief_look (&thief, &queue));
  ck_assert_int_eq (iris_wsqueue_steal (&queue, &item), IRIS_STEAL_EMPTY);
  ck_assert (owner_finish_last (&queue, bottom));
  ck_assert_int_eq (iris_wsqueue_get_length (&queue), 0);
  iris_wsqueue_clear (&queue);
}
END_TEST

START_TEST (last_item_a_thief_that_looked_before_the_announcement_loses_to_the_owner)
{
  IrisWSQueue queue;
  Thief thief;

  init (&queue, 4, starts[_i]);
  push (&queue, 0);
  ck_assert (thief_look (&thief, &queue));
  ck_assert_int_eq (take (&queue), 0);
  ck_assert (!thief_swap (&thief, &queue));
  ck_assert_int_eq (take (&queue), -1);
  iris_wsqueue_clear (&queue);
}
END_TEST

START_TEST (last_item_the_owner_loses_to_a_thief_that_swaps_after_the_announcement)
{
  IrisWSQueue queue;
  Thief thief;
  uint64_t bottom;

  init (&queue, 4, starts[_i]);
  push (&queue, 0);
  ck_assert (thief_look (&thief, &queue));
  bottom = owner_announce (&queue);
  ck_assert (thief_swap (&thief, &queue));
  ck_assert_int_eq (id_of (thief.candidate), 0);
  ck_assert (!owner_finish_last (&queue, bottom));

  /* The queue is as good as new. */
  ck_assert_int_eq (iris_wsqueue_get_length (&queue), 0);
  push (&queue, 1);
  ck_assert_int_eq (take (&queue), 1);
  iris_wsqueue_clear (&queue);
}
END_TEST

START_TEST (last_item_of_two_thieves_one_loses)
{
  IrisWSQueue queue;
  Thief thief;

  init (&queue, 4, starts[_i]);
  push (&queue, 0);
  ck_assert (thief_look (&thief, &queue));
  ck_assert_int_eq (steal (&queue), 0);
  ck_assert (!thief_swap (&thief, &queue));
  iris_wsqueue_clear (&queue);
}
END_TEST

/* The owner takes the last item, and pushes another one where it was. */
START_TEST (a_thief_that_was_overtaken_does_not_get_the_slots_next_item)
{
  IrisWSQueue queue;
  Thief thief;

  init (&queue, 2, starts[_i]);
  push (&queue, 0);
  ck_assert (thief_look (&thief, &queue));
  ck_assert_int_eq (take (&queue), 0);
  push (&queue, 1);
  ck_assert_int_eq (iris_wsqueue_get_length (&queue), 1);
  ck_assert (!thief_swap (&thief, &queue));
  ck_assert_int_eq (take (&queue), 1);
  iris_wsqueue_clear (&queue);
}
END_TEST

/* The queue that this one is not: its owner starts again at index 0 when the queue is empty, so
 * that an index comes back (ABA). */
START_TEST (with_indices_that_go_back_the_same_thief_takes_an_item_twice)
{
  char *slots[4];
  _Atomic int64_t top = 0, bottom = 0;
  int64_t seen;
  char *candidate;

  slots[bottom++] = &things[0];
  seen = top;
  candidate = slots[seen];

  bottom = 0; /* the owner takes item 0 ... */
  slots[bottom++] = &things[1];

  /* ... and the thief takes it too, while item 1 is gone. */
  ck_assert (atomic_compare_exchange_strong (&top, &seen, seen + 1));
  ck_assert_int_eq (id_of (candidate), 0);
  ck_assert_int_eq (top, bottom);
}
END_TEST

/* The array may serve another queue by the time that the thief reads its slot. */
START_TEST (a_thief_that_read_an_array_that_was_replaced_claims_nothing)
{
  IrisWSQueue queue;
  Thief thief;

  init (&queue, 4, starts[_i]);
  push (&queue, 0);
  push (&queue, 1);
  ck_assert (thief_look (&thief, &queue));
  for (int i = 2; i < 20; i++)
    push (&queue, i);
  ck_assert_ptr_ne (thief.array, atomic_load (&queue.array));

  ck_assert (!thief_swap (&thief, &queue));
  ck_assert_int_eq (iris_wsqueue_get_length (&queue), 20);
  for (int i = 0; i < 20; i++)
    ck_assert_int_eq (steal (&queue), i);
  iris_wsqueue_clear (&queue);
}
END_TEST

/* Between the two stores of a renumbering a thief sees top ahead of bottom. */
START_TEST (a_thief_that_comes_amid_a_renumbering_loses_and_does_not_see_an_empty_queue)
{
  IrisWSQueue queue;
  void *item;

  init (&queue, 4, starts[_i]);
  push (&queue, 0);
  atomic_fetch_add (&queue.top, 4);
  ck_assert_int_eq (iris_wsqueue_steal (&queue, &item), IRIS_STEAL_LOST);
  ck_assert_int_gt (iris_wsqueue_get_length (&queue), 0);
  atomic_fetch_add (&queue.bottom, 4);
  ck_assert_int_eq (steal (&queue), 0);
  iris_wsqueue_clear (&queue);
}
END_TEST

int
main (void)
{
  Suite *suite = suite_create ("wsqueue");
  TCase *all = tcase_create ("all");
  int n = G_N_ELEMENTS (starts);

  tcase_add_test (all, a_capacity_that_is_no_power_of_two_is_refused);
  tcase_add_loop_test (all, an_empty_queue_gives_nothing, 0, n);
  tcase_add_loop_test (all, the_owner_takes_the_newest_and_a_thief_the_oldest, 0, n);
  tcase_add_loop_test (all, growing_keeps_every_item_and_the_order, 0, n);
  tcase_add_loop_test (all, a_full_array_is_used_to_its_last_slot_but_one, 0, n);
  tcase_add_loop_test (all, last_item_a_thief_that_comes_after_the_announcement_finds_nothing, 0,
                       n);
  tcase_add_loop_test (
      all, last_item_a_thief_that_looked_before_the_announcement_loses_to_the_owner, 0, n);
  tcase_add_loop_test (all, last_item_the_owner_loses_to_a_thief_that_swaps_after_the_announcement,
                       0, n);
  tcase_add_loop_test (all, last_item_of_two_thieves_one_loses, 0, n);
  tcase_add_loop_test (all, a_thief_that_was_overtaken_does_not_get_the_slots_next_item, 0, n);
  tcase_add_test (all, with_indices_that_go_back_the_same_thief_takes_an_item_twice);
  tcase_add_loop_test (all, a_thief_that_read_an_array_that_was_replaced_claims_nothing, 0, n);
  tcase_add_loop_test (
      all, a_thief_that_comes_amid_a_renumbering_loses_and_does_not_see_an_empty_queue, 0, n);
  suite_add_tcase (suite, all);

  return core_test_run (suite);
}
