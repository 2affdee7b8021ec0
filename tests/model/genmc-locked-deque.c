/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * GenMC: the locked deque. 1: it grows while a thief steals two at once. 2: its length is not 0
 * while there is an item.
 */
#include "genmc-deque.h"

#include "iris/queue/compare/iris-locked-deque-private.h"

static IrisLockedDeque queue;

#if SCENARIO == 1
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
#else
/* Steals one of two. */
static void *
thief_of_second (void *unused)
{
  void *item = NULL;
  uint64_t n;

  if (iris_locked_deque_get_length (&queue) == 2
      && iris_locked_deque_steal (&queue, &item, 1, &n) == IRIS_STEAL_TAKEN)
    thing_give (item);

  return NULL;
}

/* There is always at least one. */
static void *
reader (void *unused)
{
  assert (iris_locked_deque_get_length (&queue) != 0);

  return NULL;
}

static void
run (void)
{
  pthread_t first, second;

  assert (iris_locked_deque_init_full (&queue, NULL, 2, UINT64_MAX));
  iris_locked_deque_push (&queue, thing_make (0));
  pthread_create (&first, NULL, thief_of_second, NULL);
  pthread_create (&second, NULL, reader, NULL);

  iris_locked_deque_push (&queue, thing_make (1));

  pthread_join (first, NULL);
  pthread_join (second, NULL);
  for (int i = 0; i < 2; i++)
    thing_give (iris_locked_deque_take (&queue));
  thing_expect_once (2);
  iris_locked_deque_clear (&queue);
}
#endif
