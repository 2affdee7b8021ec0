/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * GAsyncQueue with plain threads as a contender: what a GLib program writes by hand. The item
 * itself is what is pushed. The queue is in order, so one end mark for each thread, pushed when
 * nothing else will be, ends all of them behind the last item.
 */
#include "tests/bench/peers/bench-contender.h"

typedef struct
{
  GAsyncQueue *queue;
  BenchFunc func;
  guint n_threads;
  GThread **threads;
} Handle;

static gpointer
thread_main (gpointer data)
{
  Handle *self = data;
  gpointer item;

  while ((item = g_async_queue_pop (self->queue)) != self)
    self->func (item);

  return NULL;
}

static gpointer
queue_open (const BenchContender *contender, guint workers, BenchFunc func, GError **error)
{
  Handle *self = g_new0 (Handle, 1);

  self->queue = g_async_queue_new ();
  self->func = func;
  self->n_threads = workers;
  self->threads = g_new (GThread *, workers);
  for (guint i = 0; i < workers; i++)
    self->threads[i] = g_thread_new ("gasyncqueue", thread_main, self);

  return self;
}

static void
queue_push (gpointer handle, gpointer data)
{
  Handle *self = handle;

  g_async_queue_push (self->queue, data);
}

static void
queue_close (gpointer handle)
{
  Handle *self = handle;

  for (guint i = 0; i < self->n_threads; i++)
    g_async_queue_push (self->queue, self);
  for (guint i = 0; i < self->n_threads; i++)
    g_thread_join (self->threads[i]);
  g_async_queue_unref (self->queue);
  g_free (self->threads);
  g_free (self);
}

/* The length is negative by the number of threads that wait. */
static gboolean
queue_is_idle (gpointer handle)
{
  Handle *self = handle;

  return g_async_queue_length (self->queue) == -(gint) self->n_threads;
}

const BenchEngine bench_engine_gasyncqueue = {
  .name = "gasyncqueue",
  .summary = "GAsyncQueue with plain threads",
  .kind = BENCH_PEER,
  .can = BENCH_CAN_OUTSIDE | BENCH_CAN_INSIDE | BENCH_CAN_PHASES | BENCH_CAN_WAKE,
  .open = queue_open,
  .push = queue_push,
  .close = queue_close,
  .is_idle = queue_is_idle,
};
