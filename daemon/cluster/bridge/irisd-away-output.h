/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * What items of this node tell while they run at another one: it goes to irisd as REPORT.
 */
#pragma once

#include "daemon/cluster/bridge/irisd-away-table.h"
#include "daemon/cluster/bridge/irisd-bridge-shared.h"

G_BEGIN_DECLS

typedef struct _IrisdAwayOutputs IrisdAwayOutputs;

/* That of one item. */
typedef struct _IrisdAwayOutput IrisdAwayOutput;

/* The output of an item that is wanted, or NULL. */
typedef IrisdAwayOutput *(*IrisdAwayOutputFindFunc) (const guint8 *item, gpointer user_data);

IrisdAwayOutputs *irisd_away_outputs_new (const IrisdBridgeShared *shared,
                                          IrisdBridgeLink *link,
                                          IrisdAwayOutputFindFunc find,
                                          gpointer user_data);
void irisd_away_outputs_stop (IrisdAwayOutputs *self);
void irisd_away_outputs_free (IrisdAwayOutputs *self);

IrisdAwayOutput *irisd_away_output_new (IrisdAwayOutputs *outputs, const IrisdAwayItem *item);
void irisd_away_output_free (IrisdAwayOutput *self);
void irisd_away_output_lease (IrisdAwayOutput *self, const IrisWireMessage *lease);
void irisd_away_output_grant (IrisdAwayOutput *self, guint64 bytes);

G_DEFINE_AUTOPTR_CLEANUP_FUNC (IrisdAwayOutputs, irisd_away_outputs_free)

G_END_DECLS
