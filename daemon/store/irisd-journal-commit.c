/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * The journal's transactions, and how it goes on when one fails.
 *
 * All pending rows go into one transaction. No commit is delayed to let others join: they share the
 * sync that is due anyway (group commit; DeWitt et al., "Implementation Techniques for Main Memory
 * Database Systems", SIGMOD 1984).
 *
 * A full disk has changed nothing that was written, so the journal tries again: it refuses new
 * items, gives up the reserve, and goes on with ends and removals. Any other failure is final.
 * After a failed sync the contents of the disk are unknown: the kernel reports the failure once,
 * and may count the pages as clean from then on (Rebello et al., "Can Applications Recover from
 * fsync Failures?", USENIX ATC 2020). So the journal writes nothing more until irisd is started
 * again and reads the store.
 */
#include "daemon/store/irisd-journal-private.h"

#include "daemon/base/irisd-log.h"
#include "daemon/base/irisd-readiness.h"

/* Between two attempts on a full disk. */
#define RETRY_US (G_USEC_PER_SEC / 2)

/* The longest of about this many transactions counts as the time of one. */
#define COMMITS_REMEMBERED 16

/* Rows of one transaction on a full disk, which has room for a small log only. */
#define ROWS_WHEN_FULL 64

/* The rest of the free space, as a part of the reserve's size, is for the log of removals. */
#define ROOM_FOR_REMOVALS 0.125

/* The rows that a transaction writes. */
typedef enum
{
  ALL,
  ACCEPTED, /* except those of items that were never written */
  REMOVALS,
} Rows;

/* @persistent is an item whose row is to be written or removed. */
void
irisd_journal_mark_dirty (IrisdJournal *self, IrisdPersistentItem *persistent)
{
  if (persistent->dirty)
    return;
  persistent->dirty = TRUE;
  persistent->next_dirty = NULL;
  if (self->last_dirty != NULL)
    self->last_dirty->next_dirty = persistent;
  else
    self->first_dirty = persistent;
  self->last_dirty = persistent;
  if (self->n_dirty++ == 0 && self->commit_by_us == 0)
    irisd_journal_commit_for (self, g_get_monotonic_time ());
}

/* Something is dirty, and must be on the disk `relaxed-ms` after @since_us. So the transaction
 * begins earlier by the time that one has lately taken, by half of `relaxed-ms` at most. */
void
irisd_journal_commit_for (IrisdJournal *self, gint64 since_us)
{
  gint64 time_us = (gint64) self->limits->relaxed_ms * 1000;
  gint64 by_us = since_us + time_us - MIN (self->commit_us, time_us / 2);
  if (self->commit_by_us == 0 || by_us < self->commit_by_us)
    self->commit_by_us = MAX (by_us, 1);
}

/* Takes @request, and answers it after the next transaction, which is due at once. */
void
irisd_journal_attend (IrisdJournal *self, IrisdJournalRequest *request)
{
  request->next = NULL;
  if (self->last_attendant != NULL)
    self->last_attendant->next = request;
  else
    self->first_attendant = request;
  self->last_attendant = request;
  self->commit_by_us = 1;
}

static gboolean
is_new (IrisdPersistentItem *persistent)
{
  return !persistent->written && !persistent->forgotten
         && !irisd_persistent_item_has_ended (persistent);
}

/* On a full disk the row is emptied before it is written, so that it needs no more of the database
 * than before. */
static IrisdStoreOutcome
write_one (IrisdJournal *self, IrisdPersistentItem *persistent, Rows rows, GError **error)
{
  IrisdStoreOutcome outcome = IRISD_STORE_OK;
  if (persistent->forgotten)
    return persistent->written ? irisd_store_remove (self->store, persistent->item, error)
                               : outcome;
  const IrisdRow row = irisd_persistent_item_get_row (persistent);
  const IrisdRow empty = { .id = row.id, .state = row.state };
  if (rows == ACCEPTED)
    outcome = irisd_store_put (self->store, &empty, error);
  return outcome == IRISD_STORE_OK ? irisd_store_put (self->store, &row, error) : outcome;
}

static gboolean
is_passed_over (IrisdPersistentItem *persistent, Rows rows)
{
  return rows == REMOVALS ? !persistent->forgotten : rows == ACCEPTED && is_new (persistent);
}

/* Removes the first items from the list of dirty ones, except those that were skipped. */
static void
clean (IrisdJournal *self, Rows rows, guint n)
{
  for (; n > 0; n--)
    {
      IrisdPersistentItem *persistent = self->first_dirty;
      gboolean passed_over = is_passed_over (persistent, rows);
      self->first_dirty = persistent->next_dirty;
      if (self->first_dirty == NULL)
        self->last_dirty = NULL;
      self->n_dirty--;
      persistent->dirty = FALSE;
      if (passed_over)
        irisd_journal_mark_dirty (self, persistent);
      else if (persistent->forgotten)
        irisd_persistent_item_free (persistent);
      else
        {
          persistent->written = TRUE;
          irisd_persistent_item_clear_row (persistent);
        }
    }
}

/* Writes the first dirty items, in one transaction. */
static IrisdStoreOutcome
write_some (IrisdJournal *self, Rows rows, guint n, GError **error)
{
  IrisdStoreOutcome outcome = irisd_store_begin (self->store, error);
  IrisdPersistentItem *persistent = self->first_dirty;
  for (guint i = 0; i < n && outcome == IRISD_STORE_OK; i++, persistent = persistent->next_dirty)
    if (!is_passed_over (persistent, rows))
      outcome = write_one (self, persistent, rows, error);
  if (outcome == IRISD_STORE_OK)
    outcome = irisd_store_check_room (self->store, error);
  if (outcome == IRISD_STORE_OK)
    outcome = irisd_store_commit (self->store, error);
  if (outcome == IRISD_STORE_OK)
    clean (self, rows, n);
  else
    irisd_store_rollback (self->store);
  return outcome;
}

static IrisdStoreOutcome
write_all (IrisdJournal *self, GError **error)
{
  self->commit_by_us = 0;
  return write_some (self, ALL, self->n_dirty, error);
}

/* Writes small transactions and empties the log after each, so that the log needs space for one
 * only; also after a failure, because the failed write has made the log larger. */
static IrisdStoreOutcome
write_in_steps (IrisdJournal *self, Rows rows, GError **error)
{
  IrisdStoreOutcome outcome = IRISD_STORE_OK;
  guint most = ROWS_WHEN_FULL;
  for (guint left = self->n_dirty; left > 0 && outcome == IRISD_STORE_OK;)
    {
      g_autoptr (GError) local = NULL;
      guint n = MIN (left, most);
      outcome = write_some (self, rows, n, &local);
      if (outcome == IRISD_STORE_OK || outcome == IRISD_STORE_FULL)
        {
          IrisdStoreOutcome emptied = irisd_store_empty_log (self->store,
                                                             local == NULL ? &local : NULL);
          gboolean fewer = outcome == IRISD_STORE_FULL && emptied == IRISD_STORE_OK && n > 1;
          left -= outcome == IRISD_STORE_OK ? n : 0;
          most = fewer ? n / 4 + 1 : most;
          outcome = fewer || emptied != IRISD_STORE_OK ? emptied : outcome;
        }
      if (outcome != IRISD_STORE_OK)
        g_propagate_error (error, g_steal_pointer (&local));
    }
  return outcome;
}

/* Removals come first. An end can be larger than the item was, and may have to wait for their
 * space; once the reserve is used up it waits anyway, because removals need some for the log. */
static IrisdStoreOutcome
write_when_full (IrisdJournal *self, GError **error)
{
  IrisdStoreOutcome outcome = write_in_steps (self, REMOVALS, error);
  if (outcome == IRISD_STORE_OK && !self->reserve.held)
    outcome = irisd_store_shrink (self->store, error);
  gboolean only_removals = !self->reserve.held
                           && !irisd_reserve_has_room (&self->reserve, ROOM_FOR_REMOVALS);
  if (outcome == IRISD_STORE_OK && !only_removals)
    outcome = write_in_steps (self, ACCEPTED, error);
  if (outcome != IRISD_STORE_OK || !only_removals)
    return outcome;
  g_set_error (error, G_FILE_ERROR, G_FILE_ERROR_NOSPC, "the reserve is used up");
  return IRISD_STORE_FULL;
}

static void
set_health (IrisdJournal *self, IrisdJournalHealth health, const char *why)
{
  g_autofree char *status = NULL;
  /* Never freed, because other threads may read it; a run has few of them. */
  if (why != NULL)
    atomic_store_explicit (&self->reason, (char *) g_intern_string (why), memory_order_relaxed);
  atomic_store_explicit (&self->health, health, memory_order_release);
  status = health == IRISD_JOURNAL_READY ? g_strdup ("STATUS=serving")
                                         : g_strdup_printf ("STATUS=not ready: %s", why);
  irisd_notify_service_manager (status);
}

static void
enter_full (IrisdJournal *self, const GError *error)
{
  if (irisd_journal_get_health (self) != IRISD_JOURNAL_READY)
    return;
  irisd_log (IRISD_LOG_WARNING,
             "cannot take persistent items: the journal's disk is full (%s); make room. Items that "
             "were accepted go on",
             error->message);
  set_health (self, IRISD_JOURNAL_FULL, "the journal's disk is full");
}

static void
discard_one (gpointer persistent, gpointer journal)
{
  irisd_journal_discard (journal, persistent);
}

/* Frees the data of a journal request that will not be written. */
static void
discard_all (IrisdJournal *self, IrisdJournalRequest *request)
{
  if (request->persistent != NULL)
    irisd_journal_discard (self, g_steal_pointer (&request->persistent));
  if (request->persistents != NULL)
    g_ptr_array_foreach (request->persistents, discard_one, self);
  g_clear_pointer (&request->row_batch, irisd_row_batch_unref);
}

/* Fails the journal requests that wait for new items to be written. */
static void
refuse_new (IrisdJournal *self, const char *reason)
{
  IrisdJournalRequest *request = self->first_attendant;
  self->first_attendant = self->last_attendant = NULL;
  while (request != NULL)
    {
      IrisdJournalRequest *next = request->next;
      if (request->kind != IRISD_JOURNAL_REQUEST_KEEP
          && request->kind != IRISD_JOURNAL_REQUEST_DONE)
        irisd_journal_attend (self, request);
      else
        {
          request->error = g_error_new (IRIS_WIRE_ERROR, IRIS_WIRE_ERROR_JOURNAL_FAILED,
                                        "cannot store the persistent item: %s", reason);
          discard_all (self, request);
          irisd_journal_answer (self, request);
        }
      request = next;
    }
}

static void
settle_attendants (IrisdJournal *self)
{
  IrisdJournalRequest *request = self->first_attendant;
  self->first_attendant = self->last_attendant = NULL;
  while (request != NULL)
    {
      IrisdJournalRequest *next = request->next;
      irisd_journal_settle (self, request);
      request = next;
    }
}

static const char *
explain (const IrisdJournalRequest *request)
{
  switch (request->kind)
    {
    case IRISD_JOURNAL_REQUEST_BURY:
      return "cannot write that the item is buried, so it runs again when irisd is started "
             "again";
    case IRISD_JOURNAL_REQUEST_CANCEL:
      return "the item is cancelled, and is buried again when irisd is started again";
    case IRISD_JOURNAL_REQUEST_KICK:
      return "the kicked items run, and are buried again when irisd is started again, unless it "
             "has "
             "ended";
    default:
      return "cannot write the end of the item, which ran; it runs again when irisd is "
             "started again";
    }
}

static void
fail_for_good (IrisdJournal *self, const GError *error)
{
  irisd_log (IRISD_LOG_ERROR,
             "the journal failed: %s; it writes nothing more. Check the disk, then start "
             "irisd again, which goes on with what is stored",
             error->message);
  set_health (self, IRISD_JOURNAL_FAILED, error->message);
  refuse_new (self, error->message);
  for (IrisdJournalRequest *request = self->first_attendant; request != NULL;
       request = request->next)
    request->error = g_error_new (IRIS_WIRE_ERROR, IRIS_WIRE_ERROR_JOURNAL_FAILED, "%s: %s",
                                  explain (request), error->message);
  settle_attendants (self);

  /* The row in memory is the only copy; it can still be fetched. */
  IrisdPersistentItem *persistent = self->first_dirty;
  self->first_dirty = self->last_dirty = NULL;
  self->n_dirty = 0;
  self->commit_by_us = 0;
  while (persistent != NULL)
    {
      IrisdPersistentItem *next = persistent->next_dirty;
      persistent->dirty = FALSE;
      if (persistent->forgotten)
        irisd_persistent_item_free (persistent);
      persistent = next;
    }
}

/* A failed copy of the log is no failure of the journal if the disk is full. */
static void
judge_copy (IrisdJournal *self, IrisdStoreOutcome outcome, const GError *error)
{
  if (outcome == IRISD_STORE_OK)
    return;
  if (outcome != IRISD_STORE_FULL)
    {
      fail_for_good (self, error);
      return;
    }
  enter_full (self, error);
  irisd_reserve_give_up (&self->reserve);
}

static void
tidy (IrisdJournal *self)
{
  g_autoptr (GError) error = NULL;
  IrisdStoreOutcome outcome = irisd_store_tidy (self->store, &error);
  judge_copy (self, outcome, error);
}

/* Copies the store's log into its database, and frees the log's space. */
void
irisd_journal_empty_log (IrisdJournal *self)
{
  g_autoptr (GError) error = NULL;
  self->idle_us = 0;
  if (irisd_journal_get_health (self) == IRISD_JOURNAL_FAILED)
    return;
  IrisdStoreOutcome outcome = irisd_store_empty_log (self->store, &error);
  judge_copy (self, outcome, error);
}

/* Gives up the reserve, and empties the log. Returns whether either may have helped. */
static IrisdStoreOutcome
make_room (IrisdJournal *self, GError **error)
{
  gboolean gave_up = irisd_reserve_give_up (&self->reserve);
  IrisdStoreOutcome outcome = irisd_store_empty_log (self->store, error);
  if (outcome != IRISD_STORE_FULL || !gave_up)
    return outcome;
  g_clear_error (error);
  return IRISD_STORE_OK;
}

static IrisdStoreOutcome
write_by_health (IrisdJournal *self, GError **error)
{
  return irisd_journal_get_health (self) == IRISD_JOURNAL_READY ? write_all (self, error)
                                                                : write_when_full (self, error);
}

/* Writes the dirty rows, in one transaction or, on a full disk, in several, and answers the journal
 * requests that wait for it. */
void
irisd_journal_commit (IrisdJournal *self)
{
  g_autoptr (GError) error = NULL;
  gint64 begin = g_get_monotonic_time ();
  IrisdStoreOutcome outcome = write_by_health (self, &error);
  if (outcome == IRISD_STORE_FULL)
    {
      enter_full (self, error);
      refuse_new (self, "the journal's disk is full; make room, then send it again");
      g_clear_error (&error);
      outcome = make_room (self, &error);
      if (outcome == IRISD_STORE_OK)
        outcome = write_when_full (self, &error);
    }

  gint64 now = g_get_monotonic_time ();
  self->commit_us = MAX (now - begin, self->commit_us - self->commit_us / COMMITS_REMEMBERED);
  self->retry_us = 0;
  self->idle_us = now + IRISD_JOURNAL_IDLE_US;
  if (outcome == IRISD_STORE_OK)
    {
      self->commit_by_us = self->n_dirty > 0 ? now + (gint64) self->limits->relaxed_ms * 1000 : 0;
      settle_attendants (self);
      tidy (self);
    }
  else if (outcome == IRISD_STORE_FULL)
    self->retry_us = now + RETRY_US;
  else
    fail_for_good (self, error);
}

static void
give_room_back (IrisdJournal *self)
{
  g_autoptr (GError) error = NULL;
  IrisdStoreOutcome outcome = irisd_store_empty_log (self->store, &error);
  if (outcome == IRISD_STORE_OK)
    outcome = irisd_store_shrink (self->store, &error);
  if (outcome != IRISD_STORE_OK && outcome != IRISD_STORE_FULL)
    fail_for_good (self, error);
}

/* Takes the reserve if it is missing, and accepts items again once it is taken. */
void
irisd_journal_try_reserve (IrisdJournal *self)
{
  /* Rows to be removed count until the removal is written. */
  gboolean keep_slack = self->table.n_items > 0 || self->n_dirty > 0;
  gboolean held = irisd_reserve_take (&self->reserve, keep_slack);
  if (!held)
    {
      give_room_back (self);
      held = irisd_reserve_take (&self->reserve, keep_slack);
    }
  IrisdJournalHealth health = irisd_journal_get_health (self);
  if (held && health == IRISD_JOURNAL_FULL)
    {
      irisd_log (IRISD_LOG_INFO,
                 "the journal's disk has room again: persistent items are taken again");
      set_health (self, IRISD_JOURNAL_READY, NULL);
    }
  else if (!held && health == IRISD_JOURNAL_READY)
    {
      g_autoptr (GError) error = g_error_new_literal (G_FILE_ERROR, G_FILE_ERROR_NOSPC,
                                                      "there is no room for the reserve");
      enter_full (self, error);
    }
}
