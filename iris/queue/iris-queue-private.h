/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * What the queues of the library share: deadlines.
 */
#pragma once

#include "iris/queue/iris-queue.h"

/* The moment, in microseconds of the monotonic clock, at which @timeout has passed; G_MAXINT64
 * when it never does. */
static inline gint64
iris_queue_deadline (gint64 timeout)
{
  gint64 now;

  if (timeout < 0)
    return G_MAXINT64;
  now = g_get_monotonic_time ();

  return timeout < G_MAXINT64 - now ? now + timeout : G_MAXINT64;
}
