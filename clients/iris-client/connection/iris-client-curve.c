/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * Endpoints of TCP with a key: tcp://HOST:PORT?key=FILE.
 *
 * FILE is a path, or a name in $XDG_CONFIG_HOME/iris/keys. The file has a group [key] with the
 * client's own public and secret key and, as `server`, irisd's public key: so one word of an
 * endpoint is all that a client, irisctl, or the Python package needs. The secret is for its owner
 * alone, so a file that others may read is refused.
 *
 * irisd names the endpoints of its places as it is bound, 0.0.0.0 for example, and without a key.
 * All of them are at the host of the front and take the same key.
 */
#include "iris-client-curve-private.h"
#include <iris-client/base/iris-client-error-private.h>

#include <errno.h>
#include <glib/gstdio.h>
#include <string.h>
#include <sys/stat.h>
#include <zmq.h>

#define GROUP    "key"
#define QUERY    "?key="
#define KEY_TEXT 40 /* characters of Z85 */

static char *
find_file (const char *name)
{
  g_autofree char *base = NULL;

  if (strchr (name, G_DIR_SEPARATOR) != NULL)
    return g_strdup (name);
  base = g_str_has_suffix (name, ".key") ? g_strdup (name) : g_strconcat (name, ".key", NULL);
  return g_build_filename (g_get_user_config_dir (), "iris", "keys", base, NULL);
}

static gboolean
fail (GError **error, const char *path, const char *why)
{
  g_set_error (error, IRIS_CLIENT_ERROR, IRIS_CLIENT_ERROR_NOT_CONNECTED,
               "cannot use the key file %s: %s", path, why);
  return FALSE;
}

static GKeyFile *
load_file (const char *path, GError **error)
{
  g_autoptr (GKeyFile) file = g_key_file_new ();
  g_autoptr (GError) local = NULL;
  GStatBuf st;

  if (g_stat (path, &st) != 0)
    {
      g_autofree char *why = g_strdup_printf ("%s; irisctl key new makes one", g_strerror (errno));

      fail (error, path, why);
    }
  else if ((st.st_mode & 077) != 0)
    fail (error, path, "others may read it; take that from them (chmod 600)");
  else if (!g_key_file_load_from_file (file, path, G_KEY_FILE_NONE, &local))
    fail (error, path, local->message);
  else
    return g_steal_pointer (&file);
  return NULL;
}

static gboolean
set_key (void *socket, int option, GKeyFile *file, const char *entry)
{
  g_autofree char *value = g_key_file_get_string (file, GROUP, entry, NULL);

  return value != NULL && strlen (g_strstrip (value)) == KEY_TEXT
         && zmq_setsockopt (socket, option, value, KEY_TEXT + 1) == 0;
}

char *
iris_client_curve_set_up (void *socket, const char *endpoint, GError **error)
{
  const char *query = strstr (endpoint, QUERY);
  g_autofree char *path = NULL;
  g_autoptr (GKeyFile) file = NULL;

  if (query == NULL)
    return g_strdup (endpoint);
  path = find_file (query + strlen (QUERY));
  file = load_file (path, error);
  if (file == NULL)
    return NULL;
  if (!set_key (socket, ZMQ_CURVE_PUBLICKEY, file, "public")
      || !set_key (socket, ZMQ_CURVE_SECRETKEY, file, "secret"))
    fail (error, path, "its group [key] has no public and secret key; irisctl key new makes both");
  else if (!set_key (socket, ZMQ_CURVE_SERVERKEY, file, "server"))
    fail (
        error, path,
        "it does not have irisd's public key; add it as server=KEY, or make the file with irisctl "
        "key new --server KEY");
  else
    return g_strndup (endpoint, (gsize) (query - endpoint));
  return NULL;
}

/* With the colon before the port. */
static const char *
find_port (const char *endpoint)
{
  const char *query = strstr (endpoint, QUERY);

  return g_strrstr_len (endpoint, query != NULL ? query - endpoint : -1, ":");
}

char *
iris_client_curve_follow (const char *front, const char *place)
{
  const char *query = strstr (front, QUERY);
  g_autofree char *host = NULL;

  if (!g_str_has_prefix (front, "tcp://") || !g_str_has_prefix (place, "tcp://"))
    return g_strdup (place);
  host = g_strndup (front, (gsize) (find_port (front) - front));
  return g_strconcat (host, find_port (place), query, NULL);
}
