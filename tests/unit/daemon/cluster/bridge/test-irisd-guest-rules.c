/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * How long the bridge gathers completions of items of other nodes.
 */
#include "core-test-run.h"
#include "daemon/cluster/bridge/irisd-guest-rules.h"

#define US G_GUINT64_CONSTANT (1000)
#define MS G_GUINT64_CONSTANT (1000000)

TEST (many_short_items_are_gathered_for_half_of_their_time)
{
  ck_assert_int_eq (irisd_guest_get_rest_us (40, MS, 2), 10000);
  ck_assert_int_eq (irisd_guest_get_rest_us (40, MS, 4), 5000);
}

TEST (no_end_waits_for_longer_than_forty_milliseconds)
{
  ck_assert_int_eq (irisd_guest_get_rest_us (100000, MS, 2), 40000);
}

TEST (few_items_are_not_waited_for)
{
  ck_assert_int_eq (irisd_guest_get_rest_us (0, MS, 2), 0);
  ck_assert_int_eq (irisd_guest_get_rest_us (1, MS, 1), 0);
  ck_assert_int_eq (irisd_guest_get_rest_us (15, MS, 2), 0);
  ck_assert_int_gt (irisd_guest_get_rest_us (16, MS, 2), 0);
}

TEST (long_items_are_not_waited_for)
{
  ck_assert_int_gt (irisd_guest_get_rest_us (1000, 10 * MS, 2), 0);
  ck_assert_int_eq (irisd_guest_get_rest_us (1000, 11 * MS, 2), 0);
  ck_assert_int_eq (irisd_guest_get_rest_us (G_MAXUINT32, G_MAXUINT64, 1), 0);
}

/* Items that come and go faster than a thread wakes up come together by themselves. */
TEST (items_of_microseconds_are_not_waited_for)
{
  ck_assert_int_eq (irisd_guest_get_rest_us (256, 10 * US, 2), 0);
}

TEST (what_has_never_run_is_not_waited_for)
{
  ck_assert_int_eq (irisd_guest_get_rest_us (256, 0, 2), 0);
  ck_assert_int_eq (irisd_guest_get_rest_us (256, MS, 0), 0);
}

TEST_MAIN ("irisd-guest-rules", NULL, NULL)
