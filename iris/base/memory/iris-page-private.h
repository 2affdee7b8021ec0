/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * The page: some hundred objects of one size, and a free list of its own for other threads.
 *
 * What it is: IRIS_PAGE_SIZE bytes, aligned to that, in a region of IRIS_REGION_SIZE bytes that
 * begins with the headers of its pages. Thus any object tells its page and the page's header by its
 * address alone. Headers lie apart from the pages, because headers that are a page apart from each
 * other would share a few sets of every cache.
 *
 * Who may call what: push any thread that has an object of the page, which it gives up. take and
 * hold the owner of the slab that the page belongs to; let_go the same, while it holds the page.
 * count any thread.
 *
 * The word: what other threads freed is a chain through the objects' first words. `freed` has the
 * offset of the newest, how many there are, and whether the owner holds the page; all three change
 * together, in one read-modify-write. So the thread that frees the object which makes some number
 * full knows it, and, unless the page is held, has to tell the page's slab (iris-slab.c).
 *
 * Why it is correct: push links its object to the newest one that it read and swaps the word. If
 * the chain was taken and the same object pushed again in between (ABA), the link is right all the
 * same: it names whatever is newest at the moment of the swap, as many are behind it as the word
 * says, and nothing behind the newest was looked at. take has the chain for itself. Hence no stamp
 * is needed. The pusher writes to the page before its swap, when its own object keeps the page from
 * being empty, and never behind it. Behind it the pusher may look at the header, which stays what
 * it is.
 *
 * Orders: the release of a push hands the object and its link to the acquire of take, also through
 * the pushes behind it, which continue its release sequence; so do hold and let_go, because they
 * are read-modify-writes. let_go is a release as well: what the owner wrote into the header is seen
 * by the thread that finds the page empty. That thread reads the word with acquire (count), so
 * everything that was ever done with the page's objects happens before its next use.
 *
 * Source: D. Leijen, B. Zorn, L. de Moura, "Mimalloc: Free List Sharding in Action" (APLAS 2019),
 * sections 2.1 to 2.4; the count in the word is ours.
 */
#pragma once

#include "iris/base/memory/iris-llist-private.h"

/* The explorer takes smaller ones. */
#ifndef IRIS_PAGE_BITS
#define IRIS_PAGE_BITS 16
#endif
#ifndef IRIS_REGION_BITS
#define IRIS_REGION_BITS 22
#endif

#define IRIS_PAGE_SIZE   ((uintptr_t) 1 << IRIS_PAGE_BITS)
#define IRIS_REGION_SIZE ((uintptr_t) 1 << IRIS_REGION_BITS)

typedef struct IrisPage IrisPage;
typedef struct IrisSlab IrisSlab;

struct IrisPage
{
  /* The owner's alone. */
  alignas (IRIS_CACHE_LINE) IrisLlistNode *local; /* what it freed while it held another page */
  uint32_t n_local;
  uint32_t n_carved; /* objects that were ever handed out; the others have no link yet */

  /* Under the slab's lock; of a page that is in the pool, under the pool's. */
  _Atomic (IrisSlab *) slab;
  IrisPage *prev, *next;
  int64_t empty_since;    /* nanoseconds */
  uint32_t n_local_known; /* of n_local; what the owner told others */
  uint32_t shelf;         /* 0: on none */

  alignas (IRIS_CACHE_LINE) _Atomic uint32_t freed;
};

/* How the word is made up: count << 16 | offset of the newest | held. Objects are aligned to cache
 * lines, so the lowest bits of an offset are free. */
#define IRIS_PAGE_HELD   ((uint32_t) 1)
#define IRIS_PAGE_OFFSET ((uint32_t) 0xffc0)
#define IRIS_PAGE_ONE    ((uint32_t) 1 << 16)

_Static_assert(IRIS_PAGE_BITS <= 16, "offsets have 16 bits");
_Static_assert(sizeof (IrisPage) == 2 * IRIS_CACHE_LINE, "a header is two lines");

static inline uint8_t *
iris_page_base (const void *object)
{
  return (uint8_t *) ((uintptr_t) object & ~(IRIS_PAGE_SIZE - 1));
}

/* The header of the page that @object lies in. */
static inline IrisPage *
iris_page_of (const void *object)
{
  uintptr_t at = (uintptr_t) object & (IRIS_REGION_SIZE - 1);

  return (IrisPage *) ((uintptr_t) object - at) + (at >> IRIS_PAGE_BITS);
}

/* Where the objects of @page are. */
static inline uint8_t *
iris_page_memory (const IrisPage *page)
{
  uintptr_t region = (uintptr_t) page & ~(IRIS_REGION_SIZE - 1);

  return (uint8_t *) region + ((uintptr_t) (page - (IrisPage *) region) << IRIS_PAGE_BITS);
}

static inline uint32_t
iris_page_word_count (uint32_t word)
{
  return word >> 16;
}

/* Gives up an object; returns the word as it is then. */
static inline uint32_t
iris_page_push (IrisPage *self, IrisLlistNode *node)
{
  uint8_t *base = iris_page_base (node);
  uint32_t offset = (uint32_t) ((uint8_t *) node - base);
  uint32_t word = atomic_load_explicit (&self->freed, memory_order_relaxed), desired;

  do
    {
      bool is_first = iris_page_word_count (word) == 0;

      node->next = is_first ? NULL : (IrisLlistNode *) (void *) (base + (word & IRIS_PAGE_OFFSET));
      desired = ((word & ~IRIS_PAGE_OFFSET) | offset) + IRIS_PAGE_ONE;
    }
  while (!atomic_compare_exchange_weak_explicit (&self->freed, &word, desired, memory_order_release,
                                                 memory_order_relaxed));

  return desired;
}

/* Of a page that is held: all that was pushed, newest first, or NULL. */
static inline IrisLlistNode *
iris_page_take (IrisPage *self)
{
  uint32_t word = atomic_exchange_explicit (&self->freed, IRIS_PAGE_HELD, memory_order_acquire);

  if (iris_page_word_count (word) == 0)
    return NULL;

  return (IrisLlistNode *) (void *) (iris_page_memory (self) + (word & IRIS_PAGE_OFFSET));
}

/* From here on pushers need not tell how many they are. */
static inline void
iris_page_hold (IrisPage *self)
{
  atomic_fetch_or_explicit (&self->freed, IRIS_PAGE_HELD, memory_order_relaxed);
}

/* From here on they must. Returns how many were pushed that were not taken. */
static inline uint32_t
iris_page_let_go (IrisPage *self)
{
  return iris_page_word_count (
      atomic_fetch_and_explicit (&self->freed, ~IRIS_PAGE_HELD, memory_order_release));
}

/* The word, and with it all that pushers did before it became so. */
static inline uint32_t
iris_page_look (IrisPage *self)
{
  return atomic_load_explicit (&self->freed, memory_order_acquire);
}
