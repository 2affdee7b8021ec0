/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * GenMC: thieves force the split deque open. 1: one, while its owner takes, and pushes anew. 2: two
 * at once, of which one steals, while its owner takes. 3: one forces what the owner has just
 * pushed, and another steals it.
 */
#include "genmc-deque.h"

#include "iris/queue/deque/iris-splitqueue-private.h"

static IrisSplitQueue queue;

static void *
thief (void *unused)
{
  void *items[2];
  uint64_t n = 0;

  if (SCENARIO == 3 || iris_splitqueue_force (&queue))
    iris_splitqueue_steal (&queue, items, 2, &n);
  for (uint64_t i = 0; i < n; i++)
    thing_give (items[i]);

  return NULL;
}

#if SCENARIO >= 2
static void *
forcer (void *unused)
{
  iris_splitqueue_force (&queue);

  return NULL;
}
#endif

static void
run (void)
{
  pthread_t first;
#if SCENARIO >= 2
  pthread_t second;
#endif

  assert (iris_splitqueue_init_full (&queue, NULL, 4, 0));
#if SCENARIO != 3
  iris_splitqueue_push (&queue, thing_make (0));
  iris_splitqueue_push (&queue, thing_make (1));
#endif
  pthread_create (&first, NULL, thief, NULL);
#if SCENARIO >= 2
  pthread_create (&second, NULL, forcer, NULL);
#endif

#if SCENARIO == 3
  iris_splitqueue_push (&queue, thing_make (0));
#else
  thing_give (iris_splitqueue_take (&queue));
#endif
#if SCENARIO == 1
  iris_splitqueue_push (&queue, thing_make (2));
  thing_give (iris_splitqueue_take (&queue));
#endif

  pthread_join (first, NULL);
#if SCENARIO >= 2
  pthread_join (second, NULL);
#endif
  for (int i = 0; i < 3; i++)
    thing_give (iris_splitqueue_take (&queue));
  thing_expect_once (4 - SCENARIO);
  iris_splitqueue_clear (&queue);
}
