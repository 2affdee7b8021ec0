/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * Requests about items of other nodes, at their limits: what is one too many, or too large, is
 * answered at once, and what was there before goes on.
 *
 * The engine and the connection to irisd are doubles, which only note what they get.
 */
#include "core-test-run.h"
#include "every-order.h"
#include "daemon/cluster/bridge/irisd-asks.h"

#include <string.h>

static const char key[] = "a secret of the cluster for tests";

/* Of irisd-asks.c. */
#define MOST_OUT  16384
#define MOST_IN   4096
#define MOST_SEEN 65536

static IrisdClusterSecret *secret;
static IrisdBridgeShared shared;
static IrisdAsks *asks;

/* The engine. */
static IrisdEngineReceiveFunc receive;
static gpointer receive_data;
static GPtrArray *asked; /* of gpointer: the user data of those without an answer */
static IrisdEngineMessageFunc asked_func;
static gsize max_payload;
static guint n_sent;
static GBytes *sent; /* the last */

/* The connection to irisd. */
static const IrisdBridgeLinkFuncs *link_funcs;
static gpointer link_data;
static guint n_passed;
static guint8 last_id[IRIS_WIRE_ID_SIZE]; /* of what was passed last */
static guint64 next_id;

/* What irisd was answered. */
static guint n_answers;
static guint8 answer_type;

IrisdEngineSubscription *
irisd_engine_subscribe (IrisdEngine *self,
                        const char *subject,
                        IrisdEngineReceiveFunc callback,
                        gpointer user_data)
{
  REQUIRE (strcmp (subject, "iris.n.n1.ask") == 0);
  receive = callback;
  receive_data = user_data;
  return (IrisdEngineSubscription *) &receive;
}

void
irisd_engine_unsubscribe (IrisdEngineSubscription *subscription)
{
  receive = NULL;
}

void
irisd_engine_ask (IrisdEngine *self,
                  const char *subject,
                  const IrisdEngineHeader *headers,
                  guint n_headers,
                  gconstpointer data,
                  gsize length,
                  guint timeout_ms,
                  IrisdEngineMessageFunc callback,
                  gpointer user_data)
{
  asked_func = callback;
  g_ptr_array_add (asked, user_data);
}

gboolean
irisd_engine_send (IrisdEngine *self,
                   const char *subject,
                   const char *reply,
                   const IrisdEngineHeader *headers,
                   guint n_headers,
                   gconstpointer data,
                   gsize length)
{
  n_sent++;
  g_clear_pointer (&sent, g_bytes_unref);
  sent = g_bytes_new (data, length);
  return TRUE;
}

gsize
irisd_engine_get_max_payload (IrisdEngine *self)
{
  return max_payload;
}

IrisdBridgeLink *
irisd_bridge_link_new (void *zmq,
                       GMainContext *context,
                       const char *endpoint,
                       const char *token,
                       const char *name,
                       guint64 features,
                       const IrisdBridgeLinkFuncs *funcs,
                       gpointer user_data)
{
  link_funcs = funcs;
  link_data = user_data;
  return (IrisdBridgeLink *) &link_funcs;
}

void
irisd_bridge_link_free (IrisdBridgeLink *self)
{
}

void
irisd_bridge_link_say_bye (IrisdBridgeLink *self)
{
}

gboolean
irisd_bridge_link_is_up (const IrisdBridgeLink *self)
{
  return TRUE;
}

void
irisd_bridge_link_new_id (IrisdBridgeLink *self, guint8 *id)
{
  next_id++;
  memset (id, 0, IRIS_WIRE_ID_SIZE);
  memcpy (id, &next_id, sizeof next_id);
}

gboolean
irisd_bridge_link_send (IrisdBridgeLink *self, const IrisWireMessage *message)
{
  n_passed++;
  memcpy (last_id, message->request_id, sizeof last_id);
  return TRUE;
}

static gboolean
take_answer (const IrisWireMessage *answer, gpointer user_data)
{
  n_answers++;
  answer_type = (guint8) answer->asked;
  return TRUE;
}

static void
set_up (void)
{
  secret = irisd_cluster_secret_new (key, strlen (key), NULL);
  shared.context = g_main_context_new ();
  shared.node = (char *) "n1";
  shared.secret = secret;
  asked = g_ptr_array_new ();
  max_payload = 1 << 20;
  n_sent = n_passed = n_answers = 0;
  asks = irisd_asks_new (&shared, take_answer, NULL);
  irisd_asks_set_answering (asks, TRUE);
}

static void
tear_down (void)
{
  GError *error = g_error_new_literal (IRISD_ENGINE_ERROR, IRISD_ENGINE_ERROR_DISCONNECTED, "end");
  irisd_asks_stop (asks);
  while (asked->len > 0)
    asked_func (NULL, NULL, error, g_ptr_array_steal_index_fast (asked, 0));
  g_clear_pointer (&asks, irisd_asks_free);
  g_error_free (error);
  g_clear_pointer (&sent, g_bytes_unref);
  g_ptr_array_unref (asked);
  irisd_cluster_secret_free (secret);
  g_main_context_unref (shared.context);
}

/* A request of this irisd about an item of n2. */
static void
take_ask (void)
{
  g_auto (IrisWireEncoder) encoder;
  IrisWireMessage show, ask;
  iris_wire_encoder_init (&encoder, NULL);
  iris_wire_message_init (&show, IRIS_WIRE_SHOW, NULL);
  iris_wire_message_set_uint (&show, IRIS_WIRE_KEY_ITEM, 7);
  REQUIRE (iris_wire_encode (&encoder, &show, NULL));
  iris_wire_message_init (&ask, IRIS_WIRE_ASK, NULL);
  irisd_bridge_link_new_id (NULL, ask.request_id);
  iris_wire_message_set_string (&ask, IRIS_WIRE_KEY_NODE, "n2", -1);
  iris_wire_message_set_uint (&ask, IRIS_WIRE_KEY_FOR_OWNER, 1000);
  iris_wire_message_set_uint (&ask, IRIS_WIRE_KEY_TYPE, IRIS_WIRE_SHOW);
  iris_wire_message_set_string (&ask, IRIS_WIRE_KEY_HEADER, (const char *) encoder.frames[3].data,
                                (gssize) encoder.frames[3].size);
  irisd_asks_take (asks, &ask);
}

/* Another node asks. */
static void
deliver (IrisWireType type)
{
  static guint64 number;
  g_auto (IrisWireEncoder) encoder;
  IrisWireMessage request;
  gsize size;
  IrisdWorkMessage message = {
    .kind = IRISD_WORK_MESSAGE_ASK,
    .type = (guint8) type,
    .owner = 1000,
    .made_ms = g_get_real_time () / 1000,
    .home = { "n2", 2 },
    .node = { "n1", 2 },
  };
  number++;
  memcpy (message.item, &number, sizeof number);
  iris_wire_encoder_init (&encoder, NULL);
  iris_wire_message_init (&request, type == IRIS_WIRE_SUBMIT ? IRIS_WIRE_SHOW : type, NULL);
  iris_wire_message_set_uint (&request, IRIS_WIRE_KEY_ITEM, 7);
  REQUIRE (iris_wire_encode (&encoder, &request, NULL));
  message.header = encoder.frames[3];
  g_autofree guint8 *data = irisd_work_message_encode (&message, secret, &size, NULL);
  receive (NULL,
           &(IrisdEngineMessage){
               .subject = "iris.n.n1.ask", .reply = "_INBOX.x", .data = data, .length = size },
           receive_data);
}

/* irisd answers what was passed to it last. */
static void
answer (gsize body_size)
{
  g_autofree char *body = g_malloc0 (body_size + 1);
  IrisWireMessage reply;
  iris_wire_message_init (&reply, IRIS_WIRE_SHOW_REPLY, last_id);
  iris_wire_message_set_body (&reply, body, body_size);
  link_funcs->message (&reply, link_data);
}

/* Reads the last message to the other node, which is an answer. */
static void
read_sent (IrisWireMessage *opened)
{
  IrisdWorkMessage message;
  gsize size;
  gconstpointer data = g_bytes_get_data (sent, &size);
  REQUIRE (irisd_work_message_decode (&message, data, size, secret, NULL));
  REQUIRE (message.kind == IRISD_WORK_MESSAGE_ANSWER);
  REQUIRE (irisd_work_message_open (&message, opened, NULL));
}

static void
require_busy (void)
{
  IrisWireMessage opened;
  read_sent (&opened);
  REQUIRE (opened.type == IRIS_WIRE_BUSY);
  REQUIRE (opened.retry_after_ms > 0);
}

TEST (a_request_of_this_irisd_beyond_the_most_is_busy)
{
  for (guint i = 0; i < MOST_OUT; i++)
    take_ask ();
  REQUIRE (asked->len == MOST_OUT && n_answers == 0);
  take_ask ();
  REQUIRE (asked->len == MOST_OUT);
  REQUIRE (n_answers == 1 && answer_type == IRIS_WIRE_BUSY);
  /* One that is answered makes room. */
  g_autoptr (GError)
      error = g_error_new_literal (IRISD_ENGINE_ERROR, IRISD_ENGINE_ERROR_TIMEOUT, "no answer");
  asked_func (NULL, NULL, error, g_ptr_array_steal_index_fast (asked, 0));
  REQUIRE (n_answers == 2 && answer_type == IRIS_WIRE_ERROR_REPLY);
  take_ask ();
  REQUIRE (asked->len == MOST_OUT && n_answers == 2);
}

TEST (a_request_of_another_node_beyond_the_most_is_busy)
{
  for (guint i = 0; i < MOST_IN; i++)
    deliver (IRIS_WIRE_SHOW);
  REQUIRE (n_passed == MOST_IN && n_sent == 0);
  deliver (IRIS_WIRE_SHOW);
  REQUIRE (n_passed == MOST_IN && n_sent == 1);
  require_busy ();
  answer (0);
  REQUIRE (n_sent == 2);
  deliver (IRIS_WIRE_SHOW);
  REQUIRE (n_passed == MOST_IN + 1 && n_sent == 2);
}

TEST (more_changes_than_are_remembered_are_busy)
{
  for (guint i = 0; i < MOST_SEEN; i++)
    {
      deliver (IRIS_WIRE_CANCEL);
      answer (0);
    }
  REQUIRE (n_passed == MOST_SEEN);
  deliver (IRIS_WIRE_CANCEL);
  REQUIRE (n_passed == MOST_SEEN);
  require_busy ();
}

/* Of a later irisd. It is told at once, and nothing is done. */
TEST (a_request_that_is_not_known_is_answered)
{
  IrisWireMessage opened;
  deliver (IRIS_WIRE_SUBMIT);
  REQUIRE (n_passed == 0 && n_sent == 1);
  read_sent (&opened);
  REQUIRE (opened.type == IRIS_WIRE_ERROR_REPLY);
  REQUIRE (opened.code == IRIS_WIRE_ERROR_NODE_AWAY);
}

TEST (an_answer_that_is_too_large_for_the_cluster_says_so)
{
  IrisWireMessage opened;
  deliver (IRIS_WIRE_SHOW);
  answer (max_payload / 2);
  read_sent (&opened);
  REQUIRE (opened.type == IRIS_WIRE_SHOW_REPLY && opened.body.size == max_payload / 2);
  deliver (IRIS_WIRE_SHOW);
  answer (max_payload);
  read_sent (&opened);
  REQUIRE (opened.type == IRIS_WIRE_ERROR_REPLY);
  REQUIRE (opened.code == IRIS_WIRE_ERROR_TOO_LARGE);
}

TEST_MAIN ("irisd-asks", set_up, tear_down)
