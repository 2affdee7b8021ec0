/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * A daemon for tests of the client.
 *
 * It shares the test's thread and main loop, so a test is deterministic: nothing happens but when
 * the loop turns. Services: `echo` gives the payload back, `fail` ends with an error.
 */
#include "core-test-run.h"
#include "client-fake-daemon.h"

#include "clients/iris-client/connection/iris-client-link-private.h"
#include "clients/iris-client/base/iris-client-source-private.h"

#include <glib/gstdio.h>
#include <stdlib.h>
#include <string.h>
#include <zmq.h>

static void
fake_item_free (gpointer data)
{
  FakeItem *item = data;

  g_bytes_unref (item->peer);
  g_free (item->service);
  g_bytes_unref (item->body);
  g_free (item);
}

static void
send_frames (FakeDoor *door, GBytes *peer, const IrisWireFrame *frames, guint n)
{
  gsize size;
  gconstpointer data = g_bytes_get_data (peer, &size);

  zmq_send (door->socket, data, size, ZMQ_SNDMORE);
  for (guint i = 0; i < n; i++)
    zmq_send (door->socket, frames[i].data, frames[i].size, i + 1 < n ? ZMQ_SNDMORE : 0);
}

static void
send_message (FakeDoor *door, GBytes *peer, const IrisWireMessage *message)
{
  g_auto (IrisWireEncoder) encoder;
  g_autoptr (GError) error = NULL;

  iris_wire_encoder_init (&encoder, NULL);
  if (!iris_wire_encode (&encoder, message, &error))
    g_error ("the fake daemon cannot encode its answer: %s", error->message);
  send_frames (door, peer, encoder.frames, IRIS_WIRE_N_FRAMES);
}

static void
send_error (FakeDoor *door, GBytes *peer, const guint8 *id, guint type, guint code, gboolean ends)
{
  g_autoptr (GError) error = g_error_new (IRIS_WIRE_ERROR, (int) code, "the fake daemon says so");
  IrisWireMessage message;

  iris_wire_message_init (&message, type, id);
  iris_wire_message_set_error (&message, error);
  if (ends)
    {
      iris_wire_message_set_boolean (&message, IRIS_WIRE_KEY_ENDS, TRUE);
      iris_wire_message_set_int (&message, IRIS_WIRE_KEY_HOME, 0);
      iris_wire_message_set_int (&message, IRIS_WIRE_KEY_PLACE, 1);
    }
  if (type == IRIS_WIRE_BUSY)
    iris_wire_message_set_uint (&message, IRIS_WIRE_KEY_RETRY_AFTER_MS, 1);
  send_message (door, peer, &message);
}

static void
answer_item (FakeItem *item)
{
  FakeDoor *door = item->door;
  IrisWireMessage message;
  gsize size;
  gconstpointer data = g_bytes_get_data (item->body, &size);

  if (strcmp (item->service, "fail") == 0)
    {
      send_error (door, item->peer, item->id, IRIS_WIRE_ERROR_REPLY, IRIS_WIRE_ERROR_SERVICE_FAILED,
                  TRUE);
      return;
    }
  iris_wire_message_init (&message, IRIS_WIRE_RESULT, item->id);
  iris_wire_message_set_string (&message, IRIS_WIRE_KEY_CONTENT_TYPE, "text/plain", -1);
  iris_wire_message_set_int (&message, IRIS_WIRE_KEY_HOME, item->place);
  iris_wire_message_set_int (&message, IRIS_WIRE_KEY_PLACE, item->strict ? item->place : 0);
  iris_wire_message_set_uint (&message, IRIS_WIRE_KEY_BYTES, size);
  iris_wire_message_set_body (&message, data, size);
  send_message (door, item->peer, &message);
}

static void
take_item (FakeDoor *door, GBytes *peer, const IrisWireMessage *message)
{
  FakeDaemon *self = door->daemon;
  FakeItem *item;

  if (self->busy > 0)
    {
      self->busy--;
      send_error (door, peer, message->request_id, IRIS_WIRE_BUSY, IRIS_WIRE_ERROR_BUSY, FALSE);
      return;
    }
  if (message->service.len == 7 && memcmp (message->service.data, "unknown", 7) == 0)
    {
      send_error (door, peer, message->request_id, IRIS_WIRE_ERROR_REPLY,
                  IRIS_WIRE_ERROR_UNKNOWN_SERVICE, FALSE);
      return;
    }
  self->n_items++;
  self->in_flight++;
  self->most_in_flight = MAX (self->most_in_flight, self->in_flight);
  if (door->place >= 0)
    self->n_at_place[door->place]++;
  item = g_new0 (FakeItem, 1);
  item->door = door;
  item->peer = g_bytes_ref (peer);
  memcpy (item->id, message->request_id, sizeof item->id);
  item->service = iris_wire_string_dup (&message->service);
  item->place = MAX (message->hint, 0);
  item->strict = message->strict;
  item->body = g_bytes_new (message->body.data, message->body.size);
  g_queue_push_tail (&self->items, item);
  if (!self->hold)
    fake_daemon_release (self, 1);
}

static void
take_batch (FakeDoor *door, GBytes *peer, const IrisWireMessage *message)
{
  g_autoptr (GError) error = NULL;
  IrisWireBatchIter iter;
  IrisWireMessage item;
  IrisWireMessage accepted;

  if (!iris_wire_batch_iter_init (&iter, message->body, NULL, &error))
    g_error ("the client sent a batch that cannot be read: %s", error->message);
  door->daemon->last_batch = iter.n_items;
  if (iter.n_items > door->daemon->max_batch)
    {
      send_error (door, peer, message->request_id, IRIS_WIRE_ERROR_REPLY, IRIS_WIRE_ERROR_TOO_LARGE,
                  FALSE);
      return;
    }
  iris_wire_message_init (&accepted, IRIS_WIRE_ACCEPTED, message->request_id);
  iris_wire_message_set_uint (&accepted, IRIS_WIRE_KEY_COUNT, iter.n_items);
  send_message (door, peer, &accepted);
  while (iris_wire_batch_iter_next (&iter, &item, NULL) == IRIS_WIRE_BATCH_ITEM)
    take_item (door, peer, &item);
}

static void
welcome (FakeDoor *door, GBytes *peer, const guint8 *id)
{
  FakeDaemon *self = door->daemon;
  IrisWireMessage message;

  iris_wire_message_init (&message, IRIS_WIRE_WELCOME, id);
  iris_wire_message_set_uint (&message, IRIS_WIRE_KEY_VERSION_MIN, 1);
  iris_wire_message_set_uint (&message, IRIS_WIRE_KEY_VERSION_MAX, 1);
  iris_wire_message_set_uint (&message, IRIS_WIRE_KEY_FEATURES, 0);
  iris_wire_message_set_string (&message, IRIS_WIRE_KEY_NAME, "fake", -1);
  iris_wire_message_set_uint (&message, IRIS_WIRE_KEY_CREDITS, self->credits);
  iris_wire_message_set_uint (&message, IRIS_WIRE_KEY_BYTE_CREDITS, self->byte_credits);
  iris_wire_message_set_uint (&message, IRIS_WIRE_KEY_MAX_BODY, 1 << 20);
  iris_wire_message_set_uint (&message, IRIS_WIRE_KEY_MAX_BATCH, self->max_batch);
  iris_wire_message_set_int (&message, IRIS_WIRE_KEY_SOCKET_PLACE, door->place);
  send_message (door, peer, &message);
}

static void
hello (FakeDoor *door, GBytes *peer, const guint8 *id)
{
  static const IrisWireFrame nonsense[] = { { (const guint8 *) "HTTP/1.1", 8 },
                                            { (const guint8 *) "400", 3 } };
  FakeDaemon *self = door->daemon;

  if (self->nonsense)
    send_frames (door, peer, nonsense, G_N_ELEMENTS (nonsense));
  else if (self->refuse_hello != 0)
    send_error (door, peer, id, IRIS_WIRE_ERROR_REPLY, self->refuse_hello, FALSE);
  else
    welcome (door, peer, id);
}

static void
send_with_body (FakeDoor *door, GBytes *peer, const guint8 *id, guint type, GBytes *body)
{
  IrisWireMessage message;
  gsize size;
  gconstpointer data = g_bytes_get_data (body, &size);

  iris_wire_message_init (&message, type, id);
  iris_wire_message_set_body (&message, data, size);
  send_message (door, peer, &message);
}

static GBytes *
map_body (FakeDaemon *self)
{
  g_autoptr (IrisWireMap) map = iris_wire_map_new (self->n_places);

  for (guint i = 0; i < self->n_places; i++)
    {
      FakeDoor *door = g_ptr_array_index (self->doors, i + 1);

      map->places[i].id = i;
      map->places[i].workers = 1;
      map->places[i].name = g_strdup_printf ("core:%u", i);
      map->places[i].cpus = g_strdup_printf ("%u", i);
      map->places[i].nodes = g_strdup ("0");
      map->places[i].endpoint = g_strdup (door->endpoint);
    }
  return iris_wire_map_encode (map, NULL, NULL);
}

static GBytes *
status_body (FakeDaemon *self)
{
  g_autoptr (IrisWireStatus) status = iris_wire_status_new (1);

  status->version = g_strdup ("0.1.0");
  status->scheduler = g_strdup ("fake");
  status->accepted = self->n_items;
  status->places[0].name = g_strdup ("core:0");
  status->places[0].executed = self->n_items;
  return iris_wire_status_encode (status, NULL, NULL);
}

static GBytes *
services_body (void)
{
  g_autoptr (IrisWireServices) services = iris_wire_services_new (1);

  services->services[0].name = g_strdup ("echo");
  services->services[0].summary = g_strdup ("gives the payload back");
  return iris_wire_services_encode (services, NULL, NULL);
}

/* Ends a held item as cancelled, and says whether it was there. */
static void
cancel (FakeDoor *door, GBytes *peer, const IrisWireMessage *message)
{
  FakeDaemon *self = door->daemon;
  IrisWireMessage cancelling;

  for (GList *link = self->items.head; link != NULL; link = link->next)
    {
      FakeItem *item = link->data;

      if (memcmp (item->id, message->target, sizeof item->id) != 0)
        continue;
      iris_wire_message_init (&cancelling, IRIS_WIRE_CANCELLING, message->request_id);
      iris_wire_message_set_uint (&cancelling, IRIS_WIRE_KEY_STATE, IRIS_WIRE_STATE_QUEUED);
      send_message (door, peer, &cancelling);
      send_error (item->door, item->peer, item->id, IRIS_WIRE_ERROR_REPLY,
                  IRIS_WIRE_ERROR_CANCELLED, TRUE);
      g_queue_delete_link (&self->items, link);
      fake_item_free (item);
      return;
    }
  send_error (door, peer, message->request_id, IRIS_WIRE_ERROR_REPLY, IRIS_WIRE_ERROR_NOT_FOUND,
              FALSE);
}

static void
take_message (FakeDoor *door, GBytes *peer, const IrisWireMessage *message)
{
  FakeDaemon *self = door->daemon;
  g_autoptr (GBytes) body = NULL;
  IrisWireMessage pong;

  self->n_messages[message->type]++;
  if (self->mute)
    return;
  switch (message->type)
    {
    case IRIS_WIRE_HELLO:
      hello (door, peer, message->request_id);
      break;
    case IRIS_WIRE_MAP:
      body = map_body (self);
      send_with_body (door, peer, message->request_id, IRIS_WIRE_MAP_REPLY, body);
      break;
    case IRIS_WIRE_STATUS:
      body = status_body (self);
      send_with_body (door, peer, message->request_id, IRIS_WIRE_STATUS_REPLY, body);
      break;
    case IRIS_WIRE_SERVICES:
      body = services_body ();
      send_with_body (door, peer, message->request_id, IRIS_WIRE_SERVICES_REPLY, body);
      break;
    case IRIS_WIRE_SUBMIT:
      take_item (door, peer, message);
      break;
    case IRIS_WIRE_BATCH:
      take_batch (door, peer, message);
      break;
    case IRIS_WIRE_ACK:
      g_assert (iris_wire_message_has (message, IRIS_WIRE_KEY_TARGET));
      self->n_acknowledged += message->count;
      self->in_flight -= message->count;
      break;
    case IRIS_WIRE_CANCEL:
      cancel (door, peer, message);
      break;
    case IRIS_WIRE_PING:
      iris_wire_message_init (&pong, IRIS_WIRE_PONG, message->request_id);
      send_message (door, peer, &pong);
      break;
    default:
      break;
    }
}

static gboolean
fake_door_read (void *socket, gpointer user_data)
{
  FakeDoor *door = user_data;
  zmq_msg_t parts[IRIS_WIRE_N_FRAMES + 1];
  IrisWireFrame frames[IRIS_WIRE_N_FRAMES];
  g_autoptr (GBytes) peer = NULL;
  g_autoptr (GError) error = NULL;
  IrisWireMessage message;

  for (guint i = 0; i < G_N_ELEMENTS (parts); i++)
    {
      zmq_msg_init (&parts[i]);
      if (zmq_msg_recv (&parts[i], socket, ZMQ_DONTWAIT) < 0)
        {
          g_assert (i == 0);
          return FALSE;
        }
    }
  peer = g_bytes_new (zmq_msg_data (&parts[0]), zmq_msg_size (&parts[0]));
  for (guint i = 0; i < IRIS_WIRE_N_FRAMES; i++)
    frames[i] = (IrisWireFrame){ zmq_msg_data (&parts[i + 1]), zmq_msg_size (&parts[i + 1]) };
  if (!iris_wire_decode (frames, IRIS_WIRE_N_FRAMES, NULL, &message, &error))
    g_error ("the client sent what cannot be read: %s", error->message);
  take_message (door, peer, &message);
  for (guint i = 0; i < G_N_ELEMENTS (parts); i++)
    zmq_msg_close (&parts[i]);
  return TRUE;
}

static FakeDoor *
fake_door_new (FakeDaemon *self, int place)
{
  FakeDoor *door = g_new0 (FakeDoor, 1);

  door->daemon = self;
  door->place = place;
  door->endpoint = place < 0 ? iris_wire_endpoint_front (self->dir)
                             : iris_wire_endpoint_place (self->dir, (guint) place);
  return door;
}

static void
fake_door_shut (FakeDoor *door)
{
  if (door->socket == NULL)
    return;
  g_source_destroy (door->source);
  g_clear_pointer (&door->source, g_source_unref);
  zmq_close (door->socket);
  door->socket = NULL;
}

static void
fake_door_free (gpointer data)
{
  FakeDoor *door = data;

  fake_door_shut (door);
  g_unlink (door->endpoint + strlen ("ipc://"));
  g_free (door->endpoint);
  g_free (door);
}

/* Starts to listen. */
void
fake_daemon_open (FakeDaemon *self)
{
  for (guint i = 0; i < self->doors->len; i++)
    {
      FakeDoor *door = g_ptr_array_index (self->doors, i);
      int linger = 0;
      int no_limit = 0;

      door->socket = zmq_socket (iris_client_zmq_ref (), ZMQ_ROUTER);
      iris_client_zmq_unref ();
      zmq_setsockopt (door->socket, ZMQ_LINGER, &linger, sizeof linger);
      zmq_setsockopt (door->socket, ZMQ_SNDHWM, &no_limit, sizeof no_limit);
      if (zmq_bind (door->socket, door->endpoint) != 0)
        g_error ("cannot bind %s: %s", door->endpoint, zmq_strerror (zmq_errno ()));
      door->source = iris_client_source_new (door->socket, fake_door_read, NULL, door);
      g_source_attach (door->source, NULL);
    }
}

/* Is gone, as after kill -9. */
void
fake_daemon_vanish (FakeDaemon *self)
{
  for (guint i = 0; i < self->doors->len; i++)
    fake_door_shut (g_ptr_array_index (self->doors, i));
  g_queue_clear_full (&self->items, fake_item_free);
  self->in_flight = 0;
}

/* Stops as a daemon should: what it has sent still arrives. */
void
fake_daemon_leave (FakeDaemon *self)
{
  for (guint i = 0; i < self->doors->len; i++)
    {
      FakeDoor *door = g_ptr_array_index (self->doors, i);
      int linger = 10000;

      zmq_setsockopt (door->socket, ZMQ_LINGER, &linger, sizeof linger);
    }
  fake_daemon_vanish (self);
}

/* Answers the oldest @n items; so many must be held by now. */
void
fake_daemon_release (FakeDaemon *self, guint n)
{
  g_assert_cmpuint (n, <=, g_queue_get_length (&self->items));
  for (guint i = 0; i < n; i++)
    {
      FakeItem *item = g_queue_pop_head (&self->items);

      answer_item (item);
      fake_item_free (item);
    }
}

/* A daemon that has a directory, and does not listen yet. */
FakeDaemon *
fake_daemon_new (guint n_places)
{
  FakeDaemon *self = g_new0 (FakeDaemon, 1);

  /* One user for as long as the daemon lives, so that the sockets' context stays. */
  iris_client_zmq_ref ();
  self->dir = g_dir_make_tmp ("iris-client-XXXXXX", NULL);
  self->n_places = n_places;
  self->credits = 64;
  self->byte_credits = 1 << 20;
  self->max_batch = 16;
  self->doors = g_ptr_array_new_with_free_func (fake_door_free);
  for (int place = -1; place < (int) n_places; place++)
    g_ptr_array_add (self->doors, fake_door_new (self, place));
  return self;
}

void
fake_daemon_free (FakeDaemon *self)
{
  fake_daemon_vanish (self);
  g_ptr_array_unref (self->doors);
  g_rmdir (self->dir);
  g_free (self->dir);
  iris_client_zmq_unref ();
  g_free (self);
}

static guint n_outcomes;

void
outcome_restart (void)
{
  n_outcomes = 0;
}

void
outcome_ready (GObject *client, GAsyncResult *result, gpointer outcome)
{
  Outcome *self = outcome;

  self->result = iris_client_submit_finish (IRIS_CLIENT (client), result, &self->error);
  self->order = ++n_outcomes;
  self->done = TRUE;
}

void
outcome_clear (Outcome *outcome)
{
  g_clear_pointer (&outcome->result, iris_result_unref);
  g_clear_error (&outcome->error);
  *outcome = (Outcome){ 0 };
}

void
submit_echo (IrisClient *client, const char *text, GCancellable *cancellable, Outcome *outcome)
{
  g_autoptr (IrisRequest) request = iris_request_new ("echo");
  g_autoptr (GBytes) payload = g_bytes_new (text, strlen (text));

  iris_request_set_payload (request, payload);
  iris_client_submit_async (client, request, cancellable, outcome_ready, outcome);
}

static void
connect_ready (GObject *client, GAsyncResult *result, gpointer data)
{
  *(GAsyncResult **) data = g_object_ref (result);
}

void
connect_now (IrisClient *client, GError **error)
{
  g_autoptr (GAsyncResult) result = NULL;

  iris_client_connect_async (client, NULL, connect_ready, &result);
  RUN_UNTIL (result != NULL);
  iris_client_connect_finish (client, result, error);
}

int
run_suite (const char *name, const TTest *const *tests, guint n_tests)
{
  Suite *suite = suite_create (name);
  TCase *tcase = tcase_create (name);

  for (guint i = 0; i < n_tests; i++)
    tcase_add_test (tcase, tests[i]);
  suite_add_tcase (suite, tcase);
  return core_test_run (suite);
}
