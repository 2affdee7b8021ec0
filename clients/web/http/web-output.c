/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * What an item has written: the result of one that has ended, and the output of a command that
 * runs.
 */
#include "clients/web/http/web-output.h"

#include "clients/web/base/web-json.h"
#include "clients/web/http/web-items.h"
#include "clients/web/http/web-reply.h"

#include <iris-client/iris-client.h>
#include <iris/iris.h>

/* In one answer, of each channel. */
#define MOST_OUTPUT (256 * 1024)
/* An answer with live output waits for the first part, and then takes what comes at once. */
#define FIRST_PART_MS 200
#define MORE_PARTS_MS 20
#define NO_NUMBER     G_MAXINT64

typedef struct
{
  const char *data;
  gsize size;
} Part;

/* What an answer tells of an item. */
typedef struct
{
  const IrisClientItem *item;
  const IrisResult *result; /* nullable */
  const GError *error;      /* nullable */
  Part output, errors;
  guint64 next;
  gboolean live;
  gboolean more;
} Told;

/* Its beginning, with whole characters; a live part ends where irisd ended it. TRUE if there is
 * more. */
static gboolean
write_some (WebJson *json, const char *name, Part part, gboolean live)
{
  gsize some = live ? part.size : MIN (part.size, MOST_OUTPUT);

  while (some < part.size && some > 0 && ((guchar) part.data[some] & 0xc0) == 0x80)
    some--;
  web_json_bytes (json, name, part.data, some);

  return some < part.size;
}

static void
reply (WebRequest *request, const Told *told)
{
  const IrisResult *result = told->result;
  const GError *error = told->error;
  WebJson json = { .text = g_string_new (NULL) };
  gboolean more;

  web_json_begin (&json, NULL, '{');
  web_json_number (&json, "number", request->number);
  web_json_bool (&json, "ended", result != NULL || error != NULL);
  web_json_bool (&json, "live", told->live);
  web_json_text (&json, "state", told->item->state_name);
  web_json_signed (&json, "exit_status", result != NULL ? result->exit_status : 0);
  web_json_signed (&json, "signal", result != NULL ? result->signal : 0);
  web_json_text (&json, "error", error != NULL ? iris_client_error_get_name (error) : NULL);
  web_json_text (&json, "message", error != NULL ? error->message : NULL);
  web_json_text (&json, "content_type", result != NULL ? result->content_type : NULL);
  web_json_real (&json, "queue_s", result != NULL ? (double) result->queue_ns / 1e9 : 0);
  web_json_real (&json, "run_s", result != NULL ? (double) result->run_ns / 1e9 : 0);
  more = write_some (&json, "output", told->output, told->live);
  more |= write_some (&json, "errors", told->errors, told->live);
  web_json_bool (&json, "truncated", more || told->more || (result != NULL && result->truncated));
  web_json_number (&json, "next", told->next);
  web_json_end (&json, '}');
  web_reply_json (request->message, SOUP_STATUS_OK, json.text);
  web_request_finish (request);
}

/* --- ended ------------------------------------------------------------------------------------ */

static Part
part_of (GBytes *bytes)
{
  Part part = { NULL, 0 };

  if (bytes != NULL)
    part.data = g_bytes_get_data (bytes, &part.size);

  return part;
}

static void
reply_result (WebRequest *request,
              const IrisClientItem *item,
              const IrisResult *result,
              const GError *error)
{
  gboolean is_command = result != NULL && result->output != NULL;

  reply (request, &(Told){ .item = item,
                           .result = result,
                           .error = error,
                           .output = part_of (is_command       ? result->output
                                              : result != NULL ? result->body
                                                               : NULL),
                           .errors = part_of (is_command ? result->errors : NULL) });
}

typedef struct
{
  WebRequest *request;
  IrisClientItem *item;
} Output;

/* An error of irisd or the connection, not of the item. */
static gboolean
is_no_end (const GError *error)
{
  return error->domain != IRIS_CLIENT_ERROR || error->code >= IRIS_CLIENT_ERROR_NOT_CONNECTED
         || error->code == IRIS_CLIENT_ERROR_NO_SUCH_ITEM
         || error->code == IRIS_CLIENT_ERROR_NOT_PERMITTED;
}

static void
result_came (GObject *source, GAsyncResult *async_result, gpointer user_data)
{
  Output *output = user_data;
  g_autoptr (GError) error = NULL;
  g_autoptr (IrisResult)
      result = iris_client_fetch_finish (IRIS_CLIENT (source), async_result, &error);

  if (error != NULL && is_no_end (error))
    web_request_finish_error (output->request, "the output was not read", error);
  else
    reply_result (output->request, output->item, result, error);
  iris_client_item_unref (output->item);
  g_free (output);
}

/* --- live ------------------------------------------------------------------------------------- */

/* A command is followed for a moment: what it has written from the byte that was asked for on. */
typedef struct
{
  WebRequest *request;
  IrisClientItem *item;
  GByteArray *parts[2]; /* standard output and standard error */
  guint64 next;
  GCancellable *cancellable;
  guint timer;
  gboolean came;
  gboolean more;
} Live;

static gboolean
stop_following (gpointer user_data)
{
  Live *live = user_data;

  live->timer = 0;
  g_cancellable_cancel (live->cancellable);

  return G_SOURCE_REMOVE;
}

static void
stop_after (Live *live, guint ms)
{
  g_clear_handle_id (&live->timer, g_source_remove);
  live->timer = g_timeout_add (ms, stop_following, live);
}

static void
part_came (gboolean is_error, guint64 offset, GBytes *bytes, gpointer user_data)
{
  Live *live = user_data;
  GByteArray *part = live->parts[is_error ? 1 : 0];
  gsize size;
  const guint8 *data = g_bytes_get_data (bytes, &size);

  if (g_cancellable_is_cancelled (live->cancellable))
    return;
  live->more |= offset > live->next;
  live->next = offset + size;
  g_byte_array_append (part, data, (guint) size);
  if (part->len >= MOST_OUTPUT)
    stop_after (live, 0);
  else if (!live->came)
    stop_after (live, MORE_PARTS_MS);
  live->came = TRUE;
}

static void
live_free (Live *live)
{
  g_clear_handle_id (&live->timer, g_source_remove);
  g_byte_array_unref (live->parts[0]);
  g_byte_array_unref (live->parts[1]);
  g_object_unref (live->cancellable);
  iris_client_item_unref (live->item);
  g_free (live);
}

static void
followed (GObject *source, GAsyncResult *async_result, gpointer user_data)
{
  Live *live = user_data;
  g_autoptr (GError) error = NULL;
  gboolean ok = iris_client_follow_finish (IRIS_CLIENT (source), async_result, NULL, &error);

  if (ok || g_error_matches (error, G_IO_ERROR, G_IO_ERROR_CANCELLED))
    {
      const Part output = { (const char *) live->parts[0]->data, live->parts[0]->len };
      const Part errors = { (const char *) live->parts[1]->data, live->parts[1]->len };

      reply (live->request, &(Told){ .item = live->item,
                                     .live = TRUE,
                                     .output = output,
                                     .errors = errors,
                                     .more = live->more,
                                     .next = live->next });
    }
  else
    web_request_finish_error (live->request, "the output was not read", error);
  live_free (live);
}

static void
follow (WebRequest *request, const IrisClientItem *item, guint64 from)
{
  Live *live = g_new0 (Live, 1);

  live->request = request;
  live->item = iris_client_item_ref ((IrisClientItem *) item);
  live->parts[0] = g_byte_array_new ();
  live->parts[1] = g_byte_array_new ();
  live->next = from;
  live->cancellable = g_cancellable_new ();
  stop_after (live, FIRST_PART_MS);
  iris_client_follow_async (web_state_get_client (request->context->state), request->number, from,
                            part_came, live, NULL, live->cancellable, followed, live);
}

/* --- the request ------------------------------------------------------------------------------ */

static guint64
find_from (WebRequest *request)
{
  const char *text = request->query != NULL ? g_hash_table_lookup (request->query, "from") : NULL;
  guint64 from = 0;

  if (text != NULL && !g_ascii_string_to_unsigned (text, 10, 0, NO_NUMBER - 1, &from, NULL))
    return NO_NUMBER;

  return from;
}

static void
item_for_output_came (GObject *source, GAsyncResult *result, gpointer user_data)
{
  WebRequest *request = user_data;
  g_autoptr (GError) error = NULL;
  g_autoptr (IrisClientItem) item = iris_client_show_finish (IRIS_CLIENT (source), result, &error);
  g_autoptr (IrisClient) reader = NULL;
  Output *output;

  if (item == NULL)
    {
      web_request_finish_error (request, "the output was not read", error);
      return;
    }
  if (item->ended_ms == 0 && item->state == IRIS_CLIENT_ITEM_RUNNING
      && g_str_equal (item->service, "command"))
    {
      follow (request, item, find_from (request));
      return;
    }
  if (item->ended_ms == 0)
    {
      reply (request, &(Told){ .item = item });
      return;
    }
  output = g_new0 (Output, 1);
  output->request = request;
  output->item = iris_client_item_ref (item);
  /* Freed after the answer; the result stays at irisd. */
  reader = web_state_new_reader (request->context->state);
  iris_client_fetch_async (reader, request->number, 0, NULL, result_came, output);
}

void
web_output_show (WebRequest *request)
{
  static const char *const names[] = { "from", NULL };

  if (!web_request_check_query (request, names))
    return;
  if (request->number == 0)
    web_items_reply_no_item (request);
  else if (find_from (request) == NO_NUMBER)
    web_reply_error (request->message, SOUP_STATUS_BAD_REQUEST, "bad-request",
                     "the query has a “from” that is no number of bytes");
  else if (web_request_wait (request))
    iris_client_show_async (web_state_get_client (request->context->state), request->number, 0,
                            NULL, item_for_output_came, request);
}
