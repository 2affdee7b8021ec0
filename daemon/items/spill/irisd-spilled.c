/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * Spilled items: kept ones that wait, and of which nothing is in memory but for what.
 *
 * A job costs some 700 bytes and its payload, and an item that waits for tomorrow needs neither:
 * all of it is in the journal. So beyond the limit `memory-items` a gateway frees the job of a
 * persistent item that waits for its time, once it has been accepted. What stays is the journal's
 * entry (IrisdPersistentItem), with the time in it, and the item's node among those that others may
 * come after. Somewhat before its time (`read-ahead-ms`) the journal's thread reads it back, and
 * its job is made again as after a start, so no gateway ever waits for the disk. Who has few
 * persistent items never comes here. Items that wait for their turn are cold in the same way; what
 * they are called back by is their flow (irisd-spilled-flow.c), and where it says heap here, theirs
 * is its queue.
 *
 * Who owns it. An item that is accepted and has not ended is its gateway's, and is there in one of
 * three ways:
 *
 *   hot      it has a job, in `by_number`; its node's owner is the job
 *   cold     its entry is in the heap `cold`; its node's owner is the gateway's mailbox
 *   called   it is cold, and its call is in `calls`: a journal request CALL is at the journal, or
 * it could not be read and the call waits in `unread` to be tried again; its entry may be in the
 * heap `cold` or not
 *
 * Only the gateway's thread moves it from one to another, so there is nothing to be locked but the
 * node, under the lock that all nodes have: its owner is changed before the job is freed, and after
 * it is made. In the entry the time and the peer are the gateway's, and the rest the journal's, as
 * always. `peer` is set exactly while an item is not hot.
 *
 * The entry stays. The journal lets go of an entry only when the item has ended, and it is told so
 * only by journal requests that a hot item's gateway posts; an item that is buried or cancelled in
 * the journal itself has been hot before. So a spilled item's entry is there, and so is that which
 * the answer to a CALL brings: both mailboxes keep the order, hence an end that is posted after the
 * call's answer is taken cannot be answered before it.
 *
 * Races. Who wants a spilled item (CANCEL, KICK or BURY by number) does not find it changed, but
 * calls it back, as its time would, and leaves his message with the call; when the item is hot
 * again the message finds a job that waits, and what follows is what always does. Hence
 *
 *   - two who want the same item, or one and its time, share one call: `calls` knows it by its
 *     number, and messages are read in the order in which they came. The second finds what the
 * first has left, as if both had come to a hot item;
 *   - messages are read before the job goes on, so an item whose time comes while it is read back
 *     can still be cancelled;
 *   - an item that no request has taken is spilled again if its time is still far;
 *   - irisd ends while an item is called: what is in the heap is put off at once, what is not when
 *     its answer comes; `peer` tells whether that was done. Items are counted while they are cold,
 *     and irisd does not end before all that it counts are back or put off;
 *   - kill -9 at any moment: a spilled item has its row, for it was accepted; reading it back
 * changes nothing. A relaxed one may lack a row as long as it would have otherwise, and is read
 * from what is about to be written.
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
 * spilled items is `persistent-items`.
 *
 * A job that has been tried already stays hot. So does one whose connection waits for its end; when
 * that goes, its jobs that wait for their time are looked at again.
 */
#include "daemon/items/spill/irisd-spilled.h"

#include "daemon/base/irisd-log.h"
#include "daemon/exec/worker/irisd-worker-processes.h"
#include "daemon/items/irisd-bury.h"

static gint64
get_read_ahead_us (IrisdGateway *self)
{
  return (gint64) self->core->config->limits.read_ahead_ms * 1000;
}

/* What the clocks say when that is due which is to be read now. */
IrisdTimes
irisd_spilled_get_soon (IrisdGateway *self, const IrisdTimes *now)
{
  IrisdTimes soon = *now;
  for (guint clock = 0; clock < IRISD_N_CLOCKS; clock++)
    soon.us[clock] += get_read_ahead_us (self);
  return soon;
}

/* From now on the item is cold. */
static void
set_spilled (IrisdGateway *self,
             IrisdPersistentItem *persistent,
             IrisdPeer *peer,
             IrisWireState state)
{
  IrisdCore *core = self->core;
  pthread_mutex_lock (&core->dependencies_lock);
  irisd_dependency_graph_add (&core->dependencies, persistent->item, NULL, persistent->owner);
  irisd_dependency_graph_set_aside (&core->dependencies, persistent->item, &self->mailbox);
  pthread_mutex_unlock (&core->dependencies_lock);
  persistent->peer = irisd_peer_ref (peer);
  irisd_persistent_item_advance (persistent, IRISD_EVENT_SPILL);
  irisd_persistent_item_set_state (persistent, state);
  irisd_core_count_spilled (core, 1);
}

/* Instead of its job. */
static void
replace_job (IrisdGateway *self, IrisdJob *job, IrisWireState state)
{
  irisd_job_advance (job, IRISD_EVENT_SPILL);
  irisd_deadline_drop (self, job);
  set_spilled (self, job->persistent, job->peer, state);
  irisd_core_add_bytes (self->core, -(gint64) job->charge);
  irisd_persistent_unregister (self, job);
  g_hash_table_remove (self->orphans, job);
  irisd_job_free (job);
}

/**
 * irisd_spilled_put_away:
 * @self: the gateway
 * @job: (transfer full): a job whose item waits for its turn, and is cold now
 */
void
irisd_spilled_put_away (IrisdGateway *self, IrisdJob *job)
{
  replace_job (self, job, IRIS_WIRE_STATE_QUEUED);
}

static gboolean
may_be_spilled (IrisdGateway *self, const IrisdJob *job)
{
  return irisd_job_is_orphan ((IrisdJob *) job) && job->schedule != NULL
         && job->schedule->attempts == 0 && job->permit == NULL
         && irisd_gateway_current_phase (self) == IRISD_PHASE_SERVING
         && g_hash_table_size (self->by_number) > self->core->config->limits.memory_items;
}

/**
 * irisd_spill_job:
 * @self: the gateway
 * @job: (transfer full): a job that is about to wait for its time
 *
 * Returns: whether its item is cold now; otherwise nothing has changed
 */
gboolean
irisd_spill_job (IrisdGateway *self, IrisdJob *job)
{
  IrisdClock clock;
  gint64 due_us;
  if (!may_be_spilled (self, job))
    return FALSE;
  IrisdTimes now = irisd_times_now ();
  IrisdTimes soon = irisd_spilled_get_soon (self, &now);
  if (!irisd_schedule_get_due (job->schedule, &now, &clock, &due_us) || due_us <= soon.us[clock])
    return FALSE;
  irisd_timers_add (&self->spilled, &job->persistent->timer, clock, due_us);
  replace_job (self, job, IRIS_WIRE_STATE_DELAYED);
  return TRUE;
}

/**
 * irisd_spilled_recover:
 * @self: a gateway that was not started
 * @record: an item that has not ended
 * @persistent: the same
 *
 * Returns: whether it is cold; otherwise nothing has changed
 */
gboolean
irisd_spilled_recover (IrisdGateway *self,
                       const IrisdRecord *record,
                       IrisdPersistentItem *persistent)
{
  IrisdCore *core = self->core;
  IrisWireMessage item;
  IrisdClock clock;
  gint64 due_us;
  if (self->n_recovered < core->config->limits.memory_items
      || !irisd_restore_read (self, record->item, record->header, (IrisWireFrame){ 0 }, &item))
    return FALSE;
  IrisdTimes now = irisd_times_now ();
  IrisdTimes soon = irisd_spilled_get_soon (self, &now);
  g_autofree IrisdSchedule *schedule = irisd_schedule_new (&item, &core->config->limits, &now);
  if (schedule != NULL)
    irisd_schedule_resume (schedule, persistent->attempts, persistent->due_ms,
                           &core->config->limits, &now);
  gboolean delayed = schedule != NULL && irisd_schedule_get_due (schedule, &now, &clock, &due_us);
  const IrisdService *service = irisd_restore_find_service (self, persistent->owner, &item);
  const gboolean for_workers = service == &irisd_service_worker_processes;
  if (delayed ? due_us <= soon.us[clock]
              : for_workers && schedule != NULL && schedule->deadline_us != 0)
    return FALSE;
  if (!irisd_core_begin_item (core))
    return FALSE;
  gint home = irisd_restore_choose_home (self, &item, persistent);
  irisd_placement_history_note_item (&core->placement_history, persistent->item, home);
  irisd_count (&self->counters.accepted, 1);
  set_spilled (self, persistent, irisd_restore_get_peer (self),
               delayed ? IRIS_WIRE_STATE_DELAYED : IRIS_WIRE_STATE_QUEUED);
  if (delayed)
    irisd_timers_add (&self->spilled, &persistent->timer, clock, due_us);
  else
    irisd_spilled_flow_recover (self, persistent, home, &item, for_workers);
  return TRUE;
}

/* Those that were found at the start are not counted by the rules. */
gboolean
irisd_spilled_is_counted (IrisdGateway *self, const IrisdPeer *peer)
{
  return self->core->rules.any && peer != self->journal_peer;
}

void
irisd_spilled_uncount (IrisdGateway *self,
                       const IrisdPersistentItem *persistent,
                       const IrisdPeer *peer)
{
  if (irisd_spilled_is_counted (self, peer))
    irisd_fair_rules_release (&self->core->rules, peer->client, persistent->service,
                              persistent->size, g_get_monotonic_time ());
}

/**
 * irisd_spilled_put_off:
 * @self: the gateway
 * @persistent: an item that is cold; it is kept, and runs when irisd is back
 */
void
irisd_spilled_put_off (IrisdGateway *self, IrisdPersistentItem *persistent)
{
  g_autoptr (IrisdPeer) peer = g_steal_pointer (&persistent->peer);
  irisd_persistent_item_advance (persistent, IRISD_EVENT_PUT_OFF);
  irisd_core_count_spilled (self->core, -1);
  irisd_spilled_uncount (self, persistent, peer);
  irisd_dependencies_note_cancelled (self, persistent->item);
  irisd_count (&self->counters.ended, 1);
  irisd_count (&self->counters.failed, 1);
  irisd_core_end_item (self->core);
}

/**
 * irisd_spilled_put_off_all:
 * @self: the gateway
 *
 * Ends the waiting of what is cold and waits for a time, or cannot be read, because irisd ends.
 */
void
irisd_spilled_put_off_all (IrisdGateway *self)
{
  const IrisdTimes ever = { .us = { G_MAXINT64, G_MAXINT64 } };
  IrisdTimer *timer;
  while ((timer = irisd_timers_pop_due (&self->spilled, &ever)) != NULL)
    if (!g_hash_table_contains (self->reloads, &irisd_persistent_item_of_timer (timer)->item))
      irisd_spilled_put_off (self, irisd_persistent_item_of_timer (timer));
  irisd_reload_put_off_all (self);
}

/**
 * irisd_spilled_forget_all:
 * @self: a gateway that was never started, or has put off what was cold
 */
void
irisd_spilled_forget_all (IrisdGateway *self)
{
  const IrisdTimes ever = { .us = { G_MAXINT64, G_MAXINT64 } };
  IrisdTimer *timer;
  while ((timer = irisd_timers_pop_due (&self->spilled, &ever)) != NULL)
    g_clear_pointer (&irisd_persistent_item_of_timer (timer)->peer, irisd_peer_unref);
  irisd_timers_clear (&self->spilled);
  irisd_timers_clear (&self->unread);
  irisd_spilled_flows_forget (self);
  g_hash_table_unref (self->reloads);
}
