/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * What the journal is asked: how an item ended, where it is, which there are.
 */
#include "irisd-journal-private.h"

#include "irisd-kept-list.h"
#include "irisd-log.h"

#include <string.h>

/* Reads may fail by the million, and be tried again for hours: so often it is logged. */
#define UNREADABLE_LOG_US (10 * G_USEC_PER_SEC)

/* Bytes of an item's payload beyond which a list does not read it for its arguments, and bytes of
 * arguments that a list tells: a page of them has to fit a body. */
#define LISTED_PAYLOAD_MOST 65536
#define LISTED_ARGS_MOST    1024

GError *
irisd_journal_no_such_item (guint64 item)
{
  return g_error_new (IRIS_WIRE_ERROR, IRIS_WIRE_ERROR_NO_SUCH_ITEM,
                      "no item %" G_GUINT64_FORMAT
                      " is kept: its end was fetched or has expired, or there never was one",
                      item);
}

static void
copy_row (const IrisdRow *row, gpointer user_data)
{
  IrisdSlip *slip = user_data;
  IrisdRecord record;
  if (!irisd_record_unpack (&record, row))
    return;
  slip->type = record.type;
  g_free (slip->header.data);
  slip->header = (IrisdBlob){ g_memdup2 (record.header.data, record.header.size),
                              record.header.size };
  zmq_msg_close (&slip->body);
  if (zmq_msg_init_size (&slip->body, record.body.size) != 0)
    g_error ("out of memory for a result of %zu bytes", record.body.size);
  if (record.body.size > 0)
    memcpy (zmq_msg_data (&slip->body), record.body.data, record.body.size);
}

/**
 * irisd_journal_damaged_item:
 * @item: the number of an item whose row is damaged
 *
 * Returns: (transfer full): what is said of it
 */
GError *
irisd_journal_damaged_item (guint64 item)
{
  return g_error_new (
      IRIS_WIRE_ERROR, IRIS_WIRE_ERROR_JOURNAL_FAILED,
      "what is kept of item %" G_GUINT64_FORMAT " cannot be read: the journal is damaged", item);
}

/* Reading failed, and may be tried again. */
static void
tell_unreadable (IrisdJournal *self, IrisdKept *kept, IrisdSlip *slip, const GError *why)
{
  gint64 now = g_get_monotonic_time ();
  self->n_unreadable++;
  if (self->unreadable_us == 0 || now - self->unreadable_us >= UNREADABLE_LOG_US)
    {
      irisd_log (IRISD_LOG_WARNING,
                 "what is kept of item %" G_GUINT64_FORMAT
                 " cannot be read for now: %s; it is kept, and what has to run is tried again "
                 "(reads that failed: %u)",
                 kept->item, why->message, self->n_unreadable);
      self->unreadable_us = now;
      self->n_unreadable = 0;
    }
  slip->again = TRUE;
  slip->error = g_error_new (IRIS_WIRE_ERROR, IRIS_WIRE_ERROR_JOURNAL_FAILED,
                             "what is kept of item %" G_GUINT64_FORMAT
                             " cannot be read for now: %s. Nothing was changed: ask again, and "
                             "look at the disk",
                             kept->item, why->message);
}

/**
 * irisd_journal_read_row:
 * @self: the journal
 * @kept: an item of it
 * @slip: is filled with the message that the item is kept as, or with an error
 *
 * Returns: whether it could be read
 */
gboolean
irisd_journal_read_row (IrisdJournal *self, IrisdKept *kept, IrisdSlip *slip)
{
  g_autoptr (GError) error = NULL;
  IrisdStoreOutcome outcome = IRISD_STORE_OK;
  slip->type = 0;
  if (kept->row != NULL)
    {
      const IrisdRow row = irisd_kept_get_row (kept);
      copy_row (&row, slip);
    }
  else
    outcome = irisd_store_read (self->store, kept->item, copy_row, slip, &error);
  if (outcome == IRISD_STORE_OK && slip->type != 0)
    return TRUE;
  slip->doubtful = outcome == IRISD_STORE_DOUBTFUL;
  if (slip->doubtful || outcome == IRISD_STORE_UNREADABLE)
    {
      tell_unreadable (self, kept, slip, error);
      return FALSE;
    }
  irisd_log (IRISD_LOG_ERROR, "what is kept of item %" G_GUINT64_FORMAT " cannot be read: %s",
             kept->item, error != NULL ? error->message : "it is not there");
  slip->error = irisd_journal_damaged_item (kept->item);
  return FALSE;
}

/* The item as it was submitted; that is gone once it has ended, and never was there of one that was
 * done before it was kept. */
static void
tell_whole (IrisdJournal *self, IrisdKept *kept, IrisdSlip *slip)
{
  gboolean ended = irisd_kept_has_ended (kept);
  if (!ended && irisd_journal_read_row (self, kept, slip))
    ended = slip->type != IRIS_WIRE_SUBMIT;
  if (ended)
    slip->error = g_error_new (
        IRIS_WIRE_ERROR, IRIS_WIRE_ERROR_BAD_ARGUMENT,
        "item %" G_GUINT64_FORMAT
        " has ended, and what it was submitted with is gone: FETCH tells its "
        "end",
        kept->item);
}

static void
tell_buried (IrisdKept *kept, IrisdSlip *slip)
{
  slip->error = g_error_new (IRIS_WIRE_ERROR, IRIS_WIRE_ERROR_BURIED,
                             "item %" G_GUINT64_FORMAT " is buried: %s. It is kept and has no end; "
                             "kick it to have it run again",
                             kept->item, kept->sentence);
}

static void
take_submission (const IrisdRow *row, gpointer user_data)
{
  IrisWireKeptItem *out = user_data;
  IrisdRecord record;
  IrisWireMessage message;
  const guint8 id[IRIS_WIRE_ID_SIZE] = { 0 };
  if (!irisd_record_unpack (&record, row) || record.type != IRIS_WIRE_SUBMIT)
    return;
  const IrisWireFrame frames[IRIS_WIRE_N_FRAMES] = {
    { (const guint8 *) "IRS1", 4 },
    { &record.type, 1 },
    { id, sizeof id },
    record.header,
    record.body,
  };
  if (!iris_wire_decode (frames, IRIS_WIRE_N_FRAMES, NULL, &message, NULL))
    return;
  out->due_ms = MAX (out->due_ms, message.at_ms);
  if (message.args.n == 0)
    return;
  out->args = iris_wire_args_dup (&message.args);
  for (char **arg = out->args; *arg != NULL; arg++)
    {
      char *text = g_utf8_make_valid (*arg, -1);
      g_free (*arg);
      *arg = text;
    }
}

/* Adds what only the message tells that brought the item: its arguments and its time of day. What
 * cannot be read is left out: the rest is worth telling. */
static void
describe_submission (IrisdJournal *self, const IrisdKept *kept, IrisWireKeptItem *out)
{
  if (kept->row != NULL)
    {
      const IrisdRow row = irisd_kept_get_row (kept);
      take_submission (&row, out);
    }
  else if (out->ended_ms == 0)
    irisd_store_read (self->store, kept->item, take_submission, out, NULL);
}

/* Answers FETCH and SHOW with what there is now. */
static void
tell (IrisdJournal *self, IrisdKept *kept, IrisdSlip *slip)
{
  if (slip->kind == IRISD_SLIP_SHOW && slip->whole)
    tell_whole (self, kept, slip);
  else if (slip->kind == IRISD_SLIP_SHOW)
    {
      slip->list = iris_wire_kept_new (1);
      irisd_kept_describe (kept, &slip->list->items[0]);
      describe_submission (self, kept, &slip->list->items[0]);
    }
  else if (irisd_kept_has_ended (kept))
    irisd_journal_read_row (self, kept, slip);
  else if (irisd_kept_get_state (kept) == IRIS_WIRE_STATE_BURIED)
    tell_buried (kept, slip);
  else
    {
      slip->pending = TRUE;
      slip->state = (guint32) irisd_kept_get_state (kept);
    }
  irisd_journal_answer (self, slip);
}

static int
compare_deadlines (gconstpointer a, gconstpointer b, gpointer user_data)
{
  const IrisdSlip *left = a, *right = b;
  return left->deadline_us < right->deadline_us ? -1 : left->deadline_us > right->deadline_us;
}

static void
wait_for_end (IrisdJournal *self, IrisdKept *kept, IrisdSlip *slip)
{
  slip->next_wait = kept->waits;
  kept->waits = slip;
  /* A century is as good as forever, and cannot overflow. */
  if (slip->wait_ms > G_GUINT64_CONSTANT (3155760000000))
    return;
  slip->deadline_us = g_get_monotonic_time () + (gint64) slip->wait_ms * 1000;
  slip->deadline = g_sequence_insert_sorted (self->deadlines, slip, compare_deadlines, NULL);
}

static void
stop_waiting (IrisdSlip *slip)
{
  if (slip->deadline != NULL)
    g_sequence_remove (slip->deadline);
  slip->deadline = NULL;
  slip->next_wait = NULL;
}

/* Tells all that wait for an item. */
void
irisd_journal_wake_waits (IrisdJournal *self, IrisdKept *kept)
{
  IrisdSlip *slip = kept->waits;
  kept->waits = NULL;
  while (slip != NULL)
    {
      IrisdSlip *next = slip->next_wait;
      stop_waiting (slip);
      tell (self, kept, slip);
      slip = next;
    }
}

/* Somebody may have guessed the number of an item that was not accepted after all. */
void
irisd_journal_turn_away_waits (IrisdJournal *self, IrisdKept *kept)
{
  while (kept->waits != NULL)
    {
      IrisdSlip *slip = kept->waits;
      kept->waits = slip->next_wait;
      stop_waiting (slip);
      slip->error = irisd_journal_no_such_item (kept->item);
      irisd_journal_answer (self, slip);
    }
}

void
irisd_journal_end_overdue_waits (IrisdJournal *self, gint64 now)
{
  GSequenceIter *first = g_sequence_get_begin_iter (self->deadlines);
  while (!g_sequence_iter_is_end (first))
    {
      IrisdSlip *slip = g_sequence_get (first);
      if (slip->deadline_us > now)
        return;
      IrisdSlip **link = &slip->kept->waits;
      while (*link != slip)
        link = &(*link)->next_wait;
      *link = slip->next_wait;
      stop_waiting (slip);
      tell (self, slip->kept, slip);
      first = g_sequence_get_begin_iter (self->deadlines);
    }
}

/* An end that has expired is as good as gone, also before the sweep has removed it; and beyond the
 * view there is nothing. */
IrisdKept *
irisd_journal_look_up (IrisdJournal *self, guint64 item, gint64 view)
{
  IrisdKept *kept = irisd_kept_table_lookup (&self->table, item);
  if (kept != NULL && irisd_kept_has_ended (kept)
      && irisd_kept_get_expiry (kept) <= irisd_unix_ms ())
    {
      irisd_journal_discard (self, kept);
      return NULL;
    }
  return kept != NULL && irisd_view_reaches (view, kept->owner) ? kept : NULL;
}

void
irisd_journal_ask (IrisdJournal *self, IrisdSlip *slip)
{
  IrisdKept *kept = irisd_journal_look_up (self, slip->item, slip->view);
  if (kept == NULL)
    {
      slip->error = irisd_journal_no_such_item (slip->item);
      irisd_journal_answer (self, slip);
      return;
    }
  slip->kept = kept;
  if (slip->wait_ms > 0 && !irisd_kept_has_ended (kept)
      && irisd_kept_get_state (kept) != IRIS_WIRE_STATE_BURIED)
    wait_for_end (self, kept, slip);
  else
    tell (self, kept, slip);
}

/* Puts one "…" for the arguments that are too much for a list. */
static void
shorten_args (char **args)
{
  gsize size = 0;
  for (char **arg = args; arg != NULL && *arg != NULL; arg++)
    {
      size += strlen (*arg) + 1;
      if (size <= LISTED_ARGS_MOST)
        continue;
      for (char **rest = arg; *rest != NULL; rest++)
        g_clear_pointer (rest, g_free);
      *arg = g_strdup ("…");
      return;
    }
}

void
irisd_journal_list (IrisdJournal *self, IrisdSlip *slip)
{
  slip->list = irisd_kept_table_list (&self->table, slip->filter, &slip->item);
  for (guint i = 0; slip->filter->with_args && i < slip->list->n_items; i++)
    {
      IrisWireKeptItem *item = &slip->list->items[i];
      if (item->bytes <= LISTED_PAYLOAD_MOST)
        describe_submission (self, irisd_kept_table_lookup (&self->table, item->item), item);
      shorten_args (item->args);
    }
  irisd_journal_answer (self, slip);
}

/**
 * irisd_journal_call:
 * @self: the journal
 * @slip: (transfer full): CALL of an item that has not ended
 *
 * Tells what brought it. What is damaged is told without, and what may be read later as well.
 */
void
irisd_journal_call (IrisdJournal *self, IrisdSlip *slip)
{
  slip->kept = irisd_kept_table_lookup (&self->table, slip->item);
  irisd_journal_read_row (self, slip->kept, slip);
  irisd_journal_answer (self, slip);
}
