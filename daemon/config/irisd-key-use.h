/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * The use of keys: how fast the clients of each key send items, and how many are connected.
 */
#pragma once

#include <glib.h>
#include <pthread.h>

G_BEGIN_DECLS

/* Any thread. */
typedef struct
{
  pthread_mutex_t lock;
  GHashTable *by_owner;
} IrisdKeyUse;

void irisd_key_use_init (IrisdKeyUse *self);
void irisd_key_use_clear (IrisdKeyUse *self);
gboolean
irisd_key_use_admit (IrisdKeyUse *self, gint64 owner, guint64 rate, gint64 now_us, guint *retry_ms);
void irisd_key_use_connect (IrisdKeyUse *self, gint64 owner, gint change, gint64 now_ms);
void irisd_key_use_get (IrisdKeyUse *self, gint64 owner, guint *n_connections, gint64 *seen_ms);

G_END_DECLS
