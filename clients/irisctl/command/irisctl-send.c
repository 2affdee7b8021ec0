/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * irisctl send: a single item.
 */
#include "clients/irisctl/command/irisctl-command.h"
#include "clients/irisctl/output/irisctl-output.h"

#include <string.h>

static char *payload_file, *path_argument;

static IrisRequest *
build_send (const Ctl *ctl, int argc, char **argv, GError **error)
{
  g_autoptr (IrisRequest) request = iris_request_new (argv[1]);
  g_autoptr (GBytes) payload = NULL;

  if (payload_file != NULL)
    payload = ctl_read_file (payload_file, error);
  else if (argc > 2 && g_str_equal (argv[2], "-"))
    payload = ctl_read_stdin (error);
  else
    payload = g_bytes_new (argc > 2 ? argv[2] : "", argc > 2 ? strlen (argv[2]) : 0);
  if (payload == NULL)
    return NULL;

  iris_request_set_payload (request, payload);
  if (path_argument != NULL)
    {
      g_autofree char *absolute = g_canonicalize_filename (path_argument, NULL);

      iris_request_set_path (request, absolute);
    }
  ctl_hint (ctl, request);

  return g_steal_pointer (&request);
}

static int
run_send (Ctl *ctl, int argc, char **argv)
{
  g_autoptr (IrisRequest) request = NULL;
  g_autoptr (IrisResult) result = NULL;
  g_autoptr (GError) error = NULL;
  int status;

  status = ctl_follow_check (ctl);
  if (status != CTL_OK)
    return status;
  request = build_send (ctl, argc, argv, &error);
  if (error != NULL)
    return ctl_fail (CTL_FAILED, "%s", error->message);
  status = ctl_connect (ctl);
  if (status != CTL_OK)
    return status;

  result = ctl_submit (ctl, request, &error);
  status = ctl_follow_status ();
  if (status != CTL_OK)
    return status;

  return result != NULL ? ctl_show_result (ctl, result) : ctl_fail_with (error);
}

static const GOptionEntry send_entries[] = {
  { "file", 'f', 0, G_OPTION_ARG_FILENAME, &payload_file, "Send the content of this file", "FILE" },
  { "path", 0, 0, G_OPTION_ARG_FILENAME, &path_argument,
    "The file to work on, which irisd opens (sha256, wordcount)", "FILE" },
  { "parts", 0, 0, G_OPTION_ARG_NONE, &ctl_follow_parts,
    "Print parts of the result as a worker process sends them", NULL },
  { NULL },
};

const CtlCommand ctl_send = {
  .name = "send",
  .arguments = "SERVICE [PAYLOAD|-]",
  .summary = "send one item and print its result",
  .description = "With “-” the payload is read from standard input.\n\n"
                 "Examples:\n"
                 "  irisctl send echo hello\n"
                 "  irisctl send sha256 --path /etc/os-release\n"
                 "  irisctl send wordcount - < README.md\n"
                 "  irisctl send echo hello --place l2:1 --strict\n"
                 "  irisctl send echo tea --delay 4m\n"
                 "  irisctl send render --path /srv/scene --parts > picture\n",
  .takes_hints = TRUE,
  .takes_schedule = TRUE,
  .operand = CTL_OPERAND_SERVICE,
  .least = 1,
  .most = 2,
  .takes = "a service and at most one payload",
  .entries = send_entries,
  .run = run_send,
};
