/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * The worker: a thread that runs a scheduler's items at one place.
 */
#pragma once

#include <iris/sched/pool/iris-item.h>

G_BEGIN_DECLS

/**
 * IrisWorker:
 *
 * A thread of a scheduler, as the items that it runs see it.
 */
typedef struct _IrisWorker IrisWorker;

IRIS_AVAILABLE_IN_ALL IrisWorker *iris_worker_current (void);
IRIS_AVAILABLE_IN_ALL guint iris_worker_get_index (const IrisWorker *self);
IRIS_AVAILABLE_IN_ALL gint iris_worker_get_place (const IrisWorker *self);
IRIS_AVAILABLE_IN_ALL void iris_worker_name_item (const char *name, guint64 number);
IRIS_AVAILABLE_IN_ALL void iris_worker_begin_blocking (void);
IRIS_AVAILABLE_IN_ALL void iris_worker_end_blocking (void);

G_END_DECLS
