/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * GenMC: the work-stealing queue. 1: its owner and two thieves want the last items. 2: its length
 * is not 0 while there is an item.
 */
#include "genmc-deque.h"

#include "iris/queue/deque/iris-wsqueue-private.h"

static IrisWSQueue queue;

#if SCENARIO == 1
static void *
thief (void *unused)
{
  void *item = NULL;

  if (iris_wsqueue_steal (&queue, &item) == IRIS_STEAL_TAKEN)
    thing_give (item);

  return NULL;
}

static void
run (void)
{
  pthread_t first, second;

  assert (iris_wsqueue_init_full (&queue, NULL, 4, 0));
  pthread_create (&first, NULL, thief, NULL);
  pthread_create (&second, NULL, thief, NULL);

  iris_wsqueue_push (&queue, thing_make (0));
  iris_wsqueue_push (&queue, thing_make (1));
  thing_give (iris_wsqueue_take (&queue));
  thing_give (iris_wsqueue_take (&queue));

  pthread_join (first, NULL);
  pthread_join (second, NULL);
  thing_give (iris_wsqueue_take (&queue));
  thing_expect_once (2);
  iris_wsqueue_clear (&queue);
}
#else
/* Steals one of two. */
static void *
thief_of_second (void *unused)
{
  void *item = NULL;

  if (iris_wsqueue_get_length (&queue) == 2
      && iris_wsqueue_steal (&queue, &item) == IRIS_STEAL_TAKEN)
    thing_give (item);

  return NULL;
}

/* There is always at least one. */
static void *
reader (void *unused)
{
  assert (iris_wsqueue_get_length (&queue) != 0);

  return NULL;
}

static void
run (void)
{
  pthread_t first, second;

  assert (iris_wsqueue_init_full (&queue, NULL, 4, 0));
  iris_wsqueue_push (&queue, thing_make (0));
  pthread_create (&first, NULL, thief_of_second, NULL);
  pthread_create (&second, NULL, reader, NULL);

  iris_wsqueue_push (&queue, thing_make (1));

  pthread_join (first, NULL);
  pthread_join (second, NULL);
  for (int i = 0; i < 2; i++)
    thing_give (iris_wsqueue_take (&queue));
  thing_expect_once (2);
  iris_wsqueue_clear (&queue);
}
#endif
