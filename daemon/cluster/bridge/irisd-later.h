/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * Copies of items of this node that wait for their time, in the stream of schedules: if this node
 * is down when the time has come, the servers make an item of the copy, and other nodes run it.
 *
 * A copy is due GRACE after the item. So while this node runs the copy never becomes an item by
 * itself: the node has it fired, or removes it, before. All that it does to a copy is conditional
 * on the copy's sequence or is asked one at a time, so an item is not there twice.
 */
#pragma once

#include "daemon/cluster/bridge/irisd-bridge-shared.h"
#include "daemon/cluster/bridge/irisd-later-table.h"

G_BEGIN_DECLS

/* How long after the item its copy is due. */
#define IRISD_LATER_GRACE_MS 2000

/* How long what is due stays, also in the stream of items. */
#define IRISD_LATER_TTL "720h"

typedef struct _IrisdLater IrisdLater;

IrisdLater *irisd_later_new (const IrisdBridgeShared *shared);
void irisd_later_set_shut (IrisdLater *self, gboolean shut);
void irisd_later_stop (IrisdLater *self);
void irisd_later_free (IrisdLater *self);

void irisd_later_keep (IrisdLater *self,
                       const guint8 *id,
                       char *subject,
                       guint8 *message,
                       gsize size,
                       guint64 due_ms);
void irisd_later_recall (IrisdLater *self, const guint8 *id);
void irisd_later_drop (IrisdLater *self, const guint8 *id);
IrisdLaterFound irisd_later_take (IrisdLater *self, const guint8 *id, guint64 *sequence);

char *irisd_later_get_subject (const IrisdBridgeShared *shared, const guint8 *id);
char *irisd_later_get_due_subject (const char *work, const guint8 *id);
char *irisd_later_format_time (guint64 ms);
void irisd_later_store_next (const IrisdBridgeShared *shared,
                             const IrisdEnginePublication *copy,
                             const guint8 *id,
                             const char *work,
                             guint64 begin_ms,
                             const char *subject,
                             guint64 sequence,
                             IrisdPublishFunc callback,
                             gpointer user_data);
void irisd_later_fire (const IrisdBridgeShared *shared,
                       const guint8 *id,
                       const char *work,
                       guint64 sequence,
                       gconstpointer message,
                       gsize size,
                       IrisdPublishFunc callback,
                       gpointer user_data);
void irisd_later_withdraw (const IrisdBridgeShared *shared, const guint8 *id, const char *work);
void irisd_later_remove_copy (const IrisdBridgeShared *shared, guint64 sequence);

G_END_DECLS
