/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * The tally of a store: how many rows it should hold, so that missing ones are counted.
 *
 * There are two copies. One is a row of the database, written with each transaction. The other is a
 * small file, written after the transaction is on the disk and never synced, so it never counts
 * more than was on the disk: if it is ahead of the database, committed transactions are lost, with
 * the log or the end of it. After a loss of power the file may be behind, which means nothing.
 */
#include "daemon/store/sqlite/irisd-sqlite-tally.h"

#include <fcntl.h>
#include <string.h>
#include <unistd.h>
#include <zlib.h>

typedef struct
{
  char magic[8];
  guint64 numbers[5];
  guint32 checksum;
  guint32 spare;
} FileImage;

G_STATIC_ASSERT (sizeof (FileImage) == 56);

static const char magic[8] = { 'I', 'R', 'S', 'J', 'c', 'n', 't', '1' };

static void
to_numbers (const IrisdTally *self, guint64 numbers[5])
{
  numbers[0] = GUINT64_TO_LE (self->sequence);
  numbers[1] = GUINT64_TO_LE (self->n_rows);
  numbers[2] = GUINT64_TO_LE (self->id_sum);
  numbers[3] = GUINT64_TO_LE (self->n_put);
  numbers[4] = GUINT64_TO_LE (self->next_id);
}

guint32
irisd_tally_checksum (const IrisdTally *self)
{
  guint64 numbers[5];
  to_numbers (self, numbers);
  return (guint32) crc32_z (0, (const Bytef *) numbers, sizeof numbers);
}

void
irisd_tally_add (IrisdTally *self, guint64 id)
{
  self->n_rows++;
  self->n_put++;
  self->id_sum += id;
}

void
irisd_tally_remove (IrisdTally *self, guint64 id)
{
  self->n_rows--;
  self->id_sum -= id;
}

static char *
get_path (const char *database)
{
  return g_strconcat (database, IRISD_TALLY_SUFFIX, NULL);
}

/* Returns a descriptor for irisd_tally_write_file(); -1: the store works without the file. */
int
irisd_tally_open_file (const char *database)
{
  g_autofree char *path = get_path (database);
  return open (path, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600);
}

/* Returns whether the file beside the database holds a tally. */
gboolean
irisd_tally_read_file (const char *database, IrisdTally *self)
{
  g_autofree char *path = get_path (database);
  FileImage image = { { 0 } };
  int fd = open (path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW);
  ssize_t n = fd >= 0 ? pread (fd, &image, sizeof image, 0) : -1;
  if (fd >= 0)
    close (fd);
  if (n != sizeof image || memcmp (image.magic, magic, sizeof magic) != 0)
    return FALSE;
  *self = (IrisdTally){
    .sequence = GUINT64_FROM_LE (image.numbers[0]),
    .n_rows = GUINT64_FROM_LE (image.numbers[1]),
    .id_sum = GUINT64_FROM_LE (image.numbers[2]),
    .n_put = GUINT64_FROM_LE (image.numbers[3]),
    .next_id = GUINT64_FROM_LE (image.numbers[4]),
  };
  return GUINT32_FROM_LE (image.checksum) == irisd_tally_checksum (self) && self->sequence > 0;
}

/* A failed write leaves an older tally, which does no harm. */
void
irisd_tally_write_file (int fd, const IrisdTally *self)
{
  FileImage image = { .checksum = GUINT32_TO_LE (irisd_tally_checksum (self)) };
  memcpy (image.magic, magic, sizeof magic);
  to_numbers (self, image.numbers);
  if (fd < 0)
    return;
  ssize_t n = pwrite (fd, &image, sizeof image, 0);
  (void) n;
}

static guint64
minus (guint64 a, guint64 b)
{
  return a > b ? a - b : 0;
}

/* @mark is the database's tally and @file that of the file beside it, NULL if unreadable; of
 * @found, the whole rows, only the number and sum count. @damage has @tail set and gets the numbers
 * of missing rows. */
void
irisd_tally_judge (const IrisdTally *mark,
                   const IrisdTally *file,
                   const IrisdTally *found,
                   IrisdStoreDamage *damage)
{
  const IrisdTally *expected = mark;
  guint64 added = 0, removed = 0;
  if (file != NULL && (mark == NULL || file->sequence > mark->sequence))
    expected = file;
  if (expected == NULL)
    {
      damage->uncounted = TRUE;
      return;
    }
  damage->expected = expected->n_rows;
  if (expected == file && mark != NULL)
    {
      damage->transactions = file->sequence - mark->sequence;
      added = minus (file->n_put, mark->n_put);
      removed = minus (mark->n_rows + added, file->n_rows);
      expected = mark;
    }
  /* Of the rows that lost transactions added, other lost ones may have removed some. */
  damage->missing = minus (expected->n_rows, found->n_rows) + minus (added, removed);
  damage->missing_at_most = minus (expected->n_rows, found->n_rows) + added;
  damage->returned = minus (found->n_rows, expected->n_rows) + removed;
  if (added + removed == 0 && found->n_rows == expected->n_rows
      && found->id_sum != expected->id_sum)
    damage->missing = damage->missing_at_most = damage->returned = 1;
  /* A page of a repaired log may have come to the wrong place, so that an older one is in its own:
   * lost rows and rows that come back can cancel out. */
  if (damage->tail)
    damage->missing_at_most = damage->returned = damage->expected;
  if (damage->missing == 1 && damage->missing_at_most == 1 && damage->returned == 0)
    damage->only_missing = (damage->transactions > 0 ? file : expected)->id_sum - found->id_sum;
}
