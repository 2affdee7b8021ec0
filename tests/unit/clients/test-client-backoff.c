/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * When and with how much a channel comes back to an irisd that was too busy.
 */
#include "core-test-run.h"

#include "clients/iris-client/connection/iris-client-backoff-private.h"

#define MS    G_TIME_SPAN_MILLISECOND
#define START G_GINT64_CONSTANT (1000000)

static IrisClientBackoff pace;

static void
set_up (void)
{
  pace = (IrisClientBackoff){ 0 };
}

/* Sends what may be sent, and the PING behind it. */
static guint
send_all (gint64 now, guint64 serial)
{
  guint n = iris_client_backoff_allows (&pace, now);
  iris_client_backoff_note_sent (&pace, n);
  if (iris_client_backoff_wants_probe (&pace))
    pace.probe = serial;
  return n;
}

TEST (nothing_is_sent_before_irisd_said)
{
  iris_client_backoff_refused (&pace, START, 20, 0);
  ck_assert_uint_eq (iris_client_backoff_allows (&pace, START + 20 * MS - 1), 0);
  ck_assert_uint_eq (iris_client_backoff_allows (&pace, START + 20 * MS), 1);
}

TEST (what_is_refused_together_counts_once)
{
  for (guint i = 0; i < 1000; i++)
    iris_client_backoff_refused (&pace, START, 20, 0);
  ck_assert_uint_eq (pace.pause_ms, 20);
  ck_assert_int_eq (pace.since, START);
  ck_assert_int_eq (pace.resume_at, START + 20 * MS);
}

TEST (pauses_grow_while_irisd_refuses_and_end_somewhere)
{
  gint64 now = START, last = 0;
  for (guint i = 0; i < 20; i++)
    {
      iris_client_backoff_refused (&pace, now, 20, 0);
      ck_assert_int_ge (pace.resume_at - now, last);
      ck_assert_int_le (pace.resume_at - now, 2000 * MS);
      last = pace.resume_at - now;
      now = pace.resume_at;
      ck_assert_uint_eq (send_all (now, i + 1), 1);
    }
  ck_assert_int_eq (last, 2000 * MS);
  iris_client_backoff_refused (&pace, now, 5000, 0);
  ck_assert_int_eq (pace.resume_at - now, 5000 * MS);
}

TEST (chance_makes_a_pause_longer_and_never_shorter)
{
  iris_client_backoff_refused (&pace, START, 20, 1);
  ck_assert_int_eq (pace.resume_at, START + 30 * MS);
}

TEST (what_was_taken_lets_twice_as_much_go_until_credit_alone_decides)
{
  guint64 serial = 0;
  guint n = 1, sent;
  iris_client_backoff_refused (&pace, START, 20, 0);
  while ((sent = send_all (START + 20 * MS, ++serial)) != G_MAXUINT)
    {
      ck_assert_uint_eq (sent, n);
      ck_assert_uint_eq (iris_client_backoff_allows (&pace, START + 20 * MS), 0);
      ck_assert (!iris_client_backoff_probed (&pace, serial + 100));
      ck_assert (iris_client_backoff_probed (&pace, serial));
      n *= 2;
    }
  ck_assert_uint_gt (n, 1024);
  ck_assert_int_eq (pace.since, 0);
}

TEST (an_answer_from_before_a_refusal_says_nothing)
{
  iris_client_backoff_refused (&pace, START, 20, 0);
  send_all (START + 20 * MS, 7);
  iris_client_backoff_refused (&pace, START + 21 * MS, 20, 0);
  ck_assert (!iris_client_backoff_probed (&pace, 7));
  ck_assert_uint_eq (pace.pause_ms, 40);
  ck_assert_int_eq (pace.since, START);
}

TEST_MAIN ("client-backoff", set_up, NULL)
