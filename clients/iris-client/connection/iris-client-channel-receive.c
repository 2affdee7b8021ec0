/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * The receiving half of a channel: what irisd's messages mean for the calls.
 */
#include "iris-client-channel-private.h"
#include <iris-client/base/iris-client-error-private.h>
#include <iris-client/request/iris-request-private.h>

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

  /* A place of another node is none of irisd's. */
  const int place = message->node.len > 0 ? -1 : message->place;
  GError *error = iris_client_error_new_from_wire (message->code, reason, message->home, place);

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
  self->takes_two_frames = (message->features & IRIS_WIRE_FEATURE_TWO_FRAMES) != 0;
  iris_wire_encoder_clear (&self->encoder);
  iris_wire_encoder_init (&self->encoder, &self->limits);
  iris_wire_batch_builder_clear (&self->batch);
  iris_wire_batch_builder_init (&self->batch, &self->limits);
  iris_client_credit_init (&self->credit, message->credits, message->byte_credits);
  self->state = IRIS_CLIENT_CHANNEL_READY;
  self->backoff = (IrisClientBackoff){ 0 };
  self->resumes = (message->features & IRIS_WIRE_FEATURE_RESUME) != 0;
  iris_client_channel_wake (self);
  self->funcs->ready (self, self->user_data);
  iris_client_channel_set_busy (self, NULL);
}

/* The answer to a call that was cancelled is not waited for. */
static void
iris_client_channel_answer (IrisClientChannel *self, const IrisWireMessage *message)
{
  static const guint8 answers[] = {
    [IRIS_WIRE_MAP] = IRIS_WIRE_MAP_REPLY,
    [IRIS_WIRE_CANCEL] = IRIS_WIRE_CANCELLING,
    [IRIS_WIRE_STATUS] = IRIS_WIRE_STATUS_REPLY,
    [IRIS_WIRE_SERVICES] = IRIS_WIRE_SERVICES_REPLY,
    [IRIS_WIRE_LIST] = IRIS_WIRE_LIST_REPLY,
    [IRIS_WIRE_SHOW] = IRIS_WIRE_SHOW_REPLY,
    [IRIS_WIRE_KICK] = IRIS_WIRE_CHANGED,
    [IRIS_WIRE_BURY] = IRIS_WIRE_CHANGED,
    [IRIS_WIRE_DRAIN] = IRIS_WIRE_CHANGED,
    [IRIS_WIRE_SET_WORKERS] = IRIS_WIRE_CHANGED,
    [IRIS_WIRE_WORKERS] = IRIS_WIRE_WORKERS_REPLY,
    [IRIS_WIRE_STATISTICS] = IRIS_WIRE_STATISTICS_REPLY,
    [IRIS_WIRE_SPANS] = IRIS_WIRE_SPANS_REPLY,
    [IRIS_WIRE_RELOAD] = IRIS_WIRE_CHANGED,
    [IRIS_WIRE_KEYS] = IRIS_WIRE_KEYS_REPLY,
    [IRIS_WIRE_SUSPEND] = IRIS_WIRE_CHANGED,
    [IRIS_WIRE_RESUME] = IRIS_WIRE_CHANGED,
    [IRIS_WIRE_EDIT] = IRIS_WIRE_CHANGED,
    [IRIS_WIRE_AGAIN] = IRIS_WIRE_ACCEPTED,
    [IRIS_WIRE_SCHEDULE] = IRIS_WIRE_CHANGED,
    [IRIS_WIRE_SCHEDULES] = IRIS_WIRE_SCHEDULES_REPLY,
    [IRIS_WIRE_QUEUE] = IRIS_WIRE_CHANGED,
    [IRIS_WIRE_QUEUES] = IRIS_WIRE_QUEUES_REPLY,
    [IRIS_WIRE_BACKUP] = IRIS_WIRE_CHANGED,
    [IRIS_WIRE_NODES] = IRIS_WIRE_NODES_REPLY,
    [IRIS_WIRE_NODE] = IRIS_WIRE_CHANGED,
    [IRIS_WIRE_CLUSTER_CHECK] = IRIS_WIRE_CHANGED,
    [IRIS_WIRE_CLUSTER_INIT] = IRIS_WIRE_CHANGED,
    [IRIS_WIRE_FOLLOW] = IRIS_WIRE_FOLLOWED,
  };
  IrisClientCall *call = iris_client_channel_find (self, message);

  if (call == NULL || call->type >= G_N_ELEMENTS (answers) || answers[call->type] != message->type)
    return;
  iris_client_channel_remove (self, call);
  iris_client_channel_end_call (self, call, message, NULL);
}

/* The call ends with the last part, and gets the body that all make. */
static void
iris_client_channel_part_of_answer (IrisClientChannel *self, const IrisWireMessage *message)
{
  IrisClientCall *call = iris_client_channel_find (self, message);
  IrisWireMessage whole = *message;

  if (call == NULL || call->type != IRIS_WIRE_TRACE)
    return;
  if (call->parts == NULL)
    call->parts = g_byte_array_new ();
  g_byte_array_append (call->parts, message->body.data, (guint) message->body.size);
  if (!message->ends)
    return;
  whole.body = (IrisWireFrame){ call->parts->data, call->parts->len };
  iris_client_channel_remove (self, call);
  iris_client_channel_end_call (self, call, &whole, NULL);
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

/* The request whose function is to be called, with a reference: the function may do anything, also
 * end the call. */
static IrisRequest *
iris_client_channel_ref_request (IrisClientChannel *self, const IrisWireMessage *message)
{
  IrisClientCall *call = iris_client_channel_find (self, message);

  return call != NULL && call->type == IRIS_WIRE_SUBMIT ? iris_request_ref (call->request) : NULL;
}

/* The accepted function is called. Of a detached item that is all; else the call goes on. */
static void
iris_client_channel_accepted (IrisClientChannel *self, const IrisWireMessage *message)
{
  g_autoptr (IrisRequest) request = iris_client_channel_ref_request (self, message);
  IrisClientCall *call;

  if (request == NULL || message->item == 0)
    return;
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

/* irisd ends, and has not run the item of @call: keeps it for the next channel. Returns FALSE if it
 * has to be told. @ends: irisd had accepted it. */
static gboolean
iris_client_channel_put_off (IrisClientChannel *self,
                             IrisClientCall *call,
                             const GError *error,
                             gboolean ends)
{
  if (!g_error_matches (error, IRIS_CLIENT_ERROR, IRIS_CLIENT_ERROR_SHUTTING_DOWN)
      || !iris_client_call_takes_credit (call) || call->cancelled || call->done == NULL
      || !self->going || (ends && !iris_client_channel_may_carry (self, call)))
    return FALSE;
  if (ends && call->type == IRIS_WIRE_SUBMIT)
    call->session = self->settings->session;
  iris_client_channel_requeue (self, call);
  return TRUE;
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
    if (!iris_client_channel_put_off (self, g_ptr_array_index (calls, i), error, FALSE))
      iris_client_channel_end_call (self, g_ptr_array_index (calls, i), NULL, error);
}

static void
iris_client_channel_error (IrisClientChannel *self, const IrisWireMessage *message)
{
  IrisClientCall *call = iris_client_channel_find (self, message);
  g_autoptr (GError) error = error_of (message);
  guint64 serial = 0;
  gboolean ours = iris_client_id_read (message->request_id, self->settings->prefix, &serial);

  if (message->code == IRIS_WIRE_ERROR_SHUTTING_DOWN && !message->ends)
    iris_client_channel_note_going (self);
  if (self->state == IRIS_CLIENT_CHANNEL_CONNECTING)
    iris_client_channel_fail (self, error->code, error->message);
  else if (message->code == IRIS_WIRE_ERROR_HELLO_REQUIRED)
    iris_client_channel_fail (self, IRIS_CLIENT_ERROR_DISCONNECTED,
                              "irisd has dropped this connection");
  else if (call != NULL && iris_client_call_takes_credit (call) && message->ends)
    {
      iris_client_channel_remove (self, call);
      iris_client_channel_count_completion (self, call, message);
      if (!iris_client_channel_put_off (self, call, error, TRUE))
        iris_client_channel_end_call (self, call, NULL, error);
    }
  else if (call != NULL)
    {
      iris_client_channel_not_accepted (self, call);
      if (!iris_client_channel_put_off (self, call, error, FALSE))
        iris_client_channel_end_call (self, call, NULL, error);
    }
  else if (ours && serial != 0)
    iris_client_channel_batch_refused (self, serial, error);
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

/* Output of an item that is followed. */
static void
iris_client_channel_followed_bytes (IrisClientChannel *self,
                                    IrisClientCall *call,
                                    const IrisWireMessage *message)
{
  g_autoptr (GBytes) bytes = g_bytes_new (message->body.data, message->body.size);

  call->output (message->channel == IRIS_WIRE_CHANNEL_ERRORS, message->offset, bytes,
                call->output_data.data);
  iris_client_channel_owe (self, message);
}

static void
iris_client_channel_bytes (IrisClientChannel *self, const IrisWireMessage *message)
{
  g_autoptr (IrisRequest) request = iris_client_channel_ref_request (self, message);
  g_autoptr (GBytes) bytes = g_bytes_new (message->body.data, message->body.size);
  gboolean output = message->type == IRIS_WIRE_OUTPUT;

  if (request == NULL || (output ? request->output == NULL : request->part == NULL))
    return;
  if (output)
    request->output (request, message->channel == IRIS_WIRE_CHANNEL_ERRORS, bytes,
                     request->output_data.data);
  else
    request->part (request, message->attempt, bytes, request->part_data.data);
  iris_client_channel_owe (self, message);
}

/* It takes no credit. */
static void
iris_client_channel_progress (IrisClientChannel *self, const IrisWireMessage *message)
{
  g_autoptr (IrisRequest) request = iris_client_channel_ref_request (self, message);
  g_autofree char *note = NULL;
  double fraction = -1;

  if (request == NULL || request->progress == NULL)
    return;
  if (iris_wire_message_has (message, IRIS_WIRE_KEY_NOTE))
    note = iris_wire_string_dup (&message->note);
  if (iris_wire_message_has (message, IRIS_WIRE_KEY_FRACTION))
    fraction = (double) message->fraction / IRIS_WIRE_WHOLE;
  request->progress (request, fraction, note, request->progress_data.data);
}

static void
iris_client_channel_handle (IrisClientChannel *self, const IrisWireMessage *message)
{
  IrisClientCall *call;

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
    case IRIS_WIRE_PART:
      call = iris_client_channel_find (self, message);
      if (call != NULL && call->type == IRIS_WIRE_FOLLOW)
        iris_client_channel_followed_bytes (self, call, message);
      else
        iris_client_channel_bytes (self, message);
      break;
    case IRIS_WIRE_PROGRESS:
      iris_client_channel_progress (self, message);
      break;
    case IRIS_WIRE_ACCEPTED:
      call = iris_client_channel_find (self, message);
      if (call != NULL && call->type == IRIS_WIRE_AGAIN)
        iris_client_channel_answer (self, message);
      else
        iris_client_channel_accepted (self, message);
      break;
    case IRIS_WIRE_PENDING:
      iris_client_channel_pending (self, message);
      break;
    case IRIS_WIRE_TRACE_REPLY:
      iris_client_channel_part_of_answer (self, message);
      break;
    case IRIS_WIRE_GOING:
      iris_client_channel_note_going (self);
      break;
    case IRIS_WIRE_PONG:
      iris_client_channel_pong (self, message);
      break;
    default:
      if (message->payload)
        iris_client_channel_result (self, message);
      else
        iris_client_channel_answer (self, message);
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
  IrisWireBatchIter iter;
  IrisWireMessage completion;

  if (iris_wire_batch_iter_init_completions (&iter, body, limits, &error))
    while (self->state != IRIS_CLIENT_CHANNEL_CLOSED
           && iris_wire_batch_iter_next (&iter, &completion, &error) == IRIS_WIRE_BATCH_ITEM)
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
