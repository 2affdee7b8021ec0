/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * What is printed of each of many items: a line of text, or of JSON.
 */
#pragma once

#include "clients/irisctl/irisctl.h"

void ctl_item_line_print_number (Ctl *ctl, guint64 line, guint64 item);
void ctl_item_line_print_result (Ctl *ctl, guint64 line, const IrisResult *result);
void ctl_item_line_print_failure (Ctl *ctl, guint64 line, const GError *error);
