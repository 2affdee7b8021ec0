/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * GenMC: the steal-half deque. 1: its owner comes to the half that a thief is about to claim. 2:
 * its length is not 0 while there is an item.
 */
#include "genmc-deque.h"

#include "iris/queue/compare/iris-halfqueue-private.h"

static IrisHalfQueue queue;

#if SCENARIO == 1
static void *
thief (void *unused)
{
  void *items[2];
  uint64_t n;

  iris_halfqueue_steal (&queue, items, 2, &n);
  for (uint64_t i = 0; i < n; i++)
    thing_give (items[i]);

  return NULL;
}

static void
run (void)
{
  pthread_t first, second;

  assert (iris_halfqueue_init_full (&queue, NULL, 4, 0));
  for (int i = 0; i < 3; i++)
    iris_halfqueue_push (&queue, thing_make (i));
  pthread_create (&first, NULL, thief, NULL);
  pthread_create (&second, NULL, thief, NULL);

  thing_give (iris_halfqueue_take (&queue));
  thing_give (iris_halfqueue_take (&queue));

  pthread_join (first, NULL);
  pthread_join (second, NULL);
  for (int i = 0; i < 3; i++)
    thing_give (iris_halfqueue_take (&queue));
  thing_expect_once (3);
  iris_halfqueue_clear (&queue);
}
#else
/* Steals one of two. */
static void *
thief_of_second (void *unused)
{
  void *item = NULL;
  uint64_t n;

  if (iris_halfqueue_get_length (&queue) == 2
      && iris_halfqueue_steal (&queue, &item, 1, &n) == IRIS_STEAL_TAKEN)
    thing_give (item);

  return NULL;
}

/* There is always at least one. */
static void *
reader (void *unused)
{
  assert (iris_halfqueue_get_length (&queue) != 0);

  return NULL;
}

static void
run (void)
{
  pthread_t first, second;

  assert (iris_halfqueue_init_full (&queue, NULL, 4, 0));
  iris_halfqueue_push (&queue, thing_make (0));
  pthread_create (&first, NULL, thief_of_second, NULL);
  pthread_create (&second, NULL, reader, NULL);

  iris_halfqueue_push (&queue, thing_make (1));

  pthread_join (first, NULL);
  pthread_join (second, NULL);
  for (int i = 0; i < 2; i++)
    thing_give (iris_halfqueue_take (&queue));
  thing_expect_once (2);
  iris_halfqueue_clear (&queue);
}
#endif
