/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * A progress bar on standard error, if that is a terminal.
 */
#pragma once

#include <glib.h>

typedef struct
{
  gboolean shown; /* standard error is a terminal that can do it */
  gboolean drawn;
  gint64 begin; /* monotonic microseconds */
} CtlProgress;

void ctl_progress_begin (CtlProgress *self);

/* @fraction is below 0 if it is not known; @text is shown behind the bar, and may be NULL. */
void ctl_progress_show (CtlProgress *self, double fraction, const char *text);

/* Wipes the bar, if there is one. */
void ctl_progress_end (CtlProgress *self);

/* The bar without control characters, in less than @columns columns; 0: the text alone, whole. */
char *ctl_progress_format (double fraction, const char *text, int columns);
