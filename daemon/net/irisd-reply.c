/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * A message on its way out: sent at once, or kept until its connection takes it.
 *
 * The ROUTER is mandatory: it says at the first frame, the routing id, that the connection is gone
 * (EHOSTUNREACH) or that its pipe is full (EAGAIN). Its high-water mark counts whole messages, so
 * once the first frame is in, the others are as well; should the connection go in between, ZeroMQ
 * drops them, which is what would have become of them anyway.
 */
#include "daemon/net/irisd-reply.h"

#include <iris/base/tsan/iris-tsan-private.h>

#include <errno.h>
#include <string.h>

/**
 * irisd_route_init:
 * @self: (out caller-allocates): a route
 * @frame: the first frame that a ROUTER delivers
 */
void
irisd_route_init (IrisdRoute *self, zmq_msg_t *frame)
{
  self->size = (guint8) MIN (zmq_msg_size (frame), IRISD_MAX_ROUTE);
  memcpy (self->bytes, zmq_msg_data (frame), self->size);
}

guint
irisd_route_hash (gconstpointer route)
{
  const IrisdRoute *self = route;
  guint hash = 5381;
  for (guint i = 0; i < self->size; i++)
    hash = hash * 33 + self->bytes[i];
  return hash;
}

gboolean
irisd_route_equal (gconstpointer a, gconstpointer b)
{
  const IrisdRoute *left = a, *right = b;
  return left->size == right->size && memcmp (left->bytes, right->bytes, left->size) == 0;
}

static int
send_bytes (void *socket, const void *data, gsize size, int flags)
{
  int rc;
  do
    rc = zmq_send (socket, data, size, flags | ZMQ_DONTWAIT);
  while (rc < 0 && errno == EINTR);
  return rc < 0 ? errno : 0;
}

static int
send_body (void *socket, const IrisWireFrame *frame, zmq_msg_t *body)
{
  if (body == NULL)
    return send_bytes (socket, frame->data, frame->size, 0);
  iris_tsan_release (zmq_msg_data (body)); /* to irisd_reply_free_data() */
  int rc;
  do
    rc = zmq_msg_send (body, socket, ZMQ_DONTWAIT);
  while (rc < 0 && errno == EINTR);
  return rc < 0 ? errno : 0;
}

/**
 * irisd_reply_send_frames:
 * @socket: a mandatory ROUTER of this thread
 * @route: for whom
 * @frames: (array fixed-size=5): what
 * @body: (nullable): the fifth frame as a ZeroMQ message, taken if all goes well
 *
 * Never waits.
 *
 * Returns: 0, or the errno of the first frame, and nothing was sent
 */
int
irisd_reply_send_frames (void *socket,
                         const IrisdRoute *route,
                         const IrisWireFrame *frames,
                         zmq_msg_t *body)
{
  int error = send_bytes (socket, route->bytes, route->size, ZMQ_SNDMORE);
  for (guint i = 0; error == 0 && i < IRIS_WIRE_N_FRAMES - 1; i++)
    error = send_bytes (socket, frames[i].data, frames[i].size, ZMQ_SNDMORE);
  if (error == 0)
    error = send_body (socket, &frames[IRIS_WIRE_N_FRAMES - 1], body);
  return error;
}

/**
 * irisd_reply_new:
 * @frames: (array fixed-size=5): an encoded message; copied
 * @body: (nullable): the fifth frame as a ZeroMQ message, taken
 *
 * Returns: (transfer full): the same message, to be sent later
 */
IrisdReply *
irisd_reply_new (const IrisWireFrame *frames, zmq_msg_t *body)
{
  IrisdReply *self = g_malloc (sizeof *self + frames[3].size);
  self->next = NULL;
  self->type = frames[1].data[0];
  memcpy (self->request_id, frames[2].data, IRIS_WIRE_ID_SIZE);
  self->header_size = frames[3].size;
  memcpy (self->header, frames[3].data, frames[3].size);
  if (body != NULL)
    {
      zmq_msg_init (&self->body);
      zmq_msg_move (&self->body, body);
    }
  else
    {
      if (zmq_msg_init_size (&self->body, frames[4].size) != 0)
        g_error ("out of memory for a reply of %zu bytes", frames[4].size);
      if (frames[4].size > 0)
        memcpy (zmq_msg_data (&self->body), frames[4].data, frames[4].size);
    }
  return self;
}

/**
 * irisd_reply_send:
 * @self: a reply; when all goes well its body is gone, and it can only be freed
 * @socket: a mandatory ROUTER of this thread
 * @route: for whom
 *
 * Returns: as irisd_reply_send_frames()
 */
int
irisd_reply_send (IrisdReply *self, void *socket, const IrisdRoute *route)
{
  const IrisWireFrame frames[IRIS_WIRE_N_FRAMES] = {
    { (const guint8 *) "IRS1", 4 },
    { &self->type, 1 },
    { self->request_id, IRIS_WIRE_ID_SIZE },
    { self->header, self->header_size },
  };
  return irisd_reply_send_frames (socket, route, frames, &self->body);
}

/**
 * irisd_reply_free_data:
 * @data: memory of g_malloc() that was made a message's body
 * @hint: not used
 *
 * Frees it when ZeroMQ has sent it, in one of ZeroMQ's threads.
 */
void
irisd_reply_free_data (void *data, void *hint)
{
  iris_tsan_acquire (data);
  g_free (data);
}

void
irisd_reply_free (IrisdReply *self)
{
  zmq_msg_close (&self->body);
  g_free (self);
}
