/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * Driver for a C11 model checker: the parking lot wakes a worker that sleeps at the start. 1: new
 * work meets a worker that searches, finds other work and searches no more; the publisher calls
 * iris_parking_lot_wake() without the fence of iris_parking_lot_publish(). 2: the same with two
 * places, of work that must stay at the first, while a worker searches at the second. 3: a sleeper
 * is woken for work. 4: a sleeper is woken because the parking lot is closed. 5: new work meets a
 * searcher that goes to sleep.
 */
#include "genmc.h"
#include "genmc-fence.h"

#include <unistd.h>

/* A sleeper looks at its token until that is set. */
#define syscall(number, word, operation, value, time, ...) ((void) (time))

#include "iris/base/sync/iris-parking-lot.c"

#define SLEEPER  0
#define SEARCHER 1
#define OTHER    2 /* searches at the second place */

static IrisParkingLot parking_lot;
static IrisParkingLotPlace places[2];
static IrisParker parkers[3];

/* As iris_parking_lot_init(), without memory from the heap. One worker sleeps. */
static void
init (unsigned n_places)
{
  atomic_init (&parking_lot.word, 0);
  pthread_mutex_init (&parking_lot.lock, NULL);
  parking_lot.places = places;
  parking_lot.n_places = n_places;
  atomic_init (&parking_lot.n_in, 2 + n_places);
  for (unsigned i = 0; i < n_places; i++)
    {
      atomic_init (&places[i].word, 0);
      places[i].n_in = places[i].quota = 3;
    }
  iris_parking_lot_prepare (&parking_lot, &parkers[SLEEPER]);
}

#if SCENARIO != 3 && SCENARIO != 4
#define STRICT (SCENARIO == 2)

static atomic_int n_works;

static bool
look (void)
{
  return atomic_load_explicit (&n_works, memory_order_relaxed) != 0;
}

static void *
publish (void *data)
{
  (void) data;
  atomic_store_explicit (&n_works, 1, memory_order_relaxed);
  iris_parking_lot_wake (&parking_lot, 0, STRICT);

  return NULL;
}

/* Has found other work; or has found none. */
static void *
search (void *data)
{
  IrisParker *me = &parkers[SEARCHER];

  (void) data;
#if SCENARIO == 5
  iris_parking_lot_prepare (&parking_lot, me);
  if (look ())
    {
      iris_parking_lot_cancel (&parking_lot, me);
      atomic_store_explicit (&n_works, 0, memory_order_relaxed);
    }
#else
  if (iris_parking_lot_end_search (&parking_lot, me) && look ())
    iris_parking_lot_wake (&parking_lot, 0, STRICT);
#endif

  return NULL;
}

int
main (void)
{
  init (STRICT ? 2 : 1);
  iris_parking_lot_begin_search (&parking_lot, &parkers[SEARCHER]);
#if SCENARIO == 2
  parkers[OTHER].place = 1;
  iris_parking_lot_begin_search (&parking_lot, &parkers[OTHER]);
#endif
  GENMC_RUN (search, publish);
  assert (!look () || atomic_load (&parkers[SLEEPER].token) != 0
          || atomic_load (&parkers[SEARCHER].token) != 0);

  return 0;
}
#else
static void *
fall_asleep (void *data)
{
  IrisParker *me = &parkers[SLEEPER];

  (void) data;
  /* It is a searcher then, by the hand of the one that woke it: plain memory. */
  assert (iris_parking_lot_sleep (&parking_lot, me) && me->searching);

  return NULL;
}

static void *
wake (void *data)
{
  (void) data;
#if SCENARIO == 3
  iris_parking_lot_wake (&parking_lot, 0, false);
#else
  iris_parking_lot_close (&parking_lot);
#endif

  return NULL;
}

int
main (void)
{
  init (1);
  GENMC_RUN (fall_asleep, wake);

  return 0;
}
#endif
