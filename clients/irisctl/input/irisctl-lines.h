/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * Lines of a file or of standard input, as they come.
 */
#pragma once

#include <gio/gio.h>

/* A longer line is refused: more than irisd takes by default, also in base64. */
#define CTL_MAX_LINE (64 * 1024 * 1024)

typedef struct _CtlLines CtlLines;

typedef enum
{
  CTL_LINES_LINE,
  CTL_LINES_WAIT, /* nothing has come yet; the main context wakes when something has */
  CTL_LINES_END,
  CTL_LINES_FAILED,
} CtlLinesStep;

/* @path: a file, or "-" for standard input. @delimiter: what ends a line. */
CtlLines *ctl_lines_open (const char *path, char delimiter, GError **error);
void ctl_lines_free (CtlLines *self);

/* @line: set to the line without its delimiter and with a NUL behind it, valid until the next call.
 */
CtlLinesStep ctl_lines_next (CtlLines *self, const char **line, gsize *size, GError **error);

/* Of the last line, from 1. */
guint64 ctl_lines_get_number (CtlLines *self);

/* How it is called in messages. */
const char *ctl_lines_get_name (CtlLines *self);

/* How much of it was read, 0 to 1; negative if that is not known. */
double ctl_lines_get_fraction (CtlLines *self);

G_DEFINE_AUTOPTR_CLEANUP_FUNC (CtlLines, ctl_lines_free)
