/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * irisd's log: one line an event on standard error, at a limited rate.
 *
 * Any thread may log. A line is written as a whole, so lines of several threads do not mix. The
 * counters of a site are relaxed atomics: when two threads meet at the turn of a second, a line
 * more or less may be written, which does no harm.
 */
#include "daemon/base/irisd-log.h"

#include <string.h>

#define MINUTE_US (60 * G_USEC_PER_SEC)

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
  irisd_log_write (g_string_free (g_steal_pointer (&line), FALSE));
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
