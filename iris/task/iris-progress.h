/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * How far work has come: the ways to say it, and the messages that do.
 */
#pragma once

#include <iris/base/iris-version-macros.h>

G_BEGIN_DECLS

/**
 * IrisProgressMode:
 * @IRIS_PROGRESS_ACTIVITY_ONLY: how much is left is not known; only that something goes on
 * @IRIS_PROGRESS_CONTINUOUS: a part of the whole
 * @IRIS_PROGRESS_DISCRETE: some items of so many
 *
 * How the progress of a task is best shown.
 */
typedef enum
{
  IRIS_PROGRESS_ACTIVITY_ONLY,
  IRIS_PROGRESS_CONTINUOUS,
  IRIS_PROGRESS_DISCRETE,
} IrisProgressMode;

/**
 * IrisProgressMessageType:
 * @IRIS_PROGRESS_MESSAGE_COMPLETE: the work is over, with or without success
 * @IRIS_PROGRESS_MESSAGE_CANCELLED: the work was cancelled
 * @IRIS_PROGRESS_MESSAGE_PULSE: something was done
 * @IRIS_PROGRESS_MESSAGE_FRACTION: a float from 0 to 1: so much is done
 * @IRIS_PROGRESS_MESSAGE_PROCESSED_ITEMS: an int: so many items are done
 * @IRIS_PROGRESS_MESSAGE_TOTAL_ITEMS: an int: so many there are; sent before the processed ones
 * @IRIS_PROGRESS_MESSAGE_TITLE: a string: the work's new title
 *
 * What a message to the port of a watch says (its `what`); see iris_progress_monitor_add_watch().
 * After %IRIS_PROGRESS_MESSAGE_COMPLETE or %IRIS_PROGRESS_MESSAGE_CANCELLED nothing may follow.
 */
typedef enum
{
  IRIS_PROGRESS_MESSAGE_COMPLETE = 1,
  IRIS_PROGRESS_MESSAGE_CANCELLED,
  IRIS_PROGRESS_MESSAGE_PULSE,
  IRIS_PROGRESS_MESSAGE_FRACTION,
  IRIS_PROGRESS_MESSAGE_PROCESSED_ITEMS,
  IRIS_PROGRESS_MESSAGE_TOTAL_ITEMS,
  IRIS_PROGRESS_MESSAGE_TITLE,
} IrisProgressMessageType;

G_END_DECLS
