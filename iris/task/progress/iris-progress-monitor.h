/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * The monitor: what shows people how far work has come.
 */
#pragma once

#include <iris/message/port/iris-port.h>
#include <iris/task/iris-process.h>
#include <iris/task/progress/iris-progress-watch.h>

G_BEGIN_DECLS

#define IRIS_TYPE_PROGRESS_MONITOR (iris_progress_monitor_get_type ())
IRIS_AVAILABLE_IN_ALL
G_DECLARE_INTERFACE (IrisProgressMonitor, iris_progress_monitor, IRIS, PROGRESS_MONITOR, GObject)

/**
 * IrisProgressMonitorInterface:
 * @add_group: shows a group
 * @add_watch: shows a watch
 * @handle_message: shows what became of a watch, which knows what @message said
 * @set_permanent_mode: see iris_progress_monitor_set_permanent_mode()
 * @set_watch_hide_delay: see iris_progress_monitor_set_watch_hide_delay()
 *
 * What a monitor may do; all of it is called in the main context in which it was given its first
 * watch, and everything may be left out.
 */
struct _IrisProgressMonitorInterface
{
  GTypeInterface parent_iface;

  void (*add_group) (IrisProgressMonitor *self, IrisProgressGroup *group);
  void (*add_watch) (IrisProgressMonitor *self, IrisProgressWatch *watch);
  void (*handle_message) (IrisProgressMonitor *self,
                          IrisProgressWatch *watch,
                          IrisMessage *message);
  void (*set_permanent_mode) (IrisProgressMonitor *self, gboolean enable);
  void (*set_watch_hide_delay) (IrisProgressMonitor *self, int milliseconds);

  /*< private >*/
  gpointer padding[4];
};

IRIS_AVAILABLE_IN_ALL IrisProgressGroup *
iris_progress_monitor_add_group (IrisProgressMonitor *self, const char *title, const char *plural);
IRIS_AVAILABLE_IN_ALL IrisPort *iris_progress_monitor_add_watch (IrisProgressMonitor *self,
                                                                 IrisTask *task,
                                                                 const char *title,
                                                                 IrisProgressGroup *group);
IRIS_AVAILABLE_IN_ALL void iris_progress_monitor_watch_process (IrisProgressMonitor *self,
                                                                IrisProcess *process,
                                                                IrisProgressGroup *group);
IRIS_AVAILABLE_IN_ALL IrisProgressGroup *
iris_progress_monitor_watch_process_chain (IrisProgressMonitor *self,
                                           IrisProcess *process,
                                           const char *title,
                                           const char *plural);
IRIS_AVAILABLE_IN_ALL void
iris_progress_monitor_watch_process_chain_in_group (IrisProgressMonitor *self,
                                                    IrisProcess *process,
                                                    IrisProgressGroup *group);
IRIS_AVAILABLE_IN_ALL void
iris_progress_monitor_set_permanent_mode (IrisProgressMonitor *self, gboolean enable);
IRIS_AVAILABLE_IN_ALL void
iris_progress_monitor_set_watch_hide_delay (IrisProgressMonitor *self, int milliseconds);
IRIS_AVAILABLE_IN_ALL gboolean iris_progress_monitor_is_watching_task (IrisProgressMonitor *self,
                                                                       IrisTask *task);
IRIS_AVAILABLE_IN_ALL double iris_progress_monitor_get_fraction (IrisProgressMonitor *self);
IRIS_AVAILABLE_IN_ALL guint iris_progress_monitor_get_n_watches (IrisProgressMonitor *self);
IRIS_AVAILABLE_IN_ALL GPtrArray *iris_progress_monitor_get_watches (IrisProgressMonitor *self);
IRIS_AVAILABLE_IN_ALL void iris_progress_monitor_cancel (IrisProgressMonitor *self);

G_END_DECLS
