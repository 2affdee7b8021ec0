/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * The table of a task's states.
 */
#include "iris/task/iris-task-state.h"

#define TO(name) (1u << IRIS_TASK_STATE_##name)

static const struct
{
  const char *name;
  guint next; /* bits of the states that may follow */
} states[] = {
  [IRIS_TASK_STATE_CONSTRUCTED] = { "constructed",
                                    TO (WAITING) | TO (QUEUED) | TO (CALLBACKS) | TO (CANCELLED) },
  [IRIS_TASK_STATE_WAITING] = { "waiting", TO (QUEUED) | TO (CALLBACKS) | TO (CANCELLED) },
  [IRIS_TASK_STATE_QUEUED] = { "queued", TO (RUNNING) | TO (CANCELLED) },
  [IRIS_TASK_STATE_RUNNING] = { "running", TO (CALLBACKS) | TO (WAITING) | TO (CANCELLED) },
  [IRIS_TASK_STATE_CALLBACKS] = { "callbacks",
                                  TO (WAITING) | TO (FINISHED) | TO (FAILED) | TO (CANCELLED) },
  [IRIS_TASK_STATE_FINISHED] = { "finished", 0 },
  [IRIS_TASK_STATE_FAILED] = { "failed", 0 },
  [IRIS_TASK_STATE_CANCELLED] = { "cancelled", 0 },
};

/**
 * iris_task_state_can_follow:
 * @from: a state
 * @to: a state
 *
 * Tells whether a task that is in @from may be in @to next.
 */
gboolean
iris_task_state_can_follow (IrisTaskState from, IrisTaskState to)
{
  g_return_val_if_fail ((guint) from < G_N_ELEMENTS (states), FALSE);
  g_return_val_if_fail ((guint) to < G_N_ELEMENTS (states), FALSE);

  return (states[from].next & 1u << to) != 0;
}

/**
 * iris_task_state_is_over:
 *
 * Returns: whether nothing follows it
 */
gboolean
iris_task_state_is_over (IrisTaskState state)
{
  return state >= IRIS_TASK_STATE_FINISHED;
}

/**
 * iris_task_state_get_name:
 *
 * Returns: (transfer none): its name, for people
 */
const char *
iris_task_state_get_name (IrisTaskState state)
{
  g_return_val_if_fail ((guint) state < G_N_ELEMENTS (states), NULL);

  return states[state].name;
}
