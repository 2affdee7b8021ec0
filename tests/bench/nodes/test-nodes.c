/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * The simulation of nodes: what it counts, that it repeats itself, and that its parts matter.
 */
#include "core-test-run.h"
#include "tests/bench/nodes/nodes-heap.h"
#include "tests/bench/nodes/nodes.h"

#include <glib/gstdio.h>
#include <string.h>

static NodesCosts costs;

static NodesOutcome
run_with (guint n_nodes, NodesLoad load, NodesWay way, guint64 seed)
{
  const NodesSetup setup = { .n_nodes = n_nodes,
                             .n_workers = 4,
                             .n_items = 20,
                             .run_us = 100000,
                             .seed = seed,
                             .load = load,
                             .way = way,
                             .costs = &costs };
  g_autoptr (GError) error = NULL;
  NodesOutcome outcome;

  ck_assert_msg (nodes_run (&setup, &outcome, &error), "%s", error != NULL ? error->message : "");
  return outcome;
}

static guint64
count_stolen (const NodesOutcome *outcome)
{
  guint64 n = 0;

  for (guint i = 0; i < IRISD_N_NODE_DISTANCES; i++)
    n += outcome->n_stolen[i];
  return n;
}

TEST (events_come_in_the_order_of_time_and_making)
{
  static const gint64 times[] = { 5, 3, 9, 3, 1, 9, 0, 3 };
  static const guint32 wanted[] = { 6, 4, 1, 3, 7, 0, 2, 5 };
  NodesHeap heap;
  NodesEvent event;

  nodes_heap_init (&heap);
  for (guint i = 0; i < G_N_ELEMENTS (times); i++)
    nodes_heap_push (&heap, times[i], 0, i, 0);
  for (guint i = 0; i < G_N_ELEMENTS (wanted); i++)
    {
      ck_assert (nodes_heap_pop (&heap, &event));
      ck_assert_uint_eq (event.a, wanted[i]);
    }
  ck_assert (!nodes_heap_pop (&heap, &event));
  nodes_heap_clear (&heap);
}

TEST (a_ring_keeps_its_order_while_it_grows)
{
  NodesRing ring = { 0 };
  guint32 in = 0, out = 0;

  for (guint i = 0; i < 1000; i++)
    {
      nodes_ring_push (&ring, in++);
      nodes_ring_push (&ring, in++);
      ck_assert_uint_eq (nodes_ring_pop (&ring), out++);
    }
  while (ring.length > 0)
    ck_assert_uint_eq (nodes_ring_pop (&ring), out++);
  ck_assert_uint_eq (in, out);
  g_free (ring.values);
}

TEST (the_same_seed_is_the_same_run)
{
  NodesOutcome a = run_with (20, NODES_BURSTS, NODES_STEALING, 7);
  NodesOutcome b = run_with (20, NODES_BURSTS, NODES_STEALING, 7);
  NodesOutcome c = run_with (20, NODES_BURSTS, NODES_STEALING, 8);

  ck_assert_double_eq (a.last, b.last);
  ck_assert_double_eq (a.median, b.median);
  ck_assert_double_eq (a.p99, b.p99);
  ck_assert_double_eq (a.messages, b.messages);
  ck_assert_double_eq (a.map_messages, b.map_messages);
  ck_assert_uint_eq (a.n_events, b.n_events);
  ck_assert_uint_eq (a.n_refused, b.n_refused);
  ck_assert_mem_eq (a.n_stolen, b.n_stolen, sizeof a.n_stolen);
  ck_assert_mem_eq (a.looks, b.looks, sizeof a.looks);
  ck_assert (a.last < c.last || a.last > c.last);
}

/* Its 200 items of 100 ms take 4 workers 5 s, and 40 workers half a second. */
TEST (stealing_shares_what_is_hinted_at_one_node)
{
  NodesOutcome alone = run_with (10, NODES_ONE, NODES_ALONE, 1);
  NodesOutcome stealing = run_with (10, NODES_ONE, NODES_STEALING, 1);

  ck_assert_double_ge (alone.last, 5);
  ck_assert_double_lt (alone.last, 5.5);
  ck_assert_uint_eq (count_stolen (&alone), 0);
  ck_assert_double_lt (stealing.last, alone.last / 2.4);
  ck_assert_uint_gt (count_stolen (&stealing), 100);
}

/* And where all have as much, hardly a thing is stolen. */
TEST (stealing_leaves_an_even_load_alone)
{
  NodesOutcome stealing = run_with (20, NODES_EVEN, NODES_STEALING, 1);
  NodesOutcome alone = run_with (20, NODES_EVEN, NODES_ALONE, 1);

  ck_assert_uint_lt (count_stolen (&stealing), stealing.n_items / 50);
  ck_assert_double_lt (stealing.last, alone.last * 1.05);
}

/* What it had in hand comes again when the lease is over; the rest when the node is gone, or back.
 */
TEST (what_a_dead_node_had_is_run_elsewhere)
{
  NodesOutcome stealing = run_with (10, NODES_DIES, NODES_STEALING, 1);
  NodesOutcome alone = run_with (10, NODES_DIES, NODES_ALONE, 1);

  ck_assert_uint_gt (stealing.n_again, 0);
  ck_assert_uint_gt (stealing.n_rescued, 0);
  ck_assert_double_lt (stealing.last, 62);
  ck_assert_double_gt (alone.last, 120);
}

/* 166 microseconds an item: one engine for all is what a large cluster waits for. */
TEST (a_central_queue_is_as_fast_as_its_engine)
{
  NodesOutcome central = run_with (1000, NODES_EVEN, NODES_CENTRAL, 1);
  NodesOutcome cells = run_with (1000, NODES_EVEN, NODES_STEALING, 1);

  ck_assert_uint_eq (central.n_cells, 1);
  ck_assert_uint_eq (cells.n_cells, 4);
  ck_assert_double_ge (central.last, 20000 * 166e-6);
  ck_assert_double_lt (cells.last, central.last / 2);
}

TEST (costs_come_from_a_file)
{
  g_autofree char *file = g_build_filename (g_get_tmp_dir (), "nodes-XXXXXX", NULL);
  g_autoptr (GError) error = NULL;
  NodesCosts loaded;
  int fd = g_mkstemp (file);

  ck_assert_int_ge (fd, 0);
  ck_assert (g_file_set_contents (file, "[costs]\nend=1000\n", -1, NULL));
  ck_assert (nodes_costs_load (&loaded, file, &error));
  ck_assert_double_eq (loaded.values[NODES_COST_end], 1000);
  ck_assert_double_eq (loaded.values[NODES_COST_publish], costs.values[NODES_COST_publish]);
  ck_assert (g_file_set_contents (file, "[costs]\nends=1000\n", -1, NULL));
  ck_assert (!nodes_costs_load (&loaded, file, &error));
  g_clear_error (&error);
  ck_assert (g_file_set_contents (file, "[costs]\nmap=0\n", -1, NULL));
  ck_assert (!nodes_costs_load (&loaded, file, &error));
  g_close (fd, NULL);
  g_unlink (file);
}

static void
set_up (void)
{
  nodes_costs_init (&costs);
}

TEST_MAIN ("nodes", set_up, NULL)
