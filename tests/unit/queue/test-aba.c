/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * What comes back to where it was is not taken for what never left; and the schedules that prove it
 * are caught by it: without stamps each of them ends badly.
 */
#include "aba-schedule.h"
#include "core-test-run.h"

START_TEST (a_stamped_stack_survives)
{
  ck_assert (aba_stamped.stack ());
}
END_TEST

START_TEST (a_stamped_free_list_survives)
{
  ck_assert (aba_stamped.free_list ());
}
END_TEST

START_TEST (popping_from_a_stamped_queue_survives)
{
  ck_assert (aba_stamped.queue_pop ());
}
END_TEST

START_TEST (pushing_to_a_stamped_queue_survives)
{
  ck_assert (aba_stamped.queue_push ());
}
END_TEST

START_TEST (a_bare_stack_is_caught)
{
  ck_assert (!aba_bare.stack ());
}
END_TEST

START_TEST (a_bare_free_list_is_caught)
{
  ck_assert (!aba_bare.free_list ());
}
END_TEST

START_TEST (popping_from_a_bare_queue_is_caught)
{
  ck_assert (!aba_bare.queue_pop ());
}
END_TEST

START_TEST (pushing_to_a_bare_queue_is_caught)
{
  ck_assert (!aba_bare.queue_push ());
}
END_TEST

int
main (void)
{
  Suite *suite = suite_create ("aba");
  TCase *tcase = tcase_create ("schedules");

  tcase_add_test (tcase, a_stamped_stack_survives);
  tcase_add_test (tcase, a_stamped_free_list_survives);
  tcase_add_test (tcase, popping_from_a_stamped_queue_survives);
  tcase_add_test (tcase, pushing_to_a_stamped_queue_survives);
  tcase_add_test (tcase, a_bare_stack_is_caught);
  tcase_add_test (tcase, a_bare_free_list_is_caught);
  tcase_add_test (tcase, popping_from_a_bare_queue_is_caught);
  tcase_add_test (tcase, pushing_to_a_bare_queue_is_caught);
  suite_add_tcase (suite, tcase);

  return core_test_run (suite);
}
