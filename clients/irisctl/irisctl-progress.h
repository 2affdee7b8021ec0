/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * A progress bar on standard error, if that is a terminal.
 */
#pragma once

#include <glib.h>

typedef struct
{
  gboolean shown; /* standard error is a terminal that can do it */
  gint64 next;    /* when to draw again, monotonic microseconds */
  gint64 begin;
} CtlProgress;

void ctl_progress_begin (CtlProgress *self);

/* @known: whether @total is final, or only what was found so far. */
void ctl_progress_update (CtlProgress *self, guint64 done, guint64 total, gboolean known);

/* Draws it now. @fraction: how much is done, 0 to 1, or negative: not known, no bar. */
void ctl_progress_show (CtlProgress *self, double fraction, const char *text);

/* Wipes the bar. */
void ctl_progress_end (CtlProgress *self);

/* The bar as text, without the control characters; @columns is the width of the terminal. */
char *
ctl_progress_format (guint64 done, guint64 total, gboolean known, gdouble seconds, int columns);
