/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * Lanes: cold items that wait for their turn.
 *
 * What waits at a gate may be next at any time: by priority, and by its client's turn. But among
 * the items of one client, one priority and one service that go to one place, the first to come is
 * the first to go. Those are a *lane*, and of a lane only the head has to be where it can be
 * chosen. So beyond `hot-items` each lane has a window of jobs, more than its gate lets through at
 * once, and what comes behind them is cold (irisd-cold.c): a link in the lane's queue and nothing
 * else. When half of the window is through, as many are read back.
 *
 * Who is chosen. As long as reading keeps up, a lane that has cold items has jobs at the gate as
 * well, hence the gate sees the head of every lane, and chooses as if all were there. It ages an
 * item by when it began to wait; one that is read back says when that was. If reading does not keep
 * up, others go first until it has, and no worker is idle for it.
 *
 * Order in a lane. New items go behind the cold ones as long as there are any. One that is called
 * back by somebody who wants it (CANCEL, BURY) leaves its lane.
 *
 * Only detached items take part, which have not run yet; others of the same client pass by, and so
 * do items for worker processes that have a deadline, which would not be noticed. Items that were
 * there before the limit was reached are no lane's. Those for worker processes may wait for days
 * for the first one that serves them, so their window is bounded by bytes; strict ones have lanes
 * of their own, because others could be done that stand behind them.
 *
 * A lane belongs to its gateway's thread. It is there while it has a job, a call or a cold item.
 */
#include "irisd-cold.h"

#include <string.h>

/* What a window is at least and at most, in items. */
#define LEAST_WINDOW 64
#define MOST_WINDOW  4096

/* The same for items of worker processes, and what their payloads may take together. */
#define MOST_OUTSIDE_WINDOW  1024
#define BYTES_OUTSIDE_WINDOW (8 * 1024 * 1024)

/**
 * IrisdLane:
 * @client: whose items; only compared
 * @service: their service; interned
 * @home: where they go
 * @priority: theirs
 * @outside: they are for worker processes
 * @strict: and for those at their home alone
 * @window: how many jobs it may have
 * @n_jobs: how many it has
 * @n_called: of its cold items, how many are on their way back
 * @since_us: since when the last one waited that has a job
 * @queue: cold items that were not called, first come first
 * @hungry: its link among those that would call more, if they might
 */
struct _IrisdLane
{
  gconstpointer client;
  GRefString *service;
  gint home;
  guint priority;
  gboolean outside;
  gboolean strict;

  guint window;
  guint n_jobs;
  guint n_called;
  gint64 since_us;
  TAILQ_HEAD (, _IrisdKept) queue;
  gboolean is_hungry;
  GList hungry;
};

static guint
hash_lane (gconstpointer key)
{
  const IrisdLane *lane = key;
  return g_direct_hash (lane->client) * 31 + g_direct_hash (lane->service) + (guint) lane->home * 16
         + lane->priority + (lane->strict ? 31 : 0);
}

static gboolean
lanes_equal (gconstpointer a, gconstpointer b)
{
  const IrisdLane *left = a, *right = b;
  return left->client == right->client && left->service == right->service
         && left->home == right->home && left->priority == right->priority
         && left->strict == right->strict;
}

static void
free_lane (gpointer data)
{
  IrisdLane *lane = data;
  g_ref_string_release (lane->service);
  g_free (lane);
}

void
irisd_lanes_init (IrisdGateway *self)
{
  self->lanes = g_hash_table_new_full (hash_lane, lanes_equal, free_lane, NULL);
  g_queue_init (&self->hungry_lanes);
}

static guint
count_near (const IrisdLane *lane)
{
  return lane->n_jobs + lane->n_called;
}

static void
set_hungry (IrisdGateway *self, IrisdLane *lane, gboolean hungry)
{
  if (hungry == lane->is_hungry)
    return;
  lane->is_hungry = hungry;
  lane->hungry.data = lane;
  if (hungry)
    g_queue_push_tail_link (&self->hungry_lanes, &lane->hungry);
  else
    g_queue_unlink (&self->hungry_lanes, &lane->hungry);
}

/* Looks after a lane from which something was taken. */
static void
settle (IrisdGateway *self, IrisdLane *lane)
{
  gboolean empty = TAILQ_EMPTY (&lane->queue);
  if (empty)
    set_hungry (self, lane, FALSE);
  else if (count_near (lane) <= lane->window / 2)
    set_hungry (self, lane, TRUE);
  if (empty && count_near (lane) == 0)
    g_hash_table_remove (self->lanes, lane);
}

static IrisdLane *
get_lane (IrisdGateway *self, const IrisdLane *key)
{
  IrisdLane *lane = g_hash_table_lookup (self->lanes, key);
  if (lane != NULL)
    return lane;
  lane = g_memdup2 (key, sizeof *key);
  g_ref_string_acquire (lane->service);
  lane->since_us = g_get_monotonic_time ();
  TAILQ_INIT (&lane->queue);
  g_hash_table_add (self->lanes, lane);
  return lane;
}

static void
append (IrisdGateway *self, IrisdLane *lane, IrisdKept *kept)
{
  atomic_fetch_add_explicit (&self->core->counters[lane->home].aside, 1, memory_order_relaxed);
  kept->in_lane = TRUE;
  kept->lane = lane;
  TAILQ_INSERT_TAIL (&lane->queue, kept, in_queue);
}

/* From now on what is there is a waiter, which does not wait. */
static void
take_out (IrisdGateway *self, IrisdLane *lane, IrisdKept *kept)
{
  atomic_fetch_sub_explicit (&self->core->counters[lane->home].aside, 1, memory_order_relaxed);
  TAILQ_REMOVE (&lane->queue, kept, in_queue);
  kept->in_lane = FALSE;
  kept->waiter = (IrisdWaiter){ 0 };
}

static void
set_window (IrisdGateway *self, IrisdLane *lane, IrisdJob *job)
{
  guint64 window = job->task != NULL ? BYTES_OUTSIDE_WINDOW / MAX (job->payload_size, 1)
                                     : irisd_gateway_get_window (self, job);
  lane->window = (guint) CLAMP (window, LEAST_WINDOW,
                                job->task != NULL ? MOST_OUTSIDE_WINDOW : MOST_WINDOW);
}

static gboolean
may_have_lane (IrisdGateway *self, const IrisdJob *job)
{
  return irisd_job_is_orphan ((IrisdJob *) job) && job->lane == NULL
         && (job->task == NULL || job->terms == NULL || job->terms->deadline_us == 0)
         && (job->terms == NULL || job->terms->attempts == 0) && !job->ending && !job->buried
         && !job->ended && job->seat == NULL
         && irisd_gateway_get_phase (self) < IRISD_PHASE_STOPPING;
}

/**
 * irisd_gateway_keep_in_lane:
 * @self: the gateway
 * @job: (transfer full): a job that is about to go on to its gate
 *
 * Returns: whether its item is cold now; otherwise nothing has changed, but perhaps its lane
 */
gboolean
irisd_gateway_keep_in_lane (IrisdGateway *self, IrisdJob *job)
{
  gboolean many = g_hash_table_size (self->by_number) > self->core->config->limits.hot_items;
  if ((!many && g_hash_table_size (self->lanes) == 0) || !may_have_lane (self, job))
    return FALSE;
  const IrisdLane key = { .client = job->peer->client,
                          .service = job->kept->service,
                          .home = job->home,
                          .priority = job->fair.priority,
                          .outside = job->task != NULL,
                          .strict = job->task != NULL && job->strict };
  IrisdLane *lane = many ? get_lane (self, &key) : g_hash_table_lookup (self->lanes, &key);
  if (lane == NULL)
    return FALSE;
  set_window (self, lane, job);
  if (TAILQ_EMPTY (&lane->queue) && count_near (lane) < lane->window)
    {
      job->lane = lane;
      lane->n_jobs++;
      /* Those behind it wait since then, or later. */
      job->since_us = lane->since_us = g_get_monotonic_time ();
      return FALSE;
    }
  append (self, lane, job->kept);
  irisd_gateway_put_away (self, job);
  settle (self, lane);
  return TRUE;
}

/**
 * irisd_gateway_recover_in_lane:
 * @self: a gateway that was not started
 * @kept: an item that was found, and is nobody's
 * @home: where it goes
 * @item: the SUBMIT message that it is kept as
 * @outside: whether it is for worker processes
 */
void
irisd_gateway_recover_in_lane (IrisdGateway *self,
                               IrisdKept *kept,
                               gint home,
                               const IrisWireMessage *item,
                               gboolean outside)
{
  const guint priority = iris_wire_message_has (item, IRIS_WIRE_KEY_PRIORITY)
                             ? item->priority
                             : IRIS_WIRE_DEFAULT_PRIORITY;
  const IrisdLane key = { .client = irisd_gateway_get_nobody (self)->client,
                          .service = kept->service,
                          .home = home,
                          .priority = priority,
                          .outside = outside,
                          .strict = outside && item->strict,
                          .window = LEAST_WINDOW };
  IrisdLane *lane = get_lane (self, &key);
  append (self, lane, kept);
  settle (self, lane);
}

/**
 * irisd_gateway_leave_lane:
 * @self: the gateway
 * @job: a job that does not wait any more, for whatever reason; it may have left before
 */
void
irisd_gateway_leave_lane (IrisdGateway *self, IrisdJob *job)
{
  IrisdLane *lane = g_steal_pointer (&job->lane);
  if (lane == NULL)
    return;
  lane->n_jobs--;
  settle (self, lane);
}

/**
 * irisd_gateway_feed_lanes:
 * @self: the gateway
 *
 * Calls items back for lanes whose window is half empty.
 */
void
irisd_gateway_feed_lanes (IrisdGateway *self)
{
  while (self->hungry_lanes.length > 0 && irisd_gateway_may_call (self))
    {
      IrisdLane *lane = g_queue_peek_head (&self->hungry_lanes);
      IrisdKept *kept = TAILQ_FIRST (&lane->queue);
      take_out (self, lane, kept);
      lane->n_called++;
      irisd_gateway_call_for_lane (self, kept->item, lane);
      set_hungry (self, lane, FALSE);
      set_hungry (self, lane, !TAILQ_EMPTY (&lane->queue) && count_near (lane) < lane->window);
    }
}

/**
 * irisd_gateway_take_from_lane:
 * @self: the gateway
 * @called_for: (nullable): the lane that has called an item back
 * @kept: an item that was called back
 *
 * Returns: (nullable): the item's lane, if it has one; irisd_gateway_return_to_lane() or
 *   irisd_gateway_settle_lane() comes next
 */
IrisdLane *
irisd_gateway_take_from_lane (IrisdGateway *self, IrisdLane *called_for, IrisdKept *kept)
{
  if (called_for != NULL)
    called_for->n_called--;
  if (!kept->in_lane)
    return called_for;
  IrisdLane *lane = kept->lane;
  take_out (self, lane, kept);
  return lane;
}

/**
 * irisd_gateway_return_to_lane:
 * @self: the gateway
 * @lane: a lane
 * @job: the job of an item that was taken from it
 * @delay_us: how long the item waited for its time before
 */
void
irisd_gateway_return_to_lane (IrisdGateway *self, IrisdLane *lane, IrisdJob *job, gint64 delay_us)
{
  gint64 now = g_get_monotonic_time ();
  job->lane = lane;
  lane->n_jobs++;
  set_window (self, lane, job);
  /* What was found at the start began to wait then, and behind those that have jobs since. */
  if (job->peer == self->nobody)
    return;
  lane->since_us = CLAMP (job->accepted_ns / 1000 + delay_us, lane->since_us, now);
  job->since_us = lane->since_us;
}

/* Of a lane from which something was taken that did not return. */
void
irisd_gateway_settle_lane (IrisdGateway *self, IrisdLane *lane)
{
  settle (self, lane);
}

/**
 * irisd_gateway_put_off_lanes:
 * @self: the gateway
 * @all: or only what is for worker processes, which may not be there
 *
 * Ends the waiting of what is cold and was not called, because irisd ends.
 */
void
irisd_gateway_put_off_lanes (IrisdGateway *self, gboolean all)
{
  GHashTableIter iter;
  gpointer key;
  g_hash_table_iter_init (&iter, self->lanes);
  while (g_hash_table_iter_next (&iter, &key, NULL))
    {
      IrisdLane *lane = key;
      IrisdKept *kept;
      if (!all && !lane->outside)
        continue;
      while ((kept = TAILQ_FIRST (&lane->queue)) != NULL)
        {
          take_out (self, lane, kept);
          irisd_gateway_put_off (self, kept);
        }
      set_hungry (self, lane, FALSE);
      if (count_near (lane) == 0)
        g_hash_table_iter_remove (&iter);
    }
}

/* Forgets whose those are that were never put off, because irisd was never started. */
void
irisd_gateway_forget_lanes (IrisdGateway *self)
{
  GHashTableIter iter;
  gpointer key;
  g_hash_table_iter_init (&iter, self->lanes);
  while (g_hash_table_iter_next (&iter, &key, NULL))
    {
      IrisdKept *kept;
      TAILQ_FOREACH (kept, &((IrisdLane *) key)->queue, in_queue)
      g_clear_pointer (&kept->peer, irisd_peer_unref);
    }
  g_hash_table_unref (self->lanes);
}
