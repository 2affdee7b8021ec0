/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * Answers of irisd-web: their headers, JSON, text and errors.
 */
#include "clients/web/http/web-reply.h"

#include "clients/web/base/web-json.h"

static const struct
{
  const char *name;
  const char *value;
} headers_of_all[] = {
  { "Cache-Control", "no-store" },
  { "Connection", "close" },
  { "Content-Security-Policy",
    "default-src 'none'; script-src 'self'; style-src 'self' 'unsafe-inline'; img-src 'self' "
    "data:; connect-src 'self'; worker-src 'self'; form-action 'self'; base-uri 'none'; "
    "frame-ancestors 'none'" },
  { "Cross-Origin-Opener-Policy", "same-origin" },
  { "Cross-Origin-Resource-Policy", "same-origin" },
  { "Referrer-Policy", "no-referrer" },
  { "X-Content-Type-Options", "nosniff" },
};

const char *
web_reply_get_phrase (guint status)
{
  if (status == WEB_STATUS_TOO_MANY_REQUESTS)
    return "Too Many Requests";
  if (status == WEB_STATUS_HEADERS_TOO_LARGE)
    return "Request Header Fields Too Large";

  return soup_status_get_phrase (status);
}

void
web_reply_add_headers (SoupMessageHeaders *headers)
{
  for (guint i = 0; i < G_N_ELEMENTS (headers_of_all); i++)
    soup_message_headers_replace (headers, headers_of_all[i].name, headers_of_all[i].value);
}

void
web_reply_bytes (SoupServerMessage *message, guint status, const char *type, GBytes *body)
{
  SoupMessageHeaders *headers = soup_server_message_get_response_headers (message);

  soup_message_headers_replace (headers, "Content-Type", type);
  soup_message_body_append_bytes (soup_server_message_get_response_body (message), body);
  soup_server_message_set_status (message, status, web_reply_get_phrase (status));
}

void
web_reply_json (SoupServerMessage *message, guint status, GString *text)
{
  g_autoptr (GBytes) body = NULL;

  g_string_append_c (text, '\n');
  body = g_string_free_to_bytes (text);
  web_reply_bytes (message, status, "application/json", body);
}

void
web_reply_text (SoupServerMessage *message, guint status, const char *text)
{
  g_autoptr (GBytes) body = g_bytes_new (text, strlen (text));

  web_reply_bytes (message, status, "text/plain; charset=utf-8", body);
}

GString *
web_reply_error_text (const char *name, const char *message)
{
  WebJson json = { .text = g_string_new (NULL) };

  web_json_begin (&json, NULL, '{');
  web_json_begin (&json, "error", '{');
  web_json_text (&json, "name", name);
  web_json_text (&json, "message", message);
  web_json_end (&json, '}');
  web_json_end (&json, '}');

  return json.text;
}

void
web_reply_error (SoupServerMessage *message,
                 guint status,
                 const char *name,
                 const char *format,
                 ...)
{
  SoupMessageHeaders *headers = soup_server_message_get_response_headers (message);
  g_autofree char *text = NULL;
  va_list args;

  va_start (args, format);
  text = g_strdup_vprintf (format, args);
  va_end (args);
  if (status == SOUP_STATUS_SERVICE_UNAVAILABLE)
    soup_message_headers_replace (headers, "Retry-After", "2");
  web_reply_json (message, status, web_reply_error_text (name, text));
}
