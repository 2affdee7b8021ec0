/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * The adaptive policy of locks, with a test for a clock.
 */
#include "core-test-util.h"

#include <iris/task/lock/iris-lock-tuner-private.h>

static int64_t fake_time;
static guint64 n_looks;

static int64_t
fake_clock (void)
{
  n_looks++;

  return fake_time;
}

/* So many hand-overs, each as long as its way says; returns the time spent in the worse. */
static int64_t
use_lock (IrisLockTuner *tuner, int64_t hot_ns, int64_t plain_ns, guint n)
{
  int64_t lost = 0;

  for (guint i = 0; i < n; i++)
    {
      int64_t length = iris_lock_tuner_next (tuner, fake_clock, 0) == IRIS_LOCK_WAY_HOT ? hot_ns
                                                                                        : plain_ns;

      fake_time += length;
      lost += length - MIN (hot_ns, plain_ns);
      /* From time to time no thread waits; that is not counted. */
      if (i % 7 == 6)
        {
          iris_lock_tuner_pause (tuner, fake_clock);
          fake_time += 1000;
        }
    }

  return lost;
}

TEST (the_adaptive_policy_keeps_the_faster_way)
{
  IrisLockTuner tuner;

  iris_lock_tuner_init (&tuner, false);
  use_lock (&tuner, 100, 300, 5000);
  ck_assert_int_eq (tuner.better, IRIS_LOCK_WAY_HOT);
  ck_assert_uint_eq (atomic_load (&tuner.ns[IRIS_LOCK_WAY_HOT]), 100);
  ck_assert_uint_eq (atomic_load (&tuner.ns[IRIS_LOCK_WAY_PLAIN]), 300);

  iris_lock_tuner_init (&tuner, false);
  use_lock (&tuner, 300, 200, 5000);
  ck_assert_int_eq (tuner.better, IRIS_LOCK_WAY_PLAIN);
  ck_assert_uint_eq (atomic_load (&tuner.switches), 1);

  /* Within the margin nothing changes. */
  iris_lock_tuner_init (&tuner, false);
  use_lock (&tuner, 100, 99, 5000);
  ck_assert_int_eq (tuner.better, IRIS_LOCK_WAY_HOT);
  ck_assert_uint_eq (atomic_load (&tuner.switches), 0);
}

TEST (the_adaptive_policy_looks_again_and_changes_its_mind)
{
  IrisLockTuner tuner;

  iris_lock_tuner_init (&tuner, false);
  use_lock (&tuner, 100, 300, 100000);
  ck_assert_int_eq (tuner.better, IRIS_LOCK_WAY_HOT);
  use_lock (&tuner, 300, 100, 1000000);
  ck_assert_int_eq (tuner.better, IRIS_LOCK_WAY_PLAIN);
  use_lock (&tuner, 100, 300, 1000000);
  ck_assert_int_eq (tuner.better, IRIS_LOCK_WAY_HOT);
  ck_assert_uint_eq (atomic_load (&tuner.switches), 2);
}

TEST (trying_the_worse_way_costs_a_small_part_of_the_time)
{
  static const int64_t worse[] = { 110, 200, 1000, 100000 };

  for (guint i = 0; i < G_N_ELEMENTS (worse); i++)
    {
      IrisLockTuner tuner;
      int64_t lost, began;

      iris_lock_tuner_init (&tuner, false);
      use_lock (&tuner, 100, worse[i], 2 * IRIS_LOCK_TRIALS * IRIS_LOCK_TRIAL_LENGTH + 1);
      began = fake_time;
      n_looks = 0;
      lost = use_lock (&tuner, 100, worse[i], 10000000);
      ck_assert_int_le (lost * (IRIS_LOCK_SHARE - 1), fake_time - began);
      ck_assert_uint_ge (atomic_load (&tuner.rounds), 2);
      ck_assert_uint_le (n_looks, 10000000 / 50);
    }
}

/* So many wake-ups, 100 ns apart for each time that the lock is held meanwhile; a hot one lets it
 * be held @hot times, a plain one @plain times. Returns the time of the ways. */
static void
wake_threads (IrisLockTuner *tuner, guint hot, guint plain, guint n, int64_t spent[2])
{
  static uint64_t held;

  spent[0] = spent[1] = 0;
  for (guint i = 0; i < n; i++)
    {
      IrisLockWay way = iris_lock_tuner_next (tuner, fake_clock, held);

      held += way == IRIS_LOCK_WAY_HOT ? hot : plain;
      fake_time += 1000;
      spent[way] += 1000;
    }
}

TEST (threads_are_moved_only_where_the_lock_is_held_more_often_for_it)
{
  IrisLockTuner tuner;
  int64_t spent[2];

  /* A wake-up takes as long either way: what counts is how often the lock was held. */
  iris_lock_tuner_init (&tuner, true);
  ck_assert_int_eq (tuner.better, IRIS_LOCK_WAY_PLAIN);
  wake_threads (&tuner, 4, 2, 100000, spent);
  ck_assert_int_eq (tuner.better, IRIS_LOCK_WAY_HOT);
  ck_assert_uint_eq (atomic_load (&tuner.ns[IRIS_LOCK_WAY_HOT]), 250);
  ck_assert_uint_eq (atomic_load (&tuner.ns[IRIS_LOCK_WAY_PLAIN]), 500);

  /* A tenth faster is too little. */
  iris_lock_tuner_init (&tuner, true);
  wake_threads (&tuner, 11, 10, 100000, spent);
  ck_assert_int_eq (tuner.better, IRIS_LOCK_WAY_PLAIN);

  iris_lock_tuner_init (&tuner, true);
  wake_threads (&tuner, 2, 3, 100000, spent);
  ck_assert_int_eq (tuner.better, IRIS_LOCK_WAY_PLAIN);
  ck_assert_uint_eq (atomic_load (&tuner.switches), 0);
}

TEST (trials_of_threads_are_long_and_cost_a_small_part_of_the_time)
{
  IrisLockTuner tuner;
  int64_t spent[2];

  iris_lock_tuner_init (&tuner, true);
  wake_threads (&tuner, 1, 3, IRIS_LOCK_TRIAL_NS / 1000, spent);
  ck_assert_int_eq (spent[IRIS_LOCK_WAY_HOT], 0);
  wake_threads (&tuner, 1, 3, 10 * IRIS_LOCK_TRIAL_NS / 1000, spent);
  ck_assert_uint_eq (atomic_load (&tuner.rounds), 1);
  wake_threads (&tuner, 1, 3, 5000000, spent);
  ck_assert_uint_ge (atomic_load (&tuner.rounds), 2);
  ck_assert_int_le (spent[IRIS_LOCK_WAY_HOT] * (IRIS_LOCK_SHARE - 1) * 2 / 3,
                    spent[IRIS_LOCK_WAY_PLAIN]);
}

TEST_MAIN ("lock-tuner", NULL, NULL)
