/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * Schedules whose runs go to other nodes.
 */
#include "irisd-bridge-fixture.h"

#include <unistd.h>

#define SHORT   "[limits]\nlease-attempts = 1\n"
#define HOUR_MS (3600 * 1000)

/* The schedule `s` of @item. */
static void
fill_schedule (IrisWireMessage *request,
               IrisWireBatchBuilder *builder,
               guint every_ms,
               IrisWireMessage *item)
{
  iris_wire_batch_builder_init (builder, NULL);
  ck_assert (iris_wire_batch_builder_add (builder, item, NULL));
  IrisWireFrame body = iris_wire_batch_builder_get_body (builder);
  client_init_message (client, request, IRIS_WIRE_SCHEDULE);
  iris_wire_message_set_string (request, IRIS_WIRE_KEY_SCHEDULE, "s", -1);
  iris_wire_message_set_uint (request, IRIS_WIRE_KEY_EVERY_MS, every_ms);
  iris_wire_message_set_body (request, body.data, body.size);
}

static void
set_schedule (IrisWireMessage *item, guint every_ms, guint overlap, guint missed)
{
  IrisWireBatchBuilder builder;
  IrisWireMessage request;
  fill_schedule (&request, &builder, every_ms, item);
  iris_wire_message_set_uint (&request, IRIS_WIRE_KEY_OVERLAP, overlap);
  iris_wire_message_set_uint (&request, IRIS_WIRE_KEY_MISSED, missed);
  client_send (client, &request);
  client_receive_type (client, IRIS_WIRE_CHANGED);
  iris_wire_batch_builder_clear (&builder);
}

static void
assert_schedule_refused (IrisWireMessage *item, IrisWireError code)
{
  IrisWireBatchBuilder builder;
  IrisWireMessage request;
  fill_schedule (&request, &builder, HOUR_MS, item);
  assert_refused (&request, code);
  iris_wire_batch_builder_clear (&builder);
}

/* The only schedule. */
static IrisWireSchedules *
get_schedule (void)
{
  IrisWireMessage request;
  client_init_message (client, &request, IRIS_WIRE_SCHEDULES);
  client_send (client, &request);
  const IrisWireMessage *reply = client_receive_type (client, IRIS_WIRE_SCHEDULES_REPLY);
  IrisWireSchedules *found = iris_wire_schedules_decode (reply->body, NULL, NULL);
  ck_assert_ptr_nonnull (found);
  ck_assert_uint_eq (found->n_schedules, 1);
  return found;
}

static void
await_end_of_run (guint64 item, IrisWireState state)
{
  IrisWireState now = 0;
  while (now == 0)
    {
      g_autoptr (IrisWireSchedules) found = get_schedule ();
      ck_assert_uint_eq (found->schedules[0].item, item);
      now = (IrisWireState) found->schedules[0].state;
    }
  ck_assert_uint_eq (now, state);
}

static void
pause_schedule (void)
{
  IrisWireMessage request;
  client_init_message (client, &request, IRIS_WIRE_SCHEDULE);
  iris_wire_message_set_string (&request, IRIS_WIRE_KEY_SCHEDULE, "s", -1);
  iris_wire_message_set_boolean (&request, IRIS_WIRE_KEY_SUSPENDED, TRUE);
  client_send (client, &request);
  client_receive_type (client, IRIS_WIRE_CHANGED);
}

static void
run_schedule_now (void)
{
  IrisWireMessage request;
  client_init_message (client, &request, IRIS_WIRE_SCHEDULE);
  iris_wire_message_set_string (&request, IRIS_WIRE_KEY_SCHEDULE, "s", -1);
  iris_wire_message_set_uint (&request, IRIS_WIRE_KEY_COUNT, 1);
  client_send (client, &request);
}

TEST (runs_of_a_schedule_go_to_its_node_and_their_ends_come_back)
{
  IrisWireMessage item;
  Lease first, second;
  start (NULL);
  client_enroll (bridge, CLUSTER, 8);
  fill (&item, "b", IRIS_WIRE_CLASS_DURABLE);
  iris_wire_message_set_boolean (&item, IRIS_WIRE_KEY_STRICT, TRUE);
  set_schedule (&item, 1000, IRIS_WIRE_OVERLAP_QUEUE, IRIS_WIRE_MISSED_ONE);
  take_lease (&first);
  ck_assert (is (&first.submit.node, "b"));
  ck_assert (first.submit.strict);
  ck_assert_uint_eq (first.owner, (guint64) getuid ());
  ck_assert (first.submit.key.len > 11 && memcmp (first.submit.key.data, "schedule/s/", 11) == 0);
  {
    g_autoptr (IrisWireSchedules) found = get_schedule ();
    ck_assert_str_eq (found->schedules[0].node, "b");
    ck_assert (found->schedules[0].strict);
    ck_assert (!found->schedules[0].any_node);
    ck_assert_uint_eq (found->schedules[0].item, first.item);
    ck_assert_uint_eq (found->schedules[0].state, 0);
  }
  /* The next one waits for the end of this one. */
  say_done (&first, "done");
  assert_done (persistent_fetch (client, first.item, GIVE_UP_MS));
  take_lease (&second);
  ck_assert_uint_ne (second.item, first.item);
  ck_assert_mem_ne (second.cluster_item, first.cluster_item, sizeof first.cluster_item);
  pause_schedule ();
  say_fail (&second, IRIS_WIRE_ERROR_SERVICE_FAILED, FALSE, 0);
  await_end_of_run (second.item, IRIS_WIRE_STATE_FAILED);
}

TEST (a_run_that_is_elsewhere_is_the_last_one_also_when_irisd_is_killed)
{
  IrisWireMessage item;
  Lease first, second;
  start (SHORT);
  client_enroll (bridge, CLUSTER, 8);
  fill (&item, NULL, IRIS_WIRE_CLASS_DURABLE);
  iris_wire_message_set_boolean (&item, IRIS_WIRE_KEY_ANY_NODE, TRUE);
  set_schedule (&item, HOUR_MS, IRIS_WIRE_OVERLAP_SKIP, IRIS_WIRE_MISSED_ONE);
  run_schedule_now ();
  client_receive_type (client, IRIS_WIRE_CHANGED);
  take_lease (&first);
  ck_assert (first.submit.any_node);
  hang_up ();
  irisd_kill (irisd);
  start (SHORT);
  client_enroll (bridge, CLUSTER, 8);
  take_lease (&second);
  ck_assert_uint_eq (second.item, first.item);
  ck_assert_mem_eq (second.cluster_item, first.cluster_item, sizeof first.cluster_item);
  {
    g_autoptr (IrisWireSchedules) found = get_schedule ();
    ck_assert (found->schedules[0].any_node);
    ck_assert_str_eq (found->schedules[0].node, "");
    ck_assert_uint_eq (found->schedules[0].item, first.item);
    ck_assert_uint_eq (found->schedules[0].state, 0);
    ck_assert_uint_eq (found->schedules[0].runs, 1);
  }
  say_done (&second, "done");
  await_end_of_run (first.item, IRIS_WIRE_STATE_DONE);
}

TEST (a_schedule_names_a_place_of_a_node_the_own_node_or_a_service_of_others)
{
  IrisWireMessage item;
  Lease lease;
  start (NULL);
  client_enroll (bridge, CLUSTER, 8);
  fill (&item, NULL, IRIS_WIRE_CLASS_DURABLE);
  iris_wire_message_set_string (&item, IRIS_WIRE_KEY_HINT_NAME, "b/left", -1);
  set_schedule (&item, HOUR_MS, IRIS_WIRE_OVERLAP_ALLOW, IRIS_WIRE_MISSED_ONE);
  {
    g_autoptr (IrisWireSchedules) found = get_schedule ();
    ck_assert_str_eq (found->schedules[0].node, "b");
    ck_assert_str_eq (found->schedules[0].place, "left");
  }
  run_schedule_now ();
  client_receive_type (client, IRIS_WIRE_CHANGED);
  take_lease (&lease);
  ck_assert (is (&lease.submit.node, "b"));
  ck_assert (is (&lease.submit.hint_name, "left"));
  say_done (&lease, "done");

  /* An item in place of the last one: here, and then where only another node has its service. */
  fill (&item, "a", IRIS_WIRE_CLASS_DURABLE);
  set_schedule (&item, HOUR_MS, IRIS_WIRE_OVERLAP_ALLOW, IRIS_WIRE_MISSED_ONE);
  run_schedule_now ();
  client_receive_type (client, IRIS_WIRE_CHANGED);
  {
    g_autoptr (IrisWireSchedules) found = get_schedule ();
    ck_assert_str_eq (found->schedules[0].node, "a");
    ck_assert_uint_eq (found->schedules[0].runs, 2);
    persistent_assert_result (client, found->schedules[0].item, "payload");
  }
  fill (&item, NULL, IRIS_WIRE_CLASS_DURABLE);
  iris_wire_message_set_string (&item, IRIS_WIRE_KEY_SERVICE, "resize", -1);
  set_schedule (&item, HOUR_MS, IRIS_WIRE_OVERLAP_ALLOW, IRIS_WIRE_MISSED_ONE);
  run_schedule_now ();
  client_receive_type (client, IRIS_WIRE_CHANGED);
  take_lease (&lease);
  ck_assert (is (&lease.submit.service, "resize"));
  say_done (&lease, "done");
  await_end_of_run (lease.item, IRIS_WIRE_STATE_DONE);
}

TEST (what_cannot_go_away_is_refused_when_the_schedule_is_made)
{
  IrisWireMessage item;
  start (NULL);
  fill (&item, "nowhere", IRIS_WIRE_CLASS_DURABLE);
  assert_schedule_refused (&item, IRIS_WIRE_ERROR_NO_SUCH_NODE);
  fill (&item, "b", IRIS_WIRE_CLASS_DURABLE);
  iris_wire_message_set_boolean (&item, IRIS_WIRE_KEY_ANY_NODE, TRUE);
  assert_schedule_refused (&item, IRIS_WIRE_ERROR_BAD_ARGUMENT);
  fill (&item, NULL, IRIS_WIRE_CLASS_DURABLE);
  iris_wire_message_set_string (&item, IRIS_WIRE_KEY_SERVICE, "nothing", -1);
  assert_schedule_refused (&item, IRIS_WIRE_ERROR_UNKNOWN_SERVICE);
  hang_up ();
  irisd_kill (irisd);
  g_setenv ("IRIS_TEST_REFUSAL", "the servers do not sync", TRUE);
  start (NULL);
  fill (&item, "b", IRIS_WIRE_CLASS_DURABLE);
  assert_schedule_refused (&item, IRIS_WIRE_ERROR_NOT_DURABLE);
}

/* The spool has room for one. Returns what irisd has counted by then. */
static guint64
overfill (guint missed, Lease *first)
{
  IrisWireMessage item;
  g_setenv ("IRIS_TEST_MAX_AWAY", "1", TRUE);
  start (NULL);
  client_enroll (bridge, CLUSTER, 8);
  fill (&item, "b", IRIS_WIRE_CLASS_DURABLE);
  set_schedule (&item, 1000, IRIS_WIRE_OVERLAP_ALLOW, missed);
  take_lease (first);
  run_schedule_now ();
  assert_error (client_receive (client), IRIS_WIRE_ERROR_BUSY);
  g_autoptr (IrisWireSchedules) found = get_schedule ();
  ck_assert_uint_eq (found->schedules[0].runs, 1);
  return found->schedules[0].skipped;
}

TEST (runs_beyond_max_away_are_missed_and_left_out)
{
  Lease first, next;
  guint64 skipped = overfill (IRIS_WIRE_MISSED_SKIP, &first);
  while (skipped < 2)
    {
      g_autoptr (IrisWireSchedules) found = get_schedule ();
      skipped = found->schedules[0].skipped;
      ck_assert_uint_eq (found->schedules[0].runs, 1);
    }
  say_done (&first, "done");
  take_lease (&next);
  ck_assert_uint_ne (next.item, first.item);
}

TEST (runs_beyond_max_away_are_missed_and_made_up_for_by_one)
{
  Lease first, next;
  overfill (IRIS_WIRE_MISSED_ONE, &first);
  /* It is overdue by more than two runs. */
  g_autoptr (IrisWireSchedules) found = get_schedule ();
  const guint64 due_ms = found->schedules[0].next_ms;
  while ((guint64) g_get_real_time () / 1000 < due_ms + 2500)
    {
      g_autoptr (IrisWireSchedules) now = get_schedule ();
      ck_assert_uint_eq (now->schedules[0].runs, 1);
      ck_assert_uint_eq (now->schedules[0].next_ms, due_ms);
    }
  say_done (&first, "done");
  take_lease (&next);
  g_autoptr (IrisWireSchedules) after = get_schedule ();
  ck_assert_uint_eq (after->schedules[0].runs, 2);
  ck_assert_uint_gt (after->schedules[0].next_ms, due_ms + 2000);
}

TEST_MAIN ("irisd-bridge-schedules", set_up, tear_down)
