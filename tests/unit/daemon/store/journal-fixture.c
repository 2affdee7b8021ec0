/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * A journal under test, and a gateway's place before it: posts journal requests and waits for them.
 */
#include "journal-fixture.h"

#include "faulty-vfs.h"

#include <glib/gstdio.h>
#include <poll.h>
#include <string.h>

char *dir;
IrisdLimits limits;
IrisdMailbox home;
IrisdStore *store; /* the journal's */
IrisdJournal *journal;
GPtrArray *again; /* what was recovered to be run */

void
open_journal (void)
{
  g_autoptr (GError) error = NULL;
  store = irisd_store_open_sqlite (dir, &error);
  ck_assert_msg (store != NULL, "%s", error != NULL ? error->message : "");
  journal = irisd_journal_new (dir, store, &limits, &error);
  ck_assert_ptr_nonnull (journal);
}

void
note_again (const IrisdRecord *record, IrisdPersistentItem *persistent, gpointer user_data)
{
  g_ptr_array_add (again, persistent);
}

void
start_journal (void)
{
  ck_assert (irisd_journal_recover (journal, note_again, NULL, NULL));
  irisd_journal_start (journal);
}

void
close_journal (void)
{
  irisd_journal_stop (journal);
  g_clear_pointer (&journal, irisd_journal_free);
  g_ptr_array_set_size (again, 0);
}

void
set_up (void)
{
  faulty_vfs_install ();
  dir = g_dir_make_tmp ("irisd-journal-XXXXXX", NULL);
  irisd_limits_init (&limits);
  limits.journal_reserve = 1024 * 1024;
  again = g_ptr_array_new ();
  ck_assert (irisd_mailbox_init (&home, NULL));
  open_journal ();
}

void
tear_down (void)
{
  close_journal ();
  irisd_mailbox_clear (&home);
  g_ptr_array_unref (again);
  g_autoptr (GDir) entries = g_dir_open (dir, 0, NULL);
  for (const char *name; (name = g_dir_read_name (entries)) != NULL;)
    {
      g_autofree char *child = g_build_filename (dir, name, NULL);
      g_unlink (child);
    }
  g_rmdir (dir);
  g_clear_pointer (&dir, g_free);
}

const char header[HEADER_SIZE] = "header";

IrisdJournalRequest *
new_keep (guint64 number, guint klass, const char *key, const char *body)
{
  const IrisdRecord record = {
    .item = number,
    .state = IRIS_WIRE_STATE_QUEUED,
    .klass = klass,
    .accepted_ms = irisd_unix_ms (),
    .keep_ms = 3600 * 1000,
    .key = { key, key != NULL ? strlen (key) : 0 },
    .service = { "echo", 4 },
    .body = { (const guint8 *) body, strlen (body) },
  };
  IrisdJournalRequest *request = irisd_journal_request_new (IRISD_JOURNAL_REQUEST_KEEP, &home);
  request->item = number;
  request->type = IRIS_WIRE_SUBMIT;
  request->persistent = irisd_persistent_item_new (&record, NULL);
  request->header = (IrisdBlob){ g_memdup2 (header, HEADER_SIZE), HEADER_SIZE };
  request->payload = record.body;
  return request;
}

IrisdJournalRequest *
new_end (IrisdPersistentItem *persistent, const char *body)
{
  IrisdJournalRequest *request = irisd_journal_request_new (IRISD_JOURNAL_REQUEST_END, &home);
  request->persistent = persistent;
  request->type = IRIS_WIRE_RESULT;
  request->state = IRIS_WIRE_STATE_DONE;
  request->header = (IrisdBlob){ g_memdup2 (header, HEADER_SIZE), HEADER_SIZE };
  request->payload = (IrisWireFrame){ (const guint8 *) body, strlen (body) };
  return request;
}

IrisdJournalRequest *
new_fetch (guint64 number, guint64 wait_ms)
{
  IrisdJournalRequest *request = irisd_journal_request_new (IRISD_JOURNAL_REQUEST_FETCH, &home);
  request->item = number;
  request->wait_ms = wait_ms;
  return request;
}

void
forget_some (guint64 number, guint64 n)
{
  IrisdJournalRequest *request = irisd_journal_request_new (IRISD_JOURNAL_REQUEST_FORGET, &home);
  const IrisdSpan span = { number, n };
  request->items = g_array_new (FALSE, FALSE, sizeof span);
  g_array_append_val (request->items, span);
  irisd_journal_post (journal, request);
}

void
forget (guint64 number)
{
  forget_some (number, 1);
}

/* Items that were done before the journal hears of them, from a number on. */
IrisdJournalRequest *
new_done (guint64 number, guint n, guint klass, const char *body)
{
  IrisdJournalRequest *request = irisd_journal_request_new (IRISD_JOURNAL_REQUEST_DONE, &home);
  request->durable = klass == IRIS_WIRE_CLASS_DURABLE;
  request->row_batch = irisd_row_batch_new (1);
  for (guint i = 0; i < n; i++)
    {
      const IrisdRecord record = {
        .item = number + i,
        .state = IRIS_WIRE_STATE_DONE,
        .klass = klass,
        .attempts = 1,
        .accepted_ms = irisd_unix_ms (),
        .ended_ms = irisd_unix_ms (),
        .keep_ms = 3600 * 1000,
        .service = { "echo", 4 },
        .type = IRIS_WIRE_RESULT,
        .header = { (const guint8 *) header, HEADER_SIZE },
        .body = { (const guint8 *) body, strlen (body) },
      };
      irisd_row_batch_add (request->row_batch, &record);
    }
  return request;
}

/* Waits for the next answer. */
IrisdJournalRequest *
receive (void)
{
  static IrisdMessage *rest;
  while (rest == NULL)
    {
      rest = irisd_mailbox_take (&home);
      if (rest == NULL && irisd_mailbox_prepare_sleep (&home))
        {
          struct pollfd fd = { .fd = home.fd, .events = POLLIN };
          ck_assert_msg (poll (&fd, 1, 60 * 1000) > 0, "the journal does not answer");
          irisd_mailbox_finish_sleep (&home, TRUE);
        }
    }
  IrisdJournalRequest *request = irisd_journal_request_from_message (rest);
  rest = rest->next;
  return request;
}

IrisdJournalRequest *
ask (IrisdJournalRequest *request)
{
  irisd_journal_post (journal, request);
  IrisdJournalRequest *answer = receive ();
  ck_assert_ptr_eq (answer, request);
  return answer;
}

IrisdPersistentItem *
keep (guint64 number, guint klass)
{
  IrisdJournalRequest *request = ask (new_keep (number, klass, NULL, "payload"));
  ck_assert_msg (request->error == NULL, "%s",
                 request->error != NULL ? request->error->message : "");
  IrisdPersistentItem *persistent = request->persistent;
  irisd_journal_request_free (request);
  return persistent;
}

void
end (IrisdPersistentItem *persistent, const char *body)
{
  IrisdJournalRequest *request = ask (new_end (persistent, body));
  ck_assert_ptr_null (request->error);
  irisd_journal_request_free (request);
}

void
assert_fetched (guint64 number, const char *body)
{
  IrisdJournalRequest *request = ask (new_fetch (number, 0));
  ck_assert_ptr_null (request->error);
  ck_assert (!request->pending);
  ck_assert_uint_eq (request->type, IRIS_WIRE_RESULT);
  ck_assert_uint_eq (request->header.size, HEADER_SIZE);
  ck_assert_uint_eq (zmq_msg_size (&request->body), strlen (body));
  ck_assert (memcmp (zmq_msg_data (&request->body), body, strlen (body)) == 0);
  irisd_journal_request_free (request);
}

void
assert_refused (IrisdJournalRequest *request, IrisWireError code)
{
  ck_assert_ptr_nonnull (request->error);
  ck_assert (g_error_matches (request->error, IRIS_WIRE_ERROR, (int) code));
  irisd_journal_request_free (request);
}
