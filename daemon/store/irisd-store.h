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

/**
 * IrisdRow:
 * @id: the row's number, which no other row has; not 0
 * @state: a small number
 * @head: (array length=head_size): bytes
 * @body: (array length=body_size): more bytes
 *
 * A row, borrowed.
 */
typedef struct
{
  guint64 id;
  guint32 state;
  const guint8 *head;
  gsize head_size;
  const guint8 *body;
  gsize body_size;
} IrisdRow;

/**
 * IrisdStoreOutcome:
 * @IRISD_STORE_OK: success
 * @IRISD_STORE_ABSENT: there is no such row
 * @IRISD_STORE_FULL: the disk is full; nothing was changed, and it may be tried again
 * @IRISD_STORE_DAMAGED: the row is not the one that was written
 * @IRISD_STORE_UNREADABLE: reading failed, and the row may be whole: it may be tried again
 * @IRISD_STORE_DOUBTFUL: what was read makes no sense; so it is damaged, or the disk failed
 * @IRISD_STORE_BROKEN: writing or syncing failed; the contents of the disk are unknown, so nothing
 *   may be written any more
 */
typedef enum
{
  IRISD_STORE_OK,
  IRISD_STORE_ABSENT,
  IRISD_STORE_FULL,
  IRISD_STORE_DAMAGED,
  IRISD_STORE_UNREADABLE,
  IRISD_STORE_DOUBTFUL,
  IRISD_STORE_BROKEN,
} IrisdStoreOutcome;

typedef struct _IrisdStore IrisdStore;

/* A row that is there; it is valid until the function returns. */
typedef void (*IrisdRowFunc) (const IrisdRow *row, gpointer user_data);

/**
 * IrisdStoreDamage:
 * @expected: how many rows there should be
 * @missing: rows that should be there and are not, @rows among them; at least so many
 * @missing_at_most: the same, at most; @expected if there is no better bound
 * @only_missing: the number of the only row that is missing; 0 if it is not known
 * @returned: rows that are there although they were removed, or may be
 * @uncounted: how many rows there should be is not known, so @missing is not either
 * @transactions: transactions that were on the disk and are not there any more
 * @rows: rows whose checksum does not fit; they were set aside
 * @gaps: stretches of the file that could not be read at all
 * @tail: the last transactions could not be read, beyond what a crash explains
 * @mark: the tally in the database, which tells how many rows there are, could not be read
 *
 * The damage that a store has found.
 */
typedef struct
{
  guint64 expected;
  guint64 missing;
  guint64 missing_at_most;
  guint64 only_missing;
  guint64 returned;
  gboolean uncounted;
  guint64 transactions;
  guint64 rows;
  guint64 gaps;
  gboolean tail;
  gboolean mark;
} IrisdStoreDamage;

/**
 * IrisdStoreClass:
 *
 * The functions of a kind of store. Each but @close describes a failure in @error.
 */
typedef struct
{
  IrisdStoreOutcome (*begin) (IrisdStore *self, GError **error);
  IrisdStoreOutcome (*put) (IrisdStore *self, const IrisdRow *row, GError **error);
  IrisdStoreOutcome (*remove) (IrisdStore *self, guint64 id, GError **error);
  IrisdStoreOutcome (*check_room) (IrisdStore *self, GError **error);
  IrisdStoreOutcome (*commit) (IrisdStore *self, GError **error);
  void (*rollback) (IrisdStore *self);
  IrisdStoreOutcome (*tidy) (IrisdStore *self, GError **error);
  IrisdStoreOutcome (*empty_log) (IrisdStore *self, GError **error);
  IrisdStoreOutcome (*shrink) (IrisdStore *self, GError **error);
  IrisdStoreOutcome (
      *read) (IrisdStore *self, guint64 id, IrisdRowFunc func, gpointer user_data, GError **error);
  IrisdStoreOutcome (*scan) (IrisdStore *self,
                             IrisdRowFunc func,
                             gpointer user_data,
                             IrisdStoreDamage *damage,
                             GError **error);
  guint64 (*get_next_id) (IrisdStore *self);
  void (*close) (IrisdStore *self);
} IrisdStoreClass;

struct _IrisdStore
{
  const IrisdStoreClass *klass;
};

/* Begins a transaction. */
static inline IrisdStoreOutcome
irisd_store_begin (IrisdStore *self, GError **error)
{
  return self->klass->begin (self, error);
}

/* Writes a row, in place of the one with that number if there is one. */
static inline IrisdStoreOutcome
irisd_store_put (IrisdStore *self, const IrisdRow *row, GError **error)
{
  return self->klass->put (self, row, error);
}

/* Removes a row; it need not be there. */
static inline IrisdStoreOutcome
irisd_store_remove (IrisdStore *self, guint64 id, GError **error)
{
  return self->klass->remove (self, id, error);
}

/* Checks that the disk has space for the rows of the transaction, and for copying them out of the
 * log. */
static inline IrisdStoreOutcome
irisd_store_check_room (IrisdStore *self, GError **error)
{
  return self->klass->check_room (self, error);
}

/* Ends the transaction: all of it is on the disk, or none. */
static inline IrisdStoreOutcome
irisd_store_commit (IrisdStore *self, GError **error)
{
  return self->klass->commit (self, error);
}

/* Rolls the transaction back. */
static inline void
irisd_store_rollback (IrisdStore *self)
{
  self->klass->rollback (self);
}

/* Housekeeping between transactions, which may take longer than one. */
static inline IrisdStoreOutcome
irisd_store_tidy (IrisdStore *self, GError **error)
{
  return self->klass->tidy (self, error);
}

/* Copies the log into the database and frees the log's space. */
static inline IrisdStoreOutcome
irisd_store_empty_log (IrisdStore *self, GError **error)
{
  return self->klass->empty_log (self, error);
}

/* Frees space of removed rows in the file system, some of it at a time. */
static inline IrisdStoreOutcome
irisd_store_shrink (IrisdStore *self, GError **error)
{
  return self->klass->shrink (self, error);
}

static inline IrisdStoreOutcome
irisd_store_read (IrisdStore *self,
                  guint64 id,
                  IrisdRowFunc func,
                  gpointer user_data,
                  GError **error)
{
  return self->klass->read (self, id, func, user_data, error);
}

/* Visits all rows, in the order of their numbers as far as the file is whole, and sets aside
 * damaged ones. Once, before the first transaction. */
static inline IrisdStoreOutcome
irisd_store_scan (IrisdStore *self,
                  IrisdRowFunc func,
                  gpointer user_data,
                  IrisdStoreDamage *damage,
                  GError **error)
{
  return self->klass->scan (self, func, user_data, damage, error);
}

/* A number greater than that of any row so far. */
static inline guint64
irisd_store_get_next_id (IrisdStore *self)
{
  return self->klass->get_next_id (self);
}

static inline void
irisd_store_close (IrisdStore *self)
{
  self->klass->close (self);
}

guint32 irisd_row_checksum (const IrisdRow *row);

/* irisd-sqlite-report.c */
guint64 irisd_store_count_lost (const IrisdStoreDamage *damage);
char *
irisd_store_describe_damage (const IrisdStoreDamage *damage, guint64 n_unreadable, gboolean mended);
gboolean irisd_store_check (const char *dir, char **report, GError **error);

/* irisd-sqlite.c */
IrisdStore *irisd_store_open_sqlite (const char *dir, GError **error);

G_END_DECLS
