/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * A gateway's jobs and their permits.
 *
 * The stage before the gate: a job without a permit waits at the concurrency limit. Another gateway
 * may give it the permit; it posts a message to the job's own gateway, so only that one touches the
 * job. The job has its permit until it comes back from the scheduler or the worker processes, or
 * ends otherwise.
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

/* Returns whether @job may go on to its gate; otherwise a message comes when it may. */
gboolean
irisd_permit_take (IrisdGateway *self, IrisdJob *job)
{
  IrisdConcurrencyLimit *limit = &self->core->concurrency_limit;
  if (!limit->any)
    return TRUE;
  if (job->permit == NULL)
    {
      job->permit = g_new0 (IrisdPermit, 1);
      job->permit->message.kind = IRISD_MESSAGE_PERMIT;
      job->permit->job = job;
    }
  if (irisd_concurrency_limit_enter (limit, &job->permit->waiter, job->peer->client,
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

/* @job is not under way any more; it may have released its permit before. */
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

/* Returns whether it waited, and belongs to the caller now; otherwise its message is on the way. */
gboolean
irisd_permit_withdraw (IrisdGateway *self, IrisdJob *job)
{
  return irisd_concurrency_limit_withdraw (&self->core->concurrency_limit, &job->permit->waiter);
}

IrisdJob *
irisd_permit_get_job (IrisdMessage *message)
{
  return ((IrisdPermit *) (void *) ((char *) message - G_STRUCT_OFFSET (IrisdPermit, message)))
      ->job;
}
