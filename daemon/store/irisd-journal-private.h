/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * The inside of the journal, for the files that are parts of it.
 */
#pragma once

#include "daemon/store/irisd-journal.h"
#include "daemon/store/irisd-outputs.h"
#include "daemon/store/irisd-reserve.h"

G_BEGIN_DECLS

/* The store's log is emptied when nothing was written for this long. */
#define IRISD_JOURNAL_IDLE_US (2 * G_USEC_PER_SEC)

/* Time between two searches for expired ends. */
#define IRISD_JOURNAL_SWEEP_US (5 * G_USEC_PER_SEC)

typedef STAILQ_HEAD (, _IrisdJournalRequest) IrisdJournalRequests;

/* A change of a named record. The list has a reference, and the journal request another. */
struct _IrisdRecordChange
{
  TAILQ_ENTRY (_IrisdRecordChange) next;
  gboolean listed; /* for the journal's thread */
  guint32 kind;
  gboolean removes;
  IrisdBlob name;
  IrisdBlob body;
};

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
  IrisdJournalCounters counters;

  IrisdStore *store;
  IrisdOutputs *outputs;
  const IrisdLimits *limits;
  IrisdFindRunFunc find_run; /* NULL, or what tells which items ran when irisd crashed */
  gpointer find_run_data;
  GThread *thread;

  /* A backup, the journal's until the thread that verifies it has it. */
  IrisdStoreCopy *copy; /* while it is copied */
  IrisdJournalRequest *backup;
  GThread *backup_thread;
  _Atomic gboolean backing_up;

  IrisdReserve reserve;
  IrisdPersistentTable table;
  guint n_counted;      /* its items that n_taken counts */
  guint n_releasing;    /* reserved by the current journal request and not used yet */
  GSequence *deadlines; /* of waiting requests that have one */

  /* The next transaction. */
  STAILQ_HEAD (, _IrisdPersistentItem) dirty;
  guint n_dirty;
  TAILQ_HEAD (_IrisdRecordChanges, _IrisdRecordChange) changes; /* of named records, in order */
  guint n_changes;
  guint64 n_rows;                  /* rows of the one in progress */
  guint64 n_bytes;                 /* their bytes */
  IrisdJournalRequests attendants; /* answered after it */
  gint64 commit_by_us;             /* 0: no commit is due */
  gint64 commit_us;                /* the time that a transaction has taken lately */
  gint64 retry_us;                 /* next attempt after a full disk */
  gint64 idle_us; /* when the store's log is emptied unless a commit comes first; 0: it is empty */
  gint64 sweep_us;
  gint64 measured_us; /* when the sizes of its files were last read */

  /* Reads that failed and may be tried again, since the last log line about them. */
  guint n_unreadable;
  gint64 unreadable_us;
};

/* irisd-journal-items.c */
void irisd_journal_answer (IrisdJournal *self, IrisdJournalRequest *request);
void irisd_journal_release (IrisdJournal *self);
void irisd_journal_count (IrisdJournal *self);
gboolean irisd_journal_has_room (IrisdJournal *self);
void irisd_journal_make_room (IrisdJournal *self);
void irisd_journal_commit_for (IrisdJournal *self, gint64 since_us);
void irisd_journal_mark_dirty (IrisdJournal *self, IrisdPersistentItem *persistent);
const char *irisd_journal_explain (const IrisdJournalRequest *request);
void irisd_journal_attend (IrisdJournal *self, IrisdJournalRequest *request);
void irisd_journal_discard (IrisdJournal *self, IrisdPersistentItem *persistent);
IrisdPersistentItem *irisd_journal_look_up (IrisdJournal *self, guint64 item, gint64 view);
gboolean irisd_journal_read_row (IrisdJournal *self,
                                 IrisdPersistentItem *persistent,
                                 IrisdJournalRequest *request);
GError *irisd_journal_no_such_item (guint64 item);
void irisd_journal_wake_waits (IrisdJournal *self, IrisdPersistentItem *persistent);
void irisd_journal_end_overdue_waits (IrisdJournal *self, gint64 now);
void irisd_journal_ask (IrisdJournal *self, IrisdJournalRequest *request);
void irisd_journal_list (IrisdJournal *self, IrisdJournalRequest *request);
void irisd_journal_reload (IrisdJournal *self, IrisdJournalRequest *request);

/* irisd-journal-records.c */
void irisd_journal_add_change (IrisdJournal *self, IrisdRecordChange *change);
void irisd_journal_drop_submissions (IrisdJournal *self);
void irisd_journal_list_change (IrisdJournal *self, IrisdJournalRequest *request);
void irisd_journal_drop_change (IrisdJournal *self, IrisdJournalRequest *request);
void irisd_journal_clear_changes (IrisdJournal *self);
IrisdStoreOutcome irisd_journal_write_changes (IrisdJournal *self, GError **error);

/* irisd-journal-submissions.c */
void irisd_journal_keep_submission (IrisdJournal *self, IrisdPersistentItem *persistent);
void irisd_journal_tell_submission (IrisdJournal *self, IrisdJournalRequest *request);

/* irisd-journal-backup.c */
void irisd_journal_begin_backup (IrisdJournal *self, IrisdJournalRequest *request);
gboolean irisd_journal_go_on_with_backup (IrisdJournal *self, gboolean stopping);
void irisd_journal_join_backup (IrisdJournal *self);

/* irisd-journal-commit.c */
void irisd_journal_apply_end (IrisdJournal *self, IrisdPersistentItem *persistent, guint32 state);
void irisd_journal_settle (IrisdJournal *self, IrisdJournalRequest *request);
void irisd_journal_commit (IrisdJournal *self);
void irisd_journal_empty_log (IrisdJournal *self);
void irisd_journal_try_reserve (IrisdJournal *self);
void irisd_journal_measure (IrisdJournal *self, gint64 now);

G_END_DECLS
