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
#include "daemon/exec/worker/irisd-away-later.h"
#include "daemon/exec/worker/irisd-worker-processes.h"
#include "daemon/items/irisd-dependencies.h"

static gint64
get_read_ahead_us (IrisdItems *self)
{
  return (gint64) self->core->config->limits.read_ahead_ms * 1000;
}

/* Returns the clocks at which items are due that have to be read now. */
IrisdTimes
irisd_spilled_get_soon (IrisdItems *self, const IrisdTimes *now)
{
  IrisdTimes soon = *now;
  for (guint clock = 0; clock < IRISD_N_CLOCKS; clock++)
    soon.us[clock] += get_read_ahead_us (self);
  return soon;
}

/* A spilled item has no job that counts in the queue that it names. */
static void
count_in_queue (IrisdItems *self, IrisdPersistentItem *persistent, gint change)
{
  /* Relaxed: only this thread writes it. */
  irisd_named_queues_count (
      &self->core->queues, atomic_load_explicit (&persistent->queue, memory_order_relaxed), change);
}

void
irisd_spilled_add (IrisdItems *self,
                   IrisdPersistentItem *persistent,
                   IrisdPeer *peer,
                   IrisWireState state)
{
  IrisdCore *core = self->core;
  pthread_mutex_lock (&core->dependencies_lock);
  irisd_dependency_graph_add (&core->dependencies, persistent->item, NULL, persistent->owner);
  irisd_dependency_graph_set_aside (&core->dependencies, persistent->item, self->mailbox);
  pthread_mutex_unlock (&core->dependencies_lock);
  persistent->peer = irisd_peer_ref (peer);
  irisd_persistent_item_advance (persistent, IRISD_EVENT_SPILL);
  irisd_persistent_item_set_state (persistent, state);
  irisd_core_count_spilled (core, 1);
  count_in_queue (self, persistent, 1);
}

/* A job that waits for its time, or is about to wait for its turn, is in no flow. */
static void
replace_job (IrisdItems *self, IrisdJob *job, IrisWireState state)
{
  irisd_job_advance (job, IRISD_EVENT_SPILL);
  irisd_items_drop_deadline (self, job);
  irisd_spilled_add (self, job->persistent, job->peer, state);
  irisd_core_add_bytes (self->core, -(gint64) job->charge);
  irisd_items_unregister (self, job);
  g_hash_table_remove (self->orphans, job);
  irisd_job_free (job);
}

/* Spills the item of @job, which waits for its turn. Takes @job. */
void
irisd_spilled_put_away (IrisdItems *self, IrisdJob *job)
{
  replace_job (self, job, IRIS_WIRE_STATE_QUEUED);
}

static gboolean
may_be_spilled (IrisdItems *self, const IrisdJob *job)
{
  return irisd_job_is_orphan ((IrisdJob *) job) && job->schedule != NULL
         && job->schedule->attempts == 0 && job->permit == NULL
         && irisd_items_get_phase (self) == IRISD_PHASE_SERVING
         && g_hash_table_size (self->by_number) > self->core->config->limits.memory_items;
}

/* Returns whether the item is spilled now; then @job, which has to wait for its time, is freed. One
 * whose deadline comes before its time stays: only a job's deadline is watched, and a reloaded job
 * waits until its spilled item's timer, so with that at the deadline it might run just before it.
 */
gboolean
irisd_spilled_put_delayed (IrisdItems *self, IrisdJob *job)
{
  IrisdClock clock;
  gint64 due_us;
  if (!may_be_spilled (self, job))
    return FALSE;
  IrisdTimes now = irisd_times_now ();
  IrisdTimes soon = irisd_spilled_get_soon (self, &now);
  if (!irisd_schedule_get_due (job->schedule, &now, &clock, &due_us) || due_us <= soon.us[clock]
      || irisd_schedule_ends_before (job->schedule, &now, clock, due_us))
    return FALSE;
  irisd_timers_add (&self->spilled, &job->persistent->timer, clock, due_us);
  irisd_away_later_wait (job);
  replace_job (self, job, IRIS_WIRE_STATE_DELAYED);
  return TRUE;
}

/* The rules do not count items that were found at the start. */
gboolean
irisd_spilled_is_counted (IrisdItems *self, const IrisdPeer *peer)
{
  return self->core->rules.any && peer != self->journal_peer;
}

void
irisd_spilled_uncount (IrisdItems *self,
                       const IrisdPersistentItem *persistent,
                       const IrisdPeer *peer)
{
  if (irisd_spilled_is_counted (self, peer))
    irisd_fair_rules_release (&self->core->rules, peer->client, persistent->service,
                              persistent->size, g_get_monotonic_time ());
}

/* The item stays in the journal, and runs when irisd is back. */
void
irisd_spilled_put_off (IrisdItems *self, IrisdPersistentItem *persistent)
{
  g_autoptr (IrisdPeer) peer = g_steal_pointer (&persistent->peer);
  irisd_persistent_item_advance (persistent, IRISD_EVENT_PUT_OFF);
  irisd_core_count_spilled (self->core, -1);
  count_in_queue (self, persistent, -1);
  irisd_spilled_uncount (self, persistent, peer);
  irisd_dependencies_note_cancelled (self, persistent->item);
  irisd_count (&self->counters.ended, 1);
  irisd_count (&self->counters.failed, 1);
  irisd_core_end_item (self->core);
}
