/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * The idempotent deque: no fence and no swap for the owner, but an item may be given out twice.
 *
 * Use: only for items that may be handled more than once with the same result. Each item that was
 * pushed is given out at least once. Bounded; when it is full, push says no.
 *
 * Who may call what: push, take and take_oldest the owner alone; steal and get_length any thread;
 * init and clear while no other thread looks. Items are pointers other than NULL.
 *
 * Invariant: one word, the anchor, holds head, size and a stamp: the deque has the slots head,
 * head + 1, … head + size - 1, modulo the capacity. The owner reads it and stores a new one, a
 * thief swaps it. Only the owner writes slots, and only the one behind the last.
 *
 * Why nothing is lost: the owner's store may undo a swap of thieves that happened since it read
 * the anchor. That brings items back, which then come a second time; their slots still hold them,
 * because only the owner could have written there. A thief's swap removes the item that it has
 * read in slot head: every push gives the anchor a new stamp, so if the swap succeeds, nothing
 * was pushed since the thief read the anchor, and the slot still holds what it held then.
 *
 * Why the orders suffice: every store of the anchor by the owner is a release and every thief
 * reads it with acquire, so the slots it names, and what they point to, are seen. The thief's
 * swap is a release and the owner reads with acquire, so what the owner writes to a slot comes
 * after the thief has read it. There is no Dekker pattern: no thread announces anything.
 *
 * But the owner may overwrite a thief's swap without having read it. So a slot itself is stored
 * with release and read by thieves with acquire: else the owner's store to the slot could come out
 * before the anchor that it took the slot back with, and a thief whose swap of the older anchor
 * succeeds would have the new item, the contents of which nothing has made visible to it. As it
 * is, a thief that reads the new item has seen that anchor, and its swap fails.
 *
 * The stamp has the bits that head and size leave: 43 with 1,024 slots, 39 with 4,096, the most.
 * It changes once per push, 1 ns at best, so it comes round after 2.4 hours and 9 minutes. A thief
 * would have to stand still between two instructions for just that long to lose an item.
 *
 * Source: M. M. Michael, M. T. Vechev, V. A. Saraswat, "Idempotent Work Stealing" (PPoPP 2009),
 * the double-ended one (figure 3); theirs grows, and asks only for ordered stores and loads.
 */
#pragma once

#include "iris/base/iris-atomic-private.h"
#include "iris/queue/deque/iris-array-private.h"
#include "iris/queue/deque/iris-steal-private.h"

#define IRIS_IDEMQUEUE_MAX_CAPACITY     4096
#define IRIS_IDEMQUEUE_DEFAULT_CAPACITY 1024

/* A test defines it as 0, to show what goes wrong. */
#ifndef IRIS_IDEMQUEUE_STAMP_STEP
#define IRIS_IDEMQUEUE_STAMP_STEP 1
#endif

typedef struct IrisIdemQueue IrisIdemQueue;
typedef struct IrisIdemAnchor IrisIdemAnchor;

struct IrisIdemQueue
{
  alignas (IRIS_CACHE_PAIR) _Atomic uint64_t anchor;
  alignas (IRIS_CACHE_PAIR) IrisArray *array; /* never changes */
  int order;                                  /* the logarithm of its capacity */
};

/* The anchor, unpacked. */
struct IrisIdemAnchor
{
  uint64_t head;
  uint64_t size;
  uint64_t stamp;
};

static inline IrisIdemAnchor
iris_idemqueue_unpack (const IrisIdemQueue *self, uint64_t word)
{
  return (IrisIdemAnchor){ .head = word & self->array->mask,
                           .size = word >> self->order & (2 * self->array->mask + 1),
                           .stamp = word >> (2 * self->order + 1) };
}

static inline uint64_t
iris_idemqueue_pack (const IrisIdemQueue *self, IrisIdemAnchor anchor)
{
  return anchor.stamp << (2 * self->order + 1) | anchor.size << self->order
         | (anchor.head & self->array->mask);
}

/* Starts with @stamp, which is 0 but in tests that cross limits. False when there is no memory,
 * or @capacity is no power of two from 2 to the maximum. */
static inline bool
iris_idemqueue_init_full (IrisIdemQueue *self, uint64_t capacity, uint64_t stamp)
{
  self->array = capacity <= IRIS_IDEMQUEUE_MAX_CAPACITY ? iris_array_new (capacity) : NULL;
  if (self->array == NULL)
    return false;
  self->order = __builtin_ctzll (capacity);
  atomic_init (&self->anchor, iris_idemqueue_pack (self, (IrisIdemAnchor){ .stamp = stamp }));

  return true;
}

static inline void
iris_idemqueue_clear (IrisIdemQueue *self)
{
  free (self->array);
  self->array = NULL;
}

static inline IrisIdemAnchor
iris_idemqueue_read (IrisIdemQueue *self)
{
  return iris_idemqueue_unpack (self, atomic_load_explicit (&self->anchor, memory_order_acquire));
}

static inline _Atomic (void *) *
iris_idemqueue_slot (IrisIdemQueue *self, uint64_t position)
{
  return &self->array->slots[position & self->array->mask];
}

static inline void
iris_idemqueue_write (IrisIdemQueue *self, IrisIdemAnchor anchor)
{
  atomic_store_explicit (&self->anchor, iris_idemqueue_pack (self, anchor), memory_order_release);
}

/* Owner. False, and nothing changed, when the deque is full. */
static inline bool
iris_idemqueue_push (IrisIdemQueue *self, void *item)
{
  IrisIdemAnchor anchor = iris_idemqueue_read (self);

  if (iris_unlikely (anchor.size > self->array->mask))
    return false;
  /* Release: behind the anchors that gave the slot back. */
  atomic_store_explicit (iris_idemqueue_slot (self, anchor.head + anchor.size), item,
                         memory_order_release);
  anchor.size++;
  anchor.stamp += IRIS_IDEMQUEUE_STAMP_STEP;
  iris_idemqueue_write (self, anchor);

  return true;
}

/* Owner. The newest item, or NULL. */
static inline void *
iris_idemqueue_take (IrisIdemQueue *self)
{
  IrisIdemAnchor anchor = iris_idemqueue_read (self);

  if (anchor.size == 0)
    return NULL;
  anchor.size--;
  iris_idemqueue_write (self, anchor);

  return iris_array_get (self->array, anchor.head + anchor.size);
}

/* Owner. The oldest item, or NULL. */
static inline void *
iris_idemqueue_take_oldest (IrisIdemQueue *self)
{
  IrisIdemAnchor anchor = iris_idemqueue_read (self);

  if (anchor.size == 0)
    return NULL;
  anchor.head++;
  anchor.size--;
  iris_idemqueue_write (self, anchor);

  return iris_array_get (self->array, anchor.head - 1);
}

/* Any thread. Claims up to half of what is there (rounded up), at most @max items, into @items,
 * oldest first, with one compare-and-swap. @n is how many, 0 unless the result is TAKEN. */
static inline IrisStealResult
iris_idemqueue_steal (IrisIdemQueue *self, void **items, uint64_t max, uint64_t *n)
{
  uint64_t word = atomic_load_explicit (&self->anchor, memory_order_acquire);
  IrisIdemAnchor anchor = iris_idemqueue_unpack (self, word);
  uint64_t k = (anchor.size + 1) / 2;

  *n = 0;
  if (anchor.size == 0)
    return IRIS_STEAL_EMPTY;
  if (k > max)
    k = max;
  for (uint64_t i = 0; i < k; i++)
    items[i] = atomic_load_explicit (iris_idemqueue_slot (self, anchor.head + i),
                                     memory_order_acquire);
  anchor.head += k;
  anchor.size -= k;
  if (!atomic_compare_exchange_strong_explicit (&self->anchor, &word,
                                                iris_idemqueue_pack (self, anchor),
                                                memory_order_release, memory_order_relaxed))
    return IRIS_STEAL_LOST;
  *n = k;

  return IRIS_STEAL_TAKEN;
}

/* Any thread. How many items there are; already wrong when it returns. */
static inline uint64_t
iris_idemqueue_get_length (IrisIdemQueue *self)
{
  return iris_idemqueue_read (self).size;
}
