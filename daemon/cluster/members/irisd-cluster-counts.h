/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * What this node has done in the cluster, in numbers: plain values that the cluster thread counts
 * and STATISTICS tells.
 */
#pragma once

#include <glib.h>

G_BEGIN_DECLS

/* The distances of IrisdNodeDistance that another node can have: rack, zone, further. */
#define IRISD_CLUSTER_N_DISTANCES 3

/* The verdicts of IrisStealVerdict from BACKLOG on: why a node was left alone. */
#define IRISD_CLUSTER_N_REFUSALS 4

typedef struct
{
  guint64 n_away;      /* items of this node that the cluster has, and that have not ended */
  guint64 n_held;      /* of these, not stored by the servers yet */
  guint64 n_guests;    /* items of the cluster that are here, and not answered */
  guint64 n_published; /* items that the servers have stored for this node, also below: since its
                          irisd was started */
  guint64 n_ended;     /* of these, that have ended */
  guint64 n_found;     /* of these, whose end was not told in time and was looked for */
  guint64 n_delivered; /* items that came here */
  guint64 n_again;     /* of these, that were delivered before, to this or to another node */
  guint64 n_done;      /* whose end this node has stored */
  guint64 n_lost;      /* that another end was stored of first */
  guint64 n_given;     /* that this node gave back */
  guint64 n_dead;      /* that no node can run: copied to the dead letters */
  guint64 n_failed;    /* items and ends that the servers did not store: no answer, or refused */
  guint64 bytes_sent;  /* of items and ends */
  guint64 bytes_received;
  guint64 n_rescued; /* items that were taken from a node that is gone or drains */
  guint64 n_stolen[IRISD_CLUSTER_N_DISTANCES]; /* items that were taken from others, by distance */
  guint64 n_refused[IRISD_CLUSTER_N_REFUSALS]; /* looks at others that were left alone, by reason */
  guint64 n_lapsed; /* others that were taken from all the same, because they stood still */
} IrisdClusterCounts;

G_END_DECLS
