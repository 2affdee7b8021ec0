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

/* Of many items: @fraction as below; @text is shown behind the bar. */
void ctl_progress_show_text (CtlProgress *self, double fraction, const char *text);

/* Of one item: @fraction is below 0 if that is not known; @note may be NULL. */
void ctl_progress_show (CtlProgress *self, gdouble fraction, const char *note);

/* Wipes the bar. */
void ctl_progress_end (CtlProgress *self);

/* The bar as text, without the control characters; @columns is the width of the terminal. */
char *
ctl_progress_format (guint64 done, guint64 total, gboolean known, gdouble seconds, int columns);
char *ctl_progress_format_item (gdouble fraction, const char *note, int columns);
