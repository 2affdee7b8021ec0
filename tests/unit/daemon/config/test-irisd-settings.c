/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * Settings that are replaced while threads read them, and what a configuration that is read again
 * may change.
 */
#include "core-test-run.h"
#include "core-test-util.h"
#include "daemon/base/irisd-error.h"
#include "daemon/config/irisd-config-diff.h"
#include "daemon/config/irisd-settings.h"

#include <check.h>
#include <stdlib.h>
#include <string.h>

#define N_READERS 3
#define MOST_OLD  64

static const char *source_root;

/* Two places of it say the same, so that a torn or freed one shows. */
static IrisdConfig *
make_config (guint64 number)
{
  IrisdConfig *config = irisd_config_new ();
  config->limits.max_peers = config->client_rule.items = number;
  return config;
}

START_TEST (what_a_reader_may_still_use_is_kept)
{
  IrisdSettings settings;
  irisd_settings_init (&settings, make_config (0), 2);
  const IrisdConfig *held = irisd_settings_get (&settings);
  irisd_settings_publish (&settings, make_config (1));
  ck_assert (irisd_settings_pass (&settings, 0));
  ck_assert (!irisd_settings_pass (&settings, 0));
  ck_assert_uint_eq (irisd_settings_get (&settings)->limits.max_peers, 1);
  irisd_settings_publish (&settings, make_config (2));
  /* The other reader has not passed: it may use the first and the second. */
  ck_assert (irisd_settings_pass (&settings, 0));
  ck_assert_uint_eq (irisd_settings_collect (&settings), 2);
  ck_assert_uint_eq (held->limits.max_peers, 0);
  ck_assert (irisd_settings_pass (&settings, 1));
  ck_assert_uint_eq (irisd_settings_collect (&settings), 0);
  ck_assert_uint_eq (irisd_settings_get (&settings)->limits.max_peers, 2);
  /* A reader that has ended holds back nothing. */
  irisd_settings_publish (&settings, make_config (3));
  irisd_settings_pass (&settings, 0);
  ck_assert_uint_eq (irisd_settings_collect (&settings), 1);
  irisd_settings_leave (&settings, 1);
  ck_assert_uint_eq (irisd_settings_collect (&settings), 0);
  irisd_settings_clear (&settings);
}
END_TEST

typedef struct
{
  IrisdSettings *settings;
  guint number;
  guint64 last;
} Reader;

static gpointer
read_on (gpointer data)
{
  Reader *self = data;
  for (guint64 seen = 0; seen < self->last;)
    {
      irisd_settings_pass (self->settings, self->number);
      const IrisdConfig *config = irisd_settings_get (self->settings);
      ck_assert_uint_eq (config->limits.max_peers, config->client_rule.items);
      ck_assert_uint_ge (config->limits.max_peers, seen);
      seen = config->limits.max_peers;
    }
  irisd_settings_leave (self->settings, self->number);
  return NULL;
}

START_TEST (readers_see_each_configuration_whole_and_in_order)
{
  const guint64 last = CORE_TEST_LOAD (3000);
  IrisdSettings settings;
  Reader readers[N_READERS];
  GThread *threads[N_READERS];
  irisd_settings_init (&settings, make_config (0), N_READERS);
  for (guint i = 0; i < N_READERS; i++)
    {
      readers[i] = (Reader){ &settings, i, last };
      threads[i] = g_thread_new ("reader", read_on, &readers[i]);
    }
  for (guint64 number = 1; number <= last; number++)
    {
      irisd_settings_publish (&settings, make_config (number));
      while (irisd_settings_collect (&settings) > MOST_OLD)
        g_thread_yield ();
    }
  for (guint i = 0; i < N_READERS; i++)
    g_thread_join (threads[i]);
  ck_assert_uint_eq (irisd_settings_collect (&settings), 0);
  irisd_settings_clear (&settings);
}
END_TEST

/* Returns the difference to the defaults of a configuration with one setting. */
static IrisdConfigDiff *
diff_of (const char *name, const char *value)
{
  g_autoptr (IrisdConfig) now = irisd_config_new ();
  g_autoptr (IrisdConfig) fresh = irisd_config_new ();
  g_autoptr (GError) error = NULL;
  ck_assert_msg (irisd_config_set_named (fresh, name, value, "a test", &error), "%s: %s", name,
                 error != NULL ? error->message : "");
  IrisdConfigDiff *diff = irisd_config_diff_new (now, fresh, &error);
  ck_assert_msg (diff != NULL, "%s: %s", name, error != NULL ? error->message : "");
  return diff;
}

static void
check_row (const char *name, const char *value)
{
  g_autoptr (IrisdConfigDiff) diff = diff_of (name, value);
  gboolean changes = irisd_config_may_change (name);
  const GPtrArray *lines = changes ? diff->changed : diff->kept;
  ck_assert_uint_eq (diff->changed->len, changes);
  ck_assert_uint_eq (diff->kept->len, !changes);
  ck_assert_msg (g_str_has_prefix (g_ptr_array_index (lines, 0), name), "%s",
                 (const char *) g_ptr_array_index (lines, 0));
  const IrisdSetting *setting = irisd_config_get_setting (diff->config, name);
  ck_assert_str_eq (setting != NULL ? setting->text : "none", changes ? value : "none");
}

/* The value of each limit that fits the defaults of the others. */
START_TEST (every_limit_changes_or_stays_and_the_answer_says_which)
{
  guint n = 0;
  const IrisdLimitInfo *table = irisd_limits_get_table (&n);
  for (guint i = 0; i < n; i++)
    {
      g_autofree char *name = g_strconcat ("[limits] ", table[i].name, NULL);
      gboolean less = g_strv_contains (
          (const char *const[]){ "max-output", "keep-ms", "in-flight-items", NULL }, table[i].name);
      guint64 value = less || table[i].fallback == table[i].max ? table[i].fallback - 1
                                                                : table[i].fallback + 1;
      g_autofree char *text = g_strdup_printf ("%" G_GUINT64_FORMAT, value);
      check_row (name, text);
      g_autoptr (IrisdConfigDiff) diff = diff_of (name, text);
      ck_assert_uint_eq (irisd_limits_get (&diff->config->limits, &table[i]),
                         irisd_config_may_change (name) ? value : table[i].fallback);
    }
}
END_TEST

START_TEST (every_other_setting_changes_or_stays_and_the_answer_says_which)
{
  static const char *const rows[][2] = {
    { "[irisd] dir", "/tmp/x" },
    { "[irisd] journal", "/tmp/x" },
    { "[irisd] paused", "true" },
    { "[irisd] cgroup", "none" },
    { "[irisd] places", "machine" },
    { "[irisd] topology", "pu:2" },
    { "[irisd] workers", "3" },
    { "[irisd] scheduler", "lockfree" },
    { "[irisd] deque", "chase-lev" },
    { "[irisd] layout", "workers" },
    { "[irisd] deal", "own" },
    { "[irisd] steal", "random+one" },
    { "[irisd] bind", "false" },
    { "[irisd] log-level", "debug" },
    { "[irisd] tcp", "127.0.0.1:0" },
    { "[irisd] tcp-trusted", "true" },
    { "[irisd] http", "127.0.0.1:0" },
    { "[irisd] otlp", "http://127.0.0.1:4318" },
    { "[irisd] http-options", "--limit pages=3" },
    { "[irisd] plugins", "/tmp/x" },
    { "[irisd] plugin-dirs", "/tmp/x;/tmp/y" },
    { "[irisd] plugins-required", "true" },
    { "[access] commands", "none" },
    { "[access] files", "none" },
    { "[client] items", "3" },
    { "[client] rate", "3" },
    { "[service echo] concurrency", "3" },
  };
  for (guint i = 0; i < G_N_ELEMENTS (rows); i++)
    check_row (rows[i][0], rows[i][1]);
}
END_TEST

/* Whether other users are admitted at all decides on the mode of the sockets. */
START_TEST (users_change_but_not_from_none_to_some)
{
  g_autoptr (IrisdConfigDiff) opened = diff_of ("[access] users", "65533");
  ck_assert_uint_eq (opened->kept->len, 1);
  ck_assert (!irisd_access_is_shared (&opened->config->access));

  g_autoptr (IrisdConfig) now = irisd_config_new ();
  g_autoptr (IrisdConfig) fresh = irisd_config_new ();
  ck_assert (irisd_config_set_named (now, "[access] users", "65533", "a test", NULL));
  ck_assert (irisd_config_set_named (fresh, "[access] users", "65534", "a test", NULL));
  g_autoptr (IrisdConfigDiff) other = irisd_config_diff_new (now, fresh, NULL);
  ck_assert_uint_eq (other->changed->len, 1);
  ck_assert (irisd_access_allows (&other->config->access, IRISD_ACCESS_ENTER, 65534));
  ck_assert (!irisd_access_allows (&other->config->access, IRISD_ACCESS_ENTER, 65533));
}
END_TEST

/* What stays and what changes must fit each other. */
START_TEST (a_change_that_does_not_fit_what_stays_is_refused)
{
  g_autoptr (IrisdConfig) now = irisd_config_new ();
  g_autoptr (IrisdConfig) fresh = irisd_config_new ();
  g_autoptr (GError) error = NULL;
  ck_assert (irisd_config_set_named (fresh, "[limits] total-bytes", "2M", "a.conf, line 2", NULL));
  ck_assert (
      irisd_config_set_named (fresh, "[limits] in-flight-bytes", "1M", "a.conf, line 3", NULL));
  ck_assert (irisd_config_set_named (fresh, "[limits] max-body", "1M", "a.conf, line 4", NULL));
  ck_assert_ptr_null (irisd_config_diff_new (now, fresh, &error));
  ck_assert (g_error_matches (error, IRISD_ERROR, IRISD_ERROR_USAGE));
  ck_assert_msg (strstr (error->message, "a.conf, line 2: [limits] in-flight-bytes") != NULL, "%s",
                 error->message);
}
END_TEST

/* Text of the manual page between two words, with plain hyphens. */
static char *
read_page (void)
{
  g_autofree char *path = g_build_filename (source_root, "doc", "man", "irisd.conf.5", NULL);
  g_autofree char *page = NULL;
  ck_assert (g_file_get_contents (path, &page, NULL, NULL));
  g_auto (GStrv) parts = g_strsplit (page, "\\-", -1);
  g_autofree char *plain = g_strjoinv ("-", parts);
  const char *begin = strstr (plain, "\n.SH RELOAD");
  ck_assert_ptr_nonnull (begin);
  const char *end = strstr (begin + 1, "\n.SH");
  return g_strndup (begin, end != NULL ? (gsize) (end - begin) : strlen (begin));
}

START_TEST (the_manual_page_names_the_limits_that_change)
{
  g_autofree char *page = read_page ();
  guint n = 0;
  const IrisdLimitInfo *table = irisd_limits_get_table (&n);
  for (guint i = 0; i < n; i++)
    {
      g_autofree char *name = g_strconcat ("[limits] ", table[i].name, NULL);
      g_autofree char *line = g_strdup_printf ("\n.BR %s", table[i].name);
      const char *found = strstr (page, line);
      gboolean named = found != NULL && strchr (" \n", found[strlen (line)]) != NULL;
      ck_assert_msg (named == irisd_config_may_change (name), "%s", name);
    }
}
END_TEST

START_TEST (a_service_may_be_named_without_a_limit)
{
  const char *text = "[service thumbnail]\n";
  g_autoptr (IrisdConfig) now = irisd_config_new ();
  g_autoptr (IrisdConfig) fresh = irisd_config_new ();
  ck_assert (irisd_config_load_text (fresh, "c", text, strlen (text), NULL));
  g_autoptr (IrisdConfigDiff) diff = irisd_config_diff_new (now, fresh, NULL);
  ck_assert (g_hash_table_contains (diff->config->service_rules, "thumbnail"));
  ck_assert_uint_eq (diff->changed->len, 1);
}
END_TEST

START_TEST (a_line_that_cannot_be_read_is_named)
{
  static const struct
  {
    const char *text;
    const char *words;
  } bad[] = {
    { "[irisd]\nworkers = 1\nnonsense\n", "c, line 3: " },
    { "x = 1\n", "c, line 1: " },
    { "[irisd]\n\n[open\n", "c, line 3: " },
    { "[irisd]\nworkers = many\n", "c, line 2, [irisd] workers: " },
    { "\n[nothing]\n", "c, line 2, [nothing]: " },
    { "[journal]\nspeed = 1\n", "c, line 2, [journal] speed: " },
  };
  for (guint i = 0; i < G_N_ELEMENTS (bad); i++)
    {
      g_autoptr (IrisdConfig) config = irisd_config_new ();
      g_autoptr (GError) error = NULL;
      ck_assert (!irisd_config_load_text (config, "c", bad[i].text, strlen (bad[i].text), &error));
      ck_assert_msg (g_str_has_prefix (error->message, bad[i].words), "%s", error->message);
    }
}
END_TEST

int
main (int argc, char **argv)
{
  source_root = argc > 1 ? argv[1] : ".";
  Suite *suite = suite_create ("irisd-settings");
  TCase *readers = tcase_create ("readers");
  tcase_add_test (readers, what_a_reader_may_still_use_is_kept);
  tcase_add_test (readers, readers_see_each_configuration_whole_and_in_order);
  suite_add_tcase (suite, readers);
  TCase *diff = tcase_create ("diff");
  tcase_add_test (diff, every_limit_changes_or_stays_and_the_answer_says_which);
  tcase_add_test (diff, every_other_setting_changes_or_stays_and_the_answer_says_which);
  tcase_add_test (diff, users_change_but_not_from_none_to_some);
  tcase_add_test (diff, a_change_that_does_not_fit_what_stays_is_refused);
  tcase_add_test (diff, the_manual_page_names_the_limits_that_change);
  tcase_add_test (diff, a_service_may_be_named_without_a_limit);
  tcase_add_test (diff, a_line_that_cannot_be_read_is_named);
  suite_add_tcase (suite, diff);
  return core_test_run (suite);
}
