/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * The ring: a bounded queue for many producers and consumers that overflows instead of refusing.
 *
 * Who may call what: push, pop, is_empty and get_length any thread; init and clear while nobody
 * else looks. Items are the caller's; they need a link, because the overflow is a list of them.
 *
 * The ring proper: cell i mod n carries a sequence number. It is i when the cell is free for the
 * i-th push, i + 1 when it holds the i-th item, and i + n when the i-th pop has emptied it for
 * the next round. A position is claimed by a compare-and-swap on tail (push) or head (pop), and
 * only by a thread that saw the cell in the right state; the state changes only by the claimer's
 * release store. So each position is filled once and emptied once.
 *
 * Orders: the data of a cell is plain. The sequence's release store after writing it and acquire
 * load before reading it order the two, in both directions. The swaps on head and tail need no
 * order: they only hand out positions.
 *
 * The overflow: a push that finds the ring full, or that finds items in the overflow, appends to
 * a list under a lock. A pop that finds the ring empty takes the oldest of the list and moves as
 * many as fit back into the ring. Because pushes avoid the ring while the overflow holds items,
 * the ring drains and what overflowed is not passed by for ever: an item waits behind at most the
 * items queued before it, one ring of others, and pushes that were already under way.
 *
 * Emptiness is decided by positions, not by cells: a position that was claimed and is not filled
 * yet counts as an item, so a worker does not go to sleep in front of it.
 *
 * Indices are 64 bits wide and do not wrap in practice (292 years at 10^9 a second); the
 * arithmetic would survive it, because the capacity is a power of two.
 *
 * Source: D. Vyukov, "Bounded MPMC queue" (1024cores, 2010); the overflow is ours.
 */
#pragma once

#include "iris/base/iris-atomic-private.h"

#include <pthread.h>
#include <stdlib.h>

typedef struct IrisRing IrisRing;
typedef struct IrisRingCell IrisRingCell;

struct IrisRingCell
{
  _Atomic uint64_t sequence;
  void *item;
};

struct IrisRing
{
  alignas (IRIS_CACHE_PAIR) _Atomic uint64_t tail;
  alignas (IRIS_CACHE_PAIR) _Atomic uint64_t head;
  alignas (IRIS_CACHE_PAIR) IrisRingCell *cells;
  uint64_t mask;
  size_t link_offset; /* of a void * inside each item */

  _Atomic uint64_t n_overflow; /* written under the lock */
  pthread_mutex_t lock;
  void *oldest, *newest; /* under the lock */
};

static inline bool
iris_ring_init_at (IrisRing *self, uint64_t capacity, size_t link_offset, uint64_t index)
{
  /* A mask needs a power of two; anything else would map two positions onto one cell. */
  if (capacity < 2 || (capacity & (capacity - 1)) != 0)
    return false;
  self->cells = malloc (capacity * sizeof *self->cells);
  if (self->cells == NULL)
    return false;
  self->mask = capacity - 1;
  self->link_offset = link_offset;
  for (uint64_t i = 0; i < capacity; i++)
    atomic_init (&self->cells[(index + i) & self->mask].sequence, index + i);
  atomic_init (&self->tail, index);
  atomic_init (&self->head, index);
  atomic_init (&self->n_overflow, 0);
  pthread_mutex_init (&self->lock, NULL);
  self->oldest = self->newest = NULL;

  return true;
}

/* False when @capacity is no power of two of at least 2, or there is no memory. */
static inline bool
iris_ring_init (IrisRing *self, uint64_t capacity, size_t link_offset)
{
  return iris_ring_init_at (self, capacity, link_offset, 0);
}

static inline void
iris_ring_clear (IrisRing *self)
{
  pthread_mutex_destroy (&self->lock);
  free (self->cells);
  self->cells = NULL;
}

/* Into the ring alone; false when it is full. */
static inline bool
iris_ring_try_push (IrisRing *self, void *item)
{
  uint64_t tail = atomic_load_explicit (&self->tail, memory_order_relaxed);

  for (;;)
    {
      IrisRingCell *cell = &self->cells[tail & self->mask];
      uint64_t sequence = atomic_load_explicit (&cell->sequence, memory_order_acquire);
      int64_t ahead = (int64_t) (sequence - tail);

      if (ahead < 0)
        return false;
      if (ahead > 0)
        tail = atomic_load_explicit (&self->tail, memory_order_relaxed);
      else if (atomic_compare_exchange_weak_explicit (&self->tail, &tail, tail + 1,
                                                      memory_order_relaxed, memory_order_relaxed))
        {
          cell->item = item;
          atomic_store_explicit (&cell->sequence, tail + 1, memory_order_release);
          return true;
        }
    }
}

/* From the ring alone; NULL when there is nothing at its head. */
static inline void *
iris_ring_try_pop (IrisRing *self)
{
  uint64_t head = atomic_load_explicit (&self->head, memory_order_relaxed);

  for (;;)
    {
      IrisRingCell *cell = &self->cells[head & self->mask];
      uint64_t sequence = atomic_load_explicit (&cell->sequence, memory_order_acquire);
      int64_t ahead = (int64_t) (sequence - (head + 1));

      if (ahead < 0)
        return NULL;
      if (ahead > 0)
        head = atomic_load_explicit (&self->head, memory_order_relaxed);
      else if (atomic_compare_exchange_weak_explicit (&self->head, &head, head + 1,
                                                      memory_order_relaxed, memory_order_relaxed))
        {
          void *item = cell->item;

          atomic_store_explicit (&cell->sequence, head + self->mask + 1, memory_order_release);
          return item;
        }
    }
}

static inline void **
iris_ring_link (IrisRing *self, void *item)
{
  return (void **) ((uint8_t *) item + self->link_offset);
}

static inline void
iris_ring_overflow_push (IrisRing *self, void *item)
{
  *iris_ring_link (self, item) = NULL;
  pthread_mutex_lock (&self->lock);
  if (self->newest != NULL)
    *iris_ring_link (self, self->newest) = item;
  else
    self->oldest = item;
  self->newest = item;
  iris_counter_add (&self->n_overflow, 1);
  pthread_mutex_unlock (&self->lock);
}

/* Under the lock. */
static inline void *
iris_ring_overflow_unlink (IrisRing *self)
{
  void *item = self->oldest;

  if (item == NULL)
    return NULL;
  self->oldest = *iris_ring_link (self, item);
  if (self->oldest == NULL)
    self->newest = NULL;

  return item;
}

/* The oldest of the overflow, or NULL; the next ones go back into the ring while it has room. */
static inline void *
iris_ring_overflow_pop (IrisRing *self)
{
  void *first;
  uint64_t n = 0;

  pthread_mutex_lock (&self->lock);
  first = iris_ring_overflow_unlink (self);
  if (first != NULL)
    n++;
  while (self->oldest != NULL)
    {
      /* Linked until it is in: the link must be read before another thread may run the item. */
      void *item = self->oldest;
      void *next = *iris_ring_link (self, item);

      if (!iris_ring_try_push (self, item))
        break;
      self->oldest = next;
      if (next == NULL)
        self->newest = NULL;
      n++;
    }
  /* Release, behind the pushes: see iris_ring_get_length(). */
  atomic_store_explicit (&self->n_overflow, iris_counter_get (&self->n_overflow) - n,
                         memory_order_release);
  pthread_mutex_unlock (&self->lock);

  return first;
}

/* Any thread; never refuses. */
static inline void
iris_ring_push (IrisRing *self, void *item)
{
  if (iris_unlikely (iris_counter_get (&self->n_overflow) != 0)
      || iris_unlikely (!iris_ring_try_push (self, item)))
    iris_ring_overflow_push (self, item);
}

/* Any thread. NULL when there is nothing to be had at this moment; see iris_ring_is_empty(). */
static inline void *
iris_ring_pop (IrisRing *self)
{
  void *item = iris_ring_try_pop (self);

  if (iris_unlikely (item == NULL) && iris_counter_get (&self->n_overflow) != 0)
    item = iris_ring_overflow_pop (self);

  return item;
}

/* Any thread. Counts claimed positions as items. An item on its way from the overflow into the
 * ring is counted at least once: it enters the ring before it leaves the overflow, and the
 * overflow is read first. */
static inline uint64_t
iris_ring_get_length (IrisRing *self)
{
  uint64_t n_overflow = atomic_load_explicit (&self->n_overflow, memory_order_acquire);
  uint64_t head = atomic_load_explicit (&self->head, memory_order_relaxed);
  uint64_t tail = atomic_load_explicit (&self->tail, memory_order_relaxed);
  uint64_t n = (int64_t) (tail - head) > 0 ? tail - head : 0;

  return n + n_overflow;
}

static inline bool
iris_ring_is_empty (IrisRing *self)
{
  return iris_ring_get_length (self) == 0;
}
