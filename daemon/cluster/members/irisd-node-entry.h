/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * The entry and the mark of a node as they stand in the bucket: JSON.
 */
#pragma once

#include "daemon/cluster/members/irisd-member-table.h"

G_BEGIN_DECLS

char *irisd_node_sign (const IrisdNode *self, GBytes *secret);
gboolean irisd_node_has_other_secret (const IrisdNode *self, GBytes *secret);
GBytes *irisd_node_encode (const IrisdNode *self);
IrisdNode *irisd_node_decode (const char *name, const void *data, gsize length, GError **error);
GBytes *irisd_member_mark_encode (IrisdMemberMark mark);
gboolean
irisd_member_mark_decode (const void *data, gsize length, IrisdMemberMark *mark, GError **error);

G_END_DECLS
