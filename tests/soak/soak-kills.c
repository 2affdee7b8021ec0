/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * irisd is killed again and again under load; a history of accepted items says what it must still
 * have.
 *
 * The client notes every accepted item. After each kill irisd is started again on the same journal,
 * and every item of the history must be there, with its own result. Items without an answer may be
 * there or not. Some items have keys and are sent again after a kill; they append a line to a file
 * when they run, so that runs can be counted: one, unless a kill came while they ran.
 *
 * A random number of answers decides when to kill.
 */
#include "soak.h"

#include <signal.h>

/* Items in progress at once, and the most answers before a kill. */
#define WINDOW      64
#define MOST_WAITED 400

/* One in this many items has a key and writes a line to the file. */
#define KEYED_ONE_IN 25

typedef struct
{
  char *text;   /* its payload and expected result */
  char *key;    /* NULL for none */
  guint64 item; /* 0 until it is known to be accepted */
  guint64 id;   /* of its latest submission */
} Entry;

typedef struct
{
  char *base, *dir, *journal, *runs;
  SoakFigures *figures;
  GHashTable *sent;  /* request id → Entry: not acknowledged, in this run of irisd */
  GQueue ended;      /* Entry: those of them whose completion came, in that order */
  GHashTable *owed;  /* item → Entry: accepted, its end not handled */
  GPtrArray *unsure; /* Entry with a key: sent, and no answer */
  GHashTable *cut;   /* text of an Entry with a key → kills before its end was known */
  guint64 serial;
  guint n_accepted, n_ended, n_fetched, n_again, n_kills, n_keyed;
} History;

static void
entry_free (gpointer data)
{
  Entry *self = data;
  g_free (self->text);
  g_free (self->key);
  g_free (self);
}

static Irisd *
start (History *history)
{
  g_autofree char *journal = g_strconcat ("--journal=", history->journal, NULL);
  const char *const options[] = { TWO_PLACES, journal, NULL };
  return irisd_start_in (history->dir, NULL, options);
}

/* An item that runs as a command has an empty result. */
static const char *
result_of (const Entry *entry)
{
  return entry->key != NULL ? "" : entry->text;
}

static void
send_entry (History *history, Client *client, Entry *entry)
{
  g_autofree char *script = g_strdup_printf ("echo %s >> %s", entry->text, history->runs);
  const char *const args[] = { "sh", "-c", script, NULL };
  IrisWireMessage item;
  client_init_message (client, &item, IRIS_WIRE_SUBMIT);
  iris_wire_message_set_string (&item, IRIS_WIRE_KEY_SERVICE,
                                entry->key != NULL ? "command" : "echo", -1);
  iris_wire_message_set_uint (&item, IRIS_WIRE_KEY_CLASS, IRIS_WIRE_CLASS_DURABLE);
  if (entry->key != NULL)
    {
      iris_wire_message_set_args (&item, args);
      iris_wire_message_set_string (&item, IRIS_WIRE_KEY_KEY, entry->key, -1);
    }
  else
    iris_wire_message_set_body (&item, entry->text, strlen (entry->text));
  entry->id = message_get_id (&item);
  g_hash_table_insert (history->sent, GSIZE_TO_POINTER (entry->id), entry);
  client_send (client, &item);
}

static Entry *
new_entry (History *history)
{
  Entry *entry = g_new0 (Entry, 1);
  entry->text = g_strdup_printf ("item-%" G_GUINT64_FORMAT, ++history->serial);
  if (history->serial % KEYED_ONE_IN == 0)
    {
      entry->key = g_strconcat ("key-", entry->text, NULL);
      history->n_keyed++;
    }
  return entry;
}

static void
take_accepted (History *history, const IrisWireMessage *message)
{
  Entry *entry = g_hash_table_lookup (history->sent, GSIZE_TO_POINTER (message_get_id (message)));
  ck_assert_ptr_nonnull (entry);
  ck_assert_uint_gt (message->item, 0);
  entry->item = message->item;
  history->n_accepted++;
}

static void
check_result (const IrisWireMessage *message, const Entry *entry)
{
  g_autofree char *said = iris_wire_message_to_string (message);
  ck_assert_msg (message->type == IRIS_WIRE_RESULT, "%s came to %s", entry->text, said);
  ck_assert_msg (message_body_is (message, result_of (entry)), "%s came to %s", entry->text, said);
  ck_assert_uint_eq (message->item, entry->item);
}

/* An answer to a message sent in this run of irisd. */
static void
take_answer (History *history, Client *client, gboolean alive)
{
  const IrisWireMessage *message = &client->message;
  gpointer id = GSIZE_TO_POINTER (message_get_id (message));
  if (message->type == IRIS_WIRE_PONG)
    return;
  if (message->type == IRIS_WIRE_ACCEPTED)
    {
      take_accepted (history, message);
      return;
    }
  Entry *entry = g_hash_table_lookup (history->sent, id);
  ck_assert_ptr_nonnull (entry);
  check_result (message, entry);
  g_queue_push_tail (&history->ended, entry);
  history->n_ended++;
  /* Unacknowledged completions stay owed. An acknowledgement is about the oldest completion. */
  if (alive && soak_random (0, 2) > 0)
    {
      Entry *oldest = g_queue_pop_head (&history->ended);
      client_ack (client, 1);
      g_hash_table_steal (history->sent, GSIZE_TO_POINTER (oldest->id));
      entry_free (oldest);
    }
}

/* An unacknowledged item is owed if its acceptance is known. */
static void
check_history (History *history)
{
  GHashTableIter iter;
  gpointer value;
  g_queue_clear (&history->ended);
  g_hash_table_iter_init (&iter, history->sent);
  while (g_hash_table_iter_next (&iter, NULL, &value))
    {
      Entry *entry = value;
      g_hash_table_iter_steal (&iter);
      if (entry->key != NULL)
        {
          guint n = GPOINTER_TO_UINT (g_hash_table_lookup (history->cut, entry->text));
          g_hash_table_insert (history->cut, g_strdup (entry->text), GUINT_TO_POINTER (n + 1));
        }
      if (entry->item != 0)
        g_hash_table_insert (history->owed, GSIZE_TO_POINTER (entry->item), entry);
      else if (entry->key != NULL)
        g_ptr_array_add (history->unsure, entry);
      else
        entry_free (entry);
    }
}

/* On a connection of its own, so that it acknowledges only what it fetched. */
static void
demand_what_is_owed (History *history, const char *front)
{
  g_autoptr (Client) client = client_hello (front);
  GHashTableIter iter;
  gpointer value;
  g_hash_table_iter_init (&iter, history->owed);
  while (g_hash_table_iter_next (&iter, NULL, &value))
    {
      Entry *entry = value;
      IrisWireMessage request;
      client_init_message (client, &request, IRIS_WIRE_FETCH);
      iris_wire_message_set_uint (&request, IRIS_WIRE_KEY_ITEM, entry->item);
      iris_wire_message_set_uint (&request, IRIS_WIRE_KEY_WAIT_MS, GIVE_UP_MS);
      client_send (client, &request);
      check_result (client_receive (client), entry);
      client_ack (client, 1);
      history->n_fetched++;
    }
  g_hash_table_remove_all (history->owed);
}

static void
send_unsure_again (History *history, Client *client)
{
  while (history->unsure->len > 0)
    {
      send_entry (history, client, g_ptr_array_steal_index (history->unsure, 0));
      history->n_again++;
    }
}

static void
live_and_die (History *history)
{
  Irisd *irisd = start (history);
  demand_what_is_owed (history, irisd->front);
  Client *client = client_hello (irisd->front);
  send_unsure_again (history, client);
  guint patience = soak_random (1, MOST_WAITED - 1);
  while (patience-- > 0)
    {
      /* Items that ended without an acknowledgement fill the window; irisd's credit is larger. */
      for (guint i = 0; i < 8 && g_hash_table_size (history->sent) < MOST_WAITED + WINDOW; i++)
        send_entry (history, client, new_entry (history));
      client_receive (client);
      take_answer (history, client, TRUE);
    }
  soak_note_peak (history->figures, irisd);
  irisd_kill (irisd);
  while (client_try_receive (client))
    take_answer (history, client, FALSE);
  client_free (client);
  check_history (history);
  history->n_kills++;
}

/* Counts how often the keyed items ran: once, and once more for each kill that came before their
 * end was known. Returns how many runs there were beyond the first ones. */
static guint
count_runs (History *history)
{
  g_autofree char *text = NULL;
  g_autoptr (GHashTable) runs = g_hash_table_new (g_str_hash, g_str_equal);
  guint n_more = 0;
  if (!g_file_get_contents (history->runs, &text, NULL, NULL))
    return 0;
  g_auto (GStrv) lines = g_strsplit (text, "\n", -1);
  for (guint i = 0; lines[i] != NULL && *lines[i] != '\0'; i++)
    {
      guint n = GPOINTER_TO_UINT (g_hash_table_lookup (runs, lines[i]));
      guint most = GPOINTER_TO_UINT (g_hash_table_lookup (history->cut, lines[i]));
      ck_assert_msg (n <= most, "%s ran %u times, and was cut by %u kills", lines[i], n + 1, most);
      g_hash_table_insert (runs, lines[i], GUINT_TO_POINTER (n + 1));
      n_more += n > 0;
    }
  return n_more;
}

static guint
count_cuts (History *history)
{
  GHashTableIter iter;
  gpointer value;
  guint n = 0;
  g_hash_table_iter_init (&iter, history->cut);
  while (g_hash_table_iter_next (&iter, NULL, &value))
    n += GPOINTER_TO_UINT (value);
  return n;
}

static void
init_history (History *self, SoakFigures *figures)
{
  *self = (History){ .base = g_dir_make_tmp ("irisd-XXXXXX", NULL),
                     .figures = figures,
                     .sent = g_hash_table_new (NULL, NULL),
                     .owed = g_hash_table_new_full (NULL, NULL, NULL, entry_free),
                     .cut = g_hash_table_new_full (g_str_hash, g_str_equal, g_free, NULL),
                     .unsure = g_ptr_array_new_with_free_func (entry_free) };
  self->dir = g_build_filename (self->base, "d", NULL);
  self->journal = g_build_filename (self->base, "j", NULL);
  self->runs = g_build_filename (self->base, "runs", NULL);
}

static void
clear_history (History *self)
{
  irisd_remove_all (self->base);
  g_hash_table_unref (self->sent);
  g_hash_table_unref (self->owed);
  g_hash_table_unref (self->cut);
  g_ptr_array_unref (self->unsure);
  g_queue_clear (&self->ended);
  g_free (self->base);
  g_free (self->dir);
  g_free (self->journal);
  g_free (self->runs);
}

/* An accepted item that is missing fails an assertion on the way. */
void
soak_kills (SoakFigures *figures)
{
  guint n_kills = soak_times (15, 200);
  History history;
  init_history (&history, figures);
  while (history.n_kills < n_kills)
    live_and_die (&history);

  Irisd *irisd = start (&history);
  demand_what_is_owed (&history, irisd->front);
  irisd_stop (irisd);
  figures->accepted = figures->ended = history.n_accepted;
  figures->duplicates = count_runs (&history);
  figures->allowed = count_cuts (&history);
  g_snprintf (figures->note, sizeof figures->note,
              "%u kills, %u fetched after one, %u with a key, %u of them sent again", n_kills,
              history.n_fetched, history.n_keyed, history.n_again);
  clear_history (&history);
}
