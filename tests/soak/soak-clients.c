/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * Clients are killed while they send durable items. Each writes the accepted items to a pipe that
 * outlives it; all of those must have run, once. And a thousand clients connect at once to a socket
 * that has room for fewer.
 */
#include "soak.h"

#include <unistd.h>

#define N_VICTIMS 3
#define WINDOW    32

typedef struct
{
  char *name;
  guint64 item;
} Told;

static void
told_free (gpointer data)
{
  Told *self = data;
  g_free (self->name);
  g_free (self);
}

/* A victim, until it is killed: sends, and writes "NUMBER PAYLOAD" for each accepted item. */
void
soak_be_client (const char *front)
{
  g_autoptr (Client) client = client_hello (front);
  guint64 serial = 0, told = 0;
  ck_assert_int_eq (write (STDOUT_FILENO, "ready\n", 6), 6);
  for (;;)
    {
      for (; serial - told < WINDOW; serial++)
        {
          IrisWireMessage item;
          g_autofree char *payload = g_strdup_printf ("%d-%" G_GUINT64_FORMAT, (int) getpid (),
                                                      serial);
          persistent_fill (client, &item, "echo", payload, IRIS_WIRE_CLASS_DURABLE);
          iris_wire_message_set_boolean (&item, IRIS_WIRE_KEY_DETACH, TRUE);
          client_send (client, &item);
        }
      guint64 number = client_receive_type (client, IRIS_WIRE_ACCEPTED)->item;
      g_autofree char *line = g_strdup_printf ("%" G_GUINT64_FORMAT " %d-%" G_GUINT64_FORMAT "\n",
                                               number, (int) getpid (), told++);
      gssize length = (gssize) strlen (line);
      ck_assert_int_eq (write (STDOUT_FILENO, line, (gsize) length), length);
    }
}

static void
write_down (GPtrArray *history, const char *line)
{
  char *end = NULL;
  Told *told = g_new0 (Told, 1);
  told->item = g_ascii_strtoull (line, &end, 10);
  ck_assert_int_eq (*end, ' ');
  told->name = g_strdup (end + 1);
  g_ptr_array_add (history, told);
}

/* Reads its output up to some line, kills it, and reads the rest. */
static void
kill_client (GPtrArray *history, GSubprocess *victim)
{
  char *line = NULL;
  for (guint n = soak_random (1, 300); n > 0; n--)
    {
      line = soak_read_line (victim);
      ck_assert_ptr_nonnull (line);
      write_down (history, line);
      g_free (line);
    }
  soak_kill_part (victim);
  while ((line = soak_read_line (victim)) != NULL)
    {
      write_down (history, line);
      g_free (line);
    }
}

static void
demand (SoakFigures *figures, GPtrArray *history, Client *client)
{
  for (guint i = 0; i < history->len; i++)
    {
      const Told *told = g_ptr_array_index (history, i);
      persistent_assert_result (client, told->item, told->name);
      client_ack (client, 1);
      figures->ended++;
    }
  figures->accepted += history->len;
  g_ptr_array_set_size (history, 0);
}

/* irisd ran each accepted item once, also if its client was killed before the answer. */
static void
count_runs (SoakFigures *figures, Client *client)
{
  for (;;)
    {
      g_autoptr (IrisWireStatus) status = client_get_status (client);
      guint64 ran = status->places[0].executed + status->places[1].executed;
      if (status->in_flight > 0 || ran < status->accepted)
        continue;
      figures->duplicates = ran - status->accepted;
      ck_assert_uint_ge (status->accepted, figures->accepted);
      break;
    }
}

void
soak_clients (SoakFigures *figures)
{
  guint n_kills = soak_times (3, 200);
  Home *home = home_new ();
  Irisd *irisd = home_start (home, NULL);
  g_autoptr (Client) client = client_hello (irisd->front);
  g_autoptr (GPtrArray) history = g_ptr_array_new_with_free_func (told_free);
  GSubprocess *victims[N_VICTIMS];
  for (guint i = 0; i < N_VICTIMS; i++)
    victims[i] = soak_start_part ("client", irisd->front, NULL);
  for (guint n = 0; n < n_kills; n++)
    {
      GSubprocess **victim = &victims[soak_random (0, N_VICTIMS - 1)];
      kill_client (history, *victim);
      g_object_unref (*victim);
      *victim = soak_start_part ("client", irisd->front, NULL);
      demand (figures, history, client);
    }
  for (guint i = 0; i < N_VICTIMS; i++)
    {
      kill_client (history, victims[i]);
      g_object_unref (victims[i]);
    }
  demand (figures, history, client);
  count_runs (figures, client);
  g_snprintf (figures->note, sizeof figures->note, "%u kills", n_kills + N_VICTIMS);
  soak_note_peak (figures, irisd);
  irisd_stop (irisd);
  home_free (home);
}

static void
say_hello (Client *client)
{
  IrisWireMessage hello;
  client_init_message (client, &hello, IRIS_WIRE_HELLO);
  iris_wire_message_set_uint (&hello, IRIS_WIRE_KEY_VERSION_MIN, 1);
  iris_wire_message_set_uint (&hello, IRIS_WIRE_KEY_VERSION_MAX, 1);
  client_send (client, &hello);
}

/* Reads the answer to HELLO. Returns whether there was room; then one item was run. */
static gboolean
do_one_item (SoakFigures *figures, Client *client)
{
  const IrisWireMessage *answer = client_receive (client);
  if (answer->type == IRIS_WIRE_BUSY)
    {
      g_autofree char *limit = iris_wire_string_dup (&answer->limit);
      ck_assert_str_eq (limit, "max-peers");
      return FALSE;
    }
  ck_assert_str_eq (iris_wire_type_name (answer->type), "WELCOME");
  figures->accepted++;
  client_submit (client, "echo", "mine", 4, IRIS_PLACE_ANY, FALSE);
  ck_assert (message_body_is (client_receive_type (client, IRIS_WIRE_RESULT), "mine"));
  figures->ended++;
  IrisWireMessage bye;
  client_init_message (client, &bye, IRIS_WIRE_BYE);
  client_send (client, &bye);
  return TRUE;
}

/* All say HELLO before the first of them reads; a refused one says it again. */
void
soak_thousand (SoakFigures *figures)
{
  guint n = SANITIZED ? 200 : 1000;
  guint rounds = soak_times (1, 10), n_busy = 0;
  Irisd *irisd = irisd_start ("[limits]\nmax-peers = 150\n", TWO_PLACES, NULL);
  g_autofree Client **clients = g_new0 (Client *, n);
  for (guint round = 0; round < rounds; round++)
    {
      for (guint i = 0; i < n; i++)
        say_hello (clients[i] = client_new (irisd->front));
      for (guint left = n; left > 0;)
        for (guint i = 0; i < n; i++)
          {
            if (clients[i] == NULL)
              continue;
            if (do_one_item (figures, clients[i]))
              {
                g_clear_pointer (&clients[i], client_free);
                left--;
                continue;
              }
            n_busy++;
            say_hello (clients[i]);
          }
    }
  ck_assert_uint_gt (n_busy, 0);
  g_snprintf (figures->note, sizeof figures->note, "%u clients, %u times BUSY", n, n_busy);
  soak_note_peak (figures, irisd);
  irisd_finish (irisd);
}
