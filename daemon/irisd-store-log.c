/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * SQLite's write-ahead log, looked at before SQLite does.
 *
 * When SQLite opens a database it replays the log up to the first frame whose checksum does not
 * fit, and silently forgets the rest: that is right for a tail which a crash tore off, and wrong
 * for a bit that turned over, because all that was committed after it would be lost without a word.
 * The two can be told apart. Each commit is synced before the next one is written, so a crash can
 * leave at most one commit, the last, behind a torn frame. Where there are two or more, something
 * that was safely on the disk has changed.
 *
 * Such a log is sealed anew: the checksums are computed again up to the last commit, so that SQLite
 * replays all of it, and the rows' own checksums tell which of them the damage has hit. A copy of
 * the log as it was is kept beside it.
 *
 * Source for the format: "Database File Format", section 4, https://www.sqlite.org/fileformat.html
 */
#include "irisd-store-sqlite-private.h"

#include <glib/gstdio.h>
#include <string.h>

#define HEADER_SIZE       32
#define FRAME_HEADER_SIZE 24
#define LOG_MAGIC         0x377f0682 /* the lowest bit tells the checksum's byte order */

typedef struct
{
  guint8 *data;
  gsize size;
  gsize page_size;
  gboolean big_endian;
  gsize n_frames;
} Log;

static guint32
get32 (const guint8 *at)
{
  guint32 value;
  memcpy (&value, at, sizeof value);
  return GUINT32_FROM_BE (value);
}

static void
put32 (guint8 *at, guint32 value)
{
  value = GUINT32_TO_BE (value);
  memcpy (at, &value, sizeof value);
}

static void
add_to_sum (const Log *self, const guint8 *data, gsize size, guint32 sum[2])
{
  for (gsize i = 0; i < size; i += 8)
    {
      guint32 words[2];
      memcpy (words, data + i, sizeof words);
      for (guint k = 0; k < 2; k++)
        words[k] = self->big_endian ? GUINT32_FROM_BE (words[k]) : GUINT32_FROM_LE (words[k]);
      sum[0] += words[0] + sum[1];
      sum[1] += words[1] + sum[0];
    }
}

static guint8 *
frame_at (const Log *self, gsize index)
{
  return self->data + HEADER_SIZE + index * (FRAME_HEADER_SIZE + self->page_size);
}

static void
sum_frame (const Log *self, const guint8 *frame, guint32 sum[2])
{
  add_to_sum (self, frame, 8, sum);
  add_to_sum (self, frame + FRAME_HEADER_SIZE, self->page_size, sum);
}

/* Of this run of the log, not left over from an earlier one. */
static gboolean
has_salt (const Log *self, const guint8 *frame)
{
  return memcmp (frame + 8, self->data + 16, 8) == 0;
}

static gboolean
is_commit (const guint8 *frame)
{
  return get32 (frame + 4) != 0;
}

static gboolean
read_header (Log *self)
{
  if (self->size < HEADER_SIZE || (get32 (self->data) & ~1u) != LOG_MAGIC)
    return FALSE;
  self->big_endian = (get32 (self->data) & 1) != 0;
  self->page_size = get32 (self->data + 8);
  guint32 sum[2] = { 0, 0 };
  add_to_sum (self, self->data, 24, sum);
  if (sum[0] != get32 (self->data + 24) || sum[1] != get32 (self->data + 28)
      || self->page_size < 512 || self->page_size > 65536)
    return FALSE;
  self->n_frames = (self->size - HEADER_SIZE) / (FRAME_HEADER_SIZE + self->page_size);
  return TRUE;
}

/* Frames from the first on that are what was written; their checksum goes on in `sum`. */
static gsize
count_whole (const Log *self, guint32 sum[2])
{
  sum[0] = get32 (self->data + 24);
  sum[1] = get32 (self->data + 28);
  for (gsize i = 0; i < self->n_frames; i++)
    {
      const guint8 *frame = frame_at (self, i);
      guint32 next[2] = { sum[0], sum[1] };
      sum_frame (self, frame, next);
      if (!has_salt (self, frame) || next[0] != get32 (frame + 16) || next[1] != get32 (frame + 20))
        return i;
      memcpy (sum, next, sizeof next);
    }
  return self->n_frames;
}

/* Returns how many commits lie at or behind a frame, and where the last one is. */
static gsize
count_commits (const Log *self, gsize from, gsize *last)
{
  gsize n = 0;
  for (gsize i = from; i < self->n_frames; i++)
    if (has_salt (self, frame_at (self, i)) && is_commit (frame_at (self, i)))
      {
        *last = i;
        n++;
      }
  return n;
}

static void
seal (const Log *self, gsize from, gsize last, guint32 sum[2])
{
  for (gsize i = from; i <= last; i++)
    {
      guint8 *frame = frame_at (self, i);
      memcpy (frame + 8, self->data + 16, 8);
      sum_frame (self, frame, sum);
      put32 (frame + 16, sum[0]);
      put32 (frame + 20, sum[1]);
    }
}

static void
keep_copy (const char *path, const guint8 *data, gsize size)
{
  g_autofree char *copy = g_strdup_printf ("%s.damaged-%" G_GINT64_FORMAT, path,
                                           g_get_real_time () / G_USEC_PER_SEC);
  g_file_set_contents_full (copy, (const char *) data, (gssize) size, G_FILE_SET_CONTENTS_NONE,
                            0600, NULL);
}

/**
 * irisd_sqlite_mend_log:
 * @path: a database that nobody has open
 *
 * Returns: whether its log was damaged, other than by a crash
 */
gboolean
irisd_sqlite_mend_log (const char *path)
{
  g_autofree char *log_path = g_strconcat (path, "-wal", NULL);
  g_autofree char *data = NULL;
  Log log = { 0 };
  if (!g_file_get_contents (log_path, &data, &log.size, NULL) || log.size <= HEADER_SIZE)
    return FALSE;
  log.data = (guint8 *) data;
  if (!read_header (&log))
    {
      keep_copy (log_path, log.data, log.size);
      return TRUE;
    }

  guint32 sum[2];
  gsize whole = count_whole (&log, sum), last = 0;
  if (count_commits (&log, whole, &last) < 2)
    return FALSE;
  keep_copy (log_path, log.data, log.size);
  seal (&log, whole, last, sum);
  g_file_set_contents_full (log_path, data, (gssize) log.size, G_FILE_SET_CONTENTS_DURABLE, 0600,
                            NULL);
  return TRUE;
}
