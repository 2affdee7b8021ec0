/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * What a node knows of others: distances by labels, standing by age, services, lots.
 */
#include "core-test-run.h"
#include "daemon/cluster/policy/irisd-node-view.h"

static const char *const all[] = { "command", "echo", "sha256", NULL };
static const char *const few[] = { "echo", "sha256", NULL };
static const char *const other[] = { "echo", "render", NULL };

static IrisdNodeDistance
distance (const char *rack_a, const char *zone_a, const char *rack_b, const char *zone_b)
{
  const IrisdNodeView a = { .name = "a", .rack = rack_a, .zone = zone_a };
  const IrisdNodeView b = { .name = "b", .rack = rack_b, .zone = zone_b };

  ck_assert_int_eq (irisd_node_view_get_distance (&b, &a), irisd_node_view_get_distance (&a, &b));
  return irisd_node_view_get_distance (&a, &b);
}

TEST (labels_give_the_distance)
{
  const IrisdNodeView a = { .name = "a" };

  ck_assert_int_eq (irisd_node_view_get_distance (&a, &a), IRISD_NODE_SELF);
  ck_assert_int_eq (distance ("r", "z", "r", "z"), IRISD_NODE_RACK);
  ck_assert_int_eq (distance ("r", "z", "s", "z"), IRISD_NODE_ZONE);
  ck_assert_int_eq (distance ("r", "z", "s", "y"), IRISD_NODE_FAR);
  ck_assert_int_eq (distance ("r", NULL, "r", NULL), IRISD_NODE_RACK);
}

TEST (a_rack_is_one_of_its_zone)
{
  ck_assert_int_eq (distance ("1", "z", "1", "y"), IRISD_NODE_FAR);
  ck_assert_int_eq (distance ("1", "z", "1", NULL), IRISD_NODE_FAR);
}

TEST (labels_that_are_not_said_are_not_equal)
{
  ck_assert_int_eq (distance (NULL, NULL, NULL, NULL), IRISD_NODE_FAR);
  ck_assert_int_eq (distance (NULL, "z", NULL, "z"), IRISD_NODE_ZONE);
}

TEST (an_entry_that_is_not_renewed_is_gone)
{
  IrisdNodeView node = { .name = "a", .seen_us = 1000 };

  ck_assert_int_eq (irisd_node_view_get_standing (&node, 1000 + IRISD_NODE_LIFE_US),
                    IRISD_NODE_ALIVE);
  ck_assert_int_eq (irisd_node_view_get_standing (&node, 1001 + IRISD_NODE_LIFE_US),
                    IRISD_NODE_GONE);
  node.draining = TRUE;
  ck_assert_int_eq (irisd_node_view_get_standing (&node, 1000), IRISD_NODE_DRAINING);
  ck_assert_int_eq (irisd_node_view_get_standing (&node, 1001 + IRISD_NODE_LIFE_US),
                    IRISD_NODE_GONE);
  node.removed = TRUE;
  ck_assert_int_eq (irisd_node_view_get_standing (&node, 1000), IRISD_NODE_REMOVED);
}

TEST (a_node_replaces_one_that_has_no_more_services)
{
  const IrisdNodeView a = { .name = "a", .services = all };
  const IrisdNodeView b = { .name = "b", .services = few };
  const IrisdNodeView c = { .name = "c", .services = other };
  const IrisdNodeView unknown = { .name = "d" };

  ck_assert (irisd_node_view_can_replace (&a, &b));
  ck_assert (!irisd_node_view_can_replace (&b, &a));
  ck_assert (!irisd_node_view_can_replace (&a, &c));
  ck_assert (irisd_node_view_can_replace (&unknown, &a));
  ck_assert (!irisd_node_view_can_replace (&a, &unknown));
  ck_assert (irisd_node_view_has_service (&unknown, "render"));
  ck_assert (!irisd_node_view_has_service (&a, "render"));
}

TEST (a_burst_is_told_at_once_and_not_again)
{
  IrisdNodeView told = { .name = "a", .n_workers = 4, .seen_us = 1000 };
  IrisdNodeView now = told;
  gint64 due = 1000 + IRISD_NODE_NEWS_US;

  now.backlog = 8;
  ck_assert (!irisd_node_view_is_news (&now, &told, due));
  now.backlog = 9;
  ck_assert (irisd_node_view_is_news (&now, &told, due));
  ck_assert (!irisd_node_view_is_news (&now, &told, due - 1));
  told.backlog = 5;
  ck_assert (!irisd_node_view_is_news (&now, &told, due));
  now.draining = TRUE;
  ck_assert (irisd_node_view_is_news (&now, &told, due));
  now.draining = FALSE;
  told.full = TRUE;
  ck_assert (irisd_node_view_is_news (&now, &told, due));
}

/* Names that differ in the last digit, as names of nodes do, and a choice of three. */
TEST (lots_are_spread_and_change_with_the_round)
{
  guint counts[3] = { 0 }, n_same = 0;

  for (guint i = 0; i < 300; i++)
    {
      g_autofree char *name = g_strdup_printf ("node-%u", i);
      guint64 lot = irisd_node_lot (name, "victim", 1);

      ck_assert_uint_eq (lot, irisd_node_lot (name, "victim", 1));
      counts[lot % 3]++;
      n_same += lot % 3 == irisd_node_lot (name, "victim", 2) % 3;
    }
  for (guint i = 0; i < 3; i++)
    {
      ck_assert_uint_gt (counts[i], 70);
      ck_assert_uint_lt (counts[i], 130);
    }
  ck_assert_uint_lt (n_same, 150);
}

TEST_MAIN ("irisd-node-view", NULL, NULL)
