/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * irisd's log: one line an event on standard error, at a limited rate.
 *
 * Any thread may log. A line is written as a whole, so lines of several threads do not mix. The
 * counters of a site are relaxed atomics: when two threads meet at the turn of a second, a line
 * more or less may be written, which does no harm.
 *
 * The writer. A write to a pipe, a terminal or a socket waits while its reader does not read. Such
 * lines go through a queue to a thread of their own; when the queue is full they are dropped and
 * counted, and the count is the next line written. The descriptor's flags stay as they are, because
 * other processes share them. A file takes lines at once, so they are written directly.
 */
#include "daemon/base/irisd-log.h"

#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define MINUTE_US (60 * G_USEC_PER_SEC)

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
  gboolean completion;
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
  gboolean completion = writer.completion;
  pthread_mutex_unlock (&writer.lock);
  for (gsize at = 0; at < size; at += MIN (PIECE, size - at))
    if (is_writable (completion ? END_MS : -1))
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
      else if (writer.completion)
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
  writer.completion = writer.ended = FALSE;
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
  writer.completion = TRUE;
  pthread_cond_broadcast (&writer.changed);
  for (int rc = 0; writer.running && !writer.ended && rc != ETIMEDOUT;)
    rc = pthread_cond_timedwait (&writer.changed, &writer.lock, &until);
  pthread_mutex_unlock (&writer.lock);
}

/* Takes @line, with its end. */
static void
write_out (char *line)
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

static _Atomic int threshold = IRISD_LOG_INFO;

static const char *const level_names[] = { "error", "warning", "info", "debug" };

/* Returns whether @name, `error`, `warning`, `info` or `debug`, is a level. */
gboolean
irisd_log_level_from_name (const char *name, IrisdLogLevel *level)
{
  for (guint i = 0; i < G_N_ELEMENTS (level_names); i++)
    if (strcmp (level_names[i], name) == 0)
      {
        *level = i;
        return TRUE;
      }
  return FALSE;
}

void
irisd_log_set_level (IrisdLogLevel level)
{
  atomic_store_explicit (&threshold, level, memory_order_relaxed);
}

static void G_GNUC_PRINTF (3, 0)
    log_valist (IrisdLogLevel level, guint n_suppressed, const char *format, va_list args)
{
  g_autoptr (GString) line = g_string_new ("irisd: ");
  if (level <= IRISD_LOG_WARNING)
    g_string_append_printf (line, "%s: ", level_names[level]);
  g_string_append_vprintf (line, format, args);
  if (n_suppressed > 0)
    g_string_append_printf (line, " (%u more like this were not logged)", n_suppressed);
  g_string_append_c (line, '\n');
  write_out (g_string_free (g_steal_pointer (&line), FALSE));
}

/* @format is a sentence without a line end. */
void
irisd_log (IrisdLogLevel level, const char *format, ...)
{
  if ((int) level > atomic_load_explicit (&threshold, memory_order_relaxed))
    return;
  va_list args;
  va_start (args, format);
  log_valist (level, 0, format, args);
  va_end (args);
}

/* Sets @admitted: whether a line may be written now. Returns how many lines were held back before
 * it. */
guint
irisd_log_site_admit (IrisdLogSite *site, gint64 now_us, gboolean *admitted)
{
  gint64 window = atomic_load_explicit (&site->window_us, memory_order_relaxed);
  if (window == 0 || now_us - window >= G_USEC_PER_SEC)
    {
      atomic_store_explicit (&site->window_us, now_us, memory_order_relaxed);
      atomic_store_explicit (&site->in_window, 0, memory_order_relaxed);
    }
  guint before = atomic_fetch_add_explicit (&site->in_window, 1, memory_order_relaxed);
  *admitted = before < IRISD_LOG_LINES_PER_SECOND;
  if (*admitted)
    return atomic_exchange_explicit (&site->n_suppressed, 0, memory_order_relaxed);
  atomic_fetch_add_explicit (&site->n_suppressed, 1, memory_order_relaxed);
  return 0;
}

/* Like irisd_log(), for events that a client can cause at will. */
void
irisd_log_limited (IrisdLogSite *site, IrisdLogLevel level, const char *format, ...)
{
  if ((int) level > atomic_load_explicit (&threshold, memory_order_relaxed))
    return;
  gboolean admitted = FALSE;
  guint n_suppressed = irisd_log_site_admit (site, g_get_monotonic_time (), &admitted);
  if (!admitted)
    return;
  va_list args;
  va_start (args, format);
  log_valist (level, n_suppressed, format, args);
  va_end (args);
}

/* Like irisd_log_limited(), for conditions that last: one line a minute. */
void
irisd_log_each_minute (IrisdLogSite *site, IrisdLogLevel level, const char *format, ...)
{
  if ((int) level > atomic_load_explicit (&threshold, memory_order_relaxed))
    return;
  gint64 now_us = g_get_monotonic_time ();
  gint64 window = atomic_load_explicit (&site->window_us, memory_order_relaxed);
  if ((window != 0 && now_us - window < MINUTE_US)
      || !atomic_compare_exchange_strong_explicit (&site->window_us, &window, now_us,
                                                   memory_order_relaxed, memory_order_relaxed))
    {
      atomic_fetch_add_explicit (&site->n_suppressed, 1, memory_order_relaxed);
      return;
    }
  guint n_suppressed = atomic_exchange_explicit (&site->n_suppressed, 0, memory_order_relaxed);
  va_list args;
  va_start (args, format);
  log_valist (level, n_suppressed, format, args);
  va_end (args);
}
