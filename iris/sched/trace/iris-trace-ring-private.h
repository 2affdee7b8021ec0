/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * A ring of events: what one worker did lately, written by it and read by any thread meanwhile.
 *
 * Who may call what: iris_trace_ring_push() the worker alone; iris_trace_ring_read() any thread.
 * The writer never waits, and overwrites the oldest events.
 *
 * `head` counts events. The writer fills the slot of event `head`, then stores head + 1. So the one
 * slot that may be half written is that of event `head`, which before had event head - size.
 *
 * A reader loads `head` (acquire: the events below it are whole), copies them, and loads `head`
 * again. What it then keeps are the events above head - size: no slot of these can have been
 * touched. That holds because the words of a slot are stored with release and loaded with acquire:
 * a load that saw a word of event n happens behind the store of head = n, so the second load sees
 * head >= n, and the reader drops event n - size. This is the reader's side of a sequence lock,
 * with orders at the data in place of fences (H.-J. Boehm, "Can Seqlocks Get Along With Programming
 * Language Memory Models?", MSPC 2012), which ThreadSanitizer does not know.
 */
#pragma once

#include "iris/base/iris-atomic-private.h"

#include <stdbool.h>
#include <stdint.h>

/* Two words: the time and the kind in one, what is told in the other. */
typedef struct
{
  uint64_t when;
  uint64_t what;
} IrisTraceEvent;

typedef struct
{
  _Atomic uint64_t when;
  _Atomic uint64_t what;
} IrisTraceSlot;

typedef struct
{
  uint64_t size;         /* a power of two */
  _Atomic uint64_t head; /* events so far */
  IrisTraceSlot slots[];
} IrisTraceRing;

static inline void
iris_trace_ring_init (IrisTraceRing *self, uint64_t size)
{
  self->size = size;
  atomic_init (&self->head, 0);
  for (uint64_t i = 0; i < size; i++)
    {
      atomic_init (&self->slots[i].when, 0);
      atomic_init (&self->slots[i].what, 0);
    }
}

static inline void
iris_trace_ring_push (IrisTraceRing *self, uint64_t when, uint64_t what)
{
  uint64_t head = atomic_load_explicit (&self->head, memory_order_relaxed);
  IrisTraceSlot *slot = &self->slots[head & (self->size - 1)];

  /* Release: behind the last store of `head`. */
  atomic_store_explicit (&slot->when, when, memory_order_release);
  atomic_store_explicit (&slot->what, what, memory_order_release);
  atomic_store_explicit (&self->head, head + 1, memory_order_release);
}

/* How many events there were so far. */
static inline uint64_t
iris_trace_ring_get_head (IrisTraceRing *self)
{
  return atomic_load_explicit (&self->head, memory_order_acquire);
}

/* Copies the events from number @from on, as far as they are still there, to @out, which has room
 * for `size` of them, oldest first. Returns how many, and the number of the first. */
static inline uint64_t
iris_trace_ring_read (IrisTraceRing *self, uint64_t from, IrisTraceEvent *out, uint64_t *first)
{
  uint64_t head = atomic_load_explicit (&self->head, memory_order_acquire), now, begin, n;

  begin = head > self->size && head - self->size > from ? head - self->size : from;
  n = head > begin ? head - begin : 0;
  for (uint64_t i = 0; i < n; i++)
    {
      IrisTraceSlot *slot = &self->slots[(begin + i) & (self->size - 1)];

      out[i].when = atomic_load_explicit (&slot->when, memory_order_acquire);
      out[i].what = atomic_load_explicit (&slot->what, memory_order_acquire);
    }
  now = atomic_load_explicit (&self->head, memory_order_relaxed);

  /* Events up to now - size may have been overwritten meanwhile. */
  if (n > 0 && now >= self->size && now - self->size >= begin)
    {
      uint64_t gone = now - self->size - begin + 1;

      gone = gone < n ? gone : n;
      for (uint64_t i = gone; i < n; i++)
        out[i - gone] = out[i];
      begin += gone;
      n -= gone;
    }
  *first = begin;

  return n;
}
