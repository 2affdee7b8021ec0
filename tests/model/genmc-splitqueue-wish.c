/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * GenMC: a thief of the split deque that finds nothing public and asks is not forgotten.
 */
#include "genmc-deque.h"

#include "iris/queue/deque/iris-splitqueue-private.h"

static IrisSplitQueue queue;
static bool asked; /* by the last attempt */

static void *
thief (void *unused)
{
  for (int i = 0; i < 2; i++)
    {
      void *item = NULL;
      uint64_t n;

      asked = iris_splitqueue_steal (&queue, &item, 1, &n) == IRIS_STEAL_PRIVATE;
      if (n > 0)
        thing_give (item);
    }

  return NULL;
}

static void
run (void)
{
  pthread_t other;
  uint64_t split;

  assert (iris_splitqueue_init_full (&queue, NULL, 4, 0));
  iris_splitqueue_push (&queue, thing_make (0));
  iris_splitqueue_push (&queue, thing_make (1));
  split = queue.own_split;
  pthread_create (&other, NULL, thief, NULL);

  iris_splitqueue_push (&queue, thing_make (2));
  thing_give (iris_splitqueue_take (&queue));

  pthread_join (other, NULL);
  /* The owner's next look serves it, if none of those before did. */
  iris_splitqueue_poll (&queue);
  assert (!asked || iris_splitqueue_get_public_length (&queue) > 0 || queue.own_split != split
          || !iris_splitqueue_has_private (&queue));
  for (int i = 0; i < 3; i++)
    thing_give (iris_splitqueue_take (&queue));
  thing_expect_once (3);
  iris_splitqueue_clear (&queue);
}
