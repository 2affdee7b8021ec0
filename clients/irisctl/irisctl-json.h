/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * Printing JSON: short hands for json-glib's builder.
 */
#pragma once

#include <json-glib/json-glib.h>

void ctl_json_string (JsonBuilder *builder, const char *name, const char *value);
void ctl_json_int (JsonBuilder *builder, const char *name, gint64 value);
void ctl_json_double (JsonBuilder *builder, const char *name, gdouble value);
void ctl_json_bool (JsonBuilder *builder, const char *name, gboolean value);

/* Bytes as a string under @name if they are UTF-8, otherwise in base64 under @name "_base64". */
void ctl_json_bytes (JsonBuilder *builder, const char *name, GBytes *bytes);

/* On standard output, with a newline. */
void ctl_json_print (JsonBuilder *builder);
