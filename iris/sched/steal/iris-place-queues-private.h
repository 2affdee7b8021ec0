/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * Place queues: where the items of work-stealing places wait, and how workers find them.
 *
 * Each place has an inbox and an inbox for strict items, both open to all threads; each worker has
 * a deque. An item goes to
 *   - the strict deque of the worker that queues it (iris-strict-deque-private.h), if it is strict
 *     and that is a worker of its place; else, if it is strict, the strict inbox of its place;
 *   - the inbox of the place of its hint, unless its queueing worker is of that place;
 *   - the deque of the worker that queues it, otherwise;
 *   - the inbox of the places in turn, if it has no hint and comes from outside. Each thread deals
 *     for itself: what all count together would be the one line that all producers write. A ring
 *     that is full passes it on to the next place.
 *
 * A worker looks in its own deque and its own strict deque (newest first), the strict inbox and the
 * inbox of its place, the strict deques and then the deques of its siblings (oldest first, from a
 * random one on), and then at the other places, nearest first and in random order among equally
 * near ones: their inbox, then their workers' deques. No worker but the workers of a place ever
 * looks into its strict inbox and the strict deques of its workers.
 *
 * From its place's inbox a worker takes its share at once, at most IRIS_INBOX_SHARE items, for one
 * swap: the oldest to run, and the next ones onto its own deque, where it meets them in their order
 * and others can steal them. Items that are to be kept apart move one by one.
 *
 * A split deque shows thieves only a part of what it has. The worker that finds nothing public asks
 * for more, and the owner answers in its next push or take; an owner whose present item runs long
 * does not, and after IRIS_SEARCH_PATIENCE rounds of search the thief forces half of the private
 * part open. So a private item is as good as a public one to the worker that decides whether to
 * sleep: it counts as work (has_work of IrisWorkerPoolOps).
 *
 * Nothing starves: within a bounded number of picks (IRIS_FAIRNESS_INTERVAL) a worker looks into
 * the inboxes of its place and at the oldest end of its own deques before anything else, and each
 * of these four comes first in its turn.
 *
 * Among other places the order, and how much a thief takes at once, are the steal policy's; and it
 * may be refused: iris-place-queues-refuse-private.h. By default a thief takes up to half of what
 * it sees, at most IRIS_STEAL_DEFAULT_CAP items. It runs the first and lays the rest on its own
 * deque, IRIS_STEAL_MAX at a time. Items under way between two deques are seen by no worker, so
 * laying them down ends with a publish.
 *
 * Last of all come the tasks that items of other workers have forked (iris-fork-stack-private.h),
 * those of the same place first. They are no items; a thief runs one as an item of its own.
 * Also that source is looked at before a worker sleeps, and its publishing is that of the parking
 * lot.
 *
 * An item that is to be kept apart from others waits in an inbox, whichever thread queues it, so
 * that it moves alone and only after a look at it: iris-footprint-private.h.
 *
 * Source: Th. Weibel, "An Advanced Scheduler for Intervals" (LASSI, ETH Zuerich, 2010) for places
 * and hints; the order of search is that of design.md, layout `workers`.
 */
#pragma once

#include "iris/sched/pool/iris-worker-pool-private.h"
#include "iris/sched/pool/iris-footprint-private.h"
#include "iris/sched/steal/iris-place-queues-refuse-private.h"
#include "iris/sched/steal/iris-steal-rules-private.h"
#include "iris/place/iris-places.h"
#include "iris/sched/steal/iris-layout.h"

/* So many items move at once. */
#define IRIS_STEAL_MAX 64

/* At most so many items a worker takes from its place's inbox at once, onto its own deque. */
#define IRIS_INBOX_SHARE 32

/* Slots of an inbox before it overflows into its list. */
#define IRIS_INBOX_CAPACITY 1024

typedef struct
{
  guint first;  /* index into order */
  guint length; /* places that are equally near */
} IrisVictimGroup;

typedef struct
{
  IrisRingCore inbox;
  IrisRingCore strict;
  guint first_worker;
  guint n_workers;
  guint *order; /* the other places, nearest first */
  IrisVictimGroup *groups;
  guint n_groups;
  _Atomic bool has_strict_deques; /* some worker of the place put an item onto its strict deque */

  alignas (IRIS_CACHE_PAIR) _Atomic uint64_t stolen_out;
  IrisForecast forecast;
  IrisFootprint footprint;
} IrisPlaceQueue;

typedef struct
{
  IrisPlaces *places;
  IrisDeal deal;
  IrisStealRules rules;
  guint64 apart_above; /* bytes: items with more drive each other from the cache */
  guint n_places;
  IrisPlaceQueue *queues;
  IrisStripedCounters dealt;  /* one: items that are dealt to the places in turn */
  IrisStripedCounters hinted; /* of each place: from elsewhere than the place itself */
} IrisPlaceQueues;

/* The place that is next when the calling thread deals; threads begin with different ones. */
static inline guint
iris_place_queues_next (IrisPlaceQueues *self)
{
  return (guint) (iris_striped_counters_add (&self->dealt, 0) + iris_thread_slot ())
         % self->n_places;
}

/* Whether an item would drive another one of its kind from the cache, as far as is known. */
static inline bool
iris_place_queues_is_apart (const IrisPlaceQueues *self, guint32 flags)
{
  return (flags & IRIS_ITEM_KEEP_APART) != 0 && iris_footprint_bytes (flags) > self->apart_above;
}

gpointer
iris_place_queues_new (gsize size, IrisPlaces *places, IrisDeal deal, const IrisStealRules *rules);
void iris_place_queues_free (gpointer data);
IrisWorkerPool *iris_place_queues_make_pool (IrisPlaceQueues *self,
                                             const IrisWorkerPoolOps *ops,
                                             GDestroyNotify free_self);
guint iris_place_queues_deal_apart (IrisPlaceQueues *self);
void iris_place_queues_count_waiting (IrisPlaceQueues *self, guint place, IrisItem *item);
void iris_place_queues_count_moved (IrisPlaceQueues *self, guint to, void **items, guint64 n);
void iris_place_queues_count_taken (IrisPlaceQueues *self, IrisWorker *worker, IrisItem *item);
void iris_place_queues_count_done (IrisPlaceQueues *self, IrisWorker *worker);
void
iris_place_queues_note_stolen (IrisWorkerPool *pool, IrisWorker *self, guint victim_place, guint n);
void iris_place_queues_bind (IrisWorkerPool *pool, IrisWorker *worker);
void iris_place_queues_add_stats (IrisWorkerPool *pool, IrisStats *stats);

/* iris-place-search.c */
extern const IrisWorkerPoolOps iris_place_queues_ops;
void iris_place_queues_push_own (IrisWorkerPool *pool, IrisWorker *worker, IrisItem *item);

/* iris-place-queues-fork.c */
IrisForkStack *iris_place_queues_get_forks (IrisWorkerPool *pool, IrisWorker *self);
IrisItem *iris_place_queues_steal_fork (IrisWorkerPool *pool, IrisWorker *self);
bool iris_place_queues_has_forks (IrisWorkerPool *pool);

/* iris-place-queues-refuse.c. @in_deques is what the deques of the place's workers hold. */
IrisStealVerdict
iris_place_queues_judge (IrisWorkerPool *pool, IrisWorker *self, guint place, guint64 in_deques);
bool iris_place_queues_keeps_apart (IrisWorkerPool *pool, IrisWorker *self, guint place);
bool iris_place_queues_may_steal (IrisWorkerPool *pool,
                                  IrisWorker *self,
                                  guint place,
                                  guint64 in_deques);
bool iris_place_queues_may_steal_from_inbox (IrisWorkerPool *pool, IrisWorker *self, guint place);
void iris_place_queues_note_success (IrisWorkerPool *pool, IrisWorker *self, guint place);
