/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * Writes JSON into a string, member by member.
 *
 * A state with 64 places and 1,000 services is written each second: json-glib would make some
 * 20,000 nodes for it first.
 */
#pragma once

#include <glib.h>

G_BEGIN_DECLS

typedef struct
{
  GString *text;
  gboolean comma; /* a member came before */
} WebJson;

/* The name is NULL in an array and for the outermost value. */
void web_json_begin (WebJson *self, const char *name, char bracket);
void web_json_end (WebJson *self, char bracket);
void web_json_text (WebJson *self, const char *name, const char *value);
void web_json_number (WebJson *self, const char *name, guint64 value);
void web_json_signed (WebJson *self, const char *name, gint64 value);
/* Not a number and infinity are null. */
void web_json_real (WebJson *self, const char *name, double value);
void web_json_bool (WebJson *self, const char *name, gboolean value);
/* As NAME if it is UTF-8, else as NAME_base64. */
void web_json_bytes (WebJson *self, const char *name, const void *data, gsize size);

/* The decimal digits of @value: several times faster than printf. */
void web_append_number (GString *text, guint64 value);
/* At most six digits. */
void web_append_real (GString *text, double value);

G_END_DECLS
