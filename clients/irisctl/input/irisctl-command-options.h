/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * The options that say how a command is to be run.
 */
#pragma once

#include "clients/irisctl/irisctl.h"

GOptionEntry *ctl_command_entries (CtlCommandOptions *options);
gboolean ctl_command_check (const CtlCommandOptions *options, GError **error);
void ctl_command_apply (const CtlCommandOptions *options, IrisRequest *request);
void ctl_command_clear (CtlCommandOptions *options);
