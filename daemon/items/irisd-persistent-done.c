/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * Persistent items that run before they are stored.
 *
 * A run in the gateway (irisd_dispatch_run_at_once()) has no effect but its result, and takes less
 * time than a message about it. So nothing is lost if irisd dies between the run and the first
 * write: the acceptance was not answered, and the run left no trace. Such an item runs as soon as
 * it is read, and the journal gets it with its end, as one row, in one journal request for all of a
 * batch or a turn. A durable item is accepted, and its end sent, when that row is on the disk; a
 * relaxed one at once, and its row is on the disk within `relaxed-ms`, unless its end was
 * acknowledged before.
 *
 * Items with a key take the ordinary way: only the journal knows whether the key is taken, and a
 * second item with it would be counted twice.
 */
#include "daemon/gateway/irisd-gateway-private.h"

#include <string.h>

/* Rows that a row batch has room for from the start. */
#define MOST_AHEAD 256

static void
add_row (IrisdGateway *self,
         const IrisdJob *job,
         const IrisWireMessage *item,
         IrisdRowBatch *row_batch)
{
  gboolean failed = job->result.error != NULL;
  guint64 now_ms = irisd_unix_ms ();
  const char *service = job->service->name;
  zmq_msg_t *body = (zmq_msg_t *) &job->result.body;
  IrisWireMessage message;
  g_autoptr (GError) error = NULL;
  irisd_completion_describe (job, &message);
  if (!iris_wire_encode (&self->encoder, &message, &error))
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
                   : self->core->config->limits.keep_ms,
    .service = { service, strlen (service) },
    .type = (guint8) message.type,
    .header = self->encoder.frames[3],
    .body = { zmq_msg_data (body), failed ? 0 : zmq_msg_size (body) },
  };
  irisd_row_batch_add (row_batch, &record);
}

static IrisdJournalRequest *
get_request (IrisdGateway *self, gboolean durable)
{
  IrisdJournalRequest **request = irisd_persistent_batch_get_done (self, durable);
  if (*request == NULL)
    {
      guint n = CLAMP (self->batch_size, 1, durable ? MOST_AHEAD : IRISD_ITEMS_PER_TURN);
      *request = irisd_journal_request_new (IRISD_JOURNAL_REQUEST_DONE, &self->mailbox);
      (*request)->durable = durable;
      (*request)->jobs = g_ptr_array_sized_new (n);
      (*request)->row_batch = irisd_row_batch_new (n);
    }
  return *request;
}

/* Runs a new persistent job, whose place is set, if that can be done at once. @item is its SUBMIT.
 * irisd_persistent_done_flush() gives it to the journal, or, if it is durable and of a batch, the
 * end of that. Returns whether it ran; then @job is taken. */
gboolean
irisd_persistent_done_add (IrisdGateway *self, IrisdJob *job, const IrisWireMessage *item)
{
  if (item->key.len > 0 || item->bury || !irisd_dispatch_run_at_once (self, job))
    return FALSE;
  job->id = irisd_persistent_batch_take_number (self);
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
accept_all (IrisdGateway *self, GPtrArray *jobs, IrisdPersistentBatch *batch)
{
  for (guint i = 0; i < jobs->len; i++)
    {
      IrisdJob *job = g_ptr_array_index (jobs, i);
      irisd_persistent_batch_tell (self, batch, job->peer, job->request_id, job->quiet, job->id);
      irisd_count (&self->counters.accepted, 1);
      irisd_job_advance (job, IRISD_EVENT_WRITTEN);
      job->due = TRUE;
    }
}

/* An end may take the connection with it, and so change the jobs behind it; they stay in the list
 * until it is their turn. */
static void
end_all (IrisdGateway *self, GPtrArray *jobs)
{
  for (guint i = 0; i < jobs->len; i++)
    {
      IrisdJob *job = g_ptr_array_index (jobs, i);
      if (job->detached)
        irisd_persistent_detach (self, job);
      irisd_completion_end_job (self, job);
    }
}

static void
refuse_all (IrisdGateway *self, const IrisdJournalRequest *request)
{
  for (guint i = 0; i < request->jobs->len; i++)
    {
      IrisdJob *job = g_ptr_array_index (request->jobs, i);
      g_autoptr (IrisdPeer) peer = irisd_peer_ref (job->peer);
      const IrisdCaller caller = { .route = peer->route, .peer = peer };
      guint8 request_id[IRIS_WIRE_ID_SIZE];
      memcpy (request_id, job->request_id, sizeof request_id);
      irisd_persistent_drop_job (self, job);
      if (!irisd_peer_is_gone (peer))
        irisd_send_refusal (self, &caller, request_id, request->error);
    }
}

/* No job is added meanwhile. */
static void
end_volatile (IrisdGateway *self)
{
  for (guint i = 0; i < self->ended->len; i++)
    irisd_completion_end_job (self, g_ptr_array_index (self->ended, i));
  g_ptr_array_set_size (self->ended, 0);
}

/* Gives the journal the items that ran in this turn, and sends the ends that need not wait for it.
 * The journal request goes first: a query of a client that has the end then finds the item. */
void
irisd_persistent_done_flush (IrisdGateway *self)
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
void
irisd_persistent_done_take_answer (IrisdGateway *self, IrisdJournalRequest *request)
{
  if (request->error != NULL)
    refuse_all (self, request);
  else
    accept_all (self, request->jobs, request->batch);
  irisd_persistent_batch_note (self, request->batch);
  if (request->error == NULL)
    end_all (self, request->jobs);
}
