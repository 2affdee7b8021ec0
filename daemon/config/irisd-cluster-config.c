/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * The group [cluster] of the configuration.
 *
 * A URL may contain a password, so no message has a URL but in the form of
 * irisd_cluster_config_hide_secrets().
 */
#include "daemon/config/irisd-cluster-config.h"

#include "daemon/base/irisd-error.h"
#include "daemon/config/irisd-keys.h"

#include <string.h>

/* The longest name of a stream, and the longest kind or value of a label. */
#define MOST_STREAM_NAME 32
#define MOST_LABEL       64

/* A shorter text is found in words that are no secret. */
#define LEAST_SCRUBBED 3

void
irisd_cluster_config_init (IrisdClusterConfig *self)
{
  *self = (IrisdClusterConfig){
    .stream = g_strdup ("IRIS"),
    .replicas = 3,
    .labels = g_hash_table_new_full (g_str_hash, g_str_equal, g_free, g_free),
    .pull_window = 128,
    .lease_ms = 60000,
    .join_ms = 30000,
    .lost_attempts = 4,
    .max_away = 10000,
  };
}

void
irisd_cluster_config_clear (IrisdClusterConfig *self)
{
  g_free (self->url);
  g_free (self->node);
  g_free (self->secret_file);
  g_free (self->credentials);
  g_free (self->tls_ca);
  g_free (self->tls_cert);
  g_free (self->tls_key);
  g_free (self->monitor);
  g_free (self->stream);
  g_clear_pointer (&self->labels, g_hash_table_unref);
}

/* --- URLs ------------------------------------------------------------------------------------- */

/* Returns @url, which may be of several servers, without all from the first scheme to the last @:
 * a password may have any byte, and stands there. */
char *
irisd_cluster_config_hide_secrets (const char *url)
{
  const char *at = strrchr (url, '@');
  const char *scheme_end = strstr (url, "://");
  const char *begin = scheme_end != NULL ? scheme_end + 3 : url;
  if (at == NULL || at < begin)
    return at == NULL ? g_strdup (url) : g_strdup_printf ("…@%s", at + 1);
  return g_strdup_printf ("%.*s…@%s", (int) (begin - url), url, at + 1);
}

static void
scrub_one (GString *text, const char *secret)
{
  if (strlen (secret) >= LEAST_SCRUBBED)
    g_string_replace (text, secret, "…", 0);
}

/* Returns @text, which may be of a library that shows its URL, without what @self keeps secret. */
char *
irisd_cluster_config_scrub (const IrisdClusterConfig *self, const char *text)
{
  g_autoptr (GString) clean = g_string_new (text);
  g_auto (GStrv) servers = g_strsplit (self->url != NULL ? self->url : "", ",", -1);
  for (char **server = servers; *server != NULL; server++)
    {
      const char *scheme_end = strstr (*server, "://");
      const char *begin = scheme_end != NULL ? scheme_end + 3 : *server;
      const char *at = strrchr (begin, '@');
      g_autofree char *login = at != NULL ? g_strndup (begin, (gsize) (at - begin)) : g_strdup ("");
      const char *colon = strchr (login, ':');
      scrub_one (clean, login);
      if (colon != NULL)
        scrub_one (clean, colon + 1);
    }
  return g_string_free (g_steal_pointer (&clean), FALSE);
}

/* NATS judges the rest when it connects. */
static gboolean
is_server (const char *url)
{
  const char *const schemes[] = { "nats://", "tls://" };
  for (guint i = 0; i < G_N_ELEMENTS (schemes); i++)
    {
      if (!g_str_has_prefix (url, schemes[i]))
        continue;
      const char *rest = url + strlen (schemes[i]);
      const char *at = strrchr (rest, '@');
      const char *host = at != NULL ? at + 1 : rest;
      const char *colon = strrchr (host, ':');
      gboolean has_port = colon != NULL && strchr (colon, ']') == NULL;
      return *host != '\0' && *host != ':' && strpbrk (host, " /?#") == NULL
             && (!has_port
                 || g_ascii_string_to_unsigned (colon + 1, 10, 1, G_MAXUINT16, NULL, NULL));
    }
  return FALSE;
}

static gboolean
set_url (IrisdClusterConfig *self, const char *value, GError **error)
{
  g_auto (GStrv) servers = g_strsplit (value, ",", -1);
  for (guint i = 0; servers[i] != NULL || i == 0; i++)
    {
      if (servers[i] != NULL && is_server (servers[i]))
        continue;
      g_autofree char *hidden = irisd_cluster_config_hide_secrets (value);
      return irisd_fail (error, IRISD_ERROR, IRISD_ERROR_USAGE,
                         "“%s” is no address of a NATS server; write it like "
                         "nats://192.0.2.1:4222, and several with commas between them",
                         hidden);
    }
  g_free (self->url);
  self->url = g_strdup (value);
  return TRUE;
}

/* --- names ------------------------------------------------------------------------------------ */

static gboolean
is_node_name (const char *name)
{
  gsize length = strlen (name);
  return length > 0 && length <= IRISD_MOST_NODE_NAME && g_ascii_islower (name[0])
         && strspn (name, "abcdefghijklmnopqrstuvwxyz0123456789-") == length
         && strcmp (name, "any") != 0;
}

/* A name is a token of subjects and part of the names of consumers; “any” is that of all. */
gboolean
irisd_cluster_check_node_name (const char *name, GError **error)
{
  if (is_node_name (name))
    return TRUE;
  return irisd_fail (error, IRISD_ERROR, IRISD_ERROR_USAGE,
                     "“%s” is no name of a node; give 1 to %d of a to z, 0 to 9 and -, first a "
                     "letter; “any” stands for all nodes",
                     name, IRISD_MOST_NODE_NAME);
}

static gboolean
set_node (IrisdClusterConfig *self, const char *value, GError **error)
{
  if (!irisd_cluster_check_node_name (value, error))
    return FALSE;
  g_free (self->node);
  self->node = g_strdup (value);
  return TRUE;
}

/* Returns the name of this node; NULL if the host's name, to its first dot, cannot be one. */
char *
irisd_cluster_config_get_node (const IrisdClusterConfig *self)
{
  if (self->node != NULL)
    return g_strdup (self->node);
  const char *host = g_get_host_name ();
  g_autofree char *first = g_strndup (host, strcspn (host, "."));
  g_autofree char *name = g_ascii_strdown (first, -1);
  return is_node_name (name) ? g_steal_pointer (&name) : NULL;
}

static gboolean
set_stream (IrisdClusterConfig *self, const char *value, GError **error)
{
  gsize length = strlen (value);
  for (gsize i = 0; i < length; i++)
    if (!g_ascii_isupper (value[i]) && !(i > 0 && (g_ascii_isdigit (value[i]) || value[i] == '_')))
      length = 0;
  if (length == 0 || length > MOST_STREAM_NAME)
    return irisd_fail (error, IRISD_ERROR, IRISD_ERROR_USAGE,
                       "“%s” is no name of a stream; give 1 to %d of A to Z, 0 to 9 and _, first "
                       "a letter",
                       value, MOST_STREAM_NAME);
  g_free (self->stream);
  self->stream = g_strdup (value);
  return TRUE;
}

static gboolean
is_label (const char *text)
{
  gsize length = strlen (text);
  return length > 0 && length <= MOST_LABEL
         && strspn (text, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_.")
                == length;
}

/* The labels of a later file replace those of an earlier one. */
static gboolean
set_labels (IrisdClusterConfig *self, const char *value, GError **error)
{
  g_auto (GStrv) pairs = g_strsplit (value, ",", -1);
  g_autoptr (GHashTable) labels = g_hash_table_new_full (g_str_hash, g_str_equal, g_free, g_free);
  for (guint i = 0; pairs[i] != NULL; i++)
    {
      char *pair = g_strstrip (pairs[i]);
      char *equals = strchr (pair, '=');
      g_autofree char *kind = g_strndup (pair, equals != NULL ? (gsize) (equals - pair) : 0);
      if (equals == NULL || !is_label (kind) || !is_label (equals + 1))
        return irisd_fail (error, IRISD_ERROR, IRISD_ERROR_USAGE,
                           "“%s” is no label; write it like rack=r1,zone=north, with letters, "
                           "digits, dots, - and _",
                           pair);
      if (!g_hash_table_replace (labels, g_steal_pointer (&kind), g_strdup (equals + 1)))
        return irisd_fail (error, IRISD_ERROR, IRISD_ERROR_USAGE,
                           "“%s” comes after another label of its kind; give each kind once", pair);
    }
  g_hash_table_unref (self->labels);
  self->labels = g_steal_pointer (&labels);
  return TRUE;
}

static int
compare_texts (gconstpointer a, gconstpointer b)
{
  return strcmp (*(const char *const *) a, *(const char *const *) b);
}

/* Returns the labels as kind=value, in order. */
char **
irisd_cluster_config_list_labels (const IrisdClusterConfig *self)
{
  g_autoptr (GPtrArray) list = g_ptr_array_new ();
  GHashTableIter iter;
  gpointer kind, value;
  g_hash_table_iter_init (&iter, self->labels);
  while (g_hash_table_iter_next (&iter, &kind, &value))
    g_ptr_array_add (list, g_strconcat (kind, "=", value, NULL));
  g_ptr_array_sort (list, compare_texts);
  g_ptr_array_add (list, NULL);
  return (char **) g_ptr_array_free (g_steal_pointer (&list), FALSE);
}

/* --- the rest --------------------------------------------------------------------------------- */

static gboolean
set_replicas (IrisdClusterConfig *self, const char *value, GError **error)
{
  if (strcmp (value, "1") == 0 || strcmp (value, "3") == 0 || strcmp (value, "5") == 0)
    {
      self->replicas = (guint) (*value - '0');
      return TRUE;
    }
  return irisd_fail (error, IRISD_ERROR, IRISD_ERROR_USAGE,
                     "“%s” is no number of replicas; choose 3 or 5, of which a majority has to "
                     "run, or 1",
                     value);
}

static gboolean
set_monitor (IrisdClusterConfig *self, const char *value, GError **error)
{
  if (!g_str_has_prefix (value, "http://") || value[strlen ("http://")] == '\0'
      || strpbrk (value + strlen ("http://"), " @") != NULL)
    return irisd_fail (error, IRISD_ERROR, IRISD_ERROR_USAGE,
                       "it is no address of a monitoring port; write it like "
                       "http://192.0.2.1:8222");
  g_free (self->monitor);
  self->monitor = g_strdup (value);
  return TRUE;
}

#define FIELD(name) G_STRUCT_OFFSET (IrisdClusterConfig, name)

/* A key has a function, or the field of a file's name or a truth value. */
static const struct
{
  const char *key;
  gboolean (*set) (IrisdClusterConfig *self, const char *value, GError **error);
  gsize file, boolean;
} keys[] = {
  { "url", set_url },
  { "node", set_node },
  { "stream", set_stream },
  { "replicas", set_replicas },
  { "labels", set_labels },
  { "monitor", set_monitor },
  { "secret-file", .file = FIELD (secret_file) },
  { "credentials", .file = FIELD (credentials) },
  { "tls-ca", .file = FIELD (tls_ca) },
  { "tls-cert", .file = FIELD (tls_cert) },
  { "tls-key", .file = FIELD (tls_key) },
  { "durable-without-sync", .boolean = FIELD (durable_without_sync) },
};

/* Those with a number. */
static const struct
{
  const char *key;
  guint64 least, most;
  gsize small, large; /* the field: a guint or a guint64 */
} numbers[] = {
  { "steal-threshold", 0, 1000000, .small = FIELD (steal_threshold) },
  { "pull-window", 1, 1024, .small = FIELD (pull_window) },
  { "stream-items", 1, 1000000000, .large = FIELD (stream_items) },
  { "bodies-bytes", 1048576, G_GUINT64_CONSTANT (1) << 50, .large = FIELD (bodies_bytes) },
  { "stream-bytes", 1048576, G_GUINT64_CONSTANT (1) << 50, .large = FIELD (stream_bytes) },
  { "lost-attempts", 0, 1000, .small = FIELD (lost_attempts) },
  { "lease-ms", 1000, 86400000, .large = FIELD (lease_ms) },
  { "join-ms", 1000, 86400000, .large = FIELD (join_ms) },
  { "max-away", 1, 100000000, .large = FIELD (max_away) },
};

static gboolean
set_number (IrisdClusterConfig *self, guint i, const char *value, GError **error)
{
  guint64 number;
  if (!g_ascii_string_to_unsigned (value, 10, numbers[i].least, numbers[i].most, &number, NULL))
    return irisd_fail (error, IRISD_ERROR, IRISD_ERROR_USAGE,
                       "“%s” cannot be it; give a number from %" G_GUINT64_FORMAT
                       " to %" G_GUINT64_FORMAT,
                       value, numbers[i].least, numbers[i].most);
  if (numbers[i].small > 0)
    G_STRUCT_MEMBER (guint, self, numbers[i].small) = (guint) number;
  else
    G_STRUCT_MEMBER (guint64, self, numbers[i].large) = number;
  return TRUE;
}

static gboolean
set_file (IrisdClusterConfig *self, gsize field, const char *value, GError **error)
{
  if (!g_path_is_absolute (value))
    return irisd_fail (error, IRISD_ERROR, IRISD_ERROR_USAGE,
                       "“%s” is not absolute; write the path from / on", value);
  char **text = G_STRUCT_MEMBER_P (self, field);
  g_free (*text);
  *text = g_strdup (value);
  return TRUE;
}

static gboolean
set_boolean (IrisdClusterConfig *self, gsize field, const char *value, GError **error)
{
  gboolean on = strcmp (value, "true") == 0;
  if (!on && strcmp (value, "false") != 0)
    return irisd_fail (error, IRISD_ERROR, IRISD_ERROR_USAGE, "“%s” is neither true nor false",
                       value);
  G_STRUCT_MEMBER (gboolean, self, field) = on;
  return TRUE;
}

/* Returns whether there is such a key and it may have that value. */
gboolean
irisd_cluster_config_set (IrisdClusterConfig *self,
                          const char *key,
                          const char *value,
                          GError **error)
{
  for (guint i = 0; i < G_N_ELEMENTS (keys); i++)
    {
      if (strcmp (keys[i].key, key) != 0)
        continue;
      if (keys[i].set != NULL)
        return keys[i].set (self, value, error);
      return keys[i].file > 0 ? set_file (self, keys[i].file, value, error)
                              : set_boolean (self, keys[i].boolean, value, error);
    }
  for (guint i = 0; i < G_N_ELEMENTS (numbers); i++)
    if (strcmp (numbers[i].key, key) == 0)
      return set_number (self, i, value, error);
  return irisd_fail (error, IRISD_ERROR, IRISD_ERROR_USAGE,
                     "there is no key “%s” in [cluster]; irisd.conf(5) lists them all", key);
}

/* Returns whether the keys fit each other. Without a URL they are for an irisd that gets one on its
 * command line. */
gboolean
irisd_cluster_config_check (const IrisdClusterConfig *self, GError **error)
{
  if (self->url == NULL)
    return TRUE;
#ifndef IRISD_HAVE_CLUSTER
  return irisd_fail (error, IRISD_ERROR, IRISD_ERROR_USAGE,
                     "[cluster] url: this irisd was built without clusters; leave out the URL, or "
                     "build it with -Dcluster=enabled");
#endif
  g_autofree char *node = irisd_cluster_config_get_node (self);
  if (node == NULL)
    return irisd_fail (error, IRISD_ERROR, IRISD_ERROR_USAGE,
                       "[cluster] node is missing, and the host's name “%s” cannot be a node's; "
                       "give the node a name of 1 to %d of a to z, 0 to 9 and -, first a letter",
                       g_get_host_name (), IRISD_MOST_NODE_NAME);
  if (self->secret_file == NULL)
    return irisd_fail (error, IRISD_ERROR, IRISD_ERROR_USAGE,
                       "[cluster] secret-file is missing: nodes sign items with a secret; make "
                       "one with “head -c 32 /dev/urandom | base64”, put it into a file of mode "
                       "0600, and give the same to each node");
  if ((self->tls_cert == NULL) != (self->tls_key == NULL))
    return irisd_fail (error, IRISD_ERROR, IRISD_ERROR_USAGE,
                       "[cluster] %s is missing: a certificate and its key go together; give "
                       "both or neither",
                       self->tls_cert == NULL ? "tls-cert" : "tls-key");
  return TRUE;
}

/* Returns the secret of the cluster: the file's text without the spaces around it. */
GBytes *
irisd_cluster_config_load_secret (const IrisdClusterConfig *self, GError **error)
{
  char *text = irisd_keys_read_private_file (self->secret_file, error);
  if (text == NULL)
    {
      g_prefix_error (error, "[cluster] secret-file: ");
      return NULL;
    }
  g_strstrip (text);
  gsize length = strlen (text);
  if (length >= IRISD_LEAST_SECRET)
    return g_bytes_new_take (text, length);
  g_free (text);
  irisd_fail (error, IRISD_ERROR, IRISD_ERROR_USAGE,
              "[cluster] secret-file: the secret in %s has %" G_GSIZE_FORMAT
              " characters, and needs %d; make one with “head -c 32 /dev/urandom | base64”",
              self->secret_file, length, IRISD_LEAST_SECRET);
  return NULL;
}
