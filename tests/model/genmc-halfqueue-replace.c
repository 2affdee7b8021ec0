/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * GenMC: the steal-half deque grows while a thief reads, and its old array serves another
 * deque.
 */
#include "genmc-deque.h"

#include "iris/queue/compare/iris-halfqueue-private.h"

static IrisArrayPool pool;
static IrisHalfQueue queue, neighbour;

static void *
thief (void *unused)
{
  void *item = NULL;
  uint64_t n;

  if (iris_halfqueue_steal (&queue, &item, 1, &n) == IRIS_STEAL_TAKEN)
    thing_give (item);

  return NULL;
}

static void
run (void)
{
  pthread_t other;

  iris_array_pool_init (&pool);
  assert (iris_halfqueue_init_full (&queue, &pool, 2, 0));
  iris_halfqueue_push (&queue, thing_make (0));
  pthread_create (&other, NULL, thief, NULL);

  iris_halfqueue_push (&queue, thing_make (1));
  assert (iris_halfqueue_init_full (&neighbour, &pool, 2, 0));
  iris_halfqueue_push (&neighbour, thing_make (2));
  thing_give (iris_halfqueue_take (&queue));

  pthread_join (other, NULL);
  thing_give (iris_halfqueue_take (&queue));
  thing_give (iris_halfqueue_take (&neighbour));
  thing_expect_once (3);
  iris_halfqueue_clear (&queue);
  iris_halfqueue_clear (&neighbour);
  iris_array_pool_clear (&pool);
}
