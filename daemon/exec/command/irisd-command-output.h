/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * Output of a running command on its way to its client.
 */
#pragma once

#include "daemon/exec/irisd-job.h"

G_BEGIN_DECLS

/* Bytes of one OUTPUT message. */
#define IRISD_OUTPUT_CHUNK (16 * 1024)

/**
 * IrisdOutput:
 * @message: to the gateway of @job
 * @job: a running job
 * @channel: what its command wrote to
 * @size: how many bytes; with 0 the gateway only checks whether the client is still there
 *
 * What a command wrote.
 */
typedef struct
{
  IrisdMessage message;
  IrisdJob *job;
  IrisWireChannel channel;
  gsize size;
  guint8 data[];
} IrisdOutput;

void irisd_output_post (IrisdJob *job, IrisWireChannel channel, const guint8 *data, gsize size);
IrisdOutput *irisd_output_from_message (IrisdMessage *message);
void irisd_output_free (IrisdOutput *self);

G_END_DECLS
