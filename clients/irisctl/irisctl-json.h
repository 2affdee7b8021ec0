/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * JSON for programs that read irisctl.
 */
#pragma once

#include <json-glib/json-glib.h>

G_BEGIN_DECLS

void irisctl_json_string (JsonBuilder *builder, const char *name, const char *value);
void irisctl_json_int (JsonBuilder *builder, const char *name, gint64 value);
void irisctl_json_double (JsonBuilder *builder, const char *name, double value);
void irisctl_json_boolean (JsonBuilder *builder, const char *name, gboolean value);
void irisctl_json_bytes (JsonBuilder *builder, const char *name, GBytes *bytes);
void irisctl_json_print (JsonBuilder *builder);

G_END_DECLS
