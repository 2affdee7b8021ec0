/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * Results, as text or as JSON.
 */
#pragma once

#include "clients/irisctl/irisctl.h"

#include <json-glib/json-glib.h>

#include <stdio.h>

/* Print a result, of a command with its two outputs. They return the exit status: for a command
 * what a shell says of it. */
int ctl_show_result (Ctl *ctl, const IrisResult *result);
int ctl_show_command_result (Ctl *ctl, const IrisResult *result);

void
ctl_result_members (Ctl *ctl, JsonBuilder *builder, const IrisResult *result, gboolean command);

/* False when standard output, say, is a full disk. */
gboolean ctl_write_bytes (FILE *stream, GBytes *bytes, gboolean as_line);
