/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * Deadlines: an item that has not begun by its deadline fails, whatever it waits for.
 *
 * The deadline of a job is in a heap of its gateway until the job ends or the deadline has passed.
 * An item that has begun goes on; its deadline is checked again before another try
 * (irisd-dispatch.c) or lease (irisd-leases.c). A spilled item has no job, so its deadline is
 * checked when it is reloaded.
 */
#include "daemon/gateway/irisd-gateway-private.h"

void
irisd_deadline_watch (IrisdGateway *self, IrisdJob *job)
{
  if (job->schedule->deadline_us != 0)
    irisd_timers_add (&self->deadlines, &job->schedule->deadline, IRISD_CLOCK_STEADY,
                      job->schedule->deadline_us);
}

/* A deadline counts from the acceptance, @accepted_ms in Unix time, however often irisd was started
 * since. */
void
irisd_deadline_count_from (IrisdGateway *self, IrisdJob *job, guint64 accepted_ms)
{
  if (job->schedule == NULL || job->schedule->deadline_us == 0)
    return;
  irisd_deadline_drop (self, job);
  job->schedule->deadline_us -= MAX ((gint64) (irisd_unix_ms () - accepted_ms), 0) * 1000;
  irisd_deadline_watch (self, job);
}

/* To be called when the job ends or its item is spilled. */
void
irisd_deadline_drop (IrisdGateway *self, IrisdJob *job)
{
  if (job->schedule != NULL)
    irisd_timers_remove (&self->deadlines, &job->schedule->deadline);
}

/* @job has not begun. */
gboolean
irisd_deadline_is_late (const IrisdJob *job)
{
  return job->schedule != NULL && job->schedule->deadline_us != 0
         && job->schedule->deadline_us <= g_get_monotonic_time ();
}

/* Fails waiting jobs that have reached their deadline, but not those that the scheduler or a worker
 * process has, or that are on their way back. */
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
