/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * Telling watchers how far a process has come.
 *
 * Nothing is told by a clock: the pump tells when it has worked on an item and the last telling is
 * long enough ago, so a process that is idle stays idle.
 */
#include "iris/task/iris-process-private.h"

/* The ports, with a reference each, so that posting is not under the lock. */
static GPtrArray *
dup_watches (IrisProcessPrivate *priv)
{
  GPtrArray *watches = NULL;

  g_mutex_lock (&priv->lock);
  if (priv->watches->len > 0)
    {
      watches = g_ptr_array_new_with_free_func (g_object_unref);
      for (guint i = 0; i < priv->watches->len; i++)
        g_ptr_array_add (watches, g_object_ref (g_ptr_array_index (priv->watches, i)));
    }
  g_mutex_unlock (&priv->lock);

  return watches;
}

static void
tell_progress (IrisProcess *self, IrisPort *port)
{
  int processed, total;

  iris_process_get_status (self, &processed, &total);
  switch (iris_task_get_progress_mode (IRIS_TASK (self)))
    {
    case IRIS_PROGRESS_ACTIVITY_ONLY:
      iris_port_post (port, iris_message_new (IRIS_PROGRESS_MESSAGE_PULSE));
      break;
    case IRIS_PROGRESS_CONTINUOUS:
      iris_port_post (port, iris_message_new_data (IRIS_PROGRESS_MESSAGE_FRACTION, G_TYPE_FLOAT,
                                                   total > 0 ? (double) processed / total : 0.0));
      break;
    default:
      iris_port_post (port,
                      iris_message_new_data (IRIS_PROGRESS_MESSAGE_TOTAL_ITEMS, G_TYPE_INT, total));
      iris_port_post (port, iris_message_new_data (IRIS_PROGRESS_MESSAGE_PROCESSED_ITEMS,
                                                   G_TYPE_INT, processed));
    }
}

void
iris_process_tell_watches (IrisProcess *self)
{
  IrisProcessPrivate *priv = iris_process_get_private (self);
  g_autoptr (GPtrArray) watches = NULL;
  gint64 now;

  /* The pump alone is here. Watches are added under the lock, and one that is missed now is told
   * next time. */
  if (atomic_load_explicit (&priv->n_watches, memory_order_relaxed) == 0)
    return;
  now = g_get_monotonic_time ();
  if (now - priv->told_us < IRIS_PROCESS_WATCH_US)
    return;
  priv->told_us = now;
  watches = dup_watches (priv);
  for (guint i = 0; watches != NULL && i < watches->len; i++)
    tell_progress (self, g_ptr_array_index (watches, i));
}

static void
tell_end (IrisProcess *self, IrisPort *port)
{
  if (iris_task_is_cancelled (IRIS_TASK (self)))
    iris_port_post (port, iris_message_new (IRIS_PROGRESS_MESSAGE_CANCELLED));
  else
    {
      tell_progress (self, port);
      iris_port_post (port, iris_message_new (IRIS_PROGRESS_MESSAGE_COMPLETE));
    }
}

void
iris_process_tell_watches_end (IrisProcess *self)
{
  IrisProcessPrivate *priv = iris_process_get_private (self);
  g_autoptr (GPtrArray) watches = NULL;

  /* Who comes later is told by iris_process_add_watch(). */
  g_mutex_lock (&priv->lock);
  watches = g_steal_pointer (&priv->watches);
  priv->watches = g_ptr_array_new_with_free_func (g_object_unref);
  priv->watches_told = true;
  g_mutex_unlock (&priv->lock);
  for (guint i = 0; i < watches->len; i++)
    tell_end (self, g_ptr_array_index (watches, i));
}

/**
 * iris_process_add_watch:
 * @watch_port: where to post messages about its progress; see #IrisProgressMessageType
 *
 * Lets a port know how far the process has come: its title, then not more than five times a second
 * what was done, and at last whether it completed or was cancelled. A process that is over tells
 * its end at once.
 */
void
iris_process_add_watch (IrisProcess *self, IrisPort *watch_port)
{
  IrisProcessPrivate *priv;
  const char *title;
  bool is_told;

  g_return_if_fail (IRIS_IS_PROCESS (self));
  g_return_if_fail (IRIS_IS_PORT (watch_port));

  priv = iris_process_get_private (self);
  title = iris_process_get_title (self);
  if (title != NULL)
    iris_port_post (watch_port,
                    iris_message_new_data (IRIS_PROGRESS_MESSAGE_TITLE, G_TYPE_STRING, title));
  g_mutex_lock (&priv->lock);
  is_told = priv->watches_told;
  if (!is_told)
    {
      g_ptr_array_add (priv->watches, g_object_ref (watch_port));
      atomic_fetch_add_explicit (&priv->n_watches, 1, memory_order_relaxed);
    }
  g_mutex_unlock (&priv->lock);
  if (is_told)
    tell_end (self, watch_port);
}

/**
 * iris_process_set_title:
 * @title: (nullable): what the process is called, for people
 *
 * Sets the title, and tells the watchers. Titles are kept for as long as the program runs, so
 * they should be few.
 */
void
iris_process_set_title (IrisProcess *self, const char *title)
{
  IrisProcessPrivate *priv;
  g_autoptr (GPtrArray) watches = NULL;

  g_return_if_fail (IRIS_IS_PROCESS (self));

  priv = iris_process_get_private (self);
  g_mutex_lock (&priv->lock);
  priv->title = g_intern_string (title);
  g_mutex_unlock (&priv->lock);
  watches = dup_watches (priv);
  for (guint i = 0; watches != NULL && i < watches->len; i++)
    iris_port_post (g_ptr_array_index (watches, i),
                    iris_message_new_data (IRIS_PROGRESS_MESSAGE_TITLE, G_TYPE_STRING, title));
}
