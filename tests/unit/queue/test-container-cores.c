/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * The cores that have states worth stepping through: lock-free queue, MPSC queue, ring, round
 * robin.
 */
#include "core-test-run.h"
#include "inject-malloc.h"

#include <iris/queue/stamped/iris-lfqueue-private.h>
#include <iris/queue/iris-mpsc-private.h>
#include <iris/queue/iris-ring-private.h>
#include <iris/queue/iris-rrobin-private.h>

#define N_ITEMS 8

static int items[N_ITEMS];

/* --- the lock-free queue ---------------------------------------------------------------------- */

static IrisLFQueueCore queue;

static void
setup (void)
{
  inject_n_good = -1;
  ck_assert (iris_lfqueue_core_init (&queue, 0));
}

static void
teardown (void)
{
  inject_n_good = -1;
  iris_lfqueue_core_clear (&queue);
}

START_TEST (a_push_that_was_stopped_before_it_moved_tail_holds_up_no_other)
{
  IrisLFQueueView view;
  uint32_t index = iris_lfqueue_core_wrap (&queue, &items[0]);

  ck_assert (iris_lfqueue_core_look_at_tail (&queue, &view));
  ck_assert (iris_lfqueue_core_link (&queue, view.tail, view.next, index));

  /* Both ends find the lagging tail and move it. */
  ck_assert_int_eq (iris_lfqueue_core_push (&queue, &items[1]), IRIS_LFQUEUE_PUSHED);
  ck_assert_uint_eq (iris_lfqueue_core_get_length (&queue), 2);
  ck_assert_ptr_eq (iris_lfqueue_core_pop (&queue), &items[0]);
  ck_assert_ptr_eq (iris_lfqueue_core_pop (&queue), &items[1]);
  ck_assert_ptr_null (iris_lfqueue_core_pop (&queue));
}
END_TEST

START_TEST (a_pop_moves_a_tail_that_it_would_overtake)
{
  IrisLFQueueView view;
  uint32_t index = iris_lfqueue_core_wrap (&queue, &items[0]);

  ck_assert (iris_lfqueue_core_look_at_tail (&queue, &view));
  ck_assert (iris_lfqueue_core_link (&queue, view.tail, view.next, index));
  ck_assert_ptr_eq (iris_lfqueue_core_pop (&queue), &items[0]);
  ck_assert_uint_eq (iris_stamped_index (iris_stamped_load (&queue.tail)), index);

  /* The one that was stopped goes on, too late to do harm. */
  view.next = iris_stamped (index, 0);
  iris_lfqueue_core_advance (&queue, &view);
  ck_assert_int_eq (iris_lfqueue_core_push (&queue, &items[1]), IRIS_LFQUEUE_PUSHED);
  ck_assert_ptr_eq (iris_lfqueue_core_pop (&queue), &items[1]);
}
END_TEST

START_TEST (closing_behind_a_lagging_tail_closes_the_end)
{
  IrisLFQueueView view;
  uint32_t index = iris_lfqueue_core_wrap (&queue, &items[0]);
  bool closed;

  ck_assert (iris_lfqueue_core_look_at_tail (&queue, &view));
  ck_assert (iris_lfqueue_core_link (&queue, view.tail, view.next, index));
  ck_assert (!iris_lfqueue_core_is_closed (&queue));
  iris_lfqueue_core_close (&queue);
  ck_assert (iris_lfqueue_core_is_closed (&queue));
  ck_assert_int_eq (iris_lfqueue_core_push (&queue, &items[1]), IRIS_LFQUEUE_REFUSED);
  ck_assert_ptr_eq (iris_lfqueue_core_pop_full (&queue, false, &closed), &items[0]);
  ck_assert (!closed);
  ck_assert_ptr_null (iris_lfqueue_core_pop_full (&queue, false, &closed));
  ck_assert (closed);
}
END_TEST

/* A push that looked before the queue was closed must not get in after. */
START_TEST (a_push_that_was_under_way_is_refused_by_the_close)
{
  IrisLFQueueView view;
  uint32_t index = iris_lfqueue_core_wrap (&queue, &items[0]);
  bool closed;

  ck_assert (iris_lfqueue_core_look_at_tail (&queue, &view));
  ck_assert_ptr_null (iris_lfqueue_core_pop_full (&queue, true, &closed));
  ck_assert (closed);
  ck_assert (!iris_lfqueue_core_link (&queue, view.tail, view.next, index));
}
END_TEST

START_TEST (the_queue_works_across_the_wrap_of_its_stamps)
{
  iris_lfqueue_core_clear (&queue);
  ck_assert (iris_lfqueue_core_init (&queue, UINT32_MAX - 2));
  for (int round = 0; round < 4; round++)
    {
      for (int i = 0; i < N_ITEMS; i++)
        {
          ck_assert_int_eq (iris_lfqueue_core_push (&queue, &items[i]), IRIS_LFQUEUE_PUSHED);
          ck_assert_uint_eq (iris_lfqueue_core_get_length (&queue), (uint32_t) i + 1);
        }
      for (int i = 0; i < N_ITEMS; i++)
        ck_assert_ptr_eq (iris_lfqueue_core_pop (&queue), &items[i]);
      ck_assert_uint_eq (iris_lfqueue_core_get_length (&queue), 0);
    }
}
END_TEST

START_TEST (without_memory_the_queue_refuses_and_keeps_what_it_has)
{
  uint32_t n = 0;

  inject_n_good = 0;
  while (iris_lfqueue_core_push (&queue, &items[n % N_ITEMS]) == IRIS_LFQUEUE_PUSHED)
    n++;
  ck_assert_uint_eq (n, IRIS_ARENA_FIRST - 1);
  ck_assert_int_eq (iris_lfqueue_core_push (&queue, items), IRIS_LFQUEUE_NO_MEMORY);
  ck_assert_ptr_eq (iris_lfqueue_core_pop (&queue), &items[0]);
  ck_assert_int_eq (iris_lfqueue_core_push (&queue, &items[n % N_ITEMS]), IRIS_LFQUEUE_PUSHED);
  for (uint32_t i = 1; i <= n; i++)
    ck_assert_ptr_eq (iris_lfqueue_core_pop (&queue), &items[i % N_ITEMS]);
  ck_assert_ptr_null (iris_lfqueue_core_pop (&queue));
}
END_TEST

START_TEST (a_queue_without_memory_for_its_dummy_cannot_be_made)
{
  IrisLFQueueCore other;

  inject_n_good = 0;
  ck_assert (!iris_lfqueue_core_init (&other, 0));
  iris_lfqueue_core_clear (&other);
}
END_TEST

/* --- the MPSC queue ------------------------------------------------------------------------------
 */

START_TEST (a_sender_that_was_stopped_in_its_gap_keeps_the_owner_up)
{
  IrisMpscNode stub, one, two, *spent;
  IrisMpscCore mpsc;
  uintptr_t previous;

  iris_mpsc_core_init (&mpsc, &stub);
  ck_assert (iris_mpsc_core_is_empty (&mpsc));
  one.item = &items[0];
  two.item = &items[1];

  /* The first half of a push by hand. */
  atomic_init (&one.next, NULL);
  previous = atomic_exchange (&mpsc.head, (uintptr_t) &one);
  ck_assert_uint_eq (previous, (uintptr_t) &stub | IRIS_MPSC_RESTING);

  ck_assert (!iris_mpsc_core_push (&mpsc, &two));
  ck_assert_ptr_null (iris_mpsc_core_pop (&mpsc, &spent));
  ck_assert (!iris_mpsc_core_is_empty (&mpsc));
  ck_assert (!iris_mpsc_core_rest (&mpsc));

  atomic_store (&stub.next, &one);
  ck_assert_ptr_eq (iris_mpsc_core_pop (&mpsc, &spent), &items[0]);
  ck_assert_ptr_eq (spent, &stub);
  ck_assert_ptr_eq (iris_mpsc_core_pop (&mpsc, &spent), &items[1]);
  ck_assert_ptr_eq (spent, &one);
  ck_assert (iris_mpsc_core_rest (&mpsc));
  ck_assert (iris_mpsc_core_rest (&mpsc));
  ck_assert (iris_mpsc_core_is_empty (&mpsc));
  ck_assert_ptr_eq (iris_mpsc_core_stub (&mpsc), &two);
  ck_assert (iris_mpsc_core_push (&mpsc, &stub));
}
END_TEST

/* --- the ring --------------------------------------------------------------------------------- */

typedef struct
{
  int before;
  IrisRingLink link;
} Linked;

START_TEST (a_ring_refuses_a_capacity_that_cannot_be_masked)
{
  IrisRingCore ring;

  ck_assert (!iris_ring_core_init (&ring, 0, IRIS_RING_NODES));
  ck_assert (!iris_ring_core_init (&ring, 1, IRIS_RING_NODES));
  ck_assert (!iris_ring_core_init (&ring, 255, IRIS_RING_NODES));
  ck_assert (!iris_ring_core_init (&ring, 2 * IRIS_RING_MAX_CAPACITY, IRIS_RING_NODES));
  inject_n_good = 0;
  ck_assert (!iris_ring_core_init (&ring, 4, IRIS_RING_NODES));
  inject_n_good = -1;
}
END_TEST

/* Nodes and links, each across the wrap of the indices. */
START_TEST (a_ring_overflows_and_keeps_the_order_of_one_thread)
{
  static Linked linked[N_ITEMS];
  size_t link = _i == 0 ? IRIS_RING_NODES : offsetof (Linked, link);
  IrisRingCore ring;

  ck_assert (iris_ring_core_init_at (&ring, 4, link, UINT64_MAX - 5));
  for (int round = 0; round < 3; round++)
    {
      for (int i = 0; i < N_ITEMS; i++)
        {
          ck_assert (iris_ring_core_push (&ring, &linked[i]));
          ck_assert_uint_eq (iris_ring_core_get_length (&ring), (uint64_t) i + 1);
        }
      for (int i = 0; i < N_ITEMS; i++)
        ck_assert_ptr_eq (iris_ring_core_pop (&ring), &linked[i]);
      ck_assert_ptr_null (iris_ring_core_pop (&ring));
      ck_assert (iris_ring_core_is_empty (&ring));
    }
  /* What is left in nodes goes with the ring. */
  for (int i = 0; i < N_ITEMS; i++)
    ck_assert (iris_ring_core_push (&ring, &linked[i]));
  iris_ring_core_clear (&ring);
}
END_TEST

START_TEST (a_ring_without_memory_for_a_node_refuses_and_keeps_what_it_has)
{
  IrisRingCore ring;

  ck_assert (iris_ring_core_init (&ring, 2, IRIS_RING_NODES));
  ck_assert (iris_ring_core_push (&ring, &items[0]));
  ck_assert (iris_ring_core_push (&ring, &items[1]));
  inject_n_good = 0;
  ck_assert (!iris_ring_core_push (&ring, &items[2]));
  ck_assert_uint_eq (iris_ring_core_get_length (&ring), 2);
  ck_assert_ptr_eq (iris_ring_core_pop (&ring), &items[0]);
  ck_assert (iris_ring_core_push (&ring, &items[2]));
  ck_assert_ptr_eq (iris_ring_core_pop (&ring), &items[1]);
  ck_assert_ptr_eq (iris_ring_core_pop (&ring), &items[2]);
  iris_ring_core_clear (&ring);
}
END_TEST

/* --- the round-robin ring --------------------------------------------------------------------- */

static IrisRRobinCore rrobin;

static int
whose_turn (void)
{
  const IrisRRobinArray *array = iris_rrobin_core_enter (&rrobin);
  int *member = array->members[iris_rrobin_core_next (&rrobin, array)];

  iris_rrobin_core_leave (&rrobin);

  return (int) (member - items);
}

/* A signed counter would be negative here, and index in front of the array. */
START_TEST (turns_go_on_across_every_limit_of_the_counter)
{
  const uint64_t limits[] = { (uint64_t) INT32_MAX, UINT32_MAX, INT64_MAX, UINT64_MAX };

  for (unsigned i = 0; i < 4; i++)
    {
      uint64_t turn = limits[i] - 2;

      iris_rrobin_core_init (&rrobin, turn);
      for (int k = 0; k < 4; k++)
        ck_assert (iris_rrobin_core_append (&rrobin, &items[k], SIZE_MAX));
      for (uint64_t k = 0; k < 6; k++)
        ck_assert_int_eq (whose_turn (), (int) ((turn + k) % 4));
      iris_rrobin_core_clear (&rrobin);
    }
}
END_TEST

START_TEST (what_a_reader_goes_through_does_not_change_under_it)
{
  const IrisRRobinArray *array;

  iris_rrobin_core_init (&rrobin, 0);
  iris_rrobin_core_append (&rrobin, &items[0], SIZE_MAX);
  iris_rrobin_core_append (&rrobin, &items[1], SIZE_MAX);
  array = iris_rrobin_core_enter (&rrobin);
  ck_assert_int_eq (iris_rrobin_core_remove (&rrobin, &items[0]), IRIS_RROBIN_REMOVED);
  ck_assert_int_eq (iris_rrobin_core_remove (&rrobin, &items[1]), IRIS_RROBIN_REMOVED);
  ck_assert (iris_rrobin_core_append (&rrobin, &items[2], SIZE_MAX));
  ck_assert_uint_eq (array->n, 2);
  ck_assert_ptr_eq (array->members[0], &items[0]);
  ck_assert_ptr_eq (array->members[1], &items[1]);

  /* The last visitor to leave frees them. */
  ck_assert_ptr_nonnull (atomic_load (&rrobin.retired));
  iris_rrobin_core_leave (&rrobin);
  ck_assert_ptr_null (atomic_load (&rrobin.retired));
  ck_assert_int_eq (whose_turn (), 2);
  iris_rrobin_core_clear (&rrobin);
}
END_TEST

START_TEST (without_memory_the_members_stay_as_they_are)
{
  iris_rrobin_core_init (&rrobin, 0);
  iris_rrobin_core_append (&rrobin, &items[0], SIZE_MAX);
  iris_rrobin_core_append (&rrobin, &items[1], SIZE_MAX);
  inject_n_good = 0;
  ck_assert (!iris_rrobin_core_append (&rrobin, &items[2], SIZE_MAX));
  ck_assert_int_eq (iris_rrobin_core_remove (&rrobin, &items[0]), IRIS_RROBIN_NO_MEMORY);
  ck_assert_int_eq (iris_rrobin_core_remove (&rrobin, &items[2]), IRIS_RROBIN_NOT_FOUND);
  ck_assert_int_eq (whose_turn (), 0);
  ck_assert_int_eq (whose_turn (), 1);
  iris_rrobin_core_clear (&rrobin);
}
END_TEST

int
main (void)
{
  Suite *suite = suite_create ("cores");
  TCase *lfqueue = tcase_create ("lfqueue");
  TCase *others = tcase_create ("others");

  tcase_add_checked_fixture (lfqueue, setup, teardown);
  tcase_add_test (lfqueue, a_push_that_was_stopped_before_it_moved_tail_holds_up_no_other);
  tcase_add_test (lfqueue, a_pop_moves_a_tail_that_it_would_overtake);
  tcase_add_test (lfqueue, closing_behind_a_lagging_tail_closes_the_end);
  tcase_add_test (lfqueue, a_push_that_was_under_way_is_refused_by_the_close);
  tcase_add_test (lfqueue, the_queue_works_across_the_wrap_of_its_stamps);
  tcase_add_test (lfqueue, without_memory_the_queue_refuses_and_keeps_what_it_has);
  tcase_add_test (lfqueue, a_queue_without_memory_for_its_dummy_cannot_be_made);
  tcase_add_checked_fixture (others, setup, teardown);
  tcase_add_test (others, a_sender_that_was_stopped_in_its_gap_keeps_the_owner_up);
  tcase_add_test (others, a_ring_refuses_a_capacity_that_cannot_be_masked);
  tcase_add_loop_test (others, a_ring_overflows_and_keeps_the_order_of_one_thread, 0, 2);
  tcase_add_test (others, a_ring_without_memory_for_a_node_refuses_and_keeps_what_it_has);
  tcase_add_test (others, turns_go_on_across_every_limit_of_the_counter);
  tcase_add_test (others, what_a_reader_goes_through_does_not_change_under_it);
  tcase_add_test (others, without_memory_the_members_stay_as_they_are);
  suite_add_tcase (suite, lfqueue);
  suite_add_tcase (suite, others);

  return core_test_run (suite);
}
