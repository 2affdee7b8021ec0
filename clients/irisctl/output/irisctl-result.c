/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * Results, as text or as JSON.
 */
#include "clients/irisctl/output/irisctl-output.h"

#include <string.h>
#include <unistd.h>

void
ctl_result_members (Ctl *ctl, JsonBuilder *builder, const IrisResult *result, gboolean command)
{
  if (result->item != 0)
    ctl_json_int (builder, "item", (gint64) result->item);
  ctl_json_string (builder, "home", ctl_place_name (ctl, result->home));
  if (result->node != NULL)
    {
      ctl_json_string (builder, "node", result->node);
      ctl_json_int (builder, "place", result->place);
    }
  else
    ctl_json_string (builder, "place", ctl_place_name (ctl, result->place));
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

static void
result_json (Ctl *ctl, const IrisResult *result, gboolean command)
{
  g_autoptr (JsonBuilder) builder = json_builder_new ();

  json_builder_begin_object (builder);
  ctl_result_members (ctl, builder, result, command);
  json_builder_end_object (builder);
  ctl_json_print (builder);
}

/* On a terminal the prompt of the shell would follow a text without a newline on the same line. */
static gboolean
wants_newline (FILE *stream, GBytes *bytes)
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

int
ctl_show_result (Ctl *ctl, const IrisResult *result)
{
  gboolean is_text = result->content_type != NULL
                     && g_str_has_prefix (result->content_type, "text/");

  if (ctl->json)
    result_json (ctl, result, FALSE);
  else if (!ctl_write_bytes (stdout, result->body, is_text || wants_newline (stdout, result->body)))
    return ctl_fail (CTL_FAILED,
                     "cannot write the result: standard output was closed, or its disk is full");

  return CTL_OK;
}

/* What a shell would say of the command: its exit status, 128 + signal, 127 if there is none. */
static int
command_status (const IrisResult *result)
{
  return result->signal > 0 ? 128 + result->signal : result->exit_status;
}

int
ctl_show_command_result (Ctl *ctl, const IrisResult *result)
{
  gboolean written = TRUE;

  if (ctl->json)
    {
      result_json (ctl, result, TRUE);
    }
  else
    {
      written &= ctl_write_bytes (stdout, result->output, wants_newline (stdout, result->output));
      written &= ctl_write_bytes (stderr, result->errors, wants_newline (stderr, result->errors));
    }
  if (!written)
    return ctl_fail (
        CTL_FAILED,
        "cannot write the command's output: standard output was closed, or its disk is full");
  if (result->truncated)
    ctl_fail (CTL_OK, "the output was cut at irisd's limit: raise --limit output=BYTES, or "
                      "max-output under [limits]");

  return command_status (result);
}
