/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * The strict deque. The design is in iris-strict-deque-private.h.
 */
#include "iris/sched/steal/iris-strict-deque-private.h"

#include "iris/sched/pool/iris-active-workers-private.h"
#include "iris/sched/steal/iris-place-queues-private.h"

void
iris_strict_deque_init (IrisWorkerPool *pool, IrisWorker *worker)
{
  if (!iris_splitqueue_init_full (&worker->strict, &pool->arrays, IRIS_SPLITQUEUE_MIN_CAPACITY, 0))
    g_error ("iris: out of memory for the strict deque of worker %u", worker->index);
}

void
iris_strict_deque_clear (IrisWorker *worker)
{
  iris_splitqueue_clear (&worker->strict);
}

/* Some worker of the place may sleep: if none searches, lets it have something. */
static void
strict_deque_publish (IrisWorkerPool *pool, IrisWorker *self)
{
  _Atomic uint64_t *place = &pool->parking_lot.places[self->place].word;
  uint64_t word;

  iris_fence_light ();
  word = atomic_load_explicit (place, memory_order_relaxed);
  if (iris_likely (iris_parking_lot_n_sleeping (word) == 0))
    return;
  iris_fence_full ();
  word = atomic_load_explicit (place, memory_order_relaxed);
  if (iris_parking_lot_n_sleeping (word) == 0 || iris_parking_lot_n_searching (word) != 0)
    return;
  iris_splitqueue_offer (&self->strict);
  iris_parking_lot_wake (&pool->parking_lot, self->place, true);
}

/* Onto the deque, or, if that is full and there is no memory for a larger one, into the strict
 * inbox, which never refuses. */
static void
strict_deque_put (IrisWorkerPool *pool, IrisWorker *self, IrisItem *item)
{
  IrisPlaceQueues *queues = pool->owner;
  IrisPlaceQueue *home = &queues->queues[self->place];

  if (iris_unlikely (!atomic_load_explicit (&home->has_strict_deques, memory_order_relaxed)))
    atomic_store_explicit (&home->has_strict_deques, true, memory_order_relaxed);
  if (iris_unlikely (!iris_splitqueue_push (&self->strict, item)))
    iris_ring_core_push (&home->strict, item);
}

void
iris_strict_deque_push (IrisWorkerPool *pool, IrisWorker *self, IrisItem *item)
{
  strict_deque_put (pool, self, item);
  strict_deque_publish (pool, self);
}

/* The newest item, or NULL. */
IrisItem *
iris_strict_deque_take (IrisWorker *self)
{
  return iris_splitqueue_take (&self->strict);
}

IrisItem *
iris_strict_deque_take_oldest (IrisWorker *self)
{
  return iris_splitqueue_take_oldest (&self->strict);
}

void
iris_strict_deque_expose (IrisWorkerPool *pool, IrisWorker *self)
{
  iris_splitqueue_expose (&self->strict, G_MAXUINT64);
  strict_deque_publish (pool, self);
}

guint64
iris_strict_deque_get_length (IrisWorker *worker)
{
  return iris_splitqueue_get_length (&worker->strict);
}

/* Up to half of what a worker of the same place shows: the oldest to run, the others onto the
 * thief's own strict deque. */
static IrisItem *
strict_deque_steal_from (IrisWorkerPool *pool, IrisWorker *self, IrisWorker *victim)
{
  IrisPlaceQueues *queues = pool->owner;
  guint64 max = iris_steal_rules_most (&queues->rules, IRIS_STEAL_MAX);
  void *items[IRIS_STEAL_MAX] = { NULL };
  IrisStealResult result;
  guint64 n;

  if (victim == self || iris_splitqueue_get_length (&victim->strict) == 0)
    return NULL;
  iris_counter_add (&self->counters.steal_tries, 1);
  result = iris_splitqueue_steal (&victim->strict, items, max, &n);
  if (iris_unlikely (result == IRIS_STEAL_PRIVATE) && self->impatient
      && iris_splitqueue_force (&victim->strict))
    result = iris_splitqueue_steal (&victim->strict, items, max, &n);
  if (result != IRIS_STEAL_TAKEN)
    {
      iris_counter_add (result == IRIS_STEAL_LOST ? &self->counters.steal_fails
                                                  : &self->counters.steal_empties,
                        1);
      return NULL;
    }

  for (guint64 i = 1; i < n; i++)
    strict_deque_put (pool, self, items[i]);
  iris_place_queues_note_stolen (pool, self, self->place, (guint) n);
  if (n > 1)
    strict_deque_publish (pool, self);

  return items[0];
}

/* From a worker of @self's place, or NULL. */
IrisItem *
iris_strict_deque_steal (IrisWorkerPool *pool, IrisWorker *self)
{
  IrisPlaceQueues *queues = pool->owner;
  IrisPlaceQueue *home = &queues->queues[self->place];
  guint n = iris_worker_pool_count_workers (pool);
  IrisItem *item = NULL;
  guint start;

  if (!atomic_load_explicit (&home->has_strict_deques, memory_order_relaxed))
    return NULL;
  start = iris_random_below (&self->random, home->n_workers);
  for (guint i = 0; i < home->n_workers && item == NULL; i++)
    item = strict_deque_steal_from (
        pool, self, &pool->workers[home->first_worker + (start + i) % home->n_workers]);
  for (guint i = pool->n_workers; i < n && item == NULL; i++)
    {
      IrisWorker *spare = iris_worker_pool_get_worker (pool, i);

      if (spare->place == self->place)
        item = strict_deque_steal_from (pool, self, spare);
    }

  return item;
}

/* Whether a worker of @place has strict items, be they private. */
bool
iris_strict_deque_any_at (IrisWorkerPool *pool, guint place)
{
  IrisPlaceQueues *queues = pool->owner;
  IrisPlaceQueue *home = &queues->queues[place];
  guint n = iris_worker_pool_count_workers (pool);

  if (!atomic_load_explicit (&home->has_strict_deques, memory_order_relaxed))
    return false;
  for (guint i = 0; i < home->n_workers; i++)
    if (iris_splitqueue_get_length (&pool->workers[home->first_worker + i].strict) > 0)
      return true;
  for (guint i = pool->n_workers; i < n; i++)
    {
      IrisWorker *spare = iris_worker_pool_get_worker (pool, i);

      if (spare->place == place && iris_splitqueue_get_length (&spare->strict) > 0)
        return true;
    }

  return false;
}
