/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * Footprints: what an item declares, how places count it, and what is kept apart by it.
 */
#include "core-test-util.h"

#include <iris/sched/compare/iris-compared-queues-private.h>
#include <iris/sched/pool/iris-item-private.h>

#include <string.h>

#define N_ITEMS 64
#define OUTSIDE (-1)
#define MB      ((guint64) 1 << 20)

static IrisWorkerPool *pool;
static IrisPlaceQueues *queues;
static IrisItem items[N_ITEMS];

static void
nothing (gpointer data)
{
}

/* Two memory nodes with a cache of 8 MB each, for two workers. */
static IrisPlaces *
make_places (void)
{
  g_autoptr (GError) error = NULL;
  g_autoptr (IrisTopology)
      topology = iris_topology_new_synthetic ("numa:2 l3:1(size=8388608) core:2 pu:1", &error);
  IrisPlaces *places;

  ck_assert_msg (topology != NULL, "%s", error != NULL ? error->message : "");
  places = iris_places_new (topology, "numa", &error);
  ck_assert_msg (places != NULL, "%s", error != NULL ? error->message : "");

  return places;
}

static void
open_pool (IrisLayout layout, IrisDeal deal)
{
  g_autoptr (IrisPlaces) places = make_places ();
  const IrisStealRules rules = { .cap = 64,
                                 .refuses = TRUE,
                                 .move_ns = 1,
                                 .bandwidth = 1,
                                 .max_delay_ns = G_GUINT64_CONSTANT (10000000000) };

  pool = iris_compared_queues_new_pool (places, deal, layout, IRIS_DEQUE_CHASE_LEV, &rules);
  queues = pool->owner;
  atomic_store (&pool->started, true);
  for (int i = 0; i < N_ITEMS; i++)
    iris_item_init (&items[i], nothing, NULL, NULL);
}

static void
check_counts (guint place, guint64 waiting, guint64 running)
{
  IrisFootprint *footprint = &queues->queues[place].footprint;

  ck_assert_uint_eq (footprint->waiting, waiting);
  ck_assert_uint_eq (footprint->running, running);
}

static void
close_pool (void)
{
  iris_worker_pool_shutdown (pool, IRIS_SHUTDOWN_CANCEL);
  for (guint i = 0; i < 2; i++)
    {
      check_counts (i, 0, 0);
      ck_assert_uint_eq (queues->queues[i].footprint.apart_waiting, 0);
      ck_assert_uint_eq (queues->queues[i].footprint.apart_running, 0);
    }
  iris_worker_pool_free (pool);
}

static void
queue_at (int worker, int id, gint place, IrisItemFlags flags, guint64 bytes)
{
  iris_item_set_place (&items[id], place, flags);
  iris_item_set_footprint (&items[id], bytes);
  iris_worker_mine = worker >= 0 ? &pool->workers[worker] : NULL;
  iris_worker_pool_queue (pool, &items[id]);
  iris_worker_mine = NULL;
}

static int
take (int worker)
{
  IrisItem *item = pool->ops->take (pool, &pool->workers[worker]);

  return item != NULL ? (int) (item - items) : -1;
}

static const struct
{
  guint64 bytes, kept;
} sizes[] = {
  { 0, 0 },
  { 1, 1 },
  { 2, 2 },
  { 3, 4 },
  { 4096, 4096 },
  { 4097, 8192 },
  { (G_GUINT64_CONSTANT (1) << 62) - 1, G_GUINT64_CONSTANT (1) << 62 },
  { G_MAXUINT64, G_GUINT64_CONSTANT (1) << 62 },
};

LOOP_TEST (a_footprint_is_the_next_power_of_two, 0, G_N_ELEMENTS (sizes))
{
  IrisItem item;

  iris_item_init (&item, nothing, NULL, NULL);
  ck_assert_uint_eq (iris_item_get_footprint (&item), 0);
  iris_item_set_place (&item, 3, IRIS_ITEM_STRICT);
  iris_item_set_footprint (&item, sizes[_i].bytes);
  ck_assert_uint_eq (iris_item_get_footprint (&item), sizes[_i].kept);
  ck_assert_uint_eq (item.flags & IRIS_ITEM_STRICT, IRIS_ITEM_STRICT);

  iris_item_set_place (&item, 2, IRIS_ITEM_KEEP_APART);
  ck_assert_uint_eq (iris_item_get_footprint (&item), sizes[_i].kept);
  ck_assert_uint_eq (item.flags & 0xff, IRIS_ITEM_KEEP_APART);
  ck_assert_int_eq (item.place, 2);
}

TEST (an_item_is_counted_until_it_is_done)
{
  open_pool (IRIS_LAYOUT_WORKERS, IRIS_DEAL_OWN);
  queue_at (OUTSIDE, 0, 0, IRIS_ITEM_NONE, 1000);
  queue_at (OUTSIDE, 1, 0, IRIS_ITEM_STRICT, 2000);
  queue_at (2, 2, IRIS_PLACE_ANY, IRIS_ITEM_NONE, 4000);
  check_counts (0, 1024 + 2048, 0);
  check_counts (1, 4096, 0);

  ck_assert_int_eq (take (0), 1);
  check_counts (0, 1024, 2048);
  ck_assert_int_eq (take (0), 0);
  check_counts (0, 0, 1024);
  ck_assert_int_eq (take (1), 2); /* stolen: it is counted where it runs */
  check_counts (1, 0, 0);
  check_counts (0, 0, 1024 + 4096);
  ck_assert_int_eq (take (0), -1);
  ck_assert_int_eq (take (1), -1);
  check_counts (0, 0, 0);
  ck_assert_uint_eq (items[2].flags, iris_footprint_pack (4000));
  close_pool ();
}

TEST (items_that_move_together_are_counted_where_they_lie)
{
  open_pool (IRIS_LAYOUT_WORKERS, IRIS_DEAL_OWN);
  for (int i = 0; i < 8; i++)
    queue_at (2, i, IRIS_PLACE_ANY, IRIS_ITEM_NONE, 1024);
  check_counts (1, 8 * 1024, 0);
  ck_assert_int_eq (take (0), 0);
  check_counts (0, 3 * 1024, 1024);
  check_counts (1, 4 * 1024, 0);
  while (take (0) >= 0)
    ;
  close_pool ();
}

LOOP_TEST (what_is_cancelled_is_counted_no_more, 0, 3)
{
  open_pool (_i == 0 ? IRIS_LAYOUT_WORKERS : IRIS_LAYOUT_AFFINITY,
             _i == 2 ? IRIS_DEAL_ROUND_ROBIN : IRIS_DEAL_OWN);
  for (int i = 0; i < N_ITEMS; i++)
    queue_at (i % 5 - 1, i, i % 3 - 1, i % 7 == 0 ? IRIS_ITEM_KEEP_APART : 0,
              (guint64) i << i % 20);
  close_pool ();
}

TEST (an_item_in_the_affinity_is_counted_once)
{
  open_pool (IRIS_LAYOUT_AFFINITY, IRIS_DEAL_OWN);
  queue_at (0, 0, 1, IRIS_ITEM_NONE, 1 * MB);
  check_counts (1, 1 * MB, 0);
  ck_assert_int_eq (take (2), 0);
  check_counts (1, 0, 1 * MB);
  ck_assert_int_eq (take (0), -1);
  ck_assert_int_eq (take (2), -1);
  close_pool ();
}

/* A worker's share of the cache is 4 MB. */
LOOP_TEST (large_items_go_to_different_places, 0, 2)
{
  int ids[2];

  open_pool (IRIS_LAYOUT_WORKERS, _i == 0 ? IRIS_DEAL_OWN : IRIS_DEAL_ROUND_ROBIN);
  ck_assert_uint_eq (queues->apart_above, 4 * MB);
  queue_at (0, 0, IRIS_PLACE_ANY, IRIS_ITEM_KEEP_APART, 8 * MB);
  queue_at (0, 1, IRIS_PLACE_ANY, IRIS_ITEM_KEEP_APART, 8 * MB);
  check_counts (0, 8 * MB, 0);
  check_counts (1, 8 * MB, 0);
  ck_assert_int_ge (ids[0] = take (0), 0);
  ck_assert_int_ge (ids[1] = take (2), 0);
  ck_assert_int_ne (ids[0], ids[1]);
  /* What runs counts as what waits. */
  queue_at (OUTSIDE, 2, 1, IRIS_ITEM_NONE, 1 * MB);
  queue_at (OUTSIDE, 3, IRIS_PLACE_ANY, IRIS_ITEM_KEEP_APART, 8 * MB);
  check_counts (0, 8 * MB, 8 * MB);
  ck_assert_uint_eq (
      queues->queues[0].footprint.kept_apart + queues->queues[1].footprint.kept_apart, 3);
  while (take (0) >= 0 || take (2) >= 0)
    ;
  take (2);
  close_pool ();
}

TEST (small_and_hinted_items_go_where_they_always_go)
{
  open_pool (IRIS_LAYOUT_WORKERS, IRIS_DEAL_OWN);
  for (int i = 0; i < 4; i++)
    queue_at (0, i, IRIS_PLACE_ANY, IRIS_ITEM_KEEP_APART, 4 * MB);
  check_counts (0, 16 * MB, 0);
  for (int i = 4; i < 8; i++)
    queue_at (0, i, 1, IRIS_ITEM_KEEP_APART, 8 * MB);
  check_counts (1, 32 * MB, 0);
  close_pool ();
}

/* The deadline is far: a byte takes a microsecond. */
TEST (a_place_that_has_a_large_item_leaves_another_one)
{
  IrisWorkerCounters *counters;

  open_pool (IRIS_LAYOUT_WORKERS, IRIS_DEAL_OWN);
  counters = &pool->workers[1].counters;
  queue_at (OUTSIDE, 0, 0, IRIS_ITEM_KEEP_APART, 8 * MB);
  queue_at (OUTSIDE, 1, 1, IRIS_ITEM_KEEP_APART, 8 * MB);
  ck_assert_int_eq (take (0), 0);
  ck_assert_int_eq (take (1), -1);
  ck_assert_uint_eq (counters->refused_apart, 1);
  ck_assert_int_eq (pool->ops->has_work (pool, &pool->workers[1]), IRIS_WORK_REFUSED);
  /* Other work of that place may be had, if it is not behind it. */
  queue_at (2, 2, IRIS_PLACE_ANY, IRIS_ITEM_NONE, 0);
  ck_assert_int_eq (pool->ops->has_work (pool, &pool->workers[1]), IRIS_WORK_SHARED);
  ck_assert_int_eq (take (1), 2);

  /* The place is idle: it may. */
  ck_assert_int_eq (take (0), 1);
  ck_assert_int_eq (take (0), -1);
  close_pool ();
}

TEST (a_large_item_is_not_left_for_ever)
{
  open_pool (IRIS_LAYOUT_WORKERS, IRIS_DEAL_OWN);
  queues->rules.max_delay_ns = 1000;
  queue_at (OUTSIDE, 0, 0, IRIS_ITEM_KEEP_APART, 8 * MB);
  queue_at (OUTSIDE, 1, 1, IRIS_ITEM_KEEP_APART, 8 * MB);
  ck_assert_int_eq (take (0), 0);
  while (take (1) != 1)
    ;
  ck_assert_uint_ge (pool->workers[1].counters.refused_apart, 1);
  ck_assert_int_eq (take (0), -1);
  ck_assert_int_eq (take (1), -1);
  close_pool ();
}

static void
count_one (gpointer data)
{
  atomic_fetch_add ((_Atomic guint *) data, 1);
}

LOOP_TEST (work_is_queued_with_its_footprint, 0, 2)
{
  g_autoptr (IrisPlaces) places = make_places ();
  g_autoptr (IrisScheduler) scheduler = _i == 0 ? iris_place_scheduler_new (places)
                                                : iris_lfscheduler_new_full (2, 2);
  _Atomic guint ran = 0;
  g_autoptr (IrisStats) stats = NULL;

  for (int i = 0; i < 100; i++)
    iris_scheduler_queue_sized (scheduler, IRIS_PLACE_ANY, IRIS_ITEM_KEEP_APART, 64 * MB, count_one,
                                &ran, NULL);
  for (int i = 0; i < 100; i++)
    iris_scheduler_queue_sized (scheduler, i % 2, IRIS_ITEM_STRICT, 1 * MB, count_one, &ran, NULL);
  iris_scheduler_shutdown (scheduler, IRIS_SHUTDOWN_DRAIN);
  ck_assert_uint_eq (ran, 200);
  stats = iris_scheduler_get_stats (scheduler);
  ck_assert_uint_eq (stats->total.kept_apart, _i == 0 ? 100 : 0);
  core_test_check_stats (scheduler);
}

static void
count_message (IrisMessage *message, gpointer data)
{
  count_one (data);
}

TEST (messages_are_kept_apart_by_their_footprints)
{
  g_autoptr (IrisPlaces) places = make_places ();
  g_autoptr (IrisScheduler) scheduler = iris_place_scheduler_new (places);
  g_autoptr (IrisPort) port = iris_port_new ();
  g_autoptr (IrisStats) stats = NULL;
  _Atomic guint ran = 0;
  g_autoptr (IrisMessage) shared = iris_message_ref_sink (iris_message_new (0));

  iris_arbiter_receive (scheduler, port, count_message, &ran, NULL);
  iris_message_set_footprint (shared, 64 * MB, TRUE);
  for (int i = 0; i < 50; i++)
    {
      g_autoptr (IrisMessage) copy = iris_message_ref_sink (iris_message_copy (shared));

      iris_port_post (port, copy);
      iris_port_post (port, shared); /* in use from before, or not */
      iris_port_post (port, iris_message_new (0));
    }
  iris_scheduler_shutdown (scheduler, IRIS_SHUTDOWN_DRAIN);
  ck_assert_uint_eq (ran, 150);
  stats = iris_scheduler_get_stats (scheduler);
  ck_assert_uint_eq (stats->total.kept_apart, 100);
  core_test_check_stats (scheduler);
}

static gboolean
count_interval (IrisInterval *interval, gpointer data, GError **error)
{
  count_one (data);

  return TRUE;
}

TEST (intervals_are_kept_apart_by_their_footprints)
{
  g_autoptr (IrisPlaces) places = make_places ();
  g_autoptr (IrisScheduler) scheduler = iris_place_scheduler_new (places);
  g_autoptr (IrisIntervalGraph) graph = iris_interval_graph_new (scheduler);
  g_autoptr (IrisStats) stats = NULL;
  _Atomic guint ran = 0;

  for (int i = 0; i < 50; i++)
    {
      g_autoptr (IrisInterval) large = iris_interval_new (graph, NULL, count_interval, &ran, NULL);
      g_autoptr (IrisInterval) small = iris_interval_new (graph, NULL, count_interval, &ran, NULL);

      iris_interval_set_place (large, IRIS_PLACE_ANY, IRIS_ITEM_KEEP_APART);
      iris_interval_set_footprint (large, 64 * MB);
      iris_interval_schedule (large);
      iris_interval_schedule (small);
    }
  iris_scheduler_shutdown (scheduler, IRIS_SHUTDOWN_DRAIN);
  ck_assert_uint_eq (ran, 100);
  stats = iris_scheduler_get_stats (scheduler);
  ck_assert_uint_eq (stats->total.kept_apart, 50);
  core_test_check_stats (scheduler);
}

TEST_MAIN ("footprint", NULL, NULL)
