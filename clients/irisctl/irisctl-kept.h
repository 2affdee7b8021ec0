/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * What the commands about kept items share.
 */
#pragma once

#include "irisctl.h"

/* The number of an item; 0 is none. */
gboolean ctl_parse_number (const char *text, guint64 *number);

/* Prints a result, of a command with its two outputs. Returns the exit status. */
int ctl_show_result (Ctl *ctl, const IrisResult *result, gboolean command);

/* What the options of submit say about keeping an item. */
typedef struct
{
  char *klass;
  char *key;
  char *keep;
  gboolean detach;
  gboolean bury;
} CtlKeeping;

extern CtlKeeping ctl_keeping;

/* Judges them, and gives them to a request. */
gboolean ctl_apply_keeping (IrisRequest *request, gboolean *detached, GError **error);
