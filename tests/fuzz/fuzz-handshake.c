/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * Strangers against irisd: what comes before the first message, over TCP with CURVE and over ipc.
 *
 * A whole irisd runs in this process, with keys (decision 0096 has the same for its messages). An
 * input is a connection: raw bytes in pieces, then the end. irisd has to close the connection, and
 * a client with a key has to be served afterwards; so each input was handled, and irisd lives. Its
 * code and libzmq's handshake run, and so does irisd's reading along (irisd-unfinished-messages.c).
 *
 * A changed byte of an encrypted INITIATE only shows that the box is false. So the test also has
 * clients with irisd's key whose INITIATE is changed before libzmq encrypts it: crypto_box() of
 * this program takes the place of libsodium's.
 *
 * Without libFuzzer this is a test: the recorded handshakes of handshake-corpus.txt, and as many
 * mutations of them as IRIS_FUZZ_CASES says. The mutations are the same in each run.
 */
#include "daemon/config/irisd-options.h"
#include "daemon/irisd-daemon.h"
#include "daemon/net/irisd-unfinished-messages.h"

#include <dlfcn.h>
#include <glib/gstdio.h>
#include <iris/wire/iris-wire.h>
#include <netinet/in.h>
#include <poll.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>
#include <zmq.h>

/* For tests alone: everybody can read them. */
#define SERVER_PUBLIC "8VC:<LCbW&==3TpT<$)!N@js@NRp#ABC>7m6gWx{"
#define SERVER_SECRET "<J*78kBAQhjh/nFA(>m$/sH9h[X-t[p!wo+KcN2&"
#define CLIENT_PUBLIC "S($lqXk.{YPjT]2*7aZYL6s1$Vq-oP7/@&=94T]("
#define CLIENT_SECRET "GV1NIRDH*w:(skGPUKgOGC<7Iqp3DPw$:h&KnLmf"

/* A wait that lasts longer is a hang. */
#define GIVE_UP_MS 60000

/* Inputs from one sign of life to the next. */
#define INPUTS_A_LOOK 16

static char *base;
static char *ipc_path, *tcp_endpoint;
static guint16 tcp_port;
static void *context, *client;
static guint64 n_inputs;

static void
write_file (const char *dir, const char *name, const char *text)
{
  g_autofree char *path = g_build_filename (dir, name, NULL);
  g_assert_true (
      g_file_set_contents_full (path, text, -1, G_FILE_SET_CONTENTS_CONSISTENT, 0600, NULL));
}

/* Sends a request without a body, and reads all of its answer. */
static void
ask (void *socket, const IrisWireMessage *request)
{
  g_auto (IrisWireEncoder) encoder;
  char byte;
  iris_wire_encoder_init (&encoder, NULL);
  g_assert_true (iris_wire_encode (&encoder, request, NULL));
  for (guint i = 0; i < IRIS_WIRE_N_FRAMES; i++)
    g_assert_cmpint (zmq_send (socket, encoder.frames[i].data, encoder.frames[i].size,
                               i + 1 < IRIS_WIRE_N_FRAMES ? ZMQ_SNDMORE : 0),
                     >=, 0);
  for (int more = 1; more != 0;)
    {
      gsize size = sizeof more;
      g_assert_cmpint (zmq_recv (socket, &byte, 1, 0), >=, 0);
      zmq_getsockopt (socket, ZMQ_RCVMORE, &more, &size);
    }
}

static void
say_hello (void *socket)
{
  IrisWireMessage hello;
  iris_wire_message_init (&hello, IRIS_WIRE_HELLO, NULL);
  iris_wire_message_set_uint (&hello, IRIS_WIRE_KEY_VERSION_MIN, IRIS_WIRE_VERSION);
  iris_wire_message_set_uint (&hello, IRIS_WIRE_KEY_VERSION_MAX, IRIS_WIRE_VERSION);
  ask (socket, &hello);
}

static void
wait_for_sign_of_life (void)
{
  IrisWireMessage ping;
  iris_wire_message_init (&ping, IRIS_WIRE_PING, NULL);
  ask (client, &ping);
}

static void *
socket_with_key (void)
{
  int give_up = GIVE_UP_MS;
  void *socket = zmq_socket (context, ZMQ_DEALER);
  zmq_setsockopt (socket, ZMQ_RCVTIMEO, &give_up, sizeof give_up);
  zmq_setsockopt (socket, ZMQ_CURVE_SERVERKEY, SERVER_PUBLIC, 41);
  zmq_setsockopt (socket, ZMQ_CURVE_PUBLICKEY, CLIENT_PUBLIC, 41);
  zmq_setsockopt (socket, ZMQ_CURVE_SECRETKEY, CLIENT_SECRET, 41);
  return socket;
}

/* The daemon is never freed: it ends with this process. */
static void
start (void)
{
  static IrisdDaemon *daemon;
  g_autoptr (GError) error = NULL;
  base = g_dir_make_tmp ("fuzz-handshake-XXXXXX", &error);
  g_assert_no_error (error);
  g_autofree char *config = g_build_filename (base, "conf", NULL);
  g_autofree char *dir = g_build_filename (base, "d", NULL);
  g_autofree char *keys = g_build_filename (base, "keys.d", NULL);
  g_autofree char *text = g_strdup_printf ("[irisd]\ntcp=127.0.0.1:0\nserver-key=%s/server.key\n"
                                           "log-level=error\n[limits]\nhello-ms=1000\n",
                                           base);
  g_assert_cmpint (g_mkdir (keys, 0700), ==, 0);
  write_file (base, "conf", text);
  write_file (base, "server.key", "[key]\nsecret=" SERVER_SECRET "\n");
  write_file (keys, "client.key",
              "[key]\npublic=" CLIENT_PUBLIC "\nowner=8589934592\nroles=submit\n");
  const char *words[] = { "irisd",
                          "--dir",
                          dir,
                          "--config",
                          config,
                          "--topology=package:1 core:1 pu:1",
                          "--places=machine",
                          NULL };
  char **word = (char **) words;
  int n_words = G_N_ELEMENTS (words) - 1;
  IrisdOptions *options = irisd_options_parse (&n_words, &word, &error);
  g_assert_no_error (error);
  signal (SIGPIPE, SIG_IGN);
  irisd_log_set_level (IRISD_LOG_ERROR);
  daemon = irisd_daemon_new (options->config, &error);
  g_assert_no_error (error);
  g_autofree char *fronts = irisd_daemon_get_endpoints (daemon);
  char *space = strchr (fronts, ' ');
  ipc_path = g_strndup (fronts + strlen ("ipc://"), (gsize) (space - fronts) - strlen ("ipc://"));
  tcp_port = (guint16) g_ascii_strtoull (strrchr (fronts, ':') + 1, NULL, 10);

  tcp_endpoint = g_strdup (space + 1);
  context = zmq_ctx_new ();
  client = socket_with_key ();
  g_assert_cmpint (zmq_connect (client, tcp_endpoint), ==, 0);
  say_hello (client);
}

static int
connect_to (gboolean over_tcp)
{
  struct sockaddr_in in = { .sin_family = AF_INET, .sin_port = htons (tcp_port) };
  struct sockaddr_un un = { .sun_family = AF_UNIX };
  in.sin_addr.s_addr = htonl (INADDR_LOOPBACK);
  g_strlcpy (un.sun_path, ipc_path, sizeof un.sun_path);
  int fd = socket (over_tcp ? AF_INET : AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
  g_assert_cmpint (fd, >=, 0);
  g_assert_cmpint (over_tcp ? connect (fd, (struct sockaddr *) &in, sizeof in)
                            : connect (fd, (struct sockaddr *) &un, sizeof un),
                   ==, 0);
  return fd;
}

/* irisd may close the connection at any time. */
static void
send_pieces (int fd, const uint8_t *data, size_t size)
{
  for (size_t at = 0; at + 2 <= size;)
    {
      size_t length = (size_t) data[at] | (size_t) data[at + 1] << 8;
      at += 2;
      length = MIN (length, size - at);
      if (send (fd, data + at, length, MSG_NOSIGNAL) < 0)
        return;
      at += length;
    }
}

static void
wait_for_the_end (int fd)
{
  char bytes[512];
  struct pollfd end = { .fd = fd, .events = POLLIN };
  do
    g_assert_cmpint (poll (&end, 1, GIVE_UP_MS), ==, 1);
  while (recv (fd, bytes, sizeof bytes, 0) > 0);
}

int LLVMFuzzerInitialize (int *argc, char ***argv);
int LLVMFuzzerTestOneInput (const uint8_t *data, size_t size);

int
LLVMFuzzerInitialize (int *argc, char ***argv)
{
  start ();
  return 0;
}

int
LLVMFuzzerTestOneInput (const uint8_t *data, size_t size)
{
  if (size < 1)
    return 0;
  int fd = connect_to ((data[0] & 1) != 0);
  send_pieces (fd, data + 1, size - 1);
  shutdown (fd, SHUT_WR);
  wait_for_the_end (fd);
  close (fd);
  if (++n_inputs % INPUTS_A_LOOK == 0)
    wait_for_sign_of_life ();
  return 0;
}

#ifndef IRISD_LIBFUZZER
/* Bytes are changed, left out and doubled. */
static void
mutate (GByteArray *input, GRand *rand)
{
  for (gint n = g_rand_int_range (rand, 1, 5); n > 0 && input->len > 1; n--)
    {
      guint at = (guint) g_rand_int_range (rand, 0, (gint32) input->len);
      guint most = (guint) g_rand_int_range (rand, 1, 40), length = MIN (most, input->len - at);
      switch (g_rand_int_range (rand, 0, 4))
        {
        case 0:
          input->data[at] ^= (guint8) (1u << g_rand_int_range (rand, 0, 8));
          break;
        case 1:
          input->data[at] = (guint8) g_rand_int (rand);
          break;
        case 2:
          g_byte_array_remove_range (input, at, length);
          break;
        default:
          {
            g_autofree guint8 *copy = g_memdup2 (input->data + at, length);
            g_byte_array_append (input, copy, length);
            break;
          }
        }
    }
}

/* --- with a key ------------------------------------------------------------------------------- */

/* Bytes in front of the metadata that INITIATE encrypts: zeroes that the box wants, the client's
 * key, and its vouch. */
#define BEFORE_METADATA (32 + 128)

/* Of libzmq's thread while it is set; it is set while that thread has no connection. */
static _Atomic (GRand *) initiate_rand;

__attribute__ ((visibility ("default"))) int crypto_box (guint8 *box,
                                                         const guint8 *text,
                                                         unsigned long long size,
                                                         const guint8 *nonce,
                                                         const guint8 *public_key,
                                                         const guint8 *secret_key);

/* The metadata is a list of: length of a name, name, length of a value in four bytes, value. */
static void
change_metadata (guint8 *text, gsize size, GRand *rand)
{
  const gint32 least = BEFORE_METADATA, most = (gint32) size;
  for (gint n = g_rand_int_range (rand, 1, 5); n > 0; n--)
    {
      gint32 at = g_rand_int_range (rand, least, most), from = g_rand_int_range (rand, least, most);
      gint32 length = g_rand_int_range (rand, 1, 16);
      if (g_rand_boolean (rand))
        text[at] ^= (guint8) (1u << g_rand_int_range (rand, 0, 8));
      else if (g_rand_boolean (rand))
        text[at] = (guint8) g_rand_int (rand);
      else
        memmove (text + at, text + from, (gsize) MIN (length, most - MAX (at, from)));
    }
}

/* Takes the place of libsodium's: nothing else that libzmq encrypts with it is as long. */
int
crypto_box (guint8 *box,
            const guint8 *text,
            unsigned long long size,
            const guint8 *nonce,
            const guint8 *public_key,
            const guint8 *secret_key)
{
  static __typeof__ (&crypto_box) libsodium;
  GRand *rand = atomic_load_explicit (&initiate_rand, memory_order_acquire);
  g_autofree guint8 *changed = g_memdup2 (text, (gsize) size);
  if (g_once_init_enter (&libsodium))
    g_once_init_leave (&libsodium, (__typeof__ (&crypto_box)) dlsym (RTLD_NEXT, "crypto_box"));
  if (rand != NULL && size > BEFORE_METADATA)
    change_metadata (changed, (gsize) size, rand);
  return libsodium (box, changed, size, nonce, public_key, secret_key);
}

/* Returns whether the handshake of a client succeeds. */
static gboolean
wait_for_handshake (void *monitor)
{
  const int give_up = GIVE_UP_MS;
  guint8 event[6];
  char endpoint[256];
  guint16 kind;
  zmq_setsockopt (monitor, ZMQ_RCVTIMEO, &give_up, sizeof give_up);
  g_assert_cmpint (zmq_recv (monitor, event, sizeof event, 0), ==, sizeof event);
  g_assert_cmpint (zmq_recv (monitor, endpoint, sizeof endpoint, 0), >=, 0);
  memcpy (&kind, event, sizeof kind);
  return kind == ZMQ_EVENT_HANDSHAKE_SUCCEEDED;
}

/* A client whose INITIATE may be changed. If it is let in all the same it is served. */
static gboolean
come_in (GRand *rand)
{
  const int never = -1, none = 0;
  guint32 id[4];
  static guint n_monitors;
  g_autofree char *inproc = g_strdup_printf ("inproc://handshake-%u", n_monitors++);
  void *socket = socket_with_key (), *monitor = zmq_socket (context, ZMQ_PAIR);
  for (guint i = 0; i < G_N_ELEMENTS (id); i++)
    id[i] = g_rand_int (rand);
  zmq_setsockopt (socket, ZMQ_ROUTING_ID, id, sizeof id);
  zmq_setsockopt (socket, ZMQ_RECONNECT_IVL, &never, sizeof never);
  zmq_setsockopt (socket, ZMQ_LINGER, &none, sizeof none);
  g_assert_cmpint (
      zmq_socket_monitor (socket, inproc,
                          ZMQ_EVENT_HANDSHAKE_SUCCEEDED | ZMQ_EVENT_HANDSHAKE_FAILED_NO_DETAIL
                              | ZMQ_EVENT_HANDSHAKE_FAILED_PROTOCOL
                              | ZMQ_EVENT_HANDSHAKE_FAILED_AUTH | ZMQ_EVENT_DISCONNECTED),
      ==, 0);
  g_assert_cmpint (zmq_connect (monitor, inproc), ==, 0);
  g_assert_cmpint (zmq_connect (socket, tcp_endpoint), ==, 0);
  gboolean comes_in = wait_for_handshake (monitor);
  if (comes_in)
    say_hello (socket);
  zmq_socket_monitor (socket, NULL, 0);
  zmq_close (monitor);
  zmq_close (socket);
  return comes_in;
}

/* Returns how many were let in. */
static guint64
send_changed_initiates (guint64 n)
{
  g_autoptr (GRand) rand = g_rand_new_with_seed (11);
  g_autoptr (GRand) own = g_rand_new_with_seed (13);
  guint64 n_in = 0;
  g_assert_true (come_in (own));
  /* Releases the generator to libzmq's thread. */
  atomic_store_explicit (&initiate_rand, rand, memory_order_release);
  for (guint64 i = 0; i < n; i++)
    {
      n_in += come_in (own);
      if (i % INPUTS_A_LOOK == 0)
        wait_for_sign_of_life ();
    }
  atomic_store_explicit (&initiate_rand, NULL, memory_order_release);
  g_assert_true (come_in (own));
  return n_in;
}

/* The last line is a greeting and HELLO. It was recorded with irisd's key, so it is answered. */
static void
check_record (const char *line)
{
  char answer[64 + 170];
  gsize size = 0;
  g_autofree guchar *data = g_base64_decode (line, &size);
  int fd = connect_to (TRUE);
  send_pieces (fd, data + 1, size - 1);
  g_assert_cmpint (recv (fd, answer, sizeof answer, MSG_WAITALL), ==, sizeof answer);
  g_assert_cmpint (memcmp (answer + 66, "\7WELCOME", 8), ==, 0);
  close (fd);
}

/* All that strangers were charged is free once their connections have ended. */
static void
wait_until_nothing_is_charged (void)
{
  while (irisd_unfinished_get_bytes () > 0)
    wait_for_sign_of_life ();
}

int
main (int argc, char **argv)
{
  const char *cases = g_getenv ("IRIS_FUZZ_CASES");
  guint64 n_cases = cases != NULL ? g_ascii_strtoull (cases, NULL, 0) : 1000;
  g_autofree char *text = NULL;
  g_autoptr (GRand) rand = g_rand_new_with_seed (7);
  g_assert_true (argc > 1 && g_file_get_contents (argv[1], &text, NULL, NULL));
  g_auto (GStrv) lines = g_strsplit (g_strchomp (text), "\n", -1);
  const guint n_lines = g_strv_length (lines);
  printf ("1..1\n# %u recorded handshakes, %" G_GUINT64_FORMAT " mutations\n", n_lines, n_cases);
  fflush (stdout);
  start ();
  check_record (lines[n_lines - 1]);
  for (guint64 i = 0; i < n_lines + n_cases; i++)
    {
      gsize size = 0;
      g_autofree guchar *data = g_base64_decode (lines[i % n_lines], &size);
      g_autoptr (GByteArray) input = g_byte_array_new ();
      g_byte_array_append (input, data, (guint) size);
      if (i >= n_lines)
        mutate (input, rand);
      LLVMFuzzerTestOneInput (input->data, input->len);
    }
  guint64 n_in = send_changed_initiates (n_cases / 4);
  printf ("# %" G_GUINT64_FORMAT " of %" G_GUINT64_FORMAT " with changed metadata were let in\n",
          n_in, n_cases / 4);
  g_assert_true (n_cases < 100 || (n_in > 0 && n_in < n_cases / 4));
  wait_for_sign_of_life ();
  wait_until_nothing_is_charged ();
  puts ("ok 1 - no stranger keeps irisd from serving a client with a key");
  fflush (stdout);
  /* irisd's threads go on until then. */
  execlp ("rm", "rm", "-rf", "--", base, NULL);
  return EXIT_FAILURE;
}
#endif
