/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * irisctl kick, bury, drain, set-workers, reload and trace, and their effect in list and places.
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

TEST (what_waits_is_paused_and_resumed_by_its_number)
{
  irisctl ("submit", "--detach", "--delay", "1h", "echo", "x");
  g_autofree char *item = submitted ();
  irisctl ("pause", item);
  assert_status (0);
  ck_assert_str_eq (out, "paused 1 item\n");
  ck_assert_str_eq (state_of (item), "suspended");
  irisctl ("pause", item, "--json");
  ck_assert_int_eq (changed (), 0);
  irisctl ("list", "--state", "suspended", "--json");
  g_autoptr (JsonNode) list = json ();
  ck_assert_uint_eq (json_array_get_length (json_node_get_array (list)), 1);
  irisctl ("resume", item);
  ck_assert_str_eq (out, "resumed 1 item\n");
  irisctl ("kick", item);
  irisctl ("result", item);
  ck_assert_str_eq (out, "x");
  irisctl ("pause", item);
  assert_status (2);
  ck_assert_ptr_nonnull (strstr (err, "there is no persistent item"));
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

/* This irisd is configured for no cluster. */
TEST (without_a_cluster_there_are_no_nodes)
{
  const gboolean never = g_strcmp0 (g_getenv ("IRIS_HAVE_CLUSTER"), "no") == 0;
  const char *why = never ? "it was built without clusters" : "[cluster] in ";
  irisctl ("nodes");
  assert_status (0);
  ck_assert_str_eq (out, "");
  ck_assert_ptr_nonnull (strstr (err, "is in no cluster"));
  ck_assert_ptr_nonnull (strstr (err, why));
  irisctl ("nodes", "--watch");
  ck_assert_int_ne (status, 0);
  ck_assert_ptr_nonnull (strstr (err, why));
  irisctl ("submit", "--node", "n2", "echo", "x");
  ck_assert_int_ne (status, 0);
  ck_assert_ptr_nonnull (strstr (err, why));
  irisctl ("list", "--node", "n2");
  ck_assert_int_ne (status, 0);
  ck_assert_str_eq (out, "");
  irisctl ("nodes", "--json");
  assert_status (0);
  g_autoptr (JsonNode) answer = json ();
  JsonObject *nodes = json_node_get_object (answer);
  ck_assert_int_eq (json_object_get_int_member (nodes, "state"), 0);
  ck_assert_uint_eq (json_array_get_length (json_object_get_array_member (nodes, "nodes")), 0);
  static const char *const changes[][2] = { { "node", "drain" }, { "node", "remove" } };
  for (guint i = 0; i < G_N_ELEMENTS (changes); i++)
    {
      irisctl (changes[i][0], changes[i][1], "n2");
      ck_assert_int_ne (status, 0);
      ck_assert_ptr_nonnull (strstr (err, "this irisd is in no cluster"));
    }
  irisctl ("cluster", "init");
  ck_assert_int_ne (status, 0);
  ck_assert_ptr_nonnull (strstr (err, never ? "built without clusters" : "[cluster] url"));
  irisctl ("cluster", "make");
  assert_status (2);
  irisctl ("node", "halt", "n2");
  assert_status (2);
  irisctl ("status");
  ck_assert_ptr_null (strstr (out, "cluster"));
}

TEST (a_reload_says_what_changed_or_where_the_mistake_is)
{
  g_autofree char *path = g_strdup_printf ("%s.conf", irisd->dir);
  irisctl ("reload");
  assert_status (0);
  ck_assert_str_eq (out, "nothing has changed\n");
  ck_assert (g_file_set_contents (path, "[limits]\nmax-peers = 16\nmax-args = 5\n", -1, NULL));
  irisctl ("reload");
  assert_status (0);
  ck_assert_str_eq (out, "[limits] max-peers is 16 now; it was its default\n"
                         "[limits] max-args stays its default and does not become 5: start irisd "
                         "again to change it\n");
  ck_assert (g_file_set_contents (path, "[limits]\nmax-peers = 17\n", -1, NULL));
  irisctl ("reload", "--json");
  assert_status (0);
  g_autoptr (JsonNode) answer = json ();
  JsonArray *lines = json_object_get_array_member (json_node_get_object (answer), "settings");
  ck_assert_uint_eq (json_array_get_length (lines), 1);
  ck_assert (g_file_set_contents (path, "[limits]\nmax-peers = x\n", -1, NULL));
  irisctl ("reload");
  assert_status (2);
  ck_assert_ptr_nonnull (strstr (err, ".conf, line 2, [limits] max-peers: "));
}

#define PARENT "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01"
#define PRINT  "printf %s \"$TRACEPARENT\""

TEST (an_item_belongs_to_the_trace_of_its_caller)
{
  g_autofree char *number = NULL;

  irisctl ("run", "--traceparent", PARENT, "sh", "-c", PRINT);
  assert_status (0);
  ck_assert (g_str_has_prefix (out, "00-0af7651916cd43dd8448eb211c80319c-"));
  ck_assert_str_ne (out, PARENT);
  irisctl ("run", "--traceparent", "nonsense", "sh", "-c", PRINT);
  assert_status (2);
  ck_assert_ptr_nonnull (strstr (err, "--traceparent"));
  g_setenv ("TRACEPARENT", PARENT, TRUE);
  irisctl ("run", "sh", "-c", PRINT);
  assert_status (0);
  ck_assert (g_str_has_prefix (out, "00-0af7651916cd43dd8448eb211c80319c-"));
  irisctl ("submit", "--detach", "--delay", "1h", "echo", "x");
  number = submitted ();
  irisctl ("show", number);
  assert_status (0);
  ck_assert_ptr_nonnull (strstr (out, "trace     " PARENT "\n"));
  g_setenv ("TRACEPARENT", "nonsense", TRUE);
  irisctl ("run", "true");
  assert_status (0);
  g_unsetenv ("TRACEPARENT");
}

TEST (a_time_line_is_written)
{
  g_autofree char *file = g_build_filename (home->base, "line.json", NULL);
  g_autofree char *text = NULL;
  g_autoptr (JsonNode) node = NULL;
  JsonObject *line;

  irisctl ("trace", "--seconds", "0.001", "-o", file);
  assert_status (0);
  ck_assert_str_eq (out, "");
  ck_assert (g_file_get_contents (file, &text, NULL, NULL));
  node = json_from_string (text, NULL);
  ck_assert_ptr_nonnull (node);
  line = json_node_get_object (node);
  ck_assert_uint_gt (json_array_get_length (json_object_get_array_member (line, "traceEvents")), 0);
  ck_assert_uint_eq (json_array_get_length (json_object_get_array_member (
                         json_object_get_object_member (line, "otherData"), "workers")),
                     2);
  irisctl ("trace", "--seconds", "0.001");
  assert_status (0);
  ck_assert (g_str_has_prefix (out, "{"));
  irisctl ("trace", "--seconds", "0");
  assert_status (2);
  irisctl ("trace", "--seconds", "3600");
  assert_status (2);
  irisctl ("trace", "--seconds", "0.001", "-o", home->base); /* a directory */
  assert_status (1);
}

/* What irisctl queues says of the only queue. */
static gint64
queue_member (const char *name)
{
  irisctl ("queues", "--json");
  assert_status (0);
  g_autoptr (JsonNode) node = json ();
  return json_object_get_int_member (element (node, 0), name);
}

TEST (a_queue_is_made_used_listed_and_removed)
{
  g_autofree char *lines = g_build_filename (home->base, "lines", NULL);
  g_autofree char *text = NULL;
  irisctl ("queues");
  assert_status (0);
  irisctl ("submit", "--detach", "--queue", "builds", "echo", "x");
  assert_status (2);
  ck_assert_ptr_nonnull (strstr (err, "irisctl queue builds --limit N"));
  irisctl ("queue", "builds", "--limit", "1", "--priority", "7", "--pause", "--json");
  ck_assert_int_eq (changed (), 1);
  irisctl ("queue", "builds", "--limit", "1", "--json");
  ck_assert_int_eq (changed (), 0);
  irisctl ("submit", "--detach", "--queue", "builds", "echo", "x");
  g_autofree char *item = submitted ();
  irisctl ("every", "1h", "--name", "look", "--queue", "films", "--", "true");
  assert_status (2);
  irisctl ("every", "1h", "--name", "look", "--queue", "builds", "--", "true");
  assert_status (0);
  irisctl ("list", "--export", lines);
  assert_status (0);
  ck_assert (g_file_get_contents (lines, &text, NULL, NULL));
  ck_assert_ptr_nonnull (strstr (text, "\"queue\":\"builds\""));
  irisctl ("submit", "--detach", "echo", "y");
  g_autofree char *other = submitted ();
  irisctl ("wait", other);
  assert_status (0);
  ck_assert_int_eq (queue_member ("waiting"), 1);
  ck_assert_int_eq (queue_member ("running"), 0);
  ck_assert_int_eq (queue_member ("priority"), 7);
  irisctl ("queues");
  assert_status (0);
  ck_assert_ptr_nonnull (strstr (out, "builds"));
  ck_assert_ptr_nonnull (strstr (out, "paused"));
  irisctl ("list", "--queue", "builds", "--json");
  assert_status (0);
  g_autoptr (JsonNode) listed = json ();
  ck_assert_uint_eq (json_array_get_length (json_node_get_array (listed)), 1);
  irisctl ("queue", "builds", "--remove");
  assert_status (2);
  ck_assert_ptr_nonnull (strstr (err, "1 items that have not ended"));
  irisctl ("edit", "--queue", "", item);
  assert_status (0);
  irisctl ("wait", item);
  assert_status (0);
  irisctl ("queue", "builds", "--remove");
  assert_status (0);
  ck_assert_str_eq (out, "removed queue builds\n");
}

TEST (what_queue_cannot_take_is_refused)
{
  irisctl ("queue", "q", "--pause", "--resume");
  assert_status (2);
  irisctl ("queue", "q", "--remove", "--limit", "1");
  assert_status (2);
  irisctl ("queue", "q", "--limit", "-7");
  assert_status (2);
  irisctl ("queue", "q", "--priority", "10");
  assert_status (2);
  irisctl ("queue");
  assert_status (2);
  irisctl ("queue", "q", "--remove");
  ck_assert_int_ne (status, 0);
}

TEST_MAIN ("irisctl-change", set_up_with_journal, tear_down_with_journal)
