/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * The journal: the thread that holds all persistent items and writes them to the store.
 */
#pragma once

#include "daemon/base/irisd-broadcast.h"
#include "daemon/base/irisd-histogram.h"
#include "daemon/config/irisd-limits.h"
#include "daemon/base/irisd-mailbox.h"
#include "daemon/store/irisd-persistent-list.h"

#include <zmq.h>

G_BEGIN_DECLS

typedef struct _IrisdJob IrisdJob;
typedef struct _IrisdJournal IrisdJournal;
typedef struct _IrisdPersistentBatch IrisdPersistentBatch;
typedef struct _IrisdPeer IrisdPeer;
typedef struct _IrisdOutputs IrisdOutputs;
typedef struct _IrisdRecordChange IrisdRecordChange;

/* The kinds of journal requests. */
typedef enum
{
  IRISD_JOURNAL_REQUEST_KEEP, /* store an item, unless there is one with its key */
  /* store items that have ended already; not answered if they are relaxed */
  IRISD_JOURNAL_REQUEST_DONE,
  IRISD_JOURNAL_REQUEST_END,  /* a persistent item has ended */
  IRISD_JOURNAL_REQUEST_BURY, /* bury a persistent item */
  /* run buried items again; each comes as IRISD_JOURNAL_REQUEST_RECOVERED */
  IRISD_JOURNAL_REQUEST_KICK,
  IRISD_JOURNAL_REQUEST_CANCEL,     /* end a buried item as cancelled */
  IRISD_JOURNAL_REQUEST_BURY_ITEM,  /* tell where an item is that a client wants to bury */
  IRISD_JOURNAL_REQUEST_REWRITE,    /* write an item that waits anew, suspended or edited */
  IRISD_JOURNAL_REQUEST_LOOK,       /* tell the state of an item that no gateway has */
  IRISD_JOURNAL_REQUEST_SUBMISSION, /* read an item as it was submitted */
  IRISD_JOURNAL_REQUEST_RETRY,      /* a persistent item failed and is tried again; not answered */
  IRISD_JOURNAL_REQUEST_FORGET,     /* remove acknowledged ends; not answered */
  IRISD_JOURNAL_REQUEST_FETCH,      /* tell how an item ended */
  IRISD_JOURNAL_REQUEST_SHOW,       /* tell all about an item */
  IRISD_JOURNAL_REQUEST_LIST,       /* list items */
  IRISD_JOURNAL_REQUEST_FOLLOW,     /* tell whether an item has ended, and its state */
  IRISD_JOURNAL_REQUEST_BACKUP,     /* copy the journal to the directory @reason */
  IRISD_JOURNAL_REQUEST_RELOAD,     /* read a spilled item */
  IRISD_JOURNAL_REQUEST_RECORD,     /* put or remove a named record; not answered without a home */
  IRISD_JOURNAL_REQUEST_RECOVERED,  /* from the journal to a gateway: an item to be run */
} IrisdJournalRequestKind;

/* Waits for an item's end without a limit. */
#define IRISD_WAIT_FOREVER G_MAXUINT64

typedef struct
{
  guint64 first; /* the number of an item */
  guint64 n;     /* how many numbers from there on */
} IrisdSpan;

/* A request to the journal, and its answer on the way back. The thread that holds it may change it;
 * @peer, @batch, @job and @jobs are the gateway's own all the time. */
struct _IrisdJournalRequest
{
  IrisdMessage message;
  IrisdJournalRequestKind kind;
  IrisdMailbox *home; /* the mailbox that the answer goes to */

  IrisdPeer *peer;
  guint8 request_id[IRIS_WIRE_ID_SIZE];
  gboolean quiet;
  gboolean detach;
  gboolean durable; /* DONE: the items are, and the journal request is answered */
  guint n_reserved; /* KEEP, DONE: items that were counted ahead */
  IrisdPersistentBatch *batch;
  IrisdJob *job;
  gint64 made_us;           /* DONE: the monotonic time at which the journal request was made */
  GPtrArray *jobs;          /* DONE: of all rows of the row batch */
  IrisdRowBatch *row_batch; /* DONE: the rows to be written; all of one class */
  GPtrArray *persistents;   /* DONE: the journal's items for the rows, if they are durable */

  gint64 view;  /* FETCH, SHOW, FOLLOW, KICK, CANCEL, BURY_ITEM: an owner, or IRISD_VIEW_ALL */
  gint64 owner; /* SUBMISSION: the item's, in the answer */
  guint64 item;
  guint64 wait_ms;
  guint32 state;  /* KICK: only items in it; END, REWRITE: the new state */
  guint32 count;  /* KICK: at most so many; BURY, RETRY: how often it ran */
  guint64 due_ms; /* RETRY, REWRITE: the end of the pause, in Unix time */
  /* REWRITE: the end is to be kept for @keep_ms. END: the submission is kept as long as the end */
  gboolean keeps;
  guint64 keep_ms;
  IrisdPersistentFilter *filter; /* LIST; in the answer @item is where the next page begins */
  guint32 code;                  /* BURY: the reason; END, FOLLOW: the exit code */
  char *reason;
  gboolean whole;            /* SHOW: the item as it was submitted is wanted */
  IrisdBroadcast *broadcast; /* BURY, REWRITE, SUBMISSION: the request that waits for it */
  GArray *items;             /* FORGET: IrisdSpan */
  IrisdPersistentItem *persistent;

  IrisdRecordChange *change; /* RECORD; KEEP: (nullable): written with the item, or not at all */

  /* KEEP, END: the message to be written. REWRITE: its header, if it was edited. FETCH, RELOAD,
   * RECOVERED: the message that was read. */
  guint8 type;
  IrisdBlob header;
  IrisWireFrame payload; /* belongs to the job */
  zmq_msg_t body;

  GError *error;
  gboolean duplicate; /* KEEP: there is an item with that key; @item is its number */
  gboolean pending;  /* FETCH, FOLLOW, KICK, BURY_ITEM: it has not ended; @state says where it is */
  gboolean again;    /* the row could not be read, but may be later; @error says why */
  gboolean doubtful; /* as `again`, but it may be damaged */
  IrisWirePersistentList *list; /* SHOW, LIST */

  /* For the journal. */
  STAILQ_ENTRY (_IrisdJournalRequest) next;
  IrisdJournalRequest *next_wait;
  GSequenceIter *deadline;
  gint64 deadline_us;
};

typedef enum
{
  IRISD_JOURNAL_READY,  /* all is well */
  IRISD_JOURNAL_FULL,   /* the disk is full: ends are written, no items are taken */
  IRISD_JOURNAL_FAILED, /* writing failed: nothing is written any more */
} IrisdJournalHealth;

/* Counters of the journal. Its thread writes, any thread may read. */
typedef struct
{
  _Alignas(64) _Atomic guint64 syncs; /* transactions, each with one sync of the log */
  _Atomic guint64 rows;               /* written or removed by them */
  _Atomic guint64 bytes;              /* of the rows written */
  _Atomic guint64 buried;             /* items that are buried now */
  _Atomic guint64 failed;             /* of those that have ended, the ones that failed */
  _Atomic guint64 cancelled;          /* and that were cancelled */
  _Atomic guint64 file_bytes;         /* the size of the database as it was lately */
  _Atomic guint64 log_bytes;          /* of its log */
  _Atomic guint64 free_bytes;         /* what the disk has left for irisd */
  IrisdHistogram sync_times;          /* how long each commit took */
} IrisdJournalCounters;

/* An item of the store that has not ended; @record is valid until the function returns. */
typedef void (*IrisdRunAgainFunc) (const IrisdRecord *record,
                                   IrisdPersistentItem *persistent,
                                   gpointer user_data);

IrisdRecordChange *irisd_record_change_new (const IrisdNamedRecord *record, gboolean removes);
void irisd_record_change_unref (IrisdRecordChange *self);

IrisdJournalRequest *irisd_journal_request_new (IrisdJournalRequestKind kind, IrisdMailbox *home);
void irisd_journal_request_free (IrisdJournalRequest *self);

G_DEFINE_AUTOPTR_CLEANUP_FUNC (IrisdJournalRequest, irisd_journal_request_free)

#define irisd_journal_request_from_message(pointer) \
  IRISD_CONTAINER (pointer, IrisdJournalRequest, message)

/* Returns whether item @item ran when irisd crashed. @stuck is the process group of which processes
 * are left that do not end, or 0. */
typedef gboolean (*IrisdFindRunFunc) (guint64 item, pid_t *stuck, gpointer user_data);

IrisdJournal *
irisd_journal_new (const char *dir, IrisdStore *store, const IrisdLimits *limits, GError **error);
gboolean irisd_journal_load_records (IrisdJournal *self,
                                     IrisdNamedRecordFunc func,
                                     gpointer user_data,
                                     GError **error);
void irisd_journal_blame (IrisdJournal *self, IrisdFindRunFunc find_run, gpointer user_data);
gboolean irisd_journal_recover (IrisdJournal *self,
                                IrisdRunAgainFunc run_again,
                                gpointer user_data,
                                GError **error);
void irisd_journal_start (IrisdJournal *self);
void irisd_journal_stop (IrisdJournal *self);
void irisd_journal_free (IrisdJournal *self);
GError *irisd_journal_damaged_item (guint64 item);
void irisd_journal_post (IrisdJournal *self, IrisdJournalRequest *request);

guint64 irisd_journal_get_next_item (IrisdJournal *self);
guint64 irisd_journal_get_n_persistent (IrisdJournal *self);
guint64 irisd_journal_get_n_taken (IrisdJournal *self);
void irisd_journal_reserve (IrisdJournal *self, IrisdJournalRequest *request);
guint64 irisd_journal_get_n_persistent_ended (IrisdJournal *self);
guint64 irisd_journal_get_n_damaged (IrisdJournal *self);
const IrisdJournalCounters *irisd_journal_get_counters (IrisdJournal *self);
IrisdJournalHealth irisd_journal_get_health (IrisdJournal *self);
const char *irisd_journal_get_reason (IrisdJournal *self);
IrisdOutputs *irisd_journal_get_outputs (IrisdJournal *self);

G_END_DECLS
