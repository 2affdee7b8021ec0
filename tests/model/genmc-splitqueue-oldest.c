/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * GenMC: the owner of the split deque takes the oldest item. 1: against a thief, and then writes
 * the slot again. 2: while a thief forces the deque open.
 */
#include "genmc-deque.h"

#include "iris/queue/deque/iris-splitqueue-private.h"

static IrisSplitQueue queue;

static void *
thief (void *unused)
{
  void *item = NULL;
  uint64_t n;

#if SCENARIO == 2
  iris_splitqueue_force (&queue);
#endif
  if (iris_splitqueue_steal (&queue, &item, 1, &n) == IRIS_STEAL_TAKEN)
    thing_give (item);

  return NULL;
}

static void
run (void)
{
  pthread_t other;

  assert (iris_splitqueue_init_full (&queue, NULL, 4, 0));
  iris_splitqueue_push (&queue, thing_make (0));
  iris_splitqueue_push (&queue, thing_make (1));
#if SCENARIO == 1
  iris_splitqueue_expose (&queue, 1);
#endif
  pthread_create (&other, NULL, thief, NULL);

  thing_give (iris_splitqueue_take_oldest (&queue));
  for (int i = 2; i < 5; i++)
    iris_splitqueue_push (&queue, thing_make (i));

  pthread_join (other, NULL);
  for (int i = 0; i < 5; i++)
    thing_give (iris_splitqueue_take_oldest (&queue));
  thing_expect_once (5);
  iris_splitqueue_clear (&queue);
}
