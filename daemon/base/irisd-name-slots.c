/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * Name slots: small numbers for names, so that counters of a name can lie in an array.
 *
 * A name keeps its slot, so a reader of the counters never sees those of another name, and the
 * table is bounded: names beyond the bound share one slot. A thread that counts asks for a slot
 * once and remembers it, so the lock is not on the way of an item.
 */
#include "daemon/base/irisd-name-slots.h"

void
irisd_name_slots_init (IrisdNameSlots *self)
{
  pthread_mutex_init (&self->lock, NULL);
  self->slots = g_hash_table_new (g_str_hash, g_str_equal);
  self->names = g_ptr_array_new_with_free_func (g_free);
  g_ptr_array_add (self->names, NULL);
}

void
irisd_name_slots_clear (IrisdNameSlots *self)
{
  g_hash_table_unref (self->slots);
  g_ptr_array_unref (self->names);
  pthread_mutex_destroy (&self->lock);
}

/* Returns the slot of @name; IRISD_OTHER_SLOT if it has none and the table is full. */
guint
irisd_name_slots_take (IrisdNameSlots *self, const char *name)
{
  pthread_mutex_lock (&self->lock);
  guint slot = GPOINTER_TO_UINT (g_hash_table_lookup (self->slots, name));
  if (slot == IRISD_OTHER_SLOT && self->names->len <= IRISD_MOST_NAME_SLOTS)
    {
      char *copy = g_strdup (name);
      slot = self->names->len;
      g_ptr_array_add (self->names, copy);
      g_hash_table_insert (self->slots, copy, GUINT_TO_POINTER (slot));
    }
  pthread_mutex_unlock (&self->lock);
  return slot;
}

/* Returns the number of slots, that of the other names among them. */
guint
irisd_name_slots_get_count (IrisdNameSlots *self)
{
  pthread_mutex_lock (&self->lock);
  guint n = self->names->len;
  pthread_mutex_unlock (&self->lock);
  return n;
}

/* Returns the name, which stays until the table is cleared; NULL for IRISD_OTHER_SLOT. */
const char *
irisd_name_slots_get_name (IrisdNameSlots *self, guint slot)
{
  pthread_mutex_lock (&self->lock);
  const char *name = g_ptr_array_index (self->names, slot);
  pthread_mutex_unlock (&self->lock);
  return name;
}
