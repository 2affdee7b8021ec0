/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * Lines of a file or of standard input, as they come.
 *
 * A pipe may be slow, and meanwhile answers have to be taken in: so nothing is read that would have
 * to be waited for.
 */
#include "clients/irisctl/input/irisctl-input.h"

#include <errno.h>
#include <fcntl.h>
#include <glib-unix.h>
#include <poll.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define READ_AT_ONCE (256 * 1024)

struct _CtlLines
{
  char *name;
  int fd;
  char delimiter;
  guint8 *buffer;
  gsize capacity; /* one byte less than there is, for the NUL */
  gsize begin;    /* of what was not given out yet */
  gsize end;
  gsize looked; /* there is no delimiter before it */
  gboolean ended;
  guint source;
  guint64 number;
  guint64 n_read;
  guint64 size; /* of a regular file, else 0 */
};

CtlLines *
ctl_lines_open (const char *path, char delimiter, GError **error)
{
  gboolean is_stdin = g_str_equal (path, "-");
  int fd = is_stdin ? dup (STDIN_FILENO) : open (path, O_RDONLY | O_CLOEXEC);
  struct stat info;
  CtlLines *self;

  if (fd < 0 || fstat (fd, &info) != 0 || S_ISDIR (info.st_mode))
    {
      g_set_error (error, G_IO_ERROR, g_io_error_from_errno (fd < 0 ? errno : EISDIR), "%s: %s",
                   path, g_strerror (fd < 0 ? errno : EISDIR));
      if (fd >= 0)
        close (fd);
      return NULL;
    }
  self = g_new0 (CtlLines, 1);
  self->name = g_strdup (is_stdin ? "standard input" : path);
  self->fd = fd;
  self->delimiter = delimiter;
  self->capacity = READ_AT_ONCE;
  self->buffer = g_malloc (self->capacity + 1);
  self->size = S_ISREG (info.st_mode) ? (guint64) info.st_size : 0;

  return self;
}

void
ctl_lines_free (CtlLines *self)
{
  if (self->source != 0)
    g_source_remove (self->source);
  close (self->fd);
  g_free (self->buffer);
  g_free (self->name);
  g_free (self);
}

/* What is left moves to the front, and there is room behind it. */
static void
make_room (CtlLines *self)
{
  memmove (self->buffer, self->buffer + self->begin, self->end - self->begin);
  self->end -= self->begin;
  self->looked -= self->begin;
  self->begin = 0;
  if (self->capacity - self->end >= READ_AT_ONCE / 2)
    return;
  self->capacity *= 2;
  self->buffer = g_realloc (self->buffer, self->capacity + 1);
}

static gboolean
on_readable (gint fd, GIOCondition condition, gpointer data)
{
  CtlLines *self = data;

  self->source = 0;
  return G_SOURCE_REMOVE;
}

/* Reads once. CTL_LINES_LINE: something came, or the end. */
static CtlLinesStep
read_more (CtlLines *self, GError **error)
{
  struct pollfd ready = { .fd = self->fd, .events = POLLIN };
  gssize n;

  if (poll (&ready, 1, 0) == 0)
    {
      if (self->source == 0)
        self->source = g_unix_fd_add (self->fd, G_IO_IN | G_IO_HUP | G_IO_ERR, on_readable, self);
      return CTL_LINES_WAIT;
    }
  make_room (self);
  do
    n = read (self->fd, self->buffer + self->end, self->capacity - self->end);
  while (n < 0 && errno == EINTR);
  if (n < 0)
    {
      g_set_error (error, G_IO_ERROR, g_io_error_from_errno (errno), "%s: %s", self->name,
                   g_strerror (errno));
      return CTL_LINES_FAILED;
    }
  self->end += (gsize) n;
  self->n_read += (guint64) n;
  self->ended = n == 0;

  return CTL_LINES_LINE;
}

static CtlLinesStep
give (CtlLines *self, gsize size, gsize behind, const char **line, gsize *size_out)
{
  *line = (const char *) self->buffer + self->begin;
  *size_out = size;
  self->buffer[self->begin + size] = '\0';
  self->begin = self->looked = self->begin + size + behind;
  self->number++;

  return CTL_LINES_LINE;
}

CtlLinesStep
ctl_lines_next (CtlLines *self, const char **line, gsize *size, GError **error)
{
  for (;;)
    {
      const guint8 *found = memchr (self->buffer + self->looked, self->delimiter,
                                    self->end - self->looked);
      CtlLinesStep step;

      if (found != NULL)
        return give (self, (gsize) (found - self->buffer) - self->begin, 1, line, size);
      self->looked = self->end;
      if (self->ended)
        return self->begin == self->end ? CTL_LINES_END
                                        : give (self, self->end - self->begin, 0, line, size);
      if (self->end - self->begin > CTL_MAX_LINE)
        {
          g_set_error (error, G_IO_ERROR, G_IO_ERROR_MESSAGE_TOO_LARGE,
                       "%s:%" G_GUINT64_FORMAT ": the line has more than %d bytes: send so much by "
                       "path",
                       self->name, self->number + 1, CTL_MAX_LINE);
          return CTL_LINES_FAILED;
        }
      step = read_more (self, error);
      if (step != CTL_LINES_LINE)
        return step;
    }
}

guint64
ctl_lines_get_number (CtlLines *self)
{
  return self->number;
}

const char *
ctl_lines_get_name (CtlLines *self)
{
  return self->name;
}

double
ctl_lines_get_fraction (CtlLines *self)
{
  guint64 done = self->n_read - (self->end - self->begin);

  return self->size > 0 ? MIN ((double) done / (double) self->size, 1) : -1;
}
