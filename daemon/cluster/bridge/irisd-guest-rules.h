/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * What an item of another node is here, whether one that failed is tried again, and how long
 * completions are gathered.
 */
#pragma once

#include "daemon/cluster/bridge/irisd-work-message.h"

G_BEGIN_DECLS

void irisd_guest_make_submit (const IrisdWorkMessage *from,
                              const IrisWireMessage *submit,
                              const char *node,
                              IrisWireMessage *out);
guint64 irisd_guest_get_backoff_ms (const IrisWireMessage *submit, guint64 n_tries);
gboolean irisd_guest_may_try_again (const IrisdWorkMessage *from,
                                    const IrisWireMessage *submit,
                                    guint64 n_delivered,
                                    guint64 n_tries,
                                    guint code);
gint64 irisd_guest_get_rest_us (guint64 n_in_hand, guint64 mean_run_ns, guint n_workers);

G_END_DECLS
