/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * Spans of irisd as OTLP has them in JSON.
 *
 * Source: the OpenTelemetry Protocol 1.x, "JSON Protobuf Encoding": ids are hexadecimal, 64-bit
 * integers are texts, enumerations are numbers, names are lowerCamelCase.
 */
#include "clients/web/export/web-span-json.h"

#include "clients/web/base/web-json.h"

#include <iris/wire/iris-wire.h>
#include <string.h>

#define KIND_CONSUMER  5
#define STATUS_ERROR   2
#define NO_EXIT_STATUS G_MAXUINT32
#define MOST_MESSAGE   1024
/* Where the ids are in the text of version 00. */
#define TRACE_ID_AT 3
#define SPAN_ID_AT  36

static const char *const outcomes[] = { "done", "failed", "cancelled", "expired", "buried" };
static const char *const classes[] = { "volatile", "relaxed", "durable" };

static guint64
get_u64 (GVariant *span, const char *name)
{
  guint64 value = 0;

  g_variant_lookup (span, name, "t", &value);

  return value;
}

static guint32
get_u32 (GVariant *span, const char *name)
{
  guint32 value = 0;

  g_variant_lookup (span, name, "u", &value);

  return value;
}

static const char *
get_text (GVariant *span, const char *name)
{
  const char *value = "";

  g_variant_lookup (span, name, "&s", &value);

  return value;
}

static void
write_u64_as_text (WebJson *json, const char *name, guint64 value)
{
  char digits[24];

  g_snprintf (digits, sizeof digits, "%" G_GUINT64_FORMAT, value);
  web_json_text (json, name, digits);
}

static void
write_number (WebJson *json, const char *key, guint64 value)
{
  web_json_begin (json, NULL, '{');
  web_json_text (json, "key", key);
  web_json_begin (json, "value", '{');
  write_u64_as_text (json, "intValue", value);
  web_json_end (json, '}');
  web_json_end (json, '}');
}

static void
write_text (WebJson *json, const char *key, const char *value)
{
  web_json_begin (json, NULL, '{');
  web_json_text (json, "key", key);
  web_json_begin (json, "value", '{');
  web_json_text (json, "stringValue", value);
  web_json_end (json, '}');
  web_json_end (json, '}');
}

static void
write_attributes (WebJson *json, GVariant *span)
{
  const guint64 accepted = get_u64 (span, "accepted-ns"), started = get_u64 (span, "started-ns");
  const guint32 class = get_u32 (span, "class"), outcome = get_u32 (span, "outcome");
  const guint32 exit_status = get_u32 (span, "exit-status");

  web_json_begin (json, "attributes", '[');
  write_number (json, "iris.item", get_u64 (span, "item"));
  write_text (json, "iris.service", get_text (span, "service"));
  write_number (json, "iris.place", get_u32 (span, "place"));
  if (class < G_N_ELEMENTS (classes))
    write_text (json, "iris.class", classes[class]);
  if (outcome < G_N_ELEMENTS (outcomes))
    write_text (json, "iris.outcome", outcomes[outcome]);
  if (started > 0)
    write_number (json, "iris.queue_delay_ns", started > accepted ? started - accepted : 0);
  write_number (json, "iris.attempts", get_u32 (span, "attempts"));
  if (exit_status != NO_EXIT_STATUS)
    write_number (json, "process.exit.code", exit_status);
  web_json_end (json, ']');
}

/* A cancelled item has no error: its client wanted that. A command that exited is done, but only
 * status 0 is good. */
static void
write_status (WebJson *json, GVariant *span)
{
  const guint32 outcome = get_u32 (span, "outcome"), exit_status = get_u32 (span, "exit-status");
  const gboolean exited_badly = exit_status != 0 && exit_status != NO_EXIT_STATUS;
  g_autofree char *message = NULL;

  if ((outcome == IRIS_WIRE_OUTCOME_DONE && !exited_badly)
      || outcome == IRIS_WIRE_OUTCOME_CANCELLED)
    return;
  message = *get_text (span, "message") == '\0' && exited_badly
                ? g_strdup_printf ("exit status %u", exit_status)
                : g_strndup (get_text (span, "message"), MOST_MESSAGE);
  web_json_begin (json, "status", '{');
  web_json_number (json, "code", STATUS_ERROR);
  web_json_text (json, "message", message);
  web_json_end (json, '}');
}

/* The time in the queue is before this event, the last run behind it. */
static void
write_events (WebJson *json, GVariant *span)
{
  const guint64 started = get_u64 (span, "started-ns");

  if (started == 0)
    return;
  web_json_begin (json, "events", '[');
  web_json_begin (json, NULL, '{');
  write_u64_as_text (json, "timeUnixNano", started);
  web_json_text (json, "name", "started");
  web_json_end (json, '}');
  web_json_end (json, ']');
}

char *
web_span_json_write (GVariant *span)
{
  const char *traceparent = get_text (span, "traceparent");
  const guint64 accepted = get_u64 (span, "accepted-ns"), ended = get_u64 (span, "ended-ns");
  WebJson json = { 0 };
  IrisWireTraceparent ids;
  g_autofree char *trace_id = NULL, *span_id = NULL;

  if (!iris_wire_traceparent_parse (traceparent, strlen (traceparent), &ids))
    return NULL;
  trace_id = g_strndup (traceparent + TRACE_ID_AT, 2 * sizeof ids.trace);
  span_id = g_strndup (traceparent + SPAN_ID_AT, 2 * sizeof ids.span);
  json.text = g_string_sized_new (1024);
  web_json_begin (&json, NULL, '{');
  web_json_text (&json, "traceId", trace_id);
  web_json_text (&json, "spanId", span_id);
  web_json_text (&json, "parentSpanId", get_text (span, "parent"));
  if (*get_text (span, "tracestate") != '\0')
    web_json_text (&json, "traceState", get_text (span, "tracestate"));
  web_json_number (&json, "flags", ids.flags);
  web_json_text (&json, "name", get_text (span, "service"));
  web_json_number (&json, "kind", KIND_CONSUMER);
  write_u64_as_text (&json, "startTimeUnixNano", accepted);
  write_u64_as_text (&json, "endTimeUnixNano", MAX (accepted, ended));
  write_attributes (&json, span);
  write_events (&json, span);
  write_status (&json, span);
  web_json_end (&json, '}');

  return g_string_free (json.text, FALSE);
}

GBytes *
web_span_json_join (const GQueue *spans, guint n)
{
  GString *text = g_string_sized_new (1024 * (gsize) n);
  WebJson json = { .text = text };

  web_json_begin (&json, NULL, '{');
  web_json_begin (&json, "resourceSpans", '[');
  web_json_begin (&json, NULL, '{');
  web_json_begin (&json, "resource", '{');
  web_json_begin (&json, "attributes", '[');
  write_text (&json, "service.name", "irisd");
  write_text (&json, "host.name", g_get_host_name ());
  web_json_end (&json, ']');
  web_json_end (&json, '}');
  web_json_begin (&json, "scopeSpans", '[');
  web_json_begin (&json, NULL, '{');
  web_json_begin (&json, "scope", '{');
  web_json_text (&json, "name", "irisd");
  web_json_end (&json, '}');
  web_json_begin (&json, "spans", '[');
  for (const GList *l = spans->head; n > 0 && l != NULL; l = l->next, n--)
    {
      g_string_append (text, l->data);
      if (n > 1 && l->next != NULL)
        g_string_append_c (text, ',');
    }
  web_json_end (&json, ']');
  web_json_end (&json, '}');
  web_json_end (&json, ']');
  web_json_end (&json, '}');
  web_json_end (&json, ']');
  web_json_end (&json, '}');

  return g_string_free_to_bytes (text);
}
