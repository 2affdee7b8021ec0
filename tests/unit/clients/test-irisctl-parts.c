/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * irisctl's parts that need no daemon: the walk, the table, the tally, the bar, JSON.
 */
#include "core-test-run.h"
#include "clients/irisctl/output/irisctl-output.h"
#include "clients/irisctl/input/irisctl-input.h"

#include <check.h>
#include <errno.h>
#include <glib/gstdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

static char *root;

static char *
below (const char *name)
{
  return g_build_filename (root, name, NULL);
}

static void
make (const char *name)
{
  g_autofree char *path = below (name);
  g_autofree char *dir = g_path_get_dirname (path);

  ck_assert_int_eq (g_mkdir_with_parents (dir, 0700), 0);
  ck_assert (g_file_set_contents (path, name, -1, NULL));
}

static void
make_link (const char *target, const char *name)
{
  g_autofree char *path = below (name);

  ck_assert_int_eq (symlink (target, path), 0);
}

static void
remove_below (const char *path)
{
  g_autoptr (GDir) dir = g_dir_open (path, 0, NULL);
  const char *name;

  while (dir != NULL && (name = g_dir_read_name (dir)) != NULL)
    {
      g_autofree char *entry = g_build_filename (path, name, NULL);

      if (g_file_test (entry, G_FILE_TEST_IS_DIR) && !g_file_test (entry, G_FILE_TEST_IS_SYMLINK))
        remove_below (entry);
      else
        g_unlink (entry);
    }
  g_rmdir (path);
}

static void
set_up (void)
{
  root = g_dir_make_tmp ("irisctl-XXXXXX", NULL);
  ck_assert_ptr_nonnull (root);
}

static void
tear_down (void)
{
  remove_below (root);
  g_clear_pointer (&root, g_free);
}

/* All that a walk finds, relative to the root, and “!” for each error, in one string. */
static char *
walk (const char *const *roots)
{
  g_autoptr (CtlWalk) self = ctl_walk_new (roots);
  GString *found = g_string_new (NULL);

  for (;;)
    {
      g_autoptr (GError) error = NULL;
      g_autofree char *path = ctl_walk_next (self, &error);

      if (path == NULL && error == NULL)
        break;
      g_string_append_printf (found, "%s ",
                              path == NULL                    ? "!"
                              : g_str_has_prefix (path, root) ? path + strlen (root) + 1
                                                              : path);
    }
  ck_assert (ctl_walk_is_done (self));
  return g_string_free (found, FALSE);
}

TEST (files_come_sorted_directory_by_directory)
{
  const char *roots[] = { root, NULL };
  g_autofree char *found = NULL;

  make ("b/2");
  make ("b/10");
  make ("a");
  make ("c/d/e/f");
  make ("c/a");
  found = walk (roots);
  ck_assert_str_eq (found, "a b/10 b/2 c/a c/d/e/f ");
}

TEST (links_are_followed_only_where_they_are_named)
{
  g_autofree char *linked = below ("to-a-directory");
  const char *roots[] = { root, linked, NULL };
  g_autofree char *found = NULL;

  make ("real/x");
  make_link ("real", "to-a-directory");
  make_link ("real/x", "to-a-file");
  make_link ("..", "real/in-a-circle");
  found = walk (roots);
  ck_assert_str_eq (found, "real/x to-a-directory/x ");
}

TEST (what_is_no_file_is_passed_over_but_not_if_it_is_named)
{
  g_autofree char *pipe = below ("pipe");
  g_autofree char *nothing = below ("nothing");
  const char *roots[] = { root, pipe, nothing, NULL };
  g_autofree char *found = NULL;

  make ("file");
  ck_assert_int_eq (mkfifo (pipe, 0600), 0);
  found = walk (roots);
  ck_assert_str_eq (found, "file ! ! ");
}

TEST (a_walk_goes_on_after_a_directory_that_cannot_be_read)
{
  g_autofree char *closed = below ("closed");
  const char *roots[] = { root, NULL };
  g_autofree char *found = NULL;

  make ("closed/x");
  make ("open/y");
  ck_assert_int_eq (g_chmod (closed, 0), 0);
  found = walk (roots);
  ck_assert_int_eq (g_chmod (closed, 0700), 0);
  /* Root may read anything. */
  ck_assert_str_eq (found, geteuid () == 0 ? "closed/x open/y " : "! open/y ");
}

TEST (paths_are_named_as_the_roots_were)
{
  const char *roots[] = { "here/", NULL };
  g_autofree char *found = NULL;
  g_autofree char *cwd = g_get_current_dir ();

  make ("here/x");
  ck_assert_int_eq (g_chdir (root), 0);
  found = walk (roots);
  ck_assert_int_eq (g_chdir (cwd), 0);
  ck_assert_str_eq (found, "here/x ");
}

TEST (columns_are_as_wide_as_their_widest_cell)
{
  const char *const headings[] = { "name", ">count", NULL };
  g_autoptr (CtlTable) table = ctl_table_new (headings, FALSE);
  g_autofree char *text = NULL;

  ctl_table_add (table, g_strdup ("é"), ctl_number (7));
  ctl_table_add_line (table);
  ctl_table_add (table, g_strdup ("longer"), ctl_number (1234567));
  text = ctl_table_to_string (table);
  ck_assert_str_eq (text, "name      count\n"
                          "é             7\n"
                          "---------------\n"
                          "longer  1234567\n");
}

TEST (the_tally_counts_a_steal_at_both_places)
{
  IrisClientPlace here = { .id = 0, .name = (char *) "core:0" };
  IrisClientPlace there = { .id = 1, .name = (char *) "core:1" };
  g_autoptr (GPtrArray) places = g_ptr_array_new ();
  CtlTally tally;

  g_ptr_array_add (places, &here);
  g_ptr_array_add (places, &there);
  ctl_tally_init (&tally, places);
  ctl_tally_hint (&tally, 0);
  ctl_tally_hint (&tally, 0);
  ctl_tally_hint (&tally, -1);
  ctl_tally_ran (&tally, 0, 0, 10, 1000);
  ctl_tally_ran (&tally, 0, 1, 20, 2000);
  ctl_tally_ran (&tally, 1, -1, 99, 99); /* was cancelled before it ran */
  ck_assert_uint_eq (tally.rows[0].hinted, 2);
  ck_assert_uint_eq (tally.rows[0].executed, 1);
  ck_assert_uint_eq (tally.rows[0].stolen_out, 1);
  ck_assert_uint_eq (tally.rows[0].stolen_in, 0);
  ck_assert_uint_eq (tally.rows[1].executed, 1);
  ck_assert_uint_eq (tally.rows[1].stolen_in, 1);
  ck_assert_uint_eq (tally.total.executed, 2);
  ck_assert_uint_eq (tally.total.bytes, 30);
  ck_assert_uint_eq (tally.total.run_ns, 3000);
  ctl_tally_clear (&tally);
}

TEST (the_tally_has_each_place_of_other_nodes_once_in_their_order)
{
  static const char *const names[] = { "n1", "n1/0", "n2/9", "n2/10" };
  g_autoptr (GPtrArray) places = g_ptr_array_new ();
  CtlTally tally;

  ctl_tally_init (&tally, places);
  for (guint i = 0; i < 2; i++)
    {
      ctl_tally_ran_away (&tally, "n2", 10, 1, 1);
      ctl_tally_ran_away (&tally, "n1", 0, 1, 1);
      ctl_tally_ran_away (&tally, "n2", 9, 1, 1);
      ctl_tally_ran_away (&tally, "n1", -1, 1, 1);
    }
  ck_assert_uint_eq (tally.n_away, G_N_ELEMENTS (names));
  for (guint i = 0; i < tally.n_away; i++)
    {
      ck_assert_str_eq (tally.away[i].name, names[i]);
      ck_assert_uint_eq (tally.away[i].executed, 2);
    }
  ck_assert_uint_eq (tally.total.executed, 8);
  ctl_tally_clear (&tally);
}

TEST (the_bar_is_as_full_as_the_work_is_done)
{
  g_autofree char *none = ctl_progress_format (0, "0 of 0+ files, 0/s", 80);
  g_autofree char *half = ctl_progress_format (0.5, "5 of 10 files, 5/s", 80);
  g_autofree char *all = ctl_progress_format (1, "10 of 10 files, 10/s", 80);

  ck_assert_str_eq (none, "[........................................] 0 % 0 of 0+ files, 0/s");
  ck_assert_str_eq (half, "[####################....................] 50 % 5 of 10 files, 5/s");
  ck_assert_str_eq (all, "[########################################] 100 % 10 of 10 files, 10/s");
}

TEST (the_bar_of_one_item_says_what_is_known)
{
  g_autofree char *half = ctl_progress_format (0.5, "cutting", 80);
  g_autofree char *bare = ctl_progress_format (1, NULL, 30);
  g_autofree char *note = ctl_progress_format (-1, "a\x1b[2Jb\xc3\xa4\n", 80);
  g_autofree char *line = ctl_progress_format (0.25, "cutting", 0);
  g_autofree char *none = ctl_progress_format (-1, NULL, 80);

  ck_assert_str_eq (half, "[####################....................] 50 % cutting");
  ck_assert_str_eq (bare, "100 %");
  ck_assert_str_eq (note, "a [2Jb\xc3\xa4 ");
  ck_assert_str_eq (line, "25 % cutting");
  ck_assert_str_eq (none, "");
  for (int columns = 1; columns < 200; columns++)
    {
      g_autofree char *bar = ctl_progress_format (0.99,
                                                  "a long tale of what is being done and "
                                                  "of what is to be done after that",
                                                  columns);

      ck_assert_int_lt (g_utf8_strlen (bar, -1), MAX (columns, 7));
    }
}

static char *
json_of (const char *data, gsize size)
{
  g_autoptr (JsonBuilder) builder = json_builder_new ();
  g_autoptr (JsonGenerator) generator = json_generator_new ();
  g_autoptr (JsonNode) node = NULL;
  g_autoptr (GBytes) bytes = g_bytes_new (data, size);

  json_builder_begin_object (builder);
  ctl_json_bytes (builder, "body", bytes);
  json_builder_end_object (builder);
  node = json_builder_get_root (builder);
  json_generator_set_root (generator, node);
  return json_generator_to_data (generator, NULL);
}

TEST (bytes_that_are_no_text_become_base64)
{
  g_autofree char *text = json_of ("a\"b", 3);
  g_autofree char *empty = json_of ("", 0);
  g_autofree char *binary = json_of ("a\377b", 3);
  g_autofree char *nul = json_of ("a\0b", 3);

  ck_assert_str_eq (text, "{\"body\":\"a\\\"b\"}");
  ck_assert_str_eq (empty, "{\"body\":\"\"}");
  ck_assert_str_eq (binary, "{\"body_base64\":\"Yf9i\"}");
  ck_assert_str_eq (nul, "{\"body_base64\":\"YQBi\"}");
}

static char *
text_of (double value)
{
  g_autoptr (JsonBuilder) builder = json_builder_new ();

  json_builder_begin_array (builder);
  json_builder_add_string_value (builder, "0.10000000000000001, \"1e5");
  json_builder_add_int_value (builder, -9007199254740993);
  json_builder_add_double_value (builder, value);
  json_builder_end_array (builder);
  return ctl_json_to_text (builder, FALSE);
}

TEST (numbers_have_the_digits_that_they_need)
{
  static const struct
  {
    double value;
    const char *text;
  } numbers[] = { { 0.1, "0.1" },
                  { -2.5, "-2.5" },
                  { 0, "0.0" },
                  { 36000, "36000.0" },
                  { 1790000000.123, "1790000000.123" },
                  { 0.1 + 0.2, "0.30000000000000004" },
                  { 1e300, "1e+300" } };

  for (guint i = 0; i < G_N_ELEMENTS (numbers); i++)
    {
      g_autofree char *text = text_of (numbers[i].value);
      g_autofree char *wanted = g_strdup_printf (
          "[\"0.10000000000000001, \\\"1e5\",-9007199254740993,%s]", numbers[i].text);

      ck_assert_str_eq (text, wanted);
    }
}

TEST_MAIN ("irisctl", set_up, tear_down)
