/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * Items that outlive their client's connection, and, once written, irisd itself.
 */
#pragma once

#include "daemon/base/irisd-timers.h"
#include "daemon/config/irisd-keys.h"
#include "daemon/config/irisd-policy.h"
#include "daemon/base/irisd-item-state.h"
#include "daemon/store/irisd-row-batch.h"

#include <stdatomic.h>
#include <sys/queue.h>

G_BEGIN_DECLS

/* How the key begins that an item has of its session; a key of the protocol has no zero byte. Such
 * an item goes when its end is acknowledged, as one without a key does. */
#define IRISD_SESSION_MARK '\0'

typedef struct _IrisdSpilledFlow IrisdSpilledFlow;
typedef struct _IrisdPeer IrisdPeer;
typedef struct _IrisdJournalRequest IrisdJournalRequest;
typedef struct _IrisdPersistentItem IrisdPersistentItem;
typedef TAILQ_HEAD (_IrisdPersistentItems, _IrisdPersistentItem) IrisdPersistentItems;

/* It belongs to the journal's thread once it is handed over; a worker may set @state while it has
 * the item. There may be millions, so it is small. */
struct _IrisdPersistentItem
{
  guint64 item; /* first, because it is the key of a table */
  gint64 owner; /* constant; the gateway may read it too */
  guint32 attempts;
  guint32 crashes;
  gint32 home;
  guint16 code; /* an IrisWireError if it is buried; its exit code once it is done */
  guint16 key_size;
  guint8 klass;
  guint8 written : 1;        /* the store has a row of it */
  guint8 dirty : 1;          /* what the store has is not the latest */
  guint8 has_submission : 1; /* the store has or gets a record of it as it was submitted */
  guint8 forgotten : 1;      /* only waits until its row is gone as well */
  _Atomic guint8 state; /* an IrisWireState; behind what is read together, because workers set it */
  guint8 in_flow;       /* the gateway's, see below; here for the same reason */
  guint8 suspended;     /* as written; a gateway reads it when it restores the item */
  IrisdItemWord resting; /* its state without a job; `stored` with one */
  _Atomic guint16 queue; /* the index of the queue that it names, 0 for none; a gateway writes */
  guint64 accepted_ms;
  guint64 ended_ms;
  guint64 keep_ms;
  guint64 due_ms;             /* see IrisdRecord */
  _Atomic guint64 started_ms; /* Unix time at which the latest attempt began, or 0; as state is */
  guint64 size;               /* of its payload, then of its result */
  GRefString *service;        /* shared by all items of the service, freed with the last of them */
  char *reason;               /* the reason if it is buried, or NULL */
  IrisdBatchRow *row;         /* NULL, or the row to be written */
  IrisdJournalRequest *waits; /* requests that wait for its end */
  TAILQ_ENTRY (_IrisdPersistentItem) in_all;
  TAILQ_ENTRY (_IrisdPersistentItem) in_own; /* in its owner's */
  STAILQ_ENTRY (_IrisdPersistentItem) next_dirty;

  /* For the gateway while the item is spilled (irisd-spilled.c): it waits for its time or, in a
   * flow, for its turn. For the journal after it was cancelled: it is in a queue of those. */
  union
  {
    IrisdTimer timer;
    struct
    {
      TAILQ_ENTRY (_IrisdPersistentItem) in_queue;
      IrisdSpilledFlow *flow;
    };
  };
  IrisdPeer *peer;

  char key[];
};

/* The items of one user, in the order of their numbers: a user's request costs as much as that
 * user's items, not as much as all. */
typedef struct
{
  gint64 owner; /* first, because it is the key of a table */
  IrisdPersistentItems items;
} IrisdPersistentOwner;

/* All persistent items, by number, by owner and key, and in the order of their numbers. One thread
 * at a time. */
typedef struct
{
  guint n_items;     /* items in it */
  guint n_ended;     /* of which have ended */
  guint n_failed;    /* of which failed */
  guint n_cancelled; /* of which were cancelled */
  IrisdPersistentItems all;

  /*< private >*/
  GHashTable *by_item;
  GHashTable *by_key;
  IrisdPersistentItems cancelled; /* in the order in which they ended */
  GHashTable *by_owner;           /* of IrisdPersistentOwner, which stay */
} IrisdPersistentTable;

IrisdPersistentItem *
irisd_persistent_item_new (const IrisdRecord *record, const IrisdPersistentItem *like);
void irisd_persistent_item_free (IrisdPersistentItem *self);
gboolean irisd_persistent_item_has_ended (IrisdPersistentItem *self);
gboolean irisd_persistent_item_has_own_key (const IrisdPersistentItem *self);
int irisd_persistent_item_get_state (IrisdPersistentItem *self);
void irisd_persistent_item_set_state (IrisdPersistentItem *self, IrisWireState state);
gboolean irisd_persistent_item_advance (IrisdPersistentItem *self, IrisdItemEvent event);
void irisd_persistent_item_note_start (IrisdPersistentItem *self, IrisWireState state);
guint64 irisd_persistent_item_get_expiry (IrisdPersistentItem *self);
void irisd_persistent_item_set_row (IrisdPersistentItem *self,
                                    IrisWireState state,
                                    guint8 type,
                                    IrisWireFrame header,
                                    IrisWireFrame body);
void irisd_persistent_item_take_row (IrisdPersistentItem *self, IrisdBatchRow *row);
IrisdRow irisd_persistent_item_get_row (const IrisdPersistentItem *self);
void irisd_persistent_item_clear_row (IrisdPersistentItem *self);
void irisd_persistent_item_set_reason (IrisdPersistentItem *self, guint32 code, const char *reason);
void irisd_persistent_item_describe (IrisdPersistentItem *self, IrisWirePersistentItem *out);

void irisd_persistent_table_init (IrisdPersistentTable *self);
void irisd_persistent_table_clear (IrisdPersistentTable *self);
void irisd_persistent_table_add (IrisdPersistentTable *self, IrisdPersistentItem *persistent);
void irisd_persistent_table_remove (IrisdPersistentTable *self, IrisdPersistentItem *persistent);
void irisd_persistent_table_note_end (IrisdPersistentTable *self, IrisdPersistentItem *persistent);
IrisdPersistentItem *irisd_persistent_table_get_cancelled (IrisdPersistentTable *self);
IrisdPersistentItem *irisd_persistent_table_lookup (IrisdPersistentTable *self, guint64 item);
IrisdPersistentItem *
irisd_persistent_table_get_first (IrisdPersistentTable *self, gint64 view, gboolean descending);
IrisdPersistentItem *
irisd_persistent_item_get_next (const IrisdPersistentItem *self, gint64 view, gboolean descending);
IrisdPersistentItem *
irisd_persistent_table_lookup_key (IrisdPersistentTable *self, IrisdPersistentItem *other);

guint64 irisd_unix_ms (void);

G_END_DECLS
