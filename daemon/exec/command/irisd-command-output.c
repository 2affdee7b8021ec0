/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * Output of a running command on its way to its client.
 *
 * The runner's thread reads it, as much as the client has granted, and posts it to the gateway of
 * the item; that sends it. Both post to one mailbox, which keeps the order, so an item's output
 * comes before its completion, and the job is there as long as messages about it are.
 *
 * `output_credit` of a job is what may still be read. The gateway alone adds to it and the runner
 * alone subtracts, so relaxed order does: the runner that is woken after an addition sees it, since
 * the waking is a write and a read of a descriptor.
 */
#include "daemon/exec/command/irisd-command-output.h"

#include <string.h>

/**
 * irisd_output_post:
 * @job: a running job
 * @channel: what its command wrote to
 * @data: (array length=size) (nullable): what it wrote; copied
 * @size: how many bytes; 0 to have the gateway look whether the client is still there
 */
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
