/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * Tables for people: columns as wide as their widest cell, lines as wide as the terminal at most.
 */
#pragma once

#include "clients/irisctl/output/irisctl-terminal.h"

typedef struct _CtlTable CtlTable;

/* @headings: one word a column; a column whose heading begins with ">" is aligned to the right. */
CtlTable *ctl_table_new (const char *const *headings);
void ctl_table_free (CtlTable *self);

/* As many cells as there are columns, each taken. */
void ctl_table_add (CtlTable *self, ...);

/* Lines are at most so wide, and "…" stands for the rest; 0: as wide as they are. */
void ctl_table_set_width (CtlTable *self, guint columns);

/* Columns without any text are left out. */
void ctl_table_set_sparse (CtlTable *self);

/* The heading is bold, if @on. */
void ctl_table_set_colours (CtlTable *self, gboolean on);

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
