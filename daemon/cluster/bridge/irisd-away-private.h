/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * What the files of IrisdAway share.
 */
#pragma once

#include "daemon/cluster/bridge/irisd-away-output.h"
#include "daemon/cluster/bridge/irisd-away.h"
#include "daemon/cluster/bridge/irisd-chains.h"
#include "daemon/cluster/bridge/irisd-ended-bodies.h"
#include "daemon/cluster/bridge/irisd-later.h"

G_BEGIN_DECLS

struct _IrisdAway
{
  const IrisdBridgeShared *shared;
  IrisdAwayAskFunc ask;
  IrisdAwayCatchUpFunc catch_up;
  gpointer user_data;
  IrisdBridgeLink *link;
  IrisdAwayTable *table;
  IrisdAwayOutputs *outputs;
  IrisdLater *later;
  IrisdChains *chains;
  IrisdEngineSubscription *ends;
  GSource *timer;
  guint capacity;
  guint64 last_item; /* the greatest number in the journal when the connection began */
  gboolean listing;  /* that number was asked for */
  gboolean was_connected;
  gboolean stopped;
  gboolean told_wait; /* the log says that items wait because of their bodies */
  guint64 max_body;   /* that irisd takes */
  IrisdEndedBodies *ended;
  IrisWireEncoder encoder;
  IrisdAwayCounts counts;
};

/* The owner's data of an IrisdAwayItem. */
typedef struct
{
  IrisdAway *away;
  IrisdAwayItem *item;
  IrisdAwayOutput *output;
  char *subject;
  char id[IRISD_ITEM_TEXT_SIZE];
  guint8 *message; /* NULL once the stream has it */
  gsize size;
  GBytes *body;      /* to be stored before @message is published, or NULL */
  gboolean large;    /* its body is or was stored beside the message */
  guint64 number;    /* of the item here */
  gboolean timed;    /* it has waited for its time, so the cluster may have a copy */
  gboolean run;      /* of a schedule, likewise */
  gboolean before;   /* it was here before this connection, or may be stored already */
  gboolean searched; /* what is known of the copy is known */
  guint64 lost;      /* the sequence of a message that is gone, or 0 */
  guint64 copy;      /* the sequence of the copy that waits, or 0 */
  guint8 *end;       /* whose result is read, or NULL */
  gsize end_size;
  IrisdObjectTransfer *transfer; /* of the body or the result, while it is under way */
  IrisWireError refusal;         /* why it is refused before it is published, or 0 */
  gboolean put_off;              /* there is no room for it now */
  char *reason;
} IrisdAwayRecord;

void irisd_away_hurry (IrisdAway *self);
void irisd_away_fail_lease (IrisdAway *self,
                            const guint8 *lease,
                            IrisWireError code,
                            const char *message);
void irisd_away_put_off_lease (IrisdAway *self, const guint8 *lease, const char *message);
char *irisd_away_get_body_owner (IrisdAway *self, const guint8 *item);
gboolean irisd_away_read_lease (IrisdAway *self,
                                const IrisWireMessage *lease,
                                IrisdWorkMessage *message,
                                IrisWireMessage *submit,
                                GError **error);
gboolean
irisd_away_is_run (IrisdAway *self, const IrisdAwayRecord *data, const IrisWireMessage *submit);
void irisd_away_check (IrisdAwayItem *item, gpointer user_data);
void irisd_away_lose (IrisdAwayItem *item, gpointer user_data);
void
irisd_away_take_found (IrisdAway *self, IrisdAwayItem *item, const IrisdEngineMessage *message);

G_END_DECLS
