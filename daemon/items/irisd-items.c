/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * The items of one gateway: what its thread knows of those that it has accepted.
 *
 * Deadlines: an item that has not begun by its deadline fails, whatever it waits for. The deadline
 * of a job is in a heap of its gateway until the job ends or the deadline has passed. An item that
 * has begun goes on; its deadline is checked again before another try (irisd-dispatch.c) or lease
 * (irisd-leases.c). A spilled item has no job, so its deadline is checked when it is reloaded.
 */
#include "daemon/items/irisd-items.h"

#include "daemon/exec/worker/irisd-worker-processes.h"

#include <string.h>

void
irisd_items_init (IrisdItems *self,
                  const IrisdItemsClass *klass,
                  IrisdCore *core,
                  gint place,
                  IrisdMailbox *mailbox,
                  IrisWireEncoder *encoder,
                  IrisdPeers *peers)
{
  self->klass = klass;
  self->core = core;
  self->place = place;
  self->mailbox = mailbox;
  self->encoder = encoder;
  self->peers = peers;
  self->orphans = g_hash_table_new (NULL, NULL);
  self->by_number = g_hash_table_new (g_int64_hash, g_int64_equal);
  self->ended = g_ptr_array_new ();
  irisd_item_counters_init (&self->counters, core->n_places, &core->service_names);
  irisd_timers_init (&self->timers);
  irisd_timers_init (&self->deadlines);
  self->gate_returns = g_new0 (IrisdGateReturns, core->n_places);
  self->typical_ns = g_hash_table_new (NULL, NULL);
}

/* The items that were spilled are forgotten. */
void
irisd_items_clear (IrisdItems *self)
{
  g_clear_pointer (&self->journal_peer, irisd_peer_unref);
  g_hash_table_unref (self->orphans);
  g_hash_table_unref (self->by_number);
  g_ptr_array_unref (self->ended);
  irisd_timers_clear (&self->timers);
  irisd_timers_clear (&self->deadlines);
  g_hash_table_unref (self->typical_ns);
  irisd_item_counters_clear (&self->counters);
  g_free (self->gate_returns);
}

/* Lets other threads see the sizes of tables that only this one may read; once in each turn. */
void
irisd_items_publish (IrisdItems *self)
{
  IrisdItemCounters *counters = &self->counters;
  atomic_store_explicit (&counters->orphans, g_hash_table_size (self->orphans),
                         memory_order_relaxed);
  atomic_store_explicit (&counters->spilled_delayed, irisd_timers_get_count (&self->spilled),
                         memory_order_relaxed);
}

/* Returns the first of the two name spaces in which services of worker processes are looked up:
 * that of the item's owner, then the shared one. Operators, which serve all, have none of their
 * own, and neither have guests. */
gint64
irisd_items_get_space (IrisdItems *self, gint64 owner)
{
  return owner >= 0
                 && !irisd_access_allows (&irisd_core_get_settings (self->core)->access,
                                          IRISD_ACCESS_OPERATE, owner)
             ? owner
             : IRISD_SPACE_SHARED;
}

IrisdJournalRequest *
irisd_items_new_request (IrisdItems *self,
                         IrisdJournalRequestKind kind,
                         IrisdPeer *peer,
                         const guint8 *request_id)
{
  IrisdJournalRequest *request = irisd_journal_request_new (kind, self->mailbox);
  request->peer = irisd_peer_ref (peer);
  request->view = peer->owner;
  memcpy (request->request_id, request_id, IRIS_WIRE_ID_SIZE);
  return request;
}

/* From now on `by_number` has @job under its item's number. */
void
irisd_items_register (IrisdItems *self, IrisdJob *job)
{
  g_hash_table_replace (self->by_number, &job->id, job);
}

void
irisd_items_unregister (IrisdItems *self, IrisdJob *job)
{
  if (job->id != 0 && g_hash_table_lookup (self->by_number, &job->id) == job)
    g_hash_table_remove (self->by_number, &job->id);
}

/* Returns the job of a persistent item that was accepted and has not ended; NULL if it is not here,
 * or spilled. */
IrisdJob *
irisd_items_find (IrisdItems *self, guint64 number)
{
  return g_hash_table_lookup (self->by_number, &number);
}

/* Returns a peer without a connection, for items whose connection did not survive irisd. */
IrisdPeer *
irisd_items_get_journal_peer (IrisdItems *self)
{
  if (self->journal_peer == NULL)
    {
      const IrisdRoute nowhere = { 0 };
      self->journal_peer = irisd_peer_new (&nowhere);
      self->journal_peer->owner = IRISD_OWNER_UNKNOWN; /* its jobs name theirs */
      atomic_store_explicit (&self->journal_peer->gone, TRUE, memory_order_relaxed);
    }
  return self->journal_peer;
}

/* Returns the priority of @item, or, if it says none, of @queue (nullable). */
guint8
irisd_items_get_priority (IrisdItems *self, const IrisWireMessage *item, IrisdNamedQueue *queue)
{
  if (iris_wire_message_has (item, IRIS_WIRE_KEY_PRIORITY))
    return (guint8) item->priority;
  return queue != NULL ? (guint8) irisd_named_queues_get_priority (&self->core->queues, queue)
                       : IRIS_WIRE_DEFAULT_PRIORITY;
}

/* Sets the priority of @job, and its schedule if @item has one. A delay begins now. */
void
irisd_items_settle_schedule (IrisdItems *self, IrisdJob *job, const IrisWireMessage *item)
{
  if ((item->present & IRISD_SCHEDULE_KEYS) != 0)
    {
      IrisdTimes now = irisd_times_now ();
      job->schedule = irisd_schedule_new (item, &irisd_core_get_settings (self->core)->limits,
                                          &now);
      job->schedule->job = job;
      irisd_items_watch_deadline (self, job);
    }
  job->fair.priority = irisd_items_get_priority (self, item, job->queue);
}

void
irisd_items_watch_deadline (IrisdItems *self, IrisdJob *job)
{
  if (job->schedule->deadline_us != 0)
    irisd_timers_add (&self->deadlines, &job->schedule->deadline, IRISD_CLOCK_STEADY,
                      job->schedule->deadline_us);
}

/* A deadline counts from the acceptance, @accepted_ms in Unix time, however often irisd was started
 * since. */
void
irisd_items_count_deadline_from (IrisdItems *self, IrisdJob *job, guint64 accepted_ms)
{
  if (job->schedule == NULL || job->schedule->deadline_us == 0)
    return;
  irisd_items_drop_deadline (self, job);
  job->schedule->deadline_us -= MAX ((gint64) (irisd_unix_ms () - accepted_ms), 0) * 1000;
  irisd_items_watch_deadline (self, job);
}

/* To be called when the job ends or its item is spilled. */
void
irisd_items_drop_deadline (IrisdItems *self, IrisdJob *job)
{
  if (job->schedule != NULL)
    irisd_timers_remove (&self->deadlines, &job->schedule->deadline);
}

/* @job has not begun. */
gboolean
irisd_items_is_late (const IrisdJob *job)
{
  return job->schedule != NULL && job->schedule->deadline_us != 0
         && job->schedule->deadline_us <= g_get_monotonic_time ();
}
