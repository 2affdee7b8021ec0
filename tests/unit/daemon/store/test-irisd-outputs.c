/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * Kept output: read from the beginning by several readers, within its limits, over a restart, and
 * not where it is damaged.
 */
#include "core-test-run.h"
#include "daemon/store/irisd-output-reader.h"
#include "daemon/store/irisd-outputs-private.h"

#include <check.h>
#include <fcntl.h>
#include <glib/gstdio.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define NO_LIMIT G_MAXUINT64

static char *dir;
static IrisdOutputs *outputs;

static void
open_outputs (guint64 most)
{
  g_autoptr (GError) error = NULL;
  outputs = irisd_outputs_new (dir, most, &error);
  ck_assert_msg (outputs != NULL, "%s", error != NULL ? error->message : "");
}

static guint
count_files (void)
{
  g_autoptr (GDir) listing = g_dir_open (dir, 0, NULL);
  guint n = 0;
  while (g_dir_read_name (listing) != NULL)
    n++;
  return n;
}

static void
set_up (void)
{
  dir = g_dir_make_tmp ("iris-outputs-XXXXXX", NULL);
  open_outputs (NO_LIMIT);
}

static void
tear_down (void)
{
  irisd_outputs_free (g_steal_pointer (&outputs));
  g_autoptr (GDir) listing = g_dir_open (dir, 0, NULL);
  for (const char *name; (name = g_dir_read_name (listing)) != NULL;)
    {
      g_autofree char *path = g_build_filename (dir, name, NULL);
      g_unlink (path);
    }
  g_rmdir (dir);
  g_clear_pointer (&dir, g_free);
}

static void
write_text (IrisdKeptOutput *output, const char *text)
{
  irisd_kept_output_write (output, 1, (const guint8 *) text, strlen (text));
}

/* All that a reader finds now, each part with its offset and its channel. */
static char *
read_text (IrisdOutputReader *reader, gsize most)
{
  GString *text = g_string_new (NULL);
  IrisdOutputPart part;
  guint64 expected = G_MAXUINT64;
  while (irisd_output_reader_read (reader, most, &part))
    {
      if (part.offset != expected)
        g_string_append_printf (text, "[%" G_GUINT64_FORMAT "]", part.offset);
      if (part.channel == 2)
        g_string_append (text, "!");
      g_string_append_len (text, (const char *) part.data, (gssize) part.size);
      expected = part.offset + part.size;
    }
  return g_string_free (text, FALSE);
}

#define assert_reads(reader, most, text)                        \
  G_STMT_START                                                  \
  {                                                             \
    g_autofree char *found_text = read_text ((reader), (most)); \
    ck_assert_str_eq (found_text, (text));                      \
  }                                                             \
  G_STMT_END

TEST (several_read_from_the_beginning_at_their_own_speed)
{
  IrisdOutputReader *early = irisd_output_reader_new (outputs, 7, 0);
  assert_reads (early, 100, "");
  IrisdKeptOutput *output = irisd_outputs_begin (outputs, 7, 1 << 20, IRISD_OUTPUT_HEAD_AND_TAIL);
  write_text (output, "hello ");
  assert_reads (early, 100, "[0]hello ");
  irisd_kept_output_write (output, 2, (const guint8 *) "oops ", 5);
  write_text (output, "world");
  IrisdOutputReader *late = irisd_output_reader_new (outputs, 7, 0);
  IrisdOutputReader *middle = irisd_output_reader_new (outputs, 7, 8);
  irisd_kept_output_end (output);
  assert_reads (late, 3, "[0]hello !oop!s world");
  assert_reads (middle, 100, "[8]!ps world");
  assert_reads (early, 100, "[6]!oops world");
  irisd_output_reader_free (early);
  irisd_output_reader_free (middle);
  irisd_output_reader_free (late);
}

/* Waits for a message of a reader. */
static gboolean
is_told (IrisdMailbox *mailbox, IrisdMessage *message)
{
  return irisd_mailbox_take (mailbox) == message;
}

TEST (a_reader_is_told_once_when_there_is_more)
{
  IrisdMailbox mailbox;
  IrisdMessage message = { 0 };
  ck_assert (irisd_mailbox_init (&mailbox, NULL));
  IrisdOutputReader *reader = irisd_output_reader_new (outputs, 1, 0);
  ck_assert (irisd_output_reader_wait (reader, &mailbox, &message));
  IrisdKeptOutput *output = irisd_outputs_begin (outputs, 1, 1 << 20, IRISD_OUTPUT_TAIL);
  ck_assert (is_told (&mailbox, &message));
  assert_reads (reader, 100, "");
  ck_assert (irisd_output_reader_wait (reader, &mailbox, &message));
  write_text (output, "a");
  write_text (output, "b");
  ck_assert (is_told (&mailbox, &message));
  ck_assert_ptr_null (irisd_mailbox_take (&mailbox));
  ck_assert (!irisd_output_reader_wait (reader, &mailbox, &message));
  assert_reads (reader, 100, "[0]ab");
  ck_assert (irisd_output_reader_wait (reader, &mailbox, &message));
  ck_assert (irisd_output_reader_stop_waiting (reader));
  write_text (output, "c");
  ck_assert_ptr_null (irisd_mailbox_take (&mailbox));
  ck_assert (!irisd_output_reader_stop_waiting (reader));
  irisd_kept_output_end (output);
  irisd_output_reader_free (reader);
  irisd_mailbox_clear (&mailbox);
}

/* "0000\n0001\n…", in pieces of 100 bytes. */
static void
write_numbers (IrisdKeptOutput *output, guint n)
{
  for (guint i = 0; i < n; i++)
    {
      char line[128];
      g_snprintf (line, sizeof line, "%099u", i);
      irisd_kept_output_write (output, 1, (const guint8 *) line, 100);
    }
}

TEST (a_long_output_keeps_its_end_and_if_wanted_its_beginning)
{
  const struct
  {
    IrisdOutputPolicy policy;
    gboolean first;
  } cases[] = { { IRISD_OUTPUT_HEAD_AND_TAIL, TRUE }, { IRISD_OUTPUT_TAIL, FALSE } };
  for (guint i = 0; i < G_N_ELEMENTS (cases); i++)
    {
      IrisdKeptOutput *output = irisd_outputs_begin (outputs, i + 1, 40000, cases[i].policy);
      write_numbers (output, 10000);
      irisd_kept_output_end (output);
      IrisdOutputReader *reader = irisd_output_reader_new (outputs, i + 1, 0);
      IrisdOutputPart part;
      guint64 end = 0, n_bytes = 0;
      guint n_gaps = 0;
      gboolean first = TRUE;
      while (irisd_output_reader_read (reader, 1000, &part))
        {
          if (first)
            ck_assert_int_eq (part.offset == 0, cases[i].first);
          n_gaps += !first && part.offset != end;
          end = part.offset + part.size;
          n_bytes += part.size;
          first = FALSE;
        }
      ck_assert_uint_eq (end, 1000000);
      ck_assert_uint_eq (n_gaps, cases[i].first ? 1 : 0);
      ck_assert_uint_ge (n_bytes, 40000 * 5 / 8);
      ck_assert_uint_le (n_bytes, 42000);
      irisd_output_reader_free (reader);
    }
  ck_assert_uint_eq (count_files (), 2 * IRISD_OUTPUT_SEGMENTS);
}

TEST (a_slow_reader_skips_what_is_gone)
{
  IrisdKeptOutput *output = irisd_outputs_begin (outputs, 1, 8000, IRISD_OUTPUT_TAIL);
  IrisdOutputReader *reader = irisd_output_reader_new (outputs, 1, 0);
  IrisdOutputPart part;
  write_numbers (output, 2);
  ck_assert (irisd_output_reader_read (reader, 50, &part));
  write_numbers (output, 5000);
  irisd_kept_output_end (output);
  guint64 end = 50;
  guint n_gaps = 0;
  while (irisd_output_reader_read (reader, 1000, &part))
    {
      ck_assert_uint_ge (part.offset, end);
      n_gaps += part.offset > end;
      end = part.offset + part.size;
    }
  ck_assert_uint_eq (n_gaps, 1);
  ck_assert_uint_eq (end, 500200);
  irisd_output_reader_free (reader);
}

TEST (an_attempt_takes_the_place_of_the_one_before)
{
  IrisdOutputReader *reader = irisd_output_reader_new (outputs, 1, 0);
  IrisdKeptOutput *output = irisd_outputs_begin (outputs, 1, 1 << 20, IRISD_OUTPUT_TAIL);
  write_text (output, "first");
  assert_reads (reader, 100, "[0]first");
  irisd_kept_output_end (output);
  output = irisd_outputs_begin (outputs, 1, 1 << 20, IRISD_OUTPUT_TAIL);
  ck_assert_uint_eq (count_files (), 0);
  write_text (output, "second");
  assert_reads (reader, 100, "[0]second");
  /* One that is still written is not taken away. */
  ck_assert_ptr_null (irisd_outputs_begin (outputs, 1, 1 << 20, IRISD_OUTPUT_TAIL));
  irisd_kept_output_end (output);
  irisd_output_reader_free (reader);
}

static gboolean
is_even (guint64 item, gpointer user_data)
{
  return item % 2 == 0;
}

TEST (outputs_outlive_irisd_while_their_items_do)
{
  for (guint i = 1; i <= 4; i++)
    {
      IrisdKeptOutput *output = irisd_outputs_begin (outputs, i, 1 << 20, IRISD_OUTPUT_TAIL);
      write_text (output, "kept");
      irisd_kept_output_end (output);
    }
  g_autofree char *stranger = g_build_filename (dir, "README", NULL);
  ck_assert (g_file_set_contents (stranger, "not ours", -1, NULL));
  guint64 size = irisd_outputs_get_size (outputs);
  irisd_outputs_free (outputs);

  open_outputs (NO_LIMIT);
  ck_assert_uint_eq (irisd_outputs_get_size (outputs), size);
  irisd_outputs_retain (outputs, is_even, NULL);
  ck_assert_uint_eq (count_files (), 3);
  ck_assert_uint_eq (irisd_outputs_get_size (outputs), size / 2);
  IrisdOutputReader *reader = irisd_output_reader_new (outputs, 2, 0);
  assert_reads (reader, 100, "[0]kept");
  irisd_output_reader_free (reader);
  irisd_outputs_remove (outputs, 2);
  irisd_outputs_remove (outputs, 4);
  irisd_outputs_remove (outputs, 99);
  ck_assert_uint_eq (count_files (), 1);
  ck_assert_uint_eq (irisd_outputs_get_size (outputs), 0);
}

TEST (all_together_have_a_limit_and_the_longest_ended_goes_first)
{
  irisd_outputs_free (outputs);
  open_outputs (64 * 1024);
  for (guint i = 1; i <= 100; i++)
    {
      IrisdKeptOutput *output = irisd_outputs_begin (outputs, i, 1 << 20, IRISD_OUTPUT_TAIL);
      write_text (output, "x");
      irisd_kept_output_end (output);
      ck_assert_uint_le (irisd_outputs_get_size (outputs), 64 * 1024);
    }
  IrisdOutputReader *first = irisd_output_reader_new (outputs, 1, 0);
  IrisdOutputReader *last = irisd_output_reader_new (outputs, 100, 0);
  assert_reads (first, 100, "");
  assert_reads (last, 100, "[0]x");
  irisd_output_reader_free (first);
  irisd_output_reader_free (last);
}

TEST (what_is_removed_while_it_is_written_or_read_goes_quietly)
{
  IrisdKeptOutput *output = irisd_outputs_begin (outputs, 1, 1 << 20, IRISD_OUTPUT_TAIL);
  IrisdOutputReader *reader = irisd_output_reader_new (outputs, 1, 0);
  write_text (output, "before");
  irisd_outputs_remove (outputs, 1);
  write_text (output, "after");
  write_text (output, "wards");
  assert_reads (reader, 100, "");
  irisd_kept_output_end (output);
  irisd_output_reader_free (reader);
  ck_assert_uint_eq (count_files (), 0);
  ck_assert_uint_eq (irisd_outputs_get_size (outputs), 0);
}

TEST (damage_is_skipped)
{
  IrisdKeptOutput *output = irisd_outputs_begin (outputs, 1, 8000, IRISD_OUTPUT_TAIL);
  write_numbers (output, 50);
  irisd_kept_output_end (output);
  char name[IRISD_OUTPUT_NAME_SIZE];
  irisd_output_make_name (name, 1, 1);
  g_autofree char *path = g_build_filename (dir, name, NULL);
  int fd = open (path, O_WRONLY);
  ck_assert_int_ge (fd, 0);
  ck_assert_int_eq (pwrite (fd, "?", 1, 300), 1);
  close (fd);
  irisd_output_make_name (name, 1, 2);
  g_autofree char *torn = g_build_filename (dir, name, NULL);
  ck_assert_int_eq (truncate (torn, 130), 0);

  IrisdOutputReader *reader = irisd_output_reader_new (outputs, 1, 0);
  IrisdOutputPart part;
  guint64 end = 0;
  guint n_gaps = 0;
  while (irisd_output_reader_read (reader, 1000, &part))
    {
      char line[128];
      g_snprintf (line, sizeof line, "%099u", (guint) (part.offset / 100));
      ck_assert_mem_eq (part.data, line, part.size);
      n_gaps += part.offset != end;
      end = part.offset + part.size;
    }
  ck_assert_uint_ge (n_gaps, 1);
  irisd_output_reader_free (reader);
}

static void
damage_a_file (GRand *random, guint segment)
{
  char name[IRISD_OUTPUT_NAME_SIZE];
  g_autofree char *bytes = NULL;
  gsize size = 0;
  irisd_output_make_name (name, 1, segment);
  g_autofree char *path = g_build_filename (dir, name, NULL);
  if (!g_file_get_contents (path, &bytes, &size, NULL) || size == 0)
    return;
  gsize from = (gsize) g_rand_int_range (random, 0, (gint32) size);
  gsize n = (gsize) g_rand_int_range (random, 1, 200);
  n = MIN (n, size - from);
  for (gsize i = 0; i < n; i++)
    bytes[from + i] = (char) g_rand_int (random);
  gsize left = g_rand_int_range (random, 0, 4) == 0 ? from : size;
  ck_assert (g_file_set_contents (path, bytes, (gssize) left, NULL));
}

/* What is read is what was written, whatever became of the files. */
TEST (random_damage_gives_no_wrong_byte)
{
  g_autoptr (GRand) random = g_rand_new_with_seed (7);
  for (guint round = 0; round < 100; round++)
    {
      IrisdKeptOutput *output = irisd_outputs_begin (outputs, 1, 8000, IRISD_OUTPUT_HEAD_AND_TAIL);
      write_numbers (output, 100);
      irisd_kept_output_end (output);
      for (guint k = 0; k < 3; k++)
        damage_a_file (random, (guint) g_rand_int_range (random, 0, 8));
      IrisdOutputReader *reader = irisd_output_reader_new (outputs, 1, 0);
      IrisdOutputPart part;
      while (irisd_output_reader_read (reader, 1000, &part))
        {
          char line[128];
          g_snprintf (line, sizeof line, "%099u", (guint) (part.offset / 100));
          ck_assert_mem_eq (part.data, line, part.size);
        }
      irisd_output_reader_free (reader);
    }
}

TEST_MAIN ("irisd-outputs", set_up, tear_down)
