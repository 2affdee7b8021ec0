/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * Running a suite. It needs nothing of iris, so tests of what is public may use it.
 */
#pragma once

#include <check.h>

/* What main() returns. */
int core_test_run (Suite *suite);
