/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * Deadlines: what has not begun by then fails, whatever it waits for.
 *
 * The deadline of each job that has one is in a heap of its gateway from when the job is made until
 * it ends or the deadline has passed. What has begun is left alone; it is looked at again when it
 * would be tried again (irisd-waiting-flow.c), or leased again (irisd-lease.c). An item that is
 * cold has no job, so it is looked at when it is read back.
 */
#include "irisd-gateway-private.h"
#include "irisd-outside.h"

/**
 * irisd_gateway_watch_deadline:
 * @self: the gateway
 * @job: a new job that has terms
 */
void
irisd_gateway_watch_deadline (IrisdGateway *self, IrisdJob *job)
{
  if (job->terms->deadline_us != 0)
    irisd_waiting_add (&self->deadlines, &job->terms->deadline, IRISD_CLOCK_STEADY,
                       job->terms->deadline_us);
}

/**
 * irisd_gateway_count_deadline_from:
 * @self: the gateway
 * @job: a job that was made again of a kept item
 * @accepted_ms: when the item was accepted, by the time of day
 *
 * A deadline counts from the acceptance, however often irisd was started since.
 */
void
irisd_gateway_count_deadline_from (IrisdGateway *self, IrisdJob *job, guint64 accepted_ms)
{
  if (job->terms == NULL || job->terms->deadline_us == 0)
    return;
  irisd_gateway_drop_deadline (self, job);
  job->terms->deadline_us -= MAX ((gint64) (irisd_unix_ms () - accepted_ms), 0) * 1000;
  irisd_gateway_watch_deadline (self, job);
}

/**
 * irisd_gateway_drop_deadline:
 * @self: the gateway
 * @job: a job of it that ends, or whose item will be cold
 */
void
irisd_gateway_drop_deadline (IrisdGateway *self, IrisdJob *job)
{
  if (job->terms != NULL)
    irisd_waiting_remove (&self->deadlines, &job->terms->deadline);
}

/**
 * irisd_gateway_is_late:
 * @job: a job that has not begun
 *
 * Returns: whether its deadline has passed
 */
gboolean
irisd_gateway_is_late (const IrisdJob *job)
{
  return job->terms != NULL && job->terms->deadline_us != 0
         && job->terms->deadline_us <= g_get_monotonic_time ();
}

/* Takes a job out of what it waits in. Returns whether it did wait; one that the scheduler or a
 * worker process has, or that is on its way back, is left alone. */
static gboolean
stop_waiting (IrisdGateway *self, IrisdJob *job)
{
  if (job->ended || job->ending || job->settled || job->buried)
    return FALSE;
  if (job->parked)
    {
      irisd_gateway_unpark (self, job);
      return TRUE;
    }
  if (job->stage != IRISD_STAGE_HANDED)
    return irisd_gateway_withdraw (self, job);
  return job->task != NULL
         && irisd_outside_withdraw_waiting (self->core->outside, job) == IRISD_ERRAND_WAITED;
}

/**
 * irisd_gateway_end_late:
 * @self: the gateway
 *
 * Fails what waits and has reached its deadline.
 */
void
irisd_gateway_end_late (IrisdGateway *self)
{
  if (irisd_waiting_get_count (&self->deadlines) == 0)
    return;
  IrisdTimes now = irisd_times_now ();
  IrisdWaiter *waiter;
  while ((waiter = irisd_waiting_pop_due (&self->deadlines, &now)) != NULL)
    {
      IrisdJob *job =
          ((IrisdTerms *) ((char *) waiter - G_STRUCT_OFFSET (IrisdTerms, deadline)))->job;
      if (!stop_waiting (self, job))
        continue;
      irisd_job_fail_late (job);
      irisd_gateway_end_job (self, job);
    }
}
