/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * irisd and the bridge to other nodes. The test is the bridge.
 */
#include "irisd-bridge-fixture.h"
#include "irisd-visitor.h"

#include <signal.h>
#include <sys/stat.h>
#include <unistd.h>

#define STRANGER 65533
#define SHORT    "[limits]\nlease-attempts = 1\n"
#define ADMIT    "[access]\nusers = 65533\n"

TEST (an_item_for_another_node_is_leased_to_the_bridge_with_its_submit)
{
  IrisWireMessage item;
  Lease lease;
  start (NULL);
  client_enroll (bridge, CLUSTER, 8);
  fill (&item, "b", IRIS_WIRE_CLASS_VOLATILE);
  iris_wire_message_set_boolean (&item, IRIS_WIRE_KEY_STRICT, TRUE);
  iris_wire_message_set_uint (&item, IRIS_WIRE_KEY_PRIORITY, 8);
  iris_wire_message_set_uint (&item, IRIS_WIRE_KEY_RETRIES, 4);
  const guint64 number = persistent_submit (client, &item);
  take_lease (&lease);
  ck_assert (is (&lease.submit.service, "echo"));
  ck_assert (is (&lease.submit.node, "b"));
  ck_assert (lease.submit.strict);
  ck_assert_uint_eq (lease.submit.priority, 8);
  ck_assert_uint_eq (lease.retries, 4);
  ck_assert_uint_eq (lease.item, number);
  ck_assert_uint_eq (lease.owner, geteuid ());
  say_done (&lease, "done");
  assert_done (client_receive (client));
}

TEST (the_own_node_makes_a_local_item)
{
  start (NULL);
  IrisWireMessage item;
  submit ("a", IRIS_WIRE_CLASS_VOLATILE);
  const IrisWireMessage *result = client_receive (client);
  ck_assert (message_body_is (result, "payload"));
  ck_assert (!iris_wire_message_has (result, IRIS_WIRE_KEY_NODE));
  fill (&item, NULL, IRIS_WIRE_CLASS_DURABLE);
  iris_wire_message_set_string (&item, IRIS_WIRE_KEY_HINT_NAME, "a/package:1", -1);
  persistent_submit (client, &item);
  result = client_receive (client);
  ck_assert_int_eq (result->home, 1);
  ck_assert (message_body_is (result, "payload"));
}

TEST (a_place_of_another_node_and_any_node_go_away)
{
  IrisWireMessage item;
  Lease lease;
  start (NULL);
  client_enroll (bridge, CLUSTER, 8);
  fill (&item, NULL, IRIS_WIRE_CLASS_RELAXED);
  iris_wire_message_set_string (&item, IRIS_WIRE_KEY_HINT_NAME, "c/l2:9", -1);
  persistent_submit (client, &item);
  take_lease (&lease);
  ck_assert (is (&lease.submit.node, "c"));
  ck_assert (is (&lease.submit.hint_name, "l2:9"));
  ck_assert (!iris_wire_message_has (&lease.submit, IRIS_WIRE_KEY_HINT));
  say_done (&lease, "done");
  assert_done (client_receive (client));

  fill (&item, NULL, IRIS_WIRE_CLASS_VOLATILE);
  iris_wire_message_set_boolean (&item, IRIS_WIRE_KEY_ANY_NODE, TRUE);
  persistent_submit (client, &item);
  take_lease (&lease);
  ck_assert (lease.submit.any_node);
  say_done (&lease, "done");
  assert_done (client_receive (client));
}

TEST (a_service_that_only_another_node_has_goes_there)
{
  IrisWireMessage item;
  Lease lease;
  start (NULL);
  client_enroll (bridge, CLUSTER, 8);
  fill (&item, NULL, IRIS_WIRE_CLASS_DURABLE);
  iris_wire_message_set_string (&item, IRIS_WIRE_KEY_SERVICE, "resize", -1);
  persistent_submit (client, &item);
  take_lease (&lease);
  ck_assert (is (&lease.submit.service, "resize"));
  ck_assert (lease.submit.any_node);
  say_done (&lease, "done");
  assert_done (client_receive (client));
  iris_wire_message_set_string (&item, IRIS_WIRE_KEY_SERVICE, "elsewhere", -1);
  message_set_id (&item, 77);
  assert_refused (&item, IRIS_WIRE_ERROR_UNKNOWN_SERVICE);
}

TEST (what_cannot_go_away_is_refused_by_name)
{
  IrisWireMessage item;
  g_setenv ("IRIS_TEST_REFUSAL", "the servers do not sync", TRUE);
  start (NULL);
  fill (&item, "nowhere", IRIS_WIRE_CLASS_VOLATILE);
  assert_refused (&item, IRIS_WIRE_ERROR_NO_SUCH_NODE);
  fill (&item, "b", IRIS_WIRE_CLASS_DURABLE);
  assert_refused (&item, IRIS_WIRE_ERROR_NOT_DURABLE);
  fill (&item, "b", IRIS_WIRE_CLASS_VOLATILE);
  iris_wire_message_set_boolean (&item, IRIS_WIRE_KEY_ANY_NODE, TRUE);
  assert_refused (&item, IRIS_WIRE_ERROR_BAD_ARGUMENT);
  fill (&item, "b", IRIS_WIRE_CLASS_VOLATILE);
  iris_wire_message_set_string (&item, IRIS_WIRE_KEY_HINT_NAME, "c/l2:0", -1);
  assert_refused (&item, IRIS_WIRE_ERROR_BAD_ARGUMENT);
  fill (&item, "b", IRIS_WIRE_CLASS_VOLATILE);
  iris_wire_message_set_uint (&item, IRIS_WIRE_KEY_NEAR_ITEM, 1);
  assert_refused (&item, IRIS_WIRE_ERROR_BAD_ARGUMENT);
  fill (&item, NULL, IRIS_WIRE_CLASS_VOLATILE);
  iris_wire_message_set_string (&item, IRIS_WIRE_KEY_SERVICE, CLUSTER, -1);
  assert_refused (&item, IRIS_WIRE_ERROR_NOT_PERMITTED);
}

TEST (only_the_bridge_serves_the_reserved_service_and_acts_for_others)
{
  IrisWireMessage item;
  start (NULL);
  client_send_ready (client, CLUSTER, 1);
  assert_error (client_receive (client), IRIS_WIRE_ERROR_NOT_PERMITTED);
  client_send_ready (bridge, "@other", 1);
  assert_error (client_receive (bridge), IRIS_WIRE_ERROR_NOT_PERMITTED);
  fill (&item, NULL, IRIS_WIRE_CLASS_VOLATILE);
  iris_wire_message_set_uint (&item, IRIS_WIRE_KEY_FOR_OWNER, 1);
  assert_refused (&item, IRIS_WIRE_ERROR_NOT_PERMITTED);
  fill (&item, NULL, IRIS_WIRE_CLASS_VOLATILE);
  iris_wire_message_set_cluster_item (&item, (const guint8 *) "0123456789abcdef");
  assert_refused (&item, IRIS_WIRE_ERROR_NOT_PERMITTED);
  client_init_message (client, &item, IRIS_WIRE_LIST);
  iris_wire_message_set_uint (&item, IRIS_WIRE_KEY_FOR_OWNER, 1);
  assert_refused (&item, IRIS_WIRE_ERROR_NOT_PERMITTED);
  /* The service is not told to clients. */
  const IrisWireMessage *reply = client_call (client, IRIS_WIRE_SERVICES, IRIS_WIRE_SERVICES_REPLY);
  ck_assert_ptr_null (memmem (reply->body.data, reply->body.size, CLUSTER, strlen (CLUSTER)));
}

static Visitor *
visit (void)
{
  g_autofree char *base = g_path_get_dirname (irisd->dir);
  ck_assert_int_eq (chmod (base, 0711), 0);
  return visitor_new (irisd, STRANGER, irisd->front);
}

TEST (another_user_is_no_bridge)
{
  start (ADMIT);
  if (geteuid () != 0)
    return;
  Visitor *visitor = visit ();
  IrisWireMessage hello, item;
  client_init_message (visitor->client, &hello, IRIS_WIRE_HELLO);
  iris_wire_message_set_uint (&hello, IRIS_WIRE_KEY_VERSION_MIN, 1);
  iris_wire_message_set_uint (&hello, IRIS_WIRE_KEY_VERSION_MAX, 1);
  iris_wire_message_set_uint (&hello, IRIS_WIRE_KEY_FEATURES, IRIS_WIRE_FEATURE_BRIDGE);
  client_send (visitor->client, &hello);
  const IrisWireMessage *welcome = client_receive_type (visitor->client, IRIS_WIRE_WELCOME);
  ck_assert_uint_eq (welcome->features, 0);
  client_send_ready (visitor->client, CLUSTER, 1);
  assert_error (client_receive (visitor->client), IRIS_WIRE_ERROR_NOT_PERMITTED);
  fill (&item, NULL, IRIS_WIRE_CLASS_VOLATILE);
  iris_wire_message_set_uint (&item, IRIS_WIRE_KEY_FOR_OWNER, geteuid ());
  client_send (visitor->client, &item);
  assert_error (client_receive (visitor->client), IRIS_WIRE_ERROR_NOT_PERMITTED);

  /* Its items go away as its own. */
  Lease lease;
  client_enroll (bridge, CLUSTER, 8);
  fill (&item, "b", IRIS_WIRE_CLASS_DURABLE);
  client_send (visitor->client, &item);
  client_receive_type (visitor->client, IRIS_WIRE_ACCEPTED);
  take_lease (&lease);
  ck_assert_uint_eq (lease.owner, STRANGER);
  say_done (&lease, "done");
  assert_done (client_receive (visitor->client));
  client_ack (visitor->client, 1);
  visitor_free (visitor);
}

TEST (a_durable_item_keeps_its_name_when_irisd_is_killed)
{
  Lease first, second;
  start (SHORT);
  client_enroll (bridge, CLUSTER, 8);
  const guint64 number = submit ("b", IRIS_WIRE_CLASS_DURABLE);
  take_lease (&first);
  hang_up ();
  irisd_kill (irisd);
  start (SHORT);
  client_enroll (bridge, CLUSTER, 8);
  take_lease (&second);
  ck_assert_mem_eq (second.cluster_item, first.cluster_item, sizeof first.cluster_item);
  ck_assert_uint_eq (second.item, number);
  ck_assert (is (&second.submit.node, "b"));
  ck_assert_uint_eq (persistent_get_state (client, number, 0), IRIS_WIRE_STATE_LEASED);
  say_done (&second, "done");
  const IrisWireMessage *result = persistent_fetch (client, number, GIVE_UP_MS);
  assert_done (result);
}

/* Two bridges in turn lose the item, although each item has one attempt only. */
TEST (an_item_outlives_its_bridges)
{
  Lease lease;
  start (SHORT);
  client_enroll (bridge, CLUSTER, 8);
  submit ("b", IRIS_WIRE_CLASS_VOLATILE);
  for (guint i = 1; i <= 3; i++)
    {
      take_lease (&lease);
      ck_assert_uint_eq (lease.attempt, i);
      if (i == 2)
        say_fail (&lease, 0, TRUE, 0);
      else if (i == 1)
        {
          Client *next = open_bridge (irisd->front);
          client_enroll (next, CLUSTER, 8);
          client_free (bridge);
          bridge = next;
        }
    }
  say_done (&lease, "done");
  assert_done (client_receive (client));
}

TEST (a_cancelled_item_is_stopped_at_the_bridge)
{
  Lease lease;
  start (NULL);
  client_enroll (bridge, CLUSTER, 8);
  const guint64 number = submit ("b", IRIS_WIRE_CLASS_DURABLE);
  take_lease (&lease);
  persistent_ask (client, IRIS_WIRE_CANCEL, number);
  const IrisWireMessage *stop = client_receive_type (bridge, IRIS_WIRE_STOP);
  ck_assert_uint_eq (stop->code, IRIS_WIRE_ERROR_CANCELLED);
  ck_assert_mem_eq (stop->request_id, lease.id, sizeof lease.id);
  say_fail (&lease, IRIS_WIRE_ERROR_CANCELLED, FALSE, 0);
  take_cancellation ();
}

TEST (an_end_has_the_error_and_the_exit_status_of_the_other_node)
{
  Lease lease;
  IrisWireMessage item, done;
  start (NULL);
  client_enroll (bridge, CLUSTER, 8);
  fill (&item, "b", IRIS_WIRE_CLASS_DURABLE);
  iris_wire_message_set_uint (&item, IRIS_WIRE_KEY_RETRIES, 5);
  persistent_submit (client, &item);
  take_lease (&lease);
  /* Not tried again here: the bridge has done that. */
  say_fail (&lease, IRIS_WIRE_ERROR_RAN_TOO_LONG, FALSE, 0);
  assert_error (client_receive (client), IRIS_WIRE_ERROR_RAN_TOO_LONG);

  client_init_message (client, &item, IRIS_WIRE_SUBMIT);
  iris_wire_message_set_string (&item, IRIS_WIRE_KEY_SERVICE, "command", -1);
  iris_wire_message_set_args (&item, (const char *const[]){ "make", NULL });
  iris_wire_message_set_string (&item, IRIS_WIRE_KEY_DIRECTORY, "/srv", -1);
  iris_wire_message_set_string (&item, IRIS_WIRE_KEY_NODE, "b", -1);
  iris_wire_message_set_body (&item, "payload", 7);
  persistent_submit (client, &item);
  take_lease (&lease);
  ck_assert (is (&lease.submit.directory, "/srv"));
  ck_assert_uint_eq (lease.submit.args.n, 1);
  iris_wire_message_init (&done, IRIS_WIRE_DONE, lease.id);
  iris_wire_message_set_int (&done, IRIS_WIRE_KEY_EXIT_STATUS, 2);
  iris_wire_message_set_uint (&done, IRIS_WIRE_KEY_STDOUT_LENGTH, 3);
  iris_wire_message_set_body (&done, "outerr", 6);
  client_send (bridge, &done);
  const IrisWireMessage *result = client_receive_type (client, IRIS_WIRE_RESULT);
  ck_assert_int_eq (result->exit_status, 2);
  ck_assert_uint_eq (result->stdout_length, 3);
}

TEST (a_failed_item_that_wants_it_is_buried)
{
  Lease lease;
  IrisWireMessage item;
  start (NULL);
  client_enroll (bridge, CLUSTER, 8);
  fill (&item, "b", IRIS_WIRE_CLASS_DURABLE);
  iris_wire_message_set_boolean (&item, IRIS_WIRE_KEY_BURY, TRUE);
  iris_wire_message_set_boolean (&item, IRIS_WIRE_KEY_DETACH, TRUE);
  const guint64 number = persistent_submit (client, &item);
  take_lease (&lease);
  say_fail (&lease, IRIS_WIRE_ERROR_SERVICE_FAILED, FALSE, 0);
  ck_assert_uint_eq (persistent_get_state (client, number, GIVE_UP_MS), IRIS_WIRE_STATE_BURIED);
  persistent_ask (client, IRIS_WIRE_KICK, number);
  client_receive_type (client, IRIS_WIRE_CHANGED);
  take_lease (&lease);
  ck_assert_uint_eq (lease.item, number);
  say_done (&lease, "done");
  assert_done (persistent_fetch (client, number, GIVE_UP_MS));
}

/* The cluster keeps the end under the name, and the item is to have another one. */
TEST (a_kicked_item_has_a_new_name_also_after_a_kill)
{
  Lease first, second, third;
  IrisWireMessage item;
  start (NULL);
  client_enroll (bridge, CLUSTER, 8);
  fill (&item, "b", IRIS_WIRE_CLASS_DURABLE);
  iris_wire_message_set_boolean (&item, IRIS_WIRE_KEY_BURY, TRUE);
  iris_wire_message_set_boolean (&item, IRIS_WIRE_KEY_DETACH, TRUE);
  const guint64 number = persistent_submit (client, &item);
  take_lease (&first);
  say_fail (&first, IRIS_WIRE_ERROR_SERVICE_FAILED, FALSE, 0);
  ck_assert_uint_eq (persistent_get_state (client, number, GIVE_UP_MS), IRIS_WIRE_STATE_BURIED);
  persistent_ask (client, IRIS_WIRE_KICK, number);
  client_receive_type (client, IRIS_WIRE_CHANGED);
  take_lease (&second);
  ck_assert_uint_eq (second.item, number);
  ck_assert_mem_ne (second.cluster_item, first.cluster_item, sizeof first.cluster_item);
  ck_assert (is (&second.submit.node, "b"));
  ck_assert (second.submit.bury);
  hang_up ();
  irisd_kill (irisd);
  start (NULL);
  client_enroll (bridge, CLUSTER, 8);
  take_lease (&third);
  ck_assert_uint_eq (third.item, number);
  ck_assert_mem_eq (third.cluster_item, second.cluster_item, sizeof second.cluster_item);
  say_done (&third, "done");
  assert_done (persistent_fetch (client, number, GIVE_UP_MS));
}

/* It waits as a delayed item does, so a kick sends it on. */
TEST (an_item_that_the_cluster_takes_later_waits)
{
  Lease lease;
  start (NULL);
  client_enroll (bridge, CLUSTER, 8);
  const guint64 number = submit ("b", IRIS_WIRE_CLASS_DURABLE);
  take_lease (&lease);
  say_fail (&lease, 0, TRUE, 1);
  take_lease (&lease);
  say_fail (&lease, 0, TRUE, 3600 * 1000);
  client_call (bridge, IRIS_WIRE_PING, IRIS_WIRE_PONG);
  while (persistent_get_state (client, number, 0) != IRIS_WIRE_STATE_DELAYED)
    ;
  persistent_ask (client, IRIS_WIRE_KICK, number);
  client_receive_type (client, IRIS_WIRE_CHANGED);
  take_lease (&lease);
  ck_assert_uint_eq (lease.item, number);
  say_done (&lease, "done");
  assert_done (client_receive (client));
}

TEST (a_put_off_item_can_be_cancelled_and_survives_a_kill)
{
  Lease lease;
  start (NULL);
  client_enroll (bridge, CLUSTER, 8);
  const guint64 volatile_one = submit ("b", IRIS_WIRE_CLASS_VOLATILE);
  take_lease (&lease);
  say_fail (&lease, 0, TRUE, 3600 * 1000);
  client_call (bridge, IRIS_WIRE_PING, IRIS_WIRE_PONG);
  persistent_ask (client, IRIS_WIRE_CANCEL, volatile_one);
  take_cancellation ();
  client_ack (client, 1);

  const guint64 number = submit ("b", IRIS_WIRE_CLASS_DURABLE);
  take_lease (&lease);
  say_fail (&lease, 0, TRUE, 3600 * 1000);
  client_call (bridge, IRIS_WIRE_PING, IRIS_WIRE_PONG);
  hang_up ();
  irisd_kill (irisd);
  start (NULL);
  client_enroll (bridge, CLUSTER, 8);
  take_lease (&lease);
  ck_assert_uint_eq (lease.item, number);
  say_done (&lease, "done");
  assert_done (persistent_fetch (client, number, GIVE_UP_MS));
}

TEST (reports_bring_progress_output_and_the_node)
{
  Lease lease;
  IrisWireMessage item, report;
  start (NULL);
  client_enroll (bridge, CLUSTER, 8);
  fill (&item, "b", IRIS_WIRE_CLASS_VOLATILE);
  iris_wire_message_set_boolean (&item, IRIS_WIRE_KEY_PROGRESS, TRUE);
  iris_wire_message_set_string (&item, IRIS_WIRE_KEY_SERVICE, "command", -1);
  iris_wire_message_set_uint (&item, IRIS_WIRE_KEY_STREAM, 5);
  persistent_submit (client, &item);
  take_lease (&lease);
  ck_assert_uint_eq (bridge->message.stream, 5);
  iris_wire_message_init (&report, IRIS_WIRE_REPORT, lease.id);
  iris_wire_message_set_uint (&report, IRIS_WIRE_KEY_FRACTION, 250000);
  client_send (bridge, &report);
  ck_assert_uint_eq (client_receive_type (client, IRIS_WIRE_PROGRESS)->fraction, 250000);
  iris_wire_message_init (&report, IRIS_WIRE_REPORT, lease.id);
  iris_wire_message_set_uint (&report, IRIS_WIRE_KEY_CHANNEL, IRIS_WIRE_CHANNEL_ERRORS);
  iris_wire_message_set_body (&report, "three", 5);
  client_send (bridge, &report);
  const IrisWireMessage *output = client_receive_type (client, IRIS_WIRE_OUTPUT);
  ck_assert_uint_eq (output->channel, IRIS_WIRE_CHANNEL_ERRORS);
  ck_assert (message_body_is (output, "three"));
  client_send (bridge, &report);
  assert_error (client_receive (bridge), IRIS_WIRE_ERROR_TOO_LARGE);
  client_grant (client, message_get_id (&item), 5);
  ck_assert_uint_eq (client_receive_type (bridge, IRIS_WIRE_PART)->parts, 5);
  say_done (&lease, "done");
  assert_done (client_receive (client));

  const guint64 number = submit ("b", IRIS_WIRE_CLASS_DURABLE);
  take_lease (&lease);
  iris_wire_message_init (&report, IRIS_WIRE_REPORT, lease.id);
  iris_wire_message_set_string (&report, IRIS_WIRE_KEY_NODE, "c", -1);
  client_send (bridge, &report);
  client_call (bridge, IRIS_WIRE_PING, IRIS_WIRE_PONG);
  g_autoptr (IrisWirePersistentList) list = persistent_list (client, 0, 10);
  ck_assert_uint_eq (list->n_items, 1);
  ck_assert_uint_eq (list->items[0].item, number);
  ck_assert_str_eq (list->items[0].node, "c");
  ck_assert_str_eq (list->items[0].message, "it runs at the node c");
  ck_assert_str_eq (list->items[0].service, "echo");
  say_done (&lease, "done");
  assert_done (client_receive (client));
}

static void
assert_shown (guint64 number, const char *node, const char *message)
{
  IrisWireMessage show;
  client_init_message (client, &show, IRIS_WIRE_SHOW);
  iris_wire_message_set_uint (&show, IRIS_WIRE_KEY_ITEM, number);
  client_send (client, &show);
  const IrisWireMessage *reply = client_receive_type (client, IRIS_WIRE_SHOW_REPLY);
  g_autoptr (IrisWirePersistentList)
      list = iris_wire_persistent_list_decode (reply->body, NULL, NULL);
  ck_assert_str_eq (list->items[0].node, node);
  ck_assert_str_eq (list->items[0].message, message);
}

TEST (an_item_that_waits_for_another_node_is_shown_with_it)
{
  IrisWireMessage item;
  Lease lease;
  start (NULL);
  fill (&item, NULL, IRIS_WIRE_CLASS_DURABLE);
  iris_wire_message_set_string (&item, IRIS_WIRE_KEY_HINT_NAME, "c/l2:9", -1);
  iris_wire_message_set_boolean (&item, IRIS_WIRE_KEY_STRICT, TRUE);
  const guint64 strict = persistent_submit (client, &item);
  assert_shown (strict, "c", "");
  client_enroll (bridge, CLUSTER, 1);
  take_lease (&lease);
  assert_shown (strict, "c", "it waits for the node c, place l2:9, or has just begun there");
  say_done (&lease, "done");
  assert_done (client_receive (client));
  assert_shown (strict, "", "");

  fill (&item, NULL, IRIS_WIRE_CLASS_RELAXED);
  iris_wire_message_set_boolean (&item, IRIS_WIRE_KEY_ANY_NODE, TRUE);
  const guint64 any = persistent_submit (client, &item);
  take_lease (&lease);
  assert_shown (any, "", "it waits for any node, or has just begun at one");
  say_done (&lease, "done");
  assert_done (client_receive (client));
}

TEST (no_more_items_than_max_away_are_taken)
{
  IrisWireMessage item;
  Lease lease;
  g_setenv ("IRIS_TEST_MAX_AWAY", "2", TRUE);
  start (NULL);
  submit ("b", IRIS_WIRE_CLASS_DURABLE);
  submit ("c", IRIS_WIRE_CLASS_VOLATILE);
  fill (&item, "b", IRIS_WIRE_CLASS_VOLATILE);
  client_send (client, &item);
  const IrisWireMessage *busy = client_receive_type (client, IRIS_WIRE_BUSY);
  ck_assert (is (&busy->limit, "max-away"));
  ck_assert_uint_eq (busy->limit_value, 2);
  client_enroll (bridge, CLUSTER, 1);
  for (guint i = 0; i < 2; i++)
    {
      take_lease (&lease);
      say_done (&lease, "done");
      assert_done (client_receive (client));
    }
  submit ("b", IRIS_WIRE_CLASS_VOLATILE);
  take_lease (&lease);
  say_done (&lease, "done");
  assert_done (client_receive (client));
}

TEST (an_item_away_is_submitted_again_under_a_new_name)
{
  Lease first, second;
  IrisWireMessage item;
  start (NULL);
  client_enroll (bridge, CLUSTER, 8);
  fill (&item, "b", IRIS_WIRE_CLASS_DURABLE);
  iris_wire_message_set_boolean (&item, IRIS_WIRE_KEY_DETACH, TRUE);
  iris_wire_message_set_uint (&item, IRIS_WIRE_KEY_KEEP_MS, 600000);
  const guint64 number = persistent_submit (client, &item);
  take_lease (&first);
  persistent_ask (client, IRIS_WIRE_AGAIN, number);
  const guint64 next = client_receive_type (client, IRIS_WIRE_ACCEPTED)->item;
  take_lease (&second);
  ck_assert_uint_eq (second.item, next);
  ck_assert_mem_ne (second.cluster_item, first.cluster_item, sizeof first.cluster_item);
  ck_assert (is (&second.submit.node, "b"));
  say_done (&second, "done");
  assert_done (persistent_fetch (client, next, GIVE_UP_MS));
}

/* The bridge asks for an operator of another node: without an owner. */
TEST (an_item_that_an_operator_elsewhere_submits_again_keeps_its_owner)
{
  IrisWireMessage item, again;
  start (ADMIT);
  if (geteuid () != 0)
    return;
  Visitor *visitor = visit ();
  client_say_hello (visitor->client);
  const guint64 number = persistent_submit_echo (visitor->client, "x", IRIS_WIRE_CLASS_DURABLE,
                                                 TRUE);
  persistent_get_state (visitor->client, number, GIVE_UP_MS);
  client_init_message (bridge, &again, IRIS_WIRE_AGAIN);
  iris_wire_message_set_uint (&again, IRIS_WIRE_KEY_ITEM, number);
  client_send (bridge, &again);
  const guint64 next = client_receive_type (bridge, IRIS_WIRE_ACCEPTED)->item;
  persistent_get_state (visitor->client, next, GIVE_UP_MS);
  g_autoptr (IrisWirePersistentList) list = persistent_list (client, 0, 10);
  ck_assert_uint_eq (list->n_items, 2);
  for (guint i = 0; i < list->n_items; i++)
    ck_assert_uint_eq (list->items[i].owner, STRANGER);
  /* Likewise for the owner, who reaches no other item. */
  client_init_message (bridge, &again, IRIS_WIRE_AGAIN);
  iris_wire_message_set_uint (&again, IRIS_WIRE_KEY_ITEM, number);
  iris_wire_message_set_uint (&again, IRIS_WIRE_KEY_FOR_OWNER, STRANGER);
  client_send (bridge, &again);
  client_receive_type (bridge, IRIS_WIRE_ACCEPTED);
  g_autoptr (IrisWirePersistentList) more = persistent_list (client, 0, 10);
  ck_assert_uint_eq (more->n_items, 3);
  for (guint i = 0; i < more->n_items; i++)
    ck_assert_uint_eq (more->items[i].owner, STRANGER);
  const guint64 mine = persistent_submit_echo (client, "mine", IRIS_WIRE_CLASS_DURABLE, TRUE);
  client_init_message (bridge, &item, IRIS_WIRE_AGAIN);
  iris_wire_message_set_uint (&item, IRIS_WIRE_KEY_ITEM, mine);
  iris_wire_message_set_uint (&item, IRIS_WIRE_KEY_FOR_OWNER, STRANGER);
  client_send (bridge, &item);
  assert_error (client_receive (bridge), IRIS_WIRE_ERROR_NO_SUCH_ITEM);
  visitor_free (visitor);
}

/* It has just begun and knows no nodes, but the items of before count. */
TEST (max_away_is_busy_also_before_the_cluster_is_known)
{
  IrisWireMessage item;
  Lease lease;
  g_setenv ("IRIS_TEST_MAX_AWAY", "1", TRUE);
  start (NULL);
  const guint64 number = submit ("b", IRIS_WIRE_CLASS_DURABLE);
  hang_up ();
  irisd_kill (irisd);
  g_setenv ("IRIS_TEST_NODES", "", TRUE);
  g_setenv ("IRIS_TEST_UNKNOWN", "1", TRUE);
  start (NULL);
  client_enroll (bridge, CLUSTER, 8);
  take_lease (&lease);
  fill (&item, "b", IRIS_WIRE_CLASS_VOLATILE);
  client_send (client, &item);
  const IrisWireMessage *busy = client_receive_type (client, IRIS_WIRE_BUSY);
  ck_assert (is (&busy->limit, "max-away"));
  say_done (&lease, "done");
  assert_done (persistent_fetch (client, number, GIVE_UP_MS));
  fill (&item, "b", IRIS_WIRE_CLASS_VOLATILE);
  assert_refused (&item, IRIS_WIRE_ERROR_BUSY);
}

/* --- items of other nodes --- */

/* The bridge submits `echo` for @owner. */
static void
submit_for (guint64 owner, const char *service, IrisWireMessage *item)
{
  client_init_message (bridge, item, IRIS_WIRE_SUBMIT);
  iris_wire_message_set_string (item, IRIS_WIRE_KEY_SERVICE, service, -1);
  iris_wire_message_set_uint (item, IRIS_WIRE_KEY_FOR_OWNER, owner);
  iris_wire_message_set_cluster_item (item, (const guint8 *) "0123456789abcdef");
  iris_wire_message_set_string (item, IRIS_WIRE_KEY_NODE, "a", -1);
  iris_wire_message_set_args (item, (const char *const[]){ "true", NULL });
  iris_wire_message_set_body (item, "payload", 7);
  client_send (bridge, item);
}

TEST (an_item_of_another_node_runs_with_the_rights_of_its_owner)
{
  IrisWireMessage item;
  start ("[access]\nusers = 65533\ncommands =\n");
  submit_for (STRANGER, "echo", &item);
  client_receive_type (bridge, IRIS_WIRE_ACCEPTED);
  ck_assert (message_body_is (client_receive_type (bridge, IRIS_WIRE_RESULT), "payload"));
  /* Not admitted here. */
  submit_for (STRANGER - 1, "echo", &item);
  assert_error (client_receive (bridge), IRIS_WIRE_ERROR_NOT_PERMITTED);
  /* Admitted, but not for commands. */
  submit_for (STRANGER, "command", &item);
  assert_error (client_receive (bridge), IRIS_WIRE_ERROR_NOT_PERMITTED);
  /* A guest. */
  submit_for (G_MAXUINT64 - 5, "command", &item);
  assert_error (client_receive (bridge), IRIS_WIRE_ERROR_NOT_PERMITTED);
  submit_for (G_MAXUINT64 - 5, "echo", &item);
  client_receive_type (bridge, IRIS_WIRE_ACCEPTED);
  client_receive_type (bridge, IRIS_WIRE_RESULT);
  /* A key that this node does not have. */
  submit_for (G_GUINT64_CONSTANT (1) << 33, "echo", &item);
  assert_error (client_receive (bridge), IRIS_WIRE_ERROR_NOT_PERMITTED);
  /* It is recorded at home. */
  client_init_message (bridge, &item, IRIS_WIRE_SUBMIT);
  iris_wire_message_set_string (&item, IRIS_WIRE_KEY_SERVICE, "echo", -1);
  iris_wire_message_set_uint (&item, IRIS_WIRE_KEY_FOR_OWNER, STRANGER);
  iris_wire_message_set_uint (&item, IRIS_WIRE_KEY_CLASS, IRIS_WIRE_CLASS_DURABLE);
  client_send (bridge, &item);
  assert_error (client_receive (bridge), IRIS_WIRE_ERROR_BAD_ARGUMENT);
  /* Afterwards the bridge is itself again: an operator. */
  client_init_message (bridge, &item, IRIS_WIRE_SUBMIT);
  iris_wire_message_set_string (&item, IRIS_WIRE_KEY_SERVICE, "echo", -1);
  client_send (bridge, &item);
  client_receive_type (bridge, IRIS_WIRE_ACCEPTED);
  client_receive_type (bridge, IRIS_WIRE_RESULT);
}

TEST (an_item_of_another_node_belongs_to_its_owner)
{
  IrisWireMessage item;
  start (ADMIT);
  if (geteuid () != 0)
    return;
  Visitor *visitor = visit ();
  client_say_hello (visitor->client);
  client_init_message (bridge, &item, IRIS_WIRE_SUBMIT);
  iris_wire_message_set_string (&item, IRIS_WIRE_KEY_SERVICE, "echo", -1);
  iris_wire_message_set_uint (&item, IRIS_WIRE_KEY_FOR_OWNER, STRANGER);
  iris_wire_message_set_uint (&item, IRIS_WIRE_KEY_DELAY_MS, 3600 * 1000);
  client_send (bridge, &item);
  const guint64 number = client_receive_type (bridge, IRIS_WIRE_ACCEPTED)->item;
  persistent_ask (visitor->client, IRIS_WIRE_CANCEL, number);
  client_receive_type (visitor->client, IRIS_WIRE_CANCELLING);
  assert_error (client_receive (bridge), IRIS_WIRE_ERROR_CANCELLED);
  client_ack (bridge, 1);

  /* Its requests reach what a connection of the owner reaches. */
  const guint64 mine = persistent_submit_echo (client, "mine", IRIS_WIRE_CLASS_DURABLE, TRUE);
  IrisWireMessage show;
  client_init_message (bridge, &show, IRIS_WIRE_SHOW);
  iris_wire_message_set_uint (&show, IRIS_WIRE_KEY_ITEM, mine);
  iris_wire_message_set_uint (&show, IRIS_WIRE_KEY_FOR_OWNER, STRANGER);
  client_send (bridge, &show);
  assert_error (client_receive (bridge), IRIS_WIRE_ERROR_NO_SUCH_ITEM);
  client_init_message (bridge, &show, IRIS_WIRE_SHOW);
  iris_wire_message_set_uint (&show, IRIS_WIRE_KEY_ITEM, mine);
  client_send (bridge, &show);
  client_receive_type (bridge, IRIS_WIRE_SHOW_REPLY);
  visitor_free (visitor);
}

/* Each owner has turns of its own, so one of many clients' limits is not the bridge's. */
TEST (limits_count_for_the_owner)
{
  IrisWireMessage item;
  start ("[access]\nusers = 65533;65532\n[client]\nitems = 1\n");
  for (guint64 owner = STRANGER; owner > STRANGER - 2; owner--)
    {
      client_init_message (bridge, &item, IRIS_WIRE_SUBMIT);
      iris_wire_message_set_string (&item, IRIS_WIRE_KEY_SERVICE, "echo", -1);
      iris_wire_message_set_uint (&item, IRIS_WIRE_KEY_FOR_OWNER, owner);
      iris_wire_message_set_uint (&item, IRIS_WIRE_KEY_DELAY_MS, 3600 * 1000);
      client_send (bridge, &item);
      client_receive_type (bridge, IRIS_WIRE_ACCEPTED);
      message_set_id (&item, 1000 + owner);
      client_send (bridge, &item);
      const IrisWireMessage *busy = client_receive_type (bridge, IRIS_WIRE_BUSY);
      ck_assert (is (&busy->limit, "client-items"));
    }
}

/* --- requests about other nodes --- */

static void
send_list (const char *node)
{
  IrisWireMessage list;
  client_init_message (client, &list, IRIS_WIRE_LIST);
  iris_wire_message_set_string (&list, IRIS_WIRE_KEY_NODE, node, -1);
  iris_wire_message_set_uint (&list, IRIS_WIRE_KEY_COUNT, 7);
  client_send (client, &list);
}

TEST (a_request_about_another_node_is_passed_to_the_bridge_and_back)
{
  IrisWireMessage answer;
  start (NULL);
  send_list ("nowhere");
  assert_error (client_receive (client), IRIS_WIRE_ERROR_NO_SUCH_NODE);
  send_list ("b");
  assert_error (client_receive (client), IRIS_WIRE_ERROR_NODE_AWAY);
  send_list ("a");
  client_receive_type (client, IRIS_WIRE_LIST_REPLY);

  client_enroll (bridge, CLUSTER, 0);
  send_list ("b");
  const guint64 asked = client->next_id;
  const IrisWireMessage *ask = client_receive_type (bridge, IRIS_WIRE_ASK);
  ck_assert (is (&ask->node, "b"));
  ck_assert_uint_eq (ask->asked, IRIS_WIRE_LIST);
  ck_assert_uint_eq (ask->header.len, 3); /* {50: 7} */
  ck_assert (!iris_wire_message_has (ask, IRIS_WIRE_KEY_FOR_OWNER));
  iris_wire_message_init (&answer, IRIS_WIRE_ANSWER, ask->request_id);
  iris_wire_message_set_uint (&answer, IRIS_WIRE_KEY_TYPE, IRIS_WIRE_LIST_REPLY);
  iris_wire_message_set_string (&answer, IRIS_WIRE_KEY_HEADER, "\x81\x3f\x09", 3);
  iris_wire_message_set_body (&answer, "\x90", 1);
  client_send (bridge, &answer);
  const IrisWireMessage *reply = client_receive_type (client, IRIS_WIRE_LIST_REPLY);
  ck_assert_uint_eq (message_get_id (reply), asked);
  ck_assert_uint_eq (reply->item, 9);

  /* An end is acknowledged as any other. */
  persistent_ask (client, IRIS_WIRE_FETCH, 9);
  client_receive (client);
  IrisWireMessage fetch;
  client_init_message (client, &fetch, IRIS_WIRE_FETCH);
  iris_wire_message_set_uint (&fetch, IRIS_WIRE_KEY_ITEM, 9);
  iris_wire_message_set_string (&fetch, IRIS_WIRE_KEY_NODE, "c", -1);
  client_send (client, &fetch);
  ask = client_receive_type (bridge, IRIS_WIRE_ASK);
  iris_wire_message_init (&answer, IRIS_WIRE_ANSWER, ask->request_id);
  iris_wire_message_set_uint (&answer, IRIS_WIRE_KEY_TYPE, IRIS_WIRE_RESULT);
  iris_wire_message_set_string (&answer, IRIS_WIRE_KEY_HEADER, "\x80", 1);
  iris_wire_message_set_body (&answer, "result", 6);
  client_send (bridge, &answer);
  ck_assert (message_body_is (client_receive_type (client, IRIS_WIRE_RESULT), "result"));
  client_ack (client, 1);
  client_call (client, IRIS_WIRE_PING, IRIS_WIRE_PONG);
}

TEST (requests_are_refused_when_the_bridge_goes)
{
  start (NULL);
  client_enroll (bridge, CLUSTER, 0);
  send_list ("b");
  client_receive_type (bridge, IRIS_WIRE_ASK);
  g_clear_pointer (&bridge, client_free);
  assert_error (client_receive (client), IRIS_WIRE_ERROR_NODE_AWAY);
}

/* A stop does not wait for another node, and the item stays. */
TEST (a_stopped_irisd_leaves_its_items_to_the_next_one)
{
  Lease first, second;
  start (NULL);
  client_enroll (bridge, CLUSTER, 8);
  IrisWireMessage item;
  fill (&item, "b", IRIS_WIRE_CLASS_DURABLE);
  iris_wire_message_set_boolean (&item, IRIS_WIRE_KEY_DETACH, TRUE);
  const guint64 number = persistent_submit (client, &item);
  take_lease (&first);
  irisd_signal (irisd, SIGTERM);
  const IrisWireMessage *stop = client_receive_type (bridge, IRIS_WIRE_STOP);
  while (memcmp (stop->request_id, first.id, sizeof first.id) != 0)
    stop = client_receive_type (bridge, IRIS_WIRE_STOP);
  ck_assert_uint_eq (stop->code, IRIS_WIRE_ERROR_SHUTTING_DOWN);
  hang_up ();
  ck_assert_int_eq (irisd_wait (irisd), 0);
  irisd_release (irisd);
  start (NULL);
  client_enroll (bridge, CLUSTER, 8);
  take_lease (&second);
  ck_assert_uint_eq (second.item, number);
  ck_assert_mem_eq (second.cluster_item, first.cluster_item, sizeof first.cluster_item);
  say_done (&second, "done");
  assert_done (persistent_fetch (client, number, GIVE_UP_MS));
}

int
main (int argc, char **argv)
{
  if (argc > 1 && strcmp (argv[1], "visit") == 0)
    return visitor_main (argv + 1);
  return core_test_run_all ("irisd-bridge", set_up, tear_down);
}
