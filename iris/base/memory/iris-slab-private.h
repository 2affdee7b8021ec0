/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * Slabs: memory for items and messages that costs its owner no atomic operation.
 *
 * Each thread owns one slab per size class. It allocates from its own free list with plain loads
 * and stores. Freed by its owner, an object goes back to that list; freed by another thread, it
 * travels home through the slab's remote free list, which the owner takes whole when its own list
 * runs dry. There is no ABA (iris-llist-private.h) and no object ever changes owner.
 *
 * Who may call what: iris_slab_alloc() and iris_slab_free() from any thread. The object's home is
 * handed out by the former and must be given to the latter.
 *
 * Slabs outlive threads: the slabs of a thread that ends are put aside whole and adopted by the
 * next thread that needs some, together with what still travels home to them. So a home is valid
 * for as long as the process lives, and threads that come and go need no new memory. Memory goes
 * back to the system never; it is bounded by the largest number of objects in use at once.
 *
 * Adoption hands a slab over under a lock, which is the happens-before edge for its plain fields.
 */
#pragma once

#include "iris/base/memory/iris-llist-private.h"

typedef enum
{
  IRIS_SLAB_ITEM,    /* 64 bytes */
  IRIS_SLAB_MESSAGE, /* 128 bytes */
  IRIS_SLAB_N_CLASSES
} IrisSlabClass;

typedef struct IrisSlab IrisSlab;

struct IrisSlab
{
  /* The owner's alone. */
  IrisLlistNode *free_list;
  uint8_t *fresh; /* never used yet, up to fresh_end */
  uint8_t *fresh_end;
  void *chunks; /* all chunks, linked through their first word */
  size_t object_size;

  alignas (IRIS_CACHE_PAIR) IrisLlist remote_free;
};

extern __thread IrisSlab *iris_slab_mine[IRIS_SLAB_N_CLASSES];

void *iris_slab_alloc_slow (IrisSlabClass klass);
void iris_slab_poison (IrisSlab *home, void *object);
void iris_slab_unpoison (IrisSlab *home, void *object);

/* Uninitialised memory of the class's size, aligned to a cache line. Aborts when there is none,
 * as g_malloc() does. */
static inline void *
iris_slab_alloc (IrisSlabClass klass, IrisSlab **home)
{
  IrisSlab *slab = iris_slab_mine[klass];
  void *object;

  if (iris_likely (slab != NULL && slab->free_list != NULL))
    {
      IrisLlistNode *node = slab->free_list;

#ifdef IRIS_ADDRESS_SANITIZER
      iris_slab_unpoison (slab, node);
#endif
      slab->free_list = node->next;
      *home = slab;
      return node;
    }

  object = iris_slab_alloc_slow (klass);
  *home = iris_slab_mine[klass];

  return object;
}

static inline void
iris_slab_free (IrisSlabClass klass, IrisSlab *home, void *object)
{
  IrisLlistNode *node = object;

  if (iris_likely (home == iris_slab_mine[klass]))
    {
      node->next = home->free_list;
      home->free_list = node;
#ifdef IRIS_ADDRESS_SANITIZER
      iris_slab_poison (home, object);
#endif
    }
  else
    {
      iris_llist_push (&home->remote_free, node);
    }
}
