/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * What IRIS_DEBUG prints, of a process of this program's own.
 */
#include "core-test-util.h"

#include <gio/gio.h>
#include <stdlib.h>
#include <string.h>

static const char *program;

static void
run (gpointer data)
{
}

/* What the process does: items for two places, one after the other. */
static void
work (void)
{
  g_autoptr (IrisPlaces) places = iris_places_new_unbound (2, 1);
  g_autoptr (IrisScheduler) scheduler = iris_place_scheduler_new_full (places, IRIS_DEAL_OWN);

  for (gint i = 0; i < 600; i++)
    iris_scheduler_queue_at (scheduler, i % 2, IRIS_ITEM_NONE, run, NULL, NULL);
  g_clear_object (&scheduler);
}

/* What it writes to standard error with IRIS_DEBUG=@value; NULL: without it. */
static char *
output_with (const char *value)
{
  g_autoptr (GSubprocessLauncher)
      launcher = g_subprocess_launcher_new (G_SUBPROCESS_FLAGS_STDERR_PIPE);
  g_autoptr (GSubprocess) process = NULL;
  g_autoptr (GError) error = NULL;
  char *text;

  if (value != NULL)
    g_subprocess_launcher_setenv (launcher, "IRIS_DEBUG", value, TRUE);
  else
    g_subprocess_launcher_unsetenv (launcher, "IRIS_DEBUG");
  process = g_subprocess_launcher_spawn (launcher, &error, program, "--work", NULL);
  ck_assert_msg (process != NULL, "%s", error != NULL ? error->message : "");
  ck_assert (g_subprocess_communicate_utf8 (process, NULL, NULL, NULL, &text, NULL));
  ck_assert (g_subprocess_get_successful (process));

  return text;
}

static void
check_has (const char *text, const char *expected)
{
  ck_assert_msg (strstr (text, expected) != NULL, "no \"%s\" in:\n%s", expected, text);
}

START_TEST (without_it_nothing_is_printed)
{
  g_autofree char *text = output_with (NULL);

  ck_assert_str_eq (text, "");
}
END_TEST

START_TEST (a_scheduler_tells_its_begin_and_its_end)
{
  g_autofree char *text = output_with ("scheduler");

  ck_assert_str_eq (text, "iris: IrisPlaceScheduler: 2 workers at 2 places\n"
                          "iris: IrisPlaceScheduler ended: 600 items run, 0 cancelled\n");
}
END_TEST

START_TEST (places_are_told_one_by_one)
{
  g_autofree char *text = output_with ("places");

  check_has (text, "iris: 2 places, one for each virtual\n");
  check_has (text, "iris: place 1, ");
  check_has (text, "1 workers, not bound\n");
}
END_TEST

START_TEST (statistics_are_printed_at_the_end_with_every_item_on_request)
{
  g_autofree char *text = output_with ("stats,exact");

  check_has (text, "iris: IrisPlaceScheduler: ");
  check_has (text, "2 places, 2 workers\n");
  check_has (text, " of 600 samples\n");
}
END_TEST

START_TEST (parking_is_told)
{
  g_autofree char *text = output_with ("park");

  check_has (text, "iris: worker 0 parks\n");
  check_has (text, "iris: worker 1 wakes\n");
}
END_TEST

START_TEST (help_lists_every_key)
{
  static const char *const names[] = { "places", "scheduler", "steal", "park", "stats", "exact" };
  g_autofree char *text = output_with ("help");

  for (guint i = 0; i < G_N_ELEMENTS (names); i++)
    check_has (text, names[i]);
}
END_TEST

START_TEST (an_unknown_key_is_told)
{
  g_autofree char *text = output_with ("scheduler,stast");

  check_has (text, "iris: IRIS_DEBUG knows no \"stast\"; IRIS_DEBUG=help lists what it knows\n");
  check_has (text, "IrisPlaceScheduler ended");
}
END_TEST

int
main (int argc, char **argv)
{
  Suite *suite;
  TCase *all;

  program = argv[0];
  if (argc == 2 && g_str_equal (argv[1], "--work"))
    {
      work ();
      return EXIT_SUCCESS;
    }

  suite = suite_create ("debug");
  all = tcase_create ("all");
  tcase_add_test (all, without_it_nothing_is_printed);
  tcase_add_test (all, a_scheduler_tells_its_begin_and_its_end);
  tcase_add_test (all, places_are_told_one_by_one);
  tcase_add_test (all, statistics_are_printed_at_the_end_with_every_item_on_request);
  tcase_add_test (all, parking_is_told);
  tcase_add_test (all, help_lists_every_key);
  tcase_add_test (all, an_unknown_key_is_told);
  suite_add_tcase (suite, all);

  return core_test_run (suite);
}
