/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * A gateway: the thread that serves one ROUTER socket, of a place or of the front.
 */
#pragma once

#include "daemon/exec/irisd-core.h"

G_BEGIN_DECLS

/* The front gateway's place. */
#define IRISD_FRONT (-1)

/**
 * IrisdGatewayCounters:
 *
 * Counters of a gateway. Its thread writes, any thread may read.
 */
typedef struct
{
  _Alignas(64) _Atomic guint64 peers;
  _Atomic guint64 accepted;
  _Atomic guint64 ended;
  _Atomic guint64 failed;
  _Atomic guint64 malformed;
  _Atomic guint64 refused;
} IrisdGatewayCounters;

IrisdGateway *irisd_gateway_new (IrisdCore *core, gint place, void *socket, GError **error);
void irisd_gateway_free (IrisdGateway *self);
void irisd_gateway_start (IrisdGateway *self);
void irisd_gateway_join (IrisdGateway *self);
void irisd_gateway_wake (IrisdGateway *self);
void irisd_gateway_note_disconnect (gpointer gateway);
IrisdPhase irisd_gateway_get_phase (IrisdGateway *self);
IrisdMailbox *irisd_gateway_get_mailbox (IrisdGateway *self);
const IrisdGatewayCounters *irisd_gateway_get_counters (IrisdGateway *self);

/* irisd-persistent.c */
void
irisd_restore_run (IrisdGateway *self, const IrisdRecord *record, IrisdPersistentItem *persistent);

G_END_DECLS
