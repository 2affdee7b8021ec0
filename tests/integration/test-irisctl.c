/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * irisctl as people and scripts use it, against a real irisd.
 */
#include "irisctl-fixture.h"

#include <glib/gstdio.h>
#include <signal.h>
#include <unistd.h>

#define N_FILES TIMES (600)

static void
make_files (guint n)
{
  for (guint i = 0; i < n; i++)
    {
      g_autofree char *path = g_strdup_printf ("%s/%03u/%u", files, i % 50, i);
      g_autofree char *dir = g_path_get_dirname (path);
      FILE *file;

      ck_assert_int_eq (g_mkdir_with_parents (dir, 0700), 0);
      file = g_fopen (path, "we");
      ck_assert_ptr_nonnull (file);
      fprintf (file, "%u\n", i);
      ck_assert_int_eq (fclose (file), 0);
    }
}

TEST (places_are_listed)
{
  g_autoptr (JsonNode) node = NULL;

  irisctl ("places");
  assert_status (0);
  ck_assert_ptr_nonnull (strstr (out, "package:0"));
  ck_assert_ptr_nonnull (strstr (out, "package:1"));
  irisctl ("places", "--json");
  assert_status (0);
  node = json ();
  ck_assert_uint_eq (json_array_get_length (json_node_get_array (node)), 2);
  ck_assert_str_eq (json_object_get_string_member (element (node, 1), "name"), "package:1");
}

TEST (services_are_listed)
{
  g_autoptr (JsonNode) node = NULL;

  irisctl ("services");
  assert_status (0);
  ck_assert_ptr_nonnull (strstr (out, "sha256"));
  irisctl ("services", "--json");
  node = json ();
  ck_assert_uint_ge (json_array_get_length (json_node_get_array (node)), 4);
}

TEST (workers_are_listed_and_counted)
{
  g_autoptr (Client) worker = client_hello (irisd->front);
  g_autoptr (IrisWireServices) served = iris_wire_services_new (1);
  g_autoptr (JsonNode) workers = NULL;
  g_autoptr (JsonNode) services = NULL;
  IrisWireMessage ready;

  irisctl ("workers");
  assert_status (0);
  ck_assert_ptr_null (strstr (out, "rotate"));
  served->services[0].name = g_strdup ("rotate");
  served->services[0].summary = g_strdup ("turns a picture");
  g_autoptr (GBytes) body = iris_wire_services_encode (served, NULL, NULL);
  client_init_message (worker, &ready, IRIS_WIRE_READY);
  iris_wire_message_set_uint (&ready, IRIS_WIRE_KEY_CAPACITY, 3);
  iris_wire_message_set_body (&ready, g_bytes_get_data (body, NULL), g_bytes_get_size (body));
  client_send (worker, &ready);
  client_receive_type (worker, IRIS_WIRE_ENROLLED);

  irisctl ("workers");
  ck_assert_ptr_nonnull (strstr (out, "rotate"));
  irisctl ("workers", "--json");
  workers = json ();
  JsonArray *list = json_node_get_array (workers);
  ck_assert_uint_eq (json_array_get_length (list), 1);
  JsonObject *first = json_array_get_object_element (list, 0);
  ck_assert_str_eq (json_object_get_string_member (first, "name"), "test");
  ck_assert_int_eq (json_object_get_int_member (first, "capacity"), 3);
  ck_assert_int_eq (json_object_get_int_member (first, "place"), -1);
  ck_assert_str_eq (
      json_array_get_string_element (json_object_get_array_member (first, "services"), 0),
      "rotate");

  irisctl ("services", "--json");
  services = json ();
  list = json_node_get_array (services);
  for (guint i = 0; i < json_array_get_length (list); i++)
    {
      JsonObject *service = json_array_get_object_element (list, i);
      gboolean rotate = g_str_equal (json_object_get_string_member (service, "name"), "rotate");
      ck_assert_int_eq (json_object_get_int_member (service, "workers"), rotate);
    }
  irisctl ("services");
  ck_assert_ptr_nonnull (strstr (out, "turns a picture"));
  irisctl ("workers", "superfluous");
  assert_status (2);
}

TEST (status_counts_items)
{
  g_autoptr (JsonNode) node = NULL;

  irisctl ("send", "echo", "x");
  irisctl ("status");
  assert_status (0);
  irisctl ("status", "--json");
  assert_status (0);
  node = json ();
  ck_assert_int_eq (json_object_get_int_member (json_node_get_object (node), "accepted"), 1);
  ck_assert_int_eq (json_object_get_int_member (json_node_get_object (node), "pid"), irisd->pid);
}

TEST (send_prints_what_comes_back)
{
  const char *digest = "2cf24dba5fb0a30e26e83b2ac5b9e29e1b161e5c1fa7425e73043362938b9824\n";
  g_autofree char *path = g_build_filename (files, "hello", NULL);

  ck_assert (g_file_set_contents (path, "hello", 5, NULL));
  irisctl ("send", "sha256", "hello");
  assert_status (0);
  ck_assert_str_eq (out, digest);
  irisctl_with_input ("hello", "send", "sha256", "-");
  ck_assert_str_eq (out, digest);
  irisctl ("send", "sha256", "--file", path);
  ck_assert_str_eq (out, digest);
  irisctl ("send", "sha256", "--path", path);
  ck_assert_str_eq (out, digest);
  irisctl ("send", "echo", "as it is");
  ck_assert_str_eq (out, "as it is");
}

TEST (send_as_json_says_where_it_ran)
{
  g_autoptr (JsonNode) node = NULL;
  JsonObject *object;

  irisctl ("send", "--json", "--place", "package:1", "--strict", "echo", "");
  assert_status (0);
  node = json ();
  object = json_node_get_object (node);
  ck_assert_str_eq (json_object_get_string_member (object, "home"), "package:1");
  ck_assert_str_eq (json_object_get_string_member (object, "place"), "package:1");
  ck_assert_str_eq (json_object_get_string_member (object, "body"), "");
}

TEST (run_is_as_if_the_command_had_been_run_here)
{
  irisctl ("run", "--", "sh", "-c", "echo out; echo err >&2; exit 7");
  assert_status (7);
  ck_assert_str_eq (out, "out\n");
  ck_assert_str_eq (err, "err\n");
  irisctl ("run", "sh", "-c", "kill -9 $$");
  assert_status (128 + SIGKILL);
  irisctl ("run", "no-such-program-as-this");
  assert_status (127);
  irisctl_with_input ("c\na\nb\n", "run", "--stdin", "sort", "-r");
  assert_status (0);
  ck_assert_str_eq (out, "c\nb\na\n");
}

TEST (run_says_how_the_command_is_to_be_run)
{
  irisctl ("run", "-C", "/usr", "-E", "A=x y", "-E", "HOME", "--nice", "19", "--", "sh", "-c",
           "pwd; echo \"$A ${HOME-none}\"; nice");
  assert_status (0);
  ck_assert_str_eq (out, "/usr\nx y none\n19\n");
  irisctl ("run", "--clear-env", "--env", "B=1", "env");
  ck_assert_str_eq (out, "B=1\n");
  irisctl ("run", "--timeout", "0.05", "--grace", "0", "sleep", "1000");
  assert_status (124);
  ck_assert_ptr_nonnull (strstr (err, "time limit of 50 ms"));
  irisctl ("run", "--limit", "output=4", "-l", "core=0", "echo", "twelve bytes");
  assert_status (0);
  ck_assert_str_eq (out, "twel");
  ck_assert_ptr_nonnull (strstr (err, "output=BYTES"));
  irisctl ("run", "--at-end", "--", "sh", "-c", "echo out; echo err >&2");
  ck_assert_str_eq (out, "out\n");
  ck_assert_str_eq (err, "err\n");
  irisctl ("run", "--limit", "disk=4", "true");
  assert_status (2);
  irisctl ("run", "--nice", "20", "true");
  assert_status (2);
  irisctl ("run", "--timeout", "-1", "true");
  assert_status (2);
}

TEST (run_shows_output_as_it_comes)
{
  g_autofree char *go_on = gate_new (irisd, "go-on");
  const char *words[] = {
    g_getenv ("IRISCTL"), "run", "sh", "-c", "echo first; cat \"$0\"; seq 300000", go_on, NULL
  };
  g_autoptr (GSubprocess) process = spawn (words);
  char first[6];
  gsize n;

  ck_assert (g_input_stream_read_all (g_subprocess_get_stdout_pipe (process), first, sizeof first,
                                      &n, NULL, NULL));
  ck_assert_int_eq (memcmp (first, "first\n", sizeof first), 0);
  gate_open (go_on);
  collect (process, NULL);
  assert_status (0);
  /* More than may be in progress at once, and more than a pipe holds. */
  ck_assert_ptr_nonnull (strstr (out, "\n299999\n300000\n"));
  ck_assert_uint_eq (strlen (out), 1988895);
}

TEST (mistakes_have_exit_statuses)
{
  irisctl ("frobnicate");
  assert_status (2);
  irisctl ("send");
  assert_status (2);
  irisctl ("send", "--strict", "echo", "x");
  assert_status (2);
  irisctl ("map", "sha256", "--hints", "sideways", files);
  assert_status (2);
  irisctl ("map", "sha256", "--hints", "none", "--strict", files);
  assert_status (2);
  irisctl ("send", "no-such-service", "x");
  assert_status (2);
  irisctl ("send", "--place", "numa:7", "echo", "x");
  assert_status (2);
  ck_assert_ptr_nonnull (strstr (err, "package:1"));
  irisctl ("send", "sha256", "--path", "/nonexistent");
  assert_status (1);
  irisctl ("cancel", "00000000000000000000000000000000");
  assert_status (2);
  irisctl ("--dir", files, "status");
  assert_status (3);
  ck_assert_ptr_nonnull (strstr (err, "irisd --dir"));
}

TEST (every_command_has_help)
{
  const char *const names[] = { "places", "services", "workers", "status", "send",
                                "map",    "run",      "cancel",  NULL };

  irisctl ("--help");
  assert_status (0);
  for (guint i = 0; names[i] != NULL; i++)
    {
      ck_assert_ptr_nonnull (strstr (out, names[i]));
      irisctl (names[i], "--help");
      assert_status (0);
      ck_assert_ptr_nonnull (strstr (out, names[i]));
      irisctl ("help", names[i]);
      assert_status (0);
      irisctl ("--help");
    }
  irisctl ("--version");
  assert_status (0);
  ck_assert (g_str_has_prefix (out, "irisctl "));
}

TEST (digests_of_a_tree_are_those_of_sha256sum)
{
  g_autofree char *odd = g_build_filename (files, "line\nbreak\\\r", NULL);
  g_autofree char *sums = g_strdup_printf ("%s.sums", irisd->dir);
  g_autofree char *lines = NULL;
  guint n_lines = 0;

  make_files (N_FILES);
  ck_assert (g_file_set_contents (odd, "odd", 3, NULL));
  irisctl ("map", "sha256", "--output", sums, files);
  assert_status (0);
  run_words (NULL,
             (const char *const[]){ "sha256sum", "--check", "--quiet", "--strict", sums, NULL });
  assert_status (0);
  ck_assert (g_file_get_contents (sums, &lines, NULL, NULL));
  for (const char *c = lines; *c != '\0'; c++)
    n_lines += *c == '\n';
  ck_assert_uint_eq (n_lines, N_FILES + 1);

  /* And on standard output the same, in the same order, with the table elsewhere. */
  irisctl ("map", "sha256", "--print", "--in-flight", "7", files);
  assert_status (0);
  ck_assert_str_eq (out, lines);
  ck_assert_ptr_nonnull (strstr (err, "total"));
}

/* A member of the total of `map --json`, and whether the places add up to it. */
static gint64
total (JsonNode *node, const char *member)
{
  JsonObject *object = json_node_get_object (node);
  JsonArray *places = json_object_get_array_member (object, "places");
  gint64 sum = 0;

  for (guint i = 0; i < json_array_get_length (places); i++)
    sum += json_object_get_int_member (json_array_get_object_element (places, i), member);
  object = json_object_get_object_member (object, "total");
  ck_assert_int_eq (sum, json_object_get_int_member (object, member));
  return sum;
}

static gint64
of_place (JsonNode *node, guint place, const char *member)
{
  JsonArray *places = json_object_get_array_member (json_node_get_object (node), "places");

  return json_object_get_int_member (json_array_get_object_element (places, place), member);
}

TEST (every_rule_of_hints_counts_every_file_once)
{
  const char *const rules[] = { "none", "round-robin", "by-directory", NULL };

  make_files (N_FILES);
  for (guint i = 0; rules[i] != NULL; i++)
    {
      g_autoptr (JsonNode) node = NULL;

      irisctl ("map", "--json", "sha256", "--hints", rules[i], files);
      assert_status (0);
      node = json ();
      ck_assert_int_eq (total (node, "executed"), N_FILES);
      ck_assert_int_eq (total (node, "hinted"), i == 0 ? 0 : N_FILES);
      ck_assert_int_eq (total (node, "stolen_in"), total (node, "stolen_out"));
      if (i == 1)
        ck_assert_int_eq (of_place (node, 0, "hinted"), N_FILES / 2);
    }
}

/* The machine decides whether a thief comes in time, so the load is repeated until one does. With
 * strict hints none may. */
TEST (an_idle_place_steals_unless_the_hints_are_strict)
{
  gint64 stolen = 0;

  make_files (N_FILES);
  while (stolen == 0)
    {
      g_autoptr (JsonNode) node = NULL;

      irisctl ("map", "--json", "sha256", "--place", "1", files);
      assert_status (0);
      node = json ();
      ck_assert_int_eq (of_place (node, 1, "hinted"), N_FILES);
      ck_assert_int_eq (total (node, "executed"), N_FILES);
      stolen = of_place (node, 0, "stolen_in");
      ck_assert_int_eq (stolen, of_place (node, 0, "executed"));
      ck_assert_int_eq (stolen, of_place (node, 1, "stolen_out"));
    }
  for (guint i = 0; i < 3; i++)
    {
      g_autoptr (JsonNode) node = NULL;

      irisctl ("map", "--json", "sha256", "--place", "1", "--strict", files);
      assert_status (0);
      node = json ();
      ck_assert_int_eq (of_place (node, 1, "executed"), N_FILES);
      ck_assert_int_eq (of_place (node, 0, "executed"), 0);
      ck_assert_int_eq (total (node, "stolen_in"), 0);
    }
}

TEST (a_file_that_fails_is_named_and_the_rest_goes_on)
{
  g_autoptr (JsonNode) node = NULL;
  g_autofree char *nothing = g_build_filename (files, "nothing", NULL);

  make_files (10);
  irisctl ("map", "--json", "sha256", nothing, files);
  assert_status (1);
  ck_assert_ptr_nonnull (strstr (err, nothing));
  node = json ();
  ck_assert_int_eq (total (node, "executed"), 10);
  ck_assert_int_eq (json_object_get_int_member (json_node_get_object (node), "failed"), 1);
}

TEST (a_service_that_does_not_exist_is_one_error_and_not_one_a_file)
{
  make_files (100);
  irisctl ("map", "no-such-service", files);
  assert_status (2);
  ck_assert_ptr_nonnull (strstr (err, "no-such-service"));
  ck_assert_ptr_eq (strchr (err, '\n'), err + strlen (err) - 1);
}

TEST (an_interrupted_command_is_cancelled)
{
  g_autofree char *begun = gate_new (irisd, "begun");
  g_autofree char *script = g_strdup_printf ("echo > %s; exec sleep 1000", begun);
  const char *words[] = { g_getenv ("IRISCTL"), "run", "sh", "-c", script, NULL };
  g_autoptr (GSubprocess) process = spawn (words);
  g_autoptr (JsonNode) node = NULL;
  int fd = gate_wait (begun);

  g_subprocess_send_signal (process, SIGINT);
  collect (process, NULL);
  assert_status (130);
  close (fd);
  irisctl ("status", "--json");
  node = json ();
  ck_assert_int_eq (json_object_get_int_member (json_node_get_object (node), "in_flight"), 0);
}

TEST (an_irisd_that_dies_is_an_error)
{
  g_autofree char *begun = gate_new (irisd, "begun");
  g_autofree char *script = g_strdup_printf ("echo > %s; exec sleep 1000", begun);
  const char *words[] = { g_getenv ("IRISCTL"), "run", "sh", "-c", script, NULL };
  g_autoptr (GSubprocess) process = spawn (words);
  int fd = gate_wait (begun);

  irisd_signal (irisd, SIGKILL);
  collect (process, NULL);
  assert_status (3);
  ck_assert_ptr_nonnull (strstr (err, "may or may not have run"));
  close (fd);
  ck_assert_int_eq (irisd_wait (irisd), -SIGKILL);
  irisd_free (g_steal_pointer (&irisd));
}

/* Only root can be another user, and only if that user may execute the built programs. */
TEST (a_user_that_the_system_refuses_is_told_which_setting_to_change)
{
#define AS_ANOTHER_USER \
  "setpriv", "--reuid=65534", "--regid=65534", "--clear-groups", g_getenv ("IRISCTL")
  if (geteuid () != 0)
    return;
  run_words (NULL, (const char *const[]){ AS_ANOTHER_USER, "--version", NULL });
  if (status != 0)
    return;
  run_words (NULL, (const char *const[]){ AS_ANOTHER_USER, "status", NULL });
  assert_status (4);
  ck_assert_ptr_nonnull (strstr (err, "[access] users"));
}

TEST_MAIN ("irisctl", set_up, tear_down)
