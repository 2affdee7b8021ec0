/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * Words to the homes of items: the ends that are stored. Those of one turn of the cluster thread
 * for one home go together.
 */
#pragma once

#include "daemon/cluster/bridge/irisd-bridge-shared.h"

G_BEGIN_DECLS

typedef struct _IrisdEndWords IrisdEndWords;

IrisdEndWords *irisd_end_words_new (const IrisdBridgeShared *shared);
void irisd_end_words_add (IrisdEndWords *self, const char *home, gconstpointer end, gsize size);
void irisd_end_words_stop (IrisdEndWords *self);
void irisd_end_words_free (IrisdEndWords *self);

G_DEFINE_AUTOPTR_CLEANUP_FUNC (IrisdEndWords, irisd_end_words_free)

G_END_DECLS
