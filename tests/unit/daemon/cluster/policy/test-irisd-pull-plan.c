/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * The pull plan: own lanes and their window, victims, thresholds, rescues, limits.
 */
#include "core-test-run.h"
#include "daemon/cluster/policy/irisd-pull-plan.h"

#include <string.h>

#define MS      G_GUINT64_CONSTANT (1000000)
#define N_NODES 8
/* Of items of 1 ms, for 4 workers: 100 ms of work would be more. */
#define WINDOW IRISD_PULL_DEEP

/* The own node is the first, "a"; b is in its rack, c and d in its zone, the others are far. */
static IrisdNodeView nodes[N_NODES];
static IrisdNodeMap map;
static IrisdOwnNode own;
static gint64 now;
static IrisdPullPlan *plan;
static GArray *pulls;

static void
set_up (void)
{
  static const char *const names[] = { "a", "b", "c", "d", "e", "f", "g", "h" };
  static const char *const racks[] = { "1", "1", "2", "2", "3", "3", "3", "3" };
  static const char *const zones[] = { "x", "x", "x", "x", "y", "y", "y", "y" };
  const IrisdPullRules rules = IRISD_PULL_RULES_DEFAULT;

  now = 100 * G_USEC_PER_SEC;
  for (guint i = 0; i < N_NODES; i++)
    nodes[i] = (IrisdNodeView){ .name = names[i],
                                .rack = racks[i],
                                .zone = zones[i],
                                .n_workers = 4,
                                .mean_run_ns = MS,
                                .seen_us = now };
  map = (IrisdNodeMap){ nodes, N_NODES, 1 };
  own = (IrisdOwnNode){ .view = nodes[0] };
  own.view.n_idle = 4;
  plan = irisd_pull_plan_new (&rules);
  pulls = g_array_new (FALSE, FALSE, sizeof (IrisdPullChange));
}

static void
tear_down (void)
{
  irisd_pull_plan_free (plan);
  g_array_unref (pulls);
}

static void
make (void)
{
  g_array_set_size (pulls, 0);
  irisd_pull_plan_make (plan, &own, &map, now, pulls);
}

/* All entries are renewed, and the next look is due. */
static void
pass (gint64 us)
{
  now += us;
  for (guint i = 0; i < N_NODES; i++)
    if (nodes[i].seen_us != 0)
      nodes[i].seen_us = now;
  own.view.seen_us = now;
  map.serial++;
}

/* What the last plan said of a consumer: the pull to open, or to withdraw; NULL if nothing. */
static const IrisdPullChange *
find (IrisdLaneKind consumer, const char *node, gboolean drop)
{
  for (guint i = 0; i < pulls->len; i++)
    {
      const IrisdPullChange *pull = &g_array_index (pulls, IrisdPullChange, i);

      if (pull->consumer == consumer && g_strcmp0 (pull->node, node) == 0 && pull->drop == drop)
        return pull;
    }
  return NULL;
}

#define SOFT(node) find (IRISD_LANE_SOFT, node, FALSE)
#define DROP(node) find (IRISD_LANE_SOFT, node, TRUE)

static guint
count (IrisdPullReason reason)
{
  guint n = 0;

  for (guint i = 0; i < pulls->len; i++)
    n += g_array_index (pulls, IrisdPullChange, i).reason == reason
         && !g_array_index (pulls, IrisdPullChange, i).drop;
  return n;
}

static guint64
looks (IrisStealVerdict verdict)
{
  return irisd_pull_plan_get_counts (plan)->looks[verdict];
}

/* All workers run what the cluster brought, and @waiting more are here. */
static void
be_busy (guint waiting)
{
  own.view.n_idle = 0;
  own.n_running = 4;
  own.n_in_hand = 4 + waiting;
}

/* --- own lanes ---------------------------------------------------------------------------- */

TEST (a_node_asks_its_own_consumers_and_any_for_a_window)
{
  make ();
  ck_assert_uint_eq (SOFT ("a")->batch, WINDOW);
  ck_assert_uint_eq (find (IRISD_LANE_STRICT, "a", FALSE)->batch, WINDOW);
  ck_assert_uint_eq (find (IRISD_LANE_ANY, NULL, FALSE)->batch, WINDOW);
  ck_assert_uint_eq (SOFT ("a")->min_pending, 0);
  ck_assert_uint_eq (count (IRISD_PULL_FOR_OWN), 3);
}

TEST (what_is_open_is_not_asked_for_again)
{
  make ();
  make ();
  ck_assert_uint_eq (count (IRISD_PULL_FOR_OWN), 0);
}

TEST (the_window_is_asked_again_at_half)
{
  make ();
  irisd_pull_plan_note_delivered (plan, IRISD_LANE_SOFT, "a", WINDOW, 100);
  be_busy (WINDOW / 2 - 4 + 1);
  make ();
  ck_assert_ptr_null (SOFT ("a"));
  be_busy (WINDOW / 2 - 4);
  make ();
  ck_assert_uint_eq (SOFT ("a")->batch, WINDOW / 2);
}

/* What is under way counts as what is in hand does. */
TEST (what_is_under_way_is_a_part_of_the_window)
{
  make ();
  irisd_pull_plan_note_delivered (plan, IRISD_LANE_SOFT, "a", WINDOW - 8, 100);
  be_busy (WINDOW / 2 - 8 - 4 + 1);
  make ();
  ck_assert_ptr_null (SOFT ("a"));
  be_busy (WINDOW / 2 - 8 - 4);
  make ();
  ck_assert_uint_eq (SOFT ("a")->batch, WINDOW / 2);
}

TEST (a_pull_that_ended_is_asked_again)
{
  make ();
  irisd_pull_plan_note_ended (plan, IRISD_LANE_SOFT, "a", WINDOW);
  make ();
  ck_assert_uint_eq (SOFT ("a")->batch, WINDOW);
  irisd_pull_plan_forget_pulls (plan);
  make ();
  ck_assert_uint_eq (count (IRISD_PULL_FOR_OWN), 3);
}

TEST (long_items_have_a_small_window)
{
  own.view.mean_run_ns = 1000 * MS;
  make ();
  ck_assert_uint_eq (SOFT ("a")->batch, 4 * IRISD_PULL_LEAST_WINDOW);
  own.view.mean_run_ns = 10 * MS;
  ck_assert_uint_eq (irisd_pull_plan_get_window (plan, &own.view), 16);
}

/* Few of them at a time would cost the engine more than they cost to run. */
TEST (more_work_is_ahead_of_short_items)
{
  own.view.mean_run_ns = 4 * MS;
  ck_assert_uint_eq (irisd_pull_plan_get_window (plan, &own.view), 4 * 10);
  own.view.mean_run_ns = 4 * MS - 1;
  ck_assert_uint_eq (irisd_pull_plan_get_window (plan, &own.view), 4 * 26);
}

/* What is to be hidden is the way to the engine, however many workers there are. */
TEST (short_items_have_a_window_that_does_not_grow_with_the_workers)
{
  own.view.mean_run_ns = 1000;
  ck_assert_uint_eq (irisd_pull_plan_get_window (plan, &own.view), IRISD_PULL_DEEP);
  own.view.n_workers = 1;
  ck_assert_uint_eq (irisd_pull_plan_get_window (plan, &own.view), IRISD_PULL_WINDOW);
  own.view.n_workers = 100;
  ck_assert_uint_eq (irisd_pull_plan_get_window (plan, &own.view), 100 * IRISD_PULL_USUAL);
}

/* If they turn out to be long, what is ahead of the workers cannot be stolen any more. */
TEST (items_that_have_never_run_have_a_small_window)
{
  own.view.mean_run_ns = 0;
  make ();
  ck_assert_uint_eq (SOFT ("a")->batch, 4 * IRISD_PULL_LEAST_WINDOW);
}

TEST (a_full_window_withdraws_any)
{
  make ();
  irisd_pull_plan_note_delivered (plan, IRISD_LANE_SOFT, "a", WINDOW, 100);
  be_busy (WINDOW - 4);
  make ();
  ck_assert_ptr_nonnull (find (IRISD_LANE_ANY, NULL, TRUE));
  ck_assert_ptr_null (find (IRISD_LANE_STRICT, "a", TRUE));
}

TEST (local_items_hold_back_any_and_not_what_is_hinted_here)
{
  own.view.n_idle = 0;
  own.n_queued = 1000;
  make ();
  ck_assert_ptr_null (find (IRISD_LANE_ANY, NULL, FALSE));
  ck_assert_uint_eq (SOFT ("a")->batch, WINDOW);
  ck_assert_ptr_nonnull (find (IRISD_LANE_STRICT, "a", FALSE));
}

/* --- victims ------------------------------------------------------------------------------ */

TEST (an_idle_node_waits_at_three_victims_with_the_threshold_of_the_move)
{
  make ();
  ck_assert_uint_eq (count (IRISD_PULL_TO_STEAL), IRISD_PULL_VICTIMS);
  ck_assert_uint_eq (SOFT ("b")->min_pending, 15);
  ck_assert_uint_eq (SOFT ("c")->min_pending, 30);
}

TEST (the_nearest_come_first)
{
  nodes[1].backlog = nodes[2].backlog = nodes[3].backlog = nodes[5].backlog = 1000;
  make ();
  ck_assert_ptr_nonnull (SOFT ("b"));
  ck_assert_ptr_nonnull (SOFT ("c"));
  ck_assert_ptr_nonnull (SOFT ("d"));
  ck_assert_int_eq (SOFT ("b")->distance, IRISD_NODE_RACK);
  ck_assert_int_eq (SOFT ("d")->distance, IRISD_NODE_ZONE);
}

TEST (a_backlog_beyond_the_threshold_comes_before_a_near_node_without)
{
  nodes[4].backlog = 1000;
  make ();
  ck_assert_ptr_nonnull (SOFT ("e"));
  ck_assert_uint_eq (SOFT ("e")->min_pending, 60);
  /* As much as an owner takes; of nodes without a backlog no more than can be run at once. */
  ck_assert_uint_eq (SOFT ("e")->batch, WINDOW);
  ck_assert_uint_eq (SOFT ("b")->batch, 4);
}

TEST (a_busy_node_may_get_a_backlog_sooner_than_an_idle_one)
{
  for (guint i = 1; i < 4; i++)
    nodes[i].n_idle = 4;
  make ();
  ck_assert_ptr_null (SOFT ("b"));
  ck_assert_uint_eq (count (IRISD_PULL_TO_STEAL), 3);
}

TEST (equally_near_ones_are_drawn_by_lot)
{
  guint n[N_NODES] = { 0 };

  map.nodes = nodes + 4;
  map.n_nodes = 4;
  for (guint i = 0; i < 60; i++)
    {
      tear_down ();
      plan = irisd_pull_plan_new (&(IrisdPullRules) IRISD_PULL_RULES_DEFAULT);
      pulls = g_array_new (FALSE, FALSE, sizeof (IrisdPullChange));
      pass (IRISD_PULL_ROUND_US);
      make ();
      for (guint j = 4; j < N_NODES; j++)
        n[j] += SOFT (nodes[j].name) != NULL;
    }
  for (guint j = 4; j < N_NODES; j++)
    {
      ck_assert_uint_gt (n[j], 25);
      ck_assert_uint_lt (n[j], 60);
    }
}

TEST (a_busy_node_does_not_steal)
{
  be_busy (16);
  nodes[1].backlog = 1000;
  make ();
  ck_assert_uint_eq (count (IRISD_PULL_TO_STEAL), 0);
}

TEST (a_node_with_local_items_does_not_steal)
{
  own.n_queued = 1;
  nodes[1].backlog = 1000;
  make ();
  ck_assert_uint_eq (count (IRISD_PULL_TO_STEAL), 0);
}

/* Items of 1 ms last shorter than the way to the engine; those of 100 ms do not. */
TEST (short_items_are_asked_for_before_a_worker_idles)
{
  be_busy (2);
  nodes[1].backlog = 1000;
  make ();
  ck_assert_ptr_nonnull (SOFT ("b"));
  tear_down ();
  set_up ();
  be_busy (2);
  nodes[1].backlog = 1000;
  own.view.mean_run_ns = 100 * MS;
  make ();
  ck_assert_uint_eq (count (IRISD_PULL_TO_STEAL), 0);
}

TEST (pulls_of_a_thief_are_withdrawn_when_local_items_wait)
{
  nodes[1].backlog = 1000;
  make ();
  own.n_queued = 3;
  own.view.n_idle = 0;
  make ();
  ck_assert_ptr_nonnull (DROP ("b"));
  ck_assert_uint_eq (count (IRISD_PULL_TO_STEAL), 0);
}

TEST (pulls_of_a_thief_are_withdrawn_when_its_hands_are_full)
{
  nodes[1].backlog = 1000;
  make ();
  be_busy (WINDOW - 4);
  make ();
  ck_assert_ptr_nonnull (DROP ("b"));
}

TEST (a_thief_asks_again_before_it_is_empty)
{
  nodes[1].backlog = 1000;
  make ();
  irisd_pull_plan_note_delivered (plan, IRISD_LANE_SOFT, "b", WINDOW, 840);
  be_busy (WINDOW - 4);
  make ();
  ck_assert_ptr_null (SOFT ("b"));
  be_busy (6);
  make ();
  ck_assert_uint_eq (SOFT ("b")->batch, WINDOW - 10);
  ck_assert_uint_eq (irisd_pull_plan_get_counts (plan)->n_stolen[IRISD_NODE_RACK], WINDOW);
}

/* What a thief has pulled cannot be stolen from it. */
TEST (a_thief_takes_no_more_long_items_than_it_has_workers)
{
  nodes[1].backlog = 1000;
  own.view.mean_run_ns = 1000 * MS;
  make ();
  ck_assert_uint_eq (SOFT ("b")->batch, 4);
  tear_down ();
  set_up ();
  nodes[1].backlog = 1000;
  own.view.mean_run_ns = 0; /* not known: they may be long */
  make ();
  ck_assert_uint_eq (SOFT ("b")->batch, 4);
  tear_down ();
  set_up ();
  nodes[1].backlog = 1000;
  own.view.mean_run_ns = 8 * MS;
  make ();
  ck_assert_uint_eq (SOFT ("b")->batch, 4 * 40 / 8);
}

TEST (strict_items_of_others_are_never_asked_for)
{
  nodes[1].backlog = 1000;
  nodes[2].seen_us = 0;
  nodes[3].removed = TRUE;
  nodes[4].draining = TRUE;
  for (guint i = 0; i < 20; i++)
    {
      make ();
      for (guint j = 0; j < pulls->len; j++)
        {
          const IrisdPullChange *pull = &g_array_index (pulls, IrisdPullChange, j);

          ck_assert (pull->consumer != IRISD_LANE_STRICT || g_str_equal (pull->node, "a"));
        }
      pass (IRISD_PULL_ROUND_US);
    }
}

TEST (a_fixed_threshold_replaces_what_moves_cost)
{
  irisd_pull_plan_free (plan);
  plan = irisd_pull_plan_new (&(IrisdPullRules){ IRISD_PULL_WINDOW, IRISD_PULL_VICTIMS, 64 });
  make ();
  ck_assert_uint_eq (SOFT ("b")->min_pending, 64);
  ck_assert_uint_eq (SOFT ("c")->min_pending, 64);
}

TEST (without_victims_nothing_is_stolen)
{
  irisd_pull_plan_free (plan);
  plan = irisd_pull_plan_new (&(IrisdPullRules){ IRISD_PULL_WINDOW, 0, 0 });
  nodes[1].backlog = 1000;
  make ();
  ck_assert_uint_eq (count (IRISD_PULL_TO_STEAL), 0);
  ck_assert_uint_eq (count (IRISD_PULL_FOR_OWN), 3);
}

/* Otherwise each run of an item would cost two messages. */
TEST (a_threshold_that_is_a_little_another_replaces_no_pull)
{
  make ();
  nodes[1].mean_run_ns = MS * 3 / 4;
  pass (G_USEC_PER_SEC);
  make ();
  ck_assert_ptr_null (DROP ("b"));
  nodes[1].mean_run_ns = MS / 4;
  pass (G_USEC_PER_SEC);
  make ();
  ck_assert_ptr_nonnull (DROP ("b"));
  ck_assert_uint_eq (SOFT ("b")->min_pending, 60);
}

/* --- refusals ----------------------------------------------------------------------------- */

TEST (refusals_are_counted_by_their_reason)
{
  map.n_nodes = 5;
  nodes[1].backlog = 14; /* the nearest move costs 15 items */
  nodes[2].backlog = 20; /* this one 30 */
  nodes[3].backlog = 40;
  nodes[3].mean_bytes = 120000; /* 10 ms: another 40 */
  make ();
  ck_assert_uint_eq (looks (IRIS_STEAL_VERDICT_BACKLOG), 1);
  ck_assert_uint_eq (looks (IRIS_STEAL_VERDICT_DISTANCE), 1);
  ck_assert_uint_eq (looks (IRIS_STEAL_VERDICT_SIZE), 1);
  ck_assert_uint_eq (looks (IRIS_STEAL_VERDICT_EMPTY), 1);
  ck_assert_uint_eq (looks (IRIS_STEAL_VERDICT_TAKEN), 0);
  irisd_pull_plan_note_delivered (plan, IRISD_LANE_SOFT, "b", 1, 20);
  ck_assert_uint_eq (looks (IRIS_STEAL_VERDICT_TAKEN), 1);
}

TEST (a_victim_with_a_service_that_is_not_here_is_left_alone)
{
  static const char *const few[] = { "echo", NULL };
  static const char *const more[] = { "echo", "render", NULL };

  own.view.services = few;
  for (guint i = 0; i < N_NODES; i++)
    nodes[i].services = few;
  nodes[1].services = more;
  nodes[1].backlog = 1000;
  make ();
  ck_assert_ptr_null (SOFT ("b"));
  ck_assert_uint_eq (looks (IRIS_STEAL_VERDICT_APART), 1);
}

/* How many of 200 idle nodes go where @backlog waits. */
static guint
count_thieves (guint64 backlog)
{
  static IrisdNodeView many[200];
  guint n = 0;

  for (guint i = 0; i < G_N_ELEMENTS (many); i++)
    {
      g_autofree char *name = g_strdup_printf ("node-%u", i);

      many[i] = nodes[4];
      many[i].name = g_intern_string (name);
      many[i].n_idle = i > 0 ? 4 : 0;
      many[i].backlog = i > 0 ? 0 : backlog;
    }
  map.nodes = many;
  map.n_nodes = G_N_ELEMENTS (many);
  for (guint i = 1; i < G_N_ELEMENTS (many); i++)
    {
      irisd_pull_plan_free (plan);
      plan = irisd_pull_plan_new (&(IrisdPullRules) IRISD_PULL_RULES_DEFAULT);
      own.view = many[i];
      make ();
      n += SOFT ("node-0") != NULL;
    }
  return n;
}

/* 15 is the threshold, and WINDOW what one thief takes. */
TEST (no_more_thieves_go_than_the_excess_feeds)
{
  guint n = count_thieves (15 + 9 * WINDOW);

  ck_assert_uint_gt (n, 2);
  ck_assert_uint_lt (n, 25);
  ck_assert_uint_gt (looks (IRIS_STEAL_VERDICT_LOST) + looks (IRIS_STEAL_VERDICT_EMPTY), 0);
}

TEST (no_more_wait_at_one_victim_than_it_bears)
{
  guint n = count_thieves (1000000);

  ck_assert_uint_gt (n, IRISD_PULL_MOST_WAITING * 3 / 4);
  ck_assert_uint_lt (n, IRISD_PULL_MOST_WAITING * 5 / 4);
}

/* Two items behind a worker that hangs: less than any threshold. */
TEST (a_victim_that_stands_still_is_not_refused_for_ever)
{
  nodes[1].backlog = 2;
  nodes[1].n_begun = 50;
  make ();
  ck_assert_uint_eq (SOFT ("b")->min_pending, 15);
  pass (2 * IRISD_PULL_MAP_US - 1);
  make ();
  ck_assert_ptr_null (DROP ("b"));
  pass (G_USEC_PER_SEC);
  make ();
  ck_assert_ptr_nonnull (DROP ("b"));
  ck_assert_uint_eq (SOFT ("b")->min_pending, 1);
  ck_assert_uint_eq (irisd_pull_plan_get_counts (plan)->lapsed, 1);
  /* It moves: refused again. */
  nodes[1].n_begun = 52;
  pass (G_USEC_PER_SEC);
  make ();
  ck_assert_uint_eq (SOFT ("b")->min_pending, 15);
}

TEST (a_victim_that_moves_stays_refused)
{
  nodes[1].backlog = 2;
  nodes[1].n_begun = 50;
  for (guint i = 0; i < 10; i++)
    {
      make ();
      ck_assert_ptr_null (DROP ("b"));
      pass (IRISD_PULL_MAP_US);
      nodes[1].n_begun += 2;
    }
  ck_assert_uint_eq (irisd_pull_plan_get_counts (plan)->lapsed, 0);
}

/* --- rescue ------------------------------------------------------------------------------- */

TEST (a_node_that_has_gone_is_pulled_from_without_a_threshold)
{
  make ();
  ck_assert_uint_eq (SOFT ("b")->min_pending, 15);
  nodes[1].seen_us = 0;
  pass (G_USEC_PER_SEC);
  make ();
  ck_assert_ptr_nonnull (DROP ("b"));
  ck_assert_int_eq (SOFT ("b")->reason, IRISD_PULL_TO_RESCUE);
  ck_assert_uint_eq (SOFT ("b")->min_pending, 0);
  irisd_pull_plan_note_delivered (plan, IRISD_LANE_SOFT, "b", 1, 0);
  ck_assert_uint_eq (irisd_pull_plan_get_counts (plan)->n_rescued, 1);
}

TEST (removed_and_draining_nodes_are_rescued_too)
{
  nodes[1].removed = TRUE;
  nodes[2].draining = TRUE;
  make ();
  ck_assert_uint_eq (count (IRISD_PULL_TO_RESCUE), 2);
}

TEST (a_node_that_is_back_is_a_victim_again)
{
  nodes[1].seen_us = 0;
  make ();
  ck_assert_int_eq (SOFT ("b")->reason, IRISD_PULL_TO_RESCUE);
  nodes[1].seen_us = 1;
  pass (G_USEC_PER_SEC);
  make ();
  ck_assert_ptr_nonnull (DROP ("b"));
  ck_assert_int_eq (SOFT ("b")->reason, IRISD_PULL_TO_STEAL);
}

/* All nodes are busy: three of them rescue all the same, and they are the nearest. */
TEST (three_busy_nodes_rescue_and_no_more)
{
  guint n = 0;

  nodes[4].seen_us = 0;
  be_busy (0);
  own.view.mean_run_ns = 100 * MS;
  for (guint i = 0; i < N_NODES; i++)
    {
      if (i == 4)
        continue;
      irisd_pull_plan_free (plan);
      plan = irisd_pull_plan_new (&(IrisdPullRules) IRISD_PULL_RULES_DEFAULT);
      own.view.name = nodes[i].name;
      own.view.rack = nodes[i].rack;
      own.view.zone = nodes[i].zone;
      make ();
      ck_assert (SOFT ("e") == NULL || i > 4);
      n += SOFT ("e") != NULL;
    }
  ck_assert_uint_eq (n, IRISD_PULL_RESCUERS);
}

TEST (a_node_without_the_services_rescues_only_if_all_lack_them)
{
  static const char *const few[] = { "echo", NULL };
  static const char *const more[] = { "echo", "render", NULL };

  own.view.services = few;
  for (guint i = 0; i < N_NODES; i++)
    nodes[i].services = few;
  nodes[1].services = nodes[2].services = more;
  nodes[1].seen_us = 0;
  make ();
  ck_assert_ptr_null (SOFT ("b"));
  nodes[2].services = few;
  pass (G_USEC_PER_SEC);
  make ();
  ck_assert_int_eq (SOFT ("b")->reason, IRISD_PULL_TO_RESCUE);
}

/* --- limits ------------------------------------------------------------------------------- */

static void
check_limit (guint64 *used, guint64 *limit)
{
  nodes[1].backlog = 1000;
  nodes[2].seen_us = 0;
  *limit = 800;
  *used = 800;
  make ();
  ck_assert_uint_eq (count (IRISD_PULL_TO_STEAL) + count (IRISD_PULL_TO_RESCUE), 0);
  ck_assert_ptr_null (find (IRISD_LANE_ANY, NULL, FALSE));
  ck_assert_uint_eq (SOFT ("a")->batch, 4);
  ck_assert_uint_eq (find (IRISD_LANE_STRICT, "a", FALSE)->batch, 4);
  ck_assert_uint_eq (irisd_pull_plan_get_counts (plan)->at_limit, 1);
  /* Until there is some room. */
  *used = 700;
  pass (G_USEC_PER_SEC);
  make ();
  ck_assert_uint_eq (count (IRISD_PULL_TO_STEAL), 0);
  *used = 699;
  pass (G_USEC_PER_SEC);
  make ();
  ck_assert_ptr_nonnull (SOFT ("b"));
  ck_assert_int_eq (SOFT ("c")->reason, IRISD_PULL_TO_RESCUE);
  ck_assert_ptr_nonnull (find (IRISD_LANE_ANY, NULL, FALSE));
  /* And what is open is withdrawn. */
  *used = 900;
  make ();
  ck_assert_ptr_nonnull (DROP ("b"));
  ck_assert_ptr_nonnull (DROP ("c"));
  ck_assert_ptr_nonnull (DROP ("a"));
  ck_assert_ptr_nonnull (find (IRISD_LANE_ANY, NULL, TRUE));
}

TEST (a_node_whose_disk_is_at_a_limit_takes_nothing_from_others)
{
  check_limit (&own.disk_used, &own.disk_limit);
}

TEST (a_node_whose_memory_is_at_a_limit_takes_nothing_from_others)
{
  check_limit (&own.memory_used, &own.memory_limit);
}

TEST (a_draining_node_withdraws_everything)
{
  make ();
  own.view.draining = TRUE;
  make ();
  ck_assert_ptr_nonnull (DROP ("a"));
  ck_assert_ptr_nonnull (find (IRISD_LANE_STRICT, "a", TRUE));
  ck_assert_ptr_nonnull (find (IRISD_LANE_ANY, NULL, TRUE));
  ck_assert_uint_eq (pulls->len, 3 + IRISD_PULL_VICTIMS);
}

/* All others look as if they had gone; it is this node that has. */
TEST (a_node_that_is_cut_off_rescues_no_other)
{
  for (guint i = 0; i < N_NODES; i++)
    nodes[i].seen_us = 0;
  own.view.seen_us = now - IRISD_NODE_LIFE_US - 1;
  make ();
  ck_assert_uint_eq (count (IRISD_PULL_TO_RESCUE), 0);
  own.view.seen_us = now;
  make ();
  ck_assert_uint_eq (count (IRISD_PULL_TO_RESCUE), N_NODES - 1);
}

TEST (a_hungry_node_looks_sooner_again)
{
  make ();
  ck_assert_int_lt (irisd_pull_plan_get_next (plan, now), now + IRISD_PULL_ROUND_US);
  be_busy (20);
  make ();
  ck_assert_int_eq (irisd_pull_plan_get_next (plan, now), now + IRISD_PULL_ROUND_US);
}

/* How many victims a plan finds empty, made a round after the last one with the same map. */
static guint64
count_empty (void)
{
  guint64 before = looks (IRIS_STEAL_VERDICT_EMPTY);

  now += IRISD_PULL_ROUND_US;
  own.view.seen_us = now;
  map.serial++;
  make ();
  return looks (IRIS_STEAL_VERDICT_EMPTY) - before;
}

/* The map is some seconds old. */
TEST (what_the_last_message_told_counts_before_an_older_map)
{
  nodes[1].backlog = 1000;
  make ();
  guint64 before = count_empty ();
  irisd_pull_plan_note_delivered (plan, IRISD_LANE_SOFT, "b", 1, 0);
  ck_assert_uint_eq (count_empty (), before + 1);
  nodes[1].seen_us = now;
  ck_assert_uint_eq (count_empty (), before);
}

TEST_MAIN ("irisd-pull-plan", set_up, tear_down)
