/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * The lock-free queue: Michael and Scott's queue, with an eventcount for waiting threads.
 *
 * No thread polls: one that finds nothing announces itself, looks once more, and sleeps on a futex.
 * Every push is followed by a look at the eventcount, every closing wakes all; so by the
 * eventcount's argument (iris-eventcount-private.h) no thread sleeps while there is an item, or
 * after the end. While no thread waits, a push costs a load for it. The core's argument is in
 * iris-lfqueue-private.h.
 */
#include "iris/queue/stamped/iris-lfqueue.h"

#include "iris/base/sync/iris-eventcount-private.h"
#include "iris/queue/iris-container-private.h"
#include "iris/queue/stamped/iris-lfqueue-private.h"
#include "iris/queue/iris-queue-private.h"

/* Aligned as GObject does not align. */
typedef struct
{
  IrisLFQueueCore core;
  IrisEventcount comers;
} Shared;

/**
 * IrisLFQueue:
 *
 * An [class@Queue] without locks: a thread that is preempted anywhere in it holds up no other
 * thread. Its memory grows with the largest number of items that were in it at once, and goes with
 * the queue. At most 2^32 - 64 items fit.
 *
 * The algorithm is that of M. Michael and M. Scott (PODC 1996), on stamped pointers.
 */
struct _IrisLFQueue
{
  IrisQueue parent_instance;

  Shared *shared;
};

G_DEFINE_FINAL_TYPE (IrisLFQueue, iris_lfqueue, IRIS_TYPE_QUEUE)

static gboolean
iris_lfqueue_push (IrisQueue *queue, gpointer item)
{
  Shared *shared = IRIS_LFQUEUE (queue)->shared;
  IrisLFQueuePush result = iris_lfqueue_core_push (&shared->core, item);

  if (G_UNLIKELY (result == IRIS_LFQUEUE_NO_MEMORY))
    g_error ("iris: out of memory for an item of a queue that holds %u",
             iris_lfqueue_core_get_length (&shared->core));
  if (result == IRIS_LFQUEUE_REFUSED)
    return FALSE;
  iris_eventcount_notify_one (&shared->comers);

  return TRUE;
}

/* The last look, at the deadline. */
static gpointer
lfqueue_pop_last (Shared *shared, gboolean or_close)
{
  bool closed;
  gpointer item = iris_lfqueue_core_pop_full (&shared->core, or_close, &closed);

  if (or_close && closed)
    iris_eventcount_notify_all (&shared->comers);

  return item;
}

static gpointer
lfqueue_pop (Shared *shared, gint64 timeout, gboolean or_close)
{
  gint64 deadline = timeout != 0 ? iris_queue_deadline (timeout) : 0;
  gpointer item;
  bool closed;

  if (timeout == 0)
    return lfqueue_pop_last (shared, or_close);
  for (;;)
    {
      item = iris_lfqueue_core_pop_full (&shared->core, false, &closed);
      if (item != NULL || closed)
        return item;

      iris_eventcount_prepare (&shared->comers);
      item = iris_lfqueue_core_pop_full (&shared->core, false, &closed);
      if (item != NULL || closed)
        {
          iris_eventcount_cancel (&shared->comers);
          return item;
        }
      if (!iris_eventcount_wait (&shared->comers, deadline))
        return lfqueue_pop_last (shared, or_close);
    }
}

static gpointer
iris_lfqueue_timed_pop (IrisQueue *queue, gint64 timeout)
{
  return lfqueue_pop (IRIS_LFQUEUE (queue)->shared, timeout, FALSE);
}

static gpointer
iris_lfqueue_timed_pop_or_close (IrisQueue *queue, gint64 timeout)
{
  return lfqueue_pop (IRIS_LFQUEUE (queue)->shared, timeout, TRUE);
}

static void
iris_lfqueue_close (IrisQueue *queue)
{
  Shared *shared = IRIS_LFQUEUE (queue)->shared;

  iris_lfqueue_core_close (&shared->core);
  iris_eventcount_notify_all (&shared->comers);
}

static guint
iris_lfqueue_get_length (IrisQueue *queue)
{
  return iris_lfqueue_core_get_length (&IRIS_LFQUEUE (queue)->shared->core);
}

static gboolean
iris_lfqueue_is_closed (IrisQueue *queue)
{
  return iris_lfqueue_core_is_closed (&IRIS_LFQUEUE (queue)->shared->core);
}

static void
iris_lfqueue_finalize (GObject *object)
{
  IrisLFQueue *self = IRIS_LFQUEUE (object);

  iris_lfqueue_core_clear (&self->shared->core);
  free (self->shared);

  G_OBJECT_CLASS (iris_lfqueue_parent_class)->finalize (object);
}

static void
iris_lfqueue_class_init (IrisLFQueueClass *klass)
{
  IrisQueueClass *queue_class = IRIS_QUEUE_CLASS (klass);

  G_OBJECT_CLASS (klass)->finalize = iris_lfqueue_finalize;
  queue_class->push = iris_lfqueue_push;
  queue_class->timed_pop = iris_lfqueue_timed_pop;
  queue_class->timed_pop_or_close = iris_lfqueue_timed_pop_or_close;
  queue_class->close = iris_lfqueue_close;
  queue_class->get_length = iris_lfqueue_get_length;
  queue_class->is_closed = iris_lfqueue_is_closed;
}

static void
iris_lfqueue_init (IrisLFQueue *self)
{
  self->shared = iris_container_alloc (sizeof *self->shared);
  if (!iris_lfqueue_core_init (&self->shared->core, 0))
    g_error ("iris: out of memory for a queue");
  iris_eventcount_init (&self->shared->comers);
}

/**
 * iris_lfqueue_new:
 *
 * Makes a queue that uses no lock. Waiting threads sleep; nothing polls.
 *
 * Returns: (transfer full): an empty queue
 */
IrisQueue *
iris_lfqueue_new (void)
{
  return g_object_new (IRIS_TYPE_LFQUEUE, NULL);
}
