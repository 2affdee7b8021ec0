/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * Slabs: the slow paths. The design is in iris-slab-private.h.
 */
#include "iris/base/memory/iris-slab-private.h"

#include "iris/base/iris-fork-private.h"

#include <glib.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#ifdef IRIS_ADDRESS_SANITIZER
#include <sanitizer/asan_interface.h>
#endif

#define CHUNK_SIZE (64 * 1024)

static const size_t object_sizes[IRIS_SLAB_N_CLASSES] = {
  [IRIS_SLAB_ITEM] = 64,
  [IRIS_SLAB_MESSAGE] = 128,
};

/* All slabs of one thread; they are adopted together. */
typedef struct SlabSet SlabSet;

struct SlabSet
{
  IrisSlab slabs[IRIS_SLAB_N_CLASSES];
  SlabSet *next_idle;
  SlabSet *next_known;
};

__thread IrisSlab *iris_slab_mine[IRIS_SLAB_N_CLASSES];

static pthread_mutex_t sets_lock = PTHREAD_MUTEX_INITIALIZER;
static SlabSet *idle_sets;  /* owned by no thread */
static SlabSet *known_sets; /* all there are, so that a leak checker can see them */
static pthread_key_t exit_key;
static pthread_once_t exit_key_once = PTHREAD_ONCE_INIT;

static void
slab_set_put_aside (void *data)
{
  SlabSet *set = data;

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
}

static SlabSet *
slab_set_new (void)
{
  SlabSet *set = aligned_alloc (IRIS_CACHE_PAIR, sizeof *set);

  if (set == NULL)
    g_error ("iris: out of memory for the slabs of a thread");
  memset (set, 0, sizeof *set);
  for (guint i = 0; i < IRIS_SLAB_N_CLASSES; i++)
    set->slabs[i].object_size = object_sizes[i];

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

static void
slab_add_chunk (IrisSlab *self)
{
  uint8_t *chunk = aligned_alloc (IRIS_CACHE_LINE, CHUNK_SIZE);

  if (chunk == NULL)
    g_error ("iris: out of memory for work items and messages");
  *(void **) chunk = self->chunks;
  self->chunks = chunk;
  self->fresh = chunk + IRIS_CACHE_LINE;
  self->fresh_end = chunk + CHUNK_SIZE;
}

void *
iris_slab_alloc_slow (IrisSlabClass klass)
{
  IrisSlab *slab;
  void *object;

  if (iris_slab_mine[klass] == NULL)
    slab_set_adopt ();
  slab = iris_slab_mine[klass];

  if (slab->free_list == NULL)
    slab->free_list = iris_llist_take_all (&slab->remote_free);
  if (slab->free_list != NULL)
    {
      object = slab->free_list;
      iris_slab_unpoison (slab, object);
      slab->free_list = slab->free_list->next;
      return object;
    }

  /* Taken one by one, so that memory is touched first by the thread that uses it. */
  if (slab->fresh == NULL || slab->fresh + slab->object_size > slab->fresh_end)
    slab_add_chunk (slab);
  object = slab->fresh;
  slab->fresh += slab->object_size;

  return object;
}

/* The link in the first word stays readable: a remote free list may be walked by its owner. */
void
iris_slab_poison (IrisSlab *home, void *object)
{
#ifdef IRIS_ADDRESS_SANITIZER
  ASAN_POISON_MEMORY_REGION ((uint8_t *) object + sizeof (IrisLlistNode),
                             home->object_size - sizeof (IrisLlistNode));
#endif
}

void
iris_slab_unpoison (IrisSlab *home, void *object)
{
#ifdef IRIS_ADDRESS_SANITIZER
  ASAN_UNPOISON_MEMORY_REGION (object, home->object_size);
#endif
}
