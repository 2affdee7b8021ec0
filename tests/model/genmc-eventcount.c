/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * Driver for a C11 model checker: the eventcount, with full fences on both sides. Threads that
 * would sleep are only counted; in the end no thread may sleep uncalled while there is something
 * for it. 1: two threads wait, one brings something for one. 2: two wait, one ends it for all.
 */
#include "genmc.h"
#include "genmc-fence.h"

#include "iris/base/sync/iris-eventcount-private.h"

static IrisEventcount count;
static atomic_int n_there;
static atomic_int is_over;
static atomic_int n_asleep;

static bool
look (void)
{
  int n = atomic_load_explicit (&n_there, memory_order_relaxed);

  if (atomic_load_explicit (&is_over, memory_order_relaxed))
    return true;

  /* Fails only when the other one took it. */
  return n != 0
         && atomic_compare_exchange_strong_explicit (&n_there, &n, n - 1, memory_order_relaxed,
                                                     memory_order_relaxed);
}

static void *
wait_for_it (void *data)
{
  (void) data;
  iris_eventcount_prepare (&count);
  if (look ())
    iris_eventcount_cancel (&count);
  else
    atomic_fetch_add_explicit (&n_asleep, 1, memory_order_relaxed);

  return NULL;
}

#if SCENARIO == 1
static void *
bring (void *data)
{
  (void) data;
  atomic_fetch_add_explicit (&n_there, 1, memory_order_relaxed);
  if (iris_eventcount_has_waiters (&count))
    iris_eventcount_call (&count, false);

  return NULL;
}
#else
static void *
end (void *data)
{
  (void) data;
  atomic_store_explicit (&is_over, 1, memory_order_relaxed);
  if (iris_eventcount_has_waiters (&count))
    iris_eventcount_call (&count, true);

  return NULL;
}
#endif

int
main (void)
{
  uint64_t word;
  uint32_t n_called;

  iris_eventcount_init (&count);
#if SCENARIO == 1
  GENMC_RUN (wait_for_it, wait_for_it, bring);
#else
  GENMC_RUN (wait_for_it, wait_for_it, end);
#endif
  word = atomic_load_explicit (&count.word, memory_order_relaxed);
  n_called = iris_eventcount_n_called (word);
  assert (iris_eventcount_n_waiting (word) + n_called == (uint32_t) atomic_load (&n_asleep));
#if SCENARIO == 1
  /* A thread sleeps uncalled only if there is nothing to call it for. */
  assert (iris_eventcount_n_waiting (word) == 0 || (uint32_t) atomic_load (&n_there) <= n_called);
#else
  assert (iris_eventcount_n_waiting (word) == 0);
#endif
  for (uint32_t i = 0; i < n_called; i++)
    assert (iris_eventcount_answer (&count));

  return 0;
}
