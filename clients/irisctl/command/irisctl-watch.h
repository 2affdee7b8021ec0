/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * irisctl watch --items: persistent items, each time that one has come into another state.
 */
#pragma once

#include "clients/irisctl/irisctl.h"

/* Looks every @interval_s seconds, @count times or, if that is 0, until Ctrl-C. */
int ctl_watch_items (Ctl *ctl, double interval_s, int count);
