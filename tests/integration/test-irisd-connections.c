/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * Connections that ZeroMQ would never make: half open, reset in a flood, without an end, of old
 * versions. Each of these has crashed or filled some program that listens with ZeroMQ; irisd
 * continues to serve.
 */
#include "irisd-fixture.h"
#include "irisd-raw.h"

#include <signal.h>
#include <unistd.h>

static Irisd *irisd;
static Client *good;

static void
set_up (void)
{
  irisd = irisd_start (NULL, TWO_PLACES, "--tcp=127.0.0.1:0", NULL);
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

static const char *
get_front (int way)
{
  return way == 0 ? irisd->front : irisd->tcp;
}

/* The shortest time for HELLO in these tests. A busy machine may take longer for a greeting. */
#define HASTY_MS 200

static Irisd *
start_hasty (guint hello_ms)
{
  g_autofree char *config = g_strdup_printf ("[limits]\nhello-ms = %u\n", hello_ms);
  return irisd_start (config, TWO_PLACES, "--tcp=127.0.0.1:0", NULL);
}

/* Connects until its HELLO comes in time. */
static Client *
hello_in_time (const char *front)
{
  const int patience = 5 * HASTY_MS;
  for (guint tries = 0; tries < GIVE_UP_MS / HASTY_MS; tries++)
    {
      Client *client = client_new (front);
      IrisWireMessage hello;
      client_init_message (client, &hello, IRIS_WIRE_HELLO);
      iris_wire_message_set_uint (&hello, IRIS_WIRE_KEY_VERSION_MIN, 1);
      iris_wire_message_set_uint (&hello, IRIS_WIRE_KEY_VERSION_MAX, 1);
      client_send (client, &hello);
      zmq_pollitem_t answer = { .socket = client->socket, .events = ZMQ_POLLIN };
      if (zmq_poll (&answer, 1, patience) == 1)
        {
          client_receive_type (client, IRIS_WIRE_WELCOME);
          return client;
        }
      client_free (client);
    }
  ck_abort_msg ("no HELLO was in time");
}

/* Over ipc and TCP. */
START_TEST (a_connection_that_does_not_finish_its_zmtp_greeting_is_closed)
{
  client_free (good);
  irisd_finish (irisd);
  irisd = start_hasty (HASTY_MS);
  good = hello_in_time (irisd->front);
  int silent[40], begun[40], ready[40];
  for (guint i = 0; i < G_N_ELEMENTS (silent); i++)
    {
      silent[i] = raw_connect (get_front (i % 2));
      begun[i] = raw_connect (get_front (i % 2));
      ready[i] = raw_connect (get_front (i % 2));
      /* They are closed already if this comes late. */
      raw_write (begun[i], "\xff\0\0\0", 4);
      raw_write_greeting (ready[i]);
    }
  be_served (good);
  for (guint i = 0; i < G_N_ELEMENTS (silent); i++)
    {
      raw_wait_for_hang_up (silent[i]);
      raw_wait_for_hang_up (begun[i]);
      raw_wait_for_hang_up (ready[i]);
    }
}
END_TEST

#define FLOOD_MESSAGES 2000
#define FLOODS         TIMES (40)

/* Many STATUS messages in one piece, so that they are sent faster than they are answered. */
static GByteArray *
make_flood (void)
{
  static const guint8 message[] = { 1, 4,  'I',  'R', 'S', '1', 1, 1, IRIS_WIRE_STATUS,
                                    1, 16, 1,    0,   0,   0,   0, 0, 0,
                                    0, 0,  0,    0,   0,   0,   0, 0, 0,
                                    1, 1,  0x80, 0,   0 };
  GByteArray *flood = g_byte_array_new ();
  for (guint i = 0; i < FLOOD_MESSAGES; i++)
    g_byte_array_append (flood, message, sizeof message);
  return flood;
}

/* While irisd has more than it can read, its side of the connection accepts no data. With
 * heartbeats on, libzmq 4.3 aborts when it finds such a connection reset. */
START_TEST (a_flood_that_is_reset_does_not_end_irisd)
{
  g_autoptr (GByteArray) flood = make_flood ();
  for (guint round = 0; round < 4; round++)
    {
      int fd = raw_connect_ready (get_front (_i));
      ck_assert (raw_write_hello (fd));
      for (guint i = 0; i < FLOODS; i++)
        if (!raw_write (fd, flood->data, flood->len))
          break;
      raw_reset (fd);
      be_served (good);
    }
}
END_TEST

START_TEST (stopping_in_the_middle_of_a_message_blocks_no_other_client)
{
  int fds[3];
  for (guint i = 0; i < G_N_ELEMENTS (fds); i++)
    {
      fds[i] = raw_connect_ready (get_front (_i));
      ck_assert (raw_write_hello (fds[i]));
    }
  /* After a frame, within the head of one, within its bytes. */
  ck_assert (raw_write_frame (fds[0], "IRS1", 4, TRUE));
  ck_assert (raw_write (fds[1], "\x03\0\0\0", 4));
  ck_assert (raw_write (fds[2], "\x01\x04IR", 4));
  for (guint i = 0; i < G_N_ELEMENTS (fds); i++)
    raw_wait_until_taken (fds[i]);
  for (guint i = 0; i < 10; i++)
    be_served (good);
  for (guint i = 0; i < G_N_ELEMENTS (fds); i++)
    close (fds[i]);
  be_served (good);
  g_autoptr (IrisWireStatus) status = client_get_status (good);
  ck_assert_uint_eq (status->malformed, 0);
}
END_TEST

#define BODY   (1 << 20)
#define ROUNDS 3

/* Far more than irisd takes, so that a connection that goes on fails the test. */
#define FRAMES_WITHOUT_END 1000000

static guint
write_until_hung_up (int fd, gsize frame_size)
{
  g_autofree guint8 *frame = g_malloc0 (frame_size + 1);
  guint n = 0;
  while (n < FRAMES_WITHOUT_END && raw_write_frame (fd, frame, frame_size, TRUE))
    n++;
  raw_wait_for_hang_up (fd);
  return n;
}

/* ZeroMQ's high-water marks count whole messages, so irisd has to bound one that does not end; its
 * frames stay in memory until then, and must be freed. */
START_TEST (a_message_without_end_ends_its_connection)
{
  static const gsize sizes[] = { BODY, 40, 0 };
  Irisd *small = irisd_start ("[limits]\nmax-body = 1M\nmax-output = 1M\n", TWO_PLACES,
                              "--tcp=127.0.0.1:0", NULL);
  const char *front = _i == 0 ? small->front : small->tcp;
  g_autoptr (Client) other = client_hello (front);
  for (guint round = 0; round < ROUNDS; round++)
    for (guint i = 0; i < G_N_ELEMENTS (sizes); i++)
      {
        int fd = raw_connect_ready (front);
        ck_assert (raw_write_hello (fd));
        ck_assert_uint_lt (write_until_hung_up (fd, sizes[i]), FRAMES_WITHOUT_END);
        be_served (other);
      }
  ck_assert (SANITIZED || irisd_get_peak_rss_kib (small) < 128 * 1024);
  g_autofree char *log = irisd_read_log (small);
  ck_assert_ptr_nonnull (strstr (log, "max-body"));
  client_free (g_steal_pointer (&other));
  irisd_finish (small);
}
END_TEST

/* After a reconnect ZeroMQ sends queued messages; the answer tells the client to say HELLO. */
START_TEST (a_large_first_message_is_answered)
{
  g_autofree guint8 *body = g_malloc0 (BODY);
  int fd = raw_connect_ready (get_front (_i));
  ck_assert (raw_write_frame (fd, "IRS1", 4, TRUE) && raw_write_frame (fd, "\x03", 1, TRUE)
             && raw_write_frame (fd, "0123456789abcdef", 16, TRUE)
             && raw_write_frame (fd, "\x80", 1, TRUE) && raw_write_frame (fd, body, BODY, FALSE));
  char byte;
  ck_assert_int_eq (read (fd, &byte, 1), 1);
  close (fd);
}
END_TEST

/* The connection that has been unfinished longest is closed; the others can finish. */
START_TEST (unfinished_messages_of_all_connections_have_a_limit)
{
  Irisd *small = irisd_start ("[limits]\nmax-body = 1M\nmax-output = 1M\nunfinished-bytes = 4M\n",
                              TWO_PLACES, "--tcp=127.0.0.1:0", NULL);
  const char *front = _i == 0 ? small->front : small->tcp;
  g_autofree guint8 *body = g_malloc0 (BODY);
  g_autoptr (Client) other = client_hello (front);
  int fds[5];
  for (guint i = 0; i < G_N_ELEMENTS (fds); i++)
    {
      fds[i] = raw_connect_ready (front);
      ck_assert (raw_write_hello (fds[i]));
      ck_assert (raw_write_frame (fds[i], body, BODY, TRUE));
      if (i + 1 < G_N_ELEMENTS (fds))
        raw_wait_until_taken (fds[i]);
    }
  for (guint i = 0; i < 2; i++)
    raw_wait_for_hang_up (fds[i]);
  for (guint i = 2; i < G_N_ELEMENTS (fds); i++)
    {
      ck_assert (raw_write_frame (fds[i], "", 0, FALSE));
      raw_wait_until_taken (fds[i]);
      close (fds[i]);
    }
  be_served (other);
  g_autofree char *log = irisd_read_log (small);
  ck_assert_ptr_nonnull (strstr (log, "unfinished-bytes"));
  client_free (g_steal_pointer (&other));
  irisd_finish (small);
}
END_TEST

#define MANY_FRAMES 10000

START_TEST (a_message_of_many_frames_is_refused)
{
  int fd = raw_connect_ready (get_front (_i));
  ck_assert (raw_write_hello (fd));
  for (guint i = 0; i < MANY_FRAMES; i++)
    ck_assert (raw_write_frame (fd, "many", 4, TRUE));
  ck_assert (raw_write_frame (fd, "", 0, FALSE));
  guint64 malformed = 0;
  while (malformed == 0)
    {
      g_autoptr (IrisWireStatus) status = client_get_status (good);
      malformed = status->malformed;
    }
  ck_assert (raw_write_hello (fd));
  raw_wait_until_taken (fd);
  close (fd);
}
END_TEST

/* A peer of ZMTP 1.0 or 2.0 has no ZAP request, so it would bypass the ZAP handler. */
START_TEST (a_connection_of_an_old_zmtp_is_closed)
{
  static const char one[] = "\x01\0\x05\x01IRS1\x02\0\x02";
  static const char two[] = "\xff\0\0\0\0\0\0\0\x01\x7f\x01\x05\0\0";
  int first = raw_connect (get_front (_i));
  raw_write (first, one, sizeof one - 1);
  raw_wait_for_hang_up (first);
  int second = raw_connect (get_front (_i));
  raw_write (second, two, sizeof two - 1);
  raw_wait_for_hang_up (second);
  g_autoptr (IrisWireStatus) status = client_get_status (good);
  ck_assert_uint_eq (status->malformed, 0);
}
END_TEST

START_TEST (a_name_that_is_taken_is_not_taken_away)
{
  g_autoptr (Client) first = client_new_named (get_front (_i), "the same");
  client_say_hello (first);
  g_autoptr (Client) second = client_new_named (get_front (_i), "the same");
  IrisWireMessage hello;
  client_init_message (second, &hello, IRIS_WIRE_HELLO);
  iris_wire_message_set_uint (&hello, IRIS_WIRE_KEY_VERSION_MIN, 1);
  iris_wire_message_set_uint (&hello, IRIS_WIRE_KEY_VERSION_MAX, 1);
  client_send (second, &hello);
  for (guint i = 0; i < 100; i++)
    {
      be_served (first);
      ck_assert (!client_try_receive (second));
    }
  client_free (g_steal_pointer (&first));
  be_served (good);
}
END_TEST

#define N_SILENT TIMES (400)

/* Connections without HELLO do not count for max-peers. */
START_TEST (a_connection_that_never_says_hello_takes_no_place_of_a_client)
{
  Irisd *small = irisd_start ("[limits]\nmax-peers = 2\n", TWO_PLACES, NULL);
  int fds[N_SILENT];
  for (guint i = 0; i < N_SILENT; i++)
    fds[i] = raw_connect_ready (small->front);
  g_autoptr (Client) one = client_hello (small->front);
  g_autoptr (Client) two = client_hello (small->front);
  be_served (one);
  be_served (two);
  ck_assert (SANITIZED || irisd_get_rss_kib (small) < 128 * 1024);
  for (guint i = 0; i < N_SILENT; i++)
    close (fds[i]);
  be_served (one);
  client_free (g_steal_pointer (&one));
  client_free (g_steal_pointer (&two));
  irisd_finish (small);
}
END_TEST

/* Returns whether the connection existed before it was closed. */
static gboolean
silent_is_closed (int fd)
{
  if (fd >= 0)
    raw_wait_for_hang_up (fd);
  return fd >= 0;
}

/* A connection that says HELLO and stays; -1 if irisd has closed it. */
static int
connect_with_hello (const char *front)
{
  int fd = raw_try_connect_ready (front);
  if (fd < 0 || raw_write_hello (fd))
    return fd;
  close (fd);
  return -1;
}

/* Whether the connection is open still. Closes it. */
static gboolean
has_stayed (int fd)
{
  if (fd < 0)
    return FALSE;
  gboolean stayed = raw_write_hello (fd) && raw_try_wait_until_taken (fd);
  close (fd);
  return stayed;
}

/* Returns whether all were in time, and those that said HELLO have stayed when all others have been
 * closed. */
static gboolean
only_silent_ones_are_closed (guint hello_ms, gboolean tcp)
{
  Irisd *hasty = start_hasty (hello_ms);
  const char *front = tcp ? hasty->tcp : hasty->front;
  int silent[20], ready[20];
  gboolean in_time = TRUE;
  g_autoptr (Client) early = hello_in_time (front);
  for (guint i = 0; i < G_N_ELEMENTS (silent); i++)
    {
      silent[i] = raw_try_connect_ready (front);
      ready[i] = connect_with_hello (front);
    }
  int parted = connect_with_hello (front);
  if (parted >= 0)
    raw_write_message (parted, (const char[]){ IRIS_WIRE_BYE }, "\x80", 1);
  for (guint i = 0; i < G_N_ELEMENTS (silent); i++)
    in_time &= silent_is_closed (silent[i]);
  in_time &= silent_is_closed (parted);
  /* A later connection that is silent as long: earlier ones would have been closed. */
  in_time &= silent_is_closed (raw_try_connect_ready (front));
  for (guint i = 0; i < G_N_ELEMENTS (ready); i++)
    in_time &= has_stayed (ready[i]);
  be_served (early);
  g_autofree char *log = irisd_read_log (hasty);
  ck_assert (!in_time || strstr (log, "hello-ms") != NULL);
  client_free (g_steal_pointer (&early));
  irisd_finish (hasty);
  return in_time;
}

/* Connections that have said HELLO stay, however silent. One whose HELLO came too late has not:
 * then all have twice the time. */
START_TEST (a_connection_without_hello_in_time_is_closed)
{
  for (guint hello_ms = HASTY_MS; !only_silent_ones_are_closed (hello_ms, _i == 1); hello_ms *= 2)
    ck_assert_uint_lt (hello_ms, GIVE_UP_MS / 4);
}
END_TEST

START_TEST (pending_connections_are_at_most_as_many_as_the_limit_says)
{
  Irisd *shy = irisd_start ("[limits]\nmax-pending-connections = 10\n", TWO_PLACES, NULL);
  g_autoptr (Client) early = client_hello (shy->front);
  int fds[30];
  for (guint i = 0; i < G_N_ELEMENTS (fds); i++)
    fds[i] = raw_connect_ready (shy->front);
  for (guint i = 0; i < G_N_ELEMENTS (fds) - 10; i++)
    raw_wait_for_hang_up (fds[i]);
  be_served (early);
  for (guint i = G_N_ELEMENTS (fds) - 10; i < G_N_ELEMENTS (fds); i++)
    {
      ck_assert (raw_write_hello (fds[i]));
      raw_wait_until_taken (fds[i]);
      close (fds[i]);
    }
  g_autofree char *log = irisd_read_log (shy);
  ck_assert_ptr_nonnull (strstr (log, "max-pending-connections"));
  client_free (g_steal_pointer (&early));
  irisd_finish (shy);
}
END_TEST

/* ZeroMQ has one monitor for a socket, and worker processes and readers of output need it too. */
START_TEST (silent_connections_are_closed_also_where_a_worker_process_is)
{
  Irisd *hasty = start_hasty (HASTY_MS);
  g_autoptr (Client) worker = hello_in_time (hasty->front);
  client_enroll (worker, "work", 1);
  while (!silent_is_closed (raw_try_connect_ready (hasty->front)))
    ;
  client_free (g_steal_pointer (&worker));
  irisd_finish (hasty);
}
END_TEST

#define N_LATE       100
#define ENDING_TIMES 20

/* irisd accepts them while it closes its sockets; a sanitizer tells what it forgets then. */
START_TEST (irisd_ends_well_while_connections_come_in)
{
  for (guint round = 0; round < ENDING_TIMES; round++)
    {
      Irisd *completion = irisd_start (NULL, TWO_PLACES, NULL);
      int fds[N_LATE];
      irisd_pause (completion);
      for (guint i = 0; i < N_LATE; i++)
        fds[i] = raw_connect (completion->front);
      irisd_signal (completion, SIGTERM);
      irisd_signal (completion, SIGCONT);
      ck_assert_int_eq (irisd_wait (completion), 0);
      for (guint i = 0; i < N_LATE; i++)
        close (fds[i]);
      irisd_free (completion);
    }
}
END_TEST

int
main (void)
{
  Suite *suite = suite_create ("irisd-connections");
  TCase *tcase = tcase_create ("connections");
  tcase_set_timeout (tcase, 0);
  tcase_add_checked_fixture (tcase, set_up, tear_down);
  tcase_add_test (tcase, a_connection_that_does_not_finish_its_zmtp_greeting_is_closed);
  /* Over ipc and over TCP. */
  tcase_add_loop_test (tcase, a_flood_that_is_reset_does_not_end_irisd, 0, 2);
  tcase_add_loop_test (tcase, stopping_in_the_middle_of_a_message_blocks_no_other_client, 0, 2);
  tcase_add_loop_test (tcase, a_message_without_end_ends_its_connection, 0, 2);
  tcase_add_loop_test (tcase, a_large_first_message_is_answered, 0, 2);
  tcase_add_loop_test (tcase, unfinished_messages_of_all_connections_have_a_limit, 0, 2);
  tcase_add_loop_test (tcase, a_message_of_many_frames_is_refused, 0, 2);
  tcase_add_loop_test (tcase, a_connection_of_an_old_zmtp_is_closed, 0, 2);
  tcase_add_loop_test (tcase, a_name_that_is_taken_is_not_taken_away, 0, 2);
  tcase_add_test (tcase, a_connection_that_never_says_hello_takes_no_place_of_a_client);
  tcase_add_loop_test (tcase, a_connection_without_hello_in_time_is_closed, 0, 2);
  tcase_add_test (tcase, pending_connections_are_at_most_as_many_as_the_limit_says);
  tcase_add_test (tcase, silent_connections_are_closed_also_where_a_worker_process_is);
  tcase_add_test (tcase, irisd_ends_well_while_connections_come_in);
  suite_add_tcase (suite, tcase);
  return core_test_run (suite);
}
