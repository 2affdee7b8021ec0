/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * Suspended items: they wait, or their processes are stopped, until they are resumed, also over a
 * restart.
 */
#include "irisd-home.h"

#include <signal.h>
#include <unistd.h>

#define HOUR_MS G_GINT64_CONSTANT (3600000)

static Home *home;
static Irisd *irisd;
static Client *client;

static void
begin (void)
{
  irisd = home_start (home, "[limits]\nwindow-us = 0\n");
  client = client_hello (irisd->front);
}

static void
end (gboolean kill)
{
  client_free (client);
  if (kill)
    irisd_kill (irisd);
  else
    irisd_stop (irisd);
}

static void
set_up (void)
{
  home = home_new ();
  begin ();
}

static void
tear_down (void)
{
  end (FALSE);
  home_free (home);
}

static void
assert_changed (IrisWireType type, guint64 item, guint count)
{
  persistent_ask (client, type, item);
  const IrisWireMessage *reply = client_receive (client);
  g_autofree char *text = iris_wire_message_to_string (reply);
  ck_assert_msg (reply->type == IRIS_WIRE_CHANGED, "wanted CHANGED, got %s", text);
  ck_assert_uint_eq (reply->count, count);
}

static void
assert_refused (IrisWireType type, guint64 item, IrisWireError code)
{
  persistent_ask (client, type, item);
  assert_error (client_receive (client), code);
}

static void
assert_state (guint64 item, IrisWireState state)
{
  ck_assert_str_eq (iris_wire_state_name (persistent_get_state (client, item, 0)),
                    iris_wire_state_name (state));
}

static guint64
submit_delayed (const char *text, guint64 delay_ms)
{
  IrisWireMessage item;
  persistent_fill (client, &item, "echo", text, IRIS_WIRE_CLASS_DURABLE);
  iris_wire_message_set_uint (&item, IRIS_WIRE_KEY_DELAY_MS, delay_ms);
  iris_wire_message_set_boolean (&item, IRIS_WIRE_KEY_DETACH, TRUE);
  return persistent_submit (client, &item);
}

/* A shell that has a child, tells both numbers, and ends when the gate opens. */
static guint64
submit_command (const char *gate)
{
  static const char *const script =
      "read x <\"$1\" & echo $$ $! >\"$1.told\"; mv \"$1.told\" \"$1.pids\";"
      " wait; echo over";
  IrisWireMessage item;
  persistent_fill (client, &item, "command", "", IRIS_WIRE_CLASS_DURABLE);
  iris_wire_message_set_args (&item, (const char *const[]){ "sh", "-c", script, "sh", gate, NULL });
  iris_wire_message_set_boolean (&item, IRIS_WIRE_KEY_DETACH, TRUE);
  return persistent_submit (client, &item);
}

/* Waits until the command of @gate has told its processes. */
static char **
await_processes (const char *gate)
{
  g_autofree char *path = g_strconcat (gate, ".pids", NULL);
  g_autofree char *text = NULL;
  while (!g_file_get_contents (path, &text, NULL, NULL))
    g_thread_yield ();
  unlink (path);
  g_strchomp (text);
  return g_strsplit (text, " ", -1);
}

static char
read_state (const char *pid)
{
  g_autofree char *path = g_strdup_printf ("/proc/%s/stat", pid);
  g_autofree char *text = NULL;
  ck_assert (g_file_get_contents (path, &text, NULL, NULL));
  const char *behind = strrchr (text, ')');
  ck_assert_ptr_nonnull (behind);
  return behind[2];
}

static void
await_stopped (char **pids, gboolean stopped)
{
  for (guint i = 0; pids[i] != NULL; i++)
    while ((read_state (pids[i]) == 'T') != stopped)
      g_thread_yield ();
}

TEST (a_waiting_item_waits_until_it_is_resumed)
{
  g_autofree char *gate = gate_new (irisd, "gate");
  guint64 occupier = persistent_submit_occupier (client, gate, 0);
  IrisWireMessage item;
  persistent_fill (client, &item, "echo", "queued", IRIS_WIRE_CLASS_DURABLE);
  iris_wire_message_set_int (&item, IRIS_WIRE_KEY_HINT, 0);
  iris_wire_message_set_boolean (&item, IRIS_WIRE_KEY_STRICT, TRUE);
  iris_wire_message_set_boolean (&item, IRIS_WIRE_KEY_DETACH, TRUE);
  guint64 queued = persistent_submit (client, &item);
  guint64 delayed = submit_delayed ("delayed", HOUR_MS);
  assert_changed (IRIS_WIRE_SUSPEND, queued, 1);
  assert_changed (IRIS_WIRE_SUSPEND, delayed, 1);
  assert_changed (IRIS_WIRE_SUSPEND, queued, 0);
  assert_state (delayed, IRIS_WIRE_STATE_SUSPENDED);
  gate_open (gate);
  ck_assert_str_eq (iris_wire_type_name (persistent_fetch (client, occupier, GIVE_UP_MS)->type),
                    "RESULT");
  /* What came later runs. */
  persistent_assert_result (
      client, persistent_submit_echo (client, "late", IRIS_WIRE_CLASS_DURABLE, TRUE), "late");
  while (persistent_get_state (client, queued, 0) != IRIS_WIRE_STATE_SUSPENDED)
    ; /* its worker gives it back */
  assert_changed (IRIS_WIRE_RESUME, queued, 1);
  persistent_assert_result (client, queued, "queued");
  assert_changed (IRIS_WIRE_RESUME, delayed, 1);
  assert_changed (IRIS_WIRE_RESUME, delayed, 0);
  assert_state (delayed, IRIS_WIRE_STATE_DELAYED);
}

static void
check_restart (gboolean kill)
{
  guint64 held = submit_delayed ("held", 1), resumed = submit_delayed ("resumed", HOUR_MS);
  guint64 later = submit_delayed ("later", HOUR_MS);
  assert_changed (IRIS_WIRE_SUSPEND, later, 1);
  assert_changed (IRIS_WIRE_SUSPEND, resumed, 1);
  assert_changed (IRIS_WIRE_RESUME, resumed, 1);
  end (kill);
  begin ();
  persistent_assert_result (client, held, "held");
  while (persistent_get_state (client, resumed, 0) == IRIS_WIRE_STATE_QUEUED)
    ; /* its gateway has not taken it from the journal yet */
  assert_state (resumed, IRIS_WIRE_STATE_DELAYED);
  assert_state (later, IRIS_WIRE_STATE_SUSPENDED);
  end (kill);
  begin ();
  assert_state (later, IRIS_WIRE_STATE_SUSPENDED);
  assert_changed (IRIS_WIRE_RESUME, later, 1);
  assert_state (later, IRIS_WIRE_STATE_DELAYED);
}

TEST (a_suspended_item_stays_so_over_a_stop) { check_restart (FALSE); }

TEST (a_suspended_item_stays_so_over_a_crash) { check_restart (TRUE); }

TEST (all_processes_of_a_command_stop_and_go_on)
{
  g_autofree char *gate = gate_new (irisd, "gate");
  guint64 item = submit_command (gate);
  g_auto (GStrv) pids = await_processes (gate);
  for (guint i = 0; i < 3; i++)
    {
      assert_changed (IRIS_WIRE_SUSPEND, item, 1);
      assert_state (item, IRIS_WIRE_STATE_SUSPENDED);
      await_stopped (pids, TRUE);
      assert_changed (IRIS_WIRE_RESUME, item, 1);
      assert_state (item, IRIS_WIRE_STATE_RUNNING);
      await_stopped (pids, FALSE);
    }
  gate_open (gate);
  persistent_assert_result (client, item, "over\n");
}

TEST (a_stopped_command_is_cancelled)
{
  g_autofree char *gate = gate_new (irisd, "gate");
  guint64 item = submit_command (gate);
  g_auto (GStrv) pids = await_processes (gate);
  assert_changed (IRIS_WIRE_SUSPEND, item, 1);
  await_stopped (pids, TRUE);
  persistent_ask (client, IRIS_WIRE_CANCEL, item);
  client_receive_type (client, IRIS_WIRE_CANCELLING);
  assert_error (persistent_fetch (client, item, GIVE_UP_MS), IRIS_WIRE_ERROR_CANCELLED);
}

/* The command that ran is not there any more: it begins anew when it is resumed. */
TEST (a_stopped_command_waits_after_a_crash)
{
  g_autofree char *gate = gate_new (irisd, "gate");
  guint64 item = submit_command (gate);
  g_auto (GStrv) pids = await_processes (gate);
  assert_changed (IRIS_WIRE_SUSPEND, item, 1);
  await_stopped (pids, TRUE);
  end (TRUE);
  begin ();
  assert_state (item, IRIS_WIRE_STATE_SUSPENDED);
  assert_changed (IRIS_WIRE_RESUME, item, 1);
  g_strfreev (await_processes (gate));
  gate_open (gate);
  persistent_assert_result (client, item, "over\n");
}

TEST (an_irisd_that_ends_lets_stopped_commands_end)
{
  g_autofree char *gate = gate_new (irisd, "gate");
  guint64 item = submit_command (gate);
  g_auto (GStrv) pids = await_processes (gate);
  assert_changed (IRIS_WIRE_SUSPEND, item, 1);
  await_stopped (pids, TRUE);
  irisd_signal (irisd, SIGTERM);
  await_stopped (pids, FALSE);
  gate_open (gate);
  client_free (client);
  ck_assert_int_eq (irisd_wait (irisd), 0);
  irisd_release (irisd);
  begin ();
  persistent_assert_result (client, item, "over\n");
}

TEST (a_suspended_item_can_be_cancelled_and_buried)
{
  guint64 cancelled = submit_delayed ("a", HOUR_MS), buried = submit_delayed ("b", HOUR_MS);
  assert_changed (IRIS_WIRE_SUSPEND, cancelled, 1);
  assert_changed (IRIS_WIRE_SUSPEND, buried, 1);
  persistent_ask (client, IRIS_WIRE_CANCEL, cancelled);
  ck_assert_uint_eq (client_receive_type (client, IRIS_WIRE_CANCELLING)->state,
                     IRIS_WIRE_STATE_QUEUED);
  assert_error (persistent_fetch (client, cancelled, GIVE_UP_MS), IRIS_WIRE_ERROR_CANCELLED);
  assert_changed (IRIS_WIRE_BURY, buried, 1);
  assert_state (buried, IRIS_WIRE_STATE_BURIED);
  assert_refused (IRIS_WIRE_RESUME, buried, IRIS_WIRE_ERROR_BAD_ARGUMENT);
  assert_changed (IRIS_WIRE_KICK, buried, 1);
  assert_state (buried, IRIS_WIRE_STATE_DELAYED);
  assert_changed (IRIS_WIRE_KICK, buried, 1);
  persistent_assert_result (client, buried, "b");
}

TEST (what_cannot_be_suspended_is_refused_with_the_reason)
{
  guint64 ended = persistent_submit_echo (client, "x", IRIS_WIRE_CLASS_DURABLE, TRUE);
  persistent_assert_result (client, ended, "x");
  assert_refused (IRIS_WIRE_SUSPEND, ended, IRIS_WIRE_ERROR_BAD_ARGUMENT);
  ck_assert_ptr_nonnull (
      g_strstr_len (client->message.message.data, (gssize) client->message.message.len, "is done"));
  assert_refused (IRIS_WIRE_RESUME, ended, IRIS_WIRE_ERROR_BAD_ARGUMENT);
  assert_refused (IRIS_WIRE_SUSPEND, ended + 1000, IRIS_WIRE_ERROR_NO_SUCH_ITEM);

  Client *worker = client_new (irisd->front);
  client_say_hello (worker);
  client_enroll (worker, "leased", 1);
  IrisWireMessage item;
  persistent_fill (client, &item, "leased", "", IRIS_WIRE_CLASS_DURABLE);
  iris_wire_message_set_boolean (&item, IRIS_WIRE_KEY_DETACH, TRUE);
  guint64 leased = persistent_submit (client, &item);
  client_receive_type (worker, IRIS_WIRE_LEASE);
  assert_refused (IRIS_WIRE_SUSPEND, leased, IRIS_WIRE_ERROR_BAD_ARGUMENT);
  persistent_ask (client, IRIS_WIRE_CANCEL, leased);
  client_receive_type (client, IRIS_WIRE_CANCELLING);
  client_free (worker);
}

TEST_MAIN ("irisd-suspend", set_up, tear_down)
