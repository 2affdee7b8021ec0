/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * A scheduler that runs one item when it is told to, on the calling thread.
 */
#include "step-scheduler.h"

struct _StepScheduler
{
  IrisScheduler parent_instance;

  GQueue items;
  gboolean is_shut;
};

G_DEFINE_FINAL_TYPE (StepScheduler, step_scheduler, IRIS_TYPE_SCHEDULER)

static void
step_queue_item (IrisScheduler *scheduler, IrisItem *item)
{
  StepScheduler *self = STEP_SCHEDULER (scheduler);

  if (self->is_shut)
    iris_item_settle (item, FALSE);
  else
    g_queue_push_tail (&self->items, item);
}

static void
step_shutdown (IrisScheduler *scheduler, IrisShutdown how)
{
  StepScheduler *self = STEP_SCHEDULER (scheduler);
  IrisItem *item;

  self->is_shut = how == IRIS_SHUTDOWN_CANCEL;
  while ((item = g_queue_pop_head (&self->items)) != NULL)
    iris_item_settle (item, how == IRIS_SHUTDOWN_DRAIN);
  self->is_shut = TRUE;
}

static void
step_scheduler_finalize (GObject *object)
{
  g_assert (g_queue_is_empty (&STEP_SCHEDULER (object)->items));

  G_OBJECT_CLASS (step_scheduler_parent_class)->finalize (object);
}

static void
step_scheduler_class_init (StepSchedulerClass *klass)
{
  IRIS_SCHEDULER_CLASS (klass)->queue_item = step_queue_item;
  IRIS_SCHEDULER_CLASS (klass)->shutdown = step_shutdown;
  G_OBJECT_CLASS (klass)->finalize = step_scheduler_finalize;
}

static void
step_scheduler_init (StepScheduler *self)
{
  g_queue_init (&self->items);
}

IrisScheduler *
step_scheduler_new (void)
{
  return g_object_new (step_scheduler_get_type (), NULL);
}

gboolean
step_scheduler_step (IrisScheduler *self)
{
  IrisItem *item = g_queue_pop_head (&STEP_SCHEDULER (self)->items);

  if (item != NULL)
    iris_item_settle (item, TRUE);

  return item != NULL;
}

void
step_scheduler_run (IrisScheduler *self)
{
  while (step_scheduler_step (self))
    ;
}

guint
step_scheduler_get_length (IrisScheduler *self)
{
  return STEP_SCHEDULER (self)->items.length;
}
