/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * The inside of a gateway, for the files that are parts of it.
 *
 * Everything here is called by the gateway's own thread.
 */
#pragma once

#include "irisd-gateway.h"
#include "irisd-job.h"
#include "irisd-journal.h"

G_BEGIN_DECLS

/* What a turn takes of items before the mailbox is looked at again: so much of a flood can be in
 * front of the answer to somebody else. Long turns make little work. They are short as long as
 * somebody is heard who sends little, and for so many turns of the flood after that. */
#define IRISD_ITEMS_PER_TURN       256
#define IRISD_ITEMS_PER_LIGHT_TURN 16
#define IRISD_LIGHT_TURNS          64

/* What counts as little, in one turn. */
#define IRISD_FEW_ITEMS 4

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

/**
 * IrisdFull:
 * @IRISD_FULL_VOLATILE: `total-items`, of items that are not kept
 * @IRISD_FULL_HOT: `total-items`, of kept items in memory
 * @IRISD_FULL_OUTSIDE: `total-items`, of those for worker processes
 * @IRISD_FULL_BYTES: `total-bytes`
 * @IRISD_FULL_KEPT: `kept-items`
 *
 * What irisd as a whole can have no room for.
 */
typedef enum
{
  IRISD_FULL_VOLATILE,
  IRISD_FULL_HOT,
  IRISD_FULL_OUTSIDE,
  IRISD_FULL_BYTES,
  IRISD_FULL_KEPT,
  IRISD_N_FULL,
} IrisdFull;

struct _IrisdGateway
{
  IrisdMailbox mailbox;
  IrisdGatewayCounters counters;
  _Alignas(64) _Atomic int phase; /* the core's phase that the thread acts upon */

  IrisdCore *core;
  gint place;
  void *socket;
  guint turn_items;         /* that came since the mailbox was looked at */
  gboolean crowded;         /* there was more to receive */
  guint turn;               /* a number */
  guint light_turns;        /* so many more are short */
  gconstpointer light_peer; /* whose item made them so; only compared */
  gint64 give_again_us;     /* the processor is not given away before that time */
  GThread *thread;
  IrisWireEncoder encoder;
  IrisdPeers peers;
  guint n_askers;    /* peers that were let in to ask only */
  GQueue line;       /* peers of whom more is to be read */
  IrisdMails strays; /* messages of peers that were given up */
  GQueue backlog;    /* peers with something in their outbox */
  guint retry_ms;    /* how long to wait before the outboxes are tried again */
  gint64 retry_at_us;
  guint n_parked;
  IrisdWaiting waiting;    /* jobs that wait for a time, and runs that are limited */
  IrisdPhase waited_phase; /* what waits was looked through for it */
  IrisdRoom *room;         /* for each place */
  gboolean any_room;
  GHashTable *typical_ns; /* by service */
  guint next_home;        /* of the front door: whose turn it is */
  IrisdKeptBatch *batch;  /* of the BATCH that is being read, if it has kept items */
  guint batch_size;       /* its items; 0 when none is being read */
  GPtrArray *bundles;     /* endings of this turn that were not sent yet */
  GPtrArray *spare_bundles;
  GPtrArray *ended;       /* volatile items that were done in this turn */
  IrisdSlip *done[2];     /* items that were done in this turn: relaxed, durable */
  GHashTable *orphans;    /* kept jobs that are in no peer's table */
  GHashTable *by_number;  /* kept jobs that were accepted and have not ended */
  IrisdPeer *nobody;      /* whose items came out of the journal */
  IrisdWaiting cold;      /* kept items without a job that wait for a time */
  IrisdWaiting deadlines; /* jobs that have one, until it has passed */
  GHashTable *calls;      /* those of them that are being read back */
  IrisdWaiting unread;    /* of those the ones that could not be read, until they are tried again */
  GHashTable *lanes;      /* of kept items that wait for their turn, beyond the limit */
  GQueue hungry_lanes;    /* those of them whose window is half empty */
  guint64 n_recovered;    /* items that were found at the start and have jobs */
  gint64 full_since_us[IRISD_N_FULL]; /* since when there is no room; 0 if there is */

  GQueue outside_workers; /* worker processes, silent longest first */
  GQueue stream_readers;  /* clients that read what commands write while they run */
  void *monitor;          /* ZeroMQ's, once there was one of either */
  guint probe_ms;         /* the pause before they are asked again; 0 if there is no reason to */
  gint64 probe_at_us;
};

/**
 * IrisdCaller:
 * @route: where the answer goes
 * @peer: (nullable): who it is, if it said HELLO
 * @over_tcp: how it is connected
 * @uid: which user, or %IRISD_NOBODY
 * @address: (nullable): what ZeroMQ tells of the connection
 *
 * Whoever sent the message that is being handled.
 */
typedef struct
{
  IrisdRoute route;
  IrisdPeer *peer;
  gboolean over_tcp;
  gint64 uid;
  const char *address; /* what ZeroMQ says of it, or NULL */
} IrisdCaller;

/* Whoever sends few items is not to wait for those who send many. Who goes on to send many was none
 * of them. */
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

static inline void
irisd_count (_Atomic guint64 *counter, gint64 change)
{
  /* One writer: load and store need not be one step. */
  guint64 now = atomic_load_explicit (counter, memory_order_relaxed);
  atomic_store_explicit (counter, now + (guint64) change, memory_order_relaxed);
}

/* irisd-bundle.c: endings of one turn, in one message for each connection. */
void irisd_gateway_init_bundles (IrisdGateway *self);
void irisd_gateway_clear_bundles (IrisdGateway *self);
gboolean irisd_gateway_bundle_ending (IrisdGateway *self,
                                      IrisdPeer *peer,
                                      IrisWireMessage *ending,
                                      zmq_msg_t *body);
void irisd_gateway_send_bundle (IrisdGateway *self, IrisdPeer *peer);
void irisd_gateway_drop_bundle (IrisdPeer *peer);
void irisd_gateway_send_bundles (IrisdGateway *self);

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
void irisd_gateway_refuse_limit (IrisdGateway *self,
                                 const IrisdCaller *caller,
                                 const guint8 *request_id,
                                 const char *name,
                                 guint64 value,
                                 const char *what);
void irisd_gateway_send_ending (IrisdGateway *self,
                                IrisdPeer *peer,
                                IrisWireMessage *ending,
                                zmq_msg_t *body);
void irisd_gateway_send_frames (IrisdGateway *self, IrisdPeer *peer, const IrisWireFrame *frames);
void irisd_gateway_flush (IrisdGateway *self, IrisdPeer *peer);
void irisd_gateway_retry_backlog (IrisdGateway *self);
gboolean irisd_gateway_probe (IrisdGateway *self, IrisdPeer *peer);
void irisd_gateway_offer (IrisdGateway *self, IrisdPeer *peer, IrisWireMessage *message);

/* irisd-request.c: messages on their way in. */
void irisd_gateway_handle (IrisdGateway *self, zmq_msg_t *route, zmq_msg_t *frames, guint n_frames);
void
irisd_gateway_handle_mail (IrisdGateway *self, zmq_msg_t *route, zmq_msg_t *frames, guint n_frames);

/* irisd-line.c: what is not read at once. */
void irisd_gateway_submit_batch (IrisdGateway *self,
                                 const IrisdCaller *caller,
                                 const IrisWireMessage *batch,
                                 zmq_msg_t *body);
void irisd_gateway_put_in_line (IrisdGateway *self,
                                IrisdPeer *peer,
                                zmq_msg_t *route,
                                zmq_msg_t *frames,
                                guint n_frames);
gboolean irisd_gateway_go_on_in_line (IrisdGateway *self);
void irisd_gateway_leave_line (IrisdGateway *self, IrisdPeer *peer);
void irisd_gateway_handle_strays (IrisdGateway *self);
void irisd_gateway_clear_line (IrisdGateway *self);

/* irisd-submit.c */
void irisd_gateway_submit (IrisdGateway *self,
                           const IrisdCaller *caller,
                           const IrisWireMessage *item,
                           zmq_msg_t *body);
gboolean irisd_gateway_try_item (IrisdGateway *self,
                                 const IrisdCaller *caller,
                                 const IrisWireMessage *item,
                                 zmq_msg_t *body,
                                 guint64 id);
void irisd_gateway_tell_accepted (IrisdGateway *self,
                                  IrisdPeer *peer,
                                  const guint8 *request_id,
                                  guint count,
                                  guint64 first_id);

/* irisd-near-home.c: where items go. */
gboolean irisd_gateway_choose_home (IrisdGateway *self,
                                    const IrisdCaller *caller,
                                    const IrisWireMessage *item,
                                    gint *home,
                                    gboolean *hinted,
                                    GError **error);
void irisd_gateway_pin_hint (const IrisdJob *job, IrisWireMessage *item);
void irisd_gateway_unpin_hint (IrisWireMessage *item);
void irisd_gateway_note_home (IrisdGateway *self, const IrisdJob *job);
void irisd_gateway_note_place (IrisdGateway *self, const IrisdJob *job);

/* irisd-waiting-flow.c: jobs on their way to the scheduler. */
void irisd_gateway_advance (IrisdGateway *self, IrisdJob *job);
gboolean irisd_gateway_run_at_once (IrisdGateway *self, IrisdJob *job);
gboolean irisd_gateway_withdraw (IrisdGateway *self, IrisdJob *job);
void irisd_gateway_note_left (IrisdGateway *self, IrisdJob *job);
void irisd_gateway_note_return (IrisdGateway *self, IrisdJob *job);
void irisd_gateway_fill_gate (IrisdGateway *self, gint place);
void irisd_gateway_make_room (IrisdGateway *self);
void irisd_gateway_wake_due (IrisdGateway *self);
gint64 irisd_gateway_get_due_us (IrisdGateway *self);
void irisd_gateway_limit_run (IrisdGateway *self, IrisdLetter *letter);
gboolean irisd_gateway_try_again (IrisdGateway *self, IrisdJob *job);
void irisd_gateway_end_waiting (IrisdGateway *self);
void irisd_gateway_go_on (IrisdGateway *self, IrisdJob *job);
guint64 irisd_gateway_get_window (IrisdGateway *self, const IrisdJob *job);

/* irisd-waiting-deadline.c: jobs that have to begin in time. */
void irisd_gateway_watch_deadline (IrisdGateway *self, IrisdJob *job);
void irisd_gateway_count_deadline_from (IrisdGateway *self, IrisdJob *job, guint64 accepted_ms);
void irisd_gateway_drop_deadline (IrisdGateway *self, IrisdJob *job);
gboolean irisd_gateway_is_late (const IrisdJob *job);
void irisd_gateway_end_late (IrisdGateway *self);

/* irisd-fair-seat.c: jobs and how many run at once. */
gboolean irisd_gateway_take_seat (IrisdGateway *self, IrisdJob *job);
void irisd_gateway_leave_seat (IrisdGateway *self, IrisdJob *job);
gboolean irisd_gateway_withdraw_seat (IrisdGateway *self, IrisdJob *job);
IrisdJob *irisd_seat_get_job (IrisdLetter *letter);

/* irisd-waiting-depend.c: jobs that come after others. */
gboolean irisd_gateway_register (IrisdGateway *self,
                                 IrisdJob *job,
                                 const IrisWireMessage *item,
                                 GError **error);
IrisdJob *
irisd_gateway_find_item (IrisdGateway *self, guint64 number, gint64 view, IrisdMailbox **holder);
gboolean irisd_gateway_stop_depending (IrisdGateway *self, IrisdJob *job);
void irisd_gateway_take_decision (IrisdGateway *self, IrisdLetter *letter);
void irisd_gateway_stop_waiting_for_buried (IrisdGateway *self);
void irisd_gateway_note_cancelled (IrisdGateway *self, guint64 item);
void irisd_gateway_note_burial (IrisdGateway *self, IrisdJob *job);
void irisd_gateway_uncount (IrisdGateway *self, IrisdJob *job);
void irisd_gateway_note_end (IrisdGateway *self, IrisdJob *job);

void irisd_gateway_settle_terms (IrisdGateway *self, IrisdJob *job, const IrisWireMessage *item);
void irisd_gateway_kick_delayed (IrisdGateway *self, IrisdJob *job);

/* irisd-busy.c: what there is no room for. */
gboolean irisd_gateway_has_room (IrisdGateway *self,
                                 const IrisdCaller *caller,
                                 const IrisWireMessage *item,
                                 gboolean outside);
gboolean irisd_gateway_may_ask (IrisdGateway *self,
                                const IrisdCaller *caller,
                                const IrisWireMessage *request,
                                gboolean answer_counts);
void irisd_gateway_tell_busy (IrisdGateway *self,
                              const IrisdCaller *caller,
                              const IrisWireMessage *item,
                              IrisdFairRefusal limit);
void irisd_gateway_tell_full (IrisdGateway *self,
                              const IrisdCaller *caller,
                              const IrisWireMessage *item,
                              IrisdFull full,
                              guint64 value);

/* irisd-kept-item.c: items that outlive their connection. */
#define IRISD_KEEP_KEYS                                                      \
  (IRIS_WIRE_BIT (IRIS_WIRE_KEY_KEY) | IRIS_WIRE_BIT (IRIS_WIRE_KEY_KEEP_MS) \
   | IRIS_WIRE_BIT (IRIS_WIRE_KEY_DETACH) | IRIS_WIRE_BIT (IRIS_WIRE_KEY_BURY))

static inline gboolean
irisd_is_kept (const IrisWireMessage *item)
{
  return item->klass != IRIS_WIRE_CLASS_VOLATILE;
}

gboolean irisd_gateway_check_keeping (IrisdGateway *self,
                                      const IrisdCaller *caller,
                                      const IrisWireMessage *item,
                                      GError **error);
void irisd_gateway_keep (IrisdGateway *self,
                         const IrisdCaller *caller,
                         IrisdJob *job,
                         const IrisWireMessage *item);
void irisd_gateway_drop_job (IrisdGateway *self, IrisdJob *job);
void irisd_gateway_detach (IrisdGateway *self, IrisdJob *job);
gboolean irisd_gateway_end_kept (IrisdGateway *self, IrisdJob *job);
void irisd_gateway_take_slip (IrisdGateway *self, IrisdSlip *slip);
IrisdSlip *irisd_gateway_new_slip (IrisdGateway *self,
                                   IrisdSlipKind kind,
                                   IrisdPeer *peer,
                                   const guint8 *request_id);

/* irisd-kept-batch.c: what ACCEPTED says of several. */
guint64 irisd_gateway_take_kept_number (IrisdGateway *self);
IrisdSlip **irisd_gateway_get_done (IrisdGateway *self, gboolean durable);
IrisdKeptBatch *irisd_gateway_expect_slip (IrisdGateway *self);
void irisd_gateway_note_slip (IrisdGateway *self, IrisdKeptBatch *batch);
void irisd_gateway_tell_kept (IrisdGateway *self,
                              IrisdKeptBatch *batch,
                              IrisdPeer *peer,
                              const guint8 *request_id,
                              gboolean quiet,
                              guint64 item);
void irisd_gateway_close_batch (IrisdGateway *self,
                                IrisdKeptBatch *batch,
                                IrisdPeer *peer,
                                const guint8 *request_id,
                                gboolean quiet,
                                guint accepted);

/* irisd-kept-done.c: items that are done before they are kept. */
gboolean irisd_gateway_keep_done (IrisdGateway *self, IrisdJob *job, const IrisWireMessage *item);
void irisd_gateway_hand_in_done (IrisdGateway *self);
void irisd_gateway_take_done (IrisdGateway *self, IrisdSlip *slip);

/* irisd-kept-ask.c: questions about them. */
void
irisd_gateway_fetch (IrisdGateway *self, const IrisdCaller *caller, const IrisWireMessage *request);
void
irisd_gateway_show (IrisdGateway *self, const IrisdCaller *caller, const IrisWireMessage *request);
void
irisd_gateway_list (IrisdGateway *self, const IrisdCaller *caller, const IrisWireMessage *request);
gboolean irisd_gateway_may_ask_kept (IrisdGateway *self,
                                     const IrisdCaller *caller,
                                     const IrisWireMessage *request);
void irisd_gateway_await_end (IrisdGateway *self,
                              IrisdPeer *peer,
                              const guint8 *request_id,
                              guint64 item,
                              guint64 wait_ms);
void irisd_gateway_take_told (IrisdGateway *self, IrisdSlip *slip);
void irisd_gateway_forget_items (IrisdGateway *self, GArray *items);

/* irisd-ending.c: jobs on their way back. */
void irisd_gateway_describe_ending (const IrisdJob *job, IrisWireMessage *message);
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
void irisd_gateway_unpark (IrisdGateway *self, IrisdJob *job);
void irisd_gateway_tell_end (IrisdGateway *self, IrisdJob *job);

/* irisd-owner.c: what belongs to whom. */
gint64 irisd_gateway_get_view (const IrisdCaller *caller, IrisWireType request);
gint64 irisd_gateway_get_space (IrisdGateway *self, gint64 owner);
gboolean irisd_gateway_reaches_item (IrisdGateway *self, gint64 view, guint64 item);

/* irisd-greeting.c: peers come and go. */
void
irisd_gateway_greet (IrisdGateway *self, IrisdCaller *caller, const IrisWireMessage *hello, int fd);
void irisd_gateway_give_up (IrisdGateway *self, IrisdPeer *peer, gboolean still_there);
void
irisd_gateway_lose (IrisdGateway *self, IrisdPeer *peer, const char *why, gboolean still_there);

/* irisd-staff-ask.c */
void irisd_gateway_change_place (IrisdGateway *self,
                                 const IrisdCaller *caller,
                                 const IrisWireMessage *request);

/* irisd-front.c and irisd-status.c: what is told. */
gint irisd_front_deal (IrisdGateway *self);
GBytes *irisd_front_encode_map (IrisdCore *core, gboolean over_tcp, GError **error);
GBytes *irisd_status_encode (IrisdCore *core, GError **error);

G_END_DECLS
