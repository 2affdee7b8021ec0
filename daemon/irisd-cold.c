/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * Cold items: kept ones that wait for their time and of which nothing is in memory but that.
 *
 * A job costs some 700 bytes and its payload, and an item that waits for tomorrow needs neither:
 * all of it is in the journal. So beyond the limit `hot-items` a gateway frees the job of a kept
 * item that waits for its time, once it has been accepted. What stays is the journal's entry
 * (IrisdKept), with the time in it, and the item's node among those that others may come after.
 * Somewhat before its time (`read-ahead-ms`) the journal's thread reads it back, and its job is
 * made again as after a start, so no gateway ever waits for the disk. Who has few kept items never
 * comes here.
 *
 * Who owns it. An item that is accepted and has not ended is its gateway's, and is there in one of
 * three ways:
 *
 *   hot      it has a job, in `by_number`; its node's owner is the job
 *   cold     its entry is in the heap `cold`; its node's owner is the gateway's mailbox
 *   called   it is cold, and its call is in `calls`: a slip CALL is at the journal, or it could not
 *            be read and the call waits in `unread` to be tried again; its entry may be in the heap
 *            `cold` or not
 *
 * Only the gateway's thread moves it from one to another, so there is nothing to be locked but the
 * node, under the lock that all nodes have: its owner is changed before the job is freed, and after
 * it is made. In the entry the time and the peer are the gateway's, and the rest the journal's, as
 * always. `peer` is set exactly while an item is not hot.
 *
 * The entry stays. The journal lets go of an entry only when the item has ended, and it is told so
 * only by slips that a hot item's gateway posts; an item that is buried or cancelled in the journal
 * itself has been hot before. So a cold item's entry is there, and so is that which the answer to a
 * CALL brings: both mailboxes keep the order, hence an end that is posted after the call's answer
 * is taken cannot be answered before it.
 *
 * Races. Who wants a cold item (CANCEL, KICK or BURY by number) does not find it changed, but calls
 * it back, as its time would, and leaves his letter with the call; when the item is hot again the
 * letter finds a job that waits, and what follows is what always does. Hence
 *
 *   - two who want the same item, or one and its time, share one call: `calls` knows it by its
 *     number, and letters are read in the order in which they came. The second finds what the first
 *     has left, as if both had come to a hot item;
 *   - letters are read before the job goes on, so an item whose time comes while it is read back
 *     can still be cancelled;
 *   - an item that nobody has taken is set aside again if its time is still far;
 *   - irisd ends while an item is called: what is in the heap is put off at once, what is not when
 *     its answer comes; `peer` tells whether that was done. Items are counted while they are cold,
 *     and irisd does not end before all that it counts are back or put off;
 *   - kill -9 at any moment: a cold item has its row, for it was accepted; reading it back changes
 *     nothing. A relaxed one may lack a row as long as it would have otherwise, and is read from
 *     what is about to be written.
 *
 * What cannot be read. A damaged row is what it is: its item ends with an error. Any other failure
 * to read may pass, and the item is there: it is tried again, as long as it takes, with a pause
 * that grows. Where it may be either, the row counts as damaged after MOST_DOUBTS attempts. Who
 * wants the item meanwhile has it tried at once, and is told when that has failed a few times; time
 * goes on trying. Calls that pause do not count for MOST_CALLS, so what lies on a bad stretch of a
 * disk holds up nothing else.
 *
 * What it counts for. It goes on counting as an item, under way and for the rules of its client and
 * service; not for `total-bytes`, because its payload is not in memory.
 *
 * A job that has been tried already stays hot: how often is written down only when it ends. So does
 * one whose connection waits for its end.
 */
#include "irisd-cold.h"

#include "irisd-bury.h"
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
  IrisdWaiter waiter;
} IrisdCall;

static IrisdKept *
kept_of (IrisdWaiter *waiter)
{
  return (IrisdKept *) (void *) ((char *) waiter - G_STRUCT_OFFSET (IrisdKept, waiter));
}

static IrisdCall *
call_of (IrisdWaiter *waiter)
{
  return (IrisdCall *) (void *) ((char *) waiter - G_STRUCT_OFFSET (IrisdCall, waiter));
}

static gint64
get_read_ahead_us (IrisdGateway *self)
{
  return (gint64) self->core->config->limits.read_ahead_ms * 1000;
}

static IrisdTimes
get_soon (IrisdGateway *self, const IrisdTimes *now)
{
  IrisdTimes soon = *now;
  for (guint clock = 0; clock < IRISD_N_CLOCKS; clock++)
    soon.us[clock] += get_read_ahead_us (self);
  return soon;
}

/* From now on the item is cold. */
static void
add_cold (IrisdGateway *self, IrisdKept *kept, IrisdPeer *peer, IrisdClock clock, gint64 due_us)
{
  IrisdCore *core = self->core;
  pthread_mutex_lock (&core->after_lock);
  irisd_after_add (&core->after, kept->item, NULL);
  irisd_after_set_aside (&core->after, kept->item, &self->mailbox);
  pthread_mutex_unlock (&core->after_lock);
  kept->peer = irisd_peer_ref (peer);
  irisd_kept_set_state (kept, IRIS_WIRE_STATE_DELAYED);
  irisd_waiting_add (&self->cold, &kept->waiter, clock, due_us);
}

static gboolean
may_be_cold (IrisdGateway *self, const IrisdJob *job)
{
  return job->kept != NULL && job->detached && job->terms != NULL && job->terms->attempts == 0
         && !job->ending && !job->buried && !job->ended && job->seat == NULL
         && irisd_gateway_get_phase (self) == IRISD_PHASE_SERVING
         && g_hash_table_size (self->by_number) > self->core->config->limits.hot_items;
}

/**
 * irisd_gateway_set_aside:
 * @self: the gateway
 * @job: (transfer full): a job that is about to wait for its time
 *
 * Returns: whether its item is cold now; otherwise nothing has changed
 */
gboolean
irisd_gateway_set_aside (IrisdGateway *self, IrisdJob *job)
{
  IrisdClock clock;
  gint64 due_us;
  if (!may_be_cold (self, job))
    return FALSE;
  IrisdTimes now = irisd_times_now ();
  IrisdTimes soon = get_soon (self, &now);
  if (!irisd_terms_get_due (job->terms, &now, &clock, &due_us) || due_us <= soon.us[clock])
    return FALSE;
  add_cold (self, job->kept, job->peer, clock, due_us);
  irisd_core_add_bytes (self->core, -(gint64) job->charge);
  irisd_gateway_let_go_of_number (self, job);
  g_hash_table_remove (self->orphans, job);
  irisd_job_free (job);
  return TRUE;
}

/**
 * irisd_gateway_recover_cold:
 * @self: a gateway that was not started
 * @record: an item that has not ended
 * @kept: the same
 *
 * Returns: whether it is cold; otherwise nothing has changed
 */
gboolean
irisd_gateway_recover_cold (IrisdGateway *self, const IrisdRecord *record, IrisdKept *kept)
{
  IrisdCore *core = self->core;
  IrisWireMessage item;
  IrisdClock clock;
  gint64 due_us;
  if (self->n_recovered < core->config->limits.hot_items
      || !irisd_gateway_read_kept (self, record->item, record->header, (IrisWireFrame){ 0 }, &item))
    return FALSE;
  IrisdTimes now = irisd_times_now ();
  IrisdTimes soon = get_soon (self, &now);
  g_autofree IrisdTerms *terms = irisd_terms_new (&item, &core->config->limits, &now);
  if (terms == NULL || !irisd_terms_get_due (terms, &now, &clock, &due_us)
      || due_us <= soon.us[clock] || !irisd_core_begin_item (core))
    return FALSE;
  irisd_gateway_find_service_again (self, &item);
  irisd_near_note_item (&core->near, kept->item,
                        irisd_gateway_choose_home_again (self, &item, kept));
  irisd_count (&self->counters.accepted, 1);
  add_cold (self, kept, irisd_gateway_get_nobody (self), clock, due_us);
  return TRUE;
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

static gboolean
may_call (IrisdGateway *self)
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
  if (irisd_waiting_get_count (&self->cold) + irisd_waiting_get_count (&self->unread) == 0)
    return;
  IrisdTimes now = irisd_times_now ();
  IrisdTimes soon = get_soon (self, &now);
  IrisdWaiter *waiter;
  while (may_call (self) && (waiter = irisd_waiting_pop_due (&self->unread, &now)) != NULL)
    ask_for (self, call_of (waiter));
  while (may_call (self) && (waiter = irisd_waiting_pop_due (&self->cold, &soon)) != NULL)
    call (self, kept_of (waiter)->item);
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
  if (!may_call (self))
    return -1;
  IrisdTimes soon = get_soon (self, now);
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

/**
 * irisd_gateway_kick_cold:
 * @self: the gateway
 * @most: at most so many
 *
 * Has cold items run as if their time had come: those first that are on their way back, then those
 * whose time is next.
 *
 * Returns: how many
 */
guint
irisd_gateway_kick_cold (IrisdGateway *self, guint most)
{
  const IrisdTimes ever = { .us = { G_MAXINT64, G_MAXINT64 } };
  guint n = 0;
  GHashTableIter iter;
  gpointer called;
  g_hash_table_iter_init (&iter, self->calls);
  while (n < most && g_hash_table_iter_next (&iter, &called, NULL))
    n += (guint) kick (called);
  IrisdWaiter *waiter;
  while (n < most && (waiter = irisd_waiting_pop_due (&self->cold, &ever)) != NULL)
    {
      irisd_kept_set_state (kept_of (waiter), IRIS_WIRE_STATE_QUEUED);
      n += (guint) kick (call (self, kept_of (waiter)->item));
    }
  return n;
}

/* Those that were found at the start are not counted by the rules. */
static gboolean
is_counted (IrisdGateway *self, const IrisdPeer *peer)
{
  return self->core->rules.any && peer != self->nobody;
}

static void
uncount (IrisdGateway *self, const IrisdKept *kept, const IrisdPeer *peer)
{
  if (is_counted (self, peer))
    irisd_fair_rules_release (&self->core->rules, peer->client, kept->service, kept->size,
                              g_get_monotonic_time ());
}

/* Makes the job of an item that was cold, which waits for the time that it waited for. */
static void
warm_up (IrisdGateway *self, IrisdSlip *slip)
{
  IrisdKept *kept = slip->kept;
  g_autoptr (IrisdPeer) peer = g_steal_pointer (&kept->peer);
  IrisdJob *job = irisd_gateway_make_again (self, slip, peer);
  gint64 age_ms = (gint64) (irisd_unix_ms () - kept->accepted_ms);
  job->accepted_ns -= MAX (age_ms, 0) * 1000000;
  if (job->terms == NULL)
    {
      /* Nothing is known of it but its entry. */
      uncount (self, kept, peer);
      irisd_gateway_take_back (self, job);
      return;
    }
  job->counted = is_counted (self, peer);
  job->terms->delayed = kept->waiter.clock == IRISD_CLOCK_STEADY;
  job->terms->delay_due_us = kept->waiter.due_us;
  job->stage = IRISD_STAGE_TIME;
  irisd_waiting_add (&self->waiting, &job->terms->waiter, kept->waiter.clock, kept->waiter.due_us);
}

/* It is kept, and runs when irisd is back. */
static void
put_off (IrisdGateway *self, IrisdKept *kept)
{
  g_autoptr (IrisdPeer) peer = g_steal_pointer (&kept->peer);
  irisd_kept_set_state (kept, IRIS_WIRE_STATE_QUEUED);
  uncount (self, kept, peer);
  irisd_gateway_note_cancelled (self, kept->item);
  irisd_count (&self->counters.ended, 1);
  irisd_count (&self->counters.failed, 1);
  irisd_core_end_item (self->core);
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

/* Sends a job on that waits for its time, or has it wait on. */
static void
send_on (IrisdGateway *self, IrisdJob *job, gboolean kicked)
{
  irisd_waiting_remove (&self->waiting, &job->terms->waiter);
  job->stage = IRISD_STAGE_HANDED;
  if (kicked)
    job->terms->delayed = job->terms->timed = FALSE;
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
  gboolean serving = irisd_gateway_get_phase (self) == IRISD_PHASE_SERVING;
  if (slip->again && serving && kept->peer != NULL && can_be_tried_again (called, slip))
    {
      pause_call (self, called, slip);
      return;
    }
  gboolean kicked = called->kicked;
  IrisdLetter *errands = called->errands;
  g_hash_table_remove (self->calls, called);

  irisd_waiting_remove (&self->cold, &kept->waiter);
  if (kept->peer != NULL && serving)
    warm_up (self, slip);
  else if (kept->peer != NULL)
    put_off (self, kept);
  run_errands (self, errands);
  IrisdJob *job = g_hash_table_lookup (self->by_number, &item);
  if (job != NULL && job->stage == IRISD_STAGE_TIME)
    send_on (self, job, kicked);
}

/**
 * irisd_gateway_put_off_cold:
 * @self: the gateway
 *
 * Ends the waiting of what is cold, because irisd ends.
 */
void
irisd_gateway_put_off_cold (IrisdGateway *self)
{
  const IrisdTimes ever = { .us = { G_MAXINT64, G_MAXINT64 } };
  IrisdWaiter *waiter;
  while ((waiter = irisd_waiting_pop_due (&self->cold, &ever)) != NULL)
    if (!g_hash_table_contains (self->calls, &kept_of (waiter)->item))
      put_off (self, kept_of (waiter));
  while ((waiter = irisd_waiting_pop_due (&self->unread, &ever)) != NULL)
    {
      IrisdCall *called = call_of (waiter);
      IrisdLetter *errands = called->errands;
      put_off (self, called->kept);
      g_hash_table_remove (self->calls, called);
      run_errands (self, errands);
    }
}

/**
 * irisd_gateway_forget_cold:
 * @self: a gateway that was never started, or has put off what was cold
 */
void
irisd_gateway_forget_cold (IrisdGateway *self)
{
  const IrisdTimes ever = { .us = { G_MAXINT64, G_MAXINT64 } };
  IrisdWaiter *waiter;
  while ((waiter = irisd_waiting_pop_due (&self->cold, &ever)) != NULL)
    g_clear_pointer (&kept_of (waiter)->peer, irisd_peer_unref);
  irisd_waiting_clear (&self->cold);
  irisd_waiting_clear (&self->unread);
  g_hash_table_unref (self->calls);
}
