/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * The inside of a gateway, for the files that are parts of it.
 *
 * Everything here is called by the gateway's own thread.
 */
#pragma once

#include "daemon/gateway/irisd-busy-limits.h"
#include "daemon/gateway/irisd-gateway.h"
#include "daemon/items/irisd-items.h"
#include "daemon/items/schedule/irisd-schedules.h"

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

/**
 * IrisdGatewayCounters:
 *
 * Counters of a gateway. Its thread writes, any thread may read.
 */
typedef struct
{
  _Alignas(64) _Atomic guint64 peers;
  _Atomic guint64 malformed;
  _Atomic guint64 refused;
  _Atomic guint64
      busy[IRISD_N_BUSY_LIMITS]; /* BUSY by the limit; those of connections are not refused items */
} IrisdGatewayCounters;

struct _IrisdGateway
{
  IrisdMailbox mailbox;
  IrisdGatewayCounters counters;
  IrisdItems items;
  IrisdSchedules *schedules; /* of the front gateway, if irisd has a journal */

  IrisdCore *core;
  gint place;
  void *socket;
  void (*lose_peer) (IrisdGateway *self, IrisdPeer *peer, const char *why, gboolean still_there);
  GThread *thread;
  IrisWireEncoder encoder;
  IrisdPhase waited_phase; /* the phase for which waiting jobs were checked */

  guint turn_items;         /* received since it looked at the mailbox */
  gboolean more_to_receive; /* there was more to receive */
  int taken_fd;             /* with CURVE: the connection of the last message; -1 for none */
  guint turn;               /* a number */
  guint light_turns;        /* turns that stay short */
  gconstpointer light_peer; /* the peer whose item made them short; only compared */
  gint64 give_again_us;     /* the processor is not given away before that time */

  IrisdPeers peers;
  guint n_askers;                     /* peers that may only ask */
  GQueue receive_backlog;             /* peers with more to read */
  IrisdMails strays;                  /* messages of peers that have ended */
  gint64 full_since_us[IRISD_N_FULL]; /* since when there is no room; 0 if there is */

  GQueue stalled_followers;   /* go on in a later turn (irisd-follow-requests.c) */
  GQueue left_over_followers; /* whose message is on the way, and whose peer has gone */

  GQueue backlog; /* peers with replies in their outbox */
  guint retry_ms; /* pause before the outboxes are tried again */
  gint64 retry_at_us;
  GPtrArray *bundles; /* completions of this turn that were not sent yet */
  GPtrArray *spare_bundles;

  struct _IrisdAfterAway *after_away; /* items of other nodes that items wait for, or NULL */

  GHashTable *asks; /* of the front gateway: requests that the bridge has, by their ids, or NULL */

  GQueue worker_processes;           /* worker processes, silent longest first */
  GQueue stream_readers;             /* clients that read what commands write while they run */
  _Atomic gboolean ended_connection; /* since they were last asked */
  guint probe_ms; /* the pause before they are asked again; 0 if there is no reason to */
  gint64 probe_at_us;
  gint64 watched_us;       /* the last look for silent workers */
  gint64 watched_since_us; /* looks have followed each other without a gap since then */
};

/**
 * IrisdCaller:
 * @route: where the answer goes
 * @peer: (nullable): its peer, if it said HELLO
 * @over_tcp: how it is connected
 * @uid: its user, the owner of its key, or %IRISD_UID_UNKNOWN
 * @public_key: (nullable): its key
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
  const char *address;    /* reported by ZeroMQ, or NULL */
  const char *public_key; /* likewise */
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

/* Counts a BUSY. @limit is the name that it gives. */
static inline void
irisd_gateway_count_busy (IrisdGateway *self, const char *limit)
{
  irisd_count (&self->counters.refused, 1);
  irisd_count (&self->counters.busy[irisd_busy_limit_find (limit)], 1);
}

/* Ends a peer that did not say BYE, for what lies below the sessions (irisd_session_lose()). */
static inline void
irisd_gateway_lose_peer (IrisdGateway *self, IrisdPeer *peer, const char *why, gboolean still_there)
{
  self->lose_peer (self, peer, why, still_there);
}

G_END_DECLS
