/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * Items of this node that are in the cluster: irisd leases them to the bridge, which publishes them
 * and answers with their ends.
 */
#pragma once

#include "daemon/cluster/bridge/irisd-away-table.h"
#include "daemon/cluster/bridge/irisd-bridge-shared.h"
#include "daemon/cluster/members/irisd-chain-note.h"

G_BEGIN_DECLS

typedef struct _IrisdAway IrisdAway;

typedef struct
{
  guint n_away; /* leased, and not ended */
  guint n_held; /* of these, not in the stream yet */
  IrisdAwayGate gate;
  guint64 n_published;
  guint64 n_ended;
  guint64 n_looked; /* how often an end was looked for */
  guint64 n_found;  /* ends that were found so, and not told in time */
  guint64 n_failed; /* how often the servers did not store an item */
  guint64 bytes;    /* of items that were published */
} IrisdAwayCounts;

/* irisd has a request about another node: @ask is an ASK, and borrows. Its answer comes by
 * irisd_away_answer(). */
typedef void (*IrisdAwayAskFunc) (const IrisWireMessage *ask, gpointer user_data);

/* A lease of an item that has waited has come: gives the notes about it that were sent before to
 * irisd_away_take_note(). */
typedef void (*IrisdAwayCatchUpFunc) (gpointer user_data);

IrisdAway *irisd_away_new (const IrisdBridgeShared *shared,
                           guint64 max_away,
                           IrisdAwayAskFunc ask,
                           IrisdAwayCatchUpFunc catch_up,
                           gpointer user_data);
void irisd_away_stop (IrisdAway *self);
void irisd_away_free (IrisdAway *self);

void irisd_away_take_note (IrisdAway *self, IrisdLaterNote *note);
void irisd_away_take_chain (IrisdAway *self, IrisdChainNote *note);
void irisd_away_set_ready (IrisdAway *self);
void irisd_away_follow_engine (IrisdAway *self);
void irisd_away_set_shut (IrisdAway *self, gboolean shut);
gboolean irisd_away_answer (IrisdAway *self, const IrisWireMessage *answer);
void irisd_away_take_end (IrisdAway *self, gconstpointer data, gsize size);
void irisd_away_get_counts (const IrisdAway *self, IrisdAwayCounts *counts);

G_DEFINE_AUTOPTR_CLEANUP_FUNC (IrisdAway, irisd_away_free)

G_END_DECLS
