/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * What the policy is told of this node and of the others, and when the others are told at once.
 */
#include "core-test-run.h"
#include "daemon/cluster/bridge/irisd-bridge-plan.h"

#define NOW (100 * G_USEC_PER_SEC)

/* What the plan asked for at b, and whether it has been withdrawn. */
typedef struct
{
  guint n_changes;
  IrisdBridgePull last;
} Pulls;

static IrisdBridgePlan *plan;
static IrisdNode *own, *other;
static IrisdBridgeLoad load;
static Pulls pulls;

static IrisdNode *
make_node (const char *name)
{
  IrisdNode *node = irisd_node_new ();

  node->name = g_strdup (name);
  node->services = g_strsplit ("echo sha256", " ", -1);
  irisd_node_set_n_places (node, 1);
  node->places[0].name = g_strdup ("all");
  node->places[0].workers = 2;
  node->load.known = TRUE;
  return node;
}

static void
set_up (void)
{
  plan = irisd_bridge_plan_new ("a", 2, 8, 0);
  own = make_node ("a");
  other = make_node ("b");
  load = (IrisdBridgeLoad){ .mean_run_ns = 1000000 };
  pulls = (Pulls){ 0 };
}

static void
tear_down (void)
{
  irisd_bridge_plan_free (plan);
  irisd_node_unref (own);
  irisd_node_unref (other);
}

static void
on_pull (const IrisdBridgePull *pull, gpointer user_data)
{
  ck_assert_str_eq (pull->node, "b");
  pulls.n_changes++;
  pulls.last = *pull;
}

static void
make_plan (gint64 now)
{
  g_autoptr (IrisdMembers) members = irisd_members_new ("a", 2);

  members->members[0] = (IrisdMember){ .name = g_strdup ("a"),
                                       .state = IRISD_MEMBER_HERE,
                                       .heard_us = now,
                                       .node = irisd_node_ref (own) };
  members->members[1] = (IrisdMember){ .name = g_strdup ("b"),
                                       .state = IRISD_MEMBER_HERE,
                                       .heard_us = now,
                                       .node = irisd_node_ref (other) };
  irisd_members_make_views (members);
  irisd_bridge_plan_set_members (plan, members);
  irisd_bridge_plan_make (plan, &load, now, on_pull, NULL);
}

/* The bucket has the entry, with what waits now. */
static void
be_told (guint64 pending, gint64 now)
{
  own->load.pending = pending;
  irisd_bridge_plan_note_told (plan, own, now);
}

/* Of a victim with items of 1 ms the threshold follows from its own mean, not from the thief's. */
TEST (what_the_victim_tells_decides_the_threshold)
{
  be_told (0, NOW);
  other->load.pending = 1000;
  other->load.mean_run_ns = 1000000;
  make_plan (NOW);
  ck_assert_uint_gt (pulls.n_changes, 0);
  ck_assert (!pulls.last.drop && !pulls.last.rescue);
  guint64 quick = pulls.last.min_pending;
  other->load.mean_run_ns = 1000000000;
  make_plan (NOW + G_USEC_PER_SEC);
  ck_assert_uint_gt (quick, 2 * pulls.last.min_pending);
}

TEST (a_node_without_a_confirmed_entry_takes_nothing_from_others)
{
  other->load.pending = 1000;
  make_plan (NOW);
  ck_assert_uint_eq (pulls.n_changes, 0);
  be_told (0, NOW);
  make_plan (NOW + 1);
  ck_assert_uint_eq (pulls.n_changes, 1);
  /* Its puts fail: it may be cut off. */
  make_plan (NOW + IRISD_NODE_LIFE_US + 1);
  ck_assert (pulls.last.drop);
}

TEST (local_items_that_wait_keep_a_node_from_stealing)
{
  be_told (0, NOW);
  other->load.pending = 1000;
  load.host = (IrisdHostLoad){ .running = 2, .backlog = 3 };
  make_plan (NOW);
  ck_assert_uint_eq (pulls.n_changes, 0);
  load.host = (IrisdHostLoad){ .running = 1 };
  make_plan (NOW + G_USEC_PER_SEC);
  ck_assert_uint_eq (pulls.n_changes, 1);
}

/* They are in irisd's backlog, too, and no local items for that. */
TEST (guests_that_run_do_not_end_stealing)
{
  be_told (0, NOW);
  other->load.pending = 1000;
  make_plan (NOW);
  ck_assert_uint_eq (pulls.n_changes, 1);
  load.n_guests = 5;
  load.host = (IrisdHostLoad){ .running = 2, .backlog = 5 };
  make_plan (NOW + G_USEC_PER_SEC);
  ck_assert (!pulls.last.drop);
  /* One more is local. */
  load.host.backlog = 6;
  make_plan (NOW + 2 * G_USEC_PER_SEC);
  ck_assert (pulls.last.drop);
}

TEST (a_node_at_a_limit_takes_nothing_from_others)
{
  be_told (0, NOW);
  other->load.pending = 1000;
  load.host = (IrisdHostLoad){ .memory_used = 100, .memory_limit = 100 };
  make_plan (NOW);
  ck_assert_uint_eq (pulls.n_changes, 0);
  load.host = (IrisdHostLoad){ .disk_full = TRUE };
  make_plan (NOW + G_USEC_PER_SEC);
  ck_assert_uint_eq (pulls.n_changes, 0);
  load.host = (IrisdHostLoad){ .memory_limit = 100 };
  make_plan (NOW + 2 * G_USEC_PER_SEC);
  ck_assert_uint_eq (pulls.n_changes, 1);
}

/* As those of places. */
TEST (what_is_refused_is_counted)
{
  IrisdClusterCounts counts = { 0 };

  be_told (0, NOW);
  other->load.pending = 1;
  other->load.mean_run_ns = 1000000;
  make_plan (NOW);
  irisd_bridge_plan_add_counts (plan, &counts);
  ck_assert_uint_eq (counts.n_refused[0], 1); /* for its backlog */
  /* It has a service that is not here. */
  g_strfreev (other->services);
  other->services = g_strsplit ("echo forge sha256", " ", -1);
  other->load.pending = 1000;
  make_plan (NOW + G_USEC_PER_SEC);
  irisd_bridge_plan_add_counts (plan, &counts);
  ck_assert_uint_eq (counts.n_refused[0], 1);
  ck_assert_uint_eq (counts.n_refused[3], 1);
}

/* The pull has a window, which counts what is open besides what is asked for now. */
TEST (what_came_is_asked_for_again)
{
  be_told (0, NOW);
  other->load.pending = 1000;
  make_plan (NOW);
  guint first = pulls.last.n_open;
  ck_assert_uint_gt (first, 2);
  for (guint i = 0; i < first - 1; i++)
    irisd_bridge_plan_note_delivered (plan, "b", 900);
  make_plan (NOW + G_USEC_PER_SEC);
  ck_assert_uint_eq (pulls.n_changes, 2);
  ck_assert_uint_eq (pulls.last.n_open, first);
}

TEST (a_burst_is_news_four_times_a_second_at_most)
{
  load.n_pending = 100;
  ck_assert (!irisd_bridge_plan_is_news (plan, &load, NOW)); /* nothing was told yet */
  be_told (0, NOW);
  ck_assert (!irisd_bridge_plan_is_news (plan, &load, NOW + IRISD_NODE_NEWS_US - 1));
  ck_assert (irisd_bridge_plan_is_news (plan, &load, NOW + IRISD_NODE_NEWS_US));
  /* The put of that is on its way. */
  ck_assert (!irisd_bridge_plan_is_news (plan, &load, NOW + IRISD_NODE_NEWS_US + 1));
  be_told (100, NOW + IRISD_NODE_NEWS_US + 2);
  ck_assert (!irisd_bridge_plan_is_news (plan, &load, NOW + 3 * IRISD_NODE_NEWS_US));
  load.n_pending = 201;
  ck_assert (irisd_bridge_plan_is_news (plan, &load, NOW + 3 * IRISD_NODE_NEWS_US));
  load.n_pending = 0;
  load.host.disk_full = TRUE;
  ck_assert (irisd_bridge_plan_is_news (plan, &load, NOW + 5 * IRISD_NODE_NEWS_US));
  own->load.full = TRUE;
  be_told (0, NOW + 5 * IRISD_NODE_NEWS_US);
  ck_assert (!irisd_bridge_plan_is_news (plan, &load, NOW + 7 * IRISD_NODE_NEWS_US));
}

TEST (what_has_ended_and_what_runs_has_begun)
{
  IrisdNodeLoad told;

  load = (IrisdBridgeLoad){ .n_guests = 5,
                            .n_ended = 10,
                            .n_pending = 7,
                            .mean_run_ns = 3,
                            .mean_bytes = 4,
                            .host = { .running = 2, .memory_used = 1, .memory_limit = 2 } };
  irisd_bridge_plan_describe (plan, &load, &told);
  ck_assert (told.known && !told.full);
  ck_assert_uint_eq (told.pending, 7);
  ck_assert_uint_eq (told.begun, 12);
  ck_assert_uint_eq (told.mean_run_ns, 3);
  ck_assert_uint_eq (told.mean_bytes, 4);
  load.host.memory_used = 2;
  irisd_bridge_plan_describe (plan, &load, &told);
  ck_assert (told.full);
}

TEST_MAIN ("irisd-bridge-plan", set_up, tear_down)
