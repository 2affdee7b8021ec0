/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * The front door for irisd's own cluster thread; see irisd-inner-door.h.
 */
#include "daemon/net/irisd-inner-door.h"

#include "daemon/base/irisd-error.h"

#include <errno.h>
#include <string.h>
#include <unistd.h>
#include <zmq.h>

#define SECRET_BYTES 16

struct _IrisdInnerDoor
{
  char token[2 * SECRET_BYTES + 1];
  char *address;
};

/* Binds @socket, a ROUTER. */
IrisdInnerDoor *
irisd_inner_door_new (void *socket, GError **error)
{
  guint8 secret[SECRET_BYTES];
  if (getentropy (secret, sizeof secret) != 0 || zmq_bind (socket, IRISD_INNER_ENDPOINT) != 0)
    {
      g_set_error (error, IRISD_ERROR, IRISD_ERROR_FAILED,
                   "cannot open a door for the cluster thread: %s", zmq_strerror (errno));
      return NULL;
    }
  IrisdInnerDoor *self = g_new0 (IrisdInnerDoor, 1);
  for (guint i = 0; i < SECRET_BYTES; i++)
    g_snprintf (self->token + 2 * i, 3, "%02x", secret[i]);
  self->address = g_strdup_printf ("localhost:%u:%u:%d", (guint) geteuid (), (guint) getegid (),
                                   (int) getpid ());
  return self;
}

void
irisd_inner_door_free (IrisdInnerDoor *self)
{
  if (self == NULL)
    return;
  g_free (self->address);
  g_free (self);
}

const char *
irisd_inner_door_get_token (const IrisdInnerDoor *self)
{
  return self->token;
}

/* @route is of a connection without an address. Returns the one that ZeroMQ reports for a
 * connection of this process over ipc, or NULL if the connection is another one. @self may be NULL.
 */
const char *
irisd_inner_door_find_address (const IrisdInnerDoor *self, const IrisdRoute *route)
{
  const gsize size = 2 * SECRET_BYTES;
  if (self == NULL || route->size < size || memcmp (route->bytes, self->token, size) != 0)
    return NULL;
  return self->address;
}
