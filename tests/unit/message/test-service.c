/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * Services: started, stopped once, exclusive messages alone, and nothing that was sent is lost.
 */
#include "core-test-run.h"

#include <iris/iris.h>
#include <stdatomic.h>

#define N_MESSAGES 1000

#define TEST_TYPE_SERVICE (test_service_get_type ())
G_DECLARE_FINAL_TYPE (TestService, test_service, TEST, SERVICE, IrisService)

struct _TestService
{
  IrisService parent_instance;

  _Atomic guint n_starts, n_stops, n_exclusive, n_concurrent, n_wrong;
  _Atomic gint inside;
};

G_DEFINE_FINAL_TYPE (TestService, test_service, IRIS_TYPE_SERVICE)

static void
test_start (IrisService *service)
{
  TestService *self = TEST_SERVICE (service);

  if (atomic_load (&self->n_starts) != atomic_load (&self->n_stops))
    atomic_fetch_add (&self->n_wrong, 1);
  atomic_fetch_add (&self->n_starts, 1);
}

static void
test_stop (IrisService *service)
{
  TestService *self = TEST_SERVICE (service);

  if (atomic_load (&self->inside) != 0)
    atomic_fetch_add (&self->n_wrong, 1);
  atomic_fetch_add (&self->n_stops, 1);
}

static void
test_exclusive (IrisService *service, IrisMessage *message)
{
  TestService *self = TEST_SERVICE (service);

  if (atomic_fetch_add (&self->inside, 1) != 0)
    atomic_fetch_add (&self->n_wrong, 1);
  atomic_fetch_add (&self->n_exclusive, 1);
  atomic_fetch_sub (&self->inside, 1);
}

static void
test_concurrent (IrisService *service, IrisMessage *message)
{
  TestService *self = TEST_SERVICE (service);

  atomic_fetch_add (&self->inside, 1);
  atomic_fetch_add (&self->n_concurrent, 1);
  atomic_fetch_sub (&self->inside, 1);
}

static void
test_service_class_init (TestServiceClass *klass)
{
  IrisServiceClass *service_class = IRIS_SERVICE_CLASS (klass);

  service_class->handle_start = test_start;
  service_class->handle_stop = test_stop;
  service_class->handle_exclusive = test_exclusive;
  service_class->handle_concurrent = test_concurrent;
}

static void
test_service_init (TestService *self)
{
}

static void
send_all (IrisService *service)
{
  for (guint i = 0; i < N_MESSAGES; i++)
    if (i % 4 == 0)
      iris_service_send_exclusive (service, iris_message_new (0));
    else
      iris_service_send_concurrent (service, iris_message_new (0));
}

static void
assert_handled (TestService *self, guint n_rounds)
{
  ck_assert_uint_eq (atomic_load (&self->n_exclusive), n_rounds * N_MESSAGES / 4);
  ck_assert_uint_eq (atomic_load (&self->n_concurrent), n_rounds * N_MESSAGES / 4 * 3);
  ck_assert_uint_eq (atomic_load (&self->n_wrong), 0);
}

TEST (a_service_handles_all_and_stops_once)
{
  IrisScheduler *scheduler = iris_wsscheduler_new_full (2, 2);
  TestService *self = g_object_new (TEST_TYPE_SERVICE, "scheduler", scheduler, NULL);
  IrisService *service = IRIS_SERVICE (self);
  IrisScheduler *got;
  GWeakRef ref;

  g_object_get (self, "scheduler", &got, NULL);
  ck_assert_ptr_eq (got, scheduler);
  g_object_unref (got);
  ck_assert (!iris_service_is_started (service));
  send_all (service);
  iris_service_start (service);
  iris_service_start (service);
  ck_assert (iris_service_is_started (service));
  send_all (service);
  iris_service_stop (service);
  iris_service_stop (service);
  ck_assert (!iris_service_is_started (service));
  iris_scheduler_shutdown (scheduler, IRIS_SHUTDOWN_DRAIN);
  assert_handled (self, 2);
  ck_assert_uint_eq (atomic_load (&self->n_starts), 1);
  ck_assert_uint_eq (atomic_load (&self->n_stops), 1);
  g_weak_ref_init (&ref, self);
  g_object_unref (service);
  ck_assert_ptr_null (g_weak_ref_get (&ref));
  g_weak_ref_clear (&ref);
  g_object_unref (scheduler);
}

TEST (a_service_can_be_started_again_while_it_stops)
{
  IrisScheduler *scheduler = iris_wsscheduler_new_full (2, 2);
  TestService *self = g_object_new (TEST_TYPE_SERVICE, "scheduler", scheduler, NULL);
  IrisService *service = IRIS_SERVICE (self);

  for (guint i = 0; i < 20; i++)
    {
      iris_service_start (service);
      send_all (service);
      iris_service_stop (service);
    }
  iris_service_start (service);
  while (atomic_load (&self->n_exclusive) < 20 * N_MESSAGES / 4
         || atomic_load (&self->n_concurrent) < 20 * N_MESSAGES / 4 * 3)
    g_thread_yield ();
  iris_service_stop (service);
  iris_scheduler_shutdown (scheduler, IRIS_SHUTDOWN_DRAIN);
  assert_handled (self, 20);
  ck_assert_uint_eq (atomic_load (&self->n_starts), atomic_load (&self->n_stops));
  g_object_unref (self);
  g_object_unref (scheduler);
}

TEST (a_service_that_is_dropped_goes)
{
  IrisScheduler *scheduler = iris_wsscheduler_new_full (2, 2);
  TestService *self = g_object_new (TEST_TYPE_SERVICE, "scheduler", scheduler, NULL);

  iris_service_start (IRIS_SERVICE (self));
  send_all (IRIS_SERVICE (self));
  g_object_unref (self);
  iris_scheduler_shutdown (scheduler, IRIS_SHUTDOWN_DRAIN);
  g_object_unref (scheduler);
}

TEST_MAIN ("service", NULL, NULL)
