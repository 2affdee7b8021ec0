/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * irisctl send: a single item.
 */
#include "clients/irisctl/output/irisctl-follow.h"
#include "clients/irisctl/command/irisctl-items.h"
#include "clients/irisctl/output/irisctl-json.h"
#include "clients/irisctl/command/irisctl-result.h"
#include "clients/irisctl/irisctl.h"

#include <gio/gunixinputstream.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

static char *payload_file, *path_argument;

GBytes *
ctl_read_stdin (GError **error)
{
  g_autoptr (GInputStream) input = g_unix_input_stream_new (STDIN_FILENO, FALSE);
  g_autoptr (GOutputStream) output = g_memory_output_stream_new_resizable ();

  if (g_output_stream_splice (output, input, G_OUTPUT_STREAM_SPLICE_CLOSE_TARGET, NULL, error) < 0)
    return NULL;

  return g_memory_output_stream_steal_as_bytes (G_MEMORY_OUTPUT_STREAM (output));
}

GBytes *
ctl_read_file (const char *path, GError **error)
{
  char *data;
  gsize size;

  return g_file_get_contents (path, &data, &size, error) ? g_bytes_new_take (data, size) : NULL;
}

/* For --after of another item, while this one waits or runs. */
static void
tell_accepted (IrisRequest *request, guint64 item, gpointer data)
{
  g_printerr ("irisctl: accepted as %" G_GUINT64_FORMAT "\n", item);
}

IrisResult *
ctl_submit (Ctl *ctl, IrisRequest *request, GError **error)
{
  g_autoptr (GAsyncResult) result = NULL;
  GAsyncResult *ending;

  ctl_schedule_apply (&ctl->schedule, request);
  ctl_follow_begin (ctl, request);
  if (ctl->verbose)
    iris_request_set_accepted_func (request, tell_accepted, NULL, NULL);
  iris_client_submit_async (ctl->client, request, ctl->cancellable, ctl_take_result, &result);
  if (ctl->verbose && iris_request_get_id (request) != NULL)
    g_printerr ("irisctl: item %s\n", iris_request_get_id (request));

  ending = ctl_wait (&result);
  ctl_follow_end ();

  return iris_client_submit_finish (ctl->client, ending, error);
}

static const char *
place_name (Ctl *ctl, int id)
{
  g_autoptr (GPtrArray) places = iris_client_get_places (ctl->client);

  for (guint i = 0; places != NULL && i < places->len; i++)
    {
      const IrisClientPlace *place = g_ptr_array_index (places, i);

      if (place->id == id)
        return place->name;
    }

  return "";
}

void
ctl_result_members (Ctl *ctl, JsonBuilder *builder, const IrisResult *result, gboolean command)
{
  if (result->item != 0)
    ctl_json_int (builder, "item", (gint64) result->item);
  ctl_json_string (builder, "home", place_name (ctl, result->home));
  ctl_json_string (builder, "place", place_name (ctl, result->place));
  ctl_json_int (builder, "worker", result->worker);
  ctl_json_bool (builder, "stolen", result->stolen);
  ctl_json_double (builder, "queued_s", result->queue_ns / 1e9);
  ctl_json_double (builder, "ran_s", result->run_ns / 1e9);
  ctl_json_int (builder, "bytes", (gint64) result->bytes);
  ctl_json_int (builder, "attempts", result->attempts);
  if (result->content_type != NULL)
    ctl_json_string (builder, "content_type", result->content_type);
  if (command)
    {
      ctl_json_int (builder, "exit_status", result->exit_status);
      ctl_json_int (builder, "signal", result->signal);
      ctl_json_bool (builder, "truncated", result->truncated);
      ctl_json_bytes (builder, "stdout", result->output);
      ctl_json_bytes (builder, "stderr", result->errors);
    }
  else
    ctl_json_bytes (builder, "body", result->body);
}

void
ctl_result_json (Ctl *ctl, const IrisResult *result, gboolean command)
{
  g_autoptr (JsonBuilder) builder = json_builder_new ();

  json_builder_begin_object (builder);
  ctl_result_members (ctl, builder, result, command);
  json_builder_end_object (builder);
  ctl_json_print (builder);
}

/* On a terminal the prompt of the shell would follow a text without a newline on the same line. */
gboolean
ctl_wants_newline (FILE *stream, GBytes *bytes)
{
  gsize size = 0;
  const char *data = bytes != NULL ? g_bytes_get_data (bytes, &size) : NULL;

  return size > 0 && isatty (fileno (stream)) && g_utf8_validate (data, (gssize) size, NULL);
}

gboolean
ctl_write_bytes (FILE *stream, GBytes *bytes, gboolean as_line)
{
  gsize size = 0;
  const char *data = bytes != NULL ? g_bytes_get_data (bytes, &size) : NULL;

  if (size > 0)
    fwrite (data, 1, size, stream);
  if (as_line && (size == 0 || data[size - 1] != '\n'))
    fputc ('\n', stream);

  return fflush (stream) == 0 && !ferror (stream);
}

static IrisRequest *
build_send (const Ctl *ctl, int argc, char **argv, GError **error)
{
  g_autoptr (IrisRequest) request = iris_request_new (argv[1]);
  g_autoptr (GBytes) payload = NULL;

  if (payload_file != NULL)
    payload = ctl_read_file (payload_file, error);
  else if (argc > 2 && g_str_equal (argv[2], "-"))
    payload = ctl_read_stdin (error);
  else
    payload = g_bytes_new (argc > 2 ? argv[2] : "", argc > 2 ? strlen (argv[2]) : 0);
  if (payload == NULL)
    return NULL;

  iris_request_set_payload (request, payload);
  if (path_argument != NULL)
    {
      g_autofree char *absolute = g_canonicalize_filename (path_argument, NULL);

      iris_request_set_path (request, absolute);
    }
  ctl_hint (ctl, request);

  return g_steal_pointer (&request);
}

static int
show_result (Ctl *ctl, const IrisResult *result)
{
  gboolean is_text = result->content_type != NULL
                     && g_str_has_prefix (result->content_type, "text/");

  if (ctl->json)
    ctl_result_json (ctl, result, FALSE);
  else if (!ctl_write_bytes (stdout, result->body,
                             is_text || ctl_wants_newline (stdout, result->body)))
    return ctl_fail (CTL_FAILED, "cannot write the result to standard output");

  return CTL_OK;
}

static int
run_send (Ctl *ctl, int argc, char **argv)
{
  g_autoptr (IrisRequest) request = NULL;
  g_autoptr (IrisResult) result = NULL;
  g_autoptr (GError) error = NULL;
  int status;

  if (argc < 2 || argc > 3)
    return ctl_fail (CTL_USAGE, "send takes a service and at most one payload; see irisctl send "
                                "--help");
  status = ctl_follow_check (ctl);
  if (status != CTL_OK)
    return status;
  request = build_send (ctl, argc, argv, &error);
  if (error != NULL)
    return ctl_fail (CTL_FAILED, "%s", error->message);
  status = ctl_connect (ctl);
  if (status != CTL_OK)
    return status;

  result = ctl_submit (ctl, request, &error);
  status = ctl_follow_status ();
  if (status != CTL_OK)
    return status;

  return result != NULL ? show_result (ctl, result) : ctl_fail_with (error);
}

static const GOptionEntry send_entries[] = {
  { "file", 'f', 0, G_OPTION_ARG_FILENAME, &payload_file, "Send the content of this file", "FILE" },
  { "path", 0, 0, G_OPTION_ARG_FILENAME, &path_argument,
    "Let irisd read this file (sha256, wordcount)", "FILE" },
  { "parts", 0, 0, G_OPTION_ARG_NONE, &ctl_follow_parts,
    "Print parts of the result as a worker process gives them", NULL },
  { NULL },
};

const CtlCommand ctl_send = {
  .name = "send",
  .arguments = "SERVICE [PAYLOAD|-]",
  .summary = "send one item and print its result",
  .description = "With “-” the payload is read from standard input.\n\n"
                 "Examples:\n  irisctl send echo hello\n"
                 "  irisctl send sha256 --path /etc/os-release\n"
                 "  irisctl send wordcount - < README.md\n"
                 "  irisctl send echo hello --place l2:1 --strict\n"
                 "  irisctl send echo tea --delay 4m\n"
                 "  irisctl send render --path /srv/scene --parts > picture\n",
  .takes_hints = TRUE,
  .takes_schedule = TRUE,
  .entries = send_entries,
  .run = run_send,
};

int
ctl_show_result (Ctl *ctl, const IrisResult *result, gboolean command)
{
  return command ? ctl_show_command_result (ctl, result) : show_result (ctl, result);
}
