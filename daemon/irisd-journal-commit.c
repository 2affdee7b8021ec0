/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * The journal's transactions, and what becomes of it when one fails.
 *
 * Everything that waits goes into one transaction: nobody's commit is delayed for the sake of
 * others, they only share the sync that is due anyway (group commit; DeWitt et al., "Implementation
 * Techniques for Main Memory Database Systems", SIGMOD 1984).
 *
 * A full disk changes nothing that was written, so it may be tried again: new items are refused,
 * the reserve is given up, and ends and removals go on. Any other failure is final. After a sync
 * that failed nobody can know what is on the disk: the kernel reports it once, and may count the
 * pages as clean from then on (Rebello et al., "Can Applications Recover from fsync Failures?",
 * USENIX ATC 2020). So the journal is not written any more until irisd is started again and reads
 * what is there.
 */
#include "irisd-journal-private.h"

#include "irisd-log.h"
#include "irisd-notify.h"

/* Between two attempts on a full disk. */
#define RETRY_US (G_USEC_PER_SEC / 2)

/**
 * irisd_journal_mark_dirty:
 * @self: the journal
 * @kept: an item whose row is to be written, or to go
 */
void
irisd_journal_mark_dirty (IrisdJournal *self, IrisdKept *kept)
{
  if (kept->dirty)
    return;
  kept->dirty = TRUE;
  kept->next_dirty = NULL;
  if (self->last_dirty != NULL)
    self->last_dirty->next_dirty = kept;
  else
    self->first_dirty = kept;
  self->last_dirty = kept;
  if (self->n_dirty++ == 0 && self->commit_by_us == 0)
    self->commit_by_us = g_get_monotonic_time () + (gint64) self->limits->relaxed_ms * 1000;
}

/**
 * irisd_journal_attend:
 * @self: the journal
 * @slip: (transfer full): is answered after the next transaction, which is due at once
 */
void
irisd_journal_attend (IrisdJournal *self, IrisdSlip *slip)
{
  slip->next = NULL;
  if (self->last_attendant != NULL)
    self->last_attendant->next = slip;
  else
    self->first_attendant = slip;
  self->last_attendant = slip;
  self->commit_by_us = 1;
}

static gboolean
is_new (IrisdKept *kept)
{
  return !kept->written && !kept->forgotten && !irisd_kept_has_ended (kept);
}

static IrisdStoreOutcome
write_one (IrisdJournal *self, IrisdKept *kept, GError **error)
{
  if (!kept->forgotten)
    {
      const IrisdRow row = irisd_kept_get_row (kept);
      return irisd_store_put (self->store, &row, error);
    }
  return kept->written ? irisd_store_remove (self->store, kept->item, error) : IRISD_STORE_OK;
}

static IrisdStoreOutcome
write_dirty (IrisdJournal *self, gboolean take_new, GError **error)
{
  IrisdStoreOutcome outcome = irisd_store_begin (self->store, error);
  for (IrisdKept *kept = self->first_dirty; kept != NULL && outcome == IRISD_STORE_OK;
       kept = kept->next_dirty)
    if (take_new || !is_new (kept))
      outcome = write_one (self, kept, error);
  if (outcome == IRISD_STORE_OK)
    outcome = irisd_store_commit (self->store, error);
  if (outcome != IRISD_STORE_OK)
    irisd_store_rollback (self->store);
  return outcome;
}

/* Takes the dirty items out of their list, but for those that were passed over. */
static void
clean (IrisdJournal *self, gboolean take_new)
{
  IrisdKept *kept = self->first_dirty;
  self->first_dirty = self->last_dirty = NULL;
  self->n_dirty = 0;
  self->commit_by_us = 0;
  while (kept != NULL)
    {
      IrisdKept *next = kept->next_dirty;
      gboolean passed_over = !take_new && is_new (kept);
      kept->dirty = FALSE;
      if (passed_over)
        irisd_journal_mark_dirty (self, kept);
      else if (kept->forgotten)
        irisd_kept_free (kept);
      else
        {
          kept->written = TRUE;
          irisd_kept_clear_row (kept);
        }
      kept = next;
    }
}

static void
set_health (IrisdJournal *self, IrisdJournalHealth health, const char *why)
{
  g_autofree char *status = NULL;
  /* Few in a life; whoever reads one in another thread must not lose it. */
  if (why != NULL)
    atomic_store_explicit (&self->sentence, (char *) g_intern_string (why), memory_order_relaxed);
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
             "the journal's disk is full (%s): items that are to be kept are refused until there "
             "is room; what was accepted goes on",
             error->message);
  set_health (self, IRISD_JOURNAL_FULL, "the journal's disk is full");
}

static void
discard_one (gpointer kept, gpointer journal)
{
  irisd_journal_discard (journal, kept);
}

/* Takes back what came with a slip: it will not be written. */
static void
discard_all (IrisdJournal *self, IrisdSlip *slip)
{
  if (slip->kept != NULL)
    irisd_journal_discard (self, g_steal_pointer (&slip->kept));
  if (slip->kepts != NULL)
    g_ptr_array_foreach (slip->kepts, discard_one, self);
  g_clear_pointer (&slip->sheet, irisd_sheet_unref);
}

/* Answers those that wait for new items to be written: they will not be. */
static void
refuse_new (IrisdJournal *self, const char *sentence)
{
  IrisdSlip *slip = self->first_attendant;
  self->first_attendant = self->last_attendant = NULL;
  while (slip != NULL)
    {
      IrisdSlip *next = slip->next;
      if (slip->kind != IRISD_SLIP_KEEP && slip->kind != IRISD_SLIP_DONE)
        irisd_journal_attend (self, slip);
      else
        {
          slip->error = g_error_new (IRIS_WIRE_ERROR, IRIS_WIRE_ERROR_JOURNAL_FAILED,
                                     "the item was not kept: %s", sentence);
          discard_all (self, slip);
          irisd_journal_answer (self, slip);
        }
      slip = next;
    }
}

static void
settle_attendants (IrisdJournal *self)
{
  IrisdSlip *slip = self->first_attendant;
  self->first_attendant = self->last_attendant = NULL;
  while (slip != NULL)
    {
      IrisdSlip *next = slip->next;
      irisd_journal_settle (self, slip);
      slip = next;
    }
}

static const char *
explain (const IrisdSlip *slip)
{
  switch (slip->kind)
    {
    case IRISD_SLIP_BURY:
      return "that the item is buried could not be written, so it runs again when irisd is started "
             "again";
    case IRISD_SLIP_CANCEL:
      return "the item is cancelled, and is buried again when irisd is started again";
    case IRISD_SLIP_KICK:
      return "what was kicked runs, and is buried again when irisd is started again, unless it has "
             "ended";
    default:
      return "the item ran and its end could not be written, so it runs again when irisd is "
             "started again";
    }
}

static void
fail_for_good (IrisdJournal *self, const GError *error)
{
  irisd_log (IRISD_LOG_ERROR,
             "the journal failed: %s; nothing is written any more. Look at the disk, then start "
             "irisd again: it goes on from what is there",
             error->message);
  set_health (self, IRISD_JOURNAL_FAILED, error->message);
  refuse_new (self, error->message);
  for (IrisdSlip *slip = self->first_attendant; slip != NULL; slip = slip->next)
    slip->error = g_error_new (IRIS_WIRE_ERROR, IRIS_WIRE_ERROR_JOURNAL_FAILED, "%s: %s",
                               explain (slip), error->message);
  settle_attendants (self);

  /* What was to be written is all that there is of it; it can still be fetched. */
  IrisdKept *kept = self->first_dirty;
  self->first_dirty = self->last_dirty = NULL;
  self->n_dirty = 0;
  self->commit_by_us = 0;
  while (kept != NULL)
    {
      IrisdKept *next = kept->next_dirty;
      kept->dirty = FALSE;
      if (kept->forgotten)
        irisd_kept_free (kept);
      kept = next;
    }
}

static void
tidy (IrisdJournal *self)
{
  g_autoptr (GError) error = NULL;
  IrisdStoreOutcome outcome = irisd_store_tidy (self->store, &error);
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

/* Gives up the reserve; and copies the log into the database, because what is written then begins
 * at the head of the log again and takes no more room. Returns whether either may have helped. */
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

/**
 * irisd_journal_commit:
 * @self: the journal
 *
 * Writes what waits, in one transaction, and answers those that wait for it.
 */
void
irisd_journal_commit (IrisdJournal *self)
{
  g_autoptr (GError) error = NULL;
  gboolean take_new = irisd_journal_get_health (self) == IRISD_JOURNAL_READY;
  IrisdStoreOutcome outcome = write_dirty (self, take_new, &error);
  if (outcome == IRISD_STORE_FULL)
    {
      enter_full (self, error);
      refuse_new (self, "the journal's disk is full: make room, then send it again");
      take_new = FALSE;
      g_clear_error (&error);
      outcome = make_room (self, &error);
      if (outcome == IRISD_STORE_OK)
        outcome = write_dirty (self, take_new, &error);
    }

  self->retry_us = 0;
  if (outcome == IRISD_STORE_OK)
    {
      clean (self, take_new);
      settle_attendants (self);
      tidy (self);
    }
  else if (outcome == IRISD_STORE_FULL)
    self->retry_us = g_get_monotonic_time () + RETRY_US;
  else
    fail_for_good (self, error);
}

static void
give_room_back (IrisdJournal *self)
{
  g_autoptr (GError) error = NULL;
  IrisdStoreOutcome outcome = irisd_store_shrink (self->store, &error);
  if (outcome != IRISD_STORE_OK && outcome != IRISD_STORE_FULL)
    fail_for_good (self, error);
}

/**
 * irisd_journal_try_reserve:
 * @self: the journal
 *
 * Takes the reserve if it is not there, and items again once it is.
 */
void
irisd_journal_try_reserve (IrisdJournal *self)
{
  gboolean held = irisd_reserve_take (&self->reserve);
  if (!held && irisd_journal_get_health (self) == IRISD_JOURNAL_FULL)
    {
      give_room_back (self);
      held = irisd_reserve_take (&self->reserve);
    }
  IrisdJournalHealth health = irisd_journal_get_health (self);
  if (held && health == IRISD_JOURNAL_FULL)
    {
      irisd_log (IRISD_LOG_INFO, "the journal's disk has room again: items are kept again");
      set_health (self, IRISD_JOURNAL_READY, NULL);
    }
  else if (!held && health == IRISD_JOURNAL_READY)
    {
      g_autoptr (GError) error = g_error_new_literal (G_FILE_ERROR, G_FILE_ERROR_NOSPC,
                                                      "there is no room for the reserve");
      enter_full (self, error);
    }
}
