/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * A gateway's completions: jobs that have ended, were cancelled, or wait for acknowledgements.
 */
#include "daemon/exec/worker/irisd-worker-processes.h"
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

static void
send_completion (IrisdGateway *self, IrisdJob *job)
{
  gboolean failed = job->result.error != NULL;
  g_hash_table_remove (job->peer->jobs, job->request_id);
  IrisWireMessage message;
  irisd_completion_describe (job, &message);
  settle (self, job, failed ? 0 : zmq_msg_size (&job->result.body));
  irisd_send_completion (self, job->peer, &message, failed ? NULL : &job->result.body);
}

/* Counts @job, which has ended, and sends its completion if a connection waits for it. */
void
irisd_completion_tell (IrisdGateway *self, IrisdJob *job, gboolean buried)
{
  gboolean watched = !job->detached && !irisd_peer_is_gone (job->peer);
  if (buried)
    irisd_dependencies_uncount (self, job);
  else
    irisd_dependencies_note_end (self, job);
  irisd_count (&self->counters.ended, 1);
  irisd_count (&self->counters.failed, job->result.error != NULL || (!watched && !job->lasting));
  if (watched)
    send_completion (self, job);
  else
    irisd_core_add_bytes (self->core, -(gint64) job->charge);
}

/* Takes @job, whose completion is sent, or need not be. */
void
irisd_gateway_release_job (IrisdGateway *self, IrisdJob *job)
{
  irisd_permit_release (self, job);
  irisd_deadline_drop (self, job);
  irisd_persistent_unregister (self, job);
  g_hash_table_remove (self->orphans, job);
  irisd_job_free (job);
  irisd_core_end_item (self->core);
}

/* An item that did not run because irisd stops runs after the next start. */
static gboolean
is_put_off (IrisdJob *job)
{
  return g_error_matches (job->result.error, IRIS_WIRE_ERROR, IRIS_WIRE_ERROR_SHUTTING_DOWN);
}

/* Has the journal write the end of a job that came back for good or was cancelled, or that it is
 * buried. A put-off item has no end. */
static void
end_persistent (IrisdGateway *self, IrisdJob *job)
{
  if (irisd_job_is (job, IRISD_ITEM_CANCELLED))
    irisd_job_fail_cancelled (job);
  if (is_put_off (job))
    {
      irisd_job_advance (job, IRISD_EVENT_PUT_OFF);
      irisd_job_fail (job, IRIS_WIRE_ERROR_SHUTTING_DOWN,
                      "irisd was stopped before the item was done: it is kept as item "
                      "%" G_GUINT64_FORMAT ", and runs when irisd is back",
                      job->id);
      return;
    }

  if (irisd_bury_if_failed (self, job))
    return;
  IrisWireMessage message;
  g_autoptr (GError) error = NULL;
  irisd_completion_describe (job, &message);
  IrisdJournalRequest *request = irisd_persistent_new_request (self, IRISD_JOURNAL_REQUEST_END,
                                                               job->peer, job->request_id);
  if (!iris_wire_encode (&self->encoder, &message, &error))
    g_error ("the end of an item cannot be encoded: %s", error->message);
  const IrisWireFrame *header = &self->encoder.frames[3];
  request->persistent = job->persistent;
  request->job = job;
  request->type = message.type;
  request->header = (IrisdBlob){ g_memdup2 (header->data, header->size), header->size };
  if (job->result.error == NULL)
    request->payload = (IrisWireFrame){ zmq_msg_data (&job->result.body),
                                        zmq_msg_size (&job->result.body) };
  request->state = job->result.error == NULL ? IRIS_WIRE_STATE_DONE
                   : g_error_matches (job->result.error, IRIS_WIRE_ERROR, IRIS_WIRE_ERROR_CANCELLED)
                       ? IRIS_WIRE_STATE_CANCELLED
                       : IRIS_WIRE_STATE_FAILED;
  irisd_job_advance (job, IRISD_EVENT_WRITE_END);
  irisd_journal_post (self->core->journal, request);
}

/* Ends and frees @job, which no other thread uses any more. */
void
irisd_completion_end_job (IrisdGateway *self, IrisdJob *job)
{
  irisd_permit_release (self, job);
  irisd_deadline_drop (self, job);
  if (irisd_job_is (job, IRISD_ITEM_ACCEPTED))
    irisd_job_advance (job, IRISD_EVENT_FAIL);
  if (irisd_job_is (job, IRISD_ITEM_RETURNED))
    {
      if (job->lasting)
        end_persistent (self, job);
      else
        irisd_job_advance (job, IRISD_EVENT_COMPLETE);
    }
  IrisdItemState state = irisd_job_get_state (job);
  if (state != IRISD_ITEM_COMPLETED && state != IRISD_ITEM_PUT_OFF && state != IRISD_ITEM_BURIED)
    return;
  irisd_completion_tell (self, job, state == IRISD_ITEM_BURIED);
  if (state != IRISD_ITEM_BURIED)
    irisd_job_advance (job, IRISD_EVENT_RELEASE);
  irisd_gateway_release_job (self, job);
}

/* Ends a job that its gateway has in hand and that has not run as cancelled. Takes @job. */
void
irisd_gateway_cancel_withdrawn (IrisdGateway *self, IrisdJob *job)
{
  irisd_job_advance (job, IRISD_EVENT_CANCEL);
  irisd_completion_end_job (self, job);
}

/* The journal has written an end, or could not. */
void
irisd_completion_take_end (IrisdGateway *self, IrisdJournalRequest *request)
{
  IrisdJob *job = request->job;
  job->due = request->error == NULL;
  irisd_job_advance (job, job->due ? IRISD_EVENT_WRITTEN : IRISD_EVENT_UNWRITTEN);
  if (request->error != NULL)
    {
      g_clear_error (&job->result.error);
      job->result.error = g_steal_pointer (&request->error);
    }
  if (irisd_job_is (job, IRISD_ITEM_SHELL))
    irisd_completion_tell (self, job, FALSE);
  else
    irisd_completion_end_job (self, job);
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
  switch (irisd_gateway_current_phase (self))
    {
    case IRISD_PHASE_SERVING:
      return TRUE;
    case IRISD_PHASE_DRAINING:
      return g_get_monotonic_time () < irisd_core_get_deadline (self->core);
    default:
      return FALSE;
    }
}

/* @peer has acknowledged completions: its held jobs go on, as far as its limit allows. */
void
irisd_completion_advance_held (IrisdGateway *self, IrisdPeer *peer)
{
  while (peer->held.length > 0 && !owes_too_much (self, peer) && may_wait (self))
    {
      IrisdJob *job = g_queue_peek_head (&peer->held);
      if (irisd_dispatch_withdraw (self, job))
        irisd_dispatch_advance (self, job);
    }
}

/* Takes @job, which came back without having run because its peer owed too much. */
void
irisd_gateway_resume_held (IrisdGateway *self, IrisdJob *job)
{
  if (!may_wait (self))
    {
      irisd_job_fail (job, IRIS_WIRE_ERROR_SHUTTING_DOWN,
                      "irisd ended while the item waited for earlier results to be acknowledged: "
                      "send it again when irisd is back, and acknowledge results as they come");
      irisd_completion_end_job (self, job);
    }
  else if (irisd_job_is_orphan (job) || !owes_too_much (self, job->peer))
    irisd_dispatch_advance (self, job);
  else
    {
      irisd_job_advance (job, IRISD_EVENT_BLOCK);
      g_queue_push_tail (&job->peer->held, job);
      self->n_parked++;
    }
}

/* Takes a job that came back from the scheduler. */
void
irisd_completion_take_back (IrisdGateway *self, IrisdJob *job)
{
  irisd_job_advance (job, IRISD_EVENT_RETURN);
  switch (irisd_job_get_state (job))
    {
    case IRISD_ITEM_ACCEPTED:
      irisd_gateway_resume_held (self, job);
      break;
    case IRISD_ITEM_RETURNED:
      if (!irisd_dispatch_try_again (self, job))
        irisd_completion_end_job (self, job);
      break;
    case IRISD_ITEM_RELEASED:
      irisd_gateway_release_job (self, job);
      break;
    default:
      break; /* the journal has not answered yet */
    }
}

/* Takes out a job that waits for its peer to acknowledge. */
gboolean
irisd_gateway_unblock (IrisdGateway *self, IrisdJob *job)
{
  g_queue_remove (&job->peer->held, job);
  self->n_parked--;
  return TRUE;
}

/* Ends jobs that wait for acknowledgements, if irisd no longer waits for those. */
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
  /* Ending a job may end its peer, which frees other jobs of the list unless they are taken out. So
   * all are taken out before the first ends. */
  for (guint i = 0; i < parked->len; i++)
    irisd_dispatch_withdraw (self, g_ptr_array_index (parked, i));
  for (guint i = 0; i < parked->len; i++)
    irisd_gateway_resume_held (self, g_ptr_array_index (parked, i));
}

/* Takes a job from the worker processes. Returns whether none had it. */
static gboolean
cancel_leased (IrisdGateway *self, IrisdJob *job)
{
  IrisdLeaseEntryState state = irisd_worker_processes_withdraw (self->core->worker_processes, job);
  if (state == IRISD_LEASE_ENTRY_GONE)
    {
      irisd_job_cancel (job); /* its message is on the way */
      return FALSE;
    }
  irisd_job_advance (job, IRISD_EVENT_WITHDRAW);
  irisd_job_fail (job, IRIS_WIRE_ERROR_CANCELLED, "the item was cancelled");
  irisd_job_advance (job, IRISD_EVENT_FAIL);
  return state == IRISD_LEASE_ENTRY_WAITED;
}

/* Cancels an item that has not ended, which is not tried again. Returns whether it had not begun to
 * run. If @ours, irisd_completion_end_cancelled() has to end it after the answer was sent. */
gboolean
irisd_completion_begin_cancel (IrisdGateway *self, IrisdJob *job, gboolean *ours)
{
  IrisdItemState state = irisd_job_get_state (job);
  gboolean queued = FALSE;
  if (job->schedule != NULL)
    job->schedule->given_up = TRUE;
  *ours = TRUE;
  if (state == IRISD_ITEM_OFFERED || state == IRISD_ITEM_LEASED)
    {
      queued = cancel_leased (self, job);
      *ours = irisd_job_is (job, IRISD_ITEM_RETURNED);
    }
  else if (irisd_dispatch_withdraw (self, job))
    queued = irisd_job_advance (job, IRISD_EVENT_CANCEL);
  else if (irisd_job_cancel (job))
    queued = TRUE;
  else
    {
      *ours = FALSE;
      state = irisd_job_get_state (job);
      queued = state == IRISD_ITEM_ACCEPTING_CANCELLED || state == IRISD_ITEM_CANCELLED
               || (state >= IRISD_ITEM_RETURNED && !irisd_job_has_run (job));
    }
  return queued;
}

/* Ends a cancelled item at once; a job that something else still has comes back to be freed. */
void
irisd_completion_end_cancelled (IrisdGateway *self, IrisdJob *job)
{
  if (irisd_job_is (job, IRISD_ITEM_RETURNED))
    irisd_completion_end_job (self, job);
  else if (job->lasting)
    end_persistent (self, job);
  else if (!irisd_peer_is_gone (job->peer))
    {
      irisd_job_fail_cancelled (job);
      irisd_job_advance (job, IRISD_EVENT_TELL);
      irisd_completion_tell (self, job, FALSE);
    }
}

/* Returns whether the item was queued and will not run; otherwise it runs and was asked to stop. */
gboolean
irisd_completion_cancel_job (IrisdGateway *self, IrisdJob *job)
{
  gboolean ours = FALSE;
  gboolean queued = irisd_completion_begin_cancel (self, job, &ours);
  if (ours)
    irisd_completion_end_cancelled (self, job);
  return queued;
}
