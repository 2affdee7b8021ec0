/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * Output of a running command on its way to its client.
 *
 * The runner's thread reads as much as the client has granted and posts it to the item's gateway,
 * which sends it. Output and completion go through one mailbox, which keeps the order, so output
 * comes first, and the job exists as long as messages about it do.
 *
 * `output_credit` of a job is the number of bytes that may still be read. Only the gateway adds to
 * it and only the runner subtracts, so relaxed order suffices: the runner sees an addition when a
 * write to its descriptor wakes it.
 */
#include "daemon/exec/command/irisd-command-output.h"

#include <string.h>

/* Posts what the command wrote to @channel, copied. With a @size of 0 the gateway only checks
 * whether the client is still there. */
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
