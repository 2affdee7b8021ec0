/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * What worker processes tell of items while they have them: progress, parts of results, and the
 * nodes of items that went to others.
 *
 * Parts of a result. The client grants credit for bytes of parts, the job holds it
 * (`output_credit`, as for the output of a command), and the worker learns it: the present credit
 * by LEASE, an addition by PART. All three, and the subtraction for a part, happen under the
 * table's lock, so worker and irisd agree on the credit across leases. A part within its credit is
 * posted to the job's gateway at once, so irisd holds no more of an item than the client has
 * granted.
 *
 * A part is posted while the leased item is in the table, and the end of the job takes it out
 * first, so parts come before the completion. When a message arrives the job may have left the
 * table and still be on its way back behind the message; or its gateway may have ended and freed
 * it: then `messages_for`, which only that gateway's thread touches, is cleared.
 */
#include "daemon/exec/worker/irisd-worker-processes-private.h"

#include <string.h>

#define PROGRESS_KEYS (IRIS_WIRE_BIT (IRIS_WIRE_KEY_FRACTION) | IRIS_WIRE_BIT (IRIS_WIRE_KEY_NOTE))

/* Does nothing if no worker process has it. */
static void
tell_credit (IrisdWorkerProcesses *self, IrisdLeasedItem *leased_item, guint64 bytes)
{
  guint64 lease;
  IrisdWorker *worker = irisd_leases_find_worker (&leased_item->entry, &lease);
  if (worker == NULL)
    return;
  IrisdWorkerEvent *event = irisd_worker_event_new (IRISD_WORKER_EVENT_GRANT);
  event->worker = irisd_worker_process_ref (worker_of (worker));
  event->lease = lease;
  event->credit = bytes;
  irisd_mailbox_post (event->worker->mailbox, &event->message);
}

/* @node is where the item of @job is by now. Under the lock. */
static void
note_node (IrisdWorkerProcesses *self, const IrisdJob *job, char *node)
{
  if (job->persistent != NULL)
    g_hash_table_replace (self->nodes, g_memdup2 (&job->id, sizeof job->id), node);
  else
    g_free (node);
}

static gboolean
takes_parts (const IrisdLeasedItem *leased_item)
{
  return leased_item->parts || (leased_item->away != NULL && leased_item->away->streams);
}

/* Another one than before when the item began anew. The bridge has one lease for all runs of an
 * item on other nodes. */
static guint
get_attempt (const IrisdLeasedItem *leased_item, const IrisWireMessage *report)
{
  guint earlier = leased_item->away != NULL && report->attempt > 0 ? report->attempt - 1 : 0;
  return leased_item->n_leases + earlier;
}

/* Takes @body, the fifth frame of @report. Returns FALSE, and drops the part, if it is larger than
 * its lease's credit. A part without a request for parts, or of a lease that has ended, is dropped
 * too, with TRUE. */
gboolean
irisd_worker_processes_part (IrisdWorkerProcesses *self,
                             IrisdWorkerProcess *worker,
                             const IrisWireMessage *report,
                             zmq_msg_t *body)
{
  gboolean fits = TRUE;
  const guint run = MAX (report->attempt, 1);
  irisd_worker_processes_lock (self);
  IrisdLeaseEntry *entry = irisd_leases_find (
      self->leases, &worker->base, irisd_worker_processes_read_lease (self, report->request_id));
  IrisdLeasedItem *leased_item = entry != NULL ? leased_item_of (entry) : NULL;
  if (leased_item != NULL && takes_parts (leased_item))
    {
      IrisdJob *job = leased_item->job;
      guint64 size = report->body.size;
      fits = size <= atomic_load_explicit (&job->output_credit, memory_order_relaxed);
      if (fits)
        {
          IrisdWorkerEvent *event = irisd_worker_event_new (IRISD_WORKER_EVENT_PART);
          atomic_fetch_sub_explicit (&job->output_credit, size, memory_order_relaxed);
          event->leased_item = irisd_leased_item_ref (leased_item);
          event->attempt = get_attempt (leased_item, report);
          event->channel = leased_item->away != NULL ? report->channel : 0;
          zmq_msg_move (&event->payload, body);
          irisd_mailbox_post (job->mailbox, &event->message);
        }
    }
  else if (leased_item != NULL && leased_item->away != NULL && report->channel != 0)
    irisd_away_item_keep_output (leased_item->away, leased_item->job, run, report->channel,
                                 report->body);
  irisd_worker_processes_unlock (self);
  return fits;
}

/* @job has not ended; for its gateway. Grants credit for @bytes of parts. Returns FALSE, and
 * changes nothing, if the job would hold more than @limit. */
gboolean
irisd_worker_processes_grant (IrisdWorkerProcesses *self,
                              IrisdJob *job,
                              guint64 bytes,
                              guint64 limit)
{
  irisd_worker_processes_lock (self);
  guint64 held = atomic_load_explicit (&job->output_credit, memory_order_relaxed);
  gboolean fits = bytes <= limit && held <= limit - bytes;
  if (fits)
    {
      atomic_fetch_add_explicit (&job->output_credit, bytes, memory_order_relaxed);
      if (takes_parts (job->leased_item) && job->leased_item->job != NULL)
        tell_credit (self, job->leased_item, bytes);
    }
  irisd_worker_processes_unlock (self);
  return fits;
}

/* Fills @out, a PROGRESS message without keys, with the latest report; @note is what it borrows.
 * For the job's gateway. Returns the job, or NULL if it has ended. */
IrisdJob *
irisd_worker_processes_take_report (IrisdWorkerProcesses *self,
                                    IrisdLeasedItem *leased_item,
                                    IrisWireMessage *out,
                                    char **note)
{
  irisd_worker_processes_lock (self);
  leased_item->report_posted = FALSE;
  IrisdJob *job = leased_item->job;
  if (leased_item->has_fraction)
    iris_wire_message_set_uint (out, IRIS_WIRE_KEY_FRACTION, leased_item->fraction);
  *note = g_strdup (leased_item->note);
  irisd_worker_processes_unlock (self);
  if (*note != NULL)
    iris_wire_message_set_string (out, IRIS_WIRE_KEY_NOTE, *note, -1);
  return job;
}

/* Only the latest report is stored, and only one event is on its way: a worker that reports without
 * end does not fill a mailbox. */
static void
keep_report (IrisdLeasedItem *leased_item, const IrisWireMessage *report)
{
  leased_item->has_fraction = iris_wire_message_has (report, IRIS_WIRE_KEY_FRACTION);
  leased_item->fraction = report->fraction;
  g_free (leased_item->note);
  leased_item->note = iris_wire_message_has (report, IRIS_WIRE_KEY_NOTE)
                          ? iris_wire_string_dup (&report->note)
                          : NULL;
  if (leased_item->report_posted)
    return;
  leased_item->report_posted = TRUE;
  IrisdWorkerEvent *event = irisd_worker_event_new (IRISD_WORKER_EVENT_REPORT);
  event->leased_item = irisd_leased_item_ref (leased_item);
  irisd_mailbox_post (leased_item->job->mailbox, &event->message);
}

/* Returns FALSE if the worker has no such lease. */
gboolean
irisd_worker_processes_report (IrisdWorkerProcesses *self,
                               IrisdWorkerProcess *worker,
                               const IrisWireMessage *report)
{
  irisd_worker_processes_lock (self);
  IrisdLeaseEntry *entry = irisd_leases_find (
      self->leases, &worker->base, irisd_worker_processes_read_lease (self, report->request_id));
  /* A report that is only a part has no progress. */
  gboolean tells = report->body.size == 0 || (report->present & PROGRESS_KEYS) != 0;
  if (entry != NULL && leased_item_of (entry)->progress && tells)
    keep_report (leased_item_of (entry), report);
  if (entry != NULL && leased_item_of (entry)->away != NULL && report->node.len > 0)
    note_node (self, leased_item_of (entry)->job, iris_wire_string_dup (&report->node));
  irisd_worker_processes_unlock (self);
  return entry != NULL;
}

/* Names the nodes where items of @list run, as far as these have told it. */
void
irisd_worker_processes_name_nodes (IrisdWorkerProcesses *self, IrisWirePersistentList *list)
{
  irisd_worker_processes_lock (self);
  for (guint i = 0; i < list->n_items; i++)
    {
      IrisWirePersistentItem *item = &list->items[i];
      const char *node = g_hash_table_lookup (self->nodes, &item->item);
      if (node == NULL || item->state != IRIS_WIRE_STATE_LEASED)
        continue;
      g_free (item->node);
      g_free (item->message);
      item->node = g_strdup (node);
      item->message = g_strdup_printf ("it runs at the node %s", node);
    }
  irisd_worker_processes_unlock (self);
}
