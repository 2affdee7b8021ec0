/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * GenMC: the steal-half deque, whose owner empties and refills it under a thief.
 */
#include "genmc-deque.h"

#include "iris/queue/compare/iris-halfqueue-private.h"

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
  pthread_t other;

  assert (iris_halfqueue_init_full (&queue, NULL, 4, 0));
  iris_halfqueue_push (&queue, thing_make (0));
  iris_halfqueue_push (&queue, thing_make (1));
  pthread_create (&other, NULL, thief, NULL);

  thing_give (iris_halfqueue_take (&queue));
  thing_give (iris_halfqueue_take (&queue));
  iris_halfqueue_push (&queue, thing_make (2));
  iris_halfqueue_push (&queue, thing_make (3));

  pthread_join (other, NULL);
  for (int i = 0; i < 3; i++)
    thing_give (iris_halfqueue_take (&queue));
  thing_expect_once (4);
  iris_halfqueue_clear (&queue);
}
