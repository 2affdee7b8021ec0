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

/* Between two looks at the sizes of its files. */
#define MEASURE_US (G_USEC_PER_SEC / 4)

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

static gboolean
is_new (IrisdPersistentItem *persistent)
{
  return !persistent->written && !persistent->forgotten
         && !irisd_persistent_item_has_ended (persistent);
}

/* With it goes what was kept of its submission. */
static IrisdStoreOutcome
remove_one (IrisdJournal *self, IrisdPersistentItem *persistent, GError **error)
{
  const guint64 name = GUINT64_TO_BE (persistent->item);
  const IrisdNamedRecord record = { .kind = IRISD_RECORD_SUBMISSION,
                                    .name = (const guint8 *) &name,
                                    .name_size = sizeof name };
  IrisdStoreOutcome outcome = IRISD_STORE_OK;
  if (persistent->has_submission)
    outcome = irisd_store_remove_record (self->store, &record, error);
  return outcome == IRISD_STORE_OK && persistent->written
             ? irisd_store_remove (self->store, persistent->item, error)
             : outcome;
}

/* On a full disk the row is emptied before it is written, so that it needs no more of the database
 * than before. */
static IrisdStoreOutcome
write_one (IrisdJournal *self, IrisdPersistentItem *persistent, Rows rows, GError **error)
{
  IrisdStoreOutcome outcome = IRISD_STORE_OK;
  self->n_rows++;
  if (persistent->forgotten)
    return remove_one (self, persistent, error);
  const IrisdRow row = irisd_persistent_item_get_row (persistent);
  const IrisdRow empty = { .id = row.id, .state = row.state };
  self->n_bytes += row.head_size + row.body_size;
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
      IrisdPersistentItem *persistent = STAILQ_FIRST (&self->dirty);
      gboolean passed_over = is_passed_over (persistent, rows);
      STAILQ_REMOVE_HEAD (&self->dirty, next_dirty);
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

static IrisdStoreOutcome
commit (IrisdJournal *self, GError **error)
{
  gint64 begin = g_get_monotonic_time ();
  IrisdStoreOutcome outcome = irisd_store_commit (self->store, error);
  if (outcome != IRISD_STORE_OK)
    return outcome;
  irisd_histogram_add (&self->counters.sync_times, (g_get_monotonic_time () - begin) * 1000);
  irisd_count (&self->counters.syncs, 1);
  irisd_count (&self->counters.rows, (gint64) self->n_rows);
  irisd_count (&self->counters.bytes, (gint64) self->n_bytes);
  return outcome;
}

/* Writes the first dirty items, in one transaction. */
static IrisdStoreOutcome
write_some (IrisdJournal *self, Rows rows, guint n, GError **error)
{
  IrisdStoreOutcome outcome = irisd_store_begin (self->store, error);
  IrisdPersistentItem *persistent = STAILQ_FIRST (&self->dirty);
  self->n_rows = self->n_bytes = 0;
  /* Before the rows: an item that is removed takes along a record that comes now. */
  if (outcome == IRISD_STORE_OK && rows != ACCEPTED)
    outcome = irisd_journal_write_changes (self, error);
  for (guint i = 0; i < n && outcome == IRISD_STORE_OK;
       i++, persistent = STAILQ_NEXT (persistent, next_dirty))
    if (!is_passed_over (persistent, rows))
      outcome = write_one (self, persistent, rows, error);
  if (outcome == IRISD_STORE_OK)
    outcome = irisd_store_check_room (self->store, error);
  if (outcome == IRISD_STORE_OK)
    outcome = commit (self, error);
  if (outcome != IRISD_STORE_OK)
    {
      irisd_store_rollback (self->store);
      return outcome;
    }
  clean (self, rows, n);
  if (rows != ACCEPTED)
    irisd_journal_clear_changes (self);
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
  gboolean changes = rows == REMOVALS && self->n_changes > 0;
  for (guint left = self->n_dirty; (left > 0 || changes) && outcome == IRISD_STORE_OK;)
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
          changes = changes && outcome != IRISD_STORE_OK;
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
  irisd_journal_drop_change (self, request);
  if (request->persistent != NULL)
    irisd_journal_discard (self, g_steal_pointer (&request->persistent));
  if (request->persistents != NULL)
    g_ptr_array_foreach (request->persistents, discard_one, self);
  g_clear_pointer (&request->row_batch, irisd_row_batch_unref);
}

/* It adds something to the store. */
static gboolean
is_addition (const IrisdJournalRequest *request)
{
  return request->kind == IRISD_JOURNAL_REQUEST_KEEP || request->kind == IRISD_JOURNAL_REQUEST_DONE
         || (request->kind == IRISD_JOURNAL_REQUEST_RECORD && !request->change->removes);
}

/* Fails the journal requests that wait for new items or records to be written. */
static void
refuse_new (IrisdJournal *self, const char *reason)
{
  IrisdJournalRequests waiting = STAILQ_HEAD_INITIALIZER (waiting);
  STAILQ_CONCAT (&waiting, &self->attendants);
  irisd_journal_drop_submissions (self);
  for (IrisdJournalRequest *request; (request = STAILQ_FIRST (&waiting)) != NULL;)
    {
      STAILQ_REMOVE_HEAD (&waiting, next);
      if (!is_addition (request))
        irisd_journal_attend (self, request);
      else
        {
          request->error = g_error_new (IRIS_WIRE_ERROR, IRIS_WIRE_ERROR_JOURNAL_FAILED, "%s: %s",
                                        request->kind == IRISD_JOURNAL_REQUEST_RECORD
                                            ? irisd_journal_explain (request)
                                            : "cannot store the persistent item",
                                        reason);
          discard_all (self, request);
          irisd_journal_answer (self, request);
        }
    }
}

/* From now on @persistent has ended, in @state. Requests that wait for it are not answered yet. */
void
irisd_journal_apply_end (IrisdJournal *self, IrisdPersistentItem *persistent, guint32 state)
{
  irisd_persistent_item_set_state (persistent, state);
  irisd_persistent_table_note_end (&self->table, persistent);
  irisd_journal_count (self);
  if (self->sweep_us == 0)
    self->sweep_us = g_get_monotonic_time () + IRISD_JOURNAL_SWEEP_US;
}

/* They are written. */
static void
settle_done (IrisdJournal *self, IrisdJournalRequest *request)
{
  g_autoptr (GPtrArray) persistents = g_steal_pointer (&request->persistents);
  for (guint i = 0; i < persistents->len; i++)
    irisd_journal_apply_end (self, g_ptr_array_index (persistents, i),
                             irisd_row_batch_get_row (request->row_batch, i)->state);
  g_clear_pointer (&request->row_batch, irisd_row_batch_unref);
  irisd_journal_answer (self, request);
  for (guint i = 0; i < persistents->len; i++)
    irisd_journal_wake_waits (self, g_ptr_array_index (persistents, i));
}

/* Takes @request, a BURY whose transaction is committed or failed. From now on the item counts as
 * buried. */
static void
settle_bury (IrisdJournal *self, IrisdJournalRequest *request)
{
  if (request->error == NULL)
    {
      irisd_persistent_item_advance (request->persistent, IRISD_EVENT_BURY);
      irisd_count (&self->counters.buried, 1);
      irisd_journal_wake_waits (self, request->persistent);
      return;
    }
  irisd_persistent_item_set_state (request->persistent, IRIS_WIRE_STATE_QUEUED);
  irisd_persistent_item_set_reason (request->persistent, 0, NULL);
}

/* Takes @request, whose transaction is committed or failed. The gateway that has the job is told of
 * the end before the clients that wait for it, so a later request of theirs reaches that gateway
 * when it has dropped the job. */
void
irisd_journal_settle (IrisdJournal *self, IrisdJournalRequest *request)
{
  IrisdPersistentItem *ended = NULL;
  if (request->kind == IRISD_JOURNAL_REQUEST_DONE)
    {
      settle_done (self, request);
      return;
    }
  if (request->kind == IRISD_JOURNAL_REQUEST_END && request->error == NULL)
    {
      ended = request->persistent;
      irisd_journal_apply_end (self, ended, request->state);
    }
  else if (request->kind == IRISD_JOURNAL_REQUEST_END)
    {
      irisd_persistent_item_set_state (request->persistent, IRIS_WIRE_STATE_QUEUED);
      irisd_persistent_item_clear_row (request->persistent);
    }
  else if (request->kind == IRISD_JOURNAL_REQUEST_BURY)
    settle_bury (self, request);
  irisd_journal_answer (self, request);
  if (ended != NULL)
    irisd_journal_wake_waits (self, ended);
}

static void
settle_attendants (IrisdJournal *self)
{
  for (IrisdJournalRequest *request; (request = STAILQ_FIRST (&self->attendants)) != NULL;)
    {
      STAILQ_REMOVE_HEAD (&self->attendants, next);
      irisd_journal_settle (self, request);
    }
}

/* Returns what it means that @request cannot be written. */
const char *
irisd_journal_explain (const IrisdJournalRequest *request)
{
  switch (request->kind)
    {
    case IRISD_JOURNAL_REQUEST_BURY:
      return "cannot write that the item is buried, so it runs again when irisd is started "
             "again";
    case IRISD_JOURNAL_REQUEST_CANCEL:
      return "the item is cancelled, and is buried again when irisd is started again";
    case IRISD_JOURNAL_REQUEST_REWRITE:
      return "the item is changed, and is as it was before when irisd is started again: the "
             "change cannot be written";
    case IRISD_JOURNAL_REQUEST_KICK:
      return "the kicked items run, and are buried again when irisd is started again, unless it "
             "has "
             "ended";
    case IRISD_JOURNAL_REQUEST_RECORD:
      return "cannot write the change";
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
  IrisdJournalRequest *request;
  STAILQ_FOREACH (request, &self->attendants, next)
  request->error = g_error_new (IRIS_WIRE_ERROR, IRIS_WIRE_ERROR_JOURNAL_FAILED, "%s: %s",
                                irisd_journal_explain (request), error->message);
  settle_attendants (self);

  irisd_journal_clear_changes (self);
  /* The row in memory is the only copy; it can still be fetched. */
  self->n_dirty = 0;
  self->commit_by_us = 0;
  for (IrisdPersistentItem *persistent; (persistent = STAILQ_FIRST (&self->dirty)) != NULL;)
    {
      STAILQ_REMOVE_HEAD (&self->dirty, next_dirty);
      persistent->dirty = FALSE;
      if (persistent->forgotten)
        irisd_persistent_item_free (persistent);
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
  self->measured_us = 0;
  irisd_journal_measure (self, g_get_monotonic_time ());
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

/* Publishes the sizes of the store's files, from time to time: three system calls are little beside
 * a sync, and much beside a transaction that syncs nothing. */
void
irisd_journal_measure (IrisdJournal *self, gint64 now)
{
  IrisdStoreSize size;
  if (self->measured_us != 0 && now < self->measured_us + MEASURE_US)
    return;
  self->measured_us = now;
  irisd_store_get_size (self->store, &size);
  atomic_store_explicit (&self->counters.file_bytes, size.file, memory_order_relaxed);
  atomic_store_explicit (&self->counters.log_bytes, size.log, memory_order_relaxed);
  atomic_store_explicit (&self->counters.free_bytes, size.free, memory_order_relaxed);
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
  irisd_journal_measure (self, now);
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
