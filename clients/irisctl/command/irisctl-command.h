/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * The commands of irisctl: their table, and what several of them do.
 */
#pragma once

#include "clients/irisctl/input/irisctl-input.h"

/* --- commands --------------------------------------------------------------------------------- */

/* NULL behind the last one. */
const CtlCommand *ctl_command_nth (guint n);
const CtlCommand *ctl_command_find (const char *name);

/* The options of all commands, and those of a command as well. Options that are added are also
 * appended to @entries, of GOptionEntry, unless it is NULL. */
void ctl_common_add_options (Ctl *ctl, GOptionContext *context, GArray *entries);
GOptionContext *ctl_command_context (const CtlCommand *command, Ctl *ctl, GArray *entries);

/* Prints --help in the width of the terminal, and ends then. */
gboolean ctl_parse_options (GOptionContext *context, int *argc, char ***argv, GError **error);

/* Parses its options and arguments, and runs it. The exit status. */
int ctl_command_run (const CtlCommand *command, Ctl *ctl, int argc, char **argv);

/* Prints what can stand in place of the last of the words behind irisctl: a line for each, with
 * its meaning behind a tab, an option that takes a value with "=" at its end; or, for the shell to
 * complete, ":files", ":directories", or ":command N", another command line that begins with word
 * N, from 0. */
void ctl_complete (int n, char **words);

/* Has irisd read its configuration and keys again, and prints what changed. The exit status. */
int ctl_reload_settings (Ctl *ctl);

/* --- follow ----------------------------------------------------------------------------------- */

/* --parts. */
extern gboolean ctl_follow_parts;

/* CTL_OK, or CTL_USAGE after printing why not. */
int ctl_follow_check (const Ctl *ctl);

/* Has the output of a command printed as it comes. */
void ctl_follow_output (Ctl *ctl, IrisRequest *request);

/* Submits and waits. NULL after an error. */
IrisResult *ctl_submit (Ctl *ctl, IrisRequest *request, GError **error);

/* Whether all that came was written: CTL_OK, or the exit status after printing why not. */
int ctl_follow_status (void);

/* The exit status of a command without a result, after printing why. */
int ctl_command_failure (const Ctl *ctl, const GError *error);

/* --- submit many ------------------------------------------------------------------------------ */

/* What becomes of a line that is not a JSON object. */
typedef enum
{
  CTL_LINE_JSON,     /* it is one */
  CTL_LINE_PAYLOAD,  /* the item's payload */
  CTL_LINE_ARGUMENT, /* stands for {} in the arguments, or comes behind them */
  CTL_LINE_PATH,     /* a file that irisd reads */
} CtlLineKind;

typedef struct
{
  const char *path; /* "-": standard input */
  CtlLineKind kind;
  char delimiter;
  const char *key_prefix; /* keys are made of it and the number of the line; NULL: no keys */
  gboolean resume;        /* it is made of what the file holds */
  gboolean keep_going;    /* behind a line that cannot be read, or that irisd refuses */
  int in_flight;          /* items at once */
  CtlItem item;           /* what the lines do not say */
} CtlSubmitManyOptions;

#define CTL_LINE_IN_FLIGHT      1024
#define CTL_LINE_MOST_IN_FLIGHT 1000000

/* Submits all, prints what becomes of them, and returns the exit status. */
int ctl_submit_many (Ctl *ctl, const CtlSubmitManyOptions *options);

/* --- edit ------------------------------------------------------------------------------------- */

/* An item as a text, what the user's editor makes of it, and the values that differ by name. */
char *ctl_edit_form_write (guint64 number, GVariant *item);
int ctl_edit_form_show (const char *text, char **edited);
GHashTable *ctl_edit_form_compare (const char *before, const char *after);

/* --- watch ------------------------------------------------------------------------------------ */

/* Looks every @interval_s seconds, @count times or, if that is 0, until Ctrl-C. */
int ctl_watch_items (Ctl *ctl, double interval_s, int count);
