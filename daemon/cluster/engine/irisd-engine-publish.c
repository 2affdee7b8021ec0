/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * Publications to streams, many under way at once.
 */
#include "daemon/cluster/engine/irisd-engine-parse.h"
#include "daemon/cluster/engine/irisd-engine-private.h"

#include <string.h>

/* With large messages fewer are under way. */
#define WINDOW_BYTES ((gsize) 64 << 20)
/* What a message costs beside its data, about. */
#define OVERHEAD 256

enum
{
  ACCOUNT_RESOURCES_EXCEEDED = 10002,
  INSUFFICIENT_RESOURCES = 10023,
  MEMORY_EXCEEDED = 10028,
  STORAGE_EXCEEDED = 10047,
};

const char *
irisd_publish_status_get_name (IrisdPublishStatus status)
{
  static const char *const names[] = { "stored", "duplicate", "wrong-sequence", "full",
                                       "retry",  "no-quorum", "refused" };

  return status < G_N_ELEMENTS (names) ? names[status] : "unknown";
}

static IrisdPublishStatus
judge_error (const IrisdPubAck *ack)
{
  const char *description = ack->description ? ack->description : "";

  switch (ack->err_code)
    {
    case IRISD_JETSTREAM_WRONG_LAST_SEQUENCE:
    case IRISD_JETSTREAM_WRONG_LAST_SEQUENCE_CONSTANT:
      return IRISD_PUBLISH_WRONG_SEQUENCE;
    case IRISD_JETSTREAM_DUPLICATE_IN_FLIGHT:
      return IRISD_PUBLISH_RETRY;
    case IRISD_JETSTREAM_STORE_FAILED:
      /* A subject that may have one message has one: the same as an expected sequence of 0. */
      if (strstr (description, "per subject"))
        return IRISD_PUBLISH_WRONG_SEQUENCE;
      return strstr (description, "maximum") ? IRISD_PUBLISH_FULL : IRISD_PUBLISH_RETRY;
    case ACCOUNT_RESOURCES_EXCEEDED:
    case INSUFFICIENT_RESOURCES:
    case MEMORY_EXCEEDED:
    case STORAGE_EXCEEDED:
      return IRISD_PUBLISH_FULL;
    default:
      if (ack->code == 429)
        return IRISD_PUBLISH_FULL;
      return ack->code == 503 ? IRISD_PUBLISH_NO_QUORUM : IRISD_PUBLISH_REFUSED;
    }
}

static void
judge_answer (IrisdEngine *engine,
              const IrisdEngineMessage *message,
              IrisdPubAck *ack,
              IrisdPublishResult *result)
{
  if (!irisd_pub_ack_parse (ack, message->data, message->length))
    {
      result->status = IRISD_PUBLISH_NO_QUORUM;
      result->maybe_stored = TRUE;
      result->text = "the answer is no acknowledgement";
      return;
    }
  if (ack->stored)
    {
      result->status = ack->duplicate ? IRISD_PUBLISH_DUPLICATE : IRISD_PUBLISH_STORED;
      result->sequence = ack->sequence;
    }
  else
    {
      result->status = judge_error (ack);
      result->code = ack->err_code;
      result->text = ack->description ? ack->description : "an error without a description";
    }
  irisd_engine_set_quorum (engine, result->status == IRISD_PUBLISH_NO_QUORUM
                                       ? IRISD_ENGINE_QUORUM_NO
                                       : IRISD_ENGINE_QUORUM_YES);
}

static void
judge_failure (IrisdEngine *engine,
               IrisdSlot *slot,
               const GError *error,
               IrisdPublishResult *result)
{
  result->text = error->message;
  result->status = error->code == IRISD_ENGINE_ERROR_MALFORMED ? IRISD_PUBLISH_REFUSED
                                                               : IRISD_PUBLISH_NO_QUORUM;
  result->maybe_stored = slot->sent
                         && (error->code == IRISD_ENGINE_ERROR_TIMEOUT
                             || error->code == IRISD_ENGINE_ERROR_DISCONNECTED);
  if (error->code == IRISD_ENGINE_ERROR_TIMEOUT || error->code == IRISD_ENGINE_ERROR_NO_RESPONDERS)
    irisd_engine_set_quorum (engine, IRISD_ENGINE_QUORUM_NO);
}

static gboolean
answer_publication (IrisdEngine *engine,
                    IrisdSlot *slot,
                    const IrisdEngineMessage *message,
                    const GError *error)
{
  g_auto (IrisdPubAck) ack = { 0 };
  IrisdPublishResult result = { 0 };

  if (slot->size > 0)
    {
      engine->n_under_way--;
      engine->bytes_under_way -= slot->size;
      slot->size = 0;
    }
  if (error)
    judge_failure (engine, slot, error, &result);
  else
    judge_answer (engine, message, &ack, &result);
  ((IrisdPublishFunc) slot->callback) (engine, &result, slot->user_data);
  return TRUE;
}

/* ---- The window ---- */

static gboolean
has_room (IrisdEngine *self, gsize size)
{
  return self->n_under_way == 0
         || (self->n_under_way < self->window && self->bytes_under_way + size <= WINDOW_BYTES);
}

static void
count (IrisdEngine *self, IrisdSlot *slot, gsize size)
{
  slot->size = size;
  self->n_under_way++;
  self->bytes_under_way += size;
}

static gsize
get_size (natsMsg *message)
{
  return (gsize) natsMsg_GetDataLength (message) + OVERHEAD;
}

static void
send_beyond (IrisdEngine *self)
{
  while (self->beyond.head && self->state == IRISD_ENGINE_CONNECTED)
    {
      IrisdSlot *slot = self->beyond.head->data;
      gsize size = get_size (slot->pending);

      if (!has_room (self, size))
        return;
      g_queue_unlink (&self->beyond, &slot->link);
      slot->list = NULL;
      count (self, slot, size);
      irisd_slot_send (self, slot, g_steal_pointer (&slot->pending), IRISD_ENGINE_PUBLISH_MS);
    }
}

/* The connection is gone. */
static void
drop_beyond (IrisdEngine *self)
{
  while (self->beyond.head)
    {
      IrisdSlot *slot = self->beyond.head->data;
      g_queue_unlink (&self->beyond, &slot->link);
      slot->list = NULL;
      g_clear_pointer (&slot->pending, natsMsg_Destroy);
      irisd_slot_fail (self, slot, IRISD_ENGINE_ERROR_DISCONNECTED);
    }
}

guint
irisd_engine_get_n_unanswered (IrisdEngine *self)
{
  return self->n_under_way + self->beyond.length;
}

/* ---- Messages ---- */

static natsMsg *
make_message (const IrisdEnginePublication *publication, const char *reply)
{
  natsMsg *message = irisd_engine_make_message (publication->subject, reply, publication->headers,
                                                publication->n_headers, publication->data,
                                                publication->length);
  natsStatus status = message ? NATS_OK : NATS_ERR;
  char number[24];

  if (status == NATS_OK && publication->message_id)
    status = natsMsgHeader_Set (message, "Nats-Msg-Id", publication->message_id);
  if (status == NATS_OK && publication->check_last)
    {
      g_snprintf (number, sizeof number, "%" G_GUINT64_FORMAT, publication->expected_last);
      status = natsMsgHeader_Set (message, "Nats-Expected-Last-Subject-Sequence", number);
    }
  if (status != NATS_OK)
    g_clear_pointer (&message, natsMsg_Destroy);
  return message;
}

void
irisd_engine_publish (IrisdEngine *self,
                      const IrisdEnginePublication *publication,
                      IrisdPublishFunc callback,
                      gpointer user_data)
{
  IrisdSlot *slot = irisd_slot_new (self, answer_publication, G_CALLBACK (callback), user_data);
  char reply[IRISD_SLOT_REPLY_MAX];
  natsMsg *message;
  gsize size;

  if (self->state != IRISD_ENGINE_CONNECTED)
    {
      irisd_slot_fail (self, slot, IRISD_ENGINE_ERROR_DISCONNECTED);
      return;
    }
  irisd_slot_get_reply (self, slot, &self->acks_route, reply, sizeof reply);
  message = make_message (publication, reply);
  if (!message)
    {
      irisd_slot_fail (self, slot, IRISD_ENGINE_ERROR_MALFORMED);
      return;
    }
  size = get_size (message);
  if (self->beyond.head || !has_room (self, size))
    {
      self->send_beyond = send_beyond;
      self->drop_beyond = drop_beyond;
      slot->pending = message;
      slot->list = &self->beyond;
      g_queue_push_tail_link (&self->beyond, &slot->link);
      return;
    }
  count (self, slot, size);
  irisd_slot_send (self, slot, message, IRISD_ENGINE_PUBLISH_MS);
}
