/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * A time line of what a scheduler's workers do, for Perfetto.
 *
 * Each worker notes its events in a ring of its own (iris-trace-ring-private.h), where it does what
 * is not on the way of an item anyway: where an item of the statistics' sample is run, where a
 * worker steals, sleeps and wakes. So a pool that is not traced runs the same instructions for an
 * item as one that cannot be.
 *
 * Steals and sleeps are all noted. Of the items it is the sample, every 256th that a worker queues,
 * while items are brief: two looks at the clock would cost ten times an item of five nanoseconds.
 * As long as items take more than two microseconds on average, a traced worker stamps each that it
 * queues. Items that were queued before the trace began are not stamped. The file says of each
 * worker how many items it ran and how many of them are noted.
 *
 * A ring, once made, stays until the scheduler ends, because a worker may be about to write to it
 * when the trace is stopped. An event that comes late bears its time, and the writer leaves it out.
 */
#include "iris/sched/iris-scheduler-trace.h"

#include "iris/sched/iris-scheduler-private.h"
#include "iris/sched/pool/iris-active-workers-private.h"
#include "iris/sched/trace/iris-trace-json-private.h"

#define DEFAULT_EVENTS 65536
#define LEAST_EVENTS   64
#define MOST_EVENTS    (1 << 24)

/* What a worker had done when the trace began. */
typedef struct
{
  IrisTraceRing *ring;
  uint64_t head;
  uint64_t executed;
} Start;

typedef struct
{
  pthread_mutex_t lock;
  gboolean on;
  gint64 from_ns;
  gint64 to_ns;      /* of one that was stopped */
  GArray *starts;    /* of Start: the workers that there were */
  GPtrArray *rings;  /* all that were made */
  GArray *last_runs; /* of guint64: what the workers had run at its end */
} Trace;

static void
trace_free (gpointer data)
{
  Trace *self = data;

  pthread_mutex_destroy (&self->lock);
  g_array_unref (self->starts);
  g_array_unref (self->last_runs);
  g_ptr_array_unref (self->rings);
  g_free (self);
}

/* The trace of a pool, made when first needed. */
static Trace *
get_trace (IrisWorkerPool *pool)
{
  Trace *self;

  pthread_mutex_lock (&pool->lock);
  self = pool->trace;
  if (self == NULL)
    {
      self = g_new0 (Trace, 1);
      pthread_mutex_init (&self->lock, NULL);
      self->starts = g_array_new (FALSE, TRUE, sizeof (Start));
      self->last_runs = g_array_new (FALSE, TRUE, sizeof (guint64));
      self->rings = g_ptr_array_new_with_free_func (free);
      pool->trace = self;
      pool->free_trace = trace_free;
    }
  pthread_mutex_unlock (&pool->lock);
  return self;
}

static IrisTraceRing *
ring_new (Trace *self, guint n_events)
{
  IrisTraceRing *ring = malloc (sizeof *ring + n_events * sizeof *ring->slots);

  if (ring == NULL)
    return NULL;
  iris_trace_ring_init (ring, n_events);
  g_ptr_array_add (self->rings, ring);
  return ring;
}

/* Gives each worker a ring with room for at least @n_events; under the lock. */
static gboolean
make_rings (Trace *self, IrisWorkerPool *pool, guint n_events, GError **error)
{
  guint n = iris_worker_pool_count_workers (pool);

  if (self->starts->len < n)
    g_array_set_size (self->starts, n);
  for (guint i = 0; i < n; i++)
    {
      Start *start = &g_array_index (self->starts, Start, i);

      if (start->ring == NULL || start->ring->size < n_events)
        start->ring = ring_new (self, n_events);
      if (start->ring != NULL)
        continue;
      g_set_error (error, G_IO_ERROR, G_IO_ERROR_NO_SPACE,
                   "cannot begin a trace: there is no memory for %u events of each of %u workers; "
                   "ask for fewer",
                   n_events, n);
      return FALSE;
    }
  return TRUE;
}

static void
let_workers_note (Trace *self, IrisWorkerPool *pool)
{
  self->from_ns = iris_clock_ns ();
  for (guint i = 0; i < self->starts->len; i++)
    {
      Start *start = &g_array_index (self->starts, Start, i);
      IrisWorker *worker = iris_worker_pool_get_worker (pool, i);

      start->head = iris_trace_ring_get_head (start->ring);
      start->executed = iris_counter_get (&worker->counters.executed);
      /* Release: the ring is whole. */
      atomic_store_explicit (&worker->trace, start->ring, memory_order_release);
    }
  /* The workers raise it again if items are brief, and find out for those that they queue. */
  atomic_store_explicit (&pool->unsampled_outside, 0, memory_order_relaxed);
}

static IrisWorkerPool *
get_pool (IrisScheduler *self, GError **error)
{
  IrisWorkerPool *pool = iris_scheduler_get_pool (self);

  if (pool == NULL || iris_worker_pool_is_foreign (pool))
    g_set_error (error, G_IO_ERROR, G_IO_ERROR_NOT_SUPPORTED, "cannot trace this scheduler: %s",
                 pool == NULL ? "it has no workers of its own"
                              : "its workers run in the process that forked this one");
  else
    return pool;
  return NULL;
}

/**
 * iris_scheduler_trace_start:
 * @n_events: how many of the latest events of each worker are kept, 16 bytes each; 0: 65536
 *
 * Begins to note what the workers do: items, steals, and when they sleep. A trace that is on begins
 * anew.
 *
 * While items take less than two microseconds on average, a trace has the sample of items that the
 * statistics have (#IrisStats), because noting each would slow the workers down; of longer ones it
 * has nearly all. Steals and sleeps are always noted. Spare workers that are made meanwhile are
 * left out.
 *
 * Returns: %FALSE if the scheduler has no workers, or there is no memory
 */
gboolean
iris_scheduler_trace_start (IrisScheduler *self, guint n_events, GError **error)
{
  guint size = LEAST_EVENTS, wanted = n_events > 0 ? n_events : DEFAULT_EVENTS;
  IrisWorkerPool *pool;
  gboolean begun;
  Trace *trace;

  g_return_val_if_fail (IRIS_IS_SCHEDULER (self), FALSE);

  pool = get_pool (self, error);
  if (pool == NULL)
    return FALSE;
  while (size < wanted && size < MOST_EVENTS)
    size *= 2;
  trace = get_trace (pool);
  pthread_mutex_lock (&trace->lock);
  begun = make_rings (trace, pool, size, error);
  if (begun)
    {
      trace->on = TRUE;
      let_workers_note (trace, pool);
    }
  pthread_mutex_unlock (&trace->lock);
  return begun;
}

/**
 * iris_scheduler_trace_stop:
 *
 * Ends a trace. What it has noted can be written until the next one begins. Without a trace this
 * does nothing.
 */
void
iris_scheduler_trace_stop (IrisScheduler *self)
{
  IrisWorkerPool *pool;
  Trace *trace;

  g_return_if_fail (IRIS_IS_SCHEDULER (self));

  pool = get_pool (self, NULL);
  if (pool == NULL)
    return;
  trace = get_trace (pool);
  pthread_mutex_lock (&trace->lock);
  if (trace->on)
    {
      trace->on = FALSE;
      g_array_set_size (trace->last_runs, trace->starts->len);
      for (guint i = 0; i < trace->starts->len; i++)
        {
          IrisWorker *worker = iris_worker_pool_get_worker (pool, i);

          g_array_index (trace->last_runs, guint64,
                         i) = iris_counter_get (&worker->counters.executed);
          atomic_store_explicit (&worker->trace, NULL, memory_order_relaxed);
        }
      atomic_store_explicit (&pool->unsampled_outside, pool->unsampled, memory_order_relaxed);
      trace->to_ns = iris_clock_ns ();
    }
  pthread_mutex_unlock (&trace->lock);
}

/* A trace to be written, without the lock. */
typedef struct
{
  gint64 from_ns;
  gint64 to_ns; /* 0: there was no trace */
  GArray *starts;
  GArray *last_runs; /* as far as the workers are not asked */
} Copy;

static Copy
trace_copy (Trace *self, IrisWorkerPool *pool)
{
  Copy copy = { 0 };

  pthread_mutex_lock (&self->lock);
  copy.from_ns = self->from_ns;
  copy.to_ns = self->on ? iris_clock_ns () : self->to_ns;
  copy.starts = g_array_copy (self->starts);
  copy.last_runs = g_array_copy (self->last_runs);
  g_array_set_size (copy.last_runs, copy.starts->len);
  for (guint i = 0; self->on && i < copy.starts->len; i++)
    g_array_index (copy.last_runs, guint64, i) = iris_counter_get (
        &iris_worker_pool_get_worker (pool, i)->counters.executed);
  pthread_mutex_unlock (&self->lock);
  return copy;
}

static gboolean
write_worker (const Copy *copy,
              IrisWorker *worker,
              IrisTraceJson *json,
              GCancellable *cancellable,
              GError **error)
{
  const Start *start = &g_array_index (copy->starts, Start, worker->index);
  g_autofree IrisTraceEvent *events = g_new (IrisTraceEvent, start->ring->size);
  uint64_t first, n = iris_trace_ring_read (start->ring, start->head, events, &first);
  uint64_t executed = g_array_index (copy->last_runs, guint64, worker->index);
  const IrisTraceLine line = { .index = worker->index,
                               .place = worker->place,
                               .events = events,
                               .n_events = n,
                               .n_lost = first - start->head,
                               .n_items = executed - start->executed };

  return iris_trace_json_add (json, &line, cancellable, error);
}

/**
 * iris_scheduler_trace_write:
 * @stream: where it is written
 *
 * Writes a trace, the one that is on or the last one, in the trace event format: JSON that Perfetto
 * (ui.perfetto.dev) and Chromium (about:tracing) show. Each place is a process there and each
 * worker a thread; steals are arrows from the place that was robbed. The workers go on meanwhile.
 *
 * `otherData` says for each worker how many items it ran, how many of them are in the file, and how
 * many events were lost because the worker's ring was full.
 *
 * Returns: %FALSE if there was no trace, or writing failed
 */
gboolean
iris_scheduler_trace_write (IrisScheduler *self,
                            GOutputStream *stream,
                            GCancellable *cancellable,
                            GError **error)
{
  g_autoptr (IrisTraceJson) json = NULL;
  IrisWorkerPool *pool;
  gboolean good = TRUE;
  Copy copy;

  g_return_val_if_fail (IRIS_IS_SCHEDULER (self), FALSE);
  g_return_val_if_fail (G_IS_OUTPUT_STREAM (stream), FALSE);

  pool = get_pool (self, error);
  if (pool == NULL)
    return FALSE;
  copy = trace_copy (get_trace (pool), pool);
  if (copy.to_ns == 0)
    {
      g_set_error (error, G_IO_ERROR, G_IO_ERROR_NOT_INITIALIZED,
                   "there is no trace to write: begin one first");
      good = FALSE;
    }
  else
    json = iris_trace_json_new (stream, copy.from_ns, copy.to_ns, pool->n_places);
  for (guint i = 0; i < copy.starts->len && good; i++)
    good = write_worker (&copy, iris_worker_pool_get_worker (pool, i), json, cancellable, error);
  good = good && iris_trace_json_end (json, cancellable, error);
  g_array_unref (copy.starts);
  g_array_unref (copy.last_runs);
  return good;
}
