/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * The lock-free scheduler: a lock-less list per worker, which takers empty at one stroke.
 *
 * Who queues swaps the item onto one of the lists; no lock, no limit, no memory. A worker takes its
 * own list. Other threads take the lists in turn, IRIS_LF_RUN items for each, and begin with
 * different ones: so producers seldom meet at a list, and share no word that says whose turn it is.
 * Who
 * needs work takes a whole list and lays it on its own deque, from which others may steal. Taking
 * everything at once is what makes the list immune to ABA (iris-llist-private.h).
 *
 * A chain comes newest first, and the deque's owner takes last in, first out: laid down as it
 * comes, the oldest item is run first. Items on their way from a list to a deque are seen by
 * no thread, so laying them down ends with a publish, like any other push.
 *
 * Nothing starves: a deque is filled only when it is empty, with a chain of finite length, and
 * what running items queue goes onto a list, behind everything that was laid down before.
 */
#include "iris/sched/pool/iris-active-workers-private.h"
#include "iris/sched/schedulers/iris-flat-scheduler-private.h"
#include "iris/sched/schedulers/iris-lfscheduler.h"

#include "iris/base/memory/iris-llist-private.h"

/* A power of two. */
#define IRIS_LF_RUN 32

typedef struct
{
  alignas (IRIS_CACHE_PAIR) IrisLlist list;
} Shard;

typedef struct
{
  Shard *shards;
  guint n_shards;
  IrisStripedCounters dealt; /* one: items from outside */
} Shards;

static IrisLlistNode *
node_of (IrisItem *item)
{
  return (IrisLlistNode *) &item->next;
}

static IrisItem *
item_of (IrisLlistNode *node)
{
  return (IrisItem *) ((guint8 *) node - G_STRUCT_OFFSET (IrisItem, next));
}

static guint
next_turn (Shards *shards)
{
  return (guint) (iris_striped_counters_add (&shards->dealt, 0) / IRIS_LF_RUN)
         + iris_thread_slot ();
}

static void
lf_push (IrisWorkerPool *pool, IrisWorker *self, IrisItem *item)
{
  Shards *shards = pool->owner;
  guint at = (self != NULL ? self->index : next_turn (shards)) % shards->n_shards;

  iris_llist_push (&shards->shards[at].list, node_of (item));
  iris_parking_lot_publish (&pool->parking_lot, 0, false);
}

/* Lays all but the oldest of a chain on the worker's deque and returns the oldest. */
static IrisItem *
lf_lay_down (IrisWorkerPool *pool, IrisWorker *self, guint shard, IrisLlistNode *chain)
{
  Shards *shards = pool->owner;
  bool laid = false;

  while (chain->next != NULL)
    {
      IrisLlistNode *next = chain->next;

      /* No memory for a larger deque: the item stays where it can be taken. */
      if (!iris_wsqueue_push (&self->chase_lev, item_of (chain)))
        iris_llist_push (&shards->shards[shard].list, chain);
      chain = next;
      laid = true;
    }
  if (laid)
    iris_parking_lot_publish (&pool->parking_lot, 0, false);

  return item_of (chain);
}

static IrisItem *
lf_steal (IrisWorkerPool *pool, IrisWorker *self, guint start)
{
  guint n_workers = iris_worker_pool_count_workers (pool);

  for (guint i = 0; i < n_workers; i++)
    {
      IrisWorker *victim = iris_worker_pool_get_worker (pool, (start + i) % n_workers);
      IrisStealResult result;
      void *item = NULL;

      if (victim == self)
        continue;
      iris_counter_add (&self->counters.steal_tries, 1);
      result = iris_wsqueue_steal (&victim->chase_lev, &item);
      if (result == IRIS_STEAL_TAKEN)
        {
          iris_worker_note_steal (self, self->place, 1);
          iris_counter_add (&self->counters.stolen_inside, 1);
          return item;
        }
      if (result == IRIS_STEAL_LOST)
        iris_counter_add (&self->counters.steal_fails, 1);
    }

  return NULL;
}

/* When no worker is left: anything. */
static IrisItem *
lf_take_any (IrisWorkerPool *pool)
{
  Shards *shards = pool->owner;

  for (guint i = 0; i < shards->n_shards; i++)
    {
      IrisLlistNode *chain = iris_llist_take_all (&shards->shards[i].list);

      if (chain != NULL)
        {
          for (IrisLlistNode *node = chain->next, *next; node != NULL; node = next)
            {
              next = node->next;
              iris_llist_push (&shards->shards[i].list, node);
            }
          return item_of (chain);
        }
    }
  for (guint i = 0; i < iris_worker_pool_count_workers (pool); i++)
    {
      void *item = iris_wsqueue_take_oldest (&iris_worker_pool_get_worker (pool, i)->chase_lev);

      if (item != NULL)
        return item;
    }

  return NULL;
}

static IrisItem *
lf_take (IrisWorkerPool *pool, IrisWorker *self)
{
  Shards *shards = pool->owner;
  IrisItem *item;

  if (self == NULL)
    return lf_take_any (pool);

  item = iris_wsqueue_take (&self->chase_lev);
  if (item != NULL)
    return item;

  /* One's own list first, then those of the others. */
  for (guint i = 0; i < shards->n_shards; i++)
    {
      guint at = (self->index + i) % shards->n_shards;
      IrisLlistNode *chain = iris_llist_take_all (&shards->shards[at].list);

      if (chain != NULL)
        return lf_lay_down (pool, self, at, chain);
    }

  return lf_steal (pool, self, iris_random_below (&self->random, pool->n_workers));
}

static IrisWork
lf_has_work (IrisWorkerPool *pool, IrisWorker *self)
{
  Shards *shards = pool->owner;

  for (guint i = 0; i < shards->n_shards; i++)
    if (!iris_llist_is_empty (&shards->shards[i].list))
      return IRIS_WORK_SHARED;
  for (guint i = 0; i < iris_worker_pool_count_workers (pool); i++)
    if (iris_wsqueue_get_length (&iris_worker_pool_get_worker (pool, i)->chase_lev) > 0)
      return IRIS_WORK_SHARED;

  return IRIS_WORK_NONE;
}

static void
lf_init_deque (IrisWorkerPool *pool, IrisWorker *worker)
{
  if (!iris_wsqueue_init_full (&worker->chase_lev, &pool->arrays, IRIS_WSQUEUE_MIN_CAPACITY, 0))
    g_error ("iris: out of memory for the deque of worker %u", worker->index);
}

static void
lf_clear_deque (IrisWorker *worker)
{
  iris_wsqueue_clear (&worker->chase_lev);
}

static guint64
lf_count_own (IrisWorker *worker)
{
  return (guint64) iris_wsqueue_get_length (&worker->chase_lev);
}

static const IrisWorkerPoolOps lf_ops = {
  .init_deque = lf_init_deque,
  .clear_deque = lf_clear_deque,
  .count_own = lf_count_own,
  .push = lf_push,
  .take = lf_take,
  .has_work = lf_has_work,
};

static Shards *
shards_new (guint n_shards)
{
  Shards *self = malloc (sizeof *self);
  Shard *shards = aligned_alloc (IRIS_CACHE_PAIR, n_shards * sizeof *shards);

  if (self == NULL || shards == NULL || !iris_striped_counters_init (&self->dealt, 1))
    g_error ("iris: out of memory for the lists of %u workers", n_shards);
  self->shards = shards;
  self->n_shards = n_shards;
  for (guint i = 0; i < n_shards; i++)
    atomic_init (&shards[i].list.head, NULL);

  return self;
}

static void
shards_free (gpointer data)
{
  Shards *self = data;

  iris_striped_counters_clear (&self->dealt);
  free (self->shards);
  free (self);
}

struct _IrisLFScheduler
{
  IrisFlatScheduler parent_instance;
};

G_DEFINE_FINAL_TYPE (IrisLFScheduler, iris_lfscheduler, IRIS_TYPE_SCHEDULER)

static void
iris_lfscheduler_constructed (GObject *object)
{
  IrisFlatScheduler *self = (IrisFlatScheduler *) object;

  G_OBJECT_CLASS (iris_lfscheduler_parent_class)->constructed (object);

  iris_flat_scheduler_set_pool (self, &lf_ops, shards_new (iris_flat_scheduler_n_workers (self)),
                                shards_free);
}

static void
iris_lfscheduler_class_init (IrisLFSchedulerClass *klass)
{
  GObjectClass *object_class = G_OBJECT_CLASS (klass);

  object_class->constructed = iris_lfscheduler_constructed;

  /**
   * IrisLFScheduler:n-workers:
   *
   * How many workers are made; 0 at construction for one a processor.
   */
  iris_flat_scheduler_install_properties (object_class);
}

static void
iris_lfscheduler_init (IrisLFScheduler *self)
{
}

/**
 * iris_lfscheduler_new:
 *
 * Returns: (transfer full): a lock-free scheduler with a worker for each processor that this
 *   process may use
 */
IrisScheduler *
iris_lfscheduler_new (void)
{
  return iris_lfscheduler_new_full (0, 0);
}

/**
 * iris_lfscheduler_new_full:
 * @min_threads: the least number of workers; 0 for no wish
 * @max_threads: the number of workers; 0 for one a processor
 *
 * Makes a lock-free scheduler: queueing never waits for a lock, whichever thread queues. It suits
 * programs in which many items are created outside the workers.
 *
 * Returns: (transfer full): a scheduler
 */
IrisScheduler *
iris_lfscheduler_new_full (guint min_threads, guint max_threads)
{
  return g_object_new (IRIS_TYPE_LFSCHEDULER, "n-workers",
                       iris_scheduler_choose_n_workers (min_threads, max_threads), NULL);
}
