/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * The default queue: a list and a condition under one lock.
 *
 * Who may call what: any thread anything. Everything is under the lock, also the count of those
 * who wait, so a push that no thread waits for makes no system call. A woken thread looks again:
 * the item may be another thread's by then, and then it goes on waiting until its own deadline.
 */
#include "iris/queue/iris-queue-private.h"

#define IRIS_TYPE_LOCKED_QUEUE (iris_locked_queue_get_type ())
G_DECLARE_FINAL_TYPE (IrisLockedQueue, iris_locked_queue, IRIS, LOCKED_QUEUE, IrisQueue)

struct _IrisLockedQueue
{
  IrisQueue parent_instance;

  GMutex lock;
  GCond pushed_or_closed;
  /* Under the lock. */
  GQueue items;
  guint n_waiting;
  gboolean closed;
};

G_DEFINE_FINAL_TYPE (IrisLockedQueue, iris_locked_queue, IRIS_TYPE_QUEUE)

static gboolean
iris_locked_queue_push (IrisQueue *queue, gpointer item)
{
  IrisLockedQueue *self = IRIS_LOCKED_QUEUE (queue);
  gboolean accepted;

  g_mutex_lock (&self->lock);
  accepted = !self->closed;
  if (accepted)
    g_queue_push_tail (&self->items, item);
  if (accepted && self->n_waiting != 0)
    g_cond_signal (&self->pushed_or_closed);
  g_mutex_unlock (&self->lock);

  return accepted;
}

/* Under the lock. FALSE when the deadline has passed. */
static gboolean
locked_queue_wait (IrisLockedQueue *self, gint64 deadline)
{
  gboolean in_time = TRUE;

  self->n_waiting++;
  if (deadline == G_MAXINT64)
    g_cond_wait (&self->pushed_or_closed, &self->lock);
  else
    in_time = g_cond_wait_until (&self->pushed_or_closed, &self->lock, deadline);
  self->n_waiting--;

  return in_time;
}

/* Under the lock. */
static void
locked_queue_close (IrisLockedQueue *self)
{
  self->closed = TRUE;
  g_cond_broadcast (&self->pushed_or_closed);
}

static gpointer
locked_queue_pop (IrisLockedQueue *self, gint64 timeout, gboolean or_close)
{
  gint64 deadline = timeout != 0 ? iris_queue_deadline (timeout) : 0;
  gboolean in_time = timeout != 0;
  gpointer item;

  g_mutex_lock (&self->lock);
  while (in_time && g_queue_is_empty (&self->items) && !self->closed)
    in_time = locked_queue_wait (self, deadline);
  item = g_queue_pop_head (&self->items);
  if (item == NULL && or_close && !self->closed)
    locked_queue_close (self);
  g_mutex_unlock (&self->lock);

  return item;
}

static gpointer
iris_locked_queue_timed_pop (IrisQueue *queue, gint64 timeout)
{
  return locked_queue_pop (IRIS_LOCKED_QUEUE (queue), timeout, FALSE);
}

static gpointer
iris_locked_queue_timed_pop_or_close (IrisQueue *queue, gint64 timeout)
{
  return locked_queue_pop (IRIS_LOCKED_QUEUE (queue), timeout, TRUE);
}

static void
iris_locked_queue_close (IrisQueue *queue)
{
  IrisLockedQueue *self = IRIS_LOCKED_QUEUE (queue);

  g_mutex_lock (&self->lock);
  locked_queue_close (self);
  g_mutex_unlock (&self->lock);
}

static guint
iris_locked_queue_get_length (IrisQueue *queue)
{
  IrisLockedQueue *self = IRIS_LOCKED_QUEUE (queue);
  guint length;

  g_mutex_lock (&self->lock);
  length = self->items.length;
  g_mutex_unlock (&self->lock);

  return length;
}

static gboolean
iris_locked_queue_is_closed (IrisQueue *queue)
{
  IrisLockedQueue *self = IRIS_LOCKED_QUEUE (queue);
  gboolean closed;

  g_mutex_lock (&self->lock);
  closed = self->closed;
  g_mutex_unlock (&self->lock);

  return closed;
}

static void
iris_locked_queue_finalize (GObject *object)
{
  IrisLockedQueue *self = IRIS_LOCKED_QUEUE (object);

  g_queue_clear (&self->items);
  g_cond_clear (&self->pushed_or_closed);
  g_mutex_clear (&self->lock);

  G_OBJECT_CLASS (iris_locked_queue_parent_class)->finalize (object);
}

static void
iris_locked_queue_class_init (IrisLockedQueueClass *klass)
{
  IrisQueueClass *queue_class = IRIS_QUEUE_CLASS (klass);

  G_OBJECT_CLASS (klass)->finalize = iris_locked_queue_finalize;
  queue_class->push = iris_locked_queue_push;
  queue_class->timed_pop = iris_locked_queue_timed_pop;
  queue_class->timed_pop_or_close = iris_locked_queue_timed_pop_or_close;
  queue_class->close = iris_locked_queue_close;
  queue_class->get_length = iris_locked_queue_get_length;
  queue_class->is_closed = iris_locked_queue_is_closed;
}

static void
iris_locked_queue_init (IrisLockedQueue *self)
{
  g_mutex_init (&self->lock);
  g_cond_init (&self->pushed_or_closed);
  g_queue_init (&self->items);
}

IrisQueue *
iris_locked_queue_new (void)
{
  return g_object_new (IRIS_TYPE_LOCKED_QUEUE, NULL);
}
