/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * Slabs, explored: an object belongs to one thread at a time, also when another thread frees it,
 * and when the thread that it came from ends and the next adopts its slabs.
 */
#include <glib.h>

#include "iris/base/memory/iris-slab.c"

#include "explore.h"

#define MAX_KNOWN 8

static void *known[MAX_KNOWN]; /* objects, in the order in which they were first seen */
static bool in_use[MAX_KNOWN];
static unsigned n_known;

typedef struct
{
  void *link;
  unsigned contents; /* watched: only the thread that has the object */
  IrisSlab *home;
} Object;

static _Atomic (Object *) given[2]; /* to the other thread */

static void
setup (void)
{
  memset (in_use, 0, sizeof in_use);
  n_known = 0;
  atomic_init (&given[0], NULL);
  atomic_init (&given[1], NULL);
}

EXPLORE_UNWATCHED static void
note_use (void *object, bool used)
{
  unsigned i = 0;

  while (i < n_known && known[i] != object)
    i++;
  explore_assert (i < MAX_KNOWN, "the scenario has more than %d objects", MAX_KNOWN);
  if (i == n_known)
    known[n_known++] = object;
  explore_note ("object %u is %s", i, used ? "had" : "given back");
  explore_assert (in_use[i] != used, "object %u has two owners", i);
  in_use[i] = used;
}

static Object *
alloc (void)
{
  IrisSlab *home;
  Object *object = iris_slab_alloc (IRIS_SLAB_ITEM, &home);

  note_use (object, true);
  object->contents = 1;
  object->home = home;

  return object;
}

static void
release (Object *object)
{
  IrisSlab *home = object->home;

  object->contents = 0;
  note_use (object, false);
  iris_slab_free (IRIS_SLAB_ITEM, home, object);
}

static void
give (unsigned to, Object *object)
{
  atomic_store_explicit (&given[to], object, memory_order_release);
}

static void
release_what_is_given (unsigned to)
{
  Object *object = atomic_exchange_explicit (&given[to], NULL, memory_order_acquire);

  if (object != NULL)
    release (object);
}

/* What one allocates the other frees, while the first allocates again. */
static void
freed_elsewhere (unsigned self)
{
  if (self == 0)
    {
      give (0, alloc ());
      give (1, alloc ());
      release (alloc ());
      alloc ();
      alloc ();
    }
  else
    {
      release_what_is_given (0);
      release_what_is_given (1);
      alloc ();
    }
}

/* The first thread ends; the next one adopts its slabs, while objects it gave away travel home. */
static void
home_outlives_thread (unsigned self)
{
  if (self == 0)
    {
      give (0, alloc ());
    }
  else if (self == 1)
    {
      release_what_is_given (0);
    }
  else
    {
      alloc ();
      alloc ();
    }
}

static void
check (void)
{
  release_what_is_given (0);
  release_what_is_given (1);
}

static const ExploreScenario scenarios[] = {
  { "slab/freed-elsewhere", 2, setup, freed_elsewhere, check },
  { "slab/home-outlives-thread", 3, setup, home_outlives_thread, check },
};

int
main (int argc, char **argv)
{
  explore_state (&idle_sets, sizeof idle_sets);
  explore_state (&known_sets, sizeof known_sets);
  explore_state (&exit_key, sizeof exit_key);
  explore_state (&exit_key_once, sizeof exit_key_once);
  explore_thread_local (iris_slab_mine, sizeof iris_slab_mine);

  return explore_main (argc, argv, scenarios, sizeof scenarios / sizeof scenarios[0]);
}
