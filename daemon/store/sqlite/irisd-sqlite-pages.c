/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * The pages of an SQLite store, read without SQLite.
 *
 * SQLite reaches rows from the root of a table down. Where a page on the way is damaged, whole rows
 * below it cannot be reached. Here each page that holds rows is read by itself: a row is recognised
 * by its form and by its own checksum. Pages that the file lists as free are skipped, because
 * removed rows may still be there.
 *
 * The write-ahead log. When SQLite opens a database it replays the log up to the first frame whose
 * checksum does not fit, and drops the rest without a report. That is right for a tail that a crash
 * tore off, and wrong for a flipped bit: all later commits would be lost. The two differ: each
 * commit is synced before the next one is written, so a crash leaves at most one commit, the last,
 * behind a torn frame. Two or more mean that data that was safely on the disk has changed.
 *
 * Such a log is sealed again: the checksums are computed anew up to the last commit, so that SQLite
 * replays all of it, and the rows' own checksums show which of them are damaged. A copy of the old
 * log stays beside it. A damaged header is made anew from the first frame.
 *
 * Source for the format: "Database File Format", https://www.sqlite.org/fileformat.html
 */
#include "daemon/store/sqlite/irisd-sqlite-pages.h"

#include <glib/gstdio.h>
#include <string.h>

#define PAGE_SIZE   4096
#define HEADER_SIZE 100
#define LEAF        0x0d /* of a table */
#define INTERIOR    0x05
#define INDEX_LEAF  0x0a /* of a table without numbers, which is that of the named records */
#define INDEX_INNER 0x02
#define MOST_VALUES 6

/* What the pages that map pointers store for a page. */
#define MAP_ROOT 1
#define MAP_TREE 5

#define LOG_HEADER_SIZE   32
#define FRAME_HEADER_SIZE 24
#define LOG_MAGIC         0x377f0682 /* the lowest bit tells the checksum's byte order */
#define LOG_VERSION       3007000

typedef struct
{
  guint8 *data; /* the file, repaired as far as possible; NULL: there is none */
  gsize size;
  gsize page_size;
  gboolean big_endian;
  gsize n_frames;   /* that fit in it */
  gsize n_used;     /* frames up to the end of the last transaction */
  gboolean damaged; /* other than by a crash */
} Log;

static guint32
get32 (const guint8 *at)
{
  guint32 value;
  memcpy (&value, at, sizeof value);
  return GUINT32_FROM_BE (value);
}

static guint
get16 (const guint8 *at)
{
  return (guint) at[0] << 8 | at[1];
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
  return self->data + LOG_HEADER_SIZE + index * (FRAME_HEADER_SIZE + self->page_size);
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
  if (self->size < LOG_HEADER_SIZE || (get32 (self->data) & ~1u) != LOG_MAGIC)
    return FALSE;
  self->big_endian = (get32 (self->data) & 1) != 0;
  self->page_size = get32 (self->data + 8);
  guint32 sum[2] = { 0, 0 };
  add_to_sum (self, self->data, 24, sum);
  if (sum[0] != get32 (self->data + 24) || sum[1] != get32 (self->data + 28)
      || self->page_size < 512 || self->page_size > 65536)
    return FALSE;
  self->n_frames = (self->size - LOG_HEADER_SIZE) / (FRAME_HEADER_SIZE + self->page_size);
  return TRUE;
}

/* The first frame has the salts of the header. */
static gboolean
make_header (Log *self)
{
  if (self->size < LOG_HEADER_SIZE + FRAME_HEADER_SIZE + PAGE_SIZE)
    return FALSE;
  put32 (self->data, LOG_MAGIC);
  put32 (self->data + 4, LOG_VERSION);
  put32 (self->data + 8, PAGE_SIZE);
  put32 (self->data + 12, 0);
  memcpy (self->data + 16, self->data + LOG_HEADER_SIZE + 8, 8);
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

/* The log of the database @path, mended in memory. */
static void
log_load (Log *self, const char *path)
{
  g_autofree char *log_path = g_strconcat (path, "-wal", NULL);
  char *data = NULL;
  *self = (Log){ .size = 0 };
  if (!g_file_get_contents (log_path, &data, &self->size, NULL))
    return;
  self->data = (guint8 *) data;
  if (self->size <= LOG_HEADER_SIZE)
    return;
  if (read_header (self))
    mend_frames (self);
  else
    mend_header (self);
}

/* The page of frame @index, less than `n_used`; @n_pages is how many the database has after it; 0
 * if it ends no transaction. */
static const guint8 *
log_get (const Log *self, gsize index, guint32 *number, guint32 *n_pages)
{
  const guint8 *frame = frame_at (self, index);
  *number = get32 (frame);
  *n_pages = get32 (frame + 4);
  return frame + FRAME_HEADER_SIZE;
}

static void
keep_copy (const char *path, const guint8 *data, gsize size)
{
  g_autofree char *copy = g_strdup_printf ("%s.damaged-%" G_GINT64_FORMAT, path,
                                           g_get_real_time () / G_USEC_PER_SEC);
  g_file_set_contents_full (copy, (const char *) data, (gssize) size, G_FILE_SET_CONTENTS_NONE,
                            0600, NULL);
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
  log_load (&log, path);
  if (log.damaged && g_file_get_contents (log_path, &before, &size, NULL))
    keep_copy (log_path, (const guint8 *) before, size);
  if (log.damaged && log.n_used > 0)
    g_file_set_contents_full (log_path, (const char *) log.data, (gssize) log.size,
                              G_FILE_SET_CONTENTS_DURABLE, 0600, NULL);
  g_free (log.data);
  return log.damaged;
}

typedef struct
{
  GMappedFile *file;
  const guint8 *data;
  gsize size;
  Log log;
  const guint8 **newer; /* of the log, by number; NULL: the page is in the file */
  guint8 *partial;      /* the last page, if the file ends within it */
  guint8 *free;         /* whether the list of free pages names it, by number */
  guint32 n_pages;
  guint32 map; /* the last one read */
  gboolean map_whole;
  gsize page_size;
  GByteArray *payload;
  IrisdRowFunc func;
  IrisdNamedRecordFunc record_func;
  gpointer user_data;
  IrisdPagesReport *report;
} Pages;

typedef struct
{
  guint64 type;
  const guint8 *data;
  gsize size;
} Value;

/* Returns the length of the number at `at`, 0 if it does not end before `end`. */
static gsize
get_varint (const guint8 *at, const guint8 *end, guint64 *value)
{
  *value = 0;
  for (gsize i = 0; i < 9 && at + i < end; i++)
    {
      if (i == 8)
        {
          *value = *value << 8 | at[i];
          return 9;
        }
      *value = *value << 7 | (at[i] & 0x7f);
      if ((at[i] & 0x80) == 0)
        return i + 1;
    }
  return 0;
}

static const guint8 *
get_page (const Pages *self, guint32 number)
{
  if (number == 0 || number > self->n_pages)
    return NULL;
  if (self->newer[number] != NULL)
    return self->newer[number];
  gsize at = (gsize) (number - 1) * self->page_size;
  if (at + self->page_size <= self->size)
    return self->data + at;
  return at < self->size ? self->partial : NULL;
}

/* The distance of two map pages. */
static guint32
get_pages_per_map (const Pages *self)
{
  return (guint32) (self->page_size / 5 + 1);
}

static gboolean
is_map (const Pages *self, guint32 number)
{
  return number >= 2 && (number - 2) % get_pages_per_map (self) == 0;
}

/* A map with an entry that makes no sense is ignored. */
static gboolean
is_map_whole (const Pages *self, guint32 map)
{
  const guint8 *page = get_page (self, map);
  if (page == NULL)
    return FALSE;
  for (guint32 i = 0; i + 1 < get_pages_per_map (self) && map + 1 + i <= self->n_pages; i++)
    if (page[5 * i] < MAP_ROOT || page[5 * i] > MAP_TREE)
      return FALSE;
  return TRUE;
}

/* The map's entry for a page; 0 if it is unknown. */
static guint
get_kind (Pages *self, guint32 number)
{
  if (number < 3 || is_map (self, number))
    return number == 1 ? MAP_ROOT : 0;
  guint32 per_map = get_pages_per_map (self);
  guint32 map = (number - 2) / per_map * per_map + 2;
  if (map != self->map)
    {
      self->map = map;
      self->map_whole = is_map_whole (self, map);
      self->report->n_unreadable += !self->map_whole;
    }
  return self->map_whole ? get_page (self, map)[5 * (number - map - 1)] : 0;
}

/* Notes the free pages by the file's list of them, which may be whole where a map is not. */
static void
find_free (Pages *self)
{
  const guint8 *page = get_page (self, 1);
  guint32 trunk = page != NULL ? get32 (page + 32) : 0;
  self->free = g_new0 (guint8, (gsize) self->n_pages + 1);
  for (guint32 i = 0; i < self->n_pages && (page = get_page (self, trunk)) != NULL; i++)
    {
      self->free[trunk] = TRUE;
      trunk = get32 (page);
      for (guint32 k = 0; k < MIN (get32 (page + 4), (guint32) self->page_size / 4 - 2); k++)
        {
          guint32 leaf = get32 (page + 8 + (gsize) 4 * k);
          if (leaf <= self->n_pages)
            self->free[leaf] = TRUE;
        }
    }
}

/* Gathers a row's bytes. Of more than @most all but the first lie on pages of their own. */
static gboolean
gather (Pages *self, const guint8 *at, const guint8 *end, guint64 size, gsize most)
{
  gsize least = (self->page_size - 12) * 32 / 255 - 23;
  gsize here = least + (gsize) ((size - least) % (self->page_size - 4));
  if (size > G_MAXINT || size > (guint64) self->n_pages * self->page_size)
    return FALSE;
  here = size <= most ? (gsize) size : here <= most ? here : least;
  if ((gsize) (end - at) < here)
    return FALSE;
  g_byte_array_set_size (self->payload, 0);
  g_byte_array_append (self->payload, at, (guint) here);
  guint32 next = here < size && (gsize) (end - at) >= here + 4 ? get32 (at + here) : 0;
  while (self->payload->len < size)
    {
      const guint8 *page = get_page (self, next);
      if (page == NULL)
        return FALSE;
      g_byte_array_append (self->payload, page + 4,
                           (guint) MIN (size - self->payload->len, self->page_size - 4));
      next = get32 (page);
    }
  return TRUE;
}

static gsize
get_value_size (guint64 type)
{
  static const guint8 sizes[] = { 0, 1, 2, 3, 4, 6, 8, 8, 0, 0 };
  return type < G_N_ELEMENTS (sizes) ? sizes[type] : (gsize) (type - 12) / 2;
}

/* Parses a record. Returns how many values it has, 0 if it makes no sense. */
static guint
split (const GByteArray *payload, Value *values)
{
  const guint8 *at = payload->data, *end = at + payload->len;
  guint64 header = 0;
  gsize n = get_varint (at, end, &header);
  guint n_values = 0;
  if (n == 0 || header > payload->len || header < n)
    return 0;
  const guint8 *body = at + header, *types_end = body;
  for (at += n; at < types_end; at += n)
    {
      Value *value = &values[n_values];
      if (n_values == MOST_VALUES || (n = get_varint (at, types_end, &value->type)) == 0
          || value->type == 10 || value->type == 11 || value->type > G_MAXUINT32)
        return 0;
      value->size = get_value_size (value->type);
      if ((gsize) (end - body) < value->size)
        return 0;
      value->data = body;
      body += value->size;
      n_values++;
    }
  return n_values;
}

static guint64
get_number (const Value *value)
{
  if (value->type == 8 || value->type == 9)
    return value->type - 8;
  guint64 number = value->size > 0 && (value->data[0] & 0x80) != 0 ? G_MAXUINT64 : 0;
  for (gsize i = 0; i < value->size; i++)
    number = number << 8 | value->data[i];
  return number;
}

static gboolean
is_number (const Value *value)
{
  return value->type >= 1 && value->type <= 9 && value->type != 7;
}

static gboolean
is_blob (const Value *value)
{
  return value->type >= 12 && value->type % 2 == 0;
}

/* The database's tally is the only row with six numbers. */
static void
take_mark (Pages *self, const Value *values)
{
  IrisdTally tally = { 0 };
  for (guint i = 0; i < 6; i++)
    if (!is_number (&values[i]))
      return;
  tally.next_id = get_number (&values[0]);
  tally.sequence = get_number (&values[1]);
  tally.n_rows = get_number (&values[2]);
  tally.id_sum = get_number (&values[3]);
  tally.n_put = get_number (&values[4]);
  if (get_number (&values[5]) == irisd_tally_checksum (&tally)
      && tally.sequence > self->report->mark.sequence)
    self->report->mark = tally;
}

/* The number of an item is that of its row, so that its own column is empty. */
static void
take_record (Pages *self, guint64 id)
{
  Value values[MOST_VALUES];
  guint n = split (self->payload, values);
  if (n == 6)
    take_mark (self, values);
  if (n != 5 || values[0].type != 0 || !is_number (&values[1]) || !is_blob (&values[2])
      || !is_blob (&values[3]) || !is_number (&values[4]))
    return;
  const IrisdRow row = { .id = id,
                         .state = (guint32) get_number (&values[1]),
                         .head = values[2].data,
                         .head_size = values[2].size,
                         .body = values[3].data,
                         .body_size = values[3].size };
  if (get_number (&values[4]) == irisd_row_checksum (&row))
    self->func (&row, self->user_data);
  else
    g_array_append_val (self->report->bad, id);
}

static void
read_leaf (Pages *self, const guint8 *page, gsize header)
{
  const guint8 *end = page + self->page_size;
  gsize n = get16 (page + header + 3);
  if (header + 8 + 2 * n > self->page_size)
    return;
  for (gsize i = 0; i < n; i++)
    {
      const guint8 *cell = page + get16 (page + header + 8 + 2 * i);
      guint64 size = 0, id = 0;
      gsize length = cell < end ? get_varint (cell, end, &size) : 0;
      gsize more = length > 0 ? get_varint (cell + length, end, &id) : 0;
      if (more > 0 && gather (self, cell + length + more, end, size, self->page_size - 35))
        take_record (self, id);
    }
}

/* Without its first bytes SQLite opens no database, though all its rows may be there. */
static gboolean
has_head (const Pages *self)
{
  static const char magic[] = "SQLite format 3";
  const guint8 *page = get_page (self, 1);
  guint size = page != NULL ? get16 (page + sizeof magic) : 0;
  return page != NULL && memcmp (page, magic, sizeof magic) == 0
         && (size == 1 ? 65536 : size) == self->page_size;
}

static void
take_named_record (Pages *self)
{
  Value values[MOST_VALUES];
  if (split (self->payload, values) != 4 || !is_number (&values[0]) || !is_blob (&values[1])
      || !is_blob (&values[2]) || !is_number (&values[3]))
    return;
  const IrisdNamedRecord record = { .kind = (guint32) get_number (&values[0]),
                                    .name = values[1].data,
                                    .name_size = values[1].size,
                                    .body = values[2].data,
                                    .body_size = values[2].size };
  if (get_number (&values[3]) != irisd_named_record_checksum (&record))
    {
      self->report->n_bad_records++;
      return;
    }
  self->report->n_records++;
  if (self->record_func != NULL)
    self->record_func (&record, self->user_data);
}

/* Inner pages have records too, each behind the number of a page. */
static void
read_records (Pages *self, const guint8 *page)
{
  const guint8 *end = page + self->page_size;
  gsize n = get16 (page + 3), skipped = page[0] == INDEX_INNER ? 4 : 0;
  if (8 + skipped + 2 * n > self->page_size)
    return;
  for (gsize i = 0; i < n; i++)
    {
      const guint8 *cell = page + get16 (page + 8 + skipped + 2 * i) + skipped;
      guint64 size = 0;
      gsize length = cell < end ? get_varint (cell, end, &size) : 0;
      if (length > 0
          && gather (self, cell + length, end, size, (self->page_size - 12) * 64 / 255 - 23))
        take_named_record (self);
    }
}

static void
read_page (Pages *self, guint32 number)
{
  guint kind = get_kind (self, number);
  const guint8 *page = get_page (self, number);
  gsize header = number == 1 ? HEADER_SIZE : 0;
  gboolean may_be_free = kind == 0 && self->free[number];
  gboolean may_have_rows = page != NULL && !may_be_free
                           && (kind == 0 || kind == MAP_ROOT || kind == MAP_TREE);
  if (may_have_rows && page[header] == LEAF)
    read_leaf (self, page, header);
  else if (may_have_rows && (page[header] == INDEX_LEAF || page[header] == INDEX_INNER))
    read_records (self, page);
  else if ((kind == MAP_TREE || kind == MAP_ROOT)
           && (page == NULL
               || (page[header] != INTERIOR && page[header] != INDEX_LEAF
                   && page[header] != INDEX_INNER)))
    self->report->n_unreadable++;
}

static void
index_log (Pages *self)
{
  guint32 n_pages = 0, number = 0, last = 0;
  for (gsize i = 0; i < self->log.n_used; i++)
    {
      log_get (&self->log, i, &number, &n_pages);
      last = n_pages != 0 ? n_pages : last;
    }
  self->page_size = self->log.n_used > 0 ? self->log.page_size : self->page_size;
  gsize rest = self->size % self->page_size;
  guint32 in_file = (guint32) MIN (self->size / self->page_size + (rest > 0), G_MAXINT);
  self->partial = g_malloc0 (self->page_size);
  if (rest > 0)
    memcpy (self->partial, self->data + self->size - rest, rest);
  self->n_pages = last == 0 || self->log.damaged ? MAX (last, in_file) : last;
  self->newer = g_new0 (const guint8 *, (gsize) self->n_pages + 1);
  for (gsize i = 0; i < self->log.n_used; i++)
    {
      const guint8 *page = log_get (&self->log, i, &number, &n_pages);
      if (number <= self->n_pages)
        self->newer[number] = page;
    }
}

/* Reads all rows of the database @path and its log that can be read, page by page, and calls @func
 * for each whole row, twice for one that is stored twice, and @record_func (nullable) likewise for
 * each named record. Returns whether there is a database or a log. */
gboolean
irisd_pages_scan (const char *path,
                  IrisdRowFunc func,
                  IrisdNamedRecordFunc record_func,
                  gpointer user_data,
                  IrisdPagesReport *report)
{
  Pages self = { .func = func,
                 .record_func = record_func,
                 .user_data = user_data,
                 .report = report,
                 .page_size = PAGE_SIZE };
  *report = (IrisdPagesReport){ .bad = g_array_new (FALSE, FALSE, sizeof (guint64)) };
  self.file = g_mapped_file_new (path, FALSE, NULL);
  log_load (&self.log, path);
  report->log_damaged = self.log.damaged;
  if (self.file != NULL)
    {
      self.data = (const guint8 *) g_mapped_file_get_contents (self.file);
      self.size = g_mapped_file_get_length (self.file);
    }
  self.payload = g_byte_array_new ();
  index_log (&self);
  find_free (&self);
  report->n_pages = self.n_pages;
  report->n_unreadable = self.n_pages > 0 && !has_head (&self);
  for (guint32 number = 1; number <= self.n_pages; number++)
    read_page (&self, number);
  gboolean any = self.file != NULL || self.log.data != NULL;
  g_byte_array_unref (self.payload);
  g_free (self.newer);
  g_free (self.free);
  g_free (self.partial);
  g_free (self.log.data);
  g_clear_pointer (&self.file, g_mapped_file_unref);
  return any;
}
