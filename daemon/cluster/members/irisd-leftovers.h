/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * What a node leaves in the cluster that no other node may run.
 */
#pragma once

#include "daemon/cluster/engine/irisd-engine.h"

G_BEGIN_DECLS

/* @error is NULL, or why the number is not known. */
typedef void (*IrisdLeftoversFunc) (guint64 n_strict, const GError *error, gpointer user_data);

void irisd_leftovers_count (IrisdEngine *engine,
                            const char *work_stream,
                            const char *node,
                            IrisdLeftoversFunc func,
                            gpointer user_data);

G_END_DECLS
