/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * What all threads of irisd share: configuration, places, scheduler, counters, the phase.
 *
 * Any thread may call any function here; only the main thread changes the phase.
 *
 * Draining loses no item because of two sequentially consistent pairs. A gateway that takes an item
 * adds it to `items`, then reads the phase; the main thread changes the phase, then reads `items`.
 * In the one order of these four, either the gateway sees the draining and refuses the item, or the
 * main thread sees the item and waits for its end. Likewise the thread that ends the last item
 * takes it from `items`, then reads the phase: either it sees the draining and wakes the main
 * thread, or the main thread reads zero.
 *
 * All counters are relaxed: nothing else depends on them.
 */
#include "daemon/exec/irisd-core.h"

#include <time.h>
#include <unistd.h>

/* Payload that makes a burst, and the part of it that is left when the burst is over. */
#define LEAST_BURST (16 * 1024 * 1024)
#define BURST_PART  8

IrisdPhase
irisd_core_get_phase (IrisdCore *self)
{
  return atomic_load_explicit (&self->phase, memory_order_seq_cst);
}

/* Returns the monotonic time in microseconds at which the present phase gives up waiting. */
gint64
irisd_core_get_deadline (IrisdCore *self)
{
  return atomic_load_explicit (&self->deadline_us, memory_order_relaxed);
}

/* Enters a later phase, which waits for @grace_ms at most. For the main thread, which has to wake
 * the gateways afterwards. */
void
irisd_core_enter_phase (IrisdCore *self, IrisdPhase phase, guint64 grace_ms)
{
  atomic_store_explicit (&self->deadline_us, g_get_monotonic_time () + (gint64) grace_ms * 1000,
                         memory_order_relaxed);
  atomic_store_explicit (&self->phase, phase, memory_order_seq_cst);
}

/* Counts an item that is about to be accepted. Returns FALSE, and does not count it, if irisd takes
 * no more items. */
gboolean
irisd_core_begin_item (IrisdCore *self)
{
  atomic_fetch_add_explicit (&self->items, 1, memory_order_seq_cst);
  if (irisd_core_get_phase (self) == IRISD_PHASE_SERVING)
    return TRUE;
  irisd_core_end_item (self);
  return FALSE;
}

/* Takes back irisd_core_begin_item(), after ZeroMQ or an outbox has the item's completion. */
void
irisd_core_end_item (IrisdCore *self)
{
  if (atomic_fetch_sub_explicit (&self->items, 1, memory_order_seq_cst) == 1
      && irisd_core_get_phase (self) != IRISD_PHASE_SERVING)
    irisd_core_wake_main (self);
}

/* Returns a number, from 1, that no other item of this irisd has. */
guint64
irisd_core_new_item_id (IrisdCore *self)
{
  return irisd_core_new_item_ids (self, 1);
}

/* Returns the first of @n numbers in a row. */
guint64
irisd_core_new_item_ids (IrisdCore *self, guint n)
{
  return atomic_fetch_add_explicit (&self->next_item, n, memory_order_relaxed);
}

guint64
irisd_core_get_items (IrisdCore *self)
{
  return atomic_load_explicit (&self->items, memory_order_seq_cst);
}

/* @change is 1 if a persistent item has a job from now on, -1 if it has none any more. */
void
irisd_core_count_in_memory (IrisdCore *self, gboolean for_workers, gint change)
{
  atomic_fetch_add_explicit (&self->persistent_in_memory[for_workers], (guint64) change,
                             memory_order_relaxed);
}

/* @change is 1 if a persistent item is spilled, -1 if it is in memory again or waits for its
 * time. */
void
irisd_core_count_spilled (IrisdCore *self, gint change)
{
  atomic_fetch_add_explicit (&self->persistent_spilled, (guint64) change, memory_order_relaxed);
}

guint64
irisd_core_get_persistent_in_memory (IrisdCore *self, gboolean for_workers)
{
  return atomic_load_explicit (&self->persistent_in_memory[for_workers], memory_order_relaxed);
}

/* Returns how many volatile items there are. An item that is spilled or reloaded meanwhile may be
 * counted twice or not at all. */
guint64
irisd_core_get_volatile (IrisdCore *self)
{
  guint64 persistent = atomic_load_explicit (&self->persistent_spilled, memory_order_relaxed)
                       + irisd_core_get_persistent_in_memory (self, FALSE)
                       + irisd_core_get_persistent_in_memory (self, TRUE);
  guint64 items = irisd_core_get_items (self);
  return items - MIN (items, persistent);
}

guint64
irisd_core_get_bytes (IrisdCore *self)
{
  return atomic_load_explicit (&self->bytes, memory_order_relaxed);
}

void
irisd_core_add_bytes (IrisdCore *self, gint64 change)
{
  if (change == 0)
    return;
  guint64 bytes = atomic_fetch_add_explicit (&self->bytes, (guint64) change, memory_order_relaxed)
                  + (guint64) change;
  guint64 peak = atomic_load_explicit (&self->peak_bytes, memory_order_relaxed);
  /* Relaxed: the peak only decides when memory may be given back; one that is missed or reset twice
   * costs a check more or less. */
  if (bytes > peak && change > 0)
    atomic_store_explicit (&self->peak_bytes, bytes, memory_order_relaxed);
  else if (change < 0 && peak >= LEAST_BURST && bytes < peak / BURST_PART
           && atomic_exchange_explicit (&self->peak_bytes, 0, memory_order_relaxed) != 0)
    {
      atomic_store_explicit (&self->burst_over, TRUE, memory_order_release);
      irisd_core_wake_main (self);
    }
}

/* Returns whether a burst has ended since the last call, so that memory may be given back. */
gboolean
irisd_core_take_burst_over (IrisdCore *self)
{
  return atomic_exchange_explicit (&self->burst_over, FALSE, memory_order_acquire);
}

/* Counts an item that ran at @place on @bytes bytes. Called before the item's completion is sent,
 * so that a client that has seen it finds it in the counters. */
void
irisd_core_count_run (IrisdCore *self, gint place, guint64 bytes)
{
  IrisdPlaceCounters *counters = &self->counters[place];
  atomic_fetch_add_explicit (&counters->executed, 1, memory_order_relaxed);
  atomic_fetch_add_explicit (&counters->bytes, bytes, memory_order_relaxed);
}

/* Returns how many workers run an item now. */
guint
irisd_core_count_running (IrisdCore *self)
{
  guint n = 0;
  for (guint i = 0; i < self->n_workers; i++)
    n += (guint) atomic_load_explicit (&self->workers[i].runs, memory_order_relaxed);
  return n;
}

void
irisd_core_wake_main (IrisdCore *self)
{
  /* A full counter is readable too, which suffices. */
  ssize_t written = write (self->wake_fd, &(guint64){ 1 }, sizeof (guint64));
  (void) written;
}

gint64
irisd_now_ns (void)
{
  struct timespec now;
  clock_gettime (CLOCK_MONOTONIC, &now);
  return (gint64) now.tv_sec * 1000000000 + now.tv_nsec;
}
