/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * The HTTP side of irisd-web: where it listens, its paths, and what it refuses.
 *
 * A request passes these in order: the limits on its head, its Host, its path and method, its
 * token, its role, and for a POST its origin and type. What fails before the body has arrived is
 * answered at once and the connection closed, so that no body is read in vain.
 */
#include "clients/web/http/web-server.h"

#include "clients/web/http/web-actions.h"
#include "clients/web/http/web-assets.h"
#include "clients/web/http/web-items.h"
#include "clients/web/http/web-login.h"
#include "clients/web/http/web-output.h"
#include "clients/web/http/web-reply.h"
#include "clients/web/http/web-views.h"

#include <string.h>

struct _WebServer
{
  const WebServerOptions *options;
  WebContext context;
  SoupServer *soup;
  GTlsCertificate *certificate;
  char *url;
};

typedef struct
{
  const char *pattern; /* # stands for a number */
  gboolean post;
  WebRole role; /* WEB_ROLE_NONE: for all, also without a token beyond loopback */
  void (*handle) (WebRequest *request);
} Route;

static const Route routes[] = {
  { "/metrics", FALSE, WEB_ROLE_SUMS, web_views_metrics },
  { "/healthz", FALSE, WEB_ROLE_NONE, web_views_healthz },
  { "/readyz", FALSE, WEB_ROLE_SUMS, web_views_readyz },
  { "/session", FALSE, WEB_ROLE_NONE, web_login_show },
  { "/login", TRUE, WEB_ROLE_NONE, web_login_begin },
  { "/logout", TRUE, WEB_ROLE_NONE, web_login_end },
  { "/statistics", FALSE, WEB_ROLE_SUMS, web_views_statistics },
  { "/events", FALSE, WEB_ROLE_SUMS, web_views_events },
  { "/history", FALSE, WEB_ROLE_SUMS, web_views_history },
  { "/items", FALSE, WEB_ROLE_OBSERVE, web_items_list },
  { "/items/#", FALSE, WEB_ROLE_OBSERVE, web_items_show },
  { "/items/#/output", FALSE, WEB_ROLE_OBSERVE, web_output_show },
  { "/items/#/cancel", TRUE, WEB_ROLE_CONTROL, web_actions_cancel },
  { "/items/#/kick", TRUE, WEB_ROLE_CONTROL, web_actions_kick },
  { "/items/#/bury", TRUE, WEB_ROLE_CONTROL, web_actions_bury },
  { "/places/#/drain", TRUE, WEB_ROLE_CONTROL, web_actions_drain },
  { "/places/#/workers", TRUE, WEB_ROLE_CONTROL, web_actions_workers },
};

static gboolean
matches (const char *pattern, const char *path, guint64 *number)
{
  const char *hash = strchr (pattern, '#');
  gsize before = hash != NULL ? (gsize) (hash - pattern) : 0;
  gsize digits;
  g_autofree char *text = NULL;

  if (hash == NULL)
    return g_str_equal (pattern, path);
  if (strncmp (pattern, path, before) != 0)
    return FALSE;
  digits = strspn (path + before, "0123456789");
  text = g_strndup (path + before, digits);

  return g_str_equal (path + before + digits, hash + 1)
         && g_ascii_string_to_unsigned (text, 10, 0, G_MAXUINT64, number, NULL);
}

/* The name in Host. An address, or localhost, cannot be a name of a foreign site that was made to
 * lead here. */
static gboolean
is_own_host (WebServer *self, SoupServerMessage *message)
{
  const char *name = g_uri_get_host (soup_server_message_get_uri (message));

  return g_hostname_is_ip_address (name) || g_ascii_strcasecmp (name, "localhost") == 0
         || (self->options->hosts != NULL
             && g_strv_contains ((const char *const *) self->options->hosts, name));
}

/* Called when libsoup has read the head, whose size web-connection.c has checked. */
static void
check_head (SoupServer *soup,
            SoupServerMessage *message,
            const char *path,
            GHashTable *query,
            gpointer user_data)
{
  WebServer *self = user_data;
  const WebLimits *limits = &self->options->limits;
  SoupMessageHeaders *headers = soup_server_message_get_request_headers (message);
  g_autofree char *text = NULL;

  web_reply_add_headers (soup_server_message_get_response_headers (message));
  soup_message_headers_remove (headers, "Range");
  if (soup_message_headers_get_encoding (headers) == SOUP_ENCODING_CHUNKED)
    web_connections_refuse (self->context.connections, message, SOUP_STATUS_LENGTH_REQUIRED,
                            "bad-request",
                            "the body was not read: it comes in chunks; send its Content-Length");
  else if (soup_message_headers_get_content_length (headers) > limits->body_bytes)
    {
      text = g_strdup_printf ("the body was not read: it has more than %u bytes (limit body-bytes)",
                              limits->body_bytes);
      web_connections_refuse (self->context.connections, message,
                              SOUP_STATUS_REQUEST_ENTITY_TOO_LARGE, "too-large", text);
    }
  else if (!is_own_host (self, message))
    web_connections_refuse (self->context.connections, message, SOUP_STATUS_MISDIRECTED_REQUEST,
                            "wrong-host",
                            "the request was not done: its Host is no name of this irisd-web; use "
                            "an address, or start irisd-web with --host NAME");
}

static void
reply_bad_method (WebRequest *request, gboolean post)
{
  soup_message_headers_replace (soup_server_message_get_response_headers (request->message),
                                "Allow", post ? "POST" : "GET, HEAD");
  web_reply_error (request->message, SOUP_STATUS_METHOD_NOT_ALLOWED, "bad-method",
                   "%s is no method of this path; use %s",
                   soup_server_message_get_method (request->message), post ? "POST" : "GET");
}

static void
reply_not_permitted (WebRequest *request, WebRole role)
{
  if (request->role == WEB_ROLE_NONE)
    {
      soup_message_headers_replace (soup_server_message_get_response_headers (request->message),
                                    "WWW-Authenticate", "Bearer");
      web_reply_error (request->message, SOUP_STATUS_UNAUTHORIZED, "login-required",
                       "the request was not done: it has no token; send one, or log in");
    }
  else
    web_reply_error (request->message, SOUP_STATUS_FORBIDDEN, "not-permitted",
                     "the request was not done: this needs the role %s, and yours is %s; log in "
                     "with a token of that role",
                     web_role_get_name (role), web_role_get_name (request->role));
}

static void
answer (WebRequest *request, const char *path)
{
  const char *method = soup_server_message_get_method (request->message);
  gboolean post = method == SOUP_METHOD_POST;
  gboolean get = method == SOUP_METHOD_GET || method == SOUP_METHOD_HEAD;
  const Route *route = NULL;

  for (guint i = 0; i < G_N_ELEMENTS (routes) && route == NULL; i++)
    if (matches (routes[i].pattern, path, &request->number))
      route = &routes[i];
  if (route == NULL && (g_str_equal (path, "/") || g_str_has_prefix (path, "/page/")))
    {
      if (get)
        web_assets_reply (request, path);
      else
        reply_bad_method (request, FALSE);
    }
  else if (route == NULL)
    web_reply_error (request->message, SOUP_STATUS_NOT_FOUND, "not-found",
                     "there is no such path; begin at /");
  else if (route->post ? !post : !get)
    reply_bad_method (request, route->post);
  else if (!web_request_find_role (request))
    return;
  else if (request->role < route->role)
    reply_not_permitted (request, route->role);
  else if (!post || web_request_check_post (request))
    route->handle (request);
}

static void
take_request (SoupServer *soup,
              SoupServerMessage *message,
              const char *path,
              GHashTable *query,
              gpointer user_data)
{
  WebServer *self = user_data;
  WebRequest *request = web_request_new (&self->context, message, query);

  answer (request, path);
  web_request_unref_unless_waiting (request);
}

/* Beyond the loopback interface other machines could read and send all that goes over the wire. */
static gboolean
check_security (WebServer *self, const char *address, WebTokens *tokens, GError **error)
{
  if (self->context.loopback)
    return TRUE;
  if (!self->context.tls)
    {
      g_set_error (error, G_IO_ERROR, G_IO_ERROR_NOT_SUPPORTED,
                   "%s is beyond the loopback interface: give --tls-certificate and --tls-key, or "
                   "listen at 127.0.0.1",
                   address);
      return FALSE;
    }
  if (!web_tokens_load (tokens, error))
    return FALSE;
  if (web_tokens_count (tokens) > 0)
    return TRUE;
  g_set_error (error, G_IO_ERROR, G_IO_ERROR_NOT_SUPPORTED,
               "%s is beyond the loopback interface, and %s has no token: make one with irisd-web "
               "--new-token NAME",
               address, web_tokens_get_path (tokens));

  return FALSE;
}

static GSocketAddress *
parse_address (WebServer *self, const char *text, GError **error)
{
  g_autoptr (GSocketConnectable) parsed = g_network_address_parse (text, 0, NULL);
  g_autoptr (GInetAddress) address = NULL;
  const char *name;

  if (parsed != NULL && strrchr (text, ':') != NULL)
    {
      name = g_network_address_get_hostname (G_NETWORK_ADDRESS (parsed));
      address = g_ascii_strcasecmp (name, "localhost") == 0
                    ? g_inet_address_new_loopback (G_SOCKET_FAMILY_IPV4)
                    : g_inet_address_new_from_string (name);
    }
  if (address == NULL)
    {
      g_set_error (error, G_IO_ERROR, G_IO_ERROR_INVALID_ARGUMENT,
                   "“%s” is no address to listen at; give ADDRESS:PORT, such as 127.0.0.1:9273 or "
                   "[::1]:9273",
                   text);
      return NULL;
    }
  self->context.loopback = g_inet_address_get_is_loopback (address);

  return g_inet_socket_address_new (address,
                                    g_network_address_get_port (G_NETWORK_ADDRESS (parsed)));
}

static gboolean
set_certificate (WebServer *self, const WebServerOptions *options, GError **error)
{
  if (options->tls_certificate == NULL && options->tls_key == NULL)
    return TRUE;
  if (options->tls_certificate == NULL || options->tls_key == NULL)
    {
      g_set_error (error, G_IO_ERROR, G_IO_ERROR_INVALID_ARGUMENT,
                   "--tls-certificate and --tls-key belong together; give both");
      return FALSE;
    }
  self->certificate = g_tls_certificate_new_from_files (options->tls_certificate, options->tls_key,
                                                        error);
  if (self->certificate == NULL)
    {
      g_prefix_error (error, "%s or %s cannot be used: ", options->tls_certificate,
                      options->tls_key);
      return FALSE;
    }
  self->context.tls = TRUE;

  return TRUE;
}

static gboolean
listen_at (WebServer *self, const WebServerOptions *options, WebTokens *tokens, GError **error)
{
  g_autoptr (GSocketAddress) address = parse_address (self, options->address, error);
  g_autoptr (GSocketAddress) used = NULL;
  g_autofree char *text = NULL;

  if (address == NULL || !set_certificate (self, options, error)
      || !check_security (self, options->address, tokens, error))
    return FALSE;
  self->context.connections = web_connections_new (self->soup, &options->limits, self->certificate);
  used = web_connections_listen (self->context.connections, address, error);
  if (used == NULL)
    {
      g_prefix_error (error, "%s cannot be listened at: ", options->address);
      return FALSE;
    }
  text = g_socket_connectable_to_string (G_SOCKET_CONNECTABLE (used));
  self->url = g_strdup_printf ("%s://%s/", self->context.tls ? "https" : "http", text);

  return TRUE;
}

WebServer *
web_server_new (const WebServerOptions *options,
                WebTokens *tokens,
                WebState *state,
                WebHistory *history,
                GError **error)
{
  g_autoptr (WebServer) self = g_new0 (WebServer, 1);

  self->options = options;
  self->soup = soup_server_new ("server-header", "irisd-web", NULL);
  self->context.limits = &options->limits;
  self->context.tokens = tokens;
  self->context.state = state;
  self->context.history = history;
  self->context.exports = options->exports;
  self->context.sessions = web_sessions_new (tokens, options->limits.sessions);
  self->context.events = web_events_new (tokens, &options->limits);
  soup_server_add_early_handler (self->soup, NULL, check_head, self, NULL);
  soup_server_add_handler (self->soup, NULL, take_request, self, NULL);
  web_views_attach (&self->context);
  if (!listen_at (self, options, tokens, error))
    return NULL;

  return g_steal_pointer (&self);
}

void
web_server_free (WebServer *self)
{
  web_views_detach (&self->context);
  soup_server_disconnect (self->soup);
  web_events_free (self->context.events);
  web_sessions_free (self->context.sessions);
  g_clear_pointer (&self->context.connections, web_connections_free);
  g_clear_object (&self->certificate);
  g_object_unref (self->soup);
  g_free (self->url);
  g_free (self);
}

const char *
web_server_get_url (WebServer *self)
{
  return self->url;
}
