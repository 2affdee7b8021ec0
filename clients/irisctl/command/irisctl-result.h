/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * What the commands about persistent items share.
 */
#pragma once

#include "clients/irisctl/irisctl.h"

#include <json-glib/json-glib.h>

/* The number of an item; 0 is none. */
gboolean ctl_parse_number (const char *text, guint64 *number);

/* Says so, and returns CTL_USAGE. */
int ctl_bad_number (const char *text);

/* An item as an object, and one of its times as text. */
void ctl_item_json (const Ctl *ctl, JsonBuilder *builder, const IrisClientItem *item);

/* Prints a result, of a command with its two outputs. Returns the exit status. */
int ctl_show_result (Ctl *ctl, const IrisResult *result, gboolean command);
