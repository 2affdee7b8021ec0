/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * irisctl follow: what a persistent command writes, from its beginning, until it ends.
 */
#include "clients/irisctl/input/irisctl-input.h"
#include "clients/irisctl/output/irisctl-output.h"

#include <signal.h>
#include <stdio.h>

typedef struct
{
  Ctl *ctl;
  guint64 end; /* of what has come */
  gboolean unwritten;
} Follow;

static gint64 offset;

static void
on_output (gboolean is_error, guint64 at, GBytes *bytes, gpointer data)
{
  Follow *self = data;

  if (at < self->end)
    g_printerr ("irisctl: the command is tried again: its output begins anew\n");
  else if (at > self->end)
    g_printerr ("irisctl: %" G_GUINT64_FORMAT " bytes are left out, which irisd has not kept\n",
                at - self->end);
  self->end = at + g_bytes_get_size (bytes);
  if (!self->unwritten && !ctl_write_bytes (is_error ? stderr : stdout, bytes, FALSE))
    {
      self->unwritten = TRUE;
      g_cancellable_cancel (self->ctl->cancellable);
    }
}

static int
show_end (const Ctl *ctl, guint64 number, IrisClientItemState state)
{
  if (state == IRIS_CLIENT_ITEM_DONE)
    return CTL_OK;
  if (state == IRIS_CLIENT_ITEM_BURIED)
    return ctl_fail (CTL_FAILED,
                     "item %" G_GUINT64_FORMAT " is buried; irisctl show %" G_GUINT64_FORMAT
                     " says why",
                     number, number);

  return ctl_fail (CTL_FAILED, "item %" G_GUINT64_FORMAT " %s", number,
                   state == IRIS_CLIENT_ITEM_CANCELLED ? "was cancelled" : "failed");
}

/* Nothing has come: a command that wrote something has it in its result, though irisd has dropped
 * it here, or had to keep none. */
static void
tell_of_result (Ctl *ctl, guint64 number)
{
  g_autoptr (GAsyncResult) result = NULL;

  iris_client_show_async (ctl->client, number, 0, ctl->cancellable, ctl_take_result, &result);
  g_autoptr (IrisClientItem) item = iris_client_show_finish (ctl->client, ctl_wait (&result), NULL);
  if (item != NULL && item->bytes > 0)
    g_printerr ("irisctl: irisd keeps nothing of this output (its limits are keep-output and "
                "total-output); irisctl result %" G_GUINT64_FORMAT " has %" G_GUINT64_FORMAT
                " bytes\n",
                number, item->bytes);
}

static int
run_follow (Ctl *ctl, int argc, char **argv)
{
  g_autoptr (GAsyncResult) async = NULL;
  g_autoptr (GError) error = NULL;
  IrisClientItemState state = IRIS_CLIENT_ITEM_ANY;
  Follow self = { .ctl = ctl, .end = (guint64) MAX (offset, 0) };
  guint64 number;
  int status;

  if (ctl->json)
    return ctl_fail (CTL_USAGE, "follow prints what the command writes, and no JSON; irisctl "
                                "result --json has its output when it has ended");
  if (offset < 0)
    return ctl_fail (CTL_USAGE, "follow: --offset takes 0 or more bytes");
  if (ctl_parse_item_number (argv[1], &number) != CTL_OK)
    return CTL_USAGE;
  /* A reader that goes away ends this program by its own word, not by the signal. */
  signal (SIGPIPE, SIG_IGN);
  status = ctl_connect (ctl);
  if (status != CTL_OK)
    return status;

  iris_client_follow_async (ctl->client, number, self.end, on_output, &self, NULL, ctl->cancellable,
                            ctl_take_result, &async);
  if (iris_client_follow_finish (ctl->client, ctl_wait (&async), &state, &error))
    {
      if (self.end == 0)
        tell_of_result (ctl, number);
      return show_end (ctl, number, state);
    }
  if (self.unwritten)
    return ctl_fail (CTL_FAILED, "cannot write the output: its reader has gone or the disk is "
                                 "full; the item goes on");

  return ctl_fail_asking (error, number);
}

static const GOptionEntry follow_entries[] = {
  { "offset", 'o', 0, G_OPTION_ARG_INT64, &offset, "Pass over so many bytes of its output",
    "BYTES" },
  { NULL },
};

const CtlCommand ctl_follow_command = {
  .name = "follow",
  .arguments = "ITEM",
  .summary = "show what a persistent command writes, as it comes",
  .description = "From the beginning, however long ago that was, and until the command ends; also\n"
                 "in several windows at once. irisd keeps as much of the output as its limit\n"
                 "keep-output says, or submit --keep-output; what it has not kept is said on\n"
                 "standard error. The result stays. Ctrl-C ends irisctl, and the command goes on.\n"
                 "Exit status 1 if the item failed.\n\n"
                 "Examples:\n"
                 "  irisctl follow $(irisctl submit --detach command make -C /src all)\n"
                 "  irisctl follow 7 | grep -i error\n",
  .operand = CTL_OPERAND_ITEM,
  .least = 1,
  .most = 1,
  .takes = "the number of one item",
  .entries = follow_entries,
  .takes_node = TRUE,
  .run = run_follow,
};
