/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * Across the limits of indices, under load: structures that start shortly before their stamps or
 * positions wrap lose nothing while several threads push and pop across it. (The deques do so in
 * test-deque-load, the turns of the round-robin ring in test-container-cores.)
 */
#include "core-test-util.h"

#include <iris/queue/stamped/iris-lfqueue-private.h>
#include <iris/queue/iris-ring-private.h>
#include <iris/queue/stamped/iris-stack-private.h>
#include <iris/sched/steal/iris-place-queues-private.h>
#include <iris/sched/iris-scheduler-private.h>

#include <string.h>

#define N_THREADS 4
#define N_EACH    (100000 / CORE_TEST_FACTOR)
#define N_ITEMS   (N_THREADS * N_EACH)
#define BEFORE    (N_EACH / 2) /* how far before its limit a structure starts */

typedef struct
{
  void *link;
  _Atomic guint8 n_taken;
} Thing;

static Thing *things;

/* --- cores ------------------------------------------------------------------------------------ */

static union
{
  IrisStackCore stack;
  IrisLFQueueCore queue;
  IrisRingCore ring;
} core;

static bool
stack_begin (void)
{
  iris_stack_core_init (&core.stack, UINT32_MAX - BEFORE);

  return true;
}

static bool
stack_push (void *thing)
{
  return iris_stack_core_push (&core.stack, thing);
}

static void *
stack_pop (void)
{
  return iris_stack_core_pop (&core.stack);
}

static void
stack_end (void)
{
  /* It did cross the limit. */
  ck_assert_uint_lt (iris_stamped_stamp (iris_stamped_load (&core.stack.lifo.top)), 1u << 31);
  iris_stack_core_clear (&core.stack);
}

static bool
queue_begin (void)
{
  return iris_lfqueue_core_init (&core.queue, UINT32_MAX - BEFORE);
}

static bool
queue_push (void *thing)
{
  return iris_lfqueue_core_push (&core.queue, thing) == IRIS_LFQUEUE_PUSHED;
}

static void *
queue_pop (void)
{
  return iris_lfqueue_core_pop (&core.queue);
}

static void
queue_end (void)
{
  ck_assert_uint_lt (iris_stamped_stamp (iris_stamped_load (&core.queue.head)), 1u << 31);
  ck_assert_uint_eq (iris_lfqueue_core_get_length (&core.queue), 0);
  iris_lfqueue_core_clear (&core.queue);
}

/* So small that bursts overflow. */
static bool
ring_begin (void)
{
  return iris_ring_core_init_at (&core.ring, 4, offsetof (Thing, link), UINT64_MAX - BEFORE);
}

static bool
ring_push (void *thing)
{
  return iris_ring_core_push (&core.ring, thing);
}

static void *
ring_pop (void)
{
  return iris_ring_core_pop (&core.ring);
}

static void
ring_end (void)
{
  ck_assert_uint_lt (atomic_load (&core.ring.head), (uint64_t) 1 << 63);
  ck_assert (iris_ring_core_is_empty (&core.ring));
  iris_ring_core_clear (&core.ring);
}

static const struct Kind
{
  bool (*begin) (void);
  bool (*push) (void *thing);
  void *(*pop) (void);
  void (*end) (void);
} kinds[] = {
  { stack_begin, stack_push, stack_pop, stack_end },
  { queue_begin, queue_push, queue_pop, queue_end },
  { ring_begin, ring_push, ring_pop, ring_end },
};

static const struct Kind *kind;

static void
take (Thing *thing)
{
  if (thing != NULL && atomic_fetch_add_explicit (&thing->n_taken, 1, memory_order_relaxed) != 0)
    ck_abort_msg ("thing %d was taken twice", (int) (thing - things));
}

static void *
push_and_pop (void *data)
{
  Thing *mine = data;
  int burst = 1;

  for (int i = 0; i < N_EACH; burst = burst % 7 + 1)
    {
      int n = MIN (burst, N_EACH - i);

      for (int k = 0; k < n; k++, i++)
        if (!kind->push (&mine[i]))
          ck_abort_msg ("a push was refused");
      for (int k = 0; k < n; k++)
        take (kind->pop ());
    }

  return NULL;
}

LOOP_TEST (nothing_is_lost_across_the_wrap, 0, G_N_ELEMENTS (kinds))
{
  pthread_t threads[N_THREADS];
  Thing *thing;

  kind = &kinds[_i];
  things = g_new0 (Thing, N_ITEMS);
  ck_assert (kind->begin ());
  for (int i = 0; i < N_THREADS; i++)
    ck_assert_int_eq (pthread_create (&threads[i], NULL, push_and_pop, &things[(gsize) i * N_EACH]),
                      0);
  for (int i = 0; i < N_THREADS; i++)
    pthread_join (threads[i], NULL);
  while ((thing = kind->pop ()) != NULL)
    take (thing);
  kind->end ();
  for (int i = 0; i < N_ITEMS; i++)
    if (things[i].n_taken != 1)
      ck_abort_msg ("thing %d was lost", i);
  g_free (things);
}

/* --- counters by which schedulers deal -------------------------------------------------------- */

static void
run (gpointer data)
{
  take (data);
}

TEST (dealing_goes_on_across_the_wrap)
{
  g_autoptr (IrisPlaces) places = iris_places_new_unbound (3, 1);
  g_autoptr (IrisScheduler) scheduler = iris_place_scheduler_new (places);
  IrisPlaceQueues *queues = iris_scheduler_get_pool (scheduler)->owner;
  const int n = 3000;

  _Atomic uint64_t *dealt = &queues->dealt.cells[iris_thread_slot () * queues->dealt.stride];

  things = g_new0 (Thing, n);
  atomic_store (dealt, G_MAXUINT - 1000);
  for (int i = 0; i < n; i++)
    iris_scheduler_queue (scheduler, run, &things[i], NULL);
  iris_scheduler_shutdown (scheduler, IRIS_SHUTDOWN_DRAIN);
  ck_assert_uint_eq (atomic_load (dealt), (guint64) G_MAXUINT - 1000 + n);
  int n_wrong = 0;
  for (int i = 0; i < n; i++)
    n_wrong += things[i].n_taken != 1;
  ck_assert_int_eq (n_wrong, 0);
  core_test_check_stats (scheduler);
  g_free (things);
}

TEST_MAIN ("limits", NULL, NULL)
