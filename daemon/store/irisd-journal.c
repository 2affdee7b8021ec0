/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * The journal: the thread that holds all persistent items and writes them to the store.
 *
 * Gateways post journal requests to its mailbox, and it posts them back to theirs; nothing else is
 * shared, so there is no lock. Its health and the number of items are atomic, and may be read by
 * any thread.
 *
 * A durable item is answered after the transaction that holds it, and so is its end. A relaxed one
 * is answered at once, and its transaction begins with a durable one's, or `relaxed-ms` later.
 *
 * The row of a buried item is the one written at its acceptance, with another state and the reason.
 * It is read first, from the store or from the rows not written yet, and written again; that costs
 * a copy of the payload, once for each burial and each kick.
 */
#include "daemon/store/irisd-cluster-name.h"
#include "daemon/store/irisd-journal-private.h"

#include <poll.h>

/* Items of one transaction; a sync costs the same for one as for all. */
#define MOST_DIRTY 4096

/* The folder of kept outputs, in the journal's. */
#define OUTPUTS_NAME "output"

/* Time between two looks at a full disk. */
#define RESERVE_US G_USEC_PER_SEC

void
irisd_journal_post (IrisdJournal *self, IrisdJournalRequest *request)
{
  irisd_mailbox_post (&self->mailbox, &request->message);
}

/* The item with the same key that has not expired, or NULL. */
static IrisdPersistentItem *
find_same (IrisdJournal *self, IrisdPersistentItem *persistent)
{
  IrisdPersistentItem *same = persistent->key_size > 0
                                  ? irisd_persistent_table_lookup_key (&self->table, persistent)
                                  : NULL;
  return same != NULL ? irisd_journal_look_up (self, same->item, IRISD_VIEW_ALL) : NULL;
}

static void
refuse_keep (IrisdJournal *self, IrisdJournalRequest *request, GError *error)
{
  irisd_persistent_item_free (g_steal_pointer (&request->persistent));
  irisd_journal_release (self);
  request->error = error;
  irisd_journal_answer (self, request);
}

static void
keep (IrisdJournal *self, IrisdJournalRequest *request)
{
  IrisdPersistentItem *persistent = request->persistent;
  IrisdPersistentItem *same = find_same (self, persistent);
  if (same != NULL)
    {
      irisd_persistent_item_free (g_steal_pointer (&request->persistent));
      irisd_journal_release (self);
      request->duplicate = TRUE;
      request->item = same->item;
      irisd_journal_list_change (self, request);
      if (request->change != NULL || (same->klass == IRIS_WIRE_CLASS_DURABLE && !same->written))
        irisd_journal_attend (self, request);
      else
        irisd_journal_answer (self, request);
      return;
    }
  if (irisd_journal_get_health (self) != IRISD_JOURNAL_READY)
    {
      refuse_keep (self, request,
                   g_error_new (IRIS_WIRE_ERROR, IRIS_WIRE_ERROR_JOURNAL_FAILED,
                                "cannot store the persistent item: %s",
                                irisd_journal_get_reason (self)));
      return;
    }
  /* The gateway has checked the limit for an item without a key of its own. */
  if (irisd_persistent_item_has_own_key (persistent) && !irisd_journal_has_room (self))
    {
      refuse_keep (self, request,
                   g_error_new_literal (IRIS_WIRE_ERROR, IRIS_WIRE_ERROR_BUSY, "persistent-items"));
      return;
    }
  irisd_persistent_item_set_row (persistent, IRIS_WIRE_STATE_QUEUED, request->type,
                                 (IrisWireFrame){ request->header.data, request->header.size },
                                 request->payload);
  irisd_persistent_table_add (&self->table, persistent);
  irisd_journal_make_room (self);
  irisd_journal_count (self);
  irisd_journal_mark_dirty (self, persistent);
  irisd_journal_list_change (self, request);
  if (persistent->klass == IRIS_WIRE_CLASS_DURABLE)
    irisd_journal_attend (self, request);
  else
    irisd_journal_answer (self, request);
}

/* The item counts as not ended until irisd_journal_apply_end(). */
static IrisdPersistentItem *
add_done (IrisdJournal *self, IrisdBatchRow *row, const IrisdPersistentItem *like)
{
  const IrisdRow view = irisd_batch_row_view (row);
  IrisdRecord record;
  if (!irisd_record_unpack (&record, &view))
    g_error ("a row of item %" G_GUINT64_FORMAT " cannot be read", row->item);
  record.state = IRIS_WIRE_STATE_RUNNING;
  IrisdPersistentItem *persistent = irisd_persistent_item_new (&record, like);
  irisd_persistent_item_take_row (persistent, row);
  irisd_persistent_table_add (&self->table, persistent);
  if (irisd_journal_get_health (self) != IRISD_JOURNAL_FAILED)
    irisd_journal_mark_dirty (self, persistent);
  return persistent;
}

/* Durable items count as ended only when written, and no client has been told of them yet. Relaxed
 * ones have ended even if the write fails. */
static void
keep_done (IrisdJournal *self, IrisdJournalRequest *request)
{
  if (request->durable && irisd_journal_get_health (self) != IRISD_JOURNAL_READY)
    {
      g_clear_pointer (&request->row_batch, irisd_row_batch_unref);
      irisd_journal_release (self);
      request->error = g_error_new (IRIS_WIRE_ERROR, IRIS_WIRE_ERROR_JOURNAL_FAILED,
                                    "cannot store the persistent item: %s",
                                    irisd_journal_get_reason (self));
      irisd_journal_answer (self, request);
      return;
    }
  guint n = irisd_row_batch_get_n_rows (request->row_batch);
  IrisdPersistentItem *persistent = NULL;
  request->persistents = request->durable ? g_ptr_array_sized_new (n) : NULL;
  for (guint i = 0; i < n; i++)
    {
      IrisdBatchRow *row = irisd_row_batch_get_row (request->row_batch, i);
      persistent = add_done (self, row, persistent);
      if (request->durable)
        g_ptr_array_add (request->persistents, persistent);
      else
        irisd_journal_apply_end (self, persistent, row->state);
    }
  irisd_journal_make_room (self);
  irisd_journal_count (self);
  if (request->durable)
    {
      irisd_journal_attend (self, request);
      return;
    }
  /* The gateway answered for them when it made the journal request, which may have waited here. */
  if (self->n_dirty > 0)
    irisd_journal_commit_for (self, request->made_us);
  irisd_journal_request_free (request);
}

static void
end (IrisdJournal *self, IrisdJournalRequest *request)
{
  IrisdPersistentItem *persistent = request->persistent;
  gboolean durable = persistent->klass == IRIS_WIRE_CLASS_DURABLE;
  gboolean failed = irisd_journal_get_health (self) == IRISD_JOURNAL_FAILED;
  if (durable && failed)
    {
      request->error = g_error_new (IRIS_WIRE_ERROR, IRIS_WIRE_ERROR_JOURNAL_FAILED,
                                    "cannot write the end of the item, which ran; it runs "
                                    "again when irisd is started again: %s",
                                    irisd_journal_get_reason (self));
      irisd_persistent_item_set_state (persistent, IRIS_WIRE_STATE_QUEUED);
      irisd_journal_answer (self, request);
      return;
    }
  if (request->keeps || persistent->key_size > 0)
    irisd_journal_keep_submission (self, persistent);
  persistent->attempts++;
  irisd_persistent_item_set_reason (persistent, request->code, NULL);
  persistent->ended_ms = irisd_unix_ms ();
  irisd_persistent_item_set_row (persistent, request->state, request->type,
                                 (IrisWireFrame){ request->header.data, request->header.size },
                                 request->payload);
  if (!failed)
    irisd_journal_mark_dirty (self, persistent);
  if (durable)
    irisd_journal_attend (self, request);
  else
    irisd_journal_settle (self, request);
}

/* Writes again what a journal request has read. */
static void
write_again (IrisdJournal *self,
             IrisdPersistentItem *persistent,
             IrisdJournalRequest *read,
             IrisWireState state)
{
  irisd_persistent_item_set_row (
      persistent, state, read->type, (IrisWireFrame){ read->header.data, read->header.size },
      (IrisWireFrame){ zmq_msg_data (&read->body), zmq_msg_size (&read->body) });
  if (irisd_journal_get_health (self) != IRISD_JOURNAL_FAILED)
    irisd_journal_mark_dirty (self, persistent);
}

static void
bury (IrisdJournal *self, IrisdJournalRequest *request)
{
  IrisdPersistentItem *persistent = request->persistent;
  gboolean durable = persistent->klass == IRIS_WIRE_CLASS_DURABLE;
  if (durable && irisd_journal_get_health (self) == IRISD_JOURNAL_FAILED)
    request->error = g_error_new (IRIS_WIRE_ERROR, IRIS_WIRE_ERROR_JOURNAL_FAILED,
                                  "cannot write that the item is buried, so it runs again when "
                                  "irisd is started again: %s",
                                  irisd_journal_get_reason (self));
  else if (irisd_journal_read_row (self, persistent, request))
    {
      persistent->attempts = request->count;
      irisd_persistent_item_set_reason (persistent, request->code, request->reason);
      write_again (self, persistent, request, IRIS_WIRE_STATE_BURIED);
      if (durable)
        {
          irisd_journal_attend (self, request);
          return;
        }
    }
  irisd_journal_settle (self, request);
}

/* Takes @request, RECORD. Answered when the change is on the disk; not if it has no home. */
static void
take_record (IrisdJournal *self, IrisdJournalRequest *request)
{
  IrisdJournalHealth health = irisd_journal_get_health (self);
  if (health == IRISD_JOURNAL_FAILED || (health == IRISD_JOURNAL_FULL && !request->change->removes))
    request->error = g_error_new (IRIS_WIRE_ERROR, IRIS_WIRE_ERROR_JOURNAL_FAILED, "%s: %s",
                                  irisd_journal_explain (request), irisd_journal_get_reason (self));
  else
    irisd_journal_list_change (self, request);
  if (request->home == NULL)
    irisd_journal_request_free (request);
  else if (request->error == NULL)
    irisd_journal_attend (self, request);
  else
    irisd_journal_answer (self, request);
}

/* Takes @request, KICK, CANCEL or BURY_ITEM of one item, and answers with its state. */
static void
look_where (IrisdJournal *self, IrisdJournalRequest *request)
{
  IrisdPersistentItem *persistent = irisd_journal_look_up (self, request->item, request->view);
  if (persistent == NULL)
    request->error = irisd_journal_no_such_item (request->item);
  else
    request->state = (guint32) irisd_persistent_item_get_state (persistent);
  request->pending = persistent != NULL;
  irisd_journal_answer (self, request);
}

/* Takes @request, RETRY. Writes soon how often the item has failed and until when it pauses. After
 * a crash before that the item is tried once more, which does no harm. */
static void
retry (IrisdJournal *self, IrisdJournalRequest *request)
{
  IrisdPersistentItem *persistent = request->persistent;
  persistent->attempts = request->count;
  persistent->crashes = 0;
  persistent->due_ms = request->due_ms;
  if (irisd_journal_get_health (self) != IRISD_JOURNAL_FAILED
      && irisd_journal_read_row (self, persistent, request))
    write_again (self, persistent, request,
                 persistent->suspended ? IRIS_WIRE_STATE_SUSPENDED : IRIS_WIRE_STATE_QUEUED);
  irisd_journal_request_free (request);
}

/* Takes @request, REWRITE. Writes the item again in its new state and, if it was edited, with its
 * new header; key and payload stay. Answered when it is on the disk, of a durable item. */
static void
rewrite (IrisdJournal *self, IrisdJournalRequest *request)
{
  IrisdPersistentItem *persistent = request->persistent;
  IrisdBlob header = request->header;
  request->header = (IrisdBlob){ 0 };
  if (irisd_journal_get_health (self) == IRISD_JOURNAL_FAILED)
    request->error = g_error_new (IRIS_WIRE_ERROR, IRIS_WIRE_ERROR_JOURNAL_FAILED, "%s: %s",
                                  irisd_journal_explain (request), irisd_journal_get_reason (self));
  else if (irisd_journal_read_row (self, persistent, request))
    {
      if (header.data != NULL)
        {
          g_free (request->header.data);
          request->header = header;
          header.data = NULL;
          persistent->due_ms = request->due_ms;
          if (request->keeps)
            persistent->keep_ms = request->keep_ms;
        }
      else
        irisd_persistent_item_set_reason (persistent, 0, request->reason);
      persistent->suspended = request->state == IRIS_WIRE_STATE_SUSPENDED;
      write_again (self, persistent, request, request->state);
    }
  g_free (header.data);
  if (request->error == NULL && persistent->klass == IRIS_WIRE_CLASS_DURABLE)
    irisd_journal_attend (self, request);
  else
    irisd_journal_answer (self, request);
}

/* Sends a buried item to the requesting gateway, to be run. */
static gboolean
unearth (IrisdJournal *self, IrisdPersistentItem *persistent, IrisdJournalRequest *asked)
{
  IrisdJournalRequest *request = irisd_journal_request_new (IRISD_JOURNAL_REQUEST_RECOVERED,
                                                            asked->home);
  request->item = persistent->item;
  request->persistent = persistent;
  if (!irisd_journal_read_row (self, persistent, request))
    {
      g_clear_error (&asked->error);
      asked->error = g_steal_pointer (&request->error);
      irisd_journal_request_free (request);
      return FALSE;
    }
  irisd_cluster_name_renew (&request->header);
  persistent->attempts = persistent->crashes = 0;
  persistent->suspended = FALSE;
  persistent->due_ms = 0;
  irisd_persistent_item_set_reason (persistent, 0, NULL);
  irisd_persistent_item_advance (persistent, IRISD_EVENT_KICK);
  irisd_count (&self->counters.buried, -1);
  write_again (self, persistent, request, IRIS_WIRE_STATE_QUEUED);
  irisd_journal_answer (self, request);
  return TRUE;
}

static guint
unearth_some (IrisdJournal *self, IrisdJournalRequest *request)
{
  guint n = 0;
  IrisdPersistentItem *persistent = irisd_persistent_table_get_first (&self->table, request->view,
                                                                      FALSE);
  for (; persistent != NULL && n < request->count;
       persistent = irisd_persistent_item_get_next (persistent, request->view, FALSE))
    if (irisd_persistent_item_get_state (persistent) == IRIS_WIRE_STATE_BURIED)
      n += (guint) unearth (self, persistent, request);
  if (n > 0)
    g_clear_error (&request->error);
  return n;
}

/* Takes @request, KICK. Changes are on the disk before it is answered. The answer for an item that
 * is not buried gives its state and is `pending`: the gateway may find the item itself. */
static void
kick (IrisdJournal *self, IrisdJournalRequest *request)
{
  IrisdPersistentItem *persistent = request->item != 0
                                        ? irisd_journal_look_up (self, request->item, request->view)
                                        : NULL;
  guint n = 0;
  if (request->item != 0
      && (persistent == NULL
          || irisd_persistent_item_get_state (persistent) != IRIS_WIRE_STATE_BURIED))
    {
      look_where (self, request);
      return;
    }
  if (irisd_journal_get_health (self) == IRISD_JOURNAL_FAILED)
    request->error = g_error_new (IRIS_WIRE_ERROR, IRIS_WIRE_ERROR_JOURNAL_FAILED,
                                  "cannot kick items: %s", irisd_journal_get_reason (self));
  else
    n = persistent != NULL ? (guint) unearth (self, persistent, request)
                           : unearth_some (self, request);
  request->count = n;
  if (n > 0)
    irisd_journal_attend (self, request);
  else
    irisd_journal_answer (self, request);
}

/* Takes @request, CANCEL, with the end to be written. The answer for an item that is not buried
 * gives its state and is `pending`. */
static void
cancel_buried (IrisdJournal *self, IrisdJournalRequest *request)
{
  IrisdPersistentItem *persistent = irisd_journal_look_up (self, request->item, request->view);
  if (persistent == NULL || irisd_persistent_item_get_state (persistent) != IRIS_WIRE_STATE_BURIED)
    {
      look_where (self, request);
      return;
    }
  irisd_journal_keep_submission (self, persistent);
  persistent->ended_ms = irisd_unix_ms ();
  irisd_persistent_item_set_reason (persistent, 0, NULL);
  irisd_persistent_item_set_row (persistent, IRIS_WIRE_STATE_CANCELLED, request->type,
                                 (IrisWireFrame){ request->header.data, request->header.size },
                                 (IrisWireFrame){ 0 });
  irisd_persistent_item_advance (persistent, IRISD_EVENT_WRITE_END);
  irisd_count (&self->counters.buried, -1);
  irisd_journal_apply_end (self, persistent, IRIS_WIRE_STATE_CANCELLED);
  irisd_journal_wake_waits (self, persistent);
  if (irisd_journal_get_health (self) != IRISD_JOURNAL_FAILED)
    irisd_journal_mark_dirty (self, persistent);
  if (persistent->klass == IRIS_WIRE_CLASS_DURABLE
      && irisd_journal_get_health (self) != IRISD_JOURNAL_FAILED)
    irisd_journal_attend (self, request);
  else
    irisd_journal_answer (self, request);
}

static void
forget_one (IrisdJournal *self, guint64 item)
{
  IrisdPersistentItem *persistent = irisd_persistent_table_lookup (&self->table, item);
  if (persistent != NULL && !irisd_persistent_item_has_own_key (persistent)
      && irisd_persistent_item_has_ended (persistent))
    irisd_journal_discard (self, persistent);
}

static void
forget (IrisdJournal *self, IrisdJournalRequest *request)
{
  for (guint i = 0; i < request->items->len; i++)
    {
      const IrisdSpan *span = &g_array_index (request->items, IrisdSpan, i);
      for (guint64 n = 0; n < span->n; n++)
        forget_one (self, span->first + n);
    }
  irisd_journal_request_free (request);
}

static void
handle (IrisdJournal *self, IrisdJournalRequest *request)
{
  self->n_releasing = request->n_reserved;
  switch (request->kind)
    {
    case IRISD_JOURNAL_REQUEST_KEEP:
      keep (self, request);
      break;
    case IRISD_JOURNAL_REQUEST_DONE:
      keep_done (self, request);
      break;
    case IRISD_JOURNAL_REQUEST_END:
      end (self, request);
      break;
    case IRISD_JOURNAL_REQUEST_REWRITE:
      rewrite (self, request);
      break;
    case IRISD_JOURNAL_REQUEST_RETRY:
      retry (self, request);
      break;
    case IRISD_JOURNAL_REQUEST_FORGET:
      forget (self, request);
      break;
    case IRISD_JOURNAL_REQUEST_LIST:
      irisd_journal_list (self, request);
      break;
    case IRISD_JOURNAL_REQUEST_BURY:
      bury (self, request);
      break;
    case IRISD_JOURNAL_REQUEST_KICK:
      kick (self, request);
      break;
    case IRISD_JOURNAL_REQUEST_CANCEL:
      cancel_buried (self, request);
      break;
    case IRISD_JOURNAL_REQUEST_BURY_ITEM:
    case IRISD_JOURNAL_REQUEST_LOOK:
      look_where (self, request);
      break;
    case IRISD_JOURNAL_REQUEST_SUBMISSION:
      irisd_journal_tell_submission (self, request);
      break;
    case IRISD_JOURNAL_REQUEST_RELOAD:
      irisd_journal_reload (self, request);
      break;
    case IRISD_JOURNAL_REQUEST_RECORD:
      take_record (self, request);
      break;
    case IRISD_JOURNAL_REQUEST_BACKUP:
      irisd_journal_begin_backup (self, request);
      break;
    default:
      irisd_journal_ask (self, request);
      break;
    }
}

static void
sweep (IrisdJournal *self, gint64 now)
{
  if (self->sweep_us == 0 || now < self->sweep_us)
    return;
  guint64 unix_ms = irisd_unix_ms ();
  for (IrisdPersistentItem *persistent = TAILQ_FIRST (&self->table.all), *next; persistent != NULL;
       persistent = next)
    {
      next = TAILQ_NEXT (persistent, in_all);
      if (irisd_persistent_item_has_ended (persistent)
          && irisd_persistent_item_get_expiry (persistent) <= unix_ms)
        irisd_journal_discard (self, persistent);
    }
  self->sweep_us = self->table.n_ended > 0 ? now + IRISD_JOURNAL_SWEEP_US : 0;
}

static gboolean
is_due (IrisdJournal *self, gint64 now)
{
  if (irisd_journal_get_health (self) == IRISD_JOURNAL_FAILED)
    return FALSE;
  if (self->retry_us != 0)
    return now >= self->retry_us;
  return self->commit_by_us != 0
         && (now >= self->commit_by_us || self->n_dirty + self->n_changes >= MOST_DIRTY);
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
    until = earlier (until, ((IrisdJournalRequest *) g_sequence_get (first))->deadline_us);
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
take_messages (IrisdJournal *self)
{
  IrisdMessage *message = irisd_mailbox_take (&self->mailbox);
  gboolean any = message != NULL;
  while (message != NULL)
    {
      IrisdMessage *next = message->next;
      handle (self, irisd_journal_request_from_message (message));
      if (self->n_dirty + self->n_changes >= MOST_DIRTY && is_due (self, g_get_monotonic_time ()))
        irisd_journal_commit (self);
      message = next;
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
      gboolean any = take_messages (self);
      any |= irisd_journal_go_on_with_backup (self, stopping);
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

/* Takes @store, which is open. @dir is the reserve's directory; @limits must outlive the journal.
 * Returns a journal whose thread does not run yet. */
IrisdJournal *
irisd_journal_new (const char *dir, IrisdStore *store, const IrisdLimits *limits, GError **error)
{
  IrisdJournal *self = g_aligned_alloc0 (1, sizeof *self, 64);
  self->store = store;
  self->limits = limits;
  STAILQ_INIT (&self->dirty);
  STAILQ_INIT (&self->attendants);
  TAILQ_INIT (&self->changes);
  irisd_persistent_table_init (&self->table);
  self->deadlines = g_sequence_new (NULL);
  irisd_reserve_init (&self->reserve, dir, limits->journal_reserve);
  g_autofree char *outputs = g_build_filename (dir, OUTPUTS_NAME, NULL);
  self->outputs = irisd_outputs_new (outputs, limits->total_output, error);
  if (self->outputs != NULL && irisd_mailbox_init (&self->mailbox, error))
    return self;
  irisd_journal_free (self);
  return NULL;
}

void
irisd_journal_start (IrisdJournal *self)
{
  irisd_journal_try_reserve (self);
  irisd_journal_measure (self, g_get_monotonic_time ());
  self->idle_us = g_get_monotonic_time () + IRISD_JOURNAL_IDLE_US;
  self->sweep_us = self->table.n_ended > 0 ? 1 : 0;
  self->thread = g_thread_new ("irisd-journal", run_thread, self);
}

/* Writes the dirty rows and ends the thread. Call this when the gateways have ended. */
void
irisd_journal_stop (IrisdJournal *self)
{
  if (self->thread == NULL)
    return;
  atomic_store_explicit (&self->stopping, TRUE, memory_order_release);
  irisd_mailbox_wake (&self->mailbox);
  g_thread_join (g_steal_pointer (&self->thread));
  irisd_journal_join_backup (self);
  if (self->n_dirty + self->n_changes > 0
      && irisd_journal_get_health (self) != IRISD_JOURNAL_FAILED)
    irisd_journal_commit (self);
}

/* The gateways that would read the answers have ended. */
static void
free_waits (IrisdJournal *self)
{
  IrisdPersistentItem *persistent;
  TAILQ_FOREACH (persistent, &self->table.all, in_all)
  while (persistent->waits != NULL)
    {
      IrisdJournalRequest *request = persistent->waits;
      persistent->waits = request->next_wait;
      irisd_journal_request_free (request);
    }
  for (IrisdJournalRequest *request; (request = STAILQ_FIRST (&self->attendants)) != NULL;)
    {
      STAILQ_REMOVE_HEAD (&self->attendants, next);
      irisd_journal_request_free (request);
    }
  while ((persistent = STAILQ_FIRST (&self->dirty)) != NULL)
    {
      STAILQ_REMOVE_HEAD (&self->dirty, next_dirty);
      if (persistent->forgotten)
        irisd_persistent_item_free (persistent);
    }
}

/* Takes @self, which was stopped or never started. */
void
irisd_journal_free (IrisdJournal *self)
{
  if (self == NULL)
    return;
  free_waits (self);
  irisd_journal_clear_changes (self);
  irisd_persistent_table_clear (&self->table);
  g_sequence_free (self->deadlines);
  irisd_reserve_clear (&self->reserve);
  irisd_mailbox_clear (&self->mailbox);
  irisd_outputs_free (self->outputs);
  irisd_store_close (self->store);
  g_aligned_free (self);
}
