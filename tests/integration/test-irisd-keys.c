/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * Clients over TCP with CURVE: which keys are let in, what each may do, and what ends it.
 */
#include "irisd-fixture.h"

#include "irisd-raw.h"

#include <glib/gstdio.h>
#include <unistd.h>

#define FIRST_OWNER "8589934592"

/* Silent strangers, of which so many may be there. */
#define N_STRANGERS TIMES (1000)
#define MOST_SILENT 20

static char *base;
static char *config;
static KeyPair server, anna, bert;
static Irisd *irisd;

static char *
path_of (const char *name)
{
  return g_build_filename (base, name, NULL);
}

static void
allow (const char *name, const KeyPair *pair, const char *more)
{
  g_autofree char *file = g_strconcat ("keys.d/", name, ".key", NULL);
  g_autofree char *path = path_of (file);
  key_pair_write (pair, path, more, 0644);
}

static void
set_up (void)
{
  base = g_dir_make_tmp ("irisd-keys-XXXXXX", NULL);
  g_autofree char *dir = path_of ("keys.d");
  g_autofree char *path = path_of ("server.key");
  g_autofree char *journal = path_of ("journal");
  ck_assert_int_eq (g_mkdir (dir, 0700), 0);
  key_pair_new (&server);
  key_pair_new (&anna);
  key_pair_new (&bert);
  key_pair_write (&server, path, NULL, 0600);
  config = g_strdup_printf ("[irisd]\ntcp = 127.0.0.1:0\nserver-key = %s\njournal = %s\n", path,
                            journal);
}

static void
tear_down (void)
{
  irisd_remove_all (base);
  g_free (base);
  g_free (config);
}

static void
start (const char *more)
{
  g_autofree char *text = g_strconcat (config, more, NULL);
  irisd = irisd_start (text, TWO_PLACES, NULL);
}

static Client *
come_in (const KeyPair *pair)
{
  Client *client = client_new_with_key (irisd->tcp, pair, server.public_key);
  client_say_hello (client);
  return client;
}

/* Has irisd read its keys; the answer comes when each gateway has them. */
static char *
reload (void)
{
  g_autoptr (Client) owner = client_hello (irisd->front);
  IrisWireMessage request;
  client_init_message (owner, &request, IRIS_WIRE_RELOAD);
  client_send (owner, &request);
  const IrisWireMessage *reply = client_receive (owner);
  char *text = iris_wire_string_dup (&reply->message);
  ck_assert_msg (reply->type == IRIS_WIRE_CHANGED, "%s", text);
  return text;
}

static gboolean
has_logged (const char *words)
{
  g_autofree char *log = irisd_read_log (irisd);
  return strstr (log, words) != NULL;
}

/* Returns whether it was sent and answered by something else than not-permitted. */
static gboolean
may (Client *client, const IrisWireMessage *request)
{
  client_send (client, request);
  const IrisWireMessage *reply = client_receive (client);
  return reply->type != IRIS_WIRE_ERROR_REPLY || reply->code != IRIS_WIRE_ERROR_NOT_PERMITTED;
}

static gboolean
may_ask (Client *client, IrisWireType type)
{
  IrisWireMessage request;
  client_init_message (client, &request, type);
  if (type == IRIS_WIRE_DRAIN)
    {
      iris_wire_message_set_int (&request, IRIS_WIRE_KEY_PLACE, 0);
      iris_wire_message_set_boolean (&request, IRIS_WIRE_KEY_DRAINED, FALSE);
    }
  return may (client, &request);
}

static gboolean
may_submit (Client *client, const char *service)
{
  client_submit (client, service, "x", 1, IRIS_PLACE_ANY, FALSE);
  const IrisWireMessage *reply = client_receive (client);
  gboolean refused = reply->type == IRIS_WIRE_ERROR_REPLY
                     && reply->code == IRIS_WIRE_ERROR_NOT_PERMITTED;
  ck_assert (refused || reply->type == IRIS_WIRE_RESULT);
  return !refused;
}

static gboolean
may_work (Client *client, const char *service)
{
  client_send_ready (client, service, 1);
  const IrisWireMessage *reply = client_receive (client);
  return reply->type == IRIS_WIRE_ENROLLED;
}

START_TEST (a_key_lets_in_and_nothing_else_does)
{
  allow ("anna", &anna, "owner=" FIRST_OWNER "\nroles=submit\n");
  start ("");
  g_autoptr (Client) client = come_in (&anna);
  ck_assert (may_submit (client, "echo"));

  /* An unknown key, another key of irisd, and no key; the socket of ipc needs none. */
  g_autoptr (Client) unknown = client_new_with_key (irisd->tcp, &bert, server.public_key);
  g_autoptr (Client) misled = client_new_with_key (irisd->tcp, &anna, bert.public_key);
  g_autoptr (Client) plain = client_new (irisd->tcp);
  Client *const strangers[] = { unknown, misled, plain };
  for (guint i = 0; i < G_N_ELEMENTS (strangers); i++)
    {
      IrisWireMessage hello;
      client_init_message (strangers[i], &hello, IRIS_WIRE_HELLO);
      iris_wire_message_set_uint (&hello, IRIS_WIRE_KEY_VERSION_MIN, 1);
      iris_wire_message_set_uint (&hello, IRIS_WIRE_KEY_VERSION_MAX, 1);
      client_send (strangers[i], &hello);
    }
  while (!has_logged (bert.public_key))
    client_call (client, IRIS_WIRE_PING, IRIS_WIRE_PONG);
  ck_assert (has_logged ("is not admitted; irisctl key allow admits it"));
  for (guint i = 0; i < G_N_ELEMENTS (strangers); i++)
    ck_assert (!client_try_receive (strangers[i]));
  g_autoptr (Client) local = client_hello (irisd->front);
  ck_assert (may_submit (local, "echo"));
  client_free (g_steal_pointer (&client));
  client_free (g_steal_pointer (&local));
  irisd_finish (irisd);
}
END_TEST

START_TEST (each_role_is_enforced_at_each_request)
{
  static const struct
  {
    const char *role;
    gboolean submits, lists, drains, works;
  } rows[] = {
    { "observe", FALSE, TRUE, FALSE, FALSE },   { "submit", TRUE, TRUE, FALSE, FALSE },
    { "work", FALSE, FALSE, FALSE, TRUE },      { "control", FALSE, TRUE, TRUE, FALSE },
    { "work;submit", TRUE, TRUE, FALSE, TRUE },
  };
  for (guint i = 0; i < G_N_ELEMENTS (rows); i++)
    {
      g_autofree char *more = g_strdup_printf ("owner=" FIRST_OWNER "\nroles=%s\n", rows[i].role);
      allow ("anna", &anna, more);
      if (i == 0)
        start ("");
      else
        {
          g_autofree char *text = reload ();
          ck_assert_msg (strstr (text, "the key anna is now") != NULL, "%s", text);
        }
      g_autoptr (Client) client = come_in (&anna);
      ck_assert_int_eq (may_submit (client, "echo"), rows[i].submits);
      ck_assert_int_eq (may_ask (client, IRIS_WIRE_LIST), rows[i].lists);
      ck_assert_int_eq (may_ask (client, IRIS_WIRE_DRAIN), rows[i].drains);
      ck_assert_int_eq (may_ask (client, IRIS_WIRE_RELOAD), rows[i].drains);
      ck_assert_int_eq (may_work (client, "own-work"), rows[i].works);
      ck_assert (may_ask (client, IRIS_WIRE_STATUS));
    }
  irisd_finish (irisd);
}
END_TEST

/* Also of a connection that is there already. */
START_TEST (services_are_those_of_the_list_and_commands_only_by_name)
{
  const char *argv[] = { "true", NULL };
  allow ("anna", &anna, "owner=" FIRST_OWNER "\nroles=submit;work\n");
  start ("");
  g_autoptr (Client) client = come_in (&anna);
  ck_assert (may_submit (client, "echo") && may_submit (client, "sha256"));
  client_submit_command (client, NULL, argv);
  assert_error (client_receive (client), IRIS_WIRE_ERROR_NOT_PERMITTED);
  client_submit_path (client, "wordcount", "/etc/passwd");
  assert_error (client_receive (client), IRIS_WIRE_ERROR_NOT_PERMITTED);

  allow ("anna", &anna, "owner=" FIRST_OWNER "\nroles=submit;work\nservices=sha256;command\n");
  g_autofree char *text = reload ();
  ck_assert_ptr_nonnull (strstr (text, "services sha256;command"));
  ck_assert (!may_submit (client, "echo") && may_submit (client, "sha256"));
  client_submit_command (client, NULL, argv);
  client_receive_type (client, IRIS_WIRE_RESULT);
  ck_assert (!may_work (client, "unlisted"));
  irisd_finish (irisd);
}
END_TEST

/* By the list it serves items of all owners; without one only those of its own key. */
START_TEST (a_worker_with_a_key_serves_others_if_its_list_says_so)
{
  allow ("anna", &anna, "owner=" FIRST_OWNER "\nroles=work\nservices=press\n");
  start ("[service press]\n");
  g_autoptr (Client) worker = come_in (&anna);
  g_autoptr (Client) local = client_hello (irisd->front);
  client_enroll (worker, "press", 1);
  client_submit (local, "press", "x", 1, IRIS_PLACE_ANY, FALSE);
  client_receive_type (worker, IRIS_WIRE_LEASE);

  /* Without the list it may not go on with items of others. */
  allow ("anna", &anna, "owner=" FIRST_OWNER "\nroles=work\n");
  g_autofree char *text = reload ();
  ck_assert_msg (strstr (text, "services all") != NULL, "%s", text);
  ck_assert (has_logged ("the rights of its user have changed"));
  g_autoptr (Client) again = come_in (&anna);
  client_enroll (again, "press", 1);
  /* The item is leased to the next worker that may have it. */
  g_autoptr (Client) own = client_hello (irisd->front);
  client_enroll (own, "press", 1);
  IrisWireMessage done;
  iris_wire_message_init (&done, IRIS_WIRE_DONE,
                          client_receive_type (own, IRIS_WIRE_LEASE)->request_id);
  client_send (own, &done);
  client_receive_type (local, IRIS_WIRE_RESULT);
  client_call (again, IRIS_WIRE_PING, IRIS_WIRE_PONG);
  client_free (g_steal_pointer (&own));
  client_free (g_steal_pointer (&local));
  irisd_finish (irisd);
}
END_TEST

START_TEST (a_key_has_a_rate_over_all_its_connections)
{
  allow ("anna", &anna, "owner=" FIRST_OWNER "\nroles=submit\nrate=5\n");
  start ("");
  g_autoptr (Client) one = come_in (&anna);
  g_autoptr (Client) two = come_in (&anna);
  Client *both[] = { one, two };
  guint busy = 0, done = 0, n_sent = 0;
  /* More than five in a second, as soon as the machine is not too busy for that. */
  while (busy == 0)
    {
      ck_assert_uint_lt (n_sent, 20 * GIVE_UP_MS / 4000);
      for (guint i = 0; i < 20; i++, n_sent++)
        client_submit (both[i % 2], "echo", "x", 1, IRIS_PLACE_ANY, FALSE);
      for (guint i = 0; i < 20; i++)
        {
          const IrisWireMessage *reply = client_receive (both[i % 2]);
          g_autofree char *limit = iris_wire_string_dup (&reply->limit);
          if (reply->type == IRIS_WIRE_RESULT)
            {
              done++;
              client_ack (both[i % 2], 1);
            }
          if (reply->type != IRIS_WIRE_BUSY)
            continue;
          busy++;
          ck_assert_str_eq (limit, "key-rate");
          ck_assert_uint_gt (reply->retry_after_ms, 0);
        }
    }
  ck_assert_uint_ge (done, 5);
  ck_assert_uint_eq (done + busy, n_sent);
  irisd_finish (irisd);
}
END_TEST

static guint64
keep (Client *client)
{
  IrisWireMessage item;
  client_init_message (client, &item, IRIS_WIRE_SUBMIT);
  iris_wire_message_set_string (&item, IRIS_WIRE_KEY_SERVICE, "echo", -1);
  iris_wire_message_set_uint (&item, IRIS_WIRE_KEY_CLASS, IRIS_WIRE_CLASS_DURABLE);
  iris_wire_message_set_boolean (&item, IRIS_WIRE_KEY_DETACH, TRUE);
  iris_wire_message_set_body (&item, "x", 1);
  client_send (client, &item);
  return client_receive_type (client, IRIS_WIRE_ACCEPTED)->item;
}

static gboolean
can_fetch (Client *client, guint64 number)
{
  IrisWireMessage fetch;
  client_init_message (client, &fetch, IRIS_WIRE_FETCH);
  iris_wire_message_set_uint (&fetch, IRIS_WIRE_KEY_ITEM, number);
  iris_wire_message_set_uint (&fetch, IRIS_WIRE_KEY_WAIT_MS, 30000);
  client_send (client, &fetch);
  return client_receive (client)->type == IRIS_WIRE_RESULT;
}

static IrisWireClientKeys *
get_keys (Client *client, const char *name)
{
  g_autoptr (GError) error = NULL;
  IrisWireMessage request;
  client_init_message (client, &request, IRIS_WIRE_KEYS);
  if (name != NULL)
    iris_wire_message_set_string (&request, IRIS_WIRE_KEY_KEY_NAME, name, -1);
  client_send (client, &request);
  const IrisWireMessage *reply = client_receive_type (client, IRIS_WIRE_KEYS_REPLY);
  g_autofree char *dir = iris_wire_string_dup (&reply->path);
  ck_assert (g_str_has_suffix (dir, "/keys.d"));
  IrisWireClientKeys *keys = iris_wire_client_keys_decode (reply->body, NULL, &error);
  ck_assert_msg (keys != NULL, "%s", error != NULL ? error->message : "");
  return keys;
}

START_TEST (operators_see_the_keys_and_their_use)
{
  allow ("anna", &anna, "owner=" FIRST_OWNER "\nroles=submit;observe\nservices=echo\nrate=5\n");
  allow ("bert", &bert, "owner=8589934599\nroles=submit\n");
  start ("");
  g_autoptr (Client) operator= client_hello (irisd->front);
  g_autoptr (Client) one = come_in (&anna);
  g_autoptr (Client) two = come_in (&anna);
  g_autoptr (IrisWireClientKeys) keys = get_keys (operator, NULL);
  ck_assert_uint_eq (keys->n_keys, 2);
  const IrisWireClientKey *first = &keys->keys[0], *second = &keys->keys[1];
  ck_assert_str_eq (first->name, "anna");
  ck_assert_str_eq (first->public_key, anna.public_key);
  ck_assert_str_eq (first->roles, "observe;submit");
  ck_assert (!first->any_service);
  ck_assert_str_eq (first->services[0], "echo");
  ck_assert_uint_eq (first->rate, 5);
  ck_assert_uint_eq (first->owner, 8589934592);
  ck_assert_uint_eq (first->connections, 2);
  ck_assert_uint_gt (first->seen_ms, 0);
  ck_assert_str_eq (second->name, "bert");
  ck_assert (second->any_service);
  ck_assert_uint_eq (second->connections, 0);
  ck_assert_uint_eq (second->seen_ms, 0);

  /* The second HELLO ends a session and begins one; BYE ends it. */
  client_say_hello (one);
  IrisWireMessage bye;
  client_init_message (two, &bye, IRIS_WIRE_BYE);
  client_send (two, &bye);
  guint n = 2;
  while (n != 1)
    {
      g_autoptr (IrisWireClientKeys) only = get_keys (operator, "anna");
      ck_assert_uint_eq (only->n_keys, 1);
      n = only->keys[0].connections;
      ck_assert_uint_ge (n, 1);
    }
  g_autoptr (IrisWireClientKeys) none = get_keys (operator, "carl");
  ck_assert_uint_eq (none->n_keys, 0);
  irisd_finish (irisd);
}
END_TEST

START_TEST (a_list_of_items_names_the_key_that_they_belong_to)
{
  allow ("anna", &anna, "owner=" FIRST_OWNER "\nroles=submit\n");
  start ("");
  g_autoptr (Client) operator= client_hello (irisd->front);
  g_autoptr (Client) client = come_in (&anna);
  guint64 number = keep (client);
  keep (operator);
  IrisWireMessage request;
  client_init_message (operator, & request, IRIS_WIRE_LIST);
  client_send (operator, & request);
  const IrisWireMessage *reply = client_receive_type (operator, IRIS_WIRE_LIST_REPLY);
  g_autoptr (IrisWirePersistentList)
      list = iris_wire_persistent_list_decode (reply->body, NULL, NULL);
  ck_assert_ptr_nonnull (list);
  ck_assert_uint_eq (list->n_items, 2);
  for (guint i = 0; i < 2; i++)
    {
      const IrisWirePersistentItem *item = &list->items[i];
      gboolean hers = item->item == number;
      ck_assert_uint_eq (item->owner, hers ? 8589934592 : geteuid ());
      ck_assert_str_eq (item->owner_name, hers ? "anna" : "");
    }
  irisd_finish (irisd);
}
END_TEST

/* A durable item has its owner from the number in the key's file. */
START_TEST (a_revoked_key_is_cut_off_and_its_items_stay)
{
  allow ("anna", &anna, "owner=" FIRST_OWNER "\nroles=submit\n");
  allow ("bert", &bert, "owner=8589934599\nroles=submit\n");
  start ("");
  g_autoptr (Client) client = come_in (&anna);
  g_autoptr (Client) other = come_in (&bert);
  guint64 number = keep (client);
  ck_assert (!can_fetch (other, number));

  g_autofree char *path = path_of ("keys.d/anna.key");
  ck_assert (g_file_set_contents (path, "[key]\nowner=" FIRST_OWNER "\nroles=submit\n", -1, NULL));
  g_autofree char *text = reload ();
  ck_assert_str_eq (text, "the key anna is revoked");
  ck_assert (has_logged ("its key was revoked"));
  /* Its ZeroMQ tries again, and is refused. */
  while (!has_logged (anna.public_key))
    client_call (other, IRIS_WIRE_PING, IRIS_WIRE_PONG);
  ck_assert (may_submit (other, "echo"));

  KeyPair fresh;
  key_pair_new (&fresh);
  allow ("anna", &fresh, "owner=" FIRST_OWNER "\nroles=submit\n");
  g_autofree char *later = reload ();
  ck_assert_ptr_nonnull (strstr (later, "the key anna is allowed"));
  g_autoptr (Client) again = come_in (&fresh);
  ck_assert (can_fetch (again, number));
  /* Another public key under the same name is another key. */
  allow ("anna", &anna, "owner=" FIRST_OWNER "\nroles=submit\n");
  g_autofree char *last = reload ();
  ck_assert_ptr_nonnull (strstr (last, "the key anna is now"));
  g_autoptr (Client) back = come_in (&anna);
  ck_assert (may_submit (back, "echo"));
  irisd_finish (irisd);
}
END_TEST

START_TEST (a_mistake_in_a_key_file_keeps_the_keys_of_before)
{
  allow ("anna", &anna, "owner=" FIRST_OWNER "\nroles=submit\n");
  start ("");
  g_autoptr (Client) client = come_in (&anna);
  g_autoptr (Client) owner = client_hello (irisd->front);
  g_autofree char *path = path_of ("keys.d/bert.key");
  key_pair_write (&bert, path, "owner=8589934599\nroles=submit\n", 0666);
  client_call (owner, IRIS_WIRE_RELOAD, IRIS_WIRE_ERROR_REPLY);
  g_autofree char *reason = iris_wire_string_dup (&owner->message.message);
  ck_assert_msg (strstr (reason, "bert.key is refused: others may write to it (mode 0666)") != NULL,
                 "%s", reason);
  ck_assert (may_submit (client, "echo"));
  client_free (g_steal_pointer (&client));
  client_free (g_steal_pointer (&owner));
  irisd_finish (irisd);

  int status;
  g_autofree char *log = irisd_fail_to_start (config, &status);
  ck_assert_int_eq (status, 2);
  ck_assert_ptr_nonnull (strstr (log, "others may write to it"));
}
END_TEST

/* What a client may have in flight is more than a message; none of it looks unfinished. */
START_TEST (large_messages_in_a_row_do_not_count_as_unfinished)
{
  const gsize size = 256 * 1024;
  const guint n = TIMES (200);
  g_autofree char *payload = g_strnfill (size, 'x');
  allow ("anna", &anna, "owner=" FIRST_OWNER "\nroles=submit\n");
  start ("[limits]\nmax-body = 1M\nmax-output = 1M\nmax-header = 64K\n");
  g_autoptr (Client) client = come_in (&anna);
  for (guint i = 0; i < n; i++)
    client_submit (client, "wordcount", payload, size, IRIS_PLACE_ANY, FALSE);
  for (guint i = 0; i < n; i++)
    {
      client_receive_type (client, IRIS_WIRE_RESULT);
      client_ack (client, 1);
    }
  client_free (g_steal_pointer (&client));
  irisd_finish (irisd);
}
END_TEST

/* They say who they are to ZeroMQ and go no further: none, half, or all of a first command. */
START_TEST (half_handshakes_cost_what_the_limits_allow)
{
  static const guint8 greeting[64] = { 0xff, [9] = 0x7f, 3, 0, 'C', 'U', 'R', 'V', 'E' };
  static const guint8 hello[] = { 4, 200, 5, 'H', 'E', 'L', 'L', 'O', 1, 0 };
  g_autofree int *fds = g_new (int, N_STRANGERS);
  allow ("anna", &anna, "owner=" FIRST_OWNER "\nroles=submit\n");
  start ("[limits]\nmax-pending-connections = 20\nhello-ms = 60000\n");
  g_autoptr (Client) early = come_in (&anna);
  for (guint i = 0; i < N_STRANGERS; i++)
    {
      fds[i] = raw_connect (irisd->tcp);
      raw_write (fds[i], greeting, i % 3 == 0 ? 30 : sizeof greeting);
      if (i % 3 == 2)
        raw_write (fds[i], hello, sizeof hello);
    }
  /* The oldest ones are closed, so the others go on. */
  for (guint i = 0; i + MOST_SILENT < N_STRANGERS; i++)
    raw_wait_for_hang_up (fds[i]);
  ck_assert (may_submit (early, "echo"));
  g_autoptr (Client) late = come_in (&anna);
  ck_assert (may_submit (late, "echo"));
  for (guint i = MAX (N_STRANGERS, MOST_SILENT) - MOST_SILENT; i < N_STRANGERS; i++)
    close (fds[i]);
  client_free (g_steal_pointer (&early));
  client_free (g_steal_pointer (&late));
  irisd_finish (irisd);
}
END_TEST

/* A stranger that sends a large frame in place of a handshake is closed before it has been read. */
START_TEST (a_handshake_of_some_kilobytes_is_closed)
{
  static const guint8 greeting[64] = { 0xff, [9] = 0x7f, 3, 0, 'C', 'U', 'R', 'V', 'E' };
  static const guint8 large[] = { 6, 0, 0, 0, 0, 0, 0x10, 0, 0 };
  allow ("anna", &anna, "owner=" FIRST_OWNER "\nroles=submit\n");
  start ("");
  int fd = raw_connect (irisd->tcp);
  raw_write (fd, greeting, sizeof greeting);
  raw_write (fd, large, sizeof large);
  raw_wait_for_hang_up (fd);
  ck_assert (has_logged ("a command of its CURVE handshake"));
  irisd_finish (irisd);
}
END_TEST

int
main (void)
{
  Suite *suite = suite_create ("irisd-keys");
  TCase *keys = tcase_create ("keys");
  tcase_add_checked_fixture (keys, set_up, tear_down);
  tcase_add_test (keys, a_key_lets_in_and_nothing_else_does);
  tcase_add_test (keys, each_role_is_enforced_at_each_request);
  tcase_add_test (keys, services_are_those_of_the_list_and_commands_only_by_name);
  tcase_add_test (keys, a_worker_with_a_key_serves_others_if_its_list_says_so);
  tcase_add_test (keys, a_key_has_a_rate_over_all_its_connections);
  tcase_add_test (keys, operators_see_the_keys_and_their_use);
  tcase_add_test (keys, a_list_of_items_names_the_key_that_they_belong_to);
  tcase_add_test (keys, a_revoked_key_is_cut_off_and_its_items_stay);
  tcase_add_test (keys, a_mistake_in_a_key_file_keeps_the_keys_of_before);
  tcase_add_test (keys, large_messages_in_a_row_do_not_count_as_unfinished);
  tcase_add_test (keys, half_handshakes_cost_what_the_limits_allow);
  tcase_add_test (keys, a_handshake_of_some_kilobytes_is_closed);
  suite_add_tcase (suite, keys);
  return core_test_run (suite);
}
