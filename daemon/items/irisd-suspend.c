/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * Items that wait, or whose processes are stopped, until a request lets them go on.
 *
 * `suspended` of the job says that a request wants it. A waiting job is taken out of what it waits
 * in, gives back its permit and its place in its flow, and goes to the state `suspended`; when it
 * is resumed it begins with its time again. A job that cannot be taken out, because a message about
 * it is on its way, goes there when the message comes; one that the scheduler has is given back by
 * the worker, unless that begins it in the same moment: then it runs to its end. A command that
 * runs stays `running`: its runner stops its processes, and the time limits do not count meanwhile.
 * It keeps its slot, its permit and its memory.
 *
 * The journal writes the state of a persistent item, so that it is suspended after a restart too,
 * also one whose command ran before. A suspended item is not spilled.
 */
#include "daemon/items/irisd-suspend.h"

#include "daemon/items/irisd-dispatch.h"

static gboolean
refuse (GError **error, const IrisdJob *job, const char *why)
{
  g_set_error (error, IRIS_WIRE_ERROR, IRIS_WIRE_ERROR_BAD_ARGUMENT,
               "item %" G_GUINT64_FORMAT " %s", job->id, why);
  return FALSE;
}

static gboolean
is_command (const IrisdJob *job)
{
  return job->service->start != NULL;
}

static void
set_suspended (IrisdJob *job, gboolean suspended)
{
  atomic_store_explicit (&job->suspended, suspended, memory_order_relaxed);
  if (is_command (job) && job->service->wake != NULL)
    job->service->wake (job);
}

static void
tell_state (IrisdJob *job, IrisWireState state)
{
  if (job->persistent != NULL)
    irisd_persistent_item_set_state (job->persistent, state);
}

/* Its time to run does not count while its processes are stopped. */
static void
stop_clock (IrisdItems *self, IrisdJob *job)
{
  IrisdSchedule *schedule = job->schedule;
  if (schedule == NULL || !irisd_timers_remove (&self->timers, &schedule->timer))
    return;
  schedule->run_left_us = MAX (schedule->timer.due_us - g_get_monotonic_time (), 1);
}

static void
start_clock (IrisdItems *self, IrisdJob *job)
{
  IrisdSchedule *schedule = job->schedule;
  if (schedule == NULL || schedule->run_left_us == 0)
    return;
  irisd_timers_add (&self->timers, &schedule->timer, IRISD_CLOCK_STEADY,
                    g_get_monotonic_time () + schedule->run_left_us);
  schedule->run_left_us = 0;
}

/* Returns why a job in that state cannot be suspended; NULL if it can. */
static const char *
explain (IrisdJob *job, IrisdItemState state)
{
  if (state == IRISD_ITEM_LEASED)
    return "is with a worker process and cannot be paused; only a waiting item or a running "
           "command can";
  if (state == IRISD_ITEM_RUNNING && !is_command (job))
    return "runs in irisd itself and cannot be paused; only a waiting item or a running command "
           "can";
  if (state == IRISD_ITEM_STOPPING || state == IRISD_ITEM_CANCELLED)
    return "is being cancelled and cannot be paused";
  if (state >= IRISD_ITEM_RETURNED)
    return "has just ended and cannot be paused";
  return NULL;
}

/* @job is not suspended. Returns FALSE with an error if it cannot be. */
gboolean
irisd_suspend_job (IrisdItems *self, IrisdJob *job, GError **error)
{
  IrisdItemState state = irisd_job_get_state (job);
  const char *why = explain (job, state);
  if (irisd_items_get_phase (self) != IRISD_PHASE_SERVING)
    why = "cannot be paused: irisd is ending; a durable item runs when it is back";
  if (why != NULL)
    return refuse (error, job, why);
  if (state != IRISD_ITEM_DEPENDENT && state != IRISD_ITEM_RUNNING
      && irisd_dispatch_withdraw (self, job))
    {
      set_suspended (job, TRUE);
      irisd_dispatch_advance (self, job);
      return TRUE;
    }
  set_suspended (job, TRUE);
  state = irisd_job_get_state (job);
  why = explain (job, state);
  if (why != NULL)
    {
      set_suspended (job, FALSE);
      return refuse (error, job, why);
    }
  if (state == IRISD_ITEM_RUNNING)
    {
      stop_clock (self, job);
      tell_state (job, IRIS_WIRE_STATE_SUSPENDED);
    }
  return TRUE;
}

/* @job is suspended. It may be spilled afterwards. */
void
irisd_suspend_resume (IrisdItems *self, IrisdJob *job)
{
  set_suspended (job, FALSE);
  if (irisd_job_is (job, IRISD_ITEM_RUNNING))
    {
      tell_state (job, IRIS_WIRE_STATE_RUNNING);
      start_clock (self, job);
    }
  else if (irisd_job_is (job, IRISD_ITEM_SUSPENDED) && irisd_dispatch_withdraw (self, job))
    irisd_dispatch_advance (self, job);
}

/* Has the journal write whether the persistent @job is suspended, and why (nullable). Takes
 * @broadcast, the request for it, which goes home with the journal's answer. A job that is resumed
 * is written first, because it may be spilled, or end, as soon as it goes on. */
void
irisd_suspend_keep (IrisdItems *self,
                    IrisdJob *job,
                    gboolean suspended,
                    const char *reason,
                    IrisdBroadcast *broadcast)
{
  IrisdJournalRequest *request = irisd_journal_request_new (IRISD_JOURNAL_REQUEST_REWRITE,
                                                            self->mailbox);
  request->persistent = job->persistent;
  request->item = job->id;
  request->state = suspended ? IRIS_WIRE_STATE_SUSPENDED : IRIS_WIRE_STATE_QUEUED;
  request->reason = g_strdup (reason);
  request->broadcast = broadcast;
  irisd_journal_post (self->core->journal, request);
}
