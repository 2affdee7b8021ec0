/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * The options that say how a command is to be run.
 */
#include "clients/irisctl/input/irisctl-input.h"

#include <math.h>

#define MOST_SECONDS (CTL_MAX_WAIT_S * 366.0)

GOptionEntry *
ctl_command_entries (CtlCommandOptions *options)
{
  const GOptionEntry entries[] = {
    { "directory", 'C', 0, G_OPTION_ARG_FILENAME, &options->directory, "Run it in this directory",
      "DIR" },
    { "env", 'E', 0, G_OPTION_ARG_FILENAME_ARRAY, &options->variables,
      "Set an environment variable, or remove it; may be repeated", "NAME[=VALUE]" },
    { "clear-env", 0, 0, G_OPTION_ARG_NONE, &options->clear_environment,
      "Start with an empty environment, not irisd's", NULL },
    { "nice", 'n', 0, G_OPTION_ARG_INT, &options->nice_by,
      "Lower its priority for the processor, 0 to 19", "N" },
    { "limit", 'l', 0, G_OPTION_ARG_STRING_ARRAY, &options->limits,
      "Bound cpu (seconds), memory, file-size, core, output (bytes) or files; may be repeated",
      "NAME=NUMBER" },
    { "timeout", 't', 0, G_OPTION_ARG_DOUBLE, &options->timeout_s,
      "End it when it has run this long", "SECONDS" },
    { "grace", 0, 0, G_OPTION_ARG_DOUBLE, &options->grace_s,
      "The time from SIGTERM to SIGKILL when it is ended", "SECONDS" },
    { NULL },
  };

  return g_memdup2 (entries, sizeof entries);
}

void
ctl_command_clear (CtlCommandOptions *options)
{
  g_free (options->directory);
  g_strfreev (options->variables);
  g_strfreev (options->limits);
}

static gboolean
is_time (double seconds)
{
  return seconds >= 0 && seconds <= MOST_SECONDS;
}

gboolean
ctl_command_check (const CtlCommandOptions *options, GError **error)
{
  if (options->nice_by < 0 || options->nice_by > 19)
    g_set_error (error, G_OPTION_ERROR, G_OPTION_ERROR_BAD_VALUE, "--nice takes 0 to 19, not %d",
                 options->nice_by);
  else if (!is_time (options->timeout_s)
           || (options->grace_s != CTL_NO_GRACE && !is_time (options->grace_s)))
    g_set_error_literal (error, G_OPTION_ERROR, G_OPTION_ERROR_BAD_VALUE,
                         "--timeout and --grace take seconds, a year at most");
  else
    return TRUE;

  return FALSE;
}

void
ctl_command_apply (const CtlCommandOptions *options, IrisRequest *request)
{
  if (options->directory != NULL)
    {
      g_autofree char *absolute = g_canonicalize_filename (options->directory, NULL);

      iris_request_set_directory (request, absolute);
    }
  if (options->variables != NULL || options->clear_environment)
    iris_request_set_environment (request, (const char *const *) options->variables,
                                  options->clear_environment);
  if (options->limits != NULL)
    iris_request_set_limits (request, (const char *const *) options->limits);
  iris_request_set_nice (request, options->nice_by);
  if (options->timeout_s > 0)
    iris_request_set_time_limit (request, MAX ((guint64) llround (options->timeout_s * 1000), 1));
  if (options->grace_s != CTL_NO_GRACE)
    iris_request_set_grace (request, (guint64) llround (options->grace_s * 1000));
}
