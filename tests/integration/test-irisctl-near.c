/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * irisctl: items near others, parts of results, and an irisd that is busy.
 */
#include "irisctl-fixture.h"

static const char *
get_place (void)
{
  g_autoptr (JsonNode) node = json ();
  return g_intern_string (json_object_get_string_member (json_node_get_object (node), "place"));
}

static void
expect_hello (void)
{
  assert_status (0);
  ck_assert_str_eq (out, "hello");
}

START_TEST (an_item_is_near_another_or_a_path)
{
  const char *places[2];
  for (guint i = 0; i < 2; i++)
    {
      g_autofree char *id = g_strdup_printf ("%u", i), *number = NULL;
      irisctl ("send", "--json", "--verbose", "--place", id, "--strict", "echo", "hello");
      assert_status (0);
      places[i] = get_place ();
      const char *accepted = strstr (err, "accepted as ");
      ck_assert_ptr_nonnull (accepted);
      number = g_strdup_printf ("%" G_GUINT64_FORMAT,
                                g_ascii_strtoull (accepted + strlen ("accepted as "), NULL, 10));
      irisctl ("send", "--json", "--near", number, "--strict", "echo", "hello");
      assert_status (0);
      ck_assert_ptr_eq (get_place (), places[i]);

      /* A path, and the same one from another directory. */
      g_autofree char *path = g_strdup_printf ("%s/near-%u", files, i);
      ck_assert (g_file_set_contents (path, "x", 1, NULL));
      irisctl ("send", "--place", id, "--strict", "--path", path, "sha256");
      assert_status (0);
      g_autofree char *roundabout = g_strdup_printf ("%s/../%s/near-%u", files,
                                                     strrchr (files, '/') + 1, i);
      irisctl ("send", "--json", "--near", roundabout, "--strict", "echo", "hello");
      assert_status (0);
      ck_assert_ptr_eq (get_place (), places[i]);
    }
  ck_assert_ptr_ne (places[0], places[1]);
}
END_TEST

START_TEST (an_unknown_place_is_an_error_for_a_strict_near_hint)
{
  irisctl ("send", "--near", "4711", "echo", "hello");
  expect_hello ();
  irisctl ("send", "--near", "4711", "--strict", "echo", "hello");
  assert_status (2);
  ck_assert_ptr_nonnull (strstr (err, "4711"));
  irisctl ("send", "--near", "/never", "--strict", "echo", "hello");
  assert_status (2);
  irisctl ("send", "--near", "/never", "--place", "0", "echo", "hello");
  assert_status (2);
  irisctl ("send", "--near", "", "echo", "hello");
  assert_status (2);
  irisctl ("send", "--strict", "echo", "hello");
  assert_status (2);
  irisctl ("map", "--near", "1", "sha256", files);
  assert_status (2);
}
END_TEST

START_TEST (items_declare_their_memory)
{
  const char *const good[] = { "0", "7", "64K", "3M", "8G", "18446744073709551615" };
  const char *const bad[] = { "",  "G", "-1", "1.5", "1KB", "64k", "1 M", "18446744073709551615K",
                              "1T" };
  for (guint i = 0; i < G_N_ELEMENTS (good); i++)
    {
      irisctl ("send", "--footprint", good[i], "echo", "hello");
      expect_hello ();
    }
  for (guint i = 0; i < G_N_ELEMENTS (bad); i++)
    {
      irisctl ("send", "--footprint", bad[i], "echo", "hello");
      assert_status (2);
      ck_assert_ptr_nonnull (strstr (err, "--footprint takes"));
    }
  irisctl ("send", "--footprint", "64M", "--keep-apart", "echo", "hello");
  expect_hello ();
  irisctl ("run", "--footprint", "64M", "--keep-apart", "--", "echo", "-n", "hello");
  expect_hello ();
  g_autofree char *path = g_build_filename (files, "file", NULL);
  ck_assert (g_file_set_contents (path, "x", 1, NULL));
  irisctl ("map", "--hints", "none", "--footprint", "1", "--keep-apart", "sha256", files);
  assert_status (0);
  irisctl ("send", "--keep-apart", "echo", "hello");
  assert_status (2);
  ck_assert_ptr_nonnull (strstr (err, "--keep-apart needs --footprint"));
  irisctl ("send", "--footprint", "0", "--keep-apart", "echo", "hello");
  assert_status (2);
}
END_TEST

START_TEST (map_sends_each_file_to_where_it_was)
{
  for (guint i = 0; i < 20; i++)
    {
      g_autofree char *path = g_strdup_printf ("%s/%02u", files, i);
      ck_assert (g_file_set_contents (path, "x", 1, NULL));
    }
  irisctl ("map", "--place", "1", "--strict", "sha256", files);
  assert_status (0);
  irisctl ("map", "--hints", "near", "--json", "sha256", files);
  assert_status (0);
  Client *client = client_hello (irisd->front);
  g_autoptr (IrisWireStatus) now = client_get_status (client);
  ck_assert_uint_eq (now->places[1].hinted, 40);
  ck_assert_uint_eq (now->places[0].hinted, 0);
  client_free (client);
}
END_TEST

/* A worker in this process, while irisctl runs: two parts, then the result. */
static void
serve_parts (void)
{
  g_autoptr (Client) worker = client_hello (irisd->front);
  IrisWireMessage message;
  client_enroll (worker, "slices", 1);
  g_autoptr (GSubprocess) process = spawn ((const char *const[]){
      g_getenv ("IRISCTL"), "send", "--parts", "--verbose", "slices", "cake", NULL });

  const IrisWireMessage *lease = client_receive_type (worker, IRIS_WIRE_LEASE);
  ck_assert (iris_wire_message_has (lease, IRIS_WIRE_KEY_PARTS));
  ck_assert (lease->progress);
  guint8 id[IRIS_WIRE_ID_SIZE];
  memcpy (id, lease->request_id, sizeof id);
  iris_wire_message_init (&message, IRIS_WIRE_REPORT, id);
  iris_wire_message_set_uint (&message, IRIS_WIRE_KEY_FRACTION, 500000);
  iris_wire_message_set_string (&message, IRIS_WIRE_KEY_NOTE, "cutting\x1b[2J", -1);
  client_send (worker, &message);
  const char *const slices[] = { "first ", "second " };
  for (guint i = 0; i < 2; i++)
    {
      iris_wire_message_init (&message, IRIS_WIRE_REPORT, id);
      iris_wire_message_set_body (&message, slices[i], strlen (slices[i]));
      client_send (worker, &message);
    }
  /* They are printed before the end, and earlier reports before them. */
  char printed[14] = "";
  gsize n = 0;
  ck_assert (g_input_stream_read_all (g_subprocess_get_stdout_pipe (process), printed, 13, &n, NULL,
                                      NULL));
  ck_assert_str_eq (printed, "first second ");
  iris_wire_message_init (&message, IRIS_WIRE_DONE, id);
  iris_wire_message_set_body (&message, "all", 3);
  client_send (worker, &message);
  collect (process, NULL);
}

START_TEST (parts_are_printed_and_progress_is_told)
{
  serve_parts ();
  assert_status (0);
  ck_assert_str_eq (out, "all");
  ck_assert_ptr_nonnull (strstr (err, "50 % cutting"));
  ck_assert_ptr_null (
      strchr (err, '\x1b')); /* no escape sequence of an item reaches the terminal */
  irisctl ("send", "--parts", "--json", "echo", "x");
  assert_status (2);
}
END_TEST

static void
set_up_busy (void)
{
  set_up ();
  irisd_finish (irisd);
  irisd = irisd_start ("[limits]\ntotal-items = 2\nin-flight-items = 2\n[client]\nrate = 100\n",
                       TWO_PLACES, NULL);
  g_free (files);
  files = g_strdup_printf ("%s.files", irisd->dir);
  ck_assert_int_eq (g_mkdir_with_parents (files, 0700), 0);
}

START_TEST (a_busy_irisd_is_asked_again)
{
  GSubprocess *processes[4];
  /* They fill it until each of the processes has been refused. */
  Client *client = client_hello (irisd->front);
  char *gates[] = { gate_new (irisd, "a"), gate_new (irisd, "b") };
  for (gint i = 0; i < 2; i++)
    client_occupy (client, gates[i], i);
  for (guint i = 0; i < 150; i++)
    {
      g_autofree char *path = g_strdup_printf ("%s/%03u", files, i);
      ck_assert (g_file_set_contents (path, "x", 1, NULL));
    }
  processes[0] = spawn (
      (const char *const[]){ g_getenv ("IRISCTL"), "map", "sha256", files, NULL });
  for (guint i = 1; i < 4; i++)
    processes[i] = spawn (
        i == 1 ? (const char *const[]){ g_getenv ("IRISCTL"), "run", "echo", "hello", NULL }
               : (const char *const[]){ g_getenv ("IRISCTL"), "submit", "--class", "volatile",
                                        "echo", "hello", NULL });
  for (guint64 refused = 0; refused < G_N_ELEMENTS (processes);)
    {
      g_autoptr (IrisWireStatus) now = client_get_status (client);
      refused = now->refused;
    }
  for (guint i = 0; i < 2; i++)
    {
      gate_open (gates[i]);
      g_free (gates[i]);
    }
  for (guint i = 1; i < 4; i++)
    {
      collect (processes[i], NULL);
      assert_status (0);
      ck_assert_int_eq (strncmp (out, "hello", 5), 0);
    }
  collect (processes[0], NULL);
  assert_status (0);
  ck_assert_ptr_nonnull (strstr (out, "150 files, 0 failed"));
  for (guint i = 0; i < G_N_ELEMENTS (processes); i++)
    g_object_unref (processes[i]);
  client_free (client);
}
END_TEST

int
main (void)
{
  Suite *suite = suite_create ("irisctl-near");
  TCase *near = tcase_create ("near"), *busy = tcase_create ("busy");
  tcase_add_checked_fixture (near, set_up, tear_down);
  tcase_add_test (near, an_item_is_near_another_or_a_path);
  tcase_add_test (near, an_unknown_place_is_an_error_for_a_strict_near_hint);
  tcase_add_test (near, items_declare_their_memory);
  tcase_add_test (near, map_sends_each_file_to_where_it_was);
  tcase_add_test (near, parts_are_printed_and_progress_is_told);
  tcase_add_checked_fixture (busy, set_up_busy, tear_down);
  tcase_add_test (busy, a_busy_irisd_is_asked_again);
  suite_add_tcase (suite, near);
  suite_add_tcase (suite, busy);
  return core_test_run (suite);
}
