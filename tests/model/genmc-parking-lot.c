/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * Driver for a C11 model checker: the parking lot, with full fences on both sides. A worker that
 * would sleep only says so; in the end no worker may sleep uncalled while there is work and none
 * searches. 1: one worker, one piece of work. 2: two workers, of which one may find work and must
 * then call the other for the rest. (Closing, and several places: parking-lot.pml.)
 */
#include "genmc.h"

#include <unistd.h>

/* No worker sleeps here, so none needs to be woken: the token says which one was called. */
#define syscall(number, word, operation, value, time, ...) ((void) (time))

#include "iris/base/sync/iris-parking-lot.c"

bool iris_fence_is_asymmetric = false;

void
iris_fence_init (void)
{
}

void
iris_fence_heavy (void)
{
  iris_fence_full ();
}

typedef enum
{
  BUSY,
  SEARCHING,
  ASLEEP,
} State;

static IrisParkingLot parking_lot;
static IrisParkingLotPlace place;
static IrisParker parkers[SCENARIO];
static State states[SCENARIO]; /* each its worker's, until all have ended */
static atomic_int n_works;

static bool
look (void)
{
  return atomic_load_explicit (&n_works, memory_order_relaxed) != 0;
}

static bool
take (void)
{
  int n = atomic_load_explicit (&n_works, memory_order_relaxed);

  /* At most one other worker and one publisher can be in the way. */
  for (int i = 0; i < 3 && n != 0; i++)
    if (atomic_compare_exchange_strong_explicit (&n_works, &n, n - 1, memory_order_acquire,
                                                 memory_order_relaxed))
      return true;

  return false;
}

static State
find (IrisParker *me)
{
  if (!take ())
    return SEARCHING;
  if (iris_parking_lot_end_search (&parking_lot, me) && look ())
    iris_parking_lot_wake (&parking_lot, 0, false);

  return BUSY;
}

static void
work (int i)
{
  IrisParker *me = &parkers[i];

  iris_parking_lot_begin_search (&parking_lot, me);
  states[i] = find (me);
  if (states[i] == BUSY)
    return;
  iris_parking_lot_prepare (&parking_lot, me);
  if (look ())
    {
      iris_parking_lot_cancel (&parking_lot, me);
      states[i] = find (me);
    }
  else
    states[i] = ASLEEP;
}

static void *
work_first (void *data)
{
  (void) data;
  work (0);

  return NULL;
}

#if SCENARIO == 2
static void *
work_second (void *data)
{
  (void) data;
  work (1);

  return NULL;
}
#endif

static void *
publish (void *data)
{
  (void) data;
  atomic_fetch_add_explicit (&n_works, 1, memory_order_release);
  iris_parking_lot_publish (&parking_lot, 0, false);

  return NULL;
}

/* As iris_parking_lot_init(), without memory from the heap. */
static void
init (void)
{
  atomic_init (&parking_lot.word, 0);
  pthread_mutex_init (&parking_lot.lock, NULL);
  atomic_init (&place.word, 0);
  parking_lot.places = &place;
  parking_lot.n_places = 1;
  place.n_in = place.quota = SCENARIO;
  atomic_init (&parking_lot.n_in, SCENARIO);
}

int
main (void)
{
  bool some_sleep = false, some_search = false;

  init ();
  atomic_init (&n_works, SCENARIO - 1);
#if SCENARIO == 1
  GENMC_RUN (work_first, publish);
#else
  GENMC_RUN (work_first, work_second, publish);
#endif
  for (int i = 0; i < SCENARIO; i++)
    {
      bool called = atomic_load (&parkers[i].token) != 0;

      some_sleep = some_sleep || (states[i] == ASLEEP && !called);
      some_search = some_search || states[i] == SEARCHING || (states[i] == ASLEEP && called);
    }
  assert (!look () || !some_sleep || some_search);

  return 0;
}
