/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * What a run writes comes to its home whole and in order, whichever messages are lost, and no more
 * of it than was granted.
 */
#include "core-test-run.h"
#include "core-test-util.h"
#include "daemon/cluster/bridge/irisd-run-flow.h"

#include <string.h>

#define MOST 7
#define RUNS 400

/* Both ends, and what has come. */
typedef struct
{
  GRand *rand;
  IrisdFlowSender *sender;
  IrisdFlowReceiver receiver;
  GString *written;
  GString *come;
  guint parts;
  guint losses; /* in ten */
} Flow;

static gboolean
is_lost (Flow *self)
{
  return g_rand_int_range (self->rand, 0, 10) < (gint) self->losses;
}

static void
word (Flow *self, gboolean sure)
{
  if (!is_lost (self))
    irisd_flow_sender_take_word (self->sender, self->receiver.received,
                                 irisd_flow_receiver_get_limit (&self->receiver), sure);
}

static void
deliver (Flow *self, const IrisdFlowPiece *piece)
{
  guint64 granted = irisd_flow_receiver_get_limit (&self->receiver);

  switch (irisd_flow_receiver_take (&self->receiver, piece->offset, piece->size))
    {
    case IRISD_FLOW_TAKEN:
      ck_assert_uint_le (piece->offset + piece->size, granted);
      ck_assert_uint_le (piece->size, MOST);
      g_string_append_len (self->come, (const char *) piece->data, (gssize) piece->size);
      self->parts += piece->channel == 0 && !piece->continues;
      word (self, FALSE);
      break;
    case IRISD_FLOW_GAP:
      word (self, TRUE);
      break;
    case IRISD_FLOW_KNOWN:
    case IRISD_FLOW_FULL:
    default:
      word (self, FALSE);
      break;
    }
}

static void
pump (Flow *self)
{
  const IrisdFlowPiece *piece;

  while ((piece = irisd_flow_sender_next (self->sender)) != NULL)
    if (!is_lost (self))
      deliver (self, piece);
}

static void
push (Flow *self, guint channel)
{
  guint8 data[3 * MOST];
  gsize size = (gsize) g_rand_int_range (self->rand, 1, sizeof data);

  for (gsize i = 0; i < size; i++)
    data[i] = (guint8) ('a' + (self->written->len + i) % 26);
  g_string_append_len (self->written, (const char *) data, (gssize) size);
  irisd_flow_sender_push (self->sender, channel, data, size);
}

static void
run_once (Flow *self)
{
  for (guint step = 0; step < 60; step++)
    {
      push (self, step % 2);
      pump (self);
      if (g_rand_boolean (self->rand))
        self->receiver.credit += (guint64) g_rand_int_range (self->rand, 1, 2 * MOST);
      if (g_rand_int_range (self->rand, 0, 5) == 0)
        word (self, TRUE); /* to a question behind all that was sent */
      pump (self);
    }
  /* What was lost is asked about again and again, and the client reads on. */
  for (guint i = 0; !irisd_flow_sender_is_empty (self->sender); i++)
    {
      ck_assert_uint_lt (i, 10000);
      self->receiver.credit += 1;
      word (self, TRUE);
      pump (self);
    }
  ck_assert_uint_eq (self->come->len, self->written->len);
  ck_assert_str_eq (self->come->str, self->written->str);
  ck_assert_uint_eq (self->parts, 30);
  ck_assert_uint_eq (self->receiver.received, self->written->len);
}

TEST (all_comes_in_order_whatever_is_lost)
{
  for (guint32 seed = 0; seed < (guint32) CORE_TEST_LOAD (RUNS); seed++)
    {
      Flow flow = { .rand = g_rand_new_with_seed (seed), .losses = seed % 8 };
      gboolean anew;

      flow.receiver.credit = 20;
      flow.sender = irisd_flow_sender_new (g_rand_boolean (flow.rand) ? 20 : 60, MOST);
      flow.written = g_string_new (NULL);
      flow.come = g_string_new (NULL);
      ck_assert (irisd_flow_receiver_see_run (&flow.receiver, 1, &anew) && anew);
      run_once (&flow);
      irisd_flow_sender_free (flow.sender);
      g_string_free (flow.written, TRUE);
      g_string_free (flow.come, TRUE);
      g_rand_free (flow.rand);
    }
}

TEST (a_later_run_begins_anew_and_an_earlier_one_does_not_count)
{
  IrisdFlowReceiver receiver = { .credit = 10 };
  gboolean anew;

  ck_assert (irisd_flow_receiver_see_run (&receiver, 2, &anew) && anew);
  ck_assert_int_eq (irisd_flow_receiver_take (&receiver, 0, 4), IRISD_FLOW_TAKEN);
  ck_assert (irisd_flow_receiver_see_run (&receiver, 2, &anew) && !anew);
  ck_assert (!irisd_flow_receiver_see_run (&receiver, 1, &anew));
  ck_assert (irisd_flow_receiver_see_run (&receiver, 5, &anew) && anew);
  ck_assert_int_eq (irisd_flow_receiver_take (&receiver, 4, 1), IRISD_FLOW_GAP);
  /* What the client has read of the first run is used up. */
  ck_assert_int_eq (irisd_flow_receiver_take (&receiver, 0, 7), IRISD_FLOW_FULL);
  ck_assert_int_eq (irisd_flow_receiver_take (&receiver, 0, 6), IRISD_FLOW_TAKEN);
  ck_assert_int_eq (irisd_flow_receiver_take (&receiver, 0, 6), IRISD_FLOW_KNOWN);
}

TEST (a_word_that_no_receiver_can_mean_is_not_believed)
{
  g_autoptr (IrisdFlowSender) sender = irisd_flow_sender_new (10, MOST);

  irisd_flow_sender_push (sender, 1, (const guint8 *) "hello", 5);
  ck_assert_ptr_nonnull (irisd_flow_sender_next (sender));
  ck_assert (!irisd_flow_sender_take_word (sender, 6, 20, FALSE));
  ck_assert (!irisd_flow_sender_take_word (sender, 5, 4, FALSE));
  ck_assert (!irisd_flow_sender_is_empty (sender));
  ck_assert (irisd_flow_sender_take_word (sender, 5, 20, FALSE));
  ck_assert (!irisd_flow_sender_take_word (sender, 4, 20, FALSE));
  ck_assert (irisd_flow_sender_is_empty (sender));
}

TEST_MAIN ("irisd-run-flow", NULL, NULL)
