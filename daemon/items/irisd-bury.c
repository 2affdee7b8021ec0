/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * Buried items: persistent items that failed for good and are set aside for a person.
 *
 * A buried item has no job: it is a row of the journal, with the message that brought it. A kick
 * makes it a job as a restart of irisd would. So a buried item costs what an end costs.
 *
 * The gateway buries a job that is out of tries and wants it, or a waiting job by request. Once the
 * journal has written it, the job ends for the connection that waits for it, by the error `buried`;
 * its dependents go on waiting. A job that the scheduler has cannot be taken from it: in the state
 * `burying-out` no worker runs it, and the later of the journal's answer and the job's return frees
 * it. Between the two the job no longer counts as the item's, because a kick may have made another.
 */
#include "daemon/items/irisd-bury.h"

#include "daemon/items/spill/irisd-spilled.h"

#include <string.h>

/* Bytes of a command's last line that a sentence repeats. */
#define MOST_LAST_WORDS 200

/* From now on `by_number` has @job under its item's number. */
void
irisd_persistent_register (IrisdGateway *self, IrisdJob *job)
{
  g_hash_table_replace (self->by_number, &job->id, job);
}

void
irisd_persistent_unregister (IrisdGateway *self, IrisdJob *job)
{
  irisd_spilled_flow_leave (self, job);
  if (job->id != 0 && g_hash_table_lookup (self->by_number, &job->id) == job)
    g_hash_table_remove (self->by_number, &job->id);
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
gboolean
irisd_bury_if_failed (IrisdGateway *self, IrisdJob *job)
{
  if (!job->bury || !irisd_job_has_failed (job) || has_error (job, IRIS_WIRE_ERROR_CANCELLED))
    return FALSE;
  g_autofree char *reason = explain_failure (job);
  irisd_job_advance (job, IRISD_EVENT_BURY);
  irisd_bury_job (self, job,
                  job->result.error != NULL ? (IrisWireError) job->result.error->code
                                            : IRIS_WIRE_ERROR_SERVICE_FAILED,
                  reason, NULL);
  return TRUE;
}

/* Has the journal write that the item is buried, with @code and @reason as the reason. Takes
 * @broadcast, the request for it, or NULL. irisd_bury_take_answer() goes on. */
void
irisd_bury_job (IrisdGateway *self,
                IrisdJob *job,
                IrisWireError code,
                const char *reason,
                IrisdBroadcast *broadcast)
{
  IrisdJournalRequest *request = irisd_persistent_new_request (self, IRISD_JOURNAL_REQUEST_BURY,
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
irisd_bury_take_answer (IrisdGateway *self, IrisdJournalRequest *request)
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
  irisd_completion_tell (self, job, buried);
  irisd_persistent_unregister (self, job);
  g_hash_table_remove (self->orphans, job);
  job->persistent = NULL;
}
