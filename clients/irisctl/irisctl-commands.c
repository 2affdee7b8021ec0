/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * The commands of irisctl, and what their --help says.
 */
#include "irisctl-command.h"

#include <string.h>

static const IrisctlCommand places = {
  .name = "places",
  .synopsis = "",
  .summary = "List the places of the machine",
  .details = "A place is a part of the machine that shares memory close by. Its id or its\n"
             "name is what --place of other commands takes. Distances are relative: to each\n"
             "place, in the order of their ids.\n"
             "\n"
             "Examples:\n"
             "  irisctl places\n"
             "  irisctl places --json",
  .run = irisctl_places,
};

static const IrisctlCommand services = {
  .name = "services",
  .synopsis = "",
  .summary = "List what irisd can do with an item",
  .details = "Examples:\n"
             "  irisctl services",
  .run = irisctl_services,
};

static const IrisctlCommand status = {
  .name = "status",
  .synopsis = "",
  .summary = "Show irisd's state and counters",
  .details = "The counters are irisd's own since it started, over all its clients.\n"
             "\n"
             "Examples:\n"
             "  irisctl status\n"
             "  irisctl status --json\n"
             "  irisctl --wait 10 status      wait for irisd to come up first",
  .run = irisctl_status,
};

static const IrisctlCommand send_command = {
  .name = "send",
  .synopsis = "SERVICE [PAYLOAD|-]",
  .summary = "Send one item, and print what comes back",
  .details = "The payload is the argument, or with “-” the standard input; without either it\n"
             "is empty.\n"
             "\n"
             "Examples:\n"
             "  irisctl send sha256 hello\n"
             "  irisctl send wordcount - < README.md\n"
             "  irisctl send --place 0 --strict sha256 --path /etc/hostname",
  .run = irisctl_send,
};

static const IrisctlCommand map = {
  .name = "map",
  .synopsis = "SERVICE FILE|DIR...",
  .summary = "Send one item for each file, and tell what ran where",
  .details = "Each regular file below a DIR is an item; irisd itself opens the file.\n"
             "Symbolic links are followed only where they are named on the command line.\n"
             "Files come in the order of their names, directory by directory, and so do the\n"
             "lines of --output and --print: they look like those of sha256sum, whose\n"
             "--check takes them. The table counts by place: items hinted there, executed\n"
             "there, stolen in and out, bytes, and seconds of work.\n"
             "\n"
             "Examples:\n"
             "  irisctl map sha256 /usr/include\n"
             "  irisctl map sha256 --output sums src && sha256sum --check --quiet sums\n"
             "  irisctl map wordcount --print --hints by-directory doc\n"
             "  irisctl map sha256 --place 0 --strict /usr/include",
  .run = irisctl_map,
};

static const IrisctlCommand run = {
  .name = "run",
  .synopsis = "[--] COMMAND [ARGUMENT...]",
  .summary = "Run a program at a place",
  .details = "The program runs where irisd runs, bound to the cpus of its place; what it\n"
             "writes comes back when it has ended. Its standard input is this one, unless\n"
             "that is a terminal. Its exit status is irisctl's: 128 and the signal's number\n"
             "if a signal ended it, 127 if there is no such program, 125 if irisd could not\n"
             "be reached or did not take it. Ctrl-C cancels it.\n"
             "\n"
             "Examples:\n"
             "  irisctl run uname -a\n"
             "  irisctl run --place 1 --strict -- sh -c 'taskset -cp $$'\n"
             "  irisctl run wc -l < README.md",
  .run = irisctl_run,
};

static const IrisctlCommand cancel = {
  .name = "cancel",
  .synopsis = "ID...",
  .summary = "Cancel items by their ids",
  .details = "send, run and map tell the ids of their items with --verbose. A queued item\n"
             "will not run; a running command is asked to stop.\n"
             "\n"
             "Examples:\n"
             "  irisctl cancel 0123456789abcdef0000000000000001",
  .run = irisctl_cancel,
};

static const IrisctlCommand help = {
  .name = "help",
  .synopsis = "[COMMAND]",
  .summary = "Tell about irisctl or one of its commands",
  .details = NULL,
  .run = irisctl_help,
};

const IrisctlCommand *const irisctl_commands[] = {
  &places, &services, &status, &send_command, &map, &run, &cancel, &help, NULL,
};

/* Finds a command by its name; NULL if there is none. */
const IrisctlCommand *
irisctl_command_find (const char *name)
{
  for (gsize i = 0; irisctl_commands[i] != NULL; i++)
    if (strcmp (irisctl_commands[i]->name, name) == 0)
      return irisctl_commands[i];
  return NULL;
}
