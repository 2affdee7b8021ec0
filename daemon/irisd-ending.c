/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * A gateway's jobs on their way back: ended, cancelled, or waiting until their peer acknowledges.
 */
#include "irisd-bury.h"
#include "irisd-gateway-private.h"
#include "irisd-inquiry.h"
#include "irisd-journal.h"
#include "irisd-outside.h"

static void
describe_run (IrisWireMessage *message, const IrisdJob *job)
{
  iris_wire_message_set_int (message, IRIS_WIRE_KEY_HOME, job->home);
  if (job->id != 0)
    iris_wire_message_set_uint (message, IRIS_WIRE_KEY_ITEM, job->id);
  if (job->terms != NULL && job->terms->attempts > 0)
    iris_wire_message_set_uint (message, IRIS_WIRE_KEY_ATTEMPTS, job->terms->attempts);
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

/* From now on the item counts for what its ending holds. */
static void
settle (IrisdGateway *self, IrisdJob *job, gsize size)
{
  gint64 change = (gint64) size - (gint64) job->charge;
  irisd_peer_add_bytes (job->peer, change);
  irisd_core_add_bytes (self->core, change);
  irisd_ledger_push (&job->peer->unacked, job->request_id, size, job->due ? job->id : 0);
  job->charge = 0;
}

/**
 * irisd_gateway_describe_ending:
 * @job: a job that has ended
 * @message: (out caller-allocates): RESULT or ERROR, without a body; it borrows from @job
 */
void
irisd_gateway_describe_ending (const IrisdJob *job, IrisWireMessage *message)
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

/* Sends the ending of an item that its peer waits for. */
static void
send_ending (IrisdGateway *self, IrisdJob *job)
{
  IrisdPeer *peer = job->peer;
  gboolean failed = job->result.error != NULL;
  g_hash_table_remove (peer->jobs, job->request_id);
  job->ended = TRUE;
  irisd_gateway_note_end (self, job);
  irisd_count (&self->counters.ended, 1);
  irisd_count (&self->counters.failed, failed);

  IrisWireMessage message;
  irisd_gateway_describe_ending (job, &message);
  settle (self, job, failed ? 0 : zmq_msg_size (&job->result.body));
  irisd_gateway_send_ending (self, peer, &message, failed ? NULL : &job->result.body);
}

static void
fail_cancelled (IrisdJob *job)
{
  irisd_job_fail (job, IRIS_WIRE_ERROR_CANCELLED, "the item was cancelled before it ran");
}

/**
 * irisd_gateway_tell_end:
 * @self: the gateway
 * @job: a job that has ended
 *
 * Sends its ending, if that was not done and somebody waits for it, and counts it.
 */
void
irisd_gateway_tell_end (IrisdGateway *self, IrisdJob *job)
{
  if (job->ended)
    return;
  if (!job->detached && !irisd_peer_is_gone (job->peer))
    {
      if (irisd_job_get_state (job) == IRISD_JOB_CANCELLED && job->kept == NULL)
        fail_cancelled (job);
      send_ending (self, job);
      return;
    }
  job->ended = TRUE;
  irisd_gateway_note_end (self, job);
  irisd_count (&self->counters.ended, 1);
  irisd_count (&self->counters.failed, !job->settled || job->result.error != NULL);
  irisd_core_add_bytes (self->core, -(gint64) job->charge);
}

/**
 * irisd_gateway_end_job:
 * @self: the gateway
 * @job: (transfer full): a job that nobody else touches any more
 *
 * Sends its ending, if that was not done and somebody waits for it, and frees it.
 */
void
irisd_gateway_end_job (IrisdGateway *self, IrisdJob *job)
{
  irisd_gateway_leave_seat (self, job);
  irisd_gateway_drop_deadline (self, job);
  if (job->kept != NULL && !irisd_gateway_end_kept (self, job))
    return;
  irisd_gateway_tell_end (self, job);
  irisd_gateway_let_go_of_number (self, job);
  g_hash_table_remove (self->orphans, job);
  irisd_job_free (job);
  irisd_core_end_item (self->core);
}

static gboolean
owes_too_much (IrisdGateway *self, IrisdPeer *peer)
{
  return irisd_peer_get_bytes (peer) > self->core->config->limits.in_flight_bytes;
}

/* When irisd drains, a peer that does not acknowledge is waited for only so long. */
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
  irisd_gateway_advance (self, job);
}

/* A job came back because its peer owed too much. */
static void
take_back_held (IrisdGateway *self, IrisdJob *job)
{
  if (!may_wait (self))
    {
      irisd_job_fail (job, IRIS_WIRE_ERROR_SHUTTING_DOWN,
                      "irisd ended while the item waited for earlier results to be acknowledged");
      irisd_gateway_end_job (self, job);
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

/**
 * irisd_gateway_take_back:
 * @self: the gateway
 * @job: (transfer full): a job that came back from the scheduler
 */
void
irisd_gateway_take_back (IrisdGateway *self, IrisdJob *job)
{
  if (job->away)
    {
      job->away = FALSE;
      if (!job->settled)
        return;
    }
  gboolean wanted = job->kept != NULL || !irisd_peer_is_gone (job->peer);
  if (job->early)
    {
      /* It was cancelled, and the journal has its end or will tell when it has. */
      job->early = FALSE;
      if (job->settled)
        irisd_gateway_end_job (self, job);
      return;
    }
  if (job->held && wanted && !job->settled && irisd_job_get_state (job) == IRISD_JOB_QUEUED)
    take_back_held (self, job);
  else if (job->settled || !irisd_gateway_try_again (self, job))
    irisd_gateway_end_job (self, job);
}

/**
 * irisd_gateway_unpark:
 * @self: the gateway
 * @job: a job that waits for its peer to acknowledge; the caller has it now
 */
void
irisd_gateway_unpark (IrisdGateway *self, IrisdJob *job)
{
  g_queue_remove (&job->peer->held, job);
  job->parked = FALSE;
  self->n_parked--;
}

/**
 * irisd_gateway_end_parked:
 * @self: the gateway
 *
 * Ends what waits for acknowledgements, if irisd does not wait any longer.
 */
void
irisd_gateway_end_parked (IrisdGateway *self)
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
    irisd_gateway_unpark (self, g_ptr_array_index (parked, i));
  for (guint i = 0; i < parked->len; i++)
    take_back_held (self, g_ptr_array_index (parked, i));
}

/* Cancels a job, which is not tried again. Returns whether it was queued; if `ours`, it is ended by
 * end_cancelled(). */
static gboolean
cancel_job (IrisdGateway *self, IrisdJob *job, gboolean *ours)
{
  if (job->terms != NULL)
    job->terms->given_up = TRUE;
  if (job->task == NULL || job->parked || job->stage != IRISD_STAGE_HANDED)
    return *ours = irisd_job_cancel (job) == IRISD_JOB_CANCELLED;

  IrisdErrandState state = irisd_outside_withdraw (self->core->outside, job);
  *ours = state != IRISD_ERRAND_GONE;
  if (*ours)
    job->withdrawn = TRUE;
  else
    irisd_job_cancel_queued (job); /* its letter is on the way */
  return state == IRISD_ERRAND_WAITED;
}

/* Ends a queued item as soon as can be; its job, if the scheduler still has it, comes back to be
 * freed. */
static void
end_cancelled (IrisdGateway *self, IrisdJob *job)
{
  if (job->parked)
    {
      irisd_gateway_unpark (self, job);
      irisd_gateway_end_job (self, job);
      return;
    }
  if (irisd_gateway_withdraw (self, job))
    {
      irisd_gateway_end_job (self, job);
      return;
    }
  if (job->withdrawn)
    {
      irisd_job_fail (job, IRIS_WIRE_ERROR_CANCELLED, "the item was cancelled");
      irisd_gateway_end_job (self, job);
      return;
    }
  /* A kept one ends when the journal has its end; one that the journal has not accepted yet is
   * looked at when it has. */
  if (job->kept != NULL)
    {
      if (job->known && !job->ending && !job->buried)
        job->early = !irisd_gateway_end_kept (self, job);
      return;
    }
  fail_cancelled (job);
  send_ending (self, job);
}

/**
 * irisd_gateway_cancel_job:
 * @self: the gateway
 * @peer: a peer of it
 * @job: an item of the peer's that has not ended
 *
 * Returns: whether it was queued and will not run; otherwise it runs and was asked to stop
 */
gboolean
irisd_gateway_cancel_job (IrisdGateway *self, IrisdPeer *peer, IrisdJob *job)
{
  gboolean ours = FALSE;
  gboolean queued = cancel_job (self, job, &ours);
  if (ours && (job->kept != NULL || job->withdrawn || !irisd_peer_is_gone (peer)))
    end_cancelled (self, job);
  return queued;
}

/**
 * irisd_gateway_tell_cancelling:
 * @self: the gateway
 * @caller: who asked
 * @request_id: under which id
 * @was_queued: whether the item was queued, not running
 */
void
irisd_gateway_tell_cancelling (IrisdGateway *self,
                               const IrisdCaller *caller,
                               const guint8 *request_id,
                               gboolean was_queued)
{
  IrisWireMessage reply;
  iris_wire_message_init (&reply, IRIS_WIRE_CANCELLING, request_id);
  iris_wire_message_set_uint (&reply, IRIS_WIRE_KEY_STATE,
                              was_queued ? IRIS_WIRE_STATE_QUEUED : IRIS_WIRE_STATE_RUNNING);
  irisd_gateway_answer (self, caller, &reply);
}

/**
 * irisd_gateway_tell_not_found:
 * @self: the gateway
 * @caller: who asked
 * @request_id: under which id
 * @where: where there is no such item
 */
void
irisd_gateway_tell_not_found (IrisdGateway *self,
                              const IrisdCaller *caller,
                              const guint8 *request_id,
                              const char *where)
{
  g_autoptr (GError) error = g_error_new (
      IRIS_WIRE_ERROR, IRIS_WIRE_ERROR_NOT_FOUND,
      "no item with this request id is in flight on %s: it has ended, or never was", where);
  irisd_gateway_refuse (self, caller, request_id, error);
}

/**
 * irisd_gateway_cancel:
 * @self: the gateway
 * @caller: who
 * @request: a CANCEL message
 */
void
irisd_gateway_cancel (IrisdGateway *self, const IrisdCaller *caller, const IrisWireMessage *request)
{
  if (iris_wire_message_has (request, IRIS_WIRE_KEY_ITEM))
    {
      irisd_gateway_cancel_number (self, caller, request);
      return;
    }
  IrisdJob *job = g_hash_table_lookup (caller->peer->jobs, request->target);
  if (job == NULL && request->anywhere)
    {
      irisd_gateway_cancel_anywhere (self, caller, request);
      return;
    }
  if (job == NULL)
    {
      irisd_gateway_tell_not_found (self, caller, request->request_id, "this connection");
      return;
    }
  gboolean ours = FALSE;
  gboolean queued = cancel_job (self, job, &ours);
  gboolean withdrawn = job->withdrawn;
  irisd_gateway_tell_cancelling (self, caller, request->request_id, queued);
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
                         "nothing was acknowledged: of the %u endings of this connection that wait "
                         "for it, oldest first, number %u is not that of request %s; name each "
                         "ending that was dealt with",
                         caller->peer->unacked.count, request->count, hex);
  else
    error = g_error_new (IRIS_WIRE_ERROR, IRIS_WIRE_ERROR_BAD_ARGUMENT,
                         "nothing was acknowledged: no ending of request %s waits for it on this "
                         "connection; name each ending once, on the connection that brought it",
                         hex);
  irisd_gateway_refuse (self, caller, request->request_id, error);
}

/* Takes what is acknowledged out of the ledger. Returns NULL, or the id that does not fit, and then
 * nothing has changed. */
static const guint8 *
pay (IrisdLedger *ledger, const IrisWireMessage *request, GArray *items)
{
  if (request->body.size > 0)
    return irisd_ledger_pay (ledger, request->body.data,
                             (guint) (request->body.size / IRIS_WIRE_ID_SIZE), let_go, items);
  if (!iris_wire_message_has (request, IRIS_WIRE_KEY_COUNT))
    return irisd_ledger_pay (ledger, request->target, 1, let_go, items);
  gboolean well = irisd_ledger_pay_until (ledger, request->target, request->count, let_go, items);
  return well ? NULL : request->target;
}

/**
 * irisd_gateway_acknowledge:
 * @self: the gateway
 * @caller: who
 * @request: an ACK message
 */
void
irisd_gateway_acknowledge (IrisdGateway *self,
                           const IrisdCaller *caller,
                           const IrisWireMessage *request)
{
  IrisdPeer *peer = caller->peer;
  guint64 owed = peer->unacked.sum;
  g_autoptr (GArray) items = g_array_new (FALSE, FALSE, sizeof (IrisdSpan));
  const guint8 *stranger = pay (&peer->unacked, request, items);
  if (stranger != NULL)
    {
      refuse_ack (self, caller, request, stranger);
      return;
    }
  gint64 freed = (gint64) (owed - peer->unacked.sum);
  irisd_peer_add_bytes (peer, -freed);
  irisd_core_add_bytes (self->core, -freed);
  if (items->len > 0)
    irisd_gateway_forget_items (self, g_steal_pointer (&items));
  while (peer->held.length > 0 && !owes_too_much (self, peer) && may_wait (self))
    {
      IrisdJob *job = g_queue_pop_head (&peer->held);
      job->parked = FALSE;
      self->n_parked--;
      resume (self, job);
    }
}
