/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * When irisd's items run, with clocks of our own: times, pauses, and what comes after what.
 */
#include "core-test-run.h"
#include "daemon/base/irisd-timers.h"
#include "daemon/config/irisd-policy.h"
#include "daemon/exec/item/irisd-dependency-graph.h"
#include "daemon/exec/item/irisd-schedule.h"

#include <check.h>
#include <stdlib.h>

static IrisdTimes
times (gint64 steady_us, gint64 wall_us)
{
  return (IrisdTimes){ .us = { [IRISD_CLOCK_STEADY] = steady_us, [IRISD_CLOCK_WALL] = wall_us } };
}

TEST (nothing_is_due_before_its_time_and_all_comes_in_order)
{
  enum
  {
    N = 500
  };
  IrisdTimers waiting;
  IrisdTimer waiters[N] = { 0 };
  GRand *rand = g_rand_new_with_seed (7);
  irisd_timers_init (&waiting);
  for (guint i = 0; i < N; i++)
    irisd_timers_add (&waiting, &waiters[i], IRISD_CLOCK_STEADY, g_rand_int_range (rand, 0, 100));
  /* From the middle, too. */
  guint left = N;
  for (guint i = 0; i < N; i += 3, left--)
    ck_assert (irisd_timers_remove (&waiting, &waiters[i]));
  ck_assert (!irisd_timers_remove (&waiting, &waiters[0]));
  ck_assert_uint_eq (irisd_timers_get_count (&waiting), left);

  const IrisdTimer *last = NULL;
  for (gint64 now = 0; now < 100; now++)
    {
      IrisdTimes clocks = times (now, 0);
      for (IrisdTimer *due; (due = irisd_timers_pop_due (&waiting, &clocks)) != NULL; left--)
        {
          ck_assert_int_eq (due->due_us, now);
          /* At the same time the one that came first is first. */
          ck_assert (last == NULL || last->due_us < due->due_us || last < due);
          last = due;
        }
    }
  ck_assert_uint_eq (left, 0);
  irisd_timers_clear (&waiting);
  g_rand_free (rand);
}

TEST (a_delay_does_not_look_at_the_time_of_day)
{
  IrisdTimers waiting;
  IrisdTimer delayed = { 0 };
  irisd_timers_init (&waiting);
  irisd_timers_add (&waiting, &delayed, IRISD_CLOCK_STEADY, 1000);
  IrisdTimes before = times (999, G_MAXINT64 / 2), after = times (1000, 0);
  ck_assert_ptr_null (irisd_timers_pop_due (&waiting, &before));
  ck_assert_int_eq (irisd_timers_get_delay (&waiting, &before), 1);
  ck_assert_ptr_eq (irisd_timers_pop_due (&waiting, &after), &delayed);
  ck_assert_int_eq (irisd_timers_get_delay (&waiting, &after), -1);
  irisd_timers_clear (&waiting);
}

TEST (a_clock_that_is_set_back_loses_nothing_and_repeats_nothing)
{
  IrisdTimers waiting;
  IrisdTimer early = { 0 }, late = { 0 };
  const gint64 noon = G_GINT64_CONSTANT (1800000000000000), second = G_USEC_PER_SEC;
  irisd_timers_init (&waiting);
  irisd_timers_add (&waiting, &early, IRISD_CLOCK_WALL, noon);
  irisd_timers_add (&waiting, &late, IRISD_CLOCK_WALL, noon + 3600 * second);

  IrisdTimes clocks = times (0, noon);
  ck_assert_ptr_eq (irisd_timers_pop_due (&waiting, &clocks), &early);
  /* Back by a day: what ran does not run again, what waits goes on waiting. */
  clocks = times (1, noon - 86400 * second);
  ck_assert_ptr_null (irisd_timers_pop_due (&waiting, &clocks));
  /* It is looked at again soon, since the clock may be set forward as well. */
  ck_assert_int_eq (irisd_timers_get_delay (&waiting, &clocks), IRISD_TIMERS_LOOK_US);
  clocks = times (2, noon + 2 * 3600 * second);
  ck_assert_ptr_eq (irisd_timers_pop_due (&waiting, &clocks), &late);
  ck_assert_ptr_null (irisd_timers_pop_due (&waiting, &clocks));
  irisd_timers_clear (&waiting);
}

TEST (pauses_double_up_to_their_limit_and_half_is_left_to_chance)
{
  ck_assert_uint_eq (irisd_timers_backoff_us (1000, 60000, 1, 0.0), 500);
  guint64 full = 1000;
  for (guint attempt = 1; attempt < 80; attempt++)
    {
      for (guint tenth = 0; tenth < 10; tenth++)
        {
          guint64 pause = irisd_timers_backoff_us (1000, 60000, attempt, tenth / 10.0);
          ck_assert_uint_ge (pause, full / 2);
          ck_assert_uint_lt (pause, full);
        }
      full = MIN (full * 2, 60000);
    }
  ck_assert_uint_eq (irisd_timers_backoff_us (0, 60000, 5, 0.9), 0);
  ck_assert_uint_le (irisd_timers_backoff_us (G_MAXUINT64, G_MAXUINT64, 9, 0.5), G_MAXUINT64);
}

static gboolean
come_after (IrisdDependencyGraph *after,
            IrisdDependent *dependent,
            IrisWireAfter how,
            guint64 a,
            guint64 b)
{
  const guint64 ids[] = { a, b };
  guint64 unknown;
  *dependent = (IrisdDependent){ 0 };
  return irisd_dependency_graph_wait (after, dependent, ids, b != 0 ? 2 : 1, IRISD_VIEW_ALL, how,
                                      &unknown);
}

TEST (all_any_and_success)
{
  IrisdDependencyGraph after;
  IrisdDependent all, any, success, spoilt;
  irisd_dependency_graph_init (&after, 10);
  for (guint64 id = 1; id <= 3; id++)
    irisd_dependency_graph_add (&after, id, NULL, 0);
  ck_assert (come_after (&after, &all, IRIS_WIRE_AFTER_ALL, 1, 2));
  ck_assert (come_after (&after, &any, IRIS_WIRE_AFTER_ANY, 1, 2));
  ck_assert (come_after (&after, &success, IRIS_WIRE_AFTER_SUCCESS, 2, 3));
  ck_assert (come_after (&after, &spoilt, IRIS_WIRE_AFTER_SUCCESS, 1, 2));

  IrisdDependent *decided = irisd_dependency_graph_end (&after, 1, FALSE);
  ck_assert_ptr_eq (decided, &any);
  ck_assert_ptr_eq (decided->next, &spoilt);
  ck_assert_ptr_null (spoilt.next);
  ck_assert_int_eq (any.verdict, IRISD_VERDICT_GO);
  ck_assert_int_eq (spoilt.verdict, IRISD_VERDICT_FAIL);
  ck_assert_uint_eq (spoilt.blame, 1);

  decided = irisd_dependency_graph_end (&after, 2, TRUE);
  ck_assert_ptr_eq (decided, &all);
  ck_assert_int_eq (all.verdict, IRISD_VERDICT_GO);
  ck_assert_ptr_null (all.next);
  ck_assert_ptr_null (irisd_dependency_graph_end (&after, 2, FALSE));
  ck_assert_ptr_eq (irisd_dependency_graph_end (&after, 3, TRUE), &success);
  ck_assert_int_eq (success.verdict, IRISD_VERDICT_GO);
  irisd_dependency_graph_clear (&after);
}

TEST (what_is_known_by_its_end_is_forgotten_in_its_turn)
{
  IrisdDependencyGraph after;
  IrisdDependent first, second, late;
  irisd_dependency_graph_init (&after, 3);
  irisd_dependency_graph_add (&after, 1, NULL, 0);
  irisd_dependency_graph_end (&after, 1, TRUE);
  irisd_dependency_graph_add_ended (&after, 2, FALSE, 0);
  irisd_dependency_graph_add_ended (&after, 3, TRUE, 0);
  ck_assert (come_after (&after, &first, IRIS_WIRE_AFTER_SUCCESS, 1, 3));
  ck_assert_int_eq (first.verdict, IRISD_VERDICT_GO);
  ck_assert (come_after (&after, &second, IRIS_WIRE_AFTER_SUCCESS, 2, 3));
  ck_assert_int_eq (second.verdict, IRISD_VERDICT_FAIL);
  for (guint64 id = 4; id <= 6; id++)
    {
      irisd_dependency_graph_add_ended (&after, id, TRUE, 0);
      ck_assert (!come_after (&after, &late, IRIS_WIRE_AFTER_ALL, id - 3, 0));
      ck_assert (come_after (&after, &late, IRIS_WIRE_AFTER_ALL, id - 2, id));
    }
  irisd_dependency_graph_clear (&after);

  irisd_dependency_graph_init (&after, 0);
  irisd_dependency_graph_add_ended (&after, 1, TRUE, 0);
  ck_assert (!come_after (&after, &late, IRIS_WIRE_AFTER_ALL, 1, 0));
  irisd_dependency_graph_clear (&after);
}

TEST (an_item_of_another_node_decides_and_is_not_remembered)
{
  IrisdDependencyGraph after;
  IrisdDependent any = { 0 }, all = { 0 }, success = { 0 }, unknown = { 0 };
  irisd_dependency_graph_init (&after, 10);
  irisd_dependency_graph_add_away (&after, 1, 0);
  irisd_dependency_graph_add (&after, 2, NULL, 0);
  ck_assert (!irisd_dependency_graph_is_awaited (&after, 1));
  ck_assert (come_after (&after, &any, IRIS_WIRE_AFTER_ANY, 1, 2));
  ck_assert (come_after (&after, &all, IRIS_WIRE_AFTER_ALL, 1, 2));
  ck_assert (come_after (&after, &success, IRIS_WIRE_AFTER_SUCCESS, 1, 2));
  ck_assert (irisd_dependency_graph_is_awaited (&after, 1));
  ck_assert_ptr_eq (irisd_dependency_graph_end_away (&after, 1, IRISD_AWAY_END_FAILED, "n2/7"),
                    &any);
  ck_assert_ptr_eq (any.next, &success);
  ck_assert_int_eq (any.verdict, IRISD_VERDICT_GO);
  ck_assert_ptr_null (any.reason);
  ck_assert_int_eq (success.verdict, IRISD_VERDICT_FAIL);
  ck_assert_str_eq (success.reason, "n2/7");
  ck_assert_int_eq (all.verdict, IRISD_VERDICT_NONE);
  ck_assert (!come_after (&after, &unknown, IRIS_WIRE_AFTER_ALL, 1, 0));
  ck_assert_ptr_eq (irisd_dependency_graph_end (&after, 2, TRUE), &all);

  /* One that is unknown fails all, however they wait. */
  IrisdDependent waits = { 0 };
  irisd_dependency_graph_add_away (&after, 3, 0);
  ck_assert (come_after (&after, &waits, IRIS_WIRE_AFTER_ALL, 3, 0));
  irisd_dependency_graph_end_away (&after, 3, IRISD_AWAY_END_UNKNOWN, "none");
  ck_assert_int_eq (waits.verdict, IRISD_VERDICT_FAIL);
  ck_assert_str_eq (waits.reason, "none");

  /* An irisd that ends does not wait for another node. */
  IrisdDependent stuck = { 0 }, late = { 0 };
  irisd_dependency_graph_add_away (&after, 4, 0);
  ck_assert (come_after (&after, &stuck, IRIS_WIRE_AFTER_ALL, 4, 0));
  ck_assert_ptr_eq (irisd_dependency_graph_close (&after), &stuck);
  ck_assert_int_eq (stuck.verdict, IRISD_VERDICT_STUCK);
  ck_assert_ptr_nonnull (stuck.reason);
  ck_assert (come_after (&after, &late, IRIS_WIRE_AFTER_ALL, 4, 0));
  ck_assert_int_eq (late.verdict, IRISD_VERDICT_STUCK);
  irisd_dependency_graph_end_away (&after, 4, IRISD_AWAY_END_WELL, NULL);
  g_free (success.reason);
  g_free (waits.reason);
  g_free (stuck.reason);
  g_free (late.reason);
  irisd_dependency_graph_clear (&after);
}

TEST (what_has_ended_is_remembered_for_a_while)
{
  IrisdDependencyGraph after;
  IrisdDependent one = { 0 };
  irisd_dependency_graph_init (&after, 2);
  for (guint64 id = 1; id <= 3; id++)
    irisd_dependency_graph_add (&after, id, NULL, 0);
  irisd_dependency_graph_end (&after, 1, FALSE);
  ck_assert (come_after (&after, &one, IRIS_WIRE_AFTER_ALL, 1, 0));
  ck_assert_int_eq (one.verdict, IRISD_VERDICT_GO);
  ck_assert (come_after (&after, &one, IRIS_WIRE_AFTER_SUCCESS, 3, 1));
  ck_assert_int_eq (one.verdict, IRISD_VERDICT_FAIL);
  /* Judged by the one, it does not wait for the other. */
  ck_assert_ptr_null (irisd_dependency_graph_end (&after, 3, TRUE));
  irisd_dependency_graph_end (&after, 2, TRUE);
  ck_assert (!come_after (&after, &one, IRIS_WIRE_AFTER_ALL, 1, 0));
  irisd_dependency_graph_clear (&after);
}

TEST (a_cycle_cannot_be_asked_for)
{
  IrisdDependencyGraph after;
  IrisdDependent first = { 0 }, second = { 0 };
  irisd_dependency_graph_init (&after, 10);
  /* An item cannot name itself or a later one: their ids are not known yet. */
  ck_assert (!come_after (&after, &first, IRIS_WIRE_AFTER_ALL, 1, 0));
  ck_assert (!come_after (&after, &first, IRIS_WIRE_AFTER_ALL, 2, 0));
  irisd_dependency_graph_add (&after, 1, NULL, 0);
  ck_assert (come_after (&after, &second, IRIS_WIRE_AFTER_ALL, 1, 0));
  irisd_dependency_graph_add (&after, 2, NULL, 0);
  ck_assert_ptr_eq (irisd_dependency_graph_end (&after, 1, TRUE), &second);
  irisd_dependency_graph_clear (&after);
}

TEST (a_withdrawn_candidate_is_not_decided)
{
  IrisdDependencyGraph after;
  IrisdDependent one, twice;
  irisd_dependency_graph_init (&after, 10);
  irisd_dependency_graph_add (&after, 1, NULL, 0);
  ck_assert (come_after (&after, &one, IRIS_WIRE_AFTER_ALL, 1, 0));
  ck_assert (come_after (&after, &twice, IRIS_WIRE_AFTER_ALL, 1, 1));
  irisd_dependency_graph_withdraw (&after, &one);
  ck_assert_ptr_eq (irisd_dependency_graph_end (&after, 1, TRUE), &twice);
  ck_assert_ptr_null (twice.next);
  ck_assert_int_eq (one.verdict, IRISD_VERDICT_NONE);
  irisd_dependency_graph_clear (&after);
}

TEST (an_item_that_is_set_aside_has_a_keeper_and_is_waited_for)
{
  IrisdDependencyGraph after;
  IrisdDependent waits;
  int owner, keeper;
  irisd_dependency_graph_init (&after, 10);
  irisd_dependency_graph_add (&after, 1, &owner, 0);
  ck_assert (come_after (&after, &waits, IRIS_WIRE_AFTER_ALL, 1, 0));
  ck_assert_ptr_null (irisd_dependency_graph_get_keeper (&after, 1));
  irisd_dependency_graph_set_aside (&after, 1, &keeper);
  ck_assert_ptr_null (irisd_dependency_graph_get_owner (&after, 1));
  ck_assert_ptr_eq (irisd_dependency_graph_get_keeper (&after, 1), &keeper);
  /* After the reload it is as before. */
  irisd_dependency_graph_add (&after, 1, &owner, 0);
  ck_assert_ptr_eq (irisd_dependency_graph_get_owner (&after, 1), &owner);
  ck_assert_ptr_null (irisd_dependency_graph_get_keeper (&after, 1));
  irisd_dependency_graph_set_aside (&after, 1, &keeper);
  ck_assert_int_eq (waits.verdict, IRISD_VERDICT_NONE);
  ck_assert_ptr_eq (irisd_dependency_graph_end (&after, 1, TRUE), &waits);
  ck_assert_ptr_null (irisd_dependency_graph_get_keeper (&after, 1));
  irisd_dependency_graph_clear (&after);
}

TEST (a_buried_item_is_waited_for_until_irisd_ends)
{
  IrisdDependencyGraph after;
  IrisdDependent all, any, late;
  irisd_dependency_graph_init (&after, 10);
  for (guint64 id = 1; id <= 3; id++)
    irisd_dependency_graph_add (&after, id, NULL, 0);
  ck_assert (come_after (&after, &all, IRIS_WIRE_AFTER_ALL, 1, 2));
  ck_assert (come_after (&after, &any, IRIS_WIRE_AFTER_ANY, 1, 2));
  ck_assert_ptr_null (irisd_dependency_graph_bury (&after, 1));
  /* Kicked, it is as before. */
  irisd_dependency_graph_add (&after, 1, NULL, 0);
  ck_assert_ptr_null (irisd_dependency_graph_bury (&after, 1));

  ck_assert_ptr_eq (irisd_dependency_graph_close (&after), &all);
  ck_assert_int_eq (all.verdict, IRISD_VERDICT_STUCK);
  ck_assert_uint_eq (all.blame, 1);
  ck_assert_ptr_null (all.next);
  ck_assert_int_eq (any.verdict, IRISD_VERDICT_NONE);
  ck_assert (come_after (&after, &late, IRIS_WIRE_AFTER_SUCCESS, 3, 1));
  ck_assert_int_eq (late.verdict, IRISD_VERDICT_STUCK);
  ck_assert_ptr_eq (irisd_dependency_graph_bury (&after, 2), &any);
  ck_assert_int_eq (any.verdict, IRISD_VERDICT_STUCK);
  ck_assert_uint_eq (any.blame, 2);
  irisd_dependency_graph_clear (&after);
}

static void
init_item (IrisWireMessage *item)
{
  iris_wire_message_init (item, IRIS_WIRE_SUBMIT, NULL);
  iris_wire_message_set_string (item, IRIS_WIRE_KEY_SERVICE, "echo", -1);
}

TEST (schedule_that_do_not_fit_are_refused_with_the_limit)
{
  IrisdLimits limits;
  irisd_limits_init (&limits);
  const struct
  {
    IrisWireKey key;
    guint64 value;
    int code;
    const char *word;
  } bad[] = {
    { IRIS_WIRE_KEY_DELAY_MS, limits.max_delay_ms + 1, IRIS_WIRE_ERROR_TOO_LARGE, "max-delay-ms" },
    { IRIS_WIRE_KEY_AT_MS, G_MAXUINT64, IRIS_WIRE_ERROR_TOO_LARGE, "max-delay-ms" },
    { IRIS_WIRE_KEY_TIME_TO_RUN_MS, G_MAXUINT64, IRIS_WIRE_ERROR_TOO_LARGE, "max-delay-ms" },
    { IRIS_WIRE_KEY_RETRIES, limits.max_retries + 1, IRIS_WIRE_ERROR_TOO_LARGE, "max-retries" },
    { IRIS_WIRE_KEY_BACKOFF_MS, 1, IRIS_WIRE_ERROR_BAD_ARGUMENT, "retries" },
    { IRIS_WIRE_KEY_TIME_TO_RUN_MS, 0, IRIS_WIRE_ERROR_BAD_ARGUMENT, "time-to-run-ms" },
    { IRIS_WIRE_KEY_AFTER_HOW, 1, IRIS_WIRE_ERROR_BAD_ARGUMENT, "after" },
  };
  for (guint i = 0; i < G_N_ELEMENTS (bad); i++)
    {
      IrisWireMessage item;
      g_autoptr (GError) error = NULL;
      init_item (&item);
      iris_wire_message_set_uint (&item, bad[i].key, bad[i].value);
      ck_assert (!irisd_schedule_check (&item, &limits, &error));
      ck_assert_int_eq (error->code, bad[i].code);
      ck_assert_ptr_nonnull (strstr (error->message, bad[i].word));
    }
}

TEST (delay_and_time_of_day_have_both_to_be_reached)
{
  IrisdLimits limits;
  IrisWireMessage item;
  irisd_limits_init (&limits);
  init_item (&item);
  IrisdTimes now = times (1000000, G_GINT64_CONSTANT (1800000000000000));
  ck_assert_ptr_null (irisd_schedule_new (&item, &limits, &now));
  iris_wire_message_set_uint (&item, IRIS_WIRE_KEY_DELAY_MS, 100);
  iris_wire_message_set_uint (&item, IRIS_WIRE_KEY_AT_MS, 1800000000500);
  IrisdSchedule *schedule = irisd_schedule_new (&item, &limits, &now);
  IrisdClock clock;
  gint64 due_us;
  ck_assert (irisd_schedule_get_due (schedule, &now, &clock, &due_us));
  ck_assert_int_eq (clock, IRISD_CLOCK_STEADY);
  ck_assert_int_eq (due_us, 1100000);
  now.us[IRISD_CLOCK_STEADY] = due_us;
  ck_assert (irisd_schedule_get_due (schedule, &now, &clock, &due_us));
  ck_assert_int_eq (clock, IRISD_CLOCK_WALL);
  ck_assert_int_eq (due_us, G_GINT64_CONSTANT (1800000000500000));
  now.us[IRISD_CLOCK_WALL] = due_us;
  ck_assert (!irisd_schedule_get_due (schedule, &now, &clock, &due_us));
  irisd_schedule_free (schedule);
}

TEST (what_is_left_of_a_delay_does_not_grow_when_the_clock_is_set)
{
  static const struct
  {
    gint64 clock_ms; /* when irisd is back */
    guint attempts;
    gint64 left_ms;
  } cases[] = {
    { 1000000 + 4000, 0, 6000 },    /* four of ten seconds have passed */
    { 1000000 + 10000, 0, 0 },      /* it is over */
    { 1000000 + 86400000, 0, 0 },   /* the clock was set forward */
    { 1000000 - 900000, 0, 10000 }, /* and back: no longer than from the beginning */
    { 1000000 - 900000, 2, 60000 }, /* the same for a pause, whose length is not known */
    { 1000000 - 900000 + 5, 2, 60000 }, { 1000000 + 9999, 2, 1 },
  };
  IrisdLimits limits;
  IrisWireMessage item;
  irisd_limits_init (&limits);
  limits.max_backoff_ms = 60000;
  init_item (&item);
  iris_wire_message_set_uint (&item, IRIS_WIRE_KEY_DELAY_MS, 10000);
  iris_wire_message_set_uint (&item, IRIS_WIRE_KEY_RETRIES, 5);
  for (guint i = 0; i < G_N_ELEMENTS (cases); i++)
    {
      IrisdTimes now = times (777000, cases[i].clock_ms * 1000);
      IrisdSchedule *schedule = irisd_schedule_new (&item, &limits, &now);
      IrisdClock clock;
      gint64 due_us = 777000;
      irisd_schedule_resume (schedule, cases[i].attempts, 1000000 + 10000, &limits, &now);
      ck_assert (irisd_schedule_get_due (schedule, &now, &clock, &due_us)
                 == (cases[i].left_ms > 0));
      if (cases[i].left_ms > 0)
        ck_assert_int_eq (due_us - 777000, cases[i].left_ms * 1000);
      ck_assert_uint_eq (schedule->attempts, cases[i].attempts);
      irisd_schedule_free (schedule);
    }
}

TEST (a_row_without_a_due_time_begins_its_delay_anew)
{
  IrisdLimits limits;
  IrisWireMessage item;
  irisd_limits_init (&limits);
  init_item (&item);
  iris_wire_message_set_uint (&item, IRIS_WIRE_KEY_DELAY_MS, 10000);
  IrisdTimes now = times (777000, 1000000);
  IrisdSchedule *schedule = irisd_schedule_new (&item, &limits, &now);
  IrisdClock clock;
  gint64 due_us;
  irisd_schedule_resume (schedule, 0, 0, &limits, &now);
  ck_assert (irisd_schedule_get_due (schedule, &now, &clock, &due_us));
  ck_assert_int_eq (due_us, 777000 + 10000 * 1000);
  irisd_schedule_free (schedule);
}

TEST_MAIN ("irisd-schedule", NULL, NULL)
