/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * irisd's log: one line an event on standard error, at a limited rate.
 */
#pragma once

#include <glib.h>
#include <stdatomic.h>

G_BEGIN_DECLS

typedef enum
{
  IRISD_LOG_ERROR,
  IRISD_LOG_WARNING,
  IRISD_LOG_INFO,
  IRISD_LOG_DEBUG,
} IrisdLogLevel;

/**
 * IrisdLogSite:
 *
 * A place in the code that a client can make log without end. It writes a few lines a second, and
 * then how many it held back. Zero-initialised, static.
 */
typedef struct
{
  _Atomic gint64 window_us;
  _Atomic guint in_window;
  _Atomic guint n_suppressed;
} IrisdLogSite;

/* Lines that one site may write in a second. */
#define IRISD_LOG_LINES_PER_SECOND 5

gboolean irisd_log_level_from_name (const char *name, IrisdLogLevel *level);
void irisd_log_set_level (IrisdLogLevel level);
void irisd_log (IrisdLogLevel level, const char *format, ...) G_GNUC_PRINTF (2, 3);
void irisd_log_limited (IrisdLogSite *site, IrisdLogLevel level, const char *format, ...)
    G_GNUC_PRINTF (3, 4);
void irisd_log_each_minute (IrisdLogSite *site, IrisdLogLevel level, const char *format, ...)
    G_GNUC_PRINTF (3, 4);
guint irisd_log_site_admit (IrisdLogSite *site, gint64 now_us, gboolean *admitted);

/* irisd-log-writer.c */
void irisd_log_start_writer (void);
void irisd_log_end_writer (void);
void irisd_log_write (char *line);

G_END_DECLS
