/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * Slabs: whose memory is whose, and how it comes home.
 */
#include "core-test-util.h"

#include <iris/base/memory/iris-slab-private.h>

#include <stdlib.h>
#include <string.h>

/* More than a chunk of either class holds. */
#define N_OBJECTS 3000

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
  IrisSlab *home[N_OBJECTS];
  void *object[N_OBJECTS];
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

static int
compare_pointers (const void *a, const void *b)
{
  uintptr_t x = *(const uintptr_t *) a, y = *(const uintptr_t *) b;

  return x < y ? -1 : x > y;
}

static bool
same_objects (Objects *a, Objects *b)
{
  qsort (a->object, (size_t) a->n, sizeof a->object[0], compare_pointers);
  qsort (b->object, (size_t) b->n, sizeof b->object[0], compare_pointers);

  return a->n == b->n && memcmp (a->object, b->object, (size_t) a->n * sizeof a->object[0]) == 0;
}

static int
count_chunks (IrisSlab *slab)
{
  int n = 0;

  for (void *chunk = slab->chunks; chunk != NULL; chunk = *(void **) chunk)
    n++;

  return n;
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

static void *
free_abroad_and_alloc (void *data)
{
  Objects *self = data;
  IrisSlab *home;
  void *own;

  objects_free (self);
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
  Objects *first = objects_new (klass, N_OBJECTS);
  Objects *second = objects_new (klass, N_OBJECTS);
  Objects *rest = objects_new (klass, 0);
  int n_chunks;

  objects_alloc (first);
  /* Leaves nothing free in this thread, so that what comes next must have come home. */
  for (; first->home[0]->free_list != NULL; rest->n++)
    rest->object[rest->n] = iris_slab_alloc (klass, &rest->home[rest->n]);
  n_chunks = count_chunks (first->home[0]);
  run_thread (free_abroad_and_alloc, first);
  objects_alloc (second);
  ck_assert_int_eq (count_chunks (first->home[0]), n_chunks);
  ck_assert (same_objects (first, second));
  objects_free (second);
  objects_free (rest);
  free (first);
  free (second);
  free (rest);
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
  ck_assert (same_objects (first, second));
  objects_free (second);
  free (first);
  free (second);
}

LOOP_TEST (threads_that_come_and_go_need_no_new_memory, 0, IRIS_SLAB_N_CLASSES)
{
  IrisSlabClass klass = (IrisSlabClass) _i;
  Objects *objects = objects_new (klass, 100);
  IrisSlab *home;
  int n_chunks;

  run_thread (objects_alloc, objects);
  objects_free (objects);
  home = objects->home[0];
  n_chunks = count_chunks (home);
  for (int i = 0; i < CORE_TEST_LOAD (200); i++)
    {
      run_thread (objects_alloc, objects);
      ck_assert_ptr_eq (objects->home[0], home);
      objects_free (objects);
    }
  ck_assert_int_eq (count_chunks (home), n_chunks);
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

static int
count_on_the_way_home (IrisSlab *slab)
{
  int n = 0;

  for (IrisLlistNode *node = atomic_load (&slab->remote_free.head); node != NULL; node = node->next)
    n++;

  return n;
}

/* Thread-specific destructors run in no promised order: one may free an object after the slabs of
 * its thread were put aside. */
LOOP_TEST (an_object_may_be_freed_while_its_thread_ends, 0, IRIS_SLAB_N_CLASSES)
{
  IrisSlabClass klass = (IrisSlabClass) _i;
  Objects *first = objects_new (klass, 10);
  Objects *second = objects_new (klass, 1);
  int before, after;

  /* The slab is there before the key, so its destructor comes first. */
  run_thread (objects_alloc, second);
  before = count_on_the_way_home (second->home[0]);
  ck_assert_int_eq (pthread_key_create (&late_key, free_late), 0);
  run_thread (alloc_and_leave_for_the_destructor, first);
  ck_assert_ptr_eq (first->home[0], second->home[0]);
  after = count_on_the_way_home (first->home[0]);
  ck_assert_int_eq (after - before, 10);
  ck_assert_int_eq (pthread_key_delete (late_key), 0);
  objects_free (second);
  free (first);
  free (second);
}

TEST_MAIN ("slab", NULL, NULL)
