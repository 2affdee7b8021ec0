/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * Requests that read the journal: an item's end, an item's state, lists of items.
 */
#include "daemon/store/irisd-journal-private.h"

#include "daemon/base/irisd-log.h"
#include "daemon/store/irisd-persistent-list.h"

#include <string.h>

/* Reads may fail by the million and be tried again for hours; the log has one line in this time. */
#define UNREADABLE_LOG_US (10 * G_USEC_PER_SEC)

/* A list reads arguments only from payloads of at most this size, and shows at most this many bytes
 * of them: a page of them has to fit a body. */
#define LISTED_PAYLOAD_MOST 65536
#define LISTED_ARGS_MOST    1024

GError *
irisd_journal_no_such_item (guint64 item)
{
  return g_error_new (IRIS_WIRE_ERROR, IRIS_WIRE_ERROR_NO_SUCH_ITEM,
                      "there is no persistent item %" G_GUINT64_FORMAT
                      ": its end was fetched or has expired, or it never was",
                      item);
}

static void
copy_row (const IrisdRow *row, gpointer user_data)
{
  IrisdJournalRequest *request = user_data;
  IrisdRecord record;
  if (!irisd_record_unpack (&record, row))
    return;
  request->type = record.type;
  g_free (request->header.data);
  request->header = (IrisdBlob){ g_memdup2 (record.header.data, record.header.size),
                                 record.header.size };
  zmq_msg_close (&request->body);
  if (zmq_msg_init_size (&request->body, record.body.size) != 0)
    g_error ("cannot answer: out of memory for a result of %zu bytes", record.body.size);
  if (record.body.size > 0)
    memcpy (zmq_msg_data (&request->body), record.body.data, record.body.size);
}

/* Returns an error that says that the row of item @item is damaged. */
GError *
irisd_journal_damaged_item (guint64 item)
{
  return g_error_new (IRIS_WIRE_ERROR, IRIS_WIRE_ERROR_JOURNAL_FAILED,
                      "the record of item %" G_GUINT64_FORMAT
                      " cannot be read: the journal is damaged; send the item again, and stop "
                      "irisd and run irisd --check-journal DIR to see what is lost",
                      item);
}

/* Logs a failed read that may be tried again. */
static void
tell_unreadable (IrisdJournal *self,
                 IrisdPersistentItem *persistent,
                 IrisdJournalRequest *request,
                 const GError *why)
{
  gint64 now = g_get_monotonic_time ();
  self->n_unreadable++;
  if (self->unreadable_us == 0 || now - self->unreadable_us >= UNREADABLE_LOG_US)
    {
      irisd_log (IRISD_LOG_WARNING,
                 "the record of item %" G_GUINT64_FORMAT
                 " cannot be read for now: %s; an item that has to run is tried again "
                 "(reads that failed: %u)",
                 persistent->item, why->message, self->n_unreadable);
      self->unreadable_us = now;
      self->n_unreadable = 0;
    }
  request->again = TRUE;
  request->error = g_error_new (
      IRIS_WIRE_ERROR, IRIS_WIRE_ERROR_JOURNAL_FAILED,
      "the record of item %" G_GUINT64_FORMAT
      " cannot be read for now: %s; nothing was changed. Check the disk, and ask again",
      persistent->item, why->message);
}

/* Fills @request with the message that the item is stored as, or with an error. Returns whether the
 * row could be read. */
gboolean
irisd_journal_read_row (IrisdJournal *self,
                        IrisdPersistentItem *persistent,
                        IrisdJournalRequest *request)
{
  g_autoptr (GError) error = NULL;
  IrisdStoreOutcome outcome = IRISD_STORE_OK;
  request->type = 0;
  if (persistent->row != NULL)
    {
      const IrisdRow row = irisd_persistent_item_get_row (persistent);
      copy_row (&row, request);
    }
  else
    outcome = irisd_store_read (self->store, persistent->item, copy_row, request, &error);
  if (outcome == IRISD_STORE_OK && request->type != 0)
    return TRUE;
  request->doubtful = outcome == IRISD_STORE_DOUBTFUL;
  if (request->doubtful || outcome == IRISD_STORE_UNREADABLE)
    {
      tell_unreadable (self, persistent, request, error);
      return FALSE;
    }
  irisd_log (IRISD_LOG_ERROR,
             "the record of item %" G_GUINT64_FORMAT
             " cannot be read: %s; irisd --check-journal DIR tells what is lost",
             persistent->item, error != NULL ? error->message : "it is not there");
  request->error = irisd_journal_damaged_item (persistent->item);
  return FALSE;
}

/* The item as it was submitted; it is deleted when the item ends, and an item that was stored after
 * its end never had it. */
static void
tell_whole (IrisdJournal *self, IrisdPersistentItem *persistent, IrisdJournalRequest *request)
{
  gboolean ended = irisd_persistent_item_has_ended (persistent);
  if (!ended && irisd_journal_read_row (self, persistent, request))
    ended = request->type != IRIS_WIRE_SUBMIT;
  if (ended)
    request->error = g_error_new (IRIS_WIRE_ERROR, IRIS_WIRE_ERROR_BAD_ARGUMENT,
                                  "item %" G_GUINT64_FORMAT
                                  " has ended, and its payload has been deleted: FETCH tells its "
                                  "end",
                                  persistent->item);
}

static void
tell_buried (IrisdPersistentItem *persistent, IrisdJournalRequest *request)
{
  request->error = g_error_new (IRIS_WIRE_ERROR, IRIS_WIRE_ERROR_BURIED,
                                "item %" G_GUINT64_FORMAT
                                " is buried: %s; kick it to run it again, or cancel it",
                                persistent->item, persistent->reason);
}

static void
take_submission (const IrisdRow *row, gpointer user_data)
{
  IrisWirePersistentItem *out = user_data;
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

/* Adds the item's arguments and time of day, which only its message has. If that cannot be read,
 * the answer goes without them. */
static void
describe_submission (IrisdJournal *self,
                     const IrisdPersistentItem *persistent,
                     IrisWirePersistentItem *out)
{
  if (persistent->row != NULL)
    {
      const IrisdRow row = irisd_persistent_item_get_row (persistent);
      take_submission (&row, out);
    }
  else if (out->ended_ms == 0)
    irisd_store_read (self->store, persistent->item, take_submission, out, NULL);
}

/* Answers FETCH and SHOW at once. */
static void
tell (IrisdJournal *self, IrisdPersistentItem *persistent, IrisdJournalRequest *request)
{
  if (request->kind == IRISD_JOURNAL_REQUEST_SHOW && request->whole)
    tell_whole (self, persistent, request);
  else if (request->kind == IRISD_JOURNAL_REQUEST_SHOW)
    {
      request->list = iris_wire_persistent_list_new (1);
      irisd_persistent_item_describe (persistent, &request->list->items[0]);
      describe_submission (self, persistent, &request->list->items[0]);
    }
  else if (irisd_persistent_item_has_ended (persistent))
    irisd_journal_read_row (self, persistent, request);
  else if (irisd_persistent_item_get_state (persistent) == IRIS_WIRE_STATE_BURIED)
    tell_buried (persistent, request);
  else
    {
      request->pending = TRUE;
      request->state = (guint32) irisd_persistent_item_get_state (persistent);
    }
  irisd_journal_answer (self, request);
}

static int
compare_deadlines (gconstpointer a, gconstpointer b, gpointer user_data)
{
  const IrisdJournalRequest *left = a, *right = b;
  return left->deadline_us < right->deadline_us ? -1 : left->deadline_us > right->deadline_us;
}

static void
wait_for_end (IrisdJournal *self, IrisdPersistentItem *persistent, IrisdJournalRequest *request)
{
  request->next_wait = persistent->waits;
  persistent->waits = request;
  /* A century is as good as forever, and does not overflow. */
  if (request->wait_ms > G_GUINT64_CONSTANT (3155760000000))
    return;
  request->deadline_us = g_get_monotonic_time () + (gint64) request->wait_ms * 1000;
  request->deadline = g_sequence_insert_sorted (self->deadlines, request, compare_deadlines, NULL);
}

static void
stop_waiting (IrisdJournalRequest *request)
{
  if (request->deadline != NULL)
    g_sequence_remove (request->deadline);
  request->deadline = NULL;
  request->next_wait = NULL;
}

/* Answers all requests that wait for an item. */
void
irisd_journal_wake_waits (IrisdJournal *self, IrisdPersistentItem *persistent)
{
  IrisdJournalRequest *request = persistent->waits;
  persistent->waits = NULL;
  while (request != NULL)
    {
      IrisdJournalRequest *next = request->next_wait;
      stop_waiting (request);
      tell (self, persistent, request);
      request = next;
    }
}

/* A client may have guessed the number of an item that was then not accepted. */
void
irisd_journal_turn_away_waits (IrisdJournal *self, IrisdPersistentItem *persistent)
{
  while (persistent->waits != NULL)
    {
      IrisdJournalRequest *request = persistent->waits;
      persistent->waits = request->next_wait;
      stop_waiting (request);
      request->error = irisd_journal_no_such_item (persistent->item);
      irisd_journal_answer (self, request);
    }
}

void
irisd_journal_end_overdue_waits (IrisdJournal *self, gint64 now)
{
  GSequenceIter *first = g_sequence_get_begin_iter (self->deadlines);
  while (!g_sequence_iter_is_end (first))
    {
      IrisdJournalRequest *request = g_sequence_get (first);
      if (request->deadline_us > now)
        return;
      IrisdJournalRequest **link = &request->persistent->waits;
      while (*link != request)
        link = &(*link)->next_wait;
      *link = request->next_wait;
      stop_waiting (request);
      tell (self, request->persistent, request);
      first = g_sequence_get_begin_iter (self->deadlines);
    }
}

/* An expired end counts as removed, also before the sweep; so does an item beyond the view. */
IrisdPersistentItem *
irisd_journal_look_up (IrisdJournal *self, guint64 item, gint64 view)
{
  IrisdPersistentItem *persistent = irisd_persistent_table_lookup (&self->table, item);
  if (persistent != NULL && irisd_persistent_item_has_ended (persistent)
      && irisd_persistent_item_get_expiry (persistent) <= irisd_unix_ms ())
    {
      irisd_journal_discard (self, persistent);
      return NULL;
    }
  return persistent != NULL && irisd_view_reaches (view, persistent->owner) ? persistent : NULL;
}

void
irisd_journal_ask (IrisdJournal *self, IrisdJournalRequest *request)
{
  IrisdPersistentItem *persistent = irisd_journal_look_up (self, request->item, request->view);
  if (persistent == NULL)
    {
      request->error = irisd_journal_no_such_item (request->item);
      irisd_journal_answer (self, request);
      return;
    }
  request->persistent = persistent;
  if (request->wait_ms > 0 && !irisd_persistent_item_has_ended (persistent)
      && irisd_persistent_item_get_state (persistent) != IRIS_WIRE_STATE_BURIED)
    wait_for_end (self, persistent, request);
  else
    tell (self, persistent, request);
}

/* Replaces the arguments that do not fit a list by one "…". */
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
irisd_journal_list (IrisdJournal *self, IrisdJournalRequest *request)
{
  request->list = irisd_persistent_table_list (&self->table, request->filter, &request->item);
  for (guint i = 0; request->filter->with_args && i < request->list->n_items; i++)
    {
      IrisWirePersistentItem *item = &request->list->items[i];
      if (item->bytes <= LISTED_PAYLOAD_MOST)
        describe_submission (self, irisd_persistent_table_lookup (&self->table, item->item), item);
      shorten_args (item->args);
    }
  irisd_journal_answer (self, request);
}

/* Takes @request, RELOAD of an item that has not ended, and answers with the item's message;
 * without it if the row is damaged, or may be read later. */
void
irisd_journal_reload (IrisdJournal *self, IrisdJournalRequest *request)
{
  request->persistent = irisd_persistent_table_lookup (&self->table, request->item);
  irisd_journal_read_row (self, request->persistent, request);
  irisd_journal_answer (self, request);
}
