/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * A journal that outlives an irisd, and helpers for persistent items.
 */
#pragma once

#include "irisd-fixture.h"

/* A directory for the sockets and one for the journal, which outlive an irisd. */
typedef struct
{
  char *base;
  char *dir;
  char *journal;
  char *option;
} Home;

Home *home_new (void);
Irisd *home_start (Home *self, const char *config);
void irisd_kill (Irisd *irisd);
void irisd_stop (Irisd *irisd);
void home_free (Home *self);
void persistent_fill (Client *client,
                      IrisWireMessage *item,
                      const char *service,
                      const char *payload,
                      guint klass);
guint64 persistent_submit (Client *client, IrisWireMessage *item);
guint64 persistent_submit_echo (Client *client, const char *payload, guint klass, gboolean detach);
guint64 persistent_submit_occupier (Client *client, const char *gate, gint place);
void gate_pass (const char *gate);
void persistent_assert_not_in_memory (guint64 rss_kib, guint n, gsize size);
void persistent_ask (Client *client, IrisWireType type, guint64 item);
const IrisWireMessage *persistent_fetch (Client *client, guint64 item, guint64 wait_ms);
void persistent_assert_result (Client *client, guint64 item, const char *text);
void persistent_take_numbers (Client *client, guint64 first_id, guint64 *numbers, guint n);
void persistent_assert_indices (Client *client, const guint64 *numbers, guint n);
IrisWirePersistentList *persistent_list (Client *client, guint64 after, guint count);
guint persistent_count (Client *client);
guint32 persistent_get_state (Client *client, guint64 item, guint64 wait_ms);
