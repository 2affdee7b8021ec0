/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * The store: what was committed is there, what is damaged is found out, what fails says so.
 */
#include "core-test-run.h"
#include "faulty-vfs.h"

#include "daemon/store/irisd-store.h"

#include <check.h>
#include <errno.h>
#include <glib/gstdio.h>
#include <gio/gio.h>
#include <sqlite3.h>
#include <stdlib.h>
#include <string.h>

static char *dir;

static void
set_up (void)
{
  faulty_vfs_install ();
  dir = g_dir_make_tmp ("irisd-store-XXXXXX", NULL);
  ck_assert_ptr_nonnull (dir);
}

static void
remove_files (const char *path)
{
  g_autoptr (GDir) entries = g_dir_open (path, 0, NULL);
  for (const char *name; entries != NULL && (name = g_dir_read_name (entries)) != NULL;)
    {
      g_autofree char *child = g_build_filename (path, name, NULL);
      g_unlink (child);
    }
  g_rmdir (path);
}

static void
tear_down (void)
{
  remove_files (dir);
  g_clear_pointer (&dir, g_free);
}

static IrisdStore *
open_store (void)
{
  g_autoptr (GError) error = NULL;
  IrisdStore *store = irisd_store_open_sqlite (dir, &error);
  ck_assert_msg (store != NULL, "%s", error != NULL ? error->message : "");
  return store;
}

static char *
body_of (guint64 id, gsize size)
{
  char *body = g_malloc0 (size + 1);
  g_autofree char *stamp = g_strdup_printf ("<%" G_GUINT64_FORMAT ">", id);
  for (gsize i = 0; i < size; i++)
    body[i] = stamp[i % strlen (stamp)];
  return body;
}

static IrisdStoreOutcome
put (IrisdStore *store, guint64 id, gsize size)
{
  g_autofree char *body = body_of (id, size);
  const IrisdRow row = { .id = id,
                         .state = (guint32) (id % 5),
                         .head = (const guint8 *) "head",
                         .head_size = 4,
                         .body = (const guint8 *) body,
                         .body_size = size };
  return irisd_store_put (store, &row, NULL);
}

static IrisdStoreOutcome
put_alone (IrisdStore *store, guint64 id, gsize size)
{
  g_autoptr (GError) error = NULL;
  IrisdStoreOutcome outcome = irisd_store_begin (store, &error);
  if (outcome == IRISD_STORE_OK)
    outcome = put (store, id, size);
  if (outcome == IRISD_STORE_OK)
    outcome = irisd_store_commit (store, &error);
  if (outcome != IRISD_STORE_OK)
    irisd_store_rollback (store);
  return outcome;
}

static void
check_row (const IrisdRow *row, gpointer user_data)
{
  GHashTable *seen = user_data;
  g_autofree char *body = body_of (row->id, row->body_size);
  ck_assert_uint_eq (row->state, row->id % 5);
  ck_assert_uint_eq (row->head_size, 4);
  ck_assert (memcmp (row->head, "head", 4) == 0);
  ck_assert (row->body_size == 0 || memcmp (row->body, body, row->body_size) == 0);
  ck_assert_msg (g_hash_table_add (seen, GSIZE_TO_POINTER (row->id)), "row %lu twice",
                 (unsigned long) row->id);
}

/* Returns how many rows there are; each of them is as it was written. */
static guint
scan (IrisdStore *store, IrisdStoreDamage *damage)
{
  g_autoptr (GHashTable) seen = g_hash_table_new (NULL, NULL);
  g_autoptr (GError) error = NULL;
  ck_assert_msg (irisd_store_scan (store, check_row, seen, damage, &error) == IRISD_STORE_OK, "%s",
                 error != NULL ? error->message : "");
  return g_hash_table_size (seen);
}

static guint
scan_whole (IrisdStore *store)
{
  IrisdStoreDamage damage;
  guint n = scan (store, &damage);
  ck_assert_uint_eq (damage.rows + damage.gaps + damage.missing + damage.transactions, 0);
  ck_assert (!damage.tail);
  return n;
}

/* What a crash would leave: the files as they are now, in place of those of an orderly end. */
static void
crash (IrisdStore *store)
{
  static const char *const names[] = { "items.sqlite", "items.sqlite-wal", "items.sqlite-count" };
  g_autofree char *copies[3] = { NULL, NULL, NULL };
  gsize sizes[3];
  for (guint i = 0; i < 3; i++)
    {
      g_autofree char *path = g_build_filename (dir, names[i], NULL);
      ck_assert (g_file_get_contents (path, &copies[i], &sizes[i], NULL));
    }
  irisd_store_close (store);
  for (guint i = 0; i < 3; i++)
    {
      g_autofree char *path = g_build_filename (dir, names[i], NULL);
      ck_assert (g_file_set_contents (path, copies[i], (gssize) sizes[i], NULL));
      g_free (g_steal_pointer (&copies[i]));
    }
}

/* Changes a file: `change` gets its bytes and returns its new size. */
static void
change_file (const char *name, gsize (*change) (char *data, gsize size))
{
  g_autofree char *path = g_build_filename (dir, name, NULL);
  g_autofree char *data = NULL;
  gsize size = 0;
  ck_assert (g_file_get_contents (path, &data, &size, NULL));
  size = change (data, size);
  ck_assert (g_file_set_contents (path, data, (gssize) size, NULL));
}

static gboolean
has_file_like (const char *part)
{
  g_autoptr (GDir) entries = g_dir_open (dir, 0, NULL);
  for (const char *name; (name = g_dir_read_name (entries)) != NULL;)
    if (strstr (name, part) != NULL)
      return TRUE;
  return FALSE;
}

LOOP_TEST (what_was_committed_is_there_after_an_end_and_after_a_crash, 0, 2)
{
  IrisdStore *store = open_store ();
  ck_assert_uint_eq (scan_whole (store), 0);
  for (guint64 id = 1; id <= 50; id++)
    ck_assert_int_eq (put_alone (store, id, id * 7), IRISD_STORE_OK);
  ck_assert_int_eq (put_alone (store, 51, 0), IRISD_STORE_OK);
  if (_i == 0)
    irisd_store_close (store);
  else
    crash (store);
  store = open_store ();
  ck_assert_uint_eq (scan_whole (store), 51);
  irisd_store_close (store);
}

TEST (what_was_not_committed_is_not_there)
{
  IrisdStore *store = open_store ();
  ck_assert_int_eq (put_alone (store, 1, 10), IRISD_STORE_OK);
  ck_assert_int_eq (irisd_store_begin (store, NULL), IRISD_STORE_OK);
  ck_assert_int_eq (put (store, 2, 10), IRISD_STORE_OK);
  irisd_store_rollback (store);
  ck_assert_int_eq (irisd_store_begin (store, NULL), IRISD_STORE_OK);
  ck_assert_int_eq (put (store, 3, 10), IRISD_STORE_OK);
  ck_assert_int_eq (irisd_store_remove (store, 1, NULL), IRISD_STORE_OK);
  ck_assert_int_eq (irisd_store_commit (store, NULL), IRISD_STORE_OK);
  ck_assert_uint_eq (scan_whole (store), 1);
  irisd_store_close (store);
}

LOOP_TEST (a_number_is_not_given_twice, 0, 2)
{
  IrisdStore *store = open_store ();
  ck_assert_uint_eq (irisd_store_get_next_id (store), 1);
  ck_assert_int_eq (put_alone (store, 7, 1), IRISD_STORE_OK);
  ck_assert_int_eq (irisd_store_begin (store, NULL), IRISD_STORE_OK);
  ck_assert_int_eq (irisd_store_remove (store, 7, NULL), IRISD_STORE_OK);
  ck_assert_int_eq (irisd_store_commit (store, NULL), IRISD_STORE_OK);
  if (_i == 0)
    irisd_store_close (store);
  else
    crash (store);
  store = open_store ();
  ck_assert_uint_eq (scan_whole (store), 0);
  ck_assert_uint_gt (irisd_store_get_next_id (store), 7);
  irisd_store_close (store);
}

static gsize
flip_in_row (char *data, gsize size)
{
  char *at = memmem (data, size, "<33><33>", 8);
  ck_assert_ptr_nonnull (at);
  at[1] ^= 1;
  return size;
}

TEST (a_row_with_a_flipped_bit_is_set_aside)
{
  IrisdStore *store = open_store ();
  for (guint64 id = 1; id <= 60; id++)
    ck_assert_int_eq (put_alone (store, id, 100), IRISD_STORE_OK);
  irisd_store_close (store);
  change_file ("items.sqlite", flip_in_row);

  IrisdStoreDamage damage;
  store = open_store ();
  ck_assert_uint_eq (scan (store, &damage), 59);
  ck_assert_uint_eq (damage.rows, 1);
  ck_assert_uint_eq (damage.gaps, 0);
  ck_assert_int_eq (irisd_store_read (store, 33, check_row, NULL, NULL), IRISD_STORE_ABSENT);
  irisd_store_close (store);
  store = open_store ();
  ck_assert_uint_eq (scan_whole (store), 59);
  irisd_store_close (store);
}

/* The page in the middle of the file becomes noise. */
static gsize
wreck_page (char *data, gsize size)
{
  memset (data + size / 4096 / 2 * 4096, 0xa5, 4096);
  return size;
}

TEST (a_wrecked_page_costs_what_was_on_it)
{
  IrisdStore *store = open_store ();
  ck_assert_int_eq (irisd_store_begin (store, NULL), IRISD_STORE_OK);
  for (guint64 id = 1; id <= 400; id++)
    ck_assert_int_eq (put (store, id, 300), IRISD_STORE_OK);
  ck_assert_int_eq (irisd_store_commit (store, NULL), IRISD_STORE_OK);
  irisd_store_close (store);
  change_file ("items.sqlite", wreck_page);

  IrisdStoreDamage damage;
  store = open_store ();
  guint n = scan (store, &damage);
  ck_assert_uint_eq (damage.gaps, 1);
  ck_assert_uint_lt (n, 400);
  ck_assert_uint_ge (n, 400 - 4096 / 300);
  ck_assert (has_file_like ("damaged"));
  ck_assert_uint_gt (irisd_store_get_next_id (store), 400);
  ck_assert_int_eq (put_alone (store, 1000, 300), IRISD_STORE_OK);
  irisd_store_close (store);
  store = open_store ();
  ck_assert_uint_eq (scan_whole (store), n + 1);
  irisd_store_close (store);
}

/* In the middle of the last frame. */
static gsize
tear_tail (char *data, gsize size)
{
  return size - 2000;
}

static gsize
flip_in_tail (char *data, gsize size)
{
  data[size - 2000] ^= 1;
  return size;
}

/* The count is written after the sync, so it does not tell of a transaction that a crash tore. */
LOOP_TEST (a_torn_tail_costs_the_last_transaction_and_is_no_damage, 0, 2)
{
  g_autofree char *count_path = g_build_filename (dir, "items.sqlite-count", NULL);
  g_autofree char *count = NULL;
  gsize size;
  IrisdStore *store = open_store ();
  for (guint64 id = 1; id <= 20; id++)
    {
      g_free (count);
      ck_assert (g_file_get_contents (count_path, &count, &size, NULL));
      ck_assert_int_eq (put_alone (store, id, 100), IRISD_STORE_OK);
    }
  crash (store);
  ck_assert (g_file_set_contents (count_path, count, (gssize) size, NULL));
  change_file ("items.sqlite-wal", _i == 0 ? tear_tail : flip_in_tail);
  store = open_store ();
  ck_assert_uint_eq (scan_whole (store), 19);
  irisd_store_close (store);
}

LOOP_TEST (a_transaction_that_was_on_the_disk_and_is_missing_is_counted, 0, 2)
{
  IrisdStoreDamage damage;
  IrisdStore *store = open_store ();
  for (guint64 id = 1; id <= 20; id++)
    ck_assert_int_eq (put_alone (store, id, 100), IRISD_STORE_OK);
  crash (store);
  change_file ("items.sqlite-wal", _i == 0 ? tear_tail : flip_in_tail);
  store = open_store ();
  ck_assert_uint_eq (scan (store, &damage), 19);
  ck_assert_uint_eq (damage.transactions, 1);
  ck_assert_uint_eq (damage.missing, 1);
  ck_assert_uint_eq (damage.missing_at_most, 1);
  ck_assert_uint_eq (damage.only_missing, 20);
  irisd_store_close (store);
}

/* Each transaction has a frame or two of 4,120 bytes; this is far from both ends. */
static gsize
flip_in_log (char *data, gsize size)
{
  data[32 + size / 4120 / 2 * 4120 + 24 + 2000] ^= 1;
  return size;
}

TEST (a_flipped_bit_in_the_log_does_not_take_along_what_came_after_it)
{
  IrisdStore *store = open_store ();
  for (guint64 id = 1; id <= 60; id++)
    ck_assert_int_eq (put_alone (store, id, 500), IRISD_STORE_OK);
  crash (store);
  change_file ("items.sqlite-wal", flip_in_log);
  IrisdStoreDamage damage;
  store = open_store ();
  ck_assert_uint_ge (scan (store, &damage), 59);
  ck_assert (damage.tail);
  ck_assert (has_file_like ("wal.damaged"));
  irisd_store_close (store);
}

TEST (a_sync_that_fails_is_final)
{
  g_autoptr (GError) error = NULL;
  IrisdStore *store = open_store ();
  ck_assert_int_eq (put_alone (store, 1, 100), IRISD_STORE_OK);
  atomic_store (&faulty_vfs.fail_sync, 1);
  ck_assert_int_eq (irisd_store_begin (store, NULL), IRISD_STORE_OK);
  ck_assert_int_eq (put (store, 2, 100), IRISD_STORE_OK);
  ck_assert_int_eq (irisd_store_commit (store, &error), IRISD_STORE_BROKEN);
  ck_assert_ptr_nonnull (strstr (error->message, "synced"));
  irisd_store_rollback (store);
  /* Nothing is written or synced at the end, as if nothing had been. */
  guint n_syncs = atomic_load (&faulty_vfs.n_syncs);
  irisd_store_close (store);
  ck_assert_uint_eq (atomic_load (&faulty_vfs.n_syncs), n_syncs);
  store = open_store ();
  ck_assert_uint_ge (scan_whole (store), 1);
  irisd_store_close (store);
}

/* Reads that may succeed later. SQLite reports EIO as CORRUPTFS, which is therefore doubtful. */
static const struct
{
  int code;
  IrisdStoreOutcome outcome;
} passing[] = {
  { SQLITE_IOERR_READ, IRISD_STORE_UNREADABLE },    { SQLITE_IOERR_NOMEM, IRISD_STORE_UNREADABLE },
  { SQLITE_NOMEM, IRISD_STORE_UNREADABLE },         { SQLITE_BUSY, IRISD_STORE_UNREADABLE },
  { SQLITE_IOERR_CORRUPTFS, IRISD_STORE_DOUBTFUL },
};

static IrisdStoreOutcome
read_row (IrisdStore *store, guint64 id, GError **error)
{
  g_autoptr (GHashTable) seen = g_hash_table_new (NULL, NULL);
  IrisdStoreOutcome outcome = irisd_store_read (store, id, check_row, seen, error);
  ck_assert_uint_eq (g_hash_table_size (seen), outcome == IRISD_STORE_OK);
  return outcome;
}

static void
put_many (IrisdStore *store, guint64 n, gsize size)
{
  ck_assert_int_eq (irisd_store_begin (store, NULL), IRISD_STORE_OK);
  for (guint64 id = 1; id <= n; id++)
    ck_assert_int_eq (put (store, id, size), IRISD_STORE_OK);
  ck_assert_int_eq (irisd_store_commit (store, NULL), IRISD_STORE_OK);
}

LOOP_TEST (a_read_that_fails_can_be_tried_again_and_is_no_damage, 0, G_N_ELEMENTS (passing))
{
  g_autoptr (GError) error = NULL;
  IrisdStore *store = open_store ();
  put_many (store, 60, 5000);
  irisd_store_close (store);
  store = open_store ();
  ck_assert_int_eq (read_row (store, 1, NULL), IRISD_STORE_OK);
  atomic_store (&faulty_vfs.fail_read, passing[_i].code);
  ck_assert_int_eq (read_row (store, 33, &error), passing[_i].outcome);
  ck_assert_int_eq (atomic_load (&faulty_vfs.fail_read), SQLITE_OK);
  ck_assert_ptr_nonnull (strstr (error->message, "cannot read an item"));
  ck_assert_int_eq (read_row (store, 33, NULL), IRISD_STORE_OK);
  /* And it can be written, and closed, as ever. */
  ck_assert_int_eq (put_alone (store, 61, 10), IRISD_STORE_OK);
  guint n_syncs = atomic_load (&faulty_vfs.n_syncs);
  irisd_store_close (store);
  ck_assert_uint_gt (atomic_load (&faulty_vfs.n_syncs), n_syncs);
  store = open_store ();
  ck_assert_uint_eq (scan_whole (store), 61);
  irisd_store_close (store);
}

TEST (a_row_that_is_not_what_was_written_is_damage)
{
  g_autoptr (GError) error = NULL;
  IrisdStore *store = open_store ();
  put_many (store, 60, 5000);
  irisd_store_close (store);
  change_file ("items.sqlite", flip_in_row);
  store = open_store ();
  ck_assert_int_eq (read_row (store, 33, &error), IRISD_STORE_DAMAGED);
  ck_assert_ptr_nonnull (strstr (error->message, "33"));
  ck_assert_int_eq (read_row (store, 34, NULL), IRISD_STORE_OK);
  ck_assert_int_eq (read_row (store, 70, NULL), IRISD_STORE_ABSENT);
  irisd_store_close (store);
}

LOOP_TEST (a_full_disk_changes_nothing_and_can_be_tried_again, 0, 2)
{
  g_autofree char *full = g_build_filename (dir, "full", NULL);
  IrisdStore *store = open_store ();
  ck_assert_int_eq (put_alone (store, 1, 100), IRISD_STORE_OK);
  ck_assert (g_file_set_contents (full, "", 0, NULL));
  atomic_store (&faulty_vfs.over_quota, _i == 1);
  atomic_store (&faulty_vfs.full_while, full);
  ck_assert_int_eq (put_alone (store, 2, 100), IRISD_STORE_FULL);
  ck_assert_int_eq (put_alone (store, 2, 100), IRISD_STORE_FULL);
  g_autoptr (GError) error = NULL;
  ck_assert_int_eq (irisd_store_empty_log (store, &error), IRISD_STORE_FULL);
  ck_assert_int_eq (strstr (error->message, g_strerror (EDQUOT)) != NULL, _i == 1);
  ck_assert_uint_eq (scan_whole (store), 1);
  g_unlink (full);
  ck_assert_int_eq (put_alone (store, 2, 100), IRISD_STORE_OK);
  ck_assert_uint_eq (scan_whole (store), 2);
  irisd_store_close (store);
}

static IrisdStoreOutcome
remove_alone (IrisdStore *store, guint64 id)
{
  g_autoptr (GError) error = NULL;
  IrisdStoreOutcome outcome = irisd_store_begin (store, &error);
  if (outcome == IRISD_STORE_OK)
    outcome = irisd_store_remove (store, id, &error);
  if (outcome == IRISD_STORE_OK)
    outcome = irisd_store_commit (store, &error);
  return outcome;
}

static gint64
get_size (void)
{
  g_autofree char *path = g_build_filename (dir, "items.sqlite", NULL);
  GStatBuf st;
  ck_assert_int_eq (g_stat (path, &st), 0);
  return (gint64) st.st_size;
}

#define N_LARGE 20
#define LARGE   (1000 * 1000)

TEST (what_removed_rows_have_left_is_given_back)
{
  IrisdStore *store = open_store ();
  for (guint64 id = 1; id <= N_LARGE; id++)
    ck_assert_int_eq (put_alone (store, id, LARGE), IRISD_STORE_OK);
  for (guint64 id = 1; id < N_LARGE; id++)
    ck_assert_int_eq (remove_alone (store, id), IRISD_STORE_OK);
  ck_assert_int_eq (irisd_store_empty_log (store, NULL), IRISD_STORE_OK);
  gint64 before = get_size ();
  ck_assert_int_gt (before, (gint64) N_LARGE * LARGE);
  /* Some of it at a time. */
  for (gint64 last = before + 1; get_size () < last;)
    {
      last = get_size ();
      ck_assert_int_eq (irisd_store_shrink (store, NULL), IRISD_STORE_OK);
    }
  ck_assert_int_lt (get_size (), 2 * LARGE);
  ck_assert_uint_eq (scan_whole (store), 1);
  irisd_store_close (store);
  store = open_store ();
  ck_assert_uint_eq (scan_whole (store), 1);
  irisd_store_close (store);
}

static void
run_sql (const char *sql)
{
  g_autofree char *path = g_build_filename (dir, "items.sqlite", NULL);
  sqlite3 *db = NULL;
  ck_assert_int_eq (sqlite3_open_v2 (path, &db, SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE, "unix"),
                    SQLITE_OK);
  ck_assert_int_eq (sqlite3_exec (db, sql, NULL, NULL, NULL), SQLITE_OK);
  sqlite3_close (db);
}

LOOP_TEST (a_file_of_another_make_is_refused, 0, 2)
{
  static const struct
  {
    const char *sql;
    const char *words;
  } cases[] = { { "PRAGMA user_version=4", "another release" },
                { "PRAGMA application_id=7", "not a journal" } };
  g_autoptr (GError) error = NULL;
  irisd_store_close (open_store ());
  run_sql (cases[_i].sql);
  ck_assert_ptr_null (irisd_store_open_sqlite (dir, &error));
  ck_assert_msg (strstr (error->message, cases[_i].words) != NULL, "%s", error->message);
}

TEST (the_log_is_copied_into_the_database)
{
  IrisdStore *store = open_store ();
  g_autofree char *path = g_build_filename (dir, "items.sqlite", NULL);
  GStatBuf before, after;
  ck_assert_int_eq (put_alone (store, 1, 5000 * 1000), IRISD_STORE_OK);
  ck_assert_int_eq (g_stat (path, &before), 0);
  ck_assert_int_eq (irisd_store_tidy (store, NULL), IRISD_STORE_OK);
  ck_assert_int_eq (g_stat (path, &after), 0);
  ck_assert_int_gt (after.st_size, before.st_size);
  /* And a sync that fails there is as final as any other. */
  ck_assert_int_eq (put_alone (store, 2, 5000 * 1000), IRISD_STORE_OK);
  atomic_store (&faulty_vfs.fail_sync, 1);
  ck_assert_int_eq (irisd_store_tidy (store, NULL), IRISD_STORE_BROKEN);
  irisd_store_close (store);
}

TEST_MAIN ("irisd-store", set_up, tear_down)
