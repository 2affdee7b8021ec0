/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * Buried items: persistent items that failed for good and are set aside for a person.
 *
 * A buried item has no job, as one that has ended has none: it is a row of the journal, with the
 * message that brought it. Kicked, it becomes a job as it would if irisd were started again. So a
 * million of them cost what a million ends do, and nothing of a job has to be kept for later.
 *
 * A job comes here when it is out of tries and wants to be buried, or by request while it waits.
 * The journal writes it down, and when it has, the job is ended for the connection that waits for
 * it, by the error `buried`; but not for the items that come after it. A job that the scheduler has
 * cannot be taken from it: in the state `burying-out` no worker runs it, and the later of the
 * journal's answer and of the job itself frees it. Between the two it no longer counts as the
 * item's job, because the item may have been kicked and have another one.
 */
#include "daemon/items/irisd-bury.h"

#include "daemon/items/spill/irisd-spilled.h"

#include <string.h>

/* So much of a command's last words a sentence repeats, in bytes. */
#define MOST_LAST_WORDS 200

/**
 * irisd_persistent_register:
 * @self: the gateway
 * @job: a persistent job that was accepted
 *
 * Makes it the job of its number.
 */
void
irisd_persistent_register (IrisdGateway *self, IrisdJob *job)
{
  g_hash_table_replace (self->by_number, &job->id, job);
}

/**
 * irisd_persistent_unregister:
 * @self: the gateway
 * @job: a job that ends
 */
void
irisd_persistent_unregister (IrisdGateway *self, IrisdJob *job)
{
  irisd_spilled_flow_leave (self, job);
  if (job->id != 0 && g_hash_table_lookup (self->by_number, &job->id) == job)
    g_hash_table_remove (self->by_number, &job->id);
}

/* The last line that a command has written to its standard error, or else to its output. */
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

/* Why a job failed, for a person. */
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

/**
 * irisd_bury_if_failed:
 * @self: the gateway
 * @job: a persistent job that came back for good
 *
 * Returns: whether it failed and wants to be buried then; it comes back when the journal has it
 */
gboolean
irisd_bury_if_failed (IrisdGateway *self, IrisdJob *job)
{
  if (!job->bury || !irisd_job_has_failed (job) || has_error (job, IRIS_WIRE_ERROR_CANCELLED))
    return FALSE;
  g_autofree char *sentence = explain_failure (job);
  irisd_job_advance (job, IRISD_EVENT_BURY);
  irisd_bury_job (self, job,
                  job->result.error != NULL ? (IrisWireError) job->result.error->code
                                            : IRIS_WIRE_ERROR_SERVICE_FAILED,
                  sentence, NULL);
  return TRUE;
}

/**
 * irisd_bury_job:
 * @self: the gateway
 * @job: a persistent job that is being buried
 * @code: why
 * @sentence: the same for a person
 * @broadcast: (nullable) (transfer full): who asked for it
 *
 * Has the journal write down that the item is buried. irisd_bury_take_answer() goes on with it.
 */
void
irisd_bury_job (IrisdGateway *self,
                IrisdJob *job,
                IrisWireError code,
                const char *sentence,
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
  request->sentence = g_strdup (sentence);
  request->broadcast = broadcast;
  irisd_journal_post (self->core->journal, request);
}

/* What the job's own connection is told. */
static void
name_end (IrisdJob *job, IrisdJournalRequest *request)
{
  if (request->error == NULL)
    irisd_job_fail (job, IRIS_WIRE_ERROR_BURIED,
                    "item %" G_GUINT64_FORMAT
                    " is buried: %s. It is kept and has no end; kick it to "
                    "have it run again",
                    request->item, request->sentence);
  else
    irisd_job_fail (job, (IrisWireError) request->error->code, "%s", request->error->message);
}

/**
 * irisd_bury_take_answer:
 * @self: the gateway
 * @request: a buried job that the journal has, or could not take
 */
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
    broadcast->klass->send_home (broadcast, request->error);
  if (!irisd_job_is (job, IRISD_ITEM_SHELL))
    {
      irisd_completion_end_job (self, job);
      return;
    }
  /* The item may be kicked from now on, so this is only a shell that has to come back. */
  irisd_completion_tell (self, job, buried);
  irisd_persistent_unregister (self, job);
  g_hash_table_remove (self->orphans, job);
  job->persistent = NULL;
}
