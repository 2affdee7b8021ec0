/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * An inquiry: a CANCEL for an item of any connection, on its way from gateway to gateway.
 */
#pragma once

#include "irisd-gateway-private.h"

G_BEGIN_DECLS

typedef struct _IrisdInquiry IrisdInquiry;

IrisdInquiry *irisd_inquiry_from_letter (IrisdLetter *letter);
void irisd_inquiry_free (IrisdInquiry *self);

/* Asks all connections of this gateway, then those of the others, for @request's target; the answer
 * goes to @caller, sooner or later. */
void irisd_gateway_cancel_anywhere (IrisdGateway *self,
                                    const IrisdCaller *caller,
                                    const IrisWireMessage *request);

/* Cancels the item of a number, of whatever connection and gateway. */
void irisd_gateway_cancel_number (IrisdGateway *self,
                                  const IrisdCaller *caller,
                                  const IrisWireMessage *request);

/* An inquiry has come to this gateway: from another one, or back. */
void irisd_gateway_inquire (IrisdGateway *self, IrisdInquiry *inquiry);

/* The item that it is about is cold and cannot be read for now: it goes home. */
void irisd_inquiry_fail (IrisdInquiry *inquiry, const GError *error);

/* The item that it is about was cold here, and is not any more. */
void irisd_gateway_resume_inquiry (IrisdGateway *self, IrisdInquiry *inquiry);

G_END_DECLS
