/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * A progress bar on standard error, where that is a terminal.
 */
#pragma once

#include <glib.h>

G_BEGIN_DECLS

typedef struct
{
  guint64 done;
  guint64 total;        /* as far as is known */
  gboolean total_known; /* whether that is all */
  guint64 failed;
  guint64 bytes;
  double seconds;
} IrisctlProgressState;

typedef void (*IrisctlProgressAsk) (IrisctlProgressState *state, gpointer user_data);

typedef struct _IrisctlProgress IrisctlProgress;

IrisctlProgress *irisctl_progress_new (IrisctlProgressAsk ask, gpointer user_data);
void irisctl_progress_clear_line (IrisctlProgress *self);
void irisctl_progress_free (IrisctlProgress *self);
char *irisctl_progress_format (const IrisctlProgressState *state,
                               guint width,
                               gboolean unicode,
                               gboolean colour);

G_END_DECLS
