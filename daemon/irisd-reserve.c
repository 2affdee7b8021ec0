/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * A file that only takes up room, to be given up when the disk is full.
 *
 * A full disk has no room for the ends of items either, nor for removing any, since both append to
 * the store's log. With the reserve given up, what was accepted can end and what was fetched go.
 */
#include "irisd-reserve.h"

#include <fcntl.h>
#include <glib/gstdio.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

/* The reserve is taken again only when as much again stays free, times this. */
#define SLACK 2

void
irisd_reserve_init (IrisdReserve *self, const char *dir, guint64 size)
{
  struct stat st;
  *self = (IrisdReserve){ .path = g_build_filename (dir, "reserve", NULL), .size = size };
  self->held = stat (self->path, &st) == 0 && (guint64) st.st_size >= size;
}

/* The file stays: the next irisd may need it at once. */
void
irisd_reserve_clear (IrisdReserve *self)
{
  g_clear_pointer (&self->path, g_free);
}

static gboolean
has_room (IrisdReserve *self)
{
  g_autofree char *dir = g_path_get_dirname (self->path);
  struct statvfs fs;
  return statvfs (dir, &fs) == 0 && (guint64) fs.f_bavail * fs.f_frsize / (SLACK + 1) >= self->size;
}

/**
 * irisd_reserve_take:
 * @self: the reserve
 *
 * Returns: whether the room is taken, now or already
 */
gboolean
irisd_reserve_take (IrisdReserve *self)
{
  if (self->held)
    return TRUE;
  if (!has_room (self))
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

/**
 * irisd_reserve_give_up:
 * @self: the reserve
 *
 * Returns: whether there is more room now than before
 */
gboolean
irisd_reserve_give_up (IrisdReserve *self)
{
  if (!self->held)
    return FALSE;
  self->held = FALSE;
  return g_unlink (self->path) == 0;
}
