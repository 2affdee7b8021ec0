/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * What a monitor knows of the work that it watches.
 */
#include "iris/task/progress/iris-progress-watch-private.h"

#include "iris/base/iris-ref-private.h"

struct _IrisProgressGroup
{
  gatomicrefcount ref_count;
  char *title;
  char *plural;
};

G_DEFINE_BOXED_TYPE (IrisProgressGroup,
                     iris_progress_group,
                     iris_progress_group_ref,
                     iris_progress_group_unref)
G_DEFINE_BOXED_TYPE (IrisProgressWatch,
                     iris_progress_watch,
                     iris_progress_watch_ref,
                     iris_progress_watch_unref)

/**
 * iris_progress_group_new:
 * @title: what the group is called, for people
 * @plural: (nullable): what its items are called, for people
 *
 * Returns: (transfer full): a group
 */
IrisProgressGroup *
iris_progress_group_new (const char *title, const char *plural)
{
  IrisProgressGroup *self;

  g_return_val_if_fail (title != NULL, NULL);

  self = g_new (IrisProgressGroup, 1);
  g_atomic_ref_count_init (&self->ref_count);
  self->title = g_strdup (title);
  self->plural = g_strdup (plural);

  return self;
}

/**
 * iris_progress_group_ref:
 *
 * Returns: (transfer full): the group, with one more reference; any thread may call it
 */
IRIS_DEFINE_REF (IrisProgressGroup, iris_progress_group, g_atomic_ref_count_inc (&self->ref_count))

/**
 * iris_progress_group_unref:
 * @self: (transfer full): a group
 *
 * Drops a reference.
 */
void
iris_progress_group_unref (IrisProgressGroup *self)
{
  g_return_if_fail (self != NULL);

  if (!g_atomic_ref_count_dec (&self->ref_count))
    return;
  g_free (self->title);
  g_free (self->plural);
  g_free (self);
}

/**
 * iris_progress_group_get_title:
 *
 * Returns: (transfer none): what it is called
 */
const char *
iris_progress_group_get_title (IrisProgressGroup *self)
{
  g_return_val_if_fail (self != NULL, NULL);

  return self->title;
}

/**
 * iris_progress_group_get_plural:
 *
 * Returns: (transfer none) (nullable): what its items are called
 */
const char *
iris_progress_group_get_plural (IrisProgressGroup *self)
{
  g_return_val_if_fail (self != NULL, NULL);

  return self->plural;
}

IrisProgressWatch *
iris_progress_watch_new (gpointer monitor,
                         IrisTask *task,
                         const char *title,
                         IrisProgressGroup *group)
{
  IrisProgressWatch *self = g_new0 (IrisProgressWatch, 1);

  g_atomic_ref_count_init (&self->ref_count);
  g_weak_ref_init (&self->monitor, monitor);
  g_weak_ref_init (&self->task, task);
  self->title = g_strdup (title);
  self->group = group != NULL ? iris_progress_group_ref (group) : NULL;
  self->mode = task != NULL ? iris_task_get_progress_mode (task) : IRIS_PROGRESS_CONTINUOUS;
  self->weight = 1;

  return self;
}

/**
 * iris_progress_watch_ref:
 *
 * Returns: (transfer full): the watch, with one more reference; any thread may call it
 */
IRIS_DEFINE_REF (IrisProgressWatch, iris_progress_watch, g_atomic_ref_count_inc (&self->ref_count))

/**
 * iris_progress_watch_unref:
 * @self: (transfer full): a watch
 *
 * Drops a reference.
 */
void
iris_progress_watch_unref (IrisProgressWatch *self)
{
  g_return_if_fail (self != NULL);

  if (!g_atomic_ref_count_dec (&self->ref_count))
    return;
  g_weak_ref_clear (&self->monitor);
  g_weak_ref_clear (&self->task);
  g_free (self->title);
  g_clear_pointer (&self->group, iris_progress_group_unref);
  g_free (self);
}

static void
note_value (IrisProgressWatch *self, int what, const GValue *data)
{
  if (what == IRIS_PROGRESS_MESSAGE_FRACTION && G_VALUE_HOLDS_FLOAT (data))
    self->fraction = CLAMP (g_value_get_float (data), 0, 1);
  else if (what == IRIS_PROGRESS_MESSAGE_PROCESSED_ITEMS && G_VALUE_HOLDS_INT (data))
    self->processed = g_value_get_int (data);
  else if (what == IRIS_PROGRESS_MESSAGE_TOTAL_ITEMS && G_VALUE_HOLDS_INT (data))
    self->total = g_value_get_int (data);
  else if (what == IRIS_PROGRESS_MESSAGE_TITLE && G_VALUE_HOLDS_STRING (data))
    {
      g_free (self->title);
      self->title = g_value_dup_string (data);
    }
}

void
iris_progress_watch_note (IrisProgressWatch *self, IrisMessage *message)
{
  const GValue *data = iris_message_get_data (message);

  if (data != NULL)
    note_value (self, message->what, data);
  if (self->total > 0)
    self->fraction = MIN ((double) self->processed / self->total, 1);
  self->over = message->what == IRIS_PROGRESS_MESSAGE_COMPLETE
               || message->what == IRIS_PROGRESS_MESSAGE_CANCELLED;
  self->cancelled = message->what == IRIS_PROGRESS_MESSAGE_CANCELLED;
  if (message->what == IRIS_PROGRESS_MESSAGE_COMPLETE)
    self->fraction = 1;
}

/**
 * iris_progress_watch_get_title:
 *
 * Returns: (transfer none) (nullable): what the work is called, for people
 */
const char *
iris_progress_watch_get_title (IrisProgressWatch *self)
{
  g_return_val_if_fail (self != NULL, NULL);

  return self->title;
}

/**
 * iris_progress_watch_get_group:
 *
 * Returns: (transfer none) (nullable): the group of the watch, or %NULL
 */
IrisProgressGroup *
iris_progress_watch_get_group (IrisProgressWatch *self)
{
  g_return_val_if_fail (self != NULL, NULL);

  return self->group;
}

/**
 * iris_progress_watch_get_mode:
 *
 * Tells how the progress is best shown.
 */
IrisProgressMode
iris_progress_watch_get_mode (IrisProgressWatch *self)
{
  g_return_val_if_fail (self != NULL, IRIS_PROGRESS_ACTIVITY_ONLY);

  return self->mode;
}

/**
 * iris_progress_watch_get_fraction:
 *
 * Tells how much is done, from 0 to 1.
 */
double
iris_progress_watch_get_fraction (IrisProgressWatch *self)
{
  g_return_val_if_fail (self != NULL, 0);

  return self->fraction;
}

/**
 * iris_progress_watch_is_over:
 *
 * Tells whether the work is over, well or not, or cancelled.
 */
gboolean
iris_progress_watch_is_over (IrisProgressWatch *self)
{
  g_return_val_if_fail (self != NULL, FALSE);

  return self->over;
}

/**
 * iris_progress_watch_is_cancelled:
 *
 * Tells whether the work was cancelled.
 */
gboolean
iris_progress_watch_is_cancelled (IrisProgressWatch *self)
{
  g_return_val_if_fail (self != NULL, FALSE);

  return self->cancelled;
}

/**
 * iris_progress_watch_get_weight:
 *
 * Tells how much it counts among the others.
 */
double
iris_progress_watch_get_weight (IrisProgressWatch *self)
{
  g_return_val_if_fail (self != NULL, 0);

  return self->weight;
}

/**
 * iris_progress_watch_get_items:
 * @processed_items: (out) (optional): how many items are done
 * @total_items: (out) (optional): how many there are, as far as is known
 *
 * Tells how many items are done, and of how many.
 */
void
iris_progress_watch_get_items (IrisProgressWatch *self, int *processed_items, int *total_items)
{
  g_return_if_fail (self != NULL);

  if (processed_items != NULL)
    *processed_items = self->processed;
  if (total_items != NULL)
    *total_items = self->total;
}

/**
 * iris_progress_watch_set_weight:
 * @weight: how much it counts among the others; 1 if it is not set
 *
 * Says how much the watch counts among the others.
 */
void
iris_progress_watch_set_weight (IrisProgressWatch *self, double weight)
{
  g_return_if_fail (self != NULL);
  g_return_if_fail (weight >= 0);

  self->weight = weight;
}
