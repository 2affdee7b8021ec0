/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * What becomes of runs that cannot begin at their time, with clocks of our own.
 */
#include "core-test-run.h"
#include "daemon/items/schedule/irisd-recurring.h"

#include <check.h>
#include <stdlib.h>

#define MADE_MS G_GUINT64_CONSTANT (1700000000000)
#define EACH_MS 1000

/* It is due each second. */
static IrisdRecurring *
make (guint missed, guint overlap)
{
  g_autoptr (GError) error = NULL;
  g_auto (IrisWireEncoder) encoder;
  IrisWireMessage message;
  iris_wire_encoder_init (&encoder, NULL);
  iris_wire_message_init (&message, IRIS_WIRE_SCHEDULE, (const guint8 *) "0123456789abcdef");
  iris_wire_message_set_string (&message, IRIS_WIRE_KEY_SCHEDULE, "s", -1);
  iris_wire_message_set_uint (&message, IRIS_WIRE_KEY_EVERY_MS, EACH_MS);
  iris_wire_message_set_uint (&message, IRIS_WIRE_KEY_MISSED, missed);
  iris_wire_message_set_uint (&message, IRIS_WIRE_KEY_OVERLAP, overlap);
  ck_assert (iris_wire_encode (&encoder, &message, NULL));
  IrisdRecurring *self = irisd_recurring_new (1000, MADE_MS, encoder.frames[3],
                                              (IrisWireFrame){ NULL, 0 }, &error);
  ck_assert_msg (self != NULL, "%s", error != NULL ? error->message : "");
  irisd_recurring_aim (self, MADE_MS);
  ck_assert_uint_eq (self->due_ms, MADE_MS + EACH_MS);
  return self;
}

/* Within a minute runs come late, one by one. */
TEST (late_runs_begin_one_by_one)
{
  IrisdRecurring *self = make (IRIS_WIRE_MISSED_SKIP, IRIS_WIRE_OVERLAP_ALLOW);
  const guint64 now_ms = MADE_MS + 5 * EACH_MS;
  for (guint i = 2; i < 5; i++)
    {
      ck_assert_int_eq (irisd_recurring_judge (self, now_ms), IRISD_RECURRING_RUN);
      irisd_recurring_pass (self, now_ms);
      ck_assert_uint_eq (self->due_ms, MADE_MS + i * EACH_MS);
    }
  irisd_recurring_free (self);
}

TEST (an_overdue_run_is_left_out_and_the_next_one_is_judged_anew)
{
  IrisdRecurring *self = make (IRIS_WIRE_MISSED_SKIP, IRIS_WIRE_OVERLAP_ALLOW);
  const guint64 now_ms = MADE_MS + 5 * EACH_MS;
  self->overdue = TRUE;
  ck_assert_int_eq (irisd_recurring_judge (self, now_ms), IRISD_RECURRING_SKIP);
  irisd_recurring_pass (self, now_ms);
  ck_assert_uint_eq (self->due_ms, MADE_MS + 2 * EACH_MS);
  ck_assert_int_eq (irisd_recurring_judge (self, now_ms), IRISD_RECURRING_RUN);
  irisd_recurring_free (self);
}

TEST (one_run_makes_up_for_all_since_an_overdue_one)
{
  IrisdRecurring *self = make (IRIS_WIRE_MISSED_ONE, IRIS_WIRE_OVERLAP_ALLOW);
  const guint64 now_ms = MADE_MS + 5 * EACH_MS + 1;
  self->overdue = TRUE;
  ck_assert_int_eq (irisd_recurring_judge (self, now_ms), IRISD_RECURRING_RUN);
  irisd_recurring_pass (self, now_ms);
  ck_assert_uint_eq (self->due_ms, MADE_MS + 6 * EACH_MS);
  ck_assert_uint_eq (self->state.handled_ms, self->due_ms - 1);
  ck_assert (!self->overdue);
  irisd_recurring_free (self);
}

TEST (an_overdue_run_overlaps_as_any_other)
{
  IrisdRecurring *self = make (IRIS_WIRE_MISSED_ONE, IRIS_WIRE_OVERLAP_QUEUE);
  const guint64 now_ms = MADE_MS + 2 * EACH_MS;
  self->overdue = self->running = TRUE;
  ck_assert_int_eq (irisd_recurring_judge (self, now_ms), IRISD_RECURRING_WAIT);
  self->overlap = IRIS_WIRE_OVERLAP_SKIP;
  ck_assert_int_eq (irisd_recurring_judge (self, now_ms), IRISD_RECURRING_SKIP);
  irisd_recurring_free (self);
}

/* The clock was set: what is due then is tried. */
TEST (a_run_that_is_aimed_at_anew_is_not_overdue)
{
  IrisdRecurring *self = make (IRIS_WIRE_MISSED_SKIP, IRIS_WIRE_OVERLAP_ALLOW);
  self->overdue = TRUE;
  irisd_recurring_aim (self, MADE_MS + EACH_MS);
  ck_assert_int_eq (irisd_recurring_judge (self, MADE_MS + EACH_MS), IRISD_RECURRING_RUN);
  irisd_recurring_free (self);
}

static void
make_chain (IrisdRunChain *chain, const IrisdRecurring *entry, guint n_handed)
{
  IrisWireMessage schedule;
  guint8 id[IRIS_WIRE_ID_SIZE] = { 1 };
  ck_assert (irisd_recurring_read (entry, &schedule, NULL));
  ck_assert (irisd_run_chain_init (chain, id, entry->due_ms, &schedule, NULL));
  for (guint i = 0; i < n_handed; i++)
    ck_assert (irisd_run_chain_hand_on (chain, chain->due_ms));
}

/* However late they are, and whatever is to be done with runs that were missed or overlap. */
TEST (each_run_that_was_made_elsewhere_is_taken)
{
  IrisdRecurring *self = make (IRIS_WIRE_MISSED_SKIP, IRIS_WIRE_OVERLAP_SKIP);
  g_auto (IrisdRunChain) chain = { 0 };
  const guint64 now_ms = MADE_MS + 3600 * EACH_MS;
  make_chain (&chain, self, 4);
  ck_assert_uint_eq (irisd_recurring_take_handed (self, &chain, MADE_MS), 4);
  self->running = TRUE;
  for (guint i = 1; i <= 4; i++)
    {
      ck_assert (irisd_recurring_is_handed (self));
      ck_assert (!irisd_recurring_aim (self, now_ms));
      ck_assert_uint_eq (self->due_ms, MADE_MS + i * EACH_MS);
      ck_assert_int_eq (irisd_recurring_judge (self, now_ms), IRISD_RECURRING_RUN);
      irisd_recurring_pass (self, now_ms);
    }
  ck_assert (!irisd_recurring_is_handed (self));
  ck_assert_uint_eq (self->due_ms, MADE_MS + 5 * EACH_MS);
  ck_assert_uint_eq (self->state.handled_ms, MADE_MS + 5 * EACH_MS - 1);
  /* The next one was missed by all. */
  ck_assert_int_eq (irisd_recurring_judge (self, now_ms), IRISD_RECURRING_SKIP);
  irisd_recurring_free (self);
}

TEST (runs_that_are_known_or_too_old_are_not_taken)
{
  IrisdRecurring *self = make (IRIS_WIRE_MISSED_SKIP, IRIS_WIRE_OVERLAP_ALLOW);
  g_auto (IrisdRunChain) chain = { 0 };
  make_chain (&chain, self, 10);
  self->state.handled_ms = MADE_MS + 3 * EACH_MS;
  self->state.n_runs = 3;
  ck_assert_uint_eq (irisd_recurring_take_handed (self, &chain, MADE_MS + 6 * EACH_MS), 7);
  /* Two only count. */
  ck_assert_uint_eq (self->state.n_runs, 5);
  ck_assert_uint_eq (self->n_handed, 5);
  ck_assert_uint_eq (self->due_ms, MADE_MS + 6 * EACH_MS);
  irisd_recurring_free (self);
}

TEST (a_chain_without_runs_changes_nothing)
{
  IrisdRecurring *self = make (IRIS_WIRE_MISSED_ONE, IRIS_WIRE_OVERLAP_ALLOW);
  g_auto (IrisdRunChain) chain = { 0 };
  make_chain (&chain, self, 0);
  ck_assert_uint_eq (irisd_recurring_take_handed (self, &chain, MADE_MS), 0);
  ck_assert_uint_eq (self->due_ms, MADE_MS + EACH_MS);
  ck_assert_uint_eq (self->state.handled_ms, MADE_MS);
  ck_assert_uint_eq (irisd_recurring_get_following (self, MADE_MS + 5 * EACH_MS),
                     MADE_MS + 6 * EACH_MS);
  irisd_recurring_free (self);
}

TEST_MAIN ("irisd-recurring", NULL, NULL)
