/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * Requests, deadlines and timers: each request is answered once, whatever becomes of the
 * message.
 */
#include "core-test-util.h"

#include <iris/iris.h>
#include <stdatomic.h>

#define LONG_US (3600 * G_TIME_SPAN_SECOND)

static IrisScheduler *scheduler;
static IrisPort *port;
static IrisMessage *kept;
static GMutex lock;
static GCond changed;
static guint n_seen, n_failures;

static void
setup (void)
{
  scheduler = iris_wsscheduler_new_full (2, 2);
  port = iris_port_new ();
  n_seen = n_failures = 0;
}

static void
teardown (void)
{
  /* First: a handler may still be at work. */
  iris_scheduler_shutdown (scheduler, IRIS_SHUTDOWN_DRAIN);
  g_clear_pointer (&kept, iris_message_unref);
  g_clear_object (&port);
  g_clear_object (&scheduler);
}

/* On a worker, beside the test: Check's own assertions are for one thread. */
static void
double_it (IrisMessage *message, gpointer data)
{
  g_assert_true (iris_message_wants_reply (message));
  g_assert_true (iris_message_reply (message, iris_message_new (message->what * 2)));
  /* The second answer finds no request. */
  g_assert_false (iris_message_wants_reply (message));
  g_assert_false (iris_message_reply (message, iris_message_new (0)));
}

static void
say_nothing (IrisMessage *message, gpointer data)
{
}

static void
keep_it (IrisMessage *message, gpointer data)
{
  g_mutex_lock (&lock);
  if (kept == NULL)
    kept = iris_message_ref (message);
  g_cond_broadcast (&changed);
  g_mutex_unlock (&lock);
}

LOOP_TEST (a_request_is_answered, 0, 2)
{
  g_autoptr (GError) error = NULL;

  iris_arbiter_receive (scheduler, port, double_it, NULL, NULL);
  for (gint i = 0; i < 1000; i++)
    {
      g_autoptr (IrisMessage)
          reply = iris_port_request (port, iris_message_new (i), _i == 0 ? -1 : LONG_US, &error);

      ck_assert_ptr_nonnull (reply);
      ck_assert_int_eq (reply->what, 2 * i);
    }
}

static void
assert_fails (gint64 timeout_us, IrisMessageError code)
{
  g_autoptr (GError) error = NULL;

  ck_assert_ptr_null (iris_port_request (port, iris_message_new (1), timeout_us, &error));
  ck_assert (g_error_matches (error, IRIS_MESSAGE_ERROR, code));
}

TEST (a_request_without_an_answer_fails)
{
  iris_arbiter_receive (scheduler, port, say_nothing, NULL, NULL);
  assert_fails (-1, IRIS_MESSAGE_ERROR_UNANSWERED);
  iris_scheduler_shutdown (scheduler, IRIS_SHUTDOWN_CANCEL);
  assert_fails (-1, IRIS_MESSAGE_ERROR_UNANSWERED);
}

TEST (a_request_fails_when_its_deadline_passes_and_a_late_answer_is_refused)
{
  /* Without a receiver it waits in the port. */
  assert_fails (1000, IRIS_MESSAGE_ERROR_TIMED_OUT);
  assert_fails (0, IRIS_MESSAGE_ERROR_TIMED_OUT);
  iris_arbiter_receive_exclusive (scheduler, port, keep_it, NULL, NULL);
  g_mutex_lock (&lock);
  while (kept == NULL)
    g_cond_wait (&changed, &lock);
  ck_assert (!iris_message_wants_reply (kept));
  ck_assert (!iris_message_reply (kept, iris_message_new (1)));
  g_mutex_unlock (&lock);
}

TEST (a_full_port_answers_a_request_with_an_error)
{
  iris_port_set_limit (port, 1, IRIS_PORT_FULL_FAIL);
  iris_port_post (port, iris_message_new (0));
  assert_fails (-1, IRIS_MESSAGE_ERROR_FULL);
}

typedef struct
{
  GMainLoop *loop;
  IrisMessage *reply;
  GError *error;
} Waiting;

static void
answered (GObject *source, GAsyncResult *result, gpointer data)
{
  Waiting *waiting = data;

  waiting->reply = iris_port_request_finish ((IrisPort *) source, result, &waiting->error);
  g_main_loop_quit (waiting->loop);
}

static void
waiting_clear (Waiting *self)
{
  g_clear_pointer (&self->loop, g_main_loop_unref);
  g_clear_pointer (&self->reply, iris_message_unref);
  g_clear_error (&self->error);
}

TEST (an_answer_comes_to_the_main_context)
{
  Waiting waiting = { g_main_loop_new (NULL, FALSE), NULL, NULL };
  g_autoptr (GCancellable) cancellable = g_cancellable_new ();

  iris_arbiter_receive (scheduler, port, double_it, NULL, NULL);
  iris_port_request_async (port, iris_message_new (21), LONG_US, cancellable, answered, &waiting);
  g_main_loop_run (waiting.loop);
  ck_assert_ptr_nonnull (waiting.reply);
  ck_assert_int_eq (waiting.reply->what, 42);
  /* Too late to matter. */
  g_cancellable_cancel (cancellable);
  waiting_clear (&waiting);
}

LOOP_TEST (a_request_can_be_cancelled_at_each_step, 0, 3)
{
  Waiting waiting = { g_main_loop_new (NULL, FALSE), NULL, NULL };
  g_autoptr (GCancellable) cancellable = g_cancellable_new ();

  if (_i == 0) /* before it is posted */
    g_cancellable_cancel (cancellable);
  if (_i == 2)
    iris_arbiter_receive (scheduler, port, keep_it, NULL, NULL);
  iris_port_request_async (port, iris_message_new (21), -1, cancellable, answered, &waiting);
  if (_i == 2) /* while it is handled */
    {
      g_mutex_lock (&lock);
      while (kept == NULL)
        g_cond_wait (&changed, &lock);
      g_mutex_unlock (&lock);
    }
  g_cancellable_cancel (cancellable);
  g_main_loop_run (waiting.loop);
  ck_assert (g_error_matches (waiting.error, IRIS_MESSAGE_ERROR, IRIS_MESSAGE_ERROR_CANCELLED));
  if (kept != NULL)
    ck_assert (!iris_message_reply (kept, iris_message_new (0)));
  waiting_clear (&waiting);
}

LOOP_TEST (a_port_that_goes_answers_what_waits_in_it, 0, 2)
{
  g_autoptr (IrisPort) reply_to = iris_port_new ();
  IrisMessage *failure = iris_message_ref_sink (iris_message_new (-1));

  if (_i == 1)
    iris_port_set_limit (port, 10, IRIS_PORT_FULL_FAIL);
  for (guint i = 0; i < 3; i++)
    iris_port_request_to (port, iris_message_new (1), -1, reply_to, failure);
  ck_assert_uint_eq (iris_port_get_queue_length (reply_to), 0);
  g_clear_object (&port);
  ck_assert_uint_eq (iris_port_get_queue_length (reply_to), 3);
  iris_message_unref (failure);
}

static void
count_answer (IrisMessage *message, gpointer data)
{
  g_mutex_lock (&lock);
  n_seen++;
  n_failures += message->what < 0 ? 1 : 0;
  g_cond_broadcast (&changed);
  g_mutex_unlock (&lock);
}

static void
wait_seen (guint n)
{
  g_mutex_lock (&lock);
  while (n_seen < n)
    g_cond_wait (&changed, &lock);
  g_mutex_unlock (&lock);
}

TEST (answers_come_as_messages)
{
  g_autoptr (IrisPort) reply_to = iris_port_new ();

  iris_arbiter_receive (scheduler, port, double_it, NULL, NULL);
  iris_arbiter_receive_exclusive (scheduler, reply_to, count_answer, NULL, NULL);
  for (gint i = 0; i < 1000; i++)
    iris_port_request_to (port, iris_message_new (i), LONG_US, reply_to, iris_message_new (-1));
  wait_seen (1000);
  ck_assert_uint_eq (n_failures, 0);
  iris_scheduler_shutdown (scheduler, IRIS_SHUTDOWN_DRAIN);
  ck_assert_uint_eq (n_seen, 1000);
}

TEST (the_answer_and_the_deadline_race_and_one_wins)
{
  g_autoptr (IrisPort) reply_to = iris_port_new ();

  iris_arbiter_receive (scheduler, port, say_nothing, NULL, NULL);
  iris_arbiter_receive_exclusive (scheduler, reply_to, count_answer, NULL, NULL);
  for (gint i = 0; i < 1000; i++)
    iris_port_request_to (port, iris_message_new (i), i % 50, reply_to, iris_message_new (-1));
  wait_seen (1000);
  iris_scheduler_shutdown (scheduler, IRIS_SHUTDOWN_DRAIN);
  ck_assert_uint_eq (n_seen, 1000);
  ck_assert_uint_eq (n_failures, 1000);
}

TEST (a_message_comes_later_and_not_before)
{
  gint64 begin = g_get_monotonic_time ();
  g_autoptr (IrisTimer) timer = NULL;

  iris_arbiter_receive (scheduler, port, count_answer, NULL, NULL);
  timer = iris_port_post_after (port, iris_message_new (1), 2000);
  wait_seen (1);
  ck_assert_int_ge (g_get_monotonic_time () - begin, 2000);
  ck_assert (!iris_timer_cancel (timer));
}

TEST (a_timer_that_is_cancelled_posts_nothing)
{
  IrisTimer *timer = iris_port_post_after (port, iris_message_new (1), LONG_US);

  ck_assert (iris_timer_is_active (timer));
  ck_assert (iris_timer_cancel (timer));
  ck_assert (!iris_timer_cancel (timer));
  ck_assert (!iris_timer_is_active (timer));
  iris_timer_unref (timer);
  ck_assert_uint_eq (iris_port_get_queue_length (port), 0);
}

TEST (timers_come_in_the_order_of_their_times)
{
  IrisTimer *timers[100];
  g_autoptr (IrisPort) other = iris_port_new ();

  /* The nearest one is made last: the thread that sleeps until a later one must hear of it. */
  iris_arbiter_receive (scheduler, port, count_answer, NULL, NULL);
  for (gint i = 99; i >= 0; i--)
    timers[i] = iris_port_post_after (i == 0 ? port : other, iris_message_new (1),
                                      i == 0 ? 0 : LONG_US + i);
  wait_seen (1);
  for (guint i = 0; i < 100; i++)
    {
      ck_assert_int_eq (iris_timer_cancel (timers[i]), i != 0);
      iris_timer_unref (timers[i]);
    }
}

LOOP_TEST (a_periodic_timer_goes_on_until_it_is_cancelled_or_its_port_is_gone, 0, 2)
{
  IrisTimer *timer;

  iris_arbiter_receive (scheduler, port, count_answer, NULL, NULL);
  timer = iris_port_post_every (port, iris_message_new (1), 100);
  wait_seen (5);
  ck_assert (iris_timer_is_active (timer));
  if (_i == 0)
    {
      ck_assert (iris_timer_cancel (timer));
    }
  else
    {
      g_clear_object (&port);
      while (iris_timer_is_active (timer))
        g_thread_yield ();
    }
  iris_timer_unref (timer);
}

static void
handle_for_actor (IrisMessage *message, gpointer data)
{
  count_answer (message, data);
}

TEST (an_actor_gets_mail_later)
{
  IrisActor *actor = iris_actor_new (scheduler, handle_for_actor, NULL, NULL);
  G_GNUC_UNUSED g_autoptr (IrisTimer)
      timer = iris_actor_post_after (actor, iris_message_new (1), 100);

  iris_actor_unref (actor);
  wait_seen (1);
}

static _Atomic guint n_arrived;
static GCancellable *cancellable_of_round;

/* Two threads that go on together, without a system call in between. */
static void
meet (guint round)
{
  atomic_fetch_add (&n_arrived, 1);
  for (guint i = 0; atomic_load (&n_arrived) < 2 * round; i++)
    if (i % 100 == 99)
      g_thread_yield ();
}

#define N_ROUNDS CORE_TEST_LOAD (2000)

static gpointer
cancel_in_each_round (gpointer data)
{
  for (guint i = 0; i < N_ROUNDS; i++)
    {
      meet (2 * i + 1);
      for (guint k = i % 61; k > 0; k--)
        iris_cpu_relax ();
      g_cancellable_cancel (cancellable_of_round);
      meet (2 * i + 2);
    }

  return NULL;
}

static void
note_ended (GObject *object, GAsyncResult *result, gpointer data)
{
  g_autoptr (GError) error = NULL;

  ck_assert_ptr_null (iris_port_request_finish (IRIS_PORT (object), result, &error));
  (*(guint *) data)++;
}

static void
note_gone (gpointer data, GObject *was)
{
  (*(guint *) data)++;
}

TEST (a_request_that_is_cancelled_as_it_begins_keeps_nothing)
{
  GThread *canceller;
  guint n_answered = 0, n_gone = 0;

  atomic_store (&n_arrived, 0);
  cancellable_of_round = g_cancellable_new ();
  canceller = g_thread_new ("canceller", cancel_in_each_round, NULL);
  for (guint i = 0; i < N_ROUNDS; i++)
    {
      g_object_weak_ref (G_OBJECT (cancellable_of_round), note_gone, &n_gone);
      meet (2 * i + 1);
      iris_port_request_async (port, iris_message_new (21), LONG_US, cancellable_of_round,
                               note_ended, &n_answered);
      meet (2 * i + 2);
      while (n_answered <= i)
        g_main_context_iteration (NULL, TRUE);
      /* What waits in the port holds the request. */
      g_object_unref (port);
      port = iris_port_new ();
      g_object_unref (cancellable_of_round);
      ck_assert_uint_eq (n_gone, i + 1);
      cancellable_of_round = g_cancellable_new ();
    }
  g_thread_join (canceller);
  g_clear_object (&cancellable_of_round);
}

TEST_MAIN ("port-request", setup, teardown)
