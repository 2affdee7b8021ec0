/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * The schedule of an item: when it may run, how often, and for how long.
 */
#include "daemon/exec/item/irisd-schedule.h"

/* The first pause of an item that names none. */
#define DEFAULT_BACKOFF_MS 1000

static gboolean
check_most (IrisWireKey key, guint64 value, const char *limit, guint64 most, GError **error)
{
  if (value <= most)
    return TRUE;
  g_set_error (error, IRIS_WIRE_ERROR, IRIS_WIRE_ERROR_TOO_LARGE,
               "key %u (%s) of %" G_GUINT64_FORMAT " exceeds %s (%" G_GUINT64_FORMAT
               "); raise it with [limits] %s",
               (guint) key, iris_wire_key_name (key), value, limit, most, limit);
  return FALSE;
}

static gboolean
fail (GError **error, const char *reason)
{
  g_set_error_literal (error, IRIS_WIRE_ERROR, IRIS_WIRE_ERROR_BAD_ARGUMENT, reason);
  return FALSE;
}

static gboolean
has (const IrisWireMessage *item, IrisWireKey key)
{
  return iris_wire_message_has (item, key);
}

static gboolean
names_program (const IrisWireArgs *args)
{
  IrisWireArgsIter iter;
  IrisWireString program;
  iris_wire_args_iter_init (&iter, args);
  return iris_wire_args_iter_next (&iter, &program) && program.len > 0;
}

/* Returns whether the keys of @item, a SUBMIT, fit each other and the limits. */
gboolean
irisd_schedule_check (const IrisWireMessage *item, const IrisdLimits *limits, GError **error)
{
  if ((item->present & IRISD_SCHEDULE_KEYS) == 0)
    return TRUE;
  guint64 now_ms = (guint64) g_get_real_time () / 1000;
  guint64 ahead_ms = item->at_ms > now_ms ? item->at_ms - now_ms : 0;
  if (!check_most (IRIS_WIRE_KEY_DELAY_MS, item->delay_ms, "max-delay-ms", limits->max_delay_ms,
                   error)
      || !check_most (IRIS_WIRE_KEY_AT_MS, ahead_ms, "max-delay-ms", limits->max_delay_ms, error)
      || !check_most (IRIS_WIRE_KEY_RETRIES, item->retries, "max-retries", limits->max_retries,
                      error)
      || !check_most (IRIS_WIRE_KEY_BACKOFF_MS, item->backoff_ms, "max-backoff-ms",
                      limits->max_backoff_ms, error)
      || !check_most (IRIS_WIRE_KEY_TIME_TO_RUN_MS, item->time_to_run_ms, "max-delay-ms",
                      limits->max_delay_ms, error)
      || !check_most (IRIS_WIRE_KEY_DEADLINE_MS, item->deadline_ms, "max-delay-ms",
                      limits->max_delay_ms, error))
    return FALSE;
  if (has (item, IRIS_WIRE_KEY_BACKOFF_MS) && !has (item, IRIS_WIRE_KEY_RETRIES))
    return fail (error, "key 76 (backoff-ms) needs key 75 (retries)");
  if (has (item, IRIS_WIRE_KEY_TIME_TO_RUN_MS) && item->time_to_run_ms == 0)
    return fail (error, "key 77 (time-to-run-ms) must be 1 or more");
  if (has (item, IRIS_WIRE_KEY_DEADLINE_MS) && item->deadline_ms == 0)
    return fail (error, "key 88 (deadline-ms) must be 1 or more");
  if (has (item, IRIS_WIRE_KEY_HOOK) && !names_program (&item->hook))
    return fail (error, "key 78 (hook) needs a program, and then its arguments");
  if (has (item, IRIS_WIRE_KEY_AFTER_HOW) && item->after.n == 0 && item->after_away.n == 0)
    return fail (error, "key 74 (after-how) needs an item in key 73 (after)");
  return TRUE;
}

/* Returns a schedule that lets an item wait for nothing. */
IrisdSchedule *
irisd_schedule_new_empty (void)
{
  IrisdSchedule *self = g_new0 (IrisdSchedule, 1);
  self->started.kind = IRISD_MESSAGE_STARTED;
  self->decided.kind = IRISD_MESSAGE_DECIDED;
  return self;
}

/* Returns the schedule of @item, a SUBMIT that was checked; NULL if it is a plain item. */
IrisdSchedule *
irisd_schedule_new (const IrisWireMessage *item, const IrisdLimits *limits, const IrisdTimes *now)
{
  if ((item->present & IRISD_SCHEDULE_KEYS) == 0)
    return NULL;
  IrisdSchedule *self = irisd_schedule_new_empty ();
  self->delayed = item->delay_ms > 0;
  self->delay_due_us = now->us[IRISD_CLOCK_STEADY] + (gint64) item->delay_ms * 1000;
  self->timed = has (item, IRIS_WIRE_KEY_AT_MS);
  self->at_due_us = self->timed ? (gint64) item->at_ms * 1000 : 0;
  self->retries = item->retries;
  guint64 backoff_ms = has (item, IRIS_WIRE_KEY_BACKOFF_MS) ? item->backoff_ms : DEFAULT_BACKOFF_MS;
  self->backoff_us = MIN (backoff_ms, limits->max_backoff_ms) * 1000;
  self->time_to_run_us = item->time_to_run_ms * 1000;
  if (has (item, IRIS_WIRE_KEY_DEADLINE_MS))
    self->deadline_us = now->us[IRISD_CLOCK_STEADY] + (gint64) item->deadline_ms * 1000;
  if (has (item, IRIS_WIRE_KEY_HOOK))
    self->hook = iris_wire_args_dup (&item->hook);
  return self;
}

/* Continues the schedule of an item after a restart. @attempts: its runs so far. @due_ms: the end
 * of its delay or pause, in Unix time; 0 if that is not known.
 *
 * The item never waits longer than it would have from the beginning: a time of day that was set
 * back does not prolong its wait, and one that was set forward ends it. */
void
irisd_schedule_resume (IrisdSchedule *self,
                       guint attempts,
                       guint64 due_ms,
                       const IrisdLimits *limits,
                       const IrisdTimes *now)
{
  gint64 steady_us = now->us[IRISD_CLOCK_STEADY];
  self->attempts = attempts;
  if (due_ms == 0)
    return;
  gint64 most_us = attempts > 0 ? (gint64) limits->max_backoff_ms * 1000
                                : self->delay_due_us - steady_us;
  gint64 left_us = (gint64) MIN (due_ms, G_MAXINT64 / 1000) * 1000 - now->us[IRISD_CLOCK_WALL];
  self->delay_due_us = steady_us + CLAMP (left_us, 0, most_us);
  self->delayed = left_us > 0;
}

/* The item waits for nothing. */
void
irisd_schedule_free (IrisdSchedule *self)
{
  if (self == NULL)
    return;
  g_strfreev (self->hook);
  g_free (self->dependent.reason);
  g_free (self);
}

/* Returns whether the item has to wait before it may run, by @clock until @due_us. The time of day
 * counts only after the delay has passed, so ask again then. */
gboolean
irisd_schedule_get_due (const IrisdSchedule *self,
                        const IrisdTimes *now,
                        IrisdClock *clock,
                        gint64 *due_us)
{
  if (self->delayed && self->delay_due_us > now->us[IRISD_CLOCK_STEADY])
    {
      *clock = IRISD_CLOCK_STEADY;
      *due_us = self->delay_due_us;
      return TRUE;
    }
  *clock = IRISD_CLOCK_WALL;
  *due_us = self->at_due_us;
  return self->timed && self->at_due_us > now->us[IRISD_CLOCK_WALL];
}

/* Returns whether the deadline comes before @due_us of @clock. */
gboolean
irisd_schedule_ends_before (const IrisdSchedule *self,
                            const IrisdTimes *now,
                            IrisdClock clock,
                            gint64 due_us)
{
  return self->deadline_us != 0
         && self->deadline_us - now->us[IRISD_CLOCK_STEADY] < due_us - now->us[clock];
}
