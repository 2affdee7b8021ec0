/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * Driver for a C11 model checker: the lock-free queue. 1: two threads that push and pop, so that
 * nodes come again. 2: two pushers and a popper, which sees one pusher's items in order. 3: a push
 * against one that pops or closes: what was accepted is in the queue. 4: a push against a close.
 */
#include "genmc.h"

#include "iris/queue/stamped/iris-lfqueue-private.h"

static IrisLFQueueCore queue;

#if SCENARIO <= 2
static void
push (int i)
{
  thing_fill (i);
  assert (iris_lfqueue_core_push (&queue, &things[i]) == IRIS_LFQUEUE_PUSHED);
}
#endif

#if SCENARIO == 1
#define N_PUSHED 4

static void *
pass_one (void *data)
{
  (void) data;
  push (0);
  thing_take (iris_lfqueue_core_pop (&queue));
  push (1);

  return NULL;
}

static void *
pass_another (void *data)
{
  (void) data;
  push (2);
  thing_take (iris_lfqueue_core_pop (&queue));
  thing_take (iris_lfqueue_core_pop (&queue));

  return NULL;
}

static void
start (void)
{
  push (3);
  GENMC_RUN (pass_one, pass_another);
}
#elif SCENARIO == 2
#define N_PUSHED 3

static void *
push_two (void *data)
{
  (void) data;
  push (0);
  push (1);

  return NULL;
}

static void *
push_one (void *data)
{
  (void) data;
  push (2);

  return NULL;
}

static void *
take_two (void *data)
{
  Thing *first = iris_lfqueue_core_pop (&queue);
  Thing *second = iris_lfqueue_core_pop (&queue);

  (void) data;
  assert (first != &things[1]);
  thing_take (first);
  thing_take (second);

  return NULL;
}

static void
start (void)
{
  GENMC_RUN (push_two, push_one, take_two);
}
#else
#define N_PUSHED 0

static int accepted;

static void *
push_if_open (void *data)
{
  (void) data;
  thing_fill (0);
  accepted = iris_lfqueue_core_push (&queue, &things[0]) == IRIS_LFQUEUE_PUSHED;

  return NULL;
}

static void *
end (void *data)
{
  (void) data;
#if SCENARIO == 3
  bool closed;

  thing_take (iris_lfqueue_core_pop_full (&queue, true, &closed));
  assert (closed == !thing_is_taken (0));
#else
  iris_lfqueue_core_close (&queue);
#endif

  return NULL;
}

static void
start (void)
{
  GENMC_RUN (push_if_open, end);
}
#endif

int
main (void)
{
  int n_left = 0;
  Thing *thing;

  assert (iris_lfqueue_core_init (&queue, UINT32_MAX));
  start ();
  while (n_left < N_THINGS && (thing = iris_lfqueue_core_pop (&queue)) != NULL)
    {
      thing_take (thing);
      n_left++;
    }
  assert (iris_lfqueue_core_pop (&queue) == NULL);
  for (int i = 0; i < N_PUSHED; i++)
    assert (thing_is_taken (i));
#if SCENARIO >= 3
  assert (thing_is_taken (0) == accepted);
#endif
#if SCENARIO == 4
  assert (n_left == accepted && iris_lfqueue_core_is_closed (&queue));
#endif
  assert (iris_lfqueue_core_get_length (&queue) == 0);
  iris_lfqueue_core_clear (&queue);

  return 0;
}
