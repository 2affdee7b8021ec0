/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * What one client or service of irisd may have in flight, and how fast, with a clock of our own.
 */
#include "core-test-run.h"
#include "daemon/config/irisd-config.h"
#include "daemon/config/irisd-fair-rules.h"

#include <check.h>
#include <stdlib.h>
#include <string.h>

static GHashTable *
no_rules (void)
{
  return g_hash_table_new_full (g_str_hash, g_str_equal, NULL, NULL);
}

#define ONE GSIZE_TO_POINTER (1)
#define TWO GSIZE_TO_POINTER (3)

TEST (a_client_has_so_many_items_and_bytes_in_flight)
{
  g_autoptr (GHashTable) services = no_rules ();
  IrisdFairRules rules;
  IrisdFairRefusal refusal;
  irisd_fair_rules_init (&rules, &(IrisdFairRule){ .items = 2, .bytes = 100 }, services);
  ck_assert (irisd_fair_rules_admit (&rules, ONE, "echo", 90, 0, &refusal));
  ck_assert (!irisd_fair_rules_admit (&rules, ONE, "echo", 20, 0, &refusal));
  ck_assert_str_eq (refusal.limit, "client-bytes");
  ck_assert_uint_eq (refusal.value, 100);
  ck_assert_uint_gt (refusal.retry_ms, 0);
  ck_assert (irisd_fair_rules_admit (&rules, ONE, "echo", 10, 0, &refusal));
  ck_assert (!irisd_fair_rules_admit (&rules, ONE, "echo", 0, 0, &refusal));
  ck_assert_str_eq (refusal.limit, "client-items");
  /* Another one is not concerned, and what is too large alone goes alone. */
  ck_assert (irisd_fair_rules_admit (&rules, TWO, "echo", 1000, 0, &refusal));
  irisd_fair_rules_release (&rules, ONE, "echo", 90, 0);
  irisd_fair_rules_release (&rules, ONE, "echo", 10, 0);
  irisd_fair_rules_release (&rules, TWO, "echo", 1000, 0);
  ck_assert_uint_eq (irisd_fair_rules_get_count (&rules), 0);
  irisd_fair_rules_clear (&rules);
}

TEST (a_rate_lets_a_second_of_it_through_at_once_and_then_its_pace)
{
  g_autoptr (GHashTable) services = no_rules ();
  IrisdFairRule rule = { .rate = 10 };
  g_hash_table_insert (services, (gpointer) "echo", &rule);
  IrisdFairRules rules;
  IrisdFairRefusal refusal;
  irisd_fair_rules_init (&rules, &(IrisdFairRule){ 0 }, services);
  gint64 now = 100 * G_USEC_PER_SEC;
  guint admitted = 0;
  for (guint ms = 0; ms < 4950; ms++, now += 1000)
    while (irisd_fair_rules_admit (&rules, ONE, "echo", 0, now, &refusal))
      admitted++;
  ck_assert_str_eq (refusal.limit, "service-rate");
  ck_assert_uint_eq (admitted, 10 + 49);
  /* At the time that the refusal gives the rule admits again, and not two milliseconds before. */
  ck_assert (!irisd_fair_rules_admit (&rules, ONE, "echo", 0, now, &refusal));
  gint64 then = now + refusal.retry_ms * 1000;
  ck_assert (!irisd_fair_rules_admit (&rules, ONE, "echo", 0, then - 2000, &refusal));
  ck_assert (irisd_fair_rules_admit (&rules, ONE, "echo", 0, then, &refusal));
  ck_assert (irisd_fair_rules_admit (&rules, ONE, "sha256", 0, now, &refusal));
  irisd_fair_rules_clear (&rules);
}

TEST (clients_that_come_and_go_leave_no_account)
{
  g_autoptr (GHashTable) services = no_rules ();
  IrisdFairRules rules;
  IrisdFairRefusal refusal;
  irisd_fair_rules_init (&rules, &(IrisdFairRule){ .rate = 1 }, services);
  for (gsize i = 1; i <= 10000; i++)
    {
      /* Its token is not back yet when its item ends. */
      gint64 now = (gint64) i * G_USEC_PER_SEC;
      ck_assert (irisd_fair_rules_admit (&rules, GSIZE_TO_POINTER (i), "echo", 0, now, &refusal));
      irisd_fair_rules_release (&rules, GSIZE_TO_POINTER (i), "echo", 0, now);
    }
  ck_assert_uint_le (irisd_fair_rules_get_count (&rules), 64);
  irisd_fair_rules_clear (&rules);
}

TEST (rules_are_read_from_the_configuration)
{
  const char good[] =
      "[client]\nitems = 3\nrate = 10\n[service a b]\nbytes = 100\nconcurrency = 7\n";
  g_autoptr (IrisdConfig) config = irisd_config_new ();
  g_autoptr (GError) error = NULL;
  ck_assert (irisd_config_load_text (config, "file", good, strlen (good), &error));
  ck_assert_uint_eq (config->client_rule.items, 3);
  ck_assert_uint_eq (config->client_rule.bytes, 0);
  ck_assert_uint_eq (config->client_rule.rate, 10);
  const IrisdFairRule *rule = g_hash_table_lookup (config->service_rules, "a b");
  ck_assert_uint_eq (rule->bytes, 100);
  ck_assert_uint_eq (rule->concurrency, 7);
  ck_assert_uint_eq (config->client_rule.concurrency, 0);

  const char *const bad[] = { "[client]\nitem = 3\n",          "[service x]\nrate = fast\n",
                              "[service x]\nrate = 1000001\n", "[service ]\nrate = 1\n",
                              "[clients]\nrate = 1\n",         "[client]\nconcurrency = -1\n" };
  for (guint i = 0; i < G_N_ELEMENTS (bad); i++)
    {
      g_autoptr (GError) refusal = NULL;
      ck_assert (!irisd_config_load_text (config, "file", bad[i], strlen (bad[i]), &refusal));
      ck_assert_ptr_nonnull (strstr (refusal->message, "file"));
    }
}

TEST (rules_may_change_while_items_are_in_flight)
{
  g_autoptr (GHashTable) services = no_rules ();
  g_autoptr (GHashTable) others = no_rules ();
  IrisdFairRule rule = { .items = 1 };
  IrisdFairRules rules;
  IrisdFairRefusal refusal;
  g_hash_table_insert (others, (gpointer) "echo", &rule);
  irisd_fair_rules_init (&rules, &(IrisdFairRule){ 0 }, services);
  ck_assert (irisd_fair_rules_admit (&rules, ONE, "echo", 10, 0, &refusal));
  irisd_fair_rules_change (&rules, &(IrisdFairRule){ .items = 2 }, others);
  ck_assert (irisd_fair_rules_admit (&rules, ONE, "echo", 10, 0, &refusal));
  ck_assert (!irisd_fair_rules_admit (&rules, ONE, "echo", 10, 0, &refusal));
  ck_assert_str_eq (refusal.limit, "service-items");
  /* Without the service's rule what it had in flight is forgotten, and the client's is not. */
  irisd_fair_rules_change (&rules, &(IrisdFairRule){ .items = 2 }, services);
  ck_assert (irisd_fair_rules_admit (&rules, ONE, "echo", 10, 0, &refusal));
  ck_assert (!irisd_fair_rules_admit (&rules, ONE, "echo", 10, 0, &refusal));
  ck_assert_str_eq (refusal.limit, "client-items");
  /* The first one was not counted: no account falls below zero. */
  for (guint i = 0; i < 3; i++)
    irisd_fair_rules_release (&rules, ONE, "echo", 10, 0);
  ck_assert_uint_eq (irisd_fair_rules_get_count (&rules), 0);
  irisd_fair_rules_clear (&rules);
}

TEST_MAIN ("irisd-fair-rules", NULL, NULL)
