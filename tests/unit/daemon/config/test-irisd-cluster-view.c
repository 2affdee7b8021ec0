/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * What the gateways know of the other nodes of the cluster.
 */
#include "core-test-run.h"
#include "core-test-util.h"
#include "daemon/config/irisd-cluster-view.h"

#include <check.h>
#include <stdlib.h>
#include <string.h>

TEST (nodes_come_change_and_go)
{
  g_autoptr (IrisdClusterView) view = irisd_cluster_view_new ("a", 7);
  ck_assert_str_eq (irisd_cluster_view_get_own (view), "a");
  ck_assert_uint_eq (irisd_cluster_view_get_max_away (view), 7);
  ck_assert (irisd_cluster_view_is_empty (view));
  irisd_cluster_view_set_node (view, "b", (const char *const[]){ "resize", "rotate", NULL });
  ck_assert (!irisd_cluster_view_is_empty (view));
  ck_assert (irisd_cluster_view_has_node (view, "b"));
  ck_assert (!irisd_cluster_view_has_node (view, "a"));
  ck_assert (irisd_cluster_view_has_service (view, "rotate"));
  irisd_cluster_view_set_node (view, "b", (const char *const[]){ "resize", NULL });
  ck_assert (!irisd_cluster_view_has_service (view, "rotate"));
  g_autofree char *names = irisd_cluster_view_list_nodes (view);
  ck_assert_str_eq (names, "a, b");
  irisd_cluster_view_remove_node (view, "b");
  ck_assert (!irisd_cluster_view_has_service (view, "resize"));
  ck_assert (irisd_cluster_view_is_empty (view));
}

TEST (durable_items_are_refused_as_long_as_the_promise_is_less)
{
  g_autoptr (IrisdClusterView) view = irisd_cluster_view_new ("a", 7);
  ck_assert_ptr_null (irisd_cluster_view_get_refusal (view));
  irisd_cluster_view_set_refusal (view, "no sync");
  g_autofree char *why = irisd_cluster_view_get_refusal (view);
  ck_assert_str_eq (why, "no sync");
  irisd_cluster_view_set_refusal (view, NULL);
  ck_assert_ptr_null (irisd_cluster_view_get_refusal (view));
}

TEST (what_a_cluster_lacks_is_unknown_until_the_cluster_is_known)
{
  g_autoptr (IrisdClusterView) view = irisd_cluster_view_new ("a", 7);
  irisd_cluster_view_set_unknown (view, TRUE);
  ck_assert (irisd_cluster_view_is_unknown (view));
  irisd_cluster_view_set_unknown (view, FALSE);
  ck_assert (!irisd_cluster_view_is_unknown (view));
}

TEST (a_long_list_of_nodes_is_cut)
{
  g_autoptr (IrisdClusterView) view = irisd_cluster_view_new ("a", 7);
  for (guint i = 0; i < 100; i++)
    {
      g_autofree char *name = g_strdup_printf ("n%u", i);
      irisd_cluster_view_set_node (view, name, (const char *const[]){ NULL });
    }
  g_autofree char *names = irisd_cluster_view_list_nodes (view);
  ck_assert (g_str_has_suffix (names, " and 85 more"));
}

TEST (a_node_keeps_its_number)
{
  g_autoptr (IrisdClusterView) view = irisd_cluster_view_new ("a", 7);
  guint first = irisd_cluster_view_get_number (view, "b");
  ck_assert_uint_gt (first, 0);
  ck_assert_uint_ne (irisd_cluster_view_get_number (view, "c"), first);
  ck_assert_uint_eq (irisd_cluster_view_get_number (view, "b"), first);
  ck_assert_str_eq (irisd_cluster_view_get_name (view, first), "b");
  ck_assert_ptr_null (irisd_cluster_view_get_name (view, 0));
  ck_assert_ptr_null (irisd_cluster_view_get_name (view, 9));
  for (guint i = 0; i < IRISD_CLUSTER_MOST_NUMBERS; i++)
    {
      g_autofree char *name = g_strdup_printf ("n%u", i);
      irisd_cluster_view_get_number (view, name);
    }
  ck_assert_uint_eq (irisd_cluster_view_get_number (view, "one-too-many"), 0);
  ck_assert_uint_eq (irisd_cluster_view_get_number (view, "b"), first);
}

TEST_MAIN ("irisd-cluster-view", NULL, NULL)
