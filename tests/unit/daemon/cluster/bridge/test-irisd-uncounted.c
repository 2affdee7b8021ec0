/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * Tries are the deliveries that may have run.
 */
#include "core-test-run.h"
#include "daemon/cluster/bridge/irisd-uncounted.h"

#include <string.h>

static const guint8 *
make_id (guint64 number)
{
  static guint8 id[IRIS_WIRE_ID_SIZE];

  memcpy (id, &number, sizeof number);
  return id;
}

TEST (what_is_not_known_counts)
{
  g_autoptr (IrisdUncounted) self = irisd_uncounted_new (8);

  ck_assert_uint_eq (irisd_uncounted_count_tries (self, make_id (1), 5, 1), 1);
  ck_assert_uint_eq (irisd_uncounted_count_tries (self, make_id (1), 5, 100), 100);
}

TEST (what_was_given_back_does_not_count)
{
  g_autoptr (IrisdUncounted) self = irisd_uncounted_new (8);

  for (guint i = 0; i < 5; i++)
    irisd_uncounted_add (self, make_id (1), 5);
  ck_assert_uint_eq (irisd_uncounted_count_tries (self, make_id (1), 5, 6), 1);
  ck_assert_uint_eq (irisd_uncounted_count_tries (self, make_id (1), 5, 9), 4);
  ck_assert_uint_eq (irisd_uncounted_count_tries (self, make_id (2), 5, 9), 9);
  /* The consumer was made anew, and counts from the beginning. */
  ck_assert_uint_eq (irisd_uncounted_count_tries (self, make_id (1), 5, 1), 1);
  irisd_uncounted_forget (self, make_id (1));
  ck_assert_uint_eq (irisd_uncounted_count_tries (self, make_id (1), 5, 6), 6);
}

/* It was put into the stream anew, which counts its deliveries from one. */
TEST (what_was_given_back_of_an_earlier_message_is_no_matter)
{
  g_autoptr (IrisdUncounted) self = irisd_uncounted_new (8);

  for (guint i = 0; i < 3; i++)
    irisd_uncounted_add (self, make_id (1), 5);
  ck_assert_uint_eq (irisd_uncounted_count_tries (self, make_id (1), 6, 4), 4);
  irisd_uncounted_add (self, make_id (1), 6);
  ck_assert_uint_eq (irisd_uncounted_count_tries (self, make_id (1), 6, 4), 3);
  ck_assert_uint_eq (irisd_uncounted_count_tries (self, make_id (1), 5, 4), 4);
}

TEST (the_oldest_are_forgotten_beyond_the_limit)
{
  g_autoptr (IrisdUncounted) self = irisd_uncounted_new (3);

  for (guint64 i = 1; i <= 3; i++)
    irisd_uncounted_add (self, make_id (i), 5);
  irisd_uncounted_add (self, make_id (1), 5);
  irisd_uncounted_add (self, make_id (4), 5);
  ck_assert_uint_eq (irisd_uncounted_count_tries (self, make_id (2), 5, 9), 9);
  ck_assert_uint_eq (irisd_uncounted_count_tries (self, make_id (1), 5, 9), 7);
  ck_assert_uint_eq (irisd_uncounted_count_tries (self, make_id (3), 5, 9), 8);
  ck_assert_uint_eq (irisd_uncounted_count_tries (self, make_id (4), 5, 9), 8);
}

TEST_MAIN ("irisd-uncounted", NULL, NULL)
