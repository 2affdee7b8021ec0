/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * A request that irisd-web answers, and what its handlers share.
 */
#include "clients/web/http/web-request.h"

#include "clients/web/http/web-reply.h"

#include <iris-client/iris-client.h>
#include <iris/wire/base/iris-wire-json-private.h>
#include <string.h>

#define COOKIE "iris-session"

WebRequest *
web_request_new (WebContext *context, SoupServerMessage *message, GHashTable *query)
{
  WebRequest *self = g_new0 (WebRequest, 1);

  self->context = context;
  self->message = g_object_ref (message);
  self->query = query != NULL ? g_hash_table_ref (query) : NULL;
  self->user = g_strdup ("");
  context->requests++;

  return self;
}

static void
web_request_free (WebRequest *self)
{
  g_object_unref (self->message);
  g_clear_pointer (&self->query, g_hash_table_unref);
  g_free (self->user);
  g_free (self->token_hash);
  g_free (self);
}

void
web_request_unref_unless_waiting (WebRequest *self)
{
  if (!self->waits)
    web_request_free (self);
}

char *
web_request_dup_session (WebRequest *self)
{
  const char *header = soup_message_headers_get_list (
      soup_server_message_get_request_headers (self->message), "Cookie");
  g_auto (GStrv) cookies = header != NULL ? g_strsplit (header, ";", 32) : NULL;

  for (guint i = 0; cookies != NULL && cookies[i] != NULL; i++)
    {
      const char *cookie = g_strstrip (cookies[i]);

      if (g_str_has_prefix (cookie, COOKIE "="))
        return g_strdup (cookie + strlen (COOKIE "="));
    }

  return NULL;
}

static void
take_token (WebRequest *self, const WebToken *token)
{
  self->role = token->role;
  g_free (self->user);
  self->user = g_strdup (token->name);
  g_free (self->token_hash);
  self->token_hash = token->role >= WEB_ROLE_OBSERVE ? g_strdup (token->hash) : NULL;
  self->expires_ms = token->expires_ms;
}

static gboolean
take_bearer (WebRequest *self, const char *authorization)
{
  const char *address = soup_server_message_get_remote_host (self->message);
  WebSessions *sessions = self->context->sessions;
  const WebToken *token = NULL;

  if (!web_sessions_may_try (sessions, address != NULL ? address : ""))
    {
      web_reply_error (self->message, WEB_STATUS_TOO_MANY_REQUESTS, "too-many",
                       "the token was not looked at: this address sent 10 wrong ones in this "
                       "minute; try again in a minute");
      return FALSE;
    }
  if (g_ascii_strncasecmp (authorization, "Bearer ", 7) == 0)
    token = web_tokens_find (self->context->tokens, authorization + 7);
  if (token != NULL)
    {
      take_token (self, token);
      return TRUE;
    }
  web_sessions_note_failure (sessions, address != NULL ? address : "");
  web_reply_error (self->message, SOUP_STATUS_UNAUTHORIZED, "login-required",
                   "the token was refused: it is unknown or has expired; make one with irisd-web "
                   "--new-token NAME");

  return FALSE;
}

gboolean
web_request_find_role (WebRequest *self)
{
  const char *authorization = soup_message_headers_get_one (
      soup_server_message_get_request_headers (self->message), "Authorization");
  g_autofree char *id = web_request_dup_session (self);
  g_autoptr (GError) error = NULL;
  const WebToken *token;

  self->role = self->context->loopback ? WEB_ROLE_SUMS : WEB_ROLE_NONE;
  if (authorization == NULL && id == NULL)
    return TRUE;
  if (!web_tokens_load (self->context->tokens, &error))
    g_printerr ("irisd-web: warning: %s\n", error->message);
  if (authorization != NULL)
    return take_bearer (self, authorization);
  token = web_sessions_find (self->context->sessions, id);
  if (token != NULL)
    {
      take_token (self, token);
      self->by_cookie = TRUE;
    }

  return TRUE;
}

/* A browser sends Origin with each POST, and a page cannot change it. */
static gboolean
is_of_another_site (WebRequest *self)
{
  SoupMessageHeaders *headers = soup_server_message_get_request_headers (self->message);
  const char *origin = soup_message_headers_get_one (headers, "Origin");
  const char *host = soup_message_headers_get_one (headers, "Host");
  g_autofree char *own = g_strconcat (self->context->tls ? "https://" : "http://", host, NULL);

  if (origin == NULL)
    return self->by_cookie;

  return g_ascii_strcasecmp (origin, own) != 0;
}

gboolean
web_request_check_post (WebRequest *self)
{
  SoupMessageHeaders *headers = soup_server_message_get_request_headers (self->message);
  const char *type = soup_message_headers_get_content_type (headers, NULL);

  if (is_of_another_site (self))
    {
      web_reply_error (self->message, SOUP_STATUS_FORBIDDEN, "not-permitted",
                       "the request was not done: its Origin is missing or that of another site; "
                       "send it from irisd-web's own page, or with a token and without Origin");
      return FALSE;
    }
  if (type == NULL || g_ascii_strcasecmp (type, "application/json") != 0)
    {
      web_reply_error (self->message, SOUP_STATUS_UNSUPPORTED_MEDIA_TYPE, "bad-type",
                       "the body was not read: its Content-Type is %s; send application/json",
                       type != NULL ? type : "missing");
      return FALSE;
    }

  return TRUE;
}

JsonNode *
web_request_read_body (WebRequest *self)
{
  g_autoptr (GBytes)
      body = soup_message_body_flatten (soup_server_message_get_request_body (self->message));
  g_autoptr (JsonParser) parser = json_parser_new_immutable ();
  g_autoptr (GError) error = NULL;
  JsonNode *root = NULL;
  gsize size;
  const char *data = g_bytes_get_data (body, &size);
  const char *fault = size > 0 ? iris_wire_json_fault (data, size) : NULL;

  if (size > 0 && fault == NULL && g_utf8_validate_len (data, size, NULL)
      && json_parser_load_from_data (parser, data, (gssize) size, &error))
    root = json_parser_get_root (parser);
  if (root != NULL && JSON_NODE_HOLDS_OBJECT (root))
    return json_node_ref (root);
  web_reply_error (self->message, SOUP_STATUS_BAD_REQUEST, "bad-request",
                   "the body was not read: %s; send a JSON object, such as {}",
                   error != NULL   ? error->message
                   : fault != NULL ? fault
                                   : "it is no JSON object");

  return NULL;
}

gboolean
web_request_check_query (WebRequest *self, const char *const *names)
{
  GHashTableIter iter;
  gpointer name;

  if (self->query == NULL)
    return TRUE;
  g_hash_table_iter_init (&iter, self->query);
  while (g_hash_table_iter_next (&iter, &name, NULL))
    if (!g_strv_contains (names, name))
      {
        g_autofree char *known = g_strjoinv (", ", (char **) names);

        web_reply_error (self->message, SOUP_STATUS_BAD_REQUEST, "bad-request",
                         "the query has “%s”, which is not known here; %s%s", (char *) name,
                         *known != '\0' ? "it may have " : "leave the query out", known);
        return FALSE;
      }

  return TRUE;
}

gboolean
web_request_wait (WebRequest *self)
{
  if (self->context->waiting >= self->context->limits->requests)
    {
      web_reply_error (self->message, SOUP_STATUS_SERVICE_UNAVAILABLE, "too-many",
                       "%u requests wait for irisd (limit requests); try again, or raise it with "
                       "irisd-web --limit requests=NUMBER",
                       self->context->waiting);
      return FALSE;
    }
  self->waits = TRUE;
  self->context->waiting++;
  soup_server_message_pause (self->message);

  return TRUE;
}

void
web_request_finish (WebRequest *self)
{
  self->context->waiting--;
  soup_server_message_unpause (self->message);
  web_request_free (self);
}

static const struct
{
  int code;
  guint status;
  const char *name;
} statuses[] = {
  { IRIS_CLIENT_ERROR_NO_SUCH_ITEM, SOUP_STATUS_NOT_FOUND, "not-found" },
  { IRIS_CLIENT_ERROR_NOT_FOUND, SOUP_STATUS_NOT_FOUND, "not-found" },
  { IRIS_CLIENT_ERROR_NO_SUCH_PLACE, SOUP_STATUS_NOT_FOUND, "not-found" },
  { IRIS_CLIENT_ERROR_NOT_CONNECTED, SOUP_STATUS_SERVICE_UNAVAILABLE, "not-connected" },
  { IRIS_CLIENT_ERROR_TIMED_OUT, SOUP_STATUS_SERVICE_UNAVAILABLE, "not-connected" },
  { IRIS_CLIENT_ERROR_DISCONNECTED, SOUP_STATUS_SERVICE_UNAVAILABLE, "not-connected" },
};

void
web_request_finish_error (WebRequest *self, const char *what, const GError *error)
{
  guint status = SOUP_STATUS_CONFLICT;
  const char *name = "refused";

  for (guint i = 0; i < G_N_ELEMENTS (statuses); i++)
    if (g_error_matches (error, IRIS_CLIENT_ERROR, statuses[i].code))
      {
        status = statuses[i].status;
        name = statuses[i].name;
      }
  web_reply_error (self->message, status, name, "%s: %s", what, error->message);
  web_request_finish (self);
}
