/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * Conservation under load: what goes into a container comes out, once, and in order where order is
 * promised; a block has one owner, and so has an MPSC queue.
 */
#include "core-test-run.h"

#include <sched.h>
#include <stdlib.h>
#include <string.h>

#include <iris/base/iris-atomic-private.h>
#include <iris/iris.h>

#if defined(IRIS_THREAD_SANITIZER)
#define N_ITEMS 60000
#elif defined(IRIS_ADDRESS_SANITIZER)
#define N_ITEMS 200000
#else
#define N_ITEMS 2000000
#endif

#define N_THREADS    4
#define N_PER_THREAD (N_ITEMS / N_THREADS)

/* --- what was taken --------------------------------------------------------------------------- */

static _Atomic guint8 *taken;
static _Atomic guint n_taken;

static void
forget (void)
{
  g_clear_pointer ((gpointer *) &taken, g_free);
  taken = g_malloc0 (N_ITEMS);
  atomic_store (&n_taken, 0);
}

static gpointer
item_of (guint thread, guint i)
{
  return GUINT_TO_POINTER (1 + thread * N_PER_THREAD + i);
}

/* What one taker saw last of each pusher. */
typedef struct
{
  gint last[N_THREADS];
} Order;

static void
take (gpointer item, Order *order)
{
  guint number = GPOINTER_TO_UINT (item) - 1;
  guint thread = number / N_PER_THREAD;
  gint i = (gint) (number % N_PER_THREAD);

  if (number >= N_ITEMS)
    ck_abort_msg ("%p was never pushed", item);
  if (atomic_exchange_explicit (&taken[number], 1, memory_order_relaxed) != 0)
    ck_abort_msg ("item %u of thread %u was taken twice", (guint) i, thread);
  if (order != NULL && i <= order->last[thread])
    ck_abort_msg ("item %d of thread %u came after item %d", i, thread, order->last[thread]);
  if (order != NULL)
    order->last[thread] = i;
  atomic_fetch_add_explicit (&n_taken, 1, memory_order_relaxed);
}

static Order
no_order_yet (void)
{
  Order order;

  for (guint i = 0; i < N_THREADS; i++)
    order.last[i] = -1;

  return order;
}

/* --- containers that anyone may use ----------------------------------------------------------- */

typedef struct
{
  gpointer (*make) (void);
  void (*push) (gpointer container, gpointer item);
  gpointer (*try_pop) (gpointer container);
  void (*unref) (gpointer container);
  gboolean in_order;
  gboolean sure; /* with more pushed than taken it finds something, whatever others do */
} Kind;

static gpointer
make_small_ring (void)
{
  return iris_ring_new (16);
}

static gpointer
make_large_ring (void)
{
  return iris_ring_new (1024);
}

static void
push_to_queue (gpointer queue, gpointer item)
{
  if (!iris_queue_push (queue, item))
    ck_abort_msg ("an open queue refused");
}

#define KIND(make, push, pop, unref, in_order, sure)                                   \
  {                                                                                    \
    (gpointer (*) (void)) (make), (void (*) (gpointer, gpointer)) (push),              \
        (gpointer (*) (gpointer)) (pop), (void (*) (gpointer)) (unref), in_order, sure \
  }

/* A ring may find nothing behind a push that is under way. */
static const Kind kinds[] = {
  KIND (iris_stack_new, iris_stack_push, iris_stack_pop, iris_stack_unref, FALSE, TRUE),
  KIND (make_small_ring, iris_ring_push, iris_ring_pop, iris_ring_unref, FALSE, FALSE),
  KIND (make_large_ring, iris_ring_push, iris_ring_pop, iris_ring_unref, FALSE, FALSE),
  KIND (iris_queue_new, push_to_queue, iris_queue_try_pop, g_object_unref, TRUE, TRUE),
  KIND (iris_lfqueue_new, push_to_queue, iris_queue_try_pop, g_object_unref, TRUE, TRUE),
};

typedef struct
{
  const Kind *kind;
  gpointer container;
  guint thread;
} Job;

static void
try_take (const Job *job, Order *order)
{
  gpointer item = job->kind->try_pop (job->container);

  if (item != NULL)
    take (item, job->kind->in_order ? order : NULL);
  else if (job->kind->sure)
    ck_abort_msg ("nothing was found where more was pushed than taken");
}

/* Pushes one, takes one: the container stays nearly empty, and its nodes come again at once. */
static gpointer
push_and_take (gpointer data)
{
  const Job *job = data;
  Order order = no_order_yet ();

  for (guint i = 0; i < N_PER_THREAD; i++)
    {
      job->kind->push (job->container, item_of (job->thread, i));
      try_take (job, &order);
    }

  return NULL;
}

/* Pushes in bursts that grow, so that the container is full and empty in turn. */
static gpointer
push_bursts_and_take (gpointer data)
{
  const Job *job = data;
  Order order = no_order_yet ();
  guint burst = 1;

  for (guint i = 0; i < N_PER_THREAD; burst = burst % 100 + 1)
    {
      guint n = MIN (burst, N_PER_THREAD - i);

      for (guint k = 0; k < n; k++, i++)
        job->kind->push (job->container, item_of (job->thread, i));
      for (guint k = 0; k < n; k++)
        try_take (job, &order);
    }

  return NULL;
}

static void
run (const Kind *kind, GThreadFunc func)
{
  gpointer container = kind->make (), item;
  GThread *threads[N_THREADS];
  Job jobs[N_THREADS];

  forget ();
  for (guint i = 0; i < N_THREADS; i++)
    {
      jobs[i] = (Job){ kind, container, i };
      threads[i] = g_thread_new ("stress", func, &jobs[i]);
    }
  for (guint i = 0; i < N_THREADS; i++)
    g_thread_join (threads[i]);
  while ((item = kind->try_pop (container)) != NULL)
    take (item, NULL);
  ck_assert_uint_eq (atomic_load (&n_taken), N_ITEMS);
  kind->unref (container);
}

START_TEST (nothing_is_lost_or_taken_twice_one_by_one)
{
  run (&kinds[_i], push_and_take);
}
END_TEST

START_TEST (nothing_is_lost_or_taken_twice_in_bursts)
{
  run (&kinds[_i], push_bursts_and_take);
}
END_TEST

/* --- queues at which threads wait ------------------------------------------------------------- */

static IrisQueue *(*const queue_makers[]) (void) = { iris_queue_new, iris_lfqueue_new };

static gpointer
push_all (gpointer data)
{
  const Job *job = data;

  for (guint i = 0; i < N_PER_THREAD; i++)
    {
      push_to_queue (job->container, item_of (job->thread, i));
      /* So that the takers run dry and sleep now and then. */
      if (i % 512 == 0)
        sched_yield ();
    }

  return NULL;
}

static gpointer
take_until_closed (gpointer queue)
{
  Order order = no_order_yet ();
  gpointer item;

  while ((item = iris_queue_pop (queue)) != NULL)
    take (item, &order);

  return NULL;
}

/* Waits so short that running out of time, being called and new items meet. */
static gpointer
take_impatiently (gpointer queue)
{
  Order order = no_order_yet ();
  gint64 timeout = 0;
  gpointer item;

  while (!iris_queue_is_closed (queue) || iris_queue_get_length (queue) != 0)
    {
      timeout = (timeout + 7) % 100;
      item = iris_queue_timed_pop (queue, timeout);
      if (item != NULL)
        take (item, &order);
    }

  return NULL;
}

START_TEST (every_item_wakes_one_waiting_thread_and_the_end_wakes_all)
{
  g_autoptr (IrisQueue) queue = queue_makers[_i]();
  GThreadFunc takers[] = { take_until_closed, take_until_closed, take_impatiently };
  GThread *pushing[N_THREADS], *taking[G_N_ELEMENTS (takers)];
  Job jobs[N_THREADS];

  forget ();
  for (guint i = 0; i < G_N_ELEMENTS (takers); i++)
    taking[i] = g_thread_new ("taker", takers[i], queue);
  for (guint i = 0; i < N_THREADS; i++)
    {
      jobs[i] = (Job){ NULL, queue, i };
      pushing[i] = g_thread_new ("pusher", push_all, &jobs[i]);
    }
  for (guint i = 0; i < N_THREADS; i++)
    g_thread_join (pushing[i]);
  iris_queue_close (queue);
  for (guint i = 0; i < G_N_ELEMENTS (takers); i++)
    g_thread_join (taking[i]);
  ck_assert_uint_eq (atomic_load (&n_taken), N_ITEMS);
}
END_TEST

/* --- the MPSC queue ------------------------------------------------------------------------------
 */

static _Atomic gboolean owner_runs;
static Order mail_order; /* the owner's, whichever thread that is */

static void
be_owner (IrisMpsc *queue)
{
  gpointer item;

  do
    {
      if (atomic_exchange_explicit (&owner_runs, TRUE, memory_order_relaxed))
        ck_abort_msg ("the MPSC queue has two owners");
      while ((item = iris_mpsc_pop (queue)) != NULL)
        take (item, &mail_order);
      atomic_store_explicit (&owner_runs, FALSE, memory_order_relaxed);
    }
  while (!iris_mpsc_rest (queue));
}

/* A sender that is told that the owner rests is the owner until it rests again. */
static gpointer
send_all (gpointer data)
{
  const Job *job = data;

  for (guint i = 0; i < N_PER_THREAD; i++)
    if (iris_mpsc_push (job->container, item_of (job->thread, i)))
      be_owner (job->container);

  return NULL;
}

START_TEST (a_queue_has_one_owner_at_a_time_and_is_emptied)
{
  g_autoptr (IrisMpsc) queue = iris_mpsc_new ();
  GThread *threads[N_THREADS];
  Job jobs[N_THREADS];

  forget ();
  mail_order = no_order_yet ();
  for (guint i = 0; i < N_THREADS; i++)
    {
      jobs[i] = (Job){ NULL, queue, i };
      threads[i] = g_thread_new ("sender", send_all, &jobs[i]);
    }
  for (guint i = 0; i < N_THREADS; i++)
    g_thread_join (threads[i]);
  ck_assert_uint_eq (atomic_load (&n_taken), N_ITEMS);
  ck_assert (iris_mpsc_is_empty (queue));
}
END_TEST

/* --- the free list ---------------------------------------------------------------------------- */

#define N_HELD 5

static gpointer
hold_blocks (gpointer list)
{
  guint *held[N_HELD] = { NULL };

  for (guint i = 0; i < N_PER_THREAD; i++)
    {
      guint **slot = &held[i % N_HELD];

      if (*slot != NULL && ((*slot)[0] != i - N_HELD || (*slot)[1] != GPOINTER_TO_UINT (slot)))
        ck_abort_msg ("a block has two owners");
      if (*slot != NULL)
        iris_free_list_put (list, *slot);
      *slot = iris_free_list_get (list);
      (*slot)[0] = i;
      (*slot)[1] = GPOINTER_TO_UINT (slot);
    }
  for (guint i = 0; i < N_HELD; i++)
    iris_free_list_put (list, held[i]);

  return NULL;
}

START_TEST (a_block_has_one_owner)
{
  g_autoptr (IrisFreeList) list = iris_free_list_new (2 * sizeof (guint));
  GThread *threads[N_THREADS];

  for (guint i = 0; i < N_THREADS; i++)
    threads[i] = g_thread_new ("holder", hold_blocks, list);
  for (guint i = 0; i < N_THREADS; i++)
    g_thread_join (threads[i]);
}
END_TEST

/* --- the round-robin ring --------------------------------------------------------------------- */

#define N_STAYING 3

static guint members[8]; /* the first ones stay, the others come and go */
static _Atomic guint n_turns[8];
static _Atomic gboolean stop;

static gboolean
count_turn (gpointer member, gpointer data)
{
  atomic_fetch_add_explicit (&n_turns[(guint *) member - members], 1, memory_order_relaxed);

  return TRUE;
}

static gboolean
count_meeting (IrisRRobin *rrobin, gpointer member, gpointer data)
{
  ((guint *) data)[(guint *) member - members]++;

  return TRUE;
}

static gpointer
ask_all (gpointer rrobin)
{
  guint n_asked = 0;

  for (; !atomic_load_explicit (&stop, memory_order_relaxed); n_asked++)
    {
      guint met[8] = { 0 };

      if (!iris_rrobin_apply (rrobin, count_turn, NULL))
        ck_abort_msg ("no member took the turn");
      iris_rrobin_foreach (rrobin, count_meeting, met);
      for (guint i = 0; i < 8; i++)
        if (i < N_STAYING ? met[i] != 1 : met[i] > 1)
          ck_abort_msg ("member %u was met %u times", i, met[i]);
    }

  return GUINT_TO_POINTER (n_asked);
}

static gpointer
come_and_go (gpointer data)
{
  IrisRRobin *rrobin = ((gpointer *) data)[0];
  guint *member = ((gpointer *) data)[1];

  for (guint i = 0; i < N_ITEMS / 20; i++)
    if (!iris_rrobin_append (rrobin, member) || !iris_rrobin_remove (rrobin, member))
      ck_abort_msg ("a member could not come or go");

  return NULL;
}

START_TEST (members_that_stay_are_met_once_while_others_come_and_go)
{
  g_autoptr (IrisRRobin) rrobin = iris_rrobin_new (0);
  gpointer coming[2][2] = { { rrobin, &members[N_STAYING] }, { rrobin, &members[N_STAYING + 1] } };
  GThread *asking[2], *going[2];
  guint n_asked = 0;

  atomic_store (&stop, FALSE);
  for (guint i = 0; i < N_STAYING; i++)
    ck_assert (iris_rrobin_append (rrobin, &members[i]));
  for (guint i = 0; i < 2; i++)
    {
      asking[i] = g_thread_new ("asking", ask_all, rrobin);
      going[i] = g_thread_new ("going", come_and_go, coming[i]);
    }
  for (guint i = 0; i < 2; i++)
    g_thread_join (going[i]);
  atomic_store (&stop, TRUE);
  for (guint i = 0; i < 2; i++)
    n_asked += GPOINTER_TO_UINT (g_thread_join (asking[i]));
  for (guint i = 0; i < G_N_ELEMENTS (n_turns); i++)
    n_asked -= atomic_load (&n_turns[i]);
  ck_assert_uint_eq (n_asked, 0);
  ck_assert_uint_eq (iris_rrobin_get_length (rrobin), N_STAYING);
}
END_TEST

int
main (void)
{
  Suite *suite = suite_create ("containers under load");
  TCase *tcase = tcase_create ("conservation");
  int status;

  tcase_set_timeout (tcase, 300);
  tcase_add_loop_test (tcase, nothing_is_lost_or_taken_twice_one_by_one, 0, G_N_ELEMENTS (kinds));
  tcase_add_loop_test (tcase, nothing_is_lost_or_taken_twice_in_bursts, 0, G_N_ELEMENTS (kinds));
  tcase_add_loop_test (tcase, every_item_wakes_one_waiting_thread_and_the_end_wakes_all, 0,
                       G_N_ELEMENTS (queue_makers));
  tcase_add_test (tcase, a_queue_has_one_owner_at_a_time_and_is_emptied);
  tcase_add_test (tcase, a_block_has_one_owner);
  tcase_add_test (tcase, members_that_stay_are_met_once_while_others_come_and_go);
  suite_add_tcase (suite, tcase);

  status = core_test_run (suite);
  g_free ((gpointer) taken);

  return status;
}
