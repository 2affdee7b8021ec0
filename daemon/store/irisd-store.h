/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * A store: rows that survive, written in transactions.
 *
 * One thread at a time uses a store. All that is written between irisd_store_begin() and
 * irisd_store_commit() survives together or not at all, and is on the disk when
 * irisd_store_commit() returns. Rows have a checksum of their own, so that a flipped bit in the
 * file is noticed even if the database does not notice it.
 */
#pragma once

#include <glib.h>

G_BEGIN_DECLS

/* A row, borrowed. */
typedef struct
{
  guint64 id;         /* the row's number, which no other row has; not 0 */
  guint32 state;      /* a small number */
  const guint8 *head; /* bytes */
  gsize head_size;
  const guint8 *body; /* more bytes */
  gsize body_size;
} IrisdRow;

typedef enum
{
  IRISD_STORE_OK,         /* success */
  IRISD_STORE_ABSENT,     /* there is no such row */
  IRISD_STORE_FULL,       /* the disk is full; nothing was changed, and it may be tried again */
  IRISD_STORE_DAMAGED,    /* the row is not the one that was written */
  IRISD_STORE_UNREADABLE, /* reading failed, and the row may be whole: it may be tried again */
  IRISD_STORE_DOUBTFUL,   /* what was read makes no sense; so it is damaged, or the disk failed */
  /* writing or syncing failed; the contents of the disk are unknown, so nothing may be written any
     more */
  IRISD_STORE_BROKEN,
} IrisdStoreOutcome;

typedef struct _IrisdStore IrisdStore;

/* How much room a store takes, in bytes. */
typedef struct
{
  guint64 file; /* its database */
  guint64 log;  /* what was written last, and is not in the database yet */
  guint64 free; /* what the disk has left */
} IrisdStoreSize;

/* A row that is there; it is valid until the function returns. */
typedef void (*IrisdRowFunc) (const IrisdRow *row, gpointer user_data);

/* The damage that a store has found. */
typedef struct
{
  guint64 expected; /* how many rows there should be */
  guint64 missing;  /* rows that should be there and are not, @rows among them; at least so many */
  guint64 missing_at_most; /* the same, at most; @expected if there is no better bound */
  guint64 only_missing;    /* the number of the only row that is missing; 0 if it is not known */
  guint64 returned;        /* rows that are there although they were removed, or may be */
  guint64 records;         /* named records whose checksum does not fit */
  gboolean uncounted;   /* how many rows there should be is not known, so @missing is not either */
  guint64 transactions; /* transactions that were on the disk and are not there any more */
  guint64 rows;         /* rows whose checksum does not fit; they were set aside */
  guint64 gaps;         /* stretches of the file that could not be read at all */
  gboolean tail;        /* the last transactions could not be read, beyond what a crash explains */
  /* the tally in the database, which tells how many rows there are, could not be read */
  gboolean mark;
} IrisdStoreDamage;

IrisdStore *irisd_store_open_sqlite (const char *dir, GError **error);
void irisd_store_close (IrisdStore *self);

/* A number greater than that of any row so far. */
guint64 irisd_store_get_next_id (IrisdStore *self);

/* Visits all rows, in the order of their numbers as far as the file is whole, and sets aside
 * damaged ones. Once, before the first transaction. */
IrisdStoreOutcome irisd_store_scan (IrisdStore *self,
                                    IrisdRowFunc func,
                                    gpointer user_data,
                                    IrisdStoreDamage *damage,
                                    GError **error);
IrisdStoreOutcome irisd_store_read (IrisdStore *self,
                                    guint64 id,
                                    IrisdRowFunc func,
                                    gpointer user_data,
                                    GError **error);

/* A transaction: all of it is on the disk after the commit, or none. */
IrisdStoreOutcome irisd_store_begin (IrisdStore *self, GError **error);
IrisdStoreOutcome irisd_store_commit (IrisdStore *self, GError **error);
void irisd_store_rollback (IrisdStore *self);

/* Writes a row, in place of the one with that number if there is one. */
IrisdStoreOutcome irisd_store_put (IrisdStore *self, const IrisdRow *row, GError **error);

/* Removes a row; it need not be there. */
IrisdStoreOutcome irisd_store_remove (IrisdStore *self, guint64 id, GError **error);

/* What a named record is about. Numbers are not used again. */
typedef enum
{
  IRISD_RECORD_SCHEDULE = 1,
  IRISD_RECORD_QUEUE = 2,
  IRISD_RECORD_SUBMISSION = 3, /* of an item that has ended */
} IrisdRecordKind;

/* A named record: data other than an item; borrowed. */
typedef struct
{
  guint32 kind;       /* an IrisdRecordKind */
  const guint8 *name; /* bytes; no other record of that kind has them */
  gsize name_size;
  const guint8 *body; /* bytes */
  gsize body_size;
} IrisdNamedRecord;

/* A record that is there; it is valid until the function returns. */
typedef void (*IrisdNamedRecordFunc) (const IrisdNamedRecord *record, gpointer user_data);

/* irisd-sqlite-records.c. Puts and removals are part of a transaction. */
IrisdStoreOutcome
irisd_store_put_record (IrisdStore *self, const IrisdNamedRecord *record, GError **error);
IrisdStoreOutcome
irisd_store_remove_record (IrisdStore *self, const IrisdNamedRecord *record, GError **error);
gboolean irisd_store_read_record (IrisdStore *self,
                                  const IrisdNamedRecord *record,
                                  IrisdNamedRecordFunc func,
                                  gpointer user_data);
IrisdStoreOutcome irisd_store_load_records (IrisdStore *self,
                                            IrisdNamedRecordFunc func,
                                            gpointer user_data,
                                            guint64 *n_damaged,
                                            GError **error);

/* Checks that the disk has space for the rows of the transaction, and for copying them out of the
 * log. */
IrisdStoreOutcome irisd_store_check_room (IrisdStore *self, GError **error);

/* Housekeeping between transactions, which may take longer than one. */
IrisdStoreOutcome irisd_store_tidy (IrisdStore *self, GError **error);

/* Measures it; a size that cannot be read is 0. */
void irisd_store_get_size (IrisdStore *self, IrisdStoreSize *size);

/* Copies the log into the database and frees the log's space. */
IrisdStoreOutcome irisd_store_empty_log (IrisdStore *self, GError **error);

/* Frees space of removed rows in the file system, some of it at a time. */
IrisdStoreOutcome irisd_store_shrink (IrisdStore *self, GError **error);

/* A copy of a store in use, made in steps between transactions. */
typedef struct _IrisdStoreCopy IrisdStoreCopy;

IrisdStoreCopy *irisd_store_copy_begin (IrisdStore *store, const char *dir, GError **error);
gboolean irisd_store_copy_step (IrisdStoreCopy *self, gboolean *done, GError **error);
guint64 irisd_store_copy_get_n_rows (IrisdStoreCopy *self);
void irisd_store_copy_free (IrisdStoreCopy *self);

/* For a store that is not in use. */
gboolean irisd_store_repair (const char *dir, char **kept, GError **error);

/* irisd-record.c */
guint32 irisd_row_checksum (const IrisdRow *row);
guint32 irisd_named_record_checksum (const IrisdNamedRecord *record);

/* irisd-sqlite-report.c */
guint64 irisd_store_count_lost (const IrisdStoreDamage *damage);
char *
irisd_store_describe_damage (const IrisdStoreDamage *damage, guint64 n_unreadable, gboolean mended);
gboolean irisd_store_check (const char *dir, char **report, GError **error);

G_END_DECLS
