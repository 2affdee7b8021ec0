/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * What a run of an item writes, on its way from the node that runs it to the item's home: in order,
 * whole, and no more than was granted, over messages that may be lost.
 *
 * Pure logic, without socket and clock. The bytes of a run are numbered from 0. Their sender keeps
 * what the receiver has not confirmed, which is never more than was granted. The receiver takes
 * nothing out of order; it says how far it has come and how far the sender may go, both as
 * absolute numbers, so a word that is lost is made up for by the next one. A word is *sure* if it
 * answers what the sender sent last: then what has not come by now does not come any more, and is
 * sent again.
 *
 * A later run of the item begins at 0 again, and words of earlier ones do not count any more.
 */
#pragma once

#include <glib.h>

G_BEGIN_DECLS

/* One message. */
typedef struct
{
  guint64 offset;
  guint channel;      /* an IrisWireChannel, or 0 for a part of a result */
  gboolean continues; /* the next piece belongs to the same part */
  gsize size;
  guint8 *data;
} IrisdFlowPiece;

typedef struct _IrisdFlowSender IrisdFlowSender;

IrisdFlowSender *irisd_flow_sender_new (guint64 limit, gsize most);
void irisd_flow_sender_free (IrisdFlowSender *self);
void irisd_flow_sender_push (IrisdFlowSender *self, guint channel, const guint8 *data, gsize size);
const IrisdFlowPiece *irisd_flow_sender_next (IrisdFlowSender *self);
gboolean
irisd_flow_sender_take_word (IrisdFlowSender *self, guint64 received, guint64 limit, gboolean sure);
gboolean irisd_flow_sender_is_empty (const IrisdFlowSender *self);
guint64 irisd_flow_sender_get_limit (const IrisdFlowSender *self);
guint64 irisd_flow_sender_get_sent (const IrisdFlowSender *self);

typedef enum
{
  IRISD_FLOW_TAKEN,
  IRISD_FLOW_KNOWN, /* it has come before */
  IRISD_FLOW_GAP,   /* what comes before it is missing */
  IRISD_FLOW_FULL,  /* it was not granted */
} IrisdFlowVerdict;

/* Public members are read-only but for @credit. */
typedef struct
{
  guint64 run;      /* 0: none has told anything */
  guint64 received; /* of that run */
  guint64 credit;   /* bytes that may still come */
} IrisdFlowReceiver;

gboolean irisd_flow_receiver_see_run (IrisdFlowReceiver *self, guint64 run, gboolean *anew);
IrisdFlowVerdict irisd_flow_receiver_take (IrisdFlowReceiver *self, guint64 offset, gsize size);

/* How far the sender may go. */
static inline guint64
irisd_flow_receiver_get_limit (const IrisdFlowReceiver *self)
{
  return self->received + self->credit;
}

G_DEFINE_AUTOPTR_CLEANUP_FUNC (IrisdFlowSender, irisd_flow_sender_free)

G_END_DECLS
