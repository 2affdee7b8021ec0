/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * Every scheduler under load from outside and from inside, to each kind of end: what was queued is
 * settled exactly once.
 *
 * Each item has a number. The first N_OUTER come from threads outside; each of them queues
 * FAN_OUT others when it runs, and those as many again; some notifies queue one more.
 */
#include "core-test-util.h"

#include <sched.h>
#include <stdlib.h>

#define FAN_OUT     4
#define N_PRODUCERS 3

typedef enum
{
  NO_HINT,
  SOFT,
  STRICT,
  MIXED,
  N_HINTS
} Hints;

typedef enum
{
  DRAIN,         /* after the last item from outside */
  DRAIN_RACING,  /* while they come */
  CANCEL_RACING, /* the same */
  DRAIN_THEN_CANCEL,
  N_ENDS
} End;

typedef struct
{
  _Atomic guint8 queued, run, notified;
} Count;

static struct
{
  const CoreTestKind *kind;
  IrisScheduler *scheduler;
  Hints hints;
  int n_outer, n_ids;
  Count *counts;
  _Atomic guint64 n_hinted;
  _Atomic int next_producer;
} load;

typedef struct
{
  IrisItem item;
  int id;
} Embedded;

/* Made by the scheduler, or embedded. */
static bool
is_embedded (int id)
{
  return id % 5 == 2;
}

static gint
place_of (int id)
{
  Hints hints = load.hints == MIXED ? (Hints) (id % 3) : load.hints;

  if (hints == NO_HINT)
    return IRIS_PLACE_ANY;

  /* Most at place 0, so that there is something to steal. */
  return id % 8 < 6 ? 0 : id % (gint) iris_scheduler_get_n_places (load.scheduler);
}

static IrisItemFlags
flags_of (int id)
{
  Hints hints = load.hints == MIXED ? (Hints) (id % 3) : load.hints;

  return hints == STRICT ? IRIS_ITEM_STRICT : IRIS_ITEM_NONE;
}

static void run_made (gpointer data);
static void notify_made (gpointer data);
static void run_embedded (gpointer data);
static void notify_embedded (gpointer data);

static void
queue (int id)
{
  gint place = place_of (id);

  atomic_fetch_add_explicit (&load.counts[id].queued, 1, memory_order_relaxed);
  if (place != IRIS_PLACE_ANY)
    atomic_fetch_add_explicit (&load.n_hinted, 1, memory_order_relaxed);
  if (is_embedded (id))
    {
      Embedded *embedded = g_new (Embedded, 1);

      embedded->id = id;
      iris_item_init (&embedded->item, run_embedded, embedded, notify_embedded);
      iris_item_set_place (&embedded->item, place, flags_of (id));
      iris_scheduler_queue_item (load.scheduler, &embedded->item);
    }
  else if (place == IRIS_PLACE_ANY)
    {
      iris_scheduler_queue (load.scheduler, run_made, GINT_TO_POINTER (id), notify_made);
    }
  else
    {
      iris_scheduler_queue_at (load.scheduler, place, flags_of (id), run_made, GINT_TO_POINTER (id),
                               notify_made);
    }
}

/* Numbers: the outer ones, their children, the grandchildren, and those that notifies queue. */
static int
n_inner (void)
{
  return load.n_outer * (1 + FAN_OUT);
}

static int
n_regular (void)
{
  return load.n_outer * (1 + FAN_OUT + FAN_OUT * FAN_OUT);
}

static void
work (int id)
{
  atomic_fetch_add_explicit (&load.counts[id].run, 1, memory_order_relaxed);
  if (load.kind->n_places > 0 && flags_of (id) == IRIS_ITEM_STRICT)
    ck_assert_int_eq (iris_worker_get_place (iris_worker_current ()), place_of (id));
  if (id < n_inner ())
    for (int i = 0; i < FAN_OUT; i++)
      queue (load.n_outer + id * FAN_OUT + i);
}

static void
run_made (gpointer data)
{
  work (GPOINTER_TO_INT (data));
}

static void
notify_made (gpointer data)
{
  int id = GPOINTER_TO_INT (data);

  atomic_fetch_add_explicit (&load.counts[id].notified, 1, memory_order_relaxed);
  if (id < load.n_outer && id % 4 == 0)
    queue (n_regular () + id);
}

static void
run_embedded (gpointer data)
{
  Embedded *self = data;
  int id = self->id;

  g_free (self);
  work (id);
}

static void
notify_embedded (gpointer data)
{
  Embedded *self = data;

  atomic_fetch_add_explicit (&load.counts[self->id].notified, 1, memory_order_relaxed);
  g_free (self);
}

static void *
produce (void *data)
{
  for (int id = atomic_fetch_add (&load.next_producer, 1); id < load.n_outer; id += N_PRODUCERS)
    queue (id);

  return NULL;
}

static void
wait_until_executed (guint64 n)
{
  for (;;)
    {
      g_autoptr (IrisStats) stats = iris_scheduler_get_stats (load.scheduler);

      if (stats->total.executed >= n)
        return;
      sched_yield ();
    }
}

static void *
drain (void *data)
{
  iris_scheduler_shutdown (load.scheduler, IRIS_SHUTDOWN_DRAIN);

  return NULL;
}

static void
end (End how, pthread_t *producers)
{
  pthread_t drainer;

  if (how != DRAIN)
    wait_until_executed ((guint64) load.n_outer / 2);
  else
    for (int i = 0; i < N_PRODUCERS; i++)
      pthread_join (producers[i], NULL);

  if (how == DRAIN_THEN_CANCEL)
    pthread_create (&drainer, NULL, drain, NULL);
  iris_scheduler_shutdown (load.scheduler, how == DRAIN || how == DRAIN_RACING
                                               ? IRIS_SHUTDOWN_DRAIN
                                               : IRIS_SHUTDOWN_CANCEL);
  if (how == DRAIN_THEN_CANCEL)
    pthread_join (drainer, NULL);

  if (how != DRAIN)
    for (int i = 0; i < N_PRODUCERS; i++)
      pthread_join (producers[i], NULL);
}

static void
check_counts (End how)
{
  g_autoptr (IrisStats) stats = iris_scheduler_get_stats (load.scheduler);
  guint64 n_queued = 0, n_run = 0;

  for (int id = 0; id < load.n_ids; id++)
    {
      Count *count = &load.counts[id];
      int settled = is_embedded (id) ? count->run + count->notified : count->notified;

      /* Without an assertion of Check's, which notes each that it passes. */
      if (count->queued > 1 || settled != count->queued || count->run > count->queued)
        ck_abort_msg ("item %d: queued %d, run %d, notified %d", id, count->queued, count->run,
                      count->notified);
      if (how == DRAIN && id < n_regular () && count->run != 1)
        ck_abort_msg ("item %d was not run", id);
      n_queued += count->queued;
      n_run += count->run;
    }
  core_test_check_stats (load.scheduler);
  ck_assert_uint_eq (stats->total.queued, n_queued);
  ck_assert_uint_eq (stats->total.executed, n_run);
  if (how == DRAIN)
    ck_assert_uint_eq (stats->total.cancelled, 0);
  if (load.kind->n_places > 0 && how == DRAIN)
    ck_assert_uint_eq (stats->total.hinted, load.n_hinted);
}

static void
play (const CoreTestKind *kind, Hints hints, End how, int n_outer)
{
  pthread_t producers[N_PRODUCERS];

  load.kind = kind;
  load.hints = hints;
  load.n_outer = n_outer;
  load.n_ids = n_regular () + n_outer;
  load.counts = g_new0 (Count, load.n_ids);
  load.n_hinted = 0;
  load.next_producer = 0;
  load.scheduler = core_test_make (kind);

  for (int i = 0; i < N_PRODUCERS; i++)
    ck_assert_int_eq (pthread_create (&producers[i], NULL, produce, NULL), 0);
  end (how, producers);
  check_counts (how);
  g_clear_object (&load.scheduler);
  g_clear_pointer (&load.counts, g_free);
}

/* A million items. */
START_TEST (draining_runs_everything_once)
{
  const CoreTestKind *kind = &core_test_kinds[_i];

  if (kind->n_places == 0)
    {
      play (kind, NO_HINT, DRAIN, 48000 / CORE_TEST_FACTOR);
      return;
    }
  for (int hints = NO_HINT; hints < N_HINTS; hints++)
    play (kind, (Hints) hints, DRAIN, 12000 / CORE_TEST_FACTOR);
}
END_TEST

START_TEST (an_end_in_the_middle_settles_everything_once)
{
  const CoreTestKind *kind = &core_test_kinds[_i];

  for (int how = DRAIN_RACING; how < N_ENDS; how++)
    for (int round = 0; round < 5; round++)
      play (kind, kind->n_places > 0 ? MIXED : NO_HINT, (End) how, 2000 / CORE_TEST_FACTOR);
}
END_TEST

/* Few items and many ends: most of the time is spent where things race. */
START_TEST (an_end_right_after_the_start_settles_everything_once)
{
  const CoreTestKind *kind = &core_test_kinds[_i];

  for (int how = DRAIN; how < N_ENDS; how++)
    for (int round = 0; round < 400 / CORE_TEST_FACTOR; round++)
      play (kind, kind->n_places > 0 ? MIXED : NO_HINT, (End) how, 1 + round % 13);
}
END_TEST

int
main (void)
{
  Suite *suite = suite_create ("schedulers");
  /* So that CK_RUN_CASE can choose. */
  TCase *drain_case = tcase_create ("drain");
  TCase *middle_case = tcase_create ("middle");
  TCase *start_case = tcase_create ("start");
  int n = core_test_n_kinds;

  tcase_add_loop_test (drain_case, draining_runs_everything_once, 0, n);
  tcase_add_loop_test (middle_case, an_end_in_the_middle_settles_everything_once, 0, n);
  tcase_add_loop_test (start_case, an_end_right_after_the_start_settles_everything_once, 0, n);
  suite_add_tcase (suite, drain_case);
  suite_add_tcase (suite, middle_case);
  suite_add_tcase (suite, start_case);

  return core_test_run (suite);
}
