/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * A gateway's kept items: on their way into the journal, to the workers, and to their end.
 *
 * A kept item is a job like any other, with two stops more: it is queued when the journal has it,
 * and its ending is sent when the journal has that. It belongs to the journal and not to its
 * connection, so it goes on when that has gone.
 */
#include "irisd-bury.h"
#include "irisd-cold.h"
#include "irisd-gateway-private.h"
#include "irisd-journal.h"
#include "irisd-outside.h"

#include <string.h>

/* A longer key would cost more memory than the item. */
#define MAX_KEY 256

static gboolean
check_key (const IrisWireMessage *item, GError **error)
{
  if (!iris_wire_message_has (item, IRIS_WIRE_KEY_KEY)
      || (item->key.len > 0 && item->key.len <= MAX_KEY))
    return TRUE;
  g_set_error (error, IRIS_WIRE_ERROR, IRIS_WIRE_ERROR_BAD_ARGUMENT,
               "a key has 1 to %d bytes, and this one %" G_GSIZE_FORMAT, MAX_KEY, item->key.len);
  return FALSE;
}

static gboolean
check_keep_ms (IrisdGateway *self, const IrisWireMessage *item, GError **error)
{
  guint64 limit = self->core->config->limits.max_keep_ms;
  if (item->keep_ms <= limit)
    return TRUE;
  g_set_error (error, IRIS_WIRE_ERROR, IRIS_WIRE_ERROR_BAD_ARGUMENT,
               "irisd keeps ends for at most %" G_GUINT64_FORMAT
               " ms: ask for less, or raise the limit max-keep-ms in irisd's configuration",
               limit);
  return FALSE;
}

/* Who it would wait for may be forgotten when irisd is started again. */
static gboolean
check_no_after (const IrisWireMessage *item, GError **error)
{
  if (!iris_wire_message_has (item, IRIS_WIRE_KEY_AFTER))
    return TRUE;
  g_set_error_literal (error, IRIS_WIRE_ERROR, IRIS_WIRE_ERROR_BAD_ARGUMENT,
                       "a kept item cannot come after others, which may be forgotten when irisd is "
                       "started again: leave out after, or send the item as volatile");
  return FALSE;
}

/* What was sent while it ran would be missing from the end that is kept. */
static gboolean
check_no_stream (const IrisWireMessage *item, GError **error)
{
  if (!iris_wire_message_has (item, IRIS_WIRE_KEY_STREAM)
      && !iris_wire_message_has (item, IRIS_WIRE_KEY_PARTS))
    return TRUE;
  g_set_error_literal (error, IRIS_WIRE_ERROR, IRIS_WIRE_ERROR_BAD_ARGUMENT,
                       "the output of a kept item is part of its end and cannot be sent as it "
                       "comes: leave out stream and parts, or send the item as volatile");
  return FALSE;
}

static gboolean
check_journal (IrisdGateway *self, GError **error)
{
  IrisdJournal *journal = self->core->journal;
  if (journal == NULL)
    g_set_error_literal (error, IRIS_WIRE_ERROR, IRIS_WIRE_ERROR_NOT_DURABLE,
                         "this irisd keeps no journal, so it cannot keep items: start it with "
                         "--journal DIR, or send the item as volatile");
  else if (irisd_journal_get_health (journal) != IRISD_JOURNAL_READY)
    g_set_error (error, IRIS_WIRE_ERROR, IRIS_WIRE_ERROR_JOURNAL_FAILED,
                 "the item was not kept: %s", irisd_journal_get_sentence (journal));
  else
    return TRUE;
  return FALSE;
}

/**
 * irisd_gateway_check_keeping:
 * @self: the gateway
 * @caller: who
 * @item: a SUBMIT message
 * @error: return location for a #GError of the domain %IRIS_WIRE_ERROR
 *
 * Returns: whether the item can be kept, or need not be
 */
gboolean
irisd_gateway_check_keeping (IrisdGateway *self,
                             const IrisdCaller *caller,
                             const IrisWireMessage *item,
                             GError **error)
{
  if (irisd_is_kept (item))
    return irisd_policy_check (IRISD_POLICY_KEEP, caller->peer->role, error)
           && check_key (item, error) && check_keep_ms (self, item, error)
           && check_no_stream (item, error) && check_no_after (item, error)
           && check_journal (self, error);
  if ((item->present & IRISD_KEEP_KEYS) == 0)
    return TRUE;
  g_set_error_literal (error, IRIS_WIRE_ERROR, IRIS_WIRE_ERROR_BAD_ARGUMENT,
                       "key, keep-ms, detach and bury are for items that irisd keeps: ask for the "
                       "class relaxed or durable");
  return FALSE;
}

/**
 * irisd_gateway_new_slip:
 * @self: the gateway
 * @kind: what is asked
 * @peer: for whom
 * @request_id: under which id
 *
 * Returns: (transfer full): a new slip
 */
IrisdSlip *
irisd_gateway_new_slip (IrisdGateway *self,
                        IrisdSlipKind kind,
                        IrisdPeer *peer,
                        const guint8 *request_id)
{
  IrisdSlip *slip = irisd_slip_new (kind, &self->mailbox);
  slip->peer = irisd_peer_ref (peer);
  slip->view = peer->owner;
  memcpy (slip->request_id, request_id, IRIS_WIRE_ID_SIZE);
  return slip;
}

/**
 * irisd_gateway_drop_job:
 * @self: the gateway
 * @job: (transfer full): a kept job that is not needed, because the journal does not take the item,
 *   or has it already
 */
void
irisd_gateway_drop_job (IrisdGateway *self, IrisdJob *job)
{
  IrisdPeer *peer = job->peer;
  irisd_gateway_drop_deadline (self, job);
  if (!irisd_peer_is_gone (peer))
    {
      g_hash_table_remove (peer->jobs, job->request_id);
      irisd_peer_add_bytes (peer, -(gint64) job->charge);
    }
  irisd_core_add_bytes (self->core, -(gint64) job->charge);
  g_hash_table_remove (self->orphans, job);
  job->kept = NULL;
  irisd_gateway_uncount (self, job);
  irisd_job_free (job);
  irisd_core_end_item (self->core);
}

static void
fill_keep (IrisdGateway *self, IrisdSlip *slip, IrisdJob *job, const IrisWireMessage *item)
{
  const char *service = job->task != NULL ? job->task->service : job->service->name;
  const IrisdRecord record = {
    .item = job->id,
    .state = IRIS_WIRE_STATE_QUEUED,
    .klass = item->klass,
    .owner = job->owner,
    .home = job->home,
    .accepted_ms = irisd_unix_ms (),
    .due_ms = item->delay_ms > 0 ? irisd_unix_ms () + item->delay_ms : 0,
    .keep_ms = iris_wire_message_has (item, IRIS_WIRE_KEY_KEEP_MS)
                   ? item->keep_ms
                   : self->core->config->limits.keep_ms,
    .key = item->key,
    .service = { service, strlen (service) },
    .body = item->body,
  };
  slip->type = IRIS_WIRE_SUBMIT;
  slip->kept = job->kept = irisd_kept_new (&record, NULL);
  job->bury = item->bury;
  slip->job = job;
  slip->quiet = item->quiet;
  slip->detach = job->detached = item->detach;
  slip->payload = irisd_job_get_payload (job);
}

/**
 * irisd_gateway_keep:
 * @self: the gateway
 * @caller: who
 * @job: (transfer full): a new job of his, whose place is set
 * @item: the SUBMIT message that it was made of
 *
 * Gives an item to the journal. It is accepted, or refused, when that answers.
 */
void
irisd_gateway_keep (IrisdGateway *self,
                    const IrisdCaller *caller,
                    IrisdJob *job,
                    const IrisWireMessage *item)
{
  g_autoptr (GError) error = NULL;
  if (irisd_gateway_keep_done (self, job, item))
    return;
  IrisWireMessage header = *item;
  header.body = (IrisWireFrame){ 0 };
  irisd_gateway_pin_hint (job, &header);
  if (!iris_wire_encode (&self->encoder, &header, &error))
    {
      irisd_gateway_drop_job (self, job);
      irisd_gateway_refuse (self, caller, item->request_id, error);
      return;
    }
  job->id = irisd_gateway_take_kept_number (self);
  irisd_gateway_note_home (self, job);

  IrisdSlip *slip = irisd_gateway_new_slip (self, IRISD_SLIP_KEEP, job->peer, job->request_id);
  const IrisWireFrame *frame = &self->encoder.frames[3];
  slip->header = (IrisdBlob){ g_memdup2 (frame->data, frame->size), frame->size };
  fill_keep (self, slip, job, item);
  slip->batch = irisd_gateway_expect_slip (self);
  irisd_journal_reserve (self->core->journal, slip);
  irisd_journal_post (self->core->journal, slip);
}

/**
 * irisd_gateway_detach:
 * @self: the gateway
 * @job: a kept job; from here on nobody but FETCH asks how it ends
 */
void
irisd_gateway_detach (IrisdGateway *self, IrisdJob *job)
{
  IrisdPeer *peer = job->peer;
  g_hash_table_add (self->orphans, job);
  if (irisd_peer_is_gone (peer))
    return;
  g_hash_table_remove (peer->jobs, job->request_id);
  irisd_peer_add_bytes (peer, -(gint64) job->charge);
}

static void
refuse_kept (IrisdGateway *self, IrisdSlip *slip)
{
  const IrisdCaller caller = { .route = slip->peer->route, .peer = slip->peer };
  irisd_gateway_drop_job (self, slip->job);
  if (irisd_peer_is_gone (slip->peer))
    return;
  if (g_error_matches (slip->error, IRIS_WIRE_ERROR, IRIS_WIRE_ERROR_BUSY))
    {
      IrisWireMessage item;
      iris_wire_message_init (&item, IRIS_WIRE_SUBMIT, slip->request_id);
      irisd_gateway_tell_full (self, &caller, &item, IRISD_FULL_KEPT,
                               self->core->config->limits.kept_items);
    }
  else
    irisd_gateway_refuse (self, &caller, slip->request_id, slip->error);
}

static void
accept_kept (IrisdGateway *self, IrisdSlip *slip)
{
  IrisdJob *job = slip->job;
  guint64 number = slip->duplicate ? slip->item : job->id;
  if (!slip->duplicate)
    irisd_gateway_register (self, job, NULL, NULL);
  irisd_gateway_tell_kept (self, slip->batch, slip->peer, slip->request_id, slip->quiet, number);

  if (slip->duplicate)
    {
      irisd_gateway_drop_job (self, job);
      if (!slip->detach && !irisd_peer_is_gone (slip->peer))
        irisd_gateway_await_end (self, slip->peer, slip->request_id, number, IRISD_WAIT_FOREVER);
      return;
    }
  irisd_count (&self->counters.accepted, 1);
  irisd_gateway_take_number (self, job);
  if (slip->detach)
    irisd_gateway_detach (self, job);
  if (irisd_job_get_state (job) == IRISD_JOB_CANCELLED)
    irisd_gateway_take_back (self, job);
  else
    irisd_gateway_advance (self, job);
}

static void
take_keep (IrisdGateway *self, IrisdSlip *slip)
{
  if (slip->error != NULL)
    refuse_kept (self, slip);
  else
    accept_kept (self, slip);
  irisd_gateway_note_slip (self, slip->batch);
}

/* Its end is written, or could not be. */
static void
take_end (IrisdGateway *self, IrisdSlip *slip)
{
  IrisdJob *job = slip->job;
  job->settled = TRUE;
  job->due = slip->error == NULL;
  if (slip->error != NULL)
    {
      g_clear_error (&job->result.error);
      job->result.error = g_steal_pointer (&slip->error);
    }
  if (job->early)
    irisd_gateway_tell_end (self, job);
  else
    irisd_gateway_take_back (self, job);
}

/* What was not done because irisd stops is done when it is back. */
static gboolean
is_put_off (IrisdJob *job)
{
  return g_error_matches (job->result.error, IRIS_WIRE_ERROR, IRIS_WIRE_ERROR_SHUTTING_DOWN);
}

/**
 * irisd_gateway_end_kept:
 * @self: the gateway
 * @job: a kept job that came back for good
 *
 * Returns: whether it can be ended; otherwise it comes back once more, when the journal has its end
 */
gboolean
irisd_gateway_end_kept (IrisdGateway *self, IrisdJob *job)
{
  if (job->settled)
    return TRUE;
  if (irisd_job_get_state (job) == IRISD_JOB_CANCELLED)
    irisd_job_fail (job, IRIS_WIRE_ERROR_CANCELLED, "the item was cancelled before it ran");
  if (is_put_off (job))
    {
      irisd_job_fail (job, IRIS_WIRE_ERROR_SHUTTING_DOWN,
                      "irisd was stopped before the item was done: it is kept as item "
                      "%" G_GUINT64_FORMAT ", and runs when irisd is back",
                      job->id);
      irisd_kept_set_state (job->kept, IRIS_WIRE_STATE_QUEUED);
      job->settled = TRUE;
      return TRUE;
    }

  if (irisd_gateway_bury_if_failed (self, job))
    return FALSE;
  IrisWireMessage message;
  g_autoptr (GError) error = NULL;
  irisd_gateway_describe_ending (job, &message);
  IrisdSlip *slip = irisd_gateway_new_slip (self, IRISD_SLIP_END, job->peer, job->request_id);
  if (!iris_wire_encode (&self->encoder, &message, &error))
    g_error ("the end of an item cannot be encoded: %s", error->message);
  const IrisWireFrame *header = &self->encoder.frames[3];
  slip->kept = job->kept;
  slip->job = job;
  slip->type = message.type;
  slip->header = (IrisdBlob){ g_memdup2 (header->data, header->size), header->size };
  if (job->result.error == NULL)
    slip->payload = (IrisWireFrame){ zmq_msg_data (&job->result.body),
                                     zmq_msg_size (&job->result.body) };
  slip->state = job->result.error == NULL ? IRIS_WIRE_STATE_DONE
                : g_error_matches (job->result.error, IRIS_WIRE_ERROR, IRIS_WIRE_ERROR_CANCELLED)
                    ? IRIS_WIRE_STATE_CANCELLED
                    : IRIS_WIRE_STATE_FAILED;
  job->ending = TRUE;
  irisd_journal_post (self->core->journal, slip);
  return FALSE;
}

/**
 * irisd_gateway_take_slip:
 * @self: the gateway
 * @slip: (transfer full): an answer of the journal
 */
void
irisd_gateway_take_slip (IrisdGateway *self, IrisdSlip *slip)
{
  switch (slip->kind)
    {
    case IRISD_SLIP_KEEP:
      take_keep (self, slip);
      break;
    case IRISD_SLIP_DONE:
      irisd_gateway_take_done (self, slip);
      break;
    case IRISD_SLIP_END:
      take_end (self, slip);
      break;
    case IRISD_SLIP_RECOVERED:
      irisd_gateway_take_recovered (self, slip, NULL);
      break;
    case IRISD_SLIP_CALL:
      irisd_gateway_take_called (self, slip);
      break;
    case IRISD_SLIP_BURY:
      irisd_gateway_take_bury (self, slip);
      break;
    case IRISD_SLIP_CANCEL:
      irisd_gateway_take_cancel (self, slip);
      break;
    case IRISD_SLIP_KICK:
    case IRISD_SLIP_INTER:
      irisd_gateway_take_kick (self, slip);
      break;
    default:
      irisd_gateway_take_told (self, slip);
      break;
    }
  irisd_slip_free (slip);
}
