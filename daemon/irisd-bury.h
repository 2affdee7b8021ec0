/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * Buried items: kept ones that are set aside until somebody has looked at them.
 */
#pragma once

#include "irisd-gateway-private.h"

G_BEGIN_DECLS

/* irisd-bury.c: jobs on their way into the ground. */
void irisd_gateway_take_number (IrisdGateway *self, IrisdJob *job);
void irisd_gateway_let_go_of_number (IrisdGateway *self, IrisdJob *job);
gboolean irisd_gateway_bury_if_failed (IrisdGateway *self, IrisdJob *job);
void irisd_gateway_bury (IrisdGateway *self,
                         IrisdJob *job,
                         IrisWireError code,
                         const char *sentence,
                         IrisdRound *round);
void irisd_gateway_take_bury (IrisdGateway *self, IrisdSlip *slip);

/* irisd-bury-ask.c: KICK, BURY, and CANCEL of what is buried. */
void
irisd_gateway_kick (IrisdGateway *self, const IrisdCaller *caller, const IrisWireMessage *request);
void
irisd_gateway_inter (IrisdGateway *self, const IrisdCaller *caller, const IrisWireMessage *request);
void irisd_gateway_take_kick (IrisdGateway *self, IrisdSlip *slip);
void irisd_gateway_cancel_buried (IrisdGateway *self,
                                  const IrisdCaller *caller,
                                  const IrisWireMessage *request);
void irisd_gateway_take_cancel (IrisdGateway *self, IrisdSlip *slip);
void irisd_gateway_tell_changed (IrisdGateway *self,
                                 const IrisdCaller *caller,
                                 const guint8 *request_id,
                                 guint count);

/* irisd-bury-round.c: both, from gateway to gateway. */
IrisdRound *irisd_round_new (IrisdGateway *gateway, IrisdSlip *slip);
IrisdRound *irisd_round_from_letter (IrisdLetter *letter);
void irisd_round_free (IrisdRound *self);
void irisd_round_fail (IrisdRound *self, const GError *error);
void irisd_gateway_go_round (IrisdGateway *self, IrisdRound *round);
void irisd_gateway_resume_round (IrisdGateway *self, IrisdRound *round);
void irisd_gateway_send_home (IrisdRound *round);

G_END_DECLS
