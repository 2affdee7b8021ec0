/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * Intervals: cycles and other refusals, locks, places and pictures.
 */
#include "interval-notes.h"

#include <sched.h>
#include <string.h>

/* --- cycles and other refusals ---------------------------------------------------------------- */

TEST (an_edge_that_closes_a_cycle_is_refused_with_the_cycle)
{
  static const IrisIntervalState expected[] = { IRIS_INTERVAL_DONE, IRIS_INTERVAL_DONE,
                                                IRIS_INTERVAL_DONE };
  g_autoptr (GError) error = NULL;

  begin ();
  for (guint i = 0; i < 3; i++)
    make (i);
  after (1, 0);
  after (2, 1);
  ck_assert (!iris_interval_add_after (notes[0].interval, notes[2].interval, &error));
  ck_assert (g_error_matches (error, IRIS_INTERVAL_ERROR, IRIS_INTERVAL_ERROR_CYCLE));
  ck_assert_str_eq (error->message,
                    "The edge from the end of “n2” to the start of “n0” would close a cycle: "
                    "“n0”.start → “n0”.end → “n1”.start → “n1”.end → “n2”.start → “n2”.end → "
                    "“n0”.start");
  g_clear_error (&error);
  ck_assert (!iris_interval_add_after (notes[0].interval, notes[0].interval, &error));
  ck_assert (g_error_matches (error, IRIS_INTERVAL_ERROR, IRIS_INTERVAL_ERROR_CYCLE));
  g_clear_error (&error);
  ck_assert (!iris_interval_set_parent (notes[0].interval, notes[0].interval, &error));
  g_clear_error (&error);

  /* A child cannot wait for its parent's end. */
  ck_assert (iris_interval_set_parent (notes[1].interval, notes[2].interval, &error) == FALSE);
  g_clear_error (&error);
  /* What was refused has left nothing behind. */
  schedule_all (3);
  check_states (3, expected);
  end ();
}

TEST (a_long_cycle_is_named_in_part)
{
  g_autoptr (GError) error = NULL;

  begin ();
  for (guint i = 0; i < 100; i++)
    {
      make (i);
      if (i > 0)
        after (i, i - 1);
    }
  ck_assert (!iris_interval_add_after (notes[0].interval, notes[99].interval, &error));
  ck_assert_ptr_nonnull (strstr (error->message, "(176 more) → "));
  ck_assert_uint_lt (strlen (error->message), 1000);
  end ();
}

/* The oracle: which points lead to which. */
static gboolean leads[2 * N_MAX][2 * N_MAX];

static void
leads_add (guint n, guint from, guint to)
{
  for (guint i = 0; i < n; i++)
    if (i == from || leads[i][from])
      for (guint j = 0; j < n; j++)
        if (j == to || leads[to][j])
          leads[i][j] = TRUE;
}

LOOP_TEST (exactly_the_edges_that_close_cycles_are_refused, 0, 30)
{
  enum
  {
    N = 60
  };
  GRand *random = g_rand_new_with_seed ((guint32) _i + 1);
  guint n_refused = 0;

  begin ();
  memset (leads, 0, sizeof leads);
  for (guint i = 0; i < N; i++)
    {
      make (i);
      leads_add (2 * N, 2 * i, 2 * i + 1);
    }
  for (guint i = 0; i < 40 * N; i++)
    {
      guint from = (guint) g_rand_int_range (random, 0, 2 * N);
      guint to = (guint) g_rand_int_range (random, 0, 2 * N);
      gboolean good = from != to && !leads[to][from];
      guint child = from / 2, parent = to / 2;

      if (_i % 2 == 1 && g_rand_int_range (random, 0, 4) != 0 && from > to)
        continue;
      if (i % 8 == 0 && notes[child].interval->parent_serial == 0)
        {
          good = child != parent && !leads[2 * child][2 * parent]
                 && !leads[2 * parent + 1][2 * child + 1];
          ck_assert_int_eq (
              good, iris_interval_set_parent (notes[child].interval, notes[parent].interval, NULL));
          if (good)
            leads_add (2 * N, 2 * parent, 2 * child);
          from = 2 * child + 1;
          to = 2 * parent + 1;
        }
      else
        ck_assert_int_eq (
            good, iris_interval_add_edge (notes[from / 2].interval, (IrisIntervalPoint) (from % 2),
                                          notes[to / 2].interval, (IrisIntervalPoint) (to % 2),
                                          IRIS_INTERVAL_EDGE_DEFAULT, NULL));
      if (good)
        leads_add (2 * N, from, to);
      else
        n_refused++;
    }
  ck_assert_uint_gt (n_refused, 0);
  schedule_all (N);
  iris_interval_graph_wait (graph);
  for (guint i = 0; i < N; i++)
    for (guint j = 0; j < N; j++)
      if (leads[2 * i + 1][2 * j])
        ck_assert_uint_lt (notes[i].ended, notes[j].began);
  g_rand_free (random);
  end ();
}

TEST (an_edge_to_what_has_happened_is_refused)
{
  g_autoptr (GError) error = NULL;

  begin ();
  make (0);
  make (1);
  iris_interval_schedule (notes[0].interval);
  iris_interval_graph_wait (graph);
  ck_assert (!iris_interval_add_after (notes[0].interval, notes[1].interval, &error));
  ck_assert (g_error_matches (error, IRIS_INTERVAL_ERROR, IRIS_INTERVAL_ERROR_HAPPENED));
  ck_assert_ptr_nonnull (strstr (error->message, "has started"));
  g_clear_error (&error);
  ck_assert (!iris_interval_set_parent (notes[1].interval, notes[0].interval, &error));
  ck_assert (g_error_matches (error, IRIS_INTERVAL_ERROR, IRIS_INTERVAL_ERROR_HAPPENED));
  ck_assert_ptr_nonnull (strstr (error->message, "has ended"));
  g_clear_error (&error);
  iris_interval_schedule (notes[1].interval);
  ck_assert (iris_interval_wait (notes[1].interval, NULL));
  end ();
}

TEST (an_interval_has_one_parent_and_one_graph)
{
  g_autoptr (IrisIntervalGraph) other = NULL;
  g_autoptr (IrisInterval) foreign = NULL;
  g_autoptr (GError) error = NULL;

  begin ();
  other = iris_interval_graph_new (scheduler);
  foreign = iris_interval_new (other, "foreign", run, &notes[9], drop);
  for (guint i = 0; i < 3; i++)
    make (i);
  ck_assert (iris_interval_set_parent (notes[1].interval, notes[0].interval, &error));
  ck_assert (!iris_interval_set_parent (notes[1].interval, notes[2].interval, &error));
  ck_assert (g_error_matches (error, IRIS_INTERVAL_ERROR, IRIS_INTERVAL_ERROR_HAS_PARENT));
  g_clear_error (&error);
  ck_assert (!iris_interval_add_after (notes[1].interval, foreign, &error));
  ck_assert (g_error_matches (error, IRIS_INTERVAL_ERROR, IRIS_INTERVAL_ERROR_OTHER_GRAPH));
  schedule_all (3);
  g_clear_pointer (&foreign, iris_interval_unref);
  g_clear_object (&other);
  end ();
}

/* --- locks and places ------------------------------------------------------------------------- */

static guint64 shared[3];

static gboolean
run_with_locks (IrisInterval *interval, gpointer data, GError **error)
{
  Note *note = data;

  for (guint i = 0; i < 3; i++)
    if (i != note->number % 3)
      shared[i]++;

  return run (interval, data, error);
}

/* Each takes two of three locks, named in any order: philosophers. */
LOOP_TEST (intervals_take_their_locks_without_deadlock, 0, core_test_n_kinds)
{
  g_autoptr (IrisScheduler) own = core_test_make (&core_test_kinds[_i]);
  IrisLock *locks[3];

  begin ();
  g_object_unref (graph);
  graph = iris_interval_graph_new (own);
  memset (shared, 0, sizeof shared);
  for (guint i = 0; i < 3; i++)
    locks[i] = iris_lock_new ((IrisLockPolicy) i);
  for (guint i = 0; i < 300; i++)
    {
      make_with (i, run_with_locks);
      for (guint j = 0; j < 3; j++)
        if ((i + j) % 3 != i % 3 || i == 7)
          iris_interval_add_lock (notes[i].interval, locks[(i + (i % 2 ? 3 - j : j)) % 3]);
    }
  schedule_all (300);
  iris_interval_graph_wait (graph);
  for (guint i = 0; i < 3; i++)
    {
      ck_assert_uint_eq (shared[i], 200);
      ck_assert (iris_lock_try_acquire (locks[i]));
      iris_lock_release (locks[i]);
      ck_assert_int_eq (iris_interval_get_state (notes[i].interval), IRIS_INTERVAL_DONE);
    }
  /* An interval lets go of its graph a moment after its end. */
  iris_scheduler_shutdown (own, IRIS_SHUTDOWN_DRAIN);
  end ();
  for (guint i = 0; i < 3; i++)
    iris_lock_unref (locks[i]);
}

LOOP_TEST (an_interval_that_is_cancelled_in_line_for_a_lock_lets_go_of_the_others, 0, 2)
{
  g_autoptr (IrisLock) first = iris_lock_new (IRIS_LOCK_POLICY_ALWAYS);
  g_autoptr (IrisLock) second = iris_lock_new (IRIS_LOCK_POLICY_ALWAYS);

  begin ();
  make (0);
  iris_interval_add_lock (notes[0].interval, second);
  iris_interval_add_lock (notes[0].interval, first);
  iris_interval_add_lock (notes[0].interval, second);
  ck_assert_uint_eq (notes[0].interval->n_locks, 2);
  iris_lock_acquire (second);
  iris_interval_schedule (notes[0].interval);
  while (iris_lock_core_peek (&second->core) == NULL)
    sched_yield ();
  ck_assert (!iris_lock_try_acquire (first));
  iris_interval_cancel (notes[0].interval);
  if (_i == 1)
    iris_scheduler_shutdown (scheduler, IRIS_SHUTDOWN_CANCEL);
  iris_lock_release (second);
  ck_assert (!iris_interval_wait (notes[0].interval, NULL));
  ck_assert_uint_eq (notes[0].began, 0);
  ck_assert (iris_lock_try_acquire (first));
  ck_assert (iris_lock_try_acquire (second));
  iris_lock_release (first);
  iris_lock_release (second);
  end ();
}

TEST (an_interval_runs_at_its_place)
{
  g_autoptr (IrisPlaces) places = iris_places_new_unbound (3, 1);

  begin ();
  g_object_unref (graph);
  g_object_unref (scheduler);
  scheduler = iris_place_scheduler_new (places);
  graph = iris_interval_graph_new (scheduler);
  for (guint i = 0; i < 60; i++)
    {
      make (i);
      iris_interval_set_place (notes[i].interval, (gint) i % 3, IRIS_ITEM_STRICT);
      if (i > 0)
        after (i, i / 2);
    }
  schedule_all (60);
  iris_interval_graph_wait (graph);
  for (guint i = 0; i < 60; i++)
    ck_assert_int_eq (notes[i].place, (gint) i % 3);
  end ();
}

/* --- pictures --------------------------------------------------------------------------------- */

TEST (a_picture_shows_intervals_edges_and_states)
{
  g_autoptr (IrisInterval) odd = NULL;
  g_autofree char *dot = NULL;

  begin ();
  for (guint i = 0; i < 4; i++)
    make (i);
  odd = iris_interval_new (graph, "a \"quoted\\N\" <name>\nof two lines \xff\t", run, &notes[9],
                           drop);
  notes[0].fails = TRUE;
  after (1, 0);
  ck_assert (iris_interval_set_parent (notes[3].interval, notes[2].interval, NULL));
  ck_assert (iris_interval_add_edge (odd, IRIS_INTERVAL_START, notes[2].interval, IRIS_INTERVAL_END,
                                     IRIS_INTERVAL_EDGE_ORDER_ONLY, NULL));
  iris_interval_set_place (odd, 1, IRIS_ITEM_STRICT);
  schedule_all (2);
  iris_interval_graph_wait (graph);

  dot = iris_interval_graph_to_dot (graph);
  ck_assert (g_utf8_validate (dot, -1, NULL));
  ck_assert (g_str_has_prefix (dot, "digraph intervals {\n"));
  ck_assert (g_str_has_suffix (dot, "}\n"));
  ck_assert_ptr_nonnull (
      strstr (dot, "i1 [label=\"n0\", tooltip=\"failed\", fillcolor=\"salmon\"]"));
  ck_assert_ptr_nonnull (strstr (dot, "i2 [label=\"n1\", tooltip=\"cancelled\""));
  ck_assert_ptr_nonnull (strstr (dot, "i1 -> i2 [];"));
  ck_assert_ptr_nonnull (strstr (dot, "i4 -> i3 [style=dashed, arrowhead=odiamond];"));
  ck_assert_ptr_nonnull (
      strstr (dot, "i5 -> i3 [taillabel=\"start\" headlabel=\"end\" style=dotted ];"));
  ck_assert_ptr_nonnull (strstr (
      dot, "label=\"a \\\"quoted\\\\N\\\" <name>\\nof two lines \xef\xbf\xbd?\\nplace 1 only\""));

  /* What is gone is not drawn; it goes a moment after its end. */
  g_clear_pointer (&notes[1].interval, iris_interval_unref);
  do
    {
      sched_yield ();
      g_free (dot);
      dot = iris_interval_graph_to_dot (graph);
    }
  while (strstr (dot, "i2") != NULL);
  g_clear_pointer (&odd, iris_interval_unref);
  end ();
}

TEST_MAIN ("interval-edges", NULL, NULL)
