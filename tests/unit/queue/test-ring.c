/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * The ring: order, overflow, limits of the indices, and consumers that were lapped.
 *
 * Several threads are played by one: it does the steps of each by hand, on the words of the ring.
 */
#include "core-test-util.h"

#include <iris/queue/iris-ring-private.h>

typedef struct
{
  int id;
  void *next;
} Thing;

#define N_THINGS 1000

static Thing things[N_THINGS];

static void
setup (void)
{
  for (int i = 0; i < N_THINGS; i++)
    things[i] = (Thing){ i, NULL };
}

static void
init (IrisRingCore *ring, uint64_t capacity, uint64_t index)
{
  ck_assert (iris_ring_core_init_at (ring, capacity, offsetof (Thing, next), index));
}

static int
pop_id (IrisRingCore *ring)
{
  Thing *thing = iris_ring_core_pop (ring);

  return thing != NULL ? thing->id : -1;
}

/* Where indices start: at the beginning, and so that each limit is crossed by the test. */
static const uint64_t starts[] = {
  0, UINT32_MAX - 5, INT64_MAX - 5, UINT64_MAX - 5, UINT64_MAX - 1, UINT64_MAX,
};

START_TEST (a_capacity_that_is_no_power_of_two_is_refused)
{
  IrisRingCore ring;

  for (uint64_t capacity = 0; capacity <= 1030; capacity++)
    {
      bool ok = capacity >= 2 && (capacity & (capacity - 1)) == 0;

      ck_assert_int_eq (iris_ring_core_init (&ring, capacity, 0), ok);
      if (ok)
        iris_ring_core_clear (&ring);
    }
}
END_TEST

START_TEST (what_fits_comes_out_in_order_on_both_sides_of_every_limit)
{
  IrisRingCore ring;
  int in = 0, out = 0;

  init (&ring, 4, starts[_i]);
  while (out < N_THINGS)
    {
      for (int i = 0; i < 1 + in % 4 && in < N_THINGS; i++)
        iris_ring_core_push (&ring, &things[in++]);
      ck_assert_uint_eq (iris_ring_core_get_length (&ring), in - out);
      ck_assert_uint_eq (iris_counter_get (&ring.n_overflow), 0);
      while (out < in)
        ck_assert_int_eq (pop_id (&ring), out++);
      ck_assert (iris_ring_core_is_empty (&ring));
      ck_assert_ptr_null (iris_ring_core_pop (&ring));
    }
  iris_ring_core_clear (&ring);
}
END_TEST

START_TEST (nothing_overflows_before_the_ring_is_full)
{
  IrisRingCore ring;

  init (&ring, 8, starts[_i]);
  for (int i = 0; i < 8; i++)
    iris_ring_core_push (&ring, &things[i]);
  ck_assert_uint_eq (iris_counter_get (&ring.n_overflow), 0);
  iris_ring_core_push (&ring, &things[8]);
  ck_assert_uint_eq (iris_counter_get (&ring.n_overflow), 1);
  ck_assert_uint_eq (iris_ring_core_get_length (&ring), 9);
  iris_ring_core_clear (&ring);
}
END_TEST

START_TEST (overflow_keeps_everything_in_order_when_one_thread_pushes)
{
  IrisRingCore ring;

  init (&ring, 8, starts[_i]);
  for (int i = 0; i < N_THINGS; i++)
    iris_ring_core_push (&ring, &things[i]);
  ck_assert_uint_eq (iris_ring_core_get_length (&ring), N_THINGS);
  for (int i = 0; i < N_THINGS; i++)
    {
      ck_assert_int_eq (pop_id (&ring), i);
      ck_assert_uint_eq (iris_ring_core_get_length (&ring), N_THINGS - 1 - i);
    }
  ck_assert (iris_ring_core_is_empty (&ring));
  iris_ring_core_clear (&ring);
}
END_TEST

START_TEST (several_come_out_at_once_in_order_and_the_overflow_behind_them)
{
  IrisRingCore ring;
  void *found[N_THINGS + 1];
  uint64_t n = 0;

  init (&ring, 8, starts[_i]);
  ck_assert_uint_eq (iris_ring_core_pop_many (&ring, found, 4), 0);
  for (int i = 0; i < N_THINGS; i++)
    iris_ring_core_push (&ring, &things[i]);
  ck_assert_uint_eq (iris_ring_core_pop_many (&ring, found, 3), 3);
  n = 3;
  while (!iris_ring_core_is_empty (&ring))
    n += iris_ring_core_pop_many (&ring, found + n, N_THINGS + 1 - n);
  ck_assert_uint_eq (n, N_THINGS);
  for (int i = 0; i < N_THINGS; i++)
    ck_assert_ptr_eq (found[i], &things[i]);
  iris_ring_core_clear (&ring);
}
END_TEST

/* A push must not pass what overflowed before it, or the overflow would wait for ever. */
START_TEST (a_push_waits_behind_the_overflow_though_the_ring_has_room)
{
  IrisRingCore ring;

  init (&ring, 2, starts[_i]);
  for (int i = 0; i < 4; i++)
    iris_ring_core_push (&ring, &things[i]);
  ck_assert_int_eq (pop_id (&ring), 0);
  ck_assert_int_eq (pop_id (&ring), 1);
  iris_ring_core_push (&ring, &things[4]); /* room for two, but 2 and 3 wait */
  for (int i = 2; i < 5; i++)
    ck_assert_int_eq (pop_id (&ring), i);
  iris_ring_core_clear (&ring);
}
END_TEST

/* Under a load that never lets the ring run empty, an item waits behind at most those that were
 * queued before it, one ring of others, and what was under way (nothing, here). */
START_TEST (an_item_in_the_overflow_is_not_passed_by_for_ever)
{
  IrisRingCore ring;
  int in = 0, behind = 0;

  init (&ring, 4, starts[_i]);
  for (; in < 6; in++)
    iris_ring_core_push (&ring, &things[in]);
  /* 5 was the last to overflow. From here on two come for each one that goes. */
  for (int id = -1; id != 5; behind++)
    {
      iris_ring_core_push (&ring, &things[in++]);
      iris_ring_core_push (&ring, &things[in++]);
      id = pop_id (&ring);
    }
  ck_assert_int_le (behind, 5 + 1 + 4);
  iris_ring_core_clear (&ring);
}
END_TEST

/* The first step of a push or a pop: claims a position. */
static uint64_t
claim (_Atomic uint64_t *word)
{
  return atomic_fetch_add (word, 1);
}

static void
fill (IrisRingCore *ring, uint64_t position, Thing *thing)
{
  IrisRingCell *cell = &ring->cells[position & ring->mask];

  cell->item = thing;
  atomic_store (&cell->sequence, position + 1);
}

static Thing *
drain (IrisRingCore *ring, uint64_t position)
{
  IrisRingCell *cell = &ring->cells[position & ring->mask];
  Thing *thing = cell->item;

  atomic_store (&cell->sequence, position + ring->mask + 1);

  return thing;
}

START_TEST (a_position_that_is_claimed_and_not_filled_counts_as_an_item)
{
  IrisRingCore ring;
  uint64_t position;

  init (&ring, 4, starts[_i]);
  position = claim (&ring.tail);
  ck_assert (!iris_ring_core_is_empty (&ring));
  ck_assert_uint_eq (iris_ring_core_get_length (&ring), 1);
  ck_assert_ptr_null (iris_ring_core_pop (&ring));

  /* What was pushed behind it waits for it, and is counted. */
  iris_ring_core_push (&ring, &things[1]);
  ck_assert_ptr_null (iris_ring_core_pop (&ring));
  ck_assert_uint_eq (iris_ring_core_get_length (&ring), 2);

  fill (&ring, position, &things[0]);
  ck_assert_int_eq (pop_id (&ring), 0);
  ck_assert_int_eq (pop_id (&ring), 1);
  ck_assert (iris_ring_core_is_empty (&ring));
  iris_ring_core_clear (&ring);
}
END_TEST

/* A consumer has claimed a position and is interrupted before it reads the cell; producers come
 * round to the same cell. */
START_TEST (a_lapped_consumer_still_finds_its_item)
{
  IrisRingCore ring;
  uint64_t position;

  init (&ring, 4, starts[_i]);
  for (int i = 0; i < 4; i++)
    iris_ring_core_push (&ring, &things[i]);
  position = claim (&ring.head);

  /* The others drain the rest and refill the ring: the cell that is being read is not free, and
   * what has no room overflows instead of being written over it. */
  for (int i = 1; i < 4; i++)
    ck_assert_int_eq (pop_id (&ring), i);
  for (int i = 4; i < 9; i++)
    iris_ring_core_push (&ring, &things[i]);
  ck_assert_ptr_eq (drain (&ring, position), &things[0]);

  for (int i = 4; i < 9; i++)
    ck_assert_int_eq (pop_id (&ring), i);
  ck_assert (iris_ring_core_is_empty (&ring));
  iris_ring_core_clear (&ring);
}
END_TEST

/* A consumer has looked at the head's cell and is interrupted before it claims the position;
 * meanwhile the cell is emptied and filled again, and the head has moved by a whole ring. */
START_TEST (a_lapped_claim_fails)
{
  IrisRingCore ring;
  uint64_t seen;

  init (&ring, 4, starts[_i]);
  iris_ring_core_push (&ring, &things[0]);
  seen = atomic_load (&ring.head);
  ck_assert_uint_eq (atomic_load (&ring.cells[seen & ring.mask].sequence), seen + 1);

  for (int i = 0; i < 4; i++)
    {
      ck_assert_int_eq (pop_id (&ring), i);
      iris_ring_core_push (&ring, &things[i + 1]);
    }
  /* The same cell, filled as before, but for the next round. */
  ck_assert_uint_eq (atomic_load (&ring.head) & ring.mask, seen & ring.mask);
  ck_assert (!atomic_compare_exchange_strong (&ring.head, &seen, seen + 1));
  ck_assert_int_eq (pop_id (&ring), 4);
  iris_ring_core_clear (&ring);
}
END_TEST

/* The ring that this one is not: cells say only whether they hold something, and positions are
 * reduced to cells, so a claim does not know its round. */
typedef struct
{
  Thing *cells[4];
  _Atomic unsigned head, tail;
} BareRing;

static void
bare_push (BareRing *ring, Thing *thing)
{
  ring->cells[ring->tail] = thing;
  ring->tail = (ring->tail + 1) % 4;
}

static Thing *
bare_pop (BareRing *ring)
{
  Thing *thing = ring->cells[ring->head];

  ring->cells[ring->head] = NULL;
  ring->head = (ring->head + 1) % 4;

  return thing;
}

START_TEST (a_lapped_claim_on_a_ring_without_rounds_takes_another_item)
{
  BareRing ring = { 0 };
  unsigned seen;
  Thing *looked_at;

  bare_push (&ring, &things[0]);
  seen = ring.head;
  looked_at = ring.cells[seen];

  for (int i = 0; i < 4; i++)
    {
      ck_assert_ptr_eq (bare_pop (&ring), &things[i]);
      bare_push (&ring, &things[i + 1]);
    }
  /* The claim succeeds: item 0 is delivered a second time, and item 4 never. */
  ck_assert (atomic_compare_exchange_strong (&ring.head, &seen, (seen + 1) % 4));
  ck_assert_ptr_eq (looked_at, &things[0]);
  ck_assert_ptr_null (bare_pop (&ring));
}
END_TEST

int
main (void)
{
  Suite *suite = suite_create ("ring");
  TCase *all = tcase_create ("all");
  int n = G_N_ELEMENTS (starts);

  tcase_add_checked_fixture (all, setup, NULL);
  tcase_add_test (all, a_capacity_that_is_no_power_of_two_is_refused);
  tcase_add_loop_test (all, what_fits_comes_out_in_order_on_both_sides_of_every_limit, 0, n);
  tcase_add_loop_test (all, nothing_overflows_before_the_ring_is_full, 0, n);
  tcase_add_loop_test (all, overflow_keeps_everything_in_order_when_one_thread_pushes, 0, n);
  tcase_add_loop_test (all, several_come_out_at_once_in_order_and_the_overflow_behind_them, 0, n);
  tcase_add_loop_test (all, a_push_waits_behind_the_overflow_though_the_ring_has_room, 0, n);
  tcase_add_loop_test (all, an_item_in_the_overflow_is_not_passed_by_for_ever, 0, n);
  tcase_add_loop_test (all, a_position_that_is_claimed_and_not_filled_counts_as_an_item, 0, n);
  tcase_add_loop_test (all, a_lapped_consumer_still_finds_its_item, 0, n);
  tcase_add_loop_test (all, a_lapped_claim_fails, 0, n);
  tcase_add_test (all, a_lapped_claim_on_a_ring_without_rounds_takes_another_item);
  suite_add_tcase (suite, all);

  return core_test_run (suite);
}
