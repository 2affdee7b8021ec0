/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * The task: work with a result, handlers, dependencies, and an end that can be waited for.
 */
#pragma once

#include <iris/sched/iris-scheduler.h>
#include <iris/task/iris-progress.h>
#include <iris/task/iris-task-state.h>
#include <gio/gio.h>

G_BEGIN_DECLS

#define IRIS_TYPE_TASK (iris_task_get_type ())
IRIS_AVAILABLE_IN_ALL
G_DECLARE_DERIVABLE_TYPE (IrisTask, iris_task, IRIS, TASK, GObject)

/**
 * IrisTaskFunc:
 * @task: the task
 * @user_data: what was given with the function
 *
 * The work of a task, or a callback or errback of it.
 */
typedef void (*IrisTaskFunc) (IrisTask *task, gpointer user_data);

/**
 * IrisTaskClass:
 * @execute: does the work; the default calls the function or closure that the task was made with
 * @ended: called once the task is over, before any thread is told; must not block
 * @cancelled: called when the running task was asked to stop; any thread
 *
 * What a kind of task may override.
 */
struct _IrisTaskClass
{
  GObjectClass parent_class;

  void (*execute) (IrisTask *self);
  void (*ended) (IrisTask *self);
  void (*cancelled) (IrisTask *self);

  /*< private >*/
  gpointer padding[8];
};

/**
 * IRIS_TASK_ERROR:
 *
 * The domain of errors that tasks themselves report; see #IrisTaskError.
 */
#define IRIS_TASK_ERROR (iris_task_error_quark ())

/**
 * IrisTaskError:
 * @IRIS_TASK_ERROR_CYCLE: a task would have to wait for itself
 * @IRIS_TASK_ERROR_LATE: the task has begun already
 * @IRIS_TASK_ERROR_ABANDONED: a dependency was dropped and never run
 * @IRIS_TASK_ERROR_RESULT: the task has no result, or one of another type than was asked for
 *
 * Errors of tasks themselves.
 */
typedef enum
{
  IRIS_TASK_ERROR_CYCLE,
  IRIS_TASK_ERROR_LATE,
  IRIS_TASK_ERROR_ABANDONED,
  IRIS_TASK_ERROR_RESULT,
} IrisTaskError;

#define IRIS_TYPE_TASK_ERROR (iris_task_error_get_type ())
IRIS_AVAILABLE_IN_ALL GType iris_task_error_get_type (void);
IRIS_AVAILABLE_IN_ALL GQuark iris_task_error_quark (void);

/**
 * IRIS_TASK_THROW_NEW: (skip)
 * @task: a task, in its function or a handler of it
 * @domain: a domain of errors
 * @code: a code of it
 * @...: a format as printf() takes it, and what goes with it
 *
 * Sets the task's error; the next handler is an errback. Does not return from the function.
 */
#define IRIS_TASK_THROW_NEW(task, domain, code, ...) \
  iris_task_take_fatal_error ((task), g_error_new ((domain), (code), __VA_ARGS__))

/**
 * IRIS_TASK_THROW: (skip)
 * @task: a task, in its function or a handler of it
 * @error: an error, which is copied
 *
 * Sets the task's error; the next handler is an errback. Does not return from the function.
 */
#define IRIS_TASK_THROW(task, error) iris_task_set_fatal_error ((task), (error))

/**
 * IRIS_TASK_CATCH: (skip)
 * @task: a task, in an errback of it
 * @error: (nullable): where to put the error, or %NULL
 *
 * Takes the task's error away from it, so that the next handler is a callback.
 */
#define IRIS_TASK_CATCH(task, error) iris_task_catch_fatal_error ((task), (error))

/**
 * IRIS_TASK_RETURN_VALUE: (skip)
 * @task: a task, in its function or a handler of it
 * @type: the type of the value
 * @...: the value
 *
 * Sets the task's result. Does not return from the function.
 */
#define IRIS_TASK_RETURN_VALUE(task, type, ...) \
  iris_task_set_result_gtype ((task), (type), __VA_ARGS__)

/**
 * IRIS_TASK_RETURN_TASK: (skip)
 * @task: a task, in its function or a handler of it
 * @other: a task
 *
 * What @other ends with becomes the result or error of @task; see iris_task_return_task().
 */
#define IRIS_TASK_RETURN_TASK(task, other) iris_task_return_task ((task), (other))

/**
 * IRIS_TASK_RETURN_TASK_NEW: (skip)
 * @task: a task, in its function or a handler of it
 * @func: the work of a new task
 * @data: for @func
 * @notify: for @data
 *
 * Makes a task and returns it; see iris_task_return_task_new().
 */
#define IRIS_TASK_RETURN_TASK_NEW(task, func, data, notify) \
  iris_task_return_task_new ((task), (func), (data), (notify))

/* Making */
IRIS_AVAILABLE_IN_ALL IrisTask *
iris_task_new (IrisTaskFunc func, gpointer user_data, GDestroyNotify notify);
IRIS_AVAILABLE_IN_ALL IrisTask *
iris_task_new_with_func (IrisTaskFunc func, gpointer user_data, GDestroyNotify notify);
IRIS_AVAILABLE_IN_ALL IrisTask *iris_task_new_with_closure (GClosure *closure);
IRIS_AVAILABLE_IN_ALL IrisTask *iris_task_new_full (IrisTaskFunc func,
                                                    gpointer user_data,
                                                    GDestroyNotify notify,
                                                    gboolean async,
                                                    IrisScheduler *control_scheduler,
                                                    IrisScheduler *work_scheduler,
                                                    GMainContext *context);
IRIS_AVAILABLE_IN_ALL IrisTask *iris_task_new_with_closure_full (GClosure *closure,
                                                                 gboolean async,
                                                                 IrisScheduler *control_scheduler,
                                                                 IrisScheduler *work_scheduler,
                                                                 GMainContext *context);

/* Its course */
IRIS_AVAILABLE_IN_ALL void iris_task_run (IrisTask *self);
IRIS_AVAILABLE_IN_ALL void iris_task_cancel (IrisTask *self);
IRIS_AVAILABLE_IN_ALL void iris_task_work_finished (IrisTask *self);
IRIS_AVAILABLE_IN_ALL IrisTaskState iris_task_get_state (IrisTask *self);
IRIS_AVAILABLE_IN_ALL gboolean iris_task_is_async (IrisTask *self);
IRIS_AVAILABLE_IN_ALL gboolean iris_task_is_executing (IrisTask *self);
IRIS_AVAILABLE_IN_ALL gboolean iris_task_is_finished (IrisTask *self);
IRIS_AVAILABLE_IN_ALL gboolean iris_task_is_cancelled (IrisTask *self);
IRIS_AVAILABLE_IN_ALL gboolean iris_task_has_succeeded (IrisTask *self);
IRIS_AVAILABLE_IN_ALL gboolean iris_task_has_failed (IrisTask *self);
IRIS_AVAILABLE_IN_ALL IrisProgressMode iris_task_get_progress_mode (IrisTask *self);
IRIS_AVAILABLE_IN_ALL void iris_task_set_progress_mode (IrisTask *self, IrisProgressMode mode);
IRIS_AVAILABLE_IN_ALL GMainContext *iris_task_get_main_context (IrisTask *self);
IRIS_AVAILABLE_IN_ALL void iris_task_set_main_context (IrisTask *self, GMainContext *context);
IRIS_AVAILABLE_IN_ALL IrisScheduler *iris_task_get_work_scheduler (IrisTask *self);
IRIS_AVAILABLE_IN_ALL IrisScheduler *iris_task_get_control_scheduler (IrisTask *self);
IRIS_AVAILABLE_IN_ALL void iris_task_set_work_scheduler (IrisTask *self, IrisScheduler *scheduler);
IRIS_AVAILABLE_IN_ALL void
iris_task_set_control_scheduler (IrisTask *self, IrisScheduler *scheduler);

/* Handlers */
IRIS_AVAILABLE_IN_ALL void iris_task_add_callback (IrisTask *self,
                                                   IrisTaskFunc callback,
                                                   gpointer user_data,
                                                   GDestroyNotify notify);
IRIS_AVAILABLE_IN_ALL void iris_task_add_errback (IrisTask *self,
                                                  IrisTaskFunc errback,
                                                  gpointer user_data,
                                                  GDestroyNotify notify);
IRIS_AVAILABLE_IN_ALL void iris_task_add_both (IrisTask *self,
                                               IrisTaskFunc callback,
                                               IrisTaskFunc errback,
                                               gpointer user_data,
                                               GDestroyNotify notify);
IRIS_AVAILABLE_IN_ALL void iris_task_add_callback_closure (IrisTask *self, GClosure *callback);
IRIS_AVAILABLE_IN_ALL void iris_task_add_errback_closure (IrisTask *self, GClosure *errback);
IRIS_AVAILABLE_IN_ALL void
iris_task_add_both_closure (IrisTask *self, GClosure *callback, GClosure *errback);

/* Result */
IRIS_AVAILABLE_IN_ALL gboolean iris_task_get_fatal_error (IrisTask *self, GError **error);
IRIS_AVAILABLE_IN_ALL GError *iris_task_dup_fatal_error (IrisTask *self);
IRIS_AVAILABLE_IN_ALL void iris_task_set_fatal_error (IrisTask *self, const GError *error);
IRIS_AVAILABLE_IN_ALL void iris_task_take_fatal_error (IrisTask *self, GError *error);
IRIS_AVAILABLE_IN_ALL gboolean iris_task_catch_fatal_error (IrisTask *self, GError **error);
IRIS_AVAILABLE_IN_ALL GError *iris_task_steal_fatal_error (IrisTask *self);
IRIS_AVAILABLE_IN_ALL gboolean iris_task_has_result (IrisTask *self);
IRIS_AVAILABLE_IN_ALL void iris_task_get_result (IrisTask *self, GValue *value);
IRIS_AVAILABLE_IN_ALL void iris_task_get_result_or_null (IrisTask *self, GValue *value);
IRIS_AVAILABLE_IN_ALL void iris_task_set_result (IrisTask *self, const GValue *value);
IRIS_AVAILABLE_IN_ALL void iris_task_set_result_gtype (IrisTask *self, GType type, ...);
IRIS_AVAILABLE_IN_ALL void iris_task_return_task (IrisTask *self, IrisTask *other);
IRIS_AVAILABLE_IN_ALL void iris_task_return_task_new (IrisTask *self,
                                                      IrisTaskFunc func,
                                                      gpointer user_data,
                                                      GDestroyNotify notify);

/* Other tasks */
IRIS_AVAILABLE_IN_ALL gboolean iris_task_add_dependency (IrisTask *self, IrisTask *dependency);
IRIS_AVAILABLE_IN_ALL gboolean iris_task_try_add_dependency (IrisTask *self,
                                                             IrisTask *dependency,
                                                             GError **error);
IRIS_AVAILABLE_IN_ALL IrisTask *iris_task_all_of (GList *tasks);
IRIS_AVAILABLE_IN_ALL IrisTask *iris_task_any_of (GList *tasks);
IRIS_AVAILABLE_IN_ALL IrisTask *
iris_task_vall_of (IrisTask *first_task, ...) G_GNUC_NULL_TERMINATED;
IRIS_AVAILABLE_IN_ALL IrisTask *
iris_task_vany_of (IrisTask *first_task, ...) G_GNUC_NULL_TERMINATED;

/* Waiting for the end */
IRIS_AVAILABLE_IN_ALL void
iris_task_run_with_async_result (IrisTask *self, GAsyncReadyCallback callback, gpointer user_data);
IRIS_AVAILABLE_IN_ALL void iris_task_await (IrisTask *self,
                                            GMainContext *context,
                                            GAsyncReadyCallback callback,
                                            gpointer user_data);
IRIS_AVAILABLE_IN_ALL void
iris_task_when_over (IrisTask *self, IrisTaskFunc func, gpointer user_data, GDestroyNotify notify);
IRIS_AVAILABLE_IN_ALL gboolean iris_task_await_finish (IrisTask *self,
                                                       GAsyncResult *result,
                                                       GError **error);
IRIS_AVAILABLE_IN_ALL void iris_task_run_async (IrisTask *self,
                                                GCancellable *cancellable,
                                                GAsyncReadyCallback callback,
                                                gpointer user_data);
IRIS_AVAILABLE_IN_ALL gboolean iris_task_run_finish (IrisTask *self,
                                                     GAsyncResult *result,
                                                     GError **error);
IRIS_AVAILABLE_IN_ALL gboolean iris_task_propagate (IrisTask *self, GValue *value, GError **error);
IRIS_AVAILABLE_IN_ALL gboolean iris_task_propagate_or_null (IrisTask *self,
                                                            GValue *value,
                                                            GError **error);
IRIS_AVAILABLE_IN_ALL gboolean iris_task_propagate_boolean (IrisTask *self, GError **error);
IRIS_AVAILABLE_IN_ALL gint64 iris_task_propagate_int64 (IrisTask *self, GError **error);
IRIS_AVAILABLE_IN_ALL gdouble iris_task_propagate_double (IrisTask *self, GError **error);
IRIS_AVAILABLE_IN_ALL char *iris_task_propagate_string (IrisTask *self, GError **error);
IRIS_AVAILABLE_IN_ALL gpointer iris_task_propagate_object (IrisTask *self, GError **error);
IRIS_AVAILABLE_IN_ALL GVariant *iris_task_propagate_variant (IrisTask *self, GError **error);
IRIS_AVAILABLE_IN_ALL gboolean iris_task_wait (IrisTask *self, gint64 timeout, GError **error);

/* GLib's own */
IRIS_AVAILABLE_IN_ALL void
iris_task_set_source (IrisTask *self, gpointer source_object, gpointer source_tag);
IRIS_AVAILABLE_IN_ALL GCancellable *iris_task_get_cancellable (IrisTask *self);
IRIS_AVAILABLE_IN_ALL void iris_task_set_cancellable (IrisTask *self, GCancellable *cancellable);

G_END_DECLS
