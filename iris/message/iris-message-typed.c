/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * The named values of a message, by type.
 */
#include "iris/message/iris-message-values-private.h"

/* The value if it is of the type, or NULL and a word about it. */
static const GValue *
get_typed (const IrisMessage *self, const char *name, GType type)
{
  const GValue *value;

  g_return_val_if_fail (self != NULL, NULL);
  g_return_val_if_fail (name != NULL, NULL);

  value = iris_message_lookup (self, name);
  if (value == NULL)
    g_critical ("iris: the message has no value named \"%s\"", name);
  else if (!g_value_type_compatible (G_VALUE_TYPE (value), type))
    g_critical ("iris: the value named \"%s\" is a %s, not a %s", name, G_VALUE_TYPE_NAME (value),
                g_type_name (type));
  else
    return value;

  return NULL;
}

/* Room for a value of the type; NULL if the message was posted. */
static GValue *
set_typed (IrisMessage *self, const char *name, GType type)
{
  g_return_val_if_fail (self != NULL, NULL);
  g_return_val_if_fail (name != NULL, NULL);
  g_return_val_if_fail (!iris_message_is_sealed ((IrisMessageReal *) self), NULL);

  return g_value_init (iris_message_add_value (self, name), type);
}

/* A pointer with a destroy notify, as a boxed value: copies of it share it. */
typedef struct
{
  gpointer pointer;
  GDestroyNotify notify;
} OwnedPointer;

static void
owned_pointer_clear (gpointer data)
{
  OwnedPointer *self = data;

  self->notify (self->pointer);
}

static gpointer
owned_pointer_copy (gpointer data)
{
  return g_atomic_rc_box_acquire (data);
}

static void
owned_pointer_free (gpointer data)
{
  g_atomic_rc_box_release_full (data, owned_pointer_clear);
}

static GType
owned_pointer_get_type (void)
{
  static gsize type;

  if (g_once_init_enter (&type))
    g_once_init_leave (&type, g_boxed_type_register_static ("IrisOwnedPointer", owned_pointer_copy,
                                                            owned_pointer_free));

  return type;
}

/**
 * iris_message_get_string:
 * @name: the name of a value that the message carries; it is a programmer's error if it does not
 *
 * Returns: (transfer none) (nullable): the string, which is the message's; %NULL if there is none
 */
const char *
iris_message_get_string (const IrisMessage *self, const char *name)
{
  const GValue *value = get_typed (self, name, G_TYPE_STRING);

  return value != NULL ? g_value_get_string (value) : NULL;
}

/**
 * iris_message_set_string:
 * @self: a message that was not posted
 * @value: (nullable): a string, which is copied
 *
 * Gives the message a named value, in place of the one of that name.
 */
void
iris_message_set_string (IrisMessage *self, const char *name, const char *value)
{
  GValue *room = set_typed (self, name, G_TYPE_STRING);

  if (room != NULL)
    g_value_set_string (room, value);
}

/* The getter and the setter of a type that is passed by value. */
#define TYPED(kind, type, gtype, value_kind)                                     \
  type iris_message_get_##kind (const IrisMessage *self, const char *name)       \
  {                                                                              \
    const GValue *value = get_typed (self, name, gtype);                         \
                                                                                 \
    return value != NULL ? g_value_get_##value_kind (value) : 0;                 \
  }                                                                              \
                                                                                 \
  void iris_message_set_##kind (IrisMessage *self, const char *name, type value) \
  {                                                                              \
    GValue *room = set_typed (self, name, gtype);                                \
                                                                                 \
    if (room != NULL)                                                            \
      g_value_set_##value_kind (room, value);                                    \
  }

/**
 * iris_message_get_int:
 * @name: the name of a value that the message carries; it is a programmer's error if it does not
 *
 * Gets the value; 0 if there is none.
 */
/**
 * iris_message_set_int:
 * @self: a message that was not posted
 *
 * Gives the message a named value, in place of the one of that name.
 */
TYPED (int, gint, G_TYPE_INT, int)

/**
 * iris_message_get_int64:
 * @name: the name of a value that the message carries; it is a programmer's error if it does not
 *
 * Gets the value; 0 if there is none.
 */
/**
 * iris_message_set_int64:
 * @self: a message that was not posted
 *
 * Gives the message a named value, in place of the one of that name.
 */
TYPED (int64, gint64, G_TYPE_INT64, int64)

/**
 * iris_message_get_float:
 * @name: the name of a value that the message carries; it is a programmer's error if it does not
 *
 * Gets the value; 0 if there is none.
 */
/**
 * iris_message_set_float:
 * @self: a message that was not posted
 *
 * Gives the message a named value, in place of the one of that name.
 */
TYPED (float, gfloat, G_TYPE_FLOAT, float)

/**
 * iris_message_get_double:
 * @name: the name of a value that the message carries; it is a programmer's error if it does not
 *
 * Gets the value; 0 if there is none.
 */
/**
 * iris_message_set_double:
 * @self: a message that was not posted
 *
 * Gives the message a named value, in place of the one of that name.
 */
TYPED (double, gdouble, G_TYPE_DOUBLE, double)

/**
 * iris_message_get_long:
 * @name: the name of a value that the message carries; it is a programmer's error if it does not
 *
 * Gets the value; 0 if there is none.
 */
/**
 * iris_message_set_long:
 * @self: a message that was not posted
 *
 * Gives the message a named value, in place of the one of that name.
 */
TYPED (long, glong, G_TYPE_LONG, long)

/**
 * iris_message_get_ulong:
 * @name: the name of a value that the message carries; it is a programmer's error if it does not
 *
 * Gets the value; 0 if there is none.
 */
/**
 * iris_message_set_ulong:
 * @self: a message that was not posted
 *
 * Gives the message a named value, in place of the one of that name.
 */
TYPED (ulong, gulong, G_TYPE_ULONG, ulong)

/**
 * iris_message_get_char:
 * @name: the name of a value that the message carries; it is a programmer's error if it does not
 *
 * Gets the value; 0 if there is none.
 */
/**
 * iris_message_set_char:
 * @self: a message that was not posted
 *
 * Gives the message a named value, in place of the one of that name.
 */
TYPED (char, gchar, G_TYPE_CHAR, schar)

/**
 * iris_message_get_uchar:
 * @name: the name of a value that the message carries; it is a programmer's error if it does not
 *
 * Gets the value; 0 if there is none.
 */
/**
 * iris_message_set_uchar:
 * @self: a message that was not posted
 *
 * Gives the message a named value, in place of the one of that name.
 */
TYPED (uchar, guchar, G_TYPE_UCHAR, uchar)

/**
 * iris_message_get_boolean:
 * @name: the name of a value that the message carries; it is a programmer's error if it does not
 *
 * Gets the value; %FALSE if there is none.
 */
/**
 * iris_message_set_boolean:
 * @self: a message that was not posted
 *
 * Gives the message a named value, in place of the one of that name.
 */
TYPED (boolean, gboolean, G_TYPE_BOOLEAN, boolean)

/**
 * iris_message_get_object:
 * @name: the name of a value that the message carries; it is a programmer's error if it does not
 *
 * Returns: (transfer none) (nullable): the object; %NULL if there is none
 */
GObject *
iris_message_get_object (const IrisMessage *self, const char *name)
{
  const GValue *value = get_typed (self, name, G_TYPE_OBJECT);

  return value != NULL ? g_value_get_object (value) : NULL;
}

/**
 * iris_message_set_object:
 * @self: a message that was not posted
 * @value: (nullable): an object, to which the message takes a reference
 *
 * Gives the message a named value, in place of the one of that name.
 */
void
iris_message_set_object (IrisMessage *self, const char *name, GObject *value)
{
  GValue *room = set_typed (self, name, G_TYPE_OBJECT);

  if (room != NULL)
    g_value_set_object (room, value);
}

/**
 * iris_message_get_pointer: (skip)
 * @name: the name of a value that the message carries; it is a programmer's error if it does not
 *
 * Returns: (transfer none) (nullable): the pointer; %NULL if there is none
 */
gpointer
iris_message_get_pointer (const IrisMessage *self, const char *name)
{
  const GValue *value = self != NULL && name != NULL ? iris_message_lookup (self, name) : NULL;

  if (value != NULL && G_VALUE_HOLDS (value, owned_pointer_get_type ()))
    return ((const OwnedPointer *) g_value_get_boxed (value))->pointer;
  value = get_typed (self, name, G_TYPE_POINTER);

  return value != NULL ? g_value_get_pointer (value) : NULL;
}

/**
 * iris_message_set_pointer: (skip)
 * @self: a message that was not posted
 * @value: (nullable): a pointer, which the message does not own
 *
 * Gives the message a named value, in place of the one of that name.
 */
void
iris_message_set_pointer (IrisMessage *self, const char *name, gpointer value)
{
  GValue *room = set_typed (self, name, G_TYPE_POINTER);

  if (room != NULL)
    g_value_set_pointer (room, value);
}

/**
 * iris_message_set_pointer_full: (skip)
 * @self: a message that was not posted
 * @value: (nullable): a pointer
 * @notify: called with @value when no message carries it any more
 *
 * Gives the message a pointer that it owns. Copies of the message share it, and @notify is called
 * once.
 */
void
iris_message_set_pointer_full (IrisMessage *self,
                               const char *name,
                               gpointer value,
                               GDestroyNotify notify)
{
  GValue *room;
  OwnedPointer *owned;

  g_return_if_fail (notify != NULL);

  room = set_typed (self, name, owned_pointer_get_type ());
  if (room == NULL)
    return;
  owned = g_atomic_rc_box_new (OwnedPointer);
  owned->pointer = value;
  owned->notify = notify;
  g_value_take_boxed (room, owned);
}
