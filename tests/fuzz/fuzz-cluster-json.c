/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * What the servers of NATS and other nodes may send as text: subjects of deliveries and of items,
 * numbers and times of headers, statuses of pulls, answers of JetStream, entries and marks of
 * nodes.
 *
 * Any client with the rights of a node may write an entry, so what is read of one is encoded and
 * read again: that must work, and give the same bytes.
 *
 * Without libFuzzer this is a test: the seeds below, and as many changes of them as IRIS_FUZZ_CASES
 * says, the same in each run.
 */
#include "daemon/cluster/engine/irisd-engine-parse.h"
#include "daemon/cluster/engine/irisd-engine.h"
#include "daemon/cluster/engine/irisd-subjects.h"
#include "daemon/cluster/members/irisd-node-entry.h"

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput (const uint8_t *data, size_t size);

static void
read_subjects (const char *text)
{
  g_autofree char *service = NULL;
  g_auto (IrisdWorkSubject) work = { 0 };
  IrisdDelivery delivery;

  irisd_delivery_parse (&delivery, text);
  if (irisd_subject_parse_work (text, &work))
    {
      g_autofree char *again = irisd_subject_for_work (work.node, work.strict, work.place,
                                                       work.service);
      g_assert_cmpstr (again, ==, text);
    }
  service = irisd_subject_unescape (text);
  if (service != NULL)
    {
      g_autofree char *again = irisd_subject_escape (service);

      g_assert_cmpstr (again, ==, text);
    }
}

static void
read_headers (const char *text)
{
  guint64 number = 0, token = 0;
  gint64 time_ns = 0;
  const char *space = strchr (text, ' ');
  g_autofree char *code = space != NULL ? g_strndup (text, (gsize) (space - text)) : NULL;

  irisd_engine_parse_number (text, &number);
  irisd_engine_parse_time (text, &time_ns);
  irisd_pull_status_parse (code != NULL ? code : text, space != NULL ? space + 1 : NULL);
  if (irisd_token_parse (text, &token))
    {
      char again[IRISD_TOKEN_LENGTH + 1] = { 0 };

      irisd_token_write (token, again);
      g_assert_cmpstr (again, ==, text);
    }
  g_assert_cmpint (irisd_version_compare (text, text), ==, 0);
}

static void
read_answers (const char *data, gsize size)
{
  IrisdPubAck ack;
  g_autoptr (JsonObject) reply = NULL;

  if (irisd_pub_ack_parse (&ack, data, size))
    irisd_pub_ack_clear (&ack);
  reply = irisd_engine_parse_reply (data, size, NULL);
  if (reply == NULL)
    return;
  irisd_json_get_int (reply, "seq");
  irisd_json_get_string (reply, "stream");
  irisd_json_get_object (reply, "config");
}

static void
read_entry (const char *data, gsize size)
{
  IrisdMemberMark mark = IRISD_MARK_MEMBER;
  g_autoptr (IrisdNode) node = irisd_node_decode ("n1", data, size, NULL);

  irisd_member_mark_decode (data, size, &mark, NULL);
  if (node == NULL)
    return;

  g_autoptr (GError) error = NULL;
  g_autoptr (GBytes) once = irisd_node_encode (node);
  gsize length;
  gconstpointer text = g_bytes_get_data (once, &length);

  /* Escapes may make it longer than what may be read. */
  if (length > IRISD_NODE_MOST_BYTES)
    return;
  g_autoptr (IrisdNode) read = irisd_node_decode ("n1", text, length, &error);
  g_assert_no_error (error);
  g_autoptr (GBytes) twice = irisd_node_encode (read);
  g_assert_true (g_bytes_equal (once, twice) || node->format != read->format);
}

int
LLVMFuzzerTestOneInput (const uint8_t *data, size_t size)
{
  g_autofree char *text = g_malloc0 (size + 1);

  if (size > 0)
    memcpy (text, data, size);
  read_subjects (text);
  read_headers (text);
  /* An empty message has a place in memory, too. */
  read_answers (size > 0 ? (const char *) data : text, size);
  read_entry (size > 0 ? (const char *) data : text, size);
  return 0;
}

#ifndef IRISD_LIBFUZZER
#define N_CASES 100000

/* Deeper than a stack of 8 MiB has room for, if each bracket is a call. */
#define N_BRACKETS 200000

static const char *const seeds[] = {
  "$JS.ACK.IRIS.n1_soft.1.17.3.1700000000000000000.5",
  "$JS.ACK.hub.ACCOUNT.IRIS.n1_soft.1.17.3.1700000000000000000.5",
  "iris.w.n1.strict.l3=3A0.echo",
  "iris.w.any.soft.-.command",
  "iris.e.n1.0123456789abcdef0123456789abcdef",
  "n1-17-0123456789abcdef",
  "n1-r0123456789abcdef-0123456789abcdef",
  "2026-01-01T00:00:00.123456789Z",
  "2620-01-01T00:00:00.5Z",
  "18446744073709551615",
  "409 Consumer Deleted",
  "503",
  "2.15.2-RC.1",
  "{\"stream\":\"IRIS\",\"seq\":17}",
  "{\"stream\":\"IRIS\",\"seq\":17,\"duplicate\":true,\"batch\":\"x\",\"count\":3}",
  "{\"error\":{\"code\":503,\"err_code\":10077,\"description\":\"maximum messages exceeded\"}}",
  ("{\"type\":\"io.nats.jetstream.api.v1.stream_info_response\",\"config\":{\"name\":\"IRIS\","
   "\"subjects\":[\"iris.w.>\"],\"num_replicas\":3},\"state\":{\"messages\":7}}"),
  "{\"mark\":\"drained\"}",
  ("{\"format\":1,\"version\":\"0.1.0\",\"incarnation\":\"0123456789abcdef\",\"draining\":false,"
   "\"running\":3,\"backlog\":12,\"away\":7,\"guests\":8,\"places\":[{\"name\":\"l3:0\",\"cpus\":"
   "\"0-3\",\"workers\":4,\"backlog\":6}],\"labels\":[\"rack=r1\"],\"services\":[\"echo\"],"
   "\"endpoints\":[\"ipc:///run/iris/front.ipc\"]}"),
};

static void
run_case (GRand *rand, const char *seed)
{
  g_autoptr (GString) text = g_string_new (seed);

  for (gint n = g_rand_int_range (rand, 0, 5); n > 0 && text->len > 0; n--)
    {
      gsize at = (gsize) g_rand_int_range (rand, 0, (gint32) text->len);

      switch (g_rand_int_range (rand, 0, 6))
        {
        case 0:
          g_string_truncate (text, at);
          break;
        case 1:
          text->str[at] = (char) g_rand_int (rand);
          break;
        case 2:
          g_string_insert_c (text, (gssize) at, "{}[]\",:.-0eE\\u"[g_rand_int_range (rand, 0, 14)]);
          break;
        case 3:
          g_string_erase (text, (gssize) at, 1);
          break;
        case 4:
          {
            /* A part once more. */
            g_autofree char *part = g_strndup (text->str + at, text->len - at);

            g_string_insert (text, (gssize) at, part);
          }
          break;
        default:
          text->str[at] ^= (char) (1 << g_rand_int_range (rand, 0, 8));
        }
    }
  /* Of the exact size, so that a read beyond the end is seen by a sanitizer. */
  g_autofree guint8 *exact = g_memdup2 (text->str, text->len);
  LLVMFuzzerTestOneInput (exact, text->len);
}

static void
run_deep (const char *head, char bracket)
{
  g_autoptr (GString) text = g_string_new (head);

  for (guint i = 0; i < N_BRACKETS; i++)
    g_string_append (text, bracket == '[' ? "[" : "{\"a\":");
  g_string_truncate (text, IRISD_NODE_MOST_BYTES);
  LLVMFuzzerTestOneInput ((const guint8 *) text->str, text->len);
}

int
main (void)
{
  const char *cases = g_getenv ("IRIS_FUZZ_CASES");
  guint64 n = cases != NULL ? g_ascii_strtoull (cases, NULL, 0) : N_CASES;
  g_autoptr (GRand) rand = g_rand_new_with_seed (20260101);

  printf ("1..2\n# %" G_GUINT64_FORMAT " cases\n", n);
  for (guint64 i = 0; i < n; i++)
    run_case (rand, i < G_N_ELEMENTS (seeds) ? seeds[i] : seeds[i % G_N_ELEMENTS (seeds)]);
  printf ("ok 1 - what servers and nodes send as text is read strictly\n");
  run_deep ("", '[');
  run_deep ("{\"places\":", '[');
  run_deep ("", '{');
  printf ("ok 2 - brackets within brackets do not use up the stack\n");
  return 0;
}
#endif
