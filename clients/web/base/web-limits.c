/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * The limits on what requests and pages may cost, by name.
 */
#include "clients/web/base/web-limits.h"

#include <gio/gio.h>
#include <string.h>

typedef struct
{
  const char *name;
  gsize offset;
  guint value;
  guint least;
  guint most;
  const char *summary;
} Limit;

#define LIMIT(name, field, value, least, most, summary)                   \
  {                                                                       \
    name, G_STRUCT_OFFSET (WebLimits, field), value, least, most, summary \
  }

/* libsoup reads at most 64 KiB of headers before it closes the connection. */
static const Limit limits[] = {
  LIMIT ("answer-ms", answer_ms, 5000, 1, 600000, "milliseconds that irisd may take for an answer"),
  LIMIT ("body-bytes", body_bytes, 4096, 64, 1 << 20, "bytes of the body of a POST"),
  LIMIT ("connections", connections, 256, 1, 65536, "connections at once"),
  LIMIT ("header-bytes", header_bytes, 16384, 256, 60000, "bytes of a request's headers"),
  LIMIT ("headers", headers, 64, 4, 1000, "headers of a request"),
  LIMIT ("otlp-answer-ms",
         otlp_answer_ms,
         10000,
         10,
         600000,
         "milliseconds that the collector of spans may take for an answer"),
  LIMIT ("otlp-interval-ms",
         otlp_interval_ms,
         1000,
         10,
         600000,
         "milliseconds from one look for new spans to the next"),
  LIMIT ("otlp-pause-ms",
         otlp_pause_ms,
         1000,
         10,
         60000,
         "milliseconds until spans are sent again at first; it doubles up to a minute"),
  LIMIT ("otlp-spans", otlp_spans, 4096, 1, 65536, "spans that wait for the collector at once"),
  LIMIT ("pages", pages, 128, 1, 65536, "readers of /events at once"),
  LIMIT ("request-line-bytes",
         request_line_bytes,
         2048,
         64,
         32768,
         "bytes of a path with its query"),
  LIMIT ("request-ms",
         request_ms,
         10000,
         10,
         600000,
         "milliseconds until a request has arrived, and until its answer has been read"),
  LIMIT ("requests", requests, 64, 1, 65536, "requests that wait for irisd at once"),
  LIMIT ("sessions", sessions, 256, 1, 65536, "sessions; the oldest is ended for a new one"),
  LIMIT ("slow-reader-ms",
         slow_reader_ms,
         10000,
         10,
         600000,
         "milliseconds that a page may read nothing"),
};

static guint *
value_of (WebLimits *self, const Limit *limit)
{
  return G_STRUCT_MEMBER_P (self, limit->offset);
}

void
web_limits_init (WebLimits *self)
{
  for (guint i = 0; i < G_N_ELEMENTS (limits); i++)
    *value_of (self, &limits[i]) = limits[i].value;
}

gboolean
web_limits_set (WebLimits *self, const char *assignment, GError **error)
{
  const char *equals = strchr (assignment, '=');
  gsize length = equals != NULL ? (gsize) (equals - assignment) : strlen (assignment);

  for (guint i = 0; i < G_N_ELEMENTS (limits); i++)
    {
      g_autoptr (GError) local = NULL;
      guint64 value;

      if (strlen (limits[i].name) != length || strncmp (limits[i].name, assignment, length) != 0)
        continue;
      if (!g_ascii_string_to_unsigned (equals != NULL ? equals + 1 : "", 10, limits[i].least,
                                       limits[i].most, &value, &local))
        {
          g_set_error (error, G_IO_ERROR, G_IO_ERROR_INVALID_ARGUMENT,
                       "limit “%s”: it is a number from %u to %u; for example --limit %s=%u",
                       limits[i].name, limits[i].least, limits[i].most, limits[i].name,
                       limits[i].value);
          return FALSE;
        }
      *value_of (self, &limits[i]) = (guint) value;
      return TRUE;
    }
  g_set_error (error, G_IO_ERROR, G_IO_ERROR_INVALID_ARGUMENT,
               "limit “%s”: there is none of that name; see irisd-web --help", assignment);

  return FALSE;
}

char *
web_limits_describe (void)
{
  GString *text = g_string_new ("Limits (--limit NAME=NUMBER):\n");

  for (guint i = 0; i < G_N_ELEMENTS (limits); i++)
    g_string_append_printf (text, "  %-19s%8u  %s\n", limits[i].name, limits[i].value,
                            limits[i].summary);

  return g_string_free (text, FALSE);
}
