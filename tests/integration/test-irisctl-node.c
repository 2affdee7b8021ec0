/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * irisctl, and libiris-client below it, with other nodes. The test is the bridge to them.
 */
#include "irisctl-fixture.h"

static Client *bridge;

static void
open_bridge (void)
{
  g_setenv ("IRIS_TEST_NODES", "b", TRUE);
  g_autofree char *base = g_dir_make_tmp ("irisd-XXXXXX", NULL);
  g_autofree char *dir = g_build_filename (base, "d", NULL);
  g_autofree char *journal = g_strdup_printf ("--journal=%s/j", base);
  const char *const options[] = { TWO_PLACES, journal, NULL };
  irisd = irisd_start_in (dir, NULL, options);
  files = g_strdup_printf ("%s.files", irisd->dir);
  ck_assert_int_eq (g_mkdir_with_parents (files, 0700), 0);

  IrisWireMessage hello;
  bridge = client_new (irisd->front);
  client_init_message (bridge, &hello, IRIS_WIRE_HELLO);
  iris_wire_message_set_uint (&hello, IRIS_WIRE_KEY_VERSION_MIN, 1);
  iris_wire_message_set_uint (&hello, IRIS_WIRE_KEY_VERSION_MAX, 1);
  iris_wire_message_set_uint (&hello, IRIS_WIRE_KEY_FEATURES, IRIS_WIRE_FEATURE_BRIDGE);
  client_send (bridge, &hello);
  client_receive_type (bridge, IRIS_WIRE_WELCOME);
  client_enroll (bridge, "@cluster", 8);
}

static void
close_bridge (void)
{
  client_free (bridge);
  tear_down ();
}

/* Takes a lease whose header has @wanted, and says that b did it at its place 7. */
static void
serve (const char *wanted)
{
  const IrisWireMessage *lease = client_receive_type (bridge, IRIS_WIRE_LEASE);
  ck_assert_ptr_nonnull (memmem (lease->header.data, lease->header.len, wanted, strlen (wanted)));
  IrisWireMessage done;
  iris_wire_message_init (&done, IRIS_WIRE_DONE, lease->request_id);
  iris_wire_message_set_string (&done, IRIS_WIRE_KEY_NODE, "b", -1);
  iris_wire_message_set_int (&done, IRIS_WIRE_KEY_PLACE, 7);
  iris_wire_message_set_int (&done, IRIS_WIRE_KEY_EXIT_STATUS, 0);
  iris_wire_message_set_uint (&done, IRIS_WIRE_KEY_STDOUT_LENGTH, 6);
  iris_wire_message_set_body (&done, "result", 6);
  client_send (bridge, &done);
}

#define irisctl_away(wanted, ...)                                                              \
  do                                                                                           \
    {                                                                                          \
      g_autoptr (GSubprocess)                                                                  \
          process_ = spawn ((const char *const[]){ g_getenv ("IRISCTL"), __VA_ARGS__, NULL }); \
      serve (wanted);                                                                          \
      collect (process_, NULL);                                                                \
      assert_status (0);                                                                       \
    }                                                                                          \
  while (0)

TEST (commands_that_submit_name_a_node_a_place_of_one_or_any)
{
  irisctl_away ("\xa1"
                "b",
                "send", "--node", "b", "--strict", "echo", "hello");
  ck_assert_str_eq (out, "result");
  irisctl_away ("\xa4l2:9", "send", "--json", "--place", "b/l2:9", "echo", "hello");
  g_autoptr (JsonNode) node = json ();
  ck_assert_str_eq (json_object_get_string_member (json_node_get_object (node), "node"), "b");
  ck_assert_int_eq (json_object_get_int_member (json_node_get_object (node), "place"), 7);
  irisctl_away ("\x20\xc3", "run", "--any-node", "make");
  ck_assert_str_eq (out, "result");
  irisctl_away ("\xa1"
                "b",
                "submit", "--node", "b", "echo", "hello");
  irisctl ("send", "--node", "a", "echo", "hello");
  ck_assert_str_eq (out, "hello");
  irisctl ("send", "--node", "nowhere", "echo", "hello");
  ck_assert_ptr_nonnull (strstr (err, "there is no node “nowhere”"));
  irisctl ("send", "--any-node", "--node", "b", "echo", "hello");
  assert_status (2);
}

TEST (lines_name_their_nodes)
{
  g_autofree char *path = g_build_filename (files, "items", NULL);
  ck_assert (g_file_set_contents (path, "{\"service\":\"echo\",\"args\":[\"x\"],\"node\":\"b\"}\n",
                                  -1, NULL));
  irisctl_away ("\xa1"
                "b",
                "submit", "--items", path);
}

TEST (a_map_counts_by_nodes)
{
  g_autofree char *path = g_build_filename (files, "one", NULL);
  ck_assert (g_file_set_contents (path, "x", 1, NULL));
  irisctl_away ("\x20\xc3", "map", "--any-node", "sha256", files);
  ck_assert_ptr_nonnull (strstr (out, "\nb/7 "));
}

TEST (show_says_where_an_item_is)
{
  irisctl ("submit", "--detach", "--node", "b", "echo", "hello");
  assert_status (0);
  const IrisWireMessage *lease = client_receive_type (bridge, IRIS_WIRE_LEASE);
  g_autofree char *number = g_strdup_printf ("%" G_GUINT64_FORMAT, lease->item);
  IrisWireMessage report;
  iris_wire_message_init (&report, IRIS_WIRE_REPORT, lease->request_id);
  iris_wire_message_set_string (&report, IRIS_WIRE_KEY_NODE, "b", -1);
  client_send (bridge, &report);
  client_call (bridge, IRIS_WIRE_PING, IRIS_WIRE_PONG);
  irisctl ("show", number);
  ck_assert_ptr_nonnull (strstr (out, "\nnode      b\n"));
  irisctl ("list", "--json");
  ck_assert_ptr_nonnull (strstr (out, "\"node\""));
}

TEST (schedules_name_a_node_a_place_of_one_or_any)
{
  irisctl ("every", "1h", "--name", "s", "--node", "b", "--strict", "--", "make");
  assert_status (0);
  irisctl ("schedules", "s");
  assert_status (0);
  ck_assert_msg (strstr (out, "where") != NULL && strstr (out, "b, strict") != NULL, "%s", out);
  irisctl ("schedules", "--run", "s");
  assert_status (0);
  serve ("\x1f\xa1"
         "b"); /* node: b */
  irisctl ("cron", "@daily", "--name", "s", "--replace", "--place", "b/left", "--", "make");
  assert_status (0);
  irisctl ("schedules", "s");
  ck_assert_msg (strstr (out, "b/left") != NULL, "%s", out);
  irisctl ("cron", "@daily", "--name", "s", "--replace", "--any-node", "--", "make");
  assert_status (0);
  irisctl ("schedules", "s");
  ck_assert_msg (strstr (out, "any node") != NULL, "%s", out);
  irisctl ("every", "1h", "--node", "nowhere", "--", "make");
  ck_assert_ptr_nonnull (strstr (err, "there is no node “nowhere”"));
  irisctl ("every", "1h", "--any-node", "--node", "b", "--", "make");
  assert_status (2);
  irisctl ("schedules", "--remove", "s");
  assert_status (0);
}

TEST (another_node_is_asked_about_its_items)
{
  g_autoptr (GSubprocess) process = spawn (
      (const char *const[]){ g_getenv ("IRISCTL"), "kick", "--node", "b", "7", NULL });
  const IrisWireMessage *ask = client_receive_type (bridge, IRIS_WIRE_ASK);
  IrisWireMessage answer;
  ck_assert_uint_eq (ask->asked, IRIS_WIRE_KICK);
  iris_wire_message_init (&answer, IRIS_WIRE_ANSWER, ask->request_id);
  iris_wire_message_set_uint (&answer, IRIS_WIRE_KEY_TYPE, IRIS_WIRE_CHANGED);
  iris_wire_message_set_string (&answer, IRIS_WIRE_KEY_HEADER, "\x81\x32\x01", 3);
  client_send (bridge, &answer);
  collect (process, NULL);
  assert_status (0);

  g_autoptr (GSubprocess) fetch = spawn (
      (const char *const[]){ g_getenv ("IRISCTL"), "result", "--node", "b", "7", NULL });
  ask = client_receive_type (bridge, IRIS_WIRE_ASK);
  ck_assert_uint_eq (ask->asked, IRIS_WIRE_FETCH);
  iris_wire_message_init (&answer, IRIS_WIRE_ANSWER, ask->request_id);
  iris_wire_message_set_uint (&answer, IRIS_WIRE_KEY_TYPE, IRIS_WIRE_RESULT);
  iris_wire_message_set_string (&answer, IRIS_WIRE_KEY_HEADER, "\x80", 1);
  iris_wire_message_set_body (&answer, "result", 6);
  client_send (bridge, &answer);
  collect (fetch, NULL);
  assert_status (0);
  ck_assert_str_eq (out, "result");
}

TEST (a_persistent_item_after_one_of_another_node_is_refused_as_such)
{
  irisctl ("submit", "--detach", "--after", "b/7", "echo", "x");
  assert_status (2);
  ck_assert_msg (strstr (err, "a persistent item cannot come after others") != NULL, "%s", err);
}

TEST (strict_about_the_own_node_is_any_place_here)
{
  irisctl ("send", "--node", "a", "--strict", "echo", "x");
  assert_status (0);
  ck_assert_str_eq (out, "x");
  irisctl ("send", "--strict", "echo", "x");
  assert_status (2);
}

TEST_MAIN ("irisctl-node", open_bridge, close_bridge)
