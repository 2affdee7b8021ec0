/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * The configuration and the table of limits: units, ranges, defaults, and the manual page.
 */
#include "core-test-run.h"
#include "daemon/base/irisd-error.h"
#include "daemon/config/irisd-config-diff.h"
#include "daemon/config/irisd-config.h"
#include "daemon/config/irisd-places.h"

#include <check.h>
#include <string.h>

static const char *source_root;

START_TEST (limits_take_numbers_with_units_within_their_range)
{
  IrisdLimits limits;
  irisd_limits_init (&limits);
  ck_assert_uint_eq (limits.max_body, IRIS_WIRE_DEFAULT_MAX_BODY);
  ck_assert (irisd_limits_set (&limits, "max-body", "70000", NULL));
  ck_assert_uint_eq (limits.max_body, 70000);
  ck_assert (irisd_limits_set (&limits, "max-body", "3M", NULL));
  ck_assert_uint_eq (limits.max_body, 3 * 1024 * 1024);

  const char *const bad[][2] = {
    { "max-body", "" },    { "max-body", "-1" },    { "max-body", "1 M" },
    { "max-body", "1MB" }, { "max-body", "1000G" }, { "max-body", "99999999999999999999" },
    { "max-body", "0" },   { "max-bodies", "1M" },
  };
  for (guint i = 0; i < G_N_ELEMENTS (bad); i++)
    {
      g_autoptr (GError) error = NULL;
      ck_assert (!irisd_limits_set (&limits, bad[i][0], bad[i][1], &error));
      ck_assert (g_error_matches (error, IRISD_ERROR, IRISD_ERROR_USAGE));
    }
  ck_assert_uint_eq (limits.max_body, 3 * 1024 * 1024);
}
END_TEST

START_TEST (every_limit_has_a_default_within_its_range_and_a_field_of_its_own)
{
  guint n = 0;
  const IrisdLimitInfo *table = irisd_limits_get_table (&n);
  ck_assert_uint_eq (n * sizeof (guint64), sizeof (IrisdLimits));
  IrisdLimits limits;
  memset (&limits, 0xff, sizeof limits);
  irisd_limits_init (&limits);
  for (guint i = 0; i < n; i++)
    {
      guint64 value = irisd_limits_get (&limits, &table[i]);
      ck_assert_uint_eq (value, table[i].fallback);
      ck_assert_uint_ge (value, table[i].min);
      ck_assert_uint_le (value, table[i].max);
      ck_assert_str_ne (table[i].summary, "");
    }
}
END_TEST

/* As people write it, and with the hyphens of a manual page. */
static char *
describe_limit (const IrisdLimitInfo *info)
{
  const char *units = "KMG";
  guint64 value = info->fallback;
  int unit = -1;
  for (;
       value >= 1024 && value % 1024 == 0 && g_str_has_prefix (info->summary, "bytes") && unit < 2;
       unit++)
    value /= 1024;
  g_auto (GStrv) words = g_strsplit (info->name, "-", -1);
  g_autofree char *name = g_strjoinv ("\\-", words);
  return g_strdup_printf ("\n.BR %s \" (%" G_GUINT64_FORMAT "%.*s)\"\n", name, value, unit >= 0,
                          units + MAX (unit, 0));
}

START_TEST (the_manual_page_gives_every_limit_with_its_default)
{
  g_autofree char *path = g_build_filename (source_root, "doc", "man", "irisd.conf.5", NULL);
  g_autofree char *page = NULL;
  ck_assert (g_file_get_contents (path, &page, NULL, NULL));
  guint n = 0;
  const IrisdLimitInfo *table = irisd_limits_get_table (&n);
  for (guint i = 0; i < n; i++)
    {
      g_autofree char *wanted = describe_limit (&table[i]);
      ck_assert_msg (strstr (page, wanted) != NULL, "irisd.conf.5 lacks%s", wanted);
    }
}
END_TEST

START_TEST (the_default_limits_fit_each_other)
{
  g_autoptr (IrisdConfig) config = irisd_config_new ();
  ck_assert (irisd_config_check (config, NULL));
  config->limits.max_output = config->limits.max_body + 1;
  g_autoptr (GError) error = NULL;
  ck_assert (!irisd_config_check (config, &error));
  ck_assert_ptr_nonnull (strstr (error->message, "max-output"));
}
END_TEST

START_TEST (a_steal_policy_is_given_in_words)
{
  const char *text = "[irisd]\nsteal = random+one\n";
  g_autoptr (IrisdConfig) config = irisd_config_new ();
  g_autoptr (IrisPlaces) places = iris_places_new_unbound (2, 1);
  g_autoptr (IrisScheduler) scheduler = NULL;
  g_autoptr (IrisStealPolicy) policy = NULL;
  g_autoptr (GError) error = NULL;
  IrisStealAmount amount;

  ck_assert (irisd_config_load_text (config, "irisd.conf", text, strlen (text), &error));
  scheduler = irisd_places_new_scheduler (config, places);
  g_object_get (scheduler, "steal-policy", &policy, NULL);
  ck_assert_ptr_nonnull (policy);
  g_object_get (policy, "amount", &amount, NULL);
  ck_assert_int_eq (amount, IRIS_STEAL_AMOUNT_ONE);

  ck_assert (!irisd_config_set (config, "steal", "everything", &error));
  ck_assert (g_error_matches (error, IRISD_ERROR, IRISD_ERROR_USAGE));
}
END_TEST

START_TEST (deques_and_layouts_are_given_by_name)
{
  const char *text = "[irisd]\ndeque = chase-lev\nlayout = affinity\ndeal = round-robin\n";
  g_autoptr (IrisdConfig) config = irisd_config_new ();
  g_autoptr (IrisPlaces) places = iris_places_new_unbound (2, 1);
  g_autoptr (IrisScheduler) scheduler = NULL;
  g_autoptr (GError) error = NULL;
  IrisDequeKind deque;
  IrisLayout layout;
  IrisDeal deal;

  ck_assert (irisd_config_load_text (config, "irisd.conf", text, strlen (text), &error));
  scheduler = irisd_places_new_scheduler (config, places);
  g_object_get (scheduler, "deque", &deque, "layout", &layout, "deal", &deal, NULL);
  ck_assert_int_eq (deque, IRIS_DEQUE_CHASE_LEV);
  ck_assert_int_eq (layout, IRIS_LAYOUT_AFFINITY);
  ck_assert_int_eq (deal, IRIS_DEAL_ROUND_ROBIN);

  ck_assert (!irisd_config_set (config, "layout", "heap", &error));
  ck_assert_str_eq (error->message,
                    "there is no layout “heap”; choose workers, affinity, shared or mailboxes");
  g_clear_error (&error);
  ck_assert (!irisd_config_set (config, "deque", "idempotent", &error));
  ck_assert_str_eq (error->message, "there is no deque “idempotent”; choose chase-lev, split, abp, "
                                    "steal-half or locked");
}
END_TEST

START_TEST (addresses_to_listen_on_are_numbers)
{
  g_autoptr (IrisdConfig) config = irisd_config_new ();
  ck_assert (irisd_config_set (config, "tcp", "127.0.0.1:4700", NULL));
  ck_assert_str_eq (config->tcp_host, "127.0.0.1");
  ck_assert_uint_eq (config->tcp_port, 4700);
  ck_assert (irisd_config_set (config, "tcp", "[::1]:0", NULL));
  ck_assert_str_eq (config->tcp_host, "::1");
  ck_assert_uint_eq (config->tcp_port, 0);
  const char *const bad[] = {
    "", ":", ":1", "127.0.0.1", "127.0.0.1:", "127.0.0.1:65536", "*:1", "example.org:1",
  };
  for (guint i = 0; i < G_N_ELEMENTS (bad); i++)
    {
      g_autoptr (GError) error = NULL;
      ck_assert (!irisd_config_set (config, "tcp", bad[i], &error));
      ck_assert (g_error_matches (error, IRISD_ERROR, IRISD_ERROR_USAGE));
    }
}
END_TEST

START_TEST (beyond_loopback_a_key_is_needed)
{
  static const char *const beyond[] = { "0.0.0.0:1", "[::]:1", "192.0.2.1:1", "[2001:db8::1]:1" };
  for (guint i = 0; i < G_N_ELEMENTS (beyond); i++)
    {
      g_autoptr (IrisdConfig) config = irisd_config_new ();
      g_autoptr (GError) error = NULL;
      ck_assert (irisd_config_set (config, "tcp", beyond[i], NULL));
      ck_assert (!irisd_config_check (config, &error));
      ck_assert (g_error_matches (error, IRISD_ERROR, IRISD_ERROR_USAGE));
      ck_assert_ptr_nonnull (strstr (error->message, "irisctl key new"));
      ck_assert (irisd_config_set (config, "server-key", "/a/server.key", NULL));
      ck_assert (irisd_config_check (config, NULL));
      ck_assert (irisd_config_set (config, "tcp-trusted", "true", NULL));
      ck_assert (!irisd_config_check (config, NULL));
    }
}
END_TEST

START_TEST (a_file_of_the_configuration_is_read_over_the_one_before)
{
  g_autoptr (IrisdConfig) config = irisd_config_new ();
  const char first[] = "[irisd]\nworkers=3\nbind=false\n", second[] = "[irisd]\nworkers=4\n";
  ck_assert (irisd_config_load_text (config, "1", first, strlen (first), NULL));
  ck_assert (irisd_config_load_text (config, "2", second, strlen (second), NULL));
  ck_assert_uint_eq (config->n_workers, 4);
  ck_assert (!config->bind);
  g_auto (GStrv) files = irisd_config_find_files ("/only/this");
  ck_assert_uint_eq (g_strv_length (files), 1);
  ck_assert_str_eq (files[0], "/only/this");
}
END_TEST

static const char *const good_cluster_keys[][2] = {
  { "url", "nats://192.0.2.1:4222" },
  { "url", "nats://u:p@a:1,tls://b.example" },
  { "url", "nats://[2001:db8::1]:4222" },
  { "node", "n1" },
  { "node", "a-very-long-name-0123456789-abcd" },
  { "stream", "IRIS" },
  { "stream", "IRIS_EU1" },
  { "replicas", "1" },
  { "labels", "rack=r1, zone=north" },
  { "secret-file", "/etc/iris/secret" },
  { "credentials", "/etc/iris/nats.creds" },
  { "tls-ca", "/etc/iris/ca.pem" },
  { "monitor", "http://192.0.2.1:8222" },
  { "durable-without-sync", "true" },
  { "steal-threshold", "0" },
  { "pull-window", "8" },
  { "lease-ms", "60000" },
  { "max-away", "10" },
  { "stream-items", "1000" },
  { "stream-bytes", "1048576" },
  { "bodies-bytes", "1048576" },
};

static const char *const bad_cluster_keys[][2] = {
  { "url", "" },
  { "url", "192.0.2.1:4222" },
  { "url", "http://192.0.2.1:4222" },
  { "url", "nats://" },
  { "url", "nats://a:0" },
  { "url", "nats://a:port" },
  { "url", "nats://a," },
  { "url", "nats://a/b" },
  { "node", "" },
  { "node", "any" },
  { "node", "N1" },
  { "node", "1n" },
  { "node", "a.b" },
  { "node", "a-very-long-name-0123456789-abcde" },
  { "stream", "iris" },
  { "stream", "IRIS-1" },
  { "replicas", "2" },
  { "labels", "rack" },
  { "labels", "rack=" },
  { "labels", "rack=a,rack=b" },
  { "secret-file", "secret" },
  { "monitor", "192.0.2.1:8222" },
  { "monitor", "http://u:p@192.0.2.1:8222" },
  { "durable-without-sync", "yes" },
  { "steal-threshold", "-1" },
  { "pull-window", "0" },
  { "lease-ms", "999" },
  { "max-away", "" },
  { "colour", "blue" },
};

START_TEST (keys_of_a_cluster_are_checked)
{
  g_autoptr (IrisdConfig) config = irisd_config_new ();
  for (guint i = 0; i < G_N_ELEMENTS (good_cluster_keys); i++)
    {
      g_autoptr (GError) error = NULL;
      ck_assert_msg (irisd_cluster_config_set (&config->cluster, good_cluster_keys[i][0],
                                               good_cluster_keys[i][1], &error),
                     "%s = %s: %s", good_cluster_keys[i][0], good_cluster_keys[i][1],
                     error->message);
    }
  for (guint i = 0; i < G_N_ELEMENTS (bad_cluster_keys); i++)
    {
      g_autoptr (GError) error = NULL;
      ck_assert_msg (!irisd_cluster_config_set (&config->cluster, bad_cluster_keys[i][0],
                                                bad_cluster_keys[i][1], &error),
                     "%s = %s", bad_cluster_keys[i][0], bad_cluster_keys[i][1]);
      ck_assert (g_error_matches (error, IRISD_ERROR, IRISD_ERROR_USAGE));
    }
  g_auto (GStrv) labels = irisd_cluster_config_list_labels (&config->cluster);
  ck_assert_str_eq (labels[0], "rack=r1");
  ck_assert_str_eq (labels[1], "zone=north");
  ck_assert_ptr_null (labels[2]);
}
END_TEST

START_TEST (a_cluster_needs_a_secret_and_both_parts_of_a_certificate)
{
  g_autoptr (IrisdConfig) config = irisd_config_new ();
  IrisdClusterConfig *cluster = &config->cluster;
  ck_assert (irisd_cluster_config_check (cluster, NULL));
  ck_assert (irisd_cluster_config_set (cluster, "url", "nats://192.0.2.1:4222", NULL));
  ck_assert (irisd_cluster_config_set (cluster, "node", "n1", NULL));
  ck_assert (!irisd_cluster_config_check (cluster, NULL));
  ck_assert (irisd_cluster_config_set (cluster, "secret-file", "/no/such/file", NULL));
#ifdef IRISD_HAVE_CLUSTER
  ck_assert (irisd_cluster_config_check (cluster, NULL));
  ck_assert (irisd_cluster_config_set (cluster, "tls-cert", "/a/cert.pem", NULL));
#endif
  ck_assert (!irisd_cluster_config_check (cluster, NULL));
  g_autoptr (GError) error = NULL;
  ck_assert_ptr_null (irisd_cluster_config_load_secret (cluster, &error));
  ck_assert (g_error_matches (error, IRISD_ERROR, IRISD_ERROR_USAGE));
}
END_TEST

START_TEST (no_message_has_the_password_of_a_url)
{
  static const char *const urls[] = {
    "nats://me:hidden@192.0.2.1:4222", "nats://hidden@192.0.2.1",
    "nats://me:hid,hidden@192.0.2.1",  "nats://me:hidden@a,nats://you:hidden@b",
    "me:hidden@192.0.2.1:4222",        "nats://me:hi@hidden@192.0.2.1:bad",
    "nats://a,nats://me:hidden@/",
  };
  for (guint i = 0; i < G_N_ELEMENTS (urls); i++)
    {
      g_autofree char *shown = irisd_cluster_config_hide_secrets (urls[i]);
      g_autoptr (IrisdConfig) now = irisd_config_new ();
      g_autoptr (IrisdConfig) fresh = irisd_config_new ();
      g_autoptr (GError) error = NULL;
      ck_assert_msg (strstr (shown, "hid") == NULL, "%s", shown);
      if (!irisd_config_set_named (fresh, "[cluster] url", urls[i], "here", &error))
        {
          ck_assert_msg (strstr (error->message, "hid") == NULL, "%s", error->message);
          continue;
        }
      g_autoptr (IrisdConfigDiff) diff = irisd_config_diff_new (now, fresh, NULL);
      ck_assert_uint_eq (diff->kept->len, 1);
      const char *line = g_ptr_array_index (diff->kept, 0);
      ck_assert_msg (strstr (line, "hid") == NULL, "%s", line);
      ck_assert (g_str_has_suffix (line, ": start irisd again to change it"));
    }
}
END_TEST

START_TEST (what_a_library_says_is_scrubbed)
{
  g_autoptr (IrisdConfig) config = irisd_config_new ();
  IrisdClusterConfig *cluster = &config->cluster;
  g_autofree char *before = irisd_cluster_config_scrub (cluster, "nats://me:hidden@a");
  ck_assert_str_eq (before, "nats://me:hidden@a");
  ck_assert (irisd_cluster_config_set (cluster, "url", "nats://me:hidden@a,nats://token@b,nats://c",
                                       NULL));
  g_autofree char *clean = irisd_cluster_config_scrub (
      cluster, "nats://me:hidden@a: no; nats://token@b: the password hidden is wrong at nats://c");
  ck_assert_str_eq (clean, "nats://…@a: no; nats://…@b: the password … is wrong at nats://c");
}
END_TEST

START_TEST (the_manual_page_gives_every_key_of_a_cluster)
{
  static const char *const keys[] = { "url",
                                      "node",
                                      "secret-file",
                                      "credentials",
                                      "tls-ca",
                                      "tls-cert",
                                      "tls-key",
                                      "monitor",
                                      "stream",
                                      "replicas",
                                      "stream-items",
                                      "stream-bytes",
                                      "bodies-bytes",
                                      "labels",
                                      "durable-without-sync",
                                      "steal-threshold",
                                      "pull-window",
                                      "lease-ms",
                                      "lost-attempts",
                                      "join-ms",
                                      "max-away" };
  g_autofree char *path = g_build_filename (source_root, "doc", "man", "irisd.conf.5", NULL);
  g_autofree char *page = NULL;
  ck_assert (g_file_get_contents (path, &page, NULL, NULL));
  const char *group = strstr (page, ".SH GROUP [cluster]");
  ck_assert_ptr_nonnull (group);
  for (guint i = 0; i < G_N_ELEMENTS (keys); i++)
    {
      g_auto (GStrv) words = g_strsplit (keys[i], "-", -1);
      g_autofree char *name = g_strjoinv ("\\-", words);
      g_autofree char *line = g_strdup_printf ("\n.BR %s ", name);
      g_autofree char *bare = g_strdup_printf ("\n.B %s\n", name);
      ck_assert_msg (strstr (group, line) != NULL || strstr (group, bare) != NULL, "%s", keys[i]);
    }
}
END_TEST

int
main (int argc, char **argv)
{
  source_root = argc > 1 ? argv[1] : ".";
  Suite *suite = suite_create ("irisd-config");
  TCase *tcase = tcase_create ("config");
  tcase_add_test (tcase, limits_take_numbers_with_units_within_their_range);
  tcase_add_test (tcase, every_limit_has_a_default_within_its_range_and_a_field_of_its_own);
  tcase_add_test (tcase, the_manual_page_gives_every_limit_with_its_default);
  tcase_add_test (tcase, the_default_limits_fit_each_other);
  tcase_add_test (tcase, a_steal_policy_is_given_in_words);
  tcase_add_test (tcase, deques_and_layouts_are_given_by_name);
  tcase_add_test (tcase, addresses_to_listen_on_are_numbers);
  tcase_add_test (tcase, beyond_loopback_a_key_is_needed);
  tcase_add_test (tcase, a_file_of_the_configuration_is_read_over_the_one_before);
  tcase_add_test (tcase, keys_of_a_cluster_are_checked);
  tcase_add_test (tcase, a_cluster_needs_a_secret_and_both_parts_of_a_certificate);
  tcase_add_test (tcase, no_message_has_the_password_of_a_url);
  tcase_add_test (tcase, what_a_library_says_is_scrubbed);
  tcase_add_test (tcase, the_manual_page_gives_every_key_of_a_cluster);
  suite_add_tcase (suite, tcase);
  return core_test_run (suite);
}
