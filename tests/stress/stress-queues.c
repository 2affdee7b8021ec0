/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * Every container under load from all sides: nothing is lost, nothing comes twice.
 */
#include "core-test-util.h"

#include <iris/base/iris-random-private.h>
#include <iris/base/memory/iris-slab-private.h>
#include <iris/queue/iris-ring-private.h>
#include <iris/queue/deque/iris-wsqueue-private.h>

#include <sched.h>
#include <stdlib.h>

#define N_THINGS (1000000 / CORE_TEST_FACTOR)

typedef struct
{
  void *link;
  _Atomic int n_seen;
} Thing;

static Thing *things;
static _Atomic int n_left;
static _Atomic int n_pushers;

static void
setup (void)
{
  things = g_new0 (Thing, N_THINGS);
  n_left = N_THINGS;
}

static void
teardown (void)
{
  for (int i = 0; i < N_THINGS; i++)
    if (things[i].n_seen != 1)
      ck_abort_msg ("thing %d came %d times", i, things[i].n_seen);
  g_clear_pointer (&things, g_free);
}

static void
see (Thing *thing)
{
  atomic_fetch_add_explicit (&thing->n_seen, 1, memory_order_relaxed);
  atomic_fetch_sub_explicit (&n_left, 1, memory_order_relaxed);
}

static bool
is_over (void)
{
  return atomic_load_explicit (&n_left, memory_order_relaxed) <= 0;
}

typedef struct
{
  void *(*func) (void *);
  void *data;
  int n;
  pthread_t threads[4];
} Crowd;

static void
crowd_start (Crowd *self)
{
  for (int i = 0; i < self->n; i++)
    ck_assert_int_eq (pthread_create (&self->threads[i], NULL, self->func, self->data), 0);
}

static void
crowd_join (Crowd *self)
{
  for (int i = 0; i < self->n; i++)
    ck_assert_int_eq (pthread_join (self->threads[i], NULL), 0);
}

static void
play (void *data,
      void *(*producer) (void *),
      int n_producers,
      void *(*consumer) (void *),
      int n_consumers)
{
  Crowd producers = { producer, data, n_producers, { 0 } };
  Crowd consumers = { consumer, data, n_consumers, { 0 } };

  n_pushers = 0;
  crowd_start (&consumers);
  crowd_start (&producers);
  crowd_join (&producers);
  crowd_join (&consumers);
}

/* The things of a producer: every fourth. */
#define FOR_MY_THINGS(i) for (int i = atomic_fetch_add (&n_pushers, 1); i < N_THINGS; i += 4)

static void *
llist_push_all (void *data)
{
  FOR_MY_THINGS (i)
  iris_llist_push (data, (IrisLlistNode *) &things[i].link);

  return NULL;
}

static void *
llist_take (void *data)
{
  while (!is_over ())
    {
      IrisLlistNode *chain = iris_llist_take_all (data);

      if (chain == NULL)
        sched_yield ();
      while (chain != NULL)
        {
          IrisLlistNode *next = chain->next;

          see ((Thing *) chain);
          chain = next;
        }
    }

  return NULL;
}

START_TEST (llist)
{
  IrisLlist list = { NULL };

  play (&list, llist_push_all, 4, llist_take, 2);
  ck_assert (iris_llist_is_empty (&list));
}
END_TEST

static void *
ring_push_all (void *data)
{
  FOR_MY_THINGS (i)
  iris_ring_core_push (data, &things[i]);

  return NULL;
}

static void *
ring_pop_all (void *data)
{
  while (!is_over ())
    {
      Thing *thing = iris_ring_core_pop (data);

      if (thing != NULL)
        see (thing);
      else
        sched_yield ();
    }

  return NULL;
}

static const struct
{
  guint64 capacity, start;
} rings[] = {
  { 2, 0 },
  { 64, UINT64_MAX - N_THINGS / 2 }, /* wraps in the middle */
  { 1024, 0 },
  { 1 << 20, 0 }, /* never overflows */
};

START_TEST (ring)
{
  IrisRingCore queue;

  ck_assert (
      iris_ring_core_init_at (&queue, rings[_i].capacity, offsetof (Thing, link), rings[_i].start));
  play (&queue, ring_push_all, 4, ring_pop_all, 4);
  ck_assert (iris_ring_core_is_empty (&queue));
  iris_ring_core_clear (&queue);
}
END_TEST

/* Pushes some, takes some, so that the queue is often empty or has one item left. */
static void *
wsqueue_own (void *data)
{
  IrisRandom random;
  int next = 0;

  iris_random_seed (&random, 1);
  while (!is_over ())
    {
      Thing *thing = NULL;

      for (guint n = iris_random_below (&random, 6); n > 0 && next < N_THINGS; n--)
        if (!iris_wsqueue_push (data, &things[next++]))
          ck_abort_msg ("a push was refused");
      for (guint n = iris_random_below (&random, 6); n > 0; n--)
        if ((thing = iris_wsqueue_take (data)) != NULL)
          see (thing);
      /* In the end the thieves may have them all. */
      if (thing == NULL && next == N_THINGS)
        sched_yield ();
    }

  return NULL;
}

static void *
wsqueue_steal (void *data)
{
  while (!is_over ())
    {
      void *thing;

      if (iris_wsqueue_steal (data, &thing) == IRIS_STEAL_TAKEN)
        see (thing);
      else
        sched_yield ();
    }

  return NULL;
}

/* Everything is there before anything is stolen or taken: the array grows under the thieves. */
static void *
wsqueue_fill_and_take (void *data)
{
  for (int i = 0; i < N_THINGS; i++)
    if (!iris_wsqueue_push (data, &things[i]))
      ck_abort_msg ("a push was refused");
  while (!is_over ())
    {
      Thing *thing = iris_wsqueue_take (data);

      if (thing != NULL)
        see (thing);
      else
        sched_yield ();
    }

  return NULL;
}

/* Owner and thief meet at one queue after another, each with two items, and empty it. A queue
 * that was untouched for long makes their stores wait; so this finds a take without its fence,
 * where loading a single queue does not. */
#define N_QUEUES (4000 / CORE_TEST_FACTOR)
#define N_ROUNDS 150
#define BATCH    100

typedef struct
{
  IrisWSQueue *queues;
  _Atomic int batches[2]; /* how far the owner is, and the thief */
  int delays[2];          /* so that they meet in other steps in every round */
} Row;

static void
fall_into_step (Row *row, int me, int i)
{
  if (i % BATCH == 0)
    {
      atomic_store (&row->batches[me], i + 1);
      for (int waits = 0; atomic_load (&row->batches[1 - me]) < i + 1; waits++)
        if (waits > 1000)
          sched_yield ();
    }
  for (int n = 0; n < row->delays[me]; n++)
    atomic_signal_fence (memory_order_seq_cst);
}

static void *
take_along_the_row (void *data)
{
  Row *row = data;

  for (int i = 0; i < N_QUEUES; i++)
    {
      Thing *thing;

      fall_into_step (row, 0, i);
      while ((thing = iris_wsqueue_take (&row->queues[i])) != NULL)
        see (thing);
    }

  return NULL;
}

static void *
steal_along_the_row (void *data)
{
  Row *row = data;

  for (int i = 0; i < N_QUEUES; i++)
    {
      void *thing;

      fall_into_step (row, 1, i);
      for (int n = 0; n < 2; n++)
        if (iris_wsqueue_steal (&row->queues[i], &thing) == IRIS_STEAL_TAKEN)
          see (thing);
    }

  return NULL;
}

START_TEST (wsqueue_last_items)
{
  Row row = { .queues = NULL };

  for (int round = 0; round < N_ROUNDS; round++)
    {
      row.queues = aligned_alloc (IRIS_CACHE_PAIR, N_QUEUES * sizeof *row.queues);
      ck_assert_ptr_nonnull (row.queues);
      atomic_store (&row.batches[0], 0);
      atomic_store (&row.batches[1], 0);
      row.delays[0] = round % 7 * 10;
      row.delays[1] = round % 11 * 10;
      for (int i = 0; i < N_QUEUES; i++)
        {
          ck_assert (iris_wsqueue_init_full (&row.queues[i], NULL, 2, 0));
          for (int n = 0; n < 2; n++)
            {
              things[2 * i + n].n_seen = 0;
              ck_assert (iris_wsqueue_push (&row.queues[i], &things[2 * i + n]));
            }
        }
      play (&row, take_along_the_row, 1, steal_along_the_row, 1);
      for (int i = 0; i < 2 * N_QUEUES; i++)
        ck_assert_msg (things[i].n_seen == 1, "round %d: thing %d came %d times", round, i,
                       things[i].n_seen);
      for (int i = 0; i < N_QUEUES; i++)
        iris_wsqueue_clear (&row.queues[i]);
      free (row.queues);
    }
  /* The others have no part in this. */
  for (int i = 2 * N_QUEUES; i < N_THINGS; i++)
    things[i].n_seen = 1;
}
END_TEST

START_TEST (wsqueue)
{
  IrisWSQueue queue;

  ck_assert (
      iris_wsqueue_init_full (&queue, NULL, 2, _i < 2 ? 0 : (int64_t) UINT32_MAX - N_THINGS / 2));
  play (&queue, _i == 0 ? wsqueue_fill_and_take : wsqueue_own, 1, wsqueue_steal, 3);
  ck_assert_int_eq (iris_wsqueue_get_length (&queue), 0);
  iris_wsqueue_clear (&queue);
}
END_TEST

/* Objects are made by some threads and freed by others; the id in an object must still be there
 * when it arrives, so no other object got the same memory meanwhile. */
typedef struct
{
  void *link;
  IrisSlab *home;
  gint64 id;
} Parcel;

static void *
slab_make (void *data)
{
  FOR_MY_THINGS (i)
  {
    IrisSlab *home;
    Parcel *parcel = iris_slab_alloc (IRIS_SLAB_ITEM, &home);

    *parcel = (Parcel){ NULL, home, i };
    /* A third does not leave the thread. */
    if (i % 3 == 0)
      {
        see (&things[parcel->id]);
        iris_slab_free (IRIS_SLAB_ITEM, home, parcel);
      }
    else
      {
        iris_ring_core_push (data, parcel);
      }
  }

  return NULL;
}

static void *
slab_free_abroad (void *data)
{
  while (!is_over ())
    {
      Parcel *parcel = iris_ring_core_pop (data);

      if (parcel != NULL)
        {
          see (&things[parcel->id]);
          iris_slab_free (IRIS_SLAB_ITEM, parcel->home, parcel);
        }
      else
        {
          sched_yield ();
        }
    }

  return NULL;
}

START_TEST (slab)
{
  IrisRingCore queue;

  ck_assert (iris_ring_core_init (&queue, 256, offsetof (Parcel, link)));
  play (&queue, slab_make, 4, slab_free_abroad, 3);
  ck_assert (iris_ring_core_is_empty (&queue));
  iris_ring_core_clear (&queue);
}
END_TEST

int
main (void)
{
  Suite *suite = suite_create ("queues");
  /* So that CK_RUN_CASE can choose. */
  TCase *llist_case = tcase_create ("llist");
  TCase *ring_case = tcase_create ("ring");
  TCase *wsqueue_case = tcase_create ("wsqueue");
  TCase *slab_case = tcase_create ("slab");

  tcase_add_checked_fixture (llist_case, setup, teardown);
  tcase_add_checked_fixture (ring_case, setup, teardown);
  tcase_add_checked_fixture (wsqueue_case, setup, teardown);
  tcase_add_checked_fixture (slab_case, setup, teardown);
  tcase_add_test (llist_case, llist);
  tcase_add_loop_test (ring_case, ring, 0, G_N_ELEMENTS (rings));
  tcase_add_loop_test (wsqueue_case, wsqueue, 0, 3);
  tcase_add_test (wsqueue_case, wsqueue_last_items);
  tcase_add_test (slab_case, slab);
  suite_add_tcase (suite, llist_case);
  suite_add_tcase (suite, ring_case);
  suite_add_tcase (suite, wsqueue_case);
  suite_add_tcase (suite, slab_case);

  return core_test_run (suite);
}
