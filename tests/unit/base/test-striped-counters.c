/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * Striped counters: nothing that threads count is lost, also when they are more than there are
 * slots.
 */
#include "core-test-util.h"

#include <iris/base/sync/iris-striped-counters-private.h>

#define N_THREADS  (IRIS_THREAD_SLOTS + 8)
#define N_COUNTERS 3

static IrisStripedCounters counters;
static pthread_barrier_t all_here;

/* All are alive at once, so some of them share a slot. */
static void *
count (void *data)
{
  iris_thread_slot ();
  pthread_barrier_wait (&all_here);
  for (int i = 0; i < CORE_TEST_LOAD (20000); i++)
    iris_striped_counters_add (&counters, (unsigned) i % N_COUNTERS);
  pthread_barrier_wait (&all_here);

  return data;
}

TEST (what_many_threads_count_adds_up)
{
  pthread_t threads[N_THREADS];
  uint64_t sum = 0;

  ck_assert (iris_striped_counters_init (&counters, N_COUNTERS));
  pthread_barrier_init (&all_here, NULL, N_THREADS);
  for (int i = 0; i < N_THREADS; i++)
    ck_assert_int_eq (pthread_create (&threads[i], NULL, count, NULL), 0);
  for (int i = 0; i < N_THREADS; i++)
    ck_assert_int_eq (pthread_join (threads[i], NULL), 0);
  for (unsigned i = 0; i < N_COUNTERS; i++)
    sum += iris_striped_counters_get (&counters, i);
  ck_assert_uint_eq (sum, (uint64_t) N_THREADS * (uint64_t) CORE_TEST_LOAD (20000));
  pthread_barrier_destroy (&all_here);
  iris_striped_counters_clear (&counters);
}

TEST (a_thread_learns_what_it_counted_before)
{
  ck_assert (iris_striped_counters_init (&counters, 1));
  for (uint64_t i = 0; i < 10; i++)
    ck_assert_uint_eq (iris_striped_counters_add (&counters, 0), i);
  ck_assert_uint_eq (iris_striped_counters_get (&counters, 0), 10);
  iris_striped_counters_clear (&counters);
}

/* Threads write no line of each other's. */
TEST (stripes_are_whole_cache_lines)
{
  ck_assert (iris_striped_counters_init (&counters, N_COUNTERS));
  ck_assert_uint_eq ((uintptr_t) counters.cells % IRIS_CACHE_LINE, 0);
  ck_assert_uint_eq (counters.stride * sizeof (uint64_t) % IRIS_CACHE_LINE, 0);
  iris_striped_counters_clear (&counters);
}

TEST_MAIN ("striped-counters", NULL, NULL)
