/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * Items that worker processes do: the book of leases as all gateways share it.
 *
 * A job for worker processes never sees the scheduler. Its gateway hands it to the book, and the
 * book's owner, whoever that is, posts it back to the gateway's mailbox once, with its end: just as
 * the scheduler's workers do. So no worker of irisd is occupied by it, and whoever owns a job is as
 * clear as before:
 *
 *  - While a task is in the book its `job` is set, and whoever holds the lock may look at the job.
 *    Its gateway does not free it meanwhile, because it has not come back.
 *  - Whoever takes a task out of the book, under the lock, clears `job` and owns the job then: a
 *    worker's gateway that has a DONE, the front door whose clock says that it is over, or the
 *    job's own gateway that cancels. The first two fill in the result and post it.
 *
 * The lock is held for table work only: encoding, sending and copying of results happen outside it.
 * Under it notices are made and posted; posting is free of locks and at most one write to an event
 * descriptor. The lock is a POSIX one because ThreadSanitizer knows those. Items of built-in
 * services do not come near it.
 *
 * The clock. The front door's thread calls irisd_outside_expire() when the alarm has come. Whoever
 * brings about an earlier event moves the alarm forward and wakes the front door. The alarm is
 * never moved back except by the front door itself: in the usual case, where leases end in time,
 * the front door wakes once in a lease's length and nobody else ever has to wake it.
 */
#include "irisd-outside-private.h"

#include "irisd-gateway-private.h"

#include <string.h>

const IrisdService irisd_service_outside = {
  .name = "",
  .summary = "done by worker processes",
  .output_grows = TRUE,
};

static IrisdOutsideWorker *
worker_of (IrisdServer *server)
{
  return (IrisdOutsideWorker *) (void *) ((char *) server
                                          - G_STRUCT_OFFSET (IrisdOutsideWorker, server));
}

IrisdTask *
irisd_task_ref (IrisdTask *task)
{
  atomic_fetch_add_explicit (&task->refs, 1, memory_order_relaxed);
  return task;
}

static IrisdOutsideWorker *
worker_ref (IrisdOutsideWorker *worker)
{
  atomic_fetch_add_explicit (&worker->refs, 1, memory_order_relaxed);
  return worker;
}

/* --- what the book wants to be done; all under the lock -----------------------------------------
 */

IrisdNotice *
irisd_notice_new (IrisdNoticeKind kind)
{
  IrisdNotice *notice = g_new0 (IrisdNotice, 1);
  notice->letter.kind = IRISD_LETTER_NOTICE;
  notice->kind = kind;
  zmq_msg_init (&notice->payload);
  return notice;
}

/* The task has left the book: the job is the caller's. */
static IrisdJob *
take_job (IrisdTask *task)
{
  return g_steal_pointer (&task->job);
}

static void
send_home (IrisdJob *job)
{
  irisd_mailbox_post (job->mailbox, &job->letter);
}

static gboolean
may_give (IrisdErrand *errand, gpointer user_data)
{
  IrisdOutside *self = user_data;
  IrisdJob *job = irisd_task_of (errand)->job;
  return irisd_job_is_orphan (job)
         || irisd_peer_get_bytes (job->peer) <= self->core->config->limits.in_flight_bytes;
}

/* Its peer owes too much: the gateway keeps it until that is mended. */
static void
hold (IrisdErrand *errand, gpointer user_data)
{
  IrisdJob *job = take_job (irisd_task_of (errand));
  job->held = TRUE;
  send_home (job);
}

static void
give (IrisdServer *server, guint64 lease, IrisdErrand *errand, gpointer user_data)
{
  IrisdTask *task = irisd_task_of (errand);
  IrisdNotice *notice = irisd_notice_new (IRISD_NOTICE_LEASE);
  notice->worker = worker_ref (worker_of (server));
  notice->task = irisd_task_ref (task);
  notice->lease = lease;
  notice->attempt = errand->attempts;
  notice->credit = atomic_load_explicit (&task->job->output_credit, memory_order_relaxed);
  task->n_leases++;
  zmq_msg_copy (&notice->payload, &task->payload);
  task->job->started_ns = irisd_now_ns ();
  if (task->job->kept != NULL)
    {
      irisd_kept_note_start (task->job->kept, IRIS_WIRE_STATE_LEASED);
      irisd_outside_note_lease (user_data, task, server->owner, lease);
    }
  irisd_mailbox_post (&notice->worker->gateway->mailbox, &notice->letter);
}

static void
note_wait (IrisdErrand *errand, gpointer user_data)
{
  IrisdTask *task = irisd_task_of (errand);
  if (task->job->kept == NULL)
    return;
  irisd_kept_set_state (task->job->kept, IRIS_WIRE_STATE_QUEUED);
  irisd_attempts_note_due (task->job->core->attempts, task->slot, 0);
}

static void
stop (IrisdServer *server, guint64 lease, IrisWireError why, gpointer user_data)
{
  IrisdNotice *notice = irisd_notice_new (IRISD_NOTICE_STOP);
  notice->worker = worker_ref (worker_of (server));
  notice->lease = lease;
  notice->why = why;
  irisd_mailbox_post (&notice->worker->gateway->mailbox, &notice->letter);
}

/* If somebody works on it. */
void
irisd_outside_tell_credit (IrisdOutside *self, IrisdTask *task, guint64 bytes)
{
  guint64 lease;
  IrisdServer *server = irisd_leases_find_server (&task->errand, &lease);
  if (server == NULL)
    return;
  IrisdNotice *notice = irisd_notice_new (IRISD_NOTICE_GRANT);
  notice->worker = worker_ref (worker_of (server));
  notice->lease = lease;
  notice->credit = bytes;
  irisd_mailbox_post (&notice->worker->gateway->mailbox, &notice->letter);
}

static void
fail_job (IrisdOutside *self, IrisdJob *job, IrisWireError why)
{
  const IrisdLimits *limits = &self->core->config->limits;
  const IrisdTask *task = job->task;
  switch (why)
    {
    case IRIS_WIRE_ERROR_NO_WORKER:
      irisd_job_fail (job, why,
                      "no worker has served “%s” for %" G_GUINT64_FORMAT
                      " ms (limit worker-wait-ms): start a worker and send the item again, or send "
                      "it as relaxed or durable, which waits",
                      task->service, limits->worker_wait_ms);
      break;
    case IRIS_WIRE_ERROR_DEADLINE_PASSED:
      irisd_job_fail_late (job);
      break;
    case IRIS_WIRE_ERROR_WORKER_LOST:
      irisd_job_fail (job, why,
                      "%u workers had the item and were lost, or too slow, before it was done "
                      "(limit lease-attempts): look into their logs",
                      task->errand.attempts);
      break;
    default:
      irisd_job_fail (job, IRIS_WIRE_ERROR_SHUTTING_DOWN,
                      "irisd was stopped before the item was done: send it again when irisd is "
                      "back");
      break;
    }
  job->ended_ns = irisd_now_ns ();
}

static void
fail (IrisdErrand *errand, IrisWireError why, gpointer user_data)
{
  IrisdTask *task = irisd_task_of (errand);
  /* Its worker was not told, so it is leased to it also for the next irisd. */
  if (why == IRIS_WIRE_ERROR_SHUTTING_DOWN && errand->away)
    task->slot = IRISD_ATTEMPT_NONE;
  IrisdJob *job = take_job (task);
  fail_job (user_data, job, why);
  send_home (job);
}

static gboolean
shares (IrisdServer *server, const char *service, gpointer user_data)
{
  IrisdOutside *self = user_data;
  return irisd_access_may_serve (&self->core->config->access, server->owner, service);
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
irisd_outside_lock (IrisdOutside *self)
{
  pthread_mutex_lock (&self->lock);
  return g_get_monotonic_time ();
}

void
irisd_outside_unlock (IrisdOutside *self)
{
  gint64 next = irisd_leases_next (self->book);
  gboolean earlier = next < irisd_outside_get_alarm (self);
  if (earlier)
    atomic_store_explicit (&self->alarm_us, next, memory_order_relaxed);
  pthread_mutex_unlock (&self->lock);
  if (earlier)
    irisd_gateway_wake (self->core->gateways[self->core->n_gateways - 1]);
}

/**
 * irisd_outside_get_alarm:
 * @self: the shared book
 *
 * Returns: when irisd_outside_expire() is to be called, on the monotonic clock in microseconds;
 *   %G_MAXINT64 for never
 */
gint64
irisd_outside_get_alarm (IrisdOutside *self)
{
  return atomic_load_explicit (&self->alarm_us, memory_order_relaxed);
}

/**
 * irisd_outside_expire:
 * @self: the shared book
 *
 * Ends what is over, and sets the alarm anew. Only the front door's thread may call this.
 */
void
irisd_outside_expire (IrisdOutside *self)
{
  gint64 now = irisd_outside_lock (self);
  irisd_leases_expire (self->book, now);
  atomic_store_explicit (&self->alarm_us, irisd_leases_next (self->book), memory_order_relaxed);
  irisd_outside_unlock (self);
}

IrisdOutside *
irisd_outside_new (IrisdCore *core)
{
  const IrisdLimits *limits = &core->config->limits;
  const IrisdLeaseRules rules = {
    .lease_us = (gint64) limits->lease_ms * 1000,
    .wait_us = (gint64) limits->worker_wait_ms * 1000,
    .attempts = (guint) limits->lease_attempts,
    .max_services = (guint) limits->outside_services,
    .n_places = core->n_places,
  };
  IrisdOutside *self = g_new0 (IrisdOutside, 1);
  pthread_mutex_init (&self->lock, NULL);
  self->core = core;
  self->book = irisd_leases_new (&rules, &events, self);
  if (core->config->paused)
    irisd_leases_pause (self->book);
  self->workers = g_ptr_array_new ();
  atomic_init (&self->alarm_us, G_MAXINT64);
  guint32 words[2] = { g_random_int (), g_random_int () };
  memcpy (self->epoch, words, sizeof self->epoch);
  irisd_outside_init_restored (self);
  return self;
}

/**
 * irisd_outside_free:
 * @self: (transfer full) (nullable): a book that nobody uses any more
 */
void
irisd_outside_free (IrisdOutside *self)
{
  if (self == NULL)
    return;
  irisd_leases_free (self->book);
  irisd_outside_clear_restored (self);
  g_ptr_array_unref (self->workers);
  pthread_mutex_destroy (&self->lock);
  g_free (self);
}

/**
 * irisd_outside_drain:
 * @self: the shared book
 *
 * Puts off kept items that no worker process serves, because irisd is to end: they wait in the
 * journal until it is back.
 */
void
irisd_outside_drain (IrisdOutside *self)
{
  irisd_outside_lock (self);
  irisd_leases_drain (self->book);
  irisd_outside_unlock (self);
}

/**
 * irisd_outside_close:
 * @self: the shared book
 *
 * Ends everything in it, because irisd stops; every gateway has seen that it does.
 */
void
irisd_outside_close (IrisdOutside *self)
{
  irisd_outside_lock (self);
  irisd_leases_close (self->book);
  irisd_outside_unlock (self);
}

/* --- for the gateways of clients -----------------------------------------------------------------
 */

/* Before a job's task enters the book. */
void
irisd_outside_set_terms (IrisdOutside *self, IrisdJob *job, gint64 space)
{
  IrisdTask *task = job->task;
  task->job = job;
  task->errand.space = space;
  task->errand.patient = job->kept != NULL;
  task->errand.deadline = job->terms != NULL ? job->terms->deadline_us : 0;
}

/**
 * irisd_outside_queue:
 * @self: the shared book
 * @job: a job that was adopted; it comes back as a letter
 * @space: the name space that its service is looked for in first
 */
void
irisd_outside_queue (IrisdOutside *self, IrisdJob *job, gint64 space)
{
  IrisdTask *task = job->task;
  gint64 now = irisd_outside_lock (self);
  irisd_outside_set_terms (self, job, space);
  if (task->errand.patient || task->waits)
    irisd_leases_expect (self->book, space, task->service, FALSE, now);
  if (!irisd_leases_add (self->book, &task->errand, task->service, now))
    {
      /* The service was given up since it was looked for. */
      take_job (task);
      fail_job (self, job, IRIS_WIRE_ERROR_NO_WORKER);
      send_home (job);
    }
  irisd_outside_unlock (self);
}

/**
 * irisd_outside_withdraw:
 * @self: the shared book
 * @job: a job that was queued and has not come back
 *
 * Returns: %IRISD_ERRAND_GONE if it is on its way back; else the caller has it now
 */
IrisdErrandState
irisd_outside_withdraw (IrisdOutside *self, IrisdJob *job)
{
  gint64 now = irisd_outside_lock (self);
  IrisdErrandState state = irisd_leases_withdraw (self->book, &job->task->errand, now);
  if (state != IRISD_ERRAND_GONE)
    take_job (job->task);
  irisd_outside_unlock (self);
  return state;
}

/**
 * irisd_outside_withdraw_waiting:
 * @self: the shared book
 * @job: a job that was queued and has not come back
 *
 * Returns: %IRISD_ERRAND_WAITED if the caller has it now; else nothing has changed
 */
IrisdErrandState
irisd_outside_withdraw_waiting (IrisdOutside *self, IrisdJob *job)
{
  gint64 now = irisd_outside_lock (self);
  IrisdErrandState state = irisd_leases_get_state (&job->task->errand);
  if (state == IRISD_ERRAND_WAITED)
    {
      irisd_leases_withdraw (self->book, &job->task->errand, now);
      take_job (job->task);
    }
  irisd_outside_unlock (self);
  return state;
}

/* --- for the gateways of workers -----------------------------------------------------------------
 */

IrisdOutsideWorker *
irisd_outside_worker_new (IrisdGateway *gateway, IrisdPeer *peer)
{
  IrisdOutsideWorker *self = g_new0 (IrisdOutsideWorker, 1);
  atomic_init (&self->refs, 1);
  self->gateway = gateway;
  self->peer = peer;
  self->name = g_strdup (peer->name);
  self->server.owner = peer->owner;
  self->link.data = self;
  atomic_init (&self->heard_us, g_get_monotonic_time ());
  return self;
}

void
irisd_outside_worker_unref (IrisdOutsideWorker *self)
{
  if (atomic_fetch_sub_explicit (&self->refs, 1, memory_order_acq_rel) > 1)
    return;
  g_free (self->name);
  g_free (self);
}

/**
 * irisd_outside_enroll:
 * @self: the shared book
 * @worker: who says READY
 * @place: where it works, or %IRIS_PLACE_ANY
 * @capacity: how many leases it will hold
 * @services: what it serves
 * @error: return location for a #GError
 *
 * Returns: whether that can be; else nothing has changed
 */
gboolean
irisd_outside_enroll (IrisdOutside *self,
                      IrisdOutsideWorker *worker,
                      gint place,
                      guint capacity,
                      const IrisWireServices *services,
                      GError **error)
{
  gint64 now = irisd_outside_lock (self);
  gboolean is_new = !worker->server.enrolled;
  gboolean enrolled = irisd_leases_enroll (self->book, &worker->server, place, capacity, services,
                                           now, error);
  if (enrolled && is_new)
    g_ptr_array_add (self->workers, worker);
  irisd_outside_unlock (self);
  return enrolled;
}

/**
 * irisd_outside_leave:
 * @self: the shared book
 * @worker: who has gone
 */
void
irisd_outside_leave (IrisdOutside *self, IrisdOutsideWorker *worker)
{
  gint64 now = irisd_outside_lock (self);
  irisd_leases_leave (self->book, &worker->server, now);
  g_ptr_array_remove_fast (self->workers, worker);
  irisd_outside_unlock (self);
}

/* A worker has ended a job that has left the book. */
static void
end_run (IrisdOutside *self, IrisdJob *job, gint place)
{
  job->ended_ns = irisd_now_ns ();
  job->place = place;
  irisd_core_count_run (self->core, place != IRIS_PLACE_ANY ? place : job->home, job->result.bytes);
  send_home (job);
}

/**
 * irisd_outside_done:
 * @self: the shared book
 * @worker: who says so
 * @done: a DONE message
 * @body: its fifth frame, which is taken
 *
 * Returns: %FALSE if it has no such lease
 */
gboolean
irisd_outside_done (IrisdOutside *self,
                    IrisdOutsideWorker *worker,
                    const IrisWireMessage *done,
                    zmq_msg_t *body)
{
  guint64 lease = irisd_outside_read_lease (self, done->request_id);
  IrisdErrand *errand = NULL;
  IrisdJob *job = NULL;
  gint64 now = irisd_outside_lock (self);
  errand = irisd_leases_find (self->book, &worker->server, lease);
  if (errand != NULL)
    {
      /* Charged before the next item is leased, which depends on what the peer owes. */
      job = irisd_task_of (errand)->job;
      zmq_msg_move (&job->result.body, body);
      irisd_job_charge_result (job, 1);
    }
  gboolean ended = irisd_leases_done (self->book, &worker->server, lease, now, &errand)
                   == IRISD_LEASE_ENDED;
  if (ended)
    take_job (irisd_task_of (errand));
  gint place = worker->server.place;
  irisd_outside_unlock (self);
  if (!ended)
    return FALSE;
  if (iris_wire_message_has (done, IRIS_WIRE_KEY_CONTENT_TYPE))
    job->result.content_type = job->task->result_type = iris_wire_string_dup (&done->content_type);
  end_run (self, job, place);
  return TRUE;
}

/**
 * irisd_outside_fail:
 * @self: the shared book
 * @worker: who says so
 * @fail: a FAIL message
 *
 * Returns: %FALSE if it has no such lease
 */
gboolean
irisd_outside_fail (IrisdOutside *self, IrisdOutsideWorker *worker, const IrisWireMessage *message)
{
  guint64 lease = irisd_outside_read_lease (self, message->request_id);
  IrisdErrand *errand = NULL;
  IrisdJob *job = NULL;
  gint64 now = irisd_outside_lock (self);
  IrisdLeaseEnd end = irisd_leases_give_back (self->book, &worker->server, lease, message->again,
                                              now, &errand);
  if (end == IRISD_LEASE_ENDED)
    job = take_job (irisd_task_of (errand));
  gint place = worker->server.place;
  irisd_outside_unlock (self);
  if (job == NULL)
    return end != IRISD_LEASE_UNKNOWN;
  g_autofree char *sentence = iris_wire_string_dup (&message->sentence);
  gboolean coded = iris_wire_message_has (message, IRIS_WIRE_KEY_CODE);
  irisd_job_fail (job, coded ? message->code : IRIS_WIRE_ERROR_SERVICE_FAILED, "%s", sentence);
  end_run (self, job, place);
  return TRUE;
}

/**
 * irisd_outside_extend:
 * @self: the shared book
 * @worker: who asks
 * @extend: an EXTEND message
 *
 * Returns: %FALSE if it has no such lease
 */
gboolean
irisd_outside_extend (IrisdOutside *self, IrisdOutsideWorker *worker, const IrisWireMessage *extend)
{
  guint64 most = self->core->config->limits.lease_ms;
  guint64 ms = iris_wire_message_has (extend, IRIS_WIRE_KEY_LEASE_MS) ? MIN (extend->lease_ms, most)
                                                                      : most;
  guint64 lease = irisd_outside_read_lease (self, extend->request_id);
  gint64 now = irisd_outside_lock (self);
  gboolean extended = irisd_leases_extend (self->book, &worker->server, lease, (gint64) ms * 1000,
                                           now);
  if (extended)
    irisd_outside_note_due (
        self, irisd_task_of (irisd_leases_find (self->book, &worker->server, lease)), ms);
  irisd_outside_unlock (self);
  return extended;
}
