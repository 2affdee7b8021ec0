/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * The use of keys: how fast the clients of each key send items, and how many are connected.
 *
 * A bucket of tokens for each key, as for clients and services (irisd-fair-rules.c): it holds a
 * second's worth. The rate itself is in the key's file, so a reload changes it; the bucket is by
 * the number of the owner, so it stays. There is a record for each key that ever connected.
 */
#include "daemon/config/irisd-key-use.h"

typedef struct
{
  gint64 owner;
  gint64 debt_us; /* until when its tokens are spent */
  gint64 seen_ms; /* when a connection last began or ended, Unix time; 0 for never */
  guint n_connections;
} Use;

void
irisd_key_use_init (IrisdKeyUse *self)
{
  pthread_mutex_init (&self->lock, NULL);
  self->by_owner = g_hash_table_new_full (g_int64_hash, g_int64_equal, NULL, g_free);
}

void
irisd_key_use_clear (IrisdKeyUse *self)
{
  g_hash_table_unref (self->by_owner);
  pthread_mutex_destroy (&self->lock);
}

static Use *
get_use (IrisdKeyUse *self, gint64 owner)
{
  Use *use = g_hash_table_lookup (self->by_owner, &owner);
  if (use == NULL)
    {
      use = g_new0 (Use, 1);
      use->owner = owner;
      g_hash_table_insert (self->by_owner, &use->owner, use);
    }
  return use;
}

/* Returns whether @owner may send one more item at @rate, 0 for no limit, a second. Otherwise
 * @retry_ms is when to try again. */
gboolean
irisd_key_use_admit (IrisdKeyUse *self, gint64 owner, guint64 rate, gint64 now_us, guint *retry_ms)
{
  if (rate == 0)
    return TRUE;
  const gint64 token_us = MAX (G_USEC_PER_SEC / (gint64) rate, 1);
  pthread_mutex_lock (&self->lock);
  Use *use = get_use (self, owner);
  gint64 late_us = use->debt_us + token_us - now_us - G_USEC_PER_SEC;
  if (late_us <= 0)
    use->debt_us = MAX (use->debt_us, now_us) + token_us;
  pthread_mutex_unlock (&self->lock);
  *retry_ms = late_us > 0 ? (guint) (late_us / 1000 + 1) : 0;
  return late_us <= 0;
}

/* A connection of @owner begins, 1, or ends, -1. */
void
irisd_key_use_connect (IrisdKeyUse *self, gint64 owner, gint change, gint64 now_ms)
{
  pthread_mutex_lock (&self->lock);
  Use *use = get_use (self, owner);
  use->n_connections += (guint) change;
  use->seen_ms = now_ms;
  pthread_mutex_unlock (&self->lock);
}

void
irisd_key_use_get (IrisdKeyUse *self, gint64 owner, guint *n_connections, gint64 *seen_ms)
{
  pthread_mutex_lock (&self->lock);
  const Use *use = g_hash_table_lookup (self->by_owner, &owner);
  *n_connections = use != NULL ? use->n_connections : 0;
  *seen_ms = use != NULL ? use->seen_ms : 0;
  pthread_mutex_unlock (&self->lock);
}
