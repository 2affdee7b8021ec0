/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * The message: memory from slabs, counted references, one typed value.
 *
 * The reference count is atomic, but a sole owner does not pay for that: a count of 1 that its
 * owner reads cannot be changed by any other thread.
 */
#include "iris/message/iris-message-private.h"

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
 * Makes a message that carries a value.
 *
 * Returns: (transfer full): a message with a floating reference
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
 * Adds a reference. May be called from any thread.
 *
 * Returns: (transfer full): the message
 */
IrisMessage *
iris_message_ref (IrisMessage *self)
{
  g_return_val_if_fail (self != NULL, NULL);

  atomic_fetch_add_explicit (&real (self)->ref_count, 1, memory_order_relaxed);

  return self;
}

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
iris_message_free (IrisMessageReal *self)
{
  if (has_data (self))
    g_value_unset (&self->data);
  if (iris_unlikely (self->more != NULL))
    message_free_more (self->more);
  iris_slab_free (IRIS_SLAB_MESSAGE, self->home, self);
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

  g_return_val_if_fail (self != NULL, NULL);

  copy = iris_message_new (self->what);
  iris_message_set_data (copy, iris_message_get_data (self));
  iris_message_copy_values (copy, self);

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
