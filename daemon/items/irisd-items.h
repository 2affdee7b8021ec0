/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * The items of one gateway: what its thread knows of those that it has accepted.
 *
 * Only that thread calls what is in this folder.
 */
#pragma once

#include "daemon/exec/irisd-job.h"
#include "daemon/items/irisd-item-counters.h"
#include "daemon/store/irisd-journal.h"

G_BEGIN_DECLS

typedef struct _IrisdItems IrisdItems;

/**
 * IrisdItemsClass:
 * @send_completion: sends RESULT, or ERROR with `ends`, now or with others of the turn; may take
 *   @body
 * @tell_accepted: says that @count items were accepted; @first_id is the number of the first, 0 if
 *   the client did not ask for it
 * @refuse: says why an item is not accepted
 * @tell_full: says that the journal has no room for an item
 * @route_run: sets @routed to what a run of a schedule with @item submits now, as if @peer did: an
 *   item for another node, or for this one
 *
 * What the items need of their gateway. Each may end @peer, so hold a reference.
 */
typedef struct
{
  void (*send_completion) (IrisdItems *self,
                           IrisdPeer *peer,
                           IrisWireMessage *completion,
                           zmq_msg_t *body);
  void (*tell_accepted) (IrisdItems *self,
                         IrisdPeer *peer,
                         const guint8 *request_id,
                         guint count,
                         guint64 first_id);
  void (*refuse) (IrisdItems *self, IrisdPeer *peer, const guint8 *request_id, const GError *error);
  void (*tell_full) (IrisdItems *self, IrisdPeer *peer, const guint8 *request_id);
  gboolean (*route_run) (IrisdItems *self,
                         IrisdPeer *peer,
                         const IrisWireMessage *item,
                         IrisWireMessage *routed,
                         GError **error);
} IrisdItemsClass;

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

struct _IrisdItems
{
  IrisdItemCounters counters;
  _Alignas(64) _Atomic int phase; /* the core's phase as this thread has seen it */

  const IrisdItemsClass *klass;
  IrisdCore *core;
  gint place;               /* of the gateway */
  IrisdMailbox *mailbox;    /* the gateway's */
  IrisWireEncoder *encoder; /* the gateway's */
  IrisdPeers *peers;        /* the gateway's */

  guint n_parked;                 /* jobs that wait for acknowledgements */
  guint next_home;                /* of the front gateway: the next place in turn */
  IrisdTimers timers;             /* jobs that wait for a time, and runs with a time limit */
  IrisdTimers deadlines;          /* jobs that have one, until it has passed */
  IrisdGateReturns *gate_returns; /* for each place */
  gboolean any_gate_returns;
  GHashTable *typical_ns;      /* by service */
  IrisdPersistentBatch *batch; /* of the BATCH in progress, if it has persistent items */
  guint batch_size;            /* its items; 0 for none in progress */

  GPtrArray *ended;             /* volatile items that were done in this turn */
  IrisdJournalRequest *done[2]; /* items that were done in this turn: relaxed, durable */
  GHashTable *orphans;          /* persistent jobs that are in no peer's table */
  GHashTable *by_number;        /* persistent jobs that were accepted and have not ended */
  IrisdPeer *journal_peer;      /* the peer of items from the journal */

  IrisdTimers spilled;     /* persistent items without a job that wait for a time */
  GHashTable *reloads;     /* those of them that are being read back */
  IrisdTimers unread;      /* of those, the ones that could not be read, until the next attempt */
  GHashTable *flows;       /* of persistent items that wait for their turn, beyond the limit */
  GQueue half_empty_flows; /* those of them whose window is half empty */
  guint64 n_recovered;     /* items that recovery found and that have jobs */
};

/* Returns the phase that the gateway acts upon. Any thread may call this. */
static inline IrisdPhase
irisd_items_get_phase (IrisdItems *self)
{
  return atomic_load_explicit (&self->phase, memory_order_acquire);
}

static inline gboolean
irisd_is_persistent (const IrisWireMessage *item)
{
  return item->klass != IRIS_WIRE_CLASS_VOLATILE;
}

void irisd_items_init (IrisdItems *self,
                       const IrisdItemsClass *klass,
                       IrisdCore *core,
                       gint place,
                       IrisdMailbox *mailbox,
                       IrisWireEncoder *encoder,
                       IrisdPeers *peers);
void irisd_items_clear (IrisdItems *self);
void irisd_items_publish (IrisdItems *self);
void irisd_items_register (IrisdItems *self, IrisdJob *job);
void irisd_items_unregister (IrisdItems *self, IrisdJob *job);
IrisdJob *irisd_items_find (IrisdItems *self, guint64 number);
guint8
irisd_items_get_priority (IrisdItems *self, const IrisWireMessage *item, IrisdNamedQueue *queue);
void irisd_items_settle_schedule (IrisdItems *self, IrisdJob *job, const IrisWireMessage *item);
gint64 irisd_items_get_space (IrisdItems *self, gint64 owner);
IrisdPeer *irisd_items_get_journal_peer (IrisdItems *self);
IrisdJournalRequest *irisd_items_new_request (IrisdItems *self,
                                              IrisdJournalRequestKind kind,
                                              IrisdPeer *peer,
                                              const guint8 *request_id);
void irisd_items_watch_deadline (IrisdItems *self, IrisdJob *job);
void irisd_items_count_deadline_from (IrisdItems *self, IrisdJob *job, guint64 accepted_ms);
void irisd_items_drop_deadline (IrisdItems *self, IrisdJob *job);
gboolean irisd_items_is_late (const IrisdJob *job);

G_END_DECLS
