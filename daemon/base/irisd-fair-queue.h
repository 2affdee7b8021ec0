/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * A queue that is fair: by priority with aging, and among clients in turn.
 */
#pragma once

#include <iris/iris.h>
#include <iris/wire/iris-wire.h>
#include <sys/queue.h>

G_BEGIN_DECLS

/* The most that an item can cost, and what a client may spend in one turn. */
#define IRISD_FAIR_MOST_COST 4096
#define IRISD_FAIR_QUANTUM   64

#define IRISD_FAIR_N_LEVELS (IRIS_WIRE_MOST_PRIORITY + 1)

typedef struct _IrisdFairFlow IrisdFairFlow;
typedef struct _IrisdFairEntry IrisdFairEntry;

/* An entry of the queue; embed it. It is in no queue if all zeroes. */
struct _IrisdFairEntry
{
  guint32 cost;    /* what it costs, 1 to IRISD_FAIR_MOST_COST */
  guint8 priority; /* 0 to 9, higher comes first */
  gint64 since_us; /* when it began to wait, in microseconds */

  /*< private >*/
  IrisdFairFlow *flow; /* NULL: not in the queue */
  TAILQ_ENTRY (_IrisdFairEntry) in_flow;
  TAILQ_ENTRY (_IrisdFairEntry) in_level;
};

typedef TAILQ_HEAD (_IrisdFairEntries, _IrisdFairEntry) IrisdFairEntries;
typedef TAILQ_HEAD (_IrisdFairFlows, _IrisdFairFlow) IrisdFairFlows;

/* One priority: all its entries by age, and the clients that have some, in turn. */
typedef struct
{
  IrisdFairEntries by_age;
  IrisdFairFlows turns;
  GHashTable *flows; /* by client */
} IrisdFairLevel;

/* One thread at a time. */
typedef struct
{
  IrisdFairLevel levels[IRISD_FAIR_N_LEVELS];
  gint64 aging_us;
  guint length;
} IrisdFairQueue;

void irisd_fair_queue_init (IrisdFairQueue *self, gint64 aging_us);
void irisd_fair_queue_clear (IrisdFairQueue *self);
void irisd_fair_queue_push (IrisdFairQueue *self, IrisdFairEntry *entry, gconstpointer client);
gboolean irisd_fair_queue_remove (IrisdFairQueue *self, IrisdFairEntry *entry);
IrisdFairEntry *irisd_fair_queue_peek (IrisdFairQueue *self);
IrisdFairEntry *irisd_fair_queue_pop (IrisdFairQueue *self);

G_END_DECLS
