/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * Intervals: order, parents, errors, cancelling, cycles, locks, places and pictures.
 */
#include "core-test-util.h"

#include <iris/task/iris-interval-private.h>

#include <gio/gio.h>
#include <sched.h>
#include <string.h>

#define N_MAX 400

/* What the intervals of a test note. The clock is an atomic count. */
typedef struct
{
  guint number;
  _Atomic guint64 began; /* 0: it did not start */
  _Atomic guint64 ended;
  _Atomic guint dropped; /* how often notify was called */
  gint place;
  gboolean fails;
  IrisInterval *interval;
} Note;

static Note notes[N_MAX];
static _Atomic guint64 ticks;
static IrisScheduler *scheduler;
static IrisIntervalGraph *graph;
static CoreTestGate open = CORE_TEST_GATE_INIT, entered = CORE_TEST_GATE_INIT;

static void
begin (void)
{
  scheduler = iris_wsscheduler_new_full (3, 3);
  graph = iris_interval_graph_new (scheduler);
  atomic_store (&ticks, 0);
  core_test_gate_close (&open);
  core_test_gate_close (&entered);
  for (guint i = 0; i < N_MAX; i++)
    notes[i] = (Note){ .number = i };
}

/* Everything is gone, and every notify was called once. */
static void
end (void)
{
  iris_interval_graph_wait (graph);
  for (guint i = 0; i < N_MAX; i++)
    g_clear_pointer (&notes[i].interval, iris_interval_unref);
  iris_interval_graph_wait (graph);
  iris_scheduler_shutdown (scheduler, IRIS_SHUTDOWN_DRAIN);
  g_assert_finalize_object (graph);
  g_assert_finalize_object (scheduler);
}

static gboolean
run (IrisInterval *interval, gpointer data, GError **error)
{
  Note *note = data;

  atomic_store (&note->began, atomic_fetch_add (&ticks, 1) + 1);
  note->place = iris_worker_get_place (iris_worker_current ());
  atomic_store (&note->ended, atomic_fetch_add (&ticks, 1) + 1);
  if (!note->fails)
    return TRUE;
  g_set_error (error, G_IO_ERROR, G_IO_ERROR_FAILED, "number %u fails", note->number);

  return FALSE;
}

static gboolean
run_until_open (IrisInterval *interval, gpointer data, GError **error)
{
  core_test_gate_add (&entered, 1);
  core_test_gate_wait (&open, 1);

  return run (interval, data, error);
}

static void
drop (gpointer data)
{
  atomic_fetch_add (&((Note *) data)->dropped, 1);
}

static IrisInterval *
make_with (guint number, IrisIntervalFunc func)
{
  g_autofree char *name = g_strdup_printf ("n%u", number);

  notes[number].interval = iris_interval_new (graph, name, func, &notes[number], drop);

  return notes[number].interval;
}

static IrisInterval *
make (guint number)
{
  return make_with (number, run);
}

static void
after (guint later, guint earlier)
{
  g_autoptr (GError) error = NULL;

  ck_assert (iris_interval_add_after (notes[later].interval, notes[earlier].interval, &error));
  ck_assert_ptr_null (error);
}

static void
schedule_all (guint n)
{
  for (guint i = n; i-- > 0;)
    iris_interval_schedule (notes[i].interval);
}

static void
check_states (guint n, const IrisIntervalState *expected)
{
  iris_interval_graph_wait (graph);
  for (guint i = 0; i < n; i++)
    {
      ck_assert_msg (iris_interval_get_state (notes[i].interval) == expected[i],
                     "n%u is in state %d, not %d", i, iris_interval_get_state (notes[i].interval),
                     expected[i]);
      ck_assert_uint_eq (atomic_load (&notes[i].dropped), 1);
      ck_assert_int_eq (atomic_load (&notes[i].began) == 0, expected[i] == IRIS_INTERVAL_CANCELLED);
    }
}

/* --- order ------------------------------------------------------------------------------------ */

START_TEST (an_interval_starts_behind_the_ends_that_it_waits_for)
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
END_TEST

START_TEST (an_edge_to_an_end_holds_back_the_end_alone)
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
  core_test_gate_add (&open, 1);
  ck_assert (iris_interval_wait (notes[1].interval, NULL));
  ck_assert_int_eq (iris_interval_get_state (notes[0].interval), IRIS_INTERVAL_DONE);
  end ();
}
END_TEST

static gboolean
run_with_children (IrisInterval *interval, gpointer data, GError **error)
{
  for (guint i = 1; i <= 10; i++)
    {
      make (i);
      if (!iris_interval_set_parent (notes[i].interval, interval, error))
        return FALSE;
      iris_interval_schedule (notes[i].interval);
    }

  return run (interval, data, error);
}

START_TEST (a_parent_ends_behind_its_children)
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
END_TEST

START_TEST (a_child_made_before_does_not_start_before_its_parent)
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
  ck_assert_uint_lt (notes[0].began, notes[1].began);
  ck_assert_uint_lt (notes[2].ended, notes[0].began);
  end ();
}
END_TEST

START_TEST (a_chain_of_very_many_is_a_loop_and_no_recursion)
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
END_TEST

/* --- errors ----------------------------------------------------------------------------------- */

START_TEST (an_error_flows_along_the_edges)
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
END_TEST

START_TEST (a_child_that_fails_is_an_error_of_its_parent)
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
END_TEST

START_TEST (a_late_edge_from_a_failed_interval_brings_its_error)
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
END_TEST

static gboolean
fail_silently (IrisInterval *interval, gpointer data, GError **error)
{
  return FALSE;
}

START_TEST (failing_without_a_reason_is_an_error_too)
{
  g_autoptr (GError) error = NULL;

  begin ();
  make_with (0, fail_silently);
  iris_interval_schedule (notes[0].interval);
  ck_assert (!iris_interval_wait (notes[0].interval, &error));
  ck_assert (g_error_matches (error, IRIS_INTERVAL_ERROR, IRIS_INTERVAL_ERROR_FAILED));
  end ();
}
END_TEST

/* --- cancelling ------------------------------------------------------------------------------- */

START_TEST (a_cancelled_interval_does_not_start_and_ends_in_its_turn)
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
  core_test_gate_add (&open, 1);
  check_states (3, expected);
  ck_assert (!iris_interval_wait (notes[2].interval, &error));
  ck_assert (g_error_matches (error, IRIS_INTERVAL_ERROR, IRIS_INTERVAL_ERROR_CANCELLED));
  ck_assert_ptr_nonnull (strstr (error->message, "n1"));
  end ();
}
END_TEST

START_TEST (an_interval_that_is_dropped_unscheduled_keeps_nobody_waiting)
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

  /* A family of which nobody schedules anybody. */
  make (2);
  make (3);
  ck_assert (iris_interval_set_parent (notes[3].interval, notes[2].interval, NULL));
  g_clear_pointer (&notes[2].interval, iris_interval_unref);
  g_clear_pointer (&notes[3].interval, iris_interval_unref);
  iris_interval_graph_wait (graph);
  ck_assert_uint_eq (notes[2].dropped + notes[3].dropped, 2);
  end ();
}
END_TEST

/* A net of which one interval is cancelled, each in its turn, before and while it runs. */
START_TEST (whichever_interval_is_cancelled_every_end_happens_once)
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
END_TEST

START_TEST (intervals_of_a_scheduler_that_was_shut_down_are_cancelled)
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
END_TEST

/* --- cycles and other refusals ---------------------------------------------------------------- */

START_TEST (an_edge_that_closes_a_cycle_is_refused_with_the_cycle)
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
END_TEST

START_TEST (a_long_cycle_is_named_in_part)
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
END_TEST

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

START_TEST (exactly_the_edges_that_close_cycles_are_refused)
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

      if (_i % 2 == 1 && g_rand_int_range (random, 0, 4) != 0 && from > to)
        continue;
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
END_TEST

START_TEST (an_edge_to_what_has_happened_is_refused)
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
END_TEST

START_TEST (an_interval_has_one_parent_and_one_graph)
{
  g_autoptr (IrisIntervalGraph) other = NULL;
  g_autoptr (IrisInterval) stranger = NULL;
  g_autoptr (GError) error = NULL;

  begin ();
  other = iris_interval_graph_new (scheduler);
  stranger = iris_interval_new (other, "stranger", run, &notes[9], drop);
  for (guint i = 0; i < 3; i++)
    make (i);
  ck_assert (iris_interval_set_parent (notes[1].interval, notes[0].interval, &error));
  ck_assert (!iris_interval_set_parent (notes[1].interval, notes[2].interval, &error));
  ck_assert (g_error_matches (error, IRIS_INTERVAL_ERROR, IRIS_INTERVAL_ERROR_HAS_PARENT));
  g_clear_error (&error);
  ck_assert (!iris_interval_add_after (notes[1].interval, stranger, &error));
  ck_assert (g_error_matches (error, IRIS_INTERVAL_ERROR, IRIS_INTERVAL_ERROR_OTHER_GRAPH));
  schedule_all (3);
  g_clear_pointer (&stranger, iris_interval_unref);
  g_clear_object (&other);
  end ();
}
END_TEST

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
START_TEST (intervals_take_their_locks_without_deadlock)
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
END_TEST

START_TEST (an_interval_that_is_cancelled_in_line_for_a_lock_lets_go_of_the_others)
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
END_TEST

START_TEST (an_interval_runs_at_its_place)
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
END_TEST

/* --- pictures --------------------------------------------------------------------------------- */

START_TEST (a_picture_shows_intervals_edges_and_states)
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

  /* What is gone is not drawn. */
  g_clear_pointer (&notes[1].interval, iris_interval_unref);
  g_free (dot);
  dot = iris_interval_graph_to_dot (graph);
  ck_assert_ptr_null (strstr (dot, "i2"));
  g_clear_pointer (&odd, iris_interval_unref);
  end ();
}
END_TEST

int
main (void)
{
  Suite *suite = suite_create ("interval");
  TCase *tests = tcase_create ("interval");

  tcase_set_timeout (tests, 200);
  tcase_add_test (tests, an_interval_starts_behind_the_ends_that_it_waits_for);
  tcase_add_test (tests, an_edge_to_an_end_holds_back_the_end_alone);
  tcase_add_test (tests, a_parent_ends_behind_its_children);
  tcase_add_test (tests, a_child_made_before_does_not_start_before_its_parent);
  tcase_add_loop_test (tests, a_chain_of_very_many_is_a_loop_and_no_recursion, 0, 2);
  tcase_add_test (tests, an_error_flows_along_the_edges);
  tcase_add_test (tests, a_child_that_fails_is_an_error_of_its_parent);
  tcase_add_test (tests, a_late_edge_from_a_failed_interval_brings_its_error);
  tcase_add_test (tests, failing_without_a_reason_is_an_error_too);
  tcase_add_test (tests, a_cancelled_interval_does_not_start_and_ends_in_its_turn);
  tcase_add_test (tests, an_interval_that_is_dropped_unscheduled_keeps_nobody_waiting);
  tcase_add_test (tests, whichever_interval_is_cancelled_every_end_happens_once);
  tcase_add_loop_test (tests, intervals_of_a_scheduler_that_was_shut_down_are_cancelled, 0, 2);
  tcase_add_test (tests, an_edge_that_closes_a_cycle_is_refused_with_the_cycle);
  tcase_add_test (tests, a_long_cycle_is_named_in_part);
  tcase_add_loop_test (tests, exactly_the_edges_that_close_cycles_are_refused, 0, 6);
  tcase_add_test (tests, an_edge_to_what_has_happened_is_refused);
  tcase_add_test (tests, an_interval_has_one_parent_and_one_graph);
  tcase_add_loop_test (tests, intervals_take_their_locks_without_deadlock, 0, core_test_n_kinds);
  tcase_add_loop_test (
      tests, an_interval_that_is_cancelled_in_line_for_a_lock_lets_go_of_the_others, 0, 2);
  tcase_add_test (tests, an_interval_runs_at_its_place);
  tcase_add_test (tests, a_picture_shows_intervals_edges_and_states);
  suite_add_tcase (suite, tests);

  return core_test_run (suite);
}
