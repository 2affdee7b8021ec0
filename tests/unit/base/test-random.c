/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * Random numbers: never stuck, always below the bound, no bound value left out.
 */
#include "core-test-util.h"

#include <iris/base/iris-random-private.h>

TEST (no_seed_gets_stuck)
{
  static const uint64_t seeds[] = { 0, 1, 2, UINT32_MAX, UINT64_MAX };

  for (gsize i = 0; i < G_N_ELEMENTS (seeds); i++)
    {
      IrisRandom random;
      uint32_t first, other = 0;

      iris_random_seed (&random, seeds[i]);
      ck_assert_uint_ne (random.state, 0);
      first = iris_random_next (&random);
      for (int n = 0; n < 100; n++)
        other |= iris_random_next (&random) ^ first;
      ck_assert_uint_ne (other, 0);
      ck_assert_uint_ne (random.state, 0);
    }
}

TEST (workers_do_not_go_in_step)
{
  IrisRandom a, b;
  int same = 0;

  /* The seeds of neighbouring workers. */
  iris_random_seed (&a, 1);
  iris_random_seed (&b, 2);
  for (int i = 0; i < 1000; i++)
    same += iris_random_below (&a, 64) == iris_random_below (&b, 64);
  ck_assert_int_lt (same, 100);
}

TEST (numbers_stay_below_the_bound_and_reach_all_of_it)
{
  IrisRandom random;
  int hits[7] = { 0 };

  iris_random_seed (&random, 42);
  for (int i = 0; i < 7000; i++)
    {
      uint32_t number = iris_random_below (&random, 7);

      ck_assert_uint_lt (number, 7);
      hits[number]++;
      ck_assert_uint_eq (iris_random_below (&random, 1), 0);
    }
  /* The generator is seeded, so this is not a matter of luck. */
  for (int i = 0; i < 7; i++)
    {
      ck_assert_int_gt (hits[i], 850);
      ck_assert_int_lt (hits[i], 1150);
    }
}

TEST_MAIN ("random", NULL, NULL)
