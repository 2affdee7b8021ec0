/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * What is printed of each of many items: a line of text, or of JSON.
 */
#pragma once

#include "irisctl.h"

void ctl_bulk_print_number (Ctl *ctl, guint64 line, guint64 item);
void ctl_bulk_print_result (Ctl *ctl, guint64 line, const IrisResult *result);
void ctl_bulk_print_failure (Ctl *ctl, guint64 line, const GError *error);
