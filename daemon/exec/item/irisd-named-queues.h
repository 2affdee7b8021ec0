/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * Named queues: how many items that name one of them run at once, and in which order.
 */
#pragma once

#include <iris/wire/iris-wire.h>

#include <pthread.h>

G_BEGIN_DECLS

/* The longest name, in bytes. */
#define IRISD_QUEUE_MOST_NAME 64

typedef struct _IrisdNamedQueue IrisdNamedQueue;
typedef struct _IrisdQueueTurn IrisdQueueTurn;

/**
 * IrisdQueueTurn:
 * @next: the next one in a list of those that have got their turn
 *
 * An item that wants its turn in a queue; embed it. All zeroes before its first use.
 */
struct _IrisdQueueTurn
{
  IrisdQueueTurn *next;

  /*< private >*/
  IrisdNamedQueue *queue; /* NULL: it neither waits nor has its turn */
  GSequenceIter *at;      /* while it waits */
  guint priority;
  guint64 number;
};

/**
 * IrisdQueueRules:
 * @exists: there is such a queue
 * @limit: how many of its items may run at once; 0: as many as can
 * @priority: of its items that say none
 * @suspended: none of its items begins
 *
 * What an operator says of a queue.
 */
typedef struct
{
  gboolean exists;
  guint32 limit;
  guint32 priority;
  gboolean suspended;
} IrisdQueueRules;

/* All queues. Any thread. */
typedef struct
{
  pthread_mutex_t lock; /* POSIX: ThreadSanitizer knows it */
  pthread_mutex_t change_lock;
  GHashTable *by_name;
  GPtrArray *all; /* by index, from 1; none is freed before the end */
  guint n_queues; /* those that exist */
  gboolean open;  /* items may get their turns */
} IrisdNamedQueues;

void irisd_named_queues_init (IrisdNamedQueues *self);
void irisd_named_queues_clear (IrisdNamedQueues *self);
IrisdQueueTurn *irisd_named_queues_open (IrisdNamedQueues *self);

gboolean irisd_named_queues_check_name (const IrisWireString *name, GError **error);
IrisdNamedQueue *
irisd_named_queues_join (IrisdNamedQueues *self, const IrisWireString *name, GError **error);
IrisdNamedQueue *
irisd_named_queues_join_stored (IrisdNamedQueues *self, const IrisWireString *name);
void irisd_named_queues_part (IrisdNamedQueues *self, IrisdNamedQueue *queue);
void irisd_named_queues_count (IrisdNamedQueues *self, guint index, gint change);
guint irisd_named_queue_get_index (const IrisdNamedQueue *queue);
guint irisd_named_queues_find (IrisdNamedQueues *self, const IrisWireString *name, GError **error);
guint32 irisd_named_queues_get_priority (IrisdNamedQueues *self, IrisdNamedQueue *queue);
gboolean irisd_named_queues_is_suspended (IrisdNamedQueues *self, IrisdNamedQueue *queue);

gboolean irisd_named_queues_enter (IrisdNamedQueues *self,
                                   IrisdNamedQueue *queue,
                                   IrisdQueueTurn *turn,
                                   guint priority,
                                   guint64 number,
                                   gboolean at_once);
gboolean irisd_named_queues_withdraw (IrisdNamedQueues *self, IrisdQueueTurn *turn);
IrisdQueueTurn *irisd_named_queues_leave (IrisdNamedQueues *self, IrisdQueueTurn *turn);

gboolean irisd_named_queues_change (IrisdNamedQueues *self,
                                    const char *name,
                                    const IrisdQueueRules *rules,
                                    guint64 most,
                                    IrisdQueueTurn **next,
                                    GError **error);
IrisdQueueRules irisd_named_queues_get_rules (IrisdNamedQueues *self, const char *name);
IrisWireQueues *irisd_named_queues_list (IrisdNamedQueues *self);

/* Returns whether it has its turn. */
static inline gboolean
irisd_queue_turn_is_taken (const IrisdQueueTurn *turn)
{
  return turn->queue != NULL && turn->at == NULL;
}

G_END_DECLS
