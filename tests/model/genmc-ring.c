/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * Driver for a C11 model checker: the ring. 1: two threads that push and pop, within the capacity.
 * 2: the ring is full at the start, so that they meet in the overflow. 3: several are popped at
 * once while their cells are filled again. 4: the length is not 0 while the only item goes from the
 * overflow into the ring.
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

#if SCENARIO <= 2
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
#elif SCENARIO == 3
static void *
pass_one (void *data)
{
  (void) data;
  push (0);
  push (1);

  return NULL;
}

static void *
pass_another (void *data)
{
  (void) data;
  for (int i = 0; i < 2; i++)
    {
      void *taken[2];
      uint64_t n = iris_ring_core_pop_many (&ring, taken, 2);

      for (uint64_t k = 0; k < n; k++)
        thing_take (taken[k]);
    }

  return NULL;
}
#else
static void *
pass_one (void *data)
{
  (void) data;
  thing_take (iris_ring_core_pop (&ring));

  return NULL;
}

static void *
pass_another (void *data)
{
  (void) data;
  assert (!iris_ring_core_is_empty (&ring));

  return NULL;
}
#endif

int
main (void)
{
  int n_pushed = 2;

  assert (iris_ring_core_init_at (&ring, 2, offsetof (Thing, link), UINT64_MAX));
#if SCENARIO == 2
  push (2);
  push (3);
  n_pushed = 4;
#elif SCENARIO == 3
  push (2);
  push (3);
  n_pushed = 4;
  thing_take (iris_ring_core_pop (&ring));
#elif SCENARIO == 4
  for (int i = 0; i < N_THINGS; i++)
    push (i);
  thing_take (iris_ring_core_pop (&ring));
  thing_take (iris_ring_core_pop (&ring));
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
