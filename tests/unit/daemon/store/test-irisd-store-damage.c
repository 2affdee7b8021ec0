/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * The store, damaged: what can be read is served, what cannot is counted.
 */
#include "core-test-run.h"
#include "core-test-util.h"

#include "daemon/store/irisd-store.h"
#include "daemon/store/sqlite/irisd-sqlite-pages.h"

#include <check.h>
#include <glib/gstdio.h>
#include <sqlite3.h>
#include <string.h>

/* Of each of two stores; the first 30 have every way of damage. */
#define N_COPIES  (CORE_TEST_FACTOR == 1 ? 150 : 30)
#define PAGE      4096
#define MOST_SIZE 9000

enum
{
  DATABASE,
  LOG,
  COUNT,
  N_FILES
};

static const char *const names[N_FILES] = { "items.sqlite", "items.sqlite-wal",
                                            "items.sqlite-count" };

typedef struct
{
  char *data[N_FILES];
  gsize sizes[N_FILES];
} Files;

static char *dir;
static gboolean ended; /* the store was closed, so that there is no log */
static Files pristine;
static GHashTable *expected; /* the numbers of the rows */

static IrisdStore *
open_store (void)
{
  g_autoptr (GError) error = NULL;
  IrisdStore *store = irisd_store_open_sqlite (dir, &error);
  ck_assert_msg (store != NULL, "%s", error != NULL ? error->message : "no error");
  return store;
}

static void
put (IrisdStore *store, GRand *random, guint64 id)
{
  gsize size = (gsize) g_rand_int_range (random, 0,
                                         g_rand_int_range (random, 0, 8) == 0 ? MOST_SIZE : 300);
  g_autofree guint8 *body = g_malloc (size + 1);
  memset (body, (int) (id % 251), size);
  const IrisdRow row = {
    .id = id, .head = body, .head_size = MIN (size, 40), .body = body, .body_size = size
  };
  ck_assert_int_eq (irisd_store_put (store, &row, NULL), IRISD_STORE_OK);
  g_hash_table_add (expected, GSIZE_TO_POINTER (id));
}

static void
take_away (IrisdStore *store, guint64 id)
{
  ck_assert_int_eq (irisd_store_remove (store, id, NULL), IRISD_STORE_OK);
  g_hash_table_remove (expected, GSIZE_TO_POINTER (id));
}

static char *
path_of (guint file)
{
  return g_build_filename (dir, names[file], NULL);
}

static void
remove_all (void)
{
  g_autoptr (GDir) entries = g_dir_open (dir, 0, NULL);
  for (const char *name; (name = g_dir_read_name (entries)) != NULL;)
    {
      g_autofree char *child = g_build_filename (dir, name, NULL);
      g_unlink (child);
    }
}

/* A store that was killed: rows in the database, and in its log rows that were added, changed and
 * removed. */
static void
make_pristine (void)
{
  g_autoptr (GRand) random = g_rand_new_with_seed (11);
  IrisdStoreDamage damage;
  IrisdStore *store = open_store ();
  guint64 id = 0;
  ck_assert_int_eq (irisd_store_scan (store, NULL, NULL, &damage, NULL), IRISD_STORE_OK);
  for (guint i = 0; i < 60; i++)
    {
      ck_assert_int_eq (irisd_store_begin (store, NULL), IRISD_STORE_OK);
      for (guint k = 0; k < 12; k++)
        put (store, random, ++id);
      for (guint k = 0; k < 4; k++)
        take_away (store, (guint64) g_rand_int_range (random, 1, (gint32) id));
      put (store, random, (guint64) g_rand_int_range (random, 1, (gint32) id));
      ck_assert_int_eq (irisd_store_commit (store, NULL), IRISD_STORE_OK);
      if (i == 40)
        ck_assert_int_eq (irisd_store_empty_log (store, NULL), IRISD_STORE_OK);
    }
  if (ended)
    irisd_store_close (store);
  for (guint i = 0; i < N_FILES; i++)
    {
      g_autofree char *path = path_of (i);
      gboolean there = g_file_get_contents (path, &pristine.data[i], &pristine.sizes[i], NULL);
      ck_assert (there == (i != LOG || !ended));
    }
  if (!ended)
    irisd_store_close (store);
}

static void
set_up (void)
{
  dir = g_dir_make_tmp ("irisd-damage-XXXXXX", NULL);
  ck_assert_ptr_nonnull (dir);
  expected = g_hash_table_new (NULL, NULL);
}

static void
tear_down (void)
{
  remove_all ();
  g_rmdir (dir);
  g_clear_pointer (&dir, g_free);
  g_clear_pointer (&expected, g_hash_table_unref);
  for (guint i = 0; i < N_FILES; i++)
    g_clear_pointer (&pristine.data[i], g_free);
}

static gsize
at_random (GRand *random, gsize size)
{
  return (gsize) g_rand_int_range (random, 0, (gint32) MAX (size, 1));
}

static void
fill_page (GRand *random, char *data, gsize size, gboolean noise)
{
  gsize page = at_random (random, size / PAGE) * PAGE;
  for (gsize i = 0; i < MIN (PAGE, size - page); i++)
    data[page + i] = noise ? (char) g_rand_int (random) : 0;
}

/* Puts the pristine files there, one of them damaged in a way that the seed says. */
static const char *
damage_one (guint32 seed)
{
  static const char *const ways[] = {
    "zeroed page",    "noise page",      "flipped bit",   "truncated",   "removed",
    "bit of the log", "page of the log", "truncated log", "removed log", "count"
  };
  g_autoptr (GRand) random = g_rand_new_with_seed (seed);
  guint way = (guint) g_rand_int_range (random, 0, G_N_ELEMENTS (ways));
  way = ended && way >= 5 && way < 9 ? way - 5 : way;
  guint victim = way < 5 ? DATABASE : way < 9 ? LOG : COUNT;
  gsize size = pristine.sizes[victim];
  g_autofree char *data = g_memdup2 (pristine.data[victim], size);
  if (way == 0 || way == 1 || way == 6)
    fill_page (random, data, size, way != 0);
  else if (way == 2 || way == 5 || way == 9)
    data[at_random (random, size)] ^= (char) (1 << g_rand_int_range (random, 0, 8));
  else
    size = way == 3 || way == 7 ? at_random (random, size) : 0;
  remove_all ();
  for (guint i = 0; i < N_FILES; i++)
    {
      g_autofree char *path = path_of (i);
      if (pristine.data[i] == NULL)
        continue;
      if (i != victim)
        ck_assert (g_file_set_contents_full (path, pristine.data[i], (gssize) pristine.sizes[i],
                                             G_FILE_SET_CONTENTS_NONE, 0600, NULL));
      else if (way != 4 && way != 8)
        ck_assert (g_file_set_contents_full (path, data, (gssize) size, G_FILE_SET_CONTENTS_NONE,
                                             0600, NULL));
    }
  return ways[way];
}

static void
note_row (const IrisdRow *row, gpointer user_data)
{
  ck_assert (row->body_size == 0 || row->body[row->body_size - 1] == row->id % 251);
  ck_assert_msg (g_hash_table_add (user_data, GSIZE_TO_POINTER (row->id)), "row %lu twice",
                 (gulong) row->id);
}

static guint
count_not_in (GHashTable *these, GHashTable *those)
{
  GHashTableIter iter;
  gpointer id;
  guint n = 0;
  g_hash_table_iter_init (&iter, these);
  while (g_hash_table_iter_next (&iter, &id, NULL))
    n += !g_hash_table_contains (those, id);
  return n;
}

/* Returns how many rows are lost; as many are reported. */
static guint
check_copy (guint32 seed)
{
  const char *way = damage_one (seed);
  g_autofree char *report = NULL;
  gboolean check_whole = irisd_store_check (dir, &report, NULL);
  g_autoptr (GHashTable) seen = g_hash_table_new (NULL, NULL);
  g_autoptr (GError) error = NULL;
  IrisdStoreDamage damage;
  IrisdStore *store = open_store ();
  IrisdStoreOutcome outcome = irisd_store_scan (store, note_row, seen, &damage, &error);
  ck_assert_msg (outcome == IRISD_STORE_OK, "%u, %s: %s", seed, way,
                 error != NULL ? error->message : "");
  guint lost = count_not_in (expected, seen), returned = count_not_in (seen, expected);
  ck_assert_msg (!damage.uncounted, "%u, %s: not counted", seed, way);
  ck_assert_msg (damage.missing <= lost && lost <= damage.missing_at_most,
                 "%u, %s: %u lost, %lu to %lu reported", seed, way, lost, (gulong) damage.missing,
                 (gulong) damage.missing_at_most);
  ck_assert_msg (damage.transactions > 0 || damage.tail || damage.missing == lost,
                 "%u, %s: %u lost, %lu reported", seed, way, lost, (gulong) damage.missing);
  ck_assert_msg (returned <= damage.returned, "%u, %s: %u came back, %lu reported", seed, way,
                 returned, (gulong) damage.returned);
  ck_assert (damage.only_missing == 0
             || !g_hash_table_contains (seen, GSIZE_TO_POINTER (damage.only_missing)));
  /* The check, which changed nothing, counted the same; it also sees damage that costs nothing. */
  g_autofree char *reason = irisd_store_describe_damage (&damage, 0, TRUE);
  const char *verdict = strrchr (report, '\n') + 1;
  gsize same = strcspn (verdict, ";");
  gboolean costs_nothing = check_whole || strstr (verdict, " 0 of ") != NULL;
  ck_assert_msg (reason == NULL ? costs_nothing : strncmp (reason, verdict, same) == 0,
                 "%u, %s: %s\n%s", seed, way, report, reason);
  guint64 next = irisd_store_get_next_id (store);
  ck_assert_uint_gt (next, 720);
  irisd_store_close (store);

  /* It is reported once, and nothing more is lost. */
  store = open_store ();
  g_autoptr (GHashTable) again = g_hash_table_new (NULL, NULL);
  ck_assert_int_eq (irisd_store_scan (store, note_row, again, &damage, NULL), IRISD_STORE_OK);
  ck_assert_uint_eq (g_hash_table_size (again), g_hash_table_size (seen));
  ck_assert_msg (damage.missing + damage.returned + damage.rows + damage.gaps == 0
                     && !damage.uncounted,
                 "%u, %s: reported again", seed, way);
  irisd_store_close (store);
  return lost;
}

LOOP_TEST (each_of_many_damaged_copies_is_reported_with_the_number_of_lost_rows, 0, 2)
{
  const char *seed = g_getenv ("SEED");
  guint32 first = seed != NULL ? (guint32) g_ascii_strtoull (seed, NULL, 10) : 1;
  guint n_lost = 0;
  ended = _i == 1;
  make_pristine ();
  for (guint32 i = 0; i < (seed != NULL ? 1 : N_COPIES); i++)
    n_lost += check_copy (first + i) > 0;
  ck_assert (seed != NULL || n_lost > N_COPIES / 10);
}

static guint
count_rows (IrisdStore *store, IrisdStoreDamage *damage)
{
  g_autoptr (GHashTable) seen = g_hash_table_new (NULL, NULL);
  ck_assert_int_eq (irisd_store_scan (store, note_row, seen, damage, NULL), IRISD_STORE_OK);
  return g_hash_table_size (seen);
}

static void
run_sql (const char *sql)
{
  g_autofree char *path = path_of (DATABASE);
  sqlite3 *db = NULL;
  ck_assert_int_eq (sqlite3_open_v2 (path, &db, SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE, NULL),
                    SQLITE_OK);
  ck_assert_int_eq (sqlite3_exec (db, sql, NULL, NULL, NULL), SQLITE_OK);
  sqlite3_close (db);
}

TEST (a_file_of_the_first_version_is_read_and_counted_from_then_on)
{
  g_autofree char *count_path = path_of (COUNT);
  g_autoptr (GRand) random = g_rand_new_with_seed (1);
  IrisdStoreDamage damage;
  IrisdStore *store = open_store ();
  ck_assert_int_eq (irisd_store_begin (store, NULL), IRISD_STORE_OK);
  for (guint64 id = 1; id <= 20; id++)
    put (store, random, id);
  ck_assert_int_eq (irisd_store_commit (store, NULL), IRISD_STORE_OK);
  irisd_store_close (store);
  run_sql ("ALTER TABLE mark DROP COLUMN sequence; ALTER TABLE mark DROP COLUMN n_rows;"
           "ALTER TABLE mark DROP COLUMN id_sum; ALTER TABLE mark DROP COLUMN n_put;"
           "ALTER TABLE mark DROP COLUMN crc; DROP TABLE records;"
           "PRAGMA user_version=1");
  g_unlink (count_path);
  store = open_store ();
  ck_assert_uint_eq (count_rows (store, &damage), 20);
  ck_assert (damage.uncounted);
  ck_assert_ptr_null (irisd_store_describe_damage (&damage, 0, TRUE));
  ck_assert_uint_eq (irisd_store_get_next_id (store), 21);
  irisd_store_close (store);
  run_sql ("DELETE FROM items WHERE id = 7");
  store = open_store ();
  ck_assert_uint_eq (count_rows (store, &damage), 19);
  ck_assert_uint_eq (damage.only_missing, 7);
  irisd_store_close (store);
}

TEST (a_file_of_the_second_version_is_read_and_has_the_new_table_from_then_on)
{
  g_autoptr (GRand) random = g_rand_new_with_seed (1);
  IrisdStoreDamage damage;
  IrisdStore *store = open_store ();
  ck_assert_int_eq (irisd_store_begin (store, NULL), IRISD_STORE_OK);
  put (store, random, 1);
  ck_assert_int_eq (irisd_store_commit (store, NULL), IRISD_STORE_OK);
  irisd_store_close (store);
  run_sql ("DROP TABLE records; PRAGMA user_version=2");
  store = open_store ();
  ck_assert_uint_eq (count_rows (store, &damage), 1);
  ck_assert (!damage.uncounted);
  irisd_store_close (store);
  run_sql ("INSERT INTO records VALUES (1, 'name', 'body', 0)");
}

/* No row is lost, and yet irisd has to mend it. */
TEST (a_lost_head_is_reported)
{
  g_autofree char *path = NULL, *report = NULL, *bytes = NULL;
  g_autoptr (GError) error = NULL;
  IrisdStoreDamage damage;
  gsize size;
  ended = TRUE;
  make_pristine ();
  path = path_of (DATABASE);
  ck_assert (irisd_store_check (dir, &report, NULL));
  g_clear_pointer (&report, g_free);
  ck_assert (g_file_get_contents (path, &bytes, &size, NULL));
  memset (bytes, 'x', 100);
  ck_assert (g_file_set_contents (path, bytes, (gssize) size, NULL));
  ck_assert (!irisd_store_check (dir, &report, &error));
  ck_assert_ptr_null (error);
  ck_assert_ptr_nonnull (strstr (report, "\n1 of "));
  ck_assert_ptr_nonnull (strstr (report, "the journal is damaged: 0 of "));

  IrisdStore *store = open_store ();
  ck_assert_uint_eq (count_rows (store, &damage), g_hash_table_size (expected));
  irisd_store_close (store);
  g_clear_pointer (&report, g_free);
  ck_assert (irisd_store_check (dir, &report, NULL));
}

TEST (what_is_no_database_is_refused)
{
  g_autofree char *path = path_of (DATABASE);
  g_autoptr (GError) error = NULL;
  ck_assert (g_file_set_contents (path, "no database, but long enough to look like one", -1, NULL));
  ck_assert_ptr_null (irisd_store_open_sqlite (dir, &error));
  ck_assert_ptr_nonnull (strstr (error->message, "move it away"));
}

TEST_MAIN ("irisd-store-damage", set_up, tear_down)
