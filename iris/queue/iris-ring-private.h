/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * The ring's core: a bounded queue for many producers and consumers that overflows instead of
 * refusing.
 *
 * Who may call what: push, pop, pop_many, is_empty and get_length any thread; init and clear while
 * no other thread looks. Items are the caller's. The overflow is a list of them: either each has a
 * link of its own, and then push never refuses; or those that overflow are put into nodes, which
 * takes memory.
 *
 * The ring proper: cell i mod n carries a sequence number. It is i when the cell is free for the
 * i-th push, i + 1 when it holds the i-th item, and i + n when the i-th pop has emptied it for
 * the next round. A position is claimed by a compare-and-swap on tail (push) or head (pop), and
 * only by a thread that saw the cell in the right state; the state changes only by the claimer's
 * release store. So each position is filled once and emptied once.
 *
 * Several at once: a consumer that sees n cells in a row filled swaps head on by n. Only consumers
 * empty cells, and they swap head first, so a swap that succeeds finds them filled still.
 *
 * Orders: the data of a cell is plain. The sequence's release store after writing it and acquire
 * load before reading it order the two, in both directions. The swaps on head and tail need no
 * order: they only hand out positions.
 *
 * The overflow: a push that finds the ring full, or that finds items in the overflow, appends to
 * a list under a lock. A pop that finds the ring empty takes the oldest of the list and moves as
 * many as fit back into the ring. Because pushes avoid the ring while the overflow holds items,
 * the ring drains and what overflowed is not passed by for ever: an item waits behind at most the
 * items queued before it, one ring of others, and pushes that were already under way. The items of
 * a producer that has the ring for itself leave in its order.
 *
 * Emptiness is decided by positions, not by cells: a position that was claimed and is not filled
 * yet counts as an item, so a worker does not go to sleep in front of it. The number in the
 * overflow is read first, with acquire, and each of its changes is a release under the lock: so
 * whichever change a thread reads, it sees the positions of all items that were moved into the ring
 * before that one. (A relaxed change would end the release sequence of the move in front of it.)
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

typedef struct IrisRingCore IrisRingCore;
typedef struct IrisRingCell IrisRingCell;
typedef struct IrisRingLink IrisRingLink;

/* More cells than an address space holds. */
#define IRIS_RING_MAX_CAPACITY ((uint64_t) 1 << 40)

/* Instead of the offset of a link: items have none, and get a node when they overflow. */
#define IRIS_RING_NODES SIZE_MAX

struct IrisRingLink
{
  IrisRingLink *next;
};

typedef struct
{
  IrisRingLink link;
  void *item;
} IrisRingNode;

struct IrisRingCell
{
  _Atomic uint64_t sequence;
  void *item;
};

struct IrisRingCore
{
  alignas (IRIS_CACHE_PAIR) _Atomic uint64_t tail;
  alignas (IRIS_CACHE_PAIR) _Atomic uint64_t head;
  alignas (IRIS_CACHE_PAIR) IrisRingCell *cells;
  uint64_t mask;
  size_t link_offset; /* of an IrisRingLink inside each item, or IRIS_RING_NODES */

  /* Not in the line of what no thread writes. */
  alignas (IRIS_CACHE_PAIR) _Atomic uint64_t n_overflow; /* written under the lock */
  pthread_mutex_t lock;
  IrisRingLink *oldest, *newest; /* under the lock */
};

static inline bool
iris_ring_core_init_at (IrisRingCore *self, uint64_t capacity, size_t link_offset, uint64_t index)
{
  /* A mask needs a power of two; anything else would map two positions onto one cell. */
  if (capacity < 2 || (capacity & (capacity - 1)) != 0 || capacity > IRIS_RING_MAX_CAPACITY)
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
iris_ring_core_init (IrisRingCore *self, uint64_t capacity, size_t link_offset)
{
  return iris_ring_core_init_at (self, capacity, link_offset, 0);
}

static inline void
iris_ring_core_clear (IrisRingCore *self)
{
  if (self->link_offset == IRIS_RING_NODES)
    while (self->oldest != NULL)
      {
        IrisRingLink *link = self->oldest;

        self->oldest = link->next;
        free (link);
      }
  pthread_mutex_destroy (&self->lock);
  free (self->cells);
  self->cells = NULL;
}

/* Into the ring alone; false when it is full. */
static inline bool
iris_ring_core_try_push (IrisRingCore *self, void *item)
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
iris_ring_core_try_pop (IrisRingCore *self)
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

/* Up to @max, at least 1, from the ring alone, oldest first; how many. */
static inline uint64_t
iris_ring_core_try_pop_many (IrisRingCore *self, void **items, uint64_t max)
{
  uint64_t head = atomic_load_explicit (&self->head, memory_order_relaxed);

  for (;;)
    {
      int64_t ahead = 0;
      uint64_t n = 0;

      while (n < max)
        {
          IrisRingCell *cell = &self->cells[(head + n) & self->mask];
          uint64_t sequence = atomic_load_explicit (&cell->sequence, memory_order_acquire);

          ahead = (int64_t) (sequence - (head + n + 1));
          if (ahead != 0)
            break;
          n++;
        }
      if (n == 0 && ahead < 0)
        return 0;
      if (n == 0)
        {
          head = atomic_load_explicit (&self->head, memory_order_relaxed);
        }
      else if (atomic_compare_exchange_weak_explicit (&self->head, &head, head + n,
                                                      memory_order_relaxed, memory_order_relaxed))
        {
          for (uint64_t i = 0; i < n; i++)
            {
              IrisRingCell *cell = &self->cells[(head + i) & self->mask];

              items[i] = cell->item;
              atomic_store_explicit (&cell->sequence, head + i + self->mask + 1,
                                     memory_order_release);
            }
          return n;
        }
    }
}

/* The link by which an item waits in the overflow; NULL when there is no memory for a node. */
static inline IrisRingLink *
iris_ring_core_link (IrisRingCore *self, void *item)
{
  IrisRingNode *node;

  if (iris_likely (self->link_offset != IRIS_RING_NODES))
    return (IrisRingLink *) (void *) ((uint8_t *) item + self->link_offset);
  node = malloc (sizeof *node);
  if (node == NULL)
    return NULL;
  node->item = item;

  return &node->link;
}

static inline void *
iris_ring_core_item (IrisRingCore *self, IrisRingLink *link)
{
  if (iris_likely (self->link_offset != IRIS_RING_NODES))
    return (uint8_t *) link - self->link_offset;

  return ((IrisRingNode *) link)->item;
}

/* The item is elsewhere: its node, if it had one, goes. */
static inline void
iris_ring_core_unlink (IrisRingCore *self, IrisRingLink *link)
{
  if (self->link_offset == IRIS_RING_NODES)
    free (link);
}

/* Under the lock. Release, behind the pushes: see iris_ring_core_get_length(). */
static inline void
iris_ring_core_count_overflow (IrisRingCore *self, uint64_t n)
{
  atomic_store_explicit (&self->n_overflow, iris_counter_get (&self->n_overflow) + n,
                         memory_order_release);
}

static inline bool
iris_ring_core_overflow_push (IrisRingCore *self, void *item)
{
  IrisRingLink *link = iris_ring_core_link (self, item);

  if (iris_unlikely (link == NULL))
    return false;
  link->next = NULL;
  pthread_mutex_lock (&self->lock);
  if (self->newest != NULL)
    self->newest->next = link;
  else
    self->oldest = link;
  self->newest = link;
  iris_ring_core_count_overflow (self, 1);
  pthread_mutex_unlock (&self->lock);

  return true;
}

/* Moves as many from the overflow into the ring as fit; how many. Under the lock. */
static inline uint64_t
iris_ring_core_refill (IrisRingCore *self)
{
  uint64_t n = 0;

  while (self->oldest != NULL)
    {
      /* Linked until it is in: the link must be read before another thread may run the item. */
      IrisRingLink *link = self->oldest;
      IrisRingLink *next = link->next;

      if (!iris_ring_core_try_push (self, iris_ring_core_item (self, link)))
        break;
      iris_ring_core_unlink (self, link);
      self->oldest = next;
      n++;
    }
  if (self->oldest == NULL)
    self->newest = NULL;

  return n;
}

/* The oldest of the overflow, if the ring is empty; the next ones go back into the ring while it
 * has room. */
static inline void *
iris_ring_core_overflow_pop (IrisRingCore *self)
{
  IrisRingLink *link;
  void *first;
  uint64_t n = 0;

  pthread_mutex_lock (&self->lock);
  /* The caller found the ring empty, but maybe not behind the lock of a producer that put one item
   * into the ring and the next into the overflow. Behind it the first is seen, and comes first. */
  first = iris_ring_core_try_pop (self);
  link = self->oldest;
  if (first == NULL && link != NULL)
    {
      first = iris_ring_core_item (self, link);
      self->oldest = link->next;
      iris_ring_core_unlink (self, link);
      n = 1 + iris_ring_core_refill (self);
    }
  iris_ring_core_count_overflow (self, -n);
  pthread_mutex_unlock (&self->lock);

  return first;
}

/* As iris_ring_core_overflow_pop(), but the next ones go to the caller, up to @max in all, and not
 * into the ring. */
static inline uint64_t
iris_ring_core_overflow_pop_many (IrisRingCore *self, void **items, uint64_t max)
{
  uint64_t n_taken = 0, n;

  pthread_mutex_lock (&self->lock);
  n = iris_ring_core_try_pop_many (self, items, max);
  if (n == 0)
    for (; n < max && self->oldest != NULL; n++, n_taken++)
      {
        IrisRingLink *link = self->oldest;

        items[n] = iris_ring_core_item (self, link);
        self->oldest = link->next;
        iris_ring_core_unlink (self, link);
      }
  if (self->oldest == NULL)
    self->newest = NULL;
  iris_ring_core_count_overflow (self, -n_taken);
  pthread_mutex_unlock (&self->lock);

  return n;
}

/* Any thread. False, and nothing changed, when the ring is full or the overflow holds items. */
static inline bool
iris_ring_core_offer (IrisRingCore *self, void *item)
{
  return iris_likely (iris_counter_get (&self->n_overflow) == 0)
         && iris_likely (iris_ring_core_try_push (self, item));
}

/* Any thread. Never refuses an item that has a link. One that needs a node is refused, and nothing
 * changed, when the ring is full and there is no memory. */
static inline bool
iris_ring_core_push (IrisRingCore *self, void *item)
{
  return iris_likely (iris_ring_core_offer (self, item))
         || iris_ring_core_overflow_push (self, item);
}

/* Any thread. NULL when there is nothing to be had at this moment; see iris_ring_core_is_empty().
 */
static inline void *
iris_ring_core_pop (IrisRingCore *self)
{
  void *item = iris_ring_core_try_pop (self);

  if (iris_unlikely (item == NULL) && iris_counter_get (&self->n_overflow) != 0)
    item = iris_ring_core_overflow_pop (self);

  return item;
}

/* Any thread. As pop, but up to @max items, at least 1, for one swap, oldest first; how many. */
static inline uint64_t
iris_ring_core_pop_many (IrisRingCore *self, void **items, uint64_t max)
{
  uint64_t n = iris_ring_core_try_pop_many (self, items, max);

  if (iris_unlikely (n == 0) && iris_counter_get (&self->n_overflow) != 0)
    n = iris_ring_core_overflow_pop_many (self, items, max);

  return n;
}

/* Any thread. Counts claimed positions as items. An item on its way from the overflow into the
 * ring is counted at least once: it enters the ring before it leaves the overflow, and the
 * overflow is read first. */
static inline uint64_t
iris_ring_core_get_length (IrisRingCore *self)
{
  uint64_t n_overflow = atomic_load_explicit (&self->n_overflow, memory_order_acquire);
  uint64_t head = atomic_load_explicit (&self->head, memory_order_relaxed);
  uint64_t tail = atomic_load_explicit (&self->tail, memory_order_relaxed);
  uint64_t n = (int64_t) (tail - head) > 0 ? tail - head : 0;

  return n + n_overflow;
}

static inline bool
iris_ring_core_is_empty (IrisRingCore *self)
{
  return iris_ring_core_get_length (self) == 0;
}
