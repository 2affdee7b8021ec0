/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * Commands that epoll cannot watch: their items fail, none of their processes stays behind, and
 * irisd goes on.
 */
#include "irisd-fixture.h"

#include <fcntl.h>
#include <glib/gstdio.h>
#include <unistd.h>

static Irisd *irisd;
static Client *client;
static IrisWireMessage item;
static char *no_watches; /* while this file exists, no part of a command is watched */

static void
set_up (void)
{
  g_autofree char *dir = g_dir_make_tmp ("iris-unwatched-XXXXXX", NULL);
  no_watches = g_build_filename (dir, "no-watches", NULL);
  shim_load (g_getenv ("IRISD_SHIM_EPOLL"), "IRIS_NO_WATCHES", no_watches);
  irisd = irisd_start ("[limits]\nkill-grace-ms = 100\n", ONE_WORKER, NULL);
  shim_unload ();
  client = client_hello (irisd->front);
}

static void
tear_down (void)
{
  g_autofree char *dir = g_path_get_dirname (no_watches);
  g_clear_pointer (&client, client_free);
  irisd_finish (irisd);
  irisd_remove_all (dir);
  g_clear_pointer (&no_watches, g_free);
}

static guint64
submit (const char *input, const char *const *argv, gint64 stream)
{
  client_init_message (client, &item, IRIS_WIRE_SUBMIT);
  iris_wire_message_set_string (&item, IRIS_WIRE_KEY_SERVICE, "command", -1);
  iris_wire_message_set_boolean (&item, IRIS_WIRE_KEY_QUIET, TRUE);
  iris_wire_message_set_args (&item, argv);
  item.body = (IrisWireFrame){ (const guint8 *) input, strlen (input) };
  if (stream >= 0)
    iris_wire_message_set_uint (&item, IRIS_WIRE_KEY_STREAM, (guint64) stream);
  client_send (client, &item);
  return client->next_id;
}

#define submit_command(input, stream, ...) \
  submit (input, (const char *const[]){ __VA_ARGS__, NULL }, stream)

static void
assert_says_unwatched (const IrisWireMessage *completion)
{
  assert_error (completion, IRIS_WIRE_ERROR_SERVICE_FAILED);
  g_autofree char *reason = iris_wire_string_dup (&completion->message);
  ck_assert_msg (strstr (reason, "max_user_watches") != NULL, "%s", reason);
  client_ack (client, 1);
}

static void
assert_unwatched (void)
{
  assert_says_unwatched (client_receive_completion (client));
}

/* A command that is still watched when credit comes writes a byte for it. */
static void
assert_unwatched_again (guint64 id)
{
  do
    client_grant (client, id, 1);
  while (client_receive (client)->type == IRIS_WIRE_OUTPUT);
  assert_says_unwatched (&client->message);
}

static void
assert_commands_run (void)
{
  submit_command ("in", -1, "cat");
  ck_assert (message_body_is (client_receive_type (client, IRIS_WIRE_RESULT), "in"));
  client_ack (client, 1);
}

TEST (an_item_whose_command_cannot_be_watched_fails)
{
  assert_commands_run ();
  ck_assert (g_file_set_contents (no_watches, "", 0, NULL));
  submit_command ("", -1, "true");
  assert_unwatched ();
  submit_command ("in", -1, "cat");
  assert_unwatched ();
  /* One that ignores signals, with another process in its group that does so too. */
  g_autofree char *gate = gate_new (irisd, "gate");
  int fd = open (gate, O_RDONLY | O_NONBLOCK | O_CLOEXEC);
  submit_command ("", -1, "sh", "-c", "trap '' TERM; exec 3> \"$0\"; sleep 1000 & sleep 1000",
                  gate);
  assert_unwatched ();
  /* The process that held the pipe has ended before the completion came. */
  char byte;
  ck_assert_int_eq (read (fd, &byte, 1), 0);
  close (fd);
  client_submit (client, "echo", "x", 1, IRIS_PLACE_ANY, FALSE);
  ck_assert (message_body_is (client_receive_type (client, IRIS_WIRE_RESULT), "x"));
  client_ack (client, 1);
  ck_assert_int_eq (g_unlink (no_watches), 0);
  assert_commands_run ();
}

/* A command is not watched while it has no credit, and watched again when it has some. */
TEST (a_command_that_cannot_be_watched_again_is_ended)
{
  for (guint i = 0; i < 2; i++)
    {
      guint64 id = submit_command ("", 2, "sh", "-c", i == 0 ? "exec yes" : "exec seq 2000");
      ck_assert_uint_eq (client_receive_type (client, IRIS_WIRE_OUTPUT)->body.size, 2);
      client_submit (client, "echo", "x", 1, IRIS_PLACE_ANY, FALSE);
      client_receive_type (client, IRIS_WIRE_RESULT);
      client_ack (client, 1);
      ck_assert (g_file_set_contents (no_watches, "", 0, NULL));
      assert_unwatched_again (id);
      ck_assert_int_eq (g_unlink (no_watches), 0);
      assert_commands_run ();
    }
}

TEST (what_cannot_be_watched_is_cancelled_all_the_same)
{
  ck_assert (g_file_set_contents (no_watches, "", 0, NULL));
  for (guint i = 0; i < 10; i++)
    {
      guint64 id = submit_command ("", -1, "sh", "-c", "trap '' TERM; sleep 1000");
      client_cancel (client, id);
      for (gboolean ended = FALSE; !ended;)
        {
          const IrisWireMessage *message = client_receive (client);
          ended = message->type == IRIS_WIRE_ERROR_REPLY && message->ends;
        }
      client_ack (client, 1);
    }
  ck_assert_int_eq (g_unlink (no_watches), 0);
  assert_commands_run ();
}

TEST_MAIN ("irisd-unwatched", set_up, tear_down)
