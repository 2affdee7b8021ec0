/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * Making timers of any kind.
 */
#pragma once

#include <stdbool.h>

#include "iris/message/iris-timer.h"

/* Whether the calling thread is that of the timers. It must not wait for others: what it posts
 * waits for room without it (iris-bounded-buffer-private.h), and it drops schedulers as a worker
 * does (iris_scheduler_may_wait()). */
extern __thread bool iris_timers_here;

/* On the timers' thread, so it must be short and must not wait. FALSE ends a periodic timer. */
typedef gboolean (*IrisTimerFunc) (gpointer data);

/* @period_us 0: once. @notify runs when the timer has ended, on the thread that ended it. */
IrisTimer *iris_timer_new (gint64 delay_us,
                           gint64 period_us,
                           IrisTimerFunc func,
                           gpointer data,
                           GDestroyNotify notify);
