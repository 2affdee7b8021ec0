/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * Chains: what one node packs another one reads, and both go on to the same runs.
 */
#include "core-test-run.h"
#include "daemon/cluster/members/irisd-run-chain.h"

#include <check.h>
#include <string.h>

#define DUE_MS    G_GUINT64_CONSTANT (1700000040000)
#define MINUTE_MS 60000

static void
make (IrisdRunChain *chain, const char *line, guint64 every_ms, guint64 jitter_ms)
{
  IrisWireMessage schedule;
  guint8 id[IRIS_WIRE_ID_SIZE];

  iris_wire_message_init (&schedule, IRIS_WIRE_SCHEDULE, NULL);
  iris_wire_message_set_string (&schedule, IRIS_WIRE_KEY_SCHEDULE, "nightly", -1);
  if (line != NULL)
    iris_wire_message_set_string (&schedule, IRIS_WIRE_KEY_CALENDAR, line, -1);
  else
    iris_wire_message_set_uint (&schedule, IRIS_WIRE_KEY_EVERY_MS, every_ms);
  iris_wire_message_set_uint (&schedule, IRIS_WIRE_KEY_JITTER_MS, jitter_ms);
  irisd_run_chain_make_id ("n1", 1000, "nightly", 7, id);
  ck_assert (irisd_run_chain_init (chain, id, DUE_MS, &schedule, NULL));
}

static IrisWireFrame
get_frame (GBytes *bytes)
{
  return (IrisWireFrame){ g_bytes_get_data (bytes, NULL), g_bytes_get_size (bytes) };
}

TEST (what_is_packed_is_read)
{
  g_auto (IrisdRunChain) in = { 0 };
  g_auto (IrisdRunChain) out = { 0 };

  make (&in, "*/5 * * * *", 0, 1234);
  for (guint i = 0; i < 3; i++)
    ck_assert (irisd_run_chain_hand_on (&in, in.due_ms));
  g_autoptr (GBytes) bytes = irisd_run_chain_pack (&in);
  ck_assert (irisd_run_chain_read (&out, get_frame (bytes)));
  ck_assert_mem_eq (out.id, in.id, sizeof in.id);
  ck_assert_uint_eq (out.due_ms, in.due_ms);
  ck_assert_uint_eq (out.jitter_ms, 1234);
  ck_assert_uint_eq (out.n_handed, 3);
  ck_assert_uint_eq (out.n_latest, 3);
  ck_assert_uint_eq (out.latest[0], DUE_MS);
  ck_assert_str_eq (out.line, "*/5 * * * *");
  ck_assert_str_eq (out.name, "nightly");
  ck_assert_uint_eq (irisd_run_chain_get_begin (&out), irisd_run_chain_get_begin (&in));
  ck_assert (irisd_run_chain_hand_on (&out, out.due_ms));
  ck_assert (irisd_run_chain_hand_on (&in, in.due_ms));
  ck_assert_uint_eq (out.due_ms, in.due_ms);
}

TEST (nothing_else_is_read)
{
  g_auto (IrisdRunChain) in = { 0 };
  IrisdRunChain out;

  make (&in, NULL, 1000, 0);
  ck_assert (irisd_run_chain_hand_on (&in, in.due_ms));
  g_autoptr (GBytes) bytes = irisd_run_chain_pack (&in);
  const gsize size = g_bytes_get_size (bytes);
  for (gsize n = 0; n < size; n++)
    {
      IrisWireFrame cut = { g_bytes_get_data (bytes, NULL), n };
      ck_assert (!irisd_run_chain_read (&out, cut));
    }
  /* Another byte changes what it says, or is damage; it is never read beyond the end. */
  for (gsize i = 0; i < size; i++)
    {
      g_autofree guint8 *changed = g_memdup2 (g_bytes_get_data (bytes, NULL), size);
      changed[i] ^= 0xff;
      if (irisd_run_chain_read (&out, (IrisWireFrame){ changed, size }))
        irisd_run_chain_clear (&out);
    }
}

TEST (a_run_has_a_name_of_its_own_that_tells_its_time)
{
  guint8 chain[IRIS_WIRE_ID_SIZE], other[IRIS_WIRE_ID_SIZE];
  guint8 first[IRIS_WIRE_ID_SIZE], second[IRIS_WIRE_ID_SIZE];

  irisd_run_chain_make_id ("n1", 1000, "x", 7, chain);
  irisd_run_chain_get_run (chain, DUE_MS, first);
  irisd_run_chain_get_run (chain, DUE_MS + 1000, second);
  ck_assert_mem_ne (first, second, sizeof first);
  ck_assert_uint_eq (irisd_run_chain_get_due (chain, first), DUE_MS);
  ck_assert_uint_eq (irisd_run_chain_get_due (chain, second), DUE_MS + 1000);
  irisd_run_chain_make_id ("n1", 1000, "x", 7, other);
  ck_assert_mem_eq (chain, other, sizeof chain);
  irisd_run_chain_make_id ("n2", 1000, "x", 7, other);
  ck_assert_mem_ne (chain, other, 8);
  irisd_run_chain_make_id ("n1", 1001, "x", 7, other);
  ck_assert_mem_ne (chain, other, 8);
  irisd_run_chain_make_id ("n1", 1000, "y", 7, other);
  ck_assert_mem_ne (chain, other, 8);
  irisd_run_chain_make_id ("n1", 1000, "x", 8, other);
  ck_assert_mem_ne (chain, other, 8);
}

TEST (runs_follow_each_other)
{
  g_auto (IrisdRunChain) chain = { 0 };

  make (&chain, NULL, 1500, 0);
  for (guint i = 1; i < 10; i++)
    {
      ck_assert (irisd_run_chain_hand_on (&chain, chain.due_ms));
      ck_assert_uint_eq (chain.due_ms, DUE_MS + i * 1500);
    }
}

TEST (a_late_run_makes_up_for_those_that_were_missed)
{
  g_auto (IrisdRunChain) chain = { 0 };
  const guint64 now_ms = DUE_MS + 10 * MINUTE_MS + 1;

  make (&chain, "* * * * *", 0, 0);
  ck_assert (irisd_run_chain_hand_on (&chain, now_ms));
  ck_assert_uint_eq (chain.due_ms, DUE_MS + 11 * MINUTE_MS);
  ck_assert_uint_eq (chain.n_handed, 1);
  /* Up to a minute late it is made by itself. */
  ck_assert (irisd_run_chain_hand_on (&chain, chain.due_ms + MINUTE_MS));
  ck_assert_uint_eq (chain.due_ms, DUE_MS + 12 * MINUTE_MS);
}

TEST (the_latest_runs_are_named_and_all_are_counted)
{
  g_auto (IrisdRunChain) chain = { 0 };

  make (&chain, NULL, 1000, 0);
  for (guint i = 0; i < 2 * IRISD_RUN_CHAIN_MOST_HANDED; i++)
    ck_assert (irisd_run_chain_hand_on (&chain, chain.due_ms));
  ck_assert_uint_eq (chain.n_handed, 2 * IRISD_RUN_CHAIN_MOST_HANDED);
  ck_assert_uint_eq (chain.n_latest, IRISD_RUN_CHAIN_MOST_HANDED);
  ck_assert_uint_eq (chain.latest[chain.n_latest - 1], chain.due_ms - 1000);
}

TEST_MAIN ("irisd-run-chain", NULL, NULL)
