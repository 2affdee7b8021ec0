/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * The inside of the journal, for the files that are parts of it.
 */
#pragma once

#include "daemon/store/irisd-journal.h"
#include "daemon/store/irisd-reserve.h"

G_BEGIN_DECLS

/* The store's log is emptied when nothing was written for this long. */
#define IRISD_JOURNAL_IDLE_US (2 * G_USEC_PER_SEC)

struct _IrisdJournal
{
  IrisdMailbox mailbox;
  _Alignas(64) _Atomic int health;
  _Atomic guint64 n_persistent;
  _Atomic guint64 n_taken; /* items held, except cancelled ones, and items on their way */
  _Atomic guint64 n_persistent_ended; /* of those */
  _Atomic guint64 n_damaged;
  _Atomic gboolean stopping;
  char *_Atomic reason; /* why it is not ready; set before the health is */

  IrisdStore *store;
  const IrisdLimits *limits;
  IrisdFindRunFunc find_run; /* NULL, or what tells which items ran when irisd crashed */
  gpointer find_run_data;
  GThread *thread;
  IrisdReserve reserve;
  IrisdPersistentTable table;
  guint n_counted;      /* its items that n_taken counts */
  guint n_releasing;    /* reserved by the current journal request and not used yet */
  GSequence *deadlines; /* of waiting requests that have one */

  /* The next transaction. */
  IrisdPersistentItem *first_dirty, *last_dirty;
  guint n_dirty;
  IrisdJournalRequest *first_attendant, *last_attendant; /* answered after it */
  gint64 commit_by_us;                                   /* 0: no commit is due */
  gint64 commit_us; /* the time that a transaction has taken lately */
  gint64 retry_us;  /* next attempt after a full disk */
  gint64 idle_us; /* when the store's log is emptied unless a commit comes first; 0: it is empty */
  gint64 sweep_us;

  /* Reads that failed and may be tried again, since the last log line about them. */
  guint n_unreadable;
  gint64 unreadable_us;
};

/* irisd-journal-commit.c */
void irisd_journal_mark_dirty (IrisdJournal *self, IrisdPersistentItem *persistent);
void irisd_journal_commit_for (IrisdJournal *self, gint64 since_us);
void irisd_journal_attend (IrisdJournal *self, IrisdJournalRequest *request);
void irisd_journal_commit (IrisdJournal *self);
void irisd_journal_try_reserve (IrisdJournal *self);
void irisd_journal_empty_log (IrisdJournal *self);

/* irisd-journal-queries.c */
IrisdPersistentItem *irisd_journal_look_up (IrisdJournal *self, guint64 item, gint64 view);
void irisd_journal_ask (IrisdJournal *self, IrisdJournalRequest *request);
void irisd_journal_list (IrisdJournal *self, IrisdJournalRequest *request);
void irisd_journal_reload (IrisdJournal *self, IrisdJournalRequest *request);
gboolean irisd_journal_read_row (IrisdJournal *self,
                                 IrisdPersistentItem *persistent,
                                 IrisdJournalRequest *request);
GError *irisd_journal_no_such_item (guint64 item);
void irisd_journal_wake_waits (IrisdJournal *self, IrisdPersistentItem *persistent);
void irisd_journal_turn_away_waits (IrisdJournal *self, IrisdPersistentItem *persistent);
void irisd_journal_end_overdue_waits (IrisdJournal *self, gint64 now);

/* irisd-journal-bury.c */
void irisd_journal_bury (IrisdJournal *self, IrisdJournalRequest *request);
void irisd_journal_settle_bury (IrisdJournal *self, IrisdJournalRequest *request);
void irisd_journal_retry (IrisdJournal *self, IrisdJournalRequest *request);
void irisd_journal_kick (IrisdJournal *self, IrisdJournalRequest *request);
void irisd_journal_cancel_buried (IrisdJournal *self, IrisdJournalRequest *request);
void irisd_journal_look_where (IrisdJournal *self, IrisdJournalRequest *request);

/* irisd-journal.c */
void irisd_journal_count (IrisdJournal *self);
void irisd_journal_release (IrisdJournal *self);
gboolean irisd_journal_has_room (IrisdJournal *self);
void irisd_journal_make_room (IrisdJournal *self);
void irisd_journal_answer (IrisdJournal *self, IrisdJournalRequest *request);
void irisd_journal_settle (IrisdJournal *self, IrisdJournalRequest *request);
void irisd_journal_apply_end (IrisdJournal *self, IrisdPersistentItem *persistent, guint32 state);
void irisd_journal_discard (IrisdJournal *self, IrisdPersistentItem *persistent);

G_END_DECLS
