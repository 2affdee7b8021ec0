/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * The inside of a gateway, for the files that are parts of it.
 *
 * Everything here is called by the gateway's own thread.
 */
#pragma once

#include "irisd-gateway.h"
#include "irisd-job.h"

G_BEGIN_DECLS

/**
 * IrisdRoom:
 * @items: items that are back from a place
 * @cost: what they cost together
 *
 * What has to be told to a gate.
 */
typedef struct
{
  guint64 items;
  guint64 cost;
} IrisdRoom;

struct _IrisdGateway
{
  IrisdMailbox mailbox;
  IrisdGatewayCounters counters;
  _Alignas(64) _Atomic int phase; /* the core's phase that the thread acts upon */

  IrisdCore *core;
  gint place;
  void *socket;
  GThread *thread;
  IrisWireEncoder encoder;
  IrisdPeers peers;
  GQueue backlog; /* peers with something in their outbox */
  guint retry_ms; /* how long to wait before the outboxes are tried again */
  gint64 retry_at_us;
  guint n_parked;
  IrisdWaiting waiting;    /* jobs that wait for a time, and runs that are limited */
  IrisdPhase waited_phase; /* what waits was looked through for it */
  IrisdRoom *room;         /* for each place */
  gboolean any_room;
  GHashTable *typical_ns; /* by service */
  guint next_home;        /* of the front door: whose turn it is */
};

/**
 * IrisdCaller:
 * @route: where the answer goes
 * @peer: (nullable): who it is, if it said HELLO
 * @over_tcp: how it is connected
 * @address: (nullable): what ZeroMQ tells of the connection
 *
 * Whoever sent the message that is being handled.
 */
typedef struct
{
  IrisdRoute route;
  IrisdPeer *peer;
  gboolean over_tcp;
  const char *address; /* what ZeroMQ says of it, or NULL */
} IrisdCaller;

static inline void
irisd_count (_Atomic guint64 *counter, gint64 change)
{
  /* One writer: load and store need not be one step. */
  guint64 now = atomic_load_explicit (counter, memory_order_relaxed);
  atomic_store_explicit (counter, now + (guint64) change, memory_order_relaxed);
}

/* irisd-deliver.c: messages on their way out. */
void irisd_gateway_send (IrisdGateway *self,
                         const IrisdRoute *route,
                         IrisdPeer *peer,
                         IrisWireMessage *message,
                         zmq_msg_t *body);
void irisd_gateway_answer (IrisdGateway *self, const IrisdCaller *caller, IrisWireMessage *message);
void irisd_gateway_answer_bytes (IrisdGateway *self,
                                 const IrisdCaller *caller,
                                 IrisWireMessage *message,
                                 GBytes *body,
                                 const GError *error);
void irisd_gateway_refuse (IrisdGateway *self,
                           const IrisdCaller *caller,
                           const guint8 *request_id,
                           const GError *error);
void irisd_gateway_flush (IrisdGateway *self, IrisdPeer *peer);
void irisd_gateway_retry_backlog (IrisdGateway *self);
gboolean irisd_gateway_probe (IrisdGateway *self, IrisdPeer *peer);

/* irisd-request.c: messages on their way in. */
void irisd_gateway_handle (IrisdGateway *self, zmq_msg_t *route, zmq_msg_t *frames, guint n_frames);

/* irisd-submit.c */
void irisd_gateway_submit (IrisdGateway *self,
                           const IrisdCaller *caller,
                           const IrisWireMessage *item,
                           zmq_msg_t *body);
void irisd_gateway_submit_batch (IrisdGateway *self,
                                 const IrisdCaller *caller,
                                 const IrisWireMessage *batch);

/* irisd-waiting-flow.c: jobs on their way to the scheduler. */
void irisd_gateway_advance (IrisdGateway *self, IrisdJob *job);
gboolean irisd_gateway_withdraw (IrisdGateway *self, IrisdJob *job);
void irisd_gateway_note_return (IrisdGateway *self, IrisdJob *job);
void irisd_gateway_make_room (IrisdGateway *self);
void irisd_gateway_wake_due (IrisdGateway *self);
gint64 irisd_gateway_get_due_us (IrisdGateway *self);
void irisd_gateway_limit_run (IrisdGateway *self, IrisdLetter *letter);
gboolean irisd_gateway_try_again (IrisdGateway *self, IrisdJob *job);
void irisd_gateway_end_waiting (IrisdGateway *self);

/* irisd-waiting-depend.c: jobs that come after others. */
gboolean irisd_gateway_register (IrisdGateway *self,
                                 IrisdJob *job,
                                 const IrisWireMessage *item,
                                 GError **error);
gboolean irisd_gateway_stop_depending (IrisdGateway *self, IrisdJob *job);
void irisd_gateway_take_decision (IrisdGateway *self, IrisdLetter *letter);
void irisd_gateway_note_end (IrisdGateway *self, IrisdJob *job);

/* irisd-ending.c: jobs on their way back. */
void irisd_gateway_end_job (IrisdGateway *self, IrisdJob *job);
void irisd_gateway_take_back (IrisdGateway *self, IrisdJob *job);
gboolean irisd_gateway_cancel_job (IrisdGateway *self, IrisdPeer *peer, IrisdJob *job);
void irisd_gateway_tell_cancelling (IrisdGateway *self,
                                    const IrisdCaller *caller,
                                    const guint8 *request_id,
                                    gboolean was_queued);
void irisd_gateway_tell_not_found (IrisdGateway *self,
                                   const IrisdCaller *caller,
                                   const guint8 *request_id,
                                   const char *where);
void irisd_gateway_cancel (IrisdGateway *self,
                           const IrisdCaller *caller,
                           const IrisWireMessage *request);
void irisd_gateway_acknowledge (IrisdGateway *self,
                                const IrisdCaller *caller,
                                const IrisWireMessage *request);
void irisd_gateway_end_parked (IrisdGateway *self);

/* irisd-greeting.c: peers come and go. */
void irisd_gateway_greet (IrisdGateway *self, IrisdCaller *caller, const IrisWireMessage *hello);
void irisd_gateway_give_up (IrisdGateway *self, IrisdPeer *peer, gboolean still_there);
void
irisd_gateway_lose (IrisdGateway *self, IrisdPeer *peer, const char *why, gboolean still_there);

/* irisd-front.c and irisd-status.c: what is told. */
gint irisd_front_deal (IrisdGateway *self);
GBytes *irisd_front_encode_map (IrisdCore *core, gboolean over_tcp, GError **error);
GBytes *irisd_status_encode (IrisdCore *core, GError **error);

G_END_DECLS
