/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * The lock-free queue.
 */
#pragma once

#include <iris/queue/iris-queue.h>

G_BEGIN_DECLS

#define IRIS_TYPE_LFQUEUE (iris_lfqueue_get_type ())
IRIS_AVAILABLE_IN_ALL
G_DECLARE_FINAL_TYPE (IrisLFQueue, iris_lfqueue, IRIS, LFQUEUE, IrisQueue)

IRIS_AVAILABLE_IN_ALL IrisQueue *iris_lfqueue_new (void);

G_END_DECLS
