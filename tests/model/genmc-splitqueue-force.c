/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * GenMC: two thieves force the split deque open while its owner takes, and pushes anew.
 */
#include "genmc-deque.h"

#include "iris/queue/iris-splitqueue-private.h"

static IrisSplitQueue queue;

static void *
thief (void *unused)
{
  void *items[2];
  uint64_t n = 0;

  if (iris_splitqueue_force (&queue))
    iris_splitqueue_steal (&queue, items, 2, &n);
  for (uint64_t i = 0; i < n; i++)
    thing_give (items[i]);

  return NULL;
}

static void
run (void)
{
  pthread_t first, second;

  assert (iris_splitqueue_init_full (&queue, NULL, 4, 0));
  iris_splitqueue_push (&queue, thing_make (0));
  iris_splitqueue_push (&queue, thing_make (1));
  pthread_create (&first, NULL, thief, NULL);
  pthread_create (&second, NULL, thief, NULL);

  thing_give (iris_splitqueue_take (&queue));
  iris_splitqueue_push (&queue, thing_make (2));
  thing_give (iris_splitqueue_take (&queue));

  pthread_join (first, NULL);
  pthread_join (second, NULL);
  for (int i = 0; i < 3; i++)
    thing_give (iris_splitqueue_take (&queue));
  thing_expect_once (3);
  iris_splitqueue_clear (&queue);
}
