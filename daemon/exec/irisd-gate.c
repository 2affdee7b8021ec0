/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * A gate: lets a window of work through, and holds the rest in a fair queue.
 *
 * A scheduler does not know the client of an item; it runs its items in its own order. So fairness
 * is decided before it: a gateway hands over only so much estimated work that the workers of a
 * place do not run dry until it comes again, and the rest waits here, where its order can still be
 * chosen. A late item at a flooded place waits for the work in the window, and for its turn.
 *
 * Every item passes a gate, so the gate has one short lock, and calls nothing while it is held. A
 * gateway that takes items back leaves for all of them together, and takes as many others as fit
 * now. No item is forgotten: an item enters the queue, under the lock, only while the gate is full
 * or others wait; a thread that makes room looks at the queue under the same lock afterwards; and
 * work in the window is always on its way back to a gateway, which then makes room. An empty gate
 * lets one item through at any cost.
 *
 * A closed gate lets nothing through; the thread that opens it takes the next entries.
 */
#include "daemon/exec/irisd-gate.h"

/* @most_cost is the size of the window, @least_items how many items, from 1, may be in it at any
 * cost; for @aging_us see irisd_fair_queue_init(). */
void
irisd_gate_init (IrisdGate *self, guint64 most_cost, guint64 least_items, gint64 aging_us)
{
  *self = (IrisdGate){ .most_cost = most_cost, .least_items = MAX (least_items, 1) };
  pthread_mutex_init (&self->lock, NULL);
  irisd_fair_queue_init (&self->queue, aging_us);
}

/* Call this when no item waits or comes any more. */
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

/* An item does not overtake those that wait. */
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

/* @entry, with its cost and priority set, comes to the gate. @since_us is when it began to wait, by
 * the monotonic clock; 0: now. Returns whether it is through; else it waits, and belongs to the
 * caller of irisd_gate_next() or irisd_gate_withdraw() that gets it. */
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

/* Returns whether @entry, with its cost set, would be through at once. Work that the calling
 * gateway does itself is back before another thread could see it, so it is not counted. */
gboolean
irisd_gate_is_open (IrisdGate *self, const IrisdFairEntry *entry)
{
  pthread_mutex_lock (&self->lock);
  gboolean open = is_open (self, entry);
  pthread_mutex_unlock (&self->lock);
  return open;
}

/* Returns whether @entry still waited; it no longer does. */
gboolean
irisd_gate_withdraw (IrisdGate *self, IrisdFairEntry *entry)
{
  pthread_mutex_lock (&self->lock);
  gboolean waited = irisd_fair_queue_remove (&self->queue, entry);
  pthread_mutex_unlock (&self->lock);
  return waited;
}

/* Makes room for @items that came back and their @cost. Call irisd_gate_next() for the next
 * ones. */
void
irisd_gate_leave (IrisdGate *self, guint64 items, guint64 cost)
{
  pthread_mutex_lock (&self->lock);
  self->items -= items;
  self->cost -= cost;
  pthread_mutex_unlock (&self->lock);
}

/* Fills @entries with up to @n_most that come through now, in order. Returns how many; if that is
 * @n_most there may be more. */
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

/* No item is let through from now on. */
void
irisd_gate_close (IrisdGate *self)
{
  pthread_mutex_lock (&self->lock);
  self->closed = TRUE;
  pthread_mutex_unlock (&self->lock);
}

/* Returns whether it was closed. Call irisd_gate_next() for those that come through now. */
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

/* Returns how many came and have not come back, waiting or in the window. */
guint64
irisd_gate_get_backlog (IrisdGate *self)
{
  pthread_mutex_lock (&self->lock);
  guint64 backlog = self->queue.length + self->items;
  pthread_mutex_unlock (&self->lock);
  return backlog;
}
