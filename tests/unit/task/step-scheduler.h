/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * A scheduler that runs one item when it is told to, on the calling thread.
 */
#pragma once

#include <iris/iris.h>

G_DECLARE_FINAL_TYPE (StepScheduler, step_scheduler, STEP, SCHEDULER, IrisScheduler)

IrisScheduler *step_scheduler_new (void);
/* Runs the oldest item; FALSE: there is none. */
gboolean step_scheduler_step (IrisScheduler *self);
void step_scheduler_run (IrisScheduler *self);
guint step_scheduler_get_length (IrisScheduler *self);
