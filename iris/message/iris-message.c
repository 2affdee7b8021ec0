/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * The message: memory from slabs, counted references, one typed value, and named ones, in a table
 * that is made with the first.
 *
 * Before a message is posted its values are its maker's; after that they do not change, so any
 * thread may read them without a lock.
 *
 * The reference count is atomic, but a sole owner does not pay for that: a count of 1 that its
 * owner reads cannot be changed by any other thread.
 */
#include "iris/message/iris-message-private.h"

#include "iris/base/iris-ref-private.h"
#include "iris/sched/pool/iris-footprint-private.h"

#include <gobject/gvaluecollector.h>

static IrisMessageReal *
real (const IrisMessage *self)
{
  return (IrisMessageReal *) self;
}

G_DEFINE_BOXED_TYPE (IrisMessage, iris_message, iris_message_ref, iris_message_unref)

/**
 * iris_message_new:
 * @what: what the message is about
 *
 * Makes a message without data. May be called from any thread.
 *
 * Its reference is floating: posting the message takes it, iris_message_ref_sink() makes it the
 * caller's.
 *
 * Returns: (transfer full): a message with a floating reference
 */
IrisMessage *
iris_message_new (gint what)
{
  IrisSlab *home;
  IrisMessageReal *self = iris_slab_alloc (IRIS_SLAB_MESSAGE, &home);

  /* Not the item: the thread that posts the message prepares it. */
  self->face.what = what;
  atomic_init (&self->ref_count, 1);
  self->floating = true;
  atomic_init (&self->posted, false);
  self->hints = 0;
  self->data = (GValue) G_VALUE_INIT;
  self->more = NULL;
  self->home = home;

  return &self->face;
}

/**
 * iris_message_new_sunk: (rename-to iris_message_new)
 * @what: what the message is about
 *
 * Makes a message without data, like iris_message_new(), whose reference is the caller's: for
 * languages other than C, which know floating references of objects alone. May be called from any
 * thread.
 *
 * Returns: (transfer full): a message
 */
IrisMessage *
iris_message_new_sunk (gint what)
{
  return iris_message_ref_sink (iris_message_new (what));
}

/**
 * iris_message_new_data: (skip)
 * @what: what the message is about
 * @type: the type of the value
 * @...: the value, as g_object_set() would take it
 *
 * Returns: (transfer full): a message that carries a value, with a floating reference
 */
IrisMessage *
iris_message_new_data (gint what, GType type, ...)
{
  IrisMessage *self = iris_message_new (what);
  g_autofree char *error = NULL;
  va_list args;

  va_start (args, type);
  G_VALUE_COLLECT_INIT (&real (self)->data, type, args, 0, &error);
  va_end (args);
  if (error != NULL)
    {
      g_critical ("iris: no value of type %s: %s", g_type_name (type), error);
      /* As the collector demands: a value that failed to collect must not be unset. */
      real (self)->data = (GValue) G_VALUE_INIT;
    }

  return self;
}

/**
 * iris_message_ref:
 *
 * Returns: (transfer full): the message, with one more reference; any thread may call it
 */
IRIS_DEFINE_REF (IrisMessage,
                 iris_message,
                 atomic_fetch_add_explicit (&real (self)->ref_count, 1, memory_order_relaxed))

/**
 * iris_message_ref_sink:
 *
 * Takes the floating reference if there is one, otherwise adds one.
 *
 * Returns: (transfer full): the message
 */
IrisMessage *
iris_message_ref_sink (IrisMessage *self)
{
  g_return_val_if_fail (self != NULL, NULL);

  if (real (self)->floating)
    real (self)->floating = false;
  else
    iris_message_ref (self);

  return self;
}

/* G_IS_VALUE() asks the type system, which takes a lock; a message's value is either of a valid
 * type or of none. */
static inline bool
has_data (const IrisMessageReal *self)
{
  return G_VALUE_TYPE (&self->data) != G_TYPE_INVALID;
}

/* The thread that still waits for an answer learns that there will be none. */
static void
message_free_more (IrisMessageMore *more)
{
  if (more->values != NULL)
    g_hash_table_unref (more->values);
  if (more->request != NULL)
    {
      iris_pending_settle (more->request, NULL, IRIS_MESSAGE_ERROR_UNANSWERED);
      iris_pending_unref (more->request);
    }
  g_free (more);
}

void
iris_message_clear (IrisMessageReal *self)
{
  if (has_data (self))
    g_value_unset (&self->data);
  if (self->more != NULL)
    message_free_more (self->more);
}

/**
 * iris_message_unref:
 * @self: (transfer full): a message
 *
 * Drops a reference; the last one frees the message and unsets its data.
 */
void
iris_message_unref (IrisMessage *self)
{
  g_return_if_fail (self != NULL);

  iris_message_drop (real (self));
}

/**
 * iris_message_copy:
 *
 * Copies all of a message: what it is, its data and its named values; but not the request that
 * waits for an answer.
 *
 * Returns: (transfer full): a message like this one that was not posted yet, with a floating
 *   reference
 */
IrisMessage *
iris_message_copy (const IrisMessage *self)
{
  IrisMessage *copy;
  IrisMessageMore *more;
  GHashTableIter iter;
  gpointer name, value;

  g_return_val_if_fail (self != NULL, NULL);

  more = real (self)->more;
  copy = iris_message_new (self->what);
  real (copy)->hints = real (self)->hints;
  iris_message_set_data (copy, iris_message_get_data (self));
  if (more != NULL && more->values != NULL)
    {
      g_hash_table_iter_init (&iter, more->values);
      while (g_hash_table_iter_next (&iter, &name, &value))
        iris_message_set_value (copy, name, value);
    }

  return copy;
}

/**
 * iris_message_copy_sunk: (rename-to iris_message_copy)
 *
 * Copies a message like iris_message_copy(); the reference to the copy is the caller's. For
 * languages other than C.
 *
 * Returns: (transfer full): a message like this one that was not posted yet
 */
IrisMessage *
iris_message_copy_sunk (const IrisMessage *self)
{
  g_return_val_if_fail (self != NULL, NULL);

  return iris_message_ref_sink (iris_message_copy (self));
}

/**
 * iris_message_set_footprint:
 * @self: a message that was not posted
 * @bytes: how much memory its handler will touch, in bytes; 0 for no hint
 * @keep_apart: whether that memory is shared with no other message (see %IRIS_ITEM_KEEP_APART)
 *
 * Declares how much memory the handling of the message will touch; see iris_item_set_footprint().
 * It counts where messages are items of their own: an exclusive receiver and an actor handle many
 * in one, and the items of a bounded port do not know their messages in advance.
 */
void
iris_message_set_footprint (IrisMessage *self, guint64 bytes, gboolean keep_apart)
{
  guint32 size;

  g_return_if_fail (self != NULL && !iris_message_is_sealed (real (self)));

  size = iris_footprint_pack (bytes) >> IRIS_FOOTPRINT_SIZE_SHIFT;
  real (self)->hints = (uint16_t) (size << 8 | (keep_apart ? IRIS_ITEM_KEEP_APART : 0));
}

/**
 * iris_message_get_data:
 *
 * Returns: (transfer none) (nullable): the value that the message carries, or %NULL
 */
const GValue *
iris_message_get_data (const IrisMessage *self)
{
  g_return_val_if_fail (self != NULL, NULL);

  return has_data (real (self)) ? &real (self)->data : NULL;
}

/**
 * iris_message_set_data:
 * @self: a message that was not posted
 * @value: (nullable): a value, or %NULL for none
 *
 * Gives the message a copy of @value, in place of what it carried.
 */
void
iris_message_set_data (IrisMessage *self, const GValue *value)
{
  GValue *data;

  g_return_if_fail (self != NULL);
  g_return_if_fail (value == NULL || G_IS_VALUE (value));
  g_return_if_fail (!iris_message_is_sealed (real (self)));

  data = &real (self)->data;
  if (has_data (real (self)))
    g_value_unset (data);
  if (value != NULL)
    {
      g_value_init (data, G_VALUE_TYPE (value));
      g_value_copy (value, data);
    }
}

static GHashTable *
get_table (const IrisMessage *self)
{
  IrisMessageMore *more = real (self)->more;

  return more != NULL ? more->values : NULL;
}

/* NULL when there is none of that name. */
static const GValue *
message_lookup (const IrisMessage *self, const char *name)
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
message_add_value (IrisMessage *self, const char *name)
{
  IrisMessageMore *more = iris_message_need_more ((IrisMessageReal *) self);
  GValue *value = g_new0 (GValue, 1);

  if (more->values == NULL)
    more->values = g_hash_table_new_full (g_str_hash, g_str_equal, g_free, value_free);
  g_hash_table_replace (more->values, g_strdup (name), value);

  return value;
}

/**
 * iris_message_new_items: (skip)
 * @what: what the message is about
 * @name: (nullable): the first name
 * @type: the type of its value
 * @...: the value as g_object_set() would take it; then more names, types and values; then %NULL
 *
 * Returns: (transfer full): a message that carries named values, with a floating reference
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

  return message_lookup (self, name) != NULL;
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

  found = message_lookup (self, name);
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

  copy = message_add_value (self, name);
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

  value = message_lookup (self, name);
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

  return g_value_init (message_add_value (self, name), type);
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
 *
 * As iris_message_get_string(); 0 if there is none.
 */
/**
 * iris_message_set_int:
 *
 * As iris_message_set_string().
 */
TYPED (int, gint, G_TYPE_INT, int)

/**
 * iris_message_get_int64:
 *
 * As iris_message_get_string(); 0 if there is none.
 */
/**
 * iris_message_set_int64:
 *
 * As iris_message_set_string().
 */
TYPED (int64, gint64, G_TYPE_INT64, int64)

/**
 * iris_message_get_float:
 *
 * As iris_message_get_string(); 0 if there is none.
 */
/**
 * iris_message_set_float:
 *
 * As iris_message_set_string().
 */
TYPED (float, gfloat, G_TYPE_FLOAT, float)

/**
 * iris_message_get_double:
 *
 * As iris_message_get_string(); 0 if there is none.
 */
/**
 * iris_message_set_double:
 *
 * As iris_message_set_string().
 */
TYPED (double, gdouble, G_TYPE_DOUBLE, double)

/**
 * iris_message_get_long:
 *
 * As iris_message_get_string(); 0 if there is none.
 */
/**
 * iris_message_set_long:
 *
 * As iris_message_set_string().
 */
TYPED (long, glong, G_TYPE_LONG, long)

/**
 * iris_message_get_ulong:
 *
 * As iris_message_get_string(); 0 if there is none.
 */
/**
 * iris_message_set_ulong:
 *
 * As iris_message_set_string().
 */
TYPED (ulong, gulong, G_TYPE_ULONG, ulong)

/**
 * iris_message_get_char:
 *
 * As iris_message_get_string(); 0 if there is none.
 */
/**
 * iris_message_set_char:
 *
 * As iris_message_set_string().
 */
TYPED (char, gchar, G_TYPE_CHAR, schar)

/**
 * iris_message_get_uchar:
 *
 * As iris_message_get_string(); 0 if there is none.
 */
/**
 * iris_message_set_uchar:
 *
 * As iris_message_set_string().
 */
TYPED (uchar, guchar, G_TYPE_UCHAR, uchar)

/**
 * iris_message_get_boolean:
 *
 * As iris_message_get_string(); %FALSE if there is none.
 */
/**
 * iris_message_set_boolean:
 *
 * As iris_message_set_string().
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
  const GValue *value = self != NULL && name != NULL ? message_lookup (self, name) : NULL;

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

/**
 * iris_message_error_quark:
 *
 * Returns: the domain of the errors of messages, whose codes are those of [error@MessageError]
 */
/* The formatter would put spaces into the name. */
/* clang-format off */
G_DEFINE_QUARK (iris-message-error-quark, iris_message_error)
/* clang-format on */
