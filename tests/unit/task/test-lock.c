/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * Locks whose waiters are work items: exclusion, order, fairness, cancelling.
 */
#include "core-test-util.h"

#include <iris/task/lock/iris-lock-private.h>

#include <sched.h>

static CoreTestGate ran = CORE_TEST_GATE_INIT, notified = CORE_TEST_GATE_INIT;
static guint64 counter; /* plain: the lock's */

static void
setup (void)
{
  core_test_gate_close (&ran);
  core_test_gate_close (&notified);
  counter = 0;
}

static void
count_up (gpointer data)
{
  counter++;
  core_test_gate_add (&ran, 1);
}

static void
note (gpointer data)
{
  core_test_gate_add (&notified, 1);
}

static IrisScheduler *
make (int i)
{
  return core_test_make (&core_test_kinds[i]);
}

/* --- the core, step by step ------------------------------------------------------------------- */

static void
granted (IrisLockNode *node)
{
}

START_TEST (those_in_line_get_the_lock_in_the_order_in_which_they_came)
{
  IrisLockCore core;
  IrisLockNode nodes[5];

  iris_lock_core_init (&core, NULL);
  ck_assert (iris_lock_core_try (&core));
  for (int i = 0; i < 5; i++)
    {
      iris_lock_node_init (&nodes[i], granted);
      /* Some come while the line is not empty. */
      if (i == 3)
        ck_assert_ptr_eq (iris_lock_core_release (&core), &nodes[0]);
      ck_assert (!iris_lock_core_enter (&core, &nodes[i]));
      ck_assert (!iris_lock_core_try (&core));
    }
  for (int i = 1; i < 5; i++)
    ck_assert_ptr_eq (iris_lock_core_release (&core), &nodes[i]);
  ck_assert_ptr_null (iris_lock_core_release (&core));
  ck_assert (!iris_lock_core_is_held (&core));
  ck_assert (iris_lock_core_enter (&core, &nodes[0]));
}
END_TEST

START_TEST (a_thread_that_is_first_in_line_is_overtaken_so_often_and_no_more)
{
  IrisLockCore core;
  IrisLockNode thread, late;
  int n = 0;

  iris_lock_core_init (&core, NULL);
  ck_assert (iris_lock_core_try (&core));
  iris_lock_node_init (&thread, NULL);
  ck_assert (!iris_lock_core_enter (&core, &thread));
  ck_assert_ptr_null (iris_lock_core_release (&core));
  while (iris_lock_core_try (&core))
    {
      n++;
      ck_assert_ptr_null (iris_lock_core_release (&core));
    }
  ck_assert_int_eq (n, IRIS_LOCK_OVERTAKES);

  /* Reserved, so others stand in line although no thread holds it. */
  iris_lock_node_init (&late, granted);
  ck_assert (!iris_lock_core_is_held (&core));
  ck_assert (!iris_lock_core_enter (&core, &late));
  iris_lock_core_wait (&core, &thread);
  ck_assert (iris_lock_core_is_held (&core));
  ck_assert_ptr_eq (iris_lock_core_release (&core), &late);
  ck_assert_ptr_null (iris_lock_core_release (&core));
}
END_TEST

START_TEST (each_thread_in_line_has_its_own_count)
{
  IrisLockCore core;
  IrisLockNode threads[2];

  iris_lock_core_init (&core, NULL);
  ck_assert (iris_lock_core_try (&core));
  for (int i = 0; i < 2; i++)
    {
      iris_lock_node_init (&threads[i], NULL);
      ck_assert (!iris_lock_core_enter (&core, &threads[i]));
    }
  for (int i = 0; i < 2; i++)
    {
      int n = 0;

      ck_assert_ptr_null (iris_lock_core_release (&core));
      for (; iris_lock_core_try (&core); n++)
        ck_assert_ptr_null (iris_lock_core_release (&core));
      ck_assert_int_eq (n, IRIS_LOCK_OVERTAKES);
      iris_lock_core_wait (&core, &threads[i]);
    }
  ck_assert_ptr_null (iris_lock_core_release (&core));
}
END_TEST

/* --- items ------------------------------------------------------------------------------------ */

#define N_ITEMS (20000 / CORE_TEST_FACTOR)

START_TEST (only_one_item_at_a_time_has_the_lock)
{
  for (IrisLockPolicy policy = IRIS_LOCK_POLICY_OFF; policy <= IRIS_LOCK_POLICY_ADAPTIVE; policy++)
    {
      g_autoptr (IrisScheduler) scheduler = make (_i);
      g_autoptr (IrisLock) lock = iris_lock_new (policy);
      IrisLockStats stats;

      setup ();
      for (int i = 0; i < N_ITEMS; i++)
        iris_lock_queue (lock, scheduler, count_up, NULL, note);
      core_test_gate_wait (&notified, N_ITEMS);
      iris_scheduler_shutdown (scheduler, IRIS_SHUTDOWN_DRAIN);
      ck_assert_uint_eq (counter, N_ITEMS);
      ck_assert (!iris_lock_core_is_held (&lock->core));
      core_test_check_stats (scheduler);

      iris_lock_get_stats (lock, &stats);
      ck_assert_uint_eq (stats.taken + stats.handed_hot + stats.handed_plain, N_ITEMS);
      ck_assert_uint_le (stats.ran_next, stats.handed_hot);
      if (policy == IRIS_LOCK_POLICY_OFF)
        ck_assert_uint_eq (stats.handed_hot, 0);
    }
}
END_TEST

static guint order[1000];
static guint n_order;

static void
note_order (gpointer data)
{
  order[n_order++] = GPOINTER_TO_UINT (data);
  core_test_gate_add (&ran, 1);
}

START_TEST (items_in_line_are_served_first_come_first_served)
{
  for (IrisLockPolicy policy = IRIS_LOCK_POLICY_OFF; policy <= IRIS_LOCK_POLICY_ADAPTIVE; policy++)
    {
      g_autoptr (IrisScheduler) scheduler = make (_i);
      g_autoptr (IrisLock) lock = iris_lock_new (policy);

      setup ();
      n_order = 0;
      iris_lock_acquire (lock);
      for (guint i = 0; i < 1000; i++)
        iris_lock_queue (lock, scheduler, note_order, GUINT_TO_POINTER (i), NULL);
      ck_assert_uint_eq (n_order, 0);
      iris_lock_release (lock);
      core_test_gate_wait (&ran, 1000);
      iris_scheduler_shutdown (scheduler, IRIS_SHUTDOWN_DRAIN);
      for (guint i = 0; i < 1000; i++)
        ck_assert_uint_eq (order[i], i);
    }
}
END_TEST

typedef struct
{
  IrisLockWaiter waiter;
  IrisLock *lock;
  IrisScheduler *scheduler;
  IrisWorker *worker;
  guint left;
} Session;

/* Out of the lock, asks again. */
static void
session_go_on (gpointer data)
{
  Session *self = data;

  iris_lock_acquire_item (self->lock, &self->waiter, IRIS_LOCK_NONE);
}

static void
session_hold (gpointer data)
{
  Session *self = data;

  counter++;
  if (--self->left > 0)
    iris_scheduler_queue (self->scheduler, session_go_on, self, NULL);
  else
    core_test_gate_add (&ran, 1);
}

START_TEST (waiters_come_again_and_threads_come_between)
{
  g_autoptr (IrisScheduler) scheduler = make (_i);
  g_autoptr (IrisLock) lock = iris_lock_new (IRIS_LOCK_POLICY_ADAPTIVE);
  const guint n = 2000 / CORE_TEST_FACTOR;
  Session sessions[16];

  for (int i = 0; i < 16; i++)
    {
      sessions[i] = (Session){ .lock = lock, .scheduler = scheduler, .left = n };
      iris_lock_waiter_init (&sessions[i].waiter, scheduler, session_hold, &sessions[i], NULL);
      iris_lock_acquire_item (lock, &sessions[i].waiter, IRIS_LOCK_NONE);
    }
  for (guint i = 0; i < n; i++)
    {
      iris_lock_acquire (lock);
      counter++;
      iris_lock_release (lock);
    }
  core_test_gate_wait (&ran, 16);
  iris_scheduler_shutdown (scheduler, IRIS_SHUTDOWN_DRAIN);
  ck_assert_uint_eq (counter, 17 * n);
}
END_TEST

static void
keep (gpointer data)
{
  core_test_gate_add (&ran, 1);
}

START_TEST (a_kept_lock_is_held_until_a_thread_releases_it)
{
  g_autoptr (IrisScheduler) scheduler = make (_i);
  g_autoptr (IrisLock) lock = iris_lock_new (IRIS_LOCK_POLICY_ALWAYS);
  IrisLockWaiter waiter;

  iris_lock_waiter_init (&waiter, scheduler, keep, NULL, NULL);
  iris_lock_acquire_item (lock, &waiter, IRIS_LOCK_KEEP);
  core_test_gate_wait (&ran, 1);
  ck_assert (!iris_lock_try_acquire (lock));
  iris_lock_queue (lock, scheduler, count_up, NULL, NULL);
  ck_assert_uint_eq (counter, 0);
  iris_lock_release (lock);
  core_test_gate_wait (&ran, 2);
  ck_assert_uint_eq (counter, 1);
  iris_scheduler_shutdown (scheduler, IRIS_SHUTDOWN_DRAIN);
  ck_assert (iris_lock_try_acquire (lock));
  iris_lock_release (lock);
}
END_TEST

/* The releasing item notes its worker, and asks for the lock for others before it releases. */
static IrisWorker *releaser;
static guint n_hot, n_cold;

static void
note_worker (gpointer data)
{
  if (iris_worker_current () == releaser)
    n_hot++;
  else
    n_cold++;
  core_test_gate_add (&ran, 1);
}

static void
be_releaser (gpointer data)
{
  Session *self = data;

  releaser = iris_worker_current ();
  for (int i = 0; i < 10; i++)
    iris_lock_queue (self->lock, self->scheduler, note_worker, NULL, NULL);
}

START_TEST (a_hot_lock_runs_its_waiters_where_it_is_released)
{
  g_autoptr (IrisScheduler) scheduler = make (_i);
  g_autoptr (IrisLock) lock = iris_lock_new (IRIS_LOCK_POLICY_ALWAYS);
  Session session = { .lock = lock, .scheduler = scheduler };
  IrisLockStats stats;

  n_hot = n_cold = 0;
  iris_lock_queue (lock, scheduler, be_releaser, &session, NULL);
  core_test_gate_wait (&ran, 10);
  iris_scheduler_shutdown (scheduler, IRIS_SHUTDOWN_DRAIN);
  iris_lock_get_stats (lock, &stats);
  ck_assert_uint_eq (n_hot, 10);
  ck_assert_uint_eq (stats.ran_next, 10);
  ck_assert (stats.is_hot);
}
END_TEST

static gint strict_place;

static void
note_place (gpointer data)
{
  strict_place = iris_worker_get_place (iris_worker_current ());
  core_test_gate_add (&ran, 1);
}

static void
ask_for_elsewhere (gpointer data)
{
  Session *self = data;
  gint here = iris_worker_get_place (iris_worker_current ());

  counter = (guint64) !here;
  iris_lock_waiter_init (&self->waiter, self->scheduler, note_place, self, NULL);
  iris_lock_waiter_set_place (&self->waiter, !here, IRIS_ITEM_STRICT);
  iris_lock_acquire_item (self->lock, &self->waiter, IRIS_LOCK_NONE);
}

START_TEST (a_strict_waiter_runs_at_its_place_however_hot_the_lock)
{
  g_autoptr (IrisPlaces) places = iris_places_new_unbound (2, 2);
  g_autoptr (IrisScheduler) scheduler = iris_place_scheduler_new (places);
  g_autoptr (IrisLock) lock = iris_lock_new (IRIS_LOCK_POLICY_ALWAYS);
  Session session = { .lock = lock, .scheduler = scheduler };

  for (guint64 i = 1; i <= 100; i++)
    {
      iris_lock_queue (lock, scheduler, ask_for_elsewhere, &session, NULL);
      core_test_gate_wait (&ran, i);
      ck_assert_int_eq (strict_place, (gint) counter);
    }
  iris_scheduler_shutdown (scheduler, IRIS_SHUTDOWN_DRAIN);
}
END_TEST

/* A worker that never started, with @backlog items and a parking lot whose word is @word. */
static gboolean
is_hot_with (IrisLock *lock, guint backlog, uint64_t word)
{
  g_autoptr (IrisScheduler) scheduler = iris_wsscheduler_new_full (2, 2);
  IrisWorkerPool *pool = iris_scheduler_get_pool (scheduler);
  IrisWorker *worker = &pool->workers[0];
  gboolean is_hot;

  for (guint i = 0; i < backlog; i++)
    ck_assert (iris_splitqueue_push (&worker->deque, &lock));
  atomic_store (&pool->parking_lot.word, word);
  lock->way = IRIS_LOCK_WAY_HOT;
  is_hot = iris_lock_is_hot_at (lock, worker, IRIS_PLACE_ANY, IRIS_ITEM_NONE);
  /* Asked again, it says the same, and counts once. */
  ck_assert_int_eq (iris_lock_is_hot_at (lock, worker, IRIS_PLACE_ANY, IRIS_ITEM_NONE), is_hot);
  atomic_store (&pool->parking_lot.word, 0);
  while (iris_splitqueue_take (&worker->deque) != NULL)
    ;

  return is_hot;
}

START_TEST (a_worker_with_too_much_to_do_gives_the_lock_away)
{
  g_autoptr (IrisLock) lock = iris_lock_new (IRIS_LOCK_POLICY_ALWAYS);
  const guint limit = IRIS_LOCK_BACKLOG * 2;
  IrisLockStats stats;

  ck_assert (is_hot_with (lock, limit + 1, 0));
  ck_assert (is_hot_with (lock, limit, IRIS_PARKING_LOT_SLEEPING));
  /* A searching worker will find the backlog. */
  ck_assert (is_hot_with (lock, limit + 1, IRIS_PARKING_LOT_SLEEPING | IRIS_PARKING_LOT_SEARCHING));
  ck_assert (!is_hot_with (lock, limit + 1, IRIS_PARKING_LOT_SLEEPING));
  iris_lock_get_stats (lock, &stats);
  ck_assert_uint_eq (stats.balanced, 1);
}
END_TEST

/* --- cancelling ------------------------------------------------------------------------------- */

START_TEST (waiters_of_a_freed_scheduler_are_settled_without_recursion)
{
  const guint n = 200000 / CORE_TEST_FACTOR;
  g_autoptr (IrisScheduler) scheduler = make (_i);
  g_autoptr (IrisLock) lock = iris_lock_new (IRIS_LOCK_POLICY_ADAPTIVE);

  iris_lock_acquire (lock);
  for (guint i = 0; i < n; i++)
    iris_lock_queue (lock, scheduler, count_up, NULL, note);
  iris_scheduler_shutdown (scheduler, IRIS_SHUTDOWN_DRAIN);
  ck_assert_uint_eq (counter, 0);
  iris_lock_release (lock);
  core_test_gate_wait (&notified, n);
  ck_assert_uint_eq (counter, 0);
  ck_assert (iris_lock_try_acquire (lock));
  iris_lock_release (lock);

  /* And when the lock is free. */
  iris_lock_queue (lock, scheduler, count_up, NULL, note);
  core_test_gate_wait (&notified, n + 1);
  ck_assert_uint_eq (counter, 0);
  ck_assert (iris_lock_try_acquire (lock));
  iris_lock_release (lock);
}
END_TEST

static void
count_settled (gpointer data)
{
  core_test_gate_add (&notified, 1);
}

/* Cancels after each number of waiters has run in turn. */
START_TEST (whenever_the_scheduler_is_cancelled_each_waiter_is_settled_once)
{
  enum
  {
    N = 60
  };

  for (guint64 step = 0; step <= N; step += 3)
    {
      g_autoptr (IrisScheduler) scheduler = make (_i);
      g_autoptr (IrisLock) lock = iris_lock_new ((IrisLockPolicy) (step % 3));

      setup ();
      iris_lock_acquire (lock);
      for (guint i = 0; i < N; i++)
        iris_lock_queue (lock, scheduler, count_up, NULL, count_settled);
      iris_lock_release (lock);
      core_test_gate_wait (&ran, step);
      iris_scheduler_shutdown (scheduler, IRIS_SHUTDOWN_CANCEL);
      core_test_gate_wait (&notified, N);
      ck_assert_uint_eq (notified.count, N);
      ck_assert_uint_eq (counter, ran.count);
      ck_assert_uint_ge (counter, step);
      ck_assert (iris_lock_try_acquire (lock));
      iris_lock_release (lock);
      core_test_check_stats (scheduler);
    }
}
END_TEST

/* --- threads ---------------------------------------------------------------------------------- */

#define N_TURNS (20000 / CORE_TEST_FACTOR)

static gpointer
thread_main (gpointer data)
{
  for (int i = 0; i < N_TURNS; i++)
    {
      iris_lock_acquire (data);
      counter++;
      iris_lock_release (data);
    }

  return NULL;
}

START_TEST (only_one_thread_at_a_time_has_the_lock)
{
  g_autoptr (IrisLock) lock = iris_lock_new (IRIS_LOCK_POLICY_OFF);
  GThread *threads[8];
  IrisLockStats stats;

  for (int i = 0; i < 8; i++)
    threads[i] = g_thread_new ("holder", thread_main, lock);
  for (int i = 0; i < 8; i++)
    g_thread_join (threads[i]);
  ck_assert_uint_eq (counter, 8 * N_TURNS);
  iris_lock_get_stats (lock, &stats);
  ck_assert_uint_eq (stats.taken + stats.handed_to_threads, 8 * N_TURNS);
}
END_TEST

/* Holders that never let go of the processor cannot keep a sleeper away. */
static gpointer
sleeper_main (gpointer data)
{
  iris_lock_acquire (data);
  counter = 1;
  iris_lock_release (data);

  return NULL;
}

START_TEST (a_thread_that_waits_is_not_kept_away_by_one_that_comes_again_and_again)
{
  g_autoptr (IrisLock) lock = iris_lock_new (IRIS_LOCK_POLICY_OFF);
  GThread *sleeper;
  guint64 seen = 0;

  iris_lock_acquire (lock);
  sleeper = g_thread_new ("sleeper", sleeper_main, lock);
  while (atomic_load (&lock->core.word) == IRIS_LOCK_HELD)
    sched_yield ();
  for (int i = 0; seen == 0; i++)
    {
      ck_assert_int_le (i, IRIS_LOCK_OVERTAKES + 1);
      iris_lock_release (lock);
      iris_lock_acquire (lock);
      seen = counter;
    }
  iris_lock_release (lock);
  g_thread_join (sleeper);
}
END_TEST

int
main (void)
{
  Suite *suite = suite_create ("lock");
  TCase *core = tcase_create ("core"), *items = tcase_create ("items");
  TCase *threads = tcase_create ("threads");

  tcase_add_test (core, those_in_line_get_the_lock_in_the_order_in_which_they_came);
  tcase_add_test (core, a_thread_that_is_first_in_line_is_overtaken_so_often_and_no_more);
  tcase_add_test (core, each_thread_in_line_has_its_own_count);

  tcase_add_checked_fixture (items, setup, NULL);
  tcase_set_timeout (items, 200);
  tcase_add_loop_test (items, only_one_item_at_a_time_has_the_lock, 0, core_test_n_kinds);
  tcase_add_loop_test (items, items_in_line_are_served_first_come_first_served, 0,
                       core_test_n_kinds);
  tcase_add_loop_test (items, waiters_come_again_and_threads_come_between, 0, core_test_n_kinds);
  tcase_add_loop_test (items, a_kept_lock_is_held_until_a_thread_releases_it, 0, core_test_n_kinds);
  tcase_add_loop_test (items, a_hot_lock_runs_its_waiters_where_it_is_released, 0,
                       core_test_n_kinds);
  tcase_add_test (items, a_worker_with_too_much_to_do_gives_the_lock_away);
  tcase_add_test (items, a_strict_waiter_runs_at_its_place_however_hot_the_lock);
  tcase_add_loop_test (items, waiters_of_a_freed_scheduler_are_settled_without_recursion, 0,
                       core_test_n_kinds);
  tcase_add_loop_test (items, whenever_the_scheduler_is_cancelled_each_waiter_is_settled_once, 0,
                       core_test_n_kinds);

  tcase_add_checked_fixture (threads, setup, NULL);
  tcase_set_timeout (threads, 200);
  tcase_add_test (threads, only_one_thread_at_a_time_has_the_lock);
  tcase_add_test (threads, a_thread_that_waits_is_not_kept_away_by_one_that_comes_again_and_again);

  suite_add_tcase (suite, core);
  suite_add_tcase (suite, items);
  suite_add_tcase (suite, threads);

  return core_test_run (suite);
}
