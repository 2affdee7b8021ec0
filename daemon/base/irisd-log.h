/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * irisd's log: events at a limited rate, to standard error or to journald.
 */
#pragma once

#include "daemon/base/irisd-log-record.h"

#include <stdatomic.h>

G_BEGIN_DECLS

/* Where events go, and in which form. */
typedef enum
{
  IRISD_LOG_FORMAT_AUTO,    /* to journald if standard error is its stream, else lines */
  IRISD_LOG_FORMAT_LINES,   /* sentences on standard error */
  IRISD_LOG_FORMAT_JSON,    /* objects on standard error, one a line */
  IRISD_LOG_FORMAT_JOURNAL, /* entries with fields, to journald */
} IrisdLogFormat;

/* A place in the code that a client can make log without end. It writes a few lines a second, and
 * then how many it held back. Zero-initialised, static. */
typedef struct
{
  _Atomic gint64 window_us;
  _Atomic guint in_window;
  _Atomic guint n_suppressed;
} IrisdLogSite;

/* Lines that one site may write in a second. */
#define IRISD_LOG_LINES_PER_SECOND 5

gboolean irisd_log_level_from_name (const char *name, IrisdLogLevel *level);
gboolean irisd_log_format_from_name (const char *name, IrisdLogFormat *format);
void irisd_log_set_level (IrisdLogLevel level);
gboolean irisd_log_set_format (IrisdLogFormat format, const char *journald, GError **error);
gboolean irisd_log_is_on (IrisdLogLevel level);
void irisd_log_event (const IrisdLogSource *source,
                      const IrisdLogSubject *subject,
                      IrisdLogLevel level,
                      const char *format,
                      ...) G_GNUC_PRINTF (4, 5);
void irisd_log_limited_event (IrisdLogSite *site,
                              const IrisdLogSource *source,
                              const IrisdLogSubject *subject,
                              IrisdLogLevel level,
                              const char *format,
                              ...) G_GNUC_PRINTF (5, 6);
void irisd_log_event_each_minute (IrisdLogSite *site,
                                  const IrisdLogSource *source,
                                  IrisdLogLevel level,
                                  const char *format,
                                  ...) G_GNUC_PRINTF (4, 5);

#define IRISD_LOG_HERE (&(const IrisdLogSource){ __FILE__, __LINE__, __func__ })

/* The level, then a format, which is a sentence without a line end, and what it needs. */
#define irisd_log(...)                irisd_log_event (IRISD_LOG_HERE, NULL, __VA_ARGS__)
#define irisd_log_about(subject, ...) irisd_log_event (IRISD_LOG_HERE, subject, __VA_ARGS__)
/* For events that a client can cause at will. */
#define irisd_log_limited(site, ...) \
  irisd_log_limited_event (site, IRISD_LOG_HERE, NULL, __VA_ARGS__)
#define irisd_log_limited_about(site, subject, ...) \
  irisd_log_limited_event (site, IRISD_LOG_HERE, subject, __VA_ARGS__)
/* For conditions that last: one event a minute. */
#define irisd_log_each_minute(site, ...) \
  irisd_log_event_each_minute (site, IRISD_LOG_HERE, __VA_ARGS__)

guint irisd_log_site_admit (IrisdLogSite *site, gint64 now_us, gboolean *admitted);

void irisd_log_start_writer (void);
void irisd_log_end_writer (void);

G_END_DECLS
