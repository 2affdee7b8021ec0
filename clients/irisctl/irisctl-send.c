/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * irisctl send: one item, and what comes back.
 */
#include "irisctl-command.h"
#include "irisctl-item.h"

#include <string.h>
#include <unistd.h>

typedef struct
{
  IrisctlHint hint;
  char *file;
  char *path;
  char *content_type;
  char **args;
} SendOptions;

static void
send_options_clear (SendOptions *options)
{
  g_free (options->hint.place);
  g_free (options->file);
  g_free (options->path);
  g_free (options->content_type);
  g_strfreev (options->args);
}

G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC (SendOptions, send_options_clear)

static gboolean
parse (Irisctl *self, SendOptions *options, int *argc, char ***argv)
{
  const GOptionEntry entries[] = {
    { "file", 'f', 0, G_OPTION_ARG_FILENAME, &options->file, "Send the content of FILE", "FILE" },
    { "path", 'P', 0, G_OPTION_ARG_FILENAME, &options->path,
      "Send the name of FILE, which irisd opens itself", "FILE" },
    { "arg", 'a', 0, G_OPTION_ARG_STRING_ARRAY, &options->args,
      "Give the service an argument (may be repeated)", "TEXT" },
    { "content-type", 't', 0, G_OPTION_ARG_STRING, &options->content_type,
      "Say what the payload is", "TYPE" },
    G_OPTION_ENTRY_NULL,
  };
  int sources;

  if (!irisctl_parse (self, "send", entries, &options->hint, argc, argv))
    return FALSE;
  if (*argc < 2 || *argc > 3)
    {
      irisctl_usage ("send", "send takes a service and at most one payload");
      return FALSE;
    }
  sources = (*argc == 3) + (options->file != NULL) + (options->path != NULL);
  if (sources > 1)
    {
      irisctl_usage ("send", "a payload, --file and --path exclude each other");
      return FALSE;
    }
  return TRUE;
}

/* What the options and arguments say to work on. */
static gboolean
fill (IrisRequest *request, const SendOptions *options, const char *payload, GError **error)
{
  g_autoptr (GBytes) bytes = NULL;

  if (options->path != NULL)
    {
      g_autofree char *absolute = g_canonicalize_filename (options->path, NULL);

      iris_request_set_path (request, absolute);
      return TRUE;
    }
  if (options->file != NULL)
    {
      char *data;
      gsize size;

      if (!g_file_get_contents (options->file, &data, &size, error))
        return FALSE;
      bytes = g_bytes_new_take (data, size);
    }
  else if (payload != NULL && strcmp (payload, "-") == 0)
    bytes = irisctl_read_all (STDIN_FILENO, error);
  else
    bytes = g_bytes_new (payload, payload != NULL ? strlen (payload) : 0);
  if (bytes == NULL)
    return FALSE;
  iris_request_set_payload (request, bytes);
  return TRUE;
}

/* A line of text for people ends where the next prompt should not begin. */
static void
end_line (IrisResult *result)
{
  gsize size;
  const char *data = g_bytes_get_data (result->output, &size);

  if (size > 0 && data[size - 1] != '\n' && g_utf8_validate_len (data, size, NULL)
      && (isatty (STDOUT_FILENO) || g_strcmp0 (result->content_type, "text/plain") == 0))
    g_print ("\n");
}

static int
print_result (Irisctl *self, IrisResult *result)
{
  if (!irisctl_write (STDOUT_FILENO, result->output)
      || !irisctl_write (STDERR_FILENO, result->errors))
    return IRISCTL_FAILED;
  end_line (result);
  if (self->globals.verbose)
    irisctl_item_describe (result);
  return IRISCTL_OK;
}

int
irisctl_send (Irisctl *self, int argc, char **argv)
{
  g_auto (SendOptions) options = { { 0 } };
  g_autoptr (IrisRequest) request = NULL;
  g_autoptr (IrisResult) result = NULL;
  g_autoptr (GError) error = NULL;
  int status;

  if (!parse (self, &options, &argc, &argv))
    return IRISCTL_USAGE;
  request = iris_request_new (argv[1]);
  irisctl_apply_hint (request, &options.hint);
  iris_request_set_content_type (request, options.content_type);
  iris_request_set_args (request, (const char *const *) options.args);
  if (!fill (request, &options, argc > 2 ? argv[2] : NULL, &error))
    {
      irisctl_complain ("%s", error->message);
      return IRISCTL_FAILED;
    }
  if (!irisctl_connect (self, &status))
    return status;
  result = irisctl_submit (self, request, &error);
  if (self->globals.json)
    irisctl_item_as_json (request, result, error);
  if (result == NULL)
    return irisctl_report (self, error);
  return self->globals.json ? IRISCTL_OK : print_result (self, result);
}
