/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * Place queues without threads: where an item is put, where a worker looks and in which order, how
 * much a thief takes, and that nothing starves.
 *
 * The test plays the workers of a pool that was never started, so that it can count picks.
 */
#include "core-test-util.h"

#include <iris/sched/compare/iris-compared-queues-private.h>
#include <iris/sched/pool/iris-item-private.h>
#include <iris/sched/steal/iris-strict-deque-private.h>

#define N_ITEMS 400

static IrisWorkerPool *pool;
static IrisPlaceQueues *queues;
static IrisItem items[N_ITEMS];
static IrisDequeKind kind; /* with the split deque: the place queues that schedulers have */

static void
nothing (gpointer data)
{
}

static void
choose_chase_lev (void)
{
  kind = IRIS_DEQUE_CHASE_LEV;
}

static void
choose_split (void)
{
  kind = IRIS_DEQUE_SPLIT;
}

static void
open_pool (IrisPlaces *places, IrisDeal deal)
{
  const IrisStealRules rules = IRIS_STEAL_RULES_DEFAULT;

  pool = iris_compared_queues_new_pool (places, deal, IRIS_LAYOUT_WORKERS, kind, &rules);
  queues = pool->owner;
  /* A thief does not wait for an owner to show something: the test plays one at a time. */
  for (guint i = 0; i < pool->n_workers; i++)
    pool->workers[i].impatient = true;
  /* The test is the threads. */
  atomic_store (&pool->started, true);
  for (int i = 0; i < N_ITEMS; i++)
    iris_item_init (&items[i], nothing, NULL, NULL);
}

static void
open_unbound (guint n_places, guint n_workers, IrisDeal deal)
{
  g_autoptr (IrisPlaces) places = iris_places_new_unbound (n_places, n_workers);

  open_pool (places, deal);
}

static void
close_pool (void)
{
  iris_worker_pool_shutdown (pool, IRIS_SHUTDOWN_CANCEL);
  iris_worker_pool_free (pool);
}

static void
queue_at (int worker, int id, gint place, IrisItemFlags flags)
{
  iris_item_set_place (&items[id], place, flags);
  iris_worker_mine = worker >= 0 ? &pool->workers[worker] : NULL;
  iris_worker_pool_queue (pool, &items[id]);
  iris_worker_mine = NULL;
}

#define OUTSIDE (-1)

static void
queue (int worker, int id)
{
  queue_at (worker, id, IRIS_PLACE_ANY, IRIS_ITEM_NONE);
}

static int
take (int worker)
{
  IrisItem *item = pool->ops->take (pool, &pool->workers[worker]);

  return item != NULL ? (int) (item - items) : -1;
}

/* Uses up the pick at the start that looks at the old end first. */
static void
settle (int worker)
{
  ck_assert_int_eq (take (worker), -1);
  ck_assert_uint_ne (pool->workers[worker].picks_left, 0);
}

START_TEST (a_worker_looks_near_before_far)
{
  open_unbound (2, 2, IRIS_DEAL_OWN);
  settle (0);
  queue (2, 0);                               /* a deque elsewhere */
  queue_at (OUTSIDE, 1, 1, IRIS_ITEM_NONE);   /* the inbox elsewhere */
  queue (1, 2);                               /* the sibling's deque, older */
  queue (1, 3);                               /* and newer */
  queue_at (OUTSIDE, 4, 0, IRIS_ITEM_NONE);   /* the inbox */
  queue_at (OUTSIDE, 5, 0, IRIS_ITEM_STRICT); /* the strict inbox */
  queue_at (1, 9, 0, IRIS_ITEM_STRICT);       /* the sibling's strict deque */
  queue_at (0, 10, 0, IRIS_ITEM_STRICT);      /* its own strict deque */
  queue (0, 6);                               /* its own, older */
  queue (0, 7);                               /* and newer */
  queue_at (OUTSIDE, 8, 1, IRIS_ITEM_STRICT); /* not for this place */

  ck_assert_int_eq (take (0), 7);
  ck_assert_int_eq (take (0), 6);
  ck_assert_int_eq (take (0), 10);
  ck_assert_int_eq (take (0), 5);
  ck_assert_int_eq (take (0), 4);
  ck_assert_int_eq (take (0), 9);
  ck_assert_int_eq (take (0), 2);
  ck_assert_int_eq (take (0), 3);
  ck_assert_int_eq (take (0), 1);
  ck_assert_int_eq (take (0), 0);
  ck_assert_int_eq (take (0), -1);
  ck_assert_int_eq (take (1), -1);
  ck_assert_int_eq (take (2), 8);
  close_pool ();
}
END_TEST

START_TEST (a_thief_goes_to_the_nearest_place_first)
{
  g_autoptr (GError) error = NULL;
  g_autoptr (IrisTopology)
      topology = iris_topology_new_synthetic ("package:2 l2:2 core:1 pu:1", &error);
  g_autoptr (IrisPlaces) places = NULL;

  ck_assert_msg (topology != NULL, "%s", error != NULL ? error->message : "");
  places = iris_places_new (topology, "l2", &error);
  ck_assert_msg (places != NULL, "%s", error != NULL ? error->message : "");
  ck_assert_uint_eq (iris_places_get_n_places (places), 4);
  ck_assert_uint_lt (iris_places_get_distance (places, 0, 1),
                     iris_places_get_distance (places, 0, 2));
  open_pool (places, IRIS_DEAL_OWN);

  /* Many times, because places that are equally near come in random order. */
  for (int round = 0; round < 50; round++)
    {
      int far[2];

      for (int place = 1; place < 4; place++)
        queue_at (OUTSIDE, place, place, IRIS_ITEM_NONE);
      ck_assert_int_eq (take (0), 1);
      far[0] = take (0);
      far[1] = take (0);
      ck_assert_int_eq (far[0] + far[1], 2 + 3);
      ck_assert_int_eq (take (0), -1);
    }
  close_pool ();
}
END_TEST

START_TEST (equally_near_places_are_not_always_visited_in_the_same_order)
{
  int n_first[4] = { 0 };

  open_unbound (4, 1, IRIS_DEAL_OWN);
  for (int round = 0; round < 100; round++)
    {
      for (int place = 1; place < 4; place++)
        queue_at (OUTSIDE, place, place, IRIS_ITEM_NONE);
      n_first[take (0)]++;
      take (0);
      take (0);
    }
  for (int place = 1; place < 4; place++)
    ck_assert_int_gt (n_first[place], 0);
  close_pool ();
}
END_TEST

START_TEST (a_strict_item_is_seen_at_its_place_alone)
{
  open_unbound (2, 2, IRIS_DEAL_OWN);
  queue_at (OUTSIDE, 0, 0, IRIS_ITEM_STRICT);
  queue_at (0, 1, 0, IRIS_ITEM_STRICT);
  queue_at (2, 2, 0, IRIS_ITEM_STRICT);
  for (int worker = 2; worker < 4; worker++)
    {
      ck_assert_int_eq (pool->ops->has_work (pool, &pool->workers[worker]), IRIS_WORK_NONE);
      ck_assert_int_eq (take (worker), -1);
    }
  for (int worker = 0; worker < 2; worker++)
    ck_assert_int_eq (pool->ops->has_work (pool, &pool->workers[worker]), IRIS_WORK_STRICT);
  ck_assert_int_eq (take (1), 0);
  ck_assert_int_eq (take (1), 2);
  ck_assert_int_eq (take (0), 1);
  close_pool ();
}
END_TEST

/* Of what the worker of a place queues strictly for that place: itself the newest, its siblings
 * half from the oldest on, which stay with them, other places nothing. */
START_TEST (strict_items_of_a_worker_for_its_own_place_stay_with_the_place)
{
  open_unbound (2, 2, IRIS_DEAL_OWN);
  settle (0);
  settle (1);
  settle (2);
  for (int i = 0; i < 8; i++)
    queue_at (0, i, 0, IRIS_ITEM_STRICT);
  ck_assert_uint_eq (iris_ring_core_get_length (&queues->queues[0].strict), 0);
  ck_assert_int_eq (pool->ops->has_work (pool, &pool->workers[1]), IRIS_WORK_STRICT);
  ck_assert_int_eq (pool->ops->has_work (pool, &pool->workers[2]), IRIS_WORK_NONE);

  ck_assert_int_eq (take (0), 7);
  for (int left = 7; left > 0; left--)
    {
      int id = take (1);

      ck_assert_int_ge (id, 0);
      ck_assert_int_lt (id, 7);
      ck_assert_int_eq (take (2), -1);
      ck_assert_int_eq (take (3), -1);
    }
  ck_assert_int_eq (pool->ops->has_work (pool, &pool->workers[0]), IRIS_WORK_NONE);

  /* What no worker is left to run is found by the sweep. */
  queue_at (1, 0, 0, IRIS_ITEM_STRICT);
  ck_assert_ptr_eq (pool->ops->take (pool, NULL), &items[0]);
  close_pool ();
}
END_TEST

START_TEST (what_a_full_inbox_does_not_hold_is_dealt_to_the_next)
{
  const int n = 2 * IRIS_INBOX_CAPACITY + 10;
  g_autofree IrisItem *many = g_new (IrisItem, (gsize) n);

  open_unbound (3, 1, IRIS_DEAL_OWN);
  for (int i = 0; i < n; i++)
    iris_item_init (&many[i], nothing, NULL, NULL);
  /* Hints fill the inbox of one place, and no other one. */
  for (int i = 0; i < IRIS_INBOX_CAPACITY; i++)
    {
      iris_item_set_place (&many[i], 1, IRIS_ITEM_NONE);
      iris_worker_pool_queue (pool, &many[i]);
    }
  for (int i = 0; i < 9; i++)
    iris_worker_pool_queue (pool, &many[IRIS_INBOX_CAPACITY + i]);
  ck_assert_uint_eq (iris_ring_core_get_length (&queues->queues[0].inbox), 3);
  ck_assert_uint_eq (iris_ring_core_get_length (&queues->queues[1].inbox), IRIS_INBOX_CAPACITY);
  ck_assert_uint_eq (iris_ring_core_get_length (&queues->queues[2].inbox), 6);
  /* Two that are full in a row: the one whose turn it is keeps it. */
  for (int i = 9; i < IRIS_INBOX_CAPACITY + 10; i++)
    iris_worker_pool_queue (pool, &many[IRIS_INBOX_CAPACITY + i]);
  ck_assert_uint_eq (iris_ring_core_get_length (&queues->queues[0].inbox)
                         + iris_ring_core_get_length (&queues->queues[2].inbox),
                     IRIS_INBOX_CAPACITY + 10);
  iris_worker_pool_shutdown (pool, IRIS_SHUTDOWN_CANCEL);
  iris_worker_pool_free (pool);
}
END_TEST

START_TEST (every_source_counts_as_work_for_each_worker_that_may_take_it)
{
  open_unbound (2, 1, IRIS_DEAL_OWN);
  ck_assert_int_eq (pool->ops->has_work (pool, &pool->workers[0]), IRIS_WORK_NONE);
  for (int i = 0; i < 4; i++)
    {
      gint place = i % 2;

      if (i < 2)
        queue_at (OUTSIDE, i, place, IRIS_ITEM_NONE);
      else
        queue (place, i);
      for (int worker = 0; worker < 2; worker++)
        ck_assert_int_eq (pool->ops->has_work (pool, &pool->workers[worker]), IRIS_WORK_SHARED);
      ck_assert_int_eq (take (1 - place), i);
    }
  queue_at (0, 0, 1, IRIS_ITEM_STRICT);
  queue (0, 1);
  ck_assert_int_eq (pool->ops->has_work (pool, &pool->workers[1]),
                    IRIS_WORK_SHARED | IRIS_WORK_STRICT);
  close_pool ();
}
END_TEST

START_TEST (a_thief_takes_half_of_what_it_sees_and_at_most_the_cap)
{
  for (int length = 1; length <= 200; length++)
    {
      int expected = MIN ((length + 1) / 2, IRIS_STEAL_MAX);
      g_autoptr (IrisStats) stats = NULL;

      open_unbound (2, 1, IRIS_DEAL_OWN);
      for (int i = 0; i < length; i++)
        queue (0, i);
      /* It runs the oldest, and lays the others down. */
      ck_assert_int_eq (take (1), 0);
      ck_assert_int_eq (pool->ops->count_own (&pool->workers[1]), expected - 1);
      ck_assert_int_eq (pool->ops->count_own (&pool->workers[0]), length - expected);

      stats = iris_worker_pool_get_stats (pool);
      ck_assert_uint_eq (stats->total.steals, 1);
      ck_assert_uint_eq (stats->total.stolen_in, expected);
      ck_assert_uint_eq (stats->places[1].stolen_in, expected);
      ck_assert_uint_eq (stats->places[0].stolen_out, expected);
      ck_assert_uint_eq (stats->total.stolen_inside, 0);
      close_pool ();
    }
}
END_TEST

START_TEST (taking_from_a_sibling_is_no_theft_between_places)
{
  g_autoptr (IrisStats) stats = NULL;

  open_unbound (1, 2, IRIS_DEAL_OWN);
  queue (0, 0);
  ck_assert_int_eq (take (1), 0);
  stats = iris_worker_pool_get_stats (pool);
  ck_assert_uint_eq (stats->total.stolen_inside, 1);
  ck_assert_uint_eq (iris_stats_get_steals (stats, 0, 0)->items, 1);
  ck_assert_uint_eq (stats->total.stolen_in, 0);
  ck_assert_uint_eq (stats->total.stolen_out, 0);
  close_pool ();
}
END_TEST

START_TEST (items_without_a_hint_stay_with_their_worker_or_are_dealt_in_turn)
{
  open_unbound (4, 1, (IrisDeal) _i);
  for (int i = 0; i < 8; i++)
    queue (2, i);
  for (guint place = 0; place < 4; place++)
    {
      guint64 inbox = iris_ring_core_get_length (&queues->queues[place].inbox);
      gint64 deque = pool->ops->count_own (&pool->workers[place]);

      ck_assert_uint_eq (inbox, _i == IRIS_DEAL_ROUND_ROBIN ? 2 : 0);
      ck_assert_int_eq (deque, _i == IRIS_DEAL_OWN && place == 2 ? 8 : 0);
    }
  /* From outside they are dealt always. */
  for (int i = 8; i < 16; i++)
    queue (OUTSIDE, i);
  for (guint place = 0; place < 4; place++)
    ck_assert_uint_eq (iris_ring_core_get_length (&queues->queues[place].inbox),
                       _i == IRIS_DEAL_ROUND_ROBIN ? 4 : 2);
  close_pool ();
}
END_TEST

START_TEST (a_hint_leads_to_its_place_and_is_counted_there)
{
  g_autoptr (IrisStats) stats = NULL;

  open_unbound (2, 1, (IrisDeal) _i);
  queue_at (0, 0, 0, IRIS_ITEM_NONE); /* at home: its own deque */
  queue_at (0, 1, 1, IRIS_ITEM_NONE); /* elsewhere: the inbox */
  queue_at (OUTSIDE, 2, 1, IRIS_ITEM_NONE);
  queue_at (0, 3, 0, IRIS_ITEM_STRICT); /* strict at home: its own strict deque */
  queue_at (0, 4, 1, IRIS_ITEM_STRICT);
  queue (0, 5);                                      /* no hint */
  queue_at (0, 6, IRIS_PLACE_ANY, IRIS_ITEM_STRICT); /* strict at no place: no hint */

  ck_assert_uint_eq (iris_strict_deque_get_length (&pool->workers[0]), 1);
  ck_assert_uint_eq (iris_ring_core_get_length (&queues->queues[0].strict), 0);
  ck_assert_uint_eq (iris_ring_core_get_length (&queues->queues[1].strict), 1);
  if (_i == IRIS_DEAL_OWN)
    {
      ck_assert_int_eq (pool->ops->count_own (&pool->workers[0]), 4);
      ck_assert_uint_eq (iris_ring_core_get_length (&queues->queues[1].inbox), 2);
    }
  else
    {
      ck_assert_int_eq (pool->ops->count_own (&pool->workers[0]), 2);
      ck_assert_uint_eq (iris_ring_core_get_length (&queues->queues[1].inbox), 3);
    }

  stats = iris_worker_pool_get_stats (pool);
  ck_assert_uint_eq (stats->places[0].hinted, 2);
  ck_assert_uint_eq (stats->places[1].hinted, 3);
  ck_assert_uint_eq (stats->workers[0].hinted, 2);
  ck_assert_uint_eq (stats->workers[1].hinted, 0);
  ck_assert_uint_eq (stats->total.hinted, 5);
  ck_assert_uint_eq (stats->total.queued, 7);
  ck_assert_uint_eq (stats->places[0].queued, 6);
  close_pool ();
}
END_TEST

START_TEST (a_hint_to_a_place_that_does_not_exist_is_named_and_the_work_is_done)
{
  open_unbound (2, 1, IRIS_DEAL_OWN);
  g_test_expect_message ("iris", G_LOG_LEVEL_CRITICAL, "*no place 2*");
  queue_at (0, 0, 2, IRIS_ITEM_STRICT);
  g_test_assert_expected_messages ();
  ck_assert_int_eq (take (1), 0);
  close_pool ();
}
END_TEST

/* What keeps the only worker busy for ever, and what waits meanwhile. */
typedef enum
{
  OWN,
  INBOX,
  STRICT,
  STRICT_OWN,
  N_SOURCES
} Source;

static void
queue_into (Source source, int id)
{
  queue_at (source == INBOX || source == STRICT ? OUTSIDE : 0, id,
            source == OWN ? IRIS_PLACE_ANY : 0,
            source == STRICT || source == STRICT_OWN ? IRIS_ITEM_STRICT : IRIS_ITEM_NONE);
}

/* Bit 0 to 3: a source is never empty, because each of its items queues itself again when it is
 * run. 2 bits more: how many others lie in the worker's deque. */
START_TEST (nothing_starves_whatever_keeps_the_worker_busy)
{
  int busy = _i & 15;
  int n_own = (_i >> 4) * 90;
  int first_own = 10;

  for (int waiting = OWN; waiting < N_SOURCES; waiting++)
    {
      int n_picks = 0, id = -1;

      open_unbound (1, 1, IRIS_DEAL_OWN);
      settle (0);
      /* The oldest end of the deque is that of item 9, or of those queued before it. */
      queue_into ((Source) waiting, 9);
      for (int i = 0; i < n_own; i++)
        queue (0, first_own + i);
      for (int source = OWN; source < N_SOURCES; source++)
        if (busy & 1 << source)
          queue_into ((Source) source, source);

      while (id != 9)
        {
          id = take (0);
          ck_assert_int_ge (id, 0);
          if (id < N_SOURCES)
            queue_into ((Source) id, id);
          else if (id != 9)
            queue (0, id);
          n_picks++;
          ck_assert_int_le (n_picks,
                            IRIS_FAIRNESS_SOURCES * (IRIS_FAIRNESS_INTERVAL + 1 + n_own + 2));
        }
      close_pool ();
    }
}
END_TEST

START_TEST (the_newest_comes_first_between_the_fair_picks)
{
  int n_oldest = 0;

  open_unbound (1, 1, IRIS_DEAL_OWN);
  settle (0);
  for (int i = 0; i < 100; i++)
    queue (0, i);
  for (int pick = 0; pick < 10 * (IRIS_FAIRNESS_INTERVAL + 101); pick++)
    {
      int id = take (0);

      if (id != 99)
        n_oldest++;
      /* Everything that is old is put back behind the newest. */
      if (id != 99)
        {
          ck_assert_int_eq (take (0), 99);
          queue (0, id);
          pick++;
        }
      queue (0, 99);
    }
  ck_assert_int_ge (n_oldest, 5);
  ck_assert_int_le (n_oldest, 15);
  close_pool ();
}
END_TEST

/* One deque shows thieves all that it has, the other one nothing until it is forced. */
static void
add_case (Suite *suite, const char *name, SFun choose)
{
  TCase *all = tcase_create (name);

  tcase_add_checked_fixture (all, choose, NULL);
  tcase_add_test (all, a_worker_looks_near_before_far);
  tcase_add_test (all, a_thief_goes_to_the_nearest_place_first);
  tcase_add_test (all, equally_near_places_are_not_always_visited_in_the_same_order);
  tcase_add_test (all, a_strict_item_is_seen_at_its_place_alone);
  tcase_add_test (all, strict_items_of_a_worker_for_its_own_place_stay_with_the_place);
  tcase_add_test (all, what_a_full_inbox_does_not_hold_is_dealt_to_the_next);
  tcase_add_test (all, every_source_counts_as_work_for_each_worker_that_may_take_it);
  if (choose == choose_chase_lev)
    tcase_add_test (all, a_thief_takes_half_of_what_it_sees_and_at_most_the_cap);
  tcase_add_test (all, taking_from_a_sibling_is_no_theft_between_places);
  tcase_add_loop_test (all, items_without_a_hint_stay_with_their_worker_or_are_dealt_in_turn, 0, 2);
  tcase_add_loop_test (all, a_hint_leads_to_its_place_and_is_counted_there, 0, 2);
  tcase_add_test (all, a_hint_to_a_place_that_does_not_exist_is_named_and_the_work_is_done);
  tcase_add_loop_test (all, nothing_starves_whatever_keeps_the_worker_busy, 0, 64);
  tcase_add_test (all, the_newest_comes_first_between_the_fair_picks);
  suite_add_tcase (suite, all);
}

int
main (void)
{
  Suite *suite = suite_create ("place-queues");

  add_case (suite, "chase-lev", choose_chase_lev);
  add_case (suite, "split", choose_split);

  return core_test_run (suite);
}
