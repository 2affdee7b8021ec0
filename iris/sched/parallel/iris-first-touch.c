/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * First touch: strict items that write memory at the place that will work on it.
 *
 * The kernel backs a page by the memory node of the thread that writes it first. The memory is cut
 * at pages into chunks, and each is written by an item that no other place may run. Chunks count
 * down; the last one tells. An item that the scheduler cancels runs its notify alone, so that is
 * where the counting is.
 */
#include "iris/sched/parallel/iris-first-touch.h"
#include "iris/sched/iris-scheduler-private.h"

#include <string.h>
#include <unistd.h>

typedef struct
{
  gatomicrefcount n_left; /* chunks, and the thread that makes them */
  gint n_cancelled;       /* atomic */
  GCancellable *cancellable;
  GTask *task; /* NULL: a thread waits */

  GMutex lock;
  GCond ended;
  gboolean is_done; /* under the lock */
} Touch;

typedef struct
{
  Touch *touch;
  guint8 *memory;
  const guint8 *from;
  gsize size;
  gboolean was_run;
} Chunk;

static void
touch_free (gpointer data)
{
  Touch *self = data;

  g_clear_object (&self->cancellable);
  g_mutex_clear (&self->lock);
  g_cond_clear (&self->ended);
  g_free (self);
}

static gboolean
touch_finish (Touch *self, GError **error)
{
  if (g_cancellable_set_error_if_cancelled (self->cancellable, error))
    return FALSE;
  if (g_atomic_int_get (&self->n_cancelled) == 0)
    return TRUE;
  g_set_error_literal (error, G_IO_ERROR, G_IO_ERROR_CLOSED,
                       "The scheduler was shut down before all of the memory was touched");

  return FALSE;
}

static void
touch_end_one (Touch *self)
{
  GError *error = NULL;

  if (!g_atomic_ref_count_dec (&self->n_left))
    return;
  if (self->task == NULL)
    {
      g_mutex_lock (&self->lock);
      self->is_done = TRUE;
      g_cond_signal (&self->ended);
      g_mutex_unlock (&self->lock);
    }
  else
    {
      g_autoptr (GTask) task = self->task;

      if (touch_finish (self, &error))
        g_task_return_boolean (task, TRUE);
      else
        g_task_return_error (task, error);
    }
}

static void
chunk_run (gpointer data)
{
  Chunk *self = data;

  self->was_run = TRUE;
  if (g_cancellable_is_cancelled (self->touch->cancellable))
    return;
  if (self->from != NULL)
    memcpy (self->memory, self->from, self->size);
  else
    memset (self->memory, 0, self->size);
}

static void
chunk_end (gpointer data)
{
  g_autofree Chunk *self = data;

  if (!self->was_run)
    g_atomic_int_inc (&self->touch->n_cancelled);
  touch_end_one (self->touch);
}

static Touch *
touch_new (GCancellable *cancellable)
{
  Touch *self = g_new0 (Touch, 1);

  g_atomic_ref_count_init (&self->n_left);
  g_mutex_init (&self->lock);
  g_cond_init (&self->ended);
  if (cancellable != NULL)
    self->cancellable = g_object_ref (cancellable);

  return self;
}

/* The first chunk ends at a boundary of chunks, so that none shares a page with another. */
static void
touch_queue (Touch *self,
             IrisScheduler *scheduler,
             gint place,
             guint8 *memory,
             const guint8 *from,
             gsize size)
{
  while (size > 0)
    {
      gsize into = (gsize) ((guintptr) memory % IRIS_FIRST_TOUCH_CHUNK);
      gsize n = MIN (size, IRIS_FIRST_TOUCH_CHUNK - into);
      Chunk *chunk = g_new0 (Chunk, 1);

      *chunk = (Chunk){ self, memory, from, n, FALSE };
      g_atomic_ref_count_inc (&self->n_left);
      iris_scheduler_queue_at (scheduler, place, IRIS_ITEM_STRICT, chunk_run, chunk, chunk_end);
      memory += n;
      from = from != NULL ? from + n : NULL;
      size -= n;
    }
}

/**
 * iris_scheduler_first_touch:
 * @place: the id of a place of its
 * @memory: (type guintptr): what to touch
 * @from: (nullable) (type guintptr): what to copy there, or %NULL to fill it with zeros
 * @size: how much, in bytes
 *
 * Has the workers of a place write memory, so that those of its pages that no thread touched before
 * come to lie there; pages that lie elsewhere already stay. For memory that is yours to allocate,
 * iris_place_alloc() does without writing it.
 *
 * Waits until it is done. Must not be called by an item of this scheduler, nor on the thread whose
 * main context the scheduler runs on, which would wait for itself; there use
 * iris_scheduler_first_touch_async(). A scheduler without places just fills the
 * memory.
 *
 * Returns: %FALSE with %G_IO_ERROR_CLOSED if the scheduler was shut down meanwhile; parts of the
 *   memory may then be as they were
 */
gboolean
iris_scheduler_first_touch (IrisScheduler *self,
                            gint place,
                            gpointer memory,
                            gconstpointer from,
                            gsize size,
                            GError **error)
{
  Touch *touch;
  gboolean good;

  g_return_val_if_fail (IRIS_IS_SCHEDULER (self), FALSE);
  g_return_val_if_fail (iris_scheduler_get_pool (self) == NULL
                            || iris_worker_pool_current (iris_scheduler_get_pool (self)) == NULL,
                        FALSE);
  g_return_val_if_fail (place >= 0 && place < (gint) iris_scheduler_get_n_places (self), FALSE);
  g_return_val_if_fail (memory != NULL || size == 0, FALSE);

  touch = touch_new (NULL);
  touch_queue (touch, self, place, memory, from, size);
  touch_end_one (touch);

  g_mutex_lock (&touch->lock);
  while (!touch->is_done)
    g_cond_wait (&touch->ended, &touch->lock);
  g_mutex_unlock (&touch->lock);
  good = touch_finish (touch, error);
  touch_free (touch);

  return good;
}

/**
 * iris_scheduler_first_touch_async:
 * @place: the id of a place of its
 * @memory: (type guintptr): what to touch; it must stay until the end
 * @from: (nullable) (type guintptr): what to copy there, or %NULL to fill it with zeros; it must
 *   stay as well
 * @size: how much, in bytes
 * @cancellable: (nullable): to leave out what was not begun
 * @callback: (scope async): called in the caller's thread-default main context
 * @user_data: for @callback
 *
 * As iris_scheduler_first_touch(), without waiting. Any thread may call it, workers included.
 */
void
iris_scheduler_first_touch_async (IrisScheduler *self,
                                  gint place,
                                  gpointer memory,
                                  gconstpointer from,
                                  gsize size,
                                  GCancellable *cancellable,
                                  GAsyncReadyCallback callback,
                                  gpointer user_data)
{
  Touch *touch;

  g_return_if_fail (IRIS_IS_SCHEDULER (self));
  g_return_if_fail (place >= 0 && place < (gint) iris_scheduler_get_n_places (self));
  g_return_if_fail (memory != NULL || size == 0);

  touch = touch_new (cancellable);
  touch->task = g_task_new (self, cancellable, callback, user_data);
  g_task_set_source_tag (touch->task, iris_scheduler_first_touch_async);
  g_task_set_task_data (touch->task, touch, touch_free);
  touch_queue (touch, self, place, memory, from, size);
  touch_end_one (touch);
}

/**
 * iris_scheduler_first_touch_finish:
 * @result: what the callback was given
 *
 * Tells whether every page was touched.
 *
 * Returns: %FALSE with %G_IO_ERROR_CANCELLED, or an error of iris_scheduler_first_touch()
 */
gboolean
iris_scheduler_first_touch_finish (IrisScheduler *self, GAsyncResult *result, GError **error)
{
  g_return_val_if_fail (g_task_is_valid (result, self), FALSE);

  return g_task_propagate_boolean (G_TASK (result), error);
}
