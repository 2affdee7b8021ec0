/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * The containers that are compared: iris's, by their public faces, and what GLib programs use.
 */
#include "tests/bench/workloads/structures/bench-containers.h"

/* Makes @name a container: functions of the table's types around those of the type. */
#define CONTAINER(name, make, unmake, push, pop)                                \
  static gpointer name##_make (void) { return make; }                           \
                                                                                \
  static void name##_unmake (gpointer self) { unmake (self); }                  \
                                                                                \
  static void name##_push (gpointer self, gpointer item) { push (self, item); } \
                                                                                \
  static gpointer name##_pop (gpointer self) { return pop (self); }

#define RING_CAPACITY 1024

CONTAINER (async,
           g_async_queue_new (),
           g_async_queue_unref,
           g_async_queue_push,
           g_async_queue_try_pop)
CONTAINER (queue, iris_queue_new (), g_object_unref, iris_queue_push, iris_queue_try_pop)
CONTAINER (lfqueue, iris_lfqueue_new (), g_object_unref, iris_queue_push, iris_queue_try_pop)
CONTAINER (stack, iris_stack_new (), iris_stack_unref, iris_stack_push, iris_stack_pop)
CONTAINER (ring, iris_ring_new (RING_CAPACITY), iris_ring_unref, iris_ring_push, iris_ring_pop)
CONTAINER (mpsc, iris_mpsc_new (), iris_mpsc_unref, iris_mpsc_push, iris_mpsc_pop)

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

#define FUNCTIONS(name) name##_make, name##_unmake, name##_push, name##_pop

static const BenchContainer containers[] = {
  { "gasyncqueue", BENCH_PEER, BENCH_SHARED, FUNCTIONS (async) },
  { "gqueue+gmutex", BENCH_PEER, BENCH_SHARED, FUNCTIONS (locked) },
  { "queue", BENCH_IRIS, BENCH_SHARED, FUNCTIONS (queue) },
  { "lfqueue", BENCH_IRIS, BENCH_SHARED, FUNCTIONS (lfqueue) },
  { "stack", BENCH_IRIS, BENCH_SHARED, FUNCTIONS (stack) },
  { "ring", BENCH_IRIS, BENCH_SHARED, FUNCTIONS (ring) },
  { "mpsc", BENCH_IRIS, BENCH_MPSC, FUNCTIONS (mpsc) },
};

const BenchContainer *
bench_container_nth (guint n)
{
  return n < G_N_ELEMENTS (containers) ? &containers[n] : NULL;
}
