/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * Full ports that let posters wait, and the timers' thread, which must not: what timers and
 * deadlines post waits for room without it, and none of it is lost.
 */
#include "core-test-util.h"

#include <sched.h>
#include <stdatomic.h>

#define DELAY_US 1000
#define LIMIT    2
#define N_LATE   100
#define N_EACH   200

static IrisScheduler *scheduler;
static IrisPort *full;
static CoreTestGate handled = CORE_TEST_GATE_INIT;
static CoreTestGate let_go = CORE_TEST_GATE_INIT;
static CoreTestGate freed = CORE_TEST_GATE_INIT;
static gint seen[16];
static _Atomic guint n_seen;

static void
setup (void)
{
  scheduler = iris_wsscheduler_new_full (2, 2);
  full = iris_port_new ();
  core_test_gate_close (&handled);
  core_test_gate_close (&let_go);
  core_test_gate_close (&freed);
  atomic_store (&n_seen, 0);
}

static void
teardown (void)
{
  g_clear_object (&full);
  g_clear_object (&scheduler);
}

static void
handle (IrisMessage *message, gpointer data)
{
  guint at = atomic_fetch_add (&n_seen, 1);

  if (at < G_N_ELEMENTS (seen))
    seen[at] = message->what;
  core_test_gate_add (&handled, 1);
}

static IrisPortCounts
counts (void)
{
  IrisPortCounts counts;

  ck_assert (iris_port_get_counts (full, &counts));
  return counts;
}

static void
post_after (IrisPort *port, IrisMessage *message, gint64 delay_us)
{
  iris_timer_unref (iris_port_post_after (port, message, delay_us));
}

static void
fill (void)
{
  iris_port_set_limit (full, LIMIT, IRIS_PORT_FULL_WAIT);
  for (gint i = 0; i < LIMIT; i++)
    iris_port_post (full, iris_message_new (i));
}

/* Until so many posts have found it full. */
static void
wait_for_n_waited (guint n)
{
  while (counts ().waited < n)
    sched_yield ();
}

/* A timer that has nothing to do with the full port, and a deadline. */
static void
check_that_timers_go_on (void)
{
  g_autoptr (IrisPort) other = iris_port_new (), without_receiver = iris_port_new ();
  g_autoptr (GError) error = NULL;

  iris_arbiter_receive (scheduler, other, handle, NULL, NULL);
  core_test_gate_close (&handled);
  post_after (other, iris_message_new (99), DELAY_US);
  core_test_gate_wait (&handled, 1);
  ck_assert_ptr_null (iris_port_request (without_receiver, iris_message_new (1), DELAY_US, &error));
  ck_assert (g_error_matches (error, IRIS_MESSAGE_ERROR, IRIS_MESSAGE_ERROR_TIMED_OUT));
  core_test_gate_close (&handled);
  atomic_store (&n_seen, 0);
}

static void
receive_in_order (guint n)
{
  iris_arbiter_receive_exclusive (scheduler, full, handle, NULL, NULL);
  core_test_gate_wait (&handled, n);
  for (guint i = 0; i < n; i++)
    ck_assert_int_eq (seen[i], (gint) i);
  ck_assert_uint_le (counts ().most_held, LIMIT);
  ck_assert_uint_eq (counts ().refused, 0);
}

TEST (a_full_port_holds_up_no_other_timer_and_gets_its_messages_later)
{
  fill ();
  for (gint i = 0; i < 3; i++)
    {
      post_after (full, iris_message_new (LIMIT + i), DELAY_US);
      wait_for_n_waited ((guint) i + 1);
    }
  check_that_timers_go_on ();
  ck_assert_uint_eq (counts ().held, LIMIT);
  receive_in_order (LIMIT + 3);
}

TEST (a_full_port_for_answers_holds_up_no_other_timer_and_gets_the_failure_later)
{
  g_autoptr (IrisPort) without_receiver = iris_port_new ();

  fill ();
  iris_port_request_to (without_receiver, iris_message_new (1), DELAY_US, full,
                        iris_message_new (LIMIT));
  wait_for_n_waited (1);
  check_that_timers_go_on ();
  receive_in_order (LIMIT + 1);
}

TEST (a_higher_limit_lets_a_late_message_in)
{
  fill ();
  post_after (full, iris_message_new (LIMIT), DELAY_US);
  wait_for_n_waited (1);
  iris_port_set_limit (full, LIMIT + 1, IRIS_PORT_FULL_WAIT);
  ck_assert_uint_eq (counts ().held, LIMIT + 1);
  iris_arbiter_receive_exclusive (scheduler, full, handle, NULL, NULL);
  core_test_gate_wait (&handled, LIMIT + 1);
}

TEST (a_periodic_timer_leaves_out_the_times_at_which_the_port_is_full)
{
  IrisTimer *timer;

  fill ();
  timer = iris_port_post_every (full, iris_message_new (LIMIT), DELAY_US);
  while (counts ().refused < 3)
    sched_yield ();
  ck_assert_uint_eq (counts ().waited, 0);
  iris_arbiter_receive_exclusive (scheduler, full, handle, NULL, NULL);
  core_test_gate_wait (&handled, LIMIT + 1);
  iris_timer_cancel (timer);
  iris_timer_unref (timer);
  ck_assert_int_eq (seen[LIMIT], LIMIT);
}

static void
note_freed (gpointer data)
{
  core_test_gate_add (&freed, 1);
}

static IrisMessage *
new_noted (gint what)
{
  IrisMessage *message = iris_message_new (what);

  iris_message_set_pointer_full (message, "noted", &freed, note_freed);

  return message;
}

TEST (a_port_that_goes_frees_what_came_late)
{
  fill ();
  for (guint i = 0; i < 3; i++)
    post_after (full, new_noted (LIMIT), DELAY_US);
  wait_for_n_waited (3);
  g_clear_object (&full);
  core_test_gate_wait (&freed, 3);
}

static gpointer
post_many (gpointer data)
{
  for (guint i = 0; i < N_EACH; i++)
    iris_port_post (full, iris_message_new (0));

  return NULL;
}

LOOP_TEST (of_threads_that_wait_and_timers_that_do_not_nothing_is_lost, 0, 2)
{
  GThread *threads[2];

  iris_port_set_limit (full, LIMIT, IRIS_PORT_FULL_WAIT);
  if (_i == 0)
    iris_arbiter_receive (scheduler, full, handle, NULL, NULL);
  for (guint i = 0; i < G_N_ELEMENTS (threads); i++)
    threads[i] = g_thread_new ("poster", post_many, NULL);
  for (guint i = 0; i < N_LATE; i++)
    {
      post_after (full, iris_message_new (0), (gint64) i * 20);
      /* The receiver changes meanwhile. */
      if (i % 16 == 0)
        iris_arbiter_receive_exclusive (scheduler, full, handle, NULL, NULL);
    }
  for (guint i = 0; i < G_N_ELEMENTS (threads); i++)
    g_thread_join (threads[i]);
  core_test_gate_wait (&handled, G_N_ELEMENTS (threads) * N_EACH + N_LATE);
  ck_assert_uint_le (counts ().most_held, LIMIT);
  ck_assert_uint_eq (counts ().refused, 0);
}

static void
wait_inside (gpointer data)
{
  core_test_gate_wait (&let_go, 1);
}

/* With the last reference to a scheduler whose worker is busy. */
TEST (a_timer_that_drops_a_scheduler_does_not_wait_for_it)
{
  IrisScheduler *busy = iris_wsscheduler_new_full (1, 1);
  IrisPort *port = iris_port_new ();
  IrisMessage *message = iris_message_new (1);
  IrisTimer *timer;

  iris_scheduler_queue (busy, wait_inside, NULL, note_freed);
  iris_message_set_pointer_full (message, "scheduler", busy, g_object_unref);
  /* It finds the port gone, and is the last to hold the message. */
  timer = iris_port_post_every (port, message, DELAY_US);
  g_object_unref (port);
  while (iris_timer_is_active (timer))
    sched_yield ();
  iris_timer_unref (timer);
  check_that_timers_go_on ();
  core_test_gate_add (&let_go, 1);
  core_test_gate_wait (&freed, 1);
}

TEST_MAIN ("port-late", setup, teardown)
