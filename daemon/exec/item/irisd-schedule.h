/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * The schedule of an item: when it may run, how often, and for how long.
 */
#pragma once

#include "daemon/config/irisd-limits.h"
#include "daemon/base/irisd-mailbox.h"
#include "daemon/base/irisd-timers.h"
#include "daemon/exec/item/irisd-dependency-graph.h"

G_BEGIN_DECLS

/* The keys of a SUBMIT that make a schedule. */
#define IRISD_SCHEDULE_KEYS                                                                   \
  (IRIS_WIRE_BIT (IRIS_WIRE_KEY_DELAY_MS) | IRIS_WIRE_BIT (IRIS_WIRE_KEY_AT_MS)               \
   | IRIS_WIRE_BIT (IRIS_WIRE_KEY_AFTER) | IRIS_WIRE_BIT (IRIS_WIRE_KEY_AFTER_HOW)            \
   | IRIS_WIRE_BIT (IRIS_WIRE_KEY_RETRIES) | IRIS_WIRE_BIT (IRIS_WIRE_KEY_BACKOFF_MS)         \
   | IRIS_WIRE_BIT (IRIS_WIRE_KEY_TIME_TO_RUN_MS) | IRIS_WIRE_BIT (IRIS_WIRE_KEY_DEADLINE_MS) \
   | IRIS_WIRE_BIT (IRIS_WIRE_KEY_HOOK))

/**
 * IrisdSchedule:
 * @delayed: it has a delay, until @delay_due_us of the monotonic clock
 * @timed: it has a time of day, @at_due_us
 * @retries: how often it is tried again
 * @backoff_us: the first pause before that
 * @time_to_run_us: how long it may run; 0 for no limit
 * @deadline_us: of the monotonic clock: when it has to have begun; 0 for no deadline
 * @hook: NULL, or a command that is run when it has ended
 * @run_left_us: of a run that is suspended: how long it may still run; 0: it is not limited
 * @attempts: how often it was run
 * @given_up: it is not to be tried again
 * @overran: it was stopped because it ran too long
 * @job: the job that it belongs to
 * @timer: in its gateway's times, while it waits or while its run is limited
 * @deadline: in its gateway's deadlines, until it has ended or the deadline has passed
 * @started: tells the gateway that a limited run has begun
 * @decided: tells the gateway that its dependencies have ended
 * @dependent: its dependencies
 *
 * The parts of an item that a plain one lacks. Belongs to the gateway, except @started, which the
 * worker posts once a run, and @decided, which is posted once.
 */
typedef struct
{
  gboolean delayed;
  gboolean timed;
  gint64 delay_due_us;
  gint64 at_due_us;
  guint retries;
  guint64 backoff_us;
  guint64 time_to_run_us;
  gint64 deadline_us;
  char **hook;

  gint64 run_left_us;
  guint attempts;
  gboolean given_up;
  gboolean overran;
  struct _IrisdJob *job;
  IrisdTimer timer;
  IrisdTimer deadline;
  IrisdMessage started;
  IrisdMessage decided;
  IrisdDependent dependent;
} IrisdSchedule;

gboolean
irisd_schedule_check (const IrisWireMessage *item, const IrisdLimits *limits, GError **error);
IrisdSchedule *
irisd_schedule_new (const IrisWireMessage *item, const IrisdLimits *limits, const IrisdTimes *now);
IrisdSchedule *irisd_schedule_new_empty (void);
void irisd_schedule_resume (IrisdSchedule *self,
                            guint attempts,
                            guint64 due_ms,
                            const IrisdLimits *limits,
                            const IrisdTimes *now);
void irisd_schedule_free (IrisdSchedule *self);
gboolean irisd_schedule_get_due (const IrisdSchedule *self,
                                 const IrisdTimes *now,
                                 IrisdClock *clock,
                                 gint64 *due_us);
gboolean irisd_schedule_ends_before (const IrisdSchedule *self,
                                     const IrisdTimes *now,
                                     IrisdClock clock,
                                     gint64 due_us);

G_END_DECLS
