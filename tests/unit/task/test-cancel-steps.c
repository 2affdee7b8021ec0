/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * Journeys of everything that waits, runs and ends, each cut short in every way that it can be, at
 * each of its steps in turn: nothing is held afterwards, no thread waits for ever, and every notify
 * has run once. (Tasks have test-task-steps.c.)
 *
 * A row of the table is a journey and the ways to end it. The scheduler is one that runs an item
 * when it is told to, on this thread, so that a step is always the same step.
 */
#include "core-test-util.h"
#include "trip.h"

static void
handle (IrisMessage *message, gpointer data)
{
  trip_step ();
}

static void
post (guint i)
{
  if (trip->ports[i] != NULL)
    iris_port_post (trip->ports[i], trip_message (1));
  trip_step ();
}

/* --- the journeys ----------------------------------------------------------------------------- */

static void
receive (guint i, IrisMessageHandler handler)
{
  if (trip->ports[i] != NULL)
    trip->receivers[i] = g_object_ref (
        iris_arbiter_receive (trip->scheduler, trip->ports[i], handler, trip_made (), trip_freed));
}

static void
receive_exclusively (guint i)
{
  if (trip->ports[i] != NULL)
    trip->receivers[i] = g_object_ref (iris_arbiter_receive_exclusive (
        trip->scheduler, trip->ports[i], handle, trip_made (), trip_freed));
}

static void
travel_receivers (void)
{
  for (guint i = 0; i < 3; i++)
    trip->ports[i] = iris_port_new ();
  iris_port_set_limit (trip->ports[2], 2, IRIS_PORT_FULL_DROP_OLDEST);
  post (0);
  receive (0, handle);
  receive_exclusively (1);
  receive (2, handle);
  for (guint i = 0; i < 9; i++)
    post (i % 3);
  trip_run_all ();
  if (trip->ports[0] != NULL)
    iris_port_resume (trip->ports[0]);
  trip_run_all ();
}

static void
travel_coordination (void)
{
  for (guint i = 0; i < 3; i++)
    {
      trip->ports[i] = iris_port_new ();
      receive (i, handle);
    }
  iris_receiver_set_batch (trip->receivers[0], 2);
  iris_arbiter_coordinate (trip->receivers[0], trip->receivers[1], trip->receivers[2]);
  for (guint i = 0; i < 8; i++)
    post (i % 3 == 2);
  step_scheduler_step (trip->scheduler);
  post (1);
  post (0);
  post (2);
  post (0);
  trip_run_all ();
}

static void
reply (IrisMessage *message, gpointer data)
{
  trip_step ();
  if (iris_message_wants_reply (message))
    iris_message_reply (message, trip_message (2));
  trip_step ();
}

static void
answered (GObject *port, GAsyncResult *result, gpointer data)
{
  g_autoptr (GError) error = NULL;
  g_autoptr (IrisMessage) answer = iris_port_request_finish (IRIS_PORT (port), result, &error);

  ck_assert ((answer == NULL) != (error == NULL));
  trip_freed (data);
}

static void
travel_requests (void)
{
  trip->ports[0] = iris_port_new ();
  trip->cancellable = g_cancellable_new ();
  for (guint i = 0; i < 3; i++)
    {
      if (i == 1)
        receive (0, reply);
      if (trip->ports[0] != NULL)
        iris_port_request_async (trip->ports[0], trip_message (1), 60 * G_USEC_PER_SEC,
                                 trip->cancellable, answered, trip_made ());
      trip_step ();
    }
  trip_run_all ();
  while (g_main_context_iteration (NULL, FALSE))
    trip_step ();
  /* What waits in a port keeps it, and for its deadline; everything else was answered. */
  if (trip->ports[0] == NULL || iris_port_get_queue_length (trip->ports[0]) > 0)
    g_cancellable_cancel (trip->cancellable);
}

static gboolean
pass_interval (IrisInterval *interval, gpointer data, GError **error)
{
  trip_step ();

  return TRUE;
}

static gboolean
fail_interval (IrisInterval *interval, gpointer data, GError **error)
{
  trip_step ();
  g_set_error (error, G_IO_ERROR, G_IO_ERROR_FAILED, "it failed");

  return FALSE;
}

/* The first; the second behind it, with the third as its child; the fourth behind both, and with
 * the first's lock. */
static void
travel_intervals (gboolean fails)
{
  g_autoptr (IrisIntervalGraph) graph = iris_interval_graph_new (trip->scheduler);
  g_autoptr (IrisLock) lock = iris_lock_new (IRIS_LOCK_POLICY_OFF);

  for (guint i = 0; i < 4; i++)
    trip->intervals[i] = iris_interval_new (
        graph, "one", fails && i == 2 ? fail_interval : pass_interval, trip_made (), trip_freed);
  iris_interval_add_after (trip->intervals[1], trip->intervals[0], NULL);
  iris_interval_set_parent (trip->intervals[2], trip->intervals[1], NULL);
  iris_interval_add_after (trip->intervals[3], trip->intervals[1], NULL);
  iris_interval_add_lock (trip->intervals[0], lock);
  iris_interval_add_lock (trip->intervals[3], lock);
  for (guint i = 4; i > 0; i--)
    {
      trip_step ();
      iris_interval_schedule (trip->intervals[i - 1]);
    }
  trip_run_all ();
  for (guint i = 0; i < 4; i++)
    ck_assert_uint_ge (iris_interval_get_state (trip->intervals[i]), IRIS_INTERVAL_DONE);
  iris_interval_graph_wait (graph);
  ck_assert (iris_lock_try_acquire (lock));
  iris_lock_release (lock);
}

static void
travel_good_intervals (void)
{
  travel_intervals (FALSE);
}

static void
travel_bad_intervals (void)
{
  travel_intervals (TRUE);
}

static IrisLock *lock_of_trip;

static void
take_turn (gpointer data)
{
  ck_assert (!iris_lock_try_acquire (lock_of_trip));
  trip_step ();
}

static void
come_again (gpointer data)
{
  take_turn (data);
  iris_lock_queue (lock_of_trip, trip->scheduler, take_turn, trip_made (), trip_freed);
}

static void
travel_lock (void)
{
  lock_of_trip = iris_lock_new (IRIS_LOCK_POLICY_ALWAYS);
  iris_lock_acquire (lock_of_trip);
  for (guint i = 0; i < 4; i++)
    {
      iris_lock_queue (lock_of_trip, trip->scheduler, i == 1 ? come_again : take_turn, trip_made (),
                       trip_freed);
      trip_step ();
    }
  iris_lock_release (lock_of_trip);
  trip_run_all ();
  ck_assert (iris_lock_try_acquire (lock_of_trip));
  iris_lock_release (lock_of_trip);
  g_clear_pointer (&lock_of_trip, iris_lock_unref);
}

static void
act (IrisMessage *message, gpointer data)
{
  trip_step ();
  if (message->what > 0)
    iris_actor_post (iris_actor_current (), trip_message (message->what - 1));
}

static void
travel_actor (void)
{
  trip->actor = iris_actor_new (trip->scheduler, act, trip_made (), trip_freed);
  iris_actor_set_batch (trip->actor, 2);
  for (gint i = 0; i < 4; i++)
    {
      if (trip->actor != NULL)
        iris_actor_post (trip->actor, trip_message (i));
      trip_step ();
    }
  trip_run_all ();
}

/* As long as nothing was done to it. */
static void
wait_for_posts (guint n)
{
  while (trip->n <= trip->at && iris_port_get_queue_length (trip->ports[0]) < n)
    g_thread_yield ();
}

/* The port has no receiver, since the timer's thread must not meet this scheduler. */
static void
travel_timer (void)
{
  IrisMessage *message = trip_message (1);

  trip->ports[0] = iris_port_new ();
  trip->timer = iris_port_post_every (trip->ports[0], message, 100);
  for (guint i = 1; i <= 3; i++)
    {
      trip_step ();
      wait_for_posts (i);
    }
  trip_step ();
  /* A dropped handle has left the timer to its port. */
  if (trip->timer != NULL)
    iris_timer_cancel (trip->timer);
}

static void
travel_late_post (void)
{
  trip->ports[0] = iris_port_new ();
  trip->timer = iris_port_post_after (trip->ports[0], trip_message (1), 100);
  trip_step ();
  wait_for_posts (1);
  trip_step ();
}

G_DECLARE_FINAL_TYPE (TripService, trip_service, TRIP, SERVICE, IrisService)

struct _TripService
{
  IrisService parent_instance;
};

G_DEFINE_FINAL_TYPE (TripService, trip_service, IRIS_TYPE_SERVICE)

static void
trip_service_handle (IrisService *service, IrisMessage *message)
{
  trip_step ();
}

static void
trip_service_finalize (GObject *object)
{
  trip_freed (NULL);

  G_OBJECT_CLASS (trip_service_parent_class)->finalize (object);
}

static void
trip_service_class_init (TripServiceClass *klass)
{
  IRIS_SERVICE_CLASS (klass)->handle_exclusive = trip_service_handle;
  IRIS_SERVICE_CLASS (klass)->handle_concurrent = trip_service_handle;
  G_OBJECT_CLASS (klass)->finalize = trip_service_finalize;
}

static void
trip_service_init (TripService *self)
{
  trip_made ();
}

static void
send (gboolean exclusive)
{
  if (trip->service != NULL && exclusive)
    iris_service_send_exclusive (trip->service, trip_message (1));
  else if (trip->service != NULL)
    iris_service_send_concurrent (trip->service, trip_message (1));
  trip_step ();
}

static void
travel_service (void)
{
  trip->service = g_object_new (trip_service_get_type (), "scheduler", trip->scheduler, NULL);
  send (TRUE);
  if (trip->service != NULL)
    iris_service_start (trip->service);
  for (guint i = 0; i < 4; i++)
    send (i % 2 == 0);
  trip_run_all ();
  send (FALSE);
  if (trip->service != NULL)
    iris_service_stop (trip->service);
  trip_run_all ();
}

static void
pass_on (IrisProcess *process, IrisMessage *work_item, gpointer data)
{
  trip_step ();
  if (iris_process_has_sink (process))
    iris_process_forward (process, work_item);
}

static void
travel_processes (void)
{
  for (guint i = 0; i < 2; i++)
    {
      trip->processes[i] = iris_process_new (pass_on, trip_made (), trip_freed);
      iris_task_set_work_scheduler (IRIS_TASK (trip->processes[i]), trip->scheduler);
    }
  iris_process_set_queue_limit (trip->processes[1], 2);
  iris_process_connect (trip->processes[0], trip->processes[1]);
  for (guint i = 0; i < 5; i++)
    {
      iris_process_enqueue (trip->processes[0], trip_message (1));
      trip_step ();
    }
  iris_process_run (trip->processes[0]);
  trip_run_all ();
  iris_process_close (trip->processes[0]);
  trip_run_all ();
  for (guint i = 0; i < 2; i++)
    ck_assert (!iris_process_is_executing (trip->processes[i]));
}

/* --- the table -------------------------------------------------------------------------------- */

typedef struct
{
  const char *name;
  void (*travel) (void);
  guint least; /* steps it has at least, when it is not cut short */
  TripEnd ends[6];
} Journey;

static const Journey journeys[] = {
  { "receivers",
    travel_receivers,
    15,
    { end_shut_down, end_drop_ports, end_destroy_receivers, end_pause } },
  { "coordination",
    travel_coordination,
    20,
    { end_shut_down, end_drop_ports, end_destroy_receivers, end_destroy_first, end_pause } },
  { "requests",
    travel_requests,
    8,
    { end_shut_down, end_drop_ports, end_destroy_receivers, end_cancel_call, end_pause } },
  { "intervals",
    travel_good_intervals,
    9,
    { end_shut_down, end_cancel_first_interval, end_cancel_second_interval, end_cancel_child,
      end_cancel_intervals } },
  { "failing intervals",
    travel_bad_intervals,
    8,
    { end_shut_down, end_cancel_first_interval, end_cancel_second_interval, end_cancel_child,
      end_cancel_intervals } },
  { "lock", travel_lock, 8, { end_shut_down } },
  { "actor", travel_actor, 14, { end_shut_down, end_give_actor_up } },
  { "timer", travel_timer, 4, { end_cancel_timer, end_drop_timer, end_drop_ports } },
  { "late post", travel_late_post, 2, { end_cancel_timer, end_drop_timer, end_drop_ports } },
  { "service", travel_service, 12, { end_shut_down, end_stop_service, end_drop_service } },
  { "processes", travel_processes, 15, { end_shut_down, end_cancel_head, end_cancel_tail } },
};

static void
drop_all (Trip *self)
{
  for (guint i = 0; i < 3; i++)
    {
      g_clear_object (&self->receivers[i]);
      g_clear_object (&self->ports[i]);
    }
  for (guint i = 0; i < 4; i++)
    g_clear_pointer (&self->intervals[i], iris_interval_unref);
  for (guint i = 0; i < 2; i++)
    g_clear_object (&self->processes[i]);
  g_clear_pointer (&self->actor, iris_actor_unref);
  g_clear_pointer (&self->timer, iris_timer_unref);
  g_clear_object (&self->service);
  g_clear_object (&self->cancellable);
}

/* Returns how many steps there were. */
static guint
make_trip (const Journey *journey, guint which, guint at)
{
  TripEnd end = at == NEVER ? end_not_at_all : journey->ends[which];
  Trip self = { .scheduler = step_scheduler_new (), .end = end, .at = at };
  GWeakRef scheduler;
  gpointer held;

  trip = &self;
  g_weak_ref_init (&scheduler, self.scheduler);
  journey->travel ();
  if (end == end_not_at_all)
    ck_assert_msg (self.n >= journey->least, "%s: %u steps", journey->name, self.n);
  drop_all (&self);
  iris_scheduler_shutdown (self.scheduler, IRIS_SHUTDOWN_CANCEL);
  g_object_unref (self.scheduler);
  /* The timer's thread may be at it. */
  if (journey->travel == travel_timer || journey->travel == travel_late_post)
    while (atomic_load (&self.n_freed) < self.n_made)
      g_thread_yield ();
  while (g_main_context_iteration (NULL, FALSE))
    ;
  ck_assert_msg (self.n_made == atomic_load (&self.n_freed),
                 "%s, end %u, step %u: made %u, freed %u", journey->name, which, at, self.n_made,
                 atomic_load (&self.n_freed));
  held = g_weak_ref_get (&scheduler);
  ck_assert_msg (held == NULL, "%s, end %u, step %u: the scheduler is held", journey->name, which,
                 at);
  g_weak_ref_clear (&scheduler);

  return self.n;
}

LOOP_TEST (a_journey_can_be_cut_short_at_every_step, 0, G_N_ELEMENTS (journeys))
{
  const Journey *journey = &journeys[_i];
  guint n = make_trip (journey, 0, NEVER);

  for (guint i = 0; i < G_N_ELEMENTS (journey->ends) && journey->ends[i] != NULL; i++)
    for (guint at = 0; at < n; at++)
      make_trip (journey, i, at);
}

TEST_MAIN ("cancel-steps", NULL, NULL)
