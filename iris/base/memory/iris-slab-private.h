/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * Slabs: memory for items and messages that costs its owner no atomic operation and does not age.
 *
 * Each thread owns one slab per size class. A slab has pages (iris-page-private.h) and hands out
 * objects of one of them, the current page, until that has none left. Free lists are those of
 * pages, so objects that are handed out one after the other lie in one page, whatever the order
 * was in which they were freed. Freed by its owner, an object goes back to the current page with
 * plain loads and stores, or, if it lies in another one, to that page's local list; freed by
 * another thread, it goes to the list that its page has for other threads, by one swap. No object
 * changes owner, and there is no ABA.
 *
 * Who may call what: iris_slab_alloc() and iris_slab_free() from any thread. The object's home is
 * handed out by the former and must be given to the latter. iris_slab_tidy() any thread.
 *
 * Shelves
 * -------
 * The pages of a slab that are not current and of which at least an eighth is free stand on
 * shelves, one for each eighth, under the slab's lock. The thread that frees the object which
 * completes an eighth puts the page where it belongs. When the current page is used up, the fullest
 * page of the shelves becomes current: so those that are nearly empty become empty, and at least an
 * eighth of a page is won for each lock taken. A page with less is on no shelf: that is the price
 * of it, at most a seventh more memory than there are objects in use.
 *
 * A page that is empty leaves its slab for the page pool (iris-page-pool-private.h), from where
 * another slab, or the system, has it. That needs nothing from the owner, which may be asleep or
 * gone. An owner notes what it freed itself in eighths, too, so a page that was freed in part by
 * its owner and in part by others may be found empty only when the owner comes along
 * (iris_slab_tidy(), the end of its thread, or the next time that it needs a page).
 *
 * Why it is correct
 * -----------------
 * An object is in one place at a time: in use, in the free list of the owner (of the current
 * page), in its page's local list, or in the page's word. The owner alone moves objects between the
 * latter three, and takes a page's lists only when it has made the page current, which it does
 * under the lock, before it hands out any of the page's objects. A page becomes current by being
 * held (its word says so) and ceases to be so when its owner's list is empty, or its thread ends.
 *
 * A page is given away under its slab's lock, not held, when all of its objects are in its lists.
 * Then no thread has an object of it, so no thread can push, and the owner cannot free one; the
 * owner finds pages only under the lock, or by objects. What is left are threads that pushed before
 * and still have to put the page on its shelf: they touch the header only, which stays, and under
 * the lock they look whether the page is this slab's. If it is, be it for the second time, they do
 * what the word says now, which is right at any time; the word says what there is to do, and not
 * the thread that came to do it.
 *
 * A page's slab changes under the lock of the slab that it leaves or comes to. So a thread that
 * holds a slab's lock and reads that slab in the page can rely on it, and otherwise has nothing to
 * do: the load and the stores need no order. Letting go of a page reads its word in the same step;
 * if an eighth was complete by then, the owner puts the page on its shelf, because its pushers did
 * not.
 *
 * Slabs outlive threads: the slabs of a thread that ends are put aside and adopted by the next
 * thread that needs some. So a home is valid for as long as the process lives. Adoption hands a
 * slab over under a lock, which is the happens-before edge for its plain fields. A slab that is put
 * aside has no current page, for that would keep its memory until a thread adopts it: the owner's
 * free list becomes the page's local one.
 *
 * Locks: a slab's lock is one of IRIS_SLAB_N_LOCKS, which a fork can guard; inside it only the
 * pool's is taken.
 *
 * Source: Leijen, Zorn, de Moura (iris-page-private.h) for lists of pages; P. Lietar et al.,
 * "snmalloc: A Message Passing Allocator" (ISMM 2019) for pages that come back only when a part of
 * them is free; E. Berger et al., "Hoard" (ASPLOS 2000) for the fullest page first.
 */
#pragma once

#include "iris/base/memory/iris-page-private.h"

typedef enum
{
  IRIS_SLAB_ITEM,    /* 64 bytes */
  IRIS_SLAB_MESSAGE, /* 128 bytes */
  IRIS_SLAB_N_CLASSES
} IrisSlabClass;

#define IRIS_SLAB_SIZE(klass)     ((uint32_t) 64 << (klass))
#define IRIS_SLAB_CAPACITY(klass) ((uint32_t) IRIS_PAGE_SIZE / IRIS_SLAB_SIZE (klass))

/* Shelf i has the pages of which at least i of so many parts are free. */
#define IRIS_SLAB_PARTS 8

#define IRIS_SLAB_N_LOCKS 8

/* How many objects are one of the parts; a power of two. */
static inline uint32_t
iris_slab_part (IrisSlabClass klass)
{
  uint32_t capacity = IRIS_SLAB_CAPACITY (klass);

  return capacity > IRIS_SLAB_PARTS ? capacity / IRIS_SLAB_PARTS : 1;
}

struct IrisSlab
{
  /* The owner's alone. */
  IrisLlistNode *free_list; /* of the current page */
  uint8_t *base;            /* of the current page; NULL: there is none */
  IrisPage *current;
  IrisSlabClass klass;
  uint32_t part_mask; /* one less than the objects of a part */

  /* Under the lock. */
  unsigned lock;
  uint32_t n_pages; /* with the current one */
  IrisPage *shelves[IRIS_SLAB_PARTS + 1];
};

extern __thread IrisSlab *iris_slab_mine[IRIS_SLAB_N_CLASSES];

void *iris_slab_alloc_slow (IrisSlabClass klass);
void iris_slab_put_on_shelf (IrisSlab *home, IrisPage *page);
void iris_slab_free_local (IrisSlab *home, void *object);
uint64_t iris_slab_tidy (_Atomic uint32_t *bed);
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

/* Fetches what the next iris_slab_alloc() of this thread will return: where other threads free, its
 * line is in the cache of the one that did. */
static inline void
iris_slab_prefetch (IrisSlabClass klass)
{
  IrisSlab *slab = iris_slab_mine[klass];

  if (iris_likely (slab != NULL))
    __builtin_prefetch (slab->free_list, 1);
}

static inline void
iris_slab_free (IrisSlabClass klass, IrisSlab *home, void *object)
{
  IrisLlistNode *node = object;

  if (iris_unlikely (home != iris_slab_mine[klass]))
    {
      IrisPage *page = iris_page_of (object);
      uint32_t word = iris_page_push (page, node);

      if (iris_unlikely (
              (word & (iris_slab_part (klass) * IRIS_PAGE_ONE - IRIS_PAGE_ONE + IRIS_PAGE_HELD))
              == 0))
        iris_slab_put_on_shelf (home, page);
    }
  else if (iris_likely (iris_page_base (object) == home->base))
    {
      node->next = home->free_list;
      home->free_list = node;
#ifdef IRIS_ADDRESS_SANITIZER
      iris_slab_poison (home, object);
#endif
    }
  else
    {
      iris_slab_free_local (home, object);
    }
}
