/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * The inside of a gateway, for the files that are parts of it.
 *
 * Everything here is called by the gateway's own thread.
 */
#pragma once

#include "daemon/exec/command/irisd-command-output.h"
#include "daemon/exec/irisd-job.h"
#include "daemon/gateway/irisd-gateway.h"
#include "daemon/store/irisd-journal.h"

G_BEGIN_DECLS

/* Items that a turn takes before it looks at the mailbox again: a flood of this size may delay the
 * answer to another client. Long turns cost less. Turns are short while a client that sends few
 * items is heard, and for this many turns of the flood afterwards. */
#define IRISD_ITEMS_PER_TURN       256
#define IRISD_ITEMS_PER_LIGHT_TURN 16
#define IRISD_LIGHT_TURNS          64

/* The most items of a turn that count as few. */
#define IRISD_FEW_ITEMS 4

/**
 * IrisdGateReturns:
 * @items: items that are back from a place
 * @cost: what they cost together
 *
 * What a gate gets back.
 */
typedef struct
{
  guint64 items;
  guint64 cost;
} IrisdGateReturns;

/**
 * IrisdFull:
 * @IRISD_FULL_VOLATILE: `total-items`, of volatile items
 * @IRISD_FULL_IN_MEMORY: `total-items`, of persistent items in memory
 * @IRISD_FULL_WORKER_PROCESSES: `total-items`, of those for worker processes
 * @IRISD_FULL_BYTES: `total-bytes`
 * @IRISD_FULL_PERSISTENT: `persistent-items`
 *
 * The limits of irisd as a whole.
 */
typedef enum
{
  IRISD_FULL_VOLATILE,
  IRISD_FULL_IN_MEMORY,
  IRISD_FULL_WORKER_PROCESSES,
  IRISD_FULL_BYTES,
  IRISD_FULL_PERSISTENT,
  IRISD_N_FULL,
} IrisdFull;

struct _IrisdGateway
{
  IrisdMailbox mailbox;
  IrisdGatewayCounters counters;
  _Alignas(64) _Atomic int phase; /* the core's phase as this thread has seen it */

  IrisdCore *core;
  gint place;
  void *socket;
  guint turn_items;         /* received since it looked at the mailbox */
  gboolean more_to_receive; /* there was more to receive */
  guint turn;               /* a number */
  guint light_turns;        /* turns that stay short */
  gconstpointer light_peer; /* the peer whose item made them short; only compared */
  gint64 give_again_us;     /* the processor is not given away before that time */
  GThread *thread;
  IrisWireEncoder encoder;
  IrisdPeers peers;
  guint n_askers;         /* peers that may only ask */
  GQueue receive_backlog; /* peers with more to read */
  IrisdMails strays;      /* messages of peers that have ended */
  GQueue backlog;         /* peers with replies in their outbox */
  guint retry_ms;         /* pause before the outboxes are tried again */
  gint64 retry_at_us;
  guint n_parked;
  IrisdTimers timers;             /* jobs that wait for a time, and runs with a time limit */
  IrisdPhase waited_phase;        /* the phase for which waiting jobs were checked */
  IrisdGateReturns *gate_returns; /* for each place */
  gboolean any_gate_returns;
  GHashTable *typical_ns;      /* by service */
  guint next_home;             /* of the front gateway: the next place in turn */
  IrisdPersistentBatch *batch; /* of the BATCH in progress, if it has persistent items */
  guint batch_size;            /* its items; 0 for none in progress */
  GPtrArray *bundles;          /* completions of this turn that were not sent yet */
  GPtrArray *spare_bundles;
  GPtrArray *ended;             /* volatile items that were done in this turn */
  IrisdJournalRequest *done[2]; /* items that were done in this turn: relaxed, durable */
  GHashTable *orphans;          /* persistent jobs that are in no peer's table */
  GHashTable *by_number;        /* persistent jobs that were accepted and have not ended */
  IrisdPeer *journal_peer;      /* the peer of items from the journal */
  IrisdTimers spilled;          /* persistent items without a job that wait for a time */
  IrisdTimers deadlines;        /* jobs that have one, until it has passed */
  GHashTable *reloads;          /* those of them that are being read back */
  IrisdTimers unread;      /* of those, the ones that could not be read, until the next attempt */
  GHashTable *flows;       /* of persistent items that wait for their turn, beyond the limit */
  GQueue half_empty_flows; /* those of them whose window is half empty */
  guint64 n_recovered;     /* items that recovery found and that have jobs */
  gint64 full_since_us[IRISD_N_FULL]; /* since when there is no room; 0 if there is */

  GQueue worker_processes;           /* worker processes, silent longest first */
  GQueue stream_readers;             /* clients that read what commands write while they run */
  _Atomic gboolean ended_connection; /* since they were last asked */
  guint probe_ms; /* the pause before they are asked again; 0 if there is no reason to */
  gint64 probe_at_us;
};

/**
 * IrisdCaller:
 * @route: where the answer goes
 * @peer: (nullable): its peer, if it said HELLO
 * @over_tcp: how it is connected
 * @uid: its user, or %IRISD_UID_UNKNOWN
 * @address: (nullable): the address that ZeroMQ reports for the connection
 *
 * The connection that sent the message in hand.
 */
typedef struct
{
  IrisdRoute route;
  IrisdPeer *peer;
  gboolean over_tcp;
  gint64 uid;
  const char *address; /* reported by ZeroMQ, or NULL */
} IrisdCaller;

/* A client that sends few items should not wait for clients that send many. A client that then
 * sends many was none of the former. */
static inline void
irisd_gateway_note_items (IrisdGateway *self, IrisdPeer *peer, guint n_items)
{
  if (peer->turn != self->turn)
    {
      gboolean few = peer->turn + 1 != self->turn || peer->turn_items <= IRISD_FEW_ITEMS;
      peer->turn = self->turn;
      peer->turn_items = 0;
      if (few && n_items <= IRISD_FEW_ITEMS)
        {
          self->light_turns = IRISD_LIGHT_TURNS;
          self->light_peer = peer;
        }
    }
  peer->turn_items += n_items;
  if (peer->turn_items > IRISD_FEW_ITEMS && self->light_peer == peer)
    self->light_turns = 0;
}

static inline gboolean
irisd_gateway_turn_is_over (IrisdGateway *self)
{
  return self->turn_items
         >= (self->light_turns > 0 ? IRISD_ITEMS_PER_LIGHT_TURN : IRISD_ITEMS_PER_TURN);
}

/* irisd_gateway_get_phase(), for the parts of the gateway. */
static inline IrisdPhase
irisd_gateway_current_phase (IrisdGateway *self)
{
  return atomic_load_explicit (&self->phase, memory_order_acquire);
}

static inline void
irisd_count (_Atomic guint64 *counter, gint64 change)
{
  /* One writer: load and store need not be one step. */
  guint64 now = atomic_load_explicit (counter, memory_order_relaxed);
  atomic_store_explicit (counter, now + (guint64) change, memory_order_relaxed);
}

/* irisd-bundle.c: completions of one turn, in one message for each connection. */
void irisd_bundles_init (IrisdGateway *self);
void irisd_bundles_clear (IrisdGateway *self);
gboolean irisd_bundle_add (IrisdGateway *self,
                           IrisdPeer *peer,
                           IrisWireMessage *completion,
                           zmq_msg_t *body);
void irisd_bundle_send (IrisdGateway *self, IrisdPeer *peer);
void irisd_bundle_drop (IrisdPeer *peer);
void irisd_bundles_send (IrisdGateway *self);

/* irisd-send.c: messages on their way out. */
void irisd_send_message (IrisdGateway *self,
                         const IrisdRoute *route,
                         IrisdPeer *peer,
                         IrisWireMessage *message,
                         zmq_msg_t *body);
void irisd_send_answer (IrisdGateway *self, const IrisdCaller *caller, IrisWireMessage *message);
void irisd_send_answer_bytes (IrisdGateway *self,
                              const IrisdCaller *caller,
                              IrisWireMessage *message,
                              GBytes *body,
                              const GError *error);
void irisd_send_refusal (IrisdGateway *self,
                         const IrisdCaller *caller,
                         const guint8 *request_id,
                         const GError *error);
void irisd_send_limit_refusal (IrisdGateway *self,
                               const IrisdCaller *caller,
                               const guint8 *request_id,
                               const char *name,
                               guint64 value,
                               const char *what);
void irisd_send_completion (IrisdGateway *self,
                            IrisdPeer *peer,
                            IrisWireMessage *completion,
                            zmq_msg_t *body);
void irisd_send_frames (IrisdGateway *self, IrisdPeer *peer, const IrisWireFrame *frames);
void irisd_send_outbox (IrisdGateway *self, IrisdPeer *peer);
void irisd_send_retry_outboxes (IrisdGateway *self);
gboolean irisd_send_probe (IrisdGateway *self, IrisdPeer *peer);
void irisd_send_offer (IrisdGateway *self, IrisdPeer *peer, IrisWireMessage *message);

/* irisd-output.c: output of commands. */
void irisd_output_send (IrisdGateway *self, IrisdOutput *output);
void
irisd_output_grant (IrisdGateway *self, const IrisdCaller *caller, const IrisWireMessage *more);

/* irisd-receive.c: messages on their way in. */
void irisd_receive_handle (IrisdGateway *self, zmq_msg_t *route, zmq_msg_t *frames, guint n_frames);
void
irisd_receive_handle_mail (IrisdGateway *self, zmq_msg_t *route, zmq_msg_t *frames, guint n_frames);

/* irisd-receive-backlog.c: messages that are not read at once. */
void irisd_receive_backlog_submit_batch (IrisdGateway *self,
                                         const IrisdCaller *caller,
                                         const IrisWireMessage *batch,
                                         zmq_msg_t *body);
void irisd_receive_backlog_put (IrisdGateway *self,
                                IrisdPeer *peer,
                                zmq_msg_t *route,
                                zmq_msg_t *frames,
                                guint n_frames);
gboolean irisd_receive_backlog_go_on (IrisdGateway *self);
void irisd_receive_backlog_leave (IrisdGateway *self, IrisdPeer *peer);
void irisd_receive_backlog_handle_strays (IrisdGateway *self);
void irisd_receive_backlog_clear (IrisdGateway *self);

/* irisd-submit.c */
void irisd_submit_item (IrisdGateway *self,
                        const IrisdCaller *caller,
                        const IrisWireMessage *item,
                        zmq_msg_t *body);
gboolean irisd_submit_try_item (IrisdGateway *self,
                                const IrisdCaller *caller,
                                const IrisWireMessage *item,
                                zmq_msg_t *body,
                                guint64 id);
void irisd_submit_tell_accepted (IrisdGateway *self,
                                 IrisdPeer *peer,
                                 const guint8 *request_id,
                                 guint count,
                                 guint64 first_id);

/* irisd-placement.c: where items go. */
gboolean irisd_placement_choose_home (IrisdGateway *self,
                                      const IrisdCaller *caller,
                                      const IrisWireMessage *item,
                                      gint *home,
                                      gboolean *hinted,
                                      GError **error);
void irisd_placement_pin_hint (const IrisdJob *job, IrisWireMessage *item);
void irisd_placement_unpin_hint (IrisWireMessage *item);
void irisd_placement_note_home (IrisdGateway *self, const IrisdJob *job);
void irisd_placement_note_place (IrisdGateway *self, const IrisdJob *job);

/* irisd-dispatch.c: jobs on their way to the scheduler. */
void irisd_dispatch_advance (IrisdGateway *self, IrisdJob *job);
gboolean irisd_dispatch_run_at_once (IrisdGateway *self, IrisdJob *job);
gboolean irisd_dispatch_withdraw (IrisdGateway *self, IrisdJob *job);
void irisd_dispatch_note_left (IrisdGateway *self, IrisdJob *job);
void irisd_dispatch_note_return (IrisdGateway *self, IrisdJob *job);
void irisd_dispatch_fill_gate (IrisdGateway *self, gint place);
void irisd_dispatch_tell_gates (IrisdGateway *self);
void irisd_dispatch_wake_due (IrisdGateway *self);
gint64 irisd_dispatch_get_due_us (IrisdGateway *self);
void irisd_dispatch_limit_run (IrisdGateway *self, IrisdMessage *queued_message);
gboolean irisd_dispatch_try_again (IrisdGateway *self, IrisdJob *job);
void irisd_dispatch_end_waiting (IrisdGateway *self);
void irisd_dispatch_go_on (IrisdGateway *self, IrisdJob *job);
guint64 irisd_dispatch_get_window (IrisdGateway *self, const IrisdJob *job);

/* irisd-deadline.c: jobs that have to begin in time. */
void irisd_deadline_watch (IrisdGateway *self, IrisdJob *job);
void irisd_deadline_count_from (IrisdGateway *self, IrisdJob *job, guint64 accepted_ms);
void irisd_deadline_drop (IrisdGateway *self, IrisdJob *job);
gboolean irisd_deadline_is_late (const IrisdJob *job);
void irisd_deadline_end_late (IrisdGateway *self);

/* irisd-permit.c: jobs and concurrency limits. */
gboolean irisd_permit_take (IrisdGateway *self, IrisdJob *job);
void irisd_permit_release (IrisdGateway *self, IrisdJob *job);
gboolean irisd_permit_withdraw (IrisdGateway *self, IrisdJob *job);
IrisdJob *irisd_permit_get_job (IrisdMessage *queued_message);

/* irisd-dependencies.c: jobs with dependencies. */
gboolean irisd_dependencies_register (IrisdGateway *self,
                                      IrisdJob *job,
                                      const IrisWireMessage *item,
                                      GError **error);
IrisdJob *irisd_dependencies_find_item (IrisdGateway *self,
                                        guint64 number,
                                        gint64 view,
                                        IrisdMailbox **holder);
gboolean irisd_dependencies_withdraw (IrisdGateway *self, IrisdJob *job);
void irisd_dependencies_take_decision (IrisdGateway *self, IrisdMessage *queued_message);
void irisd_dependencies_give_up_buried (IrisdGateway *self);
void irisd_dependencies_note_cancelled (IrisdGateway *self, guint64 item);
void irisd_dependencies_note_burial (IrisdGateway *self, IrisdJob *job, gboolean buried);
void irisd_dependencies_uncount (IrisdGateway *self, IrisdJob *job);
void irisd_dependencies_note_end (IrisdGateway *self, IrisdJob *job);

void irisd_submit_settle_schedule (IrisdGateway *self, IrisdJob *job, const IrisWireMessage *item);
void irisd_dispatch_kick_delayed (IrisdGateway *self, IrisdJob *job);

/* irisd-admission.c: limits and BUSY. */
gboolean irisd_admission_has_room (IrisdGateway *self,
                                   const IrisdCaller *caller,
                                   const IrisWireMessage *item,
                                   gboolean for_workers);
gboolean irisd_admission_may_ask (IrisdGateway *self,
                                  const IrisdCaller *caller,
                                  const IrisWireMessage *request,
                                  gboolean answer_counts);
void irisd_admission_tell_busy (IrisdGateway *self,
                                const IrisdCaller *caller,
                                const IrisWireMessage *item,
                                IrisdFairRefusal limit);
void irisd_admission_tell_full (IrisdGateway *self,
                                const IrisdCaller *caller,
                                const IrisWireMessage *item,
                                IrisdFull full,
                                guint64 value);

/* irisd-persistent.c: items that outlive their connection. */
#define IRISD_KEEP_KEYS                                                      \
  (IRIS_WIRE_BIT (IRIS_WIRE_KEY_KEY) | IRIS_WIRE_BIT (IRIS_WIRE_KEY_KEEP_MS) \
   | IRIS_WIRE_BIT (IRIS_WIRE_KEY_DETACH) | IRIS_WIRE_BIT (IRIS_WIRE_KEY_BURY))

static inline gboolean
irisd_is_persistent (const IrisWireMessage *item)
{
  return item->klass != IRIS_WIRE_CLASS_VOLATILE;
}

gboolean irisd_persistent_check (IrisdGateway *self,
                                 const IrisdCaller *caller,
                                 const IrisWireMessage *item,
                                 GError **error);
void irisd_persistent_keep (IrisdGateway *self,
                            const IrisdCaller *caller,
                            IrisdJob *job,
                            const IrisWireMessage *item);
void irisd_persistent_drop_job (IrisdGateway *self, IrisdJob *job);
void irisd_persistent_detach (IrisdGateway *self, IrisdJob *job);
void irisd_persistent_take_request (IrisdGateway *self, IrisdJournalRequest *request);
IrisdJournalRequest *irisd_persistent_new_request (IrisdGateway *self,
                                                   IrisdJournalRequestKind kind,
                                                   IrisdPeer *peer,
                                                   const guint8 *request_id);

/* irisd-persistent-batch.c: ACCEPTED for several items. */
guint64 irisd_persistent_batch_take_number (IrisdGateway *self);
IrisdJournalRequest **irisd_persistent_batch_get_done (IrisdGateway *self, gboolean durable);
IrisdPersistentBatch *irisd_persistent_batch_expect (IrisdGateway *self);
void irisd_persistent_batch_note (IrisdGateway *self, IrisdPersistentBatch *batch);
void irisd_persistent_batch_tell (IrisdGateway *self,
                                  IrisdPersistentBatch *batch,
                                  IrisdPeer *peer,
                                  const guint8 *request_id,
                                  gboolean quiet,
                                  guint64 item);
void irisd_persistent_batch_close (IrisdGateway *self,
                                   IrisdPersistentBatch *batch,
                                   IrisdPeer *peer,
                                   const guint8 *request_id,
                                   gboolean quiet,
                                   guint accepted);

/* irisd-persistent-done.c: items that are stored after their end. */
gboolean irisd_persistent_done_add (IrisdGateway *self, IrisdJob *job, const IrisWireMessage *item);
void irisd_persistent_done_flush (IrisdGateway *self);
void irisd_persistent_done_take_answer (IrisdGateway *self, IrisdJournalRequest *request);

/* irisd-item-requests.c: requests about persistent items. */
void irisd_item_requests_fetch (IrisdGateway *self,
                                const IrisdCaller *caller,
                                const IrisWireMessage *request);
void irisd_item_requests_show (IrisdGateway *self,
                               const IrisdCaller *caller,
                               const IrisWireMessage *request);
void irisd_item_requests_list (IrisdGateway *self,
                               const IrisdCaller *caller,
                               const IrisWireMessage *request);
gboolean irisd_item_requests_may_ask (IrisdGateway *self,
                                      const IrisdCaller *caller,
                                      const IrisWireMessage *request);
void irisd_item_requests_await_end (IrisdGateway *self,
                                    IrisdPeer *peer,
                                    const guint8 *request_id,
                                    guint64 item,
                                    guint64 wait_ms);
void irisd_item_requests_take_answer (IrisdGateway *self, IrisdJournalRequest *request);
void irisd_item_requests_forget (IrisdGateway *self, GArray *items);

/* irisd-acknowledge.c and irisd-cancel.c: ACK and CANCEL. */
void irisd_acknowledge_request (IrisdGateway *self,
                                const IrisdCaller *caller,
                                const IrisWireMessage *request);
void irisd_cancel_request (IrisdGateway *self,
                           const IrisdCaller *caller,
                           const IrisWireMessage *request);
void irisd_cancel_tell_cancelling (IrisdGateway *self,
                                   const IrisdCaller *caller,
                                   const guint8 *request_id,
                                   gboolean was_queued);
void irisd_cancel_tell_not_found (IrisdGateway *self,
                                  const IrisdCaller *caller,
                                  const guint8 *request_id,
                                  const char *where);

/* irisd-completion.c: jobs on their way back. */
void irisd_completion_describe (const IrisdJob *job, IrisWireMessage *message);
void irisd_completion_end_job (IrisdGateway *self, IrisdJob *job);
void irisd_completion_take_end (IrisdGateway *self, IrisdJournalRequest *request);
void irisd_completion_take_back (IrisdGateway *self, IrisdJob *job);
gboolean irisd_completion_cancel_job (IrisdGateway *self, IrisdJob *job);
gboolean irisd_completion_begin_cancel (IrisdGateway *self, IrisdJob *job, gboolean *ours);
void irisd_completion_end_cancelled (IrisdGateway *self, IrisdJob *job);
void irisd_completion_advance_held (IrisdGateway *self, IrisdPeer *peer);
void irisd_completion_end_parked (IrisdGateway *self);
gboolean irisd_gateway_unblock (IrisdGateway *self, IrisdJob *job);
void irisd_gateway_resume_held (IrisdGateway *self, IrisdJob *job);
void irisd_gateway_release_job (IrisdGateway *self, IrisdJob *job);
void irisd_gateway_cancel_withdrawn (IrisdGateway *self, IrisdJob *job);
void irisd_completion_tell (IrisdGateway *self, IrisdJob *job, gboolean buried);

/* irisd-ownership.c: owners and their items. */
gint64 irisd_ownership_get_view (const IrisdCaller *caller, IrisWireType request);
gint64 irisd_ownership_get_space (IrisdGateway *self, gint64 owner);
gboolean irisd_ownership_reaches_item (IrisdGateway *self, gint64 view, guint64 item);

/* irisd-session.c: begin and end of sessions. */
void
irisd_session_open (IrisdGateway *self, IrisdCaller *caller, const IrisWireMessage *hello, int fd);
void irisd_session_close (IrisdGateway *self, IrisdPeer *peer, gboolean still_there);
void
irisd_session_lose (IrisdGateway *self, IrisdPeer *peer, const char *why, gboolean still_there);

/* irisd-place-requests.c */
void irisd_place_requests_change (IrisdGateway *self,
                                  const IrisdCaller *caller,
                                  const IrisWireMessage *request);

/* irisd-front.c and irisd-status.c: what is told. */
GBytes *irisd_front_encode_map (IrisdCore *core, gboolean over_tcp, GError **error);
GBytes *irisd_status_encode (IrisdCore *core, GError **error);

G_END_DECLS
