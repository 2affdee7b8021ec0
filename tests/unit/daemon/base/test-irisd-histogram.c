/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * Histograms of times, and the numbers of names that counters lie at.
 */
#include "core-test-run.h"
#include "daemon/base/irisd-histogram.h"
#include "daemon/base/irisd-name-slots.h"

TEST (a_bucket_has_the_lengths_from_its_power_of_two_to_the_next)
{
  for (guint i = 1; i < IRISD_HISTOGRAM_BUCKETS; i++)
    {
      const gint64 begin = (gint64) 1 << (i + 9);
      ck_assert_uint_eq (irisd_histogram_get_bucket (begin), i);
      ck_assert_uint_eq (irisd_histogram_get_bucket (begin - 1), i - 1);
      ck_assert_uint_eq (irisd_histogram_get_bucket (begin + 1), i);
    }
}

TEST (lengths_beyond_the_ends_are_in_the_first_and_the_last_bucket)
{
  ck_assert_uint_eq (irisd_histogram_get_bucket (G_MININT64), 0);
  ck_assert_uint_eq (irisd_histogram_get_bucket (-1), 0);
  ck_assert_uint_eq (irisd_histogram_get_bucket (0), 0);
  ck_assert_uint_eq (irisd_histogram_get_bucket (1), 0);
  ck_assert_uint_eq (irisd_histogram_get_bucket (1023), 0);
  ck_assert_uint_eq (irisd_histogram_get_bucket ((gint64) 1 << 40), IRISD_HISTOGRAM_BUCKETS - 1);
  ck_assert_uint_eq (irisd_histogram_get_bucket (G_MAXINT64), IRISD_HISTOGRAM_BUCKETS - 1);
}

TEST (histograms_are_summed_with_their_lengths)
{
  static IrisdHistogram one, other;
  IrisdHistogramSum sum = { 0 };
  irisd_histogram_add (&one, 5);
  irisd_histogram_add (&one, 7);
  irisd_histogram_add (&one, -3);
  irisd_histogram_add (&other, 1500);
  irisd_histogram_read (&one, &sum);
  irisd_histogram_read (&other, &sum);
  ck_assert_uint_eq (irisd_histogram_sum_count (&sum), 4);
  ck_assert_uint_eq (sum.buckets[0], 3);
  ck_assert_uint_eq (sum.buckets[1], 1);
  ck_assert_uint_eq (sum.sum_ns, 1512);
}

TEST (a_name_keeps_its_slot)
{
  IrisdNameSlots slots;
  irisd_name_slots_init (&slots);
  ck_assert_uint_eq (irisd_name_slots_get_count (&slots), 1);
  guint echo = irisd_name_slots_take (&slots, "echo");
  guint render = irisd_name_slots_take (&slots, "render");
  ck_assert_uint_ne (echo, IRISD_OTHER_SLOT);
  ck_assert_uint_ne (echo, render);
  ck_assert_uint_eq (irisd_name_slots_take (&slots, "echo"), echo);
  ck_assert_str_eq (irisd_name_slots_get_name (&slots, render), "render");
  ck_assert_ptr_null (irisd_name_slots_get_name (&slots, IRISD_OTHER_SLOT));
  ck_assert_uint_eq (irisd_name_slots_get_count (&slots), 3);
  irisd_name_slots_clear (&slots);
}

TEST (names_beyond_the_bound_share_a_slot)
{
  IrisdNameSlots slots;
  irisd_name_slots_init (&slots);
  for (guint i = 1; i <= IRISD_MOST_NAME_SLOTS; i++)
    {
      g_autofree char *name = g_strdup_printf ("service-%u", i);
      ck_assert_uint_eq (irisd_name_slots_take (&slots, name), i);
    }
  ck_assert_uint_eq (irisd_name_slots_take (&slots, "one-more"), IRISD_OTHER_SLOT);
  ck_assert_uint_eq (irisd_name_slots_take (&slots, "service-1000"), 1000);
  ck_assert_uint_eq (irisd_name_slots_get_count (&slots), IRISD_MOST_NAME_SLOTS + 1);
  irisd_name_slots_clear (&slots);
}

TEST_MAIN ("irisd-histogram", NULL, NULL)
