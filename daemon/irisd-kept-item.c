/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * A gateway's kept items: on their way into the journal, to the workers, and to their end.
 *
 * A kept item is a job like any other, with two stops more: it is queued when the journal has it,
 * and its ending is sent when the journal has that. It belongs to the journal and not to its
 * connection, so it goes on when that has gone.
 */
#include "irisd-gateway-private.h"
#include "irisd-journal.h"

#include <string.h>

/* A longer key would cost more memory than the item. */
#define MAX_KEY 256

/**
 * IrisdKeptBatch:
 * @pending: items of which the journal has not told yet
 * @accepted: items that were accepted
 * @open: more may come
 *
 * A BATCH with kept items, whose ACCEPTED waits for the journal. The gateway's own.
 */
struct _IrisdKeptBatch
{
  IrisdPeer *peer;
  guint8 request_id[IRIS_WIRE_ID_SIZE];
  guint pending;
  guint accepted;
  guint64 first;
  guint64 next;
  gboolean open;
};

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
 * @item: a SUBMIT message
 * @error: return location for a #GError of the domain %IRIS_WIRE_ERROR
 *
 * Returns: whether the item can be kept, or need not be
 */
gboolean
irisd_gateway_check_keeping (IrisdGateway *self, const IrisWireMessage *item, GError **error)
{
  if (irisd_is_kept (item))
    return check_key (item, error) && check_keep_ms (self, item, error)
           && check_journal (self, error);
  if ((item->present & IRISD_KEEP_KEYS) == 0)
    return TRUE;
  g_set_error_literal (error, IRIS_WIRE_ERROR, IRIS_WIRE_ERROR_BAD_ARGUMENT,
                       "key, keep-ms and detach are for items that irisd keeps: ask for the class "
                       "relaxed or durable");
  return FALSE;
}

/**
 * irisd_gateway_new_errand:
 * @self: the gateway
 * @kind: what is asked
 * @peer: for whom
 * @request_id: under which id
 *
 * Returns: (transfer full): a new errand
 */
IrisdErrand *
irisd_gateway_new_errand (IrisdGateway *self,
                          IrisdErrandKind kind,
                          IrisdPeer *peer,
                          const guint8 *request_id)
{
  IrisdErrand *errand = irisd_errand_new (kind, &self->mailbox);
  errand->peer = irisd_peer_ref (peer);
  memcpy (errand->request_id, request_id, IRIS_WIRE_ID_SIZE);
  return errand;
}

/* The journal does not take the item, or has it already: its job is not needed. */
static void
drop_job (IrisdGateway *self, IrisdJob *job)
{
  IrisdPeer *peer = job->peer;
  if (!irisd_peer_is_gone (peer))
    {
      g_hash_table_remove (peer->jobs, job->request_id);
      irisd_peer_add_bytes (peer, -(gint64) job->charge);
    }
  irisd_core_add_bytes (self->core, -(gint64) job->charge);
  job->kept = NULL;
  irisd_job_free (job);
  irisd_core_end_item (self->core);
}

static guint64
take_number (IrisdGateway *self)
{
  IrisdKeptBatch *batch = self->batch;
  if (batch == NULL)
    return irisd_core_new_item_id (self->core);
  if (batch->next == 0)
    batch->first = batch->next = irisd_core_new_item_ids (self->core, self->batch_size);
  return batch->next++;
}

static void
fill_keep (IrisdGateway *self, IrisdErrand *errand, IrisdJob *job, const IrisWireMessage *item)
{
  const IrisdRecord record = {
    .item = job->number,
    .state = IRIS_WIRE_STATE_QUEUED,
    .klass = item->klass,
    .home = job->home,
    .accepted_ms = irisd_unix_ms (),
    .keep_ms = iris_wire_message_has (item, IRIS_WIRE_KEY_KEEP_MS)
                   ? item->keep_ms
                   : self->core->config->limits.keep_ms,
    .key = item->key,
    .service = { job->service->name, strlen (job->service->name) },
    .body = item->body,
  };
  errand->type = IRIS_WIRE_SUBMIT;
  errand->kept = job->kept = irisd_kept_new (&record);
  errand->job = job;
  errand->quiet = item->quiet;
  errand->detach = job->detached = item->detach;
  errand->payload = irisd_job_get_payload (job);
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
  IrisWireMessage header = *item;
  header.body = (IrisWireFrame){ 0 };
  if (!iris_wire_encode (&self->encoder, &header, &error))
    {
      drop_job (self, job);
      irisd_gateway_refuse (self, caller, item->request_id, error);
      return;
    }
  if (self->batch_size > 0 && self->batch == NULL)
    {
      self->batch = g_new0 (IrisdKeptBatch, 1);
      self->batch->open = TRUE;
    }
  job->number = take_number (self);

  IrisdErrand *errand = irisd_gateway_new_errand (self, IRISD_ERRAND_KEEP, job->peer,
                                                  job->request_id);
  const IrisWireFrame *frame = &self->encoder.frames[3];
  errand->header = (IrisdBlob){ g_memdup2 (frame->data, frame->size), frame->size };
  fill_keep (self, errand, job, item);
  errand->batch = self->batch;
  if (errand->batch != NULL)
    errand->batch->pending++;
  irisd_journal_post (self->core->journal, errand);
}

static void
tell_accepted (IrisdGateway *self,
               IrisdPeer *peer,
               const guint8 *request_id,
               guint count,
               guint64 item)
{
  const IrisdCaller caller = { .route = peer->route, .peer = peer };
  IrisWireMessage accepted;
  iris_wire_message_init (&accepted, IRIS_WIRE_ACCEPTED, request_id);
  iris_wire_message_set_uint (&accepted, IRIS_WIRE_KEY_COUNT, count);
  if (item != 0)
    iris_wire_message_set_uint (&accepted, IRIS_WIRE_KEY_ITEM, item);
  if (!irisd_peer_is_gone (peer))
    irisd_gateway_answer (self, &caller, &accepted);
}

static void
finish_batch (IrisdGateway *self, IrisdKeptBatch *batch)
{
  if (batch->open || batch->pending > 0)
    return;
  tell_accepted (self, batch->peer, batch->request_id, batch->accepted, batch->first);
  irisd_peer_unref (batch->peer);
  g_free (batch);
}

/**
 * irisd_gateway_close_batch:
 * @self: the gateway
 * @caller: who sent the batch
 * @request_id: its id
 * @accepted: items of it that are not kept and were accepted
 *
 * Returns: %FALSE if the batch had no kept items; otherwise ACCEPTED is sent when the journal has
 *   told of all
 */
gboolean
irisd_gateway_close_batch (IrisdGateway *self,
                           const IrisdCaller *caller,
                           const guint8 *request_id,
                           guint accepted)
{
  IrisdKeptBatch *batch = g_steal_pointer (&self->batch);
  self->batch_size = 0;
  if (batch == NULL)
    return FALSE;
  batch->peer = irisd_peer_ref (caller->peer);
  memcpy (batch->request_id, request_id, IRIS_WIRE_ID_SIZE);
  batch->accepted += accepted;
  batch->open = FALSE;
  finish_batch (self, batch);
  return TRUE;
}

/* From here on nobody but FETCH asks how it ends. */
static void
detach (IrisdJob *job)
{
  IrisdPeer *peer = job->peer;
  if (irisd_peer_is_gone (peer))
    return;
  g_hash_table_remove (peer->jobs, job->request_id);
  irisd_peer_add_bytes (peer, -(gint64) job->charge);
}

static void
refuse_kept (IrisdGateway *self, IrisdErrand *errand)
{
  const IrisdCaller caller = { .route = errand->peer->route, .peer = errand->peer };
  drop_job (self, errand->job);
  if (!irisd_peer_is_gone (errand->peer))
    irisd_gateway_refuse (self, &caller, errand->request_id, errand->error);
}

static void
accept_kept (IrisdGateway *self, IrisdErrand *errand)
{
  IrisdJob *job = errand->job;
  guint64 number = errand->duplicate ? errand->item : job->number;
  if (errand->batch != NULL)
    errand->batch->accepted++;
  else if (!errand->quiet)
    tell_accepted (self, errand->peer, errand->request_id, 1, number);

  if (errand->duplicate)
    {
      drop_job (self, job);
      if (!errand->detach && !irisd_peer_is_gone (errand->peer))
        irisd_gateway_await_end (self, errand->peer, errand->request_id, number,
                                 IRISD_WAIT_FOREVER);
      return;
    }
  irisd_count (&self->counters.accepted, 1);
  if (errand->detach)
    detach (job);
  if (irisd_job_get_state (job) == IRISD_JOB_CANCELLED)
    irisd_gateway_take_back (self, job);
  else
    irisd_job_queue (job, job->home, job->strict);
}

static void
take_keep (IrisdGateway *self, IrisdErrand *errand)
{
  IrisdKeptBatch *batch = errand->batch;
  if (errand->error != NULL)
    refuse_kept (self, errand);
  else
    accept_kept (self, errand);
  if (batch != NULL)
    {
      batch->pending--;
      finish_batch (self, batch);
    }
}

/* Its end is written, or could not be. */
static void
take_end (IrisdGateway *self, IrisdErrand *errand)
{
  IrisdJob *job = errand->job;
  job->settled = TRUE;
  job->due = errand->error == NULL;
  if (errand->error != NULL)
    {
      g_clear_error (&job->result.error);
      job->result.error = g_steal_pointer (&errand->error);
    }
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
                      job->number);
      irisd_kept_set_state (job->kept, IRIS_WIRE_STATE_QUEUED);
      job->settled = TRUE;
      return TRUE;
    }

  IrisWireMessage message;
  g_autoptr (GError) error = NULL;
  irisd_gateway_describe_ending (job, &message);
  IrisdErrand *errand = irisd_gateway_new_errand (self, IRISD_ERRAND_END, job->peer,
                                                  job->request_id);
  if (!iris_wire_encode (&self->encoder, &message, &error))
    g_error ("the end of an item cannot be encoded: %s", error->message);
  const IrisWireFrame *header = &self->encoder.frames[3];
  errand->kept = job->kept;
  errand->job = job;
  errand->type = message.type;
  errand->header = (IrisdBlob){ g_memdup2 (header->data, header->size), header->size };
  if (job->result.error == NULL)
    errand->payload = (IrisWireFrame){ zmq_msg_data (&job->result.body),
                                       zmq_msg_size (&job->result.body) };
  errand->state = job->result.error == NULL ? IRIS_WIRE_STATE_DONE
                  : g_error_matches (job->result.error, IRIS_WIRE_ERROR, IRIS_WIRE_ERROR_CANCELLED)
                      ? IRIS_WIRE_STATE_CANCELLED
                      : IRIS_WIRE_STATE_FAILED;
  irisd_journal_post (self->core->journal, errand);
  return FALSE;
}

/* A peer that was never there, for items whose connection did not survive irisd. */
static IrisdPeer *
get_nobody (IrisdGateway *self)
{
  if (self->nobody == NULL)
    {
      const IrisdRoute nowhere = { 0 };
      self->nobody = irisd_peer_new (&nowhere);
      atomic_store_explicit (&self->nobody->gone, TRUE, memory_order_relaxed);
    }
  return self->nobody;
}

/* Fails an item that this irisd has no service for, or cannot read. */
static const IrisdService unknown_service = { .name = "unknown" };

static gint
choose_home (IrisdGateway *self, const IrisWireMessage *item)
{
  guint n = self->core->n_places;
  if (item->hint >= 0 && (guint) item->hint < n)
    return item->hint;
  return self->place != IRISD_FRONT ? self->place : 0;
}

static void
queue_recovered (IrisdGateway *self, IrisdErrand *errand, const IrisWireMessage *item)
{
  const IrisdService *service = irisd_services_lookup (self->core->services, &item->service);
  IrisdJob *job = irisd_job_new (self->core, &self->mailbox, get_nobody (self),
                                 service != NULL ? service : &unknown_service, item, &errand->body);
  job->kept = errand->kept;
  job->number = errand->item;
  job->strict = item->strict;
  job->detached = TRUE;
  irisd_core_begin_item (self->core);
  irisd_core_add_bytes (self->core, (gint64) job->charge);
  irisd_count (&self->counters.accepted, 1);
  if (service != NULL)
    {
      irisd_job_queue (job, choose_home (self, item), item->strict);
      return;
    }
  irisd_job_fail (job, IRIS_WIRE_ERROR_UNKNOWN_SERVICE,
                  "the item was kept for a service that this irisd does not have");
  irisd_gateway_take_back (self, job);
}

static void
take_recovered (IrisdGateway *self, IrisdErrand *errand)
{
  const guint8 type = IRIS_WIRE_SUBMIT;
  const guint8 id[IRIS_WIRE_ID_SIZE] = { 0 };
  const IrisWireFrame frames[IRIS_WIRE_N_FRAMES] = {
    { (const guint8 *) "IRS1", 4 },
    { &type, 1 },
    { id, sizeof id },
    { errand->header.data, errand->header.size },
    { zmq_msg_data (&errand->body), zmq_msg_size (&errand->body) },
  };
  IrisWireMessage item;
  g_autoptr (GError) error = NULL;
  if (!iris_wire_decode (frames, IRIS_WIRE_N_FRAMES, &self->core->wire_limits, &item, &error))
    {
      irisd_log (IRISD_LOG_ERROR, "the kept item %" G_GUINT64_FORMAT " cannot be run again: %s",
                 errand->item, error->message);
      iris_wire_message_init (&item, IRIS_WIRE_SUBMIT, id);
    }
  queue_recovered (self, errand, &item);
}

/**
 * irisd_gateway_run_again:
 * @self: a gateway that was not started
 * @record: an item that has not ended
 * @kept: the same
 */
void
irisd_gateway_run_again (IrisdGateway *self, const IrisdRecord *record, IrisdKept *kept)
{
  IrisdErrand *errand = irisd_errand_new (IRISD_ERRAND_RECOVERED, &self->mailbox);
  errand->item = record->item;
  errand->kept = kept;
  errand->header = (IrisdBlob){ g_memdup2 (record->header.data, record->header.size),
                                record->header.size };
  if (record->body.size > 0)
    {
      zmq_msg_close (&errand->body);
      if (zmq_msg_init_size (&errand->body, record->body.size) != 0)
        g_error ("out of memory for a payload of %zu bytes", record->body.size);
      memcpy (zmq_msg_data (&errand->body), record->body.data, record->body.size);
    }
  irisd_mailbox_post (&self->mailbox, &errand->letter);
}

/**
 * irisd_gateway_take_errand:
 * @self: the gateway
 * @errand: (transfer full): an answer of the journal
 */
void
irisd_gateway_take_errand (IrisdGateway *self, IrisdErrand *errand)
{
  switch (errand->kind)
    {
    case IRISD_ERRAND_KEEP:
      take_keep (self, errand);
      break;
    case IRISD_ERRAND_END:
      take_end (self, errand);
      break;
    case IRISD_ERRAND_RECOVERED:
      take_recovered (self, errand);
      break;
    default:
      irisd_gateway_take_told (self, errand);
      break;
    }
  irisd_errand_free (errand);
}
