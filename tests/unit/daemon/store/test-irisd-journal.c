/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * The journal's thread: what it answers when, and what it does when the disk does not do as it is
 * told. The test takes a gateway's place: it posts journal requests and waits for them to come
 * back.
 */
#include "core-test-run.h"
#include "faulty-vfs.h"
#include "journal-fixture.h"

#include "daemon/store/irisd-journal-private.h"
#include "daemon/store/sqlite/irisd-sqlite-private.h"

#include <check.h>
#include <glib/gstdio.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>

TEST (a_durable_item_is_synced_before_it_is_answered)
{
  start_journal ();
  guint n_syncs = atomic_load (&faulty_vfs.n_syncs);
  IrisdPersistentItem *persistent = keep (1, IRIS_WIRE_CLASS_DURABLE);
  ck_assert_uint_gt (atomic_load (&faulty_vfs.n_syncs), n_syncs);
  n_syncs = atomic_load (&faulty_vfs.n_syncs);
  end (persistent, "result");
  ck_assert_uint_gt (atomic_load (&faulty_vfs.n_syncs), n_syncs);
  assert_fetched (1, "result");
}

TEST (all_that_waits_shares_a_sync)
{
  enum
  {
    N = 500
  };
  start_journal ();
  keep (N + 1, IRIS_WIRE_CLASS_DURABLE);
  /* While one sync goes on, however long it takes, the others gather. */
  guint n_syncs = atomic_load (&faulty_vfs.n_syncs);
  faulty_vfs_hold ();
  irisd_journal_post (journal, new_keep (1, IRIS_WIRE_CLASS_DURABLE, NULL, "payload"));
  faulty_vfs_wait_held ();
  for (guint64 i = 2; i <= N; i++)
    irisd_journal_post (journal, new_keep (i, IRIS_WIRE_CLASS_DURABLE, NULL, "payload"));
  faulty_vfs_let_go ();
  for (guint i = 0; i < N; i++)
    {
      IrisdJournalRequest *request = receive ();
      ck_assert_ptr_null (request->error);
      irisd_journal_request_free (request);
    }
  ck_assert_uint_eq (atomic_load (&faulty_vfs.n_syncs) - n_syncs, 2);
}

TEST (a_relaxed_item_that_is_fetched_soon_is_never_written)
{
  limits.relaxed_ms = 60000;
  start_journal ();
  guint n_syncs = atomic_load (&faulty_vfs.n_syncs);
  for (guint64 i = 1; i <= 100; i++)
    {
      end (keep (i, IRIS_WIRE_CLASS_RELAXED), "result");
      assert_fetched (i, "result");
      forget (i);
    }
  assert_refused (ask (new_fetch (100, 0)), IRIS_WIRE_ERROR_NO_SUCH_ITEM);
  ck_assert_uint_eq (atomic_load (&faulty_vfs.n_syncs), n_syncs);
  ck_assert_uint_eq (irisd_journal_get_n_persistent (journal), 0);
}

TEST (relaxed_items_are_written_by_themselves)
{
  limits.relaxed_ms = 1;
  start_journal ();
  guint n_syncs = atomic_load (&faulty_vfs.n_syncs);
  keep (1, IRIS_WIRE_CLASS_RELAXED);
  while (atomic_load (&faulty_vfs.n_syncs) == n_syncs)
    g_thread_yield ();
  close_journal ();
  open_journal ();
  start_journal ();
  ck_assert_uint_eq (again->len, 1);
}

TEST (what_has_not_ended_is_recovered)
{
  start_journal ();
  keep (1, IRIS_WIRE_CLASS_DURABLE);
  end (keep (2, IRIS_WIRE_CLASS_DURABLE), "two");
  keep (3, IRIS_WIRE_CLASS_RELAXED);
  end (keep (4, IRIS_WIRE_CLASS_RELAXED), "four");
  forget (2);
  close_journal ();
  open_journal ();
  start_journal ();
  ck_assert_uint_eq (again->len, 2);
  ck_assert_uint_eq (((IrisdPersistentItem *) again->pdata[0])->item, 1);
  ck_assert_uint_eq (((IrisdPersistentItem *) again->pdata[1])->item, 3);
  ck_assert_uint_gt (irisd_journal_get_next_item (journal), 4);
  assert_fetched (4, "four");
  assert_refused (ask (new_fetch (2, 0)), IRIS_WIRE_ERROR_NO_SUCH_ITEM);
}

/* A spilled item, whose row the store does not remember. */
TEST (a_call_whose_read_fails_may_be_repeated)
{
  start_journal ();
  keep (1, IRIS_WIRE_CLASS_DURABLE);
  close_journal ();
  open_journal ();
  ck_assert (irisd_journal_recover (journal, note_again, NULL, NULL));
  sqlite3_db_release_memory (store->db);
  atomic_store (&faulty_vfs.fail_read, SQLITE_IOERR_READ);
  irisd_journal_start (journal);
  for (guint i = 0; i < 2; i++)
    {
      IrisdJournalRequest *request = irisd_journal_request_new (IRISD_JOURNAL_REQUEST_RELOAD,
                                                                &home);
      request->item = 1;
      ask (request);
      ck_assert_ptr_nonnull (request->persistent);
      ck_assert_int_eq (request->again, i == 0);
      if (i == 0)
        assert_refused (request, IRIS_WIRE_ERROR_JOURNAL_FAILED);
      else
        {
          ck_assert_ptr_null (request->error);
          ck_assert_uint_eq (zmq_msg_size (&request->body), strlen ("payload"));
          irisd_journal_request_free (request);
        }
    }
  ck_assert_int_eq (irisd_journal_get_health (journal), IRISD_JOURNAL_READY);
  keep (2, IRIS_WIRE_CLASS_DURABLE);
}

TEST (a_sync_that_fails_once_makes_the_journal_read_only)
{
  start_journal ();
  end (keep (1, IRIS_WIRE_CLASS_DURABLE), "one");
  IrisdPersistentItem *running = keep (2, IRIS_WIRE_CLASS_DURABLE);
  atomic_store (&faulty_vfs.fail_sync, 1);
  assert_refused (ask (new_keep (3, IRIS_WIRE_CLASS_DURABLE, NULL, "x")),
                  IRIS_WIRE_ERROR_JOURNAL_FAILED);
  ck_assert_int_eq (irisd_journal_get_health (journal), IRISD_JOURNAL_FAILED);
  ck_assert_ptr_nonnull (strstr (irisd_journal_get_reason (journal), "synced"));

  /* The disk would take it now; the journal does not try. */
  guint n_syncs = atomic_load (&faulty_vfs.n_syncs);
  assert_refused (ask (new_keep (4, IRIS_WIRE_CLASS_DURABLE, NULL, "x")),
                  IRIS_WIRE_ERROR_JOURNAL_FAILED);
  assert_refused (ask (new_keep (5, IRIS_WIRE_CLASS_RELAXED, NULL, "x")),
                  IRIS_WIRE_ERROR_JOURNAL_FAILED);
  assert_refused (ask (new_end (running, "two")), IRIS_WIRE_ERROR_JOURNAL_FAILED);
  assert_fetched (1, "one");
  IrisdJournalRequest *pending = ask (new_fetch (2, 0));
  ck_assert (pending->pending);
  irisd_journal_request_free (pending);
  close_journal ();
  ck_assert_uint_eq (atomic_load (&faulty_vfs.n_syncs), n_syncs);

  /* Started again it goes on from what is there: the second item runs again. */
  open_journal ();
  start_journal ();
  ck_assert_int_eq (irisd_journal_get_health (journal), IRISD_JOURNAL_READY);
  ck_assert_uint_ge (again->len, 1);
  ck_assert_uint_eq (((IrisdPersistentItem *) again->pdata[0])->item, 2);
  assert_fetched (1, "one");
}

TEST (a_waiting_fetch_is_told_that_the_item_was_refused_after_all)
{
  start_journal ();
  keep (1, IRIS_WIRE_CLASS_DURABLE);
  faulty_vfs_hold ();
  IrisdJournalRequest *refused = new_keep (2, IRIS_WIRE_CLASS_DURABLE, NULL, "x");
  irisd_journal_post (journal, refused);
  faulty_vfs_wait_held ();
  IrisdJournalRequest *later = new_keep (3, IRIS_WIRE_CLASS_DURABLE, NULL, "x");
  IrisdJournalRequest *guess = new_fetch (3, IRISD_WAIT_FOREVER);
  irisd_journal_post (journal, later);
  irisd_journal_post (journal, guess);
  atomic_store (&faulty_vfs.fail_sync, 2);
  faulty_vfs_let_go ();
  for (guint i = 0; i < 3; i++)
    {
      IrisdJournalRequest *request = receive ();
      ck_assert_int_eq (request->error != NULL, request != refused);
      irisd_journal_request_free (request);
    }
}

LOOP_TEST (on_a_full_disk_ends_are_written_and_items_refused, 0, 2)
{
  g_autofree char *reserve = g_build_filename (dir, "reserve", NULL);
  start_journal ();
  ck_assert (g_file_test (reserve, G_FILE_TEST_EXISTS));
  IrisdPersistentItem *running = keep (1, IRIS_WIRE_CLASS_DURABLE);
  atomic_store (&faulty_vfs.over_quota, _i == 1);
  atomic_store (&faulty_vfs.full_while, reserve);
  assert_refused (ask (new_keep (2, IRIS_WIRE_CLASS_DURABLE, NULL, "x")),
                  IRIS_WIRE_ERROR_JOURNAL_FAILED);
  end (running, "one");
  assert_fetched (1, "one");
  atomic_store (&faulty_vfs.full_while, NULL);
  while (irisd_journal_get_health (journal) != IRISD_JOURNAL_READY)
    irisd_journal_request_free (ask (new_fetch (1, 0)));
  ck_assert (g_file_test (reserve, G_FILE_TEST_EXISTS));
  keep (3, IRIS_WIRE_CLASS_DURABLE);
}

LOOP_TEST (a_disk_that_is_full_without_a_reserve_keeps_ends_waiting, 0, 2)
{
  g_autofree char *full = g_build_filename (dir, "full", NULL);
  start_journal ();
  IrisdPersistentItem *running = keep (1, IRIS_WIRE_CLASS_DURABLE);
  ck_assert (g_file_set_contents (full, "", 0, NULL));
  atomic_store (&faulty_vfs.over_quota, _i == 1);
  atomic_store (&faulty_vfs.full_while, full);
  IrisdJournalRequest *request = new_end (running, "one");
  irisd_journal_post (journal, request);
  /* Asked behind it, and so answered after the journal has tried. */
  IrisdJournalRequest *pending = new_fetch (1, 0);
  irisd_journal_post (journal, pending);
  ck_assert_ptr_eq (receive (), pending);
  ck_assert (pending->pending);
  irisd_journal_request_free (pending);
  ck_assert_int_eq (g_unlink (full), 0);
  ck_assert_ptr_eq (receive (), request);
  ck_assert_ptr_null (request->error);
  irisd_journal_request_free (request);
  assert_fetched (1, "one");
}

TEST (a_key_finds_the_first_item_also_before_it_is_synced)
{
  start_journal ();
  keep (1, IRIS_WIRE_CLASS_DURABLE);
  faulty_vfs_hold ();
  irisd_journal_post (journal, new_keep (2, IRIS_WIRE_CLASS_DURABLE, "key", "payload"));
  faulty_vfs_wait_held ();
  for (guint64 i = 3; i <= 20; i++)
    irisd_journal_post (journal, new_keep (i, IRIS_WIRE_CLASS_DURABLE, "key", "payload"));
  faulty_vfs_let_go ();
  IrisdPersistentItem *persistent = NULL;
  for (guint64 i = 2; i <= 20; i++)
    {
      IrisdJournalRequest *request = receive ();
      ck_assert_ptr_null (request->error);
      ck_assert_int_eq (request->duplicate, i > 2);
      ck_assert_uint_eq (request->item, 2);
      persistent = request->persistent != NULL ? request->persistent : persistent;
      irisd_journal_request_free (request);
    }
  end (persistent, "once");
  /* An acknowledgement does not make a key new again. */
  forget (2);
  IrisdJournalRequest *request = ask (new_keep (21, IRIS_WIRE_CLASS_DURABLE, "key", "payload"));
  ck_assert (request->duplicate);
  irisd_journal_request_free (request);
  assert_fetched (2, "once");
}

TEST (a_waiting_fetch_is_told_of_the_end_or_that_there_is_none)
{
  start_journal ();
  IrisdPersistentItem *persistent = keep (1, IRIS_WIRE_CLASS_DURABLE);
  IrisdJournalRequest *patient = new_fetch (1, IRISD_WAIT_FOREVER), *hasty = new_fetch (1, 1);
  irisd_journal_post (journal, patient);
  irisd_journal_post (journal, hasty);
  ck_assert_ptr_eq (receive (), hasty);
  ck_assert (hasty->pending);
  irisd_journal_request_free (hasty);
  IrisdJournalRequest *completion = new_end (persistent, "end");
  irisd_journal_post (journal, completion);
  for (guint i = 0; i < 2; i++)
    {
      IrisdJournalRequest *request = receive ();
      ck_assert (request == patient || request == completion);
      ck_assert (!request->pending);
      irisd_journal_request_free (request);
    }
  /* One that is still waiting when the journal ends is freed with it. */
  keep (2, IRIS_WIRE_CLASS_DURABLE);
  irisd_journal_post (journal, new_fetch (2, IRISD_WAIT_FOREVER));
  irisd_journal_post (journal, new_fetch (2, 60 * 60 * 1000));
}

TEST (what_was_done_at_once_is_written_once_and_then_told)
{
  start_journal ();
  keep (1000, IRIS_WIRE_CLASS_DURABLE);
  guint n_syncs = atomic_load (&faulty_vfs.n_syncs);
  faulty_vfs_hold ();
  IrisdJournalRequest *done = new_done (1, 100, IRIS_WIRE_CLASS_DURABLE, "result");
  irisd_journal_post (journal, done);
  faulty_vfs_wait_held ();
  /* A client that guesses the number learns nothing before the row is written. */
  IrisdJournalRequest *guess = new_fetch (1, 0), *patient = new_fetch (2, IRISD_WAIT_FOREVER);
  IrisdJournalRequest *whole = irisd_journal_request_new (IRISD_JOURNAL_REQUEST_SHOW, &home);
  whole->item = 3;
  whole->whole = TRUE;
  irisd_journal_post (journal, guess);
  irisd_journal_post (journal, patient);
  irisd_journal_post (journal, whole);
  faulty_vfs_let_go ();
  ck_assert_ptr_eq (receive (), done);
  ck_assert_uint_eq (atomic_load (&faulty_vfs.n_syncs) - n_syncs, 1);
  ck_assert_ptr_null (done->error);
  irisd_journal_request_free (done);
  irisd_journal_request_free (receive ());
  irisd_journal_request_free (receive ());
  assert_refused (receive (), IRIS_WIRE_ERROR_BAD_ARGUMENT);
  forget_some (1, 98);
  close_journal ();
  open_journal ();
  start_journal ();
  ck_assert_uint_eq (again->len, 1);
  assert_refused (ask (new_fetch (98, 0)), IRIS_WIRE_ERROR_NO_SUCH_ITEM);
  assert_fetched (99, "result");
  assert_fetched (100, "result");
  ck_assert_uint_eq (irisd_journal_get_n_persistent_ended (journal), 2);
}

TEST (what_was_done_at_once_and_is_relaxed_need_not_be_written)
{
  limits.relaxed_ms = 60000;
  start_journal ();
  guint n_syncs = atomic_load (&faulty_vfs.n_syncs);
  irisd_journal_post (journal, new_done (1, 10, IRIS_WIRE_CLASS_RELAXED, "result"));
  assert_fetched (10, "result");
  forget_some (1, 9);
  assert_refused (ask (new_fetch (9, 0)), IRIS_WIRE_ERROR_NO_SUCH_ITEM);
  ck_assert_uint_eq (atomic_load (&faulty_vfs.n_syncs), n_syncs);
  close_journal ();
  open_journal ();
  start_journal ();
  assert_fetched (10, "result");
  ck_assert_uint_eq (irisd_journal_get_n_persistent (journal), 1);
}

LOOP_TEST (what_was_done_at_once_is_refused_if_it_cannot_be_written, 0, 2)
{
  g_autofree char *reserve = g_build_filename (dir, "reserve", NULL);
  start_journal ();
  keep (1000, IRIS_WIRE_CLASS_DURABLE);
  if (_i == 0)
    atomic_store (&faulty_vfs.fail_sync, 1);
  else
    atomic_store (&faulty_vfs.full_while, reserve);
  irisd_journal_post (journal, new_done (1, 5, IRIS_WIRE_CLASS_RELAXED, "told"));
  assert_refused (ask (new_done (6, 5, IRIS_WIRE_CLASS_DURABLE, "x")),
                  IRIS_WIRE_ERROR_JOURNAL_FAILED);
  assert_refused (ask (new_fetch (6, 0)), IRIS_WIRE_ERROR_NO_SUCH_ITEM);
  /* The end of a relaxed item was sent before; its row is written when the disk has room. */
  assert_fetched (5, "told");
  atomic_store (&faulty_vfs.full_while, NULL);
  if (_i == 0)
    return;
  close_journal ();
  open_journal ();
  start_journal ();
  ck_assert_uint_eq (irisd_journal_get_n_persistent (journal), 6);
  assert_fetched (5, "told");
}

LOOP_TEST (a_relaxed_transaction_begins_earlier_by_the_time_that_one_takes, 0, 2)
{
  gint64 took_us = _i == 0 ? 20 * 1000 : G_USEC_PER_SEC, since_us = 1000 * 1000;
  gint64 time_us = (gint64) limits.relaxed_ms * 1000;
  ck_assert (irisd_journal_recover (journal, note_again, NULL, NULL));
  journal->commit_us = took_us;
  irisd_journal_commit_for (journal, since_us);
  ck_assert_int_eq (journal->commit_by_us, since_us + time_us - MIN (took_us, time_us / 2));
  /* What has been promised earlier is due earlier. */
  irisd_journal_commit_for (journal, since_us - 1);
  irisd_journal_commit_for (journal, since_us);
  ck_assert_int_eq (journal->commit_by_us, since_us - 1 + time_us - MIN (took_us, time_us / 2));
}

TEST (the_log_gives_its_room_back_when_nothing_is_written_any_more)
{
  g_autofree char *path = g_build_filename (dir, "items.sqlite-wal", NULL);
  GStatBuf st;
  start_journal ();
  keep (1, IRIS_WIRE_CLASS_DURABLE);
  do
    poll (NULL, 0, 1);
  while (g_stat (path, &st) != 0 || st.st_size > 0);
  IrisdJournalRequest *pending = ask (new_fetch (1, 0));
  ck_assert (pending->pending);
  irisd_journal_request_free (pending);
}

TEST_MAIN ("irisd-journal", set_up, tear_down)
