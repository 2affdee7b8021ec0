/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * Items of this node that are in the cluster: what is published, which ends are believed, and how
 * much is asked at once.
 *
 * The engine, the connection to irisd and the time are doubles. The stream of ends is a table.
 */
#include "core-test-run.h"
#include "every-order.h"
#include "daemon/cluster/bridge/irisd-away.h"

#include <string.h>

static const char key[] = "a secret of the cluster for tests";

static IrisdClusterSecret *secret;
static IrisdBridgeShared shared;
static IrisdAway *away;

/* The engine. */
typedef struct
{
  char *subject;
  char *id;
  gboolean again;
  IrisdPublishFunc callback;
  gpointer user_data;
} Published;

typedef struct
{
  char *subject;
  IrisdEngineMessageFunc callback;
  gpointer user_data;
} Looked;

typedef struct
{
  IrisdEngineReplyFunc callback;
  gpointer user_data;
} Requested;

static GPtrArray *published; /* of Published: those without an answer */
static GPtrArray *looked;    /* of Looked, likewise */
static GPtrArray *requested; /* of Requested, likewise */
static IrisdEngineState state;

/* The connection to irisd. */
static const IrisdBridgeLinkFuncs *link_funcs;
static gpointer link_data;
static guint64 next_id;
static guint n_done, n_failed;
static char *failure; /* of the last FAIL */

static void
published_free (gpointer data)
{
  Published *self = data;
  g_free (self->subject);
  g_free (self->id);
  g_free (self);
}

static void
looked_free (gpointer data)
{
  Looked *self = data;
  g_free (self->subject);
  g_free (self);
}

void
irisd_engine_publish (IrisdEngine *self,
                      const IrisdEnginePublication *publication,
                      IrisdPublishFunc callback,
                      gpointer user_data)
{
  Published *one = g_new0 (Published, 1);
  one->subject = g_strdup (publication->subject);
  one->id = g_strdup (publication->message_id);
  for (guint i = 0; i < publication->n_headers; i++)
    one->again = one->again
                 || strcmp (publication->headers[i].name, IRISD_BRIDGE_AGAIN_HEADER) == 0;
  one->callback = callback;
  one->user_data = user_data;
  g_ptr_array_add (published, one);
}

void
irisd_engine_get_last (IrisdEngine *self,
                       const char *stream,
                       const char *subject,
                       IrisdEngineMessageFunc callback,
                       gpointer user_data)
{
  Looked *one = g_new0 (Looked, 1);
  one->subject = g_strdup (subject);
  one->callback = callback;
  one->user_data = user_data;
  g_ptr_array_add (looked, one);
}

void
irisd_engine_request (IrisdEngine *self,
                      const char *subject,
                      const char *json,
                      guint timeout_ms,
                      IrisdEngineReplyFunc callback,
                      gpointer user_data)
{
  Requested *one = g_new (Requested, 1);
  one->callback = callback;
  one->user_data = user_data;
  g_ptr_array_add (requested, one);
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
  return TRUE;
}

IrisdEngineSubscription *
irisd_engine_subscribe (IrisdEngine *self,
                        const char *subject,
                        IrisdEngineReceiveFunc callback,
                        gpointer user_data)
{
  return (IrisdEngineSubscription *) &state;
}

void
irisd_engine_unsubscribe (IrisdEngineSubscription *subscription)
{
}

IrisdEngineState
irisd_engine_get_state (IrisdEngine *self)
{
  return state;
}

const char *
irisd_engine_get_last_error (IrisdEngine *self)
{
  return NULL;
}

IrisdEngineTrouble
irisd_engine_get_trouble (IrisdEngine *self)
{
  return IRISD_ENGINE_TROUBLE_NONE;
}

const char *
irisd_engine_message_get_header (const IrisdEngineMessage *message, const char *name)
{
  return NULL;
}

gsize
irisd_engine_get_max_payload (IrisdEngine *self)
{
  return 1 << 20;
}

IrisdObjectTransfer *
irisd_object_store_put (IrisdObjectStore *self,
                        const char *owner,
                        const char *name,
                        IrisdObjectShare share,
                        GBytes *body,
                        IrisdObjectPutFunc callback,
                        gpointer user_data)
{
  g_assert_not_reached ();
}

IrisdObjectTransfer *
irisd_object_store_get (IrisdObjectStore *self,
                        const char *owner,
                        const IrisdObjectReference *reference,
                        IrisdObjectGetFunc callback,
                        gpointer user_data)
{
  g_assert_not_reached ();
}

void
irisd_object_transfer_cancel (IrisdObjectTransfer *self)
{
}

void
irisd_object_store_remove (IrisdObjectStore *self, const char *owner, const char *nuid)
{
}

void
irisd_object_store_remove_name (IrisdObjectStore *self, const char *name)
{
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

void
irisd_bridge_link_set_silence (IrisdBridgeLink *self, guint64 silence_ms)
{
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
  n_done += message->type == IRIS_WIRE_DONE;
  n_failed += message->type == IRIS_WIRE_FAIL;
  if (message->type == IRIS_WIRE_FAIL)
    {
      g_free (failure);
      failure = iris_wire_string_dup (&message->message);
    }
  return TRUE;
}

static void
ask (const IrisWireMessage *message, gpointer user_data)
{
}

static void
catch_up (gpointer user_data)
{
}

static void
set_up (void)
{
  secret = irisd_cluster_secret_new (key, strlen (key), NULL);
  shared.context = g_main_context_new ();
  shared.node = (char *) "n1";
  shared.secret = secret;
  shared.work_stream = (char *) "IRIS";
  shared.ends_stream = (char *) "IRIS_ENDS";
  shared.later_stream = (char *) "IRIS_LATER";
  shared.end_subject = (char *) "iris.n.n1.end";
  shared.lease_us = 60 * G_USEC_PER_SEC;
  published = g_ptr_array_new_with_free_func (published_free);
  looked = g_ptr_array_new_with_free_func (looked_free);
  requested = g_ptr_array_new_with_free_func (g_free);
  state = IRISD_ENGINE_CONNECTED;
  n_done = n_failed = 0;
  away = irisd_away_new (&shared, 100000, ask, catch_up, NULL);
}

/* What was asked is answered as by an engine that ends. */
static void
fail_all (void)
{
  g_autoptr (GError)
      error = g_error_new_literal (IRISD_ENGINE_ERROR, IRISD_ENGINE_ERROR_DISCONNECTED, "end");
  const IrisdPublishResult result = { .status = IRISD_PUBLISH_NO_QUORUM, .text = "end" };
  for (guint n = published->len; n > 0; n--)
    {
      Published *one = g_ptr_array_steal_index (published, 0);
      one->callback (NULL, &result, one->user_data);
      published_free (one);
    }
  for (guint n = looked->len; n > 0; n--)
    {
      Looked *one = g_ptr_array_steal_index (looked, 0);
      one->callback (NULL, NULL, error, one->user_data);
      looked_free (one);
    }
  for (guint n = requested->len; n > 0; n--)
    {
      Requested *one = g_ptr_array_steal_index (requested, 0);
      one->callback (NULL, NULL, error, one->user_data);
      g_free (one);
    }
}

static void
tear_down (void)
{
  irisd_away_stop (away);
  fail_all ();
  g_clear_pointer (&away, irisd_away_free);
  g_ptr_array_unref (published);
  g_ptr_array_unref (looked);
  g_ptr_array_unref (requested);
  g_clear_pointer (&failure, g_free);
  irisd_cluster_secret_free (secret);
  g_main_context_unref (shared.context);
}

/* --- what happens ----------------------------------------------------------------------------- */

static void
make_id (guint number, guint8 *id)
{
  memset (id, 0xa5, IRIS_WIRE_ID_SIZE);
  memcpy (id, &number, sizeof number);
}

/* irisd leases an item for n2. */
static void
lease (guint number)
{
  g_auto (IrisWireEncoder) encoder;
  IrisWireMessage submit, message;
  guint8 id[IRIS_WIRE_ID_SIZE];
  make_id (number, id);
  iris_wire_encoder_init (&encoder, NULL);
  iris_wire_message_init (&submit, IRIS_WIRE_SUBMIT, NULL);
  iris_wire_message_set_string (&submit, IRIS_WIRE_KEY_SERVICE, "echo", -1);
  iris_wire_message_set_string (&submit, IRIS_WIRE_KEY_NODE, "n2", -1);
  REQUIRE (iris_wire_encode (&encoder, &submit, NULL));
  iris_wire_message_init (&message, IRIS_WIRE_LEASE, NULL);
  irisd_bridge_link_new_id (NULL, message.request_id);
  iris_wire_message_set_cluster_item (&message, id);
  iris_wire_message_set_uint (&message, IRIS_WIRE_KEY_ITEM, number);
  iris_wire_message_set_uint (&message, IRIS_WIRE_KEY_FOR_OWNER, 1000);
  iris_wire_message_set_string (&message, IRIS_WIRE_KEY_HEADER,
                                (const char *) encoder.frames[3].data,
                                (gssize) encoder.frames[3].size);
  link_funcs->message (&message, link_data);
}

/* The stream answers what was published first. */
static void
answer_publication (IrisdPublishStatus status, guint64 sequence)
{
  const IrisdPublishResult result = {
    .status = status,
    .maybe_stored = status == IRISD_PUBLISH_NO_QUORUM,
    .sequence = sequence,
    .text = "no",
  };
  Published *one = g_ptr_array_steal_index (published, 0);
  one->callback (NULL, &result, one->user_data);
  published_free (one);
}

static guint8 *
make_end (guint number, gsize *size)
{
  g_auto (IrisWireEncoder) encoder;
  IrisWireMessage result;
  IrisdWorkMessage end = {
    .kind = IRISD_WORK_MESSAGE_END,
    .type = IRIS_WIRE_RESULT,
    .owner = 1000,
    .tries = 1,
    .home = { "n1", 2 },
    .node = { "n2", 2 },
  };
  make_id (number, end.item);
  iris_wire_encoder_init (&encoder, NULL);
  iris_wire_message_init (&result, IRIS_WIRE_RESULT, end.item);
  REQUIRE (iris_wire_encode (&encoder, &result, NULL));
  end.header = encoder.frames[3];
  return irisd_work_message_encode (&end, secret, size, NULL);
}

/* The stream of ends answers what was looked for first: by @end, or, with NULL, by none. */
static void
answer_look_with (const guint8 *end, gsize size)
{
  const IrisdEngineMessage message = { .subject = "iris.e.n1.x", .data = end, .length = size };
  g_autoptr (GError) error = end == NULL ? g_error_new_literal (IRISD_ENGINE_ERROR,
                                                                IRISD_ENGINE_ERROR_NOT_FOUND, "no")
                                         : NULL;
  Looked *one = g_ptr_array_steal_index (looked, 0);
  one->callback (NULL, end != NULL ? &message : NULL, error, one->user_data);
  looked_free (one);
}

/* By the end of item @number. */
static void
answer_look (guint number)
{
  gsize size;
  g_autofree guint8 *end = make_end (number, &size);
  answer_look_with (end, size);
}

/* The connection to the servers ends and comes back. */
static void
reconnect (void)
{
  state = IRISD_ENGINE_DISCONNECTED;
  irisd_away_follow_engine (away);
  state = IRISD_ENGINE_CONNECTED;
  irisd_away_follow_engine (away);
}

/* Runs the timers until @condition holds. */
#define RUN_UNTIL(condition)                           \
  G_STMT_START                                         \
  {                                                    \
    while (!(condition))                               \
      g_main_context_iteration (shared.context, TRUE); \
  }                                                    \
  G_STMT_END

/* --- tests ------------------------------------------------------------------------------------ */

TEST (an_item_is_told_its_end)
{
  lease (7);
  REQUIRE (published->len == 1 && !((Published *) published->pdata[0])->again);
  answer_publication (IRISD_PUBLISH_DUPLICATE, 3);
  REQUIRE (looked->len == 1);
  answer_look (7);
  REQUIRE (n_done == 1 && n_failed == 0);
}

/* A person with rights at the servers can copy what another item has, but not sign it anew. */
TEST (the_end_of_another_item_is_not_believed)
{
  lease (7);
  answer_publication (IRISD_PUBLISH_DUPLICATE, 3);
  answer_look (8);
  REQUIRE (n_done == 0 && n_failed == 1);
  REQUIRE (strstr (failure, "cannot be read") != NULL);
}

/* Another node is a version ahead, as it may be. The item waits until this one can read its end. */
TEST (an_end_of_a_later_version_is_left_for_a_later_irisd)
{
  gsize size;
  g_autofree guint8 *end = make_end (7, &size);
  end[4] = IRISD_WORK_MESSAGE_VERSION + 1;
  lease (7);
  answer_publication (IRISD_PUBLISH_DUPLICATE, 3);
  answer_look_with (end, size);
  REQUIRE (n_done == 0 && n_failed == 0);
  /* It is looked for again. */
  reconnect ();
  RUN_UNTIL (looked->len == 1);
  answer_look (7);
  REQUIRE (n_done == 1);
}

/* Its message may have been stored, run and ended while this node was cut off for longer than the
 * stream knows ids: the host is to look for an end. */
TEST (what_may_be_stored_already_says_so_when_it_is_published_again)
{
  lease (7);
  answer_publication (IRISD_PUBLISH_NO_QUORUM, 0);
  REQUIRE (published->len == 0);
  reconnect ();
  RUN_UNTIL (published->len == 1);
  REQUIRE (((Published *) published->pdata[0])->again);
  /* One of which the stream has said that it did not take it is as new. */
  lease (8);
  answer_publication (IRISD_PUBLISH_STORED, 4);
  answer_publication (IRISD_PUBLISH_FULL, 0);
  reconnect ();
  RUN_UNTIL (published->len == 1);
  REQUIRE (!((Published *) published->pdata[0])->again);
}

TEST_MAIN ("irisd-away", set_up, tear_down)
