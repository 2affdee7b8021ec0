/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * The deque for programs: a thin face of the cores, with a pool of arrays for all of them.
 */
#include "iris/queue/iris-deque.h"

#include "iris/queue/iris-deque-private.h"

struct _IrisDeque
{
  IrisDequeCore core;
};

/**
 * IrisDeque: (skip)
 *
 * A list of pointers with an owner and thieves.
 *
 * The owner pushes and takes at one end, the newest first. Any other thread steals at the other
 * end, the oldest first. Which thread is the owner is up to the program, and may change if the
 * program orders the two (by a join, a lock or a queue). Items are any pointers but %NULL; the
 * deque neither reads nor frees what they point to. What the owner wrote before it pushed an item
 * is seen by the thread that gets it.
 */

G_DEFINE_ENUM_TYPE (IrisDequeKind,
                    iris_deque_kind,
                    G_DEFINE_ENUM_VALUE (IRIS_DEQUE_CHASE_LEV, "chase-lev"),
                    G_DEFINE_ENUM_VALUE (IRIS_DEQUE_SPLIT, "split"),
                    G_DEFINE_ENUM_VALUE (IRIS_DEQUE_ABP, "abp"),
                    G_DEFINE_ENUM_VALUE (IRIS_DEQUE_STEAL_HALF, "steal-half"),
                    G_DEFINE_ENUM_VALUE (IRIS_DEQUE_LOCKED, "locked"),
                    G_DEFINE_ENUM_VALUE (IRIS_DEQUE_IDEMPOTENT, "idempotent"))

static IrisArrayPool *
get_pool (void)
{
  static IrisArrayPool pool;
  static gsize is_ready;

  if (g_once_init_enter (&is_ready))
    {
      iris_array_pool_init (&pool);
      g_once_init_leave (&is_ready, 1);
    }

  return &pool;
}

/**
 * iris_deque_new: (skip)
 * @kind: how it is to work inside
 *
 * Makes an empty deque. Deques that grow share a pool of arrays with all others in the process.
 *
 * Any thread may call it. Like GLib it ends the program when there is no memory.
 *
 * Returns: (transfer full): a deque, to be freed with iris_deque_free()
 */
IrisDeque *
iris_deque_new (IrisDequeKind kind)
{
  IrisDeque *self;

  g_return_val_if_fail (kind <= IRIS_DEQUE_IDEMPOTENT, NULL);

  self = g_aligned_alloc0 (1, sizeof *self, alignof (IrisDeque));
  if (!iris_deque_core_init (&self->core, kind, get_pool ()))
    g_error ("There is no memory for the array of a deque.");

  return self;
}

/**
 * iris_deque_free: (skip)
 * @self: (transfer full): a deque that no thread uses any more
 *
 * Frees a deque. Items that are still in it are the caller's matter.
 */
void
iris_deque_free (IrisDeque *self)
{
  g_return_if_fail (self != NULL);

  iris_deque_core_clear (&self->core);
  g_aligned_free (self);
}

/**
 * iris_deque_get_kind: (skip)
 *
 * Returns: how the deque works inside; any thread may ask
 */
IrisDequeKind
iris_deque_get_kind (IrisDeque *self)
{
  g_return_val_if_fail (self != NULL, IRIS_DEQUE_CHASE_LEV);

  return self->core.kind;
}

/**
 * iris_deque_push: (skip)
 * @item: (not nullable): what to push
 *
 * Puts an item at the owner's end. Only the owner may call it.
 *
 * Returns: %FALSE, and nothing was pushed, when the deque is full: %IRIS_DEQUE_ABP holds 4,096
 *   items and %IRIS_DEQUE_IDEMPOTENT 1,024; the others grow, and fail only when there is no memory
 */
gboolean
iris_deque_push (IrisDeque *self, gpointer item)
{
  g_return_val_if_fail (self != NULL, FALSE);
  g_return_val_if_fail (item != NULL, FALSE);

  return iris_deque_core_push (&self->core, item);
}

/**
 * iris_deque_take: (skip)
 *
 * Takes the newest item. Only the owner may call it.
 *
 * Returns: (nullable): the item, or %NULL when the deque is empty
 */
gpointer
iris_deque_take (IrisDeque *self)
{
  g_return_val_if_fail (self != NULL, NULL);

  return iris_deque_core_take (&self->core);
}

/**
 * iris_deque_take_oldest: (skip)
 *
 * Takes the oldest item. Only the owner may call it.
 *
 * Returns: (nullable): the item, or %NULL when the deque is empty
 */
gpointer
iris_deque_take_oldest (IrisDeque *self)
{
  g_return_val_if_fail (self != NULL, NULL);

  return iris_deque_core_take_oldest (&self->core);
}

/**
 * iris_deque_steal: (skip)
 * @items: (array length=max) (out caller-allocates): where to put them, oldest first
 * @max: the most to take, at least 1
 *
 * Steals up to half of what may be stolen. Kinds that give one item at a time give one.
 *
 * Any thread may call it. It does not wait: it may find nothing because another thread is at the
 * deque at that moment, or because all items are the owner's private ones. In the latter case it
 * has asked the owner to expose some, which it does at its next push or take.
 *
 * Returns: how many items were stolen, 0 if none could be had now
 */
guint
iris_deque_steal (IrisDeque *self, gpointer *items, guint max)
{
  guint64 n;

  g_return_val_if_fail (self != NULL, 0);
  g_return_val_if_fail (items != NULL && max > 0, 0);

  iris_deque_core_steal (&self->core, items, max, &n);

  return (guint) n;
}

/**
 * iris_deque_expose: (skip)
 * @n: how many items to expose at most
 *
 * Lets thieves have the oldest of the items that only the owner could take until now. Of use
 * before the owner does something long; it exposes half by itself when it pushes or takes and a
 * thief has asked. Only %IRIS_DEQUE_SPLIT has such items. Only the owner may call it.
 *
 * Returns: how many items were exposed
 */
guint64
iris_deque_expose (IrisDeque *self, guint64 n)
{
  g_return_val_if_fail (self != NULL, 0);

  return iris_deque_core_expose (&self->core, n);
}

/**
 * iris_deque_get_length: (skip)
 *
 * Any thread may call it; unless the owner calls it and there are no thieves, the number may be
 * wrong by the time it is returned.
 *
 * Returns: how many items there are
 */
guint64
iris_deque_get_length (IrisDeque *self)
{
  g_return_val_if_fail (self != NULL, 0);

  return iris_deque_core_get_length (&self->core);
}
