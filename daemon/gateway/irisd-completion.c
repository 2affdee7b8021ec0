/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * A gateway's completions: jobs that have ended, were cancelled, or wait until their peer
 * acknowledges.
 */
#include "daemon/exec/worker/irisd-worker-processes.h"
#include "daemon/gateway/irisd-cancel-broadcast.h"
#include "daemon/gateway/irisd-gateway-private.h"
#include "daemon/items/irisd-bury.h"
#include "daemon/store/irisd-journal.h"

static void
describe_run (IrisWireMessage *message, const IrisdJob *job)
{
  iris_wire_message_set_int (message, IRIS_WIRE_KEY_HOME, job->home);
  if (job->id != 0)
    iris_wire_message_set_uint (message, IRIS_WIRE_KEY_ITEM, job->id);
  if (job->schedule != NULL && job->schedule->attempts > 0)
    iris_wire_message_set_uint (message, IRIS_WIRE_KEY_ATTEMPTS, job->schedule->attempts);
  if (!irisd_job_has_run (job))
    return;
  if (job->place != IRIS_PLACE_ANY)
    iris_wire_message_set_int (message, IRIS_WIRE_KEY_PLACE, job->place);
  if (job->worker >= 0)
    iris_wire_message_set_int (message, IRIS_WIRE_KEY_WORKER, job->worker);
  iris_wire_message_set_uint (message, IRIS_WIRE_KEY_QUEUE_NS,
                              (guint64) (job->started_ns - job->accepted_ns));
  iris_wire_message_set_uint (message, IRIS_WIRE_KEY_RUN_NS,
                              (guint64) (job->ended_ns - job->started_ns));
  if (job->result.exit_status >= 0)
    iris_wire_message_set_int (message, IRIS_WIRE_KEY_EXIT_STATUS, job->result.exit_status);
  if (job->result.signal > 0)
    iris_wire_message_set_int (message, IRIS_WIRE_KEY_SIGNAL, job->result.signal);
}

static void
describe_result (IrisWireMessage *message, const IrisdJob *job)
{
  const IrisdResult *result = &job->result;
  iris_wire_message_set_uint (message, IRIS_WIRE_KEY_BYTES, result->bytes);
  if (result->content_type != NULL)
    iris_wire_message_set_string (message, IRIS_WIRE_KEY_CONTENT_TYPE, result->content_type, -1);
  if (result->stdout_length >= 0)
    iris_wire_message_set_uint (message, IRIS_WIRE_KEY_STDOUT_LENGTH,
                                (guint64) result->stdout_length);
  if (result->truncated)
    iris_wire_message_set_boolean (message, IRIS_WIRE_KEY_TRUNCATED, TRUE);
}

/* From now on the item counts the bytes of its completion. */
static void
settle (IrisdGateway *self, IrisdJob *job, gsize size)
{
  gint64 change = (gint64) size - (gint64) job->charge;
  irisd_peer_add_bytes (job->peer, change);
  irisd_core_add_bytes (self->core, change);
  irisd_unacknowledged_push (&job->peer->unacked, job->request_id, size, job->due ? job->id : 0);
  job->charge = 0;
}

/* @message is RESULT or ERROR, without a body; it borrows from @job, which has ended. */
void
irisd_completion_describe (const IrisdJob *job, IrisWireMessage *message)
{
  gboolean failed = job->result.error != NULL;
  iris_wire_message_init (message, failed ? IRIS_WIRE_ERROR_REPLY : IRIS_WIRE_RESULT,
                          job->request_id);
  describe_run (message, job);
  if (failed)
    {
      iris_wire_message_set_error (message, job->result.error);
      iris_wire_message_set_boolean (message, IRIS_WIRE_KEY_ENDS, TRUE);
    }
  else
    describe_result (message, job);
}

/* Sends the completion of an item that its peer waits for. */
static void
send_completion (IrisdGateway *self, IrisdJob *job)
{
  IrisdPeer *peer = job->peer;
  gboolean failed = job->result.error != NULL;
  g_hash_table_remove (peer->jobs, job->request_id);
  job->ended = TRUE;
  irisd_dependencies_note_end (self, job);
  irisd_count (&self->counters.ended, 1);
  irisd_count (&self->counters.failed, failed);

  IrisWireMessage message;
  irisd_completion_describe (job, &message);
  settle (self, job, failed ? 0 : zmq_msg_size (&job->result.body));
  irisd_send_completion (self, peer, &message, failed ? NULL : &job->result.body);
}

static void
fail_cancelled (IrisdJob *job)
{
  irisd_job_fail (job, IRIS_WIRE_ERROR_CANCELLED, "the item was cancelled before it ran");
}

/* Sends the completion of @job, which has ended, if a connection waits for it and it was not sent,
 * and counts it. */
void
irisd_completion_tell (IrisdGateway *self, IrisdJob *job)
{
  if (job->ended)
    return;
  if (!job->detached && !irisd_peer_is_gone (job->peer))
    {
      if (irisd_job_get_state (job) == IRISD_JOB_CANCELLED && job->persistent == NULL)
        fail_cancelled (job);
      send_completion (self, job);
      return;
    }
  job->ended = TRUE;
  irisd_dependencies_note_end (self, job);
  irisd_count (&self->counters.ended, 1);
  irisd_count (&self->counters.failed, !job->settled || job->result.error != NULL);
  irisd_core_add_bytes (self->core, -(gint64) job->charge);
}

/* As irisd_completion_tell(), and frees @job, which no other thread uses any more. */
void
irisd_completion_end_job (IrisdGateway *self, IrisdJob *job)
{
  irisd_permit_release (self, job);
  irisd_deadline_drop (self, job);
  if (job->persistent != NULL && !irisd_persistent_end (self, job))
    return;
  irisd_completion_tell (self, job);
  irisd_persistent_unregister (self, job);
  g_hash_table_remove (self->orphans, job);
  irisd_job_free (job);
  irisd_core_end_item (self->core);
}

static gboolean
owes_too_much (IrisdGateway *self, IrisdPeer *peer)
{
  return irisd_peer_get_bytes (peer) > self->core->config->limits.in_flight_bytes;
}

/* A draining irisd waits a limited time for a peer to acknowledge. */
static gboolean
may_wait (IrisdGateway *self)
{
  switch (irisd_gateway_get_phase (self))
    {
    case IRISD_PHASE_SERVING:
      return TRUE;
    case IRISD_PHASE_DRAINING:
      return g_get_monotonic_time () < irisd_core_get_deadline (self->core);
    default:
      return FALSE;
    }
}

static void
resume (IrisdGateway *self, IrisdJob *job)
{
  job->held = FALSE;
  irisd_dispatch_advance (self, job);
}

/* A job came back because its peer had too much unacknowledged. */
static void
take_back_held (IrisdGateway *self, IrisdJob *job)
{
  if (!may_wait (self))
    {
      irisd_job_fail (job, IRIS_WIRE_ERROR_SHUTTING_DOWN,
                      "irisd ended while the item waited for earlier results to be acknowledged");
      irisd_completion_end_job (self, job);
    }
  else if (irisd_job_is_orphan (job) || !owes_too_much (self, job->peer))
    resume (self, job);
  else
    {
      job->parked = TRUE;
      g_queue_push_tail (&job->peer->held, job);
      self->n_parked++;
    }
}

/* Takes a job that came back from the scheduler. */
void
irisd_completion_take_back (IrisdGateway *self, IrisdJob *job)
{
  if (job->away)
    {
      job->away = FALSE;
      if (!job->settled)
        return;
    }
  gboolean wanted = job->persistent != NULL || !irisd_peer_is_gone (job->peer);
  if (job->early)
    {
      /* It was cancelled, and the journal has its end or will answer when it has. */
      job->early = FALSE;
      if (job->settled)
        irisd_completion_end_job (self, job);
      return;
    }
  if (job->held && wanted && !job->settled && irisd_job_get_state (job) == IRISD_JOB_QUEUED)
    take_back_held (self, job);
  else if (job->settled || !irisd_dispatch_try_again (self, job))
    irisd_completion_end_job (self, job);
}

/* @job waits for its peer to acknowledge; the caller has it now. */
void
irisd_completion_unpark (IrisdGateway *self, IrisdJob *job)
{
  g_queue_remove (&job->peer->held, job);
  job->parked = FALSE;
  self->n_parked--;
}

/* Ends jobs that wait for acknowledgements, if irisd does not wait any longer. */
void
irisd_completion_end_parked (IrisdGateway *self)
{
  if (self->n_parked == 0 || may_wait (self))
    return;
  g_autoptr (GPtrArray) parked = g_ptr_array_new ();
  for (GList *link = self->peers.by_age.head; link != NULL; link = link->next)
    {
      IrisdPeer *peer = link->data;
      for (GList *job = peer->held.head; job != NULL; job = job->next)
        g_ptr_array_add (parked, job->data);
    }
  /* Ending a job may end its peer, and with it others of the list; those are no longer parked, and
   * freed, so each is taken out of the list before the first one is ended. */
  for (guint i = 0; i < parked->len; i++)
    irisd_completion_unpark (self, g_ptr_array_index (parked, i));
  for (guint i = 0; i < parked->len; i++)
    take_back_held (self, g_ptr_array_index (parked, i));
}

/* Cancels a job, which is not tried again. Returns whether it was queued; if `ours`, it is ended by
 * end_cancelled(). */
static gboolean
cancel_job (IrisdGateway *self, IrisdJob *job, gboolean *ours)
{
  if (job->schedule != NULL)
    job->schedule->given_up = TRUE;
  if (job->leased_item == NULL || job->parked || job->stage != IRISD_STAGE_HANDED)
    return *ours = irisd_job_cancel (job) == IRISD_JOB_CANCELLED;

  IrisdLeaseEntryState state = irisd_worker_processes_withdraw (self->core->worker_processes, job);
  *ours = state != IRISD_LEASE_ENTRY_GONE;
  if (*ours)
    job->withdrawn = TRUE;
  else
    irisd_job_cancel_queued (job); /* its message is on the way */
  return state == IRISD_LEASE_ENTRY_WAITED;
}

/* Ends a queued item as soon as possible; its job, if the scheduler still has it, comes back to be
 * freed. */
static void
end_cancelled (IrisdGateway *self, IrisdJob *job)
{
  if (job->parked)
    {
      irisd_completion_unpark (self, job);
      irisd_completion_end_job (self, job);
      return;
    }
  if (irisd_dispatch_withdraw (self, job))
    {
      irisd_completion_end_job (self, job);
      return;
    }
  if (job->withdrawn)
    {
      irisd_job_fail (job, IRIS_WIRE_ERROR_CANCELLED, "the item was cancelled");
      irisd_completion_end_job (self, job);
      return;
    }
  /* A persistent one ends when the journal has its end; one that the journal has not accepted yet
   * is checked when it has. */
  if (job->persistent != NULL)
    {
      if (job->known && !job->completion && !job->buried)
        job->early = !irisd_persistent_end (self, job);
      return;
    }
  fail_cancelled (job);
  send_completion (self, job);
}

/* Cancels @job, an item of @peer that has not ended. Returns whether it was queued and will not
 * run; otherwise it runs and was asked to stop. */
gboolean
irisd_completion_cancel_job (IrisdGateway *self, IrisdPeer *peer, IrisdJob *job)
{
  gboolean ours = FALSE;
  gboolean queued = cancel_job (self, job, &ours);
  if (ours && (job->persistent != NULL || job->withdrawn || !irisd_peer_is_gone (peer)))
    end_cancelled (self, job);
  return queued;
}

/* @was_queued: the item was queued, not running. */
void
irisd_completion_tell_cancelling (IrisdGateway *self,
                                  const IrisdCaller *caller,
                                  const guint8 *request_id,
                                  gboolean was_queued)
{
  IrisWireMessage reply;
  iris_wire_message_init (&reply, IRIS_WIRE_CANCELLING, request_id);
  iris_wire_message_set_uint (&reply, IRIS_WIRE_KEY_STATE,
                              was_queued ? IRIS_WIRE_STATE_QUEUED : IRIS_WIRE_STATE_RUNNING);
  irisd_send_answer (self, caller, &reply);
}

/* @where says where there is no such item. */
void
irisd_completion_tell_not_found (IrisdGateway *self,
                                 const IrisdCaller *caller,
                                 const guint8 *request_id,
                                 const char *where)
{
  g_autoptr (GError) error = g_error_new (
      IRIS_WIRE_ERROR, IRIS_WIRE_ERROR_NOT_FOUND,
      "no item with this request id is in flight on %s: it has ended, or never was", where);
  irisd_send_refusal (self, caller, request_id, error);
}

void
irisd_completion_cancel (IrisdGateway *self,
                         const IrisdCaller *caller,
                         const IrisWireMessage *request)
{
  if (iris_wire_message_has (request, IRIS_WIRE_KEY_ITEM))
    {
      irisd_cancel_broadcast_by_number (self, caller, request);
      return;
    }
  IrisdJob *job = g_hash_table_lookup (caller->peer->jobs, request->target);
  if (job == NULL && request->anywhere)
    {
      irisd_cancel_broadcast_by_request (self, caller, request);
      return;
    }
  if (job == NULL)
    {
      irisd_completion_tell_not_found (self, caller, request->request_id, "this connection");
      return;
    }
  gboolean ours = FALSE;
  gboolean queued = cancel_job (self, job, &ours);
  gboolean withdrawn = job->withdrawn;
  irisd_completion_tell_cancelling (self, caller, request->request_id, queued);
  if (ours && (withdrawn || !irisd_peer_is_gone (caller->peer)))
    end_cancelled (self, job);
}

static void
let_go (guint64 item, gpointer user_data)
{
  GArray *spans = user_data;
  IrisdSpan *last = spans->len > 0 ? &g_array_index (spans, IrisdSpan, spans->len - 1) : NULL;
  if (last != NULL && item == last->first + last->n)
    last->n++;
  else if (last != NULL && item + 1 == last->first)
    *last = (IrisdSpan){ item, last->n + 1 };
  else
    g_array_append_val (spans, ((IrisdSpan){ item, 1 }));
}

static void
refuse_ack (IrisdGateway *self,
            const IrisdCaller *caller,
            const IrisWireMessage *request,
            const guint8 *id)
{
  char hex[2 * IRIS_WIRE_ID_SIZE + 1];
  for (guint i = 0; i < IRIS_WIRE_ID_SIZE; i++)
    g_snprintf (hex + 2 * (gsize) i, 3, "%02x", id[i]);
  g_autoptr (GError) error = NULL;
  if (iris_wire_message_has (request, IRIS_WIRE_KEY_COUNT))
    error = g_error_new (IRIS_WIRE_ERROR, IRIS_WIRE_ERROR_BAD_ARGUMENT,
                         "cannot acknowledge: of the %u unacknowledged endings of this connection"
                         ", oldest first, number %u is not that of request %s; name each "
                         "ending that was handled",
                         caller->peer->unacked.count, request->count, hex);
  else
    error = g_error_new (IRIS_WIRE_ERROR, IRIS_WIRE_ERROR_BAD_ARGUMENT,
                         "cannot acknowledge: no ending of request %s is unacknowledged on this "
                         "connection; name each ending once, on the connection that brought it",
                         hex);
  irisd_send_refusal (self, caller, request->request_id, error);
}

/* Removes acknowledged completions from the list. Returns NULL, or the id that does not fit; then
 * nothing has changed. */
static const guint8 *
pay (IrisdUnacknowledged *unacked, const IrisWireMessage *request, GArray *items)
{
  if (request->body.size > 0)
    return irisd_unacknowledged_pay (unacked, request->body.data,
                                     (guint) (request->body.size / IRIS_WIRE_ID_SIZE), let_go,
                                     items);
  if (!iris_wire_message_has (request, IRIS_WIRE_KEY_COUNT))
    return irisd_unacknowledged_pay (unacked, request->target, 1, let_go, items);
  gboolean well = irisd_unacknowledged_pay_until (unacked, request->target, request->count, let_go,
                                                  items);
  return well ? NULL : request->target;
}

void
irisd_completion_acknowledge (IrisdGateway *self,
                              const IrisdCaller *caller,
                              const IrisWireMessage *request)
{
  IrisdPeer *peer = caller->peer;
  guint64 owed = peer->unacked.sum;
  g_autoptr (GArray) items = g_array_new (FALSE, FALSE, sizeof (IrisdSpan));
  const guint8 *pending = pay (&peer->unacked, request, items);
  if (pending != NULL)
    {
      refuse_ack (self, caller, request, pending);
      return;
    }
  gint64 freed = (gint64) (owed - peer->unacked.sum);
  irisd_peer_add_bytes (peer, -freed);
  irisd_core_add_bytes (self->core, -freed);
  if (items->len > 0)
    irisd_item_requests_forget (self, g_steal_pointer (&items));
  while (peer->held.length > 0 && !owes_too_much (self, peer) && may_wait (self))
    {
      IrisdJob *job = g_queue_pop_head (&peer->held);
      job->parked = FALSE;
      self->n_parked--;
      resume (self, job);
    }
}
