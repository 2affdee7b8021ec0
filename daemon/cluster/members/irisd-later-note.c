/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * What the cluster's thread is told of an item for another node that waits for its time.
 */
#include "daemon/cluster/members/irisd-later-note.h"

#include <string.h>

IrisdLaterNote *
irisd_later_note_new (IrisdLaterNoteKind kind, const guint8 *cluster_item)
{
  IrisdLaterNote *self = g_new0 (IrisdLaterNote, 1);
  self->message.kind = IRISD_MESSAGE_LATER;
  self->kind = kind;
  memcpy (self->cluster_item, cluster_item, IRIS_WIRE_ID_SIZE);
  zmq_msg_init (&self->body);
  return self;
}

void
irisd_later_note_free (IrisdLaterNote *self)
{
  if (self->header != NULL)
    g_bytes_unref (self->header);
  zmq_msg_close (&self->body);
  g_free (self->key_name);
  g_free (self);
}
