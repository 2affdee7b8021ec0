/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * Slabs, explored: an object belongs to one thread at a time, also when another thread frees it,
 * when the thread that it came from ends and the next adopts its slabs, and when its page is given
 * away and comes back as another slab's. In the end no page is forgotten: when nothing is in use,
 * slabs have their current pages only.
 *
 * Pages have four items or two messages, and each object is a part: every free that is not to the
 * current page sorts its page in. A page that is empty is discarded at once.
 */
#include <glib.h>

#undef IRIS_PAGE_BITS
#undef IRIS_REGION_BITS
#define IRIS_PAGE_BITS     8
#define IRIS_REGION_BITS   11
#define IRIS_PAGE_RESERVE  0
#define IRIS_PAGE_DELAY_NS 0

#include "iris/base/memory/iris-page-private.h"

#ifdef PLANT_FORGETS
#define PLANT
#define FAILS "are current"
#elif defined(PLANT_NO_HOLD)
#define PLANT
#define FAILS "data race"
#else
#define FAILS NULL
#endif

/* The owner forgets what was freed while it held the page. */
#ifdef PLANT_FORGETS
static uint32_t
planted_let_go (IrisPage *page)
{
  iris_page_let_go (page);

  return 0;
}
#define iris_page_let_go planted_let_go
#endif

/* The owner hands out objects of a page that others may find empty. */
#ifdef PLANT_NO_HOLD
#define iris_page_hold(page) ((void) (page))
#endif

#include "slabs.h"

#define MAX_KNOWN 16
#define CONTENTS  0x51ab51ab

typedef struct
{
  void *link;
  unsigned contents; /* watched: only the thread that has the object */
  IrisSlab *home;
  IrisSlabClass klass;
} Object;

static Object *known[MAX_KNOWN]; /* in the order in which they were first seen */
static bool in_use[MAX_KNOWN];
static unsigned n_known;

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
note_use (Object *object, bool used)
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
alloc_one (IrisSlabClass klass)
{
  IrisSlab *home;
  Object *object = iris_slab_alloc (klass, &home);

  note_use (object, true);
  object->contents = CONTENTS;
  object->home = home;
  object->klass = klass;

  return object;
}

static Object *
alloc (void)
{
  return alloc_one (IRIS_SLAB_ITEM);
}

/* Of which a page has two. */
static Object *
alloc_large (void)
{
  return alloc_one (IRIS_SLAB_MESSAGE);
}

static void
release (Object *object)
{
  IrisSlab *home = object->home;
  IrisSlabClass klass = object->klass;

  explore_assert (object->contents == CONTENTS, "an object in use was overwritten");
  object->contents = 0;
  note_use (object, false);
  iris_slab_free (klass, home, object);
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

/* All of a page: what others free of it before and after the owner goes on to the next page. What
 * was freed last makes it empty, and it goes to another slab. */
static void
page_is_given_away (unsigned self)
{
  if (self == 0)
    {
      Object *rest[2];

      give (0, alloc ());
      give (1, alloc ());
      rest[0] = alloc ();
      rest[1] = alloc ();
      release (alloc ());
      release (rest[0]);
      release (rest[1]);
      alloc ();
    }
  else
    {
      release_what_is_given (0);
      release_what_is_given (1);
      alloc ();
    }
}

/* Two threads free the same page; either may be late with its shelf when the page has gone, or has
 * come back. */
static void
late_for_the_shelf (unsigned self)
{
  if (self == 0)
    {
      Object *first = alloc (), *second = alloc ();

      give (0, alloc ());
      give (1, alloc ());
      release (alloc ());
      release (first);
      release (second);
      alloc ();
      alloc ();
    }
  else
    {
      release_what_is_given (self - 1);
    }
}

/* Both objects of a page are freed while its owner lets go of it. */
static void
freed_while_let_go (unsigned self)
{
  if (self == 0)
    {
      give (0, alloc_large ());
      give (1, alloc_large ());
      alloc_large ();
    }
  else
    {
      release_what_is_given (0);
      release_what_is_given (1);
    }
}

/* The owner takes a page from the shelf, whose last object others free at the same time. */
static void
taken_from_the_shelf (unsigned self)
{
  if (self == 0)
    {
      Object *mine;

      give (0, alloc_large ());
      mine = alloc_large ();
      alloc_large ();
      release (mine);
      alloc_large ();
      give (1, alloc_large ());
      alloc_large ();
    }
  else
    {
      release_what_is_given (0);
      release_what_is_given (1);
      alloc_large ();
    }
}

static unsigned
count_current_pages (void)
{
  unsigned n = 0;

  for (SlabSet *set = known_sets; set != NULL; set = set->next_known)
    for (unsigned i = 0; i < IRIS_SLAB_N_CLASSES; i++)
      n += set->slabs[i].current != NULL;

  return n;
}

static void
check (void)
{
  IrisPagePoolCounts counts;

  for (unsigned i = 0; i < n_known; i++)
    if (in_use[i])
      release (known[i]);
  iris_page_pool_count (&counts);
  explore_assert (counts.n_used == count_current_pages (), "%u pages are in use, %u are current",
                  (unsigned) counts.n_used, count_current_pages ());
}

static const ExploreScenario scenarios[] = {
#ifndef PLANT
  { "slab/freed-elsewhere", 2, setup, freed_elsewhere, check, .preemptions = 2 },
  { "slab/home-outlives-thread", 3, setup, home_outlives_thread, check, .preemptions = 2,
    .delays = 1 },
  { "slab/page-is-given-away", 2, setup, page_is_given_away, check, .preemptions = 2, .delays = 1 },
  { "slab/late-for-the-shelf", 3, setup, late_for_the_shelf, check, .preemptions = 2, .delays = 1 },
#endif
#ifndef PLANT_NO_HOLD
  { "slab/freed-while-let-go", 2, setup, freed_while_let_go, check, .fails = FAILS },
#endif
#ifndef PLANT_FORGETS
  { "slab/taken-from-the-shelf", 2, setup, taken_from_the_shelf, check, .fails = FAILS,
    .preemptions = 2, .delays = 1 },
#endif
};

int
main (int argc, char **argv)
{
  explore_slabs ();

  return explore_main (argc, argv, scenarios, sizeof scenarios / sizeof scenarios[0]);
}
