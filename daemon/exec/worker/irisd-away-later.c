/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * Items for other nodes that wait for their time: the cluster's thread is told of them.
 */
#include "daemon/exec/worker/irisd-away-later.h"

#include "daemon/cluster/members/irisd-later-note.h"
#include "daemon/exec/worker/irisd-worker-processes.h"

/* An item that waits for less is not worth a copy. */
#define LEAST_MS 1000

static IrisdLaterNote *
note_new (const IrisdJob *job, IrisdLaterNoteKind kind)
{
  return irisd_later_note_new (kind, job->leased_item->away->cluster_item);
}

static void
post (const IrisdJob *job, IrisdLaterNote *note)
{
  irisd_mailbox_post (job->core->cluster_mailbox, &note->message);
}

/* Returns whether @job is one of which the cluster may keep a copy. Of a volatile one the client
 * goes with this node, and the turns of a queue are this node's to give. */
static gboolean
may_be_kept (const IrisdJob *job)
{
  return job->core->cluster_mailbox != NULL && job->leased_item != NULL
         && job->leased_item->away != NULL && job->persistent != NULL && job->queue == NULL;
}

/* Returns until when the item waits, in Unix time. */
static guint64
get_due_ms (const IrisdSchedule *schedule)
{
  const IrisdTimes now = irisd_times_now ();
  gint64 due_us = now.us[IRISD_CLOCK_WALL];
  if (schedule->delayed)
    due_us += MAX (schedule->delay_due_us - now.us[IRISD_CLOCK_STEADY], 0);
  if (schedule->timed)
    due_us = MAX (due_us, schedule->at_due_us);
  return (guint64) due_us / 1000;
}

/* @job, whose thread this is, begins to wait for its time. */
void
irisd_away_later_wait (IrisdJob *job)
{
  if (!may_be_kept (job))
    {
      irisd_away_later_recall (job);
      return;
    }
  const IrisdSchedule *schedule = job->schedule;
  const guint64 due_ms = get_due_ms (schedule);
  if (due_ms < irisd_unix_ms () + LEAST_MS && !job->leased_item->away->kept_later)
    return;
  const IrisdKey *key = irisd_keys_find_owner (irisd_core_get_settings (job->core)->keys,
                                               job->owner);
  IrisdLaterNote *note = note_new (job, IRISD_LATER_NOTE_KEEP);
  note->due_ms = due_ms;
  note->header = g_bytes_ref (job->leased_item->away->header);
  zmq_msg_copy (&note->body, &job->leased_item->payload);
  note->owner = job->owner;
  note->key_name = key != NULL ? g_strdup (key->name) : NULL;
  note->retries = schedule->retries - MIN (schedule->attempts, schedule->retries);
  if (schedule->deadline_us != 0)
    note->deadline_ms = (guint64) MAX (schedule->deadline_us - g_get_monotonic_time (), 1000)
                        / 1000;
  job->leased_item->away->kept_later = TRUE;
  post (job, note);
}

static gboolean
is_kept (const IrisdJob *job)
{
  return job->core->cluster_mailbox != NULL && job->leased_item != NULL
         && job->leased_item->away != NULL && job->leased_item->away->kept_later;
}

/* @job, whose thread this is, waits for something else now. */
void
irisd_away_later_recall (IrisdJob *job)
{
  if (is_kept (job))
    post (job, note_new (job, IRISD_LATER_NOTE_RECALL));
}

/* @job, whose thread this is, has ended without being leased since it waited, or is buried. */
void
irisd_away_later_end (IrisdJob *job)
{
  if (is_kept (job))
    post (job, note_new (job, IRISD_LATER_NOTE_DROP));
}
