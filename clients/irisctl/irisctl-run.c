/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * irisctl run: a program at a place, as if it had been started here.
 */
#include "irisctl-command.h"
#include "irisctl-item.h"

#include <unistd.h>

/* What run exits with when @error kept the program from running. */
static int
exit_for (Irisctl *self, const GError *error)
{
  int status = irisctl_exit_for (self, error);

  if (status >= IRISCTL_SIGNALLED)
    return status;
  return g_error_matches (error, IRIS_CLIENT_ERROR, IRIS_CLIENT_ERROR_NO_SUCH_COMMAND)
             ? IRISCTL_RUN_NO_COMMAND
             : IRISCTL_RUN_FAILED;
}

static int
exit_of (IrisResult *result)
{
  if (result->signal > 0)
    return IRISCTL_SIGNALLED + result->signal;
  return MAX (result->exit_status, 0);
}

static int
finish (Irisctl *self, IrisRequest *request, IrisResult *result, const GError *error)
{
  if (self->globals.json)
    irisctl_item_as_json (request, result, error);
  if (error != NULL)
    {
      irisctl_complain ("%s", error->message);
      return exit_for (self, error);
    }
  if (!self->globals.json
      && (!irisctl_write (STDOUT_FILENO, result->output)
          || !irisctl_write (STDERR_FILENO, result->errors)))
    return IRISCTL_RUN_FAILED;
  if (result->truncated)
    irisctl_complain ("the command wrote more than irisd keeps, the rest is lost; raise max-output "
                      "in irisd's configuration");
  if (self->globals.verbose)
    irisctl_item_describe (result);
  return exit_of (result);
}

int
irisctl_run (Irisctl *self, int argc, char **argv)
{
  IrisctlHint hint = { 0 };
  gboolean force_stdin = FALSE;
  gboolean no_stdin = FALSE;
  const GOptionEntry entries[] = {
    { "stdin", 'i', 0, G_OPTION_ARG_NONE, &force_stdin,
      "Pass standard input on, even from a terminal", NULL },
    { "no-stdin", 'n', 0, G_OPTION_ARG_NONE, &no_stdin, "Leave standard input alone", NULL },
    G_OPTION_ENTRY_NULL,
  };
  g_autoptr (IrisRequest) request = iris_request_new ("command");
  g_autoptr (IrisResult) result = NULL;
  g_autoptr (GError) error = NULL;
  g_autofree char *place = NULL;
  int status;

  if (!irisctl_parse (self, "run", entries, &hint, &argc, &argv))
    return IRISCTL_USAGE;
  place = hint.place;
  if (argc < 2)
    return irisctl_usage ("run", "say which program to run");
  if (force_stdin && no_stdin)
    return irisctl_usage ("run", "--stdin and --no-stdin exclude each other");
  irisctl_apply_hint (request, &hint);
  iris_request_set_args (request, (const char *const *) argv + 1);
  /* irisd first: nobody should type input for a daemon that is not there. */
  if (!irisctl_connect (self, &status))
    return IRISCTL_RUN_FAILED;
  if (!no_stdin && (force_stdin || !isatty (STDIN_FILENO)))
    {
      g_autoptr (GBytes) input = irisctl_read_all (STDIN_FILENO, &error);

      if (input == NULL)
        {
          irisctl_complain ("%s", error->message);
          return IRISCTL_RUN_FAILED;
        }
      iris_request_set_payload (request, input);
    }
  result = irisctl_submit (self, request, &error);
  return finish (self, request, result, error);
}
