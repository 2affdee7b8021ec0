/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * Dependencies: which task waits for which, and what an end means to the tasks that waited.
 *
 * All edges are under one lock, for two reasons: a cycle that two threads would close from two
 * sides must be seen by one of them, and a dependent and its dependency may leave at the same time.
 * The lock is held while links are changed or followed, and while nothing else is called. Within
 * it a task's own lock is never taken.
 */
#include "iris/task/iris-task-private.h"

static GMutex graph_lock;

typedef struct
{
  IrisTask *dependency; /* owns the edge */
  IrisTask *dependent;  /* owned by the edge */
  GList of_dependency;  /* in its `dependents` */
  GList of_dependent;   /* in its `dependencies` */
} Edge;

static Edge *
edge_at (GList *link)
{
  return link->data;
}

/* Is there a way from one task down to another? Under the lock of the graph. */
static bool
leads_to (IrisTask *from, IrisTask *to)
{
  g_autoptr (GHashTable) seen = NULL;
  g_autoptr (GPtrArray) ahead = NULL;

  if (from == to)
    return true;
  if (g_queue_is_empty (&iris_task_get_private (from)->dependents))
    return false;
  seen = g_hash_table_new (NULL, NULL);
  ahead = g_ptr_array_new ();
  g_ptr_array_add (ahead, from);
  while (ahead->len > 0)
    {
      IrisTask *task = g_ptr_array_steal_index_fast (ahead, ahead->len - 1);
      GQueue *dependents = &iris_task_get_private (task)->dependents;

      for (GList *link = dependents->head; link != NULL; link = link->next)
        {
          IrisTask *next = edge_at (link)->dependent;

          if (next == to)
            return true;
          if (g_hash_table_add (seen, next))
            g_ptr_array_add (ahead, next);
        }
    }

  return false;
}

typedef enum
{
  ADDED,
  CYCLE,
  OVER, /* one of the two is over */
} Added;

static Added
graph_add (IrisTask *dependent, IrisTask *dependency)
{
  IrisTaskPrivate *to = iris_task_get_private (dependent);
  IrisTaskPrivate *from = iris_task_get_private (dependency);
  Edge *edge = g_new0 (Edge, 1);
  Added added;

  edge->of_dependency.data = edge->of_dependent.data = edge;
  edge->dependency = dependency;
  edge->dependent = g_object_ref (dependent);
  g_mutex_lock (&graph_lock);
  atomic_store_explicit (&to->linked, true, memory_order_seq_cst);
  atomic_store_explicit (&from->linked, true, memory_order_seq_cst);
  if (leads_to (dependent, dependency))
    added = CYCLE;
  else if (iris_task_is_over (from) || iris_task_is_over (to))
    added = OVER;
  else
    {
      added = ADDED;
      g_queue_push_tail_link (&from->dependents, &edge->of_dependency);
      g_queue_push_tail_link (&to->dependencies, &edge->of_dependent);
    }
  g_mutex_unlock (&graph_lock);
  if (added != ADDED)
    {
      g_object_unref (dependent);
      g_free (edge);
    }

  return added;
}

/* --- what an end means --- */

typedef struct
{
  IrisTaskState state; /* CONSTRUCTED: it never ran */
  GValue value;
  GError *error;
} Outcome;

static void
outcome_of (IrisTask *task, Outcome *outcome)
{
  outcome->state = iris_task_state (iris_task_get_private (task));
  if (!iris_task_state_is_over (outcome->state))
    {
      outcome->error = g_error_new_literal (
          IRIS_TASK_ERROR, IRIS_TASK_ERROR_ABANDONED,
          "a task that others depend on was freed before it was run; run it, or keep a reference "
          "until its dependents are over");
      outcome->state = IRIS_TASK_STATE_FAILED;
    }
  else if (outcome->state != IRIS_TASK_STATE_CANCELLED)
    iris_task_copy_outcome (task, &outcome->value, &outcome->error);
}

/* The task takes an outcome, and gives its former one for it. */
static void
swap_outcome (IrisTaskPrivate *priv, Outcome *outcome)
{
  GValue value = priv->result;
  GError *error = priv->error;

  priv->result = outcome->value;
  priv->error = outcome->error;
  outcome->value = value;
  outcome->error = error;
}

/* What the state becomes, the task's lock being held; the present one: nothing changes. */
static IrisTaskState
next_state_all (IrisTaskPrivate *priv, IrisTaskState state, Outcome *outcome)
{
  if (outcome->state == IRIS_TASK_STATE_CANCELLED)
    return IRIS_TASK_STATE_CANCELLED;
  priv->n_missing--;
  if (outcome->state == IRIS_TASK_STATE_FAILED && !priv->settled)
    {
      priv->settled = true;
      swap_outcome (priv, outcome);
    }
  if (state == IRIS_TASK_STATE_CONSTRUCTED || (!priv->settled && priv->n_missing > 0))
    return state;

  return priv->settled || priv->only_waits ? IRIS_TASK_STATE_CALLBACKS : IRIS_TASK_STATE_QUEUED;
}

static IrisTaskState
next_state_any (IrisTaskPrivate *priv, IrisTaskState state, Outcome *outcome)
{
  bool last = --priv->n_missing == 0;

  if (priv->settled)
    return state;
  if (outcome->state == IRIS_TASK_STATE_CANCELLED)
    {
      /* All the others failed or were cancelled too: an error says more. */
      if (last && priv->error == NULL)
        return IRIS_TASK_STATE_CANCELLED;
    }
  else
    swap_outcome (priv, outcome);
  priv->settled = last || outcome->state == IRIS_TASK_STATE_FINISHED;

  return priv->settled && state != IRIS_TASK_STATE_CONSTRUCTED ? IRIS_TASK_STATE_CALLBACKS : state;
}

static IrisTaskState
next_state (IrisTaskPrivate *priv, IrisTask *dependency, Outcome *outcome)
{
  IrisTaskState state = iris_task_state (priv);

  if (state == IRIS_TASK_STATE_WAITING && priv->waiting_on != NULL)
    {
      /* A dependency that a dependent did not wait for to its end. */
      if (priv->waiting_on != dependency)
        return state;
      priv->waiting_on = NULL;
      if (outcome->state == IRIS_TASK_STATE_CANCELLED)
        return IRIS_TASK_STATE_CANCELLED;
      swap_outcome (priv, outcome);
      return IRIS_TASK_STATE_CALLBACKS;
    }
  if (state != IRIS_TASK_STATE_CONSTRUCTED && state != IRIS_TASK_STATE_WAITING)
    return state;

  return priv->need == IRIS_TASK_NEEDS_ALL ? next_state_all (priv, state, outcome)
                                           : next_state_any (priv, state, outcome);
}

/* Returns whether the task is over by that, and is to be told about: by the caller, since a chain
 * of such ends must not be a chain of calls. */
static bool
dependency_is_over (IrisTask *self, IrisTask *dependency)
{
  IrisTaskPrivate *priv = iris_task_get_private (self);
  Outcome outcome = { .value = G_VALUE_INIT };
  IrisTaskHandler *handlers = NULL;
  g_autoptr (IrisTask) returned = NULL;
  IrisTaskState before, after;

  /* Before the lock is taken, since copying calls out. */
  outcome_of (dependency, &outcome);
  g_mutex_lock (&priv->lock);
  before = iris_task_state (priv);
  after = next_state (priv, dependency, &outcome);
  if (after != before)
    iris_task_enter (priv, after);
  if (before == IRIS_TASK_STATE_WAITING && after != before)
    returned = g_steal_pointer (&priv->returned);
  if (after != before && after == IRIS_TASK_STATE_CALLBACKS
      && iris_task_end_without_handlers (priv))
    after = iris_task_state (priv);
  if (after != before && after == IRIS_TASK_STATE_CANCELLED)
    {
      handlers = iris_task_steal_handlers (priv);
      if (priv->n_blocked > 0)
        g_cond_broadcast (&priv->over);
    }
  g_mutex_unlock (&priv->lock);
  iris_task_discard (&outcome.value, outcome.error);
  iris_task_free_handlers (handlers);
  if (after == before)
    return false;
  if (after == IRIS_TASK_STATE_QUEUED)
    iris_task_queue_work (self);
  else if (after == IRIS_TASK_STATE_CALLBACKS)
    iris_task_begin_handlers (self, false);

  return iris_task_state_is_over (after);
}

void
iris_task_graph_leave (IrisTask *self, GQueue *over)
{
  IrisTaskPrivate *priv = iris_task_get_private (self);
  GQueue dependents, dependencies;
  GList *link;

  /* An edge that is in no queue of its dependency belongs to the thread that took it out. */
  g_mutex_lock (&graph_lock);
  dependents = priv->dependents;
  dependencies = priv->dependencies;
  g_queue_init (&priv->dependents);
  g_queue_init (&priv->dependencies);
  for (link = dependents.head; link != NULL; link = link->next)
    g_queue_unlink (&iris_task_get_private (edge_at (link)->dependent)->dependencies,
                    &edge_at (link)->of_dependent);
  for (link = dependencies.head; link != NULL; link = link->next)
    g_queue_unlink (&iris_task_get_private (edge_at (link)->dependency)->dependents,
                    &edge_at (link)->of_dependency);
  g_mutex_unlock (&graph_lock);

  while ((link = g_queue_pop_head_link (&dependencies)) != NULL)
    {
      g_object_unref (self);
      g_free (edge_at (link));
    }
  while ((link = g_queue_pop_head_link (&dependents)) != NULL)
    {
      IrisTask *dependent = edge_at (link)->dependent;

      g_free (edge_at (link));
      if (dependency_is_over (dependent, self))
        g_queue_push_tail (over, dependent);
      else
        g_object_unref (dependent);
    }
}

void
iris_task_wait_for_returned (IrisTask *self)
{
  IrisTaskPrivate *priv = iris_task_get_private (self);
  g_autoptr (IrisTask) keep = g_object_ref (self); /* it may be cancelled as soon as it waits */
  g_autoptr (IrisTask) other = g_object_ref (priv->returned);
  Added added;

  priv->waiting_on = other;
  iris_task_enter (priv, IRIS_TASK_STATE_WAITING);
  g_mutex_unlock (&priv->lock);

  added = graph_add (keep, other);
  if (added == CYCLE)
    {
      Outcome outcome = { .value = G_VALUE_INIT };
      g_autoptr (IrisTask) returned = NULL;
      bool goes_on;

      outcome.error = g_error_new_literal (IRIS_TASK_ERROR, IRIS_TASK_ERROR_CYCLE,
                                           "a task returned a task that waits for it, which closes "
                                           "a cycle; return one that does not depend on it");
      g_mutex_lock (&priv->lock);
      goes_on = iris_task_state (priv) == IRIS_TASK_STATE_WAITING;
      if (goes_on)
        {
          iris_task_enter (priv, IRIS_TASK_STATE_CALLBACKS);
          priv->waiting_on = NULL;
          returned = g_steal_pointer (&priv->returned);
          swap_outcome (priv, &outcome);
        }
      g_mutex_unlock (&priv->lock);
      iris_task_discard (&outcome.value, outcome.error);
      if (goes_on)
        iris_task_begin_handlers (self, false);
      return;
    }
  if (iris_task_get_state (other) == IRIS_TASK_STATE_CONSTRUCTED)
    iris_task_run (other);
  if (added == OVER && iris_task_is_over (iris_task_get_private (other))
      && dependency_is_over (self, other))
    iris_task_tell (self);
}

/* --- adding --- */

/**
 * iris_task_try_add_dependency:
 * @self: a task that was not run yet
 * @dependency: a task
 *
 * Makes @self wait for @dependency when it is run. If @dependency fails, so does @self, with the
 * same error and without having worked: its errbacks run. If @dependency is cancelled, so is @self.
 * If @dependency is freed and never ran, @self fails with %IRIS_TASK_ERROR_ABANDONED. Nothing runs
 * @dependency by that.
 *
 * Fails with %IRIS_TASK_ERROR_CYCLE if @dependency waits, directly or not, for @self, and with
 * %IRIS_TASK_ERROR_LATE if @self was run already.
 *
 * Returns: whether the dependency was added
 */
gboolean
iris_task_try_add_dependency (IrisTask *self, IrisTask *dependency, GError **error)
{
  IrisTaskPrivate *priv;
  bool early;
  Added added;

  g_return_val_if_fail (IRIS_IS_TASK (self), FALSE);
  g_return_val_if_fail (IRIS_IS_TASK (dependency), FALSE);

  priv = iris_task_get_private (self);
  g_mutex_lock (&priv->lock);
  early = iris_task_state (priv) == IRIS_TASK_STATE_CONSTRUCTED;
  if (early)
    priv->n_missing++;
  g_mutex_unlock (&priv->lock);
  /* A cancelled one has nothing to wait for, and did nothing wrong. */
  if (!early && iris_task_state (priv) == IRIS_TASK_STATE_CANCELLED)
    return TRUE;
  if (!early)
    {
      g_set_error_literal (error, IRIS_TASK_ERROR, IRIS_TASK_ERROR_LATE,
                           "the dependency comes too late: add it before the task is run");
      return FALSE;
    }

  added = graph_add (self, dependency);
  if (added == CYCLE)
    {
      g_mutex_lock (&priv->lock);
      priv->n_missing--;
      g_mutex_unlock (&priv->lock);
      g_set_error_literal (error, IRIS_TASK_ERROR, IRIS_TASK_ERROR_CYCLE,
                           "the dependency would close a cycle: it waits for the task that is to "
                           "depend on it; leave it out");
      return FALSE;
    }
  if (added == OVER && iris_task_is_over (iris_task_get_private (dependency))
      && dependency_is_over (self, dependency))
    iris_task_tell (self);

  return TRUE;
}

/**
 * iris_task_add_dependency:
 * @self: a task that was not run yet
 * @dependency: a task
 *
 * As iris_task_try_add_dependency(), for programs to which a refusal is a mistake of their own: it
 * is logged as critical.
 *
 * Returns: whether the dependency was added
 */
gboolean
iris_task_add_dependency (IrisTask *self, IrisTask *dependency)
{
  g_autoptr (GError) error = NULL;

  if (iris_task_try_add_dependency (self, dependency, &error))
    return TRUE;
  if (error != NULL)
    g_critical ("iris: %s", error->message);

  return FALSE;
}

/* --- tasks that wait for others: for all of them, or for the first --- */

static IrisTask *
group_new (IrisTaskNeed need)
{
  IrisTask *self = iris_task_new (NULL, NULL, NULL);
  IrisTaskPrivate *priv = iris_task_get_private (self);

  priv->need = need;
  priv->only_waits = true;

  return self;
}

static IrisTask *
group_of_list (IrisTaskNeed need, GList *tasks)
{
  IrisTask *self = group_new (need);

  for (GList *link = tasks; link != NULL; link = link->next)
    iris_task_add_dependency (self, link->data);

  return self;
}

static IrisTask *
group_of_args (IrisTaskNeed need, IrisTask *first, va_list args)
{
  IrisTask *self = group_new (need);

  for (IrisTask *task = first; task != NULL; task = va_arg (args, IrisTask *))
    iris_task_add_dependency (self, task);

  return self;
}

/**
 * iris_task_all_of:
 * @tasks: (element-type IrisTask): tasks
 *
 * Makes a task that, when it is run, waits for all of @tasks. It fails with the error of the first
 * that fails, and is cancelled with the first that is cancelled. It has no result of its own.
 * It does not run @tasks. It needs no worker: without handlers it is over as soon as it is decided,
 * on the thread on which the last of @tasks ended.
 *
 * It has no work, so no thread on which that ends: without a main context and a control scheduler
 * of its own its handlers run on its work scheduler, which is the default one.
 *
 * Returns: (transfer full): a task
 */
IrisTask *
iris_task_all_of (GList *tasks)
{
  return group_of_list (IRIS_TASK_NEEDS_ALL, tasks);
}

/**
 * iris_task_any_of:
 * @tasks: (element-type IrisTask): tasks; at least one
 *
 * Makes a task that, when it is run, waits for the first of @tasks that ends well, and has the
 * result of that. It fails when none did, with the error of the last that failed, and is cancelled
 * when all were. It does not run @tasks, and the others go on.
 *
 * Returns: (transfer full): a task
 */
IrisTask *
iris_task_any_of (GList *tasks)
{
  g_return_val_if_fail (tasks != NULL, NULL);

  return group_of_list (IRIS_TASK_NEEDS_ANY, tasks);
}

/**
 * iris_task_vall_of: (skip)
 * @first_task: (nullable): a task, or %NULL for none
 * @...: tasks, and %NULL behind the last
 *
 * As iris_task_all_of().
 *
 * Returns: (transfer full): a task
 */
IrisTask *
iris_task_vall_of (IrisTask *first_task, ...)
{
  IrisTask *self;
  va_list args;

  va_start (args, first_task);
  self = group_of_args (IRIS_TASK_NEEDS_ALL, first_task, args);
  va_end (args);

  return self;
}

/**
 * iris_task_vany_of: (skip)
 * @...: tasks, and %NULL behind the last
 *
 * As iris_task_any_of().
 *
 * Returns: (transfer full): a task
 */
IrisTask *
iris_task_vany_of (IrisTask *first_task, ...)
{
  IrisTask *self;
  va_list args;

  g_return_val_if_fail (first_task != NULL, NULL);

  va_start (args, first_task);
  self = group_of_args (IRIS_TASK_NEEDS_ANY, first_task, args);
  va_end (args);

  return self;
}
