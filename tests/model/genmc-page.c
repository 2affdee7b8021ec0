/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * Driver for a C11 model checker: the page's word. 1: two threads that free an object each against
 * the owner that holds the page and takes, twice. 2: two threads that free the last objects of a
 * page while its owner lets go of it: one of the three finds it empty, and uses it anew.
 */
#define IRIS_PAGE_BITS   8
#define IRIS_REGION_BITS 10

#include "genmc.h"

#include "iris/base/memory/iris-page-private.h"

/* Headers, and behind them the pages; only the last one is used. */
static alignas (IRIS_REGION_SIZE) char region[IRIS_REGION_SIZE];

typedef struct
{
  IrisLlistNode link;
  int payload;
} Object;

static IrisPage *
the_page (void)
{
  return &((IrisPage *) (void *) region)[IRIS_REGION_SIZE / IRIS_PAGE_SIZE - 1];
}

static Object *
object_at (int i)
{
  return (Object *) (void *) (iris_page_memory (the_page ()) + i * IRIS_CACHE_LINE);
}

static uint32_t
free_one (int i)
{
  Object *object = object_at (i);

  object->payload = i + 1;
  assert (iris_page_of (object) == the_page ());

  return iris_page_push (iris_page_of (object), &object->link);
}

#if SCENARIO == 1
static int n_taken;

/* They are the owner's now, to read and to write. */
static void
take_all (void)
{
  IrisLlistNode *node = iris_page_take (the_page ());

  for (int i = 0; i < 2 && node != NULL; i++)
    {
      IrisLlistNode *next = node->next;

      assert (((Object *) (void *) node)->payload > 0);
      ((Object *) (void *) node)->payload = 0;
      n_taken++;
      node = next;
    }
  assert (node == NULL);
}

static void *
own (void *data)
{
  (void) data;
  take_all ();
  take_all ();

  return NULL;
}

static void *
free_first (void *data)
{
  (void) data;
  free_one (0);

  return NULL;
}

static void *
free_second (void *data)
{
  (void) data;
  free_one (1);

  return NULL;
}
#else
static int n_found;

/* As iris-slab.c does it under the lock, which orders nothing for the first that comes. */
static void
look_whether_empty (void)
{
  IrisPage *page = the_page ();

  if (iris_page_word_count (iris_page_look (page)) != 2)
    return;
  assert (page->n_carved == 2);
  page->n_carved = 0;
  object_at (0)->payload = object_at (1)->payload = 0;
  n_found++;
}

static void *
let_go (void *data)
{
  (void) data;
  the_page ()->n_carved = 2;
  if (iris_page_let_go (the_page ()) == 2)
    look_whether_empty ();

  return NULL;
}

static void
free_and_look (int i)
{
  uint32_t word = free_one (i);

  if (iris_page_word_count (word) == 2 && !(word & IRIS_PAGE_HELD))
    look_whether_empty ();
}

static void *
free_first (void *data)
{
  (void) data;
  free_and_look (0);

  return NULL;
}

static void *
free_second (void *data)
{
  (void) data;
  free_and_look (1);

  return NULL;
}
#endif

int
main (void)
{
  atomic_init (&the_page ()->freed, IRIS_PAGE_HELD);
#if SCENARIO == 1
  GENMC_RUN (own, free_first, free_second);
  take_all ();
  assert (n_taken == 2);
#else
  GENMC_RUN (let_go, free_first, free_second);
  assert (n_found == 1);
#endif

  return 0;
}
