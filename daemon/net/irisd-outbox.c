/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * The outbox of a connection: replies that its pipe had no room for, oldest first, and not too
 * many.
 *
 * Endings of items are bounded by the connection's credit. What else is answered (pings, refusals)
 * is not, and a client that asks without ever reading runs into the limit of its outbox.
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

/**
 * irisd_outbox_clear:
 * @self: the outbox
 *
 * Throws away what was not sent.
 */
void
irisd_outbox_clear (IrisdOutbox *self)
{
  while (self->first != NULL)
    irisd_reply_free (take_first (self));
}

/**
 * irisd_outbox_push:
 * @self: the outbox
 * @reply: (transfer full): goes behind all others
 * @limit: how many it may hold
 *
 * Returns: %FALSE if it is full; @reply is then gone
 */
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

/**
 * irisd_outbox_flush:
 * @self: the outbox
 * @socket: a mandatory ROUTER of this thread
 * @route: for whom
 *
 * Sends as much as the pipe takes.
 *
 * Returns: 0 when the outbox is empty now, else the errno that stopped it
 */
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
