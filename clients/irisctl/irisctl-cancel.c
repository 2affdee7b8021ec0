/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * irisctl cancel: items that somebody else sent.
 */
#include "irisctl-command.h"
#include "irisctl-json.h"

typedef struct
{
  gboolean done;
  gboolean found;
  gboolean was_running;
  GError *error;
} Cancelled;

static void
cancel_ready (GObject *source, GAsyncResult *result, gpointer user_data)
{
  Cancelled *cancelled = user_data;

  cancelled->found = iris_client_cancel_finish (IRIS_CLIENT (source), result,
                                                &cancelled->was_running, &cancelled->error);
  cancelled->done = TRUE;
}

static void
as_json (JsonBuilder *json, const char *id, const Cancelled *cancelled)
{
  json_builder_begin_object (json);
  irisctl_json_string (json, "id", id);
  if (cancelled->found)
    irisctl_json_string (json, "state", cancelled->was_running ? "running" : "queued");
  else
    {
      irisctl_json_string (json, "error", iris_client_error_get_name (cancelled->error));
      irisctl_json_string (json, "message", cancelled->error->message);
    }
  json_builder_end_object (json);
}

/* Cancels one item. Returns what to exit with. */
static int
cancel_one (Irisctl *self, const char *id, JsonBuilder *json)
{
  g_autoptr (GError) error = NULL;
  Cancelled cancelled = { 0 };

  iris_client_cancel_async (self->client, id, NULL, cancel_ready, &cancelled);
  while (!cancelled.done)
    g_main_context_iteration (NULL, TRUE);
  error = cancelled.error;
  if (self->globals.json)
    as_json (json, id, &cancelled);
  if (!cancelled.found)
    {
      irisctl_complain ("%s: %s", id, error->message);
      return irisctl_exit_for (self, error);
    }
  if (!self->globals.json)
    g_print ("%s: %s\n", id,
             cancelled.was_running ? "was running, and was asked to stop"
                                   : "was queued, and will not run");
  return IRISCTL_OK;
}

int
irisctl_cancel (Irisctl *self, int argc, char **argv)
{
  g_autoptr (JsonBuilder) json = json_builder_new ();
  int worst = IRISCTL_OK;
  int status;

  if (!irisctl_parse (self, "cancel", NULL, NULL, &argc, &argv))
    return IRISCTL_USAGE;
  if (argc < 2)
    return irisctl_usage ("cancel", "say which item to cancel, by its id");
  if (!irisctl_connect (self, &status))
    return status;
  json_builder_begin_array (json);
  for (int i = 1; i < argc && worst != IRISCTL_NO_DAEMON; i++)
    {
      status = cancel_one (self, argv[i], json);
      worst = MAX (worst, status);
    }
  json_builder_end_array (json);
  if (self->globals.json)
    irisctl_json_print (json);
  return worst;
}
