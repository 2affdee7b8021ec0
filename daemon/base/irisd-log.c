/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * irisd's log: events at a limited rate, to standard error or to journald.
 *
 * Any thread may log. A line is written as a whole, so lines of several threads do not mix. The
 * counters of a site are relaxed atomics: when two threads meet at the turn of a second, a line
 * more or less may be written, which does no harm.
 *
 * The writer. A write to a pipe, a terminal or a socket waits while its reader does not read. Such
 * events go through a queue to a thread of their own; when the queue is full they are dropped and
 * counted, and the count is the next line written. The descriptor's flags stay as they are, because
 * other processes share them. A file takes lines at once, so they are written directly.
 *
 * The form of an event is made where it is written. An entry that journald does not take, because
 * it is gone, is written as a line.
 */
#include "daemon/base/irisd-log.h"

#include "daemon/base/irisd-log-journald.h"

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
  GQueue records;
  guint64 n_dropped;
  gboolean running;
  gboolean completion;
  gboolean ended;
} writer = { .lock = PTHREAD_MUTEX_INITIALIZER, .changed = PTHREAD_COND_INITIALIZER };

/* Set while there is one thread. */
static IrisdLogFormat log_format = IRISD_LOG_FORMAT_LINES;

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

static void
write_text (const GString *text, gboolean wait, gboolean completion)
{
  for (gsize at = 0; at < text->len; at += MIN (PIECE, text->len - at))
    if (!wait || is_writable (completion ? END_MS : -1))
      write_piece (text->str + at, MIN (PIECE, text->len - at));
}

static gboolean
is_completed (void)
{
  pthread_mutex_lock (&writer.lock);
  gboolean completion = writer.completion;
  pthread_mutex_unlock (&writer.lock);
  return completion;
}

/* Returns FALSE if journald is gone. One that does not read is waited for until irisd ends. */
static gboolean
write_entry (const IrisdLogRecord *record)
{
  g_autoptr (GString) entry = irisd_log_record_to_journal (record);
  gboolean busy = FALSE, sent;
  do
    sent = irisd_log_journald_send (entry->str, entry->len, END_MS, &busy);
  while (!sent && busy && !is_completed ());
  return sent || busy;
}

/* @wait: standard error may not take it at once. */
static void
write_record (const IrisdLogRecord *record, gboolean wait, gboolean completion)
{
  if (log_format == IRISD_LOG_FORMAT_JOURNAL && write_entry (record))
    return;
  g_autoptr (GString) text = log_format == IRISD_LOG_FORMAT_JSON
                                 ? irisd_log_record_to_json (record)
                                 : irisd_log_record_to_line (record);
  write_text (text, wait, completion);
}

/* Called with the lock held; releases it while it waits. Takes @record. */
static void
write_unlocked (IrisdLogRecord *record)
{
  gboolean completion = writer.completion;
  pthread_mutex_unlock (&writer.lock);
  write_record (record, TRUE, completion);
  irisd_log_record_free (record);
  pthread_mutex_lock (&writer.lock);
}

static gpointer
run_thread (gpointer data)
{
  pthread_mutex_lock (&writer.lock);
  for (;;)
    {
      IrisdLogRecord *record = g_queue_pop_head (&writer.records);
      if (record != NULL)
        write_unlocked (record);
      else if (writer.completion)
        break;
      else
        pthread_cond_wait (&writer.changed, &writer.lock);
      if (writer.n_dropped > 0 && writer.records.length < MOST_LINES / 2)
        {
          char *message = g_strdup_printf (
              "%" G_GUINT64_FORMAT " lines were dropped: the log was not read", writer.n_dropped);
          g_queue_push_tail (&writer.records,
                             irisd_log_record_new (IRISD_LOG_WARNING, NULL, NULL, message));
          writer.n_dropped = 0;
        }
    }
  writer.ended = TRUE;
  pthread_cond_broadcast (&writer.changed);
  pthread_mutex_unlock (&writer.lock);
  return NULL;
}

/* Lets a thread write the events, unless they go to a file. */
void
irisd_log_start_writer (void)
{
  struct stat st;
  gboolean is_file = log_format != IRISD_LOG_FORMAT_JOURNAL && fstat (STDERR_FILENO, &st) == 0
                     && S_ISREG (st.st_mode);
  if (writer.running || is_file)
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

/* Takes @record. */
static void
write_out (IrisdLogRecord *record)
{
  pthread_mutex_lock (&writer.lock);
  gboolean direct = !writer.running;
  if (!direct && writer.records.length < MOST_LINES)
    g_queue_push_tail (&writer.records, g_steal_pointer (&record));
  else if (!direct)
    writer.n_dropped++;
  pthread_cond_signal (&writer.changed);
  pthread_mutex_unlock (&writer.lock);
  if (direct)
    write_record (record, FALSE, FALSE);
  g_clear_pointer (&record, irisd_log_record_free);
}

static _Atomic int threshold = IRISD_LOG_INFO;

/* Returns whether @name, `error`, `warning`, `info` or `debug`, is a level. */
gboolean
irisd_log_level_from_name (const char *name, IrisdLogLevel *level)
{
  for (guint i = 0; i <= IRISD_LOG_DEBUG; i++)
    if (strcmp (irisd_log_level_get_name (i), name) == 0)
      {
        *level = i;
        return TRUE;
      }
  return FALSE;
}

/* Returns whether @name, `auto`, `lines`, `json` or `journal`, is a format. */
gboolean
irisd_log_format_from_name (const char *name, IrisdLogFormat *format)
{
  static const char *const names[] = { "auto", "lines", "json", "journal" };
  for (guint i = 0; i < G_N_ELEMENTS (names); i++)
    if (strcmp (names[i], name) == 0)
      {
        *format = i;
        return TRUE;
      }
  return FALSE;
}

/* Call this before irisd_log_start_writer() and while there is one thread. @journald is the path of
 * journald's socket. Returns FALSE if @format is the journal's and there is no socket. */
gboolean
irisd_log_set_format (IrisdLogFormat format, const char *journald, GError **error)
{
  gboolean chosen = format == IRISD_LOG_FORMAT_JOURNAL;
  log_format = format;
  irisd_log_journald_close ();
  if (!chosen && (format != IRISD_LOG_FORMAT_AUTO || !irisd_log_journald_is_stderr ()))
    return TRUE;
  if (irisd_log_journald_open (journald, chosen ? error : NULL))
    log_format = IRISD_LOG_FORMAT_JOURNAL;
  else
    log_format = IRISD_LOG_FORMAT_LINES;
  return log_format == IRISD_LOG_FORMAT_JOURNAL || !chosen;
}

void
irisd_log_set_level (IrisdLogLevel level)
{
  atomic_store_explicit (&threshold, level, memory_order_relaxed);
}

/* For events that are expensive to describe. */
gboolean
irisd_log_is_on (IrisdLogLevel level)
{
  return (int) level <= atomic_load_explicit (&threshold, memory_order_relaxed);
}

static void G_GNUC_PRINTF (5, 0) log_valist (const IrisdLogSource *source,
                                             const IrisdLogSubject *subject,
                                             IrisdLogLevel level,
                                             guint n_suppressed,
                                             const char *format,
                                             va_list args)
{
  g_autoptr (GString) message = g_string_new (NULL);
  g_string_append_vprintf (message, format, args);
  if (n_suppressed > 0)
    g_string_append_printf (message, " (%u more like this were not logged)", n_suppressed);
  write_out (irisd_log_record_new (level, source, subject,
                                   g_string_free (g_steal_pointer (&message), FALSE)));
}

/* Behind irisd_log() and irisd_log_about(). */
void
irisd_log_event (const IrisdLogSource *source,
                 const IrisdLogSubject *subject,
                 IrisdLogLevel level,
                 const char *format,
                 ...)
{
  if (!irisd_log_is_on (level))
    return;
  va_list args;
  va_start (args, format);
  log_valist (source, subject, level, 0, format, args);
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

/* Behind irisd_log_limited() and irisd_log_limited_about(). */
void
irisd_log_limited_event (IrisdLogSite *site,
                         const IrisdLogSource *source,
                         const IrisdLogSubject *subject,
                         IrisdLogLevel level,
                         const char *format,
                         ...)
{
  if (!irisd_log_is_on (level))
    return;
  gboolean admitted = FALSE;
  guint n_suppressed = irisd_log_site_admit (site, g_get_monotonic_time (), &admitted);
  if (!admitted)
    return;
  va_list args;
  va_start (args, format);
  log_valist (source, subject, level, n_suppressed, format, args);
  va_end (args);
}

/* Behind irisd_log_each_minute(). */
void
irisd_log_event_each_minute (IrisdLogSite *site,
                             const IrisdLogSource *source,
                             IrisdLogLevel level,
                             const char *format,
                             ...)
{
  if (!irisd_log_is_on (level))
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
  log_valist (source, NULL, level, n_suppressed, format, args);
  va_end (args);
}
