/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * Keys: the clients that may connect over TCP with CURVE, and what each may do.
 *
 * A folder has a file for each key, NAME.key. Its group [key] has the public key, the roles, and
 * the number of the owner of its items; if it likes, services and a rate. The number is made with
 * the file and stays when the key is revoked or replaced, so durable items keep their owner. A
 * revoked key is a file without a public key.
 *
 * A key file gives rights, so it and its folder belong to irisd's user or root, and only their
 * owner may write to them. The server's secret may be read by its owner alone. The checks are made
 * on the open file, so that nothing replaces it between check and reading.
 */
#include "daemon/config/irisd-keys.h"

#include "daemon/base/irisd-error.h"

#include <errno.h>
#include <fcntl.h>
#include <gio/gio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zmq.h>

#define GROUP  "key"
#define SUFFIX ".key"

/* A key file has a few lines. */
#define MOST_BYTES 65536

/* Items a second, as for clients and services. */
#define MOST_RATE G_USEC_PER_SEC

struct _IrisdKeys
{
  char *dir;      /* NULL for no keys */
  GPtrArray *all; /* by name */
  GHashTable *by_public;
  GHashTable *by_owner;
};

static void
key_free (gpointer data)
{
  IrisdKey *key = data;
  g_free (key->name);
  g_strfreev (key->services);
  g_free (key);
}

static gboolean
check_rights (int fd, const char *path, mode_t forbidden, GError **error)
{
  struct stat st;
  if (fstat (fd, &st) != 0)
    return irisd_fail (error, IRISD_ERROR, IRISD_ERROR_USAGE, "cannot look at %s: %s", path,
                       g_strerror (errno));
  if (st.st_uid != geteuid () && st.st_uid != 0)
    return irisd_fail (error, IRISD_ERROR, IRISD_ERROR_USAGE,
                       "%s is refused: it belongs to the user %u; give it to irisd's user or root "
                       "(chown)",
                       path, (guint) st.st_uid);
  if ((st.st_mode & forbidden) == 0)
    return TRUE;
  return irisd_fail (error, IRISD_ERROR, IRISD_ERROR_USAGE,
                     "%s is refused: others may %s it (mode %04o); take that from them (chmod %s)",
                     path, (st.st_mode & forbidden & 022) != 0 ? "write to" : "read",
                     (guint) st.st_mode & 07777, (forbidden & 044) != 0 ? "600" : "go-w");
}

/* Returns the file's text if its owner and mode are right. */
static char *
read_file (const char *path, mode_t forbidden, GError **error)
{
  int fd = open (path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
  if (fd < 0)
    {
      irisd_fail (error, IRISD_ERROR, IRISD_ERROR_USAGE, "cannot read the key file %s: %s", path,
                  g_strerror (errno));
      return NULL;
    }
  g_autofree char *text = g_malloc0 (MOST_BYTES + 1);
  gsize size = 0;
  ssize_t n = 0;
  gboolean good = check_rights (fd, path, forbidden, error);
  while (good && size < MOST_BYTES && (n = read (fd, text + size, MOST_BYTES - size)) > 0)
    size += (gsize) n;
  int saved = errno;
  close (fd);
  if (good && n == 0 && size < MOST_BYTES)
    return g_steal_pointer (&text);
  if (good)
    irisd_fail (error, IRISD_ERROR, IRISD_ERROR_USAGE, "cannot read the key file %s: %s", path,
                n < 0 ? g_strerror (saved) : "it is too large for one");
  return NULL;
}

/* Returns the text of a file that only its owner may read. */
char *
irisd_keys_read_private_file (const char *path, GError **error)
{
  return read_file (path, 077, error);
}

static gboolean
is_key_text (const char *text)
{
  guint8 bytes[32];
  return strlen (text) == IRISD_KEY_TEXT && zmq_z85_decode (bytes, text) != NULL;
}

/* Returns NULL and no error if the file has no such entry. */
static char *
get_entry (GKeyFile *file, const char *name)
{
  g_autofree char *value = g_key_file_get_string (file, GROUP, name, NULL);
  return value != NULL ? g_strdup (g_strstrip (value)) : NULL;
}

static gboolean
read_public (IrisdKey *key, GKeyFile *file, GError **error)
{
  g_autofree char *text = get_entry (file, "public");
  if (text == NULL || *text == '\0')
    return TRUE; /* revoked */
  if (!is_key_text (text))
    return irisd_fail (error, IRISD_ERROR, IRISD_ERROR_USAGE,
                       "public: this is no key: a key has %d characters of Z85; irisctl key new "
                       "makes one",
                       IRISD_KEY_TEXT);
  g_strlcpy (key->public_key, text, sizeof key->public_key);
  return TRUE;
}

static gboolean
read_owner (IrisdKey *key, GKeyFile *file, GError **error)
{
  g_autofree char *text = get_entry (file, "owner");
  if (text != NULL
      && g_ascii_string_to_signed (text, 10, IRISD_KEY_FIRST_OWNER, IRISD_KEY_LAST_OWNER,
                                   &key->owner, NULL))
    return TRUE;
  return irisd_fail (error, IRISD_ERROR, IRISD_ERROR_USAGE,
                     "owner: “%s” is no number of an owner; irisctl key allow chooses one from "
                     "%" G_GINT64_FORMAT " on",
                     text != NULL ? text : "", IRISD_KEY_FIRST_OWNER);
}

static gboolean
read_rate (IrisdKey *key, GKeyFile *file, GError **error)
{
  g_autofree char *text = get_entry (file, "rate");
  if (text == NULL || g_ascii_string_to_unsigned (text, 10, 0, MOST_RATE, &key->rate, NULL))
    return TRUE;
  return irisd_fail (
      error, IRISD_ERROR, IRISD_ERROR_USAGE,
      "rate: “%s” is no number of items a second; give one from 1 to %d, or 0 for no "
      "limit",
      text, (int) MOST_RATE);
}

static void
read_services (IrisdKey *key, GKeyFile *file)
{
  g_autofree char *text = get_entry (file, "services");
  if (text == NULL)
    return;
  g_autoptr (GStrvBuilder) names = g_strv_builder_new ();
  g_auto (GStrv) words = g_strsplit (text, ";", -1);
  for (guint i = 0; words[i] != NULL; i++)
    if (*g_strstrip (words[i]) != '\0')
      g_strv_builder_add (names, words[i]);
  key->services = g_strv_builder_end (names);
}

static gboolean
check_entries (GKeyFile *file, GError **error)
{
  static const char *const known[] = { "public", "roles", "owner", "services", "rate", NULL };
  g_auto (GStrv) groups = g_key_file_get_groups (file, NULL);
  g_auto (GStrv) entries = g_key_file_get_keys (file, GROUP, NULL, NULL);
  if (entries == NULL || g_strv_length (groups) != 1)
    return irisd_fail (error, IRISD_ERROR, IRISD_ERROR_USAGE,
                       "it needs one group, [key]; irisctl key allow writes such files");
  for (guint i = 0; entries[i] != NULL; i++)
    if (!g_strv_contains (known, entries[i]))
      return irisd_fail (
          error, IRISD_ERROR, IRISD_ERROR_USAGE,
          "there is no entry “%s”; a key has public, roles, owner, services and rate", entries[i]);
  return TRUE;
}

static gboolean
read_key (IrisdKey *key, const char *text, GError **error)
{
  g_autoptr (GKeyFile) file = g_key_file_new ();
  if (!g_key_file_load_from_data (file, text, strlen (text), G_KEY_FILE_NONE, error)
      || !check_entries (file, error))
    return FALSE;
  g_autofree char *roles = get_entry (file, "roles");
  read_services (key, file);
  return read_public (key, file, error) && read_owner (key, file, error)
         && read_rate (key, file, error)
         && irisd_roles_parse (roles != NULL ? roles : "", &key->roles, error);
}

/* Takes @key. Two files with one key would leave open which of them holds. */
static gboolean
add_key (IrisdKeys *self, IrisdKey *key, GError **error)
{
  const IrisdKey *other = g_hash_table_lookup (self->by_owner, &key->owner);
  const char *what = "the number of an owner";
  g_ptr_array_add (self->all, key);
  if (other == NULL && *key->public_key != '\0')
    {
      other = g_hash_table_lookup (self->by_public, key->public_key);
      what = "the public key";
    }
  if (other != NULL)
    return irisd_fail (error, IRISD_ERROR, IRISD_ERROR_USAGE, "it has %s of the key %s; remove one",
                       what, other->name);
  g_hash_table_insert (self->by_owner, &key->owner, key);
  if (*key->public_key != '\0')
    g_hash_table_insert (self->by_public, key->public_key, key);
  return TRUE;
}

static gboolean
load_file (IrisdKeys *self, const char *dir, const char *base, GError **error)
{
  g_autofree char *path = g_build_filename (dir, base, NULL);
  g_autofree char *text = read_file (path, 022, error);
  if (text == NULL)
    return FALSE;
  g_autoptr (GError) local = NULL;
  IrisdKey *key = g_new0 (IrisdKey, 1);
  key->name = g_strndup (base, strlen (base) - strlen (SUFFIX));
  if (!read_key (key, text, &local))
    key_free (key);
  else if (add_key (self, key, &local))
    return TRUE;
  return irisd_fail (error, IRISD_ERROR, IRISD_ERROR_USAGE, "the key file %s: %s", path,
                     local->message);
}

static int
compare_names (gconstpointer a, gconstpointer b)
{
  return strcmp (*(const char *const *) a, *(const char *const *) b);
}

/* Returns the names of the key files, in order; NULL if the folder is refused. */
static GPtrArray *
list_files (const char *dir, GError **error)
{
  int fd = open (dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (fd < 0)
    {
      irisd_fail (error, IRISD_ERROR, IRISD_ERROR_USAGE, "cannot read the folder of keys %s: %s",
                  dir, g_strerror (errno));
      return NULL;
    }
  gboolean good = check_rights (fd, dir, 022, error);
  close (fd);
  g_autoptr (GDir) folder = good ? g_dir_open (dir, 0, error) : NULL;
  if (folder == NULL)
    return NULL;
  GPtrArray *names = g_ptr_array_new_with_free_func (g_free);
  for (const char *name; (name = g_dir_read_name (folder)) != NULL;)
    if (g_str_has_suffix (name, SUFFIX) && *name != '.')
      g_ptr_array_add (names, g_strdup (name));
  g_ptr_array_sort (names, compare_names);
  return names;
}

/* Reads all files of the folder @dir; NULL for no keys. Returns NULL if one of them has a mistake.
 */
IrisdKeys *
irisd_keys_load (const char *dir, GError **error)
{
  g_autoptr (IrisdKeys) self = g_new0 (IrisdKeys, 1);
  self->all = g_ptr_array_new_with_free_func (key_free);
  self->by_public = g_hash_table_new (g_str_hash, g_str_equal);
  self->by_owner = g_hash_table_new (g_int64_hash, g_int64_equal);
  if (dir == NULL)
    return g_steal_pointer (&self);
  self->dir = g_strdup (dir);
  g_autoptr (GPtrArray) names = list_files (dir, error);
  if (names == NULL)
    return NULL;
  for (guint i = 0; i < names->len; i++)
    if (!load_file (self, dir, g_ptr_array_index (names, i), error))
      return NULL;
  return g_steal_pointer (&self);
}

void
irisd_keys_free (IrisdKeys *self)
{
  g_hash_table_unref (self->by_public);
  g_hash_table_unref (self->by_owner);
  g_ptr_array_unref (self->all);
  g_free (self->dir);
  g_free (self);
}

/* Returns the folder that they were read from; NULL for no keys. */
const char *
irisd_keys_get_dir (const IrisdKeys *self)
{
  return self->dir;
}

guint
irisd_keys_get_count (const IrisdKeys *self)
{
  return self->all->len;
}

const IrisdKey *
irisd_keys_get (const IrisdKeys *self, guint i)
{
  return g_ptr_array_index (self->all, i);
}

/* Returns the key that is taken, or NULL. */
const IrisdKey *
irisd_keys_find_public (const IrisdKeys *self, const char *public_key)
{
  return g_hash_table_lookup (self->by_public, public_key);
}

/* Returns the key of an owner, which may be revoked, or NULL. */
const IrisdKey *
irisd_keys_find_owner (const IrisdKeys *self, gint64 owner)
{
  return g_hash_table_lookup (self->by_owner, &owner);
}

/* Returns whether the key's list of services has @service, or a `*`. */
gboolean
irisd_key_names_service (const IrisdKey *self, const char *service)
{
  return self->services != NULL
         && (g_strv_contains ((const char *const *) self->services, service)
             || g_strv_contains ((const char *const *) self->services, "*"));
}

/* Returns whether the key may use @service: without a list, every one. */
gboolean
irisd_key_may_use (const IrisdKey *self, const char *service)
{
  return self->services == NULL || irisd_key_names_service (self, service);
}

static const IrisdKey *
find_name (const IrisdKeys *self, const char *name)
{
  for (guint i = 0; i < self->all->len; i++)
    {
      const IrisdKey *key = g_ptr_array_index (self->all, i);
      if (strcmp (key->name, name) == 0)
        return key;
    }
  return NULL;
}

static char *
describe (const IrisdKey *key)
{
  g_autofree char *roles = irisd_roles_to_text (key->roles);
  g_autofree char *services = key->services != NULL ? g_strjoinv (";", key->services)
                                                    : g_strdup ("all but command");
  return g_strdup_printf ("%.8s… with roles %s, services %s, rate %" G_GUINT64_FORMAT,
                          key->public_key, roles, services, key->rate);
}

static char *
compare_key (const IrisdKey *before, const IrisdKey *after)
{
  gboolean was = before != NULL && *before->public_key != '\0';
  gboolean is = after != NULL && *after->public_key != '\0';
  const char *name = before != NULL ? before->name : after->name;
  g_autofree char *old = was ? describe (before) : NULL;
  g_autofree char *now = is ? describe (after) : NULL;
  if (was && !is)
    return g_strdup_printf ("the key %s is revoked", name);
  if (!was && is)
    return g_strdup_printf ("the key %s is allowed: %s", name, now);
  if (is && (strcmp (old, now) != 0 || strcmp (before->public_key, after->public_key) != 0))
    return g_strdup_printf ("the key %s is now %s; it was %s", name, now, old);
  return NULL;
}

/* Adds a line for each key that differs. */
void
irisd_keys_compare (const IrisdKeys *before, const IrisdKeys *after, GPtrArray *lines)
{
  for (guint i = 0; i < before->all->len; i++)
    {
      const IrisdKey *key = g_ptr_array_index (before->all, i);
      char *line = compare_key (key, find_name (after, key->name));
      if (line != NULL)
        g_ptr_array_add (lines, line);
    }
  for (guint i = 0; i < after->all->len; i++)
    {
      const IrisdKey *key = g_ptr_array_index (after->all, i);
      char *line = find_name (before, key->name) == NULL ? compare_key (NULL, key) : NULL;
      if (line != NULL)
        g_ptr_array_add (lines, line);
    }
}

/* Returns the secret of the server's key file. */
char *
irisd_keys_load_secret (const char *path, GError **error)
{
  g_autofree char *text = irisd_keys_read_private_file (path, error);
  g_autoptr (GKeyFile) file = g_key_file_new ();
  if (text == NULL)
    return NULL;
  g_autofree char *secret = NULL;
  if (g_key_file_load_from_data (file, text, strlen (text), G_KEY_FILE_NONE, NULL))
    secret = get_entry (file, "secret");
  if (secret != NULL && is_key_text (secret))
    return g_steal_pointer (&secret);
  irisd_fail (error, IRISD_ERROR, IRISD_ERROR_USAGE,
              "the key file %s has no secret key in its group [key]; irisctl key new makes one",
              path);
  return NULL;
}
