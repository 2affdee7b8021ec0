/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * The start of a command: its pipes, its program, and the error if it fails.
 */
#include "daemon/base/irisd-text.h"
#include "daemon/exec/command/irisd-command-private.h"
#include "daemon/exec/command/irisd-command-spawn.h"

#include <iris/place/iris-place-private.h>

#include <errno.h>
#include <fcntl.h>
#include <unistd.h>

#define MAX_QUOTED 200 /* characters of a program's name in a message */

static gboolean
make_pipe (int ours_and_theirs[2], int ours)
{
  if (pipe2 (ours_and_theirs, O_CLOEXEC) != 0)
    return FALSE;
  fcntl (ours_and_theirs[ours], F_SETFL, O_NONBLOCK);
  return TRUE;
}

/* Makes the pipes; the child's ends go into @theirs. */
static gboolean
open_pipes (IrisdCommand *self, int null_fd, int theirs[3])
{
  int ends[2];
  theirs[0] = null_fd;
  if (irisd_job_get_payload (self->job).size > 0)
    {
      if (!make_pipe (ends, 1))
        return FALSE;
      theirs[0] = ends[0];
      self->watches[IRISD_COMMAND_IN].fd = ends[1];
      irisd_command_feed (self); /* input that fits the pipe need not be watched */
    }
  for (int i = 1; i <= 2; i++)
    {
      if (!make_pipe (ends, 0))
        return FALSE;
      theirs[i] = ends[1];
      self->watches[i].fd = ends[0];
    }
  return TRUE;
}

static void
fail_to_start (IrisdJob *job, IrisdSpawnStep step, int error, guint limit)
{
  g_autofree char *name = irisd_text_quote (job->args[0], -1, MAX_QUOTED);
  const char *why = g_strerror (error);
  if (step == IRISD_SPAWN_DIRECTORY)
    {
      g_autofree char *directory = irisd_text_quote (job->options->directory, -1, MAX_QUOTED);
      irisd_job_fail (job, IRIS_WIRE_ERROR_UNREADABLE_FILE,
                      "cannot enter the command's directory “%s”: %s", directory, why);
    }
  else if (step == IRISD_SPAWN_LIMIT)
    irisd_job_fail (job, IRIS_WIRE_ERROR_BAD_ARGUMENT,
                    "cannot set the limit %s, irisd's own may be lower: %s",
                    job->options->limits[limit].name, why);
  else if (step == IRISD_SPAWN_PROGRAM && (error == ENOENT || error == ENOTDIR))
    irisd_job_fail (
        job, IRIS_WIRE_ERROR_NO_SUCH_COMMAND,
        "cannot run “%s”: there is no such program in irisd's PATH; give its whole path", name);
  else if (step == IRISD_SPAWN_PROGRAM && error != ENOMEM)
    irisd_job_fail (job, IRIS_WIRE_ERROR_NO_SUCH_COMMAND, "cannot run “%s”: %s", name, why);
  else
    irisd_job_fail (job, IRIS_WIRE_ERROR_SERVICE_FAILED, "cannot start “%s”: %s%s", name, why,
                    error == EMFILE ? " (raise irisd's limit with ulimit -n)" : "");
}

/* The attempt is recorded before the process is made, and the process adds itself. Returns the name
 * of the attempt, or NULL if it is not recorded. */
static char *
begin_attempt (IrisdCommand *self, IrisdSpawnPlan *plan)
{
  IrisdCore *core = self->job->core;
  guint64 item = self->job->persistent != NULL ? self->job->id : 0;
  self->attempt = irisd_attempts_begin (core->attempts, item);
  if (self->attempt == IRISD_ATTEMPT_NONE)
    return NULL;
  plan->record_fd = irisd_attempts_get_process_fd (core->attempts, self->attempt, &plan->record_at);
  char *name = irisd_attempts_get_name (core->attempts, self->attempt);
  self->cgroup = irisd_cgroups_make (core->cgroups, name, &plan->cgroup_fd);
  return name;
}

/* The variable that identifies the processes of an attempt. A command that has no variables but its
 * own gets none. */
static char *
make_mark (const IrisdCommandOptions *options, const char *name)
{
  if (name == NULL || (options != NULL && options->clear_environment))
    return NULL;
  return g_strconcat (IRISD_ATTEMPTS_VARIABLE "=", name, NULL);
}

/* Borrows from both. irisd itself may be a command of another irisd, and have its variable. */
static GPtrArray *
join_environment (char *mark, char *const *variables)
{
  GPtrArray *all = g_ptr_array_new ();
  if (mark != NULL)
    g_ptr_array_add (all, mark);
  for (; *variables != NULL; variables++)
    if (mark == NULL || !g_str_has_prefix (*variables, IRISD_ATTEMPTS_VARIABLE "="))
      g_ptr_array_add (all, *variables);
  g_ptr_array_add (all, NULL);
  return all;
}

static gboolean
spawn (IrisdCommand *self, int null_fd)
{
  IrisdJob *job = self->job;
  cpu_set_t cpus;
  g_auto (GStrv) given = irisd_command_options_make_environment (job->options);
  IrisdSpawnPlan plan = {
    .argv = (const char *const *) job->args,
    .options = job->options,
    .cpus = iris_place_get_cpu_set (job->core->infos[job->place].place, &cpus) ? &cpus : NULL,
    .file_limit = &job->core->file_limit,
    .fds = { -1, -1, -1 },
    .cgroup_fd = -1,
    .record_fd = -1,
  };
  g_autofree char *name = begin_attempt (self, &plan);
  g_autofree char *mark = make_mark (job->options, name);
  g_autoptr (GPtrArray) environment = join_environment (mark, given != NULL ? given : environ);
  plan.environment = (char *const *) environment->pdata;
  IrisdSpawned spawned = { .step = IRISD_SPAWN_PROCESS };
  gboolean started = FALSE;
  if (open_pipes (self, null_fd, plan.fds))
    started = irisd_command_spawn (&plan, &spawned);
  else
    spawned.error = errno;
  for (int i = 0; i < 3; i++)
    if (plan.fds[i] >= 0 && plan.fds[i] != null_fd)
      close (plan.fds[i]);
  if (plan.cgroup_fd >= 0)
    close (plan.cgroup_fd);
  if (!started)
    fail_to_start (job, spawned.step, spawned.error, spawned.limit);
  self->pid = spawned.pid;
  self->watches[IRISD_COMMAND_END].fd = started ? spawned.pidfd : -1;
  return started;
}

/* @job has a slot. Returns a command that is not watched yet; NULL if the job has failed. */
IrisdCommand *
irisd_command_start (IrisdJob *job, int null_fd)
{
  const IrisdLimits *limits = &job->core->config->limits;
  IrisdCommand *self = g_new0 (IrisdCommand, 1);
  self->job = job;
  self->attempt = IRISD_ATTEMPT_NONE;
  self->link.data = self;
  self->exit_status = -1;
  for (guint i = 0; i < IRISD_COMMAND_N_FDS; i++)
    self->watches[i] = (IrisdCommandWatch){ .command = self, .which = i, .fd = -1 };
  self->max_output = limits->max_output;
  if (job->options != NULL)
    {
      guint64 wanted = job->options->max_output;
      self->max_output = job->options->streamed ? wanted : MIN (wanted, limits->max_output);
      if (job->options->time_limit_ms > 0)
        self->time_limit_us = g_get_monotonic_time () + (gint64) job->options->time_limit_ms * 1000;
    }
  if (!spawn (self, null_fd))
    {
      irisd_command_free (self);
      return NULL;
    }
  self->out = g_byte_array_new ();
  self->err = g_byte_array_new ();
  return self;
}
