/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * How a scheduler ends.
 */
#pragma once

#include <iris/base/iris-version-macros.h>

G_BEGIN_DECLS

/**
 * IrisShutdown:
 * @IRIS_SHUTDOWN_DRAIN: run everything that is queued, and what that queues, then stop
 * @IRIS_SHUTDOWN_CANCEL: finish what is running; of the rest only the destroy notifies run
 *
 * What becomes of queued work when a scheduler shuts down.
 */
typedef enum
{
  IRIS_SHUTDOWN_DRAIN,
  IRIS_SHUTDOWN_CANCEL,
} IrisShutdown;

G_END_DECLS
