/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * Item counters: what became of the items of one gateway, by class, service and place.
 */
#pragma once

#include "daemon/base/irisd-histogram.h"
#include "daemon/base/irisd-name-slots.h"
#include "daemon/exec/irisd-job.h"

G_BEGIN_DECLS

#define IRISD_N_CLASSES (IRIS_WIRE_CLASS_DURABLE + 1)

/* How an item ended. One that is put off until the next start has not: IRISD_N_OUTCOMES. */
typedef enum
{
  IRISD_OUTCOME_DONE,      /* with a result */
  IRISD_OUTCOME_FAILED,    /* with an error */
  IRISD_OUTCOME_CANCELLED, /* by request, or because its client had gone */
  IRISD_OUTCOME_EXPIRED,   /* its deadline had passed */
  IRISD_OUTCOME_BURIED,    /* set aside, until it is kicked */
  IRISD_N_OUTCOMES,
} IrisdOutcome;

/* Counters of one service. */
typedef struct
{
  _Alignas(64) _Atomic guint64 accepted;
  _Atomic guint64 outcomes[IRISD_N_OUTCOMES];
  _Atomic guint64 retried; /* runs that failed and were followed by another */
  _Atomic guint64 run_ns;
  _Atomic guint64 queue_ns;
} IrisdServiceCounters;

/* Counters of the items that one place ran. */
typedef struct
{
  _Alignas(64) IrisdHistogram delays; /* from acceptance to the start of the last run */
  IrisdHistogram runs;                /* of the last run */
  _Atomic guint64 failed;
} IrisdRunCounters;

/* Services' counters are allocated so many at once, when one of them is first needed. */
#define IRISD_SERVICES_AT_ONCE 64
#define IRISD_N_SERVICE_GROUPS (IRISD_MOST_NAME_SLOTS / IRISD_SERVICES_AT_ONCE + 1)

/* The gateway's thread writes, any thread may read what is atomic. */
typedef struct
{
  _Alignas(64) _Atomic guint64 accepted;
  _Atomic guint64 ended;
  _Atomic guint64 failed;
  _Atomic guint64 delayed;   /* items with a job that wait for their time */
  _Atomic guint64 suspended; /* items that wait until they are resumed */
  _Alignas(64) _Atomic guint64 outcomes[IRISD_N_CLASSES][IRISD_N_OUTCOMES];
  _Atomic guint64 orphans;         /* items with a job that no connection waits for */
  _Atomic guint64 unacked;         /* completions that connections have not acknowledged */
  _Atomic guint64 spilled_delayed; /* items without a job that wait for their time */
  IrisdRunCounters *runs;          /* by place */
  IrisdServiceCounters *_Atomic services[IRISD_N_SERVICE_GROUPS];

  /*< private >*/
  IrisdNameSlots *names;   /* of the services; all gateways share them */
  GHashTable *slots;       /* what this gateway knows of them: by name */
  const char *latest_name; /* the service of the latest item, which the next likely names too */
  guint latest_slot;
} IrisdItemCounters;

void irisd_item_counters_init (IrisdItemCounters *self, guint n_places, IrisdNameSlots *names);
void irisd_item_counters_clear (IrisdItemCounters *self);

/* For the gateway's thread. */
void irisd_item_counters_note_accepted (IrisdItemCounters *self, IrisdJob *job);
void irisd_item_counters_note_spilled (IrisdItemCounters *self, const char *service);
void irisd_item_counters_note_retried (IrisdItemCounters *self, IrisdJob *job);
IrisdOutcome irisd_item_counters_note_end (IrisdItemCounters *self, IrisdJob *job, gboolean buried);

/* Any thread. */
const IrisdServiceCounters *irisd_item_counters_get_service (IrisdItemCounters *self, guint slot);

G_END_DECLS
