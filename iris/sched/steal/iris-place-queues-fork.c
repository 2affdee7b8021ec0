/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * Place queues: how idle workers find the tasks that items of other workers forked. The stack, and
 * why no wake-up is lost, is in iris-fork-stack-private.h.
 */
#include "iris/sched/steal/iris-place-queues-private.h"

#include "iris/sched/pool/iris-item-private.h"
#include "iris/sched/pool/iris-active-workers-private.h"

#include <stdlib.h>

/* As with items: a worker sleeps and no worker searches. */
static void
publish (IrisForkStack *stack)
{
  IrisWorker *self = stack->data;

  iris_parking_lot_publish (&self->pool->parking_lot, self->place, false);
}

static void
note_sleep (IrisWorkerCounters *counters, bool begins)
{
  gint64 now = iris_clock_ns ();

  iris_stopwatch_stop (begins ? &counters->searching_ns : &counters->parked_ns, now);
  iris_stopwatch_start (begins ? &counters->parked_ns : &counters->searching_ns, now);
}

/* Like those of an idle worker, the steals and the time of one that waits in a join are counted. */
static void
note (IrisForkStack *stack, IrisForkNote what, IrisForkStack *victim)
{
  IrisWorker *self = stack->data;

  switch (what)
    {
    case IRIS_FORK_SEARCHES:
      iris_worker_note_search_begins (self);
      break;
    case IRIS_FORK_STOLE:
      iris_worker_note_search_ends (self);
      iris_counter_add (&self->counters.steal_tries, 1);
      iris_counter_add (&self->counters.queued, 1);
      iris_counter_add (&self->counters.executed, 1);
      iris_place_queues_note_stolen (self->pool, self, ((IrisWorker *) victim->data)->place, 1);
      break;
    case IRIS_FORK_SLEEPS:
    case IRIS_FORK_WAKES:
      note_sleep (&self->counters, what == IRIS_FORK_SLEEPS);
      break;
    case IRIS_FORK_ENDS:
      iris_worker_note_search_ends (self);
    }
}

/* Cancelled or not, the task is run: an item that runs waits for it. */
static void
run_stolen (gpointer data)
{
  IrisWorker *self = data;

  iris_fork_stack_run (atomic_load_explicit (&self->forks, memory_order_relaxed),
                       self->stolen_fork);
}

/* Made by the worker itself, so that its memory is near. */
IrisForkStack *
iris_place_queues_get_forks (IrisWorkerPool *pool, IrisWorker *self)
{
  IrisForkStack *forks = atomic_load_explicit (&self->forks, memory_order_relaxed);

  if (G_LIKELY (forks != NULL))
    return forks;

  forks = aligned_alloc (IRIS_CACHE_PAIR, sizeof *forks);
  if (forks == NULL || !iris_fork_stack_init (forks, IRIS_FORK_STACK_CAPACITY))
    g_error ("iris: out of memory for the forks of worker %u", self->index);
  forks->publish = publish;
  forks->note = note;
  forks->data = self;
  iris_item_init (&self->fork_item, run_stolen, self, run_stolen);
  atomic_store_explicit (&self->forks, forks, memory_order_release);
  atomic_store_explicit (&pool->has_forks, true, memory_order_release);

  return forks;
}

static IrisItem *
steal_from_stack_of (IrisWorkerPool *pool, IrisWorker *self, IrisWorker *victim, bool by_force)
{
  IrisForkStack *forks = atomic_load_explicit (&victim->forks, memory_order_acquire);
  IrisForkJoin *slot;

  if (forks == NULL || victim == self)
    return NULL;
  iris_counter_add (&self->counters.steal_tries, 1);
  slot = iris_fork_stack_steal (forks, iris_place_queues_get_forks (pool, self), NULL, by_force);
  if (slot == NULL)
    {
      iris_counter_add (&self->counters.steal_empties, 1);
      return NULL;
    }
  self->stolen_fork = slot;
  /* It counts as queued and run by the thief, so that the counts add up. */
  iris_worker_note_queued (self, &self->fork_item);
  iris_place_queues_note_stolen (pool, self, victim->place, 1);

  return &self->fork_item;
}

/* From the workers of a place, from a random one on. */
static IrisItem *
steal_at (IrisWorkerPool *pool, IrisWorker *self, guint place, bool by_force)
{
  IrisPlaceQueues *queues = pool->owner;
  IrisPlaceQueue *queue = &queues->queues[place];
  guint start = iris_random_below (&self->random, queue->n_workers);
  IrisItem *item = NULL;

  for (guint i = 0; i < queue->n_workers && item == NULL; i++)
    {
      guint at = start + i < queue->n_workers ? start + i : start + i - queue->n_workers;

      item = steal_from_stack_of (pool, self, &pool->workers[queue->first_worker + at], by_force);
    }

  return item;
}

/* From the workers that stand in for blocked ones, of whatever place. */
static IrisItem *
steal_from_spares (IrisWorkerPool *pool, IrisWorker *self, bool by_force)
{
  guint n = iris_worker_pool_count_workers (pool);
  IrisItem *item = NULL;

  for (guint i = pool->n_workers; i < n && item == NULL; i++)
    item = steal_from_stack_of (pool, self, iris_worker_pool_get_worker (pool, i), by_force);

  return item;
}

/* The place of @self first, then the nearest; equally near ones from a random one on. */
IrisItem *
iris_place_queues_steal_fork (IrisWorkerPool *pool, IrisWorker *self)
{
  IrisPlaceQueues *queues = pool->owner;
  IrisPlaceQueue *home = &queues->queues[self->place];
  IrisForkStack *forks;
  IrisItem *item;
  bool by_force;

  if (!atomic_load_explicit (&pool->has_forks, memory_order_acquire))
    return NULL;
  forks = iris_place_queues_get_forks (pool, self);
  by_force = ++forks->visits % IRIS_FORK_STACK_PATIENCE == 0;
  item = steal_at (pool, self, self->place, by_force);

  for (guint g = 0; g < home->n_groups && item == NULL; g++)
    {
      IrisVictimGroup *group = &home->groups[g];
      guint start = iris_random_below (&self->random, group->length);

      for (guint i = 0; i < group->length && item == NULL; i++)
        {
          guint at = start + i < group->length ? start + i : start + i - group->length;

          item = steal_at (pool, self, home->order[group->first + at], by_force);
        }
    }

  return item != NULL ? item : steal_from_spares (pool, self, by_force);
}

/* Whether any worker has forked what can be stolen. If not, the worker that forks next will publish
 * it. */
bool
iris_place_queues_has_forks (IrisWorkerPool *pool)
{
  bool asked = false;
  guint n;

  if (!atomic_load_explicit (&pool->has_forks, memory_order_acquire))
    return false;
  n = iris_worker_pool_count_workers (pool);
  for (guint i = 0; i < n; i++)
    {
      IrisWorker *worker = iris_worker_pool_get_worker (pool, i);
      IrisForkStack *forks = atomic_load_explicit (&worker->forks, memory_order_acquire);

      if (forks != NULL && iris_fork_stack_ask (forks))
        asked = true;
    }
  if (asked)
    iris_fence_heavy ();
  for (guint i = 0; i < n; i++)
    {
      IrisWorker *worker = iris_worker_pool_get_worker (pool, i);
      IrisForkStack *forks = atomic_load_explicit (&worker->forks, memory_order_acquire);

      if (forks != NULL && iris_fork_stack_has_work (forks))
        return true;
    }

  return false;
}
