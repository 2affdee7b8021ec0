/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * A peer: one connection to one socket, what it has in flight and what it owes.
 */
#pragma once

#include "daemon/config/irisd-policy.h"
#include "daemon/net/irisd-outbox.h"
#include "daemon/net/irisd-pending-connections.h"
#include "daemon/net/irisd-unacknowledged.h"

#include <stdatomic.h>

G_BEGIN_DECLS

typedef struct _IrisdJob IrisdJob;
typedef struct _IrisdPeer IrisdPeer;
typedef struct _IrisdWorkerProcess IrisdWorkerProcess;
typedef struct _IrisdBatch IrisdBatch;
typedef struct _IrisdBundle IrisdBundle;

/**
 * IrisdMails:
 * @queue: messages, oldest first
 * @bytes: what their frames hold
 *
 * What was received and has to wait (irisd-receive-backlog.c).
 */
typedef struct
{
  GQueue queue;
  gsize bytes;
} IrisdMails;

/**
 * IrisdPeer:
 *
 * Belongs to the thread of its gateway. A worker that runs an item of the peer may read the two
 * atomics and add to the second, and nothing else; the item's reference keeps them alive.
 */
struct _IrisdPeer
{
  _Atomic gboolean gone; /* given up: its items need not run */
  _Atomic guint64 bytes; /* payloads and results that are not acknowledged */

  guint refs;
  gconstpointer client; /* who it is to be fair to; only compared */
  gint64 uid;           /* the user that the kernel named with its HELLO, or IRISD_UID_UNKNOWN */
  gint64 owner;         /* whose items it sends, see irisd-policy.c */
  IrisdRole role;
  gboolean greeted;    /* HELLO was answered by WELCOME */
  gboolean asks_only;  /* it was let in to ask, and may send no items */
  gboolean backlogged; /* is in the gateway's list of outboxes to retry */
  char *name;          /* as it introduced itself */
  GHashTable *jobs;    /* items that have not ended, by request id */
  IrisdUnacknowledged unacked;
  IrisdOutbox outbox;
  gboolean takes_bundles; /* it asked for ENDINGS */
  IrisdBundle *bundle;    /* completions of this turn, or NULL */
  GQueue held;            /* items that wait until it acknowledges */
  guint n_fetches;   /* questions of it that are not answered, and whose answers take a credit */
  guint n_questions; /* its other questions and changes about persistent items that are not answered
                      */
  GList age_link;    /* in the table's list, least recently heard first */
  GList backlog_link;
  IrisdWorkerProcess *worker_process; /* if it said READY */
  gboolean reads_streams; /* is in the gateway's list of those that are watched for that */
  GList stream_link;
  guint turn; /* of its gateway, when it last sent items, and how many */
  guint turn_items;
  gboolean in_receive_backlog; /* what it sends waits: */
  IrisdBatch *batch;           /* behind this, which is being read, or behind other mail */
  IrisdMails mails;
  GList receive_link;
  IrisdRoute route;
  IrisdConnection connection; /* by which it said HELLO */
};

/**
 * IrisdPeers:
 *
 * The peers of one gateway.
 */
typedef struct
{
  GHashTable *by_route;
  GQueue by_age;
} IrisdPeers;

IrisdPeer *irisd_peer_new (const IrisdRoute *route);
IrisdPeer *irisd_peer_ref (IrisdPeer *self);
void irisd_peer_unref (IrisdPeer *self);
guint64 irisd_peer_get_bytes (IrisdPeer *self);
gboolean irisd_peer_is_gone (IrisdPeer *self);
void irisd_peer_add_bytes (IrisdPeer *self, gint64 change);
void irisd_peer_set_client (IrisdPeer *self, const char *address);
void irisd_peer_set_name (IrisdPeer *self, const IrisWireString *name);

void irisd_peers_init (IrisdPeers *self);
void irisd_peers_clear (IrisdPeers *self);
guint irisd_peers_get_count (IrisdPeers *self);
IrisdPeer *irisd_peers_lookup (IrisdPeers *self, const IrisdRoute *route);
IrisdPeer *irisd_peers_add (IrisdPeers *self, const IrisdRoute *route);
void irisd_peers_remove (IrisdPeers *self, IrisdPeer *peer);
void irisd_peers_touch (IrisdPeers *self, IrisdPeer *peer);
IrisdPeer *irisd_peers_get_oldest (IrisdPeers *self);
guint irisd_peers_get_of_user (IrisdPeers *self, gint64 user, IrisdPeer **oldest, guint n);

G_DEFINE_AUTOPTR_CLEANUP_FUNC (IrisdPeer, irisd_peer_unref)

G_END_DECLS
