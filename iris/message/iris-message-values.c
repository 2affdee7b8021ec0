/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * The named values of a message: a table that is made with the first one.
 *
 * Before a message is posted they are its maker's; after that they do not change, so any thread may
 * read them without a lock.
 */
#include "iris/message/iris-message-private.h"
#define IRIS_INSIDE
#include "iris/message/iris-message-values.h"
#undef IRIS_INSIDE

#include <gobject/gvaluecollector.h>

static GHashTable *
get_table (const IrisMessage *self)
{
  IrisMessageMore *more = ((const IrisMessageReal *) self)->more;

  return more != NULL ? more->values : NULL;
}

static const GValue *
lookup (const IrisMessage *self, const char *name)
{
  GHashTable *table = get_table (self);

  return table != NULL ? g_hash_table_lookup (table, name) : NULL;
}

static void
value_free (gpointer data)
{
  g_value_unset (data);
  g_free (data);
}

/* An unset value under @name, in place of what was there. */
static GValue *
value_new (IrisMessage *self, const char *name)
{
  IrisMessageMore *more = iris_message_need_more ((IrisMessageReal *) self);
  GValue *value = g_new0 (GValue, 1);

  if (more->values == NULL)
    more->values = g_hash_table_new_full (g_str_hash, g_str_equal, g_free, value_free);
  g_hash_table_replace (more->values, g_strdup (name), value);

  return value;
}

void
iris_message_copy_values (IrisMessage *copy, const IrisMessage *original)
{
  GHashTable *table = get_table (original);
  GHashTableIter iter;
  gpointer name, value;

  if (table == NULL)
    return;
  g_hash_table_iter_init (&iter, table);
  while (g_hash_table_iter_next (&iter, &name, &value))
    iris_message_set_value (copy, name, value);
}

/**
 * iris_message_new_items: (skip)
 * @what: what the message is about
 * @name: (nullable): the first name
 * @type: the type of its value
 * @...: the value as g_object_set() would take it; then more names, types and values; then %NULL
 *
 * Makes a message that carries named values.
 *
 * Returns: (transfer floating): a message with a floating reference
 *
 * Since: 0.1
 */
IrisMessage *
iris_message_new_items (gint what, const char *name, GType type, ...)
{
  IrisMessage *self = iris_message_new (what);
  va_list args;

  va_start (args, type);
  while (name != NULL)
    {
      GValue value = G_VALUE_INIT;
      g_autofree char *error = NULL;

      G_VALUE_COLLECT_INIT (&value, type, args, 0, &error);
      if (error != NULL)
        {
          /* As the collector demands, the value is not unset; and what follows cannot be read. */
          g_critical ("iris: no value of type %s: %s", g_type_name (type), error);
          break;
        }
      iris_message_set_value (self, name, &value);
      g_value_unset (&value);
      name = va_arg (args, const char *);
      if (name != NULL)
        type = va_arg (args, GType);
    }
  va_end (args);

  return self;
}

/**
 * iris_message_count_names:
 * @self: a message
 *
 * Returns: how many named values the message carries
 *
 * Since: 0.1
 */
guint
iris_message_count_names (const IrisMessage *self)
{
  GHashTable *table;

  g_return_val_if_fail (self != NULL, 0);

  table = get_table (self);
  return table != NULL ? g_hash_table_size (table) : 0;
}

/**
 * iris_message_is_empty:
 * @self: a message
 *
 * Returns: whether the message carries neither data nor named values
 *
 * Since: 0.1
 */
gboolean
iris_message_is_empty (const IrisMessage *self)
{
  g_return_val_if_fail (self != NULL, TRUE);

  return iris_message_get_data (self) == NULL && iris_message_count_names (self) == 0;
}

/**
 * iris_message_contains:
 * @self: a message
 * @name: a name
 *
 * Returns: whether the message carries a value of that name
 *
 * Since: 0.1
 */
gboolean
iris_message_contains (const IrisMessage *self, const char *name)
{
  g_return_val_if_fail (self != NULL, FALSE);
  g_return_val_if_fail (name != NULL, FALSE);

  return lookup (self, name) != NULL;
}

/**
 * iris_message_get_value:
 * @self: a message
 * @name: a name
 * @value: (out caller-allocates): %G_VALUE_INIT; initialised and set to a copy
 *
 * Gets a copy of a named value.
 *
 * Returns: whether there is one; if not, @value is left as it was
 *
 * Since: 0.1
 */
gboolean
iris_message_get_value (const IrisMessage *self, const char *name, GValue *value)
{
  const GValue *found;

  g_return_val_if_fail (self != NULL, FALSE);
  g_return_val_if_fail (name != NULL, FALSE);
  g_return_val_if_fail (value != NULL, FALSE);

  found = lookup (self, name);
  if (found == NULL)
    return FALSE;
  g_value_init (value, G_VALUE_TYPE (found));
  g_value_copy (found, value);

  return TRUE;
}

/**
 * iris_message_set_value:
 * @self: a message that was not posted
 * @name: a name
 * @value: a value, which is copied
 *
 * Gives the message a named value, in place of the one of that name.
 *
 * Since: 0.1
 */
void
iris_message_set_value (IrisMessage *self, const char *name, const GValue *value)
{
  GValue *copy;

  g_return_if_fail (self != NULL);
  g_return_if_fail (name != NULL);
  g_return_if_fail (G_IS_VALUE (value));
  g_return_if_fail (!iris_message_is_sealed ((IrisMessageReal *) self));

  copy = value_new (self, name);
  g_value_init (copy, G_VALUE_TYPE (value));
  g_value_copy (value, copy);
}

/* The value if it is of the type, or NULL and a word about it. */
static const GValue *
get_typed (const IrisMessage *self, const char *name, GType type)
{
  const GValue *value;

  g_return_val_if_fail (self != NULL, NULL);
  g_return_val_if_fail (name != NULL, NULL);

  value = lookup (self, name);
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

  return g_value_init (value_new (self, name), type);
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
 * @self: a message
 * @name: the name of a value that the message carries; it is a programmer's error if it does not
 *
 * Returns: (transfer none) (nullable): the string, which is the message's; %NULL if there is none
 *
 * Since: 0.1
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
 * @name: a name
 * @value: (nullable): a string, which is copied
 *
 * Gives the message a named value, in place of the one of that name.
 *
 * Since: 0.1
 */
void
iris_message_set_string (IrisMessage *self, const char *name, const char *value)
{
  GValue *room = set_typed (self, name, G_TYPE_STRING);

  if (room != NULL)
    g_value_set_string (room, value);
}

/**
 * iris_message_get_int:
 * @self: a message
 * @name: the name of a value that the message carries; it is a programmer's error if it does not
 *
 * Returns: the value; 0 if there is none
 *
 * Since: 0.1
 */
gint
iris_message_get_int (const IrisMessage *self, const char *name)
{
  const GValue *value = get_typed (self, name, G_TYPE_INT);

  return value != NULL ? g_value_get_int (value) : 0;
}

/**
 * iris_message_set_int:
 * @self: a message that was not posted
 * @name: a name
 * @value: the value
 *
 * Gives the message a named value, in place of the one of that name.
 *
 * Since: 0.1
 */
void
iris_message_set_int (IrisMessage *self, const char *name, gint value)
{
  GValue *room = set_typed (self, name, G_TYPE_INT);

  if (room != NULL)
    g_value_set_int (room, value);
}

/**
 * iris_message_get_int64:
 * @self: a message
 * @name: the name of a value that the message carries; it is a programmer's error if it does not
 *
 * Returns: the value; 0 if there is none
 *
 * Since: 0.1
 */
gint64
iris_message_get_int64 (const IrisMessage *self, const char *name)
{
  const GValue *value = get_typed (self, name, G_TYPE_INT64);

  return value != NULL ? g_value_get_int64 (value) : 0;
}

/**
 * iris_message_set_int64:
 * @self: a message that was not posted
 * @name: a name
 * @value: the value
 *
 * Gives the message a named value, in place of the one of that name.
 *
 * Since: 0.1
 */
void
iris_message_set_int64 (IrisMessage *self, const char *name, gint64 value)
{
  GValue *room = set_typed (self, name, G_TYPE_INT64);

  if (room != NULL)
    g_value_set_int64 (room, value);
}

/**
 * iris_message_get_float:
 * @self: a message
 * @name: the name of a value that the message carries; it is a programmer's error if it does not
 *
 * Returns: the value; 0 if there is none
 *
 * Since: 0.1
 */
gfloat
iris_message_get_float (const IrisMessage *self, const char *name)
{
  const GValue *value = get_typed (self, name, G_TYPE_FLOAT);

  return value != NULL ? g_value_get_float (value) : 0;
}

/**
 * iris_message_set_float:
 * @self: a message that was not posted
 * @name: a name
 * @value: the value
 *
 * Gives the message a named value, in place of the one of that name.
 *
 * Since: 0.1
 */
void
iris_message_set_float (IrisMessage *self, const char *name, gfloat value)
{
  GValue *room = set_typed (self, name, G_TYPE_FLOAT);

  if (room != NULL)
    g_value_set_float (room, value);
}

/**
 * iris_message_get_double:
 * @self: a message
 * @name: the name of a value that the message carries; it is a programmer's error if it does not
 *
 * Returns: the value; 0 if there is none
 *
 * Since: 0.1
 */
gdouble
iris_message_get_double (const IrisMessage *self, const char *name)
{
  const GValue *value = get_typed (self, name, G_TYPE_DOUBLE);

  return value != NULL ? g_value_get_double (value) : 0;
}

/**
 * iris_message_set_double:
 * @self: a message that was not posted
 * @name: a name
 * @value: the value
 *
 * Gives the message a named value, in place of the one of that name.
 *
 * Since: 0.1
 */
void
iris_message_set_double (IrisMessage *self, const char *name, gdouble value)
{
  GValue *room = set_typed (self, name, G_TYPE_DOUBLE);

  if (room != NULL)
    g_value_set_double (room, value);
}

/**
 * iris_message_get_long:
 * @self: a message
 * @name: the name of a value that the message carries; it is a programmer's error if it does not
 *
 * Returns: the value; 0 if there is none
 *
 * Since: 0.1
 */
glong
iris_message_get_long (const IrisMessage *self, const char *name)
{
  const GValue *value = get_typed (self, name, G_TYPE_LONG);

  return value != NULL ? g_value_get_long (value) : 0;
}

/**
 * iris_message_set_long:
 * @self: a message that was not posted
 * @name: a name
 * @value: the value
 *
 * Gives the message a named value, in place of the one of that name.
 *
 * Since: 0.1
 */
void
iris_message_set_long (IrisMessage *self, const char *name, glong value)
{
  GValue *room = set_typed (self, name, G_TYPE_LONG);

  if (room != NULL)
    g_value_set_long (room, value);
}

/**
 * iris_message_get_ulong:
 * @self: a message
 * @name: the name of a value that the message carries; it is a programmer's error if it does not
 *
 * Returns: the value; 0 if there is none
 *
 * Since: 0.1
 */
gulong
iris_message_get_ulong (const IrisMessage *self, const char *name)
{
  const GValue *value = get_typed (self, name, G_TYPE_ULONG);

  return value != NULL ? g_value_get_ulong (value) : 0;
}

/**
 * iris_message_set_ulong:
 * @self: a message that was not posted
 * @name: a name
 * @value: the value
 *
 * Gives the message a named value, in place of the one of that name.
 *
 * Since: 0.1
 */
void
iris_message_set_ulong (IrisMessage *self, const char *name, gulong value)
{
  GValue *room = set_typed (self, name, G_TYPE_ULONG);

  if (room != NULL)
    g_value_set_ulong (room, value);
}

/**
 * iris_message_get_char:
 * @self: a message
 * @name: the name of a value that the message carries; it is a programmer's error if it does not
 *
 * Returns: the value; 0 if there is none
 *
 * Since: 0.1
 */
gchar
iris_message_get_char (const IrisMessage *self, const char *name)
{
  const GValue *value = get_typed (self, name, G_TYPE_CHAR);

  return value != NULL ? g_value_get_schar (value) : 0;
}

/**
 * iris_message_set_char:
 * @self: a message that was not posted
 * @name: a name
 * @value: the value
 *
 * Gives the message a named value, in place of the one of that name.
 *
 * Since: 0.1
 */
void
iris_message_set_char (IrisMessage *self, const char *name, gchar value)
{
  GValue *room = set_typed (self, name, G_TYPE_CHAR);

  if (room != NULL)
    g_value_set_schar (room, value);
}

/**
 * iris_message_get_uchar:
 * @self: a message
 * @name: the name of a value that the message carries; it is a programmer's error if it does not
 *
 * Returns: the value; 0 if there is none
 *
 * Since: 0.1
 */
guchar
iris_message_get_uchar (const IrisMessage *self, const char *name)
{
  const GValue *value = get_typed (self, name, G_TYPE_UCHAR);

  return value != NULL ? g_value_get_uchar (value) : 0;
}

/**
 * iris_message_set_uchar:
 * @self: a message that was not posted
 * @name: a name
 * @value: the value
 *
 * Gives the message a named value, in place of the one of that name.
 *
 * Since: 0.1
 */
void
iris_message_set_uchar (IrisMessage *self, const char *name, guchar value)
{
  GValue *room = set_typed (self, name, G_TYPE_UCHAR);

  if (room != NULL)
    g_value_set_uchar (room, value);
}

/**
 * iris_message_get_boolean:
 * @self: a message
 * @name: the name of a value that the message carries; it is a programmer's error if it does not
 *
 * Returns: the value; %FALSE if there is none
 *
 * Since: 0.1
 */
gboolean
iris_message_get_boolean (const IrisMessage *self, const char *name)
{
  const GValue *value = get_typed (self, name, G_TYPE_BOOLEAN);

  return value != NULL ? g_value_get_boolean (value) : FALSE;
}

/**
 * iris_message_set_boolean:
 * @self: a message that was not posted
 * @name: a name
 * @value: the value
 *
 * Gives the message a named value, in place of the one of that name.
 *
 * Since: 0.1
 */
void
iris_message_set_boolean (IrisMessage *self, const char *name, gboolean value)
{
  GValue *room = set_typed (self, name, G_TYPE_BOOLEAN);

  if (room != NULL)
    g_value_set_boolean (room, value);
}

/**
 * iris_message_get_object:
 * @self: a message
 * @name: the name of a value that the message carries; it is a programmer's error if it does not
 *
 * Returns: (transfer none) (nullable): the object; %NULL if there is none
 *
 * Since: 0.1
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
 * @name: a name
 * @value: (nullable): an object, to which the message takes a reference
 *
 * Gives the message a named value, in place of the one of that name.
 *
 * Since: 0.1
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
 * @self: a message
 * @name: the name of a value that the message carries; it is a programmer's error if it does not
 *
 * Returns: (transfer none) (nullable): the pointer; %NULL if there is none
 *
 * Since: 0.1
 */
gpointer
iris_message_get_pointer (const IrisMessage *self, const char *name)
{
  const GValue *value = self != NULL && name != NULL ? lookup (self, name) : NULL;

  if (value != NULL && G_VALUE_HOLDS (value, owned_pointer_get_type ()))
    return ((const OwnedPointer *) g_value_get_boxed (value))->pointer;
  value = get_typed (self, name, G_TYPE_POINTER);

  return value != NULL ? g_value_get_pointer (value) : NULL;
}

/**
 * iris_message_set_pointer: (skip)
 * @self: a message that was not posted
 * @name: a name
 * @value: (nullable): a pointer, which the message does not own
 *
 * Gives the message a named value, in place of the one of that name.
 *
 * Since: 0.1
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
 * @name: a name
 * @value: (nullable): a pointer
 * @notify: called with @value when no message carries it any more
 *
 * Gives the message a pointer that it owns. Copies of the message share it, and @notify is called
 * once.
 *
 * Since: 0.1
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
