/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * What the commands of irisctl share: errors and exit statuses, the connection, waiting.
 */
#include "clients/irisctl/irisctl.h"

#include <glib-unix.h>
#include <stdio.h>
#include <unistd.h>

/* For so long irisd may refuse before the user is told; and how often that is told. */
#define BUSY_MS       1000
#define BUSY_AGAIN_US (60 * G_USEC_PER_SEC)

int
ctl_fail (int status, const char *format, ...)
{
  g_autofree char *message = NULL;
  va_list args;

  va_start (args, format);
  message = g_strdup_vprintf (format, args);
  va_end (args);
  g_printerr ("irisctl: %s\n", message);

  return status;
}

gboolean
ctl_output_is_good (void)
{
  return fflush (stdout) == 0 && !ferror (stdout);
}

int
ctl_exit_status (const GError *error)
{
  if (g_error_matches (error, G_IO_ERROR, G_IO_ERROR_CANCELLED))
    return CTL_INTERRUPTED;
  if (error->domain != IRIS_CLIENT_ERROR)
    return CTL_FAILED;

  switch (error->code)
    {
    case IRIS_CLIENT_ERROR_NOT_CONNECTED:
    case IRIS_CLIENT_ERROR_TIMED_OUT:
    case IRIS_CLIENT_ERROR_DISCONNECTED:
    case IRIS_CLIENT_ERROR_VERSION:
      return CTL_NO_DAEMON;
    case IRIS_CLIENT_ERROR_BUSY:
    case IRIS_CLIENT_ERROR_SHUTTING_DOWN:
    case IRIS_CLIENT_ERROR_NOT_PERMITTED:
    case IRIS_CLIENT_ERROR_QUEUE_FULL:
    case IRIS_CLIENT_ERROR_NOT_DURABLE:
    case IRIS_CLIENT_ERROR_JOURNAL_FAILED:
      return CTL_REFUSED;
    case IRIS_CLIENT_ERROR_UNKNOWN_SERVICE:
    case IRIS_CLIENT_ERROR_NO_SUCH_PLACE:
    case IRIS_CLIENT_ERROR_NO_SUCH_ITEM:
    case IRIS_CLIENT_ERROR_NOT_FOUND:
    case IRIS_CLIENT_ERROR_BAD_ARGUMENT:
    case IRIS_CLIENT_ERROR_UNKNOWN_DEPENDENCY:
    case IRIS_CLIENT_ERROR_NOT_REMEMBERED:
      return CTL_USAGE;
    default:
      return CTL_FAILED;
    }
}

int
ctl_fail_with (const GError *error)
{
  return ctl_fail (ctl_exit_status (error), "%s", error->message);
}

int
ctl_fail_asking (const GError *error, guint64 number)
{
  /* The error speaks of an item that is sent. */
  if (number != 0 && g_error_matches (error, IRIS_CLIENT_ERROR, IRIS_CLIENT_ERROR_DISCONNECTED))
    return ctl_fail (CTL_NO_DAEMON,
                     "the connection to irisd was lost; it keeps item %" G_GUINT64_FORMAT
                     ": ask again when irisd is there again (--wait)",
                     number);
  if (!g_error_matches (error, G_IO_ERROR, G_IO_ERROR_CANCELLED))
    return ctl_fail_with (error);
  if (number == 0)
    return ctl_fail (CTL_INTERRUPTED, "interrupted: nothing was changed, all items go on");

  return ctl_fail (CTL_INTERRUPTED,
                   "interrupted: item %" G_GUINT64_FORMAT " goes on; irisctl result "
                   "%" G_GUINT64_FORMAT " waits for it again",
                   number, number);
}

char *
ctl_count (guint64 n, const char *noun)
{
  return g_strdup_printf ("%" G_GUINT64_FORMAT " %s%s", n, noun, n == 1 ? "" : "s");
}

void
ctl_take_result (GObject *source, GAsyncResult *result, gpointer slot)
{
  *(GAsyncResult **) slot = g_object_ref (result);
}

GAsyncResult *
ctl_wait (GAsyncResult **slot)
{
  while (*slot == NULL)
    g_main_context_iteration (NULL, TRUE);

  return *slot;
}

static gboolean
note_time (gpointer over)
{
  *(gboolean *) over = TRUE;
  return G_SOURCE_REMOVE;
}

void
ctl_pause (Ctl *ctl, guint ms)
{
  gboolean over = FALSE;
  guint source = g_timeout_add (ms, note_time, &over);

  while (!over && !g_cancellable_is_cancelled (ctl->cancellable))
    g_main_context_iteration (NULL, TRUE);
  if (!over)
    g_source_remove (source);
}

/* The first signal cancels, so that irisd is told; the second ends us as usual. */
static gboolean
on_signal (gpointer data)
{
  g_cancellable_cancel (data);
  return G_SOURCE_REMOVE;
}

/* irisd has refused for so long that the user wants to know. */
static gboolean
tell_busy (gpointer data)
{
  Ctl *ctl = data;
  const char *reason = iris_client_get_busy_reason (ctl->client);

  ctl->busy_timer = 0;
  ctl->told_busy_us = g_get_monotonic_time ();
  /* There may be a progress bar. */
  g_printerr ("%sirisctl: waiting for irisd: %s; Ctrl-C stops waiting\n",
              isatty (STDERR_FILENO) ? "\r\033[K" : "", reason);

  return G_SOURCE_REMOVE;
}

/* Where there is room now and then, it is told once in a while. */
static void
on_busy_changed (GObject *client, GParamSpec *property, gpointer data)
{
  Ctl *ctl = data;
  gboolean busy = iris_client_get_busy_reason (ctl->client) != NULL;

  if (!busy && ctl->busy_timer != 0)
    g_source_remove (ctl->busy_timer);
  if (!busy)
    ctl->busy_timer = 0;
  else if (ctl->busy_timer == 0
           && (ctl->told_busy_us == 0
               || g_get_monotonic_time () - ctl->told_busy_us >= BUSY_AGAIN_US))
    ctl->busy_timer = g_timeout_add (BUSY_MS, tell_busy, ctl);
}

int
ctl_connect (Ctl *ctl)
{
  g_autoptr (GAsyncResult) result = NULL;
  g_autoptr (GError) error = NULL;

  /* Until here a signal ends us as usual: nothing was asked of irisd yet, and reading standard
   * input would not notice that it is unwanted. */
  g_unix_signal_add (SIGINT, on_signal, ctl->cancellable);
  g_unix_signal_add (SIGTERM, on_signal, ctl->cancellable);
  ctl->client = iris_client_new (ctl->where);
  g_signal_connect (ctl->client, "notify::busy-reason", G_CALLBACK (on_busy_changed), ctl);
  if (ctl->asks_node)
    iris_client_set_asked_node (ctl->client, ctl->node);
  g_object_set (ctl->client, "asks-only", ctl->asks_only, NULL);
  if (ctl->wait_s > 0)
    g_object_set (ctl->client, "wait-for-daemon", TRUE, "connect-timeout",
                  (guint) ctl->wait_s * 1000, NULL);
  iris_client_connect_async (ctl->client, ctl->cancellable, ctl_take_result, &result);
  if (iris_client_connect_finish (ctl->client, ctl_wait (&result), &error))
    return CTL_OK;
  if (g_cancellable_is_cancelled (ctl->cancellable))
    return ctl_fail (CTL_INTERRUPTED, "interrupted before irisd was asked anything");

  return ctl_fail_with (error);
}

IrisClientStatus *
ctl_get_status (Ctl *ctl, GError **error)
{
  g_autoptr (GAsyncResult) result = NULL;

  iris_client_get_status_async (ctl->client, ctl->cancellable, ctl_take_result, &result);
  return iris_client_get_status_finish (ctl->client, ctl_wait (&result), error);
}

void
ctl_set_hint (IrisRequest *request, const char *place, const char *near, gboolean strict)
{
  guint64 item;

  if (place != NULL)
    iris_request_set_place_name (request, place);
  else if (near != NULL && g_ascii_string_to_unsigned (near, 10, 1, G_MAXUINT64, &item, NULL))
    iris_request_set_near_item (request, item);
  else if (near != NULL)
    {
      g_autofree char *absolute = g_canonicalize_filename (near, NULL);

      iris_request_set_near_path (request, absolute);
    }
  iris_request_set_strict (request, strict);
}

void
ctl_find_trace (const Ctl *ctl, char **traceparent, char **tracestate)
{
  g_autoptr (IrisRequest) request = iris_request_new ("any");

  *traceparent = ctl->traceparent;
  *tracestate = NULL;
  if (ctl->traceparent != NULL)
    return;
  *traceparent = (char *) g_getenv ("TRACEPARENT");
  *tracestate = (char *) g_getenv ("TRACESTATE");
  if (*traceparent != NULL && iris_request_set_traceparent (request, *traceparent, *tracestate))
    return;
  *tracestate = NULL;
  if (*traceparent != NULL && !iris_request_set_traceparent (request, *traceparent, NULL))
    *traceparent = NULL;
}

void
ctl_set_trace (const Ctl *ctl, IrisRequest *request)
{
  char *traceparent, *tracestate;

  ctl_find_trace (ctl, &traceparent, &tracestate);
  iris_request_set_traceparent (request, traceparent, tracestate);
}

void
ctl_hint (const Ctl *ctl, IrisRequest *request)
{
  ctl_set_trace (ctl, request);
  ctl_set_hint (request, ctl->place, ctl->near, ctl->strict);
  iris_request_set_node (request, ctl->node);
  iris_request_set_any_node (request, ctl->any_node);
  ctl_footprint_apply (&ctl->footprint, request);
}

int
ctl_find_place (const Ctl *ctl, const char *text)
{
  g_autoptr (GPtrArray) places = iris_client_get_places (ctl->client);

  for (guint i = 0; places != NULL && i < places->len; i++)
    {
      const IrisClientPlace *place = g_ptr_array_index (places, i);
      g_autofree char *id = g_strdup_printf ("%d", place->id);

      if (g_str_equal (place->name, text) || g_str_equal (id, text))
        return place->id;
    }
  ctl_fail (CTL_USAGE, "irisd has no place “%s”: irisctl places lists its places", text);

  return -1;
}

gboolean
ctl_choose (const char *option,
            const char *text,
            const char *const *names,
            guint *index,
            GError **error)
{
  g_autoptr (GString) list = g_string_new (NULL);

  if (text == NULL)
    return TRUE;
  for (guint i = 0; names[i] != NULL; i++)
    {
      if (g_str_equal (names[i], text))
        {
          *index = i;
          return TRUE;
        }
      g_string_append_printf (list, "%s%s",
                              i == 0                 ? ""
                              : names[i + 1] != NULL ? ", "
                                                     : " or ",
                              names[i]);
    }

  return ctl_refuse (error, "--%s takes %s, not “%s”", option, list->str, text);
}

gboolean
ctl_refuse (GError **error, const char *format, ...)
{
  va_list args;

  va_start (args, format);
  if (error != NULL)
    *error = g_error_new_valist (G_OPTION_ERROR, G_OPTION_ERROR_BAD_VALUE, format, args);
  va_end (args);

  return FALSE;
}
