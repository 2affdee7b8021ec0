/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * Changes of items that wait: what an EDIT says is merged into the stored SUBMIT, and into the job.
 *
 * A job has no SUBMIT: that is in the journal. So an edit reads it there, merges the keys of the
 * EDIT, and has it written; the job takes the changes when they are written. Meanwhile the job is
 * suspended, so that nothing else has it.
 *
 * Service, payload, class, number and key of an item stay. A delay and a time of day replace each
 * other; without either, the item goes on to wait as it did.
 */
#include "daemon/items/irisd-edit.h"

#include "daemon/exec/worker/irisd-worker-processes.h"
#include "daemon/items/irisd-placement.h"

#define TIME_KEYS (IRIS_WIRE_BIT (IRIS_WIRE_KEY_DELAY_MS) | IRIS_WIRE_BIT (IRIS_WIRE_KEY_AT_MS))

#define PLACE_KEYS                                                              \
  (IRIS_WIRE_BIT (IRIS_WIRE_KEY_HINT) | IRIS_WIRE_BIT (IRIS_WIRE_KEY_HINT_NAME) \
   | IRIS_WIRE_BIT (IRIS_WIRE_KEY_NEAR_ITEM) | IRIS_WIRE_BIT (IRIS_WIRE_KEY_NEAR_PATH))

#define TAKE(KEY, field)                                    \
  if (iris_wire_message_has (edit, IRIS_WIRE_KEY_##KEY))    \
    {                                                       \
      item->field = edit->field;                            \
      item->present |= IRIS_WIRE_BIT (IRIS_WIRE_KEY_##KEY); \
    }

static void
drop (IrisWireMessage *item, IrisWireKeys keys)
{
  item->present &= ~keys;
  if ((keys & IRIS_WIRE_BIT (IRIS_WIRE_KEY_DELAY_MS)) != 0)
    item->delay_ms = 0;
  if ((keys & IRIS_WIRE_BIT (IRIS_WIRE_KEY_AT_MS)) != 0)
    item->at_ms = 0;
  if ((keys & IRIS_WIRE_BIT (IRIS_WIRE_KEY_HINT)) != 0)
    item->hint = IRIS_PLACE_ANY;
}

/* A hint replaces any other. A stored SUBMIT has beside another hint the number of the place that
 * this meant; that alone stays if only strictness changes. */
static void
make_way (IrisWireMessage *item, const IrisWireMessage *edit)
{
  const IrisWireKeys number = IRIS_WIRE_BIT (IRIS_WIRE_KEY_HINT);
  if ((edit->present & TIME_KEYS) != 0)
    drop (item, TIME_KEYS);
  if ((edit->present & (number | IRIS_WIRE_BIT (IRIS_WIRE_KEY_HINT_NAME))) != 0)
    drop (item, PLACE_KEYS);
  else if ((edit->present & IRISD_EDIT_HINT_KEYS) != 0 && (item->present & number) != 0)
    drop (item, PLACE_KEYS & ~number);
}

/* Gives @item, a SUBMIT, the keys of @edit, an EDIT or AGAIN; its strings then are those of
 * @edit. */
void
irisd_edit_merge (IrisWireMessage *item, const IrisWireMessage *edit)
{
  make_way (item, edit);
  TAKE (HINT, hint)
  TAKE (STRICT, strict)
  TAKE (HINT_NAME, hint_name)
  TAKE (ARGS, args)
  TAKE (KEY, key)
  TAKE (KEEP_MS, keep_ms)
  TAKE (DELAY_MS, delay_ms)
  TAKE (AT_MS, at_ms)
  TAKE (PRIORITY, priority)
  TAKE (RETRIES, retries)
  TAKE (BACKOFF_MS, backoff_ms)
  TAKE (TIME_TO_RUN_MS, time_to_run_ms)
  TAKE (DEADLINE_MS, deadline_ms)
  TAKE (TIME_LIMIT_MS, time_limit_ms)
  TAKE (GRACE_MS, grace_ms)
  TAKE (BURY, bury)
  TAKE (QUEUE, queue)
}

/* The deadline of @item, an EDIT's, counts from now, and a stored one from the acceptance, at
 * @accepted_ms in Unix time. */
void
irisd_edit_count_deadline (IrisWireMessage *item, guint64 accepted_ms)
{
  guint64 now_ms = irisd_unix_ms ();
  if (now_ms > accepted_ms)
    item->deadline_ms += now_ms - accepted_ms;
}

/* Returns until when @job will be delayed by a delay or a pause, in Unix time; 0: it will not be,
 * or has a time of day. */
guint64
irisd_edit_get_due (const IrisdJob *job, const IrisWireMessage *edit)
{
  const IrisdSchedule *schedule = job->schedule;
  gint64 left_us = 0;
  if (edit->delay_ms > 0)
    return irisd_unix_ms () + edit->delay_ms;
  if (schedule != NULL && schedule->delayed && (edit->present & TIME_KEYS) == 0)
    left_us = schedule->delay_due_us - g_get_monotonic_time ();
  return left_us > 0 ? irisd_unix_ms () + (guint64) left_us / 1000 : 0;
}

/* @item is the edited SUBMIT. What the item has waited and how often it was tried stays. */
static void
settle_schedule (IrisdItems *self,
                 IrisdJob *job,
                 const IrisWireMessage *item,
                 const IrisWireMessage *edit)
{
  IrisdSchedule *old = job->schedule;
  irisd_items_drop_deadline (self, job);
  job->schedule = NULL;
  irisd_items_settle_schedule (self, job, item);
  irisd_items_count_deadline_from (self, job, job->persistent->accepted_ms);
  if (job->schedule != NULL && old != NULL)
    job->schedule->attempts = old->attempts;
  if (job->schedule != NULL && (edit->present & TIME_KEYS) == 0)
    {
      job->schedule->delayed = old != NULL && old->delayed;
      job->schedule->delay_due_us = old != NULL ? old->delay_due_us : 0;
    }
  irisd_schedule_free (old);
}

static void
settle_args (IrisdJob *job, const IrisWireMessage *item)
{
  char ***args = job->leased_item != NULL ? &job->leased_item->args : &job->args;
  g_strfreev (*args);
  *args = iris_wire_args_dup (&item->args);
}

static void
settle_options (IrisdJob *job, const IrisWireMessage *item)
{
  if (!job->service->takes_options)
    return;
  irisd_command_options_free (job->options);
  job->options = irisd_command_options_new (item);
}

static void
settle_place (IrisdItems *self,
              IrisdJob *job,
              const IrisWireMessage *item,
              const IrisdEditPlace *place)
{
  gint64 accepted_ns = job->accepted_ns;
  irisd_job_set_home (job, place->home, place->hinted, item->strict);
  job->accepted_ns = accepted_ns;
  job->brief = FALSE; /* another gateway's thread may be nearer now */
  if (job->leased_item != NULL)
    {
      job->leased_item->entry.place = place->hinted ? place->home : IRIS_PLACE_ANY;
      job->leased_item->entry.strict = item->strict;
    }
  irisd_placement_note_home (self, job);
}

/* The queue was checked, and may have been removed since: then it is made again. */
static void
settle_queue (IrisdItems *self,
              IrisdJob *job,
              const IrisWireMessage *item,
              const IrisWireMessage *edit)
{
  if (!iris_wire_message_has (edit, IRIS_WIRE_KEY_QUEUE))
    return;
  irisd_job_leave_queue (job);
  if (item->queue.len > 0)
    job->queue = irisd_named_queues_join_stored (&self->core->queues, &item->queue);
  atomic_store_explicit (&job->persistent->queue,
                         (guint16) irisd_named_queue_get_index (job->queue), memory_order_relaxed);
}

/* The header was encoded for the journal, so it is not too large. */
static void
settle_away (IrisdItems *self, IrisdJob *job, const IrisWireMessage *item)
{
  g_autoptr (GError) error = NULL;
  if (!irisd_away_item_replace (job->leased_item->away, item, &self->core->wire_limits, &error))
    g_warning ("an edited item cannot be encoded: %s", error->message);
}

/* @job is suspended and has not begun. @item: its SUBMIT, into which @edit was merged. */
void
irisd_edit_apply (IrisdItems *self,
                  IrisdJob *job,
                  const IrisWireMessage *item,
                  const IrisWireMessage *edit,
                  const IrisdEditPlace *place)
{
  settle_queue (self, job, item, edit);
  settle_schedule (self, job, item, edit);
  if (iris_wire_message_has (edit, IRIS_WIRE_KEY_ARGS))
    settle_args (job, item);
  settle_options (job, item);
  if (job->leased_item != NULL && job->leased_item->away != NULL)
    settle_away (self, job, item);
  if (place->changes)
    settle_place (self, job, item, place);
  job->bury = item->bury;
}
