/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * Repair of SQLite's write-ahead log, before SQLite reads it.
 *
 * When SQLite opens a database it replays the log up to the first frame whose checksum does not
 * fit, and drops the rest without a report. That is right for a tail that a crash tore off, and
 * wrong for a flipped bit: all later commits would be lost. The two differ: each commit is synced
 * before the next one is written, so a crash leaves at most one commit, the last, behind a torn
 * frame. Two or more mean that data that was safely on the disk has changed.
 *
 * Such a log is sealed again: the checksums are computed anew up to the last commit, so that SQLite
 * replays all of it, and the rows' own checksums show which of them are damaged. A copy of the old
 * log stays beside it. A damaged header is made anew from the first frame.
 *
 * Source for the format: "Database File Format", section 4, https://www.sqlite.org/fileformat.html
 */
#include "daemon/store/sqlite/irisd-sqlite-pages.h"

#include <glib/gstdio.h>
#include <string.h>

#define HEADER_SIZE       32
#define FRAME_HEADER_SIZE 24
#define LOG_MAGIC         0x377f0682 /* the lowest bit tells the checksum's byte order */
#define LOG_VERSION       3007000
#define PAGE_SIZE         4096 /* SQLite's default */

typedef IrisdSqliteLog Log;

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

/* Of this run of the log, not a rest of an earlier one. */
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

/* The first frame has the salts of the header. */
static gboolean
make_header (Log *self)
{
  if (self->size < HEADER_SIZE + FRAME_HEADER_SIZE + PAGE_SIZE)
    return FALSE;
  put32 (self->data, LOG_MAGIC);
  put32 (self->data + 4, LOG_VERSION);
  put32 (self->data + 8, PAGE_SIZE);
  put32 (self->data + 12, 0);
  memcpy (self->data + 16, self->data + HEADER_SIZE + 8, 8);
  guint32 sum[2] = { 0, 0 };
  self->big_endian = FALSE;
  add_to_sum (self, self->data, 24, sum);
  put32 (self->data + 24, sum[0]);
  put32 (self->data + 28, sum[1]);
  return read_header (self);
}

/* Counts the frames from one on whose checksum fits; the checksum goes on in `sum`. */
static gsize
count_whole (const Log *self, gsize from, guint32 sum[2])
{
  for (gsize i = from; i < self->n_frames; i++)
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

/* Returns how many commits lie between two frames, and where the last one is. */
static gsize
count_commits (const Log *self, gsize from, gsize to, gsize *last)
{
  gsize n = 0;
  for (gsize i = from; i < to; i++)
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

/* The checksums of a lost header went on in those of the first frame. */
static void
mend_header (Log *self)
{
  guint32 sum[2];
  gsize last = 0;
  self->damaged = TRUE;
  if (!make_header (self))
    return;
  const guint8 *first = frame_at (self, 0);
  sum[0] = get32 (first + 16);
  sum[1] = get32 (first + 20);
  gsize whole = count_whole (self, 1, sum);
  if (count_commits (self, whole, self->n_frames, &last) < 2
      && count_commits (self, 0, whole, &last) == 0)
    return;
  sum[0] = get32 (self->data + 24);
  sum[1] = get32 (self->data + 28);
  seal (self, 0, last, sum);
  self->n_used = last + 1;
}

static void
mend_frames (Log *self)
{
  guint32 sum[2] = { get32 (self->data + 24), get32 (self->data + 28) };
  gsize whole = count_whole (self, 0, sum), last = 0;
  self->damaged = count_commits (self, whole, self->n_frames, &last) >= 2;
  if (self->damaged)
    seal (self, whole, last, sum);
  else if (count_commits (self, 0, whole, &last) == 0)
    return;
  self->n_used = last + 1;
}

/**
 * irisd_sqlite_log_load:
 * @self: (out caller-allocates): the log, mended in memory
 * @path: the path of the database
 */
void
irisd_sqlite_log_load (IrisdSqliteLog *self, const char *path)
{
  g_autofree char *log_path = g_strconcat (path, "-wal", NULL);
  char *data = NULL;
  *self = (IrisdSqliteLog){ .size = 0 };
  if (!g_file_get_contents (log_path, &data, &self->size, NULL))
    return;
  self->data = (guint8 *) data;
  if (self->size <= HEADER_SIZE)
    return;
  if (read_header (self))
    mend_frames (self);
  else
    mend_header (self);
}

void
irisd_sqlite_log_clear (IrisdSqliteLog *self)
{
  g_clear_pointer (&self->data, g_free);
}

/**
 * irisd_sqlite_log_get:
 * @self: a log
 * @index: of a frame, less than its @n_used
 * @number: (out): of the page that it holds
 * @n_pages: (out): how many the database has after it; 0 if it ends no transaction
 *
 * Returns: the page
 */
const guint8 *
irisd_sqlite_log_get (const IrisdSqliteLog *self, gsize index, guint32 *number, guint32 *n_pages)
{
  const guint8 *frame = frame_at (self, index);
  *number = get32 (frame);
  *n_pages = get32 (frame + 4);
  return frame + FRAME_HEADER_SIZE;
}

/* @path is a database that is not open. Returns whether its log was damaged, other than by a
 * crash. */
gboolean
irisd_sqlite_mend_log (const char *path)
{
  g_autofree char *log_path = g_strconcat (path, "-wal", NULL);
  g_autofree char *before = NULL;
  gsize size = 0;
  Log log;
  irisd_sqlite_log_load (&log, path);
  if (log.damaged && g_file_get_contents (log_path, &before, &size, NULL))
    keep_copy (log_path, (const guint8 *) before, size);
  if (log.damaged && log.n_used > 0)
    g_file_set_contents_full (log_path, (const char *) log.data, (gssize) log.size,
                              G_FILE_SET_CONTENTS_DURABLE, 0600, NULL);
  gboolean damaged = log.damaged;
  irisd_sqlite_log_clear (&log);
  return damaged;
}
