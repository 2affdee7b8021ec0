/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * A job: one accepted item on its way through a scheduler and back to its gateway.
 */
#pragma once

#include "daemon/base/irisd-item-state.h"
#include "daemon/base/irisd-mailbox.h"
#include "daemon/exec/irisd-command-options.h"
#include "daemon/exec/irisd-core.h"
#include "daemon/exec/item/irisd-schedule.h"
#include "daemon/exec/item/irisd-trace-context.h"
#include "daemon/net/irisd-peer.h"

G_BEGIN_DECLS

/* A payload up to this size is copied into the job; a larger one stays in ZeroMQ's memory. */
#define IRISD_INLINE_PAYLOAD 4096

/* How a job ended. */
typedef struct
{
  GError *error;            /* NULL, or why there is no result */
  zmq_msg_t body;           /* the result's body */
  const char *content_type; /* NULL, or a constant */
  guint64 bytes;            /* how many bytes were worked on */
  gint exit_status;         /* of a command that exited, else -1 */
  gint signal;              /* of a command that was killed, else 0 */
  gint64 stdout_length;     /* how much of @body is standard output, or -1 */
  gboolean truncated;       /* output was dropped */
} IrisdResult;

typedef struct _IrisdLeasedItem IrisdLeasedItem;
typedef struct _IrisdPermit IrisdPermit;

struct _IrisdJob
{
  IrisItem item;
  IrisdMessage message;
  IrisdMessage beside; /* SLOT, then LEFT: one at a time is on the way */
  IrisdItemWord state;

  /* Set by the gateway before the job is queued, then constant. */
  IrisdCore *core;
  IrisdMailbox *mailbox;
  IrisdPeer *peer;
  const IrisdService *service;
  gint64 owner;         /* see irisd-policy.c */
  gconstpointer client; /* the client whose turns it shares; only compared */
  guint8 request_id[IRIS_WIRE_ID_SIZE];
  gint home;
  gint64 accepted_ns;
  gboolean strict;
  gboolean keep_apart;     /* of the items with a footprint */
  gboolean apart;          /* kept apart, and no hint names its place */
  guint64 id;              /* daemon-wide; 0: no client knows it */
  IrisdSchedule *schedule; /* NULL: a plain item */
  gsize payload_size;
  char **args;
  char *path;
  char *near_path;              /* the path that it is to be near, if any */
  IrisdCommandOptions *options; /* of a command, if it has any */
  IrisdTraceContext *trace;     /* NULL: it belongs to no trace */

  /* a request wants it to wait, or its processes to be stopped; only its gateway writes */
  _Atomic gboolean suspended;
  _Atomic guint64 output_credit; /* bytes of output that may be sent */
  IrisdLeasedItem *leased_item;  /* for worker processes (irisd-worker-processes.h) */

  /* The gateway's own, whatever holds the job. The facts hold in any state; none says where the
   * item is. */
  gboolean lasting;                /* persistent, not volatile */
  guint8 klass;                    /* an IrisWireClass */
  gboolean brief;                  /* the gateway may run it itself */
  gboolean detached;               /* its connection does not wait for its end */
  gboolean quiet;                  /* its connection does not wait for ACCEPTED */
  gboolean due;                    /* the journal has its end until it is acknowledged */
  gboolean counted;                /* by the rules for clients and services */
  gboolean edited;                 /* a request changes it; it is suspended meanwhile */
  gboolean bury;                   /* when it is out of tries it is buried */
  IrisdPersistentItem *persistent; /* its entry in the journal, whose state follows the item's */
  IrisdSpilledFlow *flow;          /* if spilled items may be behind it */
  gint64 since_us;                 /* since when it waits for its turn, if that is not now */
  IrisdNamedQueue *queue;          /* NULL, or the queue that it names and has joined */
  IrisdPermit *permit;             /* if how many run at once is limited */
  struct _IrisdCommandTurn *turn;  /* of a command that has waited for a slot */
  gint gate;                       /* the place whose gate it counts at, or -1 */
  gint left_gate;                  /* the gate that it left before its end, or -1 */
  IrisdFairEntry fair;             /* while it is in a gate's queue, that gate's */

  /* For the thread that has the job: gateway, then worker, then gateway. */
  gint slot; /* the place whose slot a command uses, or -1 */
  gint place;
  gint worker;
  gint64 started_ns;
  gint64 left_ns; /* when it left its worker, if it went on beside the workers; else 0 */
  gint64 ended_ns;
  guint64 charge; /* bytes that it counts for */
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
void irisd_job_leave_queue (IrisdJob *self);
void irisd_job_set_number (IrisdJob *self, guint64 number);
gboolean irisd_job_advance (IrisdJob *self, IrisdItemEvent event);
void irisd_job_restore (IrisdJob *self);
IrisdItemState irisd_job_get_state (IrisdJob *self);
gboolean irisd_job_is (IrisdJob *self, IrisdItemState state);
void irisd_job_move (IrisdJob *self, gint place);
void irisd_job_end (IrisdJob *self);
gboolean irisd_job_is_orphan (IrisdJob *self);
void irisd_job_set_home (IrisdJob *self, gint home, gboolean hinted, gboolean strict);
void irisd_job_hand_over (IrisdJob *self);
void irisd_job_run_here (IrisdJob *self);
void irisd_job_run_at_once (IrisdJob *self);
gboolean irisd_job_has_failed (IrisdJob *self);
gboolean irisd_job_abandon_queued (IrisdJob *self);
gboolean irisd_job_cancel (IrisdJob *self);

/* For services, on the worker. */
void irisd_job_leave_worker (IrisdJob *self);
IrisWireFrame irisd_job_get_payload (IrisdJob *self);
gboolean irisd_job_must_stop (IrisdJob *self);
void
irisd_job_fail (IrisdJob *self, IrisWireError code, const char *format, ...) G_GNUC_PRINTF (3, 4);
void irisd_job_fail_stopped (IrisdJob *self);
void irisd_job_fail_late (IrisdJob *self);
void irisd_job_fail_cancelled (IrisdJob *self);
void irisd_job_take_result (IrisdJob *self, gpointer data, gsize size, const char *content_type);
void irisd_job_return_payload (IrisdJob *self);
void irisd_job_charge_result (IrisdJob *self, gint sign);

/* For a job whose payload is not copied into it. */
static inline zmq_msg_t *
irisd_job_get_message (IrisdJob *self)
{
  return (zmq_msg_t *) self->inline_payload;
}

/* Relaxed: a runner that stops its processes is woken by a write to a descriptor. */
static inline gboolean
irisd_job_is_suspended (IrisdJob *self)
{
  return atomic_load_explicit (&self->suspended, memory_order_relaxed);
}

/* Returns whether it came back from a run, and not from a queue. */
static inline gboolean
irisd_job_has_run (const IrisdJob *self)
{
  return self->started_ns != 0 && self->ended_ns != 0;
}

#define irisd_job_from_message(pointer) IRISD_CONTAINER (pointer, IrisdJob, message)
#define irisd_job_from_beside(pointer)  IRISD_CONTAINER (pointer, IrisdJob, beside)
#define irisd_job_from_fair(pointer)    IRISD_CONTAINER (pointer, IrisdJob, fair)

G_END_DECLS
