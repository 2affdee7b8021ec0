/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * The abstract scheduler: what every scheduler of iris can do.
 */
#pragma once

#include <iris/sched/iris-item.h>
#include <iris/sched/iris-stats.h>
#include <glib-object.h>

G_BEGIN_DECLS

#define IRIS_TYPE_SCHEDULER (iris_scheduler_get_type ())
IRIS_AVAILABLE_IN_ALL
G_DECLARE_DERIVABLE_TYPE (IrisScheduler, iris_scheduler, IRIS, SCHEDULER, GObject)

struct _IrisSchedulerClass
{
  /*< private >*/
  GObjectClass parent_class;
  gpointer padding[8];
};

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

IRIS_AVAILABLE_IN_ALL
IrisScheduler *
iris_scheduler_new (void);
IRIS_AVAILABLE_IN_ALL
IrisScheduler *
iris_scheduler_new_full (guint min_threads, guint max_threads);
IRIS_AVAILABLE_IN_ALL
void
iris_scheduler_queue (IrisScheduler *self, IrisCallback func, gpointer data, GDestroyNotify notify);
IRIS_AVAILABLE_IN_ALL
void
iris_scheduler_queue_at (IrisScheduler *self,
                         gint place,
                         IrisItemFlags flags,
                         IrisCallback func,
                         gpointer data,
                         GDestroyNotify notify);
IRIS_AVAILABLE_IN_ALL
void
iris_scheduler_queue_item (IrisScheduler *self, IrisItem *item);
IRIS_AVAILABLE_IN_ALL
void
iris_scheduler_shutdown (IrisScheduler *self, IrisShutdown how);
IRIS_AVAILABLE_IN_ALL
guint
iris_scheduler_get_n_workers (IrisScheduler *self);
IRIS_AVAILABLE_IN_ALL
guint
iris_scheduler_get_n_places (IrisScheduler *self);
IRIS_AVAILABLE_IN_ALL
IrisStats *
iris_scheduler_get_stats (IrisScheduler *self);

G_END_DECLS
