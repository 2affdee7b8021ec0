/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * The journal cannot be read for a while, when spilled items are to be reloaded: none is lost, none
 * ends because of it, and a client that asks for one gets the error.
 */
#include "soak-faulty.h"
#include "soak-history.h"

/* More than SQLite caches of the file, or it would not be read. */
#define N_ITEMS 200
#define SIZE    (128 * 1024)
#define HOUR_MS 3600000

/* Fewer than make irisd report the error to a client. */
#define N_FAILING 3
#define N_ASKED   2
#define FOREVER   (1 << 30)

static const char config[] = "[limits]\nmemory-items = 0\nread-ahead-ms = 0\n";

static void
send_all (SoakHistory *history, Client *client)
{
  for (guint i = 0; i < N_ITEMS; i++)
    {
      IrisWireMessage item;
      soak_history_fill (history, client, &item, "echo", IRIS_WIRE_CLASS_DURABLE);
      iris_wire_message_set_uint (&item, IRIS_WIRE_KEY_DELAY_MS, HOUR_MS);
      iris_wire_message_set_boolean (&item, IRIS_WIRE_KEY_DETACH, TRUE);
      soak_history_send (history, client, &item);
      soak_history_take (history, client_receive_type (client, IRIS_WIRE_ACCEPTED));
    }
}

static guint64
get_number (SoakHistory *history, guint index)
{
  return g_array_index (history->entries, SoakEntry, index).item;
}

static const IrisWireMessage *
ask (Client *client, IrisWireType type, guint64 item, guint count)
{
  IrisWireMessage request;
  client_init_message (client, &request, type);
  if (item != 0)
    iris_wire_message_set_uint (&request, IRIS_WIRE_KEY_ITEM, item);
  else
    {
      iris_wire_message_set_uint (&request, IRIS_WIRE_KEY_STATE, IRIS_WIRE_STATE_DELAYED);
      iris_wire_message_set_uint (&request, IRIS_WIRE_KEY_COUNT, count);
    }
  client_send (client, &request);
  return client_receive (client);
}

static void
assert_told_why (const IrisWireMessage *answer)
{
  assert_error (answer, IRIS_WIRE_ERROR_JOURNAL_FAILED);
  g_autofree char *reason = iris_wire_string_dup (&answer->message);
  ck_assert_ptr_nonnull (strstr (reason, "cannot be read for now"));
}

static void
set_failing (SoakFaults *faults, int n)
{
  atomic_store_explicit (&faults->failing_reads, n, memory_order_relaxed);
}

/* Reads fail from now on. A failure during a write is final, so writes must be over: the journal's
 * answer shows it. SHOW would read the item's row, which SQLite would then cache. */
static void
begin_to_fail (Client *client, SoakFaults *faults, int n)
{
  IrisWireMessage request;
  client_init_message (client, &request, IRIS_WIRE_LIST);
  iris_wire_message_set_uint (&request, IRIS_WIRE_KEY_COUNT, 1);
  client_send (client, &request);
  client_receive_type (client, IRIS_WIRE_LIST_REPLY);
  set_failing (faults, n);
}

/* Clients that ask get the error, and nothing has changed; they can ask again. */
static void
ask_in_vain (Client *client, SoakFaults *faults, guint64 first)
{
  begin_to_fail (client, faults, FOREVER);
  assert_told_why (ask (client, IRIS_WIRE_CANCEL, first, 0));
  assert_told_why (ask (client, IRIS_WIRE_BURY, first, 0));
  ck_assert_uint_eq (persistent_get_state (client, first, 0), IRIS_WIRE_STATE_DELAYED);
  set_failing (faults, 0);
  ck_assert_uint_eq (ask (client, IRIS_WIRE_BURY, first, 0)->type, IRIS_WIRE_CHANGED);
  ck_assert_uint_eq (persistent_get_state (client, first, 0), IRIS_WIRE_STATE_BURIED);
  ck_assert_uint_eq (ask (client, IRIS_WIRE_KICK, first, 0)->type, IRIS_WIRE_CHANGED);
}

static int
get_failed (SoakFaults *faults)
{
  return atomic_load_explicit (&faults->failed_reads, memory_order_relaxed);
}

/* Only the log shows it. Nothing else goes on, whose writing would need to read. */
static void
ask_until_it_is_read (Client *client, Irisd *irisd, SoakFaults *faults, guint64 item)
{
  int failed = get_failed (faults);
  begin_to_fail (client, faults, N_FAILING);
  ck_assert_uint_eq (ask (client, IRIS_WIRE_KICK, item, 0)->count, 1);
  ck_assert_int_eq (get_failed (faults), failed + N_FAILING);
  ck_assert_uint_eq (persistent_get_state (client, item, GIVE_UP_MS), IRIS_WIRE_STATE_DONE);
  g_autofree char *log = irisd_read_log (irisd);
  ck_assert_ptr_nonnull (strstr (log, "cannot be read for now"));
}

/* It does not wait for the disk, and the item runs when the disk is back. */
static void
stop_in_vain (Client *client, Irisd *irisd, SoakFaults *faults, guint64 item)
{
  int failed = get_failed (faults);
  IrisWireMessage request;
  client_init_message (client, &request, IRIS_WIRE_KICK);
  iris_wire_message_set_uint (&request, IRIS_WIRE_KEY_ITEM, item);
  begin_to_fail (client, faults, FOREVER);
  client_send (client, &request);
  assert_told_why (client_receive (client));
  ck_assert_int_ge (get_failed (faults), failed + N_FAILING);
  client_free (client);
  irisd_stop (irisd);
  set_failing (faults, 0);
}

static void
kick_all (Client *client)
{
  while (ask (client, IRIS_WIRE_KICK, 0, N_ITEMS)->count > 0)
    ;
}

void
soak_reads (SoakFigures *figures)
{
  guint n_rounds = soak_times (1, 20);
  Home *home = home_new ();
  Faulty faulty;
  SoakHistory history;
  faulty_init (&faulty, home);
  soak_history_init (&history, figures);
  history.padding = SIZE;
  for (guint round = 0; round < n_rounds; round++)
    {
      Irisd *irisd = faulty_start (&faulty, home, config);
      Client *client = client_hello (irisd->front);
      guint first = history.entries->len;
      send_all (&history, client);
      ask_in_vain (client, faulty.faults, get_number (&history, first));
      for (guint i = 1; i <= N_ASKED; i++)
        ask_until_it_is_read (client, irisd, faulty.faults, get_number (&history, first + i));
      stop_in_vain (client, irisd, faulty.faults, get_number (&history, first + N_ASKED + 1));
      soak_history_forget_connection (&history);

      irisd = faulty_start (&faulty, home, config);
      client = client_hello (irisd->front);
      kick_all (client);
      soak_history_demand (&history, irisd->front);
      client_free (client);
      soak_note_peak (figures, irisd);
      irisd_stop (irisd);
    }
  g_snprintf (figures->note, sizeof figures->note, "%d reads failed", get_failed (faulty.faults));
  soak_history_clear (&history);
  faulty_clear (&faulty);
  home_free (home);
}
