/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * The files of the page, which are in the program.
 *
 * They are looked up in the program's own resources, so no path of a request is ever one of the
 * file system.
 */
#include "clients/web/http/web-assets.h"

#include "clients/web/http/web-reply.h"

#define ROOT "/org/iris/web/page/"

static const struct
{
  const char *end;
  const char *type;
} types[] = {
  { ".css", "text/css; charset=utf-8" },
  { ".html", "text/html; charset=utf-8" },
  { ".js", "text/javascript; charset=utf-8" },
  { ".json", "application/json" },
  { ".png", "image/png" },
  { ".svg", "image/svg+xml" },
};

static const char without_page[] =
    "irisd-web was built without its page. It has /metrics, /healthz, /readyz, /statistics and "
    "/events.\n";

static const char *
find_type (const char *name)
{
  for (guint i = 0; i < G_N_ELEMENTS (types); i++)
    if (g_str_has_suffix (name, types[i].end))
      return types[i].type;

  return "application/octet-stream";
}

/* A page that has the newest file already gets none: the tag is the file's hash. */
static gboolean
is_known (WebRequest *request, const char *tag)
{
  const char *known = soup_message_headers_get_one (
      soup_server_message_get_request_headers (request->message), "If-None-Match");
  SoupMessageHeaders *headers = soup_server_message_get_response_headers (request->message);

  soup_message_headers_replace (headers, "ETag", tag);
  soup_message_headers_replace (headers, "Cache-Control", "no-cache");

  return g_strcmp0 (known, tag) == 0;
}

void
web_assets_reply (WebRequest *request, const char *path)
{
  const char *name = g_str_equal (path, "/") ? "index.html" : path + strlen ("/page/");
  g_autofree char *resource = g_strconcat (ROOT, name, NULL);
  g_autoptr (GBytes) file = g_resources_lookup_data (resource, G_RESOURCE_LOOKUP_FLAGS_NONE, NULL);
  g_autofree char *hash = NULL;
  g_autofree char *tag = NULL;

  if (file == NULL && g_str_equal (path, "/"))
    {
      web_reply_text (request->message, SOUP_STATUS_OK, without_page);
      return;
    }
  if (file == NULL)
    {
      web_reply_error (request->message, SOUP_STATUS_NOT_FOUND, "not-found",
                       "%s: the page has no such file; begin at /", path);
      return;
    }
  hash = g_compute_checksum_for_bytes (G_CHECKSUM_SHA256, file);
  tag = g_strdup_printf ("\"%.32s\"", hash);
  if (is_known (request, tag))
    soup_server_message_set_status (request->message, SOUP_STATUS_NOT_MODIFIED, NULL);
  else
    web_reply_bytes (request->message, SOUP_STATUS_OK, find_type (name), file);
}
