/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * Acknowledgements that are sent together: all of them, once, in their order, and none too late.
 */
#include "core-test-run.h"
#include "daemon/cluster/bridge/irisd-late-acks.h"

static GString *sent;
static IrisdLateAcks *acks;

static void
on_send (const char *subject, gpointer user_data)
{
  g_string_append_printf ((GString *) user_data, "%s ", subject);
}

static void
setup (void)
{
  sent = g_string_new (NULL);
  acks = irisd_late_acks_new (on_send, sent);
}

static void
teardown (void)
{
  g_clear_pointer (&acks, irisd_late_acks_free);
  g_string_free (sent, TRUE);
}

TEST (none_waits_longer_than_its_time)
{
  ck_assert_int_eq (irisd_late_acks_tick (acks, 1000), G_MAXINT64);
  irisd_late_acks_add (acks, "a", 1000);
  irisd_late_acks_add (acks, "b", 2000);
  ck_assert_int_eq (irisd_late_acks_tick (acks, 1000 + IRISD_LATE_ACKS_US - 1),
                    1000 + IRISD_LATE_ACKS_US);
  ck_assert_str_eq (sent->str, "");
  ck_assert_int_eq (irisd_late_acks_tick (acks, 1000 + IRISD_LATE_ACKS_US), G_MAXINT64);
  ck_assert_str_eq (sent->str, "a b ");

  /* The time of the next begins with it. */
  irisd_late_acks_add (acks, "c", G_USEC_PER_SEC);
  ck_assert_int_eq (irisd_late_acks_tick (acks, G_USEC_PER_SEC),
                    G_USEC_PER_SEC + IRISD_LATE_ACKS_US);
  ck_assert_str_eq (sent->str, "a b ");
}

TEST (many_do_not_wait)
{
  for (guint i = 1; i < IRISD_LATE_ACKS_MOST; i++)
    irisd_late_acks_add (acks, "x", 0);
  ck_assert_uint_eq (sent->len, 0);
  irisd_late_acks_add (acks, "x", 0);
  ck_assert_uint_eq (sent->len, IRISD_LATE_ACKS_MOST * 2);
  ck_assert_int_eq (irisd_late_acks_tick (acks, 0), G_MAXINT64);
}

TEST (what_waits_can_be_sent_at_once)
{
  char subject[] = "a";

  irisd_late_acks_send (acks);
  irisd_late_acks_add (acks, subject, 0);
  subject[0] = '?';
  irisd_late_acks_send (acks);
  irisd_late_acks_send (acks);
  ck_assert_str_eq (sent->str, "a ");
}

TEST (what_was_not_sent_is_forgotten_at_the_end)
{
  irisd_late_acks_add (acks, "a", 0);
  g_clear_pointer (&acks, irisd_late_acks_free);
  ck_assert_str_eq (sent->str, "");
  acks = irisd_late_acks_new (on_send, sent);
}

TEST_MAIN ("irisd-late-acks", setup, teardown)
