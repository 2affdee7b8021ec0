/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * A message to a client: sent at once, or held until its connection takes it.
 */
#pragma once

#include <iris/iris.h>
#include <iris/wire/iris-wire.h>
#include <zmq.h>

G_BEGIN_DECLS

/* ZeroMQ's routing ids are at most this long. */
#define IRISD_MAX_ROUTE 255

/* The routing id that the ROUTER gave a connection. */
typedef struct
{
  guint8 size;
  guint8 bytes[IRISD_MAX_ROUTE];
} IrisdRoute;

typedef struct _IrisdReply IrisdReply;

struct _IrisdReply
{
  IrisdReply *next;
  guint8 type;
  guint8 request_id[IRIS_WIRE_ID_SIZE];
  gsize header_size;
  zmq_msg_t body;
  guint8 header[];
};

void irisd_route_init (IrisdRoute *self, zmq_msg_t *frame);
guint irisd_route_hash (gconstpointer route);
gboolean irisd_route_equal (gconstpointer a, gconstpointer b);

int irisd_reply_send_frames (void *socket,
                             const IrisdRoute *route,
                             const IrisWireFrame *frames,
                             zmq_msg_t *body);
IrisdReply *irisd_reply_new (const IrisWireFrame *frames, zmq_msg_t *body);
int irisd_reply_send (IrisdReply *self, void *socket, const IrisdRoute *route);
void irisd_reply_free (IrisdReply *self);
void irisd_reply_free_data (void *data, void *hint);

G_END_DECLS
