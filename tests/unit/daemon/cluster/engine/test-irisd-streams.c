/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * What streams and consumers are asked for, compared with what there is; and the promise.
 */
#include "core-test-run.h"
#include "daemon/cluster/engine/irisd-engine-parse.h"
#include "daemon/cluster/engine/irisd-streams.h"

#include <string.h>

static JsonObject *
parse (const char *text)
{
  g_autoptr (JsonParser) parser = json_parser_new ();

  ck_assert (json_parser_load_from_data (parser, text, -1, NULL));
  return json_object_ref (json_node_get_object (json_parser_get_root (parser)));
}

static char *
compare (const char *wanted, const char *found)
{
  g_autoptr (JsonObject) a = parse (wanted), b = parse (found);
  g_autoptr (GPtrArray) differences = irisd_streams_compare (a, b);

  g_ptr_array_add (differences, NULL);
  return g_strjoinv ("\n", (char **) differences->pdata);
}

static void
check (const char *wanted, const char *found, const char *differences)
{
  g_autofree char *told = compare (wanted, found);

  ck_assert_str_eq (told, differences);
}

TEST (only_what_differs_is_told)
{
  check ("{\"a\":1,\"b\":\"x\"}", "{\"a\":1,\"b\":\"x\",\"c\":2}", "");
  check ("{\"a\":1,\"b\":\"x\"}", "{\"a\":2}", "a is 2, not 1\nb is missing, not \"x\"");
  /* Servers leave out what is nothing. */
  check ("{\"a\":false,\"b\":0}", "{}", "");
  check ("{\"a\":true}", "{}", "a is missing, not true");
  check ("{}", "{\"a\":true}", "");
  /* Inside of arrays and objects as well. */
  check ("{\"a\":[{\"b\":1}]}", "{\"a\":[{\"b\":1,\"more\":2}]}", "");
  check ("{\"a\":[{\"b\":1}]}", "{\"a\":[{\"b\":2}]}", "a is [{\"b\":2}], not [{\"b\":1}]");
  check ("{\"a\":[1]}", "{\"a\":[1,2]}", "a is [1,2], not [1]");
  check ("{\"a\":[1]}", "{\"a\":{}}", "a is {}, not [1]");
}

TEST (options_are_in_the_configurations)
{
  const IrisdStreamsOptions options = {
    .stream = "CELL", .replicas = 1, .max_items = 5, .keep_ms = 1000, .lease_ms = 7, .max_tries = 2
  };
  g_autoptr (JsonObject) work = irisd_streams_get_config (&options, IRISD_STREAM_WORK);
  g_autoptr (JsonObject) ends = irisd_streams_get_config (&options, IRISD_STREAM_ENDS);
  g_autoptr (JsonObject)
      soft = irisd_streams_get_consumer_config (&options, IRISD_CONSUMER_SOFT, "n1");
  g_autoptr (JsonObject)
      strict = irisd_streams_get_consumer_config (&options, IRISD_CONSUMER_STRICT, "n1");
  g_autofree char *key = irisd_streams_get_nodes_subject (&options, "n1");

  ck_assert_str_eq (irisd_json_get_string (work, "name"), "CELL");
  ck_assert_int_eq (irisd_json_get_int (work, "num_replicas"), 1);
  ck_assert_int_eq (irisd_json_get_int (work, "max_msgs"), 5);
  ck_assert_str_eq (irisd_json_get_string (ends, "name"), "CELL_ENDS");
  /* The window of duplicates is never longer than what is kept. */
  ck_assert_int_eq (irisd_json_get_int (ends, "duplicate_window"), 1000000000);
  ck_assert_int_eq (irisd_json_get_int (soft, "ack_wait"), 7000000);
  ck_assert_int_eq (irisd_json_get_int (soft, "max_deliver"), 2);
  ck_assert_str_eq (irisd_json_get_string (soft, "priority_policy"), "overflow");
  ck_assert_str_eq (irisd_json_get_string (strict, "filter_subject"), "iris.w.n1.strict.>");
  ck_assert (!json_object_has_member (strict, "priority_policy"));
  ck_assert_str_eq (key, "$KV.cell_nodes.n1");
}

/* The servers would else end an item that has more retries. */
TEST (deliveries_have_no_end_unless_it_is_said)
{
  const IrisdStreamsOptions options = { .replicas = 1 };
  g_autoptr (JsonObject)
      any = irisd_streams_get_consumer_config (&options, IRISD_CONSUMER_ANY, NULL);

  ck_assert_int_eq (irisd_json_get_int (any, "max_deliver"), -1);
}

/* As tools of NATS make a bucket, with the limits of this cluster. */
TEST (bodies_are_an_object_store)
{
  const IrisdStreamsOptions options = { .keep_ms = 1000, .max_bodies = 7 << 20 };
  g_autoptr (JsonObject) bodies = irisd_streams_get_config (&options, IRISD_STREAM_BODIES);
  JsonArray *subjects = json_object_get_array_member (bodies, "subjects");

  ck_assert_str_eq (irisd_json_get_string (bodies, "name"), "OBJ_iris_bodies");
  ck_assert_str_eq (json_array_get_string_element (subjects, 0), "$O.iris_bodies.C.>");
  ck_assert_str_eq (json_array_get_string_element (subjects, 1), "$O.iris_bodies.M.>");
  ck_assert_str_eq (irisd_json_get_string (bodies, "discard"), "new");
  ck_assert_int_eq (irisd_json_get_int (bodies, "max_bytes"), 7 << 20);
  ck_assert_int_eq (irisd_json_get_int (bodies, "max_age"), 1000000000);
  ck_assert_int_eq (irisd_json_get_int (bodies, "duplicate_window"), 1000000000);
}

TEST (sync_is_read_from_the_monitoring_port)
{
  g_auto (IrisdServerFacts) facts = { 0 };

  ck_assert (irisd_server_facts_read_varz (
      &facts, "{\"jetstream\":{\"config\":{\"sync_interval\":120000000000,\"sync_always\":true}}}",
      -1));
  ck_assert_int_eq (facts.sync, IRISD_SYNC_ALWAYS);
  ck_assert (irisd_server_facts_read_varz (
      &facts, "{\"jetstream\":{\"config\":{\"sync_interval\":120000000000}}}", -1));
  ck_assert_int_eq (facts.sync, IRISD_SYNC_LATER);
  ck_assert_ptr_null (facts.version);
  ck_assert (irisd_server_facts_read_varz (
      &facts,
      "{\"version\":\"2.15.2\",\"jetstream\":{\"config\":{\"sync_interval\":120000000000}}}", -1));
  ck_assert_str_eq (facts.version, "2.15.2");
  ck_assert (!irisd_server_facts_read_varz (&facts, "{\"jetstream\":{}}", -1));
  ck_assert (!irisd_server_facts_read_varz (&facts, "<html>", -1));
}

TEST (the_promise_is_no_larger_than_what_is_known)
{
  const IrisdStreamsOptions options = { 0 };
  IrisdServerFacts facts = { .n_replicas = 3,
                             .sync = IRISD_SYNC_LATER,
                             .sync_interval_ns = 120000000000 };
  g_autofree char *later = irisd_streams_describe_promise (&options, &facts);
  g_autofree char *unknown = NULL, *alone = NULL;

  ck_assert_ptr_nonnull (strstr (later, "within 120 s"));
  ck_assert_ptr_nonnull (strstr (later, "but not a power failure of 2 servers at once"));
  facts.sync = IRISD_SYNC_UNKNOWN;
  unknown = irisd_streams_describe_promise (&options, &facts);
  ck_assert_ptr_nonnull (strstr (unknown, "only if they have \"sync_interval: always\""));
  facts.n_replicas = 1;
  facts.sync = IRISD_SYNC_ALWAYS;
  alone = irisd_streams_describe_promise (&options, &facts);
  ck_assert_str_eq (
      alone,
      "An accepted item is on the disk of 1 server: it survives the crash of its server, and "
      "a power failure of all servers, but not the loss of its disk.");
}

TEST_MAIN ("streams", NULL, NULL)
