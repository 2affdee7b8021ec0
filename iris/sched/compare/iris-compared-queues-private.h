/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * Place queues that exist to be compared with those that are used: with another deque, and in the
 * layouts `affinity`, `mailboxes` and `shared`.
 *
 * They are the same code but for the deques: iris-compared-queues.c compiles iris-place-search.c a
 * second time, with the calls of the split deque replaced by those that ask an IrisDequeCore for
 * its kind. The place queues of a usual scheduler know nothing of this folder.
 *
 * Layout `shared`: the workers of a place have one deque between them, under a lock, as LASSI had
 * it. It is the first worker's; what the others have of it only the owner's calls reach, so that
 * thieves and counts meet it once.
 *
 * Layouts `affinity` and `mailboxes`: iris-affinity-queues.c.
 */
#pragma once

#include "iris/sched/steal/iris-place-queues-private.h"

#include "iris/queue/iris-deque-kind.h"

typedef struct
{
  IrisPlaceQueues queues;
  IrisDequeKind kind;
  bool is_shared;

  /* Layouts `affinity` and `mailboxes`: around what. */
  const IrisWorkerPoolOps *inner;
  void (*push_own) (IrisWorkerPool *pool, IrisWorker *worker, IrisItem *item);
  IrisWorkerPoolOps ops;
  IrisRingCore *affinity; /* of each place, or of each worker */
  guint n_affinity;
  bool has_mailboxes;
} IrisComparedQueues;

/* Of any layout and kind but the idempotent deque. */
IrisWorkerPool *iris_compared_queues_new_pool (IrisPlaces *places,
                                               IrisDeal deal,
                                               IrisLayout layout,
                                               IrisDequeKind kind,
                                               const IrisStealRules *rules);

/* iris-place-search.c, for compared deques */
extern const IrisWorkerPoolOps iris_compared_queues_ops;
void iris_compared_queues_push_own (IrisWorkerPool *pool, IrisWorker *worker, IrisItem *item);

/* iris-affinity-queues.c */
void iris_affinity_queues_init (IrisComparedQueues *self, bool has_mailboxes);
void iris_affinity_queues_clear (IrisComparedQueues *self);
