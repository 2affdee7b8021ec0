/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * Calls: cold items on their way back. The argument is at the head of irisd-cold.c.
 */
#include "irisd-bury.h"
#include "irisd-cold.h"
#include "irisd-inquiry.h"
#include "irisd-log.h"

/* Items that time has called and that were not read yet. It bounds what is in the mailboxes when a
 * million are due at once, and for how long the journal reads before it writes again. */
#define MOST_CALLS 256

/* The pause before what could not be read is tried again: the first one, and the longest. */
#define UNREAD_US      (G_USEC_PER_SEC / 10)
#define MOST_UNREAD_US (30 * G_USEC_PER_SEC)

/* Who wants an item is told that it cannot be read after so many attempts. */
#define PATIENCE 4

/* Attempts at what looks damaged, but may be a disk that does not answer: about half a minute. */
#define MOST_DOUBTS 9

/**
 * IrisdCall:
 * @item: its number
 * @kicked: it does not wait for its time any more
 * @errands: letters of those who want it, first come first
 * @kept: the item, if it could not be read and the call pauses
 * @n_failed: how often it could not be read
 * @lane: the lane that it is wanted for, if it is
 * @waiter: until when it pauses
 *
 * A cold item that is on its way back.
 */
typedef struct
{
  guint64 item; /* first, because it is the key of a set */
  gboolean kicked;
  IrisdLetter *errands;
  IrisdKept *kept;
  guint n_failed;
  IrisdLane *lane;
  IrisdWaiter waiter;
} IrisdCall;

static IrisdCall *
call_of (IrisdWaiter *waiter)
{
  return (IrisdCall *) (void *) ((char *) waiter - G_STRUCT_OFFSET (IrisdCall, waiter));
}

static void
ask_for (IrisdGateway *self, IrisdCall *called)
{
  IrisdSlip *slip = irisd_slip_new (IRISD_SLIP_CALL, &self->mailbox);
  slip->item = called->item;
  called->kept = NULL;
  irisd_waiting_remove (&self->unread, &called->waiter);
  irisd_journal_post (self->core->journal, slip);
}

static IrisdCall *
call (IrisdGateway *self, guint64 item)
{
  IrisdCall *called = g_hash_table_lookup (self->calls, &item);
  if (called == NULL)
    {
      called = g_new0 (IrisdCall, 1);
      called->item = item;
      g_hash_table_add (self->calls, called);
      ask_for (self, called);
    }
  else if (called->kept != NULL)
    ask_for (self, called);
  return called;
}

/**
 * irisd_gateway_call_for_lane:
 * @self: the gateway
 * @item: the number of a cold item
 * @lane: its lane, which it was taken from
 */
void
irisd_gateway_call_for_lane (IrisdGateway *self, guint64 item, IrisdLane *lane)
{
  call (self, item)->lane = lane;
}

/**
 * irisd_gateway_may_call:
 * @self: the gateway
 *
 * Returns: whether another item may be called that nobody has asked for
 */
gboolean
irisd_gateway_may_call (IrisdGateway *self)
{
  return g_hash_table_size (self->calls) - irisd_waiting_get_count (&self->unread) < MOST_CALLS;
}

/**
 * irisd_gateway_call_back:
 * @self: the gateway
 * @item: the number of an item of it that is cold
 * @errand: (transfer full): of an inquiry or a round, which goes on when the item is hot
 */
void
irisd_gateway_call_back (IrisdGateway *self, guint64 item, IrisdLetter *errand)
{
  IrisdLetter **link = &call (self, item)->errands;
  while (*link != NULL)
    link = &(*link)->next;
  errand->next = NULL;
  *link = errand;
}

/**
 * irisd_gateway_call_due:
 * @self: the gateway
 *
 * Calls those back whose time is near, and those again that have paused.
 */
void
irisd_gateway_call_due (IrisdGateway *self)
{
  irisd_gateway_feed_lanes (self);
  if (irisd_waiting_get_count (&self->cold) + irisd_waiting_get_count (&self->unread) == 0)
    return;
  IrisdTimes now = irisd_times_now ();
  IrisdTimes soon = irisd_gateway_get_soon (self, &now);
  IrisdWaiter *waiter;
  while (irisd_gateway_may_call (self)
         && (waiter = irisd_waiting_pop_due (&self->unread, &now)) != NULL)
    ask_for (self, call_of (waiter));
  while (irisd_gateway_may_call (self)
         && (waiter = irisd_waiting_pop_due (&self->cold, &soon)) != NULL)
    call (self, irisd_kept_of_waiter (waiter)->item);
}

/**
 * irisd_gateway_get_call_delay:
 * @self: the gateway
 * @now: what the clocks say
 *
 * Returns: after how many microseconds irisd_gateway_call_due() has something to do; -1 if a letter
 *   will come before
 */
gint64
irisd_gateway_get_call_delay (IrisdGateway *self, const IrisdTimes *now)
{
  if (!irisd_gateway_may_call (self))
    return -1;
  if (self->hungry_lanes.length > 0)
    return 0;
  IrisdTimes soon = irisd_gateway_get_soon (self, now);
  gint64 delay = irisd_waiting_get_delay (&self->cold, &soon);
  gint64 again = irisd_waiting_get_delay (&self->unread, now);
  return delay < 0 || (again >= 0 && again < delay) ? again : delay;
}

/* Returns whether it was not kicked before. */
static gboolean
kick (IrisdCall *called)
{
  gboolean news = !called->kicked;
  called->kicked = TRUE;
  return news;
}

/* Cold items of one owner that wait for their time, in any order: it takes a look at all of them.
 */
static GPtrArray *
find_cold (IrisdGateway *self, gint64 owner, guint most)
{
  GPtrArray *found = g_ptr_array_new ();
  for (guint clock = 0; clock < IRISD_N_CLOCKS; clock++)
    {
      const GPtrArray *heap = self->cold.heaps[clock];
      for (guint i = 0; i < heap->len && found->len < most; i++)
        if (irisd_kept_of_waiter (g_ptr_array_index (heap, i))->owner == owner)
          g_ptr_array_add (found, g_ptr_array_index (heap, i));
    }
  return found;
}

static guint
kick_waiter (IrisdGateway *self, IrisdWaiter *waiter)
{
  irisd_kept_set_state (irisd_kept_of_waiter (waiter), IRIS_WIRE_STATE_QUEUED);
  return (guint) kick (call (self, irisd_kept_of_waiter (waiter)->item));
}

/**
 * irisd_gateway_kick_cold:
 * @self: the gateway
 * @view: an owner, or %IRISD_VIEW_ALL
 * @most: at most so many
 *
 * Has cold items run as if their time had come: those first that are on their way back, then those
 * whose time is next.
 *
 * Returns: how many
 */
guint
irisd_gateway_kick_cold (IrisdGateway *self, gint64 view, guint most)
{
  guint n = 0;
  GHashTableIter iter;
  gpointer called;
  g_hash_table_iter_init (&iter, self->calls);
  while (n < most && g_hash_table_iter_next (&iter, &called, NULL))
    if (((IrisdCall *) called)->lane == NULL
        && irisd_gateway_reaches_item (self, view, ((IrisdCall *) called)->item))
      n += (guint) kick (called);
  if (view != IRISD_VIEW_ALL)
    {
      g_autoptr (GPtrArray) found = find_cold (self, view, most - n);
      for (guint i = 0; i < found->len; i++)
        {
          irisd_waiting_remove (&self->cold, g_ptr_array_index (found, i));
          n += kick_waiter (self, g_ptr_array_index (found, i));
        }
      return n;
    }
  const IrisdTimes ever = { .us = { G_MAXINT64, G_MAXINT64 } };
  IrisdWaiter *waiter;
  while (n < most && (waiter = irisd_waiting_pop_due (&self->cold, &ever)) != NULL)
    n += kick_waiter (self, waiter);
  return n;
}

/* How long it would have to wait for its time, if it came now. */
static gint64
get_delay_us (IrisdTerms *terms)
{
  gint64 delay_us = 0;
  if (terms != NULL && terms->delayed)
    delay_us = MAX (terms->delay_due_us - g_get_monotonic_time (), 0);
  return delay_us;
}

static void
wait_on (IrisdGateway *self, IrisdJob *job, IrisdKept *kept)
{
  job->terms->delayed = kept->waiter.clock == IRISD_CLOCK_STEADY;
  job->terms->delay_due_us = kept->waiter.due_us;
  job->stage = IRISD_STAGE_TIME;
  irisd_waiting_add (&self->waiting, &job->terms->waiter, kept->waiter.clock, kept->waiter.due_us);
}

/* Its time has come before. */
static void
stay_in_lane (IrisdGateway *self, IrisdJob *job, IrisdLane *lane)
{
  irisd_gateway_return_to_lane (self, lane, job, get_delay_us (job->terms));
  if (job->terms != NULL)
    job->terms->delayed = job->terms->timed = FALSE;
  job->stage = IRISD_STAGE_LANE;
}

/* Makes the job of an item that was cold, which waits for what it waited for. */
static void
warm_up (IrisdGateway *self, IrisdSlip *slip, IrisdLane *lane)
{
  IrisdKept *kept = slip->kept;
  g_autoptr (IrisdPeer) peer = g_steal_pointer (&kept->peer);
  IrisdJob *job = irisd_gateway_make_again (self, slip, peer);
  irisd_core_count_cold (self->core, -1);
  gint64 age_ms = (gint64) (irisd_unix_ms () - kept->accepted_ms);
  job->accepted_ns -= MAX (age_ms, 0) * 1000000;
  if (job->result.error != NULL || (lane == NULL && job->terms == NULL))
    {
      /* Nothing is known of it but its entry. */
      irisd_gateway_uncount_cold (self, kept, peer);
      irisd_gateway_take_back (self, job);
      return;
    }
  if (job->terms != NULL)
    job->terms->attempts = kept->attempts;
  job->counted = irisd_gateway_is_cold_counted (self, peer);
  if (lane != NULL)
    stay_in_lane (self, job, lane);
  else
    wait_on (self, job, kept);
}

static void
run_errands (IrisdGateway *self, IrisdLetter *errands)
{
  while (errands != NULL)
    {
      IrisdLetter *next = errands->next;
      if (errands->kind == IRISD_LETTER_INQUIRY)
        irisd_gateway_resume_inquiry (self, irisd_inquiry_from_letter (errands));
      else
        irisd_gateway_resume_round (self, irisd_round_from_letter (errands));
      errands = next;
    }
}

/* Those who want an item that cannot be read for now. */
static void
turn_away (IrisdCall *called, const GError *error)
{
  IrisdLetter *errand = g_steal_pointer (&called->errands);
  while (errand != NULL)
    {
      IrisdLetter *next = errand->next;
      if (errand->kind == IRISD_LETTER_INQUIRY)
        irisd_inquiry_fail (irisd_inquiry_from_letter (errand), error);
      else
        {
          irisd_round_fail (irisd_round_from_letter (errand), error);
          irisd_gateway_send_home (irisd_round_from_letter (errand));
        }
      errand = next;
    }
}

/* Has a call pause whose item could not be read. */
static void
pause_call (IrisdGateway *self, IrisdCall *called, IrisdSlip *slip)
{
  called->kept = slip->kept;
  called->n_failed++;
  guint64 pause_us = irisd_waiting_backoff_us (UNREAD_US, MOST_UNREAD_US, called->n_failed,
                                               g_random_double ());
  irisd_waiting_add (&self->unread, &called->waiter, IRISD_CLOCK_STEADY,
                     g_get_monotonic_time () + (gint64) pause_us);
  if (called->n_failed >= PATIENCE)
    turn_away (called, slip->error);
}

static gboolean
can_be_tried_again (const IrisdCall *called, IrisdSlip *slip)
{
  if (!slip->doubtful || called->n_failed + 1 < MOST_DOUBTS)
    return TRUE;
  irisd_log (IRISD_LOG_ERROR, "%s; it was tried %u times", slip->error->message, MOST_DOUBTS);
  g_clear_error (&slip->error);
  slip->error = irisd_journal_damaged_item (slip->item);
  return FALSE;
}

/* Sends a job on that nobody has taken, or has it wait on. */
static void
send_on (IrisdGateway *self, IrisdJob *job, gboolean kicked)
{
  if (job->stage == IRISD_STAGE_TIME)
    {
      irisd_waiting_remove (&self->waiting, &job->terms->waiter);
      if (kicked)
        job->terms->delayed = job->terms->timed = FALSE;
    }
  job->stage = IRISD_STAGE_HANDED;
  irisd_gateway_advance (self, job);
}

/**
 * irisd_gateway_take_called:
 * @self: the gateway
 * @slip: CALL, with what the journal has of the item
 */
void
irisd_gateway_take_called (IrisdGateway *self, IrisdSlip *slip)
{
  IrisdKept *kept = slip->kept;
  guint64 item = slip->item;
  IrisdCall *called = g_hash_table_lookup (self->calls, &item);
  IrisdPhase phase = irisd_gateway_get_phase (self);
  gboolean serving = phase == IRISD_PHASE_SERVING;
  if (slip->again && serving && kept->peer != NULL && can_be_tried_again (called, slip))
    {
      pause_call (self, called, slip);
      return;
    }
  gboolean kicked = called->kicked;
  IrisdLetter *errands = called->errands;
  IrisdLane *lane = irisd_gateway_take_from_lane (self, called->lane, kept);
  g_hash_table_remove (self->calls, called);

  /* What only waits for its turn runs, also in an irisd that is about to end. */
  gboolean runs = serving || (lane != NULL && !slip->again && phase < IRISD_PHASE_STOPPING);
  irisd_waiting_remove (&self->cold, &kept->waiter);
  if (kept->peer != NULL && runs)
    warm_up (self, slip, lane);
  else if (kept->peer != NULL)
    irisd_gateway_put_off (self, kept);
  if (lane != NULL)
    irisd_gateway_settle_lane (self, lane);
  run_errands (self, errands);
  IrisdJob *job = g_hash_table_lookup (self->by_number, &item);
  if (job != NULL && (job->stage == IRISD_STAGE_TIME || job->stage == IRISD_STAGE_LANE))
    send_on (self, job, kicked);
}

/**
 * irisd_gateway_put_off_calls:
 * @self: the gateway
 *
 * Ends the waiting of what cannot be read, because irisd ends.
 */
void
irisd_gateway_put_off_calls (IrisdGateway *self)
{
  const IrisdTimes ever = { .us = { G_MAXINT64, G_MAXINT64 } };
  IrisdWaiter *waiter;
  while ((waiter = irisd_waiting_pop_due (&self->unread, &ever)) != NULL)
    {
      IrisdCall *called = call_of (waiter);
      IrisdLetter *errands = called->errands;
      IrisdLane *lane = irisd_gateway_take_from_lane (self, called->lane, called->kept);
      irisd_gateway_put_off (self, called->kept);
      g_hash_table_remove (self->calls, called);
      if (lane != NULL)
        irisd_gateway_settle_lane (self, lane);
      run_errands (self, errands);
    }
}
