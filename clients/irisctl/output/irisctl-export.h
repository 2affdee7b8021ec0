/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * Persistent items as lines of JSON, which submit can read.
 */
#pragma once

#include "clients/irisctl/irisctl.h"

#include <stdio.h>

/* Writes an item as it was submitted, on a line of its own. CTL_OK, or the exit status after
 * printing why not. */
int ctl_export_item (Ctl *ctl, guint64 number, FILE *out);
