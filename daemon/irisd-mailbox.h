/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * Many threads post to a mailbox, one thread empties it and can sleep on it.
 */
#pragma once

#include <glib.h>
#include <stdatomic.h>

G_BEGIN_DECLS

typedef struct _IrisdLetter IrisdLetter;

/**
 * IrisdLetterKind:
 * @IRISD_LETTER_JOB: a job that comes back (irisd-job.h)
 * @IRISD_LETTER_INQUIRY: a CANCEL that goes from gateway to gateway (irisd-inquiry.h)
 * @IRISD_LETTER_ROUND: a KICK or BURY that goes from gateway to gateway (irisd-bury.h)
 * @IRISD_LETTER_OUTPUT: what a running command wrote (irisd-command-output.h)
 * @IRISD_LETTER_NOTICE: news about a lease (irisd-outside.h)
 * @IRISD_LETTER_SLIP: a slip to the journal or back from it (irisd-journal.h)
 * @IRISD_LETTER_STARTED: a job with a time to run has begun to run (irisd-waiting-terms.h)
 * @IRISD_LETTER_DECIDED: what a job comes after has ended (irisd-waiting-terms.h)
 * @IRISD_LETTER_SEAT: a job has room among those that run at once (irisd-fair-seat.h)
 * @IRISD_LETTER_SLOT: a job has a slot for its command (irisd-command-slots.h)
 * @IRISD_LETTER_LEFT: a job goes on beside the workers (irisd-job.h)
 */
typedef enum
{
  IRISD_LETTER_JOB,
  IRISD_LETTER_INQUIRY,
  IRISD_LETTER_ROUND,
  IRISD_LETTER_OUTPUT,
  IRISD_LETTER_NOTICE,
  IRISD_LETTER_SLIP,
  IRISD_LETTER_STARTED,
  IRISD_LETTER_DECIDED,
  IRISD_LETTER_SEAT,
  IRISD_LETTER_SLOT,
  IRISD_LETTER_LEFT,
} IrisdLetterKind;

/**
 * IrisdLetter:
 *
 * The link of what is posted, and what kind of thing that is; embed it.
 */
struct _IrisdLetter
{
  IrisdLetter *next;
  IrisdLetterKind kind;
};

/**
 * IrisdMailbox:
 *
 * A list that only its owner empties, and the descriptor that wakes the owner.
 */
typedef struct
{
  _Alignas(64) _Atomic (IrisdLetter *) head;
  _Alignas(64) _Atomic gboolean asleep;
  int fd;
} IrisdMailbox;

gboolean irisd_mailbox_init (IrisdMailbox *self, GError **error);
void irisd_mailbox_clear (IrisdMailbox *self);
void irisd_mailbox_post (IrisdMailbox *self, IrisdLetter *letter);
void irisd_mailbox_wake (IrisdMailbox *self);
IrisdLetter *irisd_mailbox_take (IrisdMailbox *self);
gboolean irisd_mailbox_prepare_sleep (IrisdMailbox *self);
void irisd_mailbox_finish_sleep (IrisdMailbox *self, gboolean readable);

G_END_DECLS
