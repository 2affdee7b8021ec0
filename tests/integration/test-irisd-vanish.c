/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * Clients that disconnect while a command streams its output to them.
 */
#include "irisd-fixture.h"

typedef enum
{
  BY_BYE,
  BY_HELLO,
  BY_VANISHING,
  N_WAYS,
} Way;

static Irisd *irisd;
static Client *client;

static void
set_up (void)
{
  irisd = irisd_start ("[limits]\ncommands-per-place = 1\n", ONE_WORKER, NULL);
  client = client_hello (irisd->front);
}

static void
tear_down (void)
{
  client_free (client);
  irisd_finish (irisd);
}

static void
stream (const char *const *argv, guint64 credit)
{
  IrisWireMessage item;
  client_init_message (client, &item, IRIS_WIRE_SUBMIT);
  iris_wire_message_set_string (&item, IRIS_WIRE_KEY_SERVICE, "command", -1);
  iris_wire_message_set_boolean (&item, IRIS_WIRE_KEY_QUIET, TRUE);
  iris_wire_message_set_args (&item, argv);
  if (credit > 0)
    iris_wire_message_set_uint (&item, IRIS_WIRE_KEY_STREAM, credit);
  client_send (client, &item);
}

static void
go (Way way)
{
  if (way == BY_HELLO)
    {
      client_say_hello (client);
      return;
    }
  if (way == BY_BYE)
    {
      IrisWireMessage bye;
      client_init_message (client, &bye, IRIS_WIRE_BYE);
      client_send (client, &bye);
    }
  client_free (client);
  client = client_hello (irisd->front);
}

/* It writes nothing, so no write shows that its client has gone; its end frees the only slot. */
LOOP_TEST (a_streamed_command_ends_with_its_client, 0, N_WAYS)
{
  g_autofree char *gate = gate_new (irisd, "gate");
  stream ((const char *const[]){ "sh", "-c", "echo > \"$0\"; exec sleep 1000", gate, NULL }, 1000);
  close (gate_wait (gate));
  go ((Way) _i);
  client_submit_command (client, NULL, (const char *const[]){ "echo", "free", NULL });
  ck_assert (message_body_is (client_receive_completion (client), "free\n"));
  g_autoptr (IrisWireStatus) status = client_get_status (client);
  ck_assert_uint_eq (status->in_flight, 0);
}

/* Its output is not read before its end anyway. */
LOOP_TEST (a_command_that_is_not_streamed_goes_on, 0, N_WAYS)
{
  g_autofree char *gate = gate_new (irisd, "gate");
  g_autofree char *file = g_strdup_printf ("%s/done", irisd->dir);
  stream ((const char *const[]){ "sh", "-c", "echo > \"$0\"; cat \"$0\"; echo done > \"$1\"", gate,
                                 file, NULL },
          0);
  close (gate_wait (gate));
  go ((Way) _i);
  gate_open (gate);
  client_submit_command (client, NULL, (const char *const[]){ "cat", file, NULL });
  ck_assert (message_body_is (client_receive_completion (client), "done\n"));
}

TEST_MAIN ("irisd-vanish", set_up, tear_down)
