/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * How a command is to be run, before it is sent.
 */
#include "iris-request-private.h"

/**
 * iris_request_set_directory:
 * @self: a request for `command` that was not submitted yet
 * @directory: (nullable) (type filename): an absolute path, or %NULL for irisd's own directory
 *
 * Sets the working directory of the command.
 *
 * Since: 0.1
 */
void
iris_request_set_directory (IrisRequest *self, const char *directory)
{
  g_return_if_fail (self != NULL && !self->sealed);

  g_free (self->directory);
  self->directory = g_strdup (directory);
}

/**
 * iris_request_set_environment:
 * @self: a request for `command` that was not submitted yet
 * @variables: (nullable) (array zero-terminated=1): `NAME=VALUE` sets a variable, `NAME` takes one
 *   away
 * @clear: whether to begin without irisd's own variables
 *
 * Sets the environment of the command. The program is looked for in irisd's `PATH` all the same.
 *
 * Since: 0.1
 */
void
iris_request_set_environment (IrisRequest *self, const char *const *variables, gboolean clear)
{
  g_return_if_fail (self != NULL && !self->sealed);

  g_strfreev (self->environment);
  self->environment = g_strdupv ((char **) variables);
  self->clear_environment = !!clear;
}

/**
 * iris_request_set_nice:
 * @self: a request for `command` that was not submitted yet
 * @nice: 0 to 19: how much it gives way to other processes, beyond irisd
 *
 * Makes the command nice.
 *
 * Since: 0.1
 */
void
iris_request_set_nice (IrisRequest *self, int nice)
{
  g_return_if_fail (self != NULL && !self->sealed);
  g_return_if_fail (nice >= 0 && nice <= 19);

  self->nice = nice;
}

/**
 * iris_request_set_limits:
 * @self: a request for `command` that was not submitted yet
 * @limits: (nullable) (array zero-terminated=1): each is `cpu=SECONDS`, `memory=BYTES`,
 *   `files=NUMBER`, `file-size=BYTES`, `core=BYTES` or `output=BYTES`
 *
 * Bounds what the command may use. doc/protocol.md says what becomes of one that wants more.
 *
 * Since: 0.1
 */
void
iris_request_set_limits (IrisRequest *self, const char *const *limits)
{
  g_return_if_fail (self != NULL && !self->sealed);

  g_strfreev (self->limits);
  self->limits = g_strdupv ((char **) limits);
}

/**
 * iris_request_set_time_limit:
 * @self: a request for `command` that was not submitted yet
 * @milliseconds: how long it may run, or 0 for as long as it likes
 *
 * Has a command ended that runs for longer; its item then fails with
 * %IRIS_CLIENT_ERROR_TIME_LIMIT.
 *
 * Since: 0.1
 */
void
iris_request_set_time_limit (IrisRequest *self, guint64 milliseconds)
{
  g_return_if_fail (self != NULL && !self->sealed);

  self->time_limit_ms = milliseconds;
}

/**
 * iris_request_set_grace:
 * @self: a request for `command` that was not submitted yet
 * @milliseconds: from SIGTERM to SIGKILL, when it is cancelled or its time is over
 *
 * Sets how long the command has to clean up, instead of what irisd's configuration says.
 *
 * Since: 0.1
 */
void
iris_request_set_grace (IrisRequest *self, guint64 milliseconds)
{
  g_return_if_fail (self != NULL && !self->sealed);

  self->grace_ms = milliseconds;
  self->has_grace = TRUE;
}

/**
 * iris_request_set_output_func:
 * @self: a request for `command` that was not submitted yet
 * @func: (nullable) (scope notified) (closure user_data) (destroy destroy): takes the output, in
 *   the client's main context
 * @user_data: for @func
 * @destroy: (nullable): frees @user_data
 *
 * Has the output of the command come while it runs, in the order in which each of its two streams
 * was written. The result then has no body. No more than a quarter of a megabyte is under way.
 *
 * Since: 0.1
 */
void
iris_request_set_output_func (IrisRequest *self,
                              IrisRequestOutputFunc func,
                              gpointer user_data,
                              GDestroyNotify destroy)
{
  g_return_if_fail (self != NULL && !self->sealed);

  if (self->output_destroy != NULL)
    self->output_destroy (self->output_data);
  self->output = func;
  self->output_data = user_data;
  self->output_destroy = destroy;
}
