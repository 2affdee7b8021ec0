/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * The states of a task, and which may follow which.
 */
#pragma once

#include <iris/base/iris-version-macros.h>

G_BEGIN_DECLS

/**
 * IrisTaskState:
 * @IRIS_TASK_STATE_CONSTRUCTED: made, and not run yet
 * @IRIS_TASK_STATE_WAITING: run; waits for its dependencies, or for a task that it returned
 * @IRIS_TASK_STATE_QUEUED: its function waits for a worker
 * @IRIS_TASK_STATE_RUNNING: its function runs, or has started something that has not ended
 * @IRIS_TASK_STATE_CALLBACKS: its callbacks and errbacks run, or wait for a worker
 * @IRIS_TASK_STATE_FINISHED: over, with a result
 * @IRIS_TASK_STATE_FAILED: over, with an error
 * @IRIS_TASK_STATE_CANCELLED: over, with neither
 *
 * Where a task is:
 *
 * ```
 *  CONSTRUCTED --run--> WAITING --all there--> QUEUED --worker--> RUNNING
 *       |   \______________|______________________^                  |
 *       |   (nothing to     \                                   returns
 *       |    wait for)       \ a dependency failed, or a task        |
 *       |                     \ that was returned is over            v
 *       |                      `----------------------------->  CALLBACKS --> FINISHED
 *     cancel                 <----- a task was returned -----        |   \--> FAILED
 *       v
 *   CANCELLED     also from WAITING, QUEUED, RUNNING, and from CALLBACKS
 *                 when their scheduler is shut down
 * ```
 *
 * RUNNING may become WAITING too: the function returned a task.
 */
typedef enum
{
  IRIS_TASK_STATE_CONSTRUCTED,
  IRIS_TASK_STATE_WAITING,
  IRIS_TASK_STATE_QUEUED,
  IRIS_TASK_STATE_RUNNING,
  IRIS_TASK_STATE_CALLBACKS,
  IRIS_TASK_STATE_FINISHED,
  IRIS_TASK_STATE_FAILED,
  IRIS_TASK_STATE_CANCELLED,
} IrisTaskState;

IRIS_AVAILABLE_IN_ALL gboolean iris_task_state_can_follow (IrisTaskState from, IrisTaskState to);
IRIS_AVAILABLE_IN_ALL gboolean iris_task_state_is_over (IrisTaskState state);
IRIS_AVAILABLE_IN_ALL const char *iris_task_state_get_name (IrisTaskState state);

G_END_DECLS
