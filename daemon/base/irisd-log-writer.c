/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * Writes the lines of the log, so that a log that is not read stops no service.
 *
 * A write to a pipe, a terminal or a socket waits while its reader does not read. Such lines go
 * through a queue to a thread of their own; when the queue is full they are dropped and counted,
 * and the count is the next line written. The descriptor's flags stay as they are, because other
 * processes share them. A file takes lines at once, so they are written directly.
 */
#include "daemon/base/irisd-log.h"

#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* Lines in the queue at most. */
#define MOST_LINES 1000

/* How long the end waits for lines to be read. */
#define END_MS 500

/* A pipe that poll(2) calls writable takes this many bytes without waiting. */
#define PIECE 4096

static struct
{
  pthread_mutex_t lock; /* a POSIX one, because ThreadSanitizer knows those */
  pthread_cond_t changed;
  GQueue lines;
  guint64 n_dropped;
  gboolean running;
  gboolean stopping;
  gboolean ended;
} writer = { .lock = PTHREAD_MUTEX_INITIALIZER, .changed = PTHREAD_COND_INITIALIZER };

static void
write_piece (const char *text, gsize size)
{
  /* A log that cannot be written cannot report it. */
  ssize_t n = write (STDERR_FILENO, text, size);
  (void) n;
}

static gboolean
is_writable (int timeout_ms)
{
  struct pollfd fd = { .fd = STDERR_FILENO, .events = POLLOUT };
  return poll (&fd, 1, timeout_ms) > 0;
}

/* Called with the lock held; releases it while it waits. */
static void
write_line (char *line)
{
  gsize size = strlen (line);
  gboolean stopping = writer.stopping;
  pthread_mutex_unlock (&writer.lock);
  for (gsize at = 0; at < size; at += MIN (PIECE, size - at))
    if (is_writable (stopping ? END_MS : -1))
      write_piece (line + at, MIN (PIECE, size - at));
  g_free (line);
  pthread_mutex_lock (&writer.lock);
}

static gpointer
run_thread (gpointer data)
{
  pthread_mutex_lock (&writer.lock);
  for (;;)
    {
      char *line = g_queue_pop_head (&writer.lines);
      if (line != NULL)
        write_line (line);
      else if (writer.stopping)
        break;
      else
        pthread_cond_wait (&writer.changed, &writer.lock);
      if (writer.n_dropped > 0 && writer.lines.length < MOST_LINES / 2)
        {
          g_queue_push_tail (&writer.lines,
                             g_strdup_printf ("irisd: warning: %" G_GUINT64_FORMAT
                                              " lines were dropped: the log was not read\n",
                                              writer.n_dropped));
          writer.n_dropped = 0;
        }
    }
  writer.ended = TRUE;
  pthread_cond_broadcast (&writer.changed);
  pthread_mutex_unlock (&writer.lock);
  return NULL;
}

/* Lets a thread write the lines, unless standard error is a file. */
void
irisd_log_start_writer (void)
{
  struct stat st;
  if (writer.running || (fstat (STDERR_FILENO, &st) == 0 && S_ISREG (st.st_mode)))
    return;
  writer.running = TRUE;
  writer.stopping = writer.ended = FALSE;
  g_thread_unref (g_thread_new ("irisd-log", run_thread, NULL));
}

/* Waits a while until all lines are written. No thread may log meanwhile or afterwards. */
void
irisd_log_end_writer (void)
{
  struct timespec until;
  clock_gettime (CLOCK_REALTIME, &until);
  until.tv_sec += 1 + END_MS / 1000;
  pthread_mutex_lock (&writer.lock);
  writer.stopping = TRUE;
  pthread_cond_broadcast (&writer.changed);
  for (int rc = 0; writer.running && !writer.ended && rc != ETIMEDOUT;)
    rc = pthread_cond_timedwait (&writer.changed, &writer.lock, &until);
  pthread_mutex_unlock (&writer.lock);
}

/* Takes @line, with its end. */
void
irisd_log_write (char *line)
{
  pthread_mutex_lock (&writer.lock);
  gboolean direct = !writer.running;
  if (!direct && writer.lines.length < MOST_LINES)
    g_queue_push_tail (&writer.lines, g_steal_pointer (&line));
  else if (!direct)
    writer.n_dropped++;
  pthread_cond_signal (&writer.changed);
  pthread_mutex_unlock (&writer.lock);
  if (direct)
    write_piece (line, strlen (line));
  g_free (line);
}
