/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * Parts of a result on their way from a worker process to the client.
 *
 * The client grants credit for bytes of parts, the job holds it (`output_credit`, as for the output
 * of a command), and the worker learns it: the present credit by LEASE, an addition by PART. All
 * three, and the subtraction for a part, happen under the table's lock, so worker and irisd agree
 * on the credit across leases. A part within its credit is posted to the job's gateway at once, so
 * irisd holds no more of an item than the client has granted.
 *
 * A part is posted while the leased item is in the table, and the end of the job takes it out
 * first, so parts come before the completion. When a message arrives the job may have left the
 * table and still be on its way back behind the message; or its gateway may have ended and freed
 * it: then `messages_for`, which only that gateway's thread touches, is cleared.
 */
#include "daemon/exec/worker/irisd-worker-processes-private.h"

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
  irisd_worker_processes_lock (self);
  IrisdLeaseEntry *entry = irisd_leases_find (
      self->leases, &worker->base, irisd_worker_processes_read_lease (self, report->request_id));
  IrisdLeasedItem *leased_item = entry != NULL ? irisd_leased_item_of (entry) : NULL;
  if (leased_item != NULL && leased_item->parts)
    {
      IrisdJob *job = leased_item->job;
      guint64 size = report->body.size;
      fits = size <= atomic_load_explicit (&job->output_credit, memory_order_relaxed);
      if (fits)
        {
          IrisdWorkerEvent *event = irisd_worker_event_new (IRISD_WORKER_EVENT_PART);
          atomic_fetch_sub_explicit (&job->output_credit, size, memory_order_relaxed);
          event->leased_item = irisd_leased_item_ref (leased_item);
          event->attempt = leased_item->n_leases;
          zmq_msg_move (&event->payload, body);
          irisd_mailbox_post (job->mailbox, &event->message);
        }
    }
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
      if (job->leased_item->parts && job->leased_item->job != NULL)
        irisd_worker_processes_tell_credit (self, job->leased_item, bytes);
    }
  irisd_worker_processes_unlock (self);
  return fits;
}
