/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * Following one item while worker processes work on it: how far it is, and parts of its result.
 */
#include "clients/irisctl/output/irisctl-follow.h"

#include "clients/irisctl/command/irisctl-items.h"
#include "clients/irisctl/output/irisctl-progress.h"

#include <signal.h>
#include <stdio.h>

gboolean ctl_follow_parts;

static gboolean parts_written = TRUE;
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
  line = ctl_progress_format_item (fraction, note, 0);
  g_printerr ("irisctl: %s\n", line);
}

/* When nobody reads them any more, the item need not go on. */
static void
on_part (IrisRequest *request, guint attempt, GBytes *part, gpointer data)
{
  const Ctl *ctl = data;

  ctl_progress_end (&progress);
  if (last_attempt != 0 && attempt != last_attempt)
    g_printerr ("irisctl: another worker has the item now, which begins anew\n");
  last_attempt = attempt;
  if (parts_written && !ctl_write_bytes (stdout, part, FALSE))
    {
      parts_written = FALSE;
      g_cancellable_cancel (ctl->cancellable);
    }
}

int
ctl_follow_check (const Ctl *ctl)
{
  if (ctl_follow_parts && ctl->json)
    return ctl_fail (CTL_USAGE, "give one of --parts and --json: the result is one document");

  return CTL_OK;
}

void
ctl_follow_begin (Ctl *ctl, IrisRequest *request)
{
  ctl_progress_begin (&progress);
  if (progress.shown || ctl->verbose)
    iris_request_set_progress_func (request, on_progress, ctl, NULL);
  if (!ctl_follow_parts)
    return;
  /* Who stops reading has the item cancelled; it must not end us first. */
  signal (SIGPIPE, SIG_IGN);
  iris_request_set_part_func (request, on_part, ctl, NULL);
}

void
ctl_follow_end (void)
{
  ctl_progress_end (&progress);
}

int
ctl_follow_status (void)
{
  return parts_written ? CTL_OK
                       : ctl_fail (CTL_FAILED, "cannot write parts of the result; the item was "
                                               "cancelled");
}
