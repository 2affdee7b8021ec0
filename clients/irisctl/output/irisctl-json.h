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

/* What was built, as it is printed. */
char *ctl_json_to_text (JsonBuilder *builder, gboolean pretty);

/* On standard output, with a newline: over several lines for people, or in one line. */
void ctl_json_print (JsonBuilder *builder);
void ctl_json_print_line (JsonBuilder *builder);

/* An object with one number. */
void ctl_json_print_int (const char *name, gint64 value);

/* An array that is printed element by element, a line for each. All zeroes is one that has not
 * begun. What is built with the builder that ctl_json_array_next() gives is printed by the next
 * call upon the array. */
typedef struct
{
  JsonBuilder *builder;
  guint64 n;
  gboolean open; /* an element is being built */
} CtlJsonArray;

void ctl_json_array_begin (CtlJsonArray *self);
JsonBuilder *ctl_json_array_next (CtlJsonArray *self);

/* Prints at once what was built. */
void ctl_json_array_flush (CtlJsonArray *self);
void ctl_json_array_end (CtlJsonArray *self);
