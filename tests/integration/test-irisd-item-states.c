/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * irisd is killed while a durable item is in each state that can be held from outside: the next
 * irisd finds of it what doc/item-states.md says, and the item ends once.
 *
 * The next irisd starts paused, so that it shows what it found and runs nothing until it is told.
 */
#include "daemon/base/irisd-item-state.h"
#include "irisd-home.h"

#include <glib/gstdio.h>
#include <sys/stat.h>
#include <unistd.h>

#define HOUR_MS G_GINT64_CONSTANT (3600000)

/* A place lets two items through to its one worker. */
#define LIMITS                                                                              \
  "[limits]\nwindow-us = 0\nread-ahead-ms = 0\ncommands-per-place = 1\nlease-ms = 600000\n" \
  "kill-grace-ms = 600000\nin-flight-bytes = 64K\nmax-body = 64K\nmax-output = 64K\n"
#define SPILLING LIMITS "memory-items = 0\n"
#define LIMITED  LIMITS "[service hold]\nconcurrency = 1\n"
#define SERVING  LIMITS "[service work]\n"

/* Runs of a service after which a gateway knows that it is brief. */
#define N_BRIEF 200

#define OUTPUT_SIZE 40000

static Home *home;
static Irisd *irisd;
static Client *client;
static char *gate;      /* of each item that holds a worker or a slot */
static char *syncs;     /* while this pipe exists, a sync does not return */
static guint64 written; /* the last item before syncs were held */
static Client *worker;  /* a worker process */
static guint8 lease[IRIS_WIRE_ID_SIZE];

/* --- items ---------------------------------------------------------------------------------------
 */

static void
fill (IrisWireMessage *item, const char *service)
{
  persistent_fill (client, item, service, "", IRIS_WIRE_CLASS_DURABLE);
  if (strcmp (service, "hold") == 0 || strcmp (service, "wait") == 0)
    iris_wire_message_set_string (item, IRIS_WIRE_KEY_PATH, gate, -1);
  iris_wire_message_set_boolean (item, IRIS_WIRE_KEY_DETACH, TRUE);
}

static guint64
submit (const char *service)
{
  IrisWireMessage item;
  fill (&item, service);
  return persistent_submit (client, &item);
}

static guint64
submit_delayed (void)
{
  IrisWireMessage item;
  fill (&item, "echo");
  iris_wire_message_set_uint (&item, IRIS_WIRE_KEY_DELAY_MS, HOUR_MS);
  return persistent_submit (client, &item);
}

static guint64
suspend_delayed (void)
{
  guint64 number = submit_delayed ();
  persistent_ask (client, IRIS_WIRE_SUSPEND, number);
  client_receive_type (client, IRIS_WIRE_CHANGED);
  return number;
}

static guint64
submit_shell (const char *script)
{
  const char *const args[] = { "sh", "-c", script, gate, NULL };
  IrisWireMessage item;
  fill (&item, "command");
  iris_wire_message_set_args (&item, args);
  return persistent_submit (client, &item);
}

static guint64
submit_holding_command (void)
{
  return submit_shell ("echo > \"$0\"; cat \"$0\"");
}

/* Returns once it runs. */
static guint64
run (guint64 number)
{
  close (gate_wait (gate));
  return number;
}

static guint64
await_state (guint64 number, IrisWireState state)
{
  while (persistent_get_state (client, number, 0) != (guint32) state)
    ;
  return number;
}

static guint64
cancel (guint64 number, IrisWireState state)
{
  persistent_ask (client, IRIS_WIRE_CANCEL, number);
  ck_assert_uint_eq (client_receive_type (client, IRIS_WIRE_CANCELLING)->state, state);
  return number;
}

static void
kick (guint64 number)
{
  persistent_ask (client, IRIS_WIRE_KICK, number);
  client_receive_type (client, IRIS_WIRE_CHANGED);
}

/* From now on the journal's next sync does not return. The item before makes sure that there is
 * nothing left to write. */
static void
hold_syncs (void)
{
  written = submit_delayed ();
  ck_assert_int_eq (mkfifo (syncs, 0600), 0);
}

static guint64
await_sync (guint64 number)
{
  close (gate_wait (syncs));
  return number;
}

/* --- ways into a state ---------------------------------------------------------------------------
 */

static guint64
hold_worker (void)
{
  return run (submit ("hold"));
}

static guint64
hold_beside_worker (void)
{
  return run (submit ("wait"));
}

static guint64
hold_slot (void)
{
  return run (submit_holding_command ());
}

static guint64
wait_for_slot (void)
{
  hold_slot ();
  return submit_holding_command ();
}

static guint64
wait_in_scheduler (void)
{
  hold_worker ();
  return submit ("hold");
}

static guint64
wait_in_fair_queue (void)
{
  wait_in_scheduler ();
  return submit ("hold");
}

static guint64
wait_for_permit (void)
{
  guint64 number = wait_in_scheduler ();
  for (guint64 held_back = 0; held_back != 1;)
    {
      g_autoptr (IrisWireStatus) status = client_get_status (client);
      held_back = status->held_back;
    }
  return number;
}

/* Its connection owes the results of two commands. */
static guint64
wait_for_acknowledgement (void)
{
  const char *const args[] = { "head", "-c", G_STRINGIFY (OUTPUT_SIZE), "/dev/zero", NULL };
  guint64 number = 0;
  for (guint i = 0; i < 3; i++)
    {
      IrisWireMessage item;
      persistent_fill (client, &item, "command", "", IRIS_WIRE_CLASS_DURABLE);
      iris_wire_message_set_args (&item, args);
      client_send (client, &item);
    }
  /* Whichever runs first, the third remains. */
  for (guint i = 0; i < 3 + 2; i++)
    {
      const IrisWireMessage *message = client_receive (client);
      number += message->type == IRIS_WIRE_ACCEPTED ? message->item : -message->item;
    }
  return number;
}

static guint64
wait_for_worker_process (void)
{
  return submit ("work");
}

/* Enrolls one that takes the item's lease. */
static void
take_lease (void)
{
  worker = client_hello (irisd->front);
  client_enroll (worker, "work", 1);
  memcpy (lease, client_receive_type (worker, IRIS_WIRE_LEASE)->request_id, sizeof lease);
}

static guint64
be_leased (void)
{
  guint64 number = submit ("work");
  take_lease ();
  return number;
}

static guint64
stop_by_cancel (void)
{
  guint64 number = run (submit_shell ("trap '' TERM; echo > \"$0\"; cat \"$0\""));
  return cancel (number, IRIS_WIRE_STATE_RUNNING);
}

/* Fails at first. */
static guint64
wait_for_retry (void)
{
  g_autofree char *file = g_build_filename (home->base, "tried", NULL);
  const char *const args[] = { "sh", "-c", "test -e \"$0\" || { : > \"$0\"; exit 3; }", file,
                               NULL };
  IrisWireMessage item;
  fill (&item, "command");
  iris_wire_message_set_args (&item, args);
  iris_wire_message_set_uint (&item, IRIS_WIRE_KEY_RETRIES, 1);
  iris_wire_message_set_uint (&item, IRIS_WIRE_KEY_BACKOFF_MS, HOUR_MS);
  guint64 number = await_state (persistent_submit (client, &item), IRIS_WIRE_STATE_DELAYED);
  submit_delayed (); /* the journal writes the retry before it */
  return number;
}

static guint64
be_buried (void)
{
  guint64 number = wait_in_fair_queue ();
  persistent_ask (client, IRIS_WIRE_BURY, number);
  client_receive_type (client, IRIS_WIRE_CHANGED);
  return number;
}

static guint64
end_detached (void)
{
  return await_state (submit ("echo"), IRIS_WIRE_STATE_DONE);
}

static guint64
end_unacknowledged (void)
{
  guint64 number = persistent_submit_echo (client, "", IRIS_WIRE_CLASS_DURABLE, FALSE);
  ck_assert_uint_eq (client_receive_completion (client)->type, IRIS_WIRE_RESULT);
  return number;
}

/* The scheduler still has it. */
static guint64
end_cancelled_in_scheduler (void)
{
  guint64 number = cancel (wait_in_scheduler (), IRIS_WIRE_STATE_QUEUED);
  return await_state (number, IRIS_WIRE_STATE_CANCELLED);
}

/* --- ways into a state in which the journal writes -----------------------------------------------
 */

static guint64
be_accepted (void)
{
  hold_syncs ();
  IrisWireMessage item;
  fill (&item, "hold");
  client_send (client, &item);
  return await_sync (0);
}

static guint64
be_accepted_and_cancelled (void)
{
  be_accepted ();
  client_cancel (client, client->next_id);
  client_receive_type (client, IRIS_WIRE_CANCELLING);
  return 0;
}

static guint64
be_run_at_once (void)
{
  for (guint i = 0; i < N_BRIEF; i++)
    {
      client_submit (client, "echo", "", 0, IRIS_PLACE_ANY, FALSE);
      client_receive_completion (client);
      client_ack (client, 1);
    }
  hold_syncs ();
  IrisWireMessage item;
  persistent_fill (client, &item, "echo", "", IRIS_WIRE_CLASS_DURABLE);
  client_send (client, &item);
  return await_sync (0);
}

static guint64
end_run (void)
{
  guint64 number = hold_worker ();
  hold_syncs ();
  gate_open (gate);
  return await_sync (number);
}

static guint64
ask_while_syncs_are_held (IrisWireType request, guint64 number)
{
  hold_syncs ();
  persistent_ask (client, request, number);
  return await_sync (number);
}

static guint64
cancel_in_scheduler (void)
{
  return ask_while_syncs_are_held (IRIS_WIRE_CANCEL, wait_in_scheduler ());
}

static guint64
bury_in_scheduler (void)
{
  return ask_while_syncs_are_held (IRIS_WIRE_BURY, wait_in_scheduler ());
}

static guint64
bury_in_fair_queue (void)
{
  return ask_while_syncs_are_held (IRIS_WIRE_BURY, wait_in_fair_queue ());
}

/* --- cases ---------------------------------------------------------------------------------------
 */

/* The journal was writing: it may have the item as it was, or as it was to be. */
#define EITHER 0

#define QUEUED    IRIS_WIRE_STATE_QUEUED
#define RUNNING   IRIS_WIRE_STATE_RUNNING
#define DELAYED   IRIS_WIRE_STATE_DELAYED
#define LEASED    IRIS_WIRE_STATE_LEASED
#define BURIED    IRIS_WIRE_STATE_BURIED
#define SUSPENDED IRIS_WIRE_STATE_SUSPENDED
#define DONE      IRIS_WIRE_STATE_DONE
#define CANCELLED IRIS_WIRE_STATE_CANCELLED

typedef struct
{
  IrisdItemState state;
  guint64 (*bring) (void); /* into that state; returns the item's number, 0 if irisd did not tell */
  const char *config;
  guint before; /* what SHOW says of it, 0 while the journal does not answer */
  guint after;  /* the same of the next irisd, which is paused; or EITHER */
  guint holds;  /* runs, of any item, that the gate holds after the item was found to be run */
} Case;

static const Case cases[] = {
  { IRISD_ITEM_DELAYED, submit_delayed, LIMITS, DELAYED, DELAYED },
  { IRISD_ITEM_DELAYED, wait_for_retry, LIMITS, DELAYED, DELAYED },
  { IRISD_ITEM_SUSPENDED, suspend_delayed, LIMITS, SUSPENDED, SUSPENDED },
  { IRISD_ITEM_SPILLED, submit_delayed, SPILLING, DELAYED, DELAYED },
  { IRISD_ITEM_SPILLED, wait_in_fair_queue, SPILLING, QUEUED, QUEUED, 3 },
  { IRISD_ITEM_PERMIT, wait_for_permit, LIMITED, QUEUED, QUEUED, 2 },
  { IRISD_ITEM_SLOT, wait_for_slot, LIMITS, QUEUED, QUEUED, 2 },
  { IRISD_ITEM_QUEUED, wait_in_fair_queue, LIMITS, QUEUED, QUEUED, 3 },
  { IRISD_ITEM_QUEUED, wait_in_scheduler, LIMITS, QUEUED, QUEUED, 2 },
  { IRISD_ITEM_BLOCKED, wait_for_acknowledgement, LIMITS, QUEUED, QUEUED },
  { IRISD_ITEM_OFFERED, wait_for_worker_process, SERVING, QUEUED, QUEUED },
  { IRISD_ITEM_LEASED, be_leased, SERVING, LEASED, LEASED },
  { IRISD_ITEM_RUNNING, hold_worker, LIMITS, RUNNING, QUEUED, 1 },
  { IRISD_ITEM_RUNNING, hold_beside_worker, LIMITS, RUNNING, QUEUED, 1 },
  { IRISD_ITEM_RUNNING, hold_slot, LIMITS, RUNNING, QUEUED, 1 },
  { IRISD_ITEM_STOPPING, stop_by_cancel, LIMITS, RUNNING, QUEUED, 1 },
  { IRISD_ITEM_BURIED, be_buried, LIMITS, BURIED, BURIED, 3 },
  { IRISD_ITEM_SHELL, end_cancelled_in_scheduler, LIMITS, CANCELLED, CANCELLED, 2 },
  { IRISD_ITEM_RELEASED, end_detached, LIMITS, DONE, DONE },
  { IRISD_ITEM_RELEASED, end_unacknowledged, LIMITS, DONE, DONE },
  { IRISD_ITEM_ACCEPTING, be_accepted, LIMITS, 0, EITHER, 1 },
  { IRISD_ITEM_ACCEPTING_CANCELLED, be_accepted_and_cancelled, LIMITS, 0, EITHER, 1 },
  { IRISD_ITEM_DONE, be_run_at_once, LIMITS, 0, EITHER },
  { IRISD_ITEM_COMPLETING, end_run, LIMITS, 0, EITHER, 1 },
  { IRISD_ITEM_COMPLETING_OUT, cancel_in_scheduler, LIMITS, 0, EITHER, 2 },
  { IRISD_ITEM_BURYING, bury_in_fair_queue, LIMITS, 0, EITHER, 3 },
  { IRISD_ITEM_BURYING_OUT, bury_in_scheduler, LIMITS, 0, EITHER, 2 },
};

/* The others: nothing from outside keeps a durable item in them. The journal's part of the crash
 * tests, and the load of iris-soak, kill irisd there by chance. */
static const IrisdItemState passing[] = {
  IRISD_ITEM_SUBMITTED, /* while its gateway reads it */
  IRISD_ITEM_DEPENDENT, /* no persistent item is */
  IRISD_ITEM_ACCEPTED,  /* while its gateway decides what it waits for */
  IRISD_ITEM_PAUSED,    /* while its gateway answers requests that came before */
  IRISD_ITEM_HELD,      /* in a gateway's mailbox */
  IRISD_ITEM_DROPPED,   /* the same, when irisd stops */
  IRISD_ITEM_CANCELLED, /* until its end is sent to the journal */
  IRISD_ITEM_RETURNED,  /* the same */
  IRISD_ITEM_COMPLETED, /* while its gateway sends its completion */
  IRISD_ITEM_PUT_OFF,   /* while it sends the error */
  IRISD_ITEM_STORED,    /* when irisd starts, or an item was kicked, until it is read */
};

static void
start (const char *config, const char *paused)
{
  const char *const options[] = { ONE_WORKER, home->option, paused, NULL };
  irisd = irisd_start_in (home->dir, config, options);
  client = client_hello (irisd->front);
}

/* Worker and client go later: irisd has noticed nothing of it. */
static void
crash (void)
{
  irisd_kill (irisd);
  g_clear_pointer (&client, client_free);
  g_clear_pointer (&worker, client_free);
  g_unlink (syncs);
}

static void
set_up (void)
{
  home = home_new ();
  gate = g_build_filename (home->base, "gate", NULL);
  ck_assert_int_eq (mkfifo (gate, 0600), 0);
  syncs = g_build_filename (home->base, "syncs", NULL);
  shim_load (g_getenv ("IRISD_SHIM_SYNC"), "IRIS_HOLD_SYNCS", syncs);
}

static void
tear_down (void)
{
  g_clear_pointer (&client, client_free);
  g_clear_pointer (&worker, client_free);
  irisd_stop (irisd);
  shim_unload ();
  home_free (home);
  g_free (gate);
  g_free (syncs);
}

/* Returns what the journal has of an item, by its number, or of the one after those written before;
 * sets its number and state. */
static IrisdItemFound
look (guint64 *number, guint *state)
{
  g_autoptr (IrisWirePersistentList) list = persistent_list (client, 0, 0);
  for (guint i = 0; i < list->n_items; i++)
    if (*number != 0 ? list->items[i].item == *number : list->items[i].item > written)
      {
        *number = list->items[i].item;
        *state = list->items[i].state;
        ck_assert_uint_eq (persistent_get_state (client, *number, 0), *state);
        return *state == BURIED ? IRISD_FOUND_BURIED
               : *state == QUEUED || *state == DELAYED || *state == LEASED || *state == SUSPENDED
                   ? IRISD_FOUND_STORED
                   : IRISD_FOUND_ENDED;
      }
  *state = 0;
  return IRISD_FOUND_NOTHING;
}

/* Lets everything run, and the item end. */
static void
let_go (const Case *c, guint64 number, guint state)
{
  IrisWireMessage refill;
  client_init_message (client, &refill, IRIS_WIRE_DRAIN);
  iris_wire_message_set_int (&refill, IRIS_WIRE_KEY_PLACE, 0);
  iris_wire_message_set_boolean (&refill, IRIS_WIRE_KEY_DRAINED, FALSE);
  client_send (client, &refill);
  client_receive_type (client, IRIS_WIRE_CHANGED);
  if (state == SUSPENDED)
    {
      persistent_ask (client, IRIS_WIRE_RESUME, number);
      client_receive_type (client, IRIS_WIRE_CHANGED);
    }
  if (state == DELAYED || state == BURIED || state == SUSPENDED)
    kick (number);
  if (state == QUEUED && c->state == IRISD_ITEM_OFFERED)
    take_lease ();
  if (state == LEASED)
    {
      worker = client_hello (irisd->front);
      client_enroll (worker, "work", 1);
    }
  if (worker != NULL)
    {
      IrisWireMessage done;
      iris_wire_message_init (&done, IRIS_WIRE_DONE, lease);
      client_send (worker, &done);
    }
  const gboolean ended = state == DONE || state == CANCELLED || state == 0;
  for (guint i = ended ? 1 : 0; i < c->holds; i++)
    gate_pass (gate);
  if (state != 0)
    ck_assert_uint_eq (persistent_get_state (client, number, GIVE_UP_MS),
                       state == CANCELLED ? CANCELLED : DONE);
}

START_TEST (after_a_kill_in_any_state_the_item_is_found_as_promised_and_ends_once)
{
  const Case *c = &cases[_i];
  guint before = 0, after, end;
  start (c->config, NULL);
  guint64 number = c->bring ();
  if (c->before != 0)
    {
      look (&number, &before);
      ck_assert_uint_eq (before, c->before);
    }
  crash ();

  start (c->config, "--paused");
  IrisdItemFound found = look (&number, &after);
  guint promised = irisd_item_state_get_found (c->state);
  if (SANITIZED && c->state == IRISD_ITEM_DONE)
    promised |= IRISD_FOUND_STORED; /* no run is brief enough there */
  ck_assert_msg ((found & promised) != 0, "%s item: found %s", irisd_item_state_name (c->state),
                 iris_wire_state_name (after));
  if (c->after != EITHER)
    ck_assert_str_eq (iris_wire_state_name (after), iris_wire_state_name (c->after));
  let_go (c, number, after);
  crash ();

  start (c->config, "--paused");
  ck_assert_int_eq (look (&number, &end),
                    found == IRISD_FOUND_NOTHING ? IRISD_FOUND_NOTHING : IRISD_FOUND_ENDED);
}
END_TEST

START_TEST (every_state_has_a_case_or_passes_by_itself)
{
  gboolean named[IRISD_N_ITEM_STATES] = { FALSE };
  for (guint i = 0; i < G_N_ELEMENTS (cases); i++)
    named[cases[i].state] = TRUE;
  for (guint i = 0; i < G_N_ELEMENTS (passing); i++)
    {
      ck_assert (!named[passing[i]]);
      named[passing[i]] = TRUE;
    }
  for (guint state = 0; state < IRISD_N_ITEM_STATES; state++)
    ck_assert_msg (named[state], "%s has no case", irisd_item_state_name (state));
}
END_TEST

int
main (void)
{
  Suite *suite = suite_create ("irisd-item-states");
  TCase *tcase = tcase_create ("kills");
  tcase_set_timeout (tcase, 0);
  tcase_add_checked_fixture (tcase, set_up, tear_down);
  tcase_add_loop_test (tcase, after_a_kill_in_any_state_the_item_is_found_as_promised_and_ends_once,
                       0, G_N_ELEMENTS (cases));
  suite_add_tcase (suite, tcase);
  TCase *table = tcase_create ("table");
  tcase_add_test (table, every_state_has_a_case_or_passes_by_itself);
  suite_add_tcase (suite, table);
  return core_test_run (suite);
}
