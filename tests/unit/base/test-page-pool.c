/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * The page pool, step by step: which page is taken, which memory goes back, and which worker sees
 * to it. The clock and the futex are this test's.
 */
#include "core-test-util.h"

#include <sys/syscall.h>
#include <time.h>

static int64_t now_ns = 1;
static unsigned n_discarded, n_woken;
static void *woken;

static int
test_clock_gettime (clockid_t clock, struct timespec *time)
{
  time->tv_sec = now_ns / 1000000000;
  time->tv_nsec = now_ns % 1000000000;

  return 0;
}

static long
test_syscall (long number, void *word, ...)
{
  ck_assert_int_eq (number, SYS_futex);
  n_woken++;
  woken = word;

  return 0;
}

#define clock_gettime             test_clock_gettime
#define syscall                   test_syscall
#define IRIS_PAGE_DISCARD(memory) ((void) (memory), n_discarded++)
#include "iris/base/memory/iris-page-pool.c"

#define N_OUT 40

static IrisPage *out[N_OUT]; /* of the pool */
static unsigned n_out;
static _Atomic uint32_t beds[2];

static void
take (unsigned n)
{
  while (n-- > 0)
    ck_assert_ptr_nonnull (out[n_out++] = iris_page_pool_take ());
}

static void
give (unsigned n)
{
  while (n-- > 0)
    iris_page_pool_give (out[--n_out]);
}

/* All pages are out, and no worker has slept. */
static void
setup (void)
{
  page_pool.bed = page_pool.tender = NULL;
  page_pool.tended_until = 0;
  take (N_OUT);
  n_discarded = n_woken = 0;
}

static void
teardown (void)
{
  give (n_out);
}

static void
check_counts (uint64_t n_resident, unsigned n_returned)
{
  IrisPagePoolCounts counts;

  iris_page_pool_count (&counts);
  ck_assert_uint_eq (counts.n_used, n_out);
  ck_assert_uint_eq (counts.n_resident, n_resident);
  ck_assert_uint_ge (counts.n_returned, n_returned);
  ck_assert_uint_eq (n_discarded, n_returned);
}

TEST (the_page_that_became_empty_last_is_taken_first)
{
  IrisPage *last = out[N_OUT - 3];

  give (3);
  take (1);
  ck_assert_ptr_eq (out[n_out - 1], last);
  check_counts (2, 0);
}

TEST (pages_keep_their_memory_for_a_while_then_all_but_the_newest_give_it_back)
{
  uint64_t wait;
  unsigned n = 0;

  iris_page_pool_tidy (&beds[0]);
  give (N_OUT);
  wait = iris_page_pool_tidy (&beds[0]);
  ck_assert_uint_ge (wait, IRIS_PAGE_DELAY_NS);
  check_counts (N_OUT, 0);
  now_ns += (int64_t) wait;
  /* Some at a time. */
  for (; iris_page_pool_tidy (&beds[0]) == 1; n++)
    ck_assert_uint_lt (n, N_OUT);
  ck_assert_uint_gt (n, 0);
  check_counts (IRIS_PAGE_RESERVE, N_OUT - IRIS_PAGE_RESERVE);
  ck_assert_uint_eq (iris_page_pool_tidy (&beds[0]), 0);
  /* Those with memory come first. */
  take (IRIS_PAGE_RESERVE);
  check_counts (0, N_OUT - IRIS_PAGE_RESERVE);
}

TEST (one_worker_comes_again_and_the_others_sleep)
{
  uint64_t wait;

  iris_page_pool_tidy (&beds[1]);
  give (N_OUT);
  ck_assert_ptr_eq (woken, &beds[1]);
  wait = iris_page_pool_tidy (&beds[1]);
  ck_assert_uint_gt (wait, 1);
  ck_assert_uint_eq (iris_page_pool_tidy (&beds[0]), 0);
  n_woken = 0;
  take (N_OUT);
  give (N_OUT);
  ck_assert_uint_eq (n_woken, 0);
  /* It runs an item, and does not come: then the one that went to sleep last is told. */
  now_ns += (int64_t) wait;
  take (N_OUT);
  give (N_OUT);
  ck_assert_uint_gt (n_woken, 0);
  ck_assert_ptr_eq (woken, &beds[0]);
}

/* What it said before counts no more. */
TEST (a_worker_that_finds_nothing_to_do_is_told_of_more)
{
  iris_page_pool_tidy (&beds[0]);
  give (N_OUT);
  ck_assert_uint_gt (iris_page_pool_tidy (&beds[0]), 1);
  take (N_OUT);
  ck_assert_uint_eq (iris_page_pool_tidy (&beds[0]), 0);
  n_woken = 0;
  give (N_OUT);
  ck_assert_uint_gt (n_woken, 0);
  ck_assert_ptr_eq (woken, &beds[0]);
}

LOOP_TEST (without_a_worker_at_most_as_many_pages_are_empty_as_are_used, 0, 2)
{
  if (_i == 1)
    {
      iris_page_pool_tidy (&beds[0]);
      iris_page_pool_leave (&beds[0]);
    }
  give (N_OUT / 2);
  check_counts (N_OUT / 2, 0);
  give (N_OUT / 2);
  check_counts (IRIS_PAGE_RESERVE, N_OUT - IRIS_PAGE_RESERVE);
  ck_assert_uint_eq (n_woken, 0);
}

TEST (a_worker_that_ends_leaves_the_pages_to_the_next)
{
  iris_page_pool_tidy (&beds[0]);
  give (N_OUT);
  ck_assert_uint_gt (iris_page_pool_tidy (&beds[0]), 1);
  ck_assert_uint_eq (iris_page_pool_tidy (&beds[1]), 0);
  iris_page_pool_leave (&beds[0]);
  ck_assert_uint_gt (iris_page_pool_tidy (&beds[1]), 1);
  check_counts (N_OUT, 0);
}

TEST_MAIN ("page-pool", setup, teardown)
