/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * The pages that read /events.
 *
 * A state is encoded once for all pages of a role: each stream holds a reference to the same bytes.
 */
#include "clients/web/http/web-events.h"

#include "clients/web/http/web-connections.h"
#include "clients/web/http/web-reply.h"

typedef struct
{
  WebEvents *owner;
  WebStream *stream;
  char *token_hash;
  GList link;
} Page;

struct _WebEvents
{
  WebTokens *tokens;
  const WebLimits *limits;
  GQueue pages;
};

static void
page_free (Page *page)
{
  g_queue_unlink (&page->owner->pages, &page->link);
  web_stream_free (page->stream);
  g_free (page->token_hash);
  g_free (page);
}

static void
page_closed (WebStream *stream, gpointer user_data)
{
  page_free (user_data);
}

WebEvents *
web_events_new (WebTokens *tokens, const WebLimits *limits)
{
  WebEvents *self = g_new0 (WebEvents, 1);

  self->tokens = tokens;
  self->limits = limits;
  g_queue_init (&self->pages);

  return self;
}

void
web_events_free (WebEvents *self)
{
  while (self->pages.head != NULL)
    page_free (self->pages.head->data);
  g_free (self);
}

static GBytes *
make_head (GBytes *first)
{
  g_autoptr (SoupMessageHeaders) headers = soup_message_headers_new (SOUP_MESSAGE_HEADERS_RESPONSE);
  GString *head = g_string_new ("HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\n");
  SoupMessageHeadersIter iter;
  const char *name, *value;
  gsize size;
  const char *data = g_bytes_get_data (first, &size);

  web_reply_add_headers (headers);
  soup_message_headers_iter_init (&iter, headers);
  while (soup_message_headers_iter_next (&iter, &name, &value))
    g_string_append_printf (head, "%s: %s\r\n", name, value);
  g_string_append (head, "\r\nretry: 2000\n\n");
  g_string_append_len (head, data, (gssize) size);

  return g_string_free_to_bytes (head);
}

void
web_events_add (WebEvents *self, SoupServerMessage *message, const char *token_hash, GBytes *first)
{
  Page *page = g_new0 (Page, 1);
  g_autoptr (GBytes) head = make_head (first);

  page->owner = self;
  page->token_hash = g_strdup (token_hash);
  page->link.data = page;
  g_queue_push_tail_link (&self->pages, &page->link);
  page->stream = web_connections_take (message, page_closed, page);
  web_stream_send (page->stream, head);
}

guint
web_events_count (WebEvents *self)
{
  return self->pages.length;
}

gboolean
web_events_has_pages (WebEvents *self, gboolean all)
{
  for (GList *l = self->pages.head; l != NULL; l = l->next)
    if ((((Page *) l->data)->token_hash != NULL) == all)
      return TRUE;

  return FALSE;
}

void
web_events_send (WebEvents *self, GBytes *sums, GBytes *all)
{
  gint64 now = g_get_monotonic_time ();

  web_tokens_load (self->tokens, NULL);
  for (GList *l = self->pages.head, *next; l != NULL; l = next)
    {
      Page *page = l->data;
      gint64 since = web_stream_get_waiting_since_us (page->stream);
      GBytes *frame = page->token_hash != NULL ? all : sums;

      next = l->next;
      if ((since != 0 && now - since > (gint64) self->limits->slow_reader_ms * 1000)
          || (page->token_hash != NULL
              && web_tokens_find_hash (self->tokens, page->token_hash) == NULL))
        page_free (page);
      else if (frame != NULL)
        web_stream_send (page->stream, frame);
    }
}
