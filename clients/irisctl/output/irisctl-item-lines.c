/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * What is printed of each of many items: a line of text, or of JSON.
 */
#include "clients/irisctl/output/irisctl-output.h"

#include <stdio.h>

/* Of a result that is no text. */
static void
print_size (GBytes *bytes)
{
  printf ("(%zu bytes)", g_bytes_get_size (bytes));
}

/* A result in the rest of a line; what would break the line is escaped as in C. */
static void
print_bytes (GBytes *bytes)
{
  gsize size = 0;
  const char *data = bytes != NULL ? g_bytes_get_data (bytes, &size) : NULL;

  if (size == 0)
    return;
  if (!g_utf8_validate_len (data, size, NULL))
    {
      print_size (bytes);
      return;
    }
  /* The newline that ends a text is not worth showing. */
  if (data[size - 1] == '\n')
    size--;
  for (gsize i = 0; i < size; i++)
    if (data[i] == '\n')
      fputs ("\\n", stdout);
    else if (data[i] == '\\')
      fputs ("\\\\", stdout);
    else if ((guint8) data[i] < ' ' || data[i] == 0x7f)
      printf ("\\%03o", (guint8) data[i]);
    else
      putchar (data[i]);
}

static void
print_head (guint64 line, guint64 item, const char *state)
{
  g_autofree char *number = item != 0 ? g_strdup_printf ("%" G_GUINT64_FORMAT, item)
                                      : g_strdup ("-");

  printf ("%" G_GUINT64_FORMAT "\t%s\t%s\t", line, number, state);
}

static JsonBuilder *
begin_json (guint64 line)
{
  JsonBuilder *builder = json_builder_new ();

  json_builder_begin_object (builder);
  ctl_json_int (builder, "line", (gint64) line);

  return builder;
}

static void
end_json (JsonBuilder *builder)
{
  json_builder_end_object (builder);
  ctl_json_print_line (builder);
}

void
ctl_item_line_print_number (Ctl *ctl, guint64 line, guint64 item)
{
  if (ctl->json)
    {
      g_autoptr (JsonBuilder) builder = begin_json (line);

      ctl_json_int (builder, "item", (gint64) item);
      end_json (builder);
    }
  else
    printf ("%" G_GUINT64_FORMAT "\n", item);
}

void
ctl_item_line_print_result (Ctl *ctl, guint64 line, const IrisResult *result)
{
  gboolean command = result->exit_status >= 0 || result->signal > 0;

  if (ctl->json)
    {
      g_autoptr (JsonBuilder) builder = begin_json (line);

      ctl_json_string (builder, "state", "done");
      ctl_result_members (ctl, builder, result, command);
      end_json (builder);
      return;
    }
  if (result->signal > 0 || result->exit_status > 0)
    {
      g_autofree char *state = g_strdup_printf (result->signal > 0 ? "signal %d" : "exit %d",
                                                result->signal > 0 ? result->signal
                                                                   : result->exit_status);

      print_head (line, result->item, state);
    }
  else
    print_head (line, result->item, "done");
  print_bytes (command ? result->output : result->body);
  putchar ('\n');
}

void
ctl_item_line_print_failure (Ctl *ctl, guint64 line, const GError *error)
{
  guint64 item = iris_client_error_get_item (error);
  const char *state = g_error_matches (error, IRIS_CLIENT_ERROR, IRIS_CLIENT_ERROR_CANCELLED)
                          ? "cancelled"
                          : "failed";

  if (ctl->json)
    {
      g_autoptr (JsonBuilder) builder = begin_json (line);

      if (item != 0)
        ctl_json_int (builder, "item", (gint64) item);
      ctl_json_string (builder, "state", state);
      ctl_json_string (builder, "error", iris_client_error_get_name (error));
      ctl_json_string (builder, "message", error->message);
      end_json (builder);
      return;
    }
  print_head (line, item, state);
  printf ("%s\n", error->message);
}
