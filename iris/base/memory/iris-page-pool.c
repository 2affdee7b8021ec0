/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * The page pool. The design is in iris-page-pool-private.h.
 */
#include "iris/base/memory/iris-page-pool-private.h"

#include "iris/base/iris-fork-private.h"

#include <linux/futex.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#ifndef IRIS_PAGE_DISCARD
/* It fails where memory is locked; then the page keeps it, which is what locking asks for. */
#define IRIS_PAGE_DISCARD(memory) ((void) madvise (memory, IRIS_PAGE_SIZE, MADV_DONTNEED))
#endif

/* Pages of a region; the first ones are taken by the headers. */
#define N_PAGES   (IRIS_REGION_SIZE / IRIS_PAGE_SIZE)
#define N_HEADERS ((N_PAGES * sizeof (IrisPage) + IRIS_PAGE_SIZE - 1) / IRIS_PAGE_SIZE)

/* How far the coarse clock may lag, at 100 Hz. */
#define COARSE_NS 10000000

/* At most so many pages go back in one call: a page costs some microseconds. */
#define MAX_DUE 4

_Static_assert(N_HEADERS < N_PAGES, "a region has room for more than its headers");

static pthread_mutex_t pool_lock = PTHREAD_MUTEX_INITIALIZER;

/* Under the lock. */
static struct
{
  IrisPage *newest, *oldest; /* empty with memory, linked by prev (newer) and next (older) */
  IrisPage *returned;        /* empty without memory, linked by next */
  IrisPage *region; /* the one that is cut up; its first page, which is none, links it to the one
                       before, so that a leak checker finds them all */
  uint64_t n_cut;   /* of it */
  _Atomic uint32_t *bed;    /* the futex of the worker that went to sleep last; NULL: none sleeps */
  _Atomic uint32_t *tender; /* that of the worker that comes again when the next page is due, */
  int64_t tended_until;     /* at this time */
  IrisPagePoolCounts counts;
} page_pool = { .n_cut = N_PAGES };

static int64_t
coarse_now_ns (void)
{
  struct timespec now;

  clock_gettime (CLOCK_MONOTONIC_COARSE, &now);

  return (int64_t) now.tv_sec * 1000000000 + now.tv_nsec;
}

/* To be called once, before the first page is taken and behind the guards of all slabs' locks. */
void
iris_page_pool_guard (void)
{
  iris_fork_guard (&pool_lock);
}

/* Under the lock. */
static IrisPage *
pool_cut (void)
{
  if (page_pool.n_cut == N_PAGES)
    {
      IrisPage *headers = aligned_alloc (IRIS_REGION_SIZE, IRIS_REGION_SIZE);

      if (headers == NULL)
        return NULL;
      memset (headers, 0, N_PAGES * sizeof *headers);
      headers->next = page_pool.region;
      page_pool.region = headers;
      page_pool.n_cut = N_HEADERS;
    }

  return &page_pool.region[page_pool.n_cut++];
}

/* Under the lock. */
static void
pool_unlink_oldest (void)
{
  page_pool.oldest = page_pool.oldest->prev;
  if (page_pool.oldest != NULL)
    page_pool.oldest->next = NULL;
  else
    page_pool.newest = NULL;
  page_pool.counts.n_resident--;
}

/* An empty page that belongs to no slab, its contents arbitrary; NULL when there is no memory. */
IrisPage *
iris_page_pool_take (void)
{
  IrisPage *page;

  pthread_mutex_lock (&pool_lock);
  page = page_pool.newest;
  if (page != NULL)
    {
      page_pool.newest = page->next;
      if (page_pool.newest != NULL)
        page_pool.newest->prev = NULL;
      else
        page_pool.oldest = NULL;
      page_pool.counts.n_resident--;
    }
  else if (page_pool.returned != NULL)
    {
      page = page_pool.returned;
      page_pool.returned = page->next;
      page_pool.counts.n_returned--;
    }
  else
    {
      page = pool_cut ();
    }
  if (page != NULL)
    page_pool.counts.n_used++;
  pthread_mutex_unlock (&pool_lock);

  return page;
}

/* Under the lock: how long until the oldest page is due; 0 if it is, -1 if none will be. */
static int64_t
pool_next_due_ns (int64_t now)
{
  int64_t due;

  if (page_pool.counts.n_resident <= IRIS_PAGE_RESERVE)
    return -1;
  /* No worker will come, and no give may follow. */
  if (page_pool.bed == NULL
      && page_pool.counts.n_resident > IRIS_PAGE_RESERVE + page_pool.counts.n_used)
    return 0;
  due = page_pool.oldest->empty_since + IRIS_PAGE_DELAY_NS - now;

  return due > 0 ? due : 0;
}

/* Under the lock, which is left meanwhile: a page on its way is in no list. Returns how long until
 * the next page is due, as above. */
static int64_t
pool_return_due (int64_t now)
{
  IrisPage *due[MAX_DUE];
  uint64_t n = 0;

  while (n < MAX_DUE && pool_next_due_ns (now) == 0)
    {
      due[n++] = page_pool.oldest;
      pool_unlink_oldest ();
    }
  if (n > 0)
    {
      pthread_mutex_unlock (&pool_lock);
      for (uint64_t i = 0; i < n; i++)
        IRIS_PAGE_DISCARD (iris_page_memory (due[i]));
      pthread_mutex_lock (&pool_lock);
    }
  for (uint64_t i = 0; i < n; i++)
    {
      due[i]->next = page_pool.returned;
      page_pool.returned = due[i];
    }
  page_pool.counts.n_returned += n;

  return pool_next_due_ns (now);
}

/* Under the lock: the futex of the worker that should be told of the pages, or NULL. A wake-up may
 * be lost, when the worker does not sleep yet: hence every few pages until it comes. */
static _Atomic uint32_t *
pool_find_keeper (int64_t now)
{
  uint64_t n_due = page_pool.counts.n_resident - IRIS_PAGE_RESERVE;

  if (page_pool.counts.n_resident <= IRIS_PAGE_RESERVE || n_due % (IRIS_PAGE_RESERVE + 1) != 0
      || now < page_pool.tended_until)
    return NULL;

  return page_pool.bed;
}

/* An empty page that no slab names any more. */
void
iris_page_pool_give (IrisPage *page)
{
  int64_t now = coarse_now_ns ();
  _Atomic uint32_t *bed;

  pthread_mutex_lock (&pool_lock);
  page->empty_since = now;
  page->prev = NULL;
  page->next = page_pool.newest;
  if (page_pool.newest != NULL)
    page_pool.newest->prev = page;
  else
    page_pool.oldest = page;
  page_pool.newest = page;
  page_pool.counts.n_resident++;
  page_pool.counts.n_used--;
  pool_return_due (now);
  bed = pool_find_keeper (now);
  pthread_mutex_unlock (&pool_lock);

  /* The word is not read, and may be gone: then this wakes no thread, or one in vain, as a futex
   * may at any time. */
  if (iris_unlikely (bed != NULL))
    syscall (SYS_futex, bed, FUTEX_WAKE_PRIVATE, 1, NULL, NULL, 0);
}

/* Gives back some of what is due. Returns after how many nanoseconds the caller should come again;
 * 0: not at all, because nothing will be due, or because another thread said that it will come.
 * A caller that sleeps in the futex @bed, if it is not NULL, is woken when there is more to do. */
uint64_t
iris_page_pool_tidy (_Atomic uint32_t *bed)
{
  int64_t now = coarse_now_ns (), next = -1;

  pthread_mutex_lock (&pool_lock);
  if (bed != NULL)
    page_pool.bed = bed;
  if (bed == page_pool.tender || now >= page_pool.tended_until)
    {
      next = pool_return_due (now);
      page_pool.tender = bed;
      /* A promise that is not kept would keep others from coming. */
      page_pool.tended_until = next < 0 ? now : now + next;
    }
  pthread_mutex_unlock (&pool_lock);

  /* Coarse time stands still for some milliseconds, so that less would be asked for in vain. */
  return next < 0 ? 0 : next == 0 ? 1 : (uint64_t) next + COARSE_NS;
}

/* The worker that slept in the futex @bed ends. */
void
iris_page_pool_leave (_Atomic uint32_t *bed)
{
  pthread_mutex_lock (&pool_lock);
  if (page_pool.bed == bed)
    page_pool.bed = NULL;
  if (page_pool.tender == bed)
    page_pool.tended_until = 0;
  pthread_mutex_unlock (&pool_lock);
}

void
iris_page_pool_count (IrisPagePoolCounts *now)
{
  pthread_mutex_lock (&pool_lock);
  *now = page_pool.counts;
  pthread_mutex_unlock (&pool_lock);
}
