/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * irisctl: irisd from the command line.
 */
#include "irisctl-command.h"

#include <locale.h>
#include <stdio.h>
#include <string.h>

static void
print_overview (void)
{
  g_print ("Usage:\n"
           "  irisctl [OPTION…] COMMAND [ARGUMENT…]\n"
           "\n"
           "Sends work to irisd and tells what became of it.\n"
           "\n"
           "Commands:\n");
  for (gsize i = 0; irisctl_commands[i] != NULL; i++)
    g_print ("  %-10s %s\n", irisctl_commands[i]->name, irisctl_commands[i]->summary);
  g_print ("\n"
           "Options, before or after the command:\n"
           "  -d, --dir=DIR            Find irisd's sockets in DIR\n"
           "  -e, --endpoint=ENDPOINT  Find irisd at a ZeroMQ endpoint\n"
           "  -w, --wait=SECONDS       Wait up to SECONDS for irisd to come up\n"
           "  -j, --json               Print JSON\n"
           "  -v, --verbose            Tell more: ids, where items ran, endpoints\n"
           "  -V, --version            Print the version, and exit\n"
           "  -h, --help               Show this text, or that of a command\n"
           "\n"
           "Exit status: 0 all went well, 1 an item failed, 2 wrong usage, 3 no irisd,\n"
           "4 irisd refused; run has that of its command.\n"
           "\n"
           "Examples:\n"
           "  irisctl places\n"
           "  irisctl send sha256 hello\n"
           "  irisctl map sha256 /usr/include\n"
           "  irisctl help map\n");
}

int
irisctl_help (Irisctl *self, int argc, char **argv)
{
  char option[] = "--help";
  char *help_argv[] = { argv[0], option, NULL };
  const IrisctlCommand *command = argc > 1 ? irisctl_command_find (argv[1]) : NULL;

  if (argc > 2)
    return irisctl_usage (NULL, "help takes one command");
  if (argc > 1 && command == NULL)
    return irisctl_usage (NULL, "there is no command “%s”", argv[1]);
  if (command == NULL || command->run == irisctl_help)
    {
      print_overview ();
      return IRISCTL_OK;
    }
  return command->run (self, 2, help_argv);
}

static gboolean
is_help (const char *word)
{
  return strcmp (word, "--help") == 0 || strcmp (word, "-h") == 0 || strcmp (word, "-?") == 0;
}

/* Looks at the words up to the command: --help may stand among them. */
static gboolean
wants_overview (int argc, char **argv)
{
  for (int i = 1; i < argc && argv[i][0] == '-' && strcmp (argv[i], "--") != 0; i++)
    if (is_help (argv[i]))
      return TRUE;
  return FALSE;
}

static int
irisctl_main (Irisctl *self, int argc, char **argv)
{
  const IrisctlCommand *command;

  if (wants_overview (argc, argv))
    {
      print_overview ();
      return IRISCTL_OK;
    }
  if (!irisctl_parse_globals (self, &argc, &argv))
    return IRISCTL_USAGE;
  if (self->globals.version)
    {
      irisctl_print_version ();
      return IRISCTL_OK;
    }
  if (argc < 2)
    return irisctl_usage (NULL, "say which command");
  command = irisctl_command_find (argv[1]);
  if (command == NULL)
    return irisctl_usage (NULL, "there is no command “%s”", argv[1]);
  return command->run (self, argc - 1, argv + 1);
}

int
main (int argc, char **argv)
{
  Irisctl self = { 0 };
  int status;

  setlocale (LC_ALL, "");
  g_set_prgname ("irisctl");
  status = irisctl_main (&self, argc, argv);
  irisctl_clear (&self);
  if (fflush (stdout) != 0 && status == IRISCTL_OK)
    {
      irisctl_complain ("cannot write the output");
      status = IRISCTL_FAILED;
    }
  return status;
}
