/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * doc/protocol.md says what the code does: its tables of types, keys, errors and limits, and its
 * session in hex.
 */
#include "core-test-run.h"
#include "wire-test-util.h"

#include "iris/wire/message/iris-wire-field-private.h"

#include <check.h>
#include <stdlib.h>
#include <string.h>

static char **lines;

/* The cells of a row of a table, without back quotes and blanks; NULL if the line is none. */
static char **
split_row (const char *line)
{
  if (line[0] != '|')
    return NULL;
  char **cells = g_strsplit (line + 1, "|", -1);
  for (char **cell = cells; *cell != NULL; cell++)
    {
      g_strdelimit (*cell, "`", ' ');
      g_strstrip (*cell);
    }
  return cells;
}

/* The type that a line like "### `03` SUBMIT" opens a section about; 0 for another heading, -1 for
 * no heading. */
static gint
heading_type (const char *line)
{
  if (!g_str_has_prefix (line, "#"))
    return -1;
  if (!g_str_has_prefix (line, "### `"))
    return 0;

  char *rest = NULL;
  guint64 type = g_ascii_strtoull (line + strlen ("### `"), &rest, 16);
  ck_assert_msg (g_str_has_prefix (rest, "` "), "%s", line);
  ck_assert_msg (g_strcmp0 (iris_wire_type_name ((guint) type), rest + 2) == 0, "%s", line);
  return (gint) type;
}

static const char *
kind_name (guint kind)
{
  static const char *const names[] = {
    [IRIS_WIRE_KIND_UINT32] = "u32",      [IRIS_WIRE_KIND_UINT64] = "u64",
    [IRIS_WIRE_KIND_INT32] = "i32",       [IRIS_WIRE_KIND_BOOLEAN] = "bool",
    [IRIS_WIRE_KIND_STRING] = "text",     [IRIS_WIRE_KIND_RAW] = "bytes",
    [IRIS_WIRE_KIND_ID] = "id",           [IRIS_WIRE_KIND_ARGS] = "list",
    [IRIS_WIRE_KIND_NUMBERS] = "numbers", [IRIS_WIRE_KIND_DATA] = "data",
  };

  return names[kind];
}

/* One row "| 10 | `service` | text | yes | ..."; other rows (of bodies, of heads) have no "yes" or
 * "no" there. */
static void
read_key_row (const char *line, IrisWireKeys *allowed, IrisWireKeys *required)
{
  g_auto (GStrv) cells = split_row (line);

  if (cells == NULL || g_strv_length (cells) < 5)
    return;
  gboolean yes = g_str_equal (cells[3], "yes");
  if (!yes && !g_str_equal (cells[3], "no"))
    return;
  guint key = (guint) g_ascii_strtoull (cells[0], NULL, 10);
  ck_assert_msg (g_strcmp0 (iris_wire_key_name (key), cells[1]) == 0, "%s", line);
  ck_assert_msg (g_strcmp0 (kind_name (iris_wire_fields[key].kind), cells[2]) == 0, "%s", line);
  *allowed |= IRIS_WIRE_BIT (key);
  *required |= yes ? IRIS_WIRE_BIT (key) : 0;
}

START_TEST (the_page_lists_each_types_keys)
{
  IrisWireKeys allowed[256] = { 0 }, required[256] = { 0 };
  gboolean body[256] = { FALSE };
  guint n_sections = 0;
  gint type = 0;

  for (char **line = lines; *line != NULL; line++)
    {
      gint heading = heading_type (*line);
      if (heading >= 0)
        type = heading;
      n_sections += heading > 0;
      if (type > 0)
        {
          read_key_row (*line, &allowed[type], &required[type]);
          body[type] = body[type] || strstr (*line, "The body is") != NULL;
        }
    }
  ck_assert_uint_eq (n_sections, wire_test_n_types);
  for (guint i = 0; i < wire_test_n_types; i++)
    {
      const IrisWireTypeInfo *info = iris_wire_type_info (wire_test_types[i]);
      ck_assert_msg (allowed[wire_test_types[i]] == info->allowed, "keys of %s", info->name);
      ck_assert_msg (required[wire_test_types[i]] == info->required, "required keys of %s",
                     info->name);
      ck_assert_msg (body[wire_test_types[i]] == info->body, "body of %s", info->name);
    }
}
END_TEST

/* Walks over the rows of the table in the section that a heading opens. */
static guint
each_row (const char *heading, void (*visit) (char **cells))
{
  gboolean inside = FALSE;
  guint n = 0;

  for (char **line = lines; *line != NULL; line++)
    {
      if (g_str_has_prefix (*line, "#"))
        inside = g_str_equal (*line, heading);
      g_auto (GStrv) cells = inside ? split_row (*line) : NULL;
      if (cells == NULL || g_str_has_prefix (cells[0], "-") || g_str_equal (cells[0], "code")
          || g_str_equal (cells[0], "limit"))
        continue;
      visit (cells);
      n++;
    }
  return n;
}

static void
visit_error (char **cells)
{
  ck_assert_str_eq (iris_wire_error_name ((guint) g_ascii_strtoull (cells[0], NULL, 10)), cells[1]);
}

START_TEST (the_page_lists_the_error_codes)
{
  guint n = 0;
  for (guint code = 1; code <= IRIS_WIRE_N_ERRORS; code++)
    n += !g_str_equal (iris_wire_error_name (code), "unknown");
  ck_assert_uint_eq (each_row ("## Error codes", visit_error), n);
}
END_TEST

static void
visit_limit (char **cells)
{
  const IrisWireLimits *limits = iris_wire_limits_default ();
  const struct
  {
    const char *name;
    guint64 value;
  } known[] = { { "max-header", limits->max_header },  { "max-body", limits->max_body },
                { "max-batch", limits->max_batch },    { "max-depth", limits->max_depth },
                { "max-string", limits->max_string },  { "max-args", limits->max_args },
                { "max-entries", limits->max_entries } };

  for (guint i = 0; i < G_N_ELEMENTS (known); i++)
    {
      if (g_str_equal (known[i].name, cells[0]))
        {
          ck_assert_uint_eq (g_ascii_strtoull (cells[1], NULL, 10), known[i].value);
          return;
        }
    }
  ck_abort_msg ("there is no limit %s", cells[0]);
}

START_TEST (the_page_lists_the_limits)
{
  ck_assert_uint_eq (each_row ("## Limits", visit_limit), 7);
}
END_TEST

/* Which types have a key, in the order of the types' numbers. */
static char *
list_types (guint key)
{
  GString *names = g_string_new (NULL);

  for (guint i = 0; i < wire_test_n_types; i++)
    {
      const IrisWireTypeInfo *info = iris_wire_type_info (wire_test_types[i]);
      if ((info->allowed & IRIS_WIRE_BIT (key)) != 0)
        g_string_append_printf (names, "%s%s", names->len > 0 ? ", " : "", info->name);
    }
  return g_string_free (names, FALSE);
}

static void
visit_key (char **cells)
{
  if (g_str_equal (cells[0], "key"))
    return;
  guint key = (guint) g_ascii_strtoull (cells[0], NULL, 10);
  g_autofree char *types = list_types (key);
  ck_assert_msg (g_strcmp0 (iris_wire_key_name (key), cells[1]) == 0, "key %s", cells[0]);
  ck_assert_msg (g_str_equal (kind_name (iris_wire_fields[key].kind), cells[2]), "key %u", key);
  ck_assert_msg (g_str_equal (types, cells[3]), "key %u is in %s", key, types);
}

START_TEST (the_page_lists_all_keys_in_one_table)
{
  guint n = 1; /* the table's head */

  for (guint key = 0; key < IRIS_WIRE_N_KEYS; key++)
    n += iris_wire_key_name (key) != NULL;
  ck_assert_uint_eq (each_row ("## Keys", visit_key), n);
}
END_TEST

/* A message of the session: its line of text, and the line of five frames below it. */
static void
check_message (const char *text, const char *hex)
{
  g_auto (GStrv) fields = g_strsplit (hex + 2, " ", -1);
  g_autoptr (GError) error = NULL;
  g_auto (IrisWireEncoder) encoder;
  GByteArray *bytes[IRIS_WIRE_N_FRAMES];
  IrisWireFrame frames[IRIS_WIRE_N_FRAMES];
  IrisWireMessage message;

  ck_assert_msg (g_strv_length (fields) == IRIS_WIRE_N_FRAMES, "%s", hex);
  for (guint i = 0; i < IRIS_WIRE_N_FRAMES; i++)
    {
      bytes[i] = wire_test_from_hex (g_str_equal (fields[i], "-") ? "" : fields[i]);
      ck_assert_msg (bytes[i] != NULL, "%s", hex);
      frames[i] = wire_test_frame (bytes[i]);
    }
  ck_assert_msg (iris_wire_decode (frames, IRIS_WIRE_N_FRAMES, NULL, &message, &error), "%s: %s",
                 text, error != NULL ? error->message : "");
  g_autofree char *said = iris_wire_message_to_string (&message);
  ck_assert_str_eq (said, text + 2);
  ck_assert_int_eq (text[0] == '>', iris_wire_type_is_request (message.type));
  iris_wire_encoder_init (&encoder, NULL);
  ck_assert (iris_wire_encode (&encoder, &message, NULL));
  for (guint i = 0; i < IRIS_WIRE_N_FRAMES; i++)
    {
      ck_assert_uint_eq (encoder.frames[i].size, frames[i].size);
      ck_assert (frames[i].size == 0
                 || memcmp (encoder.frames[i].data, frames[i].data, frames[i].size) == 0);
      g_byte_array_unref (bytes[i]);
    }
}

START_TEST (the_session_is_what_the_encoder_writes)
{
  char **line = lines;
  guint n = 0;

  while (*line != NULL && !g_str_equal (*line, "```irs1"))
    line++;
  ck_assert_ptr_nonnull (*line);
  for (line++; !g_str_equal (*line, "```"); line += 2)
    {
      ck_assert_msg (((*line)[0] == '>' || (*line)[0] == '<') && line[1] != NULL, "%s", *line);
      check_message (line[0], line[1]);
      n++;
    }
  ck_assert_uint_ge (n, 10);
}
END_TEST

int
main (int argc, char **argv)
{
  g_autofree char *path = g_build_filename (argc > 1 ? argv[1] : ".", "doc", "protocol.md", NULL);
  g_autofree char *text = NULL;
  g_autoptr (GError) error = NULL;

  if (!g_file_get_contents (path, &text, NULL, &error))
    g_error ("%s", error->message);
  lines = g_strsplit (text, "\n", -1);

  Suite *suite = suite_create ("wire-page");
  TCase *tcase = tcase_create ("wire-page");
  tcase_add_test (tcase, the_page_lists_each_types_keys);
  tcase_add_test (tcase, the_page_lists_the_error_codes);
  tcase_add_test (tcase, the_page_lists_the_limits);
  tcase_add_test (tcase, the_page_lists_all_keys_in_one_table);
  tcase_add_test (tcase, the_session_is_what_the_encoder_writes);
  suite_add_tcase (suite, tcase);
  int status = core_test_run (suite);

  g_strfreev (lines);
  return status;
}
