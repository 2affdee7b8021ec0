/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * irisctl every, cron and schedules: making, listing, changing and removing, and what is refused.
 */
#include "irisctl-fixture.h"
#include "irisd-home.h"

#include <glib/gstdio.h>

#define MOST_SCHEDULES 3

/* Of a line of a table, where its width cannot be asked for. */
#define COLUMNS 80

#define LIMITS "[limits]\nmax-schedules = " G_STRINGIFY (MOST_SCHEDULES) "\n"

static Home *home;

static void
set_up_with_journal (void)
{
  home = home_new ();
  irisd = home_start (home, LIMITS);
}

static void
tear_down_with_journal (void)
{
  irisd_stop (irisd);
  home_free (home);
  g_clear_pointer (&out, g_free);
  g_clear_pointer (&err, g_free);
}

/* The only schedule of that name. */
static JsonObject *
find (const char *name, JsonNode **list)
{
  irisctl ("schedules", "--json", name);
  assert_status (0);
  *list = json ();
  ck_assert_uint_eq (json_array_get_length (json_node_get_array (*list)), 1);
  return element (*list, 0);
}

static gint64
get_number (const char *name, const char *member)
{
  g_autoptr (JsonNode) list = NULL;
  return json_object_get_int_member (find (name, &list), member);
}

static void
assert_text (JsonObject *schedule, const char *member, const char *wanted)
{
  ck_assert_str_eq (json_object_get_string_member (schedule, member), wanted);
}

static void
assert_number (JsonObject *schedule, const char *member, gint64 wanted)
{
  ck_assert_msg (json_object_get_int_member (schedule, member) == wanted, "%s", member);
}

static void
assert_refused (int wanted, const char *reason)
{
  assert_status (wanted);
  ck_assert_str_eq (out, "");
  ck_assert_msg (strstr (err, reason) != NULL, "not “%s”: %s", reason, err);
}

TEST (schedules_are_made_and_listed)
{
  irisctl ("schedules", "--json");
  assert_status (0);
  ck_assert_str_eq (out, "[]\n");
  irisctl ("every", "90m", "-C", "/", "--", "/usr/bin/printf", "%s", "a b");
  assert_status (0);
  ck_assert_str_eq (out, "printf\n");
  irisctl ("cron", "30 2 * * mon-fri", "--json", "--name", "backup", "--zone", "Europe/Berlin",
           "--jitter", "5m", "--missed", "skip", "--overlap", "wait", "--", "true");
  assert_status (0);
  g_autoptr (JsonNode) made = json ();
  JsonArray *names = json_object_get_array_member (json_node_get_object (made), "schedule");
  ck_assert_str_eq (json_array_get_string_element (names, 0), "backup");

  irisctl ("schedules", "--json");
  assert_status (0);
  g_autoptr (JsonNode) list = json ();
  ck_assert_uint_eq (json_array_get_length (json_node_get_array (list)), 2);
  JsonObject *cron = element (list, 0), *every = element (list, 1);
  assert_text (cron, "name", "backup");
  assert_text (cron, "calendar", "30 2 * * mon-fri");
  assert_text (cron, "zone", "Europe/Berlin");
  assert_number (cron, "jitter-ms", 300000);
  assert_number (cron, "missed", IRIS_WIRE_MISSED_SKIP);
  assert_number (cron, "overlap", IRIS_WIRE_OVERLAP_QUEUE);
  ck_assert_int_gt (json_object_get_int_member (cron, "next-ms"), g_get_real_time () / 1000);
  assert_text (every, "name", "printf");
  assert_text (every, "calendar", "");
  assert_text (every, "service", "command");
  assert_number (every, "every-ms", 90 * 60 * 1000);
  assert_number (every, "missed", IRIS_WIRE_MISSED_ONE);
  assert_number (every, "overlap", IRIS_WIRE_OVERLAP_SKIP);
  assert_number (every, "runs", 0);
  assert_number (every, "last-ms", 0);
  JsonArray *args = json_object_get_array_member (every, "args");
  ck_assert_uint_eq (json_array_get_length (args), 3);
  ck_assert_str_eq (json_array_get_string_element (args, 2), "a b");

  irisctl ("schedules", "-v");
  assert_status (0);
  ck_assert_msg (g_str_has_prefix (out, "name "), "%s", out);
  ck_assert_msg (strstr (out, "30 2 * * mon-fri Europe/Berlin") != NULL, "%s", out);
  ck_assert_msg (strstr (out, "every 90m") != NULL, "%s", out);
  ck_assert_msg (strstr (out, "/usr/bin/printf %s 'a b'\n") != NULL, "%s", out);
  ck_assert_msg (strstr (out, "skipped") != NULL, "%s", out);
  ck_assert_msg (strstr (out, "where") == NULL, "%s", out);
}

TEST (a_schedule_is_run_paused_resumed_replaced_and_removed)
{
  g_autofree char *gate = gate_new (irisd, "gate");
  irisctl ("every", "1h", "--name", "s", "--", "cat", gate);
  assert_status (0);
  const gint64 next_ms = get_number ("s", "next-ms");
  irisctl ("schedules", "--run", "s");
  assert_status (0);
  ck_assert_str_eq (out, "");
  gate_open (gate);
  while (get_number ("s", "state") != IRIS_WIRE_STATE_DONE)
    g_thread_yield ();
  ck_assert_int_eq (get_number ("s", "runs"), 1);
  ck_assert_int_gt (get_number ("s", "last-ms"), 0);
  ck_assert_int_eq (get_number ("s", "next-ms"), next_ms);
  irisctl ("list", "--json", "--key", "schedule/s/");
  assert_status (0);
  g_autoptr (JsonNode) runs = json ();
  ck_assert_uint_eq (json_array_get_length (json_node_get_array (runs)), 1);

  irisctl ("schedules", "--pause", "s");
  assert_status (0);
  ck_assert_int_eq (get_number ("s", "next-ms"), 0);
  irisctl ("schedules", "s");
  ck_assert_msg (strstr (out, "paused") != NULL, "%s", out);
  ck_assert_msg (strstr (out, "done") != NULL, "%s", out);
  irisctl ("schedules", "--resume", "s");
  assert_status (0);
  ck_assert_int_eq (get_number ("s", "next-ms"), next_ms);

  irisctl ("cron", "@daily", "--name", "s", "--", "true");
  assert_refused (2, "--replace");
  irisctl ("cron", "@daily", "--name", "s", "--replace", "--", "true");
  assert_status (0);
  g_autoptr (JsonNode) list = NULL;
  JsonObject *changed = find ("s", &list);
  assert_text (changed, "calendar", "@daily");
  assert_number (changed, "every-ms", 0);
  assert_number (changed, "runs", 1);
  ck_assert_str_eq (
      json_array_get_string_element (json_object_get_array_member (changed, "args"), 0), "true");

  /* What can be removed is, and the rest is told. */
  irisctl ("schedules", "--remove", "nothing", "s");
  assert_refused (2, "there is no schedule “nothing”");
  irisctl ("schedules", "s");
  assert_refused (2, "there is no schedule “s”");
}

TEST (the_exit_status_of_the_last_run_is_told)
{
  irisctl ("every", "1h", "--name", "bad", "--", "sh", "-c", "exit 5");
  assert_status (0);
  irisctl ("schedules", "--run", "bad");
  assert_status (0);
  while (get_number ("bad", "state") != IRIS_WIRE_STATE_DONE)
    g_thread_yield ();
  ck_assert_int_eq (get_number ("bad", "exit-code"), 5);
  irisctl ("schedules", "bad");
  ck_assert_msg (strstr (out, "exit 5") != NULL, "%s", out);
}

TEST (runs_go_to_the_place_that_is_named)
{
  irisctl ("every", "1h", "--name", "by-name", "--place", "package:0", "--", "true");
  assert_status (0);
  irisctl ("every", "1h", "--name", "by-id", "--place", "0", "--strict", "--", "true");
  assert_status (0);
  g_autoptr (JsonNode) by_name = NULL;
  g_autoptr (JsonNode) by_id = NULL;
  assert_text (find ("by-name", &by_name), "place", "package:0");
  JsonObject *strict = find ("by-id", &by_id);
  assert_text (strict, "place", "0");
  ck_assert (json_object_get_boolean_member (strict, "strict"));
  irisctl ("schedules");
  ck_assert_ptr_nonnull (strstr (out, "0, strict"));
  irisctl ("schedules", "--run", "by-id");
  assert_status (0);
  irisctl ("wait", "--all");
  assert_status (0);
  irisctl ("every", "1h", "--name", "nowhere", "--place", "99", "--", "true");
  assert_refused (2, "there is no place 99");
}

TEST (what_makes_no_sense_is_refused)
{
  irisctl ("cron", "0 0 30 2 *", "--", "true");
  assert_refused (2, "never due");
  irisctl ("cron", "0 0 30 2", "--", "true");
  assert_refused (2, "5 fields");
  irisctl ("cron", "61 * * * *", "--", "true");
  assert_refused (2, "minute");
  irisctl ("cron", "@daily", "--zone", "Mars/Base", "--", "true");
  assert_refused (2, "the time zone “Mars/Base” is unknown");
  irisctl ("cron", "@daily");
  assert_refused (2, "");
  irisctl ("every", "soon", "--", "true");
  assert_refused (2, "“soon” is no time");
  irisctl ("every", "100ms", "--", "true");
  assert_refused (2, "every second at most");
  irisctl ("every", "1h", "--jitter", "much", "--", "true");
  assert_refused (2, "--jitter");
  irisctl ("every", "1h", "--jitter", "2d", "--", "true");
  assert_refused (2, "at most a day");
  irisctl ("every", "1h", "--missed", "twice", "--", "true");
  assert_refused (2, "--missed");
  irisctl ("every", "1h", "--overlap", "kill", "--", "true");
  assert_refused (2, "--overlap");
  irisctl ("every", "1h", "--name", "a\nb", "--", "true");
  assert_refused (2, "control characters");
  irisctl ("every", "1h", "--zone", "UTC", "--", "true");
  assert_refused (2, "--zone");
  irisctl ("every", "1h", "--node", "b", "--", "true");
  assert_refused (1, "this irisd is in no cluster");
  irisctl ("cron", "@daily", "--any-node", "--", "true");
  assert_refused (1, "this irisd is in no cluster");
  irisctl ("schedules", "--pause", "--resume", "s");
  assert_refused (2, "exclude each other");
  irisctl ("schedules", "--remove");
  assert_refused (2, "name the schedules");
  irisctl ("schedules", "--run", "nothing");
  assert_refused (2, "there is no schedule “nothing”");
  irisctl ("schedules", "--json");
  ck_assert_str_eq (out, "[]\n");
}

TEST (there_are_not_more_than_the_limit_allows)
{
  for (guint i = 0; i < MOST_SCHEDULES; i++)
    {
      g_autofree char *name = g_strdup_printf ("s%u", i);
      irisctl ("every", "1h", "--name", name, "--", "true");
      assert_status (0);
    }
  irisctl ("every", "1h", "--name", "t", "--", "true");
  assert_refused (2, "max-schedules");
  irisctl ("every", "2h", "--name", "s0", "--replace", "--", "true");
  assert_status (0);
  irisctl ("schedules", "--remove", "s1");
  assert_status (0);
  irisctl ("every", "1h", "--name", "t", "--", "true");
  assert_status (0);
}

/* A key is an owner of its own; the user who runs irisd reaches all. */
TEST (names_are_those_of_each_owner)
{
  g_autofree char *server = g_build_filename (home->base, "server.key", NULL);
  g_autofree char *laptop = g_build_filename (home->base, "laptop.key", NULL);
  g_autofree char *keys_dir = g_build_filename (home->base, "keys.d", NULL);
  g_autofree char *config = g_strdup_printf ("[irisd]\ntcp = 127.0.0.1:0\nserver-key = %s\n" LIMITS,
                                             server);
  irisctl ("key", "new", "irisd", "--output", server);
  assert_status (0);
  irisctl ("key", "new", "laptop", "--output", laptop, "--server", server);
  assert_status (0);
  ck_assert_int_eq (g_mkdir (keys_dir, 0700), 0);
  irisd_stop (irisd);
  irisd = home_start (home, config);
  g_autofree char *endpoint = g_strdup_printf ("%s?key=%s", irisd->tcp, laptop);
  irisctl ("key", "allow", "laptop", laptop, "--roles", "submit", "--reload");
  assert_status (0);
  irisctl ("every", "1h", "--name", "mine", "--", "true");
  assert_status (0);

  /* A command is not for this key. */
  irisctl ("-e", endpoint, "every", "1h", "--name", "theirs", "--", "true");
  assert_refused (4, "");
  irisctl ("-e", endpoint, "schedules", "--json");
  assert_status (0);
  ck_assert_str_eq (out, "[]\n");
  irisctl ("-e", endpoint, "schedules", "--remove", "mine");
  assert_refused (2, "there is no schedule “mine”");

  irisctl ("key", "allow", "laptop", "--roles", "submit", "--services", "command", "--reload");
  assert_status (0);
  irisctl ("-e", endpoint, "every", "1h", "--name", "theirs", "--", "true");
  assert_status (0);
  irisctl ("-e", endpoint, "every", "2h", "--name", "mine", "--", "true");
  assert_status (0);
  irisctl ("schedules", "--json");
  assert_status (0);
  g_autoptr (JsonNode) all = json ();
  ck_assert_uint_eq (json_array_get_length (json_node_get_array (all)), 3);

  irisctl ("schedules", "--pause", "theirs");
  assert_status (0);
  irisctl ("-e", endpoint, "schedules", "theirs");
  assert_status (0);
  ck_assert_msg (strstr (out, "paused") != NULL, "%s", out);
  /* The own one goes first. */
  irisctl ("schedules", "--remove", "mine");
  assert_status (0);
  irisctl ("-e", endpoint, "schedules", "--json", "mine");
  assert_status (0);
  g_autoptr (JsonNode) list = json ();
  assert_number (element (list, 0), "every-ms", 2 * 3600 * 1000);
}

/* The widest cells there are: a run that goes on, and one that waits for it. */
TEST (a_table_fits_80_columns)
{
  g_autofree char *gate = gate_new (irisd, "gate");
  const char *const name = "a-name-that-is-longer-than-its-column";
  irisctl ("every", "1s", "--name", name, "--overlap", "wait", "--", "cat", gate);
  assert_status (0);
  irisctl ("cron", "*/10 8-17 1,15 jan-jun mon-fri", "--name", "日本日本日本日本日本", "--",
           "true");
  assert_status (0);
  do
    {
      irisctl ("schedules");
      assert_status (0);
    }
  while (strstr (out, "after the last") == NULL);
  ck_assert_msg (strstr (out, "not ended") != NULL, "%s", out);
  g_auto (GStrv) lines = g_strsplit (out, "\n", -1);
  for (guint i = 0; lines[i] != NULL; i++)
    {
      glong width = 0;
      for (const char *c = lines[i]; *c != '\0'; c = g_utf8_next_char (c))
        width += g_unichar_iswide (g_utf8_get_char (c)) ? 2 : 1;
      ck_assert_msg (width <= COLUMNS, "%ld columns: %s", width, lines[i]);
    }
  irisctl ("schedules", "--remove", name);
  assert_status (0);
  gate_open (gate);
}

TEST (without_a_journal_there_are_no_schedules)
{
  Irisd *other = irisd_start (NULL, TWO_PLACES, NULL);
  irisctl ("-e", other->front, "every", "1h", "--", "true");
  assert_refused (4, "--journal");
  irisctl ("-e", other->front, "schedules");
  assert_refused (4, "--journal");
  irisd_finish (other);
}

TEST_MAIN ("irisctl-schedules", set_up_with_journal, tear_down_with_journal)
