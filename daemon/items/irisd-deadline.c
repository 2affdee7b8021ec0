/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * Deadlines: what has not begun by then fails, whatever it waits for.
 *
 * The deadline of each job that has one is in a heap of its gateway from when the job is made until
 * it ends or the deadline has passed. What has begun is left alone; it is looked at again when it
 * would be tried again (irisd-dispatch.c), or leased again (irisd-leases.c). An item that is
 * cold has no job, so it is looked at when it is read back.
 */
#include "daemon/gateway/irisd-gateway-private.h"

/**
 * irisd_deadline_watch:
 * @self: the gateway
 * @job: a new job that has terms
 */
void
irisd_deadline_watch (IrisdGateway *self, IrisdJob *job)
{
  if (job->schedule->deadline_us != 0)
    irisd_timers_add (&self->deadlines, &job->schedule->deadline, IRISD_CLOCK_STEADY,
                      job->schedule->deadline_us);
}

/**
 * irisd_deadline_count_from:
 * @self: the gateway
 * @job: a job that was made again of a persistent item
 * @accepted_ms: when the item was accepted, by the time of day
 *
 * A deadline counts from the acceptance, however often irisd was started since.
 */
void
irisd_deadline_count_from (IrisdGateway *self, IrisdJob *job, guint64 accepted_ms)
{
  if (job->schedule == NULL || job->schedule->deadline_us == 0)
    return;
  irisd_deadline_drop (self, job);
  job->schedule->deadline_us -= MAX ((gint64) (irisd_unix_ms () - accepted_ms), 0) * 1000;
  irisd_deadline_watch (self, job);
}

/**
 * irisd_deadline_drop:
 * @self: the gateway
 * @job: a job of it that ends, or whose item will be cold
 */
void
irisd_deadline_drop (IrisdGateway *self, IrisdJob *job)
{
  if (job->schedule != NULL)
    irisd_timers_remove (&self->deadlines, &job->schedule->deadline);
}

/**
 * irisd_deadline_is_late:
 * @job: a job that has not begun
 *
 * Returns: whether its deadline has passed
 */
gboolean
irisd_deadline_is_late (const IrisdJob *job)
{
  return job->schedule != NULL && job->schedule->deadline_us != 0
         && job->schedule->deadline_us <= g_get_monotonic_time ();
}

/**
 * irisd_deadline_end_late:
 * @self: the gateway
 *
 * Fails what waits and has reached its deadline. What the scheduler or a worker process has, or
 * what is on its way back, is left alone.
 */
void
irisd_deadline_end_late (IrisdGateway *self)
{
  if (irisd_timers_get_count (&self->deadlines) == 0)
    return;
  IrisdTimes now = irisd_times_now ();
  IrisdTimer *timer;
  while ((timer = irisd_timers_pop_due (&self->deadlines, &now)) != NULL)
    {
      IrisdJob *job =
          ((IrisdSchedule *) ((char *) timer - G_STRUCT_OFFSET (IrisdSchedule, deadline)))->job;
      if (!irisd_dispatch_withdraw (self, job))
        continue;
      irisd_job_fail_late (job);
      irisd_completion_end_job (self, job);
    }
}
