/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * A gateway: the thread that serves one ROUTER socket, of a place or of the front.
 */
#pragma once

#include "daemon/exec/irisd-core.h"

G_BEGIN_DECLS

IrisdGateway *irisd_gateway_new (IrisdCore *core, gint place, void *socket, GError **error);
void irisd_gateway_free (IrisdGateway *self);
void irisd_gateway_start (IrisdGateway *self);
void irisd_gateway_join (IrisdGateway *self);
void irisd_gateway_wake (IrisdGateway *self);
void irisd_gateway_note_disconnect (gpointer gateway);
IrisdPhase irisd_gateway_get_phase (IrisdGateway *self);
IrisdMailbox *irisd_gateway_get_mailbox (IrisdGateway *self);
void irisd_gateway_restore_item (IrisdGateway *self,
                                 const IrisdRecord *record,
                                 IrisdPersistentItem *persistent);

void irisd_gateway_load_record (IrisdGateway *self, const IrisdNamedRecord *record);
void irisd_gateway_start_schedules (IrisdGateway *self);

G_END_DECLS
