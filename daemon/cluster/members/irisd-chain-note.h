/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * What the cluster's thread is told, or asked, of the chain of a schedule; see irisd-run-chain.h.
 */
#pragma once

#include "daemon/cluster/members/irisd-run-chain.h"
#include "daemon/cluster/members/irisd-later-note.h"

G_BEGIN_DECLS

typedef enum
{
  IRISD_CHAIN_NOTE_KEEP, /* the copy of the next run: keep it in place of the one that is there */
  IRISD_CHAIN_NOTE_DROP, /* there is no next run */
  IRISD_CHAIN_NOTE_ASK,  /* what has the cluster? */
  IRISD_CHAIN_NOTE_REST, /* this node has told of all its schedules: it has no others */
} IrisdChainNoteKind;

typedef struct _IrisdChainNote IrisdChainNote;

struct _IrisdChainNote
{
  IrisdMessage message; /* IRISD_MESSAGE_CHAIN */
  IrisdChainNoteKind kind;
  guint8 chain[IRIS_WIRE_ID_SIZE];

  /* of KEEP */
  guint64 due_ms;
  GBytes *packed;      /* the chain */
  IrisdLaterNote *run; /* the run; its time is when it begins */

  /* of ASK: takes the note back, exactly once, also when irisd ends; with @found, or nothing */
  void (*done) (IrisdChainNote *self);
  gboolean has_found;
  IrisdRunChain found;
};

#define irisd_chain_note_from_message(pointer) IRISD_CONTAINER (pointer, IrisdChainNote, message)

void irisd_chain_note_init (IrisdChainNote *self, IrisdChainNoteKind kind, const guint8 *chain);
void irisd_chain_note_clear (IrisdChainNote *self);
void irisd_chain_note_return (IrisdChainNote *self);

G_END_DECLS
