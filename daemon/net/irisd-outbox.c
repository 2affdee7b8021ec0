/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * The outbox of a connection: replies that its pipe had no room for, oldest first, up to a limit.
 *
 * The connection's credit bounds its completions. Other answers (pings, refusals) are bounded by
 * the outbox: a client that asks without reading reaches its limit.
 */
#include "daemon/net/irisd-outbox.h"

static IrisdReply *
take_first (IrisdOutbox *self)
{
  IrisdReply *reply = self->first;
  self->first = reply->next;
  if (self->first == NULL)
    self->last = NULL;
  self->count--;
  return reply;
}

void
irisd_outbox_clear (IrisdOutbox *self)
{
  while (self->first != NULL)
    irisd_reply_free (take_first (self));
}

/* Takes @reply. Returns FALSE, and frees @reply, if the outbox holds @limit replies. */
gboolean
irisd_outbox_push (IrisdOutbox *self, IrisdReply *reply, guint limit)
{
  if (self->count >= limit)
    {
      irisd_reply_free (reply);
      return FALSE;
    }
  reply->next = NULL;
  if (self->last != NULL)
    self->last->next = reply;
  else
    self->first = reply;
  self->last = reply;
  self->count++;
  return TRUE;
}

/* Sends as much as the pipe of @socket, a mandatory ROUTER of this thread, takes. Returns 0 if the
 * outbox is empty now, else the errno that stopped it. */
int
irisd_outbox_flush (IrisdOutbox *self, void *socket, const IrisdRoute *route)
{
  while (self->first != NULL)
    {
      int error = irisd_reply_send (self->first, socket, route);
      if (error != 0)
        return error;
      irisd_reply_free (take_first (self));
    }
  return 0;
}
