/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * The table of commands, from which help, completion and the check of what was typed come.
 */
#pragma once

#include "clients/irisctl/irisctl.h"

/* NULL behind the last one. */
const CtlCommand *ctl_command_nth (guint n);
const CtlCommand *ctl_command_find (const char *name);

/* The options of all commands, and those of a command as well. Options that are added are also
 * appended to @entries, of GOptionEntry, unless it is NULL. */
void ctl_common_add_options (Ctl *ctl, GOptionContext *context, GArray *entries);
GOptionContext *ctl_command_context (const CtlCommand *command, Ctl *ctl, GArray *entries);

/* Parses its options and arguments, and runs it. The exit status. */
int ctl_command_run (const CtlCommand *command, Ctl *ctl, int argc, char **argv);

/* Prints what can stand in place of the last of the words behind irisctl: a line for each, with
 * its meaning behind a tab, an option that takes a value with "=" at its end; or, for the shell to
 * complete, ":files", ":directories", or ":command N", another command line that begins with word
 * N, from 0. */
void ctl_complete (int n, char **words);
