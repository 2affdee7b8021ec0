/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * Worker processes are killed while they hold leases, and one of them sends garbage. Each run of an
 * item writes a line to a file, so that runs can be counted: one, unless the worker was killed
 * between the run and irisd's receipt of its end.
 */
#include "soak-history.h"

#include <fcntl.h>
#include <unistd.h>

#define N_WORKERS 3
#define CAPACITY  4
#define WINDOW    48
#define SERVICE   "soak"

static void
enroll (Client *self)
{
  g_autoptr (IrisWireServices) services = iris_wire_services_new (1);
  services->services[0].name = g_strdup (SERVICE);
  services->services[0].summary = g_strdup ("gives back what it gets");
  g_autoptr (GBytes) body = iris_wire_services_encode (services, NULL, NULL);
  IrisWireMessage ready;
  client_init_message (self, &ready, IRIS_WIRE_READY);
  iris_wire_message_set_uint (&ready, IRIS_WIRE_KEY_CAPACITY, CAPACITY);
  iris_wire_message_set_body (&ready, g_bytes_get_data (body, NULL), g_bytes_get_size (body));
  client_send (self, &ready);
}

/* A message of the worker about its latest lease. */
static void
init_about_lease (Client *self, IrisWireMessage *message, IrisWireType type)
{
  iris_wire_message_init (message, type, self->message.request_id);
}

static void
run_once (Client *self, int runs)
{
  const IrisWireFrame payload = self->message.body;
  g_autofree char *line = g_strdup_printf ("%.*s\n", (int) payload.size,
                                           (const char *) payload.data);
  gssize length = (gssize) strlen (line);
  ck_assert_int_eq (write (runs, line, (gsize) length), length);
  IrisWireMessage done;
  init_about_lease (self, &done, IRIS_WIRE_DONE);
  iris_wire_message_set_body (&done, payload.data, payload.size);
  client_send (self, &done);
}

static int
begin_working (Client *self, const char *runs)
{
  int fd = open (runs, O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC, 0600);
  ck_assert_int_ge (fd, 0);
  enroll (self);
  client_receive_type (self, IRIS_WIRE_ENROLLED);
  ck_assert_int_eq (write (STDOUT_FILENO, "ready\n", 6), 6);
  return fd;
}

void
soak_be_worker (const char *front, const char *runs)
{
  g_autoptr (Client) self = client_hello (front);
  int fd = begin_working (self, runs);
  for (;;)
    if (client_receive (self)->type == IRIS_WIRE_LEASE)
      run_once (self, fd);
}

/* Garbage costs it its connection and its leases. It skips leases still on their way, which others
 * have now. */
static void
send_noise_and_come_back (Client *self)
{
  guint8 noise[64];
  IrisWireMessage hello;
  IrisWireFrame frames[IRIS_WIRE_N_FRAMES];
  for (guint i = 0; i < sizeof noise; i++)
    noise[i] = (guint8) soak_random (0, 255);
  for (guint i = 0; i < IRIS_WIRE_N_FRAMES; i++)
    frames[i] = (IrisWireFrame){ noise, soak_random (0, sizeof noise) };
  client_send_frames (self, frames, soak_random (1, IRIS_WIRE_N_FRAMES));
  client_init_message (self, &hello, IRIS_WIRE_HELLO);
  iris_wire_message_set_uint (&hello, IRIS_WIRE_KEY_VERSION_MIN, 1);
  iris_wire_message_set_uint (&hello, IRIS_WIRE_KEY_VERSION_MAX, 1);
  client_send (self, &hello);
  enroll (self);
  while (client_receive (self)->type != IRIS_WIRE_ENROLLED)
    ;
}

/* With another result: the first one counts. */
static void
say_done_again (Client *self)
{
  IrisWireMessage done;
  init_about_lease (self, &done, IRIS_WIRE_DONE);
  iris_wire_message_set_body (&done, "no, this", 8);
  client_send (self, &done);
}

/* A DONE larger than irisd takes; its lease is then given back. */
static void
send_too_much (Client *self)
{
  static guint8 body[80 * 1024];
  IrisWireMessage message;
  init_about_lease (self, &message, IRIS_WIRE_DONE);
  iris_wire_message_set_body (&message, body, sizeof body);
  client_send (self, &message);
  init_about_lease (self, &message, IRIS_WIRE_FAIL);
  iris_wire_message_set_string (&message, IRIS_WIRE_KEY_MESSAGE, "it was too much", -1);
  iris_wire_message_set_boolean (&message, IRIS_WIRE_KEY_AGAIN, TRUE);
  client_send (self, &message);
}

/* Ends a lease that it does not have. */
static void
send_strange_lease (Client *self)
{
  IrisWireMessage message;
  init_about_lease (self, &message, soak_random (0, 1) == 0 ? IRIS_WIRE_DONE : IRIS_WIRE_EXTEND);
  message.request_id[soak_random (0, 15)] ^= 0x55;
  client_send (self, &message);
}

/* Runs some of its leases, fails some, and sends garbage all the time. */
void
soak_be_garbage (const char *front, const char *runs)
{
  g_autoptr (Client) self = client_hello (front);
  int fd = begin_working (self, runs);
  for (;;)
    {
      if (client_receive (self)->type != IRIS_WIRE_LEASE)
        continue;
      switch (soak_random (0, 4))
        {
        case 0:
          run_once (self, fd);
          send_strange_lease (self);
          break;
        case 1:
          send_too_much (self);
          break;
        case 2:
          send_strange_lease (self);
          send_too_much (self);
          break;
        case 3:
          run_once (self, fd);
          say_done_again (self);
          break;
        default:
          send_noise_and_come_back (self);
          break;
        }
    }
}

/* Every item that ended has run; returns how many runs there were beyond the first ones. */
static guint
count_runs (const char *runs, guint64 n_ended)
{
  g_autofree char *text = NULL;
  g_autoptr (GHashTable) seen = g_hash_table_new (g_str_hash, g_str_equal);
  guint n_more = 0;
  ck_assert (g_file_get_contents (runs, &text, NULL, NULL));
  g_auto (GStrv) lines = g_strsplit (text, "\n", -1);
  for (guint i = 0; lines[i] != NULL && *lines[i] != '\0'; i++)
    n_more += !g_hash_table_add (seen, lines[i]);
  ck_assert_uint_eq (g_hash_table_size (seen), n_ended);
  return n_more;
}

static void
kill_one (GSubprocess **workers, const char *front, const char *runs)
{
  guint i = soak_random (0, N_WORKERS - 1);
  soak_kill_part (workers[i]);
  g_object_unref (workers[i]);
  workers[i] = soak_start_part ("worker", front, runs);
}

static void
keep_busy (SoakHistory *history, Client *client, guint n_items)
{
  while (history->entries->len < n_items && history->open < WINDOW)
    {
      IrisWireMessage item;
      soak_history_fill (history, client, &item, SERVICE, IRIS_WIRE_CLASS_DURABLE);
      soak_history_send (history, client, &item);
    }
}

void
soak_workers (SoakFigures *figures)
{
  guint n_kills = soak_times (8, 200), n_killed = 0;
  guint n_items = n_kills * 100;
  Home *home = home_new ();
  g_autofree char *runs = g_build_filename (home->base, "runs", NULL);
  Irisd *irisd = home_start (home, "[limits]\nlease-attempts = 1000\nmax-body = 64K\n"
                                   "max-output = 64K\n");
  GSubprocess *workers[N_WORKERS + 1];
  for (guint i = 0; i <= N_WORKERS; i++)
    workers[i] = soak_start_part (i < N_WORKERS ? "worker" : "garbage", irisd->front, runs);
  g_autoptr (Client) client = client_hello (irisd->front);
  SoakHistory history;
  soak_history_init (&history, figures);
  while (figures->ended < n_items)
    {
      keep_busy (&history, client, n_items);
      if (soak_history_take (&history, client_receive (client)) == NULL
          || client->message.type != IRIS_WIRE_RESULT)
        continue;
      client_ack (client, 1);
      if (n_killed < n_kills && soak_random (1, n_items / n_kills) == 1)
        {
          kill_one (workers, irisd->front, runs);
          n_killed++;
        }
    }
  for (guint i = 0; i <= N_WORKERS; i++)
    {
      soak_kill_part (workers[i]);
      g_object_unref (workers[i]);
    }
  figures->duplicates += count_runs (runs, figures->ended);
  figures->allowed = n_killed * CAPACITY;
  g_snprintf (figures->note, sizeof figures->note, "%u kills, one worker sends garbage", n_killed);
  soak_note_peak (figures, irisd);
  irisd_stop (irisd);
  soak_history_clear (&history);
  home_free (home);
}
