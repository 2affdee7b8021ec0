/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * GenMC: the work-stealing queue grows while a thief reads, and its old array serves another queue.
 */
#include "genmc-deque.h"

#include "iris/queue/deque/iris-wsqueue-private.h"

static IrisArrayPool pool;
static IrisWSQueue queue, neighbour;

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
  pthread_t other;

  iris_array_pool_init (&pool);
  assert (iris_wsqueue_init_full (&queue, &pool, 2, 0));
  iris_wsqueue_push (&queue, thing_make (0));
  pthread_create (&other, NULL, thief, NULL);

  iris_wsqueue_push (&queue, thing_make (1));
  assert (iris_wsqueue_init_full (&neighbour, &pool, 2, 0));
  iris_wsqueue_push (&neighbour, thing_make (2));
  thing_give (iris_wsqueue_take (&queue));

  pthread_join (other, NULL);
  thing_give (iris_wsqueue_take (&queue));
  thing_give (iris_wsqueue_take (&neighbour));
  thing_expect_once (3);
  iris_wsqueue_clear (&queue);
  iris_wsqueue_clear (&neighbour);
  iris_array_pool_clear (&pool);
}
