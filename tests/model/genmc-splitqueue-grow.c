/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * GenMC: the split deque grows while a thief reads, and its old array serves another deque.
 */
#include "genmc-deque.h"

#include "iris/queue/deque/iris-splitqueue-private.h"

static IrisArrayPool pool;
static IrisSplitQueue queue, neighbour;

static void *
thief (void *unused)
{
  void *item = NULL;
  uint64_t n;

  if (iris_splitqueue_steal (&queue, &item, 1, &n) == IRIS_STEAL_TAKEN)
    thing_give (item);

  return NULL;
}

static void
run (void)
{
  pthread_t other;

  iris_array_pool_init (&pool);
  assert (iris_splitqueue_init_full (&queue, &pool, 2, 0));
  iris_splitqueue_push (&queue, thing_make (0));
  iris_splitqueue_expose (&queue, 1);
  pthread_create (&other, NULL, thief, NULL);

  iris_splitqueue_push (&queue, thing_make (1));
  assert (iris_splitqueue_init_full (&neighbour, &pool, 2, 0));
  iris_splitqueue_push (&neighbour, thing_make (2));
  iris_splitqueue_expose (&queue, 1);

  pthread_join (other, NULL);
  for (int i = 0; i < 2; i++)
    thing_give (iris_splitqueue_take (&queue));
  thing_give (iris_splitqueue_take (&neighbour));
  thing_expect_once (3);
  iris_splitqueue_clear (&queue);
  iris_splitqueue_clear (&neighbour);
  iris_array_pool_clear (&pool);
}
