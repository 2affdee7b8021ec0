/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * What is shown of the state: metrics, health, statistics, events and history.
 *
 * A scrape and a health check ask irisd at that moment; pages see the steps.
 */
#include "clients/web/http/web-views.h"

#include "clients/web/http/web-reply.h"
#include "clients/web/state/web-metrics.h"
#include "clients/web/state/web-state-json.h"

#define CLASSIC_TYPE "text/plain; version=0.0.4; charset=utf-8"
#define OPEN_TYPE    "application/openmetrics-text; version=1.0.0; charset=utf-8"

static const char *const no_names[] = { NULL };

static gboolean
wants_open_metrics (WebRequest *request)
{
  const char *accept = soup_message_headers_get_list (
      soup_server_message_get_request_headers (request->message), "Accept");
  GSList *types = accept != NULL ? soup_header_parse_quality_list (accept, NULL) : NULL;
  gboolean wants = FALSE;

  /* The best one that irisd-web has. */
  for (GSList *l = types; l != NULL && !wants; l = l->next)
    {
      if (g_str_has_prefix (l->data, "application/openmetrics-text"))
        wants = TRUE;
      else if (g_str_has_prefix (l->data, "text/plain") || g_str_has_prefix (l->data, "*/*"))
        break;
    }
  soup_header_free_list (types);

  return wants;
}

static void
write_metrics (WebSample *sample, const GError *error, gpointer user_data)
{
  static gsize length = 4096; /* of the text before: it is not grown piece by piece */
  WebRequest *request = user_data;
  const WebContext *context = request->context;
  const WebOwnCounts own = {
    web_events_count (context->events),
    web_connections_count (context->connections),
    context->requests,
    context->exports != NULL ? *context->exports : (WebExportCounts){ 0 },
  };
  gboolean open = wants_open_metrics (request);
  GString *text = g_string_sized_new (length);
  g_autoptr (GBytes) body = NULL;

  web_metrics_write (text, sample, &own, open);
  length = text->len + 4096;
  body = g_string_free_to_bytes (text);
  web_reply_bytes (request->message, SOUP_STATUS_OK, open ? OPEN_TYPE : CLASSIC_TYPE, body);
  web_request_finish (request);
}

void
web_views_metrics (WebRequest *request)
{
  if (web_request_wait (request))
    web_state_ask (request->context->state, write_metrics, request);
}

void
web_views_healthz (WebRequest *request)
{
  web_reply_text (request->message, SOUP_STATUS_OK, "ok\n");
}

static void
write_reasons (WebSample *sample, const GError *error, gpointer user_data)
{
  WebRequest *request = user_data;
  g_autoptr (GPtrArray)
      reasons = web_state_list_reasons (sample, error != NULL ? error->message : NULL);
  g_autoptr (GString) text = g_string_new (reasons->len == 0 ? "ready\n" : NULL);

  g_autofree char *cluster = error == NULL ? web_state_describe_cluster (sample) : NULL;

  for (guint i = 0; i < reasons->len; i++)
    g_string_append_printf (text, "%s\n", (const char *) reasons->pdata[i]);
  if (cluster != NULL)
    g_string_append_printf (text, "%s\n", cluster);
  web_reply_text (request->message,
                  reasons->len == 0 ? SOUP_STATUS_OK : SOUP_STATUS_SERVICE_UNAVAILABLE, text->str);
  web_request_finish (request);
}

void
web_views_readyz (WebRequest *request)
{
  if (web_request_wait (request))
    web_state_ask (request->context->state, write_reasons, request);
}

/* The state, with @before in front of it and @behind after it. */
static GBytes *
encode (WebContext *context, gboolean all, const char *before, const char *behind)
{
  static gsize length = 4096;
  GString *text = g_string_sized_new (length);
  g_autofree char *web = g_strdup_printf ("\"web\":{\"pages\":%u,\"requests\":%" G_GUINT64_FORMAT
                                          "}",
                                          web_events_count (context->events), context->requests);

  g_string_append (text, before);
  web_state_json_write (text, context->state, all, web);
  g_string_append (text, behind);
  length = text->len + 4096;

  return g_string_free_to_bytes (text);
}

static GBytes *
encode_event (WebContext *context, gboolean all)
{
  return encode (context, all, "event: state\ndata: ", "\n\n");
}

static void
stepped (WebState *state, gpointer user_data)
{
  WebContext *context = user_data;
  gboolean has_sums = web_events_has_pages (context->events, FALSE);
  gboolean has_all = web_events_has_pages (context->events, TRUE);
  g_autoptr (GBytes) sums = has_sums ? encode_event (context, FALSE) : NULL;
  g_autoptr (GBytes) all = has_all ? encode_event (context, TRUE) : NULL;

  web_events_send (context->events, sums, all);
  web_state_set_watched (state, has_sums || has_all);
}

void
web_views_attach (WebContext *context)
{
  web_state_add_listener (context->state, stepped, context);
}

void
web_views_detach (WebContext *context)
{
  web_state_remove_listener (context->state, context);
}

void
web_views_statistics (WebRequest *request)
{
  g_autoptr (GBytes) body = NULL;

  if (!web_request_check_query (request, no_names))
    return;
  body = encode (request->context, request->role >= WEB_ROLE_OBSERVE, "", "\n");
  web_reply_bytes (request->message, SOUP_STATUS_OK, "application/json", body);
}

void
web_views_events (WebRequest *request)
{
  WebContext *context = request->context;
  g_autoptr (GBytes) first = NULL;

  if (!web_request_check_query (request, no_names))
    return;
  if (soup_server_message_get_method (request->message) == SOUP_METHOD_HEAD)
    {
      soup_message_headers_replace (soup_server_message_get_response_headers (request->message),
                                    "Content-Type", "text/event-stream");
      soup_server_message_set_status (request->message, SOUP_STATUS_OK, NULL);
      return;
    }
  if (web_events_count (context->events) >= context->limits->pages)
    {
      web_reply_error (request->message, SOUP_STATUS_SERVICE_UNAVAILABLE, "too-many",
                       "%u pages are open (limit pages); close one, or raise it with irisd-web "
                       "--limit pages=NUMBER",
                       context->limits->pages);
      return;
    }
  first = encode_event (context, request->role >= WEB_ROLE_OBSERVE);
  web_events_add (context->events, request->message, request->token_hash, first);
  web_state_set_watched (context->state, TRUE);
}

void
web_views_history (WebRequest *request)
{
  static const char *const names[] = { "places", NULL };
  const char *places = request->query != NULL ? g_hash_table_lookup (request->query, "places")
                                              : NULL;
  GString *text;

  if (!web_request_check_query (request, names))
    return;
  text = g_string_new (NULL);
  web_history_write (request->context->history, text, g_strcmp0 (places, "1") == 0);
  web_reply_json (request->message, SOUP_STATUS_OK, text);
}
