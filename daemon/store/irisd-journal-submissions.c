/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * Items as they were submitted: while an item has not ended its row is its SUBMIT; afterwards a
 * named record keeps that as long as the end is kept, so that the item can be submitted again.
 *
 * Not each end has one. An item whose connection waits for its end is forgotten as soon as that is
 * acknowledged, one that ran at once was never stored as a SUBMIT, and a large one would take its
 * room on the disk twice. The loss of a record is no loss of an item: on a full disk they are left
 * out.
 *
 * The name of such a record is the item's number, eight bytes, most significant first. Its body is
 * the length of the SUBMIT's header, four bytes in the same order, that header, and the payload.
 */
#include "daemon/store/irisd-journal-private.h"

#include "daemon/base/irisd-log.h"

#include <string.h>

/* The most bytes of header and payload together that are kept behind the end. */
#define MOST_KEPT 65536

#define NAME_SIZE   8
#define LENGTH_SIZE 4

static IrisdRecordChange *
change_new (guint64 item, const guint8 *body, gsize size)
{
  const guint64 name = GUINT64_TO_BE (item);
  const IrisdNamedRecord record = {
    .kind = IRISD_RECORD_SUBMISSION,
    .name = (const guint8 *) &name,
    .name_size = NAME_SIZE,
    .body = body,
    .body_size = size,
  };
  return irisd_record_change_new (&record, body == NULL);
}

/* @persistent ends, and its row, a SUBMIT, is about to be replaced. */
void
irisd_journal_keep_submission (IrisdJournal *self, IrisdPersistentItem *persistent)
{
  g_autoptr (IrisdJournalRequest)
      read = irisd_journal_request_new (IRISD_JOURNAL_REQUEST_SUBMISSION, NULL);
  if (irisd_journal_get_health (self) != IRISD_JOURNAL_READY || persistent->size > MOST_KEPT
      || !irisd_journal_read_row (self, persistent, read) || read->type != IRIS_WIRE_SUBMIT)
    return;
  gsize payload = zmq_msg_size (&read->body);
  if (read->header.size + payload > MOST_KEPT)
    return;
  g_autoptr (GByteArray)
      body = g_byte_array_sized_new ((guint) (LENGTH_SIZE + read->header.size + payload));
  const guint32 length = GUINT32_TO_BE ((guint32) read->header.size);
  g_byte_array_append (body, (const guint8 *) &length, LENGTH_SIZE);
  g_byte_array_append (body, read->header.data, (guint) read->header.size);
  if (payload > 0)
    g_byte_array_append (body, zmq_msg_data (&read->body), (guint) payload);
  irisd_journal_add_change (self, change_new (persistent->item, body->data, body->len));
  persistent->has_submission = TRUE;
}

static guint64
read_name (const guint8 *name, gsize size)
{
  guint64 item = 0;
  if (size == NAME_SIZE)
    memcpy (&item, name, NAME_SIZE);
  return GUINT64_FROM_BE (item);
}

/* @record is of the store, at the start. */
static void
note_submission (IrisdJournal *self, const IrisdNamedRecord *record)
{
  guint64 item = read_name (record->name, record->name_size);
  IrisdPersistentItem *persistent = irisd_persistent_table_lookup (&self->table, item);
  if (persistent != NULL && irisd_persistent_item_has_ended (persistent))
    persistent->has_submission = TRUE;
  else
    irisd_journal_add_change (self, change_new (item, NULL, 0));
}

/* Fills @user_data, SUBMISSION. */
static void
take_record (const IrisdNamedRecord *record, gpointer user_data)
{
  IrisdJournalRequest *request = user_data;
  guint32 length = 0;
  if (record->body_size >= LENGTH_SIZE)
    memcpy (&length, record->body, LENGTH_SIZE);
  length = GUINT32_FROM_BE (length);
  if (record->body_size < LENGTH_SIZE || length > record->body_size - LENGTH_SIZE)
    return;
  gsize payload = record->body_size - LENGTH_SIZE - length;
  request->type = IRIS_WIRE_SUBMIT;
  g_free (request->header.data);
  request->header = (IrisdBlob){ g_memdup2 (record->body + LENGTH_SIZE, length), length };
  zmq_msg_close (&request->body);
  if (zmq_msg_init_size (&request->body, payload) != 0)
    g_error ("out of memory for a payload of %zu bytes", payload);
  if (payload > 0)
    memcpy (zmq_msg_data (&request->body), record->body + LENGTH_SIZE + length, payload);
}

/* Reads the record of an item that has ended: one that waits to be written, or the store's. */
static void
read_kept (IrisdJournal *self, IrisdJournalRequest *request)
{
  const guint64 name = GUINT64_TO_BE (request->item);
  const IrisdNamedRecord wanted = { .kind = IRISD_RECORD_SUBMISSION,
                                    .name = (const guint8 *) &name,
                                    .name_size = NAME_SIZE };
  IrisdRecordChange *change;
  TAILQ_FOREACH_REVERSE (change, &self->changes, _IrisdRecordChanges, next)
  {
    const IrisdNamedRecord record = { change->kind, change->name.data, change->name.size,
                                      change->body.data, change->body.size };
    if (change->kind == wanted.kind && read_name (record.name, record.name_size) == request->item)
      {
        take_record (&record, request);
        return;
      }
  }
  irisd_store_read_record (self->store, &wanted, take_record, request);
}

static void
read_submission (IrisdJournal *self, IrisdPersistentItem *persistent, IrisdJournalRequest *request)
{
  /* An item may have ended at its gateway, and its end be on the way: then its row still is the
   * SUBMIT. */
  if (persistent->has_submission)
    read_kept (self, request);
  else if (!irisd_journal_read_row (self, persistent, request) && request->error != NULL)
    return;
  if (request->type != IRIS_WIRE_SUBMIT)
    request->error = g_error_new (
        IRIS_WIRE_ERROR, IRIS_WIRE_ERROR_BAD_ARGUMENT,
        "item %" G_GUINT64_FORMAT
        " has ended, and irisd did not keep what was submitted: its connection waited for the end, "
        "or it ran at once, or has more than %d bytes; submit it from its source",
        request->item, MOST_KEPT);
}

/* Takes @request, SUBMISSION, and answers with the item as it was submitted, or an error. */
void
irisd_journal_tell_submission (IrisdJournal *self, IrisdJournalRequest *request)
{
  IrisdPersistentItem *persistent = irisd_journal_look_up (self, request->item, request->view);
  if (persistent == NULL)
    request->error = irisd_journal_no_such_item (request->item);
  else
    {
      request->owner = persistent->owner;
      read_submission (self, persistent, request);
    }
  irisd_journal_answer (self, request);
}

typedef struct
{
  IrisdJournal *journal;
  IrisdNamedRecordFunc func;
  gpointer user_data;
} Loading;

static void
give_out (const IrisdNamedRecord *record, gpointer user_data)
{
  const Loading *loading = user_data;
  if (record->kind == IRISD_RECORD_SUBMISSION)
    note_submission (loading->journal, record);
  else if (loading->func != NULL)
    loading->func (record, loading->user_data);
}

/* Gives out all records but the journal's own; after irisd_journal_recover(), and before the
 * journal is started. */
gboolean
irisd_journal_load_records (IrisdJournal *self,
                            IrisdNamedRecordFunc func,
                            gpointer user_data,
                            GError **error)
{
  guint64 n_damaged = 0;
  Loading loading = { self, func, user_data };
  if (irisd_store_load_records (self->store, give_out, &loading, &n_damaged, error)
      != IRISD_STORE_OK)
    return FALSE;
  if (n_damaged > 0)
    irisd_log (IRISD_LOG_ERROR,
               "the journal is damaged: at least %" G_GUINT64_FORMAT
               " schedules or queues cannot be read and are left out; make them again",
               n_damaged);
  return TRUE;
}
