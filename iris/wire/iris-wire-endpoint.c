/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * Where irisd listens.
 */
#include "iris-wire-endpoint.h"

#include <iris/wire/base/iris-wire-error.h>

#include <string.h>
#include <sys/un.h>
#include <unistd.h>

/* A socket's path must fit into an address, with the NUL; place ids of four digits are room enough.
 */
#define LONGEST_NAME "/place-9999.ipc"
#define LONGEST_PATH (sizeof (((struct sockaddr_un *) NULL)->sun_path) - 1)

static gboolean
is_given (const char *text)
{
  return text != NULL && text[0] != '\0';
}

char *
iris_wire_endpoint_dir (const char *dir, GError **error)
{
  const char *own = g_getenv ("IRIS_RUNTIME_DIR");
  const char *xdg = g_getenv ("XDG_RUNTIME_DIR");
  g_autofree char *found = NULL;

  if (is_given (dir))
    found = g_canonicalize_filename (dir, NULL);
  else if (is_given (own))
    found = g_canonicalize_filename (own, NULL);
  else if (is_given (xdg))
    {
      g_autofree char *below = g_build_filename (xdg, "iris", NULL);
      found = g_canonicalize_filename (below, NULL);
    }
  else if (geteuid () == 0)
    found = g_strdup ("/run/iris");

  if (found == NULL)
    {
      g_set_error_literal (error, IRIS_WIRE_ERROR, IRIS_WIRE_ERROR_BAD_ARGUMENT,
                           "no directory for irisd's sockets is known; name one with --dir or set "
                           "IRIS_RUNTIME_DIR or XDG_RUNTIME_DIR");
      return NULL;
    }
  if (strlen (found) + strlen (LONGEST_NAME) > LONGEST_PATH)
    {
      g_set_error (error, IRIS_WIRE_ERROR, IRIS_WIRE_ERROR_BAD_ARGUMENT,
                   "the directory for irisd's sockets has a name of %" G_GSIZE_FORMAT
                   " bytes, but a socket's address has room for %" G_GSIZE_FORMAT
                   "; name a shorter one with --dir or IRIS_RUNTIME_DIR",
                   strlen (found), (gsize) (LONGEST_PATH - strlen (LONGEST_NAME)));
      return NULL;
    }
  return g_steal_pointer (&found);
}

char *
iris_wire_endpoint_front (const char *dir)
{
  g_return_val_if_fail (dir != NULL, NULL);

  return g_strdup_printf ("ipc://%s/front.ipc", dir);
}

char *
iris_wire_endpoint_place (const char *dir, guint place)
{
  g_return_val_if_fail (dir != NULL, NULL);

  return g_strdup_printf ("ipc://%s/place-%u.ipc", dir, place);
}
