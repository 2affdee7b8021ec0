/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * Schedulers made and dropped a thousand times in a row, idle or with work: no thread is left, no
 * item is lost, and memory does not grow. (That nothing leaks is shown by the leak sanitizer.)
 */
#include "core-test-util.h"

#define N_ROUNDS CORE_TEST_LOAD (1000)
#define N_WARM   (N_ROUNDS / 10)
#define N_ITEMS  10

/* What a thousand rounds may keep: arenas that the threads of the C library leave behind, the slabs
 * of as many threads as were ever there at once. A leak of a page a round is more. */
#define MAX_GROWTH_KIB 3000

static _Atomic int n_run, n_notified;
static guint64 n_threads;
static CoreTestGate queued = CORE_TEST_GATE_INIT;

static void
setup (void)
{
  if (n_threads == 0)
    n_threads = core_test_count_base_threads ();
}

static void
run (gpointer data)
{
  atomic_fetch_add (&n_run, 1);
}

static void
notify (gpointer data)
{
  atomic_fetch_add (&n_notified, 1);
}

static void
run_and_queue (gpointer data)
{
  run (NULL);
  iris_scheduler_queue (data, run, NULL, notify);
}

/* Each returns how many items were queued. */

static int
drop_unused (IrisScheduler *scheduler)
{
  g_object_unref (scheduler);

  return 0;
}

static int
queue_some (IrisScheduler *scheduler)
{
  for (int i = 0; i < N_ITEMS; i++)
    iris_scheduler_queue (scheduler, run, NULL, notify);

  return N_ITEMS;
}

static int
drop_with_work (IrisScheduler *scheduler)
{
  int n = queue_some (scheduler);

  iris_scheduler_queue (scheduler, run_and_queue, scheduler, notify);
  g_object_unref (scheduler);

  return n + 2;
}

static int
cancel_with_work (IrisScheduler *scheduler)
{
  int n = queue_some (scheduler);

  iris_scheduler_shutdown (scheduler, IRIS_SHUTDOWN_CANCEL);
  g_object_unref (scheduler);

  return n;
}

/* Not before the call that queued it has returned: this is the reference that it was called with.
 */
static void
drop (gpointer data)
{
  core_test_gate_wait (&queued, 1);
  g_object_unref (data);
}

static int
drop_inside (IrisScheduler *scheduler)
{
  int n = queue_some (scheduler);

  core_test_gate_close (&queued);
  iris_scheduler_queue (scheduler, drop, scheduler, notify);
  core_test_gate_add (&queued, 1);

  return n + 1;
}

static const struct
{
  const char *name;
  int (*drop) (IrisScheduler *scheduler);
  bool runs_all;
} ways[] = {
  { "unused", drop_unused, true },
  { "with work", drop_with_work, true },
  { "cancelled with work", cancel_with_work, false },
  { "by one of its items", drop_inside, true },
};

static void
make_and_drop (int kind, int way, int n_rounds)
{
  for (int round = 0; round < n_rounds; round++)
    {
      int n;

      n_run = n_notified = 0;
      n = ways[way].drop (core_test_make (&core_test_kinds[kind]));
      if (ways[way].drop == drop_inside)
        core_test_wait_for_threads (n_threads);
      ck_assert_int_eq (n_notified, n);
      if (ways[way].drop == drop_inside)
        ck_assert_int_eq (n_run, n - 1);
      else if (ways[way].runs_all)
        ck_assert_int_eq (n_run, n);
      else
        ck_assert_int_le (n_run, n);
    }
}

LOOP_TEST (made_and_dropped_leaves_nothing_behind, 0, core_test_n_kinds)
{
  for (gsize way = 0; way < G_N_ELEMENTS (ways); way++)
    {
      guint64 before;

      make_and_drop (_i, (int) way, N_WARM);
      before = core_test_proc_status ("VmRSS:");
      make_and_drop (_i, (int) way, N_ROUNDS);
      core_test_wait_for_threads (n_threads);
#if CORE_TEST_FACTOR == 1
      /* The sanitizers keep what is freed for a while. */
      ck_assert_msg (core_test_proc_status ("VmRSS:") <= before + MAX_GROWTH_KIB,
                     "%s, %s: grew from %" G_GUINT64_FORMAT " to %" G_GUINT64_FORMAT " KiB",
                     core_test_kinds[_i].name, ways[way].name, before,
                     core_test_proc_status ("VmRSS:"));
#else
      ck_assert_uint_gt (before, 0);
#endif
    }
}

/* Several threads hold a reference each, queue, and drop it; the last one drains. */
#define N_HOLDERS 3

static void *
queue_and_drop (void *data)
{
  queue_some (data);
  g_object_unref (data);

  return NULL;
}

LOOP_TEST (dropping_the_last_reference_drains_from_any_thread, 0, core_test_n_kinds)
{
  for (int round = 0; round < N_ROUNDS / 5; round++)
    {
      IrisScheduler *scheduler = core_test_make (&core_test_kinds[_i]);
      pthread_t threads[N_HOLDERS];

      n_run = n_notified = 0;
      for (int i = 0; i < N_HOLDERS; i++)
        pthread_create (&threads[i], NULL, queue_and_drop, g_object_ref (scheduler));
      g_object_unref (scheduler);
      for (int i = 0; i < N_HOLDERS; i++)
        pthread_join (threads[i], NULL);
      ck_assert_int_eq (n_run, N_HOLDERS * N_ITEMS);
      ck_assert_int_eq (n_notified, N_HOLDERS * N_ITEMS);
    }
  core_test_wait_for_threads (n_threads);
}

TEST_MAIN ("lifecycle", setup, NULL)
