/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * Every kind of deque as schedulers use it: one thread makes items; all steal from all, lay down
 * stolen items, and take from their own deques. The locked deque goes first: what it does not pass
 * is a fault of the test.
 *
 * Items are plain memory. Their giver writes them before the push and their taker after the take
 * or steal, so ThreadSanitizer sees it if the deque does not order the two, or gives one twice.
 */
#include "core-test-util.h"

#include <pthread.h>
#include <sched.h>
#include <stdlib.h>

#include <iris/base/iris-random-private.h>
#include <iris/queue/iris-deque-private.h>

#define N_ITEMS   CORE_TEST_LOAD (1000000)
#define N_PARTIES 4
#define MAX_STEAL 32

typedef struct
{
  uint32_t number;
  uint32_t n_touched;       /* plain; left alone where an item may be given twice */
  _Atomic uint32_t n_given; /* relaxed, so it orders nothing */
} Item;

typedef struct
{
  IrisDequeCore queue;
  pthread_t thread;
  IrisRandom random;
  uint64_t n_first; /* items given to this one before all others */
  uint64_t n_wrong;
} Party;

static IrisArrayPool pool;
static Party parties[N_PARTIES];
static Item *items;
static bool may_repeat;
static uint32_t burst;
static _Atomic uint64_t n_done;

static void
give (Party *self, void *item)
{
  Item *given = item;

  if (given->number != (uint32_t) (given - items))
    self->n_wrong++;
  if (!may_repeat)
    given->n_touched++;
  if (atomic_fetch_add_explicit (&given->n_given, 1, memory_order_relaxed) == 0)
    {
      self->n_first++;
      atomic_fetch_add_explicit (&n_done, 1, memory_order_relaxed);
    }
}

static bool
is_over (void)
{
  return atomic_load_explicit (&n_done, memory_order_relaxed) == N_ITEMS;
}

/* A full deque's overflow is run at once. */
static void
push (Party *self, void *item)
{
  if (!iris_deque_core_push (&self->queue, item))
    give (self, item);
}

static bool
steal (Party *self)
{
  Party *victim = &parties[iris_random_below (&self->random, N_PARTIES)];
  void *stolen[MAX_STEAL];
  uint64_t n;

  if (victim == self)
    return false;
  iris_deque_core_steal (&victim->queue, stolen, 1 + iris_random_below (&self->random, MAX_STEAL),
                         &n);
  for (uint64_t i = 0; i < n; i++)
    push (self, stolen[i]);

  return n > 0;
}

/* Takes up to @n; false when there was nothing. */
static bool
take (Party *self, uint32_t n)
{
  bool some = false;
  void *item;

  while (n-- > 0)
    {
      item = iris_random_below (&self->random, 8) == 0 ? iris_deque_core_take_oldest (&self->queue)
                                                       : iris_deque_core_take (&self->queue);
      if (item == NULL)
        break;
      give (self, item);
      some = true;
    }

  return some;
}

static void *
party_main (void *data)
{
  Party *self = data;
  uint32_t n_idle = 0;

  while (!is_over ())
    if (!take (self, 1 + iris_random_below (&self->random, burst)) && !steal (self))
      {
        /* Thieves that give way at once are never there when the owner works. */
        if (++n_idle % 64 == 0)
          sched_yield ();
      }

  return NULL;
}

static void
make_items (Party *self)
{
  uint32_t n_made = 0;

  while (n_made < N_ITEMS)
    {
      uint32_t n = 1 + iris_random_below (&self->random, burst);

      for (uint32_t i = 0; i < n && n_made < N_ITEMS; i++)
        {
          items[n_made].number = n_made;
          push (self, &items[n_made++]);
        }
      if (iris_random_below (&self->random, 4) == 0)
        iris_deque_core_expose (&self->queue, n);
      else
        iris_deque_core_offer (&self->queue);
      /* Seldom enough to be fast, often enough that thieves find something while it works. */
      if (iris_random_below (&self->random, 16) == 0)
        sched_yield ();
      take (self, iris_random_below (&self->random, n + n / 8 + 1));
    }
}

static void
expect_conservation (IrisDequeKind kind)
{
  uint64_t n_first = 0;

  may_repeat = iris_deque_kind_may_repeat (kind);
  items = calloc (N_ITEMS, sizeof *items);
  ck_assert_ptr_nonnull (items);
  atomic_store (&n_done, 0);
  iris_array_pool_init (&pool);
  for (uint32_t i = 0; i < N_PARTIES; i++)
    {
      Party *party = &parties[i];
      uint64_t capacity = iris_deque_kind_is_bounded (kind) ? 64 : 2;

      ck_assert (
          iris_deque_core_init_full (&party->queue, kind, &pool, capacity, UINT64_MAX - 1000));
      iris_random_seed (&party->random, 17 + i);
      party->n_first = party->n_wrong = 0;
    }
  for (int i = 1; i < N_PARTIES; i++)
    ck_assert_int_eq (pthread_create (&parties[i].thread, NULL, party_main, &parties[i]), 0);
  make_items (&parties[0]);
  party_main (&parties[0]);
  for (int i = 1; i < N_PARTIES; i++)
    pthread_join (parties[i].thread, NULL);

  for (int i = 0; i < N_PARTIES; i++)
    {
      n_first += parties[i].n_first;
      ck_assert_uint_eq (parties[i].n_wrong, 0);
      if (!may_repeat)
        ck_assert_uint_eq (iris_deque_core_get_length (&parties[i].queue), 0);
      iris_deque_core_clear (&parties[i].queue);
    }
  ck_assert_uint_eq (n_first, N_ITEMS);
  for (uint32_t i = 0; i < N_ITEMS && !may_repeat; i++)
    if (items[i].n_touched != 1 || atomic_load (&items[i].n_given) != 1)
      ck_abort_msg ("item %u was given %u times", i, atomic_load (&items[i].n_given));
  iris_array_pool_clear (&pool);
  free (items);
}

static const IrisDequeKind kinds[] = {
  IRIS_DEQUE_LOCKED, IRIS_DEQUE_CHASE_LEV,  IRIS_DEQUE_SPLIT,
  IRIS_DEQUE_ABP,    IRIS_DEQUE_STEAL_HALF, IRIS_DEQUE_IDEMPOTENT,
};

#define N_KINDS (sizeof kinds / sizeof kinds[0])

LOOP_TEST (nearly_empty_deques_lose_nothing, 0, N_KINDS)
{
  burst = 3;
  expect_conservation (kinds[_i]);
}

LOOP_TEST (growing_and_shrinking_deques_lose_nothing, 0, N_KINDS)
{
  burst = 1000;
  expect_conservation (kinds[_i]);
}

TEST_MAIN ("deque-load", NULL, NULL)
