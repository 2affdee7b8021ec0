/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * A journal under test, and a gateway's place before it: posts slips and waits for them.
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
note_again (const IrisdRecord *record, IrisdKept *kept, gpointer user_data)
{
  g_ptr_array_add (again, kept);
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

IrisdSlip *
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
  IrisdSlip *slip = irisd_slip_new (IRISD_SLIP_KEEP, &home);
  slip->item = number;
  slip->type = IRIS_WIRE_SUBMIT;
  slip->kept = irisd_kept_new (&record, NULL);
  slip->header = (IrisdBlob){ g_memdup2 (header, HEADER_SIZE), HEADER_SIZE };
  slip->payload = record.body;
  return slip;
}

IrisdSlip *
new_end (IrisdKept *kept, const char *body)
{
  IrisdSlip *slip = irisd_slip_new (IRISD_SLIP_END, &home);
  slip->kept = kept;
  slip->type = IRIS_WIRE_RESULT;
  slip->state = IRIS_WIRE_STATE_DONE;
  slip->header = (IrisdBlob){ g_memdup2 (header, HEADER_SIZE), HEADER_SIZE };
  slip->payload = (IrisWireFrame){ (const guint8 *) body, strlen (body) };
  return slip;
}

IrisdSlip *
new_fetch (guint64 number, guint64 wait_ms)
{
  IrisdSlip *slip = irisd_slip_new (IRISD_SLIP_FETCH, &home);
  slip->item = number;
  slip->wait_ms = wait_ms;
  return slip;
}

void
forget_some (guint64 number, guint64 n)
{
  IrisdSlip *slip = irisd_slip_new (IRISD_SLIP_FORGET, &home);
  const IrisdSpan span = { number, n };
  slip->items = g_array_new (FALSE, FALSE, sizeof span);
  g_array_append_val (slip->items, span);
  irisd_journal_post (journal, slip);
}

void
forget (guint64 number)
{
  forget_some (number, 1);
}

/* Items that were done before the journal hears of them, from a number on. */
IrisdSlip *
new_done (guint64 number, guint n, guint klass, const char *body)
{
  IrisdSlip *slip = irisd_slip_new (IRISD_SLIP_DONE, &home);
  slip->durable = klass == IRIS_WIRE_CLASS_DURABLE;
  slip->sheet = irisd_sheet_new (1);
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
      irisd_sheet_add (slip->sheet, &record);
    }
  return slip;
}

/* Waits for the next answer. */
IrisdSlip *
receive (void)
{
  static IrisdLetter *rest;
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
  IrisdSlip *slip = irisd_slip_from_letter (rest);
  rest = rest->next;
  return slip;
}

IrisdSlip *
ask (IrisdSlip *slip)
{
  irisd_journal_post (journal, slip);
  IrisdSlip *answer = receive ();
  ck_assert_ptr_eq (answer, slip);
  return answer;
}

IrisdKept *
keep (guint64 number, guint klass)
{
  IrisdSlip *slip = ask (new_keep (number, klass, NULL, "payload"));
  ck_assert_msg (slip->error == NULL, "%s", slip->error != NULL ? slip->error->message : "");
  IrisdKept *kept = slip->kept;
  irisd_slip_free (slip);
  return kept;
}

void
end (IrisdKept *kept, const char *body)
{
  IrisdSlip *slip = ask (new_end (kept, body));
  ck_assert_ptr_null (slip->error);
  irisd_slip_free (slip);
}

void
assert_fetched (guint64 number, const char *body)
{
  IrisdSlip *slip = ask (new_fetch (number, 0));
  ck_assert_ptr_null (slip->error);
  ck_assert (!slip->pending);
  ck_assert_uint_eq (slip->type, IRIS_WIRE_RESULT);
  ck_assert_uint_eq (slip->header.size, HEADER_SIZE);
  ck_assert_uint_eq (zmq_msg_size (&slip->body), strlen (body));
  ck_assert (memcmp (zmq_msg_data (&slip->body), body, strlen (body)) == 0);
  irisd_slip_free (slip);
}

void
assert_refused (IrisdSlip *slip, IrisWireError code)
{
  ck_assert_ptr_nonnull (slip->error);
  ck_assert (g_error_matches (slip->error, IRIS_WIRE_ERROR, (int) code));
  irisd_slip_free (slip);
}
