/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * Work that can be taken back.
 *
 * The queues of a scheduler give nothing back from their middle, and need not: the work is claimed,
 * by one exchange of `claimed`, either by the worker that is about to run it or by the thread that
 * unqueues it. The loser leaves it alone. Unqueued work is an empty item that a worker
 * drops when it meets it.
 *
 * For iris_scheduler_foreach() such work stands in a register of its scheduler, under a lock; plain
 * items do not, and pay nothing. The register is counted, because work may outlive the scheduler
 * that its items dropped last. Under the lock nothing is called.
 */
#include "iris/sched/pool/iris-item-private.h"

#include "iris/base/iris-ref-private.h"
#include "iris/sched/iris-work-handle.h"

#include <pthread.h>

typedef struct
{
  _Atomic gint ref_count;
  pthread_mutex_t lock;
  GQueue works;
} Register;

struct _IrisWorkHandle
{
  IrisItem item;
  _Atomic gint ref_count;
  _Atomic bool claimed;
  IrisCallback func;
  gpointer data;
  GDestroyNotify notify;
  Register *where;
  GList link; /* in the register, until it is claimed */
};

G_DEFINE_BOXED_TYPE (IrisWorkHandle, iris_work_handle, iris_work_handle_ref, iris_work_handle_unref)
static G_DEFINE_QUARK (iris - scheduler - works, register)

static void
register_unref (gpointer data)
{
  Register *self = data;

  if (atomic_fetch_sub_explicit (&self->ref_count, 1, memory_order_acq_rel) != 1)
    return;
  pthread_mutex_destroy (&self->lock);
  g_free (self);
}

static Register *
register_of (IrisScheduler *scheduler)
{
  static pthread_mutex_t making = PTHREAD_MUTEX_INITIALIZER;
  Register *self = g_object_get_qdata (G_OBJECT (scheduler), register_quark ());

  if (self != NULL)
    return self;

  pthread_mutex_lock (&making);
  self = g_object_get_qdata (G_OBJECT (scheduler), register_quark ());
  if (self == NULL)
    {
      self = g_new0 (Register, 1);
      atomic_init (&self->ref_count, 1);
      pthread_mutex_init (&self->lock, NULL);
      g_queue_init (&self->works);
      g_object_set_qdata_full (G_OBJECT (scheduler), register_quark (), self, register_unref);
    }
  pthread_mutex_unlock (&making);

  return self;
}

/**
 * iris_work_handle_ref:
 * @self: work
 *
 * Returns: (transfer full): the work, with one more reference; any thread may call it
 */
IRIS_DEFINE_REF (IrisWorkHandle,
                 iris_work_handle,
                 atomic_fetch_add_explicit (&self->ref_count, 1, memory_order_relaxed))

/**
 * iris_work_handle_unref:
 * @self: (transfer full): work
 *
 * Drops a reference. That does not take the work back.
 */
void
iris_work_handle_unref (IrisWorkHandle *self)
{
  g_return_if_fail (self != NULL);

  if (atomic_fetch_sub_explicit (&self->ref_count, 1, memory_order_acq_rel) != 1)
    return;
  register_unref (self->where);
  g_free (self);
}

/* TRUE for one caller in the life of the work. */
static gboolean
work_claim (IrisWorkHandle *self)
{
  if (atomic_exchange_explicit (&self->claimed, true, memory_order_acq_rel))
    return FALSE;
  pthread_mutex_lock (&self->where->lock);
  g_queue_unlink (&self->where->works, &self->link);
  pthread_mutex_unlock (&self->where->lock);

  return TRUE;
}

static void
work_end (IrisWorkHandle *self)
{
  if (self->notify != NULL)
    self->notify (self->data);
}

static void
work_run (gpointer data)
{
  IrisWorkHandle *self = data;

  if (work_claim (self))
    {
      self->func (self->data);
      work_end (self);
    }
  iris_work_handle_unref (self);
}

static void
work_drop (gpointer data)
{
  IrisWorkHandle *self = data;

  if (work_claim (self))
    work_end (self);
  iris_work_handle_unref (self);
}

/**
 * iris_scheduler_queue_work:
 * @func: (scope notified) (closure data) (destroy notify): the work
 * @data: (nullable): for @func and @notify
 * @notify: (nullable): called with @data once the work was run, cancelled or taken back
 *
 * Queues work like iris_scheduler_queue(), so that it can be taken back with
 * iris_scheduler_unqueue() and is seen by iris_scheduler_foreach(). That costs an allocation and a
 * lock.
 *
 * Returns: (transfer full): the work
 */
IrisWorkHandle *
iris_scheduler_queue_work (IrisScheduler *self,
                           IrisCallback func,
                           gpointer data,
                           GDestroyNotify notify)
{
  IrisWorkHandle *work;

  g_return_val_if_fail (IRIS_IS_SCHEDULER (self), NULL);
  g_return_val_if_fail (func != NULL, NULL);

  work = g_new0 (IrisWorkHandle, 1);
  atomic_init (&work->ref_count, 2);
  work->func = func;
  work->data = data;
  work->notify = notify;
  work->link.data = work;
  work->where = register_of (self);
  atomic_fetch_add_explicit (&work->where->ref_count, 1, memory_order_relaxed);
  pthread_mutex_lock (&work->where->lock);
  g_queue_push_tail_link (&work->where->works, &work->link);
  pthread_mutex_unlock (&work->where->lock);

  iris_item_init (&work->item, work_run, work, work_drop);
  iris_scheduler_queue_item (self, &work->item);

  return work;
}

/**
 * iris_scheduler_unqueue:
 * @self: the scheduler that the work was queued with
 * @work: work
 *
 * Takes work back if it has not begun. Its function is not called then, and its notify is called
 * before this returns. Of all callers that try, and the worker that would run it, one succeeds.
 *
 * May be called from any thread.
 *
 * Returns: whether it was taken back
 */
gboolean
iris_scheduler_unqueue (IrisScheduler *self, IrisWorkHandle *work)
{
  g_return_val_if_fail (IRIS_IS_SCHEDULER (self), FALSE);
  g_return_val_if_fail (work != NULL, FALSE);
  g_return_val_if_fail (work->where == register_of (self), FALSE);

  if (!work_claim (work))
    return FALSE;
  work_end (work);

  return TRUE;
}

/**
 * iris_scheduler_foreach: (skip)
 * @func: (scope call) (closure user_data): called for each, under no lock
 * @user_data: (nullable): for @func
 *
 * Looks at all work that was queued with iris_scheduler_queue_work() and had not begun when this
 * was called, oldest first. Work that begins or is taken back meanwhile is left out if that is seen
 * in time; a worker may begin with it while @func looks at it.
 */
void
iris_scheduler_foreach (IrisScheduler *self, IrisSchedulerForeachFunc func, gpointer user_data)
{
  g_autoptr (GPtrArray) works = NULL;
  Register *where;
  gboolean go_on = TRUE;

  g_return_if_fail (IRIS_IS_SCHEDULER (self));
  g_return_if_fail (func != NULL);

  works = g_ptr_array_new_with_free_func ((GDestroyNotify) iris_work_handle_unref);
  where = register_of (self);
  pthread_mutex_lock (&where->lock);
  for (GList *link = where->works.head; link != NULL; link = link->next)
    g_ptr_array_add (works, iris_work_handle_ref (link->data));
  pthread_mutex_unlock (&where->lock);

  for (guint i = 0; i < works->len && go_on; i++)
    {
      IrisWorkHandle *work = g_ptr_array_index (works, i);

      if (!atomic_load_explicit (&work->claimed, memory_order_acquire))
        go_on = func (self, work, work->func, work->data, user_data);
    }
}
