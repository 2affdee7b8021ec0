/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * The process: its queue, its pump, and its neighbours.
 */
#include "iris/task/iris-process-private.h"

static void process_release_func (IrisProcess *self);

/**
 * IrisProcess:
 *
 * A task that works on messages, one after the other, with one function for all of them.
 *
 * Processes are joined to a chain by iris_process_connect(): the function of one hands messages on
 * to the next with iris_process_forward(), and may give itself more to do with
 * iris_process_recurse(). Running the head runs the whole chain. The process is over when it was
 * closed and everything was worked on; then the next one is closed. Cancelling one cancels all, and
 * one that fails (%IRIS_TASK_THROW_NEW) cancels the others.
 *
 * While the next one has too much to do, a process pauses; see iris_process_set_queue_limit(). A
 * process that has nothing to do costs nothing.
 */

G_DEFINE_TYPE_WITH_PRIVATE (IrisProcess, iris_process, IRIS_TYPE_TASK)

IrisProcessPrivate *
iris_process_get_private (IrisProcess *self)
{
  return iris_process_get_instance_private (self);
}

static void process_pump (gpointer data);
static void process_pump_dropped (gpointer data);

/* Under the lock. */
static bool
process_should_pump (IrisProcess *self)
{
  IrisProcessPrivate *priv = iris_process_get_private (self);

  return priv->running && !priv->pumping
         && (priv->queue.length > 0 || priv->closed || iris_task_is_cancelled (IRIS_TASK (self)));
}

static void
process_queue_pump (IrisProcess *self)
{
  IrisProcessPrivate *priv = iris_process_get_private (self);
  g_autoptr (IrisScheduler) keep = iris_task_dup_work_scheduler (IRIS_TASK (self));

  iris_item_init (&priv->pump, process_pump, g_object_ref (self), process_pump_dropped);
  iris_scheduler_queue_item (keep, &priv->pump);
}

static void
process_kick (IrisProcess *self)
{
  IrisProcessPrivate *priv = iris_process_get_private (self);
  bool pump;

  g_mutex_lock (&priv->lock);
  pump = process_should_pump (self);
  priv->pumping |= pump;
  g_mutex_unlock (&priv->lock);
  if (pump)
    process_queue_pump (self);
}

static IrisProcess *
process_dup_source (IrisProcess *self)
{
  return g_weak_ref_get (&iris_process_get_private (self)->source);
}

static void
process_drop_queue (IrisProcess *self)
{
  IrisProcessPrivate *priv = iris_process_get_private (self);
  GQueue dropped;

  g_mutex_lock (&priv->lock);
  dropped = priv->queue;
  g_queue_init (&priv->queue);
  g_mutex_unlock (&priv->lock);
  g_queue_clear_full (&dropped, (GDestroyNotify) iris_message_unref);
}

/* --- the pump --- */

static bool
process_must_end (IrisProcess *self)
{
  return iris_task_is_cancelled (IRIS_TASK (self))
         || iris_task_get_fatal_error (IRIS_TASK (self), NULL);
}

/* Is there room in the sink? If not, the pump is stopped, and the sink will kick. */
static bool
process_has_room (IrisProcess *self)
{
  IrisProcessPrivate *priv = iris_process_get_private (self);
  IrisProcessPrivate *sink;
  bool full;

  if (priv->sink == NULL)
    return true;
  sink = iris_process_get_private (priv->sink);
  g_mutex_lock (&sink->lock);
  full = sink->queue.length >= sink->limit && sink->running;
  g_mutex_unlock (&sink->lock);
  if (!full)
    return true;

  /* Stopped first, so that a kick is heard; then the mark, and another look. */
  g_mutex_lock (&priv->lock);
  priv->pumping = false;
  g_mutex_unlock (&priv->lock);
  g_mutex_lock (&sink->lock);
  full = sink->queue.length >= sink->limit && sink->running;
  sink->source_waits = full;
  g_mutex_unlock (&sink->lock);
  /* A kick came before it stopped, perhaps. */
  if (!full || process_must_end (self))
    process_kick (self);

  return false;
}

static void
process_work_on (IrisProcess *self, IrisMessage *work_item)
{
  IrisProcessPrivate *priv = iris_process_get_private (self);

  if (priv->func != NULL)
    priv->func (self, work_item, priv->data);
  else if (priv->closure != NULL)
    {
      GValue values[2] = { G_VALUE_INIT, G_VALUE_INIT };

      g_value_init (&values[0], IRIS_TYPE_PROCESS);
      g_value_set_object (&values[0], self);
      g_value_init (&values[1], IRIS_TYPE_MESSAGE);
      g_value_set_boxed (&values[1], work_item);
      g_closure_invoke (priv->closure, NULL, 2, values, NULL);
      g_value_unset (&values[0]);
      g_value_unset (&values[1]);
    }
  iris_message_unref (work_item);
}

static IrisMessage *
process_take (IrisProcess *self, bool *kick_source)
{
  IrisProcessPrivate *priv = iris_process_get_private (self);
  IrisMessage *work_item;

  g_mutex_lock (&priv->lock);
  work_item = g_queue_pop_head (&priv->queue);
  *kick_source = priv->source_waits && priv->queue.length <= priv->limit / 2;
  if (*kick_source)
    priv->source_waits = false;
  g_mutex_unlock (&priv->lock);

  return work_item;
}

/* Works on one item; FALSE: there is none, or something stands in the way. */
static bool
process_work_once (IrisProcess *self)
{
  IrisProcessPrivate *priv = iris_process_get_private (self);
  g_autoptr (IrisProcess) source = NULL;
  IrisMessage *work_item;
  bool kick_source;

  work_item = process_take (self, &kick_source);
  if (kick_source && (source = process_dup_source (self)) != NULL)
    process_kick (source);
  if (work_item == NULL)
    return false;
  process_work_on (self, work_item);
  g_mutex_lock (&priv->lock);
  priv->processed++;
  g_mutex_unlock (&priv->lock);
  iris_process_tell_watches (self);

  return true;
}

/* The pump goes on, ends the process, or stops until it is kicked. */
static void
process_go_on (IrisProcess *self, bool must_end)
{
  IrisProcessPrivate *priv = iris_process_get_private (self);
  bool over, again;

  g_mutex_lock (&priv->lock);
  over = must_end || (priv->closed && priv->queue.length == 0);
  again = !over && priv->queue.length > 0;
  priv->pumping = over || again; /* no thread kicks what is over */
  g_mutex_unlock (&priv->lock);
  if (over)
    iris_task_work_finished (IRIS_TASK (self));
  else if (again)
    process_queue_pump (self);
  else if (process_must_end (self))
    process_kick (self); /* cancelled while it stopped */
}

static void
process_pump (gpointer data)
{
  g_autoptr (IrisProcess) self = data;
  bool must_end = process_must_end (self);

  for (guint i = 0; !must_end && i < IRIS_PROCESS_BATCH; i++)
    {
      if (!process_has_room (self))
        return;
      if (!process_work_once (self))
        break;
      must_end = process_must_end (self);
    }
  process_go_on (self, must_end);
}

/* The scheduler was shut down. */
static void
process_pump_dropped (gpointer data)
{
  g_autoptr (IrisProcess) self = data;

  iris_task_cancel (IRIS_TASK (self));
  process_go_on (self, true);
}

/* --- as a task --- */

static void
process_execute (IrisTask *task)
{
  IrisProcess *self = IRIS_PROCESS (task);
  IrisProcessPrivate *priv = iris_process_get_private (self);

  g_mutex_lock (&priv->lock);
  priv->running = true;
  g_mutex_unlock (&priv->lock);
  process_kick (self);
}

static void
process_cancelled (IrisTask *task)
{
  process_kick (IRIS_PROCESS (task));
}

/* The rest is dropped, and the neighbours learn of it. */
static void
process_ended (IrisTask *task)
{
  IrisProcess *self = IRIS_PROCESS (task);
  IrisProcessPrivate *priv = iris_process_get_private (self);
  g_autoptr (IrisProcess) source = process_dup_source (self);

  g_mutex_lock (&priv->lock);
  priv->running = false;
  priv->closed = true;
  g_mutex_unlock (&priv->lock);
  process_drop_queue (self);
  iris_process_tell_watches_end (self);
  if (iris_task_has_succeeded (task))
    {
      if (priv->sink != NULL)
        iris_process_close (priv->sink);
      return;
    }
  if (priv->sink != NULL)
    iris_task_cancel (IRIS_TASK (priv->sink));
  if (source != NULL)
    iris_task_cancel (IRIS_TASK (source));
}

static void
iris_process_finalize (GObject *object)
{
  IrisProcess *self = IRIS_PROCESS (object);
  IrisProcessPrivate *priv = iris_process_get_private (self);

  process_drop_queue (self);
  process_release_func (self);
  g_clear_object (&priv->sink);
  g_weak_ref_clear (&priv->source);
  g_ptr_array_unref (priv->watches);
  g_mutex_clear (&priv->lock);

  G_OBJECT_CLASS (iris_process_parent_class)->finalize (object);
}

static void
iris_process_class_init (IrisProcessClass *klass)
{
  G_OBJECT_CLASS (klass)->finalize = iris_process_finalize;
  IRIS_TASK_CLASS (klass)->execute = process_execute;
  IRIS_TASK_CLASS (klass)->cancelled = process_cancelled;
  IRIS_TASK_CLASS (klass)->ended = process_ended;
}

static void
iris_process_init (IrisProcess *self)
{
  IrisProcessPrivate *priv = iris_process_get_private (self);

  g_mutex_init (&priv->lock);
  g_queue_init (&priv->queue);
  g_weak_ref_init (&priv->source, NULL);
  priv->limit = IRIS_PROCESS_QUEUE_LIMIT;
  priv->factor = 1;
  priv->watches = g_ptr_array_new_with_free_func (g_object_unref);
  iris_task_get_private (IRIS_TASK (self))->is_async = true;
  iris_task_set_progress_mode (IRIS_TASK (self), IRIS_PROGRESS_DISCRETE);
}

/* --- its course --- */

/**
 * iris_process_connect:
 * @head: a process that was not run yet and has no sink
 * @tail: a process that was not run yet and has no source
 *
 * Makes @tail the sink of @head, which holds it from then on.
 */
void
iris_process_connect (IrisProcess *head, IrisProcess *tail)
{
  g_return_if_fail (IRIS_IS_PROCESS (head) && IRIS_IS_PROCESS (tail));
  g_return_if_fail (iris_task_get_state (IRIS_TASK (head)) == IRIS_TASK_STATE_CONSTRUCTED);
  g_return_if_fail (iris_task_get_state (IRIS_TASK (tail)) == IRIS_TASK_STATE_CONSTRUCTED);
  g_return_if_fail (!iris_process_has_sink (head) && !iris_process_has_source (tail));
  for (IrisProcess *next = tail; next != NULL; next = iris_process_get_sink (next))
    g_return_if_fail (next != head);

  iris_process_get_private (head)->sink = g_object_ref (tail);
  g_weak_ref_set (&iris_process_get_private (tail)->source, head);
}

/**
 * iris_process_run:
 * @self: a process that was not run yet
 *
 * Runs the process and those that follow it in its chain.
 */
void
iris_process_run (IrisProcess *self)
{
  g_autoptr (IrisProcess) process = NULL;

  g_return_if_fail (IRIS_IS_PROCESS (self));

  /* The last first, so that none is closed or fed before it runs. */
  if (iris_process_has_sink (self))
    {
      process = g_object_ref (iris_process_get_sink (self));
      if (iris_task_get_state (IRIS_TASK (process)) == IRIS_TASK_STATE_CONSTRUCTED)
        iris_process_run (process);
    }
  iris_task_run (IRIS_TASK (self));
}

/**
 * iris_process_cancel:
 *
 * Cancels the process and with it its chain. Messages that wait are dropped.
 */
void
iris_process_cancel (IrisProcess *self)
{
  g_return_if_fail (IRIS_IS_PROCESS (self));

  iris_task_cancel (IRIS_TASK (self));
}

/**
 * iris_process_close:
 *
 * Says that nothing more will be enqueued. When everything that was is done, the process is over,
 * and the next of its chain is closed.
 */
void
iris_process_close (IrisProcess *self)
{
  IrisProcessPrivate *priv;

  g_return_if_fail (IRIS_IS_PROCESS (self));

  priv = iris_process_get_private (self);
  g_mutex_lock (&priv->lock);
  priv->closed = true;
  g_mutex_unlock (&priv->lock);
  process_kick (self);
}

typedef enum
{
  ACCEPTED,
  FULL,
  CLOSED,
} Accepted;

static Accepted
process_push (IrisProcess *self, IrisMessage *work_item, bool from_itself, bool limited)
{
  IrisProcessPrivate *priv = iris_process_get_private (self);
  Accepted accepted = ACCEPTED;
  bool pump = false;

  g_mutex_lock (&priv->lock);
  if (iris_task_state_is_over (iris_task_get_state (IRIS_TASK (self)))
      || (priv->closed && !from_itself))
    accepted = CLOSED;
  else if (limited && priv->queue.length >= priv->limit)
    accepted = FULL;
  else
    {
      g_queue_push_tail (&priv->queue, iris_message_ref_sink (work_item));
      priv->total++;
      pump = process_should_pump (self);
      priv->pumping |= pump;
    }
  g_mutex_unlock (&priv->lock);
  if (pump)
    process_queue_pump (self);

  return accepted;
}

/* A dropped message is freed, floating or not. */
static void
drop_message (IrisMessage *work_item)
{
  iris_message_unref (iris_message_ref_sink (work_item));
}

/**
 * iris_process_enqueue:
 * @self: a process that was not closed
 * @work_item: a message; its reference is taken if it floats
 *
 * Gives the process something to do. It always fits; where there may be more than the process can
 * do, use iris_process_try_enqueue(). If the process was cancelled, the message is dropped.
 */
void
iris_process_enqueue (IrisProcess *self, IrisMessage *work_item)
{
  g_return_if_fail (IRIS_IS_PROCESS (self));
  g_return_if_fail (work_item != NULL);

  if (process_push (self, work_item, false, false) == ACCEPTED)
    return;
  drop_message (work_item);
  if (!iris_task_state_is_over (iris_task_get_state (IRIS_TASK (self))))
    g_critical ("iris: a process that was closed takes no more work");
}

/**
 * iris_process_try_enqueue:
 * @work_item: a message; its reference is taken if it floats and is accepted
 *
 * Gives the process something to do, if there is room. Fails with %G_IO_ERROR_WOULD_BLOCK if as
 * many wait as iris_process_set_queue_limit() allows, and with %G_IO_ERROR_CLOSED if the process
 * was closed or is over.
 *
 * Returns: whether @work_item was accepted
 */
gboolean
iris_process_try_enqueue (IrisProcess *self, IrisMessage *work_item, GError **error)
{
  g_return_val_if_fail (IRIS_IS_PROCESS (self), FALSE);
  g_return_val_if_fail (work_item != NULL, FALSE);

  switch (process_push (self, work_item, false, true))
    {
    case ACCEPTED:
      return TRUE;
    case FULL:
      g_set_error (error, G_IO_ERROR, G_IO_ERROR_WOULD_BLOCK,
                   "As many work items wait as may, %u; try again later, or raise the limit with "
                   "iris_process_set_queue_limit()",
                   iris_process_get_private (self)->limit);
      return FALSE;
    default:
      g_set_error_literal (error, G_IO_ERROR, G_IO_ERROR_CLOSED,
                           "The process was closed, and takes no more work items");
      return FALSE;
    }
}

/**
 * iris_process_forward:
 * @self: a process with a sink, in its function
 * @work_item: a message; its reference is taken if it floats
 *
 * Hands a message on to the next process of the chain.
 */
void
iris_process_forward (IrisProcess *self, IrisMessage *work_item)
{
  IrisProcess *sink;

  g_return_if_fail (IRIS_IS_PROCESS (self));
  g_return_if_fail (work_item != NULL);

  sink = iris_process_get_sink (self);
  g_return_if_fail (sink != NULL);

  if (process_push (sink, work_item, true, false) != ACCEPTED)
    drop_message (work_item);
}

/**
 * iris_process_recurse:
 * @self: a process, in its function
 * @work_item: a message; its reference is taken if it floats
 *
 * Gives the process more to do, also when it was closed.
 */
void
iris_process_recurse (IrisProcess *self, IrisMessage *work_item)
{
  g_return_if_fail (IRIS_IS_PROCESS (self));
  g_return_if_fail (work_item != NULL);

  if (process_push (self, work_item, true, false) != ACCEPTED)
    drop_message (work_item);
}

static void
process_release_func (IrisProcess *self)
{
  IrisProcessPrivate *priv = iris_process_get_private (self);

  if (priv->notify != NULL)
    priv->notify (priv->data);
  priv->func = NULL;
  priv->notify = NULL;
  g_clear_pointer (&priv->closure, g_closure_unref);
}

/**
 * iris_process_new:
 * @func: (nullable) (scope notified) (closure user_data) (destroy notify): the work on an item
 * @user_data: (nullable): for @func
 * @notify: (nullable): called with @user_data when the process is freed
 *
 * Returns: (transfer full): a process
 */
IrisProcess *
iris_process_new (IrisProcessFunc func, gpointer user_data, GDestroyNotify notify)
{
  IrisProcess *self = g_object_new (IRIS_TYPE_PROCESS, NULL);

  iris_process_set_func (self, func, user_data, notify);

  return self;
}

/**
 * iris_process_new_with_func: (skip)
 * @func: (nullable) (scope notified) (closure user_data) (destroy notify): the work on an item
 * @user_data: (nullable): for @func
 * @notify: (nullable): called with @user_data when the process is freed
 *
 * Another name of iris_process_new().
 *
 * Returns: (transfer full): a process
 */
IrisProcess *
iris_process_new_with_func (IrisProcessFunc func, gpointer user_data, GDestroyNotify notify)
{
  return iris_process_new (func, user_data, notify);
}

/**
 * iris_process_new_with_closure:
 * @closure: the work on an item; it is called with the process and the message
 *
 * Returns: (transfer full): a process
 */
IrisProcess *
iris_process_new_with_closure (GClosure *closure)
{
  IrisProcess *self = g_object_new (IRIS_TYPE_PROCESS, NULL);

  iris_process_set_closure (self, closure);

  return self;
}

/**
 * iris_process_set_func:
 * @self: a process that was not run yet
 * @func: (nullable) (scope notified) (closure user_data) (destroy notify): the work on an item
 * @user_data: (nullable): for @func
 * @notify: (nullable): called with @user_data when the process is freed
 *
 * Sets the work, in place of what it was.
 */
void
iris_process_set_func (IrisProcess *self,
                       IrisProcessFunc func,
                       gpointer user_data,
                       GDestroyNotify notify)
{
  IrisProcessPrivate *priv;

  g_return_if_fail (IRIS_IS_PROCESS (self));
  g_return_if_fail (iris_task_get_state (IRIS_TASK (self)) == IRIS_TASK_STATE_CONSTRUCTED);

  priv = iris_process_get_private (self);
  process_release_func (self);
  priv->func = func;
  priv->data = user_data;
  priv->notify = notify;
}

/**
 * iris_process_set_closure:
 * @self: a process that was not run yet
 * @closure: the work on an item; it is called with the process and the message
 *
 * Sets the work, in place of what it was.
 */
void
iris_process_set_closure (IrisProcess *self, GClosure *closure)
{
  g_return_if_fail (IRIS_IS_PROCESS (self));
  g_return_if_fail (closure != NULL);
  g_return_if_fail (iris_task_get_state (IRIS_TASK (self)) == IRIS_TASK_STATE_CONSTRUCTED);

  process_release_func (self);
  iris_process_get_private (self)->closure = g_closure_ref (closure);
  g_closure_sink (closure);
  if (G_CLOSURE_NEEDS_MARSHAL (closure))
    g_closure_set_marshal (closure, g_cclosure_marshal_VOID__BOXED);
}

/**
 * iris_process_set_queue_limit:
 * @self: a process that was not run yet
 * @limit: how many work items may wait, at least 1
 *
 * Sets how many items may wait before the process that feeds this one pauses, and before
 * iris_process_try_enqueue() refuses; %IRIS_PROCESS_QUEUE_LIMIT if it is not set. What one item
 * makes its function forward is never refused, so a few more may wait than that.
 */
void
iris_process_set_queue_limit (IrisProcess *self, guint limit)
{
  g_return_if_fail (IRIS_IS_PROCESS (self));
  g_return_if_fail (limit > 0);
  g_return_if_fail (iris_task_get_state (IRIS_TASK (self)) == IRIS_TASK_STATE_CONSTRUCTED);

  iris_process_get_private (self)->limit = limit;
}

/**
 * iris_process_is_open:
 *
 * Tells whether it takes more work.
 */
gboolean
iris_process_is_open (IrisProcess *self)
{
  IrisProcessPrivate *priv;
  gboolean open;

  g_return_val_if_fail (IRIS_IS_PROCESS (self), FALSE);

  priv = iris_process_get_private (self);
  g_mutex_lock (&priv->lock);
  open = !priv->closed;
  g_mutex_unlock (&priv->lock);

  return open;
}

/**
 * iris_process_is_executing:
 *
 * Tells whether it was run and is not over.
 */
gboolean
iris_process_is_executing (IrisProcess *self)
{
  return iris_task_is_executing (IRIS_TASK (self));
}

/**
 * iris_process_is_finished:
 *
 * Tells whether it is over, well or not, and was not cancelled.
 */
gboolean
iris_process_is_finished (IrisProcess *self)
{
  return iris_task_is_finished (IRIS_TASK (self));
}

/**
 * iris_process_is_cancelled:
 *
 * Tells whether it was cancelled.
 */
gboolean
iris_process_is_cancelled (IrisProcess *self)
{
  return iris_task_is_cancelled (IRIS_TASK (self));
}

/**
 * iris_process_has_succeeded:
 *
 * Tells whether it is over, without an error.
 */
gboolean
iris_process_has_succeeded (IrisProcess *self)
{
  return iris_task_has_succeeded (IRIS_TASK (self));
}

/**
 * iris_process_has_failed:
 *
 * Tells whether it is over, with an error.
 */
gboolean
iris_process_has_failed (IrisProcess *self)
{
  return iris_task_has_failed (IRIS_TASK (self));
}

/**
 * iris_process_has_source:
 *
 * Tells whether a process that is still there feeds this one.
 */
gboolean
iris_process_has_source (IrisProcess *self)
{
  return iris_process_get_source (self) != NULL;
}

/**
 * iris_process_has_sink:
 *
 * Tells whether it feeds another.
 */
gboolean
iris_process_has_sink (IrisProcess *self)
{
  return iris_process_get_sink (self) != NULL;
}

/**
 * iris_process_get_source:
 *
 * Returns: (transfer none) (nullable): the process that feeds this one, or %NULL; who uses it must
 *   know that it stays, since this one does not hold it
 */
IrisProcess *
iris_process_get_source (IrisProcess *self)
{
  g_autoptr (IrisProcess) source = NULL;

  g_return_val_if_fail (IRIS_IS_PROCESS (self), NULL);

  source = g_weak_ref_get (&iris_process_get_private (self)->source);

  return source;
}

/**
 * iris_process_get_sink:
 *
 * Returns: (transfer none) (nullable): the process that this one feeds, or %NULL
 */
IrisProcess *
iris_process_get_sink (IrisProcess *self)
{
  g_return_val_if_fail (IRIS_IS_PROCESS (self), NULL);

  return iris_process_get_private (self)->sink;
}

/**
 * iris_process_get_queue_length:
 *
 * Tells how many work items wait in it.
 */
guint
iris_process_get_queue_length (IrisProcess *self)
{
  IrisProcessPrivate *priv;
  guint length;

  g_return_val_if_fail (IRIS_IS_PROCESS (self), 0);

  priv = iris_process_get_private (self);
  g_mutex_lock (&priv->lock);
  length = priv->queue.length;
  g_mutex_unlock (&priv->lock);

  return length;
}

static void
process_count (IrisProcess *self, guint *processed, guint *total)
{
  IrisProcessPrivate *priv = iris_process_get_private (self);

  g_mutex_lock (&priv->lock);
  *processed = priv->processed;
  *total = priv->total;
  g_mutex_unlock (&priv->lock);
}

/**
 * iris_process_get_status:
 * @processed_items: (out) (optional): how many items it has worked on
 * @total_items: (out) (optional): how many there are, as far as is known
 *
 * Says how far the process has come. The total includes an estimate of what the processes before
 * it will still hand on; see iris_process_set_output_estimation().
 */
void
iris_process_get_status (IrisProcess *self, int *processed_items, int *total_items)
{
  g_autoptr (IrisProcess) source = NULL;
  guint processed, total;
  double estimate = 0, factor = 1;

  g_return_if_fail (IRIS_IS_PROCESS (self));

  process_count (self, &processed, &total);
  source = g_weak_ref_get (&iris_process_get_private (self)->source);
  while (source != NULL)
    {
      IrisProcess *before = g_weak_ref_get (&iris_process_get_private (source)->source);
      guint source_processed, source_total;

      process_count (source, &source_processed, &source_total);
      factor *= iris_process_get_private (source)->factor;
      estimate += factor * (source_total - source_processed);
      g_object_unref (source);
      source = before;
    }
  if (processed_items != NULL)
    *processed_items = (int) MIN (processed, G_MAXINT);
  if (total_items != NULL)
    *total_items = (int) MIN (total + estimate, G_MAXINT);
}

/**
 * iris_process_get_title:
 *
 * Returns: (transfer none) (nullable): what the process is called, or %NULL
 */
const char *
iris_process_get_title (IrisProcess *self)
{
  IrisProcessPrivate *priv;
  const char *title;

  g_return_val_if_fail (IRIS_IS_PROCESS (self), NULL);

  priv = iris_process_get_private (self);
  g_mutex_lock (&priv->lock);
  title = priv->title;
  g_mutex_unlock (&priv->lock);

  return title;
}

/**
 * iris_process_set_output_estimation:
 * @self: a process that was not run yet
 * @factor: how many items it hands on for each that it works on, about; 1 if it is not set
 *
 * Helps to say how far those that follow in the chain have come.
 */
void
iris_process_set_output_estimation (IrisProcess *self, float factor)
{
  g_return_if_fail (IRIS_IS_PROCESS (self));
  g_return_if_fail (factor >= 0);

  iris_process_get_private (self)->factor = factor;
}
