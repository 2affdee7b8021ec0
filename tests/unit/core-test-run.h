/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * Running a suite. It needs nothing of iris, so tests of what is public may use it.
 */
#pragma once

#include <check.h>

/* In place of START_TEST and END_TEST in a program of one test case: such a test needs no line in
 * main(), so none is forgotten. It is run with each _i from @from up to and without @to. */
#define LOOP_TEST(name, from, to)                                                                  \
  static void name##_fn (int _i);                                                                  \
  static const TTest name = { #name, name##_fn, __FILE__, __LINE__ };                              \
  __attribute__ ((constructor)) static void name##_add (void) { core_test_add (&name, from, to); } \
  static void name##_fn (int _i CK_ATTRIBUTE_UNUSED)

#define TEST(name) LOOP_TEST (name, 0, 1)

/* main() of such a program; @set_up and @tear_down, NULL for none, surround each test. */
#define TEST_MAIN(name, set_up, tear_down) \
  int main (void) { return core_test_run_all (name, set_up, tear_down); }

void core_test_add (const TTest *test, int from, int to);
int core_test_run_all (const char *name, SFun set_up, SFun tear_down);

/* What main() returns. */
int core_test_run (Suite *suite);
