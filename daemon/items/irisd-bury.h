/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * Buried items: persistent items that failed for good and are set aside for a person.
 */
#pragma once

#include "daemon/gateway/irisd-gateway-private.h"

G_BEGIN_DECLS

void irisd_persistent_register (IrisdGateway *self, IrisdJob *job);
void irisd_persistent_unregister (IrisdGateway *self, IrisdJob *job);
gboolean irisd_bury_if_failed (IrisdGateway *self, IrisdJob *job);
void irisd_bury_job (IrisdGateway *self,
                     IrisdJob *job,
                     IrisWireError code,
                     const char *reason,
                     IrisdBroadcast *broadcast);
void irisd_bury_take_answer (IrisdGateway *self, IrisdJournalRequest *request);

/* irisd-bury-requests.c: KICK, BURY, and CANCEL of buried items. */
void irisd_bury_requests_kick (IrisdGateway *self,
                               const IrisdCaller *caller,
                               const IrisWireMessage *request);
void irisd_bury_requests_bury (IrisdGateway *self,
                               const IrisdCaller *caller,
                               const IrisWireMessage *request);
void irisd_bury_requests_take_kick (IrisdGateway *self, IrisdJournalRequest *request);
void irisd_bury_requests_cancel (IrisdGateway *self,
                                 const IrisdCaller *caller,
                                 const IrisWireMessage *request);
void irisd_bury_requests_take_cancel (IrisdGateway *self, IrisdJournalRequest *request);
void irisd_bury_requests_tell_changed (IrisdGateway *self,
                                       const IrisdCaller *caller,
                                       const guint8 *request_id,
                                       guint count);

/* irisd-bury-broadcast.c */
IrisdBroadcast *irisd_bury_broadcast_new (IrisdGateway *gateway, IrisdJournalRequest *request);

G_END_DECLS
