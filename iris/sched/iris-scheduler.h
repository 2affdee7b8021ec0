/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * The abstract scheduler: what every scheduler of iris can do.
 */
#pragma once

#include <iris/sched/pool/iris-item.h>
#include <iris/sched/pool/iris-shutdown.h>
#include <iris/sched/stats/iris-stats.h>
#include <glib-object.h>

G_BEGIN_DECLS

#define IRIS_TYPE_SCHEDULER (iris_scheduler_get_type ())
IRIS_AVAILABLE_IN_ALL
G_DECLARE_DERIVABLE_TYPE (IrisScheduler, iris_scheduler, IRIS, SCHEDULER, GObject)

/**
 * IrisSchedulerClass:
 * @queue_item: takes an item; any thread. It must settle each item once: by iris_item_settle()
 * @shutdown: see iris_scheduler_shutdown()
 * @get_stats: see iris_scheduler_get_stats()
 *
 * What a scheduler of another library must provide. It has one place and counts as one worker.
 */
struct _IrisSchedulerClass
{
  GObjectClass parent_class;

  void (*queue_item) (IrisScheduler *self, IrisItem *item);
  void (*shutdown) (IrisScheduler *self, IrisShutdown how);
  IrisStats *(*get_stats) (IrisScheduler *self);

  /*< private >*/
  gpointer padding[8];
};

IRIS_AVAILABLE_IN_ALL IrisScheduler *iris_scheduler_new (void);
IRIS_AVAILABLE_IN_ALL IrisScheduler *iris_scheduler_new_full (guint min_threads, guint max_threads);
IRIS_AVAILABLE_IN_ALL void
iris_scheduler_queue (IrisScheduler *self, IrisCallback func, gpointer data, GDestroyNotify notify);
IRIS_AVAILABLE_IN_ALL void iris_scheduler_queue_at (IrisScheduler *self,
                                                    gint place,
                                                    IrisItemFlags flags,
                                                    IrisCallback func,
                                                    gpointer data,
                                                    GDestroyNotify notify);
IRIS_AVAILABLE_IN_ALL void iris_scheduler_queue_sized (IrisScheduler *self,
                                                       gint place,
                                                       IrisItemFlags flags,
                                                       guint64 footprint,
                                                       IrisCallback func,
                                                       gpointer data,
                                                       GDestroyNotify notify);
IRIS_AVAILABLE_IN_ALL void iris_scheduler_queue_item (IrisScheduler *self, IrisItem *item);
IRIS_AVAILABLE_IN_ALL void iris_scheduler_shutdown (IrisScheduler *self, IrisShutdown how);
IRIS_AVAILABLE_IN_ALL guint iris_scheduler_get_n_workers (IrisScheduler *self);
IRIS_AVAILABLE_IN_ALL guint iris_scheduler_get_n_places (IrisScheduler *self);
IRIS_AVAILABLE_IN_ALL void iris_scheduler_set_n_active (IrisScheduler *self, guint n);
IRIS_AVAILABLE_IN_ALL void
iris_scheduler_set_n_active_at (IrisScheduler *self, gint place, guint n);
IRIS_AVAILABLE_IN_ALL guint iris_scheduler_get_n_active (IrisScheduler *self);
IRIS_AVAILABLE_IN_ALL IrisStats *iris_scheduler_get_stats (IrisScheduler *self);

/* As iris 0.3 asked for it: a scheduler has one number of workers. */
IRIS_AVAILABLE_IN_ALL gint iris_scheduler_get_min_threads (IrisScheduler *self);
IRIS_AVAILABLE_IN_ALL gint iris_scheduler_get_max_threads (IrisScheduler *self);
IRIS_AVAILABLE_IN_ALL guint iris_scheduler_get_n_cpu (void);

G_END_DECLS
