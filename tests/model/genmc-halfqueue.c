/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * GenMC: the steal-half deque, whose owner comes to the half that a thief is about to claim.
 */
#include "genmc-deque.h"

#include "iris/queue/iris-halfqueue-private.h"

static IrisHalfQueue queue;

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
