/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * Bundles: the completions of a connection in one turn of its gateway, sent in one message.
 *
 * A message is six frames, each of which ZeroMQ allocates, queues and frees on both sides; that was
 * most of what a volatile item cost. A client with the feature gets the completions of a turn in
 * one COMPLETIONS message. They are encoded one after the other into reused memory, so a completion
 * allocates nothing. Any other message to the connection sends them first, so the order is the same
 * as without bundles. A single completion is a message of its own; so is a large one, whose body
 * need not be copied then.
 */
#include "daemon/gateway/irisd-gateway-private.h"

/* A larger body is not copied. */
#define MOST_BODY (8 * 1024)

/* A bundle of that many completions, or bytes, is sent at once, so that the client can begin. */
#define MOST_COMPLETIONS 256
#define MOST_BYTES       (64 * 1024)

/* Bundles whose memory is kept for reuse. */
#define MOST_SPARE 16

struct _IrisdBundle
{
  IrisWireCompletionsBuilder builder;
  IrisdPeer *peer;
};

static void
free_bundle (gpointer bundle)
{
  IrisdBundle *self = bundle;
  iris_wire_completions_builder_clear (&self->builder);
  g_clear_pointer (&self->peer, irisd_peer_unref);
  g_free (self);
}

void
irisd_bundles_init (IrisdGateway *self)
{
  self->bundles = g_ptr_array_new_with_free_func (free_bundle);
  self->spare_bundles = g_ptr_array_new_with_free_func (free_bundle);
}

void
irisd_bundles_clear (IrisdGateway *self)
{
  g_ptr_array_unref (self->bundles);
  g_ptr_array_unref (self->spare_bundles);
}

static IrisdBundle *
open_bundle (IrisdGateway *self, IrisdPeer *peer)
{
  IrisdBundle *bundle = NULL;
  if (self->spare_bundles->len > 0)
    bundle = g_ptr_array_steal_index_fast (self->spare_bundles, self->spare_bundles->len - 1);
  else
    {
      IrisWireLimits limits = self->core->wire_limits;
      limits.max_batch = MIN (limits.max_batch, MOST_COMPLETIONS);
      limits.max_body = MIN (limits.max_body, MOST_BYTES + 2 * MOST_BODY);
      bundle = g_new0 (IrisdBundle, 1);
      iris_wire_completions_builder_init (&bundle->builder, &limits);
    }
  bundle->peer = irisd_peer_ref (peer);
  peer->bundle = bundle;
  g_ptr_array_add (self->bundles, bundle);
  return bundle;
}

/* @completion is RESULT, or ERROR with `ends`. Returns whether it will be sent with others of the
 * turn; if not, the caller sends it. */
gboolean
irisd_bundle_add (IrisdGateway *self, IrisdPeer *peer, IrisWireMessage *completion, zmq_msg_t *body)
{
  gsize size = body != NULL ? zmq_msg_size (body) : 0;
  if (!peer->takes_bundles || size > MOST_BODY || irisd_peer_is_gone (peer))
    return FALSE;
  IrisdBundle *bundle = peer->bundle != NULL ? peer->bundle : open_bundle (self, peer);
  if (body != NULL)
    iris_wire_message_set_body (completion, zmq_msg_data (body), size);
  if (!iris_wire_completions_builder_add (&bundle->builder, completion, NULL))
    {
      irisd_bundle_send (self, peer);
      if (irisd_peer_is_gone (peer)
          || !iris_wire_completions_builder_add (&bundle->builder, completion, NULL))
        return FALSE;
    }
  if (bundle->builder.bytes->len >= MOST_BYTES)
    irisd_bundle_send (self, peer);
  return TRUE;
}

/* Sends the completions of this turn that were not sent yet. The call may end @peer, so hold a
 * reference. */
void
irisd_bundle_send (IrisdGateway *self, IrisdPeer *peer)
{
  IrisdBundle *bundle = peer->bundle;
  if (bundle == NULL || bundle->builder.n_completions == 0)
    return;
  if (bundle->builder.n_completions == 1)
    {
      IrisWireFrame frames[IRIS_WIRE_N_FRAMES];
      iris_wire_completions_builder_get_first (&bundle->builder, frames);
      iris_wire_completions_builder_reset (&bundle->builder);
      irisd_send_frames (self, peer, frames);
      return;
    }
  IrisWireMessage message;
  iris_wire_message_init (&message, IRIS_WIRE_COMPLETIONS, NULL);
  message.body = iris_wire_completions_builder_get_body (&bundle->builder);
  if (!iris_wire_encode (&self->encoder, &message, NULL))
    g_error ("cannot encode completions that fit their limits");
  /* A peer that is ended by this sending must find nothing to send. Its bytes stay. */
  iris_wire_completions_builder_reset (&bundle->builder);
  irisd_send_frames (self, peer, self->encoder.frames);
}

/* @peer has ended. */
void
irisd_bundle_drop (IrisdPeer *peer)
{
  if (peer->bundle != NULL)
    iris_wire_completions_builder_reset (&peer->bundle->builder);
}

static void
close_bundle (IrisdGateway *self, IrisdBundle *bundle)
{
  bundle->peer->bundle = NULL;
  g_clear_pointer (&bundle->peer, irisd_peer_unref);
  if (self->spare_bundles->len < MOST_SPARE)
    g_ptr_array_add (self->spare_bundles, bundle);
  else
    free_bundle (bundle);
}

/**
 * irisd_bundles_send:
 * @self: the gateway
 *
 * Sends the completions of this turn.
 */
void
irisd_bundles_send (IrisdGateway *self)
{
  /* Sending may end a peer, and that may end items of others. */
  while (self->bundles->len > 0)
    {
      IrisdBundle *bundle = g_ptr_array_steal_index_fast (self->bundles, self->bundles->len - 1);
      while (bundle->builder.n_completions > 0)
        irisd_bundle_send (self, bundle->peer);
      close_bundle (self, bundle);
    }
}
