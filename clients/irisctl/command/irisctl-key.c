/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * irisctl key new, list, allow, revoke: keys of CURVE, and the files by which irisd lets them in.
 *
 * These commands write files, so they work where no irisd runs; one that runs names its folder, and
 * tells of the use of its keys. A client's file has its secret and stays where it was made. irisd's
 * folder has a file for each client, with the public key, the roles, and the number of the owner of
 * the client's items, which stays for good.
 */
#include "clients/irisctl/command/irisctl-command.h"
#include "clients/irisctl/output/irisctl-output.h"

#include <errno.h>
#include <fcntl.h>
#include <glib/gstdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zmq.h>

#define GROUP    "key"
#define SUFFIX   ".key"
#define KEY_TEXT 40 /* characters of Z85 */

/* The numbers of the owners of keys' items are 32 bits from here on. */
#define FIRST_OWNER (G_GINT64_CONSTANT (1) << 33)

static char *output, *server, *keys_dir, *roles, *services;
static int rate = -1;
static gboolean reload;

static const char *const role_names[] = { "observe", "submit", "work", "control", NULL };

static gboolean
is_key (const char *text)
{
  guint8 bytes[32];

  return strlen (text) == KEY_TEXT && zmq_z85_decode (bytes, text) != NULL;
}

/* A key in Z85, or the file that has it. NULL after printing why not. A path may look like a key:
 * Z85 has a slash. */
static char *
read_public (const char *word)
{
  g_autoptr (GKeyFile) file = g_key_file_new ();
  g_autoptr (GError) error = NULL;
  g_autofree char *text = NULL;

  if (is_key (word) && !g_file_test (word, G_FILE_TEST_EXISTS))
    return g_strdup (word);
  if (g_key_file_load_from_file (file, word, G_KEY_FILE_NONE, &error))
    text = g_key_file_get_string (file, GROUP, "public", &error);
  if (text != NULL && is_key (g_strstrip (text)))
    return g_steal_pointer (&text);
  ctl_fail (CTL_USAGE, "“%s” is no public key and no file with one%s%s; a key has %d characters",
            word, error != NULL ? ": " : "", error != NULL ? error->message : "", KEY_TEXT);
  return NULL;
}

/* It becomes the name of a file. */
static gboolean
check_name (const char *name)
{
  gboolean good = *name != '\0' && *name != '.' && strlen (name) <= 64;

  for (const char *at = name; good && *at != '\0'; at++)
    good = g_ascii_isalnum (*at) || strchr ("-_.@", *at) != NULL;
  if (!good)
    ctl_fail (CTL_USAGE,
              "“%s” is no name of a key; use at most 64 letters, digits, and - _ . @ inside", name);
  return good;
}

static char *
config_path (const char *part, const char *base)
{
  return g_build_filename (g_get_user_config_dir (), "iris", part, base, NULL);
}

static char *
default_dir (void)
{
  return geteuid () == 0 ? g_strdup ("/etc/iris/keys.d") : config_path ("keys.d", NULL);
}

/* Sets @keys and @dir to what irisd says; to NULL if none runs, unless the caller named it. */
static int
ask_irisd (Ctl *ctl, GVariant **keys, char **dir)
{
  g_autoptr (IrisClient) client = iris_client_new (ctl->where);
  g_autoptr (GError) error = NULL;
  GAsyncResult *result = NULL;
  gboolean connected;

  g_object_set (client, "asks-only", TRUE, NULL);
  iris_client_connect_async (client, NULL, ctl_take_result, &result);
  connected = iris_client_connect_finish (client, ctl_wait (&result), &error);
  g_clear_object (&result);
  if (!connected)
    return ctl->where != NULL ? ctl_fail_with (error) : CTL_OK;
  iris_client_get_keys_async (client, NULL, ctl_take_result, &result);
  *keys = iris_client_get_keys_finish (client, ctl_wait (&result), dir, &error);
  g_clear_object (&result);
  return *keys != NULL ? CTL_OK : ctl_fail_with (error);
}

/* Sets @path to the file of the key @name: in the folder that was given, or that irisd has read, or
 * that it reads by default. */
static int
find_file (Ctl *ctl, const char *name, char **path)
{
  g_autoptr (GVariant) keys = NULL;
  g_autofree char *dir = g_strdup (keys_dir);
  g_autofree char *base = g_strconcat (name, SUFFIX, NULL);
  gboolean elsewhere = ctl->where != NULL && g_str_has_prefix (ctl->where, "tcp:");
  int status = dir == NULL && !elsewhere ? ask_irisd (ctl, &keys, &dir) : CTL_OK;

  if (dir == NULL)
    dir = default_dir ();
  *path = g_build_filename (dir, base, NULL);
  return status;
}

/* The file gets its mode before its content. */
static int
write_file (GKeyFile *file, const char *path, int mode, gboolean fresh)
{
  g_autoptr (GError) error = NULL;
  g_autofree char *parent = g_path_get_dirname (path);
  gsize size = 0;
  g_autofree char *text = g_key_file_to_data (file, &size, NULL);

  if (g_mkdir_with_parents (parent, 0700) != 0)
    return ctl_fail (CTL_FAILED, "cannot make the folder %s: %s", parent, g_strerror (errno));
  if (fresh && g_file_test (path, G_FILE_TEST_EXISTS))
    return ctl_fail (CTL_USAGE, "%s is there already; choose another name, or remove it first",
                     path);
  if (!g_file_set_contents_full (path, text, (gssize) size,
                                 G_FILE_SET_CONTENTS_CONSISTENT | G_FILE_SET_CONTENTS_DURABLE, mode,
                                 &error))
    return ctl_fail (CTL_FAILED, "cannot write the key: %s", error->message);
  /* One that was there keeps its mode. */
  if (chmod (path, (mode_t) mode) != 0)
    return ctl_fail (CTL_FAILED, "cannot set the mode of %s: %s", path, g_strerror (errno));

  return CTL_OK;
}

/* --- new -------------------------------------------------------------------------------------- */

static int
run_new (Ctl *ctl, const char *name, const char *none)
{
  g_autoptr (GKeyFile) file = g_key_file_new ();
  g_autofree char *base = g_strconcat (name, SUFFIX, NULL);
  g_autofree char *path = output != NULL ? g_strdup (output) : config_path ("keys", base);
  g_autofree char *servers = NULL;
  char public_key[KEY_TEXT + 1], secret[KEY_TEXT + 1];
  int status;

  if (server != NULL && (servers = read_public (server)) == NULL)
    return CTL_USAGE;
  if (zmq_curve_keypair (public_key, secret) != 0)
    return ctl_fail (CTL_FAILED, "cannot make a key: %s; this ZeroMQ needs CURVE",
                     zmq_strerror (errno));
  g_key_file_set_string (file, GROUP, "public", public_key);
  g_key_file_set_string (file, GROUP, "secret", secret);
  if (servers != NULL)
    g_key_file_set_string (file, GROUP, "server", servers);
  status = write_file (file, path, 0600, TRUE);
  if (status != CTL_OK)
    return status;
  if (ctl->json)
    ctl_json_print_strings ("key", (const char *const[]){ public_key, path, NULL });
  else
    g_print ("%s\n", public_key);
  if (!ctl->json)
    g_printerr ("irisctl: %s has the secret; the line above is the public key\n", path);

  return CTL_OK;
}

/* --- list ------------------------------------------------------------------------------------- */

typedef struct
{
  char *name, *public_key, *roles, *services, *owner, *rate;
  gint64 n_connections; /* -1: irisd was not asked */
  guint64 seen_ms;
} Row;

static char *
entry_of (GKeyFile *file, const char *entry, const char *fallback)
{
  char *value = g_key_file_get_string (file, GROUP, entry, NULL);

  return value != NULL ? g_strstrip (value) : g_strdup (fallback);
}

static void
row_free (gpointer data)
{
  Row *row = data;

  g_free (row->name);
  g_free (row->public_key);
  g_free (row->roles);
  g_free (row->services);
  g_free (row->owner);
  g_free (row->rate);
  g_free (row);
}

static int
compare_rows (gconstpointer a, gconstpointer b)
{
  return strcmp ((*(const Row *const *) a)->name, (*(const Row *const *) b)->name);
}

static GPtrArray *
read_rows (const char *path, GError **error)
{
  g_autoptr (GPtrArray) rows = g_ptr_array_new_with_free_func (row_free);
  g_autoptr (GDir) dir = g_dir_open (path, 0, error);

  if (dir == NULL)
    return NULL;
  for (const char *base; (base = g_dir_read_name (dir)) != NULL;)
    {
      g_autoptr (GKeyFile) file = g_key_file_new ();
      g_autofree char *at = g_build_filename (path, base, NULL);
      Row *row;

      if (!g_str_has_suffix (base, SUFFIX) || *base == '.')
        continue;
      if (!g_key_file_load_from_file (file, at, G_KEY_FILE_NONE, error))
        {
          g_prefix_error (error, "%s: ", at);
          return NULL;
        }
      row = g_new0 (Row, 1);
      row->name = g_strndup (base, strlen (base) - strlen (SUFFIX));
      row->public_key = entry_of (file, "public", "revoked");
      row->roles = entry_of (file, "roles", "none");
      row->services = entry_of (file, "services", "all but command");
      row->rate = entry_of (file, "rate", "0");
      row->owner = entry_of (file, "owner", "");
      row->n_connections = -1;
      g_ptr_array_add (rows, row);
    }
  g_ptr_array_sort (rows, compare_rows);
  return g_steal_pointer (&rows);
}

static void
print_rows_json (const GPtrArray *rows)
{
  CtlJsonArray array;

  ctl_json_array_begin (&array);
  for (guint i = 0; i < rows->len; i++)
    {
      const Row *row = g_ptr_array_index (rows, i);

      JsonBuilder *builder = ctl_json_array_next (&array);

      json_builder_begin_object (builder);
      ctl_json_string (builder, "name", row->name);
      ctl_json_string (builder, "public", row->public_key);
      ctl_json_string (builder, "roles", row->roles);
      ctl_json_string (builder, "services", row->services);
      ctl_json_string (builder, "rate", row->rate);
      ctl_json_string (builder, "owner", row->owner);
      if (row->n_connections >= 0)
        {
          ctl_json_int (builder, "connections", row->n_connections);
          ctl_json_double (builder, "seen", row->seen_ms / 1e3);
        }
      json_builder_end_object (builder);
    }
  ctl_json_array_end (&array);
}

static void
print_rows (const GPtrArray *rows)
{
  for (guint i = 0; i < rows->len; i++)
    {
      const Row *row = g_ptr_array_index (rows, i);

      g_print ("%s\n  key %s\n  roles %s, services %s, rate %s, owner %s\n", row->name,
               row->public_key, row->roles, row->services, row->rate, row->owner);
      if (row->n_connections >= 0)
        {
          g_autofree char *seen = row->seen_ms > 0 ? ctl_format_time (row->seen_ms)
                                                   : g_strdup ("not since irisd started");

          g_print ("  connections %" G_GINT64_FORMAT ", last seen %s\n", row->n_connections, seen);
        }
    }
}

/* The same from irisd's answer. */
static GPtrArray *
rows_of (GVariant *keys)
{
  GPtrArray *rows = g_ptr_array_new_with_free_func (row_free);
  GVariantIter iter;
  GVariant *key;

  g_variant_iter_init (&iter, keys);
  while (g_variant_iter_loop (&iter, "@a{sv}", &key))
    {
      Row *row = g_new0 (Row, 1);
      g_auto (GStrv) names = NULL;
      gboolean any = FALSE;
      guint64 items_a_second = 0, owner = 0;
      guint n_connections = 0;

      g_variant_lookup (key, "name", "s", &row->name);
      g_variant_lookup (key, "public", "s", &row->public_key);
      g_variant_lookup (key, "roles", "s", &row->roles);
      g_variant_lookup (key, "any-service", "b", &any);
      g_variant_lookup (key, "services", "^as", &names);
      g_variant_lookup (key, "rate", "t", &items_a_second);
      g_variant_lookup (key, "owner", "t", &owner);
      g_variant_lookup (key, "connections", "u", &n_connections);
      g_variant_lookup (key, "seen-ms", "t", &row->seen_ms);
      if (row->public_key == NULL || *row->public_key == '\0')
        {
          g_free (row->public_key);
          row->public_key = g_strdup ("revoked");
        }
      row->services = any ? g_strdup ("all but command") : g_strjoinv (";", names);
      row->rate = g_strdup_printf ("%" G_GUINT64_FORMAT, items_a_second);
      row->owner = g_strdup_printf ("%" G_GUINT64_FORMAT, owner);
      row->n_connections = n_connections;
      g_ptr_array_add (rows, row);
    }
  return rows;
}

static int
run_list (Ctl *ctl, const char *none, const char *nothing)
{
  g_autoptr (GVariant) keys = NULL;
  g_autoptr (GPtrArray) rows = NULL;
  g_autoptr (GError) error = NULL;
  g_autofree char *dir = g_strdup (keys_dir);
  int status = dir == NULL ? ask_irisd (ctl, &keys, &dir) : CTL_OK;

  if (status != CTL_OK)
    return status;
  if (keys != NULL)
    rows = rows_of (keys);
  else
    {
      if (dir == NULL)
        dir = default_dir ();
      rows = read_rows (dir, &error);
    }
  if (rows == NULL)
    return ctl_fail (CTL_FAILED, "cannot read the folder of keys: %s", error->message);
  if (keys == NULL && keys_dir == NULL)
    g_printerr ("irisctl: irisd does not run; these are the keys of %s\n", dir);
  if (ctl->json)
    print_rows_json (rows);
  else
    print_rows (rows);
  return CTL_OK;
}

/* --- allow and revoke ------------------------------------------------------------------------- */

static gboolean
check_roles (const char *text)
{
  g_auto (GStrv) words = g_strsplit (text, ";", -1);
  guint n = 0;

  for (guint i = 0; words[i] != NULL; i++)
    {
      const char *word = g_strstrip (words[i]);

      n += *word != '\0';
      if (*word != '\0' && !g_strv_contains (role_names, word))
        {
          ctl_fail (CTL_USAGE,
                    "there is no role “%s”: choose observe, submit, work and control, "
                    "with “;” between them",
                    word);
          return FALSE;
        }
    }
  if (n == 0)
    ctl_fail (CTL_USAGE, "--roles names no role: choose observe, submit, work and control");
  return n > 0;
}

/* irisd takes the files when it reads them next. */
static int
tell_irisd (Ctl *ctl, const char *done, const char *name)
{
  if (reload)
    return ctl_reload_settings (ctl);
  if (!ctl->json)
    g_print ("%s %s; irisctl reload has irisd take it\n", done, name);

  return CTL_OK;
}

/* The entries that were given; the others stay. */
static int
fill_entries (GKeyFile *file, const char *name, const char *key)
{
  gboolean known = g_key_file_has_key (file, GROUP, "owner", NULL);

  if (key != NULL)
    {
      g_autofree char *public_key = read_public (key);

      if (public_key == NULL)
        return CTL_USAGE;
      g_key_file_set_string (file, GROUP, "public", public_key);
    }
  else if (!g_key_file_has_key (file, GROUP, "public", NULL))
    return ctl_fail (CTL_USAGE, "%s has no key yet: give the public key behind the name", name);
  if (roles == NULL && !g_key_file_has_key (file, GROUP, "roles", NULL))
    return ctl_fail (CTL_USAGE, "allow needs --roles for a new key; see irisctl key --help");
  if (roles != NULL && !check_roles (roles))
    return CTL_USAGE;
  if (roles != NULL)
    g_key_file_set_string (file, GROUP, "roles", roles);
  if (services != NULL && *services != '\0')
    g_key_file_set_string (file, GROUP, "services", services);
  else if (services != NULL)
    g_key_file_remove_key (file, GROUP, "services", NULL);
  if (rate >= 0)
    g_key_file_set_integer (file, GROUP, "rate", rate);
  if (!known)
    g_key_file_set_int64 (file, GROUP, "owner", FIRST_OWNER + (gint64) g_random_int ());

  return CTL_OK;
}

static int
run_allow (Ctl *ctl, const char *name, const char *key)
{
  g_autofree char *path = NULL;
  g_autoptr (GKeyFile) file = g_key_file_new ();
  g_autoptr (GError) error = NULL;
  int status = find_file (ctl, name, &path);

  if (status != CTL_OK)
    return status;
  if (!g_key_file_load_from_file (file, path, G_KEY_FILE_NONE, &error)
      && !g_error_matches (error, G_FILE_ERROR, G_FILE_ERROR_NOENT))
    return ctl_fail (CTL_FAILED, "cannot read %s: %s", path, error->message);
  status = fill_entries (file, name, key);
  if (status == CTL_OK)
    status = write_file (file, path, 0644, FALSE);

  return status == CTL_OK ? tell_irisd (ctl, "allowed", name) : status;
}

/* The owner stays, so that another key of the name has its items. */
static int
run_revoke (Ctl *ctl, const char *name, const char *none)
{
  g_autofree char *path = NULL;
  g_autoptr (GKeyFile) file = g_key_file_new ();
  g_autoptr (GError) error = NULL;
  int status = find_file (ctl, name, &path);

  if (status != CTL_OK)
    return status;
  if (!g_key_file_load_from_file (file, path, G_KEY_FILE_NONE, &error))
    return ctl_fail (CTL_USAGE, "there is no key %s: %s; irisctl key list shows all", name,
                     error->message);
  g_key_file_remove_key (file, GROUP, "public", NULL);
  status = write_file (file, path, 0644, FALSE);

  return status == CTL_OK ? tell_irisd (ctl, "revoked", name) : status;
}

static int
run_key (Ctl *ctl, int argc, char **argv)
{
  static const struct
  {
    const char *name;
    int least, most; /* words behind it */
    int (*run) (Ctl *ctl, const char *name, const char *key);
  } rows[] = {
    { "new", 1, 1, run_new },
    { "list", 0, 0, run_list },
    { "allow", 1, 2, run_allow },
    { "revoke", 1, 1, run_revoke },
  };

  for (guint i = 0; i < G_N_ELEMENTS (rows); i++)
    {
      if (!g_str_equal (argv[1], rows[i].name))
        continue;
      if (argc - 2 < rows[i].least || argc - 2 > rows[i].most)
        return ctl_fail (CTL_USAGE, "key %s takes %s; see irisctl key --help", rows[i].name,
                         rows[i].most == 0   ? "no more words"
                         : rows[i].most == 1 ? "a name"
                                             : "a name and a public key or its file");
      if (argc > 2 && !check_name (argv[2]))
        return CTL_USAGE;
      return rows[i].run (ctl, argc > 2 ? argv[2] : NULL, argc > 3 ? argv[3] : NULL);
    }
  return ctl_fail (CTL_USAGE, "there is no “key %s”: choose new, list, allow or revoke", argv[1]);
}

static const GOptionEntry key_entries[] = {
  { "output", 'o', 0, G_OPTION_ARG_FILENAME, &output,
    "new: the file (default: NAME.key in ~/.config/iris/keys)", "FILE" },
  { "server", 0, 0, G_OPTION_ARG_STRING, &server,
    "new: irisd's public key, or a file with it, so that the client knows irisd", "KEY" },
  { "keys", 0, 0, G_OPTION_ARG_FILENAME, &keys_dir,
    "irisd's folder of keys (default: what a running irisd says, or /etc/iris/keys.d for root, or "
    "~/.config/iris/keys.d)",
    "DIR" },
  { "roles", 0, 0, G_OPTION_ARG_STRING, &roles,
    "allow: observe, submit, work and control, with “;” between them", "ROLES" },
  { "services", 0, 0, G_OPTION_ARG_STRING, &services,
    "allow: only these services; “command” must be named", "SERVICES" },
  { "rate", 0, 0, G_OPTION_ARG_INT, &rate, "allow: items a second; 0 for no limit", "N" },
  { "reload", 0, 0, G_OPTION_ARG_NONE, &reload, "Have irisd read its keys again", NULL },
  { NULL },
};

const CtlCommand ctl_key = {
  .name = "key",
  .arguments = "new NAME | list | allow NAME [KEY] | revoke NAME",
  .summary = "make keys for other machines, and say what each may do",
  .description = "observe sees everything and changes nothing; submit has items of its own; work\n"
                 "runs items, of all clients for the services that are named; control changes the\n"
                 "items of all, the places and irisd. A revoked key is cut off at the reload.\n\n"
                 "Examples:\n"
                 "  irisctl key new irisd --output /etc/iris/server.key\n"
                 "  irisctl key new laptop --server /etc/iris/server.key\n"
                 "  irisctl key allow laptop 'PUBLIC KEY' --roles 'submit;observe' --reload\n"
                 "  irisctl -e 'tcp://HOST:4700?key=laptop' status\n",
  .least = 1,
  .most = 3,
  .takes = "new, list, allow or revoke, and a name",
  .asks_only = TRUE,
  .entries = key_entries,
  .run = run_key,
};
