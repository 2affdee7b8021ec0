/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * irisctl key, and irisctl over TCP with a key, as from another machine.
 */
#include "irisctl-fixture.h"

#include <glib/gstdio.h>
#include <sys/stat.h>

static char *server, *laptop, *keys_dir, *endpoint;

/* Files that irisctl makes, and then an irisd that takes them. */
static void
set_up_with_keys (void)
{
  set_up ();
  g_autofree char *base = g_dir_make_tmp ("irisctl-key-XXXXXX", NULL);
  server = g_build_filename (base, "server.key", NULL);
  laptop = g_build_filename (base, "laptop.key", NULL);
  keys_dir = g_build_filename (base, "keys.d", NULL);
  irisctl ("key", "new", "irisd", "--output", server);
  assert_status (0);
  irisctl ("key", "new", "laptop", "--output", laptop, "--server", server);
  assert_status (0);
  ck_assert_int_eq (g_mkdir (keys_dir, 0700), 0);
  irisd_finish (g_steal_pointer (&irisd));
  g_clear_pointer (&files, g_free);
  g_autofree char *journal = g_build_filename (base, "journal", NULL);
  g_autofree char *config = g_strdup_printf (
      "[irisd]\ntcp = 127.0.0.1:0\nserver-key = %s\njournal = %s\n", server, journal);
  irisd = irisd_start (config, TWO_PLACES, NULL);
  endpoint = g_strdup_printf ("%s?key=%s", irisd->tcp, laptop);
}

static void
tear_down_with_keys (void)
{
  g_autofree char *base = g_path_get_dirname (server);
  tear_down ();
  irisd_remove_all (base);
  g_free (server);
  g_free (laptop);
  g_free (keys_dir);
  g_free (endpoint);
}

static void
allow_laptop (const char *roles)
{
  irisctl ("key", "allow", "laptop", laptop, "--keys", keys_dir, "--roles", roles, "--reload");
  assert_status (0);
}

TEST (a_key_is_made_allowed_changed_and_revoked)
{
  irisctl ("-e", endpoint, "status");
  assert_status (4);
  ck_assert_msg (strstr (err, "irisctl key allow") != NULL, "%s", err);

  allow_laptop ("submit");
  ck_assert_msg (strstr (out, "the key laptop is allowed") != NULL, "%s", out);
  irisctl ("-e", endpoint, "send", "echo", "hello");
  assert_status (0);
  ck_assert_str_eq (out, "hello");
  /* To the socket of a place, which irisd has named without the key. */
  irisctl ("-e", endpoint, "send", "--place", "1", "--strict", "echo", "there");
  assert_status (0);
  ck_assert_str_eq (out, "there");
  irisctl ("-e", endpoint, "reload");
  assert_status (4);
  ck_assert_msg (strstr (err, "has the roles submit") != NULL, "%s", err);

  /* The key and the owner stay when only the roles change. */
  irisctl ("key", "list", "--keys", keys_dir, "--json");
  g_autoptr (JsonNode) before = json ();
  g_autofree char *owner = g_strdup (json_object_get_string_member (element (before, 0), "owner"));
  irisctl ("key", "allow", "laptop", "--keys", keys_dir, "--roles", "submit;control", "--reload");
  assert_status (0);
  irisctl ("-e", endpoint, "reload");
  assert_status (0);

  irisctl ("key", "revoke", "laptop", "--keys", keys_dir, "--reload");
  assert_status (0);
  ck_assert_str_eq (out, "the key laptop is revoked\n");
  irisctl ("-e", endpoint, "status");
  assert_status (4);
  irisctl ("key", "list", "--keys", keys_dir, "--json");
  g_autoptr (JsonNode) after = json ();
  ck_assert_str_eq (json_object_get_string_member (element (after, 0), "public"), "revoked");
  ck_assert_str_eq (json_object_get_string_member (element (after, 0), "owner"), owner);
  irisctl ("key", "list", "--keys", keys_dir);
  ck_assert_ptr_nonnull (strstr (out, "laptop\n  key revoked\n"));
}

TEST (files_have_the_modes_that_irisd_wants)
{
  struct stat st;
  g_autofree char *path = g_build_filename (keys_dir, "laptop.key", NULL);
  allow_laptop ("observe");
  ck_assert_int_eq (stat (server, &st), 0);
  ck_assert_uint_eq (st.st_mode & 07777, 0600);
  ck_assert_int_eq (stat (path, &st), 0);
  ck_assert_uint_eq (st.st_mode & 07777, 0644);
  g_autofree char *text = NULL;
  ck_assert (g_file_get_contents (path, &text, NULL, NULL));
  ck_assert_ptr_null (strstr (text, "secret"));
  /* A client's secret that others may read is not used. */
  ck_assert_int_eq (g_chmod (laptop, 0644), 0);
  irisctl ("-e", endpoint, "status");
  assert_status (3);
  ck_assert_msg (strstr (err, "others may read it") != NULL, "%s", err);
}

/* irisd says which folder it reads, and how many connections a key has. */
TEST (the_folder_is_the_one_that_irisd_reads)
{
  irisctl ("key", "allow", "laptop", laptop, "--roles", "submit", "--reload");
  assert_status (0);
  g_autofree char *file = g_build_filename (keys_dir, "laptop.key", NULL);
  ck_assert (g_file_test (file, G_FILE_TEST_EXISTS));
  irisctl ("key", "list", "--json");
  assert_status (0);
  g_autoptr (JsonNode) before = json ();
  ck_assert_int_eq (json_object_get_int_member (element (before, 0), "connections"), 0);
  ck_assert (json_object_get_double_member (element (before, 0), "seen") == 0);
  irisctl ("-e", endpoint, "submit", "--detach", "--delay", "1h", "echo", "hers");
  assert_status (0);
  irisctl ("key", "list");
  assert_status (0);
  ck_assert_msg (strstr (out, "last seen") != NULL, "%s", out);
  ck_assert_msg (strstr (out, "not since irisd started") == NULL, "%s", out);
  irisctl ("list");
  assert_status (0);
  ck_assert_msg (strstr (out, "key:laptop") != NULL, "%s", out);
  /* What the key may not do: the operators' view. */
  irisctl ("-e", endpoint, "key", "list");
  assert_status (4);
  irisctl ("key", "revoke", "laptop", "--reload");
  assert_status (0);
  irisctl ("key", "list");
  assert_status (0);
  ck_assert_msg (strstr (out, "key revoked") != NULL, "%s", out);

  irisctl ("key", "list", "--keys", keys_dir);
  assert_status (0);
  ck_assert_msg (strstr (out, "last seen") == NULL, "%s", out);
}

TEST (a_file_whose_path_is_as_long_as_a_key_is_a_file)
{
  char dir[] = "/tmp/irisctl-key-XXXXXX";
  char path[] = "/tmp/irisctl-key-XXXXXX/a-key-of-40-char";
  g_autoptr (GKeyFile) its_server = g_key_file_new (), made = g_key_file_new ();

  ck_assert_uint_eq (strlen (path), 40);
  ck_assert_ptr_nonnull (g_mkdtemp (dir));
  memcpy (path, dir, strlen (dir));
  g_autofree char *other = g_build_filename (dir, "other.key", NULL);
  irisctl ("key", "new", "irisd", "--output", path);
  assert_status (0);
  irisctl ("key", "new", "other", "--output", other, "--server", path);
  assert_status (0);
  ck_assert (g_key_file_load_from_file (its_server, path, G_KEY_FILE_NONE, NULL));
  ck_assert (g_key_file_load_from_file (made, other, G_KEY_FILE_NONE, NULL));
  g_autofree char *wanted = g_key_file_get_string (its_server, "key", "public", NULL);
  g_autofree char *has = g_key_file_get_string (made, "key", "server", NULL);
  ck_assert_str_eq (has, wanted);
  irisd_remove_all (dir);
}

TEST (what_makes_no_sense_is_refused)
{
  const char *const none = "/nowhere/at/all";
  irisctl ("key", "new", "laptop", "--output", laptop);
  assert_status (2);
  ck_assert_ptr_nonnull (strstr (err, "is there already"));
  irisctl ("key", "new", "../evil");
  assert_status (2);
  irisctl ("key", "new");
  assert_status (2);
  irisctl ("key", "forget", "laptop");
  assert_status (2);
  irisctl ("key", "allow", "x", "not-a-key", "--keys", keys_dir, "--roles", "submit");
  assert_status (2);
  irisctl ("key", "allow", "x", laptop, "--keys", keys_dir);
  assert_status (2);
  ck_assert_ptr_nonnull (strstr (err, "--roles"));
  irisctl ("key", "allow", "x", laptop, "--keys", keys_dir, "--roles", "root");
  assert_status (2);
  irisctl ("key", "allow", "x", "--keys", keys_dir, "--roles", "submit");
  assert_status (2);
  irisctl ("key", "revoke", "x", "--keys", keys_dir);
  assert_status (2);
  irisctl ("key", "list", "--keys", none);
  assert_status (1);
  g_autofree char *wrong = g_strdup_printf ("%s?key=%s", irisd->tcp, none);
  irisctl ("-e", wrong, "status");
  assert_status (3);
  ck_assert_msg (strstr (err, "irisctl key new makes one") != NULL, "%s", err);
  /* Without a key at all. */
  irisctl ("-e", irisd->tcp, "status");
  assert_status (3);
  ck_assert_msg (strstr (err, "?key=FILE") != NULL, "%s", err);
}

TEST_MAIN ("irisctl-key", set_up_with_keys, tear_down_with_keys)
