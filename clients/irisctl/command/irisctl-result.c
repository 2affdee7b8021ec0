/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * irisctl result: how a persistent item ended.
 */
#include "clients/irisctl/command/irisctl-result.h"
#include "clients/irisctl/irisctl.h"

#include <errno.h>
#include <string.h>

static int timeout_s = -1;

gboolean
ctl_parse_number (const char *text, guint64 *number)
{
  return g_ascii_string_to_unsigned (text, 10, 1, G_MAXUINT64, number, NULL);
}

int
ctl_bad_number (const char *text)
{
  return ctl_fail (CTL_USAGE, "“%s” is no item: its number is what submit --detach prints", text);
}

/* What --timeout says, in milliseconds. */
static guint64
timeout_ms (void)
{
  return timeout_s < 0 ? G_MAXUINT64 : (guint64) timeout_s * 1000;
}

static const GOptionEntry timeout_entries[] = {
  { "timeout", 't', 0, G_OPTION_ARG_INT, &timeout_s,
    "Wait at most so long (default: as long as it takes)", "SECONDS" },
  { NULL },
};

static int
run_result (Ctl *ctl, int argc, char **argv)
{
  g_autoptr (GAsyncResult) async = NULL;
  g_autoptr (IrisResult) result = NULL;
  g_autoptr (GError) error = NULL;
  guint64 number;
  int status;

  if (argc != 2)
    return ctl_fail (CTL_USAGE, "result takes the number of one item; see irisctl result --help");
  if (!ctl_parse_number (argv[1], &number))
    return ctl_bad_number (argv[1]);
  status = ctl_connect (ctl);
  if (status != CTL_OK)
    return status;

  iris_client_fetch_async (ctl->client, number, timeout_ms (), ctl->cancellable, ctl_take_result,
                           &async);
  result = iris_client_fetch_finish (ctl->client, ctl_wait (&async), &error);
  if (result == NULL)
    return ctl_fail_asking (error, number);

  return ctl_show_result (ctl, result, result->exit_status >= 0 || result->signal > 0);
}

const CtlCommand ctl_result = {
  .name = "result",
  .arguments = "ITEM",
  .summary = "print the result of a persistent item, once it has ended",
  .description = "irisd lets the result go when it was printed, unless the item has a key. Of a\n"
                 "command the exit status is the command's.\n",
  .entries = timeout_entries,
  .run = run_result,
};
