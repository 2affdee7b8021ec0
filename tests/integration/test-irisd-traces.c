/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * Items that belong to a distributed trace: what is passed on, and what is told when they end.
 */
#include "irisd-home.h"

#define TRACE   "0af7651916cd43dd8448eb211c80319c"
#define SPAN    "b7ad6b7169203331"
#define PARENT  "00-" TRACE "-" SPAN "-01"
#define STATE   "rojo=00f067aa0ba902b7,congo=t61rcWkgMzE"
#define HOUR_MS G_GINT64_CONSTANT (3600000)

static Home *home;
static Irisd *irisd;
static Client *client;

static void
begin (void)
{
  irisd = home_start (home, "[limits]\nmemory-items = 0\nread-ahead-ms = 0\n"
                            "in-flight-items = 8192\n");
  client = client_hello (irisd->front);
}

static void
set_up (void)
{
  home = home_new ();
  begin ();
}

static void
tear_down (void)
{
  client_free (client);
  irisd_stop (irisd);
  home_free (home);
}

static void
fill (IrisWireMessage *item, const char *service, guint klass, const char *parent)
{
  persistent_fill (client, item, service, "x", klass);
  if (parent != NULL)
    iris_wire_message_set_string (item, IRIS_WIRE_KEY_TRACEPARENT, parent, -1);
}

/* Spans from number @from on; sets @from behind them. */
static IrisWireSpans *
get_spans (guint64 *from, guint most)
{
  IrisWireMessage request;
  g_autoptr (GError) error = NULL;
  client_init_message (client, &request, IRIS_WIRE_SPANS);
  iris_wire_message_set_uint (&request, IRIS_WIRE_KEY_OFFSET, *from);
  iris_wire_message_set_uint (&request, IRIS_WIRE_KEY_COUNT, most);
  client_send (client, &request);
  const IrisWireMessage *reply = client_receive_type (client, IRIS_WIRE_SPANS_REPLY);
  IrisWireSpans *spans = iris_wire_spans_decode (reply->body, NULL, &error);
  ck_assert_msg (spans != NULL, "%s", error != NULL ? error->message : "no error");
  *from = reply->offset;
  return spans;
}

/* Waits for the only one that there is: FETCH is answered when the journal has the end, and the
 * gateway of the item may tell of it later. */
static IrisWireSpans *
get_span (void)
{
  IrisWireSpans *spans = NULL;
  do
    {
      guint64 from = 0;
      iris_wire_spans_free (spans);
      spans = get_spans (&from, 100);
    }
  while (spans->n_spans == 0);
  ck_assert_uint_eq (spans->n_spans, 1);
  return spans;
}

static void
assert_child (const char *traceparent)
{
  IrisWireTraceparent own;
  ck_assert (iris_wire_traceparent_parse (traceparent, strlen (traceparent), &own));
  ck_assert (g_str_has_prefix (traceparent, "00-" TRACE "-"));
  ck_assert (g_str_has_suffix (traceparent, "-01"));
  ck_assert_ptr_null (strstr (traceparent, SPAN));
}

START_TEST (an_item_that_ended_is_a_span)
{
  IrisWireMessage item;
  fill (&item, "echo", IRIS_WIRE_CLASS_VOLATILE, PARENT);
  iris_wire_message_set_string (&item, IRIS_WIRE_KEY_TRACESTATE, STATE, -1);
  guint64 number = persistent_submit (client, &item);
  client_receive_type (client, IRIS_WIRE_RESULT);
  g_autoptr (IrisWireSpans) spans = get_span ();
  const IrisWireSpan *span = &spans->spans[0];
  assert_child (span->traceparent);
  ck_assert_str_eq (span->parent, SPAN);
  ck_assert_str_eq (span->tracestate, STATE);
  ck_assert_str_eq (span->service, "echo");
  ck_assert_uint_eq (span->item, number);
  ck_assert_uint_eq (span->number, 1);
  ck_assert_uint_eq (span->outcome, IRIS_WIRE_OUTCOME_DONE);
  ck_assert_uint_le (span->accepted_ns, span->started_ns);
  ck_assert_uint_le (span->started_ns, span->ended_ns);
  ck_assert_str_eq (span->message, "");
}
END_TEST

START_TEST (what_failed_says_why)
{
  IrisWireMessage item;
  fill (&item, "sha256", IRIS_WIRE_CLASS_VOLATILE, PARENT);
  item.body = (IrisWireFrame){ 0 };
  iris_wire_message_set_string (&item, IRIS_WIRE_KEY_PATH, "/nonexistent/file", -1);
  persistent_submit (client, &item);
  client_receive_type (client, IRIS_WIRE_ERROR_REPLY);
  g_autoptr (IrisWireSpans) spans = get_span ();
  ck_assert_uint_eq (spans->spans[0].outcome, IRIS_WIRE_OUTCOME_FAILED);
  ck_assert_ptr_nonnull (strstr (spans->spans[0].message, "/nonexistent/file"));
}
END_TEST

START_TEST (what_is_not_to_be_recorded_is_not)
{
  IrisWireMessage item;
  guint64 from = 0;
  fill (&item, "echo", IRIS_WIRE_CLASS_VOLATILE, "00-" TRACE "-" SPAN "-00");
  persistent_submit (client, &item);
  client_receive_type (client, IRIS_WIRE_RESULT);
  fill (&item, "echo", IRIS_WIRE_CLASS_VOLATILE, NULL);
  persistent_submit (client, &item);
  client_receive_type (client, IRIS_WIRE_RESULT);
  g_autoptr (IrisWireSpans) spans = get_spans (&from, 100);
  ck_assert_uint_eq (spans->n_spans, 0);
  ck_assert_uint_eq (from, 1);
}
END_TEST

START_TEST (a_text_that_is_none_is_refused)
{
  static const char *const texts[] = { "", "00-" TRACE "-" SPAN, "ff-" TRACE "-" SPAN "-01",
                                       "00-" TRACE "-0000000000000000-01" };
  g_autofree char *long_state = g_strnfill (513, 'a');
  IrisWireMessage item;
  for (guint i = 0; i < G_N_ELEMENTS (texts); i++)
    {
      fill (&item, "echo", IRIS_WIRE_CLASS_VOLATILE, texts[i]);
      client_send (client, &item);
      assert_error (client_receive (client), IRIS_WIRE_ERROR_BAD_ARGUMENT);
    }
  fill (&item, "echo", IRIS_WIRE_CLASS_VOLATILE, NULL);
  iris_wire_message_set_string (&item, IRIS_WIRE_KEY_TRACESTATE, STATE, -1);
  client_send (client, &item);
  assert_error (client_receive (client), IRIS_WIRE_ERROR_BAD_ARGUMENT);
  fill (&item, "echo", IRIS_WIRE_CLASS_VOLATILE, PARENT);
  iris_wire_message_set_string (&item, IRIS_WIRE_KEY_TRACESTATE, long_state, -1);
  client_send (client, &item);
  assert_error (client_receive (client), IRIS_WIRE_ERROR_BAD_ARGUMENT);
}
END_TEST

START_TEST (a_command_has_it_in_its_environment)
{
  IrisWireMessage item;
  fill (&item, "command", IRIS_WIRE_CLASS_VOLATILE, PARENT);
  iris_wire_message_set_string (&item, IRIS_WIRE_KEY_TRACESTATE, STATE, -1);
  iris_wire_message_set_args (
      &item,
      (const char *const[]){ "sh", "-c", "printf '%s %s' \"$TRACEPARENT\" \"$TRACESTATE\"", NULL });
  persistent_submit (client, &item);
  const IrisWireMessage *result = client_receive_type (client, IRIS_WIRE_RESULT);
  g_autofree char *said = g_strndup ((const char *) result->body.data, result->body.size);
  g_autoptr (IrisWireSpans) spans = get_span ();
  g_autofree char *wanted = g_strdup_printf ("%s %s", spans->spans[0].traceparent, STATE);
  ck_assert_str_eq (said, wanted);
  ck_assert_uint_eq (spans->spans[0].exit_status, 0);
}
END_TEST

START_TEST (a_worker_process_gets_it_with_the_lease)
{
  g_autoptr (Client) worker = client_hello (irisd->front);
  IrisWireMessage item, done;
  client_enroll (worker, "render", 1);
  fill (&item, "render", IRIS_WIRE_CLASS_VOLATILE, PARENT);
  persistent_submit (client, &item);
  const IrisWireMessage *lease = client_receive_type (worker, IRIS_WIRE_LEASE);
  g_autofree char *given = iris_wire_string_dup (&lease->traceparent);
  ck_assert (!iris_wire_message_has (lease, IRIS_WIRE_KEY_TRACESTATE));
  assert_child (given);
  iris_wire_message_init (&done, IRIS_WIRE_DONE, lease->request_id);
  client_send (worker, &done);
  client_receive_type (client, IRIS_WIRE_RESULT);
  g_autoptr (IrisWireSpans) spans = get_span ();
  ck_assert_str_eq (spans->spans[0].traceparent, given);
  ck_assert_str_eq (spans->spans[0].service, "render");
}
END_TEST

/* The item is spilled, read again, and runs in another irisd. */
START_TEST (a_persistent_item_keeps_it_over_a_crash)
{
  IrisWireMessage item, show, kick;
  fill (&item, "command", IRIS_WIRE_CLASS_DURABLE, PARENT);
  iris_wire_message_set_args (
      &item, (const char *const[]){ "sh", "-c", "printf %s \"$TRACEPARENT\"", NULL });
  iris_wire_message_set_uint (&item, IRIS_WIRE_KEY_DELAY_MS, HOUR_MS);
  iris_wire_message_set_boolean (&item, IRIS_WIRE_KEY_DETACH, TRUE);
  guint64 number = persistent_submit (client, &item);
  client_free (client);
  irisd_kill (irisd);
  begin ();

  client_init_message (client, &show, IRIS_WIRE_SHOW);
  iris_wire_message_set_uint (&show, IRIS_WIRE_KEY_ITEM, number);
  client_send (client, &show);
  const IrisWireMessage *reply = client_receive_type (client, IRIS_WIRE_SHOW_REPLY);
  g_autoptr (IrisWirePersistentList)
      list = iris_wire_persistent_list_decode (reply->body, NULL, NULL);
  ck_assert_str_eq (list->items[0].traceparent, PARENT);

  client_init_message (client, &kick, IRIS_WIRE_KICK);
  iris_wire_message_set_uint (&kick, IRIS_WIRE_KEY_ITEM, number);
  client_send (client, &kick);
  client_receive_type (client, IRIS_WIRE_CHANGED);
  const IrisWireMessage *result = persistent_fetch (client, number, GIVE_UP_MS);
  g_autofree char *said = g_strndup ((const char *) result->body.data, result->body.size);
  assert_child (said);
  g_autoptr (IrisWireSpans) spans = get_span ();
  ck_assert_str_eq (spans->spans[0].traceparent, said);
  ck_assert_uint_eq (spans->spans[0].item, number);
  ck_assert_uint_eq (spans->spans[0].klass, IRIS_WIRE_CLASS_DURABLE);
}
END_TEST

START_TEST (a_reader_goes_on_where_it_was)
{
  guint64 from = 0;
  for (guint i = 0; i < 5; i++)
    {
      IrisWireMessage item;
      fill (&item, "echo", IRIS_WIRE_CLASS_VOLATILE, PARENT);
      persistent_submit (client, &item);
      client_receive_type (client, IRIS_WIRE_RESULT);
    }
  g_autoptr (IrisWireSpans) some = get_spans (&from, 2);
  g_autoptr (IrisWireSpans) rest = get_spans (&from, 100);
  g_autoptr (IrisWireSpans) none = get_spans (&from, 100);
  ck_assert_uint_eq (some->n_spans, 2);
  ck_assert_uint_eq (rest->n_spans, 3);
  ck_assert_uint_eq (rest->spans[0].number, 3);
  ck_assert_str_ne (rest->spans[0].traceparent, rest->spans[1].traceparent);
  ck_assert_uint_eq (none->n_spans, 0);
  /* It knew another irisd. */
  from = 1000000;
  g_autoptr (IrisWireSpans) all = get_spans (&from, 100);
  ck_assert_uint_eq (all->n_spans, 5);
}
END_TEST

static void
end_some (guint n)
{
  for (guint i = 0; i < n; i++)
    {
      IrisWireMessage item;
      fill (&item, "echo", IRIS_WIRE_CLASS_VOLATILE, PARENT);
      persistent_submit (client, &item);
      client_receive_type (client, IRIS_WIRE_RESULT);
    }
}

/* Asserts that the spans are in a row, and have ids that none before had. Returns the first's
 * number. */
static guint64
check_row (const IrisWireSpans *spans, GHashTable *seen)
{
  for (guint i = 0; i < spans->n_spans; i++)
    {
      ck_assert_uint_eq (spans->spans[i].number, spans->spans[0].number + i);
      ck_assert (g_hash_table_add (seen, g_strdup (spans->spans[i].traceparent)));
    }
  return spans->spans[0].number;
}

/* Each span is told once, or the gap in the numbers counts it. */
START_TEST (what_is_overwritten_is_a_gap)
{
  const guint kept = 4096, late = 100, before = 30;
  g_autoptr (GHashTable) seen = g_hash_table_new_full (g_str_hash, g_str_equal, g_free, NULL);
  guint64 from = 0, n = 0;
  end_some (before);
  g_autoptr (IrisWireSpans) first = get_spans (&from, 10);
  ck_assert_uint_eq (check_row (first, seen), 1);
  ck_assert_uint_eq (from, 11);
  end_some (kept + late - before);
  for (guint64 expected = late + 1; expected <= kept + late; expected = from)
    {
      g_autoptr (IrisWireSpans) spans = get_spans (&from, G_MAXUINT32);
      ck_assert_uint_gt (spans->n_spans, 0);
      ck_assert_uint_eq (check_row (spans, seen), expected);
      n += spans->n_spans;
    }
  ck_assert_uint_eq (n, kept);
  ck_assert_uint_eq (from, kept + late + 1);
  ck_assert_uint_eq (g_hash_table_size (seen), kept + 10);
}
END_TEST

int
main (void)
{
  Suite *suite = suite_create ("irisd-traces");
  TCase *traces = tcase_create ("traces");
  tcase_add_checked_fixture (traces, set_up, tear_down);
  tcase_add_test (traces, an_item_that_ended_is_a_span);
  tcase_add_test (traces, what_failed_says_why);
  tcase_add_test (traces, what_is_not_to_be_recorded_is_not);
  tcase_add_test (traces, a_text_that_is_none_is_refused);
  tcase_add_test (traces, a_command_has_it_in_its_environment);
  tcase_add_test (traces, a_worker_process_gets_it_with_the_lease);
  tcase_add_test (traces, a_persistent_item_keeps_it_over_a_crash);
  tcase_add_test (traces, a_reader_goes_on_where_it_was);
  tcase_add_test (traces, what_is_overwritten_is_a_gap);
  suite_add_tcase (suite, traces);
  return core_test_run (suite);
}
