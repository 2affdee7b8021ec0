/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * A gateway's persistent items: on their way into the journal, to the workers, and to their end.
 *
 * A persistent item is a job with two stops more: it is queued when the journal has it, and its
 * completion is sent when the journal has that. It belongs to the journal and not to its
 * connection, so it goes on when that has gone.
 */
#include "daemon/exec/worker/irisd-worker-processes.h"
#include "daemon/gateway/irisd-gateway-private.h"
#include "daemon/items/irisd-bury.h"
#include "daemon/items/spill/irisd-spilled.h"
#include "daemon/store/irisd-journal.h"

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

/* After a restart its dependencies may be forgotten. */
static gboolean
check_no_after (const IrisWireMessage *item, GError **error)
{
  if (!iris_wire_message_has (item, IRIS_WIRE_KEY_AFTER))
    return TRUE;
  g_set_error_literal (
      error, IRIS_WIRE_ERROR, IRIS_WIRE_ERROR_BAD_ARGUMENT,
      "a persistent item cannot come after others, which may be forgotten when irisd is "
      "started again: leave out after, or send the item as volatile");
  return FALSE;
}

/* Output that was sent while it ran would be missing from the stored end. */
static gboolean
check_no_stream (const IrisWireMessage *item, GError **error)
{
  if (!iris_wire_message_has (item, IRIS_WIRE_KEY_STREAM)
      && !iris_wire_message_has (item, IRIS_WIRE_KEY_PARTS))
    return TRUE;
  g_set_error_literal (
      error, IRIS_WIRE_ERROR, IRIS_WIRE_ERROR_BAD_ARGUMENT,
      "the output of a persistent item is part of its end and cannot be sent as it "
      "comes: leave out stream and parts, or send the item as volatile");
  return FALSE;
}

static gboolean
check_journal (IrisdGateway *self, GError **error)
{
  IrisdJournal *journal = self->core->journal;
  if (journal == NULL)
    g_set_error_literal (error, IRIS_WIRE_ERROR, IRIS_WIRE_ERROR_NOT_DURABLE,
                         "cannot store a persistent item: this irisd has no journal; start it with "
                         "--journal DIR, or send the item as volatile");
  else if (irisd_journal_get_health (journal) != IRISD_JOURNAL_READY)
    g_set_error (error, IRIS_WIRE_ERROR, IRIS_WIRE_ERROR_JOURNAL_FAILED,
                 "cannot store the persistent item: %s", irisd_journal_get_reason (journal));
  else
    return TRUE;
  return FALSE;
}

/* Returns whether @item can be stored, or is volatile and has no key of a persistent one. */
gboolean
irisd_persistent_check (IrisdGateway *self,
                        const IrisdCaller *caller,
                        const IrisWireMessage *item,
                        GError **error)
{
  if (irisd_is_persistent (item))
    return irisd_policy_check (IRISD_POLICY_KEEP, caller->peer->role, error)
           && check_key (item, error) && check_keep_ms (self, item, error)
           && check_no_stream (item, error) && check_no_after (item, error)
           && check_journal (self, error);
  if ((item->present & IRISD_KEEP_KEYS) == 0)
    return TRUE;
  g_set_error_literal (error, IRIS_WIRE_ERROR, IRIS_WIRE_ERROR_BAD_ARGUMENT,
                       "key, keep-ms, detach and bury are for persistent items: choose the class "
                       "relaxed or durable, or leave them out");
  return FALSE;
}

IrisdJournalRequest *
irisd_persistent_new_request (IrisdGateway *self,
                              IrisdJournalRequestKind kind,
                              IrisdPeer *peer,
                              const guint8 *request_id)
{
  IrisdJournalRequest *request = irisd_journal_request_new (kind, &self->mailbox);
  request->peer = irisd_peer_ref (peer);
  request->view = peer->owner;
  memcpy (request->request_id, request_id, IRIS_WIRE_ID_SIZE);
  return request;
}

/* Takes a persistent job that is not needed, because the journal refused the item, or has it
 * already. */
void
irisd_persistent_drop_job (IrisdGateway *self, IrisdJob *job)
{
  IrisdPeer *peer = job->peer;
  irisd_deadline_drop (self, job);
  if (!irisd_peer_is_gone (peer))
    {
      g_hash_table_remove (peer->jobs, job->request_id);
      irisd_peer_add_bytes (peer, -(gint64) job->charge);
    }
  irisd_core_add_bytes (self->core, -(gint64) job->charge);
  g_hash_table_remove (self->orphans, job);
  job->persistent = NULL;
  irisd_dependencies_uncount (self, job);
  irisd_job_advance (job, IRISD_EVENT_REFUSE);
  irisd_job_free (job);
  irisd_core_end_item (self->core);
}

static void
fill_keep (IrisdGateway *self,
           IrisdJournalRequest *request,
           IrisdJob *job,
           const IrisWireMessage *item)
{
  const char *service = job->leased_item != NULL ? job->leased_item->service : job->service->name;
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
  request->type = IRIS_WIRE_SUBMIT;
  request->persistent = job->persistent = irisd_persistent_item_new (&record, NULL);
  job->bury = item->bury;
  request->job = job;
  request->quiet = item->quiet;
  request->detach = job->detached = item->detach;
  request->payload = irisd_job_get_payload (job);
}

/* Gives a new job, whose place is set, to the journal. @item is its SUBMIT. It is accepted, or
 * refused, when the journal answers. */
void
irisd_persistent_keep (IrisdGateway *self,
                       const IrisdCaller *caller,
                       IrisdJob *job,
                       const IrisWireMessage *item)
{
  g_autoptr (GError) error = NULL;
  if (irisd_persistent_done_add (self, job, item))
    return;
  IrisWireMessage header = *item;
  header.body = (IrisWireFrame){ 0 };
  irisd_placement_pin_hint (job, &header);
  if (!iris_wire_encode (&self->encoder, &header, &error))
    {
      irisd_persistent_drop_job (self, job);
      irisd_send_refusal (self, caller, item->request_id, error);
      return;
    }
  job->id = irisd_persistent_batch_take_number (self);
  irisd_placement_note_home (self, job);

  IrisdJournalRequest *request = irisd_persistent_new_request (self, IRISD_JOURNAL_REQUEST_KEEP,
                                                               job->peer, job->request_id);
  const IrisWireFrame *frame = &self->encoder.frames[3];
  request->header = (IrisdBlob){ g_memdup2 (frame->data, frame->size), frame->size };
  fill_keep (self, request, job, item);
  request->batch = irisd_persistent_batch_expect (self);
  irisd_job_advance (job, IRISD_EVENT_WRITE_ROW);
  irisd_journal_reserve (self->core->journal, request);
  irisd_journal_post (self->core->journal, request);
}

/* From here on only FETCH asks how the job ends. */
void
irisd_persistent_detach (IrisdGateway *self, IrisdJob *job)
{
  IrisdPeer *peer = job->peer;
  g_hash_table_add (self->orphans, job);
  if (irisd_peer_is_gone (peer))
    return;
  g_hash_table_remove (peer->jobs, job->request_id);
  irisd_peer_add_bytes (peer, -(gint64) job->charge);
}

static void
refuse_persistent (IrisdGateway *self, IrisdJournalRequest *request)
{
  const IrisdCaller caller = { .route = request->peer->route, .peer = request->peer };
  irisd_persistent_drop_job (self, request->job);
  if (irisd_peer_is_gone (request->peer))
    return;
  if (g_error_matches (request->error, IRIS_WIRE_ERROR, IRIS_WIRE_ERROR_BUSY))
    {
      IrisWireMessage item;
      iris_wire_message_init (&item, IRIS_WIRE_SUBMIT, request->request_id);
      irisd_admission_tell_full (self, &caller, &item, IRISD_FULL_PERSISTENT,
                                 self->core->config->limits.persistent_items);
    }
  else
    irisd_send_refusal (self, &caller, request->request_id, request->error);
}

static void
accept_persistent (IrisdGateway *self, IrisdJournalRequest *request)
{
  IrisdJob *job = request->job;
  guint64 number = request->duplicate ? request->item : job->id;
  if (!request->duplicate)
    irisd_dependencies_register (self, job, NULL, NULL);
  irisd_persistent_batch_tell (self, request->batch, request->peer, request->request_id,
                               request->quiet, number);

  if (request->duplicate)
    {
      irisd_persistent_drop_job (self, job);
      if (!request->detach && !irisd_peer_is_gone (request->peer))
        irisd_item_requests_await_end (self, request->peer, request->request_id, number,
                                       IRISD_WAIT_FOREVER);
      return;
    }
  irisd_count (&self->counters.accepted, 1);
  irisd_persistent_register (self, job);
  if (request->detach)
    irisd_persistent_detach (self, job);
  irisd_job_advance (job, IRISD_EVENT_WRITTEN);
  if (irisd_job_is (job, IRISD_ITEM_RETURNED))
    irisd_completion_end_job (self, job);
  else
    irisd_dispatch_advance (self, job);
}

static void
take_keep (IrisdGateway *self, IrisdJournalRequest *request)
{
  if (request->error != NULL)
    refuse_persistent (self, request);
  else
    accept_persistent (self, request);
  irisd_persistent_batch_note (self, request->batch);
}

void
irisd_persistent_take_request (IrisdGateway *self, IrisdJournalRequest *request)
{
  switch (request->kind)
    {
    case IRISD_JOURNAL_REQUEST_KEEP:
      take_keep (self, request);
      break;
    case IRISD_JOURNAL_REQUEST_DONE:
      irisd_persistent_done_take_answer (self, request);
      break;
    case IRISD_JOURNAL_REQUEST_END:
      irisd_completion_take_end (self, request);
      break;
    case IRISD_JOURNAL_REQUEST_RECOVERED:
      irisd_restore_take_recovered (self, request, NULL);
      break;
    case IRISD_JOURNAL_REQUEST_RELOAD:
      irisd_reload_take_answer (self, request);
      break;
    case IRISD_JOURNAL_REQUEST_BURY:
      irisd_bury_take_answer (self, request);
      break;
    case IRISD_JOURNAL_REQUEST_CANCEL:
      irisd_bury_requests_take_cancel (self, request);
      break;
    case IRISD_JOURNAL_REQUEST_KICK:
    case IRISD_JOURNAL_REQUEST_BURY_ITEM:
      irisd_bury_requests_take_kick (self, request);
      break;
    default:
      irisd_item_requests_take_answer (self, request);
      break;
    }
  irisd_journal_request_free (request);
}
