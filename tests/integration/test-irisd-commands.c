/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * Commands: how they run, their limits, and that none of their processes stays behind.
 */
#include "irisd-fixture.h"

#include <fcntl.h>
#include <glib/gstdio.h>
#include <poll.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

static Irisd *irisd;
static Client *client;
static IrisWireMessage item;
static char *scratch;

static void
set_up (void)
{
  irisd = irisd_start ("[limits]\nkill-grace-ms = 60000\n", ONE_WORKER, NULL);
  client = client_hello (irisd->front);
  scratch = g_strdup_printf ("%s.scratch", irisd->dir);
  ck_assert_int_eq (g_mkdir (scratch, 0700), 0);
}

static void
tear_down (void)
{
  g_clear_pointer (&client, client_free);
  irisd_finish (irisd);
  g_clear_pointer (&scratch, g_free);
}

/* Begins an item; options are set before it is sent. */
static void
begin (const char *const *argv)
{
  client_init_message (client, &item, IRIS_WIRE_SUBMIT);
  iris_wire_message_set_string (&item, IRIS_WIRE_KEY_SERVICE, "command", -1);
  iris_wire_message_set_boolean (&item, IRIS_WIRE_KEY_QUIET, TRUE);
  iris_wire_message_set_args (&item, argv);
}

#define command(...) begin ((const char *const[]){ __VA_ARGS__, NULL })
#define limit(...)                                         \
  iris_wire_message_set_list (&item, IRIS_WIRE_KEY_LIMITS, \
                              (const char *const[]){ __VA_ARGS__, NULL })

static guint64
submit (void)
{
  client_send (client, &item);
  return client->next_id;
}

static const IrisWireMessage *
run (void)
{
  guint64 id = submit ();
  const IrisWireMessage *completion = client_receive_completion (client);
  ck_assert_uint_eq (message_get_id (completion), id);
  client_ack (client, 1);
  return completion;
}

static void
assert_output (const char *text)
{
  const IrisWireMessage *result = run ();
  g_autofree char *said = iris_wire_message_to_string (result);
  ck_assert_msg (result->type == IRIS_WIRE_RESULT, "%s", said);
  g_autofree char *body = g_strndup ((const char *) result->body.data, result->body.size);
  ck_assert_str_eq (body, text);
}

TEST (a_command_runs_in_its_directory)
{
  g_autofree char *line = g_strdup_printf ("%s\n", scratch);
  command ("pwd");
  iris_wire_message_set_string (&item, IRIS_WIRE_KEY_DIRECTORY, scratch, -1);
  assert_output (line);

  command ("pwd");
  iris_wire_message_set_string (&item, IRIS_WIRE_KEY_DIRECTORY, "/no/such/directory", -1);
  assert_error (run (), IRIS_WIRE_ERROR_UNREADABLE_FILE);
  ck_assert (client->message.ends);

  command ("pwd");
  iris_wire_message_set_string (&item, IRIS_WIRE_KEY_DIRECTORY, "tmp", -1);
  submit ();
  assert_error (client_receive (client), IRIS_WIRE_ERROR_BAD_ARGUMENT);
  ck_assert (!client->message.ends);
}

TEST (a_command_has_the_environment_that_it_is_given)
{
  const char *const variables[] = { "A=1", "B=x=y", "C=", "A=2", "B", NULL };
  command ("env");
  iris_wire_message_set_list (&item, IRIS_WIRE_KEY_ENVIRONMENT, variables);
  iris_wire_message_set_boolean (&item, IRIS_WIRE_KEY_CLEAR_ENVIRONMENT, TRUE);
  assert_output ("A=2\nC=\n");

  command ("sh", "-c", "echo \"$NEW ${HOME-none} ${PATH+path}\"");
  iris_wire_message_set_list (&item, IRIS_WIRE_KEY_ENVIRONMENT,
                              (const char *const[]){ "NEW=new", "HOME", NULL });
  assert_output ("new none path\n");

  command ("env");
  iris_wire_message_set_list (&item, IRIS_WIRE_KEY_ENVIRONMENT,
                              (const char *const[]){ "=x", NULL });
  submit ();
  assert_error (client_receive (client), IRIS_WIRE_ERROR_BAD_ARGUMENT);
}

TEST (a_command_can_be_nice)
{
  g_autofree char *own = NULL;
  ck_assert (g_spawn_command_line_sync ("nice", &own, NULL, NULL, NULL));
  g_autofree char *nicer = g_strdup_printf ("%d",
                                            MIN ((int) g_ascii_strtoll (own, NULL, 10) + 7, 19));
  const char *const argv[] = { "sh", "-c", "[ $(nice) -eq $1 ]", "sh", nicer, NULL };
  begin (argv);
  iris_wire_message_set_int (&item, IRIS_WIRE_KEY_NICE, 7);
  ck_assert_int_eq (run ()->exit_status, 0);
}

TEST (limits_bite)
{
  command ("dd", "if=/dev/zero", "of=/dev/null", "bs=500M", "count=1");
  limit ("memory=104857600");
  ck_assert_int_eq (run ()->exit_status, 1);
  command ("dd", "if=/dev/zero", "of=/dev/null", "bs=50M", "count=1");
  limit ("memory=104857600");
  ck_assert_int_eq (run ()->exit_status, 0);

  /* A second of the processor each: the soft limit, then the hard one. */
  command ("sh", "-c", "trap 'echo asked' XCPU; while :; do :; done");
  limit ("cpu=1");
  const IrisWireMessage *killed = run ();
  ck_assert_int_eq (killed->signal, SIGKILL);
  ck_assert (message_body_is (killed, "asked\n"));

  command ("cat", "/dev/null");
  limit ("files=3");
  ck_assert_int_ne (run ()->exit_status, 0);

  g_autofree char *file = g_build_filename (scratch, "file", NULL);
  g_autofree char *of = g_strdup_printf ("of=%s", file);
  command ("dd", "if=/dev/zero", of, "bs=2000", "count=2");
  limit ("file-size=1000", "core=0");
  ck_assert_int_eq (run ()->signal, SIGXFSZ);

  command ("head", "-c", "100000", "/dev/zero");
  limit ("output=1000");
  ck_assert_uint_eq (run ()->body.size, 1000);
  ck_assert (client->message.truncated);
  ck_assert_int_eq (client->message.exit_status, 0);
  ck_assert_uint_eq (client->message.bytes, 100000);
}

TEST (limits_that_make_no_sense_are_refused)
{
  const char *const bad[] = { "",       "cpu",       "cpu=",   "cpu=x",
                              "cpu=-1", "CPU=1",     "disk=1", "memory=1M",
                              "=1",     "output= 1", "cpu=1 ", "files=9223372036854775808" };
  for (guint i = 0; i < G_N_ELEMENTS (bad); i++)
    {
      command ("true");
      limit (bad[i]);
      submit ();
      assert_error (client_receive (client), IRIS_WIRE_ERROR_BAD_ARGUMENT);
      ck_assert (!client->message.ends);
    }
  command ("true");
  limit ("cpu=1", "cpu=2");
  submit ();
  assert_error (client_receive (client), IRIS_WIRE_ERROR_BAD_ARGUMENT);

  command ("true");
  iris_wire_message_set_uint (&item, IRIS_WIRE_KEY_TIME_LIMIT_MS, 0);
  submit ();
  assert_error (client_receive (client), IRIS_WIRE_ERROR_BAD_ARGUMENT);

  /* Well-formed, and more than irisd may grant. */
  command ("true");
  limit ("files=1000000000000");
  assert_error (run (), IRIS_WIRE_ERROR_BAD_ARGUMENT);
  ck_assert (client->message.ends);
}

TEST (options_are_for_commands)
{
  for (guint i = 0; i < 2; i++)
    {
      command ("x");
      iris_wire_message_set_string (&item, IRIS_WIRE_KEY_SERVICE, i == 0 ? "echo" : "hold", -1);
      limit ("cpu=1");
      submit ();
      assert_error (client_receive (client), IRIS_WIRE_ERROR_BAD_ARGUMENT);
      ck_assert (!client->message.ends);
    }
}

/* Runs a shell that ignores SIGTERM and says so by a file, with that limit of time. Returns whether
 * it came so far. */
static gboolean
ignore_sigterm_until_killed (guint64 limit_ms)
{
  g_autofree char *ignores = g_build_filename (scratch, "ignores", NULL);
  command ("sh", "-c", "trap '' TERM; echo > \"$0\"; while :; do sleep 1000; done", ignores);
  iris_wire_message_set_uint (&item, IRIS_WIRE_KEY_TIME_LIMIT_MS, limit_ms);
  iris_wire_message_set_uint (&item, IRIS_WIRE_KEY_GRACE_MS, 50);
  assert_error (run (), IRIS_WIRE_ERROR_TIME_LIMIT);
  return g_unlink (ignores) == 0;
}

TEST (a_command_ends_when_its_time_is_over)
{
  command ("sleep", "1000");
  iris_wire_message_set_uint (&item, IRIS_WIRE_KEY_TIME_LIMIT_MS, 50);
  assert_error (run (), IRIS_WIRE_ERROR_TIME_LIMIT);
  ck_assert_int_eq (client->message.signal, SIGTERM);

  /* A busy machine may end the shell before its first line; it then gets twice the time. */
  for (guint64 limit_ms = 50; !ignore_sigterm_until_killed (limit_ms); limit_ms *= 2)
    ck_assert_uint_lt (limit_ms, GIVE_UP_MS / 4);
  ck_assert_int_eq (client->message.signal, SIGKILL);

  command ("echo", "in time");
  iris_wire_message_set_uint (&item, IRIS_WIRE_KEY_TIME_LIMIT_MS, GIVE_UP_MS);
  assert_output ("in time\n");
}

/* A command that ends by SIGTERM and has a child that does not, with a child of its own. All hold
 * the gate open. */
#define STUBBORN \
  "exec 3> \"$0\"; (trap '' TERM; echo >&3; while :; do sleep 1000; done) & exec sleep 1000"

TEST (nothing_of_a_cancelled_commands_group_stays_behind)
{
  g_autofree char *gate = gate_new (irisd, "gate");
  command ("sh", "-c", STUBBORN, gate);
  iris_wire_message_set_uint (&item, IRIS_WIRE_KEY_GRACE_MS, 50);
  guint64 id = submit ();
  int fd = gate_wait (gate);
  client_cancel (client, id);
  client_receive_type (client, IRIS_WIRE_CANCELLING);
  assert_error (client_receive_completion (client), IRIS_WIRE_ERROR_CANCELLED);
  /* The process that held the pipe has ended before the completion came. */
  struct pollfd pipe = { .fd = fd, .events = POLLIN };
  char byte;
  ck_assert_int_eq (poll (&pipe, 1, 0), 1);
  ck_assert_int_eq (read (fd, &byte, 1), 0);
  close (fd);
}

TEST (a_group_that_heeds_sigterm_has_its_grace_and_no_more)
{
  /* The grace is a minute: waiting for its end would exceed the test's time. */
  g_autofree char *gate = gate_new (irisd, "gate");
  command ("sh", "-c", "exec 3> \"$0\"; (sleep 1000; :) & echo >&3; exec sleep 1000", gate);
  guint64 id = submit ();
  int fd = gate_wait (gate);
  client_cancel (client, id);
  assert_error (client_receive_completion (client), IRIS_WIRE_ERROR_CANCELLED);
  char byte;
  ck_assert_int_eq (read (fd, &byte, 1), 0);
  close (fd);
}

TEST (a_command_that_ends_by_itself_may_leave_a_process_behind)
{
  g_autofree char *gate = gate_new (irisd, "gate");
  command ("sh", "-c", "(exec cat \"$0\" 3>&1) & echo over", gate);
  assert_output ("over\n");
  gate_open (gate); /* a reader exists */
}

TEST (long_commands_do_not_keep_other_items_waiting)
{
  g_autofree char *gate = gate_new (irisd, "gate");
  command ("cat", gate);
  guint64 first = submit ();
  command ("cat", gate);
  guint64 second = submit ();
  client_submit (client, "echo", "x", 1, IRIS_PLACE_ANY, FALSE);
  ck_assert (message_body_is (client_receive_completion (client), "x"));

  /* The second waits for the first's slot, and can be cancelled like any waiting item. */
  client_cancel (client, second);
  ck_assert_uint_eq (client_receive_type (client, IRIS_WIRE_CANCELLING)->state,
                     IRIS_WIRE_STATE_QUEUED);
  assert_error (client_receive_completion (client), IRIS_WIRE_ERROR_CANCELLED);
  ck_assert_uint_eq (message_get_id (&client->message), second);
  gate_open (gate);
  ck_assert_uint_eq (message_get_id (client_receive_completion (client)), first);
}

TEST (no_more_commands_run_at_a_place_than_the_limit_says)
{
  g_autofree char *alone = g_build_filename (scratch, "alone", NULL);
  const guint n = TIMES (100);
  for (guint i = 0; i < n; i++)
    {
      command ("sh", "-c", "mkdir \"$0\" && rmdir \"$0\"", alone);
      submit ();
    }
  for (guint i = 0; i < n; i++)
    {
      ck_assert_int_eq (client_receive_completion (client)->exit_status, 0);
      client_ack (client, 1);
    }
}

TEST (a_command_goes_where_there_is_a_slot_unless_it_is_strict)
{
  Irisd *two = irisd_start (NULL, TWO_PLACES, NULL);
  Client *own = client_hello (two->front);
  g_autofree char *gates[] = { gate_new (two, "a"), gate_new (two, "b"), gate_new (two, "c"),
                               NULL };
  client_free (client);
  client = own;
  for (guint i = 0; i < 3; i++)
    {
      command ("sh", "-c", "echo > \"$0\"; exec cat \"$0\"", gates[i]);
      iris_wire_message_set_int (&item, IRIS_WIRE_KEY_HINT, 0);
      iris_wire_message_set_boolean (&item, IRIS_WIRE_KEY_STRICT, i < 2);
      submit ();
      if (i != 1)
        close (gate_wait (gates[i])); /* the second waits for the first, the third does not */
    }
  gate_open (gates[2]);
  ck_assert_int_eq (client_receive_completion (client)->place, 1);
  ck_assert_int_eq (client->message.home, 0);
  gate_open (gates[0]);
  ck_assert_int_eq (client_receive_completion (client)->place, 0);
  close (gate_wait (gates[1]));
  gate_open (gates[1]);
  ck_assert_int_eq (client_receive_completion (client)->place, 0);
  g_autoptr (IrisWireStatus) status = client_get_status (client);
  ck_assert_uint_eq (status->places[1].stolen_in, 1);
  ck_assert_uint_eq (status->places[0].stolen_out, 1);
  g_free (gates[0]), g_free (gates[1]), g_free (gates[2]);
  gates[0] = NULL;
  client_free (client);
  irisd_finish (two);
  client = client_hello (irisd->front);
}

TEST (what_irisd_has_open_is_closed_for_commands)
{
  command ("sh", "-c", "ls /proc/self/fd");
  assert_output ("0\n1\n2\n3\n"); /* 3 is ls's own */
}

static void
stream (guint64 credit)
{
  iris_wire_message_set_uint (&item, IRIS_WIRE_KEY_STREAM, credit);
}

/* Takes OUTPUT messages until so many bytes have come. */
static void
take_output (guint64 id, GByteArray *out, GByteArray *err, guint64 bytes)
{
  guint64 n = 0;
  while (n < bytes)
    {
      const IrisWireMessage *part = client_receive_type (client, IRIS_WIRE_OUTPUT);
      ck_assert_uint_eq (message_get_id (part), id);
      ck_assert_uint_gt (part->body.size, 0);
      g_byte_array_append (part->channel == IRIS_WIRE_CHANNEL_OUTPUT ? out : err, part->body.data,
                           (guint) part->body.size);
      n += part->body.size;
    }
  ck_assert_uint_eq (n, bytes); /* no more than was granted */
}

TEST (output_comes_while_the_command_runs)
{
  g_autoptr (GByteArray) out = g_byte_array_new (), err = g_byte_array_new ();
  g_autofree char *gate = gate_new (irisd, "gate");
  command ("sh", "-c", "echo one; echo two >&2; cat \"$0\"; echo three; exit 5", gate);
  stream (1000);
  guint64 id = submit ();
  take_output (id, out, err, 8);
  gate_open (gate);
  take_output (id, out, err, 6);
  ck_assert_int_eq (memcmp (out->data, "one\nthree\n", 10), 0);
  ck_assert_int_eq (memcmp (err->data, "two\n", 4), 0);
  const IrisWireMessage *result = client_receive_type (client, IRIS_WIRE_RESULT);
  ck_assert_int_eq (result->exit_status, 5);
  ck_assert_uint_eq (result->body.size, 0);
  ck_assert_uint_eq (result->bytes, 14);
  ck_assert (!result->truncated);
}

#define STREAMED 3000000

/* A program that writes more than pipe and memory may hold: numbers, so that a byte that is lost,
 * doubled or out of place shows. */
TEST (without_credit_a_command_waits_and_nothing_is_lost)
{
  g_autoptr (GByteArray) out = g_byte_array_new ();
  g_autofree char *script = g_strdup_printf ("seq 1000000 | head -c %d", STREAMED);
  g_autofree char *wanted = NULL;
  g_autofree char *line = g_strdup_printf ("sh -c '%s'", script);
  ck_assert (g_spawn_command_line_sync (line, &wanted, NULL, NULL, NULL));
  command ("sh", "-c", script);
  stream (0);
  guint64 id = submit ();
  client_submit (client, "echo", "x", 1, IRIS_PLACE_ANY, FALSE);
  client_receive_type (client, IRIS_WIRE_RESULT); /* and no OUTPUT before it */

  GRand *rand = g_rand_new_with_seed (7);
  while (out->len < STREAMED)
    {
      guint64 bytes = MIN ((guint64) g_rand_int_range (rand, 1, 100000), STREAMED - out->len);
      client_grant (client, id, bytes);
      take_output (id, out, NULL, bytes);
    }
  g_rand_free (rand);
  ck_assert_int_eq (memcmp (out->data, wanted, STREAMED), 0);
  ck_assert_int_eq (client_receive_type (client, IRIS_WIRE_RESULT)->exit_status, 0);
  ck_assert_uint_eq (client->message.bytes, STREAMED);
  client_grant (client, id, 1); /* too late, and no error */
  client_call (client, IRIS_WIRE_PING, IRIS_WIRE_PONG);
}

TEST (a_command_that_waits_for_credit_can_be_cancelled)
{
  for (guint i = 0; i < 2; i++)
    {
      g_autofree char *gate = gate_new (irisd, i == 0 ? "a" : "b");
      /* The first waits in write(); the second has ended and left something in the pipe. */
      command ("sh", "-c", i == 0 ? "echo > \"$0\"; exec yes" : "echo left; echo > \"$0\"", gate);
      stream (0);
      guint64 id = submit ();
      close (gate_wait (gate));
      client_cancel (client, id);
      client_receive_type (client, IRIS_WIRE_CANCELLING);
      assert_error (client_receive_completion (client), IRIS_WIRE_ERROR_CANCELLED);
    }
}

TEST (a_command_whose_client_has_gone_does_not_wait_for_credit)
{
  Client *other = client_hello (irisd->front);
  command ("sh", "-c", "head -c 1000000 /dev/zero");
  stream (0);
  submit ();
  client_call (client, IRIS_WIRE_PING, IRIS_WIRE_PONG);
  IrisWireMessage bye;
  client_init_message (client, &bye, IRIS_WIRE_BYE);
  client_send (client, &bye);
  client_free (client);
  client = other;
  for (guint64 ended = 0; ended < 1;)
    {
      g_autoptr (IrisWireStatus) status = client_get_status (client);
      ended = status->ended;
    }
  command ("echo", "the slot is free");
  assert_output ("the slot is free\n");
}

/* It says no BYE, and ZeroMQ does not report its end. */
TEST (a_client_that_vanishes_does_not_keep_its_command_waiting)
{
  command ("sh", "-c", "head -c 1000000 /dev/zero");
  stream (0);
  submit ();
  client_call (client, IRIS_WIRE_PING, IRIS_WIRE_PONG);
  client_free (client);
  client = client_hello (irisd->front);
  command ("echo", "the slot is free");
  assert_output ("the slot is free\n");
}

TEST (no_more_credit_is_held_than_the_limit_says)
{
  command ("yes");
  stream (G_MAXUINT64);
  submit ();
  assert_error (client_receive (client), IRIS_WIRE_ERROR_BAD_ARGUMENT);

  g_autofree char *gate = gate_new (irisd, "gate");
  command ("cat", gate);
  stream (1024 * 1024);
  guint64 id = submit ();
  client_grant (client, id, 1);
  assert_error (client_receive (client), IRIS_WIRE_ERROR_TOO_LARGE);
  ck_assert (!client->message.ends);
  ck_assert_int_eq (strncmp (client->message.limit.data, "stream-credit", 13), 0);
  client_grant (client, id, G_MAXUINT64);
  assert_error (client_receive (client), IRIS_WIRE_ERROR_TOO_LARGE);
  gate_open (gate);
  client_receive_type (client, IRIS_WIRE_RESULT);
}

TEST (streamed_output_is_cut_at_the_items_own_limit)
{
  g_autoptr (GByteArray) out = g_byte_array_new ();
  command ("head", "-c", "100000", "/dev/zero");
  stream (100000);
  limit ("output=5000");
  guint64 id = submit ();
  take_output (id, out, NULL, 5000);
  ck_assert_int_eq (client_receive_type (client, IRIS_WIRE_RESULT)->exit_status, 0);
  ck_assert (client->message.truncated);
}

TEST (stopping_ends_running_and_waiting_commands)
{
  Irisd *other = irisd_start (NULL, ONE_WORKER, NULL);
  Client *own = client_hello (other->front);
  g_autofree char *gate = gate_new (other, "gate");
  client_free (client);
  client = own;
  command ("sh", "-c", STUBBORN, gate);
  submit ();
  int fd = gate_wait (gate);
  command ("sleep", "1000");
  submit ();
  client_call (client, IRIS_WIRE_PING, IRIS_WIRE_PONG);
  irisd_signal (other, SIGTERM);
  irisd_signal (other, SIGINT);
  for (guint i = 0; i < 2; i++)
    assert_error (client_receive_completion (client), IRIS_WIRE_ERROR_SHUTTING_DOWN);
  char byte;
  ck_assert_int_eq (read (fd, &byte, 1), 0);
  close (fd);
  ck_assert_int_eq (irisd_wait (other), 4);
  irisd_free (other);
  client_free (client);
  client = client_hello (irisd->front);
}

/* Begins an item with a hook that tells the pipe @told what it was told itself. */
static void
set_hook (const char *const *hook)
{
  iris_wire_message_set_list (&item, IRIS_WIRE_KEY_HOOK, hook);
}

TEST (a_hook_runs_when_an_item_has_ended)
{
  g_autofree char *told = gate_new (irisd, "told");
  g_autofree char *script = g_strdup_printf (
      "echo \"$IRIS_SERVICE $IRIS_OUTCOME $IRIS_EXIT_STATUS $IRIS_SIGNAL $PWD\" >%s", told);
  const char *const hook[] = { "sh", "-c", script, NULL };
  char buffer[1024];

  command ("sh", "-c", "kill -9 $$");
  iris_wire_message_set_string (&item, IRIS_WIRE_KEY_DIRECTORY, scratch, -1);
  set_hook (hook);
  run ();
  int fd = open (told, O_RDONLY | O_CLOEXEC);
  ssize_t n = read (fd, buffer, sizeof buffer - 1);
  ck_assert_int_gt (n, 0);
  buffer[n] = '\0';
  close (fd);
  g_autofree char *wanted = g_strdup_printf ("command done  9 %s\n", scratch);
  ck_assert_str_eq (buffer, wanted);

  /* A running one that is cancelled. */
  g_autofree char *gate = gate_new (irisd, "gate");
  g_autofree char *busy = g_strdup_printf ("echo x >%s; exec sleep 1000", gate);
  command ("sh", "-c", busy);
  set_hook (hook);
  guint64 id = submit ();
  close (gate_wait (gate));
  client_cancel (client, id);
  client_receive_type (client, IRIS_WIRE_CANCELLING);
  assert_error (client_receive_completion (client), IRIS_WIRE_ERROR_CANCELLED);
  client_ack (client, 1);
  fd = open (told, O_RDONLY | O_CLOEXEC);
  n = read (fd, buffer, sizeof buffer - 1);
  ck_assert_int_gt (n, 0);
  ck_assert (g_str_has_prefix (buffer, "command cancelled "));
  close (fd);

  command ("true");
  set_hook ((const char *const[]){ "", "x", NULL });
  submit ();
  assert_error (client_receive (client), IRIS_WIRE_ERROR_BAD_ARGUMENT);
}

/* Runs such a hook after another irisd's command. Returns the log of that irisd, which waits for
 * the hook when it ends. */
static char *
log_of_hook (const char *config, const char *const *hook)
{
  Irisd *other = irisd_start (config, ONE_WORKER, NULL);
  g_autoptr (Client) own = g_steal_pointer (&client);
  client = client_hello (other->front);
  command ("true");
  set_hook (hook);
  run ();
  g_clear_pointer (&client, client_free);
  client = g_steal_pointer (&own);
  irisd_signal (other, SIGTERM);
  ck_assert_int_eq (irisd_wait (other), 0);
  char *log = irisd_read_log (other);
  irisd_free (other);
  return log;
}

/* Only the one that does not end has a limit that it can exceed. */
TEST (a_hook_that_fails_or_does_not_end_is_logged_and_ended)
{
  g_autofree char *endless = log_of_hook ("[limits]\nhook-ms = 20\n",
                                          (const char *const[]){ "sleep", "1000", NULL });
  ck_assert_ptr_nonnull (strstr (endless, "longer than the limit hook-ms"));
  const char *const limit = "[limits]\nhook-ms = 600000\ndrain-grace-ms = 600000\n";
  g_autofree char *failing = log_of_hook (limit,
                                          (const char *const[]){ "sh", "-c", "exit 7", NULL });
  ck_assert_ptr_nonnull (strstr (failing, "ended with status 7"));
  g_autofree char *missing = log_of_hook (limit, (const char *const[]){ "/no/such/program", NULL });
  ck_assert_ptr_nonnull (strstr (missing, "cannot be run: No such file"));
}

/* More than run at once, so that some are not begun. */
TEST (hooks_do_not_keep_irisd_from_ending)
{
  Irisd *other = irisd_start ("[limits]\ndrain-grace-ms = 20\n", ONE_WORKER, NULL);
  g_autoptr (Client) own = g_steal_pointer (&client);
  client = client_hello (other->front);
  for (guint i = 0; i < 6; i++)
    {
      command ("true");
      set_hook ((const char *const[]){ "sleep", "1000", NULL });
      run ();
    }
  g_clear_pointer (&client, client_free);
  client = g_steal_pointer (&own);
  irisd_signal (other, SIGTERM);
  ck_assert_int_eq (irisd_wait (other), 0);
  g_autofree char *log = irisd_read_log (other);
  ck_assert_ptr_nonnull (strstr (log, "irisd ends"));
  ck_assert_ptr_null (strstr (log, "hook-ms"));
  irisd_free (other);
}

TEST_MAIN ("irisd-commands", set_up, tear_down)
