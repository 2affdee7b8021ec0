/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * Items of the journal that become jobs again: after a start, after a kick, and after a reload
 * (irisd-spilled.c).
 */
#include "daemon/items/irisd-restore.h"

#include "daemon/base/irisd-log.h"
#include "daemon/cluster/members/irisd-later-note.h"
#include "daemon/exec/worker/irisd-worker-processes.h"
#include "daemon/items/irisd-completion.h"
#include "daemon/items/irisd-dependencies.h"
#include "daemon/items/irisd-dispatch.h"
#include "daemon/items/irisd-item-log.h"
#include "daemon/items/irisd-permit.h"
#include "daemon/items/irisd-placement.h"
#include "daemon/items/spill/irisd-spilled-flow.h"
#include "daemon/items/spill/irisd-spilled.h"

#include <string.h>

/* Fails an item that cannot be read. */
static const IrisdService unknown_service = { .name = "unknown" };

/* @item is the stored SUBMIT. Returns the place that the item is queued at. */
static gint
choose_home (IrisdItems *self, const IrisWireMessage *item, const IrisdPersistentItem *persistent)
{
  guint n = self->core->n_places;
  if (item->hint >= 0 && (guint) item->hint < n)
    return item->hint;
  if (persistent->home >= 0 && (guint) persistent->home < n)
    return persistent->home;
  return self->place != IRISD_FRONT ? self->place : 0;
}

/* Worker processes come back later than irisd, so a service that irisd does not have is taken for
 * one of theirs. */
static const IrisdService *
find_service (IrisdItems *self, gint64 owner, const IrisWireMessage *item)
{
  if (item->service.len == 0)
    return &unknown_service;
  const IrisdService *service = irisd_services_lookup (self->core->services, &item->service);
  if (irisd_is_away (item))
    return &irisd_service_worker_processes;
  if (service != NULL)
    return service;
  g_autofree char *name = iris_wire_string_dup (&item->service);
  irisd_worker_processes_expect (self->core->worker_processes, irisd_items_get_space (self, owner),
                                 name, FALSE);
  return &irisd_service_worker_processes;
}

/* Decodes the stored SUBMIT; @item borrows from @header and @body, which may be empty. Returns
 * whether it could be read; otherwise @item names no service. */
static gboolean
read_item (IrisdItems *self,
           guint64 number,
           IrisWireFrame header,
           IrisWireFrame body,
           IrisWireMessage *item)
{
  const guint8 type = IRIS_WIRE_SUBMIT;
  const guint8 id[IRIS_WIRE_ID_SIZE] = { 0 };
  const IrisWireFrame frames[IRIS_WIRE_N_FRAMES] = {
    { (const guint8 *) "IRS1", 4 }, { &type, 1 }, { id, sizeof id }, header, body,
  };
  g_autoptr (GError) error = NULL;
  if (iris_wire_decode (frames, IRIS_WIRE_N_FRAMES, &self->core->wire_limits, item, &error))
    return TRUE;
  const IrisdLogSubject subject = { .item = number };
  irisd_log_about (&subject, IRISD_LOG_ERROR,
                   "the persistent item %" G_GUINT64_FORMAT
                   " cannot be run again: %s; it ends with an error, so send it again",
                   number, error->message);
  iris_wire_message_init (item, IRIS_WIRE_SUBMIT, id);
  return FALSE;
}

/* Returns the queue that @item, a stored SUBMIT, names and joins thereby; NULL for none. */
static IrisdNamedQueue *
join_queue (IrisdItems *self, IrisdPersistentItem *persistent, const IrisWireMessage *item)
{
  IrisdNamedQueue *queue = item->queue.len > 0
                               ? irisd_named_queues_join_stored (&self->core->queues, &item->queue)
                               : NULL;
  atomic_store_explicit (&persistent->queue, (guint16) irisd_named_queue_get_index (queue),
                         memory_order_relaxed);
  return queue;
}

/* The item was for another node when it was stored. Its header was not too large then; if it is
 * now, the item fails. */
static void
send_away (IrisdItems *self, IrisdJob *job, const IrisWireMessage *item)
{
  g_autoptr (GError) error = NULL;
  IrisdAwayItem *away = irisd_away_item_new (item, &self->core->wire_limits, &error);
  if (away != NULL)
    {
      /* irisd may have been killed while it waited. */
      away->kept_later = irisd_later_has_time (item);
      irisd_worker_processes_send_away (job, item, away);
    }
  else
    irisd_job_fail (job, IRIS_WIRE_ERROR_TOO_LARGE, "%s", error->message);
}

/* Returns a job for what the journal has of an item, which this gateway has in hand. An item that
 * cannot be read has one as well, with an error. */
IrisdJob *
irisd_restore_job (IrisdItems *self, IrisdJournalRequest *request, IrisdPeer *peer)
{
  static const guint8 no_id[IRIS_WIRE_ID_SIZE];
  IrisWireMessage item;
  if (request->error == NULL)
    read_item (self, request->item, (IrisWireFrame){ request->header.data, request->header.size },
               (IrisWireFrame){ zmq_msg_data (&request->body), zmq_msg_size (&request->body) },
               &item);
  else
    iris_wire_message_init (&item, IRIS_WIRE_SUBMIT, no_id);
  item.klass = request->persistent->klass; /* also of one that cannot be read */
  const IrisdService *service = find_service (self, request->persistent->owner, &item);
  IrisdJob *job = irisd_job_new (self->core, self->mailbox, peer, service, &item, &request->body);
  if (service == &irisd_service_worker_processes)
    {
      irisd_worker_processes_adopt (job, &item, item.hint);
      job->leased_item->slot = irisd_attempts_take_leased (self->core->attempts, request->item,
                                                           &job->leased_item->entry.attempts);
      if (irisd_is_away (&item))
        send_away (self, job, &item);
    }
  job->persistent = request->persistent;
  job->queue = join_queue (self, job->persistent, &item);
  irisd_job_restore (job);
  job->owner = request->persistent->owner;
  irisd_job_set_number (job, request->item);
  job->detached = TRUE;
  irisd_job_set_home (job, choose_home (self, &item, job->persistent), item.hint >= 0, item.strict);
  job->bury = item.bury;
  atomic_store_explicit (&job->suspended, job->persistent->suspended, memory_order_relaxed);
  irisd_items_settle_schedule (self, job, &item);
  irisd_items_count_deadline_from (self, job, job->persistent->accepted_ms);
  irisd_dependencies_register (self, job, NULL, NULL);
  g_hash_table_add (self->orphans, job);
  irisd_items_register (self, job);
  irisd_core_add_bytes (self->core, (gint64) job->charge);
  if (request->error != NULL)
    irisd_job_fail (job, request->error->code, "%s", request->error->message);
  else if (service == &unknown_service)
    irisd_job_fail (
        job, IRIS_WIRE_ERROR_INTERNAL,
        "the stored message of the item cannot be read (see irisd's log): send the item again");
  return job;
}

/* The item goes on with the lease that it had, without waiting again, also for its turn in a queue.
 * It takes a permit if there is one, which is likely before other items can ask. */
static void
restore_lease (IrisdItems *self, IrisdJob *job, const IrisdLeased *leased)
{
  irisd_permit_take_at_once (self, job);
  if (!irisd_permit_take (self, job))
    irisd_dispatch_withdraw (self, job);
  irisd_worker_processes_restore (self->core->worker_processes, job,
                                  irisd_items_get_space (self, job->owner), leased);
}

/* @request: an item of the journal that is to run. @leased: (nullable): the lease that it had; the
 * gateway was not started then. */
void
irisd_restore_take_recovered (IrisdItems *self,
                              IrisdJournalRequest *request,
                              const IrisdLeased *leased)
{
  /* The item stays in the journal, and runs when irisd is back. */
  if (!irisd_core_begin_item (self->core))
    {
      irisd_dependencies_note_put_off (self, request->item);
      return;
    }
  IrisdJob *job = irisd_restore_job (self, request, irisd_items_get_journal_peer (self));
  IrisdTimes now = irisd_times_now ();
  if (job->schedule != NULL)
    irisd_schedule_resume (job->schedule, request->persistent->attempts,
                           request->persistent->due_ms,
                           &irisd_core_get_settings (self->core)->limits, &now);
  irisd_placement_note_home (self, job);
  irisd_item_log_restored (self, job);
  irisd_item_counters_note_accepted (&self->counters, job);
  if (job->result.error != NULL)
    irisd_completion_end_job (self, job);
  else if (leased != NULL && job->leased_item != NULL)
    restore_lease (self, job, leased);
  else
    irisd_dispatch_advance (self, job);
}

/* Returns whether the item, which has a schedule, ends before it is due at @due_us. */
static gboolean
ends_before (const IrisdPersistentItem *persistent,
             IrisdSchedule *schedule,
             const IrisdTimes *now,
             IrisdClock clock,
             gint64 due_us)
{
  if (schedule->deadline_us != 0)
    schedule->deadline_us -= MAX ((gint64) (irisd_unix_ms () - persistent->accepted_ms), 0) * 1000;
  return irisd_schedule_ends_before (schedule, now, clock, due_us);
}

/* Returns whether the item of @record, found before the gateway started, is spilled now. */
static gboolean
recover_spilled (IrisdItems *self, const IrisdRecord *record, IrisdPersistentItem *persistent)
{
  IrisdCore *core = self->core;
  IrisWireMessage item;
  IrisdClock clock;
  gint64 due_us;
  if (self->n_recovered < core->config->limits.memory_items || persistent->suspended
      || !read_item (self, record->item, record->header, (IrisWireFrame){ 0 }, &item))
    return FALSE;
  IrisdTimes now = irisd_times_now ();
  IrisdTimes soon = irisd_spilled_get_soon (self, &now);
  g_autofree IrisdSchedule *schedule = irisd_schedule_new (
      &item, &irisd_core_get_settings (core)->limits, &now);
  if (schedule != NULL)
    irisd_schedule_resume (schedule, persistent->attempts, persistent->due_ms,
                           &irisd_core_get_settings (core)->limits, &now);
  gboolean delayed = schedule != NULL && irisd_schedule_get_due (schedule, &now, &clock, &due_us);
  const IrisdService *service = find_service (self, persistent->owner, &item);
  const gboolean for_workers = service == &irisd_service_worker_processes;
  if (delayed ? due_us <= soon.us[clock] || ends_before (persistent, schedule, &now, clock, due_us)
              : for_workers && schedule != NULL && schedule->deadline_us != 0)
    return FALSE;
  if (!irisd_core_begin_item (core))
    return FALSE;
  gint home = choose_home (self, &item, persistent);
  irisd_placement_history_note_item (&core->placement_history, persistent->item, home);
  irisd_item_counters_note_spilled (&self->counters, persistent->service);
  IrisdNamedQueue *queue = join_queue (self, persistent, &item);
  irisd_spilled_add (self, persistent, irisd_items_get_journal_peer (self),
                     delayed ? IRIS_WIRE_STATE_DELAYED : IRIS_WIRE_STATE_QUEUED);
  if (delayed)
    irisd_timers_add (&self->spilled, &persistent->timer, clock, due_us);
  else
    irisd_spilled_flow_recover (self, persistent, home, &item, queue, for_workers);
  if (queue != NULL)
    irisd_named_queues_part (&core->queues, queue); /* it counts as a spilled one */
  return TRUE;
}

/* @record and @persistent are of one item that has not ended; the gateway was not started. */
void
irisd_restore_run (IrisdItems *self, const IrisdRecord *record, IrisdPersistentItem *persistent)
{
  IrisdLeased leased;
  gboolean is_leased = irisd_attempts_find_leased (self->core->attempts, record->item, &leased)
                       && leased.due_ms != 0;
  if (!is_leased && recover_spilled (self, record, persistent))
    return;
  self->n_recovered++;
  IrisdJournalRequest *request = irisd_journal_request_new (IRISD_JOURNAL_REQUEST_RECOVERED,
                                                            self->mailbox);
  request->item = record->item;
  request->persistent = persistent;
  request->header = (IrisdBlob){ g_memdup2 (record->header.data, record->header.size),
                                 record->header.size };
  if (record->body.size > 0)
    {
      zmq_msg_close (&request->body);
      if (zmq_msg_init_size (&request->body, record->body.size) != 0)
        g_error ("out of memory for a payload of %zu bytes", record->body.size);
      memcpy (zmq_msg_data (&request->body), record->body.data, record->body.size);
    }
  if (!is_leased)
    {
      irisd_dependencies_note_recovered (self, record->item, persistent->owner);
      irisd_mailbox_post (self->mailbox, &request->message);
      return;
    }
  irisd_restore_take_recovered (self, request, &leased);
  irisd_journal_request_free (request);
}
