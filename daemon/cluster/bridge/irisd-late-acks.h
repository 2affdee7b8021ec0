/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * Acknowledgements of items of the cluster, sent together.
 *
 * Each group of them costs the servers a round of the consumer's replicas, and none is urgent: once
 * the end of an item is stored, a second delivery finds it. So they wait until there are many, or
 * for a while; if this process is killed meanwhile, the ends of so many items are looked for.
 *
 * Not thread-safe.
 */
#pragma once

#include <glib.h>

G_BEGIN_DECLS

#define IRISD_LATE_ACKS_MOST 256
#define IRISD_LATE_ACKS_US   (G_USEC_PER_SEC / 5)

typedef struct _IrisdLateAcks IrisdLateAcks;

typedef void (*IrisdLateAckFunc) (const char *ack_subject, gpointer user_data);

IrisdLateAcks *irisd_late_acks_new (IrisdLateAckFunc send, gpointer user_data);
void irisd_late_acks_add (IrisdLateAcks *self, const char *ack_subject, gint64 now);
void irisd_late_acks_send (IrisdLateAcks *self);
gint64 irisd_late_acks_tick (IrisdLateAcks *self, gint64 now);
void irisd_late_acks_free (IrisdLateAcks *self);

G_END_DECLS
