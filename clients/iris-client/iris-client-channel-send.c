/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * The sending half of a channel: what goes out, in which order, and how much at once.
 *
 * Control calls go first, since they need no credit. Items go in the order that they were asked
 * for, as long as credit allows; a run of small ones goes as one BATCH. A message that the socket
 * cannot take now stays where it was, and the socket's being writable again wakes the clock.
 */
#include "iris-client-channel-private.h"
#include "iris-client-error-private.h"
#include "iris-request-private.h"

/* An item up to this size is worth copying into a batch. */
#define BATCH_ITEM_MAX (8 * 1024)

/* A batch is closed at this size, so that irisd can start on it. */
#define BATCH_MAX (256 * 1024)

static gboolean
iris_client_channel_send (IrisClientChannel *self, const IrisWireMessage *message)
{
  return iris_wire_encode (&self->encoder, message, NULL)
         && iris_client_link_send (self->link, self->encoder.frames);
}

/* For ACK, PING and BYE: without an answer, or with one that only shows that irisd lives. @count:
 * for ACK, how many completions; the last one is the last that came. */
gboolean
iris_client_channel_send_simple (IrisClientChannel *self,
                                 IrisWireType type,
                                 guint count,
                                 guint64 *serial)
{
  IrisWireMessage message;
  guint8 id[IRIS_WIRE_ID_SIZE];
  guint64 number = self->settings->next_serial++;

  iris_client_id_write (id, self->settings->prefix, number);
  iris_wire_message_init (&message, type, id);
  if (type == IRIS_WIRE_ACK)
    {
      guint8 last[IRIS_WIRE_ID_SIZE];

      iris_client_id_write (last, self->settings->prefix, self->last_ended);
      iris_wire_message_set_target (&message, last);
      iris_wire_message_set_uint (&message, IRIS_WIRE_KEY_COUNT, count);
    }
  if (serial != NULL)
    *serial = number;
  return iris_client_channel_send (self, &message);
}

/* Moves the call at the head of @queue to what is unanswered. */
static void
iris_client_channel_mark_sent (IrisClientChannel *self, GQueue *queue, guint64 batch, gint64 now)
{
  IrisClientCall *call = g_queue_pop_head_link (queue)->data;

  /* The silence that PING looks for begins with the first request. */
  if (g_hash_table_size (self->pending) == 0)
    {
      self->ping_at = now + self->settings->ping_interval_ms * G_TIME_SPAN_MILLISECOND;
      self->pong_by = 0;
    }
  call->state = IRIS_CLIENT_CALL_SENT;
  call->batch = batch;
  g_hash_table_insert (self->pending, GSIZE_TO_POINTER (call->serial), call);
  if (iris_client_call_takes_credit (call))
    iris_client_credit_take (&self->credit, call->size);
}

/* Ends the call at the head of @queue, which can never be sent. */
static void
iris_client_channel_refuse (IrisClientChannel *self, GQueue *queue, const GError *why)
{
  g_autoptr (GError)
      error = why->domain == IRIS_WIRE_ERROR
                  ? iris_client_error_new_from_wire ((guint) why->code, why->message, -1, -1)
                  : g_error_copy (why);

  iris_client_channel_end_call (self, g_queue_pop_head_link (queue)->data, NULL, error);
}

/* Sends the call at the head of @queue by itself. Returns FALSE if the socket cannot take it now.
 */
static gboolean
iris_client_channel_send_head (IrisClientChannel *self, GQueue *queue, gint64 now)
{
  IrisClientCall *call = g_queue_peek_head (queue);
  g_autoptr (GError) error = NULL;
  IrisWireMessage message;

  iris_client_call_fill (call, self->settings->prefix, &message);
  if (call->size > self->limits.max_body)
    g_set_error (&error, IRIS_CLIENT_ERROR, IRIS_CLIENT_ERROR_TOO_LARGE,
                 "the payload of %" G_GSIZE_FORMAT
                 " bytes is over irisd's limit max-body, %" G_GSIZE_FORMAT
                 " bytes; raise it in irisd's configuration, or send a path",
                 call->size, self->limits.max_body);
  if (error != NULL || !iris_wire_encode (&self->encoder, &message, &error))
    {
      iris_client_channel_refuse (self, queue, error);
      return TRUE;
    }
  if (!iris_client_link_send (self->link, self->encoder.frames))
    return FALSE;
  iris_client_channel_mark_sent (self, queue, 0, now);
  return TRUE;
}

/* Gathers what may go in one batch. Returns how many items that are; fewer than two are none. */
static guint
iris_client_channel_gather (IrisClientChannel *self, guint most)
{
  IrisClientCredit credit = self->credit;

  iris_wire_batch_builder_reset (&self->batch);
  for (GList *link = self->waiting.head;
       link != NULL && self->batch.n_items < MIN (most, self->limits.max_batch); link = link->next)
    {
      IrisClientCall *call = link->data;
      IrisWireMessage item;

      /* A batch tells the number of its first item only. */
      if (call->type != IRIS_WIRE_SUBMIT || call->request->accepted != NULL)
        break;
      if (call->size > BATCH_ITEM_MAX || iris_client_call_is_detached (call)
          || !iris_client_credit_allows (&credit, call->size))
        break;
      iris_client_call_fill (call, self->settings->prefix, &item);
      if (!iris_wire_batch_builder_add (&self->batch, &item, NULL))
        break;
      iris_client_credit_take (&credit, call->size);
      if (iris_wire_batch_builder_get_body (&self->batch).size
          > MIN (BATCH_MAX, self->limits.max_body / 2))
        break;
    }
  return self->batch.n_items > 1 ? self->batch.n_items : 0;
}

static gboolean
iris_client_channel_send_batch (IrisClientChannel *self, guint n_items, gint64 now)
{
  IrisWireFrame body = iris_wire_batch_builder_get_body (&self->batch);
  guint64 serial = self->settings->next_serial++;
  guint8 id[IRIS_WIRE_ID_SIZE];
  IrisWireMessage message;

  iris_client_id_write (id, self->settings->prefix, serial);
  iris_wire_message_init (&message, IRIS_WIRE_BATCH, id);
  iris_wire_message_set_boolean (&message, IRIS_WIRE_KEY_QUIET, TRUE);
  iris_wire_message_set_body (&message, body.data, body.size);
  if (!iris_client_channel_send (self, &message))
    return FALSE;
  for (guint i = 0; i < n_items; i++)
    iris_client_channel_mark_sent (self, &self->waiting, serial, now);
  return TRUE;
}

/* Lets the item send as much output again as has come, once that is half of what may be under way.
 */
void
iris_client_channel_send_more (IrisClientChannel *self, IrisClientCall *call)
{
  IrisWireMessage message;
  guint8 id[IRIS_WIRE_ID_SIZE], target[IRIS_WIRE_ID_SIZE];

  if (call->owed < IRIS_CLIENT_OUTPUT_WINDOW / 2)
    return;
  iris_client_id_write (id, self->settings->prefix, self->settings->next_serial++);
  iris_client_id_write (target, self->settings->prefix, call->serial);
  iris_wire_message_init (&message, IRIS_WIRE_MORE, id);
  iris_wire_message_set_target (&message, target);
  iris_wire_message_set_uint (&message, IRIS_WIRE_KEY_GRANT, call->owed);
  if (iris_client_channel_send (self, &message))
    call->owed = 0;
  else
    self->owes = TRUE;
}

static void
iris_client_channel_send_owed (IrisClientChannel *self)
{
  GHashTableIter iter;
  gpointer call;

  self->owes = FALSE;
  g_hash_table_iter_init (&iter, self->pending);
  while (g_hash_table_iter_next (&iter, NULL, &call))
    iris_client_channel_send_more (self, call);
}

/* Sends the item at the head of those that wait, and perhaps others with it. Returns FALSE if none
 * can be sent now. */
static gboolean
iris_client_channel_send_some (IrisClientChannel *self, gint64 now)
{
  IrisClientCall *head = g_queue_peek_head (&self->waiting);
  guint most = iris_client_backoff_allows (&self->backoff, now);
  guint n_items;

  if (most == 0 || !iris_client_credit_allows (&self->credit, head->size))
    return FALSE;
  n_items = iris_client_channel_gather (self, most);
  if (n_items > 0 ? !iris_client_channel_send_batch (self, n_items, now)
                  : !iris_client_channel_send_head (self, &self->waiting, now))
    return FALSE;
  iris_client_backoff_note_sent (&self->backoff, MAX (n_items, 1));
  return TRUE;
}

/* Sends all that may be sent now. An item that can never be sent ends here, so @self may be closed
 * afterwards. */
void
iris_client_channel_send_all (IrisClientChannel *self, gint64 now)
{
  while (self->state == IRIS_CLIENT_CHANNEL_READY && !g_queue_is_empty (&self->control))
    if (!iris_client_channel_send_head (self, &self->control, now))
      return;

  if (self->owes)
    iris_client_channel_send_owed (self);
  while (self->state == IRIS_CLIENT_CHANNEL_READY && !g_queue_is_empty (&self->waiting)
         && iris_client_channel_send_some (self, now))
    ;
  if (self->state == IRIS_CLIENT_CHANNEL_READY && iris_client_backoff_wants_probe (&self->backoff))
    {
      guint64 serial;

      if (iris_client_channel_send_simple (self, IRIS_WIRE_PING, 0, &serial))
        self->backoff.probe = serial;
    }
}
