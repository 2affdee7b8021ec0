/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * A reader of an item's kept output: from the beginning, at its own speed.
 */
#pragma once

#include "daemon/base/irisd-mailbox.h"
#include "daemon/store/irisd-outputs.h"

G_BEGIN_DECLS

typedef struct _IrisdOutputReader IrisdOutputReader;

/* A part of a piece; it is valid until the next call. */
typedef struct
{
  guint channel;      /* an IrisWireChannel */
  guint64 offset;     /* how much the command had written before it */
  const guint8 *data; /* bytes */
  gsize size;         /* how many; 0 only if none were wanted */
} IrisdOutputPart;

IrisdOutputReader *irisd_output_reader_new (IrisdOutputs *outputs, guint64 item, guint64 offset);
void irisd_output_reader_free (IrisdOutputReader *self);
void irisd_output_reader_expect (IrisdOutputReader *self, guint attempt);
guint irisd_output_reader_get_attempt (const IrisdOutputReader *self);
gboolean irisd_output_reader_read (IrisdOutputReader *self, gsize most, IrisdOutputPart *part);
gboolean
irisd_output_reader_wait (IrisdOutputReader *self, IrisdMailbox *mailbox, IrisdMessage *message);
gboolean irisd_output_reader_stop_waiting (IrisdOutputReader *self);

G_END_DECLS
