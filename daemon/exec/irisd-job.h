/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * A job: one accepted item on its way through a scheduler and back to its gateway.
 */
#pragma once

#include "daemon/base/irisd-mailbox.h"
#include "daemon/exec/command/irisd-command-options.h"
#include "daemon/exec/irisd-core.h"
#include "daemon/items/irisd-permit.h"
#include "daemon/items/irisd-schedule.h"
#include "daemon/net/irisd-peer.h"

G_BEGIN_DECLS

/* A payload up to this size is copied into the job; a larger one stays in ZeroMQ's memory. */
#define IRISD_INLINE_PAYLOAD 4096

/**
 * IrisdJobState:
 * @IRISD_JOB_QUEUED: the scheduler has it
 * @IRISD_JOB_RUNNING: a worker runs it
 * @IRISD_JOB_CANCELLED: was cancelled before it ran; will not run
 * @IRISD_JOB_STOPPING: was cancelled while it ran; the service may notice
 *
 * The state of a job, changed by compare-and-swap only.
 */
typedef enum
{
  IRISD_JOB_QUEUED,
  IRISD_JOB_RUNNING,
  IRISD_JOB_CANCELLED,
  IRISD_JOB_STOPPING,
} IrisdJobState;

/**
 * IrisdJobStage:
 * @IRISD_STAGE_HANDED: the scheduler has it, or it has come back
 * @IRISD_STAGE_GATE: it waits at its place's gate, unless a gateway has let it through
 * @IRISD_STAGE_PERMIT: it waits for a permit of its client or service, unless the message with one
 *   is on the way
 * @IRISD_STAGE_SLOT: the same, for a slot for commands (irisd-command-slots.h)
 * @IRISD_STAGE_TIME: it waits for a time
 * @IRISD_STAGE_DEPENDENCIES: it waits for other items
 * @IRISD_STAGE_SPILLED: it was reloaded, and other gateways are asked first (irisd-spilled-flow.c)
 *
 * Where a job is on its way to the scheduler.
 */
typedef enum
{
  IRISD_STAGE_HANDED,
  IRISD_STAGE_GATE,
  IRISD_STAGE_PERMIT,
  IRISD_STAGE_SLOT,
  IRISD_STAGE_TIME,
  IRISD_STAGE_DEPENDENCIES,
  IRISD_STAGE_SPILLED,
} IrisdJobStage;

/**
 * IrisdResult:
 * @error: (nullable): why there is no result
 * @body: the result's body
 * @content_type: (nullable): a constant
 * @bytes: how many bytes were worked on
 * @exit_status: of a command that exited, else -1
 * @signal: of a command that was killed, else 0
 * @stdout_length: how much of @body is standard output, or -1
 * @truncated: output was dropped
 *
 * How a job ended.
 */
typedef struct
{
  GError *error;
  zmq_msg_t body;
  const char *content_type;
  guint64 bytes;
  gint exit_status;
  gint signal;
  gint64 stdout_length;
  gboolean truncated;
} IrisdResult;

typedef struct _IrisdLeasedItem IrisdLeasedItem;

struct _IrisdJob
{
  IrisItem item;
  IrisdMessage message;
  IrisdMessage beside; /* SLOT, then LEFT: one at a time is on the way */
  _Atomic int state;

  /* Set by the gateway before the job is queued, then constant. */
  IrisdCore *core;
  IrisdMailbox *mailbox;
  IrisdPeer *peer;
  const IrisdService *service;
  gint64 owner; /* see irisd-policy.c */
  guint8 request_id[IRIS_WIRE_ID_SIZE];
  gint home;
  gint64 accepted_ns;
  gboolean strict;
  guint64 id;              /* daemon-wide; 0: not told to any client */
  IrisdSchedule *schedule; /* NULL: a plain item */
  gsize payload_size;
  char **args;
  char *path;
  char *near_path;              /* the path that it is to be near, if any */
  IrisdCommandOptions *options; /* of a command, if it has any */

  _Atomic guint64 output_credit; /* bytes of output that may be sent */
  IrisdLeasedItem *leased_item;  /* for worker processes (irisd-worker-processes.h) */

  /* For the gateway, at any time. */
  gboolean ended;     /* its completion was sent before it came back, or no client waits for it */
  gboolean parked;    /* it waits in its peer's list */
  gboolean brief;     /* may be run by the gateway itself */
  gboolean withdrawn; /* no worker process has it any more; the gateway ends it */

  IrisdPersistentItem *persistent; /* NULL if it is volatile; the worker may set its state */
  gboolean lasting;                /* it counts as a persistent one in memory */
  gboolean detached;               /* its connection does not wait for its end */
  gboolean quiet;                  /* its acceptance is not answered */
  gboolean settled;                /* the journal has answered about its end */
  gboolean due;                    /* and has it, until it is acknowledged */
  gboolean counted;                /* by the limits for clients and services */
  gboolean bury;                   /* is buried after its last attempt */
  gboolean buried;                 /* and that is on its way to the journal, or there */
  gboolean away;                   /* was buried while the scheduler had it, which it still has */
  guint known : 1;                 /* by its number: it is accepted, and others can depend on it */
  guint completion : 1;            /* its end was posted to the journal */
  guint early : 1;                 /* and that before the scheduler has given it back */
  IrisdJobStage stage;
  IrisdSpilledFlow *flow;         /* if others are spilled behind it */
  gint64 since_us;                /* when it began to wait for its turn, unless that is now */
  IrisdPermit *permit;            /* if a concurrency limit applies */
  struct _IrisdCommandTurn *turn; /* of a command that has waited for a slot */
  gint gate;                      /* the place whose gate it counts at, or -1 */
  gint left_gate;                 /* the gate that it has left before its end, or -1 */
  IrisdFairEntry fair;            /* while it is in a gate's queue, that gate's */

  /* For the thread that has the job: gateway, then worker, then gateway. */
  gint slot; /* the place whose slot a command uses, or -1 */
  gint place;
  gint worker;
  gint64 started_ns;
  gint64 left_ns; /* when it left its worker, if it went on beside the workers; else 0 */
  gint64 ended_ns;
  gboolean held;  /* came back without having run, because its peer has too much unacknowledged */
  guint64 charge; /* bytes that count against its peer's limit */
  IrisdResult result;
  gsize inline_size;
  _Alignas(zmq_msg_t) guint8 inline_payload[]; /* or, if @inline_size is 0, a zmq_msg_t with it */
};

IrisdJob *irisd_job_new (IrisdCore *core,
                         IrisdMailbox *mailbox,
                         IrisdPeer *peer,
                         const IrisdService *service,
                         const IrisWireMessage *item,
                         zmq_msg_t *body);
void irisd_job_free (IrisdJob *self);
void irisd_job_move (IrisdJob *self, gint place);
void irisd_job_abandon (IrisdJob *self);
void irisd_job_end (IrisdJob *self);
gboolean irisd_job_is_orphan (IrisdJob *self);
void irisd_job_set_home (IrisdJob *self, gint home, gboolean strict);
void irisd_job_hand_over (IrisdJob *self);
void irisd_job_run_here (IrisdJob *self);
void irisd_job_run_at_once (IrisdJob *self);
gboolean irisd_job_has_failed (IrisdJob *self);
void irisd_job_reset (IrisdJob *self);
gboolean irisd_job_cancel_queued (IrisdJob *self);
IrisdJobState irisd_job_cancel (IrisdJob *self);
IrisdJobState irisd_job_get_state (IrisdJob *self);

/* For services, on the worker. */
void irisd_job_leave_worker (IrisdJob *self);
IrisWireFrame irisd_job_get_payload (IrisdJob *self);
gboolean irisd_job_must_stop (IrisdJob *self);
void
irisd_job_fail (IrisdJob *self, IrisWireError code, const char *format, ...) G_GNUC_PRINTF (3, 4);
void irisd_job_fail_stopped (IrisdJob *self);
void irisd_job_fail_late (IrisdJob *self);
void irisd_job_take_result (IrisdJob *self, gpointer data, gsize size, const char *content_type);
void irisd_job_return_payload (IrisdJob *self);
void irisd_job_charge_result (IrisdJob *self, gint sign);

/* For a job whose payload is not copied into it. */
static inline zmq_msg_t *
irisd_job_get_message (IrisdJob *self)
{
  return (zmq_msg_t *) self->inline_payload;
}

/* Whether it came back from a run, and not from a queue. */
static inline gboolean
irisd_job_has_run (const IrisdJob *self)
{
  return self->started_ns != 0 && self->ended_ns != 0;
}

static inline IrisdJob *
irisd_job_from_message (IrisdMessage *message)
{
  return (IrisdJob *) ((char *) message - G_STRUCT_OFFSET (IrisdJob, message));
}

static inline IrisdJob *
irisd_job_from_beside (IrisdMessage *message)
{
  return (IrisdJob *) ((char *) message - G_STRUCT_OFFSET (IrisdJob, beside));
}

static inline IrisdJob *
irisd_job_from_fair (IrisdFairEntry *entry)
{
  return (IrisdJob *) ((char *) entry - G_STRUCT_OFFSET (IrisdJob, fair));
}

G_END_DECLS
