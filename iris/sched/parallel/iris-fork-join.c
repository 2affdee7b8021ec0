/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * Fork and join: the part that is not compiled into programs, and the doors to the schedulers.
 */
#include "iris/sched/iris-scheduler-private.h"
#include "iris/queue/deque/iris-fork-stack-private.h"
#include "iris/sched/parallel/iris-fork-join.h"
#include "iris/sched/schedulers/iris-gmainscheduler.h"

#include <stdlib.h>

/**
 * IrisForkJoin:
 *
 * A handle for forking: where on the stack of the calling worker the next fork goes.
 *
 * A function that forks has it as its first argument, by value. What it forks moves its own copy
 * on, and each join moves it back. A handle is used by the thread alone that was given it, and by
 * functions that return before the one that gave it.
 *
 * A fork costs about a nanosecond when no worker is idle. A join of a task that another worker has
 * taken runs other work meanwhile, but only such as descends from that very task; it sleeps when
 * there is none. Therefore joins cannot wait for each other in a circle, and the C stack of a
 * worker grows no deeper than that of the plain recursion, but for about 300 bytes for each task
 * that it ran while it waited. A task must not wait, by other means, for an item or a task that
 * its own worker would have to run.
 *
 * A worker holds 16383 forks that are not joined. When there are more, a fork calls its function
 * at once. So it does on every thread that is no worker of a scheduler of work-stealing places.
 */

/**
 * IrisForkTask:
 *
 * A fork, in the frame of the function that will join it. It needs not be initialised.
 */

static void
sequential_free (gpointer data)
{
  iris_fork_stack_clear (data);
  free (data);
}

/* Of a thread whose forks are calls. */
static IrisForkStack *
get_sequential (void)
{
  static GPrivate key = G_PRIVATE_INIT (sequential_free);
  IrisForkStack *stack = g_private_get (&key);

  if (stack != NULL)
    return stack;
  stack = aligned_alloc (IRIS_CACHE_PAIR, sizeof *stack);
  if (stack == NULL || !iris_fork_stack_init (stack, 0))
    g_error ("iris: out of memory for the forks of a thread");
  g_private_set (&key, stack);

  return stack;
}

/**
 * iris_fork_join_begin: (skip)
 *
 * A handle for the calling item, or for whatever else the calling thread does. It may be called
 * again and again, at any depth.
 *
 * Returns: (transfer none): the handle, for the calling thread, until the caller returns
 */
IrisForkJoin *
iris_fork_join_begin (void)
{
  IrisWorker *worker = iris_worker_mine;

  if (worker != NULL && worker->pool->ops->get_forks != NULL)
    return iris_fork_stack_get_handle (worker->pool->ops->get_forks (worker->pool, worker));

  return iris_fork_stack_get_handle (get_sequential ());
}

typedef struct
{
  IrisItem item;
  IrisForkFunc func;
  gpointer data;
  pthread_mutex_t lock;
  pthread_cond_t ended;
  bool has_ended;
  bool was_run;
} Call;

static void
call_end (Call *self, bool was_run)
{
  pthread_mutex_lock (&self->lock);
  self->has_ended = true;
  self->was_run = was_run;
  pthread_cond_signal (&self->ended);
  pthread_mutex_unlock (&self->lock);
}

static void
call_run (gpointer data)
{
  Call *self = data;

  self->func (iris_fork_join_begin (), self->data);
  call_end (self, true);
}

static void
call_cancel (gpointer data)
{
  call_end (data, false);
}

/* Whether the calling thread is one that runs the scheduler's items: it must not wait for one. */
static bool
is_inside (IrisScheduler *scheduler)
{
  IrisWorkerPool *pool = iris_scheduler_get_pool (scheduler);

  if (pool != NULL)
    return iris_worker_pool_current (pool) != NULL;

  return IRIS_IS_GMAINSCHEDULER (scheduler)
         && g_main_context_is_owner (
             iris_gmainscheduler_get_context (IRIS_GMAINSCHEDULER (scheduler)));
}

/**
 * iris_fork_join_run:
 * @func: (scope call) (closure data): the work
 * @data: (nullable): for @func
 *
 * Runs a function that forks, on a worker of a scheduler, and waits until it has returned.
 *
 * Called by an item of the scheduler, it calls @func directly. Any other thread sleeps meanwhile; a
 * worker of another scheduler, too, so two schedulers must not wait for each other.
 *
 * Only a scheduler of work-stealing places (#IrisWSScheduler, #IrisPlaceScheduler) runs forks in
 * parallel; under the others they are calls.
 *
 * Returns: %FALSE if @func was not called because the scheduler was shut down
 */
gboolean
iris_fork_join_run (IrisScheduler *scheduler, IrisForkFunc func, gpointer data)
{
  Call call = { .func = func, .data = data };

  g_return_val_if_fail (IRIS_IS_SCHEDULER (scheduler), FALSE);
  g_return_val_if_fail (func != NULL, FALSE);

  if (is_inside (scheduler))
    {
      func (iris_fork_join_begin (), data);
      return TRUE;
    }
  pthread_mutex_init (&call.lock, NULL);
  pthread_cond_init (&call.ended, NULL);
  iris_item_init (&call.item, call_run, &call, call_cancel);
  iris_scheduler_queue_item (scheduler, &call.item);
  pthread_mutex_lock (&call.lock);
  while (!call.has_ended)
    pthread_cond_wait (&call.ended, &call.lock);
  pthread_mutex_unlock (&call.lock);
  pthread_cond_destroy (&call.ended);
  pthread_mutex_destroy (&call.lock);

  return call.was_run;
}

/* The task of the functions below: a call of what the arguments say. */
IRIS_FORKABLE_VOID_2 (generic, IrisForkFunc, gpointer);

static void
generic (IrisForkJoin *fj, IrisForkFunc func, gpointer data)
{
  func (fj, data);
}

/**
 * iris_fork_join_fork: (skip)
 * @fj: the handle
 * @task: (out caller-allocates): a variable of the caller, for the join
 * @func: the work
 * @data: (nullable): for @func; it stays the caller's
 *
 * Forks a call of @func, for callers that cannot use the macros (see IRIS_FORKABLE_1()), which are
 * faster.
 *
 * Returns: (transfer none): the handle from now on, until the join
 */
IrisForkJoin *
iris_fork_join_fork (IrisForkJoin *fj, IrisForkTask *task, IrisForkFunc func, gpointer data)
{
  generic_fork (&fj, task, func, data);

  return fj;
}

/**
 * iris_fork_join_join: (skip)
 * @fj: the handle
 * @task: (inout): what was forked last and not yet joined
 *
 * Sees to it that a forked call is done: runs it, or waits for the thief.
 *
 * Returns: (transfer none): the handle from now on, as it was before the fork
 */
IrisForkJoin *
iris_fork_join_join (IrisForkJoin *fj, IrisForkTask *task)
{
  generic_join (&fj, task);

  return fj;
}

/* Forks that one call of range() makes at most; they take 40 bytes each of its frame. */
#define RANGE_FORKS 8

typedef struct
{
  IrisForkRangeFunc func;
  gpointer data;
  gsize grain;
} Range;

IRIS_FORKABLE_VOID_3 (range, gsize, gsize, const Range *);

/* Half of what is left is forked only when a worker asks, or when there is nothing to ask for: so
 * one steal brings half of the rest, and what is not stolen is a loop.
 *
 * Source: A. Tzannes and others, "Lazy Binary-Splitting: A Run-Time Adaptive Work-Stealing
 * Scheduler" (PPoPP 2010). There the owner forks when its deque is empty; here also when asked, for
 * a thief that is not answered would force tasks open (iris-fork-stack-private.h). */
static void
range (IrisForkJoin *fj, gsize begin, gsize end, const Range *self)
{
  IrisForkTask rest[RANGE_FORKS];
  guint n = 0;

  while (end - begin > self->grain)
    if (!iris_fork_stack_wants_fork (fj))
      {
        self->func (fj, begin, begin + self->grain, self->data);
        begin += self->grain;
      }
    else if (n < RANGE_FORKS)
      {
        gsize middle = begin + (end - begin) / 2;

        range_fork (&fj, &rest[n++], middle, end, self);
        end = middle;
      }
    else
      {
        range (fj, begin, end, self);
        begin = end;
      }
  if (begin < end)
    self->func (fj, begin, end, self->data);
  while (n > 0)
    range_join (&fj, &rest[--n]);
}

/**
 * iris_fork_join_for: (skip)
 * @fj: the handle
 * @begin: the first index
 * @end: the index after the last
 * @grain: how many indices are worked on by one call at most; 0 counts as 1
 * @func: works on a part of the range
 * @data: (nullable): for @func
 *
 * Works on a range in parallel and returns when all of it is done. An empty range, or one that ends
 * before it begins, is no work.
 *
 * Half of what is left is forked when a worker is idle, and as long as none is, the calls of @func
 * are a loop over parts of @grain indices. So a small @grain costs little; between two calls the
 * worker looks whether another asks for work, so a call should not last for longer than a part may
 * wait.
 */
void
iris_fork_join_for (IrisForkJoin *fj,
                    gsize begin,
                    gsize end,
                    gsize grain,
                    IrisForkRangeFunc func,
                    gpointer data)
{
  Range self = { func, data, MAX (grain, 1) };

  g_return_if_fail (fj != NULL);
  g_return_if_fail (func != NULL);

  if (begin < end)
    range (fj, begin, end, &self);
}
