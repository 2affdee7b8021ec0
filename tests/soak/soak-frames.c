/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * Malformed frames at every socket of irisd: the inputs that the fuzzer of irisd has found
 * (tests/fuzz/fuzz-irisd.c: each reached something in irisd that no other did), as they are and
 * mutated. Another client is served meanwhile.
 */
#include "../fuzz/fuzz-irisd-input.h"
#include "soak-history.h"

#define N_SOCKETS 4

/* Inputs between two checks that irisd has read them. */
#define CHUNK 50

/* A connection that many of these inputs have used has only debts left. */
#define CHUNKS_A_CONNECTION 4

#define LONGEST 4096

static GPtrArray *
load_corpus (void)
{
  GPtrArray *corpus = g_ptr_array_new_with_free_func ((GDestroyNotify) g_bytes_unref);
  g_autofree char *text = NULL;
  g_autoptr (GError) error = NULL;
  ck_assert_msg (g_file_get_contents (SOAK_CORPUS, &text, NULL, &error), "%s",
                 error != NULL ? error->message : "");
  g_auto (GStrv) lines = g_strsplit (text, "\n", -1);
  for (guint i = 0; lines[i] != NULL; i++)
    {
      gsize size = 0;
      guint8 *data = g_base64_decode (lines[i], &size);
      if (size > 1)
        g_ptr_array_add (corpus, g_bytes_new_take (data, size));
      else
        g_free (data);
    }
  ck_assert_uint_gt (corpus->len, 100);
  return corpus;
}

static GBytes *
choose (GPtrArray *corpus)
{
  return g_ptr_array_index (corpus, soak_random (0, corpus->len - 1));
}

/* Flips, overwrites, cuts, or appends another input. */
static void
mutate (GByteArray *input, GPtrArray *corpus)
{
  guint at = soak_random (1, input->len - 1), n = soak_random (0, 4);
  gsize size = 0;
  const guint8 *other;
  switch (soak_random (0, 4))
    {
    case 0:
      input->data[at] ^= (guint8) (1 << soak_random (0, 7));
      break;
    case 1:
    case 2:
      input->data[at] = (guint8) soak_random (0, 255);
      break;
    case 3:
      g_byte_array_remove_range (input, at, MIN (n, input->len - at));
      break;
    default:
      other = g_bytes_get_data (choose (corpus), &size);
      if (at < size)
        {
          g_byte_array_set_size (input, at);
          g_byte_array_append (input, other + at, (guint) MIN (size - at, LONGEST));
        }
      break;
    }
}

/* Returns how many messages it was. */
static guint
send_input (Client *client, GPtrArray *corpus)
{
  FuzzMessage messages[FUZZ_MOST_MESSAGES];
  GBytes *from = choose (corpus);
  g_autoptr (GByteArray) input = g_byte_array_new ();
  g_byte_array_append (input, g_bytes_get_data (from, NULL), (guint) g_bytes_get_size (from));
  for (guint n = soak_random (0, 3); n > 0 && input->len > 1; n--)
    mutate (input, corpus);
  guint n = fuzz_irisd_split (input->data, input->len, messages);
  for (guint i = 0; i < n; i++)
    client_send_frames (client, messages[i].frames, messages[i].n);
  return n;
}

/* Reads everything until the answer to this client's PING: every answer can be read. */
static void
catch_up (Client *client)
{
  IrisWireMessage ping;
  client_init_message (client, &ping, IRIS_WIRE_PING);
  memset (ping.request_id + 8, 0xa5, 8);
  guint64 id = message_get_id (&ping);
  client_send (client, &ping);
  const IrisWireMessage *answer;
  do
    answer = client_receive_any (client);
  while (message_get_id (answer) != id || answer->request_id[15] != 0xa5);
}

static void
send_chunk (const char *endpoint, GPtrArray *corpus, Client **client, guint64 *n_sent)
{
  if (*client == NULL || *n_sent % (CHUNKS_A_CONNECTION * CHUNK) < CHUNK)
    {
      g_clear_pointer (client, client_free);
      *client = client_new (endpoint);
    }
  for (guint i = 0; i < CHUNK; i++)
    *n_sent += send_input (*client, corpus);
  catch_up (*client);
}

static void
do_durable_item (SoakHistory *history, Client *good)
{
  IrisWireMessage item;
  soak_history_fill (history, good, &item, "echo", IRIS_WIRE_CLASS_DURABLE);
  soak_history_send (history, good, &item);
  while (history->open > 0)
    soak_history_take (history, client_receive (good));
  client_ack (good, 1);
}

/* Waits until irisd has counted that many unreadable messages at that socket. Returns how many were
 * sent. */
static guint64
pelt (SoakHistory *history,
      Client *good,
      const char *endpoint,
      GPtrArray *corpus,
      guint64 n_malformed)
{
  guint64 n_sent = 0, first = 0, now = 0;
  Client *client = NULL;
  do
    {
      send_chunk (endpoint, corpus, &client, &n_sent);
      do_durable_item (history, good);
      g_autoptr (IrisWireStatus) status = client_get_status (good);
      now = status->malformed;
      first = first == 0 ? now : first;
    }
  while (now < first + n_malformed);
  client_free (client);
  return n_sent;
}

void
soak_frames (SoakFigures *figures)
{
  static const char config[] =
      "[access]\ncommands = none\n"
      "[limits]\nmax-body = 64K\nmax-output = 64K\nmax-delay-ms = 1000\nmax-backoff-ms = 100\n"
      "lease-ms = 500\nsilence-ms = 1000\nworker-wait-ms = 500\n";
  guint64 n_malformed = soak_times (10000, 250000), n_sent = 0;
  g_autoptr (GPtrArray) corpus = load_corpus ();
  Home *home = home_new ();
  const char *const options[] = { TWO_PLACES, "--tcp=127.0.0.1:0", home->option, NULL };
  Irisd *irisd = irisd_start_in (home->dir, config, options);
  Client *good = client_hello (irisd->front);
  SoakHistory history;
  soak_history_init (&history, figures);
  for (guint i = 0; i < N_SOCKETS; i++)
    {
      g_autofree char *place = irisd_place_endpoint (irisd, i % 2);
      const char *endpoint = i == 0 ? irisd->front : i == 1 ? irisd->tcp : place;
      n_sent += pelt (&history, good, endpoint, corpus, n_malformed);
    }
  ck_assert_uint_eq (history.refused, 0);
  g_snprintf (figures->note, sizeof figures->note,
              "%u sockets, %" G_GUINT64_FORMAT " malformed of %" G_GUINT64_FORMAT " messages",
              N_SOCKETS, N_SOCKETS * n_malformed, n_sent);
  soak_note_peak (figures, irisd);
  client_free (good);
  irisd_stop (irisd);
  soak_history_clear (&history);
  home_free (home);
}
