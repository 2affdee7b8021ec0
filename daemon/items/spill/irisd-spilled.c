/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * Spilled items: waiting persistent items of which only the journal's entry is in memory.
 *
 * A job costs some 700 bytes and its payload, and the journal has all of it. Beyond the limit
 * `memory-items` a gateway therefore frees the job of an accepted persistent item that waits for
 * its time. The journal's entry (IrisdPersistentItem), with the time in it, and the item's node in
 * the dependency graph stay. `read-ahead-ms` before its time the journal's thread reads the item,
 * and the gateway makes its job again as after a start, so no gateway waits for the disk. Items
 * that wait for their turn are spilled in the same way; there the flow (irisd-spilled-flow.c)
 * starts the reload, and its queue stands for the heap below.
 *
 * Ownership. An accepted item that has not ended belongs to its gateway, and is one of:
 *
 *   loaded     it has a job, in `by_number`; its node's owner is the job
 *   spilled    its entry is in the heap `spilled`; its node's owner is the gateway's mailbox
 *   reloading  it is spilled, and its reload is in `reloads`: a journal request RELOAD is at the
 *              journal, or the read failed and the reload waits in `unread` for another attempt;
 * its entry may still be in the heap `spilled`
 *
 * Only the gateway's thread changes which, so only the node needs a lock, which all nodes share:
 * its owner changes before the job is freed and after it is made. Of the entry the gateway has the
 * time and the peer, the journal the rest. `peer` is set exactly while an item is not loaded.
 *
 * The entry stays. The journal frees an entry only when the item has ended, which it learns only
 * from journal requests that the gateway posts for a loaded item; an item that the journal itself
 * buries or cancels was loaded before. So the entry of a spilled item exists, and so does the entry
 * in the answer to a RELOAD: both mailboxes keep the order, hence an end that is posted after that
 * answer was taken cannot be answered before it.
 *
 * Races. A request about a spilled item (CANCEL, KICK or BURY by number) does not change the item.
 * It starts the reload, as the item's time would, and leaves its message there. Once the item is
 * loaded the message finds a waiting job, as usual. Hence
 *
 *   - two requests for one item, or a request and its time, share one reload: `reloads` has it by
 *     the item's number, and messages are read in the order in which they came. The second finds
 *     what the first left, as if the item had been loaded;
 *   - messages are read before the job goes on, so an item whose time comes during the reload can
 *     still be cancelled;
 *   - an item that no request has taken is spilled again if its time is still far;
 *   - if irisd ends during a reload, items in the heap are put off at once, the others when their
 *     answer comes; `peer` tells whether that was done. Spilled items are counted, and irisd does
 *     not end before all counted items are back or put off;
 *   - kill -9 at any moment: a spilled item was accepted, so it has its row, and reading changes
 *     nothing. The row of a relaxed item may not be written yet; the read then finds it in the
 *     batch that is about to be written.
 *
 * Failed reads. An item with a damaged row ends with an error. Any other failure may pass, so the
 * gateway tries again without limit, with a pause that grows. A failure that may be either counts
 * as damage after MOST_DOUBTS attempts. A request for such an item has it tried at once, and gets
 * an error after a few failures; the attempts go on. Reloads that pause do not count for
 * MOST_CALLS, so a bad stretch of a disk delays no other item.
 *
 * Accounts. A spilled item still counts as under way, and for the rules of its client and service;
 * not for `total-items` and `total-bytes`, because it is not in memory. `persistent-items` bounds
 * spilled items.
 *
 * A job that was tried before stays loaded. So does one whose connection waits for its end; when
 * the connection goes, its jobs that wait for their time are examined again.
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

/* Returns the clocks at which items are due that have to be read now. */
IrisdTimes
irisd_spilled_get_soon (IrisdGateway *self, const IrisdTimes *now)
{
  IrisdTimes soon = *now;
  for (guint clock = 0; clock < IRISD_N_CLOCKS; clock++)
    soon.us[clock] += get_read_ahead_us (self);
  return soon;
}

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

/* Spills the item of @job, which waits for its turn. Takes @job. */
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

/* Returns whether the item is spilled now; then @job, which has to wait for its time, is freed. */
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

/* Returns whether the item of @record, found before the gateway started, is spilled now. */
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

/* The rules do not count items that were found at the start. */
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

/* The item stays in the journal, and runs when irisd is back. */
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

/* Puts off items that wait for a time or cannot be read, because irisd ends. */
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

/* For a gateway that never started, or has put off its spilled items. */
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
