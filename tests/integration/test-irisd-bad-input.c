/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * Bad input to every socket: each piece gets an error or costs the connection, and a good client
 * meanwhile sees no difference.
 */
#include "irisd-fixture.h"
#include "irisd-raw.h"

#include <unistd.h>

/* For each socket: half of them random, half of them mutated. */
/* At each of the sockets, with other random numbers. */
#define N_BAD     TIMES (30000)
#define CHUNK     200
#define MAX_BODY  65536
#define MAX_SIZE  200
#define N_SOCKETS 3

static Irisd *irisd;
static Client *good;

static void
set_up (void)
{
  irisd = irisd_start ("[limits]\nmax-body = 64K\nmax-output = 64K\n", TWO_PLACES,
                       "--tcp=127.0.0.1:0", NULL);
  good = client_hello (irisd->front);
}

static void
be_served (Client *client)
{
  client_submit (client, "echo", "good", 4, IRIS_PLACE_ANY, FALSE);
  ck_assert (message_body_is (client_receive_type (client, IRIS_WIRE_RESULT), "good"));
  client_ack (client, 1);
}

static void
tear_down (void)
{
  be_served (good);
  client_free (good);
  irisd_finish (irisd);
}

/* The front and the places. */
static char *
get_endpoint (guint i)
{
  return i == 0 ? g_strdup (irisd->front) : irisd_place_endpoint (irisd, i - 1);
}

typedef struct
{
  guint n;
  gsize sizes[8];
  guint8 bytes[8][MAX_SIZE];
} Frames;

static void
send_frames (Client *client, const Frames *frames)
{
  IrisWireFrame views[8];
  for (guint i = 0; i < frames->n; i++)
    views[i] = (IrisWireFrame){ frames->bytes[i], frames->sizes[i] };
  client_send_frames (client, views, frames->n);
}

static void
fill_random (GRand *rand, guint8 *bytes, gsize size)
{
  for (gsize i = 0; i < size; i++)
    bytes[i] = (guint8) g_rand_int (rand);
}

/* Random frames; half of them begin as a message does, to pass the first check. */
static void
make_random (GRand *rand, Frames *frames)
{
  frames->n = (guint) g_rand_int_range (rand, 1, 9);
  for (guint i = 0; i < frames->n; i++)
    {
      frames->sizes[i] = (gsize) g_rand_int_range (rand, 0, MAX_SIZE);
      fill_random (rand, frames->bytes[i], frames->sizes[i]);
    }
  if (g_rand_boolean (rand))
    return;
  frames->n = IRIS_WIRE_N_FRAMES;
  frames->sizes[0] = 4;
  memcpy (frames->bytes[0], "IRS1", 4);
  frames->sizes[1] = 1;
  frames->bytes[1][0] = (guint8) g_rand_int_range (rand, 0x02, 0x0b);
  frames->sizes[2] = 16;
  frames->sizes[3] = (gsize) g_rand_int_range (rand, 0, 40);
  frames->sizes[4] = (gsize) g_rand_int_range (rand, 0, 40);
}

LOOP_TEST (random_messages_get_one_error_each, 0, N_SOCKETS)
{
  g_autofree char *endpoint = get_endpoint ((guint) _i);
  g_autoptr (Client) bad = client_new (endpoint);
  GRand *rand = g_rand_new_with_seed (4711 + (guint) _i);
  Frames frames;
  for (guint sent = 0; sent < N_BAD / 2; sent += CHUNK)
    {
      for (guint i = 0; i < CHUNK; i++)
        {
          make_random (rand, &frames);
          send_frames (bad, &frames);
        }
      for (guint i = 0; i < CHUNK; i++)
        client_receive_type (bad, IRIS_WIRE_ERROR_REPLY);
      be_served (good);
    }
  ck_assert (!client_try_receive (bad));
  g_rand_free (rand);
}

static void
copy_encoded (Client *client, const IrisWireMessage *message, Frames *frames)
{
  ck_assert (iris_wire_encode (&client->encoder, message, NULL));
  frames->n = IRIS_WIRE_N_FRAMES;
  for (guint i = 0; i < IRIS_WIRE_N_FRAMES; i++)
    {
      frames->sizes[i] = client->encoder.frames[i].size;
      ck_assert_uint_le (frames->sizes[i], MAX_SIZE);
      if (frames->sizes[i] > 0)
        memcpy (frames->bytes[i], client->encoder.frames[i].data, frames->sizes[i]);
    }
}

/* A good message of any type that runs no program. */
static void
make_good (GRand *rand, Client *client, Frames *frames)
{
  const IrisWireType types[] = { IRIS_WIRE_HELLO,  IRIS_WIRE_MAP,      IRIS_WIRE_SUBMIT,
                                 IRIS_WIRE_BATCH,  IRIS_WIRE_ACK,      IRIS_WIRE_CANCEL,
                                 IRIS_WIRE_STATUS, IRIS_WIRE_SERVICES, IRIS_WIRE_PING };
  IrisWireMessage message;
  client_init_message (client, &message, types[g_rand_int_range (rand, 0, G_N_ELEMENTS (types))]);
  g_auto (IrisWireBatchBuilder) batch = { 0 };
  switch (message.type)
    {
    case IRIS_WIRE_HELLO:
      iris_wire_message_set_uint (&message, IRIS_WIRE_KEY_VERSION_MIN, 1);
      iris_wire_message_set_uint (&message, IRIS_WIRE_KEY_VERSION_MAX, 1);
      break;
    case IRIS_WIRE_SUBMIT:
      iris_wire_message_set_string (&message, IRIS_WIRE_KEY_SERVICE, "wordcount", -1);
      iris_wire_message_set_int (&message, IRIS_WIRE_KEY_HINT, 1);
      iris_wire_message_set_body (&message, "some words", 10);
      break;
    case IRIS_WIRE_BATCH:
      {
        IrisWireMessage item;
        client_init_message (client, &item, IRIS_WIRE_SUBMIT);
        iris_wire_message_set_string (&item, IRIS_WIRE_KEY_SERVICE, "echo", -1);
        iris_wire_message_set_body (&item, "x", 1);
        iris_wire_batch_builder_init (&batch, NULL);
        ck_assert (iris_wire_batch_builder_add (&batch, &item, NULL));
        IrisWireFrame body = iris_wire_batch_builder_get_body (&batch);
        iris_wire_message_set_body (&message, body.data, body.size);
        break;
      }
    case IRIS_WIRE_ACK:
      iris_wire_message_set_target (&message, message.request_id);
      iris_wire_message_set_uint (&message, IRIS_WIRE_KEY_COUNT, 1);
      break;
    case IRIS_WIRE_CANCEL:
      iris_wire_message_set_target (&message, message.request_id);
      break;
    default:
      break;
    }
  copy_encoded (client, &message, frames);
}

/* Flips a bit, cuts, extends or swaps a frame, or removes or adds one. */
static void
mutate (GRand *rand, Frames *frames)
{
  guint i = (guint) g_rand_int_range (rand, 0, (gint) frames->n);
  gsize *size = &frames->sizes[i];
  switch (g_rand_int_range (rand, 0, 6))
    {
    case 0:
    case 1:
      if (*size > 0)
        frames->bytes[i][g_rand_int_range (rand, 0, (gint) *size)] ^=
            (guint8) (1 << g_rand_int_range (rand, 0, 8));
      break;
    case 2:
      *size = (gsize) g_rand_int_range (rand, 0, (gint) *size + 1);
      break;
    case 3:
      if (*size + 4 < MAX_SIZE)
        {
          fill_random (rand, frames->bytes[i] + *size, 4);
          *size += 4;
        }
      break;
    case 4:
      frames->n = MAX (1, frames->n - 1);
      break;
    default:
      if (frames->n < 8)
        {
          frames->sizes[frames->n] = *size;
          memcpy (frames->bytes[frames->n], frames->bytes[i], *size);
          frames->n++;
        }
      break;
    }
}

/* Reads everything until the answer to this client's ping; says HELLO again if needed. */
static void
catch_up (Client *client)
{
  IrisWireMessage ping;
  client_init_message (client, &ping, IRIS_WIRE_PING);
  memset (ping.request_id + 8, 0xff, 8);
  client_send (client, &ping);
  guint64 id = client->next_id;
  for (;;)
    {
      const IrisWireMessage *answer = client_receive (client);
      if (message_get_id (answer) == id && answer->request_id[15] == 0xff)
        return;
    }
}

LOOP_TEST (mutated_messages_never_confuse_a_connection, 0, N_SOCKETS)
{
  g_autofree char *endpoint = get_endpoint ((guint) _i);
  g_autoptr (Client) bad = client_hello (endpoint);
  GRand *rand = g_rand_new_with_seed (1147 + (guint) _i);
  Frames frames;
  for (guint sent = 0; sent < N_BAD / 2; sent += CHUNK)
    {
      for (guint i = 0; i < CHUNK; i++)
        {
          make_good (rand, bad, &frames);
          for (gint n = g_rand_int_range (rand, 1, 4); n > 0; n--)
            mutate (rand, &frames);
          send_frames (bad, &frames);
        }
      catch_up (bad);
      be_served (good);
    }
  /* HELLO ends items in flight, and the last completion may still come before the answer. */
  IrisWireMessage hello;
  client_init_message (bad, &hello, IRIS_WIRE_HELLO);
  iris_wire_message_set_uint (&hello, IRIS_WIRE_KEY_VERSION_MIN, 1);
  iris_wire_message_set_uint (&hello, IRIS_WIRE_KEY_VERSION_MAX, 1);
  client_send (bad, &hello);
  while (client_receive (bad)->type != IRIS_WIRE_WELCOME)
    ;
  g_rand_free (rand);

  g_autoptr (IrisWireStatus) status = client_get_status (good);
  ck_assert_uint_gt (status->malformed, N_BAD / 8);
}

static Frames
good_ping (Client *client)
{
  Frames frames;
  IrisWireMessage ping;
  client_init_message (client, &ping, IRIS_WIRE_PING);
  copy_encoded (client, &ping, &frames);
  return frames;
}

LOOP_TEST (each_kind_of_bad_message_has_its_code, 0, N_SOCKETS)
{
  g_autofree char *endpoint = get_endpoint ((guint) _i);
  g_autoptr (Client) bad = client_new (endpoint);
  Frames frames = good_ping (bad);
  send_frames (bad, &frames);
  assert_error (client_receive (bad), IRIS_WIRE_ERROR_HELLO_REQUIRED);
  ck_assert_uint_eq (message_get_id (&bad->message), bad->next_id);
  client_say_hello (bad);

  for (guint n = 1; n <= 8; n++)
    {
      frames = good_ping (bad);
      for (guint i = frames.n; i < 8; i++)
        frames.sizes[i] = 0;
      frames.n = n;
      send_frames (bad, &frames);
      if (n == IRIS_WIRE_N_FRAMES)
        client_receive_type (bad, IRIS_WIRE_PONG);
      else
        assert_error (client_receive (bad), IRIS_WIRE_ERROR_MALFORMED);
      ck_assert_uint_eq (message_get_id (&bad->message), n >= 3 ? bad->next_id : 0);
    }

  frames = good_ping (bad);
  frames.bytes[0][3] = '2';
  send_frames (bad, &frames);
  assert_error (client_receive (bad), IRIS_WIRE_ERROR_VERSION);

  frames = good_ping (bad);
  frames.bytes[1][0] = 0x7f;
  send_frames (bad, &frames);
  assert_error (client_receive (bad), IRIS_WIRE_ERROR_UNKNOWN_TYPE);

  frames = good_ping (bad);
  frames.bytes[1][0] = IRIS_WIRE_PONG;
  send_frames (bad, &frames);
  assert_error (client_receive (bad), IRIS_WIRE_ERROR_UNKNOWN_TYPE);

  frames = good_ping (bad);
  frames.bytes[3][0] = 0xc1;
  send_frames (bad, &frames);
  assert_error (client_receive (bad), IRIS_WIRE_ERROR_MALFORMED);
}

TEST (versions_that_do_not_meet_are_refused)
{
  g_autoptr (Client) bad = client_new (irisd->front);
  const guint ranges[][2] = { { 2, 9 }, { 1, 9 } };
  for (guint i = 0; i < 2; i++)
    {
      IrisWireMessage hello;
      client_init_message (bad, &hello, IRIS_WIRE_HELLO);
      iris_wire_message_set_uint (&hello, IRIS_WIRE_KEY_VERSION_MIN, ranges[i][0]);
      iris_wire_message_set_uint (&hello, IRIS_WIRE_KEY_VERSION_MAX, ranges[i][1]);
      client_send (bad, &hello);
      if (i == 0)
        assert_error (client_receive (bad), IRIS_WIRE_ERROR_VERSION);
      else
        ck_assert_uint_eq (client_receive_type (bad, IRIS_WIRE_WELCOME)->version_max, 1);
    }
}

TEST (a_body_over_the_limit_is_refused)
{
  g_autoptr (Client) bad = client_hello (irisd->front);
  g_autofree char *body = g_malloc0 (MAX_BODY + 1);
  client_submit (bad, "echo", body, MAX_BODY + 1, IRIS_PLACE_ANY, FALSE);
  assert_error (client_receive (bad), IRIS_WIRE_ERROR_TOO_LARGE);
  g_autofree char *limit = iris_wire_string_dup (&bad->message.limit);
  ck_assert_str_eq (limit, "max-body");
  ck_assert_uint_eq (bad->message.limit_value, MAX_BODY);
  client_submit (bad, "wordcount", body, MAX_BODY, IRIS_PLACE_ANY, FALSE);
  client_receive_type (bad, IRIS_WIRE_RESULT);
}

TEST (a_frame_far_over_the_limit_costs_the_connection)
{
  g_autoptr (Client) bad = client_hello (irisd->front);
  g_autofree char *body = g_malloc0 (16 * MAX_BODY);
  client_submit (bad, "echo", body, 16 * MAX_BODY, IRIS_PLACE_ANY, FALSE);
  be_served (good);
  /* ZeroMQ connects again by itself; the new connection has to begin with HELLO. */
  int rc = -1;
  int patience = 50;
  zmq_setsockopt (bad->socket, ZMQ_RCVTIMEO, &patience, sizeof patience);
  for (guint n = 0; n < GIVE_UP_MS / 50 && rc < 0; n++)
    {
      Frames ping = good_ping (bad);
      send_frames (bad, &ping);
      rc = zmq_msg_recv (&bad->frames[0], bad->socket, 0);
    }
  ck_assert_int_ge (rc, 0);
  for (guint i = 1; i < IRIS_WIRE_N_FRAMES; i++)
    ck_assert_int_ge (zmq_msg_recv (&bad->frames[i], bad->socket, 0), 0);
  ck_assert_int_eq (((guint8 *) zmq_msg_data (&bad->frames[1]))[0], IRIS_WIRE_ERROR_REPLY);
}

TEST (over_tcp_programs_and_files_are_out_of_reach)
{
  const char *const argv[] = { "id", NULL };
  g_autoptr (Client) guest = client_hello (irisd->tcp);
  client_submit_command (guest, NULL, argv);
  assert_error (client_receive (guest), IRIS_WIRE_ERROR_NOT_PERMITTED);
  client_submit_path (guest, "sha256", "/etc/passwd");
  assert_error (client_receive (guest), IRIS_WIRE_ERROR_NOT_PERMITTED);
  be_served (guest);

  client_submit_path (good, "sha256", "/etc/passwd");
  client_receive_type (good, IRIS_WIRE_RESULT);
  client_submit_command (good, NULL, argv);
  client_receive_type (good, IRIS_WIRE_RESULT);
  client_ack (good, 2);

  Irisd *trusting = irisd_start ("[irisd]\ntcp = 127.0.0.1:0\ntcp-trusted = true\n", ONE_WORKER,
                                 NULL);
  g_autoptr (Client) trusted = client_hello (trusting->tcp);
  client_submit_command (trusted, NULL, argv);
  client_receive_type (trusted, IRIS_WIRE_RESULT);
  client_free (g_steal_pointer (&trusted));
  irisd_finish (trusting);
}

TEST (the_map_leads_the_way_by_which_it_was_asked_for)
{
  const char *const fronts[] = { irisd->front, irisd->tcp };
  for (guint i = 0; i < 2; i++)
    {
      g_autoptr (Client) asker = client_hello (fronts[i]);
      const IrisWireMessage *reply = client_call (asker, IRIS_WIRE_MAP, IRIS_WIRE_MAP_REPLY);
      g_autoptr (IrisWireMap) map = iris_wire_map_decode (reply->body, NULL, NULL);
      for (guint place = 0; place < 2; place++)
        {
          const char *endpoint = map->places[place].endpoint;
          ck_assert (g_str_has_prefix (endpoint, i == 0 ? "ipc://" : "tcp://127.0.0.1:"));
          g_autoptr (Client) there = client_hello (endpoint);
          ck_assert_int_eq (there->message.socket_place, (gint) place);
          be_served (there);
        }
    }
}

TEST (bytes_that_are_not_zeromq_harm_no_client)
{
  g_autoptr (Client) over_tcp = client_hello (irisd->tcp);
  GRand *rand = g_rand_new_with_seed (13);
  int fds[TIMES (200)];
  for (guint i = 0; i < G_N_ELEMENTS (fds); i++)
    {
      guint8 bytes[4096];
      fill_random (rand, bytes, sizeof bytes);
      if (i % 3 == 0)
        memcpy (bytes, "GET / HTTP/1.1\r\n\r\n", 18);
      fds[i] = raw_connect (irisd->tcp);
      raw_write (fds[i], bytes, (gsize) g_rand_int_range (rand, 0, sizeof bytes));
      be_served (over_tcp);
    }
  for (guint i = 0; i < G_N_ELEMENTS (fds); i++)
    close (fds[i]);
  be_served (over_tcp);
  g_rand_free (rand);
}

TEST (a_frame_that_claims_two_gibibytes_is_not_waited_for)
{
  static const guint8 claim[] = { 2, 0, 0, 0, 0, 0x80, 0, 0, 0 };
  guint64 before = irisd_get_rss_kib (irisd);
  for (guint i = 0; i < 20; i++)
    {
      int fd = raw_connect_ready (irisd->tcp);
      raw_write (fd, claim, sizeof claim);
      raw_wait_for_hang_up (fd);
    }
  be_served (good);
  ck_assert_uint_lt (irisd_get_rss_kib (irisd), before + 64 * 1024);
}

TEST_MAIN ("irisd-bad-input", set_up, tear_down)
