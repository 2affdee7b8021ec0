/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * The file of tokens: the role of each, and its end.
 *
 * A GKeyFile with a group a token: its hash, role and end. It is read again when it has changed, so
 * a revoked token is refused at once. A file that other users may write is refused as a whole: they
 * could add a token of their own.
 */
#include "clients/web/base/web-tokens.h"

#include <errno.h>
#include <string.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <unistd.h>

#define TOKEN_PREFIX "iris_"
#define HASH_PREFIX  "sha256:"
#define MAX_TOKENS   1000
#define MAX_BYTES    (1024 * 1024)

struct _WebTokens
{
  char *path;
  GHashTable *by_hash; /* hash to WebToken */
  struct stat seen;    /* the file that was read */
};

static const char *const role_names[] = { "none", "sums", "observe", "control" };

const char *
web_role_get_name (WebRole role)
{
  return role_names[role];
}

gboolean
web_role_parse (const char *name, WebRole *role, GError **error)
{
  for (WebRole r = WEB_ROLE_SUMS; r <= WEB_ROLE_CONTROL; r++)
    if (g_strcmp0 (name, role_names[r]) == 0)
      {
        *role = r;
        return TRUE;
      }
  g_set_error (error, G_IO_ERROR, G_IO_ERROR_INVALID_ARGUMENT,
               "“%s” is no role; the roles are sums, observe and control", name);

  return FALSE;
}

static void
web_token_free (WebToken *self)
{
  g_free (self->name);
  g_free (self->hash);
  g_free (self);
}

WebTokens *
web_tokens_new (const char *path)
{
  WebTokens *self = g_new0 (WebTokens, 1);

  if (path != NULL)
    self->path = g_strdup (path);
  else if (geteuid () == 0)
    self->path = g_strdup ("/etc/iris/web-tokens");
  else
    self->path = g_build_filename (g_get_user_config_dir (), "iris", "web-tokens", NULL);
  self->by_hash = g_hash_table_new_full (g_str_hash, g_str_equal, NULL,
                                         (GDestroyNotify) web_token_free);

  return self;
}

void
web_tokens_free (WebTokens *self)
{
  g_hash_table_unref (self->by_hash);
  g_free (self->path);
  g_free (self);
}

const char *
web_tokens_get_path (WebTokens *self)
{
  return self->path;
}

static WebToken *
read_token (GKeyFile *file, const char *name, GError **error)
{
  g_autofree char *hash = g_key_file_get_string (file, name, "hash", error);
  g_autofree char *role = NULL;
  g_autofree char *expires = NULL;
  g_autoptr (GDateTime) end = NULL;
  WebToken *self;
  WebRole r;

  if (hash == NULL || (role = g_key_file_get_string (file, name, "role", error)) == NULL
      || (expires = g_key_file_get_string (file, name, "expires", error)) == NULL
      || !web_role_parse (role, &r, error))
    return NULL;
  end = g_date_time_new_from_iso8601 (expires, NULL);
  if (end == NULL || !g_str_has_prefix (hash, HASH_PREFIX)
      || strlen (hash) != strlen (HASH_PREFIX) + 64)
    {
      g_set_error (error, G_IO_ERROR, G_IO_ERROR_INVALID_DATA,
                   "“%s” is no %s; remove the group and make a new token with --new-token %s",
                   end == NULL ? expires : hash,
                   end == NULL ? "time as 2027-01-31T00:00:00Z" : "hash", name);
      return NULL;
    }
  self = g_new0 (WebToken, 1);
  self->name = g_strdup (name);
  self->hash = g_strdup (hash);
  self->role = r;
  self->expires_ms = g_date_time_to_unix (end) * 1000;

  return self;
}

/* FALSE with an error if others may write the file; the errno of a file that does not exist is no
 * error. */
static gboolean
check_file (WebTokens *self, struct stat *now, GError **error)
{
  if (stat (self->path, now) != 0)
    {
      int code = errno;

      memset (now, 0, sizeof *now);
      if (code == ENOENT || code == ENOTDIR)
        return TRUE;
      g_set_error (error, G_IO_ERROR, g_io_error_from_errno (code), "%s cannot be read: %s",
                   self->path, g_strerror (code));
      return FALSE;
    }
  if ((now->st_uid == geteuid () || now->st_uid == 0) && (now->st_mode & 022) == 0
      && now->st_size <= MAX_BYTES)
    return TRUE;
  if (now->st_size > MAX_BYTES)
    g_set_error (error, G_IO_ERROR, G_IO_ERROR_INVALID_DATA,
                 "%s is not used: it has more than %d bytes; revoke tokens", self->path, MAX_BYTES);
  else
    g_set_error (error, G_IO_ERROR, G_IO_ERROR_PERMISSION_DENIED,
                 "%s is not used: other users may write it; run chmod go-w on it, and chown if it "
                 "belongs to another user",
                 self->path);

  return FALSE;
}

static gboolean
same_file (const struct stat *a, const struct stat *b)
{
  return a->st_ino == b->st_ino && a->st_dev == b->st_dev && a->st_size == b->st_size
         && a->st_mode == b->st_mode && a->st_uid == b->st_uid
         && a->st_mtim.tv_sec == b->st_mtim.tv_sec && a->st_mtim.tv_nsec == b->st_mtim.tv_nsec;
}

static gboolean
read_file (WebTokens *self, GError **error)
{
  g_autoptr (GKeyFile) file = g_key_file_new ();
  g_auto (GStrv) names = NULL;
  gsize n;

  if (!g_key_file_load_from_file (file, self->path, G_KEY_FILE_NONE, error))
    {
      g_prefix_error (error, "%s: ", self->path);
      return FALSE;
    }
  names = g_key_file_get_groups (file, &n);
  for (gsize i = 0; i < n && i < MAX_TOKENS; i++)
    {
      WebToken *token = read_token (file, names[i], error);

      if (token == NULL)
        {
          g_prefix_error (error, "%s: token “%s”: ", self->path, names[i]);
          g_hash_table_remove_all (self->by_hash);
          return FALSE;
        }
      g_hash_table_replace (self->by_hash, token->hash, token);
    }

  return TRUE;
}

gboolean
web_tokens_load (WebTokens *self, GError **error)
{
  struct stat now;

  if (!check_file (self, &now, error))
    {
      g_hash_table_remove_all (self->by_hash);
      memset (&self->seen, 0, sizeof self->seen);
      return FALSE;
    }
  if (same_file (&now, &self->seen))
    return TRUE;
  self->seen = now;
  g_hash_table_remove_all (self->by_hash);

  return now.st_ino == 0 || read_file (self, error);
}

guint
web_tokens_count (WebTokens *self)
{
  return g_hash_table_size (self->by_hash);
}

const WebToken *
web_tokens_find_hash (WebTokens *self, const char *hash)
{
  const WebToken *token = g_hash_table_lookup (self->by_hash, hash);

  return token != NULL && token->expires_ms > g_get_real_time () / 1000 ? token : NULL;
}

static char *
hash_token (const char *token)
{
  g_autofree char *hex = g_compute_checksum_for_string (G_CHECKSUM_SHA256, token, -1);

  return g_strconcat (HASH_PREFIX, hex, NULL);
}

const WebToken *
web_tokens_find (WebTokens *self, const char *token)
{
  g_autofree char *hash = NULL;

  if (!g_str_has_prefix (token, TOKEN_PREFIX) || strlen (token) > 128)
    return NULL;
  hash = hash_token (token);

  return web_tokens_find_hash (self, hash);
}

static gint
compare_names (gconstpointer a, gconstpointer b)
{
  return g_strcmp0 (((const WebToken *) a)->name, ((const WebToken *) b)->name);
}

GList *
web_tokens_list (WebTokens *self)
{
  return g_list_sort (g_hash_table_get_values (self->by_hash), compare_names);
}

char *
web_random_text (void)
{
  guchar bytes[32];
  gsize have = 0;
  char *text;

  while (have < sizeof bytes)
    {
      gssize n = getrandom (bytes + have, sizeof bytes - have, 0);

      if (n > 0)
        have += (gsize) n;
    }
  text = g_base64_encode (bytes, sizeof bytes);
  g_strdelimit (text, "+", '-');
  g_strdelimit (text, "/", '_');
  text[strcspn (text, "=")] = '\0';

  return text;
}

/* The file as it is, or an empty one. */
static GKeyFile *
load_for_change (WebTokens *self, GError **error)
{
  g_autoptr (GKeyFile) file = g_key_file_new ();

  if (!web_tokens_load (self, error))
    return NULL;
  if (self->seen.st_ino != 0
      && !g_key_file_load_from_file (file, self->path, G_KEY_FILE_KEEP_COMMENTS, error))
    return NULL;

  return g_steal_pointer (&file);
}

static gboolean
store (WebTokens *self, GKeyFile *file, GError **error)
{
  gsize length;
  g_autofree char *text = g_key_file_to_data (file, &length, NULL);
  g_autofree char *dir = g_path_get_dirname (self->path);

  if (g_mkdir_with_parents (dir, 0755) != 0)
    {
      g_set_error (error, G_IO_ERROR, g_io_error_from_errno (errno), "%s cannot be made: %s", dir,
                   g_strerror (errno));
      return FALSE;
    }

  return g_file_set_contents_full (self->path, text, (gssize) length,
                                   G_FILE_SET_CONTENTS_CONSISTENT | G_FILE_SET_CONTENTS_DURABLE,
                                   0600, error);
}

char *
web_tokens_add (WebTokens *self, const char *name, WebRole role, guint days, GError **error)
{
  g_autoptr (GKeyFile) file = load_for_change (self, error);
  g_autoptr (GDateTime) now = g_date_time_new_now_utc ();
  g_autoptr (GDateTime) end = g_date_time_add_days (now, (int) days);
  g_autofree char *random = web_random_text ();
  g_autofree char *token = g_strconcat (TOKEN_PREFIX, random, NULL);
  g_autofree char *hash = hash_token (token);
  g_autofree char *expires = end != NULL ? g_date_time_format (end, "%Y-%m-%dT%H:%M:%SZ") : NULL;

  if (file == NULL)
    return NULL;
  if (*name == '\0' || strpbrk (name, "[]\n\r") != NULL || !g_utf8_validate (name, -1, NULL)
      || strlen (name) > 64 || g_key_file_has_group (file, name) || end == NULL
      || web_tokens_count (self) >= MAX_TOKENS)
    {
      g_set_error (error, G_IO_ERROR, G_IO_ERROR_INVALID_ARGUMENT, "token “%s” was not made: %s",
                   name,
                   g_key_file_has_group (file, name) ? "there is one of that name; revoke it first"
                   : end == NULL                     ? "its end is too far away; give fewer --days"
                   : web_tokens_count (self) >= MAX_TOKENS
                       ? "there are 1000 tokens; revoke some"
                       : "a name is 1 to 64 bytes of UTF-8 without brackets and line ends");
      return NULL;
    }
  g_key_file_set_string (file, name, "hash", hash);
  g_key_file_set_string (file, name, "role", web_role_get_name (role));
  g_key_file_set_string (file, name, "expires", expires);

  return store (self, file, error) ? g_steal_pointer (&token) : NULL;
}

gboolean
web_tokens_revoke (WebTokens *self, const char *name, GError **error)
{
  g_autoptr (GKeyFile) file = load_for_change (self, error);

  if (file == NULL)
    return FALSE;
  if (!g_key_file_has_group (file, name))
    {
      g_set_error (error, G_IO_ERROR, G_IO_ERROR_NOT_FOUND,
                   "token “%s” was not revoked: %s has none of that name; see --list-tokens", name,
                   self->path);
      return FALSE;
    }
  g_key_file_remove_group (file, name, NULL);

  return store (self, file, error);
}
