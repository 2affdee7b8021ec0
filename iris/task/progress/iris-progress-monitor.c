/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * The monitor: ports for the work, and messages turned into progress shown.
 */
#include "iris/task/progress/iris-progress-monitor.h"

#include "iris/task/iris-context-queue-private.h"
#include "iris/task/progress/iris-progress-watch-private.h"

/**
 * IrisProgressMonitor:
 *
 * Shows people how far work has come, in whichever way the implementation chooses.
 *
 * Work is watched through a port, to which messages of #IrisProgressMessageType are posted from any
 * thread; processes do that by themselves. A monitor is used in one main context, the
 * thread-default one where it was given its first watch; everything that it is told it is told
 * there. It holds neither the work nor is held by it.
 */

G_DEFINE_INTERFACE (IrisProgressMonitor, iris_progress_monitor, G_TYPE_OBJECT)

enum
{
  CANCEL,
  FINISHED,
  N_SIGNALS,
};

static guint signals[N_SIGNALS];

static void
iris_progress_monitor_default_init (IrisProgressMonitorInterface *iface)
{
  /**
   * IrisProgressMonitor::cancel:
   * @self: a monitor
   *
   * A thread wants the work to be cancelled; see iris_progress_monitor_cancel().
   */
  signals[CANCEL] = g_signal_new ("cancel", IRIS_TYPE_PROGRESS_MONITOR, G_SIGNAL_RUN_LAST, 0, NULL,
                                  NULL, NULL, G_TYPE_NONE, 0);
  /**
   * IrisProgressMonitor::finished:
   * @self: a monitor
   *
   * All that was watched is over.
   */
  signals[FINISHED] = g_signal_new ("finished", IRIS_TYPE_PROGRESS_MONITOR, G_SIGNAL_RUN_LAST, 0,
                                    NULL, NULL, NULL, G_TYPE_NONE, 0);
}

/* --- the main context as a scheduler --- */

/* Unlike a IrisGMainScheduler, it has nothing to settle when it goes: a message on its way holds
 * its receiver and so this. It may go with the last of its own items. */
#define CONTEXT_TYPE_SCHEDULER (context_scheduler_get_type ())
G_DECLARE_FINAL_TYPE (ContextScheduler, context_scheduler, CONTEXT, SCHEDULER, IrisScheduler)

struct _ContextScheduler
{
  IrisScheduler parent_instance;

  GMainContext *context;
};

G_DEFINE_FINAL_TYPE (ContextScheduler, context_scheduler, IRIS_TYPE_SCHEDULER)

static void
context_scheduler_queue_item (IrisScheduler *scheduler, IrisItem *item)
{
  g_autoptr (GMainContext) context = g_main_context_ref (CONTEXT_SCHEDULER (scheduler)->context);

  iris_context_queue_push (iris_context_queue_of (context), item);
}

static void
context_scheduler_finalize (GObject *object)
{
  g_main_context_unref (CONTEXT_SCHEDULER (object)->context);

  G_OBJECT_CLASS (context_scheduler_parent_class)->finalize (object);
}

static void
context_scheduler_class_init (ContextSchedulerClass *klass)
{
  G_OBJECT_CLASS (klass)->finalize = context_scheduler_finalize;
  IRIS_SCHEDULER_CLASS (klass)->queue_item = context_scheduler_queue_item;
}

static void
context_scheduler_init (ContextScheduler *self)
{
  self->context = g_main_context_ref_thread_default ();
}

/* --- what a monitor holds --- */

typedef struct
{
  IrisScheduler *scheduler;
  GPtrArray *watches; /* all since there was last nothing to watch */
  GPtrArray *ports;   /* of each, or NULL once it is over */
  guint n_going;
} State;

static void
port_free (gpointer port)
{
  if (port != NULL)
    g_object_unref (port);
}

static void
state_free (gpointer data)
{
  State *self = data;

  g_clear_object (&self->scheduler);
  g_ptr_array_unref (self->watches);
  g_ptr_array_unref (self->ports);
  g_free (self);
}

static State *
state_of (IrisProgressMonitor *monitor)
{
  static GQuark quark;
  State *self;

  if (quark == 0)
    quark = g_quark_from_static_string ("iris-progress-monitor-state");
  self = g_object_get_qdata (G_OBJECT (monitor), quark);
  if (self == NULL)
    {
      self = g_new0 (State, 1);
      self->watches = g_ptr_array_new_with_free_func ((GDestroyNotify) iris_progress_watch_unref);
      self->ports = g_ptr_array_new_with_free_func (port_free);
      g_object_set_qdata_full (G_OBJECT (monitor), quark, self, state_free);
    }

  return self;
}

/* Lets go of the port of a watch that is over. */
static void
state_end_watch (State *self, IrisProgressWatch *watch)
{
  guint index;

  if (!g_ptr_array_find (self->watches, watch, &index) || self->ports->pdata[index] == NULL)
    return;
  self->n_going--;
  g_clear_object ((IrisPort **) &self->ports->pdata[index]);
}

/* In the context of the monitor. */
static void
handle_message (IrisMessage *message, gpointer data)
{
  IrisProgressWatch *watch = data;
  g_autoptr (IrisProgressMonitor) monitor = g_weak_ref_get (&watch->monitor);
  IrisProgressMonitorInterface *iface;

  /* Nothing may follow the end. */
  if (monitor == NULL || watch->over)
    return;
  iris_progress_watch_note (watch, message);
  iface = IRIS_PROGRESS_MONITOR_GET_IFACE (monitor);
  if (iface->handle_message != NULL)
    iface->handle_message (monitor, watch, message);
  if (!watch->over)
    return;
  state_end_watch (state_of (monitor), watch);
  if (state_of (monitor)->n_going == 0)
    g_signal_emit (monitor, signals[FINISHED], 0);
}

/* --- using it --- */

/**
 * iris_progress_monitor_add_group:
 * @title: what the group is called, for people
 * @plural: (nullable): what its items are called, for people
 *
 * Returns: (transfer full): a new group, in which watches are shown together
 */
IrisProgressGroup *
iris_progress_monitor_add_group (IrisProgressMonitor *self, const char *title, const char *plural)
{
  IrisProgressGroup *group;
  IrisProgressMonitorInterface *iface;

  g_return_val_if_fail (IRIS_IS_PROGRESS_MONITOR (self), NULL);
  g_return_val_if_fail (title != NULL, NULL);

  group = iris_progress_group_new (title, plural);
  iface = IRIS_PROGRESS_MONITOR_GET_IFACE (self);
  if (iface->add_group != NULL)
    iface->add_group (self, group);

  return group;
}

/**
 * iris_progress_monitor_add_watch:
 * @task: (nullable): the task that does the work, so that it can be cancelled, or %NULL
 * @title: (nullable): what the work is called, for people
 * @group: (nullable): the group to which it belongs, or %NULL
 *
 * Watches some work. The thread that does it posts messages to the port that is returned, and
 * %IRIS_PROGRESS_MESSAGE_COMPLETE or %IRIS_PROGRESS_MESSAGE_CANCELLED as the last.
 *
 * Returns: (transfer none): a port, which the monitor holds until the last message
 */
IrisPort *
iris_progress_monitor_add_watch (IrisProgressMonitor *self,
                                 IrisTask *task,
                                 const char *title,
                                 IrisProgressGroup *group)
{
  State *state;
  IrisProgressWatch *watch;
  IrisPort *port;
  g_autoptr (IrisReceiver) receiver = NULL;
  IrisProgressMonitorInterface *iface;

  g_return_val_if_fail (IRIS_IS_PROGRESS_MONITOR (self), NULL);
  g_return_val_if_fail (task == NULL || IRIS_IS_TASK (task), NULL);

  state = state_of (self);
  if (state->scheduler == NULL)
    state->scheduler = g_object_new (CONTEXT_TYPE_SCHEDULER, NULL);
  if (state->n_going == 0)
    {
      g_ptr_array_set_size (state->watches, 0);
      g_ptr_array_set_size (state->ports, 0);
    }
  watch = iris_progress_watch_new (self, task, title, group);
  port = iris_port_new ();
  receiver = iris_receiver_new (state->scheduler, handle_message, iris_progress_watch_ref (watch),
                                (GDestroyNotify) iris_progress_watch_unref);
  iris_port_set_receiver (port, receiver);
  g_ptr_array_add (state->watches, watch);
  g_ptr_array_add (state->ports, port);
  state->n_going++;
  iface = IRIS_PROGRESS_MONITOR_GET_IFACE (self);
  if (iface->add_watch != NULL)
    iface->add_watch (self, watch);

  return port;
}

/**
 * iris_progress_monitor_watch_process:
 * @process: a process
 * @group: (nullable): the group to which it belongs, or %NULL
 *
 * Watches a process.
 */
void
iris_progress_monitor_watch_process (IrisProgressMonitor *self,
                                     IrisProcess *process,
                                     IrisProgressGroup *group)
{
  IrisPort *port;

  g_return_if_fail (IRIS_IS_PROGRESS_MONITOR (self));
  g_return_if_fail (IRIS_IS_PROCESS (process));

  port = iris_progress_monitor_add_watch (self, IRIS_TASK (process),
                                          iris_process_get_title (process), group);
  iris_process_add_watch (process, port);
}

/**
 * iris_progress_monitor_watch_process_chain:
 * @process: a process of a chain
 * @title: what the chain is called, for people
 * @plural: (nullable): what its items are called, for people
 *
 * Watches all processes of a chain, in a group of their own.
 *
 * Returns: (transfer full): the group
 */
IrisProgressGroup *
iris_progress_monitor_watch_process_chain (IrisProgressMonitor *self,
                                           IrisProcess *process,
                                           const char *title,
                                           const char *plural)
{
  IrisProgressGroup *group = iris_progress_monitor_add_group (self, title, plural);

  if (group != NULL)
    iris_progress_monitor_watch_process_chain_in_group (self, process, group);

  return group;
}

/**
 * iris_progress_monitor_watch_process_chain_in_group:
 * @process: a process of a chain
 * @group: (nullable): the group to which they belong, or %NULL
 *
 * Watches all processes of a chain, from its head on.
 */
void
iris_progress_monitor_watch_process_chain_in_group (IrisProgressMonitor *self,
                                                    IrisProcess *process,
                                                    IrisProgressGroup *group)
{
  g_return_if_fail (IRIS_IS_PROGRESS_MONITOR (self));
  g_return_if_fail (IRIS_IS_PROCESS (process));

  while (iris_process_has_source (process))
    process = iris_process_get_source (process);
  for (; process != NULL; process = iris_process_get_sink (process))
    iris_progress_monitor_watch_process (self, process, group);
}

/**
 * iris_progress_monitor_set_permanent_mode:
 * @enable: whether it stays when nothing is watched
 *
 * Says whether the monitor stays when nothing is watched.
 */
void
iris_progress_monitor_set_permanent_mode (IrisProgressMonitor *self, gboolean enable)
{
  g_return_if_fail (IRIS_IS_PROGRESS_MONITOR (self));

  if (IRIS_PROGRESS_MONITOR_GET_IFACE (self)->set_permanent_mode != NULL)
    IRIS_PROGRESS_MONITOR_GET_IFACE (self)->set_permanent_mode (self, enable);
}

/**
 * iris_progress_monitor_set_watch_hide_delay:
 * @milliseconds: how long a watch that is over is still shown
 *
 * Says how long a watch that is over is still shown.
 */
void
iris_progress_monitor_set_watch_hide_delay (IrisProgressMonitor *self, int milliseconds)
{
  g_return_if_fail (IRIS_IS_PROGRESS_MONITOR (self));
  g_return_if_fail (milliseconds >= 0);

  if (IRIS_PROGRESS_MONITOR_GET_IFACE (self)->set_watch_hide_delay != NULL)
    IRIS_PROGRESS_MONITOR_GET_IFACE (self)->set_watch_hide_delay (self, milliseconds);
}

/**
 * iris_progress_monitor_is_watching_task:
 *
 * Tells whether the monitor watches the task, and it is not over.
 */
gboolean
iris_progress_monitor_is_watching_task (IrisProgressMonitor *self, IrisTask *task)
{
  State *state;

  g_return_val_if_fail (IRIS_IS_PROGRESS_MONITOR (self), FALSE);
  g_return_val_if_fail (IRIS_IS_TASK (task), FALSE);

  state = state_of (self);
  for (guint i = 0; i < state->watches->len; i++)
    {
      IrisProgressWatch *watch = g_ptr_array_index (state->watches, i);
      g_autoptr (IrisTask) watched = g_weak_ref_get (&watch->task);

      if (watched == task && !watch->over)
        return TRUE;
    }

  return FALSE;
}

/**
 * iris_progress_monitor_get_fraction:
 *
 * How much of everything is done that is watched, or was since there was last nothing to watch;
 * each counts by its weight.
 *
 * Returns: from 0 to 1
 */
double
iris_progress_monitor_get_fraction (IrisProgressMonitor *self)
{
  double done = 0, all = 0;
  State *state;

  g_return_val_if_fail (IRIS_IS_PROGRESS_MONITOR (self), 0);

  state = state_of (self);
  for (guint i = 0; i < state->watches->len; i++)
    {
      IrisProgressWatch *watch = g_ptr_array_index (state->watches, i);

      done += watch->fraction * watch->weight;
      all += watch->weight;
    }

  return all > 0 ? done / all : 0;
}

/**
 * iris_progress_monitor_get_n_watches:
 *
 * Tells how many watches it has whose work is not over.
 */
guint
iris_progress_monitor_get_n_watches (IrisProgressMonitor *self)
{
  g_return_val_if_fail (IRIS_IS_PROGRESS_MONITOR (self), 0);

  return state_of (self)->n_going;
}

/**
 * iris_progress_monitor_get_watches:
 *
 * Returns: (transfer container) (element-type IrisProgressWatch): what it watches, and did since
 *   there was last nothing to watch
 */
GPtrArray *
iris_progress_monitor_get_watches (IrisProgressMonitor *self)
{
  GPtrArray *watches;

  g_return_val_if_fail (IRIS_IS_PROGRESS_MONITOR (self), NULL);

  watches = g_ptr_array_new_with_free_func ((GDestroyNotify) iris_progress_watch_unref);
  g_ptr_array_extend (watches, state_of (self)->watches, (GCopyFunc) iris_progress_watch_ref, NULL);

  return watches;
}

/**
 * iris_progress_monitor_cancel:
 *
 * Cancels all tasks that the monitor watches, and emits #IrisProgressMonitor::cancel, for work that
 * is no task. For a button beside the progress.
 */
void
iris_progress_monitor_cancel (IrisProgressMonitor *self)
{
  g_autoptr (GPtrArray) watches = NULL;

  g_return_if_fail (IRIS_IS_PROGRESS_MONITOR (self));

  watches = iris_progress_monitor_get_watches (self);
  g_signal_emit (self, signals[CANCEL], 0);
  for (guint i = 0; i < watches->len; i++)
    {
      IrisProgressWatch *watch = g_ptr_array_index (watches, i);
      g_autoptr (IrisTask) task = g_weak_ref_get (&watch->task);

      if (task != NULL)
        iris_task_cancel (task);
    }
}
