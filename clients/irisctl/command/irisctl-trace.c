/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * irisctl trace: a time line of what irisd's workers do.
 */
#include "clients/irisctl/output/irisctl-output.h"

#include <stdio.h>

#define DEFAULT_SECONDS 1.0
#define MOST_SECONDS    600.0

static double seconds = DEFAULT_SECONDS;
static char *output_path;

/* Written beside the file first, so that no half of one is left. */
static int
save (GBytes *text)
{
  g_autoptr (GError) error = NULL;
  gsize size;
  const char *data = g_bytes_get_data (text, &size);

  if (output_path == NULL)
    {
      if (fwrite (data, 1, size, stdout) == size && fflush (stdout) == 0)
        return CTL_OK;
      return ctl_fail (CTL_FAILED, "cannot write to standard output");
    }
  if (g_file_set_contents (output_path, data, (gssize) size, &error))
    return CTL_OK;
  return ctl_fail (CTL_FAILED, "%s", error->message);
}

static int
run_trace (Ctl *ctl, int argc, char **argv)
{
  g_autoptr (GError) error = NULL;
  g_autoptr (GBytes) text = NULL;
  GAsyncResult *result = NULL;
  int status;

  if (!(seconds >= 0.001 && seconds <= MOST_SECONDS))
    return ctl_fail (CTL_USAGE, "--seconds: give a number from 0.001 to %.0f", MOST_SECONDS);
  status = ctl_connect (ctl);
  if (status != CTL_OK)
    return status;
  iris_client_trace_async (ctl->client, (guint64) (seconds * 1000), ctl->cancellable,
                           ctl_take_result, &result);
  text = iris_client_trace_finish (ctl->client, ctl_wait (&result), &error);
  g_clear_object (&result);
  return text != NULL ? save (text) : ctl_fail_with (error);
}

static const GOptionEntry entries[] = {
  { "seconds", 't', 0, G_OPTION_ARG_DOUBLE, &seconds, "How long the workers are watched (1)", "N" },
  { "output", 'o', 0, G_OPTION_ARG_FILENAME, &output_path,
    "Write to this file (default: standard output)", "FILE" },
  { NULL },
};

const CtlCommand ctl_trace = {
  .name = "trace",
  .arguments = "",
  .summary = "write a time line of what irisd's workers do, for Perfetto",
  .description = "Items are slices in the line of their worker, steals are arrows between places,\n"
                 "and a sleeping worker is parked. Of items that take less than 2 microseconds\n"
                 "only every 256th is noted. Open the file in https://ui.perfetto.dev.\n\n"
                 "Example:\n"
                 "  irisctl trace --seconds 5 -o irisd.json\n",
  .asks_only = TRUE,
  .entries = entries,
  .run = run_trace,
};
