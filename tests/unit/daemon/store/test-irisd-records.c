/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * Named records: they survive, a damaged one is noticed, and one that comes with an item is stored
 * with it or not at all.
 */
#include "core-test-run.h"
#include "faulty-vfs.h"
#include "journal-fixture.h"

#include <check.h>
#include <glib/gstdio.h>
#include <string.h>

#define N_MANY 400

static GPtrArray *found; /* char *: "KIND NAME BODY" */

static IrisdNamedRecord
record_of (guint32 kind, const char *name, const char *body)
{
  return (IrisdNamedRecord){ kind, (const guint8 *) name, strlen (name), (const guint8 *) body,
                             strlen (body) };
}

static void
note_record (const IrisdNamedRecord *record, gpointer user_data)
{
  g_ptr_array_add (found, g_strdup_printf ("%u %.*s %.*s", record->kind, (int) record->name_size,
                                           (const char *) record->name, (int) record->body_size,
                                           (const char *) record->body));
}

/* Opens the journal anew and reads its records. Returns how many there are. */
static guint
reopen (void)
{
  g_autoptr (GError) error = NULL;
  close_journal ();
  open_journal ();
  ck_assert (irisd_journal_recover (journal, note_again, NULL, NULL));
  g_ptr_array_set_size (found, 0);
  ck_assert_msg (irisd_journal_load_records (journal, note_record, NULL, &error), "%s",
                 error != NULL ? error->message : "");
  irisd_journal_start (journal);
  return found->len;
}

static void
set_up_records (void)
{
  set_up ();
  found = g_ptr_array_new_with_free_func (g_free);
  start_journal ();
}

static void
tear_down_records (void)
{
  tear_down ();
  g_ptr_array_unref (found);
}

static IrisdJournalRequest *
new_record (const char *name, const char *body)
{
  const IrisdNamedRecord record = record_of (IRISD_RECORD_SCHEDULE, name, body != NULL ? body : "");
  IrisdJournalRequest *request = irisd_journal_request_new (IRISD_JOURNAL_REQUEST_RECORD, &home);
  request->change = irisd_record_change_new (&record, body == NULL);
  return request;
}

static void
change (const char *name, const char *body)
{
  IrisdJournalRequest *request = ask (new_record (name, body));
  ck_assert_ptr_null (request->error);
  irisd_journal_request_free (request);
}

TEST (a_record_is_put_replaced_and_removed)
{
  change ("b", "1");
  change ("a", "2");
  change ("c", "3");
  change ("b", "4");
  change ("c", NULL);
  change ("absent", NULL);
  ck_assert_uint_eq (reopen (), 2);
  ck_assert_str_eq (g_ptr_array_index (found, 0), "1 a 2");
  ck_assert_str_eq (g_ptr_array_index (found, 1), "1 b 4");
}

TEST (a_change_without_a_home_is_written_by_itself)
{
  IrisdJournalRequest *request = new_record ("quiet", "x");
  request->home = NULL;
  irisd_journal_post (journal, request);
  ck_assert_uint_eq (reopen (), 1);
}

static IrisdJournalRequest *
new_keep_with (guint64 number, const char *key, const char *body)
{
  const IrisdNamedRecord record = record_of (IRISD_RECORD_SCHEDULE, "nightly", body);
  IrisdJournalRequest *request = new_keep (number, IRIS_WIRE_CLASS_DURABLE, key, "x");
  request->change = irisd_record_change_new (&record, FALSE);
  return request;
}

TEST (a_record_that_comes_with_an_item_shares_its_sync)
{
  guint before = atomic_load (&faulty_vfs.n_syncs);
  IrisdJournalRequest *request = ask (new_keep_with (1, "due-1", "1"));
  ck_assert_ptr_null (request->error);
  ck_assert_uint_eq (atomic_load (&faulty_vfs.n_syncs), before + 1);
  irisd_journal_request_free (request);
  /* The item is there already, and the record is written all the same. */
  request = ask (new_keep_with (2, "due-1", "2"));
  ck_assert (request->duplicate);
  irisd_journal_request_free (request);
  ck_assert_uint_eq (reopen (), 1);
  ck_assert_str_eq (g_ptr_array_index (found, 0), "1 nightly 2");
}

TEST (on_a_full_disk_nothing_is_added_and_removals_are_written)
{
  g_autofree char *reserve = g_build_filename (dir, "reserve", NULL);
  change ("old", "1");
  change ("nightly", "0");
  atomic_store (&faulty_vfs.full_while, reserve);
  assert_refused (ask (new_keep_with (1, NULL, "1")), IRIS_WIRE_ERROR_JOURNAL_FAILED);
  assert_refused (ask (new_record ("new", "2")), IRIS_WIRE_ERROR_JOURNAL_FAILED);
  change ("old", NULL);
  atomic_store (&faulty_vfs.full_while, NULL);
  ck_assert_uint_eq (reopen (), 1);
  ck_assert_str_eq (g_ptr_array_index (found, 0), "1 nightly 0");
}

TEST (a_failed_sync_refuses_the_change)
{
  atomic_store (&faulty_vfs.fail_sync, 1);
  assert_refused (ask (new_record ("a", "1")), IRIS_WIRE_ERROR_JOURNAL_FAILED);
  assert_refused (ask (new_record ("b", "1")), IRIS_WIRE_ERROR_JOURNAL_FAILED);
}

static char *
database (void)
{
  return g_build_filename (dir, "items.sqlite", NULL);
}

/* Ends the journal, so that the database has all of it, and changes the file. */
static void
damage (void (*change_file) (char *data, gsize size))
{
  g_autofree char *path = database (), *data = NULL;
  gsize size = 0;
  close_journal ();
  ck_assert (g_file_get_contents (path, &data, &size, NULL));
  change_file (data, size);
  ck_assert (g_file_set_contents (path, data, (gssize) size, NULL));
  open_journal ();
}

static void
flip_marked (char *data, gsize size)
{
  char *at = memmem (data, size, "flip-me", 7);
  ck_assert_ptr_nonnull (at);
  at[3] ^= 1;
}

static void
check_whole (gboolean whole, const char *part)
{
  g_autofree char *report = NULL;
  close_journal ();
  ck_assert_int_eq (irisd_store_check (dir, &report, NULL), whole);
  ck_assert_msg (strstr (report, part) != NULL, "%s", report);
  open_journal ();
}

TEST (a_damaged_record_is_found_and_set_aside_once)
{
  change ("a", "1");
  change ("b", "flip-me");
  check_whole (TRUE, "2 records of schedules and queues are whole");
  damage (flip_marked);
  check_whole (FALSE, "of the records of schedules and queues 1 are damaged");
  ck_assert_uint_eq (reopen (), 1);
  ck_assert_str_eq (g_ptr_array_index (found, 0), "1 a 1");
  check_whole (TRUE, "1 records of schedules and queues are whole");
  reopen ();
  change ("b", "2");
  ck_assert_uint_eq (reopen (), 2);
}

static void
put_many (void)
{
  g_autofree char *filler = g_strnfill (200, 'f');
  IrisdPersistentItem *item = keep (1, IRIS_WIRE_CLASS_DURABLE);
  ck_assert_ptr_nonnull (item);
  for (guint i = 0; i < N_MANY; i++)
    {
      g_autofree char *name = g_strdup_printf ("name-%03u", i);
      IrisdJournalRequest *request = new_record (name, filler);
      irisd_journal_post (journal, request);
    }
  for (guint i = 0; i < N_MANY; i++)
    irisd_journal_request_free (receive ());
}

/* The page of a record in the middle no longer looks like one. */
static void
spoil_a_page (char *data, gsize size)
{
  char *at = memmem (data, size, "name-200", 8);
  ck_assert_ptr_nonnull (at);
  memset (data + (gsize) (at - data) / 4096 * 4096, 0xee, 8);
}

static void
spoil_the_head (char *data, gsize size)
{
  memset (data, 0xee, 4096);
}

LOOP_TEST (what_a_lost_page_has_not_is_salvaged, 0, 2)
{
  put_many ();
  damage (_i == 0 ? spoil_a_page : spoil_the_head);
  guint n = reopen ();
  ck_assert_uint_ge (n, _i == 0 ? N_MANY - 40 : N_MANY);
  ck_assert_uint_eq (again->len, 1);
  ck_assert_uint_eq (reopen (), n);
  change ("name-200", "again");
  ck_assert_uint_ge (reopen (), n);
}

TEST_MAIN ("irisd-records", set_up_records, tear_down_records)
