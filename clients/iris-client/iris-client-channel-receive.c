/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * The receiving half of a channel: what irisd's messages mean for the calls.
 */
#include "iris-client-channel-private.h"
#include "iris-client-error-private.h"
#include "iris-request-private.h"

static IrisClientCall *
iris_client_channel_find (IrisClientChannel *self, const IrisWireMessage *message)
{
  guint64 serial;

  if (!iris_client_id_read (message->request_id, self->settings->prefix, &serial))
    return NULL;
  return g_hash_table_lookup (self->pending, GSIZE_TO_POINTER (serial));
}

static void
iris_client_channel_remove (IrisClientChannel *self, IrisClientCall *call)
{
  g_hash_table_remove (self->pending, GSIZE_TO_POINTER (call->serial));
}

static GError *
error_of (const IrisWireMessage *message)
{
  g_autofree char *reason = iris_wire_string_dup (&message->message);

  GError *error = iris_client_error_new_from_wire (message->code, reason, message->home,
                                                   message->place);

  if (message->ends)
    iris_client_error_set_item (error, message->item);
  return error;
}

static void
iris_client_channel_welcome (IrisClientChannel *self, const IrisWireMessage *message)
{
  if (self->state != IRIS_CLIENT_CHANNEL_CONNECTING)
    return;
  if (iris_wire_message_has (message, IRIS_WIRE_KEY_MAX_BODY))
    self->limits.max_body = message->max_body;
  if (iris_wire_message_has (message, IRIS_WIRE_KEY_MAX_BATCH))
    self->limits.max_batch = message->max_batch;
  iris_wire_encoder_clear (&self->encoder);
  iris_wire_encoder_init (&self->encoder, &self->limits);
  iris_wire_batch_builder_clear (&self->batch);
  iris_wire_batch_builder_init (&self->batch, &self->limits);
  iris_client_credit_init (&self->credit, message->credits, message->byte_credits);
  self->state = IRIS_CLIENT_CHANNEL_READY;
  self->backoff = (IrisClientBackoff){ 0 };
  iris_client_channel_wake (self);
  self->funcs->ready (self, self->user_data);
  iris_client_channel_set_busy (self, NULL);
}

static void
iris_client_channel_answer (IrisClientChannel *self,
                            IrisWireType asked,
                            const IrisWireMessage *message)
{
  IrisClientCall *call = iris_client_channel_find (self, message);

  /* The answer to a call that was cancelled is not waited for. */
  if (call == NULL || call->type != asked)
    return;
  iris_client_channel_remove (self, call);
  iris_client_channel_end_call (self, call, message, NULL);
}

/* It is acknowledged with others, by the request id of the last one. */
static void
iris_client_channel_count_completion (IrisClientChannel *self,
                                      const IrisClientCall *call,
                                      const IrisWireMessage *message)
{
  iris_client_credit_end (&self->credit, call->size, message->body.size);
  self->last_ended = call->serial;
  iris_client_channel_wake (self);
}

static void
iris_client_channel_result (IrisClientChannel *self, const IrisWireMessage *message)
{
  IrisClientCall *call = iris_client_channel_find (self, message);

  if (call == NULL || !iris_client_call_takes_credit (call)
      || (message->type == IRIS_WIRE_SHOW_REPLY) != (call->type == IRIS_WIRE_SHOW))
    return;
  iris_client_channel_remove (self, call);
  iris_client_channel_count_completion (self, call, message);
  iris_client_channel_end_call (self, call, message, NULL);
}

/* Takes what no completion comes for out of what was sent. */
static void
iris_client_channel_not_accepted (IrisClientChannel *self, IrisClientCall *call)
{
  iris_client_channel_remove (self, call);
  if (iris_client_call_takes_credit (call))
    iris_client_credit_refund (&self->credit, call->size);
  iris_client_channel_wake (self);
}

/* The accepted function is called. Of a detached item that is all; else the call goes on. */
static void
iris_client_channel_accepted (IrisClientChannel *self, const IrisWireMessage *message)
{
  IrisClientCall *call = iris_client_channel_find (self, message);
  g_autoptr (IrisRequest) request = NULL;

  if (call == NULL || call->type != IRIS_WIRE_SUBMIT || message->item == 0)
    return;
  request = iris_request_ref (call->request);
  iris_request_tell_accepted (request, message->item);
  /* That function may have ended it. */
  call = iris_client_channel_find (self, message);
  if (call == NULL || !iris_client_call_is_detached (call))
    return;
  iris_client_channel_not_accepted (self, call);
  iris_client_channel_end_call (self, call, message, NULL);
}

static void
iris_client_channel_pending (IrisClientChannel *self, const IrisWireMessage *message)
{
  IrisClientCall *call = iris_client_channel_find (self, message);
  g_autoptr (GError) error = g_error_new (IRIS_CLIENT_ERROR, IRIS_CLIENT_ERROR_PENDING,
                                          "item %" G_GUINT64_FORMAT " has not ended yet: it is %s",
                                          message->item, iris_wire_state_name (message->state));

  if (call == NULL || call->type != IRIS_WIRE_FETCH)
    return;
  iris_client_channel_not_accepted (self, call);
  iris_client_channel_end_call (self, call, NULL, error);
}

static void
iris_client_channel_changed (IrisClientChannel *self, const IrisWireMessage *message)
{
  IrisClientCall *call = iris_client_channel_find (self, message);

  if (call != NULL
      && (call->type == IRIS_WIRE_KICK || call->type == IRIS_WIRE_BURY
          || call->type == IRIS_WIRE_DRAIN || call->type == IRIS_WIRE_SET_WORKERS))
    iris_client_channel_answer (self, call->type, message);
}

/* A whole batch was refused: so was each of its items. */
static void
iris_client_channel_batch_refused (IrisClientChannel *self, guint64 batch, const GError *error)
{
  g_autoptr (GPtrArray) calls = g_ptr_array_new ();
  GHashTableIter iter;
  gpointer value;

  g_hash_table_iter_init (&iter, self->pending);
  while (g_hash_table_iter_next (&iter, NULL, &value))
    if (((IrisClientCall *) value)->batch == batch)
      g_ptr_array_add (calls, value);
  for (guint i = 0; i < calls->len; i++)
    iris_client_channel_not_accepted (self, g_ptr_array_index (calls, i));
  for (guint i = 0; i < calls->len; i++)
    iris_client_channel_end_call (self, g_ptr_array_index (calls, i), NULL, error);
}

static void
iris_client_channel_error (IrisClientChannel *self, const IrisWireMessage *message)
{
  IrisClientCall *call = iris_client_channel_find (self, message);
  g_autoptr (GError) error = error_of (message);
  guint64 serial = 0;
  gboolean ours = iris_client_id_read (message->request_id, self->settings->prefix, &serial);

  if (self->state == IRIS_CLIENT_CHANNEL_CONNECTING)
    iris_client_channel_fail (self, error->code, error->message);
  else if (message->code == IRIS_WIRE_ERROR_HELLO_REQUIRED)
    iris_client_channel_fail (self, IRIS_CLIENT_ERROR_DISCONNECTED,
                              "irisd has dropped this connection");
  else if (call != NULL && iris_client_call_takes_credit (call) && message->ends)
    {
      iris_client_channel_remove (self, call);
      iris_client_channel_count_completion (self, call, message);
      iris_client_channel_end_call (self, call, NULL, error);
    }
  else if (call != NULL)
    {
      iris_client_channel_not_accepted (self, call);
      iris_client_channel_end_call (self, call, NULL, error);
    }
  else if (ours && serial != 0)
    iris_client_channel_batch_refused (self, serial, error);
}

/* Puts an item back among those that wait, where its turn is. */
static void
iris_client_channel_requeue (IrisClientChannel *self, IrisClientCall *call)
{
  GList *next = self->waiting.head;

  while (next != NULL && ((IrisClientCall *) next->data)->serial < call->serial)
    next = next->next;
  call->state = IRIS_CLIENT_CALL_WAITING;
  call->refused = TRUE;
  call->batch = 0;
  g_queue_insert_before_link (&self->waiting, next, &call->link);
}

static gint64
get_patience (const IrisClientChannel *self)
{
  return self->settings->busy_timeout_ms * G_TIME_SPAN_MILLISECOND;
}

/* irisd has as many clients as it takes: asks again, for as long as for an item. */
static void
iris_client_channel_send_hello_later (IrisClientChannel *self,
                                      const IrisWireMessage *message,
                                      gint64 now)
{
  const IrisClientSettings *settings = self->settings;

  iris_client_backoff_refused (&self->backoff, now, message->retry_after_ms, g_random_double ());
  if (now >= self->backoff.since + get_patience (self))
    {
      g_autoptr (GError) error = error_of (message);

      iris_client_channel_fail (self, IRIS_CLIENT_ERROR_BUSY, error->message);
      return;
    }
  self->hello_serial = 0;
  self->connect_by = MAX (self->connect_by,
                          self->backoff.resume_at
                              + settings->connect_timeout_ms * G_TIME_SPAN_MILLISECOND);
  iris_client_channel_wake (self);
  iris_client_channel_set_busy (self, iris_wire_string_dup (&message->message));
}

/* What irisd refuses it has not taken, so it can be asked again. A FETCH without a waiting caller
 * is not worth it. */
static gboolean
may_ask_again (const IrisClientCall *call)
{
  return !call->cancelled && call->done != NULL;
}

/* Whether a call has waited for a busy irisd for as long as it may. */
static gboolean
is_out_of_patience (IrisClientChannel *self, const IrisClientCall *call, gint64 now)
{
  return now >= MAX (self->backoff.since, call->asked_at) + get_patience (self);
}

/* Ends what has waited for long behind a call that was refused. */
static void
iris_client_channel_end_impatient (IrisClientChannel *self, const GError *error, gint64 now)
{
  g_autoptr (GPtrArray) calls = g_ptr_array_new ();

  for (GList *link = self->waiting.head, *next; link != NULL; link = next)
    {
      next = link->next;
      if (!is_out_of_patience (self, link->data, now))
        continue;
      g_queue_unlink (&self->waiting, link);
      g_ptr_array_add (calls, link->data);
    }
  for (guint i = 0; i < calls->len; i++)
    iris_client_channel_end_call (self, g_ptr_array_index (calls, i), NULL, error);
}

/* A program without patience backs off by itself. */
static void
iris_client_channel_refused (IrisClientChannel *self,
                             IrisClientCall *call,
                             const IrisWireMessage *message,
                             gint64 now)
{
  g_autoptr (GError) error = error_of (message);

  error->code = IRIS_CLIENT_ERROR_BUSY;
  iris_client_channel_not_accepted (self, call);
  if (self->settings->busy_timeout_ms == 0)
    {
      iris_client_channel_end_call (self, call, NULL, error);
      return;
    }
  iris_client_backoff_refused (&self->backoff, now, message->retry_after_ms, g_random_double ());
  if (may_ask_again (call))
    iris_client_channel_requeue (self, call);
  else
    iris_client_channel_end_call (self, call, NULL, error);
  if (self->state != IRIS_CLIENT_CHANNEL_CLOSED)
    iris_client_channel_end_impatient (self, error, now);
}

static void
iris_client_channel_busy (IrisClientChannel *self, const IrisWireMessage *message)
{
  IrisClientCall *call = iris_client_channel_find (self, message);
  gint64 now = g_get_monotonic_time ();

  if (self->state == IRIS_CLIENT_CHANNEL_CONNECTING)
    {
      iris_client_channel_send_hello_later (self, message, now);
      return;
    }
  if (call == NULL)
    return;
  iris_client_channel_refused (self, call, message, now);
  if (self->state != IRIS_CLIENT_CHANNEL_CLOSED)
    iris_client_channel_set_busy (
        self, g_queue_is_empty (&self->waiting) ? NULL : iris_wire_string_dup (&message->message));
}

/* An answer to the PING behind what was sent after a pause: that was taken. */
static void
iris_client_channel_pong (IrisClientChannel *self, const IrisWireMessage *message)
{
  guint64 serial;

  if (!iris_client_id_read (message->request_id, self->settings->prefix, &serial)
      || !iris_client_backoff_probed (&self->backoff, serial))
    return;
  iris_client_channel_wake (self);
  iris_client_channel_set_busy (self, NULL);
}

/* Credit for taken parts may be granted anew, if the call is still there. */
static void
iris_client_channel_owe (IrisClientChannel *self, const IrisWireMessage *message)
{
  IrisClientCall *call = iris_client_channel_find (self, message);

  if (self->state != IRIS_CLIENT_CHANNEL_READY || call == NULL)
    return;
  call->owed += message->body.size;
  iris_client_channel_send_more (self, call);
}

/* The function may do anything, also end the call. */
static void
iris_client_channel_output (IrisClientChannel *self, const IrisWireMessage *message)
{
  IrisClientCall *call = iris_client_channel_find (self, message);

  if (call == NULL || call->type != IRIS_WIRE_SUBMIT || call->request->output == NULL)
    return;

  g_autoptr (IrisRequest) request = iris_request_ref (call->request);
  g_autoptr (GBytes) bytes = g_bytes_new (message->body.data, message->body.size);

  request->output (request, message->channel == IRIS_WIRE_CHANNEL_ERRORS, bytes,
                   request->output_data);
  iris_client_channel_owe (self, message);
}

/* The same. */
static void
iris_client_channel_part (IrisClientChannel *self, const IrisWireMessage *message)
{
  IrisClientCall *call = iris_client_channel_find (self, message);

  if (call == NULL || call->type != IRIS_WIRE_SUBMIT || call->request->part == NULL)
    return;

  g_autoptr (IrisRequest) request = iris_request_ref (call->request);
  g_autoptr (GBytes) bytes = g_bytes_new (message->body.data, message->body.size);

  request->part (request, message->attempt, bytes, request->part_data);
  iris_client_channel_owe (self, message);
}

/* The same, but that it takes no credit. */
static void
iris_client_channel_progress (IrisClientChannel *self, const IrisWireMessage *message)
{
  IrisClientCall *call = iris_client_channel_find (self, message);
  g_autofree char *note = NULL;

  if (call == NULL || call->type != IRIS_WIRE_SUBMIT || call->request->progress == NULL)
    return;

  g_autoptr (IrisRequest) request = iris_request_ref (call->request);

  if (iris_wire_message_has (message, IRIS_WIRE_KEY_NOTE))
    note = iris_wire_string_dup (&message->note);
  request->progress (request,
                     iris_wire_message_has (message, IRIS_WIRE_KEY_FRACTION)
                         ? (double) message->fraction / IRIS_WIRE_WHOLE
                         : -1,
                     note, request->progress_data);
}

static void
iris_client_channel_shown (IrisClientChannel *self, const IrisWireMessage *message)
{
  if (message->payload)
    iris_client_channel_result (self, message);
  else
    iris_client_channel_answer (self, IRIS_WIRE_SHOW, message);
}

static void
iris_client_channel_handle (IrisClientChannel *self, const IrisWireMessage *message)
{
  switch (message->type)
    {
    case IRIS_WIRE_WELCOME:
      iris_client_channel_welcome (self, message);
      break;
    case IRIS_WIRE_RESULT:
      iris_client_channel_result (self, message);
      break;
    case IRIS_WIRE_ERROR_REPLY:
      iris_client_channel_error (self, message);
      break;
    case IRIS_WIRE_BUSY:
      iris_client_channel_busy (self, message);
      break;
    case IRIS_WIRE_OUTPUT:
      iris_client_channel_output (self, message);
      break;
    case IRIS_WIRE_PART:
      iris_client_channel_part (self, message);
      break;
    case IRIS_WIRE_PROGRESS:
      iris_client_channel_progress (self, message);
      break;
    case IRIS_WIRE_ACCEPTED:
      iris_client_channel_accepted (self, message);
      break;
    case IRIS_WIRE_PENDING:
      iris_client_channel_pending (self, message);
      break;
    case IRIS_WIRE_LIST_REPLY:
      iris_client_channel_answer (self, IRIS_WIRE_LIST, message);
      break;
    case IRIS_WIRE_SHOW_REPLY:
      iris_client_channel_shown (self, message);
      break;
    case IRIS_WIRE_MAP_REPLY:
      iris_client_channel_answer (self, IRIS_WIRE_MAP, message);
      break;
    case IRIS_WIRE_STATUS_REPLY:
      iris_client_channel_answer (self, IRIS_WIRE_STATUS, message);
      break;
    case IRIS_WIRE_SERVICES_REPLY:
      iris_client_channel_answer (self, IRIS_WIRE_SERVICES, message);
      break;
    case IRIS_WIRE_WORKERS_REPLY:
      iris_client_channel_answer (self, IRIS_WIRE_WORKERS, message);
      break;
    case IRIS_WIRE_CHANGED:
      iris_client_channel_changed (self, message);
      break;
    case IRIS_WIRE_CANCELLING:
      iris_client_channel_answer (self, IRIS_WIRE_CANCEL, message);
      break;
    case IRIS_WIRE_PONG:
      iris_client_channel_pong (self, message);
      break;
    default:
      break;
    }
}

static void
iris_client_channel_misunderstand (IrisClientChannel *self, const GError *error)
{
  g_autofree char *why = g_strdup_printf (
      "what answers at %s does not speak the protocol IRS1 (%s)", self->endpoint,
      error != NULL ? error->message : "it sent a request");

  iris_client_channel_fail (self, IRIS_CLIENT_ERROR_PROTOCOL, why);
}

/* Each of them may close the channel. */
static void
iris_client_channel_handle_completions (IrisClientChannel *self,
                                        IrisWireFrame body,
                                        const IrisWireLimits *limits)
{
  g_autoptr (GError) error = NULL;
  IrisWireCompletionsIter iter;
  IrisWireMessage completion;

  if (iris_wire_completions_iter_init (&iter, body, limits, &error))
    while (self->state != IRIS_CLIENT_CHANNEL_CLOSED
           && iris_wire_completions_iter_next (&iter, &completion, &error))
      iris_client_channel_handle (self, &completion);
  if (error != NULL)
    iris_client_channel_misunderstand (self, error);
}

/* The caller holds a reference. A message that does not parse ends the channel. */
void
iris_client_channel_receive (IrisClientChannel *self, const IrisWireFrame *frames, guint n)
{
  g_autoptr (GError) error = NULL;
  IrisWireLimits limits = self->limits;
  IrisWireMessage message;

  if (self->state == IRIS_CLIENT_CHANNEL_CLOSED)
    return;
  /* A daemon that takes only small payloads may still give large results. */
  limits.max_body = MAX (limits.max_body, IRIS_WIRE_DEFAULT_MAX_BODY);
  if (iris_wire_decode (frames, n, &limits, &message, &error)
      && !iris_wire_type_is_request (message.type))
    {
      if (message.type == IRIS_WIRE_COMPLETIONS)
        iris_client_channel_handle_completions (self, message.body, &limits);
      else
        iris_client_channel_handle (self, &message);
    }
  else
    iris_client_channel_misunderstand (self, error);
}
