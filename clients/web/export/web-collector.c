/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * An OTLP/HTTP collector: one request after the other.
 *
 * Which answers are final, and which are not, is in the OpenTelemetry Protocol 1.x, "OTLP/HTTP
 * Response": 429, 502, 503, 504 and no answer at all may be tried again, nothing else may. A
 * collector may be slow or hostile: a request has a time for all of it, and a body is read up to a
 * bound.
 */
#include "clients/web/export/web-collector.h"
#include <iris/wire/base/iris-wire-json-private.h>

#include <json-glib/json-glib.h>
#include <libsoup/soup.h>
#include <string.h>
#include <sys/stat.h>

#define USUAL_PATH  "/v1/traces"
#define MOST_ANSWER 65536

#define TOO_MANY_REQUESTS 429 /* libsoup has no name for it */

typedef struct
{
  WebCollector *collector; /* NULL when it is freed */
  SoupMessage *message;
  GCancellable *cancellable;
  guint timer;
  gboolean late;
  char *body;
  WebCollectorDone done;
  gpointer user_data;
} Request;

struct _WebCollector
{
  GUri *uri;
  char *url;
  char *headers;
  guint answer_ms;
  SoupSession *session;
  Request *request;
};

static gboolean
is_loopback (GUri *uri)
{
  g_autoptr (GInetAddress) address = g_inet_address_new_from_string (g_uri_get_host (uri));

  return address != NULL ? g_inet_address_get_is_loopback (address)
                         : g_str_equal (g_uri_get_host (uri), "localhost");
}

/* Those that belong to the request itself. */
static gboolean
is_own_header (const char *name)
{
  static const char *const own[] = { "Connection", "Content-Length", "Content-Type", "Host",
                                     "Transfer-Encoding" };

  for (guint i = 0; i < G_N_ELEMENTS (own); i++)
    if (g_ascii_strcasecmp (name, own[i]) == 0)
      return TRUE;

  return FALSE;
}

static gboolean
is_header (const char *name, const char *value)
{
  const char *const token = "!#$%&'*+-.^_`|~";

  if (*name == '\0' || is_own_header (name))
    return FALSE;
  for (const char *c = name; *c != '\0'; c++)
    if (!g_ascii_isalnum (*c) && strchr (token, *c) == NULL)
      return FALSE;
  for (const char *c = value; *c != '\0'; c++)
    if (g_ascii_iscntrl (*c) && *c != '\t')
      return FALSE;

  return TRUE;
}

/* Has a secret in it, as a rule. */
static gboolean
check_rights (const char *path, GError **error)
{
  struct stat st;

  if (stat (path, &st) == 0 && (st.st_mode & 027) != 0)
    {
      g_set_error (error, G_IO_ERROR, G_IO_ERROR_PERMISSION_DENIED,
                   "%s: other users may read or change it; chmod 600 it", path);
      return FALSE;
    }

  return TRUE;
}

/* Lines “Name: value”; @to is NULL to check them only. The file is read for each request, so a new
 * token needs no restart. */
static gboolean
read_headers (WebCollector *self, SoupMessageHeaders *to, GError **error)
{
  g_autofree char *text = NULL;
  g_auto (GStrv) lines = NULL;

  if (self->headers == NULL)
    return TRUE;
  if (!check_rights (self->headers, error)
      || !g_file_get_contents (self->headers, &text, NULL, error))
    return FALSE;
  lines = g_strsplit (text, "\n", -1);
  for (guint i = 0; lines[i] != NULL; i++)
    {
      char *line = g_strstrip (lines[i]), *colon = strchr (line, ':');

      if (*line == '\0' || *line == '#')
        continue;
      if (colon != NULL)
        *colon = '\0';
      if (colon == NULL || !is_header (line, g_strstrip (colon + 1)))
        {
          g_set_error (error, G_IO_ERROR, G_IO_ERROR_INVALID_DATA,
                       "%s: line %u is no header to add; write it like Authorization: Bearer TOKEN",
                       self->headers, i + 1);
          return FALSE;
        }
      if (to != NULL)
        soup_message_headers_replace (to, line, colon + 1);
    }

  return TRUE;
}

static gboolean
take_url (WebCollector *self, const char *url, GError **error)
{
  g_autoptr (GError) local = NULL;
  const char *scheme;

  self->uri = g_uri_parse (url, SOUP_HTTP_URI_FLAGS, &local);
  scheme = self->uri != NULL ? g_uri_get_scheme (self->uri) : "";
  if ((!g_str_equal (scheme, "http") && !g_str_equal (scheme, "https"))
      || *g_uri_get_host (self->uri) == '\0')
    {
      g_set_error (error, G_IO_ERROR, G_IO_ERROR_INVALID_ARGUMENT,
                   "“%s” is no address of a collector%s%s; write it like http://127.0.0.1:4318",
                   url, local != NULL ? ": " : "", local != NULL ? local->message : "");
      return FALSE;
    }
  if (g_str_equal (scheme, "http") && self->headers != NULL && !is_loopback (self->uri))
    {
      g_set_error (error, G_IO_ERROR, G_IO_ERROR_INVALID_ARGUMENT,
                   "“%s” would send the headers of %s so that others can read them; use https://",
                   url, self->headers);
      return FALSE;
    }
  if (strlen (g_uri_get_path (self->uri)) <= 1)
    {
      GUri *with_path = soup_uri_copy (self->uri, SOUP_URI_PATH, USUAL_PATH, SOUP_URI_NONE);

      g_uri_unref (self->uri);
      self->uri = with_path;
    }
  self->url = g_uri_to_string (self->uri);

  return TRUE;
}

WebCollector *
web_collector_new (const char *url,
                   const char *headers,
                   const char *ca,
                   guint answer_ms,
                   GError **error)
{
  g_autoptr (WebCollector) self = g_new0 (WebCollector, 1);
  g_autoptr (GTlsDatabase) database = NULL;

  self->headers = g_strdup (headers);
  self->answer_ms = answer_ms;
  if (!take_url (self, url, error) || !read_headers (self, NULL, error))
    return NULL;
  if (ca != NULL)
    {
      g_autofree char *absolute = g_canonicalize_filename (ca, NULL);

      database = g_tls_file_database_new (absolute, error);
      if (database == NULL)
        {
          g_prefix_error (error, "%s: ", ca);
          return NULL;
        }
    }
  self->session = soup_session_new_with_options ("user-agent", "irisd-web", NULL);
  if (database != NULL)
    soup_session_set_tls_database (self->session, database);

  return g_steal_pointer (&self);
}

void
web_collector_free (WebCollector *self)
{
  if (self->request != NULL)
    {
      self->request->collector = NULL;
      g_cancellable_cancel (self->request->cancellable);
    }
  g_clear_object (&self->session);
  g_clear_pointer (&self->uri, g_uri_unref);
  g_free (self->headers);
  g_free (self->url);
  g_free (self);
}

const char *
web_collector_get_url (WebCollector *self)
{
  return self->url;
}

/* Takes the message. Frees the request, so that @done may send the next one. */
static void
finish (Request *request, WebCollectorAnswer answer)
{
  WebCollector *self = request->collector;

  if (request->timer != 0)
    g_source_remove (request->timer);
  g_clear_object (&request->message);
  g_object_unref (request->cancellable);
  g_free (request->body);
  if (self != NULL)
    {
      self->request = NULL;
      request->done (&answer, request->user_data);
    }
  g_free (answer.message);
  g_free (request);
}

/* No answer is as good as 503. */
static void
fail (Request *request, const GError *error)
{
  char *message = request->late ? g_strdup ("it did not answer in time")
                                : g_strdup (error->message);

  finish (request, (WebCollectorAnswer){ .outcome = WEB_COLLECTOR_LATER, .message = message });
}

static guint
get_retry_after (SoupMessage *message)
{
  const char *value = soup_message_headers_get_one (soup_message_get_response_headers (message),
                                                    "Retry-After");
  guint64 seconds = 0;

  /* A date is not worth a clock: the pause of our own is used. */
  if (value == NULL || !g_ascii_string_to_unsigned (value, 10, 0, G_MAXUINT, &seconds, NULL))
    return 0;

  return (guint) seconds;
}

/* A 64-bit integer is a text or a number. */
static guint64
read_count (JsonNode *node)
{
  gint64 value = 0;

  if (node != NULL && JSON_NODE_HOLDS_VALUE (node))
    {
      if (json_node_get_value_type (node) == G_TYPE_STRING)
        value = g_ascii_strtoll (json_node_get_string (node), NULL, 10);
      else if (json_node_get_value_type (node) == G_TYPE_INT64)
        value = json_node_get_int (node);
    }

  return value > 0 ? (guint64) value : 0;
}

/* An answer of 2xx with spans that were not taken. */
static void
read_partial_success (const char *text, gsize size, WebCollectorAnswer *answer)
{
  g_autoptr (JsonParser) parser = json_parser_new_immutable ();
  JsonNode *node;
  JsonObject *partial;

  if (!g_utf8_validate_len (text, size, NULL) || iris_wire_json_fault (text, size) != NULL
      || !json_parser_load_from_data (parser, text, (gssize) size, NULL))
    return;
  node = json_parser_get_root (parser);
  if (node == NULL || !JSON_NODE_HOLDS_OBJECT (node))
    return;
  node = json_object_get_member (json_node_get_object (node), "partialSuccess");
  if (node == NULL || !JSON_NODE_HOLDS_OBJECT (node))
    return;
  partial = json_node_get_object (node);
  answer->rejected = read_count (json_object_get_member (partial, "rejectedSpans"));
  if (answer->rejected > 0)
    answer->message = g_strdup (
        json_object_get_string_member_with_default (partial, "errorMessage", ""));
}

static gboolean
may_be_tried_again (guint status)
{
  return status == TOO_MANY_REQUESTS || status == SOUP_STATUS_BAD_GATEWAY
         || status == SOUP_STATUS_SERVICE_UNAVAILABLE || status == SOUP_STATUS_GATEWAY_TIMEOUT;
}

static void
body_came (GObject *source, GAsyncResult *result, gpointer user_data)
{
  Request *request = user_data;
  const guint status = soup_message_get_status (request->message);
  WebCollectorAnswer what = { .outcome = WEB_COLLECTOR_TAKEN };
  g_autoptr (GError) error = NULL;
  gsize size = 0;

  if (!g_input_stream_read_all_finish (G_INPUT_STREAM (source), result, &size, &error)
      && SOUP_STATUS_IS_SUCCESSFUL (status))
    {
      fail (request, error);
      return;
    }
  if (SOUP_STATUS_IS_SUCCESSFUL (status))
    {
      read_partial_success (request->body, size, &what);
    }
  else
    {
      what.outcome = may_be_tried_again (status) ? WEB_COLLECTOR_LATER : WEB_COLLECTOR_REFUSED;
      what.retry_after_s = get_retry_after (request->message);
      what.message = g_strdup_printf ("it answers %u %s", status,
                                      soup_message_get_reason_phrase (request->message));
    }
  finish (request, what);
}

static void
head_came (GObject *source, GAsyncResult *result, gpointer user_data)
{
  Request *request = user_data;
  g_autoptr (GError) error = NULL;
  g_autoptr (GInputStream)
      stream = soup_session_send_finish (SOUP_SESSION (source), result, &error);

  if (stream == NULL)
    {
      fail (request, error);
      return;
    }
  request->body = g_malloc (MOST_ANSWER);
  g_input_stream_read_all_async (stream, request->body, MOST_ANSWER, G_PRIORITY_DEFAULT,
                                 request->cancellable, body_came, request);
}

static gboolean
give_up (gpointer user_data)
{
  Request *request = user_data;

  request->timer = 0;
  request->late = TRUE;
  g_cancellable_cancel (request->cancellable);

  return G_SOURCE_REMOVE;
}

void
web_collector_send (WebCollector *self, GBytes *body, WebCollectorDone done, gpointer user_data)
{
  Request *request = g_new0 (Request, 1);
  g_autoptr (GError) error = NULL;

  self->request = request;
  request->collector = self;
  request->done = done;
  request->user_data = user_data;
  request->cancellable = g_cancellable_new ();
  request->message = soup_message_new_from_uri (SOUP_METHOD_POST, self->uri);
  /* Headers with a secret are for this collector alone. */
  soup_message_add_flags (request->message, SOUP_MESSAGE_NO_REDIRECT);
  soup_message_set_request_body_from_bytes (request->message, "application/json", body);
  if (!read_headers (self, soup_message_get_request_headers (request->message), &error))
    {
      fail (request, error);
      return;
    }
  request->timer = g_timeout_add (self->answer_ms, give_up, request);
  soup_session_send_async (self->session, request->message, G_PRIORITY_DEFAULT,
                           request->cancellable, head_came, request);
}
