/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * Slabs: the slow paths. The design is in iris-slab-private.h.
 */
#include "iris/base/memory/iris-slab-private.h"

#include "iris/base/iris-fork-private.h"
#include "iris/base/memory/iris-page-pool-private.h"

#include <glib.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#ifdef IRIS_ADDRESS_SANITIZER
#include <sanitizer/asan_interface.h>
#endif

/* So many objects get their link at once, that is, 4 KiB of memory is touched at once, and by the
 * thread that uses it. */
#define CARVE_SIZE (IRIS_PAGE_SIZE / 16)

/* All slabs of one thread; they are adopted together. */
typedef struct SlabSet SlabSet;

struct SlabSet
{
  alignas (IRIS_CACHE_PAIR) IrisSlab slabs[IRIS_SLAB_N_CLASSES];
  SlabSet *next_idle;
  SlabSet *next_known;
};

__thread IrisSlab *iris_slab_mine[IRIS_SLAB_N_CLASSES];

static pthread_mutex_t sets_lock = PTHREAD_MUTEX_INITIALIZER;
static SlabSet *idle_sets;  /* owned by no thread */
static SlabSet *known_sets; /* all there are, so that a leak checker can see them */
static unsigned n_slabs;    /* in them */
static pthread_key_t exit_key;
static pthread_once_t exit_key_once = PTHREAD_ONCE_INIT;

/* A slab has one of these; one for each would be more than a fork can hold. */
static pthread_mutex_t slab_locks[IRIS_SLAB_N_LOCKS] = { [0 ... IRIS_SLAB_N_LOCKS
                                                          - 1] = PTHREAD_MUTEX_INITIALIZER };

static void
slab_lock (IrisSlab *self)
{
  pthread_mutex_lock (&slab_locks[self->lock]);
}

static void
slab_unlock (IrisSlab *self)
{
  pthread_mutex_unlock (&slab_locks[self->lock]);
}

/* Under the lock, as are all up to slab_take_fullest(). */
static void
slab_unshelve (IrisSlab *self, IrisPage *page)
{
  if (page->shelf == 0)
    return;
  if (page->prev != NULL)
    page->prev->next = page->next;
  else
    self->shelves[page->shelf] = page->next;
  if (page->next != NULL)
    page->next->prev = page->prev;
  page->shelf = 0;
}

static void
slab_shelve (IrisSlab *self, IrisPage *page, uint32_t shelf)
{
  if (page->shelf == shelf)
    return;
  slab_unshelve (self, page);
  if (shelf == 0)
    return;
  page->shelf = shelf;
  page->prev = NULL;
  page->next = self->shelves[shelf];
  if (page->next != NULL)
    page->next->prev = page;
  self->shelves[shelf] = page;
}

/* An empty page that is not held. */
static void
slab_give_page (IrisSlab *self, IrisPage *page)
{
  slab_unshelve (self, page);
  self->n_pages--;
  /* Relaxed: see the header. */
  atomic_store_explicit (&page->slab, NULL, memory_order_relaxed);
  iris_page_pool_give (page);
}

/* Puts a page of this slab where it belongs now. */
static void
slab_sort_in (IrisSlab *self, IrisPage *page)
{
  uint32_t word = iris_page_look (page);
  uint32_t n_free = iris_page_word_count (word) + page->n_local_known;

  if (word & IRIS_PAGE_HELD)
    return;
  if (n_free == IRIS_SLAB_CAPACITY (self->klass))
    slab_give_page (self, page);
  else
    slab_shelve (self, page, n_free / iris_slab_part (self->klass));
}

/* The caller completed a part of @page, which was the slab's then. */
void
iris_slab_put_on_shelf (IrisSlab *home, IrisPage *page)
{
  slab_lock (home);
  if (atomic_load_explicit (&page->slab, memory_order_relaxed) == home)
    slab_sort_in (home, page);
  slab_unlock (home);
}

/* By the owner: an object of a page that is not the current one. */
void
iris_slab_free_local (IrisSlab *home, void *object)
{
  IrisLlistNode *node = object;
  IrisPage *page = iris_page_of (object);

  node->next = page->local;
  page->local = node;
  page->n_local++;
  iris_slab_poison (home, object);
  if (iris_likely ((page->n_local & home->part_mask) != 0))
    return;

  slab_lock (home);
  page->n_local_known = page->n_local;
  slab_sort_in (home, page);
  slab_unlock (home);
}

/* Gives away the pages that are empty with all that their owner, which calls, freed of them. When
 * they were sorted in last, less than a part of what the owner freed, and less than a part of what
 * others freed, was missing. */
static void
slab_sort_all_in (IrisSlab *self)
{
  for (uint32_t shelf = IRIS_SLAB_PARTS - 2; shelf <= IRIS_SLAB_PARTS; shelf++)
    for (IrisPage *page = self->shelves[shelf], *next; page != NULL; page = next)
      {
        next = page->next;
        page->n_local_known = page->n_local;
        slab_sort_in (self, page);
      }
}

static IrisPage *
slab_take_fullest (IrisSlab *self)
{
  for (uint32_t shelf = 1; shelf <= IRIS_SLAB_PARTS; shelf++)
    {
      IrisPage *page = self->shelves[shelf];

      if (page == NULL)
        continue;
      slab_unshelve (self, page);
      /* While some of its objects are in its lists it is not empty for others. */
      iris_page_hold (page);
      page->n_local_known = 0;

      return page;
    }

  return NULL;
}

static void
slab_let_go (IrisSlab *self)
{
  IrisPage *page = self->current;

  self->current = NULL;
  self->base = NULL;
  if (iris_page_let_go (page) >= iris_slab_part (self->klass))
    iris_slab_put_on_shelf (self, page);
}

/* Uninitialised but for its header. */
static IrisPage *
slab_new_page (IrisSlab *self)
{
  IrisPage *page = iris_page_pool_take ();

  if (page == NULL)
    g_error ("iris: out of memory for work items and messages");
  page->local = NULL;
  page->n_local = page->n_local_known = 0;
  page->n_carved = 0;
  page->shelf = 0;
  /* No thread pushes. */
  atomic_store_explicit (&page->freed, IRIS_PAGE_HELD, memory_order_relaxed);
  slab_lock (self);
  atomic_store_explicit (&page->slab, self, memory_order_relaxed);
  self->n_pages++;
  slab_unlock (self);

  return page;
}

/* The fullest page of the shelves, or a new one. */
static void
slab_change_page (IrisSlab *self)
{
  IrisPage *page;

  if (self->current != NULL)
    slab_let_go (self);
  slab_lock (self);
  page = slab_take_fullest (self);
  slab_unlock (self);
  if (page == NULL)
    page = slab_new_page (self);
  self->current = page;
  self->base = iris_page_memory (page);
  self->free_list = page->local;
  page->local = NULL;
  page->n_local = 0;
}

/* More objects of the current page, in the order of their addresses. */
static void
slab_carve (IrisSlab *self)
{
  uint32_t size = IRIS_SLAB_SIZE (self->klass);
  uint32_t n = self->current->n_carved;
  uint32_t end = n + (CARVE_SIZE > size ? (uint32_t) CARVE_SIZE / size : 1);
  IrisLlistNode *chain = NULL;

  self->current->n_carved = end;
  while (end-- > n)
    {
      IrisLlistNode *node = (IrisLlistNode *) (void *) (self->base + (size_t) end * size);

      iris_slab_unpoison (self, node);
      node->next = chain;
      chain = node;
      iris_slab_poison (self, node);
    }
  self->free_list = chain;
}

/* What there is to be had of the current page, if it is worth a swap. */
static bool
slab_refill (IrisSlab *self)
{
  IrisPage *page = self->current;
  uint32_t word = page == NULL ? 0 : atomic_load_explicit (&page->freed, memory_order_relaxed);

  if (page == NULL)
    return false;
  if (iris_page_word_count (word) >= iris_slab_part (self->klass))
    self->free_list = iris_page_take (page);
  else if (page->n_carved < IRIS_SLAB_CAPACITY (self->klass))
    slab_carve (self);

  return self->free_list != NULL;
}

/* Of the calling thread: gives away what it alone knows to be empty. */
static void
slabs_tidy_mine (void)
{
  for (guint i = 0; i < IRIS_SLAB_N_CLASSES; i++)
    {
      IrisSlab *slab = iris_slab_mine[i];

      if (slab == NULL)
        continue;
      slab_lock (slab);
      slab_sort_all_in (slab);
      slab_unlock (slab);
    }
}

/* For a thread whose next allocation may be far: gives away empty pages, and to the system some of
 * those that are due. Returns after how many nanoseconds to call again; 0: no
 * more, unless it is woken in the futex @bed, which may be NULL. */
uint64_t
iris_slab_tidy (_Atomic uint32_t *bed)
{
  slabs_tidy_mine ();

  return iris_page_pool_tidy (bed);
}

/* Of a thread that ends: its current page, too, is for others to empty. What is left of it behind
 * whole parts goes into the word, because only whole parts are found (iris_slab_free()). */
static void
slab_leave_current (IrisSlab *self)
{
  IrisPage *page = self->current;

  if (page == NULL)
    return;
  page->n_local = IRIS_SLAB_CAPACITY (self->klass) - page->n_carved;
  for (IrisLlistNode *node = self->free_list; node != NULL; node = node->next)
    page->n_local++;
  for (; page->n_local % iris_slab_part (self->klass) != 0; page->n_local--)
    {
      IrisLlistNode *node;

      if (self->free_list == NULL)
        slab_carve (self);
      node = self->free_list;
      self->free_list = node->next;
      iris_page_push (page, node);
    }
  page->local = self->free_list;
  self->free_list = NULL;
  self->current = NULL;
  self->base = NULL;
  slab_lock (self);
  page->n_local_known = page->n_local;
  iris_page_let_go (page);
  slab_sort_in (self, page);
  slab_unlock (self);
}

static void
slab_set_put_aside (void *data)
{
  SlabSet *set = data;

  for (guint i = 0; i < IRIS_SLAB_N_CLASSES; i++)
    slab_leave_current (&set->slabs[i]);
  slabs_tidy_mine ();
  memset (iris_slab_mine, 0, sizeof iris_slab_mine);
  pthread_mutex_lock (&sets_lock);
  set->next_idle = idle_sets;
  idle_sets = set;
  pthread_mutex_unlock (&sets_lock);
}

static void
exit_key_create (void)
{
  if (pthread_key_create (&exit_key, slab_set_put_aside) != 0)
    g_error ("iris: no thread-specific key left for the slabs");
  iris_fork_guard (&sets_lock);
  for (guint i = 0; i < IRIS_SLAB_N_LOCKS; i++)
    iris_fork_guard (&slab_locks[i]);
  iris_page_pool_guard ();
}

/* Under the lock of the sets. */
static SlabSet *
slab_set_new (void)
{
  SlabSet *set = aligned_alloc (IRIS_CACHE_PAIR, sizeof *set);

  if (set == NULL)
    g_error ("iris: out of memory for the slabs of a thread");
  memset (set, 0, sizeof *set);
  for (guint i = 0; i < IRIS_SLAB_N_CLASSES; i++)
    {
      set->slabs[i].klass = (IrisSlabClass) i;
      set->slabs[i].part_mask = iris_slab_part ((IrisSlabClass) i) - 1;
      set->slabs[i].lock = n_slabs++ % IRIS_SLAB_N_LOCKS;
    }

  return set;
}

/* Gives the calling thread a set of slabs: one that was put aside, or a new one. */
static void
slab_set_adopt (void)
{
  SlabSet *set;

  pthread_once (&exit_key_once, exit_key_create);
  pthread_mutex_lock (&sets_lock);
  set = idle_sets;
  if (set != NULL)
    {
      idle_sets = set->next_idle;
    }
  else
    {
      set = slab_set_new ();
      set->next_known = known_sets;
      known_sets = set;
    }
  pthread_mutex_unlock (&sets_lock);

  for (guint i = 0; i < IRIS_SLAB_N_CLASSES; i++)
    iris_slab_mine[i] = &set->slabs[i];
  pthread_setspecific (exit_key, set);
}

void *
iris_slab_alloc_slow (IrisSlabClass klass)
{
  IrisSlab *slab;
  IrisLlistNode *node;

  if (iris_slab_mine[klass] == NULL)
    slab_set_adopt ();
  slab = iris_slab_mine[klass];

  /* A page of the shelves may have to be refilled itself. */
  while (slab->free_list == NULL && !slab_refill (slab))
    slab_change_page (slab);
  node = slab->free_list;
  iris_slab_unpoison (slab, node);
  slab->free_list = node->next;

  return node;
}

/* The link in the first word stays readable: it is how free lists are made. */
void
iris_slab_poison (IrisSlab *home, void *object)
{
#ifdef IRIS_ADDRESS_SANITIZER
  ASAN_POISON_MEMORY_REGION ((uint8_t *) object + sizeof (IrisLlistNode),
                             IRIS_SLAB_SIZE (home->klass) - sizeof (IrisLlistNode));
#endif
}

void
iris_slab_unpoison (IrisSlab *home, void *object)
{
#ifdef IRIS_ADDRESS_SANITIZER
  ASAN_UNPOISON_MEMORY_REGION (object, IRIS_SLAB_SIZE (home->klass));
#endif
}
