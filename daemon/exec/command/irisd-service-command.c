/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * The service `command`: a program with its arguments, without a shell, on the cpus of the place.
 *
 * Commands run beside the workers; irisd-command-slots.c decides how many.
 */
#include "daemon/exec/command/irisd-command-options.h"
#include "daemon/exec/command/irisd-command-runner.h"
#include "daemon/exec/command/irisd-command-slots.h"
#include "daemon/exec/irisd-job.h"

static gboolean
check (const IrisWireMessage *item, GError **error)
{
  if (iris_wire_message_has (item, IRIS_WIRE_KEY_PATH))
    {
      g_set_error_literal (error, IRIS_WIRE_ERROR, IRIS_WIRE_ERROR_BAD_ARGUMENT,
                           "a command takes its input from the payload; leave the path out");
      return FALSE;
    }
  IrisWireArgsIter iter;
  IrisWireString program;
  iris_wire_args_iter_init (&iter, &item->args);
  if (iris_wire_args_iter_next (&iter, &program) && program.len > 0)
    return irisd_command_options_check (item, error);
  g_set_error_literal (error, IRIS_WIRE_ERROR, IRIS_WIRE_ERROR_BAD_ARGUMENT,
                       "a command needs arguments, the first of which names the program");
  return FALSE;
}

static gboolean
start (IrisdJob *job)
{
  return irisd_command_runner_start (job->core->commands, job);
}

static void
wake (IrisdJob *job)
{
  irisd_command_runner_wake (job->core->commands);
}

static void
leave (IrisdJob *job)
{
  irisd_command_slots_leave (job->core->slots, job);
}

const IrisdService irisd_service_command = {
  .name = "command",
  .summary = "runs a program (args) with the payload as its input; answers output and exit status",
  .output_grows = TRUE,
  .reaches_out = TRUE,
  .takes_options = TRUE,
  .check = check,
  .start = start,
  .wake = wake,
  .leave = leave,
};
