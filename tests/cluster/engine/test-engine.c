/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * The engine against three servers that do as they should.
 */
#include "core-test-run.h"
#include "engine-fixture.h"

#include <stdio.h>
#include <string.h>

#define NODE "n-one"

static NatsServers servers;
static IrisdEngine *engine;
/* Leases are short, so that what is not answered comes again in a test's time. */
static const IrisdStreamsOptions options = { .lease_ms = 1000,
                                             .max_items = 100000,
                                             .max_bytes = 256 << 20 };

static void
purge (const char *stream)
{
  g_autofree char *subject = g_strconcat ("$JS.API.STREAM.PURGE.", stream, NULL);

  json_object_unref (request_until_good (engine, subject, NULL));
}

static void
set_up (void)
{
  g_autofree char *url = NULL;

  /* The servers are those of all tests; Check allows no assertion outside of one. */
  if (servers.n == 0)
    nats_servers_start (&servers, 3, NULL);
  url = nats_servers_get_url (&servers);
  engine = connect_to (url);
  make_streams (engine, &options, NODE);
  purge ("IRIS");
  purge ("IRIS_ENDS");
}

static void
tear_down (void)
{
  g_clear_pointer (&engine, irisd_engine_free);
}

/* ---- Connection ---- */

TEST (it_tells_server_and_limits)
{
  ck_assert_ptr_nonnull (irisd_engine_get_server (engine));
  ck_assert_uint_eq (irisd_engine_get_max_payload (engine), 1 << 20);
  ck_assert_int_eq (irisd_engine_get_n_reconnects (engine), 0);
}

static void
refuse (const IrisdEngineOptions *wrong)
{
  g_autoptr (GError) error = NULL;

  ck_assert_ptr_null (irisd_engine_new (wrong, NULL, NULL, &error));
  ck_assert (g_error_matches (error, IRISD_ENGINE_ERROR, IRISD_ENGINE_ERROR_OPTIONS));
}

TEST (wrong_options_are_refused_at_once)
{
  refuse (&(IrisdEngineOptions){ .url = "" });
  refuse (&(IrisdEngineOptions){ .url = "nats://127.0.0.1:1", .tls_ca = "/nonexistent" });
  refuse (&(IrisdEngineOptions){ .url = "nats://127.0.0.1:1", .tls_cert = "/nonexistent" });
  refuse (&(IrisdEngineOptions){ .url = "nats://127.0.0.1:1", .nkey = "U" });
}

TEST (without_a_connection_all_fails_at_once_but_not_inside_of_the_call)
{
  const IrisdEngineOptions nowhere = { .url = "nats://127.0.0.1:1" };
  IrisdEngine *other = connect_with (&nowhere);
  Publishing publishing;
  gint code;

  publish_begin (other, &publishing, &(IrisdEnginePublication){ .subject = "iris.w.any.soft.-.x" });
  ck_assert (!publishing.done);
  wait_for (publishing.done);
  ck_assert_int_eq (publishing.result.status, IRISD_PUBLISH_NO_QUORUM);
  ck_assert (!publishing.result.maybe_stored);
  ck_assert_ptr_null (request (other, "$JS.API.INFO", NULL, &code));
  ck_assert_int_eq (code, IRISD_ENGINE_ERROR_DISCONNECTED);
  wait_for (irisd_engine_get_last_error (other) != NULL);
  ck_assert (!irisd_engine_send (other, "x", NULL, NULL, 0, "", 0));
  irisd_engine_free (other);
}

TEST (what_waits_fails_when_the_engine_is_freed)
{
  Publishing publishing;

  publish_begin (engine, &publishing,
                 &(IrisdEnginePublication){ .subject = "iris.w.any.soft.-.x" });
  g_clear_pointer (&engine, irisd_engine_free);
  ck_assert (publishing.done);
  ck_assert_int_eq (publishing.result.status, IRISD_PUBLISH_NO_QUORUM);
  ck_assert (publishing.result.maybe_stored);
}

/* ---- Streams ---- */

typedef struct
{
  gboolean done;
  guint n_made;
  GString *faults;
  char *promise;
  guint api_level;
  IrisdSync sync;
  guint n_replicas;
} Report;

static void
on_report (IrisdEngine *of,
           const IrisdStreamsReport *report,
           const GError *error,
           gpointer user_data)
{
  Report *self = user_data;

  ck_assert_msg (error == NULL, "%s", error ? error->message : "");
  self->done = TRUE;
  self->n_made = report->made->len;
  self->faults = g_string_new (NULL);
  for (guint i = 0; i < report->faults->len; i++)
    g_string_append_printf (self->faults, "%s\n", (char *) g_ptr_array_index (report->faults, i));
  self->promise = g_strdup (report->promise);
  self->api_level = report->server.api_level;
  self->sync = report->server.sync;
  self->n_replicas = report->server.n_replicas;
}

static void
report_clear (Report *self)
{
  g_string_free (self->faults, TRUE);
  g_free (self->promise);
  memset (self, 0, sizeof *self);
}

TEST (streams_that_were_made_have_no_faults)
{
  g_autofree char *monitor = nats_servers_get_monitor (&servers, 0);
  Report report = { 0 };

  irisd_streams_check (engine, &options, NODE, monitor, on_report, &report);
  wait_for (report.done);
  ck_assert_str_eq (report.faults->str, "");
  ck_assert_uint_ge (report.api_level, IRISD_STREAMS_MIN_API_LEVEL);
  ck_assert_uint_eq (report.n_replicas, 3);
  ck_assert_int_eq (report.sync, IRISD_SYNC_ALWAYS);
  ck_assert_str_eq (report.promise,
                    "An accepted item is on the disk of at least 2 of 3 servers: it survives "
                    "the loss of 1 server, and a power failure of all servers.");
  report_clear (&report);

  irisd_streams_make (engine, &options, NODE, NULL, on_report, &report);
  wait_for (report.done);
  ck_assert_uint_eq (report.n_made, 0);
  ck_assert_int_eq (report.sync, IRISD_SYNC_UNKNOWN);
  report_clear (&report);
}

TEST (each_field_that_differs_is_named)
{
  IrisdStreamsOptions others = options;
  Report report = { 0 };

  others.max_items = 7;
  others.lease_ms = 2000;
  irisd_streams_check (engine, &others, "other", NULL, on_report, &report);
  wait_for (report.done);
  ck_assert_ptr_nonnull (strstr (report.faults->str, "Stream IRIS: max_msgs is 100000, not 7;"));
  ck_assert_ptr_nonnull (
      strstr (report.faults->str, "Consumer any of IRIS: ack_wait is 1000000000, not 2000000000;"));
  ck_assert_ptr_nonnull (strstr (report.faults->str, "Consumer other_soft of IRIS is missing;"));
  report_clear (&report);
}

static void
drop_node (const char *node)
{
  g_autofree char *soft = g_strdup_printf ("$JS.API.CONSUMER.DELETE.IRIS.%s_soft", node);
  g_autofree char *strict = g_strdup_printf ("$JS.API.CONSUMER.DELETE.IRIS.%s_strict", node);
  g_autoptr (JsonObject) first = request (engine, soft, NULL, NULL);
  g_autoptr (JsonObject) second = request (engine, strict, NULL, NULL);

  ck_assert_ptr_nonnull (first);
  ck_assert_ptr_nonnull (second);
}

TEST (a_node_gets_its_consumers)
{
  Report report = { 0 };

  irisd_streams_make (engine, &options, "guest", NULL, on_report, &report);
  wait_for (report.done);
  ck_assert_uint_eq (report.n_made, 2);
  report_clear (&report);
  drop_node ("guest");
}

/* ---- Publishing ---- */

TEST (a_window_of_publications_is_stored_in_order)
{
  const guint n = 3000;
  g_autofree Publishing *all = g_new0 (Publishing, n);

  for (guint i = 0; i < n; i++)
    {
      g_autofree char *id = g_strdup_printf ("window-%u", i);
      const IrisdEngineHeader header = { "Iris-Item", id };
      publish_begin (engine, &all[i],
                     &(IrisdEnginePublication){ .subject = "iris.w.any.soft.-.echo",
                                                .headers = &header,
                                                .n_headers = 1,
                                                .data = id,
                                                .length = strlen (id),
                                                .message_id = id });
    }
  ck_assert_uint_eq (irisd_engine_get_n_unanswered (engine), n);
  wait_for (irisd_engine_get_n_unanswered (engine) == 0);
  for (guint i = 0; i < n; i++)
    {
      ck_assert_int_eq (all[i].result.status, IRISD_PUBLISH_STORED);
      ck_assert (i == 0 || all[i].result.sequence == all[i - 1].result.sequence + 1);
    }
  ck_assert_uint_eq (count_messages (engine, "IRIS"), n);
  ck_assert_int_eq (irisd_engine_get_quorum (engine), IRISD_ENGINE_QUORUM_YES);
}

TEST (the_same_id_is_stored_once)
{
  g_autofree char *id = g_uuid_string_random ();
  Published first = publish (engine, "iris.w.any.soft.-.echo", "a", id);
  Published second = publish (engine, "iris.w.any.soft.-.echo", "a", id);

  ck_assert_int_eq (first.status, IRISD_PUBLISH_STORED);
  ck_assert_int_eq (second.status, IRISD_PUBLISH_DUPLICATE);
  ck_assert_uint_eq (first.sequence, second.sequence);
}

TEST (of_two_ends_at_once_one_wins)
{
  for (guint i = 0; i < 50; i++)
    {
      g_autofree char *subject = g_strdup_printf ("iris.e.home.race-%u", i);
      const IrisdEnginePublication end = {
        .subject = subject, .data = "x", .length = 1, .check_last = TRUE
      };
      Publishing a, b;
      publish_begin (engine, &a, &end);
      publish_begin (engine, &b, &end);
      wait_for (a.done && b.done);
      ck_assert_int_eq (
          (a.result.status == IRISD_PUBLISH_STORED) + (b.result.status == IRISD_PUBLISH_STORED), 1);
      ck_assert_int_eq ((a.result.status == IRISD_PUBLISH_WRONG_SEQUENCE)
                            + (b.result.status == IRISD_PUBLISH_WRONG_SEQUENCE),
                        1);
    }
  /* Without the demand the stream itself refuses a second end. */
  ck_assert_int_eq (publish (engine, "iris.e.home.race-0", "x", NULL).status,
                    IRISD_PUBLISH_WRONG_SEQUENCE);
}

TEST (a_full_stream_says_so)
{
  Published full;

  json_object_unref (
      request_until_good (engine, "$JS.API.STREAM.CREATE.SMALL",
                          "{\"name\":\"SMALL\",\"subjects\":[\"small.>\"],\"discard\":"
                          "\"new\",\"max_msgs\":2,\"storage\":\"memory\"}"));
  ck_assert_int_eq (publish (engine, "small.a", "x", NULL).status, IRISD_PUBLISH_STORED);
  ck_assert_int_eq (publish (engine, "small.b", "x", NULL).status, IRISD_PUBLISH_STORED);
  full = publish (engine, "small.c", "x", NULL);
  ck_assert_int_eq (full.status, IRISD_PUBLISH_FULL);
  ck_assert_int_eq (full.code, IRISD_JETSTREAM_STORE_FAILED);
  ck_assert (!full.maybe_stored);
  json_object_unref (request_until_good (engine, "$JS.API.STREAM.DELETE.SMALL", NULL));
  ck_assert_int_eq (publish (engine, "small.d", "x", NULL).status, IRISD_PUBLISH_NO_QUORUM);
  ck_assert_int_eq (irisd_engine_get_quorum (engine), IRISD_ENGINE_QUORUM_NO);
}

TEST (what_is_too_large_is_refused)
{
  g_autofree char *body = g_strnfill ((1 << 20) + 1, 'x');
  Published large = publish (engine, "iris.w.any.soft.-.echo", body, NULL);

  ck_assert_int_eq (large.status, IRISD_PUBLISH_REFUSED);
  ck_assert (!large.maybe_stored);
  ck_assert_int_eq (publish (engine, "iris.w.any.soft.-.echo", "small", NULL).status,
                    IRISD_PUBLISH_STORED);
}

/* ---- Pulls ---- */

static void
publish_many (const char *subject, guint n)
{
  g_autofree Publishing *all = g_new0 (Publishing, n);

  for (guint i = 0; i < n; i++)
    publish_begin (engine, &all[i],
                   &(IrisdEnginePublication){ .subject = subject, .data = "x", .length = 1 });
  wait_for (irisd_engine_get_n_unanswered (engine) == 0);
}

static void
count_requests (IrisdEngine *of, const IrisdEngineMessage *message, gpointer user_data)
{
  ++*(guint *) user_data;
}

static void
ack_all (Puller *puller)
{
  for (guint i = 0; i < puller->acks->len; i++)
    irisd_engine_ack (engine, g_ptr_array_index (puller->acks, i));
}

TEST (a_thief_takes_at_its_threshold_and_an_owner_at_any)
{
  guint n_requests = 0;
  Puller *thief = puller_new (engine, NODE "_soft", IRISD_PULL_THIEF, 1, 10), *owner;

  irisd_engine_subscribe (engine, "$JS.API.CONSUMER.MSG.NEXT.IRIS." NODE "_soft", count_requests,
                          &n_requests);
  publish_many ("iris.w." NODE ".soft.-.echo", 9);
  /* A request that began after nine were stored, and one after it, so the first has expired. */
  n_requests = 0;
  wait_for (n_requests >= 2);
  ck_assert_uint_eq (thief->acks->len, 0);
  publish_many ("iris.w." NODE ".soft.-.echo", 1);
  wait_for (thief->acks->len >= 1);
  ck_assert_uint_eq (irisd_pull_get_n_held (thief->pull), 1);
  owner = puller_new (engine, NODE "_soft", IRISD_PULL_OWNER, 32, 0);
  wait_for (owner->acks->len >= 9);
  ck_assert_uint_eq (owner->backlog, 0);
  ack_all (thief);
  ack_all (owner);
  wait_for (count_messages (engine, "IRIS") == 0);
  puller_free (thief);
  puller_free (owner);
}

TEST (a_rescuer_takes_what_its_owner_left)
{
  Puller *owner = puller_new (engine, NODE "_soft", IRISD_PULL_OWNER, 1, 0), *rescuer;

  publish_many ("iris.w." NODE ".soft.-.echo", 3);
  wait_for (owner->acks->len >= 1);
  puller_free (owner);
  rescuer = puller_new (engine, NODE "_soft", IRISD_PULL_RESCUER, 8, 0);
  wait_for (rescuer->acks->len >= 3);
  ack_all (rescuer);
  wait_for (count_messages (engine, "IRIS") == 0);
  puller_free (rescuer);
}

TEST (a_window_is_asked_for_again_when_half_of_it_is_free)
{
  Puller *any = puller_new (engine, "any", IRISD_PULL_PLAIN, 8, 0);

  publish_many ("iris.w.any.soft.-.echo", 100);
  wait_for (any->acks->len >= 8);
  ck_assert_uint_eq (irisd_pull_get_n_held (any->pull), 8);
  for (guint taken = 0; taken < 100; taken++)
    {
      wait_for (any->acks->len > taken);
      ck_assert_uint_le (irisd_pull_get_n_held (any->pull), 8);
      irisd_engine_ack (engine, g_ptr_array_index (any->acks, taken));
      irisd_pull_release (any->pull, 1);
    }
  wait_for (count_messages (engine, "IRIS") == 0);
  ck_assert_uint_ge (any->acks->len, 100);
  puller_free (any);
}

TEST (few_messages_are_asked_for_together_or_for_idle_workers)
{
  const IrisdPullOptions some = { .stream = "IRIS", .consumer = "any", .window = 8, .least = 7 };
  Puller *any;

  publish_many ("iris.w.any.soft.-.echo", 100);
  any = puller_new_with (engine, &some);
  wait_for (any->acks->len >= 8);
  irisd_pull_release (any->pull, 1);
  ck_assert_uint_eq (irisd_pull_get_n_asked (any->pull), 0);
  ck_assert_int_eq (irisd_pull_get_state (any->pull), IRISD_PULL_IDLE);
  irisd_pull_release (any->pull, 1);
  ck_assert_uint_eq (irisd_pull_get_n_asked (any->pull), 2);
  wait_for (irisd_pull_get_n_held (any->pull) == 8);

  irisd_pull_set_window (any->pull, 9);
  ck_assert_uint_eq (irisd_pull_get_n_asked (any->pull), 0);
  irisd_pull_release (any->pull, 2);
  ck_assert_uint_eq (irisd_pull_get_n_asked (any->pull), 3);
  wait_for (irisd_pull_get_n_held (any->pull) == 9);

  /* One is worth a request while the workers have none. */
  irisd_pull_set_window (any->pull, 7);
  irisd_pull_release (any->pull, 3);
  ck_assert_uint_eq (irisd_pull_get_n_asked (any->pull), 1);
  wait_for (irisd_pull_get_n_held (any->pull) == 7);
  ack_all (any);
  puller_free (any);
}

TEST (a_pull_that_is_freed_gives_back_what_is_on_its_way)
{
  Puller *first, *second;

  publish_many ("iris.w.any.soft.-.echo", 200);
  first = puller_new (engine, "any", IRISD_PULL_PLAIN, 100, 0);
  turn ();
  puller_free (first);
  second = puller_new (engine, "any", IRISD_PULL_PLAIN, 300, 0);
  wait_for (second->acks->len >= 200);
  ack_all (second);
  wait_for (count_messages (engine, "IRIS") == 0);
  puller_free (second);
}

/* Each message is delivered once: to the pull that ends, or to the other one. */
TEST (a_pull_that_is_withdrawn_is_given_what_is_on_its_way)
{
  Puller *first, *second;
  guint n_twice = 0;

  publish_many ("iris.w.any.soft.-.echo", 200);
  first = puller_new (engine, "any", IRISD_PULL_PLAIN, 100, 0);
  wait_for (irisd_pull_get_n_asked (first->pull) == 100);
  irisd_pull_withdraw (first->pull);
  wait_for (first->pull == NULL);
  ck_assert_uint_eq (first->acks->len, 100);
  second = puller_new (engine, "any", IRISD_PULL_PLAIN, 300, 0);
  wait_for (first->acks->len + second->acks->len == 200);
  for (guint i = 0; i < second->deliveries->len; i++)
    n_twice += g_array_index (second->deliveries, guint, i) > 1;
  ck_assert_uint_eq (n_twice, 0);
  ack_all (first);
  ack_all (second);
  wait_for (count_messages (engine, "IRIS") == 0);
  puller_free (first);
  puller_free (second);
}

/* One that waits for messages, of which there are none, ends before its requests expire. */
TEST (a_pull_that_waits_ends_when_it_is_withdrawn)
{
  Puller *first = puller_new (engine, "any", IRISD_PULL_PLAIN, 100, 0), *second;

  wait_for (irisd_pull_get_state (first->pull) == IRISD_PULL_WAITING);
  irisd_pull_withdraw (first->pull);
  wait_for (first->pull == NULL);
  publish_many ("iris.w.any.soft.-.echo", 10);
  second = puller_new (engine, "any", IRISD_PULL_PLAIN, 10, 0);
  wait_for (second->acks->len == 10);
  ck_assert_uint_eq (first->acks->len, 0);
  ck_assert_uint_eq (g_array_index (second->deliveries, guint, 0), 1);
  ack_all (second);
  wait_for (count_messages (engine, "IRIS") == 0);
  puller_free (first);
  puller_free (second);
}

TEST (a_nak_brings_an_item_again_and_a_term_buries_it)
{
  Puller *any = puller_new (engine, "any", IRISD_PULL_PLAIN, 10, 0);
  Puller *dead = puller_new (engine, "dead", IRISD_PULL_PLAIN, 10, 0);

  publish_many ("iris.w.any.soft.-.echo", 1);
  wait_for (any->acks->len >= 1);
  irisd_engine_nak (engine, g_ptr_array_index (any->acks, 0), 100);
  wait_for (any->acks->len >= 2);
  irisd_engine_nak (engine, g_ptr_array_index (any->acks, 1), 0);
  wait_for (any->acks->len >= 3);
  for (guint i = 0; i < 3; i++)
    ck_assert_uint_eq (g_array_index (any->deliveries, guint, i), i + 1);
  irisd_engine_term (engine, g_ptr_array_index (any->acks, 2), "no\nsuch service");
  wait_for (dead->acks->len >= 1);
  ck_assert_ptr_nonnull (strstr (g_ptr_array_index (dead->bodies, 0), "no such service"));
  ack_all (dead);
  wait_for (count_messages (engine, "IRIS") == 0);
  wait_for (count_messages (engine, "IRIS_DEADADV") == 0);
  puller_free (any);
  puller_free (dead);
}

TEST (work_in_progress_keeps_the_lease)
{
  Puller *any = puller_new (engine, "any", IRISD_PULL_PLAIN, 10, 0);
  gint64 before, longest_us = 0;

  publish_many ("iris.w.any.soft.-.echo", 2);
  wait_for (any->acks->len >= 2);
  before = g_get_monotonic_time ();
  /* The first is kept for some leases; the second comes again after one, so that much time has
   * gone. */
  wait_for (({
    gint64 now = g_get_monotonic_time ();
    longest_us = MAX (longest_us, now - before);
    before = now;
    irisd_engine_wpi (engine, g_ptr_array_index (any->acks, 0));
    any->acks->len >= 4;
  }));
  for (guint i = 2; i < any->acks->len; i++)
    {
      IrisdDelivery first, later;
      ck_assert (irisd_delivery_parse (&first, g_ptr_array_index (any->acks, 0)));
      ck_assert (irisd_delivery_parse (&later, g_ptr_array_index (any->acks, i)));
      /* A process that the machine did not let work lost its lease. */
      if (longest_us < (gint64) options.lease_ms * 1000 / 2)
        ck_assert_uint_ne (first.stream_sequence, later.stream_sequence);
    }
  puller_free (any);
}

TEST (a_pull_of_no_consumer_is_in_trouble_and_begins_when_there_is_one)
{
  Puller *late = puller_new (engine, "late_soft", IRISD_PULL_OWNER, 10, 0);
  Report report = { 0 };

  wait_for (irisd_pull_get_state (late->pull) == IRISD_PULL_TROUBLE);
  ck_assert_ptr_nonnull (irisd_pull_get_reason (late->pull));
  irisd_streams_make (engine, &options, "late", NULL, on_report, &report);
  wait_for (report.done);
  report_clear (&report);
  publish_many ("iris.w.late.soft.-.echo", 1);
  wait_for (late->acks->len >= 1);
  ck_assert_int_eq (irisd_pull_get_state (late->pull), IRISD_PULL_WAITING);
  drop_node ("late");
  puller_free (late);
}

/* With a window of one the pull asks for nothing meanwhile, so the server does not tell it. */
static void
make_again (guint window)
{
  Puller *any = puller_new (engine, "any", IRISD_PULL_PLAIN, window, 0);
  Report report = { 0 };

  publish_many ("iris.w.any.soft.-.echo", 2);
  wait_for (any->acks->len >= MIN (window, 2));
  ck_assert_uint_eq (any->n_anew, 0);
  json_object_unref (request_until_good (engine, "$JS.API.CONSUMER.DELETE.IRIS.any", NULL));
  if (window > 1)
    wait_for (irisd_pull_get_state (any->pull) == IRISD_PULL_GONE);
  irisd_streams_make (engine, &options, NODE, NULL, on_report, &report);
  wait_for (report.done);
  report_clear (&report);
  irisd_pull_release (any->pull, irisd_pull_get_n_held (any->pull));
  /* Nothing is acknowledged, so both come from the new one. */
  wait_for (any->acks->len >= MIN (window, 2) + 1);
  ck_assert_uint_ge (any->n_anew, 1);
  puller_free (any);
}

TEST (a_consumer_that_was_deleted_counts_deliveries_anew) { make_again (10); }

TEST (a_consumer_that_was_made_again_unseen_counts_deliveries_anew) { make_again (1); }

/* ---- Reading ---- */

typedef struct
{
  guint n;
  gboolean done;
  gint code;
  guint64 sequence;
  gpointer kept;
  char *subject;
  char *data;
  char *header;
} Read;

static void
on_read (IrisdEngine *of,
         const IrisdEngineMessage *message,
         const GError *error,
         gpointer user_data)
{
  Read *read = user_data;

  read->done = message == NULL || read->done;
  read->code = error ? error->code : -1;
  if (!message)
    return;
  read->n++;
  read->sequence = message->sequence;
  g_free (read->subject);
  g_free (read->data);
  g_free (read->header);
  read->subject = g_strdup (message->subject);
  read->data = g_strndup (message->data, message->length);
  read->header = g_strdup (irisd_engine_message_get_header (message, "Iris-Version"));
  irisd_engine_kept_free (irisd_engine_message_keep (message));
}

static void
read_clear (Read *read)
{
  g_free (read->subject);
  g_free (read->data);
  g_free (read->header);
  memset (read, 0, sizeof *read);
}

TEST (an_end_is_read_by_its_subject_and_by_its_number)
{
  Published end = publish_first (engine, "iris.e.home.home-1-00000000000000aa", "the end");
  Read read = { 0 };

  irisd_engine_get_last (engine, "IRIS_ENDS", "iris.e.home.home-1-00000000000000aa", on_read,
                         &read);
  wait_for (read.n == 1);
  ck_assert_uint_eq (read.sequence, end.sequence);
  ck_assert_str_eq (read.subject, "iris.e.home.home-1-00000000000000aa");
  ck_assert_str_eq (read.data, "the end");
  do
    {
      /* A follower may not have it yet. */
      read_clear (&read);
      irisd_engine_get_sequence (engine, "IRIS_ENDS", end.sequence, on_read, &read);
      wait_for (read.n == 1 || read.done);
    }
  while (read.n == 0);
  ck_assert_str_eq (read.data, "the end");
  read_clear (&read);
  irisd_engine_get_last (engine, "IRIS_ENDS", "iris.e.home.home-2-00000000000000aa", on_read,
                         &read);
  wait_for (read.done);
  ck_assert_int_eq (read.code, IRISD_ENGINE_ERROR_NOT_FOUND);
}

TEST (an_end_is_found_at_once_by_all)
{
  const IrisdEngineHeader header = { "Iris-Version", "1" };

  for (guint i = 0, n_stored = 0; n_stored < 200; i++)
    {
      g_autofree char *subject = g_strdup_printf ("iris.e.home.fresh-%u", i);
      Publishing publishing;
      Read read = { 0 };
      publish_begin (engine, &publishing,
                     &(IrisdEnginePublication){ .subject = subject,
                                                .headers = &header,
                                                .n_headers = 1,
                                                .data = subject,
                                                .length = strlen (subject) });
      wait_for (publishing.done);
      /* The servers of a busy machine may be silent for longer than the engine waits. */
      if (publishing.result.status != IRISD_PUBLISH_STORED)
        continue;
      n_stored++;
      do
        {
          read_clear (&read);
          irisd_engine_get_last (engine, "IRIS_ENDS", subject, on_read, &read);
          wait_for (read.n == 1 || read.done);
        }
      while (read.code == IRISD_ENGINE_ERROR_TIMEOUT);
      ck_assert_uint_eq (read.n, 1);
      ck_assert_uint_eq (read.sequence, publishing.result.sequence);
      ck_assert_str_eq (read.data, subject);
      ck_assert_str_eq (read.subject, subject);
      ck_assert_str_eq (read.header, "1");
      read_clear (&read);
    }
}

static void
read_each (const char *subject, Read *read)
{
  do
    {
      read_clear (read);
      irisd_engine_get_last_of_each (engine, "KV_iris_nodes", subject, on_read, read);
      wait_for (read->done);
    }
  while (read->code == IRISD_ENGINE_ERROR_TIMEOUT);
}

TEST (the_last_message_of_each_key_is_read)
{
  g_autofree char *all = irisd_streams_get_nodes_subject (&options, "*");
  Read read = { 0 };

  read_each ("$KV.iris_nodes.nowhere", &read);
  ck_assert_int_eq (read.code, -1);
  ck_assert_uint_eq (read.n, 0);
  read_clear (&read);
  for (guint i = 0; i < 20; i++)
    {
      g_autofree char *key = g_strdup_printf ("node%u", i / 2);
      g_autofree char *subject = irisd_streams_get_nodes_subject (&options, key);
      wait_for (publish (engine, subject, "value", NULL).status == IRISD_PUBLISH_STORED);
    }
  read_each (all, &read);
  ck_assert_int_eq (read.code, -1);
  ck_assert_uint_eq (read.n, 10);
  read_clear (&read);
}

/* ---- Core ---- */

static void
echo (IrisdEngine *of, const IrisdEngineMessage *message, gpointer user_data)
{
  const char *header = irisd_engine_message_get_header (message, "Iris-Version");

  ck_assert (irisd_engine_send (of, message->reply, NULL, NULL, 0, header ? header : "none",
                                header ? strlen (header) : 4));
}

TEST (a_question_has_one_answer_or_an_error)
{
  const IrisdEngineHeader header = { "Iris-Version", "1" };
  IrisdEngineSubscription *subscription = irisd_engine_subscribe (engine, "iris.n.home.ask", echo,
                                                                  NULL);
  guint n_heard = 0;
  Read read = { 0 };

  irisd_engine_ask (engine, "iris.n.home.ask", &header, 1, "q", 1, 0, on_read, &read);
  wait_for (read.n == 1);
  ck_assert_str_eq (read.data, "1");
  read_clear (&read);
  irisd_engine_unsubscribe (subscription);
  irisd_engine_ask (engine, "iris.n.home.ask", NULL, 0, "q", 1, 0, on_read, &read);
  wait_for (read.done);
  ck_assert_int_eq (read.code, IRISD_ENGINE_ERROR_NO_RESPONDERS);
  read_clear (&read);
  irisd_engine_subscribe (engine, "iris.n.home.ask", count_requests, &n_heard);
  irisd_engine_ask (engine, "iris.n.home.ask", NULL, 0, "q", 1, 300, on_read, &read);
  wait_for (read.done);
  ck_assert_int_eq (read.code, IRISD_ENGINE_ERROR_TIMEOUT);
  ck_assert_uint_eq (n_heard, 1);
}

TEST (an_error_of_the_api_has_its_code)
{
  gint code;

  ck_assert_ptr_null (request (engine, "$JS.API.STREAM.INFO.NONE", NULL, &code));
  ck_assert_int_eq (code, IRISD_JETSTREAM_STREAM_NOT_FOUND);
}

int
main (void)
{
  int failed;

  if (!nats_servers_get_program ())
    {
      puts ("1..0 # SKIP IRIS_NATS_SERVER names no nats-server");
      return 0;
    }
  failed = core_test_run_all ("engine", set_up, tear_down);
  nats_servers_stop (&servers);
  return failed;
}
