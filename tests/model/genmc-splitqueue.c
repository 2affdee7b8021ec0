/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * GenMC: the split deque. 1: its owner takes back what a thief is reading, replaces it and exposes
 * it again. 2: its length is not 0 while there is an item.
 */
#include "genmc-deque.h"

#include "iris/queue/deque/iris-splitqueue-private.h"

static IrisSplitQueue queue;

#if SCENARIO == 1
static void *
thief (void *unused)
{
  void *items[2];
  uint64_t n;

  iris_splitqueue_steal (&queue, items, 2, &n);
  for (uint64_t i = 0; i < n; i++)
    thing_give (items[i]);

  return NULL;
}

static void
run (void)
{
  pthread_t first, second;

  assert (iris_splitqueue_init_full (&queue, NULL, 4, 0));
  iris_splitqueue_push (&queue, thing_make (0));
  iris_splitqueue_push (&queue, thing_make (1));
  iris_splitqueue_expose (&queue, 2);
  pthread_create (&first, NULL, thief, NULL);
  pthread_create (&second, NULL, thief, NULL);

  thing_give (iris_splitqueue_take (&queue));
  iris_splitqueue_push (&queue, thing_make (2));
  iris_splitqueue_expose (&queue, 1);
  thing_give (iris_splitqueue_take (&queue));

  pthread_join (first, NULL);
  pthread_join (second, NULL);
  for (int i = 0; i < 3; i++)
    thing_give (iris_splitqueue_take (&queue));
  thing_expect_once (3);
  iris_splitqueue_clear (&queue);
}
#else
/* Steals one of two. */
static void *
thief_of_second (void *unused)
{
  void *item = NULL;
  uint64_t n;

  if (iris_splitqueue_get_length (&queue) == 2
      && iris_splitqueue_steal (&queue, &item, 1, &n) == IRIS_STEAL_TAKEN)
    thing_give (item);

  return NULL;
}

/* There is always at least one. */
static void *
reader (void *unused)
{
  assert (iris_splitqueue_get_length (&queue) != 0);

  return NULL;
}

static void
run (void)
{
  pthread_t first, second;

  assert (iris_splitqueue_init_full (&queue, NULL, 4, 0));
  iris_splitqueue_push (&queue, thing_make (0));
  iris_splitqueue_expose (&queue, 1);
  pthread_create (&first, NULL, thief_of_second, NULL);
  pthread_create (&second, NULL, reader, NULL);

  iris_splitqueue_push (&queue, thing_make (1));

  pthread_join (first, NULL);
  pthread_join (second, NULL);
  for (int i = 0; i < 2; i++)
    thing_give (iris_splitqueue_take (&queue));
  thing_expect_once (2);
  iris_splitqueue_clear (&queue);
}
#endif
