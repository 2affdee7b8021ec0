/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * Running a suite.
 */
#include "core-test-run.h"

#include <stdlib.h>

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
