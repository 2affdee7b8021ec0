/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * A file that only takes up space, to be given up when the disk is full.
 *
 * A full disk has no space for the ends of items or for removals either, since both append to the
 * store's log. With the space of the reserve, accepted items can end and fetched ones be removed.
 */
#include "daemon/store/irisd-reserve.h"

#include <fcntl.h>
#include <glib/gstdio.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

/* The reserve is taken again only when this many times its size stays free, so that a disk near its
 * limit does not alternate between full and not full. */
#define SLACK 2

/* The part of a disk that the reserve may take. With SLACK, "full" ends on a disk of any size once
 * three eighths of it are free. */
#define MOST_OF_DISK 8

static gboolean
look (const IrisdReserve *self, struct statvfs *fs)
{
  g_autofree char *dir = g_path_get_dirname (self->path);
  return statvfs (dir, fs) == 0;
}

/* Initialises it in the journal's directory @dir. @size is the limit `journal-reserve`; a small
 * disk's reserve is smaller. */
void
irisd_reserve_init (IrisdReserve *self, const char *dir, guint64 size)
{
  struct statvfs fs;
  struct stat st;
  *self = (IrisdReserve){ .path = g_build_filename (dir, "reserve", NULL), .size = size };
  if (look (self, &fs))
    self->size = MIN (size, (guint64) fs.f_blocks * fs.f_frsize / MOST_OF_DISK);
  self->held = stat (self->path, &st) == 0 && (guint64) st.st_size >= self->size;
}

/* The file stays: the next irisd may need it at once. */
void
irisd_reserve_clear (IrisdReserve *self)
{
  g_clear_pointer (&self->path, g_free);
}

/* Returns whether @share times its size is free, beside the reserve if that is taken. */
gboolean
irisd_reserve_has_room (const IrisdReserve *self, double share)
{
  struct statvfs fs;
  return look (self, &fs)
         && (double) fs.f_bavail * (double) fs.f_frsize >= (double) self->size * share;
}

/* Returns whether the reserve is taken, now or already. With @keep_slack twice its size has to stay
 * free; a journal without items can free no more space, so half is enough for it. */
gboolean
irisd_reserve_take (IrisdReserve *self, gboolean keep_slack)
{
  if (self->held)
    return TRUE;
  if (!irisd_reserve_has_room (self, keep_slack ? SLACK + 1 : 1.5))
    return FALSE;
  int fd = open (self->path, O_WRONLY | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600);
  if (fd < 0)
    return FALSE;
  self->held = posix_fallocate (fd, 0, (off_t) self->size) == 0;
  close (fd);
  if (!self->held)
    g_unlink (self->path);
  return self->held;
}

/* Returns whether more space is free than before. */
gboolean
irisd_reserve_give_up (IrisdReserve *self)
{
  if (!self->held)
    return FALSE;
  self->held = FALSE;
  return g_unlink (self->path) == 0;
}
