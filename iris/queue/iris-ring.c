/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * The ring: the face of iris-ring-private.h, where the argument is.
 */
#include "iris/queue/iris-ring.h"

#include "iris/queue/iris-container-private.h"
#include "iris/queue/iris-ring-private.h"

/**
 * IrisRing:
 *
 * A queue of pointers for many threads, that is fast while no more than a fixed number of items is
 * in it, and takes more all the same.
 *
 * Up to its capacity items are in an array and no lock is taken. What comes when the ring is full
 * goes into a list under a lock, and from there back into the ring. Items leave nearly in the order
 * in which they came: one that overflowed waits behind at most what was queued before it, one ring
 * of others, and pushes that were already under way.
 */
struct _IrisRing
{
  IrisRingCore core;
  _Atomic gint n_refs;
};

#define MIN_CAPACITY 2
#define MAX_CAPACITY (1u << 31)

G_DEFINE_BOXED_TYPE (IrisRing, iris_ring, iris_ring_ref, iris_ring_unref)

/**
 * iris_ring_new:
 * @capacity: how many items are to fit before the ring overflows; from 1 to 2^31. It is rounded up
 *   to a power of two
 *
 * Makes a ring. Aborts when there is no memory.
 *
 * Returns: (transfer full): an empty ring
 */
IrisRing *
iris_ring_new (guint capacity)
{
  IrisRing *self;
  guint64 rounded = MIN_CAPACITY;

  g_return_val_if_fail (capacity > 0 && capacity <= MAX_CAPACITY, NULL);

  while (rounded < capacity)
    rounded *= 2;
  self = iris_container_alloc (sizeof *self);
  if (!iris_ring_core_init (&self->core, rounded, IRIS_RING_NODES))
    g_error ("iris: out of memory for a ring of %u items; ask for a smaller one", capacity);
  atomic_init (&self->n_refs, 1);

  return self;
}

/**
 * iris_ring_ref:
 *
 * Returns: (transfer full): @self, with one more reference; any thread may call it
 */
IRIS_DEFINE_REF (IrisRing, iris_ring, iris_container_ref (&self->n_refs))

/**
 * iris_ring_unref:
 * @self: (transfer full): a ring
 *
 * Drops a reference; the last one frees it, but not its items, which are the program's.
 * Any thread.
 */
void
iris_ring_unref (IrisRing *self)
{
  g_return_if_fail (self != NULL);

  if (!iris_container_unref (&self->n_refs))
    return;
  iris_ring_core_clear (&self->core);
  free (self);
}

/**
 * iris_ring_push:
 * @item: (not nullable): what to append; the ring does not take ownership
 *
 * Appends an item. Any thread. Never refuses; aborts when the ring is full and there is no memory.
 */
void
iris_ring_push (IrisRing *self, gpointer item)
{
  g_return_if_fail (self != NULL);
  g_return_if_fail (item != NULL);

  if (G_UNLIKELY (!iris_ring_core_push (&self->core, item)))
    g_error ("iris: out of memory for what a ring of %u overflows with",
             iris_ring_get_capacity (self));
}

/**
 * iris_ring_pop:
 *
 * Takes an item. Any thread.
 *
 * Returns: (transfer none) (nullable): the item; %NULL when there is none, or the thread that is
 *   about to push the next one is not done
 */
gpointer
iris_ring_pop (IrisRing *self)
{
  g_return_val_if_fail (self != NULL, NULL);

  return iris_ring_core_pop (&self->core);
}

/**
 * iris_ring_get_length:
 *
 * Gets the number of items, at some moment during the call; those that are being pushed count.
 */
guint64
iris_ring_get_length (IrisRing *self)
{
  g_return_val_if_fail (self != NULL, 0);

  return iris_ring_core_get_length (&self->core);
}

/**
 * iris_ring_get_capacity:
 *
 * Tells how many items fit before the ring overflows.
 */
guint
iris_ring_get_capacity (IrisRing *self)
{
  g_return_val_if_fail (self != NULL, 0);

  return (guint) (self->core.mask + 1);
}
