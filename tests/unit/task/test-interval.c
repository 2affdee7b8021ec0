/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * Intervals: order, parents, errors and cancelling.
 */
#include "interval-notes.h"

#include <string.h>

/* --- order ------------------------------------------------------------------------------------ */

TEST (an_interval_starts_behind_the_ends_that_it_waits_for)
{
  begin ();
  for (guint i = 0; i < 4; i++)
    make (i);
  after (1, 0);
  after (2, 0);
  after (3, 1);
  after (3, 2);
  schedule_all (4);
  ck_assert (iris_interval_wait (notes[3].interval, NULL));
  ck_assert_uint_lt (notes[0].ended, notes[1].began);
  ck_assert_uint_lt (notes[0].ended, notes[2].began);
  ck_assert_uint_lt (notes[1].ended, notes[3].began);
  ck_assert_uint_lt (notes[2].ended, notes[3].began);
  end ();
}

TEST (an_edge_to_an_end_holds_back_the_end_alone)
{
  g_autoptr (GError) error = NULL;

  begin ();
  make_with (0, run_until_open);
  make (1);
  make (2);
  ck_assert (iris_interval_add_edge (notes[0].interval, IRIS_INTERVAL_END, notes[1].interval,
                                     IRIS_INTERVAL_END, IRIS_INTERVAL_EDGE_DEFAULT, &error));
  /* 2 waits for the start of 1, and may run while 1 has not ended. */
  ck_assert (iris_interval_add_edge (notes[1].interval, IRIS_INTERVAL_START, notes[2].interval,
                                     IRIS_INTERVAL_START, IRIS_INTERVAL_EDGE_DEFAULT, &error));
  schedule_all (3);
  ck_assert (iris_interval_wait (notes[2].interval, NULL));
  ck_assert_int_lt (iris_interval_get_state (notes[1].interval), IRIS_INTERVAL_DONE);
  core_test_gate_add (&is_open, 1);
  ck_assert (iris_interval_wait (notes[1].interval, NULL));
  ck_assert_int_eq (iris_interval_get_state (notes[0].interval), IRIS_INTERVAL_DONE);
  end ();
}

static gboolean
run_with_children (IrisInterval *interval, gpointer data, GError **error)
{
  gboolean good = run (interval, data, error);

  for (guint i = 1; good && i <= 10; i++)
    {
      make (i);
      good = iris_interval_set_parent (notes[i].interval, interval, error);
      iris_interval_schedule (notes[i].interval);
    }

  return good;
}

TEST (a_parent_ends_behind_its_children)
{
  begin ();
  make_with (0, run_with_children);
  make (11);
  after (11, 0);
  iris_interval_schedule (notes[11].interval);
  iris_interval_schedule (notes[0].interval);
  ck_assert (iris_interval_wait (notes[11].interval, NULL));
  for (guint i = 0; i <= 10; i++)
    {
      ck_assert_uint_lt (notes[0].began, i == 0 ? G_MAXUINT64 : notes[i].began);
      ck_assert_uint_lt (notes[i].ended, notes[11].began);
    }
  end ();
}

TEST (a_child_made_before_does_not_start_before_its_parent)
{
  begin ();
  for (guint i = 0; i < 3; i++)
    make (i);
  ck_assert (iris_interval_set_parent (notes[1].interval, notes[0].interval, NULL));
  iris_interval_schedule (notes[1].interval);
  after (0, 2);
  iris_interval_schedule (notes[0].interval);
  ck_assert_int_eq (iris_interval_get_state (notes[1].interval), IRIS_INTERVAL_WAITING);
  iris_interval_schedule (notes[2].interval);
  ck_assert (iris_interval_wait (notes[0].interval, NULL));
  ck_assert_uint_lt (notes[2].ended, notes[0].began);
  /* From the parent's start on, both may run at once. */
  ck_assert_uint_lt (notes[2].ended, notes[1].began);
  end ();
}

LOOP_TEST (a_chain_of_very_many_is_a_loop_and_no_recursion, 0, 2)
{
  const guint n = 100000 / CORE_TEST_FACTOR;
  g_autoptr (IrisInterval) first = NULL;
  g_autoptr (IrisInterval) last = NULL;

  begin ();
  first = iris_interval_new (graph, "first", run, &notes[0], drop);
  last = iris_interval_ref (first);
  for (guint i = 1; i < n; i++)
    {
      IrisInterval *next = iris_interval_new (graph, NULL, run, &notes[1], drop);

      ck_assert (iris_interval_add_after (next, last, NULL));
      iris_interval_schedule (next);
      iris_interval_unref (last);
      last = next;
    }
  if (_i == 0)
    iris_interval_schedule (first);
  else
    iris_interval_cancel (first);
  ck_assert_int_eq (iris_interval_wait (last, NULL), _i == 0);
  ck_assert_uint_eq (atomic_load (&notes[1].dropped), n - 1);
  g_clear_pointer (&first, iris_interval_unref);
  g_clear_pointer (&last, iris_interval_unref);
  end ();
}

/* --- errors ----------------------------------------------------------------------------------- */

TEST (an_error_flows_along_the_edges)
{
  static const IrisIntervalState expected[] = { IRIS_INTERVAL_FAILED, IRIS_INTERVAL_CANCELLED,
                                                IRIS_INTERVAL_CANCELLED, IRIS_INTERVAL_DONE,
                                                IRIS_INTERVAL_DONE };
  g_autoptr (GError) error = NULL;

  begin ();
  for (guint i = 0; i < 5; i++)
    make (i);
  notes[0].fails = TRUE;
  after (1, 0);
  after (2, 1);
  after (4, 3);
  ck_assert (iris_interval_add_edge (notes[2].interval, IRIS_INTERVAL_END, notes[4].interval,
                                     IRIS_INTERVAL_START, IRIS_INTERVAL_EDGE_ORDER_ONLY, &error));
  schedule_all (5);
  check_states (5, expected);
  ck_assert (!iris_interval_wait (notes[2].interval, &error));
  ck_assert (g_error_matches (error, G_IO_ERROR, G_IO_ERROR_FAILED));
  ck_assert_str_eq (error->message, "number 0 fails");
  end ();
}

TEST (a_child_that_fails_is_an_error_of_its_parent)
{
  static const IrisIntervalState expected[] = { IRIS_INTERVAL_FAILED, IRIS_INTERVAL_FAILED,
                                                IRIS_INTERVAL_DONE, IRIS_INTERVAL_CANCELLED };

  begin ();
  for (guint i = 0; i < 4; i++)
    make (i);
  ck_assert (iris_interval_set_parent (notes[1].interval, notes[0].interval, NULL));
  ck_assert (iris_interval_set_parent (notes[2].interval, notes[0].interval, NULL));
  after (3, 0);
  notes[1].fails = TRUE;
  schedule_all (4);
  check_states (4, expected);
  end ();
}

TEST (a_late_edge_from_a_failed_interval_brings_its_error)
{
  static const IrisIntervalState expected[] = { IRIS_INTERVAL_FAILED, IRIS_INTERVAL_CANCELLED };

  begin ();
  make (0);
  make (1);
  notes[0].fails = TRUE;
  iris_interval_schedule (notes[0].interval);
  iris_interval_graph_wait (graph);
  after (1, 0);
  iris_interval_schedule (notes[1].interval);
  check_states (2, expected);
  end ();
}

static gboolean
fail_silently (IrisInterval *interval, gpointer data, GError **error)
{
  return FALSE;
}

TEST (failing_without_a_reason_is_an_error_too)
{
  g_autoptr (GError) error = NULL;

  begin ();
  make_with (0, fail_silently);
  iris_interval_schedule (notes[0].interval);
  ck_assert (!iris_interval_wait (notes[0].interval, &error));
  ck_assert (g_error_matches (error, IRIS_INTERVAL_ERROR, IRIS_INTERVAL_ERROR_FAILED));
  end ();
}

/* --- cancelling ------------------------------------------------------------------------------- */

TEST (a_cancelled_interval_does_not_start_and_ends_in_its_turn)
{
  static const IrisIntervalState expected[] = { IRIS_INTERVAL_DONE, IRIS_INTERVAL_CANCELLED,
                                                IRIS_INTERVAL_CANCELLED };
  g_autoptr (GError) error = NULL;

  begin ();
  make_with (0, run_until_open);
  make (1);
  make (2);
  after (1, 0);
  after (2, 1);
  schedule_all (3);
  core_test_gate_wait (&entered, 1);
  iris_interval_cancel (notes[1].interval);
  ck_assert (iris_interval_is_cancelled (notes[1].interval));
  ck_assert_int_eq (iris_interval_get_state (notes[1].interval), IRIS_INTERVAL_WAITING);
  core_test_gate_add (&is_open, 1);
  check_states (3, expected);
  ck_assert (!iris_interval_wait (notes[2].interval, &error));
  ck_assert (g_error_matches (error, IRIS_INTERVAL_ERROR, IRIS_INTERVAL_ERROR_CANCELLED));
  ck_assert_ptr_nonnull (strstr (error->message, "n1"));
  end ();
}

TEST (an_interval_that_is_dropped_unscheduled_keeps_no_other_waiting)
{
  begin ();
  make (0);
  make (1);
  after (1, 0);
  iris_interval_schedule (notes[1].interval);
  g_clear_pointer (&notes[0].interval, iris_interval_unref);
  ck_assert (!iris_interval_wait (notes[1].interval, NULL));
  ck_assert_uint_eq (notes[0].dropped, 1);
  ck_assert_uint_eq (notes[0].began, 0);

  /* A family without a scheduled member. */
  make (2);
  make (3);
  ck_assert (iris_interval_set_parent (notes[3].interval, notes[2].interval, NULL));
  g_clear_pointer (&notes[2].interval, iris_interval_unref);
  g_clear_pointer (&notes[3].interval, iris_interval_unref);
  iris_interval_graph_wait (graph);
  ck_assert_uint_eq (notes[2].dropped + notes[3].dropped, 2);
  end ();
}

/* A net of which one interval is cancelled, each in its turn, before and while it runs. */
TEST (whichever_interval_is_cancelled_every_end_happens_once)
{
  enum
  {
    N = 40
  };

  for (guint victim = 0; victim < 2 * N; victim++)
    {
      begin ();
      for (guint i = 0; i < N; i++)
        {
          make (i);
          if (i >= 1)
            after (i, i / 2);
          if (i >= 7)
            after (i, i - 7);
          if (i % 5 == 4)
            ck_assert (iris_interval_set_parent (notes[i].interval, notes[i - 1].interval, NULL)
                       || i < 7);
        }
      if (victim < N)
        iris_interval_cancel (notes[victim].interval);
      schedule_all (N);
      iris_interval_cancel (notes[victim % N].interval);
      iris_interval_graph_wait (graph);
      for (guint i = 0; i < N; i++)
        {
          IrisIntervalState state = iris_interval_get_state (notes[i].interval);

          ck_assert_uint_eq (notes[i].dropped, 1);
          ck_assert_int_ge (state, IRIS_INTERVAL_DONE);
          ck_assert_int_eq (notes[i].began == 0, state == IRIS_INTERVAL_CANCELLED);
        }
      if (victim < N)
        ck_assert_uint_eq (notes[victim].began, 0);
      end ();
    }
}

LOOP_TEST (intervals_of_a_scheduler_that_was_shut_down_are_cancelled, 0, 2)
{
  static const IrisIntervalState expected[] = { IRIS_INTERVAL_CANCELLED, IRIS_INTERVAL_CANCELLED };
  g_autoptr (GError) error = NULL;

  begin ();
  iris_scheduler_shutdown (scheduler, _i == 0 ? IRIS_SHUTDOWN_DRAIN : IRIS_SHUTDOWN_CANCEL);
  make (0);
  make (1);
  after (1, 0);
  schedule_all (2);
  check_states (2, expected);
  ck_assert (!iris_interval_wait (notes[1].interval, &error));
  ck_assert (g_error_matches (error, IRIS_INTERVAL_ERROR, IRIS_INTERVAL_ERROR_CANCELLED));
  end ();
}

TEST_MAIN ("interval", NULL, NULL)
