/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * A gate: lets a window of work through, and holds the rest in a fair queue.
 */
#pragma once

#include "daemon/base/irisd-fair-queue.h"

#include <pthread.h>

G_BEGIN_DECLS

/* Nanoseconds of work that count as one unit of cost. */
#define IRISD_COST_NS 4096

/* The gate before one place of the scheduler. Any thread. */
typedef struct
{
  _Alignas(64) pthread_mutex_t lock;
  IrisdFairQueue queue;
  guint64 most_cost;   /* cost that may be in the window */
  guint64 least_items; /* items that may be in it at any cost */
  guint64 cost;        /* cost in the window */
  guint64 items;
  gboolean closed; /* lets nothing through */
} IrisdGate;

void irisd_gate_init (IrisdGate *self, guint64 most_cost, guint64 least_items, gint64 aging_us);
void irisd_gate_clear (IrisdGate *self);
gboolean
irisd_gate_enter (IrisdGate *self, IrisdFairEntry *entry, gconstpointer client, gint64 since_us);
gboolean irisd_gate_is_open (IrisdGate *self, const IrisdFairEntry *entry);
gboolean irisd_gate_withdraw (IrisdGate *self, IrisdFairEntry *entry);
void irisd_gate_leave (IrisdGate *self, guint64 items, guint64 cost);
guint irisd_gate_next (IrisdGate *self, IrisdFairEntry **entries, guint n_most);
void irisd_gate_close (IrisdGate *self);
gboolean irisd_gate_open (IrisdGate *self);
gboolean irisd_gate_is_closed (IrisdGate *self);
guint64 irisd_gate_get_length (IrisdGate *self);
guint64 irisd_gate_get_backlog (IrisdGate *self);

G_END_DECLS
