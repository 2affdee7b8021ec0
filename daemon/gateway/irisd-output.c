/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * Output of commands and credit for it, between a gateway and its clients.
 */
#include "daemon/exec/command/irisd-command.h"
#include "daemon/exec/command/irisd-command-runner.h"
#include "daemon/exec/worker/irisd-worker-processes.h"
#include "daemon/gateway/irisd-gateway-private.h"

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
  g_free (output);
}

static void
refuse_grant (IrisdGateway *self,
              const IrisdCaller *caller,
              const IrisWireMessage *more,
              guint64 limit)
{
  irisd_send_limit_refusal (self, caller, more->request_id, "stream-credit", limit,
                            "an item holds credit for as many bytes of output as it may: grant "
                            "as much as has come");
}

/* @more is a MORE: an item may send more output, or parts of its result. One for an item that has
 * ended is ignored: its client could not know. */
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
