/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * Parts of a result on their way from a worker process to the client.
 *
 * The client grants credit for bytes of parts, the job holds it (`output_credit`, as for the output
 * of a command), and the worker is told of it: what there is by LEASE, what is added by PART. All
 * three happen under the book's lock, and so does what a part takes away; so worker and irisd agree
 * on the credit, whoever has the lease. A part within its credit is posted to the job's gateway at
 * once, so what irisd holds of an item is no more than the client has granted.
 *
 * A part is posted while the task is in the book, and whatever ends the job takes it out of there
 * first, so parts come before the ending. When a letter arrives the job may have left the book and
 * still be on its way home behind the letter; or its gateway may have ended it, and freed it: then
 * `letters_for`, which only that gateway's thread touches, is cleared.
 */
#include "irisd-outside-private.h"

/**
 * irisd_outside_part:
 * @self: the shared book
 * @worker: who sends it
 * @report: a REPORT message with a body
 * @body: its fifth frame, which is taken
 *
 * Returns: %FALSE if it is larger than its lease's credit; it is dropped then. So is, with %TRUE,
 * what nobody asked for, or is of a lease that has ended
 */
gboolean
irisd_outside_part (IrisdOutside *self,
                    IrisdOutsideWorker *worker,
                    const IrisWireMessage *report,
                    zmq_msg_t *body)
{
  gboolean fits = TRUE;
  irisd_outside_lock (self);
  IrisdErrand *errand = irisd_leases_find (self->book, &worker->server,
                                           irisd_outside_read_lease (self, report->request_id));
  IrisdTask *task = errand != NULL ? irisd_task_of (errand) : NULL;
  if (task != NULL && task->parts)
    {
      IrisdJob *job = task->job;
      guint64 size = report->body.size;
      fits = size <= atomic_load_explicit (&job->output_credit, memory_order_relaxed);
      if (fits)
        {
          IrisdNotice *notice = irisd_notice_new (IRISD_NOTICE_PART);
          atomic_fetch_sub_explicit (&job->output_credit, size, memory_order_relaxed);
          notice->task = irisd_task_ref (task);
          notice->attempt = task->n_leases;
          zmq_msg_move (&notice->payload, body);
          irisd_mailbox_post (job->mailbox, &notice->letter);
        }
    }
  irisd_outside_unlock (self);
  return fits;
}

/**
 * irisd_outside_grant:
 * @self: the shared book
 * @job: a job for worker processes that has not ended; only its gateway may call this
 * @bytes: of parts that may be sent beyond what it holds
 * @limit: how much it may hold
 *
 * Returns: %FALSE if it would hold more than that; nothing has changed then
 */
gboolean
irisd_outside_grant (IrisdOutside *self, IrisdJob *job, guint64 bytes, guint64 limit)
{
  irisd_outside_lock (self);
  guint64 held = atomic_load_explicit (&job->output_credit, memory_order_relaxed);
  gboolean fits = bytes <= limit && held <= limit - bytes;
  if (fits)
    {
      atomic_fetch_add_explicit (&job->output_credit, bytes, memory_order_relaxed);
      if (job->task->parts && job->task->job != NULL)
        irisd_outside_tell_credit (self, job->task, bytes);
    }
  irisd_outside_unlock (self);
  return fits;
}
