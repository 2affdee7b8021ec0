/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * Files of keys: what they may say, who may write to them, and what a reload tells of them.
 */
#include "core-test-run.h"
#include "daemon/base/irisd-error.h"
#include "daemon/config/irisd-key-use.h"
#include "daemon/config/irisd-keys.h"
#include "daemon/config/irisd-policy.h"

#include <check.h>
#include <glib/gstdio.h>
#include <iris/wire/iris-wire.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zmq.h>

static char *dir;
static char public_key[41], secret[41];

static void
set_up (void)
{
  dir = g_dir_make_tmp ("irisd-keys-XXXXXX", NULL);
  ck_assert_int_eq (zmq_curve_keypair (public_key, secret), 0);
}

static void
tear_down (void)
{
  g_autoptr (GDir) folder = g_dir_open (dir, 0, NULL);
  for (const char *name; (name = g_dir_read_name (folder)) != NULL;)
    {
      g_autofree char *path = g_build_filename (dir, name, NULL);
      g_unlink (path);
    }
  g_rmdir (dir);
  g_free (dir);
}

static void
write_file (const char *name, const char *text, guint mode)
{
  g_autofree char *path = g_build_filename (dir, name, NULL);
  ck_assert (g_file_set_contents (path, text, -1, NULL));
  ck_assert_int_eq (chmod (path, mode), 0);
}

/* A file of the key that was made, with @more. */
static void
write_key (const char *name, gint64 owner, const char *more)
{
  g_autofree char *text = g_strdup_printf ("[key]\npublic=%s\nowner=%" G_GINT64_FORMAT "\n%s",
                                           public_key, owner, more);
  write_file (name, text, 0644);
}

static void
assert_refused (const char *words)
{
  g_autoptr (GError) error = NULL;
  ck_assert_ptr_null (irisd_keys_load (dir, &error));
  ck_assert (g_error_matches (error, IRISD_ERROR, IRISD_ERROR_USAGE));
  ck_assert_msg (strstr (error->message, words) != NULL, "no “%s” in: %s", words, error->message);
}

TEST (a_key_has_roles_services_a_rate_and_an_owner)
{
  write_key ("anna.key", IRISD_KEY_FIRST_OWNER + 7,
             "roles=observe; submit\nservices=echo;x\nrate=5\n");
  write_file ("bert.key", "[key]\nowner=8589934600\nroles=work\n", 0600);
  write_file ("README", "no key", 0666);
  g_autoptr (IrisdKeys) keys = irisd_keys_load (dir, NULL);
  ck_assert_uint_eq (irisd_keys_get_count (keys), 2);
  const IrisdKey *anna = irisd_keys_find_public (keys, public_key);
  ck_assert_str_eq (anna->name, "anna");
  ck_assert_ptr_eq (irisd_keys_find_owner (keys, IRISD_KEY_FIRST_OWNER + 7), anna);
  ck_assert_uint_eq (anna->roles,
                     IRISD_ROLES (IRISD_ROLE_OBSERVE) | IRISD_ROLES (IRISD_ROLE_SUBMIT));
  ck_assert_uint_eq (anna->rate, 5);
  ck_assert (irisd_key_may_use (anna, "x") && !irisd_key_may_use (anna, "y"));
  /* Revoked: it has an owner and no public key. */
  const IrisdKey *bert = irisd_keys_find_owner (keys, 8589934600);
  ck_assert_str_eq (bert->public_key, "");
  ck_assert (irisd_key_may_use (bert, "y") && !irisd_key_names_service (bert, "y"));
  g_autoptr (IrisdKeys) none = irisd_keys_load (NULL, NULL);
  ck_assert_uint_eq (irisd_keys_get_count (none), 0);
}

TEST (a_mistake_in_a_file_is_named)
{
  static const struct
  {
    const char *text;
    const char *words;
  } bad[] = {
    { "", "it needs one group" },
    { "[key]\npublic=short\nowner=8589934592\nroles=work\n", "public: this is no key" },
    { "[key]\nowner=1000\nroles=work\n", "owner: “1000” is no number" },
    { "[key]\nroles=work\n", "owner: " },
    { "[key]\nowner=8589934592\n", "no role is given" },
    { "[key]\nowner=8589934592\nroles=;\n", "no role is given" },
    { "[key]\nowner=8589934592\nroles=operator\n", "there is no role “operator”" },
    { "[key]\nowner=8589934592\nroles=work\nrate=fast\n", "rate: “fast”" },
    { "[key]\nowner=8589934592\nroles=work\nspeed=1\n", "there is no entry “speed”" },
    { "[key]\nowner=8589934592\nroles=work\n[more]\n", "it needs one group" },
    { "nonsense", "anna.key" },
  };
  for (guint i = 0; i < G_N_ELEMENTS (bad); i++)
    {
      write_file ("anna.key", bad[i].text, 0644);
      assert_refused (bad[i].words);
      assert_refused ("anna.key");
    }
}

TEST (a_file_that_others_may_write_to_is_refused)
{
  write_key ("anna.key", IRISD_KEY_FIRST_OWNER, "roles=submit\n");
  g_autofree char *path = g_build_filename (dir, "anna.key", NULL);
  static const guint modes[] = { 0664, 0646, 0666 };
  for (guint i = 0; i < G_N_ELEMENTS (modes); i++)
    {
      ck_assert_int_eq (chmod (path, modes[i]), 0);
      assert_refused ("others may write to it");
    }
  ck_assert_int_eq (chmod (path, 0644), 0);
  ck_assert_int_eq (chmod (dir, 0777), 0);
  assert_refused ("others may write to it");
  ck_assert_int_eq (chmod (dir, 0755), 0);
  if (geteuid () == 0)
    {
      ck_assert_int_eq (chown (path, 65533, (gid_t) -1), 0);
      assert_refused ("belongs to the user 65533");
      ck_assert_int_eq (chown (path, 0, (gid_t) -1), 0);
    }
  g_autoptr (IrisdKeys) keys = irisd_keys_load (dir, NULL);
  ck_assert_ptr_nonnull (keys);
}

TEST (the_secret_is_for_its_owner_alone)
{
  g_autofree char *path = g_build_filename (dir, "server.key", NULL);
  g_autofree char *text = g_strdup_printf ("[key]\npublic=%s\nsecret=%s\n", public_key, secret);
  g_autoptr (GError) error = NULL;
  write_file ("server.key", text, 0600);
  g_autofree char *read = irisd_keys_load_secret (path, NULL);
  ck_assert_str_eq (read, secret);
  write_file ("server.key", text, 0640);
  ck_assert_ptr_null (irisd_keys_load_secret (path, &error));
  ck_assert_ptr_nonnull (strstr (error->message, "others may read it (mode 0640)"));
  g_clear_error (&error);
  write_file ("server.key", "[key]\nsecret=short\n", 0600);
  ck_assert_ptr_null (irisd_keys_load_secret (path, &error));
  ck_assert_ptr_nonnull (strstr (error->message, "has no secret key"));
}

TEST (no_two_files_have_one_key_or_one_owner)
{
  write_key ("anna.key", IRISD_KEY_FIRST_OWNER, "roles=submit\n");
  write_key ("bert.key", IRISD_KEY_FIRST_OWNER + 1, "roles=submit\n");
  assert_refused ("it has the public key of the key anna");
  write_file ("bert.key", "[key]\nowner=8589934592\nroles=work\n", 0600);
  assert_refused ("it has the number of an owner of the key anna");
}

static void
assert_lines (const IrisdKeys *before, const IrisdKeys *after, const char *words)
{
  g_autoptr (GPtrArray) lines = g_ptr_array_new_with_free_func (g_free);
  irisd_keys_compare (before, after, lines);
  ck_assert_uint_eq (lines->len, words != NULL);
  if (words != NULL)
    ck_assert_msg (strstr (g_ptr_array_index (lines, 0), words) != NULL, "%s",
                   (const char *) g_ptr_array_index (lines, 0));
}

TEST (a_reload_tells_what_became_of_each_key)
{
  g_autoptr (IrisdKeys) none = irisd_keys_load (NULL, NULL);
  write_key ("anna.key", IRISD_KEY_FIRST_OWNER, "roles=submit\n");
  g_autoptr (IrisdKeys) one = irisd_keys_load (dir, NULL);
  write_key ("anna.key", IRISD_KEY_FIRST_OWNER, "roles=submit;control\n");
  g_autoptr (IrisdKeys) more = irisd_keys_load (dir, NULL);
  write_file ("anna.key", "[key]\nowner=8589934592\nroles=work\n", 0600);
  g_autoptr (IrisdKeys) revoked = irisd_keys_load (dir, NULL);
  assert_lines (none, one, "the key anna is allowed: ");
  assert_lines (one, one, NULL);
  assert_lines (one, more, "with roles submit;control, ");
  assert_lines (more, revoked, "the key anna is revoked");
  assert_lines (one, none, "the key anna is revoked");
  assert_lines (revoked, none, NULL);
  assert_lines (revoked, one, "the key anna is allowed: ");
}

/* A key has the reach of its most powerful role, and what none of them reaches is refused. */
TEST (roles_add_up)
{
  const IrisdRoles observe = IRISD_ROLES (IRISD_ROLE_OBSERVE);
  const IrisdRoles submit = IRISD_ROLES (IRISD_ROLE_SUBMIT);
  g_autoptr (GError) error = NULL;
  ck_assert_int_eq (irisd_policy_get_reach (IRIS_WIRE_LIST, submit), IRISD_REACH_OWN);
  ck_assert_int_eq (irisd_policy_get_reach (IRIS_WIRE_LIST, observe | submit), IRISD_REACH_ALL);
  ck_assert_int_eq (irisd_policy_get_reach (IRIS_WIRE_SUBMIT, observe), IRISD_REACH_NONE);
  ck_assert (!irisd_policy_check (IRIS_WIRE_DRAIN, observe | submit, &error));
  ck_assert (g_error_matches (error, IRIS_WIRE_ERROR, IRIS_WIRE_ERROR_NOT_PERMITTED));
  ck_assert_msg (strstr (error->message,
                         "has the roles observe;submit, and the request needs one of "
                         "control")
                     != NULL,
                 "%s", error->message);
}

TEST (a_rate_is_for_all_connections_of_a_key)
{
  IrisdKeyUse rates;
  const gint64 one = IRISD_KEY_FIRST_OWNER, other = one + 1;
  guint n = 0, wait_ms;
  irisd_key_use_init (&rates);
  while (irisd_key_use_admit (&rates, one, 10, G_USEC_PER_SEC, &wait_ms))
    n++;
  ck_assert_uint_eq (n, 10);
  ck_assert_uint_gt (wait_ms, 0);
  ck_assert (irisd_key_use_admit (&rates, other, 10, G_USEC_PER_SEC, &wait_ms));
  ck_assert (irisd_key_use_admit (&rates, one, 0, G_USEC_PER_SEC, &wait_ms));
  ck_assert (irisd_key_use_admit (&rates, one, 10, G_USEC_PER_SEC * 11 / 10, &wait_ms));
  ck_assert (!irisd_key_use_admit (&rates, one, 10, G_USEC_PER_SEC * 11 / 10, &wait_ms));
  irisd_key_use_clear (&rates);
}

/* Each file gives a key, or is refused with a reason. */
TEST (a_changed_key_file_is_a_key_or_is_refused)
{
  g_autoptr (GRand) rand = g_rand_new_with_seed (17);
  g_autofree char *text = g_strdup_printf (
      "[key]\npublic=%s\nowner=8589934600\nroles=submit;work\nservices=echo;command\nrate=5\n",
      public_key);
  g_autofree char *path = g_build_filename (dir, "anna.key", NULL);
  guint n_good = 0, n = 500;
  for (guint i = 0; i < n; i++)
    {
      g_autoptr (GByteArray) bytes = g_byte_array_new ();
      g_autoptr (GError) error = NULL;
      g_byte_array_append (bytes, (const guint8 *) text, (guint) strlen (text));
      for (gint change = g_rand_int_range (rand, 0, 3); change > 0; change--)
        {
          guint at = (guint) g_rand_int_range (rand, 0, (gint32) bytes->len - 8);
          if (g_rand_boolean (rand))
            bytes->data[at] = (guint8) g_rand_int (rand);
          else
            g_byte_array_remove_range (bytes, at, (guint) g_rand_int_range (rand, 1, 8));
        }
      ck_assert (g_file_set_contents_full (path, (char *) bytes->data, bytes->len,
                                           G_FILE_SET_CONTENTS_NONE, 0644, NULL));
      ck_assert_int_eq (chmod (path, 0644), 0);
      g_autoptr (IrisdKeys) keys = irisd_keys_load (dir, &error);
      ck_assert ((keys == NULL) == (error != NULL));
      if (keys == NULL)
        continue;
      const IrisdKey *key = irisd_keys_get (keys, 0);
      n_good++;
      ck_assert_int_ge (key->owner, IRISD_KEY_FIRST_OWNER);
      ck_assert_int_le (key->owner, IRISD_KEY_LAST_OWNER);
      ck_assert_uint_ne (key->roles, 0);
      ck_assert (*key->public_key == '\0' || strlen (key->public_key) == IRISD_KEY_TEXT);
    }
  ck_assert_uint_gt (n_good, 0);
  ck_assert_uint_lt (n_good, n);
}

TEST_MAIN ("irisd-key-files", set_up, tear_down)
