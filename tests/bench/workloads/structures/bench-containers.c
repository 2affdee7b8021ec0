/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * The containers that are compared: iris's, by their public faces, and what GLib programs use.
 */
#include "tests/bench/workloads/structures/bench-containers.h"

static gpointer
async_make (void)
{
  return g_async_queue_new ();
}

static void
async_unmake (gpointer self)
{
  g_async_queue_unref (self);
}

static void
async_push (gpointer self, gpointer item)
{
  g_async_queue_push (self, item);
}

static gpointer
async_pop (gpointer self)
{
  return g_async_queue_try_pop (self);
}

/* What GLib programs write where one lock is enough: a GQueue under a GMutex. */
typedef struct
{
  GMutex lock;
  GQueue queue;
} LockedQueue;

static gpointer
locked_make (void)
{
  LockedQueue *self = g_new0 (LockedQueue, 1);

  g_mutex_init (&self->lock);
  g_queue_init (&self->queue);

  return self;
}

static void
locked_unmake (gpointer data)
{
  LockedQueue *self = data;

  g_queue_clear (&self->queue);
  g_mutex_clear (&self->lock);
  g_free (self);
}

static void
locked_push (gpointer data, gpointer item)
{
  LockedQueue *self = data;

  g_mutex_lock (&self->lock);
  g_queue_push_tail (&self->queue, item);
  g_mutex_unlock (&self->lock);
}

static gpointer
locked_pop (gpointer data)
{
  LockedQueue *self = data;
  gpointer item;

  g_mutex_lock (&self->lock);
  item = g_queue_pop_head (&self->queue);
  g_mutex_unlock (&self->lock);

  return item;
}

static gpointer
queue_make (void)
{
  return iris_queue_new ();
}

static void
queue_push (gpointer self, gpointer item)
{
  iris_queue_push (self, item);
}

static gpointer
queue_pop (gpointer self)
{
  return iris_queue_try_pop (self);
}

static gpointer
lfqueue_make (void)
{
  return iris_lfqueue_new ();
}

static gpointer
stack_make (void)
{
  return iris_stack_new ();
}

static void
stack_unmake (gpointer self)
{
  iris_stack_unref (self);
}

static void
stack_push (gpointer self, gpointer item)
{
  iris_stack_push (self, item);
}

static gpointer
stack_pop (gpointer self)
{
  return iris_stack_pop (self);
}

#define RING_CAPACITY 1024

static gpointer
ring_make (void)
{
  return iris_ring_new (RING_CAPACITY);
}

static void
ring_unmake (gpointer self)
{
  iris_ring_unref (self);
}

static void
ring_push (gpointer self, gpointer item)
{
  iris_ring_push (self, item);
}

static gpointer
ring_pop (gpointer self)
{
  return iris_ring_pop (self);
}

static gpointer
mpsc_make (void)
{
  return iris_mpsc_new ();
}

static void
mpsc_unmake (gpointer self)
{
  iris_mpsc_unref (self);
}

static void
mpsc_push (gpointer self, gpointer item)
{
  iris_mpsc_push (self, item);
}

static gpointer
mpsc_pop (gpointer self)
{
  return iris_mpsc_pop (self);
}

static const BenchContainer containers[] = {
  { "gasyncqueue", BENCH_PEER, BENCH_SHARED, async_make, async_unmake, async_push, async_pop },
  { "gqueue+gmutex", BENCH_PEER, BENCH_SHARED, locked_make, locked_unmake, locked_push,
    locked_pop },
  { "queue", BENCH_IRIS, BENCH_SHARED, queue_make, g_object_unref, queue_push, queue_pop },
  { "lfqueue", BENCH_IRIS, BENCH_SHARED, lfqueue_make, g_object_unref, queue_push, queue_pop },
  { "stack", BENCH_IRIS, BENCH_SHARED, stack_make, stack_unmake, stack_push, stack_pop },
  { "ring", BENCH_IRIS, BENCH_SHARED, ring_make, ring_unmake, ring_push, ring_pop },
  { "mpsc", BENCH_IRIS, BENCH_MPSC, mpsc_make, mpsc_unmake, mpsc_push, mpsc_pop },
};

const BenchContainer *
bench_container_nth (guint n)
{
  return n < G_N_ELEMENTS (containers) ? &containers[n] : NULL;
}
