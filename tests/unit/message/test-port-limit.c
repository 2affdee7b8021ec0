/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * Bounded ports: what a full one does with more, that it counts it, and that nothing accepted is
 * lost.
 */
#include "core-test-util.h"

#include <stdatomic.h>

#define N_EACH    (CORE_TEST_FACTOR > 1 ? 2000 : 10000)
#define N_POSTERS 4
#define LIMIT     10

static IrisPort *port;
static _Atomic guint n_handled, n_told;
static gint seen[64];

static void
setup (void)
{
  port = iris_port_new ();
  atomic_store (&n_handled, 0);
  atomic_store (&n_told, 0);
}

static void
teardown (void)
{
  g_clear_object (&port);
}

static void
handle (IrisMessage *message, gpointer data)
{
  guint at = atomic_fetch_add (&n_handled, 1);

  if (at < G_N_ELEMENTS (seen))
    seen[at] = message->what;
}

static IrisPortCounts
counts (void)
{
  IrisPortCounts counts;

  ck_assert (iris_port_get_counts (port, &counts));
  return counts;
}

/* Everything that the port holds, in order, by one worker. */
static void
receive_all (void)
{
  g_autoptr (IrisScheduler) scheduler = iris_wsscheduler_new_full (1, 1);

  iris_arbiter_receive_exclusive (scheduler, port, handle, NULL, NULL);
  iris_scheduler_shutdown (scheduler, IRIS_SHUTDOWN_DRAIN);
}

TEST (a_port_without_a_limit_counts_nothing_and_accepts_all)
{
  IrisPortCounts counts;

  ck_assert (!iris_port_get_counts (port, &counts));
  ck_assert (iris_port_try_post (port, iris_message_new (1), NULL));
}

TEST (a_full_port_that_fails_refuses_the_new_one_and_says_how_to_raise_the_limit)
{
  g_autoptr (GError) error = NULL;

  iris_port_set_limit (port, LIMIT, IRIS_PORT_FULL_FAIL);
  for (gint i = 0; i < LIMIT; i++)
    ck_assert (iris_port_try_post (port, iris_message_new (i), &error));
  ck_assert (!iris_port_try_post (port, iris_message_new (LIMIT), &error));
  ck_assert (g_error_matches (error, IRIS_MESSAGE_ERROR, IRIS_MESSAGE_ERROR_FULL));
  ck_assert_ptr_nonnull (strstr (error->message, "iris_port_set_limit()"));
  iris_port_post (port, iris_message_new (LIMIT));
  ck_assert_uint_eq (counts ().posted, LIMIT + 2);
  ck_assert_uint_eq (counts ().refused, 2);
  ck_assert_uint_eq (counts ().held, LIMIT);
  ck_assert_uint_eq (counts ().most_held, LIMIT);
  ck_assert_uint_eq (iris_port_get_queue_length (port), LIMIT);

  receive_all ();
  ck_assert_uint_eq (atomic_load (&n_handled), LIMIT);
  for (gint i = 0; i < LIMIT; i++)
    ck_assert_int_eq (seen[i], i);
  ck_assert_uint_eq (counts ().held, 0);
}

TEST (a_full_port_may_drop_the_oldest)
{
  iris_port_set_limit (port, LIMIT, IRIS_PORT_FULL_DROP_OLDEST);
  for (gint i = 0; i < 3 * LIMIT; i++)
    ck_assert (iris_port_try_post (port, iris_message_new (i), NULL));
  ck_assert_uint_eq (counts ().dropped, 2 * LIMIT);
  receive_all ();
  ck_assert_uint_eq (atomic_load (&n_handled), LIMIT);
  for (gint i = 0; i < LIMIT; i++)
    ck_assert_int_eq (seen[i], 2 * LIMIT + i);
}

static void
tell (IrisPort *from, IrisMessage *message, gpointer data)
{
  ck_assert_ptr_eq (from, port);
  ck_assert_int_eq (message->what, 99);
  /* Under no lock. */
  ck_assert_uint_eq (iris_port_get_queue_length (from), LIMIT);
  atomic_fetch_add (&n_told, 1);
}

TEST (a_full_port_may_tell_the_sender)
{
  iris_port_set_limit (port, LIMIT, IRIS_PORT_FULL_TELL);
  iris_port_set_full_func (port, tell, NULL, NULL);
  for (gint i = 0; i < LIMIT; i++)
    iris_port_post (port, iris_message_new (i));
  iris_port_post (port, iris_message_new (99));
  ck_assert_uint_eq (atomic_load (&n_told), 1);
  ck_assert_uint_eq (counts ().refused, 1);
}

static gpointer
post_many (gpointer data)
{
  for (guint i = 0; i < N_EACH; i++)
    iris_port_post (port, iris_message_new (0));

  return NULL;
}

LOOP_TEST (a_full_port_may_let_the_sender_wait, 0, 2)
{
  g_autoptr (IrisScheduler) scheduler = iris_wsscheduler_new_full (2, 2);
  GThread *threads[N_POSTERS];

  iris_port_set_limit (port, LIMIT, IRIS_PORT_FULL_WAIT);
  for (guint i = 0; i < N_POSTERS; i++)
    threads[i] = g_thread_new ("poster", post_many, NULL);
  if (_i == 0)
    iris_arbiter_receive (scheduler, port, handle, NULL, NULL);
  else
    iris_arbiter_receive_exclusive (scheduler, port, handle, NULL, NULL);
  for (guint i = 0; i < N_POSTERS; i++)
    g_thread_join (threads[i]);
  iris_scheduler_shutdown (scheduler, IRIS_SHUTDOWN_DRAIN);
  ck_assert_uint_eq (atomic_load (&n_handled), N_POSTERS * N_EACH);
  ck_assert_uint_eq (counts ().refused, 0);
  ck_assert_uint_le (counts ().most_held, LIMIT);
}

static void
post_too_many (gpointer data)
{
  for (guint i = 0; i < LIMIT + 1; i++)
    if (!iris_port_try_post (port, iris_message_new (0), NULL))
      atomic_fetch_add (&n_told, 1);
}

TEST (a_worker_does_not_wait_but_is_refused)
{
  g_autoptr (IrisScheduler) scheduler = iris_wsscheduler_new_full (1, 1);

  iris_port_set_limit (port, LIMIT, IRIS_PORT_FULL_WAIT);
  iris_scheduler_queue (scheduler, post_too_many, NULL, NULL);
  iris_scheduler_shutdown (scheduler, IRIS_SHUTDOWN_DRAIN);
  ck_assert_uint_eq (atomic_load (&n_told), 1);
}

LOOP_TEST (what_is_accepted_under_load_is_handled_or_counted_as_dropped, 0, 4)
{
  g_autoptr (IrisScheduler) scheduler = iris_wsscheduler_new_full (2, 2);
  GThread *threads[N_POSTERS];

  iris_port_set_limit (port, LIMIT, _i % 2 == 0 ? IRIS_PORT_FULL_FAIL : IRIS_PORT_FULL_DROP_OLDEST);
  if (_i < 2)
    iris_arbiter_receive (scheduler, port, handle, NULL, NULL);
  else
    iris_arbiter_receive_exclusive (scheduler, port, handle, NULL, NULL);
  for (guint i = 0; i < N_POSTERS; i++)
    threads[i] = g_thread_new ("poster", post_many, NULL);
  for (guint i = 0; i < N_POSTERS; i++)
    {
      /* Meanwhile the port changes hands. */
      iris_arbiter_receive (scheduler, port, handle, NULL, NULL);
      g_thread_join (threads[i]);
    }
  iris_scheduler_shutdown (scheduler, IRIS_SHUTDOWN_DRAIN);
  ck_assert_uint_eq (counts ().posted, N_POSTERS * N_EACH);
  ck_assert_uint_eq (atomic_load (&n_handled) + counts ().refused + counts ().dropped,
                     N_POSTERS * N_EACH);
}

TEST (a_limit_may_come_when_messages_wait_already)
{
  for (gint i = 0; i < 2 * LIMIT; i++)
    iris_port_post (port, iris_message_new (i));
  iris_port_set_limit (port, LIMIT, IRIS_PORT_FULL_FAIL);
  ck_assert_uint_eq (iris_port_get_queue_length (port), 2 * LIMIT);
  ck_assert (!iris_port_try_post (port, iris_message_new (0), NULL));
  iris_port_set_limit (port, 3 * LIMIT, IRIS_PORT_FULL_FAIL);
  ck_assert (iris_port_try_post (port, iris_message_new (2 * LIMIT), NULL));
  receive_all ();
  ck_assert_uint_eq (atomic_load (&n_handled), 2 * LIMIT + 1);
  for (gint i = 0; i <= 2 * LIMIT; i++)
    ck_assert_int_eq (seen[i], i);
}

TEST_MAIN ("port-limit", setup, teardown)
