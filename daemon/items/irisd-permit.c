/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * A gateway's jobs and the limits on how many run at once.
 *
 * The stage before the gate: a job that has no room waits in the shared room and goes on when that
 * lets it in. The permit may come from another gateway; it tells the job's own one by a message, so
 * only that one touches the job. From then on the room is the job's until it comes back from the
 * scheduler or the worker processes, or ends otherwise; so at most as many run as may, and waiters
 * delay no other job.
 *
 * Between the permit and the message's arrival a job cannot be withdrawn. A cancellation in between
 * is answered as for a job that the scheduler has, and the message brings the job back.
 */
#include "daemon/exec/worker/irisd-worker-processes.h"
#include "daemon/gateway/irisd-gateway-private.h"
#include "daemon/items/irisd-permit.h"

static const char *
service_of (const IrisdJob *job)
{
  return job->leased_item != NULL ? job->leased_item->service : job->service->name;
}

/**
 * irisd_permit_take:
 * @self: the gateway
 * @job: a job that is about to go on to its gate
 *
 * Returns: whether it may; else it waits, and a message comes when it may
 */
gboolean
irisd_permit_take (IrisdGateway *self, IrisdJob *job)
{
  IrisdConcurrencyLimit *room = &self->core->concurrency_limit;
  if (!room->any)
    return TRUE;
  if (job->permit == NULL)
    {
      job->permit = g_new0 (IrisdPermit, 1);
      job->permit->message.kind = IRISD_MESSAGE_PERMIT;
      job->permit->job = job;
    }
  if (irisd_concurrency_limit_enter (room, &job->permit->waiter, job->peer->client,
                                     service_of (job), job->fair.priority,
                                     job->since_us != 0 ? job->since_us : g_get_monotonic_time ()))
    return TRUE;
  irisd_job_advance (job, IRISD_EVENT_ASK_PERMIT);
  return FALSE;
}

static IrisdPermit *
permit_of (IrisdConcurrencyWaiter *waiter)
{
  return (IrisdPermit *) (void *) ((char *) waiter - G_STRUCT_OFFSET (IrisdPermit, waiter));
}

/**
 * irisd_permit_release:
 * @self: the gateway
 * @job: a job that is not under way any more; it may have left before
 *
 * Gives its room to others.
 */
void
irisd_permit_release (IrisdGateway *self, IrisdJob *job)
{
  if (job->permit == NULL)
    return;
  IrisdConcurrencyWaiter *next = irisd_concurrency_limit_leave (&self->core->concurrency_limit,
                                                                &job->permit->waiter);
  while (next != NULL)
    {
      IrisdPermit *permit = permit_of (next);
      next = next->next; /* once it is posted it may be gone */
      irisd_mailbox_post (permit->job->mailbox, &permit->message);
    }
}

/**
 * irisd_permit_withdraw:
 * @self: the gateway
 * @job: a job of it in that stage
 *
 * Returns: whether it waited, and belongs to the caller now; otherwise its message is on the way
 */
gboolean
irisd_permit_withdraw (IrisdGateway *self, IrisdJob *job)
{
  return irisd_concurrency_limit_withdraw (&self->core->concurrency_limit, &job->permit->waiter);
}

/**
 * irisd_permit_get_job:
 * @message: of a seat
 *
 * Returns: (transfer none): the job that has it now
 */
IrisdJob *
irisd_permit_get_job (IrisdMessage *message)
{
  return ((IrisdPermit *) (void *) ((char *) message - G_STRUCT_OFFSET (IrisdPermit, message)))
      ->job;
}
