/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * What an item for another node has beside a leased one.
 */
#pragma once

#include "daemon/exec/irisd-job.h"
#include "daemon/store/irisd-outputs.h"

G_BEGIN_DECLS

/* The keys of a SUBMIT that say that an item may be for another node. */
#define IRISD_AWAY_KEYS \
  (IRIS_WIRE_BIT (IRIS_WIRE_KEY_NODE) | IRIS_WIRE_BIT (IRIS_WIRE_KEY_ANY_NODE))

/**
 * IrisdAwayItem:
 * @cluster_item: names it in the whole cluster
 * @header: its SUBMIT, as it is encoded; changed only while nothing else has the job
 * @streams: its client wants output as it comes
 * @sent_to: the node that its SUBMIT names, or NULL
 * @kept_later: for the thread that has the job: the cluster may have a copy of the item, which
 *   waits for its time
 * @put_off_us: for the thread that has the job: the bridge wants it later; 0: it does not
 * @node: the node where it ran, or NULL; this and the following for the thread that has the job
 * @place: its place there, or IRIS_PLACE_ANY
 * @worker: its worker there, or -1
 * @run_ns: how long it ran there; 0: not known
 * @attempts: how often; 0: not known
 * @keeps: bytes of its output that are kept for those who follow it; 0: none
 * @keeps_tail: of a longer output the last ones
 * @kept: (nullable): its output; this and the following under the lock of the table of leases, or
 *   for the thread that has the job
 * @kept_run: of which run that is
 * @n_kept: bytes of standard output and of standard error of it
 *
 * The first, the third, the fourth and @keeps are constant.
 */
typedef struct
{
  guint8 cluster_item[IRIS_WIRE_ID_SIZE];
  GBytes *header;
  gboolean streams;
  char *sent_to;
  gboolean kept_later;
  gint64 put_off_us;
  char *node;
  gint place;
  gint worker;
  guint64 run_ns;
  guint attempts;
  guint64 keeps;
  gboolean keeps_tail;
  IrisdKeptOutput *kept;
  guint kept_run;
  gsize n_kept[2];
} IrisdAwayItem;

/* Whether @item, a SUBMIT that was checked, or a stored one, is for another node. One from another
 * node has an owner that the bridge names. */
static inline gboolean
irisd_is_away (const IrisWireMessage *item)
{
  return iris_wire_message_has (item, IRIS_WIRE_KEY_CLUSTER_ITEM)
         && !iris_wire_message_has (item, IRIS_WIRE_KEY_FOR_OWNER);
}

IrisdAwayItem *
irisd_away_item_new (const IrisWireMessage *item, const IrisWireLimits *limits, GError **error);
gboolean irisd_away_item_replace (IrisdAwayItem *self,
                                  const IrisWireMessage *item,
                                  const IrisWireLimits *limits,
                                  GError **error);
void irisd_away_item_free (IrisdAwayItem *self);
void irisd_away_item_reset (IrisdAwayItem *self);
void irisd_away_item_take_end (IrisdAwayItem *self, IrisdJob *job, const IrisWireMessage *end);
void irisd_away_item_keep_output (IrisdAwayItem *self,
                                  const IrisdJob *job,
                                  guint run,
                                  guint channel,
                                  IrisWireFrame bytes);
void irisd_away_item_describe_run (const IrisdAwayItem *self, IrisWireMessage *message);

G_DEFINE_AUTOPTR_CLEANUP_FUNC (IrisdAwayItem, irisd_away_item_free)

G_END_DECLS
