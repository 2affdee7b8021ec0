/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * Persistent items in words: command lines, times, places.
 */
#pragma once

#include "clients/irisctl/irisctl.h"

#include <json-glib/json-glib.h>

/* "2.5s", "4m07s", "3h05m", "2d01h": three digits are enough to decide whether to wait. */
char *ctl_format_duration (guint64 ms);

/* Local time, or "-" for 0. */
char *ctl_format_time (guint64 unix_ms);

/* Arguments as a shell would read them; empty for none. */
char *ctl_format_args (const char *const *args);

/* How long its latest attempt has run by @now_ms, or took if it has ended; 0 if that is not known.
 */
guint64 ctl_item_elapsed_ms (const IrisClientItem *item, guint64 now_ms);

/* What there is to say of its time: when it will run, for how long it has run, or what it took. */
char *ctl_format_item_time (const IrisClientItem *item, guint64 now_ms);

/* A user's name, or number. */
char *ctl_format_owner (guint uid);

/* An item as an object. */
void ctl_item_json (const Ctl *ctl, JsonBuilder *builder, const IrisClientItem *item);

/* The name of a place as long as the client lives, or "". */
const char *ctl_place_name (const Ctl *ctl, int id);

/* The name of its place, or "-". */
char *ctl_format_place (const Ctl *ctl, const IrisClientItem *item);
