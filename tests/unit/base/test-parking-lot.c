/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * The parking lot, one schedule at a time: what a publisher does between any two steps of a worker
 * is never lost.
 *
 * One thread plays all workers, step by step; a worker that must not block is only let to sleep
 * when its token is set. All interleavings are the business of tests/model/.
 */
#include "core-test-util.h"

#include <iris/base/sync/iris-parking-lot-private.h>

#include <sched.h>

#define N_PARKERS 4

static IrisParkingLot parking_lot;
static IrisParker parkers[N_PARKERS];

/* Workers @place of each place. */
static void
open_parking_lot (unsigned n_places, unsigned workers_per_place)
{
  unsigned workers[N_PARKERS] = { 0 };

  for (unsigned i = 0; i < n_places; i++)
    workers[i] = workers_per_place;
  ck_assert (iris_parking_lot_init (&parking_lot, n_places, workers));
  for (unsigned i = 0; i < n_places * workers_per_place; i++)
    iris_parker_init (&parkers[i], i / workers_per_place);
}

static bool
is_woken (int i)
{
  return atomic_load (&parkers[i].token) == 1;
}

static unsigned
n_searching (void)
{
  return iris_parking_lot_n_searching (atomic_load (&parking_lot.word));
}

static unsigned
n_sleeping (void)
{
  return iris_parking_lot_n_sleeping (atomic_load (&parking_lot.word));
}

static void
check_words (unsigned searching, unsigned sleeping)
{
  unsigned place_searching = 0, place_sleeping = 0;

  for (unsigned i = 0; i < parking_lot.n_places; i++)
    {
      uint64_t word = atomic_load (&parking_lot.places[i].word);

      place_searching += iris_parking_lot_n_searching (word);
      place_sleeping += iris_parking_lot_n_sleeping (word);
    }
  ck_assert_uint_eq (n_searching (), searching);
  ck_assert_uint_eq (n_sleeping (), sleeping);
  ck_assert_uint_eq (place_searching, searching);
  ck_assert_uint_eq (place_sleeping, sleeping);
}

static void
fall_asleep (int i)
{
  iris_parking_lot_prepare (&parking_lot, &parkers[i]);
}

static void
wake_up (int i)
{
  ck_assert (is_woken (i));
  ck_assert (iris_parking_lot_sleep (&parking_lot, &parkers[i]));
}

LOOP_TEST (what_is_published_between_prepare_and_sleep_is_not_lost, 0, 2)
{
  open_parking_lot (1, 1);
  ck_assert (iris_parking_lot_begin_search (&parking_lot, &parkers[0]));
  check_words (1, 0);
  fall_asleep (0);
  check_words (0, 1);
  ck_assert (!is_woken (0));

  /* The worker has looked everywhere and found nothing; only now the item comes. */
  iris_parking_lot_publish (&parking_lot, 0, _i == 1);
  wake_up (0);
  ck_assert (parkers[0].searching);
  check_words (1, 0);
  iris_parking_lot_clear (&parking_lot);
}

static void *
sleep_in_a_thread (void *data)
{
  IrisParker *me = data;

  iris_parking_lot_prepare (&parking_lot, me);

  return iris_parking_lot_sleep (&parking_lot, me) ? me : NULL;
}

/* Confirmed under the lock: it is in the futex, or about to be. */
static void
wait_until_confirmed (unsigned n)
{
  for (;;)
    {
      unsigned confirmed;

      pthread_mutex_lock (&parking_lot.lock);
      confirmed = parking_lot.n_confirmed;
      pthread_mutex_unlock (&parking_lot.lock);
      if (confirmed == n)
        return;
      sched_yield ();
    }
}

LOOP_TEST (what_is_published_behind_sleep_wakes_the_sleeper, 0, 2)
{
  pthread_t thread;
  void *result;

  open_parking_lot (1, 1);
  pthread_create (&thread, NULL, sleep_in_a_thread, &parkers[0]);
  wait_until_confirmed (1);
  iris_parking_lot_publish (&parking_lot, 0, _i == 1);
  pthread_join (thread, &result);
  ck_assert_ptr_eq (result, &parkers[0]);
  check_words (1, 0);
  ck_assert_uint_eq (parking_lot.n_confirmed, 0);
  iris_parking_lot_clear (&parking_lot);
}

TEST (a_worker_that_sees_work_after_all_cancels_and_searches)
{
  open_parking_lot (1, 2);
  fall_asleep (0);
  iris_parking_lot_cancel (&parking_lot, &parkers[0]);
  ck_assert (parkers[0].searching);
  ck_assert (!parkers[0].linked);
  check_words (1, 0);

  /* No worker sleeps, so a publish has none to wake. */
  iris_parking_lot_publish (&parking_lot, 0, false);
  ck_assert (!is_woken (0));
  ck_assert (!is_woken (1));
  iris_parking_lot_clear (&parking_lot);
}

TEST (cancel_after_a_wake_counts_the_searcher_once)
{
  open_parking_lot (1, 2);
  fall_asleep (0);
  iris_parking_lot_publish (&parking_lot, 0, false);
  ck_assert (is_woken (0));
  check_words (1, 0);
  iris_parking_lot_cancel (&parking_lot, &parkers[0]);
  ck_assert (parkers[0].searching);
  check_words (1, 0);

  /* The token of that wake-up is not left for the next sleep. */
  fall_asleep (0);
  ck_assert (!is_woken (0));
  check_words (0, 1);
  iris_parking_lot_clear (&parking_lot);
}

TEST (new_work_wakes_one_and_none_while_one_searches)
{
  open_parking_lot (1, 4);
  for (int i = 0; i < 3; i++)
    fall_asleep (i);
  iris_parking_lot_publish (&parking_lot, 0, false);
  /* The one that went to sleep last. */
  ck_assert (is_woken (2));
  ck_assert (!is_woken (1));
  ck_assert (!is_woken (0));
  iris_parking_lot_publish (&parking_lot, 0, false);
  iris_parking_lot_publish (&parking_lot, 0, true);
  ck_assert (!is_woken (1));
  ck_assert (!is_woken (0));
  check_words (1, 2);
  iris_parking_lot_clear (&parking_lot);
}

TEST (wakes_go_on_in_a_chain)
{
  open_parking_lot (1, 4);
  for (int i = 0; i < 4; i++)
    fall_asleep (i);
  iris_parking_lot_publish (&parking_lot, 0, false);
  for (int i = 3; i > 0; i--)
    {
      wake_up (i);
      /* It finds work and was the last searcher: it must look, and finds more. */
      ck_assert (iris_parking_lot_end_search (&parking_lot, &parkers[i]));
      check_words (0, (unsigned) i);
      iris_parking_lot_wake (&parking_lot, 0, false);
      ck_assert (is_woken (i - 1));
    }
  wake_up (0);
  /* No worker sleeps any more: each of the others looks before it does. */
  ck_assert (!iris_parking_lot_end_search (&parking_lot, &parkers[0]));
  check_words (0, 0);
  iris_parking_lot_clear (&parking_lot);
}

TEST (only_the_last_searcher_must_look_again)
{
  open_parking_lot (1, 4);
  ck_assert (iris_parking_lot_begin_search (&parking_lot, &parkers[0]));
  ck_assert (iris_parking_lot_begin_search (&parking_lot, &parkers[1]));
  fall_asleep (2);
  ck_assert (!iris_parking_lot_end_search (&parking_lot, &parkers[0]));
  /* Who does not search has promised nothing. */
  ck_assert (!iris_parking_lot_end_search (&parking_lot, &parkers[0]));
  ck_assert (!iris_parking_lot_end_search (&parking_lot, &parkers[3]));
  ck_assert (iris_parking_lot_end_search (&parking_lot, &parkers[1]));
  check_words (0, 1);
  iris_parking_lot_clear (&parking_lot);
}

TEST (the_last_searcher_of_a_place_looks_though_others_search_elsewhere)
{
  open_parking_lot (2, 2);
  ck_assert (iris_parking_lot_begin_search (&parking_lot, &parkers[0]));
  fall_asleep (1);
  ck_assert (iris_parking_lot_begin_search (&parking_lot, &parkers[2]));

  /* A strict item at place 0: its publisher trusts in worker 0, and worker 2 will not see it. */
  iris_parking_lot_publish (&parking_lot, 0, true);
  ck_assert (!is_woken (1));
  ck_assert (iris_parking_lot_end_search (&parking_lot, &parkers[0]));
  iris_parking_lot_wake (&parking_lot, 0, true);
  ck_assert (is_woken (1));
  ck_assert_uint_eq (n_searching (), 2);
  iris_parking_lot_clear (&parking_lot);
}

TEST (strict_work_wakes_at_its_place_alone)
{
  open_parking_lot (2, 1);
  fall_asleep (0);
  iris_parking_lot_publish (&parking_lot, 1, true); /* place 1 is awake */
  ck_assert (!is_woken (0));
  iris_parking_lot_wake (&parking_lot, 1, true);
  ck_assert (!is_woken (0));

  fall_asleep (1);
  iris_parking_lot_publish (&parking_lot, 1, true);
  ck_assert (!is_woken (0));
  ck_assert (is_woken (1));
  iris_parking_lot_clear (&parking_lot);
}

TEST (strict_work_wakes_though_a_worker_searches_elsewhere)
{
  open_parking_lot (2, 1);
  fall_asleep (0);
  ck_assert (iris_parking_lot_begin_search (&parking_lot, &parkers[1]));
  iris_parking_lot_publish (&parking_lot, 0, false);
  ck_assert (!is_woken (0));
  iris_parking_lot_publish (&parking_lot, 0, true);
  ck_assert (is_woken (0));
  iris_parking_lot_clear (&parking_lot);
}

TEST (shared_work_wakes_at_its_place_or_the_next_that_sleeps)
{
  open_parking_lot (4, 1);
  for (int i = 0; i < 3; i++)
    fall_asleep (i);
  iris_parking_lot_publish (&parking_lot, 1, false);
  ck_assert (is_woken (1));
  wake_up (1);
  ck_assert (iris_parking_lot_end_search (&parking_lot, &parkers[1]));

  iris_parking_lot_publish (&parking_lot, 3, false); /* awake; next is 0 */
  ck_assert (is_woken (0));
  ck_assert (!is_woken (2));
  iris_parking_lot_clear (&parking_lot);
}

TEST (at_most_half_of_the_workers_search_of_their_own_accord)
{
  open_parking_lot (1, 4);
  ck_assert (iris_parking_lot_begin_search (&parking_lot, &parkers[0]));
  ck_assert (iris_parking_lot_begin_search (&parking_lot, &parkers[0]));
  ck_assert (iris_parking_lot_begin_search (&parking_lot, &parkers[1]));
  ck_assert (!iris_parking_lot_begin_search (&parking_lot, &parkers[2]));
  check_words (2, 0);
  /* Who may not search falls asleep directly. */
  fall_asleep (2);
  check_words (2, 1);
  iris_parking_lot_end_search (&parking_lot, &parkers[0]);
  ck_assert (iris_parking_lot_begin_search (&parking_lot, &parkers[3]));
  iris_parking_lot_clear (&parking_lot);
}

TEST (a_single_worker_may_search)
{
  open_parking_lot (1, 1);
  ck_assert (iris_parking_lot_begin_search (&parking_lot, &parkers[0]));
  iris_parking_lot_clear (&parking_lot);
}

TEST (closing_ends_all_when_all_are_without_work_at_once)
{
  pthread_t thread;
  void *result;

  open_parking_lot (1, 2);
  /* One sleeps; closing wakes it to look once more. */
  pthread_create (&thread, NULL, sleep_in_a_thread, &parkers[0]);
  wait_until_confirmed (1);
  iris_parking_lot_close (&parking_lot);
  pthread_join (thread, &result);
  ck_assert_ptr_eq (result, &parkers[0]);
  ck_assert (!atomic_load (&parking_lot.finished));

  /* It sleeps again. The other one is still running and queues something. */
  pthread_create (&thread, NULL, sleep_in_a_thread, &parkers[0]);
  wait_until_confirmed (1);
  ck_assert (!atomic_load (&parking_lot.finished));
  iris_parking_lot_publish (&parking_lot, 0, false);
  pthread_join (thread, &result);
  ck_assert_ptr_eq (result, &parkers[0]);
  ck_assert_uint_eq (parking_lot.n_confirmed, 0);

  /* Both are without work: both end. */
  pthread_create (&thread, NULL, sleep_in_a_thread, &parkers[0]);
  wait_until_confirmed (1);
  fall_asleep (1);
  ck_assert (!iris_parking_lot_sleep (&parking_lot, &parkers[1]));
  pthread_join (thread, &result);
  ck_assert_ptr_null (result);
  ck_assert (atomic_load (&parking_lot.finished));
  check_words (2, 0);
  iris_parking_lot_clear (&parking_lot);
}

/* Linked is not enough: a worker that has announced its sleep may still see work. */
TEST (closing_waits_for_a_worker_that_has_not_looked_yet)
{
  pthread_t thread;
  void *result;

  open_parking_lot (1, 2);
  iris_parking_lot_close (&parking_lot);
  fall_asleep (1); /* counted among the sleepers, but about to look */
  pthread_create (&thread, NULL, sleep_in_a_thread, &parkers[0]);
  wait_until_confirmed (1);
  check_words (0, 2);
  ck_assert (!atomic_load (&parking_lot.finished));

  /* It does see work, runs it, and that queues something for the other. */
  iris_parking_lot_cancel (&parking_lot, &parkers[1]);
  iris_parking_lot_end_search (&parking_lot, &parkers[1]);
  iris_parking_lot_publish (&parking_lot, 0, false);
  pthread_join (thread, &result);
  ck_assert_ptr_eq (result, &parkers[0]);
  iris_parking_lot_clear (&parking_lot);
}

/* What comes between a worker's last look and its sleep takes its confirmation away. */
TEST (closing_does_not_count_a_worker_that_was_woken_before_it_slept)
{
  open_parking_lot (1, 1);
  iris_parking_lot_close (&parking_lot);
  fall_asleep (0);
  iris_parking_lot_publish (&parking_lot, 0, false);
  wake_up (0);
  ck_assert (!atomic_load (&parking_lot.finished));
  ck_assert_uint_eq (parking_lot.n_confirmed, 0);

  fall_asleep (0);
  ck_assert (!iris_parking_lot_sleep (&parking_lot, &parkers[0]));
  iris_parking_lot_clear (&parking_lot);
}

TEST (closing_a_parking_lot_in_which_a_worker_is_about_to_sleep_does_not_leave_it_there)
{
  open_parking_lot (1, 1);
  fall_asleep (0);
  iris_parking_lot_close (&parking_lot);
  wake_up (0);
  fall_asleep (0);
  ck_assert (!iris_parking_lot_sleep (&parking_lot, &parkers[0]));
  iris_parking_lot_clear (&parking_lot);
}

TEST_MAIN ("parking-lot", NULL, NULL)
