/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * Items of the cluster that run here: pulled from consumers, handed to the own irisd as a client,
 * and ended by the first end that is stored.
 */
#pragma once

#include "daemon/cluster/bridge/irisd-bridge-shared.h"
#include "daemon/cluster/bridge/irisd-guest-table.h"
#include "daemon/cluster/members/irisd-members.h"

G_BEGIN_DECLS

typedef struct _IrisdGuest IrisdGuest;

/* A consumer that is pulled from. */
typedef struct _IrisdGuestLane IrisdGuestLane;

/* An end of an item of this very node is stored. */
typedef void (*IrisdGuestEndFunc) (gconstpointer data, gsize size, gpointer user_data);

/* An item came from a lane, whose consumer had so many left. */
typedef void (*IrisdGuestLaneFunc) (IrisdGuestLane *lane, guint64 n_pending, gpointer user_data);

typedef struct
{
  guint n_guests; /* delivered, and not answered */
  guint n_ending; /* of these, have ended, and the stream does not have their end yet */
  guint64 n_delivered;
  guint64 n_again;     /* of these, not for the first time */
  guint64 n_done;      /* acknowledged with an end of this node */
  guint64 n_lost;      /* acknowledged because another node's end was first */
  guint64 n_given;     /* given back */
  guint64 n_dead;      /* dead letters: messages that no node can run */
  guint64 n_failed;    /* how often the servers did not store an end */
  guint64 bytes_in;    /* of items that were delivered */
  guint64 bytes_out;   /* of ends */
  guint64 mean_run_ns; /* of the latest items; 0: none has run */
  guint64 mean_bytes;  /* of the bodies of the latest items */
} IrisdGuestCounts;

IrisdGuest *irisd_guest_new (const IrisdBridgeShared *shared,
                             guint n_workers,
                             guint lost_attempts,
                             IrisdGuestEndFunc own_end,
                             IrisdGuestLaneFunc delivered,
                             gpointer user_data);
void irisd_guest_set_members (IrisdGuest *self, IrisdMembers *members);
void irisd_guest_stop (IrisdGuest *self);
void irisd_guest_free (IrisdGuest *self);

IrisdGuestLane *irisd_guest_open (IrisdGuest *self,
                                  const char *consumer,
                                  IrisdPullKind kind,
                                  guint window,
                                  guint64 min_pending);
void irisd_guest_lane_set (IrisdGuestLane *self, guint window, guint64 min_pending);
void irisd_guest_lane_ask (IrisdGuestLane *self, guint n, guint64 min_pending);
gboolean irisd_guest_lane_is_over (const IrisdGuestLane *self);
IrisdPullKind irisd_guest_lane_get_kind (const IrisdGuestLane *self);
guint64 irisd_guest_lane_get_backlog (const IrisdGuestLane *self);
void irisd_guest_lane_close (IrisdGuestLane *self);
void irisd_guest_lane_withdraw (IrisdGuestLane *self);

void irisd_guest_close (IrisdGuest *self);
gboolean irisd_guest_is_empty (const IrisdGuest *self);

void irisd_guest_get_counts (const IrisdGuest *self, IrisdGuestCounts *counts);

G_DEFINE_AUTOPTR_CLEANUP_FUNC (IrisdGuest, irisd_guest_free)

G_END_DECLS
