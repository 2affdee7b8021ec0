/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * Running a suite.
 */
#include "core-test-run.h"

#include <stdlib.h>

#define MOST_TESTS 256

static struct
{
  const TTest *test;
  int from, to;
} tests[MOST_TESTS];
static int n_tests;

/* Called before main(), in the order in which the tests stand in the file. */
void
core_test_add (const TTest *test, int from, int to)
{
  if (n_tests == MOST_TESTS)
    abort ();
  tests[n_tests].test = test;
  tests[n_tests].from = from;
  tests[n_tests++].to = to;
}

int
core_test_run_all (const char *name, SFun set_up, SFun tear_down)
{
  Suite *suite = suite_create (name);
  TCase *tcase = tcase_create (name);

  tcase_add_checked_fixture (tcase, set_up, tear_down);
  for (int i = 0; i < n_tests; i++)
    tcase_add_loop_test (tcase, tests[i].test, tests[i].from, tests[i].to);
  suite_add_tcase (suite, tcase);

  return core_test_run (suite);
}

int
core_test_run (Suite *suite)
{
  SRunner *runner = srunner_create (suite);
  int n_failed;

  srunner_set_fork_status (runner, CK_NOFORK);
  srunner_run_all (runner, CK_ENV);
  n_failed = srunner_ntests_failed (runner);
  srunner_free (runner);

  return n_failed == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}
