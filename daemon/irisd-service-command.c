/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * The service `command`: a program with its arguments, without a shell, on the cpus of the place.
 *
 * A worker is a cpu slot: it is occupied as long as its command runs.
 */
#include "irisd-job.h"
#include "irisd-process.h"
#include "irisd-text.h"

#include <iris/place/iris-place-private.h>

/* Characters of a program's name that a sentence repeats. */
#define MAX_QUOTED 200

static gboolean
check (const IrisWireMessage *item, GError **error)
{
  if (iris_wire_message_has (item, IRIS_WIRE_KEY_PATH))
    {
      g_set_error_literal (error, IRIS_WIRE_ERROR, IRIS_WIRE_ERROR_BAD_ARGUMENT,
                           "a command takes its input from the payload: leave the path out");
      return FALSE;
    }
  IrisWireArgsIter iter;
  IrisWireString program;
  iris_wire_args_iter_init (&iter, &item->args);
  if (iris_wire_args_iter_next (&iter, &program) && program.len > 0)
    return TRUE;
  g_set_error_literal (error, IRIS_WIRE_ERROR, IRIS_WIRE_ERROR_BAD_ARGUMENT,
                       "a command needs arguments, the first of which names the program");
  return FALSE;
}

static gboolean
must_stop (gpointer job)
{
  return irisd_job_must_stop (job);
}

static gboolean
must_stop_now (gpointer user_data)
{
  IrisdJob *job = user_data;
  return irisd_core_get_phase (job->core) == IRISD_PHASE_STOPPING;
}

static gboolean
is_missing (const GError *error)
{
  return g_error_matches (error, G_SPAWN_ERROR, G_SPAWN_ERROR_NOENT)
         || g_error_matches (error, G_IO_ERROR, G_IO_ERROR_NOT_FOUND)
         || g_error_matches (error, G_SPAWN_ERROR, G_SPAWN_ERROR_NOTDIR);
}

static gboolean
is_refused (const GError *error)
{
  return g_error_matches (error, G_SPAWN_ERROR, G_SPAWN_ERROR_ACCES)
         || g_error_matches (error, G_SPAWN_ERROR, G_SPAWN_ERROR_PERM)
         || g_error_matches (error, G_SPAWN_ERROR, G_SPAWN_ERROR_NOEXEC)
         || g_error_matches (error, G_SPAWN_ERROR, G_SPAWN_ERROR_ISDIR)
         || g_error_matches (error, G_IO_ERROR, G_IO_ERROR_PERMISSION_DENIED);
}

static void
fail_to_start (IrisdJob *job, const GError *error)
{
  g_autofree char *name = irisd_text_quote (job->args[0], -1, MAX_QUOTED);
  if (is_missing (error))
    irisd_job_fail (job, IRIS_WIRE_ERROR_NO_SUCH_COMMAND,
                    "there is no program “%s” where irisd looks for one (its PATH)", name);
  else if (is_refused (error))
    irisd_job_fail (job, IRIS_WIRE_ERROR_NO_SUCH_COMMAND, "“%s” cannot be run: %s", name,
                    error->message);
  else
    irisd_job_fail (job, IRIS_WIRE_ERROR_SERVICE_FAILED, "“%s” could not be started: %s", name,
                    error->message);
}

static void
take_end (IrisdJob *job, IrisdProcessEnd *end, gsize input_size)
{
  job->result.bytes = input_size + end->out->len + end->err->len;
  job->result.exit_status = end->exit_status;
  job->result.signal = end->signal;
  if (end->stopped)
    {
      irisd_job_fail_stopped (job);
      return;
    }
  job->result.stdout_length = end->out->len;
  job->result.truncated = end->truncated;
  g_byte_array_append (end->out, end->err->data, end->err->len);
  gsize size = end->out->len;
  irisd_job_take_result (job, g_byte_array_free (g_steal_pointer (&end->out), FALSE), size,
                         "application/octet-stream");
}

static void
run (IrisdJob *job)
{
  IrisdSleeper sleeper;
  if (!irisd_running_enter (&job->core->running, &sleeper, job))
    {
      irisd_job_fail (job, IRIS_WIRE_ERROR_SERVICE_FAILED,
                      "irisd has no file descriptor left: raise its limit with ulimit -n");
      return;
    }

  cpu_set_t cpus;
  const IrisWireFrame input = irisd_job_get_payload (job);
  const IrisdProcessPlan plan = {
    .argv = (const char *const *) job->args,
    .cpus = iris_place_get_cpu_set (job->core->infos[job->place].place, &cpus) ? &cpus : NULL,
    .file_limit = &job->core->file_limit,
    .input = input.data,
    .input_size = input.size,
    .max_output = job->core->config->limits.max_output,
    .kill_grace_ms = (guint) job->core->config->limits.kill_grace_ms,
    .wake_fd = sleeper.fd,
    .must_stop = must_stop,
    .must_stop_now = must_stop_now,
    .user_data = job,
  };
  g_auto (IrisdProcessEnd) end = { 0 };
  g_autoptr (GError) error = NULL;
  if (irisd_process_run (&plan, &end, &error))
    take_end (job, &end, input.size);
  else
    fail_to_start (job, error);
  irisd_running_leave (&job->core->running, &sleeper);
}

const IrisdService irisd_service_command = {
  .name = "command",
  .summary = "runs a program (args) with the payload as its input; answers output and exit status",
  .output_grows = TRUE,
  .reaches_out = TRUE,
  .check = check,
  .run = run,
};
