/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * Items of other nodes that were delivered to this one, and what is to be done with each next.
 *
 * Pure logic, as IrisdAwayTable. An item is here from its delivery until it is acknowledged or
 * given back:
 *
 *     delivered ──► RUNNING ──► ENDING ──► stored ──► told, acknowledged
 *         │           ▲  │         │
 *         │           │  │         └─ another end was there ──► READING ──► told, acknowledged
 *         ▼           │  ▼
 *      LOOKING ───────┘ WAITING (irisd is busy)
 *
 * * LOOKING: it was delivered before, so it may have ended. Its end is looked for before it runs.
 * * FETCHING, before RUNNING: its body is read from the store of large bodies.
 * * RUNNING: irisd has it.
 * * WAITING: irisd had no room; it is submitted again after a pause.
 * * ENDING: its end is on the way to the stream of ends, as the first and only one of its subject.
 * * READING: there was an end already: perhaps ours, of which the answer was lost, perhaps of
 * another node. Either way it is the end: it is read and told to the home. If none is found, the
 * one that was under way was lost with its leader: back to ENDING.
 *
 * * LEAVING: this irisd ends, and the item has not. The stream counts deliveries, so a nak would
 * use up one of its tries. Its message is put into the stream anew instead, with a note of what
 * counts, and then the old one is acknowledged. That begins when no consumer delivers here any more
 * (irisd_guest_table_close()), else the new one would come here at once, again and again.
 *
 * The message is acknowledged only when an end is stored, or another message of the item. An
 * acknowledgement that is lost costs one more delivery, which LOOKING answers.
 *
 * A crash while it is LEAVING leaves the old message, the new one, or both; never neither. What was
 * put anew says that its end is to be looked for, and the old one was delivered before, so of both
 * the second to be delivered finds the end of the first, or runs beside it and loses: one end. An
 * answer that was lost is asked for once more under the same id, so there is one new message of
 * each old one; after the servers have forgotten that id, the compare-and-set on its subject, which
 * is the item's own, keeps it so. While an item is here by one of two messages, the other one is
 * sent away for a lease.
 *
 * Until then its time for the acknowledgement is renewed each third of it. When it has run out all
 * the same (the process was stopped), another node runs the item too, and the first end counts.
 */
#pragma once

#include <iris/wire/iris-wire.h>

G_BEGIN_DECLS

typedef struct _IrisdGuestTable IrisdGuestTable;

typedef enum
{
  IRISD_GUEST_LOOKING,
  IRISD_GUEST_WAITING,
  IRISD_GUEST_FETCHING,
  IRISD_GUEST_RUNNING,
  IRISD_GUEST_ENDING,
  IRISD_GUEST_READING,
  IRISD_GUEST_LEAVING,
  IRISD_GUEST_DONE, /* kept only until the stream has answered */
} IrisdGuestState;

/* What the stream of ends said, or that of items of a message that is put anew. */
typedef enum
{
  IRISD_GUEST_STORED,
  IRISD_GUEST_OTHER_END, /* there is one already; of an end */
  IRISD_GUEST_LATER,     /* full, no quorum, no answer: try again */
  IRISD_GUEST_REFUSED,   /* it will never be taken */
} IrisdGuestVerdict;

/* Public members are read-only but for @data, and @wants_body before the start. */
typedef struct
{
  guint8 item[IRIS_WIRE_ID_SIZE];
  guint8 request[IRIS_WIRE_ID_SIZE]; /* of its SUBMIT */
  IrisdGuestState state;
  char *ack;           /* where the latest delivery is to be acknowledged */
  guint64 sequence;    /* of its message in the stream */
  guint64 n_tries;     /* deliveries, this one included */
  gboolean unsure;     /* and perhaps there were more */
  gboolean wants_body; /* it is to be fetched before irisd gets the item */
  gpointer data;       /* of the owner, freed by `forget` */

  /*< private >*/
  gboolean in_flight;
  gboolean cancelled;
  guint n_busy;
  guint n_later;
  guint n_reads;
  gint64 due;
  gint64 renew_due;
  GList link;
  GList renew_link;
  GQueue *queue;
} IrisdGuestItem;

typedef struct
{
  gint64 renew_us; /* how often the time for the acknowledgement is renewed */
  gint64 look_us;  /* after so long the stream is asked again for an end */
} IrisdGuestRules;

typedef struct
{
  /* look for its end; irisd_guest_table_looked() follows */
  void (*look) (IrisdGuestItem *item, gpointer user_data);
  /* read its body; irisd_guest_table_fetched() or _end() follows. It may be asked again before */
  void (*fetch) (IrisdGuestItem *item, gpointer user_data);
  /* hand it to irisd with a new `request`. FALSE: there is no connection */
  gboolean (*submit) (IrisdGuestItem *item, gpointer user_data);
  /* stop it; its completion follows */
  void (*stop) (IrisdGuestItem *item, gpointer user_data);
  /* publish its end, which the owner has; irisd_guest_table_published() follows */
  void (*publish) (IrisdGuestItem *item, gpointer user_data);
  /* its end is stored: tell its home */
  void (*tell) (IrisdGuestItem *item, gpointer user_data);
  void (*acknowledge) (IrisdGuestItem *item, gpointer user_data);
  /* put its message into the stream anew; irisd_guest_table_put_anew() follows */
  void (*put_anew) (IrisdGuestItem *item, gpointer user_data);
  /* another message of it is stored: acknowledge this one */
  void (*hand_over) (IrisdGuestItem *item, gpointer user_data);
  /* to be delivered again, to any node that may have it, after @delay_ms */
  void (*give_back) (IrisdGuestItem *item, guint64 delay_ms, gpointer user_data);
  void (*renew) (IrisdGuestItem *item, gpointer user_data);
  void (*forget) (IrisdGuestItem *item, gpointer user_data);
} IrisdGuestFuncs;

IrisdGuestTable *irisd_guest_table_new (const IrisdGuestRules *rules,
                                        const IrisdGuestFuncs *funcs,
                                        gpointer user_data);
void irisd_guest_table_free (IrisdGuestTable *self);

IrisdGuestItem *irisd_guest_table_deliver (IrisdGuestTable *self,
                                           const guint8 *item,
                                           const char *ack,
                                           guint64 sequence,
                                           guint64 n_tries,
                                           gint64 now,
                                           gboolean *known);
void irisd_guest_table_start (IrisdGuestTable *self, IrisdGuestItem *item, gint64 now);
IrisdGuestItem *irisd_guest_table_find (IrisdGuestTable *self, const guint8 *item);
IrisdGuestItem *irisd_guest_table_find_request (IrisdGuestTable *self, const guint8 *request);

void irisd_guest_table_looked (IrisdGuestTable *self,
                               const guint8 *item,
                               gboolean found,
                               gboolean sure,
                               gint64 now);
void
irisd_guest_table_fetched (IrisdGuestTable *self, IrisdGuestItem *item, gboolean found, gint64 now);
void irisd_guest_table_busy (IrisdGuestTable *self,
                             IrisdGuestItem *item,
                             guint64 retry_after_ms,
                             gint64 now);
void irisd_guest_table_end (IrisdGuestTable *self, IrisdGuestItem *item, gint64 now);
void irisd_guest_table_retry (IrisdGuestTable *self, IrisdGuestItem *item, guint64 delay_ms);
void irisd_guest_table_leave (IrisdGuestTable *self, IrisdGuestItem *item);
void irisd_guest_table_close (IrisdGuestTable *self);
void irisd_guest_table_put_anew (IrisdGuestTable *self,
                                 IrisdGuestItem *item,
                                 IrisdGuestVerdict verdict,
                                 gint64 now);
void irisd_guest_table_drop (IrisdGuestTable *self, IrisdGuestItem *item);
void irisd_guest_table_published (IrisdGuestTable *self,
                                  IrisdGuestItem *item,
                                  IrisdGuestVerdict verdict,
                                  gint64 now);
void irisd_guest_table_cancel (IrisdGuestTable *self, IrisdGuestItem *item, gint64 now);
void irisd_guest_table_give_all_back (IrisdGuestTable *self, gboolean at_end);
gint64 irisd_guest_table_tick (IrisdGuestTable *self, gint64 now);
GPtrArray *irisd_guest_table_list (const IrisdGuestTable *self);
guint irisd_guest_table_get_size (const IrisdGuestTable *self);

G_DEFINE_AUTOPTR_CLEANUP_FUNC (IrisdGuestTable, irisd_guest_table_free)

G_END_DECLS
