/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * The events of a scheduler, told to its listeners: probes, marks and IRIS_DEBUG.
 * doc/tracing.md is their reference; the test `probes` holds the library to it.
 *
 * Those of items are on the hot path: they are probes, and nothing besides. The others happen to
 * workers without work.
 */
#pragma once

#include "iris/base/iris-debug-private.h"
#include "iris/base/iris-mark-private.h"
#include "iris/base/iris-probe-private.h"

#define iris_trace_queued(item)        iris_probe3 (item_queued, (item), (item)->func, (item)->place)
#define iris_trace_begin(item, worker) iris_probe3 (item_begin, (item), (item)->func, (worker))
#define iris_trace_end(worker)         iris_probe1 (item_end, (worker))

/* An item that was sampled has run. */
#define iris_trace_sample(begun_ns, worker) iris_mark ((begun_ns), "run", "worker %u", (worker))

/* @worker, of @place, took @n items from @victim, a place. */
static inline void
iris_trace_steal (unsigned worker, unsigned place, unsigned victim, unsigned n)
{
  iris_probe3 (steal, worker, victim, n);
  iris_mark (iris_clock_ns (), "steal", "worker %u took %u from place %u", worker, n, victim);
  if (iris_debug_has (IRIS_DEBUG_STEAL))
    iris_debug_print ("worker %u of place %u stole %u from place %u", worker, place, n, victim);
}

static inline void
iris_trace_park (unsigned worker)
{
  iris_probe1 (park, worker);
  if (iris_debug_has (IRIS_DEBUG_PARK))
    iris_debug_print ("worker %u parks", worker);
}

static inline void
iris_trace_wake (int64_t parked_at_ns, unsigned worker)
{
  iris_probe1 (wake, worker);
  iris_mark (parked_at_ns, "park", "worker %u", worker);
  iris_mark (iris_clock_ns (), "wake", "worker %u", worker);
  if (iris_debug_has (IRIS_DEBUG_PARK))
    iris_debug_print ("worker %u wakes", worker);
}
