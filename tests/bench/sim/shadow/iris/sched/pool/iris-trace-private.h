/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * For the simulator: of what the pool traces, the steals.
 */
#pragma once

#include "iris/base/iris-debug-private.h"

void sim_note_steal (unsigned worker, unsigned victim, unsigned n);

#define iris_trace_queued(item)             ((void) 0)
#define iris_trace_begin(item, worker)      ((void) 0)
#define iris_trace_end(worker)              ((void) 0)
#define iris_trace_sample(begun_ns, worker) ((void) (begun_ns))
#define iris_trace_park(worker)             ((void) 0)
#define iris_trace_wake(parked_at, worker)  ((void) (parked_at))

static inline void
iris_trace_steal (unsigned worker, unsigned place, unsigned victim, unsigned n)
{
  (void) place;
  sim_note_steal (worker, victim, n);
}
