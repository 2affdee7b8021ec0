/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * A journal that outlives an irisd, and helpers for persistent items.
 */
#include "irisd-home.h"

#include <signal.h>
#include <unistd.h>

Home *
home_new (void)
{
  Home *self = g_new0 (Home, 1);
  self->base = g_dir_make_tmp ("irisd-XXXXXX", NULL);
  ck_assert_ptr_nonnull (self->base);
  self->dir = g_build_filename (self->base, "d", NULL);
  self->journal = g_build_filename (self->base, "j", NULL);
  self->option = g_strconcat ("--journal=", self->journal, NULL);
  return self;
}

Irisd *
home_start (Home *self, const char *config)
{
  const char *const options[] = { TWO_PLACES, self->option, NULL };
  return irisd_start_in (self->dir, config, options);
}

/* Ends an irisd as a crash would; its directories stay. */
void
irisd_kill (Irisd *irisd)
{
  irisd_signal (irisd, SIGKILL);
  ck_assert_int_eq (irisd_wait (irisd), -SIGKILL);
  irisd_release (irisd);
}

void
irisd_stop (Irisd *irisd)
{
  irisd_signal (irisd, SIGTERM);
  ck_assert_int_eq (irisd_wait (irisd), 0);
  irisd_release (irisd);
}

void
home_free (Home *self)
{
  irisd_remove_all (self->base);
  g_free (self->base);
  g_free (self->dir);
  g_free (self->journal);
  g_free (self->option);
  g_free (self);
}

void
persistent_fill (Client *client,
                 IrisWireMessage *item,
                 const char *service,
                 const char *payload,
                 guint klass)
{
  client_init_message (client, item, IRIS_WIRE_SUBMIT);
  iris_wire_message_set_string (item, IRIS_WIRE_KEY_SERVICE, service, -1);
  iris_wire_message_set_uint (item, IRIS_WIRE_KEY_CLASS, klass);
  iris_wire_message_set_body (item, payload, strlen (payload));
}

/* Submits and waits until it is accepted. Returns its number. */
guint64
persistent_submit (Client *client, IrisWireMessage *item)
{
  client_send (client, item);
  const IrisWireMessage *accepted = client_receive_type (client, IRIS_WIRE_ACCEPTED);
  ck_assert (iris_wire_message_has (accepted, IRIS_WIRE_KEY_ITEM));
  return accepted->item;
}

guint64
persistent_submit_echo (Client *client, const char *payload, guint klass, gboolean detach)
{
  IrisWireMessage item;
  persistent_fill (client, &item, "echo", payload, klass);
  if (detach)
    iris_wire_message_set_boolean (&item, IRIS_WIRE_KEY_DETACH, TRUE);
  return persistent_submit (client, &item);
}

/* A durable item that holds the only worker of a place until its gate opens; returns once it runs.
 * Its result is empty. */
guint64
persistent_submit_occupier (Client *client, const char *gate, gint place)
{
  IrisWireMessage item;
  persistent_fill (client, &item, "hold", "", IRIS_WIRE_CLASS_DURABLE);
  iris_wire_message_set_string (&item, IRIS_WIRE_KEY_PATH, gate, -1);
  iris_wire_message_set_int (&item, IRIS_WIRE_KEY_HINT, place);
  iris_wire_message_set_boolean (&item, IRIS_WIRE_KEY_STRICT, TRUE);
  iris_wire_message_set_boolean (&item, IRIS_WIRE_KEY_DETACH, TRUE);
  guint64 number = persistent_submit (client, &item);
  close (gate_wait (gate));
  return number;
}

/* Opens the gate of an occupier that runs again, once it runs. */
void
gate_pass (const char *gate)
{
  close (gate_wait (gate));
  gate_open (gate);
}

/* Sends a request that names an item by its number, CANCEL for example. */
void
persistent_ask (Client *client, IrisWireType type, guint64 item)
{
  IrisWireMessage request;
  client_init_message (client, &request, type);
  iris_wire_message_set_uint (&request, IRIS_WIRE_KEY_ITEM, item);
  client_send (client, &request);
}

const IrisWireMessage *
persistent_fetch (Client *client, guint64 item, guint64 wait_ms)
{
  IrisWireMessage request;
  client_init_message (client, &request, IRIS_WIRE_FETCH);
  iris_wire_message_set_uint (&request, IRIS_WIRE_KEY_ITEM, item);
  iris_wire_message_set_uint (&request, IRIS_WIRE_KEY_WAIT_MS, wait_ms);
  client_send (client, &request);
  return client_receive (client);
}

void
persistent_assert_result (Client *client, guint64 item, const char *text)
{
  const IrisWireMessage *result = persistent_fetch (client, item, GIVE_UP_MS);
  ck_assert_str_eq (iris_wire_type_name (result->type), "RESULT");
  ck_assert (message_body_is (result, text));
  ck_assert_uint_eq (result->item, item);
}

/* Notes the numbers of items that were sent with consecutive ids, as they are accepted. */
void
persistent_take_numbers (Client *client, guint64 first_id, guint64 *numbers, guint n)
{
  for (guint i = 0; i < n; i++)
    {
      const IrisWireMessage *accepted = client_receive_type (client, IRIS_WIRE_ACCEPTED);
      guint64 at = message_get_id (accepted) - first_id;
      ck_assert_uint_lt (at, n);
      numbers[at] = accepted->item;
    }
}

/* Fetches and acknowledges the results of items that echo their index. */
void
persistent_assert_indices (Client *client, const guint64 *numbers, guint n)
{
  for (guint i = 0; i < n; i++)
    {
      g_autofree char *text = g_strdup_printf ("%u", i);
      persistent_assert_result (client, numbers[i], text);
      client_ack (client, 1);
    }
}

IrisWirePersistentList *
persistent_list (Client *client, guint64 after, guint count)
{
  IrisWireMessage request;
  client_init_message (client, &request, IRIS_WIRE_LIST);
  iris_wire_message_set_uint (&request, IRIS_WIRE_KEY_ITEM, after);
  iris_wire_message_set_uint (&request, IRIS_WIRE_KEY_COUNT, count);
  client_send (client, &request);
  const IrisWireMessage *reply = client_receive_type (client, IRIS_WIRE_LIST_REPLY);
  IrisWirePersistentList *persistent = iris_wire_persistent_list_decode (reply->body, NULL, NULL);
  ck_assert_ptr_nonnull (persistent);
  return persistent;
}

guint
persistent_count (Client *client)
{
  g_autoptr (IrisWirePersistentList) persistent = persistent_list (client, 0, 0);
  return persistent->n_items;
}

guint32
persistent_get_state (Client *client, guint64 item, guint64 wait_ms)
{
  IrisWireMessage request;
  client_init_message (client, &request, IRIS_WIRE_SHOW);
  iris_wire_message_set_uint (&request, IRIS_WIRE_KEY_ITEM, item);
  iris_wire_message_set_uint (&request, IRIS_WIRE_KEY_WAIT_MS, wait_ms);
  client_send (client, &request);
  const IrisWireMessage *reply = client_receive_type (client, IRIS_WIRE_SHOW_REPLY);
  g_autoptr (IrisWirePersistentList)
      persistent = iris_wire_persistent_list_decode (reply->body, NULL, NULL);
  ck_assert_ptr_nonnull (persistent);
  ck_assert_uint_eq (persistent->n_items, 1);
  ck_assert_uint_eq (persistent->items[0].item, item);
  return persistent->items[0].state;
}

/* Asserts that the resident memory does not contain @n payloads: it is less than half of them plus
 * what irisd needs anyway. */
void
persistent_assert_not_in_memory (guint64 rss_kib, guint n, gsize size)
{
  ck_assert (SANITIZED || rss_kib < n * (size / 1024) / 2 + 16 * 1024);
}
