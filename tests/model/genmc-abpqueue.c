/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * GenMC: the ABP deque starts again from index 0 while thieves look at it.
 */
#include "genmc-deque.h"

#include "iris/queue/iris-abpqueue-private.h"

static IrisABPQueue queue;

static void *
thief (void *unused)
{
  void *item = NULL;

  if (iris_abpqueue_steal (&queue, &item) == IRIS_STEAL_TAKEN)
    thing_give (item);

  return NULL;
}

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
