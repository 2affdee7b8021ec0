/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * A program that uses iris forks in the middle of its work, again and again: the child may exit,
 * execute another program, give up what it inherited, and make schedulers of its own; what it
 * queues to its parent's is refused; and the parent goes on as if nothing had happened.
 *
 * A child that hangs is ended by its alarm, and found by the signal.
 */
#include "core-test-util.h"

#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#define N_CHAINS  20
#define N_SINGLES 20 /* at most so many wait */
#define N_FORKS   CORE_TEST_LOAD (5)
#define N_ITEMS   1000
#define TIME_OUT  120 /* seconds */

/* What processes have in common. */
typedef struct
{
  _Atomic int n_strange; /* items that ran where they must not */
} Shared;

static Shared *shared;
static IrisScheduler *scheduler;
static int kind;
static pid_t parent;
static _Atomic bool stop, gathering;
static _Atomic guint n_resting;
static _Atomic guint64 n_queued, n_run;
static _Atomic int n_notified, n_own_run;
static int n_criticals;

#if defined(IRIS_ADDRESS_SANITIZER) || defined(IRIS_THREAD_SANITIZER)
/* What only the threads of the parent knew of looks lost in a child. */
__attribute__ ((visibility ("default"))) int __lsan_is_turned_off (void);
int
__lsan_is_turned_off (void)
{
  return getpid () != parent;
}
#endif

/* --- the parent's work ------------------------------------------------------------------------ */

static void
count_notify (gpointer data)
{
  atomic_fetch_add (&n_notified, 1);
}

static void run_chain (gpointer data);

static void
queue_chain (void)
{
  atomic_fetch_add (&n_queued, 1);
  iris_scheduler_queue (scheduler, run_chain, NULL, NULL);
}

/* Each item queues the next, until all is over; or rests, while workers are to be held. */
static void
run_chain (gpointer data)
{
  if (getpid () != parent)
    atomic_fetch_add (&shared->n_strange, 1);
  if (atomic_load (&gathering))
    atomic_fetch_add (&n_resting, 1);
  else if (!atomic_load (&stop))
    queue_chain ();
  atomic_fetch_add (&n_run, 1);
}

#if !defined(IRIS_ADDRESS_SANITIZER) && !defined(IRIS_THREAD_SANITIZER)
static CoreTestGate singles_run = CORE_TEST_GATE_INIT;

static void
run_single (gpointer data)
{
  if (getpid () != parent)
    atomic_fetch_add (&shared->n_strange, 1);
  atomic_fetch_add (&n_run, 1);
  core_test_gate_add (&singles_run, 1);
}

static void *
queue_once (void *data)
{
  atomic_fetch_add (&n_queued, 1);
  iris_scheduler_queue (scheduler, run_single, NULL, NULL);

  return NULL;
}

/* Threads that come and go take and leave slabs and slots, so that a fork meets their locks.
 *
 * They wait for what they queued. A worker with chains of its own takes one item from its inbox in
 * about 160 picks, in their order; threads that are faster than that would leave more waiting from
 * fork to fork, and the item that is to fork lies behind all of it.
 */
static void *
come_and_go (void *data)
{
  for (guint64 n = 1; !atomic_load (&stop); n++)
    {
      pthread_t thread;

      core_test_gate_wait (&singles_run, n > N_SINGLES ? n - N_SINGLES : 0);
      pthread_create (&thread, NULL, queue_once, NULL);
      pthread_join (thread, NULL);
    }

  return NULL;
}

static pthread_t coming;

#endif

/* --- no thread in malloc() -------------------------------------------------------------------- */

/*
 * The allocator of AddressSanitizer, unlike the C library's, does not take its locks around a fork
 * (gcc 12): when another thread is inside of it at that moment, the child hangs in its first
 * malloc() or free(). So there no threads come and go, and every worker is in the middle of an item
 * that waits; what else was queued stays queued.
 */
#if defined(IRIS_ADDRESS_SANITIZER) || defined(IRIS_THREAD_SANITIZER)
static CoreTestGate held = CORE_TEST_GATE_INIT;
static CoreTestGate let_go = CORE_TEST_GATE_INIT;
static guint64 n_held, n_holds;

static void
hold (gpointer data)
{
  core_test_gate_add (&held, 1);
  core_test_gate_wait (&let_go, GPOINTER_TO_SIZE (data));
}
#endif

#if defined(IRIS_ADDRESS_SANITIZER) || defined(IRIS_THREAD_SANITIZER)
/* One that decides to rest just now does so until the next time. */
static void
let_chains_go_on (void)
{
  atomic_store (&gathering, false);
  for (guint i = atomic_exchange (&n_resting, 0); i > 0; i--)
    queue_chain ();
}
#endif

/* Until the next release; all of the scheduler's workers but @n_others.
 *
 * The chains rest until all are held, and if one is not, until the release. A worker that goes on
 * with its own chains for ever has no need to look for an item at a place whose workers are held.
 */
static void
hold_workers (IrisScheduler *self, guint n_others)
{
#if defined(IRIS_ADDRESS_SANITIZER) || defined(IRIS_THREAD_SANITIZER)
  guint n = iris_scheduler_get_n_workers (self) - n_others;

  atomic_store (&gathering, true);
  for (guint i = 0; i < n; i++)
    iris_scheduler_queue (self, hold, GSIZE_TO_POINTER (n_holds + 1), NULL);
  n_held += n;
  core_test_gate_wait (&held, n_held);
  if (n_others == 0)
    let_chains_go_on ();
#endif
}

static void
release_workers (void)
{
#if defined(IRIS_ADDRESS_SANITIZER) || defined(IRIS_THREAD_SANITIZER)
  n_holds++;
  let_chains_go_on ();
  core_test_gate_add (&let_go, 1);
#endif
}

static void
begin (int i)
{
  kind = i;
  parent = getpid ();
  atomic_store (&stop, false);
  atomic_store (&n_queued, 0);
  atomic_store (&n_run, 0);
  atomic_store (&n_resting, 0);
  scheduler = core_test_make (&core_test_kinds[kind]);
  for (int chain = 0; chain < N_CHAINS; chain++)
    queue_chain ();
#if !defined(IRIS_ADDRESS_SANITIZER) && !defined(IRIS_THREAD_SANITIZER)
  core_test_gate_close (&singles_run);
  ck_assert_int_eq (pthread_create (&coming, NULL, come_and_go, NULL), 0);
#endif
}

static void
end (void)
{
  guint64 before = atomic_load (&n_run);

  /* It still works. */
  while (atomic_load (&n_run) < before + N_ITEMS)
    sched_yield ();
  atomic_store (&stop, true);
#if !defined(IRIS_ADDRESS_SANITIZER) && !defined(IRIS_THREAD_SANITIZER)
  pthread_join (coming, NULL);
#endif
  iris_scheduler_shutdown (scheduler, IRIS_SHUTDOWN_DRAIN);
  ck_assert_uint_eq (atomic_load (&n_run), atomic_load (&n_queued));
  core_test_check_stats (scheduler);
  g_clear_object (&scheduler);
  ck_assert_int_eq (atomic_load (&shared->n_strange), 0);
}

/* --- children --------------------------------------------------------------------------------- */

/* Not by Check's handler, which would end the whole test without a word. */
static void
set_alarm (void)
{
  signal (SIGALRM, SIG_DFL);
  alarm (TIME_OUT);
}

static void
require (bool holds, const char *what)
{
  if (holds)
    return;
  fprintf (stderr, "in a child: not so: %s\n", what);
  _exit (1);
}

static void
count_critical (const char *domain, GLogLevelFlags level, const char *text, gpointer data)
{
  n_criticals++;
}

static void
expect_criticals (void)
{
  n_criticals = 0;
  g_log_set_always_fatal (G_LOG_LEVEL_ERROR);
  g_log_set_handler ("iris", G_LOG_LEVEL_CRITICAL, count_critical, NULL);
}

static void
run_strange (gpointer data)
{
  atomic_fetch_add (&shared->n_strange, 1);
}

static void
count_own (gpointer data)
{
  atomic_fetch_add (&n_own_run, 1);
}

static void
child_exits (void)
{
  exit (0);
}

static void
child_executes (void)
{
  execl ("/bin/true", "true", (char *) NULL);
}

static void
child_gives_up (void)
{
  iris_scheduler_shutdown (scheduler, IRIS_SHUTDOWN_CANCEL);
  iris_scheduler_shutdown (scheduler, IRIS_SHUTDOWN_DRAIN);
  g_clear_object (&scheduler);
  _exit (0);
}

static void
require_refusal (void)
{
  IrisItem item;

  expect_criticals ();
  atomic_store (&n_notified, 0);
  iris_scheduler_queue (scheduler, run_strange, NULL, count_notify);
  require (n_criticals == 1, "queueing is a critical");
  require (atomic_load (&n_notified) == 1, "the item is cancelled at once");
  iris_item_init (&item, run_strange, NULL, count_notify);
  iris_scheduler_queue_item (scheduler, &item);
  require (n_criticals == 2 && atomic_load (&n_notified) == 2, "so is an embedded one");
}

static void
child_queues (void)
{
  require_refusal ();
  _exit (0);
}

static void
require_works (IrisScheduler *own)
{
  atomic_store (&n_own_run, 0);
  for (int i = 0; i < N_ITEMS; i++)
    iris_scheduler_queue (own, count_own, NULL, NULL);
  iris_scheduler_shutdown (own, IRIS_SHUTDOWN_DRAIN);
  require (atomic_load (&n_own_run) == N_ITEMS, "a scheduler of the child's runs everything");
}

static void
child_makes_its_own (void)
{
  IrisScheduler *own = core_test_make (&core_test_kinds[kind]);

  require_works (own);
  g_object_unref (own);
  _exit (0);
}

static void
child_uses_the_default (void)
{
  require_works (iris_scheduler_get_default ());
  _exit (0);
}

static IrisScheduler *unused;

static void
child_uses_what_was_not_started (void)
{
  require_works (unused);
  g_object_unref (unused);
  _exit (0);
}

static const struct
{
  const char *name;
  void (*run) (void);
  bool makes_threads;
} children[] = {
  { "exits", child_exits, false },
  { "executes", child_executes, false },
  { "gives up", child_gives_up, false },
  { "queues", child_queues, false },
  { "makes its own", child_makes_its_own, true },
  { "uses the default scheduler", child_uses_the_default, true },
  { "uses what was not started", child_uses_what_was_not_started, true },
};

static void
expect_well (pid_t child, const char *name)
{
  int status;

  ck_assert_int_gt (child, 0);
  ck_assert_int_eq (waitpid (child, &status, 0), child);
  ck_assert_msg (WIFEXITED (status) && WEXITSTATUS (status) == 0,
                 "a child that %s: status %#x on %s", name, status, core_test_kinds[kind].name);
}

START_TEST (a_fork_amid_work_disturbs_neither_side)
{
  /* Started in the parent, so that the child's is another one. */
  iris_scheduler_queue (iris_scheduler_get_default (), count_own, NULL, NULL);
  begin (_i);
  for (int round = 0; round < N_FORKS; round++)
    for (gsize i = 0; i < G_N_ELEMENTS (children); i++)
      {
        pid_t child;

#ifdef IRIS_THREAD_SANITIZER
        /* ThreadSanitizer ends a child of many threads that starts another. */
        if (children[i].makes_threads)
          continue;
#endif
        if (children[i].run == child_uses_what_was_not_started)
          unused = core_test_make (&core_test_kinds[kind]);
        hold_workers (scheduler, 0);
        hold_workers (iris_scheduler_get_default (), 0);
        child = fork ();
        if (child == 0)
          {
            set_alarm ();
            children[i].run ();
            _exit (2);
          }
        release_workers ();
        expect_well (child, children[i].name);
        g_clear_object (&unused);
      }
  end ();
}
END_TEST

/* --- items that fork -------------------------------------------------------------------------- */

static CoreTestGate forked = CORE_TEST_GATE_INIT;
static pid_t forked_child;

static void
fork_and_return (gpointer data)
{
  pid_t child = fork ();

  if (child == 0)
    {
      set_alarm ();
      require (iris_worker_current () == NULL, "the thread is no worker");
      require_refusal ();
      return;
    }
  forked_child = child;
  core_test_gate_add (&forked, 1);
}

static void
fork_and_execute (gpointer data)
{
  pid_t child = fork ();

  if (child == 0)
    {
      set_alarm ();
      child_executes ();
      _exit (2);
    }
  forked_child = child;
  core_test_gate_add (&forked, 1);
}

START_TEST (an_item_may_fork)
{
  begin (_i);
  for (int round = 0; round < 2 * N_FORKS; round++)
    {
      core_test_gate_close (&forked);
      hold_workers (scheduler, 1);
      iris_scheduler_queue (scheduler, round % 2 == 0 ? fork_and_return : fork_and_execute, NULL,
                            NULL);
      core_test_gate_wait (&forked, 1);
      release_workers ();
      expect_well (forked_child, round % 2 == 0 ? "returns from its item" : "executes in its item");
    }
  end ();
}
END_TEST

int
main (void)
{
  Suite *suite = suite_create ("fork");
  TCase *all = tcase_create ("all");

  shared = mmap (NULL, sizeof *shared, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  if (shared == MAP_FAILED)
    return EXIT_FAILURE;
  tcase_set_timeout (all, 0);
  tcase_add_loop_test (all, a_fork_amid_work_disturbs_neither_side, 0, core_test_n_kinds);
  tcase_add_loop_test (all, an_item_may_fork, 0, core_test_n_kinds);
  suite_add_tcase (suite, all);

  return core_test_run (suite);
}
