/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * GenMC: the work-stealing queue, whose owner and two thieves want the last items.
 */
#include "genmc-deque.h"

#include "iris/queue/iris-wsqueue-private.h"

static IrisWSQueue queue;

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
