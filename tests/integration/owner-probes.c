/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * Probes: each request, aimed at items of another user.
 */
#include "owner-probes.h"

Visitor *
owner_visit (Irisd *irisd, uid_t uid, const char *endpoint)
{
  Visitor *visitor = visitor_new (irisd, uid, endpoint);
  client_say_hello (visitor->client);
  return visitor;
}

/* --- the owner's things --------------------------------------------------------------------------
 */

/* An item that waits, for an hour. */
static guint64
submit_waiting (Client *client, const char *key)
{
  IrisWireMessage item;
  persistent_fill (client, &item, "echo", "secret", IRIS_WIRE_CLASS_DURABLE);
  iris_wire_message_set_boolean (&item, IRIS_WIRE_KEY_DETACH, TRUE);
  iris_wire_message_set_uint (&item, IRIS_WIRE_KEY_DELAY_MS, 3600 * 1000);
  if (key != NULL)
    iris_wire_message_set_string (&item, IRIS_WIRE_KEY_KEY, key, -1);
  return persistent_submit (client, &item);
}

static guint64
submit_ended (Client *client)
{
  guint64 item = persistent_submit_echo (client, "secret", IRIS_WIRE_CLASS_DURABLE, TRUE);
  ck_assert_uint_eq (persistent_get_state (client, item, GIVE_UP_MS), IRIS_WIRE_STATE_DONE);
  return item;
}

void
owner_say_bye (Client *client)
{
  IrisWireMessage bye;
  client_init_message (client, &bye, IRIS_WIRE_BYE);
  client_send (client, &bye);
}

/* --- answers -------------------------------------------------------------------------------------
 */

/* The error for a number that never existed, which hidden items get too. */
static char *
normalise (const IrisWireString *reason, guint64 item)
{
  g_autofree char *text = iris_wire_string_dup (reason);
  g_autofree char *number = g_strdup_printf ("%" G_GUINT64_FORMAT, item);
  g_auto (GStrv) parts = g_strsplit (text, number, -1);
  return g_strjoinv ("N", parts);
}

/* Sends a request that names an item; for an error, once more with a number that never existed. */
static char
judge (Scene *scene, void (*send) (Client *client, guint64 item), guint64 item)
{
  static const guint64 nowhere = G_GUINT64_CONSTANT (987654321987);
  send (scene->caller, item);
  const IrisWireMessage *reply = client_receive (scene->caller);
  if (reply->type != IRIS_WIRE_ERROR_REPLY)
    return REACHED;
  if (reply->code == IRIS_WIRE_ERROR_NOT_PERMITTED)
    return REFUSED;
  guint32 code = reply->code;
  g_autofree char *reason = normalise (&reply->message, item);
  send (scene->caller, nowhere);
  reply = client_receive_type (scene->caller, IRIS_WIRE_ERROR_REPLY);
  g_autofree char *same = normalise (&reply->message, nowhere);
  ck_assert_uint_eq (reply->code, code);
  ck_assert_str_eq (same, reason);
  return HIDDEN;
}

static char
take_plain (Client *client, IrisWireType type, IrisWireType answer)
{
  client_call (client, type, answer);
  return REACHED;
}

/* --- one probe for each request ------------------------------------------------------------------
 */

static char
probe_hello (Scene *scene)
{
  client_say_hello (scene->caller);
  return REACHED;
}

static char
probe_ping (Scene *scene)
{
  return take_plain (scene->caller, IRIS_WIRE_PING, IRIS_WIRE_PONG);
}

static char
probe_map (Scene *scene)
{
  return take_plain (scene->caller, IRIS_WIRE_MAP, IRIS_WIRE_MAP_REPLY);
}

static char
probe_status (Scene *scene)
{
  return take_plain (scene->caller, IRIS_WIRE_STATUS, IRIS_WIRE_STATUS_REPLY);
}

static char
probe_statistics (Scene *scene)
{
  return take_plain (scene->caller, IRIS_WIRE_STATISTICS, IRIS_WIRE_STATISTICS_REPLY);
}

static char
probe_trace (Scene *scene)
{
  IrisWireMessage request;
  client_init_message (scene->caller, &request, IRIS_WIRE_TRACE);
  iris_wire_message_set_uint (&request, IRIS_WIRE_KEY_WAIT_MS, 1);
  client_send (scene->caller, &request);
  const IrisWireMessage *reply = client_receive (scene->caller);
  if (reply->type == IRIS_WIRE_ERROR_REPLY)
    {
      assert_error (reply, IRIS_WIRE_ERROR_NOT_PERMITTED);
      return REFUSED;
    }
  while (!reply->ends)
    reply = client_receive_type (scene->caller, IRIS_WIRE_TRACE_REPLY);
  return REACHED;
}

static char
probe_spans (Scene *scene)
{
  IrisWireMessage request;
  client_init_message (scene->caller, &request, IRIS_WIRE_SPANS);
  client_send (scene->caller, &request);
  const IrisWireMessage *reply = client_receive (scene->caller);
  if (reply->type == IRIS_WIRE_SPANS_REPLY)
    return REACHED;
  assert_error (reply, IRIS_WIRE_ERROR_NOT_PERMITTED);
  return REFUSED;
}

static char
probe_bye (Scene *scene)
{
  guint64 item = submit_waiting (scene->client, NULL);
  owner_say_bye (scene->caller);
  client_say_hello (scene->caller);
  ck_assert_uint_eq (persistent_get_state (scene->client, item, 0), IRIS_WIRE_STATE_DELAYED);
  return REACHED;
}

/* Whether a service or a worker process of the owner alone is listed. */
static char
look_for_service (Scene *scene, IrisWireType type, IrisWireType answer)
{
  g_autofree char *name = g_strdup_printf ("mine-%u", scene->serial);
  Visitor *worker = owner_visit (scene->irisd, OWNER, scene->irisd->front);
  client_send_ready (worker->client, name, 1);
  client_receive_type (worker->client, IRIS_WIRE_ENROLLED);
  const IrisWireMessage *reply = client_call (scene->caller, type, answer);
  gboolean there = memmem (reply->body.data, reply->body.size, name, strlen (name)) != NULL;
  visitor_free (worker);
  return there ? REACHED : HIDDEN;
}

static char
probe_services (Scene *scene)
{
  return look_for_service (scene, IRIS_WIRE_SERVICES, IRIS_WIRE_SERVICES_REPLY);
}

static char
probe_workers (Scene *scene)
{
  return look_for_service (scene, IRIS_WIRE_WORKERS, IRIS_WIRE_WORKERS_REPLY);
}

static void
send_after (Client *client, guint64 item)
{
  IrisWireMessage request;
  client_init_message (client, &request, IRIS_WIRE_SUBMIT);
  iris_wire_message_set_string (&request, IRIS_WIRE_KEY_SERVICE, "echo", -1);
  iris_wire_message_set_numbers (&request, IRIS_WIRE_KEY_AFTER, &item, 1);
  client_send (client, &request);
}

static void
send_near (Client *client, guint64 item)
{
  IrisWireMessage request;
  client_init_message (client, &request, IRIS_WIRE_SUBMIT);
  iris_wire_message_set_string (&request, IRIS_WIRE_KEY_SERVICE, "echo", -1);
  iris_wire_message_set_uint (&request, IRIS_WIRE_KEY_NEAR_ITEM, item);
  iris_wire_message_set_boolean (&request, IRIS_WIRE_KEY_STRICT, TRUE);
  iris_wire_message_set_uint (&request, IRIS_WIRE_KEY_DELAY_MS, 3600 * 1000);
  client_send (client, &request);
}

/* Names an item of the owner as a dependency, and as one to be near to. */
static char
probe_submit (Scene *scene)
{
  guint64 item = submit_waiting (scene->client, NULL);
  char after = judge (scene, send_after, item);
  ck_assert_int_eq (judge (scene, send_near, item), after);
  return after;
}

static void
send_batch (Client *client, guint64 item)
{
  IrisWireMessage one, batch;
  g_auto (IrisWireBatchBuilder) builder;
  iris_wire_batch_builder_init (&builder, NULL);
  client_init_message (client, &one, IRIS_WIRE_SUBMIT);
  iris_wire_message_set_string (&one, IRIS_WIRE_KEY_SERVICE, "echo", -1);
  iris_wire_message_set_numbers (&one, IRIS_WIRE_KEY_AFTER, &item, 1);
  ck_assert (iris_wire_batch_builder_add (&builder, &one, NULL));
  client_init_message (client, &batch, IRIS_WIRE_BATCH);
  batch.body = iris_wire_batch_builder_get_body (&builder);
  client_send (client, &batch);
}

/* The error of a refused item comes first; ACCEPTED of none follows. */
static char
probe_batch (Scene *scene)
{
  guint64 item = submit_waiting (scene->client, NULL);
  send_batch (scene->caller, item);
  const IrisWireMessage *reply = client_receive (scene->caller);
  if (reply->type == IRIS_WIRE_ACCEPTED)
    return reply->count == 1 ? REACHED : REFUSED;
  assert_error (reply, IRIS_WIRE_ERROR_UNKNOWN_DEPENDENCY);
  client_receive_type (scene->caller, IRIS_WIRE_ACCEPTED);
  return HIDDEN;
}

/* The owner's key leads to the owner's item and to no other's. */
static char
probe_keep (Scene *scene)
{
  g_autofree char *key = g_strdup_printf ("key-%u", scene->serial);
  guint64 item = submit_waiting (scene->client, key);
  IrisWireMessage again;
  persistent_fill (scene->caller, &again, "echo", "guess", IRIS_WIRE_CLASS_RELAXED);
  iris_wire_message_set_string (&again, IRIS_WIRE_KEY_KEY, key, -1);
  iris_wire_message_set_boolean (&again, IRIS_WIRE_KEY_DETACH, TRUE);
  client_send (scene->caller, &again);
  const IrisWireMessage *reply = client_receive (scene->caller);
  if (reply->type == IRIS_WIRE_ERROR_REPLY)
    {
      assert_error (reply, IRIS_WIRE_ERROR_NOT_PERMITTED);
      return REFUSED;
    }
  ck_assert_uint_eq (reply->type, IRIS_WIRE_ACCEPTED);
  return reply->item == item ? REACHED : HIDDEN;
}

/* A completion sent to another connection, of any owner, is not acknowledged here. */
static char
probe_ack (Scene *scene)
{
  guint64 item = submit_ended (scene->client);
  persistent_assert_result (scene->client, item, "secret");
  IrisWireMessage ack;
  client_init_message (scene->caller, &ack, IRIS_WIRE_ACK);
  iris_wire_message_set_target (&ack, scene->client->completions->data);
  client_send (scene->caller, &ack);
  client_receive_type (scene->caller, IRIS_WIRE_ERROR_REPLY);
  persistent_assert_result (scene->client, item, "secret");
  client_ack (scene->client, 2);
  return HIDDEN;
}

static char
probe_more (Scene *scene)
{
  client_submit (scene->client, "echo", "x", 1, IRIS_PLACE_ANY, FALSE);
  client_grant (scene->caller, scene->client->next_id, 1);
  client_call (scene->caller, IRIS_WIRE_PING, IRIS_WIRE_PONG);
  client_receive_type (scene->client, IRIS_WIRE_RESULT);
  client_ack (scene->client, 1);
  return HIDDEN;
}

static void
send_cancel (Client *client, guint64 item)
{
  persistent_ask (client, IRIS_WIRE_CANCEL, item);
}

static char
probe_cancel (Scene *scene)
{
  guint64 item = submit_waiting (scene->client, NULL);
  char seen = judge (scene, send_cancel, item);
  ck_assert_uint_eq (persistent_get_state (scene->client, item, seen == REACHED ? GIVE_UP_MS : 0),
                     seen == REACHED ? IRIS_WIRE_STATE_CANCELLED : IRIS_WIRE_STATE_DELAYED);
  return seen;
}

/* By its request id, on any connection. */
static char
probe_cancel_anywhere (Scene *scene)
{
  IrisWireMessage item;
  client_init_message (scene->client, &item, IRIS_WIRE_SUBMIT);
  message_set_id (&item, scene->client->next_id += 1000000);
  iris_wire_message_set_string (&item, IRIS_WIRE_KEY_SERVICE, "echo", -1);
  iris_wire_message_set_uint (&item, IRIS_WIRE_KEY_DELAY_MS, 3600 * 1000);
  persistent_submit (scene->client, &item);
  client_cancel_anywhere (scene->caller, scene->client->next_id);
  const IrisWireMessage *reply = client_receive (scene->caller);
  char seen = reply->type == IRIS_WIRE_CANCELLING ? REACHED : HIDDEN;
  if (seen == HIDDEN)
    {
      assert_error (reply, IRIS_WIRE_ERROR_NOT_FOUND);
      client_cancel (scene->client, message_get_id (&item));
      client_receive_type (scene->client, IRIS_WIRE_CANCELLING);
    }
  client_receive_completion (scene->client);
  client_ack (scene->client, 1);
  return seen;
}

static void
send_fetch (Client *client, guint64 item)
{
  persistent_ask (client, IRIS_WIRE_FETCH, item);
}

static char
probe_fetch (Scene *scene)
{
  return judge (scene, send_fetch, submit_ended (scene->client));
}

static void
send_show (Client *client, guint64 item)
{
  persistent_ask (client, IRIS_WIRE_SHOW, item);
}

static char
probe_show (Scene *scene)
{
  return judge (scene, send_show, submit_waiting (scene->client, NULL));
}

static void
send_follow (Client *client, guint64 item)
{
  persistent_ask (client, IRIS_WIRE_FOLLOW, item);
}

static char
probe_follow (Scene *scene)
{
  return judge (scene, send_follow, submit_ended (scene->client));
}

/* As operators may, it could be made. */
static char
probe_backup (Scene *scene)
{
  static guint n;
  IrisWireMessage request;
  g_autofree char *path = g_strdup_printf ("%s.backup-%u", scene->irisd->dir, ++n);
  client_init_message (scene->caller, &request, IRIS_WIRE_BACKUP);
  iris_wire_message_set_string (&request, IRIS_WIRE_KEY_PATH, path, -1);
  client_send (scene->caller, &request);
  const IrisWireMessage *reply = client_receive (scene->caller);
  if (reply->type == IRIS_WIRE_CHANGED)
    return REACHED;
  assert_error (reply, IRIS_WIRE_ERROR_NOT_PERMITTED);
  return REFUSED;
}

static void
init_schedule (Client *client, IrisWireMessage *request, IrisWireType type, guint64 number)
{
  static char name[64];
  g_snprintf (name, sizeof name, "schedule-%" G_GUINT64_FORMAT, number);
  client_init_message (client, request, type);
  iris_wire_message_set_string (request, IRIS_WIRE_KEY_SCHEDULE, name, -1);
}

/* A schedule that is due in an hour. */
static guint64
make_schedule (Client *client)
{
  static guint64 n = 1000;
  IrisWireBatchBuilder builder;
  IrisWireMessage item, request;
  persistent_fill (client, &item, "echo", "secret", IRIS_WIRE_CLASS_DURABLE);
  iris_wire_batch_builder_init (&builder, NULL);
  ck_assert (iris_wire_batch_builder_add (&builder, &item, NULL));
  IrisWireFrame body = iris_wire_batch_builder_get_body (&builder);
  init_schedule (client, &request, IRIS_WIRE_SCHEDULE, ++n);
  iris_wire_message_set_uint (&request, IRIS_WIRE_KEY_EVERY_MS, 3600 * 1000);
  iris_wire_message_set_body (&request, body.data, body.size);
  client_send (client, &request);
  client_receive_type (client, IRIS_WIRE_CHANGED);
  iris_wire_batch_builder_clear (&builder);
  return n;
}

static void
send_remove_schedule (Client *client, guint64 number)
{
  IrisWireMessage request;
  init_schedule (client, &request, IRIS_WIRE_SCHEDULE, number);
  iris_wire_message_set_boolean (&request, IRIS_WIRE_KEY_REMOVE, TRUE);
  client_send (client, &request);
}

static char
probe_schedule (Scene *scene)
{
  return judge (scene, send_remove_schedule, make_schedule (scene->client));
}

static char
probe_schedules (Scene *scene)
{
  IrisWireMessage request;
  init_schedule (scene->caller, &request, IRIS_WIRE_SCHEDULES, make_schedule (scene->client));
  client_send (scene->caller, &request);
  const IrisWireMessage *reply = client_receive (scene->caller);
  if (reply->type == IRIS_WIRE_ERROR_REPLY)
    {
      assert_error (reply, IRIS_WIRE_ERROR_NOT_PERMITTED);
      return REFUSED;
    }
  g_autoptr (IrisWireSchedules) found = iris_wire_schedules_decode (reply->body, NULL, NULL);
  ck_assert_ptr_nonnull (found);
  return found->n_schedules > 0 ? REACHED : HIDDEN;
}

static char
probe_list (Scene *scene)
{
  guint64 item = submit_waiting (scene->client, NULL);
  IrisWireMessage request;
  client_init_message (scene->caller, &request, IRIS_WIRE_LIST);
  client_send (scene->caller, &request);
  const IrisWireMessage *reply = client_receive (scene->caller);
  if (reply->type == IRIS_WIRE_ERROR_REPLY)
    {
      assert_error (reply, IRIS_WIRE_ERROR_NOT_PERMITTED);
      return REFUSED;
    }
  g_autoptr (IrisWirePersistentList)
      list = iris_wire_persistent_list_decode (reply->body, NULL, NULL);
  ck_assert_ptr_nonnull (list);
  ck_assert (!iris_wire_message_has (reply, IRIS_WIRE_KEY_ITEM));
  char seen = HIDDEN;
  for (guint i = 0; i < list->n_items; i++)
    if (list->items[i].item == item)
      {
        ck_assert_uint_eq (list->items[i].owner, OWNER);
        seen = REACHED;
      }
  return seen;
}

static void
send_kick (Client *client, guint64 item)
{
  persistent_ask (client, IRIS_WIRE_KICK, item);
}

/* By its number, and among all that are delayed. */
static char
probe_kick (Scene *scene)
{
  guint64 item = submit_waiting (scene->client, NULL);
  guint64 second = submit_waiting (scene->client, NULL);
  char seen = judge (scene, send_kick, item);
  if (seen != REFUSED)
    {
      IrisWireMessage all;
      client_init_message (scene->caller, &all, IRIS_WIRE_KICK);
      iris_wire_message_set_uint (&all, IRIS_WIRE_KEY_STATE, IRIS_WIRE_STATE_DELAYED);
      client_send (scene->caller, &all);
      client_receive_type (scene->caller, IRIS_WIRE_CHANGED);
    }
  guint64 patience = seen == REACHED ? GIVE_UP_MS : 0;
  guint32 expected = seen == REACHED ? IRIS_WIRE_STATE_DONE : IRIS_WIRE_STATE_DELAYED;
  ck_assert_uint_eq (persistent_get_state (scene->client, item, patience), expected);
  ck_assert_uint_eq (persistent_get_state (scene->client, second, patience), expected);
  return seen;
}

static void
send_suspend (Client *client, guint64 item)
{
  persistent_ask (client, IRIS_WIRE_SUSPEND, item);
}

static char
probe_suspend (Scene *scene)
{
  guint64 item = submit_waiting (scene->client, NULL);
  char seen = judge (scene, send_suspend, item);
  ck_assert_uint_eq (persistent_get_state (scene->client, item, 0),
                     seen == REACHED ? IRIS_WIRE_STATE_SUSPENDED : IRIS_WIRE_STATE_DELAYED);
  return seen;
}

static void
send_resume (Client *client, guint64 item)
{
  persistent_ask (client, IRIS_WIRE_RESUME, item);
}

static char
probe_resume (Scene *scene)
{
  guint64 item = submit_waiting (scene->client, NULL);
  send_suspend (scene->client, item);
  client_receive_type (scene->client, IRIS_WIRE_CHANGED);
  char seen = judge (scene, send_resume, item);
  ck_assert_uint_eq (persistent_get_state (scene->client, item, 0),
                     seen == REACHED ? IRIS_WIRE_STATE_DELAYED : IRIS_WIRE_STATE_SUSPENDED);
  return seen;
}

/* It is to run now. */
static void
send_edit (Client *client, guint64 item)
{
  IrisWireMessage request;
  client_init_message (client, &request, IRIS_WIRE_EDIT);
  iris_wire_message_set_uint (&request, IRIS_WIRE_KEY_ITEM, item);
  iris_wire_message_set_uint (&request, IRIS_WIRE_KEY_DELAY_MS, 0);
  client_send (client, &request);
}

static char
probe_edit (Scene *scene)
{
  guint64 item = submit_waiting (scene->client, NULL);
  char seen = judge (scene, send_edit, item);
  ck_assert_uint_eq (persistent_get_state (scene->client, item, seen == REACHED ? GIVE_UP_MS : 0),
                     seen == REACHED ? IRIS_WIRE_STATE_DONE : IRIS_WIRE_STATE_DELAYED);
  return seen;
}

static void
send_again (Client *client, guint64 item)
{
  persistent_ask (client, IRIS_WIRE_AGAIN, item);
}

static char
probe_again (Scene *scene)
{
  return judge (scene, send_again, submit_waiting (scene->client, NULL));
}

static void
send_bury (Client *client, guint64 item)
{
  persistent_ask (client, IRIS_WIRE_BURY, item);
}

static char
probe_bury (Scene *scene)
{
  guint64 item = submit_waiting (scene->client, NULL);
  char seen = judge (scene, send_bury, item);
  ck_assert_uint_eq (persistent_get_state (scene->client, item, 0),
                     seen == REACHED ? IRIS_WIRE_STATE_BURIED : IRIS_WIRE_STATE_DELAYED);
  return seen;
}

static char
take_change (Client *client)
{
  const IrisWireMessage *reply = client_receive (client);
  if (reply->type == IRIS_WIRE_CHANGED)
    return REACHED;
  assert_error (reply, IRIS_WIRE_ERROR_NOT_PERMITTED);
  return REFUSED;
}

static char
drain (Client *client, gboolean drained)
{
  IrisWireMessage request;
  client_init_message (client, &request, IRIS_WIRE_DRAIN);
  iris_wire_message_set_int (&request, IRIS_WIRE_KEY_PLACE, 1);
  iris_wire_message_set_boolean (&request, IRIS_WIRE_KEY_DRAINED, drained);
  client_send (client, &request);
  return take_change (client);
}

static char
probe_drain (Scene *scene)
{
  char seen = drain (scene->caller, TRUE);
  ck_assert_int_eq (drain (scene->caller, FALSE), seen);
  return seen;
}

static char
probe_queue (Scene *scene)
{
  IrisWireMessage request;
  client_init_message (scene->caller, &request, IRIS_WIRE_QUEUE);
  iris_wire_message_set_string (&request, IRIS_WIRE_KEY_QUEUE, "probed", -1);
  client_send (scene->caller, &request);
  return take_change (scene->caller);
}

static char
probe_queues (Scene *scene)
{
  return take_plain (scene->caller, IRIS_WIRE_QUEUES, IRIS_WIRE_QUEUES_REPLY);
}

static char
probe_nodes (Scene *scene)
{
  return take_plain (scene->caller, IRIS_WIRE_NODES, IRIS_WIRE_NODES_REPLY);
}

/* This irisd is in no cluster, which an operator is told. */
static char
take_no_cluster (Scene *scene, IrisWireType type)
{
  IrisWireMessage request;
  client_init_message (scene->caller, &request, type);
  if (type == IRIS_WIRE_NODE)
    {
      iris_wire_message_set_string (&request, IRIS_WIRE_KEY_NODE, "n2", -1);
      iris_wire_message_set_boolean (&request, IRIS_WIRE_KEY_DRAINED, TRUE);
    }
  client_send (scene->caller, &request);
  const IrisWireMessage *reply = client_receive (scene->caller);
  if (reply->code == IRIS_WIRE_ERROR_NO_CLUSTER)
    return REACHED;
  assert_error (reply, IRIS_WIRE_ERROR_NOT_PERMITTED);
  return REFUSED;
}

static char
probe_node (Scene *scene)
{
  return take_no_cluster (scene, IRIS_WIRE_NODE);
}

static char
probe_cluster_check (Scene *scene)
{
  return take_no_cluster (scene, IRIS_WIRE_CLUSTER_CHECK);
}

static char
probe_cluster_init (Scene *scene)
{
  return take_no_cluster (scene, IRIS_WIRE_CLUSTER_INIT);
}

static char
probe_set_workers (Scene *scene)
{
  IrisWireMessage request;
  client_init_message (scene->caller, &request, IRIS_WIRE_SET_WORKERS);
  iris_wire_message_set_int (&request, IRIS_WIRE_KEY_PLACE, 1);
  iris_wire_message_set_uint (&request, IRIS_WIRE_KEY_WORKERS, 1);
  client_send (scene->caller, &request);
  return take_change (scene->caller);
}

static char
probe_reload (Scene *scene)
{
  IrisWireMessage request;
  client_init_message (scene->caller, &request, IRIS_WIRE_RELOAD);
  client_send (scene->caller, &request);
  return take_change (scene->caller);
}

static char
probe_keys (Scene *scene)
{
  IrisWireMessage request;
  client_init_message (scene->caller, &request, IRIS_WIRE_KEYS);
  client_send (scene->caller, &request);
  const IrisWireMessage *reply = client_receive (scene->caller);
  if (reply->type == IRIS_WIRE_KEYS_REPLY)
    return REACHED;
  assert_error (reply, IRIS_WIRE_ERROR_NOT_PERMITTED);
  return REFUSED;
}

/* An item of the owner waits for a worker process, and the caller is one. If the caller does not
 * get it, the owner's worker does, as its first lease. */
static char
probe_ready (Scene *scene)
{
  g_autofree char *service = g_strdup_printf ("work-%u", scene->serial);
  Visitor *worker = owner_visit (scene->irisd, OWNER, scene->irisd->front);
  client_send_ready (worker->client, service, 0);
  client_receive_type (worker->client, IRIS_WIRE_ENROLLED);
  client_submit (scene->client, service, "secret", 6, IRIS_PLACE_ANY, FALSE);
  client_call (scene->client, IRIS_WIRE_PING, IRIS_WIRE_PONG);
  owner_say_bye (worker->client);
  client_say_hello (worker->client);

  char seen = HIDDEN;
  client_send_ready (scene->caller, service, 1);
  const IrisWireMessage *reply = client_receive (scene->caller);
  if (reply->type == IRIS_WIRE_ERROR_REPLY)
    {
      assert_error (reply, IRIS_WIRE_ERROR_NOT_PERMITTED);
      seen = REFUSED;
    }
  else if (scene->serial % 10 < 2)
    seen = client_receive (scene->caller)->type == IRIS_WIRE_LEASE ? REACHED : HIDDEN;
  if (seen != REACHED)
    {
      client_send_ready (worker->client, service, 1);
      client_receive_type (worker->client, IRIS_WIRE_ENROLLED);
      ck_assert_uint_eq (client_receive_type (worker->client, IRIS_WIRE_LEASE)->attempt, 1);
    }
  Client *holder = seen == REACHED ? scene->caller : worker->client;
  IrisWireMessage done;
  iris_wire_message_init (&done, IRIS_WIRE_DONE, holder->message.request_id);
  client_send (holder, &done);
  client_receive_type (scene->client, IRIS_WIRE_RESULT);
  client_ack (scene->client, 1);
  visitor_free (worker);
  return seen;
}

/* Only a bridge answers for other nodes. */
static char
probe_answer (Scene *scene)
{
  IrisWireMessage answer;
  client_init_message (scene->caller, &answer, IRIS_WIRE_ANSWER);
  iris_wire_message_set_uint (&answer, IRIS_WIRE_KEY_TYPE, IRIS_WIRE_CHANGED);
  iris_wire_message_set_string (&answer, IRIS_WIRE_KEY_HEADER, "\x80", 1);
  client_send (scene->caller, &answer);
  assert_error (client_receive (scene->caller), IRIS_WIRE_ERROR_NOT_PERMITTED);
  return REFUSED;
}

/* The caller sends a message about a lease of the owner's worker process. */
static char
probe_lease (Scene *scene, IrisWireType type)
{
  g_autofree char *service = g_strdup_printf ("work-%u", scene->serial);
  g_autofree char *another = g_strdup_printf ("else-%u", scene->serial);
  guint8 lease[IRIS_WIRE_ID_SIZE];
  Visitor *worker = owner_visit (scene->irisd, OWNER, scene->irisd->front);
  client_send_ready (worker->client, service, 1);
  client_receive_type (worker->client, IRIS_WIRE_ENROLLED);
  client_submit (scene->client, service, "secret", 6, IRIS_PLACE_ANY, FALSE);
  memcpy (lease, client_receive_type (worker->client, IRIS_WIRE_LEASE)->request_id, sizeof lease);

  client_send_ready (scene->caller, another, 1);
  client_receive (scene->caller);
  IrisWireMessage answer;
  iris_wire_message_init (&answer, type, lease);
  if (type == IRIS_WIRE_FAIL)
    iris_wire_message_set_string (&answer, IRIS_WIRE_KEY_MESSAGE, "no", -1);
  if (type == IRIS_WIRE_REPORT)
    iris_wire_message_set_uint (&answer, IRIS_WIRE_KEY_FRACTION, 1);
  if (type == IRIS_WIRE_DONE)
    iris_wire_message_set_body (&answer, "forged", 6);
  client_send (scene->caller, &answer);
  client_receive_type (scene->caller, IRIS_WIRE_ERROR_REPLY);

  iris_wire_message_init (&answer, IRIS_WIRE_DONE, lease);
  iris_wire_message_set_body (&answer, "true", 4);
  client_send (worker->client, &answer);
  ck_assert (message_body_is (client_receive_type (scene->client, IRIS_WIRE_RESULT), "true"));
  client_ack (scene->client, 1);
  visitor_free (worker);
  return HIDDEN;
}

static char
probe_done (Scene *scene)
{
  return probe_lease (scene, IRIS_WIRE_DONE);
}

static char
probe_fail (Scene *scene)
{
  return probe_lease (scene, IRIS_WIRE_FAIL);
}

static char
probe_extend (Scene *scene)
{
  return probe_lease (scene, IRIS_WIRE_EXTEND);
}

static char
probe_report (Scene *scene)
{
  return probe_lease (scene, IRIS_WIRE_REPORT);
}

/* --- the matrix ----------------------------------------------------------------------------------
 */

const OwnerRow owner_rows[] = {
  { IRIS_WIRE_HELLO, "HELLO", probe_hello, "AAA A" },
  { IRIS_WIRE_PING, "PING", probe_ping, "AAA A" },
  { IRIS_WIRE_BYE, "BYE", probe_bye, "AAA A" },
  { IRIS_WIRE_MAP, "MAP", probe_map, "AAA A" },
  { IRIS_WIRE_STATUS, "STATUS", probe_status, "AAA A" },
  { IRIS_WIRE_STATISTICS, "STATISTICS", probe_statistics, "AAA A" },
  { IRIS_WIRE_TRACE, "TRACE", probe_trace, "RAR R" },
  { IRIS_WIRE_SPANS, "SPANS", probe_spans, "RAR R" },
  { IRIS_WIRE_SERVICES, "SERVICES", probe_services, "AHH H" },
  { IRIS_WIRE_WORKERS, "WORKERS", probe_workers, "AAH H" },
  { IRIS_WIRE_SUBMIT, "SUBMIT", probe_submit, "AAH H" },
  { 0, "SUBMIT of a persistent item with the same key", probe_keep, "AHH R" },
  { IRIS_WIRE_BATCH, "BATCH", probe_batch, "AAH H" },
  { IRIS_WIRE_ACK, "ACK", probe_ack, "HHH H" },
  { IRIS_WIRE_MORE, "MORE", probe_more, "HHH H" },
  { IRIS_WIRE_CANCEL, "CANCEL", probe_cancel, "AAH H" },
  { 0, "CANCEL anywhere", probe_cancel_anywhere, "AAH H" },
  { IRIS_WIRE_FETCH, "FETCH", probe_fetch, "AAH R" },
  { IRIS_WIRE_SHOW, "SHOW", probe_show, "AAH R" },
  { IRIS_WIRE_LIST, "LIST", probe_list, "AAH R" },
  { IRIS_WIRE_FOLLOW, "FOLLOW", probe_follow, "AAH R" },
  { IRIS_WIRE_SCHEDULE, "SCHEDULE", probe_schedule, "AAH R" },
  { IRIS_WIRE_SCHEDULES, "SCHEDULES", probe_schedules, "AAH R" },
  { IRIS_WIRE_BACKUP, "BACKUP", probe_backup, "RAR R" },
  { IRIS_WIRE_NODES, "NODES", probe_nodes, "AAA A" },
  { IRIS_WIRE_NODE, "NODE", probe_node, "RAR R" },
  { IRIS_WIRE_CLUSTER_CHECK, "CLUSTER_CHECK", probe_cluster_check, "RAR R" },
  { IRIS_WIRE_CLUSTER_INIT, "CLUSTER_INIT", probe_cluster_init, "RAR R" },
  { IRIS_WIRE_ANSWER, "ANSWER", probe_answer, "RRR R" },
  { IRIS_WIRE_KICK, "KICK", probe_kick, "AAH R" },
  { IRIS_WIRE_BURY, "BURY", probe_bury, "AAH R" },
  { IRIS_WIRE_SUSPEND, "SUSPEND", probe_suspend, "AAH R" },
  { IRIS_WIRE_RESUME, "RESUME", probe_resume, "AAH R" },
  { IRIS_WIRE_EDIT, "EDIT", probe_edit, "AAH R" },
  { IRIS_WIRE_AGAIN, "AGAIN", probe_again, "AAH R" },
  { IRIS_WIRE_DRAIN, "DRAIN", probe_drain, "RAR R" },
  { IRIS_WIRE_SET_WORKERS, "SET_WORKERS", probe_set_workers, "RAR R" },
  { IRIS_WIRE_QUEUE, "QUEUE", probe_queue, "RAR R" },
  { IRIS_WIRE_QUEUES, "QUEUES", probe_queues, "AAA A" },
  { IRIS_WIRE_RELOAD, "RELOAD", probe_reload, "RAR R" },
  { IRIS_WIRE_KEYS, "KEYS", probe_keys, "RAR R" },
  { IRIS_WIRE_READY, "READY", probe_ready, "AAH R" },
  { IRIS_WIRE_DONE, "DONE", probe_done, "HHH H" },
  { IRIS_WIRE_FAIL, "FAIL", probe_fail, "HHH H" },
  { IRIS_WIRE_EXTEND, "EXTEND", probe_extend, "HHH H" },
  { IRIS_WIRE_REPORT, "REPORT", probe_report, "HHH H" },
};

const guint owner_n_rows = G_N_ELEMENTS (owner_rows);
