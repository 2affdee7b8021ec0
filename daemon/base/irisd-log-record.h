/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * One event of irisd's log with its fields, and the forms in which it is written.
 */
#pragma once

#include <glib.h>

G_BEGIN_DECLS

typedef enum
{
  IRISD_LOG_ERROR,
  IRISD_LOG_WARNING,
  IRISD_LOG_INFO,
  IRISD_LOG_DEBUG,
} IrisdLogLevel;

/* Bytes of a request's id. */
#define IRISD_LOG_REQUEST_SIZE 16

/* Where in the code an event is logged. */
typedef struct
{
  const char *file;
  int line;
  const char *function;
} IrisdLogSource;

/* What an event is about. Zero-initialised: nothing in particular. */
typedef struct
{
  guint64 item;          /* 0: none, or it has no number */
  const guint8 *request; /* NULL, or the id of the request that brought the item */
  gboolean has_place;
  gint place;
  const char *service; /* NULL: none */
  const char *client;  /* NULL: none */
} IrisdLogSubject;

typedef struct
{
  IrisdLogLevel level;
  gint64 time_us; /* since 1970 */
  IrisdLogSource source;
  IrisdLogSubject subject; /* with copies */
  guint8 request[IRISD_LOG_REQUEST_SIZE];
  char *message;
} IrisdLogRecord;

IrisdLogRecord *irisd_log_record_new (IrisdLogLevel level,
                                      const IrisdLogSource *source,
                                      const IrisdLogSubject *subject,
                                      char *message);
void irisd_log_record_free (IrisdLogRecord *self);
const char *irisd_log_level_get_name (IrisdLogLevel level);
GString *irisd_log_record_to_line (const IrisdLogRecord *self);
GString *irisd_log_record_to_json (const IrisdLogRecord *self);
GString *irisd_log_record_to_journal (const IrisdLogRecord *self);

G_DEFINE_AUTOPTR_CLEANUP_FUNC (IrisdLogRecord, irisd_log_record_free)

G_END_DECLS
