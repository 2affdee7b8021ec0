/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * One item from its submission to its end: how far it is, and its output or parts as they come.
 */
#include "clients/irisctl/command/irisctl-follow.h"

#include "clients/irisctl/output/irisctl-result.h"
#include "clients/irisctl/output/irisctl-progress.h"

#include <signal.h>
#include <stdio.h>

/* What timeout(1) gives for the same. */
#define STATUS_TIME_LIMIT 124

gboolean ctl_follow_parts;

static gboolean written = TRUE;
static guint last_attempt;
static CtlProgress progress;

static void
on_progress (IrisRequest *request, double fraction, const char *note, gpointer data)
{
  const Ctl *ctl = data;
  g_autofree char *line = NULL;

  if (!ctl->verbose)
    {
      ctl_progress_show (&progress, fraction, note);
      return;
    }
  line = ctl_progress_format (fraction, note, 0);
  g_printerr ("irisctl: %s\n", line);
}

/* Parts that cannot be written any more cancel the item. */
static void
on_part (IrisRequest *request, guint attempt, GBytes *part, gpointer data)
{
  const Ctl *ctl = data;

  ctl_progress_end (&progress);
  if (last_attempt != 0 && attempt != last_attempt)
    g_printerr ("irisctl: the item was given to another worker process: its parts begin anew\n");
  last_attempt = attempt;
  if (written && !ctl_write_bytes (stdout, part, FALSE))
    {
      written = FALSE;
      g_cancellable_cancel (ctl->cancellable);
    }
}

int
ctl_follow_check (const Ctl *ctl)
{
  if (ctl_follow_parts && ctl->json)
    return ctl_fail (
        CTL_USAGE,
        "--parts and --json exclude each other: JSON is printed at the end, as one document");

  return CTL_OK;
}

static void
follow_begin (Ctl *ctl, IrisRequest *request)
{
  ctl_progress_begin (&progress);
  if (progress.shown || ctl->verbose)
    iris_request_set_progress_func (request, on_progress, ctl, NULL);
  if (!ctl_follow_parts)
    return;
  /* A reader that goes away has the item cancelled; the signal must not end us first. */
  signal (SIGPIPE, SIG_IGN);
  iris_request_set_part_func (request, on_part, ctl, NULL);
}

/* Output that cannot be written any more cancels the command. */
static void
on_output (IrisRequest *request, gboolean is_error, GBytes *bytes, gpointer data)
{
  Ctl *ctl = data;

  if (written && !ctl_write_bytes (is_error ? stderr : stdout, bytes, FALSE))
    {
      written = FALSE;
      g_cancellable_cancel (ctl->cancellable);
    }
}

void
ctl_follow_output (Ctl *ctl, IrisRequest *request)
{
  iris_request_set_output_func (request, on_output, ctl, NULL);
}

/* For --after of another item, while this one waits or runs. */
static void
tell_accepted (IrisRequest *request, guint64 item, gpointer data)
{
  g_printerr ("irisctl: accepted as %" G_GUINT64_FORMAT "\n", item);
}

IrisResult *
ctl_submit (Ctl *ctl, IrisRequest *request, GError **error)
{
  g_autoptr (GAsyncResult) result = NULL;
  GAsyncResult *completion;

  ctl_schedule_apply (&ctl->schedule, request);
  follow_begin (ctl, request);
  if (ctl->verbose)
    iris_request_set_accepted_func (request, tell_accepted, NULL, NULL);
  iris_client_submit_async (ctl->client, request, ctl->cancellable, ctl_take_result, &result);
  if (ctl->verbose && iris_request_get_id (request) != NULL)
    g_printerr ("irisctl: item %s\n", iris_request_get_id (request));

  completion = ctl_wait (&result);
  ctl_progress_end (&progress);

  return iris_client_submit_finish (ctl->client, completion, error);
}

int
ctl_follow_status (void)
{
  return written ? CTL_OK
                 : ctl_fail (CTL_FAILED, "cannot write the output: its reader has gone or the disk "
                                         "is full; the item was cancelled");
}

/* Of an item without a result. */
int
ctl_command_failure (const Ctl *ctl, const GError *error)
{
  if (!written)
    return ctl_follow_status ();
  if (g_error_matches (error, IRIS_CLIENT_ERROR, IRIS_CLIENT_ERROR_NO_SUCH_COMMAND))
    return ctl_fail (127, "%s", error->message);
  if (g_error_matches (error, IRIS_CLIENT_ERROR, IRIS_CLIENT_ERROR_TIME_LIMIT))
    return ctl_fail (STATUS_TIME_LIMIT, "%s", error->message);
  if (g_cancellable_is_cancelled (ctl->cancellable))
    return ctl_fail (CTL_INTERRUPTED, "%s", error->message);

  return ctl_fail_with (error);
}
