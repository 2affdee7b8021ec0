/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * A service's input, in pieces: the payload, or a file.
 */
#include "daemon/exec/irisd-input.h"

#include "daemon/base/irisd-error.h"
#include "daemon/base/irisd-text.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

/* Characters of a path in a message. */
#define MAX_QUOTED 200

/* Names are the client's bytes; messages are UTF-8. */
static void
fail_unreadable (IrisdJob *job, const char *why)
{
  g_autofree char *name = irisd_text_quote (job->path, -1, MAX_QUOTED);
  irisd_job_fail (job, IRIS_WIRE_ERROR_UNREADABLE_FILE, "cannot read “%s”: %s", name, why);
}

/* Opening a pipe or a device may block or have effects, so only ordinary files are read. */
static int
open_file (IrisdJob *job)
{
  int fd = open (job->path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
  if (fd < 0)
    {
      fail_unreadable (job, g_strerror (errno));
      return -1;
    }
  struct stat st;
  if (fstat (fd, &st) != 0 || !S_ISREG (st.st_mode))
    {
      fail_unreadable (job, "it is not an ordinary file");
      close (fd);
      return -1;
    }
  return fd;
}

static gboolean
each_of_file (IrisdJob *job, int fd, IrisdInputFunc func, gpointer user_data)
{
  g_autofree guint8 *chunk = g_malloc (IRISD_INPUT_CHUNK);
  for (;;)
    {
      if (irisd_job_must_stop (job))
        {
          irisd_job_fail_stopped (job);
          return FALSE;
        }
      ssize_t n = read (fd, chunk, IRISD_INPUT_CHUNK);
      if (n == 0)
        return TRUE;
      if (n < 0 && errno == EINTR)
        continue;
      if (n < 0)
        {
          fail_unreadable (job, g_strerror (errno));
          return FALSE;
        }
      func (chunk, (gsize) n, user_data);
      job->result.bytes += (guint64) n;
    }
}

static gboolean
each_of_payload (IrisdJob *job, IrisdInputFunc func, gpointer user_data)
{
  IrisWireFrame payload = irisd_job_get_payload (job);
  for (gsize offset = 0; offset < payload.size; offset += IRISD_INPUT_CHUNK)
    {
      if (irisd_job_must_stop (job))
        {
          irisd_job_fail_stopped (job);
          return FALSE;
        }
      func (payload.data + offset, MIN (IRISD_INPUT_CHUNK, payload.size - offset), user_data);
    }
  job->result.bytes = payload.size;
  return TRUE;
}

/* Calls @func for each piece. Returns whether it got all; if not, the job has failed. */
gboolean
irisd_input_each (IrisdJob *job, IrisdInputFunc func, gpointer user_data)
{
  if (job->path == NULL)
    return each_of_payload (job, func, user_data);
  int fd = open_file (job);
  if (fd < 0)
    return FALSE;
  gboolean all = each_of_file (job, fd, func, user_data);
  close (fd);
  return all;
}

/* Returns whether an item for a service that works on a file or on the payload says clearly which.
 */
gboolean
irisd_input_check (const IrisWireMessage *item, GError **error)
{
  if (!iris_wire_message_has (item, IRIS_WIRE_KEY_PATH))
    return TRUE;
  if (item->path.len == 0 || item->path.data[0] != '/')
    return irisd_fail (error, IRIS_WIRE_ERROR, IRIS_WIRE_ERROR_BAD_ARGUMENT,
                       "the path is not absolute: irisd does not know your working directory, so "
                       "write the path from / on");
  if (item->body.size > 0)
    return irisd_fail (error, IRIS_WIRE_ERROR, IRIS_WIRE_ERROR_BAD_ARGUMENT,
                       "the item has a path and a payload: send only the one to work on");
  return TRUE;
}
