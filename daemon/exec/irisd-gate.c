/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * A gate: lets so much through at once, and keeps the rest in a fair queue.
 *
 * A scheduler is told of an item and forgets whose it is; what it was given it runs in its own
 * order. So fairness is kept in front of it: only so much estimated work is handed over that the
 * workers of a place do not run dry between two looks of a gateway, and the rest waits here, where
 * who is next can still be chosen. Whoever comes last to a place that is flooded waits for what is
 * through, and for its turn.
 *
 * Every item goes through a gate, so it has one short lock, and nothing is called while it is held.
 * The gateway that takes items back leaves for all of them together, and takes as many others as
 * fit now. That nothing is left behind: an item is put into the queue only while the gate is full
 * or others wait, under the lock; whoever makes room afterwards looks at the queue under the same
 * lock; and what is through is always on its way back to a gateway, which then makes room. A gate
 * that is empty lets one item through, whatever it costs.
 *
 * A gate that is closed lets nothing through; its opener asks for the entries that are next.
 */
#include "daemon/exec/irisd-gate.h"

/**
 * irisd_gate_init:
 * @self: (out caller-allocates): a gate that nothing has come to
 * @most_cost: what may be through at once
 * @least_items: so many may be through whatever they cost, from 1
 * @aging_us: see irisd_fair_queue_init()
 */
void
irisd_gate_init (IrisdGate *self, guint64 most_cost, guint64 least_items, gint64 aging_us)
{
  *self = (IrisdGate){ .most_cost = most_cost, .least_items = MAX (least_items, 1) };
  pthread_mutex_init (&self->lock, NULL);
  irisd_fair_queue_init (&self->queue, aging_us);
}

/**
 * irisd_gate_clear:
 * @self: a gate at which nothing waits, and through which nothing comes any more
 */
void
irisd_gate_clear (IrisdGate *self)
{
  irisd_fair_queue_clear (&self->queue);
  pthread_mutex_destroy (&self->lock);
}

static gboolean
has_room (const IrisdGate *self, const IrisdFairEntry *entry)
{
  return !self->closed
         && (self->items < self->least_items || self->cost + entry->cost <= self->most_cost);
}

/* Nobody goes past those who wait. */
static gboolean
is_open (const IrisdGate *self, const IrisdFairEntry *entry)
{
  return self->queue.length == 0 && has_room (self, entry);
}

static void
let_through (IrisdGate *self, const IrisdFairEntry *entry)
{
  self->items++;
  self->cost += entry->cost;
}

/**
 * irisd_gate_enter:
 * @self: the gate
 * @entry: what comes; its cost and priority are set
 * @client: whose it is
 * @since_us: since when it waits, by the monotonic clock; 0: from now on
 *
 * Returns: whether it is through; else it waits, and belongs to whom irisd_gate_next() or
 *   irisd_gate_withdraw() gives it
 */
gboolean
irisd_gate_enter (IrisdGate *self, IrisdFairEntry *entry, gconstpointer client, gint64 since_us)
{
  pthread_mutex_lock (&self->lock);
  gboolean through = is_open (self, entry);
  if (through)
    let_through (self, entry);
  else
    {
      entry->since_us = since_us != 0 ? since_us : g_get_monotonic_time ();
      irisd_fair_queue_push (&self->queue, entry, client);
    }
  pthread_mutex_unlock (&self->lock);
  return through;
}

/**
 * irisd_gate_is_open:
 * @self: the gate
 * @entry: what would come; its cost is set
 *
 * What the asking gateway does itself before it does anything else is back before anybody could
 * look, so it need not be counted.
 *
 * Returns: whether it would be through at once
 */
gboolean
irisd_gate_is_open (IrisdGate *self, const IrisdFairEntry *entry)
{
  pthread_mutex_lock (&self->lock);
  gboolean open = is_open (self, entry);
  pthread_mutex_unlock (&self->lock);
  return open;
}

/**
 * irisd_gate_withdraw:
 * @self: the gate
 * @entry: what came to it
 *
 * Returns: whether it still waited, and does no longer
 */
gboolean
irisd_gate_withdraw (IrisdGate *self, IrisdFairEntry *entry)
{
  pthread_mutex_lock (&self->lock);
  gboolean waited = irisd_fair_queue_remove (&self->queue, entry);
  pthread_mutex_unlock (&self->lock);
  return waited;
}

/**
 * irisd_gate_leave:
 * @self: the gate
 * @items: how many are back
 * @cost: what they cost together
 *
 * Makes room. Ask irisd_gate_next() who comes in their stead.
 */
void
irisd_gate_leave (IrisdGate *self, guint64 items, guint64 cost)
{
  pthread_mutex_lock (&self->lock);
  self->items -= items;
  self->cost -= cost;
  pthread_mutex_unlock (&self->lock);
}

/**
 * irisd_gate_next:
 * @self: the gate
 * @entries: (out caller-allocates) (array length=n_most): who comes through now, in their order
 * @n_most: how many there is room for
 *
 * Returns: how many came; if that is @n_most there may be more
 */
guint
irisd_gate_next (IrisdGate *self, IrisdFairEntry **entries, guint n_most)
{
  guint n = 0;
  pthread_mutex_lock (&self->lock);
  while (n < n_most)
    {
      IrisdFairEntry *entry = irisd_fair_queue_peek (&self->queue);
      if (entry == NULL || !has_room (self, entry))
        break;
      entries[n++] = irisd_fair_queue_pop (&self->queue);
      let_through (self, entry);
    }
  pthread_mutex_unlock (&self->lock);
  return n;
}

/* Nothing is let through any more. */
void
irisd_gate_close (IrisdGate *self)
{
  pthread_mutex_lock (&self->lock);
  self->closed = TRUE;
  pthread_mutex_unlock (&self->lock);
}

/**
 * irisd_gate_open:
 * @self: the gate
 *
 * Ask irisd_gate_next() who comes through now.
 *
 * Returns: whether it was closed
 */
gboolean
irisd_gate_open (IrisdGate *self)
{
  pthread_mutex_lock (&self->lock);
  gboolean closed = self->closed;
  self->closed = FALSE;
  pthread_mutex_unlock (&self->lock);
  return closed;
}

gboolean
irisd_gate_is_closed (IrisdGate *self)
{
  pthread_mutex_lock (&self->lock);
  gboolean closed = self->closed;
  pthread_mutex_unlock (&self->lock);
  return closed;
}

guint64
irisd_gate_get_length (IrisdGate *self)
{
  pthread_mutex_lock (&self->lock);
  guint64 length = self->queue.length;
  pthread_mutex_unlock (&self->lock);
  return length;
}

/**
 * irisd_gate_get_backlog:
 * @self: the gate
 *
 * Returns: how many came to it and have not come back, whether they wait here or are through
 */
guint64
irisd_gate_get_backlog (IrisdGate *self)
{
  pthread_mutex_lock (&self->lock);
  guint64 backlog = self->queue.length + self->items;
  pthread_mutex_unlock (&self->lock);
  return backlog;
}
