/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * The cost of a move, by distance, and the threshold that follows.
 */
#include "core-test-run.h"
#include "daemon/cluster/policy/irisd-move-cost.h"

#define MS G_GUINT64_CONSTANT (1000000)

static guint64
threshold (IrisdNodeDistance distance, guint n_workers, guint64 run_ns, guint64 bytes)
{
  const IrisdNodeView victim = {
    .name = "v", .n_workers = n_workers, .mean_run_ns = run_ns, .mean_bytes = bytes
  };

  return irisd_move_cost_get_threshold (distance, &victim);
}

/* 3.7 ms are 14.8 items of 1 ms at 4 workers. */
TEST (the_threshold_is_what_drains_in_the_time_of_a_move)
{
  ck_assert_uint_eq (threshold (IRISD_NODE_RACK, 4, MS, 0), 15);
  ck_assert_uint_eq (threshold (IRISD_NODE_RACK, 8, MS, 0), 30);
  ck_assert_uint_eq (threshold (IRISD_NODE_RACK, 4, MS / 10, 0), 148);
}

TEST (a_node_further_away_needs_a_larger_backlog)
{
  ck_assert_uint_eq (threshold (IRISD_NODE_ZONE, 4, MS, 0), 30);
  ck_assert_uint_eq (threshold (IRISD_NODE_FAR, 4, MS, 0), 60);
}

/* 1,200,000 bytes take 100 ms. */
TEST (large_bodies_need_a_larger_backlog)
{
  ck_assert_uint_eq (threshold (IRISD_NODE_RACK, 4, MS, 1200000), 415);
}

TEST (long_items_never_make_a_thief_compete_with_the_owner)
{
  ck_assert_uint_eq (threshold (IRISD_NODE_RACK, 4, 1000 * MS, 0), IRISD_LEAST_THRESHOLD);
}

TEST (an_unknown_run_time_is_that_of_a_move)
{
  ck_assert_uint_eq (threshold (IRISD_NODE_RACK, 4, 0, 0), 4);
  ck_assert_uint_eq (threshold (IRISD_NODE_RACK, 0, 0, 0), IRISD_LEAST_THRESHOLD);
}

TEST_MAIN ("irisd-move-cost", NULL, NULL)
