/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * Takes spans from irisd, and sends them to an OTLP/HTTP collector.
 *
 * irisd keeps the latest spans in a ring and sends nothing by itself. The exporter asks for those
 * that are new while its own queue has room; when the collector is away for long the queue is full,
 * spans stay in the ring, and the oldest are lost there. Their numbers tell how many.
 *
 * A span leaves the queue when the collector has taken or refused it. So one may be sent twice, if
 * an answer is lost or irisd-web is started again, and has the same ids then.
 */
#include "clients/web/export/web-exporter.h"

#include "clients/web/export/web-collector.h"
#include "clients/web/export/web-span-json.h"

/* Spans of a request, as OpenTelemetry's own exporters send them by default. */
#define MOST_IN_REQUEST  512
#define LONGEST_PAUSE_MS 60000
#define MOST_RETRY_S     3600

struct _WebExporter
{
  const WebLimits *limits;
  IrisClient *client;
  WebCollector *collector;
  GCancellable *cancellable;
  guint timer;
  GQueue spans;  /* texts, the oldest first */
  guint sending; /* how many of them are under way */
  guint pause_timer;
  guint pause_ms;
  gboolean asking;
  guint asked;      /* how many spans */
  guint64 next;     /* number of the next span; 0: the oldest */
  guint64 expected; /* the same, to see a gap; 0: not known */
  guint64 pid;      /* of the irisd that counts these numbers */
  guint64 started_ms;
  gboolean away;   /* the collector; it is told once */
  gboolean silent; /* irisd; it is told once */
  WebExportCounts counts;
};

static void send_some (WebExporter *self);
static void ask (WebExporter *self);

static void
tell_collector (WebExporter *self, const WebCollectorAnswer *answer)
{
  const gboolean good = answer->outcome == WEB_COLLECTOR_TAKEN && answer->rejected == 0;

  if (good == !self->away)
    return;
  self->away = !good;
  if (good)
    g_printerr ("irisd-web: the collector %s takes spans again; %" G_GUINT64_FORMAT
                " were dropped so far\n",
                web_collector_get_url (self->collector), self->counts.dropped);
  else
    g_printerr ("irisd-web: the collector %s does not take %s: %s\n",
                web_collector_get_url (self->collector),
                answer->outcome == WEB_COLLECTOR_TAKEN ? "all spans" : "spans",
                answer->message != NULL ? answer->message : "no reason was told");
}

static gboolean
pause_is_over (gpointer user_data)
{
  WebExporter *self = user_data;

  self->pause_timer = 0;
  send_some (self);

  return G_SOURCE_REMOVE;
}

/* At least as long as the collector asks for; else a random time, so that exporters that fail at
 * once do not come back at once. */
static void
begin_pause (WebExporter *self, guint retry_after_s)
{
  const guint random_ms = (guint) g_random_int_range ((gint32) self->pause_ms / 2,
                                                      (gint32) self->pause_ms + 1);
  const guint asked_ms = MIN (retry_after_s, MOST_RETRY_S) * 1000;

  self->pause_timer = g_timeout_add (MAX (random_ms, asked_ms), pause_is_over, self);
  self->pause_ms = MIN (2 * self->pause_ms, LONGEST_PAUSE_MS);
}

static void
forget_sent (WebExporter *self)
{
  for (; self->sending > 0; self->sending--)
    g_free (g_queue_pop_head (&self->spans));
  self->counts.waiting = self->spans.length;
}

static void
sent (const WebCollectorAnswer *answer, gpointer user_data)
{
  WebExporter *self = user_data;
  const guint64 rejected = answer->outcome == WEB_COLLECTOR_REFUSED
                               ? self->sending
                               : MIN (answer->rejected, self->sending);

  if (answer->outcome != WEB_COLLECTOR_TAKEN)
    self->counts.failures++;
  if (answer->outcome == WEB_COLLECTOR_LATER)
    {
      self->sending = 0;
      tell_collector (self, answer);
      begin_pause (self, answer->retry_after_s);
      return;
    }
  self->counts.sent += self->sending - rejected;
  self->counts.dropped += rejected;
  self->pause_ms = self->limits->otlp_pause_ms;
  forget_sent (self);
  tell_collector (self, answer);
  send_some (self);
}

static void
send_some (WebExporter *self)
{
  g_autoptr (GBytes) body = NULL;

  if (self->sending > 0 || self->pause_timer != 0 || self->spans.length == 0)
    return;
  self->sending = MIN (self->spans.length, MOST_IN_REQUEST);
  body = web_span_json_join (&self->spans, self->sending);
  web_collector_send (self->collector, body, sent, self);
}

static void
take_span (WebExporter *self, GVariant *span)
{
  guint64 number = 0;
  char *text = web_span_json_write (span);

  g_variant_lookup (span, "number", "t", &number);
  if (self->expected != 0 && number > self->expected)
    self->counts.dropped += number - self->expected;
  self->expected = number + 1;
  if (text != NULL)
    g_queue_push_tail (&self->spans, text);
  else
    self->counts.dropped++;
}

static void
tell_irisd (WebExporter *self, const GError *error)
{
  if (error != NULL && !self->silent)
    g_printerr ("irisd-web: irisd tells no spans: %s\n", error->message);
  self->silent = error != NULL;
}

static void
spans_came (GObject *source, GAsyncResult *result, gpointer user_data)
{
  WebExporter *self = user_data;
  g_autoptr (GError) error = NULL;
  guint64 next = 0;
  g_autoptr (GVariant)
      spans = iris_client_get_spans_finish (IRIS_CLIENT (source), result, &next, &error);
  gsize n;

  if (g_error_matches (error, G_IO_ERROR, G_IO_ERROR_CANCELLED))
    return; /* the exporter is freed */
  self->asking = FALSE;
  tell_irisd (self, error);
  if (spans == NULL)
    return;
  n = g_variant_n_children (spans);
  for (gsize i = 0; i < n; i++)
    {
      g_autoptr (GVariant) span = g_variant_get_child_value (spans, i);

      take_span (self, span);
    }
  self->next = next;
  self->counts.waiting = self->spans.length;
  send_some (self);
  if (n >= self->asked)
    ask (self);
}

/* Another irisd counts its spans from 1. */
static void
check_run (WebExporter *self, const IrisWireDaemonStatistics *daemon)
{
  if (daemon->pid == self->pid && daemon->started_ms == self->started_ms)
    return;
  self->expected = self->pid != 0 ? 1 : 0;
  self->next = 0;
  self->pid = daemon->pid;
  self->started_ms = daemon->started_ms;
}

static void
daemon_came (GObject *source, GAsyncResult *result, gpointer user_data)
{
  WebExporter *self = user_data;
  g_autoptr (GError) error = NULL;
  g_autoptr (GBytes)
      body = iris_client_get_encoded_statistics_finish (IRIS_CLIENT (source), result, &error);
  g_autoptr (IrisWireStatistics) statistics = NULL;

  if (g_error_matches (error, G_IO_ERROR, G_IO_ERROR_CANCELLED))
    return;
  if (body != NULL)
    statistics = iris_wire_statistics_decode (
        (IrisWireFrame){ g_bytes_get_data (body, NULL), g_bytes_get_size (body) },
        iris_wire_limits_default (), &error);
  if (statistics == NULL || statistics->n_daemon == 0)
    {
      self->asking = FALSE;
      if (error != NULL)
        tell_irisd (self, error);
      return;
    }
  check_run (self, &statistics->daemon[0]);
  iris_client_get_spans_async (self->client, self->next, self->asked, self->cancellable, spans_came,
                               self);
}

static void
ask (WebExporter *self)
{
  if (self->asking || self->spans.length >= self->limits->otlp_spans)
    return;
  self->asking = TRUE;
  self->asked = MIN (self->limits->otlp_spans - self->spans.length, MOST_IN_REQUEST);
  iris_client_get_encoded_statistics_async (self->client, IRIS_WIRE_SECTION_DAEMON,
                                            self->cancellable, daemon_came, self);
}

static gboolean
ask_again (gpointer user_data)
{
  ask (user_data);

  return G_SOURCE_CONTINUE;
}

WebExporter *
web_exporter_new (const WebExporterOptions *options,
                  WebState *state,
                  const WebLimits *limits,
                  GError **error)
{
  g_autoptr (WebCollector) collector = web_collector_new (
      options->url, options->headers, options->ca, limits->otlp_answer_ms, error);
  WebExporter *self;

  if (collector == NULL)
    return NULL;
  self = g_new0 (WebExporter, 1);
  self->limits = limits;
  self->client = g_object_ref (web_state_get_client (state));
  self->collector = g_steal_pointer (&collector);
  self->cancellable = g_cancellable_new ();
  self->pause_ms = limits->otlp_pause_ms;
  g_queue_init (&self->spans);
  self->timer = g_timeout_add (limits->otlp_interval_ms, ask_again, self);

  return self;
}

void
web_exporter_free (WebExporter *self)
{
  g_source_remove (self->timer);
  if (self->pause_timer != 0)
    g_source_remove (self->pause_timer);
  g_cancellable_cancel (self->cancellable);
  g_object_unref (self->cancellable);
  web_collector_free (self->collector);
  g_object_unref (self->client);
  g_queue_clear_full (&self->spans, g_free);
  g_free (self);
}

const char *
web_exporter_get_url (WebExporter *self)
{
  return web_collector_get_url (self->collector);
}

const WebExportCounts *
web_exporter_get_counts (WebExporter *self)
{
  return &self->counts;
}
