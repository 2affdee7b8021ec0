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
 * Parts of a result. The client grants credit for bytes of parts, the job holds it
 * (`output_credit`, as for the output of a command), and the worker learns it: the present credit
 * by LEASE, an addition by PART. All three, and the subtraction for a part, happen under the
 * table's lock, so worker and irisd agree on the credit across leases. A part within its credit is
 * posted to the job's gateway at once, so irisd holds no more of an item than the client has
 * granted.
 *
 * A part is posted while the leased item is in the table, and the end of the job takes it out
 * first, so parts come before the completion. When a message arrives the job may have left the
 * table and still be on its way back behind the message; or its gateway may have ended and freed
 * it: then `messages_for`, which only that gateway's thread touches, is cleared.
 *
 * Restored leases. From its first lease until its end is in the journal, a persistent item has a
 * slot in the record of attempts (irisd-attempts.c): its lease, the owner of the worker process,
 * the end of the lease, and how often the item was leased; or, while the item waits to be leased
 * again, only the last. After a crash irisd restores the leases before it reads its first message,
 * so a worker process that connects again finds them. The worker process names its lease by the id
 * that the earlier irisd made; so this irisd retains the ids of restored leases, which have the
 * first numbers. The ids of its own leases begin with its own epoch.
 */
#include "daemon/exec/worker/irisd-worker-processes.h"

#include "daemon/net/irisd-unacknowledged.h"
#include "daemon/store/irisd-journal.h"

#include <pthread.h>
#include <string.h>

struct _IrisdWorkerProcesses
{
  pthread_mutex_t lock;
  IrisdCore *core;
  IrisdLeases *leases;
  GPtrArray *workers;  /* of IrisdWorkerProcess */
  guint8 epoch[8];     /* first half of the leases' ids, which differs between runs of irisd */
  GPtrArray *restored; /* their ids, by number less 1; constant once items are taken */
  GHashTable *restored_by_id; /* the same → their numbers */
  _Atomic gint64 alarm_us;
  gint64 not_before_us; /* nothing expires before, because irisd stood still */
};

/* Behind an alarm that goes off later than this irisd stood still. */
#define STANDSTILL_US       (G_USEC_PER_SEC / 4)
#define AFTER_STANDSTILL_US G_USEC_PER_SEC

#define leased_item_of(pointer) IRISD_CONTAINER (pointer, IrisdLeasedItem, entry)

static IrisdLeasedItem *
leased_item_ref (IrisdLeasedItem *leased_item)
{
  atomic_fetch_add_explicit (&leased_item->refs, 1, memory_order_relaxed);
  return leased_item;
}

#define worker_of(pointer) IRISD_CONTAINER (pointer, IrisdWorkerProcess, base)

static IrisdWorkerProcess *
worker_ref (IrisdWorkerProcess *worker)
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
  g_free (self->result_type);
  g_free (self->note);
  g_free (self);
}

void
irisd_worker_event_free (IrisdWorkerEvent *self)
{
  zmq_msg_close (&self->payload);
  irisd_trace_context_free (self->trace);
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

/* Resets the leased item of a job that is to run again. */
static void
renew (IrisdJob *job)
{
  IrisdLeasedItem *self = job->leased_item;
  g_clear_pointer (&self->result_type, g_free);
  self->entry.attempts = 0;
  irisd_attempts_end (job->core->attempts, self->slot);
  self->slot = IRISD_ATTEMPT_NONE;
  job->result.bytes = zmq_msg_size (&self->payload);
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
static guint64
read_lease (IrisdWorkerProcesses *self, const guint8 *id)
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

static IrisdWorkerEvent *
event_new (IrisdWorkerEventKind kind)
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
give (IrisdWorker *worker, guint64 lease, IrisdLeaseEntry *entry, gpointer user_data)
{
  IrisdLeasedItem *leased_item = leased_item_of (entry);
  IrisdWorkerEvent *event = event_new (IRISD_WORKER_EVENT_LEASE);
  event->worker = worker_ref (worker_of (worker));
  event->leased_item = leased_item_ref (leased_item);
  event->lease = lease;
  event->attempt = entry->attempts;
  event->credit = atomic_load_explicit (&leased_item->job->output_credit, memory_order_relaxed);
  event->trace = irisd_trace_context_copy (leased_item->job->trace);
  leased_item->n_leases++;
  zmq_msg_copy (&event->payload, &leased_item->payload);
  leased_item->job->started_ns = irisd_now_ns ();
  irisd_job_advance (leased_item->job, IRISD_EVENT_LEASE);
  if (leased_item->job->persistent != NULL)
    note_lease (user_data, leased_item, worker->owner, lease);
  irisd_mailbox_post (event->worker->mailbox, &event->message);
}

static void
note_wait (IrisdLeaseEntry *entry, gpointer user_data)
{
  IrisdLeasedItem *leased_item = leased_item_of (entry);
  irisd_job_advance (leased_item->job, IRISD_EVENT_UNLEASE);
  if (leased_item->job->persistent != NULL)
    irisd_attempts_note_due (leased_item->job->core->attempts, leased_item->slot, 0);
}

static void
stop (IrisdWorker *worker, guint64 lease, IrisWireError why, gpointer user_data)
{
  IrisdWorkerEvent *event = event_new (IRISD_WORKER_EVENT_STOP);
  event->worker = worker_ref (worker_of (worker));
  event->lease = lease;
  event->why = why;
  irisd_mailbox_post (event->worker->mailbox, &event->message);
}

/* Does nothing if no worker process has it. */
static void
tell_credit (IrisdWorkerProcesses *self, IrisdLeasedItem *leased_item, guint64 bytes)
{
  guint64 lease;
  IrisdWorker *worker = irisd_leases_find_worker (&leased_item->entry, &lease);
  if (worker == NULL)
    return;
  IrisdWorkerEvent *event = event_new (IRISD_WORKER_EVENT_GRANT);
  event->worker = worker_ref (worker_of (worker));
  event->lease = lease;
  event->credit = bytes;
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
static gint64
lock_table (IrisdWorkerProcesses *self)
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

static void
unlock_table (IrisdWorkerProcesses *self)
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
  gint64 now = lock_table (self);
  if (now - irisd_worker_processes_get_alarm (self) > STANDSTILL_US)
    self->not_before_us = now + AFTER_STANDSTILL_US;
  else if (now >= self->not_before_us)
    irisd_leases_expire (self->leases, now);
  atomic_store_explicit (&self->alarm_us, next_alarm (self), memory_order_relaxed);
  unlock_table (self);
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
  lock_table (self);
  irisd_leases_drain (self->leases);
  unlock_table (self);
}

/* Ends all items in the table, because irisd stops; every gateway has seen the phase. */
void
irisd_worker_processes_close (IrisdWorkerProcesses *self)
{
  lock_table (self);
  irisd_leases_close (self->leases);
  unlock_table (self);
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
  gint64 now = lock_table (self);
  set_schedule (self, job, space);
  if (leased_item->entry.patient || leased_item->waits)
    irisd_leases_expect (self->leases, space, leased_item->service, FALSE, now);
  if (!irisd_leases_add (self->leases, &leased_item->entry, leased_item->service, now))
    {
      /* The service was dropped after it was looked up. */
      take_job (leased_item);
      fail_job (self, job, IRIS_WIRE_ERROR_NO_WORKER);
      give_back (job);
    }
  unlock_table (self);
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
  gint64 now = lock_table (self);
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
  unlock_table (self);
}

/* @job was queued and has not come back. Returns IRISD_LEASE_ENTRY_GONE if it is on its way back;
 * else the caller has it now. */
IrisdLeaseEntryState
irisd_worker_processes_withdraw (IrisdWorkerProcesses *self, IrisdJob *job)
{
  gint64 now = lock_table (self);
  IrisdLeaseEntryState state = irisd_leases_withdraw (self->leases, &job->leased_item->entry, now);
  if (state != IRISD_LEASE_ENTRY_GONE)
    take_job (job->leased_item);
  unlock_table (self);
  return state;
}

/* @job was queued and has not come back. Returns IRISD_LEASE_ENTRY_WAITED if the caller has it now;
 * else nothing has changed. */
IrisdLeaseEntryState
irisd_worker_processes_withdraw_waiting (IrisdWorkerProcesses *self, IrisdJob *job)
{
  gint64 now = lock_table (self);
  IrisdLeaseEntryState state = irisd_leases_get_state (&job->leased_item->entry);
  if (state == IRISD_LEASE_ENTRY_WAITED)
    {
      irisd_leases_withdraw (self->leases, &job->leased_item->entry, now);
      take_job (job->leased_item);
    }
  unlock_table (self);
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
  gint64 now = lock_table (self);
  gboolean is_new = !worker->base.enrolled;
  gboolean enrolled = irisd_leases_enroll (self->leases, &worker->base, place, capacity, services,
                                           now, error);
  if (enrolled && is_new)
    g_ptr_array_add (self->workers, worker);
  unlock_table (self);
  return enrolled;
}

void
irisd_worker_processes_leave (IrisdWorkerProcesses *self, IrisdWorkerProcess *worker)
{
  gint64 now = lock_table (self);
  irisd_leases_leave (self->leases, &worker->base, now);
  g_ptr_array_remove_fast (self->workers, worker);
  unlock_table (self);
}

/* A worker has ended a job that has left the table. */
static void
end_run (IrisdWorkerProcesses *self, IrisdJob *job, gint place)
{
  job->ended_ns = irisd_now_ns ();
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
  guint64 lease = read_lease (self, done->request_id);
  IrisdLeaseEntry *entry = NULL;
  IrisdJob *job = NULL;
  gint64 now = lock_table (self);
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
  unlock_table (self);
  if (!ended)
    return FALSE;
  if (iris_wire_message_has (done, IRIS_WIRE_KEY_CONTENT_TYPE))
    job->result.content_type = job->leased_item->result_type = iris_wire_string_dup (
        &done->content_type);
  end_run (self, job, place);
  return TRUE;
}

/* Returns FALSE if the worker has no such lease. */
gboolean
irisd_worker_processes_fail (IrisdWorkerProcesses *self,
                             IrisdWorkerProcess *worker,
                             const IrisWireMessage *message)
{
  guint64 lease = read_lease (self, message->request_id);
  IrisdLeaseEntry *entry = NULL;
  IrisdJob *job = NULL;
  gint64 now = lock_table (self);
  IrisdLeaseEnd end = irisd_leases_give_back (self->leases, &worker->base, lease, message->again,
                                              now, &entry);
  if (end == IRISD_LEASE_ENDED)
    job = take_job (leased_item_of (entry));
  gint place = worker->base.place;
  unlock_table (self);
  if (job == NULL)
    return end != IRISD_LEASE_UNKNOWN;
  g_autofree char *reason = iris_wire_string_dup (&message->message);
  gboolean coded = iris_wire_message_has (message, IRIS_WIRE_KEY_CODE);
  irisd_job_fail (job, coded ? message->code : IRIS_WIRE_ERROR_SERVICE_FAILED, "%s", reason);
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
  guint64 lease = read_lease (self, extend->request_id);
  gint64 now = lock_table (self);
  gboolean extended = irisd_leases_extend (self->leases, &worker->base, lease, (gint64) ms * 1000,
                                           now);
  if (extended)
    note_due (self, leased_item_of (irisd_leases_find (self->leases, &worker->base, lease)), ms);
  unlock_table (self);
  return extended;
}

/* Takes @body, the fifth frame of @report. Returns FALSE, and drops the part, if it is larger than
 * its lease's credit. A part without a request for parts, or of a lease that has ended, is dropped
 * too, with TRUE. */
gboolean
irisd_worker_processes_part (IrisdWorkerProcesses *self,
                             IrisdWorkerProcess *worker,
                             const IrisWireMessage *report,
                             zmq_msg_t *body)
{
  gboolean fits = TRUE;
  lock_table (self);
  IrisdLeaseEntry *entry = irisd_leases_find (self->leases, &worker->base,
                                              read_lease (self, report->request_id));
  IrisdLeasedItem *leased_item = entry != NULL ? leased_item_of (entry) : NULL;
  if (leased_item != NULL && leased_item->parts)
    {
      IrisdJob *job = leased_item->job;
      guint64 size = report->body.size;
      fits = size <= atomic_load_explicit (&job->output_credit, memory_order_relaxed);
      if (fits)
        {
          IrisdWorkerEvent *event = event_new (IRISD_WORKER_EVENT_PART);
          atomic_fetch_sub_explicit (&job->output_credit, size, memory_order_relaxed);
          event->leased_item = leased_item_ref (leased_item);
          event->attempt = leased_item->n_leases;
          zmq_msg_move (&event->payload, body);
          irisd_mailbox_post (job->mailbox, &event->message);
        }
    }
  unlock_table (self);
  return fits;
}

/* @job has not ended; for its gateway. Grants credit for @bytes of parts. Returns FALSE, and
 * changes nothing, if the job would hold more than @limit. */
gboolean
irisd_worker_processes_grant (IrisdWorkerProcesses *self,
                              IrisdJob *job,
                              guint64 bytes,
                              guint64 limit)
{
  lock_table (self);
  guint64 held = atomic_load_explicit (&job->output_credit, memory_order_relaxed);
  gboolean fits = bytes <= limit && held <= limit - bytes;
  if (fits)
    {
      atomic_fetch_add_explicit (&job->output_credit, bytes, memory_order_relaxed);
      if (job->leased_item->parts && job->leased_item->job != NULL)
        tell_credit (self, job->leased_item, bytes);
    }
  unlock_table (self);
  return fits;
}

/* Fills @out, a PROGRESS message without keys, with the latest report; @note is what it borrows.
 * For the job's gateway. Returns the job, or NULL if it has ended. */
IrisdJob *
irisd_worker_processes_take_report (IrisdWorkerProcesses *self,
                                    IrisdLeasedItem *leased_item,
                                    IrisWireMessage *out,
                                    char **note)
{
  lock_table (self);
  leased_item->report_posted = FALSE;
  IrisdJob *job = leased_item->job;
  if (leased_item->has_fraction)
    iris_wire_message_set_uint (out, IRIS_WIRE_KEY_FRACTION, leased_item->fraction);
  *note = g_strdup (leased_item->note);
  unlock_table (self);
  if (*note != NULL)
    iris_wire_message_set_string (out, IRIS_WIRE_KEY_NOTE, *note, -1);
  return job;
}

/* Only the latest report is stored, and only one event is on its way: a worker that reports without
 * end does not fill a mailbox. */
static void
keep_report (IrisdLeasedItem *leased_item, const IrisWireMessage *report)
{
  leased_item->has_fraction = iris_wire_message_has (report, IRIS_WIRE_KEY_FRACTION);
  leased_item->fraction = report->fraction;
  g_free (leased_item->note);
  leased_item->note = iris_wire_message_has (report, IRIS_WIRE_KEY_NOTE)
                          ? iris_wire_string_dup (&report->note)
                          : NULL;
  if (leased_item->report_posted)
    return;
  leased_item->report_posted = TRUE;
  IrisdWorkerEvent *event = event_new (IRISD_WORKER_EVENT_REPORT);
  event->leased_item = leased_item_ref (leased_item);
  irisd_mailbox_post (leased_item->job->mailbox, &event->message);
}

/* Returns FALSE if the worker has no such lease. */
gboolean
irisd_worker_processes_report (IrisdWorkerProcesses *self,
                               IrisdWorkerProcess *worker,
                               const IrisWireMessage *report)
{
  lock_table (self);
  IrisdLeaseEntry *entry = irisd_leases_find (self->leases, &worker->base,
                                              read_lease (self, report->request_id));
  /* A report that is only a part has no progress. */
  gboolean tells = report->body.size == 0 || report->present != 0;
  if (entry != NULL && leased_item_of (entry)->progress && tells)
    keep_report (leased_item_of (entry), report);
  unlock_table (self);
  return entry != NULL;
}

/* Returns the worker processes that @view, an owner or IRISD_VIEW_ALL, may see. */
IrisWireWorkers *
irisd_worker_processes_describe_workers (IrisdWorkerProcesses *self, gint64 view)
{
  gint64 now = lock_table (self);
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
  unlock_table (self);
  return list;
}

/* Adds the services of worker processes to @list; @space is the name space that the client's items
 * try first. */
void
irisd_worker_processes_add_services (IrisdWorkerProcesses *self,
                                     gint64 space,
                                     IrisWireServices *list)
{
  lock_table (self);
  guint n = irisd_leases_count_services (self->leases);
  list->services = g_renew (IrisWireService, list->services, list->n_services + n);
  list->n_services += irisd_leases_describe_services (self->leases, space,
                                                      list->services + list->n_services);
  unlock_table (self);
}

/* See irisd_leases_count_leased(). */
guint
irisd_worker_processes_count_leased (IrisdWorkerProcesses *self, GHashTable *by_name)
{
  lock_table (self);
  guint n = irisd_leases_count_leased (self->leases, by_name);
  unlock_table (self);
  return n;
}

/* From now on items are leased; irisd was started paused. */
void
irisd_worker_processes_resume (IrisdWorkerProcesses *self)
{
  gint64 now = lock_table (self);
  irisd_leases_resume (self->leases);
  for (guint i = 0; i < self->workers->len; i++)
    {
      IrisdWorkerProcess *worker = g_ptr_array_index (self->workers, i);
      if (worker->base.enrolled)
        irisd_leases_employ (self->leases, &worker->base, now);
    }
  unlock_table (self);
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
  gint64 now = lock_table (self);
  gboolean known = irisd_leases_knows (self->leases, space, text, patient, now);
  unlock_table (self);
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
  gint64 now = lock_table (self);
  gboolean room = irisd_leases_has_room_to_expect (self->leases, space);
  if (room)
    irisd_leases_expect (self->leases, space, text, FALSE, now);
  unlock_table (self);
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
  gint64 now = lock_table (self);
  irisd_leases_expect (self->leases, space, name, lasting, now);
  unlock_table (self);
}

/* Returns whether the rights of its user still give @worker the services that it has. */
gboolean
irisd_worker_processes_is_entitled (IrisdWorkerProcesses *self, IrisdWorkerProcess *worker)
{
  lock_table (self);
  gboolean entitled = irisd_leases_is_entitled (self->leases, &worker->base);
  unlock_table (self);
  return entitled;
}
