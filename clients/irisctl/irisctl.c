/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * irisctl: irisd from the command line. Finds the command and reads the options before it.
 */
#include "clients/irisctl/command/irisctl-command.h"
#include "clients/irisctl/output/irisctl-output.h"

#include <locale.h>

static char *
describe_commands (void)
{
  GString *text = g_string_new ("Commands:\n");
  const CtlCommand *command;

  for (guint i = 0; (command = ctl_command_nth (i)) != NULL; i++)
    g_string_append_printf (text, "  %-10s %s\n", command->name, command->summary);
  g_string_append (text, "\n“irisctl COMMAND --help” says more. Exit status: 0 success, 1 an item "
                         "failed, 2 wrong\narguments, 3 no irisd answers, 4 irisd refuses; of run, "
                         "the status of its command.\nSee irisctl(1).\n");

  return g_string_free (text, FALSE);
}

static void
ctl_clear (Ctl *ctl)
{
  g_free (ctl->where);
  g_free (ctl->place);
  g_free (ctl->node);
  g_free (ctl->near);
  g_free (ctl->traceparent);
  ctl_footprint_clear (&ctl->footprint);
  ctl_schedule_clear (&ctl->schedule);
  ctl_filter_clear (&ctl->filter);
  ctl_command_clear (&ctl->command);
  if (ctl->busy_timer != 0)
    g_source_remove (ctl->busy_timer);
  if (ctl->client != NULL)
    g_signal_handlers_disconnect_by_data (ctl->client, ctl);
  g_clear_object (&ctl->client);
  g_clear_object (&ctl->cancellable);
}

/* irisctl help COMMAND is irisctl COMMAND --help. */
static int
show_help (GOptionContext *context, Ctl *ctl, int argc, char **argv)
{
  const CtlCommand *command = argc > 2 ? ctl_command_find (argv[2]) : NULL;
  g_autoptr (GOptionContext) of_command = NULL;
  g_autofree char *text = NULL;

  if (argc > 2 && command == NULL)
    return ctl_fail (CTL_USAGE, "there is no command “%s”: irisctl --help lists the commands",
                     argv[2]);
  if (command != NULL)
    of_command = ctl_command_context (command, ctl, NULL);
  text = g_option_context_get_help (of_command != NULL ? of_command : context, TRUE, NULL);
  ctl_terminal_print_help (text);

  return CTL_OK;
}

int
main (int argc, char **argv)
{
  gboolean version = FALSE;
  Ctl ctl = { .schedule.priority = -1, .command.grace_s = CTL_NO_GRACE };
  const GOptionEntry entries[] = {
    { "version", 0, 0, G_OPTION_ARG_NONE, &version, "Print the version", NULL },
    { NULL },
  };
  g_autoptr (GOptionContext) context = g_option_context_new (
      "COMMAND [ARGUMENT…] — send items to irisd, and look after them");
  g_autofree char *description = describe_commands ();
  g_autoptr (GError) error = NULL;
  const CtlCommand *command;
  int status;

  setlocale (LC_ALL, "");
  g_set_prgname ("irisctl");
  /* For the shells: clients/irisctl/completion. */
  if (argc > 2 && g_str_equal (argv[1], "--complete"))
    {
      ctl_complete (argc - 2, argv + 2);
      return CTL_OK;
    }
  ctl_common_add_options (&ctl, context, NULL);
  g_option_context_add_main_entries (context, entries, NULL);
  g_option_context_set_description (context, description);
  g_option_context_set_strict_posix (context, TRUE);
  if (!ctl_parse_options (context, &argc, &argv, &error))
    return ctl_fail (CTL_USAGE, "%s (see irisctl --help)", error->message);
  if (version)
    {
      g_print ("irisctl %s\n", IRIS_VERSION);
      return CTL_OK;
    }
  if (argc < 2)
    return ctl_fail (CTL_USAGE, "a command is missing: irisctl --help lists the commands");
  if (g_str_equal (argv[1], "help"))
    return show_help (context, &ctl, argc, argv);
  command = ctl_command_find (argv[1]);
  if (command == NULL)
    return ctl_fail (CTL_USAGE, "there is no command “%s”: irisctl --help lists the commands",
                     argv[1]);

  ctl.cancellable = g_cancellable_new ();
  status = ctl_command_run (command, &ctl, argc - 1, argv + 1);
  ctl_clear (&ctl);

  return status;
}
