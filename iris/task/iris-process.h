/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * The process: a task that works on messages, one after the other, and hands them on to the next.
 */
#pragma once

#include <iris/message/iris-message.h>
#include <iris/message/port/iris-port.h>
#include <iris/task/iris-task.h>

G_BEGIN_DECLS

#define IRIS_TYPE_PROCESS (iris_process_get_type ())
IRIS_AVAILABLE_IN_ALL
G_DECLARE_DERIVABLE_TYPE (IrisProcess, iris_process, IRIS, PROCESS, IrisTask)

/**
 * IRIS_PROCESS_QUEUE_LIMIT:
 *
 * How many work items wait in a process before the one that feeds it has to pause, unless
 * iris_process_set_queue_limit() says otherwise.
 */
#define IRIS_PROCESS_QUEUE_LIMIT 1000

/**
 * IrisProcessFunc:
 * @process: the process
 * @work_item: (transfer none): what to work on
 * @user_data: what was given with the function
 *
 * Works on one item. The items of one process are worked on one after the other.
 */
typedef void (*IrisProcessFunc) (IrisProcess *process, IrisMessage *work_item, gpointer user_data);

/**
 * IrisProcessClass:
 *
 * A kind of process.
 */
struct _IrisProcessClass
{
  IrisTaskClass parent_class;

  /*< private >*/
  gpointer padding[8];
};

IRIS_AVAILABLE_IN_ALL IrisProcess *
iris_process_new (IrisProcessFunc func, gpointer user_data, GDestroyNotify notify);
IRIS_AVAILABLE_IN_ALL IrisProcess *
iris_process_new_with_func (IrisProcessFunc func, gpointer user_data, GDestroyNotify notify);
IRIS_AVAILABLE_IN_ALL IrisProcess *iris_process_new_with_closure (GClosure *closure);
IRIS_AVAILABLE_IN_ALL void iris_process_set_func (IrisProcess *self,
                                                  IrisProcessFunc func,
                                                  gpointer user_data,
                                                  GDestroyNotify notify);
IRIS_AVAILABLE_IN_ALL void iris_process_set_closure (IrisProcess *self, GClosure *closure);
IRIS_AVAILABLE_IN_ALL void iris_process_set_queue_limit (IrisProcess *self, guint limit);

IRIS_AVAILABLE_IN_ALL void iris_process_connect (IrisProcess *head, IrisProcess *tail);
IRIS_AVAILABLE_IN_ALL void iris_process_run (IrisProcess *self);
IRIS_AVAILABLE_IN_ALL void iris_process_cancel (IrisProcess *self);
IRIS_AVAILABLE_IN_ALL void iris_process_close (IrisProcess *self);
IRIS_AVAILABLE_IN_ALL void iris_process_enqueue (IrisProcess *self, IrisMessage *work_item);
IRIS_AVAILABLE_IN_ALL gboolean iris_process_try_enqueue (IrisProcess *self,
                                                         IrisMessage *work_item,
                                                         GError **error);
IRIS_AVAILABLE_IN_ALL void iris_process_forward (IrisProcess *self, IrisMessage *work_item);
IRIS_AVAILABLE_IN_ALL void iris_process_recurse (IrisProcess *self, IrisMessage *work_item);

IRIS_AVAILABLE_IN_ALL gboolean iris_process_is_open (IrisProcess *self);
IRIS_AVAILABLE_IN_ALL gboolean iris_process_is_executing (IrisProcess *self);
IRIS_AVAILABLE_IN_ALL gboolean iris_process_is_finished (IrisProcess *self);
IRIS_AVAILABLE_IN_ALL gboolean iris_process_is_cancelled (IrisProcess *self);
IRIS_AVAILABLE_IN_ALL gboolean iris_process_has_succeeded (IrisProcess *self);
IRIS_AVAILABLE_IN_ALL gboolean iris_process_has_failed (IrisProcess *self);
IRIS_AVAILABLE_IN_ALL gboolean iris_process_has_source (IrisProcess *self);
IRIS_AVAILABLE_IN_ALL gboolean iris_process_has_sink (IrisProcess *self);
IRIS_AVAILABLE_IN_ALL IrisProcess *iris_process_get_source (IrisProcess *self);
IRIS_AVAILABLE_IN_ALL IrisProcess *iris_process_get_sink (IrisProcess *self);
IRIS_AVAILABLE_IN_ALL guint iris_process_get_queue_length (IrisProcess *self);
IRIS_AVAILABLE_IN_ALL void
iris_process_get_status (IrisProcess *self, int *processed_items, int *total_items);
IRIS_AVAILABLE_IN_ALL const char *iris_process_get_title (IrisProcess *self);
IRIS_AVAILABLE_IN_ALL void iris_process_set_title (IrisProcess *self, const char *title);
IRIS_AVAILABLE_IN_ALL void iris_process_set_output_estimation (IrisProcess *self, float factor);
IRIS_AVAILABLE_IN_ALL void iris_process_add_watch (IrisProcess *self, IrisPort *watch_port);

G_END_DECLS
