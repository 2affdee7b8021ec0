/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * One ZeroMQ connection, and what its monitor tells about it.
 */
#pragma once

#include <iris/iris.h>
#include <iris/wire/iris-wire.h>

G_BEGIN_DECLS

typedef enum
{
  IRIS_CLIENT_LINK_REFUSED, /* no socket listens there */
  IRIS_CLIENT_LINK_CLOSED,  /* the other side, once connected, hung up */
  IRIS_CLIENT_LINK_DROPPED, /* the same before the connection stood */
  IRIS_CLIENT_LINK_DENIED,  /* the other side does not let this user in */
} IrisClientLinkLoss;

/* What a link tells its owner. Each may close the link. */
typedef struct
{
  void (*message) (const IrisWireFrame *frames, guint n_frames, gpointer user_data);
  void (*writable) (gpointer user_data);
  void (*lost) (IrisClientLinkLoss loss, gpointer user_data);
} IrisClientLinkFuncs;

typedef struct _IrisClientLink IrisClientLink;

char *iris_client_link_find_endpoint (const char *address, GError **error);
IrisClientLink *iris_client_link_new (const char *endpoint,
                                      GMainContext *context,
                                      const IrisClientLinkFuncs *funcs,
                                      gpointer user_data,
                                      GError **error);
gboolean iris_client_link_send (IrisClientLink *self, const IrisWireFrame *frames, guint n);
gboolean iris_client_link_has_input (IrisClientLink *self);
void iris_client_link_close (IrisClientLink *self, int linger_ms);

void *iris_client_zmq_ref (void);
void iris_client_zmq_unref (void);

G_END_DECLS
