/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * The MPSC queue: the face of iris-mpsc-private.h, where the argument is.
 *
 * The nodes are slab objects (iris-slab-private.h): a sender's own memory, taken without an atomic
 * operation, to which the owner sends it back.
 */
#include "iris/queue/iris-mpsc.h"

#include "iris/base/memory/iris-slab-private.h"
#include "iris/queue/iris-container-private.h"
#include "iris/queue/iris-mpsc-private.h"

/**
 * IrisMpsc:
 *
 * An MPSC queue: any thread sends, one owner receives, first in, first out.
 *
 * The MPSC queue knows whether its owner rests, and tells exactly one sender when the owner has to
 * be called. A handler that is run by a pool of threads looks like this:
 *
 * ```c
 * static void
 * send (gpointer item)
 * {
 *   if (iris_mpsc_push (queue, item))
 *     iris_scheduler_queue (scheduler, receive, NULL, NULL);
 * }
 *
 * static void
 * receive (gpointer data)
 * {
 *   gpointer item;
 *
 *   while ((item = iris_mpsc_pop (queue)) != NULL)
 *     handle (item);
 *   if (!iris_mpsc_rest (queue))
 *     iris_scheduler_queue (scheduler, receive, NULL, NULL);
 * }
 * ```
 */
struct _IrisMpsc
{
  IrisMpscCore core;
  _Atomic gint n_refs;
};

typedef struct
{
  IrisMpscNode node;
  IrisSlab *home;
} Entry;

G_DEFINE_BOXED_TYPE (IrisMpsc, iris_mpsc, iris_mpsc_ref, iris_mpsc_unref)

static Entry *
entry_new (gpointer item)
{
  IrisSlab *home;
  Entry *entry = iris_slab_alloc (IRIS_SLAB_ITEM, &home);

  entry->node.item = item;
  entry->home = home;

  return entry;
}

static void
entry_free (IrisMpscNode *node)
{
  iris_slab_free (IRIS_SLAB_ITEM, ((Entry *) node)->home, node);
}

/**
 * iris_mpsc_new:
 *
 * Returns: (transfer full): an empty MPSC queue whose owner rests
 */
IrisMpsc *
iris_mpsc_new (void)
{
  IrisMpsc *self = iris_container_alloc (sizeof *self);

  iris_mpsc_core_init (&self->core, &entry_new (NULL)->node);
  atomic_init (&self->n_refs, 1);

  return self;
}

/**
 * iris_mpsc_ref:
 *
 * Returns: (transfer full): @self, with one more reference; any thread may call it
 */
IRIS_DEFINE_REF (IrisMpsc, iris_mpsc, iris_container_ref (&self->n_refs))

/**
 * iris_mpsc_unref:
 * @self: (transfer full): an MPSC queue
 *
 * Drops a reference; the last one frees it, but not its items, which are the program's.
 * Any thread.
 */
void
iris_mpsc_unref (IrisMpsc *self)
{
  g_return_if_fail (self != NULL);

  if (!iris_container_unref (&self->n_refs))
    return;
  while (iris_mpsc_pop (self) != NULL)
    ;
  entry_free (iris_mpsc_core_stub (&self->core));
  free (self);
}

/**
 * iris_mpsc_push:
 * @item: (not nullable): what to send; the MPSC queue does not take ownership
 *
 * Sends an item. Any thread. Aborts when there is no memory.
 *
 * Returns: %TRUE when the owner was at rest: the caller, and no other thread, must see to it that
 * it runs
 */
gboolean
iris_mpsc_push (IrisMpsc *self, gpointer item)
{
  g_return_val_if_fail (self != NULL, FALSE);
  g_return_val_if_fail (item != NULL, FALSE);

  return iris_mpsc_core_push (&self->core, &entry_new (item)->node);
}

/**
 * iris_mpsc_pop:
 *
 * Receives the oldest item. The owner only.
 *
 * Returns: (transfer none) (nullable): the item, or %NULL when there is none, or its sender is not
 *   done; [method@Mpsc.rest] tells the two apart
 */
gpointer
iris_mpsc_pop (IrisMpsc *self)
{
  IrisMpscNode *spent;
  gpointer item;

  g_return_val_if_fail (self != NULL, NULL);

  item = iris_mpsc_core_pop (&self->core, &spent);
  if (item != NULL)
    entry_free (spent);

  return item;
}

/**
 * iris_mpsc_rest:
 *
 * Lays the owner to rest, if the MPSC queue is empty. The owner only.
 *
 * Returns: %TRUE when the MPSC queue is empty: the next sender will be told to call the owner,
 * which must not touch the MPSC queue until then. %FALSE when there is an item, or one is on its
 * way: the owner must run again, and no thread will call it
 */
gboolean
iris_mpsc_rest (IrisMpsc *self)
{
  g_return_val_if_fail (self != NULL, TRUE);

  return iris_mpsc_core_rest (&self->core);
}

/**
 * iris_mpsc_is_empty:
 *
 * Tells whether nothing is in the MPSC queue or on its way; to others than the owner, a hint.
 */
gboolean
iris_mpsc_is_empty (IrisMpsc *self)
{
  g_return_val_if_fail (self != NULL, TRUE);

  return iris_mpsc_core_is_empty (&self->core);
}
