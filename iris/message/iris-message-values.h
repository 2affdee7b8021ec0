/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * The named values of a message.
 */
#pragma once

#include <iris/message/iris-message.h>

G_BEGIN_DECLS

IRIS_AVAILABLE_IN_ALL
IrisMessage *iris_message_new_items (gint what, const char *name, GType type, ...);
IRIS_AVAILABLE_IN_ALL
guint iris_message_count_names (const IrisMessage *self);
IRIS_AVAILABLE_IN_ALL
gboolean iris_message_is_empty (const IrisMessage *self);
IRIS_AVAILABLE_IN_ALL
gboolean iris_message_contains (const IrisMessage *self, const char *name);
IRIS_AVAILABLE_IN_ALL
gboolean iris_message_get_value (const IrisMessage *self, const char *name, GValue *value);
IRIS_AVAILABLE_IN_ALL
void iris_message_set_value (IrisMessage *self, const char *name, const GValue *value);

IRIS_AVAILABLE_IN_ALL
const char *iris_message_get_string (const IrisMessage *self, const char *name);
IRIS_AVAILABLE_IN_ALL
void iris_message_set_string (IrisMessage *self, const char *name, const char *value);
IRIS_AVAILABLE_IN_ALL
gint iris_message_get_int (const IrisMessage *self, const char *name);
IRIS_AVAILABLE_IN_ALL
void iris_message_set_int (IrisMessage *self, const char *name, gint value);
IRIS_AVAILABLE_IN_ALL
gint64 iris_message_get_int64 (const IrisMessage *self, const char *name);
IRIS_AVAILABLE_IN_ALL
void iris_message_set_int64 (IrisMessage *self, const char *name, gint64 value);
IRIS_AVAILABLE_IN_ALL
gfloat iris_message_get_float (const IrisMessage *self, const char *name);
IRIS_AVAILABLE_IN_ALL
void iris_message_set_float (IrisMessage *self, const char *name, gfloat value);
IRIS_AVAILABLE_IN_ALL
gdouble iris_message_get_double (const IrisMessage *self, const char *name);
IRIS_AVAILABLE_IN_ALL
void iris_message_set_double (IrisMessage *self, const char *name, gdouble value);
IRIS_AVAILABLE_IN_ALL
glong iris_message_get_long (const IrisMessage *self, const char *name);
IRIS_AVAILABLE_IN_ALL
void iris_message_set_long (IrisMessage *self, const char *name, glong value);
IRIS_AVAILABLE_IN_ALL
gulong iris_message_get_ulong (const IrisMessage *self, const char *name);
IRIS_AVAILABLE_IN_ALL
void iris_message_set_ulong (IrisMessage *self, const char *name, gulong value);
IRIS_AVAILABLE_IN_ALL
gchar iris_message_get_char (const IrisMessage *self, const char *name);
IRIS_AVAILABLE_IN_ALL
void iris_message_set_char (IrisMessage *self, const char *name, gchar value);
IRIS_AVAILABLE_IN_ALL
guchar iris_message_get_uchar (const IrisMessage *self, const char *name);
IRIS_AVAILABLE_IN_ALL
void iris_message_set_uchar (IrisMessage *self, const char *name, guchar value);
IRIS_AVAILABLE_IN_ALL
gboolean iris_message_get_boolean (const IrisMessage *self, const char *name);
IRIS_AVAILABLE_IN_ALL
void iris_message_set_boolean (IrisMessage *self, const char *name, gboolean value);
IRIS_AVAILABLE_IN_ALL
GObject *iris_message_get_object (const IrisMessage *self, const char *name);
IRIS_AVAILABLE_IN_ALL
void iris_message_set_object (IrisMessage *self, const char *name, GObject *value);
IRIS_AVAILABLE_IN_ALL
gpointer iris_message_get_pointer (const IrisMessage *self, const char *name);
IRIS_AVAILABLE_IN_ALL
void iris_message_set_pointer (IrisMessage *self, const char *name, gpointer value);
IRIS_AVAILABLE_IN_ALL
void iris_message_set_pointer_full (IrisMessage *self,
                                    const char *name,
                                    gpointer value,
                                    GDestroyNotify notify);

G_END_DECLS
