/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * What servers send, parsed; and what they should not send, refused.
 */
#include "core-test-run.h"
#include "daemon/cluster/engine/irisd-engine-parse.h"
#include "daemon/cluster/engine/irisd-engine.h"

#include <string.h>

static gboolean
parse (IrisdPubAck *ack, const char *text)
{
  return irisd_pub_ack_parse (ack, text, strlen (text));
}

TEST (an_answer_is_stored_or_a_duplicate_or_an_error)
{
  g_auto (IrisdPubAck) ack = { 0 };

  ck_assert (parse (&ack, "{\"stream\":\"IRIS\",\"seq\":17}"));
  ck_assert (ack.stored && !ack.duplicate && ack.sequence == 17);
  ck_assert (parse (&ack, "{\"stream\":\"IRIS\",\"seq\":17,\"duplicate\":true}"));
  ck_assert (ack.stored && ack.duplicate && ack.sequence == 17);
  /* Forms that are not the short one. */
  ck_assert (parse (&ack, "{ \"seq\": 18, \"stream\": \"IRIS\", \"domain\": \"hub\" }"));
  ck_assert (ack.stored && !ack.duplicate && ack.sequence == 18);
  ck_assert (parse (
      &ack,
      "{\"error\":{\"code\":503,\"err_code\":10077,\"description\":\"maximum messages exceeded\"},"
      "\"stream\":\"IRIS\",\"seq\":0}"));
  ck_assert (!ack.stored && ack.code == 503 && ack.err_code == 10077);
  ck_assert_str_eq (ack.description, "maximum messages exceeded");
}

TEST (what_is_no_answer_is_refused)
{
  static const char *const bad[] = { "",
                                     "x",
                                     "{}",
                                     "[]",
                                     "null",
                                     "{\"stream\":\"IRIS\"}",
                                     "{\"stream\":\"IRIS\",\"seq\":0}",
                                     "{\"stream\":\"IRIS\",\"seq\":-1}",
                                     "{\"stream\":\"IRIS\",\"seq\":\"17\"}",
                                     "{\"stream\":\"IRIS\",\"seq\":17",
                                     "{\"stream\":\"IRIS\",\"seq\":17}}",
                                     "{\"seq\":17}",
                                     "{\"error\":7}",
                                     "{\"stream\":1,\"seq\":17}",
                                     "{\"stream\":\"IRIS\",\"seq\":99999999999999999999999}",
                                     "{\"stream\":\"\xff\",\"seq\":[17]}" };

  for (guint i = 0; i < G_N_ELEMENTS (bad); i++)
    {
      g_auto (IrisdPubAck) ack = { 0 };
      ck_assert_msg (!parse (&ack, bad[i]), "%s", bad[i]);
    }
}

TEST (each_part_of_an_answer_is_refused)
{
  static const char whole[] = "{\"stream\":\"IRIS\",\"seq\":17,\"duplicate\":true}";

  for (gsize length = 0; length < sizeof whole - 1; length++)
    {
      g_auto (IrisdPubAck) ack = { 0 };
      g_autofree char *part = g_memdup2 (whole, MAX (length, 1));
      ck_assert (!irisd_pub_ack_parse (&ack, part, length));
    }
}

TEST (an_ack_subject_tells_of_its_delivery)
{
  IrisdDelivery delivery;

  ck_assert (
      irisd_delivery_parse (&delivery, "$JS.ACK.IRIS.n1_soft.2.17.9.1700000000000000000.41"));
  ck_assert_uint_eq (delivery.n_delivered, 2);
  ck_assert_uint_eq (delivery.stream_sequence, 17);
  ck_assert_uint_eq (delivery.consumer_sequence, 9);
  ck_assert_int_eq (delivery.time_ns, G_GINT64_CONSTANT (1700000000000000000));
  ck_assert_uint_eq (delivery.n_pending, 41);
  ck_assert (irisd_delivery_parse (&delivery, "$JS.ACK.hub.HASH.IRIS.n1_soft.2.17.9.17.42"));
  ck_assert_uint_eq (delivery.n_pending, 42);
  ck_assert (irisd_delivery_parse (&delivery, "$JS.ACK.hub.HASH.IRIS.n1_soft.2.17.9.17.43.rAnDoM"));
  ck_assert_uint_eq (delivery.n_pending, 43);
}

TEST (other_ack_subjects_are_refused)
{
  static const char *const bad[] = { "",
                                     "$JS.ACK.",
                                     "$JS.ACK.IRIS.n1_soft.2.17.9.17",
                                     "_INBOX.x.R.y",
                                     "$JS.ACK.IRIS.n1_soft.2.17.9.17.",
                                     "$JS.ACK.IRIS.n1_soft.-2.17.9.17.41",
                                     "$JS.ACK.IRIS.n1_soft.2.17.9.17.4x",
                                     "$JS.ACK.IRIS.n1_soft..17.9.17.41",
                                     "$JS.ACK.a.IRIS.n1_soft.2.17.9.17.41",
                                     "$JS.ACK.IRIS.n1_soft.2.99999999999999999999.9.17.41" };
  IrisdDelivery delivery;

  ck_assert (!irisd_delivery_parse (&delivery, NULL));
  for (guint i = 0; i < G_N_ELEMENTS (bad); i++)
    ck_assert_msg (!irisd_delivery_parse (&delivery, bad[i]), "%s", bad[i]);
}

TEST (statuses_of_a_pull)
{
  static const struct
  {
    const char *code, *description;
    IrisdPullStatus status;
  } cases[] = {
    { "100", "Idle Heartbeat", IRISD_PULL_STATUS_HEARTBEAT },
    { "404", "No Messages", IRISD_PULL_STATUS_EXPIRED },
    { "408", "Request Timeout", IRISD_PULL_STATUS_EXPIRED },
    { "409", "Batch Completed", IRISD_PULL_STATUS_EXPIRED },
    { "409", "Leadership Change", IRISD_PULL_STATUS_AGAIN },
    { "409", "Server Shutdown", IRISD_PULL_STATUS_AGAIN },
    { "409", "Exceeded MaxWaiting", IRISD_PULL_STATUS_CROWDED },
    { "409", "Consumer Deleted", IRISD_PULL_STATUS_GONE },
    { "409", NULL, IRISD_PULL_STATUS_REFUSED },
    { "409", "of tomorrow", IRISD_PULL_STATUS_REFUSED },
    { "400", "Bad Request", IRISD_PULL_STATUS_REFUSED },
    { "503", NULL, IRISD_PULL_STATUS_NO_LEADER },
    { "", NULL, IRISD_PULL_STATUS_REFUSED },
    { "1e2", NULL, IRISD_PULL_STATUS_REFUSED },
  };

  for (guint i = 0; i < G_N_ELEMENTS (cases); i++)
    ck_assert_int_eq (irisd_pull_status_parse (cases[i].code, cases[i].description),
                      cases[i].status);
}

TEST (an_error_of_the_api_becomes_one_of_jetstream)
{
  static const char text[] = "{\"type\":\"x\",\"error\":{\"code\":404,\"err_code\":10059,"
                             "\"description\":\"stream not found\"}}";
  g_autoptr (GError) error = NULL;

  ck_assert_ptr_null (irisd_engine_parse_reply (text, sizeof text - 1, &error));
  ck_assert (g_error_matches (error, IRISD_JETSTREAM_ERROR, IRISD_JETSTREAM_STREAM_NOT_FOUND));
  g_clear_error (&error);
  ck_assert_ptr_null (irisd_engine_parse_reply ("{\"a\0\":1}", 8, &error));
  ck_assert (g_error_matches (error, IRISD_ENGINE_ERROR, IRISD_ENGINE_ERROR_MALFORMED));
}

TEST (tokens_give_back_their_number)
{
  static const guint64 numbers[] = { 0, 1, 63, 64, 1 << 24, G_MAXUINT64 - 1, G_MAXUINT64 };

  for (guint i = 0; i < G_N_ELEMENTS (numbers); i++)
    {
      char token[IRISD_TOKEN_LENGTH + 1] = "";
      guint64 number;
      irisd_token_write (numbers[i], token);
      ck_assert (irisd_token_parse (token, &number));
      ck_assert_uint_eq (number, numbers[i]);
    }
}

TEST (other_tokens_are_refused)
{
  static const char *const bad[] = {
    "", "0", "0000000000", "000000000000", "0000000000.", "0000000000 ", "G0000000000"
  };
  guint64 number;

  for (guint i = 0; i < G_N_ELEMENTS (bad); i++)
    ck_assert_msg (!irisd_token_parse (bad[i], &number), "%s", bad[i]);
}

TEST (times_have_nanoseconds)
{
  gint64 time;

  ck_assert (irisd_engine_parse_time ("2030-01-01T00:00:00.250000001Z", &time));
  ck_assert_int_eq (time, G_GINT64_CONSTANT (1893456000250000001));
  ck_assert (irisd_engine_parse_time ("2030-01-01T00:00:00Z", &time));
  ck_assert_int_eq (time, G_GINT64_CONSTANT (1893456000000000000));
  ck_assert (!irisd_engine_parse_time (NULL, &time));
  ck_assert (!irisd_engine_parse_time ("now", &time));
  ck_assert (!irisd_engine_parse_time ("2620-01-01T00:00:00.5Z", &time));
}

TEST (versions_are_compared_by_their_numbers)
{
  ck_assert_int_lt (irisd_version_compare ("2.9.25", "2.14.0"), 0);
  ck_assert_int_eq (irisd_version_compare ("2.14.0-RC.1", "2.14.0"), 0);
  ck_assert_int_gt (irisd_version_compare ("2.15.2", "2.14.0"), 0);
  ck_assert_int_gt (irisd_version_compare ("3", "2.14.0"), 0);
  ck_assert_int_lt (irisd_version_compare ("", "2.14.0"), 0);
}

TEST_MAIN ("engine-parse", NULL, NULL)
