/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * Requests about items of other nodes.
 *
 * A request is a signed message to the subject of the node that it names, as a request of core
 * NATS, and its answer is a signed one that has its id. Each ASK of irisd gets exactly one ANSWER:
 * that of the other irisd, or the error `node-away`, at once when the node has no connection, else
 * when it has been silent for ANSWER_MS.
 *
 * A client may wait for an end for hours, and a node may die meanwhile. So no single request waits
 * longer than SLICE_MS at the other node: it is made again until the client's time is over, and the
 * silence of the other node shows after seconds.
 *
 * At the asked node a message is believed by its signature alone, as that of an item is, and it
 * has to name this node. One that was made long ago is refused, and one that changes items is done
 * once: its id is remembered until its time is over. So bytes that were recorded and are sent again
 * change nothing. What this node knew before it was started is forgotten, so what was made before
 * then changes nothing either.
 *
 * irisd answers the link as it answers any client, and the answer goes back to the node that waits
 * for it. What takes a credit is acknowledged by the link; at the asked node nothing is deleted by
 * that (irisd-item-requests.c).
 */
#include "irisd-asks.h"

#include "daemon/base/irisd-log.h"

#include <string.h>

/* How long a node may take for its answer, beside the time that it was asked to wait. */
#define ANSWER_MS 3000

/* The longest that a request waits at the other node. */
#define SLICE_MS 1500

/* How far the time of a request may be from the own time. */
#define CLOCKS_MS 30000

/* Requests of this irisd that have no answer yet. Its connections have bounds of their own. */
#define MOST_OUT 16384

/* Requests of other nodes that irisd has not answered yet. */
#define MOST_IN 4096

/* Ids that are remembered: a thousand changes a second. */
#define MOST_SEEN 65536

#define BUSY_MS 500

#define K(key) IRIS_WIRE_BIT (IRIS_WIRE_KEY_##key)

/* What the asked node sets itself. */
#define OWNER_KEYS (K (NODE) | K (FOR_OWNER) | K (KEY_NAME))

struct _IrisdAsks
{
  const IrisdBridgeShared *shared;
  IrisdAsksAnswerFunc answer;
  gpointer user_data;
  IrisdBridgeLink *link;
  IrisdEngineSubscription *requests;
  GHashTable *out;   /* set of Out */
  GHashTable *in;    /* request id of the link: In */
  GQueue in_by_time; /* of In */
  GQueue following;  /* of those, the ones that wait for output, by time */
  GSource *timer;    /* of their ends */
  GHashTable *seen;  /* set of Seen, which have their id first */
  GQueue seen_by_time;
  GByteArray *acks;
  gint64 started_ms;
  gboolean stopped;
  gboolean answering; /* else another irisd may have this node's name */
  IrisWireEncoder encoder;
};

/* A request of this irisd. */
typedef struct
{
  IrisdAsks *asks;
  guint8 ask[IRIS_WIRE_ID_SIZE]; /* of irisd's ASK */
  guint8 id[IRIS_WIRE_ID_SIZE];  /* of the latest message */
  char *node;
  guint8 type;
  gboolean all_owners;
  guint64 owner;
  char *key_name; /* or NULL */
  guint8 *header;
  gsize header_size;
  guint64 slice_ms; /* what the latest message waits */
  gint64 until;     /* when the client's waiting is over */
} Out;

/* A request of another node that irisd has. */
typedef struct
{
  guint8 request[IRIS_WIRE_ID_SIZE]; /* of the link; the key in the table */
  guint8 id[IRIS_WIRE_ID_SIZE];
  char *home;
  char *reply;
  gint64 over; /* when the other node waits no longer */
  GList link;
  gboolean follows;
  gint64 slice_over; /* when the other node is told that there was no output */
  GList follow_link;
} In;

typedef struct
{
  guint8 id[IRIS_WIRE_ID_SIZE]; /* the key in the table */
  gint64 over;
} Seen;

static void
out_free (gpointer data)
{
  Out *self = data;

  g_free (self->node);
  g_free (self->key_name);
  g_free (self->header);
  g_free (self);
}

static void
in_free (gpointer data)
{
  In *self = data;

  g_free (self->home);
  g_free (self->reply);
  g_free (self);
}

/* Request ids of the link are numbers, those of messages are random. */
static guint
id_hash (gconstpointer id)
{
  guint32 word;

  memcpy (&word, id, sizeof word);
  return word;
}

static gboolean
id_equal (gconstpointer a, gconstpointer b)
{
  return memcmp (a, b, IRIS_WIRE_ID_SIZE) == 0;
}

static void
make_id (guint8 *id)
{
  for (guint i = 0; i < IRIS_WIRE_ID_SIZE; i += sizeof (guint32))
    {
      guint32 word = g_random_int ();

      memcpy (id + i, &word, sizeof word);
    }
}

static gint64
get_wall_ms (void)
{
  return g_get_real_time () / 1000;
}

static gboolean
is (const IrisWireString *string, const char *text)
{
  return string->len == strlen (text) && memcmp (string->data, text, string->len) == 0;
}

static void
make_error (IrisWireMessage *message, IrisWireError code, const char *text)
{
  iris_wire_message_init (message, IRIS_WIRE_ERROR_REPLY, NULL);
  iris_wire_message_set_uint (message, IRIS_WIRE_KEY_CODE, code);
  iris_wire_message_set_string (message, IRIS_WIRE_KEY_ERROR_NAME, iris_wire_error_name (code), -1);
  iris_wire_message_set_string (message, IRIS_WIRE_KEY_MESSAGE, text, -1);
}

static void
make_busy (IrisWireMessage *message)
{
  iris_wire_message_init (message, IRIS_WIRE_BUSY, NULL);
  iris_wire_message_set_uint (message, IRIS_WIRE_KEY_CODE, IRIS_WIRE_ERROR_BUSY);
  iris_wire_message_set_string (message, IRIS_WIRE_KEY_ERROR_NAME,
                                iris_wire_error_name (IRIS_WIRE_ERROR_BUSY), -1);
  iris_wire_message_set_string (message, IRIS_WIRE_KEY_MESSAGE,
                                "too many requests about other nodes are under way; ask again", -1);
  iris_wire_message_set_uint (message, IRIS_WIRE_KEY_RETRY_AFTER_MS, BUSY_MS);
}

/* --- requests of this irisd ------------------------------------------------------------------- */

static gboolean
send_answer (IrisdAsks *self,
             const guint8 *ask,
             guint8 type,
             const IrisWireFrame *header,
             const IrisWireFrame *body)
{
  IrisWireMessage answer;

  iris_wire_message_init (&answer, IRIS_WIRE_ANSWER, ask);
  iris_wire_message_set_uint (&answer, IRIS_WIRE_KEY_TYPE, type);
  iris_wire_message_set_string (&answer, IRIS_WIRE_KEY_HEADER, (const char *) header->data,
                                (gssize) header->size);
  iris_wire_message_set_body (&answer, body->data, body->size);
  return self->answer (&answer, self->user_data);
}

static void
answer_message (IrisdAsks *self, const guint8 *ask, const IrisWireMessage *message)
{
  g_autoptr (GError) error = NULL;

  /* The message is this file's, and short. The away link's encoder is another one. */
  if (!iris_wire_encode (&self->encoder, message, &error)
      || !send_answer (self, ask, message->type, &self->encoder.frames[3],
                       &self->encoder.frames[4]))
    irisd_log (IRISD_LOG_DEBUG, "irisd does not hear the answer to a request about another node");
}

static void
answer_error (IrisdAsks *self, const guint8 *ask, IrisWireError code, const char *text)
{
  IrisWireMessage message;

  make_error (&message, code, text);
  answer_message (self, ask, &message);
}

static void
fail_out (Out *out, const char *why)
{
  g_autofree char *text = g_strdup_printf ("the node %s cannot be asked: %s", out->node, why);

  answer_error (out->asks, out->ask, IRIS_WIRE_ERROR_NODE_AWAY, text);
  g_hash_table_remove (out->asks->out, out);
}

static const char *
explain (const GError *error)
{
  if (g_error_matches (error, IRISD_ENGINE_ERROR, IRISD_ENGINE_ERROR_NO_RESPONDERS))
    return "it is not connected with the cluster; irisctl nodes tells its state";
  if (g_error_matches (error, IRISD_ENGINE_ERROR, IRISD_ENGINE_ERROR_DISCONNECTED))
    return "this node has no connection with the cluster; see its irisd's log";
  if (g_error_matches (error, IRISD_ENGINE_ERROR, IRISD_ENGINE_ERROR_TIMEOUT))
    return "it did not answer in time, so what was asked may be done or not; look, and ask again";
  if (g_error_matches (error, IRISD_WORK_MESSAGE_ERROR, IRISD_WORK_MESSAGE_ERROR_FORGED))
    return "its answer is not signed with this node's secret; give both the same secret-file";
  if (g_error_matches (error, IRISD_WORK_MESSAGE_ERROR, IRISD_WORK_MESSAGE_ERROR_NEWER))
    return "it has a later irisd; update that of this node";
  return "its answer cannot be read";
}

static gboolean begin_slice (Out *out, GError **error);

/* Whether an item is one of those that a client waits for no longer. */
static gboolean
is_over (const IrisWireFrame *body)
{
  g_autoptr (IrisWirePersistentList) list = iris_wire_persistent_list_decode (*body, NULL, NULL);
  guint state = list != NULL && list->n_items == 1 ? list->items[0].state : IRIS_WIRE_STATE_DONE;

  return state == IRIS_WIRE_STATE_DONE || state == IRIS_WIRE_STATE_FAILED
         || state == IRIS_WIRE_STATE_CANCELLED || state == IRIS_WIRE_STATE_BURIED;
}

/* Whether the other node has only told that its slice is over, and the client waits longer. */
static gboolean
waits_on (const Out *out, const IrisWireMessage *answer)
{
  if (out->slice_ms == 0 || g_get_monotonic_time () >= out->until)
    return FALSE;
  return answer->type == IRIS_WIRE_PENDING
         || (answer->type == IRIS_WIRE_SHOW_REPLY && !answer->payload && !is_over (&answer->body));
}

static gboolean
read_answer (const Out *out,
             const IrisdEngineMessage *message,
             IrisdWorkMessage *answer,
             IrisWireMessage *opened,
             GError **error)
{
  if (!irisd_work_message_decode (answer, message->data, message->length, out->asks->shared->secret,
                                  error)
      || !irisd_work_message_open (answer, opened, error))
    return FALSE;
  if (answer->kind == IRISD_WORK_MESSAGE_ANSWER && id_equal (answer->item, out->id)
      && is (&answer->node, out->node) && is (&answer->home, out->asks->shared->node))
    return TRUE;
  g_set_error_literal (error, IRISD_WORK_MESSAGE_ERROR, IRISD_WORK_MESSAGE_ERROR_FOREIGN,
                       "it is the answer to another request");
  return FALSE;
}

static void
on_reply (IrisdEngine *engine,
          const IrisdEngineMessage *message,
          const GError *error,
          gpointer user_data)
{
  Out *out = user_data;
  IrisdAsks *self = out->asks;
  g_autoptr (GError) own = NULL;
  IrisdWorkMessage answer;
  IrisWireMessage opened;

  if (self->stopped)
    {
      /* The end of the connection to irisd has answered it. */
      g_hash_table_remove (self->out, out);
      return;
    }
  if (message == NULL || !read_answer (out, message, &answer, &opened, &own))
    {
      fail_out (out, explain (own != NULL ? own : error));
      return;
    }
  if (waits_on (out, &opened))
    {
      if (!begin_slice (out, &own))
        fail_out (out, own->message);
      return;
    }
  if (!send_answer (self, out->ask, answer.type, &answer.header, &answer.body))
    answer_error (self, out->ask, IRIS_WIRE_ERROR_TOO_LARGE,
                  "the answer of the other node is larger than irisd takes; ask at that node");
  g_hash_table_remove (self->out, out);
}

/* The request as the other node is to get it now. */
static gboolean
open_request (Out *out, IrisWireMessage *request, GError **error)
{
  const IrisdWorkMessage plain = {
    .kind = IRISD_WORK_MESSAGE_ASK,
    .type = out->type,
    .header = { out->header, out->header_size },
  };

  return irisd_work_message_open (&plain, request, error);
}

/* Sends the request, to wait at the other node for a part of what is left of the client's time. */
static gboolean
begin_slice (Out *out, GError **error)
{
  IrisdAsks *self = out->asks;
  const IrisdBridgeShared *shared = self->shared;
  gint64 left_ms = (out->until - g_get_monotonic_time ()) / 1000;
  g_autofree char *subject = irisd_subject_for_node (out->node, "ask");
  IrisWireMessage request;
  gsize size;
  IrisdWorkMessage message = {
    .kind = IRISD_WORK_MESSAGE_ASK,
    .type = out->type,
    .all_owners = out->all_owners,
    .owner = out->owner,
    .made_ms = get_wall_ms (),
    .home = { shared->node, strlen (shared->node) },
    .node = { out->node, strlen (out->node) },
    .key_name = { out->key_name, out->key_name != NULL ? strlen (out->key_name) : 0 },
  };

  if (!open_request (out, &request, error))
    return FALSE;
  if (iris_wire_message_has (&request, IRIS_WIRE_KEY_WAIT_MS))
    {
      out->slice_ms = (guint64) CLAMP (left_ms, 0, SLICE_MS);
      request.present &= ~K (WAIT_MS);
      if (out->slice_ms > 0)
        iris_wire_message_set_uint (&request, IRIS_WIRE_KEY_WAIT_MS, out->slice_ms);
    }
  if (!iris_wire_encode (&self->encoder, &request, error))
    return FALSE;
  make_id (out->id);
  memcpy (message.item, out->id, sizeof message.item);
  message.header = self->encoder.frames[3];
  g_autofree guint8 *data = irisd_work_message_encode (&message, shared->secret, &size, error);
  if (data == NULL)
    return FALSE;
  irisd_engine_ask (shared->engine, subject, NULL, 0, data, size,
                    (guint) (out->slice_ms + ANSWER_MS), on_reply, out);
  return TRUE;
}

static gint64
read_end_of_wait (Out *out)
{
  IrisWireMessage request;
  gint64 now = g_get_monotonic_time ();

  if (!open_request (out, &request, NULL)
      || !iris_wire_message_has (&request, IRIS_WIRE_KEY_WAIT_MS))
    return now;
  /* A time that is longer than a year is for ever. */
  return now + (gint64) MIN (request.wait_ms, G_GUINT64_CONSTANT (366) * 24 * 3600 * 1000) * 1000;
}

/* @ask is an ASK of irisd. */
void
irisd_asks_take (IrisdAsks *self, const IrisWireMessage *ask)
{
  g_autoptr (GError) error = NULL;
  Out *out;

  if (self->stopped)
    return; /* the connection that it came by is ending */
  if (g_hash_table_size (self->out) >= MOST_OUT)
    {
      IrisWireMessage busy;

      make_busy (&busy);
      answer_message (self, ask->request_id, &busy);
      return;
    }
  out = g_new0 (Out, 1);
  out->asks = self;
  memcpy (out->ask, ask->request_id, sizeof out->ask);
  out->node = iris_wire_string_dup (&ask->node);
  out->type = (guint8) ask->asked;
  out->all_owners = !iris_wire_message_has (ask, IRIS_WIRE_KEY_FOR_OWNER);
  out->owner = out->all_owners ? 0 : ask->for_owner;
  if (iris_wire_message_has (ask, IRIS_WIRE_KEY_KEY_NAME))
    out->key_name = iris_wire_string_dup (&ask->key_name);
  out->header_size = ask->header.len;
  out->header = g_memdup2 (ask->header.data, ask->header.len);
  g_hash_table_add (self->out, out);
  out->until = read_end_of_wait (out);
  if (!irisd_node_name_is_valid (out->node))
    fail_out (out, "no node has such a name");
  else if (!begin_slice (out, &error))
    fail_out (out, error->message);
}

/* --- requests of other nodes ------------------------------------------------------------------ */

static void
send_back (IrisdAsks *self,
           const guint8 *id,
           const IrisWireString *home,
           const char *reply,
           const IrisWireMessage *message)
{
  const IrisdBridgeShared *shared = self->shared;
  g_autoptr (GError) error = NULL;
  gsize size;
  IrisdWorkMessage answer = {
    .kind = IRISD_WORK_MESSAGE_ANSWER,
    .type = message->type,
    .made_ms = get_wall_ms (),
    .home = *home,
    .node = { shared->node, strlen (shared->node) },
  };

  memcpy (answer.item, id, sizeof answer.item);
  if (!iris_wire_encode (&self->encoder, message, &error))
    return; /* it was decoded a moment ago, or is this file's */
  answer.header = self->encoder.frames[3];
  answer.body = self->encoder.frames[4];
  if (!irisd_bridge_fits (shared, irisd_work_message_get_size (&answer)))
    {
      g_autofree char *why = g_strdup_printf (
          "the answer has %" G_GSIZE_FORMAT " bytes, and the cluster takes %" G_GSIZE_FORMAT
          " at most: ask at the node %s, or raise max_payload of the NATS servers",
          message->body.size, irisd_engine_get_max_payload (shared->engine), shared->node);
      IrisWireMessage large;

      make_error (&large, IRIS_WIRE_ERROR_TOO_LARGE, why);
      send_back (self, id, home, reply, &large);
      return;
    }
  g_autofree guint8 *data = irisd_work_message_encode (&answer, shared->secret, &size, &error);
  if (data != NULL)
    irisd_engine_send (shared->engine, reply, NULL, NULL, 0, data, size);
}

static void
refuse (IrisdAsks *self,
        const IrisdWorkMessage *ask,
        const char *reply,
        IrisWireError code,
        const char *text)
{
  IrisWireMessage error;

  make_error (&error, code, text);
  send_back (self, ask->item, &ask->home, reply, &error);
}

static void
refuse_busy (IrisdAsks *self, const IrisdWorkMessage *ask, const char *reply)
{
  IrisWireMessage busy;

  make_busy (&busy);
  send_back (self, ask->item, &ask->home, reply, &busy);
}

static void
stop_following (IrisdAsks *self, In *in)
{
  if (in->follows)
    g_queue_unlink (&self->following, &in->follow_link);
  in->follows = FALSE;
}

/* Has irisd end its answer to a FOLLOW, which it does by FOLLOWED. */
static void
end_follow (IrisdAsks *self, In *in)
{
  IrisWireMessage more;

  stop_following (self, in);
  iris_wire_message_init (&more, IRIS_WIRE_MORE, NULL);
  irisd_bridge_link_new_id (self->link, more.request_id);
  iris_wire_message_set_target (&more, in->request);
  iris_wire_message_set_uint (&more, IRIS_WIRE_KEY_GRANT, 0);
  irisd_bridge_link_send (self->link, &more);
}

/* A FOLLOW waits for output no longer than other requests wait; the other node makes it again. */
static gboolean
on_timer (gpointer data)
{
  IrisdAsks *self = data;
  gint64 now = g_get_monotonic_time ();
  In *in;

  while ((in = g_queue_peek_head (&self->following)) != NULL && now >= in->slice_over)
    end_follow (self, in);
  g_source_set_ready_time (self->timer, in != NULL ? in->slice_over : -1);
  return G_SOURCE_CONTINUE;
}

static gboolean
timer_dispatch (GSource *source, GSourceFunc callback, gpointer user_data)
{
  return callback (user_data);
}

static void
begin_to_follow (IrisdAsks *self, In *in, gint64 now)
{
  in->follows = TRUE;
  in->slice_over = now + (gint64) SLICE_MS * 1000;
  in->follow_link.data = in;
  g_queue_push_tail_link (&self->following, &in->follow_link);
  if (self->following.length == 1)
    g_source_set_ready_time (self->timer, in->slice_over);
}

static void
drop_in (IrisdAsks *self, In *in)
{
  g_queue_unlink (&self->in_by_time, &in->link);
  stop_following (self, in);
  g_hash_table_remove (self->in, in->request);
}

static void
drop_all_in (IrisdAsks *self)
{
  while (!g_queue_is_empty (&self->in_by_time))
    drop_in (self, self->in_by_time.head->data);
}

/* All of a queue live equally long, so the first is over first. */
static void
forget_old (IrisdAsks *self, gint64 now)
{
  In *in;
  Seen *seen;

  while ((in = g_queue_peek_head (&self->in_by_time)) != NULL && now >= in->over)
    drop_in (self, in);
  while ((seen = g_queue_peek_head (&self->seen_by_time)) != NULL && now >= seen->over)
    {
      g_queue_pop_head (&self->seen_by_time);
      g_hash_table_remove (self->seen, seen);
    }
}

static gboolean
changes_items (guint8 type)
{
  return type != IRIS_WIRE_FETCH && type != IRIS_WIRE_LIST && type != IRIS_WIRE_SHOW
         && type != IRIS_WIRE_FOLLOW;
}

/* Remembers a request. FALSE if that was done before. */
static gboolean
note_seen (IrisdAsks *self, const guint8 *id, gint64 now)
{
  Seen *seen;

  if (g_hash_table_contains (self->seen, id))
    return FALSE;
  seen = g_new (Seen, 1);
  memcpy (seen->id, id, sizeof seen->id);
  seen->over = now + (gint64) 2 * CLOCKS_MS * 1000;
  g_hash_table_add (self->seen, seen);
  g_queue_push_tail (&self->seen_by_time, seen);
  return TRUE;
}

/* Whether it was made about now. Answers if not. */
static gboolean
is_timely (IrisdAsks *self, const IrisdWorkMessage *ask, const char *reply)
{
  gint64 late_ms = get_wall_ms () - ask->made_ms;
  g_autofree char *why = NULL;

  if (ABS (late_ms) > CLOCKS_MS)
    why = g_strdup_printf ("the clock of the node %s differs from that of %.*s by more than %d s; "
                           "set both",
                           self->shared->node, (int) ask->home.len, ask->home.data,
                           CLOCKS_MS / 1000);
  else if (changes_items (ask->type) && ask->made_ms < self->started_ms)
    why = g_strdup_printf ("the node %s has just begun; ask again", self->shared->node);
  if (why != NULL)
    refuse (self, ask, reply, IRIS_WIRE_ERROR_NODE_AWAY, why);
  return why == NULL;
}

/* Hands @request to irisd as that of the owner whose items it reaches. */
static void
pass_on (IrisdAsks *self,
         const IrisdWorkMessage *ask,
         IrisWireMessage *request,
         const char *reply,
         gint64 now)
{
  In *in = g_new0 (In, 1);

  request->present &= ~OWNER_KEYS;
  if (!ask->all_owners)
    iris_wire_message_set_uint (request, IRIS_WIRE_KEY_FOR_OWNER, ask->owner);
  if (!ask->all_owners && ask->key_name.len > 0)
    iris_wire_message_set_string (request, IRIS_WIRE_KEY_KEY_NAME, ask->key_name.data,
                                  (gssize) ask->key_name.len);
  irisd_bridge_link_new_id (self->link, request->request_id);
  if (!irisd_bridge_link_send (self->link, request))
    {
      g_free (in);
      refuse (self, ask, reply, IRIS_WIRE_ERROR_NODE_AWAY,
              "the other node's irisd has no connection with its bridge; ask again later");
      return;
    }
  memcpy (in->request, request->request_id, sizeof in->request);
  memcpy (in->id, ask->item, sizeof in->id);
  in->home = iris_wire_string_dup (&ask->home);
  in->reply = g_strdup (reply);
  in->over = now + (gint64) 2 * (SLICE_MS + ANSWER_MS) * 1000;
  in->link.data = in;
  g_hash_table_insert (self->in, in->request, in);
  g_queue_push_tail_link (&self->in_by_time, &in->link);
  if (ask->type == IRIS_WIRE_FOLLOW)
    begin_to_follow (self, in, now);
}

/* A message that is believed. */
static void
take_request (IrisdAsks *self,
              const IrisdWorkMessage *ask,
              IrisWireMessage *request,
              const char *reply)
{
  gint64 now = g_get_monotonic_time ();

  forget_old (self, now);
  if (!is_timely (self, ask, reply))
    return;
  if (!irisd_bridge_link_is_up (self->link))
    refuse (self, ask, reply, IRIS_WIRE_ERROR_NODE_AWAY,
            "the other node's irisd is beginning or ending; ask again later");
  else if (g_hash_table_size (self->in) >= MOST_IN || g_hash_table_size (self->seen) >= MOST_SEEN)
    refuse_busy (self, ask, reply);
  else if (!changes_items (ask->type) || note_seen (self, ask->item, now))
    pass_on (self, ask, request, reply, now);
}

/* Bytes that are not believed. Their sender is told, because one with another secret shall not
 * have to wait; it sees by the signature why. */
static void
distrust (IrisdAsks *self, const char *reply, const GError *error)
{
  static IrisdLogSite site;
  const IrisWireString unnamed = { "-", 1 };
  const guint8 id[IRIS_WIRE_ID_SIZE] = { 0 };
  IrisWireMessage message;

  irisd_log_limited (&site, IRISD_LOG_WARNING,
                     "a request of another node is not believed: %s; see that all nodes have the "
                     "same secret-file",
                     error->message);
  make_error (&message, IRIS_WIRE_ERROR_NODE_AWAY, "the request cannot be read");
  send_back (self, id, &unnamed, reply, &message);
}

static void
on_request (IrisdEngine *engine, const IrisdEngineMessage *message, gpointer user_data)
{
  IrisdAsks *self = user_data;
  g_autoptr (GError) error = NULL;
  IrisdWorkMessage ask;
  IrisWireMessage request;

  if (message->reply == NULL || self->stopped)
    return;
  if (!irisd_work_message_decode (&ask, message->data, message->length, self->shared->secret,
                                  &error)
      || !irisd_work_message_open (&ask, &request, &error))
    distrust (self, message->reply, error);
  else if (self->answering && ask.kind == IRISD_WORK_MESSAGE_ASK
           && is (&ask.node, self->shared->node))
    take_request (self, &ask, &request, message->reply);
}

/* --- the connection to irisd ------------------------------------------------------------------ */

static gboolean
takes_credit (const IrisWireMessage *message)
{
  return message->type == IRIS_WIRE_RESULT
         || (message->type == IRIS_WIRE_ERROR_REPLY && message->ends)
         || (message->type == IRIS_WIRE_SHOW_REPLY && message->payload);
}

static void
on_message (const IrisWireMessage *message, gpointer user_data)
{
  IrisdAsks *self = user_data;
  In *in = g_hash_table_lookup (self->in, message->request_id);

  if (takes_credit (message))
    g_byte_array_append (self->acks, message->request_id, IRIS_WIRE_ID_SIZE);
  if (in == NULL)
    return; /* it came too late */
  const IrisWireString home = { in->home, strlen (in->home) };
  send_back (self, in->id, &home, in->reply, message);
  if (message->type == IRIS_WIRE_OUTPUT)
    end_follow (self, in);
  drop_in (self, in);
}

static void
on_drained (gpointer user_data)
{
  IrisdAsks *self = user_data;
  IrisWireMessage ack;

  if (self->acks->len == 0)
    return;
  iris_wire_message_init (&ack, IRIS_WIRE_ACK, NULL);
  iris_wire_message_set_body (&ack, self->acks->data, self->acks->len);
  irisd_bridge_link_send (self->link, &ack);
  g_byte_array_set_size (self->acks, 0);
}

static void
on_up (const IrisWireMessage *welcome, gpointer user_data)
{
}

static void
on_down (const char *why, gpointer user_data)
{
  IrisdAsks *self = user_data;
  IrisWireMessage error;

  make_error (&error, IRIS_WIRE_ERROR_NODE_AWAY,
              "the other node's irisd has ended or lost the connection with its bridge, so what "
              "was asked may be done or not; look, and ask again");
  for (GList *link = self->in_by_time.head; link != NULL; link = link->next)
    {
      const In *in = link->data;
      const IrisWireString home = { in->home, strlen (in->home) };

      send_back (self, in->id, &home, in->reply, &error);
    }
  drop_all_in (self);
  g_byte_array_set_size (self->acks, 0);
}

static const IrisdBridgeLinkFuncs link_funcs = { on_up, on_message, on_down, on_drained };

/* @answer sends the answers to irisd's requests, which irisd_asks_take() takes. */
IrisdAsks *
irisd_asks_new (const IrisdBridgeShared *shared, IrisdAsksAnswerFunc answer, gpointer user_data)
{
  static GSourceFuncs timer_funcs = { .dispatch = timer_dispatch };
  IrisWireLimits limits = *iris_wire_limits_default ();
  IrisdAsks *self = g_new0 (IrisdAsks, 1);
  g_autofree char *subject = irisd_subject_for_node (shared->node, "ask");

  self->shared = shared;
  self->answer = answer;
  self->user_data = user_data;
  self->out = g_hash_table_new_full (NULL, NULL, out_free, NULL);
  self->in = g_hash_table_new_full (id_hash, id_equal, NULL, in_free);
  self->seen = g_hash_table_new_full (id_hash, id_equal, g_free, NULL);
  self->acks = g_byte_array_new ();
  self->started_ms = get_wall_ms ();
  limits.max_body = IRIS_WIRE_MOST_BYTES;
  iris_wire_encoder_init (&self->encoder, &limits);
  self->timer = g_source_new (&timer_funcs, sizeof (GSource));
  g_source_set_callback (self->timer, on_timer, self, NULL);
  g_source_set_static_name (self->timer, "irisd-asks");
  g_source_attach (self->timer, shared->context);
  self->requests = irisd_engine_subscribe (shared->engine, subject, on_request, self);
  self->link = irisd_bridge_link_new (shared->zmq, shared->context, shared->endpoint, shared->token,
                                      "irisd bridge, requests of other nodes",
                                      IRIS_WIRE_FEATURE_BRIDGE, &link_funcs, self);
  return self;
}

/* Whether it answers what other nodes ask this one; at first it does not. One with another secret
 * is told of that in any case. */
void
irisd_asks_set_answering (IrisdAsks *self, gboolean answering)
{
  self->answering = answering;
}

/* The engine is still there: other nodes are told that their requests have no answer. */
void
irisd_asks_stop (IrisdAsks *self)
{
  if (self->stopped)
    return;
  on_down (NULL, self);
  self->stopped = TRUE;
  g_source_destroy (self->timer);
  irisd_engine_unsubscribe (self->requests);
  irisd_bridge_link_say_bye (self->link);
}

/* It was stopped, and the engine is gone. */
void
irisd_asks_free (IrisdAsks *self)
{
  g_source_unref (self->timer);
  irisd_bridge_link_free (self->link);
  g_hash_table_unref (self->out);
  g_hash_table_unref (self->in);
  g_queue_clear (&self->seen_by_time);
  g_hash_table_unref (self->seen);
  iris_wire_encoder_clear (&self->encoder);
  g_byte_array_unref (self->acks);
  g_free (self);
}
