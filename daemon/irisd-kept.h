/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * The items that irisd keeps beyond a connection, and perhaps beyond its own life.
 */
#pragma once

#include "irisd-policy.h"
#include "irisd-sheet.h"
#include "irisd-waiting.h"

#include <stdatomic.h>
#include <sys/queue.h>

G_BEGIN_DECLS

typedef struct _IrisdLane IrisdLane;
typedef struct _IrisdPeer IrisdPeer;
typedef struct _IrisdSlip IrisdSlip;
typedef struct _IrisdKept IrisdKept;

/**
 * IrisdKept:
 *
 * A kept item. It belongs to the journal's thread from the moment that it is handed over; a worker
 * may set @state while it has the item. There may be millions, so it is small.
 */
struct _IrisdKept
{
  guint64 item; /* first, because it is the key of a table */
  gint64 owner; /* constant; also the gateway may read it */
  guint32 attempts;
  guint32 crashes;
  gint32 home;
  guint16 code; /* why it is buried, an IrisWireError */
  guint16 key_size;
  guint8 klass;
  guint8 written : 1;   /* the store has a row of it */
  guint8 dirty : 1;     /* what the store has is not the latest */
  guint8 forgotten : 1; /* only waits until its row is gone as well */
  _Atomic guint8 state; /* an IrisWireState; behind what is read together, because workers set it */
  guint8 in_lane;       /* the gateway's, see below; here for the same reason */
  guint64 accepted_ms;
  guint64 ended_ms;
  guint64 keep_ms;
  guint64 due_ms;             /* see IrisdRecord */
  _Atomic guint64 started_ms; /* Unix time at which the latest attempt began, or 0; as state is */
  guint64 size;               /* of its payload, then of its result */
  GRefString *service;        /* shared by all items of it, and gone with the last of them */
  char *sentence;             /* why it is buried, or NULL */
  IrisdSheetRow *row;         /* NULL, or what the store does not have yet */
  IrisdSlip *waits;           /* those who want to know how it ends */
  IrisdKept *previous, *next; /* of all */
  IrisdKept *own_previous, *own_next; /* of its owner's */
  IrisdKept *next_dirty;

  /* The gateway's, while the item is cold (irisd-cold.c): it waits for its time, or, if it is in a
   * lane, for its turn. The journal's, once it was cancelled: it is in a queue of those. */
  union
  {
    IrisdWaiter waiter;
    struct
    {
      TAILQ_ENTRY (_IrisdKept) in_queue;
      IrisdLane *lane;
    };
  };
  IrisdPeer *peer;

  char key[];
};

/**
 * IrisdKeptOwner:
 * @owner: a user
 * @first: the first of that user's items
 * @last: the last of them
 *
 * The items of one user, in the order of their numbers: what a user asks for costs as much as that
 * user's items, not as much as those of others.
 */
typedef struct
{
  gint64 owner; /* first, because it is the key of a table */
  IrisdKept *first;
  IrisdKept *last;
} IrisdKeptOwner;

/**
 * IrisdKeptTable:
 * @n_items: items in it
 * @n_ended: of which have ended
 * @n_cancelled: of which were cancelled
 *
 * All kept items, by number, by owner and key, and in the order of their numbers. One thread at a
 * time.
 */
typedef struct
{
  guint n_items;
  guint n_ended;
  guint n_cancelled;
  IrisdKept *first;
  IrisdKept *last;

  /*< private >*/
  GHashTable *by_item;
  GHashTable *by_key;
  TAILQ_HEAD (, _IrisdKept) cancelled; /* in the order in which they ended */
  GHashTable *by_owner;                /* of IrisdKeptOwner, which stay */
} IrisdKeptTable;

IrisdKept *irisd_kept_new (const IrisdRecord *record, const IrisdKept *like);
void irisd_kept_free (IrisdKept *self);
gboolean irisd_kept_has_ended (IrisdKept *self);
int irisd_kept_get_state (IrisdKept *self);
void irisd_kept_set_state (IrisdKept *self, IrisWireState state);
void irisd_kept_note_start (IrisdKept *self, IrisWireState state);
guint64 irisd_kept_get_expiry (IrisdKept *self);
void irisd_kept_set_row (IrisdKept *self,
                         IrisWireState state,
                         guint8 type,
                         IrisWireFrame header,
                         IrisWireFrame body);
void irisd_kept_take_row (IrisdKept *self, IrisdSheetRow *row);
IrisdRow irisd_kept_get_row (const IrisdKept *self);
void irisd_kept_clear_row (IrisdKept *self);
void irisd_kept_set_reason (IrisdKept *self, guint32 code, const char *sentence);
void irisd_kept_describe (IrisdKept *self, IrisWireKeptItem *out);

void irisd_kept_table_init (IrisdKeptTable *self);
void irisd_kept_table_clear (IrisdKeptTable *self);
void irisd_kept_table_add (IrisdKeptTable *self, IrisdKept *kept);
void irisd_kept_table_remove (IrisdKeptTable *self, IrisdKept *kept);
void irisd_kept_table_note_end (IrisdKeptTable *self, IrisdKept *kept);
IrisdKept *irisd_kept_table_get_cancelled (IrisdKeptTable *self);
IrisdKept *irisd_kept_table_lookup (IrisdKeptTable *self, guint64 item);
IrisdKept *irisd_kept_table_get_first (IrisdKeptTable *self, gint64 view, gboolean descending);
IrisdKept *irisd_kept_get_next (const IrisdKept *self, gint64 view, gboolean descending);
IrisdKept *irisd_kept_table_lookup_key (IrisdKeptTable *self, IrisdKept *other);

guint64 irisd_unix_ms (void);

G_END_DECLS
