/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * Deliveries that are no tries; see irisd-uncounted.h. Pure.
 */
#include "irisd-uncounted.h"

#include <string.h>

typedef struct
{
  guint8 item[IRIS_WIRE_ID_SIZE]; /* first */
  guint64 sequence;               /* of its message */
  guint64 n;
  GList link;
} Entry;

struct _IrisdUncounted
{
  GHashTable *entries; /* by item */
  GQueue by_age;
  guint most;
};

static guint
id_hash (gconstpointer id)
{
  guint64 words[2];

  memcpy (words, id, sizeof words);
  words[0] ^= words[1] * G_GUINT64_CONSTANT (0x9e3779b97f4a7c15);
  return (guint) (words[0] ^ words[0] >> 32);
}

static gboolean
id_equal (gconstpointer a, gconstpointer b)
{
  return memcmp (a, b, IRIS_WIRE_ID_SIZE) == 0;
}

IrisdUncounted *
irisd_uncounted_new (guint most)
{
  IrisdUncounted *self = g_new0 (IrisdUncounted, 1);

  self->entries = g_hash_table_new_full (id_hash, id_equal, NULL, g_free);
  self->most = most;
  return self;
}

void
irisd_uncounted_free (IrisdUncounted *self)
{
  g_hash_table_unref (self->entries);
  g_free (self);
}

static void
drop (IrisdUncounted *self, Entry *entry)
{
  g_queue_unlink (&self->by_age, &entry->link);
  g_hash_table_remove (self->entries, entry->item);
}

/* A delivery of @item, by its message of @sequence, did not begin to run. */
void
irisd_uncounted_add (IrisdUncounted *self, const guint8 *item, guint64 sequence)
{
  Entry *entry = g_hash_table_lookup (self->entries, item);

  if (entry == NULL)
    {
      if (self->by_age.length >= self->most)
        drop (self, self->by_age.head->data);
      entry = g_new0 (Entry, 1);
      memcpy (entry->item, item, sizeof entry->item);
      entry->link.data = entry;
      g_hash_table_add (self->entries, entry);
    }
  else
    g_queue_unlink (&self->by_age, &entry->link);
  entry->n = entry->sequence == sequence ? entry->n + 1 : 1;
  entry->sequence = sequence;
  g_queue_push_tail_link (&self->by_age, &entry->link);
}

/* Of @n_delivered deliveries, this one included, those that may have run: at least this one. */
guint64
irisd_uncounted_count_tries (IrisdUncounted *self,
                             const guint8 *item,
                             guint64 sequence,
                             guint64 n_delivered)
{
  const Entry *entry = g_hash_table_lookup (self->entries, item);
  const guint64 n = entry != NULL && entry->sequence == sequence ? entry->n : 0;

  return n < n_delivered ? n_delivered - n : 1;
}

/* @item has ended. */
void
irisd_uncounted_forget (IrisdUncounted *self, const guint8 *item)
{
  Entry *entry = g_hash_table_lookup (self->entries, item);

  if (entry != NULL)
    drop (self, entry);
}
