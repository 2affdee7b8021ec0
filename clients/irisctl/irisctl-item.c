/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * What commands print about one item.
 */
#include "irisctl-item.h"

#include "irisctl-json.h"

#include <errno.h>
#include <unistd.h>

static void
result_as_json (JsonBuilder *json, IrisResult *result)
{
  irisctl_json_int (json, "home", result->home);
  irisctl_json_int (json, "place", result->place);
  irisctl_json_boolean (json, "stolen", result->stolen);
  irisctl_json_int (json, "worker", result->worker);
  irisctl_json_int (json, "queue-ns", (gint64) result->queue_ns);
  irisctl_json_int (json, "run-ns", (gint64) result->run_ns);
  irisctl_json_int (json, "bytes", (gint64) result->bytes);
  irisctl_json_string (json, "content-type", result->content_type);
  irisctl_json_bytes (json, "output", result->output);
  irisctl_json_bytes (json, "errors", result->errors);
  if (result->exit_status >= 0)
    irisctl_json_int (json, "exit-status", result->exit_status);
  if (result->signal > 0)
    irisctl_json_int (json, "signal", result->signal);
  if (result->truncated)
    irisctl_json_boolean (json, "truncated", TRUE);
}

/* Prints an item that has ended. */
void
irisctl_item_as_json (IrisRequest *request, IrisResult *result, const GError *error)
{
  g_autoptr (JsonBuilder) json = json_builder_new ();

  json_builder_begin_object (json);
  irisctl_json_string (json, "id", iris_request_get_id (request));
  irisctl_json_string (json, "service", iris_request_get_service (request));
  if (error != NULL)
    {
      irisctl_json_string (json, "error", iris_client_error_get_name (error));
      irisctl_json_string (json, "message", error->message);
      irisctl_json_int (json, "home", iris_client_error_get_home (error));
      irisctl_json_int (json, "place", iris_client_error_get_place (error));
    }
  else
    result_as_json (json, result);
  json_builder_end_object (json);
  irisctl_json_print (json);
}

/* Tells where and how long an item ran. */
void
irisctl_item_describe (IrisResult *result)
{
  g_autofree char *stolen = result->stolen
                                ? g_strdup_printf (", stolen from place %d", result->home)
                                : g_strdup ("");

  irisctl_complain ("ran at place %d, worker %d%s; waited %.3f ms, ran %.3f ms, %" G_GUINT64_FORMAT
                    " bytes",
                    result->place, result->worker, stolen, (double) result->queue_ns / 1e6,
                    (double) result->run_ns / 1e6, result->bytes);
}

/* Writes all of @bytes; says so if it cannot. */
gboolean
irisctl_write (int fd, GBytes *bytes)
{
  gsize size;
  const char *data = g_bytes_get_data (bytes, &size);
  gsize written = 0;

  while (written < size)
    {
      gssize n = write (fd, data + written, size - written);

      if (n < 0 && errno == EINTR)
        continue;
      if (n < 0)
        {
          irisctl_complain ("cannot write the output: %s", g_strerror (errno));
          return FALSE;
        }
      written += (gsize) n;
    }
  return TRUE;
}
