/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * What a page can change: items are cancelled, kicked and buried, places are drained and staffed.
 *
 * Role, origin and type of the request are checked before (web-server.c). Each action is logged
 * with the name of its token.
 */
#include "clients/web/http/web-actions.h"

#include "clients/web/base/web-json.h"
#include "clients/web/http/web-reply.h"

#include <iris-client/iris-client.h>

static void
reply_changed (WebRequest *request, const char *what, guint changed, const gboolean *was_running)
{
  WebJson json = { .text = g_string_new (NULL) };

  g_printerr ("irisd-web: “%s”: %s %" G_GUINT64_FORMAT ": %s\n", request->user, what,
              request->number, changed > 0 ? "done" : "it was so already");
  web_json_begin (&json, NULL, '{');
  web_json_number (&json, "changed", changed);
  if (was_running != NULL)
    web_json_bool (&json, "was_running", *was_running);
  web_json_end (&json, '}');
  web_reply_json (request->message, SOUP_STATUS_OK, json.text);
  web_request_finish (request);
}

static void
fail (WebRequest *request, const char *what, const GError *error)
{
  g_autofree char *text = g_strdup_printf ("%s %" G_GUINT64_FORMAT " was not done", what,
                                           request->number);

  g_printerr ("irisd-web: “%s”: %s: %s\n", request->user, text, error->message);
  web_request_finish_error (request, text, error);
}

static void
cancelled (GObject *source, GAsyncResult *result, gpointer user_data)
{
  g_autoptr (GError) error = NULL;
  gboolean was_running = FALSE;

  if (iris_client_cancel_item_finish (IRIS_CLIENT (source), result, &was_running, &error))
    reply_changed (user_data, "cancel item", 1, &was_running);
  else
    fail (user_data, "cancel item", error);
}

static void
kicked (GObject *source, GAsyncResult *result, gpointer user_data)
{
  g_autoptr (GError) error = NULL;
  guint changed;

  if (iris_client_kick_finish (IRIS_CLIENT (source), result, &changed, &error))
    reply_changed (user_data, "kick item", changed, NULL);
  else
    fail (user_data, "kick item", error);
}

static void
buried (GObject *source, GAsyncResult *result, gpointer user_data)
{
  g_autoptr (GError) error = NULL;
  guint changed;

  if (iris_client_bury_finish (IRIS_CLIENT (source), result, &changed, &error))
    reply_changed (user_data, "bury item", changed, NULL);
  else
    fail (user_data, "bury item", error);
}

static void
drained (GObject *source, GAsyncResult *result, gpointer user_data)
{
  g_autoptr (GError) error = NULL;
  guint changed;

  if (iris_client_drain_finish (IRIS_CLIENT (source), result, &changed, &error))
    reply_changed (user_data, "drain or resume place", changed, NULL);
  else
    fail (user_data, "drain or resume place", error);
}

static void
staffed (GObject *source, GAsyncResult *result, gpointer user_data)
{
  g_autoptr (GError) error = NULL;
  guint changed;

  if (iris_client_set_workers_finish (IRIS_CLIENT (source), result, &changed, &error))
    reply_changed (user_data, "set the workers of place", changed, NULL);
  else
    fail (user_data, "set the workers of place", error);
}

/* The body's object, once the request may wait. NULL: that is answered. */
static JsonNode *
begin (WebRequest *request, gboolean is_item)
{
  g_autoptr (JsonNode) body = web_request_read_body (request);

  if (body == NULL)
    return NULL;
  if (is_item ? request->number > 0 : request->number <= G_MAXINT)
    return g_steal_pointer (&body);
  web_reply_error (request->message, SOUP_STATUS_NOT_FOUND, "not-found",
                   "there is no %s %" G_GUINT64_FORMAT, is_item ? "item" : "place",
                   request->number);

  return NULL;
}

static IrisClient *
client_of (WebRequest *request)
{
  return web_state_get_client (request->context->state);
}

void
web_actions_cancel (WebRequest *request)
{
  g_autoptr (JsonNode) body = begin (request, TRUE);

  if (body != NULL && web_request_wait (request))
    iris_client_cancel_item_async (client_of (request), request->number, NULL, cancelled, request);
}

void
web_actions_kick (WebRequest *request)
{
  g_autoptr (JsonNode) body = begin (request, TRUE);

  if (body != NULL && web_request_wait (request))
    iris_client_kick_async (client_of (request), request->number, IRIS_CLIENT_ITEM_ANY, 0, NULL,
                            kicked, request);
}

/* The member @name if its type is @type. NULL: that is answered. */
static JsonNode *
find_member (WebRequest *request, JsonNode *body, const char *name, GType type, const char *is)
{
  JsonNode *member = json_object_get_member (json_node_get_object (body), name);

  if (member != NULL && JSON_NODE_HOLDS_VALUE (member) && json_node_get_value_type (member) == type)
    return member;
  web_reply_error (request->message, SOUP_STATUS_BAD_REQUEST, "bad-request",
                   "the body has no “%s” that is %s", name, is);

  return NULL;
}

void
web_actions_bury (WebRequest *request)
{
  g_autoptr (JsonNode) body = begin (request, TRUE);
  JsonNode *reason = NULL;

  if (body == NULL)
    return;
  if (json_object_has_member (json_node_get_object (body), "reason")
      && (reason = find_member (request, body, "reason", G_TYPE_STRING, "a text")) == NULL)
    return;
  if (web_request_wait (request))
    iris_client_bury_async (client_of (request), request->number,
                            reason != NULL ? json_node_get_string (reason) : NULL, NULL, buried,
                            request);
}

void
web_actions_drain (WebRequest *request)
{
  g_autoptr (JsonNode) body = begin (request, FALSE);
  JsonNode *drain = body == NULL
                        ? NULL
                        : find_member (request, body, "drained", G_TYPE_BOOLEAN, "true or false");

  if (drain != NULL && web_request_wait (request))
    iris_client_drain_async (client_of (request), (int) request->number,
                             json_node_get_boolean (drain), NULL, drained, request);
}

void
web_actions_workers (WebRequest *request)
{
  g_autoptr (JsonNode) body = begin (request, FALSE);
  JsonNode *workers = body == NULL
                          ? NULL
                          : find_member (request, body, "workers", G_TYPE_INT64, "a number");
  gint64 n = workers != NULL ? json_node_get_int (workers) : 0;

  if (workers == NULL)
    return;
  if (n < 1 || n > G_MAXUINT)
    web_reply_error (request->message, SOUP_STATUS_BAD_REQUEST, "bad-request",
                     "the body has a “workers” of %" G_GINT64_FORMAT "; it is a number from 1", n);
  else if (web_request_wait (request))
    iris_client_set_workers_async (client_of (request), (int) request->number, (guint) n, NULL,
                                   staffed, request);
}
