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
 *
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
 */
#include "daemon/exec/worker/irisd-worker-processes-private.h"

#include "daemon/store/irisd-journal.h"

#include <string.h>

const IrisdService irisd_service_worker_processes = {
  .name = "",
  .summary = "run by worker processes",
  .output_grows = TRUE,
};

static IrisdWorkerProcess *
worker_of (IrisdWorker *worker)
{
  return (IrisdWorkerProcess *) (void *) ((char *) worker
                                          - G_STRUCT_OFFSET (IrisdWorkerProcess, base));
}

IrisdLeasedItem *
irisd_leased_item_ref (IrisdLeasedItem *leased_item)
{
  atomic_fetch_add_explicit (&leased_item->refs, 1, memory_order_relaxed);
  return leased_item;
}

static IrisdWorkerProcess *
worker_ref (IrisdWorkerProcess *worker)
{
  atomic_fetch_add_explicit (&worker->refs, 1, memory_order_relaxed);
  return worker;
}

/* --- actions of the table; all under the lock
 * ---------------------------------------------------- */

IrisdWorkerEvent *
irisd_worker_event_new (IrisdWorkerEventKind kind)
{
  IrisdWorkerEvent *event = g_new0 (IrisdWorkerEvent, 1);
  event->message.kind = IRISD_MESSAGE_WORKER_EVENT;
  event->kind = kind;
  zmq_msg_init (&event->payload);
  return event;
}

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
  IrisdJob *job = irisd_leased_item_of (entry)->job;
  return irisd_job_is_orphan (job)
         || irisd_peer_get_bytes (job->peer) <= self->core->config->limits.in_flight_bytes;
}

/* Its peer has too much unacknowledged: the gateway holds the job until that changes. */
static void
hold (IrisdLeaseEntry *entry, gpointer user_data)
{
  IrisdJob *job = take_job (irisd_leased_item_of (entry));
  irisd_job_advance (job, IRISD_EVENT_HOLD);
  give_back (job);
}

static void
give (IrisdWorker *worker, guint64 lease, IrisdLeaseEntry *entry, gpointer user_data)
{
  IrisdLeasedItem *leased_item = irisd_leased_item_of (entry);
  IrisdWorkerEvent *event = irisd_worker_event_new (IRISD_WORKER_EVENT_LEASE);
  event->worker = worker_ref (worker_of (worker));
  event->leased_item = irisd_leased_item_ref (leased_item);
  event->lease = lease;
  event->attempt = entry->attempts;
  event->credit = atomic_load_explicit (&leased_item->job->output_credit, memory_order_relaxed);
  leased_item->n_leases++;
  zmq_msg_copy (&event->payload, &leased_item->payload);
  leased_item->job->started_ns = irisd_now_ns ();
  irisd_job_advance (leased_item->job, IRISD_EVENT_LEASE);
  if (leased_item->job->persistent != NULL)
    irisd_worker_processes_note_lease (user_data, leased_item, worker->owner, lease);
  irisd_mailbox_post (event->worker->mailbox, &event->message);
}

static void
note_wait (IrisdLeaseEntry *entry, gpointer user_data)
{
  IrisdLeasedItem *leased_item = irisd_leased_item_of (entry);
  irisd_job_advance (leased_item->job, IRISD_EVENT_UNLEASE);
  if (leased_item->job->persistent != NULL)
    irisd_attempts_note_due (leased_item->job->core->attempts, leased_item->slot, 0);
}

static void
stop (IrisdWorker *worker, guint64 lease, IrisWireError why, gpointer user_data)
{
  IrisdWorkerEvent *event = irisd_worker_event_new (IRISD_WORKER_EVENT_STOP);
  event->worker = worker_ref (worker_of (worker));
  event->lease = lease;
  event->why = why;
  irisd_mailbox_post (event->worker->mailbox, &event->message);
}

/* Does nothing if no worker process has it. */
void
irisd_worker_processes_tell_credit (IrisdWorkerProcesses *self,
                                    IrisdLeasedItem *leased_item,
                                    guint64 bytes)
{
  guint64 lease;
  IrisdWorker *worker = irisd_leases_find_worker (&leased_item->entry, &lease);
  if (worker == NULL)
    return;
  IrisdWorkerEvent *event = irisd_worker_event_new (IRISD_WORKER_EVENT_GRANT);
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
  IrisdLeasedItem *leased_item = irisd_leased_item_of (entry);
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
  return irisd_access_may_serve (&self->core->config->access, worker->owner, service);
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

/* --- the lock and the clock ----------------------------------------------------------------------
 */

/* Takes the lock, and returns the time. */
gint64
irisd_worker_processes_lock (IrisdWorkerProcesses *self)
{
  pthread_mutex_lock (&self->lock);
  return g_get_monotonic_time ();
}

void
irisd_worker_processes_unlock (IrisdWorkerProcesses *self)
{
  gint64 next = irisd_leases_next (self->leases);
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

/* Ends expired leases and waits, and sets the alarm anew. For the front gateway's thread. */
void
irisd_worker_processes_expire (IrisdWorkerProcesses *self)
{
  gint64 now = irisd_worker_processes_lock (self);
  irisd_leases_expire (self->leases, now);
  atomic_store_explicit (&self->alarm_us, irisd_leases_next (self->leases), memory_order_relaxed);
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
  irisd_worker_processes_init_restored (self);
  return self;
}

/* No thread may use the table any more. */
void
irisd_worker_processes_free (IrisdWorkerProcesses *self)
{
  if (self == NULL)
    return;
  irisd_leases_free (self->leases);
  irisd_worker_processes_clear_restored (self);
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

/* --- for the gateways of clients -----------------------------------------------------------------
 */

/* Before a job's leased item enters the table. */
void
irisd_worker_processes_set_schedule (IrisdWorkerProcesses *self, IrisdJob *job, gint64 space)
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
  gint64 now = irisd_worker_processes_lock (self);
  irisd_worker_processes_set_schedule (self, job, space);
  if (leased_item->entry.patient || leased_item->waits)
    irisd_leases_expect (self->leases, space, leased_item->service, FALSE, now);
  if (!irisd_leases_add (self->leases, &leased_item->entry, leased_item->service, now))
    {
      /* The service was dropped after it was looked up. */
      take_job (leased_item);
      fail_job (self, job, IRIS_WIRE_ERROR_NO_WORKER);
      give_back (job);
    }
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

/* --- for the gateways of workers -----------------------------------------------------------------
 */

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

void
irisd_worker_process_unref (IrisdWorkerProcess *self)
{
  if (atomic_fetch_sub_explicit (&self->refs, 1, memory_order_acq_rel) > 1)
    return;
  g_free (self->name);
  g_free (self);
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
      job = irisd_leased_item_of (entry)->job;
      zmq_msg_move (&job->result.body, body);
      irisd_job_charge_result (job, 1);
    }
  gboolean ended = irisd_leases_done (self->leases, &worker->base, lease, now, &entry)
                   == IRISD_LEASE_ENDED;
  if (ended)
    take_job (irisd_leased_item_of (entry));
  gint place = worker->base.place;
  irisd_worker_processes_unlock (self);
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
  guint64 lease = irisd_worker_processes_read_lease (self, message->request_id);
  IrisdLeaseEntry *entry = NULL;
  IrisdJob *job = NULL;
  gint64 now = irisd_worker_processes_lock (self);
  IrisdLeaseEnd end = irisd_leases_give_back (self->leases, &worker->base, lease, message->again,
                                              now, &entry);
  if (end == IRISD_LEASE_ENDED)
    job = take_job (irisd_leased_item_of (entry));
  gint place = worker->base.place;
  irisd_worker_processes_unlock (self);
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
  guint64 lease = irisd_worker_processes_read_lease (self, extend->request_id);
  gint64 now = irisd_worker_processes_lock (self);
  gboolean extended = irisd_leases_extend (self->leases, &worker->base, lease, (gint64) ms * 1000,
                                           now);
  if (extended)
    irisd_worker_processes_note_due (
        self, irisd_leased_item_of (irisd_leases_find (self->leases, &worker->base, lease)), ms);
  irisd_worker_processes_unlock (self);
  return extended;
}
