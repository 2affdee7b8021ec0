/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * Statistics as a list, and the times that workers spend.
 */
#include "core-test-util.h"

#include <iris/sched/stats/iris-stats-private.h>
#include <sched.h>

static CoreTestGate begun = CORE_TEST_GATE_INIT, go = CORE_TEST_GATE_INIT;
static guint n_notified, n_changed;

static IrisScheduler *
make (void)
{
  g_autoptr (IrisPlaces) places = iris_places_new_unbound (2, 2);

  return iris_place_scheduler_new_full (places, IRIS_DEAL_OWN);
}

static void
hold (gpointer data)
{
  core_test_gate_add (&begun, 1);
  core_test_gate_wait (&go, 1);
}

static void
count_notify (GObject *object, GParamSpec *pspec, gpointer data)
{
  n_notified++;
}

static void
count_change (GListModel *model, guint position, guint removed, guint added, gpointer data)
{
  n_changed++;
}

LOOP_TEST (a_model_has_a_row_for_each_place_or_worker,
           IRIS_STATS_OF_PLACES,
           IRIS_STATS_OF_WORKERS + 1)
{
  g_autoptr (IrisScheduler) scheduler = make ();
  g_autoptr (IrisStatsModel) model = iris_stats_model_new (scheduler, (IrisStatsOf) _i);
  guint n = _i == IRIS_STATS_OF_PLACES ? 2 : 4;

  ck_assert_uint_eq (g_list_model_get_item_type (G_LIST_MODEL (model)), IRIS_TYPE_STATS_ROW);
  ck_assert_uint_eq (g_list_model_get_n_items (G_LIST_MODEL (model)), n);
  ck_assert_ptr_null (g_list_model_get_item (G_LIST_MODEL (model), n));
  for (guint i = 0; i < n; i++)
    {
      g_autoptr (IrisStatsRow) row = g_list_model_get_item (G_LIST_MODEL (model), i);

      ck_assert_uint_eq (iris_stats_row_get_index (row), i);
      ck_assert_int_eq (iris_stats_row_get_place (row),
                        _i == IRIS_STATS_OF_PLACES ? (gint) i : (gint) i / 2);
    }
}

TEST (rows_change_and_notify_when_refreshed_and_only_then)
{
  g_autoptr (IrisScheduler) scheduler = make ();
  g_autoptr (IrisStatsModel) model = iris_stats_model_new (scheduler, IRIS_STATS_OF_PLACES);
  g_autoptr (IrisStatsRow) row = g_list_model_get_item (G_LIST_MODEL (model), 1);
  guint64 executed, hinted;
  gdouble ratio;

  n_notified = n_changed = 0;
  g_signal_connect (row, "notify::executed", G_CALLBACK (count_notify), NULL);
  g_signal_connect (model, "items-changed", G_CALLBACK (count_change), NULL);
  core_test_gate_close (&begun);
  core_test_gate_add (&go, 1);
  for (guint i = 0; i < 10; i++)
    iris_scheduler_queue_at (scheduler, 1, IRIS_ITEM_STRICT, hold, NULL, NULL);
  iris_scheduler_shutdown (scheduler, IRIS_SHUTDOWN_DRAIN);
  ck_assert_uint_eq (iris_stats_row_get_counters (row)->executed, 0);
  ck_assert_uint_eq (n_notified, 0);

  iris_stats_model_refresh (model);
  g_object_get (row, "executed", &executed, "hinted", &hinted, "steal-ratio", &ratio, NULL);
  ck_assert_uint_eq (executed, 10);
  ck_assert_uint_eq (hinted, 10);
  ck_assert_double_eq (ratio, 0);
  ck_assert_uint_eq (iris_stats_row_get_counters (row)->executed, 10);
  ck_assert_uint_eq (n_notified, 1);

  iris_stats_model_refresh (model);
  ck_assert_uint_eq (n_notified, 1);
  ck_assert_uint_eq (n_changed, 0);
}

TEST (every_counter_and_measure_is_a_property)
{
  g_autoptr (IrisScheduler) scheduler = make ();
  g_autoptr (IrisStatsModel) model = iris_stats_model_new (scheduler, IRIS_STATS_OF_WORKERS);
  g_autoptr (IrisStatsRow) row = g_list_model_get_item (G_LIST_MODEL (model), 0);

  for (guint i = 0; i < iris_n_counter_infos + iris_n_measure_infos; i++)
    {
      bool measure = i >= iris_n_counter_infos;
      const char *name = measure ? iris_measure_infos[i - iris_n_counter_infos].name
                                 : iris_counter_infos[i].name;
      GParamSpec *pspec = g_object_class_find_property (G_OBJECT_GET_CLASS (row), name);
      GValue value = G_VALUE_INIT;

      ck_assert_msg (pspec != NULL, "no property %s", name);
      ck_assert_uint_eq (pspec->value_type, measure ? G_TYPE_DOUBLE : G_TYPE_UINT64);
      g_object_get_property (G_OBJECT (row), pspec->name, &value);
      g_value_unset (&value);
    }
}

/* Two workers of four run; the others sleep, and their sleep counts although it goes on. */
TEST (times_count_up_to_the_snapshot)
{
  g_autoptr (IrisScheduler) scheduler = make ();
  g_autoptr (IrisStats) first = NULL;
  g_autoptr (IrisStats) second = NULL;
  g_autoptr (IrisStats) diff = NULL;
  guint n_busy = 0, n_asleep = 0;

  core_test_gate_close (&begun);
  core_test_gate_close (&go);
  for (guint i = 0; i < 2; i++)
    iris_scheduler_queue_at (scheduler, 0, IRIS_ITEM_STRICT, hold, NULL, NULL);
  core_test_gate_wait (&begun, 2);
  /* Until those of the other place sleep, and slept for longer than reading the clock may blur. */
  first = iris_scheduler_get_stats (scheduler);
  do
    {
      sched_yield ();
      g_clear_pointer (&second, iris_stats_free);
      g_clear_pointer (&diff, iris_stats_free);
      second = iris_scheduler_get_stats (scheduler);
      diff = iris_stats_diff (first, second);
      if (diff->places[1].searching_ns != 0
          || second->places[1].parks != second->places[1].wakes + 2)
        {
          g_clear_pointer (&first, iris_stats_free);
          first = g_steal_pointer (&second);
        }
    }
  while (second == NULL || iris_stats_get_span (diff) < 20000000);

  for (guint i = 0; i < diff->n_workers; i++)
    {
      ck_assert_uint_ge (diff->workers[i].alive_ns, 10000000);
      n_busy += diff->workers[i].busy_ns >= 10000000 && diff->workers[i].parked_ns == 0;
      n_asleep += diff->workers[i].parked_ns >= 10000000 && diff->workers[i].searching_ns == 0;
    }
  ck_assert_uint_eq (n_busy, 2);
  ck_assert_uint_eq (n_asleep, 2);

  core_test_gate_add (&go, 1);
  iris_scheduler_shutdown (scheduler, IRIS_SHUTDOWN_DRAIN);
}

TEST_MAIN ("stats-model", NULL, NULL)
