/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * The end of items that are not wanted any more: by request, or because their client has gone.
 */
#include "daemon/items/irisd-cancel.h"

#include "daemon/exec/worker/irisd-worker-processes.h"
#include "daemon/items/irisd-completion.h"
#include "daemon/items/irisd-dispatch.h"

/* Takes a job from the worker processes. Returns whether none had it. */
static gboolean
cancel_leased (IrisdItems *self, IrisdJob *job)
{
  IrisdLeaseEntryState state = irisd_worker_processes_withdraw (self->core->worker_processes, job);
  if (state == IRISD_LEASE_ENTRY_GONE)
    {
      irisd_job_cancel (job); /* its message is on the way */
      return FALSE;
    }
  irisd_job_advance (job, IRISD_EVENT_WITHDRAW);
  irisd_job_fail (job, IRIS_WIRE_ERROR_CANCELLED, "the item was cancelled");
  irisd_job_advance (job, IRISD_EVENT_FAIL);
  return state == IRISD_LEASE_ENTRY_WAITED;
}

/* Cancels an item that has not ended, which is not tried again. Returns whether it had not begun to
 * run. If @ours, irisd_completion_end_cancelled() has to end it after the answer was sent. */
gboolean
irisd_cancel_begin (IrisdItems *self, IrisdJob *job, gboolean *ours)
{
  IrisdItemState state = irisd_job_get_state (job);
  gboolean queued = FALSE;
  if (job->schedule != NULL)
    job->schedule->given_up = TRUE;
  *ours = TRUE;
  if (state == IRISD_ITEM_OFFERED || state == IRISD_ITEM_LEASED)
    {
      queued = cancel_leased (self, job);
      *ours = irisd_job_is (job, IRISD_ITEM_RETURNED);
    }
  else if (irisd_dispatch_withdraw (self, job))
    queued = irisd_job_advance (job, IRISD_EVENT_CANCEL);
  else if (irisd_job_cancel (job))
    queued = TRUE;
  else
    {
      *ours = FALSE;
      state = irisd_job_get_state (job);
      queued = state == IRISD_ITEM_ACCEPTING_CANCELLED || state == IRISD_ITEM_CANCELLED
               || (state >= IRISD_ITEM_RETURNED && !irisd_job_has_run (job));
    }
  return queued;
}

/* Returns whether the item was queued and will not run; otherwise it runs and was asked to stop. */
gboolean
irisd_cancel_job (IrisdItems *self, IrisdJob *job)
{
  gboolean ours = FALSE;
  gboolean queued = irisd_cancel_begin (self, job, &ours);
  if (ours)
    irisd_completion_end_cancelled (self, job);
  return queued;
}

/* The items that worker processes have come back at once, or are on their way back. */
static void
withdraw_jobs (IrisdItems *self, IrisdPeer *peer)
{
  guint n = 0;
  g_autofree IrisdJob **jobs = g_new (IrisdJob *, g_hash_table_size (peer->jobs));
  GHashTableIter iter;
  gpointer value;
  g_hash_table_iter_init (&iter, peer->jobs);
  while (g_hash_table_iter_next (&iter, NULL, &value))
    {
      IrisdJob *job = value;
      if (job->lasting
          || !(irisd_job_is (job, IRISD_ITEM_OFFERED) || irisd_job_is (job, IRISD_ITEM_LEASED))
          || irisd_worker_processes_withdraw (self->core->worker_processes, job)
                 == IRISD_LEASE_ENTRY_GONE)
        continue;
      irisd_job_advance (job, IRISD_EVENT_WITHDRAW);
      g_hash_table_iter_remove (&iter);
      jobs[n++] = job;
    }
  for (guint i = 0; i < n; i++)
    irisd_completion_cancel_withdrawn (self, jobs[i]);
}

/* A streamed command without a reader ends as if cancelled, as with a closed pipe. Other running
 * items do not need their client until their end. */
static void
stop_stream (IrisdJob *job)
{
  if (job->options != NULL && job->options->streamed && irisd_job_is (job, IRISD_ITEM_RUNNING))
    irisd_job_cancel (job);
}

/* A connection no longer waits for the item's end, so the item may be spilled. */
static void
wait_without_peer (IrisdItems *self, IrisdJob *job)
{
  if (g_hash_table_size (self->by_number) > self->core->config->limits.memory_items
      && irisd_dispatch_withdraw (self, job))
    irisd_dispatch_advance (self, job);
}

/* Cancels the items of @peer, which has ended, that have not begun; persistent ones go on. */
void
irisd_cancel_all_of (IrisdItems *self, IrisdPeer *peer)
{
  g_autoptr (GPtrArray) waited = g_ptr_array_new ();
  g_autoptr (GPtrArray) delayed = g_ptr_array_new ();
  withdraw_jobs (self, peer);
  GHashTableIter iter;
  gpointer value;
  g_hash_table_iter_init (&iter, peer->jobs);
  while (g_hash_table_iter_next (&iter, NULL, &value))
    {
      IrisdJob *job = value;
      if (job->persistent != NULL)
        {
          g_hash_table_add (self->orphans, job);
          if (irisd_job_is (job, IRISD_ITEM_DELAYED))
            g_ptr_array_add (delayed, job);
          continue;
        }
      if (irisd_dispatch_withdraw (self, job))
        g_ptr_array_add (waited, job);
      else if (!irisd_job_abandon_queued (job))
        {
          stop_stream (job);
          continue;
        }
      irisd_core_add_bytes (self->core, -(gint64) job->charge);
      job->charge = 0;
    }
  g_hash_table_remove_all (peer->jobs);
  for (guint i = 0; i < waited->len; i++)
    irisd_completion_cancel_withdrawn (self, g_ptr_array_index (waited, i));
  for (guint i = 0; i < delayed->len; i++)
    wait_without_peer (self, g_ptr_array_index (delayed, i));
  irisd_dispatch_release_held (self, peer);
}
