/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * The items that the journal holds: their rows, their number, and the requests that read them or
 * wait for them.
 *
 * A gateway accepts an item before the journal has it, so it counts the item ahead: `n_taken` is
 * the number of items held, except cancelled ones, and of items reserved and on their way. It does
 * not change when a reserved item arrives, so it is exact at each moment, and an acceptance needs
 * no answer of the journal. It is relaxed: nothing else depends on the sum.
 */
#include "daemon/store/irisd-journal-private.h"

#include "daemon/base/irisd-log.h"
#include "daemon/net/irisd-peer.h"
#include "daemon/store/irisd-journal.h"
#include "daemon/store/irisd-persistent-list.h"

#include <string.h>

IrisdJournalRequest *
irisd_journal_request_new (IrisdJournalRequestKind kind, IrisdMailbox *home)
{
  IrisdJournalRequest *self = g_new0 (IrisdJournalRequest, 1);
  self->message.kind = IRISD_MESSAGE_JOURNAL_REQUEST;
  self->kind = kind;
  self->home = home;
  if (kind == IRISD_JOURNAL_REQUEST_DONE)
    self->made_us = g_get_monotonic_time ();
  zmq_msg_init (&self->body);
  return self;
}

static IrisdBlob
copy_bytes (const guint8 *data, gsize size)
{
  return (IrisdBlob){ g_memdup2 (data, size), size };
}

/* @removes: the record is to be removed, and needs no body. */
IrisdRecordChange *
irisd_record_change_new (const IrisdNamedRecord *record, gboolean removes)
{
  IrisdRecordChange *self = g_atomic_rc_box_new0 (IrisdRecordChange);
  self->kind = record->kind;
  self->name = copy_bytes (record->name, record->name_size);
  self->body = copy_bytes (record->body, removes ? 0 : record->body_size);
  self->removes = removes;
  return self;
}

static void
clear_change (gpointer data)
{
  IrisdRecordChange *self = data;
  g_free (self->name.data);
  g_free (self->body.data);
}

void
irisd_record_change_unref (IrisdRecordChange *self)
{
  g_atomic_rc_box_release_full (self, clear_change);
}

/* For the gateway that made it; after the gateways have ended, for the thread that frees them. */
void
irisd_journal_request_free (IrisdJournalRequest *self)
{
  zmq_msg_close (&self->body);
  g_clear_pointer (&self->peer, irisd_peer_unref);
  g_clear_pointer (&self->items, g_array_unref);
  g_clear_pointer (&self->jobs, g_ptr_array_unref);
  g_clear_pointer (&self->persistents, g_ptr_array_unref);
  g_clear_pointer (&self->row_batch, irisd_row_batch_unref);
  g_clear_pointer (&self->change, irisd_record_change_unref);
  if (self->broadcast != NULL)
    self->broadcast->klass->free (self->broadcast);
  g_clear_pointer (&self->list, iris_wire_persistent_list_free);
  g_clear_pointer (&self->filter, irisd_persistent_filter_free);
  g_clear_error (&self->error);
  g_free (self->header.data);
  g_free (self->reason);
  g_free (self);
}

/* Reads may fail by the million and be tried again for hours; the log has one line in this time. */
#define UNREADABLE_LOG_US (10 * G_USEC_PER_SEC)

/* A list reads arguments only from payloads of at most this size, and shows at most this many bytes
 * of them: a page of them has to fit a body. */
#define LISTED_PAYLOAD_MOST 65536
#define LISTED_ARGS_MOST    1024

guint64
irisd_journal_get_next_item (IrisdJournal *self)
{
  return irisd_store_get_next_id (self->store);
}

guint64
irisd_journal_get_n_persistent (IrisdJournal *self)
{
  return atomic_load_explicit (&self->n_persistent, memory_order_relaxed);
}

guint64
irisd_journal_get_n_persistent_ended (IrisdJournal *self)
{
  return atomic_load_explicit (&self->n_persistent_ended, memory_order_relaxed);
}

guint64
irisd_journal_get_n_damaged (IrisdJournal *self)
{
  return atomic_load_explicit (&self->n_damaged, memory_order_relaxed);
}

const IrisdJournalCounters *
irisd_journal_get_counters (IrisdJournal *self)
{
  return &self->counters;
}

IrisdJournalHealth
irisd_journal_get_health (IrisdJournal *self)
{
  return atomic_load_explicit (&self->health, memory_order_acquire);
}

/* Returns why the journal is not ready. */
const char *
irisd_journal_get_reason (IrisdJournal *self)
{
  const char *reason = atomic_load_explicit (&self->reason, memory_order_relaxed);
  return reason != NULL ? reason : "";
}

void
irisd_journal_answer (IrisdJournal *self, IrisdJournalRequest *request)
{
  irisd_mailbox_post (request->home, &request->message);
}

/* Counts one more item of @request, KEEP or DONE and not posted yet, until the journal has refused
 * or removed it. */
void
irisd_journal_reserve (IrisdJournal *self, IrisdJournalRequest *request)
{
  request->n_reserved++;
  atomic_fetch_add_explicit (&self->n_taken, 1, memory_order_relaxed);
}

/* Returns how many items are held and do not give way to others, with those on their way. */
guint64
irisd_journal_get_n_taken (IrisdJournal *self)
{
  return atomic_load_explicit (&self->n_taken, memory_order_relaxed);
}

/* Takes back what the current journal request had reserved and does not use. */
void
irisd_journal_release (IrisdJournal *self)
{
  atomic_fetch_sub_explicit (&self->n_taken, self->n_releasing, memory_order_relaxed);
  self->n_releasing = 0;
}

/* Publishes the number of items for other threads, after a change of the table. */
void
irisd_journal_count (IrisdJournal *self)
{
  guint n = self->table.n_items - self->table.n_cancelled;
  guint reserved = n > self->n_counted ? MIN (n - self->n_counted, self->n_releasing) : 0;
  gint64 change = (gint64) n - self->n_counted - reserved;
  self->n_counted = n;
  self->n_releasing -= reserved;
  if (change != 0)
    atomic_fetch_add_explicit (&self->n_taken, (guint64) change, memory_order_relaxed);
  atomic_store_explicit (&self->n_persistent, self->table.n_items, memory_order_relaxed);
  atomic_store_explicit (&self->n_persistent_ended, self->table.n_ended, memory_order_relaxed);
  atomic_store_explicit (&self->counters.failed, self->table.n_failed, memory_order_relaxed);
  atomic_store_explicit (&self->counters.cancelled, self->table.n_cancelled, memory_order_relaxed);
}

/* Returns whether one more item may be held. For the journal's thread. */
gboolean
irisd_journal_has_room (IrisdJournal *self)
{
  return self->table.n_items - self->table.n_cancelled < self->limits->persistent_items;
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

/* @persistent is an item whose row is to be written or removed. */
void
irisd_journal_mark_dirty (IrisdJournal *self, IrisdPersistentItem *persistent)
{
  if (persistent->dirty)
    return;
  persistent->dirty = TRUE;
  STAILQ_INSERT_TAIL (&self->dirty, persistent, next_dirty);
  if (self->n_dirty++ == 0 && self->commit_by_us == 0)
    irisd_journal_commit_for (self, g_get_monotonic_time ());
}

/* Takes @request, and answers it after the next transaction, which is due at once. */
void
irisd_journal_attend (IrisdJournal *self, IrisdJournalRequest *request)
{
  STAILQ_INSERT_TAIL (&self->attendants, request, next);
  self->commit_by_us = 1;
}

GError *
irisd_journal_no_such_item (guint64 item)
{
  return g_error_new (IRIS_WIRE_ERROR, IRIS_WIRE_ERROR_NO_SUCH_ITEM,
                      "there is no persistent item %" G_GUINT64_FORMAT
                      ": its end was fetched or has expired, or it never was",
                      item);
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

/* A client may have guessed the number of an item that was then not accepted. */
static void
turn_away_waits (IrisdJournal *self, IrisdPersistentItem *persistent)
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

/* Takes @persistent out of the table, and its row out of the store. */
void
irisd_journal_discard (IrisdJournal *self, IrisdPersistentItem *persistent)
{
  irisd_persistent_table_remove (&self->table, persistent);
  irisd_journal_count (self);
  irisd_outputs_remove (self->outputs, persistent->item);
  persistent->forgotten = TRUE;
  irisd_persistent_item_clear_row (persistent);
  turn_away_waits (self, persistent);
  if (persistent->dirty)
    return;
  if (persistent->written && irisd_journal_get_health (self) != IRISD_JOURNAL_FAILED)
    irisd_journal_mark_dirty (self, persistent);
  else
    irisd_persistent_item_free (persistent);
}

/* Removes cancelled items, which have no result, while more items are held than the limit. */
void
irisd_journal_make_room (IrisdJournal *self)
{
  IrisdPersistentItem *cancelled;
  while (self->table.n_items > self->limits->persistent_items
         && (cancelled = irisd_persistent_table_get_cancelled (&self->table)) != NULL)
    irisd_journal_discard (self, cancelled);
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
                                " is buried: %s. It is kept and has no end; "
                                "kick it to have it run again",
                                persistent->item, persistent->reason);
}

/* An item of the bridge waits for its node, or runs there: only that node can say (@out may have
 * that later). */
static void
describe_away (const IrisWireMessage *submit, IrisWirePersistentItem *out)
{
  g_autofree char *node = iris_wire_string_dup (&submit->node);
  g_autofree char *place = iris_wire_string_dup (&submit->hint_name);
  if (out->state == IRIS_WIRE_STATE_LEASED && out->message == NULL)
    out->message = *node == '\0'
                       ? g_strdup ("it waits for any node, or has just begun at one")
                       : g_strdup_printf ("it waits for the node %s%s%s, or has just begun there",
                                          node, *place != '\0' ? ", place " : "", place);
  out->node = g_steal_pointer (&node);
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
  if (iris_wire_message_has (&message, IRIS_WIRE_KEY_CLUSTER_ITEM))
    describe_away (&message, out);
  if (iris_wire_message_has (&message, IRIS_WIRE_KEY_TRACEPARENT))
    out->traceparent = iris_wire_string_dup (&message.traceparent);
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

static void
tell_state (IrisdPersistentItem *persistent, IrisdJournalRequest *request)
{
  request->state = (guint32) irisd_persistent_item_get_state (persistent);
  request->pending = !irisd_persistent_item_has_ended (persistent)
                     && request->state != IRIS_WIRE_STATE_BURIED;
  request->code = persistent->ended_ms != 0 ? persistent->code : 0;
}

/* Answers FETCH, FOLLOW and SHOW at once. */
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
  else if (request->kind == IRISD_JOURNAL_REQUEST_FOLLOW)
    tell_state (persistent, request);
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

/* What commands have written. Any thread may use it. */
IrisdOutputs *
irisd_journal_get_outputs (IrisdJournal *self)
{
  return self->outputs;
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
