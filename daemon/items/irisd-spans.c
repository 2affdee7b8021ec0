/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * Spans: items that have ended and that belong to a distributed trace.
 *
 * A ring that all gateways share, under a lock: only items whose client wants its trace recorded
 * come here. The latest are kept. irisd sends nothing by itself; an exporter asks.
 *
 * Span n is at n modulo the size, and `next` - size to `next` - 1 are there, as adding one and
 * raising `next` are one step under the lock. A reader gets these from the number on that it asks
 * for, in a row, as copies made under the same lock. So each span is told to a reader that goes on
 * where it was, or was overwritten, and the gap in the numbers counts it. What takes memory, making
 * a span and freeing the one that it replaces, is done outside the lock; a copy is made in it.
 */
#include "daemon/items/irisd-spans.h"

#include "daemon/exec/worker/irisd-worker-processes.h"

#include <time.h>

#define NO_STATUS G_MAXUINT32

G_STATIC_ASSERT ((int) IRIS_WIRE_OUTCOME_BURIED == (int) IRISD_OUTCOME_BURIED);

struct _IrisdSpans
{
  pthread_mutex_t lock; /* a POSIX mutex, because ThreadSanitizer knows those */
  guint64 next;         /* the number of the next span, from 1 */
  IrisWireSpans *ring;  /* NULL before the first span; that of number n is at n modulo its size */
};

IrisdSpans *
irisd_spans_new (void)
{
  IrisdSpans *self = g_new0 (IrisdSpans, 1);
  pthread_mutex_init (&self->lock, NULL);
  self->next = 1;
  return self;
}

void
irisd_spans_free (IrisdSpans *self)
{
  if (self == NULL)
    return;
  iris_wire_spans_free (self->ring);
  pthread_mutex_destroy (&self->lock);
  g_free (self);
}

static void
clear_span (IrisWireSpan *span)
{
  g_free (span->traceparent);
  g_free (span->parent);
  g_free (span->tracestate);
  g_free (span->service);
  g_free (span->message);
  *span = (IrisWireSpan){ 0 };
}

static guint64
get_unix_ns (void)
{
  struct timespec now;
  clock_gettime (CLOCK_REALTIME, &now);
  return (guint64) now.tv_sec * 1000000000 + (guint64) now.tv_nsec;
}

/* Times in Unix time, by the clock of now. The journal knows when an item was accepted that is
 * older than its job. */
static void
fill_times (const IrisdJob *job, IrisWireSpan *span)
{
  const gint64 now_ns = irisd_now_ns ();
  const guint64 unix_ns = get_unix_ns ();
  const gboolean has_run = irisd_job_has_run (job);
  span->accepted_ns = unix_ns - (guint64) MAX (now_ns - job->accepted_ns, 0);
  if (job->persistent != NULL && job->persistent->accepted_ms != 0)
    span->accepted_ns = MIN (span->accepted_ns, job->persistent->accepted_ms * 1000000);
  span->started_ns = has_run ? unix_ns - (guint64) MAX (now_ns - job->started_ns, 0) : 0;
  span->ended_ns = has_run ? unix_ns - (guint64) MAX (now_ns - job->ended_ns, 0) : unix_ns;
}

static void
fill_span (IrisdJob *job, IrisdOutcome outcome, IrisWireSpan *span)
{
  const IrisdTraceContext *trace = job->trace;
  const IrisdResult *result = &job->result;
  span->traceparent = g_strdup (trace->traceparent);
  span->parent = irisd_trace_context_format_parent (trace);
  span->tracestate = g_strdup (trace->tracestate);
  span->service = g_strdup (job->leased_item != NULL ? job->leased_item->service
                                                     : job->service->name);
  span->item = job->id;
  span->klass = job->klass;
  span->outcome = outcome;
  span->place = (guint32) (job->place != IRIS_PLACE_ANY ? job->place : job->home);
  span->attempts = job->schedule != NULL ? job->schedule->attempts : 0;
  span->exit_status = result->exit_status >= 0 ? (guint32) result->exit_status : NO_STATUS;
  span->message = g_strdup (result->error != NULL ? result->error->message : NULL);
  fill_times (job, span);
}

/* @job has ended, and is to be recorded. */
void
irisd_spans_add (IrisdSpans *self, IrisdJob *job, IrisdOutcome outcome)
{
  IrisWireSpan span = { 0 };
  fill_span (job, outcome, &span);
  pthread_mutex_lock (&self->lock);
  if (self->ring == NULL)
    self->ring = iris_wire_spans_new (IRISD_MOST_SPANS);
  IrisWireSpan *place = &self->ring->spans[self->next % IRISD_MOST_SPANS];
  IrisWireSpan old = *place;
  span.number = self->next++;
  *place = span;
  pthread_mutex_unlock (&self->lock);
  clear_span (&old);
}

static void
copy_span (const IrisWireSpan *from, IrisWireSpan *to)
{
  *to = *from;
  to->traceparent = g_strdup (from->traceparent);
  to->parent = g_strdup (from->parent);
  to->tracestate = g_strdup (from->tracestate);
  to->service = g_strdup (from->service);
  to->message = g_strdup (from->message);
}

/* Returns at most @most spans, from number @from on or from the oldest that there is. @next is set
 * to the number behind the last of them. */
IrisWireSpans *
irisd_spans_get (IrisdSpans *self, guint64 from, guint most, guint64 *next)
{
  pthread_mutex_lock (&self->lock);
  const guint64 oldest = self->next > IRISD_MOST_SPANS ? self->next - IRISD_MOST_SPANS : 1;
  /* A number that was not given yet is of an irisd before this one. */
  const guint64 first = from > self->next ? oldest : MAX (from, oldest);
  const guint n = (guint) MIN (self->next - first, most);
  IrisWireSpans *spans = iris_wire_spans_new (n);
  for (guint i = 0; i < n; i++)
    copy_span (&self->ring->spans[(first + i) % IRISD_MOST_SPANS], &spans->spans[i]);
  *next = first + n;
  pthread_mutex_unlock (&self->lock);
  return spans;
}
