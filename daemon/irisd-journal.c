/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * The journal: the thread that knows all kept items and writes them down.
 *
 * Gateways post slips to its mailbox, and it posts them back to theirs; nothing else is shared,
 * so nothing is locked. What it may be asked by any thread (how it is, how many items there are) is
 * atomic, and only tells.
 *
 * A durable item is answered after the transaction that holds it, and so is its end. A relaxed one
 * is answered at once, and its transaction begins when a durable one's does, or `relaxed-ms` later.
 */
#include "irisd-journal-private.h"

#include <poll.h>

/* Items of one transaction; a sync costs the same for one as for all. */
#define MOST_DIRTY 4096

/* How often ends that have expired are looked for. */
#define SWEEP_US (5 * G_USEC_PER_SEC)

/* How often a full disk is looked at. */
#define RESERVE_US G_USEC_PER_SEC

void
irisd_journal_post (IrisdJournal *self, IrisdSlip *slip)
{
  irisd_mailbox_post (&self->mailbox, &slip->letter);
}

void
irisd_journal_answer (IrisdJournal *self, IrisdSlip *slip)
{
  irisd_mailbox_post (slip->home, &slip->letter);
}

/**
 * irisd_journal_discard:
 * @self: the journal
 * @kept: an item of its table
 *
 * Takes it out of the table, and its row out of the store.
 */
void
irisd_journal_discard (IrisdJournal *self, IrisdKept *kept)
{
  irisd_kept_table_remove (&self->table, kept);
  irisd_journal_count (self);
  kept->forgotten = TRUE;
  irisd_kept_clear_row (kept);
  irisd_journal_turn_away_waits (self, kept);
  if (kept->dirty)
    return;
  if (kept->written && irisd_journal_get_health (self) != IRISD_JOURNAL_FAILED)
    irisd_journal_mark_dirty (self, kept);
  else
    irisd_kept_free (kept);
}

/* The item with the same key, if there is one that has not expired. */
static IrisdKept *
find_same (IrisdJournal *self, IrisdKept *kept)
{
  IrisdKept *same = kept->key_size > 0 ? irisd_kept_table_lookup_key (&self->table, kept) : NULL;
  return same != NULL ? irisd_journal_look_up (self, same->item, IRISD_VIEW_ALL) : NULL;
}

static void
refuse_keep (IrisdJournal *self, IrisdSlip *slip, GError *error)
{
  irisd_kept_free (g_steal_pointer (&slip->kept));
  irisd_journal_release (self);
  slip->error = error;
  irisd_journal_answer (self, slip);
}

static void
keep (IrisdJournal *self, IrisdSlip *slip)
{
  IrisdKept *kept = slip->kept;
  IrisdKept *same = find_same (self, kept);
  if (same != NULL)
    {
      irisd_kept_free (g_steal_pointer (&slip->kept));
      irisd_journal_release (self);
      slip->duplicate = TRUE;
      slip->item = same->item;
      if (same->klass == IRIS_WIRE_CLASS_DURABLE && !same->written)
        irisd_journal_attend (self, slip);
      else
        irisd_journal_answer (self, slip);
      return;
    }
  if (irisd_journal_get_health (self) != IRISD_JOURNAL_READY)
    {
      refuse_keep (self, slip,
                   g_error_new (IRIS_WIRE_ERROR, IRIS_WIRE_ERROR_JOURNAL_FAILED,
                                "the item was not kept: %s", irisd_journal_get_sentence (self)));
      return;
    }
  /* Without a key it was judged by the gateway. */
  if (kept->key_size > 0 && !irisd_journal_has_room (self))
    {
      refuse_keep (self, slip,
                   g_error_new_literal (IRIS_WIRE_ERROR, IRIS_WIRE_ERROR_BUSY, "kept-items"));
      return;
    }
  irisd_kept_set_row (kept, IRIS_WIRE_STATE_QUEUED, slip->type,
                      (IrisWireFrame){ slip->header.data, slip->header.size }, slip->payload);
  irisd_kept_table_add (&self->table, kept);
  irisd_journal_make_room (self);
  irisd_journal_count (self);
  irisd_journal_mark_dirty (self, kept);
  if (kept->klass == IRIS_WIRE_CLASS_DURABLE)
    irisd_journal_attend (self, slip);
  else
    irisd_journal_answer (self, slip);
}

/* Not ended, for whoever asks, before irisd_journal_apply_end(). */
static IrisdKept *
add_done (IrisdJournal *self, IrisdSheetRow *row, const IrisdKept *like)
{
  const IrisdRow view = irisd_sheet_row_view (row);
  IrisdRecord record;
  if (!irisd_record_unpack (&record, &view))
    g_error ("a row of item %" G_GUINT64_FORMAT " cannot be read", row->item);
  record.state = IRIS_WIRE_STATE_RUNNING;
  IrisdKept *kept = irisd_kept_new (&record, like);
  irisd_kept_take_row (kept, row);
  irisd_kept_table_add (&self->table, kept);
  if (irisd_journal_get_health (self) != IRISD_JOURNAL_FAILED)
    irisd_journal_mark_dirty (self, kept);
  return kept;
}

/* Durable ones do not count as ended before they are written, and nobody was told of them yet.
 * Relaxed ones have ended, whatever becomes of their rows. */
static void
keep_done (IrisdJournal *self, IrisdSlip *slip)
{
  if (slip->durable && irisd_journal_get_health (self) != IRISD_JOURNAL_READY)
    {
      g_clear_pointer (&slip->sheet, irisd_sheet_unref);
      irisd_journal_release (self);
      slip->error = g_error_new (IRIS_WIRE_ERROR, IRIS_WIRE_ERROR_JOURNAL_FAILED,
                                 "the item was not kept: %s", irisd_journal_get_sentence (self));
      irisd_journal_answer (self, slip);
      return;
    }
  guint n = irisd_sheet_get_n_rows (slip->sheet);
  IrisdKept *kept = NULL;
  slip->kepts = slip->durable ? g_ptr_array_sized_new (n) : NULL;
  for (guint i = 0; i < n; i++)
    {
      IrisdSheetRow *row = irisd_sheet_get_row (slip->sheet, i);
      kept = add_done (self, row, kept);
      if (slip->durable)
        g_ptr_array_add (slip->kepts, kept);
      else
        irisd_journal_apply_end (self, kept, row->state);
    }
  irisd_journal_make_room (self);
  irisd_journal_count (self);
  if (slip->durable)
    {
      irisd_journal_attend (self, slip);
      return;
    }
  /* The gateway has answered for them when it made the slip, which may have waited here. */
  if (self->n_dirty > 0)
    irisd_journal_commit_for (self, slip->made_us);
  irisd_slip_free (slip);
}

/* They are written. */
static void
settle_done (IrisdJournal *self, IrisdSlip *slip)
{
  g_autoptr (GPtrArray) kepts = g_steal_pointer (&slip->kepts);
  for (guint i = 0; i < kepts->len; i++)
    irisd_journal_apply_end (self, g_ptr_array_index (kepts, i),
                             irisd_sheet_get_row (slip->sheet, i)->state);
  g_clear_pointer (&slip->sheet, irisd_sheet_unref);
  irisd_journal_answer (self, slip);
  for (guint i = 0; i < kepts->len; i++)
    irisd_journal_wake_waits (self, g_ptr_array_index (kepts, i));
}

/**
 * irisd_journal_apply_end:
 * @self: the journal
 * @kept: an item of it
 * @state: what it ended in
 *
 * From now on the item has ended, for whoever asks. Those who wait for it are not told yet.
 */
void
irisd_journal_apply_end (IrisdJournal *self, IrisdKept *kept, guint32 state)
{
  irisd_kept_set_state (kept, state);
  irisd_kept_table_note_end (&self->table, kept);
  irisd_journal_count (self);
  if (self->sweep_us == 0)
    self->sweep_us = g_get_monotonic_time () + SWEEP_US;
}

static void
end (IrisdJournal *self, IrisdSlip *slip)
{
  IrisdKept *kept = slip->kept;
  gboolean durable = kept->klass == IRIS_WIRE_CLASS_DURABLE;
  gboolean failed = irisd_journal_get_health (self) == IRISD_JOURNAL_FAILED;
  if (durable && failed)
    {
      slip->error = g_error_new (IRIS_WIRE_ERROR, IRIS_WIRE_ERROR_JOURNAL_FAILED,
                                 "the item ran and its end could not be written, so it runs "
                                 "again when irisd is started again: %s",
                                 irisd_journal_get_sentence (self));
      irisd_kept_set_state (kept, IRIS_WIRE_STATE_QUEUED);
      irisd_journal_answer (self, slip);
      return;
    }
  kept->attempts++;
  kept->ended_ms = irisd_unix_ms ();
  irisd_kept_set_row (kept, slip->state, slip->type,
                      (IrisWireFrame){ slip->header.data, slip->header.size }, slip->payload);
  if (!failed)
    irisd_journal_mark_dirty (self, kept);
  if (durable)
    irisd_journal_attend (self, slip);
  else
    irisd_journal_settle (self, slip);
}

/**
 * irisd_journal_settle:
 * @self: the journal
 * @slip: (transfer full): what waited for its transaction, which is through, or failed
 *
 * The gateway that has the job is told of its end before those who wait for it: so what one of them
 * asks about the item afterwards reaches that gateway when it has let go of the job.
 */
void
irisd_journal_settle (IrisdJournal *self, IrisdSlip *slip)
{
  IrisdKept *ended = NULL;
  if (slip->kind == IRISD_SLIP_DONE)
    {
      settle_done (self, slip);
      return;
    }
  if (slip->kind == IRISD_SLIP_END && slip->error == NULL)
    {
      ended = slip->kept;
      irisd_journal_apply_end (self, ended, slip->state);
    }
  else if (slip->kind == IRISD_SLIP_END)
    {
      irisd_kept_set_state (slip->kept, IRIS_WIRE_STATE_QUEUED);
      irisd_kept_clear_row (slip->kept);
    }
  else if (slip->kind == IRISD_SLIP_BURY)
    irisd_journal_settle_bury (self, slip);
  irisd_journal_answer (self, slip);
  if (ended != NULL)
    irisd_journal_wake_waits (self, ended);
}

/* With a key, the end stays, so that a second submission finds it. */
static void
forget_one (IrisdJournal *self, guint64 item)
{
  IrisdKept *kept = irisd_kept_table_lookup (&self->table, item);
  if (kept != NULL && kept->key_size == 0 && irisd_kept_has_ended (kept))
    irisd_journal_discard (self, kept);
}

static void
forget (IrisdJournal *self, IrisdSlip *slip)
{
  for (guint i = 0; i < slip->items->len; i++)
    {
      const IrisdSpan *span = &g_array_index (slip->items, IrisdSpan, i);
      for (guint64 n = 0; n < span->n; n++)
        forget_one (self, span->first + n);
    }
  irisd_slip_free (slip);
}

static void
handle (IrisdJournal *self, IrisdSlip *slip)
{
  self->n_releasing = slip->n_reserved;
  switch (slip->kind)
    {
    case IRISD_SLIP_KEEP:
      keep (self, slip);
      break;
    case IRISD_SLIP_DONE:
      keep_done (self, slip);
      break;
    case IRISD_SLIP_END:
      end (self, slip);
      break;
    case IRISD_SLIP_RETRY:
      irisd_journal_retry (self, slip);
      break;
    case IRISD_SLIP_FORGET:
      forget (self, slip);
      break;
    case IRISD_SLIP_LIST:
      irisd_journal_list (self, slip);
      break;
    case IRISD_SLIP_BURY:
      irisd_journal_bury (self, slip);
      break;
    case IRISD_SLIP_KICK:
      irisd_journal_kick (self, slip);
      break;
    case IRISD_SLIP_CANCEL:
      irisd_journal_cancel_buried (self, slip);
      break;
    case IRISD_SLIP_INTER:
      irisd_journal_look_where (self, slip);
      break;
    case IRISD_SLIP_CALL:
      irisd_journal_call (self, slip);
      break;
    default:
      irisd_journal_ask (self, slip);
      break;
    }
}

static void
sweep (IrisdJournal *self, gint64 now)
{
  if (self->sweep_us == 0 || now < self->sweep_us)
    return;
  guint64 unix_ms = irisd_unix_ms ();
  for (IrisdKept *kept = self->table.first, *next; kept != NULL; kept = next)
    {
      next = kept->next;
      if (irisd_kept_has_ended (kept) && irisd_kept_get_expiry (kept) <= unix_ms)
        irisd_journal_discard (self, kept);
    }
  self->sweep_us = self->table.n_ended > 0 ? now + SWEEP_US : 0;
}

static gboolean
is_due (IrisdJournal *self, gint64 now)
{
  if (irisd_journal_get_health (self) == IRISD_JOURNAL_FAILED)
    return FALSE;
  if (self->retry_us != 0)
    return now >= self->retry_us;
  return self->commit_by_us != 0 && (now >= self->commit_by_us || self->n_dirty >= MOST_DIRTY);
}

static gint64
earlier (gint64 a, gint64 b)
{
  return a == 0 || (b != 0 && b < a) ? b : a;
}

static int
time_left_ms (IrisdJournal *self)
{
  gint64 now = g_get_monotonic_time ();
  gint64 until = earlier (self->sweep_us, self->idle_us);
  GSequenceIter *first = g_sequence_get_begin_iter (self->deadlines);
  IrisdJournalHealth health = irisd_journal_get_health (self);
  if (health != IRISD_JOURNAL_FAILED)
    until = earlier (until, self->retry_us != 0 ? self->retry_us : self->commit_by_us);
  if (health == IRISD_JOURNAL_FULL)
    until = earlier (until, now + RESERVE_US);
  if (!g_sequence_iter_is_end (first))
    until = earlier (until, ((IrisdSlip *) g_sequence_get (first))->deadline_us);
  if (until == 0)
    return -1;
  return until <= now ? 0 : (int) MIN ((until - now) / 1000 + 1, G_MAXINT);
}

static void
sleep_until_something (IrisdJournal *self)
{
  if (!irisd_mailbox_prepare_sleep (&self->mailbox))
    return;
  struct pollfd fd = { .fd = self->mailbox.fd, .events = POLLIN };
  int n = poll (&fd, 1, time_left_ms (self));
  irisd_mailbox_finish_sleep (&self->mailbox, n > 0);
}

static gboolean
take_letters (IrisdJournal *self)
{
  IrisdLetter *letter = irisd_mailbox_take (&self->mailbox);
  gboolean any = letter != NULL;
  while (letter != NULL)
    {
      IrisdLetter *next = letter->next;
      handle (self, irisd_slip_from_letter (letter));
      if (self->n_dirty >= MOST_DIRTY && is_due (self, g_get_monotonic_time ()))
        irisd_journal_commit (self);
      letter = next;
    }
  return any;
}

static gpointer
run_thread (gpointer data)
{
  IrisdJournal *self = data;
  for (;;)
    {
      gboolean stopping = atomic_load_explicit (&self->stopping, memory_order_acquire);
      gboolean any = take_letters (self);
      gint64 now = g_get_monotonic_time ();
      irisd_journal_end_overdue_waits (self, now);
      sweep (self, now);
      if (irisd_journal_get_health (self) == IRISD_JOURNAL_FULL)
        irisd_journal_try_reserve (self);
      if (is_due (self, now))
        irisd_journal_commit (self);
      else if (stopping && !any)
        return NULL;
      else if (!any && self->idle_us != 0 && now >= self->idle_us)
        irisd_journal_empty_log (self);
      else if (!any)
        sleep_until_something (self);
    }
}

/**
 * irisd_journal_new:
 * @dir: the directory of the reserve
 * @store: (transfer full): an open store
 * @limits: the limits; have to outlive the journal
 * @error: return location for a #GError
 *
 * Returns: (transfer full): a journal whose thread does not run yet
 */
IrisdJournal *
irisd_journal_new (const char *dir, IrisdStore *store, const IrisdLimits *limits, GError **error)
{
  IrisdJournal *self = g_aligned_alloc0 (1, sizeof *self, 64);
  self->store = store;
  self->limits = limits;
  irisd_kept_table_init (&self->table);
  self->deadlines = g_sequence_new (NULL);
  irisd_reserve_init (&self->reserve, dir, limits->journal_reserve);
  if (irisd_mailbox_init (&self->mailbox, error))
    return self;
  irisd_journal_free (self);
  return NULL;
}

void
irisd_journal_start (IrisdJournal *self)
{
  irisd_journal_try_reserve (self);
  self->idle_us = g_get_monotonic_time () + IRISD_JOURNAL_IDLE_US;
  self->sweep_us = self->table.n_ended > 0 ? 1 : 0;
  self->thread = g_thread_new ("irisd-journal", run_thread, self);
}

/**
 * irisd_journal_stop:
 * @self: the journal; the gateways have ended
 *
 * Writes what waits, and ends the thread.
 */
void
irisd_journal_stop (IrisdJournal *self)
{
  if (self->thread == NULL)
    return;
  atomic_store_explicit (&self->stopping, TRUE, memory_order_release);
  irisd_mailbox_wake (&self->mailbox);
  g_thread_join (g_steal_pointer (&self->thread));
  if (self->n_dirty > 0 && irisd_journal_get_health (self) != IRISD_JOURNAL_FAILED)
    irisd_journal_commit (self);
}

/* Nobody hears the answers any more. */
static void
free_waits (IrisdJournal *self)
{
  for (IrisdKept *kept = self->table.first; kept != NULL; kept = kept->next)
    while (kept->waits != NULL)
      {
        IrisdSlip *slip = kept->waits;
        kept->waits = slip->next_wait;
        irisd_slip_free (slip);
      }
  while (self->first_attendant != NULL)
    {
      IrisdSlip *slip = self->first_attendant;
      self->first_attendant = slip->next;
      irisd_slip_free (slip);
    }
  while (self->first_dirty != NULL)
    {
      IrisdKept *kept = self->first_dirty;
      self->first_dirty = kept->next_dirty;
      if (kept->forgotten)
        irisd_kept_free (kept);
    }
}

/**
 * irisd_journal_free:
 * @self: (transfer full) (nullable): a journal that was stopped or never started
 */
void
irisd_journal_free (IrisdJournal *self)
{
  if (self == NULL)
    return;
  free_waits (self);
  irisd_kept_table_clear (&self->table);
  g_sequence_free (self->deadlines);
  irisd_reserve_clear (&self->reserve);
  irisd_mailbox_clear (&self->mailbox);
  irisd_store_close (self->store);
  g_aligned_free (self);
}

guint64
irisd_journal_get_next_item (IrisdJournal *self)
{
  return irisd_store_get_next_id (self->store);
}

guint64
irisd_journal_get_n_kept (IrisdJournal *self)
{
  return atomic_load_explicit (&self->n_kept, memory_order_relaxed);
}

guint64
irisd_journal_get_n_kept_ended (IrisdJournal *self)
{
  return atomic_load_explicit (&self->n_kept_ended, memory_order_relaxed);
}

guint64
irisd_journal_get_n_damaged (IrisdJournal *self)
{
  return atomic_load_explicit (&self->n_damaged, memory_order_relaxed);
}

IrisdJournalHealth
irisd_journal_get_health (IrisdJournal *self)
{
  return atomic_load_explicit (&self->health, memory_order_acquire);
}

/**
 * irisd_journal_get_sentence:
 * @self: the journal
 *
 * Returns: why it is not ready
 */
const char *
irisd_journal_get_sentence (IrisdJournal *self)
{
  const char *sentence = atomic_load_explicit (&self->sentence, memory_order_relaxed);
  return sentence != NULL ? sentence : "";
}
