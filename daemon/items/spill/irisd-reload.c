/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * Reloads: spilled items on their way back. The head of irisd-spilled.c has the argument.
 */
#include "daemon/items/spill/irisd-reload.h"

#include "daemon/base/irisd-log.h"
#include "daemon/items/irisd-completion.h"
#include "daemon/items/irisd-dependencies.h"
#include "daemon/items/irisd-dispatch.h"
#include "daemon/items/irisd-restore.h"
#include "daemon/items/spill/irisd-spilled-flow.h"
#include "daemon/items/spill/irisd-spilled.h"

/* While so many reloads are under way, neither time nor a flow starts another. This bounds what is
 * in the mailboxes when a million items are due at once, and for how long the journal reads before
 * it writes again. */
#define MOST_CALLS 256

/* The first and the longest pause after a failed read. */
#define UNREAD_US      (G_USEC_PER_SEC / 10)
#define MOST_UNREAD_US (30 * G_USEC_PER_SEC)

/* Failed attempts after which a request for the item gets an error. */
#define MOST_FAILURES 4

/* Attempts at a row that looks damaged, while the disk may just not answer: about half a minute. */
#define MOST_DOUBTS 9

/**
 * IrisdReload:
 * @item: its number
 * @kicked: it does not wait for its time any more
 * @messages: messages that wait for the item, oldest first
 * @persistent: the item, if the read failed and the reload pauses
 * @n_failed: failed reads
 * @flow: (nullable): the flow that wants it
 * @timer: the end of its pause
 *
 * A spilled item that is on its way back.
 */
typedef struct
{
  guint64 item; /* first, because it is the key of a set */
  gboolean kicked;
  IrisdMessage *messages;
  IrisdPersistentItem *persistent;
  guint n_failed;
  IrisdSpilledFlow *flow;
  IrisdTimer timer;
} IrisdReload;

static IrisdReload *
reload_of (IrisdTimer *timer)
{
  return (IrisdReload *) (void *) ((char *) timer - G_STRUCT_OFFSET (IrisdReload, timer));
}

static void
ask_for (IrisdItems *self, IrisdReload *reload)
{
  IrisdJournalRequest *request = irisd_journal_request_new (IRISD_JOURNAL_REQUEST_RELOAD,
                                                            self->mailbox);
  request->item = reload->item;
  reload->persistent = NULL;
  irisd_timers_remove (&self->unread, &reload->timer);
  irisd_journal_post (self->core->journal, request);
}

static IrisdReload *
request_reload (IrisdItems *self, guint64 item)
{
  IrisdReload *reload = g_hash_table_lookup (self->reloads, &item);
  if (reload == NULL)
    {
      reload = g_new0 (IrisdReload, 1);
      reload->item = item;
      g_hash_table_add (self->reloads, reload);
      ask_for (self, reload);
    }
  else if (reload->persistent != NULL)
    ask_for (self, reload);
  return reload;
}

/* Returns whether time or a flow may start another reload; requests always may. */
static gboolean
may_begin (IrisdItems *self)
{
  return g_hash_table_size (self->reloads) - irisd_timers_get_count (&self->unread) < MOST_CALLS;
}

/* Reloads @item, which is spilled. @entry, of a broadcast, goes on when the item is
 * loaded. */
void
irisd_reload_for_message (IrisdItems *self, guint64 item, IrisdMessage *entry)
{
  IrisdMessage **link = &request_reload (self, item)->messages;
  while (*link != NULL)
    link = &(*link)->next;
  entry->next = NULL;
  *link = entry;
}

/* Reloads items for flows whose window is half empty. */
static void
feed_flows (IrisdItems *self)
{
  IrisdSpilledFlow *flow;
  IrisdPersistentItem *persistent;
  while (may_begin (self) && (persistent = irisd_spilled_flow_call (self, &flow)) != NULL)
    request_reload (self, persistent->item)->flow = flow;
}

/* Reloads items whose time is near, and tries again those that have paused. */
void
irisd_reload_due (IrisdItems *self)
{
  feed_flows (self);
  if (irisd_timers_get_count (&self->spilled) + irisd_timers_get_count (&self->unread) == 0)
    return;
  IrisdTimes now = irisd_times_now ();
  IrisdTimes soon = irisd_spilled_get_soon (self, &now);
  IrisdTimer *timer;
  while (may_begin (self) && (timer = irisd_timers_pop_due (&self->unread, &now)) != NULL)
    ask_for (self, reload_of (timer));
  while (may_begin (self) && (timer = irisd_timers_pop_due (&self->spilled, &soon)) != NULL)
    request_reload (self, irisd_persistent_item_of_timer (timer)->item);
}

/* Returns the monotonic time at which irisd_reload_due() has work; 0 if a message will come before.
 */
gint64
irisd_reload_get_due_us (IrisdItems *self)
{
  if (irisd_timers_get_count (&self->spilled) + irisd_timers_get_count (&self->unread)
              + self->half_empty_flows.length
          == 0
      || !may_begin (self))
    return 0;
  IrisdTimes now = irisd_times_now ();
  IrisdTimes soon = irisd_spilled_get_soon (self, &now);
  gint64 delay = irisd_timers_get_delay (&self->spilled, &soon);
  gint64 again = irisd_timers_get_delay (&self->unread, &now);
  if (delay < 0 || (again >= 0 && again < delay))
    delay = again;
  if (self->half_empty_flows.length > 0)
    delay = 0;
  return delay >= 0 ? now.us[IRISD_CLOCK_STEADY] + delay : 0;
}

/* Returns whether it was not kicked before. */
static gboolean
kick (IrisdReload *reload)
{
  gboolean news = !reload->kicked;
  reload->kicked = TRUE;
  return news;
}

/* Returns spilled items of one owner that wait for their time, in any order. It scans the heaps. */
static GPtrArray *
find_spilled (IrisdItems *self, gint64 owner, guint most)
{
  GPtrArray *found = g_ptr_array_new ();
  for (guint clock = 0; clock < IRISD_N_CLOCKS; clock++)
    {
      const GPtrArray *heap = self->spilled.heaps[clock];
      for (guint i = 0; i < heap->len && found->len < most; i++)
        if (irisd_persistent_item_of_timer (g_ptr_array_index (heap, i))->owner == owner)
          g_ptr_array_add (found, g_ptr_array_index (heap, i));
    }
  return found;
}

static guint
kick_waiter (IrisdItems *self, IrisdTimer *timer)
{
  irisd_persistent_item_set_state (irisd_persistent_item_of_timer (timer), IRIS_WIRE_STATE_QUEUED);
  return (guint) kick (request_reload (self, irisd_persistent_item_of_timer (timer)->item));
}

/* Runs at most @most spilled items as if their time had come: first those already on their way
 * back, then those whose time is next. Returns how many. */
guint
irisd_reload_kick (IrisdItems *self, gint64 view, guint most)
{
  guint n = 0;
  GHashTableIter iter;
  gpointer reload;
  g_hash_table_iter_init (&iter, self->reloads);
  while (n < most && g_hash_table_iter_next (&iter, &reload, NULL))
    if (((IrisdReload *) reload)->flow == NULL
        && irisd_dependencies_reaches (self, view, ((IrisdReload *) reload)->item))
      n += (guint) kick (reload);
  if (view != IRISD_VIEW_ALL)
    {
      g_autoptr (GPtrArray) found = find_spilled (self, view, most - n);
      for (guint i = 0; i < found->len; i++)
        {
          irisd_timers_remove (&self->spilled, g_ptr_array_index (found, i));
          n += kick_waiter (self, g_ptr_array_index (found, i));
        }
      return n;
    }
  const IrisdTimes ever = { .us = { G_MAXINT64, G_MAXINT64 } };
  IrisdTimer *timer;
  while (n < most && (timer = irisd_timers_pop_due (&self->spilled, &ever)) != NULL)
    n += kick_waiter (self, timer);
  return n;
}

/* Returns how long it would have to wait for its time, if it came now. */
static gint64
get_delay_us (IrisdSchedule *schedule)
{
  gint64 delay_us = 0;
  if (schedule != NULL && schedule->delayed)
    delay_us = MAX (schedule->delay_due_us - g_get_monotonic_time (), 0);
  return delay_us;
}

static void
wait_on (IrisdItems *self, IrisdJob *job, IrisdPersistentItem *persistent)
{
  job->schedule->delayed = persistent->timer.clock == IRISD_CLOCK_STEADY;
  job->schedule->delay_due_us = persistent->timer.due_us;
  irisd_job_advance (job, IRISD_EVENT_DELAY);
  irisd_timers_add (&self->timers, &job->schedule->timer, persistent->timer.clock,
                    persistent->timer.due_us);
}

/* The item's time came before. */
static void
stay_in_flow (IrisdItems *self, IrisdJob *job, IrisdSpilledFlow *flow)
{
  irisd_spilled_flow_return (self, flow, job, get_delay_us (job->schedule));
  if (job->schedule != NULL)
    job->schedule->delayed = job->schedule->timed = FALSE;
  irisd_job_advance (job, IRISD_EVENT_PAUSE);
}

/* Makes the job of a spilled item, which waits for what the item waited for. */
static void
load_job (IrisdItems *self, IrisdJournalRequest *request, IrisdSpilledFlow *flow)
{
  IrisdPersistentItem *persistent = request->persistent;
  g_autoptr (IrisdPeer) peer = g_steal_pointer (&persistent->peer);
  const guint queue = atomic_load_explicit (&persistent->queue, memory_order_relaxed);
  IrisdJob *job = irisd_restore_job (self, request, peer);
  irisd_named_queues_count (&self->core->queues, queue, -1); /* the job counts there now */
  irisd_core_count_spilled (self->core, -1);
  gint64 age_ms = (gint64) (irisd_unix_ms () - persistent->accepted_ms);
  job->accepted_ns -= MAX (age_ms, 0) * 1000000;
  if (job->result.error != NULL || (flow == NULL && job->schedule == NULL))
    {
      /* Only the item's entry is known. */
      irisd_spilled_uncount (self, persistent, peer);
      irisd_completion_end_job (self, job);
      return;
    }
  if (job->schedule != NULL)
    job->schedule->attempts = persistent->attempts;
  job->counted = irisd_spilled_is_counted (self, peer);
  if (flow != NULL)
    stay_in_flow (self, job, flow);
  else
    wait_on (self, job, persistent);
}

static void
resume_broadcasts (IrisdMessage *messages)
{
  while (messages != NULL)
    {
      IrisdMessage *next = messages->next;
      IrisdBroadcast *broadcast = irisd_broadcast_from_message (messages);
      broadcast->klass->resume (broadcast);
      messages = next;
    }
}

/* Answers the requests that wait for an item that cannot be read for now. */
static void
refuse_messages (IrisdReload *reload, const GError *error)
{
  IrisdMessage *entry = g_steal_pointer (&reload->messages);
  while (entry != NULL)
    {
      IrisdMessage *next = entry->next;
      IrisdBroadcast *broadcast = irisd_broadcast_from_message (entry);
      broadcast->klass->refuse (broadcast, error);
      entry = next;
    }
}

static void
pause_reload (IrisdItems *self, IrisdReload *reload, IrisdJournalRequest *request)
{
  reload->persistent = request->persistent;
  reload->n_failed++;
  guint64 pause_us = irisd_timers_backoff_us (UNREAD_US, MOST_UNREAD_US, reload->n_failed,
                                              g_random_double ());
  irisd_timers_add (&self->unread, &reload->timer, IRISD_CLOCK_STEADY,
                    g_get_monotonic_time () + (gint64) pause_us);
  if (reload->n_failed >= MOST_FAILURES)
    refuse_messages (reload, request->error);
}

static gboolean
can_be_tried_again (const IrisdReload *reload, IrisdJournalRequest *request)
{
  if (!request->doubtful || reload->n_failed + 1 < MOST_DOUBTS)
    return TRUE;
  irisd_log (IRISD_LOG_ERROR, "%s; it was tried %u times", request->error->message, MOST_DOUBTS);
  g_clear_error (&request->error);
  request->error = irisd_journal_damaged_item (request->item);
  return FALSE;
}

/* @job is one that no request has taken. */
static void
send_on (IrisdItems *self, IrisdJob *job, gboolean kicked)
{
  gboolean delayed = irisd_job_is (job, IRISD_ITEM_DELAYED);
  if (!irisd_dispatch_withdraw (self, job))
    return;
  if (delayed && kicked)
    job->schedule->delayed = job->schedule->timed = FALSE;
  irisd_dispatch_advance (self, job);
}

/* @request is a RELOAD, with what the journal has of the item. */
void
irisd_reload_take_answer (IrisdItems *self, IrisdJournalRequest *request)
{
  IrisdPersistentItem *persistent = request->persistent;
  guint64 item = request->item;
  IrisdReload *reload = g_hash_table_lookup (self->reloads, &item);
  IrisdPhase phase = irisd_items_get_phase (self);
  gboolean serving = phase == IRISD_PHASE_SERVING;
  if (request->again && serving && persistent->peer != NULL && can_be_tried_again (reload, request))
    {
      pause_reload (self, reload, request);
      return;
    }
  gboolean kicked = reload->kicked;
  IrisdMessage *messages = reload->messages;
  IrisdSpilledFlow *flow = irisd_spilled_flow_take (self, reload->flow, persistent);
  g_hash_table_remove (self->reloads, reload);

  irisd_timers_remove (&self->spilled, &persistent->timer);
  if (persistent->peer != NULL && serving)
    load_job (self, request, flow);
  else if (persistent->peer != NULL)
    irisd_spilled_put_off (self, persistent);
  if (flow != NULL)
    irisd_spilled_flow_settle (self, flow);
  resume_broadcasts (messages);
  IrisdJob *job = g_hash_table_lookup (self->by_number, &item);
  if (job != NULL
      && (irisd_job_is (job, IRISD_ITEM_DELAYED) || irisd_job_is (job, IRISD_ITEM_PAUSED)))
    send_on (self, job, kicked);
}

/* Puts off items that cannot be read, because irisd ends. */
static void
put_off_unread (IrisdItems *self)
{
  const IrisdTimes ever = { .us = { G_MAXINT64, G_MAXINT64 } };
  IrisdTimer *timer;
  while ((timer = irisd_timers_pop_due (&self->unread, &ever)) != NULL)
    {
      IrisdReload *reload = reload_of (timer);
      IrisdMessage *messages = reload->messages;
      IrisdSpilledFlow *flow = irisd_spilled_flow_take (self, reload->flow, reload->persistent);
      irisd_spilled_put_off (self, reload->persistent);
      g_hash_table_remove (self->reloads, reload);
      if (flow != NULL)
        irisd_spilled_flow_settle (self, flow);
      resume_broadcasts (messages);
    }
}

/* Puts off all items because irisd ends. */
void
irisd_reload_put_off (IrisdItems *self)
{
  const IrisdTimes ever = { .us = { G_MAXINT64, G_MAXINT64 } };
  IrisdTimer *timer;
  while ((timer = irisd_timers_pop_due (&self->spilled, &ever)) != NULL)
    if (!g_hash_table_contains (self->reloads, &irisd_persistent_item_of_timer (timer)->item))
      irisd_spilled_put_off (self, irisd_persistent_item_of_timer (timer));
  put_off_unread (self);
  irisd_spilled_flows_put_off (self);
}

void
irisd_reload_init (IrisdItems *self)
{
  irisd_timers_init (&self->spilled);
  irisd_timers_init (&self->unread);
  irisd_spilled_flows_init (self);
  self->reloads = g_hash_table_new_full (g_int64_hash, g_int64_equal, g_free, NULL);
}

/* For a gateway that never started, or has put off its spilled items. */
void
irisd_reload_clear (IrisdItems *self)
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
