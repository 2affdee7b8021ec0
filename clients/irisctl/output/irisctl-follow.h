/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * Following one item while worker processes work on it: how far it is, and parts of its result.
 */
#pragma once

#include "clients/irisctl/irisctl.h"

/* --parts. */
extern gboolean ctl_follow_parts;

/* CTL_OK, or CTL_USAGE after printing why not. */
int ctl_follow_check (const Ctl *ctl);

/* Before an item is submitted, and when it has ended. */
void ctl_follow_begin (Ctl *ctl, IrisRequest *request);
void ctl_follow_end (void);

/* Whether all parts were written: CTL_OK, or the exit status after printing why not. */
int ctl_follow_status (void);
