/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * The name that an item for another node has in the cluster, in its stored SUBMIT.
 */
#pragma once

#include "daemon/store/irisd-record.h"

G_BEGIN_DECLS

void irisd_cluster_name_renew (IrisdBlob *header);

G_END_DECLS
