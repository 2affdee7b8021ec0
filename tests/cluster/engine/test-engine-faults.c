/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * The engine while servers end and stop, and with servers that demand more.
 */
#include "core-test-run.h"
#include "engine-fixture.h"

#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

static const IrisdStreamsOptions options = { .lease_ms = 2000,
                                             .max_items = 100000,
                                             .max_bytes = 256 << 20 };
static NatsServers servers;

static void
tear_down (void)
{
  if (servers.n > 0)
    nats_servers_stop (&servers);
  servers.n = 0;
}

static IrisdEngine *
start_three (void)
{
  g_autofree char *url = NULL;
  IrisdEngine *engine;

  nats_servers_start (&servers, 3, NULL);
  url = nats_servers_get_url (&servers);
  engine = connect_to (url);
  make_streams (engine, &options, NULL);
  return engine;
}

/* ---- A ledger of items, which are published until they are stored, and received until all have
 * been ---- */

#define N_ITEMS 4000

typedef struct Ledger Ledger;

typedef struct
{
  Ledger *ledger;
  guint number;
} Entry;

struct Ledger
{
  IrisdEngine *engine;
  Entry entries[N_ITEMS];
  GQueue to_publish; /* of Entry */
  guint n_under_way;
  guint n_stored;
  guint n_again;
  guint n_received[N_ITEMS];
  guint n_distinct;
};

static void publish_more (Ledger *ledger);

static void
on_entry_published (IrisdEngine *engine, const IrisdPublishResult *result, gpointer user_data)
{
  Entry *entry = user_data;
  Ledger *ledger = entry->ledger;

  ledger->n_under_way--;
  switch (result->status)
    {
    case IRISD_PUBLISH_STORED:
    case IRISD_PUBLISH_DUPLICATE:
      ledger->n_stored++;
      break;
    case IRISD_PUBLISH_RETRY:
    case IRISD_PUBLISH_NO_QUORUM:
      ledger->n_again++;
      g_queue_push_tail (&ledger->to_publish, entry);
      break;
    default:
      ck_abort_msg ("%s: %s", irisd_publish_status_get_name (result->status), result->text);
    }
}

static void
publish_more (Ledger *ledger)
{
  while (ledger->n_under_way < 64 && ledger->to_publish.head
         && irisd_engine_get_state (ledger->engine) == IRISD_ENGINE_CONNECTED)
    {
      Entry *entry = g_queue_pop_head (&ledger->to_publish);
      g_autofree char *id = g_strdup_printf ("%u", entry->number);
      ledger->n_under_way++;
      irisd_engine_publish (ledger->engine,
                            &(IrisdEnginePublication){ .subject = "iris.w.any.soft.-.echo",
                                                       .data = id,
                                                       .length = strlen (id),
                                                       .message_id = id },
                            on_entry_published, entry);
    }
}

static void
on_entry (IrisdPull *pull, const IrisdEngineMessage *message, gpointer user_data)
{
  Ledger *ledger = user_data;
  g_autofree char *text = g_strndup (message->data, message->length);

  if (ledger->n_received[g_ascii_strtoull (text, NULL, 10)]++ == 0)
    ledger->n_distinct++;
  irisd_engine_ack (ledger->engine, message->reply);
  irisd_pull_release (pull, 1);
}

static void
run_ledger (IrisdEngine *engine, void (*fault) (IrisdEngine *engine))
{
  static const IrisdPullEvents events = { .message = on_entry };
  const IrisdPullOptions pulling = {
    .stream = "IRIS", .consumer = "any", .window = 64, .expires_ms = 2000
  };
  Ledger *ledger = g_new0 (Ledger, 1);
  IrisdPull *pull = irisd_pull_new (engine, &pulling, &events, ledger);

  ledger->engine = engine;
  for (guint i = 0; i < N_ITEMS; i++)
    {
      ledger->entries[i] = (Entry){ ledger, i };
      g_queue_push_tail (&ledger->to_publish, &ledger->entries[i]);
    }
  wait_for ((publish_more (ledger), ledger->n_stored > N_ITEMS / 4));
  fault (engine);
  wait_for ((publish_more (ledger), ledger->n_stored == N_ITEMS));
  wait_for (ledger->n_distinct == N_ITEMS);
  ck_assert_uint_gt (ledger->n_again, 0);
  /* What was received, and whose acknowledgement was lost, comes again. */
  wait_for (count_messages (engine, "IRIS") == 0);
  irisd_pull_free (pull);
  irisd_engine_free (engine);
  g_queue_clear (&ledger->to_publish);
  g_free (ledger);
}

static void
kill_leader (IrisdEngine *engine)
{
  g_autofree char *leader = find_leader (engine, "IRIS");

  nats_servers_kill (&servers, nats_servers_find (&servers, leader), SIGKILL);
}

TEST (no_item_is_lost_when_the_leader_is_killed) { run_ledger (start_three (), kill_leader); }

static void
kill_own_server (IrisdEngine *engine)
{
  guint own = nats_servers_find_by_url (&servers, irisd_engine_get_server (engine));

  nats_servers_kill (&servers, own, SIGKILL);
  /* It may have another one in the same turn of the main loop. */
  wait_for (irisd_engine_get_n_reconnects (engine) == 1);
}

TEST (no_item_is_lost_when_the_own_server_is_killed)
{
  run_ledger (start_three (), kill_own_server);
}

/* ---- Reconnecting ---- */

static void
count (IrisdEngine *engine, const IrisdEngineMessage *message, gpointer user_data)
{
  ++*(guint *) user_data;
}

TEST (a_server_that_was_not_configured_is_found_after_the_own_one_has_gone)
{
  g_autofree char *url = NULL;
  IrisdEngine *engine = start_three ();
  guint n_heard = 0;

  irisd_engine_free (engine);
  url = g_strdup_printf ("nats://127.0.0.1:%u", servers.ports[0]);
  engine = connect_to (url);
  irisd_engine_subscribe (engine, "iris.n.home.end", count, &n_heard);
  nats_servers_kill (&servers, 0, SIGKILL);
  wait_for (irisd_engine_get_n_reconnects (engine) == 1);
  ck_assert_uint_ne (nats_servers_find_by_url (&servers, irisd_engine_get_server (engine)), 0);
  ck_assert (irisd_engine_send (engine, "iris.n.home.end", NULL, NULL, 0, "x", 1));
  wait_for (n_heard == 1);
  irisd_engine_free (engine);
}

TEST (a_server_may_start_after_the_engine)
{
  g_autofree char *url = NULL;
  IrisdEngineOptions late = { 0 };
  IrisdEngine *engine;

  nats_servers_start (&servers, 1, NULL);
  nats_servers_kill (&servers, 0, SIGKILL);
  late.url = url = nats_servers_get_url (&servers);
  engine = connect_with (&late);
  wait_for (irisd_engine_get_last_error (engine) != NULL);
  ck_assert_int_eq (irisd_engine_get_state (engine), IRISD_ENGINE_CONNECTING);
  nats_servers_start_one (&servers, 0);
  wait_for (irisd_engine_get_state (engine) == IRISD_ENGINE_CONNECTED);
  irisd_engine_free (engine);
}

TEST (a_stopped_server_does_not_stop_the_owner)
{
  g_autofree char *url = NULL;
  IrisdEngine *engine;
  Publishing publishing[60];
  g_autofree char *body = g_strnfill (900000, 'x');
  guint n_turns = 0;

  nats_servers_start (&servers, 1, NULL);
  url = nats_servers_get_url (&servers);
  engine = connect_to (url);
  kill (servers.pids[0], SIGSTOP);
  waitpid (servers.pids[0], NULL, WUNTRACED);
  /* Much more than the sockets take. */
  for (guint i = 0; i < G_N_ELEMENTS (publishing); i++)
    publish_begin (engine, &publishing[i],
                   &(IrisdEnginePublication){
                       .subject = "iris.w.any.soft.-.x", .data = body, .length = 900000 });
  wait_for ((n_turns++, irisd_engine_get_n_unanswered (engine) == 0));
  for (guint i = 0; i < G_N_ELEMENTS (publishing); i++)
    ck_assert_int_eq (publishing[i].result.status, IRISD_PUBLISH_NO_QUORUM);
  /* The main loop went on: it had its turns of 50 ms during the time-out. */
  ck_assert_uint_ge (n_turns, 10);
  kill (servers.pids[0], SIGCONT);
  irisd_engine_free (engine);
}

/* ---- Identity ---- */

/* Keys of the documentation of NATS, for examples. */
#define NKEY      "UDXU4RCSJNZOIQHZNWXHXORDPRTGNJAHAHFRGZNEEJCPQTT2M7NLCNF4"
#define NKEY_SEED "SUACSSL3UAHUDXKFSNVUZRF5UHPMWZ6BFDTJ7M6USDXIEDNPPQYYYCU3VY"

TEST (a_key_lets_in_and_a_missing_permission_is_told_with_the_time_out)
{
  g_autofree char *url = NULL, *seed = NULL;
  IrisdEngineOptions with_key = { .nkey = NKEY };
  IrisdEngine *engine;
  gint code;

  nats_servers_start (&servers, 1,
                      "authorization { users: [ { nkey: " NKEY
                      ", permissions: { publish: \"iris.w.>\", "
                      "subscribe: \"_MINE.>\" } } ] }\n");
  with_key.url = url = nats_servers_get_url (&servers);
  with_key.nkey_seed = seed = g_build_filename (servers.folder, "seed", NULL);
  with_key.inbox_prefix = "_MINE";
  ck_assert (g_file_set_contents (seed, NKEY_SEED, -1, NULL));
  engine = connect_with (&with_key);
  wait_for (irisd_engine_get_state (engine) == IRISD_ENGINE_CONNECTED);
  ck_assert_ptr_null (request (engine, "$JS.API.INFO", NULL, &code));
  ck_assert_int_eq (code, IRISD_ENGINE_ERROR_TIMEOUT);
  ck_assert_ptr_nonnull (
      strstr (irisd_engine_get_last_error (engine), "may not publish to \"$JS.API.INFO\""));
  irisd_engine_free (engine);
}

TEST (a_wrong_user_is_refused_for_ever_and_let_in_when_the_servers_know_it)
{
  g_autofree char *url = NULL;
  IrisdEngineOptions named = { 0 };
  IrisdEngine *engine;

  nats_servers_start (&servers, 1, "authorization { user: ada, password: other }\n");
  named.url = url = g_strdup_printf ("nats://ada:secret@127.0.0.1:%u", servers.ports[0]);
  engine = connect_with (&named);
  for (guint i = 0; i < 3; i++)
    {
      wait_for (irisd_engine_get_last_error (engine)
                && irisd_engine_get_trouble (engine) == IRISD_ENGINE_TROUBLE_LOGIN);
      turn ();
    }
  ck_assert_int_eq (irisd_engine_get_state (engine), IRISD_ENGINE_CONNECTING);
  nats_servers_kill (&servers, 0, SIGKILL);
  servers.more = "authorization { user: ada, password: secret }\n";
  nats_servers_start_one (&servers, 0);
  wait_for (irisd_engine_get_state (engine) == IRISD_ENGINE_CONNECTED);
  irisd_engine_free (engine);
}

static void
make_certificates (const char *folder)
{
  g_autofree char *command = g_strdup_printf (
      "cd '%s' && openssl req -x509 -newkey rsa:2048 -nodes -keyout key.pem -out cert.pem -days 2 "
      "-subj /CN=127.0.0.1 -addext subjectAltName=IP:127.0.0.1 2>/dev/null",
      folder);
  const char *arguments[] = { "/bin/sh", "-c", command, NULL };
  int status = -1;

  ck_assert (
      g_spawn_sync (NULL, (char **) arguments, NULL, 0, NULL, NULL, NULL, NULL, &status, NULL));
  ck_assert_int_eq (status, 0);
}

TEST (over_tls_many_large_messages_go_both_ways)
{
  g_autofree char *folder = g_dir_make_tmp ("iris-tls-XXXXXX", NULL);
  g_autofree char *ca = g_build_filename (folder, "cert.pem", NULL);
  g_autofree char *key = g_build_filename (folder, "key.pem", NULL);
  g_autofree char *more = g_strdup_printf (
      "tls { cert_file: \"%s\", key_file: \"%s\", ca_file: \"%s\", verify: true }\n", ca, key, ca);
  g_autofree char *url = NULL, *body = g_strnfill (200000, 'x');
  IrisdEngineOptions secure = { .tls_ca = ca, .tls_cert = ca, .tls_key = key };
  IrisdEngine *engine;
  guint n_heard = 0;

  make_certificates (folder);
  nats_servers_start (&servers, 1, more);
  secure.url = url = nats_servers_get_url (&servers);
  engine = connect_with (&secure);
  wait_for (irisd_engine_get_state (engine) == IRISD_ENGINE_CONNECTED);
  irisd_engine_subscribe (engine, "iris.n.home.end", count, &n_heard);
  for (guint i = 0; i < 100; i++)
    ck_assert (irisd_engine_send (engine, "iris.n.home.end", NULL, NULL, 0, body, 200000));
  wait_for (n_heard == 100);
  irisd_engine_free (engine);
  unlink (ca);
  unlink (key);
  rmdir (folder);
}

int
main (void)
{
  if (!nats_servers_get_program ())
    {
      puts ("1..0 # SKIP IRIS_NATS_SERVER names no nats-server");
      return 0;
    }
  return core_test_run_all ("engine-faults", NULL, tear_down);
}
