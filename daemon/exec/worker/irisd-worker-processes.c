/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * Items that worker processes run: the table of leases, shared by all gateways.
 *
 * A job for worker processes does not pass the scheduler. Its gateway adds it to the table; the
 * thread that takes it out posts it to the gateway's mailbox once, with its end, as the scheduler's
 * workers do. So it occupies no worker of irisd. Ownership of the job:
 *
 * - While a leased item is in the table its `job` is set, and the thread that holds the lock may
 * read the job. Its gateway does not free it meanwhile, because it has not come back.
 * - The thread that takes a leased item out of the table, under the lock, clears `job` and owns the
 * job then: a worker's gateway on DONE, the front gateway on expiry, or the job's own gateway on a
 * cancellation. The first two fill in the result and post it.
 *
 * The lock is held for table work only: results are encoded, sent and copied outside it. Events are
 * made and posted under it; posting takes no lock and at most one write to an event descriptor. The
 * lock is a POSIX mutex because ThreadSanitizer knows those. Items of built-in services do not use
 * any of this.
 *
 * The clock. The front gateway's thread calls irisd_worker_processes_expire() when the alarm is
 * due. A thread that causes an earlier event moves the alarm forward and wakes the front gateway.
 * Only the front gateway moves the alarm back: in the usual case, where leases end in time, it
 * wakes once in a lease's length and needs no other thread to wake it.
 *
 * Items for other nodes. They wait in the queue of a service that only the bridge serves, and are
 * leased to it as to any worker process. The bridge is lost with irisd, so their leases are not
 * recorded: the next irisd leases them anew, under the same `cluster-item`. They may be leased
 * again and again, because the other node, and not a lease, decides how often an item is run.
 *
 * Restored leases. From its first lease until its end is in the journal, a persistent item has a
 * slot in the record of attempts (irisd-attempts.c): its lease, the owner of the worker process,
 * the end of the lease, and how often the item was leased; or, while the item waits to be leased
 * again, only the last. After a crash irisd restores the leases before it reads its first message,
 * so a worker process that connects again finds them. The worker process names its lease by the id
 * that the earlier irisd made; so this irisd retains the ids of restored leases, which have the
 * first numbers. The ids of its own leases begin with its own epoch.
 */
#include "daemon/exec/worker/irisd-worker-processes-private.h"

#include "daemon/exec/worker/irisd-away-later.h"
#include "daemon/net/irisd-unacknowledged.h"
#include "daemon/store/irisd-journal.h"

#include <string.h>

/* Behind an alarm that goes off later than this irisd stood still. */
#define STANDSTILL_US       (G_USEC_PER_SEC / 4)
#define AFTER_STANDSTILL_US G_USEC_PER_SEC

IrisdLeasedItem *
irisd_leased_item_ref (IrisdLeasedItem *leased_item)
{
  atomic_fetch_add_explicit (&leased_item->refs, 1, memory_order_relaxed);
  return leased_item;
}

IrisdWorkerProcess *
irisd_worker_process_ref (IrisdWorkerProcess *worker)
{
  atomic_fetch_add_explicit (&worker->refs, 1, memory_order_relaxed);
  return worker;
}

void
irisd_worker_process_unref (IrisdWorkerProcess *self)
{
  if (atomic_fetch_sub_explicit (&self->refs, 1, memory_order_acq_rel) > 1)
    return;
  g_free (self->name);
  g_free (self);
}

/* Any thread may call this. */
static void
leased_item_unref (IrisdLeasedItem *self)
{
  if (atomic_fetch_sub_explicit (&self->refs, 1, memory_order_acq_rel) > 1)
    return;
  zmq_msg_close (&self->payload);
  g_free (self->service);
  g_free (self->content_type);
  g_strfreev (self->args);
  g_free (self->path);
  irisd_away_item_free (self->away);
  g_free (self->result_type);
  g_free (self->note);
  g_free (self);
}

void
irisd_worker_event_free (IrisdWorkerEvent *self)
{
  zmq_msg_close (&self->payload);
  irisd_trace_context_free (self->trace);
  g_clear_pointer (&self->header, g_bytes_unref);
  if (self->worker != NULL)
    irisd_worker_process_unref (self->worker);
  if (self->leased_item != NULL)
    leased_item_unref (self->leased_item);
  g_free (self);
}

static char *
dup_if_there (const IrisWireMessage *item, IrisWireKey key, const IrisWireString *string)
{
  return iris_wire_message_has (item, key) ? iris_wire_string_dup (string) : NULL;
}

/* Moves the job's payload to the leased item. A small one is a part of the job, so it is copied. */
static void
take_payload (IrisdLeasedItem *self, IrisdJob *job)
{
  zmq_msg_init (&self->payload);
  if (job->inline_size == 0)
    {
      zmq_msg_move (&self->payload, irisd_job_get_message (job));
      return;
    }
  if (zmq_msg_init_size (&self->payload, job->inline_size) != 0)
    g_error ("cannot lease the item: out of memory for a payload of %zu bytes", job->inline_size);
  memcpy (zmq_msg_data (&self->payload), job->inline_payload, job->inline_size);
}

/* Makes @job, new and of the service irisd_service_worker_processes, one that worker processes run.
 * @place is the place of @item's hint, or IRIS_PLACE_ANY. */
void
irisd_worker_processes_adopt (IrisdJob *job, const IrisWireMessage *item, gint place)
{
  IrisdLeasedItem *self = g_new0 (IrisdLeasedItem, 1);
  atomic_init (&self->refs, 1);
  self->entry.place = place;
  self->entry.strict = item->strict;
  self->service = iris_wire_string_dup (&item->service);
  self->content_type = dup_if_there (item, IRIS_WIRE_KEY_CONTENT_TYPE, &item->content_type);
  self->args = g_steal_pointer (&job->args);
  self->path = g_steal_pointer (&job->path);
  self->progress = item->progress;
  self->parts = iris_wire_message_has (item, IRIS_WIRE_KEY_PARTS);
  self->waits = item->wait_for_service;
  self->slot = IRISD_ATTEMPT_NONE;
  self->messages_for = job;
  atomic_store_explicit (&job->output_credit, item->parts, memory_order_relaxed);
  job->result.bytes = item->body.size;
  take_payload (self, job);
  job->leased_item = self;
}

/* Makes @job, which was adopted, one for another node. @item is its SUBMIT; takes @away. */
void
irisd_worker_processes_send_away (IrisdJob *job, const IrisWireMessage *item, IrisdAwayItem *away)
{
  IrisdLeasedItem *self = job->leased_item;
  self->away = away;
  self->entry.place = IRIS_PLACE_ANY;
  self->entry.strict = FALSE;
  self->entry.tireless = TRUE;
  if (away->streams)
    atomic_store_explicit (&job->output_credit, item->stream, memory_order_relaxed);
  atomic_fetch_add_explicit (&job->core->away, 1, memory_order_relaxed);
}

/* Resets the leased item of a job that is to run again. */
static void
renew (IrisdJob *job)
{
  IrisdLeasedItem *self = job->leased_item;
  g_clear_pointer (&self->result_type, g_free);
  self->entry.attempts = 0;
  if (self->away != NULL)
    irisd_away_item_reset (self->away);
  irisd_attempts_end (job->core->attempts, self->slot);
  self->slot = IRISD_ATTEMPT_NONE;
  job->result.bytes = zmq_msg_size (&self->payload);
}

static void
forget_away (IrisdJob *job)
{
  IrisdWorkerProcesses *processes = job->core->worker_processes;
  atomic_fetch_sub_explicit (&job->core->away, 1, memory_order_relaxed);
  pthread_mutex_lock (&processes->lock);
  g_hash_table_remove (processes->nodes, &job->id);
  pthread_mutex_unlock (&processes->lock);
}

/* @job is freed, and its lease ends. If its item has ended, nothing is written: an irisd that is
 * killed before the journal has the end still knows the lease, and the worker process sends the end
 * again. */
static void
forget (IrisdJob *job)
{
  IrisdLeasedItem *self = job->leased_item;
  if (self == NULL)
    return;
  if (irisd_job_is (job, IRISD_ITEM_RELEASED)
      || g_error_matches (job->result.error, IRIS_WIRE_ERROR, IRIS_WIRE_ERROR_JOURNAL_FAILED))
    irisd_attempts_drop (job->core->attempts, self->slot);
  else
    irisd_attempts_end (job->core->attempts, self->slot);
  self->slot = IRISD_ATTEMPT_NONE;
  self->messages_for = NULL;
  if (self->away != NULL)
    {
      /* Of one that is only set aside the copy stays. */
      if (irisd_job_is (job, IRISD_ITEM_RELEASED) || irisd_job_is (job, IRISD_ITEM_BURIED))
        irisd_away_later_end (job);
      forget_away (job);
    }
  leased_item_unref (self);
}

/* The payload moves to the leased item, which may outlive the job. */
static zmq_msg_t *
get_payload (IrisdJob *job)
{
  return job->leased_item != NULL ? &job->leased_item->payload : irisd_job_get_message (job);
}

const IrisdService irisd_service_worker_processes = {
  .name = "",
  .summary = "run by worker processes",
  .output_grows = TRUE,
  .for_workers = TRUE,
  .get_payload = get_payload,
  .renew = renew,
  .forget = forget,
};

/* Makes the request id that names the lease. */
void
irisd_worker_processes_name_lease (IrisdWorkerProcesses *self, guint64 lease, guint8 *id)
{
  guint64 number = GUINT64_TO_BE (lease);
  if (lease - 1 < self->restored->len)
    {
      memcpy (id, g_ptr_array_index (self->restored, (guint) lease - 1), IRIS_WIRE_ID_SIZE);
      return;
    }
  memcpy (id, self->epoch, sizeof self->epoch);
  memcpy (id + sizeof self->epoch, &number, sizeof number);
}

/* Returns 0, which is no lease, for an id that names none. */
guint64
irisd_worker_processes_read_lease (IrisdWorkerProcesses *self, const guint8 *id)
{
  guint64 number;
  if (memcmp (id, self->epoch, sizeof self->epoch) != 0)
    return GPOINTER_TO_SIZE (g_hash_table_lookup (self->restored_by_id, id));
  memcpy (&number, id + sizeof self->epoch, sizeof number);
  return GUINT64_FROM_BE (number);
}

/* Records that a persistent item is leased. Under the lock. */
static void
note_lease (IrisdWorkerProcesses *self, IrisdLeasedItem *leased_item, gint64 owner, guint64 lease)
{
  const IrisdCore *core = self->core;
  const guint64 now_ms = irisd_unix_ms ();
  IrisdLeased leased = {
    .item = leased_item->job->persistent->item,
    .due_ms = now_ms + core->config->limits.lease_ms,
    .started_ms = now_ms,
    .owner = owner,
    .attempts = leased_item->entry.attempts,
  };
  irisd_worker_processes_name_lease (self, lease, leased.id);
  leased_item->slot = irisd_attempts_note_leased (core->attempts, leased_item->slot, &leased);
}

/* Records that a lease holds for this long from now on. Under the lock. */
static void
note_due (IrisdWorkerProcesses *self, IrisdLeasedItem *leased_item, guint64 left_ms)
{
  irisd_attempts_note_due (self->core->attempts, leased_item->slot, irisd_unix_ms () + left_ms);
}

IrisdWorkerEvent *
irisd_worker_event_new (IrisdWorkerEventKind kind)
{
  IrisdWorkerEvent *event = g_new0 (IrisdWorkerEvent, 1);
  event->message.kind = IRISD_MESSAGE_WORKER_EVENT;
  event->kind = kind;
  zmq_msg_init (&event->payload);
  return event;
}

/* --- actions of the table; all under the lock --- */

/* The leased item has left the table: the job is the caller's. */
static IrisdJob *
take_job (IrisdLeasedItem *leased_item)
{
  return g_steal_pointer (&leased_item->job);
}

static void
give_back (IrisdJob *job)
{
  irisd_mailbox_post (job->mailbox, &job->message);
}

static gboolean
may_give (IrisdLeaseEntry *entry, gpointer user_data)
{
  IrisdWorkerProcesses *self = user_data;
  IrisdJob *job = leased_item_of (entry)->job;
  return irisd_job_is_orphan (job)
         || irisd_peer_get_bytes (job->peer) <= self->core->config->limits.in_flight_bytes;
}

/* Its peer has too much unacknowledged: the gateway holds the job until that changes. */
static void
hold (IrisdLeaseEntry *entry, gpointer user_data)
{
  IrisdJob *job = take_job (leased_item_of (entry));
  irisd_job_advance (job, IRISD_EVENT_HOLD);
  give_back (job);
}

static void
describe_away (IrisdWorkerEvent *event, const IrisdJob *job)
{
  const IrisdSchedule *schedule = job->schedule;
  event->header = g_bytes_ref (job->leased_item->away->header);
  event->item = job->id;
  event->owner = job->owner;
  event->retries = schedule != NULL && schedule->attempts < schedule->retries
                       ? schedule->retries - schedule->attempts
                       : 0;
  if (schedule != NULL && schedule->deadline_us != 0)
    event->deadline_ms = (guint64) MAX (schedule->deadline_us - g_get_monotonic_time (), 1000)
                         / 1000;
}

/* The leases of items for other nodes end with irisd. */
static gboolean
is_recorded (const IrisdLeasedItem *leased_item)
{
  return leased_item->job->persistent != NULL && leased_item->away == NULL;
}

static void
give (IrisdWorker *worker, guint64 lease, IrisdLeaseEntry *entry, gpointer user_data)
{
  IrisdLeasedItem *leased_item = leased_item_of (entry);
  IrisdWorkerEvent *event = irisd_worker_event_new (IRISD_WORKER_EVENT_LEASE);
  event->worker = irisd_worker_process_ref (worker_of (worker));
  event->leased_item = irisd_leased_item_ref (leased_item);
  event->lease = lease;
  event->attempt = entry->attempts;
  event->credit = atomic_load_explicit (&leased_item->job->output_credit, memory_order_relaxed);
  event->trace = irisd_trace_context_copy (leased_item->job->trace);
  leased_item->n_leases++;
  if (leased_item->away != NULL)
    {
      describe_away (event, leased_item->job);
      leased_item->away->kept_later = FALSE; /* the bridge goes on with it */
    }
  zmq_msg_copy (&event->payload, &leased_item->payload);
  leased_item->job->started_ns = irisd_now_ns ();
  irisd_job_advance (leased_item->job, IRISD_EVENT_LEASE);
  if (is_recorded (leased_item))
    note_lease (user_data, leased_item, worker->owner, lease);
  irisd_mailbox_post (event->worker->mailbox, &event->message);
}

static void
note_wait (IrisdLeaseEntry *entry, gpointer user_data)
{
  IrisdLeasedItem *leased_item = leased_item_of (entry);
  irisd_job_advance (leased_item->job, IRISD_EVENT_UNLEASE);
  if (is_recorded (leased_item))
    irisd_attempts_note_due (leased_item->job->core->attempts, leased_item->slot, 0);
}

static void
stop (IrisdWorker *worker, guint64 lease, IrisWireError why, gpointer user_data)
{
  IrisdWorkerEvent *event = irisd_worker_event_new (IRISD_WORKER_EVENT_STOP);
  event->worker = irisd_worker_process_ref (worker_of (worker));
  event->lease = lease;
  event->why = why;
  irisd_mailbox_post (event->worker->mailbox, &event->message);
}

static void
fail_job (IrisdWorkerProcesses *self, IrisdJob *job, IrisWireError why)
{
  const IrisdLimits *limits = &self->core->config->limits;
  const IrisdLeasedItem *leased_item = job->leased_item;
  switch (why)
    {
    case IRIS_WIRE_ERROR_NO_WORKER:
      irisd_job_fail (job, why,
                      "the item was not run: no worker has served “%s” for %" G_GUINT64_FORMAT
                      " ms (limit worker-wait-ms); start a worker and send the item again, or send "
                      "it as relaxed or durable, which waits",
                      leased_item->service, limits->worker_wait_ms);
      break;
    case IRIS_WIRE_ERROR_DEADLINE_PASSED:
      irisd_job_fail_late (job);
      break;
    case IRIS_WIRE_ERROR_WORKER_LOST:
      irisd_job_fail (job, why,
                      "the item failed: %u workers leased it and were lost, or too slow "
                      "(limit lease-attempts); see their logs",
                      leased_item->entry.attempts);
      break;
    default:
      irisd_job_fail (job, IRIS_WIRE_ERROR_SHUTTING_DOWN,
                      "irisd was stopped before the item had ended; send it again when irisd is "
                      "back");
      break;
    }
  job->ended_ns = irisd_now_ns ();
}

static void
fail (IrisdLeaseEntry *entry, IrisWireError why, gpointer user_data)
{
  IrisdLeasedItem *leased_item = leased_item_of (entry);
  /* Its worker was not told, so the lease holds for the next irisd as well. */
  if (why == IRIS_WIRE_ERROR_SHUTTING_DOWN && entry->away)
    leased_item->slot = IRISD_ATTEMPT_NONE;
  IrisdJob *job = take_job (leased_item);
  fail_job (user_data, job, why);
  give_back (job);
}

static gboolean
shares (IrisdWorker *worker, const char *service, gpointer user_data)
{
  IrisdWorkerProcesses *self = user_data;
  const IrisdConfig *settings = irisd_core_get_settings (self->core);
  /* Its gateway has checked that it is the bridge. */
  if (service[0] == IRISD_RESERVED_MARK)
    return TRUE;
  if (!irisd_owner_is_key (worker->owner))
    return irisd_access_may_serve (&settings->access, worker->owner, service);
  const IrisdKey *key = irisd_keys_find_owner (settings->keys, worker->owner);
  return key != NULL && irisd_key_names_service (key, service);
}

static const IrisdLeaseEvents events = {
  .may_give = may_give,
  .hold = hold,
  .give = give,
  .wait = note_wait,
  .stop = stop,
  .shares = shares,
  .fail = fail,
};

/* --- the lock and the clock --- */

/* Takes the lock, and returns the time. */
gint64
irisd_worker_processes_lock (IrisdWorkerProcesses *self)
{
  pthread_mutex_lock (&self->lock);
  return g_get_monotonic_time ();
}

/* Under the lock. */
static gint64
next_alarm (IrisdWorkerProcesses *self)
{
  return MAX (irisd_leases_next (self->leases), self->not_before_us);
}

void
irisd_worker_processes_unlock (IrisdWorkerProcesses *self)
{
  gint64 next = next_alarm (self);
  gboolean earlier = next < irisd_worker_processes_get_alarm (self);
  if (earlier)
    atomic_store_explicit (&self->alarm_us, next, memory_order_relaxed);
  pthread_mutex_unlock (&self->lock);
  if (earlier)
    irisd_mailbox_wake (self->core->front);
}

/* Returns when irisd_worker_processes_expire() is to be called, by the monotonic clock in
 * microseconds; G_MAXINT64 for never. */
gint64
irisd_worker_processes_get_alarm (IrisdWorkerProcesses *self)
{
  return atomic_load_explicit (&self->alarm_us, memory_order_relaxed);
}

/* Ends expired leases and waits, and sets the alarm anew. Behind a time in which irisd or its
 * machine stood still, messages that extend leases are still to be read, so it is done a moment
 * later. For the front gateway's thread. */
void
irisd_worker_processes_expire (IrisdWorkerProcesses *self)
{
  gint64 now = irisd_worker_processes_lock (self);
  if (now - irisd_worker_processes_get_alarm (self) > STANDSTILL_US)
    self->not_before_us = now + AFTER_STANDSTILL_US;
  else if (now >= self->not_before_us)
    irisd_leases_expire (self->leases, now);
  atomic_store_explicit (&self->alarm_us, next_alarm (self), memory_order_relaxed);
  irisd_worker_processes_unlock (self);
}

IrisdWorkerProcesses *
irisd_worker_processes_new (IrisdCore *core)
{
  const IrisdLimits *limits = &core->config->limits;
  const IrisdLeaseRules rules = {
    .lease_us = (gint64) limits->lease_ms * 1000,
    .wait_us = (gint64) limits->worker_wait_ms * 1000,
    .attempts = (guint) limits->lease_attempts,
    .max_services = (guint) limits->total_worker_services,
    .n_places = core->n_places,
  };
  IrisdWorkerProcesses *self = g_new0 (IrisdWorkerProcesses, 1);
  pthread_mutex_init (&self->lock, NULL);
  self->core = core;
  self->leases = irisd_leases_new (&rules, &events, self);
  if (core->config->paused)
    irisd_leases_pause (self->leases);
  self->workers = g_ptr_array_new ();
  atomic_init (&self->alarm_us, G_MAXINT64);
  guint32 words[2] = { g_random_int (), g_random_int () };
  memcpy (self->epoch, words, sizeof self->epoch);
  self->nodes = g_hash_table_new_full (g_int64_hash, g_int64_equal, g_free, g_free);
  self->restored = g_ptr_array_new_with_free_func (g_free);
  self->restored_by_id = g_hash_table_new (irisd_request_id_hash, irisd_request_id_equal);
  return self;
}

/* No thread may use the table any more. */
void
irisd_worker_processes_free (IrisdWorkerProcesses *self)
{
  if (self == NULL)
    return;
  irisd_leases_free (self->leases);
  g_hash_table_unref (self->nodes);
  g_hash_table_unref (self->restored_by_id);
  g_ptr_array_unref (self->restored);
  g_ptr_array_unref (self->workers);
  pthread_mutex_destroy (&self->lock);
  g_free (self);
}

/* Persistent items that no worker process serves wait in the journal for the next irisd, because
 * this one is to end. */
void
irisd_worker_processes_drain (IrisdWorkerProcesses *self)
{
  irisd_worker_processes_lock (self);
  irisd_leases_drain (self->leases);
  irisd_worker_processes_unlock (self);
}

/* Ends all items in the table, because irisd stops; every gateway has seen the phase. */
void
irisd_worker_processes_close (IrisdWorkerProcesses *self)
{
  irisd_worker_processes_lock (self);
  irisd_leases_close (self->leases);
  irisd_worker_processes_unlock (self);
}

/* --- for the gateways of clients --- */

/* Before a job's leased item enters the table. */
static void
set_schedule (IrisdWorkerProcesses *self, IrisdJob *job, gint64 space)
{
  IrisdLeasedItem *leased_item = job->leased_item;
  leased_item->job = job;
  leased_item->entry.space = space;
  leased_item->entry.patient = job->persistent != NULL;
  leased_item->entry.deadline = job->schedule != NULL ? job->schedule->deadline_us : 0;
}

/* @job was adopted; it comes back as a message. @space is the name space tried first. */
void
irisd_worker_processes_queue (IrisdWorkerProcesses *self, IrisdJob *job, gint64 space)
{
  IrisdLeasedItem *leased_item = job->leased_item;
  const char *name = leased_item->away != NULL ? IRISD_CLUSTER_SERVICE : leased_item->service;
  gint64 now = irisd_worker_processes_lock (self);
  if (leased_item->away != NULL)
    space = IRISD_SPACE_SHARED;
  set_schedule (self, job, space);
  if (leased_item->entry.patient || leased_item->waits)
    irisd_leases_expect (self->leases, space, name, FALSE, now);
  if (!irisd_leases_add (self->leases, &leased_item->entry, name, now))
    {
      /* The service was dropped after it was looked up. */
      take_job (leased_item);
      fail_job (self, job, IRIS_WIRE_ERROR_NO_WORKER);
      give_back (job);
    }
  irisd_worker_processes_unlock (self);
}

/* Restores the lease that @job, which was adopted, had when irisd crashed, before the gateways
 * start. The job comes back as a message. */
void
irisd_worker_processes_restore (IrisdWorkerProcesses *self,
                                IrisdJob *job,
                                gint64 space,
                                const IrisdLeased *leased)
{
  IrisdLeasedItem *leased_item = job->leased_item;
  const guint64 now_ms = irisd_unix_ms (), lease_ms = self->core->config->limits.lease_ms;
  const guint64 left_ms = leased->due_ms > now_ms ? MIN (leased->due_ms - now_ms, lease_ms) : 0;
  gint64 now = irisd_worker_processes_lock (self);
  set_schedule (self, job, space);
  /* From here on the service is known, so the lease has its place. */
  irisd_leases_expect (self->leases, space, leased_item->service, FALSE, now);
  guint64 number = irisd_leases_restore (self->leases, &leased_item->entry, leased_item->service,
                                         leased->owner, (gint64) left_ms * 1000, now);
  guint8 *id = g_memdup2 (leased->id, sizeof leased->id);
  g_ptr_array_add (self->restored, id);
  g_hash_table_insert (self->restored_by_id, id, GSIZE_TO_POINTER ((gsize) number));
  g_warn_if_fail (self->restored->len == number);
  irisd_attempts_note_due (self->core->attempts, leased_item->slot, now_ms + left_ms);
  atomic_store_explicit (&job->persistent->started_ms, leased->started_ms, memory_order_relaxed);
  irisd_job_advance (job, IRISD_EVENT_RESUME);
  job->started_ns = irisd_now_ns ();
  irisd_worker_processes_unlock (self);
}

/* @job was queued and has not come back. Returns IRISD_LEASE_ENTRY_GONE if it is on its way back;
 * else the caller has it now. */
IrisdLeaseEntryState
irisd_worker_processes_withdraw (IrisdWorkerProcesses *self, IrisdJob *job)
{
  gint64 now = irisd_worker_processes_lock (self);
  IrisdLeaseEntryState state = irisd_leases_withdraw (self->leases, &job->leased_item->entry, now);
  if (state != IRISD_LEASE_ENTRY_GONE)
    take_job (job->leased_item);
  irisd_worker_processes_unlock (self);
  return state;
}

/* @job was queued and has not come back. Returns IRISD_LEASE_ENTRY_WAITED if the caller has it now;
 * else nothing has changed. */
IrisdLeaseEntryState
irisd_worker_processes_withdraw_waiting (IrisdWorkerProcesses *self, IrisdJob *job)
{
  gint64 now = irisd_worker_processes_lock (self);
  IrisdLeaseEntryState state = irisd_leases_get_state (&job->leased_item->entry);
  if (state == IRISD_LEASE_ENTRY_WAITED)
    {
      irisd_leases_withdraw (self->leases, &job->leased_item->entry, now);
      take_job (job->leased_item);
    }
  irisd_worker_processes_unlock (self);
  return state;
}

/* --- for the gateways of workers --- */

IrisdWorkerProcess *
irisd_worker_process_new (IrisdMailbox *mailbox, IrisdPeer *peer)
{
  IrisdWorkerProcess *self = g_new0 (IrisdWorkerProcess, 1);
  atomic_init (&self->refs, 1);
  self->mailbox = mailbox;
  self->peer = peer;
  self->name = g_strdup (peer->name);
  self->base.owner = peer->owner;
  self->link.data = self;
  atomic_init (&self->heard_us, g_get_monotonic_time ());
  return self;
}

/* @worker has sent READY; @place is its place or IRIS_PLACE_ANY, @capacity the most leases that it
 * takes. On an error nothing has changed. */
gboolean
irisd_worker_processes_enroll (IrisdWorkerProcesses *self,
                               IrisdWorkerProcess *worker,
                               gint place,
                               guint capacity,
                               const IrisWireServices *services,
                               GError **error)
{
  gint64 now = irisd_worker_processes_lock (self);
  gboolean is_new = !worker->base.enrolled;
  gboolean enrolled = irisd_leases_enroll (self->leases, &worker->base, place, capacity, services,
                                           now, error);
  if (enrolled && is_new)
    g_ptr_array_add (self->workers, worker);
  irisd_worker_processes_unlock (self);
  return enrolled;
}

void
irisd_worker_processes_leave (IrisdWorkerProcesses *self, IrisdWorkerProcess *worker)
{
  gint64 now = irisd_worker_processes_lock (self);
  irisd_leases_leave (self->leases, &worker->base, now);
  g_ptr_array_remove_fast (self->workers, worker);
  irisd_worker_processes_unlock (self);
}

/* A worker has ended a job that has left the table. */
static void
end_run (IrisdWorkerProcesses *self, IrisdJob *job, gint place)
{
  job->ended_ns = irisd_now_ns ();
  if (job->leased_item->away != NULL)
    {
      give_back (job);
      return;
    }
  job->place = place;
  irisd_core_count_run (self->core, place != IRIS_PLACE_ANY ? place : job->home, job->result.bytes);
  give_back (job);
}

/* Takes @body, the fifth frame of @done. Returns FALSE if the worker has no such lease. */
gboolean
irisd_worker_processes_done (IrisdWorkerProcesses *self,
                             IrisdWorkerProcess *worker,
                             const IrisWireMessage *done,
                             zmq_msg_t *body)
{
  guint64 lease = irisd_worker_processes_read_lease (self, done->request_id);
  IrisdLeaseEntry *entry = NULL;
  IrisdJob *job = NULL;
  gint64 now = irisd_worker_processes_lock (self);
  entry = irisd_leases_find (self->leases, &worker->base, lease);
  if (entry != NULL)
    {
      /* Charged before the next item is leased, which depends on the peer's unacknowledged
       * bytes. */
      job = leased_item_of (entry)->job;
      zmq_msg_move (&job->result.body, body);
      irisd_job_charge_result (job, 1);
    }
  gboolean ended = irisd_leases_done (self->leases, &worker->base, lease, now, &entry)
                   == IRISD_LEASE_ENDED;
  if (ended)
    take_job (leased_item_of (entry));
  gint place = worker->base.place;
  irisd_worker_processes_unlock (self);
  if (!ended)
    return FALSE;
  if (iris_wire_message_has (done, IRIS_WIRE_KEY_CONTENT_TYPE))
    job->result.content_type = job->leased_item->result_type = iris_wire_string_dup (
        &done->content_type);
  if (job->leased_item->away != NULL)
    irisd_away_item_take_end (job->leased_item->away, job, done);
  end_run (self, job, place);
  return TRUE;
}

/* Returns whether @fail is about an item that the bridge wants not before some time. Under the
 * lock. */
static gboolean
is_put_off (IrisdWorkerProcesses *self,
            IrisdWorkerProcess *worker,
            guint64 lease,
            const IrisWireMessage *fail)
{
  IrisdLeaseEntry *entry = fail->again && fail->retry_after_ms > 0
                               ? irisd_leases_find (self->leases, &worker->base, lease)
                               : NULL;
  return entry != NULL && leased_item_of (entry)->away != NULL;
}

/* Returns FALSE if the worker has no such lease. */
gboolean
irisd_worker_processes_fail (IrisdWorkerProcesses *self,
                             IrisdWorkerProcess *worker,
                             const IrisWireMessage *message)
{
  guint64 lease = irisd_worker_processes_read_lease (self, message->request_id);
  IrisdLeaseEntry *entry = NULL;
  IrisdJob *job = NULL;
  gint64 now = irisd_worker_processes_lock (self);
  gboolean later = is_put_off (self, worker, lease, message);
  IrisdLeaseEnd end = irisd_leases_give_back (self->leases, &worker->base, lease,
                                              message->again && !later, now, &entry);
  if (end == IRISD_LEASE_ENDED)
    job = take_job (leased_item_of (entry));
  gint place = worker->base.place;
  irisd_worker_processes_unlock (self);
  if (job == NULL)
    return end != IRISD_LEASE_UNKNOWN;
  if (later)
    {
      job->leased_item->away->put_off_us = (gint64) message->retry_after_ms * 1000;
      give_back (job);
      return TRUE;
    }
  g_autofree char *reason = iris_wire_string_dup (&message->message);
  gboolean coded = iris_wire_message_has (message, IRIS_WIRE_KEY_CODE);
  irisd_job_fail (job, coded ? message->code : IRIS_WIRE_ERROR_SERVICE_FAILED, "%s", reason);
  if (job->leased_item->away != NULL)
    irisd_away_item_take_end (job->leased_item->away, job, message);
  end_run (self, job, place);
  return TRUE;
}

/* Returns FALSE if the worker has no such lease. */
gboolean
irisd_worker_processes_extend (IrisdWorkerProcesses *self,
                               IrisdWorkerProcess *worker,
                               const IrisWireMessage *extend)
{
  guint64 most = self->core->config->limits.lease_ms;
  guint64 ms = iris_wire_message_has (extend, IRIS_WIRE_KEY_LEASE_MS) ? MIN (extend->lease_ms, most)
                                                                      : most;
  guint64 lease = irisd_worker_processes_read_lease (self, extend->request_id);
  gint64 now = irisd_worker_processes_lock (self);
  gboolean extended = irisd_leases_extend (self->leases, &worker->base, lease, (gint64) ms * 1000,
                                           now);
  if (extended
      && is_recorded (leased_item_of (irisd_leases_find (self->leases, &worker->base, lease))))
    note_due (self, leased_item_of (irisd_leases_find (self->leases, &worker->base, lease)), ms);
  irisd_worker_processes_unlock (self);
  return extended;
}

/* Returns the worker processes that @view, an owner or IRISD_VIEW_ALL, may see. */
IrisWireWorkers *
irisd_worker_processes_describe_workers (IrisdWorkerProcesses *self, gint64 view)
{
  gint64 now = irisd_worker_processes_lock (self);
  IrisWireWorkers *list = iris_wire_workers_new (self->workers->len);
  guint n = 0;
  for (guint i = 0; i < self->workers->len; i++)
    {
      IrisdWorkerProcess *worker = g_ptr_array_index (self->workers, i);
      if (!irisd_worker_is_within (&worker->base, view))
        continue;
      gint64 heard = atomic_load_explicit (&worker->heard_us, memory_order_relaxed);
      list->workers[n].name = g_strdup (worker->name);
      irisd_leases_describe_worker (&worker->base, view, &list->workers[n]);
      list->workers[n++].silent_ms = (guint64) MAX (now - heard, 0) / 1000;
    }
  list->n_workers = n;
  irisd_worker_processes_unlock (self);
  return list;
}

/* Adds the services of worker processes to @list; @space is the name space that the client's items
 * try first. */
void
irisd_worker_processes_add_services (IrisdWorkerProcesses *self,
                                     gint64 space,
                                     IrisWireServices *list)
{
  irisd_worker_processes_lock (self);
  guint n = irisd_leases_count_services (self->leases);
  list->services = g_renew (IrisWireService, list->services, list->n_services + n);
  list->n_services += irisd_leases_describe_services (self->leases, space,
                                                      list->services + list->n_services);
  irisd_worker_processes_unlock (self);
}

/* See irisd_leases_count_leased(). */
guint
irisd_worker_processes_count_leased (IrisdWorkerProcesses *self, GHashTable *by_name)
{
  irisd_worker_processes_lock (self);
  guint n = irisd_leases_count_leased (self->leases, by_name);
  irisd_worker_processes_unlock (self);
  return n;
}

/* From now on items are leased; irisd was started paused. */
void
irisd_worker_processes_resume (IrisdWorkerProcesses *self)
{
  gint64 now = irisd_worker_processes_lock (self);
  irisd_leases_resume (self->leases);
  for (guint i = 0; i < self->workers->len; i++)
    {
      IrisdWorkerProcess *worker = g_ptr_array_index (self->workers, i);
      if (worker->base.enrolled)
        irisd_leases_employ (self->leases, &worker->base, now);
    }
  irisd_worker_processes_unlock (self);
}

/* Returns whether @item's service is known; @space is the name space tried first; @patient: the
 * item waits for a worker without a limit. */
gboolean
irisd_worker_processes_knows (IrisdWorkerProcesses *self,
                              gint64 space,
                              const IrisWireMessage *item,
                              gboolean patient)
{
  g_autofree char *text = iris_wire_string_dup (&item->service);
  gint64 now = irisd_worker_processes_lock (self);
  gboolean known = irisd_leases_knows (self->leases, space, text, patient, now);
  irisd_worker_processes_unlock (self);
  return known;
}

/* Makes the service @name known, because a client waits for it. Returns whether it is known now;
 * else too many services have had no worker yet. */
gboolean
irisd_worker_processes_await (IrisdWorkerProcesses *self,
                              gint64 space,
                              const IrisWireString *name,
                              GError **error)
{
  g_autofree char *text = iris_wire_string_dup (name);
  gint64 now = irisd_worker_processes_lock (self);
  gboolean room = irisd_leases_has_room_to_expect (self->leases, space);
  if (room)
    irisd_leases_expect (self->leases, space, text, FALSE, now);
  irisd_worker_processes_unlock (self);
  if (!room)
    g_set_error (error, IRIS_WIRE_ERROR, IRIS_WIRE_ERROR_TOO_LARGE,
                 "cannot wait for a worker: more services have none than total-worker-services "
                 "(%" G_GUINT64_FORMAT "); start their workers, or raise it with [limits] "
                 "total-worker-services",
                 self->core->config->limits.total_worker_services);
  return room;
}

/* Makes the service @name known, so that items may wait for a worker process. @lasting: it is never
 * forgotten. */
void
irisd_worker_processes_expect (IrisdWorkerProcesses *self,
                               gint64 space,
                               const char *name,
                               gboolean lasting)
{
  gint64 now = irisd_worker_processes_lock (self);
  irisd_leases_expect (self->leases, space, name, lasting, now);
  irisd_worker_processes_unlock (self);
}

/* Returns whether the rights of its user still give @worker the services that it has. */
gboolean
irisd_worker_processes_is_entitled (IrisdWorkerProcesses *self, IrisdWorkerProcess *worker)
{
  irisd_worker_processes_lock (self);
  gboolean entitled = irisd_leases_is_entitled (self->leases, &worker->base);
  irisd_worker_processes_unlock (self);
  return entitled;
}
