/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * The fences, against the machine: of two threads that each store and then look, one sees the
 * other (Dekker).
 */
#include "core-test-util.h"

#include <sched.h>
#include <string.h>

#define N_RUNS  (20 / (CORE_TEST_FACTOR > 1 ? 4 : 1))
#define N_TRIES 4000
#define BATCH   500

typedef void (*Fence) (void);

/* A line of its own for each try: the store that waits for its line is what a fence must wait for,
 * and the two sides fall into step over such lines. */
typedef struct
{
  alignas (IRIS_CACHE_LINE) _Atomic int word;
} Line;

typedef struct
{
  alignas (IRIS_CACHE_PAIR) _Atomic int batch; /* how far this side is */
  Line lines[N_TRIES];
  int seen[N_TRIES]; /* what this side saw of the other */
  Fence fence;
} Side;

static Side sides[2];

static void
play (Side *mine, Side *others)
{
  for (int i = 0; i < N_TRIES; i++)
    {
      if (i % BATCH == 0)
        {
          /* Two busy threads may share a processor. */
          atomic_store (&mine->batch, i + 1);
          for (int waits = 0; atomic_load (&others->batch) < i + 1; waits++)
            if (waits > 1000)
              sched_yield ();
        }
      atomic_store_explicit (&mine->lines[i].word, 1, memory_order_relaxed);
      mine->fence ();
      mine->seen[i] = atomic_load_explicit (&others->lines[i].word, memory_order_relaxed);
    }
}

static void *
play_second (void *data)
{
  play (&sides[1], &sides[0]);

  return NULL;
}

static void
run_once (const Fence *fences)
{
  pthread_t thread;

  memset (sides, 0, sizeof sides);
  for (int i = 0; i < 2; i++)
    sides[i].fence = fences[i];
  ck_assert_int_eq (pthread_create (&thread, NULL, play_second, NULL), 0);
  play (&sides[0], &sides[1]);
  ck_assert_int_eq (pthread_join (thread, NULL), 0);
  for (int i = 0; i < N_TRIES; i++)
    ck_assert_msg (sides[0].seen[i] || sides[1].seen[i], "try %d: both sides missed the other", i);
}

static void
light (void)
{
  iris_fence_light ();
}

static void
full (void)
{
  iris_fence_full ();
}

static const Fence pairs[][2] = {
  { light, iris_fence_heavy },
  { iris_fence_heavy, light },
  { full, full },
  { full, iris_fence_heavy },
};

START_TEST (of_two_threads_that_store_and_look_one_sees_the_other)
{
  iris_fence_init ();
  for (int i = 0; i < N_RUNS; i++)
    run_once (pairs[_i]);
}
END_TEST

START_TEST (the_choice_of_the_fence_is_made_once)
{
  bool first;

  iris_fence_init ();
  first = iris_fence_is_asymmetric;
  iris_fence_init ();
  ck_assert_int_eq (iris_fence_is_asymmetric, first);
}
END_TEST

/* Where the kernel refuses membarrier(), both sides are full fences. */
START_TEST (of_two_one_sees_the_other_without_the_kernels_help)
{
  bool before = iris_fence_is_asymmetric;

  iris_fence_is_asymmetric = false;
  for (int i = 0; i < N_RUNS; i++)
    run_once (pairs[_i]);
  iris_fence_is_asymmetric = before;
}
END_TEST

START_TEST (a_counter_adds)
{
  _Atomic uint64_t counter = UINT64_MAX - 1;

  iris_counter_add (&counter, 3);
  ck_assert_uint_eq (iris_counter_get (&counter), 1);
}
END_TEST

int
main (void)
{
  Suite *suite = suite_create ("fence");
  TCase *all = tcase_create ("all");
  int n = G_N_ELEMENTS (pairs);

  tcase_add_test (all, the_choice_of_the_fence_is_made_once);
  tcase_add_loop_test (all, of_two_threads_that_store_and_look_one_sees_the_other, 0, n);
  tcase_add_loop_test (all, of_two_one_sees_the_other_without_the_kernels_help, 0, n);
  tcase_add_test (all, a_counter_adds);
  suite_add_tcase (suite, all);

  return core_test_run (suite);
}
