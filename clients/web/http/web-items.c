/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * Items as JSON: a list of them, and one.
 *
 * irisd filters by state, service, class, key and time; the search for a text is irisd-web's own.
 * A request looks at a bounded number of irisd's pages.
 */
#include "clients/web/http/web-items.h"

#include "clients/web/base/web-json.h"
#include "clients/web/http/web-reply.h"

#include <iris-client/iris-client.h>
#include <iris/iris.h>
#include <iris/wire/iris-wire.h>
#include <string.h>

/* What the wire says for an owner that is no user of the system. */
#define NO_USER G_MAXUINT32

#define DEFAULT_COUNT 50
#define MOST_ITEMS    200
/* Pages of irisd that one request looks at. */
#define MOST_PAGES 20

typedef struct
{
  WebRequest *request;
  IrisClientQuery *query;
  GCancellable *cancellable;
  guint timer;
  char *search; /* in lower case; NULL for none */
  guint count;
  guint pages;
  guint found;
  guint64 last; /* the number of the last item that was looked at */
  WebJson json;
} List;

static const char *const query_names[] = { "state", "service", "class", "key",    "since", "until",
                                           "order", "search",  "count", "behind", NULL };

static void
list_free (List *list)
{
  if (list->timer != 0)
    g_source_remove (list->timer);
  iris_client_query_unref (list->query);
  g_object_unref (list->cancellable);
  g_free (list->search);
  if (list->json.text != NULL)
    g_string_free (list->json.text, TRUE);
  g_free (list);
}

G_DEFINE_AUTOPTR_CLEANUP_FUNC (List, list_free)

static const char *
look_up (WebRequest *request, const char *name)
{
  return request->query != NULL ? g_hash_table_lookup (request->query, name) : NULL;
}

static void
reply_bad (WebRequest *request, const char *name, const char *value, const char *may_be)
{
  web_reply_error (request->message, SOUP_STATUS_BAD_REQUEST, "bad-request",
                   "the query has %s=%s; it may be %s", name, value, may_be);
}

/* FALSE if it is no number: that is answered. */
static gboolean
read_number (WebRequest *request, const char *name, guint64 least, guint64 most, guint64 *value)
{
  const char *text = look_up (request, name);
  g_autofree char *range = NULL;

  if (text == NULL || g_ascii_string_to_unsigned (text, 10, least, most, value, NULL))
    return TRUE;
  range = g_strdup_printf ("a number from %" G_GUINT64_FORMAT " to %" G_GUINT64_FORMAT, least,
                           most);
  reply_bad (request, name, text, range);

  return FALSE;
}

static gboolean
add_state (IrisClientQuery *query, const char *name)
{
  for (guint s = 1; s < 32; s++)
    if (g_str_equal (iris_wire_state_name (s), name))
      {
        iris_client_query_add_state (query, (IrisClientItemState) s);
        return TRUE;
      }

  return FALSE;
}

static gboolean
read_words (WebRequest *request, IrisClientQuery *query)
{
  const char *states = look_up (request, "state");
  const char *class = look_up (request, "class");
  const char *order = look_up (request, "order");
  g_auto (GStrv) names = g_strsplit (states != NULL ? states : "", ",", 32);

  for (guint i = 0; names[i] != NULL; i++)
    if (!add_state (query, names[i]))
      {
        reply_bad (
            request, "state", names[i],
            "queued, running, done, failed, cancelled, delayed, leased, buried or suspended");
        return FALSE;
      }
  if (class != NULL && !g_str_equal (class, "relaxed") && !g_str_equal (class, "durable"))
    {
      reply_bad (request, "class", class, "relaxed or durable");
      return FALSE;
    }
  if (order != NULL && !g_str_equal (order, "newest") && !g_str_equal (order, "oldest"))
    {
      reply_bad (request, "order", order, "newest or oldest");
      return FALSE;
    }
  if (class != NULL)
    iris_client_query_set_durability (
        query, g_str_equal (class, "durable") ? IRIS_DURABILITY_DURABLE : IRIS_DURABILITY_RELAXED);
  iris_client_query_set_descending (query, order == NULL || g_str_equal (order, "newest"));
  if (look_up (request, "service") != NULL)
    iris_client_query_set_service (query, look_up (request, "service"));
  if (look_up (request, "key") != NULL)
    iris_client_query_set_key_prefix (query, look_up (request, "key"));

  return TRUE;
}

/* NULL if the query cannot be read: that is answered. */
static List *
list_new (WebRequest *request)
{
  g_autoptr (List) list = g_new0 (List, 1);
  guint64 count = DEFAULT_COUNT, since = 0, until = 0, behind = 0;

  list->request = request;
  list->query = iris_client_query_new ();
  list->cancellable = g_cancellable_new ();
  if (!web_request_check_query (request, query_names) || !read_words (request, list->query)
      || !read_number (request, "count", 1, MOST_ITEMS, &count)
      || !read_number (request, "since", 0, G_MAXUINT64, &since)
      || !read_number (request, "until", 0, G_MAXUINT64, &until)
      || !read_number (request, "behind", 1, G_MAXUINT64, &behind))
    return NULL;
  iris_client_query_set_accepted (list->query, since, until);
  iris_client_query_set_with_args (list->query, TRUE);
  if (behind > 0)
    iris_client_query_set_position (list->query, behind);
  if (look_up (request, "search") != NULL && *(const char *) look_up (request, "search") != '\0')
    list->search = g_utf8_casefold (look_up (request, "search"), -1);
  iris_client_query_set_page_size (list->query, list->search != NULL ? MOST_ITEMS : (guint) count);
  list->count = (guint) count;
  list->json.text = g_string_new (NULL);

  return g_steal_pointer (&list);
}

static gboolean
contains (const char *text, const char *search)
{
  g_autofree char *folded = text != NULL ? g_utf8_casefold (text, -1) : NULL;

  return folded != NULL && strstr (folded, search) != NULL;
}

static gboolean
is_found (const IrisClientItem *item, const char *search)
{
  g_autofree char *number = g_strdup_printf ("%" G_GUINT64_FORMAT, item->number);

  if (search == NULL || contains (number, search) || contains (item->service, search)
      || contains (item->key, search) || contains (item->message, search))
    return TRUE;
  for (guint i = 0; item->args != NULL && item->args[i] != NULL; i++)
    if (contains (item->args[i], search))
      return TRUE;

  return FALSE;
}

static void
write_item (WebJson *json, const IrisClientItem *item)
{
  web_json_begin (json, NULL, '{');
  web_json_number (json, "number", item->number);
  web_json_text (json, "state", item->state_name);
  web_json_text (json, "class", item->durability);
  web_json_text (json, "service", item->service);
  web_json_text (json, "key", item->key);
  web_json_number (json, "attempts", item->attempts);
  web_json_number (json, "crashes", item->crashes);
  web_json_number (json, "bytes", item->bytes);
  web_json_signed (json, "owner", item->owner == NO_USER ? -1 : (gint64) item->owner);
  web_json_text (json, "owner_name", item->owner_name);
  web_json_signed (json, "place", item->place);
  web_json_number (json, "accepted_ms", item->accepted_ms);
  web_json_number (json, "started_ms", item->started_ms);
  web_json_number (json, "ended_ms", item->ended_ms);
  web_json_number (json, "due_ms", item->due_ms);
  web_json_number (json, "expires_ms", item->expires_ms);
  web_json_text (json, "error", item->error_name);
  web_json_text (json, "message", item->message);
  web_json_signed (json, "exit_status", item->exit_status);
  web_json_number (json, "signal", (guint64) item->signal);
  web_json_begin (json, "args", '[');
  for (guint i = 0; item->args != NULL && item->args[i] != NULL; i++)
    web_json_text (json, NULL, item->args[i]);
  web_json_end (json, ']');
  web_json_end (json, '}');
}

static void
finish_list (List *list, gboolean more)
{
  WebJson *json = &list->json;

  web_json_end (json, ']');
  web_json_number (json, "next", list->last);
  web_json_bool (json, "more", more);
  web_json_end (json, '}');
  web_reply_json (list->request->message, SOUP_STATUS_OK, g_steal_pointer (&json->text));
  web_request_finish (list->request);
  list_free (list);
}

static void
list_came (GObject *source, GAsyncResult *result, gpointer user_data)
{
  List *list = user_data;
  g_autoptr (GError) error = NULL;
  g_autoptr (GPtrArray) items = iris_client_list_next_finish (IRIS_CLIENT (source), result, &error);

  if (items == NULL && g_error_matches (error, G_IO_ERROR, G_IO_ERROR_CANCELLED))
    {
      /* Its time is over: what was found so far, and where to go on. */
      finish_list (list, TRUE);
      return;
    }
  if (items == NULL)
    {
      web_request_finish_error (list->request, "the items were not listed", error);
      list_free (list);
      return;
    }
  for (guint i = 0; i < items->len && list->found < list->count; i++)
    {
      const IrisClientItem *item = g_ptr_array_index (items, i);

      list->last = item->number;
      if (!is_found (item, list->search))
        continue;
      list->found++;
      write_item (&list->json, item);
    }
  if (items->len > 0 && list->found < list->count && ++list->pages < MOST_PAGES)
    iris_client_list_next_async (IRIS_CLIENT (source), list->query, list->cancellable, list_came,
                                 list);
  else
    finish_list (list, items->len > 0);
}

static gboolean
time_is_over (gpointer user_data)
{
  List *list = user_data;

  list->timer = 0;
  g_cancellable_cancel (list->cancellable);

  return G_SOURCE_REMOVE;
}

void
web_items_list (WebRequest *request)
{
  List *list = list_new (request);

  if (list == NULL)
    return;
  if (!web_request_wait (request))
    {
      list_free (list);
      return;
    }
  web_json_begin (&list->json, NULL, '{');
  web_json_begin (&list->json, "items", '[');
  list->timer = g_timeout_add (request->context->limits->answer_ms, time_is_over, list);
  iris_client_list_next_async (web_state_get_client (request->context->state), list->query,
                               list->cancellable, list_came, list);
}

static void
item_came (GObject *source, GAsyncResult *result, gpointer user_data)
{
  WebRequest *request = user_data;
  g_autoptr (GError) error = NULL;
  g_autoptr (IrisClientItem) item = iris_client_show_finish (IRIS_CLIENT (source), result, &error);
  WebJson json = { 0 };

  if (item == NULL)
    {
      web_request_finish_error (request, "the item was not shown", error);
      return;
    }
  json.text = g_string_new (NULL);
  write_item (&json, item);
  web_reply_json (request->message, SOUP_STATUS_OK, json.text);
  web_request_finish (request);
}

void
web_items_reply_no_item (WebRequest *request)
{
  web_reply_error (request->message, SOUP_STATUS_NOT_FOUND, "not-found",
                   "there is no item 0; the numbers begin with 1");
}

void
web_items_show (WebRequest *request)
{
  static const char *const no_names[] = { NULL };

  if (!web_request_check_query (request, no_names))
    return;
  if (request->number == 0)
    web_items_reply_no_item (request);
  else if (web_request_wait (request))
    iris_client_show_async (web_state_get_client (request->context->state), request->number, 0,
                            NULL, item_came, request);
}
