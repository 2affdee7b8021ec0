/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * Schedulers without work use no processor: all their workers sleep, and nothing wakes them, once
 * the memory of the work that was has gone back to the system.
 *
 * This is the one test that looks at a clock, and it is the processor's: it waits for ten seconds,
 * at most twice, on a pipe without a writer, and then asks how much time the whole process has
 * used.
 */
#include "core-test-util.h"

#include <iris/base/memory/iris-page-pool-private.h>
#include <iris/sched/iris-scheduler-private.h>

#include <poll.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#define WINDOW_MS 10000
#define MAX_NS    (WINDOW_MS * G_GINT64_CONSTANT (1000)) /* a thousandth of the window */
#define N_ITEMS   (20000 / CORE_TEST_FACTOR)

static IrisScheduler *schedulers[16];
static CoreTestGate ran = CORE_TEST_GATE_INIT;

static void
run (gpointer data)
{
  core_test_gate_add (&ran, 1);
}

static void
run_and_queue (gpointer data)
{
  run (NULL);
  iris_scheduler_queue (data, run, NULL, NULL);
}

static bool
all_workers_sleep (IrisScheduler *scheduler)
{
  IrisWorkerPool *pool = iris_scheduler_get_pool (scheduler);
  g_autoptr (IrisStats) stats = NULL;
  guint n_confirmed;

  /* Both counts are taken under the lock that a worker gives up last. The default scheduler's
   * workers wait in the queue, which counts them as negative items and is what its pool owns
   * first. */
  if (pool->ops->wait != NULL)
    return g_async_queue_length (*(GAsyncQueue **) pool->owner) == -(gint) pool->n_workers;

  pthread_mutex_lock (&pool->parking_lot.lock);
  n_confirmed = pool->parking_lot.n_confirmed;
  pthread_mutex_unlock (&pool->parking_lot.lock);
  if (n_confirmed != pool->n_workers)
    return false;
  stats = iris_scheduler_get_stats (scheduler);
  for (guint i = 0; i < stats->n_workers; i++)
    if (stats->workers[i].parks != stats->workers[i].wakes + 1)
      return false;

  return true;
}

/* A worker comes back for it, by a time limit. */
static bool
memory_is_to_go_back (void)
{
  IrisPagePoolCounts counts;

  iris_page_pool_count (&counts);

  return counts.n_resident > IRIS_PAGE_RESERVE;
}

typedef struct
{
  int n_awake;
  guint64 n_switches; /* how often they went to sleep */
} Workers;

/* What the kernel says of the workers of this process. */
static Workers
look_at_workers (void)
{
  g_autoptr (GDir) tasks = g_dir_open ("/proc/self/task", 0, NULL);
  Workers workers = { 0, 0 };
  int n = 0;
  const char *name;

  ck_assert_ptr_nonnull (tasks);
  while ((name = g_dir_read_name (tasks)) != NULL)
    {
      g_autofree char *path = g_strdup_printf ("/proc/self/task/%s/status", name);
      g_autofree char *text = NULL;
      const char *at;

      if (!g_file_get_contents (path, &text, NULL, NULL) || strstr (text, "Name:\tiris-") == NULL)
        continue;
      at = strstr (text, "\nvoluntary_ctxt_switches:");
      ck_assert_ptr_nonnull (at);
      workers.n_switches += g_ascii_strtoull (strchr (at, ':') + 1, NULL, 10);
      workers.n_awake += strstr (text, "\nState:\tS") == NULL;
      n++;
    }
  ck_assert_int_gt (n, 0);

  return workers;
}

static gint64
processor_ns (void)
{
  struct timespec now;

  clock_gettime (CLOCK_PROCESS_CPUTIME_ID, &now);

  return now.tv_sec * G_GINT64_CONSTANT (1000000000) + now.tv_nsec;
}

TEST (idle_schedulers_use_no_processor)
{
  struct pollfd quiet = { .events = POLLIN };
  int pipe_fds[2];
  guint64 switches = 0, switched = 1;
  gint64 used = MAX_NS;

  ck_assert_int_eq (pipe (pipe_fds), 0);
  quiet.fd = pipe_fds[0];

  for (int i = 0; i < core_test_n_kinds; i++)
    {
      schedulers[i] = core_test_make (&core_test_kinds[i]);
      for (int n = 0; n < N_ITEMS / 2; n++)
        iris_scheduler_queue (schedulers[i], run_and_queue, schedulers[i], NULL);
    }
  core_test_gate_wait (&ran, (guint64) core_test_n_kinds * N_ITEMS);
  for (int i = 0; i < core_test_n_kinds; i++)
    while (!all_workers_sleep (schedulers[i]))
      sched_yield ();
  while (memory_is_to_go_back ())
    sched_yield ();
  /* On their last steps to the kernel. */
  while (look_at_workers ().n_awake > 0)
    sched_yield ();

  /* A worker that sleeps with a time limit, for memory that another thread has used or given back
   * meanwhile, wakes once for nothing, on a busy machine perhaps late: then the next window
   * counts. A worker that does not rest is awake in all of them. */
  for (int windows = 5; windows > 0 && (switched > 0 || used >= MAX_NS); windows--)
    {
      used = processor_ns ();
      switches = look_at_workers ().n_switches;
      ck_assert_int_eq (poll (&quiet, 1, WINDOW_MS), 0);
      used = processor_ns () - used;
      switched = look_at_workers ().n_switches - switches;
    }
  ck_assert_uint_eq (switched, 0);
  ck_assert_int_lt (used, MAX_NS);
  for (int i = 0; i < core_test_n_kinds; i++)
    {
      ck_assert_msg (all_workers_sleep (schedulers[i]), "%s: a worker is awake",
                     core_test_kinds[i].name);
      g_clear_object (&schedulers[i]);
    }
  close (pipe_fds[0]);
  close (pipe_fds[1]);
}

TEST_MAIN ("idle", NULL, NULL)
