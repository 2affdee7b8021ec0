/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * The whole of a task, and what its files are to each other.
 *
 * Who may touch what
 * ------------------
 * `state` changes under `lock`, by iris_task_enter(), which asks the table of iris-task-state.c;
 * any thread may read it. What the state says owns the result and the error: before the task is
 * run, the thread that makes it; while it waits, the thread that holds the lock; then the function,
 * then the handlers, which run one after the other; when it is over, no thread changes them and any
 * thread may read them. The lock is held for a few lines and never while something is called that
 * is not of these files.
 *
 * Who holds whom
 * --------------
 * A task that was run and is not over holds itself (the run's reference), so no thread needs to
 * keep one only to make it go on. An edge from a dependency to a dependent is owned by the
 * dependency and holds the dependent. So references lead only downstream; that downstream has no
 * cycle is what iris_task_graph_add() checks. A dependency that goes away without ever having run
 * fails its dependents. The thread that waits for the end holds the task, and is held by the task
 * alone.
 *
 * The edges of all tasks are under one lock (iris-task-graph.c). A task without dependencies and
 * dependents never takes it: it is `linked` that says so. Who adds an edge sets `linked` and then
 * reads `state`; the thread that ends a task writes `state` and then reads `linked`; all four are
 * sequentially consistent, so at least one of the two sees the other (Dekker).
 */
#pragma once

#include "iris/base/iris-atomic-private.h"
#include "iris/task/iris-context-queue-private.h"
#include "iris/task/iris-task.h"

/* What a task needs of its dependencies. */
typedef enum
{
  IRIS_TASK_NEEDS_ALL,
  IRIS_TASK_NEEDS_ANY,
} IrisTaskNeed;

typedef struct _IrisTaskHandler IrisTaskHandler;
typedef struct _IrisTaskWaiter IrisTaskWaiter;

typedef struct
{
  GMutex lock;
  GCond over; /* for threads that block until the end */
  guint n_blocked;

  _Atomic guint state; /* IrisTaskState */
  _Atomic bool cancel_wanted;
  _Atomic bool linked;
  bool is_async;
  bool in_func;      /* the function has not returned */
  bool work_is_over; /* of an asynchronous task whose function has not returned */
  bool has_run;      /* holds a reference to itself */
  bool settled;      /* its dependencies have decided its outcome */
  bool only_waits;   /* there is no work but its dependencies */
  IrisTaskNeed need;
  guint n_missing; /* dependencies that are not over */
  IrisProgressMode progress_mode;

  IrisItem item; /* of the work, then of the handlers: never both */
  IrisTaskFunc func;
  gpointer data;
  GDestroyNotify notify;
  GClosure *closure;

  IrisScheduler *work_scheduler;    /* or NULL: the default one */
  IrisScheduler *control_scheduler; /* or NULL: where the work ended */
  GMainContext *context;            /* of the handlers, or NULL */
  GMainContext *work_context;       /* of the function, or NULL: a scheduler's worker */

  GValue result;
  GError *error;
  IrisTaskHandler *handlers, *last_handler;
  bool late_is_queued; /* handlers were added when it was over, and are on their way */

  IrisTask *returned;   /* by the function or a handler, which has not returned itself */
  IrisTask *waiting_on; /* that, later; unowned, only compared */
  GQueue dependents;    /* edges; under the lock of the graph, as is the next */
  GQueue dependencies;

  IrisTaskWaiter *waiters, *last_waiter;
  GCancellable *cancellable; /* what cancels the task: others may share it */
  gulong cancellable_id;
  GCancellable *own_cancellable; /* made when it is asked for; cancelled with the task */
  bool has_source;               /* the next two were set; otherwise the task is its own source */
  GObject *source_object;
  gpointer source_tag;
  gpointer async_data;
} IrisTaskPrivate;

IrisTaskPrivate *iris_task_get_private (IrisTask *self);

static inline IrisTaskState
iris_task_state (IrisTaskPrivate *priv)
{
  return atomic_load_explicit (&priv->state, memory_order_seq_cst);
}

static inline bool
iris_task_is_over (IrisTaskPrivate *priv)
{
  return iris_task_state_is_over (iris_task_state (priv));
}

/* Under the lock. */
static inline void
iris_task_enter (IrisTaskPrivate *priv, IrisTaskState state)
{
  g_assert (iris_task_state_can_follow (iris_task_state (priv), state));
  atomic_store_explicit (&priv->state, state, memory_order_seq_cst);
}

/* --- iris-task.c --- */

/* The state was left for QUEUED. */
void iris_task_queue_work (IrisTask *self);
/* The state was left for CANCELLED, FINISHED or FAILED: tells all that wait. Consumes the reference
 * of the run, if the task was run; a caller that needs the task longer has another. */
void iris_task_tell (IrisTask *self);
/* Ends a task as cancelled, from a state that allows it; the lock is held, and released. */
void iris_task_end_cancelled (IrisTask *self);

/* With a reference, so that a default one is there whatever the program sets meanwhile. */
IrisScheduler *iris_task_dup_work_scheduler (IrisTask *self);
IrisScheduler *iris_task_dup_control_scheduler (IrisTask *self);

/* --- iris-task-result.c --- */

void iris_task_discard (GValue *value, GError *error);
/* Copies what a task that is over ended with. */
void iris_task_copy_outcome (IrisTask *self, GValue *value, GError **error);

/* Other languages have no value without a type: one that is empty becomes an object that is NULL.
 */
void iris_task_fill_empty (GValue *value);

/* --- iris-task-handlers.c --- */

/* The state was left for CALLBACKS; `here`: the handlers may run on this thread, now. */
void iris_task_begin_handlers (IrisTask *self, bool here);
/* In CALLBACKS, the lock being held: ends a task that has no handlers, so that no scheduler is
 * asked to run nothing. Returns whether it is over by that, and is to be told about. */
bool iris_task_end_without_handlers (IrisTaskPrivate *priv);
/* Under the lock, of a task that may have been cancelled. */
IrisTaskHandler *iris_task_steal_handlers (IrisTaskPrivate *priv);
void iris_task_free_handlers (IrisTaskHandler *handlers);
/* A reference to a closure, which needs no marshaller of its own to be called with a task; or NULL.
 */
GClosure *iris_task_take_closure (GClosure *closure);
void iris_task_invoke (IrisTask *self, IrisTaskFunc func, gpointer data, GClosure *closure);

/* --- iris-task-graph.c --- */

/* Goes from RUNNING or CALLBACKS, whose lock is held, to WAITING for `returned`, and unlocks. */
void iris_task_wait_for_returned (IrisTask *self);
/* Tells all dependents that the task is over, or gone; adds those that are over then to `over`. */
void iris_task_graph_leave (IrisTask *self, GQueue *over);

/* Tells the waiters of the end. The caller's reference goes with the last of them, so that it
 * is there that the task is freed; or it is dropped. */
void iris_task_tell_waiters (IrisTask *self);
/* Of a task that will never be over. */
void iris_task_drop_waiters (IrisTask *self);
void iris_task_unlink_cancellable (IrisTask *self);
/* Of a task that was cancelled, or will be when its function ends. */
void iris_task_cancel_own_cancellable (IrisTask *self);
void iris_task_async_result_init (GAsyncResultIface *iface);
/* What a GAsyncReadyCallback gets as its source; unowned, may be NULL. */
GObject *iris_task_get_source (IrisTask *self);
