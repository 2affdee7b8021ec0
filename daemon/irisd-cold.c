/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * Cold items: kept ones that wait, and of which nothing is in memory but for what.
 *
 * A job costs some 700 bytes and its payload, and an item that waits for tomorrow needs neither:
 * all of it is in the journal. So beyond the limit `hot-items` a gateway frees the job of a kept
 * item that waits for its time, once it has been accepted. What stays is the journal's entry
 * (IrisdKept), with the time in it, and the item's node among those that others may come after.
 * Somewhat before its time (`read-ahead-ms`) the journal's thread reads it back, and its job is
 * made again as after a start, so no gateway ever waits for the disk. Who has few kept items never
 * comes here. Items that wait for their turn are cold in the same way; what they are called back by
 * is their lane (irisd-cold-lane.c), and where it says heap here, theirs is its queue.
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
 * service; not for `total-items` and `total-bytes`, because nothing of it is in memory. What bounds
 * cold items is `kept-items`.
 *
 * A job that has been tried already stays hot. So does one whose connection waits for its end; when
 * that goes, its jobs that wait for their time are looked at again.
 */
#include "irisd-cold.h"

#include "irisd-bury.h"
#include "irisd-log.h"
#include "irisd-outside.h"

static gint64
get_read_ahead_us (IrisdGateway *self)
{
  return (gint64) self->core->config->limits.read_ahead_ms * 1000;
}

/* What the clocks say when that is due which is to be read now. */
IrisdTimes
irisd_gateway_get_soon (IrisdGateway *self, const IrisdTimes *now)
{
  IrisdTimes soon = *now;
  for (guint clock = 0; clock < IRISD_N_CLOCKS; clock++)
    soon.us[clock] += get_read_ahead_us (self);
  return soon;
}

/* From now on the item is cold. */
static void
set_cold (IrisdGateway *self, IrisdKept *kept, IrisdPeer *peer, IrisWireState state)
{
  IrisdCore *core = self->core;
  pthread_mutex_lock (&core->after_lock);
  irisd_after_add (&core->after, kept->item, NULL, kept->owner);
  irisd_after_set_aside (&core->after, kept->item, &self->mailbox);
  pthread_mutex_unlock (&core->after_lock);
  kept->peer = irisd_peer_ref (peer);
  irisd_kept_set_state (kept, state);
  irisd_core_count_cold (core, 1);
}

/* Instead of its job. */
static void
replace_job (IrisdGateway *self, IrisdJob *job, IrisWireState state)
{
  irisd_gateway_drop_deadline (self, job);
  set_cold (self, job->kept, job->peer, state);
  irisd_core_add_bytes (self->core, -(gint64) job->charge);
  irisd_gateway_let_go_of_number (self, job);
  g_hash_table_remove (self->orphans, job);
  irisd_job_free (job);
}

/**
 * irisd_gateway_put_away:
 * @self: the gateway
 * @job: (transfer full): a job whose item waits for its turn, and is cold now
 */
void
irisd_gateway_put_away (IrisdGateway *self, IrisdJob *job)
{
  replace_job (self, job, IRIS_WIRE_STATE_QUEUED);
}

static gboolean
may_be_cold (IrisdGateway *self, const IrisdJob *job)
{
  return irisd_job_is_orphan ((IrisdJob *) job) && job->terms != NULL && job->terms->attempts == 0
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
  IrisdTimes soon = irisd_gateway_get_soon (self, &now);
  if (!irisd_terms_get_due (job->terms, &now, &clock, &due_us) || due_us <= soon.us[clock])
    return FALSE;
  irisd_waiting_add (&self->cold, &job->kept->waiter, clock, due_us);
  replace_job (self, job, IRIS_WIRE_STATE_DELAYED);
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
  IrisdTimes soon = irisd_gateway_get_soon (self, &now);
  g_autofree IrisdTerms *terms = irisd_terms_new (&item, &core->config->limits, &now);
  if (terms != NULL)
    irisd_terms_resume (terms, kept->attempts, kept->due_ms, &core->config->limits, &now);
  gboolean delayed = terms != NULL && irisd_terms_get_due (terms, &now, &clock, &due_us);
  const IrisdService *service = irisd_gateway_find_service_again (self, kept->owner, &item);
  const gboolean outside = service == &irisd_service_outside;
  if (delayed ? due_us <= soon.us[clock] : outside && terms != NULL && terms->deadline_us != 0)
    return FALSE;
  if (!irisd_core_begin_item (core))
    return FALSE;
  gint home = irisd_gateway_choose_home_again (self, &item, kept);
  irisd_near_note_item (&core->near, kept->item, home);
  irisd_count (&self->counters.accepted, 1);
  set_cold (self, kept, irisd_gateway_get_nobody (self),
            delayed ? IRIS_WIRE_STATE_DELAYED : IRIS_WIRE_STATE_QUEUED);
  if (delayed)
    irisd_waiting_add (&self->cold, &kept->waiter, clock, due_us);
  else
    irisd_gateway_recover_in_lane (self, kept, home, &item, outside);
  return TRUE;
}

/* Those that were found at the start are not counted by the rules. */
gboolean
irisd_gateway_is_cold_counted (IrisdGateway *self, const IrisdPeer *peer)
{
  return self->core->rules.any && peer != self->nobody;
}

void
irisd_gateway_uncount_cold (IrisdGateway *self, const IrisdKept *kept, const IrisdPeer *peer)
{
  if (irisd_gateway_is_cold_counted (self, peer))
    irisd_fair_rules_release (&self->core->rules, peer->client, kept->service, kept->size,
                              g_get_monotonic_time ());
}

/**
 * irisd_gateway_put_off:
 * @self: the gateway
 * @kept: an item that is cold; it is kept, and runs when irisd is back
 */
void
irisd_gateway_put_off (IrisdGateway *self, IrisdKept *kept)
{
  g_autoptr (IrisdPeer) peer = g_steal_pointer (&kept->peer);
  irisd_kept_set_state (kept, IRIS_WIRE_STATE_QUEUED);
  irisd_core_count_cold (self->core, -1);
  irisd_gateway_uncount_cold (self, kept, peer);
  irisd_gateway_note_cancelled (self, kept->item);
  irisd_count (&self->counters.ended, 1);
  irisd_count (&self->counters.failed, 1);
  irisd_core_end_item (self->core);
}

/**
 * irisd_gateway_put_off_cold:
 * @self: the gateway
 *
 * Ends the waiting of what is cold and waits for a time, or cannot be read, because irisd ends.
 */
void
irisd_gateway_put_off_cold (IrisdGateway *self)
{
  const IrisdTimes ever = { .us = { G_MAXINT64, G_MAXINT64 } };
  IrisdWaiter *waiter;
  while ((waiter = irisd_waiting_pop_due (&self->cold, &ever)) != NULL)
    if (!g_hash_table_contains (self->calls, &irisd_kept_of_waiter (waiter)->item))
      irisd_gateway_put_off (self, irisd_kept_of_waiter (waiter));
  irisd_gateway_put_off_calls (self);
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
    g_clear_pointer (&irisd_kept_of_waiter (waiter)->peer, irisd_peer_unref);
  irisd_waiting_clear (&self->cold);
  irisd_waiting_clear (&self->unread);
  irisd_gateway_forget_lanes (self);
  g_hash_table_unref (self->calls);
}
