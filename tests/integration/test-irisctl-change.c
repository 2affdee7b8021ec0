/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * irisctl kick, bury, drain and set-workers, and their effect in list and places.
 */
#include "irisctl-fixture.h"
#include "irisd-home.h"

static Home *home;

static void
set_up_with_journal (void)
{
  home = home_new ();
  irisd = home_start (home, NULL);
}

static void
tear_down_with_journal (void)
{
  irisd_stop (irisd);
  home_free (home);
  g_clear_pointer (&out, g_free);
  g_clear_pointer (&err, g_free);
}

/* The number that submit --detach prints. */
static char *
submitted (void)
{
  assert_status (0);
  return g_strndup (out, strcspn (out, "\n"));
}

static const char *
state_of (const char *item)
{
  irisctl ("show", "--json", item);
  assert_status (0);
  g_autoptr (JsonNode) node = json ();
  return g_intern_string (json_object_get_string_member (json_node_get_object (node), "state"));
}

static gint64
changed (void)
{
  assert_status (0);
  g_autoptr (JsonNode) node = json ();
  return json_object_get_int_member (json_node_get_object (node), "changed");
}

TEST (a_buried_item_is_listed_exported_and_kicked)
{
  g_autofree char *file = g_build_filename (home->base, "file", NULL);
  g_autofree char *lines = g_build_filename (home->base, "lines", NULL);
  g_autofree char *text = NULL;
  irisctl ("submit", "--detach", "--bury", "--retries", "1", "--backoff", "0", "--key", "k",
           "command", "cat", file);
  g_autofree char *item = submitted ();
  irisctl ("wait", item);
  assert_status (1);
  ck_assert_ptr_nonnull (strstr (out, "buried"));
  irisctl ("list", "--state", "buried", "--json");
  assert_status (0);
  g_autoptr (JsonNode) list = json ();
  ck_assert_uint_eq (json_array_get_length (json_node_get_array (list)), 1);
  ck_assert_str_eq (json_object_get_string_member (element (list, 0), "error"), "service-failed");
  ck_assert_int_eq (json_object_get_int_member (element (list, 0), "attempts"), 2);
  irisctl ("show", item);
  ck_assert_ptr_nonnull (strstr (out, "No such file"));
  irisctl ("result", item);
  assert_status (1);
  ck_assert_ptr_nonnull (strstr (err, "kick"));

  irisctl ("list", "--state", "buried", "--export", lines);
  assert_status (0);
  ck_assert (g_file_get_contents (lines, &text, NULL, NULL));
  g_autofree char *wanted = g_strdup_printf ("{\"service\":\"command\",\"args\":[\"cat\",\"%s\"],"
                                             "\"class\":\"durable\",\"key\":\"k\",\"bury\":true,"
                                             "\"retries\":1,\"backoff\":0.0}\n",
                                             file);
  ck_assert_str_eq (text, wanted);

  ck_assert (g_file_set_contents (file, "here", -1, NULL));
  irisctl ("kick", "--state", "buried", "--json");
  ck_assert_int_eq (changed (), 1);
  irisctl ("result", item);
  assert_status (0);
  ck_assert_str_eq (out, "here");
  irisctl ("list", "--export", lines);
  assert_status (2);
  ck_assert_ptr_nonnull (strstr (err, "has ended"));
}

TEST (what_waits_is_buried_and_kicked_by_its_number)
{
  irisctl ("submit", "--detach", "--delay", "1h", "echo", "x");
  g_autofree char *item = submitted ();
  while (!g_str_equal (state_of (item), "delayed"))
    ;
  irisctl ("bury", "--reason", "not today", item);
  assert_status (0);
  ck_assert_str_eq (out, "buried 1 item\n");
  irisctl ("show", item);
  ck_assert_ptr_nonnull (strstr (out, "not today"));
  irisctl ("kick", item);
  ck_assert_str_eq (out, "kicked 1 item\n");
  while (!g_str_equal (state_of (item), "delayed"))
    ;
  irisctl ("kick", item, "4711");
  assert_status (2);
  ck_assert_str_eq (out, "kicked 1 item\n");
  irisctl ("result", item);
  assert_status (0);
  ck_assert_str_eq (out, "x");
}

TEST (wrong_arguments_are_told)
{
  irisctl ("kick");
  assert_status (2);
  irisctl ("kick", "--state", "done");
  assert_status (2);
  irisctl ("kick", "1", "--state", "buried");
  assert_status (2);
  irisctl ("kick", "--state", "buried", "--count", "0");
  assert_status (2);
  irisctl ("bury", "one");
  assert_status (2);
  irisctl ("drain");
  assert_status (2);
  irisctl ("drain", "nowhere");
  assert_status (2);
  irisctl ("set-workers", "0", "none");
  assert_status (2);
  irisctl ("set-workers", "0", "1000");
  assert_status (1);
  irisctl ("submit", "--class", "volatile", "--bury", "echo", "x");
  assert_status (2);
}

TEST (places_are_drained_and_get_other_numbers_of_workers)
{
  irisctl ("drain", "1", "--json");
  ck_assert_int_eq (changed (), 1);
  irisctl ("places", "--json");
  assert_status (0);
  g_autoptr (JsonNode) places = json ();
  ck_assert (json_object_get_boolean_member (element (places, 1), "drained"));
  ck_assert_int_eq (json_object_get_int_member (element (places, 1), "active"), 0);
  ck_assert_int_eq (json_object_get_int_member (element (places, 0), "backlog"), 0);
  ck_assert (json_object_has_member (element (places, 0), "load"));
  irisctl ("places");
  ck_assert_ptr_nonnull (strstr (out, "drained"));
  irisctl ("send", "--place", "1", "--strict", "echo", "x");
  assert_status (2);
  irisctl ("drain", "0");
  assert_status (2);
  irisctl ("drain", "--resume", "package:1");
  assert_status (0);
  ck_assert_str_eq (out, "resumed 1 place\n");
  irisctl ("send", "--place", "1", "--strict", "echo", "x");
  assert_status (0);
  irisctl ("set-workers", "0", "1");
  assert_status (0);
  ck_assert_str_eq (out, "changed 0 places\n");
}

TEST_MAIN ("irisctl-change", set_up_with_journal, tear_down_with_journal)
