/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * One event of irisd's log with its fields, and the forms in which it is written.
 *
 * The journal's form is that of "Native Journal Protocol" (systemd.io/JOURNAL_NATIVE_PROTOCOL):
 * `NAME=value` and a line end or, for a value with line ends of its own, `NAME`, a line end, the
 * length in 64 bits with the least byte first, the value and a line end.
 */
#include "daemon/base/irisd-log-record.h"

#include <string.h>

/* Hexadecimal digits of a request's id. */
#define REQUEST_DIGITS ((size_t) IRISD_LOG_REQUEST_SIZE * 2)

/* By level; the numbers are those of syslog. */
static const struct
{
  const char *name;
  const char *priority;
} levels[] = {
  [IRISD_LOG_ERROR] = { "error", "3" },
  [IRISD_LOG_WARNING] = { "warning", "4" },
  [IRISD_LOG_INFO] = { "info", "6" },
  [IRISD_LOG_DEBUG] = { "debug", "7" },
};

/* Takes @message. */
IrisdLogRecord *
irisd_log_record_new (IrisdLogLevel level,
                      const IrisdLogSource *source,
                      const IrisdLogSubject *subject,
                      char *message)
{
  IrisdLogRecord *self = g_new0 (IrisdLogRecord, 1);
  self->level = level;
  self->time_us = g_get_real_time ();
  self->message = message;
  if (source != NULL)
    self->source = *source;
  /* The build runs one folder below the sources. */
  while (self->source.file != NULL && g_str_has_prefix (self->source.file, "../"))
    self->source.file += strlen ("../");
  if (subject == NULL)
    return self;
  self->subject = *subject;
  self->subject.service = g_strdup (subject->service);
  self->subject.client = g_strdup (subject->client);
  if (subject->request != NULL)
    {
      memcpy (self->request, subject->request, sizeof self->request);
      self->subject.request = self->request;
    }
  return self;
}

void
irisd_log_record_free (IrisdLogRecord *self)
{
  g_free ((char *) self->subject.service);
  g_free ((char *) self->subject.client);
  g_free (self->message);
  g_free (self);
}

const char *
irisd_log_level_get_name (IrisdLogLevel level)
{
  return levels[level].name;
}

/* For people: a sentence, which names what it is about itself. */
GString *
irisd_log_record_to_line (const IrisdLogRecord *self)
{
  GString *line = g_string_new ("irisd: ");
  if (self->level <= IRISD_LOG_WARNING)
    g_string_append_printf (line, "%s: ", levels[self->level].name);
  g_string_append (line, self->message);
  return g_string_append_c (line, '\n');
}

static void
spell_request (const IrisdLogRecord *self, char digits[static REQUEST_DIGITS + 1])
{
  for (guint i = 0; i < IRISD_LOG_REQUEST_SIZE; i++)
    g_snprintf (digits + (size_t) i * 2, 3, "%02x", self->request[i]);
}

static void
append_json_text (GString *json, const char *name, const char *value)
{
  if (value == NULL)
    return;
  g_autofree char *valid = g_utf8_make_valid (value, -1);
  g_string_append_printf (json, ",\"%s\":\"", name);
  for (const char *at = valid; *at != '\0'; at++)
    if (*at == '"' || *at == '\\')
      g_string_append_printf (json, "\\%c", *at);
    else if ((guchar) *at < 0x20 || *at == 0x7f)
      g_string_append_printf (json, "\\u%04x", (guint) *at);
    else
      g_string_append_c (json, *at);
  g_string_append_c (json, '"');
}

/* One line, an object. */
GString *
irisd_log_record_to_json (const IrisdLogRecord *self)
{
  const IrisdLogSubject *subject = &self->subject;
  g_autoptr (GDateTime) seconds = g_date_time_new_from_unix_utc (self->time_us / G_USEC_PER_SEC);
  g_autofree char *time = g_date_time_format (seconds, "%Y-%m-%dT%H:%M:%S");
  GString *json = g_string_new (NULL);
  g_string_append_printf (json, "{\"time\":\"%s.%06uZ\",\"level\":\"%s\"", time,
                          (guint) (self->time_us % G_USEC_PER_SEC), levels[self->level].name);
  append_json_text (json, "message", self->message);
  if (subject->item != 0)
    g_string_append_printf (json, ",\"item\":%" G_GUINT64_FORMAT, subject->item);
  if (subject->request != NULL)
    {
      char digits[REQUEST_DIGITS + 1];
      spell_request (self, digits);
      append_json_text (json, "request", digits);
    }
  if (subject->has_place)
    g_string_append_printf (json, ",\"place\":%d", subject->place);
  append_json_text (json, "service", subject->service);
  append_json_text (json, "client", subject->client);
  if (self->source.file != NULL)
    {
      append_json_text (json, "file", self->source.file);
      g_string_append_printf (json, ",\"line\":%d", self->source.line);
      append_json_text (json, "function", self->source.function);
    }
  return g_string_append (json, "}\n");
}

static void
append_field (GString *entry, const char *name, const char *value)
{
  if (value == NULL)
    return;
  if (strchr (value, '\n') == NULL)
    {
      g_string_append_printf (entry, "%s=%s\n", name, value);
      return;
    }
  guint64 length = GUINT64_TO_LE (strlen (value));
  g_string_append_printf (entry, "%s\n", name);
  g_string_append_len (entry, (const char *) &length, sizeof length);
  g_string_append_printf (entry, "%s\n", value);
}

static void
append_number (GString *entry, const char *name, guint64 value)
{
  g_string_append_printf (entry, "%s=%" G_GUINT64_FORMAT "\n", name, value);
}

/* An entry for journald. */
GString *
irisd_log_record_to_journal (const IrisdLogRecord *self)
{
  const IrisdLogSubject *subject = &self->subject;
  GString *entry = g_string_new (NULL);
  append_field (entry, "MESSAGE", self->message);
  append_field (entry, "PRIORITY", levels[self->level].priority);
  append_field (entry, "SYSLOG_IDENTIFIER", "irisd");
  if (self->source.file != NULL)
    {
      append_field (entry, "CODE_FILE", self->source.file);
      append_number (entry, "CODE_LINE", (guint64) self->source.line);
      append_field (entry, "CODE_FUNC", self->source.function);
    }
  if (subject->item != 0)
    append_number (entry, "ITEM", subject->item);
  if (subject->request != NULL)
    {
      char digits[REQUEST_DIGITS + 1];
      spell_request (self, digits);
      append_field (entry, "REQUEST", digits);
    }
  if (subject->has_place)
    g_string_append_printf (entry, "PLACE=%d\n", subject->place);
  append_field (entry, "SERVICE", subject->service);
  append_field (entry, "CLIENT", subject->client);
  return entry;
}
