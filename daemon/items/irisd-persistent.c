/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * A gateway's persistent items: on their way into the journal, to the workers, and to their end.
 *
 * A persistent item is a job with two stops more: it is queued when the journal has it, and its
 * completion is sent when the journal has that. It belongs to the journal and not to its
 * connection, so it goes on when that has gone.
 *
 * A batch with persistent items is pending as often as it has journal requests on their way: one
 * for each item that the journal has to accept, and one for all durable ones that were done at
 * once. Its ACCEPTED waits for all of them.
 *
 * Items that run before they are stored. A run in the gateway (irisd_dispatch_run_at_once()) has no
 * effect but its result, and takes less time than a message about it. So nothing is lost if irisd
 * dies between the run and the first write: the acceptance was not answered, and the run left no
 * trace. Such an item runs as soon as it is read, and the journal gets it with its end, as one row,
 * in one journal request for all of a batch or a turn. A durable item is accepted, and its end
 * sent, when that row is on the disk; a relaxed one at once, and its row is on the disk within
 * `relaxed-ms`, unless its end was acknowledged before.
 *
 * Items with a key take the ordinary way: only the journal knows whether the key is taken, and a
 * second item with it would be counted twice. So do items of a session that were perhaps sent
 * before; others of a session are new.
 */
#include "daemon/items/irisd-persistent.h"

#include "daemon/exec/worker/irisd-worker-processes.h"
#include "daemon/items/irisd-completion.h"
#include "daemon/items/irisd-dependencies.h"
#include "daemon/items/irisd-dispatch.h"
#include "daemon/items/irisd-item-log.h"
#include "daemon/items/irisd-placement.h"
#include "daemon/items/irisd-restore.h"
#include "daemon/items/spill/irisd-reload.h"

#include <string.h>

/* A longer key would cost more memory than the item. */
#define MAX_KEY 256

/* Bytes of the key that is made of a session and a request id. */
#define SESSION_KEY_SIZE (1 + IRIS_WIRE_SESSION_SIZE + IRIS_WIRE_ID_SIZE)

/* Rows that a row batch has room for from the start. */
#define MOST_AHEAD 256

/* The keys of a SUBMIT that only a persistent item has. */
#define KEEP_KEYS                                                              \
  (IRIS_WIRE_BIT (IRIS_WIRE_KEY_KEY) | IRIS_WIRE_BIT (IRIS_WIRE_KEY_KEEP_MS)   \
   | IRIS_WIRE_BIT (IRIS_WIRE_KEY_DETACH) | IRIS_WIRE_BIT (IRIS_WIRE_KEY_BURY) \
   | IRIS_WIRE_BIT (IRIS_WIRE_KEY_SESSION))

/**
 * IrisdPersistentBatch:
 * @pending: journal requests without an answer yet
 * @accepted: items that were accepted
 * @open: more may come
 * @done: durable items that were done at once
 *
 * A BATCH with persistent items. For its gateway's thread.
 */
struct _IrisdPersistentBatch
{
  IrisdPeer *peer;
  guint8 request_id[IRIS_WIRE_ID_SIZE];
  guint pending;
  guint accepted;
  guint64 first;
  guint64 next;
  gboolean open;
  gboolean quiet;
  IrisdJournalRequest *done;
};

static gboolean
check_key (const IrisWireMessage *item, GError **error)
{
  if (!iris_wire_message_has (item, IRIS_WIRE_KEY_KEY))
    return TRUE;
  if (item->key.len == 0 || item->key.len > MAX_KEY)
    g_set_error (error, IRIS_WIRE_ERROR, IRIS_WIRE_ERROR_BAD_ARGUMENT,
                 "a key has 1 to %d bytes, and this one %" G_GSIZE_FORMAT, MAX_KEY, item->key.len);
  else
    return TRUE;
  return FALSE;
}

/* An item that was perhaps sent before is found by its session. */
static gboolean
check_session (const IrisdPeer *peer, const IrisWireMessage *item, GError **error)
{
  if (!iris_wire_message_has (item, IRIS_WIRE_KEY_SESSION)
      || (peer->has_session && item->session.len == IRIS_WIRE_SESSION_SIZE
          && memcmp (item->session.data, peer->session, IRIS_WIRE_SESSION_SIZE) == 0))
    return TRUE;
  g_set_error_literal (
      error, IRIS_WIRE_ERROR, IRIS_WIRE_ERROR_BAD_ARGUMENT,
      "the session of the item is not the one of the connection: name the one of its HELLO");
  return FALSE;
}

/* What a connection with a session has in place of a key: the session and the request id. */
static IrisWireString
make_session_key (const IrisdPeer *peer, const IrisWireMessage *item, char *key)
{
  if (item->key.len > 0 || !peer->has_session)
    return item->key;
  key[0] = IRISD_SESSION_MARK;
  memcpy (key + 1, peer->session, IRIS_WIRE_SESSION_SIZE);
  memcpy (key + 1 + IRIS_WIRE_SESSION_SIZE, item->request_id, IRIS_WIRE_ID_SIZE);
  return (IrisWireString){ key, SESSION_KEY_SIZE };
}

gboolean
irisd_persistent_check_keep_ms (IrisdItems *self, const IrisWireMessage *item, GError **error)
{
  guint64 limit = irisd_core_get_settings (self->core)->limits.max_keep_ms;
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
  if (!iris_wire_message_has (item, IRIS_WIRE_KEY_AFTER)
      && !iris_wire_message_has (item, IRIS_WIRE_KEY_AFTER_AWAY))
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
check_journal (IrisdItems *self, GError **error)
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
irisd_persistent_check (IrisdItems *self,
                        const IrisdPeer *peer,
                        const IrisWireMessage *item,
                        GError **error)
{
  if (irisd_is_persistent (item))
    return irisd_policy_check (IRISD_POLICY_KEEP, peer->roles, error) && check_key (item, error)
           && check_session (peer, item, error)
           && irisd_persistent_check_keep_ms (self, item, error) && check_no_stream (item, error)
           && check_no_after (item, error) && check_journal (self, error);
  if ((item->present & KEEP_KEYS) == 0)
    return TRUE;
  g_set_error_literal (
      error, IRIS_WIRE_ERROR, IRIS_WIRE_ERROR_BAD_ARGUMENT,
      "key, keep-ms, detach, bury and session are for persistent items: choose the class "
      "relaxed or durable, or leave them out");
  return FALSE;
}

/* Returns the number of the persistent item in hand. Those of a batch are consecutive. */
static guint64
take_number (IrisdItems *self)
{
  if (self->batch_size == 0)
    return irisd_core_new_item_id (self->core);
  if (self->batch == NULL)
    {
      self->batch = g_new0 (IrisdPersistentBatch, 1);
      self->batch->open = TRUE;
      self->batch->first = irisd_core_new_item_ids (self->core, self->batch_size);
      self->batch->next = self->batch->first;
    }
  return self->batch->next++;
}

static void
finish (IrisdItems *self, IrisdPersistentBatch *batch)
{
  if (batch->open || batch->pending > 0)
    return;
  if (!batch->quiet)
    self->klass->tell_accepted (self, batch->peer, batch->request_id, batch->accepted,
                                batch->first);
  irisd_peer_unref (batch->peer);
  g_free (batch);
}

/* Returns the journal request that collects items that run at once. Durable ones of a batch wait
 * for the disk anyway, so they are collected until its end. */
static IrisdJournalRequest **
get_done (IrisdItems *self, gboolean durable)
{
  return durable && self->batch != NULL ? &self->batch->done : &self->done[durable];
}

/* Returns the batch in hand, or NULL. It now waits for one more journal request. */
static IrisdPersistentBatch *
expect (IrisdItems *self)
{
  if (self->batch != NULL)
    self->batch->pending++;
  return self->batch;
}

/* A journal request that expect() counted is back. This may free @batch. */
static void
note_answer (IrisdItems *self, IrisdPersistentBatch *batch)
{
  if (batch == NULL)
    return;
  batch->pending--;
  finish (self, batch);
}

/* An item is accepted: answers, or lets its batch answer. @quiet: no answer is wanted. */
static void
tell_accepted (IrisdItems *self,
               IrisdPersistentBatch *batch,
               IrisdPeer *peer,
               const guint8 *request_id,
               gboolean quiet,
               guint64 item)
{
  if (batch != NULL)
    batch->accepted++;
  else if (!quiet)
    self->klass->tell_accepted (self, peer, request_id, 1, item);
}

/* Goes on with a BATCH of @n_items; @batch is what irisd_persistent_batch_pause() returned, if it
 * was paused. */
void
irisd_persistent_batch_resume (IrisdItems *self, IrisdPersistentBatch *batch, guint n_items)
{
  self->batch = batch;
  self->batch_size = n_items;
}

/* No more items of the BATCH in hand are read in this turn. Returns what to resume it with, or to
 * close; NULL if it had no persistent items. */
IrisdPersistentBatch *
irisd_persistent_batch_pause (IrisdItems *self)
{
  irisd_persistent_flush (self);
  self->batch_size = 0;
  return g_steal_pointer (&self->batch);
}

/* All persistent items of a BATCH were read; @accepted counts its accepted volatile items. ACCEPTED
 * is sent when the journal has answered for all; not if @quiet. */
void
irisd_persistent_batch_close (IrisdItems *self,
                              IrisdPersistentBatch *batch,
                              IrisdPeer *peer,
                              const guint8 *request_id,
                              gboolean quiet,
                              guint accepted)
{
  batch->peer = irisd_peer_ref (peer);
  memcpy (batch->request_id, request_id, IRIS_WIRE_ID_SIZE);
  batch->quiet = quiet;
  batch->accepted += accepted;
  if (batch->done != NULL)
    {
      batch->pending++;
      batch->done->batch = batch;
      irisd_journal_post (self->core->journal, g_steal_pointer (&batch->done));
    }
  batch->open = FALSE;
  finish (self, batch);
}

/* Takes a persistent job that is not needed, because the journal refused the item, or has it
 * already. */
static void
drop_job (IrisdItems *self, IrisdJob *job)
{
  IrisdPeer *peer = job->peer;
  irisd_items_drop_deadline (self, job);
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

/* From here on only FETCH asks how the job ends. */
static void
detach (IrisdItems *self, IrisdJob *job)
{
  IrisdPeer *peer = job->peer;
  g_hash_table_add (self->orphans, job);
  if (irisd_peer_is_gone (peer))
    return;
  g_hash_table_remove (peer->jobs, job->request_id);
  irisd_peer_add_bytes (peer, -(gint64) job->charge);
}

static void
add_row (IrisdItems *self,
         const IrisdJob *job,
         const IrisWireMessage *item,
         IrisdRowBatch *row_batch)
{
  gboolean failed = job->result.error != NULL;
  guint64 now_ms = irisd_unix_ms ();
  const char *service = job->service->name;
  zmq_msg_t *body = (zmq_msg_t *) &job->result.body;
  char key[SESSION_KEY_SIZE];
  IrisWireMessage message;
  g_autoptr (GError) error = NULL;
  irisd_completion_describe (job, &message);
  if (!iris_wire_encode (self->encoder, &message, &error))
    g_error ("the end of an item cannot be encoded: %s", error->message);
  const IrisdRecord record = {
    .item = job->id,
    .state = failed ? IRIS_WIRE_STATE_FAILED : IRIS_WIRE_STATE_DONE,
    .klass = item->klass,
    .owner = job->owner,
    .attempts = 1,
    .home = job->home,
    .accepted_ms = now_ms,
    .ended_ms = now_ms,
    .keep_ms = iris_wire_message_has (item, IRIS_WIRE_KEY_KEEP_MS)
                   ? item->keep_ms
                   : irisd_core_get_settings (self->core)->limits.keep_ms,
    .key = make_session_key (job->peer, item, key),
    .service = { service, strlen (service) },
    .type = (guint8) message.type,
    .header = self->encoder->frames[3],
    .body = { zmq_msg_data (body), failed ? 0 : zmq_msg_size (body) },
  };
  irisd_row_batch_add (row_batch, &record);
}

static IrisdJournalRequest *
get_request (IrisdItems *self, gboolean durable)
{
  IrisdJournalRequest **request = get_done (self, durable);
  if (*request == NULL)
    {
      guint n = CLAMP (self->batch_size, 1, MOST_AHEAD);
      *request = irisd_journal_request_new (IRISD_JOURNAL_REQUEST_DONE, self->mailbox);
      (*request)->durable = durable;
      (*request)->jobs = g_ptr_array_sized_new (n);
      (*request)->row_batch = irisd_row_batch_new (n);
    }
  return *request;
}

/* Runs a new persistent job, whose place is set, if that can be done at once. @item is its SUBMIT.
 * irisd_persistent_flush() gives it to the journal, or, if it is durable and of a batch, the
 * end of that. Returns whether it ran; then @job is taken. */
static gboolean
run_at_once (IrisdItems *self, IrisdJob *job, const IrisWireMessage *item)
{
  if (item->key.len > 0 || item->session.len > 0 || item->bury
      || !irisd_dispatch_run_at_once (self, job))
    return FALSE;
  irisd_job_set_number (job, take_number (self));
  irisd_placement_note_home (self, job);
  job->quiet = item->quiet;
  job->detached = item->detach;
  IrisdJournalRequest *request = get_request (self, item->klass == IRIS_WIRE_CLASS_DURABLE);
  irisd_journal_reserve (self->core->journal, request);
  add_row (self, job, item, request->row_batch);
  g_ptr_array_add (request->jobs, job);
  return TRUE;
}

/* From here on the item is as any persistent one whose end the journal has. */
static void
accept_all (IrisdItems *self, GPtrArray *jobs, IrisdPersistentBatch *batch)
{
  for (guint i = 0; i < jobs->len; i++)
    {
      IrisdJob *job = g_ptr_array_index (jobs, i);
      tell_accepted (self, batch, job->peer, job->request_id, job->quiet, job->id);
      irisd_item_log_accepted (self, job);
      irisd_item_counters_note_accepted (&self->counters, job);
      irisd_job_advance (job, IRISD_EVENT_WRITTEN);
      job->due = TRUE;
    }
}

/* An end may take the connection with it, and so change the jobs behind it; they stay in the list
 * until it is their turn. */
static void
end_all (IrisdItems *self, GPtrArray *jobs)
{
  for (guint i = 0; i < jobs->len; i++)
    {
      IrisdJob *job = g_ptr_array_index (jobs, i);
      if (job->detached)
        detach (self, job);
      irisd_completion_end_job (self, job);
    }
}

static void
refuse_all (IrisdItems *self, const IrisdJournalRequest *request)
{
  for (guint i = 0; i < request->jobs->len; i++)
    {
      IrisdJob *job = g_ptr_array_index (request->jobs, i);
      g_autoptr (IrisdPeer) peer = irisd_peer_ref (job->peer);
      guint8 request_id[IRIS_WIRE_ID_SIZE];
      memcpy (request_id, job->request_id, sizeof request_id);
      drop_job (self, job);
      if (!irisd_peer_is_gone (peer))
        self->klass->refuse (self, peer, request_id, request->error);
    }
}

/* No job is added meanwhile. */
static void
end_volatile (IrisdItems *self)
{
  for (guint i = 0; i < self->ended->len; i++)
    irisd_completion_end_job (self, g_ptr_array_index (self->ended, i));
  g_ptr_array_set_size (self->ended, 0);
}

/* Gives the journal the items that ran in this turn, and sends the ends that need not wait for it.
 * The journal request goes first: a query of a client that has the end then finds the item. */
void
irisd_persistent_flush (IrisdItems *self)
{
  IrisdJournalRequest *relaxed = g_steal_pointer (&self->done[FALSE]);
  IrisdJournalRequest *durable = g_steal_pointer (&self->done[TRUE]);
  end_volatile (self);
  if (durable != NULL)
    irisd_journal_post (self->core->journal, durable);
  if (relaxed != NULL)
    {
      g_autoptr (GPtrArray) jobs = g_steal_pointer (&relaxed->jobs);
      irisd_journal_post (self->core->journal, relaxed);
      accept_all (self, jobs, self->batch);
      end_all (self, jobs);
    }
}

/* @request is a DONE that the journal has answered. */
static void
take_done (IrisdItems *self, IrisdJournalRequest *request)
{
  if (request->error != NULL)
    refuse_all (self, request);
  else
    accept_all (self, request->jobs, request->batch);
  note_answer (self, request->batch);
  if (request->error == NULL)
    end_all (self, request->jobs);
}

static void
fill_keep (IrisdItems *self,
           IrisdJournalRequest *request,
           IrisdJob *job,
           const IrisWireMessage *item)
{
  char key[SESSION_KEY_SIZE];
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
                   : irisd_core_get_settings (self->core)->limits.keep_ms,
    .key = make_session_key (job->peer, item, key),
    .service = { service, strlen (service) },
    .body = item->body,
  };
  request->type = IRIS_WIRE_SUBMIT;
  request->persistent = job->persistent = irisd_persistent_item_new (&record, NULL);
  atomic_store_explicit (&job->persistent->queue,
                         (guint16) irisd_named_queue_get_index (job->queue), memory_order_relaxed);
  job->bury = item->bury;
  request->job = job;
  request->quiet = item->quiet;
  request->detach = job->detached = item->detach;
  request->payload = irisd_job_get_payload (job);
}

/* Gives a new job, whose place is set, to the journal. @item is its SUBMIT. It is accepted, or
 * refused, when the journal answers. */
void
irisd_persistent_keep (IrisdItems *self, IrisdJob *job, const IrisWireMessage *item)
{
  if (!run_at_once (self, job, item))
    irisd_persistent_keep_with (self, job, item, NULL);
}

/* The same of an item that does not run at once. @change, (transfer full) (nullable), is written
 * with it. */
void
irisd_persistent_keep_with (IrisdItems *self,
                            IrisdJob *job,
                            const IrisWireMessage *item,
                            IrisdRecordChange *change)
{
  g_autoptr (GError) error = NULL;
  IrisWireMessage header = *item;
  header.body = (IrisWireFrame){ 0 };
  irisd_placement_pin_hint (job, &header);
  if (!iris_wire_encode (self->encoder, &header, &error))
    {
      g_autoptr (IrisdPeer) peer = irisd_peer_ref (job->peer);
      drop_job (self, job);
      self->klass->refuse (self, peer, item->request_id, error);
      g_clear_pointer (&change, irisd_record_change_unref);
      return;
    }
  if (job->id == 0)
    irisd_job_set_number (job, take_number (self));
  irisd_placement_note_home (self, job);

  IrisdJournalRequest *request = irisd_items_new_request (self, IRISD_JOURNAL_REQUEST_KEEP,
                                                          job->peer, job->request_id);
  const IrisWireFrame *frame = &self->encoder->frames[3];
  request->header = (IrisdBlob){ g_memdup2 (frame->data, frame->size), frame->size };
  fill_keep (self, request, job, item);
  request->change = change;
  request->batch = expect (self);
  irisd_job_advance (job, IRISD_EVENT_WRITE_ROW);
  irisd_journal_reserve (self->core->journal, request);
  irisd_journal_post (self->core->journal, request);
}

static void
refuse_persistent (IrisdItems *self, IrisdJournalRequest *request)
{
  drop_job (self, request->job);
  if (irisd_peer_is_gone (request->peer))
    return;
  if (g_error_matches (request->error, IRIS_WIRE_ERROR, IRIS_WIRE_ERROR_BUSY))
    self->klass->tell_full (self, request->peer, request->request_id);
  else
    self->klass->refuse (self, request->peer, request->request_id, request->error);
}

/* Tells @peer the end of a persistent item, after up to @wait_ms milliseconds. */
void
irisd_persistent_await_end (IrisdItems *self,
                            IrisdPeer *peer,
                            const guint8 *request_id,
                            guint64 item,
                            guint64 wait_ms)
{
  IrisdJournalRequest *request = irisd_items_new_request (self, IRISD_JOURNAL_REQUEST_FETCH, peer,
                                                          request_id);
  request->view = irisd_peer_get_view (peer, IRIS_WIRE_FETCH);
  request->item = item;
  request->wait_ms = wait_ms;
  peer->n_fetches++;
  irisd_journal_post (self->core->journal, request);
}

static void
accept_persistent (IrisdItems *self, IrisdJournalRequest *request)
{
  IrisdJob *job = request->job;
  guint64 number = request->duplicate ? request->item : job->id;
  if (!request->duplicate)
    irisd_dependencies_register (self, job, NULL, NULL);
  tell_accepted (self, request->batch, request->peer, request->request_id, request->quiet, number);

  if (request->duplicate)
    {
      drop_job (self, job);
      if (!request->detach && !irisd_peer_is_gone (request->peer))
        irisd_persistent_await_end (self, request->peer, request->request_id, number,
                                    IRISD_WAIT_FOREVER);
      return;
    }
  irisd_item_log_accepted (self, job);
  irisd_item_counters_note_accepted (&self->counters, job);
  irisd_items_register (self, job);
  if (request->detach)
    detach (self, job);
  irisd_job_advance (job, IRISD_EVENT_WRITTEN);
  if (irisd_job_is (job, IRISD_ITEM_RETURNED))
    irisd_completion_end_job (self, job);
  else
    irisd_dispatch_advance (self, job);
}

static void
take_keep (IrisdItems *self, IrisdJournalRequest *request)
{
  if (request->error != NULL)
    refuse_persistent (self, request);
  else
    accept_persistent (self, request);
  note_answer (self, request->batch);
}

static void
take_rewrite (IrisdJournalRequest *request)
{
  IrisdBroadcast *broadcast = g_steal_pointer (&request->broadcast);
  broadcast->klass->refuse (broadcast, request->error);
}

/* @request is what the journal has done to an item of this gateway. */
void
irisd_persistent_take_request (IrisdItems *self, IrisdJournalRequest *request)
{
  switch (request->kind)
    {
    case IRISD_JOURNAL_REQUEST_KEEP:
      take_keep (self, request);
      break;
    case IRISD_JOURNAL_REQUEST_DONE:
      take_done (self, request);
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
    case IRISD_JOURNAL_REQUEST_REWRITE:
      take_rewrite (request);
      break;
    case IRISD_JOURNAL_REQUEST_BURY:
      irisd_completion_take_burial (self, request);
      break;
    default:
      g_assert_not_reached ();
    }
}
