/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * Requests to JetStream, direct gets, acks, and core NATS.
 */
#include "daemon/cluster/engine/irisd-engine-parse.h"
#include "daemon/cluster/engine/irisd-engine-private.h"

#include <string.h>

static IrisdSlot *
begin (IrisdEngine *self,
       const char *subject,
       IrisdSlotAnswerFunc answer,
       GCallback callback,
       gpointer user_data)
{
  IrisdSlot *slot = irisd_slot_new (self, answer, callback, user_data);

  slot->subject = g_strdup (subject);
  return slot;
}

static void
ask (IrisdEngine *self,
     IrisdSlot *slot,
     const IrisdEngineHeader *headers,
     guint n_headers,
     gconstpointer data,
     gsize length,
     guint timeout_ms)
{
  char reply[IRISD_SLOT_REPLY_MAX];

  irisd_slot_get_reply (self, slot, &self->inbox_route, reply, sizeof reply);
  irisd_slot_send (
      self, slot,
      irisd_engine_make_message (slot->subject, reply, headers, n_headers, data, length),
      timeout_ms ? timeout_ms : IRISD_ENGINE_REQUEST_MS);
}

/* ---- JSON ---- */

static gboolean
answer_json (IrisdEngine *engine,
             IrisdSlot *slot,
             const IrisdEngineMessage *message,
             const GError *error)
{
  IrisdEngineReplyFunc callback = (IrisdEngineReplyFunc) slot->callback;
  g_autoptr (GError) own = NULL;
  g_autoptr (JsonObject) reply = NULL;

  if (message)
    reply = irisd_engine_parse_reply (message->data, message->length, &own);
  callback (engine, reply, error ? error : own, slot->user_data);
  return TRUE;
}

void
irisd_engine_request (IrisdEngine *self,
                      const char *subject,
                      const char *json,
                      guint timeout_ms,
                      IrisdEngineReplyFunc callback,
                      gpointer user_data)
{
  ask (self, begin (self, subject, answer_json, G_CALLBACK (callback), user_data), NULL, 0, json,
       json ? strlen (json) : 0, timeout_ms);
}

/* ---- Direct gets ---- */

/* A message of a stream has what it was in headers; one with a status is none. NULL and no error
 * for a status of 204, the end of several. */
static gboolean
read_stored (const IrisdEngineMessage *message, IrisdEngineMessage *stored, GError **error)
{
  const char *status = irisd_engine_message_get_header (message, "Status");
  const char *why = irisd_engine_message_get_header (message, "Description");
  const char *subject = irisd_engine_message_get_header (message, "Nats-Subject");

  *stored = *message;
  stored->reply = NULL;
  if (message->length == 0 && status)
    {
      if (g_str_equal (status, "204"))
        return FALSE;
      g_set_error (error, IRISD_ENGINE_ERROR,
                   g_str_equal (status, "404") ? IRISD_ENGINE_ERROR_NOT_FOUND
                                               : IRISD_ENGINE_ERROR_MALFORMED,
                   "Direct get: %s %s", status, why ? why : "");
      return FALSE;
    }
  if (!subject
      || !irisd_engine_parse_number (irisd_engine_message_get_header (message, "Nats-Sequence"),
                                     &stored->sequence))
    {
      g_set_error (error, IRISD_ENGINE_ERROR, IRISD_ENGINE_ERROR_MALFORMED,
                   "Direct get: the answer has no subject or no sequence");
      return FALSE;
    }
  stored->subject = subject;
  irisd_engine_parse_time (irisd_engine_message_get_header (message, "Nats-Time-Stamp"),
                           &stored->time_ns);
  return TRUE;
}

static gboolean
give_stored (IrisdEngine *engine,
             IrisdSlot *slot,
             const IrisdEngineMessage *message,
             GError **error)
{
  IrisdEngineMessage stored;

  if (!read_stored (message, &stored, error))
    return FALSE;
  ((IrisdEngineMessageFunc) slot->callback) (engine, &stored, NULL, slot->user_data);
  ((IrisdEngineMessage *) (gpointer) message)->kept = stored.kept;
  return TRUE;
}

/* "NATS/1.0" and lines "Name: value", as the API gives them. */
static void
set_headers (natsMsg *message, const char *text)
{
  g_auto (GStrv) lines = g_strsplit (text, "\r\n", -1);

  for (char **line = lines; *line; line++)
    {
      char *colon = strchr (*line, ':');
      if (!colon)
        continue;
      *colon = '\0';
      natsMsgHeader_Add (message, *line, g_strstrip (colon + 1));
    }
}

/* A message in the answer to STREAM.MSG.GET; NULL if it is none. */
static natsMsg *
read_json_message (JsonObject *reply, IrisdEngineMessage *stored)
{
  JsonObject *found = irisd_json_get_object (reply, "message");
  const char *subject = found ? irisd_json_get_string (found, "subject") : NULL;
  const char *data = found ? irisd_json_get_string (found, "data") : NULL;
  const char *headers = found ? irisd_json_get_string (found, "hdrs") : NULL;
  gint64 sequence = found ? irisd_json_get_int (found, "seq") : 0;
  g_autofree guchar *bytes = NULL, *lines = NULL;
  gsize length = 0, n_lines = 0;
  natsMsg *message;

  bytes = data ? g_base64_decode (data, &length) : NULL;
  lines = headers ? g_base64_decode (headers, &n_lines) : NULL;
  if (!subject || sequence <= 0
      || !(message = irisd_engine_make_message (subject, NULL, NULL, 0, bytes, length)))
    return NULL;
  if (lines)
    {
      /* The decoder leaves room for a NUL, but does not promise one. */
      g_autofree char *text = g_strndup ((const char *) lines, n_lines);
      set_headers (message, text);
    }
  *stored = (IrisdEngineMessage){ .subject = natsMsg_GetSubject (message),
                                  .data = natsMsg_GetData (message),
                                  .length = length,
                                  .sequence = (guint64) sequence,
                                  .handle = message };
  irisd_engine_parse_time (irisd_json_get_string (found, "time"), &stored->time_ns);
  return message;
}

static gboolean
answer_leader (IrisdEngine *engine,
               IrisdSlot *slot,
               const IrisdEngineMessage *message,
               const GError *error)
{
  IrisdEngineMessageFunc callback = (IrisdEngineMessageFunc) slot->callback;
  g_autoptr (GError) own = NULL;
  g_autoptr (JsonObject) reply = NULL;
  IrisdEngineMessage stored;
  natsMsg *found = NULL;

  if (message)
    reply = irisd_engine_parse_reply (message->data, message->length, &own);
  if (reply && !(found = read_json_message (reply, &stored)))
    g_set_error (&own, IRISD_ENGINE_ERROR, IRISD_ENGINE_ERROR_MALFORMED,
                 "The answer to STREAM.MSG.GET has no message");
  if (g_error_matches (own, IRISD_JETSTREAM_ERROR, IRISD_JETSTREAM_MESSAGE_NOT_FOUND))
    {
      own->domain = IRISD_ENGINE_ERROR;
      own->code = IRISD_ENGINE_ERROR_NOT_FOUND;
    }
  callback (engine, found ? &stored : NULL, error ? error : own, slot->user_data);
  if (found && !stored.kept)
    natsMsg_Destroy (found);
  return TRUE;
}

/* A follower that does not have the newest messages yet may have answered; the leader has them all.
 */
static void
ask_leader (IrisdEngine *engine, IrisdSlot *slot)
{
  const char *direct = "$JS.API.DIRECT.GET.";
  g_auto (GStrv) parts = g_strsplit (slot->subject + strlen (direct), ".", 2);
  g_autofree char *get = g_strconcat ("$JS.API.STREAM.MSG.GET.", parts[0], NULL);
  g_autofree char *json = g_strdup_printf ("{\"last_by_subj\":\"%s\"}", parts[1]);

  ask (engine, begin (engine, get, answer_leader, slot->callback, slot->user_data), NULL, 0, json,
       strlen (json), 0);
}

static gboolean
answer_get_last (IrisdEngine *engine,
                 IrisdSlot *slot,
                 const IrisdEngineMessage *message,
                 const GError *error)
{
  g_autoptr (GError) own = NULL;

  if (message && give_stored (engine, slot, message, &own))
    return TRUE;
  if (g_error_matches (own, IRISD_ENGINE_ERROR, IRISD_ENGINE_ERROR_NOT_FOUND))
    ask_leader (engine, slot);
  else
    ((IrisdEngineMessageFunc) slot->callback) (engine, NULL, error ? error : own, slot->user_data);
  return TRUE;
}

static gboolean
answer_get (IrisdEngine *engine,
            IrisdSlot *slot,
            const IrisdEngineMessage *message,
            const GError *error)
{
  g_autoptr (GError) own = NULL;

  if (message && give_stored (engine, slot, message, &own))
    return TRUE;
  ((IrisdEngineMessageFunc) slot->callback) (engine, NULL, error ? error : own, slot->user_data);
  return TRUE;
}

static gboolean
answer_get_each (IrisdEngine *engine,
                 IrisdSlot *slot,
                 const IrisdEngineMessage *message,
                 const GError *error)
{
  g_autoptr (GError) own = NULL;

  if (message && give_stored (engine, slot, message, &own))
    return FALSE;
  /* No message at all is a 404. */
  if (g_error_matches (own, IRISD_ENGINE_ERROR, IRISD_ENGINE_ERROR_NOT_FOUND))
    g_clear_error (&own);
  ((IrisdEngineMessageFunc) slot->callback) (engine, NULL, error ? error : own, slot->user_data);
  return TRUE;
}

void
irisd_engine_get_last (IrisdEngine *self,
                       const char *stream,
                       const char *subject,
                       IrisdEngineMessageFunc callback,
                       gpointer user_data)
{
  g_autofree char *get = g_strconcat ("$JS.API.DIRECT.GET.", stream, ".", subject, NULL);

  ask (self, begin (self, get, answer_get_last, G_CALLBACK (callback), user_data), NULL, 0, NULL, 0,
       0);
}

void
irisd_engine_get_sequence (IrisdEngine *self,
                           const char *stream,
                           guint64 sequence,
                           IrisdEngineMessageFunc callback,
                           gpointer user_data)
{
  g_autofree char *get = g_strconcat ("$JS.API.DIRECT.GET.", stream, NULL);
  g_autofree char *json = g_strdup_printf ("{\"seq\":%" G_GUINT64_FORMAT "}", sequence);

  ask (self, begin (self, get, answer_get, G_CALLBACK (callback), user_data), NULL, 0, json,
       strlen (json), 0);
}

void
irisd_engine_get_next_of (IrisdEngine *self,
                          const char *stream,
                          const char *subject,
                          guint64 sequence,
                          guint n,
                          IrisdEngineMessageFunc callback,
                          gpointer user_data)
{
  g_autofree char *get = g_strconcat ("$JS.API.DIRECT.GET.", stream, NULL);
  g_autofree char *json = g_strdup_printf (
      "{\"seq\":%" G_GUINT64_FORMAT ",\"batch\":%u,\"next_by_subj\":\"%s\"}", sequence, n, subject);

  ask (self, begin (self, get, answer_get_each, G_CALLBACK (callback), user_data), NULL, 0, json,
       strlen (json), 0);
}

void
irisd_engine_get_last_of_each (IrisdEngine *self,
                               const char *stream,
                               const char *filter,
                               IrisdEngineMessageFunc callback,
                               gpointer user_data)
{
  g_autofree char *get = g_strconcat ("$JS.API.DIRECT.GET.", stream, NULL);
  g_autofree char *json = g_strdup_printf ("{\"multi_last\":[\"%s\"]}", filter);

  ask (self, begin (self, get, answer_get_each, G_CALLBACK (callback), user_data), NULL, 0, json,
       strlen (json), 0);
}

/* ---- Acks ---- */

static void
put_ack (IrisdEngine *self, const char *ack_subject, const char *text)
{
  irisd_engine_put_message (
      self, irisd_engine_make_message (ack_subject, NULL, NULL, 0, text, strlen (text)));
}

void
irisd_engine_ack (IrisdEngine *self, const char *ack_subject)
{
  put_ack (self, ack_subject, "+ACK");
}

void
irisd_engine_nak (IrisdEngine *self, const char *ack_subject, guint64 delay_ms)
{
  char text[64] = "-NAK";

  if (delay_ms > 0)
    g_snprintf (text, sizeof text, "-NAK {\"delay\": %" G_GUINT64_FORMAT "000000}",
                MIN (delay_ms, G_MAXINT64 / 1000000));
  put_ack (self, ack_subject, text);
}

void
irisd_engine_wpi (IrisdEngine *self, const char *ack_subject)
{
  put_ack (self, ack_subject, "+WPI");
}

void
irisd_engine_term (IrisdEngine *self, const char *ack_subject, const char *reason)
{
  g_autofree char *text = reason ? g_strconcat ("+TERM ", reason, NULL) : g_strdup ("+TERM");

  put_ack (self, ack_subject, g_strdelimit (text, "\r\n", ' '));
}

/* ---- Core NATS ---- */

gboolean
irisd_engine_send (IrisdEngine *self,
                   const char *subject,
                   const char *reply,
                   const IrisdEngineHeader *headers,
                   guint n_headers,
                   gconstpointer data,
                   gsize length)
{
  natsMsg *message = irisd_engine_make_message (subject, reply, headers, n_headers, data, length);
  gboolean sent = message && self->state == IRISD_ENGINE_CONNECTED;

  irisd_engine_put_message (self, message);
  return sent;
}

static gboolean
answer_ask (IrisdEngine *engine,
            IrisdSlot *slot,
            const IrisdEngineMessage *message,
            const GError *error)
{
  ((IrisdEngineMessageFunc) slot->callback) (engine, message, error, slot->user_data);
  return TRUE;
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
  ask (self, begin (self, subject, answer_ask, G_CALLBACK (callback), user_data), headers,
       n_headers, data, length, timeout_ms);
}

struct _IrisdEngineSubscription
{
  IrisdEngineRoute route;
  IrisdEngineReceiveFunc callback; /* NULL once it is ended */
  gpointer user_data;
};

static void
receive (IrisdEngineRoute *route, IrisdEngineMessage *message)
{
  IrisdEngineSubscription *self = (IrisdEngineSubscription *) route;

  if (self->callback)
    self->callback (route->engine, message, self->user_data);
}

static void
ignore (IrisdEngineRoute *route)
{
  /* Nothing is asked by this subject: a stranger has sent it. */
}

static void
free_subscription (IrisdEngineRoute *route)
{
  g_free (route);
}

IrisdEngineSubscription *
irisd_engine_subscribe (IrisdEngine *self,
                        const char *subject,
                        IrisdEngineReceiveFunc callback,
                        gpointer user_data)
{
  IrisdEngineSubscription *subscription = g_new0 (IrisdEngineSubscription, 1);

  subscription->route.io.in_batches = TRUE;
  subscription->route.receive = receive;
  subscription->route.no_responders = ignore;
  subscription->route.free = free_subscription;
  subscription->callback = callback;
  subscription->user_data = user_data;
  irisd_engine_add_route (self, &subscription->route, subject);
  return subscription;
}

void
irisd_engine_unsubscribe (IrisdEngineSubscription *subscription)
{
  subscription->callback = NULL;
  irisd_engine_end_route (&subscription->route, FALSE);
}
