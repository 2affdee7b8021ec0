/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * Where an item goes that is submitted here.
 */
#include "core-test-run.h"
#include "daemon/cluster/policy/irisd-item-route.h"

#define NOW (100 * G_USEC_PER_SEC)

static const char *const usual[] = { "echo", "sha256", NULL };
static const char *const renders[] = { "echo", "render", "sha256", NULL };

/* The own one first, in the map too. */
static IrisdNodeView nodes[4];
static IrisdOwnNode own;
static const char *node;

static void
set_up (void)
{
  static const char *const names[] = { "a", "b", "c", "d" };

  for (guint i = 0; i < G_N_ELEMENTS (nodes); i++)
    nodes[i] = (IrisdNodeView){
      .name = names[i], .n_workers = 4, .seen_us = NOW, .services = usual, .mean_run_ns = 1000
    };
}

static IrisdItemRoute
route_by (IrisdItemWish wish)
{
  const IrisdNodeMap map = { nodes, G_N_ELEMENTS (nodes), 1 };

  own.view = nodes[0];
  if (wish.service == NULL)
    wish.service = "echo";
  return irisd_item_route_choose (&own, &map, &wish, NOW, &node);
}

static IrisdItemRoute
route (const char *name, gboolean strict)
{
  return route_by ((IrisdItemWish){ .node = name, .strict = strict });
}

TEST (an_item_without_a_hint_stays_here)
{
  ck_assert_int_eq (route (NULL, FALSE), IRISD_ITEM_LOCAL);
}

TEST (a_hint_on_the_own_node_stays_here)
{
  ck_assert_int_eq (route ("a", FALSE), IRISD_ITEM_LOCAL);
  ck_assert_int_eq (route ("a", TRUE), IRISD_ITEM_LOCAL);
}

TEST (any_node_is_for_all)
{
  ck_assert_int_eq (route_by ((IrisdItemWish){ .any_node = TRUE }), IRISD_ITEM_ANY);
  ck_assert_ptr_null (node);
}

TEST (a_hint_goes_to_its_node)
{
  ck_assert_int_eq (route ("c", FALSE), IRISD_ITEM_SOFT);
  ck_assert_str_eq (node, "c");
  ck_assert_int_eq (route ("c", TRUE), IRISD_ITEM_STRICT);
  ck_assert_str_eq (node, "c");
}

TEST (a_node_that_the_cluster_does_not_know_is_refused)
{
  ck_assert_int_eq (route ("x", FALSE), IRISD_ITEM_NO_NODE);
  ck_assert_int_eq (route ("x", TRUE), IRISD_ITEM_NO_NODE);
}

TEST (a_soft_hint_leaves_a_node_out_that_takes_nothing)
{
  nodes[1].draining = TRUE;
  nodes[2].seen_us = NOW - IRISD_NODE_LIFE_US - 1;
  nodes[3].removed = TRUE;
  for (guint i = 1; i < 4; i++)
    {
      ck_assert_int_eq (route (nodes[i].name, FALSE), IRISD_ITEM_ANY);
      ck_assert_ptr_null (node);
    }
}

TEST (a_strict_hint_waits_for_its_node_unless_that_left_for_good)
{
  nodes[1].draining = TRUE;
  nodes[2].seen_us = NOW - IRISD_NODE_LIFE_US - 1;
  nodes[3].removed = TRUE;
  ck_assert_int_eq (route ("b", TRUE), IRISD_ITEM_STRICT);
  ck_assert_int_eq (route ("c", TRUE), IRISD_ITEM_STRICT);
  ck_assert_int_eq (route ("d", TRUE), IRISD_ITEM_NO_NODE);
}

TEST (a_service_that_only_one_other_has_goes_there)
{
  nodes[2].services = renders;
  ck_assert_int_eq (route_by ((IrisdItemWish){ .service = "render" }), IRISD_ITEM_SOFT);
  ck_assert_str_eq (node, "c");
  /* A hint that cannot be kept, and any-node, end there too: ANY would give it to nodes without. */
  ck_assert_int_eq (route_by ((IrisdItemWish){ .service = "render", .node = "b" }),
                    IRISD_ITEM_SOFT);
  ck_assert_str_eq (node, "c");
  ck_assert_int_eq (route_by ((IrisdItemWish){ .service = "render", .any_node = TRUE }),
                    IRISD_ITEM_SOFT);
  ck_assert_str_eq (node, "c");
}

TEST (a_service_that_all_others_have_goes_to_one_of_them)
{
  nodes[1].services = nodes[2].services = nodes[3].services = renders;
  ck_assert_int_eq (route_by ((IrisdItemWish){ .service = "render" }), IRISD_ITEM_SOFT);
  nodes[0].draining = TRUE;
  ck_assert_int_eq (route_by ((IrisdItemWish){ .service = "render" }), IRISD_ITEM_ANY);
}

TEST (of_two_drawn_the_one_that_drains_sooner_is_taken)
{
  guint n[4] = { 0 };

  for (guint i = 1; i < 4; i++)
    nodes[i].services = renders;
  nodes[1].backlog = 1000;
  nodes[2].backlog = 10;
  for (guint64 i = 0; i < 300; i++)
    {
      guint64 lot = irisd_node_lot ("a", "lot", i);

      ck_assert_int_eq (route_by ((IrisdItemWish){ .service = "render", .lot = lot }),
                        IRISD_ITEM_SOFT);
      n[node[0] - 'a']++;
    }
  /* The longest is never the better of two; the shortest is in two pairs of three. */
  ck_assert_uint_eq (n[1], 0);
  ck_assert_uint_gt (n[2], 60);
  ck_assert_uint_gt (n[3], 150);
}

TEST (a_node_at_a_limit_is_the_last_choice)
{
  nodes[1].services = nodes[2].services = renders;
  nodes[1].full = TRUE;
  nodes[2].backlog = 1000000;
  for (guint64 lot = 0; lot < 8; lot++)
    {
      route_by ((IrisdItemWish){ .service = "render", .lot = lot });
      ck_assert_str_eq (node, "c");
    }
}

TEST (a_service_that_is_nowhere_is_refused)
{
  ck_assert_int_eq (route_by ((IrisdItemWish){ .service = "render" }), IRISD_ITEM_NO_SERVICE);
  nodes[2].services = renders;
  nodes[2].seen_us = NOW - IRISD_NODE_LIFE_US - 1;
  ck_assert_int_eq (route_by ((IrisdItemWish){ .service = "render" }), IRISD_ITEM_NO_SERVICE);
}

TEST (what_only_some_have_stays_where_it_is_one_of_them)
{
  nodes[0].services = nodes[1].services = renders;
  ck_assert_int_eq (route_by ((IrisdItemWish){ .service = "render", .any_node = TRUE }),
                    IRISD_ITEM_LOCAL);
}

TEST_MAIN ("irisd-item-route", set_up, NULL)
