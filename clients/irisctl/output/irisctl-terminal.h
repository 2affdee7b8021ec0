/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * What irisctl does otherwise if a terminal reads it: widths, colours, keys.
 */
#pragma once

#include <gio/gio.h>

typedef enum
{
  CTL_COLOUR_NONE = 0,
  CTL_COLOUR_HEADING, /* bold */
  CTL_COLOUR_RED,
  CTL_COLOUR_GREEN,
  CTL_COLOUR_YELLOW,
  CTL_COLOUR_FAINT,
} CtlColour;

/* Columns and rows of the terminal that standard output is; 0 if it is none. */
guint ctl_terminal_columns (void);
guint ctl_terminal_rows (void);

/* Whether the cursor can be moved on standard output. */
gboolean ctl_terminal_is_screen (void);

/* Whether standard output is a terminal with colours, and NO_COLOR is not set. */
gboolean ctl_terminal_has_colours (void);

/* Begins to colour text, or ends it with CTL_COLOUR_NONE; empty where there are no colours. */
const char *ctl_terminal_colour (CtlColour colour);

/* At most @columns columns of @text, "…" being the last one if that is not all. What cannot be
 * printed, which might move the cursor, becomes a blank. 0: all of it. */
char *ctl_terminal_cut (const char *text, guint columns);

/* A line of text instead of an empty table; FALSE if standard output is no terminal: a program gets
 * the table. */
gboolean ctl_terminal_print_instead (const char *text);

/* The columns that @text takes, whose escape sequences for colours take none. */
guint ctl_terminal_width (const char *text);

/**
 * CtlKeys:
 *
 * Waits for keys on standard input without their being shown.
 */
typedef struct _CtlKeys CtlKeys;

/* The key q cancels. NULL if standard input is no terminal. */
CtlKeys *ctl_keys_new (GCancellable *cancellable);
void ctl_keys_free (CtlKeys *self);

G_DEFINE_AUTOPTR_CLEANUP_FUNC (CtlKeys, ctl_keys_free)
