/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * A recurring item: one schedule, its times, and what is known of its last run.
 */
#pragma once

#include "daemon/base/irisd-calendar.h"
#include "daemon/base/irisd-timers.h"
#include "daemon/cluster/members/irisd-run-chain.h"
#include "daemon/store/irisd-record.h"

G_BEGIN_DECLS

/* What the cluster was told last is not known. */
#define IRISD_RECURRING_KEPT_UNKNOWN G_MAXUINT64

/* The longest name of a schedule, which is part of the key of each run. */
#define IRISD_RECURRING_MOST_NAME 200

/* A run later than this was missed. */
#define IRISD_RECURRING_LATE_MS 60000

/* What is known of the runs; the journal keeps it as a record of its own. */
typedef struct
{
  guint64 made_ms;    /* of the definition that it belongs to */
  guint64 handled_ms; /* runs due up to this time have run or were left out */
  guint64 last_ms;    /* when the last run was submitted; 0: there was none */
  guint64 item;       /* its item's number */
  guint64 state;      /* in which IrisWireState it ended; 0: not known */
  guint64 n_runs;
  guint64 n_skipped;
  guint64 exit_code; /* of the last run, if it is done; see IrisWirePersistentItem */
} IrisdRecurringState;

/* How the runs that are due now are to be treated. */
typedef enum
{
  IRISD_RECURRING_RUN,  /* one begins */
  IRISD_RECURRING_SKIP, /* they are left out */
  IRISD_RECURRING_WAIT, /* one begins when the last one has ended */
} IrisdRecurringStep;

typedef struct
{
  IrisdTimer timer;
  GBytes *id; /* owner and name; no other schedule has it */
  char *name;
  gint64 owner;
  guint64 made_ms;
  IrisdBlob header; /* of the SCHEDULE message that would make it */
  IrisdBlob body;   /* of that message: the item of each run */
  IrisdCalendar *calendar;
  guint64 jitter_ms;
  guint32 missed;  /* an IrisWireMissed */
  guint32 overlap; /* an IrisWireOverlap */
  gboolean suspended;

  guint64 due_ms; /* the next run, before its jitter; 0: never */
  IrisdRecurringState state;
  guint64 pending;            /* the item that the journal has not accepted yet; 0: none */
  IrisdRecurringState before; /* the state without it */
  gboolean running;           /* the item of the last run has not ended */
  gboolean waiting;           /* a run is due, and waits for the end of the last one */
  gboolean overdue;           /* a run is due, cannot begin for long, and counts as missed */

  /* Of one whose runs go to other nodes. The cluster may have a copy of the next one. */
  gboolean chained;
  guint8 chain[IRIS_WIRE_ID_SIZE];
  gboolean asking;     /* what the cluster has is not known yet */
  guint64 kept_ms;     /* of which run it was told last; 0: of none; KEPT_UNKNOWN */
  guint64 *handed;     /* when runs were due that were made without this node, as an array */
  guint n_handed;      /* how many */
  guint next_handed;   /* which is dealt with next */
  guint before_handed; /* the same without the pending item */
  guint64 resume_ms;   /* when the run after those is due */
} IrisdRecurring;

GBytes *irisd_recurring_make_id (gint64 owner, const char *name, gsize name_size);
gboolean irisd_recurring_check (const IrisWireMessage *message, GError **error);
IrisdRecurring *irisd_recurring_new (gint64 owner,
                                     guint64 made_ms,
                                     IrisWireFrame header,
                                     IrisWireFrame body,
                                     GError **error);
IrisdRecurring *irisd_recurring_load (const IrisdNamedRecord *record, GError **error);
void irisd_recurring_free (IrisdRecurring *self);
GBytes *irisd_recurring_pack (const IrisdRecurring *self);
gboolean
irisd_recurring_read (const IrisdRecurring *self, IrisWireMessage *message, GError **error);
gboolean
irisd_recurring_read_item (const IrisdRecurring *self, IrisWireMessage *item, GError **error);

gboolean irisd_recurring_load_state (IrisdRecurring *self, const IrisdNamedRecord *record);
GBytes *irisd_recurring_pack_state (const IrisdRecurringState *state);
gboolean irisd_recurring_aim (IrisdRecurring *self, guint64 now_ms);
void irisd_recurring_count_anew (IrisdRecurring *self, guint64 now_ms);
guint64 irisd_recurring_get_begin (const IrisdRecurring *self);
IrisdRecurringStep irisd_recurring_judge (const IrisdRecurring *self, guint64 now_ms);
void irisd_recurring_pass (IrisdRecurring *self, guint64 now_ms);
guint64 irisd_recurring_get_following (const IrisdRecurring *self, guint64 now_ms);
guint64 irisd_recurring_get_begin_of (const IrisdRecurring *self, guint64 due_ms);
guint
irisd_recurring_take_handed (IrisdRecurring *self, const IrisdRunChain *chain, guint64 oldest_ms);

/* Whether the next run was made without this node, which takes its end. */
static inline gboolean
irisd_recurring_is_handed (const IrisdRecurring *self)
{
  return self->next_handed < self->n_handed;
}

#define irisd_recurring_from_timer(pointer) IRISD_CONTAINER (pointer, IrisdRecurring, timer)

G_END_DECLS
