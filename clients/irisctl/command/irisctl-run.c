/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * irisctl run: a command at a place.
 */
#include "clients/irisctl/input/irisctl-command-options.h"
#include "clients/irisctl/command/irisctl-items.h"

#include <signal.h>

/* What timeout(1) gives for the same. */
#define STATUS_TIME_LIMIT 124

static gboolean pass_stdin, at_the_end;

/* What a shell would say of the command: its exit status, 128 + signal, 127 if there is none. */
static int
command_status (const IrisResult *result)
{
  return result->signal > 0 ? 128 + result->signal : result->exit_status;
}

static gboolean output_written = TRUE;

/* Shows output as it comes. When nobody reads it any more, the command need not go on. */
static void
show_output (IrisRequest *request, gboolean is_error, GBytes *bytes, gpointer data)
{
  Ctl *ctl = data;

  if (output_written && !ctl_write_bytes (is_error ? stderr : stdout, bytes, FALSE))
    {
      output_written = FALSE;
      g_cancellable_cancel (ctl->cancellable);
    }
}

/* Of an item without a result. */
int
ctl_command_failure (const Ctl *ctl, const GError *error)
{
  if (!output_written)
    return ctl_fail (CTL_FAILED, "cannot write the command's output; it was cancelled");
  if (g_error_matches (error, IRIS_CLIENT_ERROR, IRIS_CLIENT_ERROR_NO_SUCH_COMMAND))
    return ctl_fail (127, "%s", error->message);
  if (g_error_matches (error, IRIS_CLIENT_ERROR, IRIS_CLIENT_ERROR_TIME_LIMIT))
    return ctl_fail (STATUS_TIME_LIMIT, "%s", error->message);
  if (g_cancellable_is_cancelled (ctl->cancellable))
    return ctl_fail (130, "%s", error->message);

  return ctl_fail_with (error);
}

int
ctl_show_command_result (Ctl *ctl, const IrisResult *result)
{
  gboolean written = TRUE;

  if (ctl->json)
    {
      ctl_result_json (ctl, result, TRUE);
    }
  else
    {
      written &= ctl_write_bytes (stdout, result->output,
                                  ctl_wants_newline (stdout, result->output));
      written &= ctl_write_bytes (stderr, result->errors,
                                  ctl_wants_newline (stderr, result->errors));
    }
  if (!written || !output_written)
    return ctl_fail (CTL_FAILED, "cannot write the command's output");
  if (result->truncated)
    ctl_fail (CTL_OK, "irisd cut the output at its limit: raise --limit output=BYTES, or "
                      "max-output under [limits]");

  return command_status (result);
}

static int
run_run (Ctl *ctl, int argc, char **argv)
{
  g_autoptr (IrisRequest) request = iris_request_new ("command");
  g_autoptr (GBytes) input = NULL;
  g_autoptr (IrisResult) result = NULL;
  g_autoptr (GError) error = NULL;
  int status;

  if (argc < 2)
    return ctl_fail (CTL_USAGE, "run takes a command; see irisctl run --help");
  iris_request_set_args (request, (const char *const *) argv + 1);
  ctl_hint (ctl, request);
  if (!ctl_command_check (&ctl->command, &error))
    return ctl_fail (CTL_USAGE, "run: %s", error->message);
  ctl_command_apply (&ctl->command, request);
  /* Who stops reading, as head does, has the command cancelled; it must not end us first. */
  signal (SIGPIPE, SIG_IGN);
  if (!at_the_end && !ctl->json)
    iris_request_set_output_func (request, show_output, ctl, NULL);
  if (pass_stdin)
    {
      input = ctl_read_stdin (&error);
      if (input == NULL)
        return ctl_fail (CTL_FAILED, "standard input: %s", error->message);
      iris_request_set_payload (request, input);
    }
  status = ctl_connect (ctl);
  if (status != CTL_OK)
    return status;

  result = ctl_submit (ctl, request, &error);

  return result != NULL ? ctl_show_command_result (ctl, result) : ctl_command_failure (ctl, error);
}

static const GOptionEntry run_entries[] = {
  { "at-end", 0, 0, G_OPTION_ARG_NONE, &at_the_end, "Show its output when it has ended", NULL },
  { "stdin", 'i', 0, G_OPTION_ARG_NONE, &pass_stdin, "Give it our standard input", NULL },
  { NULL },
};

const CtlCommand ctl_run = {
  .name = "run",
  .arguments = "[--] COMMAND [ARGUMENT…]",
  .summary = "run a command at a place",
  .description =
      "The command runs under irisd, bound to the place's cpus, in irisd's directory and\n"
      "environment, without a shell. Its output is shown as it comes; the exit status is\n"
      "the command's, 128 + N if signal N ended it, 127 if there is no such command, 124\n"
      "if its time was over. Ctrl-C cancels it, with all that it has started.\n\n"
      "Examples:\n  irisctl run --place l2:0 nproc\n"
      "  irisctl run --stdin -- sort -u < names\n"
      "  irisctl run -C . -E CC=clang --nice 5 --limit memory=1000000000 -t 600 -- make\n"
      "  irisctl run --retries 5 --backoff 2s --time-to-run 1m -- curl -fsS URL\n",
  .takes_hints = TRUE,
  .takes_schedule = TRUE,
  .takes_command = TRUE,
  .entries = run_entries,
  .run = run_run,
};
