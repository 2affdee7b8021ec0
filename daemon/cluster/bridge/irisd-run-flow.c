/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * What a run of an item writes, on its way from the node that runs it to the item's home.
 */
#include "irisd-run-flow.h"

#include <string.h>

struct _IrisdFlowSender
{
  GQueue pieces;  /* of IrisdFlowPiece: what is not confirmed */
  GList *next;    /* the first of them that is not sent; NULL: all are */
  gsize most;     /* bytes of one piece */
  guint64 end;    /* what was pushed */
  guint64 limit;  /* how far it may go */
  guint64 passed; /* what the receiver has */
  guint64 sent;
};

static void
piece_free (gpointer data)
{
  IrisdFlowPiece *self = data;

  g_free (self->data);
  g_free (self);
}

/* @limit: what is granted at first. @most: bytes that fit a message. */
IrisdFlowSender *
irisd_flow_sender_new (guint64 limit, gsize most)
{
  IrisdFlowSender *self = g_new0 (IrisdFlowSender, 1);

  self->limit = limit;
  self->most = MAX (most, 1);
  return self;
}

void
irisd_flow_sender_free (IrisdFlowSender *self)
{
  g_queue_clear_full (&self->pieces, piece_free);
  g_free (self);
}

/* Of a channel, or, of channel 0, one part of a result, which the receiver puts together again. */
void
irisd_flow_sender_push (IrisdFlowSender *self, guint channel, const guint8 *data, gsize size)
{
  for (gsize at = 0; at < size; at += self->most)
    {
      IrisdFlowPiece *piece = g_new0 (IrisdFlowPiece, 1);

      piece->offset = self->end;
      piece->channel = channel;
      piece->size = MIN (self->most, size - at);
      piece->continues = channel == 0 && at + piece->size < size;
      piece->data = g_memdup2 (data + at, piece->size);
      g_queue_push_tail (&self->pieces, piece);
      self->end += piece->size;
      if (self->next == NULL)
        self->next = self->pieces.tail;
    }
}

/* Returns: (nullable): what is to be sent now, which counts as sent; it lives until the next call
 */
const IrisdFlowPiece *
irisd_flow_sender_next (IrisdFlowSender *self)
{
  IrisdFlowPiece *piece = self->next != NULL ? self->next->data : NULL;

  if (piece == NULL || piece->offset + piece->size > self->limit)
    return NULL;
  self->next = self->next->next;
  self->sent = piece->offset + piece->size;
  return piece;
}

/* The receiver has @received bytes and grants up to @limit. Returns whether that is news. Numbers
 * that no receiver can mean are not believed. */
gboolean
irisd_flow_sender_take_word (IrisdFlowSender *self, guint64 received, guint64 limit, gboolean sure)
{
  gboolean news = received > self->passed || limit != self->limit;
  IrisdFlowPiece *piece;

  if (received > self->end || received < self->passed || limit < received)
    return FALSE;
  while ((piece = g_queue_peek_head (&self->pieces)) != NULL
         && piece->offset + piece->size <= received)
    {
      if (self->next == self->pieces.head)
        self->next = self->next->next;
      piece_free (g_queue_pop_head (&self->pieces));
    }
  self->passed = received;
  self->limit = limit;
  self->sent = MAX (self->sent, received);
  /* What went beyond the limit was not taken. */
  if (sure || self->sent > limit)
    {
      self->next = self->pieces.head;
      self->sent = received;
    }
  return news;
}

/* Whether the receiver has all. */
gboolean
irisd_flow_sender_is_empty (const IrisdFlowSender *self)
{
  return g_queue_is_empty ((GQueue *) &self->pieces);
}

guint64
irisd_flow_sender_get_limit (const IrisdFlowSender *self)
{
  return self->limit;
}

guint64
irisd_flow_sender_get_sent (const IrisdFlowSender *self)
{
  return self->sent;
}

/* A word of @run has come. FALSE if a later one has begun. @anew: it is the first of its run. */
gboolean
irisd_flow_receiver_see_run (IrisdFlowReceiver *self, guint64 run, gboolean *anew)
{
  *anew = run > self->run;
  if (run < self->run)
    return FALSE;
  if (*anew)
    self->received = 0;
  self->run = run;
  return TRUE;
}

/* @size bytes behind the first @offset ones of the run that was seen last. */
IrisdFlowVerdict
irisd_flow_receiver_take (IrisdFlowReceiver *self, guint64 offset, gsize size)
{
  if (offset < self->received)
    return IRISD_FLOW_KNOWN;
  if (offset > self->received)
    return IRISD_FLOW_GAP;
  if (size > self->credit)
    return IRISD_FLOW_FULL;
  self->received += size;
  self->credit -= size;
  return IRISD_FLOW_TAKEN;
}
