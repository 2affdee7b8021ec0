/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * Parts of a result on their way from a worker process to the client.
 *
 * The client grants credit for bytes of parts, the job holds it (`output_credit`, as for the output
 * of a command), and the worker is told of it: what there is by LEASE, what is added by PART. All
 * three happen under the table's lock, and so does what a part takes away; so worker and irisd
 * agree on the credit, whoever has the lease. A part within its credit is posted to the job's
 * gateway at once, so what irisd holds of an item is no more than the client has granted.
 *
 * A part is posted while the leased item is in the table, and whatever ends the job takes it out of
 * there first, so parts come before the completion. When a message arrives the job may have left
 * the table and still be on its way home behind the message; or its gateway may have ended it, and
 * freed it: then `messages_for`, which only that gateway's thread touches, is cleared.
 */
#include "daemon/exec/worker/irisd-worker-processes-private.h"

/**
 * irisd_worker_processes_part:
 * @self: the shared table
 * @worker: who sends it
 * @report: a REPORT message with a body
 * @body: its fifth frame, which is taken
 *
 * Returns: %FALSE if it is larger than its lease's credit; it is dropped then. So is, with %TRUE,
 * what nobody asked for, or is of a lease that has ended
 */
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

/**
 * irisd_worker_processes_grant:
 * @self: the shared table
 * @job: a job for worker processes that has not ended; only its gateway may call this
 * @bytes: of parts that may be sent beyond what it holds
 * @limit: how much it may hold
 *
 * Returns: %FALSE if it would hold more than that; nothing has changed then
 */
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
