/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * A gateway's jobs, their turns in queues and their permits.
 *
 * The stage before the gate, in two steps: a job that names a queue (irisd-named-queues.c) waits
 * there for its turn, and a job without a permit at the concurrency limit. Another gateway
 * may give it the permit; it posts a message to the job's own gateway, so only that one touches the
 * job. The job has its permit until it comes back from the scheduler or the worker processes, or
 * ends otherwise.
 *
 * Between the permit and the message's arrival a job cannot be withdrawn. A cancellation in between
 * is answered as for a job that the scheduler has, and the message brings the job back.
 */
#include "daemon/items/irisd-permit.h"

#include "daemon/exec/worker/irisd-worker-processes.h"

static const char *
service_of (const IrisdJob *job)
{
  return job->leased_item != NULL ? job->leased_item->service : job->service->name;
}

static void
make_permit (IrisdJob *job)
{
  if (job->permit != NULL)
    return;
  job->permit = g_new0 (IrisdPermit, 1);
  job->permit->message.kind = IRISD_MESSAGE_PERMIT;
  job->permit->job = job;
}

static gboolean
enter_queue (IrisdItems *self, IrisdJob *job, gboolean at_once)
{
  if (job->queue == NULL)
    return TRUE;
  make_permit (job);
  if (irisd_queue_turn_is_taken (&job->permit->turn))
    return TRUE;
  job->permit->in_queue = TRUE;
  if (!irisd_named_queues_enter (&self->core->queues, job->queue, &job->permit->turn,
                                 job->fair.priority, job->id, at_once))
    return FALSE;
  job->permit->in_queue = FALSE;
  return TRUE;
}

static gboolean
enter_limit (IrisdItems *self, IrisdJob *job)
{
  IrisdConcurrencyLimit *limit = &self->core->concurrency_limit;
  if (!irisd_concurrency_limit_is_set (limit))
    return TRUE;
  make_permit (job);
  return irisd_concurrency_limit_enter (
      limit, &job->permit->waiter, job->client, service_of (job), job->fair.priority,
      job->since_us != 0 ? job->since_us : g_get_monotonic_time ());
}

/* Returns whether @job may go on to its gate; otherwise a message comes when it may. */
gboolean
irisd_permit_take (IrisdItems *self, IrisdJob *job)
{
  if (enter_queue (self, job, FALSE) && enter_limit (self, job))
    return TRUE;
  irisd_job_advance (job, IRISD_EVENT_ASK_PERMIT);
  return FALSE;
}

/* @job runs already, so it has its turn in its queue. */
void
irisd_permit_take_at_once (IrisdItems *self, IrisdJob *job)
{
  enter_queue (self, job, TRUE);
}

/* A message about @job has come. Returns whether it may go on to its gate; one that has got only
 * its turn asks for the permit. */
gboolean
irisd_permit_continue (IrisdItems *self, IrisdJob *job)
{
  if (job->permit == NULL || !job->permit->in_queue)
    return TRUE;
  job->permit->in_queue = FALSE;
  return irisd_permit_take (self, job);
}

/* Returns whether @job waits in a queue that gives no turns until a request says so. */
gboolean
irisd_permit_is_held (IrisdItems *self, IrisdJob *job)
{
  return irisd_job_is (job, IRISD_ITEM_PERMIT) && job->permit->in_queue
         && irisd_named_queues_is_suspended (&self->core->queues, job->queue);
}

static IrisdPermit *
permit_of (IrisdConcurrencyWaiter *waiter)
{
  return (IrisdPermit *) (void *) ((char *) waiter - G_STRUCT_OFFSET (IrisdPermit, waiter));
}

/* Tells the gateways of jobs that they have a permit now; @next as from
 * irisd_concurrency_limit_leave(). Any thread. */
void
irisd_permit_give (IrisdConcurrencyWaiter *next)
{
  while (next != NULL)
    {
      IrisdPermit *permit = permit_of (next);
      next = next->next; /* once it is posted it may be gone */
      irisd_mailbox_post (permit->job->mailbox, &permit->message);
    }
}

/* The same for turns; @next as from irisd_named_queues_leave(). */
void
irisd_permit_give_turns (IrisdQueueTurn *next)
{
  while (next != NULL)
    {
      IrisdPermit *permit = IRISD_CONTAINER (next, IrisdPermit, turn);
      next = next->next;
      irisd_mailbox_post (permit->job->mailbox, &permit->message);
    }
}

/* @job is not under way any more; it may have released its permit before. */
void
irisd_permit_release (IrisdItems *self, IrisdJob *job)
{
  if (job->permit == NULL)
    return;
  job->permit->in_queue = FALSE;
  irisd_permit_give_turns (irisd_named_queues_leave (&self->core->queues, &job->permit->turn));
  irisd_permit_give (
      irisd_concurrency_limit_leave (&self->core->concurrency_limit, &job->permit->waiter));
}

/* Returns whether it waited, and belongs to the caller now; otherwise its message is on the way. */
gboolean
irisd_permit_withdraw (IrisdItems *self, IrisdJob *job)
{
  if (!job->permit->in_queue)
    return irisd_concurrency_limit_withdraw (&self->core->concurrency_limit, &job->permit->waiter);
  job->permit->in_queue = !irisd_named_queues_withdraw (&self->core->queues, &job->permit->turn);
  return !job->permit->in_queue;
}

IrisdJob *
irisd_permit_get_job (IrisdMessage *message)
{
  return ((IrisdPermit *) (void *) ((char *) message - G_STRUCT_OFFSET (IrisdPermit, message)))
      ->job;
}
