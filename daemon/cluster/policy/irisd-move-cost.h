/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * What it costs to run an item on another node than the one that its hint names, and the backlog
 * from which on that pays.
 *
 * The rule is that of the steal policy of one machine (iris-place-queues-refuse-private.h): a thief
 * expects the backlog of a victim to last
 *
 *     items that wait × mean run time of the victim's items / workers of the victim
 *
 * and takes only if that is no less than what the move costs. JetStream judges for us: a pull of an
 * overflow group is given a message only while at least min_pending wait, so the rule is solved for
 * the backlog,
 *
 *     min_pending = move cost × workers / mean run time.
 *
 * What the owner has pulled already is not in the backlog, and no thief reaches it.
 *
 * The move cost is 3.7 ms for a node of the same rack, the median from publish to a thief at its
 * worst (three servers on one machine, R3 with a sync of each group: 2.1-3.7 ms), and a multiple of
 * that beyond, as the move cost of one machine is one for each unit of distance. The body counts by
 * its size: 16 MiB took 1.3 s to get. It is not measured: a thief cannot tell a slow move from a
 * victim whose queue was too short for a while.
 */
#pragma once

#include "daemon/cluster/policy/irisd-node-view.h"

G_BEGIN_DECLS

#define IRISD_MOVE_COST_NS G_GUINT64_CONSTANT (3700000)
/* Bytes a microsecond, of bodies that come from the object store. */
#define IRISD_MOVE_BANDWIDTH 12
/* A pull with a threshold of one competes with the owner for each item. */
#define IRISD_LEAST_THRESHOLD 2

guint64 irisd_move_cost_get (IrisdNodeDistance distance);
guint64 irisd_move_cost_get_threshold (IrisdNodeDistance distance, const IrisdNodeView *victim);
/* The same without what distance, or size, adds. */
guint64 irisd_move_cost_get_least (const IrisdNodeView *victim);
guint64 irisd_move_cost_get_unsized (IrisdNodeDistance distance, const IrisdNodeView *victim);

G_END_DECLS
