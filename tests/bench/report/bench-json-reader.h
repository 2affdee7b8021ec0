/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * Reading a report in JSON without trust in the file: what is missing, or of another type, is NULL
 * or NAN.
 */
#pragma once

#include <json-glib/json-glib.h>

const char *bench_json_text (JsonObject *object, const char *name);
gdouble bench_json_number (JsonObject *object, const char *name);
gboolean bench_json_flag (JsonObject *object, const char *name);
JsonObject *bench_json_object (JsonObject *object, const char *name);
JsonArray *bench_json_array (JsonObject *object, const char *name);
/* 0 if there is no such array. */
guint bench_json_length (JsonArray *array);
JsonObject *bench_json_object_at (JsonArray *array, guint index);
const char *bench_json_text_at (JsonArray *array, guint index);
gdouble bench_json_number_at (JsonArray *array, guint index);

/* The whole report, if it looks like one: an object with results. */
JsonObject *bench_json_report (JsonNode *root);
