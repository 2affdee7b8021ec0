/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * What the events of a trace say: the words of a ring.
 */
#pragma once

#include "iris/base/iris-clock-private.h"
#include "iris/sched/trace/iris-trace-ring-private.h"

typedef enum
{
  IRIS_TRACE_ITEM = 1, /* an item begins; tells its function */
  IRIS_TRACE_END,      /* the item that began last ends */
  IRIS_TRACE_NAME,     /* what the running item says that it is: a constant string */
  IRIS_TRACE_NUMBER,   /* and which one */
  IRIS_TRACE_STEAL,    /* the worker has taken items: place << 32 | how many */
  IRIS_TRACE_PARK,     /* it goes to sleep */
  IRIS_TRACE_WAKE,     /* it is awake */
} IrisTraceKind;

#define IRIS_TRACE_KIND_BITS 3

/* A traced pool stamps each item while items take longer than this on average: two looks at the
 * clock for an item, and one where it is queued, are then at most 4 percent. */
#define IRIS_TRACE_ALL_NS 2000

static inline void
iris_trace_ring_note (IrisTraceRing *self, int64_t now_ns, IrisTraceKind kind, uint64_t what)
{
  iris_trace_ring_push (self, (uint64_t) now_ns << IRIS_TRACE_KIND_BITS | kind, what);
}

static inline IrisTraceKind
iris_trace_event_get_kind (const IrisTraceEvent *self)
{
  return (IrisTraceKind) (self->when & ((1 << IRIS_TRACE_KIND_BITS) - 1));
}

static inline int64_t
iris_trace_event_get_time (const IrisTraceEvent *self)
{
  return (int64_t) (self->when >> IRIS_TRACE_KIND_BITS);
}
