/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * Output of a running command on its way to its client.
 *
 * The runner's thread reads as much as the client has granted and posts it to the item's gateway,
 * which sends it. Output and completion go through one mailbox, which keeps the order, so output
 * comes first, and the job exists as long as messages about it do.
 *
 * `output_credit` of a job is the number of bytes that may still be read. Only the gateway adds to
 * it and only the runner subtracts, so relaxed order suffices: the runner sees an addition when it
 * is woken, by a write and a read of a descriptor.
 */
#include "daemon/exec/command/irisd-command-output.h"

#include "daemon/exec/command/irisd-command-runner.h"
#include "daemon/exec/worker/irisd-worker-processes.h"

#include <string.h>

struct _IrisdOutput
{
  IrisdMessage message;
  IrisdJob *job;
  IrisWireChannel channel;
  gsize size;
  guint8 data[];
};

/* Posts @size bytes that the command of @job wrote to @channel; copies them. With 0 bytes the
 * gateway checks that the client is still connected. */
void
irisd_output_post (IrisdJob *job, IrisWireChannel channel, const guint8 *data, gsize size)
{
  IrisdOutput *self = g_malloc (sizeof *self + size);
  self->message = (IrisdMessage){ .kind = IRISD_MESSAGE_OUTPUT };
  self->job = job;
  self->channel = channel;
  self->size = size;
  if (size > 0)
    memcpy (self->data, data, size);
  irisd_mailbox_post (job->mailbox, &self->message);
}

IrisdOutput *
irisd_output_from_message (IrisdMessage *message)
{
  return (IrisdOutput *) ((char *) message - G_STRUCT_OFFSET (IrisdOutput, message));
}

void
irisd_output_free (IrisdOutput *self)
{
  g_free (self);
}

/* Takes output that came from the runner. */
void
irisd_output_send (IrisdGateway *self, IrisdOutput *output)
{
  IrisdPeer *peer = output->job->peer;
  if (!irisd_peer_is_gone (peer) && output->size == 0)
    {
      if (!irisd_send_probe (self, peer))
        irisd_session_lose (self, peer, "it has gone", FALSE);
    }
  else if (!irisd_peer_is_gone (peer))
    {
      IrisWireMessage message;
      iris_wire_message_init (&message, IRIS_WIRE_OUTPUT, output->job->request_id);
      iris_wire_message_set_uint (&message, IRIS_WIRE_KEY_CHANNEL, output->channel);
      iris_wire_message_set_body (&message, output->data, output->size);
      irisd_send_message (self, &peer->route, peer, &message, NULL);
    }
  irisd_output_free (output);
}

static void
refuse_grant (IrisdGateway *self,
              const IrisdCaller *caller,
              const IrisWireMessage *more,
              guint64 limit)
{
  irisd_send_limit_refusal (self, caller, more->request_id, "stream-credit", limit,
                            "the item has all the credit for output that it may have; grant "
                            "only as much as has come");
}

/* Lets an item send more output, or parts of its result. MORE for an item that has ended is
 * ignored, because its client could not know. */
void
irisd_output_grant (IrisdGateway *self, const IrisdCaller *caller, const IrisWireMessage *more)
{
  IrisdJob *job = g_hash_table_lookup (caller->peer->jobs, more->target);
  if (job == NULL)
    return;
  guint64 limit = self->core->config->limits.stream_credit;
  if (job->leased_item != NULL)
    {
      if (!irisd_worker_processes_grant (self->core->worker_processes, job, more->grant, limit))
        refuse_grant (self, caller, more, limit);
      return;
    }
  guint64 held = atomic_load_explicit (&job->output_credit, memory_order_relaxed);
  if (more->grant > limit || held > limit - more->grant)
    {
      refuse_grant (self, caller, more, limit);
      return;
    }
  atomic_fetch_add_explicit (&job->output_credit, more->grant, memory_order_relaxed);
  irisd_command_runner_wake (self->core->commands);
}
