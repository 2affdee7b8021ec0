/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * GenMC: the locked deque, which grows while a thief steals two at once.
 */
#include "genmc-deque.h"

#include "iris/queue/iris-locked-deque-private.h"

static IrisLockedDeque queue;

static void *
thief (void *unused)
{
  void *items[2];
  uint64_t n;

  (void) unused;
  /* A length is no promise, but reading it is no race. */
  (void) iris_locked_deque_get_length (&queue);
  iris_locked_deque_steal (&queue, items, 2, &n);
  for (uint64_t i = 0; i < n; i++)
    thing_give (items[i]);

  return NULL;
}

static void
run (void)
{
  pthread_t first, second;

  assert (iris_locked_deque_init_full (&queue, NULL, 2, UINT64_MAX));
  assert (iris_locked_deque_push (&queue, thing_make (0)));
  assert (iris_locked_deque_push (&queue, thing_make (1)));
  pthread_create (&first, NULL, thief, NULL);
  pthread_create (&second, NULL, thief, NULL);

  assert (iris_locked_deque_push (&queue, thing_make (2)));
  thing_give (iris_locked_deque_take (&queue));

  pthread_join (first, NULL);
  pthread_join (second, NULL);
  for (int i = 0; i < 3; i++)
    thing_give (iris_locked_deque_take_oldest (&queue));
  thing_expect_once (3);
  iris_locked_deque_clear (&queue);
}
