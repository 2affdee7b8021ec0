/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * What every scheduler does alike: runs each item once, ends as it was told to, and counts right.
 */
#include "core-test-util.h"

#include <iris/sched/iris-scheduler-private.h>

#include <sched.h>
#include <stdlib.h>

static CoreTestGate ran = CORE_TEST_GATE_INIT, notified = CORE_TEST_GATE_INIT;
static CoreTestGate blocked = CORE_TEST_GATE_INIT, release = CORE_TEST_GATE_INIT;
static CoreTestGate freed = CORE_TEST_GATE_INIT;

static guint64 n_threads; /* of the process, without any scheduler */

static void
setup (void)
{
  core_test_gate_close (&ran);
  core_test_gate_close (&notified);
  core_test_gate_close (&blocked);
  core_test_gate_close (&release);
  core_test_gate_close (&freed);
  if (n_threads == 0)
    n_threads = core_test_count_base_threads ();
}

static void
run (gpointer data)
{
  core_test_gate_add (&ran, 1);
}

static void
notify (gpointer data)
{
  core_test_gate_add (&notified, 1);
}

static void
block (gpointer data)
{
  core_test_gate_add (&blocked, 1);
  core_test_gate_wait (&release, 1);
}

/* Every worker is inside an item when this returns, until `release` opens. */
static void
block_all_workers (IrisScheduler *scheduler)
{
  guint n = iris_scheduler_get_n_workers (scheduler);

  for (guint i = 0; i < n; i++)
    iris_scheduler_queue (scheduler, block, NULL, NULL);
  core_test_gate_wait (&blocked, n);
}

static IrisScheduler *
make (int i)
{
  return core_test_make (&core_test_kinds[i]);
}

static guint64
count (CoreTestGate *gate)
{
  guint64 n;

  pthread_mutex_lock (&gate->lock);
  n = gate->count;
  pthread_mutex_unlock (&gate->lock);

  return n;
}

typedef struct
{
  IrisScheduler *scheduler;
  IrisShutdown how;
  pthread_t thread;
} Shutdown;

static void *
shut_down (void *data)
{
  Shutdown *self = data;

  iris_scheduler_shutdown (self->scheduler, self->how);

  return NULL;
}

/* Calls shutdown on another thread, and returns once the scheduler is closed. */
static void
begin_shutdown (Shutdown *self, IrisScheduler *scheduler, IrisShutdown how)
{
  IrisWorkerPool *pool = iris_scheduler_get_pool (scheduler);

  *self = (Shutdown){ .scheduler = scheduler, .how = how };
  ck_assert_int_eq (pthread_create (&self->thread, NULL, shut_down, self), 0);
  while (!atomic_load (&pool->closed)
         || (how == IRIS_SHUTDOWN_CANCEL && !atomic_load (&pool->cancelling)))
    sched_yield ();
}

static void
end_shutdown (Shutdown *self)
{
  ck_assert_int_eq (pthread_join (self->thread, NULL), 0);
}

START_TEST (a_scheduler_without_work_has_no_thread)
{
  g_autoptr (IrisScheduler) scheduler = make (_i);

  core_test_wait_for_threads (n_threads);
  iris_scheduler_queue (scheduler, run, NULL, NULL);
  core_test_gate_wait (&ran, 1);
  core_test_wait_for_threads (n_threads + iris_scheduler_get_n_workers (scheduler));
  iris_scheduler_shutdown (scheduler, IRIS_SHUTDOWN_DRAIN);
  core_test_wait_for_threads (n_threads);
}
END_TEST

START_TEST (every_item_is_run_and_then_notified)
{
  g_autoptr (IrisScheduler) scheduler = make (_i);

  for (int i = 0; i < 1000; i++)
    iris_scheduler_queue (scheduler, run, NULL, notify);
  core_test_gate_wait (&ran, 1000);
  core_test_gate_wait (&notified, 1000);
  iris_scheduler_shutdown (scheduler, IRIS_SHUTDOWN_DRAIN);
  ck_assert_uint_eq (count (&ran), 1000);
  ck_assert_uint_eq (count (&notified), 1000);
  core_test_check_stats (scheduler);
}
END_TEST

typedef struct
{
  IrisItem item;
  IrisScheduler *scheduler;
  int left;
} Embedded;

static void
run_embedded (gpointer data)
{
  Embedded *self = data;

  core_test_gate_add (&ran, 1);
  if (--self->left > 0)
    iris_scheduler_queue_item (self->scheduler, &self->item);
  else
    free (self);
}

static void
cancel_embedded (gpointer data)
{
  free (data);
  core_test_gate_add (&notified, 1);
}

static void
queue_embedded (IrisScheduler *scheduler, int times)
{
  Embedded *self = malloc (sizeof *self);

  self->scheduler = scheduler;
  self->left = times;
  iris_item_init (&self->item, run_embedded, self, cancel_embedded);
  iris_scheduler_queue_item (scheduler, &self->item);
}

START_TEST (an_embedded_item_is_its_owners_again_when_it_runs)
{
  g_autoptr (IrisScheduler) scheduler = make (_i);

  for (int i = 0; i < 100; i++)
    queue_embedded (scheduler, 10);
  iris_scheduler_shutdown (scheduler, IRIS_SHUTDOWN_DRAIN);
  ck_assert_uint_eq (count (&ran), 1000);
  ck_assert_uint_eq (count (&notified), 0);
  core_test_check_stats (scheduler);
}
END_TEST

static void
see_worker (gpointer data)
{
  IrisScheduler *scheduler = data;
  IrisWorker *worker = iris_worker_current ();

  ck_assert_ptr_nonnull (worker);
  ck_assert_uint_lt (iris_worker_get_index (worker), iris_scheduler_get_n_workers (scheduler));
  ck_assert_int_ge (iris_worker_get_place (worker), 0);
  ck_assert_int_lt (iris_worker_get_place (worker), (int) iris_scheduler_get_n_places (scheduler));
  core_test_gate_add (&ran, 1);
}

START_TEST (an_item_knows_its_worker)
{
  g_autoptr (IrisScheduler) scheduler = make (_i);
  const CoreTestKind *kind = &core_test_kinds[_i];

  ck_assert_uint_eq (iris_scheduler_get_n_places (scheduler), MAX (kind->n_places, 1));
  ck_assert_uint_eq (iris_scheduler_get_n_workers (scheduler),
                     MAX (kind->n_places, 1) * kind->n_workers);
  ck_assert_ptr_null (iris_worker_current ());
  for (int i = 0; i < 100; i++)
    iris_scheduler_queue (scheduler, see_worker, scheduler, NULL);
  core_test_gate_wait (&ran, 100);
  ck_assert_ptr_null (iris_worker_current ());
}
END_TEST

typedef struct
{
  IrisScheduler *scheduler;
  int depth;
} Tree;

/* Two children for each, down to depth 0. */
static void
run_tree (gpointer data)
{
  Tree *self = data;

  for (int i = 0; i < 2 && self->depth > 0; i++)
    {
      Tree *child = g_new (Tree, 1);

      *child = (Tree){ self->scheduler, self->depth - 1 };
      iris_scheduler_queue (self->scheduler, run_tree, child, g_free);
    }
  core_test_gate_add (&ran, 1);
}

START_TEST (draining_runs_what_is_queued_and_what_that_queues)
{
  g_autoptr (IrisScheduler) scheduler = make (_i);
  Tree *root = g_new (Tree, 1);

  *root = (Tree){ scheduler, 9 };
  iris_scheduler_queue (scheduler, run_tree, root, g_free);
  iris_scheduler_shutdown (scheduler, IRIS_SHUTDOWN_DRAIN);
  ck_assert_uint_eq (count (&ran), 1023);
  core_test_check_stats (scheduler);
}
END_TEST

START_TEST (dropping_the_last_reference_drains)
{
  IrisScheduler *scheduler = make (_i);
  Tree *root = g_new (Tree, 1);

  *root = (Tree){ scheduler, 9 };
  iris_scheduler_queue (scheduler, run_tree, root, g_free);
  g_object_unref (scheduler);
  ck_assert_uint_eq (count (&ran), 1023);
}
END_TEST

static void
block_and_make_a_tree (gpointer data)
{
  Tree *root = g_new (Tree, 1);

  block (NULL);
  *root = (Tree){ data, 4 };
  iris_scheduler_queue (data, run_tree, root, g_free);
}

START_TEST (a_closed_scheduler_still_runs_what_running_items_queue)
{
  g_autoptr (IrisScheduler) scheduler = make (_i);
  Shutdown shutdown;

  iris_scheduler_queue (scheduler, block_and_make_a_tree, scheduler, NULL);
  core_test_gate_wait (&blocked, 1);
  begin_shutdown (&shutdown, scheduler, IRIS_SHUTDOWN_DRAIN);
  iris_scheduler_queue (scheduler, run, NULL, notify);
  ck_assert_uint_eq (count (&ran), 0);
  ck_assert_uint_eq (count (&notified), 1);
  core_test_gate_add (&release, 1);
  end_shutdown (&shutdown);
  ck_assert_uint_eq (count (&ran), 31);
  core_test_check_stats (scheduler);
}
END_TEST

static void
queue_both_sorts (IrisScheduler *scheduler, int n)
{
  for (int i = 0; i < n; i++)
    {
      iris_scheduler_queue (scheduler, run, NULL, notify);
      queue_embedded (scheduler, 1);
    }
}

START_TEST (cancelling_calls_the_notifies_alone)
{
  g_autoptr (IrisScheduler) scheduler = make (_i);
  g_autoptr (IrisStats) stats = NULL;
  Shutdown shutdown;

  block_all_workers (scheduler);
  queue_both_sorts (scheduler, 500);
  begin_shutdown (&shutdown, scheduler, IRIS_SHUTDOWN_CANCEL);
  core_test_gate_add (&release, 1);
  end_shutdown (&shutdown);
  ck_assert_uint_eq (count (&ran), 0);
  ck_assert_uint_eq (count (&notified), 1000);
  stats = iris_scheduler_get_stats (scheduler);
  ck_assert_uint_eq (stats->total.cancelled, 1000);
  core_test_check_stats (scheduler);
}
END_TEST

START_TEST (cancelling_hurries_a_drain)
{
  g_autoptr (IrisScheduler) scheduler = make (_i);
  Shutdown drain, cancel;

  block_all_workers (scheduler);
  queue_both_sorts (scheduler, 500);
  begin_shutdown (&drain, scheduler, IRIS_SHUTDOWN_DRAIN);
  begin_shutdown (&cancel, scheduler, IRIS_SHUTDOWN_CANCEL);
  core_test_gate_add (&release, 1);
  end_shutdown (&cancel);
  ck_assert_uint_eq (count (&notified), 1000);
  end_shutdown (&drain);
  ck_assert_uint_eq (count (&ran), 0);
  ck_assert_uint_eq (count (&notified), 1000);
  core_test_check_stats (scheduler);
}
END_TEST

START_TEST (what_comes_after_the_end_is_notified_at_once_and_counted)
{
  g_autoptr (IrisScheduler) scheduler = make (_i);
  g_autoptr (IrisStats) stats = NULL;

  /* With workers that have ended, or without any that ever started. */
  for (int i = 0; i < 2; i++)
    iris_scheduler_queue (scheduler, run, NULL, NULL);
  iris_scheduler_shutdown (scheduler, IRIS_SHUTDOWN_DRAIN);
  for (int i = 0; i < 10; i++)
    {
      iris_scheduler_queue (scheduler, run, NULL, notify);
      ck_assert_uint_eq (count (&notified), i + 1);
    }
  ck_assert_uint_eq (count (&ran), 2);
  stats = iris_scheduler_get_stats (scheduler);
  ck_assert_uint_eq (stats->total.executed, 2);
  ck_assert_uint_eq (stats->total.cancelled, 10);
  core_test_check_stats (scheduler);
}
END_TEST

START_TEST (a_scheduler_that_never_worked_ends_and_refuses)
{
  g_autoptr (IrisScheduler) scheduler = make (_i);

  iris_scheduler_shutdown (scheduler, IRIS_SHUTDOWN_CANCEL);
  iris_scheduler_shutdown (scheduler, IRIS_SHUTDOWN_DRAIN);
  iris_scheduler_queue (scheduler, run, NULL, notify);
  ck_assert_uint_eq (count (&ran), 0);
  ck_assert_uint_eq (count (&notified), 1);
  ck_assert (!atomic_load (&iris_scheduler_get_pool (scheduler)->started));
  core_test_check_stats (scheduler);
}
END_TEST

static void
queue_from_notify (gpointer data)
{
  core_test_gate_add (&notified, 1);
  iris_scheduler_queue (data, run, NULL, notify);
}

START_TEST (a_notify_may_queue)
{
  g_autoptr (IrisScheduler) scheduler = make (_i);
  Shutdown shutdown;

  for (int i = 0; i < 100; i++)
    iris_scheduler_queue (scheduler, run, scheduler, queue_from_notify);
  core_test_gate_wait (&notified, 200);
  ck_assert_uint_eq (count (&ran), 200);

  block_all_workers (scheduler);
  for (int i = 0; i < 100; i++)
    iris_scheduler_queue (scheduler, run, scheduler, queue_from_notify);
  begin_shutdown (&shutdown, scheduler, IRIS_SHUTDOWN_CANCEL);
  core_test_gate_add (&release, 1);
  end_shutdown (&shutdown);
  ck_assert_uint_eq (count (&ran), 200);
  ck_assert_uint_eq (count (&notified), 400);
  core_test_check_stats (scheduler);

  /* Now on this thread, and refused. */
  iris_scheduler_queue (scheduler, run, scheduler, queue_from_notify);
  ck_assert_uint_eq (count (&notified), 402);
  core_test_check_stats (scheduler);
}
END_TEST

static void
drop (gpointer data)
{
  core_test_gate_wait (&release, 1);
  g_object_unref (data);
}

START_TEST (the_last_reference_may_be_dropped_by_an_item)
{
  IrisScheduler *scheduler = make (_i);

  core_test_gate_watch (&freed, scheduler);
  if (_i % 2 == 0)
    iris_scheduler_queue (scheduler, drop, scheduler, NULL);
  else
    iris_scheduler_queue (scheduler, block, scheduler, drop); /* by a notify */
  queue_both_sorts (scheduler, 500);
  core_test_gate_add (&release, 1);
  core_test_gate_wait (&ran, 1000);
  core_test_gate_wait (&notified, 500);
  core_test_wait_for_threads (n_threads);
  core_test_gate_wait (&freed, 1);
  ck_assert_uint_eq (count (&ran), 1000);
  ck_assert_uint_eq (count (&notified), 500);
}
END_TEST

START_TEST (the_last_reference_may_be_dropped_by_an_item_of_another_scheduler)
{
  g_autoptr (IrisScheduler) other = make ((_i + 1) % core_test_n_kinds);
  IrisScheduler *scheduler = make (_i);

  queue_both_sorts (scheduler, 500);
  iris_scheduler_queue (other, drop, scheduler, NULL);
  core_test_gate_add (&release, 1);
  iris_scheduler_shutdown (other, IRIS_SHUTDOWN_DRAIN);
  /* A thread of its own ends it, since a worker may not wait for it. */
  core_test_gate_wait (&ran, 1000);
  core_test_wait_for_threads (n_threads);
  ck_assert_uint_eq (count (&ran), 1000);
}
END_TEST

typedef struct
{
  IrisScheduler *schedulers[2];
  int at, left;
} Traveller;

static void
travel (gpointer data)
{
  Traveller *self = data;

  /* Wherever it is, the worker is one of that scheduler. */
  ck_assert_ptr_nonnull (
      iris_worker_pool_current (iris_scheduler_get_pool (self->schedulers[self->at])));
  self->at = 1 - self->at;
  ck_assert_ptr_null (
      iris_worker_pool_current (iris_scheduler_get_pool (self->schedulers[self->at])));
  core_test_gate_add (&ran, 1);
  if (--self->left > 0)
    iris_scheduler_queue (self->schedulers[self->at], travel, self, NULL);
}

START_TEST (an_item_may_queue_at_another_scheduler)
{
  g_autoptr (IrisScheduler) a = make (_i);
  g_autoptr (IrisScheduler) b = make ((_i + 3) % core_test_n_kinds);
  Traveller travellers[10];

  for (int i = 0; i < 10; i++)
    {
      travellers[i] = (Traveller){ { a, b }, 0, 200 };
      iris_scheduler_queue (a, travel, &travellers[i], NULL);
    }
  core_test_gate_wait (&ran, 2000);
  iris_scheduler_shutdown (a, IRIS_SHUTDOWN_DRAIN);
  iris_scheduler_shutdown (b, IRIS_SHUTDOWN_DRAIN);
  core_test_check_stats (a);
  core_test_check_stats (b);
}
END_TEST

START_TEST (several_schedulers_live_side_by_side)
{
  g_autoptr (GPtrArray) all = g_ptr_array_new_with_free_func (g_object_unref);

  for (int i = 0; i < core_test_n_kinds; i++)
    {
      Tree *root = g_new (Tree, 1);

      g_ptr_array_add (all, make (i));
      *root = (Tree){ g_ptr_array_index (all, i), 7 };
      iris_scheduler_queue (root->scheduler, run_tree, root, g_free);
    }
  core_test_gate_wait (&ran, 255 * all->len);
  for (guint i = 0; i < all->len; i++)
    {
      g_autoptr (IrisStats) stats = NULL;

      iris_scheduler_shutdown (g_ptr_array_index (all, i), IRIS_SHUTDOWN_DRAIN);
      stats = iris_scheduler_get_stats (g_ptr_array_index (all, i));
      ck_assert_uint_eq (stats->total.executed, 255);
      core_test_check_stats (g_ptr_array_index (all, i));
    }
}
END_TEST

START_TEST (the_delay_of_a_sample_is_measured)
{
  g_autoptr (IrisScheduler) scheduler = make (_i);
  g_autoptr (IrisStats) stats = NULL;
  guint64 n = 0;

  for (int i = 0; i < IRIS_DELAY_SAMPLE + 1; i++)
    iris_scheduler_queue (scheduler, run, NULL, NULL);
  iris_scheduler_shutdown (scheduler, IRIS_SHUTDOWN_DRAIN);
  stats = iris_scheduler_get_stats (scheduler);
  for (guint i = 0; i < IRIS_STATS_DELAY_BUCKETS; i++)
    n += stats->delay[i];
  ck_assert_uint_eq (n, 2);
  ck_assert_uint_gt (iris_stats_delay_quantile (stats, 1), 0);
}
END_TEST

START_TEST (the_number_of_workers_is_what_was_asked_for)
{
  static const guint asked[][3] = { /* least, most, got */
                                    { 0, 3, 3 },
                                    { 2, 3, 3 },
                                    { 5, 3, 5 },
                                    { 1, 1, 1 }
  };
  IrisScheduler *(*makers[]) (guint, guint) = { iris_scheduler_new_full, iris_lfscheduler_new_full,
                                                iris_wsscheduler_new_full };

  for (gsize i = 0; i < G_N_ELEMENTS (makers); i++)
    {
      for (gsize j = 0; j < G_N_ELEMENTS (asked); j++)
        {
          g_autoptr (IrisScheduler) scheduler = makers[i](asked[j][0], asked[j][1]);

          ck_assert_uint_eq (iris_scheduler_get_n_workers (scheduler), asked[j][2]);
        }
      {
        g_autoptr (IrisScheduler) scheduler = makers[i](0, 0);

        ck_assert_uint_eq (iris_scheduler_get_n_workers (scheduler), g_get_num_processors ());
      }
    }
}
END_TEST

int
main (void)
{
  Suite *suite = suite_create ("scheduler");
  TCase *all = tcase_create ("all");
  int n = core_test_n_kinds;

  tcase_add_checked_fixture (all, setup, NULL);
  tcase_add_loop_test (all, a_scheduler_without_work_has_no_thread, 0, n);
  tcase_add_loop_test (all, every_item_is_run_and_then_notified, 0, n);
  tcase_add_loop_test (all, an_embedded_item_is_its_owners_again_when_it_runs, 0, n);
  tcase_add_loop_test (all, an_item_knows_its_worker, 0, n);
  tcase_add_loop_test (all, draining_runs_what_is_queued_and_what_that_queues, 0, n);
  tcase_add_loop_test (all, dropping_the_last_reference_drains, 0, n);
  tcase_add_loop_test (all, a_closed_scheduler_still_runs_what_running_items_queue, 0, n);
  tcase_add_loop_test (all, cancelling_calls_the_notifies_alone, 0, n);
  tcase_add_loop_test (all, cancelling_hurries_a_drain, 0, n);
  tcase_add_loop_test (all, what_comes_after_the_end_is_notified_at_once_and_counted, 0, n);
  tcase_add_loop_test (all, a_scheduler_that_never_worked_ends_and_refuses, 0, n);
  tcase_add_loop_test (all, a_notify_may_queue, 0, n);
  tcase_add_loop_test (all, the_last_reference_may_be_dropped_by_an_item, 0, n);
  tcase_add_loop_test (all, the_last_reference_may_be_dropped_by_an_item_of_another_scheduler, 0,
                       n);
  tcase_add_loop_test (all, an_item_may_queue_at_another_scheduler, 0, n);
  tcase_add_test (all, several_schedulers_live_side_by_side);
  tcase_add_loop_test (all, the_delay_of_a_sample_is_measured, 0, n);
  tcase_add_test (all, the_number_of_workers_is_what_was_asked_for);
  suite_add_tcase (suite, all);

  return core_test_run (suite);
}
