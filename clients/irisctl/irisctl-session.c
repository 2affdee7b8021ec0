/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * The connection of a command: made, waited for, interrupted, and what its errors mean for the
 * shell.
 */
#include "irisctl-command.h"

#include <errno.h>
#include <glib-unix.h>
#include <signal.h>
#include <unistd.h>

typedef struct
{
  Irisctl *irisctl;
  gboolean done;
  IrisResult *result;
  GError **error;
} Waiting;

/* What irisctl exits with when @error is what came of it. */
int
irisctl_exit_for (Irisctl *self, const GError *error)
{
  if (g_error_matches (error, G_IO_ERROR, G_IO_ERROR_CANCELLED))
    return IRISCTL_SIGNALLED + (self->signal != 0 ? self->signal : SIGINT);
  if (error->domain != IRIS_CLIENT_ERROR)
    return IRISCTL_FAILED;
  switch ((IrisClientError) error->code)
    {
    case IRIS_CLIENT_ERROR_NOT_CONNECTED:
    case IRIS_CLIENT_ERROR_TIMED_OUT:
    case IRIS_CLIENT_ERROR_DISCONNECTED:
    case IRIS_CLIENT_ERROR_PROTOCOL:
    case IRIS_CLIENT_ERROR_VERSION:
      return IRISCTL_NO_DAEMON;
    case IRIS_CLIENT_ERROR_FAILED:
    case IRIS_CLIENT_ERROR_CANCELLED:
    case IRIS_CLIENT_ERROR_NO_SUCH_COMMAND:
    case IRIS_CLIENT_ERROR_UNREADABLE_FILE:
    case IRIS_CLIENT_ERROR_SERVICE_FAILED:
    case IRIS_CLIENT_ERROR_INTERNAL:
      return IRISCTL_FAILED;
    case IRIS_CLIENT_ERROR_MALFORMED:
    case IRIS_CLIENT_ERROR_HELLO_REQUIRED:
    case IRIS_CLIENT_ERROR_UNKNOWN_TYPE:
    case IRIS_CLIENT_ERROR_UNKNOWN_SERVICE:
    case IRIS_CLIENT_ERROR_NO_SUCH_PLACE:
    case IRIS_CLIENT_ERROR_TOO_LARGE:
    case IRIS_CLIENT_ERROR_BAD_ARGUMENT:
    case IRIS_CLIENT_ERROR_NOT_FOUND:
    case IRIS_CLIENT_ERROR_SHUTTING_DOWN:
    case IRIS_CLIENT_ERROR_DUPLICATE_ID:
    case IRIS_CLIENT_ERROR_BUSY:
    case IRIS_CLIENT_ERROR_NOT_PERMITTED:
    case IRIS_CLIENT_ERROR_QUEUE_FULL:
      return IRISCTL_REFUSED;
    default:
      return IRISCTL_FAILED;
    }
}

/* Says what @error says. Returns what to exit with. */
int
irisctl_report (Irisctl *self, const GError *error)
{
  irisctl_complain ("%s", error->message);
  return irisctl_exit_for (self, error);
}

static gboolean
on_signal (Irisctl *self, int number)
{
  /* Who asks twice does not want to wait for irisd. */
  if (self->signal != 0)
    _exit (IRISCTL_SIGNALLED + number);
  self->signal = number;
  g_cancellable_cancel (self->interrupt);
  return G_SOURCE_CONTINUE;
}

static gboolean
on_sigint (gpointer user_data)
{
  return on_signal (user_data, SIGINT);
}

static gboolean
on_sigterm (gpointer user_data)
{
  return on_signal (user_data, SIGTERM);
}

/* From now on a signal cancels what was sent, instead of ending irisctl. Only once something was:
 * before that there is nothing to take back. */
void
irisctl_catch_signals (Irisctl *self)
{
  self->interrupt = g_cancellable_new ();
  g_unix_signal_add (SIGINT, on_sigint, self);
  g_unix_signal_add (SIGTERM, on_sigterm, self);
}

static void
connect_ready (GObject *source, GAsyncResult *result, gpointer user_data)
{
  Waiting *waiting = user_data;

  iris_client_connect_finish (IRIS_CLIENT (source), result, waiting->error);
  waiting->done = TRUE;
}

/* Connects. Returns FALSE, and what to exit with, if irisd is not there. */
gboolean
irisctl_connect (Irisctl *self, int *status)
{
  const IrisctlGlobals *globals = &self->globals;
  g_autoptr (GError) error = NULL;
  Waiting waiting = { .irisctl = self, .error = &error };

  self->client = iris_client_new (globals->endpoint != NULL ? globals->endpoint : globals->dir);
  if (globals->wait_s > 0)
    g_object_set (self->client, "wait-for-daemon", TRUE, "connect-timeout",
                  (guint) globals->wait_s * 1000, NULL);
  iris_client_connect_async (self->client, NULL, connect_ready, &waiting);
  while (!waiting.done)
    g_main_context_iteration (NULL, TRUE);
  if (error == NULL)
    return TRUE;
  *status = irisctl_report (self, error);
  return FALSE;
}

static void
submit_ready (GObject *source, GAsyncResult *result, gpointer user_data)
{
  Waiting *waiting = user_data;

  waiting->result = iris_client_submit_finish (IRIS_CLIENT (source), result, waiting->error);
  waiting->done = TRUE;
}

/* Sends an item and waits until it has ended. */
IrisResult *
irisctl_submit (Irisctl *self, IrisRequest *request, GError **error)
{
  Waiting waiting = { .irisctl = self, .error = error };

  irisctl_catch_signals (self);
  iris_client_submit_async (self->client, request, self->interrupt, submit_ready, &waiting);
  if (self->globals.verbose)
    irisctl_complain ("item %s", iris_request_get_id (request));
  while (!waiting.done)
    g_main_context_iteration (NULL, TRUE);
  return waiting.result;
}

void
irisctl_apply_hint (IrisRequest *request, const IrisctlHint *hint)
{
  if (hint->place != NULL)
    iris_request_set_place_name (request, hint->place);
  iris_request_set_strict (request, hint->strict);
}

/* Reads a file descriptor to its end. */
GBytes *
irisctl_read_all (int fd, GError **error)
{
  GByteArray *bytes = g_byte_array_new ();
  guint8 buffer[65536];
  gssize n;

  for (;;)
    {
      n = read (fd, buffer, sizeof buffer);
      if (n < 0 && errno == EINTR)
        continue;
      if (n <= 0)
        break;
      g_byte_array_append (bytes, buffer, (guint) n);
    }
  if (n == 0)
    return g_byte_array_free_to_bytes (bytes);
  g_set_error (error, G_IO_ERROR, g_io_error_from_errno (errno), "cannot read the input: %s",
               g_strerror (errno));
  g_byte_array_unref (bytes);
  return NULL;
}

void
irisctl_clear (Irisctl *self)
{
  g_clear_object (&self->client);
  g_clear_object (&self->interrupt);
  g_clear_pointer (&self->globals.dir, g_free);
  g_clear_pointer (&self->globals.endpoint, g_free);
}
