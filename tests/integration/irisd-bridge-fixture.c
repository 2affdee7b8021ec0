/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * The bridge that tests are. What an item is leased with, and what it says of one.
 */
#include "irisd-bridge-fixture.h"

Home *home;
Irisd *irisd;
Client *client;
Client *bridge;

Client *
open_bridge (const char *endpoint)
{
  Client *self = client_new (endpoint);
  IrisWireMessage hello;
  client_init_message (self, &hello, IRIS_WIRE_HELLO);
  iris_wire_message_set_uint (&hello, IRIS_WIRE_KEY_VERSION_MIN, 1);
  iris_wire_message_set_uint (&hello, IRIS_WIRE_KEY_VERSION_MAX, 1);
  iris_wire_message_set_uint (&hello, IRIS_WIRE_KEY_FEATURES, IRIS_WIRE_FEATURE_BRIDGE);
  client_send (self, &hello);
  const IrisWireMessage *welcome = client_receive_type (self, IRIS_WIRE_WELCOME);
  ck_assert_uint_eq (welcome->features, IRIS_WIRE_FEATURE_BRIDGE);
  return self;
}

void
start (const char *config)
{
  irisd = home_start (home, config);
  client = client_hello (irisd->front);
  bridge = open_bridge (irisd->front);
}

void
set_up (void)
{
  g_setenv ("IRIS_TEST_NODES", NODES, TRUE);
  g_unsetenv ("IRIS_TEST_MAX_AWAY");
  g_unsetenv ("IRIS_TEST_REFUSAL");
  g_unsetenv ("IRIS_TEST_UNKNOWN");
  home = home_new ();
}

void
hang_up (void)
{
  g_clear_pointer (&client, client_free);
  g_clear_pointer (&bridge, client_free);
}

void
tear_down (void)
{
  hang_up ();
  irisd_stop (irisd);
  home_free (home);
}

/* A SUBMIT of `echo` for @node; NULL for no node. */
void
fill (IrisWireMessage *item, const char *node, guint klass)
{
  persistent_fill (client, item, "echo", "payload", klass);
  if (node != NULL)
    iris_wire_message_set_string (item, IRIS_WIRE_KEY_NODE, node, -1);
}

guint64
submit (const char *node, guint klass)
{
  IrisWireMessage item;
  fill (&item, node, klass);
  return persistent_submit (client, &item);
}

void
assert_refused (const IrisWireMessage *item, IrisWireError code)
{
  client_send (client, item);
  assert_error (client_receive (client), code);
}

static void
read_submit (Lease *self, const IrisWireMessage *lease)
{
  const guint8 type = IRIS_WIRE_SUBMIT;
  ck_assert_uint_le (lease->header.len, sizeof self->header);
  memcpy (self->header, lease->header.data, lease->header.len);
  const IrisWireFrame frames[] = {
    { (const guint8 *) "IRS1", 4 },
    { &type, 1 },
    { self->id, IRIS_WIRE_ID_SIZE },
    { (const guint8 *) self->header, lease->header.len },
    { NULL, 0 },
  };
  g_autoptr (GError) error = NULL;
  gboolean good = iris_wire_decode (frames, IRIS_WIRE_N_FRAMES, NULL, &self->submit, &error);
  ck_assert_msg (good, "%s", error != NULL ? error->message : "");
}

void
take_lease (Lease *self)
{
  const IrisWireMessage *lease = client_receive_type (bridge, IRIS_WIRE_LEASE);
  ck_assert (message_body_is (lease, "payload"));
  ck_assert_int_eq (strncmp (lease->service.data, CLUSTER, lease->service.len), 0);
  ck_assert (iris_wire_message_has (lease, IRIS_WIRE_KEY_CLUSTER_ITEM));
  memcpy (self->id, lease->request_id, sizeof self->id);
  memcpy (self->cluster_item, lease->cluster_item, sizeof self->cluster_item);
  self->item = lease->item;
  self->owner = lease->for_owner;
  self->attempt = lease->attempt;
  self->retries = lease->retries;
  read_submit (self, lease);
}

gboolean
is (const IrisWireString *string, const char *text)
{
  return string->len == strlen (text) && memcmp (string->data, text, string->len) == 0;
}

/* Says DONE as the node b, which ran it at its place 7. */
void
say_done (const Lease *lease, const char *result)
{
  IrisWireMessage done;
  iris_wire_message_init (&done, IRIS_WIRE_DONE, lease->id);
  iris_wire_message_set_string (&done, IRIS_WIRE_KEY_NODE, "b", -1);
  iris_wire_message_set_int (&done, IRIS_WIRE_KEY_PLACE, 7);
  iris_wire_message_set_uint (&done, IRIS_WIRE_KEY_ATTEMPTS, 3);
  iris_wire_message_set_body (&done, result, strlen (result));
  client_send (bridge, &done);
}

void
say_fail (const Lease *lease, guint code, gboolean again, guint later_ms)
{
  IrisWireMessage fail;
  iris_wire_message_init (&fail, IRIS_WIRE_FAIL, lease->id);
  iris_wire_message_set_string (&fail, IRIS_WIRE_KEY_MESSAGE, "it did not work", -1);
  if (code != 0)
    iris_wire_message_set_uint (&fail, IRIS_WIRE_KEY_CODE, code);
  if (again)
    iris_wire_message_set_boolean (&fail, IRIS_WIRE_KEY_AGAIN, TRUE);
  if (later_ms != 0)
    iris_wire_message_set_uint (&fail, IRIS_WIRE_KEY_RETRY_AFTER_MS, later_ms);
  client_send (bridge, &fail);
}

/* The answer and the end come in any order. */
void
take_cancellation (void)
{
  gboolean ended = FALSE;
  for (guint i = 0; i < 2; i++)
    {
      const IrisWireMessage *reply = client_receive (client);
      if (reply->type == IRIS_WIRE_CANCELLING)
        continue;
      assert_error (reply, IRIS_WIRE_ERROR_CANCELLED);
      ended = TRUE;
    }
  ck_assert (ended);
}

void
assert_done (const IrisWireMessage *result)
{
  ck_assert_str_eq (iris_wire_type_name (result->type), "RESULT");
  ck_assert (message_body_is (result, "done"));
  ck_assert (is (&result->node, "b"));
  ck_assert_int_eq (result->place, 7);
  ck_assert_uint_eq (result->attempts, 3);
}
