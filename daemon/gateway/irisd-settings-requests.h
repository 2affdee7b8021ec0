/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * Requests about the settings in force: RELOAD and KEYS.
 */
#pragma once

#include "daemon/gateway/irisd-gateway-private.h"

G_BEGIN_DECLS

void irisd_settings_requests_reload (IrisdGateway *self,
                                     const IrisdCaller *caller,
                                     const IrisWireMessage *request);
void irisd_settings_requests_answer (IrisdMessage *message,
                                     guint n_changed,
                                     const char *text,
                                     const GError *error);
void irisd_settings_requests_answer_keys (IrisdGateway *self,
                                          const IrisdCaller *caller,
                                          const IrisWireMessage *request);
void irisd_settings_requests_drop (IrisdMessage *messages);

G_END_DECLS
