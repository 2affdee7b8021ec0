/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * What the journal is asked: how an item ended, where it is, which there are.
 */
#include "irisd-journal-private.h"

#include "irisd-log.h"

#include <string.h>

static GError *
no_such_item (guint64 item)
{
  return g_error_new (IRIS_WIRE_ERROR, IRIS_WIRE_ERROR_NO_SUCH_ITEM,
                      "no item %" G_GUINT64_FORMAT
                      " is kept: its end was fetched or has expired, or there never was one",
                      item);
}

static void
copy_row (const IrisdRow *row, gpointer user_data)
{
  IrisdErrand *errand = user_data;
  IrisdRecord record;
  if (!irisd_record_unpack (&record, row))
    return;
  errand->type = record.type;
  g_free (errand->header.data);
  errand->header = (IrisdBlob){ g_memdup2 (record.header.data, record.header.size),
                                record.header.size };
  zmq_msg_close (&errand->body);
  if (zmq_msg_init_size (&errand->body, record.body.size) != 0)
    g_error ("out of memory for a result of %zu bytes", record.body.size);
  if (record.body.size > 0)
    memcpy (zmq_msg_data (&errand->body), record.body.data, record.body.size);
}

/* Fills in how an item ended. */
static void
read_end (IrisdJournal *self, IrisdKept *kept, IrisdErrand *errand)
{
  g_autoptr (GError) error = NULL;
  IrisdStoreOutcome outcome = IRISD_STORE_OK;
  if (kept->head.data != NULL)
    copy_row (&(IrisdRow){ kept->item, kept->row_state, kept->head.data, kept->head.size,
                           kept->body.data, kept->body.size },
              errand);
  else
    outcome = irisd_store_read (self->store, kept->item, copy_row, errand, &error);
  if (outcome == IRISD_STORE_OK && errand->type != 0)
    return;
  irisd_log (IRISD_LOG_ERROR, "the end of item %" G_GUINT64_FORMAT " cannot be read: %s",
             kept->item, error != NULL ? error->message : "it is not there");
  errand->error = g_error_new (
      IRIS_WIRE_ERROR, IRIS_WIRE_ERROR_JOURNAL_FAILED,
      "the end of item %" G_GUINT64_FORMAT " cannot be read: the journal is damaged", kept->item);
}

/* Answers FETCH and SHOW with what there is now. */
static void
tell (IrisdJournal *self, IrisdKept *kept, IrisdErrand *errand)
{
  if (errand->kind == IRISD_ERRAND_SHOW)
    {
      errand->list = iris_wire_kept_new (1);
      irisd_kept_describe (kept, &errand->list->items[0]);
    }
  else if (irisd_kept_has_ended (kept))
    read_end (self, kept, errand);
  else
    {
      errand->pending = TRUE;
      errand->state = (guint32) irisd_kept_get_state (kept);
    }
  irisd_journal_answer (self, errand);
}

static int
compare_deadlines (gconstpointer a, gconstpointer b, gpointer user_data)
{
  const IrisdErrand *left = a, *right = b;
  return left->deadline_us < right->deadline_us ? -1 : left->deadline_us > right->deadline_us;
}

static void
wait_for_end (IrisdJournal *self, IrisdKept *kept, IrisdErrand *errand)
{
  errand->next_wait = kept->waits;
  kept->waits = errand;
  /* A century is as good as forever, and cannot overflow. */
  if (errand->wait_ms > G_GUINT64_CONSTANT (3155760000000))
    return;
  errand->deadline_us = g_get_monotonic_time () + (gint64) errand->wait_ms * 1000;
  errand->deadline = g_sequence_insert_sorted (self->deadlines, errand, compare_deadlines, NULL);
}

static void
stop_waiting (IrisdErrand *errand)
{
  if (errand->deadline != NULL)
    g_sequence_remove (errand->deadline);
  errand->deadline = NULL;
  errand->next_wait = NULL;
}

/* Tells all that wait for an item. */
void
irisd_journal_wake_waits (IrisdJournal *self, IrisdKept *kept)
{
  IrisdErrand *errand = kept->waits;
  kept->waits = NULL;
  while (errand != NULL)
    {
      IrisdErrand *next = errand->next_wait;
      stop_waiting (errand);
      tell (self, kept, errand);
      errand = next;
    }
}

/* Somebody may have guessed the number of an item that was not accepted after all. */
void
irisd_journal_turn_away_waits (IrisdJournal *self, IrisdKept *kept)
{
  while (kept->waits != NULL)
    {
      IrisdErrand *errand = kept->waits;
      kept->waits = errand->next_wait;
      stop_waiting (errand);
      errand->error = no_such_item (kept->item);
      irisd_journal_answer (self, errand);
    }
}

void
irisd_journal_end_overdue_waits (IrisdJournal *self, gint64 now)
{
  GSequenceIter *first = g_sequence_get_begin_iter (self->deadlines);
  while (!g_sequence_iter_is_end (first))
    {
      IrisdErrand *errand = g_sequence_get (first);
      if (errand->deadline_us > now)
        return;
      IrisdErrand **link = &errand->kept->waits;
      while (*link != errand)
        link = &(*link)->next_wait;
      *link = errand->next_wait;
      stop_waiting (errand);
      tell (self, errand->kept, errand);
      first = g_sequence_get_begin_iter (self->deadlines);
    }
}

/* An end that has expired is as good as gone, also before somebody has swept it out. */
IrisdKept *
irisd_journal_look_up (IrisdJournal *self, guint64 item)
{
  IrisdKept *kept = irisd_kept_table_lookup (&self->table, item);
  if (kept != NULL && irisd_kept_has_ended (kept)
      && irisd_kept_get_expiry (kept) <= irisd_unix_ms ())
    {
      irisd_journal_discard (self, kept);
      return NULL;
    }
  return kept;
}

void
irisd_journal_ask (IrisdJournal *self, IrisdErrand *errand)
{
  IrisdKept *kept = irisd_journal_look_up (self, errand->item);
  if (kept == NULL)
    {
      errand->error = no_such_item (errand->item);
      irisd_journal_answer (self, errand);
      return;
    }
  errand->kept = kept;
  if (errand->wait_ms > 0 && !irisd_kept_has_ended (kept))
    wait_for_end (self, kept, errand);
  else
    tell (self, kept, errand);
}

void
irisd_journal_list (IrisdJournal *self, IrisdErrand *errand)
{
  errand->list = irisd_kept_table_list (&self->table, errand->item, errand->state, errand->count);
  irisd_journal_answer (self, errand);
}
