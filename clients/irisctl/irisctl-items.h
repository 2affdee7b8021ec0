/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * What the commands of irisctl that send single items share.
 */
#pragma once

#include "irisctl.h"

#include <stdio.h>

GBytes *ctl_read_stdin (GError **error);

/* Submits, waits, and says under which id if asked to. NULL after an error. */
IrisResult *ctl_submit (Ctl *ctl, IrisRequest *request, GError **error);

void ctl_result_json (Ctl *ctl, const IrisResult *result, gboolean command);

/* False when standard output, say, is a full disk. */
gboolean ctl_write_bytes (FILE *stream, GBytes *bytes, gboolean as_line);
