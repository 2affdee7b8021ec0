/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * GenMC: the ABP deque. 1: its owner starts again from index 0 while thieves look at it. 2: the
 * owner and two thieves want two items, each thief both. 3: its length is not 0 while there is an
 * item.
 */
#include "genmc-deque.h"

#include "iris/queue/compare/iris-abpqueue-private.h"

static IrisABPQueue queue;

#if SCENARIO <= 2
static void *
thief (void *unused)
{
  for (int i = 0; i < SCENARIO; i++)
    {
      void *item = NULL;

      if (iris_abpqueue_steal (&queue, &item) == IRIS_STEAL_TAKEN)
        thing_give (item);
    }

  return NULL;
}
#endif

#if SCENARIO == 1
static void
run (void)
{
  pthread_t first, second;

  assert (iris_abpqueue_init_full (&queue, 2, 0));
  iris_abpqueue_push (&queue, thing_make (0));
  pthread_create (&first, NULL, thief, NULL);
  pthread_create (&second, NULL, thief, NULL);

  thing_give (iris_abpqueue_take (&queue));
  iris_abpqueue_push (&queue, thing_make (1));
  thing_give (iris_abpqueue_take (&queue));

  pthread_join (first, NULL);
  pthread_join (second, NULL);
  thing_give (iris_abpqueue_take (&queue));
  thing_expect_once (2);
  iris_abpqueue_clear (&queue);
}
#elif SCENARIO == 2
static void
run (void)
{
  pthread_t first, second;

  assert (iris_abpqueue_init_full (&queue, 2, 0));
  iris_abpqueue_push (&queue, thing_make (0));
  iris_abpqueue_push (&queue, thing_make (1));
  pthread_create (&first, NULL, thief, NULL);
  pthread_create (&second, NULL, thief, NULL);

  thing_give (iris_abpqueue_take (&queue));

  pthread_join (first, NULL);
  pthread_join (second, NULL);
  for (int i = 0; i < 2; i++)
    thing_give (iris_abpqueue_take (&queue));
  thing_expect_once (2);
  iris_abpqueue_clear (&queue);
}
#else
/* Steals one of two. */
static void *
thief_of_second (void *unused)
{
  void *item = NULL;

  if (iris_abpqueue_get_length (&queue) == 2
      && iris_abpqueue_steal (&queue, &item) == IRIS_STEAL_TAKEN)
    thing_give (item);

  return NULL;
}

/* There is always at least one. */
static void *
reader (void *unused)
{
  assert (iris_abpqueue_get_length (&queue) != 0);

  return NULL;
}

static void
run (void)
{
  pthread_t first, second;

  assert (iris_abpqueue_init_full (&queue, 2, 0));
  iris_abpqueue_push (&queue, thing_make (0));
  pthread_create (&first, NULL, thief_of_second, NULL);
  pthread_create (&second, NULL, reader, NULL);

  iris_abpqueue_push (&queue, thing_make (1));

  pthread_join (first, NULL);
  pthread_join (second, NULL);
  for (int i = 0; i < 2; i++)
    thing_give (iris_abpqueue_take (&queue));
  thing_expect_once (2);
  iris_abpqueue_clear (&queue);
}
#endif
