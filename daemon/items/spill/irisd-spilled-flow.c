/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * Flows: spilled items that wait for their turn.
 *
 * Any item at a gate may be next, by priority and by its client's turn. But items of one client,
 * priority, service and named queue that go to one place go in the order in which they came. Those
 * are a *flow*, and only the head of a flow has to be at the gate. So beyond `memory-items` each
 * flow has a window of jobs, more than its gate lets through at once, and the items behind them are
 * spilled (irisd-spilled.c): links in the flow's queue. When half of the window is through, as many
 * items are reloaded.
 *
 * Choice. As long as reading keeps up, a flow with spilled items has jobs at the gate, so the gate
 * sees the head of every flow, and chooses as if all items were loaded. The gate ages an item by
 * the time when it began to wait, which a reloaded item brings along. If reading falls behind,
 * other items go first, and no worker is idle for it.
 *
 * Order in a flow. New items go behind the spilled ones as long as there are any. An item that a
 * request reloads (CANCEL, BURY) leaves its flow.
 *
 * Only detached items that have not run yet take part; other items of the same client pass by. So
 * do items for worker processes with a deadline, because a spilled item's deadline is not watched.
 * Items that came before the limit was reached are in no flow. Items for worker processes may wait
 * for days until a worker process serves them, so bytes bound their window; strict ones have flows
 * of their own, because they must not delay items behind them that another place could run.
 *
 * A flow belongs to its gateway's thread. It exists while it has a job, a reload or a spilled item.
 */
#include "daemon/items/spill/irisd-spilled-flow.h"

#include "daemon/items/irisd-cost.h"
#include "daemon/items/spill/irisd-spilled.h"

#include <string.h>

/* Bounds of a window, in items. */
#define LEAST_WINDOW 64
#define MOST_WINDOW  4096

/* Bounds of a window for worker processes, in items, and in bytes of their payloads. */
#define MOST_OUTSIDE_WINDOW  1024
#define BYTES_OUTSIDE_WINDOW (8 * 1024 * 1024)

/**
 * IrisdSpilledFlow:
 * @client: the items' client; only compared
 * @service: their service; interned
 * @home: the place where they go
 * @priority: their priority
 * @named_queue: the index of the queue that they name; 0: none
 * @for_workers: they are for worker processes
 * @strict: and for those at their home alone
 * @window: how many jobs it may have
 * @n_jobs: how many it has
 * @n_called: how many of its items are being reloaded
 * @since_us: when its last item with a job began to wait
 * @queue: spilled items that are not being reloaded, oldest first
 * @half_empty: its link in the list of flows that want a reload
 */
struct _IrisdSpilledFlow
{
  gconstpointer client;
  GRefString *service;
  gint home;
  guint priority;
  guint named_queue;
  gboolean for_workers;
  gboolean strict;

  guint window;
  guint n_jobs;
  guint n_called;
  gint64 since_us;
  TAILQ_HEAD (, _IrisdPersistentItem) queue;
  gboolean is_half_empty;
  GList half_empty;
};

static guint
hash_flow (gconstpointer key)
{
  const IrisdSpilledFlow *flow = key;
  return g_direct_hash (flow->client) * 31 + g_direct_hash (flow->service) + (guint) flow->home * 16
         + flow->priority + flow->named_queue * 127 + (flow->strict ? 31 : 0);
}

static gboolean
flows_equal (gconstpointer a, gconstpointer b)
{
  const IrisdSpilledFlow *left = a, *right = b;
  return left->client == right->client && left->service == right->service
         && left->home == right->home && left->priority == right->priority
         && left->named_queue == right->named_queue && left->strict == right->strict;
}

static void
free_flow (gpointer data)
{
  IrisdSpilledFlow *flow = data;
  g_ref_string_release (flow->service);
  g_free (flow);
}

void
irisd_spilled_flows_init (IrisdItems *self)
{
  self->flows = g_hash_table_new_full (hash_flow, flows_equal, free_flow, NULL);
  g_queue_init (&self->half_empty_flows);
}

static guint
count_near (const IrisdSpilledFlow *flow)
{
  return flow->n_jobs + flow->n_called;
}

static void
set_half_empty (IrisdItems *self, IrisdSpilledFlow *flow, gboolean half_empty)
{
  if (half_empty == flow->is_half_empty)
    return;
  flow->is_half_empty = half_empty;
  flow->half_empty.data = flow;
  if (half_empty)
    g_queue_push_tail_link (&self->half_empty_flows, &flow->half_empty);
  else
    g_queue_unlink (&self->half_empty_flows, &flow->half_empty);
}

/* To be called after each change of the queue or the jobs; it may free the flow. */
static void
settle (IrisdItems *self, IrisdSpilledFlow *flow)
{
  gboolean empty = TAILQ_EMPTY (&flow->queue);
  if (empty)
    set_half_empty (self, flow, FALSE);
  else if (count_near (flow) <= flow->window / 2)
    set_half_empty (self, flow, TRUE);
  if (empty && count_near (flow) == 0)
    g_hash_table_remove (self->flows, flow);
}

static IrisdSpilledFlow *
get_flow (IrisdItems *self, const IrisdSpilledFlow *key)
{
  IrisdSpilledFlow *flow = g_hash_table_lookup (self->flows, key);
  if (flow != NULL)
    return flow;
  flow = g_memdup2 (key, sizeof *key);
  g_ref_string_acquire (flow->service);
  flow->since_us = g_get_monotonic_time ();
  TAILQ_INIT (&flow->queue);
  g_hash_table_add (self->flows, flow);
  return flow;
}

static void
append (IrisdItems *self, IrisdSpilledFlow *flow, IrisdPersistentItem *persistent)
{
  atomic_fetch_add_explicit (&self->core->counters[flow->home].aside, 1, memory_order_relaxed);
  persistent->in_flow = TRUE;
  persistent->flow = flow;
  TAILQ_INSERT_TAIL (&flow->queue, persistent, in_queue);
}

/* Makes the link a timer again, which does not wait. */
static void
take_out (IrisdItems *self, IrisdSpilledFlow *flow, IrisdPersistentItem *persistent)
{
  atomic_fetch_sub_explicit (&self->core->counters[flow->home].aside, 1, memory_order_relaxed);
  TAILQ_REMOVE (&flow->queue, persistent, in_queue);
  persistent->in_flow = FALSE;
  persistent->timer = (IrisdTimer){ 0 };
}

static void
set_window (IrisdItems *self, IrisdSpilledFlow *flow, IrisdJob *job)
{
  guint64 window = job->leased_item != NULL ? BYTES_OUTSIDE_WINDOW / MAX (job->payload_size, 1)
                                            : irisd_cost_get_window (self, job);
  flow->window = (guint) CLAMP (window, LEAST_WINDOW,
                                job->leased_item != NULL ? MOST_OUTSIDE_WINDOW : MOST_WINDOW);
}

static gboolean
may_have_flow (IrisdItems *self, const IrisdJob *job)
{
  return irisd_job_is_orphan ((IrisdJob *) job) && job->flow == NULL
         && (job->leased_item == NULL || job->schedule == NULL || job->schedule->deadline_us == 0)
         && (job->schedule == NULL || job->schedule->attempts == 0) && job->permit == NULL
         && irisd_items_get_phase (self) < IRISD_PHASE_STOPPING;
}

/* Returns whether the item is spilled now; then @job, which is about to go to its gate, is freed.
 * Otherwise only its flow may have changed. */
gboolean
irisd_spilled_flow_add (IrisdItems *self, IrisdJob *job)
{
  gboolean many = g_hash_table_size (self->by_number) > self->core->config->limits.memory_items;
  if ((!many && g_hash_table_size (self->flows) == 0) || !may_have_flow (self, job))
    return FALSE;
  const IrisdSpilledFlow key = { .client = job->client,
                                 .service = job->persistent->service,
                                 .home = job->home,
                                 .priority = job->fair.priority,
                                 .named_queue = irisd_named_queue_get_index (job->queue),
                                 .for_workers = job->leased_item != NULL,
                                 .strict = job->leased_item != NULL && job->strict };
  IrisdSpilledFlow *flow = many ? get_flow (self, &key) : g_hash_table_lookup (self->flows, &key);
  if (flow == NULL)
    return FALSE;
  set_window (self, flow, job);
  if (TAILQ_EMPTY (&flow->queue) && count_near (flow) < flow->window)
    {
      job->flow = flow;
      flow->n_jobs++;
      /* Items behind it began to wait then, or later. */
      job->since_us = flow->since_us = g_get_monotonic_time ();
      return FALSE;
    }
  append (self, flow, job->persistent);
  irisd_spilled_put_away (self, job);
  settle (self, flow);
  return TRUE;
}

/* @persistent was recovered before the gateway started, and has no gateway yet. */
void
irisd_spilled_flow_recover (IrisdItems *self,
                            IrisdPersistentItem *persistent,
                            gint home,
                            const IrisWireMessage *item,
                            IrisdNamedQueue *queue,
                            gboolean for_workers)
{
  const IrisdSpilledFlow key = { .client = irisd_items_get_journal_peer (self)->client,
                                 .service = persistent->service,
                                 .home = home,
                                 .priority = irisd_items_get_priority (self, item, queue),
                                 .named_queue = irisd_named_queue_get_index (queue),
                                 .for_workers = for_workers,
                                 .strict = for_workers && item->strict,
                                 .window = LEAST_WINDOW };
  IrisdSpilledFlow *flow = get_flow (self, &key);
  append (self, flow, persistent);
  settle (self, flow);
}

/* @job does not wait any more; it may have left before. */
void
irisd_spilled_flow_leave (IrisdItems *self, IrisdJob *job)
{
  IrisdSpilledFlow *flow = g_steal_pointer (&job->flow);
  if (flow == NULL)
    return;
  flow->n_jobs--;
  settle (self, flow);
}

/* Takes the next item that a flow wants back, out of @flow, for a reload. Returns NULL if the
 * window of no flow is half empty. */
IrisdPersistentItem *
irisd_spilled_flow_call (IrisdItems *self, IrisdSpilledFlow **flow)
{
  IrisdSpilledFlow *half_empty = *flow = g_queue_peek_head (&self->half_empty_flows);
  if (half_empty == NULL)
    return NULL;
  IrisdPersistentItem *persistent = TAILQ_FIRST (&half_empty->queue);
  take_out (self, half_empty, persistent);
  half_empty->n_called++;
  set_half_empty (self, half_empty, FALSE);
  set_half_empty (self, half_empty,
                  !TAILQ_EMPTY (&half_empty->queue)
                      && count_near (half_empty) < half_empty->window);
  return persistent;
}

/* Takes a reloaded item from its flow; @called_for is the flow that wanted the reload. Call
 * irisd_spilled_flow_return() or irisd_spilled_flow_settle() next, unless the result is NULL: the
 * item is in no flow. */
IrisdSpilledFlow *
irisd_spilled_flow_take (IrisdItems *self,
                         IrisdSpilledFlow *called_for,
                         IrisdPersistentItem *persistent)
{
  if (called_for != NULL)
    called_for->n_called--;
  if (!persistent->in_flow)
    return called_for;
  IrisdSpilledFlow *flow = persistent->flow;
  take_out (self, flow, persistent);
  return flow;
}

/* @job is the reloaded item's; @delay_us is how long the item waited for its time before. */
void
irisd_spilled_flow_return (IrisdItems *self, IrisdSpilledFlow *flow, IrisdJob *job, gint64 delay_us)
{
  gint64 now = g_get_monotonic_time ();
  job->flow = flow;
  flow->n_jobs++;
  set_window (self, flow, job);
  /* Items found at the start began to wait then, and go behind those that already have jobs. */
  if (job->peer == self->journal_peer)
    return;
  flow->since_us = CLAMP (job->accepted_ns / 1000 + delay_us, flow->since_us, now);
  job->since_us = flow->since_us;
}

/* The item that was taken did not return. */
void
irisd_spilled_flow_settle (IrisdItems *self, IrisdSpilledFlow *flow)
{
  settle (self, flow);
}

/* Puts off the items that are not being reloaded, because irisd ends. */
void
irisd_spilled_flows_put_off (IrisdItems *self)
{
  GHashTableIter iter;
  gpointer key;
  g_hash_table_iter_init (&iter, self->flows);
  while (g_hash_table_iter_next (&iter, &key, NULL))
    {
      IrisdSpilledFlow *flow = key;
      IrisdPersistentItem *persistent;
      while ((persistent = TAILQ_FIRST (&flow->queue)) != NULL)
        {
          take_out (self, flow, persistent);
          irisd_spilled_put_off (self, persistent);
        }
      set_half_empty (self, flow, FALSE);
      if (count_near (flow) == 0)
        g_hash_table_iter_remove (&iter);
    }
}

/* Drops the peers of items that were never put off, because irisd never started. */
void
irisd_spilled_flows_forget (IrisdItems *self)
{
  GHashTableIter iter;
  gpointer key;
  g_hash_table_iter_init (&iter, self->flows);
  while (g_hash_table_iter_next (&iter, &key, NULL))
    {
      IrisdPersistentItem *persistent;
      TAILQ_FOREACH (persistent, &((IrisdSpilledFlow *) key)->queue, in_queue)
      g_clear_pointer (&persistent->peer, irisd_peer_unref);
    }
  g_hash_table_unref (self->flows);
}
