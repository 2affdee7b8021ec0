/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * irisctl send, submit, cancel: single items.
 */
#include "irisctl-follow.h"
#include "irisctl-items.h"
#include "irisctl-json.h"
#include "irisctl-kept.h"
#include "irisctl-table.h"
#include "irisctl.h"

#include <gio/gunixinputstream.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

static char *payload_file, *path_argument;
static gboolean pass_stdin;

GBytes *
ctl_read_stdin (GError **error)
{
  g_autoptr (GInputStream) input = g_unix_input_stream_new (STDIN_FILENO, FALSE);
  g_autoptr (GOutputStream) output = g_memory_output_stream_new_resizable ();

  if (g_output_stream_splice (output, input, G_OUTPUT_STREAM_SPLICE_CLOSE_TARGET, NULL, error) < 0)
    return NULL;

  return g_memory_output_stream_steal_as_bytes (G_MEMORY_OUTPUT_STREAM (output));
}

static GBytes *
read_file (const char *path, GError **error)
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

  ctl_terms_apply (&ctl->terms, request);
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
ctl_result_json (Ctl *ctl, const IrisResult *result, gboolean command)
{
  g_autoptr (JsonBuilder) builder = json_builder_new ();

  json_builder_begin_object (builder);
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
  if (result->item != 0)
    ctl_json_int (builder, "item", (gint64) result->item);
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
  json_builder_end_object (builder);
  ctl_json_print (builder);
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
    payload = read_file (payload_file, error);
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
  else if (!ctl_write_bytes (stdout, result->body, is_text))
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
  .takes_terms = TRUE,
  .entries = send_entries,
  .run = run_send,
};

int
ctl_show_result (Ctl *ctl, const IrisResult *result, gboolean command)
{
  return command ? ctl_show_command_result (ctl, result) : show_result (ctl, result);
}

/* Of a command, everything behind the service is the command line. */
static IrisRequest *
build_submit (const Ctl *ctl, int argc, char **argv, GError **error)
{
  g_autoptr (IrisRequest) request = NULL;
  g_autoptr (GBytes) input = NULL;

  if (!g_str_equal (argv[1], "command"))
    return build_send (ctl, argc, argv, error);
  request = iris_request_new (argv[1]);
  if (payload_file != NULL || pass_stdin)
    {
      input = payload_file != NULL ? read_file (payload_file, error) : ctl_read_stdin (error);
      if (input == NULL)
        return NULL;
      iris_request_set_payload (request, input);
    }
  iris_request_set_args (request, (const char *const *) argv + 2);
  ctl_hint (ctl, request);

  return g_steal_pointer (&request);
}

static int
show_number (Ctl *ctl, guint64 item)
{
  g_autoptr (JsonBuilder) builder = json_builder_new ();

  if (!ctl->json)
    g_print ("%" G_GUINT64_FORMAT "\n", item);
  else
    {
      json_builder_begin_object (builder);
      ctl_json_int (builder, "item", (gint64) item);
      json_builder_end_object (builder);
      ctl_json_print (builder);
    }

  return CTL_OK;
}

static int
run_submit (Ctl *ctl, int argc, char **argv)
{
  g_autoptr (IrisRequest) request = NULL;
  g_autoptr (IrisResult) result = NULL;
  g_autoptr (GError) error = NULL;
  gboolean command, detached;
  int status;

  if (argc < 2 || (argc > 3 && !g_str_equal (argv[1], "command")))
    return ctl_fail (CTL_USAGE, "submit takes a service and at most one payload; see irisctl "
                                "submit --help");
  command = g_str_equal (argv[1], "command");
  if (command && argc < 3)
    return ctl_fail (CTL_USAGE, "submit command takes a program; see irisctl submit --help");
  request = build_submit (ctl, argc, argv, &error);
  if (request == NULL)
    return ctl_fail (CTL_FAILED, "%s", error->message);
  if (!ctl_apply_keeping (request, &detached, &error))
    return ctl_fail (CTL_USAGE, "%s", error->message);
  status = ctl_connect (ctl);
  if (status != CTL_OK)
    return status;

  result = ctl_submit (ctl, request, &error);
  if (result == NULL)
    return command ? ctl_command_failure (ctl, error) : ctl_fail_with (error);

  return detached ? show_number (ctl, result->item) : ctl_show_result (ctl, result, command);
}

static const GOptionEntry submit_entries[] = {
  { "class", 'c', 0, G_OPTION_ARG_STRING, &ctl_keeping.klass,
    "What survives a crash: volatile, relaxed (on the disk within a moment) or durable (before it "
    "is accepted; default)",
    "CLASS" },
  { "key", 'k', 0, G_OPTION_ARG_STRING, &ctl_keeping.key,
    "Run it only if no item with this key is kept; else give that one's result", "KEY" },
  { "keep", 0, 0, G_OPTION_ARG_STRING, &ctl_keeping.keep,
    "Keep the result so long: seconds, or a number with m, h or d behind it", "TIME" },
  { "detach", 'D', 0, G_OPTION_ARG_NONE, &ctl_keeping.detach,
    "Print the item's number once it is accepted, and do not wait", NULL },
  { "bury", 'B', 0, G_OPTION_ARG_NONE, &ctl_keeping.bury,
    "When its last try fails, set it aside for somebody to look at (see list, kick)", NULL },
  { "file", 'f', 0, G_OPTION_ARG_FILENAME, &payload_file, "Send the content of this file", "FILE" },
  { "path", 0, 0, G_OPTION_ARG_FILENAME, &path_argument,
    "Let irisd read this file (sha256, wordcount)", "FILE" },
  { "stdin", 'i', 0, G_OPTION_ARG_NONE, &pass_stdin, "Give a command our standard input", NULL },
  { NULL },
};

const CtlCommand ctl_submit_command = {
  .name = "submit",
  .arguments = "SERVICE [PAYLOAD|-] | command PROGRAM [ARGUMENT…]",
  .summary = "have irisd keep an item, so that it survives a crash",
  .description = "irisd needs a journal for that: irisd --journal DIR.\n\n"
                 "Examples:\n  irisctl submit --detach command make -C /src all\n"
                 "  irisctl wait 7 && irisctl result 7\n"
                 "  irisctl submit --key backup-2026-02-03 --keep 7d command /usr/bin/backup\n",
  .takes_hints = TRUE,
  .takes_terms = TRUE,
  .entries = submit_entries,
  .run = run_submit,
};

static int
run_cancel (Ctl *ctl, int argc, char **argv)
{
  g_autoptr (GAsyncResult) result = NULL;
  g_autoptr (GError) error = NULL;
  gboolean was_running;
  int status;

  if (argc != 2)
    return ctl_fail (CTL_USAGE, "cancel takes an id, as --verbose shows them");
  status = ctl_connect (ctl);
  if (status != CTL_OK)
    return status;
  iris_client_cancel_async (ctl->client, argv[1], ctl->cancellable, ctl_take_result, &result);
  if (!iris_client_cancel_finish (ctl->client, ctl_wait (&result), &was_running, &error))
    return ctl_fail_with (error);

  if (ctl->json)
    {
      g_autoptr (JsonBuilder) builder = json_builder_new ();

      json_builder_begin_object (builder);
      ctl_json_string (builder, "id", argv[1]);
      ctl_json_bool (builder, "was_running", was_running);
      json_builder_end_object (builder);
      ctl_json_print (builder);
    }
  else
    g_print ("%s\n", was_running ? "was running, and was told to stop" : "will not run");

  return CTL_OK;
}

const CtlCommand ctl_cancel = {
  .name = "cancel",
  .arguments = "ID",
  .summary = "cancel an item, queued or running",
  .description = "Ids are shown by send, run and map with --verbose.\n",
  .run = run_cancel,
};
