/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * A gate: lets so much through at once, and keeps the rest in a fair queue.
 */
#pragma once

#include "irisd-fair.h"

#include <pthread.h>

G_BEGIN_DECLS

/* Nanoseconds of work that count as one unit of cost. */
#define IRISD_COST_NS 4096

/**
 * IrisdFairGate:
 *
 * Stands before one place's part of the scheduler. Any thread.
 */
typedef struct
{
  _Alignas(64) pthread_mutex_t lock;
  IrisdFair queue;
  guint64 most_cost;   /* what may be through at once */
  guint64 least_items; /* so many may be through whatever they cost */
  guint64 cost;        /* what is through */
  guint64 items;
  gboolean closed; /* nothing is let through */
} IrisdFairGate;

void
irisd_fair_gate_init (IrisdFairGate *self, guint64 most_cost, guint64 least_items, gint64 aging_us);
void irisd_fair_gate_clear (IrisdFairGate *self);
gboolean irisd_fair_gate_enter (IrisdFairGate *self,
                                IrisdFairEntry *entry,
                                gconstpointer client,
                                gint64 since_us);
gboolean irisd_fair_gate_is_open (IrisdFairGate *self, const IrisdFairEntry *entry);
gboolean irisd_fair_gate_withdraw (IrisdFairGate *self, IrisdFairEntry *entry);
void irisd_fair_gate_leave (IrisdFairGate *self, guint64 items, guint64 cost);
guint irisd_fair_gate_next (IrisdFairGate *self, IrisdFairEntry **entries, guint n_most);
void irisd_fair_gate_close (IrisdFairGate *self);
gboolean irisd_fair_gate_open (IrisdFairGate *self);
gboolean irisd_fair_gate_is_closed (IrisdFairGate *self);
guint64 irisd_fair_gate_get_length (IrisdFairGate *self);
guint64 irisd_fair_gate_get_backlog (IrisdFairGate *self);

G_END_DECLS
