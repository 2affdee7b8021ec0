/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * Threads that wait for a lock, moved to the processor at which it is released: where they wake,
 * and that they have their own affinity again whatever happens meanwhile.
 */
#include "core-test-util.h"

#include <iris/task/lock/iris-lock-migration-private.h>
#include <iris/task/lock/iris-lock-private.h>

#include <sched.h>
#include <sys/wait.h>
#include <unistd.h>

#include <string.h>

/* Two processors that this process may use; there is nothing to move with one. */
static int here, there;

/* All that there are, again: the tests of a program run in one thread. */
static void
find_processors (void)
{
  cpu_set_t set;

  memset (&set, 0xff, sizeof set);
  ck_assert_int_eq (sched_setaffinity (0, sizeof set, &set), 0);
  ck_assert_int_eq (sched_getaffinity (0, sizeof set, &set), 0);
  here = there = -1;
  for (int i = 0; i < CPU_SETSIZE && there < 0; i++)
    if (CPU_ISSET (i, &set))
      *(here < 0 ? &here : &there) = i;
}

static cpu_set_t
set_of (int processor)
{
  cpu_set_t set;

  CPU_ZERO (&set);
  CPU_SET (processor, &set);

  return set;
}

static void
bind_to (pid_t thread, int processor)
{
  cpu_set_t set = set_of (processor);

  ck_assert_int_eq (sched_setaffinity (thread, sizeof set, &set), 0);
}

static cpu_set_t
affinity_of (pid_t thread)
{
  cpu_set_t set;

  ck_assert_int_eq (sched_getaffinity (thread, sizeof set, &set), 0);

  return set;
}

/* --- one thread, step by step ----------------------------------------------------------------- */

typedef struct
{
  CoreTestGate ready, go;
  IrisLockMigration migration;
  int bound; /* by the program; -1: to none */
  int woke_at;
  cpu_set_t before, after;
  GThread *thread;
} Traveller;

static gpointer
travel (gpointer data)
{
  Traveller *self = data;

  if (self->bound >= 0)
    bind_to (0, self->bound);
  self->before = affinity_of (0);
  iris_lock_migration_init (&self->migration);
  core_test_gate_add (&self->ready, 1);
  core_test_gate_wait (&self->go, 1);
  self->woke_at = sched_getcpu ();
  iris_lock_migration_end (&self->migration);
  self->after = affinity_of (0);

  return NULL;
}

static void
traveller_start (Traveller *self, int bound)
{
  *self = (Traveller){ .ready = CORE_TEST_GATE_INIT, .go = CORE_TEST_GATE_INIT, .bound = bound };
  self->thread = g_thread_new ("traveller", travel, self);
  core_test_gate_wait (&self->ready, 1);
}

static void
traveller_end (Traveller *self)
{
  core_test_gate_add (&self->go, 1);
  g_thread_join (self->thread);
}

/* Everything is moved to `there`: the caller runs there, and nowhere else. */
static void
setup (void)
{
  find_processors ();
  if (there >= 0)
    bind_to (0, there);
}

START_TEST (a_thread_wakes_at_the_processor_of_the_waker_with_its_own_affinity)
{
  Traveller one;

  if (there < 0)
    return;
  for (int i = 0; i < 20; i++)
    {
      cpu_set_t two = set_of (here);

      traveller_start (&one, -1);
      /* A new thread inherits that of this one. */
      CPU_SET (there, &two);
      ck_assert_int_eq (sched_setaffinity (one.migration.thread, sizeof two, &two), 0);
      ck_assert (iris_lock_migration_begin (&one.migration));
      traveller_end (&one);
      ck_assert_int_eq (one.woke_at, there);
      ck_assert (CPU_EQUAL (&one.after, &two));
    }
}
END_TEST

START_TEST (an_affinity_without_the_processor_is_left_alone)
{
  Traveller one;

  if (there < 0)
    return;
  traveller_start (&one, here);
  ck_assert (!iris_lock_migration_begin (&one.migration));
  traveller_end (&one);
  ck_assert_int_eq (one.woke_at, here);
  ck_assert (CPU_EQUAL (&one.before, &one.after));
  /* Nor did the attempt keep the processor for itself. */
  traveller_start (&one, there);
  ck_assert (!iris_lock_migration_begin (&one.migration));
  traveller_end (&one);
  ck_assert (CPU_EQUAL (&one.before, &one.after));
}
END_TEST

static gpointer
unbind (gpointer data)
{
  cpu_set_t all;

  memset (&all, 0xff, sizeof all);
  ck_assert_int_eq (sched_setaffinity (0, sizeof all, &all), 0);

  return travel (data);
}

START_TEST (a_thread_that_was_never_bound_may_use_all_processors_again)
{
  Traveller one = { .ready = CORE_TEST_GATE_INIT, .go = CORE_TEST_GATE_INIT, .bound = -1 };

  if (there < 0)
    return;
  one.thread = g_thread_new ("traveller", unbind, &one);
  core_test_gate_wait (&one.ready, 1);
  ck_assert (iris_lock_migration_begin (&one.migration));
  ck_assert_int_eq (CPU_COUNT (&one.migration.own), CPU_COUNT (&one.before));
  traveller_end (&one);
  ck_assert (CPU_EQUAL (&one.before, &one.after));
}
END_TEST

START_TEST (an_affinity_that_the_program_sets_meanwhile_stays)
{
  Traveller one;
  cpu_set_t two = set_of (here), is = set_of (here);

  if (there < 0)
    return;
  CPU_SET (there, &two);
  traveller_start (&one, -1);
  ck_assert_int_eq (sched_setaffinity (one.migration.thread, sizeof two, &two), 0);
  ck_assert (iris_lock_migration_begin (&one.migration));
  bind_to (one.migration.thread, here);
  traveller_end (&one);
  ck_assert (CPU_EQUAL (&one.after, &is));
}
END_TEST

START_TEST (one_thread_at_a_time_is_on_its_way_to_a_processor)
{
  Traveller one, other;
  cpu_set_t two = set_of (here);

  if (there < 0)
    return;
  CPU_SET (there, &two);
  traveller_start (&one, -1);
  traveller_start (&other, -1);
  ck_assert_int_eq (sched_setaffinity (one.migration.thread, sizeof two, &two), 0);
  ck_assert_int_eq (sched_setaffinity (other.migration.thread, sizeof two, &two), 0);
  ck_assert (iris_lock_migration_begin (&one.migration));
  ck_assert (!iris_lock_migration_begin (&other.migration));
  /* To another processor it may go. */
  bind_to (0, here);
  ck_assert (iris_lock_migration_begin (&other.migration));
  traveller_end (&other);
  ck_assert_int_eq (other.woke_at, here);
  bind_to (0, there);
  traveller_end (&one);
  traveller_start (&other, -1);
  ck_assert_int_eq (sched_setaffinity (other.migration.thread, sizeof two, &two), 0);
  ck_assert (iris_lock_migration_begin (&other.migration));
  traveller_end (&other);
}
END_TEST

START_TEST (a_thread_that_is_gone_keeps_no_processor)
{
  Traveller one, other;
  cpu_set_t two = set_of (here);

  if (there < 0)
    return;
  CPU_SET (there, &two);
  traveller_start (&one, -1);
  traveller_end (&one);
  ck_assert (!iris_lock_migration_begin (&one.migration));
  traveller_start (&other, -1);
  ck_assert_int_eq (sched_setaffinity (other.migration.thread, sizeof two, &two), 0);
  ck_assert (iris_lock_migration_begin (&other.migration));
  traveller_end (&other);
}
END_TEST

/* Wherever it runs, a thread was on its way there in the parent. */
static int
travel_in_child (const cpu_set_t *two)
{
  IrisLockMigration migration;
  cpu_set_t after;
  gboolean is_moved;

  if (sched_setaffinity (0, sizeof *two, two) != 0)
    return 2;
  iris_lock_migration_init (&migration);
  is_moved = iris_lock_migration_begin (&migration);
  iris_lock_migration_end (&migration);
  after = affinity_of (0);

  return is_moved && CPU_EQUAL (&after, two) ? 0 : 1;
}

START_TEST (a_child_does_not_wait_for_threads_that_stayed_behind)
{
  Traveller travellers[2];
  cpu_set_t two = set_of (here);
  pid_t child;
  int status;

  if (there < 0)
    return;
  CPU_SET (there, &two);
  for (int i = 0; i < 2; i++)
    {
      traveller_start (&travellers[i], -1);
      ck_assert_int_eq (sched_setaffinity (travellers[i].migration.thread, sizeof two, &two), 0);
      bind_to (0, i == 0 ? here : there);
      ck_assert (iris_lock_migration_begin (&travellers[i].migration));
    }
  child = fork ();
  ck_assert_int_ge (child, 0);
  if (child == 0)
    _exit (travel_in_child (&two));
  ck_assert_int_eq (waitpid (child, &status, 0), child);
  ck_assert_int_eq (status, 0);
  for (int i = 0; i < 2; i++)
    traveller_end (&travellers[i]);
}
END_TEST

/* --- the lock --------------------------------------------------------------------------------- */

#define N_THREADS 8
#define N_TURNS   (4000 / CORE_TEST_FACTOR)

static guint64 counter; /* plain: the lock's */
static gint n_active;   /* atomic */

typedef struct
{
  IrisLock *lock;
  guint index;
  gboolean is_intact;
} Holder;

/* Every other one has an affinity of its own, and sets another now and then. Inside of the lock the
 * affinity is the program's: so it is for threads and processes that are begun there. */
static gpointer
hold_in_turn (gpointer data)
{
  Holder *self = data;
  cpu_set_t mine;

  if (self->index % 2 == 1)
    bind_to (0, self->index % 4 == 1 ? here : there);
  mine = affinity_of (0);
  self->is_intact = TRUE;
  for (int i = 0; i < N_TURNS; i++)
    {
      cpu_set_t seen;

      iris_lock_acquire (self->lock);
      counter++;
      /* Held until another one waits: it will sleep. No newcomer is to be waited for where all the
       * others are in the line already, which is the holder's to read. */
      while (i % 16 == 0 && g_atomic_int_get (&n_active) > 1 && self->lock->core.first == NULL
             && atomic_load (&self->lock->core.word) == IRIS_LOCK_HELD)
        sched_yield ();
      seen = affinity_of (0);
      iris_lock_release (self->lock);
      self->is_intact = self->is_intact && CPU_EQUAL (&seen, &mine);
      if (self->index % 4 == 3 && i % 100 == 99)
        {
          bind_to (0, i % 200 == 99 ? here : there);
          mine = affinity_of (0);
        }
    }
  g_atomic_int_add (&n_active, -1);

  return NULL;
}

START_TEST (no_thread_is_lost_and_each_has_its_own_affinity_whenever_it_holds_the_lock)
{
  g_autoptr (IrisLock) lock = iris_lock_new (IRIS_LOCK_POLICY_OFF);
  Holder holders[N_THREADS];
  GThread *threads[N_THREADS];
  IrisLockStats stats;

  if (there < 0)
    return;
  iris_lock_set_thread_policy (lock, (IrisLockPolicy) _i);
  counter = 0;
  n_active = N_THREADS;
  for (guint i = 0; i < N_THREADS; i++)
    {
      holders[i] = (Holder){ .lock = lock, .index = i };
      threads[i] = g_thread_new ("holder", hold_in_turn, &holders[i]);
    }
  for (guint i = 0; i < N_THREADS; i++)
    g_thread_join (threads[i]);
  ck_assert_uint_eq (counter, N_THREADS * N_TURNS);
  for (guint i = 0; i < N_THREADS; i++)
    ck_assert_msg (holders[i].is_intact, "thread %u had another affinity than its own", i);
  iris_lock_get_stats (lock, &stats);
  ck_assert_uint_eq (stats.taken + stats.handed_to_threads, N_THREADS * N_TURNS);
  ck_assert_int_eq (stats.thread_policy, _i);
  if (_i == IRIS_LOCK_POLICY_OFF)
    ck_assert_uint_eq (stats.moved + stats.not_moved, 0);
  if (_i == IRIS_LOCK_POLICY_ALWAYS)
    ck_assert_uint_gt (stats.moved + stats.not_moved, 0);
}
END_TEST

static gpointer
hold_once (gpointer data)
{
  Holder *self = data;
  cpu_set_t two = set_of (here), after;

  CPU_SET (there, &two);
  ck_assert_int_eq (sched_setaffinity (0, sizeof two, &two), 0);
  iris_lock_acquire (self->lock);
  iris_lock_release (self->lock);
  after = affinity_of (0);
  self->is_intact = CPU_EQUAL (&after, &two);

  return NULL;
}

START_TEST (a_lock_moves_threads_when_its_policy_says_so)
{
  for (IrisLockPolicy policy = IRIS_LOCK_POLICY_OFF; policy <= IRIS_LOCK_POLICY_ALWAYS; policy++)
    {
      g_autoptr (IrisLock) lock = iris_lock_new (IRIS_LOCK_POLICY_OFF);
      Holder holder = { .lock = lock };
      GThread *thread;
      IrisLockStats stats;

      if (there < 0)
        return;
      iris_lock_set_thread_policy (lock, policy);
      iris_lock_acquire (lock);
      thread = g_thread_new ("holder", hold_once, &holder);
      while (atomic_load (&lock->core.word) == IRIS_LOCK_HELD)
        sched_yield ();
      iris_lock_release (lock);
      g_thread_join (thread);
      iris_lock_get_stats (lock, &stats);
      ck_assert (holder.is_intact);
      ck_assert_uint_eq (stats.handed_to_threads, 1);
      ck_assert_uint_eq (stats.moved, policy == IRIS_LOCK_POLICY_ALWAYS);
      ck_assert_int_eq (stats.threads_are_hot, policy == IRIS_LOCK_POLICY_ALWAYS);
    }
}
END_TEST

int
main (void)
{
  Suite *suite = suite_create ("lock-migration");
  TCase *steps = tcase_create ("steps"), *locks = tcase_create ("locks");

  tcase_add_checked_fixture (steps, setup, NULL);
  tcase_add_test (steps, a_thread_wakes_at_the_processor_of_the_waker_with_its_own_affinity);
  tcase_add_test (steps, an_affinity_without_the_processor_is_left_alone);
  tcase_add_test (steps, a_thread_that_was_never_bound_may_use_all_processors_again);
  tcase_add_test (steps, an_affinity_that_the_program_sets_meanwhile_stays);
  tcase_add_test (steps, one_thread_at_a_time_is_on_its_way_to_a_processor);
  tcase_add_test (steps, a_thread_that_is_gone_keeps_no_processor);
  tcase_add_test (steps, a_child_does_not_wait_for_threads_that_stayed_behind);

  tcase_add_checked_fixture (locks, find_processors, NULL);
  tcase_set_timeout (locks, 200);
  tcase_add_loop_test (locks,
                       no_thread_is_lost_and_each_has_its_own_affinity_whenever_it_holds_the_lock,
                       IRIS_LOCK_POLICY_OFF, IRIS_LOCK_POLICY_ADAPTIVE + 1);
  tcase_add_test (locks, a_lock_moves_threads_when_its_policy_says_so);

  suite_add_tcase (suite, steps);
  suite_add_tcase (suite, locks);

  return core_test_run (suite);
}
