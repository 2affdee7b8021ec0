/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * One item from its submission to its end: how far it is, and its output or parts as they come.
 */
#pragma once

#include "clients/irisctl/irisctl.h"

/* --parts. */
extern gboolean ctl_follow_parts;

/* CTL_OK, or CTL_USAGE after printing why not. */
int ctl_follow_check (const Ctl *ctl);

/* Has the output of a command printed as it comes. */
void ctl_follow_output (Ctl *ctl, IrisRequest *request);

/* Submits and waits. NULL after an error. */
IrisResult *ctl_submit (Ctl *ctl, IrisRequest *request, GError **error);

/* Whether all that came was written: CTL_OK, or the exit status after printing why not. */
int ctl_follow_status (void);

/* The exit status of a command without a result, after printing why. */
int ctl_command_failure (const Ctl *ctl, const GError *error);
