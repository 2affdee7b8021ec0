/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * Items that have ended: told to their client, kept by the journal, or buried.
 *
 * A buried item failed for good and is set aside for a person. It has no job: it is a row of the
 * journal, with the message that brought it. A kick makes it a job as a restart of irisd would. So
 * a buried item costs what an end costs.
 *
 * The gateway buries a job that is out of tries and wants it, or a waiting job by request. Once the
 * journal has written it, the job ends for the connection that waits for it, by the error `buried`;
 * its dependents go on waiting. A job that the scheduler has cannot be taken from it: in the state
 * `burying-out` no worker runs it, and the later of the journal's answer and the job's return frees
 * it. Between the two the job no longer counts as the item's, because a kick may have made another.
 */
#include "daemon/items/irisd-completion.h"

#include "daemon/exec/command/irisd-hooks.h"
#include "daemon/exec/worker/irisd-worker-processes.h"
#include "daemon/items/irisd-dependencies.h"
#include "daemon/items/irisd-item-log.h"
#include "daemon/items/irisd-permit.h"
#include "daemon/items/irisd-spans.h"
#include "daemon/items/spill/irisd-spilled-flow.h"

/* Bytes of a command's last line that a sentence repeats. */
#define MOST_LAST_WORDS 200

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
  if (job->leased_item != NULL && job->leased_item->away != NULL)
    irisd_away_item_describe_run (job->leased_item->away, message);
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
settle (IrisdItems *self, IrisdJob *job, gsize size)
{
  gint64 change = (gint64) size - (gint64) job->charge;
  irisd_peer_add_bytes (job->peer, change);
  irisd_core_add_bytes (self->core, change);
  irisd_unacknowledged_push (&job->peer->unacked, job->request_id, size, job->due ? job->id : 0);
  irisd_count (&self->counters.unacked, 1);
  job->charge = 0;
}

/* Returns the exit code that lists tell. What a node of the cluster sends as a status may be any
 * number. */
static guint32
get_exit_code (const IrisdResult *result)
{
  return result->signal > 0 ? IRIS_WIRE_EXIT_SIGNAL + (guint32) result->signal
                            : (guint32) CLAMP (result->exit_status, 0, 255);
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
send_completion (IrisdItems *self, IrisdJob *job)
{
  gboolean failed = job->result.error != NULL;
  g_hash_table_remove (job->peer->jobs, job->request_id);
  IrisWireMessage message;
  irisd_completion_describe (job, &message);
  settle (self, job, failed ? 0 : zmq_msg_size (&job->result.body));
  self->klass->send_completion (self, job->peer, &message, failed ? NULL : &job->result.body);
}

/* Counts @job, which has ended, and sends its completion if a connection waits for it. */
static void
tell (IrisdItems *self, IrisdJob *job, gboolean buried)
{
  gboolean watched = !job->detached && !irisd_peer_is_gone (job->peer);
  irisd_job_leave_queue (job);
  if (buried)
    irisd_dependencies_uncount (self, job);
  else
    irisd_dependencies_note_end (self, job);
  irisd_item_log_end (self, job, buried);
  irisd_hooks_note_end (self->core->hooks, job,
                        job->leased_item != NULL ? job->leased_item->service : job->service->name,
                        buried);
  IrisdOutcome outcome = irisd_item_counters_note_end (&self->counters, job, buried);
  if (job->trace != NULL && irisd_trace_context_is_sampled (job->trace)
      && outcome != IRISD_N_OUTCOMES)
    irisd_spans_add (self->core->spans, job, outcome);
  irisd_count (&self->counters.failed, job->result.error != NULL || (!watched && !job->lasting));
  if (watched)
    send_completion (self, job);
  else
    irisd_core_add_bytes (self->core, -(gint64) job->charge);
}

/* Takes @job, whose completion is sent, or need not be. */
void
irisd_completion_release_job (IrisdItems *self, IrisdJob *job)
{
  irisd_permit_release (self, job);
  irisd_items_drop_deadline (self, job);
  irisd_spilled_flow_leave (self, job);
  irisd_items_unregister (self, job);
  g_hash_table_remove (self->orphans, job);
  irisd_job_free (job);
  irisd_core_end_item (self->core);
}

/* Returns the last line that a command wrote to its standard error, or else to its output. */
static char *
last_words (const IrisdResult *result)
{
  const char *data = zmq_msg_data ((zmq_msg_t *) &result->body);
  gsize end = zmq_msg_size (&result->body);
  gsize begin = result->stdout_length > 0 && (gsize) result->stdout_length < end
                    ? (gsize) result->stdout_length
                    : 0;
  while (end > begin && g_ascii_isspace (data[end - 1]))
    end--;
  gsize start = end;
  while (start > begin && data[start - 1] != '\n' && end - start < MOST_LAST_WORDS)
    start--;
  return end > start ? g_utf8_make_valid (data + start, (gssize) (end - start)) : NULL;
}

static char *
explain_failure (const IrisdJob *job)
{
  const IrisdResult *result = &job->result;
  if (result->error != NULL)
    return g_strdup (result->error->message);
  g_autofree char *words = last_words (result);
  g_autofree char *end = result->signal > 0 ? g_strdup_printf (
                             "the command was killed by signal %d", result->signal)
                                            : g_strdup_printf ("the command exited with status %d",
                                                               result->exit_status);
  return words != NULL ? g_strdup_printf ("%s: %s", end, words) : g_steal_pointer (&end);
}

static gboolean
has_error (const IrisdJob *job, IrisWireError code)
{
  return g_error_matches (job->result.error, IRIS_WIRE_ERROR, (gint) code);
}

/* Returns whether @job, which came back for good, failed and wants to be buried. It comes back when
 * the journal has written that. */
static gboolean
bury_if_failed (IrisdItems *self, IrisdJob *job)
{
  if (!job->bury || !irisd_job_has_failed (job) || has_error (job, IRIS_WIRE_ERROR_CANCELLED))
    return FALSE;
  g_autofree char *reason = explain_failure (job);
  irisd_job_advance (job, IRISD_EVENT_BURY);
  irisd_completion_bury (self, job,
                         job->result.error != NULL ? (IrisWireError) job->result.error->code
                                                   : IRIS_WIRE_ERROR_SERVICE_FAILED,
                         reason, NULL);
  return TRUE;
}

/* Has the journal write that the item is buried, with @code and @reason as the reason. Takes
 * @broadcast, the request for it, or NULL. irisd_completion_take_burial() goes on. */
void
irisd_completion_bury (IrisdItems *self,
                       IrisdJob *job,
                       IrisWireError code,
                       const char *reason,
                       IrisdBroadcast *broadcast)
{
  IrisdJournalRequest *request = irisd_items_new_request (self, IRISD_JOURNAL_REQUEST_BURY,
                                                          job->peer, job->request_id);
  irisd_dependencies_note_burial (self, job, TRUE);
  request->persistent = job->persistent;
  request->job = job;
  request->item = job->id;
  request->count = job->schedule != NULL ? job->schedule->attempts
                                         : (guint) irisd_job_has_run (job);
  request->code = code;
  request->reason = g_strdup (reason);
  request->broadcast = broadcast;
  irisd_journal_post (self->core->journal, request);
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
end_persistent (IrisdItems *self, IrisdJob *job)
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

  if (bury_if_failed (self, job))
    return;
  IrisWireMessage message;
  g_autoptr (GError) error = NULL;
  irisd_completion_describe (job, &message);
  IrisdJournalRequest *request = irisd_items_new_request (self, IRISD_JOURNAL_REQUEST_END,
                                                          job->peer, job->request_id);
  if (!iris_wire_encode (self->encoder, &message, &error))
    g_error ("the end of an item cannot be encoded: %s", error->message);
  const IrisWireFrame *header = &self->encoder->frames[3];
  request->persistent = job->persistent;
  request->job = job;
  request->type = message.type;
  /* Its end is not acknowledged and forgotten at once, so it may be submitted again. */
  request->keeps = job->detached || irisd_job_is_orphan (job);
  request->header = (IrisdBlob){ g_memdup2 (header->data, header->size), header->size };
  if (job->result.error == NULL)
    request->payload = (IrisWireFrame){ zmq_msg_data (&job->result.body),
                                        zmq_msg_size (&job->result.body) };
  request->state = job->result.error == NULL ? IRIS_WIRE_STATE_DONE
                   : g_error_matches (job->result.error, IRIS_WIRE_ERROR, IRIS_WIRE_ERROR_CANCELLED)
                       ? IRIS_WIRE_STATE_CANCELLED
                       : IRIS_WIRE_STATE_FAILED;
  if (request->state == IRIS_WIRE_STATE_DONE)
    request->code = get_exit_code (&job->result);
  irisd_job_advance (job, IRISD_EVENT_WRITE_END);
  irisd_journal_post (self->core->journal, request);
}

/* Ends and frees @job, which no other thread uses any more. */
void
irisd_completion_end_job (IrisdItems *self, IrisdJob *job)
{
  irisd_permit_release (self, job);
  irisd_items_drop_deadline (self, job);
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
  tell (self, job, state == IRISD_ITEM_BURIED);
  if (state != IRISD_ITEM_BURIED)
    irisd_job_advance (job, IRISD_EVENT_RELEASE);
  irisd_completion_release_job (self, job);
}

/* Ends a job that its gateway has in hand and that has not run as cancelled. Takes @job. */
void
irisd_completion_cancel_withdrawn (IrisdItems *self, IrisdJob *job)
{
  irisd_job_advance (job, IRISD_EVENT_CANCEL);
  irisd_completion_end_job (self, job);
}

/* The journal has written an end, or could not. */
void
irisd_completion_take_end (IrisdItems *self, IrisdJournalRequest *request)
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
    tell (self, job, FALSE);
  else
    irisd_completion_end_job (self, job);
}

/* Ends a cancelled item at once; a job that something else still has comes back to be freed. */
void
irisd_completion_end_cancelled (IrisdItems *self, IrisdJob *job)
{
  if (irisd_job_is (job, IRISD_ITEM_RETURNED))
    irisd_completion_end_job (self, job);
  else if (job->lasting)
    end_persistent (self, job);
  else if (!irisd_peer_is_gone (job->peer))
    {
      irisd_job_fail_cancelled (job);
      irisd_job_advance (job, IRISD_EVENT_TELL);
      tell (self, job, FALSE);
    }
}

/* Sets the error that the job's own connection gets. */
static void
name_end (IrisdJob *job, IrisdJournalRequest *request)
{
  if (request->error == NULL)
    irisd_job_fail (job, IRIS_WIRE_ERROR_BURIED,
                    "item %" G_GUINT64_FORMAT
                    " is buried: %s; kick it to run it again, or cancel it",
                    request->item, request->reason);
  else
    irisd_job_fail (job, (IrisWireError) request->error->code, "%s", request->error->message);
}

/* The journal has written a burial, or could not. */
void
irisd_completion_take_burial (IrisdItems *self, IrisdJournalRequest *request)
{
  IrisdJob *job = request->job;
  IrisdBroadcast *broadcast = g_steal_pointer (&request->broadcast);
  const gboolean buried = request->error == NULL;
  irisd_job_advance (job, buried ? IRISD_EVENT_WRITTEN : IRISD_EVENT_UNWRITTEN);
  if (!buried)
    irisd_dependencies_note_burial (self, job, FALSE);
  name_end (job, request);
  if (broadcast != NULL)
    broadcast->klass->refuse (broadcast, request->error);
  if (!irisd_job_is (job, IRISD_ITEM_SHELL))
    {
      irisd_completion_end_job (self, job);
      return;
    }
  /* From now on the item may be kicked; this job is only a shell that has to come back. */
  tell (self, job, buried);
  irisd_spilled_flow_leave (self, job);
  irisd_items_unregister (self, job);
  g_hash_table_remove (self->orphans, job);
  job->persistent = NULL;
}
