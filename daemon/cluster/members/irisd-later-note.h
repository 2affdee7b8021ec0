/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * What the cluster's thread is told of an item for another node that waits for its time: the
 * cluster keeps a copy, which becomes due if this node is down then.
 *
 * It is told by its mailbox, and not by a lease, because the item stays this node's: here it waits,
 * and is changed, as any other.
 */
#pragma once

#include "daemon/base/irisd-mailbox.h"

#include <iris/wire/iris-wire.h>
#include <zmq.h>

G_BEGIN_DECLS

typedef enum
{
  IRISD_LATER_NOTE_KEEP,   /* keep a copy, or replace the one that is there */
  IRISD_LATER_NOTE_RECALL, /* remove it; the item waits on here */
  IRISD_LATER_NOTE_DROP,   /* remove it; the item has ended here */
} IrisdLaterNoteKind;

/* Of other kinds than KEEP, only the first three members. */
typedef struct
{
  IrisdMessage message; /* IRISD_MESSAGE_LATER */
  IrisdLaterNoteKind kind;
  guint8 cluster_item[IRIS_WIRE_ID_SIZE];
  guint64 due_ms; /* its time, in Unix time */
  GBytes *header; /* its SUBMIT, as it is encoded */
  zmq_msg_t body;
  gint64 owner;
  char *key_name; /* of an owner that is a key, or NULL */
  guint retries;
  guint64 deadline_ms; /* from now; 0: none */
} IrisdLaterNote;

#define irisd_later_note_from_message(pointer) IRISD_CONTAINER (pointer, IrisdLaterNote, message)

/* Whether @item, a SUBMIT, has a time before which it does not run. */
static inline gboolean
irisd_later_has_time (const IrisWireMessage *item)
{
  return item->delay_ms > 0 || iris_wire_message_has (item, IRIS_WIRE_KEY_AT_MS);
}

IrisdLaterNote *irisd_later_note_new (IrisdLaterNoteKind kind, const guint8 *cluster_item);
void irisd_later_note_free (IrisdLaterNote *self);

G_END_DECLS
