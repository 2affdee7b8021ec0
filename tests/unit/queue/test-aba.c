/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * What comes back to where it was is not taken for what never left; and the schedules that prove it
 * are caught by it: without stamps each of them ends badly.
 */
#include "aba-schedule.h"
#include "core-test-run.h"

TEST (a_stamped_stack_survives) { ck_assert (aba_stamped.stack ()); }

TEST (a_stamped_free_list_survives) { ck_assert (aba_stamped.free_list ()); }

TEST (popping_from_a_stamped_queue_survives) { ck_assert (aba_stamped.queue_pop ()); }

TEST (pushing_to_a_stamped_queue_survives) { ck_assert (aba_stamped.queue_push ()); }

TEST (a_bare_stack_is_caught) { ck_assert (!aba_bare.stack ()); }

TEST (a_bare_free_list_is_caught) { ck_assert (!aba_bare.free_list ()); }

TEST (popping_from_a_bare_queue_is_caught) { ck_assert (!aba_bare.queue_pop ()); }

TEST (pushing_to_a_bare_queue_is_caught) { ck_assert (!aba_bare.queue_push ()); }

TEST_MAIN ("aba", NULL, NULL)
