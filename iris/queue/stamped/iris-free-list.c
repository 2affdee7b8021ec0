/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * The free list: the face of iris-free-list-private.h, where the argument is.
 *
 * A block has its number in front of it, by which it finds its way back.
 */
#include "iris/queue/stamped/iris-free-list.h"

#include "iris/queue/iris-container-private.h"
#include "iris/queue/stamped/iris-free-list-private.h"

/**
 * IrisFreeList:
 *
 * Blocks of memory of one size, which any thread may take and any thread give back, without a
 * lock.
 *
 * A block that was given back stays readable: its memory is a block until the list goes. A
 * lock-free structure made of such blocks can be read by a thread that was preempted at the wrong
 * moment. Memory grows with the largest number of blocks that were out at once.
 */
struct _IrisFreeList
{
  IrisFreeListCore core;
  _Atomic gint n_refs;
};

typedef struct
{
  IrisLifoNode link;
  uint32_t index;
  alignas (max_align_t) unsigned char block[];
} Block;

/* Room for the number, and for rounding up. */
#define MAX_BLOCK_SIZE (G_MAXSIZE / 2)

G_DEFINE_BOXED_TYPE (IrisFreeList, iris_free_list, iris_free_list_ref, iris_free_list_unref)

/**
 * iris_free_list_new:
 * @block_size: the size of a block in bytes
 *
 * Returns: (transfer full): a free list without memory
 */
IrisFreeList *
iris_free_list_new (gsize block_size)
{
  IrisFreeList *self;
  gsize align = alignof (max_align_t);

  g_return_val_if_fail (block_size <= MAX_BLOCK_SIZE, NULL);

  self = iris_container_alloc (sizeof *self);
  iris_free_list_core_init (&self->core, (sizeof (Block) + block_size + align - 1) & ~(align - 1),
                            0);
  atomic_init (&self->n_refs, 1);

  return self;
}

/**
 * iris_free_list_ref:
 *
 * Returns: (transfer full): @self, with one more reference; any thread may call it
 */
IRIS_DEFINE_REF (IrisFreeList, iris_free_list, iris_container_ref (&self->n_refs))

/**
 * iris_free_list_unref:
 * @self: (transfer full): a free list
 *
 * Drops a reference; the last one frees it and all its blocks, also those that are out. Any
 * thread.
 */
void
iris_free_list_unref (IrisFreeList *self)
{
  g_return_if_fail (self != NULL);

  if (!iris_container_unref (&self->n_refs))
    return;
  iris_free_list_core_clear (&self->core);
  free (self);
}

/**
 * iris_free_list_get:
 *
 * Takes a block. Its contents are undefined; it is aligned as malloc() aligns. Any thread. Aborts
 * when there is no memory.
 *
 * Returns: (transfer none) (not nullable): a block, the caller's until it gives it back
 */
gpointer
iris_free_list_get (IrisFreeList *self)
{
  Block *block;
  uint32_t index;
  bool fresh;

  g_return_val_if_fail (self != NULL, NULL);

  index = iris_free_list_core_get (&self->core, &fresh);
  if (G_UNLIKELY (index == IRIS_INDEX_NONE))
    g_error ("iris: out of memory for blocks of %" G_GSIZE_FORMAT " bytes",
             self->core.arena.node_size);
  block = iris_free_list_core_at (&self->core, index);
  block->index = index;

  return block->block;
}

/**
 * iris_free_list_put:
 * @block: (not nullable): a block of this list
 *
 * Gives a block back. Any thread.
 */
void
iris_free_list_put (IrisFreeList *self, gpointer block)
{
  Block *header;

  g_return_if_fail (self != NULL);
  g_return_if_fail (block != NULL);

  header = (Block *) ((guint8 *) block - offsetof (Block, block));
  iris_free_list_core_put (&self->core, header->index);
}
