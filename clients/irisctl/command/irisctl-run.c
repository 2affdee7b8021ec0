/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * irisctl run: a command at a place.
 */
#include "clients/irisctl/command/irisctl-command.h"
#include "clients/irisctl/output/irisctl-output.h"

#include <signal.h>

static gboolean pass_stdin, at_the_end;

static int
run_run (Ctl *ctl, int argc, char **argv)
{
  g_autoptr (IrisRequest) request = iris_request_new ("command");
  g_autoptr (GBytes) input = NULL;
  g_autoptr (IrisResult) result = NULL;
  g_autoptr (GError) error = NULL;
  int status;

  iris_request_set_args (request, (const char *const *) argv + 1);
  ctl_hint (ctl, request);
  if (!ctl_command_check (&ctl->command, &error))
    return ctl_fail (CTL_USAGE, "run: %s", error->message);
  ctl_command_apply (&ctl->command, request);
  /* A reader that goes away, as head does, has the command cancelled; the signal must not end us
   * first. */
  signal (SIGPIPE, SIG_IGN);
  if (!at_the_end && !ctl->json)
    ctl_follow_output (ctl, request);
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
  if (result == NULL)
    return ctl_command_failure (ctl, error);
  status = ctl_follow_status ();

  return status == CTL_OK ? ctl_show_command_result (ctl, result) : status;
}

static const GOptionEntry run_entries[] = {
  { "at-end", 0, 0, G_OPTION_ARG_NONE, &at_the_end,
    "Show its output when it has ended, not as it comes", NULL },
  { "stdin", 'i', 0, G_OPTION_ARG_NONE, &pass_stdin, "Give it this standard input", NULL },
  { NULL },
};

const CtlCommand ctl_run = {
  .name = "run",
  .arguments = "[--] COMMAND [ARGUMENT…]",
  .summary = "run a command at a place",
  .description =
      "The command runs under irisd, bound to the place's cpus, in irisd's directory\n"
      "and environment, without a shell. Its output is shown as it comes; the exit\n"
      "status is the command's, 128 + N if signal N ended it, 127 if there is no such\n"
      "command, 124 if its time was over. Ctrl-C cancels it, with all that it has\n"
      "started.\n\n"
      "Examples:\n"
      "  irisctl run --place l2:0 nproc\n"
      "  irisctl run --stdin -- sort -u < names\n"
      "  irisctl run -C . -E CC=clang --nice 5 --limit memory=1000000000 -t 600 -- make\n"
      "  irisctl run --retries 5 --backoff 2s --time-to-run 1m -- curl -fsS URL\n",
  .takes_hints = TRUE,
  .takes_schedule = TRUE,
  .takes_command = TRUE,
  .operand = CTL_OPERAND_COMMAND,
  .least = 1,
  .most = CTL_ANY,
  .takes = "a command",
  .options_end = 1,
  .entries = run_entries,
  .run = run_run,
};
