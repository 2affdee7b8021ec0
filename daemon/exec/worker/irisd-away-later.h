/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * Items for other nodes that wait for their time: the cluster's thread is told of them.
 */
#pragma once

#include "daemon/exec/irisd-job.h"

G_BEGIN_DECLS

void irisd_away_later_wait (IrisdJob *job);
void irisd_away_later_recall (IrisdJob *job);
void irisd_away_later_end (IrisdJob *job);

G_END_DECLS
