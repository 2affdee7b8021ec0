/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * Recovery after a crash: items that ran, waited and were tried before it.
 */
#include "irisd-home.h"

#include <signal.h>
#include <unistd.h>

#define TWICE "[limits]\nmax-crashes = 2\n"

static Home *home;
static Irisd *irisd;
static Client *client;

static void
start (const char *config)
{
  irisd = home_start (home, config);
  client = client_hello (irisd->front);
}

static void
start_paused (const char *config)
{
  const char *const options[] = { TWO_PLACES, home->option, "--paused", NULL };
  irisd = irisd_start_in (home->dir, config, options);
  client = client_hello (irisd->front);
}

static void
set_up (void)
{
  home = home_new ();
  client = NULL;
  irisd = NULL;
}

static void
tear_down (void)
{
  g_clear_pointer (&client, client_free);
  irisd_stop (irisd);
  home_free (home);
}

static void
crash (void)
{
  g_clear_pointer (&client, client_free);
  irisd_kill (irisd);
}

static void
wait_for_crash (void)
{
  ck_assert_int_eq (irisd_wait (irisd), -SIGKILL);
  g_clear_pointer (&client, client_free);
  irisd_release (irisd);
}

static void
fill_command (IrisWireMessage *item, const char *const *args, guint klass)
{
  persistent_fill (client, item, "command", "", klass);
  iris_wire_message_set_args (item, args);
}

static guint64
submit_command (const char *const *args)
{
  IrisWireMessage item;
  fill_command (&item, args, IRIS_WIRE_CLASS_DURABLE);
  iris_wire_message_set_boolean (&item, IRIS_WIRE_KEY_DETACH, TRUE);
  return persistent_submit (client, &item);
}

/* Whether all processes with the other end of a pipe have ended. */
static void
assert_closed (int fd)
{
  char byte;
  ck_assert_int_eq (read (fd, &byte, 1), 0);
  close (fd);
}

static void
resume (gint place)
{
  IrisWireMessage message;
  client_init_message (client, &message, IRIS_WIRE_DRAIN);
  iris_wire_message_set_int (&message, IRIS_WIRE_KEY_PLACE, place);
  iris_wire_message_set_boolean (&message, IRIS_WIRE_KEY_DRAINED, FALSE);
  client_send (client, &message);
  ck_assert_uint_eq (client_receive_type (client, IRIS_WIRE_CHANGED)->count, 1);
}

static guint
count_lines (const char *path)
{
  g_autofree char *text = NULL;
  guint n = 0;
  if (g_file_get_contents (path, &text, NULL, NULL))
    for (const char *at = text; (at = strchr (at, '\n')) != NULL; at++)
      n++;
  return n;
}

TEST (an_item_that_ends_irisd_each_time_is_buried_and_can_be_kicked)
{
  start (TWICE);
  g_autofree char *gate = gate_new (irisd, "gate");
  g_autofree char *mended = g_build_filename (home->base, "mended", NULL);
  const char *const args[] = { "sh", "-c",   "cat \"$0\"; test -e \"$1\" || kill -9 $PPID",
                               gate, mended, NULL };
  guint64 number = submit_command (args);
  gate_open (gate);
  wait_for_crash ();

  start (TWICE);
  gate_open (gate);
  wait_for_crash ();

  start (TWICE);
  ck_assert_uint_eq (persistent_get_state (client, number, 0), IRIS_WIRE_STATE_BURIED);
  const IrisWireMessage *reply = persistent_fetch (client, number, 0);
  assert_error (reply, IRIS_WIRE_ERROR_BURIED);
  g_autofree char *reason = iris_wire_string_dup (&reply->message);
  ck_assert_ptr_nonnull (strstr (reason, "irisd crashed 2 times"));
  ck_assert_ptr_nonnull (strstr (reason, "max-crashes"));

  ck_assert (g_file_set_contents (mended, "", 0, NULL));
  persistent_ask (client, IRIS_WIRE_KICK, number);
  ck_assert_uint_eq (client_receive_type (client, IRIS_WIRE_CHANGED)->count, 1);
  gate_open (gate);
  persistent_assert_result (client, number, "");
}

TEST (what_ran_in_a_crash_is_counted_and_what_waited_is_not)
{
  start (TWICE);
  g_autofree char *first = gate_new (irisd, "one"), *second = gate_new (irisd, "two");
  const char *const gates[] = { first, second };
  guint64 running[] = { persistent_submit_occupier (client, gates[0], 0),
                        persistent_submit_occupier (client, gates[1], 1) };
  guint64 waiting = persistent_submit_echo (client, "waits", IRIS_WIRE_CLASS_DURABLE, TRUE);
  crash ();
  start (TWICE);
  for (guint i = 0; i < 2; i++)
    close (gate_wait (gates[i])); /* it runs again */
  crash ();

  start (TWICE);
  for (guint i = 0; i < 2; i++)
    ck_assert_uint_eq (persistent_get_state (client, running[i], 0), IRIS_WIRE_STATE_BURIED);
  persistent_assert_result (client, waiting, "waits");
}

TEST (an_orderly_end_is_no_crash)
{
  const char *const config = "[limits]\nmax-crashes = 1\n";
  start (config);
  g_autofree char *gate = gate_new (irisd, "gate");
  const char *const args[] = { "sh", "-c", "cat \"$0\"; echo >> \"$0.ran\"", gate, NULL };
  guint64 number = submit_command (args);
  while (persistent_get_state (client, number, 0) != IRIS_WIRE_STATE_RUNNING)
    ;
  g_clear_pointer (&client, client_free);
  irisd_signal (irisd, SIGTERM);
  irisd_signal (irisd, SIGINT);
  ck_assert_int_eq (irisd_wait (irisd), 4);
  irisd_release (irisd);

  start (config);
  gate_open (gate);
  persistent_assert_result (client, number, "");
}

/* One process that stays in the group, one that has left group and session, and one without the
 * variable. Only they hold the pipe once the shell has ended. */
static const char leaves[] = "exec 3> \"$0\"; (sleep 1000; :) & setsid sh -c 'sleep 1000; :' & "
                             "env -i /bin/sh -c 'sleep 1000; :' & echo >&3; sleep 1000; :";

TEST (nothing_of_a_command_lives_on_when_irisd_is_back_after_a_crash)
{
  start (NULL);
  g_autofree char *first = gate_new (irisd, "kept"), *second = gate_new (irisd, "volatile");
  const char *const gates[] = { first, second };
  const char *const kept[] = { "sh", "-c", leaves, gates[0], NULL };
  const char *const not_kept[] = { "sh", "-c", leaves, gates[1], NULL };
  guint64 number = submit_command (kept);
  client_submit_command (client, "", not_kept);
  int fds[] = { gate_wait (gates[0]), gate_wait (gates[1]) };
  crash ();

  start_paused (NULL);
  for (guint i = 0; i < 2; i++)
    assert_closed (fds[i]);
  /* Otherwise it would run again when irisd is asked to end. */
  ck_assert_uint_eq (persistent_get_state (client, number, 0), IRIS_WIRE_STATE_QUEUED);
  persistent_ask (client, IRIS_WIRE_CANCEL, number);
  client_receive_type (client, IRIS_WIRE_CANCELLING);
  ck_assert_uint_eq (persistent_get_state (client, number, GIVE_UP_MS), IRIS_WIRE_STATE_CANCELLED);
}

/* The front gateway reads the request while the gateway of the place still makes jobs. */
TEST (an_item_can_be_cancelled_as_soon_as_irisd_is_back)
{
  guint64 number = 0;
  start (NULL);
  for (guint i = 0; i < 1000; i++)
    {
      IrisWireMessage item;
      persistent_fill (client, &item, "echo", "later", IRIS_WIRE_CLASS_RELAXED);
      iris_wire_message_set_boolean (&item, IRIS_WIRE_KEY_DETACH, TRUE);
      iris_wire_message_set_int (&item, IRIS_WIRE_KEY_HINT, 1);
      iris_wire_message_set_uint (&item, IRIS_WIRE_KEY_DELAY_MS, 3600 * 1000);
      number = persistent_submit (client, &item);
    }
  persistent_submit_echo (client, "written after them", IRIS_WIRE_CLASS_DURABLE, TRUE);
  crash ();

  start (NULL);
  persistent_ask (client, IRIS_WIRE_CANCEL, number);
  client_receive_type (client, IRIS_WIRE_CANCELLING);
  ck_assert_uint_eq (persistent_get_state (client, number, GIVE_UP_MS), IRIS_WIRE_STATE_CANCELLED);
}

/* A control group of version 2 in which others can be made; NULL if there may be none. */
static char *
make_cgroup (void)
{
  static const char *const mounts[] = { "/sys/fs/cgroup", "/sys/fs/cgroup/unified" };
  for (guint i = 0; i < G_N_ELEMENTS (mounts); i++)
    {
      g_autofree char *path = g_strconcat (mounts[i], "/irisd-test-XXXXXX", NULL);
      g_autofree char *kind = g_strconcat (mounts[i], "/cgroup.controllers", NULL);
      if (access (kind, R_OK) != 0 || g_mkdtemp_full (path, 0755) == NULL)
        continue;
      g_autofree char *ends = g_strconcat (path, "/cgroup.kill", NULL);
      if (access (ends, W_OK) == 0)
        return g_steal_pointer (&path);
      rmdir (path);
    }
  return NULL;
}

/* Has left group, session and variable. */
static const char escapes[] =
    "exec 3> \"$0\"; env -i /usr/bin/setsid /bin/sh -c 'sleep 1000; :' & echo >&3; "
    "sleep 1000; :";

TEST (nothing_escapes_from_a_control_group)
{
  g_autofree char *cgroup = make_cgroup ();
  g_autofree char *config = g_strdup_printf ("[irisd]\ncgroup = %s\n", cgroup);
  if (cgroup == NULL)
    g_print ("# skipped: no control group can be made here\n");
  start (cgroup != NULL ? config : NULL);
  if (cgroup == NULL)
    return;
  g_autofree char *first = gate_new (irisd, "cancelled"), *second = gate_new (irisd, "kept");
  const char *const gates[] = { first, second };
  const char *const cancelled[] = { "sh", "-c", escapes, gates[0], NULL };
  const char *const kept[] = { "sh", "-c", escapes, gates[1], NULL };
  guint64 number = submit_command (cancelled);
  int fd = gate_wait (gates[0]);
  persistent_ask (client, IRIS_WIRE_CANCEL, number);
  client_receive_type (client, IRIS_WIRE_CANCELLING);
  while (persistent_get_state (client, number, GIVE_UP_MS) != IRIS_WIRE_STATE_CANCELLED)
    ;
  assert_closed (fd);

  number = submit_command (kept);
  fd = gate_wait (gates[1]);
  crash ();
  start_paused (config);
  assert_closed (fd);
  persistent_ask (client, IRIS_WIRE_CANCEL, number);
  client_receive_type (client, IRIS_WIRE_CANCELLING);
  /* All that were made are gone. */
  ck_assert_int_eq (rmdir (cgroup), 0);
}

TEST (what_a_command_left_on_purpose_outlives_a_crash)
{
  start (NULL);
  g_autofree char *gate = gate_new (irisd, "gate");
  const char *const args[] = { "sh", "-c", "(exec cat \"$0\" > /dev/null 2>&1) &", gate, NULL };
  persistent_assert_result (client, submit_command (args), "");
  crash ();
  start (NULL);
  gate_open (gate); /* a reader exists */
}

TEST (a_delay_goes_on_when_irisd_is_started_again)
{
  start (NULL);
  IrisWireMessage item;
  persistent_fill (client, &item, "echo", "late", IRIS_WIRE_CLASS_DURABLE);
  iris_wire_message_set_uint (&item, IRIS_WIRE_KEY_DELAY_MS, 1500);
  iris_wire_message_set_boolean (&item, IRIS_WIRE_KEY_DETACH, TRUE);
  guint64 number = persistent_submit (client, &item);
  /* Each run of irisd is shorter than the delay. */
  for (guint lives = 0; persistent_get_state (client, number, 0) != IRIS_WIRE_STATE_DONE; lives++)
    {
      ck_assert_uint_lt (lives, 300);
      crash ();
      start (NULL);
    }
  persistent_assert_result (client, number, "late");
}

TEST (tries_and_the_pause_between_them_go_on_when_irisd_is_started_again)
{
  start (NULL);
  g_autofree char *file = g_build_filename (home->base, "ran", NULL);
  const char *const args[] = { "sh", "-c", "echo >> \"$0\"; exit 3", file, NULL };
  IrisWireMessage item;
  fill_command (&item, args, IRIS_WIRE_CLASS_DURABLE);
  iris_wire_message_set_boolean (&item, IRIS_WIRE_KEY_DETACH, TRUE);
  iris_wire_message_set_uint (&item, IRIS_WIRE_KEY_RETRIES, 1);
  iris_wire_message_set_uint (&item, IRIS_WIRE_KEY_BACKOFF_MS, 3600 * 1000);
  guint64 number = persistent_submit (client, &item);
  while (persistent_get_state (client, number, 0) != IRIS_WIRE_STATE_DELAYED)
    ;
  /* A later write takes along the rows that were to be written before. */
  persistent_assert_result (
      client, persistent_submit_echo (client, "x", IRIS_WIRE_CLASS_DURABLE, TRUE), "x");
  crash ();

  start (NULL);
  persistent_assert_result (
      client, persistent_submit_echo (client, "y", IRIS_WIRE_CLASS_DURABLE, TRUE), "y");
  ck_assert_uint_eq (persistent_get_state (client, number, 0), IRIS_WIRE_STATE_DELAYED);
  ck_assert_uint_eq (count_lines (file), 1);
  persistent_ask (client, IRIS_WIRE_KICK, number);
  ck_assert_uint_eq (client_receive_type (client, IRIS_WIRE_CHANGED)->count, 1);
  const IrisWireMessage *end = persistent_fetch (client, number, GIVE_UP_MS);
  ck_assert_int_eq (end->exit_status, 3);
  ck_assert_uint_eq (end->attempts, 2);
  ck_assert_uint_eq (count_lines (file), 2);
}

TEST (a_paused_irisd_takes_and_shows_items_and_runs_none_until_it_is_told)
{
  start_paused (NULL);
  guint64 echo = persistent_submit_echo (client, "echo", IRIS_WIRE_CLASS_DURABLE, TRUE);
  guint64 doomed = persistent_submit_echo (client, "cancelled", IRIS_WIRE_CLASS_DURABLE, TRUE);
  guint64 buried = persistent_submit_echo (client, "buried", IRIS_WIRE_CLASS_DURABLE, TRUE);
  guint64 id = client_submit (client, "echo", "volatile", 8, 1, TRUE);
  persistent_ask (client, IRIS_WIRE_CANCEL, doomed);
  client_receive_type (client, IRIS_WIRE_CANCELLING);
  ck_assert_uint_eq (persistent_get_state (client, doomed, GIVE_UP_MS), IRIS_WIRE_STATE_CANCELLED);
  persistent_ask (client, IRIS_WIRE_BURY, buried);
  client_receive_type (client, IRIS_WIRE_CHANGED);
  ck_assert_uint_eq (persistent_get_state (client, buried, 0), IRIS_WIRE_STATE_BURIED);
  persistent_ask (client, IRIS_WIRE_KICK, buried);
  client_receive_type (client, IRIS_WIRE_CHANGED);
  ck_assert_uint_eq (persistent_get_state (client, buried, 0), IRIS_WIRE_STATE_QUEUED);
  ck_assert_uint_eq (persistent_get_state (client, echo, 0), IRIS_WIRE_STATE_QUEUED);
  g_autoptr (IrisWireStatus) status = client_get_status (client);
  ck_assert_uint_eq (status->places[0].active + status->places[1].active, 0);

  resume (1);
  const IrisWireMessage *result = client_receive_type (client, IRIS_WIRE_RESULT);
  ck_assert_uint_eq (message_get_id (result), id);
  client_ack (client, 1);
  resume (0);
  persistent_assert_result (client, echo, "echo");
  persistent_assert_result (client, buried, "buried");
}

TEST (a_paused_irisd_ends_when_it_is_told_and_keeps_what_it_has)
{
  start_paused (NULL);
  const char *const args[] = { "true", NULL };
  guint64 numbers[20];
  for (guint i = 0; i < G_N_ELEMENTS (numbers); i++)
    numbers[i] = submit_command (args);
  g_clear_pointer (&client, client_free);
  irisd_stop (irisd);

  start (NULL);
  for (guint i = 0; i < G_N_ELEMENTS (numbers); i++)
    persistent_assert_result (client, numbers[i], "");
}

static Client *
enroll_worker (void)
{
  Client *worker = client_hello (irisd->front);
  client_enroll (worker, "work", 1);
  return worker;
}

static guint64
submit_work (void)
{
  IrisWireMessage item;
  persistent_fill (client, &item, "work", "x", IRIS_WIRE_CLASS_DURABLE);
  iris_wire_message_set_boolean (&item, IRIS_WIRE_KEY_DETACH, TRUE);
  return persistent_submit (client, &item);
}

TEST (a_paused_irisd_leases_nothing_to_worker_processes)
{
  start_paused (NULL);
  Client *worker = enroll_worker ();
  guint64 number = submit_work ();
  guint64 doomed = submit_work ();
  ck_assert_uint_eq (persistent_get_state (client, number, 0), IRIS_WIRE_STATE_QUEUED);
  persistent_ask (client, IRIS_WIRE_CANCEL, doomed);
  client_receive_type (client, IRIS_WIRE_CANCELLING);
  ck_assert_uint_eq (persistent_get_state (client, doomed, GIVE_UP_MS), IRIS_WIRE_STATE_CANCELLED);
  resume (0);
  ck_assert_uint_eq (persistent_get_state (client, number, 0), IRIS_WIRE_STATE_QUEUED);
  resume (1);
  const IrisWireMessage *lease = client_receive_type (worker, IRIS_WIRE_LEASE);
  IrisWireMessage done;
  iris_wire_message_init (&done, IRIS_WIRE_DONE, lease->request_id);
  client_send (worker, &done);
  persistent_assert_result (client, number, "");
  client_free (worker);
}

TEST (a_paused_irisd_ends_with_items_for_worker_processes)
{
  start_paused (NULL);
  Client *worker = enroll_worker ();
  guint64 number = submit_work ();
  client_free (worker);
  g_clear_pointer (&client, client_free);
  irisd_stop (irisd);

  start (NULL);
  worker = enroll_worker ();
  const IrisWireMessage *lease = client_receive_type (worker, IRIS_WIRE_LEASE);
  IrisWireMessage done;
  iris_wire_message_init (&done, IRIS_WIRE_DONE, lease->request_id);
  client_send (worker, &done);
  persistent_assert_result (client, number, "");
  client_free (worker);
}

TEST_MAIN ("irisd-crash", set_up, tear_down)
