/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * Work that can be taken back: it runs or is taken back, never both, and its notify runs once.
 */
#include "core-test-run.h"

#include <iris/iris.h>
#include <stdatomic.h>

#define N_WORKS 2000

static _Atomic guint n_run, n_notified;
static GMutex gate;

static void
setup (void)
{
  atomic_store (&n_run, 0);
  atomic_store (&n_notified, 0);
}

static void
count_run (gpointer data)
{
  atomic_fetch_add (&n_run, 1);
}

static void
count_notify (gpointer data)
{
  atomic_fetch_add (&n_notified, 1);
}

static void
wait_at_gate (gpointer data)
{
  g_mutex_lock (&gate);
  g_mutex_unlock (&gate);
}

/* One worker, which stands at the gate until it is opened. */
static IrisScheduler *
make_held (void)
{
  IrisScheduler *scheduler = iris_wsscheduler_new_full (1, 1);

  g_mutex_lock (&gate);
  iris_scheduler_queue (scheduler, wait_at_gate, NULL, NULL);

  return scheduler;
}

TEST (work_that_has_not_begun_is_taken_back_once)
{
  g_autoptr (IrisScheduler) scheduler = make_held ();
  g_autoptr (IrisWorkHandle) back = NULL, stays = NULL;

  setup ();
  back = iris_scheduler_queue_work (scheduler, count_run, NULL, count_notify);
  stays = iris_scheduler_queue_work (scheduler, count_run, NULL, count_notify);
  ck_assert (iris_scheduler_unqueue (scheduler, back));
  ck_assert_uint_eq (atomic_load (&n_notified), 1);
  ck_assert (!iris_scheduler_unqueue (scheduler, back));
  g_mutex_unlock (&gate);
  iris_scheduler_shutdown (scheduler, IRIS_SHUTDOWN_DRAIN);
  ck_assert_uint_eq (atomic_load (&n_run), 1);
  ck_assert_uint_eq (atomic_load (&n_notified), 2);
  ck_assert (!iris_scheduler_unqueue (scheduler, stays));
}

static gboolean
take_every_other (IrisScheduler *scheduler,
                  IrisWorkHandle *work,
                  IrisCallback callback,
                  gpointer data,
                  gpointer user_data)
{
  guint *n = user_data;

  ck_assert (callback == count_run);
  ck_assert_uint_eq (GPOINTER_TO_UINT (data), *n);
  if ((*n)++ % 2 == 0)
    ck_assert (iris_scheduler_unqueue (scheduler, work));

  return *n < 8;
}

TEST (foreach_sees_what_waits_in_order_and_stops_when_told)
{
  g_autoptr (IrisScheduler) scheduler = make_held ();
  guint n = 0;

  setup ();
  for (guint i = 0; i < 10; i++)
    iris_work_handle_unref (
        iris_scheduler_queue_work (scheduler, count_run, GUINT_TO_POINTER (i), count_notify));
  iris_scheduler_foreach (scheduler, take_every_other, &n);
  ck_assert_uint_eq (n, 8);
  ck_assert_uint_eq (atomic_load (&n_notified), 4);
  g_mutex_unlock (&gate);
  iris_scheduler_shutdown (scheduler, IRIS_SHUTDOWN_DRAIN);
  ck_assert_uint_eq (atomic_load (&n_run), 6);
  ck_assert_uint_eq (atomic_load (&n_notified), 10);
  iris_scheduler_foreach (scheduler, take_every_other, NULL);
}

TEST (worker_and_owner_race_and_one_wins)
{
  g_autoptr (IrisScheduler) scheduler = iris_wsscheduler_new_full (2, 2);
  guint n_back = 0;

  setup ();
  for (guint i = 0; i < N_WORKS; i++)
    {
      g_autoptr (IrisWorkHandle)
          work = iris_scheduler_queue_work (scheduler, count_run, NULL, count_notify);

      if (i % 3 == 0)
        g_thread_yield ();
      n_back += iris_scheduler_unqueue (scheduler, work) ? 1 : 0;
    }
  iris_scheduler_shutdown (scheduler, IRIS_SHUTDOWN_DRAIN);
  ck_assert_uint_eq (atomic_load (&n_run) + n_back, N_WORKS);
  ck_assert_uint_eq (atomic_load (&n_notified), N_WORKS);
}

TEST (cancelling_settles_work)
{
  IrisScheduler *scheduler = iris_wsscheduler_new_full (1, 1);

  setup ();
  iris_scheduler_shutdown (scheduler, IRIS_SHUTDOWN_CANCEL);
  iris_work_handle_unref (iris_scheduler_queue_work (scheduler, count_run, NULL, count_notify));
  ck_assert_uint_eq (atomic_load (&n_run), 0);
  ck_assert_uint_eq (atomic_load (&n_notified), 1);
  g_object_unref (scheduler);
}

TEST_MAIN ("work-handle", NULL, NULL)
