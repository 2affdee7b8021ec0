/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * /session, /login and /logout.
 */
#include "clients/web/http/web-login.h"

#include "clients/web/base/web-json.h"
#include "clients/web/http/web-reply.h"

static void
reply (WebRequest *request, WebRole role, const char *name, gint64 expires_ms)
{
  WebJson json = { .text = g_string_new (NULL) };

  web_json_begin (&json, NULL, '{');
  web_json_text (&json, "role", web_role_get_name (role));
  web_json_text (&json, "name", name);
  web_json_signed (&json, "expires_ms", expires_ms);
  web_json_bool (&json, "tokens", web_tokens_count (request->context->tokens) > 0);
  web_json_end (&json, '}');
  web_reply_json (request->message, SOUP_STATUS_OK, json.text);
}

void
web_login_show (WebRequest *request)
{
  web_tokens_load (request->context->tokens, NULL);
  reply (request, request->role, request->user, request->expires_ms);
}

static void
set_cookie (WebRequest *request, const char *id, const char *more)
{
  SoupMessageHeaders *headers = soup_server_message_get_response_headers (request->message);
  g_autofree char *cookie = g_strdup_printf (
      "iris-session=%s; Path=/; HttpOnly; SameSite=Strict%s%s", id,
      request->context->tls ? "; Secure" : "", more);

  soup_message_headers_replace (headers, "Set-Cookie", cookie);
}

void
web_login_begin (WebRequest *request)
{
  WebContext *context = request->context;
  const char *address = soup_server_message_get_remote_host (request->message);
  g_autoptr (JsonNode) body = web_request_read_body (request);
  g_autoptr (GError) error = NULL;
  const WebToken *token;
  const char *text;

  if (body == NULL)
    return;
  if (!web_sessions_may_try (context->sessions, address != NULL ? address : ""))
    {
      web_reply_error (request->message, WEB_STATUS_TOO_MANY_REQUESTS, "too-many",
                       "the token was not looked at: this address sent 10 wrong ones in this "
                       "minute; try again in a minute");
      return;
    }
  if (!web_tokens_load (context->tokens, &error))
    g_printerr ("irisd-web: warning: %s\n", error->message);
  text = json_object_get_string_member_with_default (json_node_get_object (body), "token", "");
  token = text != NULL ? web_tokens_find (context->tokens, text) : NULL;
  if (token == NULL)
    {
      web_sessions_note_failure (context->sessions, address != NULL ? address : "");
      web_reply_error (request->message, SOUP_STATUS_UNAUTHORIZED, "login-required",
                       "the token was refused: it is unknown or has expired; make one with "
                       "irisd-web --new-token NAME");
      return;
    }
  set_cookie (request, web_sessions_begin (context->sessions, token), "");
  g_printerr ("irisd-web: “%s” logged in from %s, role %s\n", token->name,
              address != NULL ? address : "an unknown address", web_role_get_name (token->role));
  reply (request, token->role, token->name, token->expires_ms);
}

void
web_login_end (WebRequest *request)
{
  WebContext *context = request->context;
  g_autofree char *id = web_request_dup_session (request);

  if (id != NULL)
    web_sessions_end (context->sessions, id);
  set_cookie (request, "", "; Max-Age=0");
  reply (request, context->loopback ? WEB_ROLE_SUMS : WEB_ROLE_NONE, "", 0);
}
