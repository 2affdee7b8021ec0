/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * A journey of tasks through everything that they can do, cancelled or cut short at each of its
 * steps in turn: nothing is held afterwards, and every notify has run once.
 */
#include "core-test-util.h"
#include "step-scheduler.h"

static IrisScheduler *scheduler;

typedef struct
{
  IrisTask *task;
  guint at; /* the checkpoint at which something is done to it */
  guint n;  /* checkpoints passed */
  gboolean shut;
  guint n_freed;
} Trip;

static gboolean
checkpoint (Trip *self)
{
  if (self->n++ != self->at)
    return FALSE;
  if (self->shut)
    iris_scheduler_shutdown (scheduler, IRIS_SHUTDOWN_CANCEL);
  else
    iris_task_cancel (self->task);

  return TRUE;
}

static void
pass (IrisTask *task, gpointer data)
{
  checkpoint (data);
}

static void
pass_and_throw (IrisTask *task, gpointer data)
{
  checkpoint (data);
  IRIS_TASK_THROW_NEW (task, G_IO_ERROR, G_IO_ERROR_BUSY, "busy");
}

static void
pass_and_catch (IrisTask *task, gpointer data)
{
  checkpoint (data);
  IRIS_TASK_CATCH (task, NULL);
}

static void
trip_count_freed (gpointer data)
{
  Trip *self = data;

  self->n_freed++;
  checkpoint (self);
}

static void
pass_and_return (IrisTask *task, gpointer data)
{
  checkpoint (data);
  g_autoptr (IrisTask) other = iris_task_new_full (pass_and_throw, data, trip_count_freed, FALSE,
                                                   NULL, scheduler, NULL);

  iris_task_return_task (task, other);
}

/* A dependency, work that returns a task, and handlers of all kinds; at the checkpoint with the
 * given number it is cancelled or its scheduler shut down. Returns how many there were. */
static guint
trip_make (guint at, gboolean shut)
{
  Trip trip = { .at = at, .shut = shut };
  g_autoptr (IrisScheduler) mine = scheduler = step_scheduler_new ();
  GWeakRef refs[4];
  IrisTask *tasks[4];
  IrisTaskState state;

  tasks[0] = iris_task_new_full (pass_and_return, &trip, trip_count_freed, FALSE, mine, mine, NULL);
  tasks[1] = iris_task_new_full (pass, &trip, trip_count_freed, FALSE, NULL, mine, NULL);
  tasks[2] = iris_task_new_full (pass, &trip, trip_count_freed, FALSE, NULL, mine, NULL);
  trip.task = tasks[0];
  iris_task_add_errback (tasks[0], pass_and_catch, &trip, trip_count_freed);
  iris_task_add_callback (tasks[0], pass, &trip, trip_count_freed);
  iris_task_add_both (tasks[0], pass_and_return, pass, &trip, trip_count_freed);
  iris_task_add_both (tasks[0], pass, pass_and_catch, &trip, trip_count_freed);
  iris_task_add_dependency (tasks[0], tasks[1]);
  iris_task_add_dependency (tasks[2], tasks[0]);
  tasks[3] = iris_task_vany_of (tasks[0], tasks[1], NULL);
  iris_task_when_over (tasks[0], pass, &trip, trip_count_freed);
  for (guint i = 0; i < G_N_ELEMENTS (tasks); i++)
    {
      g_weak_ref_init (&refs[i], tasks[i]);
      checkpoint (&trip);
      iris_task_run (tasks[i]);
      if (i > 0)
        g_object_unref (tasks[i]);
    }
  checkpoint (&trip);
  while (step_scheduler_step (mine))
    checkpoint (&trip);
  if (!shut)
    {
      state = iris_task_get_state (trip.task);
      ck_assert (state == IRIS_TASK_STATE_FINISHED || state == IRIS_TASK_STATE_CANCELLED);
    }
  iris_scheduler_shutdown (mine, IRIS_SHUTDOWN_CANCEL);
  g_object_unref (trip.task);
  /* The default scheduler, which has no part in it, may not hold any of them either. */
  for (guint i = 0; i < G_N_ELEMENTS (tasks); i++)
    {
      if (i < 3)
        ck_assert_msg (g_weak_ref_get (&refs[i]) == NULL, "task %u of checkpoint %u", i, at);
      g_weak_ref_clear (&refs[i]);
    }
  /* 3 tasks, 4 handlers, 1 waiting thread; and up to 2 tasks that were returned. */
  ck_assert_uint_ge (trip.n_freed, 8);
  ck_assert_uint_le (trip.n_freed, 10);

  return trip.n;
}

static void
trip_at_each_checkpoint (gboolean shut)
{
  guint n = trip_make (G_MAXUINT, FALSE);

  ck_assert_uint_gt (n, 15);
  for (guint at = 0; at < n; at++)
    trip_make (at, shut);
}

TEST (a_task_can_be_cancelled_at_every_step) { trip_at_each_checkpoint (FALSE); }

TEST (the_scheduler_can_be_shut_down_at_every_step) { trip_at_each_checkpoint (TRUE); }

TEST_MAIN ("task-steps", NULL, NULL)
