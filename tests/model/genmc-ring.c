/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * Driver for a C11 model checker: the ring. 1: two threads that push and pop, within the capacity.
 * 2: the ring is full at the start, so that they meet in the overflow.
 */
#include "genmc.h"

#include "iris/queue/iris-ring-private.h"

static IrisRingCore ring;

static void
push (int i)
{
  thing_fill (i);
  assert (iris_ring_core_push (&ring, &things[i]));
}

static void *
pass_one (void *data)
{
  (void) data;
  push (0);
  thing_take (iris_ring_core_pop (&ring));

  return NULL;
}

static void *
pass_another (void *data)
{
  (void) data;
  push (1);
  thing_take (iris_ring_core_pop (&ring));

  return NULL;
}

int
main (void)
{
  int n_pushed = 2;

  assert (iris_ring_core_init_at (&ring, 2, offsetof (Thing, link), UINT64_MAX));
#if SCENARIO == 2
  push (2);
  push (3);
  n_pushed = 4;
#endif
  GENMC_RUN (pass_one, pass_another);
  for (int i = 0; i < N_THINGS; i++)
    thing_take (iris_ring_core_pop (&ring));
  assert (iris_ring_core_is_empty (&ring));
  for (int i = 0; i < n_pushed; i++)
    assert (thing_is_taken (i));
  iris_ring_core_clear (&ring);

  return 0;
}
