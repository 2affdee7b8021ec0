/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * The bridge: the part of the cluster thread that carries items between irisd and the cluster. To
 * irisd it is a worker process and a client, over IRS1.
 */
#pragma once

#include "daemon/cluster/bridge/irisd-away.h"
#include "daemon/cluster/bridge/irisd-guest.h"
#include "daemon/cluster/members/irisd-members.h"
#include "daemon/cluster/members/irisd-chain-note.h"

G_BEGIN_DECLS

typedef struct _IrisdBridge IrisdBridge;

/* All is copied but the engine, the contexts, the endpoint and the token. */
typedef struct
{
  IrisdEngine *engine;
  GMainContext *context;
  void *zmq;
  const char *endpoint; /* irisd's own front door, in its ZeroMQ context */
  const char *token;    /* routing ids of irisd's own threads begin with it */
  const char *node;     /* this one */
  GBytes *secret;
  const char *work_stream;
  const char *ends_stream;
  const char *later_stream;
  const char *bodies_stream;
  const char *bodies_bucket;
  guint64 lease_ms;    /* ack_wait of the consumers */
  guint lost_attempts; /* deliveries of an item beyond its tries */
  guint64 max_away;    /* items of this node that may be in the cluster */
  guint n_workers;     /* of this node */
  guint pull_window;   /* items that are asked for ahead, for each worker */
  guint
      steal_threshold; /* waiting items of a node from which others steal; 0: the policy chooses */
  /* what irisd does now */
  void (*measure) (IrisdHostLoad *load, gpointer user_data);
  /* notes of items that wait have come before a lease: gives them to irisd_bridge_take_note() */
  void (*catch_up) (gpointer user_data);
  /* this node's entry is to be put at once */
  void (*news) (gpointer user_data);
  gpointer user_data;
} IrisdBridgeOptions;

IrisdBridge *irisd_bridge_new (const IrisdBridgeOptions *options, GError **error);
void irisd_bridge_stop (IrisdBridge *self);
void irisd_bridge_free (IrisdBridge *self);

void irisd_bridge_take_note (IrisdBridge *self, IrisdLaterNote *note);
void irisd_bridge_take_chain (IrisdBridge *self, IrisdChainNote *note);
void irisd_bridge_follow_engine (IrisdBridge *self);
void irisd_bridge_close (IrisdBridge *self);
gboolean irisd_bridge_is_empty (const IrisdBridge *self);
void irisd_bridge_set_member (IrisdBridge *self, gboolean member);
void irisd_bridge_set_taking (IrisdBridge *self, gboolean taking);
void irisd_bridge_follow_members (IrisdBridge *self, IrisdMembers *members);
void irisd_bridge_describe (IrisdBridge *self, IrisdNodeLoad *load);
void irisd_bridge_note_told (IrisdBridge *self, const IrisdNode *node, gint64 now);
void irisd_bridge_get_counts (IrisdBridge *self, IrisdClusterCounts *counts);

G_DEFINE_AUTOPTR_CLEANUP_FUNC (IrisdBridge, irisd_bridge_free)

G_END_DECLS
