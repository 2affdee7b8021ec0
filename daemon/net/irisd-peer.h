/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * A peer: one connection to one socket, its items in flight and its unacknowledged completions.
 */
#pragma once

#include "daemon/config/irisd-policy.h"
#include "daemon/net/irisd-mails.h"
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

/* Belongs to the thread of its gateway. A worker that runs an item of the peer may only read the
 * two atomics and add to the second; the item's reference keeps them alive. */
struct _IrisdPeer
{
  _Atomic gboolean gone; /* ended: its items need not run */
  _Atomic guint64 bytes; /* payloads and results that are not acknowledged */

  guint refs;
  gconstpointer client; /* the client whose turns it shares; only compared */
  gint64 uid;           /* the user that the kernel named at HELLO, the owner of its key, or
                           IRISD_UID_UNKNOWN */
  gint64 owner;         /* owner of the items that it sends, see irisd-policy.c */
  IrisdRoles roles;
  char *public_key;    /* NULL, or the key by which it has come */
  gboolean in_session; /* HELLO was answered by WELCOME */
  gboolean asks_only;  /* may ask, and not submit */
  gboolean bridge;     /* joins irisd to a cluster */
  gboolean backlogged; /* is in the gateway's list of outboxes to retry */
  char *name;          /* from HELLO */
  GHashTable *jobs;    /* items that have not ended, by request id */
  IrisdUnacknowledged unacked;
  IrisdOutbox outbox;
  gboolean takes_bundles; /* its HELLO names the feature of completions in bundles */
  gboolean resumes;       /* it connects again when irisd has ended, and takes GOING */
  gboolean has_session;   /* and sends again what may not have come: */
  guint8 session[IRIS_WIRE_SESSION_SIZE];
  IrisdBundle *bundle;  /* completions of this turn, or NULL */
  GQueue held;          /* items whose completion is unacknowledged */
  guint n_fetches;      /* unanswered requests whose answers take a credit */
  guint n_questions;    /* its other unanswered requests about persistent items */
  GQueue followers;     /* of those: what follows an output (irisd-follow-requests.c) */
  GQueue far_followers; /* likewise, at another node (irisd-follow-elsewhere.c) */
  GList age_link;       /* in the table's list, least recently heard first */
  GList backlog_link;
  IrisdWorkerProcess *worker_process; /* if it said READY */
  gboolean reads_streams;             /* is in the gateway's list of peers watched for READY */
  GList stream_link;
  guint turn; /* the gateway's turn in which it last sent items, and how many */
  guint turn_items;
  gboolean in_receive_backlog; /* its messages wait: */
  IrisdBatch *batch; /* behind this batch, which is being read, or in the receive backlog */
  IrisdMails mails;
  GList receive_link;
  IrisdRoute route;
  IrisdConnection connection; /* by which HELLO came */
};

typedef struct
{
  GHashTable *by_route;
  GQueue by_age;
} IrisdPeers;

/* Returns the view of a request of @self: an owner, or IRISD_VIEW_ALL. */
static inline gint64
irisd_peer_get_view (const IrisdPeer *self, IrisWireType request)
{
  return irisd_policy_get_view ((guint8) request, self->roles, self->owner);
}

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
