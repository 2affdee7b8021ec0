/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * Tables for people: columns as wide as their widest cell, lines as wide as the terminal at most.
 */
#pragma once

#include "clients/irisctl/output/irisctl-terminal.h"

typedef struct _CtlTable CtlTable;

/* @headings: one for each column; with ">" before it the column is aligned to the right, with "+"
 * before that it is shown only if @verbose. */
CtlTable *ctl_table_new (const char *const *headings, gboolean verbose);
void ctl_table_free (CtlTable *self);

/* As many cells as there are columns, each taken. */
void ctl_table_add (CtlTable *self, ...);

/* Lines are at most as wide as the terminal, and "…" stands for the rest; the heading is bold where
 * there are colours. Without it lines are as wide as they are. */
void ctl_table_fit_terminal (CtlTable *self);

/* Columns without any text are left out. */
void ctl_table_set_sparse (CtlTable *self);

/* A cell in a colour; takes @text. */
char *ctl_table_colour (CtlColour colour, char *text);

/* Rows that come after are set off by a line. */
void ctl_table_add_line (CtlTable *self);

/* Prints what was added since the last time, the headings only once, and forgets it. Columns never
 * get narrower. */
void ctl_table_flush (CtlTable *self);

/* The table as text, a newline behind each row. */
char *ctl_table_to_string (CtlTable *self);

G_DEFINE_AUTOPTR_CLEANUP_FUNC (CtlTable, ctl_table_free)

char *ctl_number (guint64 number);
char *ctl_seconds (guint64 nanoseconds);
