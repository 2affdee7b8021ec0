/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * What the commands of irisctl that send single items share.
 */
#pragma once

#include "clients/irisctl/irisctl.h"

#include <json-glib/json-glib.h>

#include <stdio.h>

GBytes *ctl_read_stdin (GError **error);
GBytes *ctl_read_file (const char *path, GError **error);

/* Submits, waits, and says under which id if asked to. NULL after an error. */
IrisResult *ctl_submit (Ctl *ctl, IrisRequest *request, GError **error);

/* What a shell would say of a command that has ended, or has no result. */
int ctl_show_command_result (Ctl *ctl, const IrisResult *result);
int ctl_command_failure (const Ctl *ctl, const GError *error);

void
ctl_result_members (Ctl *ctl, JsonBuilder *builder, const IrisResult *result, gboolean command);
void ctl_result_json (Ctl *ctl, const IrisResult *result, gboolean command);

/* False when standard output, say, is a full disk. */
gboolean ctl_write_bytes (FILE *stream, GBytes *bytes, gboolean as_line);

/* Whether @stream is a terminal and @bytes are text. */
gboolean ctl_wants_newline (FILE *stream, GBytes *bytes);
