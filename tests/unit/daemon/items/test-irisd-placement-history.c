/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * What irisd remembers of where items and paths were.
 */
#include "core-test-run.h"
#include "daemon/exec/item/irisd-placement-history.h"

#include <check.h>
#include <stdlib.h>

#define N_THREADS 4
#define N_ITEMS   20000

TEST (an_item_is_remembered_until_as_many_younger_ones_have_come)
{
  IrisdPlacementHistory near;
  irisd_placement_history_init (&near, 8, 0);
  ck_assert_int_eq (irisd_placement_history_find_item (&near, 1), IRIS_PLACE_ANY);
  ck_assert_int_eq (irisd_placement_history_find_item (&near, 0), IRIS_PLACE_ANY);
  for (guint64 item = 1; item <= 8; item++)
    irisd_placement_history_note_item (&near, item, (gint) item % 3);
  for (guint64 item = 1; item <= 8; item++)
    ck_assert_int_eq (irisd_placement_history_find_item (&near, item), (gint) item % 3);
  irisd_placement_history_note_item (&near, 3, 7);
  ck_assert_int_eq (irisd_placement_history_find_item (&near, 3), 7);
  irisd_placement_history_note_item (&near, 11, 5);
  ck_assert_int_eq (irisd_placement_history_find_item (&near, 11), 5);
  ck_assert_int_eq (irisd_placement_history_find_item (&near, 3), IRIS_PLACE_ANY);
  /* The older one ended late. */
  irisd_placement_history_note_item (&near, 3, 7);
  ck_assert_int_eq (irisd_placement_history_find_item (&near, 11), 5);
  ck_assert_int_eq (irisd_placement_history_find_item (&near, 3), IRIS_PLACE_ANY);
  /* One that has no number, and a place that there is not. */
  irisd_placement_history_note_item (&near, 0, 5);
  irisd_placement_history_note_item (&near, 12, IRIS_PLACE_ANY);
  ck_assert_int_eq (irisd_placement_history_find_item (&near, 0), IRIS_PLACE_ANY);
  ck_assert_int_eq (irisd_placement_history_find_item (&near, 12), IRIS_PLACE_ANY);
  irisd_placement_history_clear (&near);
}

TEST (the_paths_used_last_are_remembered)
{
  IrisdPlacementHistory near;
  irisd_placement_history_init (&near, 0, 3);
  irisd_placement_history_note_path (&near, "/a", 0);
  irisd_placement_history_note_path (&near, "/b", 1);
  irisd_placement_history_note_path (&near, "/c", 2);
  ck_assert_int_eq (irisd_placement_history_find_path (&near, "/a"), 0); /* which uses it */
  irisd_placement_history_note_path (&near, "/d", 3);
  ck_assert_int_eq (irisd_placement_history_find_path (&near, "/b"), IRIS_PLACE_ANY);
  ck_assert_int_eq (irisd_placement_history_find_path (&near, "/a"), 0);
  ck_assert_int_eq (irisd_placement_history_find_path (&near, "/c"), 2);
  ck_assert_int_eq (irisd_placement_history_find_path (&near, "/d"), 3);
  irisd_placement_history_note_path (&near, "/a", 4);
  ck_assert_int_eq (irisd_placement_history_find_path (&near, "/a"), 4);
  ck_assert_uint_eq (irisd_placement_history_count_paths (&near), 3);
  irisd_placement_history_clear (&near);
}

TEST (a_limit_of_zero_remembers_nothing)
{
  IrisdPlacementHistory near;
  irisd_placement_history_init (&near, 0, 0);
  irisd_placement_history_note_item (&near, 1, 1);
  irisd_placement_history_note_path (&near, "/a", 1);
  ck_assert_int_eq (irisd_placement_history_find_item (&near, 1), IRIS_PLACE_ANY);
  ck_assert_int_eq (irisd_placement_history_find_path (&near, "/a"), IRIS_PLACE_ANY);
  irisd_placement_history_clear (&near);
}

typedef struct
{
  IrisdPlacementHistory *near;
  guint me;
} Thread;

/* Each thread has its own items, a place of its own for each, and shares slots and paths. */
static gpointer
note_and_find (gpointer data)
{
  const Thread *thread = data;
  for (guint64 i = 1; i <= N_ITEMS; i++)
    {
      guint64 item = i * N_THREADS + thread->me;
      g_autofree char *path = g_strdup_printf ("/%u", (guint) (i % 50));
      irisd_placement_history_note_item (thread->near, item, (gint) (item % 100));
      irisd_placement_history_note_path (thread->near, path, (gint) (i % 50));
      gint place = irisd_placement_history_find_item (thread->near, item - N_THREADS + 1);
      if (place != IRIS_PLACE_ANY && place != (gint) ((item - N_THREADS + 1) % 100))
        return GINT_TO_POINTER (1);
      place = irisd_placement_history_find_path (thread->near, path);
      if (place != IRIS_PLACE_ANY && place != (gint) (i % 50))
        return GINT_TO_POINTER (2);
    }
  return NULL;
}

TEST (what_several_threads_are_told_is_true_or_nothing)
{
  IrisdPlacementHistory near;
  GThread *threads[N_THREADS];
  Thread data[N_THREADS];
  irisd_placement_history_init (&near, 64, 40);
  for (guint i = 0; i < N_THREADS; i++)
    {
      data[i] = (Thread){ &near, i };
      threads[i] = g_thread_new ("near", note_and_find, &data[i]);
    }
  for (guint i = 0; i < N_THREADS; i++)
    ck_assert_ptr_null (g_thread_join (threads[i]));
  ck_assert_uint_eq (irisd_placement_history_count_paths (&near), 40);
  irisd_placement_history_clear (&near);
}

TEST_MAIN ("irisd-placement-history", NULL, NULL)
