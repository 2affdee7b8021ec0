/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * An echo between a DEALER and a ROUTER of ZeroMQ, without anything behind it: what a round trip to
 * another process costs before any work is done.
 */
#include "bench-daemon-bare.h"

#include <errno.h>
#include <string.h>
#include <zmq.h>

#define PATIENCE_MS 60000
#define MOST        4096 /* bytes of a message */

/* Both frames of what came, the sender's and the message, go back as they are. */
int
bench_bare_echo (const char *endpoint)
{
  void *context = zmq_ctx_new (), *socket = zmq_socket (context, ZMQ_ROUTER);
  zmq_msg_t frame;

  if (socket == NULL || zmq_bind (socket, endpoint) < 0)
    return 1;
  zmq_msg_init (&frame);
  while (zmq_msg_recv (&frame, socket, 0) >= 0)
    if (zmq_msg_send (&frame, socket, zmq_msg_more (&frame) ? ZMQ_SNDMORE : 0) < 0)
      return 1;

  return 1;
}

struct _BenchBare
{
  void *context;
  void *socket;
};

BenchBare *
bench_bare_new (const char *endpoint, GError **error)
{
  BenchBare *self = g_new0 (BenchBare, 1);
  int none = 0, patience = PATIENCE_MS;

  self->context = zmq_ctx_new ();
  self->socket = zmq_socket (self->context, ZMQ_DEALER);
  zmq_setsockopt (self->socket, ZMQ_LINGER, &none, sizeof none);
  zmq_setsockopt (self->socket, ZMQ_RCVTIMEO, &patience, sizeof patience);
  if (zmq_connect (self->socket, endpoint) == 0 && bench_bare_round_trip (self, 1, error))
    return self;
  if (error != NULL && *error == NULL)
    g_set_error (error, BENCH_ERROR, BENCH_ERROR_MACHINE, "%s: %s", endpoint, zmq_strerror (errno));
  bench_bare_free (self);

  return NULL;
}

void
bench_bare_free (BenchBare *self)
{
  zmq_close (self->socket);
  zmq_ctx_term (self->context);
  g_free (self);
}

gboolean
bench_bare_round_trip (BenchBare *self, gsize size, GError **error)
{
  static const char zeroes[MOST] = { 0 };
  char back[MOST];

  g_return_val_if_fail (size <= MOST, FALSE);
  if (zmq_send (self->socket, zeroes, size, 0) == (int) size
      && zmq_recv (self->socket, back, sizeof back, 0) == (int) size)
    return TRUE;
  g_set_error (error, BENCH_ERROR, BENCH_ERROR_MACHINE, "the bare echo: %s", zmq_strerror (errno));

  return FALSE;
}
