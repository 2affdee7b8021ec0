/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * Affinity queues and mailboxes: an item that waits in a deque and in one of them runs exactly
 * once, and prefers its place.
 */
#include "core-test-util.h"

#include <stdlib.h>

#include <iris/sched/compare/iris-item-proxy-private.h>

#define N_ITEMS (CORE_TEST_FACTOR > 1 ? 20000 : 500000)

static void
nothing (gpointer data)
{
}

TEST (an_proxy_gives_its_item_out_at_the_first_meeting_alone)
{
  IrisItem item;
  IrisItem *proxy;

  iris_item_init (&item, nothing, NULL, NULL);
  proxy = iris_item_proxy_new (&item);
  ck_assert_ptr_eq (iris_item_proxy_open (proxy), &item);
  ck_assert_ptr_null (iris_item_proxy_open (proxy));
}

TEST (an_item_without_an_proxy_is_handed_on)
{
  IrisItem item;

  iris_item_init (&item, nothing, NULL, NULL);
  ck_assert_ptr_eq (iris_item_proxy_open (&item), &item);
  ck_assert_ptr_eq (iris_item_proxy_open (&item), &item);
}

static const IrisLayout layouts[] = { IRIS_LAYOUT_AFFINITY, IRIS_LAYOUT_MAILBOXES };

static IrisScheduler *
affinity_scheduler (IrisLayout layout, guint n_places, guint n_workers)
{
  g_autoptr (IrisPlaces) places = iris_places_new_unbound (n_places, n_workers);

  return g_object_new (IRIS_TYPE_PLACE_SCHEDULER, "places", places, "layout", layout, NULL);
}

static IrisScheduler *scheduler;
static _Atomic guint8 *runs;

static void
run_numbered (gpointer data)
{
  atomic_fetch_add_explicit (&runs[GPOINTER_TO_UINT (data)], 1, memory_order_relaxed);
}

/* From a worker: half of the items go to places in turn, half have no hint. */
static void
queue_range (gpointer data)
{
  guint n_places = iris_scheduler_get_n_places (scheduler);
  guint begin = GPOINTER_TO_UINT (data);

  for (guint i = begin; i < begin + 1000; i++)
    iris_scheduler_queue_at (scheduler, i % 2 == 0 ? (gint) (i / 2 % n_places) : IRIS_PLACE_ANY,
                             IRIS_ITEM_NONE, run_numbered, GUINT_TO_POINTER (i), NULL);
}

LOOP_TEST (every_item_runs_once_from_whichever_queue_it_is_taken, 0, 2)
{
  g_autoptr (IrisStats) stats = NULL;

  scheduler = affinity_scheduler (layouts[_i], 2, 2);
  runs = calloc (N_ITEMS, 1);
  for (guint i = 0; i < N_ITEMS; i += 1000)
    iris_scheduler_queue (scheduler, queue_range, GUINT_TO_POINTER (i), NULL);
  iris_scheduler_shutdown (scheduler, IRIS_SHUTDOWN_DRAIN);
  for (guint i = 0; i < N_ITEMS; i++)
    if (runs[i] != 1)
      ck_abort_msg ("item %u ran %u times", i, runs[i]);
  stats = iris_scheduler_get_stats (scheduler);
  ck_assert_uint_eq (stats->total.executed, N_ITEMS + N_ITEMS / 1000);
  g_clear_object (&scheduler);
  free (runs);
}

LOOP_TEST (cancelling_settles_every_item_once, 0, 2)
{
  g_autoptr (IrisStats) stats = NULL;

  scheduler = affinity_scheduler (layouts[_i], 2, 2);
  runs = calloc (N_ITEMS, 1);
  for (guint i = 0; i < N_ITEMS; i += 1000)
    iris_scheduler_queue (scheduler, queue_range, GUINT_TO_POINTER (i), NULL);
  iris_scheduler_shutdown (scheduler, IRIS_SHUTDOWN_CANCEL);
  stats = iris_scheduler_get_stats (scheduler);
  ck_assert_uint_eq (stats->total.executed + stats->total.cancelled, stats->total.queued);
  g_clear_object (&scheduler);
  free (runs);
}

static GMutex lock;
static GCond changed;
static guint n_at_home;

static void
note_home (gpointer data)
{
  if (iris_worker_get_place (iris_worker_current ()) == 1)
    {
      g_mutex_lock (&lock);
      n_at_home++;
      g_cond_broadcast (&changed);
      g_mutex_unlock (&lock);
    }
}

/* The worker that queues waits: only the place of affinity can run the item meanwhile. */
static void
queue_and_wait (gpointer data)
{
  iris_scheduler_queue_at (scheduler, 1, IRIS_ITEM_NONE, note_home, NULL, NULL);
  g_mutex_lock (&lock);
  while (n_at_home == 0)
    g_cond_wait (&changed, &lock);
  g_mutex_unlock (&lock);
}

LOOP_TEST (affinity_wakes_the_place_it_is_for, 0, 2)
{
  scheduler = affinity_scheduler (layouts[_i], 2, 1);
  n_at_home = 0;
  iris_scheduler_queue_at (scheduler, 0, IRIS_ITEM_STRICT, queue_and_wait, NULL, NULL);
  iris_scheduler_shutdown (scheduler, IRIS_SHUTDOWN_DRAIN);
  ck_assert_uint_eq (n_at_home, 1);
  g_clear_object (&scheduler);
}

/* More items than the affinity queue, the bounded deque and the inbox behind it hold, so that
 * proxies wait in the overflow of the affinity queue and in that of an inbox at once; from two
 * places in turn, so that what is next in the one list is not next in the other. */
#define N_FLOOD  10000
#define N_FLOODS 4

static guint turn; /* under the lock: how many floods are over */

static void
wait_for_turn (guint at_least)
{
  g_mutex_lock (&lock);
  while (turn < at_least)
    g_cond_wait (&changed, &lock);
  g_mutex_unlock (&lock);
}

/* Keeps the worker of the place that all the affinity queue is for. */
static void
wait_for_floods (gpointer data)
{
  wait_for_turn (N_FLOODS);
}

/* Every second flood is this worker's. It stays until the last is over, so that the affinity queue
 * waits. */
static void
flood (gpointer data)
{
  for (guint i = GPOINTER_TO_UINT (data); i < N_FLOODS; i += 2)
    {
      wait_for_turn (i);
      for (guint id = i * N_FLOOD; id < (i + 1) * N_FLOOD; id++)
        iris_scheduler_queue_at (scheduler, 2, IRIS_ITEM_NONE, run_numbered, GUINT_TO_POINTER (id),
                                 NULL);
      g_mutex_lock (&lock);
      turn++;
      g_cond_broadcast (&changed);
      g_mutex_unlock (&lock);
    }
  wait_for_turn (N_FLOODS);
}

TEST (affinity_may_overflow_on_both_its_ways)
{
  g_autoptr (IrisPlaces) places = iris_places_new_unbound (3, 1);

  scheduler = g_object_new (IRIS_TYPE_PLACE_SCHEDULER, "places", places, "layout",
                            IRIS_LAYOUT_AFFINITY, "deque", IRIS_DEQUE_ABP, NULL);
  runs = calloc (N_FLOODS * N_FLOOD, 1);
  turn = 0;
  iris_scheduler_queue_at (scheduler, 2, IRIS_ITEM_STRICT, wait_for_floods, NULL, NULL);
  for (guint i = 0; i < 2; i++)
    iris_scheduler_queue_at (scheduler, (gint) i, IRIS_ITEM_STRICT, flood, GUINT_TO_POINTER (i),
                             NULL);
  iris_scheduler_shutdown (scheduler, IRIS_SHUTDOWN_DRAIN);
  for (guint i = 0; i < N_FLOODS * N_FLOOD; i++)
    ck_assert_msg (runs[i] == 1, "item %u ran %u times", i, runs[i]);
  g_clear_object (&scheduler);
  free ((void *) runs);
}

#define N_MAILED 16 /* fewer than the picks after which a worker looks elsewhere first */

static guint n_held;
static guint64 n_stolen;

/* Reads the count before the last one is counted, while the only worker that could steal runs it:
 * later it meets the second halves in the deque. */
static void
note_mailed (gpointer data)
{
  g_autoptr (IrisStats) stats = iris_scheduler_get_stats (scheduler);

  n_stolen = stats->total.stolen_in;
  note_home (data);
}

/* Keeps a worker until that turn. */
static void
hold (gpointer data)
{
  g_mutex_lock (&lock);
  n_held++;
  g_cond_broadcast (&changed);
  g_mutex_unlock (&lock);
  wait_for_turn (GPOINTER_TO_UINT (data));
}

static void
set_turn (guint now)
{
  g_mutex_lock (&lock);
  turn = now;
  g_cond_broadcast (&changed);
  g_mutex_unlock (&lock);
}

/* When all other workers are held: what it queues lies in two mailboxes when one of them is free.
 */
static void
mail (gpointer data)
{
  g_mutex_lock (&lock);
  while (n_held < 3)
    g_cond_wait (&changed, &lock);
  g_mutex_unlock (&lock);
  for (guint i = 0; i < N_MAILED; i++)
    iris_scheduler_queue_at (scheduler, 1, IRIS_ITEM_NONE, note_mailed, NULL, NULL);
  set_turn (1);
  g_mutex_lock (&lock);
  while (n_at_home < N_MAILED)
    g_cond_wait (&changed, &lock);
  g_mutex_unlock (&lock);
  set_turn (2);
}

TEST (a_busy_workers_mailbox_is_emptied_by_its_neighbour)
{
  scheduler = affinity_scheduler (IRIS_LAYOUT_MAILBOXES, 2, 2);
  n_at_home = n_held = turn = 0;
  iris_scheduler_queue_at (scheduler, 1, IRIS_ITEM_STRICT, hold, GUINT_TO_POINTER (1), NULL);
  iris_scheduler_queue_at (scheduler, 1, IRIS_ITEM_STRICT, hold, GUINT_TO_POINTER (2), NULL);
  iris_scheduler_queue_at (scheduler, 0, IRIS_ITEM_STRICT, hold, GUINT_TO_POINTER (2), NULL);
  iris_scheduler_queue_at (scheduler, 0, IRIS_ITEM_STRICT, mail, NULL, NULL);
  iris_scheduler_shutdown (scheduler, IRIS_SHUTDOWN_DRAIN);
  ck_assert_uint_eq (n_at_home, N_MAILED);
  ck_assert_uint_eq (n_stolen, 0);
  g_clear_object (&scheduler);
}

TEST_MAIN ("affinity-queue", NULL, NULL)
