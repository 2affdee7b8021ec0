/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * The named values of a message: a table that is made with the first one.
 *
 * Before a message is posted they are its maker's; after that they do not change, so any thread may
 * read them without a lock.
 */
#include "iris/message/iris-message-values-private.h"

#include <gobject/gvaluecollector.h>

static GHashTable *
get_table (const IrisMessage *self)
{
  IrisMessageMore *more = ((const IrisMessageReal *) self)->more;

  return more != NULL ? more->values : NULL;
}

const GValue *
iris_message_lookup (const IrisMessage *self, const char *name)
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
GValue *
iris_message_add_value (IrisMessage *self, const char *name)
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
 * Returns: (transfer full): a message with a floating reference
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
 *
 * Tells how many named values the message carries.
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
 *
 * Tells whether the message carries neither data nor named values.
 */
gboolean
iris_message_is_empty (const IrisMessage *self)
{
  g_return_val_if_fail (self != NULL, TRUE);

  return iris_message_get_data (self) == NULL && iris_message_count_names (self) == 0;
}

/**
 * iris_message_contains:
 *
 * Tells whether the message carries a value of that name.
 */
gboolean
iris_message_contains (const IrisMessage *self, const char *name)
{
  g_return_val_if_fail (self != NULL, FALSE);
  g_return_val_if_fail (name != NULL, FALSE);

  return iris_message_lookup (self, name) != NULL;
}

/**
 * iris_message_get_value:
 * @value: (out caller-allocates): %G_VALUE_INIT; initialised and set to a copy
 *
 * Gets a copy of a named value.
 *
 * Returns: whether there is one; if not, @value is left as it was
 */
gboolean
iris_message_get_value (const IrisMessage *self, const char *name, GValue *value)
{
  const GValue *found;

  g_return_val_if_fail (self != NULL, FALSE);
  g_return_val_if_fail (name != NULL, FALSE);
  g_return_val_if_fail (value != NULL, FALSE);

  found = iris_message_lookup (self, name);
  if (found == NULL)
    return FALSE;
  g_value_init (value, G_VALUE_TYPE (found));
  g_value_copy (found, value);

  return TRUE;
}

/**
 * iris_message_set_value:
 * @self: a message that was not posted
 * @value: a value, which is copied
 *
 * Gives the message a named value, in place of the one of that name.
 */
void
iris_message_set_value (IrisMessage *self, const char *name, const GValue *value)
{
  GValue *copy;

  g_return_if_fail (self != NULL);
  g_return_if_fail (name != NULL);
  g_return_if_fail (G_IS_VALUE (value));
  g_return_if_fail (!iris_message_is_sealed ((IrisMessageReal *) self));

  copy = iris_message_add_value (self, name);
  g_value_init (copy, G_VALUE_TYPE (value));
  g_value_copy (value, copy);
}
