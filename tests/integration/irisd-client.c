/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * A client that encodes and decodes the protocol itself.
 */
#include "irisd-fixture.h"

#include <sys/stat.h>
#include <unistd.h>

#define MAX_CLIENTS 8192

/* One context for all clients of a test program, as ZeroMQ recommends. */
static void *
get_context (void)
{
  static void *context = NULL;
  if (context == NULL)
    {
      context = zmq_ctx_new ();
      zmq_ctx_set (context, ZMQ_MAX_SOCKETS, MAX_CLIENTS);
    }
  return context;
}

static Client *
make_client (const char *route)
{
  Client *self = g_new0 (Client, 1);
  self->socket = zmq_socket (get_context (), ZMQ_DEALER);
  int none = 0, unlimited = 0, give_up = GIVE_UP_MS;
  zmq_setsockopt (self->socket, ZMQ_LINGER, &none, sizeof none);
  zmq_setsockopt (self->socket, ZMQ_SNDHWM, &unlimited, sizeof unlimited);
  zmq_setsockopt (self->socket, ZMQ_RCVTIMEO, &give_up, sizeof give_up);
  zmq_setsockopt (self->socket, ZMQ_SNDTIMEO, &give_up, sizeof give_up);
  if (route != NULL)
    zmq_setsockopt (self->socket, ZMQ_ROUTING_ID, route, strlen (route));
  iris_wire_encoder_init (&self->encoder, NULL);
  self->completions = g_byte_array_new ();
  for (guint i = 0; i < IRIS_WIRE_N_FRAMES; i++)
    zmq_msg_init (&self->frames[i]);
  return self;
}

Client *
client_new (const char *endpoint)
{
  return client_new_named (endpoint, NULL);
}

void
key_pair_new (KeyPair *self)
{
  ck_assert_int_eq (zmq_curve_keypair (self->public_key, self->secret), 0);
}

/* Writes a key file: with the secret, or, if there is @more, what irisd has of a client's key. */
void
key_pair_write (const KeyPair *self, const char *path, const char *more, guint mode)
{
  g_autofree char *text = more != NULL
                              ? g_strdup_printf ("[key]\npublic=%s\n%s", self->public_key, more)
                              : g_strdup_printf ("[key]\npublic=%s\nsecret=%s\n", self->public_key,
                                                 self->secret);
  ck_assert (
      g_file_set_contents_full (path, text, -1, G_FILE_SET_CONTENTS_CONSISTENT, (int) mode, NULL));
  ck_assert_int_eq (chmod (path, mode), 0);
}

/* @server is irisd's public key. */
Client *
client_new_with_key (const char *endpoint, const KeyPair *own, const char *server)
{
  Client *self = make_client (NULL);
  zmq_setsockopt (self->socket, ZMQ_CURVE_SERVERKEY, server, 41);
  zmq_setsockopt (self->socket, ZMQ_CURVE_PUBLICKEY, own->public_key, 41);
  zmq_setsockopt (self->socket, ZMQ_CURVE_SECRETKEY, own->secret, 41);
  ck_assert_int_eq (zmq_connect (self->socket, endpoint), 0);
  return self;
}

/* With a routing id of its own choice, if it is not NULL. */
Client *
client_new_named (const char *endpoint, const char *route)
{
  Client *self = make_client (route);
  ck_assert_int_eq (zmq_connect (self->socket, endpoint), 0);
  return self;
}

Client *
client_hello (const char *endpoint)
{
  Client *self = client_new (endpoint);
  client_say_hello (self);
  return self;
}

void
client_free (Client *self)
{
  for (guint i = 0; i < IRIS_WIRE_N_FRAMES; i++)
    zmq_msg_close (&self->frames[i]);
  zmq_close (self->socket);
  iris_wire_encoder_clear (&self->encoder);
  g_byte_array_unref (self->completions);
  g_free (self);
}

guint64
message_get_id (const IrisWireMessage *message)
{
  guint64 id;
  memcpy (&id, message->request_id, sizeof id);
  return id;
}

void
message_set_id (IrisWireMessage *message, guint64 id)
{
  memcpy (message->request_id, &id, sizeof id);
}

gboolean
message_body_is (const IrisWireMessage *message, const char *text)
{
  return message->body.size == strlen (text)
         && memcmp (message->body.data, text, strlen (text)) == 0;
}

void
client_init_message (Client *self, IrisWireMessage *message, IrisWireType type)
{
  iris_wire_message_init (message, type, NULL);
  message_set_id (message, ++self->next_id);
}

void
client_send_frames (Client *self, const IrisWireFrame *frames, guint n)
{
  for (guint i = 0; i < n; i++)
    ck_assert_int_ge (
        zmq_send (self->socket, frames[i].data, frames[i].size, i + 1 < n ? ZMQ_SNDMORE : 0), 0);
}

void
client_send (Client *self, const IrisWireMessage *message)
{
  g_autoptr (GError) error = NULL;
  gboolean encoded = iris_wire_encode (&self->encoder, message, &error);
  ck_assert_msg (encoded, "%s", error != NULL ? error->message : "");
  client_send_frames (self, self->encoder.frames, IRIS_WIRE_N_FRAMES);
}

/* Whether a message takes a credit until it is acknowledged. */
static gboolean
is_owed (const IrisWireMessage *message)
{
  return message->type == IRIS_WIRE_RESULT
         || (message->type == IRIS_WIRE_ERROR_REPLY && message->ends)
         || (message->type == IRIS_WIRE_SHOW_REPLY && message->payload);
}

static void
receive_rest (Client *self)
{
  IrisWireFrame views[IRIS_WIRE_N_FRAMES];
  for (guint i = 0; i < IRIS_WIRE_N_FRAMES; i++)
    {
      if (i > 0)
        ck_assert_int_ge (zmq_msg_recv (&self->frames[i], self->socket, 0), 0);
      ck_assert_int_eq (zmq_msg_more (&self->frames[i]), i + 1 < IRIS_WIRE_N_FRAMES);
      views[i] = (IrisWireFrame){ zmq_msg_data (&self->frames[i]),
                                  zmq_msg_size (&self->frames[i]) };
    }
  g_autoptr (GError) error = NULL;
  gboolean decoded = iris_wire_decode (views, IRIS_WIRE_N_FRAMES, NULL, &self->message, &error);
  ck_assert_msg (decoded, "irisd sent what cannot be read: %s",
                 error != NULL ? error->message : "");
  ck_assert (!iris_wire_type_is_request (self->message.type));
  if (is_owed (&self->message))
    g_byte_array_append (self->completions, self->message.request_id, IRIS_WIRE_ID_SIZE);
}

gboolean
client_try_receive (Client *self)
{
  if (zmq_msg_recv (&self->frames[0], self->socket, ZMQ_DONTWAIT) < 0)
    return FALSE;
  receive_rest (self);
  return TRUE;
}

const IrisWireMessage *
client_receive_any (Client *self)
{
  ck_assert_msg (zmq_msg_recv (&self->frames[0], self->socket, 0) >= 0, "no answer came");
  receive_rest (self);
  return &self->message;
}

/* Skips a PONG without a PING: irisd probes with it whether the connection still exists. */
const IrisWireMessage *
client_receive (Client *self)
{
  const IrisWireMessage *message;
  do
    message = client_receive_any (self);
  while (message->type == IRIS_WIRE_PONG && message_get_id (message) == 0);
  return message;
}

/* Asserts that the next message is of that type. */
const IrisWireMessage *
client_receive_type (Client *self, IrisWireType type)
{
  const IrisWireMessage *message = client_receive (self);
  g_autofree char *text = iris_wire_message_to_string (message);
  ck_assert_msg (message->type == type, "wanted %s, got %s", iris_wire_type_name (type), text);
  return message;
}

/* Skips all messages that do not end an item. */
const IrisWireMessage *
client_receive_completion (Client *self)
{
  for (;;)
    {
      const IrisWireMessage *message = client_receive (self);
      if (message->type == IRIS_WIRE_RESULT
          || (message->type == IRIS_WIRE_ERROR_REPLY && message->ends))
        return message;
    }
}

const IrisWireMessage *
client_call (Client *self, IrisWireType type, IrisWireType answer)
{
  IrisWireMessage message;
  client_init_message (self, &message, type);
  client_send (self, &message);
  const IrisWireMessage *reply = client_receive_type (self, answer);
  ck_assert_uint_eq (message_get_id (reply), self->next_id);
  return reply;
}

void
client_say_hello (Client *self)
{
  IrisWireMessage hello;
  client_init_message (self, &hello, IRIS_WIRE_HELLO);
  iris_wire_message_set_uint (&hello, IRIS_WIRE_KEY_VERSION_MIN, 1);
  iris_wire_message_set_uint (&hello, IRIS_WIRE_KEY_VERSION_MAX, 1);
  iris_wire_message_set_string (&hello, IRIS_WIRE_KEY_NAME, "test", -1);
  client_send (self, &hello);
  client_receive_type (self, IRIS_WIRE_WELCOME);
}

void
client_send_ready (Client *worker, const char *service, guint capacity)
{
  g_autoptr (IrisWireServices) services = iris_wire_services_new (1);
  services->services[0].name = g_strdup (service);
  g_autoptr (GBytes) body = iris_wire_services_encode (services, NULL, NULL);
  gsize size = 0;
  gconstpointer data = g_bytes_get_data (body, &size);
  IrisWireMessage ready;
  client_init_message (worker, &ready, IRIS_WIRE_READY);
  iris_wire_message_set_uint (&ready, IRIS_WIRE_KEY_CAPACITY, capacity);
  iris_wire_message_set_body (&ready, data, size);
  client_send (worker, &ready);
}

/* A client that is a worker process of one service from now on. */
const IrisWireMessage *
client_enroll (Client *worker, const char *service, guint capacity)
{
  client_send_ready (worker, service, capacity);
  return client_receive_type (worker, IRIS_WIRE_ENROLLED);
}

/* Acknowledges the oldest completions that have come. */
void
client_ack (Client *self, guint count)
{
  ck_assert_uint_ge (self->completions->len / IRIS_WIRE_ID_SIZE, count);
  IrisWireMessage ack;
  iris_wire_message_init (&ack, IRIS_WIRE_ACK, NULL);
  iris_wire_message_set_target (&ack,
                                self->completions->data + (gsize) (count - 1) * IRIS_WIRE_ID_SIZE);
  iris_wire_message_set_uint (&ack, IRIS_WIRE_KEY_COUNT, count);
  client_send (self, &ack);
  g_byte_array_remove_range (self->completions, 0, count * IRIS_WIRE_ID_SIZE);
}

static void
forget_completion (Client *self, const guint8 *id)
{
  for (guint i = 0; i < self->completions->len; i += IRIS_WIRE_ID_SIZE)
    if (memcmp (self->completions->data + i, id, IRIS_WIRE_ID_SIZE) == 0)
      {
        g_byte_array_remove_range (self->completions, i, IRIS_WIRE_ID_SIZE);
        return;
      }
}

/* Names the completions one by one, received or not. */
void
client_ack_ids (Client *self, const guint64 *ids, guint n)
{
  g_autofree guint8 *body = g_malloc0 ((gsize) n * IRIS_WIRE_ID_SIZE);
  for (guint i = 0; i < n; i++)
    {
      memcpy (body + (gsize) i * IRIS_WIRE_ID_SIZE, &ids[i], sizeof ids[i]);
      forget_completion (self, body + (gsize) i * IRIS_WIRE_ID_SIZE);
    }
  IrisWireMessage ack;
  iris_wire_message_init (&ack, IRIS_WIRE_ACK, NULL);
  if (n == 1)
    iris_wire_message_set_target (&ack, body);
  else
    iris_wire_message_set_body (&ack, body, (gsize) n * IRIS_WIRE_ID_SIZE);
  client_send (self, &ack);
}

/* As client_ack(), whatever has come. */
void
client_ack_until (Client *self, guint64 id, guint count)
{
  guint8 target[IRIS_WIRE_ID_SIZE] = { 0 };
  memcpy (target, &id, sizeof id);
  IrisWireMessage ack;
  iris_wire_message_init (&ack, IRIS_WIRE_ACK, NULL);
  iris_wire_message_set_target (&ack, target);
  iris_wire_message_set_uint (&ack, IRIS_WIRE_KEY_COUNT, count);
  client_send (self, &ack);
}

static void
init_item (Client *self, IrisWireMessage *item, const char *service)
{
  client_init_message (self, item, IRIS_WIRE_SUBMIT);
  iris_wire_message_set_string (item, IRIS_WIRE_KEY_SERVICE, service, -1);
  iris_wire_message_set_boolean (item, IRIS_WIRE_KEY_QUIET, TRUE);
}

/* Submits quietly: the next answer about the item is its completion or its refusal. */
guint64
client_submit (Client *self,
               const char *service,
               const void *payload,
               gsize size,
               gint hint,
               gboolean strict)
{
  IrisWireMessage item;
  init_item (self, &item, service);
  if (hint != IRIS_PLACE_ANY)
    iris_wire_message_set_int (&item, IRIS_WIRE_KEY_HINT, hint);
  if (strict)
    iris_wire_message_set_boolean (&item, IRIS_WIRE_KEY_STRICT, TRUE);
  iris_wire_message_set_body (&item, payload, size);
  client_send (self, &item);
  return self->next_id;
}

guint64
client_submit_path (Client *self, const char *service, const char *path)
{
  IrisWireMessage item;
  init_item (self, &item, service);
  iris_wire_message_set_string (&item, IRIS_WIRE_KEY_PATH, path, -1);
  client_send (self, &item);
  return self->next_id;
}

guint64
client_submit_command (Client *self, const char *input, const char *const *argv)
{
  IrisWireMessage item;
  init_item (self, &item, "command");
  iris_wire_message_set_args (&item, argv);
  if (input != NULL)
    iris_wire_message_set_body (&item, input, strlen (input));
  client_send (self, &item);
  return self->next_id;
}

/* Occupies a worker of the place, without end or until the gate opens; returns once it is
 * occupied. */
guint64
client_occupy (Client *self, const char *gate, gint place)
{
  IrisWireMessage item;
  init_item (self, &item, "hold");
  iris_wire_message_set_string (&item, IRIS_WIRE_KEY_PATH, gate, -1);
  iris_wire_message_set_int (&item, IRIS_WIRE_KEY_HINT, place);
  iris_wire_message_set_boolean (&item, IRIS_WIRE_KEY_STRICT, TRUE);
  client_send (self, &item);
  close (gate_wait (gate));
  return self->next_id;
}

/* A message about an item. */
static void
init_about (Client *self, IrisWireMessage *message, IrisWireType type, guint64 id)
{
  IrisWireMessage target;
  iris_wire_message_init (&target, IRIS_WIRE_SUBMIT, NULL);
  message_set_id (&target, id);
  client_init_message (self, message, type);
  iris_wire_message_set_target (message, target.request_id);
}

/* Grants the command of an item that many bytes more. */
void
client_grant (Client *self, guint64 id, guint64 bytes)
{
  IrisWireMessage more;
  init_about (self, &more, IRIS_WIRE_MORE, id);
  iris_wire_message_set_uint (&more, IRIS_WIRE_KEY_GRANT, bytes);
  client_send (self, &more);
}

static void
cancel (Client *self, guint64 id, gboolean anywhere)
{
  IrisWireMessage cancel;
  init_about (self, &cancel, IRIS_WIRE_CANCEL, id);
  if (anywhere)
    iris_wire_message_set_boolean (&cancel, IRIS_WIRE_KEY_ANYWHERE, TRUE);
  client_send (self, &cancel);
}

void
client_cancel (Client *self, guint64 id)
{
  cancel (self, id, FALSE);
}

void
client_cancel_anywhere (Client *self, guint64 id)
{
  cancel (self, id, TRUE);
}

IrisWireStatus *
client_get_status (Client *self)
{
  const IrisWireMessage *reply = client_call (self, IRIS_WIRE_STATUS, IRIS_WIRE_STATUS_REPLY);
  g_autoptr (GError) error = NULL;
  IrisWireStatus *status = iris_wire_status_decode (reply->body, NULL, &error);
  ck_assert_msg (status != NULL, "%s", error != NULL ? error->message : "");
  return status;
}
