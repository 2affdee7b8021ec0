/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * The rundown guard: a visitor inside is never overlooked, and the last one to leave settles it.
 */
#include "core-test-run.h"

#include <glib.h>

#include <iris/base/sync/iris-rundown-guard-private.h>

#ifdef IRIS_THREAD_SANITIZER
#define ROUNDS 200
#else
#define ROUNDS 2000
#endif
#define VISITORS 4

static _Atomic int n_done;

static void
count_done (void *subject)
{
  ck_assert_ptr_eq (subject, &n_done);
  atomic_fetch_add (&n_done, 1);
}

static _Atomic (IrisRundownGuard *) published;

static void
setup (void)
{
  atomic_store (&n_done, 0);
  atomic_store (&published, iris_rundown_guard_new (&n_done, count_done));
}

static IrisRundownGuard *
withdraw (void)
{
  IrisRundownGuard *guard = atomic_exchange (&published, NULL);

  iris_rundown_guard_close (guard);
  return guard;
}

START_TEST (an_empty_guard_is_settled_by_closing_it)
{
  withdraw ();
  ck_assert_int_eq (atomic_load (&n_done), 1);
}
END_TEST

START_TEST (the_last_one_to_leave_settles_a_closed_guard)
{
  IrisRundownGuard *first = iris_rundown_guard_enter (&published);
  IrisRundownGuard *second = iris_rundown_guard_enter (&published);

  ck_assert_ptr_eq (first, second);
  withdraw ();
  ck_assert_int_eq (atomic_load (&n_done), 0);
  iris_rundown_guard_leave (first);
  ck_assert_int_eq (atomic_load (&n_done), 0);
  iris_rundown_guard_leave (second);
  ck_assert_int_eq (atomic_load (&n_done), 1);
}
END_TEST

START_TEST (a_withdrawn_guard_lets_no_visitor_in)
{
  withdraw ();
  ck_assert_ptr_null (iris_rundown_guard_enter (&published));
}
END_TEST

static gpointer
leave_elsewhere (gpointer data)
{
  iris_rundown_guard_leave (data);
  return NULL;
}

START_TEST (one_may_leave_on_another_thread)
{
  IrisRundownGuard *guard = iris_rundown_guard_enter (&published);

  withdraw ();
  g_thread_join (g_thread_new ("leaver", leave_elsewhere, guard));
  ck_assert_int_eq (atomic_load (&n_done), 1);
}
END_TEST

/* The schedule that frees too early without revalidation: a visitor has read the pointer, the
 * owner withdraws and closes, and the memory becomes another rundown guard before the visitor
 * enters. */
START_TEST (a_late_visitor_does_not_disturb_the_next_life)
{
  IrisRundownGuard *stale = withdraw ();
  IrisRundownGuard *again;

  setup ();
  again = atomic_load (&published);
  ck_assert_ptr_eq (again, stale);

  iris_rundown_guard_count (stale->stripes, true);
  withdraw ();
  ck_assert_int_eq (atomic_load (&n_done), 0);
  iris_rundown_guard_leave (stale);
  ck_assert_int_eq (atomic_load (&n_done), 1);
  iris_rundown_guard_leave (stale);
  ck_assert_int_eq (atomic_load (&n_done), 1);
  /* Even out what this test left too often. */
  iris_rundown_guard_count (stale->stripes, true);
}
END_TEST

typedef struct
{
  _Atomic bool alive;
} Thing;

static _Atomic (IrisRundownGuard *) race;
static _Atomic bool stop;
static _Atomic int n_dead;

static void
kill_thing (void *subject)
{
  Thing *thing = subject;

  ck_assert (atomic_exchange (&thing->alive, false));
  g_free (thing);
  atomic_fetch_add (&n_dead, 1);
}

static IrisRundownGuard *
new_thing (void)
{
  Thing *thing = g_new0 (Thing, 1);

  atomic_store (&thing->alive, true);
  return iris_rundown_guard_new (thing, kill_thing);
}

static gpointer
visit (gpointer data)
{
  while (!atomic_load (&stop))
    {
      IrisRundownGuard *guard = iris_rundown_guard_enter (&race);
      Thing *thing;

      if (guard == NULL)
        continue;
      thing = guard->subject;
      if (!atomic_load (&thing->alive))
        ck_abort_msg ("a thing died while a visitor used it");
      iris_rundown_guard_leave (guard);
    }

  return NULL;
}

/* With more visitors than slots some share a stripe. */
static void
race_visitors (guint n_visitors)
{
  GThread **visitors = g_new (GThread *, n_visitors);

  atomic_store (&stop, false);
  atomic_store (&n_dead, 0);
  atomic_store (&race, new_thing ());
  for (guint i = 0; i < n_visitors; i++)
    visitors[i] = g_thread_new ("visitor", visit, NULL);
  for (guint i = 0; i < ROUNDS; i++)
    iris_rundown_guard_close (atomic_exchange (&race, new_thing ()));
  atomic_store (&stop, true);
  for (guint i = 0; i < n_visitors; i++)
    g_thread_join (visitors[i]);
  iris_rundown_guard_close (atomic_exchange (&race, NULL));
  ck_assert_int_eq (atomic_load (&n_dead), ROUNDS + 1);
  g_free (visitors);
}

START_TEST (no_thing_dies_while_a_visitor_uses_it)
{
  race_visitors (VISITORS);
}
END_TEST

START_TEST (no_thing_dies_while_threads_without_a_slot_use_it)
{
  race_visitors (IRIS_THREAD_SLOTS + VISITORS);
}
END_TEST

int
main (void)
{
  Suite *suite = suite_create ("rundown-guard");
  TCase *schedules = tcase_create ("schedules");
  TCase *races = tcase_create ("races");

  tcase_add_checked_fixture (schedules, setup, NULL);
  tcase_add_test (schedules, an_empty_guard_is_settled_by_closing_it);
  tcase_add_test (schedules, the_last_one_to_leave_settles_a_closed_guard);
  tcase_add_test (schedules, a_withdrawn_guard_lets_no_visitor_in);
  tcase_add_test (schedules, one_may_leave_on_another_thread);
  tcase_add_test (schedules, a_late_visitor_does_not_disturb_the_next_life);
  tcase_add_test (races, no_thing_dies_while_a_visitor_uses_it);
  tcase_add_test (races, no_thing_dies_while_threads_without_a_slot_use_it);
  tcase_set_timeout (races, 200);
  suite_add_tcase (suite, schedules);
  suite_add_tcase (suite, races);

  return core_test_run (suite);
}
