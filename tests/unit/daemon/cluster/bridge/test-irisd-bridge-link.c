/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * The bridge's connection to irisd, with a ROUTER socket in the place of irisd.
 */
#include "core-test-run.h"
#include "daemon/cluster/bridge/irisd-bridge-link.h"

#include <string.h>
#include <zmq.h>

#define GIVE_UP_US (60 * G_USEC_PER_SEC)

typedef struct
{
  void *zmq;
  void *router;
  char *endpoint;
  GMainContext *context;
  IrisdBridgeLink *link;
  guint8 peer[64];
  int peer_size;
  IrisWireType type; /* of what irisd was sent last */
  guint n_pings;
  guint n_up;
  guint n_down;
  guint n_messages;
  guint n_drained;
} Fixture;

static void
on_up (const IrisWireMessage *welcome, gpointer data)
{
  ((Fixture *) data)->n_up++;
}

static void
on_message (const IrisWireMessage *message, gpointer data)
{
  ck_assert_int_eq (message->type, IRIS_WIRE_ACCEPTED);
  ((Fixture *) data)->n_messages++;
}

static void
on_down (const char *why, gpointer data)
{
  ((Fixture *) data)->n_down++;
}

static void
on_drained (gpointer data)
{
  ((Fixture *) data)->n_drained++;
}

static const IrisdBridgeLinkFuncs funcs = { on_up, on_message, on_down, on_drained };

/* Takes what irisd was sent, if there is something. */
static gboolean
take (Fixture *self)
{
  guint8 bytes[256];
  int more = 1;
  size_t size = sizeof more;
  int n = zmq_recv (self->router, self->peer, sizeof self->peer, ZMQ_DONTWAIT);

  if (n < 0)
    return FALSE;
  self->peer_size = n;
  for (guint i = 0; more != 0; i++)
    {
      n = zmq_recv (self->router, bytes, sizeof bytes, 0);
      /* In five frames the type is the second, in two it is in the first. */
      if (i == 0 && n > 5)
        self->type = bytes[4];
      else if (i == 1 && n == 1)
        self->type = bytes[0];
      zmq_getsockopt (self->router, ZMQ_RCVMORE, &more, &size);
    }
  if (self->type == IRIS_WIRE_PING)
    self->n_pings++;
  return TRUE;
}

static void
answer (Fixture *self, const IrisWireMessage *message)
{
  g_auto (IrisWireEncoder) encoder;

  iris_wire_encoder_init (&encoder, NULL);
  ck_assert (iris_wire_encode (&encoder, message, NULL));
  zmq_send (self->router, self->peer, (size_t) self->peer_size, ZMQ_SNDMORE);
  for (guint i = 0; i < IRIS_WIRE_N_FRAMES; i++)
    zmq_send (self->router, encoder.frames[i].data, encoder.frames[i].size,
              i + 1 < IRIS_WIRE_N_FRAMES ? ZMQ_SNDMORE : 0);
}

static void
answer_type (Fixture *self, IrisWireType type)
{
  IrisWireMessage message;

  iris_wire_message_init (&message, type, NULL);
  if (type == IRIS_WIRE_WELCOME)
    {
      iris_wire_message_set_uint (&message, IRIS_WIRE_KEY_VERSION_MIN, 1);
      iris_wire_message_set_uint (&message, IRIS_WIRE_KEY_VERSION_MAX, 1);
      iris_wire_message_set_uint (&message, IRIS_WIRE_KEY_FEATURES, IRIS_WIRE_FEATURE_TWO_FRAMES);
      iris_wire_message_set_uint (&message, IRIS_WIRE_KEY_CREDITS, 8);
      iris_wire_message_set_uint (&message, IRIS_WIRE_KEY_BYTE_CREDITS, 1024);
      iris_wire_message_set_uint (&message, IRIS_WIRE_KEY_MAX_BODY, 1024);
      iris_wire_message_set_int (&message, IRIS_WIRE_KEY_SOCKET_PLACE, -1);
    }
  else if (type == IRIS_WIRE_ACCEPTED)
    iris_wire_message_set_uint (&message, IRIS_WIRE_KEY_COUNT, 1);
  else if (type == IRIS_WIRE_ERROR_REPLY)
    {
      iris_wire_message_set_uint (&message, IRIS_WIRE_KEY_CODE, IRIS_WIRE_ERROR_HELLO_REQUIRED);
      iris_wire_message_set_string (&message, IRIS_WIRE_KEY_ERROR_NAME, "hello-required", -1);
      iris_wire_message_set_string (&message, IRIS_WIRE_KEY_MESSAGE, "say HELLO", -1);
    }
  answer (self, &message);
}

static gboolean
keep_turning (gpointer data)
{
  return G_SOURCE_CONTINUE;
}

/* Runs the loop until @count has that value; irisd answers HELLO and, if it @lives, PING. */
static void
run_until (Fixture *self, const guint *count, guint value, gboolean lives)
{
  gint64 until = g_get_monotonic_time () + GIVE_UP_US;
  GSource *turns = g_timeout_source_new (1);

  g_source_set_callback (turns, keep_turning, NULL, NULL);
  g_source_attach (turns, self->context);
  while (*count < value)
    {
      ck_assert_int_lt (g_get_monotonic_time (), until);
      if (take (self) && (self->type == IRIS_WIRE_HELLO || (lives && self->type == IRIS_WIRE_PING)))
        answer_type (self, self->type == IRIS_WIRE_HELLO ? IRIS_WIRE_WELCOME : IRIS_WIRE_PONG);
      g_main_context_iteration (self->context, TRUE);
    }
  g_source_destroy (turns);
  g_source_unref (turns);
}

static void
fixture_init (Fixture *self)
{
  char endpoint[128];
  size_t size = sizeof endpoint;
  int zero = 0;

  memset (self, 0, sizeof *self);
  self->zmq = zmq_ctx_new ();
  self->router = zmq_socket (self->zmq, ZMQ_ROUTER);
  zmq_setsockopt (self->router, ZMQ_SNDHWM, &zero, sizeof zero);
  ck_assert_int_eq (zmq_bind (self->router, "ipc://*"), 0);
  zmq_getsockopt (self->router, ZMQ_LAST_ENDPOINT, endpoint, &size);
  self->context = g_main_context_new ();
  self->link = irisd_bridge_link_new (self->zmq, self->context, endpoint, NULL, "test", 0, &funcs,
                                      self);
}

static void
fixture_clear (Fixture *self)
{
  int zero = 0;

  irisd_bridge_link_free (self->link);
  zmq_setsockopt (self->router, ZMQ_LINGER, &zero, sizeof zero);
  zmq_close (self->router);
  zmq_ctx_term (self->zmq);
  g_main_context_unref (self->context);
}

TEST (a_link_says_hello_and_hands_messages_over)
{
  Fixture fixture;

  fixture_init (&fixture);
  ck_assert (!irisd_bridge_link_is_up (fixture.link));
  run_until (&fixture, &fixture.n_up, 1, TRUE);
  ck_assert (irisd_bridge_link_is_up (fixture.link));
  for (guint i = 0; i < 2000; i++)
    answer_type (&fixture, IRIS_WIRE_ACCEPTED);
  run_until (&fixture, &fixture.n_messages, 2000, TRUE);
  ck_assert_uint_gt (fixture.n_drained, 0);
  fixture_clear (&fixture);
}

/* What comes while it rests is read together, not before, and not lost. */
TEST (a_link_that_rests_reads_nothing_until_its_time)
{
  Fixture fixture;
  const gint64 until = g_get_monotonic_time () + G_USEC_PER_SEC / 5;

  fixture_init (&fixture);
  run_until (&fixture, &fixture.n_up, 1, TRUE);
  const guint n_drained = fixture.n_drained;
  irisd_bridge_link_rest (fixture.link, until);
  for (guint i = 0; i < 100; i++)
    answer_type (&fixture, IRIS_WIRE_ACCEPTED);
  run_until (&fixture, &fixture.n_messages, 1, TRUE);
  ck_assert_int_ge (g_get_monotonic_time (), until);
  run_until (&fixture, &fixture.n_messages, 100, TRUE);
  ck_assert_uint_gt (fixture.n_drained, n_drained);
  answer_type (&fixture, IRIS_WIRE_ACCEPTED);
  run_until (&fixture, &fixture.n_messages, 101, TRUE);
  fixture_clear (&fixture);
}

TEST (a_link_that_is_not_up_does_not_rest)
{
  Fixture fixture;

  fixture_init (&fixture);
  irisd_bridge_link_rest (fixture.link, G_MAXINT64);
  run_until (&fixture, &fixture.n_up, 1, TRUE);
  fixture_clear (&fixture);
}

TEST (a_connection_that_is_made_anew_does_not_rest)
{
  Fixture fixture;

  fixture_init (&fixture);
  run_until (&fixture, &fixture.n_up, 1, TRUE);
  irisd_bridge_link_set_silence (fixture.link, 300);
  irisd_bridge_link_rest (fixture.link, G_MAXINT64);
  run_until (&fixture, &fixture.n_down, 1, FALSE);
  run_until (&fixture, &fixture.n_up, 2, TRUE);
  fixture_clear (&fixture);
}

TEST (a_silent_link_asks_whether_irisd_lives)
{
  Fixture fixture;

  fixture_init (&fixture);
  run_until (&fixture, &fixture.n_up, 1, TRUE);
  irisd_bridge_link_set_silence (fixture.link, 300);
  run_until (&fixture, &fixture.n_pings, 3, TRUE);
  ck_assert_uint_eq (fixture.n_down, 0);
  fixture_clear (&fixture);
}

TEST (an_irisd_that_does_not_answer_is_connected_to_anew)
{
  Fixture fixture;

  fixture_init (&fixture);
  run_until (&fixture, &fixture.n_up, 1, TRUE);
  irisd_bridge_link_set_silence (fixture.link, 300);
  run_until (&fixture, &fixture.n_down, 1, FALSE);
  run_until (&fixture, &fixture.n_up, 2, TRUE);
  fixture_clear (&fixture);
}

TEST (an_irisd_that_has_forgotten_the_connection_hears_hello_again)
{
  Fixture fixture;

  fixture_init (&fixture);
  run_until (&fixture, &fixture.n_up, 1, TRUE);
  answer_type (&fixture, IRIS_WIRE_ERROR_REPLY);
  run_until (&fixture, &fixture.n_down, 1, TRUE);
  run_until (&fixture, &fixture.n_up, 2, TRUE);
  fixture_clear (&fixture);
}

TEST (nothing_is_sent_before_irisd_has_answered)
{
  Fixture fixture;
  IrisWireMessage status;

  fixture_init (&fixture);
  iris_wire_message_init (&status, IRIS_WIRE_STATUS, NULL);
  ck_assert (!irisd_bridge_link_send (fixture.link, &status));
  run_until (&fixture, &fixture.n_up, 1, TRUE);
  ck_assert (irisd_bridge_link_send (fixture.link, &status));
  while (fixture.type != IRIS_WIRE_STATUS)
    take (&fixture);
  fixture_clear (&fixture);
}

TEST_MAIN ("irisd-bridge-link", NULL, NULL)
