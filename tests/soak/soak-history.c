/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * The history: the accepted items of a client, and their ends.
 */
#include "soak-history.h"

void
soak_history_init (SoakHistory *self, SoakFigures *figures)
{
  *self = (SoakHistory){ .figures = figures,
                         .entries = g_array_new (FALSE, TRUE, sizeof (SoakEntry)),
                         .sent = g_hash_table_new (NULL, NULL),
                         .payload = g_string_new (NULL) };
}

void
soak_history_clear (SoakHistory *self)
{
  g_array_unref (self->entries);
  g_hash_table_unref (self->sent);
  g_string_free (self->payload, TRUE);
}

static void
write_payload (SoakHistory *self, guint index)
{
  g_string_printf (self->payload, "item-%u", index);
  for (gsize i = 0; i < self->padding; i++)
    g_string_append_c (self->payload, '.');
}

/* The next item: the caller may add to it, and must send it next. */
void
soak_history_fill (SoakHistory *self,
                   Client *client,
                   IrisWireMessage *item,
                   const char *service,
                   guint klass)
{
  SoakEntry entry = { .plain = strcmp (service, "command") != 0 };
  write_payload (self, self->entries->len);
  g_array_append_val (self->entries, entry);
  persistent_fill (client, item, service, entry.plain ? self->payload->str : "", klass);
}

void
soak_history_send (SoakHistory *self, Client *client, const IrisWireMessage *item)
{
  g_hash_table_insert (self->sent, GSIZE_TO_POINTER (message_get_id (item)),
                       GUINT_TO_POINTER (self->entries->len - 1));
  self->open++;
  client_send (client, item);
}

static void
take_result (SoakHistory *self, guint index, const IrisWireMessage *message)
{
  SoakEntry *entry = &g_array_index (self->entries, SoakEntry, index);
  g_autofree char *said = iris_wire_message_to_string (message);
  write_payload (self, index);
  ck_assert_msg (!entry->plain || message_body_is (message, self->payload->str), "%s came to %s",
                 self->payload->str, said);
  if (entry->ends++ == 0)
    self->figures->ended++;
  else
    self->figures->duplicates++;
}

/* Enters @message, an answer on this connection. An error that ends an item leaves its entry open,
 * to be demanded later. Returns the entry, or NULL. */
SoakEntry *
soak_history_take (SoakHistory *self, const IrisWireMessage *message)
{
  gpointer value = NULL;
  if (!g_hash_table_lookup_extended (self->sent, GSIZE_TO_POINTER (message_get_id (message)), NULL,
                                     &value))
    {
      g_autofree char *said = iris_wire_message_to_string (message);
      ck_assert_msg (message->type == IRIS_WIRE_PONG, "no request asked for %s", said);
      return NULL;
    }
  SoakEntry *entry = &g_array_index (self->entries, SoakEntry, GPOINTER_TO_UINT (value));
  if (message->type == IRIS_WIRE_ACCEPTED)
    {
      ck_assert_uint_eq (entry->item, 0);
      entry->item = message->item;
      self->figures->accepted++;
      return entry;
    }
  if (message->type == IRIS_WIRE_RESULT)
    take_result (self, GPOINTER_TO_UINT (value), message);
  else if (entry->item == 0)
    self->refused++;
  self->open--;
  return entry;
}

/* Items that were sent and not accepted are not owed. */
void
soak_history_forget_connection (SoakHistory *self)
{
  g_hash_table_remove_all (self->sent);
  self->open = 0;
}

/* Fetches every accepted item without an end, and asserts that it is there. */
void
soak_history_demand (SoakHistory *self, const char *front)
{
  g_autoptr (Client) client = client_hello (front);
  for (guint i = 0; i < self->entries->len; i++)
    {
      const SoakEntry *entry = &g_array_index (self->entries, SoakEntry, i);
      if (entry->item == 0 || entry->ends > 0)
        continue;
      const IrisWireMessage *answer = persistent_fetch (client, entry->item, GIVE_UP_MS);
      g_autofree char *said = iris_wire_message_to_string (answer);
      ck_assert_msg (answer->type == IRIS_WIRE_RESULT, "item %" G_GUINT64_FORMAT " came to %s",
                     entry->item, said);
      take_result (self, i, answer);
      client_ack (client, 1);
    }
}
