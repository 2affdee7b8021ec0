/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * What the files of IrisdGuest share.
 */
#pragma once

#include "daemon/cluster/bridge/irisd-chain-link.h"
#include "daemon/cluster/bridge/irisd-end-words.h"
#include "daemon/cluster/bridge/irisd-guest-output.h"
#include "daemon/cluster/bridge/irisd-guest.h"
#include "daemon/cluster/bridge/irisd-late-acks.h"
#include "daemon/cluster/bridge/irisd-put-anew.h"
#include "daemon/cluster/bridge/irisd-uncounted.h"

G_BEGIN_DECLS

struct _IrisdGuest
{
  const IrisdBridgeShared *shared;
  IrisdGuestEndFunc own_end;
  IrisdGuestLaneFunc delivered;
  gpointer user_data;
  guint n_workers; /* of this node */
  guint lost_attempts;
  IrisdUncounted *uncounted;
  IrisdBridgeLink *link;
  IrisdGuestTable *table;
  IrisdGuestOutputs *outputs;
  IrisdEngineSubscription *cancels;
  GSource *timer;
  IrisdEndWords *words;
  IrisdLateAcks *late; /* of items that have ended */
  GPtrArray *lanes;
  GQueue links;          /* IrisdChainLink: those under way */
  IrisdMembers *members; /* NULL: none yet */
  GByteArray *acks;      /* request ids of completions that were taken */
  gboolean closing;      /* irisd takes no more items, until its end */
  gboolean closed;       /* and all lanes were withdrawn */
  guint64 max_body;      /* that irisd takes */
  gboolean told_full;    /* the log says that results wait for room */
  gboolean stopped;
  IrisWireEncoder encoder;
  IrisdGuestCounts counts;
};

struct _IrisdGuestLane
{
  IrisdGuest *guest;
  IrisdPull *pull; /* NULL once it is closed */
  IrisdPullKind kind;
  guint window;
  gboolean withdrawn; /* its owner has given it up, and it ends with its pull */
};

/* What follows when the home has all that the run has written. */
typedef enum
{
  IRISD_GUEST_AFTER_NOTHING, /* it still runs */
  IRISD_GUEST_AFTER_END,
  IRISD_GUEST_AFTER_RETRY,
} IrisdGuestAfter;

/* The owner's data of an IrisdGuestItem. */
typedef struct
{
  IrisdGuest *guest;
  IrisdGuestItem *item;
  IrisdGuestLane *lane; /* NULL once it is closed */
  gpointer kept;        /* what the following borrow from */
  IrisdDelivered delivered;
  IrisdWorkMessage message;
  IrisWireMessage submit;
  guint8 *end; /* NULL until it has ended */
  gsize end_size;
  guint64 n_tries;      /* deliveries that may have run, this one included; of all its messages */
  guint64 copy;         /* what is left of it where it waited for its time; 0: nothing */
  IrisdChainLink *link; /* the schedule goes on before it runs; NULL once that is done */
  gboolean lost;        /* another end was there */
  gboolean ending;      /* it counts as one */
  GBytes *body;         /* of the item, if it was not in the message */
  GBytes *result;       /* of the end, if that is too large for a message, until it is stored */
  gboolean stored;      /* it is: */
  IrisdObjectReference reference;
  IrisdObjectTransfer *transfer; /* of the body or the result, while it is under way */
  IrisdGuestOutput *output;      /* NULL while irisd does not have it */
  IrisdGuestAfter after;
  guint64 after_ms; /* of a retry */
} IrisdGuestRecord;

void irisd_guest_hurry (IrisdGuest *self);
void irisd_guest_leave_window (IrisdGuestRecord *guest);
void irisd_guest_make_error (IrisdGuest *self,
                             IrisdGuestRecord *guest,
                             IrisWireError code,
                             const char *text);
void irisd_guest_go_on (IrisdGuest *self, IrisdGuestRecord *guest);
void irisd_guest_leave_irisd (IrisdGuest *self,
                              IrisdGuestRecord *guest,
                              IrisdGuestAfter after,
                              guint64 after_ms);
void irisd_guest_end_with_error (IrisdGuest *self,
                                 IrisdGuestRecord *guest,
                                 IrisWireError code,
                                 const char *text);
void irisd_guest_end (IrisdGuest *self, IrisdGuestRecord *guest, const IrisWireMessage *completion);
char *irisd_guest_get_end_subject (const IrisdGuestRecord *guest);
void irisd_guest_publish_end (IrisdGuestItem *item, gpointer user_data);
void irisd_guest_fetch_body (IrisdGuestItem *item, gpointer user_data);
void irisd_guest_remove_result (IrisdGuest *self, IrisdGuestRecord *guest);
IrisdChainLink *irisd_guest_make_link (IrisdGuest *self,
                                       const IrisdGuestRecord *guest,
                                       const IrisdEngineMessage *message);
guint64 irisd_guest_mean (guint64 mean, guint64 value);

G_END_DECLS
