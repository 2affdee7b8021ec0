/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * The GSource over a ZeroMQ socket, and the trap that it is there for: an edge-triggered
 * descriptor.
 */
#include "core-test-run.h"
#include "clients/iris-client/connection/iris-client-link-private.h"
#include "clients/iris-client/base/iris-client-source-private.h"

#include <check.h>
#include <stdlib.h>
#include <zmq.h>

#define N_MESSAGES 2000

typedef struct
{
  void *near;
  void *far;
  GSource *source;
  guint received;
  guint in_one_dispatch;
  guint most_in_one_dispatch;
  gboolean reply;
  gboolean stop;
  guint writable;
} Fixture;

static gboolean
on_readable (void *socket, gpointer user_data)
{
  Fixture *fixture = user_data;
  char byte;

  if (zmq_recv (socket, &byte, 1, ZMQ_DONTWAIT) < 0)
    return FALSE;
  fixture->received++;
  fixture->in_one_dispatch++;
  fixture->most_in_one_dispatch = MAX (fixture->most_in_one_dispatch, fixture->in_one_dispatch);
  if (fixture->reply)
    zmq_send (socket, "r", 1, ZMQ_DONTWAIT);
  if (fixture->stop)
    g_source_destroy (fixture->source);
  return TRUE;
}

static gboolean
on_writable (void *socket, gpointer user_data)
{
  Fixture *fixture = user_data;

  fixture->writable++;
  iris_client_source_set_wants_write (fixture->source, FALSE);
  return TRUE;
}

static void
turn (Fixture *fixture, gboolean may_block)
{
  fixture->in_one_dispatch = 0;
  g_main_context_iteration (NULL, may_block);
}

static void
set_up (Fixture *fixture)
{
  void *context = iris_client_zmq_ref ();
  int no_limit = 0;

  *fixture = (Fixture){ 0 };
  fixture->near = zmq_socket (context, ZMQ_PAIR);
  fixture->far = zmq_socket (context, ZMQ_PAIR);
  zmq_setsockopt (fixture->near, ZMQ_RCVHWM, &no_limit, sizeof no_limit);
  zmq_setsockopt (fixture->far, ZMQ_SNDHWM, &no_limit, sizeof no_limit);
  zmq_bind (fixture->near, "inproc://test-client-source");
  zmq_connect (fixture->far, "inproc://test-client-source");
  fixture->source = iris_client_source_new (fixture->near, on_readable, on_writable, fixture);
  g_source_attach (fixture->source, NULL);
}

static void
tear_down (Fixture *fixture)
{
  g_source_destroy (fixture->source);
  g_source_unref (fixture->source);
  zmq_close (fixture->near);
  zmq_close (fixture->far);
  iris_client_zmq_unref ();
}

static void
send_many (Fixture *fixture, guint n)
{
  for (guint i = 0; i < n; i++)
    ck_assert_int_eq (zmq_send (fixture->far, "x", 1, ZMQ_DONTWAIT), 1);
}

TEST (every_message_of_a_burst_is_handled)
{
  Fixture fixture;

  set_up (&fixture);
  send_many (&fixture, N_MESSAGES);
  while (fixture.received < N_MESSAGES)
    turn (&fixture, TRUE);
  ck_assert_uint_eq (fixture.received, N_MESSAGES);
  tear_down (&fixture);
}

TEST (an_edge_swallowed_by_a_send_is_found_again)
{
  Fixture fixture;

  set_up (&fixture);
  for (guint i = 0; i < N_MESSAGES; i++)
    {
      int events;
      size_t size = sizeof events;

      send_many (&fixture, 1);
      /* Both of these read the mailbox that the descriptor stands for, and leave it unreadable. */
      zmq_send (fixture.near, "y", 1, ZMQ_DONTWAIT);
      zmq_getsockopt (fixture.near, ZMQ_EVENTS, &events, &size);
      ck_assert_int_ne (events & ZMQ_POLLIN, 0);
      while (fixture.received <= i)
        turn (&fixture, TRUE);
    }
  ck_assert_uint_eq (fixture.received, N_MESSAGES);
  tear_down (&fixture);
}

TEST (replies_sent_while_reading_lose_nothing)
{
  Fixture fixture;

  set_up (&fixture);
  fixture.reply = TRUE;
  send_many (&fixture, N_MESSAGES);
  while (fixture.received < N_MESSAGES)
    turn (&fixture, TRUE);
  ck_assert_uint_eq (fixture.received, N_MESSAGES);
  tear_down (&fixture);
}

TEST (one_dispatch_takes_a_bounded_number)
{
  Fixture fixture;

  set_up (&fixture);
  send_many (&fixture, N_MESSAGES);
  while (fixture.received < N_MESSAGES)
    turn (&fixture, TRUE);
  ck_assert_uint_eq (fixture.most_in_one_dispatch, IRIS_CLIENT_SOURCE_BUDGET);
  tear_down (&fixture);
}

TEST (a_source_destroyed_while_reading_reads_no_more)
{
  Fixture fixture;

  set_up (&fixture);
  fixture.stop = TRUE;
  send_many (&fixture, 10);
  while (fixture.received == 0)
    turn (&fixture, TRUE);
  turn (&fixture, FALSE);
  ck_assert_uint_eq (fixture.received, 1);
  tear_down (&fixture);
}

TEST (nothing_to_read_does_not_wake_the_loop)
{
  Fixture fixture;

  set_up (&fixture);
  send_many (&fixture, 1);
  while (fixture.received == 0)
    turn (&fixture, TRUE);
  /* What is left of the edge may cost a turn, but not one for ever. */
  for (guint i = 0; i < 4 && g_main_context_iteration (NULL, FALSE); i++)
    ;
  ck_assert (!g_main_context_pending (NULL));
  ck_assert_uint_eq (fixture.writable, 0);
  tear_down (&fixture);
}

TEST (writing_is_told_only_when_wanted)
{
  Fixture fixture;

  set_up (&fixture);
  iris_client_source_set_wants_write (fixture.source, TRUE);
  while (fixture.writable == 0)
    turn (&fixture, TRUE);
  turn (&fixture, FALSE);
  turn (&fixture, FALSE);
  ck_assert_uint_eq (fixture.writable, 1);
  tear_down (&fixture);
}

TEST_MAIN ("client-source", NULL, NULL)
