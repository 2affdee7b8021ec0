/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * Place queues with deques that are only compared. The design is in
 * iris-compared-queues-private.h.
 */
#include "iris/sched/compare/iris-compared-queues-private.h"

#include "iris/queue/iris-container-private.h"
#include "iris/queue/iris-deque-private.h"

struct IrisComparedDeque
{
  IrisDequeCore own;
  IrisDequeCore *core; /* own, or in the layout `shared` the first worker's of the place */
};

static bool
compared_init (IrisWorkerPool *pool, IrisWorker *worker)
{
  const IrisComparedQueues *queues = pool->owner;
  const IrisWorker *first = &pool->workers[queues->queues.queues[worker->place].first_worker];
  IrisComparedDeque *self = iris_container_alloc (sizeof *self);

  worker->compared = self;
  self->core = &self->own;
  if (queues->is_shared && worker != first)
    self->core = first->compared->core;

  return iris_deque_core_init (&self->own, queues->kind, &pool->arrays);
}

static void
compared_clear (IrisComparedDeque **deque)
{
  iris_deque_core_clear (&(*deque)->own);
  free (*deque);
}

static bool
compared_push (IrisComparedDeque **deque, void *item)
{
  return iris_deque_core_push ((*deque)->core, item);
}

static void *
compared_take (IrisComparedDeque **deque)
{
  return iris_deque_core_take ((*deque)->core);
}

static void *
compared_take_oldest (IrisComparedDeque **deque)
{
  return iris_deque_core_take_oldest ((*deque)->core);
}

/* As the split deque: up to half of what is there. */
static IrisStealResult
compared_steal (IrisComparedDeque **deque, void **items, guint64 max, guint64 *n)
{
  IrisDequeCore *core = &(*deque)->own;
  guint64 half = (iris_deque_core_get_length (core) + 1) / 2, got;
  IrisStealResult result = IRIS_STEAL_TAKEN;

  if (iris_deque_kind_steals_many (core->kind))
    return iris_deque_core_steal (core, items, max, n);

  for (*n = 0; *n < CLAMP (half, 1, max) && result == IRIS_STEAL_TAKEN; *n += got)
    result = iris_deque_core_steal (core, items + *n, 1, &got);

  return *n > 0 ? IRIS_STEAL_TAKEN : result;
}

static bool
compared_force (IrisComparedDeque **deque)
{
  return iris_deque_core_force (&(*deque)->own);
}

static guint64
compared_get_length (IrisComparedDeque **deque)
{
  return iris_deque_core_get_length (&(*deque)->own);
}

static guint64
compared_expose (IrisComparedDeque **deque, guint64 n)
{
  return iris_deque_core_expose (&(*deque)->own, n);
}

static guint64
compared_offer (IrisComparedDeque **deque)
{
  return iris_deque_core_offer (&(*deque)->own);
}

#define deque                                 compared
#define iris_splitqueue_init_full(d, a, c, p) compared_init (pool, worker)
#define iris_splitqueue_clear                 compared_clear
#define iris_splitqueue_push                  compared_push
#define iris_splitqueue_take                  compared_take
#define iris_splitqueue_take_oldest           compared_take_oldest
#define iris_splitqueue_steal                 compared_steal
#define iris_splitqueue_force                 compared_force
#define iris_splitqueue_get_length            compared_get_length
#define iris_splitqueue_expose                compared_expose
#define iris_splitqueue_offer                 compared_offer
#define iris_place_queues_ops                 iris_compared_queues_ops
#define iris_place_queues_push_own            iris_compared_queues_push_own
#include "iris/sched/steal/iris-place-search.c"
#undef iris_place_queues_ops
#undef iris_place_queues_push_own

static void
compared_queues_free (gpointer data)
{
  iris_affinity_queues_clear (data);
  iris_place_queues_free (data);
}

IrisWorkerPool *
iris_compared_queues_new_pool (IrisPlaces *places,
                               IrisDeal how,
                               IrisLayout layout,
                               IrisDequeKind kind,
                               const IrisStealRules *rules)
{
  IrisComparedQueues *self = iris_place_queues_new (sizeof *self, places, how, rules);
  bool is_split = kind == IRIS_DEQUE_SPLIT && layout != IRIS_LAYOUT_SHARED;
  bool has_affinity = layout == IRIS_LAYOUT_AFFINITY || layout == IRIS_LAYOUT_MAILBOXES;
  IrisWorkerPool *pool;

  self->is_shared = layout == IRIS_LAYOUT_SHARED;
  self->kind = self->is_shared ? IRIS_DEQUE_LOCKED : kind;
  self->inner = is_split ? &iris_place_queues_ops : &iris_compared_queues_ops;
  self->push_own = is_split ? iris_place_queues_push_own : iris_compared_queues_push_own;
  if (has_affinity)
    iris_affinity_queues_init (self, layout == IRIS_LAYOUT_MAILBOXES);
  pool = iris_place_queues_make_pool (&self->queues, has_affinity ? &self->ops : self->inner,
                                      compared_queues_free);
  if (is_split && how == IRIS_DEAL_OWN)
    iris_worker_pool_set_plain (pool);

  return pool;
}
