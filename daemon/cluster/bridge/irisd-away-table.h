/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * The items of this node that are in the cluster, and what is to be done with each next.
 *
 * Pure logic: no socket, no thread, no clock of its own. Its owner tells it what has happened, and
 * it says by IrisdAwayFuncs what is to be done; these functions may call back only where it is
 * said. An item is here from its LEASE to its end:
 *
 *     lease ──► LOOKING ──► HELD ──► PUBLISHING ──► OUT ──► end
 *       └───────────────────►┘▲ └─────────┘ refused    │
 *                             later                     └─ looked for now and then
 *
 * * LOOKING: it was leased before, so it may have been published before, and may have ended. Its
 * end is looked for first.
 * * HELD: it waits for room in the window, or until the stream takes items again (the gate).
 * * PUBLISHING: the stream has not said yet that it has it.
 * * OUT: it is in the stream, or runs. Its end is told by a message that may be lost, so it is also
 *   looked for, after 2, 4, 8, 16 and then each 30 seconds. Each `check_us`, and after a reconnect,
 *   it is asked whether the stream still has it. If twice in a row it has neither message nor end,
 *   it is lost: its lease is given back, and the next one begins with LOOKING.
 *
 * Of many items the ends are looked for one after the other, 1,000 a second at most.
 *
 * An end may come in each of these states. A cancelled item is *claimed*: the cancel is written as
 * its end, by which no other end counts any more; then it is taken out of the stream and hosts are
 * told.
 *
 * No item has a timer: those with the same delay stand in a queue, the first is due first.
 */
#pragma once

#include <iris/wire/iris-wire.h>

G_BEGIN_DECLS

typedef struct _IrisdAwayTable IrisdAwayTable;

typedef enum
{
  IRISD_AWAY_LOOKING,
  IRISD_AWAY_HELD,
  IRISD_AWAY_PUBLISHING,
  IRISD_AWAY_OUT,
  IRISD_AWAY_CLAIMING, /* cancelled; the claim is not written yet */
  IRISD_AWAY_GONE,     /* kept only until the stream has answered */
} IrisdAwayState;

/* What the stream said to an item. */
typedef enum
{
  IRISD_AWAY_STORED,
  IRISD_AWAY_STORED_BEFORE, /* it knew the message id: perhaps it has ended meanwhile */
  IRISD_AWAY_FULL,          /* the stream's limit is reached */
  IRISD_AWAY_IN_FLIGHT,     /* an earlier publish of it is not decided */
  IRISD_AWAY_SILENT,        /* no answer, or no quorum, or no connection */
  IRISD_AWAY_REFUSED,       /* it will never be taken */
} IrisdAwayVerdict;

/* Why the gate is closed. */
typedef enum
{
  IRISD_AWAY_GATE_OPEN,
  IRISD_AWAY_GATE_FULL,
  IRISD_AWAY_GATE_NO_QUORUM,
} IrisdAwayGate;

/* Public members are read-only. */
typedef struct
{
  guint8 item[IRIS_WIRE_ID_SIZE];
  guint8 lease[IRIS_WIRE_ID_SIZE];
  gboolean leased; /* @lease holds */
  IrisdAwayState state;
  guint64 sequence; /* in the stream, once it is known */
  gpointer data;    /* of the owner, freed by `forget` */

  /*< private >*/
  gboolean may_be_out; /* it was published, at some time */
  gboolean in_flight;  /* the stream has not answered yet */
  gboolean claimed;    /* no other end counts any more */
  guint looks;
  guint looked_for; /* the stage whose queue it is in */
  gint64 due;
  gint64 extend_due;
  GList link;        /* in the queue of its state */
  GList extend_link; /* among the leased ones */
  gint64 check_due;
  GList check_link; /* once it was OUT */
  guint n_missed;   /* checks in a row that did not find it */
  GQueue *queue;
} IrisdAwayItem;

typedef struct
{
  gint64 extend_us; /* how often a lease is extended */
  gint64 look_us;   /* the first time until its end is looked for */
  gint64 orphan_us; /* how long an item without a lease is kept */
  gint64 check_us;  /* how often it is asked whether the stream still has it */
  guint window;     /* how many may be in PUBLISHING */
} IrisdAwayRules;

typedef struct
{
  void (*publish) (IrisdAwayItem *item, gpointer user_data);
  /* its end is to be looked for; irisd_away_table_end() or _looked() follows */
  void (*look) (IrisdAwayItem *item, gpointer user_data);
  void (*extend) (IrisdAwayItem *item, gpointer user_data);
  /* it will never be taken: answer its lease */
  void (*refuse) (IrisdAwayItem *item, gpointer user_data);
  /* write the cancel as its end; irisd_away_table_claimed() follows */
  void (*claim) (IrisdAwayItem *item, gpointer user_data);
  /* take it out of the stream, if its sequence is known, and tell hosts */
  void (*withdraw) (IrisdAwayItem *item, gpointer user_data);
  void (*forget) (IrisdAwayItem *item, gpointer user_data);
  /* its message and then its end are to be looked for; irisd_away_table_checked() follows if all
   * could be asked and there is no end */
  void (*check) (IrisdAwayItem *item, gpointer user_data);
  /* it has neither: give its lease back, so that irisd leases it again */
  void (*lost) (IrisdAwayItem *item, gpointer user_data);
} IrisdAwayFuncs;

IrisdAwayTable *
irisd_away_table_new (const IrisdAwayRules *rules, const IrisdAwayFuncs *funcs, gpointer user_data);
void irisd_away_table_free (IrisdAwayTable *self);

IrisdAwayItem *irisd_away_table_lease (IrisdAwayTable *self,
                                       const guint8 *item,
                                       const guint8 *lease,
                                       gboolean leased_before,
                                       gint64 now,
                                       gboolean *known);
void irisd_away_table_start (IrisdAwayTable *self, IrisdAwayItem *item, gint64 now);
IrisdAwayItem *irisd_away_table_find (IrisdAwayTable *self, const guint8 *item);
IrisdAwayItem *irisd_away_table_find_lease (IrisdAwayTable *self, const guint8 *lease);

void irisd_away_table_published (IrisdAwayTable *self,
                                 IrisdAwayItem *item,
                                 IrisdAwayVerdict verdict,
                                 guint64 sequence,
                                 gint64 now);
void irisd_away_table_end (IrisdAwayTable *self, IrisdAwayItem *item, gint64 now);
void irisd_away_table_looked (IrisdAwayTable *self, const guint8 *item, gboolean sure, gint64 now);
void
irisd_away_table_checked (IrisdAwayTable *self, IrisdAwayItem *item, gboolean there, gint64 now);
void irisd_away_table_cancel (IrisdAwayTable *self, IrisdAwayItem *item, gint64 now);
void irisd_away_table_claimed (IrisdAwayTable *self, const guint8 *id, gboolean sure, gint64 now);
void irisd_away_table_unlease (IrisdAwayTable *self, IrisdAwayItem *item, gint64 now);
void irisd_away_table_unlease_all (IrisdAwayTable *self, gint64 now);
void irisd_away_table_look_at_all (IrisdAwayTable *self, gint64 now);
void irisd_away_table_open (IrisdAwayTable *self, gint64 now);
void irisd_away_table_set_shut (IrisdAwayTable *self, gboolean shut, gint64 now);
gint64 irisd_away_table_tick (IrisdAwayTable *self, gint64 now);

void irisd_away_table_set_extend (IrisdAwayTable *self, gint64 extend_us);
guint irisd_away_table_get_size (const IrisdAwayTable *self);
guint irisd_away_table_get_held (const IrisdAwayTable *self);
IrisdAwayGate irisd_away_table_get_gate (const IrisdAwayTable *self);

G_DEFINE_AUTOPTR_CLEANUP_FUNC (IrisdAwayTable, irisd_away_table_free)

G_END_DECLS
