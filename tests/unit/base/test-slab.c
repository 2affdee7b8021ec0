/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * Slabs: whose memory is whose, how it comes home, and when it goes back to the system.
 */
#include "core-test-util.h"

#include <iris/base/iris-random-private.h>
#include <iris/base/memory/iris-page-pool-private.h>
#include <iris/base/memory/iris-slab-private.h>

#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

/* More than four pages of either class hold. */
#define N_OBJECTS    5000
#define MOST_OBJECTS 100000

static const size_t sizes[IRIS_SLAB_N_CLASSES] = { 64, 128 };

static void
run_thread (void *(*func) (void *), void *data)
{
  pthread_t thread;

  ck_assert_int_eq (pthread_create (&thread, NULL, func, data), 0);
  ck_assert_int_eq (pthread_join (thread, NULL), 0);
}

typedef struct
{
  IrisSlab *home[MOST_OBJECTS];
  void *object[MOST_OBJECTS];
  IrisSlabClass klass;
  int n;
} Objects;

static Objects *
objects_new (IrisSlabClass klass, int n)
{
  Objects *self = calloc (1, sizeof *self);

  ck_assert_ptr_nonnull (self);
  self->klass = klass;
  self->n = n;

  return self;
}

static void *
objects_alloc (void *data)
{
  Objects *self = data;

  for (int i = 0; i < self->n; i++)
    self->object[i] = iris_slab_alloc (self->klass, &self->home[i]);

  return NULL;
}

static void *
objects_free (void *data)
{
  Objects *self = data;

  for (int i = 0; i < self->n; i++)
    iris_slab_free (self->klass, self->home[i], self->object[i]);

  return NULL;
}

/* All pages that there are, in slabs or in the pool. */
static uint64_t
count_pages (void)
{
  IrisPagePoolCounts counts;

  iris_page_pool_count (&counts);

  return counts.n_used + counts.n_resident + counts.n_returned;
}

static uint64_t
count_used_pages (void)
{
  IrisPagePoolCounts counts;

  iris_page_pool_count (&counts);

  return counts.n_used;
}

/* How often two objects that follow each other lie in different pages. */
static int
count_page_changes (Objects *self)
{
  int n = 0;

  for (int i = 1; i < self->n; i++)
    n += iris_page_of (self->object[i - 1]) != iris_page_of (self->object[i]);

  return n;
}

static void
shuffle (Objects *self)
{
  IrisRandom random;

  iris_random_seed (&random, 1);
  for (int i = self->n - 1; i > 0; i--)
    {
      int j = (int) iris_random_below (&random, (uint32_t) i + 1);
      void *object = self->object[i];
      IrisSlab *home = self->home[i];

      self->object[i] = self->object[j];
      self->home[i] = self->home[j];
      self->object[j] = object;
      self->home[j] = home;
    }
}

LOOP_TEST (objects_are_aligned_and_do_not_overlap, 0, IRIS_SLAB_N_CLASSES)
{
  IrisSlabClass klass = (IrisSlabClass) _i;
  Objects *objects = objects_new (klass, N_OBJECTS);

  objects_alloc (objects);
  for (int i = 0; i < N_OBJECTS; i++)
    {
      ck_assert_uint_eq ((uintptr_t) objects->object[i] % IRIS_CACHE_LINE, 0);
      memset (objects->object[i], i & 0xff, sizes[klass]);
    }
  for (int i = 0; i < N_OBJECTS; i++)
    for (size_t j = 0; j < sizes[klass]; j++)
      ck_assert_uint_eq (((uint8_t *) objects->object[i])[j], i & 0xff);
  objects_free (objects);
  free (objects);
}

LOOP_TEST (the_owner_gets_back_what_it_freed_last, 0, IRIS_SLAB_N_CLASSES)
{
  IrisSlabClass klass = (IrisSlabClass) _i;
  IrisSlab *home_a, *home_b, *home;
  void *a = iris_slab_alloc (klass, &home_a);
  void *b = iris_slab_alloc (klass, &home_b);

  ck_assert_ptr_eq (home_a, home_b);
  ck_assert_ptr_ne (a, b);
  iris_slab_free (klass, home_a, a);
  iris_slab_free (klass, home_b, b);
  ck_assert_ptr_eq (iris_slab_alloc (klass, &home), b);
  ck_assert_ptr_eq (iris_slab_alloc (klass, &home), a);
  ck_assert_ptr_eq (home, home_a);
  iris_slab_free (klass, home, a);
  iris_slab_free (klass, home, b);
}

/* All but some, so that no page becomes empty. */
#define KEEP(i) ((i) % 100 == 0)

static void *
free_abroad_and_alloc (void *data)
{
  Objects *self = data;
  IrisSlab *home;
  void *own;

  for (int i = 0; i < self->n; i++)
    if (!KEEP (i))
      iris_slab_free (self->klass, self->home[i], self->object[i]);
  /* They do not become the property of the thread that freed them. */
  own = iris_slab_alloc (self->klass, &home);
  for (int i = 0; i < self->n; i++)
    ck_assert_ptr_ne (own, self->object[i]);
  ck_assert_ptr_ne (home, self->home[0]);
  iris_slab_free (self->klass, home, own);

  return NULL;
}

LOOP_TEST (what_others_free_travels_home_before_new_memory_is_taken, 0, IRIS_SLAB_N_CLASSES)
{
  IrisSlabClass klass = (IrisSlabClass) _i;
  Objects *objects = objects_new (klass, N_OBJECTS);
  uint64_t n_pages;

  objects_alloc (objects);
  run_thread (free_abroad_and_alloc, objects);
  n_pages = count_pages ();
  for (int i = 0; i < objects->n; i++)
    if (!KEEP (i))
      objects->object[i] = iris_slab_alloc (klass, &objects->home[i]);
  /* What is left of a page below an eighth waits for more. */
  ck_assert_uint_le (count_pages (), n_pages + 1);
  objects_free (objects);
  free (objects);
}

LOOP_TEST (the_slabs_of_a_thread_that_ended_are_adopted, 0, IRIS_SLAB_N_CLASSES)
{
  IrisSlabClass klass = (IrisSlabClass) _i;
  Objects *first = objects_new (klass, 100);
  Objects *second = objects_new (klass, 100);

  run_thread (objects_alloc, first);
  /* The home is valid although its thread is gone, and is no other thread's. */
  ck_assert_ptr_ne (first->home[0], iris_slab_mine[klass]);
  objects_free (first);

  run_thread (objects_alloc, second);
  ck_assert_ptr_eq (second->home[0], first->home[0]);
  objects_free (second);
  free (first);
  free (second);
}

LOOP_TEST (threads_that_come_and_go_need_no_new_memory, 0, IRIS_SLAB_N_CLASSES)
{
  IrisSlabClass klass = (IrisSlabClass) _i;
  Objects *objects = objects_new (klass, 100);
  uint64_t n_pages = 0;

  for (int i = 0; i < CORE_TEST_LOAD (200); i++)
    {
      IrisSlab *home = objects->home[0];

      run_thread (objects_alloc, objects);
      ck_assert (i == 0 || objects->home[0] == home);
      objects_free (objects);
      /* The second page is taken while the first one comes back. */
      if (i == CORE_TEST_LOAD (200) / 4)
        n_pages = count_pages ();
    }
  ck_assert_uint_eq (count_pages (), n_pages);
  free (objects);
}

static pthread_key_t late_key;

static void *
alloc_and_leave_for_the_destructor (void *data)
{
  objects_alloc (data);
  pthread_setspecific (late_key, data);

  return NULL;
}

static void
free_late (void *data)
{
  objects_free (data);
}

static uint32_t
count_free (Objects *self)
{
  IrisPage *page = iris_page_of (self->object[0]);

  return page->n_local + iris_page_word_count (iris_page_look (page));
}

/* Thread-specific destructors run in no promised order: one may free an object after the slabs of
 * its thread were put aside. */
LOOP_TEST (an_object_may_be_freed_while_its_thread_ends, 0, IRIS_SLAB_N_CLASSES)
{
  IrisSlabClass klass = (IrisSlabClass) _i;
  Objects *first = objects_new (klass, 10);
  Objects *second = objects_new (klass, 1);

  /* The slab is there before the key, so its destructor comes first. */
  run_thread (objects_alloc, second);
  ck_assert_uint_eq (count_free (second), IRIS_SLAB_CAPACITY (klass) - 1);
  ck_assert_int_eq (pthread_key_create (&late_key, free_late), 0);
  run_thread (alloc_and_leave_for_the_destructor, first);
  ck_assert_ptr_eq (first->home[0], second->home[0]);
  ck_assert_uint_eq (count_free (second), IRIS_SLAB_CAPACITY (klass) - 1);
  ck_assert_int_eq (pthread_key_delete (late_key), 0);
  objects_free (second);
  free (first);
  free (second);
}

/* What makes memory age: objects that were freed in any order are handed out in that order. */
LOOP_TEST (objects_that_were_freed_in_any_order_come_page_by_page, 0, 2 * IRIS_SLAB_N_CLASSES)
{
  IrisSlabClass klass = (IrisSlabClass) (_i / 2);
  Objects *first = objects_new (klass, N_OBJECTS);
  Objects *second = objects_new (klass, N_OBJECTS / 2);

  objects_alloc (first);
  shuffle (first);
  /* What stays keeps most pages from becoming empty. */
  first->n /= 2;
  if (_i % 2 == 0)
    objects_free (first);
  else
    run_thread (objects_free, first);
  objects_alloc (second);
  ck_assert_int_le (count_page_changes (second), N_OBJECTS / (int) IRIS_SLAB_CAPACITY (klass) + 2);

  objects_free (second);
  for (int i = first->n; i < N_OBJECTS; i++)
    iris_slab_free (klass, first->home[i], first->object[i]);
  free (first);
  free (second);
}

LOOP_TEST (the_fullest_page_is_handed_out_first, 0, IRIS_SLAB_N_CLASSES)
{
  IrisSlabClass klass = (IrisSlabClass) _i;
  int part = (int) iris_slab_part (klass);
  Objects *objects = objects_new (klass, 4 * (int) IRIS_SLAB_CAPACITY (klass));
  Objects *more = objects_new (klass, 0);
  IrisPage *half, *nearly_full;
  int n_kept = 0;

  objects_alloc (objects);
  half = iris_page_of (objects->object[0]);
  nearly_full = iris_page_of (objects->object[objects->n / 2]);
  ck_assert_ptr_ne (half, nearly_full);
  ck_assert_ptr_ne (half, objects->home[0]->current);
  for (int i = 0; i < objects->n; i++)
    {
      IrisPage *page = iris_page_of (objects->object[i]);
      int n_free = (int) page->n_local;

      if ((page == nearly_full && n_free < part) || (page == half && n_free < 4 * part))
        iris_slab_free (klass, objects->home[i], objects->object[i]);
      else
        objects->object[n_kept++] = objects->object[i];
    }
  objects->n = n_kept;
  do
    more->object[more->n] = iris_slab_alloc (klass, &more->home[more->n]);
  while (iris_page_of (more->object[more->n++]) == objects->home[0]->current
         && objects->home[0]->current != half && objects->home[0]->current != nearly_full);
  ck_assert_ptr_eq (objects->home[0]->current, nearly_full);

  objects_free (objects);
  objects_free (more);
  free (objects);
  free (more);
}

/* Freed by the owner, by another thread, by both. */
LOOP_TEST (an_empty_page_leaves_its_slab_whichever_thread_empties_it, 0, 3 * IRIS_SLAB_N_CLASSES)
{
  IrisSlabClass klass = (IrisSlabClass) (_i / 3);
  Objects *mine = objects_new (klass, N_OBJECTS);
  Objects *other = objects_new (klass, 0);

  objects_alloc (mine);
  ck_assert_uint_ge (count_used_pages (), N_OBJECTS / IRIS_SLAB_CAPACITY (klass));
  if (_i % 3 != 0)
    {
      shuffle (mine);
      other->n = _i % 3 == 1 ? mine->n : mine->n / 2;
      mine->n -= other->n;
      memcpy (other->object, mine->object + mine->n, (size_t) other->n * sizeof (void *));
      memcpy (other->home, mine->home + mine->n, (size_t) other->n * sizeof (IrisSlab *));
    }
  run_thread (objects_free, other);
  objects_free (mine);
  iris_slab_tidy (NULL);
  ck_assert_uint_eq (mine->home[0]->n_pages, 1);
  free (mine);
  free (other);
}

/* At most so many of the pages' bytes have memory. */
static uint64_t
count_resident (IrisPage **pages, uint64_t n)
{
  uint64_t size = (uint64_t) sysconf (_SC_PAGESIZE), n_resident = 0;
  unsigned char there[64];

  ck_assert_uint_le (IRIS_PAGE_SIZE / size, sizeof there);
  for (uint64_t i = 0; i < n; i++)
    {
      ck_assert_int_eq (mincore (iris_page_memory (pages[i]), IRIS_PAGE_SIZE, there), 0);
      for (uint64_t j = 0; j < IRIS_PAGE_SIZE / size; j++)
        n_resident += there[j] & 1;
    }

  return n_resident * size;
}

#define N_BURST MOST_OBJECTS

static void *
alloc_burst (void *data)
{
  Objects *self = data;

  objects_alloc (self);
  for (int i = 0; i < self->n; i++)
    memset (self->object[i], 1, sizes[self->klass]);

  return NULL;
}

/* They come page by page. */
static uint64_t
list_pages (Objects *self, IrisPage **pages)
{
  uint64_t n = 0;

  for (int i = 0; i < self->n; i++)
    if (n == 0 || iris_page_of (self->object[i]) != pages[n - 1])
      pages[n++] = iris_page_of (self->object[i]);

  return n;
}

static void *
free_other_half (void *data)
{
  Objects *self = data;

  for (int i = 1; i < self->n; i += 2)
    iris_slab_free (self->klass, self->home[i], self->object[i]);

  return NULL;
}

static void
free_in_halves (Objects *self)
{
  run_thread (free_other_half, self);
  for (int i = 0; i < self->n; i += 2)
    iris_slab_free (self->klass, self->home[i], self->object[i]);
}

/* No worker is there, and no thread tidies: memory goes back as the pages become empty. */
LOOP_TEST (the_memory_of_a_burst_goes_back_to_the_system, 0, 4 * IRIS_SLAB_N_CLASSES)
{
  IrisSlabClass klass = (IrisSlabClass) (_i / 4);
  Objects *burst = objects_new (klass, N_BURST);
  IrisPage *pages[N_BURST / 100];
  uint64_t n_pages;

  /* Twice, for the same pages serve again. */
  for (int round = 0; round < 2; round++)
    {
      if (_i % 4 < 3)
        alloc_burst (burst);
      else
        run_thread (alloc_burst, burst);
      n_pages = list_pages (burst, pages);
      ck_assert_uint_ge (count_resident (pages, n_pages), N_BURST * sizes[klass]);

      if (_i % 4 == 0)
        objects_free (burst); /* by the owner, */
      else if (_i % 4 == 1)
        run_thread (objects_free, burst); /* by another thread, */
      else if (_i % 4 == 2)
        free_in_halves (burst); /* by both, whole parts of a page each, */
      else
        objects_free (burst); /* by another one when the owner has ended */
      ck_assert_uint_le (count_resident (pages, n_pages), (IRIS_PAGE_RESERVE + 4) * IRIS_PAGE_SIZE);
    }
  free (burst);
}

#define N_ENDED 40

/* The page that was current when its thread ended is given away like any other. */
LOOP_TEST (threads_that_ended_keep_no_page, 0, IRIS_SLAB_N_CLASSES)
{
  IrisSlabClass klass = (IrisSlabClass) _i;
  Objects *objects[N_ENDED];
  uint64_t n_before = count_used_pages ();

  for (int i = 0; i < N_ENDED; i++)
    {
      objects[i] = objects_new (klass, (int) iris_slab_part (klass) * i / 4 + i % 3 + 1);
      run_thread (objects_alloc, objects[i]);
    }
  ck_assert_uint_gt (count_used_pages (), n_before);
  for (int i = 0; i < N_ENDED; i++)
    {
      objects_free (objects[i]);
      free (objects[i]);
    }
  ck_assert_uint_eq (count_used_pages (), n_before);
}

#define N_TRADERS 4
#define N_STALLS  1024

typedef struct
{
  IrisSlab *home;
  uintptr_t owner; /* the trader that has it */
  IrisSlabClass klass;
} Good;

static _Atomic (Good *) stalls[N_STALLS];

/* Lays down its own and takes up what others laid down, now for itself, now to free it. */
static void *
trade (void *data)
{
  uintptr_t me = (uintptr_t) data;
  IrisRandom random;

  iris_random_seed (&random, (uint32_t) me);
  for (int i = 0; i < CORE_TEST_LOAD (400000); i++)
    {
      IrisSlabClass klass = (IrisSlabClass) (i % IRIS_SLAB_N_CLASSES);
      IrisSlab *home;
      Good *good = iris_slab_alloc (klass, &home), *found;

      *good = (Good){ .home = home, .owner = me, .klass = klass };
      found = atomic_exchange_explicit (&stalls[iris_random_below (&random, N_STALLS)], good,
                                        memory_order_acq_rel);
      if (found == NULL)
        continue;
      ck_assert_uint_ne (found->owner, 0);
      ck_assert_uint_le (found->owner, N_TRADERS);
      found->owner = 0;
      iris_slab_free (found->klass, found->home, found);
      if (i % 1000 == 0)
        iris_slab_tidy (NULL);
    }

  return NULL;
}

static pthread_barrier_t all_here;

/* Adopts the slabs of a trader, and looks for what that freed and did not tell. */
static void *
clear_up (void *data)
{
  for (int i = 0; i < IRIS_SLAB_N_CLASSES; i++)
    {
      IrisSlab *home;
      void *object = iris_slab_alloc ((IrisSlabClass) i, &home);

      iris_slab_free ((IrisSlabClass) i, home, object);
    }
  pthread_barrier_wait (&all_here);
  iris_slab_tidy (NULL);

  return data;
}

static void
run_traders (void *(*func) (void *) )
{
  pthread_t threads[N_TRADERS];

  for (uintptr_t i = 0; i < N_TRADERS; i++)
    ck_assert_int_eq (pthread_create (&threads[i], NULL, func, (void *) (i + 1)), 0);
  for (int i = 0; i < N_TRADERS; i++)
    ck_assert_int_eq (pthread_join (threads[i], NULL), 0);
}

/* Nothing is handed out twice, and nothing is lost: in the end each slab has its current page. */
TEST (objects_are_conserved_among_threads)
{
  uint64_t n_before;

  iris_slab_tidy (NULL);
  n_before = count_used_pages ();
  pthread_barrier_init (&all_here, NULL, N_TRADERS);
  run_traders (trade);
  for (int i = 0; i < N_STALLS; i++)
    {
      Good *good = atomic_load_explicit (&stalls[i], memory_order_acquire);

      if (good != NULL)
        {
          ck_assert_uint_ne (good->owner, 0);
          iris_slab_free (good->klass, good->home, good);
        }
    }
  run_traders (clear_up);
  pthread_barrier_destroy (&all_here);
  ck_assert_uint_le (count_used_pages (), n_before + N_TRADERS * IRIS_SLAB_N_CLASSES);
}

TEST_MAIN ("slab", NULL, NULL)
