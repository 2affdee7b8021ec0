/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * A message to a client: sent at once, or held until its connection takes it.
 *
 * The ROUTER is mandatory: at the first frame, the routing id, it reports that the connection has
 * ended (EHOSTUNREACH) or that its pipe is full (EAGAIN). Its high-water mark counts whole
 * messages, so after the first frame it takes the others too. If the connection ends in between,
 * ZeroMQ drops them, as it would have done later.
 */
#include "daemon/net/irisd-reply.h"

#include <iris/base/tsan/iris-tsan-private.h>

#include <errno.h>
#include <string.h>

/* @frame is the first frame that a ROUTER delivers. */
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
  iris_tsan_release (zmq_msg_data (body)); /* paired with irisd_reply_free_data() */
  int rc;
  do
    rc = zmq_msg_send (body, socket, ZMQ_DONTWAIT);
  while (rc < 0 && errno == EINTR);
  return rc < 0 ? errno : 0;
}

/* Sends five @frames to @route without waiting. @body, if given, is the fifth and is taken on
 * success. Returns 0, or the errno of the first frame; then nothing was sent. */
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

/* Copies @frames and takes @body, the fifth frame if given. Returns the message, to be sent
 * later. */
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
        g_error ("cannot make a reply: out of memory for %zu bytes", frames[4].size);
      if (frames[4].size > 0)
        memcpy (zmq_msg_data (&self->body), frames[4].data, frames[4].size);
    }
  return self;
}

/* Returns as irisd_reply_send_frames(). On success the body is taken, and @self can only be
 * freed. */
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

/* Frees memory of g_malloc() that was a message's body, in one of ZeroMQ's threads. */
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
