/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * libFuzzer against irisd: a whole one, with its threads, its journal and its sockets, in the
 * process of the fuzzer, so that coverage of all of it is counted. Inputs come in by ZeroMQ, as
 * messages of an unknown client. After each a PING must be answered: irisd has then handled the
 * whole input, every answer must be readable, and irisd lives.
 *
 * Commands are off: an input that names a program must not be run.
 */
#include "fuzz-irisd-input.h"

#include "daemon/config/irisd-options.h"
#include "daemon/irisd-daemon.h"

#include <errno.h>
#include <glib/gstdio.h>
#include <signal.h>
#include <string.h>
#include <unistd.h>
#include <zmq.h>

#define N_SOCKETS 4

/* After this many inputs all connections are new, and debts of the old ones are forgotten. */
#define INPUTS_A_CONNECTION 64

/* While an answer is awaited, the threads of the process are checked. It is a fault if all
 * others sleep in this many checks in a row, a second, without an answer. Time alone would prove
 * nothing: a process that was stopped, or whose threads wait for a processor, is late without a
 * fault. The period differs from irisd's own, so that the checks do not always meet irisd's look
 * at its clock. */
#define LOOK_MS           37
#define MOST_LOOKS_ASLEEP 27

/* An input is far less than what ZeroMQ queues, so no send waits. */
#define SEND_MS 60000

static const char config[] =
    "[access]\ncommands = none\n"
    "[limits]\nmax-body = 64K\nmax-output = 64K\npersistent-items = 2000\nmax-keep-ms = 1000\n"
    "keep-ms = 500\nmax-delay-ms = 100\nmax-backoff-ms = 10\nlease-ms = 50\nsilence-ms = 100\n"
    "worker-wait-ms = 50\nremembered-items = 1000\nmemory-items = 2\nread-ahead-ms = 5\n";

static void *context;
static void *sockets[N_SOCKETS];
static char *endpoints[N_SOCKETS];
static guint64 n_inputs, n_messages;

static void
report (void)
{
  g_printerr ("fuzz-irisd: %" G_GUINT64_FORMAT " messages in %" G_GUINT64_FORMAT " inputs\n",
              n_messages, n_inputs);
}

int LLVMFuzzerInitialize (int *argc, char ***argv);
int LLVMFuzzerTestOneInput (const uint8_t *data, size_t size);

/* The daemon is never freed: it ends with the fuzzer, which gives no notice. */
int
LLVMFuzzerInitialize (int *argc, char ***argv)
{
  g_autoptr (GError) error = NULL;
  g_autofree char *base = g_dir_make_tmp ("fuzz-irisd-XXXXXX", &error);
  g_assert_no_error (error);
  g_autofree char *file = g_build_filename (base, "conf", NULL);
  g_autofree char *dir = g_build_filename (base, "d", NULL);
  g_autofree char *journal = g_build_filename (base, "j", NULL);
  g_assert_true (g_file_set_contents (file, config, -1, NULL));
  const char *words[] = { "irisd",
                          "--dir",
                          dir,
                          "--config",
                          file,
                          "--journal",
                          journal,
                          "--tcp=127.0.0.1:0",
                          "--topology=package:2 core:1 pu:1",
                          "--places=package",
                          NULL };
  char **word = (char **) words;
  int n_words = G_N_ELEMENTS (words) - 1;
  IrisdOptions *options = irisd_options_parse (&n_words, &word, &error);
  g_assert_no_error (error);
  signal (SIGPIPE, SIG_IGN);
  IrisdDaemon *daemon = irisd_daemon_new (options->config, &error);
  g_assert_no_error (error);

  g_autofree char *fronts = irisd_daemon_get_endpoints (daemon);
  char *space = strchr (fronts, ' ');
  endpoints[0] = g_strndup (fronts, (gsize) (space - fronts));
  endpoints[1] = iris_wire_endpoint_place (dir, 0);
  endpoints[2] = iris_wire_endpoint_place (dir, 1);
  endpoints[3] = g_strdup (space + 1);
  context = zmq_ctx_new ();
  atexit (report);
  return 0;
}

static void
connect_anew (guint which)
{
  int none = 0, look = LOOK_MS, give_up = SEND_MS;
  if (sockets[which] != NULL)
    zmq_close (sockets[which]);
  sockets[which] = zmq_socket (context, ZMQ_DEALER);
  g_assert (sockets[which] != NULL);
  zmq_setsockopt (sockets[which], ZMQ_LINGER, &none, sizeof none);
  zmq_setsockopt (sockets[which], ZMQ_RCVTIMEO, &look, sizeof look);
  zmq_setsockopt (sockets[which], ZMQ_SNDTIMEO, &give_up, sizeof give_up);
  g_assert (zmq_connect (sockets[which], endpoints[which]) == 0);
}

static void
send_frames (void *socket, const IrisWireFrame *frames, guint n)
{
  for (guint i = 0; i < n; i++)
    g_assert (zmq_send (socket, frames[i].data, frames[i].size, i + 1 < n ? ZMQ_SNDMORE : 0) >= 0);
}

static void
send_message (void *socket, const IrisWireMessage *message)
{
  g_auto (IrisWireEncoder) encoder;
  iris_wire_encoder_init (&encoder, NULL);
  g_assert (iris_wire_encode (&encoder, message, NULL));
  send_frames (socket, encoder.frames, IRIS_WIRE_N_FRAMES);
}

/* Whether another thread runs, or would if it had a processor, or waits for the disk. A thread that
 * passes work to another sleeps only when that one is awake, so the only gap is that the threads
 * are checked one by one. */
static gboolean
is_a_gateway_awake (void)
{
  static const char folder[] = "/proc/self/task";
  g_autoptr (GDir) tasks = g_dir_open (folder, 0, NULL);
  g_assert_nonnull (tasks);
  g_autofree char *self = g_strdup_printf ("%d", (int) gettid ());
  const char *leased_item;
  while ((leased_item = g_dir_read_name (tasks)) != NULL)
    {
      g_autofree char *file = g_build_filename (folder, leased_item, "stat", NULL);
      g_autofree char *stat = NULL;
      if (strcmp (leased_item, self) == 0 || !g_file_get_contents (file, &stat, NULL, NULL))
        continue;
      const char *name_end = strrchr (stat, ')');
      if (name_end != NULL && strchr ("RD", name_end[2]) != NULL)
        return TRUE;
    }
  return FALSE;
}

/* An endless loop is for libFuzzer's own -timeout. */
static gboolean
receive (void *socket, zmq_msg_t *part)
{
  guint asleep = 0;
  while (asleep < MOST_LOOKS_ASLEEP)
    {
      if (zmq_msg_recv (part, socket, 0) >= 0)
        return TRUE;
      if (errno == EAGAIN)
        asleep += !is_a_gateway_awake ();
    }
  g_printerr ("fuzz-irisd: no answer, and all threads slept at %u looks, %u ms apart\n", asleep,
              LOOK_MS);
  return FALSE;
}

static void
note_completion (GByteArray *ended, const IrisWireMessage *message)
{
  if (message->type == IRIS_WIRE_RESULT
      || (message->type == IRIS_WIRE_ERROR_REPLY && message->ends))
    g_byte_array_append (ended, message->request_id, sizeof message->request_id);
}

/* A message that was accepted as one must make sense as several. */
static void
note_completions (GByteArray *ended, IrisWireFrame body)
{
  IrisWireCompletionsIter iter;
  IrisWireMessage completion;
  g_autoptr (GError) error = NULL;
  g_assert (iris_wire_completions_iter_init (&iter, body, NULL, NULL));
  while (iris_wire_completions_iter_next (&iter, &completion, &error))
    note_completion (ended, &completion);
  g_assert (error == NULL);
}

/* Reads one answer, which has to make sense. Adds the ids of ended items. Returns whether it has
 * that id. */
static gboolean
take_answer (void *socket, const guint8 *id, GByteArray *ended)
{
  zmq_msg_t parts[IRIS_WIRE_N_FRAMES];
  IrisWireFrame views[IRIS_WIRE_N_FRAMES];
  IrisWireMessage message;
  for (guint i = 0; i < IRIS_WIRE_N_FRAMES; i++)
    {
      zmq_msg_init (&parts[i]);
      g_assert (receive (socket, &parts[i]));
      g_assert (zmq_msg_more (&parts[i]) == (i + 1 < IRIS_WIRE_N_FRAMES));
      views[i] = (IrisWireFrame){ zmq_msg_data (&parts[i]), zmq_msg_size (&parts[i]) };
    }
  g_assert (iris_wire_decode (views, IRIS_WIRE_N_FRAMES, NULL, &message, NULL));
  g_assert (!iris_wire_type_is_request (message.type));
  gboolean found = memcmp (message.request_id, id, sizeof message.request_id) == 0;
  if (message.type == IRIS_WIRE_COMPLETIONS)
    note_completions (ended, message.body);
  else
    note_completion (ended, &message);
  for (guint i = 0; i < IRIS_WIRE_N_FRAMES; i++)
    zmq_msg_close (&parts[i]);
  return found;
}

/* Reads all answers up to that to this client's PING, and acknowledges ended items. */
static void
wait_for_sign_of_life (void *socket)
{
  IrisWireMessage ping, ack;
  guint8 id[16] = "sign of life";
  memcpy (id + 13, &n_inputs, 3);
  iris_wire_message_init (&ping, IRIS_WIRE_PING, id);
  send_message (socket, &ping);
  g_autoptr (GByteArray) ended = g_byte_array_new ();
  while (!take_answer (socket, id, ended))
    ;
  /* One by one: the input may have acknowledged some of them itself. */
  for (guint i = 0; i < ended->len; i += IRIS_WIRE_ID_SIZE)
    {
      iris_wire_message_init (&ack, IRIS_WIRE_ACK, NULL);
      iris_wire_message_set_target (&ack, ended->data + i);
      send_message (socket, &ack);
    }
}

int
LLVMFuzzerTestOneInput (const uint8_t *data, size_t size)
{
  FuzzMessage messages[FUZZ_MOST_MESSAGES];
  if (size < 2)
    return 0;
  guint which = data[0] % N_SOCKETS;
  if (sockets[which] == NULL || n_inputs % INPUTS_A_CONNECTION == which)
    connect_anew (which);
  n_inputs++;
  guint n = fuzz_irisd_split (data, size, messages);
  for (guint i = 0; i < n; i++)
    send_frames (sockets[which], messages[i].frames, messages[i].n);
  n_messages += n;
  wait_for_sign_of_life (sockets[which]);
  return 0;
}
