/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * A mailbox: many threads post to it, one thread empties it and can sleep on it.
 */
#pragma once

#include <glib.h>
#include <stdatomic.h>

G_BEGIN_DECLS

/* The object of @Type that contains what @pointer points to as its @member. */
#define IRISD_CONTAINER(pointer, Type, member)                              \
  ((Type *) (gpointer) ((char *) (TRUE ? (pointer) : &((Type *) 0)->member) \
                        - G_STRUCT_OFFSET (Type, member)))

typedef struct _IrisdMessage IrisdMessage;

typedef enum
{
  IRISD_MESSAGE_JOB,          /* a job that comes back (irisd-job.h) */
  IRISD_MESSAGE_BROADCAST,    /* CANCEL, KICK or BURY from gateway to gateway (irisd-broadcast.h) */
  IRISD_MESSAGE_OUTPUT,       /* output of a running command (irisd-command.h) */
  IRISD_MESSAGE_MORE_OUTPUT,  /* of a command that is followed (irisd-follow-requests.c) */
  IRISD_MESSAGE_WORKER_EVENT, /* an event of a lease (irisd-worker-processes.h) */
  IRISD_MESSAGE_JOURNAL_REQUEST, /* to the journal or back from it (irisd-journal.h) */
  IRISD_MESSAGE_STARTED,         /* a job with a time to run has begun to run (irisd-schedule.h) */
  IRISD_MESSAGE_DECIDED,         /* the dependencies of a job have ended (irisd-schedule.h) */
  IRISD_MESSAGE_PERMIT,          /* a job has a permit (irisd-permit.h) */
  IRISD_MESSAGE_SLOT,            /* a job has a slot for its command (irisd-command-slots.h) */
  IRISD_MESSAGE_LEFT,            /* a job goes on beside the workers (irisd-job.h) */
  IRISD_MESSAGE_TRACE,           /* a time line is there (irisd-tracer.h) */
  IRISD_MESSAGE_CLUSTER,         /* to the cluster thread (irisd-cluster-request.h) */
  IRISD_MESSAGE_LATER,           /* likewise, of an item that waits (irisd-later-note.h) */
  IRISD_MESSAGE_CHAIN,           /* likewise, of a schedule (irisd-chain-note.h) */
} IrisdMessageKind;

/* The link and kind of what is posted; embed it. */
struct _IrisdMessage
{
  IrisdMessage *next;
  IrisdMessageKind kind;
};

/* A list, and the descriptor that wakes its owner. */
typedef struct
{
  _Alignas(64) _Atomic (IrisdMessage *) head;
  _Alignas(64) _Atomic gboolean asleep;
  int fd;
} IrisdMailbox;

gboolean irisd_mailbox_init (IrisdMailbox *self, GError **error);
void irisd_mailbox_clear (IrisdMailbox *self);
void irisd_mailbox_post (IrisdMailbox *self, IrisdMessage *message);
void irisd_mailbox_wake (IrisdMailbox *self);
IrisdMessage *irisd_mailbox_take (IrisdMailbox *self);
gboolean irisd_mailbox_prepare_sleep (IrisdMailbox *self);
void irisd_mailbox_finish_sleep (IrisdMailbox *self, gboolean readable);

G_END_DECLS
