/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * The message: a number that says what it is, and a value that goes with it.
 */
#pragma once

#include <iris/base/iris-version-macros.h>
#include <glib-object.h>

G_BEGIN_DECLS

#define IRIS_TYPE_MESSAGE (iris_message_get_type ())

typedef struct _IrisMessage IrisMessage;

/**
 * IrisMessage:
 * @what: what the message is about; the meaning is the program's
 *
 * A message. It is made with a floating reference, which posting it takes; after that it must not
 * be changed.
 */
struct _IrisMessage
{
  gint what;
};

IRIS_AVAILABLE_IN_ALL GType iris_message_get_type (void);
IRIS_AVAILABLE_IN_ALL IrisMessage *iris_message_new (gint what);
IRIS_AVAILABLE_IN_ALL IrisMessage *iris_message_new_sunk (gint what);
IRIS_AVAILABLE_IN_ALL IrisMessage *iris_message_new_data (gint what, GType type, ...);
IRIS_AVAILABLE_IN_ALL IrisMessage *iris_message_ref (IrisMessage *self);
IRIS_AVAILABLE_IN_ALL IrisMessage *iris_message_ref_sink (IrisMessage *self);
IRIS_AVAILABLE_IN_ALL void iris_message_unref (IrisMessage *self);
IRIS_AVAILABLE_IN_ALL IrisMessage *iris_message_copy (const IrisMessage *self);
IRIS_AVAILABLE_IN_ALL IrisMessage *iris_message_copy_sunk (const IrisMessage *self);
IRIS_AVAILABLE_IN_ALL void
iris_message_set_footprint (IrisMessage *self, guint64 bytes, gboolean keep_apart);
IRIS_AVAILABLE_IN_ALL const GValue *iris_message_get_data (const IrisMessage *self);
IRIS_AVAILABLE_IN_ALL void iris_message_set_data (IrisMessage *self, const GValue *value);

G_DEFINE_AUTOPTR_CLEANUP_FUNC (IrisMessage, iris_message_unref)

IRIS_AVAILABLE_IN_ALL IrisMessage *
iris_message_new_items (gint what, const char *name, GType type, ...);
IRIS_AVAILABLE_IN_ALL guint iris_message_count_names (const IrisMessage *self);
IRIS_AVAILABLE_IN_ALL gboolean iris_message_is_empty (const IrisMessage *self);
IRIS_AVAILABLE_IN_ALL gboolean iris_message_contains (const IrisMessage *self, const char *name);
IRIS_AVAILABLE_IN_ALL gboolean iris_message_get_value (const IrisMessage *self,
                                                       const char *name,
                                                       GValue *value);
IRIS_AVAILABLE_IN_ALL void
iris_message_set_value (IrisMessage *self, const char *name, const GValue *value);

IRIS_AVAILABLE_IN_ALL const char *
iris_message_get_string (const IrisMessage *self, const char *name);
IRIS_AVAILABLE_IN_ALL void
iris_message_set_string (IrisMessage *self, const char *name, const char *value);
IRIS_AVAILABLE_IN_ALL gint iris_message_get_int (const IrisMessage *self, const char *name);
IRIS_AVAILABLE_IN_ALL void iris_message_set_int (IrisMessage *self, const char *name, gint value);
IRIS_AVAILABLE_IN_ALL gint64 iris_message_get_int64 (const IrisMessage *self, const char *name);
IRIS_AVAILABLE_IN_ALL void
iris_message_set_int64 (IrisMessage *self, const char *name, gint64 value);
IRIS_AVAILABLE_IN_ALL gfloat iris_message_get_float (const IrisMessage *self, const char *name);
IRIS_AVAILABLE_IN_ALL void
iris_message_set_float (IrisMessage *self, const char *name, gfloat value);
IRIS_AVAILABLE_IN_ALL gdouble iris_message_get_double (const IrisMessage *self, const char *name);
IRIS_AVAILABLE_IN_ALL void
iris_message_set_double (IrisMessage *self, const char *name, gdouble value);
IRIS_AVAILABLE_IN_ALL glong iris_message_get_long (const IrisMessage *self, const char *name);
IRIS_AVAILABLE_IN_ALL void iris_message_set_long (IrisMessage *self, const char *name, glong value);
IRIS_AVAILABLE_IN_ALL gulong iris_message_get_ulong (const IrisMessage *self, const char *name);
IRIS_AVAILABLE_IN_ALL void
iris_message_set_ulong (IrisMessage *self, const char *name, gulong value);
IRIS_AVAILABLE_IN_ALL gchar iris_message_get_char (const IrisMessage *self, const char *name);
IRIS_AVAILABLE_IN_ALL void iris_message_set_char (IrisMessage *self, const char *name, gchar value);
IRIS_AVAILABLE_IN_ALL guchar iris_message_get_uchar (const IrisMessage *self, const char *name);
IRIS_AVAILABLE_IN_ALL void
iris_message_set_uchar (IrisMessage *self, const char *name, guchar value);
IRIS_AVAILABLE_IN_ALL gboolean iris_message_get_boolean (const IrisMessage *self, const char *name);
IRIS_AVAILABLE_IN_ALL void
iris_message_set_boolean (IrisMessage *self, const char *name, gboolean value);
IRIS_AVAILABLE_IN_ALL GObject *iris_message_get_object (const IrisMessage *self, const char *name);
IRIS_AVAILABLE_IN_ALL void
iris_message_set_object (IrisMessage *self, const char *name, GObject *value);
IRIS_AVAILABLE_IN_ALL gpointer iris_message_get_pointer (const IrisMessage *self, const char *name);
IRIS_AVAILABLE_IN_ALL void
iris_message_set_pointer (IrisMessage *self, const char *name, gpointer value);
IRIS_AVAILABLE_IN_ALL void iris_message_set_pointer_full (IrisMessage *self,
                                                          const char *name,
                                                          gpointer value,
                                                          GDestroyNotify notify);

#define IRIS_MESSAGE_ERROR (iris_message_error_quark ())

/**
 * IrisMessageError:
 * @IRIS_MESSAGE_ERROR_UNANSWERED: the message was handled or dropped, and no thread answered
 * @IRIS_MESSAGE_ERROR_TIMED_OUT: no answer came before the deadline
 * @IRIS_MESSAGE_ERROR_FULL: the port holds as many messages as its limit allows
 * @IRIS_MESSAGE_ERROR_PORT_GONE: the port ended while the message waited in it
 * @IRIS_MESSAGE_ERROR_CANCELLED: the request was cancelled
 *
 * Why a message was not accepted or a request not answered.
 */
typedef enum
{
  IRIS_MESSAGE_ERROR_UNANSWERED,
  IRIS_MESSAGE_ERROR_TIMED_OUT,
  IRIS_MESSAGE_ERROR_FULL,
  IRIS_MESSAGE_ERROR_PORT_GONE,
  IRIS_MESSAGE_ERROR_CANCELLED,
} IrisMessageError;

IRIS_AVAILABLE_IN_ALL GQuark iris_message_error_quark (void);

G_END_DECLS
