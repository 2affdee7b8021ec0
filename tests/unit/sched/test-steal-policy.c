/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * The steal policy: as an object, as words, and what a thief does by it in a pool without threads.
 */
#include "core-test-util.h"

#include <iris/sched/compare/iris-compared-queues-private.h>
#include <iris/sched/pool/iris-item-private.h>

#define N_ITEMS 400
#define OUTSIDE (-1)

static IrisWorkerPool *pool;
static IrisPlaceQueues *queues;
static IrisItem items[N_ITEMS];

static void
nothing (gpointer data)
{
}

static void
open_pool (IrisPlaces *places, IrisStealPolicy *policy, IrisDequeKind kind)
{
  IrisStealRules rules;

  iris_steal_policy_get_rules (policy, &rules);
  pool = iris_compared_queues_new_pool (places, IRIS_DEAL_OWN, IRIS_LAYOUT_WORKERS, kind, &rules);
  queues = pool->owner;
  /* The test is the threads. */
  atomic_store (&pool->started, true);
  for (int i = 0; i < N_ITEMS; i++)
    iris_item_init (&items[i], nothing, NULL, NULL);
}

static void
open_unbound (const char *words, guint n_places, guint n_workers, IrisDequeKind kind)
{
  g_autoptr (IrisPlaces) places = iris_places_new_unbound (n_places, n_workers);
  g_autoptr (GError) error = NULL;
  g_autoptr (IrisStealPolicy) policy = iris_steal_policy_parse (words, &error);

  ck_assert_msg (policy != NULL, "%s", error != NULL ? error->message : "");
  open_pool (places, policy, kind);
}

/* Two packages of two caches each, as four places: 0 is nearer to 1 than to 2 and 3. */
static void
open_synthetic (const char *words, const char *description, const char *level)
{
  g_autoptr (GError) error = NULL;
  g_autoptr (IrisTopology) topology = iris_topology_new_synthetic (description, &error);
  g_autoptr (IrisStealPolicy) policy = NULL;
  g_autoptr (IrisPlaces) places = NULL;

  ck_assert_msg (topology != NULL, "%s", error != NULL ? error->message : "");
  places = iris_places_new (topology, level, &error);
  ck_assert_msg (places != NULL, "%s", error != NULL ? error->message : "");
  policy = iris_steal_policy_parse (words, &error);
  ck_assert_msg (policy != NULL, "%s", error != NULL ? error->message : "");
  open_pool (places, policy, IRIS_DEQUE_CHASE_LEV);
}

static void
close_pool (void)
{
  iris_worker_pool_shutdown (pool, IRIS_SHUTDOWN_CANCEL);
  for (guint i = 0; i < queues->n_places; i++)
    {
      IrisFootprint *footprint = &queues->queues[i].footprint;

      ck_assert_uint_eq (footprint->waiting, 0);
      ck_assert_uint_eq (footprint->apart_waiting, 0);
    }
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

static int
take (int worker)
{
  IrisItem *item = pool->ops->take (pool, &pool->workers[worker]);

  return item != NULL ? (int) (item - items) : -1;
}

static guint64
verdicts (int worker, IrisStealVerdict verdict)
{
  g_autoptr (IrisStats) stats = iris_worker_pool_get_stats (pool);

  return iris_counters_get_verdict (&stats->workers[worker], verdict);
}

static void
set_run_time (int worker, guint64 ns)
{
  atomic_store (&pool->workers[worker].counters.mean_run_ns, ns);
}

static void
begin_items (int worker, guint64 n)
{
  iris_counter_add (&pool->workers[worker].counters.executed, n);
}

TEST (a_new_policy_is_as_it_was_asked_for)
{
  g_autoptr (IrisStealPolicy)
      policy = iris_steal_policy_new (IRIS_STEAL_ORDER_RANDOM, IRIS_STEAL_AMOUNT_HALF, 0);
  IrisStealOrder order;
  IrisStealAmount amount;
  IrisStealRefusal refuse;
  guint cap, move_cost, bandwidth, max_delay;

  g_object_get (policy, "order", &order, "amount", &amount, "cap", &cap, "refuse", &refuse,
                "move-cost", &move_cost, "bandwidth", &bandwidth, "max-delay", &max_delay, NULL);
  ck_assert_int_eq (order, IRIS_STEAL_ORDER_RANDOM);
  ck_assert_int_eq (amount, IRIS_STEAL_AMOUNT_HALF);
  ck_assert_int_eq (refuse, IRIS_STEAL_REFUSAL_COSTLY);
  ck_assert_uint_eq (cap, IRIS_STEAL_DEFAULT_CAP);
  ck_assert_uint_eq (move_cost, IRIS_STEAL_DEFAULT_MOVE_COST);
  ck_assert_uint_eq (bandwidth, IRIS_STEAL_DEFAULT_BANDWIDTH);
  ck_assert_uint_eq (max_delay, IRIS_STEAL_DEFAULT_MAX_DELAY);
}

TEST (words_make_a_policy)
{
  g_autoptr (GError) error = NULL;
  g_autoptr (IrisStealPolicy)
      policy = iris_steal_policy_parse ("random+one+nothing+cap=7+max-delay=5+half", &error);
  IrisStealRules rules;

  ck_assert_msg (policy != NULL, "%s", error != NULL ? error->message : "");
  iris_steal_policy_get_rules (policy, &rules);
  ck_assert_int_eq (rules.order, IRIS_STEAL_ORDER_RANDOM);
  ck_assert_int_eq (rules.amount, IRIS_STEAL_AMOUNT_HALF);
  ck_assert_uint_eq (rules.cap, 7);
  ck_assert_uint_eq (rules.max_delay_ns, 5000);
  ck_assert (!rules.refuses);
}

static const struct
{
  const char *words;
  IrisStealPolicyError code;
} bad_words[] = {
  { "+", IRIS_STEAL_POLICY_ERROR_UNKNOWN },
  { "nearest", IRIS_STEAL_POLICY_ERROR_UNKNOWN },
  { "one+", IRIS_STEAL_POLICY_ERROR_UNKNOWN },
  { "order=random", IRIS_STEAL_POLICY_ERROR_UNKNOWN },
  { "=4", IRIS_STEAL_POLICY_ERROR_UNKNOWN },
  { "cap=0", IRIS_STEAL_POLICY_ERROR_VALUE },
  { "cap=", IRIS_STEAL_POLICY_ERROR_VALUE },
  { "random+bandwidth=0", IRIS_STEAL_POLICY_ERROR_VALUE },
  { "move-cost=-1", IRIS_STEAL_POLICY_ERROR_VALUE },
  { "max-delay=99999999999", IRIS_STEAL_POLICY_ERROR_VALUE },
};

LOOP_TEST (bad_words_make_an_error, 0, G_N_ELEMENTS (bad_words))
{
  g_autoptr (GError) error = NULL;

  ck_assert_ptr_null (iris_steal_policy_parse (bad_words[_i].words, &error));
  ck_assert (g_error_matches (error, IRIS_STEAL_POLICY_ERROR, (gint) bad_words[_i].code));
}

LOOP_TEST (schedulers_of_places_take_a_policy, 0, 2)
{
  g_autoptr (IrisStealPolicy)
      policy = iris_steal_policy_new (IRIS_STEAL_ORDER_RANDOM, IRIS_STEAL_AMOUNT_ONE, 0);
  g_autoptr (IrisPlaces) places = iris_places_new_unbound (2, 1);
  g_autoptr (IrisScheduler)
      scheduler = g_object_new (_i == 0 ? IRIS_TYPE_PLACE_SCHEDULER : IRIS_TYPE_WSSCHEDULER,
                                "places", places, "steal-policy", policy, NULL);
  g_autoptr (IrisStealPolicy) same = NULL;

  g_object_get (scheduler, "steal-policy", &same, NULL);
  ck_assert_ptr_eq (same, policy);
}

static const struct
{
  const char *words;
  IrisDequeKind kind;
  guint64 moved;
} amounts[] = {
  { "capped", IRIS_DEQUE_CHASE_LEV, 64 },      { "capped", IRIS_DEQUE_LOCKED, 64 },
  { "capped+cap=5", IRIS_DEQUE_CHASE_LEV, 5 }, { "capped+cap=5", IRIS_DEQUE_STEAL_HALF, 5 },
  { "half", IRIS_DEQUE_CHASE_LEV, 200 },       { "half", IRIS_DEQUE_LOCKED, 200 },
  { "one", IRIS_DEQUE_CHASE_LEV, 1 },          { "one", IRIS_DEQUE_LOCKED, 1 },
};

LOOP_TEST (the_policy_says_how_much_is_stolen, 0, G_N_ELEMENTS (amounts))
{
  open_unbound (amounts[_i].words, 2, 1, amounts[_i].kind);
  for (int i = 0; i < N_ITEMS; i++)
    queue_at (1, i, IRIS_PLACE_ANY, IRIS_ITEM_NONE);
  ck_assert_int_eq (take (0), 0);
  ck_assert_uint_eq (pool->workers[0].counters.stolen_in, amounts[_i].moved);
  ck_assert_uint_eq (pool->ops->count_own (&pool->workers[0]), amounts[_i].moved - 1);
  ck_assert_uint_eq (verdicts (0, IRIS_STEAL_VERDICT_TAKEN), 1);
  close_pool ();
}

/* By distance the near place is always the first; at random the far ones are too, sooner or later.
 */
LOOP_TEST (the_policy_says_which_place_is_asked_first, 0, 2)
{
  guint first[4] = { 0 };

  open_synthetic (_i == 0 ? "distance" : "random", "package:2 l2:2 core:1 pu:1", "l2");
  for (int round = 0; round < 200; round++)
    {
      for (int place = 1; place < 4; place++)
        queue_at (OUTSIDE, place, place, IRIS_ITEM_NONE);
      first[take (0)]++;
      for (int i = 0; i < 2; i++)
        ck_assert_int_gt (take (0), 0);
      ck_assert_int_eq (take (0), -1);
    }
  if (_i == 0)
    ck_assert_uint_eq (first[1], 200);
  else
    for (int place = 1; place < 4; place++)
      ck_assert_uint_gt (first[place], 0);
  close_pool ();
}

/* A move costs a second for each unit of distance; the near place is at 1, the far ones at 2. */
#define SECOND "move-cost=1000000000+max-delay=2000000000"

static const struct
{
  gint place;
  guint64 run_ns;
  guint64 footprint;
  IrisStealVerdict verdict;
} verdict_cases[] = {
  { 1, 999999999, 0, IRIS_STEAL_VERDICT_BACKLOG },
  { 1, 1000000000, 0, IRIS_STEAL_VERDICT_TAKEN },
  { 1, 0, 0, IRIS_STEAL_VERDICT_TAKEN }, /* not known */
  { 2, 999999999, 0, IRIS_STEAL_VERDICT_BACKLOG },
  { 2, 1999999999, 0, IRIS_STEAL_VERDICT_DISTANCE },
  { 2, 2000000000, 0, IRIS_STEAL_VERDICT_TAKEN },
  { 1, 1500000000, G_GUINT64_CONSTANT (1) << 33, IRIS_STEAL_VERDICT_SIZE },
  { 1, 1500000000, 1024, IRIS_STEAL_VERDICT_TAKEN },
};

LOOP_TEST (a_steal_is_weighed_against_its_cost, 0, G_N_ELEMENTS (verdict_cases))
{
  gint place = verdict_cases[_i].place;
  IrisStealVerdict verdict = verdict_cases[_i].verdict;

  open_synthetic (SECOND, "package:2 l2:2 core:1 pu:1", "l2");
  ck_assert_uint_eq (iris_places_get_distance (queues->places, 0, 1), 1);
  ck_assert_uint_eq (iris_places_get_distance (queues->places, 0, 2), 2);
  set_run_time (place, verdict_cases[_i].run_ns);
  iris_item_set_footprint (&items[3], verdict_cases[_i].footprint);
  queue_at (OUTSIDE, 3, place, IRIS_ITEM_NONE);

  ck_assert_int_eq (take (0), verdict == IRIS_STEAL_VERDICT_TAKEN ? 3 : -1);
  ck_assert_uint_eq (verdicts (0, verdict), 1);
  if (verdict != IRIS_STEAL_VERDICT_TAKEN)
    {
      ck_assert_int_eq (pool->ops->has_work (pool, &pool->workers[0]), IRIS_WORK_REFUSED);
      ck_assert_int_eq (pool->ops->has_work (pool, &pool->workers[place]), IRIS_WORK_SHARED);
      ck_assert_int_eq (take (place), 3);
    }
  ck_assert_int_eq (pool->ops->has_work (pool, &pool->workers[0]), IRIS_WORK_NONE);
  close_pool ();
}

/* One place is refused, the other one is not. */
TEST (a_worker_backs_off_only_if_it_refuses_everything)
{
  IrisWorker *self;

  open_synthetic (SECOND, "package:2 l2:2 core:1 pu:1", "l2");
  self = &pool->workers[0];
  ck_assert_int_eq (pool->ops->has_work (pool, self), IRIS_WORK_NONE);
  set_run_time (1, 1);
  queue_at (OUTSIDE, 0, 1, IRIS_ITEM_NONE);
  ck_assert_int_eq (pool->ops->has_work (pool, self), IRIS_WORK_REFUSED);
  queue_at (OUTSIDE, 1, 0, IRIS_ITEM_STRICT);
  ck_assert_int_eq (pool->ops->has_work (pool, self), IRIS_WORK_REFUSED | IRIS_WORK_STRICT);
  ck_assert_int_eq (take (0), 1);
  queue_at (3, 2, IRIS_PLACE_ANY, IRIS_ITEM_NONE);
  ck_assert_int_eq (pool->ops->has_work (pool, self), IRIS_WORK_SHARED);
  ck_assert_int_eq (take (0), 2);
  ck_assert_int_eq (pool->ops->has_work (pool, self), IRIS_WORK_REFUSED);
  queue_at (OUTSIDE, 3, 0, IRIS_ITEM_NONE);
  ck_assert_int_eq (pool->ops->has_work (pool, self), IRIS_WORK_SHARED);
  ck_assert_int_eq (take (0), 3);
  ck_assert_int_eq (take (0), -1);
  close_pool ();
}

TEST (a_worker_that_refuses_nothing_takes_everything)
{
  open_unbound (SECOND "+nothing", 2, 1, IRIS_DEQUE_CHASE_LEV);
  set_run_time (1, 1);
  queue_at (OUTSIDE, 0, 1, IRIS_ITEM_NONE);
  ck_assert_int_eq (take (0), 0);
  close_pool ();
}

TEST (a_place_whose_workers_sleep_is_not_refused)
{
  open_unbound (SECOND, 2, 2, IRIS_DEQUE_CHASE_LEV);
  set_run_time (2, 1);
  iris_parking_lot_prepare (&pool->parking_lot, &pool->workers[2].parker);
  queue_at (2, 0, IRIS_PLACE_ANY, IRIS_ITEM_NONE); /* the one that is awake wakes no other */
  ck_assert_int_eq (take (0), -1);
  iris_parking_lot_prepare (&pool->parking_lot, &pool->workers[2].parker);
  iris_parking_lot_prepare (&pool->parking_lot, &pool->workers[3].parker);
  ck_assert_int_eq (take (0), 0);
  iris_parking_lot_cancel (&pool->parking_lot, &pool->workers[2].parker);
  iris_parking_lot_cancel (&pool->parking_lot, &pool->workers[3].parker);
  close_pool ();
}

/* The deadline of the forecast is now: what stands still is taken in the next look. */
TEST (a_place_that_stands_still_is_refused_once)
{
  open_unbound ("move-cost=1+max-delay=2000000000", 2, 1, IRIS_DEQUE_CHASE_LEV);
  /* So many of no time that they drain sooner than in a nanosecond, if that were so. */
  queues->rules.move_ns = 2;
  set_run_time (1, 1);
  queue_at (OUTSIDE, 0, 1, IRIS_ITEM_NONE);
  ck_assert_int_eq (take (0), -1);
  while ((guint64) iris_clock_ns () < atomic_load (&queues->queues[1].forecast.deadline))
    ;
  ck_assert_int_eq (take (0), 0);
  ck_assert_uint_eq (pool->workers[0].counters.refusals_lapsed, 1);
  close_pool ();
}

TEST (a_place_that_gets_on_is_refused_again)
{
  open_unbound ("move-cost=2+max-delay=2000000000", 2, 1, IRIS_DEQUE_CHASE_LEV);
  set_run_time (1, 1);
  queue_at (OUTSIDE, 0, 1, IRIS_ITEM_NONE);
  for (int i = 0; i < 100; i++)
    {
      ck_assert_int_eq (take (0), -1);
      begin_items (1, 1);
    }
  ck_assert_uint_eq (verdicts (0, IRIS_STEAL_VERDICT_BACKLOG), 100);
  close_pool ();
}

/* It gets on, but never with this item. */
TEST (no_place_is_refused_for_longer_than_the_limit)
{
  bool taken = false;

  open_unbound ("move-cost=1000+max-delay=1000", 2, 1, IRIS_DEQUE_CHASE_LEV);
  set_run_time (1, 1);
  queue_at (OUTSIDE, 0, 1, IRIS_ITEM_NONE);
  ck_assert_int_eq (take (0), -1);
  while (!taken)
    {
      guint64 refused_for = iris_clock_ns () - atomic_load (&queues->queues[1].forecast.since);

      begin_items (1, 1);
      taken = take (0) == 0;
      /* What was seen before the look is beyond the limit only if the look takes. */
      ck_assert (taken || refused_for < 1000000);
    }
  ck_assert_uint_eq (atomic_load (&queues->queues[1].forecast.since), 0);
  close_pool ();
}

TEST (strict_items_never_move)
{
  open_unbound ("random+half+nothing", 3, 1, IRIS_DEQUE_CHASE_LEV);
  for (int i = 0; i < 30; i++)
    {
      iris_item_set_footprint (&items[i], i % 2 == 0 ? 0 : 4096);
      queue_at (OUTSIDE, i, i % 3, IRIS_ITEM_STRICT | (i % 5 == 0 ? IRIS_ITEM_KEEP_APART : 0));
    }
  for (int i = 0; i < 30; i++)
    ck_assert_int_eq (take (i % 3) % 3, i % 3);
  for (int worker = 0; worker < 3; worker++)
    ck_assert_int_eq (take (worker), -1);
  close_pool ();
}

TEST_MAIN ("steal-policy", NULL, NULL)
